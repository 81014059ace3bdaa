/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A T core that feeds its thread: its store queue holds pushes, nothing else is under way, and what it executes between
 * them are single-cycle instructions and branches. Most of its ticks find the same: a request has left its path or been
 * taken, so one store moves up, one instruction goes on.
 *
 *     EX1 ── store queue ── path to the first FIFO        (phase I: from the right to the left)
 *
 * It is the same as emit() and pipeline() in core.c, of which these are the parts that such a core needs; whatever is
 * more than that is left to them, or to wg_exec(). Phase J is run right behind phase I: what is done of it is private.
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

/* When the first of the queue, a push, leaves; WG_NEVER while its path is full: the region's progress wakes it. */
static inline uint64_t head_leaves(const wg_core_run *run, bool room, uint64_t now)
{
    return room ? wg_max64(wg_max64(run->mux_free, wg_sq_peek(run, 0)->entered + 1), now + 1) : WG_NEVER;
}

/* The line that holds pc, if nothing is special about it. */
static inline const wg_icache_line *line_at(const wg_core *k, uint32_t sets, uint32_t pc)
{
    const uint32_t tag = (pc & ~15u) | WG_LINE_VALID;
    const wg_icache_line *line = &k->icache[(pc >> 4 & (sets - 1)) * 2];
    if (line->tag != tag && (++line)->tag != tag)
        return NULL;
    return line->checked == k->epoch ? line : NULL;
}
static inline uint32_t sets_of(const wg_tile *t, unsigned core) { return t->arch->icache_bytes[core] / 32u; }

/* A push becomes the last of the store queue; returns the place of its data. */
static inline uint32_t *enqueue(wg_core_run *run, uint64_t at, uint32_t address, uint32_t pc, uint8_t bytes,
                                uint8_t thread)
{
    wg_store *s = wg_sq_at(run, run->sq_count++);
    __asm__("" : "+r"(s)); /* else it is computed again and again */
    s->first = s->entered = at;
    s->address = address;
    s->pc = pc;
    s->mask = 0;
    s->path = WG_PATH_PUSH;
    s->bytes = bytes;
    s->index = thread;
    return s->data;
}

/* A push has to wait in EX1; returns the place of its data. */
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

/* The words of a push: the first, and those of the instructions behind it. */
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
    run->at = now; /* it could not have been later */
    run->filled[slot] = now + 1;
    run->retired[slot] = wg_max64(before, now) + 1;
}

/* A store leaves: as wg_memory_emit(). */
static inline void leave(wg_tile *t, unsigned core, wg_lane *lane, const wg_store *s, uint64_t now)
{
    wg_memory *m = &t->regions.memory;
    const unsigned thread = core - WG_CORE_T0;
    wg_request *req = &lane->queue[(lane->head + lane->count) % WG_LANE_DEPTH];
    const uint32_t address = s->address, pc = s->pc;
    const uint8_t bytes = s->bytes;
    if (req->path != WG_PATH_PUSH) /* the rest is the same in all of them */
        *req =
            (wg_request){.kind = WG_REQ_WRITE, .path = WG_PATH_PUSH, .core = (uint8_t)core, .index = (uint8_t)thread};
    req->address = address;
    req->pc = pc;
    memcpy(req->data, s->data, sizeof req->data);
    req->bytes = bytes;
    m->emitted[core]++;
    t->poll.disturbed = now; /* as wg_poll_disturb() */
    t->poll.endless = false;
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

/*
 * Mostly the next instruction is a push as well, and the queue is full again: it enters EX1 in this cycle and stays
 * there. False if it is not so simple.
 */
static inline bool another(const wg_tile *t, wg_core *k, unsigned core, const wg_icache_line *line, uint64_t now)
{
    wg_core_run *run = &k->run;
    const uint64_t number = run->number;
    const uint32_t pc = run->pc;
    const wg_op *op = &line->op[pc >> 2 & 3];
    if (op->code != WG_OP_PUSH || run->sq_count != WG_STORE_QUEUE || run->at != now || !run->queued ||
        run->retired[(number - WG_RETIRE_QUEUE) % WG_RETIRE_RING] > now || run->lru[line->set] != line->way)
        return false;
    const unsigned words = wg_step_fuse(t, k, core, op);
    fill(stay(run, op, now, number, WG_INSTRN_BUF_BASE, pc, words, (uint8_t)(core - WG_CORE_T0)), op->imm, op, words);
    run->stored = run->last = now;
    run->pushes += words - 1;
    run->dests = run->dests << 8 | op->rd;
    run->number = number + 1;
    run->pc = pc + 4 * words;
    return true;
}

#define A run->r[op->rs1]
#define B run->r[op->rs2]
#define I op->imm

/*
 * Executes what enters EX1 before `stop`, from `line` on, and says in *next when to go on. False if it comes to
 * something it does not know: wg_exec() does.
 */
__attribute__((noinline)) static bool execute(wg_tile *t, wg_core *k, unsigned core, const wg_icache_line *line,
                                              uint64_t stop, uint64_t *next)
{
    enum { MOST = 16 /* instructions between two pushes: beyond, whole lines are faster */ };
    wg_core_run *run = &k->run;
    wg_past *past = &k->past;
    const uint64_t now = t->sched.now;
    const uint8_t thread = (uint8_t)(core - WG_CORE_T0);
    const unsigned forward_writers = t->arch->forward_writers;
    const uint32_t sets = sets_of(t, core);
    if (!run->queued)
        wg_begin_queue(run);
    /* What every instruction changes is kept at hand. No load is under way: it is known when each retires. */
    uint64_t at = run->at, number = run->number, dests = run->dests, last = run->last;
    uint64_t retires = run->retired[(number - 1) % WG_RETIRE_RING]; /* the newest */
    uint32_t pc = run->pc;
    bool noted = k->saved_at != WG_NEVER && k->noted;
    uint64_t ahead = k->saved_at != WG_NEVER ? WG_NEVER : now; /* the first to enter EX1 later than that is ahead */
    /* Before this instruction there is nothing to look after. */
    uint64_t behind = number + MOST, due = noted ? wg_min64(behind, past->number + WG_PAST) : behind;
    if (run->lru[line->set] != line->way)
        due = number;
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
        if ((line->tag ^ pc) & ~15u) {
            line = line_at(k, sets, pc);
            if (!line)
                break;
            if (run->lru[line->set] != line->way)
                due = number;
        }
        const wg_op *op = &line->op[pc >> 2 & 3];
        uint64_t e = wg_max64(at, run->retired[(number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
        bool unknown = false;
        if ((op->rs1 && !wg_operand_quick(run, dests, number, op->rs1, forward_writers, &e, &unknown)) ||
            (op->rs2 && !wg_operand_quick(run, dests, number, op->rs2, forward_writers, &e, &unknown)))
            break;
        if (e >= stop)
            break;
        if (e > ahead) {
            past->at = at;
            past->last = last;
            past->stored = run->stored;
            past->number = number;
            past->pushes = run->pushes;
            past->dests = dests;
            past->pc = pc;
            past->history = run->history;
            past->stores = past->writes = 0;
            k->saved_at = now;
            k->reached = 0;
            k->undo_count = 0;
            k->noted = noted = true;
            ahead = WG_NEVER;
            due = wg_min64(due, number + WG_PAST);
        }
        if (number >= due) {
            if (number >= behind)
                break;
            wg_core_keep(k);
            noted = false;
            k->reached = e;
            run->lru[line->set] = line->way;
            due = behind;
        }
        uint32_t value, address = WG_INSTRN_BUF_BASE;
        unsigned words = 1;
        bool taken;
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
            words = wg_step_fuse(t, k, core, op);
            value = op->imm;
            goto push;
        case WG_OP_STORE: /* of a word to the thread's instruction buffer */
            address = A + I;
            if (op->spare != 2 || (address ^ WG_INSTRN_BUF_BASE) & ~0xFFFCu)
                goto more;
            value = B;
            goto push;
#define BRANCH(name, condition) \
    case WG_OP_##name: \
        taken = (condition); \
        goto branch;
#include "riscv/branch.inc"
#undef BRANCH
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
    branch:
        if (op->imm == pc)
            goto more;
        at = e + 1;
        if (!wg_predict_branch(k, wg_predictor_on(t, core), pc, op->imm <= pc, taken))
            at += t->timing->mispredict_bubble;
        ENTERED(WG_NO_DEST, e + 1);
        pc = taken ? op->imm : pc + 4;
        continue;
    push:
        run->stored = e;
        run->pushes += words - 1;
        uint32_t *data;
        if (run->sq_count < WG_STORE_QUEUE) {
            if (!run->sq_count) /* others will see it: run no further than that */
                stop = wg_min64(stop, wg_max64(run->mux_free, e + 2));
            data = enqueue(run, e + 1, address, pc, (uint8_t)(4 * words), thread);
            past->stores++;
            ENTERED(op->rd, e + 2);
            at = e + 1;
            behind = number + MOST;
            due = noted ? wg_min64(behind, past->number + WG_PAST) : behind;
        } else {
            data = stay(run, op, e, number, address, pc, words, thread);
            dests = dests << 8 | op->rd;
            number++;
            last = e;
            at = WG_NEVER;
        }
        fill(data, value, op, words);
        pc += 4 * words;
        if (at == WG_NEVER)
            goto put;
    }
more:
    run->at = at;
put:
    *next = at;
    run->number = number;
    run->dests = dests;
    run->last = last;
    run->pc = pc;
    return at >= stop;
#undef ENTERED
}
#undef A
#undef B
#undef I

typedef enum pushing { NOT, DONE, MORE } pushing;

/* Phase I of a core that feeds its thread, if it is one, and what of phase J is private. */
static inline pushing tick(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_lane *lane = &t->regions.memory.lane[core][WG_PATH_PUSH];
    __asm__("" : "+r"(k), "+r"(lane)); /* else they are computed again and again */
    wg_core_run *run = &k->run;
    const uint64_t now = t->sched.now;
    if (run->hindered | k->special | run->fetch[0].used | run->fetch[1].used)
        return NOT;
    if (wg_one_at_a_time(k) || wg_strongly_ordered(k))
        return NOT;
    bool ahead = wg_core_ahead(t, k);
    if (ahead && !(k->noted && run->sq_count > k->past.stores)) {
        /* It ran ahead, and now there is room for the store that had to wait: as in emit(). */
        wg_core_keep(k);
        if (!k->saved.sq_count || wg_sq_peek(&k->saved, 0)->path != WG_PATH_PUSH || !has_room(t, lane))
            return NOT;
        wg_core_sync(t, core);
        if (run->hindered | run->fetch[0].used | run->fetch[1].used)
            return NOT;
        t->sched.next[WG_AGENT_CORE_B + core] = WG_NEVER; /* it is ticked just now */
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
        const wg_icache_line *line = line_at(k, sets_of(t, core), run->pc);
        if (!line || line->op[run->pc >> 2 & 3].code != WG_OP_PUSH)
            return NOT;
    }
    if (!ahead)
        k->saved_at = WG_NEVER;
    const wg_ex1 *x = &run->ex1;
    const bool enters = waits && x->entered < now;
    if (run->sq_count && run->mux_free <= now && head->entered < now && has_room(t, lane)) {
        leave(t, core, lane, head, now);
        run->mux_free = now + 1;
        if (enters && run->sq_count == WG_STORE_QUEUE) { /* in the very place that becomes free */
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
    const bool room = has_room(t, lane);
    uint64_t next = WG_NEVER;
    if (run->at < now)
        run->at = now;
    if (run->sq_count && head->path != WG_PATH_PUSH)
        return MORE;
    if (!run->ex1.kind) {
        const wg_icache_line *line = line_at(k, sets_of(t, core), run->pc);
        if (!line)
            return MORE;
        if (!another(t, k, core, line, now)) {
            uint64_t stop = wg_min64(t->limit, now + WG_RUN_AHEAD);
            if (run->sq_count)
                stop = wg_min64(stop, head_leaves(run, room, now));
            if (!execute(t, k, core, line, wg_max64(stop, now + 1), &next))
                return MORE;
        }
    }
    /* What waits in EX1 finds the queue full until its first entry leaves. */
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
    k->solo_until = 0;
    uint64_t stop = wg_fast(t, WG_FAST_AHEAD) ? wg_max64(wg_min64(t->limit, now + WG_RUN_AHEAD), now + 1) : now + 1;
    uint64_t next = k->run.ex1.kind ? WG_NEVER : wg_exec(t, core, stop);
    if (k->run.halt)
        next = WG_NEVER;
    next = wg_min64(next, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
    wg_wake_at(&t->sched, WG_AGENT_CORE_B + core, wg_max64(next, now + 1));
    k->solo_tick = t->sched.next[WG_AGENT_CORE_B + core];
}
