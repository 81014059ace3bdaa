/* SPDX-License-Identifier: Apache-2.0 */
/* The Scalar Unit (ThCon) and the GPRs as instructions see them. */
#ifndef WG_SCALAR_H
#define WG_SCALAR_H

#include "machine/tile.h"

extern const wg_unit_ops wg_scalar_unit;
bool wg_scalar_implements(wg_insn_id id, wg_arch_id arch);

/* C0 (GATE-10): memory requests of this thread that have not been answered, or not reached their memory. */
bool wg_scalar_memory_outstanding(const wg_tile *t, unsigned thread);
/* ATCAS or ATINCGETPTR has been refused and keeps retrying: only a change of L1 can end it. */
bool wg_scalar_retrying(const wg_tile *t);
/* Soft reset: the instruction that executes is aborted, and while held only DMANOP and SETDMAREG start. */
void wg_scalar_soft_reset(wg_tile *t, bool held);

/* This thread's executing instruction, if it will write a GPR without a memory access; NULL: none. */
const wg_insn *wg_scalar_gpr_writer(const wg_tile *t, unsigned thread);
/* Will a result that comes from memory overwrite this GPR? */
bool wg_scalar_loads_gpr(const wg_tile *t, unsigned thread, unsigned reg);

/* A GPR as read by the instruction being accepted; a result still in flight is reported. */
uint32_t wg_gpr_operand(wg_tile *t, const wg_insn *insn, unsigned reg);
/* Half a GPR likewise; half: 2 * register, + 1: the high one. */
uint32_t wg_gpr_half_operand(wg_tile *t, const wg_insn *insn, unsigned half);
/* The instruction will write this register; a memory result in flight, which would overwrite it, is reported. */
void wg_scalar_check_result(wg_tile *t, const wg_insn *insn, unsigned reg);
/* A result of this thread has been delivered: recomputes which registers still wait for one. */
void wg_gpr_settle(wg_tile *t, unsigned thread);

#endif
