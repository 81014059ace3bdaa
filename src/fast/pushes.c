/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A T core that feeds its thread: its store queue holds pushes, nothing else is in flight, and between pushes it executes
 * one-cycle instructions and branches. Most of its ticks are alike: a request has left the path, so one store moves up and
 * one instruction enters EX1.
 *
 *     EX1 ── store queue ── path to the first FIFO        (phase I works from right to left)
 *
 * These are fast paths of emit() and pipeline() in core.c; anything else is left to those, or to wg_exec(). Phase J runs
 * right after phase I: it is private up to here.
 *
 * When its path is full, the core runs ahead to the next push, by a few instructions, which are logged one by one (wg_past).
 * A store that leaves meanwhile needs no rollback: none of them depends on the queue, but for a last push that found it full.
 */
#include "fast/cores.h"

/* As wg_memory_room(). */
static inline bool has_room(const wg_tile *t, const wg_request_queue *queue)
{
    return queue->count <= t->timing->path[WG_PATH_PUSH].travel;
}

/* When the first queued store, a push, leaves; WG_NEVER while its path is full: the region wakes the core. */
static inline uint64_t head_leaves(const wg_core_run *run, bool room, uint64_t now)
{
    return room ? wg_max64(wg_max64(run->mux_free, wg_sq_peek(run, 0)->entered + 1), now + 1) : WG_NEVER;
}

static inline uint32_t sets_of(const wg_tile *t, unsigned core) { return t->spec->core[core].icache_bytes / 32u - 1; }

/* Appends a push to the store queue; returns where its data go. */
static inline uint32_t *enqueue(wg_core_run *run, uint64_t at, uint32_t address, uint32_t pc, uint8_t bytes,
                                uint8_t thread)
{
    wg_store *s = wg_sq_at(run, run->sq_count++);
    __asm__("" : "+r"(s)); /* keeps the compiler from recomputing it */
    s->first = s->entered = at;
    s->address = address;
    s->pc = pc;
    s->mask = 0;
    s->path = WG_PATH_PUSH;
    s->bytes = bytes;
    s->index = thread;
    return s->data;
}

/* A push waits in EX1; returns where its data go. */
static inline uint32_t *stay(wg_core_run *run, const wg_op *op, uint64_t e, uint64_t number, uint32_t address,
                             uint32_t pc, unsigned words, uint8_t thread)
{
    wg_ex1 *x = &run->ex1;
    x->entered = e;
    x->number = number;
    x->address = address;
    x->pc = pc;
    x->kind = WG_EX1_STORE;
    x->size = op->spare;
    x->rd = op->rd;
    x->op = 0;
    x->path = WG_PATH_PUSH;
    x->bytes = (uint8_t)(4 * words);
    x->index = thread;
    run->filled[number % WG_RETIRE_RING] = run->retired[number % WG_RETIRE_RING] = WG_NEVER;
    run->at = e + 1;
    return x->data;
}

/* The words of a push: the first, and those of the instructions fused with it. */
static inline void fill(uint32_t data[4], uint32_t first, const wg_op *op, unsigned words)
{
    memset(data, 0, 4 * sizeof *data);
    data[0] = first;
    for (unsigned i = 1; i < words; i++)
        data[i] = op[i].imm;
}

/* The push that waited in EX1, the newest instruction, has entered the store queue. */
static inline void entered(wg_core_run *run, uint64_t now)
{
    const uint64_t before = run->retired[(run->number - 2) % WG_RETIRE_RING];
    const unsigned slot = (unsigned)((run->number - 1) % WG_RETIRE_RING);
    run->ex1.kind = WG_EX1_NONE;
    run->at = now; /* never later than this */
    run->filled[slot] = now + 1;
    run->retired[slot] = wg_max64(before, now) + 1;
}

/* A store leaves; as wg_memory_emit(). */
static inline void leave(wg_tile *t, unsigned core, wg_request_queue *queue, const wg_store *s, uint64_t now)
{
    wg_memory *m = &t->regions.memory;
    const unsigned thread = core - WG_CORE_T0;
    wg_request *req = &queue->ring[(queue->head + queue->count) % WG_QUEUE_DEPTH];
    const uint32_t address = s->address, pc = s->pc;
    const uint8_t bytes = s->bytes;
    if (req->path != WG_PATH_PUSH) /* the other members are equal in all pushes */
        *req =
            (wg_request){.kind = WG_REQ_WRITE, .path = WG_PATH_PUSH, .core = (uint8_t)core, .index = (uint8_t)thread};
    req->address = address;
    req->pc = pc;
    memcpy(req->data, s->data, sizeof req->data);
    req->bytes = bytes;
    m->emitted[core]++;
    t->poll.disturbed = now; /* as wg_poll_disturb() */
    t->poll.endless = false;
    const uint64_t seen_at = wg_max64(now + t->timing->path[WG_PATH_PUSH].travel, queue->last_seen_at);
    req->seen_at = queue->last_seen_at = seen_at;
    t->frontend[thread].ttsync.emitted += t->arch->auto_ttsync;
    if (queue->count++)
        return; /* an older request has the appointment or is blocked */
    queue->retry_at = 0;
    queue->why.reason = WG_STALL_NONE;
    m->active[core] |= 1u << WG_PATH_PUSH;
    wg_wake_at(&t->sched, WG_AGENT_PUSHES, seen_at);
}

enum { MOST = 16 /* instructions between two pushes; for more, lines.c is faster */ };

typedef struct run_ahead {
    wg_cursor q;
    bool noted;          /* the run-ahead is logged in wg_past */
    uint64_t from;       /* an instruction that enters EX1 later than this is ahead of the clock */
    uint64_t behind;     /* at this instruction lines.c takes over */
    uint64_t look_after; /* at this instruction the log is full, or a line was entered that changes lru */
} run_ahead;

static inline run_ahead ahead_from(const wg_tile *t, const wg_core *k)
{
    const bool is_ahead = k->saved_at != WG_NEVER;
    run_ahead a = {.q = wg_cursor_of(&k->run),
                   .noted = is_ahead && k->noted,
                   .from = is_ahead ? WG_NEVER : t->sched.now,
                   .behind = k->run.number + MOST};
    a.look_after = a.noted ? wg_min64(a.behind, k->past.number + WG_PAST) : a.behind;
    return a;
}

/* The run-ahead begins. */
static inline void begin_past(wg_core *k, run_ahead *a, uint64_t now)
{
    wg_past *past = &k->past;
    past->at = a->q.at;
    past->last = a->q.last;
    past->stored = k->run.stored;
    past->number = a->q.number;
    past->pushes = k->run.pushes;
    past->dests = a->q.dests;
    past->pc = a->q.pc;
    past->history = k->run.history;
    past->stores = past->writes = 0;
    k->saved_at = now;
    k->reached = 0;
    k->undo_count = 0;
    k->noted = a->noted = true;
    a->from = WG_NEVER;
    a->look_after = wg_min64(a->look_after, a->q.number + WG_PAST);
}

/* A push enters the store queue, or stays in EX1. */
static inline void push(wg_core *k, run_ahead *a, const wg_op *op, uint64_t e, uint32_t address, uint32_t word,
                        unsigned words, uint8_t thread, uint64_t *stop)
{
    wg_core_run *run = &k->run;
    uint32_t *data;
    run->stored = e;
    run->pushes += words - 1;
    if (run->sq_count < WG_STORE_QUEUE) {
        if (!run->sq_count) /* do not run past its departure: others will see it */
            *stop = wg_min64(*stop, wg_max64(run->mux_free, e + 2));
        data = enqueue(run, e + 1, address, a->q.pc, (uint8_t)(4 * words), thread);
        k->past.stores++;
        wg_enter(run, &a->q, e, op->rd, e + 2);
        a->q.at = e + 1;
        a->behind = a->q.number + MOST;
        a->look_after = a->noted ? wg_min64(a->behind, k->past.number + WG_PAST) : a->behind;
    } else {
        data = stay(run, op, e, a->q.number, address, a->q.pc, words, thread);
        a->q.dests = a->q.dests << 8 | op->rd;
        a->q.number++;
        a->q.last = e;
        a->q.at = WG_NEVER;
    }
    fill(data, word, op, words);
    a->q.pc += 4 * words;
}

/* A push, branch or jump. False if it is another instruction. */
static inline bool feed(const wg_tile *t, wg_core *k, unsigned core, run_ahead *a, const wg_op *op, uint64_t e,
                        uint64_t *stop)
{
    wg_core_run *run = &k->run;
    const uint8_t thread = (uint8_t)(core - WG_CORE_T0);
    if (op->code == WG_OP_PUSH) {
        push(k, a, op, e, WG_INSTRN_BUF_BASE, op->imm, wg_step_fuse(t, k, core, op), thread, stop);
        return true;
    }
    if (op->code == WG_OP_STORE) { /* of a word to the thread's instruction buffer */
        const uint32_t address = run->r[op->rs1] + op->imm;
        if (op->spare != 2 || (address ^ WG_INSTRN_BUF_BASE) & ~0xFFFCu)
            return false;
        push(k, a, op, e, address, run->r[op->rs2], 1, thread, stop);
        return true;
    }
    const bool jumps = op->code == WG_OP_JAL && op->rd == WG_REG_SINK;
    const wg_predicts how = wg_predictor(t, core);
    if (op->imm == a->q.pc || (!jumps && !wg_is_branch(op->code)))
        return false;
    const bool taken = jumps || wg_branch_taken(op->code, run->r[op->rs1], run->r[op->rs2]);
    const bool foreseen = jumps ? wg_predict_jump(k, how, op, a->q.pc, op->imm)
                                : wg_predict_branch(k, how, a->q.pc, op->imm <= a->q.pc, taken);
    wg_enter(run, &a->q, e, WG_NO_DEST, e + 1);
    a->q.at = e + 1 + (foreseen ? 0u : t->timing->mispredict_bubble);
    a->q.pc = taken ? op->imm : a->q.pc + 4;
    return true;
}

/*
 * Executes what enters EX1 before `stop`, from `line` on; *next: when to go on. False if wg_exec() has to go on.
 */
__attribute__((noinline)) static bool execute(wg_tile *t, wg_core *k, unsigned core, const wg_icache_line *line,
                                              uint64_t stop, uint64_t *next)
{
    wg_core_run *run = &k->run;
    wg_past *past = &k->past;
    const unsigned forward_writers = t->arch->forward_writers;
    const uint32_t sets = sets_of(t, core);
    uint32_t value;
    if (!run->queued)
        wg_begin_queue(run);
    run_ahead a = ahead_from(t, k);
    if (run->lru[line->set] != line->way)
        a.look_after = a.q.number;
    while (a.q.at < stop) {
        if ((line->tag ^ a.q.pc) & ~15u) {
            line = wg_line_at(k, sets, a.q.pc);
            if (!line)
                break;
            if (run->lru[line->set] != line->way)
                a.look_after = a.q.number;
        }
        const wg_op *op = &line->op[a.q.pc >> 2 & 3];
        uint64_t e = wg_max64(a.q.at, run->retired[(a.q.number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
        bool unknown = false;
        if ((op->rs1 && !wg_operand_quick(run, a.q.dests, a.q.number, op->rs1, forward_writers, &e, &unknown)) ||
            (op->rs2 && !wg_operand_quick(run, a.q.dests, a.q.number, op->rs2, forward_writers, &e, &unknown)) ||
            e >= stop)
            break;
        if (e > a.from)
            begin_past(k, &a, t->sched.now);
        if (a.q.number >= a.look_after) {
            if (a.q.number >= a.behind)
                break;
            wg_core_keep(k);
            a.noted = false;
            k->reached = e;
            run->lru[line->set] = line->way;
            a.look_after = a.behind;
        }
        if (wg_alu(op, run->r, &value)) {
            if (a.noted) {
                past->rd[past->writes] = op->rd;
                past->old[past->writes++] = run->r[op->rd];
            }
            run->r[op->rd] = value;
            wg_enter(run, &a.q, e, op->rd, e + 1);
            a.q.at = e + 1;
            a.q.pc += 4;
        } else if (!feed(t, k, core, &a, op, e, &stop)) {
            break;
        }
    }
    *next = a.q.at;
    if (a.q.at == WG_NEVER)
        a.q.at = run->at; /* stay() has set it */
    wg_cursor_put(run, &a.q);
    return *next >= stop;
}

typedef enum pushing { NOT, DONE, MORE } pushing;

/* Phase I of a core that feeds its thread, if it is one, and the private part of phase J. */
static inline pushing tick(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_request_queue *queue = &t->regions.memory.queue[core][WG_PATH_PUSH];
    __asm__("" : "+r"(k), "+r"(queue)); /* keeps the compiler from recomputing them */
    wg_core_run *run = &k->run;
    const uint64_t now = t->sched.now;
    if (run->hindered | k->special | run->fetch[0].used | run->fetch[1].used)
        return NOT;
    if (wg_one_at_a_time(k) || wg_strongly_ordered(k))
        return NOT;
    bool ahead = wg_core_ahead(t, k);
    if (ahead && !(k->noted && run->sq_count > k->past.stores)) {
        /* The core ran ahead, and the blocked store has room again; as in emit(). */
        wg_core_keep(k);
        if (!k->saved.sq_count || wg_sq_peek(&k->saved, 0)->path != WG_PATH_PUSH || !has_room(t, queue))
            return NOT;
        wg_core_sync(t, core);
        if (run->hindered | run->fetch[0].used | run->fetch[1].used)
            return NOT;
        t->sched.next[WG_AGENT_CORE_B + core] = WG_NEVER; /* this is its tick */
        ahead = false;
    }
    wg_store *head = wg_sq_at(run, 0);
    __asm__("" : "+r"(head));
    const bool waits = run->ex1.kind;
    if (waits && (run->ex1.kind != WG_EX1_STORE || run->ex1.path != WG_PATH_PUSH))
        return NOT;
    if (run->sq_count) {
        if (head->path != WG_PATH_PUSH)
            return NOT;
    } else if (!waits) {
        const wg_icache_line *line = wg_line_at(k, sets_of(t, core), run->pc);
        if (!line || line->op[run->pc >> 2 & 3].code != WG_OP_PUSH)
            return NOT;
    }
    if (!ahead)
        k->saved_at = WG_NEVER;
    const wg_ex1 *x = &run->ex1;
    const bool enters = waits && x->entered < now;
    if (run->sq_count && run->mux_free <= now && head->entered < now && has_room(t, queue)) {
        leave(t, core, queue, head, now);
        run->mux_free = now + 1;
        if (enters && run->sq_count == WG_STORE_QUEUE) { /* it takes the freed slot */
            head->first = head->entered = now;
            head->address = x->address;
            head->pc = x->pc;
            memcpy(head->data, x->data, sizeof head->data);
            head->bytes = x->bytes;
            run->sq_head = (uint8_t)((run->sq_head + 1) % WG_STORE_QUEUE);
            entered(run, now);
        } else {
            wg_sq_pop(run);
        }
        head = wg_sq_at(run, 0);
    }
    if (enters && run->ex1.kind && run->sq_count < WG_STORE_QUEUE) {
        memcpy(enqueue(run, now, x->address, x->pc, x->bytes, x->index), x->data, sizeof x->data);
        entered(run, now);
    }
    /* Phase J. */
    const bool room = has_room(t, queue);
    uint64_t next = WG_NEVER;
    if (run->at < now)
        run->at = now;
    if (run->sq_count && head->path != WG_PATH_PUSH)
        return MORE;
    if (!run->ex1.kind) {
        const wg_icache_line *line = wg_line_at(k, sets_of(t, core), run->pc);
        if (!line)
            return MORE;
        uint64_t stop = wg_min64(t->limit, now + WG_RUN_AHEAD);
        if (run->sq_count)
            stop = wg_min64(stop, head_leaves(run, room, now));
        if (!execute(t, k, core, line, wg_max64(stop, now + 1), &next))
            return MORE;
    }
    /* A push in EX1 waits for the head of a full queue to leave. */
    if (run->ex1.kind && run->sq_count < WG_STORE_QUEUE)
        next = run->ex1.entered + 1;
    if (run->sq_count)
        next = wg_min64(next, head_leaves(run, room, now));
    if (next != WG_NEVER)
        wg_wake_at(&t->sched, WG_AGENT_CORE_B + core, wg_max64(next, now + 1));
    return DONE;
}

unsigned wg_push_ticks(wg_tile *t, unsigned due)
{
    for (unsigned left = due >> WG_CORE_T0 << WG_CORE_T0; left; left &= left - 1) {
        const unsigned core = (unsigned)__builtin_ctz(left);
        const pushing is = tick(t, core);
        t->fast_uses[WG_FAST_PUSHES] += is != NOT;
        if (is == DONE)
            due &= ~(1u << core);
        else if (is == MORE)
            due |= 1u << WG_CORES << core;
    }
    return due;
}

void wg_fast_push_more(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    const uint64_t now = t->sched.now;
    uint64_t stop = wg_fast(t, WG_FAST_AHEAD) ? wg_max64(wg_min64(t->limit, now + WG_RUN_AHEAD), now + 1) : now + 1;
    uint64_t next = k->run.ex1.kind ? WG_NEVER : wg_exec(t, core, stop);
    if (k->run.halt)
        next = WG_NEVER;
    next = wg_min64(next, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
    wg_wake_at(&t->sched, WG_AGENT_CORE_B + core, wg_max64(next, now + 1));
}
