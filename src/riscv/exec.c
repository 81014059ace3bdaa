/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline: which instruction enters EX1 in which cycle, and what it does there.
 *
 * wg_exec_queued() applies every rule to one instruction after another (issue.c, step.c). Shortcuts execute whole cache
 * lines while nothing is in flight (fast/lines.c), or replay periods (fast/period.c). All of them take the arithmetic from
 * alu.inc and branch.inc.
 *
 * Facts: BabyRISCV/README.md of each architecture (EX1, EX2, Retire Unit), MemoryOrdering.md (forwarding).
 */
#include "riscv/lsu.h"
#include "riscv/pipeline.h"

/* No memory holds code at this pc. */
static bool fetch_nowhere(const wg_tile *t, unsigned core, uint32_t pc)
{
    return pc >= t->spec->l1_bytes && !wg_in_iram(t, core, pc);
}

/* For observers: the instruction consumes its operands, and overwrites its destination. */
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
    /* The retire queue holds eight instructions, so an older load must have returned. */
    for (uint64_t left = u->x; left; left &= left - 1) {
        unsigned rd = (unsigned)__builtin_ctzll(left);
        if (t->core[core].run.number < u->number[rd] + WG_RETIRE_QUEUE + 1)
            continue;
        u->x &= ~(UINT64_C(1) << rd);
        WG_EMIT(t, WG_EV_CORE_CONSUMED, core, .a = u->address[rd], .word = u->word[rd], .pc = pc);
    }
    if (op->rd < WG_REG_SINK) /* send_load() marks it again */
        *(op->rd < 32 ? &u->x : &u->f) &= ~(UINT64_C(1) << (op->rd & 31));
}

typedef enum outcome {
    ENTERED,
    IN_EX1, /* it stays in EX1 until its cycle */
    LATER,  /* retry when the clock gets there */
    OTHER   /* wg_step() executes it */
} outcome;

/* A load. *late: its value is ready later than that of a cache hit. */
static outcome load(wg_tile *t, unsigned core, const wg_op *op, uint64_t e, wg_cursor *q, bool *late)
{
    wg_core_run *run = &t->core[core].run;
    const uint32_t address = run->r[op->rs1] + op->imm;
    const unsigned bytes = wg_load_bytes(op->spare);
    uint32_t value;
    uint64_t m, answered;
    if (address & (bytes - 1))
        return OTHER;
    run->number = q->number;
    if (wg_lsu_load(t, core, address, op->spare, q->pc, e, &value, &m, &answered) == WG_LSU_DONE) {
        *late = answered > e + 2;
        wg_enter(run, q, e, op->rd, answered);
        q->pc += 4;
        run->r[op->rd] = value;
        q->at = m;
        return ENTERED;
    }
    if (address >= t->spec->l1_bytes)
        return OTHER;
    run->ex1 = wg_ex1_load(op, e, q->number, address, q->pc);
    wg_enter(run, q, e, op->rd, WG_NEVER);
    q->pc += 4;
    q->at = e + 1;
    return IN_EX1;
}

static outcome store(wg_tile *t, unsigned core, const wg_op *op, uint64_t e, wg_cursor *q)
{
    wg_core *k = &t->core[core];
    const uint32_t address = k->run.r[op->rs1] + op->imm;
    const unsigned bytes = wg_store_bytes[op->spare % 3];
    const bool own = address - WG_RAM_BASE < t->spec->core[core].ram_bytes;
    uint64_t m;
    if ((!own && address >= t->spec->l1_bytes) || (address & (bytes - 1)) || wg_core_log_full(k))
        return OTHER;
    const wg_ex1 x = wg_ex1_store(e, address, q->pc, k->run.r[op->rs2], bytes, own);
    if (wg_lsu_store(t, core, &x, &m) != WG_LSU_DONE)
        return OTHER;
    k->run.stored = e;
    wg_enter(&k->run, q, e, WG_NO_DEST, m + 1);
    q->pc += 4;
    q->at = m;
    return ENTERED;
}

/* A branch or jump, not to itself. */
static inline void branch(wg_tile *t, unsigned core, const wg_op *op, uint64_t e, wg_cursor *q)
{
    wg_core_run *run = &t->core[core].run;
    wg_cursor_put(run, q);
    wg_step_branch(t, core, op, e);
    *q = wg_cursor_of(run);
}

/* The instruction comes from a line that has changed in L1. */
static void report_stale(wg_tile *t, unsigned core, const wg_op *op, uint32_t pc)
{
    uint32_t word;
    wg_l1_read(t, pc, 4, &word);
    if (word == op->word)
        return;
    t->core[core].acted = true;
    wg_findf(t, WG_F_CORE_STALE_CODE,
             (wg_finding){
                 .agent = (uint8_t)core, .pc = pc, .has_pc = true, .word = op->word, .has_word = true, .value = word},
             "L1 now holds 0x%08x", word);
}

static void emit_retired(wg_tile *t, unsigned core, const wg_op *op, uint32_t pc, uint32_t first)
{
    if (wg_touch_watched(t))
        consume(t, core, op, pc);
    if (op->rd < WG_REG_SINK) {
        const uint64_t bit = UINT64_C(1) << op->rd;
        const bool loads = op->code == WG_OP_LOAD || op->code == WG_OP_ATOMIC;
        t->unconsumed[core].loaded = (t->unconsumed[core].loaded & ~bit) | (loads ? bit : 0);
    }
    WG_EMIT(t, WG_EV_CORE_RETIRE, core, .a = pc, .word = op->word,
            .b = op->rd < WG_REG_SINK ? t->core[core].run.r[op->rd] : 0, .pc = pc, .c = op->rd, .parent = first);
}

/* The line that holds the next instruction; NULL: it is missing and has been requested. */
static inline wg_icache_line *find_line(wg_tile *t, unsigned core, const wg_cursor *q)
{
    wg_core *k = &t->core[core];
    const uint32_t set = q->pc >> 4 & (t->spec->core[core].icache_bytes / 32u - 1),
                   tag = (q->pc & ~15u) | WG_LINE_VALID;
    wg_icache_line *line = &k->icache[set * 2];
    if (line->tag != tag && (++line)->tag != tag)
        return wg_fetch_line(t, core, q->pc, q->at);
    k->run.lru[set] = (uint8_t)((line - k->icache) & 1);
    return line;
}

/* Does the executor end here: at `stop`, for lines.c, or where nothing can be fetched? *result: its return value. */
static bool leaves_before_fetch(wg_tile *t, unsigned core, uint64_t stop, bool lines, wg_cursor *q, uint64_t *result)
{
    wg_core_run *run = &t->core[core].run;
    if (lines) {
        wg_cursor_put(run, q);
        if (wg_end_queue(t, core, stop)) {
            *result = 0;
            if (q->at + WG_MARGIN <= stop)
                return true;
            wg_begin_queue(run);
        }
        *q = wg_cursor_of(run);
    }
    *result = q->at;
    if (!fetch_nowhere(t, core, q->pc))
        return q->at >= stop;
    if (q->at > t->sched.now)
        return true;
    wg_cursor_put(run, q);
    wg_find(t, WG_F_CORE_FETCH, &(wg_finding){.agent = (uint8_t)core, .pc = q->pc, .has_pc = true});
    wg_step_halt(t, core, WG_HUNG);
    *result = WG_NEVER;
    return true;
}

/* Executes any instruction by wg_step(). False if it has to wait for the clock. */
static bool step(wg_tile *t, unsigned core, const wg_op *op, uint64_t e, wg_cursor *q, uint64_t *stop,
                 bool *checkpointed)
{
    wg_core *k = &t->core[core];
    const bool known = k->run.sq_count && !wg_sq_first_changes(&k->run); /* `stop` allows for it, or it is blocked */
    wg_cursor_put(&k->run, q);
    if (!wg_step(t, core, op, e))
        return false;
    *q = wg_cursor_of(&k->run);
    if (k->acted) { /* reported or externally visible: it cannot be rolled back */
        k->acted = false;
        k->saved_at = WG_NEVER;
        *checkpointed = false;
        /* mret: the next interrupt */
        *stop = wg_min64(*stop, wg_max64(t->sched.next[WG_AGENT_HOST], t->sched.now + 1));
    }
    /* Do not run past the next externally visible store. */
    if (k->run.sq_count && (!known || wg_sq_first_changes(&k->run)))
        *stop = wg_min64(*stop, wg_lsu_next(t, core));
    if (wg_core_log_full(k))
        *stop = 0;
    return true;
}

/* The line is stale, or the lines after it are not checked. ENTERED: execute the instruction normally. */
static outcome special_line(wg_tile *t, unsigned core, wg_icache_line *line, const wg_op *op, uint64_t e, uint32_t pc,
                            uint64_t *stop)
{
    if (line->checked != t->core[core].epoch) {
        t->core[core].reached = e;
        wg_fetch_ahead(t, core, line, e);
        *stop = wg_min64(*stop, wg_fetch_next(t, core));
    }
    if (!(line->tag & WG_LINE_STALE))
        return ENTERED;
    if (e > t->sched.now || t->core[core].l1_ahead) /* report it in its own cycle */
        return LATER;
    report_stale(t, core, op, pc);
    return OTHER;
}

/* Common instructions. Raises *settled if lines.c should not be tried soon. */
static inline __attribute__((always_inline)) outcome execute(wg_tile *t, unsigned core, const wg_op *op, uint64_t e,
                                                             wg_cursor *q, uint64_t *stop, uint64_t *settled)
{
    wg_core *k = &t->core[core];
    uint32_t value;
    bool late = false;
    outcome is = OTHER;
    if (wg_alu(op, k->run.r, &value)) {
        k->run.r[op->rd] = value;
        wg_enter(&k->run, q, e, op->rd, e + 1);
        q->pc += 4;
        q->at = e + 1;
        return ENTERED;
    }
    if (op->code == WG_OP_LOAD) {
        is = load(t, core, op, e, q, &late);
        if (late)
            *settled = q->number - 1 + 2 * WG_RETIRE_QUEUE;
    } else if (op->code == WG_OP_STORE) {
        is = store(t, core, op, e, q);
        if (is == ENTERED) /* do not run past its departure, which others see */
            *stop = wg_min64(*stop, wg_lsu_next(t, core));
    } else if ((wg_is_branch(op->code) || op->code == WG_OP_JAL) && op->imm != q->pc) {
        branch(t, core, op, e, q);
        is = ENTERED;
    }
    return is;
}

/*
 * The instruction has entered EX1 in cycle e: scales how long it occupies EX1, and when its result is there. It may take no
 * time at all, unless it waits in EX1 for its cycle; but jumps take a cycle once in a while, so that a loop has an end.
 */
static void scale_entered(wg_tile *t, unsigned core, const wg_op *op, uint64_t e, uint32_t pc)
{
    enum { FREE_JUMPS = 256 };
    wg_core_run *run = &t->core[core].run;
    wg_carry *carry = &t->carry[core];
    const bool jumps = wg_is_branch(op->code) || op->code == WG_OP_JAL || op->code == WG_OP_JALR;
    const unsigned slot = (unsigned)((run->number - 1) % WG_RETIRE_RING);
    const uint64_t before = run->retired[(run->number - 2) % WG_RETIRE_RING];
    if (run->halt || run->at <= e)
        return;
    const uint32_t occupied = (uint32_t)(run->at - e);
    const bool must = run->ex1.kind || (jumps && carry->free_jumps >= FREE_JUMPS);
    const wg_carry had = *carry;
    const uint32_t takes = wg_takes_carried(t->what_if, carry, core, core, pc, occupied, must ? 1 : 0);
    carry->free_jumps = takes ? 0 : carry->free_jumps + jumps;
    run->at = e + takes;
    if (run->ex1.kind || run->filled[slot] == WG_NEVER || run->filled[slot] <= e)
        return;
    run->filled[slot] = e + wg_result_carried(t->what_if, &had, core, pc, (uint32_t)(run->filled[slot] - e));
    if (before != WG_NEVER)
        run->retired[slot] = wg_max64(before + wg_result_carried(t->what_if, &had, core, pc, 1), run->filled[slot]);
}

static inline bool ends_line(const wg_op *op) { return op->code == WG_OP_LINE_END || op->code == WG_OP_LINE_END_LATE; }

uint64_t wg_exec_queued(wg_tile *t, unsigned core, uint64_t stop)
{
    wg_core *k = &t->core[core];
    __asm__("" : "+r"(k));
    wg_core_run *run = &k->run;
    const uint64_t now = t->sched.now;
    /* Unrelated to shortcuts: every instruction emits an event. */
    const bool watched = WG_EVENTS && t->watched & (WG_CORE_EVENTS | WG_EV_BIT(WG_EV_TOUCH));
    const bool attended = watched || t->what_if;
    const bool lines = wg_fast_takes_exec(t);
    const unsigned writers_allowed = t->arch->forward_writers;
    bool checkpointed = k->saved_at != WG_NEVER;
    /* The earliest instruction at which to retry lines.c: not right after a load, nor while a store is about to leave. */
    uint64_t settled = run->number + (run->sq_count ? 2 * WG_RETIRE_QUEUE : t->lines_wait[core] + 1);
    uint64_t e, result;
    uint32_t operand = 0; /* rs1's value, for events */
    wg_begin_queue(run);
    wg_cursor q = wg_cursor_of(run);
enter:
    if (leaves_before_fetch(t, core, stop, lines && q.number >= settled, &q, &result)) {
        if (result) /* else lines.c continues from `run` */
            wg_cursor_put(run, &q);
        return result;
    }
    if (q.at > now) { /* fetching ahead may need a rollback even if the instruction does not enter EX1 */
        if (!checkpointed) {
            wg_cursor_put(run, &q);
            wg_fast_checkpoint(t, core);
            checkpointed = true;
        }
        k->reached = q.at;
    }
    wg_icache_line *line = find_line(t, core, &q);
    if (!line) {
        wg_cursor_put(run, &q);
        return WG_NEVER;
    }
    const wg_op *op = &line->op[q.pc >> 2 & 3];
    bool fresh = line->checked == k->epoch && !(line->tag & WG_LINE_STALE); /* the line is checked, and not stale */
    bool by_the_book = run->ordered || wg_one_at_a_time(k);
    for (;; op++) {
        uint64_t awaits = 0; /* the instruction whose result has no known time yet */
        e = wg_max64(q.at, run->retired[(q.number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
        if (by_the_book || op->rs3 || /* wg_issue() implements every rule */
            !wg_operand_quick(run, q.dests, q.number, op->rs1, writers_allowed, &e, &awaits) ||
            !wg_operand_quick(run, q.dests, q.number, op->rs2, writers_allowed, &e, &awaits) || e >= stop) {
            wg_stall why;
            wg_cursor_put(run, &q);
            if (awaits || !wg_issue(t, k, run, op, &e, &why))
                return WG_NEVER;
            if (e >= stop || (why.retry_at != WG_NEVER && e > now))
                return e;
        }
        if (!checkpointed && e > now) {
            wg_cursor_put(run, &q);
            wg_fast_checkpoint(t, core);
            checkpointed = true;
        }
        const bool ordered = by_the_book && run->ordered; /* by the previous instruction */
        const uint32_t pc = q.pc;
        outcome is = ENTERED;
        if (ordered)
            run->ordered = false;
        if (__builtin_expect(watched, 0))
            operand = run->r[op->rs1];
        if (!fresh)
            is = special_line(t, core, line, op, e, pc, &stop);
        if (is == ENTERED)
            is = execute(t, core, op, e, &q, &stop, &settled);
        if (is == LATER || (is == OTHER && !step(t, core, op, e, &q, &stop, &checkpointed))) {
            run->ordered = ordered;
            if (e > now) /* stores may have left own RAM's queue for it */
                k->reached = e;
            wg_cursor_put(run, &q);
            return e;
        }
        if (is == ENTERED && !by_the_book && !attended) {
            if (q.pc != pc + 4 || ends_line(op + 1))
                goto enter;
            continue;
        }
        wg_cursor_put(run, &q);
        if (watched)
            emit_retired(t, core, op, pc, operand);
        if (t->what_if) {
            scale_entered(t, core, op, e, pc);
            q = wg_cursor_of(run);
        }
        if (run->halt || run->ex1.kind)
            return WG_NEVER;
        fresh = fresh && line->checked == k->epoch;
        by_the_book = wg_one_at_a_time(k); /* cfg0 may have been written */
        if (attended || q.pc != pc + 4 || run->ordered || ends_line(op + 1))
            goto enter;
    }
}

uint64_t wg_exec(wg_tile *t, unsigned core, uint64_t stop)
{
    wg_core *k = &t->core[core];
    if (k->run.halt || k->run.ex1.kind)
        return WG_NEVER;
    /* Do not run past the next externally visible store or fetch. */
    stop = wg_min64(stop, wg_fetch_next(t, core));
    if (stop > t->sched.now + 1)
        stop = wg_min64(stop, wg_lsu_next(t, core));
    k->stop = wg_min64(stop, t->limit); /* an instruction of this cycle has no checkpoint */
    return wg_fast_takes_exec(t) ? wg_fast_exec(t, core, stop) : wg_exec_queued(t, core, stop);
}

/* Does a load write this register last? Loads that take no slot, of own RAM or L0, are known only while observed. */
static bool is_loaded(const wg_tile *t, unsigned core, unsigned reg)
{
    const wg_core_run *run = &t->core[core].run;
    for (unsigned i = 0; i < WG_LOADS; i++)
        if (run->load[i].used && run->load[i].rd == reg && run->load[i].done > t->sched.now)
            return true;
    return t->unconsumed[core].loaded >> reg & 1;
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
    wg_decode(t, core, run->pc, word, &op);
    uint64_t e = run->at;
    if (run->queued && !wg_issue(t, k, run, &op, &e, why)) {
        for (unsigned i = 0; i < WG_LOADS; i++) /* the oldest unanswered load */
            if (run->load[i].used && run->load[i].done == WG_NEVER) {
                const wg_request_queue *queue =
                    &t->regions.memory.queue[core][wg_queue_of(run->load[i].path, run->load[i].index)];
                if (queue->count && queue->why.reason != WG_STALL_NONE)
                    *why = queue->why;
                else if (run->load[i].path == WG_PATH_UNMAPPED || run->load[i].path == WG_PATH_HANG)
                    why->reason = WG_STALL_HANGING_ACCESS;
            }
        return;
    }
    if (run->at > t->sched.now) /* EX1 is not free */
        why->reason = run->at == run->refilled ? WG_STALL_BRANCH_BUBBLE : WG_STALL_MULTI_CYCLE;
    else if (e <= t->sched.now)
        return;
    else if (why->reason == WG_STALL_OPERAND && is_loaded(t, core, why->resource))
        why->reason = WG_STALL_LOAD_RESPONSE;
    why->retry_at = e;
}
