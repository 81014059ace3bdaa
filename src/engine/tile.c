/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycle: phases A to J of time.md, consumers before producers, so that an item moves one stage
 * per cycle and a slot freed in a cycle can be refilled in it. Agents that are not due are skipped;
 * in lockstep mode every agent is ticked in every cycle, with the same outcome.
 */
#include "tile/tile.h"

#include "backend/unit.h"

static bool due(const wg_tile *t, unsigned agent)
{
    return t->lockstep || t->sched.next[agent] <= t->sched.now;
}

/* An agent about to be ticked has no appointment until its tick (or a later wake-up) makes one. */
static bool take(wg_tile *t, unsigned agent)
{
    if (!due(t, agent))
        return false;
    if (t->sched.next[agent] <= t->sched.now)
        t->sched.next[agent] = WG_NEVER;
    return true;
}

/* Bit i: unit kind WG_UNIT_SYNC + i is due. */
static inline unsigned units_due(const wg_tile *t)
{
    static const uint8_t agent[] = {WG_AGENT_SYNC, WG_AGENT_UNPACK0, WG_AGENT_MATRIX, WG_AGENT_PACK, WG_AGENT_VECTOR,
                                    WG_AGENT_SCALAR, WG_AGENT_CONFIG, WG_AGENT_MOVER, WG_AGENT_MISC};
    static_assert(sizeof agent == WG_UNIT_COUNT - WG_UNIT_SYNC, "in the order of wg_unit");
    unsigned mask = t->lockstep ? (1u << sizeof agent) - 1 : 0;
    for (unsigned i = 0; i < sizeof agent; i++)
        mask |= (unsigned)(t->sched.next[agent[i]] <= t->sched.now) << i;
    return mask;
}

void wg_tile_cycle(wg_tile *t)
{
    t->sched.phase = WG_PHASE_ARRIVALS;
    if (take(t, WG_AGENT_HOST))
        wg_windows_arrivals(t);
    take(t, WG_AGENT_NIU0);      /* there is no NoC: these never have anything to do */
    take(t, WG_AGENT_NIU1);
    take(t, WG_AGENT_UNPACK1);   /* ticked with Unpacker 0 */

    t->sched.phase = WG_PHASE_COMPLETIONS;
    for (unsigned mask = units_due(t); mask; mask &= mask - 1) {   /* a unit's tick makes no other due in this cycle */
        const wg_unit_ops *ops = wg_units[(unsigned)__builtin_ctz(mask) + WG_UNIT_SYNC];
        if (take(t, ops->agent))
            ops->tick(t);
    }

    t->sched.phase = WG_PHASE_REGIONS;
    if (take(t, WG_AGENT_REGIONS))
        wg_regions_tick(t);

    t->sched.phase = WG_PHASE_LATCHES;
    unsigned threads = 0;
    for (unsigned i = 0; i < WG_THREADS; i++)
        threads |= (unsigned)take(t, WG_AGENT_THREAD0 + i) << i;
    if (threads)
        wg_frontends(t, threads);

    t->sched.phase = WG_PHASE_PUSH;
    if (take(t, WG_AGENT_PUSHES))
        wg_regions_push(t);

    t->sched.phase = WG_PHASE_LOAD_STORE;
    unsigned cores = 0;
    for (unsigned i = 0; i < WG_CORES; i++)
        cores |= (unsigned)take(t, WG_AGENT_CORE_B + i) << i;
    if (cores)
        wg_cores_tick(t, cores);
    t->sched.now++;
    t->sched.phase = WG_PHASE_ARRIVALS;
}

uint64_t wg_tile_next(const wg_tile *t)
{
    uint64_t next = WG_NEVER;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++) {
        if (t->sched.next[i] <= t->sched.now)
            return t->sched.now;
        if (t->sched.next[i] < next)
            next = t->sched.next[i];
    }
    return next;
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
