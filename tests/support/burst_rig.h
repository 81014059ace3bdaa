/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the suites of bursts: a device that skips cycles and one in lockstep execute the same random actions and
 * must be in the same state at every check.
 */
#ifndef BURST_RIG_H
#define BURST_RIG_H

#include <stdio.h>

#include "machine/device.h"
#include "machine/fast.h"
#include "wgtest.h"

#include <stdlib.h>

static wg_rng g;
static uint32_t below(uint32_t n) { return wg_rng_below(&g, n); }

/* The threads are at the same point, instruction for instruction. */
static void expect_same_frontends(const wg_tile *skips, const wg_tile *ticks)
{
    for (unsigned i = 0; i < WG_THREADS; i++) {
        const wg_frontend *f = &skips->frontend[i], *h = &ticks->frontend[i];
        assert_int_equal(f->down_head, h->down_head);
        assert_int_equal(f->gate_end, h->gate_end);
        assert_int_equal(__builtin_popcountll(f->free), __builtin_popcountll(h->free));
        assert_int_equal(f->down_end, h->down_end);
        assert_int_equal(f->fifo_count, h->fifo_count);
        assert_int_equal(f->next_id, h->next_id);
        assert_int_equal(f->stalled, h->stalled);
        if (f->stalled) {
            assert_int_equal(f->stall.reason, h->stall.reason);
            assert_int_equal(f->stall.resource, h->stall.resource);
            assert_int_equal(f->stalled_since, h->stalled_since);
        }
        for (uint8_t k = f->down_head; k != f->down_end; k++) {
            unsigned a = f->down[k % WG_DOWN_RING], b = h->down[k % WG_DOWN_RING]; /* at any positions */
            assert_int_equal(a & ~(unsigned)WG_E_PLACE, b & ~(unsigned)WG_E_PLACE);
            assert_memory_equal(&f->pool[a & WG_E_PLACE], &h->pool[b & WG_E_PLACE], sizeof(wg_insn));
        }
        assert_int_equal(f->replay.play_left, h->replay.play_left);
        assert_int_equal(f->replay.play_at, h->replay.play_at);
        assert_int_equal(f->mop.i, h->mop.i);
        assert_int_equal(f->mop.j, h->mop.j);
    }
}

/* At least `bursts` bursts, and at most `cycles` cycles of threads outside them. */
__attribute__((unused)) static void expect_bursts(const wg_tile *t, uint64_t bursts, uint64_t cycles)
{
    print_message("%llu bursts, %llu other cycles\n", (unsigned long long)t->fast_uses[WG_FAST_BURSTS],
                  (unsigned long long)t->fast_uses[WG_FAST_FRONTENDS]);
    assert_true(t->fast_uses[WG_FAST_BURSTS] >= bursts);
    assert_true(t->fast_uses[WG_FAST_FRONTENDS] <= cycles);
}

/*
 * `act` performs a random action drawn from `g` and advances time. WG_SOAK=N: a hundred times as many runs, with a
 * different set for each N.
 */
static void in_both_modes(void **state, unsigned runs, unsigned rounds, void (*act)(wg_device *dev, unsigned round),
                          void (*expect)(const wg_device *skips, const wg_device *ticks))
{
    const char *soak = getenv("WG_SOAK");
    const uint64_t other = soak ? strtoull(soak, NULL, 0) * 1000003 : 0;
    const uint64_t first = wg_test_first(), end = first + wg_test_count(wg_test_rounds(runs, 100 * runs));
    char again[80];
    for (uint64_t run = first; run < end; run++) {
        wg_device *dev[2];
        snprintf(again, sizeof again, "WG_SOAK=%s WG_RANDOM_FIRST=%llu WG_RANDOM_PROGRAMS=1", soak ? soak : "0",
                 (unsigned long long)run);
        for (unsigned k = 0; k < 2; k++) {
            wg_device_desc desc = {.struct_size = sizeof desc,
                                   .arch = wg_test_arch(state),
                                   .profile = run & 1 ? WG_PROFILE_SILICON : WG_PROFILE_DOCUMENTED,
                                   .lockstep = k == 1};
            assert_int_equal(wg_create(&desc, &dev[k]), WG_OK);
        }
        g.s = other + run + 5;
        for (unsigned round = 0; round < rounds; round++) {
            wg_rng same = g;
            wg_test_at(again, "run %llu, round %u, cycle %llu", (unsigned long long)run, round,
                       (unsigned long long)dev[0]->tile->sched.now);
            for (unsigned k = 0; k < 2; k++) {
                g = same;
                act(dev[k], round);
            }
            assert_int_equal(dev[0]->tile->sched.now, dev[1]->tile->sched.now);
            expect_same_frontends(dev[0]->tile, dev[1]->tile);
            expect(dev[0], dev[1]);
        }
        for (unsigned k = 0; k < 2; k++)
            wg_destroy(dev[k]);
    }
}

#endif
