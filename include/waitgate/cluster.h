/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster: chips of one architecture whose Ethernet tiles are connected by links.
 *
 * All chips share one clock; advance time by the functions below and never by those of one chip. A chip that does nothing
 * costs almost nothing, neither time nor memory. The number of host threads, and of processes (ranks), affects no result.
 */
#ifndef WAITGATE_CLUSTER_H
#define WAITGATE_CLUSTER_H

#include <waitgate/chip.h>
#include <waitgate/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wg_cluster wg_cluster;

enum { WG_CLUSTER_CHIPS = 4096 }; /* at most */

typedef struct wg_cluster_desc {
    uint32_t struct_size;     /* sizeof(wg_cluster_desc): a caller that knows fewer fields gets 0 for the others */
    unsigned chips;           /* how many */
    unsigned threads;         /* host threads that compute; 0 or 1: only the caller's. Does not affect results */
    const wg_grid_desc *chip; /* creates all of them like this one; NULL: the caller places them (wg_cluster_place()) */
    wg_transport *ranks;      /* connects several processes; NULL: one process. Owned by the caller */
    const unsigned *rank;     /* the rank of each chip; NULL: each rank gets an equal share of consecutive chips */
    bool observers_apart;     /* those of different chips may be called at the same time; else on the caller's thread */
} wg_cluster_desc;

/* One end of a link. Channels are numbered like Ethernet tiles: E0, E1 … (wg_grid_index()). */
typedef struct wg_cluster_end {
    unsigned chip, channel;
} wg_cluster_end;

typedef struct wg_cluster_link {
    uint32_t struct_size; /* sizeof(wg_cluster_link): a caller that knows fewer fields gets 0 for the others */
    wg_cluster_end end[2];
    uint64_t up_at;         /* the cycle in which it comes up; 0: it is up from the beginning */
    uint64_t cut_at;        /* the cycle from which on nothing gets through; 0: never */
    uint64_t lose_every[2]; /* every N-th frame sent from this end is corrupted on the way and lost; 0: none */
    uint64_t again_at;      /* the cycle in which a link that was cut has been trained again; 0: never */
} wg_cluster_link;

/* The traffic of one end since the start: frames, and the bytes that they carried. */
typedef struct wg_cluster_traffic {
    uint64_t sent, sent_bytes, received, received_bytes;
    uint64_t resent; /* number of TT-link packets sent again */
    uint64_t lost;   /* frames corrupted on the way, or in flight when the link was cut */
} wg_cluster_traffic;

WG_API wg_status wg_cluster_create(const wg_cluster_desc *desc, wg_cluster **out);
/* Destroys the cluster, and the chips that it created. */
WG_API void wg_cluster_destroy(wg_cluster *cluster);
WG_API const char *wg_cluster_error(const wg_cluster *cluster);
WG_API unsigned wg_cluster_chips(const wg_cluster *cluster);

/* Places a chip at an empty position, before time advances. The chip must be at cycle 0 and have one host thread. */
WG_API wg_status wg_cluster_place(wg_cluster *cluster, unsigned chip, wg_grid *grid);
/* NULL: none, or it belongs to another process. */
WG_API wg_grid *wg_cluster_chip(const wg_cluster *cluster, unsigned chip);
/* Does the chip belong to this process? */
WG_API bool wg_cluster_here(const wg_cluster *cluster, unsigned chip);

/* Connects two channels, before time advances. *link, if not NULL, is the link's number: 0, 1 … */
WG_API wg_status wg_cluster_connect(wg_cluster *cluster, const wg_cluster_link *link, unsigned *number);
WG_API unsigned wg_cluster_links(const wg_cluster *cluster);
WG_API const wg_cluster_link *wg_cluster_link_at(const wg_cluster *cluster, unsigned number);
/* Traffic at end 0 or 1 of a link. False: that chip belongs to another process. */
WG_API bool wg_cluster_traffic_at(const wg_cluster *cluster, unsigned number, unsigned end,
                                  wg_cluster_traffic *traffic);

/* Time. */
WG_API uint64_t wg_cluster_cycle(const wg_cluster *cluster);
/* The longest time that chips run independently: the minimum latency of a link. */
WG_API uint64_t wg_cluster_window(const wg_cluster *cluster);
/* Advances by exactly `cycles`. */
WG_API wg_status wg_cluster_advance(wg_cluster *cluster, uint64_t cycles);
/*
 * Advances by at most `cycles`; returns earlier, at a multiple of wg_cluster_window(), when everything is done, hung or
 * told to stop (wg_stop_on(), wg_until() of a tile).
 */
WG_API wg_status wg_cluster_run(wg_cluster *cluster, uint64_t cycles, wg_stop *stop);
/*
 * A hash of all architectural state, equal for equal states whatever the host, threads, processes or observers. Every process
 * calls it; the first one gets the hash.
 */
WG_API wg_status wg_cluster_state_hash(wg_cluster *cluster, uint64_t *hash);

/*
 * A ready-made cluster by name: n150, n300, t3000, galaxy, p150, p150x4, p300 (case does not matter). NULL: no such
 * cluster.
 */
typedef struct wg_topology {
    const char *name, *what;
    wg_arch_id arch;
    unsigned chips;
} wg_topology;
WG_API const wg_topology *wg_topology_at(unsigned i);
WG_API const wg_topology *wg_topology_find(const char *name);
/* False: it has fewer links. Set link->struct_size before. */
WG_API bool wg_topology_link(const wg_topology *topology, unsigned number, wg_cluster_link *link);

/*
 * Snapshots of all chips, as for wg_grid_snapshot(). With several processes, a snapshot covers this process's chips;
 * restoring takes these chips from a snapshot that may contain others.
 */
WG_API size_t wg_cluster_snapshot_size(wg_cluster *cluster);
WG_API wg_status wg_cluster_snapshot(wg_cluster *cluster, void *to, size_t bytes);
WG_API wg_status wg_cluster_restore(wg_cluster *cluster, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
