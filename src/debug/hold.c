/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores that are held while one agent moves on alone. Holds are part of the run's history: replaying repeats each in the cycle
 * in which it began. An entry of the list lasts until the next one.
 */
#include "debug/debug.h"

#include <stdlib.h>
#include <string.h>

static const wg_who nobody = {.agent = WG_AGENT_NONE};

static bool same(wg_who a, wg_who b) { return a.agent == b.agent && a.x == b.x && a.y == b.y; }

static void release(wg_debug *d)
{
    for (unsigned i = 0; i < wg_debug_tiles(d); i++) {
        wg_device *dev = d->held[i] ? wg_debug_dev(d, i) : NULL;
        if (!dev)
            continue;
        wg_act(dev);
        for (unsigned core = 0; core < WG_CORES; core++)
            if (d->held[i] >> core & 1)
                wg_core_resume(dev->tile, core);
    }
    memset(d->held, 0, sizeof d->held);
}

/* Halts all cores that run, except this one. */
static void hold(wg_debug *d, wg_who alone)
{
    for (unsigned i = 0; i < wg_debug_tiles(d); i++) {
        wg_device *dev = wg_debug_dev(d, i);
        for (unsigned core = 0; dev && core < dev->tile->spec->cores; core++) {
            const bool is_it = i == wg_debug_index(d, alone) && core == alone.agent;
            if (is_it || !wg_debug_where(d, i, core).runs)
                continue;
            wg_act(dev);
            wg_core_halt(dev->tile, core);
            d->held[i] |= (uint8_t)(1u << core);
        }
    }
}

/* The first entry at this cycle or later. */
static unsigned entry_from(const wg_debug *d, uint64_t cycle)
{
    unsigned i = 0;
    while (i < d->holds && d->hold[i].cycle < cycle)
        i++;
    return i;
}

void wg_holds_apply(wg_debug *d)
{
    const uint64_t now = wg_debug_now(d);
    const unsigned i = entry_from(d, now);
    if (i == d->holds || d->hold[i].cycle != now || d->applied == i + 1)
        return;
    release(d);
    if (d->hold[i].alone.agent != WG_AGENT_NONE)
        hold(d, d->hold[i].alone);
    memcpy(d->hold[i].held, d->held, sizeof d->held);
    d->applied = i + 1;
}

uint64_t wg_holds_next(const wg_debug *d)
{
    const unsigned i = entry_from(d, wg_debug_now(d) + 1);
    return i < d->holds ? d->hold[i].cycle : UINT64_MAX;
}

void wg_holds_restored(wg_debug *d)
{
    d->applied = entry_from(d, wg_debug_now(d));
    if (d->applied)
        memcpy(d->held, d->hold[d->applied - 1].held, sizeof d->held);
    else
        memset(d->held, 0, sizeof d->held);
}

void wg_holds_end(wg_debug *d)
{
    release(d);
    free(d->hold);
    d->hold = NULL;
    d->holds = d->holds_room = d->applied = 0;
}

bool wg_holds_moves(const wg_debug *d, unsigned index, unsigned core)
{
    const wg_who alone = d->holds ? d->hold[d->holds - 1].alone : nobody;
    return alone.agent == WG_AGENT_NONE || (core == alone.agent && index == wg_debug_index(d, alone));
}

bool wg_debug_hung(const wg_debug *d)
{
    bool held = false;
    for (unsigned i = 0; i < wg_debug_tiles(d); i++)
        held |= d->held[i] != 0;
    return d->state.pause == WG_PAUSE_ENDED && d->state.stop == WG_STOP_HUNG && !held;
}

wg_status wg_debug_alone(wg_debug *d, const wg_who *who)
{
    const wg_who alone = who ? *who : nobody;
    const uint64_t now = wg_debug_now(d);
    const unsigned at = entry_from(d, now);
    if (who && (alone.agent > WG_AGENT_THREAD2 || !wg_debug_device(d, alone)))
        return wg_debug_fail(d, WG_ERR_ARGUMENT, "there is no such core or thread");
    if (at < d->holds) { /* the run goes on in another way */
        if (d->past.count)
            wg_checkpoints_cut(&d->past, now);
        d->holds = at;
    }
    if (same(at ? d->hold[at - 1].alone : nobody, alone) && d->applied <= at)
        return WG_OK;
    if (d->holds == d->holds_room) {
        const unsigned room = d->holds_room ? 2 * d->holds_room : 16;
        wg_hold *more = realloc(d->hold, room * sizeof *more);
        if (!more)
            return wg_debug_fail(d, WG_ERR_NO_MEMORY, "out of memory");
        d->hold = more;
        d->holds_room = room;
    }
    if (d->applied > at) /* the entry that was cut is in effect */
        d->applied = UINT_MAX;
    d->hold[d->holds++] = (wg_hold){.cycle = now, .alone = alone};
    return WG_OK;
}
