/* SPDX-License-Identifier: Apache-2.0 */
/* Several cores in loops through L1 that repeat themselves, all of them in step: see rounds.c. */
#ifndef WG_FAST_ROUNDS_H
#define WG_FAST_ROUNDS_H

#include "fast/core_groups.h"

enum { WG_ROUNDS_STEPS = 768, NO_BASE = 0xFF };

/* Codes of steps beside those of instructions. */
enum {
    DO_ISSUE = WG_OP_COUNT, /* a load enters EX1 */
    DO_HIT,                 /* … and finds its line in the L0 cache */
    DO_ANSWER,              /* L1 answers a load */
    DO_STORE,               /* a store enters the queue, */
    DO_LEAVE,               /* leaves it, */
    DO_WRITE,               /* and is processed */
    DO_END,
    DO_COUNT
};

/* Something that happened in the period, in the order in which it was worked out. */
typedef struct rounds_step {
    uint8_t code, core, rd, rs1, rs2;
    uint8_t slot;     /* of the loads; of the store queue and, in `to`, of L1's queue: from its head at the start on */
    uint8_t to, size; /* size: as in the instruction; DO_STORE: bytes */
    uint32_t imm;     /* a branch: is it taken? */
    uint32_t address; /* a branch: its own */
    uint32_t free_at; /* its bank is free again so long after the period's start */
    uint16_t mask;
    bool flag; /* DO_STORE: a new entry; DO_ANSWER: fills the L0 cache; a branch: the predictor is on */
} rounds_step;

/* The state between two cycles, as far as anything to come depends on it. */
typedef struct rounds_shot {
    uint64_t now, served;
    wg_core_run run[WG_CORES];
    wg_request queue[WG_CORES][WG_LANE_DEPTH]; /* from the head on */
    uint64_t last_seen_at[WG_CORES], retry_at[WG_CORES], emitted[WG_CORES];
    uint64_t port_free[WG_L1_CORE_PORTS], bank_free[WG_L1_MAX_BANKS];
    uint8_t lane_head[WG_CORES], lane_count[WG_CORES], turn[WG_L1_CORE_PORTS];
} rounds_shot;

struct wg_rounds {
    bool records, spoilt;    /* spoilt: something happened that does not belong in here */
    bool dropped;            /* an own store took a line out of an L0 cache */
    uint8_t lead;            /* the core at whose back edges the period begins and ends */
    uint8_t rounds, longest; /* of the period so far; at most */
    uint8_t tries;
    uint8_t base[WG_CORES]; /* the register that the core's first address starts from; NO_BASE: none */
    uint16_t steps;
    uint16_t wait, patience; /* back edges until the next try, and after the next few that fail */
    rounds_step step[WG_ROUNDS_STEPS + 1];
    rounds_shot shot;
};

/* Somebody has taken a branch backwards, between two cycles. */
void wg_rounds_edge(wg_tile *t, crowd *w, unsigned edges);

static inline void wg_rounds_spoil(crowd *w) { w->rounds->spoilt = true; }

static inline rounds_step *rounds_next(struct wg_rounds *r)
{
    if (r->steps == WG_ROUNDS_STEPS) {
        r->spoilt = true;
        r->steps = 0;
    }
    return &r->step[r->steps++];
}

/* For core_groups.c, as things happen. */
static inline void wg_rounds_op(crowd *w, const member *m, const wg_op *op)
{
    if (__builtin_expect(w->rounds->records, 0))
        *rounds_next(w->rounds) = (rounds_step){
            .code = op->code, .core = m->core, .rd = op->rd, .rs1 = op->rs1, .rs2 = op->rs2, .imm = op->imm};
}

static inline void wg_rounds_branch(const wg_tile *t, crowd *w, const member *m, const wg_op *op, uint32_t pc,
                                    bool taken, bool learnt)
{
    if (taken && op->imm < pc)
        w->edges |= (uint8_t)(1u << m->core);
    if (__builtin_expect(!w->rounds->records, 1))
        return;
    w->rounds->spoilt |= learnt || op->imm == pc + 4;
    *rounds_next(w->rounds) = (rounds_step){.code = op->code,
                                            .core = m->core,
                                            .rs1 = op->rs1,
                                            .rs2 = op->rs2,
                                            .imm = taken,
                                            .address = pc,
                                            .flag = wg_predictor_on(t, m->core)};
}

static inline void wg_rounds_load(crowd *w, const member *m, const wg_op *op, uint32_t address, bool hit)
{
    struct wg_rounds *r = w->rounds;
    if (__builtin_expect(!r->records, 1))
        return;
    *rounds_next(r) = (rounds_step){.code = hit ? DO_HIT : DO_ISSUE,
                                    .core = m->core,
                                    .rd = op->rd,
                                    .rs1 = op->rs1,
                                    .size = op->spare,
                                    .imm = op->imm,
                                    .address = address};
    if (r->base[m->core] == NO_BASE)
        r->base[m->core] = op->rs1;
}

static inline void wg_rounds_store(crowd *w, const member *m, const wg_op *op, uint32_t address, unsigned bytes,
                                   const wg_store *s, bool fresh, bool drops)
{
    struct wg_rounds *r = w->rounds;
    if (__builtin_expect(!r->records, 1))
        return;
    *rounds_next(r) =
        (rounds_step){.code = DO_STORE,
                      .core = m->core,
                      .rs1 = op->rs1,
                      .rs2 = op->rs2,
                      .size = (uint8_t)bytes,
                      .slot = (uint8_t)(((unsigned)(s - m->run->sq) - r->shot.run[m->core].sq_head) % WG_STORE_QUEUE),
                      .imm = op->imm,
                      .address = address,
                      .flag = fresh};
    r->dropped |= drops;
    if (r->base[m->core] == NO_BASE)
        r->base[m->core] = op->rs1;
}

/* The request has just been put at the end of L1's queue. */
static inline void wg_rounds_leave(crowd *w, const member *m, const wg_store *s, const wg_request *req, bool drops)
{
    struct wg_rounds *r = w->rounds;
    if (__builtin_expect(!r->records, 1))
        return;
    *rounds_next(r) =
        (rounds_step){.code = DO_LEAVE,
                      .core = m->core,
                      .address = req->address,
                      .slot = (uint8_t)(((unsigned)(s - m->run->sq) - r->shot.run[m->core].sq_head) % WG_STORE_QUEUE),
                      .to = (uint8_t)(((unsigned)(req - m->lane->queue) - r->shot.lane_head[m->core]) % WG_LANE_DEPTH)};
    r->dropped |= drops;
}

/* L1 is about to process the request; its bank is free again in free_at. */
static inline void wg_rounds_serve(const wg_tile *t, crowd *w, const member *m, const wg_request *req, uint64_t free_at)
{
    struct wg_rounds *r = w->rounds;
    if (__builtin_expect(!r->records, 1))
        return;
    rounds_step x = {.core = m->core, .free_at = (uint32_t)(free_at - r->shot.now)};
    if (req->kind == WG_REQ_READ && !(req->tag & WG_TAG_FETCH)) {
        const wg_load *l = &m->run->load[req->tag % WG_LOADS];
        r->spoilt |= !l->used || l->done != WG_NEVER;
        x.code = DO_ANSWER;
        x.slot = req->tag % WG_LOADS;
        x.rd = l->rd;
        x.size = l->size;
        x.address = l->address;
        x.flag = l->fills;
    } else if (req->kind == WG_REQ_WRITE) {
        r->spoilt |= (t->regions.memory.l1.watch[req->address / WG_L1_LINE] & ~(1u << m->core)) != 0;
        x.code = DO_WRITE;
        x.to = (uint8_t)(((unsigned)(req - m->lane->queue) - r->shot.lane_head[m->core]) % WG_LANE_DEPTH);
        x.address = req->address;
        x.mask = req->byte_mask;
    } else {
        r->spoilt = true;
        return;
    }
    *rounds_next(r) = x;
}

#endif
