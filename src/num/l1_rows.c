/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L1 formats, 16 datums at a time, for the unpackers' inner loops: integer vectors of 16 lanes by the compiler's vector
 * extension, compiled for any host and for those with AVX2 and AVX-512.
 *
 * BFP magnitudes are normalised without a table here: the host converts seven bits to a float, which is exact in all its
 * modes and gives the leading bit's position in the exponent. The tables of l1_formats.c do the same for one datum.
 */
#include <string.h>

#include "num/l1_formats.h"
#include "num/rows16.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float floats16 __attribute__((vector_size(64)));
#define NONZERO(value) ((halves16)((value) != 0)) /* per lane: all ones or all zeros */

/* ---- 16 datums to 16 intermediate bits each----------------------------------------------------------------- */

/* Four, or two, bits per datum spread to bytes, at the top of each. */
INLINE void spread4(const uint8_t *bytes, bytes16 *to)
{
    uint64_t x = LOAD(uint64_t, bytes);
    bytes16 high = (bytes16)(uint64_t __attribute__((vector_size(16)))){x & UINT64_C(0xF0F0F0F0F0F0F0F0)};
    bytes16 low = (bytes16)(uint64_t __attribute__((vector_size(16)))){x << 4 & UINT64_C(0xF0F0F0F0F0F0F0F0)};
    *to = __builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
INLINE void spread2(const uint8_t *bytes, bytes16 *to)
{
    uint64_t half[2];
    for (unsigned i = 0; i < 2; i++) {
        uint64_t x = LOAD(uint16_t, bytes + 2 * i);
        x = (x | x << 24) & UINT64_C(0x000000FF000000FF);
        x = (x | x << 12) & UINT64_C(0x000F000F000F000F);
        half[i] = ((x | x << 6) & UINT64_C(0x0303030303030303)) << 6;
    }
    *to = (bytes16)(uint64_t __attribute__((vector_size(16)))){half[0], half[1]};
}

/*
 * A sign, seven bits of magnitude (the highest has the value 1) and an exponent, in parts: the mantissa at the top of
 * 23 bits, and the exponent. A zero has neither, but all ones for its exponent if it is negative.
 */
typedef struct parts {
    words16 negative, mantissa, exponent;
} parts;
INLINE void bfp(const bytes16 *datums, uint8_t exponent, unsigned exponent_mask, parts *to)
{
    words16 x = CONVERT(words16, CONVERT(halves16, *datums)), magnitude = x & 127, some = (words16)(magnitude != 0);
    words16 number = (words16)CONVERT(floats16, (signed16)magnitude);
    to->negative = x >> 7;
    to->mantissa = number & 0x7FFFFF;
    to->exponent = ((((number >> 23) + (exponent - 133u)) & some) | ((0 - to->negative) & ~some)) & exponent_mask;
}

/* The "a" formats have five bits of exponent. */
INLINE unsigned exponent_mask_of(wg_l1_reading reading) { return reading >= WG_READ_BFP8A ? 0x1F : 0xFF; }
INLINE void bfp_row(wg_l1_reading reading, const uint8_t *from, uint8_t exponent, parts *to)
{
    bytes16 narrow;
    if (reading == WG_READ_BFP8 || reading == WG_READ_BFP8A)
        narrow = LOAD(bytes16, from);
    else if (reading == WG_READ_BFP4 || reading == WG_READ_BFP4A)
        spread4(from, &narrow);
    else
        spread2(from, &narrow);
    bfp(&narrow, exponent, exponent_mask_of(reading), to);
}

INLINE void on_the_way(wg_l1_reading reading, const uint8_t *from, uint8_t exponent, halves16 *to)
{
    words16 wide;
    halves16 x;
    parts p;
    switch (reading) {
    case WG_READ_FP32_BF16:
        wide = LOAD(words16, from);
        *to = CONVERT(halves16, wide >> 16 & (((words16)((wide & 0x7F800000) != 0) & 0xFFFF) | 0x8000));
        break;
    case WG_READ_FP32_FP16: {
        wide = LOAD(words16, from);
        words16 magnitude = wide & 0x7FFFFFFF, result = (magnitude - (UINT32_C(112) << 23)) >> 13;
        result &= (words16)(magnitude >= UINT32_C(112) << 23);
        result |= (words16)(magnitude >= UINT32_C(144) << 23);
        *to = CONVERT(halves16, (wide >> 16 & 0x8000) | (result & 0x7FFF));
        break;
    }
    case WG_READ_E5M2: *to = CONVERT(halves16, LOAD(bytes16, from)) << 8; break;
    case WG_READ_E5M2_TOP:
        x = CONVERT(halves16, LOAD(bytes16, from));
        *to = x << 8 | (~NONZERO((x & 127) ^ 127) & 0xFF);
        break;
    case WG_READ_E4M3:
        x = CONVERT(halves16, LOAD(bytes16, from));
        *to = ((x & 128) << 8 | (x & 127) << 7) + (NONZERO(x & 0x78) & 8 << 10) + (~NONZERO((x & 127) ^ 127) & 127);
        break;
    case WG_READ_INT8:
        x = CONVERT(halves16, LOAD(bytes16, from));
        *to = (x & 128) << 8 | (x & 127) | (NONZERO(x & 127) & 0x4000);
        break;
    case WG_READ_UINT8:
        x = CONVERT(halves16, LOAD(bytes16, from));
        *to = x | (NONZERO(x) & 0x4000);
        break;
    case WG_READ_BFP8:
    case WG_READ_BFP4:
    case WG_READ_BFP2:
        bfp_row(reading, from, exponent, &p);
        *to = CONVERT(halves16, p.negative << 15 | p.exponent << 7 | p.mantissa >> 16);
        break;
    case WG_READ_BFP8A:
    case WG_READ_BFP4A:
    case WG_READ_BFP2A:
        bfp_row(reading, from, exponent, &p);
        *to = CONVERT(halves16, p.negative << 15 | p.exponent << 10 | p.mantissa >> 13);
        break;
    default: *to = LOAD(halves16, from); break;
    }
}

/* ---- To the registers' layouts ------------------------------------------------------------------------------ */

INLINE void to_src(wg_l1_layout layout, const halves16 *from, uint32_t to[16])
{
    words16 x = CONVERT(words16, *from);
    if (layout == WG_LAYOUT_BF16)
        STORE(to, (x & 0x8000) << 3 | (x & 0x7F) << 11 | (x >> 7 & 0xFF));
    else if (layout == WG_LAYOUT_FP16)
        STORE(to, (x & 0x8000) << 3 | (x & 0x3FF) << 8 | (x >> 10 & 0x1F));
    else
        STORE(to, (x & 0xFF00) << 3 | (x & 0xFF));
}

INLINE void to_dst(wg_l1_layout layout, const halves16 *from, uint16_t to[16])
{
    halves16 x = *from;
    if (layout == WG_LAYOUT_BF16)
        STORE(to, (x & 0x8000) | (x & 0x7F) << 8 | (x >> 7 & 0xFF));
    else if (layout == WG_LAYOUT_FP16)
        STORE(to, (x & 0x8000) | (x & 0x3FF) << 5 | (x >> 10 & 0x1F));
    else
        STORE(to, x);
}

INLINE void rows_to_src(wg_l1_reading reading, wg_l1_layout layout, unsigned row_bytes, const uint8_t *bytes,
                        const uint8_t *exponents, unsigned rows, uint32_t (*to)[16])
{
    for (unsigned row = 0; row < rows; row++) {
        const uint8_t *from = bytes + row * row_bytes;
        if (reading == WG_READ_32) {
            words16 x = LOAD(words16, from);
            STORE(to[row], (x >> 13 & 0x40000) | (x >> 5 & 0x3FF00) | (x >> 23 & 0xFF));
        } else if (reading >= WG_READ_BFP8) { /* in both cases the mantissa ends at bit 17 */
            parts p;
            bfp_row(reading, from, exponents[row], &p);
            STORE(to[row], p.negative << 18 | p.mantissa >> 5 | p.exponent);
        } else {
            halves16 way;
            on_the_way(reading, from, 0, &way);
            to_src(layout, &way, to[row]);
        }
    }
}

/* One loop per reading, with the differences as constants. */
#define CASE(reading, layout, row_bytes) \
    case reading: rows_to_src(reading, layout, row_bytes, bytes, exponents, rows, to); break;
/* clang-format off */
#define ALL_READINGS                                                                                              \
    CASE(WG_READ_32, WG_LAYOUT_OPAQUE, 64) CASE(WG_READ_FP32_BF16, WG_LAYOUT_BF16, 64)                            \
    CASE(WG_READ_FP32_FP16, WG_LAYOUT_FP16, 64) CASE(WG_READ_BF16, WG_LAYOUT_BF16, 32)                            \
    CASE(WG_READ_FP16, WG_LAYOUT_FP16, 32) CASE(WG_READ_INT16, WG_LAYOUT_OPAQUE, 32)                              \
    CASE(WG_READ_E5M2, WG_LAYOUT_FP16, 16) CASE(WG_READ_E5M2_TOP, WG_LAYOUT_FP16, 16)                             \
    CASE(WG_READ_E4M3, WG_LAYOUT_FP16, 16) CASE(WG_READ_INT8, WG_LAYOUT_FP16, 16)                                 \
    CASE(WG_READ_UINT8, WG_LAYOUT_FP16, 16) CASE(WG_READ_BFP8, WG_LAYOUT_BF16, 16)                                \
    CASE(WG_READ_BFP4, WG_LAYOUT_BF16, 8) CASE(WG_READ_BFP2, WG_LAYOUT_BF16, 4)                                   \
    CASE(WG_READ_BFP8A, WG_LAYOUT_FP16, 16) CASE(WG_READ_BFP4A, WG_LAYOUT_FP16, 8)                                \
    CASE(WG_READ_BFP2A, WG_LAYOUT_FP16, 4)
/* clang-format on */

INLINE void row_to_dst16(wg_l1_reading reading, const uint8_t *bytes, uint8_t exponent, uint16_t to[16])
{
    halves16 way;
    on_the_way(reading, bytes, exponent, &way);
    switch (wg_l1_layout_of(reading)) {
    case WG_LAYOUT_BF16: to_dst(WG_LAYOUT_BF16, &way, to); break;
    case WG_LAYOUT_FP16: to_dst(WG_LAYOUT_FP16, &way, to); break;
    default: STORE(to, way); break;
    }
}

INLINE void row_to_dst32(const uint8_t *bytes, uint16_t high[16], uint16_t low[16])
{
    words16 x = LOAD(words16, bytes);
    halves16 top = CONVERT(halves16, x >> 16);
    to_dst(WG_LAYOUT_BF16, &top, high);
    STORE(low, CONVERT(halves16, x));
}

/* ---- Once for any host, and for hosts with wider vectors ---------------------------------------------------- */

#define VARIANT(name, attributes) \
    attributes static void src_##name(wg_l1_reading reading, const uint8_t *bytes, const uint8_t *exponents, \
                                      unsigned rows, uint32_t(*to)[16]) \
    { \
        switch (reading) { \
            ALL_READINGS \
        default: break; \
        } \
    } \
    attributes static void dst16_##name(wg_l1_reading reading, const uint8_t *bytes, uint8_t exponent, \
                                        uint16_t to[16]) \
    { \
        row_to_dst16(reading, bytes, exponent, to); \
    } \
    attributes static void dst32_##name(const uint8_t *bytes, uint16_t high[16], uint16_t low[16]) \
    { \
        row_to_dst32(bytes, high, low); \
    }

VARIANT(base, )
#if defined(__x86_64__)
VARIANT(avx2, __attribute__((target("avx2"))))
VARIANT(avx512, __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))))
#define CHOOSE(level, function, ...) \
    do { \
        if ((level) >= WG_SIMD_AVX512) \
            function##_avx512(__VA_ARGS__); \
        else if ((level) == WG_SIMD_AVX2) \
            function##_avx2(__VA_ARGS__); \
        else \
            function##_base(__VA_ARGS__); \
    } while (0)
#else
#define CHOOSE(level, function, ...) ((void)(level), function##_base(__VA_ARGS__))
#endif

#if defined(__x86_64__)
/* The most frequent one: each part of a BF16 is shifted to its position and masked. */
__attribute__((target("avx512f"))) INLINE void bf16_row_avx512(const uint8_t *bytes, uint32_t to[16])
{
    enum { BOTH_OR = 0xEA }; /* a & b | c */
    const __m512i sign = _mm512_set1_epi32(0x40000), mantissa = _mm512_set1_epi32(0x3F800);
    const __m512i exponent = _mm512_set1_epi32(0xFF);
    __m512i x = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)bytes));
    __m512i y = _mm512_and_si512(_mm512_slli_epi32(x, 11), mantissa);
    y = _mm512_ternarylogic_epi32(_mm512_slli_epi32(x, 3), sign, y, BOTH_OR);
    _mm512_storeu_si512(to, _mm512_ternarylogic_epi32(_mm512_srli_epi32(x, 7), exponent, y, BOTH_OR));
}
__attribute__((target("avx512f"))) static void bf16_to_src_avx512(const uint8_t *bytes, unsigned rows,
                                                                  uint32_t (*to)[16])
{
    unsigned row = 0;
    for (; row + 4 <= rows; row += 4)
        for (unsigned i = 0; i < 4; i++)
            bf16_row_avx512(bytes + 32 * (row + i), to[row + i]);
    for (; row < rows; row++)
        bf16_row_avx512(bytes + 32 * row, to[row]);
}
#endif

void wg_l1_rows_to_src(wg_simd level, wg_l1_reading reading, const uint8_t *bytes, const uint8_t *exponents,
                       unsigned rows, uint32_t (*to)[16])
{
#if defined(__x86_64__)
    if (level >= WG_SIMD_AVX512 && reading == WG_READ_BF16) {
        bf16_to_src_avx512(bytes, rows, to);
        return;
    }
#endif
    CHOOSE(level, src, reading, bytes, exponents, rows, to);
}

void wg_l1_row_to_dst16(wg_simd level, wg_l1_reading reading, const uint8_t *bytes, uint8_t exponent, uint16_t to[16])
{
    CHOOSE(level, dst16, reading, bytes, exponent, to);
}

void wg_l1_row_to_dst32(wg_simd level, const uint8_t *bytes, uint16_t high[16], uint16_t low[16])
{
    CHOOSE(level, dst32, bytes, high, low);
}
