// SPDX-License-Identifier: Apache-2.0
// A tile is unpacked, moved to Dst and packed. A program says what is different: UNPACKS tiles, FILLED datums, and what B and T2 do
// in the end (b_ends, t2_ends).
#ifndef ONE_TILE_H
#define ONE_TILE_H

#ifndef UNPACKS
#define UNPACKS 1
#endif
#ifndef FILLED
#define FILLED TILE_DATUMS
#endif

#if defined(CORE_BRISC)
int main(void)
{
    for (u32 i = 0; i < FILLED / 2; i++)
        WORD(IN0 + 4 * i) = i;
    stored(&WORD(IN0 + 2 * FILLED - 4));
    configure_unpacker(TO_SRCA, BF16, BF16, IN0);
    configure_packer_for(BF16, BF16, OUT, 32, 0);
    SET_CFG(ALU_FORMAT_SPEC_REG0_SrcA, BF16);
    SET_CFG(PCK_DEST_RD_CTRL_Read_32b_data, 0);
    SET_CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride, 16 * 2);
    stored(&CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride_ADDR32));
    let_go();
    b_ends();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    for (u32 n = 0; n < UNPACKS; n++)
        UNPACK_TILE(TO_SRCA);
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    math_setup(1);
    dst_acquire();
    TTI_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32, 0);
    TTI_SETC16(ADDR_MOD_DST_SEC0_DestIncr_ADDR32, 0);
    for (u32 row = 0; row < TILE_ROWS; row += 8)
        TT_MOVA2D(0, row, 0, 2, row);
    TTI_SETRWC(1, 0, 0, 0, 0, 0);
    TTI_STALLWAIT(WG_STALL_SYNC, WG_MATH | WG_SFPU);
    TTI_SEMPOST(DST_FREE);
    return 0;
}
#else
int main(void)
{
    wait_for(2);
    pack_setup();
    pack_tile();
    t2_ends();
    return 0;
}
#endif

#endif
