/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by scalar.c and scalar_memory.c. */
#ifndef WG_SCALAR_INTERNAL_H
#define WG_SCALAR_INTERNAL_H

#include "backend/scalar.h"

/*
 * An instruction's two stages. `start` runs when it is accepted (phase E of c), captures operands and returns the number of
 * cycles until `step`. `step` runs then (phase B) and returns true when the instruction is done, or false after setting
 * `until` to the cycle of its next step.
 */
typedef struct wg_scalar_handler {
    unsigned (*start)(wg_tile *t, const wg_insn *insn);
    bool (*step)(wg_tile *t, wg_scalar *u);
    uint8_t archs; /* bit wg_arch_id */
} wg_scalar_handler;

/*
 * Stalls the instruction on `holder`. Always returns false, for `return`. It steps again when an answer arrives, or in the
 * cycle after any wait condition has changed.
 */
bool wg_scalar_wait(wg_tile *t, wg_stall_reason reason, unsigned resource, unsigned holder);

/* Writes a register in the cycle that has just ended; the first leaves the touch to the caller. */
void wg_scalar_deliver(wg_tile *t, unsigned thread, unsigned reg, uint32_t value);
void wg_scalar_write(wg_tile *t, unsigned thread, unsigned reg, uint32_t value);

/* Memory instructions (scalar_memory.c). */
unsigned wg_scalar_start_indirect(wg_tile *t, const wg_insn *insn); /* LOADIND, STOREIND */
unsigned wg_scalar_start_direct(wg_tile *t, const wg_insn *insn);   /* LOADREG, STOREREG */
unsigned wg_scalar_start_atomic(wg_tile *t, const wg_insn *insn);   /* AT* */
bool wg_scalar_step_loadind(wg_tile *t, wg_scalar *u);
bool wg_scalar_step_storeind(wg_tile *t, wg_scalar *u);
bool wg_scalar_step_direct(wg_tile *t, wg_scalar *u);
bool wg_scalar_step_atincget(wg_tile *t, wg_scalar *u);
bool wg_scalar_step_atswap(wg_tile *t, wg_scalar *u);
bool wg_scalar_step_conditional(wg_tile *t, wg_scalar *u); /* ATCAS, ATINCGETPTR */
/* Requests that reach their memory or are answered in this cycle. */
void wg_scalar_serve_requests(wg_tile *t);
/* The next cycle at which a request needs serving; WG_NEVER if none. */
uint64_t wg_scalar_next_request(const wg_tile *t);

#endif
