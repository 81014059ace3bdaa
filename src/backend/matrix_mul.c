/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products: MVMUL, DOTPV, GAPOOL, and the remains of the convolutions and average pools.
 *
 *      Dst[i][j] += sum over k of SrcB[i][k] * SrcA[k][j]
 *
 * With the shortcut `decoding`, operands are decoded once per bank and fidelity half, and used until the bank changes.
 * Facts: MVMUL.md, DOTPV.md, GAPOOL.md, MatrixUnit.md ("Legacy instructions").
 */
#include "backend/matrix_internal.h"
#include "machine/fast.h"

#include <string.h>

/* Drops a bank's decoded copies once its rows have changed or are read in another style, or if none may be used again. */
static void refresh(bool again, uint8_t *kind, uint32_t *seen, uint8_t *valid, unsigned valids, uint8_t now_kind,
                    uint32_t changes)
{
    if (again && *kind == now_kind && *seen == changes)
        return;
    *kind = now_kind;
    *seen = changes;
    for (unsigned i = 0; i < valids; i++)
        valid[i] = 0;
}

const wg_matrix_a *wg_matrix_decoded_a(const wg_matrix_ctx *c, const wg_matrix_kernels *k, unsigned row,
                                       wg_matrix_a *scratch)
{
    const wg_src *s = &c->t->regs.src;
    wg_matrix_cache *cache = &c->to->backend.matrix.cache;
    unsigned bank = c->bank[WG_SRCA], half = c->phase & 1;
    const uint32_t *first = s->a[bank][row & 63], *second = s->a[bank][(row + 8) & 63];
    if (row & 15) {
        k->decode_a(first, second, (wg_style)c->style, c->phase, scratch);
        return scratch;
    }
    /* Kind 0: never decoded. */
    refresh(wg_fast_decoded(c->t), &cache->a_kind[bank], &cache->a_changes[bank], &cache->a_valid[bank], 1,
            (uint8_t)(c->style + 1), s->changes_a[bank]);
    unsigned bit = row / 16 * 2 + half;
    wg_matrix_a *a = &cache->a[bank][row / 16][half];
    if (!(cache->a_valid[bank] >> bit & 1)) {
        k->decode_a(first, second, (wg_style)c->style, c->phase, a);
        cache->a_valid[bank] |= (uint8_t)(1u << bit);
    }
    return a;
}

const wg_matrix_b *wg_matrix_decoded_b(const wg_matrix_ctx *c, const wg_matrix_kernels *k, unsigned row)
{
    const wg_src *s = &c->t->regs.src;
    wg_matrix_cache *cache = &c->to->backend.matrix.cache;
    unsigned bank = c->bank[WG_SRCB], half = c->phase >> 1;
    refresh(wg_fast_decoded(c->t), &cache->b_kind[bank], &cache->b_changes[bank], cache->b_valid[bank], 2,
            (uint8_t)(c->style_b + 1 + 8 * c->flush), s->changes_b[bank]);
    wg_matrix_b *b = &cache->b[bank][row / 8][half];
    if (!(cache->b_valid[bank][half] >> row / 8 & 1)) {
        k->decode_b(s->b[bank][row], 8, (wg_style)c->style_b, c->flush, c->phase, b);
        cache->b_valid[bank][half] |= (uint8_t)(1u << row / 8);
    }
    return b;
}

/* Releases banks and steps the counters. */
static void finish(wg_matrix_ctx *c, wg_matrix_op *op, unsigned addr_mod)
{
    c->to->backend.matrix.last_srca_row = c->rwc->srca;
    wg_matrix_flip(c, op, WG_GET(MVMUL, clear_dvalid, c->word), true, false);
    wg_matrix_apply_addr_mod(c, addr_mod);
}

static void product(wg_matrix_ctx *c, wg_matrix_op *op, unsigned first, unsigned rows, unsigned step, bool broadcast)
{
    wg_matrix_formats(c);
    wg_matrix_check_settings(c);
    op->effect = c->wide ? WG_EFFECT_DST32 : WG_EFFECT_DST16;
    wg_matrix_list_rows(c, op, first, rows, step, c->wide);

    const wg_matrix_kernels *k = wg_matrix_kernels_now(c);
    wg_matrix_a scratch_a;
    wg_matrix_b scratch_b;
    wg_mul_args args = {
        .a = wg_matrix_decoded_a(c, k, c->rwc->srca & 0x38, &scratch_a),
        .b = &scratch_b,
        .rows = rows,
        .b_step = !broadcast,
        .from_hi = op->hi,
        .from_lo = op->lo,
        .hi = op->hi,
        .lo = op->lo,
        .alu = wg_alu_for(c->wide, c->style != WG_STYLE_FP16, c->layout->lost_one, c->phase),
    };
    args.alu.prng = wg_matrix_random(c);
    if (op->together)
        wg_matrix_multiply_from(&args, &c->t->regs.dst, op->row[0], c->wide);
    else
        wg_matrix_gather(c, op, c->wide, 0);
    if (broadcast)
        k->decode_b(wg_matrix_src_row(c, WG_SRCB, c->rwc->srcb), 1, (wg_style)c->style_b, c->flush, c->phase,
                    &scratch_b);
    else
        args.b = wg_matrix_decoded_b(c, k, c->rwc->srcb & 0x38);
    if (c->style == WG_STYLE_INT8)
        k->mul_int(&args);
    else
        k->mul_float(&args);
}

void wg_matrix_from_undefined(wg_mul_args *args, const wg_dst *d, unsigned row, unsigned undefined)
{
    static const uint16_t none[8][16];
    args->from_hi = args->from_lo = none;
    for (unsigned i = 0; undefined != 0xFF && i < 8; i++) {
        memmove(args->hi[i], undefined >> i & 1 ? none[i] : d->bits[row + i], sizeof none[i]);
        memmove(args->lo[i], undefined >> i & 1 ? none[i] : d->bits[(row + i + WG_DST_LOW) % WG_DST_ROWS],
                sizeof none[i]);
        args->from_hi = args->hi;
        args->from_lo = args->lo;
    }
}

void wg_matrix_mvmul(wg_matrix_ctx *c, wg_matrix_op *op)
{
    if (WG_GET(MVMUL, instr_mod19, c->word)) /* BroadcastSrcBRow: every second of seven rows */
        product(c, op, wg_matrix_dst_row(c, 0x400 - 7), 4, 2, true);
    else
        product(c, op, wg_matrix_dst_row(c, 0x3F8), 8, 1, false);
    finish(c, op, wg_matrix_addr_mod(c));
}

void wg_matrix_dotpv(wg_matrix_ctx *c, wg_matrix_op *op)
{
    product(c, op, wg_matrix_dst_row(c, 0x3F8), 8, 1, false);
    finish(c, op, wg_matrix_addr_mod(c));
}

void wg_matrix_gapool(wg_matrix_ctx *c, wg_matrix_op *op)
{
    product(c, op, wg_matrix_dst_row(c, 0x3FC), 4, 1, false);
    finish(c, op, wg_field_at(c->layout->pool_addr_mod, c->word));
}

/* Dst += 0. */
static void add_zero(wg_matrix_ctx *c, wg_matrix_op *op, unsigned first, unsigned rows)
{
    wg_matrix_formats(c);
    op->effect = c->wide ? WG_EFFECT_DST32 : WG_EFFECT_DST16;
    wg_matrix_list_rows(c, op, first, rows, 1, c->wide);
    wg_matrix_gather(c, op, c->wide, 0);
    if (c->style == WG_STYLE_INT8)
        return;
    wg_alu alu = wg_alu_for(c->wide, c->style != WG_STYLE_FP16, c->layout->lost_one, c->phase);
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < 16; j++) {
            uint32_t dst = wg_alu_from_dst(&alu, op->hi[i][j], op->lo[i][j]);
            uint32_t result = wg_alu_accumulate(&alu, 0, alu.lowest, 0, alu.lowest, dst, WG_ALU_HALF);
            op->hi[i][j] = wg_alu_to_dst_hi(&alu, result);
            op->lo[i][j] = (uint16_t)result;
        }
}

/* Decided here: the convolutions touch eight rows, as MVMUL, the average pools four, as GAPOOL. */
void wg_matrix_conv(wg_matrix_ctx *c, wg_matrix_op *op)
{
    add_zero(c, op, wg_matrix_dst_row(c, 0x3F8), 8);
    finish(c, op, wg_matrix_addr_mod(c));
}

void wg_matrix_apool(wg_matrix_ctx *c, wg_matrix_op *op)
{
    add_zero(c, op, wg_matrix_dst_row(c, 0x3FC), 4);
    finish(c, op, wg_field_at(c->layout->pool_addr_mod, c->word));
}
