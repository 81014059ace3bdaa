/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory requests from the baby cores to the regions of the tile.
 *
 * A load/store unit emits at most one request per cycle (phase I). It travels for its path's time
 * and then waits at its region, in order per core and path, until the region processes it (phase C;
 * pushes: phase H). A read's value goes back to the core; a write is fire-and-forget.
 *
 * Facts: BabyRISCV/MemoryOrdering.md, BabyRISCV/README.md (load latencies), time.md rules 2 and 8.
 */
#ifndef WG_REQUEST_H
#define WG_REQUEST_H

#include "arch/arch.h"

typedef enum wg_request_kind { WG_REQ_READ, WG_REQ_WRITE, WG_REQ_ATOMIC } wg_request_kind;

typedef struct wg_request {
    uint64_t seen_at; /* first cycle at which the region sees it */
    uint32_t address; /* as the core computed it, aligned down to its size */
    uint32_t pc;
    uint32_t data[4];   /* write: little-endian from address; atomic: operand in data[0] */
    uint8_t kind;       /* wg_request_kind */
    uint8_t path;       /* wg_path */
    uint8_t bytes;      /* 1, 2, 4 … 16 */
    uint8_t op;         /* atomic operation (funct5), else 0 */
    uint8_t core;       /* wg_core_id */
    uint8_t tag;        /* the core's own mark, returned with the response */
    uint16_t byte_mask; /* L1 write: which of the 16 bytes from address & ~15; data holds the whole line */
    uint8_t index;      /* wg_route.index: thread, peer … */
    uint8_t overtakes;  /* a read: older pushes that are still in the store queue, for observers */
    uint8_t rd;         /* the register that a read's value goes to, for observers; instruction fetch: 0xFF */
} wg_request;

enum { WG_TAG_FETCH = 0x80 }; /* wg_request.tag of an instruction fetch; else the load's slot */
static inline bool wg_request_is_fetch(const wg_request *req)
{
    return req->kind == WG_REQ_READ && (req->tag & WG_TAG_FETCH);
}

typedef enum wg_region_answer {
    WG_REGION_DONE, /* processed; for a read, *value (up to 16 bytes) is filled */
    WG_REGION_WAIT, /* not yet: *why says what it waits for; retry when woken or at why->retry_at */
    WG_REGION_NEVER /* the access never completes on hardware; *why names it, a finding was recorded */
} wg_region_answer;

struct wg_tile;
/* Emits the touches of a processed request, for observers (request_touch.c). */
void wg_request_touch(struct wg_tile *t, const wg_request *req);
/* One handler per path; processes the request at the head of its queue in cycle t->sched.now. */
typedef wg_region_answer (*wg_region_fn)(struct wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why);

/* Where an address of a core's address space leads (PIPE-23 and each core's own view of it). */
typedef struct wg_route {
    uint8_t path;    /* wg_path */
    uint8_t index;   /* mailbox peer, PC buffer, thread, owner of a slow-path RAM … */
    uint32_t offset; /* from the region's start */
} wg_route;
wg_route wg_address_route(const wg_tile_spec *spec, unsigned core, uint32_t address, bool is_write);

#endif
