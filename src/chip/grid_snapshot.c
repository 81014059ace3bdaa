/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of a chip: a header with a checksum of the rest, then
 *
 *     clock and order │ requests at tiles that are not devices │ links │ models' state
 *     each tile in use: its number, how many bytes, a snapshot of the device
 *     packets of each tile that is not a device and has any │ each page of DRAM
 *
 * Everything is checked before the chip's state changes: the checksum detects damage, engine/state_check.h forgery.
 */
#include <stdlib.h>
#include <string.h>

#include "chip/grid.h"
#include "engine/pages.h"
#include "engine/snapshot.h"
#include "engine/state_check.h"

typedef struct header {
    char magic[8];
    uint64_t sum;   /* of everything after it */
    uint64_t bytes; /* of the whole snapshot */
    uint32_t version, arch, profile, harvested;
    uint64_t tile_bytes;                            /* of all tiles in use */
    uint64_t box_bytes, network_bytes, model_bytes; /* other builds may differ */
    uint32_t tiles, boxes, pages, event_used;
} header;

typedef struct state {
    uint64_t now, order, packets;
    uint32_t event_unused, events;
    uint64_t edge_link[2][WG_GRID_MAX_TILES];
    uint64_t channel_free[WG_DRAM_TIMED];
    uint32_t served[2][WG_GRID_MAX_TILES][16];
    bool single_store[2][WG_GRID_MAX_TILES];
} state;

static const char magic[8] = {'w', 'a', 'i', 't', 'g', 'r', 'i', 'd'};
enum { LAYOUT_VERSION = 6 };

static size_t model_bytes(const wg_grid *g)
{
    size_t all = 0;
    for (unsigned k = 0; k < WG_TILE_KINDS; k++)
        if (g->edge[k].ops && g->edge[k].ops->state)
            all += g->edge[k].ops->state(g->edge[k].user, NULL, NULL);
    return all;
}

enum { ENTRY = 16 }; /* before a tile's snapshot: its number, its size */

static size_t tile_bytes(const wg_grid *g)
{
    size_t all = 0;
    for (unsigned i = 0; i < g->tiles; i++)
        if (g->tile[i])
            all += ENTRY + wg_snapshot_bytes(g->tile[i]);
    return all;
}

static uint64_t bytes_of(const header *h)
{
    return sizeof *h + sizeof(state) + h->event_used * sizeof(wg_packet) + h->network_bytes + h->model_bytes +
           h->tile_bytes + h->boxes * (8 + h->box_bytes) + h->pages * (8 + (uint64_t)WG_DRAM_PAGE);
}

static header header_of(const wg_grid *g)
{
    header h = {.version = LAYOUT_VERSION,
                .arch = g->desc.arch,
                .profile = g->desc.profile,
                .harvested = g->desc.harvested,
                .tile_bytes = tile_bytes(g),
                .box_bytes = sizeof(wg_noc_box),
                .network_bytes = sizeof(wg_network),
                .model_bytes = model_bytes(g),
                .event_used = g->event_used};
    memcpy(h.magic, magic, sizeof magic);
    for (unsigned i = 0; i < g->tiles; i++) {
        h.tiles += g->tile[i] != NULL;
        h.boxes += !g->tile[i] && g->box[i];
    }
    h.pages = (uint32_t)(g->dram.used / WG_DRAM_PAGE);
    h.bytes = bytes_of(&h);
    return h;
}

/* The checksum of everything after it. */
static uint64_t sum_of(const char *from, size_t bytes)
{
    const size_t begin = offsetof(header, sum) + sizeof(uint64_t);
    return wg_checksum(from + begin, bytes - begin);
}

static char *put(char *p, const void *data, size_t bytes)
{
    memcpy(p, data, bytes);
    return p + bytes;
}

static const char *get(const char *p, void *data, size_t bytes)
{
    memcpy(data, p, bytes);
    return p + bytes;
}

/* Brings all tiles to the chip's clock. Their sizes do not change after that. */
static header prepare(wg_grid *g)
{
    for (unsigned i = 0; i < g->tiles; i++)
        if (g->tile[i])
            wg_snapshot_prepare(g->tile[i]);
    return header_of(g);
}

size_t wg_grid_snapshot_size(wg_grid *grid) { return prepare(grid).bytes; }

wg_status wg_grid_snapshot(wg_grid *g, void *to, size_t bytes)
{
    header h = prepare(g);
    if (bytes < h.bytes)
        return wg_grid_fail(g, WG_ERR_ARGUMENT, "a snapshot needs %zu bytes, not %zu", (size_t)h.bytes, bytes);
    state s = {
        .now = g->now, .order = g->order, .packets = g->packets, .event_unused = g->event_unused, .events = g->events};
    memcpy(s.edge_link, g->edge_link, sizeof s.edge_link);
    memcpy(s.channel_free, g->channel_free, sizeof s.channel_free);
    memcpy(s.single_store, g->single_store, sizeof s.single_store);
    memcpy(s.served, g->served, sizeof s.served);
    char *p = put((char *)to + sizeof h, &s, sizeof s);
    p = put(p, g->event + 1, h.event_used * sizeof *g->event);
    p = put(p, g->network, sizeof *g->network);
    for (unsigned k = 0; k < WG_TILE_KINDS; k++)
        if (g->edge[k].ops && g->edge[k].ops->state)
            p += g->edge[k].ops->state(g->edge[k].user, p, NULL);
    for (uint64_t i = 0; i < g->tiles; i++)
        if (g->tile[i]) {
            uint64_t tile = wg_snapshot_bytes(g->tile[i]);
            p = put(p, &i, sizeof i);
            p = put(p, &tile, sizeof tile);
            wg_snapshot_write(g->tile[i], p);
            p += tile;
        }
    for (uint64_t i = 0; i < g->tiles; i++)
        if (!g->tile[i] && g->box[i]) {
            p = put(p, &i, sizeof i);
            p = put(p, g->box[i], sizeof *g->box[i]);
        }
    for (uint64_t c = 0; h.pages && c < g->dram.channels; c++)
        for (uint64_t k = 0; k < g->dram.bytes / WG_DRAM_PAGE; k++)
            if (g->dram.page[c][k]) {
                uint64_t where = c << 32 | k;
                p = put(p, &where, sizeof where);
                p = put(p, g->dram.page[c][k], WG_DRAM_PAGE);
            }
    memcpy(to, &h, sizeof h);
    h.sum = sum_of(to, h.bytes);
    memcpy(to, &h, sizeof h);
    return WG_OK;
}

/* Does the snapshot fit this chip, and is it complete? */
static wg_status check(wg_grid *g, const header *h, const char *from, size_t bytes)
{
    header own = header_of(g);
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        return wg_grid_fail(g, WG_ERR_SNAPSHOT, "this is not a snapshot of a chip");
    if (h->version != own.version || h->box_bytes != own.box_bytes || h->network_bytes != own.network_bytes)
        return wg_grid_fail(g, WG_ERR_SNAPSHOT, "the snapshot is from another version of Waitgate");
    if (h->arch != own.arch || h->profile != own.profile || h->harvested != own.harvested ||
        h->model_bytes != own.model_bytes)
        return wg_grid_fail(g, WG_ERR_SNAPSHOT, "the snapshot is of another architecture, profile, harvesting or card");
    if (bytes < h->bytes || h->bytes != bytes_of(h) || h->event_used > WG_EDGE_EVENTS || h->tiles > g->tiles ||
        h->boxes > g->tiles || h->tile_bytes > bytes || sum_of(from, h->bytes) != h->sum)
        return wg_grid_fail(g, WG_ERR_SNAPSHOT, "the snapshot is cut short or damaged");
    return WG_OK;
}

static wg_status forged(wg_grid *g, const char *what)
{
    return wg_grid_fail(g, WG_ERR_SNAPSHOT, "the snapshot is not of a chip that Waitgate ran: %s", what);
}

/* Clock, links, and requests at tiles that are not devices. */
static wg_status check_state(wg_grid *g, const header *h, const char **p)
{
    state s;
    char what[160];
    const uint64_t latest = UINT64_C(1) << 62;
    *p = get(*p, &s, sizeof s);
    bool holds = s.now <= latest && s.order <= latest && s.packets <= latest;
    for (unsigned noc = 0; noc < 2; noc++)
        for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++) {
            unsigned char truth;
            memcpy(&truth, &s.single_store[noc][i], 1);
            holds &= s.edge_link[noc][i] <= latest && truth <= 1;
        }
    for (unsigned i = 0; i < WG_DRAM_TIMED; i++)
        holds &= s.channel_free[i] <= latest;
    if (!holds)
        return forged(g, "its clock is broken");
    const size_t bytes = h->event_used * sizeof *g->event;
    wg_packet *event = malloc(sizeof *event + bytes);
    uint64_t *seen = malloc((WG_EDGE_EVENTS / 64 + 1) * sizeof *seen);
    wg_status status = WG_OK;
    if (!event || !seen) {
        status = wg_grid_fail(g, WG_ERR_NO_MEMORY, "no memory to restore a snapshot");
    } else {
        const uint32_t root[2] = {s.event_unused, s.events};
        *p = get(*p, event + 1, bytes);
        for (uint32_t i = 1; i <= h->event_used && status == WG_OK; i++)
            if (!wg_state_fields_hold(&wg_state_packet, g->arch->id, &event[i], what, sizeof what))
                status = forged(g, what);
        if (status == WG_OK && (!wg_packets_hold(event, h->event_used, root, 2, seen) ||
                                !wg_state_packets_hold(event + 1, h->event_used, g->arch->id, g->tiles)))
            status = forged(g, "its requests are broken");
    }
    free(event);
    free(seen);
    if (status == WG_OK && !wg_state_fields_hold(&wg_state_network, g->arch->id, *p, what, sizeof what))
        status = forged(g, what);
    *p += h->network_bytes + h->model_bytes;
    return status;
}

/* Checks that tiles and boxes are named once each, creates missing ones, and moves `p` past them. */
static wg_status check_tiles(wg_grid *g, const header *h, const char **p)
{
    bool named[WG_GRID_MAX_TILES] = {false};
    uint64_t i, tile, left = h->tile_bytes;
    for (uint32_t n = 0; n < h->tiles; n++, *p += tile, left -= tile) {
        if (left < ENTRY)
            return forged(g, "its tiles are broken");
        *p = get(get(*p, &i, sizeof i), &tile, sizeof tile);
        left -= ENTRY;
        if (tile > left)
            return forged(g, "its tiles are broken");
        if (i >= g->tiles || named[i] || !wg_has_cores((wg_tile_kind)g->kind[i]))
            return forged(g, "its tiles are not this chip's");
        named[i] = true;
        wg_device *dev = g->tile[i] ? g->tile[i] : wg_grid_make(g, (unsigned)i);
        if (!dev)
            return wg_grid_fail(g, WG_ERR_NO_MEMORY, "no memory for a tile of the snapshot");
        wg_status status = wg_snapshot_check(dev, *p, tile);
        if (status != WG_OK)
            return wg_grid_fail(g, status, "%s", wg_error(dev));
    }
    if (left)
        return forged(g, "its tiles are broken");
    for (uint32_t n = 0; n < h->boxes; n++, *p += sizeof *g->box[0]) {
        char what[160];
        *p = get(*p, &i, sizeof i);
        if (i >= g->tiles || named[i] || wg_has_cores((wg_tile_kind)g->kind[i]))
            return forged(g, "its tiles are not this chip's");
        named[i] = true;
        wg_noc_box *box = malloc(sizeof *box);
        if (box && !g->box[i])
            g->box[i] = wg_pages_new(sizeof *box);
        if (!box || !g->box[i]) {
            free(box);
            return wg_grid_fail(g, WG_ERR_NO_MEMORY, "no memory for packets of a tile");
        }
        memcpy(box, *p, sizeof *box);
        bool holds = wg_state_box_holds(box, g->arch->id, g->tiles, what, sizeof what);
        free(box);
        if (!holds)
            return forged(g, what);
    }
    return WG_OK;
}

/* DRAM: each page lies in a channel, and the pages are in the order of a snapshot. */
static wg_status check_pages(wg_grid *g, const header *h, const char *p)
{
    const uint64_t limit = g->dram.limit;
    if (h->pages * (uint64_t)WG_DRAM_PAGE > limit)
        return wg_grid_fail(g, WG_ERR_NO_MEMORY, "the snapshot's DRAM is larger than the limit of %llu bytes",
                            (unsigned long long)limit);
    uint64_t least = 0;
    for (uint32_t n = 0; n < h->pages; n++, p += WG_DRAM_PAGE) {
        uint64_t where;
        p = get(p, &where, sizeof where);
        if (where < least || where >> 32 >= g->dram.channels || (where & UINT32_MAX) >= g->dram.bytes / WG_DRAM_PAGE)
            return forged(g, "its DRAM is not this chip's");
        least = where + 1;
    }
    return WG_OK;
}

static wg_status check_all(wg_grid *g, const header *h, const char *from, size_t bytes)
{
    const char *p = from + sizeof *h;
    wg_status status = check(g, h, from, bytes);
    if (status == WG_OK)
        status = check_state(g, h, &p);
    if (status == WG_OK)
        status = check_tiles(g, h, &p);
    return status == WG_OK ? check_pages(g, h, p) : status;
}

static void restore_tiles(wg_grid *g, const header *h, const char **p)
{
    bool in_snapshot[WG_GRID_MAX_TILES] = {false};
    uint64_t i, tile;
    for (uint32_t n = 0; n < h->tiles; n++, *p += tile) {
        *p = get(get(*p, &i, sizeof i), &tile, sizeof tile);
        wg_snapshot_apply(g->tile[i], *p);
        in_snapshot[i] = true;
    }
    for (i = 0; i < g->tiles; i++)
        if (g->tile[i] && !in_snapshot[i]) /* the tile did not exist: equivalent to one held in reset */
            wg_reset(g->tile[i]);
}

wg_status wg_grid_restore(wg_grid *g, const void *from, size_t bytes)
{
    header h;
    if (bytes < sizeof h)
        return wg_grid_fail(g, WG_ERR_SNAPSHOT, "%zu bytes are too few for a snapshot", bytes);
    memcpy(&h, from, sizeof h);
    wg_status status = check_all(g, &h, from, bytes);
    if (status != WG_OK)
        return status;
    state s;
    const char *p = get((const char *)from + sizeof h, &s, sizeof s);
    memset(g->event, 0, (g->event_used + 1) * sizeof *g->event);
    g->event_used = h.event_used;
    memcpy(g->event + 1, p, g->event_used * sizeof *g->event);
    p += h.event_used * sizeof *g->event;
    p = get(p, g->network, sizeof *g->network);
    wg_calendar_derive(&g->network->events);
    g->now = s.now;
    g->order = s.order;
    g->packets = s.packets;
    g->event_unused = s.event_unused;
    g->events = s.events;
    memcpy(g->edge_link, s.edge_link, sizeof s.edge_link);
    memcpy(g->channel_free, s.channel_free, sizeof s.channel_free);
    memcpy(g->single_store, s.single_store, sizeof s.single_store);
    memcpy(g->served, s.served, sizeof s.served);
    g->quiet_until = 0;
    for (unsigned k = 0; k < WG_TILE_KINDS; k++)
        if (g->edge[k].ops && g->edge[k].ops->state)
            p += g->edge[k].ops->state(g->edge[k].user, NULL, p);
    restore_tiles(g, &h, &p);
    for (unsigned i = 0; i < g->tiles; i++)
        if (!g->tile[i] && g->box[i])
            memset(g->box[i], 0, sizeof *g->box[i]);
    for (uint32_t n = 0; n < h.boxes; n++) {
        uint64_t i;
        p = get(p, &i, sizeof i);
        p = get(p, g->box[i], sizeof *g->box[i]);
    }
    wg_dram_clear(&g->dram);
    for (uint32_t n = 0; n < h.pages; n++) {
        uint64_t where;
        bool full;
        p = get(p, &where, sizeof where);
        if (!wg_dram_write(&g->dram, (unsigned)(where >> 32), (where & UINT32_MAX) * WG_DRAM_PAGE, p, WG_DRAM_PAGE,
                           &full))
            return wg_grid_fail(g, WG_ERR_NO_MEMORY, "no memory for the snapshot's DRAM");
        p += WG_DRAM_PAGE;
    }
    return WG_OK;
}
