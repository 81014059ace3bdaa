/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group of cores that access L1 at the same time: the data that core_groups.c and rounds.c keep per core, all derived from
 * the cores' states. note() derives it from scratch; core_groups.c keeps it up to date.
 */
#ifndef WG_FAST_CORE_GROUPS_H
#define WG_FAST_CORE_GROUPS_H

#include "fast/cores.h"

enum {
    RING = 64,
    AHEAD = 2,   /* cycles that a core may be ahead of the others: its stores reach other regions 3 cycles after EX1 */
    ALONE = 64,  /* the same, for the only core */
    MOST = 4096, /* cycles of a run beyond the horizon, at most */
    SPARSE = 64, /* with one request in this many cycles, the plain machine is as fast */
    LOOK = 512,  /* the rate of requests is checked every this many cycles */
    LEAST = 8
};
enum { PORT_BITS = WG_CORES }; /* the ports' bits in core_group.ring follow the cores' */
#define ANY UINT64_MAX

/* A core of the group, with data derived from its state. */
typedef struct core_slot {
    wg_core *k;
    wg_core_run *run;
    wg_request_queue *queue;
    uint64_t settle_at; /* when the first answered load completes */
    uint64_t drain_at;  /* when the first store can leave; 0: unknown */
    const wg_op *op;    /* the next instruction, or the end of its line; NULL: unknown */
    uint32_t epoch;     /* the wg_core.epoch for which `op` holds */
    uint32_t sets;      /* sets of the instruction cache, minus one */
    uint32_t awaited;   /* bit per register that a load in flight will write; f0 shares x0's bit */
    uint64_t waits_for; /* the number of the load that stalls the pipeline; ANY: any load; 0: none */
    uint8_t core, port;
    uint8_t loads, oldest; /* loads in flight: slot[] is a ring in order of issue, from `oldest` on */
    uint8_t slot[WG_LOADS];
    uint8_t unused; /* bit i: slot i of wg_core_run.load */
    bool odd;       /* a load in flight does not go to L1: answers may arrive out of order */
    bool cached;    /* loads go through the L0 data cache */
    bool merging;   /* the store queue coalesces */
    bool quick;     /* the fast paths apply: queued, with default ordering and forwarding */
    bool mixed;     /* the store queue holds a store that goes neither to L1 nor to own RAM */
    bool blocked;   /* the first store waits for room on its path */
    bool twice;     /* two loads in flight may write the same register */
} core_slot;

typedef struct core_group {
    core_slot at[WG_CORES];
    uint64_t seen_at[WG_CORES + 1]; /* when L1 sees each core's first request; WG_NEVER: none */
    uint8_t ring[RING];             /* by cycle: bit per core and port with something to do */
    uint64_t busy;                  /* by cycle: is any bit of `ring` set? */
    uint64_t began, until;
    uint64_t served;          /* stores, and requests that L1 has processed */
    uint8_t awake;            /* cores that are not in reset */
    uint8_t resting;          /* cores that are halted with nothing in flight */
    uint8_t elsewhere;        /* cores with a queued store that goes neither to L1 nor to own RAM */
    uint8_t edges;            /* cores that have just taken a backward branch */
    bool in_step;             /* no core may run ahead of the others: code may change, or a finding may end the run */
    bool stops;               /* the single core needs the clock in this cycle: the engine runs phases I or J */
    bool detour;              /* a slow path was taken, which may have scheduled other agents */
    struct wg_rounds *rounds; /* the recorder of periods */
} core_group;

/* How many lines may still be written before a core that runs ahead through L1 has to stop. */
static inline uint32_t group_log_room(const wg_tile *t)
{
    return t->l1_undos + 2 * ALONE < WG_L1_UNDO ? WG_L1_UNDO - 2 * ALONE - t->l1_undos : 0;
}

static const uint32_t l1_queue = 1u << WG_PATH_L1;

/* Schedules a core or port. The ring may wake it too early, never too late; it then schedules itself again. */
static inline void schedule(core_group *w, unsigned bit, uint64_t now, uint64_t at)
{
    if (at == WG_NEVER)
        return;
    uint64_t ahead = at > now ? at - now : 0;
    uint64_t then = (now + (ahead < RING ? ahead : RING - 1)) % RING;
    w->ring[then] |= (uint8_t)(1u << bit);
    w->busy |= UINT64_C(1) << then;
}

static inline uint64_t next_of(const core_group *w, unsigned bit, uint64_t now)
{
    for (uint64_t at = now; at < now + RING; at++)
        if ((w->ring[at % RING] & ~(unsigned)w->resting) >> bit & 1)
            return at;
    return WG_NEVER;
}

/* All other cores rest. */
static inline bool is_alone(const core_group *w)
{
    const unsigned cores = w->awake & ~(unsigned)w->resting;
    return !(cores & (cores - 1));
}

/* May an instruction cache hold the line? */
static inline bool is_code(const wg_tile *t, uint32_t address)
{
    return t->regions.memory.l1.watch[address / WG_L1_LINE] & WG_L1_WATCH_CODE;
}

/* Derives drain_at; every queued store goes to L1 or own RAM. */
static inline void note_stores(core_slot *m)
{
    const wg_core_run *run = m->run;
    if (!run->sq_count) {
        m->drain_at = WG_NEVER;
        return;
    }
    const wg_store *s = wg_sq_peek(run, 0);
    uint64_t at = s->entered + 1;
    if (s->path == WG_PATH_OWN_RAM) {
        at = wg_max64(at, m->k->ram_ready);
    } else if (s->mask != 0xFFFF && m->merging) {
        uint64_t patience = at + (m->k->csr.cfg0 >> WG_CFG0_ST_MERGE_TIMER & 31);
        at = run->sq_count == 1 ? patience : wg_max64(at, wg_min64(patience, wg_sq_peek(run, 1)->first));
    }
    m->drain_at = wg_max64(at, run->mux_free);
}

/* Derives the fields about loads. Loads from L1 are answered in the order of their numbers. */
static inline void note_loads(core_slot *m)
{
    m->awaited = 0;
    m->twice = m->odd = false;
    m->loads = m->oldest = 0;
    m->unused = (1u << WG_LOADS) - 1;
    m->settle_at = WG_NEVER;
    for (unsigned i = 0; m->run->loads && i < WG_LOADS; i++) {
        const wg_load *l = &m->run->load[i];
        if (!l->used)
            continue;
        m->unused &= (uint8_t) ~(1u << i);
        m->settle_at = wg_min64(m->settle_at, l->done);
        m->odd |= l->path != WG_PATH_L1;
        unsigned at = m->loads++;
        for (; at && m->run->load[m->slot[at - 1]].number > l->number; at--)
            m->slot[at] = m->slot[at - 1];
        m->slot[at] = (uint8_t)i;
        if (l->done == WG_NEVER) {
            m->twice |= m->awaited >> (l->rd & 31) & 1;
            m->awaited |= 1u << (l->rd & 31);
        }
    }
}

/* Derives everything from the core's state. */
static inline void note(const wg_tile *t, core_group *w, unsigned core)
{
    core_slot *m = &w->at[core];
    const wg_core *k = m->k;
    m->cached = t->arch->l0_lines && !(k->csr.cfg0 & WG_CFG0_DIS_LOW_CASH);
    m->merging = t->arch->store_coalescing && !(k->csr.cfg0 & WG_CFG0_DIS_ST_MERGE);
    m->quick = k->run.queued && !k->run.ordered && !wg_one_at_a_time(k) && !(k->csr.cfg0 & WG_CFG0_DIS_LD_BUF_BYP) &&
               !wg_strongly_ordered(k);
    m->op = NULL;
    m->waits_for = ANY;
    m->blocked = true; /* conservative */
    m->mixed = false;
    w->elsewhere &= (uint8_t) ~(1u << core);
    for (unsigned i = 0; i < k->run.sq_count; i++) {
        const uint8_t path = wg_sq_peek(&k->run, i)->path;
        m->mixed |= path != WG_PATH_L1 && path != WG_PATH_OWN_RAM;
    }
    w->elsewhere |= (uint8_t)(m->mixed << core);
    note_loads(m);
    note_stores(m);
    w->seen_at[core] = wg_queue_seen_at(m->queue);
    if (m->queue->count)
        schedule(w, PORT_BITS + m->port, t->sched.now, t->sched.now + 1);
    for (unsigned i = 0; i < m->queue->count; i++) {
        const wg_request *req = &m->queue->ring[(m->queue->head + i) % WG_QUEUE_DEPTH];
        w->in_step |= req->kind == WG_REQ_ATOMIC || (req->kind == WG_REQ_WRITE && is_code(t, req->address));
    }
}

/* group_cycle.c: one cycle of the cores and ports in `who`, which have something to do. */
void wg_group_cycle(wg_tile *t, core_group *w, unsigned who);

/* As wg_lsu_settle(). */
static inline void settle(core_slot *m, uint64_t time)
{
    wg_core_run *run = m->run;
    if (m->settle_at > time)
        return;
    if (m->odd) {
        wg_lsu_settle(m->k, time);
        note_loads(m);
        return;
    }
    do {
        unsigned slot = m->slot[m->oldest];
        wg_load *l = &run->load[slot];
        if (l->fills && !l->flushed)
            wg_l0_fill(run, l);
        l->used = false;
        m->unused |= (uint8_t)(1u << slot);
        m->oldest = (uint8_t)((m->oldest + 1) % WG_LOADS);
        m->settle_at = --m->loads ? run->load[m->slot[m->oldest]].done : WG_NEVER;
        if (!--run->loads) {
            m->awaited = 0; /* conservative until then */
            m->twice = false;
        }
    } while (m->settle_at <= time);
}

#endif
