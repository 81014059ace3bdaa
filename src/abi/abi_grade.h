/* SPDX-License-Identifier: Apache-2.0 */
/* Does a race behind the libttsim ABI matter? What the host has done is replayed with delays at the race's parties. */
#ifndef WG_ABI_GRADE_H
#define WG_ABI_GRADE_H

#include "abi/abi_record.h"
#include "explain/exploration.h"
#include "text/delays.h"

/* How to replay. */
typedef struct wg_abi_replays {
    wg_abi_record *record; /* NULL: nothing was recorded */
    wg_grid_desc grid;     /* of the chip on which it was */
    uint64_t budget;       /* cycles, for all replays together */
} wg_abi_replays;

/* A tile's races. */
typedef struct wg_abi_graded {
    wg_races *races;
    unsigned x, y;
    void *user; /* for `ignores` */
} wg_abi_graded;

/* WAITGATE_DELAYS of a tile: perturbs it by those of the list that are its own. */
void wg_abi_delay(const wg_delay_list *list, uint64_t seed, wg_device *dev, unsigned x, unsigned y);

/* `ignores`: races that need no grade. */
void wg_abi_grade(const wg_abi_replays *how, const wg_abi_graded *tile, unsigned tiles, wg_race_ignored_fn ignores);

#endif
