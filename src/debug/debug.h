/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the debugger. */
#ifndef WG_DEBUG_INSIDE_H
#define WG_DEBUG_INSIDE_H

#include <limits.h>
#include <waitgate/debug.h>

#include "debug/checkpoints.h"
#include "explain/hang.h"
#include "machine/device.h"
#include "text/race_text.h"

enum {
    WG_DEBUG_BREAKPOINTS = 256,
    WG_DEBUG_WATCHES = 16,
    WG_DEBUG_WATCH_BYTES = 64,
    WG_DEBUG_TILES = UINT8_MAX + 1, /* wg_event.tile is a byte */
    WG_DEBUG_LINE = 256             /* of a command */
};

typedef struct wg_watch {
    uint32_t address, bytes;
    uint8_t how; /* WG_WATCH_READ, WG_WATCH_WRITE */
} wg_watch;

/* A core's position: enough to detect that it has reached its pc again. */
typedef struct wg_whereabouts {
    uint32_t pc;
    uint64_t instructions;
    bool runs; /* neither in reset nor parked */
} wg_whereabouts;

/* The conditions to stop at while time advances, and the match (stops.c). */
typedef struct wg_stops {
    bool backwards;  /* the last one before `end`, not the first */
    wg_who stepping; /* stops after a step of this agent, too; agent WG_AGENT_NONE: nobody */
    uint64_t end;    /* backwards: start of the search */
    bool found;
    uint64_t at; /* the boundary to stop at */
    wg_debug_state what;
    bool postpones;    /* stops of cores and threads other than `stepping` only count as `other`, … */
    bool others;       /* … of which there was one, … */
    uint64_t other_at; /* … the first at this boundary */
    wg_debug_state other;
    uint8_t waiting[WG_DEBUG_TILES]; /* cores at a breakpoint that have been reported: bit per core */
} wg_stops;

/* Who wrote to a watched register last, and has not been reported. */
typedef struct wg_writer {
    wg_who who; /* agent WG_AGENT_NONE: nobody is known */
    uint32_t pc;
} wg_writer;

/* Own RAM and registers are watched cycle by cycle: the cores' registers and the watched bytes before the current cycle. */
typedef struct wg_before {
    uint64_t known; /* the cycle of value[], at its start; UINT64_MAX: there is none */
    wg_writer writer[WG_DEBUG_TILES][WG_DEBUG_WATCHES];
    uint32_t x[WG_DEBUG_TILES][WG_CORES][32];
    uint8_t value[WG_DEBUG_TILES][WG_CORES][WG_DEBUG_WATCHES][WG_DEBUG_WATCH_BYTES];
} wg_before;

/* From this cycle on one agent moves alone; agent WG_AGENT_NONE: all move. */
typedef struct wg_hold {
    uint64_t cycle;
    wg_who alone;
    uint8_t held[WG_DEBUG_TILES]; /* cores that were halted for it: bit per core */
} wg_hold;

struct wg_debug {
    wg_debug_desc desc;
    wg_debug_host host;
    const wg_arch *arch;
    wg_debug_state state;
    char error[256];
    uint32_t breakpoint[WG_DEBUG_BREAKPOINTS];
    unsigned breakpoints;
    wg_watch watch[WG_DEBUG_WATCHES];
    unsigned watches;
    wg_condition until;
    wg_whereabouts told[WG_DEBUG_TILES][WG_CORES]; /* each core's position when its stop was reported */
    wg_checkpoints past;
    uint64_t distance;        /* cycles between checkpoints */
    uint64_t saving, running; /* host nanoseconds spent on them, and on running */
    wg_stops stops;
    wg_before *before; /* NULL: nothing is watched cycle by cycle */
    int observer[WG_DEBUG_TILES];
    bool (*interrupted)(void *user);
    void *interrupted_user;
    bool postpones;    /* of the next step: see wg_stops */
    uint64_t limit;    /* forwards, no further than this cycle … */
    bool limited;      /* … and the last call reached it before it was done */
    uint64_t watching; /* kinds of events that are observed; 0: none */
    wg_hold *hold;     /* in order of time */
    unsigned holds, holds_room;
    unsigned applied;             /* the entry in effect, plus 1; 0: none */
    uint8_t held[WG_DEBUG_TILES]; /* cores that are halted now, by the entry in effect */
};

/* The tiles: a device alone is number 0. */
unsigned wg_debug_tiles(const wg_debug *d);
wg_device *wg_debug_dev(const wg_debug *d, unsigned index); /* NULL: no Tensix tile, or not in use */
unsigned wg_debug_index(const wg_debug *d, wg_who who);
wg_who wg_debug_who(const wg_debug *d, unsigned index, unsigned agent);
uint64_t wg_debug_now(const wg_debug *d);
wg_status wg_debug_fail(wg_debug *d, wg_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Advances time to `cycle`; true: the run ended before that, or failed. */
bool wg_debug_advance(wg_debug *d, uint64_t cycle, wg_stop *stop);
/* Goes to an earlier cycle, or to a later one with nothing to stop at before it. */
bool wg_debug_goto(wg_debug *d, uint64_t cycle);
bool wg_debug_save(wg_debug *d);
/* After a step that postpones: goes back to the other agent's stop, which becomes the state. False: the history has gone. */
bool wg_debug_stop_other(wg_debug *d);
/*
 * Replays the run up to the current cycle from the checkpoint before `from`, with an observer at one tile or all.
 * Ends at the current cycle. False: it failed.
 */
#define WG_DEBUG_EVERY_TILE UINT_MAX
bool wg_debug_replay(wg_debug *d, unsigned tile, uint64_t from, uint64_t kinds, wg_observer_fn fn, void *user);
/*
 * Runs the history with `change` applied at its start, calls `look` at the present cycle, or where that run ends before
 * it, and returns to the present state. False: it failed.
 */
bool wg_debug_what_if(wg_debug *d, void (*change)(void *user), void (*look)(void *user), void *user);

/* hold.c: agents that move alone. */
void wg_holds_apply(wg_debug *d);          /* the entry of the present cycle takes effect */
uint64_t wg_holds_next(const wg_debug *d); /* the next cycle that has one; UINT64_MAX: none */
void wg_holds_restored(wg_debug *d);       /* the machine is as it was in an earlier or later cycle */
void wg_holds_end(wg_debug *d);            /* everybody moves, and there is no list */
/* Has the run ended in a hang, and not because cores are held? */
bool wg_debug_hung(const wg_debug *d);
/* May the core move, as things stand? */
bool wg_holds_moves(const wg_debug *d, unsigned index, unsigned core);

/* stops.c: conditions to stop at. */
wg_whereabouts wg_debug_where(const wg_debug *d, unsigned index, unsigned core);
/* Is a core already at a breakpoint that has not been reported? */
bool wg_stops_already(wg_debug *d);
/* Marks the cores that are at a breakpoint now as having been there. */
void wg_stops_begin(wg_debug *d);
bool wg_stops_watch(wg_debug *d); /* attaches the observers that the search needs; false: it failed */
void wg_stops_unwatch(wg_debug *d);
bool wg_stops_any(const wg_debug *d);
/* A reason to stop: forwards the first counts, backwards the last before the end. */
void wg_stops_note(wg_debug *d, wg_debug_state what, uint64_t at);
/* The boundary next to the cycle: after it forwards, before it backwards. */
uint64_t wg_stops_beside(const wg_debug *d, uint64_t cycle);
/* Is every cycle examined? Then these two are called before and after it. */
static inline bool wg_stops_closely(const wg_debug *d) { return d->before != NULL; }
void wg_stops_before(wg_debug *d);
void wg_stops_behind(wg_debug *d);

/* watch.c: watches, as part of these. */
uint64_t wg_watch_kinds(const wg_debug *d); /* of events that they need */
void wg_watch_event(wg_debug *d, const wg_event *e);
void wg_watch_retired(wg_debug *d, const wg_event *e); /* in the order of events, of a core's instruction */
/* The party responsible: a core, or the instruction's thread; else none that could be stepped. */
wg_who wg_stops_doer(const wg_debug *d, const wg_event *e);

/* memory.c: memory as a core sees it. The core of an agent: a Tensix thread's is the one that pushes for it. */
unsigned wg_debug_core(wg_who who);
/* A memory-mapped register, and a byte of anything; false: nothing that can be read without side effects. */
bool wg_debug_register(wg_device *dev, unsigned core, uint32_t address, uint32_t *word);
bool wg_debug_byte(wg_device *dev, unsigned core, uint32_t address, uint32_t *byte);

/* words.c: names, locations and descriptions. */
wg_race_words wg_debug_words(const wg_debug *d, wg_who who);
bool wg_debug_has(const wg_debug *d, wg_who who);          /* does the tile have this core or thread? */
const char *wg_debug_agent(const wg_debug *d, wg_who who); /* "T0", "thread 1", on an Ethernet tile "E0" */
const char *wg_debug_name(const wg_debug *d, wg_who who, char *room, size_t bytes);   /* "T0", "3-2 T0", "thread 1" */
wg_source wg_debug_source(const wg_debug *d, wg_who who, unsigned core, uint32_t pc); /* all zero: not known */
const char *wg_debug_place(const wg_debug *d, wg_who who, unsigned core, uint32_t pc, char *room, size_t bytes);
/* The instruction of a core, a thread or a unit as text. Returns `room`. */
const char *wg_debug_insn_text(const wg_debug *d, wg_who who, uint32_t pc, uint32_t word, char *room, size_t bytes);
/* Its activity: "in reset", "parked", "running", or the reason of its stall. */
const char *wg_debug_doing(wg_debug *d, wg_who who);
void wg_debug_state_text(wg_debug *d, wg_who who, wg_text *out);
void wg_debug_run_command(wg_debug *d, wg_who who, const char *command, wg_text *out);
/* Why it stopped, as a sentence. */
void wg_debug_pause_text(wg_debug *d, wg_text *out);

#endif
