/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of a tile's NIUs, and the frames of its Ethernet link: the requester of each one sent, and the sender of each one
 * that arrived. The latest are kept: WG_PACKETS_KEPT of each list.
 */
#ifndef WG_PACKETS_H
#define WG_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/waitgate.h>

/* A request that left. */
typedef struct wg_sent {
    uint64_t cycle, transaction;
    uint32_t pc;  /* of the command */
    uint8_t core; /* WG_CORES: not a core's, or unknown */
    uint8_t noc;  /* WG_PACKETS_LINK: a frame, whose transaction is its number */
} wg_sent;

typedef struct wg_arrival {
    uint64_t cycle, left, transaction, address;
    uint32_t bytes, waited; /* waited: for links, in cycles */
    uint32_t end;           /* of a frame: the end of the link that it came from, as in WG_EV_LINK_ARRIVED */
    uint16_t sender;        /* y * width + x */
    uint8_t noc, kind;      /* kind: wg_packet_kind */
} wg_arrival;

enum { WG_PACKETS_KEPT = 1 << 18, WG_PACKETS_COMMANDS = 16, WG_PACKETS_LINK = 2, WG_PACKETS_QUEUES = 4 };
typedef struct wg_packets {
    wg_arch_id arch;
    uint16_t tile; /* its number: y * width + x */
    uint16_t chip; /* its number in a cluster */
    bool alone;    /* there are no other tiles */
    bool linked;   /* it has sent frames, */
    uint32_t end;  /* … from this end of its link */
    struct {
        uint32_t pc;
        uint8_t core;
    } ordered[WG_PACKETS_QUEUES]; /* the last transfers */
    bool failed;                  /* out of memory */
    wg_sent *sent;
    wg_arrival *arrival;
    size_t sents, sent_room, arrivals, arrival_room;
    struct {
        uint32_t pc;
        uint8_t core;
    } command[2][WG_PACKETS_COMMANDS]; /* given, but not sent yet */
    unsigned first[2], commands[2];
    uint64_t bytes_sent[2], bytes_arrived[2], packets_sent[2], waited[2]; /* of data; for links */
} wg_packets;
#define WG_PACKETS_EVENTS \
    (WG_EV_BIT(WG_EV_CORE_RESPONSE) | WG_EV_BIT(WG_EV_NOC_SENT) | WG_EV_BIT(WG_EV_NOC_ARRIVED) | \
     WG_EV_BIT(WG_EV_LINK_COMMAND) | WG_EV_BIT(WG_EV_LINK_SENT) | WG_EV_BIT(WG_EV_LINK_ARRIVED))

void wg_packets_event(wg_packets *p, const wg_event *e);
void wg_packets_free(wg_packets *p);

bool wg_packet_is_answer(const wg_arrival *a);
/* Does it write this word of L1? */
bool wg_packet_writes(const wg_arrival *a, uint32_t address);
/* The frame of this number. */
const wg_sent *wg_packets_frame(const wg_packets *p, uint64_t number);
/* The request of this transaction that left at or before `latest`; NULL: unknown. */
const wg_sent *wg_packets_sent(const wg_packets *p, uint64_t transaction, uint64_t latest);
/* The arrival of this transaction. */
const wg_arrival *wg_packets_arrival(const wg_packets *p, uint64_t transaction, uint64_t latest);
/*
 * The last arrival in (after, latest] that ends a core's polling of `address`: an answer, if the address is a register
 * of a NIU, or the packet that wrote the word. NULL: none.
 */
const wg_arrival *wg_packets_ended(const wg_packets *p, uint32_t address, uint64_t after, uint64_t latest);
/* The NIU whose register this is: 0, 1, or 2 for none. */
unsigned wg_packets_niu(uint32_t address);

#endif
