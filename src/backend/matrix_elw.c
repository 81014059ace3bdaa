/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element by element: ELWADD, ELWSUB (Dst = or += SrcA +- SrcB), ELWMUL (Dst += SrcA * SrcB), with SrcB's row
 * and/or column 0 broadcast.
 * Facts: ELWADD.md, ELWSUB.md, ELWMUL.md.
 */
#include "backend/matrix_internal.h"

#include <string.h>

static void elementwise(wg_matrix_ctx *c, wg_matrix_op *op, wg_elw_op what)
{
    bool broadcast_row = WG_GET(ELWADD, BroadcastSrcBRow, c->word);
    bool broadcast_column = WG_GET(ELWADD, BroadcastSrcBCol0, c->word);
    /* ELWMUL always accumulates, whatever its dest_accum_en says (documents; ttsim rejects a 1 there). */
    bool accumulate = what == WG_ELW_MUL || WG_GET(ELWADD, dest_accum_en, c->word);
    unsigned row_a = c->rwc->srca & 0x38, row_b = c->rwc->srcb & (broadcast_row ? 0x3F : 0x38);
    wg_matrix_formats(c);
    op->effect = c->wide ? WG_EFFECT_DST32 : WG_EFFECT_DST16;
    wg_matrix_list_rows(c, op, wg_matrix_dst_row(c, 0x3F8), 8, 1, c->wide);
    if (accumulate)
        wg_matrix_gather(c, op, c->wide, 0);
    else
        memset(op->hi, 0, sizeof op->hi + sizeof op->lo);

    uint32_t spread[8][16];
    const uint32_t *b = wg_matrix_src_row(c, WG_SRCB, row_b);
    if (broadcast_row || broadcast_column) {
        for (unsigned i = 0; i < 8; i++)
            for (unsigned j = 0; j < 16; j++)
                spread[i][j] = b[(broadcast_row ? 0 : i) * 16 + (broadcast_column ? 0 : j)];
        b = spread[0];
    }
    wg_elw_args args = {
        .a = wg_matrix_src_row(c, WG_SRCA, row_a),
        .b = b,
        .hi = op->hi,
        .lo = op->lo,
        /* The fidelity phase scales a product by way of its exponent; a sum is scaled after it was formed. */
        .alu = wg_alu_for(c->wide, c->style != WG_STYLE_FP16, c->layout->lost_one, what == WG_ELW_MUL ? c->phase : 0),
        .op = (uint8_t)what,
        .style = c->style,
        .style_b = c->style_b,
        .phase = c->phase,
        .flush = c->flush,
        .accumulate = accumulate,
    };
    wg_matrix_check_settings(c);
    args.alu.prng = wg_matrix_random(c);
    const wg_matrix_kernels *k = wg_matrix_kernels_now(c);
    if (c->style == WG_STYLE_INT8) {
        k->elw_int(&args);
    } else {
        if (what != WG_ELW_MUL && c->phase)
            wg_matrix_report(c, WG_F_MATRIX_FIDELITY, c->phase, 0);
        k->elw_float(&args);
    }
    c->to->backend.matrix.last_srca_row = c->rwc->srca;
    wg_matrix_flip(c, op, WG_GET(ELWADD, clear_dvalid, c->word), true, false);
    wg_matrix_apply_addr_mod(c, wg_matrix_addr_mod(c));
}

void wg_matrix_elwadd(wg_matrix_ctx *c, wg_matrix_op *op) { elementwise(c, op, WG_ELW_ADD); }
void wg_matrix_elwsub(wg_matrix_ctx *c, wg_matrix_op *op) { elementwise(c, op, WG_ELW_SUB); }
void wg_matrix_elwmul(wg_matrix_ctx *c, wg_matrix_op *op) { elementwise(c, op, WG_ELW_MUL); }
