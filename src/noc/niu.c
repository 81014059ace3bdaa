/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operation of the NIU; see niu.h and packet.h.
 *
 * A request that software starts in cycle c leaves in c + 1 if the link to the router is free: one packet at a time,
 * one flit per cycle, answers before requests. Its data is read in the cycle in which it begins to leave and written in
 * the cycle in which its last flit has arrived.
 *
 * Facts: NoC/MemoryMap.md, Counters.md, Alignment.md, Ordering.md of each architecture. Latencies of answers: src/arch.
 * Decided here: the order on the link, and that the NIU's accesses to L1 do not contend for ports or banks.
 */
#include "machine/niu.h"

#include <string.h>

#include "report/findings.h"
#include "machine/fast.h"
#include "noc/floorplan.h"
#include "noc/network.h"
#include "report/emit.h"
#include "machine/bus.h"
#include "machine/tile.h"
#include "tile/windows.h"

enum { MMIO = 0xFF000000 };

enum { /* NOC_CTRL */
       CTRL_TYPE = 3,
       TYPE_READ = 0,
       TYPE_ATOMIC = 1,
       TYPE_WRITE = 2,
       CTRL_BYTES = 1 << 2,
       CTRL_INLINE = 1 << 3,
       CTRL_ANSWER = 1 << 4,
       CTRL_BROADCAST = 1 << 5,
       CTRL_LINKED = 1 << 6,
       CTRL_STATIC = 1 << 7,
       CTRL_RESERVE = 1 << 8,
       CTRL_Y_MAJOR = 1 << 16,
       CTRL_TO_SELF = 1 << 17
};

static wg_niu_unit *unit(wg_tile *t, unsigned noc) { return &t->regions.niu.unit[noc & 1]; }
static unsigned agent_of(unsigned noc) { return WG_AGENT_NIU0 + (noc & 1); }

static uint32_t reg(const wg_tile *t, unsigned noc, unsigned initiator, uint32_t offset)
{
    return t->regions.niu.word[noc & 1][(initiator * t->arch->noc.stride + offset) / 4 % WG_NIU_WORDS];
}

static void set_reg(wg_tile *t, unsigned noc, unsigned initiator, uint32_t offset, uint32_t value)
{
    t->regions.niu.word[noc & 1][(initiator * t->arch->noc.stride + offset) / 4 % WG_NIU_WORDS] = value;
}

static uint32_t max_bytes(const wg_tile *t) { return 256u * t->arch->noc.flit_bytes; }

static wg_asker niu(unsigned noc) { return (wg_asker){.agent = (uint8_t)agent_of(noc)}; }

static void note(wg_tile *t, wg_finding_code code, wg_asker by, uint64_t address, uint32_t value, const char *what)
{
    wg_findf(t, code, wg_asker_finding(by, (wg_finding){.subject = (uint32_t)address, .value = value}), "0x%llx: %s",
             (unsigned long long)address, what);
}

/* ---- counters -------------------------------------------------------------------------------------------- */

void wg_niu_update_irq(wg_tile *t, unsigned noc)
{
    const uint32_t *w = t->regions.niu.word[noc & 1];
    wg_pic_level(t, 1 + (noc & 1), w[WG_NIU_RTZ_SOURCE / 4] & w[WG_NIU_RTZ_CFG / 4] & 0xFFFF);
}

void wg_niu_count(wg_tile *t, unsigned noc, unsigned counter, uint32_t by)
{
    uint32_t *word = &t->regions.niu.word[noc & 1][WG_NIU_COUNTERS / 4 + counter % 64];
    bool narrow = counter >= WG_MST_REQS_OUTSTANDING && counter < WG_SLV_ATOMIC_RESP_SENT;
    uint32_t old = *word;
    *word = narrow ? (old + by) & 0xFF : old + by;
    if (t->arch->noc.wide_addresses && counter >= WG_MST_REQS_OUTSTANDING && counter < WG_MST_WRITE_REQS_OUTGOING &&
        old && !*word) {
        t->regions.niu.word[noc & 1][WG_NIU_RTZ_SOURCE / 4] |= UINT32_C(1) << (counter - WG_MST_REQS_OUTSTANDING);
        wg_niu_update_irq(t, noc);
    }
}

void wg_niu_clear(wg_tile *t, unsigned noc, uint32_t mask)
{
    for (unsigned i = 0; i < 16; i++)
        if (mask >> i & 1)
            t->regions.niu.word[noc & 1][WG_NIU_COUNTERS / 4 + WG_MST_REQS_OUTSTANDING + i] = 0;
}

/* ---- coordinates ------------------------------------------------------------------------------------------ */

/* Coordinates of this NoC to a tile's number; UINT16_MAX if none is there. */
static uint16_t tile_at(const wg_tile *t, unsigned noc, uint16_t place)
{
    const wg_floorplan *f = wg_floorplan_of(t->arch->id);
    unsigned x = place & 63, y = place >> 6 & 63;
    if (x >= f->width || y >= f->height)
        return UINT16_MAX;
    if (noc) {
        x = f->width - 1u - x;
        y = f->height - 1u - y;
    }
    return (uint16_t)(y * f->width + x);
}

static uint16_t own_tile(const wg_tile *t) { return tile_at(t, 0, t->regions.niu.coordinate); }

/* ---- starting a request ------------------------------------------------------------------------------------ */

/* Both addresses of an initiator. */
typedef struct spot {
    uint64_t address;
    uint16_t end, start;
} spot;

static spot spot_of(const wg_tile *t, unsigned noc, unsigned i, uint32_t lo, uint32_t mid, uint32_t hi)
{
    uint32_t m = reg(t, noc, i, mid);
    if (t->arch->noc.wide_addresses) {
        uint32_t h = reg(t, noc, i, hi);
        return (spot){reg(t, noc, i, lo) | (uint64_t)m << 32, (uint16_t)(h & 0xFFF), (uint16_t)(h >> 12 & 0xFFF)};
    }
    return (spot){reg(t, noc, i, lo) | (uint64_t)(m & 15) << 32, (uint16_t)(m >> 4 & 0xFFF),
                  (uint16_t)(m >> 16 & 0xFFF)};
}

static bool is_write(uint32_t ctrl) { return (ctrl & CTRL_TYPE) == TYPE_WRITE; }
static bool is_inline(uint32_t ctrl) { return is_write(ctrl) && ctrl & CTRL_INLINE; }
static bool by_mask(uint32_t ctrl) { return is_write(ctrl) && ctrl & CTRL_BYTES && !(ctrl & CTRL_INLINE); }

static uint32_t length_of(const wg_tile *t, unsigned noc, unsigned i)
{
    uint32_t ctrl = reg(t, noc, i, WG_NIU_CTRL);
    return by_mask(ctrl) ? t->arch->noc.flit_bytes : reg(t, noc, i, WG_NIU_LEN_BE);
}

void wg_niu_start(wg_tile *t, unsigned noc, unsigned i, unsigned agent, uint32_t pc)
{
    wg_niu_unit *u = unit(t, noc);
    uint32_t ctrl = reg(t, noc, i, WG_NIU_CTRL), tag = reg(t, noc, i, WG_NIU_TAG) >> 10 & 15;
    wg_finding where = {
        .agent = (uint8_t)agent, .pc = pc, .has_pc = agent <= WG_AGENT_CORE_T2, .subject = i, .value = ctrl};
    for (unsigned k = 0; k < u->queued; k++)
        if (u->queue[k] == i) {
            wg_findf(t, WG_F_NOC_BUSY_INITIATOR, where, "initiator %u of NoC %u was started again", i, noc);
            return;
        }
    unsigned type = ctrl & CTRL_TYPE;
    if (type == 3 || (type == TYPE_READ && ctrl & CTRL_BROADCAST)) {
        wg_findf(t, WG_F_NOC_NO_REQUEST, where, "NOC_CTRL 0x%08x: %s; nothing is sent", ctrl,
                 type == 3 ? "request type 3" : "a read cannot be broadcast");
        return;
    }
    unsigned class = ctrl >> 14 & 3;
    if (ctrl & CTRL_STATIC && (ctrl & CTRL_BROADCAST ? class != 2 : class > 1))
        wg_findf(t, WG_F_NOC_CONTROL, where, "NOC_CTRL 0x%08x: class %u of a static virtual channel", ctrl, class);
    if (t->arch->noc.wide_addresses && ctrl >> 31 && type != TYPE_ATOMIC)
        wg_findf(t, WG_F_NOC_CONTROL, where, "NOC_CTRL 0x%08x: NOC_CMD_L1_ACC_AT_EN", ctrl);
    uint32_t length = is_inline(ctrl) || type == TYPE_ATOMIC ? 1 : length_of(t, noc, i);
    uint32_t packets = (length + max_bytes(t) - 1) / max_bytes(t);
    if (!packets)
        packets = 1;
    if (type == TYPE_READ || ctrl & CTRL_ANSWER)
        wg_niu_count(t, noc, WG_MST_REQS_OUTSTANDING + tag, packets);
    if (is_write(ctrl) && !is_inline(ctrl))
        wg_niu_count(t, noc, WG_MST_WRITE_REQS_OUTGOING + tag, packets);
    spot targ = spot_of(t, noc, i, WG_NIU_TARG_LO, WG_NIU_TARG_MID, WG_NIU_TARG_HI);
    spot ret = spot_of(t, noc, i, WG_NIU_RET_LO, WG_NIU_RET_MID, WG_NIU_RET_HI);
    u->place[i].targ = wg_niu_translate(t, noc, targ.end);
    u->place[i].targ_start = wg_niu_translate(t, noc, targ.start);
    u->place[i].ret = wg_niu_translate(t, noc, ret.end);
    u->place[i].ret_start = wg_niu_translate(t, noc, ret.start);
    u->asker[i] = (wg_asker){.pc = pc, .agent = (uint8_t)agent};
    wg_niu_check_place(t, noc, is_write(ctrl) && !is_inline(ctrl) ? ret.end : targ.end, u->asker[i]);
    if (t->arch->noc.writes_back) {
        uint32_t targ_mid = reg(t, noc, i, WG_NIU_TARG_MID), ret_mid = reg(t, noc, i, WG_NIU_RET_MID);
        set_reg(t, noc, i, WG_NIU_TARG_MID, (targ_mid & ~UINT32_C(0xFFF0)) | (uint32_t)u->place[i].targ << 4);
        set_reg(t, noc, i, WG_NIU_RET_MID, (ret_mid & ~UINT32_C(0xFFF0)) | (uint32_t)u->place[i].ret << 4);
    }
    set_reg(t, noc, i, wg_niu_map_of(t)->command, 1);
    u->queue[u->queued++] = (uint8_t)i;
    wg_wake(&t->sched, agent_of(noc));
}

/* ---- leaving ----------------------------------------------------------------------------------------------- */

/*
 * The cycle from which the link is free, as known in this cycle. WG_NEVER: the router has no room; wg_niu_left() reports when
 * it has.
 */
static uint64_t link_free(const wg_tile *t, const wg_niu_unit *u, uint64_t now)
{
    uint64_t free = u->link_free, told = WG_NEVER;
    uint32_t ahead = u->ahead;
    for (unsigned i = 0; i < u->lefts; i++)
        if (u->left[i].at <= now) {
            ahead -= u->left[i].flits;
            free = u->left[i].free > free ? u->left[i].free : free;
        } else if (u->left[i].at < told) {
            told = u->left[i].at;
        }
    if (ahead <= wg_niu_ahead(t->timing, t->arch->noc.buffer_flits))
        return free;
    return told > free ? told : free;
}

/* Processes the departures reported by now. */
static void learn(wg_niu_unit *u, uint64_t now)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < u->lefts; i++) {
        if (u->left[i].at > now) {
            u->left[kept++] = u->left[i];
            continue;
        }
        u->ahead -= u->left[i].flits;
        if (u->left[i].free > u->link_free)
            u->link_free = u->left[i].free;
    }
    u->lefts = (uint8_t)kept;
}

void wg_niu_left(wg_tile *t, unsigned noc, uint32_t flits, uint64_t at, uint64_t free)
{
    wg_niu_unit *u = unit(t, noc);
    if (u->lefts == WG_NIU_LEFT) { /* more than the NIU can be ahead */
        learn(u, t->sched.now);
        if (u->lefts == WG_NIU_LEFT)
            return;
    }
    u->left[u->lefts].at = at;
    u->left[u->lefts].free = free;
    u->left[u->lefts++].flits = flits;
    if (u->queued || t->box->answers[noc & 1])
        wg_wake_at(&t->sched, agent_of(noc), at);
}

static bool deliver(wg_tile *t, const wg_packet *p)
{
    uint32_t entry = wg_box_take(t->box);
    if (!entry) {
        note(t, WG_F_NOC_FULL, niu(p->noc), p->address, p->kind,
             "too many packets are under way to one tile; this one is lost");
        return false;
    }
    t->box->pool[entry] = *p;
    wg_heap_put(t->box->pool, &t->box->inbox[p->noc & 1], entry);
    wg_wake_at(&t->sched, agent_of(p->noc), p->at);
    return true;
}

bool wg_niu_deliver(wg_tile *t, const wg_packet *p) { return deliver(t, p); }

/* Coordinates of this tile on a NoC: x | y << 6. */
static uint16_t own_place(const wg_tile *t, unsigned noc)
{
    const wg_floorplan *f = wg_floorplan_of(t->arch->id);
    unsigned x = t->regions.niu.coordinate & 63, y = t->regions.niu.coordinate >> 6 & 63;
    return (uint16_t)(noc ? ((f->width - 1u - x) & 63) | ((f->height - 1u - y) & 63) << 6 : x | y << 6);
}

/* Does the bit of its column or row opt the NIU out of broadcasts? */
static bool opted_out(const wg_tile *t, unsigned noc)
{
    const uint32_t *w = t->regions.niu.word[noc & 1];
    uint16_t place = own_place(t, noc);
    unsigned x = place & 63, y = place >> 6;
    return x > 31 || y > 31 || w[WG_NIU_ROUTER_CFG_1 / 4] >> x & 1 || w[WG_NIU_ROUTER_CFG_3 / 4] >> y & 1;
}

/* Is this tile in the rectangle? */
static bool in_rectangle(const wg_tile *t, const wg_packet *p)
{
    const wg_floorplan *f = wg_floorplan_of(t->arch->id);
    uint16_t place = own_place(t, p->noc);
    unsigned x = place & 63, y = place >> 6;
    bool in_x = p->x0 <= p->x1 ? p->x0 <= x && x <= p->x1 : x <= p->x1 || p->x0 <= x;
    bool in_y = p->y0 <= p->y1 ? p->y0 <= y && y <= p->y1 : y <= p->y1 || p->y0 <= y;
    return in_x && in_y && !wg_broadcast_excludes(f, p, x, y);
}

/* Puts the packet on the link in this cycle. Its data, if any, is in the ring. */
static void leave(wg_tile *t, wg_packet *p, uint64_t source)
{
    wg_niu_unit *u = unit(t, p->noc);
    uint64_t now = t->sched.now;
    uint32_t flits = wg_packet_cycles(p, t->arch->noc.flit_bytes, t->timing->noc_pause);
    wg_noc_ring *ring = &t->box->ring[p->noc & 1];
    bool has_data = p->kind == WG_PACKET_WRITE || p->kind == WG_PACKET_DATA;
    p->at = now;
    p->from = own_tile(t);
    u->packets++;
    p->delay = wg_perturb(t, WG_SITE_NOC_HOP, agent_of(p->noc), u->packets);
    uint32_t rests =
        p->kind == WG_PACKET_DATA && p->noc & 1 && t->timing->noc_data_pause ? flits / t->timing->noc_data_pause : 0;
    p->delay += rests; /* its last flit leaves when it becomes available */
    u->link_free = now + flits + rests;
    WG_EMIT(t, WG_EV_NOC_SENT, agent_of(p->noc), .a = p->transaction, .b = p->address,
            .c = p->kind | (uint64_t)p->bytes << 8 | (uint64_t)p->to << 48, .parent = source, .part = p->channel);
    bool broadcast = p->flags & WG_PACKET_BROADCAST;
    bool self = broadcast ? p->flags & WG_PACKET_TO_SELF && in_rectangle(t, p) : p->to == p->from;
    uint64_t self_at = now + 2u * t->timing->noc_niu + flits - 1;
    if (self) {
        wg_packet copy = *p;
        copy.left = now;
        copy.at = self_at;
        copy.order = UINT64_MAX / 2 + u->packets; /* after packets of other senders that arrive in the same cycle */
        copy.to = p->from;
        deliver(t, &copy);
    }
    if (self && !broadcast) {
        if (has_data)
            wg_ring_until(ring, p->slot, self_at);
        return;
    }
    if (!t->boxes || t->box->outgoing >= WG_NOC_OUT) {
        if (has_data)
            wg_ring_until(ring, p->slot, self ? self_at : now);
        wg_findf(t, WG_F_NOC_NOWHERE,
                 wg_asker_finding(p->asker, (wg_finding){.subject = (uint32_t)p->address, .value = p->to}),
                 "0x%llx of NoC %u: %s", (unsigned long long)p->address, p->noc,
                 t->boxes ? "more packets than a window holds"
                          : "the tile stands alone: there is no other tile to reach");
        return;
    }
    p->order = u->packets;
    t->box->out[t->box->outgoing++] = *p;
    learn(u, now);
    u->ahead += flits;
    uint64_t answered = p->at + wg_route_least(t->timing); /* at the earliest */
    t->horizon = answered < t->horizon ? answered : t->horizon;
}

/* The tile's own bytes, L1 or registers. */
static void read_own(wg_tile *t, unsigned noc, uint64_t address, uint8_t *to, uint32_t bytes)
{
    if (address < t->spec->l1_bytes && bytes <= t->spec->l1_bytes - address) {
        wg_l1_read(t, (uint32_t)address, bytes, to);
        return;
    }
    memset(to, 0, bytes);
    if (!wg_tile_bus_read(t, address, to, bytes))
        note(t, WG_F_NOC_UNMAPPED, niu(noc), address, bytes, "nothing can be read there over the NoC; zeros are sent");
}

static void write_own(wg_tile *t, unsigned noc, uint64_t address, const uint8_t *from, uint32_t bytes)
{
    if (address < t->spec->l1_bytes && bytes <= t->spec->l1_bytes - address) {
        wg_l1_write(t, noc ? WG_L1_NOC1_WRITE : WG_L1_NOC0_WRITE, (uint32_t)address, bytes, from);
        return;
    }
    if (!wg_tile_bus_write(t, address, from, bytes))
        note(t, WG_F_NOC_UNMAPPED, niu(noc), address, bytes,
             "nothing can be written there over the NoC; the data is lost");
    wg_wake_all(&t->sched);
}

/* Alignment.md: if a length is given, both addresses must be equal modulo 16. */
static void check_alignment(wg_tile *t, wg_asker asker, uint64_t from, uint64_t to, uint32_t bytes)
{
    bool mmio = (from >= MMIO && from <= UINT32_MAX) || (to >= MMIO && to <= UINT32_MAX);
    if (mmio ? bytes > 4 || (from & 3) != (to & 3) : (from & 15) != (to & 15))
        wg_findf(t, WG_F_NOC_ALIGNMENT,
                 wg_asker_finding(asker, (wg_finding){.subject = (uint32_t)from, .value = (uint32_t)to}),
                 "%u bytes from 0x%llx to 0x%llx", bytes, (unsigned long long)from, (unsigned long long)to);
}

static uint16_t destination(wg_tile *t, unsigned noc, uint16_t place, uint64_t address, wg_asker asker,
                            const char *what)
{
    uint16_t to = tile_at(t, noc, place);
    if (to == UINT16_MAX)
        wg_findf(t, WG_F_NOC_NOWHERE,
                 wg_asker_finding(asker, (wg_finding){.subject = (uint32_t)address, .value = place}),
                 "%s at (%u, %u) of NoC %u, 0x%llx: outside the grid", what, place & 63u, place >> 6 & 63u, noc,
                 (unsigned long long)address);
    return to;
}

/* Counts a request that leaves, and reports misuse of its kind. */
static void count_request(wg_tile *t, unsigned noc, wg_asker asker, uint64_t address, uint32_t ctrl, bool answer)
{
    bool read = (ctrl & CTRL_TYPE) == TYPE_READ, atomic = (ctrl & CTRL_TYPE) == TYPE_ATOMIC, posted = !answer;
    wg_niu_count(t, noc, WG_MST_CMD_ACCEPTED, 1);
    if (read) {
        wg_niu_count(t, noc, WG_MST_RD_REQ_STARTED, 1);
        wg_niu_count(t, noc, WG_MST_RD_REQ_SENT, 1);
    } else if (atomic) {
        if (answer)
            wg_niu_count(t, noc, WG_MST_NONPOSTED_ATOMIC_STARTED, 1);
        wg_niu_count(t, noc, posted ? WG_MST_POSTED_ATOMIC_SENT : WG_MST_NONPOSTED_ATOMIC_SENT, 1);
        if (posted && !t->arch->noc.posted_atomics)
            note(t, WG_F_NOC_POSTED_ATOMIC, asker, address, ctrl, "it asks for no acknowledgement");
    } else {
        wg_niu_count(t, noc, posted ? WG_MST_POSTED_WR_REQ_STARTED : WG_MST_NONPOSTED_WR_REQ_STARTED, 1);
        wg_niu_count(t, noc, posted ? WG_MST_POSTED_WR_REQ_SENT : WG_MST_NONPOSTED_WR_REQ_SENT, 1);
    }
}

/* The rectangle of a broadcast, and the tiles excluded from it. */
static void broadcast_to(wg_tile *t, unsigned noc, unsigned i, uint32_t ctrl, uint16_t start, uint16_t end,
                         wg_packet *p)
{
    p->flags |=
        (uint16_t)(WG_PACKET_BROADCAST | (ctrl & CTRL_Y_MAJOR ? WG_PACKET_Y_MAJOR : 0) |
                   (ctrl & CTRL_TO_SELF ? WG_PACKET_TO_SELF : 0) | (ctrl & CTRL_RESERVE ? WG_PACKET_RESERVE : 0));
    p->x0 = start & 63;
    p->y0 = start >> 6 & 63;
    p->x1 = end & 63;
    p->y1 = end >> 6 & 63;
    if (wg_niu_map_of(t)->exclude)
        p->exclude = reg(t, noc, i, wg_niu_map_of(t)->exclude);
}

/* The request at the head of the queue has been sent, except for bytes beyond one packet: these remain as another request. */
static void finish_request(wg_tile *t, unsigned noc, unsigned i, bool more)
{
    wg_niu_unit *u = unit(t, noc);
    if (more) {
        set_reg(t, noc, i, WG_NIU_LEN_BE, reg(t, noc, i, WG_NIU_LEN_BE) - max_bytes(t));
        set_reg(t, noc, i, WG_NIU_TARG_LO, reg(t, noc, i, WG_NIU_TARG_LO) + max_bytes(t));
        set_reg(t, noc, i, WG_NIU_RET_LO, reg(t, noc, i, WG_NIU_RET_LO) + max_bytes(t));
        return;
    }
    set_reg(t, noc, i, wg_niu_map_of(t)->command, 0);
    memmove(u->queue, u->queue + 1, sizeof u->queue - 1);
    u->queued--;
}

/* Sends the request at the head of the initiators' queue. False: retry in cycle *retry. */
static bool send_request(wg_tile *t, unsigned noc, uint64_t *retry)
{
    wg_niu_unit *u = unit(t, noc);
    unsigned i = u->queue[0];
    uint32_t ctrl = reg(t, noc, i, WG_NIU_CTRL), tag = reg(t, noc, i, WG_NIU_TAG);
    spot targ = spot_of(t, noc, i, WG_NIU_TARG_LO, WG_NIU_TARG_MID, WG_NIU_TARG_HI);
    spot ret = spot_of(t, noc, i, WG_NIU_RET_LO, WG_NIU_RET_MID, WG_NIU_RET_HI);
    bool read = (ctrl & CTRL_TYPE) == TYPE_READ, atomic = (ctrl & CTRL_TYPE) == TYPE_ATOMIC,
         answer = read || ctrl & CTRL_ANSWER;
    bool data = is_write(ctrl) && !is_inline(ctrl), more = false;
    if (read && u->next_read > t->sched.now) {
        *retry = u->next_read;
        return false;
    }
    wg_packet p = {.noc = (uint8_t)(noc & 1),
                   .tag = (uint8_t)(tag >> 10 & 15),
                   .data = reg(t, noc, i, wg_niu_map_of(t)->data),
                   .transaction = (uint64_t)own_tile(t) << 48 | (uint64_t)(noc & 1) << 47 | (u->transactions + 1),
                   .flags = (uint16_t)(answer ? WG_PACKET_ANSWER : 0),
                   .asker = u->asker[i]};
    spot to = data ? ret : targ;
    uint16_t end = data ? u->place[i].ret : u->place[i].targ,
             start = data ? u->place[i].ret_start : u->place[i].targ_start;
    if (ctrl & CTRL_BROADCAST) {
        broadcast_to(t, noc, i, ctrl, start, end, &p);
        destination(t, noc, start, to.address, p.asker, "a broadcast starts");
    }
    if (ctrl & CTRL_LINKED)
        p.flags |= WG_PACKET_LINKED;
    if (u->linked) /* uses the previous packet's path */
        p.flags &= (uint16_t)~WG_PACKET_RESERVE;
    p.channel = ctrl & CTRL_STATIC ? 1 + (ctrl >> 13 & 7) : ctrl & CTRL_LINKED || u->linked ? WG_CHANNEL_LINKED : 0;
    uint32_t whereto = end | (uint32_t)(ctrl & CTRL_BROADCAST ? start : end) << 12 |
                       (uint32_t)(ctrl & CTRL_BROADCAST && ctrl & CTRL_Y_MAJOR) << 24;
    if (u->linked && u->linked_to != whereto)
        note(t, WG_F_NOC_LINKED, p.asker, to.address, ctrl, "not where the transaction's first request went");
    p.to = destination(t, noc, end, to.address, p.asker, "a request");
    p.address = to.address;
    p.back = own_tile(t);
    if (read || data) {
        uint32_t length = length_of(t, noc, i);
        p.kind = read ? WG_PACKET_READ : WG_PACKET_WRITE;
        p.bytes = length < max_bytes(t) ? length : max_bytes(t);
        more = length > max_bytes(t);
        p.back = tile_at(t, noc, read ? u->place[i].ret : u->place[i].targ);
        p.back_address = ret.address;
    } else {
        p.kind = atomic ? WG_PACKET_ATOMIC : WG_PACKET_INLINE;
        p.bytes = 4;
        p.operation = reg(t, noc, i, WG_NIU_LEN_BE);
        p.mask = p.operation;
        if (atomic) {
            p.back = tile_at(t, noc, u->place[i].ret);
            p.back_address = ret.address;
        }
    }
    if (by_mask(ctrl)) {
        p.flags |= WG_PACKET_BYTES;
        p.mask = reg(t, noc, i, WG_NIU_LEN_BE);
        if (wg_niu_map_of(t)->len_be_1)
            p.mask |= (uint64_t)reg(t, noc, i, wg_niu_map_of(t)->len_be_1) << 32;
        p.address &= ~UINT64_C(15);
        targ.address &= ~UINT64_C(15);
    }
    if (data && tag >> 9 & 1 && !answer)
        p.flags |= WG_PACKET_HEADER_STORE;
    if (is_write(ctrl) && tag >> 6 & 1) {
        p.flags |= (uint16_t)(WG_PACKET_TO_STREAM | (tag >> 7 & 1 ? WG_PACKET_FIRST : 0) |
                              (tag >> 8 & 1 ? WG_PACKET_LAST : 0));
        p.stream = tag & 63;
    }
    if (data) {
        if (!wg_ring_take(&t->box->ring[noc & 1], p.bytes, t->sched.now, &p.payload, &p.slot, retry))
            return false;
        read_own(t, noc, targ.address, t->box->ring[noc & 1].bytes + p.payload, p.bytes);
    }
    if (read || (data && !by_mask(ctrl)))
        check_alignment(t, p.asker, targ.address, ret.address, p.bytes);

    count_request(t, noc, p.asker, to.address, ctrl, answer);
    if (data) {
        uint32_t words = wg_packet_flits(&p, t->arch->noc.flit_bytes) - 1;
        wg_niu_count(t, noc, answer ? WG_MST_NONPOSTED_WR_DATA_WORD_SENT : WG_MST_POSTED_WR_DATA_WORD_SENT, words);
        u->data_gone = t->sched.now + words + 1;
        u->data_tag = p.tag;
    }
    u->transactions++;
    if (read && noc & 1)
        u->next_read = t->sched.now + t->timing->noc_read;
    u->linked = ctrl & CTRL_LINKED;
    u->linked_to = whereto;
    if (p.to != UINT16_MAX)
        leave(t, &p, targ.address);
    else if (data)
        wg_ring_until(&t->box->ring[noc & 1], p.slot, t->sched.now);
    finish_request(t, noc, i, more);
    return true;
}

bool wg_niu_overlay_send(wg_tile *t, wg_packet *p, uint16_t place, uint64_t source, uint64_t *retry)
{
    unsigned noc = p->noc & 1;
    wg_niu_unit *u = unit(t, noc);
    uint64_t now = t->sched.now;
    *retry = link_free(t, u, now);
    if (*retry > now) {
        *retry = *retry == WG_NEVER ? now + t->timing->noc_niu : *retry; /* streams are not woken */
        return false;
    }
    if (p->kind == WG_PACKET_WRITE) {
        if (!wg_ring_take(&t->box->ring[noc], p->bytes, now, &p->payload, &p->slot, retry))
            return false;
        read_own(t, noc, source, t->box->ring[noc].bytes + p->payload, p->bytes);
    }
    p->asker = (wg_asker){.agent = (uint8_t)agent_of(noc)};
    p->to = destination(t, noc, wg_niu_translate(t, noc, place), p->address, p->asker, "a stream's packet");
    p->back = own_tile(t);
    p->transaction = (uint64_t)own_tile(t) << 48 | (uint64_t)noc << 47 | ++u->transactions;
    if (p->to != UINT16_MAX)
        leave(t, p, source);
    else if (p->kind == WG_PACKET_WRITE)
        wg_ring_until(&t->box->ring[noc], p->slot, now);
    *retry = u->link_free > now ? u->link_free : now + 1;
    return true;
}

/* Sends the oldest answer. False: retry in cycle *retry. */
static bool send_answer(wg_tile *t, unsigned noc, uint64_t *retry)
{
    wg_noc_box *box = t->box;
    uint32_t entry = box->answers[noc & 1];
    wg_packet p = box->pool[entry];
    uint64_t source = p.back_address;
    if (p.kind == WG_PACKET_DATA) {
        if (!wg_ring_take(&box->ring[noc & 1], p.bytes, t->sched.now, &p.payload, &p.slot, retry))
            return false;
        read_own(t, noc, source, box->ring[noc & 1].bytes + p.payload, p.bytes);
        wg_niu_count(t, noc, WG_SLV_RD_RESP_SENT, 1);
        wg_niu_count(t, noc, WG_SLV_RD_DATA_WORD_SENT, wg_packet_flits(&p, t->arch->noc.flit_bytes) - 1);
    } else {
        wg_niu_count(t, noc, p.kind == WG_PACKET_ACK ? WG_SLV_WR_ACK_SENT : WG_SLV_ATOMIC_RESP_SENT, 1);
    }
    box->answers[noc & 1] = p.next;
    if (!p.next)
        box->last_answer[noc & 1] = 0;
    wg_box_give(box, entry);
    p.child = p.next = 0;
    if (p.to != UINT16_MAX)
        leave(t, &p, source);
    else if (p.kind == WG_PACKET_DATA)
        wg_ring_until(&box->ring[noc & 1], p.slot, t->sched.now);
    return true;
}

/* ---- arriving ---------------------------------------------------------------------------------------------- */

/* Turns a served request into its answer, in the same pool entry. */
static void answer(wg_tile *t, uint32_t entry, wg_packet_kind kind, uint32_t data)
{
    wg_noc_box *box = t->box;
    wg_packet *p = &box->pool[entry];
    unsigned noc = p->noc & 1;
    uint64_t source = p->address, from = t->sched.now;
    if (kind == WG_PACKET_DATA) {
        wg_niu_unit *u = unit(t, noc);
        from = u->next_served > from ? u->next_served : from;
        u->next_served = from + t->timing->noc_serve;
    }
    *p = (wg_packet){.at = from + (kind == WG_PACKET_DATA ? t->timing->noc_data : t->timing->noc_ack),
                     .address = p->back_address,
                     .back_address = source,
                     .data = data,
                     .bytes = kind == WG_PACKET_DATA ? p->bytes : 4,
                     .transaction = p->transaction,
                     .to = p->back,
                     .kind = (uint8_t)kind,
                     .noc = (uint8_t)noc,
                     .tag = p->tag,
                     .channel = p->channel,
                     .asker = p->asker};
    if (box->last_answer[noc])
        box->pool[box->last_answer[noc]].next = entry;
    else
        box->answers[noc] = entry;
    box->last_answer[noc] = entry;
}

static const uint8_t *data_of(const wg_tile *t, const wg_packet *p)
{
    const wg_noc_box *box = t->boxes ? t->boxes[p->from] : t->box;
    return box->ring[p->noc & 1].bytes + p->payload;
}

/* Writes the bytes of 16-byte lines that the mask selects. */
static void write_masked(wg_tile *t, unsigned noc, uint64_t address, const uint8_t *from, uint64_t mask, uint32_t bytes)
{
    if (address >= t->spec->l1_bytes) {
        write_own(t, noc, address, from, 4); /* a register: the mask does not matter */
        return;
    }
    for (uint32_t i = 0; i < bytes; i += 16) {
        uint32_t line[4];
        memcpy(line, from + i, 16);
        uint16_t part = (uint16_t)(mask >> i);
        if (part)
            wg_l1_write_masked(t, noc ? WG_L1_NOC1_WRITE : WG_L1_NOC0_WRITE, (uint32_t)address + i, part, line);
    }
}

static void write_arrived(wg_tile *t, const wg_packet *p)
{
    const uint8_t *data = data_of(t, p);
    if (p->flags & WG_PACKET_BYTES)
        write_masked(t, p->noc, p->address, data, p->mask, p->bytes);
    else if (p->bytes)
        write_own(t, p->noc, p->address, data, p->bytes);
    if (p->flags & WG_PACKET_HEADER_STORE) {
        uint8_t first[16] = {0};
        memcpy(first, data, p->bytes < 16 ? p->bytes : 16);
        write_own(t, p->noc, (uint64_t)p->data << 4, first, 16);
    }
}

/* Alignment.md: the word is repeated to 16 bytes; both halves of the mask apply. */
static void inline_arrived(wg_tile *t, const wg_packet *p)
{
    uint8_t bytes[16];
    for (unsigned i = 0; i < 16; i += 4)
        memcpy(bytes + i, &p->data, 4);
    if (p->address >= MMIO) {
        write_own(t, p->noc, p->address & ~UINT64_C(3), bytes, 4);
        return;
    }
    if (!t->arch->noc.inline_to_l1)
        note(t, WG_F_NOC_INLINE_L1, p->from == own_tile(t) ? p->asker : niu(p->noc), p->address, p->data,
             "this is an address in L1");
    write_masked(t, p->noc, p->address & ~UINT64_C(15), bytes, p->mask & 0xFFFF, 16);
    write_masked(t, p->noc, p->address & ~UINT64_C(15), bytes, p->mask >> 16 & 0xFFFF, 16);
}

static uint32_t atomic_arrived(wg_tile *t, const wg_packet *p)
{
    const wg_asker by = p->from == own_tile(t) ? p->asker : niu(p->noc);
    uint32_t result = 0;
    if (p->address >= t->spec->l1_bytes || p->address & 3)
        note(t, WG_F_NOC_ATOMIC, by, p->address, p->operation, "not a word in L1; nothing is done");
    else if (!wg_noc_atomic(t, p->noc, (uint32_t)p->address, p->operation, p->data, &result))
        note(t, WG_F_NOC_ATOMIC, by, p->address, p->operation, "no such operation; nothing is done");
    return result;
}

static void arrive(wg_tile *t, uint32_t entry)
{
    wg_packet *p = &t->box->pool[entry];
    unsigned noc = p->noc;
    if (p->flags & WG_PACKET_BROADCAST && opted_out(t, noc)) {
        wg_box_give(t->box, entry);
        return;
    }
    bool asked = p->flags & WG_PACKET_ANSWER;
    uint32_t words = wg_packet_flits(p, t->arch->noc.flit_bytes) - 1;
    WG_EMIT(t, WG_EV_NOC_ARRIVED, agent_of(noc), .a = p->transaction, .b = p->address,
            .c = p->kind | (uint64_t)p->bytes << 8 | (uint64_t)p->from << 48, .parent = p->left, .part = p->channel,
            .word = (p->hops & 0xFF) | (p->waited < 0xFFFFFF ? p->waited : 0xFFFFFF) << 8);
    if (p->kind <= WG_PACKET_ATOMIC)
        wg_niu_count(t, noc, WG_SLV_REQ_ACCEPTED, 1);
    switch (p->kind) {
    case WG_PACKET_READ:
        wg_niu_count(t, noc, WG_SLV_RD_REQ_RECEIVED, 1);
        answer(t, entry, WG_PACKET_DATA, 0);
        return;
    case WG_PACKET_WRITE:
    case WG_PACKET_INLINE:
        wg_niu_count(t, noc, asked ? WG_SLV_NONPOSTED_WR_REQ_STARTED : WG_SLV_POSTED_WR_REQ_STARTED, 1);
        wg_niu_count(t, noc, asked ? WG_SLV_NONPOSTED_WR_REQ_RECEIVED : WG_SLV_POSTED_WR_REQ_RECEIVED, 1);
        wg_niu_count(t, noc, asked ? WG_SLV_NONPOSTED_WR_DATA_WORD_RECEIVED : WG_SLV_POSTED_WR_DATA_WORD_RECEIVED,
                     p->kind == WG_PACKET_INLINE ? 1 : words);
        if (p->kind == WG_PACKET_WRITE)
            write_arrived(t, p);
        else
            inline_arrived(t, p);
        if (p->flags & WG_PACKET_TO_STREAM)
            wg_stream_delivered(t, p->stream, p->bytes, p->flags & WG_PACKET_FIRST, p->flags & WG_PACKET_LAST);
        if (asked) {
            answer(t, entry, WG_PACKET_ACK, 0);
            return;
        }
        break;
    case WG_PACKET_ATOMIC: {
        wg_niu_count(t, noc, asked ? WG_SLV_NONPOSTED_ATOMIC_RECEIVED : WG_SLV_POSTED_ATOMIC_RECEIVED, 1);
        uint32_t result = atomic_arrived(t, p);
        if (asked) {
            answer(t, entry, WG_PACKET_RESULT, result);
            return;
        }
        break;
    }
    case WG_PACKET_DATA:
        if (p->bytes)
            write_own(t, noc, p->address, data_of(t, p), p->bytes);
        wg_niu_count(t, noc, WG_MST_RD_RESP_RECEIVED, 1);
        wg_niu_count(t, noc, WG_MST_RD_DATA_WORD_RECEIVED, words);
        wg_niu_count(t, noc, WG_MST_REQS_OUTSTANDING + p->tag, UINT32_MAX);
        break;
    case WG_PACKET_RESULT:
        write_own(t, noc, p->address, (const uint8_t *)&p->data, 4);
        wg_niu_count(t, noc, WG_MST_ATOMIC_RESP_RECEIVED, 1);
        wg_niu_count(t, noc, WG_MST_REQS_OUTSTANDING + p->tag, UINT32_MAX);
        break;
    default:
        wg_niu_count(t, noc, WG_MST_WR_ACK_RECEIVED, 1);
        wg_niu_count(t, noc, WG_MST_REQS_OUTSTANDING + p->tag, UINT32_MAX);
        break;
    }
    wg_box_give(t->box, entry);
}

/* ---- the tick ---------------------------------------------------------------------------------------------- */

void wg_niu_tick(wg_tile *t, unsigned noc)
{
    wg_niu_unit *u = unit(t, noc);
    wg_noc_box *box = t->box;
    uint64_t now = t->sched.now, next = WG_NEVER, retry = WG_NEVER;
    while (box->inbox[noc] && box->pool[box->inbox[noc]].at <= now) {
        const wg_packet *p = &box->pool[box->inbox[noc]];
        if (p->kind != WG_PACKET_ACK || t->regions.niu.word[noc][WG_NIU_RTZ_CFG / 4]) /* an ACK changes only counters */
            wg_fast_packet(t);
        arrive(t, wg_heap_take(box->pool, &box->inbox[noc]));
    }
    if (u->data_gone && u->data_gone <= now) {
        wg_niu_count(t, noc, WG_MST_WRITE_REQS_OUTGOING + u->data_tag, UINT32_MAX);
        u->data_gone = 0;
    }
    bool answers = box->answers[noc] && box->pool[box->answers[noc]].at <= now;
    if (link_free(t, u, now) <= now && !(answers && send_answer(t, noc, &retry)) && u->queued)
        send_request(t, noc, &retry);

    if (box->inbox[noc])
        next = box->pool[box->inbox[noc]].at;
    if (u->data_gone && u->data_gone < next)
        next = u->data_gone;
    if (box->answers[noc] || u->queued) {
        uint64_t at = link_free(t, u, now);
        if (!u->queued && box->pool[box->answers[noc]].at > at)
            at = box->pool[box->answers[noc]].at;
        if (at != WG_NEVER && at <= now)
            at = retry != WG_NEVER && retry > now ? retry : now + 1;
        next = at < next ? at : next;
    }
    if (noc == 0 && t->regions.niu.streams.active) {
        uint64_t at = wg_streams_tick(t);
        next = at < next ? at : next;
    }
    if (next != WG_NEVER)
        wg_wake_at(&t->sched, agent_of(noc), next > now ? next : now + 1);
}

bool wg_niu_idle(const wg_tile *t)
{
    for (unsigned noc = 0; noc < 2; noc++)
        if (t->box->inbox[noc] || t->box->answers[noc] || t->regions.niu.unit[noc].queued ||
            t->regions.niu.unit[noc].data_gone)
            return false;
    return !t->box->outgoing;
}
