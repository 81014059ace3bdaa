/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grid from inside: its tiles, and how models of other tiles plug in.
 *
 *     Tensix tile   a wg_device, made on first use
 *     DRAM          sparse host memory per channel (dram.c)
 *     PCIe, ARC, Ethernet, L2CPU, security   read and write functions of a model, by kind
 */
#ifndef WG_GRID_H
#define WG_GRID_H

#include <waitgate/chip.h>

#include "chip/dram.h"
#include "engine/device.h"
#include "noc/floorplan.h"

/*
 * A model of tiles that are registers and memory. Accesses come one at a time from the thread that calls the grid, in
 * the order of the clock; wg_grid_cycle() is the cycle of the access. `bytes` is at most 16384 for accesses of the NoC.
 * False: nothing is there. Words are accessed whole: address and size are as the requester gave them.
 */
typedef struct wg_edge_ops {
    bool (*read)(void *user, wg_grid *grid, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes);
    bool (*write)(void *user, wg_grid *grid, unsigned x, unsigned y, uint64_t address, const void *from, size_t bytes);
    uint64_t (*hash)(void *user, wg_grid *grid);      /* of its state; may be NULL */
} wg_edge_ops;
void wg_grid_plug(wg_grid *grid, wg_tile_kind kind, const wg_edge_ops *ops, void *user);

/* The host's memory, for models of PCI Express. False if there is none or the host refuses. */
bool wg_grid_host_read(wg_grid *grid, uint64_t address, void *to, size_t bytes);
bool wg_grid_host_write(wg_grid *grid, uint64_t address, const void *from, size_t bytes);

struct wg_grid {
    const wg_floorplan *plan;
    wg_grid_desc desc;
    uint64_t now;
    wg_device *tile[WG_GRID_MAX_TILES];      /* [y * width + x]; NULL: not a Tensix tile, or not made yet */
    uint8_t kind[WG_GRID_MAX_TILES];         /* wg_tile_kind */
    wg_translation translation[2];
    wg_dram dram;
    struct { const wg_edge_ops *ops; void *user; } edge[WG_TILE_KINDS];
    wg_host_read_fn host_read;
    wg_host_write_fn host_write;
    void *host_user;
    char error[256];
};

wg_status wg_grid_fail(wg_grid *grid, wg_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Any tile but Tensix tiles; false if nothing is there. */
bool wg_edge_read(wg_grid *grid, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes);
bool wg_edge_write(wg_grid *grid, unsigned x, unsigned y, uint64_t address, const void *from, size_t bytes);

#endif
