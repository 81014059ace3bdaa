/* SPDX-License-Identifier: Apache-2.0 */
/* Data that explains a hang across chips: the state of a tile's link, and where a tile sends. */
#ifndef WG_CHIP_WAITS_H
#define WG_CHIP_WAITS_H

#include <waitgate/chip.h>

typedef struct wg_link_state {
    unsigned channel, peer_chip, peer_channel;
    uint64_t down_since;             /* UINT64_MAX: it is up; 0: it has never been */
    unsigned unsent, unacknowledged; /* packets of its TX queues */
} wg_link_state;

/* False: the tile has no link, or has done nothing. */
bool wg_grid_link_state(const wg_grid *grid, unsigned tile, wg_link_state *state);
/* Did the last request of an initiator of tile `from` go to tile `to`, or ask for data from there? */
bool wg_grid_sends_to(const wg_grid *grid, unsigned from, unsigned to);

#endif
