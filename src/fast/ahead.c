/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core ahead of the clock. It executes private work (registers, own RAM, cache hits) before the clock gets there, and waits
 * for the clock at every shared access.
 *
 *     checkpoint ──> run-ahead ──> the clock catches up: the checkpoint is dropped
 *         └── rollback: an outside effect reaches the core first; the core executes again up to that cycle
 *
 * The checkpoint is wg_core.saved plus an undo log of own RAM and the predictor (wg_core.undo).
 */
#include "fast/cores.h"

#include <string.h>

uint64_t wg_fast_ahead_until(const wg_tile *t, unsigned core)
{
    const uint64_t next = t->sched.now + 1;
    if (!wg_fast(t, WG_FAST_AHEAD))
        return next;
    return wg_max64(wg_min64(wg_min64(t->ahead_limit, t->sched.now + WG_RUN_AHEAD), wg_lsu_bound(t, core)), next);
}

void wg_fast_checkpoint(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    k->saved = k->run;
    k->saved_at = t->sched.now;
    k->saved_fcsr = k->csr.fcsr;
    k->reached = 0;
    k->undo_count = 0;
}

void wg_ahead_undo(wg_core *k)
{
    k->csr.fcsr = k->saved_fcsr;
    while (k->undo_count) {
        const wg_undo *u = &k->undo[--k->undo_count];
        uint32_t index = u->where & ~(uint32_t)WG_UNDO_KIND;
        if ((u->where & WG_UNDO_KIND) == WG_UNDO_TARGET)
            k->targets[index / 2 % WG_TARGETS][index % 2] = u->old;
        else if ((u->where & WG_UNDO_KIND) == WG_UNDO_BRANCH)
            k->branches[index % WG_BRANCHES] = u->old;
        else
            memcpy(k->ram + index % WG_RAM_MAX, &u->old, 4);
    }
}

void wg_fast_rollback(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_ahead_undo(k);
    k->run = k->saved;
    if (k->l1_ahead) { /* schedules the core's next tick, if there is one */
        wg_group_repeat(t, core);
    } else {
        wg_exec(t, core, t->sched.now);
        wg_wake(&t->sched, WG_AGENT_CORE_B + core);
    }
    k->saved_at = WG_NEVER;
    k->undo_count = 0;
}

/*
 * A run-ahead that has used neither the mux nor the L0 cache does not depend on the store, which is removed from both the
 * current state and the checkpoint. A store in EX1 that would find the queue full then has room.
 */
bool wg_fast_store_leaves(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run, *saved = &k->saved;
    const wg_store *s = wg_sq_peek(saved, 0);
    if (k->l1_ahead || s->path == WG_PATH_L1 || s->path == WG_PATH_OWN_RAM || run->sq_head != saved->sq_head ||
        run->mux_free != saved->mux_free || run->l0_requests != saved->l0_requests || run->wait_e != saved->wait_e ||
        (run->loads | saved->loads) || wg_strongly_ordered(k) ||
        (run->ex1.kind && (run->ex1.kind != WG_EX1_STORE || run->ex1.path != WG_PATH_PUSH)))
        return false;
    const unsigned count = run->sq_count;
    wg_lsu_drain(t, core);
    if (run->sq_count == count)
        return true;
    wg_sq_pop(saved);
    saved->mux_free = run->mux_free;
    uint64_t m;
    if (run->ex1.kind && run->ex1.entered >= t->sched.now && wg_lsu_store(t, core, &run->ex1, &m) == WG_LSU_DONE) {
        run->ex1.kind = WG_EX1_NONE;
        run->at = m;
        wg_fill_retire(run, run->ex1.number, m + 1);
    }
    return true;
}

static inline bool may_run_lines(const wg_core *k, uint64_t stop)
{
    return !k->run.queued && !k->run.ordered && k->run.at + WG_MARGIN <= stop && !wg_one_at_a_time(k);
}

uint64_t wg_fast_exec(wg_tile *t, unsigned core, uint64_t stop)
{
    wg_core *k = &t->core[core];
    for (;;) {
        if (may_run_lines(k, stop)) {
            const uint64_t from = k->run.at, number = k->run.number;
            wg_exec_lines(t, core, stop);
            wg_fast_used(t, WG_FAST_LINES, k->run.at - from);
            t->lines_wait[core] = k->run.number - number < WG_RETIRE_QUEUE ? 2 * WG_RETIRE_QUEUE : 0;
            stop = wg_min64(stop, wg_lsu_next(t, core));
        }
        uint64_t again = wg_exec_queued(t, core, stop);
        if (again)
            return again;
        stop = wg_min64(stop, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
    }
}
