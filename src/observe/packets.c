/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/packets.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "machine/packet.h"
#include "machine/request.h"

/* Doubles the room of a list, or drops its older half. */
static bool make_room(void **list, size_t *count, size_t *room, size_t size)
{
    if (*count == WG_PACKETS_KEPT) {
        memmove(*list, (char *)*list + WG_PACKETS_KEPT / 2 * size, WG_PACKETS_KEPT / 2 * size);
        *count = WG_PACKETS_KEPT / 2;
    }
    if (*count < *room)
        return true;
    size_t more = *room ? 2 * *room : 64;
    void *bigger = realloc(*list, more * size);
    if (!bigger)
        return false;
    *list = bigger;
    *room = more;
    return true;
}

unsigned wg_packets_niu(uint32_t address)
{
    enum { NIU0_BASE = 0xFFB2, NIU1_BASE = 0xFFB3 };
    return address >> 16 == NIU0_BASE ? 0 : address >> 16 == NIU1_BASE ? 1 : 2;
}

static bool is_command(const wg_packets *p, uint32_t address)
{
    const wg_arch *arch = wg_arch_of(p->arch);
    unsigned command = arch->noc.wide_addresses ? 0x40 : 0x28, offset = address & 0xFFFF; /* NOC_CMD_CTRL */
    return offset % arch->noc.stride == command && offset < 4u * arch->noc.stride;
}

static void commanded(wg_packets *p, const wg_event *e)
{
    const unsigned path = WG_REQUEST_PATH(e->word), noc = path == WG_PATH_NIU1;
    if ((path != WG_PATH_NIU0 && path != WG_PATH_NIU1) || e->c == WG_REQ_READ || !is_command(p, (uint32_t)e->a))
        return;
    if (p->commands[noc] == WG_PACKETS_COMMANDS) {
        p->first[noc]++;
        p->commands[noc]--;
    }
    unsigned at = (p->first[noc] + p->commands[noc]++) % WG_PACKETS_COMMANDS;
    p->command[noc][at].pc = e->pc;
    p->command[noc][at].core = e->agent;
}

static void add_sent(wg_packets *p, const wg_sent *s)
{
    void *list = p->sent;
    bool ok = make_room(&list, &p->sents, &p->sent_room, sizeof *s);
    p->sent = list;
    if (ok)
        p->sent[p->sents++] = *s;
    else
        p->failed = true;
}

static void add_arrival(wg_packets *p, const wg_arrival *a)
{
    void *list = p->arrival;
    bool ok = make_room(&list, &p->arrivals, &p->arrival_room, sizeof *a);
    p->arrival = list;
    if (ok)
        p->arrival[p->arrivals++] = *a;
    else
        p->failed = true;
}

static void left(wg_packets *p, const wg_event *e)
{
    const unsigned noc = (e->agent - WG_AGENT_NIU0) & 1, kind = e->c & 0xFF;
    const uint64_t bytes = e->c >> 8 & UINT64_C(0xFFFFFFFFFF);
    p->packets_sent[noc]++;
    if (kind == WG_PACKET_WRITE || kind == WG_PACKET_DATA)
        p->bytes_sent[noc] += bytes;
    if (kind >= WG_PACKET_DATA)
        return;
    wg_sent s = {.cycle = e->cycle, .transaction = e->a, .core = WG_CORES, .noc = (uint8_t)noc};
    if (p->commands[noc]) {
        unsigned at = p->first[noc] % WG_PACKETS_COMMANDS;
        s.pc = p->command[noc][at].pc;
        s.core = p->command[noc][at].core;
        /* A request longer than a packet leaves as several; the last is shorter, or the next command follows. */
        bool more = bytes == 256u * wg_arch_of(p->arch)->noc.flit_bytes && p->commands[noc] == 1;
        p->first[noc] += !more;
        p->commands[noc] -= !more;
    }
    add_sent(p, &s);
}

static void arrived(wg_packets *p, const wg_event *e)
{
    const unsigned noc = (e->agent - WG_AGENT_NIU0) & 1;
    wg_arrival a = {.cycle = e->cycle,
                    .left = e->parent,
                    .transaction = e->a,
                    .address = e->b,
                    .bytes = (uint32_t)(e->c >> 8),
                    .waited = WG_NOC_WAITED(e->word),
                    .sender = (uint16_t)(e->c >> 48),
                    .noc = (uint8_t)noc,
                    .kind = (uint8_t)e->c};
    if (a.kind == WG_PACKET_WRITE || a.kind == WG_PACKET_DATA)
        p->bytes_arrived[noc] += a.bytes;
    p->waited[noc] += a.waited;
    add_arrival(p, &a);
}

static uint32_t bytes_of(const wg_event *e) { return (uint32_t)(e->c >> 8 & UINT64_C(0xFFFFFFFFFF)); }

static void frame_left(wg_packets *p, const wg_event *e)
{
    const unsigned queue = (unsigned)(e->c >> 48) % WG_PACKETS_QUEUES;
    p->linked = true;
    p->end = (uint32_t)e->parent;
    add_sent(p, &(wg_sent){.cycle = e->cycle,
                           .transaction = e->a,
                           .pc = p->ordered[queue].pc,
                           .core = p->ordered[queue].pc ? p->ordered[queue].core : (uint8_t)WG_CORES,
                           .noc = WG_PACKETS_LINK});
}

static void frame_arrived(wg_packets *p, const wg_event *e)
{
    add_arrival(p, &(wg_arrival){.cycle = e->cycle,
                                 .transaction = e->a,
                                 .address = e->b,
                                 .bytes = bytes_of(e),
                                 .end = (uint32_t)e->parent,
                                 .noc = WG_PACKETS_LINK,
                                 .kind = e->c & 0xFF ? WG_PACKET_INLINE : WG_PACKET_WRITE});
}

static void link_commanded(wg_packets *p, const wg_event *e)
{
    p->ordered[e->a % WG_PACKETS_QUEUES].pc = e->agent < WG_CORES ? e->pc : 0;
    p->ordered[e->a % WG_PACKETS_QUEUES].core = e->agent;
}

void wg_packets_event(wg_packets *p, const wg_event *e)
{
    if (e->kind == WG_EV_CORE_RESPONSE)
        commanded(p, e);
    else if (e->kind == WG_EV_NOC_SENT)
        left(p, e);
    else if (e->kind == WG_EV_NOC_ARRIVED)
        arrived(p, e);
    else if (e->kind == WG_EV_LINK_COMMAND)
        link_commanded(p, e);
    else if (e->kind == WG_EV_LINK_SENT)
        frame_left(p, e);
    else if (e->kind == WG_EV_LINK_ARRIVED)
        frame_arrived(p, e);
}

void wg_packets_free(wg_packets *p)
{
    free(p->sent);
    free(p->arrival);
    *p = (wg_packets){.tile = p->tile, .chip = p->chip};
}

/* ---- Queries ---- */

bool wg_packet_is_answer(const wg_arrival *a) { return a->kind >= WG_PACKET_DATA; }

bool wg_packet_writes(const wg_arrival *a, uint32_t address)
{
    bool block = a->kind == WG_PACKET_WRITE || a->kind == WG_PACKET_DATA;
    if (a->kind == WG_PACKET_READ || a->kind == WG_PACKET_ACK)
        return false;
    return block ? address + 4u > a->address && address < a->address + a->bytes : (address & ~3u) == (a->address & ~3u);
}

const wg_sent *wg_packets_sent(const wg_packets *p, uint64_t transaction, uint64_t latest)
{
    for (size_t i = p->sents; i-- > 0;)
        if (p->sent[i].transaction == transaction && p->sent[i].cycle <= latest && p->sent[i].noc != WG_PACKETS_LINK)
            return &p->sent[i];
    return NULL;
}

const wg_sent *wg_packets_frame(const wg_packets *p, uint64_t number)
{
    for (size_t i = p->sents; i-- > 0;)
        if (p->sent[i].transaction == number && p->sent[i].noc == WG_PACKETS_LINK)
            return &p->sent[i];
    return NULL;
}

/* The number of arrivals until this cycle. */
static size_t arrivals_until(const wg_packets *p, uint64_t cycle)
{
    size_t low = 0, high = p->arrivals;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->arrival[middle].cycle <= cycle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const wg_arrival *wg_packets_arrival(const wg_packets *p, uint64_t transaction, uint64_t latest)
{
    for (size_t i = arrivals_until(p, latest); i-- > 0;)
        if (p->arrival[i].transaction == transaction && p->arrival[i].noc != WG_PACKETS_LINK)
            return &p->arrival[i];
    return NULL;
}

const wg_arrival *wg_packets_ended(const wg_packets *p, uint32_t address, uint64_t after, uint64_t latest)
{
    const unsigned noc = wg_packets_niu(address);
    for (size_t i = arrivals_until(p, latest); i-- > 0 && p->arrival[i].cycle > after;) {
        const wg_arrival *a = &p->arrival[i];
        if (noc < 2 ? a->noc == noc && wg_packet_is_answer(a) : wg_packet_writes(a, address))
            return a;
    }
    return NULL;
}
