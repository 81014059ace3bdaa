/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blackhole's CSRs (BabyRISCV/CSRs.md): what each reads as after reset, which keep a written value, what the counters
 * count, how the switches of cfg0 and pmacfg change timing, and what is reported for those that no page explains.
 */
#include "rvasm.h"
#include "wgtest.h"

enum { CODE = 0x1000, OUT = 0x30000, DATA = 0x40000, CYCLE = 0xB00, CFG0 = 0x7C0, PMACFG0 = 0x7C1, PMACFG1 = 0x7C2 };

static void rv_sub(rv *p, unsigned rd, unsigned a, unsigned b) { rv_word(p, 0x40000033 | b << 20 | a << 15 | rd << 7); }
static void csrr(rv *p, unsigned rd, unsigned csr) { rv_word(p, rv_i((int)csr, ZERO, 2, rd, 0x73)); }
static void csrw(rv *p, unsigned csr, unsigned rs) { rv_word(p, rv_i((int)csr, rs, 1, ZERO, 0x73)); }

static wg_device *run(const rv *p, unsigned core)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    assert_true(rv_load(dev, p));
    assert_int_equal(wg_core_release(dev, (wg_core_id)core, p->base), WG_OK);
    wg_advance(dev, 4000);
    wg_core_info info;
    assert_int_equal(wg_core_state(dev, (wg_core_id)core, &info), WG_OK);
    assert_true(info.parked);
    return dev;
}

static uint32_t word(wg_device *dev, uint32_t address)
{
    uint32_t v = 0;
    assert_int_equal(wg_read(dev, address, &v, 4), WG_OK);
    return v;
}

static bool reported(const wg_device *dev, const char *code)
{
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        if (!strcmp(wg_finding_info_at(wg_finding_at(dev, i)->code)->code, code))
            return true;
    return false;
}

/* Read after reset, all ones written, read again: on every core. */
static void test_values(void **state)
{
    (void)state;
    static const struct {
        uint16_t csr;
        uint32_t reset, kept; /* of the ones written */
    } rows[] = {
        {0x003, 0, 0xFF}, /* fcsr */
        {0x008, 0, 0},    /* vstart: read-only */
        {0x009, 0, 1},    /* vxsat */
        {0x00A, 0, 3},    /* vxrm */
        {0x300, 0x80006600, 0x80006600},
        {0x301, 0x40201123, 0x40201123},
        {0x320, 0, 0xFFFFFFFF}, /* mcountinhibit */
        {0x7C3, 0, 0xFFFFFFFF},
        {0x7C4, 0, 0xFFFFFFFF},
        {0x7C5, 0, 0xFFFFFFFF},
        {0x7C6, 0, 0xFFFFFFFF},
        {0xBCA, 0, 0xFFFFFFFF},  /* intp_restore_pc */
        {0xC22, 16, 0xFFFFFFFF}, /* vlenb */
        {0xF14, 0, 0},           /* mhartid */
    };
    for (unsigned core = 0; core < WG_CORES; core++) {
        rv p = rv_at(CODE);
        rv_li(&p, A0, OUT);
        rv_li(&p, A1, 0xFFFFFFFF);
        csrr(&p, A3, CFG0);
        rv_sw(&p, A3, 1024, A0);
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
            csrr(&p, A2, rows[i].csr);
            csrw(&p, rows[i].csr, A1);
            csrr(&p, A3, rows[i].csr);
            rv_sw(&p, A2, (int)i * 16, A0);
            rv_sw(&p, A3, (int)i * 16 + 4, A0);
        }
        rv_done(&p);
        wg_device *dev = run(&p, core);
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (word(dev, OUT + i * 16) != rows[i].reset || word(dev, OUT + i * 16 + 4) != rows[i].kept)
                fail_msg("core %u, CSR 0x%03x: 0x%x, then 0x%x", core, rows[i].csr, word(dev, OUT + i * 16),
                         word(dev, OUT + i * 16 + 4));
        }
        assert_int_equal(word(dev, OUT + 1024), 16 << 13); /* cfg0: StMergeTimer */
        assert_int_equal(wg_finding_count(dev), 0);
        wg_destroy(dev);
    }
}

/* mcycle and minstret, their halves, and the aliases that can be written too. */
static void test_counters(void **state)
{
    (void)state;
    rv p = rv_at(CODE);
    rv_li(&p, A0, OUT);
    rv_li(&p, A1, 1000000);
    rv_li(&p, A2, 7);
    csrw(&p, 0xC02, A1); /* instret */
    csrr(&p, A3, 0xB02); /* minstret */
    rv_nop(&p);
    rv_nop(&p);
    csrr(&p, A4, 0xC02);
    csrw(&p, 0xB80, A2); /* mcycleh */
    csrr(&p, A5, 0xC80); /* cycleh */
    csrw(&p, 0xC00, A1); /* cycle */
    csrr(&p, A6, 0xB00); /* mcycle */
    csrr(&p, A7, 0xC00);
    csrw(&p, 0xC82, A2);    /* instreth */
    csrr(&p, S2, 0xB82);    /* minstreth */
    rv_sub(&p, A4, A4, A3); /* three instructions on */
    rv_sub(&p, A7, A7, A6);
    rv_sub(&p, A6, A6, A1);
    for (unsigned i = 0; i < 6; i++) {
        static const uint8_t from[] = {A3, A4, A5, A6, A7, S2};
        rv_sw(&p, from[i], (int)i * 16, A0);
    }
    rv_done(&p);
    wg_device *dev = run(&p, WG_CORE_B);
    assert_in_range(word(dev, OUT), 1000000, 1000002);
    assert_int_equal(word(dev, OUT + 16), 3);
    assert_int_equal(word(dev, OUT + 32), 7);
    assert_in_range(word(dev, OUT + 48), 0, 8);
    assert_in_range(word(dev, OUT + 64), 1, 8); /* a CSR instruction waits for the one before */
    assert_int_equal(word(dev, OUT + 80), 7);
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

/* Cycles that a piece of code takes with these values of cfg0 and pmacfg. */
static uint32_t cycles_with(uint32_t cfg0, uint32_t pmacfg0, uint32_t pmacfg1, void (*piece)(rv *p))
{
    rv p = rv_at(CODE);
    rv_li(&p, A0, OUT);
    rv_li(&p, A1, DATA);
    rv_li(&p, A2, cfg0 | 16 << 13);
    csrw(&p, CFG0, A2);
    rv_li(&p, A2, pmacfg0);
    csrw(&p, PMACFG0, A2);
    rv_li(&p, A2, pmacfg1);
    csrw(&p, PMACFG1, A2);
    rv_li(&p, S2, 2); /* twice: the second time from the instruction cache */
    unsigned again = p.n;
    rv_fence(&p);
    csrr(&p, S3, CYCLE);
    piece(&p);
    csrr(&p, S4, CYCLE);
    rv_addi(&p, S2, S2, -1);
    rv_bne(&p, S2, ZERO, again);
    rv_sub(&p, S4, S4, S3);
    rv_sw(&p, S4, 0, A0);
    rv_done(&p);
    wg_device *dev = run(&p, WG_CORE_B);
    uint32_t n = word(dev, OUT);
    wg_destroy(dev);
    return n;
}

static void dependent(rv *p)
{
    for (unsigned i = 0; i < 8; i++)
        rv_addi(p, A3, A3, 1);
}
static void branches(rv *p)
{
    rv_li(p, A3, 8);
    unsigned label = p->n;
    rv_addi(p, A3, A3, -1);
    rv_bne(p, A3, ZERO, label);
}
static void loads(rv *p)
{
    for (int i = 0; i < 4; i++) {
        rv_lw(p, A3, 0, A1);
        rv_add(p, A4, A4, A3);
    }
}
static void store_and_load(rv *p)
{
    rv_sw(p, A3, 64, A1);
    rv_lw(p, A4, 0, A1);
    rv_add(p, A5, A4, A4);
}
static void csrs(rv *p)
{
    for (unsigned i = 0; i < 4; i++)
        csrr(p, A3, 0x7C3);
}

static void test_switches(void **state)
{
    (void)state;
    uint32_t base = cycles_with(0, 0, 0, dependent);
    assert_in_range(cycles_with(1u << 9, 0, 0, dependent), base + 7, base + 40);  /* SyncAllOps */
    assert_in_range(cycles_with(1u << 20, 0, 0, dependent), base + 7, base + 40); /* DisRegForwarding */
    base = cycles_with(0, 0, 0, branches);
    assert_in_range(cycles_with(1u << 1, 0, 0, branches), base + 20, base + 40); /* DisBp: a bubble of four each */
    base = cycles_with(0, 0, 0, loads);
    assert_in_range(cycles_with(1u << 3, 0, 0, loads), base + 12, base + 40); /* DisLowCash: L1 each time */
    base = cycles_with(0, 0, 0, store_and_load);
    assert_in_range(cycles_with(1u << 0, 0, 0, store_and_load), base + 8, base + 40); /* DisLdBufByp: merge timer */
    assert_in_range(cycles_with(0, 1, 0, store_and_load), base + 8, base + 60);       /* strongly ordered */
    assert_in_range(cycles_with(0, 0, 1, store_and_load), base + 8, base + 60);
    assert_int_equal(cycles_with(0, 0xFFFFFFFE, 0, store_and_load), base); /* only the low bit has a meaning */
    base = cycles_with(0, 0, 0, csrs);
    assert_in_range(cycles_with(1u << 10, 0, 0, csrs), 1, base - 4); /* DisCsrSync */
}

/* Code that runs for the first time: lines are prefetched, or not. */
static void test_prefetcher(void **state)
{
    (void)state;
    uint32_t taken[2];
    for (unsigned off = 0; off < 2; off++) {
        rv p = rv_at(CODE);
        rv_li(&p, A0, OUT);
        rv_li(&p, A2, off << 2 | 16 << 13); /* DisIcPrefetch */
        csrw(&p, CFG0, A2);
        csrr(&p, S3, CYCLE);
        for (unsigned i = 0; i < 64; i++)
            rv_nop(&p);
        csrr(&p, S4, CYCLE);
        rv_sub(&p, S4, S4, S3);
        rv_sw(&p, S4, 0, A0);
        rv_done(&p);
        wg_device *dev = run(&p, WG_CORE_B);
        taken[off] = word(dev, OUT);
        wg_destroy(dev);
    }
    assert_in_range(taken[1], taken[0] + 64, taken[0] + 256);
}

/* The coprocessor's status is live, unless DisTTStatusReg leaves it as written. */
static void test_frozen_status(void **state)
{
    (void)state;
    for (unsigned frozen = 0; frozen < 2; frozen++) {
        rv p = rv_at(CODE);
        rv_li(&p, A0, OUT);
        rv_li(&p, A1, 0x155);
        rv_li(&p, A2, frozen << 29 | 16 << 13);
        csrw(&p, CFG0, A2);
        csrw(&p, 0xBC1, A1);
        csrr(&p, A3, 0xBC1);
        rv_sw(&p, A3, 0, A0);
        rv_done(&p);
        wg_device *dev = run(&p, WG_CORE_T0);
        assert_int_equal(word(dev, OUT), frozen ? 0x155 : 0);
        wg_destroy(dev);
    }
}

/* No page lists the events or streams: such accesses are reported. B and NC: their stream status is a scratch word. */
static void test_what_no_page_says(void **state)
{
    (void)state;
    static const uint16_t csrs_of_t[] = {0x323, 0x324, 0xB03, 0xB04, 0xBC2, 0xBC9};
    for (unsigned i = 0; i < 6; i++)
        for (unsigned core = 0; core < WG_CORES; core += 2) { /* B, T0, T2 */
            rv p = rv_at(CODE);
            rv_li(&p, A0, OUT);
            rv_li(&p, A1, 0x1234);
            csrw(&p, csrs_of_t[i], A1);
            csrr(&p, A2, csrs_of_t[i]);
            rv_sw(&p, A2, 0, A0);
            rv_done(&p);
            wg_device *dev = run(&p, core);
            assert_int_equal(word(dev, OUT), 0x1234);
            assert_int_equal(reported(dev, "unimplemented-register"), core != WG_CORE_B || csrs_of_t[i] < 0xBC0);
            wg_destroy(dev);
        }
    rv p = rv_at(CODE); /* PmcClrOnRd, and a CSR that does not exist */
    rv_li(&p, A0, OUT);
    rv_li(&p, A1, 1 << 8 | 16 << 13);
    csrw(&p, 0xB03, A1);
    csrw(&p, CFG0, A1);
    csrr(&p, A2, 0xB03);
    csrr(&p, A3, 0xB03);
    rv_sw(&p, A2, 0, A0);
    rv_sw(&p, A3, 16, A0);
    csrr(&p, A4, 0x001); /* fflags */
    rv_done(&p);
    wg_device *dev = run(&p, WG_CORE_B);
    assert_int_equal(word(dev, OUT), 1 << 8 | 16 << 13);
    assert_int_equal(word(dev, OUT + 16), 0);
    assert_true(reported(dev, "core-illegal-instruction"));
    wg_destroy(dev);
}

/* Exceptions of floats are in fcsr when the next instruction reads it. */
static void test_fcsr_accrues(void **state)
{
    (void)state;
    rv p = rv_at(CODE);
    rv_li(&p, A0, OUT);
    rv_li(&p, A1, 0x3F800000);
    rv_li(&p, A2, 0x33000000);
    rv_word(&p, 0xF0000053 | A1 << 15 | 1 << 7);          /* fmv.w.x f1, a1 */
    rv_word(&p, 0xF0000053 | A2 << 15 | 2 << 7);          /* fmv.w.x f2, a2 */
    rv_word(&p, 0x00000053 | 2 << 20 | 1 << 15 | 3 << 7); /* fadd.s f3, f1, f2: inexact */
    csrr(&p, A3, 0x003);
    rv_word(&p, 0xF0000053 | ZERO << 15 | 2 << 7);
    rv_word(&p, 0x00000053 | 2 << 20 | 1 << 15 | 3 << 7); /* exact */
    csrr(&p, A4, 0x003);
    csrw(&p, 0x003, ZERO);
    csrr(&p, A5, 0x003);
    rv_sw(&p, A3, 0, A0);
    rv_sw(&p, A4, 16, A0);
    rv_sw(&p, A5, 32, A0);
    rv_done(&p);
    wg_device *dev = run(&p, WG_CORE_T1);
    assert_int_equal(word(dev, OUT), 1);
    assert_int_equal(word(dev, OUT + 16), 1);
    assert_int_equal(word(dev, OUT + 32), 0);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_values, WG_BH, ""),        WG_TEST(test_counters, WG_BH, ""),
    WG_TEST(test_switches, WG_BH, ""),      WG_TEST(test_what_no_page_says, WG_BH, ""),
    WG_TEST(test_fcsr_accrues, WG_BH, ""),  WG_TEST(test_prefetcher, WG_BH, ""),
    WG_TEST(test_frozen_status, WG_BH, ""),
};
WG_MAIN("core_csrs", tests)
