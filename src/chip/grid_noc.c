/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traffic between the tiles: packets from NIUs are routed and delivered; requests to tiles that are not devices are served
 * here.
 *
 * Events are processed in the order of cycles and, within a cycle, of places, whichever thread computed them and wherever
 * windows end. So the arbitration of links and channels is the same in every run.
 *
 * Facts: NoC/README.md, DRAMTile/README.md, docs/timing_constants.md. Decided here: a DRAM channel serves requests in
 * the order of their arrival; other tiles that are not devices answer in the cycle after the request has arrived.
 */
#include <stdlib.h>
#include <string.h>

#include "chip/grid.h"
#include "chip/waits.h"
#include "engine/pages.h"
#include "report/findings.h"
#include "machine/niu.h"

/* Order within one cycle: arrivals in the order of routing, then departures. */
static uint64_t leaving_order(const wg_packet *p)
{
    return UINT64_C(1) << 63 | (uint64_t)p->from << 48 | (uint64_t)p->noc << 47 |
           (p->order & ((UINT64_C(1) << 47) - 1));
}

/* ---- events at tiles that are not devices ------------------------------------------------------------------- */

static void put_event(wg_grid *g, const wg_packet *p)
{
    uint32_t entry = g->event_unused;
    if (!g->event) /* allocated together with the grid */
        return;
    if (entry)
        g->event_unused = g->event[entry].next;
    else if (g->event_used < WG_EDGE_EVENTS)
        entry = ++g->event_used;
    if (!entry) {
        wg_grid_fail(g, WG_ERR_NO_MEMORY, "more than %d NoC requests wait at DRAM and the like; one was lost",
                     WG_EDGE_EVENTS);
        return;
    }
    g->event[entry] = *p;
    wg_heap_put(g->event, &g->events, entry);
}

static wg_packet take_event(wg_grid *g)
{
    uint32_t entry = wg_heap_take(g->event, &g->events);
    wg_packet p = g->event[entry];
    g->event[entry] = (wg_packet){.next = g->event_unused};
    g->event_unused = entry;
    return p;
}

/* A finding belongs to the requesting tile. */
static void complain(wg_grid *g, wg_finding_code code, const wg_packet *p, const char *what)
{
    unsigned tile = p->to, w = g->plan->width;
    uint16_t asker = p->kind <= WG_PACKET_ATOMIC ? p->from : p->to;
    wg_device *dev = asker < g->tiles ? g->tile[asker] : NULL;
    if (dev) {
        uint64_t now = dev->tile->sched.now;
        dev->tile->sched.now = p->at; /* not at the end of the current window */
        wg_findf(dev->tile, code,
                 wg_asker_finding(p->asker, (wg_finding){.subject = (uint32_t)p->address, .value = p->bytes}),
                 "%s at (%u, %u), 0x%llx of NoC %u, %u bytes: %s",
                 wg_tile_kind_name((wg_tile_kind)(tile < g->tiles ? g->kind[tile] : 0)), tile % w, tile / w,
                 (unsigned long long)p->address, p->noc, p->bytes, what);
        dev->tile->sched.now = now;
    }
}

static void lost(wg_grid *g)
{
    wg_grid_fail(g, WG_ERR_NO_MEMORY, "more than %d packets are under way; one was lost", WG_FLIGHTS - 1);
}

/* ---- routing ------------------------------------------------------------------------------------------------ */

static void sends_from(wg_grid *g, unsigned tile, uint64_t cycle)
{
    g->sends[tile] = cycle < g->sends[tile] ? cycle : g->sends[tile];
    g->first_send = cycle < g->first_send ? cycle : g->first_send;
}

static void deliver(wg_grid *g, wg_packet *p, uint16_t tile, uint64_t cycle, wg_way way)
{
    p->to = tile;
    p->left = p->at;
    p->hops = way.hops;
    p->waited = way.waited;
    p->at = cycle;
    p->order = ++g->order;
    switch (g->kind[tile]) {
    case WG_TILE_TENSIX:
    case WG_TILE_ETH: {
        wg_device *dev = g->tile[tile] ? g->tile[tile] : wg_grid_make(g, tile);
        if (dev && wg_niu_deliver(dev->tile, p)) {
            dev->tile->poll.endless = false;
            g->endless[tile] = 0;
            g->next[tile] = cycle < g->next[tile] ? cycle : g->next[tile];
            sends_from(g, tile, cycle);
        }
        break;
    }
    case WG_TILE_NONE:
    case WG_TILE_ROUTER:
    case WG_TILE_HARVESTED: complain(g, WG_F_NOC_NOWHERE, p, "nothing answers there"); break;
    default: put_event(g, p); break;
    }
}

static bool listens(void *user, uint16_t tile)
{
    const wg_grid *g = user;
    return g->kind[tile] == WG_TILE_TENSIX;
}

static void arrives(void *user, const wg_packet *p, uint16_t tile, uint64_t cycle, wg_way way)
{
    wg_packet copy = *p;
    deliver(user, &copy, tile, cycle, way);
}

static void done(void *user, const wg_packet *p, uint64_t cycle)
{
    wg_grid *g = user;
    if (p->flags & WG_PACKET_BROADCAST) /* the sender's own copy may arrive later */
        cycle += 2u * g->timing->noc_niu + wg_packet_cycles(p, g->arch->noc.flit_bytes, g->timing->noc_pause);
    if (p->kind == WG_PACKET_WRITE || p->kind == WG_PACKET_DATA)
        wg_ring_until(&g->box[p->from]->ring[p->noc], p->slot, cycle);
}

static void left(void *user, const wg_packet *p, uint64_t at, uint64_t free)
{
    wg_grid *g = user;
    wg_device *dev = g->tile[p->from];
    if (!dev)
        return;
    wg_niu_left(dev->tile, p->noc, wg_packet_cycles(p, g->arch->noc.flit_bytes, g->timing->noc_pause), at, free);
    uint64_t next = dev->tile->sched.next[WG_AGENT_NIU0 + p->noc];
    if (next < g->next[p->from]) {
        dev->tile->poll.endless = false;
        g->endless[p->from] = 0;
        g->next[p->from] = next;
    }
    sends_from(g, p->from, next);
}

/* A DRAM tile accepts a write at its channel's rate, but for a few buffered flits. */
static uint32_t takes(void *user, const wg_packet *p, uint16_t tile)
{
    const wg_grid *g = user;
    if (g->kind[tile] != WG_TILE_DRAM || p->kind != WG_PACKET_WRITE)
        return 0;
    uint32_t flits = wg_packet_flits(p, g->arch->noc.flit_bytes),
             few = wg_niu_ahead(g->timing, g->arch->noc.buffer_flits);
    return flits > few ? (flits - few) * g->arch->noc.flit_bytes * 10 / g->timing->dram_write_rate : 0;
}

static wg_network_env env_of(wg_grid *g)
{
    return (wg_network_env){.plan = g->plan,
                            .timing = g->timing,
                            .flit_bytes = g->arch->noc.flit_bytes,
                            .buffer_flits = g->arch->noc.buffer_flits,
                            .capacity = g->timing->noc_hop / 10u + g->arch->noc.buffer_flits,
                            .user = g,
                            .arrives = arrives,
                            .done = done,
                            .left = left,
                            .takes = takes,
                            .listens = listens};
}

static bool route(wg_grid *g, const wg_packet *p)
{
    wg_network_env env = env_of(g);
    g->packets++;
    return wg_network_send(g->network, &env, p);
}

/* ---- serving ------------------------------------------------------------------------------------------------ */

static const uint8_t *data_of(const wg_grid *g, const wg_packet *p)
{
    return g->box[p->from]->ring[p->noc].bytes + p->payload;
}

/* The channel of an address in a DRAM tile: WH's tiles have two, one in each half. */
static unsigned channel_of(const wg_grid *g, const wg_packet *p)
{
    unsigned tile = wg_floorplan_index(g->plan, p->to % g->plan->width, p->to / g->plan->width),
             each = g->plan->dram_halves;
    uint64_t half = p->address % g->plan->dram_bytes / (g->plan->dram_bytes / each);
    return (unsigned)(tile * each + half) % WG_DRAM_TIMED;
}

/* For the answer of a tile that is not a device: the earliest cycle of its last flit and, in *begins, of its first. */
static uint64_t memory_done(wg_grid *g, const wg_packet *p, uint64_t *begins)
{
    if (g->kind[p->to] != WG_TILE_DRAM)
        return *begins = p->at + 1;
    const wg_timing *time = g->timing;
    bool reads = p->kind == WG_PACKET_READ;
    uint64_t answers = (reads ? time->noc_data : time->noc_ack) - 1u; /* as for L1 */
    uint64_t *free = &g->channel_free[channel_of(g, p)],
             takes = p->bytes * UINT64_C(100) / (reads ? time->dram_rate : time->dram_write_rate);
    if (p->kind == WG_PACKET_WRITE && p->bytes < g->arch->noc.dram_line && takes < time->dram_partial)
        takes = time->dram_partial;
    uint64_t start = (p->at + answers + (reads ? time->dram_latency : 0)) * 10;
    if (start < *free)
        start = *free;
    *free = start + (reads && takes < time->dram_request ? time->dram_request : takes);
    *begins = start / 10;
    if (time->dram_queue)
        wg_network_room(g->network, p->noc, p->to, *begins + time->noc_niu);
    return reads ? (start + takes + 9) / 10 : *begins + time->dram_answer;
}

static void answer(wg_grid *g, const wg_packet *p, wg_packet_kind kind, uint32_t data, uint64_t cycle)
{
    wg_packet a = {.at = cycle,
                   .address = p->back_address,
                   .back_address = p->address,
                   .data = data,
                   .bytes = kind == WG_PACKET_DATA ? p->bytes : 4,
                   .transaction = p->transaction,
                   .from = p->to,
                   .to = p->back,
                   .kind = (uint8_t)kind,
                   .noc = p->noc,
                   .tag = p->tag,
                   .asker = p->asker,
                   .order = p->order};
    a.order = leaving_order(&a);
    if (a.to < g->tiles)
        put_event(g, &a);
}

static bool edge_write(wg_grid *g, const wg_packet *p, uint64_t address, const uint8_t *from, size_t bytes)
{
    unsigned w = g->plan->width;
    if (!bytes || wg_edge_write(g, p->to % w, p->to / w, address, from, bytes))
        return true;
    complain(g, WG_F_NOC_UNMAPPED, p, "nothing can be written there");
    return false;
}

/* Accesses the runs of bytes that the mask selects. */
static void edge_write_masked(wg_grid *g, const wg_packet *p, const uint8_t *from)
{
    for (uint32_t i = 0; i < p->bytes && i < 64;) {
        uint32_t run = 0;
        while (i + run < p->bytes && i + run < 64 && p->mask >> (i + run) & 1)
            run++;
        if (run && !edge_write(g, p, p->address + i, from + i, run))
            return;
        i += run ? run : 1;
    }
}

static uint32_t edge_atomic(wg_grid *g, const wg_packet *p)
{
    unsigned x = p->to % g->plan->width, y = p->to / g->plan->width;
    uint32_t line[4], result = 0;
    uint64_t address = p->address & ~UINT64_C(15);
    if (g->kind[p->to] != WG_TILE_ETH || p->address & 3 || !wg_edge_read(g, x, y, address, line, 16))
        complain(g, WG_F_NOC_ATOMIC, p, "not a word in L1; nothing is done");
    else if (!wg_noc_atomic_line(g->arch->noc.zaamo, line, p->address >> 2 & 3, p->operation, p->data, &result))
        complain(g, WG_F_NOC_ATOMIC, p, "no such operation; nothing is done");
    else
        wg_edge_write(g, x, y, address, line, 16);
    return result;
}

/* A request, or an answer redirected here, has arrived at a tile that is not a device. */
/* Counters.md: at the recipient. */
static void count(wg_grid *g, const wg_packet *p, uint16_t tile, unsigned counter, uint32_t by)
{
    g->served[p->noc][tile][counter - WG_SLV_ATOMIC_RESP_SENT] += by;
}

static void count_request(wg_grid *g, const wg_packet *p)
{
    bool asked = p->flags & WG_PACKET_ANSWER;
    uint32_t words = p->kind == WG_PACKET_INLINE ? 1 : wg_packet_flits(p, g->arch->noc.flit_bytes) - 1;
    if (p->kind > WG_PACKET_ATOMIC)
        return;
    count(g, p, p->to, WG_SLV_REQ_ACCEPTED, 1);
    if (p->kind == WG_PACKET_READ) {
        count(g, p, p->to, WG_SLV_RD_REQ_RECEIVED, 1);
    } else if (p->kind == WG_PACKET_ATOMIC) {
        count(g, p, p->to, asked ? WG_SLV_NONPOSTED_ATOMIC_RECEIVED : WG_SLV_POSTED_ATOMIC_RECEIVED, 1);
    } else {
        count(g, p, p->to, asked ? WG_SLV_NONPOSTED_WR_REQ_STARTED : WG_SLV_POSTED_WR_REQ_STARTED, 1);
        count(g, p, p->to, asked ? WG_SLV_NONPOSTED_WR_REQ_RECEIVED : WG_SLV_POSTED_WR_REQ_RECEIVED, 1);
        count(g, p, p->to, asked ? WG_SLV_NONPOSTED_WR_DATA_WORD_RECEIVED : WG_SLV_POSTED_WR_DATA_WORD_RECEIVED, words);
    }
}

static void serve(wg_grid *g, const wg_packet *p)
{
    count_request(g, p);
    uint64_t begins, done = memory_done(g, p, &begins);
    bool asked = p->flags & WG_PACKET_ANSWER;
    uint32_t flits = 1 + (p->bytes + g->arch->noc.flit_bytes - 1u) / g->arch->noc.flit_bytes;
    switch (p->kind) {
    case WG_PACKET_READ:
        if (g->kind[p->to] == WG_TILE_DRAM && (p->address - p->back_address) % g->arch->noc.dram_alignment)
            complain(g, WG_F_NOC_ALIGNMENT, p, "the address in L1 does not agree with that in DRAM");
        /* Departs late enough that its last flit is not sent before the last byte comes from DRAM. */
        answer(g, p, WG_PACKET_DATA, 0, done > begins + flits ? done - flits : begins);
        return;
    case WG_PACKET_WRITE:
        if (p->flags & WG_PACKET_BYTES)
            edge_write_masked(g, p, data_of(g, p));
        else
            edge_write(g, p, p->address, data_of(g, p), p->bytes);
        if (p->flags & WG_PACKET_HEADER_STORE && !g->single_store[p->noc][p->to]) {
            uint8_t first[16] = {0};
            memcpy(first, data_of(g, p), p->bytes < 16 ? p->bytes : 16);
            edge_write(g, p, (uint64_t)p->data << 4, first, sizeof first);
        }
        break;
    case WG_PACKET_INLINE: {
        uint8_t word[4];
        memcpy(word, &p->data, 4);
        edge_write(g, p, p->address & ~UINT64_C(3), word, 4);
        if (g->kind[p->to] != WG_TILE_ETH)
            complain(g, WG_F_NOC_ALIGNMENT, p, "inline writes are for Tensix and Ethernet tiles");
        break;
    }
    case WG_PACKET_ATOMIC: {
        uint32_t result = edge_atomic(g, p);
        if (asked)
            answer(g, p, WG_PACKET_RESULT, result, done);
        return;
    }
    case WG_PACKET_DATA: edge_write(g, p, p->address, data_of(g, p), p->bytes); return;
    default: return;
    }
    if (asked)
        answer(g, p, WG_PACKET_ACK, 0, done);
}

/* Sends an answer of a tile that is not a device as soon as its link is free. */
static void leave(wg_grid *g, wg_packet *p)
{
    uint64_t *link = &g->edge_link[p->noc][p->from], retry;
    if (*link > p->at) {
        p->at = *link;
        put_event(g, p);
        return;
    }
    if (p->kind == WG_PACKET_DATA) {
        wg_noc_box **box = &g->box[p->from];
        if (!*box)
            *box = wg_pages_new(sizeof **box);
        if (!*box) {
            wg_grid_fail(g, WG_ERR_NO_MEMORY, "no memory for packets of a tile");
            return;
        }
        wg_noc_ring *ring = &(*box)->ring[p->noc];
        if (!wg_ring_take(ring, p->bytes, p->at, &p->payload, &p->slot, &retry)) {
            p->at = retry;
            put_event(g, p);
            return;
        }
        unsigned w = g->plan->width;
        if (p->bytes &&
            !wg_edge_read(g, p->from % w, p->from / w, p->back_address, ring->bytes + p->payload, p->bytes)) {
            wg_packet asked = *p;
            asked.kind = WG_PACKET_READ;
            asked.from = p->to;
            asked.to = p->from;
            asked.address = p->back_address;
            memset(ring->bytes + p->payload, 0, p->bytes);
            complain(g, WG_F_NOC_UNMAPPED, &asked, "nothing can be read there; zeros are sent");
        }
    }
    uint32_t flits = wg_packet_flits(p, g->arch->noc.flit_bytes);
    count(g, p, p->from,
          p->kind == WG_PACKET_DATA  ? WG_SLV_RD_RESP_SENT
          : p->kind == WG_PACKET_ACK ? WG_SLV_WR_ACK_SENT
                                     : WG_SLV_ATOMIC_RESP_SENT,
          1);
    if (p->kind == WG_PACKET_DATA)
        count(g, p, p->from, WG_SLV_RD_DATA_WORD_SENT, flits - 1);
    *link = p->at + wg_packet_cycles(p, g->arch->noc.flit_bytes, g->timing->noc_pause);
    if (!route(g, p))
        lost(g);
}

/* ---- all events, in order ------------------------------------------------------------------------------------ */

static uint64_t edge_next(const wg_grid *g) { return g->events ? g->event[g->events].at : WG_NEVER; }

uint64_t wg_grid_event_next(const wg_grid *g)
{
    uint64_t edge = edge_next(g), network = wg_network_next(g->network);
    return edge < network ? edge : network;
}

void wg_grid_inject(wg_grid *g)
{
    for (unsigned k = 0; k < g->made_tiles; k++) {
        wg_noc_box *box = g->box[g->made_at[k]];
        for (unsigned n = 0; n < box->outgoing; n++)
            if (!route(g, &box->out[n]))
                lost(g);
        box->outgoing = 0;
    }
}

/* A packet that leaves a NIU in cycle s or later reaches no router before s + noc_niu: the network's horizon. */
uint64_t wg_grid_route(wg_grid *g, uint64_t end, uint64_t limit)
{
    const uint64_t now = g->now, niu = g->timing->noc_niu;
    g->first_send = WG_NEVER;
    for (unsigned k = 0; k < g->made_tiles; k++) {
        const uint64_t sends = g->sends[g->made_at[k]];
        g->first_send = sends < g->first_send ? sends : g->first_send;
    }
    for (;;) {
        uint64_t edge = edge_next(g), moves = wg_network_next(g->network),
                 sends = edge < g->first_send ? edge : g->first_send;
        if (moves < limit && moves - niu < sends) {
            const wg_network_env env = env_of(g);
            wg_network_step(g->network, &env);
            continue;
        }
        if (edge >= end) {
            g->now = now;
            return sends;
        }
        wg_packet p = take_event(g);
        g->now = p.at;
        if (p.order >> 63)
            leave(g, &p);
        else
            serve(g, &p);
    }
}

static unsigned tile_of(const wg_grid *g, unsigned noc, uint16_t place)
{
    const unsigned x = place & 63, y = place >> 6 & 63, width = g->plan->width, height = g->plan->height;
    if (x >= width || y >= height)
        return WG_GRID_MAX_TILES;
    return noc ? (height - 1 - y) * width + width - 1 - x : y * width + x;
}

bool wg_grid_sends_to(const wg_grid *g, unsigned from, unsigned to)
{
    const wg_device *dev = g->tile[from];
    for (unsigned noc = 0; dev && noc < 2; noc++) {
        const wg_niu_unit *u = &dev->tile->regions.niu.unit[noc];
        for (unsigned i = 0; u->packets && i < WG_NIU_INITIATORS; i++)
            if (tile_of(g, noc, u->place[i].targ) == to || tile_of(g, noc, u->place[i].ret) == to)
                return true;
    }
    return false;
}

void wg_grid_packets(const wg_grid *g, void (*visit)(void *user, const wg_packet *p, wg_under_way where), void *user)
{
    bool unused[WG_FLIGHTS] = {false};
    uint8_t taken[WG_EDGE_EVENTS / 8 + 1];
    const wg_network *n = g->network;
    for (uint16_t f = n->flights_unused; f && !unused[f]; f = n->flight[f].next[0] % WG_FLIGHTS)
        unused[f] = true;
    for (uint16_t f = 1; f <= n->flights_used; f++)
        if (!unused[f] && !n->flight[f].gone)
            visit(user, &n->flight[f].p, WG_UNDER_WAY);
    memset(taken, 0xFF, sizeof taken);
    for (uint32_t e = g->event_unused; e && e <= WG_EDGE_EVENTS && taken[e / 8] >> e % 8 & 1; e = g->event[e].next)
        taken[e / 8] &= (uint8_t) ~(1u << e % 8);
    for (uint32_t e = 1; g->event && e <= g->event_used && e <= WG_EDGE_EVENTS; e++)
        if (taken[e / 8] >> e % 8 & 1)
            visit(user, &g->event[e], g->event[e].order >> 63 ? WG_UNDER_WAY_OUT : WG_UNDER_WAY_IN);
}
