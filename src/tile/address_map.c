/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up addresses in a tile's address map (arch/address_map.h). */
#include "arch/address_map.h"

#include <stddef.h>

#include "machine/tile.h"

static bool visible(const wg_map_row *r, unsigned viewer, bool is_write)
{
    return r->views >> viewer & 1 && r->access & (is_write ? WG_MAP_WRITE : WG_MAP_READ);
}

const wg_map_row *wg_map_find(const wg_tile_spec *spec, unsigned viewer, uint32_t address, bool is_write)
{
    const wg_map *m = spec->map;
    /* Finds the last entry that starts at or below the address; the entries of one range are adjacent. */
    unsigned lo = 0, hi = m->rows;
    while (hi - lo > 1) {
        unsigned mid = (lo + hi) / 2;
        if (m->row[mid].first <= address)
            lo = mid;
        else
            hi = mid;
    }
    for (const wg_map_row *r = m->row + lo;; r--) {
        if (address <= r->last && visible(r, viewer, is_write))
            return r;
        if (r == m->row || r[-1].first != r->first)
            return NULL;
    }
}

const wg_map_row *wg_map_nearest(const wg_tile_spec *spec, unsigned viewer, uint32_t address, bool is_write)
{
    const wg_map *m = spec->map;
    const wg_map_row *best = m->row;
    uint32_t least = UINT32_MAX;
    for (const wg_map_row *r = m->row; r < m->row + m->rows; r++) {
        if (!visible(r, viewer, is_write) || r->path == WG_PATH_HANG)
            continue;
        uint32_t distance = address < r->first ? r->first - address : address > r->last ? address - r->last : 0;
        if (distance < least) {
            least = distance;
            best = r;
        }
    }
    return best;
}

static inline wg_route route_by(const wg_map_row *r, const wg_tile_spec *spec, unsigned core, uint32_t address)
{
    if (!r)
        return (wg_route){.path = WG_PATH_UNMAPPED, .offset = address};
    uint8_t index = r->index;
    if (index == WG_MAP_OWN)
        index = r->path == WG_PATH_OWN_RAM ? (uint8_t)core : spec->core[core].thread;
    return (wg_route){.path = r->path, .index = index, .offset = address - r->first};
}

wg_route wg_address_route(const wg_tile_spec *spec, unsigned core, uint32_t address, bool is_write)
{
    return route_by(wg_map_find(spec, core, address, is_write), spec, core, address);
}

wg_route wg_tile_route(wg_tile *t, unsigned core, uint32_t address, bool is_write)
{
    const wg_map_row **found = &t->row_found[core][is_write][address >> 18 & (WG_ROWS_FOUND - 1)], *r = *found;
    if (!r || address - r->first > r->last - r->first)
        *found = r = wg_map_find(t->spec, core, address, is_write);
    return route_by(r, t->spec, core, address);
}
