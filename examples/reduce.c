/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, or maxima, of the rows, the columns or all of a tile IN0 of BF16. IN1 holds ones. The 32 results are
 * in the first row of OUT (FP32); the one result of all is in its seventeenth column.
 *
 *     parameter 0: 0 rows, 1 columns, 2 all           parameter 1: 0 sums, 1 maxima
 *
 * The Matrix Unit pools the columns of a face: GAPOOL adds the product of four rows of SrcB, here ones, and a face of
 * SrcA to Dst, GMPOOL takes the maximum of a column and the datum in Dst. The unpacker transposes rows into columns of SrcA.
 *
 *     build/examples/reduce_host bh
 */
#include "pipeline.h"

enum { ROWS, COLUMNS, ALL };
enum { SUM, MAX };

#if defined(CORE_BRISC)
int main(void)
{
    configure_unpacker(TO_SRCA, BF16, BF16, IN0);
    configure_unpacker(TO_SRCB, BF16, BF16, IN1);
    SET_CFG(THCON_SEC0_REG2_Haloize_mode, PARAMETER(0) == ROWS); /* each face is transposed */
    configure_math(BF16);
    configure_packer(OUT);
    let_go();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    UNPACK_TILE(TO_SRCA);
    UNPACK_TILE(TO_SRCB);
    return 0;
}
#elif defined(CORE_TRISC1)
/* SrcA's steps: after the first of two faces with the same result, and after the second. Sixteen rows are a face. */
enum { TO_SECOND, TO_NEXT_PAIR, STAY };
#define STEP(section, a) \
    do { \
        TT_SETC16(ADDR_MOD_AB_SEC##section##_SrcAIncr_ADDR32, a); \
        TTI_SETC16(ADDR_MOD_DST_SEC##section##_DestIncr_ADDR32, 0); \
    } while (0)

/* Every result needs the low bits of SrcA's mantissas as well: a second pass of sums, in the next fidelity phase. */
static inline void phase(u32 n)
{
    TTI_STALLWAIT(WG_STALL_CFG, WG_MATH);
    TT_SETC16(FIDELITY_BASE_Phase_ADDR32, n);
}
static inline void pool(u32 how, u32 move, u32 row)
{
    if (how == SUM)
        TT_GAPOOL(0, 0, move, 0, row);
    else
        TT_GMPOOL(0, 1, move, 0, row);
}

int main(void)
{
    u32 which = PARAMETER(0), how = PARAMETER(1), passes = how == SUM ? 2 : 1;
    math_setup(1);
    STEP(0, which == COLUMNS ? 32 : 16); /* columns: faces 0 and 2, then 1 and 3 */
    STEP(1, which == COLUMNS ? 48 : 16);
    STEP(2, 0);
    dst_acquire();
    for (u32 pass = 0; pass < passes; pass++) {
        phase(pass);
        TTI_SETRWC(0, 0, 0, 0, 0, 3);
        pool(how, TO_SECOND, 0);
        pool(how, TO_NEXT_PAIR, 0);
        pool(how, TO_SECOND, which == ALL ? 0 : 16);
        pool(how, TO_NEXT_PAIR, which == ALL ? 0 : 16);
    }
    if (which == ALL) { /* sixteen columns remain: they become a column of SrcA */
        TTI_SETRWC(0, 0, 0, 0, 0, 3);
        TTI_MOVD2B(0, 16, STAY, 0, 0);
        TTI_TRNSPSRCB; /* rows 16 to 31 */
        for (u32 row = 0; row < 16; row += 4)
            TT_MOVB2A(row, STAY, 2, 16 + row);
        for (u32 pass = 0; pass < passes; pass++) {
            phase(pass);
            pool(how, STAY, 16);
        }
    }
    TTI_SETRWC(3, 0, 0, 0, 0, 0); /* gives both banks back */
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
