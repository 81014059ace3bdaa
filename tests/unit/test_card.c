/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card through the library: windows of every kind and pattern, tiles that consist of registers and memory only, DMA
 * engines, host memory, and reports.
 */
#include <stdio.h>
#include <waitgate/card.h>

#include "wgtest.h"

enum { HOST_BYTES = 1 << 16 };
#define MIB (UINT64_C(1) << 20)

typedef struct host {
    uint8_t memory[HOST_BYTES];
} host;

static bool host_read(void *user, uint64_t address, void *to, size_t bytes)
{
    host *h = user;
    if (address > HOST_BYTES || bytes > HOST_BYTES - address)
        return false;
    memcpy(to, h->memory + address, bytes);
    return true;
}

static bool host_write(void *user, uint64_t address, const void *from, size_t bytes)
{
    host *h = user;
    if (address > HOST_BYTES || bytes > HOST_BYTES - address)
        return false;
    memcpy(h->memory + address, from, bytes);
    return true;
}

typedef struct rig {
    wg_card *card;
    wg_grid *grid;
    wg_arch_id arch;
    uint64_t bar0, bar2, bar4;
    host h;
} rig;

/* A caller that knows fewer fields, compiled before the others existed. */
static void test_smaller_descriptor(void **state)
{
    const wg_grid_desc grid = {.struct_size = sizeof grid, .arch = wg_test_arch(state)};
    wg_card_desc desc = {
        .struct_size = offsetof(wg_card_desc, host_read), .grid = &grid, .host_read = (wg_host_read_fn)1};
    wg_card *card = NULL;
    assert_int_equal(wg_card_create(&desc, &card), WG_OK); /* host_read is not read */
    wg_card_destroy(card);
    desc.struct_size = 4;
    assert_int_equal(wg_card_create(&desc, &card), WG_ERR_ARGUMENT);
    desc.struct_size = sizeof desc + 1;
    assert_int_equal(wg_card_create(&desc, &card), WG_ERR_ARGUMENT);
}

static rig *open_rig(wg_arch_id arch, uint32_t harvested)
{
    rig *r = calloc(1, sizeof *r);
    r->arch = arch;
    const wg_grid_desc grid = {.struct_size = sizeof grid, .arch = arch, .harvested = harvested};
    const wg_card_desc desc = {
        .struct_size = sizeof desc, .grid = &grid, .host_read = host_read, .host_write = host_write, .host = &r->h};
    assert_int_equal(wg_card_create(&desc, &r->card), WG_OK);
    r->grid = wg_card_grid(r->card);
    uint64_t bar[3];
    for (unsigned i = 0; i < 3; i++)
        bar[i] = (wg_card_config_read(r->card, 0x10 + 8 * i) & ~15u) |
                 (uint64_t)wg_card_config_read(r->card, 0x14 + 8 * i) << 32;
    r->bar0 = bar[0];
    r->bar2 = bar[1];
    r->bar4 = bar[2];
    return r;
}

static void close_rig(rig *r)
{
    wg_card_destroy(r->card);
    free(r);
}

static rig *start(void **state) { return open_rig(wg_test_arch(state), 0); }

static void put32(rig *r, uint64_t address, uint32_t value)
{
    assert_int_equal(wg_card_write(r->card, address, &value, 4), WG_OK);
}

static uint32_t get32(rig *r, uint64_t address)
{
    uint32_t value = 0xDEADBEEF;
    assert_int_equal(wg_card_read(r->card, address, &value, 4), WG_OK);
    return value;
}

static uint32_t tile32(rig *r, unsigned x, unsigned y, uint64_t address)
{
    uint32_t value = 0xDEADBEEF;
    assert_int_equal(wg_card_tile_read(r->card, x, y, address, &value, 4), WG_OK);
    return value;
}

static size_t findings(rig *r, const char *code)
{
    size_t n = 0;
    for (size_t i = 0; i < wg_card_finding_count(r->card); i++)
        n += !strcmp(wg_finding_info_at(wg_card_finding_at(r->card, i, NULL)->code)->code, code);
    return n;
}

/* ---- Windows ------------------------------------------------------------------------------------------ */

/* The kinds of windows: first and last of each. */
typedef struct kind {
    unsigned bits, first, last;
    bool bar4;
    uint64_t offset; /* of the first */
} kind;
static const kind kinds_bh[] = {{21, 0, 201, false, 0}, {32, 202, 209, true, 0}};
static const kind kinds_wh[] = {
    {20, 0, 155, false, 0}, {21, 156, 165, false, 156 * MIB}, {24, 166, 185, false, 176 * MIB}};

static void set_bits(uint32_t *words, unsigned at, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++)
        if (value >> i & 1)
            words[(at + i) / 32] |= 1u << (at + i) % 32;
}

typedef struct aim {
    unsigned x0, y0, x1, y1, noc, mcast, ordering, linked, static_vc, class;
} aim;

/* Programs a window as the pages describe; returns the host's address of `address`. */
static uint64_t window(rig *r, const kind *k, unsigned index, aim a, uint64_t address)
{
    uint32_t words[3] = {0};
    bool bh = r->arch == WG_ARCH_BH;
    unsigned n = (bh ? 64 : 36) - k->bits, each = bh ? 3 : 2, m = n + 25 + bh;
    set_bits(words, 0, n, address >> k->bits);
    set_bits(words, n, 6, a.x1);
    set_bits(words, n + 6, 6, a.y1);
    set_bits(words, n + 12, 6, a.x0);
    set_bits(words, n + 18, 6, a.y0);
    set_bits(words, n + 24, 1, a.noc);
    set_bits(words, m, 1, a.mcast);
    set_bits(words, m + 1, 2, a.ordering);
    set_bits(words, m + 3, 1, a.linked);
    set_bits(words, m + 4, 1, a.static_vc);
    set_bits(words, m + 7, 2, a.class);
    for (unsigned i = 0; i < each; i++)
        put32(r, r->bar0 + 0x1FC00000 + 4 * (index * each + i), words[i]);
    return (k->bar4 ? r->bar4 : r->bar0) + k->offset + ((uint64_t)(index - k->first) << k->bits) +
           (address & ((UINT64_C(1) << k->bits) - 1));
}

static const kind *kinds(const rig *r, unsigned *count)
{
    *count = r->arch == WG_ARCH_BH ? 2 : 3;
    return r->arch == WG_ARCH_BH ? kinds_bh : kinds_wh;
}

/* Every kind of window, its first and its last, reaches L1 and DRAM by raw and translated coordinates. */
static void test_window_kinds(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    unsigned count;
    const kind *k = kinds(r, &count);
    for (unsigned i = 0; i < count; i++)
        for (unsigned last = 0; last < 2; last++) {
            unsigned index = last ? k[i].last : k[i].first;
            uint32_t tag = 0x10000u * (i + 1) + index;
            put32(r, window(r, &k[i], index, (aim){.x1 = 3, .y1 = 4}, 0x12340), tag);
            assert_int_equal(tile32(r, 3, 4, 0x12340), tag);
            /* DRAM channel 1, far up, and the same bytes through another of its tiles. */
            uint64_t far = (bh ? UINT64_C(0xC0000000) : 0x60000000) + 16 * index;
            put32(r, window(r, &k[i], index, (aim){.x1 = 0, .y1 = bh ? 3 : 5, .ordering = 2}, far), ~tag);
            assert_int_equal(tile32(r, 0, bh ? 10 : 7, far), ~tag);
            assert_int_equal(tile32(r, 0, 0, far), 0);
            /* The same tile by its translated coordinates. */
            aim there = bh ? (aim){.x1 = 3, .y1 = 4} : (aim){.x1 = 20, .y1 = 21};
            assert_int_equal(get32(r, window(r, &k[i], index, there, 0x12340)), tag);
        }
    assert_int_equal(wg_card_finding_count(r->card), 0);
    close_rig(r);
}

/* The other NoC numbers tiles from the other corner; Blackhole's Tensix tiles have the same numbers on both. */
static void test_noc1_window(void **state)
{
    rig *r = start(state);
    unsigned count;
    const kind *k = kinds(r, &count);
    bool bh = r->arch == WG_ARCH_BH;
    put32(r, window(r, k, 1, (aim){.x1 = bh ? 3 : 9 - 3, .y1 = bh ? 4 : 11 - 4, .noc = 1}, 0x40), 0xABCD);
    assert_int_equal(tile32(r, 3, 4, 0x40), 0xABCD);
    /* NIU registers are those of the NoC that the window uses. */
    uint64_t niu = bh ? UINT64_C(0xFFFFFFFFFF000044) : UINT64_C(0xFFFB2002C);
    unsigned ax = bh ? 8 : 0, ay = bh ? 0 : 10, w = bh ? 17 : 10;
    aim arc = bh ? (aim){.x1 = 8, .y1 = 0, .noc = 1} : (aim){.x1 = 9, .y1 = 1, .noc = 1};
    assert_int_equal(get32(r, window(r, k, 1, arc, niu)), (w - 1 - ax) | (11 - ay) << 6 | w << 12 | 12u << 19);
    arc = (aim){.x1 = ax, .y1 = ay};
    assert_int_equal(get32(r, window(r, k, 1, arc, niu)), ax | ay << 6 | w << 12 | 12u << 19 | 1u << 28);
    close_rig(r);
}

/* The tiles of a rectangle that hold a value. */
static void check_tiles(rig *r, uint32_t value, bool (*in)(unsigned x, unsigned y))
{
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++)
            if (wg_grid_kind(r->grid, x, y) == WG_TILE_TENSIX) {
                uint32_t expected = in(x, y) ? value : 0, found = tile32(r, x, y, 0x400);
                if (found != expected)
                    fail_msg("(%u, %u) holds 0x%x, not 0x%x", x, y, found, expected);
            }
}

static bool in_3_to_7(unsigned x, unsigned y) { return x >= 3 && x <= 7 && y >= 4 && y <= 8; }
static bool around(unsigned x, unsigned y) { return (x >= 7 || x <= 2) && y >= 4 && y <= 8; }
static bool all(unsigned x, unsigned y) { return x + y > 0; }

static void test_multicast(void **state)
{
    rig *r = start(state);
    unsigned count;
    const kind *k = kinds(r, &count);
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned y = 0; y < 12; y++)
            for (unsigned x = 0; x < 17; x++)
                if (wg_grid_peek(r->grid, x, y))
                    wg_card_tile_write(r->card, x, y, 0x400, &value, 4);
        put32(r, window(r, &k[i], k[i].first, (aim){.x0 = 3, .y0 = 4, .x1 = 7, .y1 = 8, .mcast = 1}, 0x400),
              0xCA57 + i);
        check_tiles(r, 0xCA57 + i, in_3_to_7);
    }
    put32(r, window(r, k, 0, (aim){.x0 = 7, .y0 = 4, .x1 = 2, .y1 = 8, .mcast = 1}, 0x404), 1); /* around the edge */
    for (unsigned x = 1; x < wg_grid_width(r->grid); x++)
        if (wg_grid_kind(r->grid, x, 5) == WG_TILE_TENSIX)
            assert_int_equal(tile32(r, x, 5, 0x404), around(x, 5));
    /* NoC 1 flows the other way: software swaps start and end. */
    bool bh = r->arch == WG_ARCH_BH;
    aim back = bh ? (aim){.x0 = 7, .y0 = 8, .x1 = 3, .y1 = 4, .mcast = 1, .noc = 1}
                  : (aim){.x0 = 9 - 7, .y0 = 11 - 8, .x1 = 9 - 3, .y1 = 11 - 4, .mcast = 1, .noc = 1};
    put32(r, window(r, k, 0, back, 0x400), 0x77);
    check_tiles(r, 0x77, in_3_to_7);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    get32(r, window(r, k, 0, (aim){.x0 = 3, .y0 = 4, .x1 = 7, .y1 = 8, .mcast = 1}, 0x400));
    assert_int_equal(findings(r, "host-window-config"), 1); /* a read needs a single target */
    close_rig(r);
}

static void test_multicast_all(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    unsigned count;
    const kind *k = kinds(r, &count);
    aim a = bh ? (aim){.x0 = 1, .y0 = 2, .x1 = 16, .y1 = 11, .mcast = 1, .static_vc = 1, .class = 2}
               : (aim){.x0 = 18, .y0 = 18, .x1 = 25, .y1 = 27, .mcast = 1};
    put32(r, window(r, k, 5, a, 0x400), 0xA11);
    check_tiles(r, 0xA11, all);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    close_rig(r);
}

static bool comb(unsigned x, unsigned y)
{
    return (x == 1 || x == 2 || x == 4 || x == 5) && (y == 2 || y == 6 || y == 10);
}
static bool corner(unsigned x, unsigned y) { return x <= 6 && y >= 2 && y <= 9 && !(x >= 4 && y <= 5); }

/* The first 32 windows of BH skip tiles and leave out a corner. */
static void test_strided(void **state)
{
    rig *r = start(state);
    uint64_t strided = r->bar0 + 0x1FC00000 + 210 * 12;
    aim a = {.x0 = 1, .y0 = 2, .x1 = 6, .y1 = 11, .mcast = 1};
    put32(r, strided + 4 * 31, 2 | 1 << 2 | 1 << 4 | 3 << 6 | 12 << 21); /* 2 of 3 columns, 1 of 4 rows: 12 tiles */
    put32(r, window(r, kinds_bh, 31, a, 0x400), 0x57);
    check_tiles(r, 0x57, comb);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    uint32_t none = 0;
    for (unsigned y = 2; y < 12; y++)
        for (unsigned x = 1; x < 17; x++)
            if (wg_grid_peek(r->grid, x, y))
                wg_card_tile_write(r->card, x, y, 0x400, &none, 4);
    a.y1 = 9;
    put32(r, strided, 4 << 8 | 5 << 13 | 1 << 17 | 1 << 19 | 36 << 21); /* without x >= 4 and y <= 5 */
    put32(r, window(r, kinds_bh, 0, a, 0x400), 0x58);
    check_tiles(r, 0x58, corner);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    put32(r, strided, 4 << 8 | 5 << 13 | 1 << 17 | 1 << 19 | 35 << 21); /* miscounted */
    put32(r, r->bar0 + 0x400, 0x59);
    assert_int_equal(findings(r, "host-window-config"), 1);
    close_rig(r);
}

static void test_window_rules(void **state)
{
    rig *r = start(state);
    unsigned count;
    const kind *k = kinds(r, &count);
    put32(r, window(r, k, 0, (aim){.x1 = 3, .y1 = 4, .static_vc = 1}, 0), 1);
    assert_int_equal(findings(r, "host-window-config"), 0);
    put32(r, window(r, k, 1, (aim){.x1 = 3, .y1 = 4, .linked = 1}, 0), 1);
    assert_int_equal(findings(r, "host-window-config"), 1);
    if (r->arch == WG_ARCH_WH) {
        put32(r, window(r, k, 2, (aim){.x1 = 3, .y1 = 4, .ordering = 3}, 0), 1);
        assert_int_equal(findings(r, "host-window-config"), 2);
    } else {
        put32(r, window(r, k, 2, (aim){.x1 = 3, .y1 = 4, .ordering = 3}, 0), 1); /* counted writes */
        assert_int_equal(findings(r, "host-window-config"), 1);
        put32(r, window(r, k, 3, (aim){.x1 = 3, .y1 = 4, .static_vc = 1, .class = 2}, 0), 1);
        assert_int_equal(findings(r, "host-window-config"), 2);
    }
    uint32_t value = 1;
    aim outside = r->arch == WG_ARCH_BH ? (aim){.x1 = 30, .y1 = 31} : (aim){.x1 = 14, .y1 = 3};
    assert_int_equal(wg_card_read(r->card, window(r, k, 4, outside, 0), &value, 4), WG_ERR_ADDRESS);
    assert_int_equal(value, 0);
    assert_int_equal(findings(r, "host-access-nowhere"), 1);
    close_rig(r);
}

/* ---- ARC ---------------------------------------------------------------------------------------------- */

typedef struct arc {
    unsigned x, y;
    uint64_t base; /* of its crossbar */
} arc;
static arc arc_of(const rig *r) { return r->arch == WG_ARCH_BH ? (arc){8, 0, 0} : (arc){0, 10, UINT64_C(0x800000000)}; }
#define APB UINT64_C(0x80000000)

static uint32_t arc32(rig *r, uint64_t address)
{
    arc a = arc_of(r);
    return tile32(r, a.x, a.y, a.base + address);
}

static void arc_put32(rig *r, uint64_t address, uint32_t value)
{
    arc a = arc_of(r);
    assert_int_equal(wg_card_tile_write(r->card, a.x, a.y, a.base + address, &value, 4), WG_OK);
}

/* A tag's value, found as hosts do it: pointers, table, data. */
static bool telemetry(rig *r, unsigned tag, uint32_t *value)
{
    bool bh = r->arch == WG_ARCH_BH;
    uint32_t table = arc32(r, APB + 0x30000 + (bh ? 0x434 : 0x1D0)),
             data = arc32(r, APB + 0x30000 + (bh ? 0x430 : 0x1D4));
    uint32_t entries = arc32(r, table + 4);
    assert_in_range(entries, 10, 100);
    for (uint32_t i = 0; i < entries; i++) {
        uint32_t entry = arc32(r, table + 8 + 4 * i);
        if ((entry & 0xFFFF) == tag) {
            *value = arc32(r, data + 4 * (entry >> 16));
            return true;
        }
    }
    return false;
}

static void test_arc_has_started(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    assert_int_equal(arc32(r, APB + 0x30060), 0xC0DE0001);
    if (bh)
        assert_int_equal(arc32(r, APB + 0x30408) & 7, 5);
    else
        assert_int_equal(arc32(r, APB + 0x30074), 1);
    assert_int_equal(arc32(r, APB + 0x50100) >> 14 & 1, 1); /* coordinates are translated */
    uint32_t value = 0;
    assert_true(telemetry(r, 28, &value));
    assert_int_equal(value >> 16, 0x1205);
    assert_true(telemetry(r, 22, &value));
    assert_int_equal(value, bh ? 0x5555 : 0x555);
    assert_true(telemetry(r, 21, &value));
    assert_int_equal(value, 0); /* no link is up */
    uint32_t beat = 0, later = 0;
    assert_true(telemetry(r, 32, &beat));
    wg_grid_advance(r->grid, 3000000);
    assert_true(telemetry(r, 32, &later));
    assert_true(later > beat);
    assert_int_equal(arc32(r, APB + 0x300E0), 3000000u * 27 / (bh ? 1350 : 1000));
    if (!bh) { /* the older telemetry, where hosts look for it; ARC in BAR 0 and BAR 4 */
        assert_int_equal(tile32(r, 0, 10, UINT64_C(0x820078D60) + 4 * 49), 0x12050000);
        assert_int_equal(get32(r, r->bar0 + 0x1FF30060), 0xC0DE0001);
        assert_int_equal(get32(r, r->bar4 + 0x01F30060), 0xC0DE0001);
        assert_int_equal(get32(r, r->bar0 + 0x1FE80000 + 0x78D60 + 4 * 49), 0x12050000);
    }
    assert_int_equal(wg_card_finding_count(r->card), 0);
    close_rig(r);
}

/* Sends a message as drivers do; false if firmware does not recognise it. */
static bool message(rig *r, uint32_t code, uint32_t argument, uint32_t *result)
{
    if (r->arch == WG_ARCH_WH) {
        arc_put32(r, APB + 0x3006C, argument);
        arc_put32(r, APB + 0x30074, 0xAA00 | code);
        arc_put32(r, APB + 0x30100, arc32(r, APB + 0x30100) | 1 << 16);
        assert_int_equal(arc32(r, APB + 0x30100) >> 16 & 1, 0);
        *result = arc32(r, APB + 0x3006C);
        return arc32(r, APB + 0x30074) == code;
    }
    uint32_t control = arc32(r, APB + 0x3042C), base = arc32(r, control), entries = arc32(r, control + 4) & 0xFF;
    uint32_t queue = base + 3 * (32 + 2 * entries * 32), w = arc32(r, queue), out = arc32(r, queue + 4);
    uint32_t request = queue + 32 + w % entries * 32, response = queue + 32 + (entries + out % entries) * 32;
    arc_put32(r, request, code);
    arc_put32(r, request + 4, argument);
    arc_put32(r, queue, (w + 1) % (2 * entries));
    arc_put32(r, APB + 0x30100, 1 << 16);
    assert_int_equal(arc32(r, queue + 20), (out + 1) % (2 * entries));
    assert_int_equal(arc32(r, queue + 16), (w + 1) % (2 * entries));
    *result = arc32(r, response + 4);
    bool known = (arc32(r, response) & 0xFF) == 0;
    arc_put32(r, queue + 4, (out + 1) % (2 * entries));
    return known;
}

static void test_arc_messages(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    uint32_t result = 0, clock = 0;
    for (uint32_t i = 0; i < 20; i++) { /* around the queue more than once */
        assert_true(message(r, 0x90, i, &result));
        assert_int_equal(result, i + 1);
    }
    assert_true(message(r, 0x54, 0, &result));
    assert_true(telemetry(r, 14, &clock));
    assert_int_equal(clock, bh ? 800 : 500);
    assert_true(message(r, 0x52, 0, &result));
    assert_true(telemetry(r, 14, &clock));
    assert_int_equal(clock, bh ? 1350 : 1000);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    assert_false(message(r, 0xEE, 0, &result));
    assert_int_equal(findings(r, "arc-message-unknown"), 1);
    close_rig(r);
}

static void test_harvesting_is_published(void **state)
{
    bool bh = wg_test_arch(state) == WG_ARCH_BH;
    rig *r = open_rig(wg_test_arch(state), bh ? 1 << 16 | 1 << 2 : 1 << 11 | 1 << 2);
    uint32_t mask = 0;
    if (bh) {
        assert_true(telemetry(r, 34, &mask));
        assert_int_equal(mask, 0x3FFF & ~(1 << 1 | 1 << 2)); /* x 16 is second, x 2 third */
    } else {
        assert_true(message(r, 0x57, 0, &mask));
        assert_int_equal(mask, 1 << 0 | 1 << 3); /* y 11 is first, y 2 fourth */
    }
    close_rig(r);
}

static void test_unknown_registers_once(void **state)
{
    rig *r = start(state);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(arc32(r, APB + 0x30000), 0);
        assert_int_equal(arc32(r, APB + 0x20000), 0);
    }
    assert_int_equal(findings(r, "unimplemented-register"), 2);
    wg_where where;
    const wg_finding *f = wg_card_finding_at(r->card, 0, &where);
    assert_int_equal(f->count, 3);
    assert_int_equal(where.x, arc_of(r).x);
    assert_int_equal(where.y, arc_of(r).y);
    close_rig(r);
}

/* ---- Other tiles -------------------------------------------------------------------------------------- */

static void test_ethernet(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    unsigned x = bh ? 2 : 3, y = bh ? 1 : 6;
    assert_int_equal(wg_grid_kind(r->grid, x, y), WG_TILE_ETH);
    if (bh) {
        assert_int_equal(tile32(r, x, y, 0x7CC00), 0xC0DEA000);
        assert_int_equal(tile32(r, x, y, 0x7CC04), 2);
    } else {
        assert_int_equal(tile32(r, x, y, 0x1104), 3);
    }
    uint64_t beat = bh ? 0x7CC70 : 0x1C;
    assert_true(tile32(r, x, y, beat) != tile32(r, x, y, beat));
    uint32_t value = 0x1234;
    wg_card_tile_write(r->card, x, y, 0x20000, &value, 4);
    assert_int_equal(tile32(r, x, y, 0x20000), 0x1234);
    uint64_t node = UINT64_C(0xFFB20000) + (bh ? 0x44 : 0x2C), logical = UINT64_C(0xFFB20000) + (bh ? 0x148 : 0x138);
    assert_int_equal(tile32(r, x, y, node) & 0xFFF, x | y << 6);
    assert_int_equal(tile32(r, x, y, node + 0x10000) & 0xFFF, ((bh ? 16 : 9) - x) | (11 - y) << 6);
    assert_int_equal(tile32(r, x, y, logical), bh ? 22 | 25 << 6 : 20 | 17 << 6);
    wg_grid_advance(r->grid, 1000);
    assert_int_equal(tile32(r, x, y, 0xFFB121F0), 1000);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    assert_int_equal(tile32(r, x, y, 0xFFB121B0), bh ? 0x1800 : 0x800);
    value = 1;
    wg_card_tile_write(r->card, x, y, 0xFFB90004, &value, 4);
    const wg_device *tile = wg_grid_peek(r->grid, x, y);
    assert_int_equal(wg_finding_count(tile), 1);
    assert_string_equal(wg_finding_info_at(wg_finding_at(tile, 0)->code)->code, "ethernet-link-down");
    assert_int_equal(tile32(r, x, y, 0xFFB90004), 0);
    close_rig(r);
}

static void test_l2cpu(void **state)
{
    rig *r = start(state);
    uint32_t vector = 0x30001000, value;
    wg_card_tile_write(r->card, 8, 3, 0x20010000, &vector, 4);
    assert_int_equal(tile32(r, 8, 3, 0x20010000), vector);
    assert_int_equal(tile32(r, 8, 3, UINT64_C(0xFFFFF7FEFFF10000)), vector); /* the same, past the cores */
    assert_int_equal(tile32(r, 8, 5, 0x20010000), 0);
    assert_int_equal(tile32(r, 8, 3, 0x20010400), 0); /* no hart has stopped anywhere: all are in reset */
    value = 0xD5;
    wg_card_tile_write(r->card, 8, 3, 0x30000000 + 0x1000, &value, 4); /* local DRAM is D5 */
    assert_int_equal(tile32(r, 9, 2, 0x1000), 0xD5);
    assert_int_equal(tile32(r, 8, 3, UINT64_C(0x400030001000)), 0xD5);
    assert_int_equal(tile32(r, 8, 3, UINT64_C(0xFFFFFFFFFF000044)) & 0xFFF, 8 | 3 << 6);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    arc_put32(r, APB + 0x30014, 0x10);
    assert_int_equal(findings(r, "l2cpu-released"), 1);
    close_rig(r);
}

/* Every tile reports its own coordinates. */
static void test_node_ids(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    for (unsigned y = 0; y < wg_grid_height(r->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(r->grid); x++) {
            wg_tile_kind what = wg_grid_kind(r->grid, x, y);
            uint64_t at = UINT64_C(0xFFB20000);
            if (what == WG_TILE_PCIE || what == WG_TILE_ARC || what == WG_TILE_L2CPU || what == WG_TILE_SECURITY)
                at = bh ? UINT64_C(0xFFFFFFFFFF000000) : UINT64_C(0xFFFB20000);
            if (what == WG_TILE_DRAM) {
                static const uint8_t rows_wh[6][3] = {{1, 11, 0}, {7, 5, 6}, {1, 11, 0},
                                                      {10, 2, 9}, {4, 8, 3}, {7, 5, 6}};
                unsigned nth = 0;
                while (!bh && nth < 2 && rows_wh[wg_grid_index(r->grid, x, y)][nth] != y)
                    nth++;
                at = bh ? UINT64_C(0xFFFFFFFFFFB20000) : UINT64_C(0x100080000) + 0x10000 * nth;
            }
            uint32_t id = tile32(r, x, y, at + (bh ? 0x44 : 0x2C));
            if ((id & 0xFFF) != (x | y << 6))
                fail_msg("(%u, %u), %s, says it is at (%u, %u)", x, y, wg_tile_kind_name(what), id & 63, id >> 6 & 63);
            assert_int_equal(id >> 12, (bh ? 17 : 10) | 12 << 7 | 1 << 16);
            if (what == WG_TILE_DRAM) /* the other NIU counts from the other end */
                assert_int_equal(tile32(r, x, y, at + (bh ? 0x10044 : 0x802C)) & 0xFFF,
                                 ((bh ? 16u : 9u) - x) | (11 - y) << 6);
            if (what == WG_TILE_ROUTER && bh)
                assert_int_equal(tile32(r, x, y, UINT64_C(0xFF000044)), id);
            if (what == WG_TILE_DRAM && bh)
                assert_int_equal(tile32(r, x, y, UINT64_C(0xFFB20044)), id);
        }
    /* The PCI Express tile's NIUs in BAR 0. */
    uint64_t niu[2] = {r->bar0 + (bh ? 0x1FD04000 : 0x1FD20000), r->bar0 + (bh ? 0x1FD14000 : 0x1FDA0000)};
    assert_int_equal(get32(r, niu[0] + (bh ? 0x44 : 0x2C)) & 0xFFF, bh ? 2 : 3 << 6);
    assert_int_equal(get32(r, niu[1] + (bh ? 0x44 : 0x2C)) & 0xFFF, bh ? 14 | 11 << 6 : 9 | 8 << 6);
    assert_int_equal(get32(r, niu[0] + 0x100) >> 14 & 1, 1);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    close_rig(r);
}

/* ---- Host memory -------------------------------------------------------------------------------------- */

/* Requests that a DRAM tile's NIU has served, readable by anybody; snapshots hold them, and the windows' registers. */
static void test_served(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    uint64_t counters = UINT64_C(0x100000000) + (bh ? 0xFFB20200 : 0xA0200), niu = 0xFFB20000;
    uint32_t place = bh ? 17 | 12 << 6 : 0, self = bh ? 3 | 4 << 6 : 20 | 21 << 6; /* (0, 0), and (3, 4) */
    const uint32_t words[][2] = {{0x00, 0x1000},
                                 {0x04, bh ? 0 : place << 4},
                                 {0x08, bh ? place : 0},
                                 {0x0C, 0x2000},
                                 {0x10, bh ? 0 : self << 4},
                                 {0x14, bh ? self : 0},
                                 {0x18, 0},
                                 {0x1C, 0},
                                 {0x20, 256},
                                 {bh ? 0x40 : 0x28, 1}};
    for (unsigned k = 0; k < 3; k++) {
        for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
            assert_int_equal(wg_card_tile_write(r->card, 3, 4, niu + words[i][0], &words[i][1], 4), WG_OK);
        wg_grid_advance(r->grid, 1000);
    }
    assert_int_equal(tile32(r, 3, 4, niu + 0x208), 3);
    assert_int_equal(tile32(r, 0, 0, counters + 4 * 53), 3); /* read requests received */
    assert_int_equal(tile32(r, 0, 0, counters + 4 * 50), 3); /* answers sent */
    assert_int_equal(tile32(r, 0, 0, counters + 4 * 51), 3 * 256 / (bh ? 64 : 32));
    assert_int_equal(tile32(r, 0, 0, counters + 4 * 10), 0); /* it starts none itself */
    put32(r, r->bar0 + 0x1FC00000, 0x123);
    size_t bytes = wg_grid_snapshot_size(r->grid);
    void *snapshot = malloc(bytes);
    assert_non_null(snapshot);
    assert_int_equal(wg_grid_snapshot(r->grid, snapshot, bytes), WG_OK);
    rig *other = open_rig(r->arch, 0);
    assert_int_equal(wg_grid_restore(other->grid, snapshot, bytes), WG_OK);
    assert_int_equal(tile32(other, 0, 0, counters + 4 * 53), 3);
    assert_int_equal(get32(other, other->bar0 + 0x1FC00000), 0x123);
    assert_true(wg_grid_state_hash(other->grid) == wg_grid_state_hash(r->grid));
    rig *gone = open_rig(r->arch, 1 << 4);
    assert_int_equal(wg_grid_restore(gone->grid, snapshot, bytes), WG_ERR_SNAPSHOT);
    free(snapshot);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    close_rig(gone);
    close_rig(other);
    close_rig(r);
}

static void test_host_memory(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    unsigned x = bh ? 2 : 0, y = bh ? 0 : 3;
    uint64_t direct = bh ? 0 : UINT64_C(0x800000000), mapped = bh ? UINT64_C(1) << 60 : UINT64_C(0x800000000);
    r->h.memory[0x1000] = 0x5A;
    assert_int_equal(tile32(r, x, y, direct + 0x1000), 0x5A);
    uint32_t value = 0xBEEF;
    assert_int_equal(wg_card_tile_write(r->card, x, y, direct + 0x2000, &value, 4), WG_OK);
    assert_memory_equal(r->h.memory + 0x2000, &value, 4);
    /* Region 2 of the outbound translation: 0x40000000 … leads to 0x3000 … */
    uint64_t iatu = r->bar2 + (bh ? 0x1000 : 0x1200) + 2 * 0x200;
    const uint32_t regs[][2] = {{0x08, 0x40000000}, {0x0C, 0}, {0x10, 0x4000FFFF}, {0x14, 0x3000},
                                {0x18, 0},          {0x00, 0}, {0x04, 1u << 31}};
    for (unsigned i = 0; i < sizeof regs / sizeof *regs; i++)
        put32(r, iatu + regs[i][0], regs[i][1]);
    assert_int_equal(get32(r, iatu + 0x10), 0x4000FFFF);
    r->h.memory[0x3004] = 0x77;
    assert_int_equal(tile32(r, x, y, mapped + 0x40000004), 0x77);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    assert_int_equal(tile32(r, x, y, direct + 0x20000), 0); /* the host has nothing there */
    assert_int_equal(findings(r, "host-memory-missing"), 1);
    close_rig(r);
}

static void test_dma_engine(void **state)
{
    rig *r = start(state);
    bool bh = r->arch == WG_ARCH_BH;
    unsigned count;
    const kind *k = kinds(r, &count);
    for (unsigned i = 0; i < 0x3000; i++)
        r->h.memory[0x4000 + i] = (uint8_t)(i * 7);
    uint64_t target = window(r, k, 9, (aim){.x1 = 3, .y1 = 4}, 0) - r->bar0 + 0x20000;
    uint64_t ch = r->bar2 + (bh ? 0x100 : 0x300), size = ch + (bh ? 0x1C : 8), from = ch + (bh ? 0x20 : 0xC);
    put32(r, size, 0x3000);
    put32(r, from, 0x4000);
    put32(r, from + 8, (uint32_t)target);
    put32(r, r->bar2 + (bh ? 0x190 : 0xCC), 0x10);   /* the address of the completion write */
    put32(r, r->bar2 + (bh ? 0x1A8 : 0xDC), 0xFACA); /* and its value */
    put32(r, r->bar2 + (bh ? 0x104 : 0x30), bh);
    uint8_t back[0x3000];
    wg_card_tile_read(r->card, 3, 4, 0x20000, back, sizeof back);
    assert_memory_equal(back, r->h.memory + 0x4000, sizeof back);
    assert_int_equal(r->h.memory[0x10] | r->h.memory[0x11] << 8, 0xFACA);
    if (bh)
        assert_int_equal(get32(r, size), 0);
    /* And back to another place. */
    ch = r->bar2 + (bh ? 0 : 0x200);
    put32(r, ch + (bh ? 0x1C : 8), 0x3000);
    put32(r, ch + (bh ? 0x20 : 0xC), (uint32_t)target);
    put32(r, ch + (bh ? 0x28 : 0x14), 0x8000);
    put32(r, r->bar2 + (bh ? 0x90 : 0x60), 0x18);
    put32(r, r->bar2 + (bh ? 0xA8 : 0x70), 0xD0E);
    put32(r, r->bar2 + (bh ? 0x4 : 0x10), bh);
    assert_memory_equal(r->h.memory + 0x8000, r->h.memory + 0x4000, 0x3000);
    assert_int_equal(r->h.memory[0x18] | r->h.memory[0x19] << 8, 0xD0E);
    assert_int_equal(wg_card_finding_count(r->card), 0);
    close_rig(r);
}

/* Two cards of different architectures in one process are independent. */
static void test_two_cards(void **state)
{
    (void)state;
    rig *a = open_rig(WG_ARCH_BH, 0), *b = open_rig(WG_ARCH_WH, 0), *c = open_rig(WG_ARCH_BH, 0);
    uint32_t value = 0xA;
    wg_card_tile_write(a->card, 1, 2, 0x100, &value, 4);
    wg_card_tile_write(a->card, 0, 0, 0x100, &value, 4);
    wg_grid_advance(a->grid, 500);
    assert_int_equal(tile32(b, 1, 2, 0x100), 0);
    assert_int_equal(tile32(c, 1, 2, 0x100), 0);
    assert_int_equal(tile32(c, 0, 0, 0x100), 0);
    assert_int_equal(wg_grid_cycle(b->grid), 0);
    assert_int_equal(tile32(a, 1, 2, 0x100), 0xA);
    uint64_t before = wg_grid_state_hash(c->grid);
    close_rig(a);
    assert_int_equal(wg_grid_state_hash(c->grid), before);
    value = 1;
    wg_card_tile_write(c->card, 8, 0, 0x10000000 + 0x7000, &value, 4); /* ARC's memory is part of the state */
    assert_true(wg_grid_state_hash(c->grid) != before);
    close_rig(b);
    close_rig(c);
}

/* Random accesses everywhere: nothing crashes, and a repetition gives the same results. */
static void test_random_accesses(void **state)
{
    uint64_t sum[2] = {0};
    for (unsigned round = 0; round < 2; round++) {
        rig *r = start(state);
        wg_rng g = {.s = 99};
        for (unsigned i = 0; i < 30000; i++) {
            static const uint64_t bases[] = {0, 0x1FC00000, 0x1FD00000, 0x1FE80000, 0x1FF00000, 0x1FFFFFF0};
            uint64_t address = r->bar0 + bases[wg_rng_below(&g, 6)] + wg_rng_below(&g, 0x100000);
            if (i % 7 == 0)
                address = r->bar2 + wg_rng_below(&g, 1 << 20);
            if (i % 11 == 0)
                address = r->bar4 + (wg_rng_next(&g) & 0x7FFFFFFFF);
            uint8_t data[64];
            size_t bytes = 1 + wg_rng_below(&g, sizeof data);
            for (unsigned j = 0; j < bytes; j++)
                data[j] = (uint8_t)wg_rng_next(&g);
            if (wg_rng_next(&g) & 1)
                wg_card_write(r->card, address, data, bytes);
            else
                wg_card_read(r->card, address, data, bytes);
            for (unsigned j = 0; j < bytes; j++)
                sum[round] = sum[round] * 31 + data[j];
        }
        sum[round] ^= wg_grid_state_hash(r->grid);
        close_rig(r);
    }
    assert_int_equal(sum[0], sum[1]);
}

static const wg_test tests[] = {
    WG_TEST(test_window_kinds, WG_BH | WG_WH, ""),
    WG_TEST(test_noc1_window, WG_BH | WG_WH, ""),
    WG_TEST(test_multicast, WG_BH | WG_WH, ""),
    WG_TEST(test_multicast_all, WG_BH | WG_WH, ""),
    WG_TEST(test_strided, WG_BH, ""),
    WG_TEST(test_window_rules, WG_BH | WG_WH, ""),
    WG_TEST(test_arc_has_started, WG_BH | WG_WH, ""),
    WG_TEST(test_arc_messages, WG_BH | WG_WH, ""),
    WG_TEST(test_harvesting_is_published, WG_BH | WG_WH, ""),
    WG_TEST(test_unknown_registers_once, WG_BH | WG_WH, ""),
    WG_TEST(test_ethernet, WG_BH | WG_WH, ""),
    WG_TEST(test_l2cpu, WG_BH, ""),
    WG_TEST(test_node_ids, WG_BH | WG_WH, ""),
    WG_TEST(test_served, WG_BH | WG_WH, ""),
    WG_TEST(test_host_memory, WG_BH | WG_WH, ""),
    WG_TEST(test_dma_engine, WG_BH | WG_WH, ""),
    WG_TEST(test_two_cards, WG_BH, ""),
    WG_TEST(test_smaller_descriptor, WG_BH | WG_WH, ""),
    WG_TEST(test_random_accesses, WG_BH | WG_WH, ""),
};
WG_MAIN("card", tests)
