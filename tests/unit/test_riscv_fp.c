/* SPDX-License-Identifier: Apache-2.0 */
/* F and Zfh against the host's IEEE arithmetic (denormals aside) and the specifications' tables. */
#include <fenv.h>
#include <math.h>
#include "riscv/internal.h"
#include "wgtest.h"

static wg_core core;

static uint32_t run(uint32_t word, uint32_t a, uint32_t b, uint32_t c)
{
    wg_op op = {.word = word, .rs1 = 33, .rs2 = 34, .rs3 = 35, .rd = 36};
    core.run.r[33] = a;
    core.run.r[34] = b;
    core.run.r[35] = c;
    return wg_fp_execute(&core, &op);
}

enum { FADD = 0x00000053, FSUB = 0x08000053, FMUL = 0x10000053, HALF = 2 << 25, F_LE = 0xA0000053, F_MIN = 0x28000053 };
#define FCVT_W_S 0xC0000053u
#define FCVT_S_W 0xD0000053u
#define FCVT_S_H 0x40200053u
#define FCVT_H_S 0x44000053u
#define FCLASS 0xE0001053u

static float as_float(uint32_t v)
{
    float f;
    memcpy(&f, &v, 4);
    return f;
}

static uint32_t as_bits(float f)
{
    uint32_t v;
    memcpy(&v, &f, 4);
    return v;
}

static uint32_t special(wg_rng *r)
{
    static const uint32_t some[] = {0,          0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
                                    0x7F7FFFFF, 0x00800000, 0x80800000, 0x34000000, 0x4B800000, 0x7F800001};
    uint32_t v = (uint32_t)wg_rng_next(r);
    switch (wg_rng_below(r, 4)) {
    case 0: return some[wg_rng_below(r, sizeof some / 4)];
    case 1: return (v & 0x807FFFFF) | (120 + wg_rng_below(r, 16)) << 23;
    default: return v;
    }
}

static bool denormal(uint32_t v) { return !(v & 0x7F800000) && v & 0x7FFFFF; }
static uint32_t flushed(uint32_t v) { return denormal(v) ? v & 0x80000000 : v; }

static void test_arithmetic(void **state)
{
    (void)state;
    fesetround(FE_TONEAREST);
    wg_rng r = {11};
    for (int i = 0; i < 1000000; i++) {
        uint32_t a = special(&r), b = special(&r);
        float x = as_float(flushed(a)), y = as_float(flushed(b));
        const struct {
            uint32_t word;
            float want;
        } cases[] = {{FADD, x + y}, {FSUB, x - y}, {FMUL, x * y}};
        for (int n = 0; n < 3; n++) {
            uint32_t want = as_bits(cases[n].want), got = run(cases[n].word, a, b, 0);
            if (isnan(cases[n].want))
                want = 0x7FC00000;
            /* Just below the least normal number, the rounding of the flushed result is specific to the FMA. */
            if (denormal(want) || (want & 0x7FFFFFFF) == 0x00800000)
                continue;
            if (got != want)
                print_message("%08x: %08x %08x -> %08x, not %08x\n", cases[n].word, a, b, want, got);
            assert_int_equal(got, want);
        }
    }
}

static void test_comparisons(void **state)
{
    (void)state;
    wg_rng r = {12};
    for (int i = 0; i < 300000; i++) {
        uint32_t a = special(&r), b = wg_rng_below(&r, 8) ? special(&r) : a;
        float x = as_float(a), y = as_float(b);
        assert_int_equal(run(F_LE, a, b, 0), x <= y);
        assert_int_equal(run(F_LE | 1 << 12, a, b, 0), x < y);
        assert_int_equal(run(F_LE | 2 << 12, a, b, 0), x == y);
        if (!isnan(x) && !isnan(y) && x != y) {
            assert_int_equal(run(F_MIN, a, b, 0), x < y ? a : b);
            assert_int_equal(run(F_MIN | 1 << 12, a, b, 0), x > y ? a : b);
        }
    }
    assert_int_equal(run(F_MIN, 0, 0x80000000, 0), 0x80000000);
    assert_int_equal(run(F_MIN | 1 << 12, 0, 0x80000000, 0), 0);
    assert_int_equal(run(F_MIN, 0x7FC00000, 5, 0), 5);
    assert_int_equal(run(F_MIN, 0x7FC00000, 0xFFC00000, 0), 0x7FC00000);
}

static void test_integers(void **state)
{
    (void)state;
    fesetround(FE_TONEAREST);
    wg_rng r = {13};
    for (int i = 0; i < 300000; i++) {
        uint32_t v = (uint32_t)wg_rng_next(&r) >> wg_rng_below(&r, 32);
        assert_int_equal(run(FCVT_S_W, v, 0, 0), as_bits((float)(int32_t)v));
        assert_int_equal(run(FCVT_S_W | 1 << 20, v, 0, 0), as_bits((float)v));
        uint32_t f = special(&r);
        float x = as_float(f);
        if (!isnan(x) && fabsf(x) < 2147483648.0f)
            assert_int_equal((int32_t)run(FCVT_W_S, f, 0, 0), (int32_t)lrintf(x));
        if (!isnan(x) && x >= 0 && x < 4294967296.0f)
            assert_int_equal(run(FCVT_W_S | 1 << 20, f, 0, 0), (uint32_t)llrintf(x));
    }
    assert_int_equal(run(FCVT_W_S, 0x7FC00000, 0, 0), INT32_MAX);
    assert_int_equal(run(FCVT_W_S, 0xFF800000, 0, 0), 0x80000000);
    assert_int_equal(run(FCVT_W_S | 1 << 20, 0xBF800000, 0, 0), 0);
    assert_int_equal(run(FCVT_W_S | 1 << 20, 0x7F800000, 0, 0), UINT32_MAX);
}

/* The host's own FP16, if the compiler has it; all 65536 values, both ways. */
static void test_half_conversions(void **state)
{
    (void)state;
    core.csr.cfg0 = 0;
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint32_t wide = run(FCVT_S_H, 0xFFFF0000 | h, 0, 0);
        bool nan = (h & 0x7C00) == 0x7C00 && h & 0x3FF;
        if (nan) {
            assert_int_equal(wide, 0x7FC00000);
            assert_int_equal(run(FCVT_H_S, wide, 0, 0), 0xFFFF7E00);
            continue;
        }
        int e = (int)(h >> 10 & 31);
        float want = e == 31 ? INFINITY : ldexpf((float)((h & 0x3FF) | (e ? 0x400u : 0)), (e ? e : 1) - 25);
        assert_int_equal(wide, as_bits(h & 0x8000 ? -want : want));
        assert_int_equal(run(FCVT_H_S, wide, 0, 0), 0xFFFF0000 | h);
    }
    assert_int_equal(run(FCVT_S_H, 0x00003C00, 0, 0), 0x7FC00000); /* not boxed */
    assert_int_equal(run(FCVT_H_S, as_bits(65520.0f), 0, 0), 0xFFFF7C00);
    assert_int_equal(run(FCVT_H_S, as_bits(65519.0f), 0, 0), 0xFFFF7BFF);
    assert_int_equal(run(FCVT_H_S, as_bits(1.00048828125f), 0, 0), 0xFFFF3C00); /* a tie goes to even */
    assert_int_equal(run(FADD | HALF, 0xFFFF3C00, 0xFFFF3C00, 0), 0xFFFF4000);
    assert_int_equal(run(FMUL | HALF, 0xFFFF0001, 0xFFFF3C00, 0), 0xFFFF0000); /* denormals are zero */
}

static void test_half_moves(void **state)
{
    (void)state;
    assert_int_equal(run(0xE4000053u, 0x12348001, 0, 0), 0xFFFF8001); /* fmv.x.h */
    assert_int_equal(run(0xF4000053u, 0x12343C00, 0, 0), 0xFFFF3C00); /* fmv.h.x */
}

static void test_bfloat(void **state)
{
    (void)state;
    core.csr.cfg0 = WG_CFG0_EN_BFLOAT;
    assert_int_equal(run(FCVT_S_H, 0xFFFF3F80, 0, 0), 0x3F800000);
    assert_int_equal(run(FCVT_H_S, 0x3F80FFFF, 0, 0), 0xFFFF3F80); /* truncated */
    core.csr.cfg0 |= WG_CFG0_EN_BFLOAT_RTNE;
    assert_int_equal(run(FCVT_H_S, 0x3F80FFFF, 0, 0), 0xFFFF3F81);
    assert_int_equal(run(FCVT_H_S, 0x3F808000, 0, 0), 0xFFFF3F80);
    assert_int_equal(run(FADD | HALF, 0xFFFF3F80, 0xFFFF3F80, 0), 0xFFFF4000);
    core.csr.cfg0 = 0;
}

static void test_classes(void **state)
{
    (void)state;
    static const struct {
        uint32_t v;
        int bit;
    } s[] = {{0xFF800000, 0}, {0xBF800000, 1}, {0x80000001, 2}, {0x80000000, 3}, {0, 4},
             {1, 5},          {0x3F800000, 6}, {0x7F800000, 7}, {0x7F800001, 8}, {0x7FC00000, 9}};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++)
        assert_int_equal(run(FCLASS, s[i].v, 0, 0), 1u << s[i].bit);
    assert_int_equal(run(FCLASS | HALF, 0xFFFF8001, 0, 0), 1 << 2);
    assert_int_equal(run(FCLASS | HALF, 0xFFFF7E00, 0, 0), 1 << 9);
}

static void test_signs_and_fma(void **state)
{
    (void)state;
    enum { FSGNJ = 0x20000053 };
    assert_int_equal(run(FSGNJ, 0x3F800000, 0x80000000, 0), 0xBF800000);
    assert_int_equal(run(FSGNJ | 1 << 12, 0x3F800000, 0x80000000, 0), 0x3F800000);
    assert_int_equal(run(FSGNJ | 2 << 12, 0xBF800000, 0x80000000, 0), 0x3F800000);
    uint32_t two = as_bits(2), three = as_bits(3), five = as_bits(5);
    assert_int_equal(run(0x43, two, three, five), as_bits(11));
    assert_int_equal(run(0x47, two, three, five), as_bits(1));
    assert_int_equal(run(0x4B, two, three, five), as_bits(-1));
    assert_int_equal(run(0x4F, two, three, five), as_bits(-11));
}

/* What an operation adds to fcsr. */
static uint32_t raised(uint32_t word, uint32_t a, uint32_t b, uint32_t c)
{
    core.csr.fcsr = 0;
    run(word, a, b, c);
    return core.csr.fcsr;
}

static uint32_t host_raised(void)
{
    int e = fetestexcept(FE_ALL_EXCEPT);
    return (e & FE_INEXACT ? 1u : 0) | (e & FE_UNDERFLOW ? 2u : 0) | (e & FE_OVERFLOW ? 4u : 0) |
           (e & FE_INVALID ? 16u : 0);
}

static void test_exceptions(void **state)
{
    (void)state;
    memset(&core, 0, sizeof core);
    fesetround(FE_TONEAREST);
    wg_rng r = {17};
    for (int i = 0; i < 300000; i++) {
        uint32_t a = special(&r), b = special(&r);
        volatile float x = as_float(flushed(a)), y = as_float(flushed(b)), z = 0;
        for (int n = 0; n < 3; n++) {
            feclearexcept(FE_ALL_EXCEPT);
            z = n == 0 ? x + y : n == 1 ? x - y : x * y;
            uint32_t want = host_raised(), got = raised(n == 0 ? FADD : n == 1 ? FSUB : FMUL, a, b, 0);
            uint32_t bits = as_bits(z);
            if (denormal(bits) || (want & 2)) /* flushed, or rounded up to the least normal number */
                want = got & 3 ? got : 3;
            if (want != got)
                fail_msg("%d: 0x%08x 0x%08x raise 0x%x, not 0x%x", n, a, b, got, want);
        }
    }
    /* inexact, overflow, underflow by flushing; they stay until they are cleared */
    assert_int_equal(raised(FADD, 0x3F800000, 0x33000000, 0), 1);
    assert_int_equal(raised(FMUL, 0x7F000000, 0x7F000000, 0), 5);
    assert_int_equal(raised(FMUL, 0x00800000, 0x00800000, 0), 3);
    core.csr.fcsr = 2;
    run(FADD, 0x3F800000, 0x33000000, 0);
    assert_int_equal(core.csr.fcsr, 3);
    /* invalid: signalling NaNs, infinity minus infinity, ordered comparisons of any NaN, integers out of range */
    assert_int_equal(raised(FADD, 0x7F800001, 0x3F800000, 0), 16);
    assert_int_equal(raised(FADD, 0x7FC00000, 0x3F800000, 0), 0);
    assert_int_equal(raised(FSUB, 0x7F800000, 0x7F800000, 0), 16);
    assert_int_equal(raised(0x00000043, 0x7F800000, 0, 0x7FC00000), 16); /* fmadd.s */
    assert_int_equal(raised(0x00000043, 0x3F800001, 0x3F800001, 0x3F800000), 1);
    assert_int_equal(raised(0x00000043, 0x40000000, 0x40400000, 0x3F800000), 0);
    assert_int_equal(raised(F_LE, 0x7FC00000, 0x3F800000, 0), 16);
    assert_int_equal(raised(F_LE | 2 << 12, 0x7FC00000, 0x3F800000, 0), 0); /* feq.s */
    assert_int_equal(raised(F_LE | 2 << 12, 0x7F800001, 0x3F800000, 0), 16);
    assert_int_equal(raised(F_MIN, 0x7F800001, 0x3F800000, 0), 16);
    assert_int_equal(raised(FCVT_W_S, 0x4F000000, 0, 0), 16);
    assert_int_equal(raised(FCVT_W_S, 0xCF000000, 0, 0), 0);
    assert_int_equal(raised(FCVT_W_S, 0x3FC00000, 0, 0), 1);
    assert_int_equal(raised(FCVT_W_S | 1 << 20, 0xBF800000, 0, 0), 16); /* fcvt.wu.s of -1 */
    assert_int_equal(raised(FCVT_S_W, 0x01000001, 0, 0), 1);
    assert_int_equal(raised(FCVT_S_W, 0x01000000, 0, 0), 0);
    assert_int_equal(raised(FCVT_H_S, 0x47800000, 0, 0), 5); /* 65536 */
    assert_int_equal(raised(FCVT_H_S, 0x3F800001, 0, 0), 1);
    assert_int_equal(raised(FADD | HALF, 0xFFFF3C00, 0xFFFF1000, 0), 1); /* 1 + 2^-11 */
    assert_int_equal(raised(FADD | HALF, 0xFFFF7C01, 0xFFFF3C00, 0), 16);
    assert_int_equal(raised(FCLASS, 0x7F800001, 0, 0), 0);
}

static const wg_test tests[] = {
    WG_TEST(test_arithmetic, WG_BH, ""),    WG_TEST(test_comparisons, WG_BH, ""),
    WG_TEST(test_integers, WG_BH, ""),      WG_TEST(test_half_conversions, WG_BH, ""),
    WG_TEST(test_bfloat, WG_BH, ""),        WG_TEST(test_classes, WG_BH, ""),
    WG_TEST(test_signs_and_fma, WG_BH, ""), WG_TEST(test_half_moves, WG_BH, ""),
    WG_TEST(test_exceptions, WG_BH, ""),
};
WG_MAIN("riscv_fp", tests)
