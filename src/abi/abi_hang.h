/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why nothing moves, for hosts of the libttsim ABI: told when the host leaves, when a signal asks, and when time passes in
 * which only cores poll and the host does nothing.
 */
#ifndef WG_ABI_HANG_H
#define WG_ABI_HANG_H

#include "abi/abi_symbols.h"
#include "chip/grid.h"

typedef struct wg_abi_hang wg_abi_hang;

/*
 * `path`: where the full report of every tile goes, as for wg_abi_write(); NULL: the verdicts go to standard error, and the
 * tiles are not watched, which would cost speed. `symbols` may be NULL. NULL if there is no memory.
 */
wg_abi_hang *wg_abi_hang_begin(wg_grid *grid, const char *path, wg_abi_symbols *symbols);
void wg_abi_hang_made(wg_abi_hang *h, wg_device *dev, unsigned x, unsigned y);
/* The host has written something. */
void wg_abi_hang_written(wg_abi_hang *h);
/* Time has passed. These are false, with a sentence in `error`, if a report was due and could not be written. */
bool wg_abi_hang_clocked(wg_abi_hang *h, char *error, size_t bytes);
/* A signal asks; also tells of a run that is under way. */
bool wg_abi_hang_asked(wg_abi_hang *h, char *error, size_t bytes);
/* The host leaves: tells of what is stuck for certain, and, if a file was named, of everything. */
bool wg_abi_hang_end(wg_abi_hang *h, char *error, size_t bytes);

#endif
