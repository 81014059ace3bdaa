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
    unsigned there = dram ? at(0, 0) : at(1, 3); /* once round both axes */
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

/* As measured, an answer leaves later than the documents' stages say. BH's hops are shorter by 0.4 cycles, 29 times. */
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
            assert_in_range(cycle[1] - cycle[0] + 12, write ? 14 : 42, write ? 15 : 43);
        else
            assert_int_equal(cycle[1] - cycle[0], 50);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_dram_time, WG_BH | WG_WH, ""),
    WG_TEST(test_answer_time, WG_BH | WG_WH, ""),
};
WG_MAIN("noc_time", tests)
