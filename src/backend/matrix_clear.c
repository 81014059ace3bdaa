/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clearing and counters: ZEROACC, ZEROSRC, CLEARDVALID, GATESRCRST, CLREXPHIST, SETRWC, INCRWC.
 * Facts: the instructions' pages; ttsim for BH's ZEROACC.
 */
#include "backend/matrix_internal.h"

#include <string.h>

enum { MODE_ONE_ROW, MODE_16_ROWS, MODE_HALF, MODE_ALL };

static void mark(wg_matrix_op *op, unsigned stored) { op->marks[stored / 64 & 15] |= UINT64_C(1) << (stored & 63); }

/*
 * Clears sixteen rows. On BH the block number is relative to the half of Dst (16-bit view) or the quarter (32-bit view) that
 * the counters select, unless zeroacc_absolute_tile_mode is set (ttsim). Blocks beyond Dst have no effect.
 */
static void mark_16_rows(const wg_matrix_ctx *c, wg_matrix_op *op, bool wide)
{
    unsigned block = WG_GET(ZEROACC, Block, c->word);
    unsigned offset = wg_matrix_tcfg(c, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset) + c->rwc->dst;
    bool absolute = !c->layout->zeroacc_relative || wg_matrix_cfg(c, WG_CFG_DEST_ACCESS_CFG_zeroacc_absolute_tile_mode);
    if (!absolute && (offset & (wide ? 768 : 512)))
        block += wide ? 16 : 32;
    if (block >= (wide ? 32 : 64))
        return;
    for (unsigned i = 0; i < 16; i++)
        mark(op, wg_dst_stored(c->access, block * 16 + i, wide));
}

void wg_matrix_zeroacc(wg_matrix_ctx *c, wg_matrix_op *op)
{
    unsigned mode = WG_GET(ZEROACC, Mode, c->word);
    bool wide = wg_field_at(c->layout->zeroacc_wide, c->word);
    bool revert = wg_field_at(c->layout->zeroacc_revert, c->word);
    /* "Silently discarded" (SoftReset.md). Decided here: as a whole, including its effect on banks and counters. */
    if (__builtin_expect(wg_in_soft_reset(&c->t->regions.control, WG_RESET_DST), 0))
        return;
    op->effect = WG_EFFECT_UNDEFINE;
    memset(op->marks, 0, sizeof op->marks);
    switch (mode) {
    case MODE_ONE_ROW:
        revert = false;
        wg_matrix_formats(c);
        mark(op, wg_dst_stored(c->access, wg_matrix_dst_row(c, 0x3FF),
                               wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_Fp32_enabled) ||
                                   wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled)));
        break;
    case MODE_16_ROWS: mark_16_rows(c, op, wide); break;
    case MODE_HALF:
        memset(&op->marks[WG_GET(ZEROACC, UpperHalf, c->word) ? 8 : 0], 0xFF, 8 * sizeof op->marks[0]);
        break;
    default: memset(op->marks, 0xFF, sizeof op->marks); break;
    }
    /* The documents leave reverting undefined. Its effect is known, and BH kernels use it on 16 rows. */
    op->flag = revert;
    if (revert && !(c->layout->zeroacc_relative && mode == MODE_16_ROWS && wide))
        wg_matrix_report(c, WG_F_MATRIX_OPERAND, c->layout->zeroacc_revert.lo, 1);
    /* These bits release banks as in the arithmetic instructions (assembly table). */
    wg_matrix_flip(c, op, WG_GET(ZEROACC, clear_dvalid, c->word), true, false);
    if (mode <= MODE_16_ROWS)
        wg_matrix_apply_addr_mod(c, wg_matrix_addr_mod(c));
}

void wg_matrix_zerosrc(wg_matrix_ctx *c, wg_matrix_op *op)
{
    const wg_src *s = &c->t->regs.src;
    bool of_matrix_unit = WG_GET(ZEROSRC, write_mode, c->word), both = WG_GET(ZEROSRC, bank_mask, c->word);
    unsigned files = WG_GET(ZEROSRC, src_mask, c->word); /* bit per wg_src_file */
    op->effect = WG_EFFECT_ZEROSRC;
    op->flag = WG_GET(ZEROSRC, zero_val, c->word); /* SrcA is filled with ones: minus infinity */
    unsigned a = both ? 3 : 1u << (of_matrix_unit ? c->bank[WG_SRCA] : s->unpack_bank_a & 1);
    unsigned b = both ? 3 : 1u << (of_matrix_unit ? c->bank[WG_SRCB] : s->unpack_bank_b & 1);
    op->banks = (uint8_t)((files & 1 ? a : 0) | (files & 2 ? b << 2 : 0));
}

void wg_matrix_cleardvalid(wg_matrix_ctx *c, wg_matrix_op *op)
{
    wg_matrix *m = &c->to->backend.matrix;
    if (!WG_GET(CLEARDVALID, ResetAll, c->word)) {
        wg_matrix_flip(c, op, WG_GET(CLEARDVALID, cleardvalid, c->word), false,
                       WG_GET(CLEARDVALID, KeepPointer, c->word));
        return;
    }
    op->effect = WG_EFFECT_RESET_BANKS;
    m->flips++;
    m->issue_bank[WG_SRCA] = m->issue_bank[WG_SRCB] = 0;
    for (unsigned i = 0; i < 4; i++)
        m->giving[i / 2][i & 1]++;
}

/* Invalidates a cache between SrcB and the multipliers, which is invisible to correct programs. */
void wg_matrix_gatesrcrst(wg_matrix_ctx *c, wg_matrix_op *op)
{
    (void)c;
    (void)op;
}

void wg_matrix_clrexphist(wg_matrix_ctx *c, wg_matrix_op *op)
{
    (void)c;
    op->effect = WG_EFFECT_EXPHIST;
}

void wg_matrix_setrwc(wg_matrix_ctx *c, wg_matrix_op *op)
{
    wg_rwc_set(wg_matrix_counters(c), c->word);
    wg_matrix_flip(c, op, WG_GET(SETRWC, clear_ab_vld, c->word), true, false);
}

void wg_matrix_incrwc(wg_matrix_ctx *c, wg_matrix_op *op)
{
    (void)op;
    wg_rwc_increment(wg_matrix_counters(c), c->word);
}

void wg_matrix_setibrwc(wg_matrix_ctx *c, wg_matrix_op *op)
{
    (void)op;
    wg_matrix_report(c, WG_F_INSN_ASSUMED, wg_opcode(c->word), 0);
    wg_rwc_bias(wg_matrix_counters(c), c->word);
}

/*
 * Decided here: the convolution instructions of earlier architectures do nothing. RAREB is dead (emulator notes). The
 * masks of SETASHRM* were for the shifts of CONV3S*, which only adds zero (MatrixUnit.md). The packers take their
 * edges from configuration, so nothing reads the values set by SETPKEDGOF. The banks they wait for are the assembly tables'
 * src_mask, which agrees with the pages of all other instructions but MOVB2A's.
 */
void wg_matrix_legacy(wg_matrix_ctx *c, wg_matrix_op *op)
{
    (void)op;
    wg_matrix_report(c, WG_F_RESERVED_INSN, wg_opcode(c->word), 0);
}
