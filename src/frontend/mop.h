/* SPDX-License-Identifier: Apache-2.0 */
/* The MOP Expander in the middle of an inner loop: where most instructions of most expansions come from (mop.c). */
#ifndef WG_MOP_H
#define WG_MOP_H

#include "frontend/stages.h"

enum { WG_MOP_START, WG_MOP_LOOP, WG_MOP_END0, WG_MOP_END1 }; /* template 1: steps of an outer iteration */
enum { WG_MUX_MOP_ALONE = 1 }; /* mux_busy: the MOP Expander expands, and nobody else wants the mux */

/* The MOP Expander alone is at work, and neither FIFO behind it has room: phases F and G have nothing to do. */
static inline bool wg_mop_is_blocked(const wg_frontend *f)
{
    return f->mux_busy == WG_MUX_MOP_ALONE && !f->replay_busy &&
           (uint8_t)(f->down_end - f->down_head) == WG_GATE_FIFO + WG_REPLAY_FIFO &&
           !(f->down[f->gate_end % WG_DOWN_RING] & WG_E_REPLAY);
}

/* The loop's instruction of iteration i. */
static inline uint32_t wg_mop_word(const wg_frontend *f, unsigned i)
{
    return f->mop_cfg[f->mop.alternates & i ? 6 : 5];
}

/*
 * Phase G while nobody watches, if nobody else wants the mux and the loop goes on for at least two more instructions.
 * False, and nothing done, if it is more than that.
 */
static inline bool wg_mop_loops(wg_tile *t, wg_frontend *f)
{
    wg_mop_state *m = &f->mop;
    if (f->mux_busy != WG_MUX_MOP_ALONE || !m->template || m->first || m->step != WG_MOP_LOOP || m->i + 2 >= m->inner)
        return false;
    if (!wg_replay_has_room(f))
        return true;
    uint32_t word = wg_mop_word(f, m->i);
    const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][word >> 24];
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

/* For how many instructions more wg_mop_loops() is sure to find the loop going on. */
static inline unsigned wg_mop_more(const wg_frontend *f)
{
    const wg_mop_state *m = &f->mop;
    if (f->mux_busy != WG_MUX_MOP_ALONE || !m->template || m->first || m->step != WG_MOP_LOOP || m->i + 2u >= m->inner)
        return 0;
    return m->inner - m->i - 2u;
}

/*
 * Phases E to G of so many cycles while nobody watches: in each the gate's head goes, and an ordinary instruction of the
 * loop comes in behind, the Replay Expander letting everything pass. It has something in its FIFO all the time.
 */
static inline void wg_mop_goes_on(wg_tile *t, wg_frontend *f, unsigned count)
{
    const wg_insn *mop = &f->mop.insn;
    const unsigned waiting = (uint8_t)(f->down_end - f->down_head), made = count < waiting ? count : waiting;
    for (unsigned i = 0; i < count; i++) {
        wg_place_free(f, f->down[f->down_head++ % WG_DOWN_RING]);
        f->down[f->down_end++ % WG_DOWN_RING] = (uint16_t)wg_place_take(f);
    }
    f->gate_end = (uint8_t)(f->gate_end + count);
    f->mop.i = (uint16_t)(f->mop.i + count);
    f->next_id += count;
    for (unsigned i = 0; i < made; i++) { /* those that are still there */
        const uint32_t word = wg_mop_word(f, f->mop.i - 1u - i);
        const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][word >> 24];
        uint16_t *entry = &f->down[(uint8_t)(f->down_end - 1 - i) % WG_DOWN_RING];
        f->pool[*entry] = (wg_insn){.word = word,
                                    .pc = mop->pc,
                                    .id = f->next_id - i,
                                    .parent = mop->id,
                                    .rest = kind->rest | (mop->rest & 0xFFFF)}; /* thread and source */
        *entry |= (uint16_t)kind->marks;
    }
}

/* Phase G while nobody watches, the mux is not busy, and what the FIFO's head is (if there is one) only passes. */
static inline void wg_mux_passes(wg_tile *t, wg_frontend *f, unsigned thread)
{
    if (!f->fifo_count || !wg_replay_has_room(f) || t->sched.now < f->mop.ready_at)
        return;
    wg_replay_enqueue(f, f->fifo[f->fifo_head]);
    f->plain_downstream++; /* before it is asked whether there is room now */
    wg_fifo_left(t, f, thread, false);
}

#endif
