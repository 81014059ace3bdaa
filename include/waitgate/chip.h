/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip: the grid of tiles that two NoCs connect.
 *
 * Places are given in NoC 0 coordinates: x to the right, y downwards, (0, 0) at the top left. Tensix tiles are
 * devices (waitgate.h), created when first used; all share the chip's clock, so advance time by the functions below and never
 * by wg_run() or wg_advance() of one tile. A chip must not be used from two host threads at the same time; different chips
 * may.
 */
#ifndef WAITGATE_CHIP_H
#define WAITGATE_CHIP_H

#include <waitgate/waitgate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wg_grid wg_grid;

typedef struct wg_grid_desc {
    uint32_t struct_size; /* sizeof(wg_grid_desc): a caller that knows fewer fields gets 0 for the others */
    wg_arch_id arch;
    wg_profile profile;
    uint64_t seed;         /* 0: unperturbed; anything else names one repeatable perturbed run */
    bool lockstep;         /* tick every agent in every cycle */
    unsigned threads;      /* host threads that compute; 0 or 1: only the caller's. Does not affect results */
    uint32_t harvested;    /* Tensix tiles that are fused off, bit mask: columns x (BH), rows y (WH) of NoC 0 */
    uint64_t dram_limit;   /* maximum host memory for DRAM in bytes; 0: no limit but the chip's DRAM */
    const char *shortcuts; /* as for wg_shortcuts(); NULL: all. Must live as long as the chip */
    const char *simd;      /* as in wg_device_desc; NULL: the best. Must live as long as the chip */
} wg_grid_desc;

typedef enum wg_tile_kind {
    WG_TILE_NONE,   /* outside the grid */
    WG_TILE_ROUTER, /* a router and nothing else */
    WG_TILE_TENSIX,
    WG_TILE_DRAM,
    WG_TILE_PCIE,
    WG_TILE_ARC,
    WG_TILE_ETH,
    WG_TILE_L2CPU,     /* BH */
    WG_TILE_SECURITY,  /* BH */
    WG_TILE_HARVESTED, /* a Tensix tile that is fused off: its router works */
    WG_TILE_KINDS
} wg_tile_kind;

/* Life cycle. */
WG_API wg_status wg_grid_create(const wg_grid_desc *desc, wg_grid **out);
WG_API void wg_grid_destroy(wg_grid *grid);
WG_API const char *wg_grid_error(const wg_grid *grid);

/* Shape. */
WG_API wg_arch_id wg_grid_arch(const wg_grid *grid);
WG_API unsigned wg_grid_width(const wg_grid *grid);
WG_API unsigned wg_grid_height(const wg_grid *grid);
WG_API wg_tile_kind wg_grid_kind(const wg_grid *grid, unsigned x, unsigned y);
WG_API const char *wg_tile_kind_name(wg_tile_kind kind);
/* The index within its kind, as in the documents (T0, E3, D5 …; DRAM: the tile's channel). */
WG_API unsigned wg_grid_index(const wg_grid *grid, unsigned x, unsigned y);
/* The number of tiles of a kind; DRAM: of channels. */
WG_API unsigned wg_grid_count(const wg_grid *grid, wg_tile_kind kind);
/*
 * Translates coordinates as written by software on NoC `noc`, with the translation that firmware sets up, to NoC 0 coordinates.
 * False if no tile is there.
 */
WG_API bool wg_grid_translate(const wg_grid *grid, unsigned noc, unsigned x, unsigned y, unsigned *to_x,
                              unsigned *to_y);

/*
 * The Tensix or Ethernet tile at a place, for all functions of waitgate.h except those that advance time; NULL if there is
 * none or memory has run out. It is created by the first call; wg_grid_peek() does not create it.
 */
WG_API wg_device *wg_grid_tile(wg_grid *grid, unsigned x, unsigned y);
WG_API wg_device *wg_grid_peek(const wg_grid *grid, unsigned x, unsigned y);

/* Memory and registers of any tile as the NoC sees them, at the cycle boundary, taking no time. */
WG_API wg_status wg_grid_read(wg_grid *grid, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes);
WG_API wg_status wg_grid_write(wg_grid *grid, unsigned x, unsigned y, uint64_t address, const void *from, size_t bytes);
/* Writes to every Tensix tile of the rectangle, including the corners; x0 > x1 or y0 > y1 wraps around the torus. */
WG_API wg_status wg_grid_multicast(wg_grid *grid, unsigned x0, unsigned y0, unsigned x1, unsigned y1, uint64_t address,
                                   const void *from, size_t bytes);

/* Time. */
WG_API uint64_t wg_grid_cycle(const wg_grid *grid);
/* Advances by exactly `cycles`. */
WG_API wg_status wg_grid_advance(wg_grid *grid, uint64_t cycles);
/* Advances by at most `cycles`; returns earlier when everything is done, hung or told to stop (wg_stop_on() of a tile). */
WG_API wg_status wg_grid_run(wg_grid *grid, uint64_t cycles, wg_stop *stop);
/* Perturbs from now on as a chip that was created with this seed; 0: not at all. */
WG_API wg_status wg_grid_perturb(wg_grid *grid, uint64_t seed);
/* A hash of all architectural state, equal for equal states whatever the host, threads or observers. */
WG_API uint64_t wg_grid_state_hash(wg_grid *grid);

/*
 * Snapshots of everything: tiles, packets in flight, DRAM and, for a card's chip, its registers. Restored into a chip of the
 * same architecture, profile and harvesting, even in another process, the run continues identically. The size depends on the
 * tiles and DRAM in use. A snapshot that is damaged, forged or from another build is refused, and the chip is unchanged; if
 * memory runs out while DRAM is restored (WG_ERR_NO_MEMORY), the chip must be destroyed.
 */
WG_API size_t wg_grid_snapshot_size(wg_grid *grid);
WG_API wg_status wg_grid_snapshot(wg_grid *grid, void *to, size_t bytes);
WG_API wg_status wg_grid_restore(wg_grid *grid, const void *from, size_t bytes);

/*
 * Host memory behind the PCI Express tile, read and written by NoC requests to that tile. Called from the thread that
 * advances time. Addresses are bus addresses.
 */
typedef bool (*wg_host_read_fn)(void *user, uint64_t address, void *to, size_t bytes);
typedef bool (*wg_host_write_fn)(void *user, uint64_t address, const void *from, size_t bytes);
WG_API void wg_grid_host_memory(wg_grid *grid, wg_host_read_fn read, wg_host_write_fn write, void *user);

#ifdef __cplusplus
}
#endif
#endif
