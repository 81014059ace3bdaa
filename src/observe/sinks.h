/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks over the public event stream: commit log, trace, statistics, timeline. They keep state of fixed size. */
#ifndef WG_SINKS_H
#define WG_SINKS_H

#include <stdio.h>

#include "observe/assumed.h"
#include "observe/merge.h"
#include "observe/trace_file.h"
#include "observe/tracks.h"

/* One line per instruction and stage: cycle, agent, stage, id, word, text. */
typedef struct wg_commit_log {
    wg_sink_out *out;
    wg_sink_words words;
    wg_merge *merge;  /* of a chip: the lines of all its tiles; NULL: they go to `out` */
    const char *tile; /* NULL: the tile is alone */
    uint32_t number;  /* of the tile */
} wg_commit_log;
#define WG_COMMIT_LOG_EVENTS \
    (WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_EXPANDED) | WG_EV_BIT(WG_EV_LOST) | WG_EV_BIT(WG_EV_ISSUED) | \
     WG_EV_BIT(WG_EV_COMPLETED) | WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_LATCHED) | \
     WG_EV_BIT(WG_EV_RELEASED) | WG_EV_BIT(WG_EV_STALL_BEGIN))
void wg_commit_log_event(void *log, const wg_event *e);

/*
 * The trace of one tile, in a file that several tiles may share (trace_file.h). The caller owns the file and the words.
 */
enum { WG_TRACE_SLOTS = 16, WG_TRACE_AGENTS = WG_AGENT_NIU1 + 1 };
typedef struct wg_trace_slot {
    uint64_t id, parent, since, arrow;
    uint32_t word, pc;
    uint8_t thread, core;
    bool used;
} wg_trace_slot;
/* Where an arrow begins; tid 0: nowhere. */
typedef struct wg_trace_end_point {
    uint64_t id, cycle;
    unsigned tid;
} wg_trace_end_point;
enum { WG_TRACE_PUSHES = 128, WG_TRACE_REQUESTS = 256 }; /* pushes: per thread, more than its frontend holds */
/* The function that a core executes. */
typedef struct wg_trace_code {
    uint32_t low, high; /* its addresses; high 0: not known */
    uint64_t since;
    char name[96]; /* "": none */
} wg_trace_code;
/* The NIU's last packet, until it has left. */
typedef struct wg_trace_leaving {
    uint64_t from, to, transaction; /* to 0: none */
    char name[48];
} wg_trace_leaving;
/* Texts that recur: instructions and places. */
enum { WG_TRACE_TEXTS = 512 };
typedef struct wg_trace_text {
    uint32_t pc, word;
    uint8_t who; /* 1 + agent; 0: none */
    char text[107];
} wg_trace_text;
/* Bytes over time: a counter with a value for every WG_TRACE_SPAN cycles. */
enum { WG_TRACE_SPAN = 64, WG_TRACE_METERS = 6 };
typedef struct wg_trace_meter {
    uint64_t since, bytes, last;
} wg_trace_meter;

/* A trace's place in the grid. */
typedef struct wg_trace_tile {
    unsigned pid;     /* of its process */
    unsigned number;  /* y * width + x */
    bool alone;       /* there are no other tiles */
    const char *name; /* of its process */
    wg_arch_id arch;
} wg_trace_tile;

typedef struct wg_trace {
    wg_trace_file *file;
    wg_sink_words words;
    wg_trace_tile tile;
    unsigned width, flit_bytes, l1_bytes;
    wg_trace_end_point push[3][WG_TRACE_PUSHES];                               /* by id */
    wg_trace_end_point post[8];                                                /* the last change of each semaphore */
    wg_trace_end_point done[WG_TRACKS];                                        /* the last instruction of each unit */
    wg_trace_end_point request[WG_TRACE_REQUESTS], arrival[WG_TRACE_REQUESTS]; /* by transaction */
    wg_trace_code code[WG_CORES];
    wg_trace_leaving leaving[2];
    wg_tracks tracks;
    wg_trace_slot slot[WG_TRACKS][WG_TRACE_SLOTS];
    uint64_t taken[2][WG_TRACE_SLOTS]; /* arriving packets: the slot's last cycle */
    wg_trace_meter meter[WG_TRACE_METERS];
    uint32_t named[WG_TRACE_AGENTS]; /* bit per slot */
    uint32_t counted;                /* bit per counter */
    uint64_t passes;                 /* the arrow of the instruction that passes its gate now; 0: none */
    wg_trace_text text[WG_TRACE_TEXTS], place[WG_TRACE_TEXTS];
} wg_trace;
#define WG_TRACE_EVENTS \
    (WG_TRACKS_EVENTS | WG_EV_BIT(WG_EV_SEMAPHORE) | WG_EV_BIT(WG_EV_MUTEX) | WG_EV_BIT(WG_EV_BANK) | \
     WG_EV_BIT(WG_EV_LOST) | WG_EV_BIT(WG_EV_FINDING) | WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_RELEASED) | \
     WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_TOUCH_L1) | WG_EV_BIT(WG_EV_NOC_SENT) | \
     WG_EV_BIT(WG_EV_NOC_ARRIVED))
/* `trace` has its file, words and tile, and is zero otherwise. */
void wg_trace_begin(wg_trace *trace, uint64_t cycle, unsigned held);
void wg_trace_event(void *trace, const wg_event *e);
void wg_trace_end(wg_trace *trace, uint64_t cycle); /* the file continues */

/* Cycles by activity of each track: each track's sum is exactly `to - from`. */
typedef struct wg_stats {
    wg_tracks tracks;
    uint64_t from, to;
    uint64_t cycles[WG_TRACKS][WG_DOINGS];
    uint64_t issued[WG_TRACKS]; /* threads: passed the gate; units: accepted */
    uint64_t pushed[3], expanded[3], lost[3];
    wg_assumed assumed;
} wg_stats;
#define WG_STATS_EVENTS \
    (WG_TRACKS_EVENTS | WG_ASSUMED_EVENTS | WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_EXPANDED) | WG_EV_BIT(WG_EV_LOST))
void wg_stats_begin(wg_stats *stats, uint64_t cycle, unsigned held, wg_arch_id arch, wg_profile profile);
void wg_stats_event(void *stats, const wg_event *e);
void wg_stats_end(wg_stats *stats, uint64_t cycle);

/*
 * A picture of fixed size: the run in WG_TIMELINE_CELLS cells whose width doubles as the run grows,
 * each with the cycles of each track's activities in it.
 */
enum { WG_TIMELINE_CELLS = 512 };
typedef struct wg_timeline {
    wg_tracks tracks;
    uint64_t from, to;
    uint64_t width; /* cycles per cell */
    uint64_t cell[WG_TRACKS][WG_TIMELINE_CELLS][WG_DOINGS];
} wg_timeline;
void wg_timeline_begin(wg_timeline *timeline, uint64_t cycle, unsigned held);
void wg_timeline_event(void *timeline, const wg_event *e);
void wg_timeline_end(wg_timeline *timeline, uint64_t cycle);
/*
 * The main activity of `track` in column `column` of `columns` over the run (idle only if all others take less than a fifth);
 * false if that column has no cycles.
 */
bool wg_timeline_at(const wg_timeline *timeline, unsigned track, unsigned column, unsigned columns, unsigned *doing);
/* Was the track idle or in reset all the time? */
bool wg_timeline_quiet(const wg_timeline *timeline, unsigned track);

#endif
