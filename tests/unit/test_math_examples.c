/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examples that compute: each runs through unpackers, units and packer, and its results are compared with exact
 * arithmetic (or long double, where there is no exact value), within the error that the documented formats allow.
 */
#include <math.h>
#include <stdio.h>

#include "elf/elf.h"
#include "machine/device.h"
#include "host_modes.h"
#include "num/simd.h"

enum { IN0 = 0x30000, IN1 = 0x31000, OUT = 0x32000, PARAMETERS = 0x20000, DONE = 0x20080 };

static wg_device *load(void **state, const char *name)
{
    static const struct {
        const char *core;
        wg_core_id id;
    } cores[] = {{"trisc0", WG_CORE_T0}, {"trisc1", WG_CORE_T1}, {"trisc2", WG_CORE_T2}, {"brisc", WG_CORE_B}};
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    for (unsigned i = 0; i < 4; i++) {
        char path[512], error[512];
        snprintf(path, sizeof path, "%s/%s%s.%s.elf", WG_EXAMPLES, desc.arch == WG_ARCH_WH ? "wh_" : "", name,
                 cores[i].core);
        wg_elf *elf = wg_elf_open_file(path, error, sizeof error);
        if (!elf)
            fail_msg("%s", error);
        for (size_t k = 0; k < wg_elf_segments(elf); k++) {
            const wg_elf_segment *s = wg_elf_segment_at(elf, k);
            assert_int_equal(wg_write(dev, s->address, s->data, s->file_bytes), WG_OK);
        }
        assert_int_equal(wg_core_release(dev, cores[i].id, wg_elf_entry(elf)), WG_OK);
        wg_elf_close(elf);
    }
    return dev;
}

static void run(wg_device *dev)
{
    wg_stop stop;
    uint32_t done = 0;
    assert_int_equal(wg_run(dev, 1000000, &stop), WG_OK);
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        print_message("%s: %s\n", wg_finding_info_at(wg_finding_at(dev, i)->code)->code, wg_finding_at(dev, i)->detail);
    assert_int_equal(stop, WG_STOP_DONE);
    assert_int_equal(wg_finding_count(dev), 0);
    assert_int_equal(wg_read(dev, DONE, &done, 4), WG_OK);
    assert_int_equal(done, 1);
}

/* The index of row i, column j of a tile of four faces. */
static unsigned place(unsigned i, unsigned j) { return (i / 16 * 2 + j / 16) * 256 + i % 16 * 16 + j % 16; }

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* ---- Matrix product ---- */

static void product(void **state, unsigned passes, const uint16_t *a, const uint16_t *b, float *out)
{
    wg_device *dev = load(state, "matmul");
    uint32_t parameters[8] = {passes, 0, 0, 0, 1};
    assert_int_equal(wg_write(dev, PARAMETERS, parameters, sizeof parameters), WG_OK);
    assert_int_equal(wg_write(dev, IN0, a, 2048), WG_OK);
    assert_int_equal(wg_write(dev, IN1, b, 2048), WG_OK);
    run(dev);
    assert_int_equal(wg_read(dev, OUT, out, 4096), WG_OK);
    wg_destroy(dev);
}

/*
 * The parts of mantissas that a fidelity leaves out, relative to the product (SrcASrcB.md): LoFi uses 5 of 8 bits of
 * SrcA and 7 of SrcB, the second pass the rest of SrcA, the third the rest of SrcB with SrcA's leading bits. The rest
 * is rounding: eight products at a time lose what lies below 2^-10 of the greatest (half a unit each), the Dst sum
 * 2^-24 per addition.
 */
static void test_matmul(void **state)
{
    static const long double left_out[5] = {0, 0x1p-4L + 0x1p-6L, 0x1p-6L, 0x1p-10L, 0};
    static uint16_t a[1024], b[1024];
    static float out[4][1024];
    wg_rng rng = {2024};
    for (unsigned i = 0; i < 1024; i++) { /* BF16 of magnitudes from 1/8 to 4, either sign */
        a[i] = (uint16_t)((wg_rng_next(&rng) & 0x807F) | (124 + wg_rng_below(&rng, 5)) << 7);
        b[i] = (uint16_t)((wg_rng_next(&rng) & 0x807F) | (124 + wg_rng_below(&rng, 5)) << 7);
    }
    long double worst[5] = {0};
    for (unsigned passes = 1; passes <= 4; passes++) {
        product(state, passes, a, b, out[passes - 1]);
        for (unsigned i = 0; i < 32; i++)
            for (unsigned j = 0; j < 32; j++) {
                long double exact = 0, sum = 0, rounding = 0, greatest = 0;
                for (unsigned k = 0; k < 32; k++) {
                    long double x = from_bits((uint32_t)a[place(i, k)] << 16);
                    long double y = from_bits((uint32_t)b[place(k, j)] << 16);
                    exact += x * y;
                    sum += fabsl(x * y);
                    greatest = fmaxl(greatest, fabsl(x * y));
                    if (k % 8 == 7) {
                        rounding += 8 * 0x1p-10L * greatest;
                        greatest = 0;
                    }
                }
                long double error = fabsl(out[passes - 1][place(i, j)] - exact);
                long double allowed = left_out[passes] * sum + rounding + 0x1p-20L * sum;
                if (!(error <= allowed))
                    fail_msg("passes %u, row %u, column %u: %.9g instead of %.9Lg, off by %Lg of %Lg", passes, i, j,
                             (double)out[passes - 1][place(i, j)], exact, error, allowed);
                worst[passes] = fmaxl(worst[passes], error / sum);
            }
    }
    /* More passes are better, and LoFi does leave bits out. */
    assert_true(worst[1] > 0x1p-7L);
    assert_true(worst[1] > worst[2] && worst[2] > worst[3]);
    assert_true(worst[3] < 0x1p-10L && worst[4] < 0x1p-10L);
}

/* ---- Vector Unit ---- */

/* Runs an example on a tile of inputs, which have ten bits of mantissa. */
static void on_tile(void **state, const char *name, const float in[1024], float out[1024])
{
    wg_device *dev = load(state, name);
    assert_int_equal(wg_write(dev, IN0, in, 4096), WG_OK);
    run(dev);
    assert_int_equal(wg_read(dev, OUT, out, 4096), WG_OK);
    wg_destroy(dev);
}

/* A number from -limit to limit, with ten bits of mantissa. */
static float some(wg_rng *rng, float limit)
{
    int32_t x = (int32_t)wg_rng_below(rng, 0x1000001) - 0x800000;
    return from_bits(to_bits((float)x * 0x1p-23f * limit) & 0xFFFFE000u);
}

/* Every result is within `relative` or `absolute` of the correct one. */
static void expect(const float *in, const float *out, long double (*right)(long double), long double relative,
                   long double absolute)
{
    long double worst = 0;
    for (unsigned i = 0; i < 1024; i++) {
        long double exact = right(in[i]), error = fabsl(out[i] - exact);
        if (!(error <= relative * fabsl(exact) + absolute))
            fail_msg("of %.9g: %.9g instead of %.9Lg, off by %Lg", (double)in[i], (double)out[i], exact, error);
        worst = fmaxl(worst, relative != 0 ? error / fabsl(exact) : error);
    }
    assert_true(worst > 0); /* not a copy of the host's result */
}

static void test_exp(void **state)
{
    static float in[1024], out[1024];
    wg_rng rng = {5};
    for (unsigned i = 0; i < 1024; i++)
        in[i] = some(&rng, i & 1 ? 80 : 2);
    in[7] = 0;
    on_tile(state, "exp", in, out);
    /* the polynomial is off by 2^-23 at most for |r| up to ln 2 / 2; each of its steps rounds, the last three count */
    expect(in, out, expl, 0x1p-21L, 0);
    assert_true(out[7] == 1);
}

static long double reciprocal(long double x) { return 1 / x; }
static void test_reciprocal(void **state)
{
    static float in[1024], out[1024];
    wg_rng rng = {6};
    for (unsigned i = 0; i < 1024; i++) {
        in[i] = some(&rng, i & 1 ? 1e6f : 1);
        in[i] = in[i] != 0 ? in[i] : 3;
    }
    on_tile(state, "reciprocal", in, out);
    expect(in, out, reciprocal, 0x1p-22L, 0); /* two units in the last place: the last step's two roundings */
}

static long double gelu(long double x) { return x * erfcl(-x / sqrtl(2)) / 2; }
static void test_gelu(void **state)
{
    static float in[1024], out[1024];
    wg_rng rng = {7};
    for (unsigned i = 0; i < 1024; i++)
        in[i] = some(&rng, 6);
    on_tile(state, "gelu", in, out);
    expect(in, out, gelu, 0, 1.3e-4L);
    for (unsigned i = 0; i < 1024; i++) {
        if (in[i] >= 4)
            assert_true(out[i] == in[i]);
        else if (in[i] < -4)
            assert_true(out[i] == 0);
        else
            assert_true(fabsl(out[i] - gelu(in[i])) < 4.5e-5L);
    }
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}
static void test_sort(void **state)
{
    static float in[1024], out[1024];
    wg_rng rng = {8};
    for (unsigned i = 0; i < 1024; i++)
        in[i] = some(&rng, 100);
    on_tile(state, "sort", in, out);
    for (unsigned half = 0; half < 2; half++)
        for (unsigned k = 0; k < 64; k++) { /* four rows of 16 columns */
            float column[8];
            for (unsigned i = 0; i < 8; i++)
                column[i] = in[half * 512 + i * 64 + k];
            qsort(column, 8, sizeof *column, by_value);
            for (unsigned i = 0; i < 8; i++)
                assert_true(out[half * 512 + i * 64 + k] == column[i]);
        }
}

/* ---- Copies, in a format of each family ---- */

static void copy(void **state, const char *name, const uint8_t *tile, size_t bytes)
{
    wg_device *dev = load(state, name);
    uint8_t out[2048];
    assert_int_equal(wg_write(dev, IN0, tile, bytes), WG_OK);
    run(dev);
    assert_int_equal(wg_read(dev, OUT, out, bytes), WG_OK);
    assert_memory_equal(out, tile, bytes);
    wg_destroy(dev);
}

static void test_datacopy(void **state)
{
    uint8_t tile[2048];
    wg_rng rng = {31};
    for (unsigned i = 0; i < 1024; i++) { /* normal numbers */
        uint16_t x = (uint16_t)((wg_rng_next(&rng) & 0x807F) | (1 + wg_rng_below(&rng, 254)) << 7);
        memcpy(tile + 2 * i, &x, 2);
    }
    copy(state, "datacopy_bf16", tile, 2048);
    for (unsigned i = 0; i < 64; i++)
        tile[i] = (uint8_t)(20 + wg_rng_below(&rng, 200));
    for (unsigned i = 0; i < 1024; i++) { /* a block's first datum needs its exponent; no minus zero */
        uint8_t x = (uint8_t)(wg_rng_next(&rng) | (i % 16 ? 0 : 64));
        tile[64 + i] = x & 127 ? x : 0;
    }
    copy(state, "datacopy_bfp8", tile, 64 + 1024);
    for (unsigned i = 0; i < 1024; i++) { /* sign and magnitude; no minus zero */
        uint8_t x = (uint8_t)wg_rng_next(&rng);
        tile[i] = x & 127 ? x : 0;
    }
    copy(state, "datacopy_int8", tile, 1024);
}

/* ---- Every level of host vectors, in every mode of the host ---- */

/* The device's hash after the example. */
static uint64_t hash_of(void **state, const char *name, wg_simd level, unsigned mode)
{
    static const uint32_t parameters[8] = {4, 0, 0, 0, 1}; /* a product in HiFi4 */
    wg_device *dev = load(state, name);
    wg_rng rng = {77};
    uint32_t tile[1024];
    dev->tile->simd = (uint8_t)level;
    for (unsigned i = 0; i < 2; i++) { /* as FP32 or BF16, some of them denormal, infinite or no number */
        for (unsigned k = 0; k < 1024; k++)
            tile[k] = (uint32_t)wg_rng_next(&rng) & (k % 16 ? UINT32_C(0xBFFFBFFF) : UINT32_MAX);
        assert_int_equal(wg_write(dev, i ? IN1 : IN0, tile, sizeof tile), WG_OK);
    }
    assert_int_equal(wg_write(dev, PARAMETERS, parameters, sizeof parameters), WG_OK);
    wg_stop stop;
    host_modes(mode);
    assert_int_equal(wg_run(dev, 1000000, &stop), WG_OK);
    host_modes_end(mode);
    assert_int_equal(stop, WG_STOP_DONE);
    uint64_t hash = wg_state_hash(dev);
    wg_destroy(dev);
    return hash;
}

static void test_levels(void **state)
{
    static const char *const examples[] = {"matmul", "datacopy_bf16", "datacopy_bfp8", "datacopy_int8",
                                           "exp",    "reciprocal",    "gelu",          "sort"};
    for (unsigned i = 0; i < sizeof examples / sizeof *examples; i++) {
        uint64_t want = hash_of(state, examples[i], WG_SIMD_SCALAR, 0);
        for (unsigned level = 0; level <= wg_simd_best(); level++)
            for (unsigned mode = i % 3; mode < HOST_MODES; mode += 3)
                assert_int_equal(hash_of(state, examples[i], (wg_simd)level, mode), want);
    }
}

/* ---- Skipping is exact ---- */

/* Forty products: neither skipping cycles nor the lengths of time steps are visible anywhere. */
static void test_modes(void **state)
{
    for (unsigned passes = 1; passes <= 4; passes += 3) {
        wg_device *dev[3];
        const uint32_t parameters[8] = {passes, 0, 0, 0, 40};
        wg_rng rng = {passes};
        uint32_t tile[1024];
        for (unsigned k = 0; k < 1024; k++)
            tile[k] = (uint32_t)wg_rng_next(&rng) & UINT32_C(0xBFFFBFFF);
        for (unsigned i = 0; i < 3; i++) {
            dev[i] = load(state, "matmul");
            dev[i]->tile->lockstep = i == 0;
            assert_int_equal(wg_write(dev[i], IN0, tile, 2048), WG_OK);
            assert_int_equal(wg_write(dev[i], IN1, tile + 512, 2048), WG_OK);
            assert_int_equal(wg_write(dev[i], PARAMETERS, parameters, sizeof parameters), WG_OK);
        }
        uint32_t done = 0;
        for (unsigned round = 0; !done && round < 400; round++) {
            uint32_t cycles = 1 + wg_rng_below(&rng, wg_rng_below(&rng, 3) ? 40 : 300);
            for (unsigned i = 0; i < 3; i++)
                for (uint32_t left = cycles, n; left; left -= n) {
                    n = i < 2 ? left : 1 + wg_rng_below(&rng, left);
                    wg_advance(dev[i], n);
                }
            uint64_t hash = wg_state_hash(dev[0]);
            for (unsigned i = 1; i < 3; i++) {
                bool same = wg_state_hash(dev[i]) == hash;
                for (unsigned thread = 0; thread < WG_THREADS; thread++) {
                    const wg_frontend *f = &dev[0]->tile->frontend[thread], *g = &dev[i]->tile->frontend[thread];
                    same &= f->next_id == g->next_id && f->down_head == g->down_head && f->gate_end == g->gate_end &&
                            f->down_end == g->down_end && f->fifo_count == g->fifo_count;
                }
                if (!same)
                    fail_msg("device %u differs by cycle %llu", i, (unsigned long long)wg_cycle(dev[i]));
            }
            assert_int_equal(wg_read(dev[0], DONE, &done, 4), WG_OK);
        }
        assert_int_equal(done, 1);
        for (unsigned i = 0; i < 3; i++)
            wg_destroy(dev[i]);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_modes, WG_BH | WG_WH, ""),  WG_TEST(test_datacopy, WG_BH | WG_WH, ""),
    WG_TEST(test_exp, WG_BH | WG_WH, ""),    WG_TEST(test_reciprocal, WG_BH | WG_WH, ""),
    WG_TEST(test_gelu, WG_BH | WG_WH, ""),   WG_TEST(test_sort, WG_BH | WG_WH, ""),
    WG_TEST(test_matmul, WG_BH | WG_WH, ""), WG_TEST(test_levels, WG_BH | WG_WH, ""),
};
WG_MAIN("math_examples", tests)
