/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why nothing moves, for hosts of the libttsim ABI: reported when the host exits, on a signal, and when cores only poll for a
 * long time while the host does nothing.
 */
#ifndef WG_ABI_HANG_H
#define WG_ABI_HANG_H

#include "abi/abi_symbols.h"
#include "chip/grid.h"

typedef struct wg_abi_hang wg_abi_hang;

/*
 * `path`: the destination of the full report of every tile, as for wg_abi_write(); NULL: the verdicts go to standard error,
 * and the tiles are not observed, which would be slower. `symbols` may be NULL. NULL if there is no memory.
 */
wg_abi_hang *wg_abi_hang_begin(wg_grid *grid, const char *path, wg_abi_symbols *symbols);
void wg_abi_hang_made(wg_abi_hang *h, wg_device *dev, unsigned x, unsigned y);
/* The host has written something. */
void wg_abi_hang_written(wg_abi_hang *h);
/* Time has advanced. These return false, with a sentence in `error`, if a report was due and could not be written. */
bool wg_abi_hang_clocked(wg_abi_hang *h, char *error, size_t bytes);
/* On a signal; also reports on a run that is still active. */
bool wg_abi_hang_asked(wg_abi_hang *h, char *error, size_t bytes);
/* The host exits: reports certain hangs and, if a file was named, everything. */
bool wg_abi_hang_end(wg_abi_hang *h, char *error, size_t bytes);

#endif
