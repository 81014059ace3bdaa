/* SPDX-License-Identifier: Apache-2.0 */
/* What the Sync Unit needs of the Wait Gates: it arbitrates among heads, and latches waits. */
#ifndef WG_GATE_H
#define WG_GATE_H

#include "frontend/stages.h"

/* A STALLWAIT, SEMWAIT or STREAMWAIT was accepted: latched from the next cycle on. */
void wg_gate_latch_wait(wg_tile *t, const wg_insn *insn);

static inline const wg_insn *wg_gate_head(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    return &f->gate[f->gate_head];
}

static inline void wg_gate_stall_ends(wg_tile *t, wg_frontend *f, const wg_insn *head)
{
    WG_EMIT_INSN(t, WG_EV_STALL_END, WG_AGENT_THREAD0 + head->thread, head, .a = f->stalled_since, .stall = f->stall);
    f->stall.reason = WG_STALL_NONE;
    f->stall.retry_at = WG_NEVER;
}

/* The head passes into `agent`: its stall ends. Before its effects; wg_gate_pop() after them. */
static inline void wg_gate_issue(wg_tile *t, wg_frontend *f, const wg_insn *head, unsigned agent)
{
    if (f->stall.reason)
        wg_gate_stall_ends(t, f, head);
    WG_EMIT_INSN(t, WG_EV_ISSUED, WG_AGENT_THREAD0 + head->thread, head, .b = agent, .c = head->source);
    if (__builtin_expect(head->ttsync, 0) && wg_watched(t, WG_EV_TRACKED))
        wg_ttsync_passes(t, head);
}

static inline void wg_gate_pop(wg_tile *t, wg_frontend *f, const wg_insn *head)
{
    f->gate_head = (uint8_t)((f->gate_head + 1) % WG_GATE_RING);
    f->gate_count--;
    f->moved = true;
    if (__builtin_expect(t->perturbed, 0) && f->gate_count)
        f->accept_at = t->sched.now + 1 +
                       wg_perturb(t, WG_SITE_ACCEPT, WG_AGENT_THREAD0 + head->thread, f->gate[f->gate_head].id);
    if (__builtin_expect(head->ttsync & WG_TTS_LAST, 0))
        wg_ttsync_passed(t, head->thread);
    if (wg_insn_is_plain(head))
        wg_plain_left(t, f);
    wg_wake_idle_watchers(&t->sched);
}

#endif
