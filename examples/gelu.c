/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gelu(x) = x times the normal distribution's probability of less than x, by the Vector Unit: x (1/2 + x P(x^2)) with
 * a P of degree 7 for |x| < 4, off by at most 4e-5; x from 4 on, zero up to -4, off by at most 1.3e-4. The lanes' flags
 * choose.
 *
 *     waitgate run gelu.brisc.elf gelu.trisc0.elf gelu.trisc1.elf gelu.trisc2.elf
 */
#include "sfpu.h"

#define NEXT(bits) \
    do { \
        LOAD_BITS(L3, bits); \
        MAD(L2, L1, L3, L2); \
    } while (0)

static inline void on_tile(void)
{
    for (u32 at = 0; at < 2 * TILE_VECTORS; at += 2) {
        LOAD(L0, at);
        MAD(L0, L0, ZERO, L1); /* x^2 */
        LOAD_BITS(L2, 0xB0B2D759u);
        NEXT(0x33DFC08Au);
        NEXT(0xB6756B9Bu);
        NEXT(0x389CFAE6u);
        NEXT(0xBA83EBF2u);
        NEXT(0x3C1BBC67u);
        NEXT(0xBD86F02Du);
        NEXT(0x3ECC1EEAu);
        LOAD_BITS(L3, 0x3F000000u); /* 1/2 */
        MAD(L2, L0, L3, L2);
        MAD(L2, L0, ZERO, L2);
        LOAD_BITS(L3, 0xC0800000u); /* -4 */
        MAD(L0, ONE, L3, L4);
        WHERE(L4, IF_NOT_NEGATIVE);
        TTI_SFPMOV(0, L0, L2, 0);
        EVERYWHERE();
        LOAD_BITS(L3, 0x40800000u); /* 4 */
        MAD(L0, ONE, L3, L4);
        WHERE(L4, IF_NEGATIVE);
        TTI_SFPMOV(0, ZERO, L2, 0);
        EVERYWHERE();
        STORE(L2, at);
    }
}
