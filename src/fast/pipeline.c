/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consecutive cycles in which only units and threads act: phases B and D to G of wg_tile_cycle(). If a unit or a thread wakes
 * another agent in its own cycle, the plain machine runs the rest of that cycle.
 */
#include "machine/fast.h"

#include "engine/cycle.h"
#include "machine/device.h"
#include "fast/burst.h"
#include "fast/thread.h"
#include "fast/pack_many.h"

enum {
    PIPELINE = WG_UNITS_BITS | WG_THREADS_BITS,
    UNPACKERS = 1 << WG_AGENT_UNPACK0 | 1 << WG_AGENT_UNPACK1,
    OTHERS = WG_CORES_BITS | WG_REGIONS_BITS | WG_PUSHES_BITS | WG_OUTSIDE_BITS
};

/* Every stage holds an instruction and passes it on: handled in one step. */
static inline bool streams(wg_tile *t, wg_frontend *f, unsigned thread)
{
    if (!wg_frontend_streams(f, t->sched.now))
        return false;
    wg_filter_wakes(&t->sched, thread, 0);
    wg_wake_next(&t->sched, WG_AGENT_THREAD0 + thread);
    wg_push_room(t, f, thread, 1);
    return true;
}

/* `arbitrate`: wg_gates() has to serve all heads. */
__attribute__((noinline)) static void all_threads(wg_tile *t, unsigned due, bool arbitrate)
{
    for (unsigned mask = due; mask; mask &= mask - 1)
        if (streams(t, wg_frontend_of(t, (unsigned)__builtin_ctz(mask)), (unsigned)__builtin_ctz(mask)))
            due &= ~(mask & -mask);
    unsigned unit[WG_THREADS], wanting = 0, units = 0;
    for (unsigned mask = due; mask; mask &= mask - 1) {
        const unsigned i = (unsigned)__builtin_ctz(mask);
        unit[i] = wg_thread_look(t, wg_frontend_of(t, i), i);
        if (unit[i] == WG_THREAD_HELD)
            continue;
        wanting |= 1u << i;
        arbitrate |= unit[i] == WG_THREAD_GATES || units >> unit[i] & 1;
        units |= 1u << unit[i];
    }
    if (__builtin_expect(arbitrate, 0)) {
        if (wanting | t->backend.sync.core_waits)
            wg_gates(t, wanting, false);
    } else {
        for (; units; units &= units - 1) /* in unit order */
            for (unsigned mask = wanting; mask; mask &= mask - 1) {
                const unsigned i = (unsigned)__builtin_ctz(mask);
                if (unit[i] == (unsigned)__builtin_ctz(units))
                    wg_thread_serve(t, wg_frontend_of(t, i), i, unit[i]);
            }
    }
    for (unsigned mask = due; mask; mask &= mask - 1) {
        const unsigned i = (unsigned)__builtin_ctz(mask);
        wg_frontend *f = wg_frontend_of(t, i);
        wg_latch_clear_met(f);
        wg_thread_move_up(t, f, i);
        wg_thread_schedule(t, f, i);
    }
}

/* The same for a single thread, which needs no arbitration. */
WG_STAGE void one_thread(wg_tile *t, wg_frontend *f, unsigned thread)
{
    unsigned unit = wg_thread_look(t, f, thread);
    if (__builtin_expect(unit == WG_THREAD_GATES, 0))
        wg_gates(t, 1u << thread, false);
    else
        wg_thread_serve(t, f, thread, unit);
    wg_latch_clear_met(f);
    wg_thread_move_up(t, f, thread);
    wg_thread_schedule(t, f, thread);
}

/* A core wants the Sync Unit, or soft reset blocks a unit. */
static inline bool must_arbitrate(const wg_tile *t)
{
    return t->backend.sync.core_waits | wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS);
}

bool wg_fast_frontends(wg_tile *t, unsigned due)
{
    if (!wg_fast(t, WG_FAST_FRONTENDS))
        return false;
    wg_fast_used(t, WG_FAST_FRONTENDS, 1);
    t->sched.phase = WG_PHASE_GATES; /* stands for D, F and G as well */
    all_threads(t, due, must_arbitrate(t));
    return true;
}

/* The earliest wake-up of the agents that are in `soon` and in `agents`. */
static inline uint64_t earliest(const wg_schedule *s, uint32_t agents)
{
    uint64_t next = WG_NEVER;
    for (uint32_t mask = s->soon & agents; mask; mask &= mask - 1) {
        uint64_t at = s->next[__builtin_ctz(mask)];
        next = at < next ? at : next;
    }
    return next;
}

/* Only units and threads act before this cycle. */
static uint64_t others_act(wg_tile *t, uint64_t end)
{
    wg_schedule *s = &t->sched;
    uint64_t at = earliest(s, OTHERS);
    s->woken = 0;
    at = at < t->horizon ? at : t->horizon;
    return at < end ? at : end;
}

/* The same, from the previous answer `others` and the agents woken since. */
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

/* The next cycle, from the current one on, in which a unit or thread acts. */
static inline uint64_t upcoming(const wg_schedule *s)
{
    uint64_t next = earliest(s, WG_THREADS_BITS);
    if (next > s->now)
        next = least(next, earliest(s, WG_UNITS_BITS));
    return next > s->now ? next : s->now;
}

/* ---- Bursts ------------------------------------------------------------------------------------------------- */

/* Commits the burst's acceptances and advances the unit's arbitration turn. */
static void burst_used(wg_burst *b, unsigned count, unsigned unit)
{
    wg_burst_used(b, count);
    b->t->backend.turn[unit].next = (uint8_t)(b->thread == WG_THREADS - 1 ? 0 : b->thread + 1);
    wg_set_wake(&b->t->sched, WG_AGENT_THREAD0 + b->thread, b->from);
    wg_fast_used(b->t, WG_FAST_BURSTS, b->at[count - 1] - b->at[0] + 1);
}

/* One instruction per cycle for a unit that accepts many at a time. False: none was accepted. */
static bool burst(wg_tile *t, unsigned thread, unsigned unit, wg_accept_many *accept_many, uint64_t until)
{
    const wg_schedule *s = &t->sched;
    wg_burst b;
    until =
        least(until,
              earliest(s, PIPELINE & ~(WG_AGENT_BIT(wg_units[unit]->agent) | WG_AGENT_BIT(WG_AGENT_THREAD0 + thread))));
    if (until < s->now + WG_BURST_LEAST || !wg_burst_begin(&b, t, thread, until))
        return false;
    const unsigned count = accept_many(&b);
    for (unsigned i = 0; i < count; i++)
        b.at[i] = b.from + i;
    if (count)
        burst_used(&b, count, unit);
    return count != 0;
}

/* NOPs of all threads that are due. */
static bool burst_of_nops(wg_tile *t, uint32_t due, uint64_t until)
{
    wg_schedule *s = &t->sched;
    const wg_frontend *f = &t->frontend[(unsigned)__builtin_ctz(due) - WG_AGENT_THREAD0];
    if (!f->mop_active || !(f->down[f->down_head % WG_DOWN_RING] & WG_E_PASSES))
        return false;
    const unsigned cycles = wg_burst_nops(t, due >> WG_AGENT_THREAD0, least(until, earliest(s, PIPELINE & ~due)));
    if (!cycles)
        return false;
    s->now += cycles - 1;
    for (uint32_t mask = due; mask; mask &= mask - 1)
        wg_set_wake(s, (unsigned)__builtin_ctz(mask), s->now + 1);
    wg_fast_used(t, WG_FAST_BURSTS, cycles);
    return true;
}

/* The thread's head is an UNPACR of a MOP, which only its unit can stall. */
static inline bool unpacks(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    return f->mop_active && !(f->busy & ~WG_F_WORKS) && !f->latch.block && wg_gate_count(f) &&
           !(f->down[f->down_head % WG_DOWN_RING] & (WG_E_TTSYNC | WG_E_DIRECT)) &&
           wg_gate_fifo_at(f, 0)->unit == WG_UNIT_UNPACK;
}

/* Can a burst of PACRs stay open while these units and threads act? */
static inline bool keeps_open(const wg_tile *t, uint32_t some)
{
    if (some & WG_UNITS_BITS & ~(uint32_t)UNPACKERS)
        return false;
    for (uint32_t mask = some & WG_THREADS_BITS; mask; mask &= mask - 1)
        if (!unpacks(t, (unsigned)__builtin_ctz(mask) - WG_AGENT_THREAD0))
            return false;
    return true;
}

/*
 * Ends the burst of PACRs. If its thread only waits until `stop`, it has completed the cycles before `stop`, otherwise those
 * before burst.from.
 */
static void close_burst(wg_pack_many *m, uint64_t stop)
{
    wg_schedule *s = &m->t->sched;
    wg_burst *b = &m->burst;
    const uint64_t now = s->now;
    const bool waits = b->from < stop && wg_pack_many_waits(m, stop);
    wg_pack_many_end(m);
    wg_filter_wakes(s, b->thread, 0);
    if (m->accepted)
        burst_used(b, m->accepted, WG_UNIT_PACK);
    else
        wg_set_wake(s, WG_AGENT_THREAD0 + b->thread, b->from);
    if (waits) { /* it looks once and finds nothing to do */
        s->now = b->from;
        (void)wg_take(m->t, WG_AGENT_THREAD0 + b->thread);
        one_thread(m->t, b->f, b->thread);
    }
    s->now = now;
}

/* Begins a burst of PACRs with the current cycle, if possible. */
static bool open_burst(wg_pack_many *m, wg_tile *t, unsigned thread, uint64_t others)
{
    enum { CYCLES = 16 }; /* a shorter burst does not pay */
    wg_schedule *s = &t->sched;
    const uint32_t own = WG_AGENT_BIT(WG_AGENT_THREAD0 + thread) | WG_AGENT_BIT(WG_AGENT_PACK);
    if (others < s->now + CYCLES || !keeps_open(t, wg_due(s, PIPELINE & ~own, s->now + CYCLES)) ||
        !wg_pack_many_begin(m, t, thread, others))
        return false;
    wg_cancel_wake(s, WG_AGENT_THREAD0 + thread);
    wg_cancel_wake(s, WG_AGENT_PACK);
    wg_filter_wakes(s, thread, WG_CAUSE_ANY);
    wg_pack_many_run(m, s->now + 1);
    if (m->accepted || wg_pack_many_waits(m, s->now + 1))
        return true;
    close_burst(m, s->now);
    return false;
}

/*
 * Units or threads act in cycle `next`, others in cycle `until`: the burst continues up to the earlier of these. False: it has
 * ended, and the current cycle is the last one that every agent has completed.
 */
static bool goes_on_to(wg_pack_many *m, uint64_t next, uint64_t until)
{
    wg_schedule *s = &m->t->sched;
    const uint64_t done = s->now, stop = least(next, until); /* others have completed the cycles before `done` */
    if (wg_pack_many_next(m) < stop)
        wg_pack_many_run(m, stop);
    const bool waits = wg_pack_many_waits(m, stop) && wg_pack_many_completes(m, stop - 1);
    if (waits && next < until && !wg_due(s, WG_UNITS_BITS & ~(uint32_t)UNPACKERS, next))
        return true;
    s->now = (waits ? stop : done > m->burst.from ? done : m->burst.from) - 1;
    close_burst(m, s->now + 1);
    return false;
}

/* The burst's part of a cycle in which others act, after their phase B. False: it ended before phase E. */
static bool takes_cycle(wg_pack_many *m, uint32_t due, bool others_act)
{
    const wg_schedule *s = &m->t->sched;
    const unsigned accepted = m->accepted;
    if (!others_act && keeps_open(m->t, due) && wg_pack_many_goes_on(m) && wg_pack_many_completes(m, s->now)) {
        if (wg_pack_many_next(m) > s->now)
            return true;
        wg_pack_many_run(m, s->now + 1);
        if (m->accepted != accepted)
            return true;
    }
    close_burst(m, s->now);
    wg_tile_tick(m->t, WG_AGENT_PACK);
    return false;
}

/* ---- The loop ----------------------------------------------------------------------------------------------- */

/* Phases D to G of the threads in `due`, for one or more cycles. True: a burst of PACRs is now open. */
WG_STAGE bool threads(wg_tile *t, uint32_t due, uint64_t others, wg_pack_many *m)
{
    enum { MANY = 1u << WG_UNIT_MATRIX | 1u << WG_UNIT_VECTOR | 1u << WG_UNIT_PACK | 1u << WG_UNIT_NONE };
    wg_schedule *s = &t->sched;
    const uint64_t until = least(others, s->later);
    const bool arbitrate = must_arbitrate(t), bursts = wg_fast(t, WG_FAST_BURSTS);
    if ((due & (due - 1)) | arbitrate) {
        if (bursts && !arbitrate && burst_of_nops(t, due, until))
            return false;
        wg_fast_used(t, WG_FAST_FRONTENDS, 1);
        s->phase = WG_PHASE_GATES;
        all_threads(t, wg_take_all(t, due) >> WG_AGENT_THREAD0, arbitrate);
        return false;
    }
    const unsigned agent = (unsigned)__builtin_ctz(due), thread = agent - WG_AGENT_THREAD0;
    wg_frontend *f = wg_frontend_of(t, thread);
    const unsigned entry = f->down[f->down_head % WG_DOWN_RING], unit = f->pool[entry & WG_E_PLACE].unit;
    if (MANY >> unit & 1 && bursts && (f->down_end != f->gate_end || f->replay_busy)) {
        if (unit == WG_UNIT_NONE ? burst_of_nops(t, due, until)
            : unit == WG_UNIT_MATRIX
                ? f->pool[entry & WG_E_PLACE].op == WG_I_MVMUL && burst(t, thread, unit, wg_matrix_accept_many, until)
            : unit == WG_UNIT_VECTOR ? burst(t, thread, unit, wg_vector_accept_many, until)
                                     : false)
            return false;
        if (unit == WG_UNIT_PACK && m && t->arch->pack.interfaces && open_burst(m, t, thread, others))
            return true;
    }
    wg_fast_used(t, WG_FAST_FRONTENDS, 1);
    (void)wg_take(t, agent);
    s->phase = WG_PHASE_GATES;
    if (!streams(t, f, thread))
        one_thread(t, f, thread);
    return false;
}

/* After phases E to G: the rest of the cycle, if another agent acts in it. Returns when others act next. */
static inline uint64_t end_cycle(wg_tile *t, uint64_t others, uint64_t end)
{
    wg_schedule *s = &t->sched;
    if (s->woken & OTHERS && (others = woken_act(t, others)) <= s->now) {
        wg_tile_to_next(t);
        return others_act(t, end);
    }
    s->now++;
    s->phase = WG_PHASE_ARRIVALS;
    return others;
}

static void cycles(wg_tile *t, uint64_t end)
{
    wg_schedule *s = &t->sched;
    wg_pack_many many;
    bool open = false; /* a burst of PACRs is open: its thread and the packers are not scheduled */
    for (uint64_t others = others_act(t, end);;) {
        const bool stops = t->dev->stop_requested | (t->backend.scalar.refusals != 0);
        const uint64_t now = upcoming(s);
        if (now >= s->later && s->later < others) {
            wg_tile_look_through(s);
            others = others_act(t, end);
            continue;
        }
        if (__builtin_expect(open, 0) && !goes_on_to(&many, now, stops ? s->now : others)) {
            open = false;
            others = end_cycle(t, others, end);
            continue;
        }
        if (stops)
            return;
        if (now >= others) {
            if (others >= end || others >= t->horizon || t->l1_turns >= WG_L1_TURNS)
                return;
            s->now = others;
            wg_tile_cycle(t);
            others = others_act(t, end);
            continue;
        }
        s->now = now;
        s->phase = WG_PHASE_COMPLETIONS;
        bool others_due = false;
        if (s->soon & WG_UNITS_BITS) {
            if (open)
                wg_pack_many_writes(&many);
            for (uint32_t mask = s->soon & WG_UNITS_BITS; mask; mask &= mask - 1)
                wg_tile_tick(t, (unsigned)__builtin_ctz(mask));
            others_due = s->woken & OTHERS && (others = woken_act(t, others)) <= now;
        }
        uint32_t due = wg_due(s, WG_THREADS_BITS, now);
        if (__builtin_expect(open, 0) && !takes_cycle(&many, due, others_due)) {
            open = false;
            due = wg_due(s, WG_THREADS_BITS, now);
        }
        if (others_due) {
            wg_tile_from_regions(t);
            others = others_act(t, end);
            continue;
        }
        if (due && !wg_fast(t, WG_FAST_FRONTENDS)) {
            s->phase = WG_PHASE_LATCHES;
            wg_frontends(t, wg_take_all(t, due) >> WG_AGENT_THREAD0);
        } else if (due) {
            if (__builtin_expect(open, 0))
                wg_pack_many_writes(&many);
            open |= threads(t, due, others, open ? NULL : &many);
        }
        if (__builtin_expect(open, 0) &&
            ((s->woken & OTHERS && woken_act(t, others) <= now) || !wg_pack_many_goes_on(&many))) {
            close_burst(&many, now + 1);
            open = false;
        }
        others = end_cycle(t, others, end);
    }
}

void wg_fast_pipeline(wg_tile *t, uint64_t end)
{
    const uint64_t from = t->sched.now;
    if (!wg_fast(t, WG_FAST_PIPELINE))
        return;
    cycles(t, end);
    wg_fast_used(t, WG_FAST_PIPELINE, t->sched.now - from);
}
