/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that a core's program can reach from its current pc. The hang report uses it to decide whether a core
 * could still post a semaphore or push an instruction.
 */
#ifndef WG_REACHABLE_H
#define WG_REACHABLE_H

#include "explain/queued.h"

/* The target of the search: a Tensix instruction, or a store with the same effect. */
typedef struct wg_wanted {
    wg_word_test test;
    unsigned argument;
    unsigned semaphore; /* T cores change this one by stores, too; WG_SEMAPHORES: none */
} wg_wanted;

typedef enum wg_reachable {
    WG_REACH_NO,     /* no instruction that the core can reach does it */
    WG_REACH_MAYBE,  /* only stores or jumps whose targets are not known might */
    WG_REACH_SURELY, /* one that does is reachable, at *pc */
} wg_reachable;

/*
 * Conservative: both directions of every branch are followed, calls return, and callers still on the stack continue. Accesses
 * through pointers are MAYBE.
 */
wg_reachable wg_core_reaches(wg_device *dev, unsigned core, uint32_t from, const wg_wanted *wanted, uint32_t *pc);

#endif
