/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several cores at L1 at the same time, and nobody else: cycle by cycle, without appointments.
 *
 *     for each cycle in which anything happens:
 *         C   ports 2 and 3 of L1 serve one core each           serve_port()
 *         I   load/store units: what waits enters, requests leave   load_store()
 *         J   pipelines: one instruction per core                pipeline()
 *
 * Nobody runs ahead here, so nothing has to be taken back. The steps below are short ways through what wg_regions_tick(),
 * wg_lsu_emit() and wg_exec() do in the same phases; what has none goes the long way in its cycle. As soon as anybody else has
 * an appointment, or a core's request goes elsewhere than to L1, the clock takes over again.
 *
 * Facts: as in lsu.c, exec.c and tile/l1.c; time.md rules 2, 6 and 7.
 */
#include "riscv/lsu.h"
#include "riscv/pipeline.h"

#include <string.h>
#include "engine/device.h"

enum { PORTS = 2, FIRST_PORT = 2, INPUTS = 4, TURNS = WG_L1_TURNS, SPARSE = 16 /* cycles per request */, LOOK = 512, LEAST = 8 };

/* Which core sits at which input of ports 2 and 3 (l1.c). */
static const uint8_t core_at[PORTS][INPUTS] = {{WG_CORES, WG_CORE_B, WG_CORE_NC, WG_CORE_T0},
                                               {WG_CORE_T1, WG_CORE_T2, WG_CORES, WG_CORES}};

typedef struct crowd {
    uint64_t due[WG_CORES];     /* when the core has something to do next, unless L1 answers before */
    uint64_t served;            /* requests */
    uint32_t active;            /* bit i: core i has requests at L1 or on the way there */
    bool detour;                /* somebody went the long way: look who else has an appointment now */
} crowd;

static const uint32_t l1_lane = 1u << WG_PATH_L1;

/* ---- C: L1 ------------------------------------------------------------------------------------------------- */

static void answer(wg_tile *t, crowd *w, unsigned core, const wg_request *req)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    uint64_t now = t->sched.now;
    wg_load *l = &run->load[req->tag % WG_LOADS];
    uint32_t line = req->address & ~(uint32_t)(WG_L1_LINE - 1);
    if (l->fills)
        t->regions.memory.l1.watch[line / WG_L1_LINE] |= (uint8_t)(1u << core);
    if (!l->used || l->done != WG_NEVER)
        return;
    l->done = now + t->timing->path[WG_PATH_L1].back;
    wg_supersede(run, l->rd, l->number);
    memcpy(l->line, t->l1 + line, WG_L1_LINE);
    run->r[l->rd] = wg_load_value(l->line, req->address, l->size);
    run->r[0] = 0;
    wg_fill_retire(run, l->number, l->done);
    w->due[core] = wg_min64(w->due[core], l->done);
}

/* The head of the core's queue is processed. */
static void process(wg_tile *t, crowd *w, unsigned core, wg_lane *lane)
{
    wg_request *req = &lane->queue[lane->head];
    if (req->kind == WG_REQ_READ && !(req->tag & WG_TAG_FETCH)) {
        answer(t, w, core, req);
    } else {
        uint32_t value[4] = {0};
        if (req->kind == WG_REQ_READ)
            wg_l1_read(t, req->address & ~15u, 16, value);
        else if (req->kind == WG_REQ_ATOMIC)
            value[0] = wg_l1_atomic(t, (wg_l1_client)core, req->address, req->op, req->data[0]);
        else
            wg_l1_write_masked(t, (wg_l1_client)core, req->address, req->byte_mask, req->data);
        if (req->kind != WG_REQ_WRITE)
            wg_core_respond(t, req, value);
        w->due[core] = t->sched.now;
    }
    if (t->core[core].run.sq_count)   /* a store may have waited for room */
        w->due[core] = t->sched.now;
    lane->head = (uint8_t)((lane->head + 1) % WG_LANE_DEPTH);
    lane->retry_at = 0;
    lane->why.reason = WG_STALL_NONE;
    w->served++;
    if (!--lane->count) {
        t->regions.memory.active[core] &= ~l1_lane;
        w->active &= ~(1u << core);
    }
}

/* Returns when the port has something to do next. */
static uint64_t serve_port(wg_tile *t, crowd *w, unsigned which)
{
    wg_memory *m = &t->regions.memory;
    const unsigned port = FIRST_PORT + which;
    const uint64_t now = t->sched.now;
    uint64_t next = WG_NEVER;
    bool chosen = false;
    for (unsigned i = 0; i < INPUTS; i++) {
        unsigned input = (m->l1.turn[port] + i) % INPUTS, core = core_at[which][input];
        if (!(w->active >> core & 1))
            continue;
        wg_lane *lane = &m->lane[core][WG_PATH_L1];
        const wg_request *req = &lane->queue[lane->head];
        if (req->seen_at > now || chosen) {
            next = wg_min64(next, wg_max64(req->seen_at, now + 1));
            continue;
        }
        chosen = true;   /* granted or not: it blocks those behind it */
        uint64_t *bank = &m->l1.bank_free[req->address / WG_L1_LINE % t->arch->l1_banks];
        uint64_t free = wg_max64(m->l1.port_free[port], *bank);
        if (free > now) {
            lane->retry_at = free;
            lane->why = (wg_stall){.reason = WG_STALL_L1_PORT, .resource = (uint16_t)port, .holder = WG_AGENT_NONE, .retry_at = free};
            next = wg_min64(next, wg_max64(m->l1.port_free[port], now + 1));
            continue;
        }
        bool narrow = !(req->kind == WG_REQ_READ || (req->kind == WG_REQ_WRITE && req->byte_mask == 0xFFFF));
        m->l1.port_free[port] = *bank = now + (narrow ? t->timing->narrow_write : 1);
        uint8_t turn = (uint8_t)((input + 1) % INPUTS);
        unsigned from = m->l1.turn[port];
        process(t, w, core, lane);
        m->l1.turn[port] = turn;
        if (lane->count)
            next = wg_min64(next, wg_max64(lane->queue[lane->head].seen_at, now + 1));
        /* the others are looked at in the old order; only their times matter now */
        for (unsigned j = i + 1; j < INPUTS; j++) {
            unsigned other = core_at[which][(from + j) % INPUTS];
            if (w->active >> other & 1)
                next = wg_min64(next, wg_max64(m->lane[other][WG_PATH_L1].queue[m->lane[other][WG_PATH_L1].head].seen_at, now + 1));
        }
        break;
    }
    return next;
}

/* ---- I: load/store units ----------------------------------------------------------------------------------- */

static wg_request *send(wg_tile *t, crowd *w, unsigned core)
{
    wg_memory *m = &t->regions.memory;
    wg_lane *lane = &m->lane[core][WG_PATH_L1];
    wg_request *req = &lane->queue[(lane->head + lane->count++) % WG_LANE_DEPTH];
    req->seen_at = wg_max64(t->sched.now + t->timing->path[WG_PATH_L1].travel, lane->last_seen_at);
    lane->last_seen_at = req->seen_at;
    if (lane->count == 1)
        lane->retry_at = 0;
    m->emitted[core]++;
    m->active[core] |= l1_lane;
    w->active |= 1u << core;
    req->path = WG_PATH_L1;
    req->core = (uint8_t)core;
    req->op = req->index = req->overtakes = 0;
    return req;
}

static void the_long_way(wg_tile *t, crowd *w, unsigned core)
{
    wg_fetch_emit(t, core);
    wg_lsu_emit(t, core);
    w->active |= (t->regions.memory.active[core] & l1_lane ? 1u : 0u) << core;
    w->detour = true;
}

/* The load in EX1 enters if it can; true if it used the mux. Only for L1. */
static bool load_enters(wg_tile *t, crowd *w, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const wg_ex1 *x = &run->ex1;
    const uint64_t now = t->sched.now;
    unsigned slot = WG_LOADS, flying = 0;
    if (run->wait_e == x->entered && now < run->wait_m)
        return false;
    if (run->sq_count && (wg_sq_conflict(t, run, x->address, x->bytes) >= 0 ||
                          (t->arch->load_needs_store_slot && run->sq_count == WG_STORE_QUEUE)))
        return false;
    for (unsigned i = WG_LOADS; i-- > 0;) {
        if (!run->load[i].used)
            slot = i;
        else
            flying += run->load[i].done > now;
    }
    if (flying == WG_LOADS)
        return false;
    bool cached = t->arch->l0_lines && !(k->csr.cfg0 & WG_CFG0_DIS_LOW_CASH);
    if (cached) {   /* the line may have come meanwhile */
        uint32_t tag = (x->address & ~15u) | 1;
        if (run->l0[0].tag == tag || run->l0[1].tag == tag || run->l0[2].tag == tag || run->l0[3].tag == tag || slot == WG_LOADS) {
            the_long_way(t, w, core);
            return true;
        }
    }
    wg_load *l = &run->load[slot];
    l->used = true;
    l->done = WG_NEVER;
    l->number = x->number;
    l->address = x->address;
    l->pc = x->pc;
    l->rd = x->rd;
    l->size = x->size;
    l->path = WG_PATH_L1;
    l->index = 0;
    l->fills = cached;
    l->flushed = l->stale = false;
    run->loads++;
    if (cached && wg_l0_flushes(t, k, core)) {
        wg_lsu_flush_l0(k);
        l->flushed = false;
    }
    wg_request *req = send(t, w, core);
    req->address = x->address;
    req->pc = x->pc;
    req->kind = WG_REQ_READ;
    req->bytes = x->bytes;
    req->tag = (uint8_t)slot;
    req->byte_mask = 0;
    req->rd = x->rd;
    memset(req->data, 0, sizeof req->data);
    memset(l->line, 0, sizeof l->line);
    l->earliest = cached ? req->seen_at + t->timing->path[WG_PATH_L1].back : WG_NEVER;
    run->ex1.kind = WG_EX1_NONE;
    run->at = wg_max64(run->at, now);
    run->mux_free = now + 1;
    return true;
}

/* The first store leaves if it can. */
static void store_leaves(wg_tile *t, crowd *w, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    const uint64_t now = t->sched.now;
    if (run->mux_free > now || wg_sq_ready_at(t, k, 0) > now || !wg_lsu_room(t, core, WG_PATH_L1, 0))
        return;
    wg_store *s = wg_sq_at(run, 0);
    wg_request *req = send(t, w, core);
    req->address = s->address & ~(uint32_t)(WG_L1_LINE - 1);
    req->pc = s->pc;
    memcpy(req->data, s->data, sizeof req->data);
    req->kind = WG_REQ_WRITE;
    req->bytes = WG_L1_LINE;
    req->tag = 0;
    req->byte_mask = s->mask;
    req->rd = 0;
    wg_l0_drop_line(run, s->address);
    wg_sq_pop(run);
    run->mux_free = now + 1;
    run->disturbed = now;
}

static void load_store(wg_tile *t, crowd *w, unsigned core)
{
    wg_core_run *run = &t->core[core].run;
    const uint64_t now = t->sched.now;
    if ((run->fetch[0].used | run->fetch[1].used) && wg_fetch_wants_busy(t, core)) {
        the_long_way(t, w, core);
        return;
    }
    if (!(run->ex1.kind | run->sq_count))
        return;
    bool waits = run->ex1.kind && run->ex1.entered < now;
    bool elsewhere = waits && (run->ex1.kind != WG_EX1_LOAD || run->ex1.path != WG_PATH_L1 ||
                               (t->core[core].csr.cfg0 & WG_CFG0_DIS_LD_BUF_BYP) || wg_strongly_ordered(&t->core[core]));
    for (unsigned i = 0; i < run->sq_count; i++)
        elsewhere |= wg_sq_peek(run, i)->path != WG_PATH_L1;
    if (elsewhere) {
        the_long_way(t, w, core);
        return;
    }
    if (run->loads)
        wg_lsu_settle(&t->core[core], now);
    if (waits && load_enters(t, w, core))
        return;
    if (run->sq_count)
        store_leaves(t, w, core);
}

/* ---- J: pipelines ------------------------------------------------------------------------------------------ */

#define A r[op->rs1]
#define B r[op->rs2]
#define I op->imm

/* Returns when the core wants to go on: WG_NEVER, when L1 or the load/store unit lets it. */
static uint64_t pipeline(wg_tile *t, crowd *w, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    uint32_t *r = run->r, value, pc = run->pc;
    const uint64_t now = t->sched.now, number = run->number;
    if (run->halt || run->ex1.kind)
        return WG_NEVER;
    if (run->at > now)
        return run->at;
    const uint32_t sets = t->arch->icache_bytes[core] / 32u - 1;
    wg_icache_line *line = &k->icache[(pc >> 4 & sets) * 2];
    if (line->tag != ((pc & ~15u) | WG_LINE_VALID))
        line++;
    const wg_op *op = &line->op[pc >> 2 & 3];
    if (line->tag != ((pc & ~15u) | WG_LINE_VALID) || line->checked != k->epoch || !run->queued || run->ordered ||
        op->rs3 || wg_one_at_a_time(k))
        goto the_long_way;
    bool unknown = false;
    uint64_t e = wg_max64(now, run->retired[(number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]);
    if (!wg_operand_quick(run, run->dests, number, op->rs1, t->arch->forward_writers, &e, &unknown) ||
        !wg_operand_quick(run, run->dests, number, op->rs2, t->arch->forward_writers, &e, &unknown)) {
        wg_stall why;
        if (unknown || !wg_issue(t, k, run, op, &e, &why))
            return WG_NEVER;
    }
    if (e > now)
        return e;
    unsigned dest = op->rd;
    uint64_t filled = now + 1;
    switch (op->code) {
#define ALU(name, expression) case WG_OP_##name: value = (expression); break;
#define MULTIPLY(name, expression)
#include "riscv/alu.inc"
#undef ALU
#undef MULTIPLY
    case WG_OP_LOAD: {
        uint32_t address = A + I;
        unsigned bytes = op->spare == 9 ? 2 : 1u << (op->spare & 3);
        if ((address & (bytes - 1)) || address >= t->arch->l1_bytes || wg_strongly_ordered(k))
            goto the_long_way;
        if (t->arch->l0_lines) {
            uint32_t tag = (address & ~15u) | 1;
            if (run->loads)
                wg_lsu_settle(k, now + 1);
            if (run->l0[0].tag == tag || run->l0[1].tag == tag || run->l0[2].tag == tag || run->l0[3].tag == tag)
                goto the_long_way;
        }
        wg_ex1 *x = &run->ex1;
        x->entered = now;
        x->number = number;
        x->address = address;
        x->pc = pc;
        x->kind = WG_EX1_LOAD;
        x->size = op->spare;
        x->rd = op->rd;
        x->path = WG_PATH_L1;
        x->bytes = (uint8_t)bytes;
        x->index = x->op = 0;
        memset(x->data, 0, sizeof x->data);   /* equal states are equal byte by byte (engine/poll.c) */
        run->filled[number % WG_RETIRE_RING] = run->retired[number % WG_RETIRE_RING] = WG_NEVER;
        run->dests = run->dests << 8 | op->rd;
        run->number++;
        run->last = now;
        run->pc += 4;
        run->at = now + 1;
        return now + 1;
    }
    case WG_OP_STORE: {
        uint32_t address = A + I;
        unsigned bytes = wg_store_bytes[op->spare % 3];
        if (address >= t->arch->l1_bytes || (address & (bytes - 1)))
            goto the_long_way;
        wg_ex1 x = {.entered = now, .pc = pc, .kind = WG_EX1_STORE, .address = address, .data = {B}, .bytes = (uint8_t)bytes,
                    .path = WG_PATH_L1};
        uint64_t m;
        if (wg_lsu_store(t, core, &x, &m) != WG_LSU_DONE)
            goto the_long_way;
        run->disturbed = now;
        wg_entered(run, now, WG_NO_DEST, m + 1);
        run->pc += 4;
        run->at = m;
        return now + 1;
    }
    case WG_OP_BEQ: case WG_OP_BNE: case WG_OP_BLT: case WG_OP_BGE: case WG_OP_BLTU: case WG_OP_BGEU:
        if (op->imm == pc)
            goto the_long_way;
        wg_step_branch(t, core, op, now);
        return now + 1;
    default: goto the_long_way;
    }
    wg_entered(run, now, (uint8_t)dest, filled);
    r[dest] = value;
    run->at = now + 1;
    run->pc += 4;
    return now + 1;

the_long_way:
    w->detour = true;
    run->at = wg_max64(run->at, now);
    uint64_t again = wg_exec(t, core, now + 1);
    return run->halt ? WG_NEVER : again;
}
#undef A
#undef B
#undef I

/* ---- all of it --------------------------------------------------------------------------------------------- */

/* The cycle before which nobody else acts; 0: somebody is about now. */
static uint64_t others(const wg_tile *t)
{
    uint64_t until = wg_min64(t->limit, t->horizon);
    for (unsigned i = WG_AGENT_CORE_T2 + 1; i < WG_AGENT_COUNT; i++)
        if (i != WG_AGENT_REGIONS)
            until = wg_min64(until, t->sched.next[i]);
    for (unsigned i = 0; i < WG_CORES; i++)
        if (t->regions.memory.active[i] & ~l1_lane)
            return 0;
    if (t->poll.stop_at > t->sched.now)
        until = wg_min64(until, t->poll.stop_at);
    return until;
}

static bool can_go(wg_tile *t)
{
    if (t->lockstep || t->watched || t->perturbed || t->l1_watched || t->sched.now < t->poll.careful_until ||
        others(t) < t->sched.now + LEAST)
        return false;
    for (unsigned i = 0; i < WG_CORES; i++)
        if (t->core[i].stepping || t->core[i].breakpoints || (t->core[i].run.halt == WG_RUNNING && wg_one_at_a_time(&t->core[i])))
            return false;
    return true;
}

bool wg_cores_together(wg_tile *t)
{
    wg_schedule *s = &t->sched;
    bool dense = s->now - t->l1_turns_from < (uint64_t)t->l1_turns * SPARSE;
    t->l1_turns = 0;
    t->l1_turns_from = s->now;
    if (!dense || !can_go(t))
        return false;
    crowd w = {0};
    uint64_t until = others(t), look_at = s->now + LOOK, served = 0, next;
    for (unsigned i = 0; i < WG_CORES; i++) {
        wg_core *k = &t->core[i];
        wg_core_sync(t, i);
        k->saved_at = WG_NEVER;
        k->solo_saved = false;
        k->solo_until = 0;
        w.due[i] = k->run.halt == WG_IN_RESET ? WG_NEVER : s->now;
        w.active |= (t->regions.memory.active[i] & l1_lane ? 1u : 0u) << i;
        if (!k->run.halt)
            wg_begin_queue(&k->run);
    }
    for (;;) {
        next = WG_NEVER;
        s->phase = WG_PHASE_REGIONS;
        for (unsigned port = 0; w.active && port < PORTS; port++)
            next = wg_min64(next, serve_port(t, &w, port));
        unsigned due = 0;
        for (unsigned i = 0; i < WG_CORES; i++)
            due |= (w.due[i] <= s->now ? 1u : 0u) << i;
        s->phase = WG_PHASE_LOAD_STORE;
        for (unsigned left = due; left; left &= left - 1)
            load_store(t, &w, (unsigned)__builtin_ctz(left));
        s->phase = WG_PHASE_PIPELINES;
        for (unsigned left = due; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            uint64_t at = pipeline(t, &w, i);
            if (at > s->now + 1)
                at = wg_min64(at, wg_min64(wg_lsu_next(t, i), wg_fetch_next(t, i)));
            w.due[i] = wg_max64(at, s->now + 1);
        }
        for (unsigned i = 0; i < WG_CORES; i++) {
            next = wg_min64(next, w.due[i]);
            const wg_lane *lane = &t->regions.memory.lane[i][WG_PATH_L1];
            if (w.active >> i & 1)
                next = wg_min64(next, wg_max64(lane->queue[lane->head].seen_at, s->now + 1));
        }
        s->now++;
        if (w.detour) {
            w.detour = false;
            until = wg_min64(until, others(t));
            if (t->dev->stop_requested)
                break;
        }
        if (next >= until || s->now >= until || next == WG_NEVER)
            break;
        if (s->now >= look_at) {
            if ((w.served - served) * SPARSE < LOOK)
                break;
            served = w.served;
            look_at = s->now + LOOK;
        }
        s->now = wg_max64(s->now, next);
    }
    s->phase = WG_PHASE_ARRIVALS;
    for (unsigned i = 0; i < WG_CORES; i++)
        wg_appoint(s, WG_AGENT_CORE_B + i, t->core[i].run.halt == WG_IN_RESET ? WG_NEVER : s->now);
    if (w.active)
        wg_wake_at(s, WG_AGENT_REGIONS, s->now);
    t->l1_turns = w.served >= TURNS ? TURNS / 2 : 0;
    t->l1_turns_from = s->now;
    return true;
}
