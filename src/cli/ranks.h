/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that mpirun has started. */
#ifndef WG_RANKS_H
#define WG_RANKS_H

#include "cli/options.h"
#include "cluster/transport.h"
#include "text/text.h"

/* Has mpirun started this process? Then its output is not a terminal, whatever the system says. */
bool wg_ranks_started(void);
/* The transport between the processes; NULL, and `error` is empty: there is no other process. */
wg_transport *wg_ranks_open(wg_text *error);
/*
 * The work is done. If it failed here (WG_EXIT_ERROR), `error` is printed once, as JSON, too, if the command's output is that,
 * and all processes end. NULL: nothing to do.
 */
void wg_ranks_close(wg_transport *ranks, const wg_args *args, int status, wg_text *error);
/* May this process run the command? False: all of them would do the same. The first one has the message. */
bool wg_ranks_share(int argc, char **argv, wg_text *out, wg_text *error);
/* For a process that works alone from now on, whatever started its parent. */
void wg_ranks_forget(void);

#endif
