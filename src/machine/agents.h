/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wake-ups: every agent of a tile knows the next cycle in which it could change state if nobody else acted. Whoever changes
 * something that an agent waits for wakes that agent. A spurious wake-up is harmless: a tick with nothing to do changes
 * nothing.
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
     * An index of `next`. A scheduled agent has its bit in `soon`, or its wake-up is not before `later`. The index may be
     * out of date when a wake-up was cancelled or postponed; wg_wake_at() and wg_set_wake() always update it.
     */
    uint64_t later;
    uint32_t soon;
    uint32_t woken;        /* agents whose wake-up was made earlier since this was cleared (wg_tile_cycles) */
    uint8_t phase;         /* wg_phase being run */
    uint8_t pending_cores; /* bit i: core i has still to be ticked in this cycle; its wake-up is already taken */
    bool watch_idle;       /* a request waits at its region for a thread to become idle (wg_watch_idle) */
    bool watch_units; /* the Scalar Unit's instruction waits midway for a cause that gates wait for (wg_watch_units) */
    uint32_t far;     /* scheduled agents that are not in `soon` */
    uint64_t look_at; /* when `far` is searched next */
    uint32_t wake_filter[3]; /* per sleeping thread: causes that cannot unblock it (WG_CAUSE_…) */
} wg_schedule;

/*
 * Causes that can unblock a gate and are worth distinguishing: completions, with a bit per unit (WG_AGENT_BIT); owners and
 * pointers of source banks; semaphores and mutexes (the Sync Unit's bit). Any other cause wakes every waiting thread.
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
#define WG_SCHED_NEAR 8 /* a wake-up within this many cycles goes into `soon`: a pipeline makes one per instruction */
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

/* Sets the agent's next wake-up, whatever it was before. */
static inline void wg_set_wake(wg_schedule *s, unsigned agent, uint64_t cycle)
{
    s->next[agent] = WG_NEVER;
    wg_wake_at(s, agent, cycle);
}

/* Postpones the agent's wake-up. */
static inline void wg_postpone(wg_schedule *s, unsigned agent, uint64_t cycle) { s->next[agent] = cycle; }

/* Cancels the agent's wake-up. */
static inline void wg_cancel_wake(wg_schedule *s, unsigned agent)
{
    s->next[agent] = WG_NEVER;
    s->soon &= ~WG_AGENT_BIT(agent);
    s->far &= ~WG_AGENT_BIT(agent);
}

/* Schedules an agent that has no wake-up, for the next cycle. */
static inline void wg_wake_next(wg_schedule *s, unsigned agent)
{
    s->next[agent] = s->now + 1;
    s->soon |= WG_AGENT_BIT(agent);
}

/*
 * Something that `agent` may wait for has just changed. It is ticked in this cycle if its phase is still to come, else in the
 * next.
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
 * A region makes a request wait until a thread is idle (manual TTSync, B's read of a PC buffer): the regions are ticked again
 * when an instruction leaves a frontend or a unit.
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
 * The Scalar Unit's instruction waits for a source bank or another unit: it checks again in the cycle after one of those has
 * changed.
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

/* One of `causes` may have unblocked a gate; a thread whose wake filter holds them all sleeps on. */
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

/* Sets the thread's wake filter: causes that cannot unblock it while it sleeps; 0: it is awake. */
static inline void wg_filter_wakes(wg_schedule *s, unsigned thread, uint32_t causes)
{
    s->wake_filter[thread] = causes;
}

/* Clears the wake filters: every change must be seen, or the known state of a gate is stale. */
static inline void wg_threads_listen(wg_schedule *s) { s->wake_filter[0] = s->wake_filter[1] = s->wake_filter[2] = 0; }

/* State was changed from outside: every agent is ticked. */
static inline void wg_wake_all(wg_schedule *s)
{
    wg_wake_unit_watchers(s);
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        wg_wake(s, i);
}

#endif
