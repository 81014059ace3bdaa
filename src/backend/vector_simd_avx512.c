/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's kernels with AVX-512 (F, BW, DQ, VL, CD). num/fma.c is the specification.
 *
 * Integers throughout, except for one conversion: the sum's magnitude is below 2^29, and converting it to
 * FP32 with the rounding mode given in the instruction normalises it and rounds it to nearest even in one
 * step; it neither depends on MXCSR's modes nor sets its flags. Lanes with an infinity or a NaN,
 * and results outside the normal range, are left to the scalar code.
 */
#include "backend/vector.h"

#include "num/fma.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd")))
#define LANES_TARGET TARGET
#include "backend/vector_lanes.h"

/* Constants come from memory: broadcasting them from there occupies no arithmetic unit. */
enum { FRACTION, HIDDEN, CUT, ONE, FIELD, BIAS, SCALE, LEAST, SPAN, SIGN, LOST_FROM, LOST, CONSTANTS };
static const uint32_t constants[CONSTANTS] = {
    [FRACTION] = 0x7FFFFF,
    [HIDDEN] = 0x800000,
    [CUT] = 0xFFFFF,
    [ONE] = 1,
    [FIELD] = 0x7F800000,
    [BIAS] = 127u << 23,
    [SCALE] = (127u + 26) << 23,
    [LEAST] = 0x800000,
    [SPAN] = 0x7F000000,
    [SIGN] = 0x80000000,
    [LOST_FROM] = 0xFFFFFFF,
    [LOST] = 2,
};
#define ALL(name) _mm512_set1_epi32((int)k[name])

TARGET static inline __m512i mantissa(__mmask16 normal, __m512i v, const uint32_t *k)
{
    return _mm512_maskz_ternarylogic_epi32(normal, v, ALL(FRACTION), ALL(HIDDEN), 0xEA); /* v & fraction | hidden */
}

/* Upper 28 bits of the 48-bit products, the lowest sticky. */
TARGET static inline __m512i products(__m512i x, __m512i y, const uint32_t *k)
{
    __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(x, y), 20);
    __m512i odd = _mm512_slli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(y, 32)), 12);
    __m512i high = _mm512_mask_blend_epi32(0xAAAA, even, odd);
    __mmask16 inexact = _mm512_test_epi32_mask(_mm512_mullo_epi32(x, y), ALL(CUT));
    return _mm512_mask_or_epi32(high, inexact, high, ALL(ONE));
}

typedef enum shape { FMA, MUL, ADD } shape;
#define INLINE TARGET static inline __attribute__((always_inline))

/*
 * Sixteen lanes; bits of *rare request the scalar code. Exponents stay in their place, bits 30…23; sums of two
 * wrap to negative ones from 2^8 on. A product of zero has exponent 0. MUL assumes that z is zero, ADD that x is 1.0.
 */
INLINE __m512i fma16(__m512i x, __m512i y, __m512i z, bool wh, shape kind, __mmask16 *rare, const uint32_t *k)
{
    const __m512i field = ALL(FIELD);
    __m512i sign_p = kind == ADD ? y : _mm512_xor_si512(x, y), ye = _mm512_and_si512(y, field), pe = ye, pm, most = ye;
    __mmask16 y_normal = _mm512_test_epi32_mask(ye, ye), out_of_range = 0, opposite = 0;
    if (kind == ADD) {
        pm = _mm512_slli_epi32(mantissa(y_normal, y, k), 3);
    } else {
        __m512i xe = _mm512_and_si512(x, field);
        __mmask16 normal = _mm512_mask_test_epi32_mask(y_normal, xe, xe);
        pm = products(mantissa(normal, x, k), mantissa(normal, y, k), k);
        pe = _mm512_maskz_sub_epi32(normal, _mm512_add_epi32(xe, ye), ALL(BIAS));
        out_of_range = _mm512_movepi32_mask(pe);
        most = _mm512_max_epi32(xe, ye);
    }
    __m512i sum = pm, sign = sign_p, e = pe;
    if (kind != MUL) {
        __m512i ze = _mm512_and_si512(z, field);
        __m512i zm = _mm512_slli_epi32(mantissa(_mm512_test_epi32_mask(ze, ze), z, k), 3);
        /* Align the smaller exponent's magnitude, sticky unless nothing remains. */
        __m512i distance = _mm512_sub_epi32(pe, ze);
        __mmask16 z_above = _mm512_movepi32_mask(distance);
        __m512i big = _mm512_mask_blend_epi32(z_above, pm, zm), small = _mm512_mask_blend_epi32(z_above, zm, pm);
        __m512i by = _mm512_srli_epi32(_mm512_abs_epi32(distance), 23), kept = _mm512_srlv_epi32(small, by);
        __mmask16 left = _mm512_test_epi32_mask(kept, kept);
        __mmask16 cut = _mm512_mask_cmpneq_epi32_mask(left, _mm512_sllv_epi32(kept, by), small);
        kept = _mm512_mask_or_epi32(kept, cut, kept, ALL(ONE));
        opposite = _mm512_movepi32_mask(_mm512_xor_si512(sign_p, z));
        __m512i difference = _mm512_mask_sub_epi32(_mm512_add_epi32(big, kept), opposite, big, kept);
        /* a negative difference inverts the greater exponent's sign */
        sign = _mm512_xor_si512(_mm512_mask_blend_epi32(z_above, sign_p, z), difference);
        sum = _mm512_abs_epi32(difference);
        e = _mm512_max_epi32(pe, ze);
    }
    __mmask16 nonzero = _mm512_test_epi32_mask(sum, sum);
    __mmask16 special = _mm512_cmpge_epi32_mask(_mm512_max_epi32(most, e), field);
    if (wh) { /* of sums from 2^28 on, bit 1 is lost */
        __mmask16 lost = _mm512_cmpgt_epi32_mask(sum, ALL(LOST_FROM));
        sum = _mm512_mask_andnot_epi32(sum, lost, ALL(LOST), sum);
    }
    __m512i rounded = _mm512_castps_si512(_mm512_cvt_roundepi32_ps(sum, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    __m512i bits = _mm512_maskz_add_epi32(nonzero, rounded, _mm512_sub_epi32(e, ALL(SCALE)));
    /* Exponents 1…254 are exact; others go to the scalar code. */
    __mmask16 outside = _mm512_mask_cmpge_epu32_mask(nonzero, _mm512_sub_epi32(bits, ALL(LEAST)), ALL(SPAN));
    *rare = special | out_of_range | outside;
    if (kind == MUL)
        opposite = _mm512_movepi32_mask(_mm512_xor_si512(sign_p, z));
    /* A zero has the common sign of both (BH), or none: cancelled magnitudes had opposite signs. */
    __mmask16 has_sign = wh ? nonzero : (__mmask16)(nonzero | ~opposite);
    return _mm512_mask_ternarylogic_epi32(bits, has_sign, sign, ALL(SIGN), 0xF8);
}

INLINE void lanes(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b,
                  uint32_t flip_c, bool wh, shape kind)
{
    const uint32_t *k = constants;
    __asm__("" : "+r"(k)); /* keeps the compiler from folding them into immediates */
    uint32_t rare = 0;
    for (unsigned i = 0; i < WG_LANES; i += 16) {
        __m512i y = _mm512_loadu_si512(b + i), z = _mm512_loadu_si512(c + i);
        if (flip_b | flip_c) {
            y = _mm512_xor_si512(y, _mm512_set1_epi32((int)flip_b));
            z = _mm512_xor_si512(z, _mm512_set1_epi32((int)flip_c));
        }
        __mmask16 some;
        _mm512_storeu_si512(out + i, fma16(_mm512_loadu_si512(a + i), y, z, wh, kind, &some, k));
        rare |= (uint32_t)some << i;
    }
    for (; __builtin_expect(rare != 0, 0); rare &= rare - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rare);
        out[lane] = (wh ? wg_fma_wh : wg_fma_bh)(a[lane], b[lane] ^ flip_b, c[lane] ^ flip_c);
    }
}

/*
 * Products and sums of normal numbers with a normal result are those of IEEE 754 (for the reasons below), so the host's own
 * instructions can be used, with the rounding mode in the instruction. Inputs and results that are not normal, which DAZ and
 * FTZ could change, send all lanes to the code above.
 *
 * MUL: the product is cut to at least 26 bits below its leading one with a sticky bit, and rounded once; only a
 * result of exactly 2^-126 may have been rounded up from below the normal range, so it counts as not normal.
 * ADD: both operands are exact with three bits to spare. A shift loses bits only from the fourth place on; then
 * the other operand's leading bits stay, and sticky and guard bits stand below the result. An operand shifted out entirely is
 * below an eighth of the other's last place, a quarter of it under a power of two.
 */
/* All but normal numbers of either sign. */
INLINE __mmask16 abnormal(__m512 v) { return _mm512_fpclass_ps_mask(v, 0xBF); }

INLINE void by_host(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b,
                    uint32_t flip_c, bool wh, shape kind)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    __m512i fb = _mm512_set1_epi32((int)flip_b), fc = _mm512_set1_epi32((int)flip_c);
    __mmask16 odd = 0;
    for (unsigned i = 0; i < WG_LANES; i += 16) {
        __m512 y = _mm512_castsi512_ps(_mm512_xor_si512(_mm512_loadu_si512(b + i), fb)), other, r;
        if (kind == MUL) {
            other = _mm512_loadu_ps(a + i);
            r = _mm512_mul_round_ps(other, y, NEAREST);
            __m512i magnitude = _mm512_slli_epi32(_mm512_castps_si512(r), 1);
            odd |= _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x01000000));
        } else {
            other = _mm512_castsi512_ps(_mm512_xor_si512(_mm512_loadu_si512(c + i), fc));
            r = _mm512_add_round_ps(y, other, NEAREST);
        }
        odd |= abnormal(y) | abnormal(other) | abnormal(r);
        _mm512_storeu_ps(out + i, r);
    }
    if (__builtin_expect(odd != 0, 0))
        lanes(out, a, b, c, flip_b, flip_c, wh, kind);
}

/*
 * FMA: the sum is that of the exact product and addend with bits below an eighth of the greater one's last place
 * jammed into the lowest kept, odd, bit. Ties lie on even bits, so a jammed operand beside an even one cannot make or
 * hide one, and rounding it gives the result of IEEE 754's fused multiply-add. The addend is even if its exponent is at
 * most two below the product's; a product that fits a host float serves as well. A difference may lose one leading bit, not
 * more; an operand shifted out entirely rounds away in either case. WH's lost bit needs a sum of 29 bits. From LEAST_EXACT
 * on, a product's last bits are a normal number, so the test for them does not underflow.
 */
INLINE __mmask16 unlike_ieee(__m512 x, __m512 y, __m512 z, __m512 r, bool wh)
{
    enum { EXACT = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC, UNIT = 1 << 23, LEAST_EXACT = 50 };
    const __m512i field = _mm512_set1_epi32(0x7F800000);
    __m512i ze = _mm512_and_si512(_mm512_castps_si512(z), field), re = _mm512_and_si512(_mm512_castps_si512(r), field);
    __m512i pe = _mm512_sub_epi32(_mm512_add_epi32(_mm512_and_si512(_mm512_castps_si512(x), field),
                                                   _mm512_and_si512(_mm512_castps_si512(y), field)),
                                  _mm512_set1_epi32(127 * UNIT));
    __m512i gained = _mm512_sub_epi32(re, _mm512_sub_epi32(_mm512_max_epi32(pe, ze), _mm512_set1_epi32(UNIT)));
    __m512 product = _mm512_mul_round_ps(x, y, EXACT);
    __mmask16 far = _mm512_cmplt_epi32_mask(ze, _mm512_sub_epi32(pe, _mm512_set1_epi32(2 * UNIT)));
    __mmask16 odd = _mm512_mask_cmp_round_ps_mask(far, _mm512_fmsub_round_ps(x, y, product, EXACT), _mm512_setzero_ps(),
                                                  _CMP_NEQ_UQ, _MM_FROUND_NO_EXC);
    odd |= _mm512_cmpge_epu32_mask(gained, _mm512_set1_epi32((wh ? 3 : 4) * UNIT));
    odd |= _mm512_cmpge_epu32_mask(_mm512_sub_epi32(pe, _mm512_set1_epi32(LEAST_EXACT * UNIT)),
                                   _mm512_set1_epi32((255 - LEAST_EXACT) * UNIT));
    return odd | abnormal(x) | abnormal(y) | abnormal(z) | abnormal(r);
}

/* Sixteen lanes twice: operands with their signs flipped, and their fused multiply-add; false if that is not exact. */
typedef struct halves {
    __m512 low, high;
} halves;
INLINE halves both(const uint32_t *v, uint32_t flip)
{
    __m512i f = _mm512_set1_epi32((int)flip);
    return (halves){_mm512_castsi512_ps(_mm512_xor_si512(_mm512_loadu_si512(v), f)),
                    _mm512_castsi512_ps(_mm512_xor_si512(_mm512_loadu_si512(v + 16), f))};
}
INLINE bool fused_halves(halves *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b,
                         uint32_t flip_c, bool wh)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    halves x = both(a, 0), y = both(b, flip_b), z = both(c, flip_c);
    r->low = _mm512_fmadd_round_ps(x.low, y.low, z.low, NEAREST);
    r->high = _mm512_fmadd_round_ps(x.high, y.high, z.high, NEAREST);
    return !(unlike_ieee(x.low, y.low, z.low, r->low, wh) | unlike_ieee(x.high, y.high, z.high, r->high, wh));
}

#define KERNEL(name, wh, kind) \
    TARGET static void name(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t flip_b, \
                            uint32_t flip_c) \
    { \
        (kind == FMA ? lanes : by_host)(out, a, b, c, flip_b, flip_c, wh, kind); \
    }
KERNEL(fma_bh, false, FMA)
KERNEL(fma_wh, true, FMA)
KERNEL(mul_bh, false, MUL)
KERNEL(mul_wh, true, MUL)
KERNEL(add_bh, false, ADD)
KERNEL(add_wh, true, ADD)

TARGET static void blend(uint32_t *to, const uint32_t *from, uint32_t lanes)
{
    __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 16);
    if (lanes != ~0u) {
        low = _mm512_mask_blend_epi32((__mmask16)lanes, _mm512_loadu_si512(to), low);
        high = _mm512_mask_blend_epi32((__mmask16)(lanes >> 16), _mm512_loadu_si512(to + 16), high);
    }
    _mm512_storeu_si512(to, low);
    _mm512_storeu_si512(to + 16, high);
}

INLINE void mad(const wg_mad_lanes *m, bool wh)
{
    enum { PAUSE = 15 };
    halves r;
    uint32_t out[WG_LANES];
    bool fused = !*m->unfused && fused_halves(&r, m->a, m->b, m->c, m->flip_b, m->flip_c, wh);
    if (!fused)
        lanes(out, m->a, m->b, m->c, m->flip_b, m->flip_c, wh, FMA);
    _mm512_storeu_si512(m->old, _mm512_loadu_si512(m->d));
    _mm512_storeu_si512(m->old + 16, _mm512_loadu_si512(m->d + 16));
    if (!fused) {
        *m->unfused = *m->unfused ? (uint8_t)(*m->unfused - 1) : PAUSE;
        blend(m->d, out, m->lanes);
        return;
    }
    _mm512_mask_storeu_ps(m->d, (__mmask16)m->lanes, r.low);
    _mm512_mask_storeu_ps(m->d + 16, (__mmask16)(m->lanes >> 16), r.high);
}
TARGET static void mad_bh(const wg_mad_lanes *m) { mad(m, false); }
TARGET static void mad_wh(const wg_mad_lanes *m) { mad(m, true); }

TARGET static void load(uint32_t *out, const wg_dst *d, const wg_lanes_move *m, const uint32_t *old)
{
    load_lanes(out, d, m, old);
}
TARGET static void store(wg_dst *d, const wg_lanes_move *m, const uint32_t *from) { store_lanes(d, m, from); }

const wg_vector_kernels wg_vector_kernels_avx512 = {.fma = {fma_bh, fma_wh},
                                                    .mul = {mul_bh, mul_wh},
                                                    .add = {add_bh, add_wh},
                                                    .mad = {mad_bh, mad_wh},
                                                    .blend = blend,
                                                    .load = load,
                                                    .store = store};
#endif
