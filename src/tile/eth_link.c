/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link of an Ethernet tile: TX queues while the link is up, and RX queues; see eth_link.h.
 *
 *     c       a command is written (phase C)
 *     c + 1   it becomes packets, and L1 is read for the first one (phase A): eth.l1_bytes per cycle
 *     …       it occupies the wire, once free, for the time its bytes take (eth_rate)
 *     …       eth_latency cycles later its last byte arrives, is checked and stored: eth.l1_bytes per cycle
 *
 * TT-link packets have sequence numbers. Arrived packets are acknowledged by the next packet in the other direction, or
 * by a separate update ETH_TXQ_LOCAL_SEQ_UPDATE_TIMEOUT cycles after the last packet. Packets that are not acknowledged
 * for ETH_TXQ_REMOTE_SEQ_TIMEOUT cycles are sent again, from the oldest on.
 *
 * Facts: EthernetTxRx.md of both architectures; tt-metal's tt_eth_ss_regs.h, and its packet-mode setup for the timeouts that
 * firmware leaves; public notes on Blackhole's firmware for 128 packets in the window. Decided here:
 *
 * - TX queue i talks to RX queue i, whatever MAC addresses and the RX classifier say: base firmware sets it up like that.
 * - A queue prepares one packet more than it sends (with ETH_TXQ_DATA_PACKET_ACCEPT_AHEAD: as many more), and a command
 *   is accepted when its last packet has been prepared. A raw command is over when its last byte has been read.
 * - Frames of different queues take turns. L1 is read and written without contention, and read for a packet as soon as the
 *   second one before it is on the wire.
 * - Only updates that acknowledge something new are sent; there are no drop notifications.
 * - TT-link packets at a queue in raw mode, raw ones at a queue in TT-link mode, and register writes at the last queue are
 *   dropped and counted.
 * - A corrupted frame is invisible, even to the receiver's counters. So is one that arrives while
 *   an RX queue (WH) has ETH_RXQ_CTRL_FORCE_BPRESSURE set: the MAC keeps nothing.
 * - On a link that is down nothing leaves, is sent again, or arrives: what was in flight when it was cut is lost. Base firmware trains
 *   it again by itself once that is possible; queues keep their packets and numbers meanwhile.
 * - Headers of layers 3 and 4, and NoC Overlay packets, are not implemented.
 */
#include "machine/eth_link.h"

#include <string.h>

#include "machine/bus.h"
#include "machine/fast.h"
#include "machine/tile.h"
#include "report/emit.h"
#include "report/findings.h"

enum { /* words of a TX queue */
       TX_CTRL = 0x00 / 4,
       TX_CMD = 0x04 / 4,
       TX_STATUS = 0x08 / 4,
       TX_MAX = 0x0C / 4,
       TX_TRANSFERS = 0x30 / 4,
       TX_STARTED = 0x34 / 4,
       TX_ENDED = 0x3C / 4,
       TX_WORDS = 0x40 / 4,
       TX_DATA = 0x44 / 4,
       TX_REMOTE_TIMEOUT = 0x48 / 4,
       TX_LOCAL_TIMEOUT = 0x4C / 4,
       TX_RESENDS = 0x68 / 4,
       TX_AHEAD = 0x6C / 4,
       TX_ENTRY = 0x80 / 4, /* BH */
       TX_MAC = 0x50 / 4    /* WH */
};
enum { /* words of an RX queue */
       RX_CTRL = 0x00 / 4,
       RX_BYTES = 0x04 / 4, /* BH */
       RX_AT = 0x08 / 4,
       RX_BUFFER = 0x0C / 4,
       RX_SIZE = 0x10 / 4,
       RX_WORDS = 0x14 / 4,
       RX_STRIP = 0x18 / 4,   /* BH */
       RX_STARTED = 0x24 / 4, /* BH */
       RX_ENDED = 0x28 / 4,
       RX_EXPECTS = 0x40 / 4,
       RX_TOLD = 0x44 / 4,
       RX_DROPPED = 0x4C / 4
};
enum {
    KEEPALIVE = 1,
    PACKET_MODE = 2,
    WRAP = 4,
    FORCE_BPRESSURE = 8,
    BUSY = 1 << 16,
    RAW_HEADER = 14,
    LEAST_PACKET = 16,
    LINE = 16
};

static uint32_t *txq(wg_tile *t, unsigned q) { return &t->regions.eth.word[q * t->spec->eth->block[0].bytes / 4u]; }

static uint32_t *rxq(wg_tile *t, unsigned q)
{
    const wg_eth_block *tx = &t->spec->eth->block[0], *rx = tx + 1;
    return &t->regions.eth.word[(tx->count * tx->bytes + q * rx->bytes) / 4u];
}

/* The word of a register of another block. */
static uint32_t *word_at(wg_tile *t, uint32_t address)
{
    unsigned word, block;
    return wg_eth_reg_at(t->spec->eth, address, &word, &block) ? &t->regions.eth.word[word] : NULL;
}

static uint64_t cycles_of(uint64_t bytes, uint32_t each) { return (bytes + each - 1) / each; }

static void note(wg_tile *t, wg_finding_code code, uint32_t subject, uint32_t value, const char *what)
{
    wg_findf(t, code, (wg_finding){.agent = WG_AGENT_LINK, .subject = subject, .value = value}, "0x%08x, 0x%x: %s",
             subject, value, what);
}

/* ---- rings ------------------------------------------------------------------------------------------------------ */

static wg_frame *frame_at(wg_frames *r, uint32_t i) { return &r->frame[i % WG_ETH_FRAMES]; }

/* Makes room for a frame; NULL: there is none. */
static wg_frame *put(wg_frames *r, const wg_frame *frame)
{
    if (r->end - r->first == WG_ETH_FRAMES || r->end_byte + frame->bytes - r->first_byte > WG_ETH_BYTES)
        return NULL;
    wg_frame *f = frame_at(r, r->end++);
    *f = *frame;
    f->begin = (uint32_t)(r->end_byte % WG_ETH_BYTES);
    r->end_byte += frame->bytes;
    return f;
}

static void fill(wg_frames *r, const wg_frame *f, uint32_t skip, const void *from, uint32_t bytes)
{
    uint32_t at = (f->begin + skip) % WG_ETH_BYTES, first = WG_ETH_BYTES - at < bytes ? WG_ETH_BYTES - at : bytes;
    memcpy(r->bytes + at, from, first);
    memcpy(r->bytes, (const uint8_t *)from + first, bytes - first);
}

void wg_frame_bytes(const wg_frames *r, const wg_frame *f, void *to)
{
    uint32_t first = WG_ETH_BYTES - f->begin < f->bytes ? WG_ETH_BYTES - f->begin : f->bytes;
    memcpy(to, r->bytes + f->begin, first);
    memcpy((uint8_t *)to + first, r->bytes, f->bytes - first);
}

/* One frame of `lose_every` on average, in no pattern that retransmissions could keep step with. */
static bool is_faulty(const wg_eth_link *l)
{
    uint64_t h = l->sent * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
    return l->lose_every && (h ^ h >> 31) % l->lose_every == 0;
}

static void drop_first(wg_frames *r)
{
    r->first_byte += frame_at(r, r->first)->bytes;
    if (++r->first == r->end)
        r->first_byte = r->end_byte;
}

void wg_eth_link_taken(wg_eth_link *l)
{
    l->out.first = l->out.end;
    l->out.first_byte = l->out.end_byte;
}

/* ---- up and down ------------------------------------------------------------------------------------------------- */

static bool works(const wg_eth_link *l, uint64_t cycle)
{
    return l->up_at <= cycle && (cycle < l->cut_at || cycle >= l->again_at);
}

/* The next cycle after `now` in which the link comes up or goes down, or WG_NEVER. */
static uint64_t changes_at(const wg_eth_link *l, uint64_t now)
{
    return now < l->up_at ? l->up_at : now < l->cut_at ? l->cut_at : now < l->again_at ? l->again_at : WG_NEVER;
}

static void put_word(wg_tile *t, uint32_t address, uint32_t value) { wg_l1_write(t, WG_L1_HOST, address, 4, &value); }

/* Updates the status that base firmware and the PCS show. */
static void show(wg_tile *t)
{
    const wg_tile_spec *s = t->spec;
    const wg_eth_link *l = t->link;
    uint32_t *pcs = s->eth->pcs ? word_at(t, s->eth->pcs) : NULL;
    const wg_spec_word *words = l->up ? s->link_up : s->link_cut;
    if (pcs)
        *pcs = l->up;
    for (unsigned i = 0; words[i].at; i++)
        put_word(t, words[i].at, words[i].value);
    if (!l->up)
        return;
    const wg_eth_end *ends[2] = {&l->self, &l->peer};
    for (unsigned i = 0; i < 2; i++) {
        put_word(t, s->link_chip[i], ends[i]->chip + 1);
        put_word(t, s->link_channel[i], ends[i]->channel * s->link_channel_times);
    }
    for (unsigned q = 0; q < s->eth->queues; q++) {
        txq(t, q)[TX_REMOTE_TIMEOUT] = s->eth->remote_timeout;
        txq(t, q)[TX_LOCAL_TIMEOUT] = s->eth->local_timeout;
        txq(t, q)[TX_MAX] = s->eth->max_packet;
    }
    rxq(t, 0)[RX_CTRL] |= PACKET_MODE;
}

static void change(wg_tile *t)
{
    wg_eth_link *l = t->link;
    const bool up = works(l, t->sched.now);
    if (up == l->up)
        return;
    l->up = up;
    if (up && t->sched.now >= l->again_at) { /* base firmware counts how often it has trained the link again */
        uint32_t count;
        memcpy(&count, t->l1 + t->spec->link_retrains, 4);
        put_word(t, t->spec->link_retrains, count + 1);
    }
    if (!up) {
        while (l->in.first != l->in.end) {
            l->lost++;
            drop_first(&l->in);
        }
    }
    show(t);
}

void wg_eth_link_begin(wg_tile *t, const wg_eth_terms *terms)
{
    const wg_eth_terms own = *terms; /* it may point into the link */
    wg_eth_link *l = t->link;
    memset(l, 0, sizeof *l);
    l->up_at = own.up_at;
    l->cut_at = own.cut_at;
    l->again_at = own.again_at;
    l->lose_every = own.lose_every;
    l->self = own.self;
    l->peer = own.peer;
    change(t);
    if (changes_at(l, t->sched.now) != WG_NEVER)
        wg_wake_at(&t->sched, WG_AGENT_LINK, changes_at(l, t->sched.now));
}

uint64_t wg_eth_link_least(const wg_tile *t) { return 1u + t->timing->eth_latency; }

/* ---- TX ------------------------------------------------------------------------------------------------------- */

static void set_busy(wg_tile *t, unsigned q, bool busy)
{
    uint32_t *w = txq(t, q);
    t->link->tx[q].pending = busy;
    if (t->spec->eth->busy_in_status)
        w[TX_STATUS] = busy ? w[TX_STATUS] | BUSY : w[TX_STATUS] & ~(uint32_t)BUSY;
    else
        w[TX_CMD] = busy;
    if (!busy)
        w[TX_TRANSFERS]++;
}

void wg_eth_link_command(wg_tile *t, unsigned q, uint32_t command)
{
    static const uint8_t kinds[] = {[1] = WG_FRAME_RAW, [2] = WG_FRAME_DATA, [4] = WG_FRAME_REGISTER};
    const uint32_t *w = txq(t, q);
    const wg_eth_regs_spec *s = t->spec->eth;
    wg_tx_queue *tx = &t->link->tx[q];
    tx->kind = kinds[command];
    tx->from = w[s->start / 4];
    tx->to = w[s->dest / 4];
    tx->left = tx->kind == WG_FRAME_REGISTER ? 0 : w[s->size / 4];
    tx->data = w[TX_DATA];
    tx->ordered_at = t->sched.now;
    set_busy(t, q, true);
    wg_wake(&t->sched, WG_AGENT_LINK);
}

/* The size of the next packet: at most ETH_TXQ_MAX_PKT_SIZE_BYTES. */
static uint32_t packet_of(wg_tile *t, unsigned q)
{
    const wg_tx_queue *tx = &t->link->tx[q];
    uint32_t most = txq(t, q)[TX_MAX];
    if (tx->kind == WG_FRAME_DATA)
        most &= ~UINT32_C(15);
    most = most < LEAST_PACKET ? LEAST_PACKET : most > WG_ETH_FRAME - 64 ? WG_ETH_FRAME - 64 : most;
    return tx->left < most ? tx->left : most;
}

/* Is there a command, of an earlier cycle? */
static bool is_ready(const wg_tile *t, const wg_tx_queue *tx) { return tx->pending && tx->ordered_at < t->sched.now; }

/* Splits the ordered transfer into TT-link packets. */
static void make_packets(wg_tile *t, unsigned q)
{
    wg_tx_queue *tx = &t->link->tx[q];
    uint32_t ahead = 1 + txq(t, q)[TX_AHEAD];
    while (is_ready(t, tx) && tx->kind != WG_FRAME_RAW && tx->end - tx->next < ahead &&
           tx->end - tx->head < WG_ETH_UNACKED) {
        uint32_t bytes = packet_of(t, q);
        tx->packet[tx->end++ % WG_ETH_UNACKED] =
            (wg_tx_packet){.from = tx->from, .to = tx->to, .bytes = bytes, .data = tx->data, .kind = tx->kind};
        tx->from += bytes;
        tx->to += bytes;
        tx->left -= bytes;
        if (!tx->left)
            set_busy(t, q, false);
    }
}

/* When an update with a new acknowledgement is due; WG_NEVER: nothing to acknowledge. */
static uint64_t update_at(wg_tile *t, unsigned q)
{
    const wg_tx_queue *tx = &t->link->tx[q];
    const uint32_t *w = txq(t, q);
    if (!(w[TX_CTRL] & KEEPALIVE) || tx->told == (uint8_t)rxq(t, q)[RX_EXPECTS])
        return WG_NEVER;
    return tx->told_any ? tx->told_at + w[TX_LOCAL_TIMEOUT] : 0;
}

static uint64_t resend_at(wg_tile *t, unsigned q)
{
    const wg_tx_queue *tx = &t->link->tx[q];
    const uint32_t *w = txq(t, q);
    return tx->head == tx->next || !(w[TX_CTRL] & KEEPALIVE) ? WG_NEVER : tx->heard_at + w[TX_REMOTE_TIMEOUT];
}

/* Blackhole: the Ethernet header of a raw frame, from the entry of the header table. */
static uint32_t raw_header(wg_tile *t, unsigned q, uint32_t body, uint8_t header[32])
{
    const uint32_t base = t->spec->eth->headers + (txq(t, q)[TX_ENTRY] & 15) * 0x80, *w = word_at(t, base);
    if (!w) {
        note(t, WG_F_ETH_COMMAND, base, body, "there is no such entry in the header table; zeros are sent");
        memset(header, 0, RAW_HEADER);
        return RAW_HEADER;
    }
    const uint32_t insert = w[0];
    const uint8_t *source = (const uint8_t *)&w[4], *to = (const uint8_t *)&w[6];
    uint32_t n = 0;
    for (unsigned i = 0; i < 6; i++, n++)
        header[n] = to[5 - i];
    for (unsigned i = 0; i < 6; i++, n++)
        header[n] = source[5 - i];
    for (unsigned tag = 0; tag < 2; tag++)
        for (unsigned i = 0; (insert & 1) && (!tag || insert >> 4 & 1) && i < 4; i++)
            header[n++] = (uint8_t)(w[9 + tag] >> (24 - 8 * i));
    const uint32_t type = w[8] & 0xFF ? w[8] >> 16 : body;
    header[n++] = (uint8_t)(type >> 8);
    header[n++] = (uint8_t)type;
    if (insert & (1 << 8 | 1 << 16 | 1 << 26))
        note(t, WG_F_UNIMPLEMENTED_REGISTER, base, insert, "INSERT_CTL: headers of layers 3 and 4 are left out");
    return n;
}

static uint64_t end_of(const wg_eth_end *end) { return (uint64_t)end->chip << 16 | end->channel; }

/* The frame's data are where software looks for them. */
static void stored(wg_tile *t, const wg_frame *f, uint32_t address, uint32_t bytes)
{
    WG_EMIT(t, WG_EV_LINK_ARRIVED, WG_AGENT_LINK, .a = f->order, .b = address,
            .c = (f->kind == WG_FRAME_REGISTER) | (uint64_t)bytes << 8 | (uint64_t)f->queue << 48,
            .parent = end_of(&t->link->peer));
}

/* Sends a packet: L1 is read now. */
static void send(wg_tile *t, unsigned q, wg_tx_packet p, uint8_t sequence)
{
    wg_eth_link *l = t->link;
    uint32_t *w = txq(t, q);
    const uint64_t now = t->sched.now;
    uint8_t header[32];
    uint32_t extra = p.kind == WG_FRAME_RAW && t->spec->eth->headers ? raw_header(t, q, p.bytes, header) : 0;
    const uint32_t carried = p.kind == WG_FRAME_REGISTER ? 4 : p.bytes,
                   on_wire = carried + t->arch->eth.frame + (p.kind == WG_FRAME_RAW ? 0 : t->arch->eth.header);
    wg_frame frame = {.order = l->sent,
                      .to = p.to,
                      .data = p.data,
                      .bytes = p.bytes + extra,
                      .kind = p.kind,
                      .queue = (uint8_t)q,
                      .sequence = sequence,
                      .acknowledged = (uint8_t)rxq(t, q)[RX_EXPECTS],
                      .wire = carried + RAW_HEADER + (p.kind == WG_FRAME_RAW ? 0 : t->arch->eth.header)};
    const uint64_t fetched = now + cycles_of(p.bytes, t->arch->eth.l1_bytes);
    const uint64_t begins = fetched * 10 > l->wire_free ? fetched * 10 : l->wire_free;
    l->wire_free = begins + on_wire * UINT64_C(100) / t->timing->eth_rate;
    l->fetch_free = fetched > l->begun ? fetched : l->begun;
    if (l->fetch_free <= now)
        l->fetch_free = now + 1;
    l->begun = (begins + 9) / 10;
    frame.at = (l->wire_free + 9) / 10 + t->timing->eth_latency;
    w[TX_STARTED]++;
    w[TX_WORDS] += (uint32_t)cycles_of(frame.wire, t->spec->eth->count_bytes);
    l->end[l->ends].at = (l->wire_free + 9) / 10;
    l->end[l->ends++].queue = q;
    l->sent++;
    l->sent_bytes += p.bytes;
    if (p.kind != WG_FRAME_RAW) {
        l->tx[q].told = frame.acknowledged;
        l->tx[q].told_any = true;
        l->tx[q].told_at = now;
    }
    if (p.kind != WG_FRAME_UPDATE)
        WG_EMIT(t, WG_EV_LINK_SENT, WG_AGENT_LINK, .a = frame.order, .b = p.to,
                .c = (p.kind == WG_FRAME_REGISTER) | (uint64_t)p.bytes << 8 | (uint64_t)q << 48,
                .parent = end_of(&l->self));
    const bool faulty = is_faulty(l);
    const bool cut = now < l->cut_at && frame.at >= l->cut_at; /* while it is under way */
    wg_frame *out = !cut && !faulty ? put(&l->out, &frame) : NULL;
    if (!out) {
        l->lost++;
        l->tx[q].missing |= p.kind == WG_FRAME_DATA || p.kind == WG_FRAME_REGISTER;
        if (!cut && !faulty) /* cannot happen between chips whose windows are no longer than the latency */
            note(t, WG_F_NOC_FULL, p.to, p.bytes, "too many frames are under way on a link; one is lost");
        return;
    }
    if (extra)
        fill(&l->out, out, 0, header, extra);
    if (p.bytes)
        fill(&l->out, out, extra, t->l1 + p.from, p.bytes);
}

/* Sends one packet of this queue if it has any. */
static bool send_of(wg_tile *t, unsigned q)
{
    wg_tx_queue *tx = &t->link->tx[q];
    if (tx->next != tx->end) {
        const uint32_t n = tx->next++;
        if (n == tx->head)
            tx->heard_at = t->sched.now;
        send(t, q, tx->packet[n % WG_ETH_UNACKED], (uint8_t)n);
        return true;
    }
    if (is_ready(t, tx) && tx->kind == WG_FRAME_RAW) {
        uint32_t bytes = packet_of(t, q);
        send(t, q, (wg_tx_packet){.from = tx->from, .bytes = bytes, .kind = WG_FRAME_RAW}, 0);
        tx->from += bytes;
        tx->left -= bytes;
        if (!tx->left)
            set_busy(t, q, false);
        return true;
    }
    if (update_at(t, q) > t->sched.now)
        return false;
    send(t, q, (wg_tx_packet){.kind = WG_FRAME_UPDATE}, (uint8_t)tx->next);
    return true;
}

static void transmit(wg_tile *t)
{
    wg_eth_link *l = t->link;
    const unsigned queues = t->spec->eth->queues;
    for (unsigned q = 0; q < queues; q++) {
        wg_tx_queue *tx = &l->tx[q];
        make_packets(t, q);
        if (l->up && resend_at(t, q) <= t->sched.now) {
            tx->next = tx->head;
            tx->missing = false;
            tx->heard_at = t->sched.now;
            txq(t, q)[TX_RESENDS]++;
            l->resent++;
        }
    }
    for (unsigned i = 0; l->up && l->fetch_free <= t->sched.now && l->ends < WG_ETH_ENDS && i < queues; i++) {
        const unsigned q = (l->turn + i) % queues;
        if (!send_of(t, q))
            continue;
        l->turn = (uint8_t)((q + 1) % queues);
        make_packets(t, q);
    }
}

/* ---- RX --------------------------------------------------------------------------------------------------------- */

bool wg_eth_link_deliver(wg_tile *t, const wg_frame *frame, const void *bytes)
{
    wg_eth_link *l = t->link;
    wg_frame f = *frame;
    if (f.bytes > WG_ETH_FRAME || f.queue >= t->spec->eth->queues)
        return false;
    const uint64_t begins = f.at > l->store_free ? f.at : l->store_free;
    f.at = begins + cycles_of(f.bytes, t->arch->eth.l1_bytes);
    wg_frame *in = put(&l->in, &f);
    if (!in)
        return false;
    l->store_free = f.at;
    fill(&l->in, in, 0, bytes, f.bytes);
    wg_wake_at(&t->sched, WG_AGENT_LINK, f.at);
    return true;
}

/* The number that the other end expects next acknowledges everything before it. */
static void acknowledged(wg_tile *t, unsigned q, uint8_t expects)
{
    wg_tx_queue *tx = &t->link->tx[q];
    const uint8_t gone = (uint8_t)(expects - (uint8_t)tx->head);
    rxq(t, q)[RX_TOLD] = expects;
    if (!gone || gone > tx->end - tx->head)
        return;
    tx->head += gone;
    if ((int32_t)(tx->next - tx->head) < 0)
        tx->next = tx->head;
    tx->heard_at = t->sched.now;
}

/* Appends as much of the frame to the queue's buffer as fits. False: nothing fits. */
static bool store_raw(wg_tile *t, uint32_t *w, const uint8_t *from, uint32_t bytes)
{
    const uint64_t buffer = (uint64_t)w[RX_BUFFER] << 4, size = (uint64_t)w[RX_SIZE] << 4;
    const bool wraps = w[RX_CTRL] & WRAP;
    uint32_t done = 0;
    if (buffer + size > t->spec->l1_bytes) {
        note(t, WG_F_ETH_COMMAND, (uint32_t)buffer, (uint32_t)size, "the RX buffer leaves L1; the frame is lost");
        return false;
    }
    while (done < bytes && size) {
        if (w[RX_AT] >= size) {
            if (!wraps)
                break;
            w[RX_AT] = 0;
        }
        uint32_t part = bytes - done, room = (uint32_t)(size - w[RX_AT]);
        part = part < room ? part : room;
        wg_l1_write(t, WG_L1_HOST, (uint32_t)buffer + w[RX_AT], part, from + done);
        w[RX_AT] += part;
        done += part;
    }
    if (wraps && w[RX_AT] >= size)
        w[RX_AT] = 0;
    if (t->spec->eth->headers)
        w[RX_BYTES] += done;
    return done || !bytes;
}

static bool arrive_raw(wg_tile *t, const wg_frame *f, const uint8_t *from)
{
    uint32_t *w = rxq(t, f->queue);
    const uint32_t strip = t->spec->eth->headers ? w[RX_STRIP] : 0, gone = strip < f->bytes ? strip : f->bytes;
    const uint32_t at = (w[RX_BUFFER] << 4) + w[RX_AT];
    if (w[RX_CTRL] & PACKET_MODE || !store_raw(t, w, from + gone, f->bytes - gone))
        return false;
    stored(t, f, at, f->bytes - gone);
    return true;
}

static bool arrive_packet(wg_tile *t, const wg_frame *f, const uint8_t *from)
{
    uint32_t *w = rxq(t, f->queue);
    if (!(w[RX_CTRL] & PACKET_MODE)) {
        note(t, WG_F_ETH_COMMAND, f->to, f->queue, "a TT-link packet came to an RX queue in raw mode; it is lost");
        return false;
    }
    acknowledged(t, f->queue, f->acknowledged);
    if (f->kind == WG_FRAME_UPDATE)
        return true;
    if (f->sequence != (uint8_t)w[RX_EXPECTS] ||
        (f->kind == WG_FRAME_REGISTER && f->queue + 1u == t->spec->eth->queues))
        return false;
    w[RX_EXPECTS] = (uint8_t)(w[RX_EXPECTS] + 1);
    if (f->kind == WG_FRAME_REGISTER) {
        if (!wg_tile_bus_write(t, f->to, &f->data, 4))
            note(t, WG_F_NOC_UNMAPPED, f->to, f->data, "nothing can be written there over a link; the data is lost");
        stored(t, f, f->to, 4);
        wg_wake_all(&t->sched);
    } else if (!wg_l1_holds(t->spec->l1_bytes, f->to, f->bytes)) {
        note(t, WG_F_NOC_UNMAPPED, f->to, f->bytes, "a packet's data is beyond L1; it is lost");
    } else {
        wg_l1_write(t, WG_L1_HOST, f->to, f->bytes, from);
        stored(t, f, f->to, f->bytes);
        if (t->spec->eth->headers)
            w[RX_BYTES] += f->bytes;
    }
    return true;
}

static void receive(wg_tile *t)
{
    wg_eth_link *l = t->link;
    uint8_t bytes[WG_ETH_FRAME];
    while (l->in.first != l->in.end && frame_at(&l->in, l->in.first)->at <= t->sched.now) {
        const wg_frame f = *frame_at(&l->in, l->in.first);
        uint32_t *w = rxq(t, f.queue);
        wg_frame_bytes(&l->in, &f, bytes);
        drop_first(&l->in);
        if (!t->spec->eth->headers && w[RX_CTRL] & FORCE_BPRESSURE) {
            l->lost++;
            continue;
        }
        wg_fast_packet(t);
        l->received++;
        l->received_bytes += f.bytes;
        if (t->spec->eth->headers)
            w[RX_STARTED]++;
        w[RX_ENDED]++;
        w[RX_WORDS] += (uint32_t)cycles_of(f.wire, t->spec->eth->count_bytes);
        if (!(f.kind == WG_FRAME_RAW ? arrive_raw(t, &f, bytes) : arrive_packet(t, &f, bytes)))
            w[RX_DROPPED]++;
    }
}

/* ---- the tick --------------------------------------------------------------------------------------------------- */

/* Is something waiting that can leave as soon as L1 is free to be read? */
static bool waits(const wg_tx_queue *tx) { return tx->next != tx->end || (tx->pending && tx->kind == WG_FRAME_RAW); }

/* Are all arriving frames acknowledgements (updates)? */
static bool only_updates(const wg_eth_link *l)
{
    for (uint32_t i = l->in.first; i != l->in.end; i++)
        if (l->in.frame[i % WG_ETH_FRAMES].kind != WG_FRAME_UPDATE)
            return false;
    return true;
}

bool wg_eth_link_quiet(const wg_tile *t)
{
    const wg_eth_link *l = t->link;
    for (unsigned q = 0; l && q < t->spec->eth->queues; q++)
        if (l->tx[q].pending || l->tx[q].next != l->tx[q].end || (l->up && l->tx[q].missing))
            return false;
    return !l || only_updates(l);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

void wg_eth_link_tick(wg_tile *t)
{
    wg_eth_link *l = t->link;
    const uint64_t now = t->sched.now;
    uint64_t next = WG_NEVER;
    change(t);
    unsigned kept = 0;
    for (unsigned i = 0; i < l->ends; i++) {
        if (l->end[i].at > now)
            l->end[kept++] = l->end[i];
        else
            txq(t, l->end[i].queue)[TX_ENDED]++;
    }
    l->ends = (uint8_t)kept;
    if (l->up)
        receive(t);
    transmit(t);
    for (unsigned i = 0; i < l->ends; i++)
        next = least(next, l->end[i].at);
    if (l->in.first != l->in.end)
        next = least(next, frame_at(&l->in, l->in.first)->at);
    for (unsigned q = 0; l->up && q < t->spec->eth->queues; q++) {
        const uint64_t free = l->ends < WG_ETH_ENDS ? l->fetch_free : WG_NEVER; /* else one of the ends comes first */
        if (waits(&l->tx[q]))
            next = least(next, free);
        if (l->tx[q].pending && !is_ready(t, &l->tx[q])) /* ordered in this cycle */
            next = least(next, now + 1);
        const uint64_t update = update_at(t, q);
        if (update != WG_NEVER && free != WG_NEVER)
            next = least(next, update > free ? update : free);
        next = least(next, resend_at(t, q));
    }
    next = least(next, changes_at(l, now));
    if (next != WG_NEVER)
        wg_wake_at(&t->sched, WG_AGENT_LINK, next > now ? next : now + 1);
}

/* ---- snapshots ---------------------------------------------------------------------------------------------------- */

static bool ring_holds(const wg_frames *r)
{
    uint64_t at = r->first_byte;
    if (r->end - r->first > WG_ETH_FRAMES || r->end_byte < r->first_byte || r->end_byte - r->first_byte > WG_ETH_BYTES)
        return false;
    for (uint32_t i = r->first; i != r->end; i++) {
        const wg_frame *f = &r->frame[i % WG_ETH_FRAMES];
        if (f->kind > WG_FRAME_UPDATE || f->queue >= WG_ETH_QUEUES || f->bytes > WG_ETH_FRAME ||
            f->begin != at % WG_ETH_BYTES || f->at > WG_NEVER / 4)
            return false;
        at += f->bytes;
    }
    return at == r->end_byte || r->first == r->end;
}

bool wg_eth_link_holds(const wg_eth_link *l, uint32_t l1_bytes, unsigned queues)
{
    const uint64_t latest = WG_NEVER / 4;
    unsigned char truth;
    memcpy(&truth, &l->up, 1);
    if (truth > 1 || l->turn >= WG_ETH_QUEUES || l->ends > WG_ETH_ENDS || l->fetch_free > latest || l->begun > latest ||
        l->wire_free > latest || l->store_free > latest || l->up_at > latest ||
        (l->cut_at > latest && l->cut_at != WG_NEVER) || (l->again_at > latest && l->again_at != WG_NEVER) ||
        !ring_holds(&l->in) || !ring_holds(&l->out))
        return false;
    for (unsigned i = 0; i < l->ends; i++)
        if (l->end[i].queue >= queues || l->end[i].at > latest)
            return false;
    for (unsigned q = 0; q < WG_ETH_QUEUES; q++) {
        const wg_tx_queue *tx = &l->tx[q];
        memcpy(&truth, &tx->pending, 1);
        if (truth > 1 || tx->kind > WG_FRAME_REGISTER || tx->next - tx->head > WG_ETH_UNACKED ||
            tx->end - tx->head > WG_ETH_UNACKED || tx->end - tx->next > WG_ETH_UNACKED || tx->ordered_at > latest ||
            tx->told_at > latest || tx->heard_at > latest ||
            (tx->pending && tx->left && !wg_l1_holds(l1_bytes, tx->from, tx->left)))
            return false;
        memcpy(&truth, &tx->missing, 1);
        if (truth > 1)
            return false;
        memcpy(&truth, &tx->told_any, 1);
        for (uint32_t n = tx->head; truth <= 1 && n != tx->end; n++) {
            const wg_tx_packet *p = &tx->packet[n % WG_ETH_UNACKED];
            if (p->kind > WG_FRAME_REGISTER || p->bytes > WG_ETH_FRAME - 64 ||
                (p->bytes && !wg_l1_holds(l1_bytes, p->from, p->bytes)))
                return false;
        }
        if (truth > 1)
            return false;
    }
    return true;
}
