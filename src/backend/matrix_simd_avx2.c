/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Matrix Unit's kernels in AVX2: half a row, eight columns, at a time. The same steps as matrix_scalar.c and
 * matrix_simd_avx512.c. Masks are vectors of all ones or all zeros. The one use of host floating point converts
 * integers below 2^24, which is exact whatever the host's rounding mode, to find the leading one.
 */
#include "backend/matrix_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8") /* keeps the eight terms in registers */
#endif
typedef __m256i vec;

INLINE vec all(int32_t x) { return _mm256_set1_epi32(x); }
INLINE vec and_(vec a, int32_t b) { return _mm256_and_si256(a, all(b)); }
INLINE vec or_(vec a, vec b) { return _mm256_or_si256(a, b); }
INLINE vec add(vec a, vec b) { return _mm256_add_epi32(a, b); }
INLINE vec sub(vec a, vec b) { return _mm256_sub_epi32(a, b); }
INLINE vec is_zero(vec a) { return _mm256_cmpeq_epi32(a, _mm256_setzero_si256()); }
INLINE vec select_(vec mask, vec yes, vec no) { return _mm256_blendv_epi8(no, yes, mask); }
INLINE vec load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
INLINE vec load16(const uint16_t *p) { return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)); }
INLINE void store16(uint16_t *p, vec x) /* every lane below 2^16 */
{
    vec packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(x, x), 0x08);
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(packed));
}

/* ---- Decoding --------------------------------------------------------------------------------------- */

INLINE vec keep_style(vec x, wg_style style) { return and_(x, (int32_t)wg_src_of_style(WG_SRC_MASK, style)); }
INLINE vec negate_if(vec mask, vec value) { return sub(_mm256_xor_si256(value, mask), mask); }
INLINE vec sign_mask(vec x) { return _mm256_srai_epi32(_mm256_slli_epi32(x, 13), 31); }
INLINE vec exponent_of(vec x, vec zero) { return select_(zero, all(WG_MATRIX_NO_EXPONENT), and_(x, 0xFF)); }
INLINE vec full_mantissa(vec x) { return or_(and_(_mm256_srli_epi32(x, 8), 0x3FF), all(0x400)); }
INLINE vec mantissa_a(vec x, unsigned phase)
{
    vec m = full_mantissa(x);
    return phase & 1 ? and_(_mm256_srli_epi32(m, 1), 31) : _mm256_srli_epi32(m, 6);
}
INLINE vec mantissa_b(vec x, unsigned phase)
{
    vec m = full_mantissa(x);
    return phase & 2 ? _mm256_slli_epi32(and_(m, 15), 3) : _mm256_srli_epi32(m, 4);
}
INLINE vec integer(vec x, int32_t bits) { return and_(_mm256_srli_epi32(x, 8), bits); }
INLINE vec value_a(vec x, wg_style style, unsigned phase, vec zero)
{
    vec v = integer(x, phase & 1 ? 0x1F : 0xE0);
    if (style != WG_STYLE_INT8) {
        v = mantissa_a(x, phase);
        zero = or_(zero, is_zero(v));
        v = add(_mm256_slli_epi32(v, 10), all(1)); /* WG_MATRIX_SCALE_A */
    }
    return _mm256_andnot_si256(zero, negate_if(sign_mask(x), v));
}
INLINE vec value_b(vec x, wg_style style, unsigned phase, vec zero)
{
    vec v = style == WG_STYLE_INT8 ? integer(x, phase & 2 ? 0x00F : 0x3F0)
                                   : _mm256_slli_epi32(mantissa_b(x, phase), 7); /* WG_MATRIX_SCALE_B */
    return _mm256_andnot_si256(zero, negate_if(sign_mask(x), v));
}
INLINE vec pair(vec low, vec high) { return or_(and_(low, 0xFFFF), _mm256_slli_epi32(high, 16)); }

TARGET static void decode_a(const uint32_t *first, const uint32_t *second, wg_style style, unsigned phase,
                            wg_matrix_a *out)
{
    out->has_bytes = false;
    for (unsigned k = 0; k < 16; k++) { /* half rows */
        vec x0 = keep_style(load(first + k * 8), style), x1 = keep_style(load(second + k * 8), style);
        vec z0 = is_zero(and_(x0, 0xFF)), z1 = is_zero(and_(x1, 0xFF));
        _mm256_storeu_si256((__m256i *)&out->exponent[k / 2][k % 2 * 16],
                            pair(exponent_of(x0, z0), exponent_of(x1, z1)));
        _mm256_storeu_si256((__m256i *)&out->mantissa[k / 2][k % 2 * 16],
                            pair(value_a(x0, style, phase, z0), value_a(x1, style, phase, z1)));
    }
}

TARGET static void decode_b(const uint32_t *rows, unsigned count, wg_style style, bool flush, unsigned phase,
                            wg_matrix_b *out)
{
    out->has_bytes = false;
    for (unsigned i = 0; i < count; i++) {
        vec x0 = keep_style(load(rows + i * 16), style), x1 = keep_style(load(rows + i * 16 + 8), style);
        vec none = _mm256_setzero_si256();
        vec z0 = flush ? is_zero(and_(x0, 0xFF)) : none, z1 = flush ? is_zero(and_(x1, 0xFF)) : none;
        _mm256_storeu_si256((__m256i *)out->exponent[i], pair(exponent_of(x0, z0), exponent_of(x1, z1)));
        _mm256_storeu_si256((__m256i *)out->mantissa[i],
                            pair(value_b(x0, style, phase, z0), value_b(x1, style, phase, z1)));
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
INLINE dst_row product_row(const wg_mul_args *m, unsigned i, unsigned column)
{
    return (dst_row){&m->from_hi[i][column], &m->from_lo[i][column], &m->hi[i][column], &m->lo[i][column]};
}

/* Half up, of twice the value. */
INLINE vec align_signed(vec twice, vec d) { return _mm256_srai_epi32(add(_mm256_srav_epi32(twice, d), all(1)), 1); }
INLINE vec align_unsigned(vec twice, vec d) { return _mm256_srli_epi32(add(_mm256_srlv_epi32(twice, d), all(1)), 1); }
INLINE vec drop13(vec v) { return and_(add(v, all(0x1000)), ~0x1FFF); }

/* Leading zeros of numbers from 1 to 2^31 - 1. */
INLINE vec leading_zeros(vec x)
{
    vec big = _mm256_cmpgt_epi32(x, all(0xFFFFFF));
    vec small = select_(big, _mm256_srli_epi32(x, 8), x);
    vec log2 = sub(_mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(small)), 23), all(127));
    return sub(sub(all(31), log2), and_(big, 8));
}

INLINE void accumulate(form f, bool lost_one, bool two, vec sum0, vec exp0, vec sum1, vec exp1, dst_row d)
{
    vec h = load16(d.from_hi), zero = _mm256_setzero_si256();
    vec exp_dst = and_(h, f == HALF_EXP5 ? 0x1F : 0xFF);
    vec man_dst = _mm256_slli_epi32(and_(h, f == HALF_EXP5 ? 0x7FE0 : 0x7F00), 9); /* twice the mantissa */
    if (f == WIDE)
        man_dst = or_(man_dst, _mm256_slli_epi32(load16(d.from_lo), 1));
    man_dst = _mm256_andnot_si256(is_zero(exp_dst), or_(man_dst, all(0x1000000)));
    vec exp = _mm256_max_epi32(_mm256_max_epi32(exp0, exp_dst), two ? exp1 : zero);
    vec some = two ? all(-1) : _mm256_cmpgt_epi32(exp, zero);
    sum0 = align_signed(sum0, sub(exp, exp0));
    if (two)
        sum1 = align_signed(sum1, sub(exp, exp1));
    man_dst = align_unsigned(man_dst, sub(exp, exp_dst));
    if (f != WIDE) {
        sum0 = drop13(sum0);
        if (two)
            sum1 = drop13(sum1);
        man_dst = drop13(man_dst);
    }
    vec total = add(negate_if(_mm256_srai_epi32(_mm256_slli_epi32(h, 16), 31), man_dst), sum0);
    if (two)
        total = add(total, sum1);

    vec magnitude = _mm256_abs_epi32(total);
    vec left = leading_zeros(magnitude);
    vec top = _mm256_sllv_epi32(magnitude, left);
    const int drop = f == WIDE ? 8 : f == HALF_EXP8 ? 24 : 21;
    vec mantissa = _mm256_srli_epi32(add(_mm256_srli_epi32(top, drop - 1), all(1)), 1);
    mantissa = _mm256_slli_epi32(mantissa, drop - 8);
    if (f == WIDE && lost_one) {
        vec lost = _mm256_cmpeq_epi32(total, all(-1));
        left = select_(lost, all(4), left);
        mantissa = _mm256_andnot_si256(lost, mantissa);
    }
    exp = add(sub(add(exp, all(8)), left), _mm256_srli_epi32(mantissa, 24));
    some = _mm256_and_si256(some, _mm256_andnot_si256(is_zero(total), _mm256_cmpgt_epi32(exp, zero)));
    vec over = _mm256_cmpgt_epi32(exp, all(f == HALF_EXP5 ? 31 : 254));
    exp = select_(over, all(f == HALF_EXP5 ? 31 : 255), exp);
    mantissa = select_(over, all(f == HALF_EXP5 ? 0x3FF << 13 : 0), mantissa);
    vec sign = and_(_mm256_srli_epi32(total, 16), 0x8000);
    vec high = and_(_mm256_srli_epi32(mantissa, 8), f == HALF_EXP5 ? 0x7FE0 : 0x7F00);
    store16(d.hi, _mm256_and_si256(some, or_(or_(sign, high), exp)));
    if (f == WIDE)
        store16(d.lo, _mm256_and_si256(some, and_(mantissa, 0xFFFF)));
}

/* ---- Matrix product --------------------------------------------------------------------------------- */

/* 0x4000 >> d in each 16-bit lane; there is no such shift, so even and odd lanes use 32-bit shifts. */
INLINE vec weight_of(vec d)
{
    vec even = _mm256_srlv_epi32(all(0x4000), and_(d, 0xFFFF));
    vec odd = _mm256_srlv_epi32(all(0x40000000), _mm256_srli_epi32(d, 16));
    return _mm256_blend_epi16(even, odd, 0xAA);
}

INLINE void product(form f, bool lost_one, const wg_mul_args *m)
{
    vec lowest = _mm256_set1_epi16((int16_t)(m->alu.lowest - m->alu.adjust)), adjust = _mm256_set1_epi16(m->alu.adjust);
    vec zero = _mm256_setzero_si256();
    for (unsigned half = 0; half < 2; half++) {
        vec ma[8];
        UNROLL
        for (unsigned k = 0; k < 8; k++)
            ma[k] = load(&m->a->mantissa[k][half * 16]);
        for (unsigned i = 0; i < m->rows; i++) {
            const int16_t *eb = m->b->exponent[i * m->b_step], *mb = m->b->mantissa[i * m->b_step];
            vec e[8], largest = lowest;
            UNROLL
            for (unsigned k = 0; k < 8; k++) {
                e[k] = _mm256_add_epi16(load(&m->a->exponent[k][half * 16]), pair_at(eb + 2 * k));
                largest = _mm256_max_epi16(largest, e[k]);
            }
            vec sum = zero;
            UNROLL
            for (unsigned k = 0; k < 8; k++) {
                vec p = _mm256_mulhi_epi16(ma[k], pair_at(mb + 2 * k));
                sum = _mm256_add_epi16(sum, _mm256_mulhrs_epi16(p, weight_of(_mm256_sub_epi16(largest, e[k]))));
            }
            largest = _mm256_add_epi16(largest, adjust);
            sum = _mm256_andnot_si256(_mm256_cmpeq_epi16(largest, zero), sum); /* nothing at exponent 0 */
            vec sum0 = _mm256_srai_epi32(_mm256_slli_epi32(sum, 16), 2),
                sum1 = _mm256_srai_epi32(and_(sum, -0x10000), 2);
            vec exp0 = and_(largest, 0xFFFF), exp1 = _mm256_srli_epi32(largest, 16);
            accumulate(f, lost_one, true, sum0, exp0, sum1, exp1, product_row(m, i, half * 8));
        }
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
    vec magnitude = _mm256_abs_epi32(value), sign = and_(_mm256_srli_epi32(value, 16), 0x8000);
    vec high = or_(and_(_mm256_srli_epi32(magnitude, 8), 0x7F00), and_(_mm256_srli_epi32(magnitude, 23), 0xFF));
    store16(hi, or_(high, sign));
    store16(lo, and_(magnitude, 0xFFFF));
}

INLINE void accumulate_int(vec value, dst_row d)
{
    vec h = load16(d.from_hi);
    vec dst = or_(_mm256_slli_epi32(and_(h, 0x7F00), 8), _mm256_slli_epi32(and_(h, 0xFF), 23));
    dst = negate_if(_mm256_srai_epi32(_mm256_slli_epi32(h, 16), 31), or_(dst, load16(d.from_lo)));
    vec sum = add(dst, value);
    vec wrong = _mm256_and_si256(_mm256_xor_si256(dst, sum), _mm256_xor_si256(value, sum));
    vec limit = _mm256_xor_si256(_mm256_srai_epi32(dst, 31), all(INT32_MAX));
    sum = select_(_mm256_srai_epi32(wrong, 31), limit, sum);
    store_int(d.hi, d.lo, _mm256_max_epi32(sum, all(-INT32_MAX)));
}

TARGET static void mul_int(const wg_mul_args *m)
{
    for (unsigned i = 0; i < m->rows; i++) {
        const int16_t *mb = m->b->mantissa[i * m->b_step];
        for (unsigned half = 0; half < 2; half++) {
            vec sum = _mm256_setzero_si256();
            UNROLL
            for (unsigned k = 0; k < 8; k++)
                sum = add(sum, _mm256_madd_epi16(load(&m->a->mantissa[k][half * 16]), pair_at(mb + 2 * k)));
            accumulate_int(sum, product_row(m, i, half * 8));
        }
    }
}

TARGET static void elw_int(const wg_elw_args *e)
{
    for (unsigned i = 0; i < 16; i++) { /* half rows */
        vec a = load(e->a + i * 8), b = load(e->b + i * 8);
        vec zero_a = is_zero(and_(a, 0xFF)), zero_b = e->flush ? is_zero(and_(b, 0xFF)) : _mm256_setzero_si256();
        vec result;
        if (e->op == WG_ELW_MUL) {
            result = _mm256_mullo_epi32(value_a(a, WG_STYLE_INT8, e->phase, zero_a),
                                        value_b(b, WG_STYLE_INT8, e->phase, zero_b));
        } else {
            vec x = _mm256_andnot_si256(zero_a, negate_if(sign_mask(a), integer(a, 0x3FF)));
            vec y = _mm256_andnot_si256(zero_b, negate_if(sign_mask(b), integer(b, 0x3FF)));
            result = e->op == WG_ELW_SUB ? sub(x, y) : add(x, y);
        }
        uint16_t *hi = &e->hi[i / 2][i % 2 * 8], *lo = &e->lo[i / 2][i % 2 * 8];
        if (e->accumulate)
            accumulate_int(result, in_place(hi, lo));
        else
            store_int(hi, lo, result);
    }
}

/* ---- Element by element ----------------------------------------------------------------------------- */

INLINE void elementwise(form f, bool lost_one, const wg_elw_args *e)
{
    vec zero = _mm256_setzero_si256();
    for (unsigned i = 0; i < 16; i++) { /* half rows */
        vec a = keep_style(load(e->a + i * 8), (wg_style)e->style),
            b = keep_style(load(e->b + i * 8), (wg_style)e->style_b);
        if (e->op == WG_ELW_SUB)
            b = _mm256_xor_si256(b, all(WG_SRC_SIGN));
        vec zero_a = is_zero(and_(a, 0xFF)), zero_b = e->flush ? is_zero(and_(b, 0xFF)) : zero;
        vec exp, sum;
        if (e->op == WG_ELW_MUL) {
            exp = add(add(and_(a, 0xFF), and_(b, 0xFF)), all(e->alu.adjust));
            sum = _mm256_slli_epi32(_mm256_mullo_epi32(mantissa_a(a, e->phase), mantissa_b(b, e->phase)), 14);
            sum = negate_if(sign_mask(_mm256_xor_si256(a, b)), sum);
            vec none = or_(or_(zero_a, zero_b), _mm256_cmpgt_epi32(all(1), exp));
            sum = _mm256_andnot_si256(none, sum);
            exp = select_(none, all(e->alu.lowest), exp);
        } else {
            vec x = or_(_mm256_slli_epi32(and_(a, 0xFF), 10), and_(_mm256_srli_epi32(a, 8), 0x3FF));
            vec y = or_(_mm256_slli_epi32(and_(b, 0xFF), 10), and_(_mm256_srli_epi32(b, 8), 0x3FF));
            x = _mm256_andnot_si256(zero_a, or_(x, and_(a, WG_SRC_SIGN)));
            y = _mm256_andnot_si256(zero_b, or_(y, and_(b, WG_SRC_SIGN)));
            vec swap = _mm256_cmpgt_epi32(and_(y, 0x3FFFF), and_(x, 0x3FFFF));
            vec p = select_(swap, y, x), q = select_(swap, x, y);
            exp = and_(_mm256_srli_epi32(p, 10), 0xFF);
            vec larger = _mm256_andnot_si256(is_zero(p), or_(and_(p, 0x3FF), all(0x400)));
            vec smaller = _mm256_andnot_si256(is_zero(q), or_(and_(q, 0x3FF), all(0x400)));
            smaller = align_unsigned(add(smaller, smaller), sub(exp, and_(_mm256_srli_epi32(q, 10), 0xFF)));
            smaller = negate_if(sign_mask(_mm256_xor_si256(p, q)), smaller);
            sum = negate_if(sign_mask(p), _mm256_slli_epi32(add(larger, smaller), 14));
            if (e->alu.wide && !e->alu.exp8)
                exp = select_(is_zero(exp), all(127 - 30), add(exp, all(127 - 15)));
            exp = sub(exp, all((e->phase & 1 ? 5 : 0) + (e->phase & 2 ? 7 : 0)));
        }
        accumulate(f, lost_one, false, sum, exp, zero, zero,
                   in_place(&e->hi[i / 2][i % 2 * 8], &e->lo[i / 2][i % 2 * 8]));
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

const wg_matrix_kernels wg_matrix_avx2 = {decode_a, decode_b, mul_float, mul_int, elw_float, elw_int};
#endif
