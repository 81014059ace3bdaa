/* SPDX-License-Identifier: Apache-2.0 */
/* Polling by arithmetic: exact, fast, and a polling hang is recognised (time.md rules 10 and 11). */
#include <time.h>
#include "machine/fast.h"
#include "rvasm.h"
#include "wgtest.h"

enum { FLAG = 0x3000, RESULT = 0x3100 };

static wg_device *make(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

/* Each of the first `cores` cores polls the flag, core c with c * more further instructions, then stores and parks. */
static void boot(wg_device *dev, unsigned cores, bool fence, unsigned more)
{
    for (unsigned c = 0; c < cores; c++) {
        rv p = rv_at(0x8000 + 0x1000 * c);
        rv_li(&p, A0, FLAG);
        rv_li(&p, A1, RESULT + 16 * c);
        unsigned loop = p.n;
        if (fence)
            rv_fence(&p);
        for (unsigned i = 0; i < c * more; i++)
            rv_nop(&p);
        rv_lw(&p, T0, 0, A0);
        rv_beq(&p, T0, ZERO, loop);
        rv_sw(&p, T0, 0, A1);
        rv_done(&p);
        rv_load(dev, &p);
        assert_int_equal(wg_core_release(dev, (wg_core_id)c, p.base), WG_OK);
    }
}

static void ignore(void *user, const wg_event *e) { (void)user, (void)e; }

/* The same run with every step simulated (an observer of retirements forbids skipping) and with rounds skipped. */
static void test_skipping_is_exact(void **state)
{
    for (unsigned cores = 1; cores <= 5; cores++) {
        for (unsigned fence = 0; fence < 2; fence++) {
            wg_device *watched = make(wg_test_arch(state)), *quick = make(wg_test_arch(state));
            assert_int_equal(wg_observe(watched, WG_EV_BIT(WG_EV_CORE_RETIRE), ignore, NULL, NULL), WG_OK);
            boot(watched, cores, fence, 1);
            boot(quick, cores, fence, 1);
            uint64_t wait = 30000 + 7 * cores + fence;
            wg_advance(watched, wait);
            wg_advance(quick, wait);
            assert_true(wg_state_hash(watched) == wg_state_hash(quick));
            uint32_t go = 42;
            assert_int_equal(wg_write(watched, FLAG, &go, 4), WG_OK);
            assert_int_equal(wg_write(quick, FLAG, &go, 4), WG_OK);
            wg_stop a, b;
            assert_int_equal(wg_run(watched, 100000, &a), WG_OK);
            assert_int_equal(wg_run(quick, 100000, &b), WG_OK);
            assert_int_equal(a, WG_STOP_DONE);
            assert_int_equal(b, WG_STOP_DONE);
            assert_true(wg_cycle(watched) == wg_cycle(quick));
            assert_true(wg_state_hash(watched) == wg_state_hash(quick));
            for (unsigned c = 0; c < cores; c++) {
                wg_core_info x, y;
                wg_core_state(watched, (wg_core_id)c, &x);
                wg_core_state(quick, (wg_core_id)c, &y);
                assert_true(x.instructions == y.instructions);
            }
            wg_destroy(watched);
            wg_destroy(quick);
        }
    }
}

static void counts(void *user, const wg_event *e)
{
    (void)e;
    ++*(unsigned *)user;
}

/* Whatever events are observed, no round is skipped that would contain one. */
static void test_observers_see_every_round(void **state)
{
    unsigned some = 0;
    for (unsigned kind = 0; kind < WG_EV_COUNT; kind++) {
        unsigned seen[2] = {0};
        for (unsigned lockstep = 0; lockstep < 2; lockstep++) {
            wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .lockstep = lockstep};
            wg_device *dev = NULL;
            assert_int_equal(wg_create(&desc, &dev), WG_OK);
            assert_int_equal(wg_observe(dev, WG_EV_BIT(kind), counts, &seen[lockstep], NULL), WG_OK);
            boot(dev, 2, true, 1);
            wg_advance(dev, 30000);
            wg_destroy(dev);
        }
        if (seen[0] != seen[1])
            fail_msg("%s: %u events, %u in lockstep", wg_event_name(kind), seen[0], seen[1]);
        some += seen[0] > 1000;
    }
    assert_true(some >= 5); /* requests, responses, retirement, fences, touches */
}

/* The plain machine runs every round, so fewer must suffice. */
enum { BILLION = WG_FAST ? 1000000000 : 1000000 };

static void test_a_billion_cycles(void **state)
{
    for (unsigned fence = 0; fence < 2; fence++) {
        wg_device *dev = make(wg_test_arch(state));
        boot(dev, 5, fence, 0);
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        wg_advance(dev, BILLION);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
        print_message("five cores polling%s: %.1f ms\n", fence ? " with a fence" : "", ms);
        assert_true(ms < 2000);
        assert_true(wg_cycle(dev) == BILLION);
        wg_destroy(dev);
    }
}

static void test_polling_hang(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    boot(dev, 2, true, 1);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 1000000000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_HUNG);
    assert_true(wg_cycle(dev) < 100000);
    wg_destroy(dev);
}

/* A perturbed run does not search for polling loops; once it is no longer perturbed, it does again. */
static void test_hang_behind_a_perturbation(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    boot(dev, 2, true, 1);
    wg_stop stop;
    assert_int_equal(wg_perturb_with(dev, 5, NULL, 0), WG_OK);
    assert_int_equal(wg_run(dev, 10000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_CYCLES);
    assert_int_equal(wg_perturb_with(dev, 0, NULL, 0), WG_OK);
    assert_int_equal(wg_run(dev, 1000000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_HUNG);
    wg_destroy(dev);
}

/* A loop that reads the wall clock ends by itself. */
static void test_time_is_no_polling(void **state)
{
    wg_device *dev = make(wg_test_arch(state));
    rv p = rv_at(0x8000);
    rv_li(&p, A0, 0xFFB121F0);
    rv_li(&p, A1, 1 << 17);
    unsigned loop = p.n;
    rv_lw(&p, T0, 0, A0);
    rv_word(&p, A1 << 20 | T0 << 15 | 7 << 12 | T0 << 7 | 0x33); /* and t0, t0, a1 */
    rv_beq(&p, T0, ZERO, loop);
    rv_done(&p);
    rv_load(dev, &p);
    wg_core_release(dev, WG_CORE_B, p.base);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 1000000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    assert_true(wg_cycle(dev) >= 1 << 17 && wg_cycle(dev) < (1 << 17) + 100);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_observers_see_every_round, WG_BH | WG_WH, ""),  WG_TEST(test_skipping_is_exact, WG_BH | WG_WH, ""),
    WG_TEST(test_a_billion_cycles, WG_BH | WG_WH, ""),           WG_TEST(test_polling_hang, WG_BH | WG_WH, ""),
    WG_TEST(test_hang_behind_a_perturbation, WG_BH | WG_WH, ""), WG_TEST(test_time_is_no_polling, WG_BH | WG_WH, ""),
};
WG_MAIN("poll", tests)
