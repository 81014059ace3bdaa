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

#endif
