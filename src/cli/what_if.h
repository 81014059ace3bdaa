/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate profile --what-if`: the length of the run if something took less time, or more. */
#ifndef WG_CLI_WHAT_IF_H
#define WG_CLI_WHAT_IF_H

#include "cli/profile.h"
#include "machine/what_if.h"

/* One run with scaled costs. */
typedef struct wg_scaled_run {
    char *what; /* as requested: "unpack0=0,noc=2x" */
    uint64_t cycles;
    wg_ended ended;
    bool equal;   /* L1 at the end equals that of the run itself, and expectations of values hold */
    wg_text note; /* the parts that cannot be scaled; empty: none */
} wg_scaled_run;

typedef struct wg_scaled_runs {
    wg_scaled_run *run;
    uint64_t cycles;            /* of the run as it is */
    wg_ended ended;
    size_t count, without_gain; /* without_gain: of --what-if auto, not listed */
    bool ranked;                /* --what-if auto: sorted by savings, largest first */
} wg_scaled_runs;

/*
 * All requests of --what-if, after the run itself of `cycles` cycles: of a tile alone, or of the tiles of a chip or a cluster.
 * `again` runs that with factors for each of the tiles; the results are kept with the first tile.
 */
typedef bool (*wg_again_fn)(void *chip, const wg_what_if *of_tile, wg_scaled_run *r, wg_text *error);
bool wg_what_if_run(const wg_profiled *all, uint64_t cycles, wg_again_fn again, void *chip, wg_text *error);
void wg_what_if_free(wg_scaled_runs *all);
void wg_report_what_if(const wg_scaled_runs *all, wg_text *out);
void wg_report_what_if_json(const wg_scaled_runs *all, wg_json *j);

#endif
