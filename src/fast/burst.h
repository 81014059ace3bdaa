/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A burst: instructions of one thread that go into one unit, many at a time. A MOP or a REPLAY makes them, and nobody else
 * acts meanwhile, so it is known which ones come to the gate. The unit takes as many as it can (wg_accept_many), and says
 * in which cycles; then the frontend moves up.
 *
 *     wg_burst_begin()      which instructions come
 *     wg_accept_many        arithmetic and timing of the unit, which sees no FIFO
 *     wg_burst_used()       phases E to G of the cycles in which they were accepted
 */
#ifndef WG_BURST_H
#define WG_BURST_H

#include "machine/tile.h"

enum { WG_BURST_MOST = 512, WG_BURST_LEAST = 3 /* fewer are not worth it */ };

typedef struct wg_burst {
    wg_tile *t;
    wg_frontend *f;
    unsigned thread;
    uint64_t from;   /* the first cycle that is not done; in the beginning, the current one */
    uint64_t until;  /* before this cycle nobody else acts */
    unsigned count;  /* of the instructions that come, one per cycle at most */
    unsigned queued; /* of these, how many are made already */
    bool plays;      /* the Replay Expander makes the others, else the MOP Expander */
    bool steady;     /* nothing moves in the thread while its head waits */
    uint32_t word[WG_BURST_MOST];
    uint64_t at[WG_BURST_MOST]; /* the cycle in which each was accepted */
} wg_burst;

/* The thread is due: what comes to its gate from the current cycle on? False: too few. */
bool wg_burst_begin(wg_burst *b, wg_tile *t, unsigned thread, uint64_t until);
/* The i-th instruction. */
wg_insn wg_burst_insn(const wg_burst *b, unsigned i);
/* The first `count` were accepted in the cycles in `at`. The last of them becomes the current one; the others wake nobody. */
void wg_burst_used(wg_burst *b, unsigned count);

/* The unit accepts instructions before `until`, one per cycle from the current one on, until one has to wait; how many. */
typedef unsigned wg_accept_many(wg_burst *b);
wg_accept_many wg_matrix_accept_many, wg_vector_accept_many;

/* NOPs of the MOPs of `threads` (bit i: thread i), which are all due, before `until`: runs so many cycles. */
unsigned wg_burst_nops(wg_tile *t, unsigned threads, uint64_t until);

#endif
