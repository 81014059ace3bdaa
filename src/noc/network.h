/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routers and links of both NoCs: a packet's route and its time of arrival.
 *
 *          │ y                NoC 0 flows right and down, NoC 1 left and up, both wrap around. A unicast packet
 *     ──> router ──> x        turns once: NoC 0 goes along x first, NoC 1 along y. A broadcast covers its rectangle
 *          │  \              as a tree.
 *          v   NIU
 *
 * A packet's head moves from router to router. In each it waits, in the queue of the link and virtual channel it came by, for
 * a grant of the next link and that link's virtual channel. It holds the channel until its last flit has passed. A router
 * buffers few flits: a stalled packet occupies the links behind it and blocks their channel (wormhole switching). Queues that
 * request the same link are served round-robin, one packet each.
 *
 * A broadcast reserves its tree before it leaves. Each link carries at most two reservations, one for each virtual channel of
 * broadcasts. A broadcast that does not get all of its links waits, and is granted them in the order of requests. The
 * reservation ends when the tail has left the NIU; that of a linked transaction, when its last packet's tail has.
 *
 * Time is a calendar of events: a head arrives, a link is granted, a tail has passed. The order within a cycle depends only
 * on places, not on the order of insertion.
 *
 * Facts: NoC/README.md (latencies, virtual channels), RoutingPaths.md, docs/timing_constants.md. Decided here: a link shared
 * by two channels interleaves whole packets, not flits; responses and requests without a static channel keep buddy bit 0;
 * broadcasts take links as soon as these carry no packet and wait for no other channel; a reservation that fails is not
 * tried again after a random time, as NoC/README.md has it, but granted as soon as its links are free. Two reservations of a
 * link, and how long they last: measured on 48 rows of up to eleven tiles that send 64 or 256 multicasts each.
 */
#ifndef WG_NETWORK_H
#define WG_NETWORK_H

#include "arch/arch.h"
#include "noc/calendar.h"
#include "noc/floorplan.h"
#include "machine/packet.h"

enum {
    WG_LINK_X,
    WG_LINK_Y,
    WG_LINK_NIU,
    WG_LINKS
}; /* the links out of a router; as inputs, NIU is the one from its NIU */
enum {
    WG_LINK_SPANS = 12,
    WG_LINK_COUNT = 2 * WG_GRID_MAX_TILES * WG_LINKS,
    WG_LINK_CHANNELS = 16, /* dateline bit, two class bits, buddy bit */
    WG_FLIGHTS = 1 << 13,
    WG_FLIGHT_GRANTS = 32, /* more links than the longest packet can occupy */
    WG_LINK_PATHS = 2,     /* reservations of a link by broadcasts */
    WG_ROOM_ANY = UINT16_MAX
};

/* One virtual channel of a link. */
typedef struct wg_channel {
    uint64_t arrival;     /* of the last head granted this channel */
    uint16_t first, last; /* the packets that came by it and wait in the router at its end; 0: none */
    uint16_t filled;      /* granted flits that have not left that router */
    uint8_t last_at;      /* which of the last packet's links this is */
    uint8_t held;         /* by a packet whose tail has not passed */
} wg_channel;

/* A link: its bookings in order (past ones are dropped), and the queues that request it. */
typedef struct wg_link {
    struct {
        uint64_t from, to;
    } span[WG_LINK_SPANS];
    wg_channel channel[WG_LINK_CHANNELS];
    uint64_t waiting; /* bit 16 * way + channel: the first packet of that queue of this router requests the link */
    uint64_t due;     /* when it is arbitrated next; UINT64_MAX: not yet known */
    uint8_t spans;
    uint8_t last_class,
        last[4];   /* class of virtual channels: that of the last packet, and the last queue served of each */
    uint16_t room; /* of a link to a NIU: packets that the NIU can accept */
} wg_link;

/* The reservation of a broadcast's tree: none, requested, in the list of those that wait, granted. */
typedef enum wg_reservation {
    WG_RESERVATION_NONE,
    WG_RESERVATION_ASKED,
    WG_RESERVATION_WAITS,
    WG_RESERVATION_HELD
} wg_reservation;

/* A packet in flight. */
typedef struct wg_flight {
    wg_packet p;
    uint64_t since;                   /* in this router, or on its way to it, since this cycle */
    uint64_t grant[WG_FLIGHT_GRANTS]; /* per link: when granted */
    uint16_t link[WG_FLIGHT_GRANTS];  /* … which link */
    uint16_t next[WG_FLIGHT_GRANTS];  /* … and the next flight in the router's queue there */
    uint8_t channel[WG_FLIGHT_GRANTS];
    uint32_t flits, waited;
    uint32_t takes;          /* cycles for which it occupies the link to the recipient's NIU */
    uint16_t tile;           /* the router */
    uint8_t granted;         /* links; the first leads from the NIU to its router */
    uint8_t settled, passed; /* links whose passing time is known; links after the first that the tail has passed */
    uint8_t way, wanted;     /* link into the router, link out of it */
    uint8_t hops, gone;      /* routers so far; the head has left the network */
    uint8_t reservation;     /* a wg_reservation */
} wg_flight;

typedef struct wg_network {
    wg_link link[WG_LINK_COUNT];                            /* [(noc * tiles + tile) * WG_LINKS + link] */
    wg_channel niu[2][WG_GRID_MAX_TILES][WG_LINK_CHANNELS]; /* from a NIU into its router */
    uint64_t departure[2][WG_GRID_MAX_TILES];               /* a NIU's packets enter their router in order */
    uint16_t pending[2][WG_GRID_MAX_TILES]
                    [2];                   /* a NIU's requests, from a broadcast that has not left on: first, last */
    uint16_t waits[2][2];                  /* broadcasts that wait for their tree: first, last */
    uint16_t linked[2][WG_GRID_MAX_TILES]; /* the broadcast that reserved a linked transaction's tree */
    uint8_t paths[WG_LINK_COUNT];          /* reservations of each link between routers */
    wg_calendar events;
    uint16_t flights_used, flights_unused, flights; /* ever used, free list, in flight */
    wg_flight flight[WG_FLIGHTS];                   /* from 1 on */
} wg_network;

/* A packet's route: its links, and the cycles it waited for busy ones. */
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
    /* The packet has arrived everywhere: its data is not needed after this cycle. */
    void (*done)(void *user, const wg_packet *p, uint64_t cycle);
    /* A NIU learns in cycle `at` that its packet has left it, or will have by cycle `free`. */
    void (*left)(void *user, const wg_packet *p, uint64_t at, uint64_t free);
    /* Cycles that the tile's NIU needs to accept the packet, if that exceeds its number of flits. */
    uint32_t (*takes)(void *user, const wg_packet *p, uint16_t tile);
    /* Does the tile take part in broadcasts? */
    bool (*listens)(void *user, uint16_t tile);
} wg_network_env;

/* A packet leaves its NIU in cycle p->at. False: too many packets are in flight. */
bool wg_network_send(wg_network *n, const wg_network_env *env, const wg_packet *p);
/* The next cycle with an event; UINT64_MAX: none. */
static inline uint64_t wg_network_next(const wg_network *n) { return n->events.first; }
/* Executes all events of that cycle. */
void wg_network_step(wg_network *n, const wg_network_env *env);
/* From cycle `at` on, the tile can accept one more packet. */
void wg_network_room(wg_network *n, unsigned noc, unsigned tile, uint64_t at);
/* The network is all zero: empty. room[tile]: packets that its NIUs can accept; WG_ROOM_ANY: any number. */
void wg_network_reset(wg_network *n, const uint16_t *room);

/* Does NOC_BRCST_EXCLUDE exclude the tile at (x, y), in coordinates of the packet's NoC, from its rectangle? */
bool wg_broadcast_excludes(const wg_floorplan *f, const wg_packet *p, unsigned x, unsigned y);
/* Flits that a NIU can send before it learns that its router has forwarded them. */
static inline uint32_t wg_niu_ahead(const wg_timing *timing, uint32_t buffer_flits)
{
    return timing->noc_niu + buffer_flits;
}
/* The least number of cycles after which a packet that leaves a NIU affects another NIU, or the departure of the next packet. */
static inline uint64_t wg_route_least(const wg_timing *timing) { return 2u * timing->noc_niu; }

#endif
