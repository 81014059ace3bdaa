/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's simple sub-unit, lanewise arithmetic: bit operations, field extraction and
 * replacement, integers, conversions, approximations. One function per instruction page.
 *
 * Each computes all lanes from LReg[VB], LReg[VC] and lets wg_vector_put() write the enabled ones, so that the loops are
 * simple 32-element loops. Unless it is scheduled, decoding has set VB to VD where the page says so.
 */
#include "backend/vector.h"

#define SIGN 0x80000000u
#define FRACTION 0x007FFFFFu

/* VD[lane] = expression in b, c (and lane) for every lane, written to the enabled ones after one cycle. */
#define LANEWISE(t, op, expression) \
    do { \
        const uint32_t *vb_ = (t)->regs.lreg.l[(op)->vb], *vc_ = (t)->regs.lreg.l[(op)->vc]; \
        uint32_t out_[WG_LANES]; \
        for (unsigned lane = 0; lane < WG_LANES; lane++) { \
            const uint32_t b = vb_[lane], c = vc_[lane]; \
            (void)b; \
            (void)c; \
            out_[lane] = (expression); \
        } \
        wg_vector_put((t), (op), (op)->vd, out_, wg_op_lanes((t), (op))); \
    } while (0)

static uint32_t field(uint32_t sign, uint32_t exponent, uint32_t fraction)
{
    return sign << 31 | exponent << 23 | fraction;
}

void wg_sfpand(wg_tile *t, const wg_vector_op *op) { LANEWISE(t, op, b & c); }
void wg_sfpor(wg_tile *t, const wg_vector_op *op) { LANEWISE(t, op, b | c); }
void wg_sfpxor(wg_tile *t, const wg_vector_op *op) { LANEWISE(t, op, b ^ c); }
void wg_sfpnot(wg_tile *t, const wg_vector_op *op) { LANEWISE(t, op, ~c); }

void wg_sfpabs(wg_tile *t, const wg_vector_op *op)
{
    if (op->mod & 1) /* FP32; a negative NaN stays */
        LANEWISE(t, op, c > 0xFF800000u ? c : c & ~SIGN);
    else
        LANEWISE(t, op, c & SIGN ? 0 - c : c);
}

void wg_sfpexman(wg_tile *t, const wg_vector_op *op)
{
    uint32_t hidden = op->mod & 1 ? 0 : FRACTION + 1;
    LANEWISE(t, op, hidden | (c & FRACTION));
}

void wg_sfpsetexp(wg_tile *t, const wg_vector_op *op)
{
    uint32_t imm = wg_op_imm12(op) & 0xFF;
    if (op->mod & 1)
        LANEWISE(t, op, field(c >> 31, imm, c & FRACTION));
    else if (op->mod & 2)
        LANEWISE(t, op, field(c >> 31, b >> 23 & 0xFF, c & FRACTION));
    else
        LANEWISE(t, op, field(c >> 31, b & 0xFF, c & FRACTION));
}

void wg_sfpsetman(wg_tile *t, const wg_vector_op *op)
{
    uint32_t imm = wg_op_imm12(op) << 11;
    if (op->mod & 1)
        LANEWISE(t, op, (c & ~FRACTION) | imm);
    else
        LANEWISE(t, op, (c & ~FRACTION) | (b & FRACTION));
}

void wg_sfpsetsgn(wg_tile *t, const wg_vector_op *op)
{
    uint32_t imm = wg_op_imm12(op) << 31;
    if (op->mod & 1)
        LANEWISE(t, op, (c & ~SIGN) | imm);
    else
        LANEWISE(t, op, (c & ~SIGN) | (b & SIGN));
}

void wg_sfpdivp2(wg_tile *t, const wg_vector_op *op)
{
    uint32_t imm = wg_op_imm12(op) & 0xFF;
    if (op->mod & 1)
        LANEWISE(t, op, (c >> 23 & 0xFF) == 255 ? c : field(c >> 31, ((c >> 23) + imm) & 0xFF, c & FRACTION));
    else
        LANEWISE(t, op, field(c >> 31, imm, c & FRACTION));
}

/* Sets the flags of enabled lanes from a predicate over the 32 lanes. */
static void set_flags(const wg_vector_op *op, uint32_t lanes, uint32_t value)
{
    op->pred->flags = (op->pred->flags & ~lanes) | (value & lanes);
}

/*
 * SFPIADD, SFPEXEXP, SFPLZ: first the flags may be replaced by a test of each lane, then they may be
 * inverted. The test needs VD < 8: scheduled instructions that write LReg 16 do not change flags.
 */
static void update_flags(wg_tile *t, const wg_vector_op *op, bool set, uint32_t value, bool invert)
{
    if (op->vd >= 8)
        return;
    uint32_t lanes = wg_op_lanes(t, op);
    if (set)
        set_flags(op, lanes, value);
    if (invert)
        set_flags(op, lanes, ~op->pred->flags);
}

static uint32_t sign_bits(const uint32_t data[WG_LANES])
{
    uint32_t signs = 0;
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        signs |= data[lane] >> 31 << lane;
    return signs;
}

void wg_sfpexexp(wg_tile *t, const wg_vector_op *op)
{
    const uint32_t *c = t->regs.lreg.l[op->vc];
    uint32_t bias = op->mod & 1 ? 0 : 127, out[WG_LANES];
    if (!wg_op_writes(op))
        return;
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        out[lane] = (c[lane] >> 23 & 0xFF) - bias;
    uint32_t negative = op->mod & 2 ? sign_bits(out) : 0;
    wg_vector_put(t, op, op->vd, out, wg_op_lanes(t, op));
    update_flags(t, op, op->mod & 2, negative, op->mod & 8);
}

void wg_sfplz(wg_tile *t, const wg_vector_op *op)
{
    const uint32_t *c = t->regs.lreg.l[op->vc];
    uint32_t keep = op->mod & 4 ? ~SIGN : ~0u, out[WG_LANES], nonzero = 0;
    if (!wg_op_writes(op))
        return;
    for (unsigned lane = 0; lane < WG_LANES; lane++) {
        uint32_t v = c[lane] & keep;
        out[lane] = v ? (uint32_t)__builtin_clz(v) : 32;
        nonzero |= (uint32_t)(v != 0) << lane;
    }
    wg_vector_put(t, op, op->vd, out, wg_op_lanes(t, op));
    update_flags(t, op, op->mod & 2, nonzero, op->mod & 8);
}

void wg_sfpiadd(wg_tile *t, const wg_vector_op *op)
{
    const uint32_t *b = t->regs.lreg.l[op->vb], *c = t->regs.lreg.l[op->vc];
    uint32_t imm = (uint32_t)wg_op_simm12(op), out[WG_LANES];
    if (!wg_op_writes(op))
        return;
    if (op->mod & 1)
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            out[lane] = c[lane] + imm;
    else if (op->mod & 2)
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            out[lane] = c[lane] - b[lane];
    else
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            out[lane] = c[lane] + b[lane];
    uint32_t negative = op->mod & 4 ? 0 : sign_bits(out);
    wg_vector_put(t, op, op->vd, out, wg_op_lanes(t, op));
    update_flags(t, op, !(op->mod & 4), negative, op->mod & 8);
}

static uint32_t shifted(uint32_t v, uint32_t by, bool arithmetic)
{
    if (!(by & SIGN))
        return v << (by & 31);
    unsigned right = (0 - by) & 31;
    return arithmetic ? (uint32_t)((int32_t)v >> right) : v >> right;
}

void wg_sfpshft(wg_tile *t, const wg_vector_op *op)
{
    bool modes = wg_vector_traits_for(t)->shift_modes, arithmetic = modes && op->mod & 2;
    uint32_t imm = (uint32_t)wg_op_simm12(op);
    if (!(op->mod & 1))
        LANEWISE(t, op, shifted(b, c, arithmetic));
    else if (modes && op->mod & 4)
        LANEWISE(t, op, shifted(c, imm, arithmetic));
    else
        LANEWISE(t, op, shifted(b, imm, arithmetic));
}

/* Sign-magnitude integer to FP32; `rest` gets the last bit kept and those cut off. */
static uint32_t normalised(uint32_t c, uint32_t *rest)
{
    uint32_t magnitude = c & ~SIGN;
    if (!magnitude) {
        *rest = 0;
        return c & SIGN;
    }
    unsigned zeros = (unsigned)__builtin_clz(magnitude);
    uint32_t norm = magnitude << zeros;
    *rest = norm & 0x1FF;
    return (c & SIGN) + ((157 - zeros) << 23) + (norm >> 8);
}

static void cast_to_float(wg_tile *t, const wg_vector_op *op, bool stochastic)
{
    const uint32_t *c = t->regs.lreg.l[op->vc];
    uint32_t lanes = wg_op_lanes(t, op), out[WG_LANES] = {0};
    for (unsigned lane = 0; lane < WG_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        uint32_t rest, value = normalised(c[lane], &rest);
        if (stochastic)
            value += (rest & 0xFE) > (wg_prng_advance(&t->regs.lreg, lane) >> 9 & 0xFE);
        else
            value += (rest & 0x80) && (rest & 0x17F);
        out[lane] = value;
    }
    wg_vector_put(t, op, op->vd, out, lanes);
}

void wg_sfpcast(wg_tile *t, const wg_vector_op *op)
{
    unsigned mode = op->mod & (wg_vector_traits_for(t)->cast_modes ? 3 : 1);
    if (mode == 2)
        LANEWISE(t, op, c & SIGN ? 0 - c : c);
    else if (mode == 3)
        LANEWISE(t, op, c & SIGN ? SIGN | (0 - c) : c);
    else
        cast_to_float(t, op, mode);
}

/* SFPMOV's view of the registers that SFPCONFIG writes. */
static uint32_t special(wg_lreg *r, unsigned index, unsigned lane)
{
    const wg_load_macro *macro = &r->macro[lane & 7];
    if (index < 4)
        return macro->instruction[index];
    if (index < 8)
        return macro->sequence[index - 4];
    switch (index) {
    case 8: return macro->misc;
    case 9: return wg_prng_advance(r, lane);
    case 15: return wg_lane_config_word(r, lane);
    default: return 0;
    }
}

void wg_sfpmov(wg_tile *t, const wg_vector_op *op)
{
    wg_lreg *r = &t->regs.lreg;
    uint32_t lanes = op->mod == 2 ? op->lanes : wg_op_lanes(t, op), out[WG_LANES] = {0};
    uint32_t flip = op->mod & 1 ? SIGN : 0;
    if (op->mod & 8) {
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            if (lanes >> lane & 1)
                out[lane] = special(r, op->vc, lane);
    } else {
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            out[lane] = r->l[op->vc][lane] ^ flip;
    }
    wg_vector_put(t, op, op->vd, out, lanes);
}
