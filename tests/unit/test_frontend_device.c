/* SPDX-License-Identifier: Apache-2.0 */
/* The frontends inside a whole device, through the public interface: both ways of running give the same events. */
#include "wgtest.h"

#include <stdio.h>
#include "machine/device.h"

typedef struct log {
    wg_event *event;
    size_t count, room;
} log;

static void capture(void *user, const wg_event *event)
{
    log *l = user;
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 4096;
        l->event = realloc(l->event, l->room * sizeof *l->event);
    }
    l->event[l->count++] = *event;
}

static uint32_t random_word(wg_rng *g)
{
    uint32_t block = 1u << wg_rng_below(g, 9);
    switch (wg_rng_below(g, 16)) {
    case 0: return 0xA2000000u | block << 15 | 1u << wg_rng_below(g, 5);                      /* STALLWAIT */
    case 1: return 0xA6000000u | block << 15 | 4u << wg_rng_below(g, 8) | wg_rng_below(g, 4); /* SEMWAIT */
    case 2:
    case 3: return 0xA4000000u | wg_rng_below(g, 256) << 2;                              /* SEMPOST */
    case 4: return 0xA5000000u | wg_rng_below(g, 256) << 2;                              /* SEMGET */
    case 5: return 0xA3000000u | wg_rng_below(g, 256) << 16 | wg_rng_below(g, 256) << 2; /* SEMINIT */
    case 6: return 0xA0000002;                                                           /* ATGETM */
    case 7: return 0xA1000002;                                                           /* ATRELM */
    case 8: return 0x01000000u | wg_rng_below(g, 2) << 23 | wg_rng_below(g, 8) << 16 | wg_rng_below(g, 65536);
    case 9: return 0x04000000u | wg_rng_below(g, 32) << 14 | (1 + wg_rng_below(g, 8)) << 4 | wg_rng_below(g, 4);
    case 10: return 0x50000000;                           /* SETADC */
    case 11: return 0xB2000000u | 1u << 16;               /* SETC16 */
    case 12: return 0x60000000;                           /* DMANOP */
    case 13: return 0x03000000u | wg_rng_below(g, 65536); /* MOP_CFG */
    default: return 0x02000000;                           /* NOP */
    }
}

static uint64_t run(wg_arch_id arch, uint64_t seed, bool lockstep, log *l)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .seed = seed % 2 ? seed : 0, .lockstep = lockstep};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    int id;
    assert_int_equal(wg_observe(dev, WG_EV_ALL, capture, l, &id), WG_OK);
    wg_rng g = {seed};
    for (uint32_t i = 0; i < 27; i++)
        wg_poke(dev, WG_SPACE_MOP_CFG, i, i % 9 < 2 ? wg_rng_below(&g, 6) : random_word(&g));
    for (unsigned i = 0; i < 800; i++) {
        wg_push(dev, wg_rng_below(&g, 3), random_word(&g)); /* with no room, refused alike in both ways */
        if (wg_rng_below(&g, 8) == 0)
            wg_poke(dev, WG_SPACE_SEM_VALUE, wg_rng_below(&g, 8), 1 + wg_rng_below(&g, 3));
        if (wg_rng_below(&g, 8) == 0)
            wg_poke(dev, WG_SPACE_MUTEX, 2, 0);
        wg_advance(dev, wg_rng_below(&g, 6));
    }
    wg_advance(dev, 500);
    uint64_t hash = wg_state_hash(dev);
    wg_destroy(dev);
    return hash;
}

static void test_lockstep_is_identical(void **state)
{
    WG_TEST_SEEDS(seed, 39)
    {
        log a = {0}, b = {0};
        uint64_t x = run(wg_test_arch(state), seed, false, &a), y = run(wg_test_arch(state), seed, true, &b);
        assert_true(a.count > 200);
        for (size_t i = 0; i < a.count && i < b.count; i++) {
            const wg_event *p = &a.event[i], *q = &b.event[i];
            if (p->cycle != q->cycle || p->kind != q->kind || p->agent != q->agent || p->id != q->id ||
                p->word != q->word || p->a != q->a || p->b != q->b || p->c != q->c ||
                p->stall.reason != q->stall.reason)
                fail_msg("seed %llu, event %zu: %s at %llu, in lockstep %s at %llu", (unsigned long long)seed, i,
                         wg_event_name(p->kind), (unsigned long long)p->cycle, wg_event_name(q->kind),
                         (unsigned long long)q->cycle);
        }
        assert_int_equal(a.count, b.count);
        assert_true(x == y);
        free(a.event);
        free(b.event);
    }
}

/* ---- Rows of instructions for one unit, unwatched ---- */

/*
 * Words that keep units busy: instructions of the Matrix and Vector Unit, the packers, the unpackers, and waits for
 * them.
 */
static uint32_t unit_word(wg_rng *g)
{
    static const uint32_t words[] = {0x84012300, 0x85012300, 0x8F000000, 0x26000000, 0x27000000, 0x12000000,
                                     0x41000000, 0x41000001, 0x43000101, 0x43800101, 0x57000003, 0x50000000,
                                     0x02000000, 0x70020000, 0x72020000, 0xB2020001, 0x45000000, 0x36000003};
    static const uint32_t conditions[] = {0x02, 0x04, 0x08, 0x10, 0x1E};
    if (wg_rng_below(g, 6))
        return words[wg_rng_below(g, sizeof words / sizeof *words)];
    return wg_rng_below(g, 3) ? 0xA2000000u | (1u << wg_rng_below(g, 9)) << 15 | conditions[wg_rng_below(g, 5)]
                              : random_word(g);
}

/* A hash of the threads' positions. */
static uint64_t gates_hash(const wg_tile *t)
{
    uint64_t h = 0;
    for (unsigned i = 0; i < 3; i++) {
        wg_gate_info g;
        wg_gate_state(t, i, &g);
        const uint64_t part[] = {
            g.fifo,      g.replay_fifo, g.gate_fifo, g.direct_downstream, g.has_head ? g.head.id : 0,
            g.expanding, g.mop_outer,   g.mop_inner, g.replaying,         g.recording,
            g.latch.kind};
        for (unsigned k = 0; k < sizeof part / sizeof *part; k++)
            h = (h ^ part[k]) * UINT64_C(0x9FB21C651E98DF25) + 1;
    }
    return h;
}

/* MOPs with long loops, mostly of one thread; in steps of very different lengths. */
static void test_rows_are_identical(void **state)
{
    WG_TEST_SEEDS(seed, 119)
    {
        wg_device *dev[2];
        for (unsigned i = 0; i < 2; i++) {
            wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state), .lockstep = i};
            assert_int_equal(wg_create(&desc, &dev[i]), WG_OK);
        }
        wg_rng g = {seed};
        for (unsigned step = 0; step < 150; step++) {
            unsigned thread = wg_rng_below(&g, 4) ? (unsigned)(seed % 3) : wg_rng_below(&g, 3);
            if (wg_rng_below(&g, 10) == 0)
                for (unsigned i = 0; i < 9; i++) {
                    uint32_t nop = 0x02000000, same = unit_word(&g);
                    uint32_t word = i == 0   ? 1 + wg_rng_below(&g, 3)
                                    : i == 1 ? 1 + wg_rng_below(&g, 60)
                                    : i == 5 ? same
                                             : (wg_rng_below(&g, 3) ? nop : unit_word(&g));
                    for (unsigned k = 0; k < 2; k++)
                        wg_poke(dev[k], WG_SPACE_MOP_CFG, thread * 9 + i, word);
                }
            uint32_t word = wg_rng_below(&g, 3) ? unit_word(&g) : 0x01800000;
            unsigned cycles = 1 + wg_rng_below(&g, wg_rng_below(&g, 3) ? 8 : 300);
            for (unsigned k = 0; k < 2; k++) {
                wg_push(dev[k], thread, word);
                if (step % 4 == 0)
                    wg_poke(dev[k], WG_SPACE_SEM_VALUE, step / 4 % 8, 1);
                wg_advance(dev[k], cycles);
            }
            if (gates_hash(dev[0]->tile) != gates_hash(dev[1]->tile) ||
                (step % 50 == 49 && wg_state_hash(dev[0]) != wg_state_hash(dev[1])))
                fail_msg("seed %llu: differs at cycle %llu, step %u", (unsigned long long)seed,
                         (unsigned long long)wg_cycle(dev[0]), step);
        }
        wg_destroy(dev[0]);
        wg_destroy(dev[1]);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_lockstep_is_identical, WG_BH | WG_WH, ""),
    WG_TEST(test_rows_are_identical, WG_BH | WG_WH, ""),
};
WG_MAIN("frontend_device", tests)
