/* SPDX-License-Identifier: Apache-2.0 */
/* The address map as data: one entry per region and view. wg_address_route() in machine/request.h reads it. */
#ifndef WG_ADDRESS_MAP_H
#define WG_ADDRESS_MAP_H

#include "arch/arch.h"

/* Views of an entry: bit wg_core_id for each core, and the NoC. */
enum {
    WG_VIEW_B = 1 << WG_CORE_B,
    WG_VIEW_NC = 1 << WG_CORE_NC,
    WG_VIEW_T = 1 << WG_CORE_T0 | 1 << WG_CORE_T1 | 1 << WG_CORE_T2,
    WG_VIEW_E = 1 << WG_CORE_E0 | 1 << WG_CORE_E1,
    WG_VIEW_CORES = WG_VIEW_B | WG_VIEW_NC | WG_VIEW_T,
    WG_VIEW_NOC = 1 << WG_CORES,
    WG_VIEW_ALL = WG_VIEW_CORES | WG_VIEW_NOC
};
enum { WG_MAP_READ = 1, WG_MAP_WRITE = 2, WG_MAP_BOTH = 3 };
enum { WG_MAP_OWN = 0xFF }; /* index: the core's own (thread of a T core, RAM of any core) */

typedef struct wg_map_row {
    uint32_t first, last; /* addresses, both included */
    uint8_t views;        /* WG_VIEW_* */
    uint8_t access;       /* WG_MAP_* */
    uint8_t path;         /* wg_path */
    uint8_t index;        /* wg_route.index, or WG_MAP_OWN */
    const char *name;
} wg_map_row;

/* Sorted by first address; rows of one address differ in views or access. */
typedef struct wg_map {
    const wg_map_row *row;
    unsigned rows;
} wg_map;

extern const wg_map wg_map_tensix_bh, wg_map_tensix_wh, wg_map_ethernet_bh, wg_map_ethernet_wh;

/* The entry of `address` for a viewer (a core, or WG_CORES for the NoC); NULL if none. */
const wg_map_row *wg_map_find(const wg_tile_spec *spec, unsigned viewer, uint32_t address, bool is_write);
/* The nearest entry mapped for this viewer; never NULL (L1 is always mapped). */
const wg_map_row *wg_map_nearest(const wg_tile_spec *spec, unsigned viewer, uint32_t address, bool is_write);

#endif
