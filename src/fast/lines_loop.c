/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of arithmetic alone: every round takes the same time, so only its results are worked out.
 *
 *     target ── arithmetic ── arithmetic ── … ── backward branch, foreseen
 *        └───────────────────────────────────────────┘
 *
 * While nothing is in flight, what a line costs follows from its instructions (lines.c); there is nothing here that
 * could cost more in one round than in another.
 */
#include "fast/lines.h"

enum { MOST = 24 /* instructions */, LEAST = 6 /* rounds to be gone */ };

/* An instruction with everything looked up. */
typedef struct step {
    const void *label;
    uint32_t *to;
    const uint32_t *a, *b;
    uint32_t imm;
} step;

typedef enum round_end {
    ROUND_OTHER, /* it is no loop of arithmetic: nothing is done */
    ROUND_AGAIN, /* at `target` again */
    ROUND_FALLS  /* before the branch, which will not be taken */
} round_end;

/* From `target` to the branch, n rounds at most. *done: how often the branch was taken. */
WG_THREADED static round_end rounds(wg_tile *t, unsigned core, uint32_t target, uint32_t branch, uint64_t n,
                                    uint64_t *done)
{
    static const void *const labels[WG_OP_COUNT] = {
#define ALU(name, expression) [WG_OP_##name] = &&L_##name,
#define MULTIPLY(name, expression) [WG_OP_##name] = &&L_##name,
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
        [WG_OP_NOP] = &&L_NOP, [WG_OP_BEQ] = &&L_BEQ,   [WG_OP_BNE] = &&L_BNE,   [WG_OP_BLT] = &&L_BLT,
        [WG_OP_BGE] = &&L_BGE, [WG_OP_BLTU] = &&L_BLTU, [WG_OP_BGEU] = &&L_BGEU,
    };
    uint32_t *r = t->core[core].run.r;
    const uint64_t most = n;
    step body[MOST], *x = body;
    *done = 0;
    if (branch - target >= 4 * MOST)
        return ROUND_OTHER;
    for (uint32_t pc = target; pc <= branch; pc += 4, x++) {
        const wg_icache_line *line = wg_fetch_peek(t, core, pc);
        if (!line || line->checked != t->core[core].epoch)
            return ROUND_OTHER;
        const wg_op *op = &line->op[pc >> 2 & 3];
        if (pc != branch && !wg_is_arithmetic(op->code))
            return ROUND_OTHER;
        *x = (step){.label = labels[op->code], .to = &r[op->rd], .a = &r[op->rs1], .b = &r[op->rs2], .imm = op->imm};
    }
#define A *x->a
#define B *x->b
#define I x->imm
#define NEXT \
    do { \
        x++; \
        goto * x->label; \
    } while (0)
    x = body;
    goto * x->label;
#define ALU(name, expression) \
    L_##name : *x->to = (expression); \
    NEXT;
#define MULTIPLY(name, expression) ALU(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
L_NOP:
    NEXT;
#define BRANCH(name, condition) \
    L_##name : if (!(condition)) \
    { \
        *done = most - n; \
        return ROUND_FALLS; \
    } \
    if (!--n) { \
        *done = most; \
        return ROUND_AGAIN; \
    } \
    x = body; \
    goto * x->label;
#include "riscv/branch.inc"
#undef BRANCH
#undef NEXT
#undef A
#undef B
#undef I
}

/* The destinations of the instructions before the branch, the youngest lowest, when it has been all loop. */
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
        k->predictor[(branch >> 2 ^ 0xFFu << 2) % WG_PREDICTOR] == 4 /* nothing more to learn */) {
        uint64_t done = 0;
        round_end end = ROUND_OTHER;
        if (run->number == last->number + length) { /* just the instructions of the loop since then */
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
