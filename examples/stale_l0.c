/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A polling bug, and its fix. Blackhole's cores have a tiny L0 data cache that is not coherent: a loop that polls L1 hits it
 * and keeps reading the old value, until a hit happens to flush the cache (about one in 128). A fence before each load is the
 * cure. Built twice: stale_l0 and stale_l0_fixed.
 *
 * B starts NC with a flag and counts its reads of NC's answer.
 *
 *     waitgate run stale_l0.brisc.elf stale_l0.ncrisc.elf              reports core-stale-l0
 *     waitgate run stale_l0_fixed.brisc.elf stale_l0_fixed.ncrisc.elf  reports nothing
 */
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
    u32 looks = 0;
    FLAG = 1;
    do {
        before_each_look();
        looks++;
    } while (ANSWER == 0);
    RESULT(0) = ANSWER;
    RESULT(1) = looks;
    return 0;
}
#else
int main(void)
{
    do
        before_each_look();
    while (FLAG == 0);
    ANSWER = 42;
    return 0;
}
#endif
