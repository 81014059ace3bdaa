/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles in which nobody acts but units and threads, one behind the other: phases B and D to G of wg_tile_cycle(). Where a
 * unit or a thread wakes somebody else in its own cycle, the rest of that cycle is run as ever.
 */
#include "fast/fast.h"

#include "engine/cycle.h"
#include "engine/device.h"
#include "fast/bursts.h"
#include "fast/lanes.h"
#include "fast/pack_burst.h"

enum {
    PIPELINE = WG_UNITS_BITS | WG_THREADS_BITS,
    OTHERS = WG_CORES_BITS | WG_REGIONS_BITS | WG_PUSHES_BITS | WG_OUTSIDE_BITS
};

/* Every stage has an instruction and lets it pass: all of them at one glance. */
static inline bool streams(wg_tile *t, wg_frontend *f, unsigned thread)
{
    if (!wg_frontend_streams(f, t->sched.now))
        return false;
    wg_filter_wakes(&t->sched, thread, 0);
    wg_appoint_next(&t->sched, WG_AGENT_THREAD0 + thread);
    wg_push_room(t, f, thread, 1);
    return true;
}

/* `arbitrate`: wg_gates() is to serve all heads, whatever they want. */
__attribute__((noinline)) static void lanes(wg_tile *t, unsigned due, bool arbitrate)
{
    for (unsigned mask = due; mask; mask &= mask - 1)
        if (streams(t, wg_frontend_of(t, (unsigned)__builtin_ctz(mask)), (unsigned)__builtin_ctz(mask)))
            due &= ~(mask & -mask);
    unsigned unit[WG_THREADS], wanting = 0, units = 0;
    for (unsigned mask = due; mask; mask &= mask - 1) {
        const unsigned i = (unsigned)__builtin_ctz(mask);
        unit[i] = wg_lane_look(t, wg_frontend_of(t, i), i);
        if (unit[i] == WG_LANE_HELD)
            continue;
        wanting |= 1u << i;
        arbitrate |= unit[i] == WG_LANE_GATES || units >> unit[i] & 1;
        units |= 1u << unit[i];
    }
    if (__builtin_expect(arbitrate, 0)) {
        if (wanting | t->backend.sync.core_waits)
            wg_gates(t, wanting, false);
    } else {
        for (; units; units &= units - 1) /* in the order of the units */
            for (unsigned mask = wanting; mask; mask &= mask - 1) {
                const unsigned i = (unsigned)__builtin_ctz(mask);
                if (unit[i] == (unsigned)__builtin_ctz(units))
                    wg_lane_serve(t, wg_frontend_of(t, i), i, unit[i]);
            }
    }
    for (unsigned mask = due; mask; mask &= mask - 1) {
        const unsigned i = (unsigned)__builtin_ctz(mask);
        wg_frontend *f = wg_frontend_of(t, i);
        wg_latch_clear_met(f);
        wg_lane_move_up(t, f, i);
        wg_lane_appoint(t, f, i);
    }
}

/* The same for one lane that has nobody to arbitrate with. */
WG_STAGE void lane_alone(wg_tile *t, wg_frontend *f, unsigned thread)
{
    unsigned unit = wg_lane_look(t, f, thread);
    if (__builtin_expect(unit == WG_LANE_GATES, 0))
        wg_gates(t, 1u << thread, false);
    else
        wg_lane_serve(t, f, thread, unit);
    wg_latch_clear_met(f);
    wg_lane_move_up(t, f, thread);
    wg_lane_appoint(t, f, thread);
}

/* Somebody else than threads wants the Sync Unit, or soft reset keeps instructions out of a unit. */
static inline bool must_arbitrate(const wg_tile *t)
{
    return t->backend.sync.core_waits | wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS);
}

bool wg_fast_frontends(wg_tile *t, unsigned due)
{
    if (!wg_fast(t, WG_FAST_FRONTENDS))
        return false;
    wg_fast_used(t, WG_FAST_FRONTENDS);
    t->sched.phase = WG_PHASE_GATES; /* which nothing tells apart from D, F and G */
    lanes(t, due, must_arbitrate(t));
    return true;
}

/* The earliest appointment of those in `soon` that are among `agents`. */
static inline uint64_t earliest(const wg_schedule *s, uint32_t agents)
{
    uint64_t next = WG_NEVER;
    for (uint32_t mask = s->soon & agents; mask; mask &= mask - 1) {
        uint64_t at = s->next[__builtin_ctz(mask)];
        next = at < next ? at : next;
    }
    return next;
}

/* Before this cycle nobody but units and threads can act, nor anything from outside. */
static uint64_t others_act(wg_tile *t, uint64_t end)
{
    wg_schedule *s = &t->sched;
    uint64_t at = earliest(s, OTHERS);
    s->woken = 0;
    at = at < t->horizon ? at : t->horizon;
    return at < end ? at : end;
}

/* The same where that was `others` until somebody woke some of them. */
static inline uint64_t woken_act(const wg_tile *t, uint64_t others)
{
    const wg_schedule *s = &t->sched;
    for (uint32_t mask = s->woken & OTHERS; mask; mask &= mask - 1) {
        uint64_t at = s->next[__builtin_ctz(mask)];
        others = at < others ? at : others;
    }
    return others < t->horizon ? others : t->horizon;
}

static inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

typedef enum row_end { BETWEEN_CYCLES, BEFORE_REGIONS, BEFORE_PUSHES } row_end;

/* Is it worth trying whether PACRs can go faster yet (pack_burst.h)? Not while others are about to do something. */
static inline bool bursts(const wg_schedule *s, uint64_t others)
{
    enum { LEAST = 16, OTHER = WG_UNITS_BITS & ~(int)(WG_AGENT_BIT(WG_AGENT_PACK) | WG_AGENT_BIT(WG_AGENT_UNPACK0)) };
    return others > s->now + LEAST && !(s->soon & OTHER);
}

/* It has a head at the gate, which no latched wait catches, and nothing but itself is in its way. */
static inline bool is_plain(const wg_frontend *f)
{
    return !(f->busy & ~(WG_F_WORKS | WG_F_BYTE(replay_busy))) && !f->latch.block && wg_gate_count(f);
}

enum {
    MANY = 1u << WG_UNIT_MATRIX | 1u << WG_UNIT_VECTOR | 1u << WG_UNIT_NONE, /* what may be taken many at a time */
};
#define MAKES (WG_F_BYTE(mop_active) | WG_F_BYTE(replay_busy)) /* an expander makes instructions */

/* MVMULs, vector instructions and NOPs may go many at a time: for how many cycles they have. */
static inline unsigned burst_alone(wg_tile *t, const wg_frontend *f, unsigned thread, unsigned unit, uint64_t until)
{
    const wg_schedule *s = &t->sched;
    const uint32_t own = WG_AGENT_BIT(WG_AGENT_THREAD0 + thread);
    if (!is_plain(f))
        return 0;
    if (unit == WG_UNIT_MATRIX)
        return wg_matrix_burst(t, thread, least(until, earliest(s, PIPELINE & ~(WG_AGENT_BIT(WG_AGENT_MATRIX) | own))));
    if (unit == WG_UNIT_VECTOR)
        return wg_vector_burst(t, thread, least(until, earliest(s, PIPELINE & ~(WG_AGENT_BIT(WG_AGENT_VECTOR) | own))));
    return f->mop_active ? wg_nop_burst(t, 1u << thread, least(until, earliest(s, PIPELINE & ~own))) : 0;
}

/* ---- Bursts of PACRs, and an unpacker at work ------------------------------------------------------------- */

/*
 * Somebody else's cycle, `stop`, or the burst does not go on. All cycles before `done` are, and those behind the last
 * acceptance in which nothing moves: up to what completes next, or to when the packer takes the next one.
 */
static row_end burst_ends(wg_pack_burst *b, uint64_t done, uint64_t stop)
{
    uint64_t now = b->from > done ? b->from : done;
    if (wg_pack_burst_waits(b)) {
        stop = stop < b->p->free_at ? stop : b->p->free_at;
        if (b->count && b->pending[b->first].done_at < stop)
            stop = b->pending[b->first].done_at;
        now = stop > now ? stop : now;
    }
    wg_pack_burst_ends(b, now);
    b->t->sched.phase = WG_PHASE_ARRIVALS;
    return BETWEEN_CYCLES;
}

/* The first cycle in which anybody may act but the burst's thread, the packers, and those in `but`. */
static uint64_t others_pipeline(const wg_schedule *s, uint32_t but, uint64_t until)
{
    for (uint32_t mask = (s->soon | s->far) & PIPELINE & ~but; mask; mask &= mask - 1) {
        uint64_t at = s->next[__builtin_ctz(mask)];
        until = at < until ? at : until;
    }
    return until;
}

enum { UNPACKERS = WG_AGENT_BIT(WG_AGENT_UNPACK0) | WG_AGENT_BIT(WG_AGENT_UNPACK1) };

/* The thread's head is an UNPACR of a MOP, which nothing but its unit can hold. */
static inline bool unpacks(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    return f->mop_active && !(f->busy & ~WG_F_WORKS) && !f->latch.block && wg_gate_count(f) &&
           !(f->down[f->down_head % WG_DOWN_RING] & (WG_E_TTSYNC | WG_E_PLAIN)) &&
           wg_gate_fifo_at(f, 0)->unit == WG_UNIT_UNPACK;
}

/* A cycle of the other thread and the unpackers; false: it ends there, *end says how. */
static inline bool beside(wg_pack_burst *b, unsigned other, uint64_t now, uint32_t others_mask, row_end *end)
{
    wg_tile *t = b->t;
    wg_schedule *s = &t->sched;
    const unsigned agent = WG_AGENT_THREAD0 + other;
    s->now = now;
    s->phase = WG_PHASE_COMPLETIONS;
    bool usual = true;
    if (s->next[WG_AGENT_UNPACK0] <= now) {
        wg_pack_burst_writes(b);
        wg_tile_tick(t, WG_AGENT_UNPACK0);
        usual = wg_pack_burst_goes_on(b);
    }
    bool due = s->next[agent] <= now, accepts = wg_pack_burst_next(b) == now;
    if (!usual || s->woken & others_mask || !wg_pack_burst_completes(b, now) || (due && !unpacks(t, other)) ||
        (accepts && !wg_pack_burst_is_ready(b))) {
        wg_pack_burst_ends(b, now);
        wg_tile_tick(t, WG_AGENT_PACK);
        *end = BEFORE_REGIONS;
        return false;
    }
    if (accepts)
        wg_pack_burst_accepts(b);
    if (due) {
        wg_pack_burst_writes(b);
        (void)wg_take(t, agent);
        wg_fast_frontends(t, 1u << other);
    }
    if (s->woken & others_mask || wg_pack_burst_is_over(b) || !wg_pack_burst_goes_on(b)) {
        wg_pack_burst_ends(b, now + 1);
        s->now = now;
        *end = BEFORE_PUSHES;
        return false;
    }
    return true;
}

/* From the current cycle, the one behind an acceptance, to before `until`. False: it has not got anywhere. */
static bool burst(wg_tile *t, uint64_t until, row_end *end)
{
    wg_schedule *s = &t->sched;
    wg_pack_burst b;
    t->backend.pack.burst_until = 0;
    if (!wg_pack_burst_begins(t, &b))
        return false;
    unsigned other = WG_THREADS;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (i != b.thread && s->soon >> (WG_AGENT_THREAD0 + i) & 1)
            other = other == WG_THREADS && unpacks(t, i) ? i : WG_THREADS + 1;
    if (other > WG_THREADS)
        other = WG_THREADS;
    uint32_t mine = WG_AGENT_BIT(WG_AGENT_THREAD0 + b.thread) | WG_AGENT_BIT(WG_AGENT_PACK);
    if (other < WG_THREADS)
        mine |= WG_AGENT_BIT(WG_AGENT_THREAD0 + other) | UNPACKERS;
    uint64_t done = b.from;
    until = others_pipeline(s, mine, until);
    s->woken = 0;
    if (other < WG_THREADS)
        s->wake_filter[other] = 0;
    for (;;) {
        uint64_t now = WG_NEVER;
        if (other < WG_THREADS) {
            now = least(s->next[WG_AGENT_UNPACK0], s->next[WG_AGENT_THREAD0 + other]);
            now = now > done ? now : done;
        }
        uint64_t stop = now < until ? now : until;
        if (t->dev->stop_requested | (t->backend.scalar.refusals != 0))
            stop = until = done;
        wg_pack_burst_run(&b, stop);
        if (wg_pack_burst_is_over(&b)) {
            wg_pack_burst_ends(&b, b.from);
            s->now = b.from - 1;
            *end = BEFORE_PUSHES;
            return true;
        }
        /* In the other's cycle the burst's thread has to be due with an acceptance, or to wait with nothing moving. */
        bool known = stop < until && (wg_pack_burst_waits(&b) || (b.from == now && b.p->free_at <= now));
        if (wg_pack_burst_next(&b) < stop || !known || !wg_pack_burst_completes(&b, now - 1)) {
            uint64_t from = s->now;
            *end = burst_ends(&b, done, stop);
            if (s->now != from)
                return true;
            t->backend.pack.burst_until = 0;
            return false;
        }
        if (!beside(&b, other, now, ~mine, end))
            return true;
        done = now + 1;
    }
}

/* NOPs may go faster yet, if nobody else is about to do something. */
static inline bool nops(wg_tile *t, uint32_t threads, uint64_t others)
{
    wg_schedule *s = &t->sched;
    const wg_frontend *f = &t->frontend[(unsigned)__builtin_ctz(threads) - WG_AGENT_THREAD0];
    if (!f->mop_active || !(f->down[f->down_head % WG_DOWN_RING] & WG_E_PASSES))
        return false;
    unsigned cycles =
        wg_nop_burst(t, threads >> WG_AGENT_THREAD0, least(least(others, s->later), earliest(s, PIPELINE & ~threads)));
    if (!cycles)
        return false;
    wg_fast_used(t, WG_FAST_BURSTS);
    s->now += cycles - 1;
    for (uint32_t mask = threads; mask; mask &= mask - 1)
        s->next[__builtin_ctz(mask)] = s->now + 1;
    return true;
}

/* What is left of the cycle in which a row ends; then, who acts first. */
static uint64_t ends_row(wg_tile *t, row_end ends, uint64_t end)
{
    if (ends == BEFORE_REGIONS)
        wg_tile_from_regions(t);
    else if (ends == BEFORE_PUSHES)
        wg_tile_to_next(t);
    return others_act(t, end);
}

/* When units and threads act next, from the current cycle on. */
static inline uint64_t upcoming(const wg_schedule *s)
{
    uint64_t next = earliest(s, WG_THREADS_BITS);
    if (next > s->now)
        next = least(next, earliest(s, WG_UNITS_BITS));
    return next > s->now ? next : s->now;
}

/* Phases D to G of the threads in `due` (WG_AGENT_BIT), of one or more cycles. */
static inline void threads(wg_tile *t, uint32_t due, uint64_t others)
{
    wg_schedule *s = &t->sched;
    const bool arbitrate = must_arbitrate(t);
    if ((due & (due - 1)) | arbitrate) {
        if (wg_fast(t, WG_FAST_BURSTS) && nops(t, due, others))
            return;
        wg_fast_used(t, WG_FAST_FRONTENDS);
        s->phase = WG_PHASE_GATES;
        lanes(t, wg_take_all(t, due) >> WG_AGENT_THREAD0, arbitrate);
        return;
    }
    const unsigned agent = (unsigned)__builtin_ctz(due), thread = agent - WG_AGENT_THREAD0;
    wg_frontend *f = wg_frontend_of(t, thread);
    const unsigned entry = f->down[f->down_head % WG_DOWN_RING], unit = f->pool[entry & WG_E_PLACE].unit;
    if (MANY >> unit & 1 && f->busy & MAKES && wg_fast(t, WG_FAST_BURSTS)) {
        unsigned cycles = burst_alone(t, f, thread, unit, least(others, s->later));
        if (cycles) {
            wg_fast_used(t, WG_FAST_BURSTS);
            s->now += cycles - 1;
            s->next[agent] = s->now + 1;
            return;
        }
    }
    wg_fast_used(t, WG_FAST_FRONTENDS);
    (void)wg_take(t, agent);
    s->phase = WG_PHASE_GATES;
    if (!streams(t, f, thread))
        lane_alone(t, f, thread);
}

void wg_fast_pipeline(wg_tile *t, uint64_t end)
{
    wg_schedule *s = &t->sched;
    if (!wg_fast(t, WG_FAST_PIPELINE))
        return;
    wg_fast_used(t, WG_FAST_PIPELINE);
    for (uint64_t others = others_act(t, end); !(t->dev->stop_requested | (t->backend.scalar.refusals != 0));) {
        row_end ends;
        if (wg_pack_may_burst(t) && wg_fast(t, WG_FAST_BURSTS) && bursts(s, others) && burst(t, others, &ends)) {
            wg_fast_used(t, WG_FAST_BURSTS);
            others = ends_row(t, ends, end);
            continue;
        }
        const uint64_t now = upcoming(s);
        if (now >= s->later && s->later < others) {
            wg_tile_look_through(s);
            others = others_act(t, end);
            continue;
        }
        if (now >= others) {
            if (others >= end || others >= t->horizon || t->l1_turns >= WG_L1_TURNS)
                return;
            s->now = others;
            wg_tile_cycle(t);
            others = others_act(t, end);
            continue;
        }
        s->now = now;
        if (s->soon & WG_UNITS_BITS) {
            s->phase = WG_PHASE_COMPLETIONS;
            for (uint32_t mask = s->soon & WG_UNITS_BITS; mask; mask &= mask - 1)
                wg_tile_tick(t, (unsigned)__builtin_ctz(mask));
            if (s->woken & OTHERS && (others = woken_act(t, others)) <= now) {
                wg_tile_from_regions(t);
                others = others_act(t, end);
                continue;
            }
        }
        const uint32_t due = wg_due(s, WG_THREADS_BITS);
        if (due) {
            if (wg_fast(t, WG_FAST_FRONTENDS)) {
                threads(t, due, others);
            } else {
                s->phase = WG_PHASE_LATCHES;
                wg_frontends(t, wg_take_all(t, due) >> WG_AGENT_THREAD0);
            }
            if (s->woken & OTHERS && (others = woken_act(t, others)) <= s->now) {
                wg_tile_to_next(t);
                others = others_act(t, end);
                continue;
            }
        }
        s->now++;
        s->phase = WG_PHASE_ARRIVALS;
    }
}
