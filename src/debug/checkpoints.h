/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: states of a run in order of time, within a budget of memory.
 *
 *     newest state ──difference──► the one before ──difference──► … ──► the first
 *
 * One state is held whole: the cursor. The others are stored as differences to their neighbour, block by block, without the
 * equal bytes. Differences are exclusive ors, so they work in both directions, and two of them combine into one when the
 * checkpoint between them is dropped.
 */
#ifndef WG_CHECKPOINTS_H
#define WG_CHECKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wg_checkpoint {
    uint64_t cycle;
    size_t bytes;        /* of the state */
    uint8_t *difference; /* to the checkpoint before it; NULL: the first */
    size_t packed;       /* bytes of the difference */
} wg_checkpoint;

typedef struct wg_checkpoints {
    wg_checkpoint *list;
    size_t count, room;
    uint8_t *whole; /* the state of checkpoint `at`, padded with zeros */
    size_t whole_bytes, at;
    size_t packed; /* bytes of all differences */
    uint64_t budget;
    bool thinned; /* every other one was dropped since the flag was last read */
} wg_checkpoints;

void wg_checkpoints_free(wg_checkpoints *c); /* all of them; keeps the budget */
/* Adds a state later than all others. Takes ownership of `state`, from malloc(). False: out of memory. */
bool wg_checkpoints_add(wg_checkpoints *c, uint64_t cycle, uint8_t *state, size_t bytes);
/* Drops those after the cycle, except the first. There must be one. */
void wg_checkpoints_cut(wg_checkpoints *c, uint64_t cycle);
/* The last one at or before the cycle; the first if there is none. There must be one. */
size_t wg_checkpoints_before(const wg_checkpoints *c, uint64_t cycle);
/* Its state, valid until the next call. */
const uint8_t *wg_checkpoints_get(wg_checkpoints *c, size_t index, size_t *bytes);
/* Bytes of host memory in use. */
uint64_t wg_checkpoints_bytes(const wg_checkpoints *c);

#endif
