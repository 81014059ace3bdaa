/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load/store unit: store queue, loads in flight, L0 data cache.
 *
 *     EX1 ──> enters in cycle m ──┬── load: own RAM or L0 at once, else a request in m
 *                                 └── store: queue of four ── leaves in a later cycle, when no load does
 *
 * The memory mux takes one request per cycle, a load before a store. What stays inside (own RAM, L0 hits,
 * a place in the store queue) is worked out ahead of the clock; requests are emitted in phase I of their
 * own cycle, when the pipeline stands exactly there.
 *
 * Facts: MemoryOrdering.md, README.md (Load/Store Unit), CSRs.md of each architecture.
 * Decided here: own RAM uses the mux like everything else; a whole line, or one that is no longer the last
 * of the queue, does not wait for the merge timer; the timer counts from the cycle after the store; a store
 * that leaves the queue takes its L0 line with it once more; the L0 cache is replaced round-robin.
 */
#include "riscv/internal.h"

#include <string.h>
#include "frontend/auto_ttsync.h"

enum { LINE = 16 };

static wg_store *sq_at(wg_core_run *run, unsigned i) { return &run->sq[(run->sq_head + i) % WG_STORE_QUEUE]; }
static const wg_store *sq_peek(const wg_core_run *run, unsigned i)
{
    return &run->sq[(run->sq_head + i) % WG_STORE_QUEUE];
}

static bool merging(const wg_tile *t, const wg_core *k)
{
    return t->arch->store_coalescing && !(k->csr.cfg0 & WG_CFG0_DIS_ST_MERGE);
}

/* The first cycle in which entry i could leave if it were first and the mux free. */
static uint64_t ready_at(const wg_tile *t, const wg_core *k, unsigned i)
{
    const wg_store *s = sq_peek(&k->run, i);
    uint64_t at = s->entered + 1;
    if (s->path == WG_PATH_OWN_RAM)
        return wg_max64(at, k->ram_ready);
    if (s->path != WG_PATH_L1 || s->mask == 0xFFFF || !merging(t, k))
        return at;
    uint64_t patience = at + (k->csr.cfg0 >> WG_CFG0_ST_MERGE_TIMER & 31);
    if (i + 1 == k->run.sq_count)
        return patience;
    return wg_max64(at, wg_min64(patience, sq_peek(&k->run, i + 1)->first));
}

/*
 * When nobody else acts before solo_until, a request to L1 can be worked out at once: emitted in m, it is
 * processed in p, when its port and bank are free. Beyond m + SOLO_WAIT it is left to the clock: nothing that
 * this core does after m can bring another client to the port sooner than that. Returns p, WG_NEVER if it is to
 * be left.
 */
enum { SOLO_WAIT = 6 };
static uint64_t solo(const wg_tile *t, unsigned core, uint32_t address, uint64_t m)
{
    const wg_core *k = &t->core[core];
    const wg_memory *mem = &t->regions.memory;
    uint64_t p = m + t->timing->path[WG_PATH_L1].travel;
    p = wg_max64(p, mem->l1.port_free[wg_l1_port((wg_l1_client)core)]);
    p = wg_max64(p, mem->l1.bank_free[address / LINE % t->arch->l1_banks]);
    for (unsigned i = 0; i < WG_FETCHES; i++)
        if (__builtin_expect(k->run.fetch[i].used && k->run.fetch[i].emit_at != WG_NEVER, 0))
            return WG_NEVER;   /* it goes first */
    return p < k->solo_until && p <= m + SOLO_WAIT && !mem->lane[core][WG_PATH_L1].count ? p : WG_NEVER;
}

/* Books the port and bank as the regions' tick would. */
static void solo_book(wg_tile *t, unsigned core, uint32_t address, uint64_t m, uint64_t p, bool narrow)
{
    wg_core *k = &t->core[core];
    wg_memory *mem = &t->regions.memory;
    mem->lane[core][WG_PATH_L1].last_seen_at = m + t->timing->path[WG_PATH_L1].travel;
    mem->emitted[core]++;
    wg_l1_book(t, (wg_l1_client)core, address, narrow ? WG_L1_NARROW : WG_L1_READ, p);
    k->solo_at[k->solo_next++ % WG_SOLO_RECENT] = p;
}

/* A line whose write concerns nobody's cache but this core's own L0, which its stores look after. */
static bool solo_line(const wg_tile *t, unsigned core, uint32_t address)
{
    return !t->l1_watched && !(t->regions.memory.l1.watch[address / LINE] & ~(1u << core));
}

static void pop(wg_core_run *run)
{
    run->sq_head = (uint8_t)((run->sq_head + 1) % WG_STORE_QUEUE);
    run->sq_count--;
}

static void ram_store(wg_tile *t, unsigned core, const wg_store *s)
{
    wg_core *k = &t->core[core];
    uint32_t offset = (s->address - WG_RAM_BASE) & (WG_RAM_MAX - 1);
    uint32_t old;
    memcpy(&old, k->ram + (offset & ~3u), 4);
    wg_core_log(k, offset & ~3u, old);
    memcpy(k->ram + offset, s->data, s->bytes);
}

/* Can entry i leave in cycle `at` without anybody else seeing it? For L1, *p is when it is processed then. */
static bool is_private(const wg_tile *t, unsigned core, unsigned i, uint64_t at, uint64_t *p)
{
    const wg_store *s = sq_peek(&t->core[core].run, i);
    const wg_core *k = &t->core[core];
    if (s->path == WG_PATH_OWN_RAM)
        return true;
    if (s->path != WG_PATH_L1 || !k->solo_until || !solo_line(t, core, s->address))
        return false;
    *p = solo(t, core, s->address, at);
    if (*p == WG_NEVER)
        return false;
    unsigned under_way = 0;
    for (unsigned j = 0; j < WG_SOLO_RECENT; j++)
        under_way += k->solo_at[j] > at;
    return under_way <= t->timing->path[WG_PATH_L1].travel;
}

static void l0_drop_line(wg_core_run *run, uint32_t address);

/* Returns true if, alone, the front should have left by then but must wait for the clock: so must what follows it. */
static bool drain_until(wg_tile *t, unsigned core, uint64_t before)
{
    wg_core *k = &t->core[core];
    while (k->run.sq_count) {
        wg_store *s = sq_at(&k->run, 0);
        uint64_t at = wg_max64(ready_at(t, k, 0), k->run.mux_free);
        if (at >= before)
            return false;
        uint64_t p;
        if (!is_private(t, core, 0, at, &p))
            return k->solo_until != 0;
        if (s->path == WG_PATH_OWN_RAM) {
            ram_store(t, core, s);
        } else {
            solo_book(t, core, s->address, at, p, s->mask != 0xFFFF);
            if (k->run.loads)
                wg_lsu_settle(k, at);
            l0_drop_line(&k->run, s->address);
            wg_l1_write_masked(t, (wg_l1_client)core, s->address, s->mask, s->data);
        }
        pop(&k->run);
        k->run.mux_free = at + 1;
    }
    return false;
}

void wg_lsu_drain_private(wg_tile *t, unsigned core, uint64_t before) { drain_until(t, core, before); }

bool wg_lsu_blocked(const wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    uint64_t free = k->run.mux_free;
    for (unsigned i = 0; i < k->run.sq_count; i++) {
        uint64_t at = wg_max64(free, ready_at(t, k, i));
        if (sq_peek(&k->run, i)->path != WG_PATH_OWN_RAM)
            return at <= t->sched.now;
        free = at + 1;
    }
    return false;
}

/* The cycle in which entry i leaves, if only private entries are before it; else WG_NEVER. */
static uint64_t leaves_at(const wg_tile *t, unsigned core, unsigned i)
{
    const wg_core *k = &t->core[core];
    uint64_t free = k->run.mux_free;
    for (unsigned j = 0; j <= i; j++) {
        free = wg_max64(free, ready_at(t, k, j)) + 1;
        uint64_t p;
        if (!is_private(t, core, j, free - 1, &p) || (j && sq_peek(&k->run, j)->path != WG_PATH_OWN_RAM))
            return WG_NEVER;
    }
    return free - 1;
}

static void l0_fill(wg_core_run *run, const wg_load *l)
{
    uint32_t tag = (l->address & ~(uint32_t)(LINE - 1)) | 1;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (run->l0[i].tag == tag) {
            memcpy(run->l0[i].data, l->line, LINE);
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
    memcpy(victim->data, l->line, LINE);
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
            l0_fill(&k->run, first);
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

static void l0_drop_line(wg_core_run *run, uint32_t address)
{
    uint32_t tag = (address & ~(uint32_t)(LINE - 1)) | 1;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (run->l0[i].tag == tag)
            run->l0[i].tag = 0;
    for (unsigned i = 0; run->loads && i < WG_LOADS; i++)
        if (run->load[i].used && ((run->load[i].address ^ address) & ~(uint32_t)(LINE - 1)) == 0)
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
    case 9: return word | 0xFFFF0000;   /* flh: boxed */
    default: return word;
    }
}

static unsigned bytes_of(uint8_t size) { return size == 9 ? 2u : 1u << (size & 3); }

/* Which queued store a load must wait for; -1: none. */
static int conflict(const wg_tile *t, const wg_core_run *run, uint32_t address, unsigned bytes)
{
    for (int i = run->sq_count - 1; i >= 0; i--) {
        const wg_store *s = sq_peek(run, (unsigned)i);
        if (!t->arch->overlap_conflicts) {
            if (s->address == address)
                return i;
        } else if (s->path == WG_PATH_L1) {
            uint16_t mask = (uint16_t)(((1u << bytes) - 1) << (address & (LINE - 1)));
            if (((s->address ^ address) & ~(uint32_t)(LINE - 1)) == 0 && (s->mask & mask))
                return i;
        } else if (address < s->address + s->bytes && s->address < address + bytes) {
            return i;
        }
    }
    return -1;
}

static bool strongly_ordered(const wg_core *k) { return (k->csr.pmacfg[0] | k->csr.pmacfg[1]) & 1; }

static uint64_t draw(uint64_t seed, unsigned core, uint64_t event)
{
    uint64_t z = (seed ^ (uint64_t)core << 40 ^ event) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return z >> 32;
}

/* One request through the L0 cache: does it empty itself? */
static bool periodic_flush(const wg_tile *t, wg_core *k, unsigned core)
{
    uint32_t n = k->run.l0_requests++;
    uint32_t period = t->arch->l0_flush_period;
    if (!period || (k->csr.cfg0 & WG_CFG0_DIS_PERIODIC_FLUSH))
        return false;
    /* The name of the switch says that it is periodic; a perturbed run draws, with the same rate. */
    if (!t->seed)
        return n % period == period - 1;
    return draw(t->seed, core, n) % period == 0;
}

static const wg_l0_line *l0_find(const wg_core_run *run, uint32_t address)
{
    uint32_t tag = (address & ~(uint32_t)(LINE - 1)) | 1;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (run->l0[i].tag == tag)
            return &run->l0[i];
    return NULL;
}

/* The line has changed in L1 since: have these bytes? */
static void report_stale(wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint32_t value)
{
    uint32_t line[4];
    wg_l1_read(t, address & ~(uint32_t)(LINE - 1), LINE, line);
    uint32_t real = wg_load_value(line, address, size);
    if (real != value)
        wg_findf(t, WG_F_CORE_STALE_L0,
                 (wg_finding){.agent = (uint8_t)core, .pc = pc, .has_pc = true, .subject = address, .value = value},
                 "0x%08x read as 0x%x; L1 holds 0x%x", address, value, real);
}

/* A load that leaves in m and finds nobody in its way. */
static void solo_load(wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint64_t m, uint64_t p,
                      bool cached, uint32_t *value, uint64_t *done)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    unsigned slot = 0;
    while (run->load[slot].used)
        slot++;
    wg_load *l = &run->load[slot];
    if (cached && periodic_flush(t, k, core))
        wg_lsu_flush_l0(k);
    solo_book(t, core, address, m, p, false);
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
    memcpy(l->line, t->l1 + (address & ~(uint32_t)(LINE - 1)), LINE);
    if (cached)
        t->regions.memory.l1.watch[address / LINE] |= (uint8_t)(1u << core);
    run->loads++;
    run->mux_free = wg_max64(run->mux_free, m + 1);
    *value = wg_load_value(l->line, address, size);
}

wg_lsu_result wg_lsu_load(wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint64_t e,
                          uint32_t *value, uint64_t *entered, uint64_t *done)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    bool own = address - WG_RAM_BASE < t->arch->ram_bytes[core];
    bool l1 = address < t->arch->l1_bytes;
    bool cached = l1 && t->arch->l0_lines && !(k->csr.cfg0 & WG_CFG0_DIS_LOW_CASH);
    if ((!own && !cached && !(l1 && k->solo_until)) || strongly_ordered(k))
        return WG_LSU_SHARED;
    uint64_t m = run->wait_e == e ? wg_max64(e + 1, run->wait_m) : e + 1;
    unsigned bytes = bytes_of(size);
    if (own && m < k->ram_ready) {
        if (k->ram_ready >= k->stop || run->sq_count)   /* stores may leave meanwhile */
            return WG_LSU_SHARED;
        m = k->ram_ready;
    }
    if (run->sq_count && drain_until(t, core, m))
        return WG_LSU_LATER;
    int wait = run->sq_count ? conflict(t, run, address, bytes) : -1;
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
        if (drain_until(t, core, m))
            return WG_LSU_LATER;
    }
    if (own) {
        uint32_t offset = address - WG_RAM_BASE, line[4];
        memcpy(line, k->ram + (offset & ~15u), LINE);
        *value = wg_load_value(line, offset, size);
        run->mux_free = wg_max64(run->mux_free, m + 1);
        *entered = m;
        *done = m + 1;
        return WG_LSU_DONE;
    }
    if (run->loads)
        wg_lsu_settle(k, m);
    for (;;) {
        const wg_l0_line *hit = cached ? l0_find(run, address) : NULL;
        if (hit) {
            if (hit->stale && m > t->sched.now)
                return WG_LSU_SHARED;   /* it is reported when its cycle comes */
            *value = wg_load_value(hit->data, address, size);
            if (hit->stale)
                report_stale(t, core, address, size, pc, *value);
            if (wg_touch_watched(t))
                wg_touch_core(t, core, pc, WG_TOUCH_READ | WG_TOUCH_CACHED, WG_TOUCH_L1, address, bytes);
            if (periodic_flush(t, k, core))
                wg_lsu_flush_l0(k);
            *entered = m;
            *done = m + 1;
            return WG_LSU_DONE;
        }
        if (!k->solo_until)
            return WG_LSU_SHARED;
        if (run->loads < WG_LOADS)
            break;
        /* Four are in flight: the first to be done makes room, and may bring the line. */
        uint64_t first = WG_NEVER;
        for (unsigned i = 0; i < WG_LOADS; i++)
            first = wg_min64(first, run->load[i].done);
        if (first >= k->stop)
            return WG_LSU_SHARED;
        m = wg_max64(m, first);
        run->wait_e = e;
        run->wait_m = m;
        bool held_up = drain_until(t, core, m);
        wg_lsu_settle(k, m);
        if (held_up)
            return WG_LSU_LATER;
    }
    uint64_t p = solo(t, core, address, m);
    if (p == WG_NEVER)
        return WG_LSU_SHARED;
    solo_load(t, core, address, size, pc, m, p, cached, value, done);
    *entered = m;
    return WG_LSU_DONE;
}

/* The words of a store as they lie in the queue: L1 as a line, others from their address on. */
static void enqueue(wg_core_run *run, const wg_ex1 *x, uint64_t m)
{
    wg_store *s = sq_at(run, run->sq_count++);
    *s = (wg_store){.first = m, .entered = m, .address = x->address, .pc = x->pc, .path = x->path, .bytes = x->bytes, .index = x->index};
    if (x->path == WG_PATH_L1) {
        memcpy((uint8_t *)s->data + (x->address & (LINE - 1)), x->data, x->bytes);
        s->mask = (uint16_t)(((1u << x->bytes) - 1) << (x->address & (LINE - 1)));
    } else {
        memcpy(s->data, x->data, sizeof s->data);
    }
}

/* Temporally adjacent stores to one line, starting within four bytes of each other, become one. */
static bool mergeable(const wg_tile *t, const wg_core *k, const wg_ex1 *x)
{
    if (!k->run.sq_count || x->path != WG_PATH_L1 || !merging(t, k))
        return false;
    const wg_store *s = sq_peek(&k->run, k->run.sq_count - 1u);
    int32_t apart = (int32_t)(x->address - s->address);
    return s->path == WG_PATH_L1 && !((s->address ^ x->address) & ~(uint32_t)(LINE - 1)) && apart >= -4 && apart <= 4;
}

static bool coalesce(const wg_tile *t, wg_core *k, const wg_ex1 *x, uint64_t m)
{
    if (!mergeable(t, k, x))
        return false;
    wg_store *s = sq_at(&k->run, k->run.sq_count - 1u);
    memcpy((uint8_t *)s->data + (x->address & (LINE - 1)), x->data, x->bytes);
    s->mask |= (uint16_t)(((1u << x->bytes) - 1) << (x->address & (LINE - 1)));
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
    if (strongly_ordered(k))
        return WG_LSU_SHARED;
    if (run->sq_count && drain_until(t, core, m))
        return WG_LSU_LATER;
    /* A mergeable entry at the front may leave in this very cycle: the clock decides. */
    if (run->sq_count == 1 && x->path == WG_PATH_L1 && sq_at(run, 0)->path == WG_PATH_L1 && ready_at(t, k, 0) <= m)
        return WG_LSU_SHARED;
    if (x->path == WG_PATH_L1) {
        if (run->loads)
            wg_lsu_settle(k, m);
        l0_drop_line(run, x->address);
    }
    if (coalesce(t, k, x, m)) {
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
    enqueue(run, x, m);
    *entered = m;
    return WG_LSU_DONE;
}

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

/* May the instruction in EX1 enter in the current cycle? Changes nothing. */
static bool may_enter(const wg_tile *t, const wg_core *k, wg_stall *why)
{
    const wg_core_run *run = &k->run;
    const wg_ex1 *x = &run->ex1;
    uint64_t now = t->sched.now;
    *why = (wg_stall){.holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
    bool waits_for_all = x->kind == WG_EX1_FENCE || x->kind == WG_EX1_ATOMIC || strongly_ordered(k);
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
        if (run->sq_count == WG_STORE_QUEUE && !mergeable(t, k, x)) {
            why->reason = WG_STALL_STORE_QUEUE_FULL;
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
    if (run->sq_count && ((k->csr.cfg0 & WG_CFG0_DIS_LD_BUF_BYP) || conflict(t, run, x->address, bytes_of(x->size)) >= 0)) {
        why->reason = WG_STALL_STORE_CONFLICT;
        why->resource = (uint16_t)run->sq_count;
        return false;
    }
    if (t->arch->load_needs_store_slot && run->sq_count == WG_STORE_QUEUE) {
        why->reason = WG_STALL_STORE_QUEUE_FULL;
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

/* The instruction's entry in the retire queue is filled in `done`; those behind it follow in order. */
static void fill_retire(wg_core_run *run, uint64_t number, uint64_t done)
{
    if (!run->queued || run->number - number > WG_RETIRE_QUEUE)
        return;
    run->filled[number % WG_RETIRE_RING] = done;
    for (uint64_t n = number; n < run->number; n++) {
        uint64_t before = run->retired[(n - 1) % WG_RETIRE_RING], full = run->filled[n % WG_RETIRE_RING];
        if (before == WG_NEVER || full == WG_NEVER)
            return;
        run->retired[n % WG_RETIRE_RING] = wg_max64(before + 1, full);
    }
}

/* A load's value has come: an older load of the same register that comes back later must not overwrite it. */
static void supersede(wg_core_run *run, uint8_t rd, uint64_t number)
{
    for (unsigned i = 0; run->loads && i < WG_LOADS; i++)
        if (run->load[i].used && run->load[i].rd == rd && run->load[i].number < number && run->load[i].done == WG_NEVER)
            run->load[i].rd = WG_REG_SINK;
}

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
    *l = (wg_load){.used = true, .done = WG_NEVER, .earliest = WG_NEVER, .number = x->number, .address = x->address, .pc = x->pc,
                   .rd = x->rd, .size = x->size, .path = x->path, .index = x->index,
                   .fills = !atomic && x->path == WG_PATH_L1 && t->arch->l0_lines && !(k->csr.cfg0 & WG_CFG0_DIS_LOW_CASH)};
    run->loads++;
    if (x->path == WG_PATH_UNMAPPED || x->path == WG_PATH_HANG) {
        report_unmapped(t, core, x, false);   /* the value never comes */
        return;
    }
    if (l->fills && periodic_flush(t, k, core))
        wg_lsu_flush_l0(k), l->flushed = false;
    wg_request req = {.address = x->address, .pc = x->pc, .kind = atomic ? WG_REQ_ATOMIC : WG_REQ_READ, .path = x->path,
                      .bytes = (uint8_t)bytes_of(x->size), .op = x->op, .core = (uint8_t)core, .tag = (uint8_t)slot,
                      .index = x->index, .data = {x->data[0]}, .rd = x->rd};
    for (unsigned i = 0; i < run->sq_count; i++) {
        const wg_store *s = sq_peek(run, i);
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
        l->earliest = req.seen_at + t->timing->path[WG_PATH_L1].back;
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
    if (strongly_ordered(k))
        wg_lsu_flush_l0(k);
    switch (x.kind) {
    case WG_EX1_STORE:
        if (x.path == WG_PATH_HANG) {
            report_unmapped(t, core, &x, true);
            run->halt = WG_HUNG;
            WG_EMIT(t, WG_EV_CORE_STATE, core, .a = 2, .pc = x.pc);
            return false;
        }
        if (x.path == WG_PATH_UNMAPPED) {   /* Decided here: discarded at once; hardware may also stall for ever */
            report_unmapped(t, core, &x, false);
        } else {
            if (x.path == WG_PATH_L1)
                l0_drop_line(run, x.address);
            if (!coalesce(t, k, &x, now))
                enqueue(run, &x, now);
        }
        fill_retire(run, x.number, now + 1);
        return false;
    case WG_EX1_FENCE:
        WG_EMIT(t, WG_EV_CORE_FENCE, core, .pc = x.pc);
        wg_lsu_flush_l0(k);
        fill_retire(run, x.number, now + 1);
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
    k->solo_until = 0;
    k->stop = now + 1;
    if (!strongly_ordered(k) && wg_lsu_load(t, core, x.address, x.size, x.pc, now - 1, &value, &m, &done) == WG_LSU_DONE) {
        run->r[x.rd] = value;
        supersede(run, x.rd, x.number);
        fill_retire(run, x.number, done);
        return x.path == WG_PATH_OWN_RAM;
    }
    if (x.path == WG_PATH_OWN_RAM) {   /* strongly ordered: the queue is empty */
        uint32_t line[4];
        memcpy(line, k->ram + ((x.address - WG_RAM_BASE) & (WG_RAM_MAX - 1) & ~15u), LINE);
        run->r[x.rd] = wg_load_value(line, x.address, x.size);
        supersede(run, x.rd, x.number);
        fill_retire(run, x.number, now + 1);
        return true;
    }
    send_load(t, core, &x);
    return true;
}

/* May one more write be emitted on this path now? Reads of L1 worked out ahead of the clock are still under way. */
bool wg_lsu_room(const wg_tile *t, unsigned core, unsigned path, unsigned index)
{
    const wg_core *k = &t->core[core];
    unsigned ahead = 0;
    for (unsigned i = 0; path == WG_PATH_L1 && i < WG_SOLO_RECENT; i++)
        ahead += k->solo_at[i] > t->sched.now;
    return wg_memory_room(t, core, path, index, ahead);
}

/* The first store that others can see leaves in the current cycle, if it can. */
static void drain(wg_tile *t, unsigned core)
{
    wg_core *k = &t->core[core];
    wg_core_run *run = &k->run;
    uint64_t now = t->sched.now;
    if (!run->sq_count || run->mux_free > now || ready_at(t, k, 0) > now)
        return;
    wg_store *s = sq_at(run, 0);
    if (s->path == WG_PATH_OWN_RAM || !wg_lsu_room(t, core, s->path, s->index))
        return;
    wg_request req = {.address = s->address, .pc = s->pc, .kind = WG_REQ_WRITE, .path = s->path, .bytes = s->bytes,
                      .core = (uint8_t)core, .index = s->index, .byte_mask = s->mask};
    memcpy(req.data, s->data, sizeof req.data);
    if (s->path == WG_PATH_L1) {
        req.address &= ~(uint32_t)(LINE - 1);
        req.bytes = LINE;
        l0_drop_line(run, s->address);
    }
    pop(run);
    run->mux_free = now + 1;
    run->disturbed = now;
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
        const wg_store *s = sq_peek(run, i);
        uint64_t at = wg_max64(free, ready_at(t, k, i));
        if (s->path != WG_PATH_OWN_RAM)
            return at <= now && wg_lsu_room(t, core, s->path, s->index);
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
        drain(t, core);
    wg_lsu_drain_private(t, core, now + 1);
    /* A full queue had room made for it in this very cycle. */
    if (k->run.ex1.kind == WG_EX1_STORE && k->run.ex1.entered < now && may_enter(t, k, &why))
        enter(t, core);
}

uint64_t wg_lsu_next_busy(const wg_tile *t, unsigned core)
{
    const wg_core *k = &t->core[core];
    const wg_core_run *run = &k->run;
    uint64_t now = t->sched.now, next = WG_NEVER, free = run->mux_free;
    bool waits = run->ex1.kind != WG_EX1_NONE;
    if (waits && run->ex1.entered >= now)
        next = run->ex1.entered + 1;
    for (unsigned i = 0; i < run->sq_count; i++) {
        const wg_store *s = sq_peek(run, i);
        uint64_t at = wg_max64(free, ready_at(t, k, i));
        if (s->path == WG_PATH_L1 && k->solo_until && !waits) {   /* worked out with what follows, or held up there */
            free = at + 1;
            continue;
        }
        if (s->path != WG_PATH_OWN_RAM) {
            /* due but not gone: its path is full, and the region's progress wakes the core */
            if (at > now || wg_lsu_room(t, core, s->path, s->index))
                next = wg_min64(next, wg_max64(at, now + 1));
            else
                for (unsigned j = 0; j < WG_SOLO_RECENT; j++)
                    if (k->solo_at[j] > now)
                        next = wg_min64(next, k->solo_at[j]);
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
            /* what enters EX1 one cycle earlier looks into the L0 cache as this line comes in */
            bound = wg_min64(bound, wg_max64(run->load[i].earliest, t->sched.now + 1 + t->timing->path[WG_PATH_L1].back) - 1);
    return bound;
}

void wg_lsu_respond(const wg_tile *t, wg_core_run *run, const wg_request *req, const uint32_t value[4])
{
    wg_load *l = &run->load[req->tag % WG_LOADS];
    if (!l->used || l->done != WG_NEVER)
        return;
    l->done = t->sched.now + t->timing->path[req->path].back;
    supersede(run, l->rd, l->number);
    if (req->kind == WG_REQ_ATOMIC) {
        l->done += t->timing->atomic_extra;
        run->r[l->rd] = value[0];
    } else if (req->path == WG_PATH_L1) {
        memcpy(l->line, value, sizeof l->line);
        run->r[l->rd] = wg_load_value(value, req->address, l->size);
    } else {
        run->r[l->rd] = wg_load_value(value, 0, l->size);   /* the region gives the bytes asked for */
    }
    run->r[0] = 0;
    fill_retire(run, l->number, l->done);
}

void wg_lsu_why(const wg_tile *t, unsigned core, wg_stall *why)
{
    const wg_core *k = &t->core[core];
    if (k->run.ex1.kind && may_enter(t, k, why))
        *why = (wg_stall){.reason = WG_STALL_EXECUTE, .holder = WG_AGENT_NONE, .retry_at = t->sched.now + 1};
}
