/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a thread while nobody observes, of one cycle or of many, by which shortcuts advance a frontend. Only src/fast
 * includes this file: the plain machine takes every step in wait_gate.c, replay.c and mop.c.
 */
#ifndef WG_UNOBSERVED_H
#define WG_UNOBSERVED_H

#include "frontend/gate.h"

/* ---- The gate ------------------------------------------------------------------------------------------------ */

/* As wg_gate_waits(). */
static inline void wg_gate_stalls(wg_frontend *f, const wg_stall *why, uint64_t now)
{
    if (!f->stalled || f->stall.reason != why->reason || f->stall.resource != why->resource)
        f->stalled_since = now;
    wg_gate_keep(f, why);
    f->stalled = true;
}

/* Neither expander serves the word, and there is nothing to report about it. */
static inline bool wg_insn_ordinary(const wg_tile *t, uint32_t word)
{
    const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][wg_opcode(word)];
    return !(((word | 1u << 31) & kind->spare_bits) | (kind->marks & (WG_E_MOP | WG_E_REPLAY)) | kind->marks >> 16);
}

/*
 * Phases D to G of a cycle in which every stage simply passes an instruction on, and the gate a NOP. False, with nothing done,
 * in any other case.
 */
static inline bool wg_frontend_streams(wg_frontend *f, uint64_t now)
{
    if (f->busy & ~WG_F_BYTE(push_waits))
        return false;
    unsigned head = f->down_head, gate_end = f->gate_end, down_end = f->down_end, first = f->fifo_head;
    unsigned leaves = f->down[head % WG_DOWN_RING], passes = f->down[gate_end % WG_DOWN_RING], comes = f->fifo[first];
    if (head == gate_end || gate_end == down_end || !f->fifo_count || now < f->mop.ready_at || f->latch.block ||
        ((leaves & (WG_E_PASSES | WG_E_TTSYNC | WG_E_DIRECT)) ^ (WG_E_PASSES | WG_E_DIRECT)) | (passes & WG_E_REPLAY) |
            (comes & WG_E_MOP))
        return false;
    wg_place_free(f, leaves);
    f->down[down_end % WG_DOWN_RING] = (uint16_t)comes;
    f->down_head = (uint8_t)(head + 1);
    f->gate_end = (uint8_t)(gate_end + 1);
    f->down_end = (uint8_t)(down_end + 1);
    f->fifo_head = (uint8_t)((first + 1) % WG_FIFO_RING);
    f->fifo_count--;
    f->moved = true;
    return true;
}

/* An instruction that `parent`, a MOP or REPLAY, expands to. */
static inline wg_insn wg_insn_expanded(const wg_tile *t, const wg_insn *parent, uint32_t word, uint64_t id)
{
    return (wg_insn){.word = word,
                     .pc = parent->pc,
                     .id = id,
                     .parent = parent->id,
                     .rest = wg_insn_kinds[t->arch->id][wg_opcode(word)].rest |
                             (parent->rest & 0xFFFF)}; /* thread and source */
}

/* Phase G, the mux is not busy: the FIFO's head passes if there is room. False, with nothing done, for a MOP and MOP_CFG. */
static inline bool wg_mux_passes(wg_tile *t, wg_frontend *f, unsigned thread)
{
    if (f->fifo[f->fifo_head] & WG_E_MOP)
        return false;
    if (!wg_replay_has_room(f) || t->sched.now < f->mop.ready_at)
        return true;
    wg_replay_enqueue(f, f->fifo[f->fifo_head]);
    f->direct_downstream++; /* before the check for room */
    wg_fifo_left(t, f, thread, false);
    return true;
}

/* ---- The MOP Expander in an inner loop ------------------------------------------------------------------------ */

/* Nobody else wants the mux, and the MOP is in an inner loop. */
static inline bool wg_mop_is_in_loop(const wg_frontend *f)
{
    const wg_mop_state *m = &f->mop;
    return f->mux_busy == WG_MUX_MOP_ALONE && m->template && !m->first && m->step == WG_MOP_LOOP && m->i < m->inner;
}

/* The next instructions, if nothing is generated between inner loops. */
static inline void wg_mop_words(const wg_frontend *f, uint32_t *word, unsigned count)
{
    const wg_mop_state *m = &f->mop;
    const uint32_t even = f->mop_cfg[5];
    for (unsigned i = m->i, j = m->j; count; j++, i = 0) {
        const unsigned loop = m->inner - 1u - i < count ? m->inner - 1u - i : count;
        for (unsigned k = 0; k < loop; k++)
            word[k] = even;
        for (unsigned k = ~i & 1; m->alternates && k < loop; k += 2)
            word[k] = f->mop_cfg[6];
        word += loop;
        count -= loop;
        if (count) {
            *word++ = f->mop_cfg[j + 1 == m->outer ? 7 : 8];
            count--;
        }
    }
}

/*
 * Phase G, if nobody else wants the mux and the inner loop has at least two more instructions. False, with nothing done, in
 * any other case.
 */
static inline bool wg_mop_loops(wg_tile *t, wg_frontend *f)
{
    wg_mop_state *m = &f->mop;
    if (f->mux_busy != WG_MUX_MOP_ALONE || !m->template || m->first || m->step != WG_MOP_LOOP || m->i + 2 >= m->inner)
        return false;
    if (!wg_replay_has_room(f))
        return true;
    uint32_t word = f->mop_cfg[m->alternates & m->i ? 6 : 5];
    const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][wg_opcode(word)];
    if (((word | 1u << 31) & kind->spare_bits) | (kind->marks & WG_E_MOP) | kind->marks >> 16)
        return false;
    const unsigned place = wg_place_take(f);
    f->pool[place] = wg_insn_expanded(t, &m->insn, word, ++f->next_id);
    m->i++;
    wg_replay_enqueue(f, place | kind->marks);
    return true;
}

/* Inner loops follow each other with nothing between them, and all their instructions simply pass to a unit. */
static inline bool wg_mop_runs_through(const wg_tile *t, const wg_frontend *f)
{
    enum { NOP = 0x02 };
    const uint32_t *cfg = f->mop_cfg;
    return cfg[2] >> 24 == NOP && cfg[3] >> 24 == NOP && !f->mop.insn.ttsync && wg_insn_ordinary(t, cfg[7]) &&
           wg_insn_ordinary(t, cfg[8]);
}

/*
 * How many instructions certainly follow, one per cycle with room, and simply pass to a unit: up to the end of the MOP if it
 * runs through, else up to the last one of the inner loop.
 */
static inline unsigned wg_mop_left(const wg_tile *t, const wg_frontend *f)
{
    const wg_mop_state *m = &f->mop;
    if (!wg_mop_is_in_loop(f) || !wg_insn_ordinary(t, f->mop_cfg[5]) ||
        (m->alternates && !wg_insn_ordinary(t, f->mop_cfg[6])))
        return 0;
    return wg_mop_runs_through(t, f) ? (unsigned)(m->outer - m->j) * m->inner - m->i : m->inner - m->i - 1u;
}

/*
 * Phases E to G of `count` cycles: in each the gate's head leaves, and an instruction counted by
 * wg_mop_left(), but not the MOP's last, enters. The Replay Expander passes one on in each of them.
 */
static inline void wg_mop_goes_on(wg_tile *t, wg_frontend *f, unsigned count)
{
    wg_mop_state *m = &f->mop;
    const unsigned waiting = (uint8_t)(f->down_end - f->down_head), made = count < waiting ? count : waiting;
    const unsigned gone = count - made; /* generated instructions that leave, too */
    uint16_t place[WG_DOWN_RING];
    uint32_t word[WG_DOWN_RING];
    for (unsigned i = 0; i < made; i++) /* places of those that leave */
        place[i] = f->down[(uint8_t)(f->down_head + i) % WG_DOWN_RING] & WG_E_PLACE;
    m->j = (uint8_t)(m->j + (m->i + gone) / m->inner);
    m->i = (uint16_t)((m->i + gone) % m->inner);
    f->next_id += gone;
    f->down_head = (uint8_t)(f->down_head + count);
    f->gate_end = (uint8_t)(f->gate_end + count);
    f->down_end = (uint8_t)(f->down_end + gone);
    wg_mop_words(f, word, made);
    for (unsigned i = 0; i < made; i++) {
        f->pool[place[i]] = wg_insn_expanded(t, &m->insn, word[i], ++f->next_id);
        f->down[f->down_end++ % WG_DOWN_RING] =
            (uint16_t)(place[i] | wg_insn_kinds[t->arch->id][wg_opcode(word[i])].marks);
    }
    if ((m->i += (uint16_t)made) >= m->inner) {
        m->j = (uint8_t)(m->j + m->i / m->inner);
        m->i %= m->inner;
    }
}

/* ---- The Replay Expander in a sequence ------------------------------------------------------------------------ */

/*
 * Phases E and F of `count` cycles: in each the gate's head leaves, and an ordinary instruction of the
 * sequence enters. The FIFO in front of the expander does not change.
 */
static inline void wg_replay_plays_on(wg_tile *t, wg_frontend *f, unsigned count)
{
    wg_replay_state *r = &f->replay;
    const unsigned waiting = wg_gate_count(f), made = count < waiting ? count : waiting;
    const unsigned gone = count - made; /* generated instructions that leave, too */
    uint16_t place[WG_GATE_FIFO];
    for (unsigned i = 0; i < made; i++) /* places of those that leave */
        place[i] = f->down[(uint8_t)(f->down_head + i) % WG_DOWN_RING] & WG_E_PLACE;
    for (unsigned i = 0; i < waiting - made; i++)
        f->down[(uint8_t)(f->down_head + i) % WG_DOWN_RING] =
            f->down[(uint8_t)(f->down_head + i + made) % WG_DOWN_RING];
    f->next_id += gone;
    for (unsigned i = 0; i < made; i++) {
        const uint32_t word = r->slot[(r->play_at + gone + i) % WG_REPLAY_SLOTS];
        f->pool[place[i]] = wg_insn_expanded(t, &r->insn, word, ++f->next_id);
        f->down[(uint8_t)(f->gate_end - made + i) % WG_DOWN_RING] =
            (uint16_t)(place[i] | wg_insn_kinds[t->arch->id][wg_opcode(word)].marks);
    }
    r->play_at = (uint8_t)((r->play_at + count) % WG_REPLAY_SLOTS);
    r->play_left = (uint8_t)(r->play_left - count);
    f->replay_busy = r->play_left != 0;
}

#endif
