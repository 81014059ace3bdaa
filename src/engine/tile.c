/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycle: phases A to J of time.md, consumers before producers, so that an item moves one stage
 * per cycle and a slot freed in a cycle can be refilled in it. Agents that are not due are skipped;
 * in lockstep mode every agent is ticked in every cycle, with the same outcome.
 */
#include "tile/tile.h"

#include "backend/matrix.h"
#include "backend/pack.h"
#include "backend/unit.h"
#include "engine/device.h"
#include "frontend/replay.h"
#include "frontend/works.h"

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

/* Appointments that were made for later have come near: the next of all, and those soon behind it. */
__attribute__((noinline)) static void look_through(wg_schedule *s)
{
    uint64_t first = WG_NEVER;
    uint32_t some = 0;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        if (s->next[i] != WG_NEVER) {
            some |= WG_AGENT_BIT(i);
            first = s->next[i] < first ? s->next[i] : first;
        }
    uint64_t near = (first > s->now ? first : s->now) + WG_SCHED_NEAR;
    s->later = WG_NEVER;
    s->soon = some;
    for (; some; some &= some - 1) {
        uint64_t at = s->next[__builtin_ctz(some)];
        if (at <= near)
            continue;
        s->soon &= ~(some & -some);
        s->later = at < s->later ? at : s->later;
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

static inline void tick(wg_tile *t, unsigned agent)
{
    if (take(t, agent) && agent != WG_AGENT_UNPACK1) /* ticked with Unpacker 0 */
        wg_units[unit_of[agent]]->tick(t);
}

/* Phases A and B. */
static void before_regions(wg_tile *t)
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
    for (uint32_t mask = soon(t, UNITS); mask; mask &= mask - 1) /* a unit's tick makes no other due in this cycle */
        tick(t, (unsigned)__builtin_ctz(mask));
}

/* Phases H to J, and on to the next cycle. */
static inline void to_next(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    if (soon(t, PUSHES | CORES)) {
        s->phase = WG_PHASE_PUSH;
        if (soon(t, PUSHES) && take(t, WG_AGENT_PUSHES))
            wg_regions_push(t);
        s->phase = WG_PHASE_LOAD_STORE;
        unsigned due = soon(t, CORES) ? take_all(t, WG_AGENT_CORE_B, WG_CORES) : 0;
        if (due)
            wg_cores_tick(t, due);
    }
    s->now++;
    s->phase = WG_PHASE_ARRIVALS;
}

/* Phases C to J. */
static inline void from_regions(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    if (soon(t, REGIONS)) {
        s->phase = WG_PHASE_REGIONS;
        if (take(t, WG_AGENT_REGIONS))
            wg_regions_tick(t);
    }
    if (soon(t, THREADS)) {
        s->phase = WG_PHASE_LATCHES;
        unsigned due = take_all(t, WG_AGENT_THREAD0, WG_THREADS);
        if (due)
            wg_frontends(t, due);
    }
    to_next(t);
}

void wg_tile_cycle(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    if (s->now >= s->later)
        look_through(s);
    if (soon(t, OUTSIDE | UNITS))
        before_regions(t);
    from_regions(t);
}

/* ---- Units and threads among themselves ---------------------------------------------------------------- */

enum { PIPELINE = UNITS | THREADS, OTHERS = CORES | REGIONS | PUSHES | OUTSIDE };

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

/* Is it worth trying whether PACRs can go faster yet (pack_burst.c)? Not while others are about to do something. */
static inline bool bursts(const wg_schedule *s, uint64_t others)
{
    enum { LEAST = 16 };
    uint32_t busy = s->soon & PIPELINE & ~WG_AGENT_BIT(WG_AGENT_PACK);
    return others > s->now + LEAST && !(busy & (busy - 1));
}

static inline bool some_mop(const wg_tile *t)
{
    return t->frontend[0].mop_active | t->frontend[1].mop_active | t->frontend[2].mop_active;
}

/*
 * A row of cycles in which one thread alone gives instructions of a MOP to one unit, from the current cycle, in which it
 * is due, to before `until`: phase B, and of D to G what is left when no wait is latched and the Replay Expander lets
 * everything pass. Says where it ends: somebody else has been woken, or it is more than that.
 */
typedef enum row_end { BETWEEN_CYCLES, BEFORE_REGIONS, BEFORE_PUSHES } row_end;

/* Is it worth trying? */
static inline bool is_row(const wg_tile *t, unsigned thread)
{
    enum { SIMPLE = 1u << WG_UNIT_UNPACK | 1u << WG_UNIT_MATRIX | 1u << WG_UNIT_PACK | 1u << WG_UNIT_VECTOR };
    const wg_frontend *f = &t->frontend[thread];
    return f->mop_active && !(f->busy & ~WG_F_WORKS) && !f->latch.block && wg_gate_count(f) &&
           SIMPLE >> wg_gate_fifo_at(f, 0)->unit & 1 && !t->backend.sync.core_waits &&
           !wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS);
}

static row_end row(wg_tile *t, unsigned thread, uint64_t until)
{
    wg_schedule *s = &t->sched;
    wg_frontend *f = wg_frontend_of(t, thread);
    uint64_t *next = &s->next[WG_AGENT_THREAD0 + thread], now = s->now;
    const unsigned unit = wg_gate_fifo_at(f, 0)->unit;
    const wg_unit_ops *ops = wg_units[unit];
    bool burst = unit == WG_UNIT_PACK && t->arch->pack.interfaces && bursts(s, until);
    s->woken = 0;
    s->deaf[thread] = 0;
    for (;;) {
        s->now = now;
        if (s->soon & UNITS) {
            s->phase = WG_PHASE_COMPLETIONS;
            for (uint32_t mask = s->soon & UNITS; mask; mask &= mask - 1)
                tick(t, (unsigned)__builtin_ctz(mask));
            if (s->woken & (OTHERS | THREADS))
                return BEFORE_REGIONS;
        }
        uint64_t after = now + 1;
        if (*next <= now) {
            unsigned head = f->down_head, gate_end = f->gate_end, entry = f->down[head % WG_DOWN_RING];
            const wg_insn *insn = &f->pool[entry & WG_E_PLACE];
            bool behind = gate_end != f->down_end;
            if (!f->mop_active || head == gate_end || insn->unit != unit || entry & (WG_E_TTSYNC | WG_E_PLAIN) ||
                (behind && f->down[gate_end % WG_DOWN_RING] & WG_E_REPLAY) || f->busy & ~WG_F_WORKS)
                return BEFORE_REGIONS;
            wg_gate_serve(t, f, thread, ops, unit);
            head += f->moved;
            if (behind && (uint8_t)(gate_end - head) < WG_GATE_FIFO) {
                f->gate_end = (uint8_t)(gate_end + 1);
                f->moved = true;
                wg_push_room(t, f, thread, 2);
            }
            s->phase = WG_PHASE_MOP;
            if (!wg_mop_loops(t, f))
                wg_mop(t, thread, false);
            *next = after;
            if (!f->moved) {
                s->deaf[thread] = ~wg_waits_for(f);
                *next = wg_next_look(t, f);
            }
            if (s->woken & (OTHERS | THREADS))
                return BEFORE_PUSHES;
        }
        if (*next != after) {
            uint64_t unit_next = earliest(s, UNITS);
            after = unit_next < *next ? unit_next : *next;
        }
        if (after >= until || after >= s->later || (burst && wg_pack_accepted_in(t, now)) ||
            t->dev->stop_requested | (t->backend.scalar.refusals != 0)) {
            s->now = now + 1;
            s->phase = WG_PHASE_ARRIVALS;
            return BETWEEN_CYCLES;
        }
        now = after;
    }
}

/* ---- One thread alone ----------------------------------------------------------------------------------- */

/*
 * The same for a thread that is alone, whatever makes its instructions (MOP Expander, Replay Expander or its core), as
 * long as they are for units that take one at a time.
 */
enum {
    ALONE_UNITS =
        1u << WG_UNIT_UNPACK | 1u << WG_UNIT_MATRIX | 1u << WG_UNIT_PACK | 1u << WG_UNIT_VECTOR | 1u << WG_UNIT_MISC
};
static inline bool is_alone(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    return !(f->busy & ~(WG_F_WORKS | WG_F_BYTE(replay_busy))) && !f->latch.block && wg_gate_count(f) &&
           ALONE_UNITS >> wg_gate_fifo_at(f, 0)->unit & 1 && !t->backend.sync.core_waits &&
           !wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS);
}

/* PACRs of a MOP that goes on for a while may go faster yet (pack_burst.c). */
static inline bool bursts_alone(const wg_tile *t, unsigned thread, uint64_t until)
{
    enum { INSTRUCTIONS = 4 };
    const wg_frontend *f = &t->frontend[thread];
    return t->arch->pack.interfaces && f->mop_active && wg_gate_fifo_at(f, 0)->unit == WG_UNIT_PACK &&
           (f->mop.i + INSTRUCTIONS < f->mop.inner || f->mop.j + 1 < f->mop.outer) && bursts(&t->sched, until);
}

/* Phase G. */
static inline void fill(wg_tile *t, wg_frontend *f, unsigned thread)
{
    if (f->mux_busy) {
        if (!wg_mop_loops(t, f))
            wg_mop(t, thread, false);
        return;
    }
    unsigned entry = f->fifo[f->fifo_head];
    if (!f->fifo_count)
        return;
    if (entry & WG_E_MOP) {
        wg_mop(t, thread, false);
    } else if (wg_replay_has_room(f) && t->sched.now >= f->mop.ready_at) {
        wg_replay_enqueue(f, entry);
        f->plain_downstream++;
        wg_fifo_left(t, f, thread, false);
    }
}

static row_end alone(wg_tile *t, unsigned thread, uint64_t until)
{
    wg_schedule *s = &t->sched;
    wg_frontend *f = wg_frontend_of(t, thread);
    uint64_t *next = &s->next[WG_AGENT_THREAD0 + thread], now = s->now;
    const bool burst = bursts_alone(t, thread, until);
    s->woken = 0;
    s->deaf[thread] = 0;
    for (;;) {
        s->now = now;
        if (s->soon & UNITS) {
            s->phase = WG_PHASE_COMPLETIONS;
            for (uint32_t mask = s->soon & UNITS; mask; mask &= mask - 1)
                tick(t, (unsigned)__builtin_ctz(mask));
            if (s->woken & (OTHERS | THREADS))
                return BEFORE_REGIONS;
        }
        uint64_t after = now + 1;
        if (*next <= now) {
            unsigned head = f->down_head, gate_end = f->gate_end, entry = f->down[head % WG_DOWN_RING];
            unsigned unit = f->pool[entry & WG_E_PLACE].unit;
            bool behind = gate_end != f->down_end, plays = f->replay_busy;
            if (head == gate_end || !(ALONE_UNITS >> unit & 1) || entry & WG_E_TTSYNC ||
                f->busy & ~(WG_F_WORKS | WG_F_BYTE(replay_busy)) ||
                (plays ? !wg_replay_usual(t, f) : behind && f->down[gate_end % WG_DOWN_RING] & WG_E_REPLAY))
                return BEFORE_REGIONS;
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
                s->deaf[thread] = ~wg_waits_for(f);
                *next = wg_next_look(t, f);
            }
            if (s->woken & (OTHERS | THREADS))
                return BEFORE_PUSHES;
        }
        if (*next != after) {
            uint64_t unit_next = earliest(s, UNITS);
            after = unit_next < *next ? unit_next : *next;
        }
        if (after >= until || after >= s->later || (burst && wg_pack_accepted_in(t, now)) ||
            t->dev->stop_requested | (t->backend.scalar.refusals != 0)) {
            s->now = now + 1;
            s->phase = WG_PHASE_ARRIVALS;
            return BETWEEN_CYCLES;
        }
        now = after;
    }
}

/*
 * Most of the time an instruction goes from a thread to a unit and ends there, and nobody else has an appointment. Those
 * cycles are run here one after the other: phases B and D to G as in wg_tile_cycle(), the others having nothing to do.
 * Where a unit or a thread wakes somebody else in its own cycle, the rest of that cycle is run as ever.
 */
void wg_tile_cycles(wg_tile *t, uint64_t end)
{
    wg_schedule *s = &t->sched;
    wg_tile_cycle(t);
    if (t->lockstep)
        return;
    bool careful = wg_careful(t);
    uint64_t others = others_act(t, end);
    while (!(t->dev->stop_requested | (t->backend.scalar.refusals != 0))) {
        if (wg_pack_accepted(t) && bursts(s, others) && some_mop(t)) {
            wg_pack_burst(t, others);
            others = others_act(t, end);
        }
        uint32_t some = s->soon & PIPELINE;
        uint64_t next = some && s->next[__builtin_ctz(some)] <= s->now ? s->now : earliest(s, PIPELINE);
        if (s->later <= next && s->later < others) {
            look_through(s);
            others = others_act(t, end);
            continue;
        }
        if (next >= others)
            return;
        uint64_t now = s->now = next > s->now ? next : s->now;
        uint32_t threads = s->soon & THREADS;
        bool one = threads && !(threads & (threads - 1)) && !careful;
        unsigned thread = one ? (unsigned)__builtin_ctz(threads) - WG_AGENT_THREAD0 : 0;
        bool by_itself = one && is_alone(t, thread);
        if (by_itself || (one && is_row(t, thread))) {
            row_end ends = by_itself ? alone(t, thread, others) : row(t, thread, others);
            bool act = ends != BETWEEN_CYCLES && others_act(t, end) <= s->now;
            if (ends == BEFORE_REGIONS)
                from_regions(t);
            else if (ends == BEFORE_PUSHES)
                to_next(t);
            if (act)
                return;
            others = others_act(t, end);
            continue;
        }
        if (s->soon & UNITS) {
            s->phase = WG_PHASE_COMPLETIONS;
            for (uint32_t mask = s->soon & UNITS; mask; mask &= mask - 1)
                tick(t, (unsigned)__builtin_ctz(mask));
            if (s->woken & OTHERS && (others = others_act(t, end)) <= now) {
                from_regions(t);
                return;
            }
        }
        if (s->soon & THREADS) {
            s->phase = WG_PHASE_LATCHES;
            unsigned due = take_all(t, WG_AGENT_THREAD0, WG_THREADS);
            if (due)
                wg_frontends(t, due);
            if (s->woken & OTHERS && (others = others_act(t, end)) <= now) {
                to_next(t);
                return;
            }
        }
        s->now = now + 1;
        s->phase = WG_PHASE_ARRIVALS;
    }
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
