/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the Tensix coprocessor sees of the NoC overlay: registers of its 64 streams, for STREAMWAIT and
 * STREAMWRCFG. Storage is the tile's overlay register file (src/tile/niu_regs.h).
 * Facts: STREAMWAIT.md, NoC/Overlay/README.md; register numbers from the public overlay parameters.
 */
#ifndef WG_OVERLAY_H
#define WG_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

struct wg_tile;

/* Blackhole's register numbers; only Blackhole has STREAMWAIT. */
enum { WG_STREAM_CURR_PHASE = 29, WG_STREAM_NUM_MSGS_RECEIVED = 259 };

/* Does every stream have a register of this number? */
bool wg_overlay_has_register(const struct wg_tile *t, unsigned register_index);
/* A register of a stream; 0 for one that does not exist. */
uint32_t wg_overlay_stream_read(const struct wg_tile *t, unsigned stream, unsigned register_index);
/* As software writes it; false if no such register is known. */
bool wg_overlay_register_write(struct wg_tile *t, unsigned stream, unsigned register_index, uint32_t value);
/* Sets it as the stream itself would, and wakes the gates that may wait for it. */
void wg_overlay_stream_write(struct wg_tile *t, unsigned stream, unsigned register_index, uint32_t value);

#endif
