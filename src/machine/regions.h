/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The regions behind the cores' load/store units.
 *
 *     load/store unit ──> memory.c: travel, one queue per core and path ──> wg_region_handlers[path]
 *                                                                            mailbox.c, pcbuf.c, …
 *
 * memory.c owns the queues and the L1 ports. A handler processes the request at the head of its queue, at most once per cycle,
 * and may make it wait, which stalls only this core's queue of this path. Whoever changes something that a handler waits for
 * wakes WG_AGENT_REGIONS.
 */
#ifndef WG_REGIONS_H
#define WG_REGIONS_H

#include "machine/eth.h"
#include "machine/eth_link.h"
#include "machine/mailbox.h"
#include "machine/memory.h"
#include "machine/niu_regs.h"
#include "machine/pcbuf.h"
#include "machine/request.h"
#include "machine/tile_regs.h"

/*
 * NULL for the paths that memory.c serves itself: L1, own RAM (which never leaves the core) and the
 * pushes of phase H.
 */
extern const wg_region_fn wg_region_handlers[WG_PATH_COUNT];

typedef struct wg_regions {
    wg_memory memory; /* queues and ports (memory.c) */
    wg_mailboxes mailbox;
    wg_pcbufs pcbuf;
    wg_tile_control control;
    wg_niu_regs niu;
    wg_eth eth; /* of an Ethernet tile */
} wg_regions;

/* Reports an access to an unmapped address (with the nearest region of this core), or one that hangs (PIPE-12). */
void wg_report_unmapped(struct wg_tile *t, unsigned core, uint32_t pc, uint32_t address, wg_request_kind kind);
void wg_report_hanging(struct wg_tile *t, unsigned core, uint32_t pc, uint32_t address);

/* Everything here but `memory`; wg_regions_reset() calls it. */
void wg_windows_reset(struct wg_tile *t);
/* Phase A, when WG_AGENT_HOST is due: the edges of soft reset bits. */
void wg_windows_arrivals(struct wg_tile *t);

#endif
