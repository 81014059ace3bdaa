/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes to a thread's gate in the next cycles, one instruction in each, if every head is accepted at once: the rest
 * of a REPLAY, or of a MOP's inner loop. Units that can take many of them in a row (bursts) look at them here, and have
 * the frontend move up when they know how many they took. Only while nobody watches.
 */
#ifndef WG_SUPPLY_H
#define WG_SUPPLY_H

#include "frontend/mop.h"
#include "frontend/replay.h"

typedef struct wg_supply {
    wg_tile *t;
    wg_frontend *f;
    unsigned thread;
    unsigned queued; /* instructions that are made already */
    bool plays;      /* the Replay Expander makes the others, else the MOP Expander */
} wg_supply;

/*
 * The first cycle is the current one, in which the thread is due. How many it is sure to have, wg_supply_word()
 * permitting; what is made meanwhile needs no more than to be accepted, either.
 */
unsigned wg_supply_begin(wg_tile *t, unsigned thread, wg_supply *s);

/* The word of the i-th. False: it needs more than to be accepted by its unit. */
static inline bool wg_supply_word(const wg_supply *s, unsigned i, uint32_t *word)
{
    const wg_frontend *f = s->f;
    if (i < s->queued) {
        unsigned entry = f->down[(uint8_t)(f->down_head + i) % WG_DOWN_RING];
        *word = f->pool[entry & WG_E_PLACE].word;
        return !(entry & ~(unsigned)WG_E_PLACE);
    }
    i -= s->queued;
    *word = s->plays ? f->replay.slot[(f->replay.play_at + i) % WG_REPLAY_SLOTS] : wg_mop_word(f, f->mop.i + i);
    return true;
}
/* The i-th instruction itself. */
wg_insn wg_supply_insn(const wg_supply *s, unsigned i);

/* So many have been accepted, from the current cycle on: phases E to G of these cycles. */
void wg_supply_used(wg_supply *s, unsigned count);

#endif
