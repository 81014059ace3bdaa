/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves, clears, pools, counters of the Matrix Unit: each page's model restated and compared with the unit over all
 * operand bits, formats and random registers.
 */
#include "matrix_rig.h"

enum {
    MOVD2A = 0x08,
    MOVDBGA2D = 0x09,
    MOVD2B = 0x0A,
    MOVB2A = 0x0B,
    MOVDBGB2D = 0x0C,
    ZEROACC = 0x10,
    ZEROSRC = 0x11,
    MOVA2D = 0x12,
    MOVB2D = 0x13,
    TRNSPSRCA = 0x14,
    TRNSPSRCB = 0x16,
    SHIFTXA = 0x17,
    SHIFTXB = 0x18,
    CLREXPHIST = 0x21,
    CONV3S1 = 0x22,
    CONV3S2 = 0x23,
    MPOOL3S1 = 0x24,
    APOOL3S1 = 0x25,
    MPOOL3S2 = 0x31,
    APOOL3S2 = 0x32,
    GMPOOL = 0x33,
    GATESRCRST = 0x35,
    CLEARDVALID = 0x36,
    RAREB = 0x15,
    SETASHRMH0 = 0x1A,
    SETASHRMH1 = 0x1B,
    SETASHRMV = 0x1C,
    SETPKEDGOF = 0x1D,
    SETASHRMH = 0x1E,
    SETIBRWC = 0x39,
    SETRWC = 0x37,
    INCRWC = 0x38,
    MFCONV3S1 = 0x3A
};

/* A machine with random registers, and the expected result. */
typedef struct scene {
    mrig *r;
    wg_rng rng;
    wg_src src;
    wg_dst dst;
    bool bh, wide, low, flush;
    bool moves_high;             /* BH's MOVB2D with Fp32_enabled */
    unsigned format, own_format; /* the format of the move; SrcB's */
} scene;

static unsigned field(scene *s, unsigned n) { return wg_rng_below(&s->rng, n); }

static scene setup(void **state, uint64_t seed)
{
    scene s = {.r = mrig_new(wg_test_arch(state)), .rng = {seed}, .bh = wg_test_arch(state) == WG_ARCH_BH};
    wg_tile *t = s.r->t;
    for (unsigned i = 0; i < 2 * 2 * 1024; i++)
        ((uint32_t *)(i < 2048 ? t->regs.src.a : t->regs.src.b))[i % 2048] =
            (uint32_t)wg_rng_next(&s.rng) & (field(&s, 4) ? 0x7FFFF : 0x7FF00);
    for (unsigned i = 0; i < 1024 * 16; i++)
        t->regs.dst.bits[i / 16][i % 16] = (uint16_t)wg_rng_next(&s.rng);
    for (unsigned i = 0; i < 16; i++)
        t->regs.dst.undefined[i] = wg_rng_next(&s.rng) & wg_rng_next(&s.rng);
    mrig_own(s.r);
    static const uint8_t formats[] = {0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15};
    s.format = formats[field(&s, 16)];
    s.own_format = formats[field(&s, 16)];
    mrig_formats(s.r, s.format, s.own_format);
    s.wide = field(&s, 2);
    mrig_cfg(s.r, field(&s, 2) ? WG_CFG_ALU_ACC_CTRL_Fp32_enabled : WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, s.wide);
    s.flush = field(&s, 2);
    mrig_cfg(s.r, WG_CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src, !s.flush);
    /* With implied formats, which SrcA's bit enables, moves of SrcB use SrcB's own format. */
    mrig_tcfg(s.r, WG_TCFG_DISABLE_IMPLIED_SRCA_FMT_Base, !s.bh || field(&s, 2));
    mrig_tcfg(s.r, WG_TCFG_DISABLE_IMPLIED_SRCB_FMT_Base, !s.bh || field(&s, 2));
    t->regs.rwc.thread[0] = (wg_rwc_thread){
        .dst = (uint16_t)field(&s, 1024), .srca = (uint8_t)field(&s, 64), .srcb = (uint8_t)field(&s, 64)};
    mrig_tcfg(s.r, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset, field(&s, 4) * 256);
    mrig_cfg(s.r, WG_CFG_DEST_REGW_BASE_Base, field(&s, 2) * 512);
    t->regs.src.matrix_bank_a = (uint8_t)field(&s, 2);
    t->regs.src.matrix_bank_b = (uint8_t)field(&s, 2);
    s.src = t->regs.src;
    s.dst = t->regs.dst;
    return s;
}

static unsigned dst_row(const scene *s, uint32_t word)
{
    wg_tile *t = s->r->t;
    return ((word & 0x3FF) + t->regs.rwc.thread[0].dst +
            wg_tcfg_get(t->arch->id, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset, t->regs.config.thread[0]) +
            wg_cfg_get(t->arch->id, WG_CFG_DEST_REGW_BASE_Base, t->regs.config.bank[0])) &
           0x3FF;
}

static bool implied(const scene *s)
{
    return s->bh && !wg_tcfg_get(WG_ARCH_BH, WG_TCFG_DISABLE_IMPLIED_SRCA_FMT_Base, s->r->t->regs.config.thread[0]);
}

static bool has_five_exponent_bits(unsigned f) { return f == 1 || f == 2 || f == 3 || f == 10 || f == 11 || f == 14; }

static void compare(scene *s, uint32_t word)
{
    wg_tile *t = s->r->t;
    for (unsigned i = 0; i < 1024; i++)
        for (unsigned j = 0; j < 16; j++)
            if (t->regs.dst.bits[i][j] != s->dst.bits[i][j])
                fail_msg("%08x: Dst row %u column %u is %04x, not %04x", word, i, j, t->regs.dst.bits[i][j],
                         s->dst.bits[i][j]);
    assert_memory_equal(t->regs.dst.undefined, s->dst.undefined, sizeof s->dst.undefined);
    assert_memory_equal(t->regs.src.a, s->src.a, sizeof s->src.a);
    assert_memory_equal(t->regs.src.b, s->src.b, sizeof s->src.b);
    mrig_free(s->r);
}

static uint32_t to_low_word(unsigned row) { return (row & 0x1F8) << 1 | (row & 0x207); }

/* A datum from SrcA or SrcB into Dst, as specified by MOVA2D.md and MOVB2D.md. */
static void expect_in_dst(scene *s, unsigned row, unsigned column, uint32_t x, unsigned format, bool low)
{
    if (s->flush && !(x & 0xFF))
        x = 0;
    uint32_t sign = x >> 18, mantissa = x >> 8 & 0x3FF, exponent = x & 0xFF;
    uint16_t half = (uint16_t)(has_five_exponent_bits(format) ? sign << 15 | mantissa << 5 | (exponent & 31)
                                                              : sign << 15 | mantissa >> 3 << 8 | exponent);
    unsigned high = to_low_word(row);
    if (s->moves_high) {
        s->dst.bits[high][column] = half;
        s->dst.bits[high + 8][column] = (uint16_t)(format == WG_FMT_TF32 ? (mantissa & 7) << 13 : 0);
        s->dst.undefined[high / 64] &= ~(UINT64_C(1) << high % 64);
    } else if (format == WG_FMT_TF32) {
        s->dst.bits[high][column] = half;
        s->dst.bits[high + 8][column] = (uint16_t)((mantissa & 7) << 13 | (low ? half : 0));
        s->dst.undefined[high / 64] &= ~(UINT64_C(1) << high % 64);
    } else if (low) {
        if (s->dst.undefined[high / 64] >> high % 64 & 1)
            memset(s->dst.bits[high], 0, sizeof s->dst.bits[high]);
        s->dst.undefined[high / 64] &= ~(UINT64_C(1) << high % 64);
        s->dst.bits[high + 8][column] = half;
    } else {
        s->dst.bits[row][column] = half;
        s->dst.undefined[row / 64] &= ~(UINT64_C(1) << row % 64);
    }
}

static void test_mova2d(void **state)
{
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        scene s = setup(state, seed);
        bool low = !field(&s, 3), eight = field(&s, 2);
        uint32_t word = (uint32_t)(field(&s, 2) ? MOVA2D : MOVDBGA2D) << 24 | (uint32_t)low << 23 |
                        field(&s, 64) << 17 | (uint32_t)eight << 13 | field(&s, 1024);
        unsigned row = dst_row(&s, word), from = ((word >> 17 & 63) + s.r->t->regs.rwc.thread[0].srca) & 63;
        if (eight) {
            row &= 0x3F8;
            from &= 0x38;
        }
        for (unsigned i = 0; i < (eight ? 8 : 1); i++)
            for (unsigned j = 0; j < 16; j++)
                expect_in_dst(&s, row + i, j, s.src.a[s.src.matrix_bank_a][from + i][j], s.format, low);
        mrig_run(s.r, word);
        compare(&s, word);
    }
}

static void test_movb2d(void **state)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        scene s = setup(state, seed);
        unsigned mode = field(&s, 8);
        bool low = !field(&s, 3);
        uint32_t opcode = s.bh && field(&s, 2) ? MOVDBGB2D : MOVB2D;
        uint32_t word =
            opcode << 24 | (uint32_t)low << 23 | field(&s, 64) << 17 | mode << (s.bh ? 11 : 12) | field(&s, 1024);
        unsigned row = dst_row(&s, word), from = ((word >> 17 & 63) + s.r->t->regs.rwc.thread[0].srcb) & 63, rows = 1;
        if (mode & 2) {
            rows = 8;
            row &= 0x3F8;
        } else if (mode & 4) {
            rows = 4;
            row &= 0x3FC;
            from &= 0x3C;
        }
        unsigned format = implied(&s) ? s.own_format : s.format;
        uint32_t keep = s.own_format == WG_FMT_TF32            ? 0x7FFFF
                        : has_five_exponent_bits(s.own_format) ? 0x7FF1F
                                                               : 0x7F8FF;
        s.moves_high = s.bh && wg_cfg_get(WG_ARCH_BH, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, s.r->t->regs.config.bank[0]);
        if (s.moves_high && low)
            rows = 0; /* ignored */
        for (unsigned i = 0; i < rows; i++)
            for (unsigned j = 0; j < 16; j++) {
                uint32_t x = s.src.b[s.src.matrix_bank_b][from + (mode & 2 ? 0 : i)][mode & 1 ? 0 : j];
                if (s.flush && !(x & 0xFF))
                    x = 0;
                bool flush = s.flush;
                s.flush = false; /* the test for zero comes before bits are dropped */
                expect_in_dst(&s, row + i, j, x & keep, format, low);
                s.flush = flush;
            }
        mrig_run(s.r, word);
        compare(&s, word);
    }
}

static void test_movd2(void **state)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        scene s = setup(state, seed);
        bool to_b = field(&s, 2), low = !field(&s, 3), four = field(&s, 2);
        uint32_t word = (uint32_t)(to_b ? MOVD2B : MOVD2A) << 24 | (uint32_t)low << 23 | field(&s, 64) << 17 |
                        (uint32_t)four << 13 | field(&s, 1024);
        const wg_rwc_thread *rwc = &s.r->t->regs.rwc.thread[0];
        unsigned row = dst_row(&s, word), to = ((word >> 17 & 63) + (to_b ? rwc->srcb : rwc->srca)) & 63;
        if (four) {
            row &= 0x3FC;
            to &= 0x3C;
        }
        unsigned format = implied(&s) && to_b ? s.own_format : s.format;
        for (unsigned i = 0; i < (four ? 4 : 1); i++)
            for (unsigned j = 0; j < 16; j++) {
                unsigned stored = s.wide ? to_low_word(row + i) : row + i;
                bool undefined = s.dst.undefined[stored / 64] >> stored % 64 & 1;
                uint32_t hi = undefined ? 0 : s.dst.bits[stored][j];
                uint32_t lo = undefined || !s.wide ? 0 : s.dst.bits[stored + 8][j];
                uint32_t top = s.wide && low ? lo : hi, x;
                if (has_five_exponent_bits(format))
                    x = top >> 15 << 18 | (top >> 5 & 0x3FF) << 8 | (top & 31);
                else if (format != WG_FMT_TF32 || !s.wide)
                    x = top >> 15 << 18 | (top >> 8 & 0x7F) << 11 | (top & 0xFF);
                else if (low)
                    x = lo & 0x1FFF;
                else
                    x = hi >> 15 << 18 | (hi >> 8 & 0x7F) << 11 | (lo >> 13) << 8 | (hi & 0xFF);
                (to_b ? s.src.b[s.src.matrix_bank_b] : s.src.a[s.src.matrix_bank_a])[to + i][j] = x;
            }
        mrig_run(s.r, word);
        assert_int_equal(mrig_found(s.r, WG_F_MATRIX_OPERAND), !s.wide && (low || format == WG_FMT_TF32));
        compare(&s, word);
    }
}

static void test_movb2a(void **state)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        scene s = setup(state, seed);
        bool four = field(&s, 2);
        uint32_t word = (uint32_t)MOVB2A << 24 | field(&s, 64) << 17 | (uint32_t)four << 13 | field(&s, 64);
        const wg_rwc_thread *rwc = &s.r->t->regs.rwc.thread[0];
        unsigned mask = four ? 0x3C : 0x3F, from = ((word & 63) + rwc->srcb) & mask,
                 to = ((word >> 17 & 63) + rwc->srca) & mask;
        for (unsigned i = 0; i < (four ? 4 : 1); i++)
            for (unsigned j = 0; j < 16; j++) {
                uint32_t x = s.src.b[s.src.matrix_bank_b][from + i][j];
                s.src.a[s.src.matrix_bank_a][to + i][j] = s.flush && !(x & 0xFF) ? 0 : x;
            }
        mrig_run(s.r, word);
        compare(&s, word);
    }
}

/* Moves leave columns alone that the Vector Unit's LaneConfig blocks. */
static void test_blocked_columns(void **state)
{
    static const uint32_t opcodes[] = {MOVA2D, MOVB2D, MOVD2A, MOVD2B, MOVB2A};
    for (unsigned op = 0; op < 5; op++) {
        mrig *r = mrig_new(wg_test_arch(state));
        mrig_formats(r, 5, 5);
        mrig_own(r);
        uint16_t blocked = 0xA51C;
        for (unsigned j = 0; j < 16; j++)
            if (blocked >> j & 1)
                r->t->regs.lreg.lane_config[WG_LANE_BLOCK_DEST_MOV + (j & 1)] |= (uint8_t)(1u << j / 2);
        mrig_fill(r, WG_SRCA, op == 0 ? 0x07F : 0);
        mrig_fill(r, WG_SRCB, op == 1 || op == 4 ? 0x07F : 0);
        memset(r->t->regs.dst.bits, op == 2 || op == 3 ? 0x7F : 0, sizeof r->t->regs.dst.bits);
        mrig_run(r, opcodes[op] << 24);
        for (unsigned j = 0; j < 16; j++) {
            uint32_t x = op < 2    ? r->t->regs.dst.bits[0][j]
                         : op == 3 ? r->t->regs.src.b[0][0][j]
                                   : r->t->regs.src.a[0][0][j];
            assert_int_equal(x != 0, !(blocked >> j & 1));
        }
        mrig_free(r);
    }
}

static void test_counters_step(void **state)
{
    static const uint32_t opcodes[] = {MOVA2D, MOVDBGA2D, MOVB2D, MOVD2A, MOVD2B, MOVB2A, SHIFTXB, ZEROACC};
    for (unsigned op = 0; op < 8; op++) {
        mrig *r = mrig_new(wg_test_arch(state));
        mrig_formats(r, 5, 5);
        mrig_own(r);
        mrig_addr_mod_1(r);
        mrig_run(r, opcodes[op] << 24 | mrig_addr_mod(r, 1));
        const wg_rwc_thread *rwc = &r->t->regs.rwc.thread[0];
        assert_int_equal(rwc->srca, 16);
        assert_int_equal(rwc->srcb, 8);
        assert_int_equal(rwc->dst, 8);
        assert_int_equal(rwc->fidelity, 1);
        mrig_free(r);
    }
}

static void test_shifts(void **state)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        scene s = setup(state, seed);
        unsigned row = field(&s, 64), zero = field(&s, 2);
        uint32_t word = (uint32_t)SHIFTXB << 24 | zero << 10 | row;
        uint32_t *x = s.src.b[s.src.matrix_bank_b][(row + s.r->t->regs.rwc.thread[0].srcb) & 63], first = x[0];
        memmove(x, x + 1, 15 * sizeof *x);
        x[15] = zero ? 0 : first;
        mrig_run(s.r, word);
        compare(&s, word);
    }
    /* SHIFTXA reads the block that the last instruction with a SrcA row used. */
    static const uint32_t before[] = {0x26000000, 0x28000000, 0x12000000, 0x13000000, 0x08000000, 0x0A000000,
                                      0x0B000000, 0x22000000, 0x33000000, 0x34000000, 0x24000000};
    for (unsigned direction = 0; direction < 4; direction++)
        for (unsigned i = 0; i < sizeof before / sizeof *before; i++) {
            scene s = setup(state, i + 1);
            s.r->t->regs.rwc.thread[0].srca = 37;
            mrig_run(s.r, before[i]);
            wg_src now = s.r->t->regs.src;
            s.dst = s.r->t->regs.dst;
            s.src = now;
            for (unsigned k = 0; direction >= 2 && k < 16; k++)
                for (unsigned j = 0; j < 16; j++) {
                    int from = direction == 3 ? (int)j + 1 : (int)j - 1;
                    s.src.a[now.matrix_bank_a][k][j] =
                        from < 0 || from > 15 ? 0 : now.a[now.matrix_bank_a][32 + k][from];
                }
            mrig_run(s.r, (uint32_t)SHIFTXA << 24 | direction);
            if (direction < 2)
                assert_true(mrig_found(s.r, WG_F_MATRIX_OPERAND));
            compare(&s, before[i]);
        }
}

static void test_transposes(void **state)
{
    for (unsigned b = 0; b < 2; b++) {
        scene s = setup(state, b + 7);
        wg_src was = s.src;
        for (unsigned i = 0; i < 16; i++)
            for (unsigned j = 0; j < 16; j++)
                if (b)
                    s.src.b[was.matrix_bank_b][16 + i][j] = was.b[was.matrix_bank_b][16 + j][i];
                else
                    s.src.a[was.matrix_bank_a][16 + i][j] = was.a[was.matrix_bank_a][16 + j][i];
        uint32_t word = (uint32_t)(b ? TRNSPSRCB : TRNSPSRCA) << 24;
        mrig_run(s.r, word);
        compare(&s, word);
    }
}

static void test_zerosrc(void **state)
{
    for (unsigned bits = 0; bits < 32; bits++)
        for (unsigned banks = 0; banks < 16; banks++) {
            scene s = setup(state, bits + 1);
            wg_src *src = &s.r->t->regs.src;
            src->matrix_bank_a = banks & 1;
            src->matrix_bank_b = banks >> 1 & 1;
            src->unpack_bank_a = banks >> 2 & 1;
            src->unpack_bank_b = banks >> 3 & 1;
            for (unsigned bank = 0; bank < 2; bank++)
                for (unsigned i = 0; i < 1024; i++) {
                    bool both = bits & 4, matrix = bits & 8;
                    if (bits & 1 && (both || bank == (matrix ? src->matrix_bank_a : src->unpack_bank_a)))
                        s.src.a[bank][i / 16][i % 16] = bits & 16 ? 0x7FFFF : 0;
                    if (bits & 2 && (both || bank == (matrix ? src->matrix_bank_b : src->unpack_bank_b)))
                        s.src.b[bank][i / 16][i % 16] = 0;
                }
            mrig_run(s.r, (uint32_t)ZEROSRC << 24 | bits);
            compare(&s, bits);
        }
}

static void undefine(scene *s, unsigned stored) { s->dst.undefined[stored / 64] |= UINT64_C(1) << stored % 64; }

static void test_zeroacc(void **state)
{
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        scene s = setup(state, seed);
        unsigned mode = field(&s, 4), imm = field(&s, 4) ? field(&s, 70) : field(&s, 1024);
        bool wide = field(&s, 2), absolute = field(&s, 2);
        mrig_cfg(s.r, WG_CFG_DEST_ACCESS_CFG_zeroacc_absolute_tile_mode, absolute);
        uint32_t word = (uint32_t)ZEROACC << 24 | mode << 19 | (uint32_t)wide << (s.bh ? 18 : 21) | imm;
        unsigned offset =
            s.r->t->regs.rwc.thread[0].dst +
            wg_tcfg_get(s.r->t->arch->id, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset, s.r->t->regs.config.thread[0]);
        unsigned block = imm & 0xFF;
        if (s.bh && !absolute && (offset & (wide ? 768 : 512)))
            block += wide ? 16 : 32;
        if (mode == 0)
            undefine(&s, s.wide ? to_low_word(dst_row(&s, word)) : dst_row(&s, word));
        for (unsigned i = 0; mode == 1 && i < 16; i++)
            if (block < (wide ? 32 : 64))
                undefine(&s, wide ? to_low_word(block * 16 + i) : block * 16 + i);
        for (unsigned i = 0; mode >= 2 && i < 1024; i++)
            if (mode == 3 || i / 512 == (imm & 1))
                undefine(&s, i);
        unsigned before = s.r->t->regs.rwc.thread[0].dst;
        mrig_addr_mod_1(s.r);
        mrig_run(s.r, word | mrig_addr_mod(s.r, 1));
        assert_int_equal(s.r->t->regs.rwc.thread[0].dst, mode < 2 ? (before + 8) & 0x3FF : before);
        compare(&s, word);
    }
    /* Reverting makes rows defined again; used otherwise than on BH's 16 wide rows, it is reported. */
    mrig *r = mrig_new(wg_test_arch(state));
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    mrig_undefine_all(r);
    mrig_run(r, (uint32_t)ZEROACC << 24 | 1u << 19 | (bh ? 3u << 17 : 1u << 21 | 1u << 18) | 1);
    assert_false(wg_dst_is_undefined(&r->t->regs.dst, 32));
    assert_true(wg_dst_is_undefined(&r->t->regs.dst, 40));
    assert_int_equal(mrig_found(r, WG_F_MATRIX_OPERAND), !bh);
    mrig_run(r, (uint32_t)ZEROACC << 24 | 3u << 19 | (bh ? 1u << 17 : 1u << 18));
    assert_false(wg_dst_is_undefined(&r->t->regs.dst, 1000));
    assert_true(mrig_found(r, WG_F_MATRIX_OPERAND));
    /* Bits 23:22 give banks back. */
    mrig_own(r);
    mrig_run(r, (uint32_t)ZEROACC << 24 | 3u << 19 | 2u << 22);
    assert_int_equal(r->t->regs.src.matrix_bank_b, 1);
    assert_int_equal(r->t->regs.src.owner_b[0], WG_SRC_UNPACKERS);
    assert_int_equal(r->t->regs.src.owner_a[0], WG_SRC_MATRIX);
    mrig_free(r);
}

static void test_counters_and_the_rest(void **state)
{
    mrig *r = mrig_new(wg_test_arch(state));
    mrig_run(r, (uint32_t)SETRWC << 24 | 5u << 14 | 6u << 10 | 7u << 6 | 15);
    mrig_run(r, (uint32_t)INCRWC << 24 | 1u << 14 | 2u << 10 | 3u << 6);
    const wg_rwc_thread *rwc = &r->t->regs.rwc.thread[0];
    assert_int_equal(rwc->dst, 6);
    assert_int_equal(rwc->srcb, 8);
    assert_int_equal(rwc->srca, 10);
    assert_int_equal(rwc->dst_cr, 5);
    r->t->regs.exphist.bins[3][31] = 9;
    r->t->regs.exphist.max[0] = 200;
    mrig_run(r, (uint32_t)CLREXPHIST << 24);
    assert_int_equal(r->t->regs.exphist.bins[3][31] | r->t->regs.exphist.max[0], 0);
    wg_regs before = r->t->regs;
    mrig_run(r, (uint32_t)GATESRCRST << 24 | 3);
    assert_memory_equal(&before, &r->t->regs, sizeof before);
    /* Giving back a bank that the unit does not own is reported. */
    assert_false(mrig_found(r, WG_F_MATRIX_BANK));
    mrig_run(r, (uint32_t)CLEARDVALID << 24 | 1u << 22);
    assert_true(mrig_found(r, WG_F_MATRIX_BANK));
    mrig_free(r);
    static const uint32_t unwaited[] = {MOVD2A, MOVD2B, MOVDBGA2D};
    for (unsigned i = 0; i < 3; i++) {
        r = mrig_new(wg_test_arch(state));
        mrig_formats(r, 5, 5);
        mrig_run(r, unwaited[i] << 24);
        assert_true(mrig_found(r, WG_F_MATRIX_BANK));
        mrig_free(r);
    }
}

/* SETIBRWC sets the bias counter or moves it, as an address modifier does; SFPLOAD and the moves see it in their index. */
static void test_bias_counter(void **state)
{
    static const struct {
        unsigned control, value, from, to;
    } cases[] = {
        {1, 1, 0, 1}, {1, 0, 1, 0}, {1, 2, 1, 0}, {1, 3, 0, 1}, {1, 0xFFE, 1, 0}, {2, 1, 0, 1},     {2, 1, 1, 0},
        {2, 2, 0, 1}, {2, 3, 1, 0}, {2, 4, 0, 0}, {2, 0, 1, 1}, {3, 1, 1, 1},     {0, 0xFFF, 0, 0}, {0, 0xFFF, 1, 1},
    };
    mrig *r = mrig_new(wg_test_arch(state));
    wg_rwc_thread *rwc = &r->t->regs.rwc.thread[0];
    rwc->dst = 9, rwc->srca = 3, rwc->fidelity = 2;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        rwc->extra_addr_mod = (uint8_t)cases[i].from;
        wg_rwc before = r->t->regs.rwc;
        mrig_run(r, (uint32_t)SETIBRWC << 24 | 1u << 18 | cases[i].value << 6 | cases[i].control);
        before.thread[0].extra_addr_mod = (uint8_t)cases[i].to;
        if (memcmp(&before, &r->t->regs.rwc, sizeof before))
            fail_msg("case %u", i);
    }
    assert_true(mrig_found(r, WG_F_INSN_ASSUMED));
    mrig_free(r);
}

/* Remnants of earlier architectures' convolutions change nothing, and are reported. */
static void test_legacy(void **state)
{
    static const uint32_t words[] = {RAREB << 24,
                                     SETASHRMH0 << 24 | 0x1FFFF,
                                     SETASHRMH1 << 24 | 0x1FFFF,
                                     SETASHRMV << 24 | 0xFFFFF,
                                     SETASHRMH << 24 | 0x1FFFF,
                                     SETPKEDGOF << 24 | 0x1234};
    mrig *r = mrig_new(wg_test_arch(state));
    mrig_own(r);
    mrig_fill(r, WG_SRCA, 0);
    mrig_fill(r, WG_SRCB, 0);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        wg_regs before = r->t->regs;
        r->dev.findings = 0;
        mrig_run(r, words[i]);
        assert_memory_equal(&before, &r->t->regs, sizeof before);
        assert_int_equal(mrig_found(r, WG_F_RESERVED_INSN), 1);
    }
    mrig_free(r);
}

/* ---- Pools ---------------------------------------------------------------------------------------------- */

/* A datum of BF16 scaled by 2^(exponent of b - 127), as a number; a zero of SrcB is minus infinity. */
static double scaled(uint32_t a, uint32_t b)
{
    if (!(b & 0xFF))
        return -1e300;
    if (!(a & 0xFF))
        return 0;
    double x = 1 + (double)(a >> 11 & 0x7F) / 128;
    for (int e = (int)(a & 0xFF) - 127 + (int)(b & 0xFF) - 127; e; e += e > 0 ? -1 : 1)
        x = e > 0 ? x * 2 : x / 2;
    return a & WG_SRC_SIGN ? -x : x;
}

static void test_gmpool(void **state)
{
    wg_rng rng = {99};
    for (unsigned round = 0; round < 300; round++) {
        mrig *r = mrig_new(wg_test_arch(state));
        bool wide = round & 1, undefined = round & 2;
        mrig_formats(r, 5, 5);
        mrig_own(r);
        mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, wide);
        r->t->regs.rwc.thread[0] = (wg_rwc_thread){.srca = 39, .srcb = 13, .dst = 6};
        double want[16];
        for (unsigned j = 0; j < 16; j++) {
            double dst = (double)(int)wg_rng_below(&rng, 9) - 4;
            wg_dst_access straight = {0};
            if (wide)
                wg_dst_write32(&r->t->regs.dst, straight, 4, j, wg_dst32_from_fp32(mrig_bits((float)dst)));
            else
                wg_dst_write16(&r->t->regs.dst, straight, 4, j,
                               wg_dst16_from_bf16((uint16_t)(mrig_bits((float)dst) >> 16)));
            want[j] = undefined ? -1e300 : dst;
        }
        if (undefined)
            mrig_undefine_all(r);
        for (unsigned i = 0; i < 16; i++)
            mrig_put(r, WG_SRCB, 0, 8, i, 125 + wg_rng_below(&rng, 5));
        for (unsigned i = 0; i < 16; i++)
            for (unsigned j = 0; j < 16; j++) {
                uint32_t a =
                    wg_rng_below(&rng, 2) << 18 | wg_rng_below(&rng, 128) << 11 | (124 + wg_rng_below(&rng, 6));
                if (!wg_rng_below(&rng, 10))
                    a &= ~0xFFu;
                mrig_put(r, WG_SRCA, 0, 32 + i, j, a);
                double x = scaled(a, r->t->regs.src.b[0][8][i]);
                want[j] = x > want[j] ? x : want[j];
            }
        mrig_run(r, (uint32_t)GMPOOL << 24);
        for (unsigned j = 0; j < 16; j++) {
            assert_true((double)(wide ? mrig_dst_fp32(r, 4, j) : mrig_dst_bf16(r, 4, j)) == want[j]);
            for (unsigned i = 5; i < 8; i++)
                assert_int_equal(wide ? mrig_dst32(r, i, j) : mrig_dst16(r, i, j), 0);
        }
        mrig_free(r);
    }
}

/* ArgMax, zero scales, integers, FP16, and the forms that pretend SrcA is zero. */
static void test_gmpool_modes(void **state)
{
    mrig *r = mrig_new(wg_test_arch(state));
    mrig_formats(r, 5, 5);
    mrig_own(r);
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, 1);
    mrig_fill(r, WG_SRCB, 127);
    static const uint8_t place[8] = {0, 3, 6, 1, 4, 7, 2, 5};
    for (unsigned row = 0; row < 16; row++) {
        mrig_fill(r, WG_SRCA, 120);
        for (unsigned j = 0; j < 16; j++)
            mrig_put(r, WG_SRCA, 0, row, j, 0x10000 | 128);
        mrig_undefine_all(r);
        mrig_run(r, (uint32_t)GMPOOL << 24 | 1u << 14);
        /* From an undefined row (all ones) the phase counter wraps to 0. Row 3 is visited last of the equal first
         * eight. */
        unsigned index = row < 8 ? place[row] : place[3];
        assert_int_equal(mrig_dst32(r, 0, 0), (uint32_t)wg_dst16_from_src_exp8(0x10000 | 128) << 16 | index);
        /* The next block counts one further, and keeps the index unless one of its values is as large. */
        mrig_fill(r, WG_SRCA, 120);
        mrig_run(r, (uint32_t)GMPOOL << 24 | 1u << 14);
        assert_int_equal(mrig_dst32(r, 0, 0) & 0xFFFF, 0x100 | index);
        assert_int_equal(mrig_dst32(r, 1, 0), 0x100);
    }
    /* TF32: the index alone. */
    mrig_formats(r, 4, 4);
    mrig_undefine_all(r);
    mrig_put(r, WG_SRCA, 0, 5, 2, 0x10000 | 128);
    mrig_run(r, (uint32_t)GMPOOL << 24 | 1u << 14);
    assert_int_equal(mrig_dst32(r, 0, 2), place[5]);
    /* A zero in SrcB excludes its row. */
    mrig_formats(r, 5, 5);
    mrig_fill(r, WG_SRCB, 0);
    mrig_put(r, WG_SRCB, 0, 0, 4, 127);
    mrig_fill(r, WG_SRCA, 0x10000 | 130);
    for (unsigned j = 0; j < 16; j++)
        mrig_put(r, WG_SRCA, 0, 4, j, WG_SRC_SIGN | 127);
    mrig_undefine_all(r);
    mrig_run(r, (uint32_t)GMPOOL << 24);
    assert_true(mrig_dst_fp32(r, 0, 9) == -1.0f);
    /* MPOOL3S1 and MPOOL3S2: SrcA counts as zero. */
    mrig_fill(r, WG_SRCB, 127);
    for (unsigned i = 0; i < 2; i++) {
        wg_dst_poke32(r->t, 0, 0, wg_dst32_from_fp32(mrig_bits(-3.0f)));
        wg_dst_poke32(r->t, 0, 1, wg_dst32_from_fp32(mrig_bits(3.0f)));
        mrig_run(r, (uint32_t)(i ? MPOOL3S2 : MPOOL3S1) << 24);
        assert_true(mrig_dst_fp32(r, 0, 0) == 0.0f && mrig_dst_fp32(r, 0, 1) == 3.0f);
    }
    mrig_free(r);

    /* Integers: 13 bits of magnitude come out; 19 of Dst go in. */
    r = mrig_new(wg_test_arch(state));
    mrig_own(r);
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, 1);
    mrig_fill(r, WG_SRCB, 1);
    mrig_fill(r, WG_SRCA, 700u << 8 | 16);
    wg_dst_poke32(r->t, 0, 0, wg_dst32_from_int(650));
    wg_dst_poke32(r->t, 0, 1, wg_dst32_from_int(-9));
    wg_dst_poke32(r->t, 0, 2, wg_dst32_from_int(0x1ABC));
    mrig_run(r, (uint32_t)GMPOOL << 24);
    assert_int_equal(mrig_dst32(r, 0, 0), 700);
    assert_int_equal(mrig_dst32(r, 0, 1), 700);
    assert_int_equal(mrig_dst32(r, 0, 2), 0x1ABC);
    mrig_free(r);

    /* FP16. */
    r = mrig_new(wg_test_arch(state));
    mrig_own(r);
    mrig_formats(r, 1, 1);
    mrig_fill(r, WG_SRCB, 15);
    mrig_fill(r, WG_SRCA, wg_src_from_fp16(0xC123));
    mrig_put(r, WG_SRCA, 0, 3, 3, wg_src_from_fp16(0x5678));
    mrig_undefine_all(r);
    mrig_run(r, (uint32_t)GMPOOL << 24);
    assert_int_equal(wg_dst16_to_fp16(mrig_dst16(r, 0, 3)), 0x5678);
    assert_int_equal(wg_dst16_to_fp16(mrig_dst16(r, 0, 4)), 0xC123);
    /* For 32-bit Dst the page writes TF32 without rebiasing: the exponent wraps. */
    mrig_cfg(r, WG_CFG_ALU_ACC_CTRL_Fp32_enabled, 1);
    mrig_undefine_all(r);
    mrig_run(r, (uint32_t)GMPOOL << 24);
    assert_int_equal(mrig_dst32(r, 0, 3),
                     ((0x5678 & 0x3F8) << 21) | ((0x15 + 15 - 127) & 0xFF) << 16 | (0x5678 & 7) << 13);
    mrig_free(r);
}

/* Dst += 0: undefined rows become zeros, denormals are flushed, everything else stays. */
static void test_neutered(void **state)
{
    static const uint32_t opcodes[] = {CONV3S1, CONV3S2, MFCONV3S1, APOOL3S1, APOOL3S2};
    for (unsigned op = 0; op < 5; op++) {
        mrig *r = mrig_new(wg_test_arch(state));
        mrig_formats(r, 5, 5);
        mrig_own(r);
        mrig_addr_mod_1(r);
        unsigned rows = op < 3 ? 8 : 4;
        for (unsigned i = 0; i < 16; i++)
            for (unsigned j = 0; j < 16; j++)
                r->t->regs.dst.bits[i][j] = wg_dst16_from_bf16((uint16_t)(j == 0 ? 0x0077 : 0xC0A0 + i * 16 + j));
        wg_dst_undefine(&r->t->regs.dst, 1);
        mrig_run(r, opcodes[op] << 24 | 3u << 22 | (op < 3 ? mrig_addr_mod(r, 1) : 1u << 15));
        for (unsigned i = 0; i < 16; i++) {
            assert_int_equal(mrig_dst16(r, i, 0), i < rows ? 0 : wg_dst16_from_bf16(0x0077));
            assert_int_equal(mrig_dst16(r, i, 5), i == 1 ? 0 : wg_dst16_from_bf16((uint16_t)(0xC0A5 + i * 16)));
        }
        assert_false(wg_dst_is_undefined(&r->t->regs.dst, 1));
        assert_int_equal(r->t->regs.rwc.thread[0].dst, 8);
        assert_int_equal(r->t->regs.src.matrix_bank_a & r->t->regs.src.matrix_bank_b, 1);
        mrig_free(r);
    }
}

static const wg_test tests[] = {
    WG_COVERS(test_mova2d, WG_BH | WG_WH, "", "MOVA2D:value MOVDBGA2D:value"),
    WG_COVERS(test_movb2d, WG_WH, "", "MOVB2D:value"),
    WG_COVERS(test_movb2d, WG_BH, "", "MOVB2D:value MOVDBGB2D:value"),
    WG_COVERS(test_movd2, WG_BH | WG_WH, "", "MOVD2A:value MOVD2B:value"),
    WG_COVERS(test_movb2a, WG_BH | WG_WH, "", "MOVB2A:value"),
    WG_TEST(test_blocked_columns, WG_BH | WG_WH, ""),
    WG_TEST(test_counters_step, WG_BH | WG_WH, ""),
    WG_COVERS(test_shifts, WG_BH | WG_WH, "", "SHIFTXA:value SHIFTXB:value"),
    WG_COVERS(test_transposes, WG_BH | WG_WH, "", "TRNSPSRCA:value TRNSPSRCB:value"),
    WG_COVERS(test_zerosrc, WG_BH | WG_WH, "", "ZEROSRC:value"),
    WG_COVERS(test_zeroacc, WG_BH | WG_WH, "", "ZEROACC:value"),
    WG_COVERS(test_counters_and_the_rest, WG_BH | WG_WH, "GATE-22",
              "SETRWC:value INCRWC:value CLREXPHIST:value GATESRCRST:value CLEARDVALID:value"),
    WG_COVERS(test_bias_counter, WG_BH | WG_WH, "", "SETIBRWC:value"),
    WG_COVERS(test_legacy, WG_BH | WG_WH, "",
              "RAREB:value SETASHRMH0:value SETASHRMH1:value SETASHRMV:value SETASHRMH:value SETPKEDGOF:value"),
    WG_COVERS(test_gmpool, WG_BH | WG_WH, "", "GMPOOL:value"),
    WG_COVERS(test_gmpool_modes, WG_BH | WG_WH, "", "GMPOOL:value MPOOL3S1:value MPOOL3S2:value"),
    WG_COVERS(test_neutered, WG_BH | WG_WH, "",
              "CONV3S1:value CONV3S2:value MFCONV3S1:value APOOL3S1:value APOOL3S2:value"),
};

WG_MAIN("matrix_move", tests)
