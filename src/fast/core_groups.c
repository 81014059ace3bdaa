/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group of cores that access L1 while no other agent of the tile acts. It runs without the schedule for as long as that holds
 * and the cores access L1 often enough.
 *
 *     begin() ── derive the cores' slots ──> run() ── wg_group_cycle() for each busy cycle ──> end() ── schedule the cores again
 *
 * On a chip a packet may arrive after the horizon. A single core may run beyond the horizon, ahead of the clock, for up to MOST
 * cycles, with a checkpoint.
 *
 *     checkpoint ──> run() ──> the clock catches up: the checkpoint is dropped
 *         └── rollback: a packet arrives or somebody looks first; run() again, up to that cycle
 *
 * The checkpoint consists of wg_core.saved, the port, the banks and the requests to L1 (wg_tile.l1_saved), and undo logs of own
 * RAM and the predictor (wg_core.undo) and of L1 (wg_tile.l1_undo). Anything that cannot be rolled back ends the run.
 *
 * Facts: as in group_cycle.c.
 */
#include "fast/rounds.h"

#include <string.h>
#include "machine/device.h"

/* ---- when, and for how long --------------------------------------------------------------------------------- */

/* No core request in flight to a region other than L1 can be processed before this cycle. */
static uint64_t other_regions(const wg_tile *t)
{
    uint64_t until = WG_NEVER;
    for (unsigned i = 0; i < WG_CORES; i++)
        for (uint32_t queues = t->regions.memory.active[i] & ~l1_queue & ~(1u << WG_PATH_PUSH); queues;
             queues &= queues - 1) {
            const wg_request_queue *queue = &t->regions.memory.queue[i][__builtin_ctz(queues)];
            until = wg_min64(until, wg_max64(wg_queue_seen_at(queue), queue->retry_at));
        }
    return until;
}

/* No other agent of the tile acts before this cycle. */
static uint64_t others(const wg_tile *t)
{
    uint64_t until = wg_min64(t->limit, other_regions(t));
    for (unsigned i = WG_AGENT_CORE_T2 + 1; i < WG_AGENT_COUNT; i++)
        if (i != WG_AGENT_REGIONS)
            until = wg_min64(until, t->sched.next[i]);
    if (t->poll.stop_at > t->sched.now)
        until = wg_min64(until, t->poll.stop_at);
    return until;
}

/* Cores that are scheduled, or that L1 will wake. */
static unsigned active_cores(const wg_tile *t)
{
    unsigned cores = 0;
    for (unsigned i = 0; i < WG_CORES; i++)
        if (t->core[i].run.halt != WG_IN_RESET &&
            (t->sched.next[WG_AGENT_CORE_B + i] != WG_NEVER || t->regions.memory.active[i] & l1_queue))
            cores |= 1u << i;
    return cores;
}

static bool can_go(const wg_tile *t)
{
    if (!wg_fast(t, WG_FAST_CORE_GROUPS) || t->l1_watched || t->sched.now < t->poll.observed_until)
        return false;
    for (unsigned i = 0; i < WG_CORES; i++)
        if (t->core[i].stepping || t->core[i].breakpoints || wg_fast_through_l1(t, &t->core[i]))
            return false;
    return true;
}

static bool nothing_under_way(const core_group *w)
{
    uint64_t first = WG_NEVER;
    for (unsigned i = 0; i < WG_CORES; i++)
        first = wg_min64(first, w->seen_at[i]);
    return first == WG_NEVER;
}

/* Fills in the requests of loads before others look at the queues. */
static void write_out(const core_slot *m)
{
    for (unsigned i = 0; i < m->queue->count; i++) {
        wg_request *req = &m->queue->ring[(m->queue->head + i) % WG_QUEUE_DEPTH];
        if (req->kind != WG_REQ_READ || (req->tag & WG_TAG_FETCH))
            continue;
        wg_load *l = &m->run->load[req->tag % WG_LOADS];
        memset(l->line, 0, sizeof l->line);
        *req = (wg_request){.seen_at = req->seen_at,
                            .address = l->address,
                            .pc = l->pc,
                            .kind = WG_REQ_READ,
                            .path = WG_PATH_L1,
                            .bytes = (uint8_t)wg_load_bytes(l->size),
                            .core = m->core,
                            .tag = req->tag,
                            .rd = req->rd};
    }
}

/* ---- the group --------------------------------------------------------------------------------------------- */

static void begin(wg_tile *t, core_group *w, struct wg_rounds *rounds, unsigned cores, uint64_t until)
{
    const uint64_t now = t->sched.now;
    rounds->records = rounds->known = rounds->watches = false;
    rounds->tries = 0;
    rounds->wait = rounds->patience = 0;
    *w = (core_group){.began = now, .until = until, .in_step = t->dev->stop_at != WG_SEVERITY_NEVER, .rounds = rounds};
    for (unsigned i = 0; i <= WG_CORES; i++)
        w->seen_at[i] = WG_NEVER;
    for (unsigned i = 0; i < WG_CORES; i++) {
        wg_core *k = &t->core[i];
        wg_core_sync(t, i);
        k->saved_at = WG_NEVER;
        k->l1_ahead = false;
        w->at[i] = (core_slot){.k = k,
                               .run = &k->run,
                               .queue = &t->regions.memory.queue[i][WG_PATH_L1],
                               .core = (uint8_t)i,
                               .port = i >= WG_CORE_T1,
                               .sets = t->spec->core[i].icache_bytes / 32u - 1};
        if (k->run.halt == WG_IN_RESET)
            continue;
        w->awake |= (uint8_t)(1u << i);
        wg_begin_queue(&k->run);
        note(t, w, i);
        if (cores >> i & 1)
            schedule(w, i, now, now);
        else
            w->resting |= (uint8_t)(1u << i);
    }
    t->l1_undos = 0;
    schedule(w, PORT_BITS, now, now);
    schedule(w, PORT_BITS + 1, now, now);
}

/* Runs the group; with `dense`, only while L1 is accessed often enough. */
static void run(wg_tile *t, core_group *w, bool dense)
{
    wg_schedule *s = &t->sched;
    uint64_t look_at = s->now + LOOK, served = 0, done = s->now; /* all cycles before `done` are complete */
    while (s->now < w->until) {
        const unsigned gap =
            w->busy ? (unsigned)__builtin_ctzll(w->busy >> s->now % RING | w->busy << -s->now % RING) : RING;
        if (gap == RING || s->now + gap >= w->until)
            break;
        s->now += gap;
        unsigned who = w->ring[s->now % RING] & ~(unsigned)w->resting;
        if (!(who & ((1u << WG_CORES) - 1)) && nothing_under_way(w)) {
            w->ring[s->now % RING] = 0;
            w->busy &= ~(UINT64_C(1) << s->now % RING);
            continue;
        }
        wg_group_cycle(t, w, who);
        done = s->now;
        if (w->stops)
            break;
        s->now++;
        if (w->edges && wg_fast(t, WG_FAST_ROUNDS)) {
            wg_rounds_edge(t, w, w->edges);
            w->edges = 0;
        }
        done = s->now;
        if (w->detour) {
            w->detour = false;
            w->until = wg_min64(w->until, others(t));
            if (t->dev->stop_requested)
                break;
        }
        if (!group_log_room(t))
            w->until = wg_min64(w->until, s->now + ALONE + 2);
        if (s->now >= look_at) {
            if (dense && (w->served - served) * SPARSE < LOOK)
                break;
            served = w->served;
            look_at = s->now + LOOK;
        }
    }
    s->now = done; /* the engine skips idle cycles */
}

/* Schedules cores and L1. */
static void end(wg_tile *t, core_group *w)
{
    wg_schedule *s = &t->sched;
    wg_fast_used(t, WG_FAST_CORE_GROUPS, s->now - w->began);
    s->phase = WG_PHASE_ARRIVALS;
    wg_set_wake(s, WG_AGENT_REGIONS, wg_max64(other_regions(t), s->now + w->stops));
    for (unsigned i = 0; i < WG_CORES; i++) {
        const bool stops = w->stops && !(w->resting >> i & 1) && (w->awake >> i & 1);
        wg_set_wake(s, WG_AGENT_CORE_B + i, stops ? s->now : next_of(w, i, s->now));
        write_out(&w->at[i]);
        if (t->regions.memory.active[i] & l1_queue) /* w->stops: phase C of this cycle is complete */
            wg_wake_at(s, WG_AGENT_REGIONS, s->now + w->stops);
    }
    t->l1_turns = s->now + ALONE >= w->until && !w->stops ? WG_L1_TURNS
                  : w->served >= WG_L1_TURNS              ? WG_L1_TURNS / 2
                                                          : 0;
    t->l1_turns_from = s->now;
}

/* ---- beyond the horizon of a chip ----------------------------------------------------------------------------- */

/* Copies port, banks and requests to the checkpoint, or back. */
static void copy_l1(wg_tile *t, unsigned core, bool back)
{
    wg_memory *m = &t->regions.memory;
    const unsigned port = wg_l1_port((wg_l1_client)core);
    WG_COPY(back, t->l1_saved.port_free, m->l1.port_free[port]);
    WG_COPY(back, t->l1_saved.turn, m->l1.turn[port]);
    WG_COPY(back, t->l1_saved.bank_free, m->l1.bank_free);
    WG_COPY(back, t->l1_saved.queue, m->queue[core][WG_PATH_L1]);
    WG_COPY(back, t->l1_saved.active, m->active[core]);
    WG_COPY(back, t->l1_saved.emitted, m->emitted[core]);
}

/* Can everything that the core has in flight be rolled back? */
static bool can_roll_back(const wg_tile *t, const core_slot *m)
{
    if (!m->quick || m->mixed || m->odd || m->run->fetch[0].used || m->run->fetch[1].used)
        return false;
    for (unsigned i = 0; i < m->queue->count; i++) {
        const wg_request *req = &m->queue->ring[(m->queue->head + i) % WG_QUEUE_DEPTH];
        if (req->kind == WG_REQ_ATOMIC ||
            (req->kind == WG_REQ_WRITE && t->regions.memory.l1.watch[req->address / WG_L1_LINE] & ~(1u << m->core)))
            return false;
    }
    return true;
}

/* The group is a single core. It runs ahead of the clock, which does not advance; an arriving packet causes a rollback. */
static bool run_ahead(wg_tile *t, core_group *w, unsigned core)
{
    wg_schedule *s = &t->sched;
    wg_core *k = &t->core[core];
    const uint64_t now = s->now;
    if (!can_roll_back(t, &w->at[core]))
        return false;
    wg_fast_checkpoint(t, core);
    copy_l1(t, core, false);
    k->l1_ahead = true;
    run(t, w, true);
    k->l1_until = s->now;
    end(t, w);
    s->now = now;
    if (k->l1_until > now)
        return true;
    k->l1_ahead = false;
    k->saved_at = WG_NEVER;
    return true;
}

void wg_group_repeat(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_schedule *s = &t->sched;
    const unsigned agent = WG_AGENT_CORE_B + core;
    const uint64_t now = s->now, from = k->saved_at;
    const uint8_t phase = s->phase;
    core_group w;
    struct wg_rounds rounds;
    wg_undo_lines(t->l1, t->l1_undo, &t->l1_undos);
    copy_l1(t, core, true);
    k->l1_ahead = false;
    k->saved_at = WG_NEVER;
    k->undo_count = 0;
    s->now = from;
    begin(t, &w, &rounds, 1u << core, now);
    run(t, &w, false);
    end(t, &w);
    s->now = now;
    if (phase > WG_PHASE_REGIONS && s->next[WG_AGENT_REGIONS] <= now) { /* this cycle's phase C is complete */
        wg_cancel_wake(s, WG_AGENT_REGIONS);
        s->phase = WG_PHASE_REGIONS;
        wg_regions_tick(t);
    }
    uint64_t next = s->next[agent]; /* this cycle, if the cores have not run in it yet */
    if (next <= now)
        next = phase < wg_agent_first_phase(agent) ? now : now + 1;
    wg_set_wake(s, agent, next);
    s->phase = phase;
}

void wg_fast_packet(wg_tile *t)
{
    for (unsigned core = 0; core < WG_CORES; core++)
        if (t->core[core].l1_ahead)
            wg_core_sync(t, core);
}

bool wg_core_groups(wg_tile *t)
{
    const uint64_t now = t->sched.now;
    const bool dense = now - t->l1_turns_from < (uint64_t)t->l1_turns * SPARSE;
    t->l1_turns = 0;
    t->l1_turns_from = now;
    if (!dense || !can_go(t))
        return false;
    const unsigned cores = active_cores(t);
    const uint64_t until = others(t);
    const bool ahead = until > t->horizon && cores && !(cores & (cores - 1));
    core_group w;
    struct wg_rounds rounds;
    if ((ahead ? until : wg_min64(until, t->horizon)) < now + LEAST)
        return false;
    begin(t, &w, &rounds, cores, ahead ? wg_min64(until, now + MOST) : wg_min64(until, t->horizon));
    if (ahead)
        return run_ahead(t, &w, (unsigned)__builtin_ctz(cores));
    run(t, &w, true);
    end(t, &w);
    return true;
}
