// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// arch: bh
// says: core-stale-l0
#include "tile.h"

#define ANSWER WORD(0x20100)
#define FLAG WORD(0x20110)

static inline void before_each_look(void)
{
#ifdef FIXED
    fence();
#endif
}

#ifdef CORE_BRISC
int main(void)
{
    FLAG = 1;
    do
        before_each_look();
    while (ANSWER == 0);
    return 0;
}
#else
int main(void)
{
    do
        before_each_look();
    while (FLAG == 0);
    for (int i = 0; i < 100; i++)
        __asm__ volatile("nop");
    ANSWER = 42;
    return 0;
}
#endif
