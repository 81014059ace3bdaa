/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the Wait Gate that shortcuts use, too: why a head stalls, and how it passes. */
#ifndef WG_GATE_H
#define WG_GATE_H

#include "frontend/stages.h"

/* While nobody observes: the head, a Sync Unit instruction, passes unless it stalls (*why); no other head competes. */
bool wg_gate_serve_sync(wg_tile *t, wg_frontend *f, unsigned thread, const wg_insn *head, wg_stall *why);

/* The stall of a head that the latched wait blocks. */
static inline wg_stall wg_gate_caught(const wg_frontend *f, const wg_insn *head)
{
    bool wait = head->op == WG_I_STALLWAIT || head->op == WG_I_SEMWAIT || head->op == WG_I_STREAMWAIT;
    uint16_t resource = f->latch.kind == WG_LATCH_SEMWAIT ? f->latch.semaphores : f->latch.conditions;
    return (wg_stall){wait ? WG_STALL_LATCH_OCCUPIED : WG_STALL_LATCHED_WAIT, resource, f->latch.holder, WG_NEVER};
}

/* Copied field by field: padding is part of a snapshot, and that of `why` is undefined. */
static inline void wg_gate_keep(wg_frontend *f, const wg_stall *why)
{
    f->stall.reason = why->reason;
    f->stall.resource = why->resource;
    f->stall.holder = why->holder;
    f->stall.retry_at = why->retry_at;
}

/* The head stalls; emits an event if the stall or its reason is new. */
void wg_gate_waits(wg_tile *t, wg_frontend *f, const wg_insn *head, const wg_stall *why);

/* Does a unit in `holders` keep the thread from issuing anything (GATE-21)? Removes those that do not. */
bool wg_gate_own_units_hold(wg_tile *t, wg_frontend *f, unsigned thread, wg_stall *why);

static inline const wg_insn *wg_gate_head(const wg_tile *t, unsigned thread)
{
    return wg_gate_fifo_at(&t->frontend[thread], 0);
}

/* Emits the events of a passing head; `agent` acts for it from now on. */
__attribute__((cold)) void wg_gate_issue_watched(wg_tile *t, const wg_insn *head, unsigned agent);

WG_STAGE void wg_gate_stall_ends(wg_tile *t, wg_frontend *f, const wg_insn *head, const bool observed)
{
    if (observed)
        WG_EMIT_INSN(t, WG_EV_STALL_END, WG_AGENT_THREAD0 + head->thread, head, .a = f->stalled_since,
                     .stall = f->stall);
    f->stall.reason = WG_STALL_NONE;
    f->stalled = false;
    f->stall.retry_at = WG_NEVER;
}

/* The head passes into `agent`: its stall ends. Called before its effects; wg_gate_pop() after them. */
WG_STAGE void wg_gate_issue(wg_tile *t, wg_frontend *f, const wg_insn *head, unsigned agent, const bool observed)
{
    if (f->stalled)
        wg_gate_stall_ends(t, f, head, observed);
    if (observed && wg_any_watched(t))
        wg_gate_issue_watched(t, head, agent);
}

/* Empties the latch for the next cycle if phase D found its wait fulfilled and no new wait was latched. */
static inline void wg_latch_clear_met(wg_frontend *f)
{
    wg_latch *l = &f->latch;
    if (l->met) {
        l->kind = l->met = 0;
        l->block = 0;
        f->blocks_all = false;
    }
}

/* `entry` leaves the FIFO in front of the gate. */
static inline void wg_gate_left(wg_tile *t, wg_frontend *f, unsigned thread, unsigned entry)
{
    wg_place_free(f, entry);
    f->down_head++;
    f->moved = true;
    if (entry & WG_E_DIRECT)
        wg_direct_left(t, f, thread);
    if (wg_frontend_empty(f))
        wg_wake_idle_watchers(&t->sched);
}

/* In a run with scaled durations: does the head take no time at its gate? */
void wg_gate_passed_scaled(wg_tile *t, const wg_insn *head);

WG_STAGE void wg_gate_pop(wg_tile *t, wg_frontend *f, const wg_insn *head, const bool observed)
{
    unsigned entry = f->down[f->down_head % WG_DOWN_RING];
    if (observed && __builtin_expect(t->what_if != NULL, 0))
        wg_gate_passed_scaled(t, head);
    wg_gate_left(t, f, head->thread, entry);
    if (observed && t->perturbed && wg_gate_count(f))
        f->accept_at = t->sched.now + 1 +
                       wg_perturb(t, WG_SITE_ACCEPT, WG_AGENT_THREAD0 + head->thread, wg_gate_fifo_at(f, 0)->id);
    if (__builtin_expect(entry & WG_E_TTSYNC, 0) && (head->ttsync & WG_TTS_LAST))
        wg_ttsync_passed(t, head->thread);
}

#endif
