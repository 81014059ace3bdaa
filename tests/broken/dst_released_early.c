// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0 TRISC1 TRISC2
// says: data-race
// says: dst_released_early.c:
// says: STALLWAIT(STALL_SYNC, PACK) before SEMGET MATH_PACK
#include "pipeline.h"

#if defined(CORE_BRISC)
int main(void)
{
    for (u32 i = 0; i < TILE_DATUMS / 2; i++)
        WORD(IN0 + 4 * i) = i;
    stored(&WORD(IN0 + 2 * TILE_DATUMS - 4));
    configure_unpacker(TO_SRCA, BF16, BF16, IN0);
    configure_packer_for(BF16, BF16, OUT, 32, 0);
    SET_CFG(ALU_FORMAT_SPEC_REG0_SrcA, BF16);
    SET_CFG(PCK_DEST_RD_CTRL_Read_32b_data, 0);
    SET_CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride, 16 * 2);
    stored(&CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride_ADDR32));
    let_go();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    UNPACK_TILE(TO_SRCA);
    UNPACK_TILE(TO_SRCA);
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    math_setup(1);
    for (u32 tile = 0; tile < 2; tile++) {
        srca_to_dst();
        dst_release();
    }
    return 0;
}
#else
int main(void)
{
    wait_for(2);
    pack_setup();
    for (u32 tile = 0; tile < 2; tile++) {
#ifdef FIXED
        pack_tile();
#else
        TTI_SEMWAIT(WG_STALL_PACK, DST_FREE, WG_STALL_ON_ZERO);
        TTI_SETADCXY(4, 0, 0, 0, 0, 0xA);
#ifdef WG_ARCH_WH
        TTI_PACR(0, 0, 15, 0, 0, 0, 1);
#else
        TTI_MOP(1, 0, 0);
#endif
        TTI_SEMGET(DST_FREE);
#endif
    }
    tensix_sync();
    return 0;
}
#endif
