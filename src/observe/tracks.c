/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/tracks.h"

#include <string.h>

bool wg_track_is_core(unsigned track) { return track <= WG_AGENT_CORE_T2; }
bool wg_track_is_thread(unsigned track) { return track >= WG_AGENT_THREAD0 && track <= WG_AGENT_THREAD2; }
bool wg_track_is_unit(unsigned track) { return track >= WG_AGENT_SYNC && track <= WG_AGENT_MISC; }

/* Reports the interval that ends at `cycle`, unless it is empty, and starts the next one there. */
static void change(wg_tracks *t, unsigned track, uint64_t cycle, const wg_interval *next)
{
    wg_interval *now = &t->track[track].now;
    if (cycle > now->from) {
        now->to = cycle;
        t->fn(t->user, now);
        now->from = cycle;
    }
    /* An issued instruction keeps its whole cycle: an activity that starts within it counts from the next. */
    uint64_t from = now->from;
    *now = *next;
    now->from = from;
    now->track = (uint8_t)track;
}

static void idle(wg_tracks *t, unsigned track, uint64_t cycle)
{
    change(t, track, cycle, &(wg_interval){.doing = wg_track_is_core(track) ? WG_DOING_WORK : WG_DOING_IDLE});
}

void wg_tracks_begin(wg_tracks *t, uint64_t cycle, unsigned held, wg_interval_fn fn, void *user)
{
    memset(t, 0, sizeof *t);
    t->fn = fn;
    t->user = user;
    for (unsigned i = 0; i < WG_TRACKS; i++) {
        uint8_t doing = !wg_track_is_core(i)  ? WG_DOING_IDLE
                        : held >> i & 1       ? WG_DOING_RESET
                        : held >> (8 + i) & 1 ? WG_DOING_PARKED
                                              : WG_DOING_WORK;
        t->track[i].now = (wg_interval){.from = cycle, .track = (uint8_t)i, .doing = doing};
    }
}

static void stall_begin(wg_tracks *t, const wg_event *e)
{
    /* An expander's wait has the same agent as its thread; it does not affect the gate's activity. */
    if (wg_track_is_thread(e->agent) && e->stall.reason == WG_STALL_FIFO_FULL)
        return;
    if (wg_track_is_unit(e->agent) && t->track[e->agent].inside == 0)
        return;
    unsigned doing = WG_DOING_STALL + (e->stall.reason < WG_STALL_COUNT ? e->stall.reason : WG_STALL_NONE);
    if (wg_track_is_core(e->agent) && e->stall.reason == WG_STALL_CORE_IN_RESET)
        doing = WG_DOING_RESET;
    if (wg_track_is_core(e->agent) && e->stall.reason == WG_STALL_CORE_PARKED)
        doing = WG_DOING_PARKED;
    change(t, e->agent, e->cycle,
           &(wg_interval){.doing = (uint8_t)doing,
                          .word = e->word,
                          .pc = e->pc,
                          .id = e->id,
                          .parent = e->parent,
                          .thread = e->thread,
                          .core = (uint8_t)e->c,
                          .stall = e->stall});
}

static void stall_end(wg_tracks *t, const wg_event *e)
{
    if (wg_track_is_thread(e->agent) && e->stall.reason == WG_STALL_FIFO_FULL)
        return;
    wg_track *track = &t->track[e->agent];
    if (wg_track_is_core(e->agent) && track->now.doing < WG_DOING_STALL)
        return;
    if (wg_track_is_unit(e->agent) && track->inside)
        change(t, e->agent, e->cycle, &(wg_interval){.doing = WG_DOING_WORK});
    else
        idle(t, e->agent, e->cycle);
}

static void issued(wg_tracks *t, const wg_event *e)
{
    change(t, e->agent, e->cycle,
           &(wg_interval){.doing = WG_DOING_WORK,
                          .word = e->word,
                          .pc = e->pc,
                          .id = e->id,
                          .parent = e->parent,
                          .thread = e->thread,
                          .core = (uint8_t)e->c});
    idle(t, e->agent, e->cycle + 1);
    if (e->b >= WG_TRACKS || !wg_track_is_unit((unsigned)e->b))
        return;
    t->track[e->b].entered = e->cycle;
    if (t->track[e->b].inside++ == 0)
        change(t, (unsigned)e->b, e->cycle, &(wg_interval){.doing = WG_DOING_WORK});
}

static void completed(wg_tracks *t, const wg_event *e)
{
    wg_track *unit = &t->track[e->agent];
    if (unit->inside && --unit->inside == 0)
        idle(t, e->agent, e->cycle > unit->entered ? e->cycle : unit->entered + 1);
}

static void core_state(wg_tracks *t, const wg_event *e)
{
    static const uint8_t doing[4] = {WG_DOING_RESET, WG_DOING_WORK, WG_DOING_PARKED, WG_DOING_WORK};
    change(t, e->agent, e->cycle, &(wg_interval){.doing = doing[e->a & 3], .pc = e->pc});
}

void wg_tracks_event(wg_tracks *t, const wg_event *e)
{
    if (e->agent >= WG_TRACKS)
        return;
    switch (e->kind) {
    case WG_EV_STALL_BEGIN: stall_begin(t, e); break;
    case WG_EV_STALL_END: stall_end(t, e); break;
    case WG_EV_ISSUED:
        if (wg_track_is_thread(e->agent))
            issued(t, e);
        break;
    case WG_EV_COMPLETED:
        if (wg_track_is_unit(e->agent))
            completed(t, e);
        break;
    case WG_EV_CORE_STATE:
        if (wg_track_is_core(e->agent))
            core_state(t, e);
        break;
    default: break;
    }
}

void wg_tracks_cut(wg_tracks *t, unsigned track, uint64_t cycle)
{
    wg_interval *now = &t->track[track].now;
    if (cycle <= now->from)
        return;
    now->to = cycle;
    t->fn(t->user, now);
    now->from = cycle;
}

void wg_tracks_end(wg_tracks *t, uint64_t cycle)
{
    for (unsigned i = 0; i < WG_TRACKS; i++)
        wg_tracks_cut(t, i, cycle);
}

const char *wg_doing_text(unsigned track, unsigned doing)
{
    switch (doing) {
    case WG_DOING_IDLE:
        return wg_track_is_thread(track) ? "no instruction has reached the gate" : "no instruction in it";
    case WG_DOING_WORK:
        return wg_track_is_core(track) ? "executing" : wg_track_is_thread(track) ? "an instruction passed" : "busy";
    case WG_DOING_RESET: return wg_stall_text(WG_STALL_CORE_IN_RESET);
    case WG_DOING_PARKED: return wg_stall_text(WG_STALL_CORE_PARKED);
    case WG_DOING_POLLING: return "polling";
    default: return wg_stall_text(doing - WG_DOING_STALL);
    }
}

const char *wg_doing_name(unsigned track, unsigned doing, char *room, size_t bytes)
{
    switch (doing) {
    case WG_DOING_IDLE: return wg_track_is_thread(track) ? "empty" : "idle";
    case WG_DOING_WORK: return wg_track_is_core(track) ? "executing" : wg_track_is_thread(track) ? "issued" : "busy";
    case WG_DOING_RESET: return "reset";
    case WG_DOING_PARKED: return "parked";
    case WG_DOING_POLLING: return "polling";
    default: break;
    }
    const char *name = wg_stall_name(doing - WG_DOING_STALL);
    size_t i = 0;
    for (; name[i] && i + 1 < bytes; i++)
        room[i] = name[i] == '_' ? '-' : (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    if (bytes)
        room[i] = 0;
    return room;
}
