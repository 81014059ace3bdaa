/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core's memory accesses as seen from outside: the store queue and its merging, loads that pass stores, the L0 data
 * cache, atomics, slow paths, pc snapshots; and unsupported instructions.
 */
#include "machine/device.h"
#include "rvasm.h"
#include "wgtest.h"

enum { OUT = 0x30000, RAM = 0xFFB00000, CFG0 = 0x7C0 };
enum { DIS_LOW_CASH = 1 << 3, DIS_ST_MERGE = 1 << 12, DIS_PERIODIC_FLUSH = 1 << 24, TIMER_16 = 16 << 13 };

static wg_device *make(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

static void go(wg_device *dev, unsigned core, rv *p)
{
    rv_done(p);
    assert_true(rv_load(dev, p));
    assert_int_equal(wg_core_release(dev, core, p->base), WG_OK);
}

static uint32_t word(wg_device *dev, uint32_t address)
{
    uint32_t value = 0;
    assert_int_equal(wg_read(dev, address, &value, 4), WG_OK);
    return value;
}

static uint32_t ram(wg_device *dev, unsigned core, uint32_t offset)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t byte;
        assert_int_equal(wg_peek(dev, WG_SPACE_CORE_RAM, core << 16 | (offset + i), &byte), WG_OK);
        value |= byte << 8 * i;
    }
    return value;
}

static const wg_finding *found(const wg_device *dev, const char *code)
{
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        if (!strcmp(wg_finding_info_at(wg_finding_at(dev, i)->code)->code, code))
            return wg_finding_at(dev, i);
    return NULL;
}

static void set_cfg0(rv *p, uint32_t value)
{
    rv_li(p, T5, value);
    rv_word(p, rv_i(CFG0, T5, 1, ZERO, 0x73));
}

/* The cycle in which the word is no longer 0. */
static uint64_t changes(wg_device *dev, uint32_t address)
{
    for (unsigned i = 0; i < 6000; i++) {
        if (word(dev, address))
            return wg_cycle(dev);
        wg_advance(dev, 1);
    }
    fail_msg("0x%x has not changed", address);
    return 0;
}

/* A store to L1 waits StMergeTimer cycles for another that it can merge with. */
static void test_merge_timer(void **state)
{
    static const uint32_t settings[3] = {TIMER_16, 5 << 13, TIMER_16 | DIS_ST_MERGE};
    uint64_t at[3];
    for (unsigned i = 0; i < 3; i++) {
        wg_device *dev = make(state);
        rv p = rv_at(0x1000);
        set_cfg0(&p, settings[i]);
        rv_li(&p, A0, OUT);
        rv_li(&p, A1, 2);
        unsigned loop = p.n; /* the second pass runs from the instruction cache */
        rv_sw(&p, A1, 0, A0);
        for (unsigned n = 0; n < 40; n++)
            rv_nop(&p);
        rv_addi(&p, A0, A0, 0x100);
        rv_addi(&p, A1, A1, -1);
        rv_bne(&p, A1, ZERO, loop);
        uint64_t stored = p.n + 1; /* instructions, with the second store */
        go(dev, WG_CORE_B, &p);
        wg_core_info info;
        do {
            wg_advance(dev, 1);
            assert_int_equal(wg_core_state(dev, WG_CORE_B, &info), WG_OK);
        } while (info.instructions < stored && wg_cycle(dev) < 5000);
        at[i] = 0 - wg_cycle(dev);
        at[i] += changes(dev, OUT + 0x100);
        wg_destroy(dev);
    }
    assert_int_equal(at[0] - at[2], 16);
    assert_int_equal(at[1] - at[2], 5);
}

/* Stores of a line that start within four bytes of each other merge into one write; others do not. */
static void test_what_merges(void **state)
{
    wg_device *dev = make(state);
    rv p = rv_at(0x1000);
    rv_li(&p, A0, OUT);
    rv_li(&p, A1, 7);
    rv_sw(&p, A1, 0, A0);
    rv_sw(&p, A1, 4, A0);
    rv_sw(&p, A1, 12, A0); /* eight bytes after the last one */
    go(dev, WG_CORE_B, &p);
    uint64_t first = changes(dev, OUT);
    assert_int_equal(word(dev, OUT + 4), 7);
    assert_int_equal(word(dev, OUT + 12), 0);
    assert_true(changes(dev, OUT + 12) >= first + 5); /* a separate write, after a narrow one */
    wg_destroy(dev);
}

/* While stores that can merge keep arriving, nothing leaves: "the number of cycles to wait after an L1 store". */
static void test_merging_without_end(void **state)
{
    for (unsigned fence = 0; fence < 2; fence++) {
        wg_device *dev = make(state);
        rv p = rv_at(0x1000);
        rv_li(&p, A0, OUT);
        unsigned loop = p.n;
        rv_addi(&p, A1, A1, 1);
        rv_sw(&p, A1, 0, A0);
        if (fence)
            rv_fence(&p);
        rv_bne(&p, A0, ZERO, loop);
        go(dev, WG_CORE_B, &p);
        wg_advance(dev, 20000);
        assert_true((word(dev, OUT) != 0) == fence);
        wg_destroy(dev);
    }
}

/* A load overtakes stores that wait in the queue: its value arrives before they are visible. */
static void test_loads_pass_stores(void **state)
{
    wg_device *dev = make(state);
    uint32_t there = 0x1234;
    assert_int_equal(wg_write(dev, OUT + 64, &there, 4), WG_OK);
    rv p = rv_at(0x1000);
    rv_li(&p, A0, OUT);
    rv_li(&p, A1, 7);
    rv_li(&p, A2, RAM);
    rv_sw(&p, A1, 0, A0);
    rv_lw(&p, A3, 64, A0);
    rv_addi(&p, A4, A3, 0);
    go(dev, WG_CORE_B, &p);
    uint32_t value = 0;
    while (!value && wg_cycle(dev) < 5000) {
        wg_advance(dev, 1);
        assert_int_equal(wg_peek(dev, WG_SPACE_CORE_X, A4, &value), WG_OK);
    }
    assert_int_equal(value, there);
    assert_int_equal(word(dev, OUT), 0);
    wg_advance(dev, 100);
    assert_int_equal(word(dev, OUT), 7);
    wg_destroy(dev);
}

/* A load of bytes that a queued store writes waits for it on Blackhole; on Wormhole only if the address is the same. */
static void test_loads_of_queued_bytes(void **state)
{
    wg_device *dev = make(state);
    rv p = rv_at(0x1000);
    rv_li(&p, A0, OUT);
    rv_li(&p, A1, 0x44332211);
    rv_sw(&p, A1, 0, A0);
    rv_lbu(&p, A2, 1, A0);
    rv_sw(&p, A1, 32, A0);
    rv_lw(&p, A3, 32, A0);
    go(dev, WG_CORE_B, &p);
    wg_advance(dev, 5000);
    uint32_t part, whole;
    wg_peek(dev, WG_SPACE_CORE_X, A2, &part);
    wg_peek(dev, WG_SPACE_CORE_X, A3, &whole);
    assert_int_equal(part, wg_test_arch(state) == WG_ARCH_BH ? 0x22 : 0);
    assert_int_equal(whole, 0x44332211);
    wg_destroy(dev);
}

/*
 * Polling without a fence: the L0 cache flushes itself now and then, unless configured otherwise; stale hits are
 * reported.
 */
static void test_periodic_flush(void **state)
{
    static const struct {
        uint32_t cfg0;
        bool sees, stale;
    } cases[] = {
        {TIMER_16, true, true}, {TIMER_16 | DIS_PERIODIC_FLUSH, false, true}, {TIMER_16 | DIS_LOW_CASH, true, false}};
    for (unsigned i = 0; i < 3; i++) {
        wg_device *dev = make(state);
        rv p = rv_at(0x1000);
        set_cfg0(&p, cases[i].cfg0);
        rv_li(&p, A0, OUT);
        rv_li(&p, A2, RAM);
        unsigned loop = p.n;
        rv_lw(&p, A1, 0, A0);
        rv_beq(&p, A1, ZERO, loop);
        rv_sw(&p, A1, 0, A2);
        go(dev, WG_CORE_B, &p);
        wg_advance(dev, 3000);
        uint32_t flag = 9;
        assert_int_equal(wg_write(dev, OUT, &flag, 4), WG_OK);
        wg_advance(dev, 2000);
        assert_int_equal(ram(dev, WG_CORE_B, 0), cases[i].sees ? 9 : 0);
        assert_true((found(dev, "core-stale-l0") != NULL) == cases[i].stale);
        wg_destroy(dev);
    }
}

/* About 0.8 % of requests: every 128th (the perturbed run draws with the same rate). */
static void test_flush_rate(void **state)
{
    enum { HITS = 128 * 40 };
    for (unsigned seed = 0; seed < 2; seed++) {
        wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .seed = seed};
        wg_device *dev = NULL;
        assert_int_equal(wg_create(&desc, &dev), WG_OK);
        rv p = rv_at(0x1000);
        rv_li(&p, A0, OUT);
        rv_li(&p, A1, HITS);
        unsigned loop = p.n;
        rv_lw(&p, A2, 0, A0);
        rv_add(&p, A3, A3, A2); /* the next load comes after the line has arrived */
        rv_addi(&p, A1, A1, -1);
        rv_bne(&p, A1, ZERO, loop);
        go(dev, WG_CORE_T0, &p);
        uint64_t before = dev->tile->regions.memory.emitted[WG_CORE_T0];
        wg_advance(dev, 40 * HITS);
        uint64_t misses = dev->tile->regions.memory.emitted[WG_CORE_T0] - before;
        if (seed)
            assert_in_range(misses, 15, 80); /* including some fetches */
        else
            assert_in_range(misses, 40, 46);
        wg_destroy(dev);
    }
}

/*
 * Own RAM when a core leaves reset: BH clears it, unless RISCV_DEBUG_REG_DISABLE_RESET forbids it; WH keeps it.
 * Registers are 0.
 */
static void test_ram_and_reset(void **state)
{
    static const uint8_t bit[WG_CORES] = {6, 8, 0, 2, 4};
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    for (unsigned core = 0; core < WG_CORES; core++)
        for (unsigned keep = 0; keep < 2; keep++) {
            wg_device *dev = make(state);
            uint32_t others = ~(1u << bit[core]), which = keep ? ~others : others;
            assert_int_equal(wg_write(dev, 0xFFB12224, &which, 4), WG_OK);
            rv p = rv_at(0x1000);
            rv_li(&p, A0, RAM);
            rv_li(&p, A1, OUT);
            rv_sw(&p, A5, 4, A1); /* 0 after each reset */
            rv_lw(&p, A2, 0, A0);
            rv_sw(&p, A2, 0, A1);
            rv_addi(&p, A2, A2, 1);
            rv_sw(&p, A2, 0, A0);
            rv_addi(&p, A5, A5, 9);
            go(dev, core, &p);
            for (unsigned start = 0; start < 3; start++) {
                wg_advance(dev, 3000);
                assert_int_equal(word(dev, OUT), !bh || keep ? start : 0);
                assert_int_equal(word(dev, OUT + 4), 0);
                assert_int_equal(wg_core_hold(dev, (wg_core_id)core), WG_OK);
                wg_advance(dev, 10);
                assert_int_equal(wg_core_release(dev, (wg_core_id)core, p.base), WG_OK);
            }
            wg_destroy(dev);
        }
}

/* `ebreak` parks only the core that executes it; the finding has its pc and word. */
static void test_ebreak(void **state)
{
    for (unsigned core = 0; core < WG_CORES; core++) {
        wg_device *dev = make(state);
        rv p = rv_at(0x1000), q = rv_at(0x2000);
        rv_li(&p, A0, OUT);
        rv_li(&p, A1, 1);
        rv_sw(&p, A1, 0, A0);
        uint32_t pc = p.base + 4 * p.n;
        rv_word(&p, 0x00100073);
        rv_sw(&p, A1, 4, A0);
        rv_li(&q, A0, OUT + 64);
        rv_li(&q, A1, 2000);
        unsigned loop = q.n;
        rv_sw(&q, A1, 0, A0);
        rv_addi(&q, A1, A1, -1);
        rv_bne(&q, A1, ZERO, loop);
        go(dev, core, &p);
        go(dev, (core + 1) % WG_CORES, &q);
        wg_stop stop;
        assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
        assert_int_equal(stop, WG_STOP_DONE);
        assert_int_equal(word(dev, OUT), 1);
        assert_int_equal(word(dev, OUT + 4), 0);
        assert_int_equal(word(dev, OUT + 64), 1);
        assert_int_equal(wg_finding_count(dev), 1);
        const wg_finding *f = found(dev, "core-ebreak");
        assert_non_null(f);
        assert_int_equal(f->agent, WG_AGENT_CORE_B + core);
        assert_int_equal(f->pc, pc);
        assert_int_equal(f->word, 0x00100073);
        wg_core_info info;
        assert_int_equal(wg_core_state(dev, (wg_core_id)core, &info), WG_OK);
        assert_true(info.parked);
        assert_int_equal(info.pc, pc + 4);
        wg_destroy(dev);
    }
}

/* Five cores count in one word with atomics: no increment is lost, and every old value is returned once. */
static void test_atomics(void **state)
{
    enum { PASSES = 50 };
    wg_device *dev = make(state);
    for (unsigned c = 0; c < WG_CORES; c++) {
        rv p = rv_at(0x1000 * (c + 1));
        rv_li(&p, A0, OUT);
        rv_li(&p, A1, 1);
        rv_li(&p, A2, PASSES);
        rv_li(&p, A4, OUT + 64 + 16 * c);
        unsigned loop = p.n;
        rv_word(&p, A1 << 20 | A0 << 15 | 2 << 12 | A3 << 7 | 0x2F); /* amoadd.w a3, a1, (a0) */
        rv_add(&p, A5, A5, A3);
        rv_addi(&p, A2, A2, -1);
        rv_bne(&p, A2, ZERO, loop);
        rv_sw(&p, A5, 0, A4);
        go(dev, c, &p);
    }
    wg_stop stop;
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    uint32_t n = WG_CORES * PASSES, sum = 0;
    for (unsigned c = 0; c < WG_CORES; c++)
        sum += word(dev, OUT + 64 + 16 * c);
    assert_int_equal(word(dev, OUT), n);
    assert_int_equal(sum, n * (n - 1) / 2);
    wg_destroy(dev);
}

/* Blackhole: every core's RAM through its slow address, and every core's pc. */
static void test_slow_ram_and_pc_snapshots(void **state)
{
    static const uint32_t slow[WG_CORES] = {0xFFB14000, 0xFFB16000, 0xFFB18000, 0xFFB1A000, 0xFFB1C000};
    wg_device *dev = make(state);
    for (unsigned c = 1; c < WG_CORES; c++) { /* they keep a word in their RAM and park */
        rv p = rv_at(0x1000 * (c + 1));
        rv_li(&p, A0, RAM);
        rv_li(&p, A1, 0x100 + c);
        rv_sw(&p, A1, 8, A0);
        go(dev, c, &p);
    }
    wg_advance(dev, 3000);
    rv p = rv_at(0x1000);
    rv_li(&p, A0, OUT);
    for (unsigned c = 1; c < WG_CORES; c++) {
        rv_li(&p, A1, slow[c]);
        rv_lw(&p, A2, 8, A1);
        rv_sw(&p, A2, 16 * (int)c, A0);
        rv_addi(&p, A2, A2, 0x100);
        rv_sw(&p, A2, 12, A1);
        rv_li(&p, A1, 0xFFB13138 + 4 * c);
        rv_lw(&p, A2, 0, A1);
        rv_sw(&p, A2, 256 + 16 * (int)c, A0);
    }
    go(dev, WG_CORE_B, &p);
    wg_advance(dev, 5000);
    for (unsigned c = 1; c < WG_CORES; c++) {
        wg_core_info info;
        assert_int_equal(wg_core_state(dev, (wg_core_id)c, &info), WG_OK);
        assert_int_equal(word(dev, OUT + 16 * c), 0x100 + c);
        assert_int_equal(ram(dev, c, 12), 0x200 + c);
        assert_int_equal(word(dev, OUT + 256 + 16 * c), info.pc);
    }
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

/* An unsupported instruction is an error that names the core, the pc and the word, on every core. */
static void test_unsupported_encodings(void **state)
{
    static const uint32_t bh[] = {0xFFFFFFFF, 0x18B576D3 /* fdiv.s */, 0x1005252F /* lr.w */, 0x02007053 /* fadd.d */};
    static const uint32_t wh[] = {0xFFFFFFFF, 0x00B525AF /* amoadd.w */, 0x20B52533 /* sh1add */,
                                  0xC0002573 /* rdcycle */};
    const uint32_t *words = wg_test_arch(state) == WG_ARCH_BH ? bh : wh;
    for (unsigned c = 0; c < WG_CORES; c++)
        for (unsigned i = 0; i < 4; i++) {
            wg_device *dev = make(state);
            rv p = rv_at(0x1000);
            rv_nop(&p);
            rv_word(&p, words[i]);
            go(dev, c, &p);
            wg_advance(dev, 200);
            const wg_finding *f = found(dev, "core-illegal-instruction");
            assert_non_null(f);
            assert_int_equal(f->agent, WG_AGENT_CORE_B + c);
            assert_int_equal(f->pc, 0x1004);
            assert_int_equal(f->word, words[i]);
            wg_destroy(dev);
        }
}

static const wg_test tests[] = {
    WG_TEST(test_merge_timer, WG_BH, ""),
    WG_TEST(test_what_merges, WG_BH, ""),
    WG_TEST(test_merging_without_end, WG_BH, ""),
    WG_TEST(test_loads_pass_stores, WG_BH, ""),
    WG_TEST(test_loads_of_queued_bytes, WG_BH | WG_WH, ""),
    WG_TEST(test_periodic_flush, WG_BH, ""),
    WG_TEST(test_flush_rate, WG_BH, ""),
    WG_TEST(test_ram_and_reset, WG_BH | WG_WH, ""),
    WG_TEST(test_ebreak, WG_BH | WG_WH, ""),
    WG_TEST(test_atomics, WG_BH, ""),
    WG_TEST(test_slow_ram_and_pc_snapshots, WG_BH, ""),
    WG_TEST(test_unsupported_encodings, WG_BH | WG_WH, ""),
};
WG_MAIN("core_memory", tests)
