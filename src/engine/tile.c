/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycle: phases A to J of time.md, consumers before producers, so that an item moves one stage
 * per cycle and a slot freed in a cycle can be refilled in it. Agents that are not due are skipped;
 * in lockstep mode every agent is ticked in every cycle, with the same outcome.
 */
#include "tile/tile.h"

#include "backend/unit.h"

/* An agent about to be ticked has no appointment until its tick (or a later wake-up) makes one. */
static inline bool take(wg_tile *t, unsigned agent)
{
    wg_schedule *s = &t->sched;
    if (s->next[agent] > s->now)
        return t->lockstep;
    s->next[agent] = WG_NEVER;
    s->soon &= ~WG_AGENT_BIT(agent);
    return true;
}

/* The same for `count` agents; bit i: the i-th is to be ticked. */
static inline unsigned take_all(wg_tile *t, unsigned first, unsigned count)
{
    wg_schedule *s = &t->sched;
    unsigned due = 0;
    for (unsigned i = 0; i < count; i++) {
        if (s->next[first + i] > s->now)
            continue;
        s->next[first + i] = WG_NEVER;
        due |= 1u << i;
    }
    s->soon &= ~(due << first);
    return t->lockstep ? (1u << count) - 1 : due;
}

/* Who of `agents` may be due; take() decides. */
static inline uint32_t soon(const wg_tile *t, uint32_t agents) { return t->lockstep ? agents : t->sched.soon & agents; }

/* Appointments that were made for later have come near. */
__attribute__((noinline)) static void look_through(wg_schedule *s)
{
    s->later = WG_NEVER;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++) {
        if (s->next[i] <= s->now + WG_SCHED_NEAR && s->next[i] != WG_NEVER)
            s->soon |= WG_AGENT_BIT(i);
        else if (s->next[i] < s->later)
            s->later = s->next[i];
    }
}

enum {
    CORES = WG_SCHED_CORES,
    THREADS = 7 << WG_AGENT_THREAD0,
    UNITS = (WG_AGENT_BIT(WG_AGENT_MISC + 1) - 1) & ~(WG_AGENT_BIT(WG_AGENT_SYNC) - 1),
    REGIONS = WG_AGENT_BIT(WG_AGENT_REGIONS),
    PUSHES = WG_AGENT_BIT(WG_AGENT_PUSHES),
    OUTSIDE = WG_AGENT_BIT(WG_AGENT_HOST) | WG_AGENT_BIT(WG_AGENT_NIU0) | WG_AGENT_BIT(WG_AGENT_NIU1)
};

static const uint8_t unit_of[] = {
    [WG_AGENT_SYNC] = WG_UNIT_SYNC,     [WG_AGENT_UNPACK0] = WG_UNIT_UNPACK, [WG_AGENT_MATRIX] = WG_UNIT_MATRIX,
    [WG_AGENT_PACK] = WG_UNIT_PACK,     [WG_AGENT_VECTOR] = WG_UNIT_VECTOR,  [WG_AGENT_SCALAR] = WG_UNIT_SCALAR,
    [WG_AGENT_CONFIG] = WG_UNIT_CONFIG, [WG_AGENT_MOVER] = WG_UNIT_MOVER,    [WG_AGENT_MISC] = WG_UNIT_MISC};

/* Phases A to C. */
static void before_threads(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    s->phase = WG_PHASE_ARRIVALS;
    if (soon(t, OUTSIDE)) {
        if (take(t, WG_AGENT_HOST))
            wg_windows_arrivals(t);
        for (unsigned noc = 0; noc < 2; noc++)
            if (take(t, WG_AGENT_NIU0 + noc) && t->box) /* a part of a tile under test may have none */
                wg_niu_tick(t, noc);
    }
    s->phase = WG_PHASE_COMPLETIONS;
    for (uint32_t mask = soon(t, UNITS); mask; mask &= mask - 1) { /* a unit's tick makes no other due in this cycle */
        unsigned agent = (unsigned)__builtin_ctz(mask);
        if (take(t, agent) && agent != WG_AGENT_UNPACK1) /* ticked with Unpacker 0 */
            wg_units[unit_of[agent]]->tick(t);
    }
    s->phase = WG_PHASE_REGIONS;
    if (soon(t, REGIONS) && take(t, WG_AGENT_REGIONS))
        wg_regions_tick(t);
}

/* Phases H to J. */
static void after_threads(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    s->phase = WG_PHASE_PUSH;
    if (soon(t, PUSHES) && take(t, WG_AGENT_PUSHES))
        wg_regions_push(t);
    s->phase = WG_PHASE_LOAD_STORE;
    if (soon(t, CORES)) {
        unsigned due = take_all(t, WG_AGENT_CORE_B, WG_CORES);
        if (due)
            wg_cores_tick(t, due);
    }
}

void wg_tile_cycle(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    if (s->now >= s->later)
        look_through(s);
    if (soon(t, OUTSIDE | UNITS | REGIONS))
        before_threads(t);
    if (soon(t, THREADS)) {
        s->phase = WG_PHASE_LATCHES;
        unsigned due = take_all(t, WG_AGENT_THREAD0, WG_THREADS);
        if (due)
            wg_frontends(t, due);
    }
    if (soon(t, PUSHES | CORES))
        after_threads(t);
    s->now++;
    s->phase = WG_PHASE_ARRIVALS;
}

uint64_t wg_tile_next(const wg_tile *t)
{
    const wg_schedule *s = &t->sched;
    for (uint32_t mask = s->soon; mask; mask &= mask - 1)
        if (s->next[__builtin_ctz(mask)] <= s->now)
            return s->now;
    uint64_t next = WG_NEVER;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        next = s->next[i] < next ? s->next[i] : next;
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
        for (unsigned lane = 0; lane < WG_REQUEST_LANES; lane++)
            sum = sum * 31 + t->regions.memory.lane[core][lane].head + t->regions.memory.lane[core][lane].count;
    return sum;
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
