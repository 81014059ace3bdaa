/* SPDX-License-Identifier: Apache-2.0 */
/* A thread at work while nobody watches: its head waits or goes into a unit, and when it looks next. */
#ifndef WG_WORKS_H
#define WG_WORKS_H

#include "machine/unit.h"
#include "frontend/gate.h"
#include "frontend/mop.h"

/*
 * Nothing moved: who else could let the thread act; see wg_wake_waiting(). A head that waits for a known cycle, or for banks, is not to
 * be asked at every instruction's completion; what changes configuration and counters is always worth a look.
 */
static inline uint32_t wg_waits_for(const wg_frontend *f)
{
#define UNIT(unit) WG_AGENT_BIT(WG_AGENT_##unit)
    enum { ANY_SETTING = UNIT(SCALAR) | UNIT(CONFIG) | UNIT(MOVER) | UNIT(MISC) };
    uint32_t causes = f->latch.block ? f->latch.causes : 0;
    if (!wg_gate_count(f))
        return causes;
    const wg_insn *head = wg_gate_fifo_at(f, 0);
    if (head->ttsync)
        return WG_CAUSE_ANY;
    switch ((wg_stall_reason)f->stall.reason) {
    case WG_STALL_LATCHED_WAIT:
    case WG_STALL_LATCH_OCCUPIED: return causes;
    case WG_STALL_SRCA_NOT_HANDED_OVER:
    case WG_STALL_SRCB_NOT_HANDED_OVER:
    case WG_STALL_DST_BLOCK_WRITTEN: return causes | WG_CAUSE_SRC | ANY_SETTING;
    case WG_STALL_MUTEX_HELD: return causes | UNIT(SYNC);
    case WG_STALL_UNPACK_ADDRESS_PHASE: return causes | UNIT(UNPACK0) | UNIT(UNPACK1);
    case WG_STALL_UNIT_BUSY:
        if (head->unit == WG_UNIT_PACK)
            return causes | ANY_SETTING | (f->stall.retry_at == WG_NEVER ? UNIT(PACK) : 0);
        if (head->unit == WG_UNIT_UNPACK) /* its queue is full */
            return causes | UNIT(UNPACK0) | UNIT(UNPACK1);
        return WG_CAUSE_ANY;
    default: return WG_CAUSE_ANY;
    }
#undef UNIT
}

static inline void wg_works_appoint(wg_tile *t, const wg_frontend *f, unsigned thread)
{
    wg_schedule *s = &t->sched;
    if (f->moved) { /* the engine has taken the old one */
        s->next[WG_AGENT_THREAD0 + thread] = s->now + 1;
        s->soon |= WG_AGENT_BIT(WG_AGENT_THREAD0 + thread);
        return;
    }
    s->wake_filter[thread] = ~wg_waits_for(f);
    wg_wake_at(s, WG_AGENT_THREAD0 + thread, wg_next_look(t, f));
}

/* The head waits. */
static inline void wg_gate_stalls(wg_frontend *f, const wg_stall *why, uint64_t now)
{
    if (!f->stalled || f->stall.reason != why->reason || f->stall.resource != why->resource)
        f->stalled_since = now;
    wg_gate_keep(f, why);
    f->stalled = true;
}

/* Phase E for a head that waits for nothing but its unit, and no other's does; true: it is accepted. */
static inline bool wg_gate_enters(wg_tile *t, wg_frontend *f, unsigned thread, const wg_unit_ops *ops, unsigned unit)
{
    unsigned entry = f->down[f->down_head % WG_DOWN_RING];
    const wg_insn *head = &f->pool[entry & WG_E_PLACE];
    wg_stall why;
    if (!ops->check(t, head, &why)) {
        wg_gate_stalls(f, &why, t->sched.now);
        return false;
    }
    if (f->stalled)
        wg_gate_stall_ends(t, f, head, false);
    ops->accept(t, head);
    if (ops->holds)
        f->holders |= (uint16_t)(1u << unit);
    t->backend.turn[unit].next = (uint8_t)(thread == WG_THREADS - 1 ? 0 : thread + 1);
    wg_gate_left(t, f, thread, entry);
    return true;
}

/*
 * The same where the unit takes one instruction at a time, whatever thread it is of, and units may hold the thread; no
 * other thread's head is looked at in this cycle.
 */
static inline void wg_gate_serve(wg_tile *t, wg_frontend *f, unsigned thread, const wg_unit_ops *ops, unsigned unit)
{
    wg_stall why;
    t->sched.phase = WG_PHASE_GATES;
    if (f->holders && wg_gate_own_units_hold(t, f, thread, &why)) {
        wg_gate_stalls(f, &why, t->sched.now);
        f->moved = false;
        return;
    }
    f->moved = wg_gate_enters(t, f, thread, ops, unit);
}

#endif
