/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in flight: the queues between the load/store units and the regions, and L1's ports.
 *
 *     emit (phase I) ── travel ── one queue per core and path ── region (phase C; pushes: phase H)
 *
 * A queue is served in order. The mailboxes have one per peer and direction: requests to different mailboxes may overtake
 * each other at their mux (MemoryOrdering.md).
 */
#ifndef WG_MEMORY_H
#define WG_MEMORY_H

#include "machine/agents.h"
#include "machine/l1.h"
#include "machine/request.h"

enum {
    WG_QUEUE_DEPTH = 16,
    WG_QUEUE_MAILBOX_READ = WG_PATH_COUNT, /* peers 1 to 3; peer 0 uses the path's own queue */
    WG_QUEUE_MAILBOX_WRITE = WG_QUEUE_MAILBOX_READ + 3,
    WG_REQUEST_QUEUES = WG_QUEUE_MAILBOX_WRITE + 3
};

typedef struct wg_request_queue {
    wg_request ring[WG_QUEUE_DEPTH];
    uint64_t last_seen_at; /* of the last request emitted: nothing overtakes inside a queue */
    uint64_t retry_at;     /* the head must wait until then */
    wg_stall why;          /* what the head waits for */
    uint8_t head, count;
} wg_request_queue;

typedef struct wg_memory {
    uint32_t active[WG_CORES];   /* bit per queue: not empty */
    uint8_t turn[WG_PATH_COUNT]; /* round-robin among the cores at a region that takes one request per cycle */
    uint64_t emitted[WG_CORES];  /* event number of perturbed travel */
    wg_request_queue queue[WG_CORES][WG_REQUEST_QUEUES];
    wg_l1_ports l1;
    uint8_t iram[16 * 1024]; /* of the one core that has instruction RAM (WH) */
} wg_memory;

/* When the head is seen; WG_NEVER: the queue is empty. */
static inline uint64_t wg_queue_seen_at(const wg_request_queue *queue)
{
    return queue->count ? queue->ring[queue->head].seen_at : WG_NEVER;
}
/* Appends a request, to be filled in; the region sees it in cycle `seen_at`, or later: nothing overtakes inside a queue. */
static inline wg_request *wg_queue_append(wg_memory *m, unsigned core, unsigned index, uint64_t seen_at)
{
    wg_request_queue *queue = &m->queue[core][index];
    wg_request *req = &queue->ring[(queue->head + queue->count) % WG_QUEUE_DEPTH];
    req->seen_at = queue->last_seen_at = seen_at > queue->last_seen_at ? seen_at : queue->last_seen_at;
    if (!queue->count++)
        queue->retry_at = 0;
    m->active[core] |= 1u << index;
    return req;
}
/* The head has to wait for a port of L1 until cycle `retry`. */
static inline void wg_queue_waits_for_port(wg_request_queue *queue, unsigned port, uint64_t retry)
{
    queue->retry_at = retry;
    queue->why =
        (wg_stall){.reason = WG_STALL_L1_PORT, .resource = (uint16_t)port, .holder = WG_AGENT_NONE, .retry_at = retry};
}
/* The head has been processed. */
static inline void wg_queue_pop(wg_memory *m, unsigned core, unsigned index)
{
    wg_request_queue *queue = &m->queue[core][index];
    queue->head = (uint8_t)((queue->head + 1) % WG_QUEUE_DEPTH);
    queue->retry_at = 0;
    queue->why.reason = WG_STALL_NONE;
    if (!--queue->count)
        m->active[core] &= ~(1u << index);
}

void wg_regions_reset(struct wg_tile *t);
void wg_regions_tick(struct wg_tile *t); /* phase C */
void wg_regions_push(struct wg_tile *t); /* phase H */

/* Phase I: emits a request, and fills seen_at. There is room (wg_memory_room). */
void wg_memory_emit(struct wg_tile *t, wg_request *req);
/* The queue of a path; mailboxes have one per peer. */
static inline unsigned wg_queue_of(unsigned path, unsigned index)
{
    if (path == WG_PATH_MAILBOX_READ && index)
        return WG_QUEUE_MAILBOX_READ + (index - 1) % 3;
    if (path == WG_PATH_MAILBOX_WRITE && index)
        return WG_QUEUE_MAILBOX_WRITE + (index - 1) % 3;
    return path;
}
/* The core entered reset: its requests in flight are lost. */
void wg_memory_drop(struct wg_tile *t, unsigned core);
/* Emitted, unprocessed requests of this core to GPRs, configuration and TDMA-RISC (GATE-17). */
unsigned wg_memory_pending(const struct wg_tile *t, unsigned core);
/* The same for one path. */
unsigned wg_memory_pending_on(const struct wg_tile *t, unsigned core, unsigned path);
/* Copies code into the core's instruction RAM. False beyond its end. */
bool wg_iram_write(struct wg_tile *t, unsigned core, uint32_t offset, uint32_t bytes, const void *from);
/* The instruction at a core's pc: in L1, or in the instruction RAM of the one core that has it. False: in neither. */
bool wg_code_word(const struct wg_tile *t, uint32_t pc, uint32_t *word);

#endif
