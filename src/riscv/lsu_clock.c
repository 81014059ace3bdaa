/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load/store unit in its own cycle: the instruction that waits in EX1 enters, requests leave (phase I), answers return,
 * and the next tick is scheduled. The part that runs ahead of the clock is in lsu.c.
 *
 * Facts: MemoryOrdering.md, README.md (Load/Store Unit), CSRs.md of each architecture.
 */
#include "riscv/lsu.h"

#include <string.h>
#include "machine/auto_ttsync.h"
#include "machine/sync.h"

static bool loads_done(const wg_core_run *run, uint64_t now)
{
    for (unsigned i = 0; i < WG_LOADS; i++)
        if (run->load[i].used && run->load[i].done > now)
            return false;
    return true;
}

bool wg_lsu_empty(const wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    return !k->run.sq_count && loads_done(&k->run, t->sched.now) && t->sched.now >= k->ram_ready;
}

/* The queue is full: of pushes, because the thread's FIFO is. */
static void queue_full(const wg_core_run *run, wg_stall *why)
{
    const wg_store *oldest = wg_sq_peek(run, 0);
    why->reason = WG_STALL_STORE_QUEUE_FULL;
    if (oldest->path == WG_PATH_PUSH)
        why->holder = (uint8_t)(WG_AGENT_THREAD0 + oldest->index);
}

/* May the instruction in EX1 enter in the current cycle? Changes nothing. */
static bool may_enter(const wg_tile *t, const wg_core *k, wg_stall *why)
{
    const wg_core_run *run = &k->run;
    const wg_ex1 *x = &run->ex1;
    uint64_t now = t->sched.now;
    *why = (wg_stall){.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    bool waits_for_all = x->kind == WG_EX1_FENCE || x->kind == WG_EX1_ATOMIC || wg_strongly_ordered(k);
    if (waits_for_all && (run->sq_count || !loads_done(run, now))) {
        why->reason = WG_STALL_FENCE;
        return false;
    }
    if (x->path == WG_PATH_OWN_RAM && now < k->ram_ready) {
        why->reason = WG_STALL_RAM_CLEARING;
        why->retry_at = k->ram_ready;
        return false;
    }
    if (x->kind == WG_EX1_STORE) {
        if (run->sq_count == WG_STORE_QUEUE && !wg_sq_mergeable(t, k, x)) {
            queue_full(run, why);
            return false;
        }
        return true;
    }
    if (x->kind != WG_EX1_LOAD)
        return true;
    if (run->wait_e == x->entered && now < run->wait_m) {
        why->reason = WG_STALL_STORE_CONFLICT;
        why->retry_at = run->wait_m;
        return false;
    }
    if (run->sq_count &&
        ((k->csr.cfg0 & WG_CFG0_DIS_LD_BUF_BYP) || wg_sq_conflict(t, run, x->address, wg_load_bytes(x->size)) >= 0)) {
        why->reason = WG_STALL_STORE_CONFLICT;
        why->resource = (uint16_t)run->sq_count;
        return false;
    }
    if (t->arch->load_needs_store_slot && run->sq_count == WG_STORE_QUEUE) {
        queue_full(run, why);
        return false;
    }
    if (x->path != WG_PATH_OWN_RAM) {
        unsigned flying = 0;
        for (unsigned i = 0; i < WG_LOADS; i++)
            flying += run->load[i].used && run->load[i].done > now;
        if (flying == WG_LOADS) {
            why->reason = WG_STALL_LOAD_RESPONSE;
            return false;
        }
    }
    return true;
}

static void report_unmapped(wg_tile *t, unsigned core, const wg_ex1 *x, bool hang)
{
    if (hang)
        wg_report_hanging(t, core, x->pc, x->address);
    else
        wg_report_unmapped(t, core, x->pc, x->address,
                           x->kind == WG_EX1_LOAD    ? WG_REQ_READ
                           : x->kind == WG_EX1_STORE ? WG_REQ_WRITE
                                                     : WG_REQ_ATOMIC);
}

/* What an answer of L1 takes at least. */
static uint32_t soonest_back(const wg_tile *t) { return t->what_if ? 1 : t->timing->path[WG_PATH_L1].back; }

/* A load or atomic leaves as a request. */
static void send_load(wg_tile *t, unsigned core, const wg_ex1 *x)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    unsigned slot = 0;
    while (slot < WG_LOADS - 1 && run->load[slot].used)
        slot++;
    bool atomic = x->kind == WG_EX1_ATOMIC;
    wg_load *l = &run->load[slot];
    *l = (wg_load){.used = true,
                   .done = WG_NEVER,
                   .earliest = WG_NEVER,
                   .number = x->number,
                   .address = x->address,
                   .pc = x->pc,
                   .rd = x->rd,
                   .size = x->size,
                   .path = x->path,
                   .index = x->index,
                   .fills =
                       !atomic && x->path == WG_PATH_L1 && t->arch->l0_lines && !(k->csr.cfg0 & WG_CFG0_DIS_LOW_CASH)};
    run->loads++;
    if (x->path == WG_PATH_UNMAPPED || x->path == WG_PATH_HANG) {
        report_unmapped(t, core, x, false); /* the load never returns */
        return;
    }
    if (l->fills && wg_l0_flushes(t, k, core))
        wg_lsu_flush_l0(k), l->flushed = false;
    wg_request req = {.address = x->address,
                      .pc = x->pc,
                      .kind = atomic ? WG_REQ_ATOMIC : WG_REQ_READ,
                      .path = x->path,
                      .bytes = (uint8_t)wg_load_bytes(x->size),
                      .op = x->op,
                      .core = (uint8_t)core,
                      .tag = (uint8_t)slot,
                      .index = x->index,
                      .data = {x->data[0]},
                      .rd = x->rd};
    for (unsigned i = 0; i < run->sq_count; i++) {
        const wg_store *s = wg_sq_peek(run, i);
        req.overtakes = (uint8_t)(req.overtakes + (s->path == WG_PATH_PUSH));
        if (s->path == WG_PATH_PUSH)
            for (unsigned w = 0; w < s->bytes / 4u; w++)
                wg_ttsync_load_overtakes(t, core, (wg_path)x->path, x->address, x->pc, s->data[w]);
    }
    wg_memory_emit(t, &req);
    if (wg_touch_watched(t) && x->rd < WG_REG_SINK) {
        wg_unconsumed *u = &t->unconsumed[core];
        *(x->rd < 32 ? &u->x : &u->f) |= UINT64_C(1) << (x->rd & 31);
        u->address[x->rd] = x->address;
        u->number[x->rd] = x->number;
        u->word[x->rd] = WG_REQUEST_WORD(x->path, x->index, req.bytes, x->rd);
    }
    if (l->fills)
        l->earliest = req.seen_at + soonest_back(t);
}

/* The instruction in EX1 enters the load/store unit in the current cycle. Returns whether it used the mux. */
static bool enter(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    wg_ex1 x = run->ex1;
    uint64_t now = t->sched.now;
    run->ex1.kind = WG_EX1_NONE;
    run->at = wg_max64(run->at, now);
    if (wg_strongly_ordered(k))
        wg_lsu_flush_l0(k);
    switch (x.kind) {
    case WG_EX1_STORE:
        if (x.path == WG_PATH_HANG) {
            report_unmapped(t, core, &x, true);
            run->halt = WG_HUNG;
            WG_EMIT(t, WG_EV_CORE_STATE, core, .a = 2, .pc = x.pc);
            return false;
        }
        if (x.path == WG_PATH_UNMAPPED) { /* Decided here: discarded at once; hardware may also stall forever */
            report_unmapped(t, core, &x, false);
        } else {
            if (x.path == WG_PATH_L1)
                wg_l0_drop_line(run, x.address);
            if (!wg_sq_coalesce(t, k, &x, now))
                wg_sq_enqueue(run, &x, now);
        }
        wg_fill_retire(run, x.number, now + 1);
        return false;
    case WG_EX1_FENCE:
        WG_EMIT(t, WG_EV_CORE_FENCE, core, .pc = x.pc);
        wg_lsu_flush_l0(k);
        wg_fill_retire(run, x.number, now + 1);
        return false;
    case WG_EX1_ATOMIC:
        WG_EMIT(t, WG_EV_CORE_FENCE, core, .pc = x.pc);
        wg_lsu_flush_l0(k);
        send_load(t, core, &x);
        return true;
    default: break;
    }
    uint32_t value;
    uint64_t m, done;
    k->stop = now + 1;
    if (!wg_strongly_ordered(k) &&
        wg_lsu_load(t, core, x.address, x.size, x.pc, now - 1, &value, &m, &done) == WG_LSU_DONE) {
        run->r[x.rd] = value;
        wg_supersede(run, x.rd, x.number);
        wg_fill_retire(run, x.number, done);
        return x.path == WG_PATH_OWN_RAM;
    }
    if (x.path == WG_PATH_OWN_RAM) { /* strongly ordered: the queue is empty */
        uint32_t line[4];
        memcpy(line, k->ram + ((x.address - WG_RAM_BASE) & (WG_RAM_MAX - 1) & ~15u), WG_L1_LINE);
        run->r[x.rd] = wg_load_value(line, x.address, x.size);
        wg_supersede(run, x.rd, x.number);
        wg_fill_retire(run, x.number, now + 1);
        return true;
    }
    send_load(t, core, &x);
    return true;
}

void wg_lsu_drain(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    uint64_t now = t->sched.now;
    if (!run->sq_count || run->mux_free > now || wg_sq_ready_at(t, k, 0) > now)
        return;
    wg_store *s = wg_sq_at(run, 0);
    if (s->path == WG_PATH_OWN_RAM || !wg_memory_room(t, core, s->path, s->index))
        return;
    wg_request req = {.address = s->address,
                      .pc = s->pc,
                      .kind = WG_REQ_WRITE,
                      .path = s->path,
                      .bytes = s->bytes,
                      .core = (uint8_t)core,
                      .index = s->index,
                      .byte_mask = s->mask};
    memcpy(req.data, s->data, sizeof req.data);
    if (s->path == WG_PATH_L1) {
        req.address &= ~(uint32_t)(WG_L1_LINE - 1);
        req.bytes = WG_L1_LINE;
        wg_l0_drop_line(run, s->address);
    }
    wg_sq_pop(run);
    run->mux_free = now + 1;
    wg_memory_emit(t, &req);
}

bool wg_lsu_wants(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    const wg_core_run *run = &k->run;
    uint64_t now = t->sched.now, free = run->mux_free;
    if (run->ex1.kind && run->ex1.entered < now)
        return true;
    for (unsigned i = 0; i < run->sq_count; i++) {
        const wg_store *s = wg_sq_peek(run, i);
        uint64_t at = wg_max64(free, wg_sq_ready_at(t, k, i));
        if (s->path != WG_PATH_OWN_RAM)
            return at <= now && wg_memory_room(t, core, s->path, s->index);
        if (at >= now)
            return false;
        free = at + 1;
    }
    return false;
}

void wg_lsu_emit(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    uint64_t now = t->sched.now;
    wg_stall why;
    wg_lsu_drain_private(t, core, now);
    if (k->run.loads)
        wg_lsu_settle(k, now);
    bool mux = false;
    if (k->run.ex1.kind && k->run.ex1.entered < now && may_enter(t, k, &why))
        mux = enter(t, core);
    if (mux)
        k->run.mux_free = now + 1;
    else
        wg_lsu_drain(t, core);
    wg_lsu_drain_private(t, core, now + 1);
    /* The queue was full; an entry left in this same cycle. */
    if (k->run.ex1.kind == WG_EX1_STORE && k->run.ex1.entered < now && may_enter(t, k, &why))
        enter(t, core);
}

/* Does the store in EX1 find the queue full, until a first store leaves that others can see? */
static bool waits_for_first(const wg_tile *t, const wg_core *k)
{
    const wg_core_run *run = &k->run;
    return run->ex1.kind == WG_EX1_STORE && run->sq_count == WG_STORE_QUEUE &&
           wg_sq_peek(run, 0)->path != WG_PATH_OWN_RAM && !wg_sq_mergeable(t, k, &run->ex1);
}

uint64_t wg_lsu_next_busy(const wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    const wg_core_run *run = &k->run;
    uint64_t now = t->sched.now, next = WG_NEVER, free = run->mux_free;
    const bool waits = run->ex1.kind != WG_EX1_NONE;
    const wg_store *head = wg_sq_peek(run, 0);
    if (!waits && !wg_sq_first_changes(run)) /* if the path is full, the region wakes the core when it has room */
        return wg_memory_room(t, core, head->path, head->index) ? wg_max64(wg_max64(free, head->entered + 1), now + 1)
                                                                : WG_NEVER;
    if (waits && run->ex1.entered >= now && !waits_for_first(t, k))
        next = run->ex1.entered + 1;
    for (unsigned i = 0; i < run->sq_count; i++) {
        const wg_store *s = wg_sq_peek(run, i);
        uint64_t at = wg_max64(free, wg_sq_ready_at(t, k, i));
        if (s->path != WG_PATH_OWN_RAM) {
            /* likewise */
            if ((s->path == WG_PATH_L1 && at > now) || wg_memory_room(t, core, s->path, s->index))
                next = wg_min64(next, wg_max64(at, now + 1));
            break;
        }
        if (waits)
            next = wg_min64(next, wg_max64(at, now + 1));
        free = at + 1;
    }
    if (waits && run->ex1.entered < now) {
        for (unsigned i = 0; i < WG_LOADS; i++)
            if (run->load[i].used && run->load[i].done != WG_NEVER && run->load[i].done > now)
                next = wg_min64(next, run->load[i].done);
        if (run->ex1.path == WG_PATH_OWN_RAM && k->ram_ready > now)
            next = wg_min64(next, k->ram_ready);
        if (run->wait_e == run->ex1.entered && run->wait_m > now)
            next = wg_min64(next, run->wait_m);
        wg_stall why;
        if (may_enter(t, k, &why))
            next = wg_min64(next, now + 1);
    }
    return next;
}

uint64_t wg_lsu_bound_busy(const wg_tile *t, unsigned core)
{
    const wg_core_run *run = &t->core[core].run;
    uint64_t bound = WG_NEVER;
    for (unsigned i = 0; run->loads && i < WG_LOADS; i++)
        if (run->load[i].used && run->load[i].done == WG_NEVER && run->load[i].fills)
            /* an instruction that enters EX1 one cycle earlier looks the L0 cache up in the cycle of the fill */
            bound = wg_min64(bound, wg_max64(run->load[i].earliest, t->sched.now + 1 + soonest_back(t)) - 1);
    return bound;
}

void wg_lsu_respond(wg_tile *t, wg_core_run *run, const wg_request *req, const uint32_t value[4])
{
    wg_load *l = &run->load[req->tag % WG_LOADS];
    if (!l->used || l->done != WG_NEVER)
        return;
    uint32_t back = t->timing->path[req->path].back;
    wg_supersede(run, l->rd, l->number);
    if (req->kind == WG_REQ_ATOMIC) {
        back += t->timing->atomic_extra;
        run->r[l->rd] = value[0];
    } else if (req->path == WG_PATH_SYNC) {
        back += wg_is_semaphore(req) ? 0 : t->timing->sync_extra;
        run->r[l->rd] = wg_load_value(value, 0, l->size);
    } else if (req->path == WG_PATH_L1) {
        memcpy(l->line, value, sizeof l->line);
        run->r[l->rd] = wg_load_value(value, req->address, l->size);
    } else {
        run->r[l->rd] = wg_load_value(value, 0, l->size); /* the region returns only the requested bytes */
    }
    run->r[0] = 0;
    l->done = t->sched.now + wg_load_travels(t, req->core, req->pc, back);
    wg_fill_retire(run, l->number, l->done);
}

void wg_lsu_why(const wg_tile *t, unsigned core, wg_stall *why)
{
    const wg_core *k = &t->core[core];
    if (k->run.ex1.kind && may_enter(t, k, why))
        *why = (wg_stall){.reason = WG_STALL_MULTI_CYCLE, .holder = WG_AGENT_NONE, .retry_at = t->sched.now + 1};
}
