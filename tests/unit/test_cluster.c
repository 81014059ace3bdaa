/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chips connected by Ethernet links: packets, register writes, raw frames, acknowledgements, links that are cut, hangs, and
 * equal results for any number of threads. Facts: EthernetTxRx.md of each architecture.
 */
#include "../support/cluster_rig.h"

#include "../support/forge.h"
#include "engine/snapshot.h"
#include "report/findings.h"

/* When the bytes have arrived: the timing described in eth_link.c. */
static uint64_t arrives(const rig *r, uint64_t c, uint32_t bytes)
{
    const wg_arch *a = wg_arch_of(r->arch);
    const wg_timing *t = &a->timing[WG_PROFILE_SILICON];
    const uint64_t fetched = c + (bytes + a->eth.l1_bytes - 1) / a->eth.l1_bytes;
    const uint64_t wire = (bytes + a->eth.frame + a->eth.header) * UINT64_C(100) / t->eth_rate;
    return (fetched * 10 + wire + 9) / 10 + t->eth_latency + (bytes + a->eth.l1_bytes - 1) / a->eth.l1_bytes;
}

/* ---- Packets --------------------------------------------------------------------------------------------------- */

static void test_packet(void **state)
{
    rig r = pair(state, 0);
    for (unsigned i = 0; i < 16; i++)
        set(&r, 0, DATA + 4 * i, 0xA0000 + i);
    pass(&r, 1000);
    send(&r, 0, 0, DATA, 64, DATA + 0x100, SEND_DATA);
    assert_true(busy(&r, 0, 0));
    const uint64_t at = arrives(&r, 1001, 64); /* a host's command at a boundary: as if processed in the cycle before */
    pass(&r, 3);
    assert_false(busy(&r, 0, 0));
    pass(&r, at - 1003);
    assert_int_equal(word(&r, 1, DATA + 0x100), 0); /* it arrives in the cycle that begins now */
    pass(&r, 1);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(word(&r, 1, DATA + 0x100 + 4 * i), 0xA0000 + i);
    assert_int_equal(word(&r, 0, txq(0, 0x30)), 1);
    assert_int_equal(word(&r, 0, txq(0, 0x34)), 1);
    assert_int_equal(word(&r, 0, txq(0, 0x3C)), 1);
    assert_int_equal(word(&r, 1, rxq(&r, 0, 0x28)), 1);
    assert_int_equal(word(&r, 1, rxq(&r, 0, 0x40)), 1); /* the next sequence number */
    assert_int_equal(word(&r, 1, rxq(&r, 0, 0x4C)), 0);
    /* The acknowledgement. */
    assert_int_equal(word(&r, 0, rxq(&r, 0, 0x44)), 0);
    pass(&r, 10000);
    assert_int_equal(word(&r, 0, rxq(&r, 0, 0x44)), 1);
    assert_int_equal(word(&r, 1, txq(0, 0x34)), 1);
    pass(&r, 100000);
    assert_int_equal(word(&r, 0, txq(0, 0x68)), 0); /* nothing is sent again … */
    assert_int_equal(word(&r, 1, txq(0, 0x34)), 1); /* … and nothing is acknowledged twice */
    wg_cluster_destroy(r.c);
}

/* A transfer longer than a packet arrives whole, at the link's rate. */
static void test_long(void **state)
{
    enum { BYTES = 64 * 1024 };
    rig r = pair(state, 0);
    static uint32_t data[BYTES / 4];
    unsigned x, y;
    for (unsigned i = 0; i < BYTES / 4; i++)
        data[i] = i * 2654435761u;
    place_of(r.g[0], CHANNEL_A, &x, &y);
    assert_int_equal(wg_grid_write(r.g[0], x, y, DATA - 0x10000, data, BYTES), WG_OK);
    send(&r, 0, 0, DATA - 0x10000, BYTES, DATA - 0x10000, SEND_DATA);
    const wg_arch *a = wg_arch_of(r.arch);
    const uint32_t packet = r.bh ? 4096 : 1488, packets = (BYTES + packet - 1) / packet,
                   wire = BYTES + packets * (a->eth.frame + a->eth.header);
    const uint64_t least =
        wire * UINT64_C(10) / a->timing[WG_PROFILE_SILICON].eth_rate + a->timing[WG_PROFILE_SILICON].eth_latency;
    pass(&r, least - 10);
    assert_int_equal(word(&r, 1, DATA - 0x10000 + BYTES - 4), 0);
    pass(&r, 300);
    static uint32_t got[BYTES / 4];
    place_of(r.g[1], CHANNEL_B, &x, &y);
    assert_int_equal(wg_grid_read(r.g[1], x, y, DATA - 0x10000, got, BYTES), WG_OK);
    assert_memory_equal(got, data, BYTES);
    assert_int_equal(word(&r, 0, txq(0, 0x34)), packets);
    assert_int_equal(word(&r, 0, txq(0, 0x30)), 1);
    wg_cluster_traffic t;
    assert_true(wg_cluster_traffic_at(r.c, 0, 1, &t));
    assert_int_equal(t.received, packets);
    assert_int_equal(t.received_bytes, BYTES);
    wg_cluster_destroy(r.c);
}

static void test_register(void **state)
{
    rig r = pair(state, 0);
    const uint32_t scratch = r.bh ? 0xFFB98214 : 0xFFB94084;
    set(&r, 0, txq(0, 0x44), 0x12345678);
    send(&r, 0, 0, 0, 0, scratch, SEND_REGISTER);
    pass(&r, 1000);
    assert_int_equal(word(&r, 1, scratch), 0x12345678);
    set(&r, 0, txq(0, 0x44), 1); /* an address without a register */
    send(&r, 0, 0, 0, 0, 0xFFB99F00, SEND_REGISTER);
    pass(&r, 1000);
    assert_int_equal(found(&r, 1, WG_F_NOC_UNMAPPED) + found(&r, 1, WG_F_UNIMPLEMENTED_REGISTER), 1);
    wg_cluster_destroy(r.c);
}

/* Raw frames are appended to a buffer, which wraps or fills. */
static void test_raw(void **state)
{
    rig r = pair(state, 0);
    const unsigned q = 1;
    for (unsigned i = 0; i < 32; i++)
        set(&r, 0, DATA + 4 * i, 0xB0000 + i);
    set(&r, 1, rxq(&r, q, 0x00), 0);
    set(&r, 1, rxq(&r, q, 0x0C), DATA >> 4);
    set(&r, 1, rxq(&r, q, 0x10), 10); /* 160 bytes */
    send(&r, 0, q, DATA, 100, 0, SEND_RAW);
    pass(&r, 1000);
    assert_int_equal(word(&r, 1, rxq(&r, q, 0x08)), 100);
    for (unsigned i = 0; i < 25; i++)
        assert_int_equal(word(&r, 1, DATA + 4 * i), 0xB0000 + i);
    send(&r, 0, q, DATA, 100, 0, SEND_RAW);
    pass(&r, 1000);
    assert_int_equal(word(&r, 1, rxq(&r, q, 0x08)), 160); /* full */
    assert_int_equal(word(&r, 1, DATA + 100 + 56), 0xB0000 + 14);
    assert_int_equal(word(&r, 1, rxq(&r, q, 0x4C)), 0);
    send(&r, 0, q, DATA, 16, 0, SEND_RAW);
    pass(&r, 1000);
    assert_int_equal(word(&r, 1, rxq(&r, q, 0x4C)), 1); /* dropped */
    set(&r, 1, rxq(&r, q, 0x00), 4);
    set(&r, 1, rxq(&r, q, 0x08), 152);
    send(&r, 0, q, DATA, 16, 0, SEND_RAW);
    pass(&r, 1000);
    assert_int_equal(word(&r, 1, rxq(&r, q, 0x08)), 8);
    assert_int_equal(word(&r, 1, DATA + 4), 0xB0003);
    set(&r, 1, rxq(&r, q, 0x08), 144); /* up to the very end: the next one is written at the beginning */
    send(&r, 0, q, DATA, 16, 0, SEND_RAW);
    pass(&r, 1000);
    assert_int_equal(word(&r, 1, rxq(&r, q, 0x08)), 0);
    if (r.bh) { /* nothing is stripped: the 14-byte header comes first */
        set(&r, 1, rxq(&r, q, 0x18), 0);
        set(&r, 1, rxq(&r, q, 0x08), 0);
        set(&r, 0, 0xFFB98218, 0x33445566); /* MAC_DA 11:22:33:44:55:66 */
        set(&r, 0, 0xFFB9821C, 0x1122);
        set(&r, 0, 0xFFB98220, 0x1AF60001);
        send(&r, 0, q, DATA, 16, 0, SEND_RAW);
        pass(&r, 1000);
        assert_int_equal(word(&r, 1, rxq(&r, q, 0x08)), 30);
        assert_int_equal(word(&r, 1, DATA), 0x44332211);
        assert_int_equal(word(&r, 1, DATA + 12), 0x0000F61A);
    }
    wg_cluster_destroy(r.c);
}

/* A queue in raw mode does not understand TT-link packets: they are sent again and again. */
static void test_resend(void **state)
{
    rig r = pair(state, 0);
    set(&r, 1, rxq(&r, 0, 0x00), 0);
    set(&r, 0, txq(0, 0x48), 3000);
    send(&r, 0, 0, DATA, 32, DATA, SEND_DATA);
    set(&r, 0, DATA, 77); /* read again for every packet */
    pass(&r, 10000);
    assert_int_equal(word(&r, 0, txq(0, 0x68)), 3);
    assert_int_equal(word(&r, 1, rxq(&r, 0, 0x4C)), 4);
    assert_int_equal(found(&r, 1, WG_F_ETH_COMMAND), 1);
    set(&r, 1, rxq(&r, 0, 0x00), 2);
    set(&r, 0, DATA, 78);
    pass(&r, 10000);
    assert_int_equal(word(&r, 0, txq(0, 0x68)), 4);
    assert_int_equal(word(&r, 1, DATA), 78);
    wg_cluster_destroy(r.c);
}

/* An acknowledgement that is too late makes a queue send data again that has already arrived: it is dropped. */
static void test_duplicates(void **state)
{
    rig r = pair(state, 0);
    const uint32_t sum = r.bh ? 0 : 0xFFB94080; /* WH: a register to which a write adds */
    set(&r, 0, txq(0, 0x48), 600);
    set(&r, 0, txq(0, 0x44), 5);
    for (unsigned i = 0; i < 3; i++) {
        send(&r, 0, 0, DATA, 16, r.bh ? DATA : sum, r.bh ? SEND_DATA : SEND_REGISTER);
        pass(&r, 200);
    }
    pass(&r, 20000);
    assert_in_range(word(&r, 0, txq(0, 0x68)), 1, 30);
    assert_int_equal(word(&r, 1, rxq(&r, 0, 0x40)), 3);
    assert_in_range(word(&r, 1, rxq(&r, 0, 0x4C)), 1, 90);
    assert_int_equal(word(&r, 1, rxq(&r, 0, 0x28)), 3 + word(&r, 1, rxq(&r, 0, 0x4C)));
    if (sum)
        assert_int_equal(word(&r, 1, sum), 15);
    wg_cluster_destroy(r.c);
}

/* One frame in three is lost: all TT-link packets still arrive, in order; lost raw frames do not. */
static void test_lose(void **state)
{
    rig r = cluster_of(wg_test_arch(state), 2, 1);
    const wg_cluster_link l = {.struct_size = sizeof l, .end = {{0, CHANNEL_A}, {1, CHANNEL_B}}, .lose_every = {3, 0}};
    wg_cluster_traffic sent;
    assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_OK);
    set(&r, 0, txq(0, 0x48), 1500);
    for (uint32_t i = 0; i < 8; i++) {
        set(&r, 0, DATA + 0x100 * i, 100 + i);
        send(&r, 0, 0, DATA + 0x100 * i, 16, DATA + 16 * i, SEND_DATA);
        pass(&r, 40);
    }
    pass(&r, 60000);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(word(&r, 1, DATA + 16 * i), 100 + i);
    assert_true(wg_cluster_traffic_at(r.c, 0, 0, &sent));
    assert_true(sent.lost >= 2 && sent.lost <= sent.sent / 2 && sent.resent >= 1);
    assert_true(wg_cluster_traffic_at(r.c, 0, 1, &sent));
    assert_int_equal(sent.lost, 0);
    wg_cluster_destroy(r.c);
}

/* Wormhole: an RX queue that accepts no packets gets none; reliable data arrives later. */
static void test_back_pressure(void **state)
{
    rig r = pair(state, 0);
    set(&r, 0, txq(0, 0x48), 1500);
    set(&r, 1, rxq(&r, 0, 0x00), 2 | 8);
    set(&r, 0, DATA, 55);
    send(&r, 0, 0, DATA, 16, DATA, SEND_DATA);
    pass(&r, 10000);
    assert_int_equal(word(&r, 1, DATA), 0);
    assert_int_equal(word(&r, 1, rxq(&r, 0, 0x28)), 0); /* no packet was counted */
    set(&r, 1, rxq(&r, 0, 0x00), 2);
    pass(&r, 3000);
    assert_int_equal(word(&r, 1, DATA), 55);
    wg_cluster_destroy(r.c);
}

/* More than a link's rings hold at once passes through them. */
static void test_rings(void **state)
{
    enum { BYTES = 60000 / 16 * 16, ROUNDS = 8 };
    static uint8_t data[BYTES], got[BYTES];
    rig r = pair(state, 0);
    uint64_t s = 3;
    unsigned x, y;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < BYTES; i++)
            data[i] = (uint8_t)draw(&s);
        place_of(r.g[0], CHANNEL_A, &x, &y);
        assert_int_equal(wg_grid_write(r.g[0], x, y, DATA - 0x10000, data, BYTES), WG_OK);
        send(&r, 0, 0, DATA - 0x10000, BYTES, DATA - 0x10000, SEND_DATA);
        pass(&r, 10000);
        place_of(r.g[1], CHANNEL_B, &x, &y);
        assert_int_equal(wg_grid_read(r.g[1], x, y, DATA - 0x10000, got, BYTES), WG_OK);
        assert_memory_equal(got, data, BYTES);
    }
    assert_int_equal(word(&r, 0, txq(0, 0x68)), 0);
    wg_cluster_destroy(r.c);
}

/* 128 packets may be unacknowledged; then commands wait. */
static void test_window(void **state)
{
    rig r = pair(state, 0);
    set(&r, 1, txq(0, 0x00), 0); /* no updates */
    unsigned sent = 0;
    for (; sent < 200; sent++) {
        send(&r, 0, 0, DATA, 16, DATA + 16 * sent, SEND_DATA);
        pass(&r, 100);
        if (busy(&r, 0, 0))
            break;
    }
    assert_int_equal(sent, 128);
    const size_t before = found(&r, 0, WG_F_ETH_COMMAND);
    send(&r, 0, 0, DATA, 16, DATA, SEND_DATA);
    assert_int_equal(found(&r, 0, WG_F_ETH_COMMAND), before + 1);
    set(&r, 1, txq(0, 0x00), 1);
    pass(&r, 10000);
    assert_false(busy(&r, 0, 0));
    assert_int_equal(word(&r, 1, rxq(&r, 0, 0x28)), 129);
    wg_cluster_destroy(r.c);
}

/* A register write gives a command to the queue at the other end, while nothing else happens on any chip. */
static void test_remote_command(void **state)
{
    rig r = pair(state, 0);
    set(&r, 1, DATA, 0x5EED);
    set(&r, 1, txq(0, 0x14), DATA);
    set(&r, 1, txq(0, 0x18), 16);
    set(&r, 1, txq(0, 0x1C), DATA + 0x80);
    set(&r, 0, txq(0, 0x44), SEND_DATA);
    send(&r, 0, 0, 0, 0, txq(0, 0x04), SEND_REGISTER);
    pass(&r, 2000);
    assert_int_equal(word(&r, 0, DATA + 0x80), 0x5EED);
    /* A run does not end while a frame is in flight. */
    set(&r, 1, DATA, 0x5EEE);
    set(&r, 1, txq(0, 0x04), SEND_DATA);
    const uint64_t before = wg_cluster_cycle(r.c);
    wg_stop stop;
    assert_int_equal(wg_cluster_run(r.c, 1000000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    assert_int_equal(word(&r, 0, DATA + 0x80), 0x5EEE);
    assert_in_range(wg_cluster_cycle(r.c) - before, 300, 3 * wg_cluster_window(r.c));
    wg_cluster_destroy(r.c);
}

/* ---- Links up and down ------------------------------------------------------------------------------------------ */

/* The state that tt-metal's is_link_up() and hosts read. */
static bool shown_up(const rig *r, unsigned chip)
{
    if (!r->bh)
        return word(r, chip, 0x1ED4) == 6 && word(r, chip, 0x1104) == 1;
    return word(r, chip, 0xFFB9800C) == 1 && word(r, chip, 0x7CC04) == 1 && word(r, chip, 0x7CE04) == 1;
}

static void test_status(void **state)
{
    rig r = pair(state, 0);
    assert_true(shown_up(&r, 0));
    assert_true(shown_up(&r, 1));
    assert_int_equal(word(&r, 0, r.bh ? 0x7CFE0 : 0x1FF0), r.bh ? 0x05050000 : 5);
    assert_int_equal(word(&r, 1, r.bh ? 0x7CFE0 : 0x1FF0), r.bh ? 0x02020000 : 2);
    assert_int_equal(word(&r, 0, r.bh ? 0x7CFF8 : 0x1FE0), 2);
    wg_cluster_destroy(r.c);
    /* Another channel of the same chip has no link. */
    r = pair(state, 0);
    unsigned x, y;
    place_of(r.g[0], CHANNEL_A + 1, &x, &y);
    assert_int_equal(get(r.g[0], x, y, r.bh ? 0x7CC04 : 0x1104), r.bh ? 2 : 3);
    wg_cluster_destroy(r.c);
}

static void test_cut(void **state)
{
    enum { CUT = 5000 };
    rig r = pair(state, CUT);
    set(&r, 0, DATA, 1);
    send(&r, 0, 0, DATA, 16, DATA, SEND_DATA);
    pass(&r, 4000);
    assert_int_equal(word(&r, 1, DATA), 1);
    set(&r, 0, DATA, 2);
    pass(&r, CUT - 4000 - 100);
    send(&r, 0, 0, DATA, 16, DATA, SEND_DATA); /* on its way when the link is cut */
    pass(&r, 100);
    assert_true(shown_up(&r, 0));
    pass(&r, 1);
    assert_false(shown_up(&r, 0));
    assert_false(shown_up(&r, 1));
    pass(&r, 100000);
    assert_int_equal(word(&r, 1, DATA), 1);
    assert_int_equal(word(&r, 0, txq(0, 0x68)), 0);
    assert_int_equal(found(&r, 0, WG_F_ETH_LINK), 0);
    send(&r, 0, 0, DATA, 16, DATA, SEND_DATA);
    assert_int_equal(found(&r, 0, WG_F_ETH_LINK), 1);
    pass(&r, 10);
    assert_false(busy(&r, 0, 0)); /* one packet waits for a link … */
    send(&r, 0, 0, DATA, 16, DATA, SEND_DATA);
    pass(&r, 10000);
    assert_true(busy(&r, 0, 0)); /* … and the next command waits for room */
    assert_int_equal(word(&r, 1, DATA), 1);
    wg_cluster_traffic t;
    assert_true(wg_cluster_traffic_at(r.c, 0, 0, &t));
    assert_int_equal(t.lost, 1);
    wg_stop stop; /* no core runs, but a command waits forever */
    assert_int_equal(wg_cluster_run(r.c, 100000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_HUNG);
    wg_cluster_destroy(r.c);
}

static void test_comes_up(void **state)
{
    rig r = cluster_of(wg_test_arch(state), 2, 1);
    const wg_cluster_link link = {sizeof link, {{0, CHANNEL_A}, {1, CHANNEL_B}}, 3000, 0};
    assert_int_equal(wg_cluster_connect(r.c, &link, NULL), WG_OK);
    set(&r, 0, DATA, 9);
    assert_false(shown_up(&r, 0));
    send(&r, 0, 0, DATA, 16, DATA, SEND_DATA);
    pass(&r, 3001);
    assert_true(shown_up(&r, 0));
    assert_int_equal(word(&r, 1, DATA), 0);
    pass(&r, 1000);
    assert_int_equal(word(&r, 1, DATA), 9);
    wg_cluster_destroy(r.c);
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static void eth_boot(const rig *r, unsigned chip, const rv *p)
{
    unsigned x, y;
    place_of(r->g[chip], channel_of(chip), &x, &y);
    assert_int_equal(wg_grid_write(r->g[chip], x, y, p->base, p->word, 4 * p->n), WG_OK);
    set(r, chip, r->bh ? 0xFFB14000 : 0xFFB9409C, p->base);
    set(r, chip, SOFT_RESET, word(r, chip, SOFT_RESET) & ~UINT32_C(0x800));
}

static void wait_for(rv *p, uint32_t value) { rv_wait_word(p, DATA + 0x40, value); }

static void send_word(rv *p, uint32_t value)
{
    rv_store(p, DATA, value);
    rv_fence(p); /* the store arrives before the command */
    rv_li(p, T1, DATA);
    rv_lw(p, A0, 0, T1);
    rv_add(p, A0, A0, A0);
    rv_store(p, txq(0, 0x14), DATA);
    rv_store(p, txq(0, 0x18), 16);
    rv_store(p, txq(0, 0x1C), DATA + 0x40);
    rv_store(p, txq(0, 0x04), SEND_DATA);
}

static wg_stop run(const rig *r, uint64_t cycles)
{
    wg_stop stop;
    assert_int_equal(wg_cluster_run(r->c, cycles, &stop), WG_OK);
    return stop;
}

static void ping_pong(const rig *r, unsigned rounds, bool answers)
{
    rv ping = rv_at(CODE), pong = rv_at(CODE);
    for (unsigned i = 1; i <= rounds; i++) {
        send_word(&ping, i);
        wait_for(&ping, 100 + i);
        wait_for(&pong, i);
        if (answers || i < rounds)
            send_word(&pong, 100 + i);
    }
    rv_done(&ping);
    rv_done(&pong);
    eth_boot(r, 0, &ping);
    eth_boot(r, 1, &pong);
}

static void test_programs(void **state)
{
    rig r = pair(state, 0);
    ping_pong(&r, 3, true);
    assert_int_equal(run(&r, 1000000), WG_STOP_DONE);
    assert_int_equal(word(&r, 1, DATA + 0x40), 3);
    assert_int_equal(word(&r, 0, DATA + 0x40), 103);
    assert_in_range(wg_cluster_cycle(r.c), 6 * 350, 6 * 700);
    assert_int_equal(wg_cluster_cycle(r.c) % wg_cluster_window(r.c), 0);
    wg_cluster_destroy(r.c);
}

/* Chip 1 never answers, so both wait for each other; nothing else can happen. */
static void test_hang(void **state)
{
    rig r = pair(state, 0);
    ping_pong(&r, 2, false);
    assert_int_equal(run(&r, 1000000), WG_STOP_HUNG);
    assert_in_range(wg_cluster_cycle(r.c), 2000, 100000);
    wg_cluster_destroy(r.c);
    /* The cut takes the answer away, long after both started to wait. */
    r = pair(state, 400000);
    ping_pong(&r, 2, false);
    assert_int_equal(run(&r, 1000000), WG_STOP_HUNG);
    assert_in_range(wg_cluster_cycle(r.c), 400000, 420000);
    wg_cluster_destroy(r.c);
}

static uint64_t hash(const rig *r)
{
    uint64_t h;
    assert_int_equal(wg_cluster_state_hash(r->c, &h), WG_OK);
    return h;
}

/* run(n) equals n × run(1), in windows of any length. */
static void test_lengths(void **state)
{
    static const unsigned step[] = {1, 7, 351, 1000, 100000};
    uint64_t first = 0;
    for (unsigned i = 0; i < sizeof step / sizeof *step; i++) {
        rig r = pair(state, 6000);
        ping_pong(&r, 6, true);
        for (uint64_t left = 10000; left;) {
            const uint64_t n = left < step[i] ? left : step[i];
            pass(&r, n);
            left -= n;
        }
        if (!i)
            first = hash(&r);
        assert_int_equal(hash(&r), first);
        wg_cluster_destroy(r.c);
    }
}

/* A snapshot with frames in flight continues identically. */
static void test_snapshot(void **state)
{
    for (uint64_t at = 900; at < 2000; at += 217) {
        rig a = pair(state, 0), b = pair(state, 0);
        ping_pong(&a, 4, true);
        pass(&a, at);
        const size_t bytes = wg_cluster_snapshot_size(a.c);
        char *copy = malloc(bytes);
        assert_non_null(copy);
        assert_int_equal(wg_cluster_snapshot(a.c, copy, bytes), WG_OK);
        assert_int_equal(wg_cluster_restore(b.c, copy, bytes - 1), WG_ERR_SNAPSHOT);
        assert_int_equal(wg_cluster_restore(b.c, copy, bytes), WG_OK);
        assert_int_equal(wg_cluster_cycle(b.c), at);
        assert_int_equal(run(&a, 1000000), WG_STOP_DONE);
        assert_int_equal(run(&b, 1000000), WG_STOP_DONE);
        assert_int_equal(wg_cluster_cycle(a.c), wg_cluster_cycle(b.c));
        assert_int_equal(hash(&a), hash(&b));
        assert_int_equal(word(&b, 0, DATA + 0x40), 104);
        free(copy);
        wg_cluster_destroy(a.c);
        wg_cluster_destroy(b.c);
    }
}

/* A forged link is refused or harmless. */
static void test_forged(void **state)
{
    uint64_t s = 11;
    unsigned taken = 0;
    const unsigned rounds = (unsigned)wg_test_rounds(300, 20000);
    for (unsigned i = 0; i < rounds; i++) {
        rig r = pair(state, 0);
        set(&r, 0, txq(0, 0x6C), 7);
        for (unsigned k = 0; k < 5; k++) {
            send(&r, 0, 0, DATA, 256, DATA, SEND_DATA);
            send(&r, 0, 1, DATA, 64, 0, SEND_RAW);
            send(&r, 1, 0, DATA, 2048, DATA, SEND_DATA);
            pass(&r, 50);
        }
        wg_device *dev = tile(&r, 0);
        const size_t size = wg_snapshot_size(dev),
                     at = FORGE_HEADER + sizeof(wg_tile) - WG_TILE_STATE_OFFSET + wg_l1_bytes(dev);
        char *copy = malloc(size);
        assert_non_null(copy);
        assert_int_equal(wg_snapshot(dev, copy, size), WG_OK);
        for (unsigned n = 0; n <= i % 3; n++) {
            static const size_t spot[] = {0, offsetof(wg_eth_link, tx), offsetof(wg_eth_link, in),
                                          offsetof(wg_eth_link, out)};
            const size_t where = at + spot[draw(&s) % 4] + draw(&s) % (draw(&s) % 2 ? 64 : 512);
            copy[where] = (char)(draw(&s) % 3 ? copy[where] ^ (1 << draw(&s) % 8) : (int)draw(&s));
        }
        forge_sum(copy, wg_snapshot_bytes(dev));
        if (wg_restore(dev, copy, size) == WG_OK) {
            taken++;
            (void)wg_cluster_advance(r.c, 20000);
        }
        free(copy);
        wg_cluster_destroy(r.c);
    }
    assert_in_range(taken, rounds / 10, rounds - 1);
}

/* ---- Mistakes ------------------------------------------------------------------------------------------------------ */

static void test_mistakes(void **state)
{
    rig r = cluster_of(wg_test_arch(state), 3, 1);
    const unsigned channels = r.bh ? 14 : 16;
    wg_cluster_link l = {sizeof l, {{0, 0}, {1, 0}}, 0, 0};
    unsigned number = 9;
    assert_int_equal(wg_cluster_connect(r.c, &l, &number), WG_OK);
    assert_int_equal(number, 0);
    assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_ERR_ARGUMENT); /* taken */
    l = (wg_cluster_link){sizeof l, {{0, 1}, {3, 0}}, 0, 0};
    assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_ERR_ARGUMENT); /* no such chip */
    l = (wg_cluster_link){sizeof l, {{0, 1}, {1, channels}}, 0, 0};
    assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_ERR_ARGUMENT); /* no such channel */
    l = (wg_cluster_link){sizeof l, {{0, 1}, {0, 1}}, 0, 0};
    assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_ERR_ARGUMENT); /* with itself */
    l = (wg_cluster_link){sizeof l, {{0, 1}, {0, 2}}, 10, 5};
    assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_ERR_ARGUMENT); /* cut before it is up */
    l = (wg_cluster_link){sizeof l, {{0, 1}, {0, 2}}, 0, 0};
    assert_int_equal(wg_cluster_connect(r.c, &l, &number), WG_OK); /* two channels of one chip */
    assert_int_equal(number, 1);
    assert_int_equal(wg_cluster_place(r.c, 0, r.g[0]), WG_ERR_STATE);
    assert_int_equal(wg_cluster_place(r.c, 3, r.g[0]), WG_ERR_ARGUMENT);
    pass(&r, 10);
    l = (wg_cluster_link){sizeof l, {{2, 1}, {0, 3}}, 0, 0};
    assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_ERR_STATE); /* too late */
    assert_true(strlen(wg_cluster_error(r.c)) > 10);
    wg_cluster_destroy(r.c);
}

/* Thirty-two idle chips take neither time nor tiles. */
static void test_idle(void **state)
{
    rig r = {.c = NULL};
    const wg_grid_desc chip = {.struct_size = sizeof chip, .arch = wg_test_arch(state)};
    const wg_cluster_desc desc = {.struct_size = sizeof desc, .chips = 32, .chip = &chip};
    assert_int_equal(wg_cluster_create(&desc, &r.c), WG_OK);
    for (unsigned i = 0; i < 32; i++) {
        const wg_cluster_link l = {sizeof l, {{i, 0}, {(i + 1) % 32, 1}}, 0, 0};
        assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_OK);
    }
    pass(&r, UINT64_C(1000000000000));
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(wg_cluster_chip(r.c, i)->made_tiles, 0);
    wg_cluster_destroy(r.c);
}

static const wg_test tests[] = {
    WG_TEST(test_packet, WG_BH | WG_WH, ""),
    WG_TEST(test_long, WG_BH | WG_WH, ""),
    WG_TEST(test_register, WG_BH | WG_WH, ""),
    WG_TEST(test_raw, WG_BH | WG_WH, ""),
    WG_TEST(test_resend, WG_BH | WG_WH, ""),
    WG_TEST(test_window, WG_BH | WG_WH, ""),
    WG_TEST(test_duplicates, WG_BH | WG_WH, ""),
    WG_TEST(test_lose, WG_BH | WG_WH, ""),
    WG_TEST(test_back_pressure, WG_WH, ""),
    WG_TEST(test_rings, WG_BH | WG_WH, ""),
    WG_TEST(test_remote_command, WG_BH | WG_WH, ""),
    WG_TEST(test_status, WG_BH | WG_WH, ""),
    WG_TEST(test_cut, WG_BH | WG_WH, ""),
    WG_TEST(test_comes_up, WG_BH | WG_WH, ""),
    WG_TEST(test_programs, WG_BH | WG_WH, ""),
    WG_TEST(test_hang, WG_BH | WG_WH, ""),
    WG_TEST(test_lengths, WG_BH | WG_WH, ""),
    WG_TEST(test_snapshot, WG_BH | WG_WH, ""),

    WG_TEST(test_forged, WG_BH | WG_WH, ""),
    WG_TEST(test_mistakes, WG_BH | WG_WH, ""),
    WG_TEST(test_idle, WG_BH | WG_WH, ""),
};
WG_MAIN("cluster", tests)
