/* SPDX-License-Identifier: Apache-2.0 */
/*
 * F and Zfh of Blackhole's baby cores, on bit patterns, in integers alone.
 *
 * Rounding is always to nearest even. fadd, fsub, fmul and the multiply-add family treat denormals as zero, coming and
 * going; the latter are the partially fused operation of num/fma.h. With cfg0.EnBFloat the 16-bit format is BF16, whose
 * results are cut off, or rounded to nearest even with cfg0.EnBFloatRTNE. 16-bit values live boxed in ones.
 *
 * Facts: BabyRISCV/InstructionSet.md, CSRs.md (cfg0), Miscellaneous/FMA; the F and Zfh specifications for the rest.
 * Decided here: no exception flags accrue in fcsr; 16-bit arithmetic is the FP32 unit's, rounded once more (which is the correct
 * rounding for sums and products of FP16); conversions and comparisons keep denormals.
 */
#include "num/fma.h"
#include "riscv/internal.h"

#define SIGN 0x80000000u
#define ONE 0x3F800000u
#define NAN32 0x7FC00000u
#define INF32 0x7F800000u
#define BOX 0xFFFF0000u

/* The 16-bit format in use. */
typedef struct half {
    uint8_t exponent_bits, fraction_bits;
    bool cut; /* results are cut off instead of rounded */
} half;

static half half_of(const wg_core *k)
{
    if (k->csr.cfg0 & WG_CFG0_EN_BFLOAT)
        return (half){8, 7, !(k->csr.cfg0 & WG_CFG0_EN_BFLOAT_RTNE)};
    return (half){5, 10, false};
}

static uint32_t half_nan(half f) { return ((1u << (f.exponent_bits + 1)) - 1) << (f.fraction_bits - 1); }
static bool is_nan(uint32_t v) { return (v & ~SIGN) > INF32; }

/* A value that is not properly boxed counts as the canonical NaN. */
static uint32_t unbox(half f, uint32_t v) { return (v & BOX) == BOX ? v & 0xFFFF : half_nan(f); }

/* Exact: every 16-bit value is an FP32 value. */
static uint32_t widen(half f, uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, fraction = h & ((1u << f.fraction_bits) - 1);
    uint32_t e = h >> f.fraction_bits & ((1u << f.exponent_bits) - 1), top = (1u << f.exponent_bits) - 1;
    if (e == top)
        return fraction ? NAN32 : sign | INF32;
    if (f.exponent_bits == 8)
        return h << 16;
    if (e == 0) {
        if (!fraction)
            return sign;
        uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21; /* until bit 10 is set */
        return sign | (113 - shift) << 23 | (fraction << shift & 0x3FF) << 13;
    }
    return sign | (e + 112) << 23 | fraction << 13;
}

/* Drops `by` bits of a magnitude. */
static uint32_t drop(uint32_t v, unsigned by, bool cut)
{
    if (by > 31)
        return 0;
    uint32_t kept = v >> by, rest = v & ((1u << by) - 1), middle = 1u << (by - 1);
    return kept + (!cut && (rest > middle || (rest == middle && kept & 1)));
}

static uint32_t narrow(half f, uint32_t v, bool flush)
{
    uint32_t sign = v >> 16 & 0x8000, magnitude = v & ~SIGN, e = magnitude >> 23;
    uint32_t infinity = ((1u << f.exponent_bits) - 1) << f.fraction_bits;
    if (is_nan(v))
        return half_nan(f);
    if (magnitude == INF32)
        return sign | infinity;
    uint32_t h;
    if (f.exponent_bits == 8) {
        h = drop(magnitude, 16, f.cut);
    } else if (e > 112) {
        h = drop(magnitude - (112u << 23), 13, f.cut);
        if (h > infinity)
            h = infinity;
    } else {
        h = drop((magnitude & 0x7FFFFF) | (e ? 0x800000u : 0), 126 - e, f.cut);
    }
    if (flush && h < 1u << f.fraction_bits)
        h = 0;
    return sign | h;
}

/* The multiply-add family, and sums and products as cases of it. */
static uint32_t arithmetic(uint32_t word, uint32_t x, uint32_t y, uint32_t z)
{
    switch (word & 0x7F) {
    case 0x43: return wg_fma_bh(x, y, z);
    case 0x47: return wg_fma_bh(x, y, z ^ SIGN);
    case 0x4B: return wg_fma_bh(x ^ SIGN, y, z);
    case 0x4F: return wg_fma_bh(x ^ SIGN, y, z ^ SIGN);
    default: break;
    }
    switch (word >> 27) {
    case 0x00: return wg_fma_bh(x, ONE, y);
    case 0x01: return wg_fma_bh(x, ONE, y ^ SIGN);
    default: return wg_fma_bh(x, y, SIGN);
    }
}

static bool equal(uint32_t a, uint32_t b) { return a == b || !((a | b) & ~SIGN); }

static bool less(uint32_t a, uint32_t b)
{
    if (equal(a, b))
        return false;
    if ((a ^ b) & SIGN)
        return a & SIGN;
    return a & SIGN ? a > b : a < b;
}

/* -0 is below +0; a NaN gives way to the other operand. */
static uint32_t extreme(uint32_t a, uint32_t b, bool maximum)
{
    if (is_nan(a))
        return is_nan(b) ? NAN32 : b;
    if (is_nan(b))
        return a;
    if (equal(a, b))
        return maximum ? a & b : a | b;
    return less(a, b) != maximum ? a : b;
}

static uint32_t compare(uint32_t a, uint32_t b, uint32_t f3)
{
    if (is_nan(a) || is_nan(b))
        return 0;
    return f3 == 2 ? equal(a, b) : f3 == 1 ? less(a, b) : less(a, b) || equal(a, b);
}

static uint32_t to_integer(uint32_t v, bool is_unsigned)
{
    bool negative = v & SIGN;
    if (is_nan(v))
        return is_unsigned ? UINT32_MAX : INT32_MAX;
    uint32_t e = v >> 23 & 255, mantissa = (v & 0x7FFFFF) | (e ? 0x800000u : 0);
    uint64_t magnitude;
    if (e >= 159)
        magnitude = UINT64_C(1) << 32;
    else if (e >= 150)
        magnitude = (uint64_t)mantissa << (e - 150);
    else
        magnitude = drop(mantissa, 150 - e, false);
    if (is_unsigned)
        return negative ? 0 : magnitude > UINT32_MAX ? UINT32_MAX : (uint32_t)magnitude;
    if (negative)
        return magnitude >= SIGN ? SIGN : 0u - (uint32_t)magnitude;
    return magnitude >= SIGN ? (uint32_t)INT32_MAX : (uint32_t)magnitude;
}

static uint32_t from_integer(uint32_t v, bool is_unsigned)
{
    uint32_t sign = is_unsigned ? 0 : v & SIGN, magnitude = sign ? 0u - v : v;
    if (!magnitude)
        return 0;
    uint32_t zeros = (uint32_t)__builtin_clz(magnitude), top = magnitude << zeros;
    return sign | (((157 - zeros) << 23) + drop(top, 8, false));
}

static uint32_t class_of(uint32_t v, unsigned fraction_bits, unsigned exponent_bits)
{
    uint32_t fraction = v & ((1u << fraction_bits) - 1), e = v >> fraction_bits & ((1u << exponent_bits) - 1);
    bool negative = v >> (fraction_bits + exponent_bits) & 1;
    if (e == (1u << exponent_bits) - 1)
        return fraction ? (fraction >> (fraction_bits - 1) ? 1u << 9 : 1u << 8) : negative ? 1u << 0 : 1u << 7;
    if (e == 0)
        return fraction ? (negative ? 1u << 2 : 1u << 5) : negative ? 1u << 3 : 1u << 4;
    return negative ? 1u << 1 : 1u << 6;
}

/* fsgnj, fsgnjn, fsgnjx on values whose sign is the bit `sign`. */
static uint32_t inject_sign(uint32_t a, uint32_t b, uint32_t f3, uint32_t sign)
{
    uint32_t s = f3 == 0 ? b : f3 == 1 ? ~b : a ^ b;
    return (a & ~sign) | (s & sign);
}

static uint32_t execute16(half f, uint32_t word, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t f3 = word >> 12 & 7, f5 = word >> 27;
    uint32_t x = unbox(f, a), y = unbox(f, b), z = unbox(f, c);
    if ((word & 0x7F) != 0x53 || f5 <= 0x02)
        return BOX | narrow(f, arithmetic(word, widen(f, x), widen(f, y), widen(f, z)), true);
    switch (f5) {
    case 0x04: return BOX | inject_sign(x, y, f3, 0x8000);
    case 0x05: return BOX | narrow(f, extreme(widen(f, x), widen(f, y), f3), false);
    case 0x08: return BOX | narrow(f, a, false); /* fcvt.h.s */
    case 0x14: return compare(widen(f, x), widen(f, y), f3);
    case 0x18: return to_integer(widen(f, x), word >> 20 & 1);
    case 0x1A: return BOX | narrow(f, from_integer(a, word >> 20 & 1), false);
    case 0x1E: return BOX | (a & 0xFFFF); /* fmv.h.x */
    default:
        if (f3 == 0)
            return (uint32_t)(int32_t)(int16_t)a; /* fmv.x.h: the bits, boxed or not */
        return class_of(x, f.fraction_bits, f.exponent_bits);
    }
}

uint32_t wg_fp_compute(const wg_core *k, uint32_t word, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t f3 = word >> 12 & 7, f5 = word >> 27;
    if ((word >> 25 & 3) == 2)
        return execute16(half_of(k), word, a, b, c);
    if ((word & 0x7F) != 0x53 || f5 <= 0x02)
        return arithmetic(word, a, b, c);
    switch (f5) {
    case 0x04: return inject_sign(a, b, f3, SIGN);
    case 0x05: return extreme(a, b, f3);
    case 0x08: return widen(half_of(k), unbox(half_of(k), a)); /* fcvt.s.h */
    case 0x14: return compare(a, b, f3);
    case 0x18: return to_integer(a, word >> 20 & 1);
    case 0x1A: return from_integer(a, word >> 20 & 1);
    default: return class_of(a, 23, 8);
    }
}

uint32_t wg_fp_execute(wg_core *k, const wg_op *op)
{
    const uint32_t *r = k->run.r;
    return wg_fp_compute(k, op->word, r[op->rs1], r[op->rs2], r[op->rs3]);
}
