/* SPDX-License-Identifier: Apache-2.0 */
/* The NoCs: every kind of request, counters, latencies, sharing of links, DRAM, what software must not do. */
#include "noc_rows.h"

#include "machine/niu.h"

static bool bh(void **state) { return wg_test_arch(state) == WG_ARCH_BH; }
static wg_grid *chip(void **state) { return noc_chip(wg_test_arch(state), 0); }
static uint32_t flit(void **state) { return bh(state) ? 64 : 32; }

static void fill(wg_grid *g, unsigned x, unsigned y, uint64_t address, uint32_t bytes, uint8_t seed)
{
    static uint8_t data[65536];
    for (uint32_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(seed + i * 7 + (i >> 8));
    assert_int_equal(wg_grid_write(g, x, y, address, data, bytes), WG_OK);
}

static bool same(wg_grid *g, unsigned x, unsigned y, uint64_t address, uint32_t bytes, uint8_t seed)
{
    static uint8_t data[65536];
    assert_int_equal(wg_grid_read(g, x, y, address, data, bytes), WG_OK);
    for (uint32_t i = 0; i < bytes; i++)
        if (data[i] != (uint8_t)(seed + i * 7 + (i >> 8)))
            return false;
    return true;
}

/* Places on a NoC, as its own coordinates. */
static uint32_t raw(wg_grid *g, unsigned noc, unsigned x, unsigned y)
{
    return noc ? at(wg_grid_width(g) - 1 - x, wg_grid_height(g) - 1 - y) : at(x, y);
}

/* Switches translation off, so that places are raw. */
static void raw_places(wg_grid *g, unsigned x, unsigned y)
{
    put(g, x, y, NIU0 + 0x100, 0);
    put(g, x, y, NIU1 + 0x100, 0);
}

static void test_write(void **state)
{
    for (unsigned noc = 0; noc < 2; noc++)
        for (unsigned posted = 0; posted < 2; posted++) {
            wg_grid *g = chip(state);
            raw_places(g, 3, 3);
            wg_grid_advance(g, 100);
            fill(g, 3, 3, 0x1000, 100, 5);
            noc_request r = {.noc = noc,
                             .initiator = 2,
                             .ctrl = N_WRITE | (posted ? 0u : N_ANSWER),
                             .tag = 7u << 10,
                             .len = 100,
                             .targ = 0x1000,
                             .ret = 0x2000,
                             .targ_at = raw(g, noc, 3, 3),
                             .ret_at = raw(g, noc, 4, 5)};
            issue(g, 3, 3, &r);
            assert_int_equal(counter(g, 3, 3, noc, 16 + 7), posted ? 0 : 1);
            assert_int_equal(counter(g, 3, 3, noc, 32 + 7), 1);
            wg_grid_advance(g, 2);
            fill(g, 3, 3, 0x1000, 100, 99); /* it has left with its data */
            uint32_t words = (100 + flit(state) - 1) / flit(state);
            assert_int_equal(counter(g, 3, 3, noc, posted ? 11 : 10), 1);
            assert_int_equal(counter(g, 3, 3, noc, posted ? 9 : 8), words);
            assert_int_equal(counter(g, 3, 3, noc, 32 + 7), 1);
            wg_grid_advance(g, words + 1);
            assert_int_equal(counter(g, 3, 3, noc, 32 + 7), 0);
            assert_int_equal(
                get(g, 3, 3,
                    NIU0 + 0x10000 * noc + 2 * noc_map[wg_grid_arch(g)].stride + noc_map[wg_grid_arch(g)].command),
                0);
            wg_grid_advance(g, 1000);
            assert_true(same(g, 4, 5, 0x2000, 100, 5));
            assert_int_equal(get(g, 4, 5, 0x2064), 0);
            assert_int_equal(counter(g, 3, 3, noc, 1), posted ? 0 : 1);
            assert_int_equal(counter(g, 3, 3, noc, 16 + 7), 0);
            assert_int_equal(counter(g, 4, 5, noc, posted ? 59 : 58), 1);
            assert_int_equal(counter(g, 4, 5, noc, posted ? 57 : 56), words);
            assert_int_equal(counter(g, 4, 5, noc, 49), posted ? 0 : 1);
            assert_int_equal(findings_of(g), 0);
            wg_grid_destroy(g);
        }
}

static void test_read(void **state)
{
    for (unsigned noc = 0; noc < 2; noc++) {
        wg_grid *g = chip(state);
        fill(g, 7, 9, 0x3010, 300, 1);
        noc_request r = {.noc = noc, .ctrl = N_READ, .tag = 3u << 10, .len = 300, .targ = 0x3010, .ret = 0x5010};
        raw_places(g, 2, 2);
        r.targ_at = raw(g, noc, 7, 9);
        r.ret_at = raw(g, noc, 2, 2);
        issue(g, 2, 2, &r);
        assert_int_equal(counter(g, 2, 2, noc, 16 + 3), 1);
        wg_grid_advance(g, 1000);
        assert_true(same(g, 2, 2, 0x5010, 300, 1));
        assert_int_equal(counter(g, 2, 2, noc, 2), 1);
        assert_int_equal(counter(g, 2, 2, noc, 3), (300 + flit(state) - 1) / flit(state));
        assert_int_equal(counter(g, 2, 2, noc, 5), 1);
        assert_int_equal(counter(g, 2, 2, noc, 16 + 3), 0);
        assert_int_equal(counter(g, 7, 9, noc, 50), 1);
        assert_int_equal(counter(g, 7, 9, noc, 53), 1);
        /* A register is one word. */
        r.targ = NIU0 + noc_map[wg_grid_arch(g)].node_id;
        r.ret = 0x6004 + (uint32_t)(r.targ & 12) - 4;
        r.len = 4;
        issue(g, 2, 2, &r);
        wg_grid_advance(g, 1000);
        assert_int_equal(get(g, 2, 2, r.ret) & 0xFFF, at(7, 9));
        assert_int_equal(findings_of(g), 0);
        wg_grid_destroy(g);
    }
}

/* One and the same: 5 to the router, 9 per hop, 5 from the router, one more per further flit. */
static void test_latency(void **state)
{
    static const struct {
        unsigned noc, x, y, hops;
    } cases[] = {{0, 2, 2, 1}, {0, 1, 3, 1}, {0, 4, 4, 5}, {1, 2, 2, 0}, {1, 1, 3, 0}, {0, 1, 2, 0}, {1, 1, 2, 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_grid *g = chip(state);
        unsigned w = wg_grid_width(g), h = wg_grid_height(g), hops = cases[i].hops, noc = cases[i].noc;
        if (noc) /* the other direction, around the edge */
            hops = (1 + w - cases[i].x) % w + (2 + h - cases[i].y) % h;
        raw_places(g, 1, 2);
        put(g, 1, 2, 0x100, 0xABCD);
        wg_grid_advance(g, 10);
        noc_request r = {.noc = noc,
                         .ctrl = N_WRITE | N_ANSWER,
                         .len = 4,
                         .targ = 0x100,
                         .ret = 0x200,
                         .targ_at = raw(g, noc, 1, 2),
                         .ret_at = raw(g, noc, cases[i].x, cases[i].y)};
        issue(g, 1, 2, &r); /* starts in cycle 10, leaves in 11 */
        assert_int_equal(cycle_of(g, cases[i].x, cases[i].y, 0x200, 0xABCD), 11 + 5 + 9 * hops + 5 + 1);
        unsigned back = w * (cases[i].x != 1) + h * (cases[i].y != 2) - hops; /* the way back completes the circles */
        assert_int_equal(cycle_of(g, 1, 2, NIU0 + 0x10000 * noc + 0x204, 1),
                         11 + 5 + 9 * hops + 5 + 1 + 1 + 5 + 9 * back + 5);
        wg_grid_destroy(g);
    }
}

static void test_inline(void **state)
{
    wg_grid *g = chip(state);
    /* A register: the general purpose bits of ROUTER_CFG_2. */
    noc_request r = {.ctrl = N_WRITE | N_INLINE | N_ANSWER,
                     .len = 0xF,
                     .data = 0x13572468,
                     .targ = NIU1 + 0x10C,
                     .targ_at = bh(state) ? at(5, 5) : at(22, 22)};
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    assert_int_equal(get(g, bh(state) ? 5 : 6, 5, NIU1 + 0x10C), 0x13572468);
    assert_int_equal(counter(g, 2, 2, 0, 1), 1);
    assert_int_equal(counter(g, 2, 2, 0, 10), 1);
    assert_int_equal(findings_of(g), 0);
    /* L1: bytes 6 and 7 by the low half of the mask, bytes 8 to 11 by the high half. */
    unsigned x = bh(state) ? 5 : 6;
    put(g, x, 5, 0x1004, 0xAAAAAAAA);
    r.targ = 0x1000;
    r.len = 0xF << 24 | 3 << 6;
    r.ctrl = N_WRITE | N_INLINE;
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    assert_int_equal(get(g, x, 5, 0x1000), 0);
    assert_int_equal(get(g, x, 5, 0x1004), 0x1357AAAA);
    assert_int_equal(get(g, x, 5, 0x1008), 0x13572468);
    assert_int_equal(counter(g, 2, 2, 0, 11), 1);
    assert_int_equal(has_finding(g, x, 5, "noc-inline-l1"), bh(state));
    wg_grid_destroy(g);
}

static void test_byte_enables(void **state)
{
    wg_grid *g = chip(state);
    raw_places(g, 2, 2);
    fill(g, 2, 2, 0x1000, 64, 10);
    noc_request r = {.ctrl = N_WRITE | N_BE | N_ANSWER,
                     .len = 0xC0000001,
                     .targ = 0x1000,
                     .ret = 0x2000,
                     .targ_at = at(2, 2),
                     .ret_at = at(3, 2)};
    put(g, 2, 2, NIU0 + 0x24, bh(state) ? 0x80000000 : 0);
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 200);
    uint8_t seen[64];
    assert_int_equal(wg_grid_read(g, 3, 2, 0x2000, seen, 64), WG_OK);
    for (unsigned i = 0; i < 64; i++) {
        bool there = i == 0 || i == 30 || i == 31 || (bh(state) && i == 63);
        assert_int_equal(seen[i], there ? (uint8_t)(10 + i * 7) : 0);
    }
    wg_grid_destroy(g);
}

/* ---- atomics ------------------------------------------------------------------------------------------------- */

static void test_atomic_operations(void **state)
{
    bool zaamo = bh(state);
    static const struct {
        uint32_t operation, data, before[4], word, after[4];
        bool only_bh;
    } cases[] = {
        {0x1000 | 31 << 2 | 1, 5, {1, 10, 3, 4}, 1, {1, 15, 3, 4}, false},       /* increment, whole word */
        {0x1000 | 3 << 2 | 2, 5, {1, 2, 0xFD, 4}, 2, {1, 2, 0xF2, 4}, false},    /* of four bits */
        {0x1000 | 31 << 2, 1, {0xFFFFFFFF, 9, 0, 0}, 1, {0, 9, 0, 0}, false},    /* result from elsewhere */
        {0x4000 | 9 << 6 | 4 << 2 | 3, 0, {0, 0, 0, 4}, 3, {0, 0, 0, 9}, false}, /* compare and swap */
        {0x4000 | 9 << 6 | 4 << 2 | 3, 0, {0, 0, 0, 5}, 3, {0, 0, 0, 5}, false},
        {0x3000 | 0x81 << 2, 0xBBBBAAAA, {1, 2, 3, 0x44444444}, 0, {0xAAAA, 2, 3, 0xBBBB4444}, false}, /* by mask */
        {0x6004 | 2, 77, {1, 2, 3, 4}, 2, {1, 2, 77, 4}, false},
        {0x7000 | 3 << 2, 77, {1, 2, 3, 4}, 3, {1, 2, 3, 77}, false},
        {0xA300 | 1, 77, {1, 2, 3, 4}, 1, {1, 77, 3, 4}, true},
        {0xA800, 7, {5, 0, 0, 0}, 0, {12, 0, 0, 0}, true}, /* Zaamo, one by one */
        {0xA900, 7, {5, 0, 0, 0}, 0, {2, 0, 0, 0}, true},
        {0xAA00, 10, {5, 0, 0, 0}, 0, {15, 0, 0, 0}, true},
        {0xAB00, 6, {5, 0, 0, 0}, 0, {4, 0, 0, 0}, true},
        {0xAC00, 3, {0xFFFFFFFF, 0, 0, 0}, 0, {0xFFFFFFFF, 0, 0, 0}, true},
        {0xAD00, 3, {0xFFFFFFFF, 0, 0, 0}, 0, {3, 0, 0, 0}, true},
        {0xAE00, 3, {0xFFFFFFFF, 0, 0, 0}, 0, {3, 0, 0, 0}, true},
        {0xAF00, 3, {0xFFFFFFFF, 0, 0, 0}, 0, {0xFFFFFFFF, 0, 0, 0}, true},
        {0x9004, 3, {1, 2, 3, 0xFFFFFFFF}, 0, {4, 5, 6, 2}, true}, /* all lanes */
        {0x9007, 0x01FF0102, {0x10FF8001, 0, 0, 0}, 0, {0x11FF8103, 0x01FF0102, 0x01FF0102, 0x01FF0102}, true},
        {0x900F, 0x01FF0102, {0x10FF8001, 0, 0, 0}, 0, {0x11FE8103, 0x01FF0102, 0x01FF0102, 0x01FF0102}, true},
        {0x9000, 0x3F800000, {0x3F800000, 0, 0x40000000, 0}, 0, {0x40000000, 0x3F800000, 0x40400000, 0x3F800000}, true},
        {0x9002, 0x3F803F80, {0x3F800000, 0, 0, 0}, 0, {0x40003F80, 0x3F803F80, 0x3F803F80, 0x3F803F80}, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t line[4], result = 0xEEEE;
        memcpy(line, cases[i].before, sizeof line);
        bool known = wg_noc_atomic_line(zaamo, line, cases[i].word, cases[i].operation, cases[i].data, &result);
        assert_int_equal(known, zaamo || !cases[i].only_bh);
        assert_memory_equal(line, known ? cases[i].after : cases[i].before, sizeof line);
        if (known)
            assert_int_equal(result, cases[i].before[cases[i].word]);
    }
    uint32_t line[4] = {0}, result;
    assert_false(wg_noc_atomic_line(zaamo, line, 0, 0x2000, 1, &result));
}

/* The increment that software uses for semaphores: non-posted, the old value is returned to address 4. */
static void test_atomic_increment(void **state)
{
    wg_grid *g = chip(state);
    raw_places(g, 2, 2);
    put(g, 3, 4, 0x1000, 41);
    noc_request r = {.ctrl = N_ATOMIC | N_ANSWER,
                     .tag = 5u << 10,
                     .len = 0x1000 | 31 << 2,
                     .data = 2,
                     .targ = 0x1000,
                     .ret = 4,
                     .targ_at = at(3, 4),
                     .ret_at = at(2, 2)};
    issue(g, 2, 2, &r);
    assert_int_equal(counter(g, 2, 2, 0, 16 + 5), 1);
    wg_grid_advance(g, 1000);
    assert_int_equal(get(g, 3, 4, 0x1000), 43);
    assert_int_equal(get(g, 2, 2, 4), 41);
    assert_int_equal(counter(g, 2, 2, 0, 0), 1);
    assert_int_equal(counter(g, 2, 2, 0, 6), 1);
    assert_int_equal(counter(g, 2, 2, 0, 15), 1);
    assert_int_equal(counter(g, 2, 2, 0, 16 + 5), 0);
    assert_int_equal(counter(g, 3, 4, 0, 54), 1);
    assert_int_equal(counter(g, 3, 4, 0, 48), 1);
    put(g, 2, 2, 4, 0);
    r.ctrl = N_ATOMIC; /* posted: nothing is returned */
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 1000);
    assert_int_equal(get(g, 3, 4, 0x1000), 45);
    assert_int_equal(get(g, 2, 2, 4), 0);
    assert_int_equal(counter(g, 2, 2, 0, 7), 1);
    assert_int_equal(counter(g, 3, 4, 0, 55), 1);
    bool unsafe = wg_test_arch(state) == WG_ARCH_BH; /* contention at a memory port */
    assert_int_equal(findings_of(g), unsafe);
    assert_int_equal(has_finding(g, 2, 2, "noc-posted-atomic"), unsafe);
    /* DRAM accepts none. */
    r.targ_at = at(0, 0);
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 1000);
    assert_true(has_finding(g, 2, 2, "noc-atomic"));
    wg_grid_destroy(g);
}

/* ---- broadcast ----------------------------------------------------------------------------------------------- */

static unsigned holders(wg_grid *g, uint32_t address, uint32_t value)
{
    unsigned n = 0;
    for (unsigned y = 0; y < wg_grid_height(g); y++)
        for (unsigned x = 0; x < wg_grid_width(g); x++)
            n += wg_grid_peek(g, x, y) && get(g, x, y, address) == value;
    return n;
}

static void test_broadcast(void **state)
{
    for (unsigned noc = 0; noc < 2; noc++)
        for (unsigned flags = 0; flags < 8; flags++) {
            bool self = flags & 1, y_major = flags & 2, reserve = flags & 4;
            wg_grid *g = chip(state);
            raw_places(g, 4, 4);
            put(g, 4, 4, 0x100, 0x5EED);
            /* (3, 3) to (6, 5): 12 places, on WH column 5 is DRAM. NoC 1 numbers tiles from the other end. */
            uint32_t a = raw(g, noc, 3, 3), b = raw(g, noc, 6, 5), start = noc ? b : a, end = noc ? a : b;
            unsigned others = (bh(state) ? 12 : 9) - 1;
            uint32_t options = (self ? N_TO_SELF : 0u) | (y_major ? N_Y_MAJOR : 0u);
            noc_request r = {.noc = noc,
                             .ctrl = N_WRITE | N_ANSWER | N_BROADCAST | options | (reserve ? N_RESERVE : 0u),
                             .len = 4,
                             .targ = 0x100,
                             .ret = 0x200,
                             .targ_at = raw(g, noc, 4, 4),
                             .ret_at = end | start << 12};
            issue(g, 4, 4, &r);
            wg_grid_advance(g, 2000);
            assert_int_equal(get(g, 4, 4, 0x200), self ? 0x5EED : 0);
            assert_int_equal(holders(g, 0x200, 0x5EED), others + self);
            assert_int_equal(counter(g, 4, 4, noc, 1), others + self);
            assert_int_equal(counter(g, 4, 4, noc, 10), 1);
            assert_int_equal(counter(g, 4, 4, noc, 16), (uint8_t)(1 - (others + self))); /* one up, many down */
            put(g, 4, 4, NIU0 + 0x10000 * noc + noc_map[wg_grid_arch(g)].clear, 1);
            assert_int_equal(counter(g, 4, 4, noc, 16), 0);
            /* An atomic request, and (a register) an inline write. */
            r.ctrl = N_ATOMIC | N_BROADCAST | options;
            r.len = 0x1000 | 31 << 2;
            r.data = 3;
            r.targ = 0x200;
            r.targ_at = end | start << 12;
            issue(g, 4, 4, &r);
            wg_grid_advance(g, 2000);
            assert_int_equal(holders(g, 0x200, 0x5EED + 3), others + self);
            r.ctrl = N_WRITE | N_INLINE | N_BROADCAST | options;
            r.targ = NIU0 + 0x10C;
            r.data = 0x77;
            issue(g, 4, 4, &r);
            wg_grid_advance(g, 2000);
            assert_int_equal(holders(g, NIU0 + 0x10C, 0x77), others + self);
            assert_int_equal(findings_of(g), wg_test_arch(state) == WG_ARCH_BH); /* the posted atomic */
            wg_grid_destroy(g);
        }
}

/* Blackhole excludes tiles from a broadcast: stripes, a quadrant, tiles that have opted out since. */
static void test_broadcast_exclude(void **state)
{
    static const struct {
        uint32_t exclude;
        uint16_t rows[4];
    } cases[] = {
        /* bit i of row j: (3 + i, 3 + j) */
        {0, {15, 15, 15, 15}},
        {1 | 1 << 2, {5, 5, 5, 5}},        /* every other column */
        {1 << 4 | 2 << 6, {15, 0, 0, 15}}, /* one row of three */
        {2 | 1 << 2 | 1 << 4 | 1 << 6, {11, 0, 11, 0}},
        {5u << 8 | 4u << 14 | 3u << 20 | 1u << 22, {15, 3, 3, 3}}, /* x >= 5 and y >= 4 */
        {4u << 8 | 4u << 14 | 1u << 22, {12, 12, 15, 15}},         /* x <= 4 and y <= 4 */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned self = 0; self < 2; self++) {
            wg_grid *g = chip(state);
            raw_places(g, 4, 4);
            put(g, 4, 4, 0x100, 0x5EED);
            put(g, 6, 6, NIU0 + 0x108, get(g, 6, 6, NIU0 + 0x108) | 1 << 6); /* column 6 opts out, there */
            noc_request r = {.ctrl = N_WRITE | N_BROADCAST | (self ? N_TO_SELF : 0u),
                             .len = 4,
                             .targ = 0x100,
                             .ret = 0x200,
                             .targ_at = at(4, 4),
                             .ret_at = from_to(3, 3, 6, 6)};
            put(g, 4, 4, NIU0 + 0x2C, cases[i].exclude);
            issue(g, 4, 4, &r);
            wg_grid_advance(g, 1000);
            for (unsigned k = 0; k < 16; k++) {
                unsigned x = 3 + k % 4, y = 3 + k / 4;
                bool wanted = cases[i].rows[k / 4] >> k % 4 & 1 && !(x == 4 && y == 4 && !self) && k != 15;
                assert_int_equal(get(g, x, y, 0x200), wanted ? 0x5EED : 0);
            }
            assert_int_equal(findings_of(g), 0);
            wg_grid_destroy(g);
        }
}

/* A start beyond the end goes around the edge; rows and columns without Tensix tiles opt out. */
static void test_broadcast_wraps(void **state)
{
    wg_grid *g = chip(state);
    raw_places(g, 4, 4);
    put(g, 4, 4, 0x100, 9);
    unsigned w = wg_grid_width(g);
    noc_request r = {.ctrl = N_WRITE | N_BROADCAST,
                     .len = 4,
                     .targ = 0x100,
                     .ret = 0x200,
                     .targ_at = at(4, 4),
                     .ret_at = from_to(w - 2, 10, 2, 3)};
    issue(g, 4, 4, &r);
    wg_grid_advance(g, 2000);
    /* BH: columns 15, 16, 1, 2; rows 10, 11, 2, 3. WH: columns 8, 9, 1, 2; rows 10, 11, 1, 2, 3. */
    assert_int_equal(holders(g, 0x200, 9), bh(state) ? 16 : 20);
    wg_grid_destroy(g);
}

/* ---- order, length, DRAM --------------------------------------------------------------------------------------- */

static void test_order(void **state)
{
    wg_grid *g = chip(state);
    raw_places(g, 2, 2);
    fill(g, 2, 2, 0x1000, 4096, 1);
    put(g, 2, 2, 0x3000, 0xF1A6);
    noc_request data = {.ctrl = N_WRITE | N_STATIC | 1 << 13,
                        .len = 4096,
                        .targ = 0x1000,
                        .ret = 0x8000,
                        .targ_at = at(2, 2),
                        .ret_at = at(4, 4)};
    noc_request flag = {.initiator = 1,
                        .ctrl = N_WRITE | N_STATIC | 1 << 13,
                        .len = 4,
                        .targ = 0x3000,
                        .ret = 0x9000,
                        .targ_at = at(2, 2),
                        .ret_at = at(4, 4)};
    issue(g, 2, 2, &data);
    issue(g, 2, 2, &flag);
    cycle_of(g, 4, 4, 0x9000, 0xF1A6);
    assert_true(same(g, 4, 4, 0x8000, 4096, 1)); /* the flag arrives after the data */
    wg_grid_destroy(g);
}

static void test_splitting(void **state)
{
    wg_grid *g = chip(state);
    raw_places(g, 2, 2);
    uint32_t bytes = 40000, most = 256 * flit(state), packets = (bytes + most - 1) / most;
    fill(g, 2, 2, 0x10000, bytes, 3);
    noc_request r = {.ctrl = N_WRITE | N_ANSWER,
                     .len = bytes,
                     .targ = 0x10000,
                     .ret = 0x20000,
                     .targ_at = at(2, 2),
                     .ret_at = at(3, 2)};
    issue(g, 2, 2, &r);
    assert_int_equal(counter(g, 2, 2, 0, 16), packets);
    assert_int_equal(counter(g, 2, 2, 0, 32), packets);
    wg_grid_advance(g, 5000);
    assert_true(same(g, 3, 2, 0x20000, bytes, 3));
    assert_int_equal(counter(g, 2, 2, 0, 1), packets);
    assert_int_equal(counter(g, 2, 2, 0, 16), 0);
    assert_int_equal(counter(g, 2, 2, 0, 32), 0);
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

static void test_dram(void **state)
{
    wg_grid *g = chip(state);
    raw_places(g, 2, 2);
    fill(g, 2, 2, 0x10000, 2048, 3);
    uint64_t there = bh(state) ? UINT64_C(0xF0000000) : 0x70000000;
    noc_request r = {.noc = 1,
                     .ctrl = N_WRITE | N_ANSWER,
                     .len = 2048,
                     .targ = 0x10000,
                     .ret = there,
                     .targ_at = raw(g, 1, 2, 2),
                     .ret_at = raw(g, 1, 0, 11)};
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 2000);
    assert_int_equal(counter(g, 2, 2, 1, 1), 1);
    assert_true(same(g, 0, 0, there, 2048, 3)); /* another tile of the same channel */
    noc_request back = {
        .ctrl = N_READ, .len = 1024, .targ = there + 512, .ret = 0x20000, .targ_at = at(0, 1), .ret_at = at(2, 2)};
    issue(g, 2, 2, &back);
    wg_grid_advance(g, 2000);
    uint8_t a[1024], b[1024];
    assert_int_equal(wg_grid_read(g, 2, 2, 0x20000, a, 1024), WG_OK);
    assert_int_equal(wg_grid_read(g, 2, 2, 0x10200, b, 1024), WG_OK);
    assert_memory_equal(a, b, 1024);
    assert_int_equal(findings_of(g), 0);
    back.ret = 0x20010; /* L1 and DRAM must agree modulo 32 or 64 */
    issue(g, 2, 2, &back);
    wg_grid_advance(g, 2000);
    assert_true(has_finding(g, 2, 2, "noc-alignment"));
    back.targ = bh(state) ? UINT64_C(1) << 32 : UINT64_C(2) << 30;
    back.ret = 0x20000;
    issue(g, 2, 2, &back);
    wg_grid_advance(g, 2000);
    assert_true(has_finding(g, 2, 2, "noc-unmapped"));
    assert_int_equal(counter(g, 2, 2, 0, 2), 3); /* zeros are returned, but they are returned */
    wg_grid_destroy(g);
}

static void last_arrival(void *user, const wg_event *e) { *(wg_event *)user = *e; }

/* What a trace shows of a packet's path: when it left, over how many links, how long others occupied them. */
static void test_way(void **state)
{
    for (unsigned both = 0; both < 2; both++) {
        wg_grid *g = chip(state);
        wg_event e = {0};
        raw_places(g, 1, 2);
        raw_places(g, 2, 2);
        wg_device *there = wg_grid_tile(g, 3, 4);
        assert_int_equal(wg_observe(there, WG_EV_BIT(WG_EV_NOC_ARRIVED), last_arrival, &e, NULL), WG_OK);
        noc_request s = {
            .ctrl = N_WRITE, .len = 4096, .targ = 0x3000, .ret = 0x8000, .targ_at = at(1, 2), .ret_at = at(3, 3)};
        noc_request r = s;
        r.len = 64;
        r.targ_at = at(2, 2);
        r.ret_at = at(3, 4);
        if (both)
            issue(g, 1, 2, &s);
        wg_grid_advance(g, 30);
        uint64_t began = wg_grid_cycle(g);
        issue(g, 2, 2, &r);
        wg_grid_advance(g, 1000);
        assert_int_equal(e.kind, WG_EV_NOC_ARRIVED);
        assert_int_equal(e.parent, began + 1); /* the host's write is seen in the cycle that begins now */
        assert_int_equal(e.word & 0xFF, 3);    /* (3, 2), (3, 3), (3, 4) */
        uint64_t flits = 64 / flit(state) + 1, alone = 2 * 5 + 3 * 9 + flits - 1;
        assert_int_equal(e.cycle - e.parent, alone + (e.word >> 8));
        assert_int_equal(e.word >> 8 != 0, both);
        wg_grid_destroy(g);
    }
}

/* ---- measured on silicon ------------------------------------------------------------------------------------------ */

static void test_silicon(void **state)
{
    (void)state;
    for (unsigned i = 0; i < NOC_ROWS; i++) {
        double model = noc_rows[i].measure(noc_rows[i].argument), silicon = noc_rows[i].silicon;
        if (model < 0.95 * silicon || model > 1.05 * silicon)
            fail_msg("%s: %g, not %g", noc_rows[i].name, model, silicon);
    }
}

/* ---- coordinates, misuse, interrupts ------------------------------------------------------------------------------
 */

static void test_translation(void **state)
{
    wg_grid_desc desc = {
        .struct_size = sizeof desc, .arch = wg_test_arch(state), .harvested = bh(state) ? 1u << 3 : 1u << 2};
    wg_grid *g = NULL;
    assert_int_equal(wg_grid_create(&desc, &g), WG_OK);
    uint32_t place = bh(state) ? at(3, 5) : at(19, 19), self = bh(state) ? at(1, 5) : at(18, 21);
    unsigned x = bh(state) ? 4 : 2, y = bh(state) ? 5 : 3; /* the column or row after the harvested one */
    for (unsigned noc = 0; noc < 2; noc++) {
        put(g, 1, 5, 0x100, 0x60 + noc);
        noc_request r = {.noc = noc,
                         .ctrl = N_WRITE | N_ANSWER,
                         .len = 4,
                         .targ = 0x100,
                         .ret = 0x200,
                         .targ_at = self,
                         .ret_at = place};
        issue(g, 1, 5, &r);
        uint32_t kept = get(g, 1, 5, NIU0 + 0x10000 * noc + (bh(state) ? 0x14 : 0x10)) >> (bh(state) ? 0 : 4) & 0xFFF;
        assert_int_equal(kept, bh(state) ? place : raw(g, noc, x, y)); /* WH writes back what it found */
        wg_grid_advance(g, 1000);
        assert_int_equal(get(g, x, y, 0x200), 0x60 + noc);
        assert_int_equal(counter(g, 1, 5, noc, 1), 1);
        assert_int_equal(get(g, x, y, NIU0 + 0x10000 * noc + noc_map[desc.arch].logical) & 0xFFF, place);
    }
    assert_int_equal(findings_of(g), 0);
    wg_grid_destroy(g);
}

static void test_misuse(void **state)
{
    wg_grid *g = chip(state);
    raw_places(g, 2, 2);
    noc_request r = {.ctrl = N_READ, .len = 16, .targ = 0x100, .ret = 0x208, .targ_at = at(3, 2), .ret_at = at(2, 2)};
    issue(g, 2, 2, &r);
    put(g, 2, 2, NIU0, 0); /* it has not left yet */
    assert_true(has_finding(g, 2, 2, "noc-busy-initiator"));
    wg_grid_advance(g, 500);
    assert_true(has_finding(g, 2, 2, "noc-alignment"));
    r.ret = 0x200;
    r.ctrl = 3;
    issue(g, 2, 2, &r);
    assert_true(has_finding(g, 2, 2, "noc-no-request"));
    r.ctrl = N_READ;
    r.targ_at = bh(state) ? at(1, 0) : at(0, 2); /* a router only */
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    assert_true(has_finding(g, 2, 2, "noc-nowhere"));
    r.targ_at = at(3, 2);
    r.targ = 0xFFA00000;
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    assert_true(has_finding(g, 3, 2, "noc-unmapped"));
    r.targ = 0x100;
    r.ctrl = N_READ | N_STATIC | 1 << 14 | N_LINKED;
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    r.ctrl = N_READ;
    issue(g, 2, 2, &r); /* the same tile: the transaction's last */
    wg_grid_advance(g, 500);
    assert_false(has_finding(g, 2, 2, "noc-control"));
    r.ctrl = N_READ | N_STATIC | 2 << 14 | N_LINKED;
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    assert_true(has_finding(g, 2, 2, "noc-control"));
    assert_false(has_finding(g, 2, 2, "noc-linked"));
    r.targ_at = at(3, 3);
    r.ctrl = N_READ;
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 500);
    assert_true(has_finding(g, 2, 2, "noc-linked"));
    wg_grid_destroy(g);
}

/* A tile on its own reaches itself, and a request to another tile is reported. */
static void test_alone(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    uint32_t words[16][2], word = 0x1234, seen = 0;
    noc_request r = {.ctrl = N_WRITE | N_ANSWER, .len = 4, .targ = 0x100, .ret = 0x200};
    assert_int_equal(wg_write(dev, 0x100, &word, 4), WG_OK);
    unsigned n = noc_words(desc.arch, &r, words);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(wg_write(dev, NIU0 + words[i][0], &words[i][1], 4), WG_OK);
    wg_advance(dev, 8);
    /* A snapshot includes requests in flight. */
    size_t size = wg_snapshot_size(dev);
    void *snapshot = malloc(size);
    assert_int_equal(wg_snapshot(dev, snapshot, size), WG_OK);
    wg_device *again = NULL;
    assert_int_equal(wg_create(&desc, &again), WG_OK);
    assert_int_equal(wg_restore(again, snapshot, size), WG_OK);
    free(snapshot);
    wg_device *both[2] = {dev, again};
    for (unsigned i = 0; i < 2; i++) {
        wg_advance(both[i], 50);
        assert_int_equal(wg_read(both[i], 0x200, &seen, 4), WG_OK);
        assert_int_equal(seen, 0x1234);
        assert_int_equal(wg_read(both[i], NIU0 + 0x204, &seen, 4), WG_OK);
        assert_int_equal(seen, 1);
    }
    r.ret_at = at(5, 5);
    n = noc_words(desc.arch, &r, words);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(wg_write(dev, NIU0 + words[i][0], &words[i][1], 4), WG_OK);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 1000, &stop), WG_OK);
    assert_int_equal(wg_finding_count(dev), 1);
    assert_string_equal(wg_finding_info_at(wg_finding_at(dev, 0)->code)->code, "noc-nowhere");
    wg_destroy(dev);
    wg_destroy(again);
}

/* BH: the last answer of a transaction id raises an interrupt. */
static void test_interrupt(void **state)
{
    (void)state;
    wg_grid *g = chip(state);
    rv p = rv_at(0x8000), handler = rv_at(0x9000);
    rv_li(&p, S0, 0);
    unsigned loop = p.n;
    rv_addi(&p, S0, S0, 1);
    rv_beq(&p, ZERO, ZERO, loop);
    rv_li(&handler, A0, NIU0 + 0x378);
    rv_lw(&handler, A1, 0, A0);
    rv_store(&handler, 0x300, 0x1A7);
    rv_li(&handler, A0, 0x304);
    rv_sw(&handler, A1, 0, A0);
    rv_word(&handler, 0x30200073); /* mret */
    assert_true(rv_load(wg_grid_tile(g, 2, 2), &handler));
    boot(g, 2, 2, WG_CORE_B, &p);
    put(g, 2, 2, NIU0 + 0x178, 1u << 6);
    put(g, 2, 2, 0xFFB13128 + 4, 0x9000); /* HW_INT_PC[1] */
    put(g, 2, 2, 0xFFB13004, 2);
    noc_request r = {.ctrl = N_READ,
                     .tag = 6u << 10,
                     .len = 32,
                     .targ = 0x100,
                     .ret = 0x200,
                     .targ_at = at(3, 2),
                     .ret_at = at(2, 2)};
    issue(g, 2, 2, &r);
    wg_grid_advance(g, 1000);
    assert_int_equal(get(g, 2, 2, 0x300), 0x1A7);
    assert_int_equal(get(g, 2, 2, 0x304), 6);
    assert_int_equal(get(g, 2, 2, NIU0 + 0x37C), 0);
    wg_grid_destroy(g);
}

/* Streams as counting memory: one tile adds to a counter of another with ordinary inline writes. */
static void test_overlay(void **state)
{
    enum { STREAM = 0xFFB40000 + 9 * 0x1000 };
    uint32_t size = bh(state) ? 10 * 4 : 4 * 4, update = bh(state) ? 270 * 4 : 34 * 4,
             space = bh(state) ? 297 * 4 : 64 * 4;
    uint32_t base = bh(state) ? 28 * 4 : 244 * 4, phase = bh(state) ? 29 * 4 : 11 * 4,
             header = bh(state) ? 34 * 4 : 36 * 4;
    uint32_t debug = (bh(state) ? 503 : 226) * 4, scratch = bh(state) ? 36 * 4 : 248 * 4;
    wg_grid *g = chip(state);
    raw_places(g, 2, 2);
    put(g, 3, 4, STREAM + size, 0x20003); /* 17 bits */
    assert_int_equal(get(g, 3, 4, STREAM + space), 3);
    noc_request r = {
        .ctrl = N_WRITE | N_INLINE | N_ANSWER, .len = 15, .data = 5 << 6, .targ = STREAM + update, .targ_at = at(3, 4)};
    for (unsigned i = 0; i < 3; i++) {
        issue(g, 2, 2, &r);
        wg_grid_advance(g, 400);
    }
    assert_int_equal(get(g, 3, 4, STREAM + space), 18);
    assert_int_equal(get(g, 3, 4, STREAM + debug), 8);
    put(g, 3, 4, STREAM + size, 0);
    assert_int_equal(get(g, 3, 4, STREAM + debug), 0);
    put(g, 3, 4, STREAM + base, 100);
    put(g, 3, 4, STREAM + phase, 7);
    assert_int_equal(get(g, 3, 4, STREAM + phase), 7);
    put(g, 3, 4, STREAM + base, 90);
    assert_int_equal(get(g, 3, 4, STREAM + phase),
                     17); /* the base is added on the way in and subtracted on the way out */
    put(g, 3, 4, STREAM + header, 5);
    assert_int_equal(get(g, 3, 4, STREAM + phase), 22);
    put(g, 3, 4, STREAM + scratch, 0xFFFFFFFF); /* stream 9 can transmit to DRAM: 24 bits; stream 5 has none */
    assert_int_equal(get(g, 3, 4, STREAM + scratch), 0xFFFFFF);
    put(g, 3, 4, STREAM - 4 * 0x1000 + scratch, 0xFFFFFFFF);
    assert_int_equal(get(g, 3, 4, STREAM - 4 * 0x1000 + scratch), 0);
    assert_int_equal(findings_of(g), 0);
    get(g, 3, 4, NIU0 + 0x300); /* a missing register is reported */
    assert_true(has_finding(g, 3, 4, "unimplemented-register"));
    wg_grid_destroy(g);
}

static const wg_test tests[] = {
    WG_TEST(test_overlay, WG_BH | WG_WH, ""),
    WG_TEST(test_write, WG_BH | WG_WH, "SEM-13"),
    WG_TEST(test_read, WG_BH | WG_WH, ""),
    WG_TEST(test_latency, WG_BH | WG_WH, ""),
    WG_TEST(test_inline, WG_BH | WG_WH, ""),
    WG_TEST(test_byte_enables, WG_BH | WG_WH, ""),
    WG_TEST(test_atomic_operations, WG_BH | WG_WH, ""),
    WG_TEST(test_atomic_increment, WG_BH | WG_WH, "SEM-13 SEM-14 SEM-18"),
    WG_TEST(test_broadcast, WG_BH | WG_WH, "SEM-13"),
    WG_TEST(test_broadcast_exclude, WG_BH, ""),
    WG_TEST(test_broadcast_wraps, WG_BH | WG_WH, ""),
    WG_TEST(test_order, WG_BH | WG_WH, ""),
    WG_TEST(test_splitting, WG_BH | WG_WH, ""),
    WG_TEST(test_dram, WG_BH | WG_WH, ""),
    WG_TEST(test_way, WG_BH | WG_WH, ""),
    WG_TEST(test_silicon, WG_BH, ""),
    WG_TEST(test_translation, WG_BH | WG_WH, ""),
    WG_TEST(test_misuse, WG_BH | WG_WH, ""),
    WG_TEST(test_alone, WG_BH | WG_WH, ""),
    WG_TEST(test_interrupt, WG_BH, ""),
};
WG_MAIN("noc", tests)
