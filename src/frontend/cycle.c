/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle of the frontends: phases D to G of time.md for the threads that are due.
 *
 *     D  latched waits look      E  heads pass the gate      F  Replay Expander      G  mux and MOP Expander
 *
 * Most of the time a stage has nothing to do but to let its instruction pass; that is done here, and whatever is more
 * than that by the stage itself (wait_gate.c, replay.c, mop.c). Everything is compiled twice: for a run that somebody
 * watches or that is perturbed (`careful`), and for one where it is certain that no event and no delay is wanted.
 */
#include "frontend/works.h"
#include "observe/touch.h"

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

/* Phases F and G, and E before them unless the gate has been served. */
WG_STAGE unsigned pass(wg_tile *t, wg_frontend *f, unsigned thread, bool gate_served)
{
    unsigned head = f->down_head, gate_end = f->gate_end, down_end = f->down_end, left = 0;
    unsigned room = 0; /* as in wg_push_room() */
    if (head != gate_end && !gate_served) {
        unsigned entry = f->down[head % WG_DOWN_RING];
        if ((entry & (WG_E_PASSES | WG_E_TTSYNC)) != WG_E_PASSES || f->gate_busy)
            return LEFT_GATE;
        wg_place_free(f, entry);
        room = entry / WG_E_PLAIN & 1;
        f->plain_downstream = (uint8_t)(f->plain_downstream - room);
        f->down_head = (uint8_t)++head;
        f->moved = true;
        wg_wake_idle_watchers(&t->sched);
    }
    if (f->replay_busy || (gate_end != down_end && f->down[gate_end % WG_DOWN_RING] & WG_E_REPLAY)) {
        left = LEFT_REPLAY | LEFT_MOP;
    } else {
        if (gate_end != down_end && (uint8_t)(gate_end - head) < WG_GATE_FIFO) {
            f->gate_end = (uint8_t)++gate_end;
            f->moved = true;
            room |= 2;
        }
        unsigned count = f->fifo_count, first = f->fifo_head, entry = f->fifo[first];
        if (f->mux_busy) {
            left = wg_mop_loops(t, f) ? 0 : LEFT_MOP;
        } else if (count && entry & WG_E_MOP) {
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

/*
 * The same, seen at one glance, where every stage has an instruction and lets it pass; false, and nothing done, where
 * that is not so.
 */
static inline bool streams(wg_frontend *f, uint64_t now)
{
    unsigned head = f->down_head, gate_end = f->gate_end, down_end = f->down_end, first = f->fifo_head;
    unsigned leaves = f->down[head % WG_DOWN_RING], passes = f->down[gate_end % WG_DOWN_RING], comes = f->fifo[first];
    if (f->busy || head == gate_end || gate_end == down_end || !f->fifo_count || now < f->mop.ready_at ||
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

WG_STAGE void frontends(wg_tile *t, unsigned due, const bool careful)
{
    wg_schedule *s = &t->sched;
    unsigned met = 0, rest = 0, wanting = 0, replays = 0, mops = 0;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        if (!(due >> i & 1))
            continue;
        wg_frontend *f = wg_frontend_of(t, i);
        s->deaf[i] = 0; /* while it is about to look, and while it moves */
        f->moved = f->latch.block && wg_gate_latch(t, i, careful);
        met |= (unsigned)f->moved << i;
        if (!careful && streams(f, s->now)) {
            s->next[WG_AGENT_THREAD0 + i] = s->now + 1; /* the engine has taken the old one */
            s->soon |= WG_AGENT_BIT(WG_AGENT_THREAD0 + i);
            wg_wake_idle_watchers(s);
            continue;
        }
        unsigned left = careful ? LEFT_GATE : pass(t, f, i, false);
        if (!left) {
            wg_appoint_thread(t, f, i, careful);
            continue;
        }
        rest |= 1u << i;
        wanting |= left / LEFT_GATE << i;
        replays |= (left / LEFT_REPLAY & 1) << i;
        mops |= (left & LEFT_MOP) << i;
    }
    if (wanting | t->backend.sync.core_waits) {
        s->phase = WG_PHASE_GATES;
        wg_gates(t, wanting, careful);
    }
    forget(t, met);
    for (; wanting; wanting &= wanting - 1) {
        unsigned i = (unsigned)__builtin_ctz(wanting);
        unsigned left = careful ? LEFT_REPLAY | LEFT_MOP : pass(t, wg_frontend_of(t, i), i, true);
        replays |= left / LEFT_REPLAY << i;
        mops |= (left & LEFT_MOP) << i;
    }
    s->phase = WG_PHASE_REPLAY;
    for (; replays; replays &= replays - 1)
        wg_replay(t, (unsigned)__builtin_ctz(replays), careful);
    s->phase = WG_PHASE_MOP;
    for (; mops; mops &= mops - 1)
        wg_mop(t, (unsigned)__builtin_ctz(mops), careful);
    for (; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        wg_appoint_thread(t, wg_frontend_of(t, i), i, careful);
    }
}

/* Phase E in the commonest case; false, and nothing done, if it is another. */
static inline bool serve(wg_tile *t, wg_frontend *f, unsigned thread)
{
    enum {
        SIMPLE =
            1u << WG_UNIT_UNPACK | 1u << WG_UNIT_MATRIX | 1u << WG_UNIT_PACK | 1u << WG_UNIT_VECTOR | 1u << WG_UNIT_MISC
    };
    unsigned head = f->down_head, entry = f->down[head % WG_DOWN_RING], unit = f->pool[entry & WG_E_PLACE].unit;
    if (head == f->gate_end || !(SIMPLE >> unit & 1) || entry & WG_E_TTSYNC || f->latch.block ||
        wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS))
        return false;
    wg_gate_serve(t, f, thread, wg_units[unit], unit);
    return true;
}

/* The same for one thread that nobody watches. */
static inline void frontend_alone(wg_tile *t, unsigned thread)
{
    wg_schedule *s = &t->sched;
    wg_frontend *f = wg_frontend_of(t, thread);
    s->deaf[thread] = 0;
    bool met = false;
    unsigned left = LEFT_GATE;
    if (!serve(t, f, thread)) {
        f->moved = met = f->latch.block && wg_gate_latch(t, thread, false);
        left = pass(t, f, thread, false);
        if (left & LEFT_GATE) {
            s->phase = WG_PHASE_GATES;
            wg_gates(t, 1u << thread, false);
        }
    }
    if (left & LEFT_GATE)
        left = pass(t, f, thread, true);
    if (met)
        forget(t, 1u << thread);
    s->phase = WG_PHASE_REPLAY;
    if (left & LEFT_REPLAY)
        wg_replay(t, thread, false);
    s->phase = WG_PHASE_MOP;
    if (left & LEFT_MOP)
        wg_mop(t, thread, false);
    wg_appoint_thread(t, f, thread, false);
}

WG_CAREFUL void frontends_carefully(wg_tile *t, unsigned due)
{
    wg_touch_by_nobody(t);
    frontends(t, due, true);
}

void wg_frontends(wg_tile *t, unsigned due)
{
    if (wg_careful(t))
        frontends_carefully(t, due);
    else if ((due & (due - 1)) | t->backend.sync.core_waits)
        frontends(t, due, false);
    else
        frontend_alone(t, (unsigned)__builtin_ctz(due));
}
