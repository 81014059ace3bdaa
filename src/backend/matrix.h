/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix Unit (FPU).
 *
 *      SrcB 8x16 ──┐
 *                  ├─▶ multiply, align, add ──▶ + Dst ──▶ round ──▶ Dst
 *      SrcA 16x16 ─┘          (5 x 7 bits of mantissa per fidelity phase)
 *
 * Accepted in cycle c, an instruction reads its operands, counters and configuration in c (Decided here: no source
 * distinguishes the stages) and steps the counters; it takes effect, and leaves the unit, in phase B of cycle c + latency.
 * Until then all others see the old Dst. The unit's own readers and PACR stall on a block that is being written; the Vector
 * Unit does not.
 *
 * Bank flips take effect when the instruction completes (Decided here: a wait that tests a bank before the
 * flip of an instruction in flight is a known bug of kernels): that is when wait conditions see the other bank and the
 * unpackers get theirs. Later instructions in the unit use the other bank at once.
 *
 * Facts: MatrixUnit.md, SrcASrcB.md, Dst.md, RWCs.md and the instruction pages; the exact arithmetic, which the documents do
 * not define, is that of ttsim, compared bit by bit.
 */
#ifndef WG_MATRIX_H
#define WG_MATRIX_H

#include "machine/unit.h"
#include "machine/matrix_state.h"

struct wg_arch;
struct wg_tile;

extern const wg_unit_ops wg_matrix_unit;
bool wg_matrix_implements(wg_insn_id id, wg_arch_id arch);
/*
 * The cycles from acceptance until no wait sees the instruction any more. It takes effect earlier, at the latency of its
 * record, if the unit has more stages than that.
 */
unsigned wg_matrix_occupies(const struct wg_arch *arch, wg_profile profile, wg_insn_id id);

/*
 * The first cycle at which the 8-row block of this stored row may be read by PACR or the Matrix Unit;
 * in the past if nothing is being written there.
 */
uint64_t wg_dst_block_ready_at(const struct wg_tile *t, unsigned stored_row);
/*
 * Perturbed runs: the cycle until which the Vector Unit's instruction at the gate stalls, so that no delay breaks
 * SFPLOAD.md's rule.
 */
uint64_t wg_matrix_settles(const struct wg_tile *t, const struct wg_insn *insn);
/* Another unit writes a stored row: its block cannot be read before `ready`. */
void wg_dst_block_written(struct wg_tile *t, unsigned stored_row, uint64_t ready);

/*
 * Soft reset of a source register's owners and bank pointers: cancels the changes that instructions in flight would make to
 * them.
 */
void wg_matrix_forget_flips(struct wg_tile *t, wg_src_file file);

/* PRNG_SEED has been written: seeds the columns' generators for stochastic rounding like those of the first vector lanes. */
void wg_matrix_seed(struct wg_tile *t);

#endif
