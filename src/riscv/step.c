/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a single instruction does in EX1, and how long it stays there.
 *
 * Facts: BabyRISCV/README.md of each architecture (EX1, EX2), InstructionSet.md.
 */
#include "riscv/pipeline.h"

/* Quotient or remainder; *cycles: how long EX1 is busy. */
uint32_t wg_divide(uint8_t code, uint32_t a, uint32_t b, unsigned *cycles)
{
    bool is_signed = code == WG_OP_DIV || code == WG_OP_REM, quotient = code == WG_OP_DIV || code == WG_OP_DIVU;
    *cycles = 2;
    if (b == 0)
        return quotient ? UINT32_MAX : a;
    if (is_signed && a == 0x80000000 && b == UINT32_MAX)
        return quotient ? a : 0;
    if (b != 1) {
        /*
         * "Between six and 33 cycles, by the magnitude of the dividend"; measured: 33 for 29 bits, 14 for 12. That is one bit
         * per cycle, with leading zeros skipped four at a time, for one extra cycle.
         */
        uint32_t magnitude = is_signed && (int32_t)a < 0 ? -a : a;
        unsigned digits = magnitude ? (35u - (unsigned)__builtin_clz(magnitude)) / 4 : 1;
        *cycles = digits == 8 ? 33 : 4 * digits + 2;
    }
    if (is_signed)
        return (uint32_t)(quotient ? (int32_t)a / (int32_t)b : (int32_t)a % (int32_t)b);
    return quotient ? a / b : a % b;
}

void wg_step_halt(wg_tile *t, unsigned core, wg_halt how)
{
    t->core[core].run.halt = (uint8_t)how;
    WG_EMIT(t, WG_EV_CORE_STATE, core, .a = 2, .pc = t->core[core].run.pc);
}

/* Finds the path of a memory access. False if the address is misaligned and the clock is not there yet. */
static bool locate(wg_tile *t, unsigned core, uint64_t e, wg_ex1 *x)
{
    if (x->address & (x->bytes - 1u) & 15u) {
        if (e > t->sched.now || t->core[core].l1_ahead)
            return false;
        t->core[core].acted = true;
        wg_findf(t, WG_F_CORE_MISALIGNED,
                 (wg_finding){.agent = (uint8_t)core, .pc = x->pc, .has_pc = true, .subject = x->address},
                 "0x%08x for %u bytes", x->address, x->bytes);
        x->address &= ~(x->bytes - 1u);
    }
    if (x->address < t->spec->l1_bytes) {
        x->path = WG_PATH_L1;
    } else if (x->address - WG_RAM_BASE < t->spec->core[core].ram_bytes) {
        x->path = WG_PATH_OWN_RAM;
    } else {
        wg_route route = wg_tile_route(t, core, x->address, x->kind == WG_EX1_STORE);
        x->path = route.path;
        x->index = route.index;
    }
    if (x->kind == WG_EX1_ATOMIC && x->path != WG_PATH_L1)
        x->path = WG_PATH_UNMAPPED; /* atomics only reach L1 */
    return true;
}

/* A load, store, atomic, fence or push. True if it has entered EX1. */
static bool step_memory(wg_tile *t, unsigned core, const wg_op *op, uint64_t e)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    wg_ex1 x = {.entered = e, .number = run->number, .pc = run->pc, .rd = op->rd, .size = op->spare};
    unsigned words = 1;
    uint64_t m = 0;
    switch (op->code) {
    case WG_OP_LOAD:
        x.kind = WG_EX1_LOAD;
        x.address = run->r[op->rs1] + op->imm;
        x.bytes = op->spare == 9 ? 2 : (uint8_t)(1u << (op->spare & 3));
        break;
    case WG_OP_STORE:
        x.kind = WG_EX1_STORE;
        x.address = run->r[op->rs1] + op->imm;
        x.bytes = wg_store_bytes[op->spare % 3];
        x.data[0] = run->r[op->rs2];
        break;
    case WG_OP_ATOMIC:
        x.kind = WG_EX1_ATOMIC;
        x.address = run->r[op->rs1];
        x.bytes = 4;
        x.data[0] = run->r[op->rs2];
        x.op = op->spare;
        x.size = 2;
        break;
    case WG_OP_PUSH:
        x.kind = WG_EX1_STORE;
        x.address = WG_INSTRN_BUF_BASE;
        words = wg_step_fuse(t, k, core, op);
        for (unsigned i = 0; i < words; i++)
            x.data[i] = op[i].imm;
        x.bytes = (uint8_t)(4 * words);
        break;
    default: x.kind = WG_EX1_FENCE; break;
    }
    if (x.kind != WG_EX1_FENCE && !locate(t, core, e, &x))
        return false;
    uint32_t value;
    uint64_t done = WG_NEVER;
    wg_lsu_result result = WG_LSU_SHARED;
    bool mapped = x.path != WG_PATH_HANG && x.path != WG_PATH_UNMAPPED;
    if (x.kind == WG_EX1_LOAD)
        result = wg_lsu_load(t, core, x.address, x.size, x.pc, e, &value, &m, &done);
    else if (x.kind == WG_EX1_STORE && mapped)
        result = wg_lsu_store(t, core, &x, &m);
    if (x.kind == WG_EX1_STORE || x.kind == WG_EX1_ATOMIC)
        run->stored = e;
    run->pc += 4 * words;
    run->pushes += words - 1;
    run->at = e + 1;
    if (x.kind == WG_EX1_FENCE) {
        run->ordered = !(k->csr.cfg0 & WG_CFG0_DIS_CSR_SYNC);
        wg_lsu_drain_private(t, core, e + 1);
        wg_lsu_settle(k, e + 1);
        if (!run->sq_count && !run->loads) {
            WG_EMIT(t, WG_EV_CORE_FENCE, core, .pc = x.pc);
            wg_lsu_flush_l0(k);
            wg_entered(run, e, WG_NO_DEST, e + 2);
            return true;
        }
    }
    if (result == WG_LSU_DONE) {
        wg_entered(run, e, op->rd, x.kind == WG_EX1_LOAD ? done : m + 1);
        if (x.kind == WG_EX1_LOAD)
            run->r[op->rd] = value;
        run->at = m;
        return true;
    }
    wg_entered(run, e, op->rd, WG_NEVER);
    run->ex1 = x;
    return true;
}

/* Branches and jumps. */
void wg_step_branch(wg_tile *t, unsigned core, const wg_op *op, uint64_t e)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const bool jumps = op->code == WG_OP_JAL || op->code == WG_OP_JALR;
    const unsigned entries = wg_predictor(t, core);
    const uint32_t pc = run->pc, target = jumps ? wg_jump_target(op, run->r) : op->imm;
    const bool taken = jumps || wg_branch_taken(op->code, run->r[op->rs1], run->r[op->rs2]);
    const bool predicted =
        jumps ? wg_predict_jump(k, entries, op, pc, target) : wg_predict_branch(k, entries, pc, taken);
    wg_entered(run, e, jumps ? op->rd : WG_NO_DEST, e + 1);
    if (jumps)
        run->r[op->rd] = pc + 4;
    const bool parks = taken && target == pc && op->rd == WG_REG_SINK; /* a jump to itself parks the core */
    run->at = e + 1;
    if (!predicted && !parks)
        run->refilled = run->at += t->timing->mispredict_bubble;
    run->pc = taken ? target : pc + 4;
    if (parks)
        wg_step_halt(t, core, WG_PARKED_LOOP);
}

static void illegal(wg_tile *t, unsigned core, const wg_op *op)
{
    wg_find(
        t, WG_F_CORE_ILLEGAL,
        &(wg_finding){
            .agent = (uint8_t)core, .pc = t->core[core].run.pc, .has_pc = true, .word = op->word, .has_word = true});
}

/* Anything that is reported, or that sees or changes the outside, must happen in its own cycle. Is this that cycle? */
static bool meets_clock(const wg_tile *t, wg_core *k, uint64_t e)
{
    if (e > t->sched.now || k->l1_ahead)
        return false;
    k->acted = true;
    return true;
}

static void step_break(wg_tile *t, unsigned core, const wg_op *op, uint64_t e)
{
    wg_core_run *run = &t->core[core].run;
    wg_find(t, WG_F_CORE_EBREAK,
            &(wg_finding){.agent = (uint8_t)core, .pc = run->pc, .has_pc = true, .word = op->word, .has_word = true});
    wg_entered(run, e, WG_NO_DEST, e + 1);
    wg_step_halt(t, core, WG_PARKED_BREAK);
    run->pc += 4;
    run->at = e + 1;
}

static void step_mret(wg_tile *t, unsigned core, uint64_t e)
{
    wg_core *k = &t->core[core];
    wg_entered(&k->run, e, WG_NO_DEST, e + 1);
    k->run.pc = k->interrupt_pc;
    k->in_interrupt = false;
    wg_poll_disturb(t);
    wg_pic_returned(t);
    k->run.at = k->run.refilled = e + 1 + t->timing->mispredict_bubble;
}

/* A vector instruction; *x: the value for its integer register. Returns how long it occupies EX1. */
static unsigned step_vector(wg_tile *t, unsigned core, const wg_op *op, uint32_t *x)
{
    wg_core *k = &t->core[core];
    wg_rvv_step v = {.cycles = 1};
    if (!wg_rvv_execute(t, core, op, &v))
        illegal(t, core, op);
    if (!wg_rvv_is_memory(op) && (op->word >> 12 & 7) == 7) /* vset* orders like other CSR writes */
        k->run.ordered = !(k->csr.cfg0 & WG_CFG0_DIS_CSR_SYNC);
    *x = op->rd != WG_REG_SINK && !v.write_x ? k->run.r[op->rd] : v.x;
    return v.cycles ? v.cycles : 1;
}

bool wg_step(wg_tile *t, unsigned core, const wg_op *op, uint64_t e)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    unsigned occupies = 1, result = 1;
    uint32_t value = 0;
    switch (op->code) {
#define A run->r[op->rs1]
#define B run->r[op->rs2]
#define I op->imm
#define ALU(name, expression) \
    case WG_OP_##name: \
        value = (expression); \
        break;
#define MULTIPLY(name, expression) \
    case WG_OP_##name: \
        value = (expression); \
        occupies = t->timing->mul_occupies; \
        result = t->timing->mul_result; \
        break;
#define BRANCH(name, condition) case WG_OP_##name:
#include "riscv/alu.inc"
#include "riscv/branch.inc"
#undef ALU
#undef MULTIPLY
#undef BRANCH
#undef A
#undef B
#undef I
    case WG_OP_JAL:
        if (op->imm == run->pc && !meets_clock(t, k, e)) /* it parks the core */
            return false;
        wg_step_branch(t, core, op, e);
        return true;
    case WG_OP_JALR: wg_step_branch(t, core, op, e); return true;
    case WG_OP_NOP: break;
    case WG_OP_DIV:
    case WG_OP_DIVU:
    case WG_OP_REM:
    case WG_OP_REMU: value = wg_divide(op->code, run->r[op->rs1], run->r[op->rs2], &occupies), result = occupies; break;
    case WG_OP_FP: value = wg_fp_execute(k, op), result = 2; break;
    case WG_OP_LOAD:
    case WG_OP_STORE:
    case WG_OP_ATOMIC:
    case WG_OP_PUSH:
    case WG_OP_FENCE: return step_memory(t, core, op, e);
    case WG_OP_CSR:
        if (!meets_clock(t, k, e))
            return false;
        value = wg_csr_execute(t, core, op);
        run->ordered = !(k->csr.cfg0 & WG_CFG0_DIS_CSR_SYNC);
        break;
    case WG_OP_BREAK:
    case WG_OP_MRET:
        if (!meets_clock(t, k, e))
            return false;
        if (op->code == WG_OP_BREAK)
            step_break(t, core, op, e);
        else
            step_mret(t, core, e);
        return true;
    case WG_OP_VECTOR:
        if ((wg_rvv_is_memory(op) && !wg_lsu_empty(t, core)) || !meets_clock(t, k, e))
            return false;
        occupies = step_vector(t, core, op, &value);
        result = occupies + 1;
        break;
    default: /* illegal: treated as a nop */
        if (!meets_clock(t, k, e))
            return false;
        illegal(t, core, op);
    }
    wg_entered(run, e, op->rd, e + result);
    run->r[op->rd] = value;
    run->at = e + occupies;
    run->pc += 4;
    return true;
}
