/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load/store unit: store queue, loads in flight, L0 data cache.
 *
 *     EX1 ──> enters in cycle m ──┬── load: own RAM or L0 at once, else a request in m
 *                                 └── store: queue of four ── leaves in a later cycle in which no load leaves
 *
 * The memory mux takes one request per cycle; loads have priority over stores. Private accesses (own RAM, L0 hits, entering
 * the store queue) are computed ahead of the clock. Requests are emitted in phase I of their own cycle, when the pipeline has
 * reached exactly that cycle.
 *
 * Facts: MemoryOrdering.md, README.md (Load/Store Unit), CSRs.md of each architecture.
 * Decided here: own RAM uses the mux like everything else; an entry that is a whole line, or is not the last one of the queue,
 * does not wait for the merge timer; the timer counts from the cycle after the store; a store that leaves the queue
 * invalidates its L0 line a second time; L0 replacement is round-robin.
 */
#include "riscv/lsu.h"

#include <string.h>

static void ram_store(wg_tile *t, unsigned core, const wg_store *s)
{
    wg_core *k = &t->core[core];
    uint32_t offset = (s->address - WG_RAM_BASE) & (WG_RAM_MAX - 1);
    uint32_t old;
    memcpy(&old, k->ram + (offset & ~3u), 4);
    wg_core_log(k, offset & ~3u, old);
    wg_put_bytes(k->ram + offset, s->data, s->bytes);
}

void wg_lsu_drain_ram(wg_tile *t, unsigned core, uint64_t before)
{
    wg_core *k = &t->core[core];
    while (k->run.sq_count) {
        wg_store *s = wg_sq_at(&k->run, 0);
        uint64_t at = wg_max64(wg_sq_ready_at(t, k, 0), k->run.mux_free);
        if (at >= before || s->path != WG_PATH_OWN_RAM)
            return;
        ram_store(t, core, s);
        wg_sq_pop(&k->run);
        k->run.mux_free = at + 1;
    }
}

/* The cycle in which entry i leaves, if all entries before it are private; else WG_NEVER. */
static uint64_t leaves_at(const wg_tile *t, unsigned core, unsigned i)
{
    const wg_core *k = &t->core[core];
    uint64_t free = k->run.mux_free;
    for (unsigned j = 0; j <= i; j++) {
        free = wg_max64(free, wg_sq_ready_at(t, k, j)) + 1;
        if (wg_sq_peek(&k->run, j)->path != WG_PATH_OWN_RAM)
            return WG_NEVER;
    }
    return free - 1;
}

void wg_l0_fill(wg_core_run *run, const wg_load *l)
{
    uint32_t tag = (l->address & ~(uint32_t)(WG_L1_LINE - 1)) | 1;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (run->l0[i].tag == tag) {
            memcpy(run->l0[i].data, l->line, WG_L1_LINE);
            run->l0[i].stale = l->stale;
            return;
        }
    wg_l0_line *victim = &run->l0[run->l0_victim];
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (!run->l0[i].tag) {
            victim = &run->l0[i];
            break;
        }
    if (victim == &run->l0[run->l0_victim])
        run->l0_victim = (uint8_t)((run->l0_victim + 1) % WG_L0_LINES);
    victim->tag = tag;
    victim->stale = l->stale;
    memcpy(victim->data, l->line, WG_L1_LINE);
}

void wg_lsu_settle(wg_core *k, uint64_t time)
{
    while (k->run.loads) {
        wg_load *first = NULL;
        for (unsigned i = 0; i < WG_LOADS; i++) {
            wg_load *l = &k->run.load[i];
            if (l->used && l->done <= time && (!first || l->done < first->done))
                first = l;
        }
        if (!first)
            return;
        if (first->fills && !first->flushed)
            wg_l0_fill(&k->run, first);
        first->used = false;
        k->run.loads--;
    }
}

void wg_lsu_flush_l0(wg_core *k)
{
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        k->run.l0[i].tag = 0;
    for (unsigned i = 0; i < WG_LOADS; i++)
        k->run.load[i].flushed = true;
}

void wg_l0_drop_line(wg_core_run *run, uint32_t address)
{
    uint32_t tag = (address & ~(uint32_t)(WG_L1_LINE - 1)) | 1;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (run->l0[i].tag == tag)
            run->l0[i].tag = 0;
    for (unsigned i = 0; run->loads && i < WG_LOADS; i++)
        if (run->load[i].used && ((run->load[i].address ^ address) & ~(uint32_t)(WG_L1_LINE - 1)) == 0)
            run->load[i].flushed = true;
}

uint32_t wg_load_value(const uint32_t line[4], uint32_t address, uint8_t size)
{
    uint32_t word = line[address >> 2 & 3] >> (address & 3) * 8;
    switch (size) {
    case 0: return (uint32_t)(int8_t)word;
    case 1: return (uint32_t)(int16_t)word;
    case 4: return word & 0xFF;
    case 5: return word & 0xFFFF;
    case 9: return word | 0xFFFF0000; /* flh: boxed */
    default: return word;
    }
}

/* Which queued store a load must wait for; -1: none. */
int wg_sq_conflict(const wg_tile *t, const wg_core_run *run, uint32_t address, unsigned bytes)
{
    for (int i = run->sq_count - 1; i >= 0; i--) {
        const wg_store *s = wg_sq_peek(run, (unsigned)i);
        if (!t->arch->overlap_conflicts) {
            if (s->address == address)
                return i;
        } else if (s->path == WG_PATH_L1) {
            uint16_t mask = (uint16_t)(((1u << bytes) - 1) << (address & (WG_L1_LINE - 1)));
            if (((s->address ^ address) & ~(uint32_t)(WG_L1_LINE - 1)) == 0 && (s->mask & mask))
                return i;
        } else if (address < s->address + s->bytes && s->address < address + bytes) {
            return i;
        }
    }
    return -1;
}

static uint64_t draw(uint64_t seed, unsigned core, uint64_t event)
{
    uint64_t z = (seed ^ (uint64_t)core << 40 ^ event) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return z >> 32;
}

/* One request through the L0 cache: does it trigger the periodic flush? */
bool wg_l0_flushes(const wg_tile *t, wg_core *k, unsigned core)
{
    uint32_t n = k->run.l0_requests++;
    uint32_t period = t->arch->l0_flush_period;
    if (!period || (k->csr.cfg0 & WG_CFG0_DIS_PERIODIC_FLUSH))
        return false;
    /* According to the switch's name the flush is periodic; a run with a seed draws it at random, at the same rate. A run
     * with only a list of delays draws nothing (wg_perturb_with()), so the seed decides here. */
    if (!t->seed)
        return (period & (period - 1) ? n % period : n & (period - 1)) == period - 1;
    return draw(t->seed, core, n) % period == 0;
}

/* The line has changed in L1: reports the access if these bytes have, unless it polls, and looks again behind a fence. */
static void report_stale(wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint32_t value)
{
    uint32_t line[4];
    wg_l1_read(t, address & ~(uint32_t)(WG_L1_LINE - 1), WG_L1_LINE, line);
    uint32_t real = wg_load_value(line, address, size);
    if (real != value && !wg_lsu_looks_again(t, core, address, size, pc, value))
        wg_findf(t, WG_F_CORE_STALE_L0,
                 (wg_finding){.agent = (uint8_t)core, .pc = pc, .has_pc = true, .subject = address, .value = value},
                 "0x%08x read as 0x%x; L1 holds 0x%x", address, value, real);
}

wg_lsu_result wg_lsu_load(wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint64_t e,
                          uint32_t *value, uint64_t *entered, uint64_t *done)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    bool own = address - WG_RAM_BASE < t->spec->core[core].ram_bytes;
    bool l1 = address < t->spec->l1_bytes;
    bool cached = l1 && t->arch->l0_lines && !(k->csr.cfg0 & WG_CFG0_DIS_LOW_CASH);
    if ((!own && !cached) || wg_strongly_ordered(k))
        return WG_LSU_SHARED;
    uint64_t m = run->wait_e == e ? wg_max64(e + 1, run->wait_m) : e + 1;
    unsigned bytes = wg_load_bytes(size);
    if (own && m < k->ram_ready) {
        if (k->ram_ready >= k->stop || run->sq_count) /* stores may leave before that */
            return WG_LSU_SHARED;
        m = k->ram_ready;
    }
    wg_lsu_drain_private(t, core, m);
    int wait = run->sq_count ? wg_sq_conflict(t, run, address, bytes) : -1;
    if (run->sq_count && (k->csr.cfg0 & WG_CFG0_DIS_LD_BUF_BYP))
        wait = run->sq_count - 1;
    if (wait < 0 && t->arch->load_needs_store_slot && run->sq_count == WG_STORE_QUEUE)
        wait = 0;
    if (wait >= 0) {
        uint64_t left = leaves_at(t, core, (unsigned)wait);
        if (left == WG_NEVER || left + 1 >= k->stop)
            return WG_LSU_SHARED;
        m = wg_max64(m, left + 1);
        run->wait_e = e;
        run->wait_m = m;
        wg_lsu_drain_private(t, core, m);
    }
    if (own) {
        uint32_t offset = address - WG_RAM_BASE, line[4];
        memcpy(line, k->ram + (offset & ~15u), WG_L1_LINE);
        *value = wg_load_value(line, offset, size);
        run->mux_free = wg_max64(run->mux_free, m + 1);
        *entered = m;
        *done = m + 1;
        return WG_LSU_DONE;
    }
    if (run->loads)
        wg_lsu_settle(k, m);
    const wg_l0_line *hit = wg_l0_find(run, address);
    if (!hit || (hit->stale && (m > t->sched.now || k->l1_ahead))) /* report it in its own cycle */
        return WG_LSU_SHARED;
    *value = wg_load_value(hit->data, address, size);
    if (hit->stale)
        report_stale(t, core, address, size, pc, *value);
    if (wg_touch_watched(t))
        wg_touch_core(t, core, pc, WG_TOUCH_READ | WG_TOUCH_CACHED, WG_TOUCH_L1, address, bytes);
    if (wg_l0_flushes(t, k, core))
        wg_lsu_flush_l0(k);
    *entered = m;
    *done = m + 1;
    return WG_LSU_DONE;
}

/* Enters a store into the queue: for L1 as a line, otherwise from its address on. */
void wg_sq_enqueue(wg_core_run *run, const wg_ex1 *x, uint64_t m)
{
    wg_store *s = wg_sq_at(run, run->sq_count++);
    *s = (wg_store){.first = m,
                    .entered = m,
                    .address = x->address,
                    .pc = x->pc,
                    .path = x->path,
                    .bytes = x->bytes,
                    .index = x->index};
    if (x->path == WG_PATH_L1) {
        wg_put_bytes((uint8_t *)s->data + (x->address & (WG_L1_LINE - 1)), x->data, x->bytes);
        s->mask = (uint16_t)(((1u << x->bytes) - 1) << (x->address & (WG_L1_LINE - 1)));
    } else {
        memcpy(s->data, x->data, sizeof s->data);
    }
}

/* Consecutive stores to one line that start within four bytes of each other coalesce. */
bool wg_sq_mergeable(const wg_tile *t, const wg_core *k, const wg_ex1 *x)
{
    if (!k->run.sq_count || x->path != WG_PATH_L1 || !wg_sq_merging(t, k))
        return false;
    const wg_store *s = wg_sq_peek(&k->run, k->run.sq_count - 1u);
    int32_t apart = (int32_t)(x->address - s->address);
    return s->path == WG_PATH_L1 && !((s->address ^ x->address) & ~(uint32_t)(WG_L1_LINE - 1)) && apart >= -4 &&
           apart <= 4;
}

bool wg_sq_coalesce(const wg_tile *t, wg_core *k, const wg_ex1 *x, uint64_t m)
{
    if (!wg_sq_mergeable(t, k, x))
        return false;
    wg_store *s = wg_sq_at(&k->run, k->run.sq_count - 1u);
    wg_put_bytes((uint8_t *)s->data + (x->address & (WG_L1_LINE - 1)), x->data, x->bytes);
    s->mask |= (uint16_t)(((1u << x->bytes) - 1) << (x->address & (WG_L1_LINE - 1)));
    s->address = x->address;
    s->entered = m;
    s->pc = x->pc;
    return true;
}

wg_lsu_result wg_lsu_store(wg_tile *t, unsigned core, const wg_ex1 *x, uint64_t *entered)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    uint64_t m = x->entered + 1;
    if (wg_strongly_ordered(k))
        return WG_LSU_SHARED;
    wg_lsu_drain_private(t, core, m);
    /* A mergeable head entry may leave in this very cycle: wait for the clock. */
    if (run->sq_count == 1 && x->path == WG_PATH_L1 && wg_sq_at(run, 0)->path == WG_PATH_L1 &&
        wg_sq_ready_at(t, k, 0) <= m)
        return WG_LSU_SHARED;
    if (x->path == WG_PATH_L1) {
        if (run->loads)
            wg_lsu_settle(k, m);
        wg_l0_drop_line(run, x->address);
    }
    if (wg_sq_coalesce(t, k, x, m)) {
        *entered = m;
        return WG_LSU_DONE;
    }
    if (run->sq_count == WG_STORE_QUEUE) {
        uint64_t left = leaves_at(t, core, 0);
        if (left >= k->stop)
            return WG_LSU_SHARED;
        m = wg_max64(m, left);
        wg_lsu_drain_private(t, core, m + 1);
    }
    wg_sq_enqueue(run, x, m);
    *entered = m;
    return WG_LSU_DONE;
}
