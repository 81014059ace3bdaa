/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OUT = IN0 + IN1, element by element, of tiles of BF16; the sums are FP32. IN1's first row may apply to all rows, its
 * first column to all columns, or its first element to all.
 *
 *     parameter 0: which
 *
 *     build/examples/add_host bh
 */
#include "pipeline.h"

enum { WHOLE, ROW, COLUMN, SCALAR };

#if defined(CORE_BRISC)
int main(void)
{
    configure_unpacker(TO_SRCA, BF16, BF16, IN0);
    configure_unpacker(TO_SRCB, BF16, BF16, IN1);
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
/*
 * An ELWADD adds eight rows, half a face. It can use one row of SrcB for all eight, and one column of each row. SrcA advances
 * by eight rows each time; SrcB's steps after the first half of a face, after a left-hand face and after a right-hand one
 * (rows count modulo 64):
 *
 *                     faces    0      1      2      3
 *     whole tile  rows of B    0  8  16 24  32 40  48 56
 *     first row                0  0  16 16   0  0  16 16
 *     first column             0  8   0  8  32 40  32 40
 *     first element            0  0   0  0   0  0   0  0
 */
enum { HALF, ACROSS, DOWN };
static const u8 steps[4][3] = {[WHOLE] = {8, 8, 8}, [ROW] = {0, 16, 48}, [COLUMN] = {8, 56, 24}, [SCALAR] = {0, 0, 0}};
#define STEP(section, b) \
    do { \
        TT_SETC16(ADDR_MOD_AB_SEC##section##_SrcAIncr_ADDR32, 8 | (b) << ADDR_MOD_AB_SEC##section##_SrcBIncr_SHAMT); \
        TTI_SETC16(ADDR_MOD_DST_SEC##section##_DestIncr_ADDR32, 0); \
    } while (0)

int main(void)
{
    u32 which = PARAMETER(0) & 3;
    u32 broadcast = which == WHOLE ? 0 : which == ROW ? 2 : which == COLUMN ? 1 : 3;
    math_setup(1);
    STEP(0, steps[which][HALF]);
    STEP(1, steps[which][ACROSS]);
    STEP(2, steps[which][DOWN]);
    dst_acquire();
    TTI_SETRWC(0, 0, 0, 0, 0, 3); /* start at the first rows of SrcA and SrcB */
    for (u32 row = 0; row < TILE_ROWS; row += 16) {
        TT_ELWADD(0, 0, broadcast, HALF, row);
        TT_ELWADD(0, 0, broadcast, row & 16 ? DOWN : ACROSS, row + 8);
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
