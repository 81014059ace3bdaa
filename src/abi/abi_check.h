/* SPDX-License-Identifier: Apache-2.0 */
/* The race detector for hosts of the libttsim ABI: one per Tensix tile, one report at the end. */
#ifndef WG_ABI_CHECK_H
#define WG_ABI_CHECK_H

#include "abi/abi_grade.h"
#include "abi/abi_symbols.h"
#include "chip/grid.h"
#include "text/text.h"

typedef struct wg_abi_check wg_abi_check;

/*
 * Watches every tile of the grid from now on. `path` is the destination of the report: "-" is standard error, a name that
 * ends in .json gives JSON, %p in it is the process id. `checks`: WG_CHECK_RACE … `symbols` may be NULL. NULL if there is no
 * memory.
 */
wg_abi_check *wg_abi_check_begin(wg_grid *grid, const char *path, unsigned checks, wg_abi_symbols *symbols);
/* A Tensix tile has been created. */
void wg_abi_check_made(wg_abi_check *check, wg_device *dev, unsigned x, unsigned y);
/* Grades the races by replays, and writes the report; call it before the grid is destroyed. False, with a sentence in `error`, if
 * that fails. */
bool wg_abi_check_end(wg_abi_check *check, const wg_abi_replays *how, char *error, size_t bytes);

/* Reports go to a file, whose %p is the process id, or to standard error ("-"); as JSON if the name ends in .json. */
bool wg_abi_write(const char *path, const wg_text *text, char *error, size_t bytes);
bool wg_abi_wants_json(const char *path);

#endif
