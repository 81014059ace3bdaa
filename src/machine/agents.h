/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wake-ups: every agent of a tile knows the next cycle at which it could change state if nobody
 * else acted. Whoever changes what an agent waits for wakes it. An extra wake-up is harmless: a tick
 * that finds nothing to do changes nothing.
 */
#ifndef WG_AGENTS_H
#define WG_AGENTS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <waitgate/event.h>

#define WG_NEVER UINT64_MAX

typedef struct wg_schedule {
    uint64_t next[WG_AGENT_COUNT];
    uint64_t now; /* the cycle being run, or about to be run */
    /*
     * So that nobody need look through `next`: who has an appointment has its bit in `soon`, or it is no earlier than
     * `later`. An appointment may be cleared or moved back without telling; it is made by wg_wake_at() and
     * wg_appoint() alone.
     */
    uint64_t later;
    uint32_t soon;
    uint32_t woken;          /* who got an earlier appointment since somebody cleared it (wg_tile_cycles) */
    uint8_t phase;           /* wg_phase being run */
    uint8_t pending_cores;   /* bit i: core i is still to be ticked in this cycle, its appointment is taken */
    bool watch_idle;         /* a request waits at its region for a thread to become idle (wg_watch_idle) */
    bool watch_units;        /* the Scalar Unit's instruction waits mid-way for what gates wait for (wg_watch_units) */
    uint32_t far;            /* who has an appointment and no bit in `soon` has one here */
    uint64_t look_at;        /* … and looks again in this cycle */
    uint32_t wake_filter[3]; /* of each thread that sleeps: what cannot let it act (WG_CAUSE_…) */
} wg_schedule;

/*
 * What a gate can wait for, as far as it is worth telling apart: a bit per unit whose instructions complete
 * (WG_AGENT_BIT), owners and pointers of source banks, and semaphores and mutexes (the Sync Unit's bit). Everything
 * else wakes every thread that waits for anything.
 */
#define WG_CAUSE_SRC (UINT32_C(1) << 31)
#define WG_CAUSE_ANY UINT32_MAX

/* The phase in which an agent's tick runs (a core has two: load/store unit and pipeline). */
static inline uint8_t wg_agent_first_phase(unsigned agent)
{
    if (agent <= WG_AGENT_CORE_T2)
        return WG_PHASE_LOAD_STORE;
    if (agent <= WG_AGENT_THREAD2)
        return WG_PHASE_LATCHES;
    if (agent <= WG_AGENT_MISC)
        return WG_PHASE_COMPLETIONS;
    if (agent == WG_AGENT_REGIONS)
        return WG_PHASE_REGIONS;
    return agent == WG_AGENT_PUSHES ? WG_PHASE_PUSH : WG_PHASE_ARRIVALS;
}

static_assert(WG_AGENT_COUNT < 32, "wg_schedule.soon; the last bit of wg_schedule.wake_filter is free");
#define WG_AGENT_BIT(agent) (UINT32_C(1) << (agent))
#define WG_SCHED_NEAR 8 /* appointments this near are among the `soon`: pipelines make one per instruction */
#define WG_SCHED_CORES (UINT32_C(0x1F) << WG_AGENT_CORE_B)

static inline void wg_wake_at(wg_schedule *s, unsigned agent, uint64_t cycle)
{
    if (cycle >= s->next[agent])
        return;
    s->next[agent] = cycle;
    s->woken |= WG_AGENT_BIT(agent);
    if (cycle <= s->now + WG_SCHED_NEAR) {
        s->soon |= WG_AGENT_BIT(agent);
    } else {
        s->far |= WG_AGENT_BIT(agent);
        s->later = cycle < s->later ? cycle : s->later;
    }
}

/* The agent's one appointment, earlier or later than the one it had. */
static inline void wg_appoint(wg_schedule *s, unsigned agent, uint64_t cycle)
{
    s->next[agent] = WG_NEVER;
    wg_wake_at(s, agent, cycle);
}

/* The agent has no appointment any more. */
static inline void wg_cancel_appointment(wg_schedule *s, unsigned agent)
{
    s->next[agent] = WG_NEVER;
    s->soon &= ~WG_AGENT_BIT(agent);
    s->far &= ~WG_AGENT_BIT(agent);
}

/* The agent has no appointment, and acts in the next cycle. */
static inline void wg_appoint_next(wg_schedule *s, unsigned agent)
{
    s->next[agent] = s->now + 1;
    s->soon |= WG_AGENT_BIT(agent);
}

/*
 * Something `agent` may wait for has changed just now. It is ticked in this cycle if its phase is
 * still to come, else in the next.
 */
static inline void wg_wake(wg_schedule *s, unsigned agent)
{
    wg_wake_at(s, agent, s->phase < wg_agent_first_phase(agent) ? s->now : s->now + 1);
}

static inline void wg_wake_thread(wg_schedule *s, unsigned thread)
{
    wg_wake_at(s, WG_AGENT_THREAD0 + thread, s->phase < WG_PHASE_LATCHES ? s->now : s->now + 1);
}

/*
 * A region's answer was "wait until the thread is idle" (manual TTSync, B's read of a PC buffer): the
 * regions are ticked again when an instruction leaves a frontend or a unit.
 */
static inline void wg_watch_idle(wg_schedule *s) { s->watch_idle = true; }
static inline void wg_wake_idle_watchers(wg_schedule *s)
{
    if (__builtin_expect(s->watch_idle, 0)) {
        s->watch_idle = false;
        wg_wake(s, WG_AGENT_REGIONS);
    }
}

/*
 * The Scalar Unit's instruction waits for a source bank or another unit: it looks again in the cycle after
 * one of those has changed.
 */
static inline void wg_watch_units(wg_schedule *s)
{
    s->watch_units = true;
    s->look_at = WG_NEVER;
}
static inline void wg_wake_unit_watchers(wg_schedule *s)
{
    if (__builtin_expect(s->watch_units, 0)) {
        s->watch_units = false;
        s->look_at = s->now + 1;
        wg_wake_at(s, WG_AGENT_SCALAR, s->now + 1);
    }
}

/* What a gate can wait for has changed, by one of `causes`; a thread whose gate waits for nothing sleeps on. */
static inline void wg_wake_waiting(wg_schedule *s, uint32_t causes)
{
    wg_wake_unit_watchers(s);
    uint64_t at = s->phase < WG_PHASE_LATCHES ? s->now : s->now + 1;
    for (unsigned i = 0; i < 3; i++)
        if (~s->wake_filter[i] & causes && at < s->next[WG_AGENT_THREAD0 + i]) {
            s->next[WG_AGENT_THREAD0 + i] = at;
            s->soon |= WG_AGENT_BIT(WG_AGENT_THREAD0 + i);
            s->woken |= WG_AGENT_BIT(WG_AGENT_THREAD0 + i);
        }
}
static inline void wg_wake_waiting_thread(wg_schedule *s, unsigned thread, uint32_t causes)
{
    if (~s->wake_filter[thread] & causes)
        wg_wake(s, WG_AGENT_THREAD0 + thread);
}
static inline void wg_wake_threads(wg_schedule *s) { wg_wake_waiting(s, WG_CAUSE_ANY); }

/* What cannot let the thread act while it sleeps; 0: it is awake. */
static inline void wg_filter_wakes(wg_schedule *s, unsigned thread, uint32_t causes)
{
    s->wake_filter[thread] = causes;
}

/* From now on nobody may sleep through a change, or what is known of a thread's gate is no longer so. */
static inline void wg_threads_listen(wg_schedule *s) { s->wake_filter[0] = s->wake_filter[1] = s->wake_filter[2] = 0; }

/* Somebody outside changed state: everybody looks again. */
static inline void wg_wake_all(wg_schedule *s)
{
    wg_wake_unit_watchers(s);
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        wg_wake(s, i);
}

#endif
