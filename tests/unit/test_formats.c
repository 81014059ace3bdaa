/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L1 formats. The oracle for values is MPFR: the value of a datum in L1, and that of the bits in Src or Dst, are both
 * computed there. In addition, golden vectors of an independent implementation (tests/data).
 */
#include "wgtest.h"

#include <stdio.h>
#include <mpfr.h>

#include "host_modes.h"
#include "num/l1_formats.h"

/* ---- Numbers ------------------------------------------------------------------------------------------------ */

typedef struct parts {
    int sign;
    unsigned exponent, mantissa;
} parts; /* ten mantissa bits (FP32: 23) */

static parts src_parts(uint32_t x) { return (parts){(int)(x >> 18 & 1), x & 0xFF, x >> 8 & 0x3FF}; }
static parts dst_bf16(uint32_t x) { return (parts){(int)(x >> 15 & 1), x & 0xFF, (x >> 8 & 0x7F) << 3}; }
static parts dst_fp16(uint32_t x) { return (parts){(int)(x >> 15 & 1), x & 0x1F, x >> 5 & 0x3FF}; }

/* (1 + mantissa / 2^bits) * 2^(exponent - bias), with the sign. No infinities: every exponent is an ordinary one. */
static void normal(mpfr_t v, parts p, unsigned bits, int bias)
{
    mpfr_set_ui(v, p.mantissa, MPFR_RNDN);
    mpfr_div_2ui(v, v, bits, MPFR_RNDN);
    mpfr_add_ui(v, v, 1, MPFR_RNDN);
    mpfr_mul_2si(v, v, (long)p.exponent - bias, MPFR_RNDN);
    if (p.sign)
        mpfr_neg(v, v, MPFR_RNDN);
}

typedef struct numbers {
    mpfr_t want, got;
} numbers;
static numbers make_numbers(void)
{
    numbers n;
    mpfr_init2(n.want, 128);
    mpfr_init2(n.got, 128);
    return n;
}
static void free_numbers(numbers *n)
{
    mpfr_clear(n->want);
    mpfr_clear(n->got);
}

/* ---- BFP: every datum with every exponent ------------------------------------------------------------------- */

/* Checks one conversion of a block format with `bits` bits and `five` or eight bits of exponent. */
static void check_bfp(numbers *n, unsigned bits, bool five, unsigned datum, unsigned exponent, parts got)
{
    unsigned top = datum >> (bits - 1) & 1, magnitude = datum & ((1u << (bits - 1)) - 1);
    unsigned mask = five ? 0x1F : 0xFF;
    if (!magnitude) { /* zero, or the largest exponent with the sign */
        assert_int_equal(got.sign, top);
        assert_int_equal(got.exponent, top ? mask : 0);
        assert_int_equal(got.mantissa, 0);
        return;
    }
    /* Mag / 2^(bits - 2), as a number; its exponent and mantissa are what normalisation has to find. */
    mpfr_set_ui(n->want, magnitude, MPFR_RNDN);
    mpfr_div_2ui(n->want, n->want, bits - 2, MPFR_RNDN);
    long shift = (long)mpfr_get_exp(n->want) - 1;
    assert_int_equal(got.sign, top);
    assert_int_equal(got.exponent, (unsigned)((long)exponent + shift) & mask);
    mpfr_div_2si(n->want, n->want, shift, MPFR_RNDN);
    mpfr_sub_ui(n->want, n->want, 1, MPFR_RNDN);
    mpfr_mul_2ui(n->want, n->want, 10, MPFR_RNDN);
    assert_int_equal(mpfr_cmp_ui(n->want, got.mantissa), 0);
}

static void test_bfp(void **state)
{
    (void)state;
    static const struct {
        wg_l1_reading reading;
        unsigned bits;
        bool five;
    } kinds[] = {
        {WG_READ_BFP8, 8, false}, {WG_READ_BFP4, 4, false}, {WG_READ_BFP2, 2, false},
        {WG_READ_BFP8A, 8, true}, {WG_READ_BFP4A, 4, true}, {WG_READ_BFP2A, 2, true},
    };
    numbers n = make_numbers();
    for (unsigned k = 0; k < 6; k++)
        for (unsigned datum = 0; datum < 1u << kinds[k].bits; datum++)
            for (unsigned exponent = 0; exponent < 256; exponent++) {
                uint32_t src = wg_l1_to_src(kinds[k].reading, datum, (uint8_t)exponent);
                uint32_t dst = wg_l1_to_dst(kinds[k].reading, datum, (uint8_t)exponent);
                check_bfp(&n, kinds[k].bits, kinds[k].five, datum, exponent, src_parts(src));
                parts in_dst = kinds[k].five ? dst_fp16(dst) : dst_bf16(dst);
                check_bfp(&n, kinds[k].bits, kinds[k].five, datum, exponent, in_dst);
            }
    /* An exponent that does not fit five bits is detected. */
    for (unsigned datum = 0; datum < 256; datum++)
        for (unsigned exponent = 0; exponent < 256; exponent++) {
            unsigned magnitude = datum & 127, zeros = 0;
            while (magnitude && !(magnitude << zeros & 64))
                zeros++;
            bool fits = !magnitude || (exponent >= zeros && exponent - zeros < 32);
            assert_int_equal(wg_bfp_a_overflows((uint8_t)datum, (uint8_t)exponent), !fits);
        }
    free_numbers(&n);
}

/* ---- Small and 16-bit formats, exhaustively -------------------------------------------------------------------- */

static void same_number(numbers *n, parts want, unsigned want_bits, int want_bias, parts got, int got_bias)
{
    normal(n->want, want, want_bits, want_bias);
    normal(n->got, got, 10, got_bias);
    assert_true(mpfr_equal_p(n->want, n->got));
}

static void test_fp8(void **state)
{
    (void)state;
    numbers n = make_numbers();
    for (unsigned x = 0; x < 256; x++) {
        int sign = (int)(x >> 7);
        parts e5m2 = {sign, x >> 2 & 31, x & 3}, e4m3 = {sign, x >> 3 & 15, x & 7};
        uint32_t value = wg_l1_to_src(WG_READ_E5M2, x, 0);
        if (e5m2.exponent)
            same_number(&n, e5m2, 2, 15, src_parts(value), 15);
        else /* exponent 0 stays 0, the mantissa stays in place: nothing is normalised */
            assert_int_equal(src_parts(value).exponent << 10 | src_parts(value).mantissa, e5m2.mantissa << 8);
        assert_int_equal(src_parts(value).sign, sign);
        uint32_t top = wg_l1_to_src(WG_READ_E5M2_TOP, x, 0);
        assert_int_equal(top, (x & 127) == 127 ? (uint32_t)sign << 18 | 0x3FFu << 8 | 31 : value);
        uint32_t four = wg_l1_to_src(WG_READ_E4M3, x, 0);
        assert_int_equal(src_parts(four).sign, sign);
        if ((x & 127) == 127)
            assert_int_equal(four & 0x3FFFF, 0x3FFu << 8 | 23);
        else if (e4m3.exponent)
            same_number(&n, e4m3, 3, 7, src_parts(four), 15);
        else
            assert_int_equal(four & 0x3FFFF, e4m3.mantissa << 7 << 8);
        wg_l1_reading all[] = {WG_READ_E5M2, WG_READ_E5M2_TOP, WG_READ_E4M3};
        for (unsigned i = 0; i < 3; i++) {
            parts a = src_parts(wg_l1_to_src(all[i], x, 0)), b = dst_fp16(wg_l1_to_dst(all[i], x, 0));
            assert_memory_equal(&a, &b, sizeof a);
        }
    }
    free_numbers(&n);
}

static void test_int8(void **state)
{
    (void)state;
    for (unsigned x = 0; x < 256; x++) {
        parts s = src_parts(wg_l1_to_src(WG_READ_INT8, x, 0)), u = src_parts(wg_l1_to_src(WG_READ_UINT8, x, 0));
        assert_int_equal(s.sign ? -(int)s.mantissa : (int)s.mantissa, x & 128 ? -(int)(x & 127) : (int)(x & 127));
        assert_int_equal(s.sign, x >> 7);
        assert_int_equal(s.exponent, x & 127 ? 16 : 0);
        assert_int_equal(u.mantissa, x);
        assert_int_equal(u.sign, 0);
        assert_int_equal(u.exponent, x ? 16 : 0);
        parts sd = dst_fp16(wg_l1_to_dst(WG_READ_INT8, x, 0)), ud = dst_fp16(wg_l1_to_dst(WG_READ_UINT8, x, 0));
        assert_memory_equal(&s, &sd, sizeof s);
        assert_memory_equal(&u, &ud, sizeof u);
    }
}

static void test_16_bits(void **state)
{
    (void)state;
    numbers n = make_numbers();
    for (uint32_t x = 0; x < 0x10000; x++) {
        parts bf16 = {(int)(x >> 15), x >> 7 & 0xFF, x & 0x7F}, fp16 = {(int)(x >> 15), x >> 10 & 31, x & 0x3FF};
        same_number(&n, bf16, 7, 127, src_parts(wg_l1_to_src(WG_READ_BF16, x, 0)), 127);
        same_number(&n, bf16, 7, 127, dst_bf16(wg_l1_to_dst(WG_READ_BF16, x, 0)), 127);
        same_number(&n, fp16, 10, 15, src_parts(wg_l1_to_src(WG_READ_FP16, x, 0)), 15);
        same_number(&n, fp16, 10, 15, dst_fp16(wg_l1_to_dst(WG_READ_FP16, x, 0)), 15);
        uint32_t opaque = wg_l1_to_src(WG_READ_INT16, x, 0);
        assert_int_equal((opaque >> 11 & 0xFF) << 8 | (opaque & 0xFF), x);
        assert_int_equal(opaque & 0x700, 0);
        assert_int_equal(wg_l1_to_dst(WG_READ_INT16, x, 0), x);
    }
    free_numbers(&n);
}

/* ---- 32 bits, sampled --------------------------------------------------------------------------------------- */

/* What truncating a normal number to `bits` mantissa bits gives, by MPFR. */
static void truncated(mpfr_t to, mpfr_t from, mpfr_prec_t bits)
{
    mpfr_t v;
    mpfr_init2(v, bits + 1);
    mpfr_set(v, from, MPFR_RNDZ);
    mpfr_set(to, v, MPFR_RNDN);
    mpfr_clear(v);
}

static void check_fp32(numbers *n, uint32_t x)
{
    parts fp32 = {(int)(x >> 31), x >> 23 & 0xFF, x & 0x7FFFFF};
    mpfr_t full;
    mpfr_init2(full, 64);
    normal(full, fp32, 23, 127);
    /* TF32: truncated, whatever the exponent */
    truncated(n->want, full, 10);
    normal(n->got, src_parts(wg_l1_to_src(WG_READ_32, x, 0)), 10, 127);
    assert_true(mpfr_equal_p(n->want, n->got));
    /* Dst keeps all bits, in their places */
    uint32_t dst = wg_l1_to_dst(WG_READ_32, x, 0);
    assert_int_equal((dst & 0x80000000) | (dst >> 16 & 0xFF) << 23 | (dst >> 24 & 0x7F) << 16 | (dst & 0xFFFF), x);
    /* BF16: truncated, denormals flushed */
    uint32_t bf16 = wg_l1_to_src(WG_READ_FP32_BF16, x, 0);
    if (!fp32.exponent) {
        assert_int_equal(bf16, (x >> 31) << 18);
    } else {
        truncated(n->want, full, 7);
        normal(n->got, src_parts(bf16), 10, 127);
        assert_true(mpfr_equal_p(n->want, n->got));
    }
    /* FP16: zero below 2^-15, saturated from 2^17 on */
    uint32_t fp16 = wg_l1_to_src(WG_READ_FP32_FP16, x, 0);
    if (fp32.exponent < 112) {
        assert_int_equal(fp16, (x >> 31) << 18);
    } else if (fp32.exponent > 143) {
        assert_int_equal(fp16, (x >> 31) << 18 | 0x3FF00 | 31);
    } else {
        truncated(n->want, full, 10);
        normal(n->got, src_parts(fp16), 10, 15);
        assert_true(mpfr_equal_p(n->want, n->got));
    }
    assert_int_equal(wg_l1_to_dst(WG_READ_FP32_BF16, x, 0), wg_dst16_from_bf16(wg_fp32_to_bf16_truncate(x)));
    assert_int_equal(wg_l1_to_dst(WG_READ_FP32_FP16, x, 0), wg_dst16_from_fp16(wg_fp32_to_fp16_truncate(x)));
    mpfr_clear(full);
}

static void test_32_bits(void **state)
{
    (void)state;
    numbers n = make_numbers();
    wg_rng rng = {11};
    for (unsigned exponent = 0; exponent < 256; exponent++)
        for (unsigned i = 0; i < 64; i++) {
            uint32_t mantissa = i == 0 ? 0 : i == 1 ? 0x7FFFFF : (uint32_t)wg_rng_next(&rng) & 0x7FFFFF;
            check_fp32(&n, (uint32_t)(i & 1) << 31 | exponent << 23 | mantissa);
        }
    for (unsigned i = 0; i < 200000; i++)
        check_fp32(&n, (uint32_t)wg_rng_next(&rng));
    free_numbers(&n);
}

/* ---- Rows are datums, at every level and in every mode of the host ---------------------------------------- */

static unsigned reading_bits(wg_l1_reading r)
{
    static const uint8_t bits[WG_L1_READINGS] = {32, 32, 32, 16, 16, 16, 8, 8, 8, 8, 8, 8, 4, 2, 8, 4, 2};
    return bits[r];
}

static void test_rows(void **state)
{
    (void)state;
    wg_rng rng = {5};
    for (unsigned level = WG_SIMD_SCALAR; level <= wg_simd_best(); level++)
        for (unsigned r = 0; r < WG_L1_READINGS; r++) {
            unsigned bits = reading_bits(r), every = bits <= 8 ? 1u << bits : 65536;
            for (unsigned round = 0; round < (bits == 16 ? 1100 : 3000); round++) {
                uint8_t bytes[4 * 64 + 1], exponents[4];
                uint32_t datums[4][16], src[4][16];
                for (unsigned row = 0; row < 4; row++) {
                    exponents[row] = (uint8_t)(round < 64 ? round * 4 + row : wg_rng_next(&rng));
                    for (unsigned i = 0; i < 16; i++)
                        datums[row][i] = bits == 32 ? (uint32_t)wg_rng_next(&rng)
                                                    : (round * 64 + row * 16 + i) % every; /* all of them */
                    wg_l1_put_row(bits, datums[row], bytes + 1 + row * 2 * bits);
                    uint32_t back[16];
                    wg_l1_get_row(bits, bytes + 1 + row * 2 * bits, back);
                    assert_memory_equal(back, datums[row], sizeof back);
                }
                host_modes(round % HOST_MODES);
                wg_l1_rows_to_src(level, r, bytes + 1, exponents, 4, src);
                host_modes_end(round % HOST_MODES);
                for (unsigned row = 0; row < 4; row++) {
                    const uint8_t *at = bytes + 1 + row * 2 * bits;
                    uint16_t dst[16], high[16], low[16];
                    host_modes(round % HOST_MODES);
                    wg_l1_row_to_dst16(level, r, at, exponents[row], dst);
                    host_modes_end(round % HOST_MODES);
                    if (r == WG_READ_32)
                        wg_l1_row_to_dst32(level, at, high, low);
                    for (unsigned i = 0; i < 16; i++) {
                        assert_int_equal(src[row][i], wg_l1_to_src(r, datums[row][i], exponents[row]));
                        uint32_t want = wg_l1_to_dst(r, datums[row][i], exponents[row]);
                        assert_int_equal(r == WG_READ_32 ? (uint32_t)high[i] << 16 | low[i] : dst[i], want);
                    }
                }
            }
        }
}

/* ---- Which pairs of formats are defined --------------------------------------------------------------------- */

static void test_pairs(void **state)
{
    (void)state;
    for (unsigned in = 0; in < 16; in++)
        for (unsigned out = 0; out < 16; out++)
            for (unsigned to_dst = 0; to_dst < 2; to_dst++) {
                bool want;
                if (in == 12 || in == 13)
                    want = false;
                else if (in == WG_FMT_FP32)
                    want = out == WG_FMT_TF32 || out == WG_FMT_BF16 || out == WG_FMT_FP16 ||
                           (out == WG_FMT_FP32 && to_dst);
                else
                    want = in == out && (to_dst || (in != WG_FMT_INT32 && in != WG_FMT_TF32));
                wg_l1_reading reading;
                assert_int_equal(wg_l1_reading_of(in, out, &(wg_l1_choice){.to_dst = to_dst}, &reading), want);
                assert_int_equal(wg_l1_reading_shares_exponent(reading), wg_l1_shares_exponent(in));
                assert_int_equal(reading_bits(reading), wg_l1_bits(in));
            }
}

/* ---- Golden vectors ----------------------------------------------------------------------------------------- */

/* Groups of [in, out, flags (1 Dst, 2 unsigned, 4 four exponent bits), 4], 1024 times [bits 4, exponent 1, result 4]. */
static void test_golden(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    FILE *f = fopen(bh ? WG_TEST_DATA "/l1_formats_bh.bin" : WG_TEST_DATA "/l1_formats_wh.bin", "rb");
    assert_non_null(f);
    uint8_t head[4], vector[9];
    unsigned groups = 0;
    while (fread(head, 4, 1, f) == 1) {
        wg_l1_choice choice = {
            .to_dst = head[2] & 1, .is_unsigned = head[2] & 2, .four_exponent_bits = head[2] & 4, .keeps_top = bh};
        wg_l1_reading reading;
        assert_true(wg_l1_reading_of(head[0], head[1], &choice, &reading));
        for (unsigned i = 0; i < 1024; i++) {
            assert_int_equal(fread(vector, 9, 1, f), 1);
            uint32_t bits, want;
            memcpy(&bits, vector, 4);
            memcpy(&want, vector + 5, 4);
            uint32_t got = choice.to_dst ? wg_l1_to_dst(reading, bits, vector[4])
                                         : wg_src_to_cpu19(wg_l1_to_src(reading, bits, vector[4]));
            assert_int_equal(got, want);
        }
        groups++;
    }
    fclose(f);
    assert_int_equal(groups, bh ? 16 : 15);
}

/* ---- Into L1 ------------------------------------------------------------------------------------------------- */

/* A block's datums, by MPFR: each value divided by the shared unit, rounded to nearest with ties away, saturated. */
static void test_bfp_block(void **state)
{
    (void)state;
    numbers n = make_numbers();
    wg_rng rng = {3};
    for (unsigned round = 0; round < 20000; round++) {
        bool five = round & 1;
        uint16_t values[16];
        unsigned spread = 1 + round % 20, top = (unsigned)wg_rng_below(&rng, five ? 32 : 256), shared = 0;
        for (unsigned i = 0; i < 16; i++) {
            unsigned exponent = top > wg_rng_below(&rng, spread) ? top - wg_rng_below(&rng, spread) : top;
            exponent &= five ? 31 : 255;
            if (wg_rng_below(&rng, 16) == 0)
                exponent = 0;
            shared = exponent > shared ? exponent : shared;
            values[i] = (uint16_t)((unsigned)wg_rng_below(&rng, 2) << (five ? 12 : 15) | exponent << 7 |
                                   (unsigned)wg_rng_below(&rng, 128));
        }
        uint8_t out[16];
        assert_int_equal(wg_bfp_block(values, five, NULL, out), shared);
        for (unsigned i = 0; i < 16; i++) {
            unsigned exponent = values[i] >> 7 & (five ? 31 : 255);
            mpfr_set_ui(n.want, (values[i] & 127u) + (exponent ? 128u : 0u), MPFR_RNDN);
            mpfr_div_2ui(n.want, n.want, 1 + shared - exponent, MPFR_RNDN);
            mpfr_round(n.want, n.want); /* ties away from zero */
            unsigned long magnitude = shared - exponent >= 8 ? 0 : mpfr_get_ui(n.want, MPFR_RNDN);
            magnitude = magnitude > 127 ? 127 : magnitude;
            unsigned sign = magnitude ? values[i] >> (five ? 12 : 15) & 1u : 0;
            assert_int_equal(out[i], sign << 7 | magnitude);
            assert_int_equal(wg_bfp_narrow(out[i], 4), magnitude >> 4 ? sign << 3 | magnitude >> 4 : 0);
            assert_int_equal(wg_bfp_narrow(out[i], 2), magnitude >> 6 ? sign << 1 | magnitude >> 6 : 0);
        }
    }
    free_numbers(&n);
}

/* Rounding by random bits: the mean over all of them is the value, except for the documented bias of one step. */
static void test_random_rounding(void **state)
{
    (void)state;
    for (uint32_t x = 0; x < 1024; x++) {
        unsigned ups = 0;
        for (uint32_t random = 0; random < 64; random++)
            ups += wg_round_random(x, 6, random << 17) - (x >> 6);
        assert_int_equal(ups, (x & 63) + 1);
        assert_int_equal(wg_round_away(x, 6), (x >> 6) + (x >> 5 & 1));
        assert_int_equal(wg_round_away(x, 0), x);
        assert_int_equal(wg_round_random(x, 0, 5), x);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_bfp, WG_BH, ""),       WG_TEST(test_fp8, WG_BH, ""),
    WG_TEST(test_int8, WG_BH, ""),      WG_TEST(test_16_bits, WG_BH, ""),
    WG_TEST(test_32_bits, WG_BH, ""),   WG_TEST(test_rows, WG_BH, ""),
    WG_TEST(test_pairs, WG_BH, ""),     WG_TEST(test_golden, WG_BH | WG_WH, ""),
    WG_TEST(test_bfp_block, WG_BH, ""), WG_TEST(test_random_rounding, WG_BH, ""),
};
WG_MAIN("formats", tests)
