/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tile as the NoC and the host see it: L1, the registers that the NoC reaches, on BH the cores' data RAMs. Accesses happen
 * at a cycle boundary and take no time.
 */
#ifndef WG_BUS_H
#define WG_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wg_tile;

/* False if nothing is mapped there, or if a register is not accessed in whole words. */
bool wg_tile_bus_read(struct wg_tile *t, uint64_t address, void *to, size_t bytes);
bool wg_tile_bus_write(struct wg_tile *t, uint64_t address, const void *from, size_t bytes);

#endif
