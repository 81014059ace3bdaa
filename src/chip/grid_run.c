/* SPDX-License-Identifier: Apache-2.0 */
/* Time on the grid. */
#include "chip/grid.h"

uint64_t wg_grid_cycle(const wg_grid *grid) { return grid->now; }

wg_status wg_grid_advance(wg_grid *grid, uint64_t cycles)
{
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++)
        if (grid->tile[i])
            wg_advance(grid->tile[i], cycles);
    grid->now += cycles;
    return WG_OK;
}

wg_status wg_grid_run(wg_grid *grid, uint64_t cycles, wg_stop *stop)
{
    wg_stop worst = WG_STOP_DONE;
    uint64_t last = grid->now;
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++) {
        wg_stop why = WG_STOP_DONE;
        if (!grid->tile[i])
            continue;
        wg_run(grid->tile[i], cycles, &why);
        if (wg_cycle(grid->tile[i]) > last)
            last = wg_cycle(grid->tile[i]);
        if (why == WG_STOP_FINDING || (why == WG_STOP_CYCLES && worst != WG_STOP_FINDING) ||
            (why == WG_STOP_HUNG && worst == WG_STOP_DONE))
            worst = why;
    }
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++)
        if (grid->tile[i] && wg_cycle(grid->tile[i]) < last)
            wg_advance(grid->tile[i], last - wg_cycle(grid->tile[i]));
    grid->now = last;
    if (stop)
        *stop = worst;
    return WG_OK;
}

uint64_t wg_grid_state_hash(wg_grid *grid)
{
    uint64_t h = grid->now;
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++)
        if (grid->tile[i])
            h = (h ^ wg_state_hash(grid->tile[i])) * UINT64_C(0x9E3779B97F4A7C15) + i;
    h ^= wg_dram_hash(&grid->dram);
    for (unsigned k = 0; k < WG_TILE_KINDS; k++)
        if (grid->edge[k].ops && grid->edge[k].ops->hash)
            h = (h ^ grid->edge[k].ops->hash(grid->edge[k].user, grid)) * UINT64_C(0x9FB21C651E98DF25);
    return h;
}
