// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0 TRISC1 TRISC2
// says: config-race
// says: packer_moved.c:
#include "pipeline.h"
#define ROWS TILE_ROWS

#ifndef FIXED
#define MOVED
#endif

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
#ifdef B_WAITS
    RESULT(0) = MAILBOX(3);
    RESULT(1) = WORD(OUT) + WORD(OUT + 0x7FC);
#endif
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    UNPACK_TILE(TO_SRCA);
#ifdef UNPACKS_TWICE
    UNPACK_TILE(TO_SRCA);
#endif
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    math_setup(1);
    dst_acquire();
    TTI_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32, 0);
    TTI_SETC16(ADDR_MOD_DST_SEC0_DestIncr_ADDR32, 0);
    for (u32 row = 0; row < ROWS; row += 8)
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
#ifndef MOVED
    tensix_sync();
#endif
    CFG(THCON_SEC0_REG1_L1_Dest_addr_ADDR32) = 0x33000 / 16 - 1;
    stored(&CFG(THCON_SEC0_REG1_L1_Dest_addr_ADDR32));
    return 0;
}
#endif
