/* SPDX-License-Identifier: Apache-2.0 */
/* What Vector Unit instructions compute: per instruction and mode, predication, Dst formats, configuration. */
#include "vector_rig.h"

/* LReg 0…7 by column. */
static const uint32_t operands[8][8] = {
    {0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00001, 0x00000001},
    {0x3F8CCCCD, 0xC0490FDB, 0x00400000, 0x7F7FFFFF, 0x00800000, 0xFFFFFFFF, 0x42FF0000, 0x80000001},
    {0x40000000, 0x3EAAAAAB, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800001, 0x80000000, 0x12345678, 0x3F7FFFFF},
    {0xBF000001, 0x3FC00000, 0x40490FDB, 0x80800000, 0x7F800000, 0xC0800000, 0x00000000, 0x7F800001},
    {0x0000001F, 0xFFFFFFE1, 0x00000020, 0xFFFFFFFB, 0x00000004, 0x7FFFFFFF, 0x80000005, 0x00000000},
    {0x00FF00FF, 0x3C003C01, 0xBC00FC00, 0x7FFF0001, 0x00000000, 0x80008000, 0x12344321, 0xFFFF7BFF},
    {0x3F800000, 0x4F000001, 0xCB000001, 0x47800000, 0xC77FFF80, 0x3EFFFFFF, 0x3F000000, 0xBFFFFFFF},
    {0x00000002, 0x00000005, 0x00000000, 0x00000003, 0x00000001, 0x00000006, 0x00000004, 0x0000000F},
};
static const uint32_t seeds[8] = {0x00000000, 0xFFFFFFFF, 0x12345678, 0x80200003, 0x00400000, 0x7FFFFF, 0xDEADBEEF, 1};

typedef struct value_case {
    unsigned archs;
    uint32_t word, flags, expect[8];
} value_case;
#define CASE(archs, word, flags, ...) {archs, word, flags, {__VA_ARGS__}},
static const value_case mad_cases[] = {
#define VECTOR_CASES_MAD
#include "vector_cases.h"
#undef VECTOR_CASES_MAD
};
static const value_case lut_cases[] = {
#define VECTOR_CASES_LUT
#include "vector_cases.h"
#undef VECTOR_CASES_LUT
};
static const value_case alu_cases[] = {
#define VECTOR_CASES_ALU
#include "vector_cases.h"
#undef VECTOR_CASES_ALU
};
static const value_case flag_cases[] = {
#define VECTOR_CASES_FLAGS
#include "vector_cases.h"
#undef VECTOR_CASES_FLAGS
};
static const value_case round_cases[] = {
#define VECTOR_CASES_ROUND
#include "vector_cases.h"
#undef VECTOR_CASES_ROUND
};
static const value_case move_cases[] = {
#define VECTOR_CASES_LOADI
#define VECTOR_CASES_SHFT2
#include "vector_cases.h"
};

static void set_up(rig *r)
{
    wg_lreg *l = &r->t->regs.lreg;
    for (unsigned lane = 0; lane < WG_LANES; lane++) {
        for (unsigned i = 0; i < 8; i++)
            l->l[i][lane] = operands[i][lane & 7];
        l->prng[lane] = seeds[lane & 7];
    }
    for (unsigned c = 0; c < 8; c++)
        l->macro[c] = (wg_load_macro){
            {0xAAAA0000, 0xBBBB0000, 0xCCCC0000, 0xDDDD0000}, {0x11111111, 0x22222222, 0x33333333, 0x44444444}, 0x5A5};
    rig_enable(r, ~0u);
}

/* Every row of lanes gives the expected columns; disabled lanes and other registers stay. */
static void check_case(rig *r, const value_case *c, uint32_t enabled)
{
    uint32_t before[WG_LREGS][WG_LANES];
    unsigned vd = (c->word >> 24) <= 0x73 ? c->word >> 20 & 15 : c->word >> 4 & 15;
    set_up(r);
    rig_enable(r, enabled);
    memcpy(before, r->t->regs.lreg.l, sizeof before);
    rig_do(r, c->word);
    for (unsigned i = 0; i < WG_LREGS; i++) {
        for (unsigned lane = 0; lane < WG_LANES; lane++) {
            bool special = i == 15 || (c->word & 0xFF000F00) == 0x7C000F00; /* differs by row */
            uint32_t expect = i == vd && vd < 8 && enabled >> lane & 1 ? c->expect[lane & 7] : before[i][lane];
            if (i == vd && special && lane > 7 && enabled >> lane & 1)
                continue;
            if (rig_lreg(r, i)[lane] != expect)
                fail_msg("%08x: LReg %u lane %u is %08x, not %08x", c->word, i, lane, rig_lreg(r, i)[lane], expect);
        }
    }
    uint32_t flags = c->flags * 0x01010101u;
    assert_int_equal(r->t->regs.lreg.pred.flags, flags & enabled);
}

static void run_cases(void **state, const value_case *cases, size_t count)
{
    rig *r = rig_new(wg_test_arch(state));
    for (size_t i = 0; i < count; i++) {
        if (!(cases[i].archs >> wg_test_arch(state) & 1))
            continue;
        for (unsigned level = 0; level <= wg_simd_best(); level++) {
            r->t->simd = (uint8_t)level;
            check_case(r, &cases[i], ~0u);
        }
        bool inverts = (cases[i].word >> 24) == 0x7C && (cases[i].word & 15) == 2; /* SFPMOV for all lanes */
        if (!inverts)
            check_case(r, &cases[i], 0x0F3C55AA);
    }
    rig_free(r);
}
#define VALUE_TEST(name, cases) \
    static void name(void **state) { run_cases(state, cases, sizeof(cases) / sizeof(cases)[0]); }
VALUE_TEST(test_mad_values, mad_cases)
VALUE_TEST(test_lut_values, lut_cases)
VALUE_TEST(test_alu_values, alu_cases)
VALUE_TEST(test_flag_values, flag_cases)
VALUE_TEST(test_round_values, round_cases)
VALUE_TEST(test_move_values, move_cases)

/* LReg 7's low four bits choose the register of the result or the multiplicand, for each lane separately. */
static void test_indirect(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned i = 0; i < 7; i++)
        rig_fill(r, i, 0x40000000 + (i << 23)); /* 2^(i+1) */
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        rig_lreg(r, 7)[lane] = 0xFFFFFFF0u | (lane & 15);
    uint32_t seven = rig_lreg(r, 7)[8];
    rig_do(r, SFPMAD(0, 10, 9, 0, 4)); /* L0 = L[L7] * 1.0 */
    for (unsigned lane = 0; lane < 7; lane++)
        assert_int_equal(rig_lreg(r, 0)[lane], 0x40000000 + (lane << 23));
    assert_int_equal(rig_lreg(r, 0)[10], 0x3F800000);
    assert_int_equal(rig_lreg(r, 0)[8], 0x3F56594B);
    rig_fill(r, 0, 0x40000000);
    rig_do(r, SFPMAD(10, 10, 9, 0, 8)); /* L[L7] = 1.0 */
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        for (unsigned i = 0; i < 7; i++)
            assert_int_equal(rig_lreg(r, i)[lane], (lane & 15) == i ? 0x3F800000u : 0x40000000 + (i << 23));
    assert_int_equal(rig_lreg(r, 7)[7], 0x3F800000);
    assert_int_equal(rig_lreg(r, 7)[8], seven); /* constants cannot be written */
    rig_free(r);
}

static void test_swap(void **state)
{
    static const uint32_t minimum[10] = {0, ~0u, 0xFFFF, 0xFF00FF, 0xFF0000FF, 0xFF, 0xFF00, 0xFF0000, 0xFF000000, 0};
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned mode = 0; mode < 10; mode++) {
        for (unsigned lane = 0; lane < WG_LANES; lane++) { /* -0 < +0; -NaN is the least, +NaN the greatest */
            rig_lreg(r, 1)[lane] = lane & 1 ? 0x80000000 : 0xFFFFFFFF;
            rig_lreg(r, 2)[lane] = lane & 1 ? 0x00000000 : 0x7FFFFFFF;
        }
        rig_do(r, SFPSWAP(1, 2, mode));
        for (unsigned lane = 0; lane < WG_LANES; lane++) {
            bool swapped = mode == 0 || minimum[mode] >> lane & 1; /* VC is smaller; VD holds the maximum already */
            uint32_t low = lane & 1 ? 0x80000000 : 0xFFFFFFFF, high = lane & 1 ? 0 : 0x7FFFFFFF;
            assert_int_equal(rig_lreg(r, 2)[lane], swapped ? low : high);
            assert_int_equal(rig_lreg(r, 1)[lane], swapped ? high : low);
        }
    }
    /* Index mode: the companions in LReg 4…7 are swapped along; EXCHANGE_SRCB_SRCC inverts. */
    rig_fill(r, 0, 5);
    rig_fill(r, 3, 9);
    rig_fill(r, 4, 0x10);
    rig_fill(r, 7, 0x20);
    rig_do(r, SFPCONFIG(0x104, 15, 1));
    rig_do(r, SFPSWAP(0, 3, 1)); /* 5 < 9: would swap, is inverted */
    assert_int_equal(rig_lreg(r, 0)[0], 5);
    rig_do(r, SFPCONFIG(0x004, 15, 1));
    rig_do(r, SFPSWAP(0, 3, 1));
    assert_int_equal(rig_lreg(r, 0)[31], 9);
    assert_int_equal(rig_lreg(r, 3)[31], 5);
    assert_int_equal(rig_lreg(r, 4)[31], 0x20);
    assert_int_equal(rig_lreg(r, 7)[31], 0x10);
    rig_free(r);
}

static void test_shuffles(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned i = 0; i < 8; i++)
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            rig_lreg(r, i)[lane] = i * 100 + lane;
    rig_do(r, SFPSHFT2(0, 4, 5, 3)); /* rotate rows right */
    assert_int_equal(rig_lreg(r, 5)[0], 407);
    assert_int_equal(rig_lreg(r, 5)[9], 408);
    rig_do(r, SFPSHFT2(0, 6, 5, 4)); /* shift rows right: WH shifts in what the rotation read */
    assert_int_equal(rig_lreg(r, 5)[8], wg_test_arch(state) == WG_ARCH_WH ? 415 : 0);
    assert_int_equal(rig_lreg(r, 5)[15], 614);
    rig_do(r, SFPSHFT2(0, 0, 0, 0)); /* COPY4 */
    assert_int_equal(rig_lreg(r, 0)[3], 103);
    assert_int_equal(rig_lreg(r, 2)[3], 303);
    assert_int_equal(rig_lreg(r, 3)[3], 0);
    rig_do(r, SFPSHFT2(0, 0, 0, 1)); /* CHAINED_COPY4: LReg 3 gets LReg 0 up by a row */
    assert_int_equal(rig_lreg(r, 0)[3], 203);
    assert_int_equal(rig_lreg(r, 3)[3], 111);
    assert_int_equal(rig_lreg(r, 3)[24], 0);
    rig_do(r, SFPSHFT2(0, 7, 0, 2)); /* SHFLROR1_AND_COPY4 */
    assert_int_equal(rig_lreg(r, 0)[3], 303);
    assert_int_equal(rig_lreg(r, 2)[3], 111);
    assert_int_equal(rig_lreg(r, 3)[16], 723);
    assert_int_equal(rig_lreg(r, 3)[17], 716);
    rig_do(r, SFPSHFT2(0, 0, 0, 9));
    assert_int_equal(rig_found(r, WG_F_VECTOR_RESERVED_MODE), 1);
    rig_free(r);
}

static void test_transpose(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    for (unsigned i = 0; i < 8; i++)
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            rig_lreg(r, i)[lane] = i * 100 + lane;
    rig_enable(r, ~0x100u); /* lane 8 stays */
    rig_do(r, 0x8C000000);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned lane = 0; lane < WG_LANES; lane++) {
            unsigned row = lane / 8, group = i & 4;
            uint32_t moved = (group + row) * 100 + (i & 3) * 8 + (lane & 7);
            assert_int_equal(rig_lreg(r, i)[lane], lane == 8 ? i * 100 + lane : moved);
        }
    rig_free(r);
}

static void test_flag_stack(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_lane_flags *p = &r->t->regs.lreg.pred;
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    rig_do(r, SFPENCC(3, 10));
    assert_true(p->use == ~0u && p->flags == ~0u);
    rig_do(r, SFPENCC(0, 1)); /* inverts the use, sets the flags */
    assert_true(p->use == 0 && p->flags == ~0u);
    rig_do(r, SFPENCC(1, 2));
    rig_do(r, SFPENCC(0, 8));
    assert_true(p->use == ~0u && p->flags == 0);
    p->flags = 0x0F0F0F0F;
    for (unsigned i = 0; i < 8; i++)
        rig_do(r, SFPPUSHC(0));
    assert_int_equal(p->depth[5], 8);
    assert_int_equal(rig_found(r, WG_F_VECTOR_STACK_FULL), 0);
    rig_do(r, SFPPUSHC(0));
    assert_int_equal(rig_found(r, WG_F_VECTOR_STACK_FULL), 1);
    assert_int_equal(p->depth[5], 8);
    p->flags = 0x00FF00FF;
    rig_do(r, SFPPOPC(3)); /* and with the top; WH, with a full stack, overwrites the bottom */
    assert_int_equal(p->flags, 0x000F000F);
    assert_int_equal(rig_found(r, WG_F_VECTOR_STACK_PEEK_FULL), !bh);
    rig_do(r, SFPPOPC(0));
    assert_int_equal(p->flags, 0x0F0F0F0F);
    assert_int_equal(p->depth[0], 7);
    static const uint32_t a = 0x0F0F0F0F, b = 0x33333333; /* A: flags, B: the stack's top */
    const uint32_t result[13] = {0,      b,      ~b,      a & b,   a | b, a & ~b,  a | ~b,
                                 ~a & b, ~a | b, ~a & ~b, ~a | ~b, a ^ b, ~(a ^ b)};
    for (unsigned mode = 1; mode < 13; mode++) {
        p->flags = a;
        p->stack_flags[6] = b;
        rig_do(r, SFPPOPC(mode));
        assert_int_equal(p->flags, result[mode]);
        p->flags = b;
        p->stack_flags[6] = a;
        rig_do(r, SFPPUSHC(mode)); /* WH: an ordinary push whatever the mode */
        assert_int_equal(p->stack_flags[6], bh ? result[mode] : a);
        memset(p->depth, 7, sizeof p->depth);
    }
    p->flags = 0x0000FFFF;
    p->stack_flags[6] = 0x00FFFF00;
    rig_do(r, 0x8B000000); /* SFPCOMPC */
    assert_int_equal(p->flags, 0x00FF0000);
    memset(p->depth, 0, sizeof p->depth);
    p->flags = 0xF0F0F0F0;
    rig_do(r, 0x8B000000);
    assert_int_equal(p->flags, 0x0F0F0F0F);
    rig_do(r, SFPPOPC(0));
    assert_int_equal(rig_found(r, WG_F_VECTOR_STACK_EMPTY), 1);
    assert_int_equal(p->flags, 0x0F0F0F0F);
    if (bh) { /* SFPGT and SFPLE change the top */
        rig_do(r, SFPPUSHC(0));
        rig_fill(r, 1, 1);
        rig_fill(r, 2, 2);
        p->stack_flags[0] = 0x12345678;
        rig_do(r, I_ABC(0x97, 0, 0, 1, 2, 6));
        assert_int_equal(p->stack_flags[0], ~0u);
        rig_do(r, I_ABC(0x96, 0, 0, 1, 2, 2));
        assert_int_equal(p->stack_flags[0], 0);
    }
    rig_free(r);
}

/* What one lane of SFPSTORE puts into Dst and SFPLOAD returns, by format; -1: 32 bits. */
static void test_dst_formats(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    static const struct {
        unsigned format;
        bool wide;
        uint32_t in, bh_dst, wh_dst, bh_back, wh_back;
    } cases[] = {
        {1, false, 0x3FA00000, 0x200F, 0x200F, 0x3FA00000, 0x3FA00000}, /* FP16 1.25 */
        {1, false, 0xC8000000, 0xFFFF, 0xFFFF, 0xC7FFE000, 0xC7FFE000}, /* overflow: the greatest */
        {1, false, 0x00000001, 0x0000, 0x0000, 0, 0},
        {2, false, 0xC0490FDB, 0xC980, 0xC980, 0xC0490000, 0xC0490000}, /* BF16, truncated */
        {2, false, 0x80400000, 0x8000, 0x8000, 0x80000000, 0x80000000},
        {3, true, 0xC0490FDB, 0xC9800FDB, 0xC9800FDB, 0xC0490FDB, 0xC0490FDB},
        {3, true, 0x80400001, 0x80000000, 0xC0000001, 0x80000000, 0x80400001}, /* BH flushes denormals */
        {4, true, 0x80400001, 0xC0000001, 0xC0000001, 0x80400001, 0x80400001},
        {5, false, 0x800003FF, 0xFFF0, 0xFFF0, 0x800000FF, 0x8000007F}, /* INT8 */
        {6, false, 0x12348765, 0x8765, 0x8765, 0x00008765, 0x00008765},
        {7, true, 0x12348765, 0x12348765, 0x12348765, 0, 0}, /* HI16: 32 bits, loads 16 */
        {8, false, 0x80007FFF, 0xFFFF, 0xFFFF, 0x80007FFF, 0x80007FFF},
        {9, true, 0x12348765, 0x87651234, 0x87651234, 0, 0},
        {11, false, 0x12348765, 0, 0, 0, 0},
        {12, true, 0xFFFFFFFE, 0xFFFFFFFE, 0x80000002, 0xFFFFFFFE, 0xFFFFFFFE}, /* WH: two's complement */
        {13, false, 0xFFFFFFFE, 0xFFD0, 0x8050, 0x800003FE, 0xFFFFFFFE},
        {14, false, 0x12348765, 0x8765, 0x8765, 0x55558765, 0x55558765},
        {15, false, 0x12348765, 0x1234, 0x1234, 0x12345555, 0x12345555},
    };
    rig *r = rig_new(wg_test_arch(state));
    const wg_dst *d = &r->t->regs.dst;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned odd = 0; odd < 2; odd++) {
            uint32_t expect = bh ? cases[i].bh_dst : cases[i].wh_dst, back = bh ? cases[i].bh_back : cases[i].wh_back;
            memset(r->t->regs.dst.bits, 0xEE, sizeof r->t->regs.dst.bits);
            rig_fill(r, 0, 0);
            rig_lreg(r, 0)[19] = cases[i].in; /* row 2, column 3 */
            rig_fill(r, 1, 0x55555555);
            rig_do(r, SFPSTORE(0, cases[i].format, 0x14 + odd * 2));
            uint32_t got = cases[i].wide ? (uint32_t)d->bits[0x26][6 + odd] << 16 | d->bits[0x2E][6 + odd]
                                         : d->bits[0x16][6 + odd];
            if (got != expect)
                fail_msg("store format %u: %08x, not %08x", cases[i].format, got, expect);
            assert_int_equal(d->bits[cases[i].wide ? 0x26 : 0x16][7 - odd], 0xEEEE);
            assert_int_equal(d->bits[0x18][0], 0xEEEE);
            if (cases[i].format == 7 || cases[i].format == 9)
                continue;
            rig_do(r, SFPLOAD(1, cases[i].format, 0x14 + odd * 2));
            if (rig_lreg(r, 1)[19] != back)
                fail_msg("load format %u: %08x, not %08x", cases[i].format, rig_lreg(r, 1)[19], back);
        }
    }
    rig_do(r, SFPLOAD(1, 7, 0x14));
    assert_int_equal(rig_lreg(r, 1)[19] & 0xFFFF, 0);
    rig_free(r);
}

/* Address: immediate, MATH_Offset, Dst counter, base; lane enables, blocks, column exchange, index capture. */
static void test_dst_addressing(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_tile *t = r->t;
    for (unsigned row = 0; row < 1024; row++)
        for (unsigned c = 0; c < 16; c++)
            t->regs.dst.bits[row][c] = (uint16_t)(row << 4 | c);
    t->regs.config.thread[0][1] = 0x100; /* DEST_TARGET_REG_CFG_MATH_Offset */
    t->regs.rwc.thread[0].dst = 0x40;
    t->regs.config.bank[0][6] = 0x10; /* DEST_REGW_BASE_Base */
    t->regs.config.changes++;
    t->regs.config.thread[0][wg_test_arch(state) == WG_ARCH_BH ? 28 : 23] = 4; /* ADDR_MOD_DST_SEC0_DestIncr */
    rig_enable(r, 0xFFFFFFFE);
    rig_do(r, SFPLOAD(2, 6, 0x206));
    assert_int_equal(t->regs.rwc.thread[0].dst, 0x44);
    assert_int_equal(rig_lreg(r, 2)[0], 0);
    assert_int_equal(rig_lreg(r, 2)[1], 0x354 << 4 | 3);
    assert_int_equal(rig_lreg(r, 2)[31], 0x357 << 4 | 15);
    rig_do(r, SFPLOAD(2, 10, 0x000)); /* INT32_ALL: only the counter's two low bits, and all lanes */
    assert_int_equal(t->regs.rwc.thread[0].dst, 0x48);
    assert_int_not_equal(rig_lreg(r, 2)[0], 0);
    rig_enable(r, ~0u);
    rig_do(r, SFPCONFIG(0x4C, 15, 1)); /* read odd columns, index mode, capture */
    rig_do(r, SFPLOAD(1, 6, 0x000));
    assert_int_equal(rig_lreg(r, 1)[9], 0x159 << 4 | 3);
    assert_int_equal(rig_lreg(r, 5)[9], 0x159 << 4 | 3);
    rig_do(r, SFPCONFIG(0x20, 15, 1)); /* loads write nothing */
    rig_fill(r, 1, 7);
    rig_do(r, SFPLOAD(1, 6, 0));
    assert_int_equal(rig_lreg(r, 1)[9], 7);
    rig_do(r, SFPCONFIG(0x10, 15, 1)); /* stores write nothing */
    uint16_t before = t->regs.dst.bits[0x160][0];
    rig_do(r, SFPSTORE(1, 6, 0));
    assert_int_equal(t->regs.dst.bits[0x160][0], before);
    rig_do(r, SFPCONFIG(0x1000, 15, 1)); /* ROW_MASK: row 0 is disabled */
    rig_fill(r, 3, 1);
    rig_do(r, SFPLOADI(3, 2, 9));
    assert_int_equal(rig_lreg(r, 3)[7], 1);
    assert_int_equal(rig_lreg(r, 3)[8], 9);
    rig_free(r);
}

/* BH: INT32_ALL is a stack: a store steps the pointer after, a load before; other formats use its low bits. */
static void test_stack(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_rwc_thread *rwc = &r->t->regs.rwc.thread[0];
    r->t->regs.config.thread[0][36] = 4;  /* SFPU_STACK_Incr */
    r->t->regs.config.bank[0][7] = 0x100; /* DEST_SP_BASE_Base */
    r->t->regs.config.changes++;
    rwc->dst = 0x42; /* the stack uses its two low bits: odd columns */
    for (unsigned i = 0; i < 3; i++) {
        rig_fill(r, 0, 0x1000 + i);
        rig_do(r, SFPSTORE(0, 10, 0));
        assert_int_equal(rwc->sp, 4 * (i + 1));
        assert_int_equal(wg_dst_peek32(r->t, 0x100 + 4 * i, 1), 0x1000 + i);
    }
    rig_enable(r, 0); /* lane enables are ignored */
    for (unsigned i = 3; i-- > 0;) {
        rig_do(r, SFPLOAD(1, 10, 0));
        assert_int_equal(rwc->sp, 4 * i);
        assert_int_equal(rig_lreg(r, 1)[7], 0x1000 + i);
    }
    rig_do(r, SFPLOAD(1, 10, 0)); /* at the bottom it stays */
    assert_int_equal(rwc->sp, 0);
    rig_free(r);
}

static void test_undefined_row(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    memset(r->t->regs.dst.bits, 0x77, sizeof r->t->regs.dst.bits);
    wg_dst_undefine(&r->t->regs.dst, 2);
    rig_do(r, SFPLOAD(0, 6, 0));
    assert_int_equal(rig_lreg(r, 0)[16], 0);
    assert_int_equal(rig_lreg(r, 0)[15], 0x7777);
    assert_int_equal(rig_found(r, WG_F_VECTOR_UNDEFINED_ROW), 1);
    rig_do(r, SFPSTORE(0, 6, 0));
    assert_false(wg_dst_is_undefined(&r->t->regs.dst, 2));
    rig_free(r);
}

static void test_config(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    wg_lreg *l = &r->t->regs.lreg;
    static const uint32_t preset[4] = {0xBF800000, 0x37800000, 0xBF2CC4C7, 0xBEB08FF9};
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        rig_lreg(r, 0)[lane] = 0x12340000 + lane;
    for (unsigned i = 0; i < 4; i++) {
        rig_do(r, SFPCONFIG(0, 11 + i, 0));
        assert_int_equal(l->l[11 + i][29], 0x12340005); /* lane 29 is column 5 */
        rig_do(r, SFPCONFIG(0, 11 + i, 1));
        assert_int_equal(l->l[11 + i][29], preset[i]);
        rig_do(r, SFPCONFIG(0xFFFF, i, 1)); /* templates ignore the immediate */
        assert_int_equal(l->macro[6].instruction[i], 0x12340006);
        rig_do(r, SFPCONFIG(0xABCD, 4 + i, 1));
        assert_int_equal(l->macro[6].sequence[i], 0xABCD);
        rig_do(r, SFPCONFIG(0x0001, 4 + i, 8)); /* lane mask: column 0 only */
        assert_int_equal(l->macro[0].sequence[i], 0x12340000);
        assert_int_equal(l->macro[1].sequence[i], 0xABCD);
    }
    rig_do(r, SFPCONFIG(0xF0F, 8, 1));
    rig_do(r, SFPCONFIG(0x0F0, 8, 3));
    assert_int_equal(l->macro[7].misc, 0xFFF);
    rig_do(r, SFPCONFIG(0x0FF, 8, 5));
    rig_do(r, SFPCONFIG(0x00F, 8, 7));
    assert_int_equal(l->macro[7].misc, 0x0F0);
    rig_fill(r, 0, 0x30004);
    rig_do(r, SFPCONFIG(0, 15, 0));
    rig_do(r, SFPCONFIG(0x100, 15, 1)); /* the immediate does not reach the two high bits */
    assert_int_equal(wg_lane_config_word(l, 0), 0x30100);
    rig_do(r, SFPMOV(15, 3, 8));
    assert_int_equal(rig_lreg(r, 3)[31], 0x30100);
    rig_enable(r, 0xFFFFFF01); /* flags of the first row's lanes count, for the column */
    rig_do(r, SFPCONFIG(0x0000, 15, 1));
    assert_int_equal(wg_lane_config_word(l, 0), 0x30000);
    assert_int_equal(wg_lane_config_word(l, 9), 0x30100);
    rig_free(r);
}

static void test_backdoor(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    uint32_t word = SFPMAD(1, 2, 3, 13, 0);
    rig_do(r, word);
    assert_int_equal(r->t->regs.lreg.macro[3].instruction[1], word);
    rig_issue(r, SFPCONFIG(2, 15, 1)); /* DISABLE_BACKDOOR_LOAD */
    rig_issue(r, SFPMAD(1, 2, 3, 14, 0));
    rig_idle(r, 3);
    assert_int_equal(rig_found(r, WG_F_VECTOR_BACKDOOR_CHANGE), 1);
    assert_int_equal(r->t->regs.lreg.macro[3].instruction[2], 0);
    rig_fill(r, 13, 0x42);
    rig_do(r, SFPSTORE(13, 6, 0));
    assert_int_equal(r->t->regs.dst.bits[0][0], 0x42);
    assert_int_equal(rig_lreg(r, 13)[0], 0x42);
    rig_free(r);
}

static void test_reset(void **state)
{
    rig *r = rig_new(wg_test_arch(state));
    static const uint32_t expect[16] = {[8] = 0x3F56594B,  [10] = 0x3F800000, [11] = 0xBF800000,
                                        [12] = 0x37800000, [13] = 0xBF2CC4C7, [14] = 0xBEB08FF9};
    for (unsigned i = 0; i < 15; i++)
        assert_int_equal(rig_lreg(r, i)[31], expect[i]);
    assert_int_equal(rig_lreg(r, 15)[31], 62);
    wg_lreg_seed(&r->t->regs.lreg, 1);
    uint32_t first = r->t->regs.lreg.prng[0];
    rig_do(r, SFPMOV(9, 0, 8));
    assert_int_equal(rig_lreg(r, 0)[0], first);
    assert_int_equal(r->t->regs.lreg.prng[0], wg_prng_step(first));
    assert_int_equal(wg_prng_step(0), 0x80000000);
    assert_int_equal(wg_prng_step(3), 0x80000001);
    assert_int_equal(wg_prng_step(2), 1);
    rig_free(r);
}

static void test_implemented(void **state)
{
    unsigned count = 0;
    for (unsigned opcode = 0x70; opcode <= 0x99; opcode++) {
        const wg_isa_insn *isa = wg_isa_by_opcode(wg_test_arch(state), (uint8_t)opcode);
        if (isa->unit == WG_UNIT_VECTOR) {
            assert_true(wg_vector_implements(isa->id));
            count++;
        }
    }
    assert_int_equal(count, wg_test_arch(state) == WG_ARCH_BH ? 42 : 38);
    assert_false(wg_vector_implements(WG_I_MVMUL));
}

static const wg_test tests[] = {
    WG_COVERS(test_mad_values, WG_BH | WG_WH, "", "SFPMAD:value SFPADD:value SFPMUL:value SFPADDI:value SFPMULI:value"),
    WG_COVERS(test_mad_values, WG_BH, "", "SFPMUL24:value"),
    WG_COVERS(test_lut_values, WG_BH | WG_WH, "", "SFPLUT:value SFPLUTFP32:value"),
    WG_COVERS(test_alu_values, WG_BH | WG_WH, "",
              "SFPABS:value SFPAND:value SFPOR:value SFPXOR:value SFPNOT:value SFPLZ:value SFPEXEXP:value "
              "SFPEXMAN:value SFPSETEXP:value SFPSETMAN:value SFPSETSGN:value SFPDIVP2:value SFPIADD:value "
              "SFPSHFT:value SFPCAST:value SFPMOV:value"),
    WG_COVERS(test_alu_values, WG_BH, "", "SFPARECIP:value"),
    WG_COVERS(test_flag_values, WG_BH | WG_WH, "", "SFPSETCC:value"),
    WG_COVERS(test_flag_values, WG_BH, "", "SFPGT:value SFPLE:value"),
    WG_COVERS(test_round_values, WG_BH | WG_WH, "", "SFP_STOCH_RND:value"),
    WG_COVERS(test_move_values, WG_BH | WG_WH, "", "SFPLOADI:value"),
    WG_COVERS(test_indirect, WG_BH | WG_WH, "", "SFPMAD:value"),
    WG_COVERS(test_swap, WG_BH | WG_WH, "", "SFPSWAP:value"),
    WG_COVERS(test_shuffles, WG_BH | WG_WH, "", "SFPSHFT2:value"),
    WG_COVERS(test_transpose, WG_BH | WG_WH, "", "SFPTRANSP:value"),
    WG_COVERS(test_flag_stack, WG_BH | WG_WH, "", "SFPENCC:value SFPPUSHC:value SFPPOPC:value SFPCOMPC:value"),
    WG_COVERS(test_dst_formats, WG_BH | WG_WH, "", "SFPLOAD:value SFPSTORE:value"),
    WG_COVERS(test_dst_addressing, WG_BH | WG_WH, "", "SFPLOAD:value SFPSTORE:value"),
    WG_COVERS(test_stack, WG_BH, "", "SFPLOAD:value SFPSTORE:value"),
    WG_TEST(test_undefined_row, WG_BH | WG_WH, ""),
    WG_COVERS(test_config, WG_BH | WG_WH, "", "SFPCONFIG:value"),
    WG_TEST(test_backdoor, WG_BH | WG_WH, ""),
    WG_TEST(test_reset, WG_BH | WG_WH, ""),
    WG_TEST(test_implemented, WG_BH | WG_WH, ""),
};
WG_MAIN("vector", tests)
