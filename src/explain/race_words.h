/* SPDX-License-Identifier: Apache-2.0 */
/* Locations, instructions and waits in words, for the race detector's reports. */
#ifndef WG_RACE_WORDS_H
#define WG_RACE_WORDS_H

#include "explain/race_state.h"

/* Text in a buffer, truncated if necessary. */
typedef struct wg_words {
    char *at;
    size_t left;
} wg_words;

__attribute__((format(printf, 2, 3))) void wg_say(wg_words *t, const char *format, ...);
void wg_say_location(const wg_races *r, wg_words *t, unsigned space, uint32_t first, uint32_t last, uint32_t mask);
void wg_say_insn(const wg_races *r, wg_words *t, uint32_t word);
void wg_say_party(const wg_races *r, wg_words *t, const wg_race_party *p);
/* The wait condition for a unit's work; NULL: there is none. */
const char *wg_race_condition(const wg_races *r, unsigned unit);
/* The block bit that catches this instruction and as few others as possible. */
const char *wg_race_block_name(const wg_races *r, uint32_t word);
uint32_t wg_race_block_bit(const wg_races *r, uint32_t word); /* 0: none */

/* How many instructions of the thread b knows to have passed the gate. */
static inline uint32_t wg_race_passed(const wg_actor *b, unsigned thread)
{
    uint32_t v = b->clock->v[WG_K_I + thread];
    if (b->clock2 && b->clock2->v[WG_K_I + thread] > v)
        v = b->clock2->v[WG_K_I + thread];
    return b->seq && b->thread == thread && b->seq > v ? b->seq : v;
}

/* race_remedy.c: why nothing orders a before b, and what to do about it. */
void wg_race_reason(wg_races *r, const wg_cell *a, const wg_actor *b, unsigned space, uint32_t first, wg_words *why,
                    wg_words *how, wg_race *race);
/* The remedy inserts `what`, or a Tensix instruction, before or after `at`. */
void wg_race_insert(wg_race *race, const wg_race_party *at, bool behind, wg_insert what, uint32_t word);
void wg_race_insert_insn(const wg_races *r, wg_race *race, const wg_race_party *at, bool behind, const char *text);

#endif
