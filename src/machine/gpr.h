/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Scalar Unit's general purpose registers: 64 of 32 bits per thread (PIPE-24, ScalarUnit.md).
 *
 * Decided here: there is one write port. The Scalar Unit and its memory results have priority, then a RISC-V store processed
 * in that cycle; RDCFG waits ("additional cycles if there is contention for GPR writes", RDCFG.md).
 */
#ifndef WG_GPR_H
#define WG_GPR_H

#include <stdbool.h>
#include <stdint.h>

enum { WG_GPRS = 64 };

typedef struct wg_gpr {
    uint32_t r[3][WG_GPRS];
    uint64_t pending[3]; /* bit i: an instruction past the gate has yet to write register i */
    uint64_t port_taken; /* 1 + the last cycle in which the write port was taken; 0: never */
} wg_gpr;

static inline void wg_gpr_take_port(wg_gpr *g, uint64_t cycle) { g->port_taken = cycle + 1; }
static inline bool wg_gpr_port_taken(const wg_gpr *g, uint64_t cycle) { return g->port_taken == cycle + 1; }

#endif
