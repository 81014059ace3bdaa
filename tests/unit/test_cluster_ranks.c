/* SPDX-License-Identifier: Apache-2.0 */
/* Random chips, links and traffic: the same state from any number of host threads, and of processes. */
#include <pthread.h>

#include "../support/cluster_rig.h"
#include "rvasm.h"

static uint64_t hash(const rig *r)
{
    uint64_t h;
    assert_int_equal(wg_cluster_state_hash(r->c, &h), WG_OK);
    return h;
}

/*
 * A core sums words that frames change meanwhile, with some arithmetic in between: the values read depend on the cycle
 * of the read.
 */
static void compute(wg_grid *g, unsigned x, unsigned y, unsigned work)
{
    rv p = rv_at(CODE);
    rv_li(&p, T0, DATA);
    const unsigned loop = p.n;
    for (unsigned i = 0; i < 4; i++) {
        rv_lw(&p, A0, (int)(64 * i), T0);
        for (unsigned k = 0; k < work; k++)
            rv_add(&p, A2, A2, A0);
        rv_add(&p, A1, A1, A2);
    }
    rv_sw(&p, A1, 0x7F0, T0);
    rv_beq(&p, ZERO, ZERO, loop);
    assert_int_equal(wg_grid_write(g, x, y, p.base, p.word, 4 * p.n), WG_OK);
    wg_device *dev = wg_grid_tile(g, x, y);
    assert_int_equal(wg_core_release(dev, WG_CORE_B, p.base), WG_OK);
}

/* ---- Random traffic ---------------------------------------------------------------------------------------------- */

/* Chips connected at random, with transfers of random kinds and sizes at random times; some of their cores compute. */
static uint64_t random_traffic(wg_arch_id arch, uint64_t seed, unsigned threads, wg_transport *ranks, bool lockstep)
{
    uint64_t s = seed;
    const unsigned chips = 4 + (unsigned)(draw(&s) % 5);
    rig r = ranks_of(arch, chips, threads, ranks, lockstep);
    struct {
        wg_grid *g;
        unsigned x, y;
    } end[64];
    unsigned ends = 0;
    for (unsigned i = 0; i < 12; i++) {
        wg_cluster_link l = {.struct_size = sizeof l,
                             .cut_at = draw(&s) % 4 ? 0 : 1 + draw(&s) % 20000,
                             .lose_every = {draw(&s) % 3 ? 0 : 2 + draw(&s) % 9, 0}};
        if (l.cut_at && draw(&s) % 2)
            l.again_at = l.cut_at + 1 + draw(&s) % 10000;
        for (unsigned k = 0; k < 2; k++)
            l.end[k] = (wg_cluster_end){(unsigned)(draw(&s) % chips), (unsigned)(draw(&s) % 14)};
        if (wg_cluster_connect(r.c, &l, NULL) != WG_OK)
            continue;
        for (unsigned k = 0; k < 2; k++) {
            end[ends].g = r.g[l.end[k].chip];
            if (end[ends].g)
                place_of(end[ends].g, l.end[k].channel, &end[ends].x, &end[ends].y);
            const unsigned work = (unsigned)(draw(&s) % 24);
            if (end[ends].g && work % 3 == 0)
                compute(end[ends].g, end[ends].x, end[ends].y, work);
            ends++;
        }
    }
    for (unsigned i = 0; ends && i < 60; i++) {
        static const uint32_t commands[] = {SEND_DATA, SEND_DATA, SEND_REGISTER, SEND_RAW};
        const unsigned e = (unsigned)(draw(&s) % ends), queue = (unsigned)(draw(&s) % 2);
        const uint32_t command = commands[draw(&s) % 4];
        const uint32_t bytes = (uint32_t)(draw(&s) % 4 ? draw(&s) % 64 : draw(&s) % 1024) * 16;
        const uint32_t at = DATA + 4 * (uint32_t)(draw(&s) % 64), value = (uint32_t)draw(&s),
                       to = command == SEND_REGISTER ? 0xFFB80000u : DATA + 16 * (uint32_t)(draw(&s) % 256);
        const uint32_t write[][2] = {{at, value},
                                     {txq(queue, 0x14), DATA},
                                     {txq(queue, 0x18), bytes},
                                     {txq(queue, 0x1C), to},
                                     {txq(queue, 4), command}};
        for (unsigned k = 0; end[e].g && k < 5; k++)
            put(end[e].g, end[e].x, end[e].y, write[k][0], write[k][1]);
        assert_int_equal(wg_cluster_advance(r.c, draw(&s) % 700), WG_OK);
    }
    assert_int_equal(wg_cluster_advance(r.c, 20000), WG_OK);
    const uint64_t h = hash(&r);
    wg_cluster_destroy(r.c);
    return h;
}

/*
 * A core ahead of the clock has read words that a frame then changes: it is rolled back. Frames keep arriving in a
 * buffer of 256 bytes that the core reads continuously.
 */
static uint64_t read_meanwhile(wg_arch_id arch, unsigned work, bool lockstep)
{
    rig r = ranks_of(arch, 2, 1, NULL, lockstep);
    const wg_cluster_link l = {.struct_size = sizeof l, .end = {{0, CHANNEL_A}, {1, CHANNEL_B}}};
    unsigned x, y;
    assert_int_equal(wg_cluster_connect(r.c, &l, NULL), WG_OK);
    for (uint32_t i = 0; i < 0x8000; i += 4)
        set(&r, 0, DATA + i, i * 2654435761u);
    set(&r, 1, rxq(&r, 0, 0x0C), DATA >> 4);
    set(&r, 1, rxq(&r, 0, 0x10), 16);
    set(&r, 1, rxq(&r, 0, 0x00), 4); /* raw, wraps */
    place_of(r.g[1], CHANNEL_B, &x, &y);
    compute(r.g[1], x, y, work);
    send(&r, 0, 0, DATA, 0x8000, 0, SEND_RAW);
    pass(&r, 30000);
    const uint64_t h = hash(&r);
    wg_cluster_destroy(r.c);
    return h;
}

static void test_ahead(void **state)
{
    for (unsigned work = 0; work < 24; work += 5)
        assert_int_equal(read_meanwhile(wg_test_arch(state), work, false),
                         read_meanwhile(wg_test_arch(state), work, true));
}

/* ---- Several processes, as threads of this process --------------------------------------------------------------- */

enum { RANKS = 4 };

typedef struct world {
    unsigned ranks;
    pthread_barrier_t all;
    wg_message box[RANKS][RANKS]; /* from, to */
    uint64_t value[RANKS][16];
} world;

typedef struct process {
    world *w;
    wg_transport t;
    wg_arch_id arch;
    uint64_t seed, hash;
} process;

static bool copy(wg_message *to, const wg_message *from)
{
    to->bytes = 0;
    return wg_message_add(to, from->data, from->bytes);
}

static bool exchange(wg_transport *t, const bool *peers, const wg_message *out, wg_message *in, uint64_t *value,
                     unsigned values)
{
    world *w = ((process *)t->self)->w;
    bool ok = true;
    for (unsigned i = 0; peers && i < t->ranks; i++)
        if (peers[i])
            ok &= copy(&w->box[t->rank][i], &out[i]);
    memcpy(w->value[t->rank], value, values * sizeof *value);
    pthread_barrier_wait(&w->all);
    for (unsigned i = 0; i < t->ranks; i++) {
        if (peers && peers[i])
            ok &= copy(&in[i], &w->box[i][t->rank]);
        for (unsigned k = 0; k < values; k++)
            value[k] = w->value[i][k] < value[k] ? w->value[i][k] : value[k];
    }
    pthread_barrier_wait(&w->all);
    return ok;
}

static bool gather(wg_transport *t, const wg_message *mine, wg_message *in)
{
    world *w = ((process *)t->self)->w;
    bool ok = copy(&w->box[t->rank][t->rank], mine);
    pthread_barrier_wait(&w->all);
    for (unsigned i = 0; !t->rank && i < t->ranks; i++)
        ok &= copy(&in[i], &w->box[i][i]);
    pthread_barrier_wait(&w->all);
    return ok;
}

static void *process_main(void *argument)
{
    process *p = argument;
    p->hash = random_traffic(p->arch, p->seed, 1, &p->t, false);
    return NULL;
}

static uint64_t over_ranks(wg_arch_id arch, uint64_t seed, unsigned ranks)
{
    static world w;
    pthread_t thread[RANKS];
    process p[RANKS];
    memset(&w, 0, sizeof w);
    w.ranks = ranks;
    assert_int_equal(pthread_barrier_init(&w.all, NULL, ranks), 0);
    for (unsigned i = 0; i < ranks; i++) {
        p[i] = (process){.w = &w, .arch = arch, .seed = seed};
        p[i].t = (wg_transport){.struct_size = sizeof p[i].t,
                                .rank = i,
                                .ranks = ranks,
                                .self = &p[i],
                                .exchange = exchange,
                                .gather = gather};
        assert_int_equal(pthread_create(&thread[i], NULL, process_main, &p[i]), 0);
    }
    for (unsigned i = 0; i < ranks; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (unsigned i = 0; i < RANKS * RANKS; i++)
        wg_message_free(&w.box[i / RANKS][i % RANKS]);
    pthread_barrier_destroy(&w.all);
    return p[0].hash;
}

static void test_random(void **state)
{
    const uint64_t first = wg_test_first();
    for (uint64_t seed = first; seed < first + wg_test_count(wg_test_rounds(12, 300)); seed++) {
        wg_test_seed(seed);
        const uint64_t one = random_traffic(wg_test_arch(state), seed, 1, NULL, false);
        assert_int_equal(random_traffic(wg_test_arch(state), seed, 2, NULL, false), one);
        assert_int_equal(random_traffic(wg_test_arch(state), seed, 4, NULL, false), one);
        if (seed % 4 == 0 || wg_test_rounds(0, 1))
            assert_int_equal(random_traffic(wg_test_arch(state), seed, 1, NULL, true), one);
        assert_int_equal(over_ranks(wg_test_arch(state), seed, 2), one);
        assert_int_equal(over_ranks(wg_test_arch(state), seed, 4), one);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_random, WG_BH | WG_WH, ""),
    WG_TEST(test_ahead, WG_BH | WG_WH, ""),
};
WG_MAIN("cluster_ranks", tests)
