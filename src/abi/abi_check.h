/* SPDX-License-Identifier: Apache-2.0 */
/* The race detector for hosts of the libttsim ABI: one beside every Tensix tile, one report at the end. */
#ifndef WG_ABI_CHECK_H
#define WG_ABI_CHECK_H

#include "chip/grid.h"

typedef struct wg_abi_check wg_abi_check;

/*
 * Watches every tile of the grid from now on. `path` is where the report goes: "-" is standard error, a name that ends
 * in .json gives JSON, %p in it is the process id. NULL if there is no memory.
 */
wg_abi_check *wg_abi_check_begin(wg_grid *grid, const char *path);
/* Writes the report; before the grid is destroyed. False, with a sentence in `error`, if that fails. */
bool wg_abi_check_end(wg_abi_check *check, char *error, size_t bytes);

#endif
