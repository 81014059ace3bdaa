/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/chain.h"

#include <stdlib.h>
#include <string.h>

/* ---- The table of costs ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint64_t hash_of(const wg_cost *c)
{
    uint64_t h = mix(c->pc, c->word);
    h = mix(h, (uint64_t)c->address << 32 | (uint64_t)c->resource << 16 | c->holder);
    h = mix(h, c->ended_pc);
    return mix(h, (uint64_t)c->tile << 24 | (uint64_t)c->track << 16 | (uint64_t)c->core << 8 | c->doing);
}

static bool same(const wg_cost *a, const wg_cost *b)
{
    return a->pc == b->pc && a->word == b->word && a->address == b->address && a->resource == b->resource &&
           a->ended_pc == b->ended_pc && a->holder == b->holder && a->track == b->track && a->core == b->core &&
           a->doing == b->doing && a->tile == b->tile;
}

/* Twice as many slots; the costs stay where they are. */
static bool grow(wg_cost_table *t)
{
    size_t slots = t->slots ? 2 * t->slots : 1024;
    uint32_t *slot = calloc(slots, sizeof *slot);
    wg_cost *cost = realloc(t->cost, slots / 2 * sizeof *cost);
    t->cost = cost ? cost : t->cost;
    if (!slot || !cost) {
        free(slot);
        t->failed = true;
        return false;
    }
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = hash_of(&cost[i]) & (slots - 1);
        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = (uint32_t)i + 1;
    }
    return true;
}

size_t wg_cost_add(wg_cost_table *t, const wg_cost *c)
{
    if (t->failed || (t->count >= t->slots / 2 && !grow(t)))
        return 0;
    size_t at = hash_of(c) & (t->slots - 1);
    while (t->slot[at] && !same(&t->cost[t->slot[at] - 1], c))
        at = (at + 1) & (t->slots - 1);
    if (!t->slot[at]) {
        t->cost[t->count] = *c;
        t->cost[t->count].cycles = t->cost[t->count].times = 0;
        t->slot[at] = (uint32_t)++t->count;
    }
    t->cost[t->slot[at] - 1].cycles += c->cycles;
    t->cost[t->slot[at] - 1].times += c->times;
    return t->slot[at] - 1;
}

void wg_cost_table_free(wg_cost_table *t)
{
    free(t->cost);
    free(t->slot);
    *t = (wg_cost_table){0};
}

/* ---- Links ---- */

void wg_chain_note(wg_chain *c, uint64_t from, uint64_t to, const wg_cost *what)
{
    unsigned track = what->track;
    wg_link *last = wg_chain_last(c, track);
    if (from >= to || c->failed)
        return;
    if (last && last->to == from && same(&last->what, what)) {
        last->to = to;
        return;
    }
    const size_t most = c->most ? c->most : WG_CHAIN_LINKS;
    if (c->count[track] == most) { /* drop the older half */
        memmove(c->link[track], c->link[track] + most / 2, most / 2 * sizeof *last);
        c->count[track] = most / 2;
    }
    if (c->count[track] == c->room[track]) {
        size_t room = c->room[track] ? 2 * c->room[track] : 256;
        wg_link *more = realloc(c->link[track], room * sizeof *more);
        if (!more) {
            c->failed = true;
            return;
        }
        c->link[track] = more;
        c->room[track] = room;
    }
    c->link[track][c->count[track]++] = (wg_link){from, to, *what};
}

wg_link *wg_chain_last(wg_chain *c, unsigned track)
{
    return c->count[track] ? &c->link[track][c->count[track] - 1] : NULL;
}

/* The link that contains the cycle before `at`; NULL: none was recorded. */
static const wg_link *link_before(const wg_chain *c, unsigned track, uint64_t at)
{
    size_t low = 0, high = c->count[track];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->link[track][middle].from < at)
            low = middle + 1;
        else
            high = middle;
    }
    const wg_link *link = low ? &c->link[track][low - 1] : NULL;
    return link && link->to >= at ? link : NULL;
}

/* The run does not wait for a track with this activity. */
static bool is_quiet(const wg_cost *what)
{
    return what->doing == WG_DOING_IDLE || what->doing == WG_DOING_RESET || what->doing == WG_DOING_PARKED;
}

/* ---- The path ---- */

uint64_t wg_walk_last(wg_walk *w)
{
    uint64_t latest = 0;
    for (unsigned tile = 0; tile < w->tiles; tile++)
        for (unsigned track = 0; track < WG_TRACKS; track++)
            for (size_t i = w->chain[tile]->count[track]; i-- > 0;) {
                const wg_link *link = &w->chain[tile]->link[track][i];
                if (is_quiet(&link->what) || link->from >= w->at)
                    continue;
                uint64_t end = link->to < w->at ? link->to : w->at;
                if (end > latest) {
                    latest = end;
                    w->tile = tile;
                    w->track = track;
                }
                break;
            }
    return latest;
}

/* Charges the cycles since `from`, unless there are none. */
static void charge(wg_walk *w, uint64_t from, unsigned tile, const wg_cost *what)
{
    wg_link found = {.from = from > w->from ? from : w->from, .to = w->at, .what = *what};
    if (found.from >= w->at)
        return;
    found.what.cycles = found.to - found.from;
    found.what.times = 1;
    w->piece(w->user, tile, &found);
    w->at = found.from;
}

/* The index of the tile with this number, of the chip in which the path is; w->tiles: it is not observed. */
static unsigned tile_of(const wg_walk *w, unsigned number)
{
    const unsigned chip = w->chain[w->tile]->packets.chip;
    unsigned i = 0;
    while (i < w->tiles && (w->chain[i]->packets.tile != number || w->chain[i]->packets.chip != chip) &&
           !w->chain[i]->packets.alone)
        i++;
    return i;
}

/* The tile at this end of a link. */
static unsigned end_of(const wg_walk *w, uint32_t end)
{
    unsigned i = 0;
    while (i < w->tiles && !(w->chain[i]->packets.linked && w->chain[i]->packets.end == end))
        i++;
    return i;
}

static const wg_sent *frame_of(const wg_walk *w, const wg_walk_frame *f, unsigned *author)
{
    *author = end_of(w, f->end);
    const wg_sent *s = *author < w->tiles ? wg_packets_frame(&w->chain[*author]->packets, f->number) : NULL;
    return s && s->core < WG_CORES && s->cycle < f->at ? s : NULL;
}

bool wg_walk_sent(const wg_walk *w, const wg_walk_frame *f)
{
    unsigned author;
    return frame_of(w, f, &author);
}

void wg_walk_stay(wg_walk *w)
{
    charge(w, w->polled->from, w->tile, &w->polled->what);
    w->asked = 0;
}

void wg_walk_leave(wg_walk *w, const wg_walk_frame *f)
{
    if (f->arrived < w->at)
        charge(w, f->arrived, w->tile, &w->polled->what);
}

void wg_walk_enter(wg_walk *w, const wg_walk_frame *f)
{
    unsigned author;
    const wg_sent *s = frame_of(w, f, &author);
    w->at = f->arrived;
    charge(
        w, s->cycle, author,
        &(wg_cost){
            .pc = s->pc, .core = s->core, .track = WG_AGENT_LINK, .holder = WG_AGENT_NONE, .doing = WG_FLIGHT_REQUEST});
    w->tile = author;
    w->track = s->core;
    w->asked = 0;
}

/*
 * The core polled until `link` ended. If it polled for a packet, the path goes back along the packet to the core that
 * requested it. A core sees the word some cycles later, after the rest of an iteration.
 */
enum { SEEN_LATER = 64 };
static const wg_arrival *arrival_for(const wg_walk *w, const wg_link *link)
{
    return wg_packets_ended(&w->chain[w->tile]->packets, link->what.address, link->from, w->at + SEEN_LATER);
}

static bool follow_packet(wg_walk *w, const wg_link *link, const wg_arrival *a)
{
    const wg_packets *here = &w->chain[w->tile]->packets;
    unsigned author = a ? tile_of(w, (unsigned)(a->transaction >> 48)) : w->tiles;
    const wg_sent *s = author < w->tiles ? wg_packets_sent(&w->chain[author]->packets, a->transaction, a->left) : NULL;
    if (!s || s->core >= WG_CORES || s->cycle >= w->at || a->left >= w->at)
        return false;
    if (a->cycle < w->at)
        charge(w, a->cycle, w->tile, &link->what);
    wg_cost flight = {.pc = s->pc,
                      .core = s->core,
                      .track = (uint8_t)(WG_AGENT_NIU0 + s->noc),
                      .holder = WG_AGENT_NONE,
                      .tile = (uint16_t)(here->alone              ? 0
                                         : wg_packet_is_answer(a) ? 1 + a->sender
                                                                  : 1 + here->tile)};
    if (wg_packet_is_answer(a)) {
        unsigned other = tile_of(w, a->sender);
        const wg_arrival *there =
            other < w->tiles ? wg_packets_arrival(&w->chain[other]->packets, a->transaction, a->left) : NULL;
        flight.doing = there ? WG_FLIGHT_ANSWER : WG_FLIGHT_BOTH;
        charge(w, there ? a->left : s->cycle, author, &flight);
        flight.doing = WG_FLIGHT_THERE;
        if (there)
            charge(w, there->cycle, author, &flight);
    }
    flight.doing = WG_FLIGHT_REQUEST;
    charge(w, s->cycle, author, &flight);
    w->tile = author;
    w->track = s->core;
    return true;
}

bool wg_walk_on(wg_walk *w, wg_walk_frame *f)
{
    while (w->at > w->from) {
        const wg_chain *c = w->chain[w->tile];
        const wg_link *link = link_before(c, w->track, w->at);
        if (!link)
            return false;
        w->asked |= 1u << w->track;
        /* A wait that lasts beyond this cycle has not ended yet. */
        unsigned next = link->to == w->at && link->what.doing != WG_DOING_WORK ? link->what.holder : WG_AGENT_NONE;
        if (wg_track_flies(next) && link->what.doing == WG_DOING_POLLING) {
            const wg_arrival *a = arrival_for(w, link);
            if (a && a->noc == WG_PACKETS_LINK) {
                *f = (wg_walk_frame){a->end, a->transaction, a->cycle < w->at ? a->cycle : w->at, w->at};
                w->polled = link;
                return true;
            }
            if (follow_packet(w, link, a)) {
                w->asked = 0;
                continue;
            }
        }
        if (next < WG_TRACKS && !(w->asked >> next & 1) && link_before(c, next, w->at)) {
            w->track = next;
            continue;
        }
        charge(w, link->from, w->tile, &link->what);
        w->asked = 0;
    }
    return false;
}

uint64_t wg_chain_walk(const wg_chain *const *chain, unsigned tiles, uint64_t from, uint64_t to, wg_chain_end end,
                       wg_piece_fn piece, void *user)
{
    wg_walk w = {.chain = chain, .tiles = tiles, .from = from, .at = to, .piece = piece, .user = user};
    wg_walk_frame f;
    if (end.track >= WG_TRACKS) {
        wg_walk_last(&w);
    } else {
        w.tile = end.tile;
        w.track = end.track;
    }
    while (wg_walk_on(&w, &f)) {
        if (!wg_walk_sent(&w, &f)) {
            wg_walk_stay(&w);
            continue;
        }
        wg_walk_leave(&w, &f);
        wg_walk_enter(&w, &f);
    }
    return w.at;
}

const char *wg_flight_name(unsigned track, unsigned flight)
{
    if (track == WG_AGENT_LINK)
        return "frame";
    static const char *const name[] = {[WG_FLIGHT_REQUEST] = "request",
                                       [WG_FLIGHT_THERE] = "request-served",
                                       [WG_FLIGHT_ANSWER] = "answer",
                                       [WG_FLIGHT_BOTH] = "request-and-answer"};
    return flight < sizeof name / sizeof *name && name[flight] ? name[flight] : "packet";
}

void wg_chain_free(wg_chain *c)
{
    for (unsigned track = 0; track < WG_TRACKS; track++)
        free(c->link[track]);
    wg_packets_free(&c->packets);
    memset(c, 0, sizeof *c);
}
