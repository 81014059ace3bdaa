/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes whole cache lines while nothing is in flight. A result is then at most one cycle late, and only the next
 * instruction can stall for it; predecoding accounts for most of these stalls (wg_op.at). An instruction enters EX1 in cycle
 * base + at; `base` moves only when something else costs time. All other instructions are left to exec.c.
 *
 * A loop of arithmetic takes the same time in every iteration, so it is replayed as a period (period.c).
 *
 *     target ── arithmetic ── arithmetic ── … ── backward branch, predicted
 *        └───────────────────────────────────────────┘
 */
#include "fast/period.h"

#include <string.h>

#define A r[op->rs1]
#define B r[op->rs2]
#define I op->imm

/* Drains stores to own RAM that leave before cycle m. Is the store queue then empty, and own RAM ready in cycle m? */
static inline bool ram_settled(wg_tile *t, wg_core *k, unsigned core, uint64_t m)
{
    if (m < k->ram_ready)
        return false;
    wg_lsu_drain_private(t, core, m);
    return !k->run.sq_count;
}

/*
 * No store leaves the queue before cycle m, and none conflicts with a load that enters the load/store unit in m: the load
 * finds the L0 cache in its present state.
 */
static inline bool stores_stay(const wg_tile *t, const wg_core *k, uint64_t m, uint32_t address, unsigned bytes)
{
    const wg_core_run *run = &k->run;
    if (!run->sq_count)
        return true;
    return wg_max64(wg_sq_ready_at(t, k, 0), run->mux_free) >= m && !(k->csr.cfg0 & WG_CFG0_DIS_LD_BUF_BYP) &&
           wg_sq_conflict(t, run, address, bytes) < 0;
}

/*
 * May these instructions of a line enter EX1 back to back while the newest ones leave the retire queue `lag` cycles after
 * they entered EX1? Not if the queue holds several results for an operand: then none is forwarded.
 */
static bool flows(const wg_tile *t, const wg_op *op, const wg_op *end, uint64_t dests, unsigned lag)
{
    unsigned queued =
        lag - 1 < WG_RETIRE_QUEUE ? lag - 1 : WG_RETIRE_QUEUE; /* in the queue when the next one enters EX1 */
    for (; op < end; dests = dests << 8 | op->rd, op++) {
        const uint8_t source[3] = {op->rs1, op->rs2, op->rs3};
        for (unsigned s = 0; s < 3; s++) {
            unsigned found = 0;
            for (unsigned i = 0; source[s] && i < queued; i++) {
                if ((dests >> 8 * i & 0xFF) != source[s])
                    continue;
                if (i == 0)
                    break; /* forwarded from EX1 */
                if (++found > t->arch->forward_writers)
                    return false;
            }
        }
    }
    return true;
}

/* The lag after these instructions of a line, if `passed` cycles go by until the next one enters EX1. */
static inline unsigned lag_behind(const wg_op *from, const wg_op *op, uint64_t passed, unsigned lag, uint64_t *dests)
{
    unsigned count = (unsigned)(op - from) + 1;
    uint64_t d = *dests;
    for (const wg_op *o = from; o <= op; o++)
        d = d << 8 | o->rd;
    *dests = d;
    /* every cycle without an instruction reduces it by one */
    return passed - count + 2 < lag ? lag - (unsigned)(passed - count) : 0;
}

/* The core's settings that matter to a line. */
typedef struct settings {
    uint32_t ram_bytes;
    bool weakly_ordered, cached;
} settings;

typedef enum access {
    AT_ONCE, /* in the time that predecoding accounts for */
    DELAYED, /* *base has moved */
    LEAVES   /* exec.c executes it */
} access;

/* The load at `op`: answered by own RAM or the L0 cache. */
static inline __attribute__((always_inline)) access load(wg_tile *t, wg_core *k, unsigned core, const wg_op *op,
                                                         const wg_icache_line *line, const settings *set,
                                                         uint64_t *base)
{
    wg_core_run *run = &k->run;
    uint32_t *r = run->r, value;
    const uint32_t address = A + op->imm, offset = address - WG_RAM_BASE;
    const uint64_t e = *base + op->at;
    const unsigned bytes = wg_load_bytes(op->spare);
    uint64_t m, done;
    if (offset < set->ram_bytes && !(offset & (bytes - 1)) && set->weakly_ordered && ram_settled(t, k, core, e + 1)) {
        uint32_t word;
        memcpy(&word, k->ram + (offset & ~3u), 4);
        if (__builtin_expect(op->spare == 2, 1)) {
            r[op->rd] = word;
        } else {
            uint32_t words[4];
            words[offset >> 2 & 3] = word;
            r[op->rd] = wg_load_value(words, offset, op->spare);
        }
        r[0] = 0;
        *base += op->waited_for;
        return AT_ONCE;
    }
    const wg_l0_line *hit = set->cached && offset >= set->ram_bytes ? wg_l0_find(run, address) : NULL;
    if (hit && !hit->stale && !(address & (bytes - 1)) && run->wait_e != e &&
        stores_stay(t, k, e + 1, address, bytes)) {
        r[op->rd] = op->spare == 2 ? hit->data[address >> 2 & 3] : wg_load_value(hit->data, address, op->spare);
        r[0] = 0;
        if (wg_l0_flushes(t, k, core))
            wg_lsu_flush_l0(k);
        *base += op->waited_for;
        return AT_ONCE;
    }
    if ((address & (bytes - 1)) || (offset >= set->ram_bytes && !hit) ||
        wg_lsu_load(t, core, address, op->spare, WG_PC_OF(op), e, &value, &m, &done) != WG_LSU_DONE)
        return LEAVES;
    r[op->rd] = value;
    r[0] = 0;
    *base += m - (e + 1) + op->waited_for;
    return m == e + 1 ? AT_ONCE : DELAYED;
}

/* The store at `op`, to own RAM or L1. */
static inline __attribute__((always_inline)) access store(wg_tile *t, wg_core *k, unsigned core, const wg_op *op,
                                                          const wg_icache_line *line, const settings *set,
                                                          uint64_t *base, uint64_t *stop)
{
    wg_core_run *run = &k->run;
    const uint32_t *r = run->r, address = A + op->imm;
    const unsigned bytes = wg_store_bytes[op->spare % 3];
    const uint64_t e = *base + op->at;
    const bool own = address - WG_RAM_BASE < set->ram_bytes;
    uint64_t m;
    if ((!own && address >= t->spec->l1_bytes) || (address & (bytes - 1)) || wg_core_log_full(k))
        return LEAVES;
    if (own && set->weakly_ordered && ram_settled(t, k, core, e + 1)) {
        wg_store *s = &run->sq[run->sq_head];
        s->first = s->entered = e + 1;
        s->address = address;
        s->pc = WG_PC_OF(op);
        s->data[0] = B;
        s->mask = 0;
        s->path = WG_PATH_OWN_RAM;
        s->bytes = (uint8_t)bytes;
        s->index = 0;
        run->sq_count = 1;
        run->stored = e;
        return AT_ONCE;
    }
    const wg_ex1 x = wg_ex1_store(e, address, WG_PC_OF(op), B, bytes, own);
    if (wg_lsu_store(t, core, &x, &m) != WG_LSU_DONE)
        return LEAVES;
    run->stored = e;
    *base += m - (e + 1);
    if (!own || run->sq_count > 1) /* an older store stops waiting for stores to merge with */
        *stop = wg_min64(*stop, wg_lsu_next(t, core));
    return DELAYED;
}

/*
 * Executes whole lines that end before `stop`. Returns sooner where run_loop() may continue: the address of a backward branch
 * that was just taken, else 0.
 */
WG_THREADED static uint32_t run_lines(wg_tile *t, unsigned core, uint64_t stop)
{
    static const void *const labels[WG_OP_COUNT] = {
#define LABEL(name) [WG_OP_##name] = &&L_##name,
        WG_OPS(LABEL)
#undef LABEL
    };
    wg_core *k = &t->core[core];
    __asm__("" : "+r"(k)); /* keeps the compiler from recomputing it */
    wg_core_run *run = &k->run;
    uint32_t *r = run->r;
    const uint32_t sets = t->spec->core[core].icache_bytes / 32u - 1;
    const unsigned bubble = t->timing->mispredict_bubble;
    const unsigned entries = wg_predictor(t, core);
    const settings set = {.ram_bytes = t->spec->core[core].ram_bytes,
                          .weakly_ordered = !wg_strongly_ordered(k),
                          .cached =
                              t->arch->l0_lines && !(k->csr.cfg0 & WG_CFG0_DIS_LOW_CASH) && !wg_strongly_ordered(k)};
    uint32_t pc = run->pc;
    uint64_t c = run->at, base, entry, last = run->last, number = run->number;
    uint64_t dests = run->dests;
    unsigned late = run->late, lag = run->lag;
    const wg_op *op, *from;
    uint32_t closing = 0; /* the branch that closes a loop, for run_loop(); 0: none */
    wg_icache_line *line, *before = NULL;
    const uint32_t epoch = k->epoch; /* constant here: nothing is fetched */
    if (k->saved_at == WG_NEVER)
        wg_fast_checkpoint(t, core);
    if (lag) /* within this function, relative to the cycle before the next entry into EX1 */
        lag = last + lag > c + 1 ? (unsigned)(last + lag + 1 - c) : 0;

#define NEXT \
    do { \
        op++; \
        goto *labels[op->code]; \
    } while (0)
    goto enter;

#define ALU(name, expression) \
    L_##name : r[op->rd] = (expression); \
    NEXT;
#define MULTIPLY(name, expression) ALU(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
L_NOP:
    NEXT;
L_FP:
    r[op->rd] = wg_fp_execute(k, op);
    NEXT;
L_DIV:
L_DIVU:
L_REM:
L_REMU : {
    unsigned cycles;
    r[op->rd] = wg_divide(op->code, A, B, &cycles);
    last = base + op->at;
    base += cycles - 1;
    goto delayed;
}
#define BRANCH(name, condition) \
    L_##name: \
    { \
        bool taken = (condition); \
        uint32_t at = WG_PC_OF(op); \
        if (op->imm == at) \
            goto leave; \
        bool predicted = wg_predict_branch(k, entries, at, taken); \
        last = base + op->at; \
        if (!predicted) \
            run->refilled = last + 1 + bubble; \
        if (taken) { \
            c = last + 1 + (predicted ? 0 : bubble); \
            pc = op->imm; \
            if (__builtin_expect(op->spare && predicted, 0)) \
                goto back; \
            goto jumped; \
        } \
        if (predicted) \
            NEXT; \
        base += bubble; \
        goto delayed; \
    }
#include "riscv/branch.inc"
#undef BRANCH
L_JAL:
L_JALR : {
    uint32_t at = WG_PC_OF(op), target = wg_jump_target(op, r);
    if (target == at)
        goto leave;
    bool predicted = wg_predict_jump(k, entries, op, at, target);
    r[op->rd] = at + 4;
    last = base + op->at;
    c = last + 1;
    if (!predicted)
        run->refilled = c += bubble;
    pc = target;
    goto jumped;
}
L_LOAD:
    switch (load(t, k, core, op, line, &set, &base)) {
    case AT_ONCE: NEXT;
    case DELAYED: goto delayed;
    default: goto leave;
    }
L_STORE:
    switch (store(t, k, core, op, line, &set, &base, &stop)) {
    case AT_ONCE: NEXT;
    case DELAYED: goto delayed;
    default: goto leave;
    }
L_LINE_END_LATE:
    late = op->rd;
L_LINE_END:
    c = base + op->at;
    last = c - 1 > last ? c - 1 : last;
    if (!(late | lag) && c + WG_MARGIN <= stop) { /* nothing carries over to the next line */
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
    goto jumped;

back:
    closing = WG_PC_OF(op);
    stop = 0;
jumped: /* `op` was the last one of this line and entered EX1 in `last`; the next one can enter in `c` */
    number += (uint64_t)(op - from) + 1;
    if (lag)
        lag = lag_behind(from, op, c - entry, lag, &dests);
enter:
    entry = c;
    if (c + WG_MARGIN > stop || wg_core_log_full(k))
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
        if (!flows(t, op, &line->op[WG_LINE_OPS], dests, lag)) {
            k->reached = c;
            goto out;
        }
        line->lag_dests = dests;
        line->lag_key = (uint8_t)(lag << 2 | (pc >> 2 & 3));
    }
    base = c - op->at;
    if (late) {
        base += wg_op_reads(op, late);
        late = 0;
    }
    goto *labels[op->code];

delayed: /* `base` has moved: does the rest of the line still end before `stop`? */
    if (base + op->at + WG_MARGIN <= stop)
        NEXT;
    op++;
    if (op->code == WG_OP_LINE_END_LATE)
        goto L_LINE_END_LATE;
    if (op->code == WG_OP_LINE_END)
        goto L_LINE_END;
    goto leave;

/* Left to exec.c. */
L_ILLEGAL:
L_PUSH:
L_FENCE:
L_BREAK:
L_MRET:
L_CSR:
L_ATOMIC:
L_VECTOR:
leave:
    number += (uint64_t)(op - from);
    pc = WG_PC_OF(op);
    c = base + op->at;
    k->reached = c; /* stores may have left own RAM's queue for an access that is made in that cycle */
    if (op != from) {
        last = c - 1 > last ? c - 1 : last;
        if (lag)
            lag = lag_behind(from, op - 1, c - entry, lag, &dests);
    } else if (lag && c > entry) { /* it stalled for a result of the previous line */
        lag = c - entry + 2 < lag ? lag - (unsigned)(c - entry) : 0;
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
    return closing;
}
#undef A
#undef B
#undef I
#undef NEXT

/* ---- loops of arithmetic ------------------------------------------------------------------------------------ */

enum { MOST = 24 /* instructions */, LEAST = 6 /* iterations left */ };

/* The state when a loop's branch was last taken. */
typedef struct back_edge {
    uint32_t branch;
    uint8_t lag;
    uint64_t at, number, dests;
} back_edge;

typedef enum round_end {
    ROUND_OTHER, /* not a loop of arithmetic; nothing was done */
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

/* The backward branch at `branch` has been taken: runs as many iterations as possible before `stop`. */
static void run_loop(wg_tile *t, unsigned core, uint32_t branch, uint64_t stop, back_edge *last)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const uint32_t target = run->pc;
    const uint64_t took = run->at - last->at, length = (branch - target) / 4 + 1;
    if (branch == last->branch && stop >= run->at + LEAST * took &&
        wg_predict_settled(k, wg_predictor(t, core), branch, true) /* nothing more to learn */) {
        uint64_t done = 0;
        round_end end = ROUND_OTHER;
        if (run->number == last->number + length) { /* only the loop has executed since */
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
    *last = (back_edge){.branch = branch, .lag = run->lag, .at = run->at, .number = run->number, .dests = run->dests};
}

void wg_exec_lines(wg_tile *t, unsigned core, uint64_t stop)
{
    back_edge edge = {.branch = 0};
    for (uint32_t branch; (branch = run_lines(t, core, stop));)
        run_loop(t, core, branch, stop, &edge);
}
