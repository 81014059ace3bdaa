/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grid from inside: its tiles, and how models of other tiles plug in.
 *
 *     Tensix, Ethernet tile   a wg_device, made on first use
 *     DRAM          sparse host memory per channel (dram.c)
 *     PCIe, ARC, L2CPU, security   read and write functions of a model, by kind
 */
#ifndef WG_GRID_H
#define WG_GRID_H

#include <waitgate/chip.h>

#include "chip/dram.h"
#include "chip/what_if.h"
#include "machine/device.h"
#include "noc/floorplan.h"
#include "noc/network.h"

/*
 * A model of tiles that are registers and memory. Accesses come one at a time from the thread that calls the grid, in
 * the order of the clock; wg_grid_cycle() is the cycle of the access. `bytes` is at most 16384 for accesses of the NoC.
 * False: nothing is there. Words are accessed whole: address and size are the requester's.
 */
typedef struct wg_edge_ops {
    bool (*read)(void *user, wg_grid *grid, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes);
    bool (*write)(void *user, wg_grid *grid, unsigned x, unsigned y, uint64_t address, const void *from, size_t bytes);
    uint64_t (*hash)(void *user, wg_grid *grid); /* of its state; may be NULL */
    /*
     * Its state for a snapshot, or back from one; both may be NULL. With `to` and `from` NULL: returns the number of bytes.
     */
    size_t (*state)(void *user, void *to, const void *from);
} wg_edge_ops;
void wg_grid_plug(wg_grid *grid, wg_tile_kind kind, const wg_edge_ops *ops, void *user);

/* The host's memory, for models of PCI Express. False if there is none or the host refuses. */
bool wg_grid_host_read(wg_grid *grid, uint64_t address, void *to, size_t bytes);
bool wg_grid_host_write(wg_grid *grid, uint64_t address, const void *from, size_t bytes);

enum { WG_EDGE_EVENTS = 1 << 16 };

struct wg_workers;

/* A link to another chip, of the Ethernet tile of a channel. */
typedef struct wg_grid_link {
    bool there;
    wg_eth_terms terms;
} wg_grid_link;

struct wg_grid {
    const wg_floorplan *plan;
    const wg_arch *arch;
    const wg_timing *timing;
    wg_grid_desc desc;
    unsigned tiles; /* width * height */
    uint64_t now;
    uint16_t
        made_at[WG_GRID_MAX_TILES]; /* the tiles with cores that have been created: indices into tile[], ascending */
    unsigned made_tiles;            /* how many */
    wg_device *tile[WG_GRID_MAX_TILES]; /* [y * width + x]; NULL: not a Tensix tile, or not created yet */
    uint8_t kind[WG_GRID_MAX_TILES];    /* wg_tile_kind */
    wg_translation translation[2];
    wg_dram dram;
    struct {
        const wg_edge_ops *ops;
        void *user;
    } edge[WG_TILE_KINDS];
    wg_host_read_fn host_read;
    wg_host_write_fn host_write;
    void *host_user;
    char error[256];

    /* The NoCs (grid_noc.c). */
    wg_network *network;
    wg_noc_box *box[WG_GRID_MAX_TILES]; /* Tensix tiles: their own; others: made when they first answer */
    wg_packet *event;                   /* at tiles that are no devices: requests that arrive, answers that leave */
    uint32_t event_used, event_unused, events; /* entries ever used, free list, heap */
    uint64_t order, packets;                   /* numbers of packets delivered and sent */
    uint64_t edge_link[2][WG_GRID_MAX_TILES];
    uint64_t channel_free[WG_DRAM_TIMED];      /* in tenths of a cycle */
    uint32_t served[2][WG_GRID_MAX_TILES][16]; /* tiles that are no devices: their NIUs' counters, from 48 on */
    bool single_store[2][WG_GRID_MAX_TILES];   /* … and those that ignore header stores (NIU_CFG_0) */

    /* Time (grid_run.c). */
    uint64_t next[WG_GRID_MAX_TILES];    /* the tile's next active cycle */
    uint64_t sends[WG_GRID_MAX_TILES];   /* … and can send a packet */
    uint64_t endless[WG_GRID_MAX_TILES]; /* first cycle of an endless loop that only another tile can end; 0: none */
    uint64_t first_send;                 /* the earliest of those */
    uint64_t touches, touches_seen;
    uint64_t quiet_until; /* nothing happens before this cycle unless the host acts */
    struct wg_workers *workers;
    wg_grid_link *links; /* by tile; NULL: the chip has none (grid_link.c) */

    /* Scaled durations (machine/what_if.h); NULL: none. */
    const wg_what_if *what_if;
    wg_arch *scaled_arch;

    /* Called for every Tensix tile that is created, before it is used; may be NULL. */
    void (*made)(void *user, wg_device *dev, unsigned x, unsigned y);
    void *made_user;
};

/* Tiles of this kind are devices, with baby cores. */
static inline bool wg_has_cores(wg_tile_kind kind) { return kind == WG_TILE_TENSIX || kind == WG_TILE_ETH; }
/* Creates the tile with cores at `index`. NULL: there is no such tile, or no memory. */
wg_device *wg_grid_make(wg_grid *grid, unsigned index);

/* Moves packets that left the tiles' NIUs into the network. */
void wg_grid_inject(wg_grid *grid);
/*
 * Processes events at tiles that are not devices before cycle `end`, and in the network before `limit`, up to the horizon.
 * Returns the earliest cycle in which a packet can leave a NIU.
 */
uint64_t wg_grid_route(wg_grid *grid, uint64_t end, uint64_t limit);
/* Calls visit() for the packets between tiles, and at tiles that are not devices. */
typedef enum wg_under_way {
    WG_UNDER_WAY,    /* in routers and links */
    WG_UNDER_WAY_IN, /* its last flit arrives in cycle p->at */
    WG_UNDER_WAY_OUT /* an answer that leaves in cycle p->at */
} wg_under_way;
void wg_grid_packets(const wg_grid *grid, void (*visit)(void *user, const wg_packet *p, wg_under_way where),
                     void *user);
/* The next cycle with an event of either kind; WG_NEVER: none. */
uint64_t wg_grid_event_next(const wg_grid *grid);

/* Host threads (grid_threads.c): work(user, i) for each i below count, in any order, on any thread; returns when all
 * are done. */
typedef void (*wg_work_fn)(void *user, unsigned i);
void wg_workers_run(struct wg_workers **workers, unsigned threads, unsigned count, wg_work_fn work, void *user);
void wg_workers_free(struct wg_workers *workers);

wg_status wg_grid_fail(wg_grid *grid, wg_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Has nothing moved since cycle *since, except cores that poll, while work is unfinished? Call it after time has advanced,
 * before any write.
 */
bool wg_grid_hangs(const wg_grid *grid, uint64_t *since);

/* ---- a chip among others: grid_link.c, grid_run.c ---- */

/* The number of Ethernet channels, and the tile of one. */
unsigned wg_grid_channels(const wg_grid *grid);
unsigned wg_grid_channel_tile(const wg_grid *grid, unsigned channel);
/* Gives the channel a link. Its tile is not made for that. False: no memory. */
bool wg_grid_link_channel(wg_grid *grid, unsigned channel, const wg_grid_link *link);
/* For wg_grid_make(): a new tile gets its link. False: no memory. */
bool wg_grid_link_made(wg_grid *grid, wg_device *dev, unsigned index);
/* Calls `sent` for each frame that has left the chip since the last call. */
typedef void (*wg_frame_fn)(void *user, unsigned channel, const wg_frame *frame, const wg_frames *ring);
void wg_grid_frames(wg_grid *grid, wg_frame_fn sent, void *user);
/* Delivers a frame to a channel. False: there is no room, or no link. */
bool wg_grid_frame(wg_grid *grid, unsigned channel, const wg_frame *frame, const void *bytes);

/* The state of a chip at the end of a window. */
typedef struct wg_grid_rest {
    bool over;     /* nothing will happen unless a frame arrives or a link changes */
    bool hung;     /* … and something is unfinished */
    uint64_t next; /* the next cycle in which something happens */
} wg_grid_rest;
/*
 * Advances to cycle `end`. All frames that arrive before it are known. Nobody looks at the chip before `limit`. may_stop: the run
 * ends when nothing can move.
 */
wg_status wg_grid_window(wg_grid *grid, uint64_t end, uint64_t limit, bool may_stop, wg_grid_rest *rest);
/* Before the first window of a run; and after the last one, whose end all tiles reach. */
void wg_grid_run_begins(wg_grid *grid);
void wg_grid_run_ends(wg_grid *grid);
/* Is any tile observed? */
bool wg_grid_observed(const wg_grid *grid);
/* Has a finding ordered the run to stop, or does the condition of a tile hold? */
bool wg_grid_stopped(const wg_grid *grid, wg_stop *why);

/* Accesses any tile without cores; false if nothing is there. */
bool wg_edge_read(wg_grid *grid, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes);
bool wg_edge_write(wg_grid *grid, unsigned x, unsigned y, uint64_t address, const void *from, size_t bytes);

#endif
