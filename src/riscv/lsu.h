/* SPDX-License-Identifier: Apache-2.0 */
/* The store queue and the L0 data cache, for the load/store unit's two files: lsu.c (ahead of the clock), lsu_clock.c. */
#ifndef WG_RISCV_LSU_H
#define WG_RISCV_LSU_H

#include "riscv/internal.h"

#include <string.h>

enum { WG_L1_LINE = 16 };

static inline wg_store *wg_sq_at(wg_core_run *run, unsigned i) { return &run->sq[(run->sq_head + i) % WG_STORE_QUEUE]; }

static inline const wg_store *wg_sq_peek(const wg_core_run *run, unsigned i)
{
    return &run->sq[(run->sq_head + i) % WG_STORE_QUEUE];
}

static inline void wg_sq_pop(wg_core_run *run)
{
    run->sq_head = (uint8_t)((run->sq_head + 1) % WG_STORE_QUEUE);
    run->sq_count--;
}

static inline unsigned wg_load_bytes(uint8_t size) { return size == 9 ? 2u : 1u << (size & 3); }

/* One, two or four bytes: the compiler copies a constant length by one store. */
static inline void wg_put_bytes(void *to, const void *from, unsigned bytes)
{
    if (__builtin_expect(bytes == 4, 1))
        memcpy(to, from, 4);
    else if (bytes < 4)
        memcpy(to, from, bytes == 2 ? 2 : 1);
    else
        memcpy(to, from, bytes & 15 ? bytes & 15 : 16);
}

static inline bool wg_strongly_ordered(const wg_core *k) { return (k->csr.pmacfg[0] | k->csr.pmacfg[1]) & 1; }

/* Can younger stores change when the first one leaves, or which is the first that others see? */
static inline bool wg_sq_first_changes(const wg_core_run *run)
{
    const uint8_t path = wg_sq_peek(run, 0)->path;
    return path == WG_PATH_L1 || path == WG_PATH_OWN_RAM;
}

/* A load from L1, or a store to L1 or own RAM, that is in EX1. */
static inline wg_ex1 wg_ex1_load(const wg_op *op, uint64_t e, uint64_t number, uint32_t address, uint32_t pc)
{
    return (wg_ex1){.entered = e,
                    .number = number,
                    .address = address,
                    .pc = pc,
                    .kind = WG_EX1_LOAD,
                    .size = op->spare,
                    .rd = op->rd,
                    .path = WG_PATH_L1,
                    .bytes = (uint8_t)wg_load_bytes(op->spare)};
}
static inline wg_ex1 wg_ex1_store(uint64_t e, uint32_t address, uint32_t pc, uint32_t value, unsigned bytes, bool own)
{
    return (wg_ex1){.entered = e,
                    .pc = pc,
                    .kind = WG_EX1_STORE,
                    .address = address,
                    .data = {value},
                    .bytes = (uint8_t)bytes,
                    .path = own ? WG_PATH_OWN_RAM : WG_PATH_L1};
}

static inline bool wg_sq_merging(const wg_tile *t, const wg_core *k)
{
    return t->arch->store_coalescing && !k->slow && !(k->csr.cfg0 & WG_CFG0_DIS_ST_MERGE);
}
/* The first cycle in which entry i could leave if it were first and the mux were free. */
static inline uint64_t wg_sq_ready_at(const wg_tile *t, const wg_core *k, unsigned i)
{
    const wg_store *s = wg_sq_peek(&k->run, i);
    const uint64_t at = s->entered + 1;
    if (s->path == WG_PATH_OWN_RAM)
        return wg_max64(at, k->ram_ready);
    if (s->path != WG_PATH_L1 || s->mask == 0xFFFF || !wg_sq_merging(t, k))
        return at;
    uint32_t timer = k->csr.cfg0 >> WG_CFG0_ST_MERGE_TIMER & 31;
    if (__builtin_expect(t->what_if != NULL, 0))
        timer = wg_result_carried(t->what_if, &(wg_carry){0}, (unsigned)(k - t->core), s->pc, timer);
    const uint64_t patience = at + timer;
    if (i + 1 == k->run.sq_count)
        return patience;
    return wg_max64(at, wg_min64(patience, wg_sq_peek(&k->run, i + 1)->first));
}
void wg_sq_enqueue(wg_core_run *run, const wg_ex1 *x, uint64_t m);
/* Does the store coalesce with the last one of the queue? */
bool wg_sq_mergeable(const wg_tile *t, const wg_core *k, const wg_ex1 *x);
bool wg_sq_coalesce(const wg_tile *t, wg_core *k, const wg_ex1 *x, uint64_t m);
/* Which queued store a load must wait for; -1: none. */
int wg_sq_conflict(const wg_tile *t, const wg_core_run *run, uint32_t address, unsigned bytes);
/* The line of the L0 cache that holds the address; NULL: none. */
static inline const wg_l0_line *wg_l0_find(const wg_core_run *run, uint32_t address)
{
    const uint32_t tag = (address & ~(uint32_t)(WG_L1_LINE - 1)) | 1;
    for (unsigned i = 0; i < WG_L0_LINES; i++)
        if (run->l0[i].tag == tag)
            return &run->l0[i];
    return NULL;
}
void wg_l0_drop_line(wg_core_run *run, uint32_t address);
/* Fills the cache with a load's line. */
void wg_l0_fill(wg_core_run *run, const wg_load *l);
/* One request through the L0 cache: does it trigger the periodic flush? */
bool wg_l0_flushes(const wg_tile *t, wg_core *k, unsigned core);
/* recheck.c: does a stale value, loaded at the pc, only make the core poll once more? */
bool wg_lsu_looks_again(const wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint32_t value);

/* The instruction's entry in the retire queue is filled in `done`; younger ones follow in order. */
static inline void wg_fill_retire(wg_core_run *run, uint64_t number, uint64_t done)
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

/* A load's value has arrived: an older load of the same register that returns later must not overwrite it. */
static inline void wg_supersede(wg_core_run *run, uint8_t rd, uint64_t number)
{
    for (unsigned i = 0; run->loads && i < WG_LOADS; i++)
        if (run->load[i].used && run->load[i].rd == rd && run->load[i].number < number && run->load[i].done == WG_NEVER)
            run->load[i].rd = WG_REG_SINK;
}

#endif
