/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packers' conversions from Dst, compared with two others: numbers in MPFR, for every 16 bits and for samples of
 * 32; and golden vectors of an independent implementation (tests/data/pack_formats_*.bin), 1,024 per combination of
 * formats.
 */
#include "pack_rig.h"

#include <mpfr.h>
#include <stdio.h>

/* ---- Golden ---------------------------------------------------------------------------------------------------- */

enum { WIDE = 1, RAW = 2, UNSIGNED = 4, TEN_BITS = 8, FOUR = 16, DATUMS = 1024 };

static void configure(ur *r, const uint8_t head[4])
{
    unsigned flags = head[3];
    pr_formats(r, flags & WIDE, head[0], head[1], head[2]);
    ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_int8, flags >> 1 & 1);
    ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_unsigned, flags >> 2 & 1);
    ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Round_10b_mant, flags >> 3 & 1);
    if (r->t->arch->id == WG_ARCH_BH)
        ur_set(r, WG_CFG_THCON_SEC0_REG1_Pac_LF8_4b_exp, flags >> 4 & 1);
    PR_SET(r, 0, Exp_section_size, 4);
}

static void pack_all(ur *r)
{
    bool bh = r->t->arch->id == WG_ARCH_BH;
    unsigned packs = bh ? 16 : 4;
    for (unsigned i = 0; i < packs; i++) {
        r->t->regs.adc.unit[2][2][0].y = (uint16_t)(i * (bh ? 4 : 16));
        pr_do(r, 2, PR_PACR(bh ? 0 : 1, i + 1 == packs));
    }
}

static void test_golden(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    FILE *f = fopen(bh ? WG_TEST_DATA "/pack_formats_bh.bin" : WG_TEST_DATA "/pack_formats_wh.bin", "rb");
    assert_non_null(f);
    uint8_t head[4];
    unsigned groups = 0;
    while (fread(head, 1, 4, f) == 4) {
        bool wide = head[3] & WIDE;
        unsigned bits = wg_l1_bits(head[2]), exponents = head[2] & 2 ? 64 : 0;
        uint8_t dst[DATUMS][4] = {{0}}, want_exponents[64], want[DATUMS * 4];
        for (unsigned i = 0; i < DATUMS; i++)
            assert_int_equal(fread(dst[i], 1, wide ? 4 : 2, f), wide ? 4 : 2);
        if (wg_l1_shares_exponent(head[2]))
            assert_int_equal(fread(want_exponents, 1, 64, f), 64);
        assert_int_equal(fread(want, 1, DATUMS / 8 * bits, f), DATUMS / 8 * bits);
        for (unsigned way = 0; way < 2; way++) { /* host vectors, and one datum at a time */
            ur *r = pr_new(wg_test_arch(state), bh ? 16 : 256);
            r->t->watched = 0;
            r->t->simd = (uint8_t)(way ? WG_SIMD_SCALAR : wg_simd_best());
            configure(r, head);
            if (way)
                ur_thread(r, 0, WG_TCFG_ENABLE_ACC_STATS_Enable, 1);
            for (unsigned i = 0; i < DATUMS; i++) {
                unsigned row = i / 16, stored = wide ? (row & 0x1F8) << 1 | (row & 7) : row;
                r->t->regs.dst.bits[stored][i % 16] = (uint16_t)(dst[i][0] | dst[i][1] << 8);
                if (wide)
                    r->t->regs.dst.bits[stored + WG_DST_LOW][i % 16] = (uint16_t)(dst[i][2] | dst[i][3] << 8);
            }
            pack_all(r);
            if (wg_l1_shares_exponent(head[2]))
                assert_memory_equal(r->t->l1 + PR_L1, want_exponents, 64);
            assert_memory_equal(r->t->l1 + PR_L1 + exponents, want, DATUMS / 8 * bits);
            ur_free(r);
        }
        groups++;
    }
    fclose(f);
    assert_int_equal(groups, bh ? 41 : 34);
}

/* ---- MPFR ------------------------------------------------------------------------------------------------------ */

/* A float's bits as a number; NaN is NaN. `fp16`: five exponent bits, of which 31 is an ordinary exponent. */
static void number_of(mpfr_t v, uint32_t bits, bool fp16)
{
    unsigned width = fp16 ? 10 : 23, exponent = bits >> width & (fp16 ? 31 : 255);
    uint32_t mantissa = bits & ((1u << width) - 1);
    bool negative = fp16 ? bits >> 15 & 1 : bits >> 31;
    if (!fp16 && exponent == 255) {
        if (mantissa)
            mpfr_set_nan(v);
        else
            mpfr_set_inf(v, negative ? -1 : 1);
        return;
    }
    mpfr_set_ui_2exp(v, exponent ? mantissa | 1u << width : mantissa,
                     (exponent ? (mpfr_exp_t)exponent : 1) - (fp16 ? 15 : 127) - (mpfr_exp_t)width, MPFR_RNDN);
    if (negative)
        mpfr_neg(v, v, MPFR_RNDN);
}

/*
 * Rounds to `mantissa` bits after the leading one (denormals: their least place): to nearest with ties away, or to
 * zero.
 */
static void quantise(mpfr_t v, unsigned mantissa, bool away, mpfr_exp_t least)
{
    if (!mpfr_regular_p(v))
        return;
    mpfr_exp_t scale = (mpfr_exp_t)mantissa + 1 - (mpfr_get_exp(v) < least ? least : mpfr_get_exp(v));
    mpfr_mul_2si(v, v, scale, MPFR_RNDN);
    if (away)
        mpfr_round(v, v);
    else
        mpfr_trunc(v, v);
    mpfr_mul_2si(v, v, -scale, MPFR_RNDN);
}

/*
 * Bits of a float with `width` mantissa bits, towards zero; below the normal numbers 0; overflow: infinity, or FP16's
 * maximum.
 */
static uint32_t bits_of(mpfr_t v, bool fp16, unsigned width, bool keeps_zeros_sign)
{
    uint32_t sign = mpfr_signbit(v) ? 1u << (width + (fp16 ? 5 : 8)) : 0, all = (1u << (width + (fp16 ? 5 : 8))) - 1;
    mpfr_exp_t least = fp16 ? -13 : -125, most = fp16 ? 17 : 128; /* exponents of MPFR: 0.5 ≤ m < 1 */
    if (mpfr_inf_p(v))
        return sign | (fp16 ? all : 255u << width);
    if (mpfr_zero_p(v) || mpfr_get_exp(v) < least)
        return keeps_zeros_sign ? sign : 0;
    if (mpfr_get_exp(v) > most)
        return sign | (fp16 ? all : 255u << width);
    mpfr_exp_t exponent = mpfr_get_exp(v) + (fp16 ? 14 : 126);
    mpfr_t m;
    mpfr_init2(m, 64);
    mpfr_abs(m, v, MPFR_RNDN);
    mpfr_mul_2si(m, m, (mpfr_exp_t)width + 1 - mpfr_get_exp(v), MPFR_RNDN);
    uint32_t mantissa = (uint32_t)mpfr_get_ui(m, MPFR_RNDZ);
    mpfr_clear(m);
    return sign | (uint32_t)exponent << width | (mantissa & ((1u << width) - 1));
}

typedef struct conversion {
    uint8_t middle, out;
    bool wide, fp16; /* what Dst holds */
    uint8_t keep;    /* mantissa bits that the early conversion leaves, by rounding; 23 or 10: all */
    bool out_fp16;
    uint8_t out_width;
    uint8_t shift; /* of the result in L1's datum */
} conversion;

static void expect(const conversion *c, uint32_t bits, uint32_t got, mpfr_t v)
{
    bool rounds = c->keep < (c->wide ? 23 : 24);
    number_of(v, bits, c->fp16);
    if (mpfr_nan_p(v)) {
        if (!rounds)
            return; /* preserved: covered by the golden vectors */
        mpfr_set_inf(v, c->fp16 ? 1 : bits >> 31 ? -1 : 1);
    }
    if (!c->wide && !c->fp16 && !(bits & 0x7F800000)) /* values in 16 bits are flushed before rounding */
        mpfr_set_zero(v, 1);
    quantise(v, c->keep, true, c->fp16 ? -13 : -125);
    bool tiny = mpfr_zero_p(v) || (mpfr_regular_p(v) && mpfr_get_exp(v) < (c->fp16 ? -13 : -125));
    if (!rounds && tiny)
        return; /* denormals are kept or flushed, as the tables say: covered by the golden vectors */
    if (tiny)
        mpfr_set_zero(v, 1);
    if (c->fp16 && mpfr_regular_p(v) && mpfr_get_exp(v) > 17)
        return; /* rounded beyond FP16's maximum: golden */
    if (c->out_fp16 && !c->fp16 && mpfr_regular_p(v) && mpfr_get_exp(v) == -14)
        return; /* 2^-15 to 2^-14: documented as mishandled */
    if (!mpfr_inf_p(v))
        quantise(v, c->out_width, false, c->out_fp16 ? -13 : -125);
    uint32_t want = bits_of(v, c->out_fp16, c->out_width, c->out_fp16 && !c->fp16 && !tiny) << c->shift;
    if (want != got)
        print_error("middle %u out %u wide %u: %08x gives %x, not %x\n", c->middle, c->out, c->wide, bits, got, want);
    assert_int_equal(got, want);
}

static void test_numbers(void **state)
{
    static const conversion conversions[] = {
        {5, 5, false, false, 7, false, 7, 0},  {5, 0, false, false, 7, false, 23, 0},
        {5, 1, false, false, 7, true, 10, 0},  {6, 5, false, false, 6, false, 7, 0},
        {4, 4, false, false, 7, false, 23, 0}, {1, 1, false, true, 10, true, 10, 0},
        {1, 0, false, true, 10, false, 23, 0}, {1, 5, false, true, 10, false, 7, 0},
        {2, 1, false, true, 6, true, 10, 0},   {5, 5, true, false, 7, false, 7, 0},
        {6, 5, true, false, 6, false, 7, 0},   {4, 4, true, false, 10, false, 23, 0},
        {4, 1, true, false, 10, true, 10, 0},  {0, 0, true, false, 23, false, 23, 0},
        {0, 5, true, false, 23, false, 7, 0},  {0, 1, true, false, 23, true, 10, 0},
    };
    mpfr_t v;
    mpfr_init2(v, 64);
    for (unsigned k = 0; k < sizeof conversions / sizeof *conversions; k++) {
        const conversion *c = &conversions[k];
        ur *r = pr_new(wg_test_arch(state), wg_test_arch(state) == WG_ARCH_BH ? 16 : 256);
        uint8_t head[4] = {c->middle, c->middle, c->out, c->wide};
        wg_rng rng = {k + 1};
        r->t->watched = 0;
        r->t->simd = (uint8_t)wg_simd_best();
        configure(r, head);
        for (unsigned block = 0; block < 64; block++) {
            uint32_t dst[DATUMS];
            for (unsigned i = 0; i < DATUMS; i++) {
                unsigned row = i / 16, stored = c->wide ? (row & 0x1F8) << 1 | (row & 7) : row;
                if (!c->wide) { /* every 16 bits */
                    dst[i] = block * DATUMS + i;
                    r->t->regs.dst.bits[stored][i % 16] =
                        c->fp16 ? wg_dst16_from_fp16((uint16_t)dst[i]) : wg_dst16_from_bf16((uint16_t)dst[i]);
                    if (!c->fp16)
                        dst[i] <<= 16;
                } else {
                    dst[i] = (uint32_t)wg_rng_next(&rng);
                    if (i % 4 == 1) /* exponents near FP16's limits */
                        dst[i] = (dst[i] & 0x807FFFFF) | (108 + wg_rng_below(&rng, 40)) << 23;
                    if (i % 4 == 2) /* ties and their neighbours */
                        dst[i] = (dst[i] & 0xFFFF0000) | (0x7FFF + wg_rng_below(&rng, 3));
                    uint32_t layout = wg_dst32_from_fp32(dst[i]);
                    r->t->regs.dst.bits[stored][i % 16] = (uint16_t)(layout >> 16);
                    r->t->regs.dst.bits[stored + WG_DST_LOW][i % 16] = (uint16_t)layout;
                }
            }
            pack_all(r);
            unsigned size = wg_l1_bits(c->out) / 8;
            for (unsigned i = 0; i < DATUMS; i++) {
                uint32_t got = 0;
                memcpy(&got, r->t->l1 + PR_L1 + i * size, size);
                expect(c, dst[i], got, v);
            }
        }
        ur_free(r);
    }
    mpfr_clear(v);
    mpfr_free_cache();
}

/* Integers: shifted, rounded, saturated; all shifts. */
static void test_integers(void **state)
{
    ur *r = pr_new(wg_test_arch(state), wg_test_arch(state) == WG_ARCH_BH ? 16 : 256);
    wg_rng rng = {9};
    r->t->watched = 0;
    mpfr_t v;
    mpfr_init2(v, 64);
    for (unsigned shift = 0; shift < 32; shift++) {
        for (unsigned is_unsigned = 0; is_unsigned < 2; is_unsigned++) {
            uint8_t head[4] = {WG_FMT_INT8, WG_FMT_INT8, WG_FMT_INT8, (uint8_t)(WIDE | (is_unsigned ? UNSIGNED : 0))};
            uint32_t dst[DATUMS];
            configure(r, head);
            ur_set(r, WG_CFG_INT_DESCALE_Enable, 1);
            ur_set(r, WG_CFG_INT_DESCALE_VALUES_SEC0_Value, shift);
            for (unsigned i = 0; i < DATUMS; i++) {
                unsigned row = i / 16, stored = (row & 0x1F8) << 1 | (row & 7);
                dst[i] = (uint32_t)wg_rng_next(&rng) >> wg_rng_below(&rng, 32);
                dst[i] = (dst[i] & 0x7FFFFFFF) | (uint32_t)wg_rng_next(&rng) << 31;
                uint32_t layout = wg_dst32_from_fp32(dst[i]);
                r->t->regs.dst.bits[stored][i % 16] = (uint16_t)(layout >> 16);
                r->t->regs.dst.bits[stored + WG_DST_LOW][i % 16] = (uint16_t)layout;
            }
            pack_all(r);
            for (unsigned i = 0; i < DATUMS; i++) {
                mpfr_set_ui(v, dst[i] & 0x7FFFFFFF, MPFR_RNDN);
                mpfr_div_2ui(v, v, shift, MPFR_RNDN);
                mpfr_round(v, v);
                unsigned long most = is_unsigned ? 255 : 127, want = mpfr_get_ui(v, MPFR_RNDN);
                want = want > most ? most : want;
                if (dst[i] >> 31)
                    want = is_unsigned ? 0 : want | 128;
                assert_int_equal(r->t->l1[PR_L1 + 64 + i], want);
            }
        }
    }
    mpfr_clear(v);
    ur_free(r);
}

/* ---- Round trips ----------------------------------------------------------------------------------------------- */

/* Packing what was unpacked, in every format that Dst can hold without loss, gives the same bytes. */
static void test_pack_of_unpack(void **state)
{
    static const struct {
        uint8_t l1, dst, middle;
        bool wide;
    } formats[] = {
        {WG_FMT_FP32, WG_FMT_FP32, WG_FMT_FP32, true},     {WG_FMT_TF32, WG_FMT_TF32, WG_FMT_TF32, true},
        {WG_FMT_BF16, WG_FMT_BF16, WG_FMT_BF16, false},    {WG_FMT_FP16, WG_FMT_FP16, WG_FMT_FP16, false},
        {WG_FMT_BFP8, WG_FMT_BFP8, WG_FMT_BF16, false},    {WG_FMT_BFP4, WG_FMT_BFP4, WG_FMT_BF16, false},
        {WG_FMT_BFP2, WG_FMT_BFP2, WG_FMT_BF16, false},    {WG_FMT_BFP8A, WG_FMT_BFP8A, WG_FMT_FP16, false},
        {WG_FMT_BFP4A, WG_FMT_BFP4A, WG_FMT_FP16, false},  {WG_FMT_BFP2A, WG_FMT_BFP2A, WG_FMT_FP16, false},
        {WG_FMT_FP8, WG_FMT_FP8, WG_FMT_FP16, false},      {WG_FMT_INT32, WG_FMT_INT32, WG_FMT_INT32, true},
        {WG_FMT_INT16, WG_FMT_INT16, WG_FMT_INT16, false},
    };
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned k = 0; k < sizeof formats / sizeof *formats; k++) {
        ur *r = pr_new(wg_test_arch(state), bh ? 16 : 256);
        wg_rng rng = {k + 3};
        unsigned bits = wg_l1_bits(formats[k].l1), exponents = wg_l1_shares_exponent(formats[k].l1) ? 16 : 0;
        uint8_t *from = r->t->l1 + 0x8000;
        for (unsigned i = 0; i < exponents; i++)
            from[i] = (uint8_t)(formats[k].middle == WG_FMT_FP16 ? 12 + wg_rng_below(&rng, 18)
                                                                 : 100 + wg_rng_below(&rng, 50));
        for (unsigned i = 0; i < 256; i++) {
            uint32_t x = (uint32_t)wg_rng_next(&rng);
            unsigned size = bits / 8;
            if (exponents) { /* one datum of each block uses the whole exponent; none is minus zero */
                unsigned mask = (1u << bits) - 1, top = 1u << (bits - 2);
                x &= mask;
                x |= i % 16 == 0 ? top : 0;
                x = x & (mask >> 1) ? x : 0;
                from[16 + i * bits / 8] |= (uint8_t)(x << i * bits % 8);
                continue;
            }
            if (formats[k].l1 == WG_FMT_FP32 || formats[k].l1 == WG_FMT_TF32)
                x = (x & 0x807FE000) | (1 + (x >> 8) % 250) << 23;
            if (formats[k].l1 == WG_FMT_BF16)
                x = (x & 0x807F) | (1 + (x >> 16) % 250) << 7;
            if (formats[k].l1 == WG_FMT_FP16)
                x = (x & 0x83FF) | (1 + (x >> 16) % 31) << 10;
            if (formats[k].l1 == WG_FMT_FP8)
                x = (x & 0x83) | (1 + (x >> 16) % 30) << 2;
            memcpy(from + i * size, &x, size);
        }
        ur_face(r, 0, formats[k].l1, formats[k].dst, 0x8000);
        UR_SEC(r, 0, REG2_Unpack_if_sel_cntx0, 1);
        for (unsigned thread = 0; thread < 3; thread++)
            ur_thread(r, thread, WG_TCFG_SRCA_SET_SetOvrdWithAddr, 0);
        unsigned word = wg_cfg_fields[r->t->arch->id][WG_CFG_THCON_SEC0_REG0_TileDescriptor].word;
        r->t->regs.config.bank[0][word + 1] = 1;
        ur_touch(r);
        ur_do(r, 0, UR_UNPACR(0, 0));
        uint8_t head[4] = {formats[k].middle, formats[k].middle, formats[k].l1, formats[k].wide};
        configure(r, head);
        PR_SET(r, 0, Exp_section_size, exponents / 16);
        for (unsigned i = 0; i < (bh ? 4u : 1u); i++) {
            r->t->regs.adc.unit[2][2][0].y = (uint16_t)(i * 4);
            pr_do(r, 2, PR_PACR(bh ? 0 : 1, i + 1 == (bh ? 4u : 1u)));
        }
        assert_memory_equal(r->t->l1 + PR_L1, from, exponents + 32 * bits);
        ur_free(r);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_golden, WG_BH | WG_WH, ""),
    WG_TEST(test_numbers, WG_BH | WG_WH, ""),
    WG_TEST(test_integers, WG_BH | WG_WH, ""),
    WG_TEST(test_pack_of_unpack, WG_BH | WG_WH, ""),
};
WG_MAIN("pack_formats", tests)
