/* SPDX-License-Identifier: Apache-2.0 */
/* The public cluster: creation, chips, links. Time is in run.c, frames in exchange.c. */
#include "cluster/cluster.h"
#include "machine/sized.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

wg_status wg_cluster_fail(wg_cluster *c, wg_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->error, sizeof c->error, format, args);
    va_end(args);
    return status;
}

const char *wg_cluster_error(const wg_cluster *c) { return c->error; }
unsigned wg_cluster_chips(const wg_cluster *c) { return c->chips; }

/* Default placement: each rank gets consecutive chips, since neighbours are often connected. */
static unsigned rank_of(const wg_cluster *c, unsigned chip)
{
    return c->ranks ? (unsigned)((uint64_t)chip * c->ranks->ranks / c->chips) : 0;
}

bool wg_cluster_here(const wg_cluster *c, unsigned chip)
{
    return chip < c->chips && (!c->ranks || c->chip[chip].rank == c->ranks->rank);
}

wg_grid *wg_cluster_chip(const wg_cluster *c, unsigned chip) { return chip < c->chips ? c->chip[chip].grid : NULL; }

static bool allocate(wg_cluster *c)
{
    c->chip = calloc(c->chips, sizeof *c->chip);
    c->due = calloc(c->chips, sizeof *c->due);
    if (!c->chip || !c->due)
        return false;
    if (!c->ranks)
        return true;
    c->peers = calloc(c->ranks->ranks, sizeof *c->peers);
    c->out = calloc(c->ranks->ranks, sizeof *c->out);
    c->in = calloc(c->ranks->ranks, sizeof *c->in);
    return c->peers && c->out && c->in;
}

wg_status wg_cluster_create(const wg_cluster_desc *given, wg_cluster **out)
{
    wg_cluster_desc desc = {0};
    if (!given || !out || given->struct_size < offsetof(wg_cluster_desc, threads) || given->struct_size > sizeof desc)
        return WG_ERR_ARGUMENT;
    memcpy(&desc, given, given->struct_size);
    if (!desc.chips || desc.chips > WG_CLUSTER_CHIPS || (desc.ranks && desc.ranks->struct_size != sizeof *desc.ranks))
        return WG_ERR_ARGUMENT; /* a later version may know smaller ones */
    *out = NULL;
    wg_cluster *c = calloc(1, sizeof *c);
    if (!c)
        return WG_ERR_NO_MEMORY;
    c->chips = desc.chips;
    c->threads = desc.threads;
    c->ranks = desc.ranks;
    c->observers_apart = desc.observers_apart;
    wg_status status = allocate(c) ? WG_OK : WG_ERR_NO_MEMORY;
    for (unsigned i = 0; status == WG_OK && i < c->chips; i++)
        c->chip[i].rank = desc.ranks && desc.rank ? desc.rank[i] : rank_of(c, i);
    for (unsigned i = 0; desc.chip && status == WG_OK && i < c->chips; i++) {
        wg_grid_desc own = {0};
        wg_grid *grid;
        if (desc.chip->struct_size > sizeof own) {
            status = WG_ERR_ARGUMENT;
            break;
        }
        memcpy(&own, desc.chip, desc.chip->struct_size);
        own.struct_size = sizeof own;
        own.threads = 1;
        if (!wg_cluster_here(c, i))
            continue;
        status = wg_grid_create(&own, &grid);
        if (status != WG_OK)
            break;
        status = wg_cluster_place(c, i, grid);
        c->chip[i].owned = true;
    }
    if (status != WG_OK) {
        wg_cluster_destroy(c);
        return status;
    }
    *out = c;
    return WG_OK;
}

void wg_cluster_destroy(wg_cluster *c)
{
    if (!c)
        return;
    wg_workers_free(c->workers);
    for (unsigned i = 0; c->chip && i < c->chips; i++) {
        if (c->chip[i].owned)
            wg_grid_destroy(c->chip[i].grid);
        free(c->chip[i].peer);
    }
    for (unsigned i = 0; c->ranks && i < c->ranks->ranks; i++) {
        if (c->out)
            wg_message_free(&c->out[i]);
        if (c->in)
            wg_message_free(&c->in[i]);
    }
    free(c->peers);
    free(c->out);
    free(c->in);
    free(c->chip);
    free(c->due);
    free(c->link);
    free(c);
}

wg_status wg_cluster_place(wg_cluster *c, unsigned chip, wg_grid *grid)
{
    if (chip >= c->chips || !grid)
        return wg_cluster_fail(c, WG_ERR_ARGUMENT, "there is no place %u: the cluster has %u chips", chip, c->chips);
    if (c->chip[chip].grid || !wg_cluster_here(c, chip))
        return wg_cluster_fail(c, WG_ERR_STATE, "chip %u is already there, or belongs to another process", chip);
    if (c->now || grid->now || grid->desc.threads > 1)
        return wg_cluster_fail(c, WG_ERR_STATE, "chip %u is not at cycle 0, or has several host threads", chip);
    if (c->known_arch && (grid->desc.arch != c->arch || grid->desc.profile != c->profile))
        return wg_cluster_fail(c, WG_ERR_ARGUMENT, "chip %u is of another architecture or timing profile", chip);
    c->known_arch = true;
    c->arch = grid->desc.arch;
    c->profile = grid->desc.profile;
    c->channels = wg_grid_channels(grid);
    c->window = 1u + grid->timing->eth_latency;
    c->chip[chip].grid = grid;
    return WG_OK;
}

/* Finds the ranks that have a neighbour of one of our chips. */
static void find_peers(wg_cluster *c)
{
    for (unsigned i = 0; c->ranks && i < c->ranks->ranks; i++)
        c->peers[i] = false;
    for (unsigned i = 0; c->ranks && i < c->links; i++) {
        const unsigned a = c->chip[c->link[i].end[0].chip].rank, b = c->chip[c->link[i].end[1].chip].rank;
        if (a != b && (a == c->ranks->rank || b == c->ranks->rank))
            c->peers[a == c->ranks->rank ? b : a] = true;
    }
}

static wg_status no_memory(wg_cluster *c) { return wg_cluster_fail(c, WG_ERR_NO_MEMORY, "out of memory"); }

/* Records for one end which chip and channel is at the other. */
static bool attach(wg_cluster *c, const wg_cluster_link *link, unsigned end)
{
    const wg_cluster_end here = link->end[end], there = link->end[!end];
    wg_cluster_chip_state *s = &c->chip[here.chip];
    s->peer[here.channel] = (wg_cluster_peer){(uint16_t)there.chip, (uint8_t)there.channel, true};
    const wg_grid_link l = {.terms = {.up_at = link->up_at,
                                      .cut_at = link->cut_at ? link->cut_at : WG_NEVER,
                                      .again_at = link->again_at ? link->again_at : WG_NEVER,
                                      .lose_every = link->lose_every[end],
                                      .self = {here.chip, here.channel},
                                      .peer = {there.chip, there.channel}}};
    return !s->grid || wg_grid_link_channel(s->grid, here.channel, &l);
}

wg_status wg_cluster_connect(wg_cluster *c, const wg_cluster_link *given, unsigned *number)
{
    wg_cluster_link own;
    const wg_cluster_link *link = &own;
    if (!wg_take_sized(&own, sizeof own, given, 0, offsetof(wg_cluster_link, up_at)))
        return wg_cluster_fail(c, WG_ERR_ARGUMENT,
                               "wg_cluster_link.struct_size is %u, which is not that of any version",
                               wg_size_given(given));
    own.struct_size = sizeof own;
    if (!c->known_arch)
        return wg_cluster_fail(c, WG_ERR_STATE, "place chips before they are connected");
    if (c->now)
        return wg_cluster_fail(c, WG_ERR_STATE, "chips are connected before time advances");
    if (link->up_at > WG_NEVER / 8 || link->cut_at > WG_NEVER / 8 || (link->cut_at && link->cut_at <= link->up_at))
        return wg_cluster_fail(c, WG_ERR_ARGUMENT, "a link is cut after it has come up, or never");
    if (link->again_at > WG_NEVER / 8 || (link->again_at && (!link->cut_at || link->again_at <= link->cut_at)))
        return wg_cluster_fail(c, WG_ERR_ARGUMENT, "a link is trained again after it was cut, or never");
    for (unsigned i = 0; i < 2; i++) {
        const wg_cluster_end *e = &link->end[i];
        if (e->chip >= c->chips)
            return wg_cluster_fail(c, WG_ERR_ARGUMENT, "there is no chip %u: the cluster has %u", e->chip, c->chips);
        if (e->channel >= c->channels)
            return wg_cluster_fail(c, WG_ERR_ARGUMENT, "there is no Ethernet channel %u: a chip has %u", e->channel,
                                   c->channels);
        wg_cluster_chip_state *s = &c->chip[e->chip];
        if (!s->peer && !(s->peer = calloc(c->channels, sizeof *s->peer)))
            return no_memory(c);
        if (s->peer[e->channel].there)
            return wg_cluster_fail(c, WG_ERR_ARGUMENT, "channel %u of chip %u is already connected", e->channel,
                                   e->chip);
    }
    if (link->end[0].chip == link->end[1].chip && link->end[0].channel == link->end[1].channel)
        return wg_cluster_fail(c, WG_ERR_ARGUMENT, "a channel cannot be connected to itself");
    if (c->links == c->links_room) {
        unsigned room = c->links_room ? 2 * c->links_room : 64;
        wg_cluster_link *more = realloc(c->link, room * sizeof *more);
        if (!more)
            return no_memory(c);
        c->link = more;
        c->links_room = room;
    }
    if (!attach(c, link, 0) || !attach(c, link, 1))
        return no_memory(c);
    if (number)
        *number = c->links;
    c->link[c->links++] = *link;
    find_peers(c);
    return WG_OK;
}

/* ---- Chips that change their rank -------------------------------------------------------------------------------- */

unsigned wg_cluster_rank(const wg_cluster *c, unsigned chip) { return c->chip[chip].rank; }

uint64_t wg_cluster_load(wg_cluster *c, unsigned chip)
{
    const uint64_t busy = c->chip[chip].busy;
    c->chip[chip].busy = 0;
    return busy;
}

void wg_cluster_leaves(wg_cluster *c, unsigned chip) { c->chip[chip].grid = NULL; }

bool wg_cluster_comes(wg_cluster *c, unsigned chip, wg_grid *grid)
{
    bool ok = true;
    c->chip[chip].grid = grid;
    for (unsigned i = 0; ok && i < c->links; i++)
        for (unsigned end = 0; ok && end < 2; end++)
            if (c->link[i].end[end].chip == chip)
                ok = attach(c, &c->link[i], end);
    return ok;
}

void wg_cluster_moved(wg_cluster *c, unsigned chip, unsigned rank)
{
    c->chip[chip].rank = rank;
    find_peers(c);
}

unsigned wg_cluster_links(const wg_cluster *c) { return c->links; }

const wg_cluster_link *wg_cluster_link_at(const wg_cluster *c, unsigned number)
{
    return number < c->links ? &c->link[number] : NULL;
}

bool wg_cluster_traffic_at(const wg_cluster *c, unsigned number, unsigned end, wg_cluster_traffic *traffic)
{
    *traffic = (wg_cluster_traffic){0};
    if (number >= c->links || end > 1)
        return false;
    const wg_cluster_end *e = &c->link[number].end[end];
    const wg_grid *g = c->chip[e->chip].grid;
    if (!g)
        return false;
    const wg_device *dev = g->tile[wg_grid_channel_tile(g, e->channel)];
    const wg_eth_link *l = dev ? dev->tile->link : NULL;
    if (l)
        *traffic = (wg_cluster_traffic){l->sent, l->sent_bytes, l->received, l->received_bytes, l->resent, l->lost};
    return true;
}
