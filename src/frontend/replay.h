/* SPDX-License-Identifier: Apache-2.0 */
/* The Replay Expander inside a sequence, the source of most of its instructions (replay.c). */
#ifndef WG_REPLAY_H
#define WG_REPLAY_H

#include "frontend/stages.h"

/* While nobody watches: does the expander play, and is the next instruction an ordinary one? */
static inline bool wg_replay_is_ordinary(const wg_tile *t, const wg_frontend *f)
{
    const wg_replay_state *r = &f->replay;
    return r->play_left && !(r->record_left | r->carry_first | r->insn.ttsync) &&
           wg_insn_ordinary(t, r->slot[r->play_at]);
}

/* Phase F for an ordinary instruction. */
static inline void wg_replay_goes_on(wg_tile *t, wg_frontend *f)
{
    wg_replay_state *r = &f->replay;
    if (!wg_gate_has_room(f))
        return;
    uint32_t word = r->slot[r->play_at];
    const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][wg_opcode(word)];
    unsigned place = wg_place_take(f);
    wg_insn *out = &f->pool[place];
    out->word = word;
    out->pc = r->insn.pc;
    out->id = ++f->next_id;
    out->parent = r->insn.id;
    out->rest = kind->rest | (r->insn.rest & 0xFFFF); /* thread and source */
    r->play_at = (uint8_t)((r->play_at + 1) % WG_REPLAY_SLOTS);
    f->replay_busy = --r->play_left != 0;
    wg_gate_insert(t, f, place | kind->marks, false);
}

/* Phase F while nobody watches, for an ordinary instruction. False, with nothing done, otherwise. */
static inline bool wg_replay_plays(wg_tile *t, wg_frontend *f)
{
    if (!wg_replay_is_ordinary(t, f))
        return false;
    wg_replay_goes_on(t, f);
    return true;
}

/*
 * Phases E and F of `count` cycles while nobody observes: in each the gate's head leaves, and an ordinary instruction of the
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
        const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][wg_opcode(word)];
        f->pool[place[i]] = (wg_insn){.word = word,
                                      .pc = r->insn.pc,
                                      .id = ++f->next_id,
                                      .parent = r->insn.id,
                                      .rest = kind->rest | (r->insn.rest & 0xFFFF)}; /* thread and source */
        f->down[(uint8_t)(f->gate_end - made + i) % WG_DOWN_RING] = (uint16_t)(place[i] | kind->marks);
    }
    r->play_at = (uint8_t)((r->play_at + count) % WG_REPLAY_SLOTS);
    r->play_left = (uint8_t)(r->play_left - count);
    f->replay_busy = r->play_left != 0;
}

#endif
