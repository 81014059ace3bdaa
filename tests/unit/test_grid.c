/* SPDX-License-Identifier: Apache-2.0 */
/* The grid without its NoCs: floorplan, translation, harvesting, DRAM, tiles created on first use. */
#include "wgtest.h"

#include <waitgate/chip.h>

static wg_grid *grid_with(void **state, uint32_t harvested, uint64_t dram_limit)
{
    wg_grid_desc desc = {
        .struct_size = sizeof desc, .arch = wg_test_arch(state), .harvested = harvested, .dram_limit = dram_limit};
    wg_grid *grid = NULL;
    assert_int_equal(wg_grid_create(&desc, &grid), WG_OK);
    return grid;
}

static bool bh(void **state) { return wg_test_arch(state) == WG_ARCH_BH; }

static void test_shape(void **state)
{
    wg_grid *g = grid_with(state, 0, 0);
    assert_int_equal(wg_grid_width(g), bh(state) ? 17 : 10);
    assert_int_equal(wg_grid_height(g), 12);
    assert_int_equal(wg_grid_count(g, WG_TILE_TENSIX), bh(state) ? 140 : 80);
    assert_int_equal(wg_grid_count(g, WG_TILE_DRAM), bh(state) ? 8 : 6);
    assert_int_equal(wg_grid_count(g, WG_TILE_ETH), bh(state) ? 14 : 16);
    assert_int_equal(wg_grid_count(g, WG_TILE_PCIE), bh(state) ? 2 : 1);
    assert_int_equal(wg_grid_count(g, WG_TILE_L2CPU), bh(state) ? 4 : 0);
    assert_int_equal(wg_grid_count(g, WG_TILE_ARC), 1);
    assert_int_equal(wg_grid_kind(g, 17, 0), WG_TILE_NONE);
    if (bh(state)) {
        assert_int_equal(wg_grid_kind(g, 2, 0), WG_TILE_PCIE);
        assert_int_equal(wg_grid_kind(g, 8, 9), WG_TILE_L2CPU);
        assert_int_equal(wg_grid_index(g, 8, 9), 1);
        assert_int_equal(wg_grid_index(g, 9, 10), 5);
        assert_int_equal(wg_grid_index(g, 10, 2), 7);
        assert_int_equal(wg_grid_index(g, 10, 1), 13);
    } else {
        assert_int_equal(wg_grid_kind(g, 0, 3), WG_TILE_PCIE);
        assert_int_equal(wg_grid_kind(g, 0, 10), WG_TILE_ARC);
        assert_int_equal(wg_grid_index(g, 5, 9), 3);
        assert_int_equal(wg_grid_index(g, 6, 7), 44);
        assert_int_equal(wg_grid_index(g, 6, 6), 14);
    }
    wg_grid_destroy(g);
}

typedef struct place {
    unsigned noc, x, y, to_x, to_y;
} place;

static void check_places(wg_grid *g, const place *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned x = 99, y = 99;
        assert_true(wg_grid_translate(g, p[i].noc, p[i].x, p[i].y, &x, &y));
        assert_int_equal(x, p[i].to_x);
        assert_int_equal(y, p[i].to_y);
    }
}
#define CHECK_PLACES(g, p) check_places(g, p, sizeof(p) / sizeof *(p))

static void test_translation_bh(void **state)
{
    static const place whole[] = {{0, 1, 2, 1, 2},   {1, 1, 2, 1, 2},   {0, 16, 11, 16, 11}, {1, 16, 11, 16, 11},
                                  {0, 17, 12, 0, 0}, {1, 17, 12, 0, 0}, {0, 18, 14, 9, 11},  {1, 18, 23, 9, 6},
                                  {0, 19, 24, 2, 0}, {1, 19, 24, 2, 0}, {0, 20, 25, 1, 1},   {1, 21, 25, 16, 1},
                                  {0, 8, 27, 8, 9},  {1, 8, 30, 8, 2},  {0, 3, 0, 3, 0},     {1, 3, 0, 13, 0},
                                  {1, 8, 0, 8, 0}};
    /* Columns 3 and 12 are harvested: their coordinates come last. */
    static const place gone[] = {{0, 2, 2, 2, 2},   {0, 3, 2, 4, 2},   {1, 3, 2, 4, 2},  {0, 7, 5, 10, 5},
                                 {0, 10, 5, 11, 5}, {0, 11, 5, 13, 5}, {0, 15, 5, 3, 5}, {0, 16, 5, 12, 5},
                                 {1, 16, 5, 12, 5}, {0, 9, 5, 9, 5}};
    wg_grid *g = grid_with(state, 0, 0);
    CHECK_PLACES(g, whole);
    wg_grid_destroy(g);
    g = grid_with(state, 1u << 3 | 1u << 12, 0);
    CHECK_PLACES(g, gone);
    assert_int_equal(wg_grid_kind(g, 3, 4), WG_TILE_HARVESTED);
    assert_int_equal(wg_grid_count(g, WG_TILE_TENSIX), 120);
    assert_null(wg_grid_tile(g, 3, 4));
    wg_grid_destroy(g);
}

static void test_translation_wh(void **state)
{
    /* The example of Coordinates.md: rows 7 and 10 are harvested. */
    static const place gone[] = {{0, 16, 16, 0, 0}, {1, 16, 16, 0, 0},  {0, 18, 18, 1, 1}, {1, 18, 18, 1, 1},
                                 {0, 25, 22, 9, 5}, {0, 22, 23, 6, 8},  {1, 22, 23, 6, 8}, {0, 18, 25, 1, 11},
                                 {0, 18, 26, 1, 7}, {1, 18, 27, 1, 10}, {0, 3, 4, 3, 4},   {1, 3, 4, 6, 7},
                                 {0, 17, 17, 5, 6}, {0, 31, 31, 0, 0},  {1, 31, 31, 9, 11}};
    wg_grid *g = grid_with(state, 1u << 7 | 1u << 10, 0);
    CHECK_PLACES(g, gone);
    assert_int_equal(wg_grid_count(g, WG_TILE_TENSIX), 64);
    wg_grid_destroy(g);
}

static void test_dram(void **state)
{
    wg_grid *g = grid_with(state, 0, 256 * 1024);
    uint32_t word = 0x12345678, back = 1;
    uint64_t before = wg_grid_state_hash(g), end = bh(state) ? UINT64_C(4) << 30 : UINT64_C(2) << 30;
    assert_int_equal(wg_grid_read(g, 0, 0, 0x10000, &back, 4), WG_OK);
    assert_int_equal(back, 0);
    assert_int_equal(wg_grid_write(g, 0, 0, 0xFFFE, &word, 4), WG_OK); /* across a page */
    assert_int_equal(wg_grid_read(g, 0, 11, 0xFFFE, &back, 4), WG_OK); /* the same channel */
    assert_int_equal(back, word);
    assert_true(wg_grid_state_hash(g) != before);
    assert_int_equal(wg_grid_write(g, 0, 0, end - 4, &word, 4), WG_OK);
    assert_int_equal(wg_grid_write(g, 0, 0, end - 3, &word, 4), WG_ERR_ADDRESS);
    assert_int_equal(wg_grid_write(g, 0, 0, 0x100000, &word, 4), WG_OK);
    assert_int_equal(wg_grid_write(g, 0, 0, 0x200000, &word, 4), WG_ERR_NO_MEMORY);
    assert_non_null(strstr(wg_grid_error(g), "host memory"));
    wg_grid_destroy(g);
}

static void test_tiles(void **state)
{
    wg_grid *g = grid_with(state, 0, 0), *other = grid_with(state, 0, 0);
    unsigned x1 = bh(state) ? 16 : 9;
    uint32_t word = 0xCAFE, back = 0, node = 0;
    assert_int_equal(wg_grid_advance(g, 1000), WG_OK);
    assert_null(wg_grid_peek(g, 1, 2));
    assert_int_equal(wg_grid_multicast(g, x1, 11, 1, 2, 0x100, &word, 4), WG_OK); /* around both edges */
    for (unsigned y = 2; y < 12; y++)
        assert_int_equal(wg_grid_peek(g, x1, y) != NULL, y == 2 || y == 11);
    assert_int_equal(wg_cycle(wg_grid_tile(g, 1, 2)), 1000);
    assert_int_equal(wg_grid_read(g, x1, 2, 0x100, &back, 4), WG_OK);
    assert_int_equal(back, word);
    assert_int_equal(wg_grid_read(g, 3, 3, 0x100, &back, 4), WG_OK);
    assert_int_equal(back, 0);
    assert_int_equal(wg_grid_read(g, 3, 4, bh(state) ? 0xFFB20044 : 0xFFB2002C, &node, 4), WG_OK);
    assert_int_equal(node & 0xFFF, 3 | 4 << 6);
    assert_null(wg_grid_peek(other, 1, 2));
    wg_grid_destroy(g);
    wg_grid_destroy(other);
}

static const wg_test tests[] = {
    WG_TEST(test_shape, WG_BH | WG_WH, ""),  WG_TEST(test_translation_bh, WG_BH, ""),
    WG_TEST(test_translation_wh, WG_WH, ""), WG_TEST(test_dram, WG_BH | WG_WH, ""),
    WG_TEST(test_tiles, WG_BH | WG_WH, ""),
};
WG_MAIN("grid", tests)
