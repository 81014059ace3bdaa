/* SPDX-License-Identifier: Apache-2.0 */
/* When NIUs and DRAM answer. */
#include "noc_rig.h"

static bool bh(void **state) { return wg_test_arch(state) == WG_ARCH_BH; }
static wg_grid *chip(void **state) { return noc_chip(wg_test_arch(state), 0); }

static void raw_places(wg_grid *g, unsigned x, unsigned y)
{
    put(g, x, y, NIU0 + 0x100, 0);
    put(g, x, y, NIU1 + 0x100, 0);
}

/* Cycles until two requests of (2, 2) for 8 KiB each, to DRAM tile (0, 0) or to L1 of a tile, are answered. */
static uint64_t answered_after(void **state, unsigned ctrl, uint64_t first, uint64_t second, bool dram)
{
    wg_grid *g = chip(state);
    raw_places(g, 2, 2);
    unsigned there = dram ? at(0, 0) : at(1, 3); /* around both axes */
    bool write = ctrl & N_WRITE;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t address = i ? second : first;
        noc_request r = {.initiator = i,
                         .ctrl = ctrl,
                         .len = 8192,
                         .targ = write ? 0x10000 : address,
                         .ret = write ? address : 0x10000,
                         .targ_at = write ? at(2, 2) : there,
                         .ret_at = write ? there : at(2, 2)};
        issue(g, 2, 2, &r);
    }
    cycle_of(g, 2, 2, NIU0 + 0x200 + (write ? 4 : 8), 2);
    uint64_t cycle = wg_grid_cycle(g);
    wg_grid_destroy(g);
    return cycle;
}

/* WH: the two halves of a DRAM tile's memory are two channels. A write is answered when the channel begins to take it. */
static void test_dram_time(void **state)
{
    uint64_t one = answered_after(state, N_READ, 0x10000, 0x20000, true);
    uint64_t two = answered_after(state, N_READ, 0x10000, 0x10000 + (UINT64_C(1) << 30), true);
    if (bh(state))
        assert_int_equal(one, two);
    else
        assert_in_range(one - two, 8192 / 32 - 180, 8192 / 22);
    uint64_t dram = answered_after(state, N_WRITE | N_ANSWER, 0x10000, 0x20000, true);
    uint64_t l1 = answered_after(state, N_WRITE | N_ANSWER, 0x30000, 0x40000, false);
    /* The second waits for the first: 8 KiB at the channel's rate instead of the link's. */
    assert_in_range(dram - l1, bh(state) ? 22 + 40 : 124 + 80, bh(state) ? 22 + 50 : 124 + 115);
}

/* Measured answers leave later than the documented stages imply. BH's hops are shorter by 0.4 cycles, 29 times. */
static void test_answer_time(void **state)
{
    for (unsigned write = 0; write < 2; write++) {
        uint64_t cycle[2];
        for (unsigned i = 0; i < 2; i++) {
            wg_grid_desc desc = {.struct_size = sizeof desc,
                                 .arch = wg_test_arch(state),
                                 .profile = i ? WG_PROFILE_SILICON : WG_PROFILE_DOCUMENTED};
            wg_grid *g = NULL;
            assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
            raw_places(g, 2, 2);
            noc_request r = {.ctrl = write ? N_WRITE | N_ANSWER : N_READ,
                             .len = 64,
                             .targ = 0x3000,
                             .ret = 0x4000,
                             .targ_at = write ? at(2, 2) : at(1, 3),
                             .ret_at = write ? at(1, 3) : at(2, 2)};
            issue(g, 2, 2, &r);
            cycle[i] = cycle_of(g, 2, 2, NIU0 + 0x200 + (write ? 4 : 8), 1);
            wg_grid_destroy(g);
        }
        if (bh(state))
            assert_in_range(cycle[1] - cycle[0] + 12, write ? 26 : 46, write ? 27 : 47);
        else
            assert_int_equal(cycle[1] - cycle[0], write ? 26 : 37);
    }
}

static wg_grid *measured(void **state)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .profile = WG_PROFILE_SILICON};
    wg_grid *g = NULL;
    assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
    return g;
}

/* ---- contended links ----------------------------------------------------------------------------------------- */

static unsigned longest(void **state) { return bh(state) ? 16384 : 8192; }
static unsigned row(void **state) { return bh(state) ? 2 : 1; } /* of Tensix tiles, with a DRAM tile at its left end */

static void send(void **state, wg_grid *g, unsigned x, unsigned to_x, unsigned to_y, uint32_t ctrl, unsigned packets)
{
    unsigned y = row(state);
    bool write = ctrl & N_WRITE;
    noc_request r = {.ctrl = ctrl,
                     .len = packets * longest(state),
                     .targ = 0x10000,
                     .ret = write ? 0x80000 + x * 16 : 0x80000,
                     .targ_at = write ? at(x, y) : at(to_x, to_y),
                     .ret_at = write ? at(to_x, to_y) : at(x, y)};
    raw_places(g, x, y);
    issue(g, x, y, &r);
}

/* Three flows merge one by one along a row: the last to join has every second turn, the others share the rest. */
static void test_turns(void **state)
{
    enum { PACKETS = 8 };
    wg_grid *g = measured(state);
    unsigned one = 257 * PACKETS, y = row(state);
    uint64_t ends[4] = {0};
    for (unsigned x = 1; x <= 3; x++)
        send(state, g, x, 4, y, N_WRITE | N_ANSWER, PACKETS);
    for (unsigned cycle = 0; cycle < 4 * one; cycle += 16) {
        wg_grid_advance(g, 16);
        for (unsigned x = 1; x <= 3; x++)
            if (!ends[x] && counter(g, x, y, 0, 1) == PACKETS)
                ends[x] = wg_grid_cycle(g);
    }
    assert_in_range(ends[3], 2 * one - 257, 2 * one + 400);
    assert_in_range(ends[2], 3 * one - 257, 3 * one + 400);
    assert_in_range(ends[1], 3 * one - 257, 3 * one + 400);
    wg_grid_destroy(g);
}

/*
 * Cycles of a small read from another DRAM tile, after `packets` reads of a neighbour that take the same path at first.
 */
static uint64_t behind(void **state, unsigned packets)
{
    wg_grid *g = measured(state);
    unsigned y = row(state);
    send(state, g, 2, 0, y, N_READ, packets);
    wg_grid_advance(g, 600);
    raw_places(g, 1, y);
    noc_request r = {
        .ctrl = N_READ, .len = 64, .targ = 0x10000, .ret = 0x20000, .targ_at = at(0, 5), .ret_at = at(1, y)};
    uint64_t began = wg_grid_cycle(g);
    issue(g, 1, y, &r);
    uint64_t took = cycle_of(g, 1, y, NIU0 + 0x208, 1) - began;
    wg_grid_destroy(g);
    return took;
}

/* A DRAM tile accepts 32 requests. Others stay in the network and block what follows them. */
static void test_dram_queue(void **state)
{
    uint64_t free = behind(state, 30), full = behind(state, 70);
    assert_in_range(free, 300, 600);
    assert_in_range(full, free + 300, free + 20000);
}

/* A tile multicasts `times`, once with each initiator; the last one ends the linked transaction that the others began. */
static void multicast(wg_grid *g, unsigned x, unsigned y, unsigned bytes, unsigned to, unsigned times)
{
    raw_places(g, x, y);
    for (unsigned i = 0; i < times; i++)
        issue(g, x, y,
              &(noc_request){.initiator = i,
                             .ctrl = N_WRITE | N_ANSWER | N_BROADCAST | N_RESERVE | (i + 1 < times ? N_LINKED : 0u),
                             .len = bytes,
                             .targ = 0x10000,
                             .ret = 0x20000,
                             .targ_at = at(x, y),
                             .ret_at = to});
}

/* Traffic that jams, run in steps of `step` cycles; from `saved` on in a second chip. */
static uint64_t jam(void **state, unsigned step, unsigned saved)
{
    enum { END = 12000 };
    wg_grid *g = measured(state);
    unsigned y = row(state);
    for (unsigned x = 1; x <= 4; x++)
        send(state, g, x, x & 1 ? 0 : 6, x & 1 ? 5 : y + 1, x & 2 ? N_READ : N_WRITE | N_ANSWER, 6);
    send(state, g, 6, 0, y, N_WRITE | N_ANSWER, 6);
    send(state, g, 7, 0, y, N_READ, 40);
    for (unsigned x = 2; x <= 4; x++)
        multicast(g, x, y, 64 * x, from_to(1, 2, 4, 4), x == 3 ? 2 : 4);
    for (uint64_t cycle = 0; cycle < END; cycle += step) {
        wg_grid_advance(g, step < END - cycle ? step : END - cycle);
        if (!saved || cycle < saved)
            continue;
        size_t bytes = wg_grid_snapshot_size(g);
        void *snapshot = malloc(bytes);
        assert_non_null(snapshot);
        assert_int_equal(wg_grid_snapshot(g, snapshot, bytes), WG_OK);
        wg_grid_destroy(g);
        g = measured(state);
        assert_int_equal(wg_grid_restore(g, snapshot, bytes), WG_OK);
        free(snapshot);
        saved = 0;
    }
    uint64_t hash = wg_grid_state_hash(g);
    wg_grid_destroy(g);
    return hash;
}

static void test_jam(void **state)
{
    uint64_t whole = jam(state, 12000, 0);
    assert_true(jam(state, 1, 0) == whole);
    assert_true(jam(state, 7, 0) == whole);
    assert_true(jam(state, 100, 900) == whole);
}

/* ---- measured on silicon -------------------------------------------------------------------------------------- */

/*
 * Cycles until `requests` equal requests of (2, 2), one from each initiator, are answered; `more`: bits of all but the
 * last.
 */
static uint64_t all_answered(void **state, wg_profile profile, noc_request r, unsigned requests, unsigned answers,
                             uint32_t more)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .profile = profile};
    wg_grid *g = NULL;
    assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
    raw_places(g, 2, 2);
    bool write = r.ctrl & N_WRITE;
    uint32_t ctrl = r.ctrl;
    for (r.initiator = 0; r.initiator < requests; r.initiator++) {
        r.ctrl = ctrl | (r.initiator + 1 < requests ? more : 0);
        issue(g, 2, 2, &r);
    }
    uint64_t cycle = cycle_of(g, 2, 2, NIU0 + 0x10000 * r.noc + 0x200 + (write ? 4 : 8), answers);
    wg_grid_destroy(g);
    return cycle;
}

/*
 * A multicast reserves its path, 8 cycles each way for each of three hops and 5, after the previous one. Linked ones
 * keep it.
 */
static void test_reserved_path(void **state)
{
    noc_request r = {.ctrl = N_WRITE | N_ANSWER | N_BROADCAST | N_RESERVE,
                     .len = 64,
                     .targ = 0x10000,
                     .ret = 0x20000,
                     .targ_at = at(2, 2),
                     .ret_at = from_to(3, 2, 4, 3)};
    uint64_t one = all_answered(state, WG_PROFILE_SILICON, r, 1, 4, 0),
             four = all_answered(state, WG_PROFILE_SILICON, r, 4, 16, 0),
             linked = all_answered(state, WG_PROFILE_SILICON, r, 4, 16, N_LINKED);
    assert_in_range(four - one, 3 * (48 + 5 + 2), 3 * (48 + 5 + 3) + 8);
    assert_in_range(linked - one, 3 * 2, 20);
}

/* The cycles in which multicasts of the first `sources` tiles of a column to the same four tiles have been answered. */
static void competing(void **state, unsigned sources, unsigned linked, uint64_t answered[4])
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_grid *g = NULL;
    assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
    for (unsigned i = 0; i < sources; i++)
        multicast(g, 2, 2 + i, 64, from_to(3, 9, 4, 10), i < linked ? 4 : 1);
    for (unsigned i = 0; i < sources; i++)
        answered[i] = 0;
    for (unsigned left = sources; left;) {
        wg_grid_advance(g, 1);
        assert_true(wg_grid_cycle(g) < 10000);
        for (unsigned i = 0; i < sources; i++)
            if (!answered[i] && get(g, 2, 2 + i, NIU0 + 0x204) == 4 * (i < linked ? 4 : 1)) {
                answered[i] = wg_grid_cycle(g);
                left--;
            }
    }
    wg_grid_destroy(g);
}

/*
 * A link carries two reservations at a time. The tile at (2, 2 + i) reserves 2 + 8 - i hops, 8 cycles each way and 5, until
 * its tail has left, 2 (BH) or 3 flits later. The third and fourth wait for the nearest of the first two, and for the other.
 */
static void test_paths_compete(void **state)
{
    const unsigned flits = bh(state) ? 2 : 3;
    uint64_t alone[4], all[4];
    for (unsigned i = 0; i < 4; i++) {
        uint64_t answered[4];
        competing(state, i + 1, 0, answered);
        all[i] = answered[i];
    }
    competing(state, 2, 0, alone);
    assert_int_equal(all[0], alone[0]);
    assert_in_range(all[2], all[1] + 16 * 9 - 40, all[1] + 16 * 9 + 5 + flits + 20);
    assert_in_range(all[3], all[0] + 16 * 9 - 60, all[0] + 16 * 10 + 5 + flits + 20);
    uint64_t linked[4];
    competing(state, 3, 2, linked); /* both paths belong to linked transactions of four packets */
    assert_true(linked[2] >= all[2] + 3 * flits);
    competing(state, 3, 1, linked); /* one does */
    assert_in_range(linked[2], all[2] - 20, all[2] + 20);
}

/* A long packet takes an extra cycle for every 44 flits. */
static void test_link_rests(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        wg_profile profile = i ? WG_PROFILE_SILICON : WG_PROFILE_DOCUMENTED;
        noc_request r = {.ctrl = N_WRITE | N_ANSWER,
                         .len = 16,
                         .targ = 0x10000,
                         .ret = 0x20000,
                         .targ_at = at(2, 2),
                         .ret_at = at(3, 2)};
        uint64_t shortest = all_answered(state, profile, r, 1, 1, 0);
        r.len = longest(state);
        assert_int_equal(all_answered(state, profile, r, 1, 1, 0) - shortest, i ? 255 + 257 / 44 : 255);
    }
}

/*
 * Blackhole's NIU 1 sends a read in 35 cycles, NIU 0 in one; a tile serves one in eleven (WH: twelve) cycles. Data of long
 * reads leaves Wormhole's NIU 1 more slowly.
 */
static void test_second_niu(void **state)
{
    for (unsigned noc = 0; noc < 2; noc++) {
        noc_request r = {.noc = noc, .ctrl = N_READ, .len = 16, .targ = 0x10000, .ret = 0x20000};
        unsigned w = bh(state) ? 16 : 9, h = 11;
        r.targ_at = noc ? at(w - 3, h - 2) : at(3, 2);
        r.ret_at = noc ? at(w - 2, h - 2) : at(2, 2);
        uint64_t one = all_answered(state, WG_PROFILE_SILICON, r, 1, 1, 0),
                 four = all_answered(state, WG_PROFILE_SILICON, r, 4, 4, 0);
        assert_int_equal(four - one, 3 * (bh(state) ? noc ? 35 : 11 : 12));
        r.len = longest(state);
        uint64_t long_one = all_answered(state, WG_PROFILE_SILICON, r, 1, 1, 0) - one;
        assert_int_equal(long_one, 255 + 257 / 44 + (noc && !bh(state) ? (257 + 257 / 44) / 9 : 0));
    }
}

static const wg_test tests[] = {
    WG_TEST(test_paths_compete, WG_BH | WG_WH, ""), WG_TEST(test_reserved_path, WG_BH | WG_WH, ""),
    WG_TEST(test_link_rests, WG_BH | WG_WH, ""),    WG_TEST(test_second_niu, WG_BH | WG_WH, ""),
    WG_TEST(test_turns, WG_BH | WG_WH, ""),         WG_TEST(test_dram_queue, WG_BH | WG_WH, ""),
    WG_TEST(test_jam, WG_BH | WG_WH, ""),           WG_TEST(test_dram_time, WG_BH | WG_WH, ""),
    WG_TEST(test_answer_time, WG_BH | WG_WH, ""),
};
WG_MAIN("noc_time", tests)
