/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, heaps (pairing heaps by index) and rings of packets; see packet.h. */
#include "machine/packet.h"

#include <stddef.h>

uint32_t wg_box_take(wg_noc_box *box)
{
    uint32_t entry = box->unused;
    if (entry)
        box->unused = box->pool[entry].next;
    else if (box->used < WG_NOC_POOL)
        entry = ++box->used;
    return entry;
}

void wg_box_give(wg_noc_box *box, uint32_t entry)
{
    box->pool[entry] = (wg_packet){.next = box->unused};
    box->unused = entry;
}

static uint32_t meld(wg_packet *pool, uint32_t a, uint32_t b)
{
    if (!a || !b)
        return a ? a : b;
    const wg_packet *p = &pool[a], *q = &pool[b];
    if (q->at < p->at || (q->at == p->at && q->order < p->order)) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    pool[b].next = pool[a].child;
    pool[a].child = b;
    return a;
}

void wg_heap_put(wg_packet *pool, uint32_t *root, uint32_t entry)
{
    pool[entry].child = pool[entry].next = 0;
    *root = meld(pool, *root, entry);
}

uint32_t wg_heap_take(wg_packet *pool, uint32_t *root)
{
    uint32_t top = *root, pairs = 0;
    if (!top)
        return 0;
    for (uint32_t a = pool[top].child; a;) {
        uint32_t b = pool[a].next, rest = b ? pool[b].next : 0;
        pool[a].next = 0;
        if (b)
            pool[b].next = 0;
        uint32_t pair = meld(pool, a, b);
        pool[pair].next = pairs;
        pairs = pair;
        a = rest;
    }
    uint32_t all = 0;
    while (pairs) {
        uint32_t rest = pool[pairs].next;
        pool[pairs].next = 0;
        all = meld(pool, all, pairs);
        pairs = rest;
    }
    *root = all;
    pool[top].child = pool[top].next = 0;
    return top;
}

bool wg_ring_take(wg_noc_ring *ring, uint32_t bytes, uint64_t now, uint32_t *payload, uint32_t *slot, uint64_t *retry)
{
    while (ring->first_slot < ring->end_slot) {
        uint64_t until = ring->slot[ring->first_slot % WG_NOC_SLOTS].until;
        if (until == UINT64_MAX || until + WG_NOC_SLACK > now)
            break;
        ring->first_slot++;
    }
    ring->first = ring->first_slot < ring->end_slot ? ring->slot[ring->first_slot % WG_NOC_SLOTS].start : ring->end;
    uint64_t start = ring->end;
    if (start % WG_NOC_RING + bytes > WG_NOC_RING) /* contiguous */
        start += WG_NOC_RING - start % WG_NOC_RING;
    if (start + bytes - ring->first > WG_NOC_RING || ring->end_slot - ring->first_slot >= WG_NOC_SLOTS) {
        uint64_t until = ring->slot[ring->first_slot % WG_NOC_SLOTS].until;
        *retry = until == UINT64_MAX || until + WG_NOC_SLACK <= now ? now + 1 : until + WG_NOC_SLACK;
        return false;
    }
    *payload = (uint32_t)(start % WG_NOC_RING);
    *slot = (uint32_t)(ring->end_slot % WG_NOC_SLOTS);
    ring->slot[*slot].start = start;
    ring->slot[*slot].until = UINT64_MAX;
    ring->end_slot++;
    ring->end = start + bytes;
    return true;
}

void wg_ring_until(wg_noc_ring *ring, uint32_t slot, uint64_t cycle) { ring->slot[slot % WG_NOC_SLOTS].until = cycle; }
