/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's MAD sub-unit: SFPMAD, SFPADD, SFPMUL (one instruction by three names), SFPADDI,
 * SFPMULI, SFPLUT, SFPLUTFP32, SFPMUL24. Results take two cycles. The arithmetic is num/fma.h, over
 * all lanes at once through the tile's kernels.
 *
 * Facts: SFPMAD.md, SFPADDI.md, SFPMULI.md, SFPLUT.md, SFPLUTFP32.md, SFPMUL24.md.
 */
#include "backend/vector.h"

#include <string.h>

#define SIGN 0x80000000u

enum { NEGATE_VB = 1, NEGATE_VC = 2, INDIRECT_VA = 4, INDIRECT_VD = 8 };

/* Indirect destination: each lane writes the LReg that LReg 7 names. */
static void scatter(wg_tile *t, const wg_vector_op *op, const uint32_t out[WG_LANES], uint32_t lanes)
{
    const uint32_t *index = t->regs.lreg.l[7];
    uint32_t to[8] = {0};
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        if (lanes >> lane & 1 && (index[lane] & 15) < 8)
            to[index[lane] & 7] |= 1u << lane;
    for (unsigned vd = 0; vd < 8; vd++)
        if (to[vd])
            wg_vector_put(t, op, vd, out, to[vd]);
}

static void put(wg_tile *t, const wg_vector_op *op, const uint32_t out[WG_LANES], bool indirect)
{
    uint32_t lanes = wg_op_lanes(t, op);
    if (indirect && op->vd != 16)
        scatter(t, op, out, lanes);
    else
        wg_vector_put(t, op, op->vd, out, lanes);
}

/* Kernels exist for two special cases: addend zero, and multiplicand one. */
static void fma_lanes(const wg_tile *t, uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                      uint32_t flip_b, uint32_t flip_c)
{
    const wg_vector_kernels *k = wg_vector_kernels_for(t);
    const wg_lreg *r = &t->regs.lreg;
    wg_fma_lanes_fn *const *fn = c == r->l[9] ? k->mul : a == r->l[10] ? k->add : k->fma;
    fn[t->arch->id](out, a, b, c, flip_b, flip_c);
}

/* The sign bit if the mode negates this operand, else 0. */
static uint32_t flip(const wg_tile *t, unsigned mod, unsigned which)
{
    return wg_vector_traits_for(t)->sign_modes && mod & which ? SIGN : 0;
}

void wg_mad_early(wg_tile *t, uint32_t word, uint32_t lanes)
{
    unsigned va = WG_GET(SFPMAD, lreg_src_a, word), vb = WG_GET(SFPMAD, lreg_src_b, word);
    unsigned vc = WG_GET(SFPMAD, lreg_src_c, word), vd = WG_GET(SFPMAD, lreg_dest, word) & 7;
    unsigned mod = WG_GET(SFPMAD, instr_mod1, word);
    wg_lreg *r = &t->regs.lreg;
    wg_vector_early *e = &t->backend.vector.early;
    const uint32_t *a = r->l[va], *b = r->l[vb], *c = r->l[vc];
    uint32_t *d = r->l[vd], flip_b = 0, flip_c = 0;
    if (mod & 3) {
        flip_b = flip(t, mod, NEGATE_VB);
        flip_c = flip(t, mod, NEGATE_VC);
    }
    e->next = t->sched.now + 1;
    e->lanes = lanes;
    e->lreg = vd;
    const wg_vector_kernels *k = wg_vector_kernels_for(t);
    if (vc != 9 && va != 10) {
        const wg_mad_lanes m = {d, e->old, a, b, c, flip_b, flip_c, lanes, &t->backend.vector.unfused};
        k->mad[t->arch->id](&m);
        return;
    }
    uint32_t out[WG_LANES];
    const uint32_t *old = e->old;
    memcpy(e->old, d, sizeof e->old);
    fma_lanes(t, lanes == ~0u ? d : out, a == d ? old : a, b == d ? old : b, c == d ? old : c, flip_b, flip_c);
    if (lanes != ~0u)
        k->blend(d, out, lanes);
}

void wg_sfpmad(wg_tile *t, const wg_vector_op *op)
{
    const wg_lreg *r = &t->regs.lreg;
    uint32_t flip_b = flip(t, op->mod, NEGATE_VB), flip_c = flip(t, op->mod, NEGATE_VC);
    uint32_t gathered[WG_LANES];
    const uint32_t *a = r->l[op->va], *b = r->l[op->vb], *c = r->l[op->vc];
    if (op->mod & INDIRECT_VA) {
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            gathered[lane] = r->l[r->l[7][lane] & 15][lane];
        a = gathered;
    }
    if (op->mod & INDIRECT_VD) {
        uint32_t out[WG_LANES];
        fma_lanes(t, out, a, b, c, flip_b, flip_c);
        put(t, op, out, true);
        return;
    }
    uint32_t lanes = wg_op_lanes(t, op);
    if (!wg_op_writes(op) || !lanes)
        return;
    const wg_vector *v = &t->backend.vector;
    if (op->macro || v->scheduled || v->pending_lregs >> op->vd & 1 || op->mod & INDIRECT_VA || op->vd >= 8)
        fma_lanes(t, wg_vector_result(t, op->vd, lanes, op->now + wg_vector_latency(op)), a, b, c, flip_b, flip_c);
    else /* only the next instruction could read too early */
        wg_mad_early(t, op->word, lanes);
}

static void with_immediate(wg_tile *t, const wg_vector_op *op, bool multiply)
{
    const wg_lreg *r = &t->regs.lreg;
    uint32_t imm[WG_LANES], out[WG_LANES];
    uint32_t negate = flip(t, op->mod, NEGATE_VC);
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        imm[lane] = wg_op_imm16(op) << 16;
    if (multiply)
        fma_lanes(t, out, imm, r->l[op->vc], r->l[9], negate, 0);
    else
        fma_lanes(t, out, r->l[10], imm, r->l[op->vc], 0, negate);
    put(t, op, out, op->mod & INDIRECT_VD);
}

void wg_sfpaddi(wg_tile *t, const wg_vector_op *op) { with_immediate(t, op, false); }
void wg_sfpmuli(wg_tile *t, const wg_vector_op *op) { with_immediate(t, op, true); }

static uint32_t lut8(uint32_t x)
{
    x &= 0xFF;
    return x == 0xFF ? 0 : x >> 7 << 31 | (127 - (x >> 4 & 7)) << 23 | (x & 15) << 19;
}

static uint32_t lut16(uint32_t x)
{
    uint32_t exponent = x >> 10 & 31;
    return (x >> 15 & 1) << 31 | (exponent == 31 ? 0 : 112 + exponent) << 23 | (x & 0x3FF) << 13;
}

/* Which of the three ranges [0, 1), [1, 2), [2, …) a magnitude lies in (NaN counts as the last). */
static unsigned range3(uint32_t magnitude) { return magnitude < 0x3F800000 ? 0 : magnitude < 0x40000000 ? 1 : 2; }

/* a * |LReg 3| + c, optionally with LReg 3's sign. */
static void lut(wg_tile *t, const wg_vector_op *op, const uint32_t *a, const uint32_t *c, bool keep_sign, bool indirect)
{
    const uint32_t *x = t->regs.lreg.l[3];
    uint32_t magnitude[WG_LANES], out[WG_LANES];
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        magnitude[lane] = x[lane] & ~SIGN;
    fma_lanes(t, out, a, magnitude, c, 0, 0);
    if (keep_sign)
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            out[lane] = (out[lane] & ~SIGN) | (x[lane] & SIGN);
    put(t, op, out, indirect);
}

void wg_sfplut(wg_tile *t, const wg_vector_op *op)
{
    const wg_lreg *r = &t->regs.lreg;
    uint32_t a[WG_LANES], c[WG_LANES];
    for (unsigned lane = 0; lane < WG_LANES; lane++) {
        uint32_t coefficients = r->l[range3(r->l[3][lane] & ~SIGN)][lane];
        a[lane] = lut8(coefficients >> 8);
        c[lane] = lut8(coefficients);
    }
    lut(t, op, a, c, op->mod & 4, op->mod & 8);
}

/* Mod1 & 2 chooses 16-bit tables: with 8 as well three entries in one register, else six in two. */
void wg_sfplutfp32(wg_tile *t, const wg_vector_op *op)
{
    const wg_lreg *r = &t->regs.lreg;
    uint32_t a[WG_LANES], c[WG_LANES];
    uint32_t cut = (op->mod & 3) == 3 ? 0x40800000 : 0x40400000; /* 4.0 or 3.0 */
    for (unsigned lane = 0; lane < WG_LANES; lane++) {
        uint32_t b = r->l[3][lane] & ~SIGN;
        unsigned i = range3(b);
        if (!(op->mod & 2)) {
            a[lane] = r->l[i][lane];
            c[lane] = r->l[4 + i][lane];
        } else if ((op->mod & 10) == 10) {
            a[lane] = lut16(r->l[i][lane] >> 16);
            c[lane] = lut16(r->l[i][lane]);
        } else {
            static const uint32_t half[3] = {0x3F000000, 0x3FC00000, 0}; /* 0.5, 1.5 */
            unsigned shift = b >= (i == 2 ? cut : half[i]) ? 16 : 0;
            a[lane] = lut16(r->l[i][lane] >> shift);
            c[lane] = lut16(r->l[4 + i][lane] >> shift);
        }
    }
    lut(t, op, a, c, op->mod & 4, op->mod & 8);
}

/* The floating-point datapath's sum of an integer product p and addend z. */
static uint32_t mul24_add(uint32_t p, uint32_t z)
{
    unsigned exponent = z >> 23 & 0xFF;
    if (!exponent)
        return p;
    unsigned top = exponent > 129 ? exponent : 129, down = (top - exponent) & 31;
    uint32_t full = ((z & 0x7FFFFF) | 0x800000) << 3, kept = full >> down;
    p >>= (top - 129) & 31;
    if (kept)
        p = (p + kept + ((uint32_t)(((kept << down) ^ full) > 0xFFFF) << 16)) & 0x7FFFFF;
    return p;
}

void wg_sfpmul24(wg_tile *t, const wg_vector_op *op)
{
    const wg_lreg *r = &t->regs.lreg;
    uint32_t out[WG_LANES];
    for (unsigned lane = 0; lane < WG_LANES; lane++) {
        unsigned va = op->mod & INDIRECT_VA ? r->l[7][lane] & 15 : op->va;
        uint32_t a = r->l[va][lane], b = r->l[op->vb][lane];
        uint64_t product = (uint64_t)(a & 0x7FFFFF) * (b & 0x7FFFFF);
        uint32_t part = (uint32_t)(op->mod & 1 ? product >> 23 : product) & 0x7FFFFF;
        out[lane] = mul24_add(part, r->l[op->vc][lane]);
    }
    put(t, op, out, op->mod & INDIRECT_VD);
}
