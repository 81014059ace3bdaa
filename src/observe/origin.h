/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The origin of data: a log of every read and write of L1, Dst, SrcA, SrcB, LRegs and GPRs, of every write of configuration
 * and semaphores, and of packets; and the search from a location back to its writer, and to the writer's inputs.
 */
#ifndef WG_ORIGIN_H
#define WG_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <waitgate/waitgate.h>

/* A touch of data. Locations count as in wg_touch_space; a mask of LRegs or semaphores is a run of bits. */
typedef struct wg_data_touch {
    uint64_t cycle, id;
    uint32_t first, count; /* configuration: one word, and the mask of bits */
    uint32_t pc, word;
    uint8_t space, agent, thread;
    bool reads, writes;
    bool buffered; /* a packer's: a later one takes it to L1 */
} wg_data_touch;

/* A packet that left this tile, or arrived. */
typedef struct wg_data_packet {
    uint64_t cycle, transaction;
    uint64_t there; /* sent: the address at the recipient; arrived: the address here */
    uint64_t here;  /* sent: the address of its data here */
    uint32_t bytes;
    uint16_t tile; /* sent: the recipient; arrived: the sender */
    uint8_t kind;  /* wg_packet_kind */
    uint8_t agent;
    bool sent;
} wg_data_packet;

enum {
    WG_ORIGIN_TOUCHES = 6 << 20, /* capacity; of a longer run the latest are kept */
    WG_ORIGIN_PACKETS = 1 << 20,
    WG_ORIGIN_LANES = 4
};

typedef struct wg_origin {
    wg_data_touch *touch;
    size_t count, room;
    wg_data_packet *packet;
    size_t packets, packet_room;
    uint64_t begins; /* earlier touches have been dropped */
    bool failed;     /* out of memory */
} wg_origin;
#define WG_ORIGIN_EVENTS (WG_EV_BIT(WG_EV_TOUCH) | WG_EV_BIT(WG_EV_NOC_SENT) | WG_EV_BIT(WG_EV_NOC_ARRIVED))

void wg_origin_event(void *origin, const wg_event *e);
void wg_origin_free(wg_origin *o);
/* The first touch at or after a cycle. */
size_t wg_origin_at(const wg_origin *o, uint64_t cycle);

/*
 * The writes before touch `before` that produced the present contents of [first, first + count), the latest first:
 * calls `found` with each write and its part of the location, and with SIZE_MAX for unwritten parts. An instruction of
 * the Vector Unit may leave lanes of an LReg, or columns of a row of Dst, unchanged: earlier writes count, too, up to
 * WG_ORIGIN_LANES of them. A word of configuration (count 1) may come from several writes of some of its bits.
 */
void wg_origin_writers(const wg_origin *o, unsigned space, uint32_t first, uint32_t count, size_t before,
                       void (*found)(void *user, size_t touch, uint32_t first, uint32_t count), void *user);
/* Calls `found` with each read of the instruction that made this write. */
void wg_origin_reads(const wg_origin *o, size_t write, void (*found)(void *user, size_t touch), void *user);
/* The packet whose data a NIU wrote to L1 in this touch; NULL: not known. */
const wg_data_packet *wg_origin_arrival(const wg_origin *o, size_t write);
/* The packet that this tile sent in a transaction: its answer or its request; NULL: not known. */
const wg_data_packet *wg_origin_sent(const wg_origin *o, uint64_t transaction, bool answer, uint64_t before);

#endif
