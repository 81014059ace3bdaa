/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sinks over the public event stream: commit log, trace file, statistics, timeline. They keep fixed-size state and pass their
 * text to the caller's function; none of them opens a file.
 */
#ifndef WG_SINKS_H
#define WG_SINKS_H

#include <stdio.h>
#include "observe/assumed.h"
#include "observe/tracks.h"

typedef bool (*wg_sink_write)(void *user, const char *text, size_t bytes);
/* The instruction as text; `agent` tells whether the word is a core's or a thread's. Returns `room`. */
typedef const char *(*wg_sink_text)(void *user, unsigned agent, uint32_t pc, uint32_t word, char *room, size_t bytes);

/* Buffered output; `failed` stays set after the first write that failed. */
typedef struct wg_sink_out {
    wg_sink_write write;
    void *write_user;
    wg_sink_text text;
    void *text_user;
    bool failed;
    size_t used;
    char buffer[16384];
} wg_sink_out;
void wg_sink_printf(wg_sink_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void wg_sink_json(wg_sink_out *out, const char *text); /* quoted and escaped */
void wg_sink_flush(wg_sink_out *out);

/* One line per instruction and stage: cycle, agent, stage, id, word, text. */
typedef struct wg_commit_log {
    wg_sink_out out;
} wg_commit_log;
#define WG_COMMIT_LOG_EVENTS \
    (WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_EXPANDED) | WG_EV_BIT(WG_EV_LOST) | WG_EV_BIT(WG_EV_ISSUED) | \
     WG_EV_BIT(WG_EV_COMPLETED) | WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_LATCHED) | \
     WG_EV_BIT(WG_EV_RELEASED) | WG_EV_BIT(WG_EV_STALL_BEGIN))
void wg_commit_log_event(void *log, const wg_event *e);

/* Chrome trace-event JSON, which Perfetto opens: one cycle is shown as one microsecond. */
enum { WG_TRACE_SLOTS = 16 };
typedef struct wg_trace_slot {
    uint64_t id, parent, since;
    uint32_t word, pc;
    uint8_t thread;
    bool used, named;
} wg_trace_slot;
/* Where a flow arrow begins; tid 0: nowhere. */
typedef struct wg_trace_end_point {
    uint64_t id, cycle;
    unsigned tid;
} wg_trace_end_point;
enum { WG_TRACE_PUSHES = 128 }; /* per thread: more than its frontend holds */
typedef struct wg_trace {
    wg_sink_out out;
    uint64_t flows;
    wg_trace_end_point push[3][WG_TRACE_PUSHES]; /* by id */
    wg_trace_end_point post[8];                  /* the last change of each semaphore */
    wg_tracks tracks;
    wg_trace_slot slot[WG_TRACKS][WG_TRACE_SLOTS];
    bool named[WG_TRACKS];
    bool comma;
} wg_trace;
#define WG_TRACE_EVENTS \
    (WG_TRACKS_EVENTS | WG_EV_BIT(WG_EV_SEMAPHORE) | WG_EV_BIT(WG_EV_MUTEX) | WG_EV_BIT(WG_EV_BANK) | \
     WG_EV_BIT(WG_EV_LOST) | WG_EV_BIT(WG_EV_FINDING) | WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_RELEASED))
void wg_trace_begin(wg_trace *trace, uint64_t cycle, unsigned held, const char *arch);
void wg_trace_event(void *trace, const wg_event *e);
void wg_trace_end(wg_trace *trace, uint64_t cycle);

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
