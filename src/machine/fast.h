/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only makes the machine faster. The plain machine is complete without it: `meson setup -Dfast=false` compiles none
 * of it, WAITGATE_FAST switches it off by name, and states and cycles are the same with and without.
 *
 *     plain machine ──"does somebody take this?"──> fast.h ──> src/fast/
 *
 * This is the one header of it that the plain machine includes.
 */
#ifndef WG_FAST_H
#define WG_FAST_H

#include "machine/tile.h"

#ifndef WG_FAST
#define WG_FAST 1
#endif

typedef enum wg_fast_path {
#define WG_FAST_PATH(id, name, what) WG_FAST_##id,
#include "machine/fast.def"
#undef WG_FAST_PATH
    WG_FAST_PATHS
} wg_fast_path;
#define WG_FAST_ALL ((1u << WG_FAST_PATHS) - 1)

/* Kinds of events that keep cores to the clock: an instruction emits them in its cycle, and never twice. */
#define WG_FAST_CORE_KINDS \
    (WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_CORE_FENCE) | WG_EV_BIT(WG_EV_CORE_CONSUMED) | \
     WG_EV_BIT(WG_EV_STALL_BEGIN) | WG_EV_BIT(WG_EV_STALL_END) | WG_EV_BIT(WG_EV_TOUCH))
/* Kinds of events that a polling loop may emit: whoever watches them sees every round. */
#define WG_FAST_POLL_KINDS \
    (WG_FAST_CORE_KINDS | WG_EV_BIT(WG_EV_CORE_REQUEST) | WG_EV_BIT(WG_EV_CORE_RESPONSE) | WG_EV_BIT(WG_EV_FINDING) | \
     WG_EV_BIT(WG_EV_TRACKED))

/*
 * The one place that says when shortcuts may be taken: nobody watches, nothing is perturbed, and it is not lockstep. To
 * be called whenever one of these changes. Some may be taken in observed runs, too: cycles of units and threads may follow
 * each other, and cores may run ahead and be skipped over, unless an event would be missing.
 */
static inline void wg_fast_update(wg_tile *t)
{
    const uint64_t kinds = WG_EVENTS ? t->watched : 0;
    uint32_t may = WG_FAST_ALL;
    if (t->perturbed || kinds)
        may = 1u << WG_FAST_PIPELINE | 1u << WG_FAST_AHEAD | 1u << WG_FAST_LINES | 1u << WG_FAST_POLLS;
    if (kinds & WG_FAST_CORE_KINDS)
        may &= ~(1u << WG_FAST_AHEAD | 1u << WG_FAST_LINES);
    if (t->perturbed || (kinds & WG_FAST_POLL_KINDS))
        may &= ~(1u << WG_FAST_POLLS);
    t->fast = WG_FAST && !t->lockstep ? t->fast_wanted & may : 0;
}

/* May this shortcut be taken now? */
static inline bool wg_fast(const wg_tile *t, wg_fast_path path) { return WG_FAST && t->fast >> path & 1; }

/* It was taken, for so many cycles: wg_shortcut_uses(), wg_shortcut_cycles(). */
static inline void wg_fast_used(wg_tile *t, wg_fast_path path, uint64_t cycles)
{
    t->fast_uses[path]++;
    t->fast_cycles[path] += cycles;
}
static_assert((int)WG_FAST_PATHS <= (int)WG_FAST_MOST, "each has its count");

/* ---- units and threads ------------------------------------------------------------------------------------- */

#if WG_FAST
/* Cycles from the current one on in which nobody acts but units and threads, to before `end` at most. */
void wg_fast_pipeline(wg_tile *t, uint64_t end);
/* Phases D to G of the threads that are due; false: nothing was done. */
bool wg_fast_frontends(wg_tile *t, unsigned due);
#else
static inline void wg_fast_pipeline(wg_tile *t, uint64_t end) { (void)t, (void)end; }
static inline bool wg_fast_frontends(wg_tile *t, unsigned due)
{
    (void)t, (void)due;
    return false;
}
#endif

/* ---- a core ahead of the clock ------------------------------------------------------------------------------ */

#if WG_FAST
/* A checkpoint: running ahead starts anew from the present state. */
void wg_fast_checkpoint(wg_tile *t, unsigned core);
/* Rollback: the core, which is ahead, goes back to its checkpoint and executes again up to the current cycle. */
void wg_fast_rollback(wg_tile *t, unsigned core);
/* The first store of a core that is ahead has room on its path. False if only a rollback lets it leave. */
bool wg_fast_store_leaves(wg_tile *t, unsigned core);
/* wg_exec() with executors that are faster than wg_exec_queued(). */
uint64_t wg_fast_exec(wg_tile *t, unsigned core, uint64_t stop);
#else
static inline void wg_fast_checkpoint(wg_tile *t, unsigned core) { (void)t, (void)core; }
static inline void wg_fast_rollback(wg_tile *t, unsigned core) { (void)t, (void)core; }
static inline bool wg_fast_store_leaves(wg_tile *t, unsigned core)
{
    (void)t, (void)core;
    return false;
}
static inline uint64_t wg_fast_exec(wg_tile *t, unsigned core, uint64_t stop)
{
    (void)t, (void)core;
    return stop;
}
#endif

/* ---- a core that runs ahead through L1: core_groups.c --------------------------------------------------------- */

#if WG_FAST
/* A packet is about to reach the tile: a core that has run ahead through L1 is rolled back. */
void wg_fast_packet(wg_tile *t);
#else
static inline void wg_fast_packet(wg_tile *t) { (void)t; }
#endif

/* The core has run ahead through L1 to a later cycle: a tick has nothing to do. */
static inline bool wg_fast_through_l1(const wg_tile *t, const wg_core *k)
{
    return WG_FAST && k->l1_ahead && t->sched.now < k->l1_until;
}
/* The clock has caught up: the checkpoint is dropped. */
static inline void wg_fast_l1_reached(wg_core *k)
{
    if (WG_FAST && k->l1_ahead) {
        k->l1_ahead = false;
        k->saved_at = WG_NEVER;
    }
}

/* ---- several cores, cores that poll --------------------------------------------------------------------------- */

#if WG_FAST
bool wg_core_groups(wg_tile *t);
/*
 * The state repeats that of poll.seen_at, and no other agent acts before `until`. Advances t->sched.now by whole periods, to
 * no later than that and `limit`.
 */
void wg_fast_polls(wg_tile *t, uint64_t until, uint64_t limit);
/*
 * Is the tile's state known to repeat itself until another agent acts? *next: when one does at the earliest. Such a tile need
 * not be run: wg_fast_polls_resume() moves it on to the last whole period before `end`.
 */
bool wg_fast_polls_settled(const wg_tile *t, uint64_t *next);
void wg_fast_polls_resume(wg_tile *t, uint64_t end);
#else
static inline bool wg_core_groups(wg_tile *t)
{
    (void)t;
    return false;
}
static inline void wg_fast_polls(wg_tile *t, uint64_t until, uint64_t limit) { (void)t, (void)until, (void)limit; }
static inline bool wg_fast_polls_settled(const wg_tile *t, uint64_t *next)
{
    (void)t, (void)next;
    return false;
}
static inline void wg_fast_polls_resume(wg_tile *t, uint64_t end) { (void)t, (void)end; }
#endif

/* Between cycles: runs several cores at L1 as a group, as long as no other agent acts. Has time passed? */
static inline bool wg_fast_core_groups(wg_tile *t)
{
    return WG_FAST && t->l1_turns >= WG_L1_TURNS && wg_core_groups(t);
}

#endif
