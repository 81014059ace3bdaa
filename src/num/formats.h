/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit layouts of datums in SrcA, SrcB and Dst, and the conversions between them.
 *
 *   Src, 19 bits      18   17 ........ 8   7 ........ 0
 *     TF32, BF16      sign   mantissa 10     exponent 8       BF16: low three mantissa bits 0
 *     FP16            sign   mantissa 10    000  exponent 5
 *     INT8            sign  magnitude 10    000  exponent 5   the exponent is 16, or 0 for a zero
 *   Dst, 16 bits      15   14 ..... 8   7 ..... 0
 *     BF16            sign  mantissa 7   exponent 8
 *     FP16, INT8      sign  mantissa 10      exponent 5
 *   Dst, 32 bits      31   30 .... 24   23 .... 16   15 ........ 0
 *     FP32            sign  mantissa hi  exponent 8   mantissa lo
 *     INT32           sign  magnitude    magnitude    magnitude      as the bits of an FP32
 *                           [22:16]      [30:23]      [15:0]
 *
 * "CPU order" below is sign, exponent, mantissa from the top, as in IEEE 754.
 * Facts: SrcASrcB.md, Dst.md, MOVA2D.md, MOVD2A.md, FloatBitPatterns.md.
 */
#ifndef WG_FORMATS_H
#define WG_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

/* The 4-bit codes of ALU_FORMAT_SPEC and of the unpackers' and packers' configuration. */
typedef enum wg_format {
    WG_FMT_FP32 = 0,
    WG_FMT_FP16 = 1,
    WG_FMT_BFP8A = 2,
    WG_FMT_BFP4A = 3,
    WG_FMT_TF32 = 4,
    WG_FMT_BF16 = 5,
    WG_FMT_BFP8 = 6,
    WG_FMT_BFP4 = 7,
    WG_FMT_INT32 = 8,
    WG_FMT_INT16 = 9,
    WG_FMT_FP8 = 10,
    WG_FMT_BFP2A = 11,
    WG_FMT_INT8 = 14,
    WG_FMT_BFP2 = 15
} wg_format;

/* How the Matrix Unit interprets a source datum. */
typedef enum wg_style { WG_STYLE_BF16, WG_STYLE_FP16, WG_STYLE_TF32, WG_STYLE_INT8 } wg_style;

/* The style a format code selects (never INT8: that is a mode of the unit). */
wg_style wg_format_style(unsigned format);
/* False for codes that no document defines. */
bool wg_format_known(unsigned format);

enum { WG_SRC_MASK = 0x7FFFF, WG_SRC_SIGN = 0x40000 };

/* Src datum <-> 19 bits in CPU order: sign, exponent 8, mantissa 10 (an FP16's exponent is in the low five). */
static inline uint32_t wg_src_to_cpu19(uint32_t x) { return (x & WG_SRC_SIGN) | (x & 0xFF) << 10 | (x >> 8 & 0x3FF); }
static inline uint32_t wg_src_from_cpu19(uint32_t x) { return (x & WG_SRC_SIGN) | (x & 0x3FF) << 8 | (x >> 10 & 0xFF); }
/* FP32 in CPU order <-> TF32 in Src: the low 13 bits are dropped. */
static inline uint32_t wg_src_from_fp32(uint32_t x) { return wg_src_from_cpu19(x >> 13); }
static inline uint32_t wg_src_to_fp32(uint32_t x) { return wg_src_to_cpu19(x) << 13; }
static inline uint32_t wg_src_from_bf16(uint16_t x) { return wg_src_from_fp32((uint32_t)x << 16); }
static inline uint32_t wg_src_from_fp16(uint16_t x)
{
    return (uint32_t)(x & 0x8000) << 3 | (uint32_t)(x & 0x3FF) << 8 | (x >> 10 & 0x1F);
}

/* Dst 16-bit layouts <-> CPU order. */
static inline uint16_t wg_dst16_from_bf16(uint16_t x)
{
    return (uint16_t)((x & 0x8000) | (x & 0x7F) << 8 | (x >> 7 & 0xFF));
}
static inline uint16_t wg_dst16_to_bf16(uint16_t x)
{
    return (uint16_t)((x & 0x8000) | (x & 0xFF) << 7 | (x >> 8 & 0x7F));
}
static inline uint16_t wg_dst16_from_fp16(uint16_t x)
{
    return (uint16_t)((x & 0x8000) | (x & 0x3FF) << 5 | (x >> 10 & 0x1F));
}
static inline uint16_t wg_dst16_to_fp16(uint16_t x)
{
    return (uint16_t)((x & 0x8000) | (x & 0x1F) << 10 | (x >> 5 & 0x3FF));
}

/* Dst 32-bit layout <-> CPU order: FP32, and likewise the sign and magnitude of an INT32. */
static inline uint32_t wg_dst32_from_fp32(uint32_t x)
{
    return (uint32_t)wg_dst16_from_bf16((uint16_t)(x >> 16)) << 16 | (x & 0xFFFF);
}
static inline uint32_t wg_dst32_to_fp32(uint32_t x)
{
    return (uint32_t)wg_dst16_to_bf16((uint16_t)(x >> 16)) << 16 | (x & 0xFFFF);
}
/* Two's complement <-> Dst INT32; -2^31 does not exist there and must not be passed. */
static inline uint32_t wg_dst32_from_int(int32_t x)
{
    uint32_t magnitude = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
    return wg_dst32_from_fp32((x < 0 ? UINT32_C(0x80000000) : 0) | (magnitude & 0x7FFFFFFF));
}
static inline int32_t wg_dst32_to_int(uint32_t x)
{
    uint32_t cpu = wg_dst32_to_fp32(x);
    int32_t magnitude = (int32_t)(cpu & 0x7FFFFFFF);
    return cpu >> 31 ? -magnitude : magnitude;
}

/* Dst -> Src: BF16, FP16 (and INT8) unchanged, FP32 truncated to TF32. */
static inline uint32_t wg_src_from_dst_bf16(uint16_t x) { return (uint32_t)(x & 0xFF00) << 3 | (x & 0xFF); }
static inline uint32_t wg_src_from_dst_fp16(uint16_t x) { return (uint32_t)(x & 0xFFE0) << 3 | (x & 0x1F); }
static inline uint32_t wg_src_from_dst_tf32(uint32_t x)
{
    return (x >> 13 & 0x7F800) | (x >> 5 & 0x700) | (x >> 16 & 0xFF);
}

/* Src -> Dst: an 8-bit exponent drops the low three mantissa bits, a 5-bit one the high three exponent bits. */
static inline uint16_t wg_dst16_from_src_exp8(uint32_t x) { return (uint16_t)((x >> 3 & 0xFF00) | (x & 0xFF)); }
static inline uint16_t wg_dst16_from_src_exp5(uint32_t x) { return (uint16_t)((x >> 3 & 0xFFE0) | (x & 0x1F)); }
/* The three mantissa bits that wg_dst16_from_src_exp8() drops, at their position in an FP32 in Dst. */
static inline uint16_t wg_dst_lo_from_src(uint32_t x) { return (uint16_t)((x >> 8 & 7) << 13); }

/* INT8 in Src: ten bits of magnitude. */
static inline int32_t wg_src_to_int(uint32_t x)
{
    int32_t magnitude = (int32_t)(x >> 8 & 0x3FF);
    return x & WG_SRC_SIGN ? -magnitude : magnitude;
}

#endif
