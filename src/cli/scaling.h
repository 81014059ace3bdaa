/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The factors of `--what-if LIST`: read once, and resolved for each tile, whose programs have the lines.
 *
 *     LIST: WHAT=FACTOR, separated by commas; all of them in one run
 *     WHAT: a unit, a core, a group of constants (noc, dram, l1 …), line:FILE:LINE
 */
#ifndef WG_CLI_SCALING_H
#define WG_CLI_SCALING_H

#include "cli/session.h"
#include "machine/what_if.h"

typedef struct wg_scaled_line {
    const char *file; /* not terminated */
    size_t length;
    unsigned line;
    uint32_t factor;
    bool found; /* in a program of a tile */
} wg_scaled_line;

typedef struct wg_scaling {
    const char *list;
    wg_what_if all; /* factors of agents and groups */
    wg_scaled_line *line;
    size_t lines;
    wg_text note; /* the parts that cannot be scaled; empty: none */
} wg_scaling;

/* The factors for one tile. */
typedef struct wg_tile_scaling {
    wg_what_if what_if; /* refers to `place` */
    wg_scaled_pc *place;
    size_t places, room;
} wg_tile_scaling;

/* A program in a core's memory, `shift` above the addresses in its file, as far as `low` to `high`. */
typedef struct wg_scaled_code {
    const wg_elf *elf;
    uint32_t shift, low, high;
} wg_scaled_code;

/* The units and cores that can be named, those whose durations are fixed among them. NULL: no more. */
const char *wg_scaling_agent(unsigned index, unsigned *agent);

/* Refers to `list` afterwards. False: `error` says why. wg_scaling_free() either way. */
bool wg_scaling_read(wg_scaling *all, const char *list, wg_text *error);
void wg_scaling_free(wg_scaling *all);
/* The factors for a tile, with the lines of the programs that it has now. False: out of memory. Its places are to be freed. */
bool wg_scaling_tile(wg_scaling *all, wg_session *s, wg_tile_scaling *tile);
/* Adds the lines of a program of a core that the tile has got. */
bool wg_scaling_code(wg_scaling *all, wg_session *s, unsigned core, const wg_scaled_code *code, wg_tile_scaling *tile);
/* A factor that applies nowhere: the device takes the tile for scaled, before its lines are known. False: out of memory. */
bool wg_scaling_nowhere(wg_tile_scaling *tile);
/* False: no tile has a line of the list; `error` says which. */
bool wg_scaling_found(const wg_scaling *all, wg_text *error);
/* Of a run with these factors, which its report names. */
void wg_scaling_text(const wg_scaling *all, wg_text *out);
void wg_scaling_json(const wg_scaling *all, wg_json *j);

#endif
