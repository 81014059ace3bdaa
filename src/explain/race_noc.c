/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NoC in the race detector, and the Mover's transfers for TDMA-RISC.
 *
 *     command store ──> request leaves: reads its source ──> arrives elsewhere: writes, or is answered
 *                                                                  answer ──> arrives: writes; its counter is polled
 *
 * Streams: reads of L1 by the tile's own requests (per NoC), writes of L1 by answers (per NoC, in any order), accesses by
 * each other tile (per tile, NoC and virtual channel; if hardware chooses the channel, in any order). A core that polls a
 * counter of the NIU in a loop learns that the requests have left, or their answers have arrived.
 *
 * Between tiles, each detector of a group keeps every other tile's knowledge of its own streams. A packet carries its
 * sender's clock; the recipient acquires it when one of its cores looks (in a loop that polls a flag or a counter). A
 * tile counts as one party: what one core knows, all cores know. That may give false negatives, never false positives.
 *
 * Facts: NoC/README.md, Ordering.md, Counters.md, MemoryOrdering.md; happens-before.md, edge 10.
 */
#include "explain/race_state.h"

#include <stdlib.h>

#include "machine/niu.h"
#include "machine/packet.h"
#include "machine/memory.h"

enum { STREAMS = WG_K_LOOSE - WG_K_RMT, NOC_MASK = 1 };

/*
 * The stream of a tile's requests, which are in order where software uses one static virtual channel. Decided here: a
 * write and a later flag are in order whatever their destinations. Ordering.md promises less, but public kernels rely
 * on it.
 */
static unsigned remote_stream(unsigned tile, unsigned noc, unsigned channel)
{
    return channel ? WG_K_RMT + (tile * 2 + noc + channel * 7) % STREAMS : WG_K_LOOSE + (tile * 2 + noc) % STREAMS;
}
static unsigned actor_code(unsigned k) { return 0x80 | (WG_RACE_NOC_CODE + (k - WG_K_NOC)); }

/* ---- Groups ---------------------------------------------------------------------------------------------------- */

struct wg_races_group {
    wg_races *tile[WG_RACE_TILES];
};

wg_races_group *wg_races_group_new(void) { return calloc(1, sizeof(wg_races_group)); }
void wg_races_group_free(wg_races_group *group) { free(group); }

void wg_races_group_add(wg_races_group *group, wg_races *r, unsigned index)
{
    if (index < WG_RACE_TILES) {
        group->tile[index] = r;
        r->group = group;
        r->index = index;
    }
}

/* The tile's knowledge of r's streams, or the knowledge it will acquire when it looks. NULL: no memory. */
static wg_clock *clock_for(wg_races *r, wg_clock *clocks[WG_RACE_TILES], unsigned tile)
{
    if (tile >= WG_RACE_TILES)
        return NULL;
    if (!clocks[tile]) {
        clocks[tile] = calloc(1, sizeof *clocks[tile]);
        if (clocks[tile])
            r->bytes += sizeof *clocks[tile];
        else
            r->forgotten++;
    }
    return clocks[tile];
}

void wg_race_noc_looked(wg_races *r)
{
    for (unsigned i = 0; r->group && i < WG_RACE_TILES; i++) {
        wg_races *other = r->group->tile[i];
        if (other && other->news[r->index] && clock_for(other, other->know, r->index))
            wg_clock_join(other->know[r->index], other->news[r->index]);
    }
}

void wg_race_noc_free(wg_races *r)
{
    free(r->asked);
    for (unsigned i = 0; i < WG_RACE_TILES; i++) {
        free(r->know[i]);
        free(r->news[i]);
    }
    if (r->group)
        r->group->tile[r->index] = NULL;
}

/* ---- Requests of the own cores --------------------------------------------------------------------------------- */

bool wg_race_is_command(const wg_races *r, unsigned path, uint32_t address)
{
    enum { TDMA_COMMAND = 0x010 };
    if (path == WG_PATH_TDMA)
        return (address & 0xFFF) == TDMA_COMMAND;
    unsigned command = r->arch->noc.wide_addresses ? 0x40 : 0x28; /* NOC_CMD_CTRL */
    return (address & 0xFFFF) % r->arch->noc.stride == command && (address & 0xFFFF) < 4u * r->arch->noc.stride;
}

void wg_race_command(wg_races *r, unsigned core, const wg_event *e, const wg_ref *ref)
{
    unsigned path = e->word & 0xFF;
    wg_race_command_by by = {.ref = *ref, .pc = e->pc, .core = (uint8_t)core, .known = true};
    if (!wg_race_is_command(r, path, (uint32_t)e->a))
        return;
    if (path == WG_PATH_TDMA) {
        r->tdma_by = by;
        return;
    }
    wg_race_commands *c = &r->command[path == WG_PATH_NIU1];
    if (c->count == WG_RACE_COMMANDS) {
        c->head++;
        c->count--;
        r->forgotten++;
    }
    c->by[(c->head + c->count++) % WG_RACE_COMMANDS] = by;
}

/* Everything that the tile's requests have done here so far. */
static void done_for(const wg_races *r, wg_clock *to, unsigned tile, unsigned noc)
{
    for (unsigned channel = 0; channel < WG_CHANNELS; channel++) {
        unsigned k = remote_stream(tile, noc, channel);
        wg_clock_see(to, k, r->noc_count[k - WG_K_NOC]);
    }
}

/*
 * The knowledge from polling a counter, or TDMA-RISC. False: none. A poll for "nothing in flight" gives none if it may
 * overtake the last command. Counters that only grow are compared with an expected value, so they always give some.
 */
bool wg_race_polled(wg_races *r, const wg_event *e, bool early, wg_clock *to)
{
    enum { TDMA_STATUS = 0x014 };
    unsigned path = e->word & 0xFF, offset = e->a & 0xFFFF;
    if (path == WG_PATH_TDMA && (offset & 0xFFF) == TDMA_STATUS) {
        if (early)
            return false;
        wg_clock_see(to, WG_K_TDMA, r->tdma);
        return true;
    }
    if ((path != WG_PATH_NIU0 && path != WG_PATH_NIU1) || offset < WG_NIU_COUNTERS || offset >= WG_NIU_COUNTERS_END)
        return false;
    unsigned noc = path == WG_PATH_NIU1, counter = (offset - WG_NIU_COUNTERS) / 4;
    bool outstanding = counter >= WG_MST_REQS_OUTSTANDING && counter < WG_MST_WRITE_REQS_OUTGOING;
    bool outgoing = counter >= WG_MST_WRITE_REQS_OUTGOING && counter < WG_MST_WRITE_REQS_OUTGOING + 16;
    if (early && (outstanding || outgoing))
        return false;
    bool answers = counter == WG_MST_ATOMIC_RESP_RECEIVED || counter == WG_MST_RD_RESP_RECEIVED ||
                   counter == WG_MST_RD_DATA_WORD_RECEIVED || outstanding;
    bool gone = counter == WG_MST_WR_ACK_RECEIVED || outstanding ||
                (counter >= WG_MST_NONPOSTED_WR_DATA_WORD_SENT && counter <= WG_MST_POSTED_WR_REQ_SENT) || outgoing;
    if (counter == WG_MST_WR_ACK_RECEIVED || counter == WG_MST_ATOMIC_RESP_RECEIVED || outstanding)
        done_for(r, to, r->index, noc); /* requests to the tile itself */
    if (answers)
        wg_clock_see(to, WG_K_ANSWER + noc, r->noc_count[WG_K_ANSWER + noc - WG_K_NOC]);
    if (answers && r->asked)
        wg_clock_join(to, r->asked);
    if (gone)
        wg_clock_see(to, WG_K_SOURCE + noc, r->noc_count[WG_K_SOURCE + noc - WG_K_NOC]);
    return answers || gone;
}

static wg_race_sent *sent_of(wg_races *r, uint64_t transaction)
{
    wg_race_sent *s = &r->sent[(transaction ^ transaction >> 47) % WG_RACE_SENT];
    return s->transaction == transaction ? s : NULL;
}

/* ---- Touches --------------------------------------------------------------------------------------------------- */

typedef struct packet {
    unsigned kind, noc, channel, tile; /* tile: the other side */
    uint64_t bytes;
    bool own; /* by a request of this tile */
    unsigned author;
} packet;

static packet packet_of(const wg_races *r, const wg_event *e)
{
    unsigned author = (unsigned)(e->a >> 48);
    return (packet){.kind = e->c & 0xFF,
                    .noc = (e->agent - WG_AGENT_NIU0) & NOC_MASK,
                    .channel = e->part < WG_CHANNELS ? e->part : 0,
                    .tile = (unsigned)(e->c >> 48),
                    .bytes = e->c >> 8 & UINT64_C(0xFFFFFFFFFF),
                    .own = !r->group || author == r->index,
                    .author = author};
}

/* A touch of L1 on behalf of the requester. */
static void touch(wg_races *r, const wg_event *e, const packet *p, unsigned k, uint64_t address, uint64_t bytes,
                  unsigned how)
{
    if (address >= r->arch->tensix.l1_bytes || bytes > r->arch->tensix.l1_bytes - address)
        return; /* registers */
    const wg_race_sent *s = p->own ? sent_of(r, e->a) : NULL;
    if (p->own && (!s || !s->by.known)) {
        if (how & WG_TOUCH_WRITE) /* the host's, or the overlay's */
            wg_race_host_write(r, address, bytes);
        return;
    }
    wg_clock empty = {0};
    const wg_clock *known = &empty;
    wg_actor b = {.k = (uint16_t)k,
                  .unit = WG_RACE_UNITS,
                  .thread = (uint8_t)actor_code(k),
                  .own_k = WG_K_NONE,
                  .value = ++r->noc_count[k - WG_K_NOC],
                  .cycle = e->cycle};
    wg_race_party party = {.agent = e->agent,
                           .thread = WG_THREADS,
                           .core = WG_CORES,
                           .cycle = e->cycle,
                           .write = how & WG_TOUCH_WRITE,
                           .atomic = how & WG_TOUCH_ATOMIC};
    if (s) {
        known = wg_race_clock(r, s->by.ref.snap);
        b.snap = s->by.ref.snap;
        b.own_k = s->by.ref.k1;
        b.own_v = s->by.ref.v1;
        party.core = s->by.core;
        party.pc = s->by.pc;
    } else {
        wg_races *author = r->group && p->author < WG_RACE_TILES ? r->group->tile[p->author] : NULL;
        const wg_race_sent *there = author ? sent_of(author, e->a) : NULL;
        if (there && there->there && there->to == r->index) {
            b.snap = there->there;
            known = wg_race_clock(r, b.snap);
        } else if (p->author < WG_RACE_TILES && r->know[p->author]) { /* multicast: the sender's current clock */
            known = r->know[p->author];
            b.snap = wg_race_snap(r, known);
        } else if (r->group && !author) { /* nobody watches the sender: its own requests are taken to be in its order */
            for (unsigned noc = 0; noc < 2; noc++)
                done_for(r, &empty, p->author, noc);
            b.snap = wg_race_snap(r, &empty);
        }
        party.tile = (uint16_t)(p->author + 1);
        if (there && there->by.known) {
            party.core = there->by.core;
            party.pc = there->by.pc;
        }
    }
    b.clock = known;
    b.party = wg_race_party_of(r, &party);
    if (s && k < WG_K_RMT)
        r->noc_party[k - WG_K_NOC] = b.party;
    wg_race_given(r, address, bytes);
    if (how & WG_TOUCH_WRITE)
        wg_race_init_written(r, address, bytes);
    wg_race_touch(r, &b, WG_TOUCH_L1, (uint32_t)address, (uint32_t)bytes, how);
}

/* A NoC read of a declared flag: the reader acquires what the flag's writer released once it has the answer. */
static void asked(wg_races *r, const packet *p, uint32_t address, uint32_t bytes)
{
    wg_clock **at = p->own ? &r->asked : p->author < WG_RACE_TILES ? &r->news[p->author] : NULL;
    if (at && !*at && (*at = calloc(1, sizeof **at)))
        r->bytes += sizeof **at;
    if (at && *at)
        wg_race_acquire_l1(r, *at, address, bytes);
    else
        r->forgotten++;
}

void wg_race_noc_sent(wg_races *r, const wg_event *e)
{
    packet p = packet_of(r, e);
    if (p.kind == WG_PACKET_DATA && p.bytes <= WG_HOST_FLAG && wg_race_declared(r, (uint32_t)e->parent)) {
        asked(r, &p, (uint32_t)e->parent, (uint32_t)p.bytes);
        return;
    }
    if (p.kind == WG_PACKET_DATA) { /* a read of this tile */
        touch(r, e, &p, p.own ? (unsigned)WG_K_SOURCE + p.noc : remote_stream(p.author, p.noc, p.channel), e->parent,
              p.bytes, WG_TOUCH_READ);
        return;
    }
    if (p.kind > WG_PACKET_ATOMIC)
        return;
    wg_race_commands *c = &r->command[p.noc];
    wg_race_sent *s = &r->sent[(e->a ^ e->a >> 47) % WG_RACE_SENT];
    *s = (wg_race_sent){.transaction = e->a};
    if (c->count) {
        s->by = c->by[c->head % WG_RACE_COMMANDS];
        bool split = p.bytes == 256u * r->arch->noc.flit_bytes && c->count == 1; /* more of the packet may follow */
        c->head += !split;
        c->count -= !split;
    }
    wg_races *to = r->group && p.tile < WG_RACE_TILES ? r->group->tile[p.tile] : NULL;
    if (to && to != r && clock_for(to, to->know, r->index)) {
        s->to = p.tile;
        s->there = wg_race_snap(to, to->know[r->index]);
    }
    if (p.kind == WG_PACKET_WRITE)
        touch(r, e, &p, WG_K_SOURCE + p.noc, e->parent, p.bytes, WG_TOUCH_READ);
}

/* An arriving packet carries its sender's clock. This tile acquires it when it looks. */
static void learn(wg_races *r, const wg_event *e, const packet *p)
{
    if (!r->group || p->tile >= WG_RACE_TILES || p->tile == r->index)
        return;
    for (unsigned i = 0; i < WG_RACE_TILES; i++) {
        wg_races *other = r->group->tile[i];
        if (!other || other == r)
            continue;
        if (i != p->tile && other->know[p->tile] && clock_for(other, other->news, r->index))
            wg_clock_join(other->news[r->index], other->know[p->tile]);
    }
    wg_races *sender = r->group->tile[p->tile];
    if (!sender || !clock_for(sender, sender->news, r->index))
        return;
    wg_clock *mine = sender->news[r->index];
    const wg_race_sent *s = p->author == p->tile ? sent_of(sender, e->a) : NULL;
    if (s && s->by.known)
        wg_race_join(sender, mine, &s->by.ref);
    if (p->author == r->index) /* an answer: the request has been performed there */
        done_for(sender, mine, r->index, p->noc);
}

void wg_race_noc_arrived(wg_races *r, const wg_event *e)
{
    packet p = packet_of(r, e);
    learn(r, e, &p);
    bool answer = p.kind == WG_PACKET_DATA || p.kind == WG_PACKET_RESULT;
    unsigned k = answer ? (unsigned)WG_K_ANSWER + p.noc : remote_stream(p.own ? r->index : p.author, p.noc, p.channel);
    switch (p.kind) {
    case WG_PACKET_WRITE: touch(r, e, &p, k, e->b, p.bytes, WG_TOUCH_WRITE); break;
    case WG_PACKET_INLINE: touch(r, e, &p, k, e->b & ~UINT64_C(3), 4, WG_TOUCH_WRITE); break;
    case WG_PACKET_ATOMIC:
        touch(r, e, &p, k, e->b & ~UINT64_C(3), 4, WG_TOUCH_READ | WG_TOUCH_WRITE | WG_TOUCH_ATOMIC);
        break;
    case WG_PACKET_DATA: touch(r, e, &p, k, e->b, p.bytes, WG_TOUCH_WRITE); break;
    case WG_PACKET_RESULT: /* many kernels direct them all to one word that nobody reads */
        touch(r, e, &p, k, e->b, 4, WG_TOUCH_WRITE | WG_TOUCH_ATOMIC);
        break;
    default: break;
    }
}

/* The Mover works for TDMA-RISC, on behalf of the core that stored the command. */
void wg_race_tdma_touch(wg_races *r, const wg_event *e)
{
    const wg_race_command_by *by = &r->tdma_by;
    if (!by->known)
        return;
    wg_actor b = {.k = WG_K_TDMA,
                  .unit = WG_RACE_UNITS,
                  .thread = (uint8_t)actor_code(WG_K_TDMA),
                  .value = ++r->tdma,
                  .clock = wg_race_clock(r, by->ref.snap),
                  .snap = by->ref.snap,
                  .own_k = by->ref.k1,
                  .own_v = by->ref.v1,
                  .kept = e->kept,
                  .mask = (uint32_t)e->c,
                  .cycle = e->cycle,
                  .party = wg_race_party_of(r, &(wg_race_party){.agent = WG_AGENT_MOVER,
                                                                .thread = WG_THREADS,
                                                                .core = by->core,
                                                                .pc = by->pc,
                                                                .cycle = e->cycle,
                                                                .write = e->how & WG_TOUCH_WRITE})};
    wg_race_touch(r, &b, (unsigned)e->a, (uint32_t)e->b, (uint32_t)e->c, e->how);
}
