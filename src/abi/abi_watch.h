/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace, profile and page of a host's run. libwaitgate_tools (<waitgate/tools.h>) creates them; it needs libraries that
 * hosts may not have, and is loaded on demand from the folder of this library.
 */
#ifndef WG_ABI_WATCH_H
#define WG_ABI_WATCH_H

#include "abi/abi_symbols.h"
#include "chip/grid.h"

typedef struct wg_abi_watch wg_abi_watch;

/*
 * Files; NULL: not requested. In each name %p is the process id; a profile whose name ends in .json is JSON. The others are as
 * in wg_watch_desc.
 */
typedef struct wg_abi_watched {
    const char *trace, *log, *timeline, *profile, *report;
    const char *what_if, *from, *to;
} wg_abi_watched;
/* NULL, with a message in `error`, on failure. */
wg_abi_watch *wg_abi_watch_begin(wg_grid *grid, const wg_abi_watched *wanted, wg_abi_symbols *symbols, char *error,
                                 size_t bytes);
/* A tile has been created. */
void wg_abi_watch_made(wg_abi_watch *watch, unsigned x, unsigned y);
/* Writes the files; call it before the grid is destroyed. False, with a sentence in `error`, if that fails. */
bool wg_abi_watch_end(wg_abi_watch *watch, char *error, size_t bytes);

#endif
