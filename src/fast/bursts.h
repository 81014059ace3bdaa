/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts: many instructions of one kind, one per cycle, taken together. Between cycles, while nobody but the threads and
 * the unit acts before `until`, each runs cycles in which a thread's gate gives the unit one of its instructions, and
 * returns how many; the threads look again in the cycle behind them. PACRs are in pack_burst.h.
 */
#ifndef WG_BURSTS_H
#define WG_BURSTS_H

#include "machine/tile.h"

unsigned wg_matrix_burst(wg_tile *t, unsigned thread, uint64_t until);
unsigned wg_vector_burst(wg_tile *t, unsigned thread, uint64_t until);
/* NOPs of MOPs, on all of `threads` (bit i: thread i), which are all due. */
unsigned wg_nop_burst(wg_tile *t, unsigned threads, uint64_t until);

#endif
