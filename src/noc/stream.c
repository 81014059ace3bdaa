/* SPDX-License-Identifier: Apache-2.0 */
/* Overlay streams: phases, receiving, forwarding within the tile; see stream.h. Sending is in stream_send.c. */
#include "machine/stream.h"

#include <string.h>

#include "report/findings.h"
#include "machine/niu.h"
#include "machine/overlay.h"
#include "noc/stream_send.h"
#include "machine/tile.h"
#include "tile/windows.h"

enum { STREAMS = WG_OVERLAY_STREAMS };

static wg_stream *at(wg_tile *t, unsigned i) { return &t->regions.niu.streams.stream[i % STREAMS]; }
static uint32_t get(wg_tile *t, unsigned i, wg_stream_register r) { return *wg_overlay_word(t, i, r); }
static void set(wg_tile *t, unsigned i, wg_stream_register r, uint32_t value) { *wg_overlay_word(t, i, r) = value; }

void wg_stream_complain(wg_tile *t, unsigned i, uint32_t value, const char *what)
{
    wg_findf(t, WG_F_NOC_STREAM, (wg_finding){.agent = WG_AGENT_NIU0, .subject = i, .value = value}, "stream %u: %s", i,
             what);
}

/* Positions of register fields that differ between the architectures. */
static const struct stream_layout {
    bool own_onetime; /* auto_config and auto_advance have a register; else they follow in MISC_CFG */
    uint8_t changes;  /* the first of the four bits on changing endpoints and flow control */
    uint8_t no_flush, from_multicast;
    uint32_t undocumented; /* of MISC_CFG: tokens, copies, wrapped headers … */
    bool own_gather_clear; /* GATHER_CLEAR is a register; else part of GATHER */
    uint8_t gather_size, gather_by_stream, gather_in_order;
    uint32_t gather_times; /* mask */
} layouts[] = {
    [WG_ARCH_BH] = {.own_onetime = true,
                    .changes = 11,
                    .no_flush = 18,
                    .from_multicast = 17,
                    .undocumented = 0x798600,
                    .gather_size = 13,
                    .gather_by_stream = 12,
                    .gather_in_order = 16,
                    .gather_times = 0xFFF},
    [WG_ARCH_WH] = {.changes = 12,
                    .no_flush = 17,
                    .from_multicast = 16,
                    .own_gather_clear = true,
                    .gather_size = 0,
                    .gather_by_stream = 16,
                    .gather_in_order = 3,
                    .gather_times = 0xFFFF},
};

wg_stream_flags wg_stream_flags_of(const wg_tile *t, unsigned i)
{
    const struct stream_layout *l = &layouts[t->arch->id];
    const uint32_t *w = t->regions.niu.overlay[i % STREAMS];
    uint32_t c = w[wg_overlay_number(t->arch, WG_SR_MISC_CFG)],
             once = l->own_onetime ? w[wg_overlay_number(t->arch, WG_SR_ONETIME_CFG)] : c >> 9;
    return (wg_stream_flags){.out_noc = c >> 1 & 1,
                             .update_noc = c >> 2 & 1,
                             .gathers = c >> 3 & 1,
                             .from_software = c >> 4 & 1,
                             .from_stream = c >> 5 & 1,
                             .to_software = c >> 6 & 1,
                             .to_gather = c >> 7 & 1,
                             .to_stream = c >> 8 & 1,
                             .source_changes = c >> l->changes & 1,
                             .dest_changes = c >> (l->changes + 1) & 1,
                             .no_flow_control = c >> (l->changes + 2) & 1,
                             .dest_no_flow_control = c >> (l->changes + 3) & 1,
                             .no_flush = c >> l->no_flush & 1,
                             .from_multicast = c >> l->from_multicast & 1,
                             .auto_config = once & 1,
                             .auto_advance = once >> 1 & 1,
                             .undocumented = (c & l->undocumented) != 0};
}

bool wg_stream_auto_config(const wg_tile *t, unsigned i) { return wg_stream_flags_of(t, i).auto_config; }

void wg_streams_reset(wg_streams *s) { s->due = WG_NEVER; }

void wg_stream_stir(wg_tile *t, unsigned i)
{
    wg_streams *s = &t->regions.niu.streams;
    s->active |= UINT64_C(1) << i % STREAMS;
    if (s->due > t->sched.now + 1)
        s->due = t->sched.now + 1;
    wg_wake_at(&t->sched, WG_AGENT_NIU0, s->due);
}

unsigned wg_stream_capacity(const wg_tile *t, unsigned i)
{
    if (i < 6 && wg_stream_flags_of(t, i).gathers)
        return 2;
    return i < 6 || (i >= 8 && i < 12) ? 8 : 2;
}

/* ---- the metadata FIFO and its view for software ---------------------------------------------------------- */

static void show(wg_tile *t, unsigned i)
{
    const wg_stream *s = at(t, i);
    set(t, i, WG_SR_RECEIVED, s->messages);
    set(t, i, WG_SR_NEXT_MSG_ADDR, s->messages ? s->message[0].address : 0);
    set(t, i, WG_SR_NEXT_MSG_SIZE, s->messages ? s->message[0].size : 0);
    uint32_t *header = wg_overlay_word(t, i, WG_SR_CFG_HEADER);
    *header = (*header & 0xFF000000) | (uint32_t)s->left << 12 | s->left;
    wg_wake_threads(&t->sched);
}

static void append(wg_tile *t, unsigned i, uint32_t address, uint32_t size, const uint32_t header[4], unsigned source)
{
    wg_stream *s = at(t, i);
    if (s->messages >= WG_STREAM_FIFO)
        return;
    s->message[s->messages].address = address;
    s->message[s->messages].size = size;
    s->message[s->messages].source = (uint8_t)source;
    memcpy(s->message[s->messages].header, header, 16);
    s->messages++;
    show(t, i);
}

void wg_stream_take(wg_tile *t, unsigned i, unsigned n)
{
    wg_stream *s = at(t, i);
    n = n < s->messages ? n : s->messages;
    memmove(s->message, s->message + n, (s->messages - n) * sizeof *s->message);
    s->messages = (uint8_t)(s->messages - n);
    s->left = (uint16_t)(s->left - (n < s->left ? n : s->left));
    show(t, i);
}

/* The length field of a header. */
static uint32_t length_of(wg_tile *t, const uint32_t header[4])
{
    uint32_t format = get(t, 0, WG_SR_HEADER_FORMAT), offset = format & 0x78, bits = format >> 7 & 0x7F;
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)header + offset / 8, offset <= 64 ? 8 : 16 - offset / 8);
    return (uint32_t)(bits < 32 ? value & ((UINT64_C(1) << bits) - 1) : value) & 0x7FFF;
}

/* One header from the array in L1; false if there is none, or no room for it. */
static bool load_header(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    uint32_t ptr = get(t, i, WG_SR_MSG_INFO_PTR), header[4], size = get(t, i, WG_SR_BUF_SIZE);
    if (ptr == get(t, i, WG_SR_MSG_INFO_WR_PTR) || s->messages >= wg_stream_capacity(t, i) || s->messages >= s->left)
        return false;
    wg_l1_read(t, ptr << 4, sizeof header, header);
    uint32_t length = length_of(t, header);
    if (!length)
        wg_stream_complain(t, i, ptr << 4, "a message's header gives no length; it counts as 16 bytes");
    length = length ? length : 1;
    append(t, i, get(t, i, WG_SR_BUF_START) + s->load_at, length, header, i);
    s->load_at = size ? (s->load_at + length) % size : 0;
    set(t, i, WG_SR_MSG_INFO_PTR, (ptr + 1) & 0x1FFFF);
    return true;
}

/* Frees room in the receive buffer of the stream that the message came through. */
void wg_stream_release(wg_tile *t, unsigned source, uint32_t size)
{
    wg_stream *s = at(t, source);
    uint32_t room = get(t, source, WG_SR_BUF_SIZE), rd = get(t, source, WG_SR_RD_PTR) + size;
    set(t, source, WG_SR_RD_PTR, room ? rd % room : rd & 0x1FFFF);
    s->held -= size < s->held ? size : s->held;
    if (wg_stream_flags_of(t, source).from_stream)
        s->credit += size;
    wg_stream_stir(t, source);
}

static void arrived(wg_tile *t, unsigned i, uint32_t size)
{
    wg_stream *s = at(t, i);
    uint32_t room = get(t, i, WG_SR_BUF_SIZE), wr = get(t, i, WG_SR_WR_PTR) + size;
    set(t, i, WG_SR_WR_PTR, room ? wr % room : wr & 0x1FFFF);
    s->held += size;
    s->unsent += size;
    if (room && s->held > room)
        wg_stream_complain(t, i, size, "more was pushed than the receive buffer has room for");
    wg_stream_stir(t, i);
}

/* ---- software ------------------------------------------------------------------------------------------------- */

static bool running(wg_tile *t, unsigned i, const char *what)
{
    if (at(t, i)->state == WG_STREAM_RUNNING)
        return true;
    wg_stream_complain(t, i, at(t, i)->state, what);
    return false;
}

void wg_stream_push(wg_tile *t, unsigned i, uint32_t messages, uint32_t size)
{
    set(t, i, WG_SR_MSG_INFO_WR_PTR, (get(t, i, WG_SR_MSG_INFO_WR_PTR) + messages) & 0x1FFFF);
    if (running(t, i, "messages were pushed outside a phase"))
        arrived(t, i, size);
}

void wg_stream_push_one(wg_tile *t, unsigned i, uint32_t address, uint32_t size)
{
    if (!running(t, i, "a message was pushed outside a phase"))
        return;
    if (!wg_overlay_stream_read(t, i, wg_overlay_number(t->arch, WG_SR_CAN_PUSH))) {
        wg_stream_complain(t, i, address << 4, "a message was pushed while there was no room for it; it is lost");
        return;
    }
    if (!size)
        wg_stream_complain(t, i, address << 4, "a message has no length; it counts as 16 bytes");
    size = size ? size : 1;
    uint32_t next = (get(t, i, WG_SR_MSG_INFO_PTR) + 1) & 0x1FFFF;
    set(t, i, WG_SR_MSG_INFO_PTR, next);
    set(t, i, WG_SR_MSG_INFO_WR_PTR, next);
    append(t, i, address, size, wg_overlay_word(t, i, WG_SR_SET_HEADER), i);
    arrived(t, i, size);
}

void wg_stream_pop(wg_tile *t, unsigned i, uint32_t messages)
{
    wg_stream *s = at(t, i);
    if (!running(t, i, "messages were taken outside a phase") || !messages)
        return;
    if (messages > s->messages || s->reads >= wg_stream_capacity(t, i)) {
        wg_stream_complain(t, i, messages, "more messages were taken than are there, or than can be taken at once");
        return;
    }
    uint32_t size = 0;
    for (unsigned k = 0; k < messages; k++)
        size += s->message[k].size;
    s->read[s->reads].at = WG_NEVER;
    s->read[s->reads].size = size;
    s->read[s->reads++].source = s->message[0].source;
    wg_stream_take(t, i, messages);
    s->unsent -= size < s->unsent ? size : s->unsent;
    wg_stream_stir(t, i);
}

void wg_stream_free(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    if (!s->reads) {
        wg_stream_complain(t, i, 0, "data was freed of which no message had been taken");
        return;
    }
    uint32_t size = s->read[0].size;
    unsigned source = s->read[0].source;
    memmove(s->read, s->read + 1, --s->reads * sizeof *s->read);
    wg_stream_release(t, source, size);
    wg_stream_stir(t, i);
}

/* Software sets STREAM_REMOTE_DEST_MSG_INFO_WR_PTR to -2n: pops and frees alternate. */
static bool clear_step(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    uint32_t *count = wg_overlay_word(t, i, WG_SR_DEST_INFO_WR_PTR);
    if (!*count || (!(*count & 1) && (!s->messages || s->reads >= wg_stream_capacity(t, i))))
        return false;
    if (*count & 1)
        wg_stream_free(t, i);
    else
        wg_stream_pop(t, i, 1);
    *count = (*count + 1) & 0x1FFFF;
    return true;
}

/* ---- phases --------------------------------------------------------------------------------------------------- */

static void interrupt_done(wg_tile *t)
{
    bool any = t->regions.niu.streams.done;
    if (t->arch->interrupts.streams_done_level)
        wg_pic_level(t, t->arch->interrupts.streams_done_irq, any);
    else if (any)
        wg_pic_edge(t, t->arch->interrupts.streams_done_irq);
}

/* WH: a phase of streams 0 to 3 and 8 to 11 begins (bit 0) or ends (bit 1). */
static void interrupt_phase(wg_tile *t, unsigned i, unsigned what)
{
    unsigned irq = i < 4 ? i : i - 4;
    if (t->arch->interrupts.stream_phases && wg_stream_to_dram(i) && t->regions.control.pic.stream_type[irq] & what)
        wg_pic_edge(t, irq);
}

static void begin_loading(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    s->state = WG_STREAM_LOADING;
    s->config_at = 0;
    s->config_from = get(t, i, WG_SR_CFG_PTR);
    t->regions.niu.streams.done &= ~(UINT64_C(1) << i);
    interrupt_done(t);
    wg_stream_stir(t, i);
}

void wg_stream_configured(wg_tile *t, unsigned i)
{
    if (at(t, i)->state == WG_STREAM_IDLE && wg_stream_flags_of(t, i).auto_config)
        begin_loading(t, i);
}

static void begin_phase(wg_tile *t, unsigned i)
{
    wg_stream_flags f = wg_stream_flags_of(t, i);
    wg_stream *s = at(t, i);
    if (f.gathers + f.from_software + f.from_stream != 1)
        wg_stream_complain(t, i, get(t, i, WG_SR_MISC_CFG), "a phase needs exactly one source");
    if (f.to_software + f.to_gather + f.to_stream > 1)
        wg_stream_complain(t, i, get(t, i, WG_SR_MISC_CFG), "a phase has at most one destination");
    if (f.undocumented)
        wg_findf(t, WG_F_UNIMPLEMENTED_REGISTER,
                 (wg_finding){.agent = WG_AGENT_NIU0, .subject = i, .value = get(t, i, WG_SR_MISC_CFG)},
                 "stream %u: STREAM_MISC_CFG selects a mode that no document describes", i);
    s->state = WG_STREAM_FLUSHING;
    s->got_data = s->grouped = false;
    s->group = s->part = 0;
    s->round = 0;
    wg_stream_stir(t, i);
}

void wg_stream_advance(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    if (s->state == WG_STREAM_IDLE || s->state == WG_STREAM_LOADED)
        begin_phase(t, i);
    else
        wg_stream_complain(t, i, s->state, "it is not waiting to be started");
}

void wg_stream_restart(wg_tile *t, unsigned i)
{
    *at(t, i) = (wg_stream){0};
    t->regions.niu.streams.active &= ~(UINT64_C(1) << i);
    show(t, i);
}

/* One word of the next phase's configuration. */
static void load_step(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    uint32_t word;
    wg_l1_read(t, s->config_from + 4u * s->config_at, 4, &word);
    unsigned last = s->config_at ? s->group : s->next_config; /* the header's own write changes next_config */
    if (!s->config_at) {
        s->group = s->next_config;
        wg_overlay_register_write(t, i, wg_overlay_number(t->arch, WG_SR_CFG_HEADER), word);
    } else if (!wg_overlay_register_write(t, i, word >> 24, word & 0xFFFFFF)) {
        wg_stream_complain(t, i, word, "configuration in L1 names no register");
    }
    if (s->config_at++ < last)
        return;
    s->group = 0;
    s->state = WG_STREAM_LOADED;
    if (wg_stream_flags_of(t, i).auto_advance)
        begin_phase(t, i);
}

static void end_phase(wg_tile *t, unsigned i)
{
    wg_stream_flags f = wg_stream_flags_of(t, i);
    wg_stream *s = at(t, i);
    s->source_met = !f.source_changes;
    s->dest_met = !f.dest_changes;
    interrupt_phase(t, i, 2);
    if (f.auto_config) {
        begin_loading(t, i);
        return;
    }
    s->state = WG_STREAM_IDLE;
    t->regions.niu.streams.done |= UINT64_C(1) << i;
    interrupt_done(t);
}

/* All reads of the previous phase are done: handshakes begin. */
static void start_step(wg_tile *t, unsigned i)
{
    wg_stream_flags f = wg_stream_flags_of(t, i);
    wg_stream *s = at(t, i);
    s->state = WG_STREAM_RUNNING;
    interrupt_phase(t, i, 1);
    if (f.from_stream && !s->source_met && s->left) {
        set(t, i, WG_SR_WR_PTR, 0);
        if (!s->held) {
            set(t, i, WG_SR_RD_PTR, 0);
            s->load_at = 0;
        }
        s->greet = true;
    }
    s->waits_ready = false;
    if (f.to_stream && !s->dest_met && s->left) {
        set(t, i, WG_SR_DEST_WR_PTR, 0);
        s->waits_ready = !wg_stream_met(t, i);
        if (s->waits_ready)
            wg_stream_ask(t, i);
    }
}

void wg_stream_is_ready(wg_tile *t, unsigned i, uint32_t value)
{
    wg_stream *s = at(t, i);
    uint32_t phase = value >> 6 & 0xFFFFF;
    if (s->ready_phase != phase)
        s->ready = 0;
    s->ready_phase = phase;
    s->ready |= UINT32_C(1) << (value & 31);
    wg_stream_stir(t, i);
}

void wg_stream_is_asked(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    if (s->state == WG_STREAM_RUNNING && wg_stream_flags_of(t, i).from_stream && !s->source_met && !s->got_data)
        s->greet = true;
    wg_stream_stir(t, i);
}

void wg_stream_clear_done(wg_tile *t, uint64_t mask)
{
    t->regions.niu.streams.done &= ~mask;
    interrupt_done(t);
}

uint32_t wg_stream_next_done(wg_tile *t)
{
    wg_streams *all = &t->regions.niu.streams;
    for (unsigned k = 1; k <= STREAMS; k++) {
        unsigned i = (all->last_done + k) % STREAMS;
        if (all->done >> i & 1) {
            all->last_done = (uint8_t)i;
            wg_poll_disturb(t);
            wg_stream_clear_done(t, UINT64_C(1) << i);
            return 0x10000 + i;
        }
    }
    return 0;
}

void wg_stream_delivered(wg_tile *t, unsigned i, uint32_t bytes, bool first, bool last)
{
    wg_stream_flags f = wg_stream_flags_of(t, i);
    wg_stream *s = at(t, i);
    if (s->state != WG_STREAM_RUNNING || !f.from_stream)
        wg_stream_complain(t, i, bytes, "a packet came for it outside a phase in which it receives");
    s->got_data = true;
    arrived(t, i, (bytes + 15) / 16);
    if (f.to_stream ? first : last) /* forwarding can start before the message is complete */
        set(t, i, WG_SR_MSG_INFO_WR_PTR, (get(t, i, WG_SR_MSG_INFO_WR_PTR) + 1) & 0x1FFFF);
}

/* ---- gather --------------------------------------------------------------------------------------------------- */

static uint64_t sources_of(wg_tile *t, unsigned i)
{
    return get(t, i, WG_SR_SRC_MASK) | (uint64_t)get(t, i, WG_SR_SRC_MASK_1) << 24 |
           (uint64_t)get(t, i, WG_SR_SRC_MASK_2) << 48;
}

typedef struct gather {
    unsigned size, times;
    bool by_stream, in_order;
} gather;

static gather gather_of(wg_tile *t, unsigned i)
{
    uint32_t g = get(t, i, WG_SR_GATHER);
    const struct stream_layout *l = &layouts[t->arch->id];
    uint32_t clear = l->own_gather_clear ? get(t, i, WG_SR_GATHER_CLEAR) : g;
    gather r = {.size = g >> l->gather_size & 7,
                .times = clear & l->gather_times,
                .by_stream = clear >> l->gather_by_stream & 1,
                .in_order = g >> l->gather_in_order & 1};
    if (r.size != 1 && r.size != 2 && r.size != 4) {
        wg_stream_complain(t, i, g, "gather groups have one, two or four streams");
        r.size = 1;
    }
    r.times = r.times ? r.times : 1;
    return r;
}

/* Does it offer messages to the gathering stream? */
static bool offers(wg_tile *t, unsigned i, unsigned to, bool enough)
{
    const wg_stream *s = at(t, i);
    uint32_t dest = get(t, i, WG_SR_DEST);
    if (s->state != WG_STREAM_RUNNING || !wg_stream_flags_of(t, i).to_gather || (dest >> 12 & 63) != to)
        return false;
    uint32_t has = s->messages + ((get(t, i, WG_SR_MSG_INFO_WR_PTR) - get(t, i, WG_SR_MSG_INFO_PTR)) & 0x1FFFF);
    return !enough || has >= (dest & 0xFFF);
}

static bool group_offers(wg_tile *t, unsigned first, unsigned size, unsigned to)
{
    for (unsigned k = 0; k < size; k++)
        if (!offers(t, first + k, to, true))
            return false;
    return true;
}

/* Takes one message from a gather input stream; false if there is none. */
static bool gather_step(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    uint64_t sources = sources_of(t, i);
    if (s->messages >= 2 || s->messages >= s->left || !sources)
        return false;
    gather g = gather_of(t, i);
    for (unsigned k = 0; k < STREAMS; k++) /* before the first message, all inputs must have started the phase */
        if (!s->got_data && sources >> k & 1 && !offers(t, k, i, false))
            return false;
    for (unsigned tries = 0; !s->grouped && tries < STREAMS / g.size; tries++) {
        bool wanted = sources >> s->group & 1;
        if (wanted && group_offers(t, s->group, g.size, i))
            s->grouped = true;
        else if (wanted && g.in_order)
            return false;
        else
            s->group = (uint8_t)((s->group + g.size) % STREAMS);
    }
    if (!s->grouped)
        return false;
    unsigned from = (s->group + s->part) % STREAMS;
    wg_stream *input = at(t, from);
    if (!input->messages)
        return false;
    append(t, i, input->message[0].address, input->message[0].size, input->message[0].header, from);
    s->unsent += input->message[0].size;
    input->unsent -= input->message[0].size < input->unsent ? input->message[0].size : input->unsent;
    wg_stream_take(t, from, 1);
    wg_stream_stir(t, from);
    s->got_data = true;
    unsigned inner = g.by_stream ? g.times : g.size; /* the inner loop's count */
    unsigned step = (g.by_stream ? s->part * g.times + s->round : s->round * g.size + s->part) + 1u;
    s->part = (uint8_t)(g.by_stream ? step / inner : step % inner);
    s->round = (uint16_t)(g.by_stream ? step % inner : step / inner);
    if (step >= g.size * g.times) {
        s->part = 0;
        s->round = 0;
        s->grouped = false;
        s->group = (uint8_t)((s->group + g.size) % STREAMS);
    }
    return true;
}

/* ---- the tick ------------------------------------------------------------------------------------------------- */

/* One stream's work in this cycle. Returns its next cycle; WG_NEVER: only another agent can unblock it. */
static uint64_t step(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    wg_stream_flags f = wg_stream_flags_of(t, i);
    uint64_t now = t->sched.now, again = WG_NEVER;
    if (s->reads && s->read[0].at != WG_NEVER) {
        if (s->read[0].at <= now)
            wg_stream_free(t, i);
        if (s->reads && s->read[0].at != WG_NEVER)
            again = s->read[0].at > now ? s->read[0].at : now + 1;
    }
    switch (s->state) {
    case WG_STREAM_LOADING: load_step(t, i); return now + 1;
    case WG_STREAM_FLUSHING:
        if (s->reads && !f.no_flush)
            return again;
        start_step(t, i);
        return now + 1;
    case WG_STREAM_RUNNING: break;
    default: return again;
    }
    bool moved = f.gathers ? gather_step(t, i) : load_header(t, i);
    uint64_t sends = wg_stream_send_step(t, i);
    again = sends < again ? sends : again;
    if (f.to_software)
        moved |= clear_step(t, i);
    if (!f.to_software && !f.to_gather && !f.to_stream && s->messages) { /* nowhere */
        unsigned source = s->message[0].source;
        uint32_t size = s->message[0].size;
        wg_stream_take(t, i, 1);
        s->unsent -= size < s->unsent ? size : s->unsent;
        wg_stream_release(t, source, size);
        moved = true;
    }
    if (s->left || (s->messages && !f.gathers))
        return moved ? now + 1 : again;
    if (!wg_stream_settled(t, i)) /* to the destination, and the last word to the source */
        return moved ? now + 1 : again;
    end_phase(t, i);
    return now + 1;
}

uint64_t wg_streams_tick(wg_tile *t)
{
    wg_streams *all = &t->regions.niu.streams;
    if (all->due > t->sched.now)
        return all->due;
    all->due = WG_NEVER;
    uint64_t next = WG_NEVER;
    for (uint64_t mask = all->active; mask; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctzll(mask);
        uint64_t again = step(t, i);
        if (again == WG_NEVER && at(t, i)->state == WG_STREAM_IDLE && !at(t, i)->reads)
            all->active &= ~(UINT64_C(1) << i);
        next = again < next ? again : next;
    }
    if (next < all->due)
        all->due = next;
    return all->due;
}
