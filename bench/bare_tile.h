/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by benchmarks of units: a tile without an engine, on which all shortcuts may be taken, as on a device. */
#ifndef WG_BENCH_BARE_TILE_H
#define WG_BENCH_BARE_TILE_H

#include <stdio.h>
#include <stdlib.h>

#include "machine/fast.h"
#include "machine/tile.h"

static inline wg_tile *bare_tile(void)
{
    wg_tile *t = wg_tile_new();
    if (!t) {
        fprintf(stderr, "no memory for a tile\n");
        exit(1);
    }
    t->fast_wanted = WG_FAST_ALL;
    wg_fast_update(t);
    return t;
}

#endif
