/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a run saved as JSON that `waitgate diff` reads: its length, and its costs by track and cause. */
#ifndef WG_CLI_DIFF_H
#define WG_CLI_DIFF_H

#include "text/text.h"

typedef struct wg_saved_cost {
    char *who, *cause, *holder, *file, *instruction;             /* NULL: absent */
    char *condition, *other_tile, *address, *waits_for, *buffer; /* more of the cause; costs are not paired by these */
    uint64_t line, cycles;
} wg_saved_cost;

typedef struct wg_saved_run {
    char *program;
    uint64_t cycles;
    bool has_cycles;
    wg_saved_cost *cost;
    size_t costs, room;
} wg_saved_run;

/* Of a file that `run --json`, `run --stats --json` or `profile --json` wrote. False: it cannot be read; `error` says why. */
bool wg_saved_run_read(wg_saved_run *run, const char *path, wg_text *error);
void wg_saved_run_free(wg_saved_run *run);

#endif
