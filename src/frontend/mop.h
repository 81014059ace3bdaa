/* SPDX-License-Identifier: Apache-2.0 */
/* The MOP Expander inside an inner loop, the source of most instructions of most expansions (mop.c). */
#ifndef WG_MOP_H
#define WG_MOP_H

#include "frontend/stages.h"

enum { WG_MOP_START, WG_MOP_LOOP, WG_MOP_END0, WG_MOP_END1 }; /* template 1: steps of an outer iteration */
enum { WG_MUX_MOP_ALONE = 1 }; /* mux_busy: the MOP Expander expands, and nobody else wants the mux */

/* Only the MOP Expander is active, and neither FIFO after it has room: phases F and G have nothing to do. */
static inline bool wg_mop_is_blocked(const wg_frontend *f)
{
    return f->mux_busy == WG_MUX_MOP_ALONE && !f->replay_busy &&
           (uint8_t)(f->down_end - f->down_head) == WG_GATE_FIFO + WG_REPLAY_FIFO &&
           !(f->down[f->gate_end % WG_DOWN_RING] & WG_E_REPLAY);
}

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
 * Phase G while nobody watches, if nobody else wants the mux and the loop has at least two more instructions. False, with
 * nothing done, in any other case.
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
    unsigned place = wg_place_take(f);
    wg_insn *out = &f->pool[place];
    out->word = word;
    out->pc = m->insn.pc;
    out->id = ++f->next_id;
    out->parent = m->insn.id;
    out->rest = kind->rest | (m->insn.rest & 0xFFFF); /* thread and source */
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
 * Phases E to G of `count` cycles while nobody observes: in each the gate's head leaves, and an instruction counted by
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
        const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][wg_opcode(word[i])];
        f->pool[place[i]] = (wg_insn){.word = word[i],
                                      .pc = m->insn.pc,
                                      .id = ++f->next_id,
                                      .parent = m->insn.id,
                                      .rest = kind->rest | (m->insn.rest & 0xFFFF)}; /* thread and source */
        f->down[f->down_end++ % WG_DOWN_RING] = (uint16_t)(place[i] | kind->marks);
    }
    if ((m->i += (uint16_t)made) >= m->inner) {
        m->j = (uint8_t)(m->j + m->i / m->inner);
        m->i %= m->inner;
    }
}

/* Phase G while nobody watches, the mux is not busy, and the FIFO's head, if any, simply passes. */
static inline void wg_mux_passes(wg_tile *t, wg_frontend *f, unsigned thread)
{
    if (!f->fifo_count || !wg_replay_has_room(f) || t->sched.now < f->mop.ready_at)
        return;
    wg_replay_enqueue(f, f->fifo[f->fifo_head]);
    f->plain_downstream++; /* before it is asked whether there is room now */
    wg_fifo_left(t, f, thread, false);
}

#endif
