/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small FIFO of words between two cores, with one writer and one reader.
 *
 * Both sides are served in the same phase, so each sees the other's action from the next cycle on, whichever is served first:
 * a value pushed in c can be popped in c + 1, a slot freed in c can be filled in c + 1. Decided here: sources state only the
 * depths.
 */
#ifndef WG_FIFO_H
#define WG_FIFO_H

#include <stdbool.h>
#include <stdint.h>
#include "machine/agents.h"

enum { WG_FIFO_WORDS = 16 };

typedef struct wg_fifo {
    uint32_t word[WG_FIFO_WORDS];
    uint64_t pushed_at, popped_at; /* cycle of the last push and pop; WG_NEVER: none since reset */
    uint8_t head, count;
} wg_fifo;

static inline void wg_fifo_clear(wg_fifo *f) { *f = (wg_fifo){.pushed_at = WG_NEVER, .popped_at = WG_NEVER}; }

/* Entries that the reader can see in cycle `now`. */
static inline unsigned wg_fifo_readable(const wg_fifo *f, uint64_t now)
{
    return f->count && f->pushed_at == now ? f->count - 1u : f->count;
}

/* Slots that the writer sees occupied in cycle `now`. */
static inline unsigned wg_fifo_taken(const wg_fifo *f, uint64_t now)
{
    return f->popped_at == now ? f->count + 1u : f->count;
}

/* The caller has checked that there is room. */
static inline void wg_fifo_push(wg_fifo *f, uint64_t now, uint32_t word)
{
    f->word[(f->head + f->count) % WG_FIFO_WORDS] = word;
    f->count++;
    f->pushed_at = now;
}

/* The caller has checked that there is an entry. */
static inline uint32_t wg_fifo_pop(wg_fifo *f, uint64_t now)
{
    uint32_t word = f->word[f->head];
    f->head = (uint8_t)((f->head + 1) % WG_FIFO_WORDS);
    f->count--;
    f->popped_at = now;
    return word;
}

#endif
