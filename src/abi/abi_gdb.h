/* SPDX-License-Identifier: Apache-2.0 */
/* gdb for a host's run: time advances in the host's calls, and gdb stops it there. */
#ifndef WG_ABI_GDB_H
#define WG_ABI_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/chip.h>

#include "abi/abi_symbols.h"

typedef struct wg_abi_gdb wg_abi_gdb;

/*
 * `text`: PORT of the loopback address, or PORT,wait: the first call that advances time waits for gdb. NULL, with a sentence
 * in `error`, if that is not a port or cannot be opened. *port: the port opened.
 */
wg_abi_gdb *wg_abi_gdb_begin(wg_grid *grid, const char *text, wg_abi_symbols *symbols, uint16_t *port, char *error,
                             size_t bytes);
/* Advances time to `cycle` under gdb's control. False: gdb is not connected, or has left; the caller advances the rest. */
bool wg_abi_gdb_advance(wg_abi_gdb *g, uint64_t cycle);
void wg_abi_gdb_end(wg_abi_gdb *g);

#endif
