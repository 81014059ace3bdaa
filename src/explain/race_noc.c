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
 * Between tiles, a request carries what its issuer, a core, knows of all tiles (race_far.c). Its touches there are judged
 * by that. A core that polls a word of L1 in a loop acquires what the packets that wrote the word brought; one that polls
 * a counter of answers, that the requests have been performed.
 *
 * Facts: NoC/README.md, Ordering.md, Counters.md, MemoryOrdering.md; docs/races.md, "What counts as order".
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

wg_races *wg_race_member(const wg_races *r, unsigned tile)
{
    return r->group && tile < WG_RACE_TILES ? r->group->tile[tile] : NULL;
}

void wg_race_noc_free(wg_races *r)
{
    free(r->asked);
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
bool wg_race_polled(wg_races *r, const wg_event *e, bool early, wg_clock *to, wg_far **far)
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
    if (counter == WG_MST_WR_ACK_RECEIVED || answers)
        wg_far_add(r, far, r->answered[noc]);
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

/* An unknown party is assumed to know everything done on this tile so far. */
static void everything(wg_races *r, wg_far **far) { wg_race_far_here(r, far, wg_race_clock(r, wg_race_host_snap(r))); }

/* What the issuer of another tile's request knows of this one: a clock in this tile's pool. */
static uint32_t senders_snap(wg_races *r, wg_races *author, wg_race_sent *s)
{
    enum { STALE = WG_SNAPS / 2 };
    wg_far *far = NULL;
    if (s && s->to == r->index && s->there && r->next_snap - s->there < STALE)
        return s->there;
    if (s)
        wg_far_add(r, &far, s->far);
    else
        everything(author, &far);
    r->forgotten += !s;
    const wg_clock *known = wg_far_of(far, r->index);
    uint32_t snap = known ? wg_race_snap(r, known) : 0;
    wg_far_drop(&far);
    if (s && snap) {
        s->to = r->index;
        s->there = snap;
    }
    return snap;
}

/* A write by another tile's packet brings its issuer's knowledge; an atomic, also that of those it adds to. */
static void bring(wg_races *r, wg_actor *b, unsigned author, const wg_race_sent *s, uint32_t address, unsigned how)
{
    wg_far *far = NULL;
    if (s)
        wg_far_add(r, &far, s->far);
    if (how & WG_TOUCH_ATOMIC) {
        wg_clock all = *b->clock;
        wg_race_released_l1(r, &all, &far, address, 4, b->k);
        b->snap = wg_race_snap(r, &all);
    }
    b->own_v = wg_race_packet_new(r, author, s ? &s->by : &(wg_race_command_by){0}, far);
    wg_far_drop(&far);
}

/* A touch of L1 on behalf of the requester. */
static void touch(wg_races *r, const wg_event *e, const packet *p, unsigned k, uint64_t address, uint64_t bytes,
                  unsigned how)
{
    wg_races *author = p->own ? r : wg_race_member(r, p->author);
    wg_race_sent *s = author ? sent_of(author, e->a) : NULL;
    if (address >= r->arch->tensix.l1_bytes || bytes > r->arch->tensix.l1_bytes - address) { /* registers */
        if (s && how & WG_TOUCH_WRITE)
            wg_far_add(r, &r->registers, s->far);
        return;
    }
    if (p->own && (!s || !s->by.known)) {
        if (how & WG_TOUCH_WRITE) /* the host's, or the overlay's */
            wg_race_host_write(r, address, bytes);
        return;
    }
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
    if (s && s->by.known) {
        party.core = s->by.core;
        party.pc = s->by.pc;
    }
    if (p->own) {
        b.snap = s->by.ref.snap;
        b.own_k = s->by.ref.k1;
        b.own_v = s->by.ref.v1;
    } else {
        party.tile = (uint16_t)(p->author + 1);
        if (author) {
            b.snap = senders_snap(r, author, s);
        } else if (r->group) { /* the sender is not observed: its requests are assumed to be in program order */
            wg_clock own = {0};
            for (unsigned noc = 0; noc < 2; noc++)
                done_for(r, &own, p->author, noc);
            b.snap = wg_race_snap(r, &own);
        }
    }
    b.clock = wg_race_clock(r, b.snap);
    if (author && !p->own) {
        b.by = s ? &s->by : NULL;
        b.by_tile = p->author;
        if (how & WG_TOUCH_WRITE)
            bring(r, &b, p->author, s, (uint32_t)address, how);
    }
    b.party = wg_race_party_of(r, &party);
    if (p->own && k < WG_K_RMT)
        r->noc_party[k - WG_K_NOC] = b.party;
    wg_race_given(r, address, bytes);
    if (how & WG_TOUCH_WRITE)
        wg_race_init_written(r, address, bytes);
    wg_race_touch(r, &b, WG_TOUCH_L1, (uint32_t)address, (uint32_t)bytes, how);
}

/* A request of another tile sees these bytes: its answer brings back what was released with them. */
static void seen(wg_races *r, const wg_event *e, const packet *p, uint64_t address, uint32_t bytes)
{
    wg_races *author = p->own ? r : wg_race_member(r, p->author);
    wg_race_sent *s = author && author->group ? sent_of(author, e->a) : NULL;
    if (!s || address >= r->arch->tensix.l1_bytes)
        return;
    wg_clock released = {0};
    wg_race_released_l1(r, &released, &s->got, (uint32_t)address, bytes, WG_K_NONE);
    wg_race_far_here(r, &s->got, &released);
}

/* A NoC read of a declared flag: the reader acquires what the flag's writer released once it has the answer. */
static void asked(wg_races *r, const wg_event *e, const packet *p, uint32_t address, uint32_t bytes)
{
    wg_far *far = NULL;
    if (!p->own) {
        seen(r, e, p, address, bytes);
        return;
    }
    if (!r->asked && (r->asked = calloc(1, sizeof *r->asked)))
        r->bytes += sizeof *r->asked;
    if (r->asked)
        wg_race_acquire_l1(r, r->asked, &far, address, bytes);
    else
        r->forgotten++;
    wg_far_add(r, &r->answered[p->noc], far);
    wg_far_drop(&far);
}

/* What the issuer of the request knows, for the tiles that it reaches. */
static void carry(wg_races *r, wg_race_sent *s)
{
    wg_clock known = {0};
    if (!s->by.known) {
        everything(r, &s->far);
        return;
    }
    wg_race_join(r, &known, &s->by.ref);
    wg_race_far_here(r, &s->far, &known);
}

void wg_race_noc_sent(wg_races *r, const wg_event *e)
{
    packet p = packet_of(r, e);
    if (p.kind == WG_PACKET_DATA && p.bytes <= WG_HOST_FLAG && wg_race_declared(r, (uint32_t)e->parent)) {
        asked(r, e, &p, (uint32_t)e->parent, (uint32_t)p.bytes);
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
    wg_far_drop(&s->far);
    wg_far_drop(&s->got);
    *s = (wg_race_sent){.transaction = e->a};
    if (c->count) {
        s->by = c->by[c->head % WG_RACE_COMMANDS];
        bool split = p.bytes == 256u * r->arch->noc.flit_bytes && c->count == 1; /* more of the packet may follow */
        c->head += !split;
        c->count -= !split;
    }
    if (r->group)
        carry(r, s);
    if (p.kind == WG_PACKET_WRITE)
        touch(r, e, &p, WG_K_SOURCE + p.noc, e->parent, p.bytes, WG_TOUCH_READ);
}

/* An answer: the request has been performed there. */
static void answered(wg_races *r, const wg_event *e, const packet *p)
{
    const wg_race_sent *s = sent_of(r, e->a);
    const wg_races *there = wg_race_member(r, p->tile);
    if (!r->group)
        return;
    if (s)
        wg_far_add(r, &r->answered[p->noc], s->got);
    if (there && there != r) {
        wg_clock done = {0};
        done_for(there, &done, r->index, p->noc);
        wg_far_add_clock(r, &r->answered[p->noc], p->tile, &done);
    }
}

void wg_race_noc_arrived(wg_races *r, const wg_event *e)
{
    packet p = packet_of(r, e);
    bool data = p.kind == WG_PACKET_DATA || p.kind == WG_PACKET_RESULT;
    unsigned k = data ? (unsigned)WG_K_ANSWER + p.noc : remote_stream(p.own ? r->index : p.author, p.noc, p.channel);
    if (data || p.kind == WG_PACKET_ACK)
        answered(r, e, &p);
    switch (p.kind) {
    case WG_PACKET_WRITE: touch(r, e, &p, k, e->b, p.bytes, WG_TOUCH_WRITE); break;
    case WG_PACKET_INLINE: touch(r, e, &p, k, e->b & ~UINT64_C(3), 4, WG_TOUCH_WRITE); break;
    case WG_PACKET_ATOMIC:
        seen(r, e, &p, e->b & ~UINT64_C(3), 4);
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
