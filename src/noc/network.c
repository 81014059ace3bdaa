/* SPDX-License-Identifier: Apache-2.0 */
/* Bookings of links, and broadcasts; see network.h. */
#include "noc/router.h"

#include <string.h>

uint64_t wg_link_gap(const wg_link *l, uint64_t at, uint32_t flits)
{
    for (unsigned i = 0; i < l->spans; i++) {
        if (at + flits <= l->span[i].from)
            break;
        if (at < l->span[i].to)
            at = l->span[i].to;
    }
    return at;
}

uint64_t wg_link_take(wg_link *l, uint64_t at, uint32_t flits, uint64_t now)
{
    unsigned gone = 0;
    while (gone < l->spans && l->span[gone].to <= now)
        gone++;
    if (gone == l->spans) { /* nothing is booked */
        l->span[0].from = at;
        l->span[0].to = at + flits;
        l->spans = 1;
        return at;
    }
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
                return wg_link_take(l, l->span[0].to, flits, now);
            i = i ? i - 1 : 0;
        }
        memmove(l->span + i + 1, l->span + i, (l->spans - i) * sizeof *l->span);
        l->span[i].from = at;
        l->span[i].to = at + flits;
        l->spans++;
    }
    return at;
}

/* ---- broadcast ---------------------------------------------------------------------------------------------- */

/* A head in flight: its place, cycle and number of hops. */
typedef struct head {
    uint64_t at;
    uint64_t waited; /* cycles spent waiting for busy links */
    wg_place place;
    unsigned hops;
} head;

/* What a walk over the tree does. */
typedef enum walk { SENDS, LOOKS, TAKES_PATH, GIVES_PATH } walk;

typedef struct tree {
    wg_network *n;
    const wg_network_env *env;
    const wg_packet *p;
    walk walk;
    uint32_t flits;
    uint64_t begin, last;
    bool y_major, full;
} tree;

static uint64_t take(tree *t, const head *h, unsigned link)
{
    unsigned index = wg_link_index(t->p->noc, wg_place_tile(t->env->plan, t->p->noc, h->place), link);
    uint8_t *paths = &t->n->paths[index];
    if (t->walk != SENDS && link == WG_LINK_NIU) /* only links between routers are reserved */
        return h->at;
    switch (t->walk) {
    case SENDS: return wg_link_take(&t->n->link[index], h->at, t->flits, t->begin);
    case LOOKS: t->full |= *paths >= WG_LINK_PATHS; break;
    case TAKES_PATH: ++*paths; break;
    case GIVES_PATH: *paths = (uint8_t)(*paths - (*paths > 0)); break;
    }
    return h->at;
}

static void hop(tree *t, bool along_y, head *h)
{
    uint64_t free = take(t, h, along_y ? WG_LINK_Y : WG_LINK_X);
    h->waited += free - h->at;
    h->at = free + wg_hop_cycles(t->env->timing, h->hops++);
    h->place = wg_place_after(t->env->plan, h->place, along_y);
}

static void land(tree *t, uint16_t tile, const head *h)
{
    uint64_t free = take(t, h, WG_LINK_NIU), cycle = free + t->env->timing->noc_niu + t->flits - 1;
    if (t->walk != SENDS)
        return;
    t->last = cycle > t->last ? cycle : t->last;
    t->env->arrives(t->env->user, t->p, tile, cycle, (wg_way){h->hops, (uint32_t)(h->waited + free - h->at)});
}

static bool wanted(unsigned at, unsigned start, unsigned end)
{
    return start <= end ? start <= at && at <= end : at <= end || start <= at;
}

static unsigned wanted_count(unsigned start, unsigned end, unsigned size)
{
    return start <= end ? end - start + 1 : size - start + end + 1;
}

/*
 * NOC_BRCST_EXCLUDE   1..0 x keep, 3..2 x skip, 5..4 y keep, 7..6 y skip: out of this many tiles, this many are skipped
 *                     13..8 x, 19..14 y of a corner, 20, 21 direction of its quadrant, 22 the quadrant is excluded
 * Facts: bits from the public dataflow interface, meaning from HostToDeviceTLBs.md, whose windows have the same fields.
 * Decided here: coordinates are compared unchanged even where the rectangle wraps around the edge.
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

static void fill(tree *t, head h)
{
    const wg_packet *p = t->p;
    unsigned start = t->y_major ? p->y0 : p->x0, end = t->y_major ? p->y1 : p->x1;
    unsigned left = wanted_count(start, end, t->y_major ? t->env->plan->height : t->env->plan->width);
    for (;;) {
        if (wanted(t->y_major ? h.place.y : h.place.x, start, end)) {
            uint16_t tile = wg_place_tile(t->env->plan, p->noc, h.place);
            bool excluded = wg_broadcast_excludes(t->env->plan, p, h.place.x, h.place.y);
            if (tile == p->from) {
                if (p->flags & WG_PACKET_TO_SELF && !excluded) /* the sender delivers it */
                    take(t, &h, WG_LINK_NIU);
            } else if (!excluded && t->env->listens(t->env->user, tile)) {
                land(t, tile, &h);
            }
            if (--left == 0)
                return;
        }
        hop(t, t->y_major, &h);
    }
}

static bool inside(const wg_floorplan *f, const wg_packet *p)
{
    return p->x0 < f->width && p->x1 < f->width && p->y0 < f->height && p->y1 < f->height;
}

/*
 * All routers grant the path before the packet leaves, which takes the time to the far corner and back; the next packet
 * requests its path after this one has left. The packets of a linked transaction use the path of the first. Measured:
 * src/arch/bh.c.
 */
uint64_t wg_broadcast_reserves(const wg_network_env *env, const wg_packet *p)
{
    const wg_floorplan *f = env->plan;
    if (!(p->flags & WG_PACKET_RESERVE) || !inside(f, p))
        return 0;
    wg_place from = wg_place_of(f, p->noc, p->from);
    unsigned hops = (p->x0 + f->width - from.x) % f->width + wanted_count(p->x0, p->x1, f->width) - 1 +
                    (p->y0 + f->height - from.y) % f->height + wanted_count(p->y0, p->y1, f->height) - 1;
    return 2u * hops * env->timing->noc_reserve / 10 + env->timing->noc_niu;
}

static void visit(tree *t)
{
    const wg_floorplan *plan = t->env->plan;
    const wg_packet *p = t->p;
    t->y_major = p->flags & WG_PACKET_Y_MAJOR;
    if (!inside(plan, p))
        return;
    head h = {.at = t->begin, .place = wg_place_of(plan, p->noc, p->from)};
    unsigned start = t->y_major ? p->y0 : p->x0, end = t->y_major ? p->y1 : p->x1;
    while (!wanted(t->y_major ? h.place.y : h.place.x, start, end))
        hop(t, t->y_major, &h);
    unsigned minor_start = t->y_major ? p->x0 : p->y0, minor_end = t->y_major ? p->x1 : p->y1,
             left = wanted_count(minor_start, minor_end, t->y_major ? plan->width : plan->height);
    for (;;) {
        if (wanted(t->y_major ? h.place.x : h.place.y, minor_start, minor_end)) {
            fill(t, h);
            if (--left == 0)
                return;
        }
        hop(t, !t->y_major, &h);
    }
}

uint64_t wg_broadcast(wg_network *n, const wg_network_env *env, const wg_packet *p, uint32_t flits, uint64_t at)
{
    tree t = {.n = n, .env = env, .p = p, .walk = SENDS, .flits = flits, .begin = at, .last = at};
    visit(&t);
    return t.last;
}

bool wg_broadcast_path_free(wg_network *n, const wg_network_env *env, const wg_packet *p)
{
    tree t = {.n = n, .env = env, .p = p, .walk = LOOKS};
    visit(&t);
    return !t.full;
}

void wg_broadcast_path_take(wg_network *n, const wg_network_env *env, const wg_packet *p)
{
    visit(&(tree){.n = n, .env = env, .p = p, .walk = TAKES_PATH});
}

void wg_broadcast_path_give(wg_network *n, const wg_network_env *env, const wg_packet *p)
{
    visit(&(tree){.n = n, .env = env, .p = p, .walk = GIVES_PATH});
}
