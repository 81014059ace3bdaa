/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TDMA-RISC: the Mover's command queue as cores see it, and the sideband of packers and unpackers, at 0xFFB11000.
 */
#ifndef WG_TDMA_H
#define WG_TDMA_H

#include "machine/tile.h"

bool wg_tdma_has_register(uint32_t offset);
/*
 * One word, by offset from 0xFFB11000 (phase C). `core` is the requester, whose MovCmdBase is used. WG_REGION_WAIT while the
 * command queue is full (writes of a command) or the metadata FIFO is empty (reads that peek).
 */
wg_region_answer wg_tdma_read(wg_tile *t, unsigned core, uint32_t offset, uint32_t *value, uint32_t pc, wg_stall *why);
wg_region_answer wg_tdma_write(wg_tile *t, unsigned core, uint32_t offset, uint32_t value, uint32_t pc, wg_stall *why);

/* Nothing queued and no write in flight (for the Mover itself see wg_mover_busy). */
bool wg_tdma_idle(const wg_tile *t);
/* Soft reset: entering empties the queue, holding discards writes. */
void wg_tdma_soft_reset(wg_tile *t, bool held);

/* For the packers: a tile is finished (end of a PACR with Last). */
void wg_tdma_tile_packed(wg_tile *t, unsigned packer, unsigned thread, uint16_t tile_size, uint32_t all_zero_flags,
                         bool add_header, bool into_fifo);

/* The command processor's turn (phase B of the Mover's tick) and its next wake-up. */
void wg_tdma_step(wg_tile *t);
void wg_tdma_reset(wg_tile *t);

#endif
