/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do cores make progress? Beside the last part of a run that a limit cuts: a core only repeats itself if its rounds execute
 * the same instructions, load the same values from the same places and store the same values. What it counts in registers is
 * no progress.
 */
#ifndef WG_ROUNDS_H
#define WG_ROUNDS_H

#include <stdbool.h>

#include <waitgate/event.h>

enum { WG_ROUNDS_CORES = 5, WG_ROUNDS_PIECES = 512, WG_ROUNDS_LOADS = 8 };

typedef struct wg_rounds_load {
    uint32_t pc, address; /* address 0: not known */
    unsigned piece;       /* the one in which it came last */
    uint32_t value;       /* what memory answered last, if it was asked: a cache may know */
    bool answered;
} wg_rounds_load;

/* Code from one backward jump to the next is a piece. */
typedef struct wg_rounds_core {
    uint32_t pc, r[32], known; /* bit i of known: r[i] is what an instruction has computed */
    uint64_t signature;        /* of the present piece */
    bool memory;               /* it loads or stores */
    uint64_t piece[WG_ROUNDS_PIECES];
    unsigned pieces;
    wg_rounds_load load[WG_ROUNDS_LOADS];
    unsigned loads;
} wg_rounds_core;

typedef struct wg_rounds {
    uint64_t from; /* the cycle in which the watching began */
    wg_rounds_core core[WG_ROUNDS_CORES];
    uint64_t
        acted[WG_AGENT_THREAD2 + 1]; /* 1 + the cycle in which a core executed or a gate let pass something; 0: none */
} wg_rounds;
#define WG_ROUNDS_EVENTS \
    (WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_CORE_REQUEST) | \
     WG_EV_BIT(WG_EV_CORE_RESPONSE))

void wg_rounds_event(void *rounds, const wg_event *e);
/* True: the core only repeated itself. Gives what its rounds load, at most `most`. */
bool wg_rounds_repeats(const wg_rounds *rounds, unsigned core, wg_rounds_load *load, unsigned most, unsigned *loads);

#endif
