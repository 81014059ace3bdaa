/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why nothing moves: the wait-for graph, and its cause: a cycle, or a party that can never move. Also the report of a run's
 * state when it is interrupted.
 *
 *     thread 0 ──mutex held──► mutex 2 ──held by──► thread 1 ──latched wait──► semaphore 1 ──post queued in──► thread 0
 */
#ifndef WG_HANG_H
#define WG_HANG_H

#include <waitgate/report.h>

#include "explain/poll_round.h"
#include "explain/queued.h"
#include "machine/frontend.h"
#include "machine/tile.h"

enum { WG_HISTORY = 16 };

/* Each thread's last issued instructions, and the cores' recent stalls. Fed from the event stream; all zero: not watched. */
typedef struct wg_history_entry {
    uint64_t cycle;
    uint64_t id, parent;
    uint32_t word, pc;
} wg_history_entry;
/* The last writes of some words, found by running the program again. */
enum { WG_LAST_WRITES = 16 };
typedef struct wg_word_write {
    uint64_t cycle; /* 0: nobody wrote it */
    uint32_t value, pc;
    uint8_t agent, core; /* core: whose program contains `pc` */
} wg_word_write;
typedef struct wg_last_write {
    uint32_t address;
    wg_word_write last, before; /* before: by somebody else */
} wg_last_write;
typedef struct wg_last_writes {
    unsigned count;
    wg_last_write at[WG_LAST_WRITES];
} wg_last_writes;
#define WG_LAST_WRITES_EVENTS (WG_EV_BIT(WG_EV_CORE_RESPONSE) | WG_EV_BIT(WG_EV_TOUCH_L1))
void wg_last_writes_event(void *writes, const wg_event *e);

/* What happened to a semaphore. */
typedef enum wg_semaphore_act { WG_SEM_POST, WG_SEM_GET, WG_SEM_INIT, WG_SEM_ACTS } wg_semaphore_act;
enum { WG_SEM_CHANGES = 8 }; /* that are kept */
typedef struct wg_semaphore_change {
    uint64_t cycle;
    uint32_t pc;               /* 0: not known */
    uint8_t agent, act, value; /* thread or core; wg_semaphore_act; the value behind it */
} wg_semaphore_change;
typedef struct wg_semaphore_past {
    uint8_t value; /* behind the last of them */
    uint64_t changes;
    wg_semaphore_change change[WG_SEM_CHANGES]; /* change i is at i % WG_SEM_CHANGES */
    uint64_t count[WG_SEM_ACTS];
    struct {
        uint64_t cycle;
        uint32_t pc;   /* 0: not known */
        uint8_t agent; /* thread or core */
        uint8_t left;  /* the value behind it */
    } last[WG_SEM_ACTS];
} wg_semaphore_past;

/* Where a core has stalled, for as many places as there is room: those of last. */
enum { WG_STALL_PLACES = 8 };
typedef struct wg_stalls {
    struct {
        uint32_t pc;                     /* 0: unused */
        uint64_t last;                   /* cycle */
        uint64_t after[WG_STALL_PLACES]; /* cycle + 1 of its first stall after the last at that place; 0: none */
    } place[WG_STALL_PLACES];
    uint64_t forgotten; /* the last stall at a place that had to make room */
} wg_stalls;
/* Since when has the core stalled only in this code, cycle + 1? 0: it has not, or nobody knows. */
uint64_t wg_stalls_since(const wg_stalls *s, uint32_t from, uint32_t to);

typedef struct wg_history {
    wg_history_entry last[WG_THREADS][WG_HISTORY];
    uint64_t count[WG_THREADS];
    wg_stalls stalls[WG_CORES];
    struct {
        uint32_t pc[4];
        unsigned count;
        bool left;     /* the core has left its program: they are the last before that */
    } stall[WG_CORES]; /* the core's last stalls */
    struct {
        uint64_t from, to;
    } was[8][2]; /* [semaphore]: the last time that it was 0, and that it was not; to 0: none */
    bool nonzero[8];
    wg_semaphore_past semaphore[8];
    uint32_t mutex_pc[8];     /* of the ATGETM that took it; 0: it is free, or not known */
    uint32_t entry[WG_CORES]; /* where each core's program begins; 0: not known */
    wg_pending pending[WG_THREADS];
    unsigned repeating; /* of a run that is cut short: bit i: core i only repeats itself */
    /* The source location of a pc; NULL, or an empty text: not known. */
    const char *(*place)(void *user, unsigned core, uint32_t pc, char *room, size_t bytes);
    void *place_user;
    wg_source_fn source;          /* the same in parts, for place_user; NULL: none */
    const struct wg_pages *pages; /* pages.h: who pushed and popped; NULL: not watched */
    const wg_last_writes *writes; /* NULL: not known */
    const uint32_t *metal_layout; /* of tt-metal's launch messages; NULL: the built-in one */
} wg_history;
#define WG_HISTORY_EVENTS \
    (WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_SEMAPHORE) | WG_EV_BIT(WG_EV_MUTEX) | WG_EV_BIT(WG_EV_CORE_STATE))
/* Where cores stall, and since when: for lost wake-ups and lost programs. Observing it keeps all cores with the clock. */
#define WG_HISTORY_STALL_EVENTS (WG_EV_BIT(WG_EV_STALL_BEGIN) | WG_EV_BIT(WG_EV_FINDING))
void wg_history_event(void *history, const wg_event *e);

typedef enum wg_node_kind {
    WG_NODE_CORE,
    WG_NODE_THREAD,
    WG_NODE_UNIT,
    WG_NODE_SEMAPHORE,
    WG_NODE_MUTEX,
    WG_NODE_FIFO,
    WG_NODE_BANK,
    WG_NODE_MEMORY, /* a core polls it; index is the core */
    WG_NODE_PAGES,  /* in a circular buffer */
    WG_NODE_SPACE,  /* … for pages in it */
    WG_NODE_NOBODY  /* a dead end */
} wg_node_kind;
typedef struct wg_node {
    uint8_t kind, index; /* index: core, thread, wg_agent of a unit, semaphore, mutex, thread, bank, circular buffer */
} wg_node;

enum { WG_HANG_EDGES = 64, WG_HANG_WORDS = 512 };
/* What a wait for a semaphore needs: posts, gets, or room below the maximum. */
typedef enum wg_semaphore_need { WG_NEEDS_NOTHING, WG_NEEDS_POST, WG_NEEDS_GET, WG_NEEDS_ROOM } wg_semaphore_need;
typedef struct wg_hang_edge {
    wg_node from, to;
    bool guess;   /* `to` might act: its program is not fully understood */
    bool cause;   /* whatever else waits: this comes first */
    uint8_t need; /* wg_semaphore_need, if `to` is a semaphore */
    char reason[WG_HANG_WORDS];
} wg_hang_edge;

typedef struct wg_hang_thread {
    wg_gate_info gate;
    bool idle;
    char latch[WG_HANG_WORDS]; /* the latched wait in words; empty: none */
    char why[WG_HANG_WORDS];   /* why the head waits; empty: it does not */
    unsigned history_count;
    wg_history_entry history[WG_HISTORY]; /* oldest first */
} wg_hang_thread;

typedef struct wg_hang_core {
    wg_core_info info;
    bool waits;
    uint32_t polled; /* the address, if it polls; 0: not known */
    unsigned words;  /* if several decide together: … */
    uint32_t word[WG_POLLED];
    uint32_t poll_pc;            /* the load that decides; 0: not known */
    char advice[WG_HANG_WORDS];  /* for a wait for space that does not end; empty: none */
    uint32_t loop_from, loop_to; /* its loop; 0: not known */
    char why[WG_HANG_WORDS];
} wg_hang_core;

typedef struct wg_hang {
    const wg_device *dev;
    uint64_t cycle;
    wg_hang_thread thread[WG_THREADS];
    wg_hang_core core[WG_CORES];
    uint8_t semaphore_value[8], semaphore_max[8];
    char semaphore_past[8][WG_HANG_WORDS];                   /* who posted and took last; empty: nobody, or not known */
    uint64_t semaphore_changes[8];                           /* in all, … */
    wg_semaphore_change semaphore_change[8][WG_SEM_CHANGES]; /* … and the last of them, oldest first */
    uint8_t mutex[8];                                        /* 0 free, else holder + 1 */
    uint16_t mutex_valid;
    uint8_t bank_owner[4]; /* SrcA 0, SrcA 1, SrcB 0, SrcB 1 */
    uint8_t matrix_bank[2], unpack_bank[2];
    bool launched; /* kernels of tt-metal were launched on the tile */
    bool at_rest;  /* tt-metal's firmware: every kernel that was launched has ended */
    unsigned edges;
    wg_hang_edge edge[WG_HANG_EDGES];
    bool circular; /* path is a cycle; else it ends where nobody can move */
    bool certain;  /* nobody on the path might act: no edge of it is a guess */
    bool outside;  /* … at memory that a core polls, or nowhere: the world outside the tile might end it */
    unsigned path_length;
    uint8_t path[WG_HANG_EDGES];  /* edges, in order */
    char note[4 * WG_HANG_WORDS]; /* history of the posts or of the value that the path waits for; empty: not known */
    char story[2048];             /* the verdict: cause, chain of waits, remedy */
    unsigned remedy_at;           /* offset of the remedy in it */
    unsigned repeating;           /* of a run that reached its limit: bit i: core i only repeated itself */
    char progress[2048];          /* … and the parties still working; empty: not examined */
} wg_hang;

/* `hung`: nothing can move, so a core that executes is polling. Otherwise: the state of a running program. */
void wg_hang_inspect(wg_device *dev, const wg_history *history, bool hung, wg_hang *out);

/* "thread 1", "semaphore 1 (MATH_PACK)", "SrcA bank 0" … Returns `room`. */
const char *wg_node_name(const wg_hang *h, wg_node node, char *room, size_t bytes);
/* The position of a core or thread: its pc, the push of the latched wait, or of the head. 0: not known. */
uint32_t wg_hang_pc(const wg_hang *h, wg_node n, unsigned *core);
/* A latched wait in words: "blocks packing until the Matrix Unit is idle for this thread". */
void wg_latch_text(const wg_arch *arch, const wg_latch *latch, char *out, size_t bytes);

#endif
