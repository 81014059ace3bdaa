/* SPDX-License-Identifier: Apache-2.0 */
/* A chip file opened: its card, and a session for each Tensix tile that it names. */
#ifndef WG_CHIP_RUN_H
#define WG_CHIP_RUN_H

#include <waitgate/chip.h>

#include "cli/session.h"

typedef struct wg_chip_run wg_chip_run;

/* NULL, with messages in `error`, if any of it is invalid. */
wg_chip_run *wg_chip_open(const wg_args *args, wg_text *error);
void wg_chip_close(wg_chip_run *r);
wg_grid *wg_chip_grid(wg_chip_run *r);
/* NULL: the file does not name the tile. */
wg_session *wg_chip_session(wg_chip_run *r, unsigned x, unsigned y);
/* Advances time to `cycle`, under the conditions of the file. */
wg_status wg_chip_advance(wg_chip_run *r, uint64_t cycle, wg_stop *stop);
/* The memory contents that the file puts into tiles. */
const wg_inputs *wg_chip_inputs(const wg_chip_run *r);
/* The state of the host, which has memory and launches programs: saved and loaded by a debugger. */
size_t wg_chip_host_bytes(const wg_chip_run *r);
void wg_chip_host_save(const wg_chip_run *r, void *to);
void wg_chip_host_load(wg_chip_run *r, const void *from);

#endif
