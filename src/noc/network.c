/* SPDX-License-Identifier: Apache-2.0 */
/* Routing, link by link; see network.h. */
#include "noc/network.h"

#include <string.h>

/* Books the first `flits` free cycles in sequence from `at` on. `now`: no later call asks for an earlier time. */
static uint64_t take(wg_link *l, uint64_t at, uint32_t flits, uint64_t now)
{
    unsigned gone = 0;
    while (gone < l->spans && l->span[gone].to <= now)
        gone++;
    if (gone) {
        memmove(l->span, l->span + gone, (l->spans - gone) * sizeof *l->span);
        l->spans = (uint8_t)(l->spans - gone);
    }
    unsigned i = 0;
    for (; i < l->spans; i++) {
        if (at + flits <= l->span[i].from)
            break;
        if (at < l->span[i].to)
            at = l->span[i].to;
    }
    bool joins_left = i > 0 && l->span[i - 1].to == at, joins_right = i < l->spans && l->span[i].from == at + flits;
    if (joins_left && joins_right) {
        l->span[i - 1].to = l->span[i].to;
        memmove(l->span + i, l->span + i + 1, (l->spans - i - 1u) * sizeof *l->span);
        l->spans--;
    } else if (joins_left) {
        l->span[i - 1].to = at + flits;
    } else if (joins_right) {
        l->span[i].from = at;
    } else {
        if (l->spans == WG_LINK_SPANS) { /* merges the first two bookings: the gap between them is lost */
            l->span[1].from = l->span[0].from;
            memmove(l->span, l->span + 1, (l->spans - 1u) * sizeof *l->span);
            l->spans--;
            if (i == 1) /* the lost gap was the one chosen: search again */
                return take(l, l->span[0].to, flits, now);
            i = i ? i - 1 : 0;
        }
        memmove(l->span + i + 1, l->span + i, (l->spans - i) * sizeof *l->span);
        l->span[i].from = at;
        l->span[i].to = at + flits;
        l->spans++;
    }
    return at;
}

/* A head under way: where it is (NoC coordinates), when, after how many hops. */
typedef struct head {
    uint64_t at;
    uint64_t waited; /* cycles spent waiting for busy links */
    unsigned x, y, hops;
} head;

static unsigned tile_of(const wg_route_params *r, unsigned noc, const head *h)
{
    unsigned x = noc ? r->plan->width - 1u - h->x : h->x, y = noc ? r->plan->height - 1u - h->y : h->y;
    return y * r->plan->width + x;
}

static head start_of(wg_network *n, const wg_route_params *r, const wg_packet *p, uint64_t delay)
{
    unsigned w = r->plan->width, x = p->from % w, y = p->from / w;
    head h = {.x = p->noc ? w - 1 - x : x, .y = p->noc ? r->plan->height - 1u - y : y};
    uint64_t *departure = &n->departure[p->noc][p->from];
    h.at = p->at + delay > *departure ? p->at + delay : *departure;
    h.waited = h.at - p->at - delay;
    *departure = h.at + r->flits;
    h.at += r->timing->noc_niu;
    return h;
}

static void hop(wg_network *n, const wg_route_params *r, const wg_packet *p, bool along_y, head *h)
{
    wg_link *l = &n->link[p->noc][tile_of(r, p->noc, h)][along_y ? WG_LINK_Y : WG_LINK_X];
    unsigned tenths = r->timing->noc_hop;
    uint64_t free = take(l, h->at, r->flits, p->at);
    h->waited += free - h->at;
    h->at = free + (h->hops + 1) * tenths / 10 - h->hops * tenths / 10;
    h->hops++;
    if (along_y)
        h->y = (h->y + 1) % r->plan->height;
    else
        h->x = (h->x + 1) % r->plan->width;
}

static uint64_t land(wg_network *n, const wg_route_params *r, const wg_packet *p, const head *h, wg_way *way)
{
    wg_link *l = &n->link[p->noc][tile_of(r, p->noc, h)][WG_LINK_NIU];
    uint64_t free = take(l, h->at, r->flits, p->at);
    *way = (wg_way){h->hops, (uint32_t)(h->waited + free - h->at)};
    return free + r->timing->noc_niu + r->flits - 1;
}

uint64_t wg_route_least(const wg_timing *timing) { return 2u * timing->noc_niu + timing->noc_hop / 10; }

uint64_t wg_route_unicast(wg_network *n, const wg_route_params *r, uint32_t buffer_flits, const wg_packet *p,
                          uint64_t *stalled, wg_way *way)
{
    head h = start_of(n, r, p, r->delay);
    unsigned w = r->plan->width, x = p->to % w, y = p->to / w;
    if (p->noc) {
        x = w - 1 - x;
        y = r->plan->height - 1u - y;
    }
    while (p->noc ? h.y != y : h.x != x)
        hop(n, r, p, p->noc, &h);
    while (p->noc ? h.x != x : h.y != y)
        hop(n, r, p, !p->noc, &h);
    uint64_t arrival = land(n, r, p, &h, way);
    /* The buffers along the route hold so many flits. The rest leaves the NIU as fast as the head is taken in. */
    uint64_t path = 2u * r->timing->noc_niu + h.hops * r->timing->noc_hop / 10 + (uint64_t)buffer_flits * (h.hops + 1);
    *stalled = arrival > path ? arrival - path : 0;
    return arrival;
}

/* ---- broadcast ---------------------------------------------------------------------------------------------- */

typedef struct tree {
    wg_network *n;
    const wg_route_params *r;
    const wg_packet *p;
    wg_listens_fn listens;
    wg_route_fn arrives;
    void *user;
    bool y_major;
} tree;

static bool wanted(unsigned at, unsigned start, unsigned end)
{
    return start <= end ? start <= at && at <= end : at <= end || start <= at;
}

static unsigned wanted_count(unsigned start, unsigned end, unsigned size)
{
    return start <= end ? end - start + 1 : size - start + end + 1;
}

/*
 * NOC_BRCST_EXCLUDE   1..0 x keep, 3..2 x skip, 5..4 y keep, 7..6 y skip: of so many tiles, so many receive nothing
 *                     13..8 x, 19..14 y of a corner, 20, 21 which way its quadrant opens, 22 the quadrant is left out
 * Facts: bits from the public dataflow interface, meaning from HostToDeviceTLBs.md, whose windows have the same fields.
 * Decided here: coordinates are compared as they are also where the rectangle goes round the edge.
 */
bool wg_broadcast_excludes(const wg_floorplan *f, const wg_packet *p, unsigned x, unsigned y)
{
    uint32_t e = p->exclude;
    unsigned keep_x = e & 3, skip_x = e >> 2 & 3, keep_y = e >> 4 & 3, skip_y = e >> 6 & 3;
    if (keep_x && skip_x && (x + f->width - p->x0) % f->width % (keep_x + skip_x) >= keep_x)
        return true;
    if (keep_y && skip_y && (y + f->height - p->y0) % f->height % (keep_y + skip_y) >= keep_y)
        return true;
    unsigned corner_x = e >> 8 & 63, corner_y = e >> 14 & 63;
    return e >> 22 & 1 && (e >> 20 & 1 ? x >= corner_x : x <= corner_x) &&
           (e >> 21 & 1 ? y >= corner_y : y <= corner_y);
}

static void fill(const tree *t, head h)
{
    const wg_packet *p = t->p;
    unsigned start = t->y_major ? p->y0 : p->x0, end = t->y_major ? p->y1 : p->x1;
    unsigned left = wanted_count(start, end, t->y_major ? t->r->plan->height : t->r->plan->width);
    for (;;) {
        if (wanted(t->y_major ? h.y : h.x, start, end)) {
            uint16_t tile = (uint16_t)tile_of(t->r, p->noc, &h);
            if (tile != p->from && !wg_broadcast_excludes(t->r->plan, p, h.x, h.y) && t->listens(t->user, tile)) {
                wg_way way;
                uint64_t cycle = land(t->n, t->r, p, &h, &way);
                t->arrives(t->user, tile, cycle, way);
            }
            if (--left == 0)
                return;
        }
        hop(t->n, t->r, p, t->y_major, &h);
    }
}

void wg_route_broadcast(wg_network *n, const wg_route_params *r, const wg_packet *p, wg_listens_fn listens,
                        wg_route_fn arrives, void *user)
{
    tree t = {n, r, p, listens, arrives, user, p->flags & WG_PACKET_Y_MAJOR};
    unsigned w = r->plan->width, height = r->plan->height;
    if (p->x0 >= w || p->x1 >= w || p->y0 >= height || p->y1 >= height)
        return;
    unsigned sx = wanted_count(p->x0, p->x1, w), sy = wanted_count(p->y0, p->y1, height);
    uint64_t reserve = 0;
    if (p->flags & WG_PACKET_RESERVE) {
        /*
         * Decided here: all routers grant the path before the packet leaves, which takes the way to the far corner
         * and back.
         */
        unsigned x = p->from % w, y = p->from / w;
        x = p->noc ? w - 1 - x : x;
        y = p->noc ? height - 1 - y : y;
        unsigned hops = (p->x0 + w - x) % w + sx - 1 + (p->y0 + height - y) % height + sy - 1;
        reserve = 2u * hops * r->timing->noc_hop / 10;
    }
    head h = start_of(n, r, p, r->delay + reserve);
    unsigned start = t.y_major ? p->y0 : p->x0, end = t.y_major ? p->y1 : p->x1;
    while (!wanted(t.y_major ? h.y : h.x, start, end))
        hop(n, r, p, t.y_major, &h);
    unsigned minor_start = t.y_major ? p->x0 : p->y0, minor_end = t.y_major ? p->x1 : p->y1, left = t.y_major ? sx : sy;
    for (;;) {
        if (wanted(t.y_major ? h.x : h.y, minor_start, minor_end)) {
            fill(&t, h);
            if (--left == 0)
                return;
        }
        hop(n, r, p, !t.y_major, &h);
    }
}
