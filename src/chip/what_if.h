/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled durations of a chip; see machine/what_if.h. */
#ifndef WG_CHIP_WHAT_IF_H
#define WG_CHIP_WHAT_IF_H

#include <waitgate/chip.h>

#include "machine/what_if.h"

/*
 * Scales the durations of the NoCs, of DRAM, and of every tile, from here on; only before time has advanced. `w` must
 * outlive the grid. A tile whose lines are scaled as well gets its own factors from wg_device_what_if().
 */
wg_status wg_grid_what_if(wg_grid *grid, const wg_what_if *w);

#endif
