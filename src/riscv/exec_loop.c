/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of arithmetic alone: every round takes the same time, so only its results are worked out.
 *
 *     target ── arithmetic ── arithmetic ── … ── backward branch, foreseen
 *        └───────────────────────────────────────────┘
 *
 * While nothing is in flight, what a line costs follows from its instructions (exec_lines.c); there is nothing here that
 * could cost more in one round than in another.
 */
#include "riscv/pipeline.h"

enum { MOST = 24 /* instructions */ };

/* An instruction with everything looked up. */
typedef struct step {
    const void *label;
    uint32_t *to;
    const uint32_t *a, *b;
    uint32_t imm;
} step;

WG_THREADED wg_round_end wg_exec_loop(wg_tile *t, unsigned core, uint32_t target, uint32_t branch, uint64_t n,
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
        return WG_ROUND_OTHER;
    for (uint32_t pc = target; pc <= branch; pc += 4, x++) {
        const wg_icache_line *line = wg_fetch_peek(t, core, pc);
        if (!line || line->checked != t->core[core].epoch)
            return WG_ROUND_OTHER;
        const wg_op *op = &line->op[pc >> 2 & 3];
        if (pc != branch && !wg_is_arithmetic(op->code))
            return WG_ROUND_OTHER;
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
        return WG_ROUND_FALLS; \
    } \
    if (!--n) { \
        *done = most; \
        return WG_ROUND_AGAIN; \
    } \
    x = body; \
    goto * x->label;
    BRANCH(BEQ, A == B)
    BRANCH(BNE, A != B)
    BRANCH(BLT, (int32_t)A < (int32_t)B)
    BRANCH(BGE, (int32_t)A >= (int32_t)B)
    BRANCH(BLTU, A < B)
    BRANCH(BGEU, A >= B)
#undef BRANCH
#undef NEXT
#undef A
#undef B
#undef I
}
