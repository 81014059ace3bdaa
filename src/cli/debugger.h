/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that can be stopped, stepped and taken back. Everything stops between two cycles, all cores at once.
 *
 * Going back is going forward again: the machine is deterministic, so a checkpoint before the place that is wanted and the
 * cycles in between give the state exactly. Checkpoints are taken at a distance that doubles when they need more memory
 * than they may have.
 */
#ifndef WG_DEBUGGER_H
#define WG_DEBUGGER_H

#include "cli/drive.h"

/* Why a run has stopped. */
typedef enum wg_pause {
    WG_PAUSE_STEP,      /* what was asked for is done */
    WG_PAUSE_BREAK,     /* `core` is about to execute a breakpoint's instruction */
    WG_PAUSE_WATCH,     /* a watched word changed (going back: is about to) */
    WG_PAUSE_INTERRUPT, /* the user asked */
    WG_PAUSE_ENDED,     /* nothing moves any more; s->ended says how */
    WG_PAUSE_BEGIN,     /* going back came to where the history begins */
    WG_PAUSE_FAILED     /* wg_error() */
} wg_pause;

enum { WG_DEBUG_BREAKPOINTS = 256, WG_DEBUG_WATCHES = 16, WG_DEBUG_WATCH_BYTES = 64 };

typedef struct wg_watch {
    uint32_t address, bytes; /* L1 */
    uint8_t value[WG_DEBUG_WATCH_BYTES];
} wg_watch;

typedef struct wg_checkpoint {
    uint64_t cycle;
    wg_feed feed[WG_THREADS];
    void *snapshot;
} wg_checkpoint;

/* Where a core is: enough to see whether it has come to its pc anew. */
typedef struct wg_whereabouts {
    uint32_t pc;
    uint64_t instructions;
    bool runs; /* neither in reset nor parked */
} wg_whereabouts;

typedef struct wg_debugger {
    wg_session *s;
    wg_driving drive;
    uint32_t breakpoint[WG_DEBUG_BREAKPOINTS];
    unsigned breakpoints;
    wg_watch watch[WG_DEBUG_WATCHES];
    unsigned watches;
    wg_whereabouts told[WG_CORES]; /* where each core was when its breakpoint was reported */
    wg_checkpoint *checkpoint;     /* in order of time; the first is where the history begins */
    size_t checkpoints, most;      /* most: how many the memory budget allows */
    uint64_t distance;             /* cycles between them */
    bool (*interrupted)(void *user);
    void *user;
    unsigned core;    /* who stopped */
    uint32_t address; /* what changed */
} wg_debugger;

/* `memory`: bytes for checkpoints. False: out of memory. */
bool wg_debug_open(wg_debugger *d, wg_session *s, uint64_t memory);
void wg_debug_close(wg_debugger *d);

wg_pause wg_debug_continue(wg_debugger *d);
wg_pause wg_debug_step(wg_debugger *d, unsigned core); /* until the core has executed an instruction */
wg_pause wg_debug_back(wg_debugger *d);
wg_pause wg_debug_step_back(wg_debugger *d, unsigned core);
wg_pause wg_debug_go(wg_debugger *d, uint64_t cycle); /* forwards or backwards */

bool wg_debug_break(wg_debugger *d, uint32_t pc, bool set);
bool wg_debug_watch(wg_debugger *d, uint32_t address, uint32_t bytes, bool set);
/* State was changed by hand: what came before cannot be computed again. False: out of memory. */
bool wg_debug_changed(wg_debugger *d);

#endif
