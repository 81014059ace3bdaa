// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// says: data-race
// says: core NC
#include "tile.h"

#define DATA WORD(0x20100)
#define FLAG WORD(0x20110)

#ifdef CORE_BRISC
int main(void)
{
    DATA = 7;
    stored(&DATA);
    FLAG = 1;
    return 0;
}
#else
int main(void)
{
#ifdef FIXED
    do
        fence();
    while (FLAG != 1);
#else
    for (int i = 0; i < 200; i++)
        __asm__ volatile("nop");
#endif
    RESULT(0) = DATA;
    return 0;
}
#endif
