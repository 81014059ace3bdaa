/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the stages of a frontend: creating instructions, moving them from FIFO to FIFO. */
#ifndef WG_STAGES_H
#define WG_STAGES_H

#include "isa/config_fields.h"
#include "report/emit.h"
#include "machine/tile.h"

/*
 * A stage's work, compiled once for each value of its parameter `observed`: does somebody watch, or is the run perturbed? If
 * not, there are neither events nor delays.
 */
#define WG_STAGE static inline __attribute__((always_inline))
#define WG_OBSERVED static __attribute__((noinline, cold)) /* for callers with `observed` set */
static inline bool wg_observed(const wg_tile *t) { return t->perturbed | (WG_EVENTS && t->watched); }

/* The thread's frontend, as a pointer that the compiler does not recompute at every use. */
static inline wg_frontend *wg_frontend_of(wg_tile *t, unsigned thread)
{
    wg_frontend *f = &t->frontend[thread];
    __asm__("" : "+r"(f));
    return f;
}

/* Is any tracking bit of the thread set? All five are in one word. */
static inline bool wg_ttsync_configured(const wg_tile *t, unsigned thread)
{
    const wg_cfg_field *f = &wg_tcfg_fields[t->arch->id][WG_TCFG_TENSIX_TRISC_SYNC_TrackTensixInstructions];
    return t->regs.config.thread[thread][f->word] != 0;
}

/* Reports errors of the word itself: an opcode that this architecture does not have, bits in no operand. */
void wg_insn_report(wg_tile *t, const wg_insn *insn);

/* A new instruction of the thread with the next id, decoded; returns WG_E_… of its kind. */
static inline unsigned wg_insn_make(wg_tile *t, wg_frontend *f, unsigned thread, uint32_t word, uint32_t pc,
                                    uint8_t source, uint64_t parent, wg_insn *out)
{
    const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][wg_opcode(word)];
    out->word = word;
    out->pc = pc;
    out->id = ++f->next_id;
    out->parent = parent;
    out->rest = kind->rest | thread | (uint64_t)source << 8;
    if (__builtin_expect((word | 1u << 31) & kind->spare_bits, 0))
        wg_insn_report(t, out);
    return kind->marks;
}

/* An instruction's marks of Auto TTSync, as its entry shows them. */
static inline unsigned wg_entry_ttsync(const wg_insn *insn) { return insn->ttsync ? WG_E_TTSYNC : 0; }

/* Takes a free place of the pool. */
static inline unsigned wg_place_take(wg_frontend *f)
{
    unsigned place = (unsigned)__builtin_ctzll(f->free);
    f->free &= f->free - 1;
    return place;
}
static inline void wg_place_free(wg_frontend *f, unsigned entry) { f->free |= UINT64_C(1) << (entry & WG_E_PLACE); }

/* A direct instruction: pushed by the thread's own core and made by no expander. It counts against the first FIFO (PIPE-04). */
static inline bool wg_insn_is_direct(const wg_insn *insn)
{
    return insn->parent == 0 && (uint8_t)(insn->source - WG_CORE_T0) < WG_THREADS;
}

static inline bool wg_gate_has_room(const wg_frontend *f) { return wg_gate_count(f) < WG_GATE_FIFO; }
static inline bool wg_replay_has_room(const wg_frontend *f) { return wg_replay_count(f) < WG_REPLAY_FIFO; }

/* The first cycle in which a stage can take an instruction that enters its FIFO now, plus any perturbation. */
static inline uint64_t wg_first_look(wg_tile *t, wg_site site, wg_phase consumer, unsigned thread, uint64_t event)
{
    uint64_t first = t->sched.phase < (unsigned)consumer ? t->sched.now : t->sched.now + 1;
    return first + wg_perturb(t, site, WG_AGENT_THREAD0 + thread, event);
}

/* An instruction enters the FIFO in front of the gate; the caller has checked that there is room. */
WG_STAGE void wg_gate_entered(wg_tile *t, wg_frontend *f, const wg_insn *insn, const bool observed)
{
    f->moved = true;
    if (observed && t->perturbed && !wg_gate_count(f))
        f->accept_at = wg_first_look(t, WG_SITE_ACCEPT, WG_PHASE_GATES, insn->thread, insn->id);
}

/* Phase F: inserts an instruction of the Replay Expander in front of those that wait for it. */
WG_STAGE void wg_gate_insert(wg_tile *t, wg_frontend *f, unsigned entry, const bool observed)
{
    wg_gate_entered(t, f, &f->pool[entry & WG_E_PLACE], observed);
    for (uint8_t i = f->down_head--; i != f->gate_end; i++)
        f->down[(uint8_t)(i - 1) % WG_DOWN_RING] = f->down[i % WG_DOWN_RING];
    f->down[(uint8_t)(f->gate_end - 1) % WG_DOWN_RING] = (uint16_t)entry;
}

/* Phase G's output. The caller has checked that there is room. */
static inline void wg_replay_enqueue(wg_frontend *f, unsigned entry)
{
    f->down[f->down_end++ % WG_DOWN_RING] = (uint16_t)entry;
    f->moved = true;
}

/* How many places of the first FIFO are taken (PIPE-04). */
static inline unsigned wg_fifo_held(const wg_arch *arch, const wg_frontend *f)
{
    return f->fifo_count + (arch->fifo_counts_downstream ? f->direct_downstream : 0u);
}

/* How many words the first FIFO takes if this many places are taken (PIPE-03, PIPE-05). */
static inline unsigned wg_fifo_takes(const wg_arch *arch, unsigned thread, unsigned taken)
{
    unsigned depth = arch->fifo_depth[thread];
    return taken >= depth || (arch->fifo_resume && taken > arch->fifo_resume) ? 0 : depth - taken;
}
static inline unsigned wg_fifo_room(const wg_arch *arch, const wg_frontend *f, unsigned thread)
{
    return wg_fifo_takes(arch, thread, wg_fifo_held(arch, f));
}

/* Places of the first FIFO became free, if fewer are taken now than were held. */
static inline void wg_fifo_frees(const wg_tile *t, wg_frontend *f)
{
    const unsigned taken = wg_fifo_held(t->arch, f), freed = f->held - taken;
    if (taken >= f->held)
        return;
    const uint64_t ago = t->sched.now - f->freed_at;
    f->freed = (ago < WG_FREED_CYCLES ? f->freed << 4 * ago : 0) + (freed < 8 ? freed : 8);
    f->freed_at = t->sched.now;
    f->held = (uint8_t)taken;
}

/* Why a push is refused. */
static inline wg_stall wg_fifo_full(unsigned thread)
{
    return (wg_stall){WG_STALL_PUSH_FIFO_FULL, (uint16_t)thread, (uint8_t)(WG_AGENT_THREAD0 + thread), WG_NEVER};
}

/* A refused T core retries once there is room for `words` words. */
static inline void wg_push_waits(wg_frontend *f, unsigned words)
{
    if (!(f->push_waits & WG_WAITS_T) || words < f->push_needs)
        f->push_needs = (uint8_t)words;
    f->push_waits |= WG_WAITS_T;
}

/* Something has left the first FIFO (bit 0) or the mux (bit 1): a refused core retries if there is room now. */
static inline void wg_push_room(wg_tile *t, wg_frontend *f, unsigned thread, unsigned who)
{
    if (who & 1)
        wg_fifo_frees(t, f);
    who &= f->push_waits;
    if (__builtin_expect(who, 0)) {
        if (who & 1 && wg_fifo_room(t->arch, f, thread) < f->push_needs)
            who &= ~1u;
        f->push_waits &= (uint8_t)~who;
        if (who)
            wg_wake(&t->sched, WG_AGENT_PUSHES);
    }
}

/* A direct instruction has left the FIFOs after the MOP Expander. */
static inline void wg_direct_left(wg_tile *t, wg_frontend *f, unsigned thread)
{
    f->direct_downstream--;
    wg_push_room(t, f, thread, 1);
}

/* The head of the first FIFO has left. */
WG_STAGE void wg_fifo_left(wg_tile *t, wg_frontend *f, unsigned thread, const bool observed)
{
    f->fifo_head = (uint8_t)((f->fifo_head + 1) % WG_FIFO_RING);
    f->fifo_count--;
    f->moved = true;
    if (observed && t->perturbed && f->fifo_count)
        f->take_at =
            t->sched.now + 1 + wg_perturb(t, WG_SITE_FIFO_TAKE, WG_AGENT_THREAD0 + thread, wg_fifo_at(f, 0)->id);
    wg_push_room(t, f, thread, 1);
}

/* The head of the FIFO in front of the Replay Expander has passed. */
WG_STAGE void wg_replay_passed(wg_tile *t, wg_frontend *f, const bool observed)
{
    const wg_insn *head = wg_replay_fifo_at(f, 0);
    wg_gate_entered(t, f, head, observed);
    f->gate_end++;
    wg_push_room(t, f, head->thread, 2);
}

/* The expander has consumed that head. */
static inline void wg_replay_used(wg_tile *t, wg_frontend *f, unsigned thread)
{
    wg_place_free(f, f->down[f->gate_end % WG_DOWN_RING]);
    for (uint8_t i = f->gate_end++; i != f->down_head; i--)
        f->down[i % WG_DOWN_RING] = f->down[(uint8_t)(i - 1) % WG_DOWN_RING];
    f->down_head++;
    f->moved = true;
    wg_push_room(t, f, thread, 2);
}

/* A request of the T core enters the FIFO: updates Auto TTSync's counts (Blackhole). Does it track anything? */
static inline bool wg_request_arrived(wg_tile *t, wg_frontend *f, unsigned thread)
{
    wg_auto_ttsync *s = &f->ttsync;
    if (s->arrived == s->emitted)
        s->emitted++; /* pushed by the host: no core emitted it */
    s->arrived++;
    if (__builtin_expect(s->pending, 0))
        wg_wake(&t->sched, WG_AGENT_REGIONS); /* an access may have waited for the push to arrive */
    return __builtin_expect(wg_ttsync_configured(t, thread) || t->sched.now < s->settled_at, 0);
}

/*
 * For observers: whether an expander (0 MOP, 1 Replay) had output in this cycle and found the next FIFO full. Emits events
 * only on changes.
 */
__attribute__((cold)) void wg_expander_stall(wg_tile *t, unsigned thread, unsigned expander, bool full);
static inline void wg_expander_looked(wg_tile *t, unsigned thread, unsigned expander, bool full)
{
    if (WG_EVENTS && t->watched && (t->expander_stalled[thread][expander] != 0) != full)
        wg_expander_stall(t, thread, expander, full);
}

/* Nothing moved in phases D to G: the earliest cycle in which the thread could act if nobody else did. */
static inline uint64_t wg_next_look(const wg_tile *t, const wg_frontend *f)
{
    uint64_t now = t->sched.now, next = WG_NEVER;
    if (wg_gate_count(f) && f->stall.retry_at < next)
        next = f->stall.retry_at;
    if (f->fifo_count && !f->mop_active) {
        if (f->take_at > now && f->take_at < next)
            next = f->take_at;
        if (f->mop.ready_at > now && f->mop.ready_at < next)
            next = f->mop.ready_at;
    }
    return next > now ? next : now + 1;
}

/* After phases D to G: schedules the thread. */
static inline void wg_schedule_thread(wg_tile *t, const wg_frontend *f, unsigned thread)
{
    wg_wake_at(&t->sched, WG_AGENT_THREAD0 + thread, f->moved ? t->sched.now + 1 : wg_next_look(t, f));
}

/* An instruction that never reaches the gate: recorded, lost or consumed. Its Auto TTSync entry ends with it. */
void wg_insn_swallowed(wg_tile *t, wg_frontend *f, const wg_insn *insn);

#endif
