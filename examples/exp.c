/* SPDX-License-Identifier: Apache-2.0 */
/*
 * e^x by the Vector Unit, for |x| up to 80: x = n ln 2 + r with an integer n, e^r by a polynomial, n added to the
 * exponent.
 *
 *     waitgate run exp.brisc.elf exp.trisc0.elf exp.trisc1.elf exp.trisc2.elf
 */
#include "sfpu.h"

static inline void on_tile(void)
{
    for (u32 at = 0; at < 2 * TILE_VECTORS; at += 2) {
        LOAD(L0, at);
        LOAD_BITS(L1, 0x3FB8AA3Bu); /* 1 / ln 2 */
        LOAD_BITS(L2, 0x4B400000u); /* 1.5 * 2^23: adding it rounds to an integer, in the low bits */
        MAD(L0, L1, L2, L3);
        LOAD_BITS(L2, 0xCB400000u);
        MAD(L3, ONE, L2, L4);       /* n as a float */
        LOAD_BITS(L1, 0xBF317200u); /* -ln 2 in two parts; n times the first is exact */
        MAD(L4, L1, L0, L5);
        LOAD_BITS(L1, 0xB5BFBE8Eu);
        MAD(L4, L1, L5, L5);        /* r */
        LOAD_BITS(L6, 0x3AB60B61u); /* 1/720 */
        LOAD_BITS(L1, 0x3C088889u); /* 1/120 */
        MAD(L6, L5, L1, L6);
        LOAD_BITS(L1, 0x3D2AAAABu); /* 1/24 */
        MAD(L6, L5, L1, L6);
        LOAD_BITS(L1, 0x3E2AAAABu); /* 1/6 */
        MAD(L6, L5, L1, L6);
        LOAD_BITS(L1, 0x3F000000u); /* 1/2 */
        MAD(L6, L5, L1, L6);
        MAD(L6, L5, ONE, L6);
        MAD(L6, L5, ONE, L6);      /* e^r */
        TTI_SFPSHFT(23, 0, L3, 1); /* n to the exponent's position; the rest of 1.5 * 2^23 is shifted out */
        TTI_SFPIADD(0, L3, L6, 4); /* 4: does not change the flags */
        STORE(L6, at);
    }
}
