/* SPDX-License-Identifier: Apache-2.0 */
/* The network's calendar against a simple list of cycles and events. */
#include "wgtest.h"

#include <stdlib.h>

#include "noc/calendar.h"

enum { MOST = 4000, ROUNDS = 20000 };

typedef struct item {
    uint64_t cycle;
    uint16_t which;
    uint8_t kind;
} item;

static item list[MOST];
static unsigned count;
static wg_rng g;

static uint64_t first(void)
{
    uint64_t cycle = UINT64_MAX;
    for (unsigned i = 0; i < count; i++)
        cycle = list[i].cycle < cycle ? list[i].cycle : cycle;
    return cycle;
}

static void put(wg_calendar *c, uint64_t cycle, unsigned kind)
{
    item p = {cycle, (uint16_t)wg_rng_below(&g, kind == WG_SPREADS ? 2 * WG_GRID_MAX_TILES : 6 * WG_GRID_MAX_TILES),
              (uint8_t)kind};
    for (unsigned i = 0; i < count; i++) /* several of these in one cycle count as one */
        if (list[i].cycle == p.cycle && list[i].kind == kind && list[i].which == p.which)
            return;
    if (count == MOST)
        return;
    list[count++] = p;
    wg_calendar_put(c, cycle, (wg_network_event)kind, p.which);
}

/* Mostly near times; some far ones, or just inside or outside the range that has lists. */
static uint64_t some_time(uint64_t now)
{
    switch (wg_rng_below(&g, 16)) {
    case 0: return now + 1 + wg_rng_below(&g, 20000);
    case 1: return now + WG_CALENDAR_DAYS - 2 + wg_rng_below(&g, 4);
    case 2: return now + 1 + WG_CALENDAR_DAYS / 2 + wg_rng_below(&g, 2);
    default: return now + 1 + wg_rng_below(&g, 40);
    }
}

/* Takes all events of the open cycle, kind by kind; SPREADS and LOOKS in order. */
static void take_all(wg_calendar *c, uint64_t cycle)
{
    for (unsigned kind = 0; kind < WG_EVENT_KINDS; kind++) {
        unsigned which, before = 0;
        bool any = false;
        while (wg_calendar_take(c, (wg_network_event)kind, &which)) {
            unsigned i = 0;
            while (i < count && (list[i].cycle != cycle || list[i].kind != kind || list[i].which != which))
                i++;
            if (i == count)
                fail_msg("cycle %llu: kind %u of %u was never put", (unsigned long long)cycle, kind, which);
            list[i] = list[--count];
            if ((kind == WG_SPREADS || kind == WG_LOOKS) && any)
                assert_true(which > before);
            before = which;
            any = true;
            if (kind != WG_LOOKS && !wg_rng_below(&g, 4))
                put(c, cycle, WG_LOOKS);
            if (!wg_rng_below(&g, 2))
                put(c, some_time(cycle), wg_rng_below(&g, WG_EVENT_KINDS));
        }
    }
    for (unsigned i = 0; i < count; i++)
        if (list[i].cycle == cycle)
            fail_msg("cycle %llu: kind %u of %u did not come", (unsigned long long)cycle, list[i].kind, list[i].which);
}

static void test_order(void **state)
{
    (void)state;
    wg_calendar *c = calloc(1, sizeof *c);
    assert_non_null(c);
    wg_calendar_derive(c);
    assert_true(c->first == UINT64_MAX);
    g.s = 20;
    uint64_t now = 5;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned more = count ? wg_rng_below(&g, 3) : 1 + wg_rng_below(&g, 40);
        if (!count) /* it was empty for a long time */
            now += wg_rng_below(&g, 3) * 5000;
        while (more--)
            put(c, some_time(now), wg_rng_below(&g, WG_EVENT_KINDS));
        assert_true(c->first == first());
        if (!wg_rng_below(&g, 50)) { /* a snapshot is restored */
            wg_calendar_derive(c);
            assert_true(c->first == first());
        }
        wg_calendar_open(c);
        now = c->open;
        take_all(c, now);
    }
    free(c);
}

/* An event sent later may happen sooner, even before the cycle at which the calendar began. */
static void test_earlier(void **state)
{
    (void)state;
    wg_calendar *c = calloc(1, sizeof *c);
    unsigned which = 0;
    assert_non_null(c);
    wg_calendar_derive(c);
    wg_calendar_put(c, 100000, WG_ARRIVES, 1);
    wg_calendar_put(c, 99000, WG_ARRIVES, 2);
    wg_calendar_put(c, 70000, WG_PASSED, 3);
    static const struct {
        uint64_t cycle;
        wg_network_event kind;
        unsigned which;
    } expected[] = {{70000, WG_PASSED, 3}, {99000, WG_ARRIVES, 2}, {100000, WG_ARRIVES, 1}};
    for (unsigned i = 0; i < 3; i++) {
        assert_true(c->first == expected[i].cycle);
        wg_calendar_open(c);
        assert_true(wg_calendar_take(c, expected[i].kind, &which));
        assert_int_equal(which, expected[i].which);
        assert_false(wg_calendar_take(c, expected[i].kind, &which));
    }
    assert_true(c->first == UINT64_MAX);
    free(c);
}

/* The last cycle that has a list lies, as a bit, before the first one in the same word. */
static void test_round(void **state)
{
    (void)state;
    wg_calendar *c = calloc(1, sizeof *c);
    assert_non_null(c);
    wg_calendar_derive(c);
    wg_calendar_put(c, 1000, WG_ARRIVES, 1);
    wg_calendar_put(c, 1002, WG_ARRIVES, 2);
    wg_calendar_open(c);
    wg_calendar_put(c, 1001 + WG_CALENDAR_DAYS - 4, WG_ARRIVES, 3);
    wg_calendar_open(c);
    assert_true(c->first == 1001 + WG_CALENDAR_DAYS - 4);
    free(c);
}

static const wg_test tests[] = {WG_TEST(test_order, WG_BH, ""), WG_TEST(test_earlier, WG_BH, ""),
                                WG_TEST(test_round, WG_BH, "")};
WG_MAIN("calendar", tests)
