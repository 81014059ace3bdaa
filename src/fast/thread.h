/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a thread while nobody observes, and its schedule. */
#ifndef WG_FAST_THREAD_H
#define WG_FAST_THREAD_H

#include "machine/stall.h"
#include "machine/sync.h"
#include "machine/unit.h"
#include "frontend/unobserved.h"

/*
 * Nothing moved: the wake filter, the causes that can unblock the thread (wg_wake_waiting). A head that waits for a known
 * cycle or for banks ignores other completions. A change of configuration or counters always counts.
 */
static inline uint32_t wg_thread_waits_for(const wg_frontend *f)
{
#define UNIT(unit) WG_AGENT_BIT(WG_AGENT_##unit)
    enum { ANY_SETTING = UNIT(SCALAR) | UNIT(CONFIG) | UNIT(MOVER) | UNIT(MISC) };
    uint32_t causes = f->latch.block ? f->latch.causes : 0;
    if (!wg_gate_count(f))
        return causes;
    const wg_insn *head = wg_gate_fifo_at(f, 0);
    if (head->ttsync)
        return WG_CAUSE_ANY;
    switch (wg_stall_ended_by(&f->stall)) {
    case WG_ENDED_BY_LATCH: return causes;
    case WG_ENDED_BY_SRCA:
    case WG_ENDED_BY_SRCB:
    case WG_ENDED_BY_DST: return causes | WG_CAUSE_SRC | ANY_SETTING;
    case WG_ENDED_BY_MUTEX: return causes | UNIT(SYNC);
    case WG_ENDED_BY_UNPACKERS: return causes | UNIT(UNPACK0) | UNIT(UNPACK1);
    case WG_ENDED_BY_UNIT:
        if (head->unit == WG_UNIT_PACK)
            return causes | ANY_SETTING | (f->stall.retry_at == WG_NEVER ? UNIT(PACK) : 0);
        if (head->unit == WG_UNIT_UNPACK) /* its queue is full */
            return causes | UNIT(UNPACK0) | UNIT(UNPACK1);
        break;
    case WG_ENDED_BY_NOTHING:
    case WG_ENDED_BY_HOLDER:
    case WG_ENDED_BY_NOBODY:
    case WG_ENDED_BY_SCALAR:
    case WG_ENDED_BY_NO_MUTEX:
    case WG_ENDED_BY_FIFO:
    case WG_ENDED_BY_THREAD:
    case WG_ENDED_BY_CORE_B: break;
    }
    return WG_CAUSE_ANY;
#undef UNIT
}

/* After phases D to G: schedules the thread, whose old wake-up has been taken. */
static inline void wg_thread_schedule(wg_tile *t, const wg_frontend *f, unsigned thread)
{
    wg_schedule *s = &t->sched;
    if (f->moved) {
        wg_wake_next(s, WG_AGENT_THREAD0 + thread);
        return;
    }
    wg_filter_wakes(s, thread, ~wg_thread_waits_for(f));
    wg_wake_at(s, WG_AGENT_THREAD0 + thread, wg_next_look(t, f));
}

enum { WG_THREAD_HELD = WG_UNIT_FRONTEND, WG_THREAD_GATES = WG_UNIT_COUNT };

/*
 * Phase D, and the part of phase E that needs no unit. Returns the unit that the head wants; WG_THREAD_HELD: nothing is left
 * to do; WG_THREAD_GATES: wg_gates() has to decide.
 */
WG_STAGE unsigned wg_thread_look(wg_tile *t, wg_frontend *f, unsigned thread)
{
    const unsigned entry = f->down[f->down_head % WG_DOWN_RING];
    const wg_insn *head = &f->pool[entry & WG_E_PLACE];
    wg_stall why;
    wg_filter_wakes(&t->sched, thread, 0);
    f->moved = f->latch.block && wg_gate_latch(t, thread, false);
    if (!wg_gate_count(f))
        return WG_THREAD_HELD;
    if (__builtin_expect(entry & WG_E_TTSYNC, 0))
        return WG_THREAD_GATES;
    if (f->latch.block & head->block) {
        why = wg_gate_caught(f, head);
    } else if (!f->holders || !wg_gate_own_units_hold(t, f, thread, &why)) {
        if (!(entry & WG_E_PASSES))
            return head->unit;
        if (f->stalled)
            wg_gate_stall_ends(t, f, head, false);
        wg_gate_left(t, f, thread, entry);
        return WG_THREAD_HELD;
    }
    wg_gate_stalls(f, &why, t->sched.now);
    return WG_THREAD_HELD;
}

/* The rest of phase E: no other head wants the same unit. */
WG_STAGE void wg_thread_serve(wg_tile *t, wg_frontend *f, unsigned thread, unsigned unit)
{
    if (unit == WG_THREAD_HELD)
        return;
    const unsigned entry = f->down[f->down_head % WG_DOWN_RING];
    const wg_insn *head = &f->pool[entry & WG_E_PLACE];
    const wg_unit_ops *ops = wg_units[unit];
    wg_stall why;
    if (unit == WG_UNIT_SYNC) {
        if (!wg_gate_serve_sync(t, f, thread, head, &why))
            wg_gate_stalls(f, &why, t->sched.now);
        return;
    }
    if (!wg_unit_takes(t, ops, head, &why)) {
        wg_gate_stalls(f, &why, t->sched.now);
        return;
    }
    if (f->stalled)
        wg_gate_stall_ends(t, f, head, false);
    ops->accept(t, head);
    if (head->op == WG_I_SETC16)
        wg_ttsync_setc16_passed(t, thread, head->id);
    if (ops->holds)
        f->holders |= (uint16_t)(1u << unit);
    t->backend.turn[unit].next = (uint8_t)(thread == WG_THREADS - 1 ? 0 : thread + 1);
    wg_gate_left(t, f, thread, entry);
}

/* Phases F and G. */
WG_STAGE void wg_thread_move_up(wg_tile *t, wg_frontend *f, unsigned thread)
{
    if (f->replay_busy || f->down[f->gate_end % WG_DOWN_RING] & WG_E_REPLAY)
        wg_replay(t, thread, false);
    else if (wg_replay_count(f) && wg_gate_has_room(f))
        wg_replay_passed(t, f, false);
    if (f->mux_busy ? !wg_mop_loops(t, f) : f->fifo_count && !wg_mux_passes(t, f, thread))
        wg_mop(t, thread, false);
}

#endif
