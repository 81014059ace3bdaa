/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector instructions of RISCV T2 (Blackhole): configuration, integers, fixed point, masks, permutations. Floating
 * point is in vector_float.c, loads and stores in vector_memory.c.
 *
 * 32 registers of 16 bytes, elements of 8, 16 or 32 bits, always undisturbed. There is no integer division.
 *
 * Facts: BabyRISCV/InstructionSet.md, README.md; the V specification 1.0 for the results of instructions.
 * Decided here: a vector instruction occupies EX1 for one cycle per register of its destination group, a reduction or a
 * permutation for one cycle per element; vl is the lesser of AVL and VLMAX; a group beyond v31 wraps; an element width that
 * does not exist is an unsupported encoding.
 */
#include "riscv/internal.h"

enum { VLEN_BYTES = 16, REGISTERS = 32 };

typedef enum form { FORM_VV, FORM_VX, FORM_VI } form;

/* The fields of an element-wise instruction. */
typedef struct work {
    const wg_rvv *v;
    unsigned vd, vs1, vs2, bytes;
    form form;
    uint32_t scalar; /* x[rs1], or the immediate */
} work;

static uint32_t cut(uint32_t value, unsigned bytes) { return bytes == 4 ? value : value & ((1u << 8 * bytes) - 1); }
static int32_t extend(uint32_t value, unsigned bytes)
{
    return (int32_t)(value << (32 - 8 * bytes)) >> (32 - 8 * bytes);
}
static uint32_t first(const work *w, uint32_t i)
{
    return w->form == FORM_VV ? wg_rvv_get(w->v, w->vs1, i, w->bytes) : cut(w->scalar, w->bytes);
}

/* Rounding of vxrm for a value whose low `shift` bits are dropped. */
static uint64_t rounded(const wg_core *k, int64_t value, unsigned shift, bool is_signed)
{
    if (!shift)
        return (uint64_t)value;
    uint64_t bits = (uint64_t)value, low = bits & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    uint64_t kept = is_signed ? (uint64_t)(value >> shift) : bits >> shift;
    switch (k->csr.vxrm & 3) {
    case 0: return kept + (low >= half);
    case 1: return kept + (low > half || (low == half && (kept & 1)));
    case 2: return kept;
    default: return kept | (low != 0);
    }
}

static uint32_t saturate(wg_core *k, int64_t value, unsigned bytes, bool is_signed)
{
    int64_t most = is_signed ? (INT64_C(1) << (8 * bytes - 1)) - 1 : (INT64_C(1) << 8 * bytes) - 1;
    int64_t least = is_signed ? -most - 1 : 0;
    if (value > most || value < least)
        k->csr.vxsat = 1;
    return (uint32_t)(value > most ? most : value < least ? least : value);
}

/* ---- configuration ----------------------------------------------------------------------------------------- */

static bool geometry(wg_rvv *v, uint32_t vtype)
{
    unsigned sew = vtype >> 3 & 7, lmul = vtype & 7;
    if (sew > 2 || lmul == 4)
        return false;
    v->sew = 1u << sew;
    v->registers = lmul < 4 ? 1u << lmul : 1;
    v->vlmax = lmul < 4 ? (VLEN_BYTES / v->sew) << lmul : (VLEN_BYTES / v->sew) >> (8 - lmul);
    return v->vlmax > 0;
}

static bool configure(wg_core *k, const wg_op *op, wg_rvv_step *out)
{
    uint32_t w = op->word, rd = w >> 7 & 31, rs1 = w >> 15 & 31, vtype, avl;
    wg_rvv v = {.k = k};
    if (w >> 31 == 0)
        vtype = w >> 20 & 0x7FF;
    else if (w >> 30 == 3)
        vtype = w >> 20 & 0x3FF;
    else if (w >> 25 == 0x40)
        vtype = k->run.r[op->rs2];
    else
        return false;
    if (!geometry(&v, vtype & 0xFF))
        return false;
    if (w >> 30 == 3)
        avl = rs1;
    else if (rs1)
        avl = k->run.r[op->rs1];
    else
        avl = rd ? UINT32_MAX : k->csr.vl;
    k->csr.vtype = vtype & 0xFF;
    k->csr.vl = avl < v.vlmax ? avl : v.vlmax;
    out->write_x = rd != 0;
    out->x = k->csr.vl;
    return true;
}

/* ---- integers, element by element ---------------------------------------------------------------------------- */

/* OPIVV, OPIVX, OPIVI: b (vs2) and a (vs1, scalar). False if there is no such instruction. */
static bool integer(const work *w, unsigned f6, uint32_t b, uint32_t a, uint32_t *out)
{
    wg_core *k = w->v->k;
    unsigned bytes = w->bytes, bits = 8 * bytes;
    int32_t sb = extend(b, bytes), sa = extend(a, bytes);
    bool subtracts = w->form != FORM_VI;
    switch (f6) {
    case 0x00: *out = b + a; return true;
    case 0x02: *out = b - a; return subtracts;
    case 0x03: *out = a - b; return w->form != FORM_VV;
    case 0x04: *out = b < a ? b : a; return subtracts;
    case 0x05: *out = sb < sa ? b : a; return subtracts;
    case 0x06: *out = b > a ? b : a; return subtracts;
    case 0x07: *out = sb > sa ? b : a; return subtracts;
    case 0x09: *out = b & a; return true;
    case 0x0A: *out = b | a; return true;
    case 0x0B: *out = b ^ a; return true;
    case 0x20: *out = saturate(k, (int64_t)b + a, bytes, false); return true;
    case 0x21: *out = saturate(k, (int64_t)sb + sa, bytes, true); return true;
    case 0x22: *out = saturate(k, (int64_t)b - a, bytes, false); return subtracts;
    case 0x23: *out = saturate(k, (int64_t)sb - sa, bytes, true); return subtracts;
    case 0x25: *out = b << (a & (bits - 1)); return true;
    case 0x27:
        if (w->form == FORM_VI)
            return false;
        *out = saturate(k, (int64_t)rounded(k, (int64_t)sb * sa, bits - 1, true), bytes, true);
        return true;
    case 0x28: *out = b >> (a & (bits - 1)); return true;
    case 0x29: *out = (uint32_t)(sb >> (a & (bits - 1))); return true;
    case 0x2A: *out = (uint32_t)rounded(k, b, a & (bits - 1), false); return true;
    case 0x2B: *out = (uint32_t)rounded(k, sb, a & (bits - 1), true); return true;
    default: return false;
    }
}

/* Comparisons into a mask. */
static bool comparison(unsigned f6, uint32_t b, uint32_t a, unsigned bytes, form how, bool *out)
{
    int32_t sb = extend(b, bytes), sa = extend(a, bytes);
    switch (f6) {
    case 0x18: *out = b == a; return true;
    case 0x19: *out = b != a; return true;
    case 0x1A: *out = b < a; return how != FORM_VI;
    case 0x1B: *out = sb < sa; return how != FORM_VI;
    case 0x1C: *out = b <= a; return true;
    case 0x1D: *out = sb <= sa; return true;
    case 0x1E: *out = b > a; return how != FORM_VV;
    default: *out = sb > sa; return how != FORM_VV;
    }
}

/* OPMVV, OPMVX: multiplications and averages; d is the destination's old value. */
static bool multiply(const work *w, unsigned f6, uint32_t d, uint32_t b, uint32_t a, uint32_t *out)
{
    const wg_core *k = w->v->k;
    unsigned bits = 8 * w->bytes;
    int64_t sb = extend(b, w->bytes), sa = extend(a, w->bytes), ub = b, ua = a;
    switch (f6) {
    case 0x08: *out = (uint32_t)rounded(k, ub + ua, 1, false); return true;
    case 0x09: *out = (uint32_t)rounded(k, sb + sa, 1, true); return true;
    case 0x0A: *out = (uint32_t)rounded(k, ub - ua, 1, true); return true;
    case 0x0B: *out = (uint32_t)rounded(k, sb - sa, 1, true); return true;
    case 0x24: *out = (uint32_t)((uint64_t)b * a >> bits); return true;
    case 0x25: *out = b * a; return true;
    case 0x26: *out = (uint32_t)((sb * ua) >> bits); return true;
    case 0x27: *out = (uint32_t)((sb * sa) >> bits); return true;
    case 0x29: *out = a * d + b; return true;
    case 0x2B: *out = b - a * d; return true;
    case 0x2D: *out = a * b + d; return true;
    case 0x2F: *out = d - a * b; return true;
    default: return false;
    }
}

/* OPMVV, OPMVX from 0x30 on: the destination is twice as wide (and, from 0x34 to 0x37, so is vs2). */
static bool widening(const work *w, unsigned f6, uint32_t i, uint32_t d, uint32_t *out)
{
    unsigned bytes = w->bytes;
    uint32_t b = wg_rvv_get(w->v, w->vs2, i, f6 >= 0x34 && f6 <= 0x37 ? 2 * bytes : bytes), a = first(w, i);
    uint32_t sb = (uint32_t)extend(b, bytes), sa = (uint32_t)extend(a, bytes);
    switch (f6) {
    case 0x30: *out = b + a; return true;
    case 0x31: *out = sb + sa; return true;
    case 0x32: *out = b - a; return true;
    case 0x33: *out = sb - sa; return true;
    case 0x34: *out = b + a; return true;
    case 0x35: *out = b + sa; return true;
    case 0x36: *out = b - a; return true;
    case 0x37: *out = b - sa; return true;
    case 0x38: *out = b * a; return true;
    case 0x3A: *out = sb * a; return true;
    case 0x3B: *out = sb * sa; return true;
    case 0x3C: *out = a * b + d; return true;
    case 0x3D: *out = sa * sb + d; return true;
    case 0x3E: *out = a * sb + d; return w->form == FORM_VX; /* vwmaccus: the scalar is unsigned */
    case 0x3F: *out = sa * b + d; return true;
    default: return false;
    }
}

/* vnsrl, vnsra, vnclipu, vnclip: vs2 is twice as wide. */
static bool narrowing(const work *w, unsigned f6, uint32_t i, uint32_t *out)
{
    wg_core *k = w->v->k;
    unsigned wide = 2 * w->bytes, shift = first(w, i) & (8 * wide - 1);
    uint32_t b = wg_rvv_get(w->v, w->vs2, i, wide);
    int32_t sb = extend(b, wide);
    switch (f6) {
    case 0x2C: *out = b >> shift; return true;
    case 0x2D: *out = (uint32_t)(sb >> shift); return true;
    case 0x2E: *out = saturate(k, (int64_t)rounded(k, b, shift, false), w->bytes, false); return true;
    default: *out = saturate(k, (int64_t)rounded(k, sb, shift, true), w->bytes, true); return true;
    }
}

/* vadc, vmadc, vsbc, vmsbc: v0 is the carry (vm clear), not a mask. */
static bool carry(const work *w, unsigned f6)
{
    const wg_rvv *v = w->v;
    bool with = !(v->word >> 25 & 1), minus = f6 >= 0x12, to_mask = f6 & 1;
    if ((!to_mask && !with) || (minus && w->form == FORM_VI))
        return false;
    bool bit[128];
    for (uint32_t i = 0; i < v->vl; i++) {
        uint64_t b = wg_rvv_get(v, w->vs2, i, w->bytes), a = first(w, i), in = with && wg_rvv_bit(v, 0, i);
        uint64_t sum = minus ? b - a - in : b + a + in;
        bit[i] = sum >> 8 * w->bytes & 1;
        if (!to_mask)
            wg_rvv_put(v, w->vd, i, w->bytes, (uint32_t)sum);
    }
    for (uint32_t i = 0; to_mask && i < v->vl; i++)
        wg_rvv_set_bit(v, w->vd, i, bit[i]);
    return true;
}

/* ---- reductions ------------------------------------------------------------------------------------------------- */

static bool reduce(const work *w, unsigned f6, bool wide)
{
    const wg_rvv *v = w->v;
    unsigned bytes = wide ? 2 * w->bytes : w->bytes;
    if (!v->vl)
        return true;
    if (bytes > 4)
        return false;
    uint32_t sum = wg_rvv_get(v, w->vs1, 0, bytes);
    for (uint32_t i = 0; i < v->vl; i++) {
        if (!wg_rvv_active(v, i))
            continue;
        uint32_t b = wg_rvv_get(v, w->vs2, i, w->bytes);
        int32_t s = extend(b, w->bytes), sum_s = extend(sum, bytes);
        switch (f6) {
        case 0x00: sum += b; break;
        case 0x01: sum &= b; break;
        case 0x02: sum |= b; break;
        case 0x03: sum ^= b; break;
        case 0x04: sum = b < sum ? b : sum; break;
        case 0x05: sum = s < sum_s ? b : sum; break;
        case 0x06: sum = b > sum ? b : sum; break;
        case 0x07: sum = s > sum_s ? b : sum; break;
        case 0x30: sum += b; break;
        default: sum += (uint32_t)s; break; /* vwredsum */
        }
        sum = cut(sum, bytes);
    }
    wg_rvv_put(v, w->vd, 0, bytes, sum);
    return true;
}

/* ---- masks --------------------------------------------------------------------------------------------------------- */

static void mask_logic(const work *w, unsigned f6)
{
    const wg_rvv *v = w->v;
    for (uint32_t i = 0; i < v->vl; i++) {
        bool b = wg_rvv_bit(v, w->vs2, i), a = wg_rvv_bit(v, w->vs1, i), r;
        switch (f6) {
        case 0x18: r = b && !a; break;
        case 0x19: r = b && a; break;
        case 0x1A: r = b || a; break;
        case 0x1B: r = b != a; break;
        case 0x1C: r = b || !a; break;
        case 0x1D: r = !(b && a); break;
        case 0x1E: r = !(b || a); break;
        default: r = b == a; break;
        }
        wg_rvv_set_bit(v, w->vd, i, r);
    }
}

/* vmsbf, vmsof, vmsif, viota, vid */
static bool mask_unary(const work *w)
{
    const wg_rvv *v = w->v;
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->vl; i++) {
        if (!wg_rvv_active(v, i))
            continue;
        bool bit = wg_rvv_bit(v, w->vs2, i);
        switch (w->vs1) {
        case 1: wg_rvv_set_bit(v, w->vd, i, !bit && !count); break;
        case 2: wg_rvv_set_bit(v, w->vd, i, bit && !count); break;
        case 3: wg_rvv_set_bit(v, w->vd, i, !count); break;
        case 16: wg_rvv_put(v, w->vd, i, w->bytes, count); break;
        case 17: wg_rvv_put(v, w->vd, i, w->bytes, i); break;
        default: return false;
        }
        count += bit;
    }
    return true;
}

/* vmv.x.s, vcpop.m, vfirst.m */
static bool to_scalar(const work *w, wg_rvv_step *out)
{
    const wg_rvv *v = w->v;
    uint32_t count = 0, at = UINT32_MAX;
    out->write_x = true;
    for (uint32_t i = 0; i < v->vl; i++)
        if (wg_rvv_active(v, i) && wg_rvv_bit(v, w->vs2, i)) {
            count++;
            at = at == UINT32_MAX ? i : at;
        }
    switch (w->vs1) {
    case 0: out->x = (uint32_t)extend(wg_rvv_get(v, w->vs2, 0, w->bytes), w->bytes); return true;
    case 16: out->x = count; return true;
    case 17: out->x = at; return true;
    default: return false;
    }
}

/* ---- permutations ---------------------------------------------------------------------------------------------------- */

/* Slides, gathers and compress read a copy: hardware forbids the overlap that would matter. */
static bool permute(const work *w, unsigned f6, bool one, wg_rvv_step *out)
{
    const wg_rvv *v = w->v;
    uint32_t from[128], to = 0, offset = one ? 1 : w->scalar;
    for (uint32_t i = 0; i < v->vlmax && i < 128; i++)
        from[i] = wg_rvv_get(v, w->vs2, i, w->bytes);
    out->cycles = v->vl;
    for (uint32_t i = 0; i < v->vl; i++) {
        uint32_t index;
        if (f6 == 0x17) { /* vcompress: vs1 is the mask */
            if (wg_rvv_bit(v, w->vs1, i))
                wg_rvv_put(v, w->vd, to++, w->bytes, from[i]);
            continue;
        }
        if (!wg_rvv_active(v, i))
            continue;
        if (f6 == 0x0C) {
            index = w->form == FORM_VV ? wg_rvv_get(v, w->vs1, i, w->bytes) : w->scalar;
            wg_rvv_put(v, w->vd, i, w->bytes, index < v->vlmax ? from[index] : 0);
        } else if (f6 == 0x0E && w->form == FORM_VV) { /* vrgatherei16 */
            index = wg_rvv_get(v, w->vs1, i, 2);
            wg_rvv_put(v, w->vd, i, w->bytes, index < v->vlmax ? from[index] : 0);
        } else if (f6 == 0x0E) {
            if (one && i == 0)
                wg_rvv_put(v, w->vd, 0, w->bytes, w->scalar);
            else if (i >= offset)
                wg_rvv_put(v, w->vd, i, w->bytes, from[i - offset]);
        } else if (one && i + 1 == v->vl) {
            wg_rvv_put(v, w->vd, i, w->bytes, w->scalar);
        } else {
            uint64_t at = (uint64_t)i + offset;
            wg_rvv_put(v, w->vd, i, w->bytes, at < v->vlmax ? from[at] : 0);
        }
    }
    return true;
}

/* vzext, vsext */
static bool extension(const work *w)
{
    const wg_rvv *v = w->v;
    unsigned factor = w->vs1 >= 6 ? 2 : w->vs1 >= 4 ? 4 : 8, bytes = w->bytes / factor;
    if (!bytes || w->vs1 < 4 || w->vs1 > 7)
        return false;
    uint32_t from[128];
    for (uint32_t i = 0; i < v->vl; i++)
        from[i] = wg_rvv_get(v, w->vs2, i, bytes);
    for (uint32_t i = 0; i < v->vl; i++)
        if (wg_rvv_active(v, i))
            wg_rvv_put(v, w->vd, i, w->bytes, w->vs1 & 1 ? (uint32_t)extend(from[i], bytes) : from[i]);
    return true;
}

/* vmerge, vmv.v: v0 chooses (vm clear), all are moved (vm set). */
static bool merge(const work *w)
{
    const wg_rvv *v = w->v;
    bool all = v->word >> 25 & 1;
    if (all && w->vs2)
        return false;
    for (uint32_t i = 0; i < v->vl; i++)
        wg_rvv_put(v, w->vd, i, w->bytes,
                   all || wg_rvv_bit(v, 0, i) ? first(w, i) : wg_rvv_get(v, w->vs2, i, w->bytes));
    return true;
}

/* vmv<n>r.v */
static bool whole_move(const work *w)
{
    unsigned registers = (w->vs1 & 7) + 1;
    if (registers & (registers - 1))
        return false;
    for (unsigned r = 0; r < registers; r++)
        for (unsigned i = 0; i < 4; i++)
            w->v->k->v[(w->vd + r) % REGISTERS][i] = w->v->k->v[(w->vs2 + r) % REGISTERS][i];
    return true;
}

/* ---- dispatch ----------------------------------------------------------------------------------------------------------- */

static bool each_integer(const work *w, unsigned f6)
{
    const wg_rvv *v = w->v;
    bool compare = f6 >= 0x18 && f6 <= 0x1F, narrow = f6 >= 0x2C && f6 <= 0x2F, known = true;
    if (narrow && w->bytes == 4)
        return false;
    bool bit[128];
    uint32_t vxsat = v->k->csr.vxsat;
    for (uint32_t n = 0; n <= v->vl && known; n++) {
        uint32_t value, i = n ? n - 1 : 0;
        if (n && !wg_rvv_active(v, i))
            continue;
        if (compare)
            known = comparison(f6, wg_rvv_get(v, w->vs2, i, w->bytes), first(w, i), w->bytes, w->form, &bit[i]);
        else if (narrow)
            known = narrowing(w, f6, i, &value);
        else
            known = integer(w, f6, wg_rvv_get(v, w->vs2, i, w->bytes), first(w, i), &value);
        if (!n) /* iteration 0 only checks that the instruction exists */
            v->k->csr.vxsat = vxsat;
        else if (known && !compare)
            wg_rvv_put(v, w->vd, i, w->bytes, value);
    }
    for (uint32_t i = 0; i < v->vl && compare && known; i++) /* the mask may overlap a source */
        if (wg_rvv_active(v, i))
            wg_rvv_set_bit(v, w->vd, i, bit[i]);
    return known;
}

static bool each_multiply(const work *w, unsigned f6)
{
    const wg_rvv *v = w->v;
    bool wide = f6 >= 0x30, known = true;
    unsigned bytes = wide ? 2 * w->bytes : w->bytes;
    if (bytes > 4)
        return false;
    uint32_t value[128]; /* a widened result may overlap its sources */
    for (uint32_t i = 0; (i < v->vl || !i) && known; i++) {
        uint32_t d = wg_rvv_get(v, w->vd, i, bytes);
        known = wide ? widening(w, f6, i, d, &value[i])
                     : multiply(w, f6, d, wg_rvv_get(v, w->vs2, i, bytes), first(w, i), &value[i]);
    }
    for (uint32_t i = 0; i < v->vl && known; i++)
        if (wg_rvv_active(v, i))
            wg_rvv_put(v, w->vd, i, bytes, value[i]);
    return known;
}

static bool opi(const work *w, unsigned f6, wg_rvv_step *out)
{
    if (f6 == 0x0C || f6 == 0x0E || (f6 == 0x0F && w->form != FORM_VV))
        return permute(w, f6, false, out);
    if (f6 >= 0x10 && f6 <= 0x13)
        return carry(w, f6);
    if (f6 == 0x17)
        return merge(w);
    if (f6 == 0x27 && w->form == FORM_VI)
        return whole_move(w);
    if ((f6 == 0x30 || f6 == 0x31) && w->form == FORM_VV) {
        out->cycles = w->v->vl;
        return reduce(w, f6, true);
    }
    return each_integer(w, f6);
}

static bool opm(const work *w, unsigned f6, wg_rvv_step *out)
{
    bool vv = w->form == FORM_VV;
    if (vv && f6 < 0x08) {
        out->cycles = w->v->vl;
        return reduce(w, f6, false);
    }
    if (!vv && (f6 == 0x0E || f6 == 0x0F))
        return permute(w, f6, true, out);
    if (f6 == 0x10 && vv)
        return to_scalar(w, out);
    if (f6 == 0x10) { /* vmv.s.x */
        if (w->v->vl)
            wg_rvv_put(w->v, w->vd, 0, w->bytes, w->scalar);
        return w->vs2 == 0;
    }
    if (vv && f6 == 0x12)
        return extension(w);
    if (vv && f6 == 0x14)
        return mask_unary(w);
    if (vv && f6 == 0x17)
        return permute(w, f6, false, out);
    if (vv && f6 >= 0x18 && f6 <= 0x1F) {
        mask_logic(w, f6);
        return true;
    }
    return each_multiply(w, f6);
}

bool wg_rvv_execute(wg_tile *t, unsigned core, const wg_op *op, wg_rvv_step *out)
{
    wg_core *k = &t->core[core];
    uint32_t word = op->word;
    unsigned f3 = word >> 12 & 7, f6 = word >> 26;
    bool memory = wg_rvv_is_memory(op);
    if (!memory && f3 == 7)
        return configure(k, op, out);
    wg_rvv v = {.k = k, .word = word};
    if (!geometry(&v, k->csr.vtype))
        return false;
    v.vl = k->csr.vl < v.vlmax ? k->csr.vl : v.vlmax;
    out->cycles = v.registers;
    if (memory)
        return wg_rvv_memory(t, core, &v, out);
    if (f3 == 1 || f3 == 5)
        return wg_rvv_float(&v, out);
    work w = {.v = &v,
              .vd = word >> 7 & 31,
              .vs1 = word >> 15 & 31,
              .vs2 = word >> 20 & 31,
              .bytes = v.sew,
              .form = f3 == 3              ? FORM_VI
                      : f3 == 4 || f3 == 6 ? FORM_VX
                                           : FORM_VV};
    w.scalar = k->run.r[op->rs1];
    if (w.form == FORM_VI) /* shifts, slides and gathers take it unsigned */
        w.scalar = f6 == 0x0C || f6 == 0x0E || f6 == 0x0F || f6 == 0x25 || (f6 >= 0x28 && f6 <= 0x2F)
                       ? w.vs1
                       : (uint32_t)((int32_t)(w.vs1 << 27) >> 27);
    return f3 == 2 || f3 == 6 ? opm(&w, f6, out) : opi(&w, f6, out);
}
