/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating point of T2's vector instructions: the scalar operation (fp.c) on each 32-bit or 16-bit element. There is no
 * division, square root or reciprocal estimate.
 *
 * Facts: BabyRISCV/InstructionSet.md ("the same caveats as their scalar equivalents"); the V specification 1.0.
 * Decided here: reductions, even unordered ones, go from element 0 upwards; the widening forms take 16-bit elements.
 */
#include "riscv/internal.h"

enum {
    FADD = 0x00,
    FSUB = 0x01,
    FMUL = 0x02,
    FSGNJ = 0x04,
    FMINMAX = 0x05,
    FCVT_FF = 0x08,
    FCOMPARE = 0x14,
    FCVT_WF = 0x18,
    FCVT_FW = 0x1A,
    FCLASS = 0x1C
};

/* The scalar instruction's word for elements of `bytes`. */
static uint32_t scalar(unsigned f5, unsigned bytes, unsigned f3, unsigned rs2)
{
    return (uint32_t)f5 << 27 | (bytes == 2 ? 2u << 25 : 0) | rs2 << 20 | f3 << 12 | 0x53;
}

static uint32_t boxed(uint32_t value, unsigned bytes) { return bytes == 2 ? value | 0xFFFF0000 : value; }
static uint32_t element(const wg_rvv *v, unsigned reg, uint32_t i, unsigned bytes)
{
    return boxed(wg_rvv_get(v, reg, i, bytes), bytes);
}
static uint32_t compute(const wg_rvv *v, unsigned f5, unsigned bytes, unsigned f3, uint32_t a, uint32_t b)
{
    return wg_fp_compute(v->k, scalar(f5, bytes, f3, 0), a, b, 0);
}
static uint32_t to_wide(const wg_rvv *v, uint32_t half)
{
    return wg_fp_compute(v->k, scalar(FCVT_FF, 4, 0, 2), half, 0, 0);
}

/* fmadd 0x43, fmsub 0x47, fnmsub 0x4B, fnmadd 0x4F: a * b, c. */
static uint32_t fused(const wg_rvv *v, unsigned opcode, unsigned bytes, uint32_t a, uint32_t b, uint32_t c)
{
    return wg_fp_compute(v->k, opcode | (bytes == 2 ? 2u << 25 : 0), a, b, c);
}

/* b is vs2's element, a is vs1's or the scalar, d is the destination's. */
static bool arithmetic(const wg_rvv *v, unsigned f6, unsigned bytes, uint32_t d, uint32_t b, uint32_t a, bool vf,
                       uint32_t *out)
{
    switch (f6) {
    case 0x00: *out = compute(v, FADD, bytes, 0, b, a); return true;
    case 0x02: *out = compute(v, FSUB, bytes, 0, b, a); return true;
    case 0x04: *out = compute(v, FMINMAX, bytes, 0, b, a); return true;
    case 0x06: *out = compute(v, FMINMAX, bytes, 1, b, a); return true;
    case 0x08:
    case 0x09:
    case 0x0A: *out = compute(v, FSGNJ, bytes, f6 - 8, b, a); return true;
    case 0x24: *out = compute(v, FMUL, bytes, 0, b, a); return true;
    case 0x27: *out = compute(v, FSUB, bytes, 0, a, b); return vf;
    case 0x28: *out = fused(v, 0x43, bytes, a, d, b); return true; /* vfmadd: vs1 * vd + vs2 */
    case 0x29: *out = fused(v, 0x4F, bytes, a, d, b); return true;
    case 0x2A: *out = fused(v, 0x47, bytes, a, d, b); return true;
    case 0x2B: *out = fused(v, 0x4B, bytes, a, d, b); return true;
    case 0x2C: *out = fused(v, 0x43, bytes, a, b, d); return true; /* vfmacc: vs1 * vs2 + vd */
    case 0x2D: *out = fused(v, 0x4F, bytes, a, b, d); return true;
    case 0x2E: *out = fused(v, 0x47, bytes, a, b, d); return true;
    case 0x2F: *out = fused(v, 0x4B, bytes, a, b, d); return true;
    default: return false;
    }
}

static bool widening(const wg_rvv *v, unsigned f6, uint32_t d, uint32_t b, uint32_t a, uint32_t *out)
{
    switch (f6) {
    case 0x30:
    case 0x34: *out = compute(v, FADD, 4, 0, b, a); return true;
    case 0x32:
    case 0x36: *out = compute(v, FSUB, 4, 0, b, a); return true;
    case 0x38: *out = compute(v, FMUL, 4, 0, b, a); return true;
    case 0x3C: *out = fused(v, 0x43, 4, a, b, d); return true;
    case 0x3D: *out = fused(v, 0x4F, 4, a, b, d); return true;
    case 0x3E: *out = fused(v, 0x47, 4, a, b, d); return true;
    case 0x3F: *out = fused(v, 0x4B, 4, a, b, d); return true;
    default: return false;
    }
}

/* vmfeq, vmfle, vmflt, vmfne, vmfgt, vmfge */
static bool comparison(const wg_rvv *v, unsigned f6, uint32_t b, uint32_t a, bool vf, bool *out)
{
    switch (f6) {
    case 0x18: *out = compute(v, FCOMPARE, v->sew, 2, b, a); return true;
    case 0x19: *out = compute(v, FCOMPARE, v->sew, 0, b, a); return true;
    case 0x1B: *out = compute(v, FCOMPARE, v->sew, 1, b, a); return true;
    case 0x1C: *out = !compute(v, FCOMPARE, v->sew, 2, b, a); return true;
    case 0x1D: *out = compute(v, FCOMPARE, v->sew, 1, a, b); return vf;
    case 0x1F: *out = compute(v, FCOMPARE, v->sew, 0, a, b); return vf;
    default: return false;
    }
}

/* VFUNARY0: conversions between numbers of one width, and between 16 and 32 bits; VFUNARY1: class. */
static bool unary(const wg_rvv *v, unsigned f6, unsigned which, unsigned vd, unsigned vs2)
{
    unsigned bytes = v->sew, from = bytes, to = bytes;
    uint32_t word;
    if (f6 == 0x13) {
        if (which != 16)
            return false;
        word = scalar(FCLASS, bytes, 1, 0);
    } else if (which == 0 || which == 1 || which == 6 || which == 7) {
        if (which >= 6)
            return false; /* rounding towards zero does not exist: rounding is always to nearest */
        word = scalar(FCVT_WF, bytes, 0, which == 0);
    } else if (which == 2 || which == 3) {
        word = scalar(FCVT_FW, bytes, 0, which == 2);
    } else if (which == 12 && bytes == 2) {
        to = 4;
        word = scalar(FCVT_FF, 4, 0, 2);
    } else if (which == 20 && bytes == 2) {
        from = 4;
        word = scalar(FCVT_FF, 2, 0, 0);
    } else {
        return false;
    }
    uint32_t value[128];
    for (uint32_t i = 0; i < v->vl; i++) {
        uint32_t b = wg_rvv_get(v, vs2, i, from);
        if (word >> 27 == FCVT_FW && from == 2)
            b = which == 2 ? b : (uint32_t)(int16_t)b;
        else
            b = boxed(b, from);
        uint32_t r = wg_fp_compute(v->k, word, b, 0, 0);
        if (word >> 27 == FCVT_WF && bytes == 2) { /* to 16 bits, saturating */
            int32_t s = (int32_t)r;
            r = which == 0 ? (r > 0xFFFF ? 0xFFFF : r)
                           : (uint32_t)(s > INT16_MAX   ? INT16_MAX
                                        : s < INT16_MIN ? INT16_MIN
                                                        : s);
        }
        value[i] = r;
    }
    for (uint32_t i = 0; i < v->vl; i++)
        if (wg_rvv_active(v, i))
            wg_rvv_put(v, vd, i, to, value[i]);
    return true;
}

static bool reduce(const wg_rvv *v, unsigned f6, unsigned vd, unsigned vs1, unsigned vs2)
{
    unsigned f5 = f6 == 1 || f6 == 3 ? FADD : FMINMAX;
    if (!v->vl)
        return true;
    uint32_t sum = element(v, vs1, 0, v->sew);
    for (uint32_t i = 0; i < v->vl; i++)
        if (wg_rvv_active(v, i))
            sum = compute(v, f5, v->sew, f6 == 7, sum, element(v, vs2, i, v->sew));
    wg_rvv_put(v, vd, 0, v->sew, sum);
    return true;
}

bool wg_rvv_float(const wg_rvv *v, wg_rvv_step *out)
{
    uint32_t word = v->word;
    unsigned f6 = word >> 26, vd = word >> 7 & 31, vs1 = word >> 15 & 31, vs2 = word >> 20 & 31, bytes = v->sew;
    bool vf = (word >> 12 & 7) == 5, all = word >> 25 & 1, known = true;
    uint32_t f = v->k->run.r[WG_REG_F + vs1];
    if (bytes == 1 || (f6 >= 0x30 && bytes != 2))
        return false;
    if (bytes == 2 && (f >> 16) != 0xFFFF)
        f = 0x7E00;
    if (!vf && (f6 == 1 || f6 == 3 || f6 == 5 || f6 == 7)) {
        out->cycles = v->vl;
        return reduce(v, f6, vd, vs1, vs2);
    }
    if (!vf && (f6 == 0x12 || f6 == 0x13))
        return unary(v, f6, vs1, vd, vs2);
    if (f6 == 0x10) { /* vfmv.f.s, vfmv.s.f */
        if (!vf) {
            out->write_x = true;
            out->x = element(v, vs2, 0, bytes);
        } else if (v->vl) {
            wg_rvv_put(v, vd, 0, bytes, f);
        }
        return (vf ? vs2 : vs1) == 0;
    }
    bool wide = f6 >= 0x30, compare = f6 >= 0x18 && f6 <= 0x1F, bit[128];
    uint32_t value[128];
    for (uint32_t i = 0; (i < v->vl || !i) && known; i++) {
        uint32_t a = vf ? boxed(f, bytes) : element(v, vs1, i, bytes);
        uint32_t b = element(v, vs2, i, f6 >= 0x34 && f6 <= 0x37 ? 4 : bytes);
        if (vf && f6 == 0x17) { /* vfmerge, vfmv.v.f */
            value[i] = all || wg_rvv_bit(v, 0, i) ? f : b;
        } else if (vf && (f6 == 0x0E || f6 == 0x0F)) { /* vfslide1up, vfslide1down */
            bool in = f6 == 0x0E ? i > 0 : i + 1 < v->vl;
            value[i] = in ? wg_rvv_get(v, vs2, f6 == 0x0E ? i - 1 : i + 1, bytes) : f;
        } else if (compare) {
            known = comparison(v, f6, b, a, vf, &bit[i]);
        } else if (wide) {
            known = widening(v, f6, wg_rvv_get(v, vd, i, 4), f6 >= 0x34 && f6 <= 0x37 ? b : to_wide(v, b),
                             to_wide(v, a), &value[i]);
        } else {
            known = arithmetic(v, f6, bytes, element(v, vd, i, bytes), b, a, vf, &value[i]);
        }
    }
    for (uint32_t i = 0; i < v->vl && known; i++) {
        if (!wg_rvv_active(v, i) && !(vf && f6 == 0x17))
            continue;
        if (compare)
            wg_rvv_set_bit(v, vd, i, bit[i]);
        else
            wg_rvv_put(v, vd, i, wide ? 4 : bytes, value[i]);
    }
    return known;
}
