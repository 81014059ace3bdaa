/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of arithmetic: every iteration takes the same time, so it is replayed as a period (period.c).
 *
 *     target ── arithmetic ── arithmetic ── … ── backward branch, foreseen
 *        └───────────────────────────────────────────┘
 *
 * While nothing is in flight, a line's time follows from its instructions (lines.c), and is the same in every iteration.
 */
#include "fast/lines.h"
#include "fast/period.h"

enum { MOST = 24 /* instructions */, LEAST = 6 /* iterations left */ };

typedef enum round_end {
    ROUND_OTHER, /* no loop of arithmetic; nothing was done */
    ROUND_AGAIN, /* at `target` again */
    ROUND_FALLS  /* before the branch, which will not be taken */
} round_end;

/* Runs up to n iterations. *done: how often the branch was taken. */
static round_end rounds(wg_tile *t, unsigned core, uint32_t target, uint32_t branch, uint64_t n, uint64_t *done)
{
    wg_step_of step[MOST + 1], *x = step;
    wg_period p;
    *done = 0;
    if (branch - target >= 4 * MOST)
        return ROUND_OTHER;
    for (uint32_t pc = target; pc <= branch; pc += 4, x++) {
        const wg_icache_line *line = wg_fetch_peek(t, core, pc);
        if (!line || line->checked != t->core[core].epoch)
            return ROUND_OTHER;
        const wg_op *op = &line->op[pc >> 2 & 3];
        if (pc != branch && !wg_is_arithmetic(op))
            return ROUND_OTHER;
        *x = wg_step_from(op, core);
        x->flag = true; /* of the branch: taken */
    }
    *x++ = (wg_step_of){.code = WG_STEP_AGAIN, .core = (uint8_t)core};
    p.step = step;
    p.steps = (uint16_t)(x - step);
    p.linked = false;
    p.undoes = false;
    p.run[core] = &t->core[core].run;
    *done = wg_period_replay(t, &p, 0, NULL, n);
    return p.at ? ROUND_FALLS : ROUND_AGAIN;
}

/* wg_core_run.dests before the branch, after more than eight instructions of the loop. */
static uint64_t dests_before(const wg_tile *t, unsigned core, uint32_t target, uint32_t branch)
{
    uint64_t dests = 0;
    uint32_t pc = branch;
    for (unsigned i = 0; i < 8; i++) {
        pc = pc == target ? branch : pc - 4;
        dests |= (uint64_t)wg_fetch_peek(t, core, pc)->op[pc >> 2 & 3].rd << 8 * i;
    }
    return dests;
}

void wg_exec_loop(wg_tile *t, unsigned core, uint32_t branch, uint64_t stop, wg_back_edge *last)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const uint32_t target = run->pc;
    const uint64_t took = run->at - last->at, length = (branch - target) / 4 + 1;
    if (branch == last->branch && stop >= run->at + LEAST * took &&
        wg_predict_settled(k, wg_predictor(t, core), branch, true) /* nothing more to learn */) {
        uint64_t done = 0;
        round_end end = ROUND_OTHER;
        if (run->number == last->number + length) { /* nothing but the loop has executed since */
            /* The retire queue must be as it was. */
            bool same = run->lag == last->lag && (!run->lag || (run->dests == last->dests && took == length));
            end = same ? rounds(t, core, target, branch, (stop - run->at) / took - 1, &done) : ROUND_AGAIN;
        }
        run->at += done * took;
        run->number += done * length;
        if (end == ROUND_FALLS) {
            run->at += took - 1;
            run->number += length - 1;
            run->pc = branch;
            if (run->lag)
                run->dests = dests_before(t, core, target, branch);
        }
        run->last = run->at - 1;
        run->late_at = run->at + 1;
        if (end == ROUND_OTHER)
            k->icache[wg_fetch_peek(t, core, branch) - k->icache].op[branch >> 2 & 3].spare = false; /* not again */
    }
    *last =
        (wg_back_edge){.branch = branch, .lag = run->lag, .at = run->at, .number = run->number, .dests = run->dests};
}
