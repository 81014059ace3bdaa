/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A T core that feeds its thread: its store queue holds pushes, nothing else is under way, and what it executes between
 * them are single-cycle instructions and branches. Most of its ticks find the same: a request has left its path or been
 * taken, so one store moves up, one instruction goes on.
 *
 *     EX1 ── store queue ── path to the first FIFO        (phase I: from the right to the left)
 *
 * It is the same as emit() and pipeline() in core.c, of which these are the parts that such a core needs; whatever is more
 * than that is left to them, or to wg_exec().
 */
#include "riscv/lsu.h"
#include "riscv/pipeline.h"

/* As wg_lsu_room() has it. */
static inline bool has_room(const wg_tile *t, unsigned core)
{
    return t->regions.memory.lane[core][WG_PATH_PUSH].count <= t->timing->path[WG_PATH_PUSH].travel;
}

/* When the first of the queue leaves; WG_NEVER while its path is full: the region's progress wakes the core. */
static inline uint64_t head_leaves(const wg_tile *t, unsigned core, const wg_core_run *run)
{
    if (!has_room(t, core))
        return WG_NEVER;
    return wg_max64(wg_max64(run->mux_free, wg_sq_peek(run, 0)->entered + 1), t->sched.now + 1);
}

/* The line that holds pc, if nothing is special about it. */
static inline const wg_icache_line *line_at(const wg_tile *t, const wg_core *k, unsigned core, uint32_t pc)
{
    const uint32_t set = pc >> 4 & (t->arch->icache_bytes[core] / 32u - 1);
    const wg_icache_line *line = &k->icache[set * 2];
    line += line->tag != ((pc & ~15u) | WG_LINE_VALID);
    return line->tag == ((pc & ~15u) | WG_LINE_VALID) && line->checked == k->epoch ? line : NULL;
}

/* The push in EX1 enters the store queue, if it is not full. */
static inline void enter(wg_core_run *run, uint64_t now)
{
    if (!run->ex1.kind || run->ex1.entered >= now || run->sq_count == WG_STORE_QUEUE)
        return;
    run->ex1.kind = WG_EX1_NONE;
    run->at = wg_max64(run->at, now);
    wg_sq_enqueue(run, &run->ex1, now);
    wg_fill_retire(run, run->ex1.number, now + 1);
}

bool wg_push_emit(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    uint64_t now = t->sched.now;
    if (core < WG_CORE_T0 || run->halt | k->solo_saved | run->loads | run->fetch[0].used | run->fetch[1].used |
                                 run->ordered | t->lockstep | k->stepping | k->breakpoints | k->slow)
        return false;
    if ((WG_EVENTS && t->watched) || wg_one_at_a_time(k) || wg_strongly_ordered(k))
        return false;
    if (k->saved_at != WG_NEVER && run->last >= now) {
        /* It ran ahead, and now there is room for the store that had to wait: as in emit(). */
        if (!k->saved.sq_count || wg_sq_peek(&k->saved, 0)->path != WG_PATH_PUSH || !has_room(t, core))
            return false;
        wg_core_sync(t, core);
        if (run->halt | run->loads | run->fetch[0].used | run->fetch[1].used | run->ordered)
            return false;
        t->sched.next[WG_AGENT_CORE_B + core] = WG_NEVER; /* it is ticked just now */
    }
    if (run->ex1.kind && (run->ex1.kind != WG_EX1_STORE || run->ex1.path != WG_PATH_PUSH))
        return false;
    if (run->sq_count) {
        if (wg_sq_peek(run, 0)->path != WG_PATH_PUSH)
            return false;
    } else if (!run->ex1.kind) {
        const wg_icache_line *line = line_at(t, k, core, run->pc);
        if (!line || line->op[run->pc >> 2 & 3].code != WG_OP_PUSH)
            return false;
    }
    k->saved_at = WG_NEVER;
    enter(run, now);
    if (run->sq_count && run->mux_free <= now && wg_sq_peek(run, 0)->entered < now && has_room(t, core)) {
        const wg_store *s = wg_sq_peek(run, 0);
        wg_memory_emit_push(t, core, s->index, s->address, s->pc, s->data, s->bytes);
        wg_sq_pop(run);
        run->mux_free = now + 1;
        enter(run, now); /* room was made for it in this very cycle */
    }
    return true;
}

#define A run->r[op->rs1]
#define B run->r[op->rs2]
#define I op->imm

/* A push enters EX1 in `e`; false if it has to wait there. */
static inline bool push(wg_tile *t, unsigned core, wg_core_run *run, const wg_op *op, uint64_t e)
{
    uint32_t data[4] = {0}, pc = run->pc, address = WG_INSTRN_BUF_BASE;
    unsigned words = 1;
    if (op->code == WG_OP_PUSH) {
        words = wg_step_fuse(t, core, op, WG_LINE_OPS - (pc >> 2 & 3), data);
    } else { /* a word stored there */
        address = A + I;
        data[0] = B;
    }
    bool room = run->sq_count < WG_STORE_QUEUE;
    if (room) {
        wg_store *s = wg_sq_at(run, run->sq_count++);
        s->first = s->entered = e + 1;
        s->address = address;
        s->pc = pc;
        memcpy(s->data, data, sizeof data);
        s->mask = 0;
        s->path = WG_PATH_PUSH;
        s->bytes = (uint8_t)(4 * words);
        s->index = (uint8_t)(core - WG_CORE_T0);
    } else {
        run->ex1 = (wg_ex1){.entered = e,
                            .number = run->number,
                            .address = address,
                            .pc = pc,
                            .data = {data[0], data[1], data[2], data[3]},
                            .kind = WG_EX1_STORE,
                            .size = op->spare,
                            .rd = op->rd,
                            .path = WG_PATH_PUSH,
                            .bytes = (uint8_t)(4 * words),
                            .index = (uint8_t)(core - WG_CORE_T0)};
    }
    run->disturbed = e;
    run->pc = pc + 4 * words;
    run->pushes += words - 1;
    run->at = e + 1;
    wg_entered(run, e, op->rd, room ? e + 2 : WG_NEVER);
    return room;
}

/* As wg_step_branch(), for branches and for jumps that leave no return address. */
static inline void branch(wg_tile *t, unsigned core, const wg_op *op, uint64_t e)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const uint32_t pc = run->pc;
    const bool on = wg_predictor_on(t, core);
    bool taken = true, foreseen = on;
    if (op->code != WG_OP_JAL) {
        taken = wg_branch_taken(op->code, run->r[op->rs1], run->r[op->rs2]);
        foreseen = wg_predict_branch(k, on, pc, op->imm <= pc, taken);
    }
    wg_entered(run, e, WG_NO_DEST, e + 1);
    run->at = e + 1 + (foreseen ? 0u : t->timing->mispredict_bubble);
    run->pc = taken ? op->imm : pc + 4;
}

/*
 * Executes what enters EX1 before `stop`; returns when to go on, as wg_exec(), to which it leaves what it does not know
 * (then *other is set).
 */
static uint64_t execute(wg_tile *t, unsigned core, uint64_t stop, bool *other)
{
    enum { MOST = 16 /* instructions between two pushes: beyond, whole lines are faster */ };
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const uint64_t now = t->sched.now;
    unsigned left = MOST;
    const wg_icache_line *line = NULL;
    uint8_t *lru = NULL, way = 0;
    wg_begin_queue(run);
    while (run->at < stop) {
        if (!line || (line->tag ^ run->pc) & ~15u) {
            line = line_at(t, k, core, run->pc);
            if (!line)
                break;
            const uint32_t set = run->pc >> 4 & (t->arch->icache_bytes[core] / 32u - 1);
            lru = &run->lru[set];
            way = line != &k->icache[set * 2];
        }
        if (!left--)
            break;
        const wg_op *op = &line->op[run->pc >> 2 & 3];
        uint64_t e = wg_max64(run->at, run->retired[(run->number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
        bool unknown = false;
        if (op->rs3 ||
            !wg_operand_quick(run, run->dests, run->number, op->rs1, t->arch->forward_writers, &e, &unknown) ||
            !wg_operand_quick(run, run->dests, run->number, op->rs2, t->arch->forward_writers, &e, &unknown) ||
            e >= stop)
            break;
        bool branches = false, pushes = false;
        uint32_t value = 0;
        switch ((wg_op_code)op->code) {
#define ALU(name, expression) \
    case WG_OP_##name: \
        value = (expression); \
        break;
#define MULTIPLY(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
        case WG_OP_PUSH:
            left = MOST;
            pushes = true;
            break;
        case WG_OP_STORE: /* of a word to the thread's instruction buffer */
            left = MOST;
            pushes = true;
            *other = op->spare != 2 || ((A + I) ^ WG_INSTRN_BUF_BASE) & ~0xFFFCu;
            break;
        case WG_OP_BEQ:
        case WG_OP_BNE:
        case WG_OP_BLT:
        case WG_OP_BGE:
        case WG_OP_BLTU:
        case WG_OP_BGEU:
        case WG_OP_JAL:
            branches = true;
            *other = op->imm == run->pc || op->rd != WG_REG_SINK;
            break;
        default: *other = true; break;
        }
        if (*other)
            break;
        if (e > now && k->saved_at == WG_NEVER)
            wg_core_checkpoint(t, core);
        *lru = way;
        if (branches) {
            branch(t, core, op, e);
        } else if (!pushes) {
            run->r[op->rd] = value;
            wg_entered(run, e, op->rd, e + 1);
            run->at = e + 1;
            run->pc += 4;
        } else {
            if (!run->sq_count) /* others will see it: run no further than that */
                stop = wg_min64(stop, wg_max64(run->mux_free, e + 2));
            if (!push(t, core, run, op, e))
                return WG_NEVER;
        }
    }
    if (run->at >= stop)
        return run->at;
    *other = true;
    return wg_exec(t, core, stop);
}
#undef A
#undef B
#undef I

void wg_push_pipeline(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const uint64_t now = t->sched.now;
    uint64_t next = WG_NEVER;
    run->at = wg_max64(run->at, now);
    k->solo_until = 0;
    bool other = false;
    if (!run->ex1.kind) {
        uint64_t stop = wg_min64(t->limit, now + WG_RUN_AHEAD);
        if (run->sq_count)
            stop = wg_min64(stop, head_leaves(t, core, run));
        next = execute(t, core, wg_max64(stop, now + 1), &other);
        if (run->halt)
            next = WG_NEVER;
    }
    if (other) {
        next = wg_min64(next, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
    } else {
        /* What waits in EX1 finds the queue full until its first entry leaves. */
        if (run->ex1.kind && run->sq_count < WG_STORE_QUEUE)
            next = run->ex1.entered + 1;
        if (run->sq_count)
            next = wg_min64(next, head_leaves(t, core, run));
    }
    wg_wake_at(&t->sched, WG_AGENT_CORE_B + core, wg_max64(next, now + 1));
    k->solo_tick = t->sched.next[WG_AGENT_CORE_B + core];
}
