/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A T core that feeds its thread: its store queue holds pushes, nothing else is under way, and what it executes between
 * them are single-cycle instructions and branches. Most of its ticks find the same: a request has left its path or been
 * taken, so one store moves up, one instruction goes on.
 *
 *     EX1 ── store queue ── path to the first FIFO        (phase I: from the right to the left)
 *
 * It is the same as emit() and pipeline() in core.c, of which these are the parts that such a core needs; whatever is more
 * than that is left to them, or to wg_exec(). Phase J is run right behind phase I: what is done of it here is private.
 *
 * When its path is full it runs ahead up to the next push, by a few instructions, and those are noted one by one
 * (wg_past). A store that leaves meanwhile does not disturb them: they do not know of the queue, but for a push that
 * found it full, and that one is the last, still to come.
 */
#include "riscv/lsu.h"
#include "riscv/pipeline.h"

/* As wg_lsu_room() has it. */
static inline bool has_room(const wg_tile *t, unsigned core)
{
    return t->regions.memory.lane[core][WG_PATH_PUSH].count <= t->timing->path[WG_PATH_PUSH].travel;
}

/* When the first of the queue, a push, leaves; WG_NEVER while its path is full: the region's progress wakes the core. */
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

/* A push becomes the last of the store queue. */
static inline void enqueue(wg_core_run *run, uint64_t at, uint32_t address, uint32_t pc, const uint32_t data[4],
                           uint8_t bytes, uint8_t thread)
{
    wg_store *s = wg_sq_at(run, run->sq_count++);
    s->first = s->entered = at;
    s->address = address;
    s->pc = pc;
    memcpy(s->data, data, sizeof s->data);
    s->mask = 0;
    s->path = WG_PATH_PUSH;
    s->bytes = bytes;
    s->index = thread;
}

/* The push in EX1, the newest instruction, enters the store queue, if it is not full. */
static inline void enter(wg_core_run *run, uint64_t now)
{
    const wg_ex1 *x = &run->ex1;
    if (!x->kind || x->entered >= now || run->sq_count == WG_STORE_QUEUE)
        return;
    enqueue(run, now, x->address, x->pc, x->data, x->bytes, x->index);
    run->ex1.kind = WG_EX1_NONE;
    run->at = wg_max64(run->at, now);
    wg_fill_retire(run, run->number - 1, now + 1);
}

/* The first of the queue leaves: as wg_memory_emit(). */
static inline void leave(wg_tile *t, unsigned core, wg_core_run *run)
{
    wg_memory *m = &t->regions.memory;
    wg_lane *lane = &m->lane[core][WG_PATH_PUSH];
    const wg_store *s = wg_sq_peek(run, 0);
    const unsigned at = (lane->head + lane->count) % WG_LANE_DEPTH, thread = s->index;
    wg_request req = {.address = s->address,
                      .pc = s->pc,
                      .kind = WG_REQ_WRITE,
                      .path = WG_PATH_PUSH,
                      .bytes = s->bytes,
                      .core = (uint8_t)core,
                      .index = s->index};
    memcpy(req.data, s->data, sizeof req.data);
    wg_sq_pop(run);
    run->mux_free = t->sched.now + 1;
    if (__builtin_expect(t->perturbed, 0)) {
        wg_memory_emit(t, &req);
        return;
    }
    m->emitted[core]++;
    req.seen_at = wg_max64(t->sched.now + t->timing->path[WG_PATH_PUSH].travel, lane->last_seen_at);
    lane->last_seen_at = req.seen_at;
    t->frontend[thread].ttsync.emitted += t->arch->auto_ttsync;
    lane->queue[at] = req;
    if (lane->count++)
        return; /* those before it have an appointment, or wait for room */
    lane->retry_at = 0;
    lane->why.reason = WG_STALL_NONE;
    m->active[core] |= 1u << WG_PATH_PUSH;
    wg_wake_at(&t->sched, WG_AGENT_PUSHES, req.seen_at);
}

#define A run->r[op->rs1]
#define B run->r[op->rs2]
#define I op->imm

/*
 * Executes what enters EX1 before `stop`, and says in *next when to go on. False if it comes to something it does not
 * know: wg_exec() does.
 */
static bool execute(wg_tile *t, unsigned core, uint64_t stop, uint64_t *next)
{
    enum { MOST = 16 /* instructions between two pushes: beyond, whole lines are faster */ };
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    wg_past *past = &k->past;
    const uint64_t now = t->sched.now;
    const uint8_t thread = (uint8_t)(core - WG_CORE_T0);
    const wg_icache_line *line = NULL;
    uint8_t *lru = NULL, way = 0;
    unsigned left = MOST;
    bool known = true;
    wg_begin_queue(run);
    /* What every instruction changes is kept at hand. No load is under way: it is known when each retires. */
    uint64_t at = run->at, number = run->number, dests = run->dests, last = run->last;
    uint32_t pc = run->pc;
    bool ahead = k->saved_at != WG_NEVER, noted = ahead && k->noted;
#define ENTERED(dest_, filled_) \
    do { \
        const uint64_t full = (filled_), before = run->retired[(number - 1) % WG_RETIRE_RING]; \
        run->filled[number % WG_RETIRE_RING] = full; \
        run->retired[number % WG_RETIRE_RING] = wg_max64(before + 1, full); \
        dests = dests << 8 | (dest_); \
        number++; \
        last = e; \
    } while (0)
    while (at < stop) {
        if (!line || (line->tag ^ pc) & ~15u) {
            line = line_at(t, k, core, pc);
            if (!line)
                break;
            const uint32_t set = pc >> 4 & (t->arch->icache_bytes[core] / 32u - 1);
            lru = &run->lru[set];
            way = line != &k->icache[set * 2];
        }
        const wg_op *op = &line->op[pc >> 2 & 3];
        uint64_t e = wg_max64(at, run->retired[(number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
        bool unknown = false, branches = false, pushes = false;
        uint32_t value = 0;
        if (!left-- || op->rs3 ||
            !wg_operand_quick(run, dests, number, op->rs1, t->arch->forward_writers, &e, &unknown) ||
            !wg_operand_quick(run, dests, number, op->rs2, t->arch->forward_writers, &e, &unknown) || e >= stop)
            break;
        switch ((wg_op_code)op->code) {
#define ALU(name, expression) \
    case WG_OP_##name: \
        value = (expression); \
        break;
#define MULTIPLY(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
        case WG_OP_PUSH: pushes = true; break;
        case WG_OP_STORE: /* of a word to the thread's instruction buffer */
            pushes = true;
            known = op->spare == 2 && !(((A + I) ^ WG_INSTRN_BUF_BASE) & ~0xFFFCu);
            break;
#define BRANCH(name, condition) case WG_OP_##name:
#include "riscv/branch.inc"
#undef BRANCH
        case WG_OP_JAL:
            branches = true;
            known = op->imm != pc && op->rd == WG_REG_SINK;
            break;
        default: known = false; break;
        }
        if (!known)
            break;
        if (e > now) {
            if (!ahead) {
                *past = (wg_past){.at = at,
                                  .last = last,
                                  .disturbed = run->disturbed,
                                  .number = number,
                                  .pushes = run->pushes,
                                  .dests = dests,
                                  .pc = pc,
                                  .history = run->history};
                k->saved_at = now;
                k->undo_count = 0;
                k->noted = noted = ahead = true;
            }
            if (noted && (number - past->number == WG_PAST || *lru != way)) {
                wg_core_keep(k);
                noted = false;
            }
        }
        *lru = way;
        if (branches) { /* as wg_step_branch() */
            const bool on = wg_predictor_on(t, core);
            bool taken = true, foreseen = on;
            if (op->code != WG_OP_JAL) {
                taken = wg_branch_taken(op->code, A, B);
                foreseen = wg_predict_branch(k, on, pc, op->imm <= pc, taken);
            }
            ENTERED(WG_NO_DEST, e + 1);
            at = e + 1 + (foreseen ? 0u : t->timing->mispredict_bubble);
            pc = taken ? op->imm : pc + 4;
            continue;
        }
        at = e + 1;
        if (!pushes) {
            if (noted) {
                past->rd[past->writes] = op->rd;
                past->old[past->writes++] = run->r[op->rd];
            }
            run->r[op->rd] = value;
            ENTERED(op->rd, e + 1);
            pc += 4;
            continue;
        }
        uint32_t data[4] = {0}, address = WG_INSTRN_BUF_BASE, from = pc;
        unsigned words = 1;
        if (op->code == WG_OP_PUSH) {
            words = wg_step_fuse(t, core, op, WG_LINE_OPS - (pc >> 2 & 3), data);
        } else { /* a word stored there */
            address = A + I;
            data[0] = B;
        }
        left = MOST;
        run->disturbed = e;
        run->pushes += words - 1;
        pc += 4 * words;
        if (run->sq_count < WG_STORE_QUEUE) {
            if (!run->sq_count) /* others will see it: run no further than that */
                stop = wg_min64(stop, wg_max64(run->mux_free, e + 2));
            enqueue(run, e + 1, address, from, data, (uint8_t)(4 * words), thread);
            past->stores++;
            ENTERED(op->rd, e + 2);
        } else {
            wg_ex1 *x = &run->ex1; /* it has to wait there */
            x->entered = e;
            x->number = number;
            x->address = address;
            x->pc = from;
            memcpy(x->data, data, sizeof data);
            x->kind = WG_EX1_STORE;
            x->size = op->spare;
            x->rd = op->rd;
            x->op = 0;
            x->path = WG_PATH_PUSH;
            x->bytes = (uint8_t)(4 * words);
            x->index = thread;
            ENTERED(op->rd, WG_NEVER);
            at = WG_NEVER;
            break;
        }
    }
#undef ENTERED
    run->number = number;
    run->dests = dests;
    run->last = last;
    run->pc = pc;
    *next = at;
    run->at = run->ex1.kind ? last + 1 : at;
    return at >= stop;
}
#undef A
#undef B
#undef I

wg_pushing wg_push_tick(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const uint64_t now = t->sched.now;
    if (core < WG_CORE_T0 || run->halt | k->solo_saved | run->loads | run->fetch[0].used | run->fetch[1].used |
                                 run->ordered | t->lockstep | k->stepping | k->breakpoints | k->slow)
        return WG_PUSHING_NOT;
    if ((WG_EVENTS && t->watched) || wg_one_at_a_time(k) || wg_strongly_ordered(k))
        return WG_PUSHING_NOT;
    bool ahead = k->saved_at != WG_NEVER && run->last >= now;
    if (ahead && !(k->noted && run->sq_count > k->past.stores)) {
        /* It ran ahead, and now there is room for the store that had to wait: as in emit(). */
        wg_core_keep(k);
        if (!k->saved.sq_count || wg_sq_peek(&k->saved, 0)->path != WG_PATH_PUSH || !has_room(t, core))
            return WG_PUSHING_NOT;
        wg_core_sync(t, core);
        if (run->halt | run->loads | run->fetch[0].used | run->fetch[1].used | run->ordered)
            return WG_PUSHING_NOT;
        t->sched.next[WG_AGENT_CORE_B + core] = WG_NEVER; /* it is ticked just now */
        ahead = false;
    }
    if (run->ex1.kind && (run->ex1.kind != WG_EX1_STORE || run->ex1.path != WG_PATH_PUSH))
        return WG_PUSHING_NOT;
    if (run->sq_count) {
        if (wg_sq_peek(run, 0)->path != WG_PATH_PUSH)
            return WG_PUSHING_NOT;
    } else if (!run->ex1.kind) {
        const wg_icache_line *line = line_at(t, k, core, run->pc);
        if (!line || line->op[run->pc >> 2 & 3].code != WG_OP_PUSH)
            return WG_PUSHING_NOT;
    }
    if (!ahead)
        k->saved_at = WG_NEVER;
    enter(run, now);
    if (run->sq_count && run->mux_free <= now && wg_sq_peek(run, 0)->entered < now && has_room(t, core)) {
        leave(t, core, run);
        enter(run, now); /* room was made for it in this very cycle */
    }
    /* Phase J. */
    uint64_t next = WG_NEVER;
    run->at = wg_max64(run->at, now);
    if (run->sq_count && wg_sq_peek(run, 0)->path != WG_PATH_PUSH)
        return WG_PUSHING_MORE;
    if (!run->ex1.kind) {
        uint64_t stop = wg_min64(t->limit, now + WG_RUN_AHEAD);
        if (run->sq_count)
            stop = wg_min64(stop, head_leaves(t, core, run));
        if (!execute(t, core, wg_max64(stop, now + 1), &next))
            return WG_PUSHING_MORE;
    }
    /* What waits in EX1 finds the queue full until its first entry leaves. */
    if (run->ex1.kind && run->sq_count < WG_STORE_QUEUE)
        next = run->ex1.entered + 1;
    if (run->sq_count)
        next = wg_min64(next, head_leaves(t, core, run));
    wg_wake_at(&t->sched, WG_AGENT_CORE_B + core, wg_max64(next, now + 1));
    return WG_PUSHING_DONE;
}

void wg_push_more(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    const uint64_t now = t->sched.now;
    k->solo_until = 0;
    uint64_t stop = wg_max64(wg_min64(t->limit, now + WG_RUN_AHEAD), now + 1);
    uint64_t next = k->run.ex1.kind ? WG_NEVER : wg_exec(t, core, stop);
    if (k->run.halt)
        next = WG_NEVER;
    next = wg_min64(next, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
    wg_wake_at(&t->sched, WG_AGENT_CORE_B + core, wg_max64(next, now + 1));
    k->solo_tick = t->sched.next[WG_AGENT_CORE_B + core];
}
