/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortcuts: code that only makes the machine faster. The plain machine is complete without it: `meson setup -Dfast=false`
 * compiles none of it, WAITGATE_FAST switches each shortcut off by name, and states and cycles are the same either way.
 *
 *     plain machine ──"does somebody take this?"──> fast.h ──> src/fast/
 *
 * This is the only header of the shortcuts that the plain machine includes.
 */
#ifndef WG_FAST_H
#define WG_FAST_H

#include "machine/tile.h"

#ifndef WG_FAST
#define WG_FAST 1
#endif

typedef enum wg_fast_path {
#define WG_FAST_PATH(id, name, needs, what) WG_FAST_##id,
#include "machine/fast.def"
#undef WG_FAST_PATH
    WG_FAST_PATHS
} wg_fast_path;
#define WG_FAST_ALL ((1u << WG_FAST_PATHS) - 1)
#define WG_FAST_BIT(id) (1u << WG_FAST_##id)

/* Events that keep cores with the clock: an instruction emits them in its own cycle, and only once. */
#define WG_FAST_CORE_KINDS \
    (WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_CORE_FENCE) | WG_EV_BIT(WG_EV_CORE_CONSUMED) | \
     WG_EV_BIT(WG_EV_STALL_BEGIN) | WG_EV_BIT(WG_EV_STALL_END) | WG_EV_BIT(WG_EV_TOUCH) | WG_EV_BIT(WG_EV_TOUCH_L1))
/* Events that a polling loop may emit: their observers see every iteration. */
#define WG_FAST_POLL_KINDS \
    (WG_FAST_CORE_KINDS | WG_EV_BIT(WG_EV_CORE_REQUEST) | WG_EV_BIT(WG_EV_CORE_RESPONSE) | WG_EV_BIT(WG_EV_FINDING) | \
     WG_EV_BIT(WG_EV_TRACKED))

/*
 * Decides which shortcuts may be taken; no other place does. All may be taken if nobody observes and nothing is perturbed or
 * scaled, none in lockstep. In between, those are taken that lose no observed event: units and threads alone, cores ahead of
 * the clock, skipped periods, and what units know already or do in one step. Must be called whenever one of these
 * conditions changes.
 */
static inline void wg_fast_update(wg_tile *t)
{
    const uint64_t kinds = WG_EVENTS ? t->watched : 0;
    uint32_t may = WG_FAST_ALL;
    if (t->perturbed || t->what_if || t->rewrite || kinds)
        may &= ~(WG_FAST_BIT(FRONTENDS) | WG_FAST_BIT(BURSTS) | WG_FAST_BIT(CORE_GROUPS) | WG_FAST_BIT(ROUNDS));
    if (kinds & WG_EV_BIT(WG_EV_TOUCH))
        may &= ~WG_FAST_BIT(STRAIGHT_ROWS);
    if (t->perturbed || (kinds & WG_EV_BIT(WG_EV_COMPLETED)))
        may &= ~WG_FAST_BIT(COMPLETIONS);
    if (t->what_if || (kinds & WG_FAST_CORE_KINDS))
        may &= ~(WG_FAST_BIT(AHEAD) | WG_FAST_BIT(LINES));
    if (t->perturbed || (kinds & WG_FAST_POLL_KINDS))
        may &= ~WG_FAST_BIT(POLLS);
    t->fast = WG_FAST && !t->lockstep ? t->fast_wanted & may : 0;
}

/* May this shortcut be taken now? */
static inline bool wg_fast(const wg_tile *t, wg_fast_path path) { return WG_FAST && t->fast >> path & 1; }

/* Counts a use of `cycles` cycles: wg_shortcut_uses(), wg_shortcut_cycles(). */
static inline void wg_fast_used(wg_tile *t, wg_fast_path path, uint64_t cycles)
{
    t->fast_uses[path]++;
    t->fast_cycles[path] += cycles;
}
static_assert((int)WG_FAST_PATHS <= (int)WG_SHORTCUTS_MOST, "each has its count");

/* ---- what units know already, and do in one step ------------------------------------------------------------- */

/* May a unit use decoded configuration or operands again, if what they depend on has not changed? */
static inline bool wg_fast_decoded(const wg_tile *t) { return wg_fast(t, WG_FAST_DECODING); }
/* … where an observer of touches would miss the reads of decoding. */
static inline bool wg_fast_decoded_unseen(const wg_tile *t)
{
    return wg_fast(t, WG_FAST_DECODING) && !(WG_EVENTS && t->watched & WG_EV_BIT(WG_EV_TOUCH));
}
/* An instruction was accepted with what had been decoded before. */
static inline void wg_fast_decoded_again(wg_tile *t) { wg_fast_used(t, WG_FAST_DECODING, 0); }
/* May a packer move whole rows at once? It touches them all at the same time. */
static inline bool wg_fast_straight_rows(const wg_tile *t) { return wg_fast(t, WG_FAST_STRAIGHT_ROWS); }
static inline void wg_fast_moved_straight(wg_tile *t) { wg_fast_used(t, WG_FAST_STRAIGHT_ROWS, 0); }
/* Need only a thread's last completion in the Vector Unit be known? */
static inline bool wg_fast_completions(const wg_tile *t) { return wg_fast(t, WG_FAST_COMPLETIONS); }
static inline void wg_fast_completion_untracked(wg_tile *t) { wg_fast_used(t, WG_FAST_COMPLETIONS, 0); }

/* ---- units and threads ------------------------------------------------------------------------------------- */

#if WG_FAST
/* Runs cycles before `end` in which only units and threads act, from the current one on. */
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

/* Refuses a push before it arrives, if it would be refused then; false: the push takes its course. */
static inline bool wg_fast_refuses_push(wg_tile *t, unsigned thread, wg_core_id core, unsigned count, wg_stall *why)
{
    return wg_fast(t, WG_FAST_FRONTENDS) && wg_push_refused(t, thread, core, count, why);
}

/* ---- a core ahead of the clock ------------------------------------------------------------------------------ */

#if WG_FAST
/* The cycle before which the core may run ahead; the next one: it stays with the clock. */
uint64_t wg_fast_ahead_until(const wg_tile *t, unsigned core);
/* A checkpoint: run-ahead restarts from the present state. */
void wg_fast_checkpoint(wg_tile *t, unsigned core);
/* Rollback: a core that is ahead returns to its checkpoint and executes again up to the current cycle. */
void wg_fast_rollback(wg_tile *t, unsigned core);
/* The first store of a core that is ahead has room on its path. False if it needs a rollback to leave. */
bool wg_fast_store_leaves(wg_tile *t, unsigned core);
/* wg_exec() with executors that are faster than wg_exec_queued(), if wg_fast_takes_exec(). */
uint64_t wg_fast_exec(wg_tile *t, unsigned core, uint64_t stop);
#else
static inline uint64_t wg_fast_ahead_until(const wg_tile *t, unsigned core)
{
    (void)core;
    return t->sched.now + 1;
}
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

/* Does a faster executor take over where it can? */
static inline bool wg_fast_takes_exec(const wg_tile *t) { return wg_fast(t, WG_FAST_LINES); }
/* A core's newest instruction has entered EX1 in cycle `last`, after cycle `from`: counts the cycles it ran ahead. */
static inline void wg_fast_ran_ahead(wg_tile *t, uint64_t from, uint64_t last)
{
    if (last > from)
        wg_fast_used(t, WG_FAST_AHEAD, last - from);
}

/* ---- a core that runs ahead through L1: core_groups.c --------------------------------------------------------- */

#if WG_FAST
/* A packet is about to reach the tile: rolls back a core that has run ahead through L1. */
void wg_fast_packet(wg_tile *t);
#else
static inline void wg_fast_packet(wg_tile *t) { (void)t; }
#endif

/* The core has run ahead through L1 beyond this cycle: a tick has nothing to do. */
static inline bool wg_fast_through_l1(const wg_tile *t, const wg_core *k)
{
    return WG_FAST && k->l1_ahead && t->sched.now < k->l1_until;
}
/* The clock has caught up: drops the checkpoint. */
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
 * no later than that and `limit`, if the shortcut may be taken.
 */
void wg_fast_polls(wg_tile *t, uint64_t until, uint64_t limit);
/*
 * Is the tile's state known to repeat until another agent acts? *next: the earliest cycle in which one does. Such a tile need
 * not be run: wg_fast_polls_resume() advances it to the last whole period before `end`.
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

/* Between cycles: runs several cores at L1 as a group while no other agent acts. Has time passed? */
static inline bool wg_fast_core_groups(wg_tile *t)
{
    return WG_FAST && t->l1_turns >= WG_L1_TURNS && wg_core_groups(t);
}

#endif
