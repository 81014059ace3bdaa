/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulator's frontends and Sync Unit against the naive model (tests/naive), cycle for cycle, on random programs. A
 * million instructions by default; WG_SOAK=1 runs a thousand times as many. Every second program runs without an
 * observer, as most programs do: then the FIFOs' fill levels are compared in every cycle instead of the events.
 */
#include "../naive/naive.h"
#include "machine/device.h"
#include "machine/frontend.h"
#include "wgtest.h"

enum { EPISODE_WORDS = 240, EPISODE_CYCLES = 2500, STUCK = 64, LOG = 64 };

typedef struct log {
    naive_event e[LOG];
    int count;
} log;

static void note(log *l, const naive_event *e)
{
    if (l->count < LOG)
        l->e[l->count++] = *e;
}

static void naive_note(void *user, const naive_event *e) { note(user, e); }

static void waitgate_note(void *user, const wg_event *e)
{
    if (e->agent < WG_AGENT_THREAD0 || e->agent > WG_AGENT_THREAD2)
        return;
    naive_event n = {e->cycle, e->kind == WG_EV_PUSHED ? NAIVE_PUSHED : NAIVE_ISSUED,
                     (uint8_t)(e->agent - WG_AGENT_THREAD0), e->word};
    note(user, &n);
}

static uint32_t wait_word(wg_rng *r, bool wormhole)
{
    static const uint32_t blocks[] = {0, 0x1FF, 0x002, 0x142, 0x001, 0x080, 0x100, 0x020, 0x003};
    uint32_t block = blocks[wg_rng_below(r, 9)];
    if (wg_rng_below(r, 2)) {
        uint32_t sems = 1u << wg_rng_below(r, 4) | (wg_rng_below(r, 8) ? 0 : 1u << wg_rng_below(r, 4));
        return 0xA6000000u | block << 15 | sems << 2 | (1 + wg_rng_below(r, 3));
    }
    /* conditions that this subset can meet: idle units, the Vector Unit, (BH) the Configuration Unit */
    static const uint32_t bh[] = {0, 0x001, 0x00E, 0x010, 0x200, 0x800, 0x1000, 0x1810, 0x60};
    static const uint32_t wh[] = {0, 0x0001, 0x0006, 0x0078, 0x1000, 0x4000, 0x4080, 0x300, 0x2000};
    return 0xA2000000u | block << 15 | (wormhole ? wh : bh)[wg_rng_below(r, 9)];
}

static uint32_t random_word(wg_rng *r, bool wormhole, bool may_mop)
{
    static const uint32_t mutexes[] = {0, 2, 3, 4};
    switch (wg_rng_below(r, 16)) {
    case 0:
        return 0xA3000000u | (1 + wg_rng_below(r, 15)) << 20 | wg_rng_below(r, 16) << 16 |
               1u << (2 + wg_rng_below(r, 4));
    case 1:
    case 2: return 0xA4000000u | (1 + wg_rng_below(r, 15)) << 2;
    case 3: return 0xA5000000u | 1u << (2 + wg_rng_below(r, 4));
    case 4:
    case 5: return wait_word(r, wormhole);
    case 6: return 0xA0000000u | mutexes[wg_rng_below(r, 4)];
    case 7: return 0xA1000000u | mutexes[wg_rng_below(r, 4)];
    case 8: return 0x8F000000u;
    case 9: return 0x60000000u;
    case 10: return 0x45000000u | wg_rng_below(r, 64) << 1; /* SETDMAREG, 16-bit immediate form */
    case 11: return 0x58000000u | wg_rng_below(r, 64) << 12;
    case 12: return 0xB2000000u | 10u << 16; /* SETC16 of a word that nothing here reads */
    case 13: return 0x51000000u;
    case 14: {
        if (!may_mop)
            return 0x02000000u;
        uint32_t load = wg_rng_below(r, 3) == 0, exec = wg_rng_below(r, 2);
        return 0x04000000u | wg_rng_below(r, 32) << 14 | (1 + wg_rng_below(r, 12)) << 4 | exec << 1 | load;
    }
    default:
        return may_mop && !wg_rng_below(r, 3)
                   ? 0x01000000u | wg_rng_below(r, 2) << 23 | wg_rng_below(r, 5) << 16 | wg_rng_below(r, 32)
                   : 0x02000000u;
    }
}

static void set_mop_cfg(wg_device *dev, naive *n, wg_rng *r, unsigned thread)
{
    for (unsigned i = 0; i < 9; i++) {
        uint32_t w = i < 2 ? wg_rng_below(r, 4) : wg_rng_below(r, 3) ? random_word(r, n->wormhole, false) : 0x02000000u;
        n->t[thread].mop_cfg[i] = w;
        assert_int_equal(wg_poke(dev, WG_SPACE_MOP_CFG, thread * 9 + i, w), WG_OK);
    }
}

static int by_kind_and_thread(const void *a, const void *b)
{
    const naive_event *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind : x->thread - y->thread;
}

static void compare(const log *ours, const log *theirs, uint64_t seed)
{
    bool equal = ours->count == theirs->count;
    for (int i = 0; equal && i < ours->count; i++)
        equal = ours->e[i].kind == theirs->e[i].kind && ours->e[i].thread == theirs->e[i].thread &&
                ours->e[i].word == theirs->e[i].word;
    if (equal)
        return;
    print_message("seed %llu differs\n", (unsigned long long)seed);
    for (int i = 0; i < ours->count; i++)
        print_message("  waitgate: cycle %llu %s thread %u %08x\n", (unsigned long long)ours->e[i].cycle,
                      ours->e[i].kind ? "issued" : "pushed", ours->e[i].thread, ours->e[i].word);
    for (int i = 0; i < theirs->count; i++)
        print_message("  naive:    cycle %llu %s thread %u %08x\n", (unsigned long long)theirs->e[i].cycle,
                      theirs->e[i].kind ? "issued" : "pushed", theirs->e[i].thread, theirs->e[i].word);
    fail();
}

static void compare_fifos(const wg_tile *t, const naive *n, uint64_t seed)
{
    for (unsigned k = 0; k < 3; k++) {
        const naive_thread *theirs = &n->t[k];
        wg_gate_info ours;
        wg_gate_state(t, k, &ours);
        bool equal = ours.fifo == theirs->fifo.count && ours.replay_fifo == theirs->replay_fifo.count &&
                     ours.gate_fifo == theirs->gate_fifo.count && ours.expanding == theirs->expanding &&
                     ours.replaying == theirs->replaying && (ours.latch.kind != 0) == theirs->latched &&
                     (!ours.has_head || ours.head.word == theirs->gate_fifo.item[0].word);
        if (!equal)
            print_message("seed %llu cycle %llu thread %u: FIFOs %u %u %u, naive %d %d %d\n", (unsigned long long)seed,
                          (unsigned long long)n->now, k, ours.fifo, ours.replay_fifo, ours.gate_fifo,
                          theirs->fifo.count, theirs->replay_fifo.count, theirs->gate_fifo.count);
        assert_true(equal);
    }
}

/* One random program; returns how many instructions passed the gates. */
static uint64_t episode(wg_device *dev, naive *n, log *ours, log *theirs, uint64_t seed, bool wormhole)
{
    bool watched = seed & 1;
    uint64_t kinds = WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_ISSUED);
    int observer;
    if (watched)
        assert_int_equal(wg_observe(dev, kinds, waitgate_note, ours, &observer), WG_OK);
    wg_rng r = {seed};
    naive_reset(n, wormhole);
    assert_int_equal(wg_reset(dev), WG_OK);
    uint32_t stream[3][EPISODE_WORDS];
    int at[3] = {0};
    for (unsigned k = 0; k < 3; k++) {
        set_mop_cfg(dev, n, &r, k);
        /*
         * First the replay buffer is filled, so that no unwritten slot is replayed; a recording holds ordinary
         * instructions.
         */
        uint32_t recorded = 32;
        stream[k][0] = 0x04000001u;
        for (int i = 1; i < EPISODE_WORDS; i++) {
            uint32_t w = random_word(&r, wormhole, recorded == 0);
            stream[k][i] = w;
            recorded -= recorded > 0;
            if (w >> 24 == 0x04 && w & 1)
                recorded = w >> 4 & 63;
        }
    }
    uint64_t issued = 0;
    uint32_t eagerness = 1 + wg_rng_below(&r, 4);
    for (int c = 0, still = 0; c < EPISODE_CYCLES && still < STUCK; c++) {
        ours->count = theirs->count = 0;
        for (int k = 0; k < 3; k++) {
            if (at[k] == EPISODE_WORDS || wg_rng_below(&r, eagerness))
                continue;
            bool a = wg_push(dev, (unsigned)k, stream[k][at[k]]) == WG_OK;
            bool b = naive_push(n, k, stream[k][at[k]]);
            if (a != b)
                print_message("seed %llu cycle %d thread %d: push %s, naive %s\n", (unsigned long long)seed, c, k,
                              a ? "taken" : "refused", b ? "taken" : "refused");
            assert_true(a == b);
            at[k] += a;
        }
        /* Unwatched, also in steps of many cycles: then cycles of threads and units run back to back. */
        unsigned cycles = watched || seed & 2 ? 1 : 1 + wg_rng_below(&r, 24);
        assert_int_equal(wg_advance(dev, cycles), WG_OK);
        for (unsigned i = 0; i < cycles; i++)
            naive_cycle(n);
        if (watched) {
            qsort(ours->e, (size_t)ours->count, sizeof ours->e[0], by_kind_and_thread);
            qsort(theirs->e, (size_t)theirs->count, sizeof theirs->e[0], by_kind_and_thread);
            compare(ours, theirs, seed);
        } else {
            compare_fifos(dev->tile, n, seed);
        }
        for (int i = 0; i < theirs->count; i++)
            issued += theirs->e[i].kind == NAIVE_ISSUED;
        still = theirs->count ? 0 : still + 1;
    }
    if (watched)
        wg_unobserve(dev, observer);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t value, max;
        assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, i, &value), WG_OK);
        assert_int_equal(wg_peek(dev, WG_SPACE_SEM_MAX, i, &max), WG_OK);
        assert_int_equal(value, n->value[i]);
        assert_int_equal(max, n->max[i]);
    }
    return issued;
}

static void test_agrees_with_naive(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    static naive n;
    static log ours, theirs;
    n.emit = naive_note;
    n.user = &theirs;
    uint64_t target = wg_test_rounds(500000, 500000000), done = 0;
    const uint64_t first = wg_test_first() ? wg_test_first() : 1, programs = wg_test_count(UINT64_MAX);
    for (uint64_t seed = first; done < target && seed - first < programs; seed++) {
        wg_test_seed(seed);
        done += episode(dev, &n, &ours, &theirs, seed, arch == WG_ARCH_WH);
        if (target > 500000 && seed % 100000 == 0)
            print_message("%llu instructions agree\n", (unsigned long long)done);
    }
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_agrees_with_naive, WG_BH | WG_WH, "PIPE-02 PIPE-16 PIPE-18 GATE-06 GATE-26 SYNC-02 SYNC-03"),
};
WG_MAIN("naive", tests)
