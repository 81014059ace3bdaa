/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of overlay streams: messages, flow control and handshakes. Flow control and handshakes are one-word writes to
 * registers of the other stream, which software could write as well.
 *
 *     transmitter ── messages, handshake request (STREAM_SRC_READY_UPDATE) ──> receiver
 *     transmitter <── ready (STREAM_DEST_PHASE_READY_UPDATE), room (…_BUF_SPACE_AVAILABLE_UPDATE) ── receiver
 *
 * Facts: NoC/Overlay/TransferBetweenTiles.md, TransmitToDRAMBuffer.md.
 */
#include "noc/stream_send.h"

#include "machine/niu.h"
#include "machine/overlay.h"
#include "machine/tile.h"

enum { OVERLAY = 0xFFB40000, PAGE = 0x1000, MOST_RECEIVERS = 32 };

static wg_stream *at(wg_tile *t, unsigned i) { return &t->regions.niu.streams.stream[i % WG_OVERLAY_STREAMS]; }
static uint32_t get(wg_tile *t, unsigned i, wg_stream_register r) { return *wg_overlay_word(t, i, r); }

static bool multicasts(wg_tile *t, unsigned i) { return i < 4 && get(t, i, WG_SR_MCAST_DEST) >> 12 & 1; }

static unsigned receivers(wg_tile *t, unsigned i)
{
    unsigned n = i < 4 ? get(t, i, WG_SR_MCAST_DEST_NUM) : 1;
    return n == 0 ? 1 : n > MOST_RECEIVERS ? MOST_RECEIVERS : n;
}

/* Sends to memory (DRAM or the host's): there is no stream at the other end. */
static bool to_dram(wg_tile *t, unsigned i) { return wg_stream_to_dram(i) && (get(t, i, WG_SR_SCRATCH) & 7) > 4; }

static uint64_t register_address(wg_tile *t, unsigned stream, wg_stream_register r)
{
    return OVERLAY + PAGE * (stream & 63) + 4u * wg_overlay_number(t->arch, r);
}

/* One word to a register of a stream elsewhere. */
static bool send_word(wg_tile *t, unsigned noc, uint32_t place, uint64_t address, uint32_t value, uint64_t *retry)
{
    wg_packet p = {
        .kind = WG_PACKET_INLINE, .noc = (uint8_t)noc, .bytes = 4, .data = value, .mask = 15, .address = address};
    return wg_niu_overlay_send(t, &p, (uint16_t)(place & 0xFFF), 0, retry);
}

/* The rectangle of a multicast: STREAM_REMOTE_DEST is its start. */
static uint16_t aim(wg_tile *t, unsigned i, wg_packet *p)
{
    uint32_t m = get(t, i, WG_SR_MCAST_DEST), dest = get(t, i, WG_SR_DEST);
    if (!multicasts(t, i))
        return dest & 0xFFF;
    uint16_t start = wg_niu_translate(t, p->noc, dest & 0xFFF), end = wg_niu_translate(t, p->noc, m & 0xFFF);
    p->flags |= (uint16_t)(WG_PACKET_BROADCAST | (m >> 15 & 1 ? 0 : WG_PACKET_RESERVE) |
                           (m >> 16 & 1 ? WG_PACKET_Y_MAJOR : 0) | (m >> 13 & 1 ? WG_PACKET_LINKED : 0));
    p->x0 = start & 63;
    p->y0 = start >> 6 & 63;
    p->x1 = end & 63;
    p->y1 = end >> 6 & 63;
    return m & 0xFFF;
}

bool wg_stream_met(wg_tile *t, unsigned i)
{
    const wg_stream *s = at(t, i);
    uint32_t all = (uint32_t)((UINT64_C(1) << receivers(t, i)) - 1);
    return s->ready_phase == get(t, i, WG_SR_PHASE) && (s->ready & all) == all;
}

void wg_stream_ask(wg_tile *t, unsigned i) { at(t, i)->asks = !to_dram(t, i); }

static uint64_t send_request(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    uint64_t retry = WG_NEVER;
    wg_packet p = {.kind = WG_PACKET_INLINE,
                   .noc = wg_stream_flags_of(t, i).out_noc,
                   .bytes = 4,
                   .mask = 15,
                   .data = (t->regions.niu.coordinate & 0xFFFu) | i << 12,
                   .address = register_address(t, get(t, i, WG_SR_DEST) >> 12, WG_SR_SRC_READY)};
    uint16_t place = aim(t, i, &p);
    if (!wg_niu_overlay_send(t, &p, place, 0, &retry))
        return retry;
    s->asks = false;
    return t->sched.now + 1;
}

/* Tells the transmitter that this stream is ready for a phase. */
static uint64_t send_ready(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    wg_stream_flags f = wg_stream_flags_of(t, i);
    uint32_t source = get(t, i, WG_SR_SRC);
    uint32_t value = (source >> 18 & 63) | get(t, i, WG_SR_SRC_PHASE) << 6 | (uint32_t)f.from_multicast << 26;
    uint64_t retry = WG_NEVER;
    if (!send_word(t, f.update_noc, source, register_address(t, source >> 12, WG_SR_READY_UPDATE), value, &retry))
        return retry;
    s->greet = false;
    return t->sched.now + 1;
}

/* The amount of freed buffer that triggers an update to the transmitter. */
static uint32_t threshold(wg_tile *t, unsigned i)
{
    uint32_t size = get(t, i, WG_SR_BUF_SIZE), value = get(t, i, WG_SR_ACK_THRESHOLD), part = size >> (value & 7);
    return value & 7 ? value & 8 ? size - part : part : 0;
}

static bool owes_credit(wg_tile *t, unsigned i)
{
    const wg_stream *s = at(t, i);
    wg_stream_flags f = wg_stream_flags_of(t, i);
    if (!s->credit || !f.from_stream || f.no_flow_control)
        return false;
    uint32_t size = get(t, i, WG_SR_BUF_SIZE), free = size > s->held ? size - s->held : 0;
    return !s->left || free >= threshold(t, i);
}

static uint64_t send_credit(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    uint32_t source = get(t, i, WG_SR_SRC);
    uint64_t retry = WG_NEVER;
    if (!send_word(t, wg_stream_flags_of(t, i).update_noc, source,
                   register_address(t, source >> 12, WG_SR_SPACE_UPDATE), (source >> 18 & 63) | s->credit << 6, &retry))
        return retry;
    s->credit = 0;
    return t->sched.now + 1;
}

/* The address of the rest of the first message, and how much of it is contiguous: buffers wrap. */
static uint32_t rest_of(wg_tile *t, unsigned i, uint32_t *piece)
{
    const wg_stream *s = at(t, i);
    unsigned source = s->message[0].source;
    uint32_t start = get(t, source, WG_SR_BUF_START), room = get(t, source, WG_SR_BUF_SIZE);
    uint32_t address = s->message[0].address, offset = address - start;
    *piece = s->message[0].size - s->sent;
    if (offset >= room) /* not in the buffer */
        return address + s->sent;
    offset = (offset + s->sent) % room;
    *piece = room - offset < *piece ? room - offset : *piece;
    return start + offset;
}

/* How much of the first message can go in one packet. */
static uint32_t packet_size(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    uint32_t size, most = 256u * t->arch->noc.flit_bytes / 16;
    rest_of(t, i, &size);
    if (s->message[0].source == i && s->unsent < most)
        most = s->unsent;
    if (!to_dram(t, i)) {
        uint32_t there = get(t, i, WG_SR_DEST_BUF_SIZE), wr = get(t, i, WG_SR_DEST_WR_PTR);
        if (there > wr && there - wr < most)
            most = there - wr;
        for (unsigned k = 0; k < receivers(t, i); k++)
            most = wg_overlay_word(t, i, WG_SR_SPACE)[k] < most ? wg_overlay_word(t, i, WG_SR_SPACE)[k] : most;
    }
    return size < most ? size : most;
}

static uint64_t send_message(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    if (!s->messages || s->waits_ready || s->reads >= wg_stream_capacity(t, i))
        return WG_NEVER;
    uint32_t size = packet_size(t, i);
    if (!size)
        return WG_NEVER;
    wg_stream_flags f = wg_stream_flags_of(t, i);
    unsigned source = s->message[0].source;
    uint32_t piece, from = rest_of(t, i, &piece), dest = get(t, i, WG_SR_DEST);
    bool dram = to_dram(t, i), last = s->sent + size >= s->message[0].size;
    uint32_t info = get(t, i, WG_SR_DEST_INFO_WR_PTR) | (dram ? get(t, i, WG_SR_DEST_INFO_WR_PTR_HI) << 17 : 0);
    uint32_t buffer = get(t, i, WG_SR_DEST_BUF_START) | (dram ? get(t, i, WG_SR_DEST_BUF_START_HI) << 17 : 0);
    uint32_t *wr = wg_overlay_word(t, i, WG_SR_DEST_WR_PTR), there = get(t, i, WG_SR_DEST_BUF_SIZE);
    wg_packet p = {.kind = WG_PACKET_WRITE,
                   .noc = f.out_noc,
                   .bytes = size * 16,
                   .stream = dest >> 12 & 63,
                   .address = (uint64_t)(buffer + *wr) << 4,
                   .data = info,
                   .flags = (uint16_t)((dram ? 0 : WG_PACKET_TO_STREAM) | (last ? WG_PACKET_LAST : 0) |
                                       (s->sent ? 0 : WG_PACKET_FIRST | WG_PACKET_HEADER_STORE))};
    uint16_t place = aim(t, i, &p);
    uint64_t retry = WG_NEVER;
    if (!wg_niu_overlay_send(t, &p, place, (uint64_t)from << 4, &retry))
        return retry;
    for (unsigned k = 0; !dram && k < receivers(t, i); k++)
        wg_overlay_word(t, i, WG_SR_SPACE)[k] -= size;
    *wr += size;
    if (!dram && there && *wr >= there)
        *wr -= there;
    *wr &= 0x1FFFF;
    s->sent += size;
    s->unsent -= size < s->unsent ? size : s->unsent;
    s->read[s->reads].at = retry; /* when the last flit has left */
    s->read[s->reads].size = size;
    s->read[s->reads++].source = (uint8_t)source;
    if (last) {
        uint32_t *ptr = wg_overlay_word(t, i, WG_SR_DEST_INFO_WR_PTR);
        *ptr = (*ptr + 1) & 0x1FFFF;
        s->sent = 0;
        wg_stream_take(t, i, 1);
    }
    return t->sched.now + 1;
}

uint64_t wg_stream_send_step(wg_tile *t, unsigned i)
{
    wg_stream *s = at(t, i);
    wg_stream_flags f = wg_stream_flags_of(t, i);
    if (s->waits_ready && wg_stream_met(t, i)) {
        s->waits_ready = s->asks = false;
        s->ready = 0;
    }
    if (s->greet)
        return send_ready(t, i);
    if (s->asks)
        return send_request(t, i);
    if (owes_credit(t, i))
        return send_credit(t, i);
    return f.to_stream ? send_message(t, i) : WG_NEVER;
}

bool wg_stream_settled(wg_tile *t, unsigned i)
{
    const wg_stream *s = at(t, i);
    wg_stream_flags f = wg_stream_flags_of(t, i);
    if (s->greet || s->asks || owes_credit(t, i))
        return false;
    if (f.from_stream && f.source_changes && !f.no_flow_control && (s->held || s->reads))
        return false; /* the transmitter waits for the whole buffer */
    if (!f.to_stream || !f.dest_changes || f.dest_no_flow_control || to_dram(t, i))
        return true;
    for (unsigned k = 0; k < receivers(t, i); k++)
        if (wg_overlay_word(t, i, WG_SR_SPACE)[k] != get(t, i, WG_SR_DEST_BUF_SIZE))
            return false;
    return true;
}
