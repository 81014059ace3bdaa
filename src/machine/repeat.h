/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of cores, their requests and L1's ports that repeat each other: equal except for a number of cycles, and for each
 * core a number of instructions and of bytes by which its addresses have moved. Apart from contents, the future depends on
 * nothing else, so the events between two such states happen again.
 *
 *     polling     cycles and instructions; contents are equal, too              poll.c, fast/polls.c
 *     loops       addresses move as well; contents are computed anew            fast/period.c
 *
 * state.def says which member is a time, a number, an address or contents.
 */
#ifndef WG_REPEAT_H
#define WG_REPEAT_H

#include "machine/scalar_state.h"
#include "machine/core.h"
#include "machine/mailbox.h"
#include "machine/memory.h"
#include "machine/pcbuf.h"

struct wg_tile;

typedef struct wg_shot {
    uint64_t now;
    wg_core_run run[WG_CORES];
    uint32_t active[WG_CORES];
    wg_request request[WG_CORES][WG_QUEUE_DEPTH];     /* in flight, queue by queue, each from its head on */
    uint64_t retry_at[WG_CORES][WG_REQUEST_QUEUES];   /* of the queues that hold a request */
    uint8_t requests[WG_CORES], queue_head[WG_CORES]; /* queue_head, last_seen_at: of the queue to L1 */
    uint64_t last_seen_at[WG_CORES], emitted[WG_CORES];
    uint64_t port_free[WG_L1_PORTS], bank_free[WG_L1_MAX_BANKS];
    uint8_t turn[WG_L1_PORTS];
} wg_shot;

/* By how much a state differs from an earlier one. */
typedef struct wg_moves {
    uint64_t then, now; /* the cycle of each state: earlier times have passed and are irrelevant */
    uint64_t later;
    uint64_t number[WG_CORES];  /* instructions */
    uint32_t further[WG_CORES]; /* bytes */
} wg_moves;

static inline uint64_t wg_moved(uint64_t time, uint64_t later) { return time == WG_NEVER ? WG_NEVER : time + later; }
static inline bool wg_same_time(const wg_moves *v, uint64_t a, uint64_t b)
{
    return b == wg_moved(a, v->later) || (a <= v->then && b <= v->now);
}

/* Takes a shot of these cores, with at most WG_QUEUE_DEPTH requests each. */
void wg_shot_take(const struct wg_tile *t, unsigned cores, wg_shot *s);
/* Pipeline, load/store unit and fetches of a core, without the L0 cache and contents. */
bool wg_same_run(const wg_core_run *a, const wg_core_run *b, const wg_moves *v, unsigned core);
/* Registers, data in flight, the L0 cache. */
bool wg_same_contents(const wg_core_run *a, const wg_core_run *b);
/* Requests in flight: the shot's and the present ones; with contents or without. */
bool wg_same_requests(const struct wg_tile *t, const wg_shot *s, const wg_moves *v, unsigned core, bool contents);
/* Ports `first` … `last` and the banks, where those of the shot have moved by `further` bytes. */
bool wg_same_ports(const struct wg_tile *t, const wg_shot *s, const wg_moves *v, unsigned first, unsigned last,
                   uint32_t further);
bool wg_same_pcbufs(const wg_pcbufs *a, const wg_pcbufs *b, const wg_moves *v);
bool wg_same_scalar(const wg_scalar *a, const wg_scalar *b, const wg_moves *v);

/* Moves a state. The retire ring is indexed by number, so its entries move, too. */
void wg_move_run(wg_core_run *run, uint64_t later, uint64_t number, uint32_t further);
void wg_move_queue(wg_request_queue *queue, uint64_t later, uint32_t further);
/* The same after `pops` requests: rotates the ring, in which the data stays in place. */
void wg_advance_queue(wg_request_queue *queue, uint64_t later, uint32_t further, unsigned pops);
void wg_move_ports(wg_l1_ports *ports, uint64_t later);
void wg_move_pcbufs(wg_pcbufs *p, uint64_t later);
void wg_move_scalar(wg_scalar *u, uint64_t later);

#endif
