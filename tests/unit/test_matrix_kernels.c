/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Matrix Unit's vector kernels: every level gives the same bits as the scalar code, on random and on awkward
 * datums, in every floating-point mode of the host; and decoded operands never outlive their bank.
 */
#include "matrix_rig.h"

#include "backend/matrix_internal.h"
#include "host_modes.h"

/* A level that this host lacks is not tested; the scalar one always equals itself. */
static bool level(unsigned simd, const wg_matrix_kernels **k)
{
    *k = wg_matrix_kernels_for(simd);
    return simd <= (unsigned)wg_simd_best();
}

/* Exponents close together (so that mantissas meet), spread over the whole range, or at the ends. */
static uint32_t datum(wg_rng *rng, unsigned spread, unsigned center)
{
    uint64_t x = wg_rng_next(rng);
    uint32_t kind = x >> 40 & 31, exponent = center + (uint32_t)(x >> 48) % spread;
    uint32_t mantissa = (uint32_t)x & 0x3FF;
    if (kind < 4)
        exponent = kind == 0 ? 0 : kind == 1 ? 255 : (uint32_t)(x >> 20);
    if (kind == 4 || kind == 5)
        mantissa = kind == 4 ? 0 : 0x3FF;
    return (uint32_t)(x >> 32 & 1) << 18 | mantissa << 8 | (exponent & 0xFF);
}

static uint16_t half(wg_rng *rng, unsigned spread, unsigned center)
{
    uint32_t x = datum(rng, spread, center);
    return wg_rng_next(rng) & 7 ? wg_dst16_from_src_exp8(x) : (uint16_t)wg_rng_next(rng);
}

typedef struct block {
    uint16_t hi[8][16], lo[8][16];
} block;

static void fill_block(wg_rng *rng, block *b, unsigned spread, unsigned center)
{
    for (unsigned i = 0; i < 128; i++) {
        b->hi[i / 16][i % 16] = half(rng, spread, center);
        b->lo[i / 16][i % 16] = wg_rng_next(rng) & 3 ? (uint16_t)wg_rng_next(rng) : 0;
    }
}

static wg_alu random_alu(wg_rng *rng, wg_style *style, unsigned phase)
{
    static const wg_style styles[] = {WG_STYLE_BF16, WG_STYLE_FP16, WG_STYLE_TF32};
    *style = styles[wg_rng_below(rng, 3)];
    return wg_alu_for(wg_rng_below(rng, 2), *style != WG_STYLE_FP16, wg_rng_below(rng, 2), phase);
}

static void test_decoding(void **state)
{
    (void)state;
    for (unsigned simd = 1; simd < WG_SIMD_LEVELS; simd++) {
        const wg_matrix_kernels *k;
        if (!level(simd, &k))
            continue;
        wg_rng rng = {simd};
        for (unsigned round = 0; round < 4000; round++) {
            uint32_t rows[256];
            for (unsigned i = 0; i < 256; i++)
                rows[i] = round & 1 ? (uint32_t)wg_rng_next(&rng) & WG_SRC_MASK : datum(&rng, 20, 120);
            wg_style style = (wg_style)wg_rng_below(&rng, 4);
            unsigned phase = wg_rng_below(&rng, 4);
            bool flush = wg_rng_below(&rng, 2);
            wg_matrix_a a[2];
            wg_matrix_b b[2];
            memset(a, 0, sizeof a);
            memset(b, 0, sizeof b);
            wg_matrix_scalar.decode_a(rows, rows + 128, style, phase, &a[0]);
            k->decode_a(rows, rows + 128, style, phase, &a[1]);
            assert_memory_equal(&a[0], &a[1], offsetof(wg_matrix_a, bytes));
            wg_matrix_scalar.decode_b(rows, round % 8 + 1, style, flush, phase, &b[0]);
            k->decode_b(rows, round % 8 + 1, style, flush, phase, &b[1]);
            assert_memory_equal(&b[0], &b[1], offsetof(wg_matrix_b, bytes));
        }
    }
}

static void test_products(void **state)
{
    (void)state;
    for (unsigned simd = 1; simd < WG_SIMD_LEVELS; simd++) {
        const wg_matrix_kernels *k;
        if (!level(simd, &k))
            continue;
        wg_rng rng = {simd * 77};
        for (unsigned round = 0; round < 6000; round++) {
            unsigned spread = wg_rng_below(&rng, 4) ? 1 + wg_rng_below(&rng, 24) : 256, phase = wg_rng_below(&rng, 4);
            unsigned center = wg_rng_below(&rng, 3) ? 120 : wg_rng_below(&rng, 256);
            wg_style style;
            wg_alu alu = random_alu(&rng, &style, phase);
            if (style == WG_STYLE_FP16)
                center = 8;
            uint32_t rows[384];
            for (unsigned i = 0; i < 384; i++)
                rows[i] = datum(&rng, spread, center);
            bool integers = !wg_rng_below(&rng, 6);
            if (integers)
                style = WG_STYLE_INT8;
            wg_matrix_a a;
            wg_matrix_b b;
            bool flush = wg_rng_below(&rng, 4);
            wg_matrix_scalar.decode_a(rows, rows + 128, style, phase, &a);
            wg_matrix_scalar.decode_b(rows + 256, 8, style, flush, phase, &b);
            block want, got;
            fill_block(&rng, &want, spread, center);
            bool fresh = !wg_rng_below(&rng, 4);
            if (fresh)
                memset(&want, 0, sizeof want);
            got = want;
            block from = want; /* in place, or from elsewhere */
            bool apart = wg_rng_below(&rng, 2);
            wg_mul_args args = {
                &a,  &b,   1 + wg_rng_below(&rng, 8), wg_rng_below(&rng, 8) != 0, from.hi, from.lo, want.hi, want.lo,
                alu, fresh};
            (integers ? wg_matrix_scalar.mul_int : wg_matrix_scalar.mul_float)(&args);
            if (wg_rng_below(&rng, 4)) /* a level may decode more by itself */
                k->decode_a(rows, rows + 128, style, phase, &a);
            if (wg_rng_below(&rng, 4))
                k->decode_b(rows + 256, 8, style, flush, phase, &b);
            args.hi = got.hi;
            args.lo = got.lo;
            if (!apart) {
                args.from_hi = got.hi;
                args.from_lo = got.lo;
            }
            host_modes(round % HOST_MODES);
            (integers ? k->mul_int : k->mul_float)(&args);
            host_modes_end(round % HOST_MODES);
            if (memcmp(&want, &got, sizeof want))
                fail_msg("level %u, round %u", simd, round);
        }
    }
}

static void test_elementwise(void **state)
{
    (void)state;
    for (unsigned simd = 1; simd < WG_SIMD_LEVELS; simd++) {
        const wg_matrix_kernels *k;
        if (!level(simd, &k))
            continue;
        wg_rng rng = {simd * 555};
        for (unsigned round = 0; round < 20000; round++) {
            unsigned spread = wg_rng_below(&rng, 4) ? 1 + wg_rng_below(&rng, 24) : 256, phase = wg_rng_below(&rng, 4);
            unsigned center = wg_rng_below(&rng, 3) ? 120 : wg_rng_below(&rng, 256);
            wg_style style, style_b;
            wg_elw_op op = (wg_elw_op)wg_rng_below(&rng, 3);
            wg_alu alu = random_alu(&rng, &style, op == WG_ELW_MUL ? phase : 0);
            style_b = style == WG_STYLE_FP16 ? style : wg_rng_below(&rng, 2) ? WG_STYLE_BF16 : WG_STYLE_TF32;
            if (style == WG_STYLE_FP16)
                center = 8;
            uint32_t rows[256];
            for (unsigned i = 0; i < 256; i++)
                rows[i] = datum(&rng, spread, center);
            block want, got;
            fill_block(&rng, &want, spread, center);
            bool integers = !wg_rng_below(&rng, 6), accumulate = op == WG_ELW_MUL || wg_rng_below(&rng, 2);
            if (!accumulate)
                memset(&want, 0, sizeof want);
            got = want;
            wg_elw_args args = {rows,        rows + 128,     want.hi,          want.lo,        alu,
                                (uint8_t)op, (uint8_t)style, (uint8_t)style_b, (uint8_t)phase, wg_rng_below(&rng, 2),
                                accumulate};
            (integers ? wg_matrix_scalar.elw_int : wg_matrix_scalar.elw_float)(&args);
            args.hi = got.hi;
            args.lo = got.lo;
            host_modes(round % HOST_MODES);
            (integers ? k->elw_int : k->elw_float)(&args);
            host_modes_end(round % HOST_MODES);
            if (memcmp(&want, &got, sizeof want))
                fail_msg("level %u, round %u, operation %u", simd, round, op);
        }
    }
}

/* The same random program at every level, through the whole unit; caches included. */
static uint32_t run_program(wg_arch_id arch, unsigned simd, uint64_t seed)
{
    static const uint32_t opcodes[] = {0x26, 0x26, 0x26, 0x26, 0x29, 0x34, 0x27, 0x28, 0x30, 0x33,
                                       0x12, 0x13, 0x08, 0x0A, 0x0B, 0x11, 0x16, 0x18, 0x17, 0x10};
    mrig *r = mrig_new(arch);
    wg_rng rng = {seed};
    r->t->simd = (uint8_t)simd;
    for (unsigned i = 0; i < 4 * 1024; i++)
        mrig_put(r, (wg_src_file)(i / 2048), i / 1024 % 2, i / 16 % 64, i % 16, datum(&rng, 12, 122));
    static const uint8_t formats[] = {5, 4, 5, 1, 14};
    for (unsigned i = 0; i < 250; i++) {
        if (i % 40 == 0) {
            unsigned format = formats[wg_rng_below(&rng, 5)];
            mrig_formats(r, format, format);
            mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, wg_rng_below(&rng, 2));
            mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, format == 14);
            mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src, !wg_rng_below(&rng, 4));
        }
        mrig_own(r);
        r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srca = (uint8_t)(wg_rng_below(&rng, 8) * 8),
                                                   .srcb = (uint8_t)(wg_rng_below(&rng, 8) * 8),
                                                   .fidelity = (uint8_t)wg_rng_below(&rng, 4)};
        uint32_t opcode = opcodes[wg_rng_below(&rng, sizeof opcodes / sizeof *opcodes)];
        uint32_t operands = (uint32_t)wg_rng_next(&rng) & (opcode == 0x11 ? 0x1F : opcode == 0x10 ? 0x3FF : 0xFF3FFF);
        mrig_run(r, opcode << 24 | operands);
        if (!wg_rng_below(&rng, 30)) /* another agent fills a row */
            mrig_put(r, (wg_src_file)wg_rng_below(&rng, 2), wg_rng_below(&rng, 2), wg_rng_below(&rng, 64),
                     wg_rng_below(&rng, 16), datum(&rng, 12, 122));
    }
    uint32_t hash = 2166136261u;
    const uint8_t *bytes = (const uint8_t *)r->t->regs.dst.bits;
    for (size_t i = 0; i < sizeof r->t->regs.dst.bits; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    mrig_free(r);
    return hash;
}

static void test_levels_run_alike(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t scalar = run_program(wg_test_arch(state), WG_SIMD_SCALAR, seed);
        for (unsigned simd = 1; simd <= wg_simd_best(); simd++)
            assert_int_equal(run_program(wg_test_arch(state), simd, seed), scalar);
    }
}

/* The next product sees every kind of change to a source bank. */
static void test_no_stale_operands(void **state)
{
    enum { WAYS = 10 };
    for (unsigned simd = 0; simd <= wg_simd_best(); simd++)
        for (unsigned way = 0; way < WAYS; way++) {
            float result[2];
            for (unsigned cold = 0; cold < 2; cold++) {
                mrig *r = mrig_new(wg_test_arch(state));
                r->t->simd = (uint8_t)simd;
                mrig_formats(r, 5, 5);
                mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, 1);
                mrig_own(r);
                wg_rng rng = {way + 5};
                for (unsigned i = 0; i < 2048; i++)
                    mrig_put(r, (wg_src_file)(i / 1024), 0, i / 16 % 64, i % 16, datum(&rng, 3, 126));
                for (unsigned i = 0; i < 64; i++)
                    for (unsigned j = 0; j < 16; j++)
                        wg_dst_poke32(r->t, 128 + i, j, wg_dst32_from_fp32(mrig_bits((float)(i * 3 + j) - 20)));
                r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srca = 16, .srcb = 16};
                if (!cold)
                    mrig_run(r, 0x26000000 | 64); /* fills the caches */
                r->t->regs.rwc.thread[0] = (wg_rwc_thread){0};
                switch (way) {
                case 0: mrig_run(r, 0x08000000 | 16u << 17 | 1u << 13 | 128); break; /* MOVD2A */
                case 1: mrig_run(r, 0x0A000000 | 16u << 17 | 1u << 13 | 128); break; /* MOVD2B */
                case 2: mrig_run(r, 0x0B000000 | 16u << 17 | 1u << 13 | 40); break;  /* MOVB2A */
                case 3: mrig_run(r, 0x11000000 | 8 | 1); break;                      /* ZEROSRC */
                case 4: mrig_run(r, 0x11000000 | 8 | 2); break;
                case 5: mrig_run(r, 0x16000000); break;      /* TRNSPSRCB */
                case 6: mrig_run(r, 0x14000000); break;      /* TRNSPSRCA */
                case 7: mrig_run(r, 0x18000000 | 17); break; /* SHIFTXB */
                case 8: mrig_put_float(r, WG_SRCA, 18, 5, 100.0f); break;
                default:
                    r->t->regs.src.a[0][18][5] = 137;
                    wg_src_give_to_matrix(r->t, WG_SRCA, 0, WG_AGENT_UNPACK0);
                    break;
                }
                r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srca = 16, .srcb = 16};
                mrig_run(r, 0x26000000);
                result[cold] = mrig_dst_fp32(r, 1, 5);
                mrig_free(r);
            }
            assert_true(result[0] == result[1]);
        }
}

static const wg_test tests[] = {
    WG_TEST(test_decoding, WG_BH, ""),
    WG_TEST(test_products, WG_BH, ""),
    WG_TEST(test_elementwise, WG_BH, ""),
    WG_TEST(test_levels_run_alike, WG_BH | WG_WH, ""),
    WG_TEST(test_no_stale_operands, WG_BH | WG_WH, ""),
};

WG_MAIN("matrix_kernels", tests)
