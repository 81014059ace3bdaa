/* SPDX-License-Identifier: Apache-2.0 */
/* Unpackers 0 and 1: UNPACR and UNPACR_NOP. */
#ifndef WG_UNPACK_H
#define WG_UNPACK_H

#include "machine/tile.h"

extern const wg_unit_ops wg_unpack_unit;
/* Soft reset (SoftReset.md): drops instructions in flight. */
void wg_unpack_abort(wg_tile *t);
bool wg_unpack_implements(wg_insn_id id, wg_arch_id arch);

#endif
