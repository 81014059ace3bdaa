/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of the two NIUs and of the NoC overlay, as the tile's cores and the NoC see them. */
#ifndef WG_NIU_REGS_H
#define WG_NIU_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/packet.h"
#include "machine/stream.h"

enum { WG_NIU_WORDS = 0x2000 / 4 }; /* four request initiators of 0x800 (WH 0x400) bytes */
/* Each stream has a page of 0x1000 bytes, of which the first registers exist (NoC/Overlay/README.md). */
enum { WG_OVERLAY_STREAMS = 64, WG_OVERLAY_REGISTERS = 0x600 / 4 };

enum { WG_NIU_INITIATORS = 4, WG_NIU_LEFT = 32 };

/* In cycle `at` the NIU learns that `flits` flits have left it by cycle `free`. */
typedef struct wg_niu_left_flits {
    uint64_t at, free;
    uint32_t flits;
} wg_niu_left_flits;

/* The state of one NIU (src/noc/niu.c). */
typedef struct wg_niu_unit {
    uint64_t link_free;             /* the link to the router is free from this cycle on */
    uint64_t data_gone;             /* the data of a write has left; 0: none is leaving */
    uint64_t next_read;             /* from when on a further read can leave */
    uint64_t next_served;           /* from when on a further read can be served */
    uint64_t packets, transactions; /* ever sent, ever started */
    wg_niu_left_flits left[WG_NIU_LEFT];
    uint32_t ahead; /* flits sent that it does not yet know its router has forwarded */
    uint8_t lefts;
    uint8_t data_tag;
    bool linked;                              /* the next request belongs to the transaction of the last, with … */
    uint32_t linked_to;                       /* … the same end, start and major axis */
    uint8_t queue[WG_NIU_INITIATORS], queued; /* initiators with a request that has not left, oldest first */
    struct {
        uint16_t targ, ret, targ_start, ret_start;
    } place[WG_NIU_INITIATORS]; /* x | y << 6 on this NoC */
    wg_asker asker[WG_NIU_INITIATORS];
} wg_niu_unit;

typedef struct wg_niu_regs {
    uint32_t word[2][WG_NIU_WORDS];
    uint32_t overlay[WG_OVERLAY_STREAMS][WG_OVERLAY_REGISTERS];
    wg_streams streams;
    wg_niu_unit unit[2];
    uint16_t coordinate; /* of this tile on NoC 0: x | y << 6 */
} wg_niu_regs;

struct wg_tile;
void wg_niu_regs_reset(struct wg_tile *t);
/* As a core would read it, without side effects; false: reading it has some. */
bool wg_niu_peek(const struct wg_tile *t, unsigned noc, uint32_t offset, uint32_t *value);
uint32_t wg_niu_read(struct wg_tile *t, unsigned noc, uint32_t offset, unsigned agent, uint32_t pc);
void wg_niu_write(struct wg_tile *t, unsigned noc, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);
uint32_t wg_overlay_read(struct wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc);
void wg_overlay_write(struct wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);

#endif
