/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who reads which part of Config, for one question only: does an instruction start before the configuration it
 * uses has been written by an older instruction of its thread? The hardware does not wait (WRCFG.md,
 * CFGSHIFTMASK.md, STREAMWRCFG.md, "Instruction scheduling").
 *
 * The Scalar Unit and the Mover read single fields with wg_config_get(), which asks the same question exactly; the
 * units here read groups of fields, so it is asked per group.
 */
#include "backend/config.h"

enum { MATRIX = 1, VECTOR = 2, PACK = 4, UNPACK0 = 8, UNPACK1 = 16 };

/* Groups of fields by their first and last word. */
static const struct group {
    uint16_t first, last;   /* wg_cfg_id */
    uint8_t readers;
} groups[] = {
    {WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_val, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, MATRIX | VECTOR | PACK},
    {WG_CFG_STACC_RELU_ApplyRelu, WG_CFG_STACC_RELU_ReluThreshold, MATRIX | PACK},
    {WG_CFG_DEST_REGW_BASE_Base, WG_CFG_DEST_REGW_BASE_Base, MATRIX | VECTOR},
    {WG_CFG_PCK0_ADDR_CTRL_XY_REG_0_Xstride, WG_CFG_TILE_FACE_SET_MAPPING_3_face_set_mapping_0, PACK},
    {WG_CFG_UNP0_ADDR_CTRL_XY_REG_0_Xstride, WG_CFG_UNP0_ADDR_CTRL_ZW_REG_0_Zstride, UNPACK0},
    {WG_CFG_UNP1_ADDR_CTRL_XY_REG_0_Xstride, WG_CFG_UNP1_ADDR_CTRL_ZW_REG_0_Zstride, UNPACK1},
    {WG_CFG_UNP0_ADDR_BASE_REG_0_Base, WG_CFG_UNP0_ADDR_CTRL_ZW_REG_1_Zstride, UNPACK0},
    {WG_CFG_UNP1_ADDR_CTRL_XY_REG_1_Xstride, WG_CFG_UNP1_FORCED_SHARED_EXP_shared_exp, UNPACK1},
    {WG_CFG_THCON_SEC0_REG0_TileDescriptor, WG_CFG_THCON_SEC0_REG0_TileDescriptor, UNPACK0},
    {WG_CFG_THCON_SEC0_REG1_Row_start_section_size, WG_CFG_THCON_SEC0_REG1_Downsample_mask, PACK},
    {WG_CFG_THCON_SEC0_REG2_Out_data_format, WG_CFG_THCON_SEC0_REG5_Tile_x_dim_cntx2, UNPACK0},
    {WG_CFG_THCON_SEC0_REG7_Offset_address, WG_CFG_THCON_SEC0_REG7_Offset_cntx3_address, UNPACK0},
    {WG_CFG_THCON_SEC0_REG8_Row_start_section_size, WG_CFG_THCON_SEC0_REG9_Pack_1_3_fifo_size, PACK},
    {WG_CFG_THCON_SEC1_REG0_TileDescriptor, WG_CFG_THCON_SEC1_REG0_TileDescriptor, UNPACK1},
    {WG_CFG_THCON_SEC1_REG1_Row_start_section_size, WG_CFG_THCON_SEC1_REG1_Downsample_mask, PACK},
    {WG_CFG_THCON_SEC1_REG2_Out_data_format, WG_CFG_THCON_SEC1_REG5_Tile_x_dim_cntx2, UNPACK1},
    {WG_CFG_THCON_SEC1_REG7_Offset_address, WG_CFG_THCON_SEC1_REG7_Offset_cntx3_address, UNPACK1},
    {WG_CFG_THCON_SEC1_REG8_Row_start_section_size, WG_CFG_THCON_SEC1_REG9_Pack_1_3_fifo_size, PACK},
    {WG_CFG_DEST_TARGET_REG_CFG_PACK_SEC0_Offset, WG_CFG_DEST_TARGET_REG_CFG_PACK_SEC3_Offset, PACK},
};

static unsigned readers_of(wg_arch_id arch, unsigned word)
{
    const wg_cfg_field *fields = wg_cfg_fields[arch];
    unsigned readers = 0;
    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++) {
        const wg_cfg_field *first = &fields[groups[i].first], *last = &fields[groups[i].last];
        unsigned end = last->word + (last->width > 32 ? last->width / 32u : 1);
        if (first->width && last->width && word >= first->word && word < end)
            readers |= groups[i].readers;
    }
    return readers;
}

/* What the instruction is among the readers; 0 if it uses no configuration. */
static unsigned reader_of(const wg_insn *insn)
{
    switch (insn->op) {
    case WG_I_SFPLOAD: case WG_I_SFPSTORE: case WG_I_SFPLOADMACRO: return VECTOR;
    case WG_I_PACR: return PACK;
    case WG_I_UNPACR: return insn->word >> 23 & 1 ? UNPACK1 : UNPACK0;
    case WG_I_MVMUL: case WG_I_ELWMUL: case WG_I_ELWADD: case WG_I_ELWSUB: case WG_I_DOTPV: case WG_I_GMPOOL:
    case WG_I_GAPOOL: case WG_I_MOVD2A: case WG_I_MOVD2B: case WG_I_MOVA2D: case WG_I_MOVB2D: case WG_I_MOVDBGA2D:
    case WG_I_ZEROACC:
        return MATRIX;
    default: return 0;
    }
}

void wg_config_issued(wg_tile *t, const wg_insn *insn)
{
    unsigned reader = reader_of(insn);
    if (!reader)
        return;
    for (unsigned stage = 0; stage <= WG_CONFIG_STAGE_0; stage++) {
        const wg_config_op *op = &t->backend.config.stage[stage];
        for (unsigned i = 0; op->kind && i < op->words; i++)
            if (readers_of(t->arch->id, op->word + i) & reader)
                wg_config_check_pending(t, insn->thread, op->word + i);
    }
}
