/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves between SrcA, SrcB and Dst, and within a source: MOVA2D, MOVB2D (and their forms for debugging), MOVD2A,
 * MOVD2B, MOVB2A, SHIFTXA, SHIFTXB, TRNSPSRCA, TRNSPSRCB.
 * Facts: the instructions' pages, SFPCONFIG.md (BLOCK_DEST_MOV).
 */
#include <string.h>

#include "backend/matrix_internal.h"

/* The columns that LaneConfig does not block for moves. */
static uint16_t open_columns(const wg_matrix_ctx *c)
{
    const uint8_t *blocked = &c->t->regs.lreg.lane_config[WG_LANE_BLOCK_DEST_MOV];
    uint16_t open = 0;
    for (unsigned j = 0; j < 16; j++)
        if (!(blocked[j & 1] >> j / 2 & 1))
            open |= (uint16_t)(1u << j);
    return open;
}

/* The instruction uses this bank without waiting for it: reports a bank that the unit does not own. */
static void unwaited(wg_matrix_ctx *c, wg_src_file file)
{
    if (!wg_matrix_owns(c, file))
        wg_matrix_report(c, WG_F_MATRIX_BANK, file * 2u + c->bank[file], 0);
}

/*
 * The format that moves use: SrcA's, even for SrcB (documents: "not a typo"). With BH's implied formats it is the
 * bank's own. Ruling: SrcA's bit enables implied formats for SrcB, too (ttsim; the public 32-bit transposition of Dst
 * relies on it). The newest pages use SrcB's bit, and call the matter not fully characterised.
 */
static unsigned move_format(const wg_matrix_ctx *c, wg_src_file file)
{
    unsigned format = c->fmt[WG_SRCA];
    if (file == WG_SRCB)
        format = c->set->implied[WG_SRCA] ? c->t->regs.src.format_b[c->bank[WG_SRCB]] & 15 : c->set->fmt[WG_SRCA];
    if (!wg_format_known(format & 15))
        wg_find_insn(c->to, WG_F_MATRIX_FORMAT, c->insn, format & 15, 0);
    return format & 15;
}

/* ---- Source to Dst ---------------------------------------------------------------------------------- */

/* Row i of the operation: a source row in Dst's layout. `column0`: column 0 goes to every column. */
static void to_dst(wg_matrix_op *op, unsigned i, const uint32_t *src, bool column0, bool exp8, bool flush,
                   uint32_t keep)
{
    for (unsigned j = 0; j < 16; j++) {
        uint32_t x = src[column0 ? 0 : j];
        if (flush && !(x & 0xFF))
            x = 0;
        x &= keep;
        op->hi[i][j] = exp8 ? wg_dst16_from_src_exp8(x) : wg_dst16_from_src_exp5(x);
        op->lo[i][j] = wg_dst_lo_from_src(x);
    }
}

/* Chooses the part of Dst that is written; `wide`: a 16-bit datum is the high half of 32 bits. */
static void place_in_dst(wg_matrix_ctx *c, wg_matrix_op *op, unsigned format, bool wide, unsigned first, unsigned rows)
{
    bool low = WG_GET(MOVA2D, dest_32b_lo, c->word);
    op->columns = open_columns(c);
    if (wide && format != WG_FMT_TF32) {
        op->effect = WG_EFFECT_DST32;
        memset(op->lo, 0, rows * sizeof op->lo[0]);
    } else if (format == WG_FMT_TF32) {
        op->effect = WG_EFFECT_DST32;
        if (low) { /* a hardware erratum; both halves get the datum's high part */
            wg_matrix_report(c, WG_F_MATRIX_OPERAND, 23, 1);
            for (unsigned i = 0; i < rows; i++)
                for (unsigned j = 0; j < 16; j++)
                    op->lo[i][j] |= op->hi[i][j];
        }
    } else if (low) {
        op->effect = WG_EFFECT_DST_LOW;
        for (unsigned i = 0; i < rows; i++)
            for (unsigned j = 0; j < 16; j++)
                op->lo[i][j] = op->hi[i][j];
    } else {
        op->effect = WG_EFFECT_DST16;
    }
    wg_matrix_list_rows(c, op, first, rows, 1, op->effect != WG_EFFECT_DST16);
}

/* Eight exponent bits, unless the format (or FP16A_FORCE) has five. */
static bool has_exp8(const wg_matrix_ctx *c, unsigned format)
{
    if (wg_matrix_tcfg(c, WG_TCFG_FP16A_FORCE_Enable))
        return false;
    return wg_format_style(format) != WG_STYLE_FP16;
}

unsigned wg_matrix_mova2d_rows(const wg_matrix_ctx *c, unsigned *rows)
{
    *rows = WG_GET(MOVA2D, Move8Rows, c->word) ? 8 : 1;
    return (WG_GET(MOVA2D, src, c->word) + c->rwc->srca) & (*rows == 8 ? 0x38u : 0x3Fu);
}

unsigned wg_matrix_movb2d_rows(const wg_matrix_ctx *c, unsigned *rows)
{
    const unsigned mode = wg_field_at(c->layout->movb2d_mode, c->word);
    *rows = !(mode & 2) && mode & 4 ? 4 : 1; /* 2: one row goes to eight */
    return (WG_GET(MOVB2D, src, c->word) + c->rwc->srcb) & (*rows == 4 ? 0x3Cu : 0x3Fu);
}

void wg_matrix_mova2d(wg_matrix_ctx *c, wg_matrix_op *op)
{
    unsigned rows, from = wg_matrix_mova2d_rows(c, &rows), format = move_format(c, WG_SRCA);
    bool eight = rows == 8;
    unwaited(c, WG_SRCA);
    for (unsigned i = 0; i < rows; i++)
        to_dst(op, i, wg_matrix_src_row(c, WG_SRCA, from + i), false, has_exp8(c, format), c->flush, WG_SRC_MASK);
    place_in_dst(c, op, format, false, wg_matrix_dst_row(c, eight ? 0x3F8 : 0x3FF), rows);
    c->to->backend.matrix.last_srca_row = (uint8_t)from;
    wg_matrix_apply_addr_mod(c, wg_matrix_addr_mod(c));
}

void wg_matrix_movb2d(wg_matrix_ctx *c, wg_matrix_op *op)
{
    unsigned mode = wg_field_at(c->layout->movb2d_mode, c->word);
    bool column0 = mode & 1, one_to_eight = mode & 2, wide = false;
    unsigned read, from = wg_matrix_movb2d_rows(c, &read), rows = one_to_eight ? 8 : read;
    bool four = rows == 4;
    unsigned format = move_format(c, WG_SRCB);
    /*
     * Ruling: with Fp32_enabled, BH writes the high half of Dst's 32 bits whatever the format, and cannot write the
     * low half. Public kernels of BH clear Fp32_enabled around writes of the low half ("is ignored") and rely on the
     * high half in their row broadcasts, which WH's skip as broken; MOVB2D.md describes WH.
     */
    if (c->layout->fp32_movb2d && wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_Fp32_enabled)) {
        if (WG_GET(MOVB2D, dest_32b_lo, c->word)) {
            wg_matrix_report(c, WG_F_MATRIX_LOW_IGNORED, 0, 0);
            wg_matrix_apply_addr_mod(c, wg_matrix_addr_mod(c));
            return;
        }
        wide = true;
    }
    /* Ruling: bits that SrcB's own format lacks are dropped (ttsim; WH's pages ignore it). */
    wg_style own = wg_format_style(c->fmt[WG_SRCB]);
    uint32_t keep = wg_src_of_style(WG_SRC_MASK, own);
    unwaited(c, WG_SRCB);
    for (unsigned i = 0; i < rows; i++)
        to_dst(op, i, wg_matrix_src_row(c, WG_SRCB, from + (one_to_eight ? 0 : i)), column0, has_exp8(c, format),
               c->flush, keep);
    place_in_dst(c, op, format, wide, wg_matrix_dst_row(c, one_to_eight ? 0x3F8 : four ? 0x3FC : 0x3FF), rows);
    c->to->backend.matrix.last_srca_row = c->rwc->srca;
    wg_matrix_apply_addr_mod(c, wg_matrix_addr_mod(c));
}

/* ---- Dst to source ---------------------------------------------------------------------------------- */

/* One datum of the 32-bit view. */
static uint32_t narrow32(uint16_t hi, uint16_t lo, wg_style style, bool low)
{
    uint16_t top = low ? lo : hi;
    if (style == WG_STYLE_BF16)
        return wg_src_from_dst_bf16(top);
    if (style == WG_STYLE_FP16)
        return wg_src_from_dst_fp16(top);
    /* The low half of a TF32 holds the 13 bits that the conversion drops. */
    return low ? (uint32_t)lo & 0x1FFF : wg_src_from_dst_tf32((uint32_t)hi << 16 | lo);
}

static void from_dst(wg_matrix_ctx *c, wg_matrix_op *op, wg_src_file file)
{
    bool four = WG_GET(MOVD2A, Move4Rows, c->word), low = WG_GET(MOVD2A, dest_32b_lo, c->word), wide = false;
    unsigned rows = four ? 4 : 1;
    wg_style style = WG_STYLE_FP16;
    if (!wg_matrix_tcfg(c, WG_TCFG_FP16A_FORCE_Enable)) {
        wide = wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_Fp32_enabled) ||
               wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled);
        style = wg_format_style(move_format(c, file));
    }
    /*
     * Decided here: a request for bits that a 16-bit Dst does not hold returns its 16 bits, as a BF16 if TF32 was requested.
     */
    if (!wide && (low || style == WG_STYLE_TF32))
        wg_matrix_report(c, WG_F_MATRIX_OPERAND, low ? 23 : c->fmt[WG_SRCA], low);
    unwaited(c, file);
    wg_matrix_list_rows(c, op, wg_matrix_dst_row(c, four ? 0x3FC : 0x3FF), rows, 1, wide);
    wg_matrix_gather(c, op, wide, 0);
    uint32_t moved[4][16];
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < 16; j++)
            moved[i][j] = wide                     ? narrow32(op->hi[i][j], op->lo[i][j], style, low)
                          : style == WG_STYLE_FP16 ? wg_src_from_dst_fp16(op->hi[i][j])
                                                   : wg_src_from_dst_bf16(op->hi[i][j]);
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < 16; j++)
            op->src[i][j] = moved[i][j];
    op->effect = WG_EFFECT_SRC;
    op->columns = open_columns(c);
    op->file = (uint8_t)file;
    op->bank = c->bank[file];
    unsigned to = WG_GET(MOVD2A, src, c->word) + (file == WG_SRCA ? c->rwc->srca : c->rwc->srcb);
    op->src_row = (uint8_t)(to & (four ? 0x3C : 0x3F));
    c->to->backend.matrix.last_srca_row = file == WG_SRCA ? op->src_row : c->rwc->srca;
    wg_matrix_apply_addr_mod(c, wg_matrix_addr_mod(c));
}

void wg_matrix_movd2a(wg_matrix_ctx *c, wg_matrix_op *op) { from_dst(c, op, WG_SRCA); }
void wg_matrix_movd2b(wg_matrix_ctx *c, wg_matrix_op *op) { from_dst(c, op, WG_SRCB); }

/* ---- Within the sources ----------------------------------------------------------------------------- */

unsigned wg_matrix_movb2a_rows(const wg_matrix_ctx *c, unsigned *rows)
{
    *rows = WG_GET(MOVB2A, Move4Rows, c->word) ? 4 : 1;
    return (WG_GET(MOVB2A, srcb, c->word) + c->rwc->srcb) & (*rows == 4 ? 0x3Cu : 0x3Fu);
}

void wg_matrix_movb2a(wg_matrix_ctx *c, wg_matrix_op *op)
{
    unsigned rows, from = wg_matrix_movb2a_rows(c, &rows), mask = rows == 4 ? 0x3C : 0x3F;
    unwaited(c, WG_SRCA);
    op->effect = WG_EFFECT_SRC;
    op->columns = open_columns(c);
    op->file = WG_SRCA;
    op->bank = c->bank[WG_SRCA];
    op->rows = (uint8_t)rows;
    op->src_row = (uint8_t)((WG_GET(MOVB2A, srca, c->word) + c->rwc->srca) & mask);
    for (unsigned i = 0; i < op->rows; i++) {
        const uint32_t *row = wg_matrix_src_row(c, WG_SRCB, from + i);
        for (unsigned j = 0; j < 16; j++)
            op->src[i][j] = c->flush && !(row[j] & 0xFF) ? 0 : row[j];
    }
    c->to->backend.matrix.last_srca_row = op->src_row;
    wg_matrix_apply_addr_mod(c, wg_matrix_addr_mod(c));
}

void wg_matrix_shiftxa(wg_matrix_ctx *c, wg_matrix_op *op)
{
    unsigned direction = WG_GET(SHIFTXA, shift_mode, c->word);
    if (direction < 2) { /* Decided here: the two reserved directions do nothing. */
        wg_matrix_report(c, WG_F_MATRIX_OPERAND, 0, direction);
        return;
    }
    op->effect = WG_EFFECT_SHIFTXA;
    op->bank = c->bank[WG_SRCA];
    op->flag = direction == 3; /* to the left */
    op->from_row = c->t->backend.matrix.last_srca_row & 0x30;
}

void wg_matrix_shiftxb(wg_matrix_ctx *c, wg_matrix_op *op)
{
    op->effect = WG_EFFECT_SHIFTXB;
    op->bank = c->bank[WG_SRCB];
    op->flag = WG_GET(SHIFTXB, rot_shift, c->word);
    op->src_row = (uint8_t)((WG_GET(SHIFTXB, shift_row, c->word) + c->rwc->srcb) & 0x3F);
    wg_matrix_apply_addr_mod(c, wg_matrix_addr_mod(c));
}

static void transpose(wg_matrix_ctx *c, wg_matrix_op *op, wg_src_file file)
{
    op->effect = WG_EFFECT_TRANSPOSE;
    op->file = (uint8_t)file;
    op->bank = c->bank[file];
}

/* Decided here: TRNSPSRCA, which no document describes, takes rows 16 to 31 as TRNSPSRCB does. */
void wg_matrix_trnspsrca(wg_matrix_ctx *c, wg_matrix_op *op) { transpose(c, op, WG_SRCA); }
void wg_matrix_trnspsrcb(wg_matrix_ctx *c, wg_matrix_op *op) { transpose(c, op, WG_SRCB); }
