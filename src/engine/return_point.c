/* SPDX-License-Identifier: Apache-2.0 */
/* See return_point.h. */
#include "engine/return_point.h"

#include <stdlib.h>
#include <string.h>

#include "engine/pages.h"
#include "engine/snapshot.h"

struct wg_return_point {
    wg_pages_copy l1, state;
    wg_noc_box *box; /* NULL: no packet was in flight */
    void *poll;
};

struct wg_l1_copy {
    wg_pages_copy pages;
};

void wg_return_point_free(wg_return_point *p)
{
    if (!p)
        return;
    wg_pages_copy_free(&p->l1);
    wg_pages_copy_free(&p->state);
    free(p->box);
    free(p->poll);
    free(p);
}

wg_return_point *wg_return_point_new(wg_device *dev)
{
    wg_tile *t = dev->tile;
    wg_snapshot_prepare(dev);
    wg_return_point *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->poll = malloc(wg_poll_saved_bytes(dev));
    bool ok = p->poll && wg_pages_copy_take(&p->l1, t->l1, t->spec->l1_bytes) &&
              wg_pages_copy_take(&p->state, (char *)t + WG_TILE_STATE_OFFSET, sizeof *t - WG_TILE_STATE_OFFSET);
    if (ok && wg_noc_box_used(t->box) && (ok = (p->box = malloc(sizeof *p->box)) != NULL))
        memcpy(p->box, t->box, sizeof *p->box);
    if (!ok) {
        wg_return_point_free(p);
        return NULL;
    }
    wg_poll_save(dev, p->poll);
    return p;
}

void wg_return_to(wg_device *dev, const wg_return_point *p)
{
    wg_pages_copy_back(&p->l1);
    wg_pages_copy_back(&p->state);
    wg_snapshot_taken_over(dev, p->box, p->poll);
}

wg_l1_copy *wg_l1_copy_new(wg_device *dev, uint32_t address, uint32_t bytes)
{
    wg_l1_copy *copy = malloc(sizeof *copy);
    wg_reach(dev);
    if (copy && !wg_pages_copy_take(&copy->pages, dev->tile->l1 + address, bytes)) {
        free(copy);
        return NULL;
    }
    return copy;
}

void wg_l1_copy_renew(wg_device *dev, wg_l1_copy *copy)
{
    wg_reach(dev);
    wg_pages_copy_renew(&copy->pages);
}

const uint8_t *wg_l1_copy_bytes(const wg_l1_copy *copy) { return copy->pages.copy; }
uint64_t wg_l1_copy_hash(const wg_l1_copy *copy) { return wg_pages_copy_hash(&copy->pages); }

bool wg_l1_is(wg_device *dev, const wg_l1_copy *copy)
{
    wg_reach(dev);
    return wg_pages_copy_equal(&copy->pages);
}

void wg_l1_copy_free(wg_l1_copy *copy)
{
    if (copy)
        wg_pages_copy_free(&copy->pages);
    free(copy);
}
