/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core as an agent: its ticks, reset, halts, looking in from outside.
 */
#include "machine/core.h"

#include <string.h>
#include "riscv/lsu.h"

enum { LINE = 16 };

void wg_core_sync(wg_tile *t, unsigned core)
{
    if (wg_core_ahead(t, &t->core[core]))
        wg_fast_rollback(t, core);
}

/* Schedules the core's next tick, given the cycle in which its pipeline continues. */
static void schedule(wg_tile *t, unsigned core, uint64_t pipeline)
{
    uint64_t next = wg_min64(pipeline, wg_min64(wg_lsu_next(t, core), wg_fetch_next(t, core)));
    if (next <= t->sched.now)
        next = t->sched.now + 1;
    wg_wake_at(&t->sched, WG_AGENT_CORE_B + core, next);
}

/* Phase I: requests leave the core. */
static void emit(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    if (k->run.halt == WG_IN_RESET || wg_fast_through_l1(t, k))
        return;
    wg_fast_l1_reached(k);
    if (wg_core_ahead(t, k)) {
        /* A store was blocked on a full path when the core ran ahead; the path may have room again. */
        unsigned i = 0;
        while (i < k->saved.sq_count && wg_sq_peek(&k->saved, i)->path == WG_PATH_OWN_RAM)
            i++;
        const wg_store *first = wg_sq_peek(&k->saved, i);
        if (i < k->saved.sq_count && wg_memory_room(t, core, first->path, first->index) &&
            !wg_fast_store_leaves(t, core))
            wg_core_sync(t, core);
    }
    if (!wg_lsu_wants(t, core) && !wg_fetch_wants(t, core))
        return;
    wg_core_sync(t, core);
    k->run.at = wg_max64(k->run.at, t->sched.now);
    wg_fetch_emit(t, core);
    wg_lsu_emit(t, core);
    k->saved_at = WG_NEVER;
}

/* Reports stalls if they are watched; the core then stays with the clock. */
static void report_stall(wg_tile *t, unsigned core, bool moved)
{
    wg_core *k = &t->core[core];
    wg_stall why = {.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    if (!moved)
        wg_core_why(t, core, &why);
    if (why.reason == k->stall.reason && why.resource == k->stall.resource && why.holder == k->stall.holder)
        return;
    const uint32_t pc = k->run.ex1.kind ? k->run.ex1.pc : k->run.pc; /* whose stall it is */
    if (k->stall.reason != WG_STALL_NONE)
        WG_EMIT(t, WG_EV_STALL_END, WG_AGENT_CORE_B + core, .a = k->stall_since, .pc = pc, .stall = k->stall);
    k->stall = why;
    k->stall_since = t->sched.now;
    if (why.reason != WG_STALL_NONE)
        WG_EMIT(t, WG_EV_STALL_BEGIN, WG_AGENT_CORE_B + core, .pc = pc, .stall = why);
}

/* The instruction about to enter EX1, for the debug interface's comparisons. */
typedef struct wg_seen {
    uint32_t pc, address; /* the address, if it is a load or store */
    unsigned bytes;
    bool reads, writes;
} wg_seen;

static wg_seen about_to_enter(const wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    wg_seen seen = {.pc = k->run.pc};
    const wg_icache_line *line = wg_fetch_peek(t, core, k->run.pc);
    if (!line)
        return seen;
    const wg_op *op = &line->op[k->run.pc >> 2 & 3];
    seen.reads = op->code == WG_OP_LOAD || op->code == WG_OP_ATOMIC;
    seen.writes = op->code == WG_OP_STORE || op->code == WG_OP_ATOMIC || op->code == WG_OP_PUSH;
    seen.address = k->run.r[op->rs1] + (op->code == WG_OP_ATOMIC ? 0 : op->imm);
    if (op->code == WG_OP_PUSH)
        seen.address = WG_INSTRN_BUF_BASE;
    seen.bytes = 4;
    if (op->code == WG_OP_LOAD || op->code == WG_OP_STORE)
        seen.bytes = op->spare == 9 ? 2 : 1u << (op->spare & 3);
    return seen;
}

/* The core may have executed the instruction: pauses it if the debug interface says so. */
static void debugged(wg_tile *t, unsigned core, const wg_seen *seen, bool moved)
{
    wg_core *k = &t->core[core];
    if (!moved || (k->run.halt && k->run.halt != WG_PARKED_LOOP))
        return;
    uint8_t hits = 0;
    for (unsigned i = 0; i < WG_BREAKPOINTS; i++) {
        bool code = k->breakpoints & ~k->watch_reads & ~k->watch_writes & 1u << i;
        bool data = (seen->reads && k->watch_reads >> i & 1) || (seen->writes && k->watch_writes >> i & 1);
        bool hit = (code && k->breakpoint[i] == seen->pc) || (data && k->breakpoint[i] - seen->address < seen->bytes);
        hits |= (uint8_t)(hit << i);
    }
    if (!hits && !k->stepping)
        return;
    k->stepping = false;
    k->breakpoint_hits = hits;
    k->run.halt = WG_HALTED;
    WG_EMIT(t, WG_EV_CORE_STATE, WG_AGENT_CORE_B + core, .a = 2, .pc = k->run.pc);
}

/* Phase J, and private work of the following cycles. */
void wg_core_pipeline(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    uint64_t now = t->sched.now, number = k->run.number;
    bool watched = WG_EVENTS && (t->watched & WG_CORE_EVENTS), followed = k->stepping || k->breakpoints;
    if (k->run.halt == WG_IN_RESET)
        return;
    wg_seen seen = followed ? about_to_enter(t, core) : (wg_seen){0};
    if (wg_fast_through_l1(t, k)) {
        wg_wake_at(&t->sched, WG_AGENT_CORE_B + core, k->l1_until);
        return;
    }
    if (k->reached == now) /* the clock caught up */
        k->reached = 0;
    if (!wg_core_ahead(t, k)) {
        k->run.at = wg_max64(k->run.at, now);
        k->saved_at = WG_NEVER;
    }
    const uint64_t from = wg_max64(k->run.last, now);
    uint64_t again = wg_exec(t, core, followed ? now + 1 : wg_fast_ahead_until(t, core));
    wg_fast_ran_ahead(t, from, k->run.last);
    if (followed)
        debugged(t, core, &seen, k->run.number != number);
    if (k->run.halt)
        again = WG_NEVER;
    if (watched) {
        bool moved = k->run.number != number && !k->run.halt; /* a core that parks reports it in this cycle */
        report_stall(t, core, moved);
        /* The reason for a timed stall may change before it ends: check every cycle. */
        if (again != WG_NEVER || k->stall.retry_at != WG_NEVER || moved)
            again = now + 1;
    }
    schedule(t, core, again == WG_NEVER ? WG_NEVER : wg_max64(again, now + 1));
    t->l1_turns += k->run.sq_count && wg_sq_peek(&k->run, 0)->path == WG_PATH_L1;
}

void wg_cores_tick(wg_tile *t, unsigned due)
{
    t->sched.pending_cores = (uint8_t)due;
    for (unsigned left = due; left; left &= left - 1)
        emit(t, (unsigned)__builtin_ctz(left));
    t->sched.phase = WG_PHASE_PIPELINES;
    for (; due; due &= due - 1) {
        unsigned core = (unsigned)__builtin_ctz(due);
        t->sched.pending_cores &= (uint8_t) ~(1u << core);
        wg_core_pipeline(t, core);
    }
}

void wg_core_respond(wg_tile *t, const wg_request *req, const uint32_t value[4])
{
    unsigned core = req->core;
    wg_core *k = &t->core[core];
    if (req->kind != WG_REQ_WRITE) {
        bool fetch = req->tag & WG_TAG_FETCH;
        if (req->path == WG_PATH_L1 && req->kind == WG_REQ_READ && (fetch || k->run.load[req->tag % WG_LOADS].fills))
            t->regions.memory.l1.watch[req->address / LINE] |= (uint8_t)(fetch ? WG_L1_WATCH_CODE : 1u << core);
        wg_core_run *both[2] = {&k->run, &k->saved};
        for (unsigned i = 0; i < (k->saved_at == WG_NEVER ? 1 : 2); i++)
            if (fetch)
                wg_fetch_respond(t, core, both[i], req->tag & 0x7F, value);
            else
                wg_lsu_respond(t, both[i], req, value);
    }
    wg_wake(&t->sched, WG_AGENT_CORE_B + core);
}

void wg_core_wake(wg_tile *t, unsigned core) { wg_wake(&t->sched, WG_AGENT_CORE_B + core); }

void wg_core_l1_changed(wg_tile *t, unsigned cores, uint32_t line, unsigned writer)
{
    for (unsigned core = 0; core < t->spec->cores; core++) {
        wg_core *k = &t->core[core];
        if (!(cores >> core & 1) || k->run.halt == WG_IN_RESET)
            continue;
        wg_core_sync(t, core);
        unsigned held = 0;
        for (unsigned i = 0; i < WG_L0_LINES; i++)
            if (k->run.l0[i].tag == (line | 1)) {
                held |= 1u << core;
                k->run.l0[i].stale |= writer != core;
            }
        for (unsigned i = 0; i < WG_LOADS; i++) {
            wg_load *l = &k->run.load[i];
            if (l->used && l->fills && (l->address & ~(uint32_t)(LINE - 1)) == line) {
                held |= 1u << core;
                l->stale |= l->done != WG_NEVER && writer != core;
            }
        }
        for (unsigned i = 0; i < WG_FETCHES; i++)
            if (k->run.fetch[i].used && k->run.fetch[i].line == line) {
                held |= WG_L1_WATCH_CODE;
                k->run.fetch[i].stale |= k->run.fetch[i].ready != WG_NEVER;
            }
        unsigned sets = t->spec->core[core].icache_bytes / LINE / 2u;
        for (unsigned way = 0; way < 2; way++) {
            wg_icache_line *l = &k->icache[(line / LINE & (sets - 1)) * 2 + way];
            if ((l->tag & ~(uint32_t)WG_LINE_STALE) == (line | WG_LINE_VALID)) {
                held |= WG_L1_WATCH_CODE;
                l->tag |= WG_LINE_STALE;
            }
        }
        t->regions.memory.l1.watch[line / LINE] |= (uint8_t)held;
        k->saved_at = WG_NEVER;
    }
}

void wg_core_iram_changed(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    const unsigned first = t->spec->core[core].icache_bytes / LINE; /* its predecoded lines follow those of the cache */
    for (unsigned i = 0; i < WG_IRAM_LINES && first + i < WG_ICACHE_LINES; i++)
        k->icache[first + i].tag = 0;
    k->epoch++;
}

/* ---- reset, halt, interrupt -------------------------------------------------------------------------- */

void wg_core_reset(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    k->run.number = WG_RETIRE_QUEUE;
    k->run.halt = WG_IN_RESET;
    k->saved = k->run;
    k->saved_at = WG_NEVER;
    k->epoch = 1;
    t->sched.next[WG_AGENT_CORE_B + core] = WG_NEVER;
}

/* CSRs.md: cfg0 is clear except StMergeTimer; vlenb starts as 16. */
static const wg_csrs csr_reset = {.cfg0 = 16u << WG_CFG0_ST_MERGE_TIMER, .vlenb = 16};

void wg_core_start(wg_tile *t, unsigned core, uint32_t pc)
{
    wg_core *k = &t->core[core];
    uint64_t now = t->sched.now;
    memset(&k->run, 0, sizeof k->run);
    k->run.number = WG_RETIRE_QUEUE;
    k->run.pc = pc & ~3u;
    k->run.at = now;
    k->run.l0_requests = 0;
    k->csr = csr_reset;
    k->csr.cycle_offset = 0 - now;
    k->csr.instret_offset = (uint64_t)0 - WG_RETIRE_QUEUE;
    memset(k->v, 0, sizeof k->v);
    memset(k->targets, 0, sizeof k->targets);
    memset(k->branches, 0, sizeof k->branches);
    k->in_interrupt = false;
    k->ram_ready = now;
    if (wg_reset_clears_ram(t, core)) {
        k->ram_ready += t->arch->ram_clear_cycles;
        memset(k->ram, 0, sizeof k->ram);
    }
    wg_fetch_clear(t, core);
    k->stall = (wg_stall){.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    k->saved_at = WG_NEVER;
    wg_wake(&t->sched, WG_AGENT_CORE_B + core);
    WG_EMIT(t, WG_EV_CORE_STATE, WG_AGENT_CORE_B + core, .a = 1, .pc = pc);
}

void wg_core_stop(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    if (k->run.halt == WG_IN_RESET)
        return;
    wg_core_sync(t, core);
    wg_lsu_drain_private(t, core, t->sched.now);
    k->run.halt = WG_IN_RESET;
    k->breakpoint_hits = 0;
    k->stepping = false;
    k->run.ex1.kind = WG_EX1_NONE;
    k->run.sq_count = 0;
    k->run.loads = 0;
    memset(k->run.load, 0, sizeof k->run.load);
    memset(k->run.fetch, 0, sizeof k->run.fetch);
    k->saved_at = WG_NEVER;
    k->undo_count = 0;
    wg_memory_drop(t, core);
    t->sched.next[WG_AGENT_CORE_B + core] = WG_NEVER;
    WG_EMIT(t, WG_EV_CORE_STATE, WG_AGENT_CORE_B + core, .a = 0, .pc = k->run.pc);
}

/* The core's state was changed from outside at the current cycle: run-ahead restarts from it. */
static void changed(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    if (k->run.halt == WG_IN_RESET)
        return;
    k->saved_at = WG_NEVER;
    wg_wake(&t->sched, WG_AGENT_CORE_B + core);
}

void wg_core_halt(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_sync(t, core);
    if (k->run.halt == WG_RUNNING || k->run.halt == WG_PARKED_LOOP)
        k->run.halt = WG_HALTED;
    changed(t, core);
}

void wg_core_resume(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_sync(t, core);
    if (k->run.halt == WG_HALTED || k->run.halt == WG_PARKED_BREAK) {
        k->run.halt = WG_RUNNING;
        k->stepping = false;
        k->breakpoint_hits = 0;
        k->run.at = wg_max64(k->run.at, t->sched.now);
        WG_EMIT(t, WG_EV_CORE_STATE, WG_AGENT_CORE_B + core, .a = 3, .pc = k->run.pc);
    }
    changed(t, core);
}

void wg_core_step(wg_tile *t, unsigned core)
{
    if (t->arch->debug_steps_twice && !t->core[core].stepping) {
        t->core[core].stepping = true; /* the second command counts */
        return;
    }
    wg_core_resume(t, core);
    t->core[core].stepping = t->core[core].run.halt == WG_RUNNING;
}

void wg_core_slow(wg_tile *t, unsigned core, bool slow)
{
    if (t->core[core].slow == slow)
        return;
    wg_core_sync(t, core);
    t->core[core].slow = slow;
    changed(t, core);
}

static void unpark(const wg_tile *t, wg_core *k)
{
    k->run.halt = WG_RUNNING;
    k->run.at = wg_max64(k->run.at, t->sched.now);
}

void wg_core_breakpoints(wg_tile *t, unsigned core, uint8_t enabled, uint8_t reads, uint8_t writes,
                         const uint32_t address[WG_BREAKPOINTS])
{
    wg_core *k = &t->core[core];
    if (!enabled && !k->breakpoints)
        return;
    wg_core_sync(t, core);
    k->breakpoints = enabled;
    k->watch_reads = reads;
    k->watch_writes = writes;
    for (unsigned i = 0; enabled && i < WG_BREAKPOINTS; i++)
        k->breakpoint[i] = address[i];
    if (k->run.halt == WG_PARKED_LOOP) /* its branch may be watched: it is executed again */
        unpark(t, k);
    changed(t, core);
}

void wg_core_invalidate_icache(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_sync(t, core);
    wg_fetch_clear(t, core);
    if (k->run.halt == WG_PARKED_LOOP) { /* hardware refetches the branch, which may have changed */
        unpark(t, k);
    }
    changed(t, core);
}

void wg_core_interrupt(wg_tile *t, unsigned core, uint32_t handler)
{
    wg_core *k = &t->core[core];
    if (k->run.halt == WG_IN_RESET || k->in_interrupt)
        return;
    wg_core_sync(t, core);
    if (k->run.halt == WG_PARKED_LOOP)
        k->run.halt = WG_RUNNING;
    k->in_interrupt = true;
    k->interrupt_pc = k->csr.restore_pc = k->run.pc;
    k->run.pc = handler & ~3u;
    k->run.at = k->run.refilled = wg_max64(k->run.at, t->sched.now + t->timing->mispredict_bubble);
    k->run.late = 0;
    changed(t, core);
}

bool wg_core_in_interrupt(const wg_tile *t, unsigned core) { return t->core[core].in_interrupt; }

bool wg_core_parked(const wg_tile *t, unsigned core)
{
    uint8_t halt = t->core[core].run.halt;
    return halt == WG_IN_RESET || halt == WG_PARKED_BREAK || halt == WG_PARKED_LOOP;
}

/* ---- inspection ------------------------------------------------------------------------------------- */

uint32_t wg_core_pc(wg_tile *t, unsigned core)
{
    wg_core_sync(t, core);
    return t->core[core].run.pc;
}

bool wg_core_ram_read(wg_tile *t, unsigned core, uint32_t offset, uint32_t bytes, void *to)
{
    if (core >= WG_CORES || offset > t->spec->core[core].ram_bytes || bytes > t->spec->core[core].ram_bytes - offset)
        return false;
    wg_core_sync(t, core);
    if (t->core[core].run.halt != WG_IN_RESET)
        wg_lsu_drain_private(t, core, t->sched.now);
    memcpy(to, t->core[core].ram + offset, bytes);
    return true;
}

bool wg_core_ram_write(wg_tile *t, unsigned core, uint32_t offset, uint32_t bytes, const void *from)
{
    if (core >= WG_CORES || offset > t->spec->core[core].ram_bytes || bytes > t->spec->core[core].ram_bytes - offset)
        return false;
    wg_core_sync(t, core);
    if (t->core[core].run.halt != WG_IN_RESET)
        wg_lsu_drain_private(t, core, t->sched.now);
    memcpy(t->core[core].ram + offset, from, bytes);
    changed(t, core);
    return true;
}

void wg_core_why(const wg_tile *t, unsigned core, wg_stall *why)
{
    static const uint8_t reasons[] = {
        [WG_IN_RESET] = WG_STALL_CORE_IN_RESET,  [WG_PARKED_BREAK] = WG_STALL_CORE_PARKED,
        [WG_PARKED_LOOP] = WG_STALL_CORE_PARKED, [WG_HUNG] = WG_STALL_HANGING_ACCESS,
        [WG_HALTED] = WG_STALL_CORE_HALTED,
    };
    const wg_core *k = &t->core[core];
    *why = (wg_stall){.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    if (k->run.halt)
        why->reason = reasons[k->run.halt];
    else
        wg_exec_why(t, core, why);
}

void wg_core_info_get(wg_tile *t, unsigned core, wg_core_info *out)
{
    wg_core *k = &t->core[core];
    wg_core_sync(t, core);
    *out = (wg_core_info){.pc = k->run.pc,
                          .in_reset = k->run.halt == WG_IN_RESET,
                          .parked = wg_core_parked(t, core),
                          .instructions = k->run.number - WG_RETIRE_QUEUE + k->run.pushes};
    wg_core_why(t, core, &out->stall);
}

bool wg_core_peek(wg_tile *t, unsigned core, wg_space space, uint32_t index, uint32_t *value)
{
    wg_core *k = &t->core[core];
    wg_core_sync(t, core);
    switch (space) {
    case WG_SPACE_CORE_X:
    case WG_SPACE_CORE_F:
        if (index >= 32)
            return false;
        *value = k->run.r[index + (space == WG_SPACE_CORE_F ? WG_REG_F : 0)];
        return true;
    case WG_SPACE_CORE_PC: *value = k->run.pc; return true;
    case WG_SPACE_CORE_CSR: {
        bool known;
        *value = wg_csr_read(t, core, index & 0xFFF, &known);
        return known;
    }
    case WG_SPACE_CORE_RAM: {
        uint8_t byte;
        if (!wg_core_ram_read(t, core, index, 1, &byte))
            return false;
        *value = byte;
        return true;
    }
    default: return false;
    }
}

bool wg_core_poke(wg_tile *t, unsigned core, wg_space space, uint32_t index, uint32_t value)
{
    wg_core *k = &t->core[core];
    wg_core_sync(t, core);
    switch (space) {
    case WG_SPACE_CORE_X:
    case WG_SPACE_CORE_F:
        if (index >= 32)
            return false;
        if (index || space == WG_SPACE_CORE_F)
            k->run.r[index + (space == WG_SPACE_CORE_F ? WG_REG_F : 0)] = value;
        break;
    case WG_SPACE_CORE_PC:
        k->run.pc = value & ~3u;
        if (k->run.halt == WG_PARKED_LOOP)
            k->run.halt = WG_RUNNING;
        break;
    case WG_SPACE_CORE_CSR: {
        bool known;
        wg_csr_read(t, core, index & 0xFFF, &known);
        if (!known)
            return false;
        wg_csr_poke(t, core, index & 0xFFF, value);
        break;
    }
    case WG_SPACE_CORE_RAM: return wg_core_ram_write(t, core, index, 1, &(uint8_t){(uint8_t)value});
    default: return false;
    }
    changed(t, core);
    return true;
}
