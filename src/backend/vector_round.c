/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's round sub-unit: the three forms of SFPSTOCHRND.
 *
 * A value is truncated, and rounded up if the truncated bits reach a threshold: half (to nearest), the maximum ("to zero",
 * though not exactly), or random bits.
 *
 * Facts: SFPSTOCHRND_FloatFloat.md, SFPSTOCHRND_FloatInt.md, SFPSTOCHRND_IntInt.md.
 */
#include "backend/vector.h"

#define SIGN 0x80000000u

static uint32_t reduce_precision(uint32_t x, unsigned cut, uint32_t threshold)
{
    uint32_t exponent = x >> 23 & 0xFF;
    if (!exponent)
        return 0;
    if (exponent == 255)
        return x & 0xFF800000u;
    uint32_t below = x & ((1u << cut) - 1);
    return x - below + (below >= threshold >> (23 - cut) ? 1u << cut : 0);
}

static uint32_t to_integer(uint32_t x, bool keep_sign, uint32_t limit, uint32_t threshold)
{
    int exponent = (int)(x >> 23 & 0xFF) - 127;
    uint32_t sign = keep_sign ? x & SIGN : 0;
    if (exponent < -1)
        return 0;
    if (exponent >= 16)
        return sign + limit;
    uint64_t fixed = (x & 0x7FFFFF) | 0x800000; /* 23 bits after the point */
    fixed = exponent >= 0 ? fixed << exponent : fixed >> -exponent;
    uint32_t magnitude = (uint32_t)(fixed >> 23) + ((fixed & 0x7FFFFF) >= threshold);
    if (magnitude > limit)
        magnitude = limit;
    return magnitude ? sign + magnitude : 0;
}

static uint32_t descale(uint32_t x, bool keep_sign, unsigned by, uint32_t threshold)
{
    uint64_t fixed = (uint64_t)(x & ~SIGN) << 23 >> by;
    uint32_t magnitude = (uint32_t)(fixed >> 23) + ((fixed & 0x7FFFFF) >= threshold);
    uint32_t limit = keep_sign ? 127 : 255;
    if (magnitude > limit)
        magnitude = limit;
    return magnitude && keep_sign ? (x & SIGN) + magnitude : magnitude;
}

void wg_sfpstochrnd(wg_tile *t, const wg_vector_op *op)
{
    static const uint16_t limit[8] = {[2] = 255, [3] = 127, [6] = 65535, [7] = 32767};
    wg_lreg *r = &t->regs.lreg;
    uint32_t lanes = wg_op_lanes(t, op), out[WG_LANES] = {0};
    unsigned mode = op->mod & 7, rounding = wg_field_at(wg_vector_traits_for(t)->rounding_mode, op->word);
    unsigned imm5 = WG_GET(SFP_STOCH_RND, imm8_math, op->word);
    for (unsigned lane = 0; lane < WG_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        uint32_t threshold = wg_prng_advance(r, lane) & 0x7FFFFF; /* the generator steps even if the value is unused */
        if (rounding == 0)
            threshold = 0x400000;
        else if (rounding == 2)
            threshold = 0x7FFFFF;
        uint32_t c = r->l[op->vc][lane];
        if (mode < 2)
            out[lane] = reduce_precision(c, mode ? 16 : 13, threshold);
        else if (mode == 4 || mode == 5)
            out[lane] = descale(c, mode & 1, op->mod & 8 ? imm5 : r->l[op->vb][lane] & 31, threshold);
        else
            out[lane] = to_integer(c, mode & 1, limit[mode], threshold);
    }
    wg_vector_put(t, op, op->vd, out, lanes);
}
