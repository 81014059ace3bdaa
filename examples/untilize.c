/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile IN0 of four faces (BF16) becomes a matrix of 32 x 32 in L1, row by row, of FP32.
 *
 * The packer writes its datums contiguously until one is marked as the last; so the order in which rows of faces are packed
 * is the order in memory: a row of the left-hand face, one of the right-hand face, …
 *
 *     build/examples/untilize_host bh
 */
#include "pipeline.h"

#if defined(CORE_BRISC)
int main(void)
{
    configure_unpacker(TO_SRCA, BF16, BF16, IN0);
    configure_math(TF32); /* SrcA holds BF16 as TF32, too; MOVA2D then writes all 32 bits in Dst */
    SET_CFG(PCK0_ADDR_CTRL_ZW_REG_0_Wstride, 2 * 256 * 4); /* Z counts faces from left to right, W from top to bottom */
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
    dst_release();
    return 0;
}
#else
/* A row of sixteen datums; the next position; whether it is the last one. */
#ifdef WG_ARCH_WH
#define PACK_ROW(move, last) TT_PACR(move, 0, 1, 0, 0, 0, last)
#else
#define PACK_ROW(move, last) TT_PACR(0, 0, 0, move, 0, 0, 1, 0, 0, 0, 0, last)
#endif
enum { RIGHT, NEXT_ROW };

int main(void)
{
    wait_for(2);
    TTI_SETADCXX(4, 15, 0);
    TTI_SETC16(ADDR_MOD_PACK_SEC0_ZsrcIncr_ADDR32, 1 << ADDR_MOD_PACK_SEC0_ZsrcIncr_SHAMT);
    TTI_SETC16(ADDR_MOD_PACK_SEC1_YsrcIncr_ADDR32,
               1 << ADDR_MOD_PACK_SEC1_YsrcIncr_SHAMT | 1 << ADDR_MOD_PACK_SEC1_ZsrcClear_SHAMT);
    TTI_SEMWAIT(WG_STALL_PACK, DST_FREE, WG_STALL_ON_ZERO);
    for (u32 half = 0; half < 2; half++) {
        TTI_SETADCXY(4, 0, 0, 0, 0, 2);
        TT_SETADCZW(4, 0, 0, half, 0, 3);
        for (u32 row = 0; row < 16; row++) {
            PACK_ROW(RIGHT, 0);
            PACK_ROW(NEXT_ROW, half == 1 && row == 15);
        }
    }
    TTI_STALLWAIT(WG_STALL_SYNC, WG_PACK);
    TTI_SEMGET(DST_FREE);
    tensix_sync();
    DONE = 1;
    return 0;
}
#endif
