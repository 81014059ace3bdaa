/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Auto TTSync with real cores: T0 stores, loads and pushes; its thread's gate is held by a SEMWAIT until the host
 * posts. The values that the core and the thread see tell which was first. Wormhole runs the same programs with the
 * race (TTS-18).
 */
#include "rvasm.h"
#include "wgtest.h"

#include "report/findings.h"

enum {
    GPRS = 0xFFE00000u,
    CONFIG = 0xFFEF0000u,
    OUT = 0x3000,
    SEMWAIT_ALL = 0xA6000000u | 0x1FFu << 15 | 1u << 2 | 1, /* semaphore 0 is zero: everything waits */
    CONFIG_WORD = 70
};
static uint32_t setdmareg(unsigned reg, uint32_t low) { return 0x45000000u | low << 8 | reg * 2; }
static uint32_t adddmareg(unsigned to, unsigned a, unsigned b) { return 0x58000000u | to << 12 | b << 6 | a; }
static uint32_t wrcfg(unsigned reg, unsigned word) { return 0xB0000000u | reg << 16 | word; }

typedef struct outcome {
    uint32_t gpr4, gpr5, config, loaded;
    bool hole, memory_result;
} outcome;

/* Runs the program on T0 with GPR 4 = 11; the host posts semaphore 0 in cycle 600. */
static outcome run_seeded(void **state, rv *p, bool tracking, uint64_t seed)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .seed = seed};
    wg_device *dev = NULL;
    outcome o = {0};
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    wg_poke(dev, WG_SPACE_GPR, 4, 11);
    if (wg_test_arch(state) == WG_ARCH_BH)
        wg_poke(dev, WG_SPACE_THREAD_CONFIG, 56, tracking ? 31 : 0);
    rv_done(p);
    rv_load(dev, p);
    wg_core_release(dev, WG_CORE_T0, p->base);
    wg_advance(dev, 600);
    wg_poke(dev, WG_SPACE_SEM_VALUE, 0, 1);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 10000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    wg_peek(dev, WG_SPACE_GPR, 4, &o.gpr4);
    wg_peek(dev, WG_SPACE_GPR, 5, &o.gpr5);
    wg_peek(dev, WG_SPACE_CONFIG, CONFIG_WORD, &o.config);
    wg_read(dev, OUT, &o.loaded, 4);
    for (size_t i = 0; i < wg_finding_count(dev); i++) {
        o.hole |= wg_finding_at(dev, i)->code == WG_F_TTSYNC_LOAD_HOLE;
        o.memory_result |= wg_finding_at(dev, i)->code == WG_F_TTSYNC_MEMORY_RESULT;
    }
    wg_destroy(dev);
    return o;
}

static outcome run(void **state, rv *p, bool tracking) { return run_seeded(state, p, tracking, 0); }

static rv held_program(void)
{
    rv p = rv_at(0x8000);
    rv_tt(&p, SEMWAIT_ALL);
    rv_li(&p, A0, GPRS);
    rv_li(&p, A1, OUT);
    rv_li(&p, T0, 100);
    return p;
}

/* TTS-05: a reader pushed after a store sees the stored value, a writer's value is the final one. */
static void test_store_then_push(void **state)
{
    rv p = held_program();
    rv_sw(&p, T0, 16, A0);
    rv_tt(&p, adddmareg(5, 4, 4));
    rv_tt(&p, setdmareg(4, 7));
    outcome o = run(state, &p, true);
    assert_int_equal(o.gpr5, 200);
    assert_int_equal(o.gpr4, 7);
}

/* TTS-06: a store after a pushed reader waits until the reader has passed. */
static void test_push_then_store(void **state)
{
    for (unsigned tracking = 0; tracking < 2; tracking++) {
        rv p = held_program();
        rv_tt(&p, adddmareg(5, 4, 4));
        rv_sw(&p, T0, 16, A0);
        outcome o = run(state, &p, tracking);
        bool ordered = tracking && wg_test_arch(state) == WG_ARCH_BH;
        assert_int_equal(o.gpr5, ordered ? 22 : 200); /* else the store overtakes the instruction held at the gate */
        assert_int_equal(o.gpr4, 100);
    }
}

/* The same with configuration: the stored value is the final one. */
static void test_push_then_config_store(void **state)
{
    for (unsigned tracking = 0; tracking < 2; tracking++) {
        rv p = held_program();
        rv_tt(&p, wrcfg(4, CONFIG_WORD));
        rv_li(&p, A0, CONFIG + 4 * CONFIG_WORD);
        rv_sw(&p, T0, 0, A0);
        outcome o = run(state, &p, tracking);
        assert_int_equal(o.config, tracking && wg_test_arch(state) == WG_ARCH_BH ? 100 : 11);
    }
}

/* TTS-04: an instruction that writes waits until an earlier load has its value. */
static void test_load_then_push(void **state)
{
    rv p = held_program();
    rv_lw(&p, T1, 16, A0);
    rv_tt(&p, setdmareg(4, 7));
    rv_sw(&p, T1, 0, A1);
    outcome o = run(state, &p, true);
    assert_int_equal(o.loaded, 11);
    assert_int_equal(o.gpr4, 7);
}

/* TTS-07: after a fence the load waits for the pushed writer; without one it may overtake the push: reported. */
static void test_push_then_load(void **state)
{
    for (unsigned fence = 0; fence < 2; fence++)
        for (unsigned tracking = 0; tracking < 2; tracking++) {
            rv p = held_program();
            rv_tt(&p, setdmareg(4, 7));
            if (fence)
                rv_fence(&p);
            rv_lw(&p, T1, 16, A0);
            rv_sw(&p, T1, 0, A1);
            outcome o = run(state, &p, tracking);
            bool bh = wg_test_arch(state) == WG_ARCH_BH;
            assert_int_equal(o.loaded, bh && tracking && fence ? 7 : 11);
            assert_int_equal(o.hole, bh && tracking && !fence);
            assert_int_equal(o.gpr4, 7);
        }
}

/* ---- TTS-21: the outcome, not only the order at the gate -------------------------------------------- */

enum { DELAYS = 12, SEEDS = 20, OLD = 11, STORED = 100, SEMGET_0 = 0xA5000000u | 1u << 2 };
#define ALU(opcode, mode) \
    ((uint32_t)(opcode) << 24 | 1u << 23 | (mode) << 18 | 4u << 12 | 3u << 6 | 4u) /* GPR 4 and 3 */
#define REPLAY_OF(count, record) (0x04000000u | (count) << 4 | (record)*3u)

/* Writers of GPR 4, which holds 11, with a bounded execution; RDCFG's word of configuration is 0. */
static const struct writer {
    uint32_t word, result;
} writers[] = {
    {ALU(0x58, 0u), 14},                       /* ADDDMAREG */
    {ALU(0x59, 0u), 8},                        /* SUBDMAREG */
    {ALU(0x5A, 0u), 33},                       /* MULDMAREG */
    {ALU(0x5B, 2u), 8},                        /* BITWOPDMAREG: exclusive or */
    {ALU(0x5C, 0u), 88},                       /* SHIFTDMAREG */
    {ALU(0x5D, 0u), 1},                        /* CMPDMAREG: greater */
    {0x45000000u | 7u << 8 | 8u, 7},           /* SETDMAREG */
    {0xB1000000u | 4u << 16 | CONFIG_WORD, 0}, /* RDCFG */
};
enum { WRITERS = sizeof writers / sizeof *writers };

/*
 * The writer alone, between waits for the semaphore so that it passes late, or from the Replay Expander followed by
 * NOPs.
 */
static void push_writer(rv *p, uint32_t word, bool replayed)
{
    if (replayed) {
        rv_tt(p, REPLAY_OF(3u, 1u));
        rv_tt(p, word);
        rv_tt(p, 0x02000000);
        rv_tt(p, 0x02000000);
    } else {
        rv_tt(p, word);
    }
}

/* A load after push and fence sees the result; a store after the push is final; at every distance, under every seed. */
static void bounded_writer(void **state, bool store, bool replayed)
{
    for (unsigned w = 0; w < WRITERS; w++)
        for (unsigned run = 0; run < 2 * DELAYS + SEEDS; run++) {
            unsigned delay = run < 2 * DELAYS ? run / 2 : run % DELAYS, held = run & 1;
            rv p = rv_at(0x8000);
            rv_li(&p, A0, GPRS);
            rv_li(&p, A1, OUT);
            rv_li(&p, T0, STORED);
            if (held)
                rv_tt(&p, SEMWAIT_ALL);
            push_writer(&p, writers[w].word, replayed);
            for (unsigned i = 0; i < delay; i++)
                rv_nop(&p);
            if (store) {
                rv_sw(&p, T0, 16, A0);
            } else {
                rv_fence(&p);
                rv_lw(&p, T1, 16, A0);
                rv_sw(&p, T1, 0, A1);
            }
            outcome o = run_seeded(state, &p, true, run < 2 * DELAYS ? 0 : run);
            assert_int_equal(store ? o.gpr4 : o.loaded, store ? STORED : writers[w].result);
            assert_false(o.memory_result);
        }
}

static void test_load_sees_the_result(void **state) { bounded_writer(state, false, false); }
static void test_store_is_final(void **state) { bounded_writer(state, true, false); }
static void test_load_sees_a_replayed_result(void **state) { bounded_writer(state, false, true); }
static void test_store_behind_a_replay_is_final(void **state) { bounded_writer(state, true, true); }

/*
 * Results from memory arrive after the instruction is complete: the load sees the old value, which a finding reports.
 */
static void test_memory_results_are_not_covered(void **state)
{
    static const uint32_t from_memory[] = {
        0x49000000u | 1u << 22 | 4u << 6 | 0u,  /* LOADIND of 4 bytes at 16 * GPR 0 into GPR 4 */
        0x68000000u | 4u << 18 | 0u,            /* LOADREG into GPR 4 */
        0x61000000u | 15u << 14 | 4u << 6 | 0u, /* ATINCGET of a 16-bit counter, by and into GPR 4 */
    };
    for (unsigned i = 0; i < sizeof from_memory / sizeof *from_memory; i++) {
        rv p = held_program();
        rv_tt(&p, from_memory[i]);
        rv_fence(&p);
        rv_lw(&p, T1, 16, A0);
        rv_sw(&p, T1, 0, A1);
        outcome o = run(state, &p, true);
        assert_int_equal(o.loaded, OLD);
        assert_true(o.memory_result);
    }
}

/* TTS-22: a class declared to touch everything only adds stalls; every outcome stays the same. */
static void test_declaring_more_is_safe(void **state)
{
    for (unsigned class = 0; class < 16; class ++)
        for (unsigned declared = 0; declared < 2; declared++) {
            rv p = rv_at(0x8000);
            rv_li(&p, A0, GPRS);
            rv_li(&p, A1, OUT);
            rv_li(&p, A2, CONFIG + 4 * CONFIG_WORD);
            rv_li(&p, T0, STORED);
            if (declared)
                rv_tt(&p, 0x05000000u | 1u << 13 | 0x1FFu << 4 | class);
            rv_tt(&p, SEMWAIT_ALL);
            rv_tt(&p, adddmareg(5, 4, 4));
            rv_sw(&p, T0, 16, A0);
            rv_tt(&p, wrcfg(5, CONFIG_WORD));
            rv_tt(&p, 0x02000000);
            rv_tt(&p, SEMGET_0);
            rv_fence(&p);
            rv_lw(&p, T1, 0, A2);
            rv_sw(&p, T1, 0, A1);
            outcome o = run(state, &p, true);
            assert_int_equal(o.gpr4, STORED);
            assert_int_equal(o.gpr5, 2 * OLD);
            assert_int_equal(o.config, 2 * OLD);
            assert_int_equal(o.loaded, 2 * OLD);
        }
}

static const wg_test tests[] = {
    WG_TEST(test_load_sees_the_result, WG_BH, "TTS-21 TTS-07"),
    WG_TEST(test_store_is_final, WG_BH, "TTS-21 TTS-06"),
    WG_TEST(test_load_sees_a_replayed_result, WG_BH, "TTS-21 TTS-09"),
    WG_TEST(test_store_behind_a_replay_is_final, WG_BH, "TTS-21 TTS-09"),
    WG_TEST(test_memory_results_are_not_covered, WG_BH, "TTS-21"),
    WG_TEST(test_declaring_more_is_safe, WG_BH, "TTS-22"),
    WG_TEST(test_load_then_push, WG_BH, "TTS-04"),
    WG_TEST(test_store_then_push, WG_BH, "TTS-05"),
    WG_TEST(test_push_then_store, WG_BH, "TTS-06"),
    WG_TEST(test_push_then_config_store, WG_BH, "TTS-06"),
    WG_TEST(test_push_then_load, WG_BH, "TTS-07"),
    WG_TEST(test_push_then_store, WG_WH, "TTS-18"),
    WG_TEST(test_push_then_config_store, WG_WH, "TTS-18"),
};
WG_MAIN("ttsync_cores", tests)
