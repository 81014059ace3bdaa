/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data formats in L1, and the conversions between L1 and the register files.
 *
 *     L1                    intermediate (CPU order)       Src (19 bits)   Dst (16 or 32 bits)
 *     FP32, TF32, INT32     the 32 bits themselves       TF32            FP32, INT32
 *     FP32                  BF16 or FP16                 BF16, FP16      BF16, FP16
 *     BF16, FP16            unchanged                    BF16, FP16      BF16, FP16
 *     FP8 (e5m2, e4m3)      FP16                         FP16            FP16
 *     INT8, UINT8           magnitude on an FP16         "integer 8"     "integer 8"
 *     BFP8, BFP4, BFP2      BF16, normalised             BF16            BF16
 *     BFP8a, 4a, 2a         FP16, normalised             FP16            FP16
 *     INT16                 the 16 bits themselves       opaque          opaque
 *
 * A datum of a BFP format is a sign and a magnitude without a hidden bit; 16 datums share an exponent, which has a
 * separate array in L1. The first datum is in the lowest bits.
 *
 * Each conversion exists for one datum and, for the inner loops, for 16 at a time; both give the same bits. Layouts of the
 * register files: num/formats.h.
 *
 * Facts: UNPACR_Regular.md (FormatConversion), Unpackers/FormatConversion.md, Packers/FormatConversion.md,
 * FloatBitPatterns.md.
 */
#ifndef WG_L1_FORMATS_H
#define WG_L1_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#include "num/formats.h"
#include "num/simd.h"

/* The conversion of a datum read from L1. */
typedef enum wg_l1_reading {
    WG_READ_32, /* FP32, TF32, INT32; into Src: truncated to TF32 */
    WG_READ_FP32_BF16,
    WG_READ_FP32_FP16,
    WG_READ_BF16,
    WG_READ_FP16,
    WG_READ_INT16,
    WG_READ_E5M2,     /* FP8 on WH */
    WG_READ_E5M2_TOP, /* FP8 on BH: all ones stay all ones */
    WG_READ_E4M3,     /* FP8 on BH with four exponent bits */
    WG_READ_INT8,
    WG_READ_UINT8,
    WG_READ_BFP8,
    WG_READ_BFP4,
    WG_READ_BFP2,
    WG_READ_BFP8A,
    WG_READ_BFP4A,
    WG_READ_BFP2A,
    WG_L1_READINGS
} wg_l1_reading;

/* Bits per datum in L1: 2, 4, 8, 16 or 32. The two undefined codes have the width of their column. */
static inline unsigned wg_l1_bits(unsigned format)
{
    return (format & 3) == 3 ? (format & 8 ? 2 : 4) : 32u >> (format & 3);
}
/* Do 16 datums share an exponent? */
static inline bool wg_l1_shares_exponent(unsigned format)
{
    enum {
        SHARING = 1 << WG_FMT_BFP8A | 1 << WG_FMT_BFP4A | 1 << WG_FMT_BFP8 | 1 << WG_FMT_BFP4 | 1 << WG_FMT_BFP2A |
                  1 << WG_FMT_BFP2
    };
    return SHARING >> (format & 15) & 1;
}
static inline bool wg_l1_reading_shares_exponent(wg_l1_reading reading) { return reading >= WG_READ_BFP8; }
/* The formats whose addresses in a register file count units of four, and of two, bytes. */
static inline bool wg_format_is_32(unsigned format) { return (format & 3) == 0 && format != 12; }
static inline bool wg_format_is_16(unsigned format) { return (format & 3) == 1 && format != 13; }

/* How an unpacker converts datums of format `in` to `out`. */
typedef struct wg_l1_choice {
    bool to_dst;
    bool is_unsigned;                   /* INT8 means UINT8 */
    bool four_exponent_bits, keeps_top; /* FP8, by configuration and architecture */
} wg_l1_choice;
/* False: the combination is undefined; *reading is what is done nevertheless. */
bool wg_l1_reading_of(unsigned in, unsigned out, const wg_l1_choice *choice, wg_l1_reading *reading);

/* One datum: its bits in L1 (in the low bits) to a register's layout. */
uint32_t wg_l1_to_src(wg_l1_reading reading, uint32_t bits, uint8_t exponent);
uint32_t wg_l1_to_dst(wg_l1_reading reading, uint32_t bits, uint8_t exponent);

/* The layout of the 16 intermediate bits. */
typedef enum wg_l1_layout { WG_LAYOUT_BF16, WG_LAYOUT_FP16, WG_LAYOUT_OPAQUE } wg_l1_layout;
wg_l1_layout wg_l1_layout_of(wg_l1_reading reading);

/*
 * Consecutive rows of 16 datums from a byte on (l1_rows.c). Row i has exponent exponents[i]. `level` is
 * the host vector code to use; all give the same bits.
 */
void wg_l1_rows_to_src(wg_simd level, wg_l1_reading reading, const uint8_t *bytes, const uint8_t *exponents,
                       unsigned rows, uint32_t (*to)[16]);
void wg_l1_row_to_dst16(wg_simd level, wg_l1_reading reading, const uint8_t *bytes, uint8_t exponent, uint16_t to[16]);
void wg_l1_row_to_dst32(wg_simd level, const uint8_t *bytes, uint16_t high[16], uint16_t low[16]);

/* One BFP datum, aligned to the top of eight bits, with its exponent. */
uint16_t wg_bfp_to_bf16(uint8_t datum, uint8_t exponent);
uint16_t wg_bfp_to_fp16(uint8_t datum, uint8_t exponent); /* the "a" formats; only five exponent bits are used */
/* Does a normalised "a" datum need more than five bits of exponent (undefined on hardware)? */
bool wg_bfp_a_overflows(uint8_t datum, uint8_t exponent);

/* ---- Narrowing: FP32 in CPU order. Shared by the unpackers and the packers' late conversion. ---------- */

/* Truncates; denormals become zeros of their sign. */
uint16_t wg_fp32_to_bf16_truncate(uint32_t x);
/* Saturates, then truncates; below 2^-15 a zero of its sign, from 2^-15 to 2^-14 an exponent of 0 with its mantissa. */
uint16_t wg_fp32_to_fp16_truncate(uint32_t x);

/* ---- To L1 ----------------------------------------------------------------------------------------------- */

/*
 * Rounds the magnitude of `x` (sign and everything above bit `drop` kept) by `drop` bits: to nearest, ties away
 * from zero, or with the upper of 23 random bits in place of the half. The random form compares like the Vector
 * Unit's (SFPSTOCHRND_FloatFloat.md): equality rounds up, which is the documented bias. It drops at most 23 bits.
 */
static inline uint32_t wg_round_away(uint32_t x, unsigned drop)
{
    return drop ? (x + (UINT32_C(1) << (drop - 1))) >> drop : x;
}
static inline uint32_t wg_round_random(uint32_t x, unsigned drop, uint32_t random)
{
    uint32_t mask = (UINT32_C(1) << drop) - 1;
    return drop ? (x >> drop) + ((x & mask) >= (random & 0x7FFFFF) >> (23 - drop)) : x;
}

/*
 * 16 values with their own exponents to one BFP block: the largest exponent is shared, magnitudes are rounded
 * to seven bits (`random` NULL: to nearest, ties away; else one random word per datum) and saturate.
 * With `five` the values are E5M7 (sign, 5, 7 in 13 bits), otherwise BF16. Returns the shared exponent; out[i] is the BFP8
 * datum.
 */
uint8_t wg_bfp_block(const uint16_t values[16], bool five, const uint32_t *random, uint8_t out[16]);
/* BFP8 to BFP4 or BFP2: truncated; a magnitude that becomes 0 loses its sign. */
static inline uint8_t wg_bfp_narrow(uint8_t datum, unsigned bits)
{
    return (uint8_t)((datum & 127u) >> (8 - bits) ? datum >> (8 - bits) : 0);
}

/* Stores 16 datums of `bits` bits each (in the low bits) as L1 bytes, and loads them. */
void wg_l1_put_row(unsigned bits, const uint32_t datums[16], uint8_t *bytes);
void wg_l1_get_row(unsigned bits, const uint8_t *bytes, uint32_t datums[16]);

#endif
