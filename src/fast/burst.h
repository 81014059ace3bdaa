/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A burst: many instructions of one thread, handed to one unit at a time. A MOP or a REPLAY generates them and no other agent
 * acts meanwhile, so the sequence that reaches the gate is known. The unit accepts as many as it can (wg_accept_many) and
 * records the cycles; then the frontend moves up.
 *
 *     wg_burst_begin()      lists the instructions
 *     wg_accept_many        the unit's arithmetic and timing; it touches no FIFO
 *     wg_burst_used()       phases E to G of the cycles with an acceptance
 */
#ifndef WG_BURST_H
#define WG_BURST_H

#include "machine/fast.h"

enum { WG_BURST_MOST = 512, WG_BURST_LEAST = 3 /* shorter bursts do not pay */ };

typedef struct wg_burst {
    wg_tile *t;
    wg_frontend *f;
    unsigned thread;
    uint64_t from;   /* the first cycle that is not done; initially the current one */
    uint64_t until;  /* no other agent acts before this cycle */
    unsigned count;  /* instructions in the burst, at most one per cycle */
    unsigned queued; /* how many of them are already in a FIFO */
    bool plays;      /* the Replay Expander generates the others, else the MOP Expander */
    bool steady;     /* nothing moves in the thread while its head waits */
    uint32_t word[WG_BURST_MOST];
    uint64_t at[WG_BURST_MOST]; /* the cycle in which each was accepted */
} wg_burst;

/* The thread is due: lists the instructions that reach its gate from the current cycle on. False: too few. */
bool wg_burst_begin(wg_burst *b, wg_tile *t, unsigned thread, uint64_t until);
wg_insn wg_burst_insn(const wg_burst *b, unsigned i);
/* The first `count` were accepted in the cycles in `at`. Sets the clock to the last one's cycle; the others wake nobody. */
void wg_burst_used(wg_burst *b, unsigned count);

/* The unit accepts instructions before `until`, one per cycle from the current one on, until one stalls. Returns how many. */
typedef unsigned wg_accept_many(wg_burst *b);
wg_accept_many wg_matrix_accept_many, wg_vector_accept_many;

/* NOPs of the MOPs of `threads` (bit i: thread i), all of them due, before `until`. Returns how many cycles it ran. */
unsigned wg_burst_nops(wg_tile *t, unsigned threads, uint64_t until);

#endif
