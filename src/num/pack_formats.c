/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packers' conversions: early (Dst to intermediate values), ReLU, late (to L1), and accumulation in L1.
 * Facts and layouts: pack_formats.h; one datum: pack_datums.h.
 */
#include "num/pack_formats.h"

#include <string.h>

#include "num/l1_formats.h"
#include "num/pack_datums.h"

/* ---- Early --------------------------------------------------------------------------------------------------- */

static bool early_of_wide(wg_pack_reading r, wg_pack_early *early)
{
    switch (r.format & 15) {
    case WG_FMT_INT32: *early = WG_EARLY_INT32; return true;
    case WG_FMT_FP32: *early = r.ten_bits && !r.raw ? WG_EARLY_TF32 : WG_EARLY_32; return true;
    case WG_FMT_TF32: *early = r.raw ? WG_EARLY_32 : WG_EARLY_TF32; return true;
    case WG_FMT_BF16: *early = r.raw ? WG_EARLY_BF16_TRUNCATE : r.ten_bits ? WG_EARLY_TF32 : WG_EARLY_BF16; return true;
    case WG_FMT_BFP8: *early = r.raw ? WG_EARLY_BF16_TRUNCATE : WG_EARLY_E8M6; return true;
    case WG_FMT_INT8:
        if (r.raw)
            *early = r.is_unsigned ? WG_EARLY_UINT8_RAW : WG_EARLY_INT8_RAW;
        else
            *early = r.is_unsigned ? WG_EARLY_UINT8 : WG_EARLY_INT8;
        return true;
    case WG_FMT_INT16: *early = WG_EARLY_HIGH; return true; /* ttsim; "no" in the page's table */
    case WG_FMT_FP16:                                       /* ttsim: BH's FP32 to FP16 goes through TF32 */
        *early = WG_EARLY_TF32;
        return r.fp16_from_f8 && r.ten_bits;
    default: *early = WG_EARLY_32; return false;
    }
}

bool wg_pack_early_of(wg_pack_reading r, wg_pack_early *early)
{
    if (r.wide)
        return early_of_wide(r, early);
    switch (r.format & 15) {
    case WG_FMT_TF32: *early = WG_EARLY_16_BF16_ROUND; return !r.raw;
    case WG_FMT_FP32: *early = WG_EARLY_16_BF16_ROUND; return r.ten_bits && !r.raw;
    case WG_FMT_BF16: *early = r.raw ? WG_EARLY_16_BF16 : WG_EARLY_16_BF16_ROUND; return true;
    case WG_FMT_BFP8: *early = r.raw ? WG_EARLY_16_BF16 : WG_EARLY_16_E8M6; return true;
    case WG_FMT_FP16:
        *early = r.raw ? WG_EARLY_16_FP16 : WG_EARLY_16_FP16_ROUND;
        if (r.ten_bits && r.fp16_from_f8)
            *early = WG_EARLY_16_BF16_FP16;
        return true;
    case WG_FMT_BFP8A: *early = r.raw ? WG_EARLY_16_E5M7 : WG_EARLY_16_E5M6; return true;
    case WG_FMT_FP8: *early = WG_EARLY_16_FP8; return r.raw;
    case WG_FMT_INT8: *early = WG_EARLY_16_SIGN; return r.raw && !r.is_unsigned;
    case WG_FMT_INT16: *early = WG_EARLY_16_INT16; return true;
    default: *early = WG_EARLY_16_INT16; return false;
    }
}

/* One loop per conversion. */
#define ROW(e) \
    case e: \
        for (unsigned i = 0; i < 16; i++) \
            value[i] = early_one(e, shift, high[i], low[i]); \
        break;
void wg_pack_early_row(wg_pack_early early, unsigned shift, const uint16_t high[16], const uint16_t low[16],
                       uint32_t value[16])
{
    switch (early) {
        /* clang-format off */
        ROW(WG_EARLY_32) ROW(WG_EARLY_INT32) ROW(WG_EARLY_TF32) ROW(WG_EARLY_BF16) ROW(WG_EARLY_BF16_TRUNCATE)
        ROW(WG_EARLY_E8M6) ROW(WG_EARLY_INT8) ROW(WG_EARLY_UINT8) ROW(WG_EARLY_INT8_RAW) ROW(WG_EARLY_UINT8_RAW)
        ROW(WG_EARLY_HIGH) ROW(WG_EARLY_16_BF16) ROW(WG_EARLY_16_BF16_ROUND) ROW(WG_EARLY_16_E8M6)
        ROW(WG_EARLY_16_FP16) ROW(WG_EARLY_16_FP16_ROUND) ROW(WG_EARLY_16_E5M7) ROW(WG_EARLY_16_E5M6)
        ROW(WG_EARLY_16_FP8) ROW(WG_EARLY_16_BF16_FP16) ROW(WG_EARLY_16_SIGN) ROW(WG_EARLY_16_INT16)
            /* clang-format on */
            case WG_EARLY_COUNT : break;
    }
}

static uint32_t random_f8(uint32_t x, unsigned drop, uint32_t random)
{
    uint32_t magnitude = x & 0x7FFFFFFF;
    if (magnitude >= 0x7F800000)
        magnitude = 0x7F800000;
    else if (magnitude >= 0x00800000)
        magnitude = wg_round_random(magnitude, drop, random) << drop;
    return magnitude < 0x00800000 ? 0 : (x & 0x80000000) | magnitude;
}

static uint32_t random_e5m6(uint32_t x, uint32_t random)
{
    uint32_t magnitude = x & 0x7FFF;
    if (magnitude >= 0x400)
        magnitude = wg_round_random(magnitude, 4, random) << 4;
    magnitude = magnitude > 0x7FF0 ? 0x7FF0 : magnitude;
    return magnitude < 0x400 ? 0 : (x & 0x8000) | magnitude;
}

/* As SFPSTOCHRND_IntInt.md: 23 bits after the point, whatever the shift. */
static uint32_t random_descale(uint32_t x, unsigned shift, bool is_unsigned, uint32_t random)
{
    uint64_t scaled = (uint64_t)(x & 0x7FFFFFFF) << 23 >> (shift & 31);
    uint32_t limit = is_unsigned ? 255 : 127;
    uint32_t magnitude = (uint32_t)(scaled >> 23) + ((scaled & 0x7FFFFF) >= (random & 0x7FFFFF));
    magnitude = magnitude > limit ? limit : magnitude;
    if (is_unsigned)
        return x >> 31 ? 0 : magnitude;
    return x >> 31 << 7 | magnitude;
}

void wg_pack_early_random_row(wg_pack_early early, unsigned shift, const uint16_t high[16], const uint16_t low[16],
                              const uint32_t random[16], uint32_t value[16])
{
    for (unsigned i = 0; i < 16; i++) {
        uint32_t x = (uint32_t)wg_dst16_to_bf16(high[i]) << 16 | low[i];
        switch (early) {
        case WG_EARLY_TF32: value[i] = random_f8(x, 13, random[i]); break;
        case WG_EARLY_BF16: value[i] = random_f8(x, 16, random[i]); break;
        case WG_EARLY_E8M6: value[i] = random_f8(x, 17, random[i]); break;
        case WG_EARLY_16_E8M6: value[i] = random_f8(stored_bf16(high[i]), 17, random[i]); break;
        case WG_EARLY_16_E5M6: value[i] = random_e5m6(wg_dst16_to_fp16(high[i]), random[i]); break;
        case WG_EARLY_INT8: value[i] = random_descale(x, shift, false, random[i]); break;
        case WG_EARLY_UINT8: value[i] = random_descale(x, shift, true, random[i]); break;
        default: value[i] = early_one(early, shift, high[i], low[i]); break;
        }
    }
}

/*
 * Decided here: for integers, "-infinity" is the bit pattern of an FP32's (INT32) or the least number; for FP16 it
 * is the largest magnitude, as in FloatBitPatterns.md.
 */
uint32_t wg_pack_minus_infinity(wg_pack_early early)
{
    switch (wg_pack_early_mid(early)) {
    case WG_MID_F8:
    case WG_MID_INT32: return 0xFF800000;
    case WG_MID_INT16: return 0xFFFF;
    case WG_MID_INT8: return 0xFF;
    case WG_MID_F5: break;
    }
    return early == WG_EARLY_16_E5M7   ? 0xFFF8
           : early == WG_EARLY_16_E5M6 ? 0xFFF0
           : early == WG_EARLY_16_FP8  ? 0xFF00
                                       : 0xFFFF;
}

/* ---- ReLU ---------------------------------------------------------------------------------------------------- */

/* Magnitudes compare like numbers: a positive NaN is above every threshold. */
void wg_pack_relu_row(wg_mid mid, unsigned mode, uint16_t threshold, unsigned count, uint32_t value[16])
{
    static const uint32_t signs[] = {[WG_MID_F8] = 0x80000000,
                                     [WG_MID_F5] = 0x8000,
                                     [WG_MID_INT32] = 0x80000000,
                                     [WG_MID_INT16] = 0x8000,
                                     [WG_MID_INT8] = 0x80};
    uint32_t sign = signs[mid], limit = mid == WG_MID_F8 || mid == WG_MID_INT32 ? (uint32_t)threshold << 16 : threshold;
    for (unsigned i = 0; i < count; i++) {
        uint32_t x = value[i] & sign ? 0 : value[i];
        if (mode == 2 && x <= limit)
            x = 0;
        if (mode == 3 && x > limit)
            x = limit;
        value[i] = x;
    }
}

/* ---- Late ---------------------------------------------------------------------------------------------------- */

static bool is_float(wg_mid mid) { return mid <= WG_MID_F5; }

/* Decided here: an undefined conversion to an integer format keeps the low bits, one from it treats them as a float. */
bool wg_pack_late_of(wg_mid mid, unsigned in, unsigned out, bool four_exponent_bits, wg_pack_late *late)
{
    static const uint8_t target[16] = {
        [WG_FMT_FP32] = TO_32,     [WG_FMT_TF32] = TO_TF32,  [WG_FMT_BF16] = TO_BF16, [WG_FMT_BFP8] = TO_BF16,
        [WG_FMT_BFP4] = TO_BF16,   [WG_FMT_BFP2] = TO_BF16,  [WG_FMT_FP16] = TO_FP16, [WG_FMT_BFP8A] = TO_E5M7,
        [WG_FMT_BFP4A] = TO_E5M7,  [WG_FMT_BFP2A] = TO_E5M7, [WG_FMT_FP8] = TO_E5M2,  [WG_FMT_INT32] = TO_INT32,
        [WG_FMT_INT16] = TO_INT16, [WG_FMT_INT8] = TO_INT8,  [12] = TO_INT32,         [13] = TO_INT16,
    };
    static const uint8_t mantissa[16] = {23, 10, 7, 7, 10, 7, 7, 7, 0, 0, 2, 7, 0, 0, 0, 7};
    in &= 15;
    out &= 15;
    wg_mid from = wg_pack_mid_of(in), to = wg_pack_mid_of(out);
    *late = (wg_pack_late){.mid = (uint8_t)mid, .target = target[out], .flush = mantissa[in] > mantissa[out]};
    if (out == WG_FMT_FP8 && four_exponent_bits)
        late->target = TO_E4M3;
    bool bitcast = (mid == WG_MID_INT32 && from == WG_MID_F8) || (mid == WG_MID_F8 && from == WG_MID_INT32);
    if (bitcast)
        late->mid = (uint8_t)from;
    late->narrow = mid == WG_MID_F8 && from == WG_MID_F5;
    if (late->narrow)
        late->mid = WG_MID_F5;
    bool ok = (mid == from || bitcast || late->narrow) && wg_format_known(in) && wg_format_known(out);
    if (is_float(from) != is_float(to) || (!is_float(from) && from != to))
        return false;
    /* BFP4 and BFP2 are defined only in Out_data_format; FP32 to TF32 is undefined here. */
    return ok && wg_l1_bits(in) >= 8 && !(out == WG_FMT_TF32 && in == WG_FMT_FP32);
}

#define LATE(m, t) \
    case (m)*16 + (t): \
        for (unsigned i = 0; i < 16; i++) \
            value[i] = late_one(m, t, late.flush, value[i]); \
        break;
void wg_pack_late_row(wg_pack_late late, unsigned count, uint32_t value[16])
{
    if (__builtin_expect(late.narrow, 0))
        for (unsigned i = 0; i < count; i++)
            value[i] = wg_fp32_to_fp16_truncate(value[i]);
    switch (late.mid * 16 + late.target) {
        /* clang-format off */
        LATE(WG_MID_F8, TO_BF16) LATE(WG_MID_F8, TO_FP16) LATE(WG_MID_F5, TO_BF16) LATE(WG_MID_F5, TO_32)
                /* clang-format on */
                case WG_MID_F8 *
                16 +
            TO_32 : case WG_MID_F5 * 16 + TO_FP16 : break;
    default:
        for (unsigned i = 0; i < count; i++)
            value[i] = late_one(late.mid, late.target, late.flush, value[i]);
        break;
    }
}

/* The pages' table: an 8-bit float of a BFP format gets the exponent zero. */
uint32_t wg_pack_from_l1(unsigned format, uint32_t bits)
{
    switch (format & 15) {
    case WG_FMT_BF16: return bits << 16;
    case WG_FMT_BFP8:
    case WG_FMT_BFP4:
    case WG_FMT_BFP2: return (bits & 128) << 24 | (bits & 127) << 16;
    case WG_FMT_BFP8A:
    case WG_FMT_BFP4A:
    case WG_FMT_BFP2A: return (bits & 128) << 8 | (bits & 127) << 3;
    case WG_FMT_FP8: return bits << 8;
    default: return bits;
    }
}

/* ---- Accumulation in L1 -------------------------------------------------------------------------------------- */

/*
 * Sum of two numbers with a sign, an exponent and a mantissa of at most 24 bits, to nearest even. `keep` mantissa
 * bits below the leading one remain. An exponent of 0 is a zero. The result's exponent may be out of range.
 */
typedef struct number {
    bool sign;
    int exponent;
    uint32_t mantissa;
} number;

static number add(number a, number b, unsigned keep)
{
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa)) {
        number other = a;
        a = b;
        b = other;
    }
    /* 32 places below the mantissa; bits shifted out further stay as a sticky lowest bit. */
    uint64_t x = (uint64_t)a.mantissa << 32, y = (uint64_t)b.mantissa << 32;
    int distance = a.exponent - b.exponent;
    if (distance > 60)
        y = y != 0;
    else
        y = y >> distance | ((y & ((UINT64_C(1) << distance) - 1)) != 0);
    number sum = {.sign = a.sign, .exponent = a.exponent};
    uint64_t m = a.sign == b.sign ? x + y : x - y;
    if (!m) {
        sum.sign = a.sign && b.sign;
        sum.exponent = 0;
        return sum;
    }
    int top = 63 - __builtin_clzll(m);
    sum.exponent += top - 55; /* the leading one of a normal mantissa is at 23 + 32 */
    unsigned drop = (unsigned)top - keep;
    uint64_t rest = m & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
    m >>= drop;
    m += rest > half || (rest == half && m & 1);
    if (m >> (keep + 1)) {
        m >>= 1;
        sum.exponent++;
    }
    sum.mantissa = (uint32_t)m;
    return sum;
}

static number number_of(uint32_t bits)
{
    unsigned exponent = bits >> 23 & 255;
    return (number){
        .sign = bits >> 31, .exponent = (int)exponent, .mantissa = exponent ? (bits & 0x7FFFFF) | 0x800000 : 0};
}

/* Denormals are zeros on both sides; every NaN is 0x7FC00000 (ttsim). */
static uint32_t add_fp32(uint32_t a, uint32_t b)
{
    bool a_top = (a & 0x7F800000) == 0x7F800000, b_top = (b & 0x7F800000) == 0x7F800000;
    if (a_top || b_top) {
        bool nan = (a_top && a & 0x7FFFFF) || (b_top && b & 0x7FFFFF) || (a_top && b_top && (a ^ b) >> 31);
        return nan ? 0x7FC00000 : a_top ? a : b;
    }
    number s = add(number_of(a), number_of(b), 23);
    uint32_t sign = (uint32_t)s.sign << 31;
    if (s.exponent <= 0)
        return sign;
    return s.exponent >= 255 ? sign | 0x7F800000 : sign | (uint32_t)s.exponent << 23 | (s.mantissa & 0x7FFFFF);
}

/* ttsim: a NaN in L1 is larger than everything but infinity; a NaN to be added is treated as a large number. */
static uint32_t add_bf16(uint32_t old, uint32_t x)
{
    bool old_infinite = (old & 0x7FFF) == 0x7F80, infinite = (x & 0x7FFF) == 0x7F80;
    if (old_infinite && infinite)
        return old == x ? old : 0x7FC0;
    if (infinite)
        return x;
    if (old_infinite || (old & 0x7FFF) > 0x7F80)
        return (old & 0x8000) | 0x7F80;
    number a = number_of(old << 16), b = number_of(x << 16), s = add(a, b, 7);
    /* An exponent out of range before rounding, or by rounding, makes no difference here. */
    uint32_t sign = (uint32_t)s.sign << 15;
    if (s.exponent <= 0)
        return sign;
    return s.exponent >= 255 ? sign | 0x7F80 : sign | (uint32_t)s.exponent << 7 | (s.mantissa & 0x7F);
}

/* ttsim: rounded twice, through FP32; an underflow saturates, as do some zeros. */
static uint32_t add_fp16(uint32_t old, uint32_t x)
{
    uint32_t a = (old & 0x7FFF) < 0x400 ? (old & 0x8000) << 16 : widen(old);
    uint32_t b = (x & 0x7FFF) < 0x400 ? (x & 0x8000) << 16 : widen(x);
    uint32_t sum = add_fp32(a, b), sign = sum >> 16 & 0x8000, m = sum & 0x7FFFFF;
    if (!(sum & 0x7FFFFFFF))
        return sign | ((old >> 10 & 31) >= 30 ? 0x7FFF : 0);
    int exponent = (int)(sum >> 23 & 255) - 112;
    if (exponent <= 0)
        return sign | (exponent < 0 ? 0x7FFF : 0);
    uint32_t packed = ((uint32_t)exponent << 10) + ((m + 0xFFF + (m >> 13 & 1)) >> 13);
    return sign | (packed < 0x8000 ? packed : 0x7FFF);
}

static uint32_t add_int32(uint32_t a, uint32_t b)
{
    int64_t x = a & 0x7FFFFFFF, y = b & 0x7FFFFFFF, sum = (a >> 31 ? -x : x) + (b >> 31 ? -y : y);
    int64_t magnitude = sum < 0 ? -sum : sum;
    magnitude = magnitude > 0x7FFFFFFF ? 0x7FFFFFFF : magnitude;
    return (sum < 0 ? 0x80000000u : 0) | (uint32_t)magnitude;
}

bool wg_pack_accumulates(unsigned format)
{
    return format == WG_FMT_FP32 || format == WG_FMT_INT32 || format == WG_FMT_FP16 || format == WG_FMT_BF16;
}

void wg_pack_accumulate(unsigned format, uint8_t line[16], const uint8_t added[16])
{
    if (format == WG_FMT_FP32 || format == WG_FMT_INT32) {
        uint32_t a[4], b[4];
        memcpy(a, line, 16);
        memcpy(b, added, 16);
        for (unsigned i = 0; i < 4; i++)
            a[i] = format == WG_FMT_FP32 ? add_fp32(a[i], b[i]) : add_int32(a[i], b[i]);
        memcpy(line, a, 16);
    } else {
        uint16_t a[8], b[8];
        memcpy(a, line, 16);
        memcpy(b, added, 16);
        for (unsigned i = 0; i < 8; i++)
            a[i] = (uint16_t)(format == WG_FMT_FP16 ? add_fp16(a[i], b[i]) : add_bf16(a[i], b[i]));
        memcpy(line, a, 16);
    }
}
