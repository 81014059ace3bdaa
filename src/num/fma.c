/* SPDX-License-Identifier: Apache-2.0 */
/* The partially fused multiply-add; see fma.h. Facts: Miscellaneous/FMA/README.md. */
#include "num/fma.h"

#include <stdbool.h>

#define SIGN 0x80000000u
#define INFINITE 0x7F800000u
#define HIDDEN 0x00800000u
#define FRACTION 0x007FFFFFu

/* A magnitude `m` in units of 2^(e - 127 - 26): bit 26 is the leading bit of an FP32 value of exponent e. */
typedef struct part {
    uint32_t sign, m;
    int e;
} part;

static int exponent(uint32_t v) { return (int)(v >> 23 & 255); }

/* Denormals count as zero; the exponent stays 0. */
static uint32_t mantissa(uint32_t v) { return exponent(v) ? (v & FRACTION) | HIDDEN : 0; }

static bool is_nan(uint32_t v) { return (v & ~SIGN) > INFINITE; }

/* Right shift with a sticky lowest bit, unless all bits are shifted out; m is below 2^28. */
static inline uint32_t semi_sticky(uint32_t m, int by)
{
    by = by < 31 ? by : 31;
    uint32_t kept = m >> by;
    return kept | ((kept != 0) & (kept << by != m));
}

static inline __attribute__((always_inline)) part product(uint32_t x, uint32_t y)
{
    uint64_t m = (uint64_t)mantissa(x) * mantissa(y);
    return (part){(x ^ y) & SIGN, (uint32_t)(m >> 20) | ((m & 0xFFFFF) != 0), exponent(x) + exponent(y) - 127};
}

static inline __attribute__((always_inline)) part addend(uint32_t z)
{
    return (part){z & SIGN, mantissa(z) << 3, exponent(z)};
}

/* The sum, not yet normalised, without branches on data; for equal magnitudes, +0 or the product's sign. */
static inline __attribute__((always_inline)) part sum(part p, part z)
{
    int e = p.e > z.e ? p.e : z.e;
    uint32_t pm = semi_sticky(p.m, e - p.e), zm = semi_sticky(z.m, e - z.e);
    uint32_t opposite = 0 - (uint32_t)(p.sign != z.sign);
    uint32_t s = pm + ((zm ^ opposite) - opposite), turned = s & SIGN;
    return (part){p.sign ^ turned, turned ? 0 - s : s, e};
}

/* Rounds a magnitude with its leading bit in bit 31 to nearest, ties to even; exponents above 0 only. */
static inline uint32_t round_even(int e, uint32_t top)
{
    uint32_t kept = top >> 8, rest = top & 0xFF;
    return ((uint32_t)(e - 1) << 23) + kept + (rest + (kept & 1) > 0x80);
}

uint32_t wg_fma_bh(uint32_t x, uint32_t y, uint32_t z)
{
    part p = product(x, y), a = addend(z);
    bool product_special = exponent(x) == 255 || exponent(y) == 255;
    if (product_special || a.e == 255 || p.e >= 255) {
        bool invalid = product_special && (!mantissa(x) || !mantissa(y));
        bool opposite = product_special && a.e == 255 && p.sign != a.sign;
        if (is_nan(x) || is_nan(y) || is_nan(z) || invalid || opposite)
            return 0x7FC00000;
        return a.e == 255 ? z : p.sign | INFINITE;
    }
    /* A product that underflows counts as exactly zero. */
    if (!p.m || p.e < 0)
        return a.m ? z : a.sign & p.sign;

    part r = sum(p, a);
    if (!r.m)
        return 0; /* only opposite signs cancel, so the zero is positive */
    int zeros = __builtin_clz(r.m);
    uint32_t top = r.m << zeros;
    r.e += 5 - zeros; /* five zeros: the leading bit is in bit 26 */
    if (r.e >= 255)
        return r.sign | INFINITE;
    /* Denormal: rounded one place further up, however small it is, and at most to the least normal number. */
    if (r.e <= 0)
        return r.sign | (top >= 0xFFFFFF00u ? HIDDEN : 0);
    return r.sign | round_even(r.e, top);
}

uint32_t wg_fma_wh(uint32_t x, uint32_t y, uint32_t z)
{
    part p = product(x, y), a = addend(z);
    bool product_special = exponent(x) == 255 || exponent(y) == 255;
    bool product_infinite = product_special || p.e >= 255;
    uint32_t nan = 0; /* a NaN result contains bits of the sum below */
    if (product_infinite || a.e == 255) {
        bool addend_infinite = a.e == 255 && !is_nan(z);
        bool invalid = product_special && (!mantissa(x) || !mantissa(y));
        if (is_nan(x) || is_nan(y) || invalid || (addend_infinite && product_infinite && p.sign != a.sign))
            nan = p.sign | 0x7F800001;
        else if (a.e == 255 && !addend_infinite)
            nan = a.sign | 0x7F800001;
        else
            return addend_infinite ? z : p.sign | INFINITE;
        if (p.e > 255)
            p.e = 255;
    }
    if (!p.m || p.e < 0) {
        if (!nan)
            return a.m ? z : 0;
        p.m = 0;
        p.e = 0;
    }

    part r = sum(p, a);
    if (!r.m)
        return nan;
    if (r.m >> 28)
        r.m &= ~2u; /* if two bits are shifted out, the upper one is lost */
    int zeros = __builtin_clz(r.m);
    uint32_t top = r.m << zeros;
    r.e += 5 - zeros;
    if (r.e >= 255)
        return nan ? nan : r.sign | INFINITE;
    /* Zeros are positive; denormals that round up to the least normal number are kept. */
    if (r.e < 0 || (r.e == 0 && top < 0xFFFFFF80u))
        return nan;
    uint32_t bits = r.e ? round_even(r.e, top) : HIDDEN;
    return (nan ? nan : r.sign) | bits;
}
