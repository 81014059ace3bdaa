/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Matrix Unit's kernels in AVX-512: one row of 16 columns at a time, integers only. The same steps as
 * matrix_scalar.c; comments mark steps that differ.
 */
#include "backend/matrix_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd")))
#define INLINE TARGET static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8") /* keeps the eight terms in registers */
#endif
typedef __m512i vec;

INLINE vec all(int32_t x) { return _mm512_set1_epi32(x); }
INLINE vec and_(vec a, int32_t b) { return _mm512_and_si512(a, all(b)); }
INLINE vec load16(const uint16_t *p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)); }
INLINE void store16(uint16_t *p, vec x) { _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(x)); }

/* ---- Decoding --------------------------------------------------------------------------------------- */

INLINE vec keep_style(vec x, wg_style style) { return and_(x, (int32_t)wg_src_of_style(WG_SRC_MASK, style)); }

/* Exponent and signed mantissa (or integer) of 16 datums; `zero` have neither. */
INLINE vec signed_by(vec x, vec value)
{
    __mmask16 negative = _mm512_test_epi32_mask(x, all(WG_SRC_SIGN));
    return _mm512_mask_sub_epi32(value, negative, _mm512_setzero_si512(), value);
}
INLINE vec exponent_of(vec x, __mmask16 zero)
{
    return _mm512_mask_mov_epi32(and_(x, 0xFF), zero, all(WG_MATRIX_NO_EXPONENT));
}
INLINE vec mantissa_a(vec x, unsigned phase)
{
    vec m = _mm512_or_si512(and_(_mm512_srli_epi32(x, 8), 0x3FF), all(0x400));
    return phase & 1 ? and_(_mm512_srli_epi32(m, 1), 31) : _mm512_srli_epi32(m, 6);
}
INLINE vec mantissa_b(vec x, unsigned phase)
{
    vec m = _mm512_or_si512(and_(_mm512_srli_epi32(x, 8), 0x3FF), all(0x400));
    return phase & 2 ? _mm512_slli_epi32(and_(m, 15), 3) : _mm512_srli_epi32(m, 4);
}
INLINE vec integer(vec x, int32_t bits) { return and_(_mm512_srli_epi32(x, 8), bits); }

INLINE vec integer_a(vec x, unsigned phase, __mmask16 zero)
{
    return _mm512_maskz_mov_epi32((__mmask16)~zero, signed_by(x, integer(x, phase & 1 ? 0x1F : 0xE0)));
}
INLINE vec value_b(vec x, wg_style style, unsigned phase, __mmask16 zero)
{
    vec v = style == WG_STYLE_INT8 ? integer(x, phase & 2 ? 0x00F : 0x3F0)
                                   : _mm512_slli_epi32(mantissa_b(x, phase), 7); /* WG_MATRIX_SCALE_B */
    return _mm512_maskz_mov_epi32((__mmask16)~zero, signed_by(x, v));
}

/*
 * Decodes 32 datums at a time as 16-bit halves in storage order: the low halves hold the exponents, the low halves
 * after a shift by three hold sign and mantissa.
 */
static const uint16_t from_two[32] = {0,  32, 2,  34, 4,  36, 6,  38, 8,  40, 10, 42, 12, 44, 14, 46,
                                      16, 48, 18, 50, 20, 52, 22, 54, 24, 56, 26, 58, 28, 60, 30, 62};
static const uint16_t from_halves[32] = {0,  16, 2,  18, 4,  20, 6,  22, 8,  24, 10, 26, 12, 28, 14, 30,
                                         32, 48, 34, 50, 36, 52, 38, 54, 40, 56, 42, 58, 44, 60, 46, 62};
enum { IN_FIRST = 0xCA, /* where a has ones, b; else c */ AND_OR = 0xEA /* a and b, or c */ };

INLINE vec all16(unsigned x) { return _mm512_set1_epi16((int16_t)x); }
INLINE vec upper16(vec x0, vec order, vec x1)
{
    return _mm512_permutex2var_epi16(_mm512_srli_epi32(x0, 3), order, _mm512_srli_epi32(x1, 3));
}
INLINE vec negate16(vec value, vec sign)
{
    return _mm512_mask_sub_epi16(value, _mm512_movepi16_mask(sign), _mm512_setzero_si512(), value);
}

INLINE void numbers_a(const uint32_t *first, const uint32_t *second, uint32_t keep, bool later, wg_matrix_a *out)
{
    const vec order = _mm512_loadu_si512(from_two), exponents = all16(keep & 0xFF);
    const vec taken = all16(later ? keep >> 3 << 4 & 0x7C00 : keep >> 3 >> 1 & 0x3C00),
              leading = all16(later ? 0 : 0x4000);
    for (unsigned k = 0; k < 8; k++) {
        vec x0 = _mm512_loadu_si512(first + k * 16), x1 = _mm512_loadu_si512(second + k * 16);
        vec e = _mm512_and_si512(_mm512_permutex2var_epi16(x0, order, x1), exponents), x = upper16(x0, order, x1);
        vec v = later ? _mm512_slli_epi16(x, 4) : _mm512_srli_epi16(x, 1);
        v = _mm512_ternarylogic_epi32(v, taken, leading, AND_OR);
        __mmask32 some = _mm512_test_epi16_mask(e, e);
        e = _mm512_mask_mov_epi16(all16((unsigned)WG_MATRIX_NO_EXPONENT), some, e);
        v = _mm512_maskz_add_epi16(later ? _mm512_mask_test_epi16_mask(some, v, v) : some, v, all16(1));
        _mm512_storeu_si512(out->exponent[k], e);
        _mm512_storeu_si512(out->mantissa[k], negate16(v, x)); /* times WG_MATRIX_SCALE_A */
    }
}

INLINE void numbers_b(const uint32_t *rows, unsigned count, uint32_t keep, bool flush, bool later, wg_matrix_b *out)
{
    const vec order = _mm512_loadu_si512(from_halves), exponents = all16(keep & 0xFF);
    const vec taken = all16(later ? keep >> 3 << 5 & 0x3C00 : keep >> 3 >> 2 & 0x1F80),
              leading = all16(later ? 0 : 0x2000);
    for (unsigned i = 0; i < count; i += 2) {
        vec x0 = _mm512_loadu_si512(rows + i * 16), x1 = _mm512_loadu_si512(rows + i * 16 + 16);
        vec e = _mm512_and_si512(_mm512_permutex2var_epi16(x0, order, x1), exponents), x = upper16(x0, order, x1);
        vec v = later ? _mm512_slli_epi16(x, 5) : _mm512_srli_epi16(x, 2);
        v = negate16(_mm512_ternarylogic_epi32(v, taken, leading, AND_OR), x); /* times WG_MATRIX_SCALE_B */
        __mmask32 some = flush ? _mm512_test_epi16_mask(e, e) : UINT32_MAX;
        _mm512_storeu_si512(out->exponent[i], _mm512_mask_mov_epi16(all16((unsigned)WG_MATRIX_NO_EXPONENT), some, e));
        _mm512_storeu_si512(out->mantissa[i], _mm512_maskz_mov_epi16(some, v));
    }
}

TARGET static void decode_a(const uint32_t *first, const uint32_t *second, wg_style style, unsigned phase,
                            wg_matrix_a *out)
{
    out->has_bytes = false;
    if (style != WG_STYLE_INT8) {
        const uint32_t keep = wg_src_of_style(WG_SRC_MASK, style);
        if (phase & 1)
            numbers_a(first, second, keep, true, out);
        else
            numbers_a(first, second, keep, false, out);
        return;
    }
    for (unsigned k = 0; k < 8; k++) {
        vec x0 = _mm512_loadu_si512(first + k * 16), x1 = _mm512_loadu_si512(second + k * 16);
        __mmask16 z0 = _mm512_testn_epi32_mask(x0, all(0xFF)), z1 = _mm512_testn_epi32_mask(x1, all(0xFF));
        vec e = _mm512_or_si512(and_(exponent_of(x0, z0), 0xFFFF), _mm512_slli_epi32(exponent_of(x1, z1), 16));
        vec m =
            _mm512_or_si512(and_(integer_a(x0, phase, z0), 0xFFFF), _mm512_slli_epi32(integer_a(x1, phase, z1), 16));
        _mm512_storeu_si512(out->exponent[k], e);
        _mm512_storeu_si512(out->mantissa[k], m);
    }
}

TARGET static void decode_b(const uint32_t *rows, unsigned count, wg_style style, bool flush, unsigned phase,
                            wg_matrix_b *out)
{
    out->has_bytes = false;
    if (style != WG_STYLE_INT8 && !(count & 1)) {
        const uint32_t keep = wg_src_of_style(WG_SRC_MASK, style);
        if (phase & 2)
            numbers_b(rows, count, keep, flush, true, out);
        else
            numbers_b(rows, count, keep, flush, false, out);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        vec x = keep_style(_mm512_loadu_si512(rows + i * 16), style);
        __mmask16 zero = flush ? _mm512_testn_epi32_mask(x, all(0xFF)) : 0;
        vec e = exponent_of(x, zero), m = value_b(x, style, phase, zero);
        __m256i low = _mm256_set1_epi32(0xFFFF);
        _mm256_storeu_si256((__m256i *)out->exponent[i],
                            _mm256_or_si256(_mm256_and_si256(_mm512_castsi512_si256(e), low),
                                            _mm256_slli_epi32(_mm512_extracti64x4_epi64(e, 1), 16)));
        _mm256_storeu_si256((__m256i *)out->mantissa[i],
                            _mm256_or_si256(_mm256_and_si256(_mm512_castsi512_si256(m), low),
                                            _mm256_slli_epi32(_mm512_extracti64x4_epi64(m, 1), 16)));
    }
}

/* ---- Accumulation ----------------------------------------------------------------------------------- */

typedef enum form { WIDE, HALF_EXP8, HALF_EXP5 } form;

/* The addends, and the destination of the sum. */
typedef struct dst_row {
    const uint16_t *from_hi, *from_lo;
    uint16_t *hi, *lo;
} dst_row;
INLINE dst_row in_place(uint16_t *hi, uint16_t *lo) { return (dst_row){hi, lo, hi, lo}; }
/* Broadcasts a pair of numbers. From memory this is one load; from a register it would take shuffles. */
INLINE vec pair_at(const int16_t *pair)
{
    int32_t x;
    __builtin_memcpy(&x, pair, sizeof x);
    return all(x);
}
INLINE dst_row product_row(const wg_mul_args *m, unsigned i)
{
    return (dst_row){m->from_hi[i], m->from_lo[i], m->hi[i], m->lo[i]};
}

/*
 * Half up, of twice the value: (floor(2v / 2^d) + 1) / 2, so that d = 0 and a large d need no special case. For a
 * 16-bit Dst the low 13 bits are dropped as well, again half up: both in one step, in units of the remaining bits.
 */
INLINE vec align_signed(form f, vec twice, vec d)
{
    vec v = _mm512_srav_epi32(twice, d);
    return f == WIDE ? _mm512_srai_epi32(_mm512_add_epi32(v, all(1)), 1)
                     : _mm512_srai_epi32(_mm512_add_epi32(v, all(1 + 0x2000)), 14);
}
INLINE vec align_unsigned(form f, vec twice, vec d)
{
    vec v = _mm512_srlv_epi32(twice, d);
    return f == WIDE ? _mm512_srli_epi32(_mm512_add_epi32(v, all(1)), 1)
                     : _mm512_srli_epi32(_mm512_add_epi32(v, all(1 + 0x2000)), 14);
}

/* Adds sums (already shifted 14 places: twice the addend) to one row of Dst. */
INLINE void accumulate(form f, bool lost_one, bool two, vec sum0, vec exp0, vec sum1, vec exp1, dst_row d)
{
    vec h = load16(d.from_hi), zero = _mm512_setzero_si512();
    vec exp_dst = and_(h, f == HALF_EXP5 ? 0x1F : 0xFF);
    vec man_dst = _mm512_slli_epi32(and_(h, f == HALF_EXP5 ? 0x7FE0 : 0x7F00), 9); /* twice the mantissa */
    if (f == WIDE)
        man_dst = _mm512_or_si512(man_dst, _mm512_slli_epi32(load16(d.from_lo), 1));
    man_dst = _mm512_maskz_or_epi32(_mm512_test_epi32_mask(exp_dst, exp_dst), man_dst, all(0x1000000));
    vec exp = _mm512_max_epi32(exp0, exp_dst);
    exp = _mm512_max_epi32(exp, two ? exp1 : zero);
    __mmask16 positive = two ? 0xFFFF : _mm512_cmpgt_epi32_mask(exp, zero); /* a product's sum of exponent 0 is zero */
    vec sum = align_signed(f, sum0, _mm512_sub_epi32(exp, exp0));
    if (two)
        sum = _mm512_add_epi32(sum, align_signed(f, sum1, _mm512_sub_epi32(exp, exp1)));
    man_dst = align_unsigned(f, man_dst, _mm512_sub_epi32(exp, exp_dst));
    __mmask16 negative_dst = _mm512_test_epi32_mask(h, all(0x8000));
    vec total = _mm512_mask_sub_epi32(_mm512_add_epi32(sum, man_dst), negative_dst, sum, man_dst);

    vec magnitude = _mm512_abs_epi32(total);
    vec left = _mm512_lzcnt_epi32(magnitude);
    vec top = _mm512_sllv_epi32(magnitude, left);
    const unsigned keep = f == WIDE ? 24 : f == HALF_EXP8 ? 8 : 11; /* bits, including the leading one */
    vec mantissa = _mm512_srli_epi32(_mm512_add_epi32(_mm512_srli_epi32(top, 31 - keep), all(1)), 1);
    if (f == WIDE && lost_one) {
        __mmask16 lost = _mm512_cmpeq_epi32_mask(total, all(-1));
        left = _mm512_mask_mov_epi32(left, lost, all(4));
        mantissa = _mm512_mask_mov_epi32(mantissa, lost, zero);
    }
    exp = _mm512_sub_epi32(_mm512_add_epi32(exp, all(f == WIDE ? 8 : 8 + 13)), left);
    exp = _mm512_add_epi32(exp, _mm512_srli_epi32(mantissa, keep));
    __mmask16 some = positive & _mm512_test_epi32_mask(total, total) & _mm512_cmpgt_epi32_mask(exp, zero);
    vec high = f == WIDE ? _mm512_srli_epi32(mantissa, 8) : _mm512_slli_epi32(mantissa, f == HALF_EXP8 ? 8 : 5);
    const int32_t limit = f == HALF_EXP5 ? 31 : 255, bits = f == HALF_EXP5 ? 0x7FE0 : 0x7F00;
    __mmask16 in_range = _mm512_cmplt_epi32_mask(exp, all(f == HALF_EXP5 ? 32 : 255));
    if (f == HALF_EXP5)
        high = _mm512_mask_and_epi32(all(bits), in_range, high, all(bits));
    else
        high = _mm512_maskz_and_epi32(in_range, high, all(bits));
    exp = _mm512_min_epi32(exp, all(limit));
    vec sign = and_(_mm512_srli_epi32(total, 16), 0x8000);
    store16(d.hi, _mm512_maskz_or_epi32(some, _mm512_or_si512(sign, high), exp));
    if (f == WIDE)
        store16(d.lo, _mm512_maskz_and_epi32(some & in_range, mantissa, all(0xFFFF)));
}

/*
 * Two rows at a time, so that operations on halves of datums process 32 of them at once. The datums of a row are
 * even (low) and odd (high) halves of a vector.
 */
static const uint16_t whole[2][32] = {
    {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
     8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47},
    {16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
     24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63},
};
static const uint16_t even[32] = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                  32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
INLINE vec low_halves(void) { return _mm512_loadu_si512(even); }
INLINE vec high_halves(void) { return _mm512_or_si512(low_halves(), _mm512_set1_epi16(1)); }
/*
 * accumulate() of a product for rows i and i + 1 of 32 bits. Sums are used in 32 bits, 16 places up, and shifted by two more.
 * Above a rounded mantissa are its carry and 6 of the 8 places that the exponent is off by.
 */
INLINE void accumulate_wide(bool lost_one, bool fresh, const wg_mul_args *m, unsigned i, const vec *sums,
                            const vec *exponents)
{
    vec exp_dst16 = _mm512_setzero_si512(), top16 = exp_dst16, low16 = exp_dst16;
    __mmask32 some_dst = 0, negative_dst = 0;
    if (!fresh) {
        vec h = _mm512_loadu_si512(m->from_hi[i]);
        low16 = _mm512_loadu_si512(m->from_lo[i]);
        exp_dst16 = _mm512_and_si512(h, _mm512_set1_epi16(0xFF));
        some_dst = _mm512_test_epi16_mask(h, _mm512_set1_epi16(0xFF));
        negative_dst = _mm512_movepi16_mask(h);
        top16 = _mm512_ternarylogic_epi32(_mm512_srli_epi16(h, 8), _mm512_set1_epi16(0x7F), _mm512_set1_epi16(0x80),
                                          AND_OR);
    }
    vec total[2], mantissa[2], exp[2];
    UNROLL
    for (unsigned r = 0; r < 2; r++) {
        vec exp0 = and_(exponents[r], 0xFFFF), exp1 = _mm512_srli_epi32(exponents[r], 16);
        vec largest = _mm512_max_epi32(exp0, exp1), exp_dst = exp0;
        if (!fresh) {
            exp_dst = _mm512_maskz_permutexvar_epi16(0x55555555, _mm512_loadu_si512(whole[r]), exp_dst16);
            largest = _mm512_max_epi32(largest, exp_dst);
        }
        vec above = _mm512_add_epi32(largest, all(2));
        vec sum0 = align_signed(WIDE, _mm512_slli_epi32(sums[r], 16), _mm512_sub_epi32(above, exp0));
        vec sum1 = align_signed(WIDE, and_(sums[r], -0x10000), _mm512_sub_epi32(above, exp1));
        vec sum = _mm512_add_epi32(sum0, sum1);
        total[r] = sum;
        if (!fresh) {
            vec man_dst = _mm512_permutex2var_epi16(low16, _mm512_loadu_si512(whole[r]), top16);
            man_dst = _mm512_maskz_add_epi32((__mmask16)(some_dst >> 16 * r), man_dst, man_dst);
            man_dst = align_unsigned(WIDE, man_dst, _mm512_sub_epi32(largest, exp_dst));
            total[r] = _mm512_mask_sub_epi32(_mm512_add_epi32(sum, man_dst), (__mmask16)(negative_dst >> 16 * r), sum,
                                             man_dst);
        }
        vec magnitude = _mm512_abs_epi32(total[r]), left = _mm512_lzcnt_epi32(magnitude);
        vec rounded = _mm512_add_epi32(_mm512_srli_epi32(_mm512_sllv_epi32(magnitude, left), 7), all((6 << 25) + 1));
        if (lost_one) { /* 8 more, which is a separate bit, and 8 less */
            __mmask16 lost = _mm512_cmpeq_epi32_mask(total[r], all(-1));
            left = _mm512_mask_mov_epi32(left, lost, all(4 + 8));
            rounded = _mm512_mask_mov_epi32(rounded, lost, all((6 + 8) << 25));
        }
        mantissa[r] = _mm512_srli_epi32(rounded, 1);
        exp[r] = _mm512_sub_epi32(above, left);
    }
    vec low = low_halves(), high = high_halves();
    vec upper = _mm512_permutex2var_epi16(mantissa[0], high, mantissa[1]);
    vec e = _mm512_add_epi16(_mm512_permutex2var_epi16(exp[0], low, exp[1]), _mm512_srli_epi16(upper, 8));
    __mmask32 some = _mm512_test_epi16_mask(upper, _mm512_set1_epi16(0x80 | 0x100 | 0x800));
    some = _mm512_mask_cmpgt_epi16_mask(some, e, _mm512_setzero_si512());
    __mmask32 in_range = _mm512_mask_cmplt_epi16_mask(some, e, _mm512_set1_epi16(255));
    vec sign = _mm512_maskz_permutex2var_epi16(some, total[0], high, total[1]);
    vec value = _mm512_ternarylogic_epi32(_mm512_set1_epi16(0x7F00), _mm512_maskz_slli_epi16(in_range, upper, 8), sign,
                                          IN_FIRST);
    value = _mm512_ternarylogic_epi32(_mm512_set1_epi16((int16_t)0xFF00), value,
                                      _mm512_maskz_min_epi16(some, e, _mm512_set1_epi16(255)), IN_FIRST);
    _mm512_storeu_si512(m->hi[i], value);
    _mm512_storeu_si512(m->lo[i], _mm512_maskz_permutex2var_epi16(in_range, mantissa[0], low, mantissa[1]));
}

/* ---- Matrix product --------------------------------------------------------------------------------- */

/*
 * Lanes are 16 bits, even ones for products 0…7, odd ones for 8…15. A product p aligned by d places, half away
 * from zero, is mulhrs(2p - (p < 0), 2^(14 - d)), and the scaled mantissas give the first factor; a d above 14
 * gives 0 for the second. No exponent is below that of a product with zero, so the final one is never negative.
 */
INLINE void product(form f, bool lost_one, const wg_mul_args *m)
{
    vec ea[8], ma[8];
    UNROLL
    for (unsigned k = 0; k < 8; k++) {
        ea[k] = _mm512_loadu_si512(m->a->exponent[k]);
        ma[k] = _mm512_loadu_si512(m->a->mantissa[k]);
    }
    vec lowest = _mm512_set1_epi16((int16_t)(m->alu.lowest - m->alu.adjust)), adjust = _mm512_set1_epi16(m->alu.adjust);
    vec one = _mm512_set1_epi16(0x4000), zero = _mm512_setzero_si512();
    /* All sums first: rows do not depend on each other, and short loops overlap better. */
    vec sums[8], exponents[8];
    for (unsigned i = 0; i < m->rows; i++) {
        const int16_t *eb = m->b->exponent[i * m->b_step], *mb = m->b->mantissa[i * m->b_step];
        vec e[8], largest = lowest, other = lowest;
        UNROLL
        for (unsigned k = 0; k < 8; k++) {
            e[k] = _mm512_add_epi16(ea[k], pair_at(eb + 2 * k));
            if (k & 1)
                largest = _mm512_max_epi16(largest, e[k]);
            else
                other = _mm512_max_epi16(other, e[k]);
        }
        largest = _mm512_max_epi16(largest, other);
        vec sum = zero, rest = zero;
        UNROLL
        for (unsigned k = 0; k < 8; k++) {
            vec weight = _mm512_srlv_epi16(one, _mm512_sub_epi16(largest, e[k]));
            vec p = _mm512_mulhrs_epi16(_mm512_mulhi_epi16(ma[k], pair_at(mb + 2 * k)), weight);
            if (k & 1)
                sum = _mm512_add_epi16(sum, p);
            else
                rest = _mm512_add_epi16(rest, p);
        }
        exponents[i] = _mm512_add_epi16(largest, adjust);
        __mmask32 some = _mm512_test_epi16_mask(exponents[i], exponents[i]); /* nothing at exponent 0 */
        sums[i] = _mm512_maskz_add_epi16(some, sum, rest);
    }
    if (f == WIDE && !(m->rows & 1)) {
        if (m->fresh)
            for (unsigned i = 0; i < m->rows; i += 2)
                accumulate_wide(lost_one, true, m, i, sums + i, exponents + i);
        else
            for (unsigned i = 0; i < m->rows; i += 2)
                accumulate_wide(lost_one, false, m, i, sums + i, exponents + i);
        return;
    }
    for (unsigned i = 0; i < m->rows; i++) {
        vec largest = exponents[i], sum = sums[i];
        vec sum0 = _mm512_srai_epi32(_mm512_slli_epi32(sum, 16), 2), sum1 = _mm512_srai_epi32(and_(sum, -0x10000), 2);
        vec exp0 = and_(largest, 0xFFFF), exp1 = _mm512_srli_epi32(largest, 16);
        accumulate(f, lost_one, true, sum0, exp0, sum1, exp1, product_row(m, i));
    }
}

TARGET static void mul_float(const wg_mul_args *m)
{
    if (m->alu.wide && m->alu.lost_one)
        product(WIDE, true, m);
    else if (m->alu.wide)
        product(WIDE, false, m);
    else if (m->alu.exp8)
        product(HALF_EXP8, false, m);
    else
        product(HALF_EXP5, false, m);
}

/* ---- Integers --------------------------------------------------------------------------------------- */

INLINE void store_int(uint16_t *hi, uint16_t *lo, vec value)
{
    vec magnitude = _mm512_abs_epi32(value), sign = and_(_mm512_srli_epi32(value, 16), 0x8000);
    vec high =
        _mm512_or_si512(and_(_mm512_srli_epi32(magnitude, 8), 0x7F00), and_(_mm512_srli_epi32(magnitude, 23), 0xFF));
    store16(hi, _mm512_or_si512(high, sign));
    store16(lo, and_(magnitude, 0xFFFF));
}

INLINE void accumulate_int(vec value, dst_row d)
{
    vec h = load16(d.from_hi);
    vec dst = _mm512_or_si512(_mm512_slli_epi32(and_(h, 0x7F00), 8), _mm512_slli_epi32(and_(h, 0xFF), 23));
    dst = _mm512_or_si512(dst, load16(d.from_lo));
    dst = _mm512_mask_sub_epi32(dst, _mm512_test_epi32_mask(h, all(0x8000)), _mm512_setzero_si512(), dst);
    vec sum = _mm512_add_epi32(dst, value);
    /* Overflow: both operands have the opposite sign of the sum. */
    vec wrong = _mm512_and_si512(_mm512_xor_si512(dst, sum), _mm512_xor_si512(value, sum));
    vec limit = _mm512_xor_si512(_mm512_srai_epi32(dst, 31), all(INT32_MAX));
    sum = _mm512_mask_mov_epi32(sum, _mm512_movepi32_mask(wrong), limit);
    store_int(d.hi, d.lo, _mm512_max_epi32(sum, all(-INT32_MAX)));
}

/* Two rows; Dst has the upper halves' low seven bits before their high eight. */
typedef struct int_rows {
    vec of[2];
} int_rows;

INLINE int_rows load_ints(const uint16_t *hi, const uint16_t *lo)
{
    vec h = _mm512_loadu_si512(hi), l = _mm512_loadu_si512(lo);
    vec upper = _mm512_ternarylogic_epi32(_mm512_set1_epi16(0x7F80), _mm512_slli_epi16(h, 7), _mm512_srli_epi16(h, 8),
                                          IN_FIRST);
    __mmask32 negative = _mm512_movepi16_mask(h);
    int_rows r;
    for (unsigned i = 0; i < 2; i++) {
        r.of[i] = _mm512_permutex2var_epi16(l, _mm512_loadu_si512(whole[i]), upper);
        r.of[i] = _mm512_mask_sub_epi32(r.of[i], (__mmask16)(negative >> 16 * i), _mm512_setzero_si512(), r.of[i]);
    }
    return r;
}

INLINE void store_ints(uint16_t *hi, uint16_t *lo, int_rows r)
{
    vec low = low_halves(), m0 = _mm512_abs_epi32(r.of[0]), m1 = _mm512_abs_epi32(r.of[1]);
    vec upper = _mm512_permutex2var_epi16(m0, high_halves(), m1);
    vec h = _mm512_ternarylogic_epi32(_mm512_slli_epi16(upper, 8), _mm512_set1_epi16(0x7F00),
                                      _mm512_srli_epi16(upper, 7), AND_OR);
    __mmask32 negative = _mm512_movepi32_mask(r.of[0]) | (__mmask32)((uint32_t)_mm512_movepi32_mask(r.of[1]) << 16);
    _mm512_storeu_si512(hi, _mm512_mask_add_epi16(h, negative, h, _mm512_set1_epi16(INT16_MIN)));
    _mm512_storeu_si512(lo, _mm512_permutex2var_epi16(m0, low, m1));
}

/* One row; the sign of `wrong` marks an overflow, or -2^31, which is not one. */
INLINE vec add_ints(vec dst, vec value, vec *wrong)
{
    enum { DIFFER_FROM_C = 0x42 }; /* (a ^ c) & (b ^ c) */
    vec sum = _mm512_add_epi32(dst, value);
    *wrong = _mm512_or_si512(_mm512_ternarylogic_epi32(dst, value, sum, DIFFER_FROM_C), _mm512_abs_epi32(sum));
    return sum;
}
INLINE vec saturate(vec dst, vec value)
{
    vec sum = _mm512_add_epi32(dst, value);
    vec wrong = _mm512_and_si512(_mm512_xor_si512(dst, sum), _mm512_xor_si512(value, sum));
    vec limit = _mm512_xor_si512(_mm512_srai_epi32(dst, 31), all(INT32_MAX));
    return _mm512_max_epi32(_mm512_mask_mov_epi32(sum, _mm512_movepi32_mask(wrong), limit), all(-INT32_MAX));
}

/* Rows i and i + 1 of the products are in `value`. */
INLINE void accumulate_two(const wg_mul_args *m, unsigned i, int_rows value)
{
    int_rows dst = load_ints(m->from_hi[i], m->from_lo[i]), sum;
    vec wrong0, wrong1;
    sum.of[0] = add_ints(dst.of[0], value.of[0], &wrong0);
    sum.of[1] = add_ints(dst.of[1], value.of[1], &wrong1);
    if (__builtin_expect(_mm512_movepi32_mask(_mm512_or_si512(wrong0, wrong1)), 0)) {
        sum.of[0] = saturate(dst.of[0], value.of[0]);
        sum.of[1] = saturate(dst.of[1], value.of[1]);
    }
    store_ints(m->hi[i], m->lo[i], sum);
}

TARGET static void mul_int(const wg_mul_args *m)
{
    vec ma[8];
    UNROLL
    for (unsigned k = 0; k < 8; k++)
        ma[k] = _mm512_loadu_si512(m->a->mantissa[k]);
    unsigned i = 0;
    for (; i + 1 < m->rows; i += 2) {
        int_rows sum = {{_mm512_setzero_si512(), _mm512_setzero_si512()}};
        const int16_t *mb0 = m->b->mantissa[i * m->b_step], *mb1 = m->b->mantissa[(i + 1) * m->b_step];
        UNROLL
        for (unsigned k = 0; k < 8; k++) {
            sum.of[0] = _mm512_add_epi32(sum.of[0], _mm512_madd_epi16(ma[k], pair_at(mb0 + 2 * k)));
            sum.of[1] = _mm512_add_epi32(sum.of[1], _mm512_madd_epi16(ma[k], pair_at(mb1 + 2 * k)));
        }
        accumulate_two(m, i, sum);
    }
    for (; i < m->rows; i++) {
        vec sum = _mm512_setzero_si512();
        for (unsigned k = 0; k < 8; k++)
            sum = _mm512_add_epi32(sum, _mm512_madd_epi16(ma[k], pair_at(m->b->mantissa[i * m->b_step] + 2 * k)));
        accumulate_int(sum, product_row(m, i));
    }
}

/*
 * Hosts that multiply unsigned bytes by signed ones, four products to a sum. In a fidelity phase an integer of SrcA is at
 * most 31, or 7 times 32, one of SrcB at most 15, or 63 times 16: without the common factor they are bytes. SrcA's get an
 * offset, which the sum of SrcB's corrects. The order of bytes in a vector of four: k, k + 8, k + 1, k + 9.
 */
#define VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")))
enum { OFFSET = 64 };

VNNI static void decode_a_bytes(const uint32_t *first, const uint32_t *second, wg_style style, unsigned phase,
                                wg_matrix_a *out)
{
    decode_a(first, second, style, phase, out);
    if (style != WG_STYLE_INT8)
        return;
    out->places = phase & 1 ? 0 : 5;
    out->has_bytes = true;
    for (unsigned g = 0; g < 4; g++)
        for (unsigned i = 0; i < 64; i++)
            out->bytes[g][i] =
                (uint8_t)(out->mantissa[2 * g + (i >> 1 & 1)][i / 4 * 2 + (i & 1)] / (1 << out->places) + OFFSET);
}

VNNI static void decode_b_bytes(const uint32_t *rows, unsigned count, wg_style style, bool flush, unsigned phase,
                                wg_matrix_b *out)
{
    decode_b(rows, count, style, flush, phase, out);
    if (style != WG_STYLE_INT8)
        return;
    out->places = phase & 2 ? 0 : 4;
    out->has_bytes = true;
    for (unsigned i = 0; i < count; i++) {
        out->correction[i] = 0;
        for (unsigned k = 0; k < 16; k++) {
            out->bytes[i][k] = (int8_t)(out->mantissa[i][k] / (1 << out->places));
            out->correction[i] -= OFFSET * out->bytes[i][k];
        }
    }
}

VNNI static inline __attribute__((always_inline)) vec byte_products(const wg_mul_args *m, unsigned i, const vec a[4],
                                                                    __m128i places)
{
    const unsigned row = i * m->b_step;
    vec sum = all(m->b->correction[row]);
    UNROLL
    for (unsigned g = 0; g < 4; g++) {
        int32_t four;
        __builtin_memcpy(&four, m->b->bytes[row] + 4 * g, sizeof four);
        sum = _mm512_dpbusd_epi32(sum, a[g], all(four));
    }
    return _mm512_sll_epi32(sum, places);
}

VNNI static void mul_int_vnni(const wg_mul_args *m)
{
    if (m->rows & 1 || !m->a->has_bytes || !m->b->has_bytes) {
        mul_int(m);
        return;
    }
    vec a[4];
    UNROLL
    for (unsigned g = 0; g < 4; g++)
        a[g] = _mm512_loadu_si512(m->a->bytes[g]);
    __m128i places = _mm_cvtsi32_si128(m->a->places + m->b->places);
    for (unsigned i = 0; i < m->rows; i += 2)
        accumulate_two(m, i, (int_rows){{byte_products(m, i, a, places), byte_products(m, i + 1, a, places)}});
}

TARGET static void elw_int(const wg_elw_args *e)
{
    for (unsigned i = 0; i < 8; i++) {
        vec a = _mm512_loadu_si512(e->a + i * 16), b = _mm512_loadu_si512(e->b + i * 16);
        __mmask16 zero_a = _mm512_testn_epi32_mask(a, all(0xFF));
        __mmask16 zero_b = e->flush ? _mm512_testn_epi32_mask(b, all(0xFF)) : 0;
        vec result;
        if (e->op == WG_ELW_MUL) {
            result = _mm512_mullo_epi32(integer_a(a, e->phase, zero_a), value_b(b, WG_STYLE_INT8, e->phase, zero_b));
        } else {
            vec x = _mm512_maskz_mov_epi32((__mmask16)~zero_a, signed_by(a, integer(a, 0x3FF)));
            vec y = _mm512_maskz_mov_epi32((__mmask16)~zero_b, signed_by(b, integer(b, 0x3FF)));
            result = e->op == WG_ELW_SUB ? _mm512_sub_epi32(x, y) : _mm512_add_epi32(x, y);
        }
        if (e->accumulate)
            accumulate_int(result, in_place(e->hi[i], e->lo[i]));
        else
            store_int(e->hi[i], e->lo[i], result);
    }
}

/* ---- Element by element ----------------------------------------------------------------------------- */

INLINE void elementwise(form f, bool lost_one, const wg_elw_args *e)
{
    vec zero = _mm512_setzero_si512();
    for (unsigned i = 0; i < 8; i++) {
        vec a = keep_style(_mm512_loadu_si512(e->a + i * 16), (wg_style)e->style);
        vec b = keep_style(_mm512_loadu_si512(e->b + i * 16), (wg_style)e->style_b);
        if (e->op == WG_ELW_SUB)
            b = _mm512_xor_si512(b, all(WG_SRC_SIGN));
        __mmask16 zero_a = _mm512_testn_epi32_mask(a, all(0xFF));
        __mmask16 zero_b = e->flush ? _mm512_testn_epi32_mask(b, all(0xFF)) : 0;
        vec exp, sum;
        if (e->op == WG_ELW_MUL) {
            exp = _mm512_add_epi32(_mm512_add_epi32(and_(a, 0xFF), and_(b, 0xFF)), all(e->alu.adjust));
            sum = _mm512_slli_epi32(_mm512_mullo_epi32(mantissa_a(a, e->phase), mantissa_b(b, e->phase)), 14);
            sum = signed_by(_mm512_xor_si512(a, b), sum);
            __mmask16 none = zero_a | zero_b | _mm512_cmple_epi32_mask(exp, zero);
            sum = _mm512_mask_mov_epi32(sum, none, zero);
            exp = _mm512_mask_mov_epi32(exp, none, all(e->alu.lowest));
        } else {
            vec x = _mm512_or_si512(_mm512_slli_epi32(and_(a, 0xFF), 10), and_(_mm512_srli_epi32(a, 8), 0x3FF));
            vec y = _mm512_or_si512(_mm512_slli_epi32(and_(b, 0xFF), 10), and_(_mm512_srli_epi32(b, 8), 0x3FF));
            x = _mm512_maskz_or_epi32((__mmask16)~zero_a, x, and_(a, WG_SRC_SIGN));
            y = _mm512_maskz_or_epi32((__mmask16)~zero_b, y, and_(b, WG_SRC_SIGN));
            __mmask16 swap = _mm512_cmplt_epi32_mask(and_(x, 0x3FFFF), and_(y, 0x3FFFF));
            vec p = _mm512_mask_mov_epi32(x, swap, y), q = _mm512_mask_mov_epi32(y, swap, x);
            exp = and_(_mm512_srli_epi32(p, 10), 0xFF);
            vec larger = _mm512_maskz_or_epi32(_mm512_test_epi32_mask(p, p), and_(p, 0x3FF), all(0x400));
            vec smaller = _mm512_maskz_or_epi32(_mm512_test_epi32_mask(q, q), and_(q, 0x3FF), all(0x400));
            smaller = align_unsigned(WIDE, _mm512_add_epi32(smaller, smaller),
                                     _mm512_sub_epi32(exp, and_(_mm512_srli_epi32(q, 10), 0xFF)));
            smaller = signed_by(_mm512_xor_si512(p, q), smaller);
            sum = signed_by(p, _mm512_slli_epi32(_mm512_add_epi32(larger, smaller), 14));
            if (e->alu.wide && !e->alu.exp8) {
                __mmask16 some = _mm512_test_epi32_mask(exp, exp);
                exp = _mm512_mask_add_epi32(all(127 - 30), some, exp, all(127 - 15));
            }
            exp = _mm512_sub_epi32(exp, all((e->phase & 1 ? 5 : 0) + (e->phase & 2 ? 7 : 0)));
        }
        accumulate(f, lost_one, false, sum, exp, zero, zero, in_place(e->hi[i], e->lo[i]));
    }
}

TARGET static void elw_float(const wg_elw_args *e)
{
    if (e->alu.wide && e->alu.lost_one)
        elementwise(WIDE, true, e);
    else if (e->alu.wide)
        elementwise(WIDE, false, e);
    else if (e->alu.exp8)
        elementwise(HALF_EXP8, false, e);
    else
        elementwise(HALF_EXP5, false, e);
}

const wg_matrix_kernels wg_matrix_avx512 = {decode_a, decode_b, mul_float, mul_int, elw_float, elw_int};
const wg_matrix_kernels wg_matrix_vnni = {decode_a_bytes, decode_b_bytes, mul_float, mul_int_vnni, elw_float, elw_int};
#endif
