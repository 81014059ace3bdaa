/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L1 formats: every conversion for one datum; for rows of 16 see l1_rows.c.
 * Facts: see l1_formats.h. Rulings where the pages are silent: FP32 to FP16, FP8 with four exponent bits and
 * BH's all-ones FP8 are as in ttsim; the shared page's "FP8 << 8" applies only to Wormhole's FP8.
 */
#include "num/l1_formats.h"

#include <string.h>

/* ---- Formats ------------------------------------------------------------------------------------------------ */

static wg_l1_reading fp8(const wg_l1_choice *c)
{
    return c->four_exponent_bits ? WG_READ_E4M3 : c->keeps_top ? WG_READ_E5M2_TOP : WG_READ_E5M2;
}

/*
 * Decided here: an undefined pair of formats is read by the input format alone; 32 bits into Src are truncated to TF32, and
 * the two undefined codes are opaque.
 */
bool wg_l1_reading_of(unsigned in, unsigned out, const wg_l1_choice *c, wg_l1_reading *reading)
{
    static const uint8_t of_input[16] = {
        [WG_FMT_FP32] = WG_READ_32,
        [WG_FMT_FP16] = WG_READ_FP16,
        [WG_FMT_BFP8A] = WG_READ_BFP8A,
        [WG_FMT_BFP4A] = WG_READ_BFP4A,
        [WG_FMT_TF32] = WG_READ_32,
        [WG_FMT_BF16] = WG_READ_BF16,
        [WG_FMT_BFP8] = WG_READ_BFP8,
        [WG_FMT_BFP4] = WG_READ_BFP4,
        [WG_FMT_INT32] = WG_READ_32,
        [WG_FMT_INT16] = WG_READ_INT16,
        [WG_FMT_FP8] = WG_READ_E5M2,
        [WG_FMT_BFP2A] = WG_READ_BFP2A,
        [12] = WG_READ_32,
        [13] = WG_READ_INT16,
        [WG_FMT_INT8] = WG_READ_INT8,
        [WG_FMT_BFP2] = WG_READ_BFP2,
    };
    in &= 15;
    out &= 15;
    *reading = (wg_l1_reading)of_input[in];
    if (in == WG_FMT_FP8)
        *reading = fp8(c);
    if (in == WG_FMT_INT8 && c->is_unsigned)
        *reading = WG_READ_UINT8;
    if (in == WG_FMT_FP32) {
        if (out == WG_FMT_BF16)
            *reading = WG_READ_FP32_BF16;
        else if (out == WG_FMT_FP16)
            *reading = WG_READ_FP32_FP16;
        return out == WG_FMT_BF16 || out == WG_FMT_FP16 || out == WG_FMT_TF32 || (out == WG_FMT_FP32 && c->to_dst);
    }
    if (in != out || !wg_format_known(in))
        return false;
    return c->to_dst || !wg_format_is_32(in);
}

/* ---- Small formats: tables ---------------------------------------------------------------------------------- */

#define FOUR(f, x) f(x), f((x) + 1), f((x) + 2), f((x) + 3)
#define SIXTEEN(f, x) FOUR(f, x), FOUR(f, (x) + 4), FOUR(f, (x) + 8), FOUR(f, (x) + 12)
#define SIXTY_FOUR(f, x) SIXTEEN(f, x), SIXTEEN(f, (x) + 16), SIXTEEN(f, (x) + 32), SIXTEEN(f, (x) + 48)
#define ALL_256(f) SIXTY_FOUR(f, 0), SIXTY_FOUR(f, 64), SIXTY_FOUR(f, 128), SIXTY_FOUR(f, 192)

/* Leading zeros of a BFP8 datum's seven bits of magnitude. */
#define ZEROS(x) ((x)&64 ? 0u : (x)&32 ? 1u : (x)&16 ? 2u : (x)&8 ? 3u : (x)&4 ? 4u : (x)&2 ? 5u : 6u)
#define IS_ZERO(x) (((x)&127) == 0)
#define MANTISSA(x) (((x) << (1 + ZEROS(x))) & 0x7Eu) /* normalised, seven bits, without the hidden bit */

/*
 * A BFP datum without its exponent: [15:0] the rest of the result, [19:16] to be subtracted from the exponent, [31:24] its
 * mask.
 */
#define BFP(x, zero, shift, mask) \
    (IS_ZERO(x) ? ((x)&128 ? zero : 0u) : ((x)&128u) << 8 | MANTISSA(x) << shift | ZEROS(x) << 16 | mask << 24)
#define BFP_B(x) BFP(x, 0xFF80u, 0, 0xFFu)
#define BFP_A(x) BFP(x, 0xFC00u, 3, 0x1Fu)
static const uint32_t bfp_b[256] = {ALL_256(BFP_B)};
static const uint32_t bfp_a[256] = {ALL_256(BFP_A)};

#define E4M3_EXPONENT(x) ((x) >> 3 & 15 ? ((x) >> 3 & 15) + 8u : 0u)
#define E4M3(x) (((x)&128u) << 8 | E4M3_EXPONENT(x) << 10 | ((x)&7u) << 7 | (((x)&127) == 127 ? 127u : 0u))
static const uint16_t e4m3[256] = {ALL_256(E4M3)};

static inline uint16_t bfp_b_of(uint8_t datum, uint32_t exponent)
{
    uint32_t x = bfp_b[datum];
    return (uint16_t)(x | ((exponent - (x >> 16 & 15)) & x >> 24) << 7);
}
static inline uint16_t bfp_a_of(uint8_t datum, uint32_t exponent)
{
    uint32_t x = bfp_a[datum];
    return (uint16_t)(x | ((exponent - (x >> 16 & 15)) & x >> 24) << 10);
}
uint16_t wg_bfp_to_bf16(uint8_t datum, uint8_t exponent) { return bfp_b_of(datum, exponent); }
/* Decided here: an exponent that does not fit keeps its low five bits. */
uint16_t wg_bfp_to_fp16(uint8_t datum, uint8_t exponent) { return bfp_a_of(datum, exponent); }
bool wg_bfp_a_overflows(uint8_t datum, uint8_t exponent)
{
    uint32_t x = bfp_a[datum];
    return x >> 24 && ((exponent - (x >> 16 & 15)) & 0xE0);
}

/* Magnitude on an FP16 whose exponent is 16, or 0 for a zero. */
static inline uint16_t int8_of(uint32_t x)
{
    return (uint16_t)((x & 128) << 8 | (x & 127) | (uint32_t)((x & 127) != 0) << 14);
}
static inline uint16_t uint8_of(uint32_t x) { return (uint16_t)(x | (uint32_t)(x != 0) << 14); }
static inline uint16_t e5m2_top(uint32_t x) { return (uint16_t)(x << 8 | ((x & 127) == 127 ? 0xFFu : 0u)); }

/* ---- Narrowing ---------------------------------------------------------------------------------------------- */

static inline uint32_t bf16_truncate(uint32_t x) { return x >> 16 & (x & 0x7F800000 ? 0xFFFFu : 0x8000u); }
static inline uint32_t fp16_truncate(uint32_t x)
{
    uint32_t sign = x >> 16 & 0x8000, magnitude = x & 0x7FFFFFFF;
    uint32_t result = (magnitude - (UINT32_C(112) << 23)) >> 13;
    result = magnitude < UINT32_C(112) << 23 ? 0 : result;
    result = magnitude >= UINT32_C(144) << 23 ? 0x7FFF : result;
    return sign | result;
}
uint16_t wg_fp32_to_bf16_truncate(uint32_t x) { return (uint16_t)bf16_truncate(x); }
uint16_t wg_fp32_to_fp16_truncate(uint32_t x) { return (uint16_t)fp16_truncate(x); }

/* ---- One datum ---------------------------------------------------------------------------------------------- */

/* The intermediate form, 16 bits in CPU order, of a datum of at most 16 bits or narrowed to 16. */
static inline uint32_t middle(wg_l1_reading reading, uint32_t bits, uint8_t exponent)
{
    switch (reading) {
    case WG_READ_FP32_BF16: return bf16_truncate(bits);
    case WG_READ_FP32_FP16: return fp16_truncate(bits);
    case WG_READ_E5M2: return (bits & 0xFF) << 8;
    case WG_READ_E5M2_TOP: return e5m2_top(bits & 0xFF);
    case WG_READ_E4M3: return e4m3[bits & 0xFF];
    case WG_READ_INT8: return int8_of(bits & 0xFF);
    case WG_READ_UINT8: return uint8_of(bits & 0xFF);
    case WG_READ_BFP8: return bfp_b_of((uint8_t)bits, exponent);
    case WG_READ_BFP4: return bfp_b_of((uint8_t)(bits << 4), exponent);
    case WG_READ_BFP2: return bfp_b_of((uint8_t)(bits << 6), exponent);
    case WG_READ_BFP8A: return bfp_a_of((uint8_t)bits, exponent);
    case WG_READ_BFP4A: return bfp_a_of((uint8_t)(bits << 4), exponent);
    case WG_READ_BFP2A: return bfp_a_of((uint8_t)(bits << 6), exponent);
    default: return bits & 0xFFFF;
    }
}

wg_l1_layout wg_l1_layout_of(wg_l1_reading reading)
{
    static const uint8_t layouts[WG_L1_READINGS] = {
        [WG_READ_32] = WG_LAYOUT_OPAQUE,  [WG_READ_FP32_BF16] = WG_LAYOUT_BF16, [WG_READ_FP32_FP16] = WG_LAYOUT_FP16,
        [WG_READ_BF16] = WG_LAYOUT_BF16,  [WG_READ_FP16] = WG_LAYOUT_FP16,      [WG_READ_INT16] = WG_LAYOUT_OPAQUE,
        [WG_READ_E5M2] = WG_LAYOUT_FP16,  [WG_READ_E5M2_TOP] = WG_LAYOUT_FP16,  [WG_READ_E4M3] = WG_LAYOUT_FP16,
        [WG_READ_INT8] = WG_LAYOUT_FP16,  [WG_READ_UINT8] = WG_LAYOUT_FP16,     [WG_READ_BFP8] = WG_LAYOUT_BF16,
        [WG_READ_BFP4] = WG_LAYOUT_BF16,  [WG_READ_BFP2] = WG_LAYOUT_BF16,      [WG_READ_BFP8A] = WG_LAYOUT_FP16,
        [WG_READ_BFP4A] = WG_LAYOUT_FP16, [WG_READ_BFP2A] = WG_LAYOUT_FP16,
    };
    return (wg_l1_layout)layouts[reading];
}

static inline uint32_t src_of(wg_l1_layout l, uint32_t x)
{
    switch (l) {
    case WG_LAYOUT_BF16: return wg_src_from_bf16((uint16_t)x);
    case WG_LAYOUT_FP16: return wg_src_from_fp16((uint16_t)x);
    default: return (x & 0xFF00) << 3 | (x & 0xFF);
    }
}
static inline uint16_t dst_of(wg_l1_layout l, uint32_t x)
{
    switch (l) {
    case WG_LAYOUT_BF16: return wg_dst16_from_bf16((uint16_t)x);
    case WG_LAYOUT_FP16: return wg_dst16_from_fp16((uint16_t)x);
    default: return (uint16_t)x;
    }
}

uint32_t wg_l1_to_src(wg_l1_reading reading, uint32_t bits, uint8_t exponent)
{
    if (reading == WG_READ_32)
        return wg_src_from_fp32(bits);
    return src_of(wg_l1_layout_of(reading), middle(reading, bits, exponent));
}

uint32_t wg_l1_to_dst(wg_l1_reading reading, uint32_t bits, uint8_t exponent)
{
    if (reading == WG_READ_32)
        return wg_dst32_from_fp32(bits);
    return dst_of(wg_l1_layout_of(reading), middle(reading, bits, exponent));
}

/* ---- To L1 -------------------------------------------------------------------------------------------------- */

uint8_t wg_bfp_block(const uint16_t values[16], bool five, const uint32_t *random, uint8_t out[16])
{
    unsigned exponent_mask = five ? 31 : 255, sign_shift = five ? 12 : 15, shared = 0;
    for (unsigned i = 0; i < 16; i++) {
        unsigned exponent = values[i] >> 7 & exponent_mask;
        shared = exponent > shared ? exponent : shared;
    }
    for (unsigned i = 0; i < 16; i++) {
        unsigned exponent = values[i] >> 7 & exponent_mask, drop = shared - exponent + 1;
        uint32_t magnitude = (values[i] & 127u) | (exponent ? 128u : 0u);
        /* ttsim: from eight places on the result is 0, even after rounding */
        if (drop > 8)
            magnitude = 0;
        else
            magnitude = random ? wg_round_random(magnitude, drop, random[i]) : wg_round_away(magnitude, drop);
        magnitude = magnitude > 127 ? 127 : magnitude;
        /* A magnitude of 0 has no sign: with one it would mean minus infinity. */
        out[i] = (uint8_t)(magnitude ? (values[i] >> sign_shift & 1u) << 7 | magnitude : 0);
    }
    return (uint8_t)shared;
}

void wg_l1_put_row(unsigned bits, const uint32_t datums[16], uint8_t *bytes)
{
    if (bits >= 8) {
        for (unsigned i = 0; i < 16; i++)
            memcpy(bytes + i * bits / 8, &datums[i], bits / 8);
        return;
    }
    memset(bytes, 0, 2 * bits);
    for (unsigned i = 0; i < 16; i++)
        bytes[i * bits / 8] |= (uint8_t)((datums[i] & ((1u << bits) - 1)) << i * bits % 8);
}

void wg_l1_get_row(unsigned bits, const uint8_t *bytes, uint32_t datums[16])
{
    for (unsigned i = 0; i < 16; i++) {
        datums[i] = 0;
        if (bits >= 8)
            memcpy(&datums[i], bytes + i * bits / 8, bits / 8);
        else
            datums[i] = bytes[i * bits / 8] >> i * bits % 8 & ((1u << bits) - 1);
    }
}
