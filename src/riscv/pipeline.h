/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the pipeline: when an instruction may enter EX1 (issue.c), what it does there (step.c), one
 * instruction after another (exec.c), and whole lines (fast/lines.c).
 */
#ifndef WG_RISCV_PIPELINE_H
#define WG_RISCV_PIPELINE_H

#include "riscv/internal.h"

enum { WG_MARGIN = 8 /* a line's last instruction enters EX1 sooner than this */, WG_NO_DEST = WG_REG_SINK };
#define WG_EIGHT(x) ((x)*UINT64_C(0x0101010101010101))
#define WG_PC_OF(o) ((line->tag & ~15u) + (uint32_t)((o)-line->op) * 4)

static const uint8_t wg_store_bytes[3] = {1, 2, 4};

static inline uint32_t wg_orc_b(uint32_t a)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < 32; i += 8)
        if (a >> i & 0xFF)
            out |= 0xFFu << i;
    return out;
}

static inline uint32_t wg_grev(uint32_t a, uint32_t control)
{
    static const uint32_t mask[5] = {0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF};
    for (unsigned i = 0; i < 5; i++)
        if (control >> i & 1)
            a = (a & mask[i]) << (1u << i) | (a >> (1u << i) & mask[i]);
    return a;
}

static inline bool wg_one_at_a_time(const wg_core *k)
{
    return k->slow || (k->csr.cfg0 & (WG_CFG0_SYNC_ALL_OPS | WG_CFG0_DIS_REG_FORWARDING));
}

/* Marks the bytes of `dests` that name `reg`: exact for the newest, a hint for older ones. */
static inline uint64_t wg_writers(uint64_t dests,
                                  unsigned reg) /* none for x0: WG_REG_SINK stands for it as a destination */
{
    uint64_t x = dests ^ WG_EIGHT((uint64_t)reg);
    return (x - WG_EIGHT((uint64_t)1)) & ~x & WG_EIGHT((uint64_t)0x80);
}

/*
 * The common cases of operand(): no queued instruction writes the register, or exactly one does and its value is ready.
 * False if the full rules are needed, or if the time is not known yet: then *awaits is the number of the writing instruction.
 */
static inline bool wg_operand_quick(const wg_core_run *run, uint64_t dests, uint64_t number, unsigned reg,
                                    unsigned forward_writers, uint64_t *e, uint64_t *awaits)
{
    uint64_t match = wg_writers(dests, reg);
    if (!match)
        return true;
    unsigned newest = (unsigned)__builtin_ctzll(match) / 8;
    unsigned slot = (unsigned)((number - 1 - newest) % WG_RETIRE_RING);
    if (run->retired[slot] <= *e)
        return true;
    if (run->filled[slot] == WG_NEVER)
        return *awaits = number - 1 - newest, false;
    if (newest && !forward_writers)
        return false;
    uint64_t then = wg_max64(*e, run->filled[slot]);
    uint64_t older = match & (match - 1);
    if (newest && older) { /* an older result for the same register must have retired */
        unsigned second = (unsigned)__builtin_ctzll(older) / 8;
        if (run->retired[(number - 1 - second) % WG_RETIRE_RING] > then)
            return false;
    }
    *e = then;
    return true;
}

/* `dest` has a new result: a load in flight must not overwrite it. */
static inline void wg_overwritten(wg_core_run *run, unsigned dest)
{
    for (unsigned i = 0; i < WG_LOADS; i++)
        if (run->load[i].used && run->load[i].rd == dest && run->load[i].done == WG_NEVER)
            run->load[i].rd = WG_REG_SINK;
}

/* The state that every instruction changes. Executors keep it in host registers, and write it back before anybody looks. */
typedef struct wg_cursor {
    uint64_t at, number, dests, last; /* as in wg_core_run */
    uint32_t pc;
} wg_cursor;

static inline wg_cursor wg_cursor_of(const wg_core_run *run)
{
    return (wg_cursor){.at = run->at, .number = run->number, .dests = run->dests, .last = run->last, .pc = run->pc};
}

static inline void wg_cursor_put(wg_core_run *run, const wg_cursor *q)
{
    run->at = q->at;
    run->number = q->number;
    run->dests = q->dests;
    run->last = q->last;
    run->pc = q->pc;
}

/* The instruction has entered EX1 in `e`; its result can be forwarded from `filled` (WG_NEVER: unknown). */
static inline void wg_enter(wg_core_run *run, wg_cursor *q, uint64_t e, unsigned dest, uint64_t filled)
{
    const unsigned slot = (unsigned)(q->number % WG_RETIRE_RING);
    const uint64_t before = run->retired[(q->number - 1) % WG_RETIRE_RING];
    run->filled[slot] = filled;
    run->retired[slot] = before == WG_NEVER || filled == WG_NEVER ? WG_NEVER : wg_max64(before + 1, filled);
    q->dests = q->dests << 8 | dest;
    q->number++;
    q->last = e;
    if (dest != WG_NO_DEST && run->loads && filled != WG_NEVER)
        wg_overwritten(run, dest);
}

/* The same, without a cursor. */
static inline void wg_entered(wg_core_run *run, uint64_t e, uint8_t dest, uint64_t filled)
{
    wg_cursor q = wg_cursor_of(run);
    wg_enter(run, &q, e, dest, filled);
    wg_cursor_put(run, &q);
}

/* issue.c: the cycle in which `op` enters EX1; false if that is not known yet. With why->retry_at set, it is known once the
 * clock reaches that cycle. */
bool wg_issue(const wg_tile *t, const wg_core *k, const wg_core_run *run, const wg_op *op, uint64_t *out,
              wg_stall *why);
/* Starts the retire queue, entry by entry; ends it once no load is in flight and no store leaves before `stop`. */
void wg_begin_queue_anew(wg_core_run *run);
static inline void wg_begin_queue(wg_core_run *run)
{
    if (!run->queued)
        wg_begin_queue_anew(run);
}
bool wg_end_queue(wg_tile *t, unsigned core, uint64_t stop);

/* How many `.ttinsn` are pushed at once: this one and its successors in the line. */
static inline unsigned wg_step_fuse(const wg_tile *t, const wg_core *k, unsigned core, const wg_op *op)
{
    unsigned most =
        t->spec->core[core].thread != WG_NONE && !(k->csr.cfg0 & WG_CFG0_DIS_TRISC_CACHE) ? t->timing->push_fuse : 1;
    return op->spare < most ? op->spare : most;
}

/* step.c: executes `op` in EX1 from cycle e on. False if it has to wait for the clock. */
bool wg_step(wg_tile *t, unsigned core, const wg_op *op, uint64_t e);
void wg_step_branch(wg_tile *t, unsigned core, const wg_op *op, uint64_t e);
void wg_step_halt(wg_tile *t, unsigned core, wg_halt how);
uint32_t wg_divide(uint8_t code, uint32_t a, uint32_t b, unsigned *cycles);
/* Entries of the predictor's table; 0: it is off. */
static inline unsigned wg_predictor(const wg_tile *t, unsigned core)
{
    const bool off = (t->core[core].csr.cfg0 & WG_CFG0_DIS_BP) || wg_tile_predictor_off(t, core);
    return off ? 0 : t->arch->predictor_branches;
}

/* JAL and JALR. */
static inline uint32_t wg_jump_target(const wg_op *op, const uint32_t *r)
{
    return op->code == WG_OP_JALR ? (r[op->rs1] + op->imm) & ~3u : op->imm;
}
static inline bool wg_predict_jump(wg_core *k, unsigned entries, const wg_op *op, uint32_t pc, uint32_t target)
{
    bool predicted = op->code == WG_OP_JALR ? wg_predict_jalr(k, entries, pc, op->rd, op->rs1, target)
                                            : wg_predict_branch(k, entries, pc, true);
    if (op->rd == 1 || op->rd == 5)
        wg_predict_call(k, pc + 4);
    return predicted;
}

/* Is a conditional branch with operands A and B taken? */
static inline bool wg_branch_taken(uint8_t code, uint32_t A, uint32_t B)
{
    switch (code) {
#define BRANCH(name, condition) \
    case WG_OP_##name: \
        return condition;
#include "riscv/branch.inc"
#undef BRANCH
    default: return false;
    }
}
/* The result of a one-cycle integer instruction; false for any other instruction. */
static inline __attribute__((always_inline)) bool wg_alu(const wg_op *op, const uint32_t *r, uint32_t *value)
{
#define A r[op->rs1]
#define B r[op->rs2]
#define I op->imm
    switch (op->code) {
#define ALU(name, expression) \
    case WG_OP_##name: \
        *value = (expression); \
        return true;
#define MULTIPLY(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
    default: return false;
    }
}
/* The same for a multiplication. */
static inline bool wg_multiply(const wg_op *op, const uint32_t *r, uint32_t *value)
{
    switch (op->code) {
#define ALU(name, expression)
#define MULTIPLY(name, expression) \
    case WG_OP_##name: \
        *value = (expression); \
        return true;
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
    default: return false;
    }
#undef A
#undef B
#undef I
}
/* One result from two registers and an immediate, with no other effect. */
static inline bool wg_is_arithmetic(const wg_op *op)
{
    static const uint32_t none[WG_REG_SINK + 1];
    uint32_t value;
    return op->code == WG_OP_NOP || wg_alu(op, none, &value) || wg_multiply(op, none, &value);
}
static inline bool wg_is_branch(uint8_t code) { return code >= WG_OP_BEQ && code <= WG_OP_BGEU; }

#endif
