/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the network (calendar.h); see network.h.
 *
 * Heads that arrive in one cycle come by different links, and tails free their channels before links are arbitrated. So
 * within a cycle only the order of SPREADS and LOOKS matters, and that is the order of places.
 *
 * The tail of a packet of F flits that was granted links 0, 1, … in cycles G0, G1, … passes link i in the latest of
 * Gi + F, G(i + 1) + F - c, G(i + 2) + F - 2c …, where c flits fit into a router and the link into it. That cycle is known as
 * soon as the packet fits into the routers that its head has passed since.
 */
#include "noc/router.h"

_Static_assert(WG_FLIGHTS <= UINT16_MAX && WG_LINK_COUNT <= UINT16_MAX, "an event names a flight or a link");

static void look_at(wg_network *n, unsigned link, uint64_t cycle)
{
    wg_link *l = &n->link[link];
    if (!l->waiting || l->due <= cycle)
        return;
    l->due = cycle;
    wg_calendar_put(&n->events, cycle, WG_LOOKS, link);
}

/* ---- flights ------------------------------------------------------------------------------------------------- */

static uint16_t flight_new(wg_network *n)
{
    uint16_t f = n->flights_unused;
    if (f)
        n->flights_unused = n->flight[f].next[0] % WG_FLIGHTS;
    else if (n->flights_used < WG_FLIGHTS - 1)
        f = ++n->flights_used;
    if (f)
        n->flights++;
    return f;
}

static void flight_give(wg_network *n, uint16_t f)
{
    n->flight[f].next[0] = n->flights_unused;
    n->flights_unused = f;
    n->flights--;
}

enum { CLASS_ANSWER = 6, DATELINE = 8 };
static uint8_t first_channel(const wg_packet *p)
{
    if (p->kind > WG_PACKET_ATOMIC)
        return CLASS_ANSWER;
    return p->channel && p->channel != WG_CHANNEL_LINKED ? (p->channel - 1) & 7 : 0;
}

/* The queue of the router at which link i of the flight ends. */
static wg_channel *queue_of(wg_network *n, const wg_flight *f, unsigned i, unsigned tile)
{
    unsigned channel = f->channel[i % WG_FLIGHT_GRANTS] % WG_LINK_CHANNELS;
    return i ? &n->link[f->link[i % WG_FLIGHT_GRANTS] % WG_LINK_COUNT].channel[channel]
             : &n->niu[f->p.noc][tile][channel];
}

/* The first packet of a queue requests its link. */
static void ask(wg_network *n, const wg_network_env *env, uint16_t id, uint64_t cycle)
{
    wg_flight *f = &n->flight[id];
    wg_place here = wg_place_of(env->plan, f->p.noc, f->tile), there = wg_place_of(env->plan, f->p.noc, f->p.to);
    bool x = here.x != there.x, y = here.y != there.y;
    f->wanted = f->p.noc ? (y ? WG_LINK_Y : x ? WG_LINK_X : WG_LINK_NIU) : x ? WG_LINK_X : y ? WG_LINK_Y : WG_LINK_NIU;
    unsigned link = wg_link_index(f->p.noc, f->tile, f->wanted),
             channel = f->channel[(f->granted - 1u) % WG_FLIGHT_GRANTS] % WG_LINK_CHANNELS;
    n->link[link].waiting |= UINT64_C(1) << (WG_LINK_CHANNELS * f->way + channel);
    look_at(n, link, cycle);
}

/* ---- broadcasts ----------------------------------------------------------------------------------------------- */

/* Which of a broadcast's `next` links the list of its NIU, and that of broadcasts that wait for their trees. */
enum { OF_NIU, OF_WAITING };

static void append(wg_network *n, uint16_t list[2], unsigned which, uint16_t id)
{
    n->flight[id].next[which] = 0;
    if (list[0])
        n->flight[list[1] % WG_FLIGHTS].next[which] = id;
    else
        list[0] = id;
    list[1] = id;
}

/* A request has left its NIU in cycle `at`. If it ends a linked transaction, so does the reservation for that. */
static void end_linked(wg_network *n, const wg_packet *p, uint64_t at)
{
    uint16_t *linked = &n->linked[p->noc & 1][p->from];
    if (!*linked || p->flags & WG_PACKET_LINKED || p->kind > WG_PACKET_ATOMIC)
        return;
    wg_calendar_put(&n->events, at, WG_RELEASED, *linked % WG_FLIGHTS);
    *linked = 0;
}

/* The packet leaves its NIU; a broadcast that reserves its tree requests it. */
static void departs(wg_network *n, const wg_network_env *env, uint16_t id)
{
    wg_flight *f = &n->flight[id];
    const unsigned noc = f->p.noc & 1, tile = f->p.from;
    const bool broadcast = f->p.flags & WG_PACKET_BROADCAST;
    uint64_t *departure = &n->departure[noc][tile], at = f->p.at + f->p.delay;
    at = at > *departure ? at : *departure;
    if (broadcast && wg_broadcast_reserves(env, &f->p)) {
        f->reservation = WG_RESERVATION_ASKED;
    } else {
        f->grant[0] = at;
        f->waited = (uint32_t)(at - f->p.at - f->p.delay);
        *departure = at + f->flits;
    }
    at += env->timing->noc_niu;
    if (broadcast) {
        wg_calendar_put(&n->events, at, WG_SPREADS, noc * WG_GRID_MAX_TILES + tile);
    } else {
        end_linked(n, &f->p, at + f->flits);
        wg_calendar_put(&n->events, at, WG_ARRIVES, id);
    }
}

/* The NIU's pending requests depart, up to the next broadcast. */
static void next_departs(wg_network *n, const wg_network_env *env, uint16_t list[2])
{
    uint16_t id;
    for (unsigned most = WG_FLIGHTS; most && (id = list[0] % WG_FLIGHTS) != 0; most--) {
        const bool broadcast = n->flight[id].p.flags & WG_PACKET_BROADCAST;
        if (!broadcast)
            list[0] = n->flight[id].next[OF_NIU];
        departs(n, env, id);
        if (broadcast)
            return;
    }
}

/* The tree is granted, if it is free. */
static bool reserve(wg_network *n, const wg_network_env *env, wg_flight *f, uint64_t cycle)
{
    const unsigned noc = f->p.noc & 1, tile = f->p.from;
    if (!wg_broadcast_path_free(n, env, &f->p))
        return false;
    wg_broadcast_path_take(n, env, &f->p);
    f->reservation = WG_RESERVATION_HELD;
    uint64_t *departure = &n->departure[noc][tile],
             at = cycle - env->timing->noc_niu + wg_broadcast_reserves(env, &f->p);
    f->grant[0] = at > *departure ? at : *departure;
    *departure = f->grant[0] + f->flits;
    wg_calendar_put(&n->events, f->grant[0] + env->timing->noc_niu, WG_SPREADS, noc * WG_GRID_MAX_TILES + tile);
    return true;
}

static void spreads(wg_network *n, const wg_network_env *env, unsigned which, uint64_t cycle)
{
    const unsigned noc = which / WG_GRID_MAX_TILES & 1, tile = which % WG_GRID_MAX_TILES;
    uint16_t *list = n->pending[noc][tile], id = list[0] % WG_FLIGHTS;
    wg_flight *f = &n->flight[id];
    if (!id)
        return;
    if (f->reservation == WG_RESERVATION_ASKED) {
        if (!reserve(n, env, f, cycle)) {
            f->reservation = WG_RESERVATION_WAITS;
            append(n, n->waits[noc], OF_WAITING, id);
        }
        return;
    }
    list[0] = f->next[OF_NIU];
    const uint64_t end = f->grant[0] + f->flits, last = wg_broadcast(n, env, &f->p, f->flits, cycle),
                   free = end + env->timing->noc_niu;
    env->left(env->user, &f->p, cycle + env->timing->noc_niu, end);
    env->done(env->user, &f->p, last);
    end_linked(n, &f->p, free);
    f->gone = 1;
    if (f->reservation != WG_RESERVATION_HELD)
        flight_give(n, id);
    else if (f->p.flags & WG_PACKET_LINKED)
        n->linked[noc][tile] = id;
    else
        wg_calendar_put(&n->events, free, WG_RELEASED, id);
    next_departs(n, env, list);
}

/* Grants trees to broadcasts that wait, in the order of their requests. */
static void serve(wg_network *n, const wg_network_env *env, unsigned noc, uint64_t cycle)
{
    uint16_t id = n->waits[noc][0] % WG_FLIGHTS;
    n->waits[noc][0] = 0;
    for (unsigned most = WG_FLIGHTS; id && most; most--) {
        const uint16_t next = n->flight[id].next[OF_WAITING] % WG_FLIGHTS;
        if (!reserve(n, env, &n->flight[id], cycle))
            append(n, n->waits[noc], OF_WAITING, id);
        id = next;
    }
}

static void released(wg_network *n, const wg_network_env *env, uint16_t id)
{
    wg_broadcast_path_give(n, env, &n->flight[id].p);
    flight_give(n, id);
}

/* ---- heads ---------------------------------------------------------------------------------------------------- */

bool wg_network_send(wg_network *n, const wg_network_env *env, const wg_packet *p)
{
    uint16_t id = flight_new(n);
    if (!id)
        return false;
    wg_flight *f = &n->flight[id];
    f->p = *p;
    f->flits = wg_packet_cycles(p, env->flit_bytes, env->timing->noc_pause);
    f->tile = p->from;
    f->way = WG_LINK_NIU;
    f->hops = f->settled = f->passed = f->gone = 0;
    f->reservation = WG_RESERVATION_NONE;
    f->granted = 1; /* the link to the router */
    f->channel[0] = first_channel(p);
    f->next[0] = 0;
    uint16_t *list = n->pending[p->noc & 1][p->from];
    if (!(p->flags & WG_PACKET_BROADCAST) && (!list[0] || p->kind > WG_PACKET_ATOMIC)) {
        departs(n, env, id);
        return true;
    }
    append(n, list, OF_NIU, id);
    if (list[0] == id)
        next_departs(n, env, list);
    return true;
}

static void arrives(wg_network *n, const wg_network_env *env, uint16_t id, uint64_t cycle)
{
    wg_flight *f = &n->flight[id];
    unsigned i = (f->granted - 1u) % WG_FLIGHT_GRANTS;
    wg_channel *q = queue_of(n, f, i, f->tile);
    f->next[i] = 0;
    f->since = cycle;
    bool first = !q->first;
    if (first)
        q->first = id;
    else
        n->flight[q->last % WG_FLIGHTS].next[q->last_at % WG_FLIGHT_GRANTS] = id;
    q->last = id;
    q->last_at = (uint8_t)i;
    if (first)
        ask(n, env, id, cycle);
}

/* ---- grants -------------------------------------------------------------------------------------------------- */

/* When the tail passes link i; known once the packet fits into the routers behind its head. */
static uint64_t passes(const wg_network_env *env, const wg_flight *f, unsigned i)
{
    uint64_t at = 0, back = 0;
    for (unsigned k = i; k < f->granted && back <= f->flits; k++, back += env->capacity) {
        uint64_t rest = f->flits - back;
        if (f->gone && f->flits && k + 1u == f->granted)
            rest = rest * f->takes / f->flits;
        uint64_t cycle = f->grant[k % WG_FLIGHT_GRANTS] + rest;
        at = cycle > at ? cycle : at;
    }
    return at;
}

/* Handles links whose passing time is now known. `last`: the head has left the network. */
static void settle(wg_network *n, const wg_network_env *env, uint16_t id, uint64_t cycle, bool last)
{
    wg_flight *f = &n->flight[id];
    while (f->settled < f->granted && (last || f->flits <= (uint64_t)(f->granted - f->settled) * env->capacity)) {
        unsigned i = f->settled++;
        uint64_t at = passes(env, f, i);
        if (i == 1) {
            uint32_t ahead = wg_niu_ahead(env->timing, env->buffer_flits);
            uint64_t left = f->grant[0] + f->flits;
            if (at > left + ahead)
                left = at - ahead;
            env->left(env->user, &f->p, cycle + env->timing->noc_niu, left);
        }
        if (i)
            wg_calendar_put(&n->events, at > cycle ? at : cycle + 1, WG_PASSED, id);
    }
}

/* The virtual channel on the next link. Facts: VirtualChannels of NoC/README.md; its dateline is where a ring closes. */
static uint8_t next_channel(const wg_network_env *env, const wg_flight *f, unsigned link)
{
    uint8_t channel = f->channel[(f->granted - 1u) % WG_FLIGHT_GRANTS];
    if (link == WG_LINK_NIU)
        return channel;
    wg_place here = wg_place_of(env->plan, f->p.noc, f->tile);
    bool along_y = link == WG_LINK_Y;
    if (f->way != WG_LINK_NIU && (f->way == WG_LINK_Y) != along_y)
        channel &= (uint8_t)~DATELINE;
    if (along_y ? here.y + 1u == env->plan->height : here.x + 1u == env->plan->width)
        channel |= DATELINE;
    return channel;
}

static void grant(wg_network *n, const wg_network_env *env, unsigned link, unsigned slot, uint16_t id, uint8_t channel,
                  uint64_t cycle)
{
    wg_link *l = &n->link[link];
    wg_flight *f = &n->flight[id];
    wg_channel *c = &l->channel[channel % WG_LINK_CHANNELS];
    if (f->wanted == WG_LINK_NIU) {
        f->takes = env->takes(env->user, &f->p, f->tile);
        f->takes = f->takes > f->flits ? f->takes : f->flits;
    }
    wg_link_take(l, cycle, f->wanted == WG_LINK_NIU ? f->takes : f->flits, cycle);
    f->waited += (uint32_t)(cycle - f->since);
    l->waiting &= ~(UINT64_C(1) << slot);
    l->last_class = channel >> 1 & 3;
    l->last[l->last_class] = (uint8_t)slot;
    c->held = 1;
    unsigned i = f->granted++ % WG_FLIGHT_GRANTS;
    if (i > 1) { /* makes room at the end of the link it came by */
        wg_channel *q = queue_of(n, f, i - 1, f->tile);
        q->filled = (uint16_t)(q->filled > f->flits ? q->filled - f->flits : 0);
        look_at(n, f->link[i - 1], cycle + 1);
    }
    f->grant[i] = cycle;
    f->link[i] = (uint16_t)link;
    f->channel[i] = channel;
    if (f->wanted == WG_LINK_NIU) {
        uint64_t arrival = cycle + env->timing->noc_niu + f->flits - 1;
        if (l->room != WG_ROOM_ANY)
            l->room--;
        env->arrives(env->user, &f->p, f->tile, arrival, (wg_way){f->hops, f->waited});
        env->done(env->user, &f->p, arrival);
        f->gone = 1;
        settle(n, env, id, cycle, true);
        return;
    }
    c->filled = (uint16_t)(c->filled + f->flits);
    wg_place here = wg_place_of(env->plan, f->p.noc, f->tile);
    settle(n, env, id, cycle, false);
    f->tile = wg_place_tile(env->plan, f->p.noc, wg_place_after(env->plan, here, f->wanted == WG_LINK_Y));
    f->way = f->wanted;
    uint64_t arrival = cycle + wg_hop_cycles(env->timing, f->hops++);
    c->arrival = arrival > c->arrival ? arrival : c->arrival + 1; /* heads arrive one at a time */
    wg_calendar_put(&n->events, c->arrival, WG_ARRIVES, id);
}

/* The queue of a slot of l->waiting. */
static const wg_channel *queue_at(const wg_network *n, const wg_network_env *env, unsigned link, unsigned slot)
{
    unsigned tile = link / WG_LINKS % WG_GRID_MAX_TILES, noc = link / WG_LINKS / WG_GRID_MAX_TILES,
             way = slot / WG_LINK_CHANNELS, channel = slot % WG_LINK_CHANNELS;
    if (way == WG_LINK_NIU)
        return &n->niu[noc][tile][channel];
    wg_place from = wg_place_of(env->plan, noc, tile); /* where that link comes from */
    if (way == WG_LINK_X)
        from.x = (from.x + env->plan->width - 1u) % env->plan->width;
    else
        from.y = (from.y + env->plan->height - 1u) % env->plan->height;
    return &n->link[wg_link_index(noc, wg_place_tile(env->plan, noc, from), way)].channel[channel];
}

/* Grants the link to the first packet of a queue, if possible now; *later: when it will be, if that is known. */
static bool try_slot(wg_network *n, const wg_network_env *env, unsigned link, unsigned slot, uint64_t cycle,
                     uint64_t *later)
{
    wg_link *l = &n->link[link];
    unsigned kind = link % WG_LINKS;
    uint16_t id = queue_at(n, env, link, slot)->first % WG_FLIGHTS;
    const wg_flight *f = &n->flight[id];
    uint8_t channel = next_channel(env, f, kind);
    const wg_channel *c = &l->channel[channel % WG_LINK_CHANNELS];
    if (c->held || (kind != WG_LINK_NIU && c->filled >= env->capacity))
        return false; /* when that ends, the link is arbitrated again */
    uint64_t gap = wg_link_gap(l, cycle, f->flits);
    if (gap > cycle) {
        *later = gap < *later ? gap : *later;
        return false;
    }
    grant(n, env, link, slot, id, channel, cycle);
    look_at(n, link, cycle + 1);
    return true;
}

/* Grants the link round-robin by class, and within it round-robin by queue, among queues whose first packet can go. */
static void looks(wg_network *n, const wg_network_env *env, unsigned link, uint64_t cycle)
{
    static const uint64_t classes[] = {UINT64_C(0x030303030303), UINT64_C(0x0C0C0C0C0C0C), UINT64_C(0x303030303030),
                                       UINT64_C(0xC0C0C0C0C0C0)};
    wg_link *l = &n->link[link];
    if (l->due != cycle)
        return;
    l->due = UINT64_MAX;
    uint64_t later = UINT64_MAX;
    if (link % WG_LINKS == WG_LINK_NIU && !l->room)
        return;
    for (unsigned k = 1; k <= 4; k++) {
        unsigned class = (l->last_class + k) & 3;
        uint64_t all = l->waiting & classes[class], behind = all & ~((UINT64_C(2) << l->last[class]) - 1);
        for (uint64_t mask = behind; mask; mask &= mask - 1)
            if (try_slot(n, env, link, (unsigned)__builtin_ctzll(mask), cycle, &later))
                return;
        for (uint64_t mask = all & ~behind; mask; mask &= mask - 1)
            if (try_slot(n, env, link, (unsigned)__builtin_ctzll(mask), cycle, &later))
                return;
    }
    if (later != UINT64_MAX)
        look_at(n, link, later);
}

/* The tail has passed a link: frees its channel and its place in the previous router. */
static void passed(wg_network *n, const wg_network_env *env, uint16_t id, uint64_t cycle)
{
    wg_flight *f = &n->flight[id];
    unsigned before = f->passed++ % WG_FLIGHT_GRANTS, i = (before + 1) % WG_FLIGHT_GRANTS;
    unsigned link = f->link[i] % WG_LINK_COUNT;
    wg_channel *q = queue_of(n, f, before, link / WG_LINKS % WG_GRID_MAX_TILES);
    n->link[link].channel[f->channel[i] % WG_LINK_CHANNELS].held = 0;
    look_at(n, link, cycle);
    q->first = f->next[before] % WG_FLIGHTS;
    if (q->first)
        ask(n, env, q->first, cycle);
    if (f->gone && f->passed + 1u >= f->granted)
        flight_give(n, id);
}

/* ---- all events ---------------------------------------------------------------------------------------------- */

void wg_network_step(wg_network *n, const wg_network_env *env)
{
    wg_calendar *c = &n->events;
    unsigned which;
    wg_calendar_open(c);
    const uint64_t cycle = c->open;
    while (wg_calendar_take(c, WG_ARRIVES, &which))
        arrives(n, env, (uint16_t)(which % WG_FLIGHTS), cycle);
    bool freed[2] = {false};
    while (wg_calendar_take(c, WG_RELEASED, &which)) {
        freed[n->flight[which % WG_FLIGHTS].p.noc & 1] = true;
        released(n, env, (uint16_t)(which % WG_FLIGHTS));
    }
    for (unsigned noc = 0; noc < 2; noc++)
        if (freed[noc])
            serve(n, env, noc, cycle);
    while (wg_calendar_take(c, WG_SPREADS, &which))
        spreads(n, env, which, cycle);
    while (wg_calendar_take(c, WG_PASSED, &which))
        passed(n, env, (uint16_t)(which % WG_FLIGHTS), cycle);
    while (wg_calendar_take(c, WG_ROOM, &which)) {
        wg_link *l = &n->link[which %= WG_LINK_COUNT];
        l->room = (uint16_t)(l->room + (l->room < WG_ROOM_ANY - 1));
        look_at(n, which, cycle);
    }
    while (wg_calendar_take(c, WG_LOOKS, &which))
        looks(n, env, which % WG_LINK_COUNT, cycle);
}

void wg_network_room(wg_network *n, unsigned noc, unsigned tile, uint64_t at)
{
    wg_calendar_put(&n->events, at, WG_ROOM, wg_link_index(noc, tile, WG_LINK_NIU));
}

void wg_network_reset(wg_network *n, const uint16_t *room)
{
    wg_calendar_derive(&n->events);
    for (unsigned i = 0; i < WG_LINK_COUNT; i++) {
        n->link[i].due = UINT64_MAX;
        n->link[i].room = i % WG_LINKS == WG_LINK_NIU ? room[i / WG_LINKS % WG_GRID_MAX_TILES] : WG_ROOM_ANY;
    }
}
