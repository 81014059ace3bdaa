/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What integer instructions compute: RV32IM on both architectures, Zba and Zbb on Blackhole, each in a loop over pairs
 * of operands, on all five cores at a time, compared with simple definitions (bit by bit where the host would do it
 * differently). Also NC's instruction RAM on Wormhole.
 */
#include "machine/device.h"
#include "rvasm.h"
#include "wgtest.h"

enum { CODE = 0x10000, CODE_STRIDE = 0x1000, DATA = 0x40000, DATA_STRIDE = 0x4000, PAIRS = 96, OUT = 0x2000 };

/* ---- definitions ------------------------------------------------------------------------------------------- */

static bool less_signed(uint32_t a, uint32_t b) { return (a ^ 0x80000000) < (b ^ 0x80000000); }

static uint32_t shifted(uint32_t a, unsigned n,
                        int how) /* 0 left, 1 right, 2 arithmetic right, 3 rotate left, 4 rotate right */
{
    for (n &= 31; n; n--)
        switch (how) {
        case 0: a += a; break;
        case 1: a /= 2; break;
        case 2: a = a / 2 | (a & 0x80000000); break;
        case 3: a = a + a + (a >= 0x80000000); break;
        default: a = a / 2 | (a & 1 ? 0x80000000 : 0); break;
        }
    return a;
}

/* The high word of a product, by addition. */
static uint32_t high(uint32_t a, uint32_t b)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 32; i++)
        if (b >> i & 1)
            sum += (uint64_t)a << i;
    return (uint32_t)(sum >> 32);
}
static uint32_t high_signed(uint32_t a, uint32_t b, bool b_signed)
{
    uint32_t h = high(a, b);
    if (a >> 31)
        h -= b;
    if (b_signed && b >> 31)
        h -= a;
    return h;
}

static void divided(uint32_t a, uint32_t b, uint32_t *quotient, uint32_t *rest)
{
    *quotient = 0;
    uint64_t left = 0;
    for (int i = 31; i >= 0; i--) {
        left = left * 2 + (a >> i & 1);
        if (left >= b) {
            left -= b;
            *quotient |= 1u << i;
        }
    }
    *rest = (uint32_t)left;
}
static uint32_t division(uint32_t a, uint32_t b, bool with_sign, bool want_rest)
{
    uint32_t q, r;
    if (!b)
        return want_rest ? a : 0xFFFFFFFF;
    bool a_minus = with_sign && a >> 31, b_minus = with_sign && b >> 31;
    divided(a_minus ? 0 - a : a, b_minus ? 0 - b : b, &q, &r);
    if (want_rest)
        return a_minus ? 0 - r : r;
    return a_minus != b_minus ? 0 - q : q;
}

static uint32_t bits_in(uint32_t a, int how) /* 0 leading zeros, 1 trailing zeros, 2 ones */
{
    unsigned n = 0;
    for (unsigned i = 0; i < 32; i++) {
        bool bit = a >> (how ? i : 31 - i) & 1;
        if (how == 2)
            n += bit;
        else if (bit)
            break;
        else
            n++;
    }
    return n;
}

static uint32_t bytes_of(uint32_t a, bool orc)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t byte = a >> 8 * i & 255;
        out += orc ? (byte ? 255u << 8 * i : 0) : byte << 8 * (3 - i);
    }
    return out;
}

enum {
    ADD,
    SUB,
    SLL,
    SLT,
    SLTU,
    XOR,
    SRL,
    SRA,
    OR,
    AND,
    MUL,
    MULH,
    MULHSU,
    MULHU,
    DIV,
    DIVU,
    REM,
    REMU,
    SH1ADD,
    SH2ADD,
    SH3ADD,
    ANDN,
    ORN,
    XNOR,
    MAX,
    MAXU,
    MIN,
    MINU,
    ROL,
    ROR,
    CLZ,
    CTZ,
    CPOP,
    SEXT_B,
    SEXT_H,
    ZEXT_H,
    ORC_B,
    REV8,
    OPS
};

static uint32_t defined(unsigned op, uint32_t a, uint32_t b)
{
    switch (op) {
    case ADD: return a + b;
    case SUB: return a + ~b + 1;
    case SLL: return shifted(a, b, 0);
    case SLT: return less_signed(a, b);
    case SLTU: return a < b;
    case XOR: return (a | b) - (a & b);
    case SRL: return shifted(a, b, 1);
    case SRA: return shifted(a, b, 2);
    case OR: return a + b - (a & b);
    case AND: return ~(~a | ~b);
    case MUL: return (uint32_t)((uint64_t)a * b);
    case MULH: return high_signed(a, b, true);
    case MULHSU: return high_signed(a, b, false);
    case MULHU: return high(a, b);
    case DIV: return division(a, b, true, false);
    case DIVU: return division(a, b, false, false);
    case REM: return division(a, b, true, true);
    case REMU: return division(a, b, false, true);
    case SH1ADD: return 2 * a + b;
    case SH2ADD: return 4 * a + b;
    case SH3ADD: return 8 * a + b;
    case ANDN: return a - (a & b);
    case ORN: return ~(b - (a & b));
    case XNOR: return ~((a | b) - (a & b));
    case MAX: return less_signed(a, b) ? b : a;
    case MAXU: return a < b ? b : a;
    case MIN: return less_signed(b, a) ? b : a;
    case MINU: return b < a ? b : a;
    case ROL: return shifted(a, b, 3);
    case ROR: return shifted(a, b, 4);
    case CLZ: return bits_in(a, 0);
    case CTZ: return bits_in(a, 1);
    case CPOP: return bits_in(a, 2);
    case SEXT_B: return (a & 0x7F) - (a & 0x80);
    case SEXT_H: return (a & 0x7FFF) - (a & 0x8000);
    case ZEXT_H: return a % 0x10000;
    case ORC_B: return bytes_of(a, true);
    default: return bytes_of(a, false);
    }
}

/* ---- encodings --------------------------------------------------------------------------------------------- */

/* funct7 and funct3 of the form with two registers; with `one`, the upper twelve bits of the form with one register. */
static const struct {
    uint16_t upper;
    uint8_t f3;
    bool one, bh;
} form[OPS] = {
    [ADD] = {0, 0},
    [SUB] = {32, 0},
    [SLL] = {0, 1},
    [SLT] = {0, 2},
    [SLTU] = {0, 3},
    [XOR] = {0, 4},
    [SRL] = {0, 5},
    [SRA] = {32, 5},
    [OR] = {0, 6},
    [AND] = {0, 7},
    [MUL] = {1, 0},
    [MULH] = {1, 1},
    [MULHSU] = {1, 2},
    [MULHU] = {1, 3},
    [DIV] = {1, 4},
    [DIVU] = {1, 5},
    [REM] = {1, 6},
    [REMU] = {1, 7},
    [SH1ADD] = {16, 2, .bh = true},
    [SH2ADD] = {16, 4, .bh = true},
    [SH3ADD] = {16, 6, .bh = true},
    [ANDN] = {32, 7, .bh = true},
    [ORN] = {32, 6, .bh = true},
    [XNOR] = {32, 4, .bh = true},
    [MAX] = {5, 6, .bh = true},
    [MAXU] = {5, 7, .bh = true},
    [MIN] = {5, 4, .bh = true},
    [MINU] = {5, 5, .bh = true},
    [ROL] = {48, 1, .bh = true},
    [ROR] = {48, 5, .bh = true},
    [CLZ] = {0x600, 1, true, true},
    [CTZ] = {0x601, 1, true, true},
    [CPOP] = {0x602, 1, true, true},
    [SEXT_B] = {0x604, 1, true, true},
    [SEXT_H] = {0x605, 1, true, true},
    [ZEXT_H] = {4, 4, .bh = true},
    [ORC_B] = {0x287, 5, true, true},
    [REV8] = {0x698, 5, true, true},
};

static uint32_t register_form(unsigned op)
{
    if (form[op].one)
        return (uint32_t)form[op].upper << 20 | A0 << 15 | (uint32_t)form[op].f3 << 12 | A2 << 7 | 0x13;
    unsigned rs2 = op == ZEXT_H ? ZERO : A1;
    return (uint32_t)form[op].upper << 25 | rs2 << 20 | A0 << 15 | (uint32_t)form[op].f3 << 12 | A2 << 7 | 0x33;
}

/* The form with an immediate, if there is one. */
static bool immediate_form(unsigned op, uint32_t b, uint32_t *word)
{
    static const uint8_t ops[] = {ADD, SLT, SLTU, XOR, OR, AND};
    if (op == SLL || op == SRL || op == SRA || op == ROR) {
        *word =
            (uint32_t)form[op].upper << 25 | (b & 31) << 20 | A0 << 15 | (uint32_t)form[op].f3 << 12 | A2 << 7 | 0x13;
        return b < 32;
    }
    *word = rv_i((int)b, A0, form[op].f3, A2, 0x13);
    for (unsigned i = 0; i < sizeof ops; i++)
        if (op == ops[i])
            return b + 2048 < 4096;
    return false;
}

/* ---- the test ---------------------------------------------------------------------------------------------- */

static uint32_t any_word(wg_rng *g)
{
    static const uint32_t special[] = {0,  1,  0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x80000001, 2,
                                       31, 32, 0x8000,     0xFFFF,     0x80,       255};
    switch (wg_rng_below(g, 4)) {
    case 0: return special[wg_rng_below(g, sizeof special / sizeof *special)];
    case 1: return (uint32_t)wg_rng_next(g) >> wg_rng_below(g, 32);
    default: return (uint32_t)wg_rng_next(g);
    }
}

static void compare(wg_arch_id arch, unsigned op, uint32_t word, bool immediate, uint32_t b, uint64_t seed)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    wg_rng g = {seed};
    uint32_t pair[WG_CORES][PAIRS][2], out[PAIRS];
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    for (unsigned c = 0; c < WG_CORES; c++) {
        for (unsigned i = 0; i < PAIRS; i++) {
            pair[c][i][0] = any_word(&g);
            pair[c][i][1] = immediate ? b : any_word(&g);
        }
        assert_int_equal(wg_write(dev, DATA + c * DATA_STRIDE, pair[c], sizeof pair[c]), WG_OK);
        rv p = rv_at(CODE + c * CODE_STRIDE);
        rv_li(&p, S2, DATA + c * DATA_STRIDE);
        rv_li(&p, S3, DATA + c * DATA_STRIDE + OUT);
        rv_li(&p, S4, PAIRS);
        unsigned loop = p.n;
        rv_lw(&p, A0, 0, S2);
        rv_lw(&p, A1, 4, S2);
        rv_word(&p, word);
        rv_sw(&p, A2, 0, S3);
        rv_addi(&p, S2, S2, 8);
        rv_addi(&p, S3, S3, 4);
        rv_addi(&p, S4, S4, -1);
        rv_bne(&p, S4, ZERO, loop);
        rv_done(&p);
        assert_true(rv_load(dev, &p));
        assert_int_equal(wg_core_release(dev, (wg_core_id)c, p.base), WG_OK);
    }
    wg_stop stop;
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    assert_int_equal(wg_finding_count(dev), 0);
    for (unsigned c = 0; c < WG_CORES; c++) {
        assert_int_equal(wg_read(dev, DATA + c * DATA_STRIDE + OUT, out, sizeof out), WG_OK);
        for (unsigned i = 0; i < PAIRS; i++)
            if (out[i] != defined(op, pair[c][i][0], pair[c][i][1]))
                fail_msg("core %u: %08x of %08x and %08x is %08x, not %08x", c, word, pair[c][i][0], pair[c][i][1],
                         out[i], defined(op, pair[c][i][0], pair[c][i][1]));
    }
    wg_destroy(dev);
}

static void test_instructions(void **state)
{
    static const uint32_t immediates[] = {0, 1, 7, 31, 2047, (uint32_t)-1, (uint32_t)-2048, 0x155};
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned op = 0; op < OPS; op++) {
        uint32_t word;
        if (form[op].bh && arch != WG_ARCH_BH)
            continue;
        compare(arch, op, register_form(op), false, 0, op);
        for (unsigned i = 0; i < sizeof immediates / sizeof *immediates; i++)
            if (immediate_form(op, immediates[i], &word))
                compare(arch, op, word, true, immediates[i], 100 * op + i);
    }
}

/* lui, auipc, jal, jalr and the six branches, both ways. */
static void test_control(void **state)
{
    static const struct {
        uint8_t f3, op;
        bool inverted;
    } branch[] = {{0, XOR, true}, {1, XOR, false}, {4, SLT, false}, {5, SLT, true}, {6, SLTU, false}, {7, SLTU, true}};
    wg_arch_id arch = wg_test_arch(state);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    wg_rng g = {4};
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    rv p = rv_at(CODE);
    uint32_t want[40], got[40], n = 0;
    rv_li(&p, S3, DATA);
    for (unsigned i = 0; i < 30; i++) {
        uint32_t a = any_word(&g), b = i % 5 ? any_word(&g) : a;
        unsigned k = i % 6;
        rv_li(&p, A0, a);
        rv_li(&p, A1, b);
        rv_addi(&p, A2, ZERO, 1);
        rv_word(&p, rv_b(8, A0, A1, branch[k].f3));
        rv_addi(&p, A2, ZERO, 0);
        rv_sw(&p, A2, 4 * (int)n, S3);
        want[n++] = (defined(branch[k].op, a, b) != 0) != branch[k].inverted;
    }
    rv_word(&p, 0xFEDCB000u | A2 << 7 | 0x37);
    rv_sw(&p, A2, 4 * (int)n, S3);
    want[n++] = 0xFEDCB000;
    want[n] = p.base + 4 * p.n + 0x12345000;
    rv_word(&p, 0x12345000u | A2 << 7 | 0x17);
    rv_sw(&p, A2, 4 * (int)n++, S3);
    want[n] = p.base + 4 * p.n + 4;
    rv_word(&p, 8u << 20 | A2 << 7 | 0x6F); /* jal over one instruction */
    rv_addi(&p, A2, ZERO, 0);
    rv_sw(&p, A2, 4 * (int)n++, S3);
    rv_li(&p, A1, p.base + 4 * (p.n + 4) + 7); /* jalr clears the lowest bit of the sum */
    want[n] = p.base + 4 * p.n + 4;
    rv_word(&p, rv_i(-6, A1, 0, A2, 0x67));
    rv_addi(&p, A2, ZERO, 0);
    rv_sw(&p, A2, 4 * (int)n++, S3);
    rv_done(&p);
    assert_true(rv_load(dev, &p));
    assert_int_equal(wg_core_release(dev, WG_CORE_T2, p.base), WG_OK);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    assert_int_equal(wg_read(dev, DATA, got, 4 * n), WG_OK);
    for (unsigned i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("result %u is %08x, not %08x", i, got[i], want[i]);
    wg_destroy(dev);
}

/*
 * Wormhole's NC executes from its instruction RAM, with loops and calls across lines; no other core does, and on
 * Blackhole nothing can be executed there.
 */
static void test_instruction_ram(void **state)
{
    enum { IRAM = 0xFFC00000 };
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned core = 0; core < WG_CORES; core++) {
        wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
        wg_device *dev = NULL;
        assert_int_equal(wg_create(&desc, &dev), WG_OK);
        rv p = rv_at(IRAM + 0x3F00);
        rv_li(&p, A0, DATA);
        rv_li(&p, A1, 10);
        unsigned loop = p.n;
        rv_add(&p, A2, A2, A1);
        rv_word(&p, 16u << 20 | RA << 7 | 0x6F); /* jal to a function after the loop */
        rv_addi(&p, A1, A1, -1);
        rv_bne(&p, A1, ZERO, loop);
        rv_word(&p, 12u << 20 | 0x6F);
        rv_addi(&p, A3, A3, 2); /* the function */
        rv_word(&p, rv_i(0, RA, 0, ZERO, 0x67));
        rv_sw(&p, A2, 0, A0);
        rv_sw(&p, A3, 4, A0);
        rv_done(&p);
        assert_true(wg_iram_write(dev->tile, WG_CORE_NC, p.base - IRAM, 4 * p.n, p.word) == (arch == WG_ARCH_WH));
        assert_int_equal(wg_core_release(dev, (wg_core_id)core, p.base), WG_OK);
        wg_stop stop;
        uint32_t got[2];
        assert_int_equal(wg_run(dev, 10000, &stop), WG_OK);
        assert_int_equal(wg_read(dev, DATA, got, sizeof got), WG_OK);
        if (arch == WG_ARCH_WH && core == WG_CORE_NC) {
            assert_int_equal(stop, WG_STOP_DONE);
            assert_int_equal(got[0], 55);
            assert_int_equal(got[1], 20);
            assert_int_equal(wg_finding_count(dev), 0);
        } else {
            assert_int_equal(stop, WG_STOP_HUNG);
            assert_int_equal(got[0], 0);
            assert_string_equal(wg_finding_info_at(wg_finding_at(dev, 0)->code)->code, "core-fetch-unmapped");
            assert_int_equal(wg_finding_at(dev, 0)->pc, p.base);
        }
        wg_destroy(dev);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_instructions, WG_BH | WG_WH, ""),
    WG_TEST(test_control, WG_BH | WG_WH, ""),
    WG_TEST(test_instruction_ram, WG_BH | WG_WH, ""),
};
WG_MAIN("core_alu", tests)
