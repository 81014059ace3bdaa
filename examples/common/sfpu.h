/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the Vector Unit's examples: a tile of FP32 (of which SrcA keeps ten bits of mantissa, TF32) is copied to
 * Dst, on_tile() works on it, and it is packed to OUT. An example defines on_tile() for T1 and includes this file.
 *
 * A vector is 32 datums: of four rows of Dst the even columns, or, with 2 added to the address, the odd ones.
 */
#ifndef SFPU_H
#define SFPU_H

#include "pipeline.h"

enum { L0, L1, L2, L3, L4, L5, L6, L7, ZERO = 9, ONE = 10 }; /* LReg 9 and 10 are constant */
enum { TILE_VECTORS = TILE_DATUMS / 32 };

#define LOAD(lreg, address) TT_SFPLOAD(lreg, 3, 0, address) /* 3: FP32 */
#define STORE(lreg, address) TT_SFPSTORE(lreg, 3, 0, address)
/* The bits of a float. */
#define LOAD_BITS(lreg, bits) \
    do { \
        TTI_SFPLOADI(lreg, 10, (bits)&0xFFFF); \
        TTI_SFPLOADI(lreg, 8, (bits) >> 16); \
    } while (0)
/* d = a * b + c, available in the second cycle: Wormhole has no interlock for it, and Blackhole's has gaps. */
#define MAD(a, b, c, d) \
    do { \
        TTI_SFPMAD(a, b, c, d, 0); \
        TTI_SFPNOP; \
    } while (0)
/* Enables the lanes in which the condition (SFPSETCC's mode) holds for a register; enables all. */
enum { IF_NEGATIVE = 0, IF_NOT_NEGATIVE = 4 };
#define WHERE(lreg, condition) TTI_SFPSETCC(0, lreg, 0, condition)
#define EVERYWHERE() TTI_SFPENCC(3, 0, 0, 10)

static inline void on_tile(void);

#if defined(CORE_BRISC)
int main(void)
{
    configure_unpacker(TO_SRCA, FP32, TF32, IN0);
    configure_math(TF32);
    configure_packer(OUT);
    let_go();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    UNPACK_TILE(TO_SRCA);
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    math_setup(1);
    srca_to_dst();
    TTI_STALLWAIT(WG_STALL_SFPU, WG_MATH);
    EVERYWHERE();
    on_tile();
    dst_release();
    return 0;
}
#else
int main(void)
{
    pack_all(1);
    return 0;
}
#endif

#endif
