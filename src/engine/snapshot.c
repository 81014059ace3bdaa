/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: a header, the tile's state struct, L1, packets under way if there are any. State holds no pointers, so a
 * copy is a snapshot and a copy back continues identically, in any process of the same build.
 */
#include <string.h>

#include "engine/device.h"

typedef struct header {
    char magic[8];
    uint32_t version; /* of the layout; the state's size guards against a build with another one */
    uint32_t arch, profile;
    uint64_t state_bytes, l1_bytes;
    uint64_t box_bytes; /* 0: no packet was ever under way */
} header;

static const char magic[8] = {'w', 'a', 'i', 't', 'g', 'a', 't', 'e'};
enum { LAYOUT_VERSION = 2 };

static size_t state_bytes(void) { return sizeof(wg_tile) - WG_TILE_STATE_OFFSET; }

static header header_of(const wg_device *dev)
{
    header h = {.version = LAYOUT_VERSION,
                .arch = dev->arch->id,
                .profile = dev->profile,
                .state_bytes = state_bytes(),
                .l1_bytes = dev->arch->l1_bytes,
                .box_bytes = wg_noc_box_used(dev->tile->box) ? sizeof *dev->tile->box : 0};
    memcpy(h.magic, magic, sizeof magic);
    return h;
}

static size_t size_with(const wg_device *dev, size_t box)
{
    return sizeof(header) + state_bytes() + dev->arch->l1_bytes + box;
}

size_t wg_snapshot_size(const wg_device *dev) { return size_with(dev, sizeof *dev->tile->box); }

wg_status wg_snapshot(wg_device *dev, void *to, size_t bytes)
{
    if (bytes < wg_snapshot_size(dev))
        return wg_fail(dev, WG_ERR_ARGUMENT, "a snapshot needs %zu bytes, not %zu", wg_snapshot_size(dev), bytes);
    wg_look(dev);
    header h = header_of(dev);
    char *p = to;
    memcpy(p, &h, sizeof h);
    memcpy(p + sizeof h, (const char *)dev->tile + WG_TILE_STATE_OFFSET, state_bytes());
    memcpy(p + sizeof h + state_bytes(), dev->tile->l1, dev->arch->l1_bytes);
    memcpy(p + size_with(dev, 0), dev->tile->box, h.box_bytes);
    return WG_OK;
}

wg_status wg_restore(wg_device *dev, const void *from, size_t bytes)
{
    header h, own = header_of(dev);
    if (bytes < sizeof h)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "%zu bytes are too few for a snapshot", bytes);
    memcpy(&h, from, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "this is not a snapshot");
    if (h.version != own.version || h.state_bytes != own.state_bytes)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is of another version of Waitgate");
    if (h.arch != own.arch || h.profile != own.profile || h.l1_bytes != own.l1_bytes)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is of another architecture or timing profile");
    if (h.box_bytes && h.box_bytes != sizeof *dev->tile->box)
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is of another version of Waitgate");
    if (bytes < size_with(dev, h.box_bytes))
        return wg_fail(dev, WG_ERR_SNAPSHOT, "the snapshot is cut short: %zu of %zu bytes", bytes,
                       size_with(dev, h.box_bytes));
    const char *p = from;
    memcpy((char *)dev->tile + WG_TILE_STATE_OFFSET, p + sizeof h, state_bytes());
    memcpy(dev->tile->l1, p + sizeof h + state_bytes(), dev->arch->l1_bytes);
    if (own.box_bytes)
        memset(dev->tile->box, 0, sizeof *dev->tile->box);
    memcpy(dev->tile->box, p + size_with(dev, 0), h.box_bytes);
    wg_poll_reset(dev->tile);
    wg_act(dev);
    return WG_OK;
}
