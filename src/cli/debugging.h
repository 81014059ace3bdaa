/* SPDX-License-Identifier: Apache-2.0 */
/* A run under the debugger (waitgate/debug.h): a tile with its programs, or a chip. */
#ifndef WG_CLI_DEBUGGING_H
#define WG_CLI_DEBUGGING_H

#include <waitgate/debug.h>

#include "cli/chip_run.h"
#include "cli/drive.h"

typedef struct wg_debugging {
    wg_session s; /* of a tile alone */
    wg_driving drive;
    wg_chip_run *chip; /* NULL: a tile alone */
    wg_debug *d;
    wg_who who;        /* the first core that runs */
    const char *title; /* the first file's name */
    wg_meter meter;    /* of a command in progress */
} wg_debugging;

/* On an error, writes it to `error` and returns false; must be closed nevertheless. */
bool wg_debugging_open(wg_debugging *g, const wg_args *args, bool (*interrupted)(void *user), wg_text *error);
void wg_debugging_close(wg_debugging *g);
/* "t1", "0", of a chip also "1-2" and "1-2 t1": the agent that a line names; false: none. */
bool wg_debugging_who(const wg_debugging *g, const char *text, wg_who *who);
/* A line of the prompt: the answer goes to `out`. False: the line is quit. */
bool wg_debugging_obey(wg_debugging *g, const char *line, wg_text *out);
/* Has SIGINT arrived? For wg_debugging_open(). Shows progress. */
bool wg_debugging_interrupted(void *user);

#endif
