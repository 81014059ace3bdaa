/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periods that repeat.
 *
 *     shot ── recorded ──> the state of the shot, moved ──> replay ──> replay ──> … ──> arrive
 *
 * The state at a period's start determines the period: pipelines, queues, L0 caches, when ports and banks are free,
 * arbitration, and the relative positions of addresses. If a state equals the one a period earlier, moved by whole lines of 16
 * bytes, the period repeats while three conditions hold: branches go the same way, addresses move by the same distance, and no
 * core writes a line that another core's cache holds. The replay checks each of them. If one fails, it rolls back to the start
 * of that period (to a checkpoint some periods earlier, and forward again), and the executor that recorded it continues.
 *
 * A period never contains a periodic flush of an L0 cache, or a branch that changes the predictor.
 */
#include "fast/period.h"

#include <string.h>

enum { BATCH = 64 /* periods from one checkpoint to the next */, LOGGED = 1024 /* lines written between them */ };

/* ---- replay ------------------------------------------------------------------------------------------------- */

/* The position of the replay: the start of a period. */
typedef struct position {
    uint64_t began;
    uint32_t further[WG_CORES];
    unsigned sq_head[WG_CORES], queue_head[WG_CORES];
} position;

/* The part of the state that a replay changes, at a checkpoint, and an undo log of the lines written since. */
typedef struct checkpoint {
    uint64_t done;
    position at;
    uint64_t bank_free[WG_L1_MAX_BANKS];
    struct {
        uint32_t r[WG_REG_SINK + 1], stored[WG_STORE_QUEUE][4], loaded[WG_LOADS][4], queued[WG_QUEUE_DEPTH][4];
        uint8_t history;
    } core[WG_CORES];
    uint32_t lines, l1_undos;
    wg_l1_undo line[LOGGED];
} checkpoint;

/* Copies the cores' part to the checkpoint, or back. */
static void copy_cores(const wg_period *p, checkpoint *u, bool back)
{
    for (unsigned left = p->cores; left; left &= left - 1) {
        const unsigned c = (unsigned)__builtin_ctz(left);
        wg_core_run *run = p->run[c];
        WG_COPY(back, u->core[c].r, run->r);
        WG_COPY(back, u->core[c].history, run->history);
        for (unsigned i = 0; i < WG_STORE_QUEUE; i++)
            WG_COPY(back, u->core[c].stored[i], run->sq[i].data);
        for (unsigned i = 0; i < WG_LOADS; i++)
            WG_COPY(back, u->core[c].loaded[i], run->load[i].line);
        for (unsigned i = 0; i < WG_QUEUE_DEPTH; i++)
            WG_COPY(back, u->core[c].queued[i], p->queue[c]->ring[i].data);
    }
}

static void set_checkpoint(const wg_tile *t, const wg_period *p, checkpoint *u, const position *at, uint64_t done)
{
    u->done = done;
    u->at = *at;
    u->lines = 0;
    u->l1_undos = t->l1_undos;
    memcpy(u->bank_free, t->regions.memory.l1.bank_free, sizeof u->bank_free);
    copy_cores(p, u, false);
}

static void roll_back(wg_tile *t, const wg_period *p, checkpoint *u)
{
    wg_undo_lines(t->l1, u->line, &u->lines);
    t->l1_undos = u->l1_undos;
    memcpy(t->regions.memory.l1.bank_free, u->bank_free, sizeof u->bank_free);
    copy_cores(p, u, true);
}

static inline uint32_t *stored(const wg_period *p, const position *at, const wg_step_of *x)
{
    return p->run[x->core]->sq[(at->sq_head[x->core] + x->slot) % WG_STORE_QUEUE].data;
}
static inline uint32_t *queued(const wg_period *p, const position *at, const wg_step_of *x)
{
    return p->queue[x->core]->ring[(at->queue_head[x->core] + x->place) % WG_QUEUE_DEPTH].data;
}

/* The branch went as recorded: was it predicted, with the predictor unchanged? */
static inline bool predicted(const wg_tile *t, wg_core *k, const wg_step_of *x)
{
    const wg_predicts how = wg_predictor(t, x->core);
    const bool settled = wg_predict_settled(k, how, x->address, x->flag);
    if (how == WG_PREDICTS_BY_HISTORY)
        k->run.history = (uint8_t)((unsigned)k->run.history << 1 | x->flag);
    return settled;
}

/* The bank is taken, and the L0 cache may hold the line from now on. */
static inline void booked(wg_l1_ports *ports, uint32_t banks, const position *at, const wg_step_of *x, uint32_t address)
{
    if (!x->free_at)
        return;
    ports->bank_free[address / WG_L1_LINE & banks] = at->began + (uint64_t)x->free_at;
    ports->watch[address / WG_L1_LINE] |= (uint8_t)x->mask;
}

static void link_steps(wg_period *p, const void *const *labels)
{
    for (wg_step_of *x = p->step; x < p->step + p->steps; x++) {
        uint32_t *r = p->run[x->core]->r;
        x->label = labels[x->code];
        x->to = &r[x->rd];
        x->a = &r[x->rs1];
        x->b = &r[x->rs2];
        if (x->code == WG_STEP_LW || x->code == WG_STEP_LOAD || x->code == WG_STEP_ANSWER)
            x->mask = (uint16_t)(x->flag << x->core);
    }
    p->linked = true;
}

static inline void enqueue(const wg_period *p, const position *at, const wg_step_of *x)
{
    uint8_t *data = (uint8_t *)stored(p, at, x);
    if (x->flag)
        memset(data, 0, WG_L1_LINE);
    wg_put_bytes(data + ((*x->a + x->imm) & (WG_L1_LINE - 1)), x->b, x->size);
}

/* A store reaches L1. False if another core's cache may hold the line. */
static inline bool written(wg_tile *t, const position *at, const wg_step_of *x, uint32_t *data, checkpoint *undo)
{
    const uint32_t address = line_of(x->address + at->further[x->core]);
    wg_l1_ports *l1 = &t->regions.memory.l1;
    if (address >= t->spec->l1_bytes || l1->watch[address / WG_L1_LINE] & ~(1u << x->core))
        return false;
    wg_log_line(&undo->line[undo->lines++], t->l1, address);
    if (t->core[x->core].l1_ahead)
        wg_log_line(&t->l1_undo[t->l1_undos++], t->l1, address);
    wg_l1_write_masked(t, (wg_l1_client)x->core, address, x->mask, data);
    l1->bank_free[wg_l1_bank(t->arch->l1_banks, address)] = at->began + (uint64_t)x->free_at;
    return true;
}

/* L1 answers a load in flight. */
static inline bool answered(wg_tile *t, const wg_period *p, const position *at, const wg_step_of *x)
{
    const uint32_t address = x->address + at->further[x->core];
    uint32_t *line = p->run[x->core]->load[x->slot].line;
    if (address >= t->spec->l1_bytes)
        return false;
    memcpy(line, t->l1 + line_of(address), WG_L1_LINE);
    *x->to = x->size == 2 ? line[address >> 2 & 3] : wg_load_value(line, address, x->size);
    booked(&t->regions.memory.l1, t->arch->l1_banks - 1, at, x, address);
    return true;
}

static inline void next_period(const wg_period *p, position *at)
{
    at->began += p->by.later;
    for (unsigned left = p->cores; left; left &= left - 1) {
        const unsigned c = (unsigned)__builtin_ctz(left);
        at->further[c] += p->by.further[c];
        at->sq_head[c] += p->sq_pops[c];
        at->queue_head[c] += p->queue_pops[c];
    }
}

static inline position begin(wg_period *p, uint64_t began, const uint32_t *further, const void *const *labels)
{
    if (!p->linked)
        link_steps(p, labels);
    p->at = NULL;
    position at = {.began = began};
    for (unsigned c = 0; c < WG_CORES && further; c++) {
        at.further[c] = further[c];
        at.sq_head[c] = p->run[c]->sq_head;
        at.queue_head[c] = p->queue[c]->head;
    }
    return at;
}

#define A *x->a
#define B *x->b
#define I x->imm
#define NEXT goto *(++x)->label
#define OP_LABEL(name, expression) [WG_OP_##name] = &&L_##name,
#define STEP_LABEL(name) [WG_STEP_##name] = &&STEP_##name,

WG_THREADED uint64_t wg_period_replay(wg_tile *t, wg_period *p, uint64_t began, const uint32_t further[WG_CORES],
                                      uint64_t n)
{
    static const void *const labels[WG_STEP_COUNT] = {
#define ALU OP_LABEL
#define MULTIPLY OP_LABEL
#define BRANCH OP_LABEL
#include "riscv/alu.inc"
#include "riscv/branch.inc"
#undef ALU
#undef MULTIPLY
#undef BRANCH
        OP_LABEL(NOP, ) WG_STEPS(STEP_LABEL)};
    const uint32_t l1_bytes = t->spec->l1_bytes, banks = t->arch->l1_banks - 1;
    wg_l1_ports *const ports = &t->regions.memory.l1;
    uint8_t *const l1 = t->l1;
    uint64_t done = 0;
    uint32_t address, line[4];
    position at = begin(p, began, further, labels);
    checkpoint undo;
    const wg_step_of *x;
start:
    if (p->undoes && (done % BATCH == 0 || undo.lines + p->steps > LOGGED))
        set_checkpoint(t, p, &undo, &at, done);
    x = p->step;
    goto * x->label;
#define ALU(name, expression) \
    L_##name : *x->to = (expression); \
    NEXT;
#define MULTIPLY ALU
#define BRANCH(name, condition) \
    L_##name : if (__builtin_expect((condition) != x->flag, 0)) goto differs; \
    NEXT;
#include "riscv/alu.inc"
#include "riscv/branch.inc"
#undef ALU
#undef MULTIPLY
#undef BRANCH
L_NOP:
    NEXT;
STEP_CHECK:
    address = A + I;
    if (address != x->address + at.further[x->core] || address >= l1_bytes)
        goto differs;
    NEXT;
STEP_LW:
    address = A + I;
    memcpy(x->to, l1 + address, 4);
    booked(ports, banks, &at, x, address);
    NEXT;
STEP_LOAD:
    address = A + I;
    memcpy(line, l1 + line_of(address), WG_L1_LINE);
    *x->to = wg_load_value(line, address, x->size);
    booked(ports, banks, &at, x, address);
    NEXT;
STEP_ANSWER:
    if (!answered(t, p, &at, x))
        goto differs;
    NEXT;
STEP_STORE:
    enqueue(p, &at, x);
    NEXT;
STEP_LEAVE:
    memcpy(queued(p, &at, x), stored(p, &at, x), WG_L1_LINE);
    NEXT;
STEP_WRITE:
    if (!written(t, &at, x, queued(p, &at, x), &undo))
        goto differs;
    NEXT;
STEP_PREDICT:
    if (!predicted(t, &t->core[x->core], x))
        goto differs;
    NEXT;
STEP_AGAIN:
    if (++done == n)
        return done;
    x = p->step;
    goto * x->label;
STEP_END:
    if (++done == n)
        return done;
    next_period(p, &at);
    goto start;
differs:
    if (p->undoes)
        roll_back(t, p, &undo);
    if (!p->undoes || undo.done == done) {
        p->at = x;
        return done;
    }
    n = done; /* replay from the checkpoint up to the period that differed */
    done = undo.done;
    at = undo.at;
    goto start;
}
#undef A
#undef B
#undef I
#undef NEXT
#undef OP_LABEL
#undef STEP_LABEL

/* ---- the same state again? ---------------------------------------------------------------------------------- */

bool wg_period_holds(const wg_core_run *run)
{
    if (run->ordered || !run->queued || run->fetch[0].used || run->fetch[1].used)
        return false;
    if (run->ex1.kind && (run->ex1.kind != WG_EX1_LOAD || run->ex1.path != WG_PATH_L1))
        return false;
    for (unsigned i = 0; run->loads && i < WG_LOADS; i++)
        if (run->load[i].used && (run->load[i].stale || run->load[i].path != WG_PATH_L1))
            return false;
    for (unsigned i = 0; i < run->sq_count; i++)
        if (wg_sq_peek(run, i)->path != WG_PATH_L1)
            return false;
    return true;
}

/*
 * The lines of a full L0 cache are replaced in turn, so they may be rotated. Its contents must be those of L1: the core's
 * own vector stores bypass it.
 */
bool wg_period_same_l0(const wg_tile *t, const wg_core_run *a, const wg_core_run *b, uint32_t further, bool may_turn,
                       uint8_t *turned)
{
    unsigned held = 0, by = 0;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        held += (unsigned)(a->l0[i].tag != 0) + (unsigned)(b->l0[i].tag != 0);
    if (held == 2 * WG_L0_LINES && may_turn)
        by = ((unsigned)b->l0_victim - a->l0_victim) % WG_L0_LINES;
    else if (a->l0_victim != b->l0_victim)
        return false;
    *turned = (uint8_t)by;
    for (unsigned i = 0; held && i < WG_L0_LINES; i++) {
        const wg_l0_line *x = &a->l0[i], *y = &b->l0[(i + by) % WG_L0_LINES];
        if (y->tag != (x->tag ? x->tag + further : 0) || (x->tag && (x->stale || y->stale)))
            return false;
        if (y->tag && memcmp(y->data, t->l1 + (y->tag & ~1u), WG_L1_LINE) != 0)
            return false;
    }
    for (unsigned i = 0; b->loads && i < WG_LOADS; i++) {
        const wg_load *l = &b->load[i];
        if (l->used && l->fills && !l->flushed && l->done != WG_NEVER &&
            memcmp(l->line, t->l1 + line_of(l->address), WG_L1_LINE) != 0)
            return false;
    }
    return true;
}

/* Requests from one periodic flush of the L0 cache to the next; 0: there is none. */
static uint32_t flush_period(const wg_tile *t, unsigned core)
{
    return t->core[core].csr.cfg0 & WG_CFG0_DIS_PERIODIC_FLUSH ? 0 : t->arch->l0_flush_period;
}

bool wg_period_flushed(const wg_tile *t, const wg_period *p, unsigned core)
{
    const uint32_t every = flush_period(t, core);
    return every && t->core[core].run.l0_requests / every != p->shot.run[core].l0_requests / every;
}

uint64_t wg_period_before_flush(const wg_tile *t, const wg_period *p, unsigned core)
{
    const uint32_t every = flush_period(t, core), requests = p->l0_requests[core];
    return requests && every ? (every - 1 - t->core[core].run.l0_requests % every) / requests : UINT64_MAX;
}

void wg_period_end(const wg_tile *t, wg_period *p, unsigned cores)
{
    p->cores = p->stores = 0;
    p->linked = false;
    for (; cores; cores &= cores - 1) {
        const unsigned c = (unsigned)__builtin_ctz(cores);
        const wg_core_run *a = &p->shot.run[c], *b = &t->core[c].run;
        p->cores |= (uint8_t)((p->by.number[c] != 0) << c);
        p->stores |= (uint8_t)((b->stored != a->stored) << c);
        p->sq_pops[c] = (uint8_t)((b->sq_head - a->sq_head) % WG_STORE_QUEUE);
        p->queue_pops[c] = (uint8_t)((p->queue[c]->head - p->shot.queue_head[c]) % WG_QUEUE_DEPTH);
        p->l0_requests[c] = b->l0_requests - a->l0_requests;
        p->emitted[c] = t->regions.memory.emitted[c] - p->shot.emitted[c];
    }
}

/* ---- the state after the replay ----------------------------------------------------------------------------- */

/* Rotates the ring; the replay has already put the data in place. */
static void arrive_stores(wg_core_run *run, unsigned pops)
{
    const wg_core_run b = *run;
    run->sq_head = (uint8_t)((b.sq_head + pops) % WG_STORE_QUEUE);
    for (unsigned i = 0; i < b.sq_count; i++) {
        wg_store *s = wg_sq_at(run, i);
        *s = *wg_sq_peek(&b, i);
        memcpy(s->data, b.sq[s - run->sq].data, sizeof s->data);
    }
}

void wg_period_arrive(wg_tile *t, const wg_period *p, unsigned core, uint64_t done)
{
    wg_core_run *run = p->run[core];
    const uint64_t later = done * p->by.later, stored = run->stored;
    const uint32_t further = (uint32_t)done * p->by.further[core];
    wg_l0_line l0[WG_L0_LINES];
    wg_move_run(run, later, done * p->by.number[core], further);
    run->stored = p->stores >> core & 1 ? run->stored : stored;
    arrive_stores(run, (unsigned)(done * p->sq_pops[core]));
    run->l0_requests += (uint32_t)done * p->l0_requests[core];
    memcpy(l0, run->l0, sizeof l0);
    for (unsigned i = 0; i < WG_L0_LINES; i++) {
        wg_l0_line *to = &run->l0[(i + done * p->turned[core]) % WG_L0_LINES];
        to->tag = l0[i].tag ? l0[i].tag + further : 0;
        to->stale = false;
        if (to->tag) /* a line that is not stale equals L1 */
            memcpy(to->data, t->l1 + (to->tag & ~1u), WG_L1_LINE);
    }
    run->l0_victim = (uint8_t)((run->l0_victim + done * p->turned[core]) % WG_L0_LINES);
    for (unsigned i = 0; run->loads && i < WG_LOADS; i++) {
        wg_load *l = &run->load[i];
        if (l->used && l->done != WG_NEVER && !l->flushed)
            memcpy(l->line, t->l1 + line_of(l->address), WG_L1_LINE);
    }
    wg_advance_queue(p->queue[core], later, further, (unsigned)(done * p->queue_pops[core]));
    t->regions.memory.emitted[core] += done * p->emitted[core];
}
