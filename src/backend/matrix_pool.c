/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Column maxima: GMPOOL, and MPOOL3S1, MPOOL3S2, which behave as if SrcA were zero.
 *
 * Each of 16 rows of SrcA is scaled by the exponent of one datum of SrcB; the largest per column, or the datum
 * in Dst if that is larger, goes to Dst, and zeros to the three rows below. With ArgMax the index of the largest among the
 * first eight rows is kept in the low bits.
 *
 * Facts: GMPOOL.md (which is exact), MatrixUnit.md ("Legacy instructions").
 */
#include "backend/matrix_internal.h"

enum { EXPONENT_MASK = 0x1FF, MAGNITUDE_MASK = 0x3FF };

/* The format of Dst's row, in addition to the sources' styles. */
typedef enum dst_style { DST_BF16, DST_FP16, DST_TF32, DST_INT32 } dst_style;

typedef struct datum {
    uint32_t sign, exponent, magnitude; /* 1, 9 and 10 bits */
} datum;

static int32_t comparable(datum x)
{
    int32_t value = (int32_t)(x.exponent << 10 | x.magnitude);
    return x.sign ? -value : value;
}

static datum read_dst(uint32_t x, dst_style style)
{
    datum d = {.sign = x >> 31};
    switch (style) {
    case DST_INT32: /* 19 bits of magnitude */
        d.magnitude = x & MAGNITUDE_MASK;
        d.exponent = (x >> 10 & 0x3F) | (x >> 24 & 7) << 6;
        break;
    case DST_FP16:
        d.exponent = (x >> 16 & 0x1F) + 15;
        d.magnitude = x >> 21 & MAGNITUDE_MASK;
        break;
    case DST_BF16:
    case DST_TF32:
        d.exponent = (x >> 16 & 0xFF) + 127;
        d.magnitude = (x >> 24 & 0x7F) << 3 | (style == DST_TF32 ? x >> 13 & 7 : 0);
        break;
    }
    return d;
}

static uint32_t write_dst(datum d, dst_style style)
{
    switch (style) {
    case DST_INT32: return d.sign << 31 | (d.exponent & 7) << 10 | d.magnitude;
    case DST_FP16:
        if (!(d.exponent & 0x3F))
            return 0;
        return d.sign << 31 | d.magnitude << 21 | ((d.exponent - 15) & 0x1F) << 16; /* wraps if scaled too far */
    default:
        if (!d.exponent)
            return 0;
        return d.sign << 31 | (d.magnitude & 0x3F8) << 21 | ((d.exponent - 127) & 0xFF) << 16 |
               (style == DST_TF32 ? (d.magnitude & 7) << 13 : 0);
    }
}

static datum read_scaled(uint32_t a, wg_style style, uint32_t b)
{
    uint32_t exp_a = a & 0xFF, exp_b = b & 0xFF;
    if (!exp_b)
        return (datum){1, EXPONENT_MASK, MAGNITUDE_MASK};
    if (!exp_a)
        return (datum){0, 0, 0};
    datum d = {.sign = a >> 18 & 1, .magnitude = a >> 8 & MAGNITUDE_MASK};
    switch (style) {
    case WG_STYLE_INT8: break;
    case WG_STYLE_FP16: d.exponent = (exp_a & 0x1F) + (exp_b & 0x1F); break;
    case WG_STYLE_BF16:
        d.magnitude &= 0x3F8;
        d.exponent = exp_a + exp_b;
        break;
    case WG_STYLE_TF32: d.exponent = exp_a + exp_b; break;
    }
    return d;
}

static dst_style style_of_dst(const wg_matrix_ctx *c, bool argmax)
{
    switch ((wg_style)c->style) {
    case WG_STYLE_INT8: return DST_INT32;
    case WG_STYLE_BF16: return c->wide && !argmax ? DST_TF32 : DST_BF16;
    case WG_STYLE_FP16: return c->wide && !argmax ? DST_TF32 : DST_FP16;
    default: return argmax ? DST_INT32 : c->wide ? DST_TF32 : DST_BF16;
    }
}

static void pool(wg_matrix_ctx *c, wg_matrix_op *op, bool zero_a)
{
    static const uint8_t place[8] = {0, 3, 6, 1, 4, 7, 2, 5};
    bool argmax = WG_GET(GMPOOL, max_pool_index_en, c->word);
    wg_matrix_formats(c);
    if (c->style != WG_STYLE_INT8 && !wg_format_known(c->fmt[WG_SRCA]) &&
        !wg_matrix_tcfg(c, WG_TCFG_FP16A_FORCE_Enable))
        wg_matrix_report(c, WG_F_MATRIX_FORMAT, c->fmt[WG_SRCA], 0);
    dst_style style = style_of_dst(c, argmax);
    unsigned row_a = c->rwc->srca & 0x30;
    const uint32_t *scale = wg_matrix_src_row(c, WG_SRCB, c->rwc->srcb & 0x38);
    op->effect = c->wide ? WG_EFFECT_DST32 : WG_EFFECT_DST16;
    wg_matrix_list_rows(c, op, wg_matrix_dst_row(c, 0x3FC), 4, 1, c->wide);
    wg_matrix_gather(c, op, c->wide, 0xFFFF);

    datum max[16];
    int32_t best[16];
    uint32_t phase[16], index[16];
    for (unsigned j = 0; j < 16; j++) {
        uint32_t x = (uint32_t)op->hi[0][j] << 16 | (c->wide ? op->lo[0][j] : 0);
        phase[j] = (x + 0x100) & 0xF00;
        index[j] = x & 0xFF;
        max[j] = read_dst(x, style);
        best[j] = comparable(max[j]);
    }
    for (unsigned visit = 0; visit < 16; visit++) {
        unsigned i = visit < 8 ? visit ^ 4 : visit; /* the order decides among equals */
        const uint32_t *row = wg_matrix_src_row(c, WG_SRCA, row_a + i);
        for (unsigned j = 0; j < 16; j++) {
            datum d = read_scaled(zero_a ? 0 : row[j], (wg_style)c->style, scale[i]);
            int32_t value = comparable(d);
            if (value < best[j])
                continue;
            best[j] = value;
            max[j] = d;
            if (i < 8)
                index[j] = ((phase[j] >> 4) + place[i]) & 0xFF;
        }
    }
    for (unsigned j = 0; j < 16; j++) {
        uint32_t x = argmax && style == DST_INT32 ? 0 : write_dst(max[j], style);
        if (argmax)
            x |= phase[j] | index[j];
        op->hi[0][j] = (uint16_t)(x >> 16);
        op->lo[0][j] = (uint16_t)x;
        for (unsigned i = 1; i < 4; i++) {
            uint16_t below = argmax && c->wide ? (uint16_t)((op->lo[i][j] + 0x100) & 0xF00) : 0;
            op->hi[i][j] = 0;
            op->lo[i][j] = below;
        }
    }
    c->to->backend.matrix.last_srca_row = c->rwc->srca;
    wg_matrix_flip(c, op, WG_GET(GMPOOL, clear_dvalid, c->word), true, false);
    wg_matrix_apply_addr_mod(c, wg_field_at(c->layout->pool_addr_mod, c->word));
}

void wg_matrix_gmpool(wg_matrix_ctx *c, wg_matrix_op *op) { pool(c, op, false); }
void wg_matrix_mpool(wg_matrix_ctx *c, wg_matrix_op *op) { pool(c, op, true); }
