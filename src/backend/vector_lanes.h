/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion between Dst's rows and 32 lanes for SFPLOAD and SFPSTORE. One source, compiled for every level of host vectors
 * (vector_simd*.c): LANES_TARGET is the attribute of the level, empty for the scalar code.
 */
#ifndef WG_VECTOR_LANES_H
#define WG_VECTOR_LANES_H

#include "backend/vector.h"

#include <string.h>

#define SIGN 0x80000000u
#define LANES LANES_TARGET static inline __attribute__((always_inline))

/* BF16 and the upper half of 32 bits: Sign, Exp(8), Man(7) is stored as Sign, Man(7), Exp(8). */
LANES uint32_t unshuffle16(uint32_t v) { return (v & 0x8000) | (v & 0xFF) << 7 | (v & 0x7F00) >> 8; }
LANES uint32_t shuffle16(uint32_t v) { return (v & 0x8000) | (v & 0x7F80) >> 7 | (v & 0x7F) << 8; }
/* FP16: Sign, Exp(5), Man(10) is stored as Sign, Man(10), Exp(5). */
LANES uint32_t shuffle_fp16(uint32_t v) { return (v & 0x8000) | (v & 0x7C00) >> 10 | (v & 0x3FF) << 5; }
LANES uint32_t unshuffle32(uint32_t v) { return unshuffle16(v >> 16) << 16 | (v & 0xFFFF); }
LANES uint32_t shuffle32(uint32_t v) { return shuffle16(v >> 16) << 16 | (v & 0xFFFF); }
/* Sign and magnitude to two's complement, and back (-2^31 becomes -0). */
LANES uint32_t complement(uint32_t v) { return v & SIGN ? 0 - (v & ~SIGN) : v; }
LANES uint32_t sign_magnitude(uint32_t v) { return v & SIGN ? SIGN | ((0 - v) & ~SIGN) : v; }

LANES uint32_t load_fp16(uint32_t v, bool infinity)
{
    uint32_t exponent = v & 31, fraction = v >> 5 & 0x3FF;
    if (infinity && exponent == 31 && fraction == 0x3FF)
        return v >> 15 << 31 | 0x7F800000;
    return v >> 15 << 31 | (exponent ? exponent + 112 : 0) << 23 | fraction << 13;
}

LANES uint32_t store_fp16(uint32_t v)
{
    int exponent = (int)(v >> 23 & 0xFF) - 112;
    uint32_t sign = v >> 31 << 15;
    if (exponent <= 0)
        return sign;
    if (exponent > 31)
        return sign | 0x7FFF;
    return sign | (uint32_t)exponent << 10 | (v >> 13 & 0x3FF);
}

LANES uint32_t flush(uint32_t v) { return v & 0x7F800000 ? v : v & SIGN; }

/*
 * The halves of 32 lanes in one row group. Rows that are undefined read as zero (ruling: ttsim; the
 * documents do not say).
 */
LANES void gather(const wg_dst *d, const wg_lanes_move *m, unsigned at, uint32_t out[WG_LANES])
{
    uint32_t pair[WG_LANES], odd = m->odd;
    memcpy(pair, d->bits[m->stored + at], sizeof pair); /* four consecutive rows */
    if (!odd)
        for (unsigned i = 0; i < WG_LANES; i++)
            out[i] = pair[i] & 0xFFFF;
    else if (odd == ~0u)
        for (unsigned i = 0; i < WG_LANES; i++)
            out[i] = pair[i] >> 16;
    else
        for (unsigned i = 0; i < WG_LANES; i++)
            out[i] = odd >> i & 1 ? pair[i] >> 16 : pair[i] & 0xFFFF;
    if (__builtin_expect(m->blank != 0, 0))
        for (unsigned i = 0; i < WG_LANES; i++)
            out[i] = m->blank >> i / 8 & 1 ? 0 : out[i];
}

LANES void scatter(wg_dst *d, const wg_lanes_move *m, unsigned at, const uint32_t in[WG_LANES])
{
    uint32_t pair[WG_LANES], odd = m->odd, lanes = m->lanes;
    memcpy(pair, d->bits[m->stored + at], sizeof pair);
    if (lanes == ~0u && !odd)
        for (unsigned i = 0; i < WG_LANES; i++)
            pair[i] = (pair[i] & 0xFFFF0000u) | (in[i] & 0xFFFF);
    else if (lanes == ~0u && odd == ~0u)
        for (unsigned i = 0; i < WG_LANES; i++)
            pair[i] = (pair[i] & 0xFFFF) | in[i] << 16;
    else
        for (unsigned i = 0; i < WG_LANES; i++) {
            uint32_t shift = (odd >> i & 1) * 16, half = 0xFFFFu & (0 - (lanes >> i & 1));
            pair[i] = (pair[i] & ~(half << shift)) | (in[i] & half) << shift;
        }
    memcpy(d->bits[m->stored + at], pair, sizeof pair);
}

/* `high` is the high half of wide formats. */
LANES void convert_load(const wg_lanes_move *m, uint32_t v[WG_LANES], const uint32_t high[WG_LANES],
                        const uint32_t old[WG_LANES])
{
#define EACH(expression) \
    for (unsigned lane = 0; lane < WG_LANES; lane++) \
    v[lane] = (expression)
    switch (m->format) {
    case WG_LANES_FP16: EACH(load_fp16(v[lane], m->infinity >> lane & 1)); break;
    case WG_LANES_BF16: EACH(unshuffle16(v[lane]) << 16); break;
    case WG_LANES_FP32:
    case WG_LANES_INT32:
    case WG_LANES_INT32_ALL: EACH(unshuffle32(high[lane] << 16 | v[lane])); break;
    case WG_LANES_INT32_SM:
        EACH(unshuffle32(high[lane] << 16 | v[lane]));
        if (m->traits->twos_complement)
            EACH(complement(v[lane]));
        break;
    case WG_LANES_INT8: EACH(v[lane] >> 15 << 31 | (v[lane] >> 5 & m->traits->int8_magnitude)); break;
    case WG_LANES_INT8_COMP:
        EACH(v[lane] >> 15 << 31 | (v[lane] >> 5 & 0x3FF));
        if (m->traits->twos_complement)
            EACH(complement(v[lane]));
        break;
    case WG_LANES_INT16: EACH(v[lane] >> 15 << 31 | (v[lane] & 0x7FFF)); break;
    case WG_LANES_HI16: EACH(v[lane] << 16); break;
    case WG_LANES_LO16_ONLY: EACH((old[lane] & 0xFFFF0000u) | v[lane]); break;
    case WG_LANES_HI16_ONLY: EACH(v[lane] << 16 | (old[lane] & 0xFFFF)); break;
    case WG_LANES_ZERO: EACH(0); break;
    default: break; /* UINT16, LO16: zero-extended */
    }
#undef EACH
}

LANES void convert_store(const wg_lanes_move *m, uint32_t v[WG_LANES])
{
    const wg_vector_traits *traits = m->traits;
    unsigned format = m->format;
    bool complement_in = traits->twos_complement && (format == WG_LANES_INT32_SM || format == WG_LANES_INT8_COMP);
#define EACH(expression) \
    for (unsigned lane = 0; lane < WG_LANES; lane++) \
    v[lane] = (expression)
    if (complement_in)
        EACH(sign_magnitude(v[lane]));
    switch (format) {
    case WG_LANES_FP16: EACH(shuffle_fp16(store_fp16(v[lane]))); break;
    case WG_LANES_BF16: EACH(shuffle16(flush(v[lane]) >> 16)); break;
    case WG_LANES_FP32:
        if (traits->store_flushes)
            EACH(flush(v[lane]));
        EACH(shuffle32(v[lane]));
        break;
    case WG_LANES_INT32:
    case WG_LANES_INT32_ALL:
    case WG_LANES_INT32_SM: EACH(shuffle32(v[lane])); break;
    case WG_LANES_INT8:
    case WG_LANES_INT8_COMP: EACH(shuffle_fp16(v[lane] >> 31 << 15 | 16u << 10 | (v[lane] & 0x3FF))); break;
    case WG_LANES_HI16_ONLY: EACH(v[lane] >> 16); break;
    case WG_LANES_INT16: EACH(v[lane] >> 31 << 15 | (v[lane] & 0x7FFF)); break;
    case WG_LANES_LO16: EACH(v[lane] << 16 | v[lane] >> 16); break;
    case WG_LANES_ZERO: EACH(0); break;
    default: break; /* UINT16, LO16_ONLY: the low half; HI16: all 32 bits */
    }
#undef EACH
}

LANES void load_lanes(uint32_t *out, const wg_dst *d, const wg_lanes_move *m, const uint32_t *old)
{
    uint32_t high[WG_LANES], v[WG_LANES];
    if (m->wide)
        gather(d, m, 0, high);
    gather(d, m, m->wide ? WG_DST_LOW : 0, v);
    convert_load(m, v, high, old);
    memcpy(out, v, sizeof v);
}

LANES void store_lanes(wg_dst *d, const wg_lanes_move *m, const uint32_t *from)
{
    uint32_t v[WG_LANES], half[WG_LANES];
    memcpy(v, from, sizeof v);
    convert_store(m, v);
    if (m->wide) {
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            half[lane] = v[lane] >> 16;
        scatter(d, m, 0, half);
    }
    scatter(d, m, m->wide ? WG_DST_LOW : 0, v);
}

#undef SIGN
#endif
