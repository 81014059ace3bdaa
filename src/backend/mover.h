/* SPDX-License-Identifier: Apache-2.0 */
/* The Mover: memcpy and memset in units of 16 bytes, for XMOV and for TDMA-RISC. */
#ifndef WG_MOVER_H
#define WG_MOVER_H

#include "machine/tile.h"

extern const wg_unit_ops wg_mover_unit;
bool wg_mover_implements(wg_insn_id id, wg_arch_id arch);

/* The Mover has requests outstanding, of any thread or of TDMA-RISC (GATE-16, TDMA-RISC's status bit 0). */
bool wg_mover_busy(const wg_tile *t);
/* Starts a transfer (byte addresses, mode as wg_mover_mode); the Mover must not be busy. */
void wg_mover_start(wg_tile *t, unsigned agent, const wg_insn *insn, uint32_t dst, uint32_t src, uint32_t count,
                    unsigned mode);
/* Soft reset: entering aborts the transfer, holding discards new ones. */
void wg_mover_soft_reset(wg_tile *t, bool held);

#endif
