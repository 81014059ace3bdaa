// SPDX-License-Identifier: Apache-2.0
// tiles: 3
// says: polls 0x00030010 until it is 2
// says: count_to_wrong_tile.c
// says: also ended, and never sent anything there: tile 3-
#include "noc.h"
#define COUNT WORD(0x30010)
static inline void increment(u32 place)
{
    enum { ATOMIC = 1, INC = 1 };
    noc_place(0, SIGNALLER, NOC_TARGET, place);
    noc_place(0, SIGNALLER, NOC_RETURN, noc_here(0));
    NOC_REGISTER(0, SIGNALLER * NOC_STRIDE + NOC_CTRL) = ATOMIC | NOC_ANSWER;
    NOC_REGISTER(0, SIGNALLER * NOC_STRIDE + NOC_LENGTH) = 1 << 12 | 31 << 2 | (0x30010 >> 2 & 3);
#ifdef WG_ARCH_WH
    NOC_REGISTER(0, SIGNALLER * NOC_STRIDE + 0x24) = 1;
#else
    NOC_REGISTER(0, SIGNALLER * NOC_STRIDE + 0x28) = 1;
#endif
    noc_start(0, SIGNALLER, 0x30010, 0x30080, 0);
    while (noc_busy(0, SIGNALLER) | noc_pending(0, 0)) {
    }
}
#if defined(TILE_1)
int main(void)
{
    do
        fence();
    while (COUNT != 2);
    return 0;
}
#elif defined(TILE_2)
int main(void)
{
    increment(PLACE(1));
    return 0;
}
#else
int main(void)
{
#ifdef FIXED
    increment(PLACE(1));
#else
    increment(PLACE(2));
#endif
    return 0;
}
#endif
