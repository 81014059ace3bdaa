/* SPDX-License-Identifier: Apache-2.0 */
/* The words of race reports. */
#ifndef WG_RACE_WORDS_H
#define WG_RACE_WORDS_H

#include "explain/race_state.h"

/* Text into a buffer, as much as fits. */
typedef struct wg_race_text {
    char *at;
    size_t left;
} wg_race_text;

__attribute__((format(printf, 2, 3))) void wg_race_say(wg_race_text *t, const char *format, ...);
/* Granules first to last of the space; of one granule, the bits or bytes in the mask. */
void wg_race_say_location(const wg_races *r, wg_race_text *t, unsigned space, uint32_t first, uint32_t last,
                          uint32_t mask);
void wg_race_say_insn(const wg_races *r, wg_race_text *t, uint32_t word);
void wg_race_say_party(const wg_races *r, wg_race_text *t, const wg_race_party *p);
/* The condition of STALLWAIT that waits for the unit; NULL: there is none. */
const char *wg_race_condition(const wg_races *r, unsigned unit);
/* The block bit that catches this instruction and as few others as possible. */
const char *wg_race_block_name(const wg_races *r, uint32_t word);

#endif
