/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1/x by the Vector Unit: a first guess, and Newton's iteration y += y (1 - x y), which squares its error. Blackhole has
 * an instruction for the guess, better than 0.6 %; Wormhole's is a difference of bit patterns, good to 12 %.
 *
 *     waitgate run reciprocal.brisc.elf reciprocal.trisc0.elf reciprocal.trisc1.elf reciprocal.trisc2.elf
 */
#include "sfpu.h"

#ifdef WG_ARCH_WH
enum { ITERATIONS = 4 };
#else
enum { ITERATIONS = 2 };
#endif

static inline void on_tile(void)
{
    for (u32 at = 0; at < 2 * TILE_VECTORS; at += 2) {
        LOAD(L0, at);
        TTI_SFPMOV(0, L0, L3, 1); /* -x */
#ifdef WG_ARCH_WH
        LOAD_BITS(L1, 0x7EF311C7u);
        TTI_SFPMOV(0, L0, L2, 0);
        TTI_SFPIADD(0, L1, L2, 2 | 4); /* the constant minus x; 4: does not change the flags */
#else
        TTI_SFPARECIP(0, L0, L2, 0);
#endif
        for (u32 i = 0; i < ITERATIONS; i++) {
            MAD(L3, L2, ONE, L4);
            MAD(L4, L2, L2, L2);
        }
        STORE(L2, at);
    }
}
