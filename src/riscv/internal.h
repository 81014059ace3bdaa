/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the baby core. */
#ifndef WG_RISCV_INTERNAL_H
#define WG_RISCV_INTERNAL_H

#include "report/findings.h"
#include "machine/fast.h"
#include "report/touch.h"
#include "machine/core.h"
#include "riscv/decode.h"
#include "machine/tile.h"

enum {
    WG_RAM_BASE = 0xFFB00000u,
    WG_IRAM_BASE = 0xFFC00000u,
    WG_INSTRN_BUF_BASE = 0xFFE40000u,
    WG_RUN_AHEAD = 4096 /* cycles */
};

/* For functions that dispatch by computed goto: every instruction keeps its own jump, which the host can predict. */
#if defined(__GNUC__) && !defined(__clang__)
#define WG_THREADED __attribute__((optimize("no-crossjumping", "no-gcse")))
#else
#define WG_THREADED
#endif

/* cfg0 (CSRs.md) */
enum {
    WG_CFG0_DIS_LD_BUF_BYP = 1 << 0,
    WG_CFG0_DIS_BP = 1 << 1,
    WG_CFG0_DIS_IC_PREFETCH = 1 << 2,
    WG_CFG0_DIS_LOW_CASH = 1 << 3,
    WG_CFG0_PMC_CLR_ON_RD = 1 << 8,
    WG_CFG0_SYNC_ALL_OPS = 1 << 9,
    WG_CFG0_DIS_CSR_SYNC = 1 << 10,
    WG_CFG0_DIS_ST_MERGE = 1 << 12,
    WG_CFG0_ST_MERGE_TIMER = 13,
    WG_CFG0_DIS_TRISC_CACHE = 1 << 18,
    WG_CFG0_DIS_REG_FORWARDING = 1 << 20,
    WG_CFG0_DIS_PERIODIC_FLUSH = 1 << 24,
    WG_CFG0_DIS_TT_STATUS = 1 << 29,
    WG_CFG0_EN_BFLOAT = 1 << 30
};
#define WG_CFG0_EN_BFLOAT_RTNE 0x80000000u

enum { WG_UNDO_TARGET = 1u << 24, WG_UNDO_BRANCH = 2u << 24, WG_UNDO_KIND = 3u << 24 };
static inline wg_core *wg_core_at(wg_tile *t, unsigned core) { return &t->core[core]; }
static inline bool wg_in_iram(const wg_tile *t, unsigned core, uint32_t pc)
{
    return pc - WG_IRAM_BASE < t->spec->core[core].iram_bytes;
}
static inline uint64_t wg_max64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t wg_min64(uint64_t a, uint64_t b) { return a < b ? a : b; }

static inline void wg_core_log(wg_core *k, uint32_t where, uint32_t old)
{
    if (WG_FAST && k->saved_at != WG_NEVER && k->undo_count < WG_UNDO)
        k->undo[k->undo_count++] = (wg_undo){where, old};
}
/* Run-ahead has to stop while the log still has room. */
static inline bool wg_core_log_full(const wg_core *k) { return k->undo_count + 32 > WG_UNDO; }

/*
 * Has the core executed anything that enters EX1 (or, running ahead through L1, reaches it) in this cycle or later? Or has
 * its frontend requested or marked a line for such an instruction? (Before phase J.)
 */
static inline bool wg_core_ahead(const wg_tile *t, const wg_core *k)
{
    return WG_FAST && k->saved_at != WG_NEVER &&
           (k->run.last >= t->sched.now || k->reached >= t->sched.now || (k->l1_ahead && k->l1_until > t->sched.now));
}

/* core.c: phase J, and private work of the following cycles. */
void wg_core_pipeline(wg_tile *t, unsigned core);

/* While these are observed, stalls are checked in every cycle. */
#define WG_CORE_EVENTS (WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_STALL_BEGIN) | WG_EV_BIT(WG_EV_STALL_END))

/* exec.c: executes private instructions that enter EX1 before `stop`, and others if they enter EX1 in the current cycle.
 * Returns the cycle in which to continue; WG_NEVER: when woken. */
uint64_t wg_exec(wg_tile *t, unsigned core, uint64_t stop);
/* The plain executor: applies every rule to one instruction after another. Returns 0 if whole lines can be run again, else
 * the cycle in which to continue (WG_NEVER: when woken). */
uint64_t wg_exec_queued(wg_tile *t, unsigned core, uint64_t stop);
/* Why the next instruction cannot enter EX1 in the current cycle; retry_at: when it can, WG_NEVER if unknown. */
void wg_exec_why(const wg_tile *t, unsigned core, wg_stall *why);

/* lsu.c */
typedef enum wg_lsu_result {
    WG_LSU_DONE,
    WG_LSU_SHARED /* externally visible: the instruction waits in EX1 for its cycle */
} wg_lsu_result;
/* A load that entered EX1 in `e`. If it is answered privately: the cycles in which it entered the load/store unit and in
 * which its value can be used. */
wg_lsu_result wg_lsu_load(wg_tile *t, unsigned core, uint32_t address, uint8_t size, uint32_t pc, uint64_t e,
                          uint32_t *value, uint64_t *entered, uint64_t *done);
/* A store: enters the queue if there is certainly room. */
wg_lsu_result wg_lsu_store(wg_tile *t, unsigned core, const wg_ex1 *x, uint64_t *m);
/* In the current cycle, is the store queue empty, and have all loads returned? */
bool wg_lsu_empty(const wg_tile *t, unsigned core);
/* Drains private stores, those to own RAM, that leave before cycle `before`. */
void wg_lsu_drain_ram(wg_tile *t, unsigned core, uint64_t before);
static inline void wg_lsu_drain_private(wg_tile *t, unsigned core, uint64_t before)
{
    const wg_core_run *run = &t->core[core].run;
    if (run->sq_count && run->sq[run->sq_head].path == WG_PATH_OWN_RAM)
        wg_lsu_drain_ram(t, core, before);
}
/* Retires loads that complete by `time`; their lines fill the L0 cache. */
void wg_lsu_settle(wg_core *k, uint64_t time);
void wg_lsu_flush_l0(wg_core *k);
/* Sends the first store in the current cycle, if others can see it and it can leave. */
void wg_lsu_drain(wg_tile *t, unsigned core);
/* Phase I. */
void wg_lsu_emit(wg_tile *t, unsigned core);
bool wg_lsu_wants(wg_tile *t, unsigned core);
/* The next cycle in which the load/store unit does something that others can see. */
uint64_t wg_lsu_next_busy(const wg_tile *t, unsigned core);
static inline uint64_t wg_lsu_next(const wg_tile *t, unsigned core)
{
    const wg_core_run *run = &t->core[core].run;
    return run->sq_count || run->ex1.kind ? wg_lsu_next_busy(t, core) : WG_NEVER;
}
/* Run-ahead must stop before this cycle because of loads in flight. */
uint64_t wg_lsu_bound_busy(const wg_tile *t, unsigned core);
static inline uint64_t wg_lsu_bound(const wg_tile *t, unsigned core)
{
    return t->core[core].run.loads ? wg_lsu_bound_busy(t, core) : WG_NEVER;
}
void wg_lsu_respond(wg_tile *t, wg_core_run *run, const wg_request *req, const uint32_t value[4]);
uint32_t wg_load_value(const uint32_t line[4], uint32_t address, uint8_t size);
void wg_lsu_why(const wg_tile *t, unsigned core, wg_stall *why);

/* fetch.c */
/* The line that holds pc, if EX1 can have it in cycle `at`; else NULL, and the line has been requested. */
wg_icache_line *wg_fetch_line(wg_tile *t, unsigned core, uint32_t pc, uint64_t at);
/* An instruction of `line` has entered EX1 in `e`: prefetches the lines after it. */
void wg_fetch_ahead(wg_tile *t, unsigned core, wg_icache_line *line, uint64_t e);
/* The same without effects. */
const wg_icache_line *wg_fetch_peek(const wg_tile *t, unsigned core, uint32_t pc);
bool wg_fetch_wants_busy(const wg_tile *t, unsigned core);
static inline bool wg_fetch_wants(const wg_tile *t, unsigned core)
{
    const wg_core_run *run = &t->core[core].run;
    return (run->fetch[0].used | run->fetch[1].used) && wg_fetch_wants_busy(t, core);
}
void wg_fetch_emit(wg_tile *t, unsigned core); /* phase I: requests and arrivals */
uint64_t wg_fetch_next_busy(const wg_tile *t, unsigned core);
static inline uint64_t wg_fetch_next(const wg_tile *t, unsigned core)
{
    const wg_core_run *run = &t->core[core].run;
    static_assert(WG_FETCHES == 2, "both are looked at");
    return run->fetch[0].used || run->fetch[1].used ? wg_fetch_next_busy(t, core) : WG_NEVER;
}
void wg_fetch_respond(const wg_tile *t, unsigned core, wg_core_run *run, unsigned slot, const uint32_t value[4]);
void wg_fetch_clear(wg_tile *t, unsigned core);
/*
 * The predictor: a table of the last directions of branches and direct jumps. `entries` is its size, 0 if the predictor is
 * off; what is not in the table is predicted not taken.
 */
static inline uint32_t *wg_predict_place(wg_core *k, unsigned entries, uint32_t pc)
{
    return &k->branches[pc >> 2 & (entries - 1)];
}
static inline uint32_t wg_predict_entry(uint32_t pc, bool taken) { return pc | (taken ? 3u : 1u); }
/* Was the direction predicted? Trains the predictor. */
static inline bool wg_predict_branch(wg_core *k, unsigned entries, uint32_t pc, bool taken)
{
    if (!entries)
        return !taken;
    uint32_t *place = wg_predict_place(k, entries, pc), old = *place;
    if (old != wg_predict_entry(pc, taken)) {
        wg_core_log(k, WG_UNDO_BRANCH | (uint32_t)(place - k->branches), old);
        *place = wg_predict_entry(pc, taken);
    }
    return (old == wg_predict_entry(pc, true)) == taken;
}
/* Is the branch predicted, and would it leave the predictor unchanged? */
static inline bool wg_predict_settled(wg_core *k, unsigned entries, uint32_t pc, bool taken)
{
    return entries ? *wg_predict_place(k, entries, pc) == wg_predict_entry(pc, taken) : !taken;
}
bool wg_predict_jalr(wg_core *k, bool enabled, uint32_t pc, uint8_t rd, uint8_t rs1, uint32_t target);
void wg_predict_call(wg_core *k, uint32_t return_pc);

/* csr.c */
uint32_t wg_csr_read(wg_tile *t, unsigned core, uint32_t csr, bool *known);
void wg_csr_write(wg_tile *t, unsigned core, uint32_t csr, uint32_t value);
void wg_csr_poke(wg_tile *t, unsigned core, uint32_t csr, uint32_t value); /* from outside, between two cycles */
/* Executes a CSR instruction in the current cycle; returns the old value. */
uint32_t wg_csr_execute(wg_tile *t, unsigned core, const wg_op *op);

/* fp.c */
uint32_t wg_fp_execute(wg_core *k, const wg_op *op);
/* The result of the scalar instruction `word` on these values; its exceptions accrue in fcsr. */
uint32_t wg_fp_compute(wg_core *k, uint32_t word, uint32_t a, uint32_t b, uint32_t c);

/* vector*.c: T2's vector instructions, in the current cycle. False if not an instruction of this core. */
typedef struct wg_rvv_step {
    uint32_t cycles; /* in which EX1 is busy */
    bool write_x;
    uint32_t x;
} wg_rvv_step;
bool wg_rvv_execute(wg_tile *t, unsigned core, const wg_op *op, wg_rvv_step *out);
/* Does it access memory? Then everything older must have left the load/store unit. */
static inline bool wg_rvv_is_memory(const wg_op *op) { return (op->word & 0x5F) == 0x07; }

/* Shared by the files of the vector instructions: elements of register groups. */
typedef struct wg_rvv {
    wg_core *k;
    uint32_t word, vl, vlmax;
    unsigned sew;       /* bytes: 1, 2, 4 */
    unsigned registers; /* in a group, at least 1 */
} wg_rvv;
static inline uint8_t *wg_rvv_bytes(const wg_rvv *v, unsigned reg, uint32_t index, unsigned bytes)
{
    return (uint8_t *)v->k->v + ((reg * 16 + index * bytes) & (sizeof v->k->v - 1) & ~(bytes - 1));
}
static inline uint32_t wg_rvv_get(const wg_rvv *v, unsigned reg, uint32_t index, unsigned bytes)
{
    const uint8_t *p = wg_rvv_bytes(v, reg, index, bytes);
    return bytes == 1   ? p[0]
           : bytes == 2 ? (uint32_t)(p[0] | p[1] << 8)
                        : p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline void wg_rvv_put(const wg_rvv *v, unsigned reg, uint32_t index, unsigned bytes, uint32_t value)
{
    uint8_t *p = wg_rvv_bytes(v, reg, index, bytes);
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}
static inline bool wg_rvv_bit(const wg_rvv *v, unsigned reg, uint32_t index)
{
    return *wg_rvv_bytes(v, reg, index / 8, 1) >> index % 8 & 1;
}
static inline void wg_rvv_set_bit(const wg_rvv *v, unsigned reg, uint32_t index, bool bit)
{
    uint8_t *p = wg_rvv_bytes(v, reg, index / 8, 1);
    *p = (uint8_t)((*p & ~(1u << index % 8)) | (unsigned)bit << index % 8);
}
/* Is the element executed? vm set: all are. */
static inline bool wg_rvv_active(const wg_rvv *v, uint32_t index)
{
    return v->word >> 25 & 1 || wg_rvv_bit(v, 0, index);
}
bool wg_rvv_float(const wg_rvv *v, wg_rvv_step *out);
bool wg_rvv_memory(wg_tile *t, unsigned core, const wg_rvv *v, wg_rvv_step *out);

#endif
