/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline: which instruction enters EX1 in which cycle, and what it does there.
 *
 * Two executors over one set of semantics (alu.inc):
 *   - step() takes one instruction through every rule: operands, forwarding, retire queue, ordering;
 *   - run_fast() takes whole cache lines while nothing is in flight. Then a result is at most one cycle
 *     late, only the very next instruction can notice, and predecoding has charged most of it already
 *     (wg_op.at): an instruction enters EX1 at base + at, and `base` moves only when something unforeseen
 *     costs time.
 *
 * Facts: BabyRISCV/README.md of each architecture (EX1, EX2, Retire Unit), MemoryOrdering.md (forwarding).
 */
#include "riscv/internal.h"

#include <string.h>

enum { MARGIN = 8, NO_DEST = WG_REG_SINK };   /* MARGIN: a line's last instruction enters EX1 sooner than this */
#define EIGHT(x) ((x) * UINT64_C(0x0101010101010101))

static uint32_t orc_b(uint32_t a)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < 32; i += 8)
        if (a >> i & 0xFF)
            out |= 0xFFu << i;
    return out;
}

static uint32_t grev(uint32_t a, uint32_t control)
{
    static const uint32_t mask[5] = {0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF};
    for (unsigned i = 0; i < 5; i++)
        if (control >> i & 1)
            a = (a & mask[i]) << (1u << i) | (a >> (1u << i) & mask[i]);
    return a;
}

/* Quotient or remainder; *cycles is how long EX1 is taken. */
static uint32_t divide(uint8_t code, uint32_t a, uint32_t b, unsigned *cycles)
{
    bool is_signed = code == WG_OP_DIV || code == WG_OP_REM, quotient = code == WG_OP_DIV || code == WG_OP_DIVU;
    *cycles = 2;
    if (b == 0)
        return quotient ? UINT32_MAX : a;
    if (is_signed && a == 0x80000000 && b == UINT32_MAX)
        return quotient ? a : 0;
    if (b != 1) {
        /*
         * "Between six and 33 cycles, by the magnitude of the dividend", and measured 33 for 29 bits, 14 for
         * 12: a bit per cycle, where leading zeros are skipped four at a time, which takes one cycle more.
         */
        uint32_t magnitude = is_signed && (int32_t)a < 0 ? -a : a;
        unsigned digits = magnitude ? (35u - (unsigned)__builtin_clz(magnitude)) / 4 : 1;
        *cycles = digits == 8 ? 33 : 4 * digits + 2;
    }
    if (is_signed)
        return (uint32_t)(quotient ? (int32_t)a / (int32_t)b : (int32_t)a % (int32_t)b);
    return quotient ? a / b : a % b;
}

static bool predictor_on(const wg_tile *t, unsigned core)
{
    /* Config[0].DISABLE_RISC_BP: word 2 on both architectures, one bit for B, three for T0…T2, one for NC */
    static const uint8_t bit[WG_CORES] = {22, 26, 23, 24, 25};
    return !(t->core[core].csr.cfg0 & WG_CFG0_DIS_BP) && !(t->regs.config.bank[0][2] >> bit[core] & 1);
}

#define PC_OF(o) ((line->tag & ~15u) + (uint32_t)((o) - line->op) * 4)

static bool one_at_a_time(const wg_core *k)
{
    return k->slow || (k->csr.cfg0 & (WG_CFG0_SYNC_ALL_OPS | WG_CFG0_DIS_REG_FORWARDING));
}

/* ---- one instruction at a time ------------------------------------------------------------------- */

/*
 * The retire queue, as it follows from what whole lines leave behind: the newest instruction retires `lag`
 * cycles after it entered EX1, those before it one cycle earlier each.
 */
static void begin_queue(wg_core_run *run)
{
    if (run->queued)
        return;
    memset(run->retired, 0, sizeof run->retired);
    memset(run->filled, 0, sizeof run->filled);
    if (!run->lag)
        run->dests = EIGHT((uint64_t)NO_DEST);
    for (unsigned i = 0; i < run->lag && i < WG_RETIRE_RING; i++)
        run->retired[(run->number - 1 - i) % WG_RETIRE_RING] = run->last + run->lag - i;
    if (run->late) {
        unsigned newest = (unsigned)((run->number - 1) % WG_RETIRE_RING);
        run->dests = (run->dests & ~UINT64_C(0xFF)) | run->late;
        run->filled[newest] = run->late_at;
        run->retired[newest] = wg_max64(run->retired[newest], run->late_at);
    }
    run->late = 0;
    run->queued = true;
}

/* Back to whole lines once no load is in flight. */
static bool end_queue(wg_core *k)
{
    wg_core_run *run = &k->run;
    unsigned newest = (unsigned)((run->number - 1) % WG_RETIRE_RING);
    if (run->retired[newest] == WG_NEVER || run->ex1.kind || run->ordered || one_at_a_time(k))
        return false;
    if (run->loads)
        wg_lsu_settle(k, run->at);
    if (run->loads)
        return false;
    uint8_t dest = (uint8_t)run->dests;
    run->queued = false;
    run->late = run->filled[newest] > run->at && dest != NO_DEST ? dest : 0;
    run->late_at = run->filled[newest];
    /* Still in the queue when the next one enters EX1 at the earliest: more than the newest alone? */
    run->lag = run->retired[newest] > run->at + 1 ? (uint8_t)(run->retired[newest] - run->last) : 0;
    return true;
}

/* Marks the bytes of `dests` that name `reg`: exact for the newest, a hint for older ones. */
static inline uint64_t writers(uint64_t dests, unsigned reg)   /* none for x0: its place is taken by WG_REG_SINK */
{
    uint64_t x = dests ^ EIGHT((uint64_t)reg);
    return (x - EIGHT((uint64_t)1)) & ~x & EIGHT((uint64_t)0x80);
}

/*
 * One operand: raises *e to the cycle it is available; false if that is not known yet. If why->retry_at is set, it is
 * known when the clock stands there.
 */
static bool operand(const wg_tile *t, const wg_core *k, const wg_core_run *run, unsigned reg, uint64_t *e, wg_stall *why)
{
    uint64_t zero = writers(run->dests, reg);
    if (!zero)
        return true;
    unsigned newest = (unsigned)__builtin_ctzll(zero) / 8;
    uint64_t number = run->number - 1 - newest;
    uint64_t filled = run->filled[number % WG_RETIRE_RING], retired = run->retired[number % WG_RETIRE_RING];
    if (retired <= *e)
        return true;
    if (filled == WG_NEVER) {
        *why = (wg_stall){.reason = WG_STALL_LOAD_RESPONSE, .resource = (uint16_t)reg, .holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
        return false;
    }
    *e = wg_max64(*e, filled);
    uint64_t wait_for = 0;
    if (k->slow || (k->csr.cfg0 & WG_CFG0_DIS_REG_FORWARDING))
        wait_for = retired;
    else if (newest > 0 && t->arch->forward_writers == 0)
        wait_for = retired;
    else if (newest > 0) {
        /* Several results for one register in the queue: forwarded from none of them. (The zero-byte trick is
         * exact for the lowest match only; older ones are looked at one by one.) */
        for (unsigned i = newest + 1; i < WG_RETIRE_QUEUE; i++) {
            uint64_t older = run->number - 1 - i;
            if ((run->dests >> 8 * i & 0xFF) != reg || run->retired[older % WG_RETIRE_RING] <= *e)
                continue;
            if (run->filled[older % WG_RETIRE_RING] <= *e)
                wait_for = run->retired[older % WG_RETIRE_RING];
            else if (run->filled[older % WG_RETIRE_RING] == WG_NEVER)
                why->retry_at = *e;   /* it may yet be there by then */
            break;
        }
    }
    if (wait_for == WG_NEVER) {
        *why = (wg_stall){.reason = WG_STALL_OPERAND, .resource = (uint16_t)reg, .holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
        return false;
    }
    *e = wg_max64(*e, wait_for);
    return true;
}

/*
 * The common cases of operand(): nothing in the queue writes the register, or only one does and its value is there.
 * False if the rules have to be gone through, or nobody knows yet.
 */
static inline bool operand_quick(const wg_core_run *run, uint64_t dests, uint64_t number, unsigned reg,
                                 unsigned forward_writers, uint64_t *e, bool *unknown)
{
    uint64_t match = writers(dests, reg);
    if (!match)
        return true;
    unsigned newest = (unsigned)__builtin_ctzll(match) / 8;
    unsigned slot = (unsigned)((number - 1 - newest) % WG_RETIRE_RING);
    if (run->retired[slot] <= *e)
        return true;
    if (run->filled[slot] == WG_NEVER)
        return *unknown = true, false;
    if (newest && !forward_writers)
        return false;
    uint64_t then = wg_max64(*e, run->filled[slot]);
    uint64_t older = match & (match - 1);
    if (newest && older) {   /* an older result for it: it must have retired */
        unsigned second = (unsigned)__builtin_ctzll(older) / 8;
        if (run->retired[(number - 1 - second) % WG_RETIRE_RING] > then)
            return false;
    }
    *e = then;
    return true;
}

/* The cycle in which `op` enters EX1; false if that is not known yet. */
static bool issue(const wg_tile *t, const wg_core *k, const wg_core_run *run, const wg_op *op, uint64_t *out, wg_stall *why)
{
    uint64_t e = run->at;
    uint64_t oldest = run->retired[(run->number - WG_RETIRE_QUEUE) % WG_RETIRE_RING];   /* eight instructions ago */
    uint64_t newest = run->retired[(run->number - 1) % WG_RETIRE_RING];
    *why = (wg_stall){.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    if (oldest == WG_NEVER) {
        why->reason = WG_STALL_RETIRE_QUEUE_FULL;
        return false;
    }
    bool ordered = run->ordered || k->slow || (k->csr.cfg0 & WG_CFG0_SYNC_ALL_OPS);
    if (ordered && newest == WG_NEVER) {
        why->reason = WG_STALL_CSR_SYNC;
        return false;
    }
    e = wg_max64(e, oldest);
    if (ordered)   /* at best it retires in the cycle after it was filled */
        e = wg_max64(e, wg_max64(newest, run->last + 2));
    for (uint64_t before = WG_NEVER; before != e;) {
        before = e;
        why->retry_at = WG_NEVER;
        if (!operand(t, k, run, op->rs1, &e, why) || !operand(t, k, run, op->rs2, &e, why) ||
            !operand(t, k, run, op->rs3, &e, why))
            return false;
    }
    *out = e;
    return true;
}

/*
 * Two executors may leave equal states in different words: here the retire queue is given entry by entry, `at` is when the
 * next instruction enters EX1, if that is known, and what has left the queue by then is forgotten.
 */
void wg_core_normalize(const wg_tile *t, unsigned core, wg_core_run *run)
{
    const wg_core *k = &t->core[core];
    wg_stall why;
    begin_queue(run);
    run->lag = 0;
    run->late_at = 0;
    const wg_icache_line *line = run->halt || run->ex1.kind ? NULL : wg_fetch_peek(t, core, run->pc);
    if (line)
        issue(t, k, run, &line->op[run->pc >> 2 & 3], &run->at, &why);
    uint64_t retired[WG_RETIRE_RING] = {0}, filled[WG_RETIRE_RING] = {0}, dests = 0;
    for (unsigned i = 0; i < WG_RETIRE_QUEUE; i++) {   /* from the newest instruction on */
        unsigned slot = (unsigned)((run->number - 1 - i) % WG_RETIRE_RING);
        if (run->retired[slot] <= run->at)
            break;
        retired[i] = run->retired[slot];
        filled[i] = run->filled[slot] > run->at ? run->filled[slot] : 0;
        dests |= (run->dests >> 8 * i & 0xFF) << 8 * i;
    }
    memcpy(run->retired, retired, sizeof retired);
    memcpy(run->filled, filled, sizeof filled);
    run->dests = dests;
    run->number = 0;
}

/* A result for `dest` is there: a load that has not come back must not overwrite it. */
static void overwritten(wg_core_run *run, unsigned dest)
{
    for (unsigned i = 0; i < WG_LOADS; i++)
        if (run->load[i].used && run->load[i].rd == dest && run->load[i].done == WG_NEVER)
            run->load[i].rd = WG_REG_SINK;
}

/* The instruction has entered EX1 in `e`; its result can be forwarded from `filled` (WG_NEVER: unknown). */
static inline void entered(wg_core_run *run, uint64_t e, uint8_t dest, uint64_t filled)
{
    unsigned slot = (unsigned)(run->number % WG_RETIRE_RING);
    uint64_t before = run->retired[(run->number - 1) % WG_RETIRE_RING];
    run->filled[slot] = filled;
    run->retired[slot] = before == WG_NEVER || filled == WG_NEVER ? WG_NEVER : wg_max64(before + 1, filled);
    run->dests = run->dests << 8 | dest;
    run->number++;
    run->last = e;
    if (dest != NO_DEST && run->loads && filled != WG_NEVER)
        overwritten(run, dest);
}

static void halt(wg_tile *t, unsigned core, wg_halt how)
{
    t->core[core].run.halt = (uint8_t)how;
    WG_EMIT(t, WG_EV_CORE_STATE, core, .a = 2, .pc = t->core[core].run.pc);
}

/* A memory instruction: where it goes. False if the address is misaligned and the clock has not come. */
static bool locate(wg_tile *t, unsigned core, uint64_t e, wg_ex1 *x)
{
    if (x->address & (x->bytes - 1u) & 15u) {
        if (e > t->sched.now)
            return false;
        t->core[core].acted = true;
        wg_findf(t, WG_F_CORE_MISALIGNED, (wg_finding){.agent = (uint8_t)core, .pc = x->pc, .has_pc = true, .subject = x->address},
                 "0x%08x for %u bytes", x->address, x->bytes);
        x->address &= ~(x->bytes - 1u);
    }
    if (x->address < t->arch->l1_bytes) {
        x->path = WG_PATH_L1;
    } else if (x->address - WG_RAM_BASE < t->arch->ram_bytes[core]) {
        x->path = WG_PATH_OWN_RAM;
    } else {
        wg_route route = wg_address_route(t->arch, (wg_core_id)core, x->address, x->kind == WG_EX1_STORE);
        x->path = route.path;
        x->index = route.index;
    }
    if (x->kind == WG_EX1_ATOMIC && x->path != WG_PATH_L1)
        x->path = WG_PATH_UNMAPPED;   /* atomics reach L1 alone */
    return true;
}

/* `.ttinsn` and those that follow it in its line: how many are pushed at once. */
static unsigned fuse(const wg_tile *t, unsigned core, const wg_op *op, unsigned left, uint32_t words[4])
{
    unsigned most = core >= WG_CORE_T0 && !(t->core[core].csr.cfg0 & WG_CFG0_DIS_TRISC_CACHE) ? t->timing->push_fuse : 1;
    unsigned n = 0;
    while (n < most && n < left && op[n].code == WG_OP_PUSH) {
        words[n] = op[n].imm;
        n++;
    }
    return n;
}

static const uint8_t store_bytes[3] = {1, 2, 4};

/*
 * A load, store, atomic, fence or push. True if it has entered EX1; then `run` says what follows.
 */
static bool step_memory(wg_tile *t, unsigned core, const wg_op *op, unsigned left, uint64_t e)
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
        x.bytes = store_bytes[op->spare % 3];
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
        words = fuse(t, core, op, left, x.data);
        x.bytes = (uint8_t)(4 * words);
        break;
    default:
        x.kind = WG_EX1_FENCE;
        break;
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
    if (result == WG_LSU_LATER)
        return false;
    if (x.kind == WG_EX1_STORE || x.kind == WG_EX1_ATOMIC)
        run->disturbed = e;
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
            entered(run, e, NO_DEST, e + 2);
            return true;
        }
    }
    if (result == WG_LSU_DONE) {
        entered(run, e, op->rd, x.kind == WG_EX1_LOAD ? done : m + 1);
        if (x.kind == WG_EX1_LOAD)
            run->r[op->rd] = value;
        run->at = m;
        return true;
    }
    entered(run, e, op->rd, WG_NEVER);
    run->ex1 = x;
    return true;
}

/* Branches and jumps. */
static void step_branch(wg_tile *t, unsigned core, const wg_op *op, uint64_t e)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    uint32_t a = run->r[op->rs1], b = run->r[op->rs2], pc = run->pc, target = op->imm;
    bool taken = true, foreseen = true, on = predictor_on(t, core);
    switch (op->code) {
    case WG_OP_BEQ: taken = a == b; break;
    case WG_OP_BNE: taken = a != b; break;
    case WG_OP_BLT: taken = (int32_t)a < (int32_t)b; break;
    case WG_OP_BGE: taken = (int32_t)a >= (int32_t)b; break;
    case WG_OP_BLTU: taken = a < b; break;
    case WG_OP_BGEU: taken = a >= b; break;
    case WG_OP_JALR:
        target = (a + op->imm) & ~3u;
        foreseen = wg_predict_jalr(k, on, pc, op->rd, op->rs1, target);
        break;
    default: foreseen = on; break;
    }
    if (op->code != WG_OP_JAL && op->code != WG_OP_JALR)
        foreseen = wg_predict_branch(k, on, pc, target <= pc, taken);
    else if (op->rd == 1 || op->rd == 5)
        wg_predict_call(k, pc + 4);
    entered(run, e, op->code == WG_OP_JAL || op->code == WG_OP_JALR ? op->rd : NO_DEST, e + 1);
    if (op->code == WG_OP_JAL || op->code == WG_OP_JALR)
        run->r[op->rd] = pc + 4;
    run->at = e + 1 + (foreseen ? 0u : t->timing->mispredict_bubble);
    run->pc = taken ? target : pc + 4;
    if (taken && target == pc && op->rd == WG_REG_SINK)
        halt(t, core, WG_PARKED_LOOP);
}

static void illegal(wg_tile *t, unsigned core, const wg_op *op)
{
    wg_find(t, WG_F_CORE_ILLEGAL, &(wg_finding){.agent = (uint8_t)core, .pc = t->core[core].run.pc, .has_pc = true,
                                               .word = op->word, .has_word = true});
}

/* What must happen in its own cycle, because it looks or reaches outside, or is reported. */
static bool meets_clock(const wg_core_run *run, const wg_op *op)
{
    switch (op->code) {
    case WG_OP_ILLEGAL: case WG_OP_BREAK: case WG_OP_MRET: case WG_OP_CSR: case WG_OP_VECTOR: return true;
    case WG_OP_JAL: return op->imm == run->pc;
    case WG_OP_BEQ: case WG_OP_BNE: case WG_OP_BLT: case WG_OP_BGE: case WG_OP_BLTU: case WG_OP_BGEU:
        return op->imm == run->pc;
    default: return false;
    }
}

#define A run->r[op->rs1]
#define B run->r[op->rs2]
#define I op->imm

/* Executes `op` in EX1 from cycle e on. False if it has to wait for the clock. */
static bool step_op(wg_tile *t, unsigned core, const wg_op *op, unsigned left, uint64_t e)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    unsigned occupies = 1, result = 1;
    uint32_t value = 0;
    if (meets_clock(run, op)) {
        if (e > t->sched.now)
            return false;
        if (op->code == WG_OP_VECTOR && wg_rvv_is_memory(op) && !wg_lsu_empty(t, core))
            return false;
        k->acted = true;
    }
    switch (op->code) {
#define ALU(name, expression) case WG_OP_##name: value = (expression); break;
#define MULTIPLY(name, expression)                                                                 \
    case WG_OP_##name:                                                                             \
        value = (expression);                                                                      \
        occupies = t->timing->mul_occupies;                                                        \
        result = t->timing->mul_result;                                                            \
        break;
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
    case WG_OP_NOP: break;
    case WG_OP_DIV: case WG_OP_DIVU: case WG_OP_REM: case WG_OP_REMU:
        value = divide(op->code, A, B, &occupies);
        result = occupies;
        break;
    case WG_OP_FMOVE: value = A; break;
    case WG_OP_FP:
        value = wg_fp_execute(k, op);
        result = 2;
        break;
    case WG_OP_BEQ: case WG_OP_BNE: case WG_OP_BLT: case WG_OP_BGE: case WG_OP_BLTU: case WG_OP_BGEU:
    case WG_OP_JAL: case WG_OP_JALR:
        step_branch(t, core, op, e);
        return true;
    case WG_OP_LOAD: case WG_OP_STORE: case WG_OP_ATOMIC: case WG_OP_PUSH: case WG_OP_FENCE:
        return step_memory(t, core, op, left, e);
    case WG_OP_CSR:
        value = wg_csr_execute(t, core, op);
        run->ordered = !(k->csr.cfg0 & WG_CFG0_DIS_CSR_SYNC);
        break;
    case WG_OP_BREAK:
        wg_find(t, WG_F_CORE_EBREAK, &(wg_finding){.agent = (uint8_t)core, .pc = run->pc, .has_pc = true,
                                                  .word = op->word, .has_word = true});
        entered(run, e, NO_DEST, e + 1);
        halt(t, core, WG_PARKED_BREAK);
        run->pc += 4;
        run->at = e + 1;
        return true;
    case WG_OP_MRET:
        entered(run, e, NO_DEST, e + 1);
        run->pc = k->interrupt_pc;
        k->in_interrupt = false;
        wg_pic_returned(t);
        run->at = e + 1 + t->timing->mispredict_bubble;
        return true;
    case WG_OP_VECTOR: {
        wg_rvv_step v = {.cycles = 1};
        if (!wg_rvv_execute(t, core, op, &v))
            illegal(t, core, op);
        if (!wg_rvv_is_memory(op) && (op->word >> 12 & 7) == 7)   /* vset*: as other writers of CSRs */
            run->ordered = !(k->csr.cfg0 & WG_CFG0_DIS_CSR_SYNC);
        value = v.x;
        occupies = v.cycles ? v.cycles : 1;
        result = occupies + 1;
        if (op->rd != WG_REG_SINK && !v.write_x)
            value = run->r[op->rd];
        break;
    }
    default: illegal(t, core, op); break;   /* treated as a nop */
    }
    entered(run, e, op->rd, e + result);
    run->r[op->rd] = value;
    run->at = e + occupies;
    run->pc += 4;
    return true;
}
#undef A
#undef B
#undef I

/* What is waiting to be fetched lies nowhere: it never comes. */
static bool fetch_nowhere(const wg_tile *t, unsigned core, uint32_t pc)
{
    return pc >= t->arch->l1_bytes && !(core == WG_CORE_NC && pc - WG_IRAM_BASE < t->arch->iram_bytes);
}

/* For observers: the instruction uses its operands, and what a load brought into its destination is gone unused. */
static void consume(wg_tile *t, unsigned core, const wg_op *op, uint32_t pc)
{
    wg_unconsumed *u = &t->unconsumed[core];
    const uint8_t source[3] = {op->rs1, op->rs2, op->rs3};
    if (!(u->x | u->f))
        return;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t *set = source[i] < 32 ? &u->x : &u->f, bit = UINT64_C(1) << (source[i] & 31);
        if (source[i] >= WG_REG_SINK || !source[i] || !(*set & bit))
            continue;
        *set &= ~bit;
        WG_EMIT(t, WG_EV_CORE_CONSUMED, core, .a = u->address[source[i]], .word = u->word[source[i]], .pc = pc);
    }
    /* The retire queue holds eight: seven instructions further on the load is sure to have its value. */
    for (uint64_t left = u->x; left; left &= left - 1) {
        unsigned rd = (unsigned)__builtin_ctzll(left);
        if (t->core[core].run.number < u->number[rd] + WG_RETIRE_QUEUE + 1)
            continue;
        u->x &= ~(UINT64_C(1) << rd);
        WG_EMIT(t, WG_EV_CORE_CONSUMED, core, .a = u->address[rd], .word = u->word[rd], .pc = pc);
    }
    if (op->rd < WG_REG_SINK)   /* a load marks it again when it leaves */
        *(op->rd < 32 ? &u->x : &u->f) &= ~(UINT64_C(1) << (op->rd & 31));
}

#define A r[op->rs1]
#define B r[op->rs2]
#define I op->imm

/*
 * Instructions one by one, each through every rule. Returns 0 if whole lines can be run again, else the cycle
 * to go on at (WG_NEVER: when woken).
 */
static uint64_t run_queued(wg_tile *t, unsigned core, uint64_t stop)
{
    static const void *const labels[WG_OP_COUNT] = {
#define LABEL(name) [WG_OP_##name] = &&L_##name,
        WG_OPS(LABEL)
#undef LABEL
    };
    wg_core *k = &t->core[core];
    __asm__("" : "+r"(k));
    wg_core_run *run = &k->run;
    uint32_t *r = run->r;
    const uint64_t now = t->sched.now;
    const bool watched = WG_EVENTS && t->watched & (WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_TOUCH));
    const bool forwards = !one_at_a_time(k);
    const unsigned writers_allowed = t->arch->forward_writers;
    const uint32_t sets = t->arch->icache_bytes[core] / 32u - 1;
    uint64_t settled = run->number + 1;   /* lines are tried again from here on: not right behind a load */
    const wg_op *op;
    wg_icache_line *line;
    wg_stall why;
    uint64_t e;
    bool ordered = false;   /* by the instruction before this one */
    bool checkpointed = k->solo_until || k->saved_at != WG_NEVER;   /* or not needed */
    bool plain;             /* nothing special about this line */
    bool unknown;           /* an operand has no time yet */
    begin_queue(run);

    /* What every instruction changes is kept at hand, and put back before anybody else looks. */
    uint64_t at, number, dests, last;
    uint32_t pc;
#define PUT() (run->at = at, run->number = number, run->dests = dests, run->last = last, run->pc = pc)
#define GET() (at = run->at, number = run->number, dests = run->dests, last = run->last, pc = run->pc)
#define LEAVE(cycle) do { PUT(); return (cycle); } while (0)
    GET();

enter:
    if (number >= settled && !watched) {
        PUT();
        if (end_queue(k)) {
            if (at + MARGIN <= stop)
                return 0;
            begin_queue(run);
        }
        GET();
    }
    if (fetch_nowhere(t, core, pc)) {
        if (at > now)
            LEAVE(at);
        PUT();
        wg_find(t, WG_F_CORE_FETCH, &(wg_finding){.agent = (uint8_t)core, .pc = pc, .has_pc = true});
        halt(t, core, WG_HUNG);
        return WG_NEVER;
    }
    if (at >= stop)
        LEAVE(at);
    line = &k->icache[(pc >> 4 & sets) * 2];
    if (line->tag != ((pc & ~15u) | WG_LINE_VALID))
        line++;
    if (line->tag == ((pc & ~15u) | WG_LINE_VALID)) {
        run->lru[pc >> 4 & sets] = (uint8_t)((line - k->icache) & 1);
    } else {
        line = wg_fetch_line(t, core, pc, at);
        if (!line)
            LEAVE(WG_NEVER);
    }
    op = &line->op[pc >> 2 & 3];
    plain = line->checked == k->epoch && !(line->tag & WG_LINE_STALE);
    if (run->ordered || op->rs3)   /* rare: nothing but issue() knows these rules */
        goto by_the_book;

dispatch:
    e = wg_max64(at, run->retired[(number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
    unknown = false;
    if (!forwards || !operand_quick(run, dests, number, op->rs1, writers_allowed, &e, &unknown) ||
        !operand_quick(run, dests, number, op->rs2, writers_allowed, &e, &unknown) || e >= stop) {
        if (unknown)
            LEAVE(WG_NEVER);
by_the_book:
        PUT();
        if (!issue(t, k, run, op, &e, &why))
            return WG_NEVER;
        if (e >= stop || (why.retry_at != WG_NEVER && e > now))
            return e;
    }
    if (!checkpointed && e > now) {
        PUT();
        wg_core_checkpoint(t, core);
        checkpointed = true;
    }
    ordered = run->ordered;
    run->ordered = false;
    if (!plain) {
        if (line->checked != k->epoch) {
            wg_fetch_ahead(t, core, line, e);
            stop = wg_min64(stop, wg_fetch_next(t, core));
        }
        if (line->tag & WG_LINE_STALE)
            goto stale;
    }
    goto *labels[op->code];

/* The instruction is in EX1; see entered(). */
#define ENTERED(dest_, filled_)                                                                    \
    do {                                                                                           \
        const uint64_t full = (filled_), before = run->retired[(number - 1) % WG_RETIRE_RING];      \
        const unsigned slot = (unsigned)(number % WG_RETIRE_RING), dest = (dest_);                  \
        run->filled[slot] = full;                                                                  \
        run->retired[slot] = before == WG_NEVER ? WG_NEVER : wg_max64(before + 1, full);            \
        dests = dests << 8 | dest;                                                                 \
        number++;                                                                                  \
        last = e;                                                                                  \
        pc += 4;                                                                                   \
        if (run->loads && dest != NO_DEST)                                                         \
            overwritten(run, dest);                                                                \
    } while (0)

#define ALU(name, expression) L_##name: r[op->rd] = (expression); goto computed;
#define MULTIPLY(name, expression) L_##name: goto other;
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY

computed:
    ENTERED(op->rd, e + 1);
    at = e + 1;
    goto next;

L_LOAD: {
    uint32_t address = A + I, value;
    unsigned bytes = op->spare == 9 ? 2 : 1u << (op->spare & 3);
    uint64_t m, answered;
    if (address & (bytes - 1))
        goto other;
    run->number = number;
    wg_lsu_result result = wg_lsu_load(t, core, address, op->spare, pc, e, &value, &m, &answered);
    if (result == WG_LSU_LATER)
        goto later;
    if (result == WG_LSU_SHARED && address >= t->arch->l1_bytes)
        goto other;
    if (result == WG_LSU_SHARED) {   /* it waits in EX1 for its cycle */
        run->ex1 = (wg_ex1){.entered = e, .number = number, .address = address, .pc = pc, .kind = WG_EX1_LOAD,
                            .size = op->spare, .rd = op->rd, .path = WG_PATH_L1, .bytes = (uint8_t)bytes};
        run->filled[number % WG_RETIRE_RING] = run->retired[number % WG_RETIRE_RING] = WG_NEVER;
        dests = dests << 8 | op->rd;
        number++;
        last = e;
        pc += 4;
        at = e + 1;
        if (watched)
            goto next;
        LEAVE(WG_NEVER);
    }
    if (answered > e + 2)
        settled = number + 2 * WG_RETIRE_QUEUE;
    ENTERED(op->rd, answered);
    r[op->rd] = value;
    at = m;
    goto next;
}

L_STORE: {
    uint32_t address = A + I;
    unsigned bytes = store_bytes[op->spare % 3];
    bool own = address - WG_RAM_BASE < t->arch->ram_bytes[core];
    uint64_t m;
    if ((!own && address >= t->arch->l1_bytes) || (address & (bytes - 1)) || wg_core_log_full(k))
        goto other;
    wg_ex1 x = {.entered = e, .pc = pc, .kind = WG_EX1_STORE, .address = address, .data = {B}, .bytes = (uint8_t)bytes,
                .path = own ? WG_PATH_OWN_RAM : WG_PATH_L1};
    run->disturbed = e;
    wg_lsu_result result = wg_lsu_store(t, core, &x, &m);
    if (result == WG_LSU_SHARED)
        goto other;
    if (result == WG_LSU_LATER)
        goto later;
    ENTERED(NO_DEST, m + 1);
    at = m;
    if (!k->solo_until)   /* it may leave soon, and be seen by others: run no further than that */
        stop = wg_min64(stop, wg_lsu_next(t, core));
    goto next;
}

L_BEQ: L_BNE: L_BLT: L_BGE: L_BLTU: L_BGEU:
    if (op->imm == pc)
        goto other;
    PUT();
    step_branch(t, core, op, e);
    GET();
    goto stepped;

later:
    run->ordered = ordered;
    LEAVE(e);

stale: {   /* reported when its cycle comes */
    uint32_t word;
    if (e > now)
        goto later;
    wg_l1_read(t, pc, 4, &word);
    if (word != op->word) {
        k->acted = true;
        wg_findf(t, WG_F_CORE_STALE_CODE, (wg_finding){.agent = (uint8_t)core, .pc = pc, .has_pc = true, .word = op->word,
                 .has_word = true, .value = word}, "L1 now holds 0x%08x", word);
    }
}
L_ILLEGAL: L_LINE_END: L_LINE_END_LATE: L_NOP: L_PUSH: L_JAL: L_JALR: L_DIV: L_DIVU: L_REM: L_REMU: L_FENCE: L_BREAK: L_MRET:
L_CSR: L_ATOMIC: L_FP: L_FMOVE: L_VECTOR:
other:
    PUT();
    if (!step_op(t, core, op, WG_LINE_OPS - (pc >> 2 & 3), e)) {
        run->ordered = ordered;
        return e;
    }
    GET();
    if (k->acted) {   /* what has been reported or seen from outside is not taken back */
        k->acted = false;
        k->saved_at = WG_NEVER;
        checkpointed = k->solo_until;
    }
    if (run->sq_count)   /* a store that others will see may leave soon: run no further than that */
        stop = wg_min64(stop, wg_lsu_next(t, core));
    if (wg_core_log_full(k))
        stop = 0;
stepped:
    if (watched)
        goto next;
    if (run->halt || run->ex1.kind)
        return WG_NEVER;
    if (pc != PC_OF(op) + 4 || run->ordered)
        goto enter;
next:
    if (watched) {
        PUT();
        if (wg_touch_watched(t))
            consume(t, core, op, PC_OF(op));
        WG_EMIT(t, WG_EV_CORE_RETIRE, core, .a = PC_OF(op), .word = op->word, .b = op->rd < WG_REG_SINK ? r[op->rd] : 0,
                .pc = PC_OF(op), .c = op->rd);
        if (run->halt || run->ex1.kind)
            return WG_NEVER;
        goto enter;
    }
    op++;
    if (op->code == WG_OP_LINE_END || op->code == WG_OP_LINE_END_LATE || op->rs3)
        goto enter;
    goto dispatch;
#undef PUT
#undef GET
#undef LEAVE
#undef ENTERED
}
#undef A
#undef B
#undef I

/* ---- whole lines ------------------------------------------------------------------------------------ */

static inline bool may_run_fast(const wg_core *k, uint64_t stop)
{
    return !k->run.queued && !k->run.ordered && k->run.at + MARGIN <= stop && !one_at_a_time(k);
}

#define A r[op->rs1]
#define B r[op->rs2]
#define I op->imm

static inline bool l0_holds(const wg_core_run *run, uint32_t address)
{
    uint32_t tag = (address & ~15u) | 1;
    return run->l0[0].tag == tag || run->l0[1].tag == tag || run->l0[2].tag == tag || run->l0[3].tag == tag;
}

/*
 * Own RAM, seen from the load/store unit in cycle m: true if no store waits there. One that has left by then leaves here,
 * as wg_lsu_drain_private() would have it.
 */
static inline bool ram_settled(wg_core *k, uint64_t m)
{
    wg_core_run *run = &k->run;
    if (m < k->ram_ready)
        return false;
    if (!run->sq_count)
        return true;
    const wg_store *s = &run->sq[run->sq_head];
    uint64_t at = wg_max64(wg_max64(s->entered + 1, k->ram_ready), run->mux_free);
    if (run->sq_count > 1 || s->path != WG_PATH_OWN_RAM || at >= m)
        return false;
    uint32_t offset = (s->address - WG_RAM_BASE) & (WG_RAM_MAX - 1), old;
    memcpy(&old, k->ram + (offset & ~3u), 4);
    wg_core_log(k, offset & ~3u, old);
    memcpy(k->ram + offset, s->data, s->bytes);
    run->sq_head = (uint8_t)((run->sq_head + 1) % WG_STORE_QUEUE);
    run->sq_count = 0;
    run->mux_free = at + 1;
    return true;
}

/*
 * May these instructions of a line enter EX1 back to back while the newest ones leave the retire queue `lag`
 * cycles after they entered EX1? That is so unless one of them would have to be forwarded to from a queue with
 * several results for its operand.
 */
static bool flows(const wg_tile *t, const wg_op *op, const wg_op *end, uint64_t dests, unsigned lag)
{
    unsigned queued = lag - 1 < WG_RETIRE_QUEUE ? lag - 1 : WG_RETIRE_QUEUE;   /* still there when the next one enters */
    for (; op < end; dests = dests << 8 | op->rd, op++) {
        const uint8_t source[3] = {op->rs1, op->rs2, op->rs3};
        for (unsigned s = 0; s < 3; s++) {
            unsigned found = 0;
            for (unsigned i = 0; source[s] && i < queued; i++) {
                if ((dests >> 8 * i & 0xFF) != source[s])
                    continue;
                if (i == 0)
                    break;   /* straight from EX1 */
                if (++found > t->arch->forward_writers)
                    return false;
            }
        }
    }
    return true;
}

WG_THREADED static void run_fast(wg_tile *t, unsigned core, uint64_t stop)
{
    static const void *const labels[WG_OP_COUNT] = {
#define LABEL(name) [WG_OP_##name] = &&L_##name,
        WG_OPS(LABEL)
#undef LABEL
    };
    wg_core *k = &t->core[core];
    __asm__("" : "+r"(k));   /* to be kept, not worked out again and again */
    wg_core_run *run = &k->run;
    uint32_t *r = run->r;
    const uint32_t sets = t->arch->icache_bytes[core] / 32u - 1;
    const uint32_t ram_bytes = t->arch->ram_bytes[core];
    const unsigned bubble = t->timing->mispredict_bubble;
    const bool predicts = predictor_on(t, core);
    const bool weakly_ordered = !((k->csr.pmacfg[0] | k->csr.pmacfg[1]) & 1);
    uint32_t pc = run->pc;
    uint64_t c = run->at, base, entry, last = run->last, number = run->number;
    uint64_t dests = run->dests;
    unsigned late = run->late, lag = run->lag;
    const wg_op *op, *from;
    wg_icache_line *line, *before = NULL;
    const uint32_t epoch = k->epoch;   /* nothing is fetched in here */
    if (!k->solo_until && k->saved_at == WG_NEVER)
        wg_core_checkpoint(t, core);
    if (lag)   /* in here it counts from the cycle before the next entry into EX1 */
        lag = last + lag > c + 1 ? (unsigned)(last + lag + 1 - c) : 0;

#define NEXT do { op++; goto *labels[op->code]; } while (0)
    goto enter;

#define ALU(name, expression) L_##name: r[op->rd] = (expression); NEXT;
#define MULTIPLY(name, expression) ALU(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
L_NOP:
    NEXT;
L_FMOVE:
    r[op->rd] = A;
    NEXT;
L_FP:
    r[op->rd] = wg_fp_execute(k, op);
    NEXT;
L_DIV: L_DIVU: L_REM: L_REMU: {
    unsigned cycles;
    r[op->rd] = divide(op->code, A, B, &cycles);
    last = base + op->at;
    base += cycles - 1;
    goto delayed;
}
#define BRANCH(name, condition)                                                                    \
    L_##name: {                                                                                    \
        bool taken = (condition);                                                                  \
        uint32_t at = PC_OF(op);                                                                   \
        if (op->imm == at)                                                                         \
            goto leave;                                                                            \
        bool foreseen = wg_predict_branch(k, predicts, at, op->imm <= at, taken);                  \
        last = base + op->at;                                                                      \
        if (taken) {                                                                               \
            c = last + 1 + (foreseen ? 0 : bubble);                                                \
            pc = op->imm;                                                                          \
            goto jumped;                                                                           \
        }                                                                                          \
        if (foreseen)                                                                              \
            NEXT;                                                                                  \
        base += bubble;                                                                            \
        goto delayed;                                                                              \
    }
    BRANCH(BEQ, A == B)
    BRANCH(BNE, A != B)
    BRANCH(BLT, (int32_t)A < (int32_t)B)
    BRANCH(BGE, (int32_t)A >= (int32_t)B)
    BRANCH(BLTU, A < B)
    BRANCH(BGEU, A >= B)
#undef BRANCH
L_JAL: {
    uint32_t at = PC_OF(op);
    if (op->imm == at)
        goto leave;
    if (op->rd == 1 || op->rd == 5)
        wg_predict_call(k, at + 4);
    r[op->rd] = at + 4;
    last = base + op->at;
    c = last + 1 + (predicts ? 0 : bubble);
    pc = op->imm;
    goto jumped;
}
L_JALR: {
    uint32_t at = PC_OF(op), target = (A + op->imm) & ~3u;
    if (target == at)
        goto leave;
    bool foreseen = wg_predict_jalr(k, predicts, at, op->rd, op->rs1, target);
    if (op->rd == 1 || op->rd == 5)
        wg_predict_call(k, at + 4);
    r[op->rd] = at + 4;
    last = base + op->at;
    c = last + 1 + (foreseen ? 0 : bubble);
    pc = target;
    goto jumped;
}
L_LOAD: {
    uint32_t address = A + op->imm, offset = address - WG_RAM_BASE;
    uint64_t e = base + op->at, m;
    unsigned bytes = op->spare == 9 ? 2 : 1u << (op->spare & 3);
    if (offset < ram_bytes && !(offset & (bytes - 1)) && weakly_ordered && ram_settled(k, e + 1)) {
        uint32_t words[4];
        memcpy(&words[offset >> 2 & 3], k->ram + (offset & ~3u), 4);
        r[op->rd] = op->spare == 2 ? words[offset >> 2 & 3] : wg_load_value(words, offset, op->spare);
        r[0] = 0;
        base += op->waited_for;
        NEXT;
    }
    uint32_t value;
    uint64_t done;
    /* only what is answered at once; a store that leaves before it could take the L0 line away */
    if ((address & (bytes - 1)) || (offset >= ram_bytes && (!l0_holds(run, address) || (run->sq_count && k->solo_until))) ||
        wg_lsu_load(t, core, address, op->spare, PC_OF(op), e, &value, &m, &done) != WG_LSU_DONE)
        goto leave;
    r[op->rd] = value;
    r[0] = 0;
    last = e;
    base += m - (e + 1) + op->waited_for;
    if (m - (e + 1) == 0)
        NEXT;
    goto delayed;
}
L_STORE: {
    uint32_t address = A + op->imm;
    unsigned bytes = store_bytes[op->spare % 3];
    uint64_t e = base + op->at, m;
    bool own = address - WG_RAM_BASE < ram_bytes;
    if ((!own && address >= t->arch->l1_bytes) || (address & (bytes - 1)) || wg_core_log_full(k))
        goto leave;
    if (own && weakly_ordered && ram_settled(k, e + 1)) {
        wg_store *s = &run->sq[run->sq_head];
        s->first = s->entered = e + 1;
        s->address = address;
        s->pc = PC_OF(op);
        s->data[0] = B;
        s->mask = 0;
        s->path = WG_PATH_OWN_RAM;
        s->bytes = (uint8_t)bytes;
        s->index = 0;
        run->sq_count = 1;
        run->disturbed = e;
        NEXT;
    }
    wg_ex1 x = {.entered = e, .pc = PC_OF(op), .kind = WG_EX1_STORE, .address = address, .data = {B},
                .bytes = (uint8_t)bytes, .path = own ? WG_PATH_OWN_RAM : WG_PATH_L1};
    if (wg_lsu_store(t, core, &x, &m) != WG_LSU_DONE)
        goto leave;
    run->disturbed = e;
    last = e;
    base += m - (e + 1);
    if (!own || run->sq_count > 1)   /* a store behind it ends the wait of one that could have merged */
        stop = wg_min64(stop, wg_lsu_next(t, core));
    goto delayed;
}
L_LINE_END_LATE:
    late = op->rd;
L_LINE_END:
    c = base + op->at;
    last = c - 1 > last ? c - 1 : last;
    if (!(late | lag) && c + MARGIN <= stop) {   /* nothing to be carried over: straight on, if the next line is there */
        wg_icache_line *then = (wg_icache_line *)((char *)k->icache + line->next);
        if (then->tag == line->tag + 16 && then->checked == epoch && !wg_core_log_full(k)) {
            number += (uint64_t)(op - from);
            run->lru[then->set] = then->way;
            line = then;
            from = op = then->op;
            entry = base = c;
            goto *labels[op->code];
        }
    }
    pc = (line->tag & ~15u) + 16;
    op--;
jumped:   /* `op` was the last of this line; its time, and the next one's, are in `last` and `c` */
    number += (uint64_t)(op - from) + 1;
    if (lag) {
        unsigned count = (unsigned)(op - from) + 1;
        uint64_t passed = c - entry;
        for (const wg_op *o = from; o <= op; o++)
            dests = dests << 8 | o->rd;
        /* every cycle without an instruction brings the retire queue one nearer */
        lag = passed - count + 2 < lag ? lag - (unsigned)(passed - count) : 0;
    }
enter:
    entry = c;
    if (c + MARGIN > stop || wg_core_log_full(k))
        goto out;
    line = &k->icache[(pc >> 4 & sets) * 2];
    if (line->tag != ((pc & ~15u) | WG_LINE_VALID))
        line++;
    if (line->tag != ((pc & ~15u) | WG_LINE_VALID) || line->checked != epoch)
        goto out;
    run->lru[line->set] = line->way;
    if (before && before->tag + 16 == line->tag)
        before->next = (uint16_t)((char *)line - (char *)k->icache);
    before = line;
    from = op = &line->op[pc >> 2 & 3];
    if (lag && (line->lag_dests != dests || line->lag_key != (lag << 2 | (pc >> 2 & 3)))) {
        if (!flows(t, op, &line->op[WG_LINE_OPS], dests, lag))
            goto out;
        line->lag_dests = dests;
        line->lag_key = (uint8_t)(lag << 2 | (pc >> 2 & 3));
    }
    base = c - op->at;
    if (late) {
        base += wg_op_reads(op, late);
        late = 0;
    }
    goto *labels[op->code];

delayed:   /* time has passed unforeseen: is there still a line's worth before `stop`? */
    if (base + op->at + MARGIN <= stop)
        NEXT;
    op++;
    if (op->code == WG_OP_LINE_END_LATE)
        goto L_LINE_END_LATE;
    if (op->code == WG_OP_LINE_END)
        goto L_LINE_END;
    goto leave;

/* These need the other executor. */
L_ILLEGAL: L_PUSH: L_FENCE: L_BREAK: L_MRET: L_CSR: L_ATOMIC: L_VECTOR:
leave:
    number += (uint64_t)(op - from);
    pc = PC_OF(op);
    c = base + op->at;
    if (op != from) {
        last = c - 1 > last ? c - 1 : last;
        if (lag) {
            uint64_t passed = c - entry, count = (uint64_t)(op - from);
            for (const wg_op *o = from; o < op; o++)
                dests = dests << 8 | o->rd;
            lag = passed - count + 2 < lag ? lag - (unsigned)(passed - count) : 0;
        }
    }
out:
    run->r[0] = 0;
    run->pc = pc;
    run->at = c;
    run->last = last;
    run->number = number;
    run->late = (uint8_t)late;
    run->late_at = c + 1;
    run->dests = dests;
    run->lag = (uint8_t)(lag ? lag + (unsigned)(c - 1 - last) : 0);
}
#undef A
#undef B
#undef I
#undef NEXT
#undef PC_OF

uint64_t wg_exec(wg_tile *t, unsigned core, uint64_t stop)
{
    wg_core *k = &t->core[core];
    k->stop = stop;
    for (;;) {
        if (k->run.halt || k->run.ex1.kind)
            return WG_NEVER;
        /* Run no further than the next store or fetch that others will see. */
        stop = wg_min64(stop, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
        if (may_run_fast(k, stop)) {
            run_fast(t, core, stop);
            stop = wg_min64(stop, wg_lsu_next(t, core));
        }
        uint64_t again = run_queued(t, core, stop);
        if (again)
            return again;
    }
}

void wg_exec_why(const wg_tile *t, unsigned core, wg_stall *why)
{
    const wg_core *k = &t->core[core];
    const wg_core_run *run = &k->run;
    *why = (wg_stall){.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    if (run->ex1.kind) {
        wg_lsu_why(t, core, why);
        return;
    }
    uint32_t word = 0;
    wg_op op;
    const wg_icache_line *line = wg_fetch_peek(t, core, run->pc);
    if (!line) {
        why->reason = WG_STALL_INSTRUCTION_FETCH;
        return;
    }
    word = line->op[run->pc >> 2 & 3].word;
    wg_decode(t->arch, core, run->pc, word, &op);
    uint64_t e = run->at;
    if (run->queued && !issue(t, k, run, &op, &e, why)) {
        for (unsigned i = 0; i < WG_LOADS; i++)   /* what the oldest unanswered load waits for */
            if (run->load[i].used && run->load[i].done == WG_NEVER) {
                const wg_lane *lane = &t->regions.memory.lane[core][wg_lane_of(run->load[i].path, run->load[i].index)];
                if (lane->count && lane->why.reason != WG_STALL_NONE)
                    *why = lane->why;
                else if (run->load[i].path == WG_PATH_UNMAPPED || run->load[i].path == WG_PATH_HANG)
                    why->reason = WG_STALL_HANGING_ACCESS;
            }
        return;
    }
    if (e > t->sched.now) {
        why->reason = run->at > run->last + 1 ? WG_STALL_EXECUTE : WG_STALL_OPERAND;
        why->retry_at = e;
    }
}
