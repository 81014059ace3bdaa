/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routers and links of both NoCs: which way a packet goes, and when it arrives.
 *
 *          │ y                NoC 0 flows right and down, NoC 1 left and up, each round the edges. A unicast packet
 *     ──> router ──> x        turns once: NoC 0 goes along x first, NoC 1 along y. A broadcast covers its rectangle
 *          │  \              as a tree.
 *          v   NIU
 *
 * A link carries one flit per cycle. A packet's flits follow each other; two packets on one link share it by going one
 * behind the other, where there is a gap. Packets are routed in the order in which they left their NIUs, but each takes
 * the first gap that is there when it comes by, so that one that left later and comes by earlier does not wait.
 *
 * Facts: NoC/README.md (latencies), RoutingPaths.md, timing.md "NoC and DRAM". Virtual channels: a link is shared by
 * packets whatever their channels are. Nothing that keeps to one path overtakes.
 */
#ifndef WG_NETWORK_H
#define WG_NETWORK_H

#include "arch/arch.h"
#include "noc/floorplan.h"
#include "machine/packet.h"

enum { WG_LINK_X, WG_LINK_Y, WG_LINK_NIU, WG_LINKS }; /* out of a router */
enum { WG_LINK_SPANS = 12 };

/* A link's bookings, in order. Past ones are dropped. */
typedef struct wg_link {
    struct {
        uint64_t from, to;
    } span[WG_LINK_SPANS];
    uint8_t spans;
} wg_link;

typedef struct wg_network {
    wg_link link[2][WG_GRID_MAX_TILES][WG_LINKS];
    uint64_t departure[2][WG_GRID_MAX_TILES]; /* a NIU's packets enter their router in order */
} wg_network;

typedef struct wg_route_params {
    const wg_floorplan *plan;
    const wg_timing *timing;
    uint32_t flits;
    uint64_t delay; /* delay by perturbation before it enters its router */
} wg_route_params;

/* A packet's route: links, and the cycles for which it waited for busy ones. */
typedef struct wg_way {
    uint32_t hops, waited;
} wg_way;
/*
 * Returns the cycle in which the last flit arrives. *stalled: the cycle before which full buffers keep its end in the
 * NIU.
 */
uint64_t wg_route_unicast(wg_network *n, const wg_route_params *r, uint32_t buffer_flits, const wg_packet *p,
                          uint64_t *stalled, wg_way *way);
/* Calls `arrives` for each tile of the rectangle but the sender, with its number and the cycle. */
typedef void (*wg_route_fn)(void *user, uint16_t tile, uint64_t cycle, wg_way way);
typedef bool (*wg_listens_fn)(void *user, uint16_t tile);
void wg_route_broadcast(wg_network *n, const wg_route_params *r, const wg_packet *p, wg_listens_fn listens,
                        wg_route_fn arrives, void *user);
/* Does NOC_BRCST_EXCLUDE take the tile at (x, y), in coordinates of the packet's NoC, out of its rectangle? */
bool wg_broadcast_excludes(const wg_floorplan *f, const wg_packet *p, unsigned x, unsigned y);
/* The shortest time from leaving one NIU to arriving at another. */
uint64_t wg_route_least(const wg_timing *timing);

#endif
