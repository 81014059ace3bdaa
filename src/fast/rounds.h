/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder of loops of a group of cores through L1: see rounds.c. */
#ifndef WG_FAST_ROUNDS_H
#define WG_FAST_ROUNDS_H

#include "fast/core_groups.h"
#include "fast/period.h"

enum { WG_ROUNDS_STEPS = 1024, NO_BASE = 0xFF };

struct wg_rounds {
    bool records, spoilt;    /* spoilt: something happened that a period cannot contain */
    bool dropped;            /* a core's store invalidated a line of its L0 cache */
    uint8_t lead;            /* the core at whose back edges the period begins and ends */
    uint8_t rounds, longest; /* iterations recorded so far, and at most */
    bool known;              /* a period has been recorded and may be replayed */
    bool watches;            /* records or known: the next back edge matters */
    uint8_t tries, misses;   /* misses: back edges since the last replay */
    uint8_t cores;           /* that were active at the shot */
    uint8_t base[WG_CORES];  /* the base register of the core's first access; NO_BASE: none */
    uint64_t served;         /* requests that L1 had processed at the shot; once known, requests per period */
    uint16_t wait, patience; /* back edges until the next try, and until the one after a failure */
    wg_period period;
    wg_step_of step[WG_ROUNDS_STEPS + 1];
};

/* Between two cycles: the cores in `edges` have taken a backward branch. */
void wg_rounds_edge(wg_tile *t, core_group *w, unsigned edges);

static inline void wg_rounds_spoil(core_group *w) { w->rounds->spoilt = true; }

static inline wg_step_of *rounds_next(struct wg_rounds *r, const core_slot *m, unsigned code)
{
    if (r->period.steps == WG_ROUNDS_STEPS) {
        r->spoilt = true;
        r->period.steps = 0;
    }
    wg_step_of *x = &r->step[r->period.steps++];
    *x = (wg_step_of){.code = (uint8_t)code, .core = m->core};
    return x;
}

/* Called by core_groups.c as things happen. */
static inline void wg_rounds_op(core_group *w, const core_slot *m, const wg_op *op)
{
    if (__builtin_expect(!w->rounds->records, 1))
        return;
    *rounds_next(w->rounds, m, op->code) = wg_step_from(op, m->core);
}

static inline void wg_rounds_branch(const wg_tile *t, core_group *w, const core_slot *m, const wg_op *op, uint32_t pc,
                                    bool taken, bool learnt)
{
    if (taken && op->imm < pc)
        w->edges |= (uint8_t)(1u << m->core);
    if (__builtin_expect(!w->rounds->records, 1))
        return;
    w->rounds->spoilt |= learnt || op->imm == pc + 4;
    wg_step_of *x = rounds_next(w->rounds, m, op->code);
    *x = wg_step_from(op, m->core);
    x->flag = taken;
    if (!wg_predictor(t, m->core))
        return;
    x = rounds_next(w->rounds, m, WG_STEP_PREDICT);
    x->address = pc;
    x->flag = taken;
}

/* A load or store enters EX1. */
static inline void rounds_access(struct wg_rounds *r, const core_slot *m, const wg_op *op, uint32_t address)
{
    wg_step_of *x = rounds_next(r, m, WG_STEP_CHECK);
    x->rs1 = op->rs1;
    x->imm = op->imm;
    x->address = address;
    if (r->base[m->core] == NO_BASE)
        r->base[m->core] = op->rs1;
}

static inline void wg_rounds_load(core_group *w, const core_slot *m, const wg_op *op, uint32_t address, bool hit)
{
    if (__builtin_expect(!w->rounds->records, 1))
        return;
    rounds_access(w->rounds, m, op, address);
    if (!hit)
        return;
    wg_step_of *x = rounds_next(w->rounds, m, WG_STEP_LOAD);
    *x = wg_step_from(op, m->core);
    x->code = op->spare == 2 ? WG_STEP_LW : WG_STEP_LOAD;
    x->size = op->spare;
}

static inline void wg_rounds_store(core_group *w, const core_slot *m, const wg_op *op, uint32_t address, unsigned bytes,
                                   const wg_store *s, bool fresh, bool drops)
{
    struct wg_rounds *r = w->rounds;
    if (__builtin_expect(!r->records, 1))
        return;
    rounds_access(r, m, op, address);
    wg_step_of *x = rounds_next(r, m, WG_STEP_STORE);
    *x = wg_step_from(op, m->core);
    x->code = WG_STEP_STORE;
    x->size = (uint8_t)bytes;
    x->slot = (uint8_t)(((unsigned)(s - m->run->sq) - r->period.shot.run[m->core].sq_head) % WG_STORE_QUEUE);
    x->flag = fresh;
    r->dropped |= drops;
}

static inline uint8_t rounds_place(const struct wg_rounds *r, const core_slot *m, const wg_request *req)
{
    return (uint8_t)(((unsigned)(req - m->queue->ring) - r->period.shot.queue_head[m->core]) % WG_QUEUE_DEPTH);
}

/* A store has just been appended to L1's queue. */
static inline void wg_rounds_leave(core_group *w, const core_slot *m, const wg_store *s, const wg_request *req,
                                   bool drops)
{
    struct wg_rounds *r = w->rounds;
    if (__builtin_expect(!r->records, 1))
        return;
    wg_step_of *x = rounds_next(r, m, WG_STEP_LEAVE);
    x->slot = (uint8_t)(((unsigned)(s - m->run->sq) - r->period.shot.run[m->core].sq_head) % WG_STORE_QUEUE);
    x->place = rounds_place(r, m, req);
    r->dropped |= drops;
}

/* L1 is about to process the request; its bank is free again in cycle free_at. */
static inline void wg_rounds_serve(const wg_tile *t, core_group *w, const core_slot *m, const wg_request *req,
                                   uint64_t free_at)
{
    struct wg_rounds *r = w->rounds;
    if (__builtin_expect(!r->records, 1))
        return;
    const bool load = req->kind == WG_REQ_READ && !(req->tag & WG_TAG_FETCH);
    wg_step_of *x = rounds_next(r, m, load ? WG_STEP_ANSWER : WG_STEP_WRITE);
    x->free_at = (int32_t)(free_at - r->period.shot.now);
    if (load) {
        const wg_load *l = &m->run->load[req->tag % WG_LOADS];
        r->spoilt |= !l->used || l->done != WG_NEVER;
        x->slot = req->tag % WG_LOADS;
        x->rd = l->rd;
        x->size = l->size;
        x->address = l->address;
        x->flag = l->fills;
    } else {
        r->spoilt |= req->kind != WG_REQ_WRITE ||
                     (t->regions.memory.l1.watch[req->address / WG_L1_LINE % WG_L1_MAX_LINES] & ~(1u << m->core)) != 0;
        x->place = rounds_place(r, m, req);
        x->address = req->address;
        x->mask = req->byte_mask;
    }
}

#endif
