/* SPDX-License-Identifier: Apache-2.0 */
/*
 * F and Zfh of Blackhole's baby cores, on bit patterns, with integer arithmetic only.
 *
 * Rounding is always to nearest even. fadd, fsub, fmul and the multiply-add family treat denormal operands and results as
 * zero; the multiply-add family is the partially fused operation of num/fma.h. With cfg0.EnBFloat the 16-bit format is BF16,
 * whose results are truncated, or rounded to nearest even with cfg0.EnBFloatRTNE. 16-bit values are NaN-boxed.
 *
 * Exceptions accrue in the low five bits of fcsr ("contains all the relevant bits"), as specified for the operation and the
 * result it has here. A result flushed to zero has underflowed.
 *
 * Facts: BabyRISCV/InstructionSet.md, CSRs.md (fcsr, cfg0), Miscellaneous/FMA; the F and Zfh specifications for the rest.
 * Decided here: 16-bit arithmetic uses the FP32 unit and rounds once more (which is the correct rounding for sums and
 * products of FP16); conversions and comparisons keep denormals.
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
    bool cut; /* results are truncated instead of rounded */
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
        uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21; /* sets bit 10 */
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

/* -0 is below +0; the result of a NaN and a number is the number. */
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

static uint32_t compute(const wg_core *k, uint32_t word, uint32_t a, uint32_t b, uint32_t c)
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

/* ---- exceptions -------------------------------------------------------------------------------------------- */

enum { NX = 1, UF = 2, OF = 4, NV = 16 };
__extension__ typedef unsigned __int128 wide;

/* A finite value: magnitude * 2^exponent. */
typedef struct exact {
    wide magnitude;
    int exponent;
    bool negative;
} exact;

static exact exact_of(uint32_t v)
{
    int e = (int)(v >> 23 & 255);
    return (exact){(v & 0x7FFFFF) | (e ? 0x800000u : 0), (e ? e : 1) - 150, v & SIGN};
}

static exact normal(exact x)
{
    while (x.magnitude && !(x.magnitude & 1)) {
        x.magnitude >>= 1;
        x.exponent++;
    }
    return x;
}

/* What rounding x to `result` raises; `least` is the format's smallest normal number. */
static uint32_t rounded(exact x, uint32_t result, uint32_t least)
{
    uint32_t magnitude = result & ~SIGN;
    if (!x.magnitude || is_nan(result))
        return 0;
    if (magnitude == INF32)
        return OF | NX;
    exact was = normal(x), is = normal(exact_of(result));
    if (was.magnitude == is.magnitude && was.exponent == is.exponent)
        return 0;
    return magnitude < least ? UF | NX : NX;
}

static uint32_t without_denormals(uint32_t v) { return v & INF32 ? v : v & SIGN; }

/* x * y + z: invalid, or what rounding raises. */
static uint32_t arithmetic_flags(uint32_t x, uint32_t y, uint32_t z, uint32_t result, uint32_t least)
{
    enum { FAR = 72 }; /* bits apart: the smaller operand cannot contribute to the result */
    x = without_denormals(x);
    y = without_denormals(y);
    z = without_denormals(z);
    bool x_inf = (x & ~SIGN) == INF32, y_inf = (y & ~SIGN) == INF32, z_inf = (z & ~SIGN) == INF32;
    if ((x_inf && !(y & ~SIGN)) || (y_inf && !(x & ~SIGN)))
        return NV;
    if (is_nan(x) || is_nan(y) || is_nan(z))
        return 0;
    if (x_inf || y_inf)
        return z_inf && (x ^ y ^ z) & SIGN ? NV : 0;
    if (z_inf)
        return 0;
    exact a = exact_of(x), b = exact_of(y), c = exact_of(z);
    exact p = {a.magnitude * b.magnitude, a.exponent + b.exponent, a.negative != b.negative};
    if (!p.magnitude)
        return rounded(c, result, least);
    if (!c.magnitude)
        return rounded(p, result, least);
    int apart = p.exponent - c.exponent;
    if (apart > FAR || apart < -FAR)
        return (result & ~SIGN) == INF32 ? OF | NX : NX;
    if (apart > 0)
        p.magnitude <<= apart;
    else
        c.magnitude <<= -apart;
    exact sum = {.exponent = apart > 0 ? c.exponent : p.exponent};
    if (p.negative == c.negative)
        sum.magnitude = p.magnitude + c.magnitude;
    else
        sum.magnitude = p.magnitude > c.magnitude ? p.magnitude - c.magnitude : c.magnitude - p.magnitude;
    return rounded(sum, result, least);
}

static uint32_t to_integer_flags(uint32_t v, bool is_unsigned, uint32_t result)
{
    exact x = exact_of(v), is = {.magnitude = result, .negative = false};
    if (is_nan(v) || (v & ~SIGN) >= 0x4F800000u)
        return NV;
    if (!is_unsigned && result & SIGN)
        is = (exact){.magnitude = 0u - result, .negative = true};
    uint32_t whole = to_integer(v & ~SIGN, true); /* up to 2^32 - 1 */
    bool fits = is_unsigned ? !x.negative || !whole : whole < SIGN || (x.negative && whole == SIGN);
    if (!fits)
        return NV;
    x = normal(x);
    is = normal(is);
    bool same = x.magnitude ? x.magnitude == is.magnitude && x.exponent == is.exponent : !is.magnitude;
    return same ? 0 : NX;
}

static bool signals(uint32_t v, unsigned fraction_bits, unsigned exponent_bits)
{
    return class_of(v, fraction_bits, exponent_bits) == 1u << 8;
}

static uint32_t flags_of(const wg_core *k, uint32_t word, uint32_t a, uint32_t b, uint32_t c, uint32_t result)
{
    const half f = half_of(k);
    const bool narrow16 = (word >> 25 & 3) == 2, fused = (word & 0x7F) != 0x53;
    const uint32_t f3 = word >> 12 & 7, f5 = word >> 27;
    const bool from16 =
        fused || f5 != 0x08 ? narrow16 : !narrow16; /* fcvt.s.h and fcvt.h.s are named after their result */
    const bool to16 = narrow16 && (fused || (f5 != 0x14 && f5 != 0x18));
    const uint32_t least = to16 && f.exponent_bits == 5 ? 113u << 23 : 1u << 23;
    uint32_t v[3] = {a, b, c};
    bool signalling = false;
    if (!fused && (f5 == 0x04 || f5 >= 0x1C))
        return 0;
    if (!fused && f5 == 0x1A) { /* from an integer */
        bool negative = !(word >> 20 & 1) && a & SIGN;
        return rounded((exact){.magnitude = negative ? 0u - a : a, .negative = negative},
                       to16 ? widen(f, result & 0xFFFF) : result, least);
    }
    const unsigned operands = fused ? 3 : f5 == 0x08 || f5 == 0x18 ? 1 : 2;
    for (unsigned i = 0; i < operands; i++) {
        if (from16) {
            v[i] = unbox(f, v[i]);
            signalling |= signals(v[i], f.fraction_bits, f.exponent_bits);
            v[i] = widen(f, v[i]);
        } else {
            signalling |= signals(v[i], 23, 8);
        }
    }
    const uint32_t invalid = signalling ? NV : 0;
    if (to16)
        result = widen(f, result & 0xFFFF);
    if (fused) { /* fmadd, fmsub, fnmsub, fnmadd */
        uint32_t which = word >> 2 & 3;
        return invalid |
               arithmetic_flags(which & 2 ? v[0] ^ SIGN : v[0], v[1], which & 1 ? v[2] ^ SIGN : v[2], result, least);
    }
    switch (f5) {
    case 0x00:
    case 0x01: return invalid | arithmetic_flags(v[0], ONE, f5 ? v[1] ^ SIGN : v[1], result, least);
    case 0x02: return invalid | arithmetic_flags(v[0], v[1], SIGN, result, least);
    case 0x05: return invalid;
    case 0x08:
        if (is_nan(v[0]) || (v[0] & ~SIGN) == INF32)
            return invalid;
        return rounded(exact_of(v[0]), result, least);
    case 0x14: return f3 == 2 ? invalid : is_nan(v[0]) || is_nan(v[1]) ? NV : 0;
    default: return to_integer_flags(v[0], word >> 20 & 1, result);
    }
}

uint32_t wg_fp_compute(wg_core *k, uint32_t word, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t result = compute(k, word, a, b, c);
    k->csr.fcsr |= flags_of(k, word, a, b, c, result);
    return result;
}

uint32_t wg_fp_execute(wg_core *k, const wg_op *op)
{
    const uint32_t *r = k->run.r;
    return wg_fp_compute(k, op->word, r[op->rs1], r[op->rs2], r[op->rs3]);
}
