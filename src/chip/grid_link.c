/* SPDX-License-Identifier: Apache-2.0 */
/* The chip's Ethernet links: which channels have one, and the frames that go in and out. */
#include <stdlib.h>

#include "chip/grid.h"
#include "chip/waits.h"
#include "engine/pages.h"

unsigned wg_grid_channels(const wg_grid *g)
{
    unsigned n = 0;
    for (unsigned i = 0; i < g->tiles; i++)
        n += g->kind[i] == WG_TILE_ETH;
    return n;
}

static unsigned channel_of(const wg_grid *g, unsigned tile)
{
    return wg_floorplan_index(g->plan, tile % g->plan->width, tile / g->plan->width);
}

unsigned wg_grid_channel_tile(const wg_grid *g, unsigned channel)
{
    unsigned i = 0;
    while (i < g->tiles && (g->kind[i] != WG_TILE_ETH || channel_of(g, i) != channel))
        i++;
    return i;
}

static bool begin(wg_grid *g, wg_device *dev, unsigned index)
{
    const wg_grid_link *l = &g->links[index];
    wg_tile *t = dev->tile;
    if (!t->link)
        t->link = wg_pages_new(sizeof *t->link);
    if (t->link)
        wg_eth_link_begin(t, &l->terms);
    return t->link;
}

bool wg_grid_link_made(wg_grid *g, wg_device *dev, unsigned index)
{
    return !g->links || !g->links[index].there || begin(g, dev, index);
}

bool wg_grid_link_channel(wg_grid *g, unsigned channel, const wg_grid_link *link)
{
    const unsigned index = wg_grid_channel_tile(g, channel);
    if (!g->links)
        g->links = calloc(WG_GRID_MAX_TILES, sizeof *g->links);
    if (!g->links || index >= g->tiles)
        return false;
    g->links[index] = *link;
    g->links[index].there = true;
    wg_device *dev = g->tile[index];
    if (!dev)
        return true;
    wg_act(dev);
    return begin(g, dev, index);
}

void wg_grid_frames(wg_grid *g, wg_frame_fn sent, void *user)
{
    for (unsigned i = g->first_made; i < g->end_made; i++) {
        wg_eth_link *l = g->tile[i] ? g->tile[i]->tile->link : NULL;
        if (!l || !wg_eth_link_outgoing(l))
            continue;
        for (uint32_t k = l->out.first; k != l->out.end; k++)
            sent(user, channel_of(g, i), &l->out.frame[k % WG_ETH_FRAMES], &l->out);
        wg_eth_link_taken(l);
    }
}

bool wg_grid_frame(wg_grid *g, unsigned channel, const wg_frame *frame, const void *bytes)
{
    const unsigned index = wg_grid_channel_tile(g, channel);
    wg_device *dev = index >= g->tiles ? NULL : g->tile[index] ? g->tile[index] : wg_grid_make(g, index);
    if (!dev || !dev->tile->link || !wg_eth_link_deliver(dev->tile, frame, bytes))
        return false;
    const uint64_t at = dev->tile->sched.next[WG_AGENT_LINK];
    dev->tile->poll.endless = false;
    g->endless[index] = 0;
    g->next[index] = at < g->next[index] ? at : g->next[index];
    g->sends[index] = at < g->sends[index] ? at : g->sends[index]; /* effects of the frame */
    g->first_send = at < g->first_send ? at : g->first_send;
    g->quiet_until = 0;
    return true;
}

bool wg_grid_link_state(const wg_grid *g, unsigned tile, wg_link_state *state)
{
    const wg_device *dev = tile < g->tiles ? g->tile[tile] : NULL;
    const wg_eth_link *l = dev ? dev->tile->link : NULL;
    if (!l)
        return false;
    *state = (wg_link_state){.channel = l->self.channel,
                             .peer_chip = l->peer.chip,
                             .peer_channel = l->peer.channel,
                             .down_since = l->up                 ? UINT64_MAX
                                           : g->now >= l->cut_at ? l->cut_at
                                                                 : 0};
    for (unsigned q = 0; q < WG_ETH_QUEUES; q++) {
        state->unsent += l->tx[q].end - l->tx[q].next + l->tx[q].pending;
        state->unacknowledged += l->tx[q].next - l->tx[q].head;
    }
    return true;
}
