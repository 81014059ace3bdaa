/* SPDX-License-Identifier: Apache-2.0 */
/* The multiply-add: its scalar code against known values and exact arithmetic, host vectors against the scalar code. */
#include "vector_rig.h"

#include "host_modes.h"
#include "num/fma.h"

static void test_fma_values(void **state)
{
    /* x, y, z, Blackhole, Wormhole */
    static const uint32_t cases[][5] = {
        {0x3F800000, 0x3F800000, 0x3F800000, 0x40000000, 0x40000000},
        {0x80000000, 0x3F800000, 0x80000000, 0x80000000, 0x00000000}, /* -0 + -0 */
        {0x80000000, 0x3F800000, 0x00000000, 0x00000000, 0x00000000},
        {0x00400000, 0x7F000000, 0x3F800000, 0x3F800000, 0x3F800000}, /* a denormal is zero */
        {0x7F800000, 0x00000000, 0x3F800000, 0x7FC00000, 0x7F800001}, /* infinity times zero */
        {0x7F800000, 0x3F800000, 0xFF800000, 0x7FC00000, 0x7F800001},
        {0x7F7FFFFF, 0x40000000, 0xFF7FFFFF, 0x7F800000, 0x7F800000}, /* only the product overflows */
        {0x7F7FFFFF, 0x40000000, 0xFF800000, 0xFF800000, 0x7FFFFFFF}, /* WH: NaN, with bits of the sum */
        {0x00800000, 0x3E800000, 0x00800000, 0x00800000, 0x00800000}, /* only the product underflows */
        {0x3F800001, 0x3F800001, 0xBF800002, 0x32800000, 0x32800000}, /* 2^-46 has become the sticky bit */
        {0x00FFFFFF, 0x3F000000, 0x00000000, 0x00800000, 0x00000000}, /* BH rounds up to the least normal number */
        {0x00FFFFFE, 0x3F000000, 0x00000000, 0x00000000, 0x00000000},
        {0x80FFFFFE, 0x3F000000, 0x80000000, 0x80000000, 0x00000000}, /* BH flushes to the zero of its sign */
        {0x3FF96C00, 0x3FF0B800, 0x3FB6B29F, 0x40A2F0EB, 0x40A2F0EA}, /* WH loses one of two rounding bits */
        {0x3F800000, 0x3F800000, 0x33800000, 0x3F800000, 0x3F800000}, /* ties to even */
        {0x3F800001, 0x3F800000, 0x33800000, 0x3F800002, 0x3F800002},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t *c = cases[i];
        if (wg_fma_bh(c[0], c[1], c[2]) != c[3] || wg_fma_wh(c[0], c[1], c[2]) != c[4])
            fail_msg("%08x * %08x + %08x = %08x, %08x", c[0], c[1], c[2], wg_fma_bh(c[0], c[1], c[2]),
                     wg_fma_wh(c[0], c[1], c[2]));
    }
}

/* x + y, rounded once, with 64-bit integers only: normal numbers with close exponents. */
static uint32_t exact_sum(uint32_t x, uint32_t y)
{
    int64_t a = (int64_t)((x & 0x7FFFFF) | 0x800000) << ((x >> 23 & 255) - 100);
    int64_t b = (int64_t)((y & 0x7FFFFF) | 0x800000) << ((y >> 23 & 255) - 100);
    int64_t s = (x >> 31 ? -a : a) + (y >> 31 ? -b : b);
    uint64_t m = (uint64_t)(s < 0 ? -s : s);
    if (!m)
        return 0;
    int top = 63 - __builtin_clzll(m), cut = top - 23;
    uint64_t kept = cut > 0 ? m >> cut : m << -cut;
    if (cut > 0) {
        uint64_t rest = m & ((UINT64_C(1) << cut) - 1), half = UINT64_C(1) << (cut - 1);
        kept += rest > half || (rest == half && kept & 1);
    }
    return (s < 0 ? 0x80000000u : 0) | (uint32_t)(kept + ((uint64_t)(100 + cut - 1) << 23));
}

static void test_fma_exact(void **state)
{
    wg_rng rng = {11};
    (void)state;
    for (unsigned i = 0; i < 300000; i++) {
        uint32_t x = (uint32_t)wg_rng_next(&rng) & 0x807FFFFF, y = (uint32_t)wg_rng_next(&rng) & 0x807FFFFF;
        x |= (100 + wg_rng_below(&rng, 38)) << 23;
        y |= (100 + wg_rng_below(&rng, 38)) << 23;
        assert_int_equal(wg_fma_bh(0x3F800000, x, y), exact_sum(x, y));
        assert_int_equal(wg_fma_wh(x, 0x3F800000, y), exact_sum(x, y));
        /* The product of the significands in 64 bits: its 48 bits are exact; rounding to 24 bits follows. */
        uint64_t p = (uint64_t)((x & 0x7FFFFF) | 0x800000) * ((y & 0x7FFFFF) | 0x800000);
        int cut = p >> 47 ? 24 : 23;
        uint64_t kept = p >> cut, rest = p & ((UINT64_C(1) << cut) - 1), half = UINT64_C(1) << (cut - 1);
        kept += rest > half || (rest == half && kept & 1);
        uint32_t e = (x >> 23 & 255) + (y >> 23 & 255) - 127 + (uint32_t)(cut == 24);
        uint32_t expect = ((x ^ y) & 0x80000000u) + (uint32_t)(kept + ((uint64_t)(e - 1) << 23));
        assert_int_equal(wg_fma_bh(x, y, 0), expect);
    }
}

static uint32_t operand(wg_rng *rng, bool tame)
{
    uint64_t v = wg_rng_next(rng);
    uint32_t bits = (uint32_t)(v >> 32);
    if (tame)
        return (bits & 0x807FFFFF) | (uint32_t)(110 + (v & 31)) << 23;
    switch (v & 15) {
    case 0: return bits & 0x80000000;
    case 1: return bits & 0x807FFFFF;
    case 2: return bits | 0x7F800000;
    case 3: return (bits & 0x80000000) | 0x7F800000;
    case 4: return (bits & 0x807FFFFF) | (1 + (uint32_t)(v >> 8 & 3)) << 23;
    case 5: return (bits & 0x807FFFFF) | (254 - (uint32_t)(v >> 8 & 3)) << 23;
    case 6: return (bits & 0x80000000) | (uint32_t)(v >> 8 & 0xFF) << 23 | 0x7FFFFF;
    case 7: return (bits & 0x80000000) | (uint32_t)(v >> 8 & 0xFF) << 23;
    default: return bits;
    }
}

static void compare(wg_arch_id arch, wg_rng *rng, unsigned level, bool tame)
{
    const wg_vector_kernels *k = wg_vector_kernels_at(level);
    uint32_t a[32], b[32], c[32], one[32], zero[32] = {0}, out[32], expect[32];
    uint32_t flip_b = wg_rng_next(rng) & 1 ? 0x80000000u : 0, flip_c = wg_rng_next(rng) & 1 ? 0x80000000u : 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        one[lane] = 0x3F800000;
        a[lane] = operand(rng, tame);
        b[lane] = operand(rng, tame);
        c[lane] = operand(rng, tame);
        uint32_t e = (a[lane] >> 23 & 255) + (b[lane] >> 23 & 255) - 127 + wg_rng_below(rng, 7) - 3;
        if (lane & 1 && e > 0 && e < 255) /* near cancellation */
            c[lane] = (c[lane] & 0x807FFFFF) | e << 23;
        if ((lane & 7) == 2)
            c[lane] = b[lane] ^ 0x80000000u;
    }
    if (tame && !wg_rng_below(rng, 4)) { /* among normal numbers, a product that rounds up to the least one */
        a[4] = 0x00FFFFFF;
        b[4] = 0x3F000000;
    }
    wg_fma_lanes_fn *fn[3] = {k->fma[arch], k->mul[arch], k->add[arch]};
    for (unsigned kind = 0; kind < 3; kind++) {
        const uint32_t *x = kind == 2 ? one : a, *z = kind == 1 ? zero : c;
        wg_vector_kernels_scalar.fma[arch](expect, x, b, z, flip_b, flip_c);
        fn[kind](out, x, b, z, flip_b, flip_c);
        for (unsigned lane = 0; lane < 32; lane++)
            if (out[lane] != expect[lane])
                fail_msg("level %u kind %u: %08x * %08x + %08x = %08x, not %08x", level, kind, x[lane],
                         b[lane] ^ flip_b, z[lane] ^ flip_c, out[lane], expect[lane]);
    }
    uint32_t lanes = (uint32_t)wg_rng_next(rng), to[32], keep[32];
    memcpy(to, a, sizeof to);
    memcpy(keep, a, sizeof keep);
    k->blend(to, b, lanes);
    wg_vector_kernels_scalar.blend(keep, b, lanes);
    assert_memory_equal(to, keep, sizeof to);
}

/*
 * The multiply-add in some lanes, also with d itself as an operand. The operands' exponents are close in all lanes, so
 * that the host's own multiply-add may be used.
 */
static void compare_mad(wg_arch_id arch, wg_rng *rng, unsigned level)
{
    uint32_t v[4][2][32], old[2][32], lanes = (uint32_t)wg_rng_next(rng);
    unsigned exponent[3], bits = wg_rng_below(rng, 4), alias = wg_rng_below(rng, 4);
    exponent[0] = 100 + wg_rng_below(rng, 50);
    exponent[1] = 100 + wg_rng_below(rng, 50);
    exponent[2] = exponent[0] + exponent[1] - 127 + wg_rng_below(rng, 10) - 5;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned lane = 0; lane < 32; lane++) {
            uint32_t x = (uint32_t)wg_rng_next(rng) & (bits ? 0x807FFFFF : 0x807F0000); /* one call in four: few bits */
            v[i][0][lane] = v[i][1][lane] = i < 3 ? (x & (bits == 3 ? 0x007FFFFF : ~0u)) | exponent[i] << 23 : x;
        }
    for (unsigned k = 0; k < 2; k++) {
        uint8_t unfused = 0;
        uint32_t *d = v[alias < 3 ? alias : 3][k];
        wg_mad_lanes m = {d, old[k], v[0][k], v[1][k], v[2][k], 0, 0, lanes, &unfused};
        wg_vector_kernels_at(k ? level : WG_SIMD_SCALAR)->mad[arch](&m);
    }
    for (unsigned i = 0; i < 4; i++)
        assert_memory_equal(v[i][0], v[i][1], sizeof v[i][0]);
    assert_memory_equal(old[0], old[1], sizeof old[0]);
}

/* Every format between Dst and lanes, any columns, lanes and undefined rows. */
static void compare_moves(wg_arch_id arch, wg_rng *rng, unsigned level)
{
    static wg_dst dst[2];
    uint32_t lanes[2][32], old[32];
    for (unsigned row = 0; row < 32; row++)
        for (unsigned i = 0; i < 16; i++)
            dst[0].bits[row][i] = dst[1].bits[row][i] = (uint16_t)wg_rng_next(rng);
    for (unsigned i = 0; i < 32; i++)
        old[i] = (uint32_t)wg_rng_next(rng);
    wg_lanes_move m = {.traits = &wg_vector_traits_of[arch],
                       .stored = wg_rng_below(rng, 2) * 4,
                       .format = (uint8_t)wg_rng_below(rng, 16),
                       .blank = wg_rng_below(rng, 4) ? 0 : wg_rng_below(rng, 16),
                       .infinity = (uint32_t)wg_rng_next(rng),
                       .odd = wg_rng_below(rng, 3) ? 0u - wg_rng_below(rng, 2) : (uint32_t)wg_rng_next(rng),
                       .lanes = wg_rng_below(rng, 2) ? ~0u : (uint32_t)wg_rng_next(rng)};
    enum { WIDE = 1 << WG_LANES_FP32 | 1 << WG_LANES_INT32 | 1 << WG_LANES_INT32_ALL | 1 << WG_LANES_INT32_SM };
    enum { WIDE_STORED = WIDE | 1 << WG_LANES_HI16 | 1 << WG_LANES_LO16 };
    for (unsigned k = 0; k < 2; k++) {
        const wg_vector_kernels *kernels = wg_vector_kernels_at(k ? level : WG_SIMD_SCALAR);
        m.wide = WIDE >> m.format & 1;
        kernels->load(lanes[k], &dst[k], &m, old);
        m.wide = WIDE_STORED >> m.format & 1;
        kernels->store(&dst[k], &m, old);
    }
    assert_memory_equal(lanes[0], lanes[1], sizeof lanes[0]);
    assert_memory_equal(dst[0].bits, dst[1].bits, 32 * sizeof dst[0].bits[0]);
}

/* Equal to the scalar code in every rounding and flush mode of the host, which is preserved. */
static void test_levels_agree(void **state)
{
    wg_rng rng = {7};
    for (unsigned level = 1; level <= wg_simd_best(); level++) {
        for (unsigned mode = 0; mode < HOST_MODES; mode++) {
            host_modes(mode);
            for (unsigned i = 0; i < 1500; i++) {
                compare(wg_test_arch(state), &rng, level, i & 1);
                compare_mad(wg_test_arch(state), &rng, level);
                compare_moves(wg_test_arch(state), &rng, level);
            }
            host_modes_end(mode);
        }
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_fma_values, WG_BH, "", "SFPMAD:value"),
    WG_COVERS(test_fma_exact, WG_BH, "", "SFPADD:value SFPMUL:value"),
    WG_TEST(test_levels_agree, WG_BH | WG_WH, ""),
};
WG_MAIN("vector_simd", tests)
