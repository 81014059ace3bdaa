/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core can still do: the instructions that its program can reach from where it stands. The hang report asks it
 * before it says that a core could still post a semaphore or push an instruction.
 */
#ifndef WG_REACHABLE_H
#define WG_REACHABLE_H

#include "explain/queued.h"

/* What is asked for: a Tensix instruction, or a store that does the same. */
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
 * Conservative: both ways of every branch are taken, calls return, and callers that are still on the stack go on. What
 * goes through pointers is MAYBE.
 */
wg_reachable wg_core_reaches(wg_device *dev, unsigned core, uint32_t from, const wg_wanted *wanted, uint32_t *pc);

#endif
