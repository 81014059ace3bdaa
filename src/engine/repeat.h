/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of cores, their requests and L1's ports that repeat each other: the same but for so many cycles, instructions of
 * each core, and bytes that its addresses have moved on. What a state leads to depends on nothing else (contents apart), so
 * what happened between two such states happens again.
 *
 *     polling     cycles and instructions; contents are the same, too           poll.c, fast/polls.c
 *     loops       addresses move on; contents are worked out anew               fast/period.c
 *
 * Which member is a time, a number, an address or contents is said in state.def.
 */
#ifndef WG_REPEAT_H
#define WG_REPEAT_H

#include "backend/scalar_state.h"
#include "riscv/core.h"
#include "tile/mailbox.h"
#include "tile/memory.h"
#include "tile/pcbuf.h"

struct wg_tile;

typedef struct wg_shot {
    uint64_t now;
    wg_core_run run[WG_CORES];
    uint32_t active[WG_CORES];
    wg_request request[WG_CORES][WG_LANE_DEPTH];     /* under way, lane by lane, from each head on */
    uint64_t retry_at[WG_CORES][WG_REQUEST_LANES];   /* of the lanes with a request */
    uint8_t requests[WG_CORES], lane_head[WG_CORES]; /* lane_head, last_seen_at: of the lane to L1 */
    uint64_t last_seen_at[WG_CORES], emitted[WG_CORES];
    uint64_t port_free[WG_L1_PORTS], bank_free[WG_L1_MAX_BANKS];
    uint8_t turn[WG_L1_PORTS];
} wg_shot;

/* How one state differs from an earlier one. */
typedef struct wg_moves {
    uint64_t then, now; /* in each of them: a time up to here has passed, and matters no more */
    uint64_t later;
    uint64_t number[WG_CORES];  /* instructions */
    uint32_t further[WG_CORES]; /* bytes */
} wg_moves;

static inline uint64_t wg_moved(uint64_t time, uint64_t later) { return time == WG_NEVER ? WG_NEVER : time + later; }
static inline bool wg_same_time(const wg_moves *v, uint64_t a, uint64_t b)
{
    return b == wg_moved(a, v->later) || (a <= v->then && b <= v->now);
}

/* The present state of these cores; requests beyond WG_LANE_DEPTH of one core are left out. */
void wg_shot_take(const struct wg_tile *t, unsigned cores, wg_shot *s);
/* Pipeline, load/store unit and fetches of a core; not the L0 cache, and no contents. */
bool wg_same_run(const wg_core_run *a, const wg_core_run *b, const wg_moves *v, unsigned core);
/* Registers, data under way, the L0 cache. */
bool wg_same_contents(const wg_core_run *a, const wg_core_run *b);
/* The requests under way, from the shot to now; with their contents or without. */
bool wg_same_requests(const struct wg_tile *t, const wg_shot *s, const wg_moves *v, unsigned core, bool contents);
/* Ports `first` … `last` from the shot to now, and the banks, which lie `further` bytes on. */
bool wg_same_ports(const struct wg_tile *t, const wg_shot *s, const wg_moves *v, unsigned first, unsigned last,
                   uint32_t further);
bool wg_same_pcbufs(const wg_pcbufs *a, const wg_pcbufs *b, const wg_moves *v);
bool wg_same_scalar(const wg_scalar *a, const wg_scalar *b, const wg_moves *v);

/* Moves a state on. The retire queue is found by number. */
void wg_move_run(wg_core_run *run, uint64_t later, uint64_t number, uint32_t further);
void wg_move_lane(wg_lane *lane, uint64_t later, uint32_t further);
void wg_move_ports(wg_l1_ports *ports, uint64_t later);
void wg_move_pcbufs(wg_pcbufs *p, uint64_t later);
void wg_move_scalar(wg_scalar *u, uint64_t later);

#endif
