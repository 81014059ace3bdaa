/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several cores in loops through L1, in step: once the state of all of them has come back, only their results are worked
 * out.
 *
 *     back edge of one core ── the state of all as some rounds earlier, moved in time (and address)?
 *                                 └── yes: go through what was written down since, again and again
 *
 * What happens at L1 follows from the state between two cycles: pipelines, queues, L0 caches, when ports and banks are
 * free, whose turn it is, and how the addresses lie to each other. If all of that is as it was a period earlier, but for
 * the same number of cycles, and for each core the same number of bytes, in whole lines and the same distance of banks,
 * then the period repeats itself as long as branches go the same way, addresses move on as they did and nobody writes a
 * line that is in somebody else's cache. Each of these is looked at when its turn comes; a period in which one does not
 * hold is taken back, and core_groups.c goes on from its start.
 *
 * Not in here: a period in which an L0 cache empties itself, anything is learnt by a predictor, or anything goes another
 * way than the short ones of core_groups.c. Facts: as there.
 */
#include "fast/rounds.h"

enum { PERIOD = 4 /* rounds, at most */, PERIOD_CYCLES = 4096, SLACK = 24, TRIES = 6, PATIENCE = 255 };
enum { REMEMBERED = WG_RETIRE_QUEUE + 1 /* the last to have left the retire queue: the next leaves behind it */ };

/* ---- the same state again? --------------------------------------------------------------------------------- */

static void take_shot(const wg_tile *t, const crowd *w, rounds_shot *s)
{
    const wg_memory *mem = &t->regions.memory;
    s->now = t->sched.now;
    s->served = w->served;
    for (unsigned c = 0; c < WG_CORES; c++) {
        const wg_lane *lane = &mem->lane[c][WG_PATH_L1];
        s->run[c] = t->core[c].run;
        for (unsigned i = 0; i < lane->count; i++)
            s->queue[c][i] = lane->queue[(lane->head + i) % WG_LANE_DEPTH];
        s->last_seen_at[c] = lane->last_seen_at;
        s->retry_at[c] = lane->retry_at;
        s->emitted[c] = mem->emitted[c];
        s->lane_head[c] = lane->head;
        s->lane_count[c] = lane->count;
    }
    for (unsigned i = 0; i < WG_L1_CORE_PORTS; i++) {
        s->port_free[i] = mem->l1.port_free[WG_L1_CORE_PORT + i];
        s->turn[i] = mem->l1.turn[WG_L1_CORE_PORT + i];
    }
    memcpy(s->bank_free, mem->l1.bank_free, sizeof s->bank_free);
}

/* By how much the present state is later and further on than the shot's. */
typedef struct moves {
    uint64_t now, then, later; /* then: the shot's cycle */
    uint64_t number[WG_CORES];
    uint32_t further[WG_CORES];
    uint8_t turned[WG_CORES]; /* lines of a full L0 cache: by so many places */
} moves;

static inline uint64_t moved(uint64_t time, uint64_t later) { return time == WG_NEVER ? WG_NEVER : time + later; }

/* Times that have both passed make no difference any more. */
static inline bool same_time(const moves *v, uint64_t a, uint64_t b)
{
    return b == moved(a, v->later) || (a <= v->then && b <= v->now);
}

static bool same_pipeline(const moves *v, const wg_core_run *a, const wg_core_run *b, unsigned core)
{
    if (a->pc != b->pc || a->halt != b->halt || a->ordered || b->ordered || !b->queued || a->dests != b->dests ||
        b->fetch[0].used || b->fetch[1].used || a->fetch[0].used || a->fetch[1].used || !same_time(v, a->at, b->at))
        return false;
    for (unsigned i = 1; i <= REMEMBERED; i++) {
        unsigned x = (unsigned)((a->number - i) % WG_RETIRE_RING), y = (unsigned)((b->number - i) % WG_RETIRE_RING);
        if (!same_time(v, a->retired[x], b->retired[y]) || !same_time(v, a->filled[x], b->filled[y]))
            return false;
    }
    const wg_ex1 *x = &a->ex1, *y = &b->ex1;
    if (x->kind != y->kind)
        return false;
    if (!x->kind)
        return b->wait_e < v->now && a->wait_e < v->then;
    return x->kind == WG_EX1_LOAD && x->path == WG_PATH_L1 && y->path == WG_PATH_L1 &&
           y->entered == x->entered + v->later && y->number == x->number + v->number[core] &&
           y->address == x->address + v->further[core] && x->pc == y->pc && x->size == y->size && x->rd == y->rd &&
           a->wait_e != x->entered && b->wait_e != y->entered;
}

static bool same_queues(const moves *v, const wg_core_run *a, const wg_core_run *b, unsigned core)
{
    const uint32_t further = v->further[core];
    if (a->sq_count != b->sq_count || a->loads != b->loads || !same_time(v, a->mux_free, b->mux_free))
        return false;
    for (unsigned i = 0; i < WG_LOADS; i++) {
        const wg_load *x = &a->load[i], *y = &b->load[i];
        if (x->used != y->used)
            return false;
        if (x->used && (y->done != moved(x->done, v->later) || y->number != x->number + v->number[core] ||
                        y->address != x->address + further || x->pc != y->pc || x->rd != y->rd || x->size != y->size ||
                        x->path != WG_PATH_L1 || y->path != WG_PATH_L1 || x->fills != y->fills ||
                        x->flushed != y->flushed || x->stale || y->stale))
            return false;
    }
    for (unsigned i = 0; i < a->sq_count; i++) {
        const wg_store *x = wg_sq_peek(a, i), *y = wg_sq_peek(b, i);
        if (y->first != x->first + v->later || y->entered != x->entered + v->later ||
            y->address != x->address + further || x->pc != y->pc || x->mask != y->mask || x->bytes != y->bytes ||
            x->path != WG_PATH_L1 || y->path != WG_PATH_L1)
            return false;
    }
    return true;
}

static bool same_lane(const moves *v, const rounds_shot *s, const wg_lane *lane, unsigned core)
{
    if (s->lane_count[core] != lane->count || !same_time(v, s->last_seen_at[core], lane->last_seen_at))
        return false;
    for (unsigned i = 0; i < lane->count; i++) {
        const wg_request *x = &s->queue[core][i], *y = &lane->queue[(lane->head + i) % WG_LANE_DEPTH];
        if (x->kind != y->kind || x->tag != y->tag || y->seen_at != x->seen_at + v->later)
            return false;
        if (x->kind == WG_REQ_READ ? x->tag & WG_TAG_FETCH || x->rd != y->rd
                                   : x->kind != WG_REQ_WRITE || y->address != x->address + v->further[core] ||
                                         x->pc != y->pc || x->byte_mask != y->byte_mask)
            return false;
    }
    return true;
}

/* A full L0 cache is replaced in turn, wherever that begins; of places that are free the first is taken. */
static bool same_l0(const wg_tile *t, const struct wg_rounds *r, moves *v, const wg_core_run *a, const wg_core_run *b,
                    unsigned core)
{
    unsigned held = 0, turned = 0;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        held += (unsigned)(a->l0[i].tag != 0) + (unsigned)(b->l0[i].tag != 0);
    if (held == 2 * WG_L0_LINES && !r->dropped)
        turned = ((unsigned)b->l0_victim - a->l0_victim) % WG_L0_LINES;
    else if (a->l0_victim != b->l0_victim)
        return false;
    v->turned[core] = (uint8_t)turned;
    for (unsigned i = 0; held && i < WG_L0_LINES; i++) {
        const wg_l0_line *x = &a->l0[i], *y = &b->l0[(i + turned) % WG_L0_LINES];
        if (y->tag != (x->tag ? x->tag + v->further[core] : 0) || (x->tag && (x->stale || y->stale)))
            return false;
        /* What it holds is what L1 holds: a vector store of its own passes it by. */
        if (y->tag && memcmp(y->data, t->l1 + (y->tag & ~1u), WG_L1_LINE) != 0)
            return false;
    }
    for (unsigned i = 0; held && i < WG_LOADS; i++) {
        const wg_load *l = &b->load[i];
        if (l->used && l->fills && !l->flushed && l->done != WG_NEVER &&
            memcmp(l->line, t->l1 + line_of(l->address), WG_L1_LINE) != 0)
            return false;
    }
    return true;
}

/* Every so many requests the L0 cache empties itself; 0: it does not. */
static uint32_t flush_period(const wg_tile *t, unsigned core)
{
    return t->core[core].csr.cfg0 & WG_CFG0_DIS_PERIODIC_FLUSH ? 0 : t->arch->l0_flush_period;
}

static bool same_core(const wg_tile *t, const crowd *w, moves *v, unsigned core)
{
    const struct wg_rounds *r = w->rounds;
    const member *m = &w->at[core];
    const wg_core_run *a = &r->shot.run[core], *b = m->run;
    if (b->halt == WG_IN_RESET)
        return true;
    v->number[core] = b->number - a->number;
    v->further[core] = r->base[core] == NO_BASE ? 0 : b->r[r->base[core]] - a->r[r->base[core]];
    if (m->mixed || m->odd || v->further[core] % WG_L1_LINE ||
        (r->base[core] == NO_BASE && (b->sq_count || b->loads || m->lane->count)))
        return false;
    uint32_t every = flush_period(t, core);
    if (every && a->l0_requests / every != b->l0_requests / every)
        return false;
    return same_pipeline(v, a, b, core) && same_queues(v, a, b, core) && same_lane(v, &r->shot, m->lane, core) &&
           same_l0(t, r, v, a, b, core);
}

static bool same_banks(const wg_tile *t, const rounds_shot *s, const moves *v, uint32_t further)
{
    const wg_l1_ports *p = &t->regions.memory.l1;
    const unsigned banks = t->arch->l1_banks;
    for (unsigned i = 0; i < WG_L1_CORE_PORTS; i++)
        if (s->turn[i] != p->turn[WG_L1_CORE_PORT + i] ||
            !same_time(v, s->port_free[i], p->port_free[WG_L1_CORE_PORT + i]))
            return false;
    unsigned differ = 0; /* same_time() without branches */
    for (unsigned i = 0; i < banks; i++) {
        const uint64_t x = s->bank_free[i], y = p->bank_free[(i + further / WG_L1_LINE) & (banks - 1)];
        differ |= ((x > v->then) | (y > v->now)) & (y != x + v->later);
    }
    return !differ;
}

/* Is the present state that of the shot, moved? */
static bool same_state(const wg_tile *t, const crowd *w, moves *v)
{
    const struct wg_rounds *r = w->rounds;
    const uint32_t around = (uint32_t)t->arch->l1_banks * WG_L1_LINE - 1; /* banks: a power of two */
    uint32_t further = 0;
    bool any = false;
    *v = (moves){.now = t->sched.now, .then = r->shot.now, .later = t->sched.now - r->shot.now};
    for (unsigned c = 0; c < WG_CORES; c++) {
        if (!same_core(t, w, v, c))
            return false;
        if (w->at[c].run->halt == WG_IN_RESET || r->base[c] == NO_BASE)
            continue;
        if (any && (v->further[c] ^ further) & around)
            return false;
        further = v->further[c];
        any = true;
    }
    return any && same_banks(t, &r->shot, v, further & around);
}

/* How often the period can repeat itself, as far as that can be told beforehand. */
static uint64_t periods(const wg_tile *t, const crowd *w, const moves *v)
{
    if (v->now + v->later + SLACK > w->until)
        return 0;
    uint64_t n = (w->until - SLACK - v->now) / v->later;
    for (unsigned c = 0; c < WG_CORES; c++) {
        const uint32_t now = t->core[c].run.l0_requests, every = flush_period(t, c);
        const uint32_t requests = now - w->rounds->shot.run[c].l0_requests;
        if (requests && every)
            n = wg_min64(n, (every - 1 - now % every) / requests);
    }
    return n;
}

/* ---- going round ------------------------------------------------------------------------------------------- */

/* What a period has overwritten, should it have to be taken back. */
typedef struct undo_log {
    uint32_t lines, marks;
    struct {
        void *where;
        uint8_t old[WG_L1_LINE];
    } line[WG_ROUNDS_STEPS];
    struct {
        uint32_t line;
        uint8_t old;
    } mark[WG_ROUNDS_STEPS];
    uint64_t bank_free[WG_L1_MAX_BANKS];
    uint32_t r[WG_CORES][WG_REG_SINK + 1];
    uint8_t history[WG_CORES];
} undo_log;

static inline void keep(undo_log *u, void *where)
{
    u->line[u->lines].where = where;
    memcpy(u->line[u->lines++].old, where, WG_L1_LINE);
}

static void begin(const wg_tile *t, undo_log *u, unsigned cores)
{
    u->lines = u->marks = 0;
    memcpy(u->bank_free, t->regions.memory.l1.bank_free, sizeof u->bank_free);
    for (; cores; cores &= cores - 1) {
        unsigned c = (unsigned)__builtin_ctz(cores);
        memcpy(u->r[c], t->core[c].run.r, sizeof u->r[c]);
        u->history[c] = t->core[c].run.history;
    }
}

static void take_back(wg_tile *t, undo_log *u, unsigned cores)
{
    wg_l1_ports *p = &t->regions.memory.l1;
    while (u->lines) {
        u->lines--;
        memcpy(u->line[u->lines].where, u->line[u->lines].old, WG_L1_LINE);
    }
    while (u->marks) {
        u->marks--;
        p->watch[u->mark[u->marks].line] = u->mark[u->marks].old;
    }
    memcpy(p->bank_free, u->bank_free, sizeof p->bank_free);
    for (; cores; cores &= cores - 1) {
        unsigned c = (unsigned)__builtin_ctz(cores);
        memcpy(t->core[c].run.r, u->r[c], sizeof u->r[c]);
        t->core[c].run.history = u->history[c];
    }
}

static inline void write_line(uint8_t *line, const uint32_t data[4], uint16_t mask)
{
    uint8_t bytes[WG_L1_LINE];
    memcpy(bytes, data, WG_L1_LINE);
    unsigned word = (unsigned)__builtin_ctz(mask | 0x10000u) & 12;
    if (mask == 0xFFFF)
        memcpy(line, bytes, WG_L1_LINE);
    else if (mask == 0xFu << word)
        memcpy(line + word, bytes + word, 4);
    else
        for (unsigned i = 0; i < WG_L1_LINE; i++)
            if (mask >> i & 1)
                line[i] = bytes[i];
}

/* It was foreseen, without anything to be learnt; is it now? */
static inline bool foreseen(wg_core *k, const rounds_step *x)
{
    if (!x->flag)
        return true;
    unsigned i = (x->address >> 2 ^ (uint32_t)k->run.history << 2) % WG_PREDICTOR;
    k->run.history = (uint8_t)((unsigned)k->run.history << 1 | x->imm);
    return k->predictor[i] == (x->imm ? 4 : 1);
}

#define A r[x->rs1]
#define B r[x->rs2]
#define I x->imm

/* Up to n periods; returns how many there were. */
WG_THREADED static uint64_t go_round(wg_tile *t, const crowd *w, const moves *v, uint64_t n)
{
    static const void *const labels[DO_COUNT] = {
#define ALU(name, expression) [WG_OP_##name] = &&L_##name,
#define MULTIPLY(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
        [WG_OP_BEQ] = &&L_BEQ,    [WG_OP_BNE] = &&L_BNE,   [WG_OP_BLT] = &&L_BLT,  [WG_OP_BGE] = &&L_BGE,
        [WG_OP_BLTU] = &&L_BLTU,  [WG_OP_BGEU] = &&L_BGEU, [DO_ISSUE] = &&L_issue, [DO_HIT] = &&L_hit,
        [DO_ANSWER] = &&L_answer, [DO_STORE] = &&L_store,  [DO_LEAVE] = &&L_leave, [DO_WRITE] = &&L_write,
        [DO_END] = &&L_end,
    };
    const struct wg_rounds *rounds = w->rounds;
    uint8_t *l1 = t->l1, *watch = t->regions.memory.l1.watch;
    uint64_t *bank_free = t->regions.memory.l1.bank_free;
    const uint32_t banks = t->arch->l1_banks, l1_bytes = t->arch->l1_bytes;
    wg_core_run *run[WG_CORES];
    wg_lane *lane[WG_CORES];
    unsigned sq_head[WG_CORES], lane_head[WG_CORES], cores = 0;
    uint32_t further[WG_CORES];
    uint64_t done = 0, began = v->now;
    undo_log undo;
    for (unsigned c = 0; c < WG_CORES; c++) {
        run[c] = w->at[c].run;
        lane[c] = w->at[c].lane;
        sq_head[c] = run[c]->sq_head;
        lane_head[c] = lane[c]->head;
        further[c] = v->further[c];
        cores |= (unsigned)(v->number[c] != 0) << c;
    }
    const rounds_step *x;
    uint32_t *r;
#define GO \
    do { \
        r = run[x->core]->r; \
        goto *labels[x->code]; \
    } while (0)
#define NEXT \
    do { \
        x++; \
        GO; \
    } while (0)
again:
    begin(t, &undo, cores);
    x = rounds->step;
    GO;
#define ALU(name, expression) \
    L_##name : r[x->rd] = (expression); \
    NEXT;
#define MULTIPLY(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
L_issue : {
    uint32_t address = A + I;
    if (address != x->address + further[x->core] || address >= l1_bytes)
        goto otherwise;
    NEXT;
}
L_hit : {
    uint32_t address = A + I, line[4];
    if (address != x->address + further[x->core] || address >= l1_bytes)
        goto otherwise;
    memcpy(line, l1 + line_of(address), WG_L1_LINE);
    r[x->rd] = wg_load_value(line, address, x->size);
    NEXT;
}
L_answer : {
    uint32_t address = x->address + further[x->core], *line = run[x->core]->load[x->slot].line;
    if (address >= l1_bytes)
        goto otherwise;
    keep(&undo, line);
    memcpy(line, l1 + line_of(address), WG_L1_LINE);
    r[x->rd] = x->size == 2 ? line[address >> 2 & 3] : wg_load_value(line, address, x->size);
    bank_free[wg_l1_bank(banks, address)] = began + x->free_at;
    uint8_t mark = (uint8_t)(x->flag << x->core), *of = &watch[address / WG_L1_LINE];
    if (mark & ~*of) {
        undo.mark[undo.marks].line = address / WG_L1_LINE;
        undo.mark[undo.marks++].old = *of;
        *of |= mark;
    }
    NEXT;
}
L_store : {
    uint32_t address = A + I, *data = run[x->core]->sq[(sq_head[x->core] + x->slot) % WG_STORE_QUEUE].data;
    if (address != x->address + further[x->core] || address >= l1_bytes)
        goto otherwise;
    keep(&undo, data);
    if (x->flag)
        memset(data, 0, WG_L1_LINE);
    wg_put_bytes((uint8_t *)data + (address & (WG_L1_LINE - 1)), &B, x->size);
    NEXT;
}
L_leave : {
    uint32_t address = x->address + further[x->core];
    uint32_t *data = lane[x->core]->queue[(lane_head[x->core] + x->to) % WG_LANE_DEPTH].data;
    if (address >= l1_bytes || watch[address / WG_L1_LINE] & ~(1u << x->core))
        goto otherwise;
    keep(&undo, data);
    memcpy(data, run[x->core]->sq[(sq_head[x->core] + x->slot) % WG_STORE_QUEUE].data, WG_L1_LINE);
    NEXT;
}
L_write : {
    uint32_t address = x->address + further[x->core];
    if (address >= l1_bytes || watch[address / WG_L1_LINE] & ~(1u << x->core))
        goto otherwise;
    keep(&undo, l1 + address);
    write_line(l1 + address, lane[x->core]->queue[(lane_head[x->core] + x->to) % WG_LANE_DEPTH].data, x->mask);
    bank_free[wg_l1_bank(banks, address)] = began + x->free_at;
    NEXT;
}
#define BRANCH(name, condition) \
    L_##name : if (__builtin_expect((condition) != (I != 0) || !foreseen(&t->core[x->core], x), 0)) goto otherwise; \
    NEXT;
#include "riscv/branch.inc"
#undef BRANCH
L_end:
    began += v->later;
    for (unsigned c = 0; c < WG_CORES; c++) {
        further[c] += v->further[c];
        sq_head[c] += run[c]->sq_head - rounds->shot.run[c].sq_head;
        lane_head[c] += lane[c]->head - rounds->shot.lane_head[c];
    }
    if (++done < n)
        goto again;
    return done;
otherwise:
    take_back(t, &undo, cores);
    return done;
#undef NEXT
#undef GO
}
#undef A
#undef B
#undef I

/* ---- where that leads to ----------------------------------------------------------------------------------- */

/* What has not changed in a period is past, and stays. */
static inline void shift(uint64_t *time, uint64_t was, uint64_t by)
{
    if (*time != was)
        *time += by;
}

static void arrive_lane(const rounds_shot *s, wg_lane *lane, unsigned core, uint64_t done, const moves *v)
{
    const unsigned head = lane->head, new_head = (unsigned)(head + done * (head - s->lane_head[core]));
    wg_request queue[WG_LANE_DEPTH];
    for (unsigned i = 0; i < lane->count; i++)
        queue[i] = lane->queue[(head + i) % WG_LANE_DEPTH];
    for (unsigned i = 0; i < lane->count; i++) {
        wg_request *req = &lane->queue[(new_head + i) % WG_LANE_DEPTH];
        memcpy(queue[i].data, req->data, sizeof req->data);
        *req = queue[i];
        req->seen_at += done * v->later;
        req->address += (uint32_t)done * v->further[core]; /* that of a read is its load's */
    }
    lane->head = (uint8_t)(new_head % WG_LANE_DEPTH);
    shift(&lane->last_seen_at, s->last_seen_at[core], done * v->later);
    if (lane->retry_at && lane->retry_at != s->retry_at[core]) {
        lane->retry_at += done * v->later;
        lane->why.retry_at = lane->retry_at;
    }
}

static void arrive_run(const wg_tile *t, const wg_core_run *a, wg_core_run *run, unsigned core, uint64_t done,
                       const moves *v)
{
    const uint64_t later = done * v->later, more = done * v->number[core];
    const uint32_t further = (uint32_t)done * v->further[core];
    const unsigned turned = (unsigned)(done * v->turned[core]);
    const wg_core_run b = *run;
    shift(&run->at, a->at, later);
    shift(&run->last, a->last, later);
    shift(&run->stored, a->stored, later);
    shift(&run->mux_free, a->mux_free, later);
    run->number += more;
    for (unsigned i = 1; i <= REMEMBERED; i++) {
        unsigned x = (unsigned)((a->number - i) % WG_RETIRE_RING), y = (unsigned)((b.number - i) % WG_RETIRE_RING);
        unsigned to = (unsigned)((run->number - i) % WG_RETIRE_RING);
        run->retired[to] = b.retired[y];
        run->filled[to] = b.filled[y];
        shift(&run->retired[to], a->retired[x], later);
        shift(&run->filled[to], a->filled[x], later);
    }
    if (run->ex1.kind) {
        run->ex1.entered += later;
        run->ex1.number += more;
        run->ex1.address += further;
    }
    for (unsigned i = 0; i < WG_LOADS; i++) {
        wg_load *l = &run->load[i];
        if (!l->used)
            continue;
        l->done = moved(l->done, later);
        l->earliest = moved(l->earliest, later);
        l->number += more;
        l->address += further;
    }
    run->sq_head = (uint8_t)((b.sq_head + done * ((unsigned)b.sq_head - a->sq_head)) % WG_STORE_QUEUE);
    wg_sq_repeat(run, &b, later, further);
    for (unsigned i = 0; i < WG_L0_LINES; i++) {
        wg_l0_line *to = &run->l0[(i + turned) % WG_L0_LINES];
        to->tag = b.l0[i].tag ? b.l0[i].tag + further : 0;
        to->stale = false;
        if (to->tag) /* what it holds is what L1 holds, or it would be stale */
            memcpy(to->data, t->l1 + (to->tag & ~1u), WG_L1_LINE);
    }
    run->l0_victim = (uint8_t)((b.l0_victim + turned) % WG_L0_LINES);
    run->l0_requests += (uint32_t)done * (b.l0_requests - a->l0_requests);
}

/* The state after `done` periods: the present one, moved. */
static void arrive(wg_tile *t, crowd *w, uint64_t done, const moves *v)
{
    const rounds_shot *s = &w->rounds->shot;
    wg_memory *mem = &t->regions.memory;
    uint8_t ring[RING];
    for (unsigned c = 0; c < WG_CORES; c++) {
        member *m = &w->at[c];
        if (m->run->halt == WG_IN_RESET)
            continue;
        arrive_lane(s, m->lane, c, done, v);
        arrive_run(t, &s->run[c], m->run, c, done, v);
        mem->emitted[c] += done * (mem->emitted[c] - s->emitted[c]);
        if (m->waits_for != ANY && m->waits_for)
            m->waits_for += done * v->number[c];
        note_loads(m);
        note_stores(m);
        w->seen_at[c] = m->lane->count ? m->lane->queue[m->lane->head].seen_at : WG_NEVER;
    }
    for (unsigned i = 0; i < WG_L1_CORE_PORTS; i++)
        shift(&mem->l1.port_free[WG_L1_CORE_PORT + i], s->port_free[i], done * v->later);
    w->served += done * (w->served - s->served);
    memcpy(ring, w->ring, sizeof ring);
    t->sched.now += done * v->later;
    for (unsigned i = 0; i < RING; i++)
        w->ring[(t->sched.now + i) % RING] = ring[(v->now + i) % RING];
}

static void begin_record(const wg_tile *t, crowd *w, unsigned lead)
{
    struct wg_rounds *r = w->rounds;
    r->records = true;
    r->spoilt = r->dropped = false;
    r->lead = (uint8_t)lead;
    r->rounds = 0;
    r->steps = 0;
    memset(r->base, NO_BASE, sizeof r->base);
    take_shot(t, w, &r->shot);
}

void wg_rounds_edge(wg_tile *t, crowd *w, unsigned edges)
{
    struct wg_rounds *r = w->rounds;
    const bool over = !r->records || r->spoilt || t->sched.now - r->shot.now > PERIOD_CYCLES;
    moves v;
    if (!over && !(edges >> r->lead & 1))
        return;
    if (!over && same_state(t, w, &v)) {
        uint64_t n = periods(t, w, &v);
        r->step[r->steps] = (rounds_step){.code = DO_END};
        uint64_t done = n ? go_round(t, w, &v, n) : 0;
        if (done) {
            arrive(t, w, done, &v);
            wg_fast_used(t, WG_FAST_ROUNDS);
            r->records = false;
            r->tries = 0;
            r->patience = 0;
            return;
        }
    } else if (!over && ++r->rounds < r->longest) {
        return;
    }
    r->records = false;
    if (r->wait) {
        r->wait--;
    } else if (r->tries == TRIES) {
        r->tries = 0;
        r->patience = (uint16_t)(r->patience < PATIENCE ? 2 * r->patience + 1 : PATIENCE);
        r->wait = r->patience;
    } else { /* mostly a round is a period */
        r->longest = ++r->tries % TRIES ? 1 : PERIOD;
        begin_record(t, w, (unsigned)__builtin_ctz(edges));
    }
}
