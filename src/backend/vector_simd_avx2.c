/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's kernels with AVX2; the same scheme as with AVX-512 (vector_simd_avx512.c), with the
 * rounding in integers, because AVX2's conversions obey MXCSR. Finding the leading bit does use a
 * conversion: of a value whose second bit is cleared, so that no rounding mode can carry it to the next
 * power of two.
 */
#include "backend/vector.h"

#include "num/fma.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define LANES_TARGET TARGET
#include "backend/vector_lanes.h"
#define ALL(v) _mm256_set1_epi32((int)(v))

TARGET static inline __m256i exponent(__m256i v) { return _mm256_srli_epi32(_mm256_slli_epi32(v, 1), 24); }
TARGET static inline __m256i mantissa(__m256i v)
{
    return _mm256_or_si256(_mm256_and_si256(v, ALL(0x7FFFFF)), ALL(0x800000));
}
TARGET static inline __m256i is_zero(__m256i v) { return _mm256_cmpeq_epi32(v, _mm256_setzero_si256()); }
/* bits of `no` where mask is clear, of `yes` where it is set (by the sign of each lane) */
TARGET static inline __m256i choose(__m256i mask, __m256i no, __m256i yes) { return _mm256_blendv_epi8(no, yes, mask); }

TARGET static inline __m256i products(__m256i x, __m256i y)
{
    __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(x, y), 20);
    __m256i odd = _mm256_slli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(y, 32)), 12);
    __m256i high = _mm256_blend_epi32(even, odd, 0xAA);
    __m256i exact = is_zero(_mm256_and_si256(_mm256_mullo_epi32(x, y), ALL(0xFFFFF)));
    return _mm256_or_si256(high, _mm256_andnot_si256(exact, ALL(1)));
}

/* Places by which to shift a nonzero value below 2^29 left so that its leading bit is bit 31. */
TARGET static inline __m256i leading_zeros(__m256i v)
{
    __m256i spaced = _mm256_andnot_si256(_mm256_srli_epi32(v, 1), v);
    __m256i e = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(spaced)), 23);
    return _mm256_sub_epi32(ALL(127 + 31), e);
}

TARGET static inline __attribute__((always_inline)) __m256i fma8(__m256i x, __m256i y, __m256i z, bool wh,
                                                                 __m256i *rare)
{
    const __m256i none = _mm256_setzero_si256(), one = ALL(1), signs = ALL(0x80000000);
    __m256i xe = exponent(x), ye = exponent(y), ze = exponent(z), sign_p = _mm256_xor_si256(x, y);
    __m256i z_zero = is_zero(ze);
    __m256i pm = products(mantissa(x), mantissa(y));
    __m256i zm = _mm256_andnot_si256(z_zero, _mm256_slli_epi32(mantissa(z), 3));
    __m256i pe = _mm256_sub_epi32(_mm256_add_epi32(xe, ye), ALL(127));
    __m256i no_product = _mm256_or_si256(is_zero(_mm256_min_epi32(xe, ye)), _mm256_cmpgt_epi32(none, pe));
    __m256i most = _mm256_max_epi32(_mm256_max_epi32(xe, ye), _mm256_max_epi32(ze, pe));
    __m256i special = _mm256_cmpgt_epi32(most, ALL(254));

    __m256i distance = _mm256_sub_epi32(pe, ze), z_above = _mm256_cmpgt_epi32(none, distance);
    __m256i big = choose(z_above, pm, zm), small = choose(z_above, zm, pm);
    __m256i sign_big = choose(z_above, sign_p, z);
    __m256i by = _mm256_abs_epi32(distance), kept = _mm256_srlv_epi32(small, by);
    __m256i whole = _mm256_or_si256(_mm256_cmpeq_epi32(_mm256_sllv_epi32(kept, by), small), is_zero(kept));
    kept = _mm256_or_si256(kept, _mm256_andnot_si256(whole, one));

    __m256i opposite = _mm256_srai_epi32(_mm256_xor_si256(sign_p, z), 31);
    __m256i sum = _mm256_add_epi32(big, _mm256_sub_epi32(_mm256_xor_si256(kept, opposite), opposite));
    __m256i magnitude = _mm256_abs_epi32(sum), cancelled = is_zero(sum);
    if (wh) {
        __m256i lost = _mm256_and_si256(_mm256_cmpgt_epi32(magnitude, ALL(0xFFFFFFF)), ALL(2));
        magnitude = _mm256_andnot_si256(lost, magnitude);
    }
    __m256i zeros = leading_zeros(magnitude), top = _mm256_sllv_epi32(magnitude, zeros);
    __m256i kept24 = _mm256_srli_epi32(top, 8);
    /* remainder + odd > half */
    __m256i up = _mm256_cmpgt_epi32(_mm256_add_epi32(_mm256_and_si256(top, ALL(0xFF)), _mm256_and_si256(kept24, one)),
                                    ALL(0x80));
    __m256i e = _mm256_sub_epi32(_mm256_add_epi32(_mm256_max_epi32(pe, ze), ALL(5)), zeros);
    __m256i bits = _mm256_add_epi32(_mm256_slli_epi32(_mm256_sub_epi32(e, one), 23), _mm256_sub_epi32(kept24, up));
    __m256i outside = _mm256_or_si256(_mm256_cmpgt_epi32(e, ALL(254)), _mm256_cmpgt_epi32(one, e));
    __m256i sign = _mm256_and_si256(_mm256_xor_si256(sign_big, sum), signs);
    bits = _mm256_andnot_si256(cancelled, _mm256_or_si256(bits, sign));

    __m256i zero = wh ? none : _mm256_and_si256(_mm256_and_si256(z, sign_p), signs);
    bits = choose(no_product, bits, choose(z_zero, z, zero));
    *rare = _mm256_or_si256(special, _mm256_andnot_si256(_mm256_or_si256(no_product, cancelled), outside));
    return bits;
}

TARGET static inline __attribute__((always_inline)) void fma_lanes(uint32_t *out, const uint32_t *a, const uint32_t *b,
                                                                   const uint32_t *c, uint32_t flip_b, uint32_t flip_c,
                                                                   bool wh)
{
    uint32_t rare = 0;
    for (unsigned i = 0; i < WG_LANES; i += 8) {
        __m256i some, x = _mm256_loadu_si256((const __m256i *)(a + i));
        __m256i y = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(b + i)), ALL(flip_b));
        __m256i z = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(c + i)), ALL(flip_c));
        _mm256_storeu_si256((__m256i *)(out + i), fma8(x, y, z, wh, &some));
        rare |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(some)) << i;
    }
    for (; __builtin_expect(rare != 0, 0); rare &= rare - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rare);
        out[lane] = (wh ? wg_fma_wh : wg_fma_bh)(a[lane], b[lane] ^ flip_b, c[lane] ^ flip_c);
    }
}

TARGET static void fma_bh(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b,
                          uint32_t flip_c)
{
    fma_lanes(out, a, b, c, flip_b, flip_c, false);
}

TARGET static void fma_wh(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b,
                          uint32_t flip_c)
{
    fma_lanes(out, a, b, c, flip_b, flip_c, true);
}

TARGET static void blend(uint32_t *to, const uint32_t *from, uint32_t lanes)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (unsigned i = 0; i < WG_LANES; i += 8) {
        __m256i mask = _mm256_cmpeq_epi32(_mm256_and_si256(ALL(lanes >> i), bit), bit);
        _mm256_maskstore_epi32((int *)(to + i), mask, _mm256_loadu_si256((const __m256i *)(from + i)));
    }
}

TARGET static inline __attribute__((always_inline)) void mad_lanes(const wg_mad_lanes *m, bool wh)
{
    uint32_t out[WG_LANES];
    for (unsigned i = 0; i < WG_LANES; i += 8)
        _mm256_storeu_si256((__m256i *)(m->old + i), _mm256_loadu_si256((const __m256i *)(m->d + i)));
    fma_lanes(out, m->a, m->b, m->c, m->flip_b, m->flip_c, wh);
    blend(m->d, out, m->lanes);
}
TARGET static void mad_bh(const wg_mad_lanes *m) { mad_lanes(m, false); }
TARGET static void mad_wh(const wg_mad_lanes *m) { mad_lanes(m, true); }

TARGET static void load(uint32_t *out, const wg_dst *d, const wg_lanes_move *m, const uint32_t *old)
{
    load_lanes(out, d, m, old);
}
TARGET static void store(wg_dst *d, const wg_lanes_move *m, const uint32_t *from) { store_lanes(d, m, from); }

const wg_vector_kernels wg_vector_kernels_avx2 = {.fma = {fma_bh, fma_wh},
                                                  .mul = {fma_bh, fma_wh},
                                                  .add = {fma_bh, fma_wh},
                                                  .mad = {mad_bh, mad_wh},
                                                  .blend = blend,
                                                  .load = load,
                                                  .store = store};
#endif
