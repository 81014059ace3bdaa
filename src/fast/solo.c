/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core runs ahead of the clock through L1 while no other agent acts (before solo_until). It books port and bank itself:
 * each request is processed as soon as they are free.
 *
 *     pipeline ── wg_fast_solo() ── wg_exec() ── load/store unit ── wg_solo_store(), wg_fast_solo_load()
 *
 * On a chip a packet may arrive meanwhile. Then the core is rolled back to its checkpoint, together with the lines it wrote
 * and the state of port and banks (wg_tile.l1_undo, wg_core.solo_l1), and executes again up to the packet's cycle.
 *
 * Facts: as in riscv/lsu.c and tile/l1.c.
 */
#include "fast/cores.h"
#include "fast/loops.h"

#include <string.h>

enum { SOLO_LEAST = 16, SOLO_SETTLES = 16, SOLO_MOST = 4096 /* polling is looked for in between */ };

/* ---- checkpoint and rollback of L1 ---------------------------------------------------------------------------- */

/* Copies port, banks and requests to the checkpoint, or back. */
static inline void copy_l1(wg_tile *t, unsigned core, const bool back)
{
#define COPY(there, here) (back ? memcpy(&(here), &(there), sizeof(here)) : memcpy(&(there), &(here), sizeof(here)))
    wg_core *k = &t->core[core];
    wg_memory *m = &t->regions.memory;
    const unsigned port = wg_l1_port((wg_l1_client)core);
    COPY(k->solo_l1.port_free, m->l1.port_free[port]);
    COPY(k->solo_l1.turn, m->l1.turn[port]);
    COPY(k->solo_l1.bank_free, m->l1.bank_free);
    COPY(k->solo_l1.last_seen_at, m->queue[core][WG_PATH_L1].last_seen_at);
    COPY(k->solo_l1.emitted, m->emitted[core]);
    COPY(k->solo_l1.at, k->solo_at);
    COPY(k->solo_l1.next, k->solo_next);
#undef COPY
}

static void restore_l1(wg_tile *t, unsigned core)
{
    wg_undo_lines(t->l1, t->l1_undo, &t->l1_undos);
    copy_l1(t, core, true);
}

/* Runs ahead to `until`. Returns when to go on, as wg_exec() does. */
static uint64_t run_solo(wg_tile *t, unsigned core, uint64_t until)
{
    wg_core *k = &t->core[core];
    uint64_t now = t->sched.now;
    k->solo_until = until;
    uint64_t stop = wg_min64(until, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
    stop = wg_max64(wg_min64(stop, wg_lsu_bound(t, core)), now + 1);
    uint64_t again = k->run.halt || k->run.ex1.kind ? WG_NEVER : wg_exec(t, core, stop);
    /* Stores that leave before the next instruction leave now. The tile is not idle before the last request has been
     * processed. */
    wg_lsu_drain_private(t, core, wg_min64(k->run.at, k->solo_until));
    k->solo_until = 0;
    for (unsigned i = 0; i < WG_SOLO_RECENT; i++)
        if (k->solo_at[i] > now)
            wg_wake_at(&t->sched, WG_AGENT_REGIONS, k->solo_at[i]);
    return again;
}

/*
 * The core, back at its checkpoint, executes again up to the current cycle: first ahead of the clock, then cycle by cycle
 * for requests that have left the core and have not been processed. No other agent acts before.
 */
void wg_solo_repeat(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_schedule *s = &t->sched;
    const unsigned agent = WG_AGENT_CORE_B + core;
    const uint64_t now = s->now, limit = t->limit, outside = t->horizon;
    const uint8_t phase = s->phase, pending = s->pending_cores;
    restore_l1(t, core);
    k->solo_saved = false;
    s->now = k->saved_at;
    s->phase = WG_PHASE_PIPELINES;
    s->pending_cores = 0;
    s->next[agent] = WG_NEVER;
    k->saved_at = WG_NEVER;
    k->undo_count = 0;
    t->limit = now;
    t->horizon = WG_NEVER;
    if (s->now < now)
        wg_core_pipeline(t, core);
    for (;;) {
        s->now = wg_min64(s->next[agent], s->next[WG_AGENT_REGIONS]);
        if (s->now >= now)
            break;
        if (s->next[WG_AGENT_REGIONS] == s->now) {
            s->next[WG_AGENT_REGIONS] = WG_NEVER;
            s->phase = WG_PHASE_REGIONS;
            wg_regions_tick(t);
        }
        if (s->next[agent] == s->now) {
            s->next[agent] = WG_NEVER;
            s->phase = WG_PHASE_LOAD_STORE;
            wg_cores_tick(t, 1u << core);
        }
    }
    s->now = now;
    if (phase > WG_PHASE_REGIONS && s->next[WG_AGENT_REGIONS] <= now) { /* this cycle's phase C is over */
        s->next[WG_AGENT_REGIONS] = WG_NEVER;
        s->phase = WG_PHASE_REGIONS;
        wg_regions_tick(t);
    }
    uint64_t next = s->next[agent]; /* in this cycle if the cores have not run in it yet */
    if (next <= now)
        next = phase < wg_agent_first_phase(agent) ? now : now + 1;
    wg_appoint(s, agent, next);
    wg_appoint(s, WG_AGENT_REGIONS, s->next[WG_AGENT_REGIONS]);
    s->phase = phase;
    s->pending_cores = pending;
    t->limit = limit;
    t->horizon = outside;
}

void wg_fast_unsolo(wg_tile *t)
{
    for (unsigned core = 0; core < WG_CORES; core++)
        if (t->core[core].solo_saved)
            wg_core_sync(t, core);
}

void wg_solo_end(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    const bool later = wg_solo_under_way(k, t->sched.now);
    if (later)
        wg_core_sync(t, core);
    k->solo_saved = false;
    if (!later)
        k->saved_at = WG_NEVER;
}

/* ---- when, and how far ---------------------------------------------------------------------------------------- */

/* The cycle before which no agent but this core can act. */
static uint64_t horizon(const wg_tile *t, unsigned core)
{
    uint64_t until = t->sched.pending_cores ? t->sched.now : t->limit;
    if (t->poll.stop_at > t->sched.now) /* no request may be in flight ahead of the clock in that cycle */
        until = wg_min64(until, t->poll.stop_at - wg_min64(t->poll.stop_at, SOLO_SETTLES));
    uint32_t queues = 0;
    for (unsigned i = 0; i < WG_CORES; i++) {
        queues |= t->regions.memory.active[i];
        if (i != core)
            until = wg_min64(until, t->sched.next[WG_AGENT_CORE_B + i]);
    }
    if (until <= t->sched.now + SOLO_LEAST)
        return until;
    for (unsigned i = WG_AGENT_CORE_T2 + 1; i < WG_AGENT_COUNT; i++)
        if (queues || i != WG_AGENT_REGIONS)
            until = wg_min64(until, t->sched.next[i]);
    return until;
}

/* Is a store that others will see overdue because its path is full? */
static bool blocked(const wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    uint64_t free = k->run.mux_free;
    for (unsigned i = 0; i < k->run.sq_count; i++) {
        uint64_t at = wg_max64(free, wg_sq_ready_at(t, k, i));
        if (wg_sq_peek(&k->run, i)->path != WG_PATH_OWN_RAM)
            return at <= t->sched.now;
        free = at + 1;
    }
    return false;
}

uint64_t wg_solo_until(const wg_tile *t, unsigned core)
{
    const uint64_t now = t->sched.now;
    if (now < t->poll.observed_until)
        return 0;
    uint64_t until = wg_min64(horizon(t, core), now + SOLO_MOST);
    return until <= now + SOLO_LEAST || blocked(t, core) ? 0 : until;
}

/*
 * Runs ahead to `until`. On a chip an unknown packet may arrive after `horizon`; a run beyond that starts with a
 * checkpoint.
 */
uint64_t wg_fast_solo(wg_tile *t, unsigned core, uint64_t until)
{
    wg_core *k = &t->core[core];
    wg_fast_used(t, WG_FAST_SOLO);
    if (until <= t->horizon) {
        uint64_t again = run_solo(t, core, until);
        /* Work older than the first instruction reaches the clock in this cycle. */
        return again > t->sched.now ? again : wg_exec(t, core, t->sched.now + 1);
    }
    wg_fast_checkpoint(t, core);
    copy_l1(t, core, false);
    t->l1_undos = 0;
    k->solo_saved = true;
    k->solo_end = until;
    uint64_t again = run_solo(t, core, until);
    if (again > t->sched.now)
        return again;
    /* The first instruction needs the clock and cannot be rolled back. */
    wg_ahead_undo(k);
    k->run = k->saved;
    restore_l1(t, core);
    k->solo_saved = false;
    k->saved_at = WG_NEVER;
    return wg_exec(t, core, t->sched.now + 1);
}

/* ---- requests to L1 ------------------------------------------------------------------------------------------- */

/*
 * The cycle in which a request that is emitted in m is processed: when its port and bank are free. WG_NEVER if it is left
 * to the clock. Up to m + SOLO_WAIT nothing that this core does after m can bring another client to the port.
 */
enum { SOLO_WAIT = 6 };
static uint64_t processed_at(const wg_tile *t, unsigned core, uint32_t address, uint64_t m)
{
    const wg_core *k = &t->core[core];
    const wg_memory *mem = &t->regions.memory;
    uint64_t p = m + t->timing->path[WG_PATH_L1].travel;
    p = wg_max64(p, mem->l1.port_free[wg_l1_port((wg_l1_client)core)]);
    p = wg_max64(p, mem->l1.bank_free[wg_l1_bank(t->arch->l1_banks, address)]);
    for (unsigned i = 0; i < WG_FETCHES; i++)
        if (__builtin_expect(k->run.fetch[i].used && k->run.fetch[i].emit_at != WG_NEVER, 0))
            return WG_NEVER; /* the fetch goes first */
    return p < k->solo_until && p <= m + SOLO_WAIT && !mem->queue[core][WG_PATH_L1].count ? p : WG_NEVER;
}

/* Books the port and bank as the regions' tick would. */
static void book(wg_tile *t, unsigned core, uint32_t address, uint64_t m, uint64_t p, bool narrow)
{
    wg_core *k = &t->core[core];
    wg_memory *mem = &t->regions.memory;
    mem->queue[core][WG_PATH_L1].last_seen_at = m + t->timing->path[WG_PATH_L1].travel;
    mem->emitted[core]++;
    wg_l1_book(t, (wg_l1_client)core, address, narrow ? WG_L1_NARROW : WG_L1_READ, p);
    k->solo_at[k->solo_next++ % WG_SOLO_RECENT] = p;
}

/* No cache but this core's own L0 holds the line; the core's stores invalidate that. */
static bool own_line(const wg_tile *t, unsigned core, uint32_t address)
{
    return !t->l1_watched && !(t->regions.memory.l1.watch[address / WG_L1_LINE] & ~(1u << core));
}

/* Can the store leave in cycle `at`? *p is when it is processed then. */
static bool may_leave(const wg_tile *t, unsigned core, const wg_store *s, uint64_t at, uint64_t *p)
{
    const wg_core *k = &t->core[core];
    if (!own_line(t, core, s->address))
        return false;
    *p = processed_at(t, core, s->address, at);
    if (*p == WG_NEVER)
        return false;
    if (k->solo_saved && t->l1_undos == WG_L1_UNDO)
        return false;
    return wg_solo_under_way(k, at) <= t->timing->path[WG_PATH_L1].travel;
}

bool wg_solo_leaves(const wg_tile *t, unsigned core, uint64_t at)
{
    uint64_t p;
    return may_leave(t, core, wg_sq_peek(&t->core[core].run, 0), at, &p);
}

bool wg_solo_store(wg_tile *t, unsigned core, uint64_t at)
{
    wg_core *k = &t->core[core];
    const wg_store *s = wg_sq_peek(&k->run, 0);
    uint64_t p;
    if (!may_leave(t, core, s, at, &p))
        return false;
    book(t, core, s->address, at, p, s->mask != 0xFFFF);
    wg_loop_note(t->loop, WG_LOOP_LEAVES, s->address, k->run.sq_head, false, s->mask,
                 p + (s->mask != 0xFFFF ? t->timing->narrow_write : 1u));
    if (k->run.loads)
        wg_lsu_settle(k, at);
    wg_l0_drop_line(&k->run, s->address);
    if (k->solo_saved)
        wg_log_line(&t->l1_undo[t->l1_undos++], t->l1, s->address);
    wg_l1_write_masked(t, (wg_l1_client)core, s->address, s->mask, s->data);
    return true;
}

bool wg_fast_solo_load(wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint64_t m, bool cached,
                       uint32_t *value, uint64_t *done)
{
    const uint64_t p = processed_at(t, core, address, m);
    if (p == WG_NEVER)
        return false;
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    unsigned slot = 0;
    while (run->load[slot].used)
        slot++;
    wg_load *l = &run->load[slot];
    if (cached && wg_l0_flushes(t, k, core))
        wg_lsu_flush_l0(k);
    book(t, core, address, m, p, false);
    wg_loop_note(t->loop, WG_LOOP_LOADS, address, 0, false, 0, p + 1);
    l->used = true;
    l->done = *done = p + t->timing->path[WG_PATH_L1].back;
    l->earliest = 0;
    l->number = run->number;
    l->address = address;
    l->pc = pc;
    l->rd = WG_REG_SINK;
    l->size = size;
    l->path = WG_PATH_L1;
    l->fills = cached;
    l->flushed = l->stale = false;
    memcpy(l->line, t->l1 + line_of(address), WG_L1_LINE);
    if (cached)
        t->regions.memory.l1.watch[address / WG_L1_LINE] |= (uint8_t)(1u << core);
    run->loads++;
    run->mux_free = wg_max64(run->mux_free, m + 1);
    *value = wg_load_value(l->line, address, size);
    return true;
}
