/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of cores that store, poll, push and wait for each other: every cycle of every core and thread has one
 * reason, and the sums equal a cycle-by-cycle count over the event stream; in both ways of running.
 */
#include "rvasm.h"
#include "wgtest.h"

#include "observe/sinks.h"

enum { CYCLES = 6000, PUSH = 0xFFE40000u, SEMAPHORES = 0xFFE80020u, DRAIN = 0xFFE80004u, MAILBOX = 0xFFEC0000u };

typedef struct seen {
    uint8_t doing[WG_AGENT_THREAD2 + 1][CYCLES]; /* per cycle, + 1; 0: as in the previous cycle, or nothing */
    uint8_t now[WG_AGENT_THREAD2 + 1];           /* its current activity */
    uint64_t units[WG_TRACKS];                   /* instructions accepted */
} seen;

/* From this cycle on. */
static void set(seen *s, unsigned agent, uint64_t cycle, unsigned doing)
{
    assert_true(cycle < CYCLES);
    s->doing[agent][cycle] = (uint8_t)(doing + 1);
    s->now[agent] = (uint8_t)doing;
}

static void count(void *user, const wg_event *e)
{
    seen *s = user;
    bool core = e->agent <= WG_AGENT_CORE_T2, thread = !core && e->agent <= WG_AGENT_THREAD2;
    if (e->kind == WG_EV_ISSUED && e->b < WG_TRACKS)
        s->units[e->b]++;
    if (!core && !thread)
        return;
    unsigned rest = core ? WG_DOING_WORK : WG_DOING_IDLE;
    switch (e->kind) {
    case WG_EV_CORE_STATE:
        set(s, e->agent, e->cycle, e->a == 0 ? WG_DOING_RESET : e->a == 2 ? WG_DOING_PARKED : WG_DOING_WORK);
        break;
    case WG_EV_STALL_BEGIN:
        if (e->stall.reason != WG_STALL_FIFO_FULL || core)
            set(s, e->agent, e->cycle,
                e->stall.reason == WG_STALL_CORE_PARKED ? WG_DOING_PARKED : WG_DOING_STALL + e->stall.reason);
        break;
    case WG_EV_STALL_END:
        if (e->stall.reason != WG_STALL_FIFO_FULL &&
            s->now[e->agent] >= WG_DOING_STALL) /* else it stopped altogether */
            set(s, e->agent, e->cycle, rest);
        break;
    case WG_EV_ISSUED:
        set(s, e->agent, e->cycle, WG_DOING_WORK);
        if (!s->doing[e->agent][e->cycle + 1])
            set(s, e->agent, e->cycle + 1, rest);
        break;
    default: break;
    }
}

static void program(wg_device *dev, unsigned core)
{
    rv p = rv_at(0x8000 + 0x1000 * core);
    if (core == WG_CORE_B) { /* wakes T2 by its mailbox, polls what T0 writes */
        rv_store(&p, MAILBOX + 0x3000, 5);
        rv_li(&p, A0, 0x3000);
        unsigned poll = p.n;
        rv_lw(&p, T0, 0, A0);
        rv_beq(&p, T0, ZERO, poll);
        rv_store(&p, 0x3010, 1);
    } else if (core == WG_CORE_T0) { /* polls a semaphore, then writes */
        rv_li(&p, A0, SEMAPHORES);
        unsigned poll = p.n;
        rv_lw(&p, T0, 0, A0);
        rv_beq(&p, T0, ZERO, poll);
        rv_store(&p, 0x3000, 1);
    } else if (core == WG_CORE_T1) { /* fills its FIFO after waits, posts the semaphore, drains */
        for (unsigned i = 0; i < 60; i++)
            rv_tt(&p, i % 5 == 0   ? 0x58000000u
                      : i % 7 == 0 ? 0xA2000000u | 0x1FFu << 15 | 1
                      : i % 3      ? 0x02000000u
                                   : 0x8F000000u);
        rv_tt(&p, 0xA4000004u);
        rv_store(&p, DRAIN, 0);
        rv_li(&p, A0, DRAIN);
        rv_lw(&p, T0, 0, A0);
        rv_add(&p, T0, T0, T0);
    } else { /* waits for B's word, pushes to the unit that T1 uses */
        rv_li(&p, A0, MAILBOX);
        rv_lw(&p, T0, 0, A0);
        rv_add(&p, T0, T0, T0);
        for (unsigned i = 0; i < 40; i++)
            rv_tt(&p, i % 2 ? 0x8F000000u : 0x58000000u);
    }
    rv_done(&p);
    rv_load(dev, &p);
    wg_core_release(dev, (wg_core_id)core, p.base);
}

static void run(void **state, bool lockstep, wg_stats *stats, seen *s)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .lockstep = lockstep};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i <= WG_AGENT_THREAD2; i++)
        set(s, i, 0, i <= WG_AGENT_CORE_T2 ? WG_DOING_RESET : WG_DOING_IDLE);
    wg_stats_begin(stats, 0, 31, wg_test_arch(state), WG_PROFILE_SILICON);
    assert_int_equal(wg_observe(dev, WG_EV_ALL, wg_stats_event, stats, NULL), WG_OK);
    assert_int_equal(wg_observe(dev, WG_EV_ALL, count, s, NULL), WG_OK);
    static const uint8_t cores[] = {WG_CORE_B, WG_CORE_T0, WG_CORE_T1, WG_CORE_T2};
    for (unsigned i = 0; i < 4; i++)
        program(dev, cores[i]);
    wg_stop stop;
    assert_int_equal(wg_run(dev, CYCLES - 2, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    wg_stats_end(stats, wg_cycle(dev));
    wg_destroy(dev);
}

static void test_every_cycle_has_one_reason(void **state)
{
    static wg_stats stats[2];
    static seen s;
    for (unsigned lockstep = 0; lockstep < 2; lockstep++) {
        wg_stats *got = &stats[lockstep];
        run(state, lockstep, got, &s);
        uint64_t length = got->to - got->from;
        assert_true(length > 100);
        for (unsigned track = 0; track <= WG_AGENT_THREAD2; track++) {
            uint64_t sum = 0, wanted[WG_DOINGS] = {0};
            unsigned doing = 0;
            for (uint64_t c = 0; c < length; c++) {
                doing = s.doing[track][c] ? s.doing[track][c] - 1u : doing;
                wanted[doing]++;
            }
            for (unsigned i = 0; i < WG_DOINGS; i++) {
                sum += got->cycles[track][i];
                if (got->cycles[track][i] != wanted[i])
                    fail_msg("%s: %llu cycles of doing %u, counted %llu", wg_agent_name(track),
                             (unsigned long long)got->cycles[track][i], i, (unsigned long long)wanted[i]);
            }
            assert_int_equal(sum, length);
            assert_int_equal(got->cycles[track][WG_DOING_STALL + WG_STALL_NONE], 0); /* no "other" */
        }
        for (unsigned track = WG_AGENT_SYNC; track < WG_TRACKS; track++) { /* utilisation */
            uint64_t sum = 0;
            for (unsigned i = 0; i < WG_DOINGS; i++)
                sum += got->cycles[track][i];
            assert_int_equal(sum, length);
            assert_int_equal(got->issued[track], s.units[track]);
            assert_int_equal(got->cycles[track][WG_DOING_WORK] != 0, s.units[track] != 0);
        }
        assert_true(got->cycles[WG_AGENT_THREAD1][WG_DOING_STALL + WG_STALL_SCALAR_EXECUTING] > 0);
        assert_true(got->cycles[WG_AGENT_CORE_T2][WG_DOING_STALL + WG_STALL_MAILBOX_EMPTY] > 0 ||
                    got->cycles[WG_AGENT_CORE_T2][WG_DOING_STALL + WG_STALL_LOAD_RESPONSE] > 0);
    }
    assert_memory_equal(stats[0].cycles, stats[1].cycles, sizeof stats[0].cycles);
}

static const wg_test tests[] = {
    WG_TEST(test_every_cycle_has_one_reason, WG_BH | WG_WH, ""),
};
WG_MAIN("stats", tests)
