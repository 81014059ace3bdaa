/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core that polls reads in one round of its loop, and which of these words keeps it there. The code is followed for one
 * round, and again with one word changed: a word is missing if the core then goes where it has not been.
 *
 *     while (arrived[0] + arrived[1] + arrived[2] != 3)     they are 1, 1, 0: with arrived[2] 1, it leaves the loop
 */
#ifndef WG_POLL_ROUND_H
#define WG_POLL_ROUND_H

#include "machine/tile.h"

enum { WG_POLLED = 8 };

typedef struct wg_poll_round {
    unsigned words; /* that decide whether another round follows */
    struct {
        uint32_t address, value, pc; /* pc: of the load */
        bool missing;                /* with the value of another one, it would end the wait */
    } word[WG_POLLED];
} wg_poll_round;

/* False: not known. */
bool wg_poll_round_find(const wg_tile *t, unsigned core, wg_poll_round *out);

#endif
