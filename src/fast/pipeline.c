/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles of units and threads alone, one behind the other, and the shorter forms of them.
 */
#include "machine/fast.h"

#include "engine/cycle.h"
#include "machine/device.h"
#include "fast/bursts.h"
#include "fast/pack_burst.h"
#include "fast/works.h"
#include "frontend/replay.h"

/* ---- Units and threads among themselves ---------------------------------------------------------------- */

enum {
    PIPELINE = WG_UNITS_BITS | WG_THREADS_BITS,
    OTHERS = WG_CORES_BITS | WG_REGIONS_BITS | WG_PUSHES_BITS | WG_OUTSIDE_BITS
};

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

/*
 * A row of cycles in which nobody acts but threads that give instructions of a MOP to units, each to one of its own:
 * phase B, and of D to G what is left when no wait is latched and the Replay Expander lets everything pass. It says where
 * it ends: somebody else has been woken, or it is more than that.
 */
typedef enum row_end { BETWEEN_CYCLES, BEFORE_REGIONS, BEFORE_PUSHES } row_end;

typedef struct row_lane {
    wg_frontend *f;
    const wg_unit_ops *ops;
    uint8_t thread, unit, agent;
} row_lane;
typedef struct lanes {
    row_lane at[WG_THREADS]; /* in the order of their units, which is that of phase E */
    unsigned count;
    uint32_t threads; /* WG_AGENT_BIT of each */
} lanes;

static inline bool is_lane(const wg_tile *t, unsigned thread)
{
    enum { SIMPLE = 1u << WG_UNIT_UNPACK | 1u << WG_UNIT_MATRIX | 1u << WG_UNIT_PACK | 1u << WG_UNIT_VECTOR };
    const wg_frontend *f = &t->frontend[thread];
    return f->mop_active && !(f->busy & ~WG_F_WORKS) && !f->latch.block && wg_gate_count(f) &&
           SIMPLE >> wg_gate_fifo_at(f, 0)->unit & 1;
}

/* Is it worth trying? All threads that are about to do something have to be in it. */
static inline bool find_lanes(wg_tile *t, lanes *all)
{
    unsigned units = 0;
    all->count = 0;
    all->threads = 0;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        if (!is_lane(t, i)) {
            if (t->sched.soon >> (WG_AGENT_THREAD0 + i) & 1)
                return false;
            continue;
        }
        unsigned unit = wg_gate_fifo_at(&t->frontend[i], 0)->unit, k = all->count++;
        if (units >> unit & 1)
            return false;
        units |= 1u << unit;
        all->threads |= WG_AGENT_BIT(WG_AGENT_THREAD0 + i);
        for (; k && all->at[k - 1].unit > unit; k--)
            all->at[k] = all->at[k - 1];
        all->at[k] = (row_lane){wg_frontend_of(t, i), wg_units[unit], (uint8_t)i, (uint8_t)unit,
                                (uint8_t)(WG_AGENT_THREAD0 + i)};
    }
    return all->count && !t->backend.sync.core_waits && !wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS);
}

/* Is the thread's cycle one of a row? */
static inline bool is_usual(const row_lane *l)
{
    const wg_frontend *f = l->f;
    unsigned head = f->down_head, gate_end = f->gate_end, entry = f->down[head % WG_DOWN_RING];
    return !(!f->mop_active || head == gate_end || f->pool[entry & WG_E_PLACE].unit != l->unit ||
             entry & (WG_E_TTSYNC | WG_E_PLAIN) ||
             (gate_end != f->down_end && f->down[gate_end % WG_DOWN_RING] & WG_E_REPLAY) || f->busy & ~WG_F_WORKS);
}

/* Phases E to G of it; when it looks next. */
static inline uint64_t step(wg_tile *t, const row_lane *l)
{
    wg_schedule *s = &t->sched;
    wg_frontend *f = l->f;
    unsigned head = f->down_head, gate_end = f->gate_end;
    bool behind = gate_end != f->down_end;
    wg_gate_serve(t, f, l->thread, l->ops, l->unit);
    head += f->moved;
    if (behind && (uint8_t)(gate_end - head) < WG_GATE_FIFO) {
        f->gate_end = (uint8_t)(gate_end + 1);
        f->moved = true;
        wg_push_room(t, f, l->thread, 2);
    }
    s->phase = WG_PHASE_MOP;
    if (!wg_mop_loops(t, f))
        wg_mop(t, l->thread, false);
    if (f->moved)
        return s->now + 1;
    s->wake_filter[l->thread] = ~wg_waits_for(f);
    return wg_next_look(t, f);
}

/* Is it worth trying whether PACRs can go faster yet (pack_burst.h)? Not while others are about to do something. */
static inline bool bursts(const wg_schedule *s, uint64_t others)
{
    enum { LEAST = 16, OTHER = WG_UNITS_BITS & ~(int)(WG_AGENT_BIT(WG_AGENT_PACK) | WG_AGENT_BIT(WG_AGENT_UNPACK0)) };
    return others > s->now + LEAST && !(s->soon & OTHER);
}

__attribute__((noinline)) static row_end row(wg_tile *t, const lanes *all, uint64_t until)
{
    wg_schedule *s = &t->sched;
    const uint32_t others_mask = OTHERS | (WG_THREADS_BITS & ~all->threads);
    uint64_t now = s->now;
    bool burst = t->arch->pack.interfaces && all->at[all->count - 1].unit == WG_UNIT_PACK && bursts(s, until);
    s->woken = 0;
    for (;;) {
        s->now = now;
        if (s->soon & WG_UNITS_BITS) {
            s->phase = WG_PHASE_COMPLETIONS;
            for (uint32_t mask = s->soon & WG_UNITS_BITS; mask; mask &= mask - 1)
                wg_tile_tick(t, (unsigned)__builtin_ctz(mask));
            if (s->woken & others_mask)
                return BEFORE_REGIONS;
        }
        uint64_t next = WG_NEVER;
        for (unsigned i = 0; i < all->count; i++)
            if (s->next[all->at[i].agent] <= now && !is_usual(&all->at[i]))
                return BEFORE_REGIONS;
        for (unsigned i = 0; i < all->count; i++) {
            uint64_t *at = &s->next[all->at[i].agent];
            if (*at <= now) {
                *at = step(t, &all->at[i]);
                s->soon |= WG_AGENT_BIT(all->at[i].agent);
                if (*at == WG_NEVER)
                    s->soon &= ~WG_AGENT_BIT(all->at[i].agent);
            }
            next = *at < next ? *at : next;
        }
        if (s->woken & others_mask)
            return BEFORE_PUSHES;
        if (next != now + 1) {
            uint64_t unit_next = earliest(s, WG_UNITS_BITS);
            next = unit_next < next ? unit_next : next;
        }
        if (next >= until || next >= s->later || (burst && wg_pack_accepted_in(t, now)) ||
            t->dev->stop_requested | (t->backend.scalar.refusals != 0)) {
            s->now = now + 1;
            s->phase = WG_PHASE_ARRIVALS;
            return BETWEEN_CYCLES;
        }
        now = next;
    }
}

/* ---- One thread alone ----------------------------------------------------------------------------------- */

/*
 * The same for a thread that is alone, whatever makes its instructions (MOP Expander, Replay Expander or its core). Those
 * for units that take one at a time go the short way.
 */
enum {
    ALONE_UNITS =
        1u << WG_UNIT_UNPACK | 1u << WG_UNIT_MATRIX | 1u << WG_UNIT_PACK | 1u << WG_UNIT_VECTOR | 1u << WG_UNIT_MISC
};
static inline bool is_alone(const wg_tile *t, unsigned thread)
{
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (i != thread && is_lane(t, i)) /* about to go on with it */
            return false;
    return !t->backend.sync.core_waits && !wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS);
}

/* It has a head at the gate, which no latched wait catches, and nothing but itself is in its way. */
static inline bool is_plain(const wg_frontend *f)
{
    return !(f->busy & ~(WG_F_WORKS | WG_F_BYTE(replay_busy))) && !f->latch.block && wg_gate_count(f);
}

/* PACRs may go faster yet (pack_burst.h), if there are some more. */
static inline bool bursts_alone(const wg_tile *t, unsigned thread, uint64_t until)
{
    enum { INSTRUCTIONS = 4 };
    const wg_frontend *f = &t->frontend[thread];
    if (!t->arch->pack.interfaces || !wg_gate_count(f) || !bursts(&t->sched, until))
        return false;
    return f->mop_active ? f->mop.i + INSTRUCTIONS < f->mop.inner || f->mop.j + 1 < f->mop.outer
                         : (uint8_t)(f->down_end - f->down_head) > INSTRUCTIONS &&
                               wg_gate_fifo_at(f, INSTRUCTIONS)->unit == WG_UNIT_PACK;
}

/* Phase G. */
static inline void fill(wg_tile *t, wg_frontend *f, unsigned thread)
{
    if (f->mux_busy) {
        if (!wg_mop_loops(t, f))
            wg_mop(t, thread, false);
        return;
    }
    if (f->fifo[f->fifo_head] & WG_E_MOP)
        wg_mop(t, thread, false);
    else
        wg_mux_passes(t, f, thread);
}

static inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* MVMULs, vector instructions and NOPs may go many at a time: for how many cycles they have. */
static inline unsigned burst_alone(wg_tile *t, const wg_frontend *f, unsigned thread, uint64_t until)
{
    const wg_schedule *s = &t->sched;
    unsigned entry = f->down[f->down_head % WG_DOWN_RING];
    unsigned unit = f->pool[entry & WG_E_PLACE].unit;
    if (!wg_fast(t, WG_FAST_BURSTS))
        return 0;
    if (unit == WG_UNIT_MATRIX && is_plain(f))
        return wg_matrix_burst(t, thread, least(until, earliest(s, WG_UNITS_BITS & ~WG_AGENT_BIT(WG_AGENT_MATRIX))));
    if (unit == WG_UNIT_VECTOR && f->busy & (WG_F_BYTE(mop_active) | WG_F_BYTE(replay_busy)) && is_plain(f))
        return wg_vector_burst(t, thread, least(until, earliest(s, WG_UNITS_BITS & ~WG_AGENT_BIT(WG_AGENT_VECTOR))));
    if (entry & WG_E_PASSES && f->mop_active)
        return wg_nop_burst(t, 1u << thread, least(until, earliest(s, WG_UNITS_BITS)));
    return 0;
}

__attribute__((noinline)) static row_end alone(wg_tile *t, unsigned thread, uint64_t until, uint64_t end)
{
    wg_schedule *s = &t->sched;
    wg_frontend *f = wg_frontend_of(t, thread);
    uint64_t *next = &s->next[WG_AGENT_THREAD0 + thread], now = s->now;
    const uint32_t own = WG_AGENT_BIT(WG_AGENT_THREAD0 + thread), others_mask = OTHERS | (WG_THREADS_BITS & ~own);
    s->woken = 0;
    for (;;) {
        s->now = now;
        unsigned cycles = *next <= now ? burst_alone(t, f, thread, least(until, s->later)) : 0;
        t->fast_uses[WG_FAST_BURSTS] += cycles != 0;
        if (cycles) {
            now += cycles;
            *next = now;
            if (now >= until || now >= s->later) {
                s->now = now;
                s->phase = WG_PHASE_ARRIVALS;
                return BETWEEN_CYCLES;
            }
            continue;
        }
        if (s->soon & WG_UNITS_BITS) {
            s->phase = WG_PHASE_COMPLETIONS;
            for (uint32_t mask = s->soon & WG_UNITS_BITS; mask; mask &= mask - 1)
                wg_tile_tick(t, (unsigned)__builtin_ctz(mask));
            if (s->woken & others_mask)
                return BEFORE_REGIONS;
        }
        uint64_t after = now + 1;
        if (*next <= now) {
            unsigned head = f->down_head, gate_end = f->gate_end, entry = f->down[head % WG_DOWN_RING];
            unsigned unit = f->pool[entry & WG_E_PLACE].unit;
            bool behind = gate_end != f->down_end, plays = f->replay_busy;
            if (!is_plain(f) || !(ALONE_UNITS >> unit & 1) || entry & WG_E_TTSYNC ||
                (plays ? !wg_replay_usual(t, f) : behind && f->down[gate_end % WG_DOWN_RING] & WG_E_REPLAY)) {
                s->phase = WG_PHASE_LATCHES;
                *next = WG_NEVER;
                s->soon &= ~own;
                wg_frontends(t, 1u << thread);
            } else {
                wg_gate_serve(t, f, thread, wg_units[unit], unit);
                if (plays) {
                    wg_replay_goes_on(t, f);
                } else if (behind && (uint8_t)(gate_end - f->down_head) < WG_GATE_FIFO) {
                    f->gate_end = (uint8_t)(gate_end + 1);
                    f->moved = true;
                    wg_push_room(t, f, thread, 2);
                }
                s->phase = WG_PHASE_MOP;
                fill(t, f, thread);
                *next = after;
                if (!f->moved) {
                    s->wake_filter[thread] = ~wg_waits_for(f);
                    *next = wg_next_look(t, f);
                    if (*next == WG_NEVER)
                        s->soon &= ~own;
                }
            }
            if (s->woken & others_mask) {
                if (s->woken & others_mask & ~(uint32_t)WG_PUSHES_BITS)
                    return BEFORE_PUSHES;
                wg_tile_to_next(t); /* what it has made room for */
                until = others_act(t, end);
                if (s->soon & WG_THREADS_BITS & others_mask)
                    return BETWEEN_CYCLES;
            }
        }
        if (*next != after) {
            uint64_t unit_next = earliest(s, WG_UNITS_BITS);
            after = unit_next < *next ? unit_next : *next;
        }
        if (after >= until || after >= s->later || (wg_pack_accepted_in(t, now) && bursts_alone(t, thread, until)) ||
            t->dev->stop_requested | (t->backend.scalar.refusals != 0)) {
            s->now = now + 1;
            s->phase = WG_PHASE_ARRIVALS;
            return BETWEEN_CYCLES;
        }
        now = after;
    }
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

/* A cycle of the other thread and the unpackers; false: it ends there, *end says how. */
static inline bool beside(wg_pack_burst *b, const row_lane *other, uint64_t now, uint32_t others_mask, row_end *end)
{
    wg_tile *t = b->t;
    wg_schedule *s = &t->sched;
    s->now = now;
    s->phase = WG_PHASE_COMPLETIONS;
    bool usual = true;
    if (s->next[WG_AGENT_UNPACK0] <= now) {
        wg_pack_burst_writes(b);
        wg_tile_tick(t, WG_AGENT_UNPACK0);
        usual = wg_pack_burst_goes_on(b);
    }
    bool due = s->next[other->agent] <= now, accepts = wg_pack_burst_next(b) == now;
    if (!usual || s->woken & others_mask || !wg_pack_burst_completes(b, now) || (due && !is_usual(other)) ||
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
        wg_appoint(s, other->agent, step(t, other));
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
    const row_lane *other = NULL;
    lanes all;
    if (find_lanes(t, &all) && all.count == 2 && all.at[0].unit == WG_UNIT_UNPACK)
        other = &all.at[0];
    uint32_t mine = WG_AGENT_BIT(WG_AGENT_THREAD0 + b.thread) | WG_AGENT_BIT(WG_AGENT_PACK);
    if (other)
        mine |= WG_AGENT_BIT(other->agent) | UNPACKERS;
    uint64_t done = b.from;
    until = others_pipeline(s, mine, until);
    s->woken = 0;
    if (other)
        s->wake_filter[other->thread] = 0;
    for (;;) {
        uint64_t now = WG_NEVER;
        if (other) {
            now = s->next[WG_AGENT_UNPACK0] < s->next[other->agent] ? s->next[WG_AGENT_UNPACK0] : s->next[other->agent];
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
    const unsigned first = (unsigned)__builtin_ctz(threads);
    const wg_frontend *f = &t->frontend[first - WG_AGENT_THREAD0];
    if (!f->mop_active || !(f->down[f->down_head % WG_DOWN_RING] & WG_E_PASSES))
        return false;
    for (uint32_t mask = threads; mask; mask &= mask - 1)
        if (s->next[__builtin_ctz(mask)] > s->now)
            return false;
    unsigned cycles =
        wg_nop_burst(t, threads >> WG_AGENT_THREAD0, least(least(others, s->later), earliest(s, WG_UNITS_BITS)));
    s->now += cycles;
    for (uint32_t mask = cycles ? threads : 0; mask; mask &= mask - 1)
        s->next[__builtin_ctz(mask)] = s->now;
    return cycles;
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

/*
 * Most of the time an instruction goes from a thread to a unit and ends there, and nobody else has an appointment. Those
 * cycles are run here one after the other: phases B and D to G as in wg_tile_cycle(), the others having nothing to do.
 * Where a unit or a thread wakes somebody else in its own cycle, the rest of that cycle is run as ever.
 */
void wg_fast_pipeline(wg_tile *t, uint64_t end)
{
    wg_schedule *s = &t->sched;
    if (!wg_fast(t, WG_FAST_PIPELINE))
        return;
    wg_fast_used(t, WG_FAST_PIPELINE);
    uint64_t others = others_act(t, end);
    while (!(t->dev->stop_requested | (t->backend.scalar.refusals != 0))) {
        row_end ends;
        lanes all;
        if (wg_pack_may_burst(t) && wg_fast(t, WG_FAST_BURSTS) && bursts(s, others) && burst(t, others, &ends)) {
            wg_fast_used(t, WG_FAST_BURSTS);
            others = ends_row(t, ends, end);
            continue;
        }
        uint32_t some = s->soon & PIPELINE, threads = s->soon & WG_THREADS_BITS;
        uint64_t now = s->now;
        if (!some || s->next[__builtin_ctz(some)] > now || s->later <= now || now >= others) { /* not at once */
            uint64_t next = earliest(s, PIPELINE);
            next = next > now ? next : now;
            if (s->later <= next && s->later < others) {
                wg_tile_look_through(s);
                others = others_act(t, end);
                continue;
            }
            if (next >= others) { /* theirs is the next one */
                if (others >= end || others >= t->horizon || t->l1_turns >= WG_L1_TURNS)
                    return;
                s->now = others;
                wg_tile_cycle(t);
                others = others_act(t, end);
                continue;
            }
            s->now = now = next;
        }
        if (threads && wg_fast(t, WG_FAST_ROWS)) {
            if (wg_fast(t, WG_FAST_BURSTS) && nops(t, threads, others)) {
                wg_fast_used(t, WG_FAST_BURSTS);
                continue;
            }
            unsigned first = (unsigned)__builtin_ctz(threads) - WG_AGENT_THREAD0;
            bool one = !(threads & (threads - 1)) && is_alone(t, first);
            if (one || (t->frontend[first].mop_active && find_lanes(t, &all))) {
                wg_fast_used(t, WG_FAST_ROWS);
                others = ends_row(t, one ? alone(t, first, others, end) : row(t, &all, others), end);
                continue;
            }
        }
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
        if (s->soon & WG_THREADS_BITS) {
            s->phase = WG_PHASE_LATCHES;
            uint32_t due = wg_take_all(t, WG_THREADS_BITS);
            if (due)
                wg_frontends(t, due >> WG_AGENT_THREAD0);
            if (s->woken & OTHERS && (others = woken_act(t, others)) <= now) {
                wg_tile_to_next(t);
                others = others_act(t, end);
                continue;
            }
        }
        s->now = now + 1;
        s->phase = WG_PHASE_ARRIVALS;
    }
}
