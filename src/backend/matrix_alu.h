/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Matrix Unit's arithmetic on single datums, in integers.
 *
 * A multiplication uses five mantissa bits of SrcA and seven of SrcB. Two groups of eight products are each aligned to their
 * largest exponent and added; the two sums and the datum of Dst are aligned to their largest exponent and added; the result
 * is normalised and rounded to Dst's format.
 *
 *      product  12 bits   aligned: half away from zero
 *      sum      16 bits, signed, then 13 places to the left
 *      Dst      24 bits   aligned: half away from zero;  sums aligned: half up
 *      16-bit Dst: all three terms lose their low 13 bits before they are added (sums half up, Dst half away)
 *      total    rounded half away from zero to 24, 11 or 8 bits, or at random (ALU_ROUNDING_MODE_Fpu_srnd_en): up if the
 *               dropped bits are at least a random number, as SFPSTOCHRND and the packers do (decided here)
 *
 * There are no denormals (an exponent of 0 is zero), no NaN, and no infinity among the inputs; an overflow becomes exponent
 * 255 and mantissa 0, in FP16 exponent 31 and mantissa 1023. A zero is positive.
 *
 * Values in "working order" are CPU order in 32 bits: sign, eight bits of exponent, 23 of mantissa; an FP16
 * keeps its five exponent bits and its bias.
 *
 * Facts: SrcASrcB.md (the bits used by a fidelity phase), FloatBitPatterns.md; ttsim for alignment and rounding.
 */
#ifndef WG_MATRIX_ALU_H
#define WG_MATRIX_ALU_H

#include "machine/matrix_state.h"
#include "num/formats.h"
#include "machine/lreg.h"

#include <stddef.h>

typedef struct wg_alu {
    bool wide;      /* Dst holds 32 bits */
    bool exp8;      /* eight exponent bits (TF32, BF16), else five (FP16) */
    bool lost_one;  /* WH: a total of exactly -1 is normalised wrongly */
    int16_t adjust; /* added to the sum of two biased exponents to make it one */
    int16_t lowest; /* the exponent of a product with zero */
    uint32_t *prng; /* stochastic rounding: a generator per column; NULL: rounding to nearest */
} wg_alu;

/* The 23-bit number that the bits dropped by rounding are compared with: half, or the column's next random number. */
enum { WG_ALU_HALF = 0x400000 };
static inline uint32_t wg_alu_threshold(const wg_alu *m, unsigned column)
{
    if (!m->prng)
        return WG_ALU_HALF;
    uint32_t random = m->prng[column & 15];
    m->prng[column & 15] = wg_prng_step(random);
    return random & 0x7FFFFF;
}

static inline wg_alu wg_alu_for(bool wide, bool exp8, bool lost_one, unsigned phase)
{
    int adjust = exp8 ? -127 : wide ? 127 - 30 : -15;
    adjust -= (phase & 1 ? 5 : 0) + (phase & 2 ? 7 : 0);
    return (wg_alu){wide, exp8, lost_one, (int16_t)adjust, (int16_t)(adjust > 0 ? adjust : 0), NULL};
}

static inline int32_t wg_alu_align(int32_t value, int places)
{
    if (places > 30)
        places = 30; /* shifts out all 29 bits in any case */
    return places > 0 ? (value + (INT32_C(1) << (places - 1))) >> places : value;
}

/* Adds two sums of products (already shifted 13 places) to a Dst value in working order. */
static inline uint32_t wg_alu_accumulate(const wg_alu *m, int32_t sum0, int exp0, int32_t sum1, int exp1, uint32_t dst,
                                         uint32_t threshold)
{
    int exp_dst = (int)(dst >> 23 & 0xFF);
    int32_t man_dst = exp_dst ? (int32_t)((dst & 0x7FFFFF) | 0x800000) : 0;
    int exp = exp0 > exp1 ? exp0 : exp1;
    exp = exp > exp_dst ? exp : exp_dst;
    if (exp <= 0)
        return 0;
    sum0 = wg_alu_align(sum0, exp - exp0);
    sum1 = wg_alu_align(sum1, exp - exp1);
    man_dst = wg_alu_align(man_dst, exp - exp_dst);
    if (!m->wide) {
        sum0 = (sum0 + 0x1000) & ~0x1FFF;
        sum1 = (sum1 + 0x1000) & ~0x1FFF;
        man_dst = (man_dst + 0x1000) & ~0x1FFF;
    }
    int32_t total = (dst >> 31 ? -man_dst : man_dst) + sum0 + sum1;
    if (!total)
        return 0;
    uint32_t sign = (uint32_t)total & UINT32_C(0x80000000);
    uint32_t magnitude = total < 0 ? 0u - (uint32_t)total : (uint32_t)total;
    int left = __builtin_clz(magnitude);
    uint32_t mantissa; /* 24 bits, one more if rounding carries */
    if (m->lost_one && total == -1) {
        left = 4; /* normalised as if it were five places longer: the one is shifted out */
        mantissa = 0;
    } else {
        unsigned drop = m->wide ? 8 : m->exp8 ? 24 : 21;
        uint32_t top = magnitude << left;
        uint32_t dropped = top & ((1u << drop) - 1), least = drop > 23 ? threshold << 1 : threshold >> (23 - drop);
        mantissa = ((top >> drop) + (dropped >= least)) << (drop - 8);
    }
    exp -= left - 8;
    exp += (int)(mantissa >> 24);
    if (exp <= 0)
        return 0;
    if (m->wide || m->exp8)
        return exp >= 255 ? sign | UINT32_C(255) << 23 : sign | (uint32_t)exp << 23 | (mantissa & 0x7FFFFF);
    return exp >= 32 ? sign | UINT32_C(31) << 23 | UINT32_C(0x3FF) << 13
                     : sign | (uint32_t)exp << 23 | (mantissa & 0x7FFFFF);
}

/* Dst's layout <-> working order. */
static inline uint32_t wg_alu_from_dst(const wg_alu *m, uint16_t hi, uint16_t lo)
{
    if (m->wide)
        return (uint32_t)wg_dst16_to_bf16(hi) << 16 | lo;
    if (m->exp8)
        return (uint32_t)wg_dst16_to_bf16(hi) << 16;
    return (uint32_t)(hi & 0x8000) << 16 | (uint32_t)(hi & 0x1F) << 23 | (uint32_t)(hi >> 5 & 0x3FF) << 13;
}
static inline uint16_t wg_alu_to_dst_hi(const wg_alu *m, uint32_t x)
{
    if (m->wide || m->exp8)
        return wg_dst16_from_bf16((uint16_t)(x >> 16));
    return (uint16_t)((x >> 16 & 0x8000) | (x >> 13 & 0x3FF) << 5 | (x >> 23 & 0x1F));
}

/* The bits of a source datum that exist in a style. */
static inline uint32_t wg_src_of_style(uint32_t x, wg_style style)
{
    return style == WG_STYLE_BF16 ? x & ~UINT32_C(0x700) : style == WG_STYLE_FP16 ? x & ~UINT32_C(0xE0) : x;
}

/* The five bits of SrcA's mantissa, seven of SrcB's, that a fidelity phase uses. */
static inline int32_t wg_alu_mantissa_a(uint32_t src, unsigned phase)
{
    uint32_t mantissa = (src >> 8 & 0x3FF) | 0x400;
    return (int32_t)(phase & 1 ? mantissa >> 1 & 31 : mantissa >> 6);
}
static inline int32_t wg_alu_mantissa_b(uint32_t src, unsigned phase)
{
    uint32_t mantissa = (src >> 8 & 0x3FF) | 0x400;
    return (int32_t)(phase & 2 ? (mantissa & 15) << 3 : mantissa >> 4);
}
/* INT8: the bits of magnitude that a phase uses, in place. */
static inline int32_t wg_alu_int_a(uint32_t src, unsigned phase)
{
    int32_t magnitude = (int32_t)(src >> 8 & (phase & 1 ? 0x1F : 0xE0));
    return src & WG_SRC_SIGN ? -magnitude : magnitude;
}
static inline int32_t wg_alu_int_b(uint32_t src, unsigned phase)
{
    int32_t magnitude = (int32_t)(src >> 8 & (phase & 2 ? 0x00F : 0x3F0));
    return src & WG_SRC_SIGN ? -magnitude : magnitude;
}

/* INT32 in Dst saturates at +-(2^31 - 1). */
static inline int32_t wg_alu_saturate(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < -INT32_MAX ? -INT32_MAX : (int32_t)x;
}

#endif
