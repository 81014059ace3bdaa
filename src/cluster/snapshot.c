/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster's snapshot: a header; then, for each chip of this process, its number, the size of its snapshot, and the
 * snapshot. Frames in flight are at the tiles that receive them. Each part is checked separately before it is used.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"

typedef struct header {
    char magic[8];
    uint32_t version, chips, here, links;
    uint64_t now, bytes;
} header;

typedef struct entry {
    uint64_t chip, bytes;
} entry;

static const char magic[8] = {'w', 'a', 'i', 't', 'c', 'l', 'u', 's'};
enum { VERSION = 1 };

static header header_of(wg_cluster *c)
{
    header h = {.version = VERSION, .chips = c->chips, .links = c->links, .now = c->now, .bytes = sizeof h};
    memcpy(h.magic, magic, sizeof magic);
    for (unsigned i = 0; i < c->chips; i++)
        if (c->chip[i].grid) {
            h.here++;
            h.bytes += sizeof(entry) + wg_grid_snapshot_size(c->chip[i].grid);
        }
    return h;
}

size_t wg_cluster_snapshot_size(wg_cluster *c) { return header_of(c).bytes; }

wg_status wg_cluster_snapshot(wg_cluster *c, void *to, size_t bytes)
{
    const header h = header_of(c);
    char *p = to;
    if (bytes < h.bytes)
        return wg_cluster_fail(c, WG_ERR_ARGUMENT, "a snapshot needs %zu bytes, not %zu", (size_t)h.bytes, bytes);
    memcpy(p, &h, sizeof h);
    p += sizeof h;
    for (unsigned i = 0; i < c->chips; i++) {
        if (!c->chip[i].grid)
            continue;
        const entry e = {i, wg_grid_snapshot_size(c->chip[i].grid)};
        memcpy(p, &e, sizeof e);
        p += sizeof e;
        const wg_status status = wg_grid_snapshot(c->chip[i].grid, p, e.bytes);
        if (status != WG_OK)
            return wg_cluster_fail(c, status, "chip %u: %s", i, wg_grid_error(c->chip[i].grid));
        p += e.bytes;
    }
    return WG_OK;
}

/* The chip's entry, if this part has it. */
static bool add_chip(const wg_message *part, uint64_t chip, wg_message *out)
{
    entry e;
    for (size_t at = sizeof(header); at + sizeof e <= part->bytes; at += sizeof e + e.bytes) {
        memcpy(&e, part->data + at, sizeof e);
        if (e.bytes > part->bytes - at - sizeof e)
            return false;
        if (e.chip == chip)
            return wg_message_add(out, part->data + at, sizeof e + e.bytes);
    }
    return true;
}

bool wg_cluster_join(const wg_message *part, unsigned parts, wg_message *out)
{
    header all = {.bytes = sizeof all};
    for (unsigned i = 0; i < parts; i++) {
        header h;
        if (part[i].bytes < sizeof h)
            return false;
        memcpy(&h, part[i].data, sizeof h);
        const uint32_t here = all.here;
        const uint64_t bytes = all.bytes;
        all = h;
        all.here += here;
        all.bytes = bytes + h.bytes - sizeof h;
    }
    bool ok = wg_message_add(out, &all, sizeof all);
    for (uint64_t chip = 0; ok && chip < all.chips; chip++)
        for (unsigned i = 0; ok && i < parts; i++)
            ok = add_chip(&part[i], chip, out);
    return ok;
}

/*
 * Checks that the chips of a snapshot are in order and within its bytes, and that those of this process are among them.
 */
static bool entries_hold(const wg_cluster *c, const header *h, const char *from)
{
    size_t at = sizeof *h;
    unsigned next = 0, here = 0, own = 0;
    for (unsigned i = 0; i < c->chips; i++)
        own += c->chip[i].grid != NULL;
    for (uint32_t n = 0; n < h->here; n++) {
        entry e;
        if (h->bytes - at < sizeof e)
            return false;
        memcpy(&e, from + at, sizeof e);
        at += sizeof e;
        if (e.chip < next || e.chip >= c->chips || e.bytes > h->bytes - at)
            return false;
        here += c->chip[e.chip].grid != NULL;
        next = (unsigned)e.chip + 1;
        at += e.bytes;
    }
    return at == h->bytes && here == own;
}

wg_status wg_cluster_restore(wg_cluster *c, const void *from, size_t bytes)
{
    header h;
    if (bytes < sizeof h)
        return wg_cluster_fail(c, WG_ERR_SNAPSHOT, "%zu bytes are too few for a snapshot", bytes);
    memcpy(&h, from, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.version != VERSION)
        return wg_cluster_fail(c, WG_ERR_SNAPSHOT, "this is not a snapshot of a cluster by this version of Waitgate");
    if (h.chips != c->chips || h.links != c->links)
        return wg_cluster_fail(c, WG_ERR_SNAPSHOT, "the snapshot is of %u chips with %u links, not %u with %u", h.chips,
                               h.links, c->chips, c->links);
    if (h.bytes > bytes || h.bytes < sizeof h || h.now > WG_NEVER / 8 || !entries_hold(c, &h, from))
        return wg_cluster_fail(c, WG_ERR_SNAPSHOT, "the snapshot is cut short or damaged");
    const char *p = (const char *)from + sizeof h;
    for (uint32_t n = 0; n < h.here; n++) {
        entry e;
        memcpy(&e, p, sizeof e);
        p += sizeof e;
        wg_grid *g = c->chip[e.chip].grid;
        if (!g) { /* another process has it */
            p += e.bytes;
            continue;
        }
        const wg_status status = wg_grid_restore(g, p, e.bytes);
        if (status != WG_OK)
            return wg_cluster_fail(c, status, "chip %u: %s", (unsigned)e.chip, wg_grid_error(g));
        if (g->now != h.now)
            return wg_cluster_fail(c, WG_ERR_SNAPSHOT, "chip %u of the snapshot is at another cycle", (unsigned)e.chip);
        p += e.bytes;
    }
    c->now = h.now;
    return WG_OK;
}
