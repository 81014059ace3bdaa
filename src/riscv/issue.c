/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an instruction may enter EX1: operands, forwarding, the retire queue, ordering.
 *
 * Facts: BabyRISCV/README.md of each architecture (Retire Unit), MemoryOrdering.md (forwarding), CSRs.md.
 */
#include "riscv/pipeline.h"

#include <string.h>

/*
 * Derives the retire queue from `lag`, which whole lines leave behind: the newest instruction retires `lag` cycles after it
 * entered EX1, each older one a cycle earlier.
 */
void wg_begin_queue_anew(wg_core_run *run)
{
    memset(run->retired, 0, sizeof run->retired);
    memset(run->filled, 0, sizeof run->filled);
    if (!run->lag)
        run->dests = WG_EIGHT((uint64_t)WG_NO_DEST);
    for (unsigned i = 0; i < run->lag && i < WG_RETIRE_RING; i++)
        run->retired[(run->number - 1 - i) % WG_RETIRE_RING] = run->last + run->lag - i;
    if (run->late) {
        unsigned newest = (unsigned)((run->number - 1) % WG_RETIRE_RING);
        run->dests = (run->dests & ~UINT64_C(0xFF)) | run->late;
        run->filled[newest] = run->late_at;
        run->retired[newest] = wg_max64(run->retired[newest], run->late_at);
    }
    run->late = 0;
    run->queued = true;
}

/* Returns to whole lines once no load is in flight. */
bool wg_end_queue(wg_tile *t, unsigned core, uint64_t stop)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    unsigned newest = (unsigned)((run->number - 1) % WG_RETIRE_RING);
    if (run->retired[newest] == WG_NEVER || run->ex1.kind || run->ordered || wg_one_at_a_time(k))
        return false;
    /* Departing stores drop their L0 lines before loads fill others, so no store may leave before `stop`. */
    if (run->loads)
        wg_lsu_settle(k, run->sq_count ? wg_min64(run->at, stop) : run->at);
    if (run->loads)
        return false;
    uint8_t dest = (uint8_t)run->dests;
    run->queued = false;
    run->late = run->filled[newest] > run->at && dest != WG_NO_DEST ? dest : 0;
    run->late_at = run->filled[newest];
    /* Does the queue hold more than the newest entry when the next instruction enters EX1? */
    run->lag = run->retired[newest] > run->at + 1 ? (uint8_t)(run->retired[newest] - run->last) : 0;
    return true;
}

/* Raises *e to `to`; *why says what it is then for. */
static inline void put_off(uint64_t *e, uint64_t to, wg_stall *why, uint16_t reason, unsigned resource)
{
    if (to <= *e)
        return;
    *e = to;
    why->reason = reason;
    why->resource = (uint16_t)resource;
}

/*
 * One operand: raises *e to the cycle in which it is available; false if that is not known yet. If why->retry_at is set, it
 * is known once the clock reaches that cycle.
 */
static bool operand(const wg_tile *t, const wg_core *k, const wg_core_run *run, unsigned reg, uint64_t *e,
                    wg_stall *why)
{
    uint64_t zero = wg_writers(run->dests, reg);
    if (!zero)
        return true;
    unsigned newest = (unsigned)__builtin_ctzll(zero) / 8;
    uint64_t number = run->number - 1 - newest;
    uint64_t filled = run->filled[number % WG_RETIRE_RING], retired = run->retired[number % WG_RETIRE_RING];
    const bool forwards = !k->slow && !(k->csr.cfg0 & WG_CFG0_DIS_REG_FORWARDING);
    if (!forwards && retired != WG_NEVER) /* it retires no earlier than the cycle after it was filled */
        retired = wg_max64(retired, filled + 1);
    if (retired <= *e)
        return true;
    if (filled == WG_NEVER) {
        *why = (wg_stall){
            .reason = WG_STALL_LOAD_RESPONSE, .resource = (uint16_t)reg, .holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
        return false;
    }
    put_off(e, filled, why, WG_STALL_OPERAND, reg);
    uint64_t wait_for = 0;
    if (!forwards)
        wait_for = retired;
    else if (newest > 0 && t->arch->forward_writers == 0)
        wait_for = retired;
    else if (newest > 0) {
        /* With several queued results for one register, none is forwarded. (The zero-byte trick is exact only for the
         * lowest match; older entries are checked one by one.) */
        for (unsigned i = newest + 1; i < WG_RETIRE_QUEUE; i++) {
            uint64_t older = run->number - 1 - i;
            if ((run->dests >> 8 * i & 0xFF) != reg || run->retired[older % WG_RETIRE_RING] <= *e)
                continue;
            if (run->filled[older % WG_RETIRE_RING] <= *e)
                wait_for = run->retired[older % WG_RETIRE_RING];
            else if (run->filled[older % WG_RETIRE_RING] == WG_NEVER)
                why->retry_at = *e; /* it may be ready by then */
            break;
        }
    }
    if (wait_for == WG_NEVER) {
        *why = (wg_stall){
            .reason = WG_STALL_OPERAND, .resource = (uint16_t)reg, .holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
        return false;
    }
    put_off(e, wait_for, why, WG_STALL_OPERAND, reg);
    return true;
}

/* The cycle in which `op` enters EX1; false if that is not known yet. *why: what it waits for once EX1 is free. */
bool wg_issue(const wg_tile *t, const wg_core *k, const wg_core_run *run, const wg_op *op, uint64_t *out, wg_stall *why)
{
    uint64_t e = run->at;
    uint64_t oldest = run->retired[(run->number - WG_RETIRE_QUEUE) % WG_RETIRE_RING]; /* eight instructions ago */
    uint64_t newest = run->retired[(run->number - 1) % WG_RETIRE_RING];
    *why = (wg_stall){.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    if (oldest == WG_NEVER) {
        why->reason = WG_STALL_RETIRE_QUEUE_FULL;
        return false;
    }
    bool ordered = run->ordered || k->slow || (k->csr.cfg0 & WG_CFG0_SYNC_ALL_OPS);
    if (ordered && newest == WG_NEVER) {
        why->reason = WG_STALL_CSR_SYNC;
        return false;
    }
    put_off(&e, oldest, why, WG_STALL_RETIRE_QUEUE_FULL, 0);
    if (ordered) /* it retires no earlier than the cycle after it was filled */
        put_off(&e, wg_max64(newest, run->last + 2) + (run->ordered ? t->timing->csr_refill : 0u), why,
                WG_STALL_CSR_SYNC, 0);
    for (uint64_t before = WG_NEVER; before != e;) {
        before = e;
        why->retry_at = WG_NEVER;
        if (!operand(t, k, run, op->rs1, &e, why) || !operand(t, k, run, op->rs2, &e, why) ||
            !operand(t, k, run, op->rs3, &e, why))
            return false;
    }
    *out = e;
    return true;
}

/*
 * Two executors may represent equal states differently. The normal form lists the retire queue entry by entry, `at` is the
 * cycle in which the next instruction enters EX1, if known, and entries that have retired by then are cleared.
 */
void wg_core_normalize(const wg_tile *t, unsigned core, wg_core_run *run)
{
    const wg_core *k = &t->core[core];
    wg_stall why;
    wg_begin_queue(run);
    run->lag = 0;
    run->late_at = 0;
    const wg_icache_line *line = run->halt || run->ex1.kind ? NULL : wg_fetch_peek(t, core, run->pc);
    if (line)
        wg_issue(t, k, run, &line->op[run->pc >> 2 & 3], &run->at, &why);
    uint64_t retired[WG_RETIRE_RING] = {0}, filled[WG_RETIRE_RING] = {0}, dests = 0;
    unsigned newest = (unsigned)((run->number - 1) % WG_RETIRE_RING), count = WG_RETIRE_QUEUE;
    if (run->retired[newest] <= run->at + 1 && run->filled[newest] <= run->at && !run->ordered && !wg_one_at_a_time(k))
        count = 0; /* it retires before the instruction after next enters EX1; as in wg_end_queue() */
    for (unsigned i = 0; i < count; i++) { /* from the newest instruction on */
        unsigned slot = (unsigned)((run->number - 1 - i) % WG_RETIRE_RING);
        if (run->retired[slot] <= run->at)
            break;
        retired[slot] = run->retired[slot];
        filled[slot] = run->filled[slot] > run->at ? run->filled[slot] : 0;
        dests |= (run->dests >> 8 * i & 0xFF) << 8 * i;
    }
    memcpy(run->retired, retired, sizeof retired);
    memcpy(run->filled, filled, sizeof filled);
    run->dests = dests;
}
