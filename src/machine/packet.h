/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets on a NoC, and a tile's storage for them.
 *
 *     request initiators ─┐                                   ┌─> outbox ──> routed by the grid ──> another's inbox
 *                         ├─> the link to the router (in turn)┤
 *     answers ────────────┘                                   └─> own inbox, if it goes to the tile itself
 *
 * A packet leaves with its data: from then on software may reuse the source. The data stays in a ring of the sending
 * NIU until the last recipient has taken it.
 *
 * Facts: NoC/README.md, MemoryMap.md, Counters.md of each architecture.
 */
#ifndef WG_PACKET_H
#define WG_PACKET_H

#include <stdbool.h>
#include <stdint.h>

typedef enum wg_packet_kind {
    WG_PACKET_READ,
    WG_PACKET_WRITE,
    WG_PACKET_INLINE,
    WG_PACKET_ATOMIC,
    WG_PACKET_DATA,  /* the answer to a read */
    WG_PACKET_ACK,   /* the answer to a write */
    WG_PACKET_RESULT /* the answer to an atomic request */
} wg_packet_kind;

typedef enum wg_packet_flags {
    WG_PACKET_ANSWER = 1,    /* the recipient answers */
    WG_PACKET_BROADCAST = 2, /* to the rectangle */
    WG_PACKET_Y_MAJOR = 4,
    WG_PACKET_TO_SELF = 8,       /* a broadcast that the sender receives, too */
    WG_PACKET_RESERVE = 16,      /* the whole tree is reserved before it leaves */
    WG_PACKET_BYTES = 32,        /* mask says which bytes */
    WG_PACKET_HEADER_STORE = 64, /* the first 16 bytes go to data << 4 as well */
    WG_PACKET_LINKED = 128,      /* the next request belongs to the same transaction */
    WG_PACKET_TO_STREAM = 256,   /* a write that is announced to an overlay stream of the recipient … */
    WG_PACKET_FIRST = 512,       /* … the first packet of a message */
    WG_PACKET_LAST = 1024        /* … the last one */
} wg_packet_flags;

/* Who gave the command of a request. */
typedef struct wg_asker {
    uint32_t pc;
    uint8_t agent; /* a core with this pc, or a NIU */
} wg_asker;

typedef struct wg_packet {
    uint64_t at;           /* when it leaves; in an inbox: when its last flit has arrived */
    uint64_t order;        /* among packets of one cycle */
    uint64_t address;      /* at the recipient */
    uint64_t back_address; /* where the answer is written */
    uint64_t mask;
    uint64_t transaction;   /* names a request and its answers: tile << 48 | NoC << 47 | number */
    uint32_t bytes;         /* of data, or wanted */
    uint32_t payload;       /* where the data is in the sender's ring */
    uint32_t data;          /* immediate; the result of an atomic request */
    uint32_t operation;     /* of an atomic request: NOC_AT_LEN_BE */
    uint32_t slot;          /* of the ring, to release it */
    uint32_t delay;         /* extra cycles before it enters the first router */
    uint16_t from, to;      /* tiles: y * width + x in NoC 0 coordinates */
    uint16_t back;          /* who gets the answer */
    uint16_t flags;         /* wg_packet_flags */
    uint8_t x0, y0, x1, y1; /* broadcast: start and end in NoC coordinates of this NoC */
    uint8_t kind, noc, tag, stream;
    uint8_t channel;       /* of a request, kept by its answer: 1 + static virtual channel; 0: hardware's choice */
    uint32_t exclude;      /* broadcast: NOC_BRCST_EXCLUDE */
    uint32_t hops, waited; /* in an inbox: links taken, and cycles spent waiting for them */
    uint64_t left;         /* in an inbox: when it left */
    wg_asker asker;        /* of the request, kept by its answer */
    uint32_t child, next;  /* links in heaps and queues; 0: none */
} wg_packet;

enum { WG_CHANNEL_LINKED = 9, WG_CHANNELS }; /* see wg_packet.channel */

enum {
    WG_NOC_RING = 128 * 1024, /* buffers on the longest path bound what a NIU can have in flight */
    WG_NOC_SLOTS = 1024,
    WG_NOC_POOL = 4096, /* packets in flight to a tile or waiting there for their answer to leave */
    WG_NOC_OUT = 128,   /* packets that leave in one window */
    WG_NOC_SLACK = 64   /* cycles after its last reader until a ring's place is reused: longer than any window */
};

/* Data of packets in flight, in the order in which they left. */
typedef struct wg_noc_ring {
    uint64_t first, end; /* bytes ever written, up to the oldest and to the end of the newest packet present */
    uint64_t first_slot, end_slot;
    struct {
        uint64_t start, until;
    } slot[WG_NOC_SLOTS]; /* until: its last reader's cycle; UINT64_MAX: not known */
    uint8_t bytes[WG_NOC_RING];
} wg_noc_ring;

/* A tile's packets. No pointers in here: it is copied into snapshots. */
typedef struct wg_noc_box {
    uint32_t used, unused;               /* pool entries ever used; list of those given back */
    uint32_t inbox[2];                   /* heaps, by NoC */
    uint32_t answers[2], last_answer[2]; /* queues */
    uint32_t outgoing;
    wg_packet out[WG_NOC_OUT];
    wg_packet pool[WG_NOC_POOL + 1]; /* from 1 on */
    wg_noc_ring ring[2];
} wg_noc_box;

/* Has any packet ever been here? If not, all of it is zero. */
static inline bool wg_noc_box_used(const wg_noc_box *box)
{
    return box->used || box->ring[0].end_slot || box->ring[1].end_slot || box->outgoing;
}

/* Takes an entry of a pool; 0 if none is left. */
uint32_t wg_box_take(wg_noc_box *box);
void wg_box_give(wg_noc_box *box, uint32_t entry);

/* Heaps by (at, order). */
void wg_heap_put(wg_packet *pool, uint32_t *root, uint32_t entry);
uint32_t wg_heap_take(wg_packet *pool, uint32_t *root);

/* Reserves room for a packet's data in cycle `now`; false: *retry is when to try again. */
bool wg_ring_take(wg_noc_ring *ring, uint32_t bytes, uint64_t now, uint32_t *payload, uint32_t *slot, uint64_t *retry);
void wg_ring_until(wg_noc_ring *ring, uint32_t slot, uint64_t cycle);

/* The flits of a packet: a header and its data. */
static inline uint32_t wg_packet_flits(const wg_packet *p, uint32_t flit_bytes)
{
    return p->kind == WG_PACKET_WRITE || p->kind == WG_PACKET_DATA ? 1 + (p->bytes + flit_bytes - 1) / flit_bytes : 1;
}
/* Cycles for which they keep a link, which pauses for one after this many (`pause`; 0: never). */
static inline uint32_t wg_packet_cycles(const wg_packet *p, uint32_t flit_bytes, uint32_t pause)
{
    uint32_t flits = wg_packet_flits(p, flit_bytes);
    return flits + (pause ? flits / pause : 0);
}

#endif
