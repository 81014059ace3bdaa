/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the network: bookings of links, and the place of a head. */
#ifndef WG_ROUTER_H
#define WG_ROUTER_H

#include "noc/network.h"

/* The first cycle from `at` on that starts this many free cycles. */
uint64_t wg_link_gap(const wg_link *l, uint64_t at, uint32_t flits);
/* Books those cycles. `now`: no later call asks for an earlier time. Returns the first. */
uint64_t wg_link_take(wg_link *l, uint64_t at, uint32_t flits, uint64_t now);

static inline unsigned wg_link_index(unsigned noc, unsigned tile, unsigned link)
{
    return (noc * WG_GRID_MAX_TILES + tile) * WG_LINKS + link;
}

/* A place in coordinates of its NoC, and the tile there. */
typedef struct wg_place {
    unsigned x, y;
} wg_place;
static inline wg_place wg_place_of(const wg_floorplan *f, unsigned noc, unsigned tile)
{
    unsigned x = tile % f->width, y = tile / f->width;
    return noc ? (wg_place){f->width - 1u - x, f->height - 1u - y} : (wg_place){x, y};
}
static inline uint16_t wg_place_tile(const wg_floorplan *f, unsigned noc, wg_place p)
{
    return (uint16_t)(noc ? (f->height - 1u - p.y) * f->width + f->width - 1u - p.x : p.y * f->width + p.x);
}
/* The next router along an axis. */
static inline wg_place wg_place_after(const wg_floorplan *f, wg_place p, bool along_y)
{
    if (along_y)
        p.y = (p.y + 1) % f->height;
    else
        p.x = (p.x + 1) % f->width;
    return p;
}
/* Cycles of the hop that follows `hops` others: tenths of cycles add up along the route. */
static inline uint64_t wg_hop_cycles(const wg_timing *timing, unsigned hops)
{
    return (hops + 1u) * timing->noc_hop / 10 - hops * timing->noc_hop / 10;
}

/* A broadcast's head is at its first router in cycle `at`: books its tree and calls `arrives`. Returns the last cycle. */
uint64_t wg_broadcast(wg_network *n, const wg_network_env *env, const wg_packet *p, uint32_t flits, uint64_t at);
/* Cycles from the request for a broadcast's tree until the broadcast leaves, if the tree is free. 0: it reserves none. */
uint64_t wg_broadcast_reserves(const wg_network_env *env, const wg_packet *p);
/* Does each link of the tree have room for another reservation? */
bool wg_broadcast_path_free(wg_network *n, const wg_network_env *env, const wg_packet *p);
void wg_broadcast_path_take(wg_network *n, const wg_network_env *env, const wg_packet *p);
void wg_broadcast_path_give(wg_network *n, const wg_network_env *env, const wg_packet *p);

#endif
