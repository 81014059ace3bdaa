/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core ahead of the clock. It executes private work (registers, own RAM, cache hits) before its cycle has come, and meets
 * the clock at every shared access.
 *
 *     checkpoint ──> run-ahead ──> the clock gets there: the checkpoint is dropped
 *         └── rollback: an outside effect reaches the core before; it executes again up to the exact cycle
 *
 * The checkpoint is wg_core.saved plus an undo log of own RAM and the predictor (wg_core.undo). A core that feeds its thread
 * logs single instructions instead (wg_core.past; pushes.c).
 */
#include "fast/cores.h"
#include "fast/lines.h"

#include <string.h>

void wg_fast_checkpoint(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    k->saved = k->run;
    k->saved_at = t->sched.now;
    k->saved_fcsr = k->csr.fcsr;
    k->reached = 0;
    k->noted = false;
    k->undo_count = 0;
}

void wg_fast_keep(wg_core *k)
{
    const wg_past *p = &k->past;
    wg_core_run *s = &k->saved;
    k->noted = false;
    if (k->saved_at == WG_NEVER)
        return;
    *s = k->run;
    k->saved_fcsr = k->csr.fcsr; /* a logged run executes integer instructions only */
    for (unsigned i = p->writes; i--;)
        s->r[p->rd[i]] = p->old[i];
    s->at = p->at;
    s->last = p->last;
    s->stored = p->stored;
    s->number = p->number;
    s->pushes = p->pushes;
    s->dests = p->dests;
    s->pc = p->pc;
    s->history = p->history;
    s->sq_count = (uint8_t)(s->sq_count - p->stores);
    s->ex1.kind = WG_EX1_NONE; /* only the last instruction of a run-ahead can be in EX1 */
}

void wg_ahead_undo(wg_core *k)
{
    k->csr.fcsr = k->saved_fcsr;
    while (k->undo_count) {
        const wg_undo *u = &k->undo[--k->undo_count];
        uint32_t index = u->where & ~(uint32_t)WG_UNDO_KIND;
        if ((u->where & WG_UNDO_KIND) == WG_UNDO_PREDICTOR)
            k->predictor[index % WG_PREDICTOR] = (uint8_t)u->old;
        else if ((u->where & WG_UNDO_KIND) == WG_UNDO_TARGET)
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
    wg_core_keep(k);
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

static inline bool may_run_lines(const wg_tile *t, const wg_core *k, uint64_t stop)
{
    return wg_fast(t, WG_FAST_LINES) && !k->run.queued && !k->run.ordered && k->run.at + WG_MARGIN <= stop &&
           !wg_one_at_a_time(k);
}

uint64_t wg_fast_exec(wg_tile *t, unsigned core, uint64_t stop)
{
    wg_core *k = &t->core[core];
    wg_back_edge edge;
    edge.branch = 0;
    for (;;) {
        if (k->run.halt || k->run.ex1.kind)
            return WG_NEVER;
        /* Do not run past the next externally visible store or fetch. */
        stop = wg_min64(stop, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
        if (may_run_lines(t, k, stop)) {
            wg_fast_used(t, WG_FAST_LINES);
            for (uint32_t branch; (branch = wg_exec_lines(t, core, stop));)
                wg_exec_loop(t, core, branch, stop, &edge);
            stop = wg_min64(stop, wg_lsu_next(t, core));
        }
        uint64_t again = wg_exec_queued(t, core, stop);
        if (again)
            return again;
    }
}
