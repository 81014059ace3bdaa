/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix of 32 rows and 32 * N columns of BF16, row by row in L1, becomes N tiles of four faces each, of FP32.
 *
 *     parameter 0: N, at most 4
 *
 * The unpacker reads rows at a stride of a matrix row. On Wormhole a row is sixteen datums: it unpacks a face at a time, and
 * counters give the start of the face: W for the upper and the lower half, X for the columns. On Blackhole a row is 32
 * datums, and a tile is unpacked at once, but with left-hand and right-hand rows alternating: T1 reorders them.
 *
 *     build/examples/tilize_host bh
 */
#include "pipeline.h"

#define TILES PARAMETER(0)
#define TILE_BYTES 4096
#define MATRIX 0x40000
#define TILES_OUT 0x50000

#if defined(CORE_BRISC)
int main(void)
{
    u32 tiles = TILES, row_bytes = 64 * tiles;
    configure_unpacker(TO_SRCA, BF16, BF16, MATRIX);
    SET_CFG(THCON_SEC0_REG2_Tileize_mode, 1);
    SET_CFG(THCON_SEC0_REG2_Shift_amount_cntx0, row_bytes >> 4 & 15);
    SET_CFG(THCON_SEC0_REG2_Shift_amount_cntx1, row_bytes >> 8 & 15);
    configure_math(TF32); /* SrcA holds BF16 as TF32, too; MOVA2D then writes all 32 bits in Dst */
#ifndef WG_ARCH_WH
    SET_CFG(THCON_SEC0_REG5_Tile_x_dim_cntx0, 32); /* Z steps over a tile's columns */
    SET_CFG(PCK0_ADDR_CTRL_ZW_REG_1_Wstride, TILE_BYTES);
#else
    CFG(THCON_SEC0_REG0_TileDescriptor_ADDR32 + 1) = 1 | (2 * tiles) << 16; /* W steps over half of the rows */
    SET_CFG(THCON_SEC0_REG2_Unpack_Src_Reg_Set_Upd, 1);                     /* one face goes below the other in SrcA */
    SET_CFG(PCK0_ADDR_CTRL_ZW_REG_1_Wstride, TILE_BYTES / 16);
#endif
    configure_packer(TILES_OUT);
    let_go();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    u32 tiles = TILES;
    unpack_setup();
#ifndef WG_ARCH_WH
    for (u32 n = 0; n < tiles; n++) {
        TT_SETADCZW(1, 0, 0, 0, n, 1);
        UNPACK_TILE(TO_SRCA);
    }
#else
    TTI_SETC16(SRCA_SET_SetOvrdWithAddr_ADDR32, 0);
    for (u32 n = 0; n < tiles; n++)
        for (u32 face = 0; face < 4; face++) {
            u32 x = 32 * n + 16 * (face & 1);
            TT_SETADCXX(1, x + 255, x);
            TT_SETADCZW(1, 0, 0, face >> 1, 0, 2);
            TT_UNPACR(TO_SRCA, 0, 0, 0, 0, 1, face == 3, 0, 0, 0, 0, 0, 1); /* the last one: the bank is full */
        }
#endif
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    u32 tiles = TILES;
    math_setup(1);
    TTI_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32, 0);
    TTI_SETC16(ADDR_MOD_DST_SEC0_DestIncr_ADDR32, 0);
    while (tiles--) {
        dst_acquire();
#ifndef WG_ARCH_WH
        for (u32 row = 0; row < TILE_ROWS; row++)
            TT_MOVA2D(0, row, 0, 0, (row & 32) + 16 * (row & 1) + (row >> 1 & 15)); /* half, face, row of the face */
#else
        for (u32 row = 0; row < TILE_ROWS; row += 8)
            TT_MOVA2D(0, row, 0, 2, row); /* 2: eight rows */
#endif
        TTI_SETRWC(1, 0, 0, 0, 0, 0);                                               /* gives SrcA's bank back */
        dst_release();
    }
    return 0;
}
#else
int main(void)
{
    u32 tiles = TILES;
    wait_for(2);
    pack_setup();
    for (u32 n = 0; n < tiles; n++) {
        TT_SETADCZW(4, n, 0, 0, 0, 8); /* W of channel 1: the tile in L1 */
        pack_tile();
    }
    tensix_sync();
    DONE = 1;
    return 0;
}
#endif
