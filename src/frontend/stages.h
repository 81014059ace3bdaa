/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages of a frontend share: making instructions, moving them from FIFO to FIFO. */
#ifndef WG_STAGES_H
#define WG_STAGES_H

#include "isa/config_fields.h"
#include "observe/emit.h"
#include "tile/tile.h"

/* Is any tracking bit of the thread set? All five are in one word. */
static inline bool wg_ttsync_configured(const wg_tile *t, unsigned thread)
{
    const wg_cfg_field *f = &wg_tcfg_fields[t->arch->id][WG_TCFG_TENSIX_TRISC_SYNC_TrackTensixInstructions];
    return t->regs.config.thread[thread][f->word] != 0;
}

/* Reports what is wrong with the word in itself: no opcode of this architecture, bits in no operand. */
void wg_insn_report(wg_tile *t, const wg_insn *insn, const wg_isa_insn *record);

/*
 * A new instruction of the thread with the next id, decoded. Decided here: a word that no unit takes (an invalid
 * opcode, or MOP, REPLAY, RESOURCEDECL behind the stage that serves it) passes the gate like NOP.
 */
static inline void wg_insn_make(wg_tile *t, wg_frontend *f, unsigned thread, uint32_t word, uint32_t pc, uint8_t source,
                                uint64_t parent, wg_insn *out)
{
    const wg_isa_insn *record = wg_isa_decode(t->arch->id, word);
    bool at_a_unit = record->unit > WG_UNIT_INVALID;
    *out = (wg_insn){.word = word, .pc = pc, .id = ++f->next_id, .parent = parent, .thread = (uint8_t)thread,
                     .source = source, .unit = record->unit, .op = (uint16_t)record->id,
                     .block = at_a_unit ? record->block_bits : WG_BLOCK_ALL_NINE};
    if (__builtin_expect((word & record->spare_bits) || record->unit == WG_UNIT_INVALID, 0))
        wg_insn_report(t, out, record);
}

/* Pushed by the thread's own core and made by no expander: counts against the first FIFO (PIPE-04). */
static inline bool wg_insn_is_plain(const wg_insn *insn)
{
    return insn->parent == 0 && (uint8_t)(insn->source - WG_CORE_T0) < WG_THREADS;
}

static inline bool wg_gate_has_room(const wg_tile *t, const wg_frontend *f)
{
    return f->gate_count < t->arch->gate_fifo_depth;
}

/* The cycle in which a stage can first look at what is put before it now, and the perturbation on top. */
static inline uint64_t wg_first_look(wg_tile *t, wg_site site, wg_phase consumer, unsigned thread, uint64_t event)
{
    uint64_t first = t->sched.phase < (unsigned)consumer ? t->sched.now : t->sched.now + 1;
    return first + wg_perturb(t, site, WG_AGENT_THREAD0 + thread, event);
}

/* Phase F's output: the place it goes to, and that it has got there. The caller has seen that there is room. */
static inline wg_insn *wg_gate_place(wg_frontend *f)
{
    return &f->gate[(f->gate_head + f->gate_count) % WG_GATE_RING];
}

static inline void wg_gate_entered(wg_tile *t, wg_frontend *f, const wg_insn *insn)
{
    if (__builtin_expect(t->perturbed, 0) && !f->gate_count)
        f->accept_at = wg_first_look(t, WG_SITE_ACCEPT, WG_PHASE_GATES, insn->thread, insn->id);
    f->gate_count++;
    f->moved = true;
}

static inline void wg_gate_enqueue(wg_tile *t, wg_frontend *f, const wg_insn *insn)
{
    *wg_gate_place(f) = *insn;
    wg_gate_entered(t, f, insn);
}

/* Phase G's output. The caller has seen that there is room. */
static inline void wg_replay_enqueue(wg_frontend *f, const wg_insn *insn)
{
    f->replay_fifo[(f->replay_head + f->replay_count) % WG_REPLAY_RING] = *insn;
    f->replay_count++;
    f->moved = true;
}

/* Room has come up before the MOP Expander (bit 0) or at the mux (bit 1): whoever was refused tries again. */
static inline void wg_push_room(wg_tile *t, wg_frontend *f, unsigned who)
{
    if (__builtin_expect(f->push_waits & who, 0)) {
        f->push_waits &= (uint8_t)~who;
        wg_wake(&t->sched, WG_AGENT_PUSHES);
    }
}

/* A plain instruction has left the FIFOs behind the MOP Expander. */
static inline void wg_plain_left(wg_tile *t, wg_frontend *f)
{
    f->plain_downstream--;
    wg_push_room(t, f, 1);
}

/* The head of the first FIFO has gone. */
static inline void wg_fifo_left(wg_tile *t, wg_frontend *f, unsigned thread)
{
    f->fifo_head = (uint8_t)((f->fifo_head + 1) % WG_FIFO_RING);
    f->fifo_count--;
    f->moved = true;
    if (__builtin_expect(t->perturbed, 0) && f->fifo_count)
        f->take_at = t->sched.now + 1 +
                     wg_perturb(t, WG_SITE_FIFO_TAKE, WG_AGENT_THREAD0 + thread, f->fifo[f->fifo_head].id);
    wg_push_room(t, f, 1);
}

/* The head of the FIFO before the Replay Expander has gone. */
static inline void wg_replay_left(wg_tile *t, wg_frontend *f)
{
    f->replay_head = (uint8_t)((f->replay_head + 1) % WG_REPLAY_RING);
    f->replay_count--;
    f->moved = true;
    wg_push_room(t, f, 2);
}

/* A request of the T core enters the FIFO: Auto TTSync's books (Blackhole), and whether it tracks anything. */
static inline void wg_request_arrived(wg_tile *t, wg_frontend *f, unsigned thread, wg_tts_bundle *bundle)
{
    wg_auto_ttsync *s = &f->ttsync;
    if (s->arrived == s->emitted)
        s->emitted++;   /* pushed by the host: nobody announced it */
    s->arrived++;
    if (__builtin_expect(s->pending, 0))
        wg_wake(&t->sched, WG_AGENT_REGIONS);   /* an access may have waited for the push to arrive */
    if (__builtin_expect(wg_ttsync_configured(t, thread) || t->sched.now < s->settled_at, 0))
        wg_ttsync_arrived(t, thread, bundle);
}

/* An instruction that ends before the gate: recorded, lost or consumed. Its Auto TTSync entry ends with it. */
void wg_insn_swallowed(wg_tile *t, wg_frontend *f, const wg_insn *insn);

#endif
