/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline: which instruction enters EX1 in which cycle, and what it does there.
 *
 * wg_exec_queued() takes one instruction after the other through every rule (issue.c, step.c). A shortcut executes whole
 * cache lines while nothing is in flight (fast/lines.c), over the same semantics (alu.inc).
 *
 * Facts: BabyRISCV/README.md of each architecture (EX1, EX2, Retire Unit), MemoryOrdering.md (forwarding).
 */
#include "riscv/lsu.h"
#include "riscv/pipeline.h"

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
    if (op->rd < WG_REG_SINK) /* a load marks it again when it leaves */
        *(op->rd < 32 ? &u->x : &u->f) &= ~(UINT64_C(1) << (op->rd & 31));
}

#define A r[op->rs1]
#define B r[op->rs2]
#define I op->imm

uint64_t wg_exec_queued(wg_tile *t, unsigned core, uint64_t stop, struct wg_loop *loop)
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
    /* Not about shortcuts: every instruction has something to emit. */
    const bool watched = WG_EVENTS && t->watched & (WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_TOUCH));
    const bool lines = wg_fast(t, WG_FAST_LINES);
    bool forwards = !wg_one_at_a_time(k);
    const unsigned writers_allowed = t->arch->forward_writers;
    const uint32_t sets = t->arch->icache_bytes[core] / 32u - 1;
    uint64_t settled = run->number + 1; /* lines are tried again from here on: not right behind a load */
    const wg_op *op;
    wg_icache_line *line;
    wg_stall why;
    uint64_t e;
    bool ordered = false;                                              /* by the instruction before this one */
    bool checkpointed = wg_fast_is_solo(k) || k->saved_at != WG_NEVER; /* or not needed */
    bool plain;                                                        /* nothing special about this line */
    bool unknown;                                                      /* an operand has no time yet */
    wg_begin_queue(run);

    /* What every instruction changes is kept at hand, and put back before anybody else looks. */
    uint64_t at, number, dests, last;
    uint32_t pc;
#define PUT() (run->at = at, run->number = number, run->dests = dests, run->last = last, run->pc = pc)
#define GET() (at = run->at, number = run->number, dests = run->dests, last = run->last, pc = run->pc)
#define LEAVE(cycle) \
    do { \
        PUT(); \
        return (cycle); \
    } while (0)
    GET();

enter:
    if (lines && number >= settled) {
        PUT();
        if (wg_end_queue(t, core, stop)) {
            if (at + WG_MARGIN <= stop)
                return 0;
            wg_begin_queue(run);
        }
        GET();
    }
    if (fetch_nowhere(t, core, pc)) {
        if (at > now)
            LEAVE(at);
        PUT();
        wg_find(t, WG_F_CORE_FETCH, &(wg_finding){.agent = (uint8_t)core, .pc = pc, .has_pc = true});
        wg_step_halt(t, core, WG_HUNG);
        return WG_NEVER;
    }
    if (at >= stop)
        LEAVE(at);
    if (at > now) { /* what the frontend does here may have to be undone, whether the instruction enters EX1 or not */
        if (!checkpointed) {
            PUT();
            wg_fast_checkpoint(t, core);
            checkpointed = true;
        }
        k->reached = at;
    }
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
    if (run->ordered || op->rs3) /* rare: nothing but wg_issue() knows these rules */
        goto by_the_book;

dispatch:
    e = wg_max64(at, run->retired[(number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
    unknown = false;
    if (!forwards || !wg_operand_quick(run, dests, number, op->rs1, writers_allowed, &e, &unknown) ||
        !wg_operand_quick(run, dests, number, op->rs2, writers_allowed, &e, &unknown) || e >= stop) {
        if (unknown)
            LEAVE(WG_NEVER);
    by_the_book:
        PUT();
        if (!wg_issue(t, k, run, op, &e, &why))
            return WG_NEVER;
        if (e >= stop || (why.retry_at != WG_NEVER && e > now))
            return e;
    }
    if (!checkpointed && e > now) {
        PUT();
        wg_fast_checkpoint(t, core);
        checkpointed = true;
    }
    ordered = run->ordered;
    run->ordered = false;
    if (!plain) {
        if (line->checked != k->epoch) {
            k->reached = e;
            wg_fetch_ahead(t, core, line, e);
            stop = wg_min64(stop, wg_fetch_next(t, core));
        }
        if (line->tag & WG_LINE_STALE)
            goto stale;
    }
    goto *labels[op->code];

/* The instruction is in EX1; see wg_entered(). */
#define ENTERED(dest_, filled_) \
    do { \
        const uint64_t full = (filled_), before = run->retired[(number - 1) % WG_RETIRE_RING]; \
        const unsigned slot = (unsigned)(number % WG_RETIRE_RING), dest = (dest_); \
        run->filled[slot] = full; \
        run->retired[slot] = before == WG_NEVER ? WG_NEVER : wg_max64(before + 1, full); \
        dests = dests << 8 | dest; \
        number++; \
        last = e; \
        pc += 4; \
        if (run->loads && dest != WG_NO_DEST) \
            wg_overwritten(run, dest); \
    } while (0)

#define ALU(name, expression) \
    L_##name : r[op->rd] = (expression); \
    goto computed;
#define MULTIPLY(name, expression) L_##name : goto other;
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY

computed:
    ENTERED(op->rd, e + 1);
    at = e + 1;
    goto next;

L_LOAD : {
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
    if (result == WG_LSU_SHARED) { /* it waits in EX1 for its cycle */
        run->ex1 = (wg_ex1){.entered = e,
                            .number = number,
                            .address = address,
                            .pc = pc,
                            .kind = WG_EX1_LOAD,
                            .size = op->spare,
                            .rd = op->rd,
                            .path = WG_PATH_L1,
                            .bytes = (uint8_t)bytes};
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

L_STORE : {
    uint32_t address = A + I;
    unsigned bytes = wg_store_bytes[op->spare % 3];
    bool own = address - WG_RAM_BASE < t->arch->ram_bytes[core];
    uint64_t m;
    if ((!own && address >= t->arch->l1_bytes) || (address & (bytes - 1)) || wg_core_log_full(k))
        goto other;
    wg_ex1 x = {.entered = e,
                .pc = pc,
                .kind = WG_EX1_STORE,
                .address = address,
                .data = {B},
                .bytes = (uint8_t)bytes,
                .path = own ? WG_PATH_OWN_RAM : WG_PATH_L1};
    wg_lsu_result result = wg_lsu_store(t, core, &x, &m);
    if (result == WG_LSU_SHARED)
        goto other;
    if (result == WG_LSU_LATER)
        goto later;
    run->stored = e;
    ENTERED(WG_NO_DEST, m + 1);
    at = m;
    if (!wg_fast_is_solo(k)) /* it may leave soon, and be seen by others: run no further than that */
        stop = wg_min64(stop, wg_lsu_next(t, core));
    goto next;
}

L_BEQ:
L_BNE:
L_BLT:
L_BGE:
L_BLTU:
L_BGEU:
    if (op->imm == pc)
        goto other;
    PUT();
    wg_step_branch(t, core, op, e);
    if (wg_fast_is_solo(k) && run->pc < pc && run->pc == op->imm && wg_fast(t, WG_FAST_LOOPS) &&
        wg_fast_loop_edge(t, core, pc, stop, loop))
        settled = run->number + 2 * WG_RETIRE_QUEUE;
    GET();
    goto stepped;

later:
    run->ordered = ordered;
    LEAVE(e);

stale : { /* reported when its cycle comes */
    uint32_t word;
    if (e > now || k->solo_saved)
        goto later;
    wg_l1_read(t, pc, 4, &word);
    if (word != op->word) {
        k->acted = true;
        wg_findf(
            t, WG_F_CORE_STALE_CODE,
            (wg_finding){
                .agent = (uint8_t)core, .pc = pc, .has_pc = true, .word = op->word, .has_word = true, .value = word},
            "L1 now holds 0x%08x", word);
    }
}
L_ILLEGAL:
L_LINE_END:
L_LINE_END_LATE:
L_NOP:
L_PUSH:
L_JAL:
L_JALR:
L_DIV:
L_DIVU:
L_REM:
L_REMU:
L_FENCE:
L_BREAK:
L_MRET:
L_CSR:
L_ATOMIC:
L_FP:
L_FMOVE:
L_VECTOR:
other:
    PUT();
    if (!wg_step(t, core, op, e)) {
        run->ordered = ordered;
        return e;
    }
    GET();
    forwards = !wg_one_at_a_time(k); /* cfg0 may have been written */
    plain = plain && line->checked == k->epoch;
    if (k->acted) { /* what has been reported or seen from outside is not taken back */
        k->acted = false;
        k->saved_at = WG_NEVER;
        checkpointed = wg_fast_is_solo(k);
        stop = wg_min64(stop, wg_max64(t->sched.next[WG_AGENT_HOST], now + 1)); /* mret: the next interrupt */
    }
    if (run->sq_count) /* a store that others will see may leave soon: run no further than that */
        stop = wg_min64(stop, wg_lsu_next(t, core));
    if (wg_core_log_full(k))
        stop = 0;
stepped:
    if (watched)
        goto next;
    if (run->halt || run->ex1.kind)
        return WG_NEVER;
    if (pc != WG_PC_OF(op) + 4 || run->ordered)
        goto enter;
next:
    if (watched) {
        PUT();
        if (wg_touch_watched(t))
            consume(t, core, op, WG_PC_OF(op));
        WG_EMIT(t, WG_EV_CORE_RETIRE, core, .a = WG_PC_OF(op), .word = op->word,
                .b = op->rd < WG_REG_SINK ? r[op->rd] : 0, .pc = WG_PC_OF(op), .c = op->rd);
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

uint64_t wg_exec(wg_tile *t, unsigned core, uint64_t stop)
{
    wg_core *k = &t->core[core];
    k->stop = stop;
    wg_core_keep(k);
    if (wg_fast(t, WG_FAST_LINES) || wg_fast(t, WG_FAST_LOOPS))
        return wg_fast_exec(t, core, stop);
    if (k->run.halt || k->run.ex1.kind)
        return WG_NEVER;
    /* Run no further than the next store or fetch that others will see. */
    stop = wg_min64(stop, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
    return wg_exec_queued(t, core, stop, NULL);
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
    if (run->queued && !wg_issue(t, k, run, &op, &e, why)) {
        for (unsigned i = 0; i < WG_LOADS; i++) /* what the oldest unanswered load waits for */
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
