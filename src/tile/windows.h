/* SPDX-License-Identifier: Apache-2.0 */
/* The region handlers, one file each, and their shared functions. */
#ifndef WG_WINDOWS_H
#define WG_WINDOWS_H

#include "machine/request.h"

struct wg_tile;

wg_region_answer wg_mailbox_read(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_mailbox_write(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_sync_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_gpr_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_config_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_tdma_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_mop_cfg_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_dst_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_tile_regs_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_niu_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_overlay_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_eth_window(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
wg_region_answer wg_slow_ram(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
/* Nothing is mapped there: reports it; a load never returns, a store is discarded. */
wg_region_answer wg_unmapped(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);
/* PIPE-12: hangs the core. */
wg_region_answer wg_hanging(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);

/* The bytes that the load `req` selects from the word at its address, in the low bits. */
static inline uint32_t wg_narrow(const wg_request *req, uint32_t word)
{
    if (req->bytes >= 4)
        return word;
    return word >> 8 * (req->address & 3) & ((UINT32_C(1) << 8 * req->bytes) - 1);
}
/* The word written by a narrow store: its bytes in their position, zeros elsewhere; the store is reported. */
uint32_t wg_register_store(struct wg_tile *t, const wg_request *req);

#endif
