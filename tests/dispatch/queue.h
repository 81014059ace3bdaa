/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host gives work to a chip by rings, as tt-metal's fast dispatch does:
 *
 *     host ──commands──> issue ring in host memory ──read──> prefetcher ──write──> pages in the dispatcher's L1
 *      │                                                      ^   ^                       │
 *      └──lengths──> queue in the prefetcher's L1 ────────────┘   └──────credits──────────┤
 *                                                                                         ├──write──> tiles
 *     host <──────────────── completion ring in host memory <─────────────write───────────┘
 *
 * The host writes commands into the issue ring, then their length into the next entry of the prefetcher's queue, which is free when
 * it is 0. The prefetcher reads the commands, frees the entry, and passes pages on for which it has credits. Credits are counted by
 * atomic increments over the NoC. A pointer into the completion ring has a bit that changes whenever the ring wraps.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "noc.h"

/* Parameters in L1, words 16 bytes apart: places are x | y << 6 on NoC 0. */
#define PARAMETER_AT(n) WORD(0x10000 + 16 * (n))
enum { HOST_PLACE, HOST_UPPER, PREFETCHER, DISPATCHER };

enum { ENTRIES = 8, PAGE = 256, PAGES = 4, ISSUE_BYTES = 2048, COMPLETION_BYTES = 1024, UNIT = 16 };
/* Host memory. */
enum { ISSUE = 0x1000, COMPLETION = 0x8000, COMPLETED = 0x400 };
/* L1 of the prefetcher: the queue's entries, of 16 bits; the credits; commands. */
enum { QUEUE = 0x12000, CREDITS = 0x12100, STAGING = 0x14000 };
/* L1 of the dispatcher: pages passed on; how far the host has read; the pages; data for the host. */
enum { PASSED = 0x12200, TAKEN = 0x12300, RING = 0x15000, SCRATCH = 0x18000 };
#define WRAPPED (1u << 31)

/* A command is a header and its data; both together are a multiple of UNIT. */
typedef struct command {
    u32 what, bytes, place, address; /* bytes: of data */
} command;
enum { WRITE_TILE = 1, WRITE_HOST, END };

/* The PCI Express tile's address of host memory needs more than 32 bits on Wormhole. */
static inline void host_place(u32 initiator, u32 end)
{
    const u32 base = initiator * NOC_STRIDE + end;
    noc_place(0, initiator, end, PARAMETER_AT(HOST_PLACE));
    NOC_REGISTER(0, base + 4) = NOC_REGISTER(0, base + 4) | PARAMETER_AT(HOST_UPPER);
}

static inline void finished(u32 tag)
{
    while (noc_pending(0, tag))
        ;
}

static inline void started(u32 initiator)
{
    while (noc_busy(0, initiator))
        ;
}

enum { CREDIT_TAG = 3 };
/* Nobody waits for the increment here. */
static inline void add_credit(u32 place, u32 address)
{
    enum { ATOMIC = 1, INCREMENT = 1 << 12 | 31 << 2 };
#ifdef WG_ARCH_WH
    enum { DATA = 0x24 };
#else
    enum { DATA = 0x28 };
#endif
    noc_setup(0, SIGNALLER, ATOMIC | NOC_ANSWER, 0, INCREMENT);
    noc_place(0, SIGNALLER, NOC_TARGET, place);
    noc_place(0, SIGNALLER, NOC_RETURN, noc_here(0));
    NOC_REGISTER(0, SIGNALLER * NOC_STRIDE + DATA) = 1;
    noc_start(0, SIGNALLER, address, SCRATCH + 0x1000, CREDIT_TAG);
    started(SIGNALLER);
}

#endif
