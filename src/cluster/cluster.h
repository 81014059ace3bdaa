/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster's internals. */
#ifndef WG_CLUSTER_H
#define WG_CLUSTER_H

#include <waitgate/cluster.h>

#include "chip/grid.h"
#include "cluster/transport.h"

/* The other end of a channel's link. */
typedef struct wg_cluster_peer {
    uint16_t chip;
    uint8_t channel;
    bool there;
} wg_cluster_peer;

typedef struct wg_cluster_chip_state {
    wg_grid *grid; /* NULL: not placed, or on another rank */
    bool owned;    /* created by the cluster */
    unsigned rank;
    wg_cluster_peer *peer; /* by channel */
    uint64_t busy;         /* processor time in nanoseconds since the last wg_cluster_load(); only with several ranks */
    wg_grid_rest rest;     /* at the end of the last window */
    wg_status status;
} wg_cluster_chip_state;

struct wg_cluster {
    unsigned chips, threads, channels;
    wg_arch_id arch;
    bool known_arch;
    wg_profile profile;
    uint64_t now, window;
    wg_cluster_chip_state *chip;
    wg_cluster_link *link;
    unsigned links, links_room;
    wg_transport *ranks;
    bool observers_apart;
    bool *peers;          /* by rank: has a chip that is connected to one of ours */
    wg_message *out, *in; /* by rank */
    struct wg_workers *workers;
    uint64_t end;       /* of the current window */
    uint64_t limit;     /* of the run */
    bool may_stop;      /* … which ends when nothing can move */
    uint16_t *due;      /* the chips to compute in it */
    uint64_t frame_at;  /* arrival cycle of the first frame sent in it; WG_NEVER: none */
    uint64_t lively_at; /* … the first other than an update */
    char error[256];
};

wg_status wg_cluster_fail(wg_cluster *c, wg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Values reduced to their minimum over all processes at the end of each window. */
enum {
    WG_CLUSTER_FAILED, /* 0: a process has failed */
    WG_CLUSTER_LIVELY, /* lively_at */
    WG_CLUSTER_NEXT,   /* the next cycle in which something happens */
    WG_CLUSTER_OVER,   /* 0: a chip still has work */
    WG_CLUSTER_HUNG,   /* 0: a chip has unfinished work, but cannot proceed */
    WG_CLUSTER_STOPS,
    WG_CLUSTER_VALUES
};

/*
 * exchange.c: delivers frames between the chips of this process and others at the end of a window. value[]: as for a
 * transport.
 */
bool wg_cluster_exchange(wg_cluster *c, uint64_t value[WG_CLUSTER_VALUES]);

#endif
