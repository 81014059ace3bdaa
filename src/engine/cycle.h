/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a cycle: the agents that are due, and the phases after the completions. wg_tile_cycle() in tile.c combines them.
 */
#ifndef WG_CYCLE_H
#define WG_CYCLE_H

#include "machine/unit.h"
#include "machine/tile.h"

/* Refills `soon` from `far`: the earliest wake-up, and those soon after it. */
void wg_tile_look_through(wg_schedule *s);

/*
 * An agent about to be ticked has no wake-up until its tick, or another agent, schedules it. In lockstep every agent is
 * ticked in every cycle: this is how the machine is driven, not a shortcut.
 */
static inline bool wg_take(wg_tile *t, unsigned agent)
{
    wg_schedule *s = &t->sched;
    if (s->next[agent] > s->now)
        return t->lockstep;
    s->next[agent] = WG_NEVER;
    s->soon &= ~WG_AGENT_BIT(agent);
    return true;
}

/* The same for the agents in `agents`. Returns those to be ticked. */
static inline uint32_t wg_take_all(wg_tile *t, uint32_t agents)
{
    wg_schedule *s = &t->sched;
    uint32_t due = s->soon & agents;
    for (uint32_t mask = due; mask; mask &= mask - 1) {
        unsigned agent = (unsigned)__builtin_ctz(mask);
        if (__builtin_expect(s->next[agent] > s->now, 0))
            due &= ~WG_AGENT_BIT(agent);
        else
            s->next[agent] = WG_NEVER;
    }
    s->soon &= ~due;
    return t->lockstep ? agents : due;
}

/* Those of `agents` that are due in this cycle. */
static inline uint32_t wg_due(const wg_schedule *s, uint32_t agents, uint64_t cycle)
{
    uint32_t due = s->soon & agents;
    for (uint32_t mask = due; mask; mask &= mask - 1)
        if (s->next[__builtin_ctz(mask)] > cycle)
            due &= ~(mask & -mask);
    return due;
}

/* The agents in `agents` that may be due; wg_take() decides. */
static inline uint32_t wg_soon(const wg_tile *t, uint32_t agents)
{
    return t->lockstep ? agents : t->sched.soon & agents;
}

enum {
    WG_CORES_BITS = WG_SCHED_CORES,
    WG_THREADS_BITS = 7 << WG_AGENT_THREAD0,
    WG_UNITS_BITS = (WG_AGENT_BIT(WG_AGENT_MISC + 1) - 1) & ~(WG_AGENT_BIT(WG_AGENT_SYNC) - 1),
    WG_REGIONS_BITS = WG_AGENT_BIT(WG_AGENT_REGIONS),
    WG_PUSHES_BITS = WG_AGENT_BIT(WG_AGENT_PUSHES),
    WG_OUTSIDE_BITS = WG_AGENT_BIT(WG_AGENT_HOST) | WG_AGENT_BIT(WG_AGENT_LINK) | WG_AGENT_BIT(WG_AGENT_NIU0) |
                      WG_AGENT_BIT(WG_AGENT_NIU1)
};

static const uint8_t wg_unit_of_agent[] = {
    [WG_AGENT_SYNC] = WG_UNIT_SYNC,     [WG_AGENT_UNPACK0] = WG_UNIT_UNPACK, [WG_AGENT_MATRIX] = WG_UNIT_MATRIX,
    [WG_AGENT_PACK] = WG_UNIT_PACK,     [WG_AGENT_VECTOR] = WG_UNIT_VECTOR,  [WG_AGENT_SCALAR] = WG_UNIT_SCALAR,
    [WG_AGENT_CONFIG] = WG_UNIT_CONFIG, [WG_AGENT_MOVER] = WG_UNIT_MOVER,    [WG_AGENT_MISC] = WG_UNIT_MISC};

static inline void wg_tile_tick(wg_tile *t, unsigned agent)
{
    if (wg_take(t, agent) && agent != WG_AGENT_UNPACK1) /* ticked with Unpacker 0 */
        wg_units[wg_unit_of_agent[agent]]->tick(t);
}

/* Phases H to J; then the clock advances. */
static inline void wg_tile_to_next(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    if (wg_soon(t, WG_PUSHES_BITS | WG_CORES_BITS)) {
        s->phase = WG_PHASE_PUSH;
        if (wg_soon(t, WG_PUSHES_BITS) && wg_take(t, WG_AGENT_PUSHES))
            wg_regions_push(t);
        s->phase = WG_PHASE_LOAD_STORE;
        uint32_t due = wg_take_all(t, WG_CORES_BITS);
        if (due)
            wg_cores_tick(t, due >> WG_AGENT_CORE_B);
    }
    s->now++;
    s->phase = WG_PHASE_ARRIVALS;
}

/* Phases C to J. */
static inline void wg_tile_from_regions(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    if (wg_soon(t, WG_REGIONS_BITS)) {
        s->phase = WG_PHASE_REGIONS;
        if (wg_take(t, WG_AGENT_REGIONS))
            wg_regions_tick(t);
    }
    if (wg_soon(t, WG_THREADS_BITS)) {
        s->phase = WG_PHASE_LATCHES;
        uint32_t due = wg_take_all(t, WG_THREADS_BITS);
        if (due)
            wg_frontends(t, due >> WG_AGENT_THREAD0);
    }
    wg_tile_to_next(t);
}

#endif
