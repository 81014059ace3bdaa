/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of 32 x 32 datums unpacked to SrcA, packed from Dst, or both at the same time and apart from each other:
 *
 *     T0 unpacks a tile ──> T1 gives the bank back          T2 packs a tile, whatever is in Dst
 *
 *     parameter 0: bit 0, unpack; bit 1, pack      1: tiles      2: format in L1      3: format in SrcA
 *     parameter 4: format in Dst      5: bytes per datum there      6: lines of exponents      out: 1 at 8 and 9
 */
#include "pipeline.h"

enum { UNPACKS = 1, PACKS = 2 };
static inline u32 tiles(u32 way) { return PARAMETER(0) & way ? PARAMETER(1) : 0; }

#if defined(CORE_BRISC)
int main(void)
{
    u32 in_l1 = PARAMETER(2), in_dst = PARAMETER(4), bytes = PARAMETER(5);
    configure_unpacker(TO_SRCA, in_l1, PARAMETER(3), IN0);
    configure_packer(OUT);
    SET_CFG(ALU_FORMAT_SPEC_REG0_SrcA, PARAMETER(3));
    SET_CFG(PCK_DEST_RD_CTRL_Read_32b_data, bytes == 4);
    SET_CFG(ALU_FORMAT_SPEC_REG2_Dstacc, in_dst);
    SET_CFG(THCON_SEC0_REG1_In_data_format, in_dst);
    SET_CFG(THCON_SEC0_REG1_Out_data_format, in_l1);
    SET_CFG(THCON_SEC0_REG1_Exp_section_size, PARAMETER(6));
    SET_CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride, 16 * bytes);
    stored(&CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride_ADDR32));
    let_go();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    for (u32 n = tiles(UNPACKS); n--;)
        UNPACK_TILE(TO_SRCA);
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    math_setup();
    for (u32 n = tiles(UNPACKS); n--;) {
        TTI_STALLWAIT(WG_STALL_MATH, WG_SRCA_VLD);
        TTI_SETRWC(1, 0, 0, 0, 0, 0);
    }
    tensix_sync();
    RESULT(9) = 1;
    return 0;
}
#else
int main(void)
{
    wait_for(2);
    pack_setup();
    for (u32 n = tiles(PACKS); n--;) {
        TTI_SETADCXY(4, 0, 0, 0, 0, 0xA);   /* Y alone */
#ifdef WG_ARCH_WH
        TTI_PACR(0, 0, 1, 0, 0, 0, 1);
#else
        TTI_MOP(1, 0, 0);
#endif
    }
    tensix_sync();
    DONE = 1;
    return 0;
}
#endif
