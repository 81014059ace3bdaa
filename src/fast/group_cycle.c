/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle of a group of cores (core_groups.c): phases C, I and J of the cores and ports that are busy in it.
 *
 *     C   ports 2 and 3 of L1 serve one core each              serve_port()
 *     I   load/store units: EX1 enters, stores leave           load_store()
 *     J   pipelines: one instruction per core, or more ahead   pipeline()
 *
 * The functions below are fast paths of wg_regions_tick(), wg_lsu_emit() and wg_exec(); every other case calls those
 * (slow_path()). With several cores, each runs at most AHEAD cycles ahead of the others, and only where no rollback can be
 * needed. A single core runs ahead until something in flight could reach it.
 *
 * Facts: as in lsu.c, exec.c and tile/l1.c; time.md rules 2, 6 and 7.
 */
/* Loading a word right after its bytes were stored one by one stalls the host. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-store-merging", "no-tree-slp-vectorize")
#endif

#include "fast/rounds.h"

#include <string.h>

/* ---- C: L1 ------------------------------------------------------------------------------------------------- */

static void answer(wg_tile *t, core_group *w, core_slot *m, const wg_request *req)
{
    wg_core_run *run = m->run;
    wg_load *l = &run->load[req->tag % WG_LOADS];
    uint32_t line = line_of(l->address);
    if (l->fills)
        t->regions.memory.l1.watch[line / WG_L1_LINE] |= (uint8_t)(1u << m->core);
    if (!l->used || l->done != WG_NEVER)
        return;
    l->done = t->sched.now + t->timing->path[WG_PATH_L1].back;
    m->settle_at = wg_min64(m->settle_at, l->done);
    if (m->twice)
        wg_supersede(run, l->rd, l->number);
    memcpy(l->line, t->l1 + line, WG_L1_LINE);
    run->r[l->rd] = wg_load_value(l->line, l->address, l->size);
    run->r[0] = 0;
    wg_fill_retire(run, l->number, l->done);
    if (!run->halt && (m->waits_for == ANY || m->waits_for == l->number))
        schedule(w, m->core, t->sched.now, l->done);
}

/* L1 processes the head of the core's queue. */
static void process(wg_tile *t, core_group *w, core_slot *m)
{
    wg_request_queue *queue = m->queue;
    wg_request *req = &queue->ring[queue->head];
    if (req->kind == WG_REQ_READ && !(req->tag & WG_TAG_FETCH)) {
        answer(t, w, m, req);
    } else if (req->kind == WG_REQ_WRITE) {
        bool code = is_code(t, req->address);
        if (m->k->l1_ahead)
            wg_log_line(&t->l1_undo[t->l1_undos++], t->l1, req->address);
        wg_l1_write_masked(t, (wg_l1_client)m->core, req->address, req->byte_mask, req->data);
        for (unsigned i = 0; code && i < WG_CORES; i++)
            w->at[i].op = NULL; /* the line may have changed */
    } else {
        uint32_t value[4] = {0};
        if (req->kind == WG_REQ_READ)
            wg_l1_read(t, line_of(req->address), WG_L1_LINE, value);
        else
            value[0] = wg_l1_atomic(t, (wg_l1_client)m->core, req->address, req->op, req->data[0]);
        wg_core_respond(t, req, value);
        note_loads(m);
        for (unsigned i = 0; i < WG_CORES; i++)
            w->at[i].op = NULL;
        schedule(w, m->core, t->sched.now, t->sched.now);
    }
    if (m->blocked || m->mixed)
        schedule(w, m->core, t->sched.now, t->sched.now);
    wg_queue_pop(&t->regions.memory, m->core, WG_PATH_L1);
    w->served++;
    w->seen_at[m->core] = wg_queue_seen_at(queue);
}

/* The port's chosen request; `next`: when another one is there. */
static inline core_slot *chosen_at(const wg_tile *t, core_group *w, unsigned which, unsigned *input, uint64_t *next)
{
    const unsigned turn = t->regions.memory.l1.turn[WG_L1_CORE_PORT + which];
    const uint64_t now = t->sched.now;
    core_slot *chosen = NULL;
    bool fetches = false;
    for (unsigned i = 0; i < WG_L1_INPUTS; i++) {
        unsigned core = wg_l1_core_at[which][(turn + i) % WG_L1_INPUTS];
        uint64_t seen_at = w->seen_at[core];
        const bool fetch = seen_at <= now && wg_request_is_fetch(&w->at[core].queue->ring[w->at[core].queue->head]);
        if (seen_at <= now &&
            (!chosen || (fetch && !fetches))) { /* it blocks the other inputs even if it is not granted */
            if (chosen)
                *next = wg_min64(*next, w->seen_at[chosen->core]);
            chosen = &w->at[core];
            *input = (turn + i) % WG_L1_INPUTS;
            fetches = fetch;
        } else {
            *next = wg_min64(*next, seen_at);
        }
    }
    return chosen;
}

static inline uint32_t address_of(const core_slot *m, const wg_request *req)
{
    return req->kind == WG_REQ_READ && !(req->tag & WG_TAG_FETCH) ? m->run->load[req->tag % WG_LOADS].address
                                                                  : req->address;
}

static void serve_port(wg_tile *t, core_group *w, unsigned which)
{
    wg_l1_ports *p = &t->regions.memory.l1;
    const unsigned port = WG_L1_CORE_PORT + which;
    const uint64_t now = t->sched.now;
    uint64_t next = WG_NEVER;
    unsigned input = 0;
    core_slot *chosen = chosen_at(t, w, which, &input, &next);
    if (chosen) {
        wg_request_queue *queue = chosen->queue;
        const wg_request *req = &queue->ring[queue->head];
        const bool read = req->kind == WG_REQ_READ;
        uint32_t address = address_of(chosen, req);
        uint64_t *bank = &p->bank_free[wg_l1_bank(t->arch->l1_banks, address)];
        uint64_t free = wg_max64(p->port_free[port], *bank);
        const core_slot *other =
            which || free != now ? NULL : chosen_at(t, w, 1, &(unsigned){0}, &(uint64_t){WG_NEVER});
        free += other && wg_l1_gives_way(t, address, address_of(other, &other->queue->ring[other->queue->head]));
        if (free > now) {
            wg_queue_waits_for_port(queue, port, free);
            /* if only the bank is busy, another core's bank may be free earlier */
            next = p->port_free[port] > now ? p->port_free[port] : now + 1;
        } else {
            bool narrow = !(read || (req->kind == WG_REQ_WRITE && req->byte_mask == 0xFFFF));
            p->port_free[port] = *bank = now + (narrow ? t->timing->narrow_write : 1);
            p->turn[port] = (uint8_t)((input + 1) % WG_L1_INPUTS);
            wg_rounds_serve(t, w, chosen, req, *bank);
            process(t, w, chosen);
            next = wg_min64(next, w->seen_at[chosen->core]);
            if (next != WG_NEVER)
                next = wg_max64(next, p->port_free[port]);
        }
    }
    schedule(w, PORT_BITS + which, now, next);
}

/* ---- I: load/store units ----------------------------------------------------------------------------------- */

/* Stores to own RAM leave the queue lazily: drains those that were due before cycle `before`. */
static inline void drain_own(wg_tile *t, core_slot *m, uint64_t before)
{
    if (m->drain_at >= before || wg_sq_peek(m->run, 0)->path != WG_PATH_OWN_RAM)
        return;
    wg_lsu_drain_private(t, m->core, before);
    note_stores(m);
}

/* A request leaves in cycle `at`. */
static wg_request *send(wg_tile *t, core_group *w, core_slot *m, uint64_t at)
{
    wg_memory *memory = &t->regions.memory;
    wg_request *req = wg_queue_append(memory, m->core, WG_PATH_L1, at + t->timing->path[WG_PATH_L1].travel);
    memory->emitted[m->core]++;
    if (m->queue->count == 1)
        w->seen_at[m->core] = req->seen_at;
    schedule(w, PORT_BITS + m->port, t->sched.now,
             wg_max64(req->seen_at, t->regions.memory.l1.port_free[WG_L1_CORE_PORT + m->port]));
    return req;
}

/* No queued store has to leave before the load enters the load/store unit, and none can leave in that cycle. */
static inline bool stores_let_pass(const wg_tile *t, const wg_core_run *run, uint32_t address, unsigned bytes)
{
    return !run->sq_count || (wg_sq_conflict(t, run, address, bytes) < 0 &&
                              !(t->arch->load_needs_store_slot && run->sq_count == WG_STORE_QUEUE));
}

/*
 * A load from L1 that misses the L0 cache enters the load/store unit in cycle `at`, now or soon. Nothing changes the state it
 * finds there: no unanswered load completes before `at`. False if it must wait.
 */
static inline bool load_enters(wg_tile *t, core_group *w, core_slot *m, uint64_t at, uint32_t address, uint32_t pc,
                               uint64_t number, uint8_t size, uint8_t rd)
{
    wg_core_run *run = m->run;
    if (!stores_let_pass(t, run, address, wg_load_bytes(size)) || !m->unused) /* settle() has freed completed loads */
        return false;
    drain_own(t, m, at);
    const unsigned slot = (unsigned)__builtin_ctz(m->unused);
    m->unused &= (uint8_t)(m->unused - 1);
    wg_load *l = &run->load[slot];
    l->used = true;
    l->done = WG_NEVER;
    l->number = number;
    l->address = address;
    l->pc = pc;
    l->rd = rd;
    l->size = size;
    l->path = WG_PATH_L1;
    l->index = 0;
    l->fills = m->cached;
    l->flushed = l->stale = false;
    run->loads++;
    m->slot[(m->oldest + m->loads++) % WG_LOADS] = (uint8_t)slot;
    m->twice |= m->awaited >> (rd & 31) & 1;
    m->awaited |= 1u << (rd & 31);
    if (m->cached && wg_l0_flushes(t, m->k, m->core)) {
        wg_lsu_flush_l0(m->k);
        l->flushed = false;
    }
    wg_request *req = send(t, w, m, at);
    req->kind = WG_REQ_READ;
    req->tag = (uint8_t)slot;
    req->rd = rd; /* write_out() takes the rest from the load */
    l->earliest = m->cached ? req->seen_at + t->timing->path[WG_PATH_L1].back : WG_NEVER;
    run->mux_free = at + 1;
    if (run->sq_count)
        note_stores(m);
    return true;
}

/* The first store leaves in cycle `at`, now or soon; its path has room. */
static void store_leaves(wg_tile *t, core_group *w, core_slot *m, uint64_t at)
{
    wg_core_run *run = m->run;
    m->blocked = false;
    wg_store *s = wg_sq_at(run, 0);
    wg_request *req = send(t, w, m, at);
    req->address = line_of(s->address);
    req->pc = s->pc;
    memcpy(req->data, s->data, sizeof req->data);
    req->kind = WG_REQ_WRITE;
    req->path = WG_PATH_L1;
    req->bytes = WG_L1_LINE;
    req->op = 0;
    req->core = m->core;
    req->tag = 0;
    req->byte_mask = s->mask;
    req->index = req->overtakes = req->rd = 0;
    wg_rounds_leave(w, m, s, req, wg_l0_find(run, s->address) != NULL);
    wg_l0_drop_line(run, s->address);
    wg_sq_pop(run);
    run->mux_free = at + 1;
    w->in_step |= is_code(t, req->address);
    note_stores(m);
}

/* Can the first store be rolled back? Not if another core's L0 cache or an instruction cache holds the line. */
static bool may_roll_back(const wg_tile *t, const core_slot *m)
{
    const wg_store *s = wg_sq_peek(m->run, 0);
    return s->path == WG_PATH_OWN_RAM || !(t->regions.memory.l1.watch[s->address / WG_L1_LINE] & ~(1u << m->core));
}

static void load_store(wg_tile *t, core_group *w, core_slot *m)
{
    wg_core_run *run = m->run;
    const uint64_t now = t->sched.now;
    const bool waits = run->ex1.kind && run->ex1.entered < now;
    const bool fetches = (run->fetch[0].used | run->fetch[1].used) && wg_fetch_wants_busy(t, m->core);
    if (!fetches && !waits && m->drain_at > now && !m->mixed)
        return;
    settle(m, now);
    const wg_l0_line *hit = waits && m->cached ? wg_l0_find(run, run->ex1.address) : NULL;
    if (m->k->l1_ahead && (fetches || m->mixed || (m->drain_at <= now && !may_roll_back(t, m)) || (hit && hit->stale) ||
                           (waits && run->ex1.path != WG_PATH_L1 && run->ex1.path != WG_PATH_OWN_RAM))) {
        w->stops = true;
        return;
    }
    if (fetches || m->mixed || !m->quick ||
        (waits && (run->ex1.kind != WG_EX1_LOAD || run->ex1.path != WG_PATH_L1 || hit))) {
        run->at = wg_max64(run->at, now);
        wg_fetch_emit(t, m->core);
        wg_lsu_emit(t, m->core);
        note(t, w, m->core);
        w->detour = true;
        wg_rounds_spoil(w);
        return;
    }
    const wg_ex1 *x = &run->ex1;
    if (waits && !(run->wait_e == x->entered && now < run->wait_m) &&
        load_enters(t, w, m, now, x->address, x->pc, x->number, x->size, x->rd)) {
        run->ex1.kind = WG_EX1_NONE;
        run->at = wg_max64(run->at, now);
        return;
    }
    if (m->drain_at > now)
        return;
    drain_own(t, m, now + 1);
    if (m->drain_at > now)
        return;
    m->blocked = !wg_memory_room(t, m->core, WG_PATH_L1, 0);
    if (!m->blocked)
        store_leaves(t, w, m, now);
}

/* ---- J: pipelines ------------------------------------------------------------------------------------------ */

/*
 * The last cycle to which a core may run ahead of the others: no unanswered load can complete by then. L1 processes the first
 * one in the next cycle at the earliest, and the answer takes `back` cycles. An access to something that may still change (a
 * line of the L0 cache, code) waits for its cycle.
 */
static inline uint64_t ahead_of(const wg_tile *t, const core_group *w, const core_slot *m, uint64_t now, uint64_t most)
{
    const uint64_t seen_at = w->seen_at[m->core];
    if (seen_at >= most)
        return most;
    return wg_min64(most, wg_max64(seen_at, now + 1) + t->timing->path[WG_PATH_L1].back - 2);
}

/* Drains the stores that leave before e, a later cycle, if there is certainly room. */
static inline bool stores_leave(wg_tile *t, core_group *w, core_slot *m, uint64_t e, uint64_t now, uint64_t most)
{
    for (;;) {
        drain_own(t, m, e + 1);
        if (m->drain_at > e)
            break;
        if (m->k->l1_ahead && !may_roll_back(t, m))
            return false;
        if (m->drain_at <= now || m->drain_at > ahead_of(t, w, m, now, most) ||
            m->queue->count > t->timing->path[WG_PATH_L1].travel)
            return false;
        settle(m, m->drain_at);
        store_leaves(t, w, m, m->drain_at);
    }
    return e <= ahead_of(t, w, m, now, most);
}

/* A load enters EX1 in cycle e. False if it has to wait for that cycle, or needs the slow path. */
static inline bool load(wg_tile *t, core_group *w, core_slot *m, const wg_op *op, uint32_t address, uint64_t e)
{
    wg_core_run *run = m->run;
    const uint64_t number = run->number;
    const unsigned slot = (unsigned)(number % WG_RETIRE_RING), bytes = wg_load_bytes(op->spare);
    uint32_t value;
    uint64_t entered = e + 1, done = e + 2;
    if (address & (bytes - 1))
        return false;
    if (address >= t->spec->l1_bytes) {
        if (address - WG_RAM_BASE >= t->spec->core[m->core].ram_bytes ||
            wg_lsu_load(t, m->core, address, op->spare, run->pc, e, &value, &entered, &done) != WG_LSU_DONE)
            return false;
        note_stores(m);
        wg_rounds_spoil(w);
    } else {
        settle(m, e + 1);
        const wg_l0_line *hit = m->cached ? wg_l0_find(run, address) : NULL;
        if (hit) {
            if (e > t->sched.now && !is_alone(w)) /* others may write the line */
                return false;
            if (!hit->stale && run->wait_e != e && stores_let_pass(t, run, address, bytes)) {
                value = op->spare == 2 ? hit->data[address >> 2 & 3] : wg_load_value(hit->data, address, op->spare);
                if (wg_l0_flushes(t, m->k, m->core))
                    wg_lsu_flush_l0(m->k);
            } else if (e > t->sched.now) {
                return false;
            } else {
                wg_lsu_result result = wg_lsu_load(t, m->core, address, op->spare, run->pc, e, &value, &entered, &done);
                note_loads(m);
                note_stores(m);
                if (result != WG_LSU_DONE)
                    return false;
            }
            wg_rounds_load(w, m, op, address, true);
        } else {
            if (m->mixed || e + 1 >= w->until || run->wait_e == e ||
                !load_enters(t, w, m, e + 1, address, run->pc, number, op->spare, op->rd)) {
                if (e > t->sched.now)
                    return false;
                run->ex1 = wg_ex1_load(op, e, number, address, run->pc);
            }
            wg_rounds_load(w, m, op, address, false);
            run->filled[slot] = run->retired[slot] = WG_NEVER;
            run->dests = run->dests << 8 | op->rd;
            run->last = e;
            run->at = e + 1;
            run->number++;
            run->pc += 4;
            return true;
        }
    }
    wg_entered(run, e, op->rd, done);
    run->r[op->rd] = value;
    run->r[0] = 0;
    run->pc += 4;
    run->at = entered;
    return true;
}

/* A store enters EX1 in cycle e, and the queue in the next. False: as for a load. */
static inline bool store(wg_tile *t, core_group *w, core_slot *m, const wg_op *op, uint32_t address, uint32_t value,
                         uint64_t e)
{
    wg_core_run *run = m->run;
    const unsigned bytes = wg_store_bytes[op->spare % 3];
    if (address & (bytes - 1) || wg_core_log_full(m->k))
        return false;
    uint64_t entered = e + 1;
    bool l1 = address < t->spec->l1_bytes;
    if (!l1 && address - WG_RAM_BASE >= t->spec->core[m->core].ram_bytes)
        return false;
    if (!l1 || m->mixed || run->sq_count == WG_STORE_QUEUE) {
        const wg_ex1 x = wg_ex1_store(e, address, run->pc, value, bytes, !l1);
        if (e > t->sched.now && (l1 || m->mixed || run->sq_count == WG_STORE_QUEUE))
            return false;
        wg_lsu_result result = wg_lsu_store(t, m->core, &x, &entered);
        note_loads(m);
        note_stores(m);
        if (result != WG_LSU_DONE)
            return false;
        wg_rounds_spoil(w);
    } else {
        if (run->sq_count == 1 && wg_sq_peek(run, 0)->path == WG_PATH_L1 && m->drain_at <= e + 1 &&
            wg_sq_ready_at(t, m->k, 0) <= e + 1)
            return false; /* the queued store may leave in that cycle */
        drain_own(t, m, e + 1);
        settle(m, e + 1);
        const bool drops = wg_l0_find(run, address) != NULL;
        wg_l0_drop_line(run, address);
        wg_store *s = run->sq_count ? wg_sq_at(run, run->sq_count - 1u) : NULL;
        uint32_t apart = s ? address - s->address + 4 : 9;
        uint16_t mask = (uint16_t)(((1u << bytes) - 1) << (address & (WG_L1_LINE - 1)));
        const bool fresh = !m->merging || apart > 8 || line_of(s->address) != line_of(address);
        if (fresh) {
            s = wg_sq_at(run, run->sq_count++);
            *s = (wg_store){.first = entered, .path = WG_PATH_L1, .bytes = (uint8_t)bytes};
        }
        s->entered = entered;
        s->address = address;
        s->pc = run->pc;
        s->mask |= mask;
        wg_put_bytes((uint8_t *)s->data + (address & (WG_L1_LINE - 1)), &value, bytes);
        note_stores(m);
        wg_rounds_store(w, m, op, address, bytes, s, fresh, drops);
        w->served++;
    }
    run->stored = e;
    wg_entered(run, e, WG_NO_DEST, entered + 1);
    run->pc += 4;
    run->at = entered;
    return true;
}

/* wg_exec() executes every other instruction in its own cycle. */
static uint64_t slow_path(wg_tile *t, core_group *w, core_slot *m)
{
    w->detour = true;
    wg_rounds_spoil(w);
    m->run->at = wg_max64(m->run->at, t->sched.now);
    const uint64_t number = m->run->number, again = wg_exec(t, m->core, t->sched.now + 1);
    note(t, w, m->core);
    if (m->k->l1_ahead && m->run->number == number && again <= t->sched.now)
        w->stops = true; /* it cannot be rolled back */
    return m->run->halt ? WG_NEVER : again;
}

/* The next instruction; NULL: it needs the slow path. */
static inline const wg_op *next_op(core_slot *m)
{
    wg_core *k = m->k;
    const uint32_t pc = m->run->pc;
    if (m->op && m->op->code != WG_OP_LINE_END && m->op->code != WG_OP_LINE_END_LATE && m->epoch == k->epoch)
        return m->op;
    const wg_icache_line *line = wg_line_at(k, m->sets, pc);
    if (!line || !m->quick)
        return NULL;
    m->run->lru[line->set] = line->way;
    m->epoch = k->epoch;
    return m->op = &line->op[pc >> 2 & 3];
}

/* Raises *e to the cycle in which `op` enters EX1. False if the core has to retry in *e (WG_NEVER: when woken). */
static inline bool issues(const wg_tile *t, core_slot *m, const wg_op *op, uint64_t *e)
{
    const wg_core_run *run = m->run;
    uint64_t awaits = 0;
    *e = wg_max64(*e, run->retired[(run->number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
    if (!wg_operand_quick(run, run->dests, run->number, op->rs1, t->arch->forward_writers, e, &awaits) ||
        !wg_operand_quick(run, run->dests, run->number, op->rs2, t->arch->forward_writers, e, &awaits)) {
        wg_stall why;
        if (awaits || !wg_issue(t, m->k, run, op, e, &why)) {
            m->waits_for = awaits ? awaits : ANY;
            *e = WG_NEVER;
            return false;
        }
        if (*e > t->sched.now && why.retry_at != WG_NEVER)
            return false;
    }
    if (*e == WG_NEVER)
        m->waits_for = ANY;
    return *e != WG_NEVER;
}

/* One-cycle arithmetic enters EX1 in cycle e; as wg_entered(). */
static inline void computed(core_group *w, core_slot *m, const wg_op *op, uint32_t value, uint64_t e)
{
    wg_core_run *run = m->run;
    const unsigned slot = (unsigned)(run->number % WG_RETIRE_RING);
    const uint64_t before = run->retired[(run->number - 1) % WG_RETIRE_RING];
    run->filled[slot] = e + 1;
    run->retired[slot] = before == WG_NEVER ? WG_NEVER : wg_max64(before, e) + 1;
    run->dests = run->dests << 8 | op->rd;
    run->number++;
    run->last = e;
    if (m->awaited >> (op->rd & 31) & 1)
        wg_overwritten(run, op->rd);
    run->r[op->rd] = value;
    wg_rounds_op(w, m, op);
    run->at = e + 1;
    run->pc += 4;
    m->op = op + 1;
}

static inline void branch(wg_tile *t, core_group *w, core_slot *m, const wg_op *op, uint64_t e)
{
    wg_core_run *run = m->run;
    const uint32_t pc = run->pc;
    const uint32_t *place = wg_predict_place(m->k, t->arch->predictor_branches, pc), entry = *place;
    wg_step_branch(t, m->core, op, e);
    wg_rounds_branch(t, w, m, op, pc, run->pc == op->imm, entry != *place);
    m->op = run->pc == pc + 4 ? op + 1 : NULL;
}

/* A jump, or multi-cycle arithmetic. False if it has to wait for that cycle, or needs the slow path. */
static inline bool compute(wg_tile *t, core_group *w, core_slot *m, const wg_op *op, uint64_t e)
{
    const uint32_t pc = m->run->pc;
    switch (op->code) {
    case WG_OP_JAL:
    case WG_OP_JALR:
        if (wg_jump_target(op, m->run->r) == pc) /* it parks the core */
            return false;
        wg_rounds_spoil(w);
        break;
    case WG_OP_DIV:
    case WG_OP_DIVU:
    case WG_OP_REM:
    case WG_OP_REMU:
    case WG_OP_FP:
        wg_rounds_spoil(w);
        if (op->rs3)
            return false;
        break;
    default:
        if (!wg_is_arithmetic(op))
            return false;
        wg_rounds_op(w, m, op);
    }
    if (!wg_step(t, m->core, op, e))
        return false;
    m->op = m->run->pc == pc + 4 ? op + 1 : NULL;
    return true;
}

/* Phase J. Returns the cycle in which to continue; WG_NEVER: when L1 or the load/store unit wakes the core. */
static uint64_t pipeline(wg_tile *t, core_group *w, core_slot *m)
{
    wg_core_run *run = m->run;
    uint32_t value;
    const uint64_t now = t->sched.now;
    uint64_t e, most = now, last;
    m->waits_for = ANY;
    if (run->halt || run->ex1.kind)
        return WG_NEVER;
    m->waits_for = 0;
    m->k->stop = now + 1;
    if (!w->in_step && !w->detour && !w->elsewhere && !m->mixed && !run->fetch[0].used && !run->fetch[1].used)
        most = wg_max64(now, wg_min64(now + (is_alone(w) ? ALONE : AHEAD), w->until - 2));
    last = ahead_of(t, w, m, now, most);
    for (;;) {
        e = wg_max64(now, run->at);
        if (e > now && last == now)
            return e;
        const wg_op *op = next_op(m);
        if (!op)
            break;
        if (!issues(t, m, op, &e))
            return e;
        if (m->k->l1_ahead && wg_core_log_full(m->k)) {
            w->stops = e == now;
            return e;
        }
        if (e > now && (e > last || m->drain_at <= e)) {
            if (e > most || !stores_leave(t, w, m, e, now, most))
                return e;
            if (w->in_step)
                most = now;
            last = ahead_of(t, w, m, now, most);
        }
        if (wg_alu(op, run->r, &value)) {
            computed(w, m, op, value, e);
        } else if (op->code == WG_OP_LOAD) {
            if (!load(t, w, m, op, run->r[op->rs1] + op->imm, e))
                break;
            m->op = op + 1;
            last = ahead_of(t, w, m, now, most);
            if (run->ex1.kind) {
                m->waits_for = ANY;
                return run->at;
            }
        } else if (op->code == WG_OP_STORE) {
            if (!store(t, w, m, op, run->r[op->rs1] + op->imm, run->r[op->rs2], e))
                break;
            m->op = op + 1;
        } else if (wg_is_branch(op->code) && op->imm != run->pc) {
            branch(t, w, m, op, e);
            if (w->edges && w->rounds->watches) /* the state at this edge is compared */
                most = last = now;
        } else if (!compute(t, w, m, op, e)) {
            break;
        }
    }
    return e > now ? e : slow_path(t, w, m);
}

/* ---- the cycle --------------------------------------------------------------------------------------------- */

static bool stores_to_l1(const wg_core_run *run)
{
    for (unsigned i = 0; i < run->sq_count; i++)
        if (wg_sq_peek(run, i)->path == WG_PATH_L1)
            return true;
    return false;
}

void wg_group_cycle(wg_tile *t, core_group *w, unsigned who)
{
    wg_schedule *s = &t->sched;
    uint8_t *here = &w->ring[s->now % RING];
    *here = 0;
    w->busy &= ~(UINT64_C(1) << s->now % RING);
    s->phase = WG_PHASE_REGIONS;
    if (who >> PORT_BITS & 1)
        serve_port(t, w, 0);
    if (who >> PORT_BITS & 2)
        serve_port(t, w, 1);
    who |= *here;
    *here = 0;
    w->busy &= ~(UINT64_C(1) << s->now % RING);
    unsigned cores = who & ((1u << WG_CORES) - 1);
    s->phase = WG_PHASE_LOAD_STORE;
    for (unsigned left = cores; left; left &= left - 1)
        load_store(t, w, &w->at[__builtin_ctz(left)]);
    s->phase = WG_PHASE_PIPELINES;
    for (unsigned left = w->stops ? 0 : cores; left; left &= left - 1) {
        core_slot *m = &w->at[__builtin_ctz(left)];
        uint64_t at = pipeline(t, w, m);
        if (at > s->now + 1) {
            if (m->mixed || m->run->ex1.kind) {
                at = wg_min64(at, wg_lsu_next(t, m->core));
                m->blocked = true; /* it may wait for room on its path */
            } else if (m->drain_at > s->now &&
                       stores_to_l1(m->run)) /* the core of an overdue store is woken when the path has room */
                at = wg_min64(at, m->drain_at);
            at = wg_min64(at, wg_fetch_next(t, m->core));
        }
        if (at != WG_NEVER)
            schedule(w, m->core, s->now, wg_max64(at, s->now + 1));
        else if (w->seen_at[m->core] == WG_NEVER) /* nothing in the group can wake it */
            w->resting |= (uint8_t)(1u << m->core);
    }
}
