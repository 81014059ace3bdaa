/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/origin.h"

#include <stdlib.h>
#include <string.h>

#include "machine/packet.h"

static void add(wg_origin *o, const wg_data_touch *t)
{
    if (o->failed)
        return;
    if (o->count == WG_ORIGIN_TOUCHES) { /* drop the older half */
        o->count = WG_ORIGIN_TOUCHES / 2;
        memmove(o->touch, o->touch + WG_ORIGIN_TOUCHES / 2, o->count * sizeof *o->touch);
        o->begins = o->touch[0].cycle;
    }
    if (o->count == o->room) {
        size_t room = o->room ? 2 * o->room : 4096;
        room = room < WG_ORIGIN_TOUCHES ? room : WG_ORIGIN_TOUCHES;
        wg_data_touch *more = realloc(o->touch, room * sizeof *more);
        if (!more) {
            o->failed = true;
            return;
        }
        o->touch = more;
        o->room = room;
    }
    o->touch[o->count++] = *t;
}

static void add_packet(wg_origin *o, const wg_event *e)
{
    bool sent = e->kind == WG_EV_NOC_SENT;
    if (o->failed || o->packets == WG_ORIGIN_PACKETS)
        return;
    if (o->packets == o->packet_room) {
        size_t room = o->packet_room ? 2 * o->packet_room : 256;
        wg_data_packet *more = realloc(o->packet, room * sizeof *more);
        if (!more) {
            o->failed = true;
            return;
        }
        o->packet = more;
        o->packet_room = room;
    }
    o->packet[o->packets++] = (wg_data_packet){.cycle = e->cycle,
                                               .transaction = e->a,
                                               .there = e->b,
                                               .here = sent ? e->parent : 0,
                                               .bytes = (uint32_t)(e->c >> 8),
                                               .tile = (uint16_t)(e->c >> 48),
                                               .kind = (uint8_t)e->c,
                                               .agent = e->agent,
                                               .sent = sent};
    uint32_t bytes = o->packet[o->packets - 1].bytes;
    if (!sent && (uint8_t)e->c != WG_PACKET_READ && (uint8_t)e->c != WG_PACKET_ACK && e->b <= UINT32_MAX)
        add(o, &(wg_data_touch){.cycle = e->cycle,
                                .first = (uint32_t)e->b,
                                .count = bytes ? bytes : 4,
                                .space = WG_TOUCH_L1,
                                .agent = e->agent,
                                .writes = true});
}

static bool is_config(unsigned space) { return space == WG_TOUCH_CONFIG || space == WG_TOUCH_THREAD_CONFIG; }

void wg_origin_event(void *user, const wg_event *e)
{
    if (e->kind != WG_EV_TOUCH) {
        add_packet(user, e);
        return;
    }
    wg_data_touch t = {.cycle = e->cycle,
                       .id = e->id,
                       .first = (uint32_t)e->b,
                       .count = (uint32_t)e->c,
                       .pc = e->pc,
                       .word = e->word,
                       .space = (uint8_t)e->a,
                       .agent = e->agent,
                       .thread = e->thread,
                       .reads = e->how & WG_TOUCH_READ,
                       .writes = e->how & WG_TOUCH_WRITE,
                       .buffered = e->how & WG_TOUCH_BUFFERED};
    switch (e->a) {
    case WG_TOUCH_L1:
    case WG_TOUCH_GPR:
    case WG_TOUCH_SRC: add(user, &t); break;
    case WG_TOUCH_DST:
        add(user, &t);
        if (e->how & WG_TOUCH_WIDE) { /* the low halves */
            t.first += 8;
            add(user, &t);
        }
        break;
    case WG_TOUCH_CONFIG: /* every instruction reads some; only RDCFG turns it into data */
    case WG_TOUCH_THREAD_CONFIG:
        if (t.writes || t.agent == WG_AGENT_CONFIG)
            add(user, &t);
        break;
    case WG_TOUCH_SEM_VALUE:
        t.writes = e->how & (WG_TOUCH_WRITE | WG_TOUCH_POST | WG_TOUCH_GET); /* a read may be atomic, too */
        if (!t.writes)
            break;
        /* fall through */
    case WG_TOUCH_LREG:
        for (uint32_t mask = (uint32_t)e->c & 0xFFFF; mask; mask &= mask - 1) {
            t.first = (uint32_t)__builtin_ctz(mask);
            t.count = 1;
            add(user, &t);
        }
        break;
    default: break;
    }
}

void wg_origin_free(wg_origin *o)
{
    free(o->touch);
    free(o->packet);
    *o = (wg_origin){0};
}

/* Parts of a location that are still to be explained. */
enum { PARTS = 128 };
typedef struct part {
    uint32_t first, end;
    unsigned seen; /* writes that may not have changed all lanes */
    uint32_t bits; /* of a word of configuration: those without a write found yet */
} part;

enum { FAR = 4096 }; /* maximum number of cycles of an instruction in its unit, or of its bytes in a packer's buffer */

/*
 * The packer's write `i` took a byte to L1: returns the write that put it into the buffer, which may be an earlier one.
 */
static size_t buffered_by(const wg_origin *o, size_t i, uint32_t byte)
{
    const wg_data_touch *w = &o->touch[i];
    size_t found = i;
    for (size_t k = i; k-- > 0 && o->touch[k].cycle + FAR > w->cycle;) {
        const wg_data_touch *t = &o->touch[k];
        if (t->agent != WG_AGENT_PACK || t->space != WG_TOUCH_L1 || !t->writes || byte - t->first >= t->count)
            continue;
        if (!t->buffered)
            break;
        found = k;
    }
    return found;
}

/* Reports the writer of these bytes, or their other origin, piece by piece. */
static void tell(const wg_origin *o, size_t i, uint32_t first, uint32_t end,
                 void (*found)(void *user, size_t touch, uint32_t first, uint32_t count), void *user)
{
    const wg_data_touch *t = &o->touch[i];
    if (t->agent != WG_AGENT_PACK || t->space != WG_TOUCH_L1) {
        found(user, i, first, end - first);
        return;
    }
    while (first < end) {
        const size_t by = buffered_by(o, i, first);
        uint32_t next = first + 1;
        while (next < end && buffered_by(o, i, next) == by)
            next++;
        found(user, by, first, next - first);
        first = next;
    }
}

void wg_origin_writers(const wg_origin *o, unsigned space, uint32_t first, uint32_t count, size_t before,
                       void (*found)(void *user, size_t touch, uint32_t first, uint32_t count), void *user)
{
    part open[PARTS] = {{first, first + count, 0, UINT32_MAX}};
    unsigned parts = count ? 1 : 0;
    for (size_t i = before < o->count ? before : o->count; i-- > 0 && parts;) {
        const wg_data_touch *t = &o->touch[i];
        if (!t->writes || t->buffered || t->space != space)
            continue;
        for (unsigned k = 0; k < parts; k++) {
            uint32_t end = t->first + (is_config(space) ? 1 : t->count);
            uint32_t low = t->first > open[k].first ? t->first : open[k].first;
            uint32_t high = end < open[k].end ? end : open[k].end;
            if (low >= high || (is_config(space) && !(t->count & open[k].bits)))
                continue;
            tell(o, i, low, high, found, user);
            if (is_config(space) && (open[k].bits &= ~t->count)) {
                open[k].seen++;
                continue;
            }
            bool lanes = t->agent == WG_AGENT_VECTOR && (space == WG_TOUCH_LREG || space == WG_TOUCH_DST);
            if (lanes && ++open[k].seen < WG_ORIGIN_LANES)
                continue;
            part rest = {high, open[k].end, open[k].seen, UINT32_MAX};
            open[k].end = low;
            if (rest.first < rest.end && parts < PARTS)
                open[parts++] = rest;
            if (open[k].first == open[k].end)
                open[k--] = open[--parts];
        }
    }
    for (unsigned k = 0; k < parts; k++)
        if (!open[k].seen)
            found(user, SIZE_MAX, open[k].first, open[k].end - open[k].first);
}

void wg_origin_reads(const wg_origin *o, size_t write, void (*found)(void *user, size_t touch), void *user)
{
    enum { LOAD = 2 }; /* maximum number of cycles from the issue of SFPLOAD to its read */
    const wg_data_touch *w = &o->touch[write];
    size_t last = write;
    /* SFPLOAD's LReg is recorded when it is issued, the rows of Dst when they are read. */
    while (w->space == WG_TOUCH_LREG && last + 1 < o->count && o->touch[last + 1].cycle <= w->cycle + LOAD)
        last++;
    for (size_t i = last + 1; i-- > 0 && w->id && o->touch[i].cycle + FAR > w->cycle;) {
        const wg_data_touch *t = &o->touch[i];
        if (t->reads && t->id == w->id && t->thread == w->thread)
            found(user, i);
    }
}

size_t wg_origin_at(const wg_origin *o, uint64_t cycle)
{
    size_t low = 0, high = o->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->touch[middle].cycle < cycle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const wg_data_packet *wg_origin_arrival(const wg_origin *o, size_t write)
{
    const wg_data_touch *w = &o->touch[write];
    for (size_t i = o->packets; i-- > 0 && o->packet[i].cycle >= w->cycle;) {
        const wg_data_packet *p = &o->packet[i];
        if (!p->sent && p->cycle == w->cycle && p->agent == w->agent && p->there <= w->first &&
            w->first < p->there + (p->bytes ? p->bytes : 4))
            return p;
    }
    return NULL;
}

const wg_data_packet *wg_origin_sent(const wg_origin *o, uint64_t transaction, bool answer, uint64_t before)
{
    for (size_t i = o->packets; i-- > 0;) {
        const wg_data_packet *p = &o->packet[i];
        if (p->sent && p->transaction == transaction && p->cycle <= before && (p->kind >= WG_PACKET_DATA) == answer)
            return p;
    }
    return NULL;
}
