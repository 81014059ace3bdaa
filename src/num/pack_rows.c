/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of 16 datums from Dst to L1's bytes, for the packers' inner loop: early and late conversion with nothing between them,
 * in vectors of 16 lanes by the compiler's vector extension, compiled for any host and for those with AVX2 and AVX-512.
 * pack_datums.h does the same for one datum.
 */
#include <string.h>

#include "num/pack_datums.h"
#include "num/rows16.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define WHERE(condition) ((words16)(condition)) /* per lane: all ones or all zeros */
#define CHOOSE(condition, yes, no) \
    ({ \
        words16 where_ = WHERE(condition); \
        (where_ & (yes)) | (~where_ & (no)); \
    })
#define SIGN UINT32_C(0x80000000)

#define INLINE static inline __attribute__((always_inline))
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define FN(name) PASTE(name, NAME)

/* Frequent routes have a separate loop, in which everything but the data is constant. */
#define KEY(early, mid, target, flush, format) ((early) << 16 | (mid) << 12 | (target) << 8 | (flush) << 4 | (format))
#define ROUTE(e, m, t, f, format) \
    case KEY(e, m, t, f, format): \
        FN(rows_out) \
        ( \
            (wg_pack_route){ \
                .early = e, .out_format = format, .shift = r->shift, .late = {.mid = m, .target = t, .flush = f}}, \
            rows, at); \
        return;
#define ROUTES \
    ROUTE(WG_EARLY_INT8, WG_MID_INT8, TO_INT8, 0, WG_FMT_INT8) \
    ROUTE(WG_EARLY_UINT8, WG_MID_INT8, TO_INT8, 0, WG_FMT_INT8) \
    ROUTE(WG_EARLY_BF16, WG_MID_F8, TO_BF16, 0, WG_FMT_BF16) \
    ROUTE(WG_EARLY_E8M6, WG_MID_F8, TO_BF16, 0, WG_FMT_BFP8) \
    ROUTE(WG_EARLY_E8M6, WG_MID_F8, TO_BF16, 0, WG_FMT_BFP4) \
    ROUTE(WG_EARLY_16_FP16_ROUND, WG_MID_F5, TO_FP16, 0, WG_FMT_FP16)

/*
 * Differences between hosts:
 *     LARGEST(v)      the largest of 16 lanes
 *     HALVED(m, n)    8-bit numbers halved n + 1 times (n up to 8), to nearest, ties away from zero
 *     PAIRS(…), PAIRS_32(…)  rows_bf16(), rows_32() for rows in pairs; returns how many were done
 */
#define LARGEST(v) largest_of(&(halves16[]){(v)}[0])
static inline uint16_t largest_of(const halves16 *v)
{
    uint16_t most = 0;
    for (unsigned i = 0; i < 16; i++)
        most = (*v)[i] > most ? (*v)[i] : most;
    return most;
}
#define HALVED(m, n) \
    ({ \
        words16 n_ = CONVERT(words16, (n)), m_ = CONVERT(words16, (m)); \
        CONVERT(halves16, (m_ + (((words16){0} + 1) << n_)) >> (n_ + 1)); \
    })
/* For any host, and with AVX2. */
#define PAIRS(rows, at, six, block_bits) 0
#define PAIRS_32(rows, at) 0
#define MIN(a, b) \
    ({ \
        words16 a_ = (a), b_ = (words16){0} + (b); \
        CHOOSE(a_ < b_, a_, b_); \
    })
#define MAX(a, b) \
    ({ \
        words16 c_ = (a), d_ = (b); \
        CHOOSE(c_ > d_, c_, d_); \
    })
#define MIN_HALVES(a, b) \
    ({ \
        halves16 a_ = (a), b_ = (b), w_ = (halves16)(a_ < b_); \
        (a_ & w_) | (b_ & ~w_); \
    })
#define MAX_HALVES(a, b) \
    ({ \
        halves16 c_ = (a), d_ = (b), w_ = (halves16)(c_ > d_); \
        (c_ & w_) | (d_ & ~w_); \
    })
#define NAME base
#define TARGET
#include "num/pack_rows_body.h"
#undef NAME
#undef TARGET
#if defined(__x86_64__)
#undef MIN_HALVES
#undef MAX_HALVES
#define MIN_HALVES(a, b) ((halves16)_mm256_min_epu16((__m256i)(a), (__m256i)(b)))
#define MAX_HALVES(a, b) ((halves16)_mm256_max_epu16((__m256i)(a), (__m256i)(b)))
#undef LARGEST
#define LARGEST(v) \
    ({ \
        __m256i l_ = (__m256i)(v); \
        __m128i m_ = _mm_max_epu16(_mm256_castsi256_si128(l_), _mm256_extracti128_si256(l_, 1)); \
        (uint16_t) ~_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(m_, _mm_set1_epi16(-1))), 0); \
    })
#define NAME avx2
#define TARGET __attribute__((target("avx2")))
#include "num/pack_rows_body.h"
#undef NAME
#undef TARGET
#undef MIN
#undef MAX
#define MIN(a, b) ((words16)_mm512_min_epu32((__m512i)(a), (__m512i)((words16){0} + (b))))
#define MAX(a, b) ((words16)_mm512_max_epu32((__m512i)(a), (__m512i)(b)))
#undef HALVED
/* mulhrs: (m * 2^(14 - n) + 2^14) / 2^15 */
#define HALVED(m, n) \
    ((halves16)_mm256_mulhrs_epi16((__m256i)(m), _mm256_srlv_epi16(_mm256_set1_epi16(0x4000), (__m256i)(n))))
#define NAME avx512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

/*
 * As rows_bf16() and block(), two rows in a vector of 32. For a number eight places or more below the largest one, mulhrs()
 * gives 0.
 */
typedef uint16_t halves32 __attribute__((vector_size(64)));
#define BOTH(from) /* two rows that are not adjacent */ \
    _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(from)[row])), \
                       _mm256_loadu_si256((const __m256i *)(from)[row + 1]), 1)
INLINE TARGET unsigned pairs_avx512(unsigned rows, wg_pack_rows *at, bool six, unsigned bits)
{
    uint8_t *data = at->data;
    __m512i most = _mm512_setzero_si512();
    unsigned row = 0;
#define ALL(value) _mm512_set1_epi16(value)
#define SHIFTED(value, places) ((__m512i)((halves32)(value) >> (places)))
    for (; row + 2 <= rows; row += 2) {
        __m512i h = at->fours ? _mm512_loadu_si512(wg_pack_high(at, row)) : BOTH(at->high);
        __m512i x = _mm512_or_si512(_mm512_slli_epi16(_mm512_and_si512(h, ALL(0xFF)), 7),
                                    _mm512_and_si512(_mm512_srli_epi16(h, 8), ALL(0x7F)));
        __mmask32 some = _mm512_cmpgt_epu16_mask(x, ALL(0x7F)), left;
        x = _mm512_maskz_min_epu16(some, x, ALL(0x7F80));
        if (six)
            x = _mm512_and_si512(_mm512_add_epi16(x, ALL(1)), ALL(-2));
        most = _mm512_max_epu16(most, x);
        if (!bits) {
            x = _mm512_or_si512(x, _mm512_and_si512(h, ALL((short)0x8000)));
            _mm512_storeu_si512(data + 32 * row, _mm512_maskz_mov_epi16(some, x));
            continue;
        }
        __m512i exponent = _mm512_srli_epi16(x, 7), shared = exponent; /* of each row, in all its lanes */
        shared = _mm512_max_epu16(shared, _mm512_shuffle_i64x2(shared, shared, 0xB1));
        shared = _mm512_max_epu16(shared, _mm512_shuffle_epi32(shared, 0x4E));
        shared = _mm512_max_epu16(shared, _mm512_shuffle_epi32(shared, 0xB1));
        shared = _mm512_max_epu16(shared, _mm512_rol_epi32(shared, 16));
        at->exponents[row] = (uint8_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(shared));
        at->exponents[row + 1] = (uint8_t)_mm_cvtsi128_si32(_mm512_extracti64x2_epi64(shared, 2));
        __m512i magnitude = _mm512_or_si512(_mm512_and_si512(x, ALL(127)), ALL(128));
        magnitude = _mm512_maskz_mov_epi16(some, magnitude);
        magnitude = _mm512_mulhrs_epi16(magnitude, _mm512_srlv_epi16(ALL(0x4000), _mm512_sub_epi16(shared, exponent)));
        magnitude = SHIFTED(_mm512_min_epu16(magnitude, ALL(127)), 8 - bits);
        left = _mm512_test_epi16_mask(magnitude, magnitude);
        __m512i sign = SHIFTED(_mm512_and_si512(h, ALL((short)0x8000)), 16 - bits);
        x = _mm512_maskz_mov_epi16(left, _mm512_or_si512(sign, magnitude));
        if (bits == 8) {
            _mm256_storeu_si256((__m256i *)(data + 16 * row), _mm512_cvtepi16_epi8(x));
        } else {
            x = _mm512_or_si512(x, _mm512_srli_epi32(x, 12)); /* neighbours in the lowest byte of each 32 bits */
            _mm_storeu_si128((__m128i *)(data + 8 * row), _mm512_cvtepi32_epi8(x));
        }
    }
#undef ALL
#undef SHIFTED
    __m256i both = _mm256_max_epu16(_mm512_castsi512_si256(most), _mm512_extracti64x4_epi64(most, 1));
    halves16 lanes = LOAD(halves16, at->lanes);
    STORE(at->lanes, MAX_HALVES(lanes, (halves16)_mm256_srli_epi16(both, 7)));
    return row;
}
/* As rows_32(): halves of two rows are reordered together, and then joined per row. */
INLINE TARGET void pair_32_avx512(__m512i h, __m512i l, __m512i *most, uint8_t *data)
{
    enum { CHOICE = 0xCA }; /* a ? b : c */
    static const uint16_t order[2][32] = {{0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                                           8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47},
                                          {16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
                                           24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63}};
    __m512i exponent = _mm512_and_si512(h, _mm512_set1_epi16(0xFF)), mantissa = _mm512_srli_epi16(h, 8);
    *most = _mm512_max_epu16(*most, exponent);
    __m512i x = _mm512_ternarylogic_epi32(_mm512_set1_epi16(0x7F), mantissa, _mm512_slli_epi16(exponent, 7), CHOICE);
    x = _mm512_ternarylogic_epi32(_mm512_set1_epi16((short)0x8000), h, x, CHOICE);
    _mm512_storeu_si512(data, _mm512_permutex2var_epi16(l, _mm512_loadu_si512(order[0]), x));
    _mm512_storeu_si512(data + 64, _mm512_permutex2var_epi16(l, _mm512_loadu_si512(order[1]), x));
}
INLINE TARGET unsigned pairs_32_avx512(unsigned rows, wg_pack_rows *at)
{
    __m512i most = _mm512_setzero_si512();
    uint8_t *data = at->data;
    unsigned row = 0;
    if (at->fours)
        for (; row < rows; row += 4, data += 256) {
            const uint16_t *high = at->high[row], *low = at->low[row];
            pair_32_avx512(_mm512_loadu_si512(high), _mm512_loadu_si512(low), &most, data);
            pair_32_avx512(_mm512_loadu_si512(high + 32), _mm512_loadu_si512(low + 32), &most, data + 128);
        }
    for (; row + 2 <= rows; row += 2, data += 128)
        pair_32_avx512(BOTH(at->high), BOTH(at->low), &most, data);
#undef BOTH
    halves16 lanes = LOAD(halves16, at->lanes);
    __m256i both = _mm256_max_epu16(_mm512_castsi512_si256(most), _mm512_extracti64x4_epi64(most, 1));
    STORE(at->lanes, MAX_HALVES(lanes, (halves16)both));
    return row;
}
#undef PAIRS
#undef PAIRS_32
#define PAIRS(rows, at, six, block_bits) pairs_avx512(rows, at, six, block_bits)
#define PAIRS_32(rows, at) pairs_32_avx512(rows, at)
#include "num/pack_rows_body.h"
#endif

const uint16_t wg_pack_zeros[64];

void wg_pack_rows_out(wg_simd level, const wg_pack_route *r, unsigned rows, wg_pack_rows *at)
{
#if defined(__x86_64__)
    if (level >= WG_SIMD_AVX512) {
        rows_avx512(r, rows, at);
        return;
    }
    if (level == WG_SIMD_AVX2) {
        rows_avx2(r, rows, at);
        return;
    }
#endif
    (void)level;
    rows_base(r, rows, at);
}
