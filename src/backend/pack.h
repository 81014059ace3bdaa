/* SPDX-License-Identifier: Apache-2.0 */
/* The packers: PACR and PACR_SETREG. */
#ifndef WG_PACK_H
#define WG_PACK_H

#include "machine/tile.h"

extern const wg_unit_ops wg_pack_unit;
bool wg_pack_implements(wg_insn_id id, wg_arch_id arch);
/*
 * A write to PRNG_SEED reaches the packers, too; leaving the soft reset of their connection to Dst resets their generators.
 */
void wg_pack_seed(wg_tile *t, uint32_t seed);
void wg_pack_reset_random(wg_tile *t);
/*
 * Soft reset (SoftReset.md), bit per packer: entering drops instructions in flight and the buffers' contents, holding accepts
 * nothing new.
 */
void wg_pack_soft_reset(wg_tile *t, unsigned enters, unsigned leaves);

#endif
