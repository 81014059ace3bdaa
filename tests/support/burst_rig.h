/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the suites of bursts share: a device that skips and one that ticks everybody in every cycle do the same things at
 * random, and are in the same state wherever one looks.
 */
#ifndef BURST_RIG_H
#define BURST_RIG_H

#include "machine/device.h"
#include "wgtest.h"

#include <stdlib.h>

static wg_rng g;
static uint32_t below(uint32_t n) { return wg_rng_below(&g, n); }

/* The threads are at the same point, instruction for instruction. */
static void expect_same_frontends(const wg_tile *a, const wg_tile *b)
{
    for (unsigned i = 0; i < WG_THREADS; i++) {
        const wg_frontend *f = &a->frontend[i], *h = &b->frontend[i];
        assert_memory_equal(&f->free, &h->free, offsetof(wg_frontend, moved));
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
            assert_int_equal(f->down[k % WG_DOWN_RING], h->down[k % WG_DOWN_RING]);
            unsigned place = f->down[k % WG_DOWN_RING] & WG_E_PLACE;
            assert_memory_equal(&f->pool[place], &h->pool[place], sizeof f->pool[place]);
        }
        assert_int_equal(f->replay.play_left, h->replay.play_left);
        assert_int_equal(f->replay.play_at, h->replay.play_at);
        assert_int_equal(f->mop.i, h->mop.i);
        assert_int_equal(f->mop.j, h->mop.j);
    }
}

/* `act` does something by `g`, and lets cycles pass; WG_SOAK=N: a hundred times as many runs, others for each N. */
static void in_both_modes(void **state, unsigned runs, unsigned rounds, void (*act)(wg_device *dev, unsigned round),
                          void (*expect)(const wg_device *skips, const wg_device *ticks))
{
    const char *soak = getenv("WG_SOAK");
    const uint64_t other = soak ? strtoull(soak, NULL, 0) * 1000003 : 0;
    for (unsigned run = 0; run < (soak ? 100 * runs : runs); run++) {
        wg_device *dev[2];
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
