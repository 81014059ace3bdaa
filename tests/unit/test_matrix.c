/* SPDX-License-Identifier: Apache-2.0 */
/* The Matrix Unit's arithmetic: every operand and mode, rounding, limits, and recorded results of the reference. */
#include "matrix_rig.h"

#include "matrix_golden.h"

enum {
    MVMUL = 0x26000000,
    ELWMUL = 0x27000000,
    ELWADD = 0x28000000,
    DOTPV = 0x29000000,
    ELWSUB = 0x30000000,
    GMPOOL = 0x33000000,
    GAPOOL = 0x34000000,
    ADDS = 1 << 21,
    ROW = 1 << 20,
    COLUMN = 1 << 19
};

static mrig *ready(void **state, unsigned format, bool wide)
{
    mrig *r = mrig_new(wg_test_arch(state));
    mrig_formats(r, format, format);
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, wide);
    mrig_own(r);
    return r;
}

/* Whole numbers that no step rounds. */
static int number(unsigned file, unsigned row, unsigned column)
{
    return (int)((row * 7 + column * 3 + file * 5) % 9) - 4;
}

static void put_numbers(mrig *r)
{
    for (unsigned file = 0; file < 2; file++)
        for (unsigned row = 0; row < 64; row++)
            for (unsigned column = 0; column < 16; column++)
                mrig_put_float(r, (wg_src_file)file, row, column, (float)number(file, row, column));
}

static int product(unsigned a, unsigned b, unsigned row, unsigned column)
{
    int sum = 0;
    for (unsigned k = 0; k < 16; k++)
        sum += number(WG_SRCB, b + row, k) * number(WG_SRCA, a + k, column);
    return sum;
}

/* Row addressing, accumulation, counters, for MVMUL, DOTPV and GAPOOL. */
static void test_products(void **state)
{
    for (unsigned op = 0; op < 3; op++)
        for (unsigned wide = 0; wide < 2; wide++) {
            mrig *r = ready(state, WG_FMT_TF32, wide);
            put_numbers(r);
            mrig_addr_mod_1(r);
            mrig_tcfg(r, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset, 64);
            mrig_cfg(r, WG_CFG_DEST_REGW_BASE_Base, 128);
            r->t->regs.rwc.thread[0] = (wg_rwc_thread){.dst = 21, .srca = 35, .srcb = 22};
            unsigned rows = op == 2 ? 4 : 8;
            uint32_t word = (op == 0 ? MVMUL : op == 1 ? DOTPV | COLUMN : GAPOOL) | 258; /* DOTPV has no broadcast */
            word |= op == 2 ? 1u << 15 : mrig_addr_mod(r, 1);
            mrig_run(r, word);
            /* 64 + 128 + 21 + 258 = 471, aligned down; SrcA from 32, SrcB from 16. */
            unsigned dst = op == 2 ? 468 : 464;
            for (unsigned i = 0; i < rows; i++)
                for (unsigned j = 0; j < 16; j++) {
                    float x = wide ? mrig_dst_fp32(r, dst + i, j) : mrig_dst_bf16(r, dst + i, j);
                    assert_true(x == (float)product(32, 16, i, j));
                }
            assert_int_equal(mrig_dst16(r, wide ? 0 : dst + rows, 0), 0);
            const wg_rwc_thread *rwc = &r->t->regs.rwc.thread[0];
            assert_int_equal(rwc->srca, 51);
            assert_int_equal(rwc->srcb, 30);
            assert_int_equal(rwc->dst, 29);
            assert_int_equal(rwc->fidelity, 1);
            /* Once more onto the same rows. */
            r->t->regs.rwc.thread[0] = (wg_rwc_thread){.dst = 21, .srca = 35, .srcb = 22};
            mrig_run(r, word);
            assert_true((wide ? mrig_dst_fp32(r, dst + 1, 2) : mrig_dst_bf16(r, dst + 1, 2)) ==
                        (float)(2 * product(32, 16, 1, 2)));
            mrig_free(r);
        }
}

/* A SrcA block that starts at an odd multiple of eight, and at the end of the bank (wraps). */
static void test_srca_rows(void **state)
{
    mrig *r = ready(state, WG_FMT_BF16, true);
    put_numbers(r);
    for (unsigned a = 8; a < 64; a += 16) {
        r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srca = (uint8_t)a, .dst = (uint16_t)(a * 2)};
        mrig_run(r, MVMUL);
        int sum = 0;
        for (unsigned k = 0; k < 16; k++)
            sum += number(WG_SRCB, 3, k) * number(WG_SRCA, (a + k) % 64, 5);
        assert_true(mrig_dst_fp32(r, a * 2 + 3, 5) == (float)sum);
    }
    mrig_free(r);
}

/* One row of SrcB to rows 0, 2, 4 and 6; bit 0 of the Dst row counts. */
static void test_mvmul_broadcast(void **state)
{
    mrig *r = ready(state, WG_FMT_BF16, false);
    put_numbers(r);
    r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srcb = 13, .srca = 16};
    mrig_run(r, MVMUL | COLUMN | 0x2F);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 16; j++)
            assert_true(mrig_dst_bf16(r, 0x28 + i, j) == (i % 2 ? (float)product(16, 13, 0, j) : 0.0f));
    mrig_free(r);
}

/* The mantissa bits that each phase uses. */
static void test_fidelity_bits(void **state)
{
    mrig *r = ready(state, WG_FMT_TF32, true);
    /* 1.1111111111b as SrcA and SrcB: 11 ones. */
    mrig_fill(r, WG_SRCA, 0x3FF00 | 127);
    mrig_fill(r, WG_SRCB, 0x3FF00 | 127);
    double a[2] = {31.0 / 16, 31.0 / 512}, b[2] = {127.0 / 64, 15.0 / 1024};
    for (unsigned base = 0; base < 4; base++)
        for (unsigned phase = 0; phase < 4; phase++) {
            mrig_tcfg(r, WG_TCFG_FIDELITY_BASE_Phase, base);
            r->t->regs.rwc.thread[0].fidelity = (uint8_t)phase;
            unsigned p = (base + phase) & 3;
            mrig_undefine_all(r);
            mrig_run(r, ELWMUL);
            assert_true((double)mrig_dst_fp32(r, 0, 0) == a[p & 1] * b[p >> 1]);
            mrig_undefine_all(r);
            mrig_run(r, GAPOOL);
            assert_true((double)mrig_dst_fp32(r, 3, 15) == 16 * a[p & 1] * b[p >> 1]);
        }
    /* Four phases together are the whole product of two BF16. */
    mrig_tcfg(r, WG_TCFG_FIDELITY_BASE_Phase, 0);
    mrig_formats(r, WG_FMT_BF16, WG_FMT_BF16);
    mrig_put_float(r, WG_SRCA, 2, 3, 1.9921875f);
    mrig_put_float(r, WG_SRCB, 2, 3, -1.3359375f);
    mrig_undefine_all(r);
    for (unsigned phase = 0; phase < 4; phase++) {
        r->t->regs.rwc.thread[0].fidelity = (uint8_t)phase;
        mrig_run(r, ELWMUL);
    }
    assert_true(mrig_dst_fp32(r, 2, 3) == 1.9921875f * -1.3359375f);
    mrig_free(r);
}

static uint32_t int8(int x)
{
    return (x < 0 ? (uint32_t)WG_SRC_SIGN : 0) | (uint32_t)(x < 0 ? -x : x) << 8 | (x ? 16 : 0);
}

static void test_integers(void **state)
{
    mrig *r = ready(state, WG_FMT_INT8, false);
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, 1);
    int a = -201, b = 987;
    mrig_fill(r, WG_SRCA, int8(a));
    mrig_fill(r, WG_SRCB, int8(b));
    int part_a[2] = {-(201 & 0xE0), -(201 & 0x1F)}, part_b[2] = {987 & 0x3F0, 987 & 15};
    int sum = 0;
    for (unsigned phase = 0; phase < 4; phase++) {
        r->t->regs.rwc.thread[0] = (wg_rwc_thread){.fidelity = (uint8_t)phase};
        mrig_run(r, MVMUL);
        mrig_run(r, ELWMUL | 16);
        sum += part_a[phase & 1] * part_b[phase >> 1];
        assert_int_equal(wg_dst32_to_int(mrig_dst32(r, 7, 15)), 16 * sum);
        assert_int_equal(wg_dst32_to_int(mrig_dst32(r, 16, 0)), sum);
    }
    assert_int_equal(sum, a * b);
    /* Sums use all ten bits, whatever the phase. */
    mrig_run(r, ELWADD | 32);
    assert_int_equal(wg_dst32_to_int(mrig_dst32(r, 33, 1)), a + b);
    mrig_run(r, ELWSUB | ADDS | 32);
    assert_int_equal(wg_dst32_to_int(mrig_dst32(r, 33, 1)), a + b + a - b);
    /* Saturation at both ends. */
    static const int32_t ends[2] = {-INT32_MAX, INT32_MAX};
    for (unsigned end = 0; end < 2; end++) {
        wg_dst_poke32(r->t, 40, 0, wg_dst32_from_int(ends[end] + (end ? -100 : 100)));
        mrig_fill(r, WG_SRCA, int8(end ? 100 : -100));
        mrig_fill(r, WG_SRCB, int8(end ? 1 : -1));
        for (unsigned again = 0; again < 2; again++) {
            mrig_run(r, ELWADD | ADDS | 40);
            assert_int_equal(wg_dst32_to_int(mrig_dst32(r, 40, 0)), ends[end]);
        }
    }
    /* An exponent of zero gives a zero, for SrcB unless that is switched off. */
    mrig_fill(r, WG_SRCA, int8(5));
    mrig_fill(r, WG_SRCB, int8(7) & ~0xFFu);
    mrig_run(r, ELWADD | 48);
    assert_int_equal(wg_dst32_to_int(mrig_dst32(r, 48, 0)), 5);
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src, 1);
    mrig_run(r, ELWADD | 48);
    assert_int_equal(wg_dst32_to_int(mrig_dst32(r, 48, 0)), 12);
    mrig_fill(r, WG_SRCA, int8(5) & ~0xFFu);
    mrig_run(r, ELWADD | 48);
    assert_int_equal(wg_dst32_to_int(mrig_dst32(r, 48, 0)), 7);
    mrig_free(r);
}

static void test_elementwise(void **state)
{
    static const uint32_t ops[] = {ELWADD, ELWSUB, ELWMUL};
    for (unsigned op = 0; op < 3; op++)
        for (unsigned mode = 0; mode < 8; mode++)
            for (unsigned wide = 0; wide < 2; wide++) {
                mrig *r = ready(state, WG_FMT_BF16, wide);
                put_numbers(r);
                mrig_addr_mod_1(r);
                r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srca = 13, .srcb = 21, .dst = 3};
                for (unsigned k = 0; k < 2; k++) {
                    uint32_t word = ops[op] | mode << 19 | 8 | mrig_addr_mod(r, 0);
                    mrig_run(r, word);
                }
                bool add = mode & 4 || op == 2;
                unsigned row_b = mode & 2 ? 21 : 16;
                for (unsigned i = 0; i < 8; i++)
                    for (unsigned j = 0; j < 16; j++) {
                        int a = number(WG_SRCA, 8 + i, j),
                            b = number(WG_SRCB, row_b + (mode & 2 ? 0 : i), mode & 1 ? 0 : j);
                        int want = op == 0 ? a + b : op == 1 ? a - b : a * b;
                        float x = wide ? mrig_dst_fp32(r, 8 + i, j) : mrig_dst_bf16(r, 8 + i, j);
                        assert_true(x == (float)(add ? 2 * want : want));
                    }
                r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srca = 13, .srcb = 21, .dst = 3};
                mrig_run(r, ops[op] | mrig_addr_mod(r, 1));
                assert_int_equal(r->t->regs.rwc.thread[0].srca, 29);
                assert_int_equal(r->t->regs.rwc.thread[0].srcb, 29);
                assert_int_equal(r->t->regs.rwc.thread[0].dst, 11);
                mrig_free(r);
            }
}

/* One datum through ELWADD or ELWMUL: SrcA, SrcB and Dst in CPU order, BF16 or FP32. */
static uint32_t one(mrig *r, uint32_t word, uint32_t a, uint32_t b, uint32_t dst, bool wide)
{
    mrig_put(r, WG_SRCA, 0, 0, 0, wg_src_from_fp32(a));
    mrig_put(r, WG_SRCB, 0, 0, 0, wg_src_from_fp32(b));
    if (wide)
        wg_dst_poke32(r->t, 0, 0, wg_dst32_from_fp32(dst));
    else
        r->t->regs.dst.bits[0][0] = wg_dst16_from_bf16((uint16_t)(dst >> 16));
    mrig_run(r, word);
    return wide ? wg_dst32_to_fp32(mrig_dst32(r, 0, 0)) : (uint32_t)wg_dst16_to_bf16(mrig_dst16(r, 0, 0)) << 16;
}

static void test_rounding_and_limits(void **state)
{
    mrig *r = ready(state, WG_FMT_TF32, true);
    /* Ties of the final rounding go away from zero: 2^24 + 1 needs 25 bits. */
    assert_int_equal(one(r, ELWADD | ADDS, mrig_bits(1.0f), 0, mrig_bits(16777216.0f), true), 0x4B800001);
    assert_int_equal(one(r, ELWADD | ADDS, mrig_bits(-1.0f), 0, mrig_bits(-16777216.0f), true), 0xCB800000);
    assert_int_equal(one(r, ELWADD | ADDS, mrig_bits(-3.0f), 0, mrig_bits(-16777216.0f), true), 0xCB800001);
    /* No infinities among the inputs; overflow gives one. */
    assert_int_equal(one(r, ELWADD, 0x7F000000, 0x7F000000, 0, true), 0x7F800000);
    assert_int_equal(one(r, ELWADD, 0xFF7FE000, 0xFF7FE000, 0, true), 0xFF800000);
    assert_int_equal(one(r, ELWADD, 0x7F800000, 0xFF000000, 0, true), 0x7F000000); /* 2^128 - 2^127 */
    assert_int_equal(one(r, ELWMUL, 0x5F800000, 0x5F800000, 0, true), 0x7F800000);
    /* Underflow gives zero; denormals are zero; a zero is positive. */
    assert_int_equal(one(r, ELWMUL, 0x20000000, 0x20000000, 0, true), 0x00800000);
    assert_int_equal(one(r, ELWMUL, 0x1F800000, 0x20000000, 0, true), 0);
    assert_int_equal(one(r, ELWADD, 0x007FE000, 0x807FE000, 0, true), 0);
    assert_int_equal(one(r, ELWADD, 0x80000000, 0x80000000, 0, true), 0);
    assert_int_equal(one(r, ELWADD | ADDS, 0, 0, 0x007FFFFF, true), 0);
    assert_int_equal(one(r, ELWSUB, mrig_bits(3.5f), mrig_bits(3.5f), 0, true), 0);
    /* WH normalises a total of -1 (in units of the last place) wrongly. */
    uint32_t lost = one(r, ELWADD | ADDS, mrig_bits(2.0f), 0, 0xC0000001, true);
    assert_int_equal(lost, wg_test_arch(state) == WG_ARCH_WH ? 0xC2000000 : 0xB4800000);
    assert_int_equal(one(r, ELWADD | ADDS, mrig_bits(-2.0f), 0, 0x40000001, true), 0x34800000);
    mrig_free(r);

    r = ready(state, WG_FMT_BF16, false);
    /* 16-bit Dst: 1 + 2^-8 is a tie and goes up; each term is rounded to 11 bits before it is added. */
    assert_int_equal(one(r, ELWADD | ADDS, mrig_bits(0.00390625f), 0, mrig_bits(1.0f), false), 0x3F810000);
    assert_int_equal(one(r, ELWADD | ADDS, mrig_bits(-0.00390625f), 0, mrig_bits(-1.0f), false), 0xBF810000);
    assert_int_equal(one(r, ELWADD | ADDS, mrig_bits(0.0001220703125f), 0, mrig_bits(1.0f), false), 0x3F800000);
    assert_int_equal(one(r, ELWADD, 0x7F000000, 0x7F000000, 0, false), 0x7F800000);
    mrig_free(r);

    r = ready(state, WG_FMT_FP16, false);
    /* FP16: exponent 31 is an ordinary number; overflow gives exponent 31 and all ones. */
    mrig_put(r, WG_SRCA, 0, 0, 0, wg_src_from_fp16(0x7C00));
    mrig_put(r, WG_SRCB, 0, 0, 0, wg_src_from_fp16(0x0000));
    mrig_put(r, WG_SRCA, 0, 0, 1, wg_src_from_fp16(0xFBFF));
    mrig_put(r, WG_SRCB, 0, 0, 1, wg_src_from_fp16(0xFC01));
    mrig_put(r, WG_SRCA, 0, 0, 2, wg_src_from_fp16(0x3C00));
    mrig_put(r, WG_SRCB, 0, 0, 2, wg_src_from_fp16(0x03FF));
    mrig_run(r, ELWADD);
    assert_int_equal(wg_dst16_to_fp16(mrig_dst16(r, 0, 0)), 0x7C00);
    assert_int_equal(wg_dst16_to_fp16(mrig_dst16(r, 0, 1)), 0xFFFF);
    assert_int_equal(wg_dst16_to_fp16(mrig_dst16(r, 0, 2)), 0x3C00);
    mrig_free(r);
}

/* Which formats select which style; overrides; implied formats; FP16A_FORCE. */
static void test_format_selection(void **state)
{
    static const uint8_t five_bits[16] = {[1] = 1, [2] = 1, [3] = 1, [10] = 1, [11] = 1, [14] = 1};
    for (unsigned how = 0; how < 3; how++)
        for (unsigned format = 0; format < 16; format++) {
            mrig *r = mrig_new(wg_test_arch(state));
            bool bh = wg_test_arch(state) == WG_ARCH_BH;
            mrig_formats(r, 5, 5);
            mrig_own(r);
            if (how == 0) { /* the field itself, on BH without implied formats */
                mrig_tcfg(r, WG_TCFG_DISABLE_IMPLIED_SRCA_FMT_Base, 1);
                mrig_cfg(r, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA, format);
            } else if (how == 1) { /* the override */
                mrig_tcfg(r, WG_TCFG_DISABLE_IMPLIED_SRCA_FMT_Base, 1);
                mrig_cfg(r, WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_override, 1);
                mrig_cfg(r, WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_val, format);
            } else if (bh) {
                r->t->regs.src.format_a[0] = (uint8_t)format;
            } else {
                mrig_free(r);
                continue;
            }
            /* 1.0 with FP16's bias: exponent 15. As eight bits of exponent it stays 15. */
            mrig_put(r, WG_SRCA, 0, 0, 0, 15);
            mrig_put(r, WG_SRCA, 0, 0, 1, 0x20 | 15); /* a bit that an FP16 does not have */
            mrig_run(r, ELWADD);
            assert_int_equal(mrig_dst16(r, 0, 0), 15);
            assert_int_equal(mrig_dst16(r, 0, 1), five_bits[format] ? 15 : 0x20 | 15);
            assert_int_equal(mrig_found(r, WG_F_MATRIX_FORMAT), format == 12 || format == 13);
            mrig_tcfg(r, WG_TCFG_FP16A_FORCE_Enable, 1);
            mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, 1);
            mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, 1);
            mrig_run(r, ELWADD | 32);
            assert_int_equal(r->t->regs.dst.bits[32][1], 15);
            mrig_free(r);
        }
    /* BF16 sources lose the bits that only TF32 has, each by its own format. */
    for (unsigned a = 0; a < 2; a++)
        for (unsigned b = 0; b < 2; b++) {
            mrig *r = ready(state, 5, true);
            mrig_formats(r, a ? 4 : 5, b ? 4 : 5);
            mrig_put(r, WG_SRCA, 0, 0, 0, 0x100 | 137);
            mrig_put(r, WG_SRCB, 0, 0, 0, 0x200 | 137);
            mrig_run(r, ELWADD);
            assert_true(mrig_dst_fp32(r, 0, 0) == (float)(2048 + a * 1 + b * 2));
            mrig_free(r);
        }
}

/* A sum in a fidelity phase is divided, and reported. */
static void test_add_with_fidelity(void **state)
{
    static const float by[4] = {1, 32, 128, 4096};
    for (unsigned phase = 0; phase < 4; phase++) {
        mrig *r = ready(state, WG_FMT_BF16, true);
        mrig_put_float(r, WG_SRCA, 0, 0, 24.0f);
        r->t->regs.rwc.thread[0].fidelity = (uint8_t)phase;
        mrig_run(r, ELWADD);
        assert_true(mrig_dst_fp32(r, 0, 0) == 24.0f / by[phase]);
        assert_int_equal(mrig_found(r, WG_F_MATRIX_FIDELITY), phase != 0);
        mrig_free(r);
    }
}

static void test_undefined_rows_read_as_zero(void **state)
{
    for (unsigned wide = 0; wide < 2; wide++) {
        mrig *r = ready(state, WG_FMT_BF16, wide);
        put_numbers(r);
        memset(r->t->regs.dst.bits, 0x55, sizeof r->t->regs.dst.bits);
        mrig_undefine_all(r);
        mrig_run(r, MVMUL);
        assert_true((wide ? mrig_dst_fp32(r, 2, 2) : mrig_dst_bf16(r, 2, 2)) == (float)product(0, 0, 2, 2));
        for (unsigned i = 0; i < 32; i++)
            assert_int_equal(wg_dst_is_undefined(&r->t->regs.dst, i), i >= 8);
        mrig_free(r);
    }
}

static void test_recorded_results(void **state)
{
    for (unsigned simd = 0; simd <= wg_simd_best(); simd++)
        for (unsigned i = 0; i < GOLDEN_CASES; i++) {
            golden_case c = golden_case_of(i);
            mrig *r = ready(state, c.format, c.wide);
            r->t->simd = (uint8_t)simd;
            mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, c.format == WG_FMT_INT8);
            wg_rng rng = {i + 1};
            for (unsigned file = 0; file < 2; file++)
                for (unsigned k = 0; k < 1024; k++)
                    mrig_put(r, (wg_src_file)file, 0, k / 16, k % 16, golden_src(&rng, &c));
            for (unsigned k = 0; k < 256; k++)
                r->t->regs.dst.bits[k / 16][k % 16] = golden_dst(&rng, &c);
            r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srca = 16, .srcb = 8, .fidelity = (uint8_t)c.phase};
            mrig_run(r, c.word);
            uint32_t hash = golden_hash(r->t->regs.dst.bits[0]);
            if (hash != golden[wg_test_arch(state)][i])
                fail_msg("case %u (word %08x, format %u, phase %u, wide %d) at level %u", i, c.word, c.format, c.phase,
                         c.wide, simd);
            mrig_free(r);
        }
}

static void test_every_instruction_is_there(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned count = 0;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const wg_isa_insn *isa = wg_isa_by_opcode(arch, (uint8_t)opcode);
        bool mine = isa && isa->unit == WG_UNIT_MATRIX;
        count += mine;
        if (isa && wg_matrix_implements(isa->id, arch) != mine)
            fail_msg("opcode %02x", opcode);
    }
    assert_int_equal(count, arch == WG_ARCH_BH ? 39 : 38);
}

/* Stochastic rounding: up if the dropped part is at least the column's next random number, alike at every level. */
static void test_stochastic_rounding(void **state)
{
    for (unsigned simd = 0; simd <= wg_simd_best(); simd++) {
        mrig *r = ready(state, WG_FMT_BF16, false);
        r->t->simd = (uint8_t)simd;
        mrig_cfg(r, WG_CFG_ALU_ROUNDING_MODE_Fpu_srnd_en, 1);
        wg_lreg_seed(&r->t->regs.lreg, 0x1234567);
        wg_matrix_seed(r->t);
        uint32_t prng[16];
        memcpy(prng, r->t->regs.lreg.prng, sizeof prng);
        mrig_fill(r, WG_SRCA, 127); /* 1.0 */
        unsigned ups = 0;
        for (unsigned pass = 0; pass < 40; pass++) {
            mrig_fill(r, WG_SRCB, 127 - 9); /* 2^-9, a quarter of the last place of the sum */
            mrig_run(r, 0x28000000);
            for (unsigned row = 0; row < 8; row++)
                for (unsigned column = 0; column < 16; column++) {
                    bool up = 0x200000 >= (prng[column] & 0x7FFFFF);
                    prng[column] = ~(uint32_t)__builtin_popcount(prng[column] & 0x80200003u) << 31 | prng[column] >> 1;
                    assert_int_equal(mrig_dst16(r, row, column), wg_dst16_from_bf16(up ? 0x3F81 : 0x3F80));
                    ups += up;
                }
        }
        assert_in_range(ups, 40 * 128 / 4 - 200, 40 * 128 / 4 + 200);
        assert_false(mrig_found(r, WG_F_UNIMPLEMENTED_REGISTER));
        mrig_fill(r, WG_SRCA, 0); /* products go the same way */
        mrig_run(r, MVMUL);
        assert_memory_not_equal(prng, r->t->backend.matrix.prng, sizeof prng);
        mrig_free(r);
    }
}

/* Any word, any configuration: nothing is read or written outside the registers, and the unit becomes idle. */
static void test_hostile_words(void **state)
{
    wg_rng rng = {4711};
    for (unsigned round = 0; round < 60; round++) {
        mrig *r = mrig_new(wg_test_arch(state));
        r->t->simd = (uint8_t)(round % (wg_simd_best() + 1u));
        uint32_t *config = r->t->regs.config.bank[0];
        for (unsigned i = 0; i < sizeof r->t->regs.config / 4; i++)
            config[i] = (uint32_t)(wg_rng_next(&rng) & wg_rng_next(&rng));
        mrig_own(r);
        for (unsigned i = 0; i < 300; i++) {
            uint32_t opcode = 8 + wg_rng_below(&rng, 0x33),
                     word = opcode << 24 | ((uint32_t)wg_rng_next(&rng) & 0xFFFFFF);
            if (wg_isa_decode(r->t->arch->id, word)->unit != WG_UNIT_MATRIX)
                continue;
            if (mrig_offer(r, wg_rng_below(&rng, 256), word) || wg_rng_below(&rng, 2))
                mrig_cycle(r);
            if (!wg_rng_below(&rng, 4))
                mrig_own(r);
        }
        for (unsigned i = 0; i < 100; i++)
            mrig_cycle(r);
        assert_false(wg_matrix_unit.busy(r->t, 0) || wg_matrix_unit.busy(r->t, 1) || wg_matrix_unit.busy(r->t, 2));
        assert_true(r->t->sched.next[WG_AGENT_MATRIX] == WG_NEVER);
        assert_int_equal(r->t->backend.matrix.flips, 0);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(r->t->backend.matrix.giving[i / 2][i & 1], 0);
        mrig_free(r);
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_products, WG_BH | WG_WH, "", "MVMUL:value DOTPV:value GAPOOL:value"),
    WG_TEST(test_srca_rows, WG_BH | WG_WH, ""),
    WG_COVERS(test_mvmul_broadcast, WG_BH | WG_WH, "", "MVMUL:value"),
    WG_TEST(test_fidelity_bits, WG_BH | WG_WH, ""),
    WG_COVERS(test_integers, WG_BH | WG_WH, "", "MVMUL:value ELWMUL:value ELWADD:value ELWSUB:value"),
    WG_COVERS(test_elementwise, WG_BH | WG_WH, "", "ELWMUL:value ELWADD:value ELWSUB:value"),
    WG_TEST(test_rounding_and_limits, WG_BH | WG_WH, ""),
    WG_TEST(test_format_selection, WG_BH | WG_WH, ""),
    WG_TEST(test_add_with_fidelity, WG_BH | WG_WH, ""),
    WG_TEST(test_undefined_rows_read_as_zero, WG_BH | WG_WH, ""),
    WG_COVERS(test_recorded_results, WG_BH | WG_WH, "",
              "MVMUL:value GAPOOL:value ELWMUL:value ELWADD:value ELWSUB:value"),
    WG_TEST(test_every_instruction_is_there, WG_BH | WG_WH, ""),
    WG_COVERS(test_stochastic_rounding, WG_BH | WG_WH, "", "ELWADD:value"),
    WG_TEST(test_hostile_words, WG_BH | WG_WH, ""),
};

WG_MAIN("matrix", tests)
