/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of several tiles in the order of time. Tiles of a chip run one after another, each for a short window of time,
 * so lines are held back until no earlier one can arrive.
 */
#ifndef WG_MERGE_H
#define WG_MERGE_H

#include "observe/sink.h"

typedef struct wg_merge_line {
    uint64_t cycle, number;
    uint32_t tile, bytes;
    size_t at;
} wg_merge_line;

typedef struct wg_merge {
    wg_sink_out *out;
    wg_merge_line *line;
    size_t lines, line_room;
    char *text;
    size_t used, text_room;
    uint64_t newest, number;
    bool failed; /* out of memory: lines are missing */
} wg_merge;

void wg_merge_add(wg_merge *m, uint64_t cycle, uint32_t tile, const char *text, size_t bytes);
void wg_merge_end(wg_merge *m); /* writes all of them */
void wg_merge_free(wg_merge *m);

#endif
