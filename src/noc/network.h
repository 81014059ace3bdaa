/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routers and links of both NoCs: which way a packet goes, and when it arrives.
 *
 *          │ y                NoC 0 flows right and down, NoC 1 left and up, each round the edges. A unicast packet
 *     ──> router ──> x        turns once: NoC 0 goes along x first, NoC 1 along y. A broadcast covers its rectangle
 *          │  \              as a tree.
 *          v   NIU
 *
 * A packet's head goes from router to router and waits in each, in the queue of the link and virtual channel by which it
 * came, until it is granted the link that it needs and that link's virtual channel. It keeps the channel until its last
 * flit has passed. A router has room for few flits: a packet that waits stays on the links behind it, and so keeps their
 * channel from others (wormhole switching). Queues that want the same link are served in turn, a packet each.
 *
 * Time is a calendar of events: a head arrives, a link is granted, a tail has passed. The order within a cycle follows from
 * places alone, so that it does not matter when the events were put in.
 *
 * Facts: NoC/README.md (latencies, virtual channels), RoutingPaths.md, timing.md "NoC and DRAM". Decided here: a link
 * that carries two channels carries whole packets in turn instead of their flits; responses and requests without a static
 * channel keep buddy bit 0; broadcasts take links as soon as they are free of packets and wait for no channel.
 */
#ifndef WG_NETWORK_H
#define WG_NETWORK_H

#include "arch/arch.h"
#include "noc/calendar.h"
#include "noc/floorplan.h"
#include "machine/packet.h"

enum { WG_LINK_X, WG_LINK_Y, WG_LINK_NIU, WG_LINKS }; /* out of a router; as ways into it, from the NIU */
enum {
    WG_LINK_SPANS = 12,
    WG_LINK_COUNT = 2 * WG_GRID_MAX_TILES * WG_LINKS,
    WG_LINK_CHANNELS = 16, /* dateline bit, two class bits, buddy bit */
    WG_FLIGHTS = 1 << 13,
    WG_FLIGHT_GRANTS = 32, /* the links that the longest packet can lie on, and more */
    WG_ROOM_ANY = UINT16_MAX
};

/* One virtual channel of a link. */
typedef struct wg_channel {
    uint64_t arrival;     /* of the last head that was granted it */
    uint16_t first, last; /* the packets that came by it and wait in the router behind it; 0: none */
    uint16_t filled;      /* flits that have been granted it and have not left that router */
    uint8_t last_at;      /* which of the last packet's links this is */
    uint8_t held;         /* by a packet whose tail has not passed */
} wg_channel;

/* A link: bookings in order, of which past ones are dropped, and who waits for it. */
typedef struct wg_link {
    struct {
        uint64_t from, to;
    } span[WG_LINK_SPANS];
    wg_channel channel[WG_LINK_CHANNELS];
    uint64_t waiting; /* bit 16 * way + channel: the first packet of that queue of this router wants the link */
    uint64_t due;     /* when it will be looked at; UINT64_MAX: not yet known */
    uint8_t spans;
    uint8_t last_class,
        last[4];   /* of virtual channels: that of the last packet, and the last queue of each that was served */
    uint16_t room; /* to a NIU: packets that it can take in */
} wg_link;

/* A packet under way. */
typedef struct wg_flight {
    wg_packet p;
    uint64_t since;                   /* in this router, or on its way into it, since then */
    uint64_t grant[WG_FLIGHT_GRANTS]; /* link by link: when */
    uint16_t link[WG_FLIGHT_GRANTS];  /* … which */
    uint16_t next[WG_FLIGHT_GRANTS];  /* … and who waits behind it in the router there */
    uint8_t channel[WG_FLIGHT_GRANTS];
    uint32_t flits, waited;
    uint32_t takes;  /* cycles for which it keeps the link to the recipient's NIU */
    uint16_t tile;   /* the router */
    uint8_t granted; /* links; the first leads from the NIU to its router */
    uint8_t settled,
        passed; /* those of which it is known when the tail passes, those behind the first that it has passed */
    uint8_t way, wanted; /* into the router, out of it */
    uint8_t hops, gone;  /* routers so far; the head has left the network */
} wg_flight;

typedef struct wg_network {
    wg_link link[WG_LINK_COUNT];                            /* [(noc * tiles + tile) * WG_LINKS + link] */
    wg_channel niu[2][WG_GRID_MAX_TILES][WG_LINK_CHANNELS]; /* from a NIU into its router */
    uint64_t departure[2][WG_GRID_MAX_TILES];               /* a NIU's packets enter their router in order */
    uint16_t broadcast[2][WG_GRID_MAX_TILES][2];            /* on their way from a NIU to its router: first, last */
    wg_calendar events;
    uint16_t flights_used, flights_unused, flights; /* ever used, list of those given back, under way */
    wg_flight flight[WG_FLIGHTS];                   /* from 1 on */
} wg_network;

/* A packet's route: links, and the cycles for which it waited for busy ones. */
typedef struct wg_way {
    uint32_t hops, waited;
} wg_way;

typedef struct wg_network_env {
    const wg_floorplan *plan;
    const wg_timing *timing;
    uint32_t flit_bytes, buffer_flits; /* of one packet in one router */
    uint32_t capacity; /* flits between a grant and the next: in the link's stages, and in that buffer */
    void *user;
    /* The last flit of the packet arrives at the tile in this cycle. */
    void (*arrives)(void *user, const wg_packet *p, uint16_t tile, uint64_t cycle, wg_way way);
    /* All that was to arrive of the packet has: its data is not needed after this cycle. */
    void (*done)(void *user, const wg_packet *p, uint64_t cycle);
    /* A NIU learns in cycle `at` that its packet has left it, or will have by cycle `free`. */
    void (*left)(void *user, const wg_packet *p, uint64_t at, uint64_t free);
    /* Cycles in which the tile's NIU takes the packet in, if that is more than its flits. */
    uint32_t (*takes)(void *user, const wg_packet *p, uint16_t tile);
    /* Does the tile take part in broadcasts? */
    bool (*listens)(void *user, uint16_t tile);
} wg_network_env;

/* A packet leaves its NIU in cycle p->at. False: there is no place for it. */
bool wg_network_send(wg_network *n, const wg_network_env *env, const wg_packet *p);
/* The next cycle in which something happens; UINT64_MAX: none. */
static inline uint64_t wg_network_next(const wg_network *n) { return n->events.first; }
/* All that happens in that cycle. */
void wg_network_step(wg_network *n, const wg_network_env *env);
/* From cycle `at` on the tile can take in one packet more. */
void wg_network_room(wg_network *n, unsigned noc, unsigned tile, uint64_t at);
/* The network is all zero: empty. room[tile]: packets that its NIUs can take in; WG_ROOM_ANY: as many as come. */
void wg_network_reset(wg_network *n, const uint16_t *room);

/* Does NOC_BRCST_EXCLUDE take the tile at (x, y), in coordinates of the packet's NoC, out of its rectangle? */
bool wg_broadcast_excludes(const wg_floorplan *f, const wg_packet *p, unsigned x, unsigned y);
/* Flits that a NIU can have sent without knowing that its router has passed them on. */
static inline uint32_t wg_niu_ahead(const wg_timing *timing, uint32_t buffer_flits)
{
    return timing->noc_niu + buffer_flits;
}
/* What leaves a NIU has an effect on another, or on when the next packet can leave it, so many cycles later at the
 * earliest. */
static inline uint64_t wg_route_least(const wg_timing *timing) { return 2u * timing->noc_niu; }

#endif
