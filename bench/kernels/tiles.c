/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of 32 x 32 datums unpacked to SrcA, packed from Dst, or both at the same time, independently. MOPs
 * of 25 tiles make the instructions; nobody waits for the data.
 *
 *     parameter 0: bit 0, unpack; bit 1, pack      1: tiles, by 25           2: format in L1      3: format in SrcA
 *     parameter 4: format in Dst      5: bytes per datum there      6: lines of exponents      7: lines of a face
 *     out: 1 at 8 and 9
 */
#include "pipeline.h"

enum { UNPACKS = 1, PACKS = 2 };
static inline u32 tiles(u32 way) { return PARAMETER(0) & way ? PARAMETER(1) : 0; }

#if defined(CORE_BRISC)
int main(void)
{
    u32 in_l1 = PARAMETER(2), in_dst = PARAMETER(4), bytes = PARAMETER(5);
    configure_unpacker(TO_SRCA, in_l1, PARAMETER(3), IN0);
    configure_packer_for(in_dst, in_l1, OUT, PARAMETER(7), PARAMETER(6));
    SET_CFG(ALU_FORMAT_SPEC_REG0_SrcA, PARAMETER(3));
    SET_CFG(PCK_DEST_RD_CTRL_Read_32b_data, bytes == 4);
    SET_CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride, 16 * bytes);
    stored(&CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride_ADDR32));
    let_go();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    /* Without SetDatValid the bank stays with the unpackers. */
    u32 nop = TT_OP_NOP, tile = TT_OP_UNPACR(TO_SRCA, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1);
    u32 mop[9] = {1, 25, nop, nop, nop, tile, nop, tile, tile};
    for (u32 i = 0; i < 9; i++)
        WORD(TENSIX_MOP_CFG_BASE + 4 * i) = mop[i];
    for (u32 n = tiles(UNPACKS); n--;)
        TTI_MOP(1, 0, 0);
    tensix_sync();
    RESULT(9) = 1;
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    math_setup(1);
    return 0;
}
#else
int main(void)
{
    wait_for(2);
    pack_setup();
    /* After a tile's last PACR, Y restarts. */
    TTI_SETC16(ADDR_MOD_PACK_SEC1_YsrcIncr_ADDR32, 1 << ADDR_MOD_PACK_SEC1_YsrcClear_SHAMT);
#ifdef WG_ARCH_WH
    u32 nop = TT_OP_NOP, last = TT_OP_PACR(1, 0, 15, 0, 0, 0, 1);
    u32 mop[9] = {1, 25, nop, nop, nop, last, nop, last, last};
    for (u32 i = 0; i < 9; i++)
        WORD(TENSIX_MOP_CFG_BASE + 4 * i) = mop[i];
#else
    u32 last = TT_OP_PACR(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1);
    WORD(TENSIX_MOP_CFG_BASE) = 25;
    WORD(TENSIX_MOP_CFG_BASE + 4 * 7) = last;
    WORD(TENSIX_MOP_CFG_BASE + 4 * 8) = last;
#endif
    for (u32 n = tiles(PACKS); n--;)
        TTI_MOP(1, 0, 0);
    tensix_sync();
    DONE = 1;
    return 0;
}
#endif
