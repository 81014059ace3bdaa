/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: a header with a checksum, the tile's state struct, L1, packets in flight if there are any, and the data by which
 * loops are recognised (poll_saved.c). State holds no pointers, so a copy is a snapshot, and a restored copy continues
 * identically in any process of the same build.
 *
 * The checksum detects a damaged snapshot, but a forged one can have a correct checksum. So the state is validated before any of
 * it is used (engine/state_check.h).
 */
#include <stdlib.h>
#include <string.h>

#include "machine/device.h"
#include "engine/snapshot.h"
#include "engine/state_check.h"
#include "machine/fast.h"
#include "noc/floorplan.h"

typedef struct header {
    char magic[8];
    uint64_t sum;     /* of everything after it */
    uint32_t version; /* of the layout; the state's size guards against a build with a different layout */
    uint32_t arch, profile;
    uint32_t poll_bytes;
    uint64_t state_bytes, l1_bytes;
    uint64_t box_bytes;  /* 0: there was never a packet */
    uint64_t link_bytes; /* 0: no Ethernet link */
} header;

static const char magic[8] = {'w', 'a', 'i', 't', 'g', 'a', 't', 'e'};
enum { LAYOUT_VERSION = 11 };

static size_t state_bytes(void) { return sizeof(wg_tile) - WG_TILE_STATE_OFFSET; }

static header header_of(const wg_device *dev)
{
    header h = {.version = LAYOUT_VERSION,
                .arch = dev->arch->id,
                .profile = dev->profile,
                .poll_bytes = (uint32_t)wg_poll_saved_bytes(dev),
                .state_bytes = state_bytes(),
                .l1_bytes = dev->tile->spec->l1_bytes,
                .box_bytes = wg_noc_box_used(dev->tile->box) ? sizeof *dev->tile->box : 0,
                .link_bytes = dev->tile->link ? sizeof *dev->tile->link : 0};
    memcpy(h.magic, magic, sizeof magic);
    return h;
}

/* Without the parts after L1. */
static size_t fixed_bytes(const wg_device *dev) { return sizeof(header) + state_bytes() + dev->tile->spec->l1_bytes; }
static size_t bytes_of(const wg_device *dev, const header *h)
{
    return fixed_bytes(dev) + h->box_bytes + h->link_bytes + h->poll_bytes;
}

size_t wg_snapshot_size(const wg_device *dev)
{
    return fixed_bytes(dev) + sizeof *dev->tile->box + header_of(dev).link_bytes + wg_poll_saved_most(dev);
}

size_t wg_snapshot_bytes(const wg_device *dev)
{
    header h = header_of(dev);
    return bytes_of(dev, &h);
}

static uint64_t sum_of(const char *from, size_t bytes)
{
    const size_t begin = offsetof(header, sum) + sizeof(uint64_t);
    return wg_checksum(from + begin, bytes - begin);
}

void wg_snapshot_prepare(wg_device *dev)
{
    wg_look(dev);
    for (unsigned core = 0; core < WG_CORES; core++)
        wg_core_sync(dev->tile, core);
}

void wg_snapshot_write(const wg_device *dev, void *to)
{
    header h = header_of(dev);
    char *p = to;
    memcpy(p, &h, sizeof h);
    memcpy(p + sizeof h, (const char *)dev->tile + WG_TILE_STATE_OFFSET, state_bytes());
    memcpy(p + sizeof h + state_bytes(), dev->tile->l1, dev->tile->spec->l1_bytes);
    memcpy(p + fixed_bytes(dev), dev->tile->box, h.box_bytes);
    if (h.link_bytes)
        memcpy(p + fixed_bytes(dev) + h.box_bytes, dev->tile->link, h.link_bytes);
    wg_poll_save(dev, p + fixed_bytes(dev) + h.box_bytes + h.link_bytes);
    h.sum = sum_of(p, bytes_of(dev, &h));
    memcpy(p, &h, sizeof h);
}

wg_status wg_snapshot(wg_device *dev, void *to, size_t bytes)
{
    if (bytes < wg_snapshot_size(dev))
        return wg_fail(dev, WG_ERR_ARGUMENT, "a snapshot needs %zu bytes, not %zu", wg_snapshot_size(dev), bytes);
    wg_snapshot_prepare(dev);
    wg_snapshot_write(dev, to);
    const size_t used = wg_snapshot_bytes(dev);
    memset((char *)to + used, 0, wg_snapshot_size(dev) - used); /* a host may write the whole buffer to a file */
    return WG_OK;
}

static wg_status check_header(wg_device *dev, const header *h, const char *from, size_t bytes)
{
    header own = header_of(dev);
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "this is not a snapshot");
    if (h->version != own.version || h->state_bytes != own.state_bytes)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is from another version of Waitgate");
    if (h->arch != own.arch || h->profile != own.profile || h->l1_bytes != own.l1_bytes)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is of another architecture or timing profile");
    if (h->link_bytes != own.link_bytes)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is of a tile %s an Ethernet link, this one is %s",
                       h->link_bytes ? "with" : "without", own.link_bytes ? "with one" : "without");
    if (h->box_bytes && h->box_bytes != sizeof *dev->tile->box)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is from another version of Waitgate");
    if (bytes < bytes_of(dev, h))
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is cut short: %zu of %zu bytes", bytes, bytes_of(dev, h));
    if (h->sum != sum_of(from, bytes_of(dev, h)))
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is damaged: its checksum does not match");
    return WG_OK;
}

/* Tiles of the device's chip; a standalone tile is one. */
static unsigned tiles_of(const wg_device *dev)
{
    const wg_floorplan *plan = wg_floorplan_of(dev->arch->id);
    return dev->touches ? plan->width * plan->height : 1u;
}

static bool link_holds(const wg_device *dev, const void *from)
{
    wg_eth_link *l = malloc(sizeof *l); /* aligned, unlike the snapshot */
    bool holds = l != NULL;
    if (l) {
        memcpy(l, from, sizeof *l);
        holds = wg_eth_link_holds(l, dev->tile->spec->l1_bytes, dev->tile->spec->eth->queues);
    }
    free(l);
    return holds;
}

wg_status wg_snapshot_check(wg_device *dev, const void *from, size_t bytes)
{
    header h;
    char what[160] = "";
    const char *p = from;
    if (bytes < sizeof h)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "%zu bytes are too few for a snapshot", bytes);
    memcpy(&h, from, sizeof h);
    wg_status status = check_header(dev, &h, from, bytes);
    if (status != WG_OK)
        return status;
    wg_tile *t = wg_tile_new(); /* aligned, unlike the snapshot */
    wg_noc_box *box = h.box_bytes ? malloc(sizeof *box) : NULL;
    if (!t || (h.box_bytes && !box)) {
        free(t);
        free(box);
        return wg_fail(dev, WG_ERR_NO_MEMORY, "no memory to restore a snapshot");
    }
    t->arch = dev->arch;
    t->spec = dev->tile->spec;
    memcpy((char *)t + WG_TILE_STATE_OFFSET, p + sizeof h, state_bytes());
    if (box)
        memcpy(box, p + fixed_bytes(dev), sizeof *box);
    if (h.link_bytes && !link_holds(dev, p + fixed_bytes(dev) + h.box_bytes))
        status = wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is not of a device that Waitgate ran: its link is broken");
    else if (!wg_poll_saved_holds(dev, p + fixed_bytes(dev) + h.box_bytes + h.link_bytes, h.poll_bytes))
        status =
            wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is not of a device that Waitgate ran: its loops are broken");
    else if (!wg_state_holds(t, what, sizeof what) ||
             (box && !wg_state_box_holds(box, dev->arch->id, tiles_of(dev), what, sizeof what)))
        status = wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is not of a device that Waitgate ran: %s", what);
    free(t);
    free(box);
    return status;
}

void wg_snapshot_taken_over(wg_device *dev, const wg_noc_box *box, const void *poll)
{
    wg_tile *t = dev->tile;
    if (box)
        memcpy(t->box, box, sizeof *t->box);
    else if (wg_noc_box_used(t->box))
        memset(t->box, 0, sizeof *t->box);
    wg_state_derive(t);
    t->l1_undos = 0;
    wg_fast_update(t); /* perturbation may have changed */
    wg_threads_listen(&t->sched);
    wg_reach(dev);
    wg_poll_load(dev, poll);
}

void wg_snapshot_apply(wg_device *dev, const void *from)
{
    header h;
    wg_tile *t = dev->tile;
    const char *p = from;
    memcpy(&h, from, sizeof h);
    memcpy((char *)t + WG_TILE_STATE_OFFSET, p + sizeof h, state_bytes());
    memcpy(t->l1, p + sizeof h + state_bytes(), dev->tile->spec->l1_bytes);
    const void *box = h.box_bytes ? p + fixed_bytes(dev) : NULL;
    if (h.link_bytes)
        memcpy(t->link, p + fixed_bytes(dev) + h.box_bytes, h.link_bytes);
    wg_snapshot_taken_over(dev, box, p + fixed_bytes(dev) + h.box_bytes + h.link_bytes);
}

wg_status wg_restore(wg_device *dev, const void *from, size_t bytes)
{
    wg_status status = wg_snapshot_check(dev, from, bytes);
    if (status == WG_OK)
        wg_snapshot_apply(dev, from);
    return status;
}
