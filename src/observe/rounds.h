/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects whether cores make progress in the last part of a run that reached its limit. A core only repeats itself if its
 * rounds execute the same instructions, load the same values from the same addresses and store the same values. Counting in
 * registers is not progress.
 */
#ifndef WG_ROUNDS_H
#define WG_ROUNDS_H

#include <stdbool.h>

#include <waitgate/event.h>

enum { WG_ROUNDS_CORES = 5, WG_ROUNDS_PIECES = 512, WG_ROUNDS_LOADS = 8 };

typedef struct wg_rounds_load {
    uint32_t pc, address; /* address 0: not known */
    unsigned piece;       /* its last piece */
    uint32_t value;       /* memory's last answer; loads served by a cache send no request */
    bool answered;
} wg_rounds_load;

/* Code from one backward jump to the next is a piece. */
typedef struct wg_rounds_core {
    uint32_t pc, r[32], known; /* bit i of known: r[i] was computed by an instruction */
    uint64_t signature;        /* of the current piece */
    bool memory;               /* it loads or stores */
    uint64_t piece[WG_ROUNDS_PIECES];
    unsigned pieces;
    wg_rounds_load load[WG_ROUNDS_LOADS];
    unsigned loads;
} wg_rounds_core;

typedef struct wg_rounds {
    uint64_t from; /* the first cycle observed */
    wg_rounds_core core[WG_ROUNDS_CORES];
    uint64_t acted[WG_AGENT_THREAD2 +
                   1]; /* 1 + the last cycle in which the core executed or the gate issued an instruction; 0: none */
} wg_rounds;
#define WG_ROUNDS_EVENTS \
    (WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_CORE_REQUEST) | \
     WG_EV_BIT(WG_EV_CORE_RESPONSE))

void wg_rounds_event(void *rounds, const wg_event *e);
/* True: the core only repeated itself. Returns the loads of its rounds, at most `most`. */
bool wg_rounds_repeats(const wg_rounds *rounds, unsigned core, wg_rounds_load *load, unsigned most, unsigned *loads);

#endif
