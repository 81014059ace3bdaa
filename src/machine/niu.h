/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NIU of one tile on one NoC: requests that its initiators make, requests of others that it serves, and its
 * counters. It ticks in phase A (WG_AGENT_NIU0 and WG_AGENT_NIU1).
 */
#ifndef WG_NIU_H
#define WG_NIU_H

#include "machine/packet.h"
#include "machine/niu_regs.h"

struct wg_tile;

/* Offsets of registers; those in which the architectures differ are in a table. */
enum {
    WG_NIU_TARG_LO = 0x00,
    WG_NIU_TARG_MID = 0x04,
    WG_NIU_TARG_HI = 0x08,
    WG_NIU_RET_LO = 0x0C,
    WG_NIU_RET_MID = 0x10,
    WG_NIU_RET_HI = 0x14,
    WG_NIU_TAG = 0x18,
    WG_NIU_CTRL = 0x1C,
    WG_NIU_LEN_BE = 0x20,
    WG_NIU_CFG_0 = 0x100,
    WG_NIU_ROUTER_CFG_1 = 0x108,
    WG_NIU_ROUTER_CFG_3 = 0x110,
    WG_NIU_X_TABLE = 0x118,
    WG_NIU_COUNTERS = 0x200,
    WG_NIU_COUNTERS_END = 0x300,
    WG_NIU_RTZ_CFG = 0x178,
    WG_NIU_RTZ_CLR = 0x17C,
    WG_NIU_RTZ_NUM = 0x378,
    WG_NIU_RTZ_SOURCE = 0x37C /* BH */
};
typedef struct wg_niu_map {
    uint16_t len_be_1, data, exclude, command; /* of an initiator; 0: does not exist */
    uint16_t node_id, endpoint_id, clear, status;
    uint16_t y_table, logical, column_mask, row_mask, config_end;
} wg_niu_map;
const wg_niu_map *wg_niu_map_of(const struct wg_tile *t);

/* Counters.md: indices. */
typedef enum wg_niu_counter {
    WG_MST_ATOMIC_RESP_RECEIVED,
    WG_MST_WR_ACK_RECEIVED,
    WG_MST_RD_RESP_RECEIVED,
    WG_MST_RD_DATA_WORD_RECEIVED,
    WG_MST_CMD_ACCEPTED,
    WG_MST_RD_REQ_SENT,
    WG_MST_NONPOSTED_ATOMIC_SENT,
    WG_MST_POSTED_ATOMIC_SENT,
    WG_MST_NONPOSTED_WR_DATA_WORD_SENT,
    WG_MST_POSTED_WR_DATA_WORD_SENT,
    WG_MST_NONPOSTED_WR_REQ_SENT,
    WG_MST_POSTED_WR_REQ_SENT,
    WG_MST_NONPOSTED_WR_REQ_STARTED,
    WG_MST_POSTED_WR_REQ_STARTED,
    WG_MST_RD_REQ_STARTED,
    WG_MST_NONPOSTED_ATOMIC_STARTED,
    WG_MST_REQS_OUTSTANDING,
    WG_MST_WRITE_REQS_OUTGOING = 32,
    WG_SLV_ATOMIC_RESP_SENT = 48,
    WG_SLV_WR_ACK_SENT,
    WG_SLV_RD_RESP_SENT,
    WG_SLV_RD_DATA_WORD_SENT,
    WG_SLV_REQ_ACCEPTED,
    WG_SLV_RD_REQ_RECEIVED,
    WG_SLV_NONPOSTED_ATOMIC_RECEIVED,
    WG_SLV_POSTED_ATOMIC_RECEIVED,
    WG_SLV_NONPOSTED_WR_DATA_WORD_RECEIVED,
    WG_SLV_POSTED_WR_DATA_WORD_RECEIVED,
    WG_SLV_NONPOSTED_WR_REQ_RECEIVED,
    WG_SLV_POSTED_WR_REQ_RECEIVED,
    WG_SLV_NONPOSTED_WR_REQ_STARTED,
    WG_SLV_POSTED_WR_REQ_STARTED
} wg_niu_counter;
void wg_niu_count(struct wg_tile *t, unsigned noc, unsigned counter, uint32_t by);
/* Bit i: clears the counter of outstanding requests with transaction id i. */
void wg_niu_clear(struct wg_tile *t, unsigned noc, uint32_t mask);
void wg_niu_update_irq(struct wg_tile *t, unsigned noc);

/* Software wrote 1 to an initiator's NOC_CMD_CTRL. */
void wg_niu_start(struct wg_tile *t, unsigned noc, unsigned initiator, unsigned agent, uint32_t pc);
/* Reports software's coordinates that name no tile. */
void wg_niu_check_place(struct wg_tile *t, unsigned noc, uint16_t place, wg_asker asker);
/* Translates software's x | y << 6 to this NoC's coordinates, by the NIU's tables. */
uint16_t wg_niu_translate(const struct wg_tile *t, unsigned noc, uint16_t place);
void wg_niu_tick(struct wg_tile *t, unsigned noc);
/* Sets the registers of a tile of a chip as firmware leaves them. */
void wg_niu_firmware(struct wg_tile *t, uint32_t harvested);

/*
 * Sends a packet of an overlay stream to a place in software's coordinates, or broadcasts it to its rectangle; a write's data
 * is at `source`. False: *retry is when to try again. True: *retry is when its last flit has left.
 */
bool wg_niu_overlay_send(struct wg_tile *t, wg_packet *p, uint16_t place, uint64_t source, uint64_t *retry);
/* The last flit of this packet arrives in cycle p->at. False if the tile has no room left for it. */
bool wg_niu_deliver(struct wg_tile *t, const wg_packet *p);
/* In cycle `at` the NIU learns that its router has forwarded `flits` flits; its link is free from cycle `free` on. */
void wg_niu_left(struct wg_tile *t, unsigned noc, uint32_t flits, uint64_t at, uint64_t free);
/* No packet is in flight in or out. */
bool wg_niu_idle(const struct wg_tile *t);

/* An atomic operation on L1 (atomics.c); false if the operation does not exist. */
bool wg_noc_atomic(struct wg_tile *t, unsigned noc, uint32_t address, uint32_t operation, uint32_t data,
                   uint32_t *result);
/* The same on any 16 bytes; the result is read at `word`. */
bool wg_noc_atomic_line(bool zaamo, uint32_t line[4], unsigned word, uint32_t operation, uint32_t data,
                        uint32_t *result);

#endif
