/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of the two NIUs and of the NoC overlay, as the tile's cores and the NoC see them. */
#ifndef WG_NIU_REGS_H
#define WG_NIU_REGS_H

#include <stdint.h>

enum { WG_NIU_WORDS = 0x2000 / 4 };            /* four request initiators of 0x800 (WH 0x400) bytes */
/* Each stream has a page of 0x1000 bytes, of which the first registers exist (NoC/Overlay/README.md). */
enum { WG_OVERLAY_STREAMS = 64, WG_OVERLAY_REGISTERS = 0x500 / 4 };

typedef struct wg_niu_regs {
    uint32_t word[2][WG_NIU_WORDS];
    uint32_t overlay[WG_OVERLAY_STREAMS][WG_OVERLAY_REGISTERS];
    uint16_t coordinate;                        /* of this tile on NoC 0: x | y << 6 */
} wg_niu_regs;

struct wg_tile;
void wg_niu_regs_reset(struct wg_tile *t);
uint32_t wg_niu_read(struct wg_tile *t, unsigned noc, uint32_t offset, unsigned agent, uint32_t pc);
void wg_niu_write(struct wg_tile *t, unsigned noc, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);
uint32_t wg_overlay_read(struct wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc);
void wg_overlay_write(struct wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);

#endif
