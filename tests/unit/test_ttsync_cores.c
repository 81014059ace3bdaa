/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Auto TTSync with real cores: T0 stores, loads and pushes; its thread's gate is held by a SEMWAIT until the host
 * posts. What the core and the thread see tells who was first. Wormhole runs the same programs with the race (TTS-18).
 */
#include "rvasm.h"
#include "wgtest.h"

#include "explain/findings.h"

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
    bool hole;
} outcome;

/* Runs the program on T0 with GPR 4 = 11; the host posts semaphore 0 in cycle 600. */
static outcome run(void **state, rv *p, bool tracking)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
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
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        o.hole |= wg_finding_at(dev, i)->code == WG_F_TTSYNC_LOAD_HOLE;
    wg_destroy(dev);
    return o;
}

static rv held_program(void)
{
    rv p = rv_at(0x8000);
    rv_tt(&p, SEMWAIT_ALL);
    rv_li(&p, A0, GPRS);
    rv_li(&p, A1, OUT);
    rv_li(&p, T0, 100);
    return p;
}

/* TTS-05: a reader pushed behind a store sees the stored value, a writer's value is the final one. */
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

/* TTS-06: a store behind a pushed reader waits until it has passed. */
static void test_push_then_store(void **state)
{
    for (unsigned tracking = 0; tracking < 2; tracking++) {
        rv p = held_program();
        rv_tt(&p, adddmareg(5, 4, 4));
        rv_sw(&p, T0, 16, A0);
        outcome o = run(state, &p, tracking);
        bool ordered = tracking && wg_test_arch(state) == WG_ARCH_BH;
        assert_int_equal(o.gpr5, ordered ? 22 : 200); /* else the store overtakes what waits at the gate */
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

/* TTS-07: behind a fence the load waits for the pushed writer; without one it may overtake the push: reported. */
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

static const wg_test tests[] = {
    WG_TEST(test_load_then_push, WG_BH, "TTS-04"),         WG_TEST(test_store_then_push, WG_BH, "TTS-05"),
    WG_TEST(test_push_then_store, WG_BH, "TTS-06"),        WG_TEST(test_push_then_config_store, WG_BH, "TTS-06"),
    WG_TEST(test_push_then_load, WG_BH, "TTS-07"),         WG_TEST(test_push_then_store, WG_WH, "TTS-18"),
    WG_TEST(test_push_then_config_store, WG_WH, "TTS-18"),
};
WG_MAIN("ttsync_cores", tests)
