/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packers' conversions of one datum, for the loops of pack_formats.c and pack_rows.c: small enough to be compiled
 * into each of them. Rounding is to nearest, ties away from zero; it flushes denormals after the carry, makes -0 a +0
 * and a NaN an infinity (ttsim: a denormal that rounds up to a normal number is kept).
 */
#ifndef WG_PACK_DATUMS_H
#define WG_PACK_DATUMS_H

#include "num/l1_formats.h"
#include "num/pack_formats.h"

#define WG_INLINE static inline __attribute__((always_inline))

/* ---- Early --------------------------------------------------------------------------------------------------- */

/* An FP32 rounded by `drop` mantissa bits; the dropped ones become 0. */
WG_INLINE uint32_t round_f8(uint32_t x, unsigned drop)
{
    uint32_t magnitude = x & 0x7FFFFFFF;
    magnitude = magnitude > 0x7F800000 ? 0x7F800000 : magnitude;
    magnitude = ((magnitude >> (drop - 1)) + 1) >> 1 << drop;
    return magnitude < 0x00800000 ? 0 : (x & 0x80000000) | magnitude;
}

/* A BF16 as the upper half of an FP32, from the stored layout. */
WG_INLINE uint32_t stored_bf16(uint16_t x) { return (uint32_t)wg_dst16_to_bf16(x) << 16; }
WG_INLINE uint32_t round_bf16(uint32_t x)
{
    uint32_t magnitude = x & 0x7FFFFFFF;
    magnitude = magnitude > 0x7F800000 ? 0x7F800000 : magnitude;
    return magnitude < 0x00800000 ? 0 : (x & 0x80000000) | magnitude;
}

WG_INLINE uint32_t round_e5m6(uint32_t x)
{
    uint32_t magnitude = x & 0x7FFF;
    magnitude = (magnitude > 0x7FF7 ? 0x7FF0 : magnitude + 8) & 0x7FF0;
    return magnitude < 0x400 ? 0 : (x & 0x8000) | magnitude;
}

/* Sign and magnitude, `shift` places to the right, rounded and saturated. */
WG_INLINE uint32_t descale(uint32_t x, unsigned shift, bool is_unsigned)
{
    uint32_t magnitude = wg_round_away(x & 0x7FFFFFFF, shift & 31), limit = is_unsigned ? 255 : 127;
    magnitude = magnitude > limit ? limit : magnitude;
    if (is_unsigned)
        return x >> 31 ? 0 : magnitude;
    return x >> 31 << 7 | magnitude;
}

WG_INLINE uint32_t early_one(wg_pack_early early, unsigned shift, uint16_t high, uint16_t low)
{
    uint32_t x = (uint32_t)wg_dst16_to_bf16(high) << 16 | low, half;
    switch (early) {
    case WG_EARLY_32:
    case WG_EARLY_INT32: return x;
    case WG_EARLY_TF32: return round_f8(x, 13);
    case WG_EARLY_BF16: return round_f8(x, 16);
    case WG_EARLY_BF16_TRUNCATE: return x & 0xFFFF0000;
    case WG_EARLY_E8M6: return round_f8(x, 17);
    case WG_EARLY_INT8: return descale(x, shift, false);
    case WG_EARLY_UINT8: return descale(x, shift, true);
    case WG_EARLY_INT8_RAW: return x >> 31 << 7 | (x & 127);
    case WG_EARLY_UINT8_RAW: return x & 255;
    case WG_EARLY_HIGH:
    case WG_EARLY_16_INT16: return high;
    case WG_EARLY_16_BF16: return stored_bf16(high);
    case WG_EARLY_16_BF16_ROUND: return round_bf16(stored_bf16(high));
    case WG_EARLY_16_E8M6: /* ttsim: denormals are flushed before rounding */
        half = round_bf16(stored_bf16(high));
        return (half + 0x10000) & 0xFFFE0000;
    case WG_EARLY_16_FP16: return wg_dst16_to_fp16(high);
    case WG_EARLY_16_FP16_ROUND: half = wg_dst16_to_fp16(high); return (half & 0x7FFF) < 0x400 ? 0 : half;
    case WG_EARLY_16_E5M7: return wg_dst16_to_fp16(high) & 0xFFF8u;
    case WG_EARLY_16_E5M6: return round_e5m6(wg_dst16_to_fp16(high));
    case WG_EARLY_16_FP8: return wg_dst16_to_fp16(high) & 0xFF00u;
    case WG_EARLY_16_BF16_FP16: return wg_fp32_to_fp16_truncate(stored_bf16(high));
    case WG_EARLY_16_SIGN: return (uint32_t)high >> 15 << 7;
    case WG_EARLY_COUNT: break;
    }
    return 0;
}

/* ---- Late ---------------------------------------------------------------------------------------------------- */

/* wg_pack_late.target */
enum { TO_32, TO_TF32, TO_BF16, TO_FP16, TO_E5M2, TO_E4M3, TO_E5M7, TO_INT32, TO_INT16, TO_INT8 };

/* Five exponent bits to eight. ttsim: an exponent of 0 stays 0, with its mantissa. */
WG_INLINE uint32_t widen(uint32_t x)
{
    uint32_t magnitude = x & 0x7FFF;
    return (x & 0x8000) << 16 | (magnitude + (magnitude >= 0x400 ? UINT32_C(112) << 10 : 0)) << 13;
}

WG_INLINE uint32_t e4m3(uint32_t half)
{
    uint32_t sign = half >> 8 & 128, exponent = half >> 10 & 31;
    if (exponent <= 8)
        return sign;
    return exponent >= 24 ? sign | 127 : sign | (exponent - 8) << 3 | (half >> 7 & 7);
}

WG_INLINE uint32_t late_one(unsigned mid, unsigned target, bool flush, uint32_t x)
{
    if (mid > WG_MID_F5 || target >= TO_INT32)
        return x;
    if (mid == WG_MID_F8) {
        switch (target) {
        case TO_32: return x;
        case TO_TF32: return x & 0xFFFFE000;
        case TO_BF16: return flush && !(x & 0x7F800000) ? 0 : x >> 16;
        case TO_FP16: return wg_fp32_to_fp16_truncate(x);
        case TO_E5M2: return wg_fp32_to_fp16_truncate(x) >> 8;
        case TO_E4M3: return e4m3(wg_fp32_to_fp16_truncate(x));
        default: return wg_fp32_to_fp16_truncate(x) >> 3;
        }
    }
    bool denormal = !(x & 0x7C00);
    switch (target) {
    case TO_32:
    case TO_TF32: return widen(x);
    case TO_BF16: return denormal ? 0 : widen(x) >> 16; /* ttsim, whatever the mantissa's width */
    case TO_FP16: return x;
    case TO_E5M2: return flush && denormal ? x >> 8 & 128 : x >> 8;
    case TO_E4M3: return e4m3(x);
    default: return flush && denormal ? 0 : x >> 3;
    }
}

#endif
