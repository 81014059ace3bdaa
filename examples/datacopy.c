/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a tile from L1 to L1 through the whole data path: unpacker, SrcA, Matrix Unit, Dst, packer. One kernel per family of
 * formats; they differ in configuration and in one instruction of the Matrix Unit.
 *
 *     datacopy_bf16   floats      BF16 in SrcA and in Dst; MOVA2D moves rows
 *     datacopy_bfp8   blocks      BFP8 in L1 (64 exponents, then 1024 datums); floats everywhere else
 *     datacopy_int8   integers    INT8 in SrcA, 32-bit integers in Dst: made by adding SrcB, which holds zeros
 *
 *     waitgate run datacopy_bf16.brisc.elf datacopy_bf16.trisc0.elf datacopy_bf16.trisc1.elf datacopy_bf16.trisc2.elf
 */
#include "pipeline.h"

enum { BFP8 = 6, INT8 = 14 };
#if defined(DATACOPY_INT)
enum { IN_L1 = INT8, IN_DST = INT8, DATUM_BYTES = 1, WIDE = 1, FACE_LINES = 16, EXPONENT_LINES = 0 };
#elif defined(DATACOPY_BFP)
enum { IN_L1 = BFP8, IN_DST = BF16, DATUM_BYTES = 2, WIDE = 0, FACE_LINES = 16, EXPONENT_LINES = 4 };
#else
enum { IN_L1 = BF16, IN_DST = BF16, DATUM_BYTES = 2, WIDE = 0, FACE_LINES = 32, EXPONENT_LINES = 0 };
#endif

#if defined(CORE_BRISC)
int main(void)
{
    configure_unpacker(TO_SRCA, IN_L1, IN_L1, IN0);
    configure_packer_for(IN_DST, IN_L1, OUT, FACE_LINES, EXPONENT_LINES);
    SET_CFG(ALU_FORMAT_SPEC_REG0_SrcA, IN_L1);
#ifdef DATACOPY_INT
    configure_unpacker(TO_SRCB, IN_L1, IN_L1, IN1); /* the host leaves zeros there */
    SET_CFG(ALU_FORMAT_SPEC_REG1_SrcB, IN_L1);
    SET_CFG(ALU_ACC_CTRL_INT8_math_enabled, 1);
#endif
    SET_CFG(PCK_DEST_RD_CTRL_Read_32b_data, WIDE);
    SET_CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride, 16 * DATUM_BYTES);
    stored(&CFG(PCK0_ADDR_CTRL_XY_REG_0_Ystride_ADDR32)); /* the last word stored has arrived */
    let_go();
    return 0;
}
#elif defined(CORE_TRISC0)
int main(void)
{
    unpack_setup();
    UNPACK_TILE(TO_SRCA);
#ifdef DATACOPY_INT
    UNPACK_TILE(TO_SRCB);
#endif
    return 0;
}
#elif defined(CORE_TRISC1)
int main(void)
{
    math_setup(1);
    /* ELWADD advances by eight rows of SrcA and SrcB; MOVA2D has its rows as operands. */
    TTI_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32, 8 | 8 << ADDR_MOD_AB_SEC0_SrcBIncr_SHAMT);
    TTI_SETC16(ADDR_MOD_DST_SEC0_DestIncr_ADDR32, 0);
    dst_acquire();
    TTI_SETRWC(0, 0, 0, 0, 0, 3);
#ifdef DATACOPY_INT
    for (u32 row = 0; row < TILE_ROWS; row += 8)
        TT_ELWADD(0, 0, 0, 0, row);
    TTI_SETRWC(3, 0, 0, 0, 0, 0); /* gives both banks back */
#else
    TTI_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32, 0);
    for (u32 row = 0; row < TILE_ROWS; row += 8)
        TT_MOVA2D(0, row, 0, 2, row); /* 2: eight rows */
    TTI_SETRWC(1, 0, 0, 0, 0, 0);     /* gives SrcA's bank back */
#endif
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
