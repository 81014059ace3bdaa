/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases D to G of the threads that are due, while nobody watches and nothing is perturbed. Most of the time a stage has
 * nothing to do but to let its instruction pass; that is done here, and whatever is more than that by the stage itself
 * (wait_gate.c, replay.c, mop.c).
 */
#include "machine/fast.h"

#include "machine/sync.h"
#include "fast/works.h"
#include "frontend/replay.h"
#include "report/touch.h"

/* What phase D found met is forgotten, unless a new wait was latched in its place. */
static inline void forget(wg_tile *t, unsigned met)
{
    for (; met; met &= met - 1) {
        wg_frontend *f = &t->frontend[__builtin_ctz(met)];
        wg_latch *l = &f->latch;
        if (l->met)
            l->kind = l->met = 0, l->block = 0, f->blocks_all = false;
    }
}

/*
 * What of a thread's phases E to G is left to the stages themselves. A stage that merely lets pass what it has (the
 * gate a NOP, the expanders what is not theirs) needs nobody else; one behind a stage that is left is left as well.
 */
enum { LEFT_MOP = 1, LEFT_REPLAY = 2, LEFT_GATE = 4 };

/* Phases F and G while no expander makes anything; bits of `room` as in wg_push_room(). */
WG_STAGE unsigned move_up(wg_tile *t, wg_frontend *f, unsigned thread, unsigned room)
{
    unsigned head = f->down_head, gate_end = f->gate_end, down_end = f->down_end, left = 0;
    if (gate_end != down_end && f->down[gate_end % WG_DOWN_RING] & WG_E_REPLAY) {
        left = LEFT_REPLAY | LEFT_MOP;
    } else {
        if (gate_end != down_end && (uint8_t)(gate_end - head) < WG_GATE_FIFO) {
            f->gate_end = (uint8_t)++gate_end;
            f->moved = true;
            room |= 2;
        }
        unsigned count = f->fifo_count, first = f->fifo_head, entry = f->fifo[first];
        if (count && entry & WG_E_MOP) {
            left = LEFT_MOP;
        } else if (count && (uint8_t)(down_end - gate_end) < WG_REPLAY_FIFO && t->sched.now >= f->mop.ready_at) {
            f->down[down_end % WG_DOWN_RING] = (uint16_t)entry;
            f->down_end = (uint8_t)(down_end + 1);
            f->fifo_head = (first + 1) % WG_FIFO_RING;
            f->fifo_count = (uint8_t)(count - 1);
            f->plain_downstream++;
            f->moved = true;
            room |= 1;
        }
    }
    wg_push_room(t, f, thread, room);
    return left;
}

/* The same while one is at work. */
WG_STAGE unsigned expand(wg_tile *t, wg_frontend *f, unsigned thread, unsigned room)
{
    unsigned gate_end = f->gate_end;
    if (f->replay_busy) {
        if (!wg_replay_plays(t, f)) {
            wg_push_room(t, f, thread, room);
            return LEFT_REPLAY | LEFT_MOP;
        }
        if (!f->mux_busy) {
            unsigned entry = f->fifo[f->fifo_head];
            wg_push_room(t, f, thread, room);
            if (f->fifo_count && entry & WG_E_MOP)
                return LEFT_MOP;
            wg_mux_passes(t, f, thread);
            return 0;
        }
    } else if (gate_end != f->down_end) {
        if (f->down[gate_end % WG_DOWN_RING] & WG_E_REPLAY) {
            wg_push_room(t, f, thread, room);
            return LEFT_REPLAY | LEFT_MOP;
        }
        if (wg_gate_has_room(f)) {
            f->gate_end = (uint8_t)(gate_end + 1);
            f->moved = true;
            room |= 2;
        }
    }
    wg_push_room(t, f, thread, room);
    return wg_mop_loops(t, f) ? 0 : LEFT_MOP;
}

/* The MOP Expander alone is at work, and neither FIFO behind it has room for anything. */
static inline bool is_full(const wg_frontend *f)
{
    enum { ACTIVE_ALONE = 1 };
    return f->mux_busy == ACTIVE_ALONE && !f->replay_busy &&
           (uint8_t)(f->down_end - f->down_head) == WG_GATE_FIFO + WG_REPLAY_FIFO &&
           !(f->down[f->gate_end % WG_DOWN_RING] & WG_E_REPLAY);
}

/* Phases F and G. */
WG_STAGE unsigned behind(wg_tile *t, wg_frontend *f, unsigned thread, unsigned room)
{
    return f->replay_busy | f->mux_busy ? expand(t, f, thread, room) : move_up(t, f, thread, room);
}

/* Phases E to G. */
WG_STAGE unsigned pass(wg_tile *t, wg_frontend *f, unsigned thread)
{
    unsigned head = f->down_head, room = 0;
    if (head != f->gate_end) {
        unsigned entry = f->down[head % WG_DOWN_RING];
        if ((entry & (WG_E_PASSES | WG_E_TTSYNC)) != WG_E_PASSES || f->gate_busy)
            return LEFT_GATE;
        wg_place_free(f, entry);
        room = entry / WG_E_PLAIN & 1;
        f->plain_downstream = (uint8_t)(f->plain_downstream - room);
        f->down_head = (uint8_t)(head + 1);
        f->moved = true;
        wg_wake_idle_watchers(&t->sched);
    }
    return behind(t, f, thread, room);
}

/*
 * The same, seen at one glance, where every stage has an instruction and lets it pass; false, and nothing done, where
 * that is not so.
 */
static inline bool streams(wg_frontend *f, uint64_t now)
{
    unsigned head = f->down_head, gate_end = f->gate_end, down_end = f->down_end, first = f->fifo_head;
    unsigned leaves = f->down[head % WG_DOWN_RING], passes = f->down[gate_end % WG_DOWN_RING], comes = f->fifo[first];
    if (f->busy & ~WG_F_BYTE(push_waits) || head == gate_end || gate_end == down_end || !f->fifo_count ||
        now < f->mop.ready_at ||
        ((leaves & (WG_E_PASSES | WG_E_TTSYNC | WG_E_PLAIN)) ^ (WG_E_PASSES | WG_E_PLAIN)) | (passes & WG_E_REPLAY) |
            (comes & WG_E_MOP))
        return false;
    wg_place_free(f, leaves);
    f->down[down_end % WG_DOWN_RING] = (uint16_t)comes;
    f->down_head = (uint8_t)(head + 1);
    f->gate_end = (uint8_t)(gate_end + 1);
    f->down_end = (uint8_t)(down_end + 1);
    f->fifo_head = (uint8_t)((first + 1) % WG_FIFO_RING);
    f->fifo_count--;
    return true;
}

__attribute__((noinline)) static void frontends(wg_tile *t, unsigned due)
{
    wg_schedule *s = &t->sched;
    unsigned met = 0, rest = 0, wanting = 0, replays = 0, mops = 0;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        if (!(due >> i & 1))
            continue;
        wg_frontend *f = wg_frontend_of(t, i);
        s->wake_filter[i] = 0; /* while it is about to look, and while it moves */
        f->moved = f->latch.block && wg_gate_latch(t, i, false);
        met |= (unsigned)f->moved << i;
        if (streams(f, s->now)) {
            s->next[WG_AGENT_THREAD0 + i] = s->now + 1; /* the engine has taken the old one */
            s->soon |= WG_AGENT_BIT(WG_AGENT_THREAD0 + i);
            wg_push_room(t, f, i, 1);
            wg_wake_idle_watchers(s);
            continue;
        }
        unsigned left = pass(t, f, i);
        if (!left) {
            wg_works_appoint(t, f, i);
            continue;
        }
        rest |= 1u << i;
        wanting |= left / LEFT_GATE << i;
        replays |= (left / LEFT_REPLAY & 1) << i;
        mops |= (left & LEFT_MOP) << i;
    }
    if (wanting | t->backend.sync.core_waits) {
        s->phase = WG_PHASE_GATES;
        wg_gates(t, wanting, false);
    }
    forget(t, met);
    for (; wanting; wanting &= wanting - 1) {
        unsigned i = (unsigned)__builtin_ctz(wanting);
        unsigned left = behind(t, wg_frontend_of(t, i), i, 0);
        replays |= left / LEFT_REPLAY << i;
        mops |= (left & LEFT_MOP) << i;
    }
    s->phase = WG_PHASE_REPLAY;
    for (; replays; replays &= replays - 1)
        wg_replay(t, (unsigned)__builtin_ctz(replays), false);
    s->phase = WG_PHASE_MOP;
    for (; mops; mops &= mops - 1)
        wg_mop(t, (unsigned)__builtin_ctz(mops), false);
    for (; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        wg_works_appoint(t, wg_frontend_of(t, i), i);
    }
}

/* ---- While nobody watches ----------------------------------------------------------------------------- */

enum { HELD = WG_UNIT_FRONTEND, STRANGE = WG_UNIT_COUNT };

/*
 * Phase D of a thread, and of E what keeps its head from its unit. Returns the unit that the head goes to next, HELD if
 * there is none, and STRANGE where it is more than that: then nothing is done that cannot be done again.
 */
static inline unsigned look(wg_tile *t, wg_frontend *f, unsigned thread)
{
    unsigned head = f->down_head, entry = f->down[head % WG_DOWN_RING];
    const wg_insn *insn = &f->pool[entry & WG_E_PLACE];
    wg_stall why;
    if (entry & (WG_E_TTSYNC | WG_E_PASSES) && head != f->gate_end)
        return STRANGE;
    t->sched.wake_filter[thread] = 0; /* while it is about to look, and while it moves */
    f->moved = f->latch.block && wg_gate_latch(t, thread, false);
    if (head == f->gate_end)
        return HELD;
    if (f->latch.block & insn->block)
        why = wg_gate_caught(f, insn);
    else if (!f->holders || !wg_gate_own_units_hold(t, f, thread, &why))
        return insn->unit;
    wg_gate_stalls(f, &why, t->sched.now);
    return HELD;
}

/* The rest of E behind look(). */
static inline void serve(wg_tile *t, wg_frontend *f, unsigned thread, unsigned unit)
{
    if (unit == HELD)
        return;
    const wg_insn *head = wg_gate_fifo_at(f, 0);
    if (unit == WG_UNIT_SYNC) {
        wg_stall why;
        if (!wg_gate_serve_sync(t, f, thread, head, &why))
            wg_gate_waits(t, f, head, &why);
    } else if (wg_gate_enters(t, f, thread, wg_units[unit], unit) && head->op == WG_I_SETC16) {
        wg_ttsync_setc16_passed(t, thread, head->id);
    }
}

__attribute__((noinline)) static unsigned expand_there(wg_tile *t, wg_frontend *f, unsigned thread)
{
    return expand(t, f, thread, 0);
}

/* F and G while every stage only lets pass what it has; else what is left of them, and only then its appointment is. */
WG_STAGE unsigned let_pass(wg_tile *t, wg_frontend *f, unsigned thread)
{
    unsigned left = 0;
    if (!(f->replay_busy | f->mux_busy))
        left = move_up(t, f, thread, 0);
    else if (!is_full(f))
        left = expand_there(t, f, thread);
    if (!left)
        wg_works_appoint(t, f, thread);
    return left;
}

/* One thread alone. */
static inline void frontend_alone(wg_tile *t, unsigned thread)
{
    wg_frontend *f = wg_frontend_of(t, thread);
    unsigned unit = look(t, f, thread), met = f->moved;
    if (__builtin_expect(unit == STRANGE, 0)) {
        frontends(t, 1u << thread);
        return;
    }
    serve(t, f, thread, unit);
    if (met)
        forget(t, 1u << thread);
    unsigned left = let_pass(t, f, thread);
    if (__builtin_expect(left, 0)) {
        if (left & LEFT_REPLAY)
            wg_replay(t, thread, false);
        wg_mop(t, thread, false);
        wg_works_appoint(t, f, thread);
    }
}

/* Two, if they do not want the same unit: one after the other in the order of the units. */
static inline void frontends_apart(wg_tile *t, unsigned first, unsigned second)
{
    wg_frontend *f = wg_frontend_of(t, first), *g = wg_frontend_of(t, second);
    unsigned unit_f = look(t, f, first), unit_g = look(t, g, second);
    if (__builtin_expect(unit_f == STRANGE || unit_g == STRANGE || (unit_f == unit_g && unit_f != HELD), 0)) {
        frontends(t, 1u << first | 1u << second);
        return;
    }
    unsigned met = (unsigned)f->moved << first | (unsigned)g->moved << second;
    bool turned = unit_g < unit_f;
    for (unsigned k = 0; k < 2; k++)
        if (turned == k)
            serve(t, f, first, unit_f);
        else
            serve(t, g, second, unit_g);
    if (met)
        forget(t, met);
    unsigned left_f = let_pass(t, f, first), left_g = let_pass(t, g, second);
    if (__builtin_expect(left_f | left_g, 0)) {
        if (left_f & LEFT_REPLAY)
            wg_replay(t, first, false);
        if (left_g & LEFT_REPLAY)
            wg_replay(t, second, false);
        if (left_f) {
            wg_mop(t, first, false);
            wg_works_appoint(t, f, first);
        }
        if (left_g) {
            wg_mop(t, second, false);
            wg_works_appoint(t, g, second);
        }
    }
}

__attribute__((noinline)) static void frontends_few(wg_tile *t, unsigned first, unsigned more)
{
    t->sched.phase = WG_PHASE_GATES; /* for all it matters, of D to G */
    if (more)
        frontends_apart(t, first, (unsigned)__builtin_ctz(more));
    else
        frontend_alone(t, first);
}

bool wg_fast_frontends(wg_tile *t, unsigned due)
{
    const unsigned more = due & (due - 1);
    if (!wg_fast(t, WG_FAST_FRONTENDS))
        return false;
    wg_fast_used(t, WG_FAST_FRONTENDS);
    if (more & (more - 1) ||
        __builtin_expect(t->backend.sync.core_waits | wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS), 0))
        frontends(t, due);
    else
        frontends_few(t, (unsigned)__builtin_ctz(due), more);
    return true;
}
