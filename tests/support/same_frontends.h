/* SPDX-License-Identifier: Apache-2.0 */
/* Are the threads of two tiles at the same point, instruction for instruction? */
#ifndef SAME_FRONTENDS_H
#define SAME_FRONTENDS_H

#include "tile/tile.h"
#include "wgtest.h"

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

#endif
