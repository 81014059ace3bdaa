/* SPDX-License-Identifier: Apache-2.0 */
/* The Miscellaneous Unit: address counters, SETDVALID, RSTDMA. */
#ifndef WG_MISC_H
#define WG_MISC_H

#include "machine/tile.h"

extern const wg_unit_ops wg_misc_unit;
bool wg_misc_implements(wg_insn_id id, wg_arch_id arch);

#endif
