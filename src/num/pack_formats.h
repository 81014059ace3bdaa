/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packers' conversions from Dst to L1, 16 datums at a time.
 *
 *     Dst ── early ──> intermediate ── ReLU, threshold … ── late ──> L1
 *
 *     intermediate: WG_MID_F8      eight exponent bits: as an FP32, unused mantissa bits 0
 *                   WG_MID_F5      five exponent bits: as an FP16, unused mantissa bits 0
 *                   WG_MID_INT32, WG_MID_INT16, WG_MID_INT8 (also UINT8)
 *     result of late: the datum's bits in L1; for a BFP format BF16 or E5M7, which a block of 16 is then made of
 *                   (wg_bfp_block in num/l1_formats.h)
 *
 * Layouts of the register file: num/formats.h. Facts: Packers/FormatConversion.md, Packers/ReLU.md, L1.md
 * (accumulation), FloatBitPatterns.md; details that the pages do not define are those of ttsim.
 */
#ifndef WG_PACK_FORMATS_H
#define WG_PACK_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#include "num/formats.h"
#include "num/simd.h"

typedef enum wg_mid { WG_MID_F8, WG_MID_F5, WG_MID_INT32, WG_MID_INT16, WG_MID_INT8 } wg_mid;

typedef enum wg_pack_early {
    /* from 32 bits */
    WG_EARLY_32,
    WG_EARLY_INT32,
    WG_EARLY_TF32,
    WG_EARLY_BF16,
    WG_EARLY_BF16_TRUNCATE,
    WG_EARLY_E8M6,
    WG_EARLY_INT8,
    WG_EARLY_UINT8,
    WG_EARLY_INT8_RAW,
    WG_EARLY_UINT8_RAW,
    WG_EARLY_HIGH, /* INT16: the high half */
    /* from 16 bits */
    WG_EARLY_16_BF16,
    WG_EARLY_16_BF16_ROUND,
    WG_EARLY_16_E8M6,
    WG_EARLY_16_FP16,
    WG_EARLY_16_FP16_ROUND,
    WG_EARLY_16_E5M7,
    WG_EARLY_16_E5M6,
    WG_EARLY_16_FP8,
    WG_EARLY_16_BF16_FP16, /* BF16 to FP16 */
    WG_EARLY_16_SIGN,      /* INT8: only the sign */
    WG_EARLY_16_INT16,
    WG_EARLY_COUNT
} wg_pack_early;

/* How Dst is read, by configuration. */
typedef struct wg_pack_reading {
    uint8_t format;    /* IntermediateFormat */
    bool wide;         /* Read_32b_data */
    bool raw;          /* Read_int8 */
    bool is_unsigned;  /* Read_unsigned */
    bool ten_bits;     /* Round_10b_mant */
    bool fp16_from_f8; /* BH: with ten_bits, FP32 and BF16 can be converted to FP16 */
} wg_pack_reading;
/* False: the combination is undefined; *early is what is done nevertheless. */
bool wg_pack_early_of(wg_pack_reading r, wg_pack_early *early);
static inline wg_mid wg_pack_early_mid(wg_pack_early early)
{
    static const uint8_t mid[WG_EARLY_COUNT] = {
        [WG_EARLY_INT32] = WG_MID_INT32,   [WG_EARLY_INT8] = WG_MID_INT8,        [WG_EARLY_UINT8] = WG_MID_INT8,
        [WG_EARLY_INT8_RAW] = WG_MID_INT8, [WG_EARLY_UINT8_RAW] = WG_MID_INT8,   [WG_EARLY_HIGH] = WG_MID_INT16,
        [WG_EARLY_16_FP16] = WG_MID_F5,    [WG_EARLY_16_FP16_ROUND] = WG_MID_F5, [WG_EARLY_16_E5M7] = WG_MID_F5,
        [WG_EARLY_16_E5M6] = WG_MID_F5,    [WG_EARLY_16_FP8] = WG_MID_F5,        [WG_EARLY_16_BF16_FP16] = WG_MID_F5,
        [WG_EARLY_16_SIGN] = WG_MID_INT8,  [WG_EARLY_16_INT16] = WG_MID_INT16,
    };
    return (wg_mid)mid[early];
}
/* Stored rows (`low` only for 32 bits) to intermediate values. `shift`: INT8 and UINT8, places to the right. */
void wg_pack_early_row(wg_pack_early early, unsigned shift, const uint16_t high[16], const uint16_t low[16],
                       uint32_t value[16]);

/* As wg_pack_early_row(), with stochastic rounding in conversions that round: 23 random bits per datum. */
void wg_pack_early_random_row(wg_pack_early early, unsigned shift, const uint16_t high[16], const uint16_t low[16],
                              const uint32_t random[16], uint32_t value[16]);

/* The exponent of an intermediate value, as histogram and threshold see it. */
static inline unsigned wg_pack_exponent_shift(wg_mid mid)
{
    return mid == WG_MID_F5 ? 10 : mid == WG_MID_F8 || mid == WG_MID_INT32 ? 23 : 0;
}
static inline unsigned wg_pack_exponent_mask(wg_mid mid) { return mid == WG_MID_F5 ? 31 : 255; }
static inline unsigned wg_pack_exponent(wg_mid mid, uint32_t value)
{
    return value >> wg_pack_exponent_shift(mid) & wg_pack_exponent_mask(mid);
}
/* The intermediate value of -infinity for this early conversion. */
uint32_t wg_pack_minus_infinity(wg_pack_early early);

/* STACC_RELU: mode 1, 2 or 3; the threshold is FP16 for WG_MID_F5, else BF16. */
void wg_pack_relu_row(wg_mid mid, unsigned mode, uint16_t threshold, unsigned count, uint32_t value[16]);

typedef struct wg_pack_late {
    uint8_t mid;    /* wg_mid of the input */
    uint8_t target; /* of the output: see pack_formats.c */
    bool narrow;    /* first FP32 to FP16 */
    bool flush;     /* the mantissa gets narrower: denormals become zeros */
} wg_pack_late;
/* From values of `mid`, configured as In_data_format, to Out_data_format; false as above. */
bool wg_pack_late_of(wg_mid mid, unsigned in, unsigned out, bool four_exponent_bits, wg_pack_late *late);
void wg_pack_late_row(wg_pack_late late, unsigned count, uint32_t value[16]);
/* Whole rows through both conversions, with nothing between them. */
typedef struct wg_pack_route {
    uint8_t early, shift, out_format;
    wg_pack_late late;
} wg_pack_route;
typedef struct wg_pack_rows {
    const uint16_t *high[16], *low[16]; /* stored rows of Dst; `low` must be valid for 16 bits, too */
    bool fours;                         /* only every fourth is set: the next three rows follow it in memory */
    uint8_t *data;                      /* their bytes in L1, consecutive */
    uint8_t exponents[16];              /* of a BFP format: one per row */
    uint16_t *lanes;                    /* the largest intermediate exponents by column: updated */
} wg_pack_rows;
static inline const uint16_t *wg_pack_high(const wg_pack_rows *at, unsigned row)
{
    return at->fours ? at->high[row & ~3u] + 16 * (row & 3) : at->high[row];
}
/* Sets the pointers of each of the first `rows` rows. */
static inline void wg_pack_rows_apart(wg_pack_rows *at, unsigned rows)
{
    for (unsigned row = 0; at->fours && row < rows; row += 4)
        for (unsigned i = 1; i < 4; i++) {
            at->high[row + i] = at->high[row] + 16 * i;
            at->low[row + i] = at->low[row] + 16 * i;
        }
    at->fours = false;
}
extern const uint16_t wg_pack_zeros[64]; /* four rows: for missing low halves and undefined rows */
void wg_pack_rows_out(wg_simd level, const wg_pack_route *r, unsigned rows, wg_pack_rows *at);
/* The intermediate kind of a format, without an early conversion. */
static inline wg_mid wg_pack_mid_of(unsigned format)
{
    static const uint8_t mid[16] = {
        [WG_FMT_FP16] = WG_MID_F5,     [WG_FMT_BFP8A] = WG_MID_F5,  [WG_FMT_BFP4A] = WG_MID_F5,
        [WG_FMT_BFP2A] = WG_MID_F5,    [WG_FMT_FP8] = WG_MID_F5,    [WG_FMT_INT32] = WG_MID_INT32,
        [WG_FMT_INT16] = WG_MID_INT16, [WG_FMT_INT8] = WG_MID_INT8, [12] = WG_MID_INT32,
        [13] = WG_MID_INT16,
    };
    return (wg_mid)mid[format & 15];
}
/* Without an early conversion: L1's bits of In_data_format to an intermediate value. */
uint32_t wg_pack_from_l1(unsigned format, uint32_t bits);

/* Can L1 accumulate this format? */
bool wg_pack_accumulates(unsigned format);
/* line += add, 16 bytes of FP32, INT32 (sign and magnitude, saturating), FP16 or BF16. */
void wg_pack_accumulate(unsigned format, uint8_t line[16], const uint8_t add[16]);

#endif
