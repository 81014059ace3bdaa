/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From events to intervals: the activity of each core, thread gate and unit, without gap or overlap. Statistics, the timeline
 * and the trace file all read these intervals, so they cannot disagree.
 *
 *   core     |reset |executing |load-response|executing |polling ……|parked
 *   gate     |empty |issued|issued|latched-wait …………|issued|empty
 *   unit     |idle  |busy ……………|idle
 */
#ifndef WG_TRACKS_H
#define WG_TRACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <waitgate/waitgate.h>

/* Activities of a track. From WG_DOING_STALL on: WG_DOING_STALL + wg_stall_reason. */
typedef enum wg_doing {
    WG_DOING_IDLE, /* an empty gate, an empty unit */
    WG_DOING_WORK, /* a gate that issues, a unit with an instruction, a core that executes */
    WG_DOING_RESET,
    WG_DOING_PARKED,
    WG_DOING_POLLING, /* a core repeating identical iterations of a polling loop */
    WG_DOING_STALL
} wg_doing;
enum { WG_DOINGS = WG_DOING_STALL + WG_STALL_COUNT, WG_TRACKS = WG_AGENT_MISC + 1 };

/* Is it at work? So is a core whose instruction takes several cycles. */
static inline bool wg_doing_works(unsigned doing)
{
    return doing == WG_DOING_WORK || doing == WG_DOING_STALL + WG_STALL_MULTI_CYCLE;
}

typedef struct wg_interval {
    uint64_t from, to;   /* [from, to) */
    uint64_t id, parent; /* of the instruction, if any */
    uint32_t word, pc;
    uint8_t track; /* wg_agent: a core, a thread, a unit */
    uint8_t doing; /* wg_doing */
    uint8_t thread;
    uint8_t core;   /* gates: the core that pushed the instruction */
    wg_stall stall; /* of a stall */
} wg_interval;

typedef void (*wg_interval_fn)(void *user, const wg_interval *interval);

typedef struct wg_track {
    wg_interval now;  /* current since now.from */
    uint32_t inside;  /* units: instructions in them */
    uint64_t entered; /* units: cycle of the last one's acceptance, which counts as work in any case */
} wg_track;

typedef struct wg_tracks {
    wg_track track[WG_TRACKS];
    wg_interval_fn fn;
    void *user;
} wg_tracks;

/* The events wg_tracks_event() needs. */
#define WG_TRACKS_EVENTS \
    (WG_EV_BIT(WG_EV_STALL_BEGIN) | WG_EV_BIT(WG_EV_STALL_END) | WG_EV_BIT(WG_EV_ISSUED) | \
     WG_EV_BIT(WG_EV_COMPLETED) | WG_EV_BIT(WG_EV_CORE_STATE))

/* `held` at `cycle`: bit i core i is in reset, bit 8 + i it is parked. */
void wg_tracks_begin(wg_tracks *t, uint64_t cycle, unsigned held, wg_interval_fn fn, void *user);
void wg_tracks_event(wg_tracks *t, const wg_event *e);
/* Reports the track's present interval up to `cycle`; the rest of it is another. */
void wg_tracks_cut(wg_tracks *t, unsigned track, uint64_t cycle);
/* Closes every interval at `cycle`. */
void wg_tracks_end(wg_tracks *t, uint64_t cycle);

bool wg_track_is_core(unsigned track);
bool wg_track_is_thread(unsigned track);
bool wg_track_is_unit(unsigned track);
/* "executing", "issued", "latched-wait" … : one word, lower case, by the kind of track. */
const char *wg_doing_name(unsigned track, unsigned doing, char *room, size_t bytes);
/* As wg_doing_name(), in words. */
const char *wg_doing_text(unsigned track, unsigned doing);

#endif
