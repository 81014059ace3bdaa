/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycle: phases A to J of time.md, consumers before producers, so that an item moves one stage
 * per cycle and a slot freed in a cycle can be refilled in it. Agents that are not due are skipped;
 * in lockstep mode every agent is ticked in every cycle, with the same result.
 */
#include "machine/tile.h"

#include <stdlib.h>
#include <string.h>

#include "engine/cycle.h"
#include "machine/device.h"
#include "machine/fast.h"

void wg_tile_look_through(wg_schedule *s)
{
    uint64_t first = WG_NEVER;
    uint32_t some = s->soon | s->far;
    for (uint32_t mask = some; mask; mask &= mask - 1) {
        uint64_t at = s->next[__builtin_ctz(mask)];
        first = at < first ? at : first;
    }
    uint64_t near = (first > s->now ? first : s->now) + WG_SCHED_NEAR;
    s->later = WG_NEVER;
    s->soon = s->far = 0;
    for (; some; some &= some - 1) {
        uint64_t at = s->next[__builtin_ctz(some)];
        if (at <= near) {
            s->soon |= some & -some;
        } else if (at != WG_NEVER) {
            s->far |= some & -some;
            s->later = at < s->later ? at : s->later;
        }
    }
}

/* Phases A and B. */
static void before_regions(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    s->phase = WG_PHASE_ARRIVALS;
    if (wg_soon(t, WG_OUTSIDE_BITS)) {
        if (wg_take(t, WG_AGENT_HOST))
            wg_windows_arrivals(t);
        if (wg_take(t, WG_AGENT_LINK) && t->link)
            wg_eth_link_tick(t);
        for (unsigned noc = 0; noc < 2; noc++)
            if (wg_take(t, WG_AGENT_NIU0 + noc) && t->box) /* a unit test's tile may have none */
                wg_niu_tick(t, noc);
    }
    s->phase = WG_PHASE_COMPLETIONS;
    for (uint32_t mask = wg_soon(t, WG_UNITS_BITS); mask;
         mask &= mask - 1) /* no unit's tick makes another unit due in this cycle */
        wg_tile_tick(t, (unsigned)__builtin_ctz(mask));
}

void wg_tile_cycle(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    if (s->now >= s->later)
        wg_tile_look_through(s);
    if (wg_soon(t, WG_OUTSIDE_BITS | WG_UNITS_BITS))
        before_regions(t);
    wg_tile_from_regions(t);
}

void wg_tile_cycles(wg_tile *t, uint64_t end)
{
    wg_tile_cycle(t);
    wg_fast_pipeline(t, end);
}

uint64_t wg_tile_next(const wg_tile *t)
{
    const wg_schedule *s = &t->sched;
    for (uint32_t mask = s->soon; mask; mask &= mask - 1)
        if (s->next[__builtin_ctz(mask)] <= s->now)
            return s->now;
    uint64_t next = WG_NEVER;
    for (uint32_t mask = s->soon | s->far; mask; mask &= mask - 1) {
        const uint64_t at = s->next[__builtin_ctz(mask)];
        next = at < next ? at : next;
    }
    return next > s->now ? next : s->now;
}

uint64_t wg_tile_progress(const wg_tile *t)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        const wg_frontend *f = &t->frontend[i];
        sum = sum * 31 + f->next_id + f->down_head + ((uint64_t)f->gate_end << 8) + ((uint64_t)f->fifo_head << 16) +
              ((uint64_t)f->down_end << 24) + ((uint64_t)f->mop_active << 32);
    }
    for (unsigned core = 0; core < WG_CORES; core++)
        for (unsigned queue = 0; queue < WG_REQUEST_QUEUES; queue++)
            sum = sum * 31 + t->regions.memory.queue[core][queue].head + t->regions.memory.queue[core][queue].count;
    return sum;
}

wg_tile *wg_tile_new(void)
{
    wg_tile *t = aligned_alloc(_Alignof(wg_tile), sizeof *t);
    if (t)
        memset(t, 0, sizeof *t);
    return t;
}

void wg_tile_reset(wg_tile *t)
{
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        t->sched.next[i] = WG_NEVER;
    for (unsigned unit = WG_UNIT_SYNC; unit < WG_UNIT_COUNT; unit++)
        wg_units[unit]->reset(t);
    wg_regions_reset(t);
    for (unsigned i = 0; i < WG_THREADS; i++)
        wg_frontend_reset(t, i);
    for (unsigned i = 0; i < WG_CORES; i++)
        wg_core_reset(t, i);
}
