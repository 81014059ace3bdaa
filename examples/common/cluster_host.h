/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the hosts of the examples for several chips: a ready-made cluster with its links, Ethernet tiles by
 * channel, a ring through all chips, and the place of a tile in kernels' coordinates.
 *
 *     cluster c = cluster_begin(&h, "p150x4");
 *     cluster_ring(&c);                        c.hop[i]: the chips of a ring, each with its channels out and in
 *     wg_device *dev = cluster_eth(&c, chip, channel);
 *     cluster_run(&c, 1000000);
 */
#ifndef CLUSTER_HOST_H
#define CLUSTER_HOST_H

#include <waitgate/cluster.h>

#include "host.h"

enum { CLUSTER_MOST = 32, CLUSTER_CHANNELS = 16 };

typedef struct hop {
    unsigned chip, out, in; /* out: the channel to the next chip; in: the one from the previous chip */
} hop;

typedef struct cluster {
    wg_cluster *all;
    const wg_topology *topology;
    unsigned chips;
    hop hop[CLUSTER_MOST];
} cluster;

static inline cluster cluster_begin(const host *h, const char *name)
{
    cluster c = {.topology = wg_topology_find(name)};
    const wg_grid_desc chip = {.struct_size = sizeof chip, .arch = h->arch, .profile = WG_PROFILE_DEFAULT};
    wg_cluster_link link = {.struct_size = sizeof link};
    if (!c.topology || c.topology->arch != h->arch || c.topology->chips > CLUSTER_MOST)
        host_fail("there is no such cluster as %s of this architecture", name);
    c.chips = c.topology->chips;
    const wg_cluster_desc desc = {.struct_size = sizeof desc, .chips = c.chips, .threads = 2, .chip = &chip};
    if (wg_cluster_create(&desc, &c.all) != WG_OK)
        host_fail("no cluster");
    for (unsigned i = 0; wg_topology_link(c.topology, i, &link); i++)
        if (wg_cluster_connect(c.all, &link, NULL) != WG_OK)
            host_fail("%s", wg_cluster_error(c.all));
    return c;
}

/* The other end of a channel; false: it has no link. */
static inline bool cluster_peer(const cluster *c, unsigned chip, unsigned channel, wg_cluster_end *peer)
{
    wg_cluster_link link = {.struct_size = sizeof link};
    for (unsigned i = 0; wg_topology_link(c->topology, i, &link); i++)
        for (unsigned k = 0; k < 2; k++)
            if (link.end[k].chip == chip && link.end[k].channel == channel) {
                *peer = link.end[!k];
                return true;
            }
    return false;
}

static inline void cluster_tile_of(const cluster *c, unsigned channel, unsigned *x, unsigned *y)
{
    const wg_grid *g = wg_cluster_chip(c->all, 0);
    for (*y = 0; *y < wg_grid_height(g); ++*y)
        for (*x = 0; *x < wg_grid_width(g); ++*x)
            if (wg_grid_kind(g, *x, *y) == WG_TILE_ETH && wg_grid_index(g, *x, *y) == channel)
                return;
    host_fail("there is no channel %u", channel);
}

static inline wg_device *cluster_device(const cluster *c, unsigned chip, unsigned x, unsigned y)
{
    wg_device *dev = wg_grid_tile(wg_cluster_chip(c->all, chip), x, y);
    if (!dev)
        host_fail("chip %u: there is no tile at (%u, %u)", chip, x, y);
    return dev;
}

static inline wg_device *cluster_eth(const cluster *c, unsigned chip, unsigned channel)
{
    unsigned x, y;
    cluster_tile_of(c, channel, &x, &y);
    return cluster_device(c, chip, x, y);
}

/* The place of a channel's tile for requests of kernels (translated coordinates). */
static inline uint32_t cluster_place(const host *h, unsigned channel)
{
    static const uint8_t column[8] = {25, 18, 24, 19, 23, 20, 22, 21};
    return h->arch == WG_ARCH_WH ? column[channel % 8] | (channel < 8 ? 16u : 17u) << 6 : (20 + channel) | 25u << 6;
}

/* Extends a ring of `done` chips by others whose channels are free; true: it is closed. */
static inline bool cluster_ring_from(cluster *c, unsigned done, unsigned used[CLUSTER_MOST])
{
    hop *last = &c->hop[done - 1];
    wg_cluster_end next;
    for (unsigned out = 0; out < CLUSTER_CHANNELS; out++) {
        if ((used[last->chip] >> out & 1) || !cluster_peer(c, last->chip, out, &next) ||
            (used[next.chip] >> next.channel & 1))
            continue;
        bool seen = false;
        for (unsigned i = 0; i < done; i++)
            seen |= c->hop[i].chip == next.chip;
        const bool closes = done == c->chips && next.chip == c->hop[0].chip;
        if (seen && !closes)
            continue;
        used[last->chip] |= 1u << out;
        used[next.chip] |= 1u << next.channel;
        last->out = out;
        c->hop[closes ? 0 : done].chip = next.chip;
        c->hop[closes ? 0 : done].in = next.channel;
        if (closes || cluster_ring_from(c, done + 1, used))
            return true;
        used[last->chip] &= ~(1u << out);
        used[next.chip] &= ~(1u << next.channel);
    }
    return false;
}
static inline void cluster_ring(cluster *c)
{
    unsigned used[CLUSTER_MOST] = {0};
    c->hop[0].chip = 0;
    if (!cluster_ring_from(c, 1, used))
        host_fail("no ring leads through all chips");
}

static inline uint64_t cluster_run(const cluster *c, uint64_t cycles)
{
    wg_stop stop;
    if (wg_cluster_run(c->all, cycles, &stop) != WG_OK || stop != WG_STOP_DONE)
        host_fail("it does not end (%d): %s", (int)stop, wg_cluster_error(c->all));
    return wg_cluster_cycle(c->all);
}

#endif
