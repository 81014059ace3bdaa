/* SPDX-License-Identifier: Apache-2.0 */
/* Overlay streams that carry messages: within a tile, between tiles, to several, gathered, to DRAM, in phases. */
#include "noc_rig.h"

#include "machine/device.h"
#include "machine/overlay.h"

enum {
    FROM_SOFTWARE = 1 << 4,
    FROM_STREAM = 1 << 5,
    GATHERS = 1 << 3,
    TO_SOFTWARE = 1 << 6,
    TO_GATHER = 1 << 7,
    TO_STREAM = 1 << 8,
    OUT_NOC1 = 1 << 1,
    UPDATE_NOC1 = 1 << 2
};
enum { RUNNING = 5 };

static bool bh(void **state) { return wg_test_arch(state) == WG_ARCH_BH; }
/* Bits of STREAM_MISC_CFG that the architectures have in different places. */
static uint32_t changes(void **state) { return bh(state) ? 3u << 11 : 3u << 12; }
static uint32_t dest_unchecked(void **state) { return 1u << (bh(state) ? 14 : 15); }

static uint64_t address_of(wg_grid *g, unsigned x, unsigned y, unsigned stream, wg_stream_register r)
{
    return 0xFFB40000 + 0x1000 * stream + 4u * wg_overlay_number(wg_grid_tile(g, x, y)->tile->arch, r);
}

static void reg(wg_grid *g, unsigned x, unsigned y, unsigned stream, wg_stream_register r, uint32_t value)
{
    put(g, x, y, address_of(g, x, y, stream, r), value);
}

static uint32_t see(wg_grid *g, unsigned x, unsigned y, unsigned stream, wg_stream_register r)
{
    return get(g, x, y, address_of(g, x, y, stream, r));
}

static unsigned state_of(wg_grid *g, unsigned x, unsigned y, unsigned stream)
{
    return see(g, x, y, stream, WG_SR_WAIT_STATUS) >> 3 & 15;
}

typedef struct end {
    unsigned x, y, stream;
    uint32_t buffer, size, headers;
} end; /* bytes */

/* The length, in units of 16 bytes, is the header's second half-word. */
static wg_grid *chip(void **state, bool lockstep, const end *ends, unsigned n)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .lockstep = lockstep};
    wg_grid *g = NULL;
    assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
    for (unsigned i = 0; i < n; i++) {
        put(g, ends[i].x, ends[i].y, NIU0 + 0x100, 0); /* places are raw */
        put(g, ends[i].x, ends[i].y, NIU1 + 0x100, 0);
        reg(g, ends[i].x, ends[i].y, 0, WG_SR_HEADER_FORMAT, 16 | 16 << 7);
    }
    return g;
}

static void buffer(wg_grid *g, const end *e)
{
    reg(g, e->x, e->y, e->stream, WG_SR_BUF_START, e->buffer >> 4);
    reg(g, e->x, e->y, e->stream, WG_SR_BUF_SIZE, e->size >> 4);
    reg(g, e->x, e->y, e->stream, WG_SR_MSG_INFO_PTR, e->headers >> 4);
    reg(g, e->x, e->y, e->stream, WG_SR_MSG_INFO_WR_PTR, e->headers >> 4);
}

static uint32_t place_on(wg_grid *g, unsigned noc, const end *e)
{
    return noc ? at(wg_grid_width(g) - 1 - e->x, wg_grid_height(g) - 1 - e->y) : at(e->x, e->y);
}

/* Connects them; messages travel on one NoC, flow control on the other. */
static void connect(wg_grid *g, const end *a, const end *b, unsigned noc, unsigned index)
{
    reg(g, a->x, a->y, a->stream, WG_SR_DEST_BUF_START, b->buffer >> 4);
    reg(g, a->x, a->y, a->stream, WG_SR_DEST_BUF_SIZE, b->size >> 4);
    reg(g, a->x, a->y, a->stream, WG_SR_DEST_INFO_WR_PTR, b->headers >> 4);
    reg(g, a->x, a->y, a->stream, WG_SR_DEST, place_on(g, noc, b) | b->stream << 12);
    reg(g, a->x, a->y, a->stream, WG_SR_MCAST_DEST_NUM, 1);
    reg(g, b->x, b->y, b->stream, WG_SR_SRC, place_on(g, !noc, a) | a->stream << 12 | index << 18);
}

static void start(wg_grid *g, const end *e, unsigned messages, uint32_t config)
{
    reg(g, e->x, e->y, e->stream, WG_SR_CFG_HEADER, messages << 12);
    reg(g, e->x, e->y, e->stream, WG_SR_MISC_CFG, config);
    reg(g, e->x, e->y, e->stream, WG_SR_PHASE_ADVANCE, 1);
}

/* Byte `i` of message `n`. */
static uint8_t byte_of(unsigned n, uint32_t size, uint32_t i)
{
    return i == 2 ? (uint8_t)(size >> 4) : i == 3 ? (uint8_t)(size >> 12) : (uint8_t)(n * 31 + i * 7 + (i >> 8));
}

/* Writes a message to the stream's buffer, and its header, and announces it; false if the stream is full. */
static bool push(wg_grid *g, const end *e, unsigned n, uint32_t size)
{
    if (see(g, e->x, e->y, e->stream, WG_SR_BUF_SPACE) << 4 < size)
        return false;
    uint32_t at_byte = see(g, e->x, e->y, e->stream, WG_SR_WR_PTR) << 4;
    uint8_t header[16];
    for (uint32_t i = 0; i < size; i++) {
        uint8_t b = byte_of(n, size, i);
        header[i & 15] = i < 16 ? b : header[i & 15];
        assert_int_equal(wg_grid_write(g, e->x, e->y, e->buffer + (at_byte + i) % e->size, &b, 1), WG_OK);
    }
    uint32_t to = see(g, e->x, e->y, e->stream, WG_SR_MSG_INFO_WR_PTR) << 4;
    assert_int_equal(wg_grid_write(g, e->x, e->y, to, header, 16), WG_OK);
    reg(g, e->x, e->y, e->stream, WG_SR_RECEIVED_INC, 1 | (size >> 4) << 12);
    return true;
}

/* Removes a message and checks it; false if there is none. */
static bool pull(wg_grid *g, const end *e, unsigned n, uint32_t size)
{
    if (!see(g, e->x, e->y, e->stream, WG_SR_RECEIVED))
        return false;
    uint32_t from = see(g, e->x, e->y, e->stream, WG_SR_NEXT_MSG_ADDR) << 4;
    assert_int_equal(see(g, e->x, e->y, e->stream, WG_SR_NEXT_MSG_SIZE) << 4, size);
    for (uint32_t i = 0; i < size; i++) {
        uint8_t b = 0;
        assert_int_equal(wg_grid_read(g, e->x, e->y, e->buffer + (from - e->buffer + i) % e->size, &b, 1), WG_OK);
        assert_int_equal(b, byte_of(n, size, i));
    }
    reg(g, e->x, e->y, e->stream, WG_SR_INFO_CLEAR, 1);
    reg(g, e->x, e->y, e->stream, WG_SR_DATA_CLEAR, 1);
    return true;
}

static uint32_t size_of(unsigned n) { return 16 * (1 + n * 5 % 23); }

/* n messages in at one end, out at the other; returns the cycle at which the last one left. */
static uint64_t carry(wg_grid *g, const end *a, const end *b, unsigned n)
{
    unsigned in = 0, out = 0;
    for (unsigned rounds = 0; out < n; rounds++) {
        assert_true(rounds < 4000);
        while (in < n && push(g, a, in, size_of(in)))
            in++;
        wg_grid_advance(g, 40);
        while (out < n && pull(g, b, out, size_of(out)))
            out++;
    }
    wg_grid_advance(g, 1000);
    return wg_grid_cycle(g);
}

/* The FIFOs of one stream, without the NoC. */
static void test_within_a_tile(void **state)
{
    const end e = {2, 2, 5, 0x4000, 0x400, 0x8000};
    wg_grid *g = chip(state, false, &e, 1);
    buffer(g, &e);
    assert_int_equal(state_of(g, 2, 2, 5), 0);
    start(g, &e, 20, FROM_SOFTWARE | TO_SOFTWARE);
    wg_grid_advance(g, 10);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_WAIT_STATUS), RUNNING << 3 | 4);
    assert_true(push(g, &e, 0, 48));
    assert_int_equal(see(g, 2, 2, 5, WG_SR_BUF_SPACE), 0x40 - 3);
    wg_grid_advance(g, 10);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_RECEIVED), 1);
    uint64_t info = address_of(g, 2, 2, 5, WG_SR_MSG_INFO); /* stream 5 keeps headers */
    assert_int_equal(get(g, 2, 2, info), 0x400);
    assert_int_equal(get(g, 2, 2, info + 4), 3);
    assert_int_equal(get(g, 2, 2, info + 8), get(g, 2, 2, 0x4000));
    assert_true(pull(g, &e, 0, 48));
    assert_int_equal(see(g, 2, 2, 5, WG_SR_CFG_HEADER) >> 12 & 0xFFF, 19);
    /* Metadata without headers in L1; two removed at once; both steps at once. */
    reg(g, 2, 2, 5, WG_SR_NEW_MSG, 0x700 | 2 << 17);
    reg(g, 2, 2, 5, WG_SR_NEW_MSG, 0x710 | 4 << 17);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_RECEIVED), 2);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_NEXT_MSG_ADDR), 0x700);
    reg(g, 2, 2, 5, WG_SR_INFO_CLEAR, 2);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_BUF_SPACE), 0x40 - 6);
    reg(g, 2, 2, 5, WG_SR_DATA_CLEAR, 1);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_BUF_SPACE), 0x40);
    for (unsigned i = 0; i < 8; i++)
        reg(g, 2, 2, 5, WG_SR_NEW_MSG, 0x700 | 1 << 17);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_CAN_PUSH), 0);
    reg(g, 2, 2, 5, WG_SR_DEST_INFO_WR_PTR, (uint32_t)-16);
    wg_grid_advance(g, 40);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_DEST_INFO_WR_PTR), 0);
    assert_int_equal(see(g, 2, 2, 5, WG_SR_BUF_SPACE), 0x40);
    assert_int_equal(findings_of(g), 0);
    for (unsigned i = 0; i < 9; i++) /* the last of twenty ends the phase */
        for (unsigned k = 0; k < 1; k++) {
            reg(g, 2, 2, 5, WG_SR_NEW_MSG, 0x700 | 1 << 17);
            reg(g, 2, 2, 5, WG_SR_INFO_CLEAR, 1);
            reg(g, 2, 2, 5, WG_SR_DATA_CLEAR, 1);
        }
    wg_grid_advance(g, 10);
    assert_int_equal(state_of(g, 2, 2, 5), 0);
    assert_int_equal(see(g, 2, 2, 0, WG_SR_CFG_DONE), 1 << 5);
    assert_int_equal(see(g, 2, 2, 0, WG_SR_NEXT_CFG_DONE), 0x10005);
    assert_int_equal(see(g, 2, 2, 0, WG_SR_NEXT_CFG_DONE), 0);
    assert_int_equal(findings_of(g), 0);
    reg(g, 2, 2, 5, WG_SR_NEW_MSG, 0x700 | 1 << 17);
    assert_true(has_finding(g, 2, 2, "noc-stream"));
    wg_grid_destroy(g);
}

static uint64_t transfer(void **state, unsigned noc, unsigned threshold, bool lockstep)
{
    const end a = {2, 2, 20, 0x4000, 0x400, 0x8000}, b = {4, 3, 9, 0x10000, 0x200, 0x18000};
    wg_grid *g = chip(state, lockstep, (end[]){a, b}, 2);
    uint32_t nocs = noc ? OUT_NOC1 : UPDATE_NOC1;
    buffer(g, &a);
    buffer(g, &b);
    connect(g, &a, &b, noc, 0);
    reg(g, b.x, b.y, b.stream, WG_SR_ACK_THRESHOLD, threshold);
    reg(g, a.x, a.y, a.stream, WG_SR_PHASE, 7);
    reg(g, b.x, b.y, b.stream, WG_SR_SRC_PHASE, 7);
    start(g, &a, 60, FROM_SOFTWARE | TO_STREAM | nocs | changes(state));
    wg_grid_advance(g, 300); /* asks without success */
    start(g, &b, 60, FROM_STREAM | TO_SOFTWARE | nocs | changes(state));
    wg_grid_advance(g, 300);
    uint64_t done = carry(g, &a, &b, 60);
    assert_int_equal(state_of(g, a.x, a.y, a.stream), 0);
    assert_int_equal(state_of(g, b.x, b.y, b.stream), 0);
    assert_int_equal(see(g, a.x, a.y, a.stream, WG_SR_SPACE), b.size >> 4);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
    return done;
}

static void test_between_tiles(void **state)
{
    for (unsigned noc = 0; noc < 2; noc++)
        for (unsigned threshold = 0; threshold < 4; threshold += 2)
            transfer(state, noc, threshold, false);
    assert_int_equal(transfer(state, 1, 2, false), transfer(state, 1, 2, true));
}

/* Through a third tile, whose buffer is smaller than most of the messages. */
static void test_relay(void **state)
{
    const end a = {2, 2, 20, 0x4000, 0x400, 0x8000}, m = {6, 4, 13, 0x30000, 0x40, 0x38000},
              b = {4, 3, 9, 0x10000, 0x200, 0x18000};
    wg_grid *g = chip(state, false, (end[]){a, m, b}, 3);
    buffer(g, &a);
    buffer(g, &m);
    buffer(g, &b);
    connect(g, &a, &m, 0, 0);
    connect(g, &m, &b, 0, 0);
    uint32_t config = changes(state) | UPDATE_NOC1;
    start(g, &b, 40, FROM_STREAM | TO_SOFTWARE | config);
    start(g, &m, 40, FROM_STREAM | TO_STREAM | config);
    start(g, &a, 40, FROM_SOFTWARE | TO_STREAM | config);
    wg_grid_advance(g, 200);
    carry(g, &a, &b, 40);
    assert_int_equal(state_of(g, m.x, m.y, m.stream), 0);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

/* One stream to the same stream of six tiles; the slowest sets the pace. */
static void test_multicast(void **state)
{
    const end a = {2, 2, 1, 0x4000, 0x400, 0x8000}, b = {3, 3, 30, 0x10000, 0x200, 0x18000};
    wg_grid *g = chip(state, false, &a, 1);
    buffer(g, &a);
    connect(g, &a, &b, 0, 0);
    reg(g, a.x, a.y, a.stream, WG_SR_MCAST_DEST, at(4, 5) | 1 << 12 | 1 << 15);
    reg(g, a.x, a.y, a.stream, WG_SR_MCAST_DEST_NUM, 6);
    for (unsigned i = 0; i < 6; i++) {
        end e = b;
        e.x += i % 2;
        e.y += i / 2;
        put(g, e.x, e.y, NIU1 + 0x100, 0);
        reg(g, e.x, e.y, 0, WG_SR_HEADER_FORMAT, 16 | 16 << 7);
        buffer(g, &e);
        reg(g, e.x, e.y, e.stream, WG_SR_SRC, place_on(g, 1, &a) | a.stream << 12 | i << 18);
        start(g, &e, 12, FROM_STREAM | TO_SOFTWARE | UPDATE_NOC1 | changes(state));
    }
    start(g, &a, 12, FROM_SOFTWARE | TO_STREAM | UPDATE_NOC1 | changes(state));
    wg_grid_advance(g, 500);
    unsigned in = 0, out[6] = {0}, all = 0;
    for (unsigned rounds = 0; all < 6 * 12 && rounds < 2000; rounds++) {
        while (in < 12 && push(g, &a, in, size_of(in)))
            in++;
        wg_grid_advance(g, 60);
        for (unsigned i = 0; i < 6; i++) {
            end e = b;
            e.x += i % 2;
            e.y += i / 2;
            if (rounds % (i + 1) == 0 && out[i] < 12 && pull(g, &e, out[i], size_of(out[i]))) {
                out[i]++;
                all++;
            }
        }
    }
    assert_int_equal(all, 72);
    wg_grid_advance(g, 1000);
    assert_int_equal(state_of(g, a.x, a.y, a.stream), 0);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

/* Pairs of streams into one: two messages of each stream of a group, then the other group. */
static void test_gather(void **state)
{
    static const uint8_t order[2][16] = {{0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3},
                                         {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}};
    for (unsigned by_group = 0; by_group < 2; by_group++) {
        const end out = {2, 2, 4, 0, 0, 0};
        end in[4];
        wg_grid *g = chip(state, false, &out, 1);
        for (unsigned i = 0; i < 4; i++) {
            in[i] = (end){2, 2, 16 + i, 0x4000 + 0x400 * i, 0x400, 0x8000 + 0x100 * i};
            buffer(g, &in[i]);
            reg(g, 2, 2, in[i].stream, WG_SR_DEST, 2 | out.stream << 12);
            start(g, &in[i], 4, FROM_SOFTWARE | TO_GATHER);
        }
        reg(g, 2, 2, out.stream, WG_SR_SRC_MASK, 15 << 16);
        reg(g, 2, 2, out.stream, WG_SR_GATHER,
            bh(state) ? 2u | (by_group ? 0 : 1u << 12) | 2u << 13 | 1u << 16 : 2 | 8);
        if (!bh(state))
            reg(g, 2, 2, out.stream, WG_SR_GATHER_CLEAR, 2 | (by_group ? 0 : 1u << 16));
        start(g, &out, 16, GATHERS | TO_SOFTWARE);
        wg_grid_advance(g, 20);
        for (unsigned i = 4; i-- > 0;) /* the later streams have theirs first */
            for (unsigned n = 0; n < 4; n++) {
                assert_true(push(g, &in[i], 10 * i + n, 32));
                wg_grid_advance(g, 5);
            }
        unsigned next[4] = {0};
        for (unsigned n = 0; n < 16; n++) {
            unsigned from = order[by_group][n];
            end e = in[from];
            e.stream = out.stream;
            wg_grid_advance(g, 20);
            assert_true(pull(g, &e, 10 * from + next[from]++, 32));
        }
        wg_grid_advance(g, 50);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(see(g, 2, 2, in[i].stream, WG_SR_RD_PTR), 8);
        assert_int_equal(state_of(g, 2, 2, out.stream), 0);
        assert_int_equal(state_of(g, 2, 2, in[3].stream), 0);
        assert_int_equal(findings_of(g), 0);
        wg_grid_destroy(g);
    }
}

/* Into an array in DRAM, headers into another; software announces that the buffer is ready. */
static void test_to_dram(void **state)
{
    const end a = {2, 2, 8, 0x4000, 0x400, 0x8000};
    wg_grid *g = chip(state, false, &a, 1);
    const uint64_t to = UINT64_C(0x7000000), headers = UINT64_C(0x7100000);
    buffer(g, &a);
    reg(g, 2, 2, 8, WG_SR_DEST, at(0, 0));
    reg(g, 2, 2, 8, WG_SR_DEST_BUF_START, (uint32_t)(to >> 4) & 0x1FFFF);
    reg(g, 2, 2, 8, WG_SR_DEST_BUF_START_HI, (uint32_t)(to >> 21));
    reg(g, 2, 2, 8, WG_SR_DEST_INFO_WR_PTR, (uint32_t)(headers >> 4) & 0x1FFFF);
    reg(g, 2, 2, 8, WG_SR_DEST_INFO_WR_PTR_HI, (uint32_t)(headers >> 21));
    reg(g, 2, 2, 8, WG_SR_SCRATCH, 5);
    reg(g, 2, 2, 8, WG_SR_PHASE, 3);
    start(g, &a, 2, FROM_SOFTWARE | TO_STREAM | dest_unchecked(state) | changes(state));
    wg_grid_advance(g, 20);
    assert_true(push(g, &a, 0, 64));
    assert_true(push(g, &a, 1, 128));
    wg_grid_advance(g, 500);
    assert_int_equal(get(g, 0, 0, to), 0);
    reg(g, 2, 2, 8, WG_SR_READY_UPDATE, 3 << 6);
    wg_grid_advance(g, 500);
    for (uint32_t i = 0; i < 192; i++) {
        uint8_t b = 0;
        assert_int_equal(wg_grid_read(g, 0, 0, to + i, &b, 1), WG_OK);
        assert_int_equal(b, i < 64 ? byte_of(0, 64, i) : byte_of(1, 128, i - 64));
    }
    assert_int_equal(get(g, 0, 0, headers), get(g, 0, 0, to));
    assert_int_equal(get(g, 0, 0, headers + 16), get(g, 0, 0, to + 64));
    assert_int_equal(state_of(g, 2, 2, 8), 0);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

/* Two phases from L1, back to back: to nowhere, and to software. */
static void test_configuration_from_l1(void **state)
{
    const end e = {2, 2, 6, 0x4000, 0x400, 0x8000};
    wg_grid *g = chip(state, false, &e, 1);
    uint32_t misc = wg_overlay_number(wg_grid_tile(g, 2, 2)->tile->arch, WG_SR_MISC_CFG), once = bh(state) ? 2 : misc;
    uint32_t on = bh(state) ? 3 : FROM_SOFTWARE | 3 << 9;
    buffer(g, &e);
    const uint32_t blob[] = {1 | 1 << 12 | (bh(state) ? 2u : 1u) << 24, misc << 24 | (bh(state) ? FROM_SOFTWARE : on),
                             /* the second: no phase follows */
                             2 | 1 << 12, misc << 24 | FROM_SOFTWARE | TO_SOFTWARE | (bh(state) ? 0 : 1 << 10),
                             once << 24 | 2};
    assert_int_equal(wg_grid_write(g, 2, 2, 0x1000, blob, sizeof blob), WG_OK);
    reg(g, 2, 2, 6, WG_SR_CFG_HEADER, 1 << 24);
    reg(g, 2, 2, 6, WG_SR_CFG_PTR_BASE, 0xF00);
    reg(g, 2, 2, 6, WG_SR_CFG_PTR, 0x100);
    put(g, 2, 2, 0xFFB46000 + 4 * once, on);
    wg_grid_advance(g, 20);
    assert_int_equal(state_of(g, 2, 2, 6), RUNNING);
    assert_int_equal(see(g, 2, 2, 6, WG_SR_PHASE), 1);
    assert_true(push(g, &e, 0, 32));
    wg_grid_advance(g, 20);
    assert_int_equal(see(g, 2, 2, 6, WG_SR_PHASE), 3);
    assert_int_equal(see(g, 2, 2, 6, WG_SR_RD_PTR), 2);
    assert_true(push(g, &e, 1, 64));
    wg_grid_advance(g, 20);
    assert_true(pull(g, &e, 1, 64));
    wg_grid_advance(g, 20);
    assert_int_equal(state_of(g, 2, 2, 6), 0);
    assert_int_equal(see(g, 2, 2, 0, WG_SR_CFG_DONE), 1 << 6);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

/* A request by software delivers to a stream as another stream would. */
static void test_delivery(void **state)
{
    const end a = {2, 2, 0, 0, 0, 0}, b = {4, 3, 9, 0x10000, 0x200, 0x18000};
    wg_grid *g = chip(state, false, (end[]){a, b}, 2);
    buffer(g, &b);
    start(g, &b, 1, FROM_STREAM | TO_SOFTWARE | 1u << (bh(state) ? 13 : 14));
    for (uint32_t i = 0; i < 96; i++) {
        uint8_t v = byte_of(3, 96, i);
        assert_int_equal(wg_grid_write(g, 2, 2, 0x100 + i, &v, 1), WG_OK);
    }
    noc_request r = {.ctrl = N_WRITE,
                     .tag = 9 | 1 << 6 | 1 << 7 | 1 << 9,
                     .len = 64,
                     .data = b.headers >> 4,
                     .targ = 0x100,
                     .ret = b.buffer,
                     .targ_at = at(2, 2),
                     .ret_at = at(4, 3)};
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    assert_int_equal(see(g, 4, 3, 9, WG_SR_RECEIVED), 0);
    r.tag = 9 | 1 << 6 | 1 << 8;
    r.len = 32;
    r.targ = 0x140;
    r.ret = b.buffer + 64;
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    assert_true(pull(g, &b, 3, 96));
    wg_grid_advance(g, 500);
    assert_int_equal(state_of(g, 4, 3, 9), 0);
    wg_grid_destroy(g);
}

/* A core that polls for messages long before the first arrives, and removes them. */
static void test_core_polls(void **state)
{
    const end a = {2, 2, 20, 0x4000, 0x400, 0x8000}, b = {4, 3, 9, 0x10000, 0x200, 0x18000};
    wg_grid *g = chip(state, false, (end[]){a, b}, 2);
    buffer(g, &a);
    buffer(g, &b);
    connect(g, &a, &b, 0, 0);
    start(g, &b, 3, FROM_STREAM | TO_SOFTWARE | UPDATE_NOC1 | changes(state));
    start(g, &a, 3, FROM_SOFTWARE | TO_STREAM | UPDATE_NOC1 | changes(state));
    rv p = rv_at(0x1000);
    for (unsigned n = 0; n < 3; n++) {
        rv_wait_word(&p, (uint32_t)address_of(g, 4, 3, 9, WG_SR_RECEIVED), 1);
        rv_store(&p, (uint32_t)address_of(g, 4, 3, 9, WG_SR_INFO_CLEAR), 1);
        rv_store(&p, (uint32_t)address_of(g, 4, 3, 9, WG_SR_DATA_CLEAR), 1);
        rv_store(&p, 0x3000 + 16 * n, 77);
    }
    rv_done(&p);
    assert_int_equal(wg_grid_write(g, 4, 3, 0x1000, p.word, 4 * p.n), WG_OK);
    assert_int_equal(wg_core_release(wg_grid_tile(g, 4, 3), WG_CORE_B, 0x1000), WG_OK);
    for (unsigned n = 0; n < 3; n++) {
        wg_grid_advance(g, 1000000);
        assert_int_equal(get(g, 4, 3, 0x3000 + 16 * n), 0);
        assert_true(push(g, &a, n, 64));
        wg_grid_advance(g, 1000);
        assert_int_equal(get(g, 4, 3, 0x3000 + 16 * n), 77);
    }
    wg_grid_advance(g, 1000);
    assert_int_equal(state_of(g, 4, 3, 9), 0);
    assert_int_equal(state_of(g, 2, 2, 20), 0);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

/* Any value in any register: nothing breaks, and ticking every cycle makes no difference. */
static void test_random(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t hash[2] = {0};
        for (unsigned lockstep = 0; lockstep < 2; lockstep++) {
            const end a = {2, 2, 0, 0, 0, 0}, b = {3, 2, 0, 0, 0, 0};
            wg_grid *g = chip(state, lockstep, (end[]){a, b}, 2);
            wg_rng rng = {seed * 0x9E3779B97F4A7C15};
            for (unsigned i = 0; i < 400; i++) {
                unsigned x = 2 + (unsigned)wg_rng_next(&rng) % 2, stream = (unsigned)wg_rng_next(&rng) % 3 * 4;
                wg_stream_register r = (wg_stream_register)(wg_rng_next(&rng) % WG_STREAM_REGISTERS);
                uint32_t value = (uint32_t)wg_rng_next(&rng) >> wg_rng_next(&rng) % 32;
                if (r == WG_SR_DEST || r == WG_SR_SRC)
                    value = at(2 + (value & 1), 2) | (value & 0x3000) << 1;
                if (wg_overlay_number(wg_grid_tile(g, x, 2)->tile->arch, r) < WG_OVERLAY_REGISTERS)
                    reg(g, x, 2, stream, r, value);
                if (i % 8 == 0)
                    reg(g, x, 2, stream, WG_SR_PHASE_ADVANCE, 1);
                wg_grid_advance(g, wg_rng_next(&rng) % 40);
            }
            hash[lockstep] = wg_grid_state_hash(g);
            for (unsigned i = 0; i < 2 * 12 * 320; i++)
                hash[lockstep] =
                    hash[lockstep] * 31 + get(g, 2 + i % 2, 2, 0xFFB40000 + i / 640 * 0x1000 + i / 2 % 320 * 4);
            wg_grid_destroy(g);
        }
        assert_true(hash[0] == hash[1]);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_core_polls, WG_BH | WG_WH, ""),
    WG_TEST(test_random, WG_BH | WG_WH, ""),
    WG_TEST(test_within_a_tile, WG_BH | WG_WH, ""),
    WG_TEST(test_between_tiles, WG_BH | WG_WH, ""),
    WG_TEST(test_relay, WG_BH | WG_WH, ""),
    WG_TEST(test_multicast, WG_BH | WG_WH, ""),
    WG_TEST(test_gather, WG_BH | WG_WH, ""),
    WG_TEST(test_to_dram, WG_BH | WG_WH, ""),
    WG_TEST(test_configuration_from_l1, WG_BH | WG_WH, ""),
    WG_TEST(test_delivery, WG_BH | WG_WH, ""),
};
WG_MAIN("streams", tests)
