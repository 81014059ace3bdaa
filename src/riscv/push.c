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
static inline bool has_room(const wg_tile *t, const wg_lane *lane)
{
    return lane->count <= t->timing->path[WG_PATH_PUSH].travel;
}

/* When the first of the queue, a push, leaves; WG_NEVER while its path is full: the region's progress wakes the core. */
static inline uint64_t head_leaves(const wg_tile *t, const wg_lane *lane, const wg_core_run *run)
{
    if (!has_room(t, lane))
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

/* The push that waits in EX1, the newest instruction, enters the store queue, if it can. */
static inline void enter(wg_core_run *run, uint64_t now)
{
    const wg_ex1 *x = &run->ex1;
    const uint64_t before = run->retired[(run->number - 2) % WG_RETIRE_RING];
    const unsigned slot = (unsigned)((run->number - 1) % WG_RETIRE_RING);
    if (x->entered >= now || run->sq_count == WG_STORE_QUEUE)
        return;
    enqueue(run, now, x->address, x->pc, x->data, x->bytes, x->index);
    run->ex1.kind = WG_EX1_NONE;
    run->at = now; /* it could not have been later */
    run->filled[slot] = now + 1;
    run->retired[slot] = wg_max64(before, now) + 1;
}

/* The first of the queue leaves: as wg_memory_emit(). */
static inline void leave(wg_tile *t, unsigned core, wg_lane *lane, wg_core_run *run, const wg_store *s)
{
    wg_memory *m = &t->regions.memory;
    const uint64_t now = t->sched.now;
    const unsigned thread = core - WG_CORE_T0;
    wg_request *req = &lane->queue[(lane->head + lane->count) % WG_LANE_DEPTH], other;
    if (__builtin_expect(t->perturbed, 0))
        req = &other;
    const uint32_t address = s->address, pc = s->pc;
    const uint8_t bytes = s->bytes;
    req->address = address;
    req->pc = pc;
    memcpy(req->data, s->data, sizeof req->data);
    req->kind = WG_REQ_WRITE;
    req->path = WG_PATH_PUSH;
    req->bytes = bytes;
    req->op = 0;
    req->core = (uint8_t)core;
    req->tag = 0;
    req->byte_mask = 0;
    req->index = (uint8_t)thread;
    req->overtakes = 0;
    req->rd = 0;
    wg_sq_pop(run);
    run->mux_free = now + 1;
    if (__builtin_expect(t->perturbed, 0)) {
        wg_memory_emit(t, req);
        return;
    }
    m->emitted[core]++;
    const uint64_t seen_at = wg_max64(now + t->timing->path[WG_PATH_PUSH].travel, lane->last_seen_at);
    req->seen_at = lane->last_seen_at = seen_at;
    t->frontend[thread].ttsync.emitted += t->arch->auto_ttsync;
    if (lane->count++)
        return; /* those before it have an appointment, or wait for room */
    lane->retry_at = 0;
    lane->why.reason = WG_STALL_NONE;
    m->active[core] |= 1u << WG_PATH_PUSH;
    wg_wake_at(&t->sched, WG_AGENT_PUSHES, seen_at);
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
    const unsigned forward_writers = t->arch->forward_writers;
    if (!run->queued)
        wg_begin_queue(run);
    /* What every instruction changes is kept at hand. No load is under way: it is known when each retires. */
    uint64_t at = run->at, number = run->number, dests = run->dests, last = run->last;
    uint64_t retires = run->retired[(number - 1) % WG_RETIRE_RING]; /* the newest */
    uint32_t pc = run->pc, here = ~pc;                              /* the line at hand */
    const wg_icache_line *line = NULL;
    bool ahead = k->saved_at != WG_NEVER, noted = ahead && k->noted;
    /* Before this instruction there is nothing to look after. */
    uint64_t behind = number + MOST, due = noted ? wg_min64(behind, past->number + WG_PAST) : behind;
#define ENTERED(dest_, filled_) \
    do { \
        const uint64_t full = (filled_); \
        retires = wg_max64(retires + 1, full); \
        run->filled[number % WG_RETIRE_RING] = full; \
        run->retired[number % WG_RETIRE_RING] = retires; \
        dests = dests << 8 | (dest_); \
        number++; \
        last = e; \
    } while (0)
    while (at < stop) {
        if ((here ^ pc) & ~15u) {
            line = line_at(t, k, core, pc);
            if (!line)
                break;
            here = pc;
            if (run->lru[line->set] != line->way)
                due = number;
        }
        const wg_op *op = &line->op[pc >> 2 & 3];
        uint64_t e = wg_max64(at, run->retired[(number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
        bool unknown = false;
        if ((op->rs1 | op->rs2) &&
            (!wg_operand_quick(run, dests, number, op->rs1, forward_writers, &e, &unknown) ||
             !wg_operand_quick(run, dests, number, op->rs2, forward_writers, &e, &unknown)))
            break;
        if (e >= stop)
            break;
        if (!ahead && e > now) {
            past->at = at;
            past->last = last;
            past->disturbed = run->disturbed;
            past->number = number;
            past->pushes = run->pushes;
            past->dests = dests;
            past->pc = pc;
            past->history = run->history;
            past->stores = past->writes = 0;
            k->saved_at = now;
            k->undo_count = 0;
            k->noted = noted = ahead = true;
            due = wg_min64(due, number + WG_PAST);
        }
        if (number >= due) {
            if (number >= behind)
                break;
            wg_core_keep(k);
            noted = false;
            run->lru[line->set] = line->way;
            due = behind;
        }
        uint32_t value, data[4] = {0}, address, from = pc;
        unsigned words = 1;
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
            address = WG_INSTRN_BUF_BASE;
            words = wg_step_fuse(t, core, op, data);
            goto push;
        case WG_OP_STORE: /* of a word to the thread's instruction buffer */
            address = A + I;
            if (op->spare != 2 || (address ^ WG_INSTRN_BUF_BASE) & ~0xFFFCu)
                goto more;
            data[0] = B;
            goto push;
#define BRANCH(name, condition) case WG_OP_##name:
#include "riscv/branch.inc"
#undef BRANCH
            if (op->imm == pc)
                goto more;
            bool taken = wg_branch_taken(op->code, A, B);
            bool foreseen = wg_predict_branch(k, wg_predictor_on(t, core), pc, op->imm <= pc, taken);
            ENTERED(WG_NO_DEST, e + 1);
            at = e + 1 + (foreseen ? 0u : t->timing->mispredict_bubble);
            pc = taken ? op->imm : pc + 4;
            continue;
        case WG_OP_JAL:
            if (op->imm == pc || op->rd != WG_REG_SINK)
                goto more;
            ENTERED(WG_NO_DEST, e + 1);
            at = e + 1 + (wg_predictor_on(t, core) ? 0u : t->timing->mispredict_bubble);
            pc = op->imm;
            continue;
        default: goto more;
        }
        if (noted) {
            past->rd[past->writes] = op->rd;
            past->old[past->writes++] = run->r[op->rd];
        }
        run->r[op->rd] = value;
        ENTERED(op->rd, e + 1);
        at = e + 1;
        pc += 4;
        continue;
    push:
        run->disturbed = e;
        run->pushes += words - 1;
        pc += 4 * words;
        if (run->sq_count < WG_STORE_QUEUE) {
            if (!run->sq_count) /* others will see it: run no further than that */
                stop = wg_min64(stop, wg_max64(run->mux_free, e + 2));
            enqueue(run, e + 1, address, from, data, (uint8_t)(4 * words), thread);
            past->stores++;
            ENTERED(op->rd, e + 2);
            at = e + 1;
            behind = number + MOST;
            due = noted ? wg_min64(behind, past->number + WG_PAST) : behind;
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
            run->at = e + 1;
            *next = WG_NEVER;
            goto put;
        }
    }
more:
    *next = run->at = at;
put:
    run->number = number;
    run->dests = dests;
    run->last = last;
    run->pc = pc;
    return *next >= stop;
#undef ENTERED
}
#undef A
#undef B
#undef I

wg_pushing wg_push_tick(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    wg_lane *lane = &t->regions.memory.lane[core][WG_PATH_PUSH];
    const uint64_t now = t->sched.now;
    if (core < WG_CORE_T0 || run->hindered | k->special | run->fetch[0].used | run->fetch[1].used | t->lockstep)
        return WG_PUSHING_NOT;
    if ((WG_EVENTS && t->watched) || wg_one_at_a_time(k) || wg_strongly_ordered(k))
        return WG_PUSHING_NOT;
    bool ahead = k->saved_at != WG_NEVER && run->last >= now;
    if (ahead && !(k->noted && run->sq_count > k->past.stores)) {
        /* It ran ahead, and now there is room for the store that had to wait: as in emit(). */
        wg_core_keep(k);
        if (!k->saved.sq_count || wg_sq_peek(&k->saved, 0)->path != WG_PATH_PUSH || !has_room(t, lane))
            return WG_PUSHING_NOT;
        wg_core_sync(t, core);
        if (run->hindered | run->fetch[0].used | run->fetch[1].used)
            return WG_PUSHING_NOT;
        t->sched.next[WG_AGENT_CORE_B + core] = WG_NEVER; /* it is ticked just now */
        ahead = false;
    }
    const wg_store *head = wg_sq_peek(run, 0);
    const bool waits = run->ex1.kind;
    if (waits && (run->ex1.kind != WG_EX1_STORE || run->ex1.path != WG_PATH_PUSH))
        return WG_PUSHING_NOT;
    if (run->sq_count) {
        if (head->path != WG_PATH_PUSH)
            return WG_PUSHING_NOT;
    } else if (!waits) {
        const wg_icache_line *line = line_at(t, k, core, run->pc);
        if (!line || line->op[run->pc >> 2 & 3].code != WG_OP_PUSH)
            return WG_PUSHING_NOT;
    }
    if (!ahead)
        k->saved_at = WG_NEVER;
    if (run->sq_count && run->mux_free <= now && head->entered < now && has_room(t, lane)) {
        leave(t, core, lane, run, head);
        head = wg_sq_peek(run, 0);
    }
    if (waits) /* if need be into the room that was made in this very cycle */
        enter(run, now);
    /* Phase J. */
    uint64_t next = WG_NEVER;
    if (run->at < now)
        run->at = now;
    if (run->sq_count && head->path != WG_PATH_PUSH)
        return WG_PUSHING_MORE;
    if (!run->ex1.kind) {
        uint64_t stop = wg_min64(t->limit, now + WG_RUN_AHEAD);
        if (run->sq_count)
            stop = wg_min64(stop, head_leaves(t, lane, run));
        if (!execute(t, core, wg_max64(stop, now + 1), &next))
            return WG_PUSHING_MORE;
    }
    /* What waits in EX1 finds the queue full until its first entry leaves. */
    if (run->ex1.kind && run->sq_count < WG_STORE_QUEUE)
        next = run->ex1.entered + 1;
    if (run->sq_count)
        next = wg_min64(next, head_leaves(t, lane, run));
    if (next != WG_NEVER)
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
