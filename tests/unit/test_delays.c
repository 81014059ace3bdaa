/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random delays break nothing: random programs of semaphores, mutexes, waits and work run under a hundred seeds each.
 *
 *     step: thread i posts when there is room, thread j waits and gets     (one semaphore per ordered pair)
 *     step: thread i takes a mutex, works, and gives it back
 *     step: thread i works, posts or gets semaphores that nobody waits for
 *
 * The steps are drawn in one order and dealt to the threads, so no program can hang. Every thread issues exactly what
 * was pushed, in order; mutexes exclude; semaphores stay in 0…15 and end as they must.
 */
#include "wgtest.h"

#include <stdio.h>

enum { PROGRAMS = 10, SEEDS = 100, STEPS = 60, MAX_WORDS = STEPS * 12 + 20, FREE_SEMAPHORES = 6, MUTEXES = 4 };

static const uint8_t mutexes[MUTEXES] = {0, 2, 3, 4};

typedef struct stream {
    uint32_t word[MAX_WORDS];
    unsigned n;
} stream;

/* What the events of a run have shown so far. */
typedef struct watch {
    const stream *wanted;
    unsigned pushed[WG_THREADS], issued[WG_THREADS];
    uint64_t last_id[WG_THREADS];
    uint8_t holder[8]; /* by the threads' issued words: the thread between ATGETM and ATRELM */
    const char *wrong;
} watch;

static void see(void *user, const wg_event *e)
{
    watch *w = user;
    unsigned thread = e->thread % WG_THREADS;
    const stream *s = &w->wanted[thread];
    if (e->kind == WG_EV_SEMAPHORE) {
        if (e->b > 15 || e->c > 15)
            w->wrong = "a semaphore left 0…15";
        return;
    }
    if (e->kind == WG_EV_PUSHED) {
        if (w->pushed[thread] >= s->n || s->word[w->pushed[thread]] != e->word)
            w->wrong = "a word was pushed that is not the next";
        w->pushed[thread]++;
        return;
    }
    if (w->issued[thread] >= s->n || s->word[w->issued[thread]] != e->word)
        w->wrong = "an instruction was issued that is not the next";
    if (e->id <= w->last_id[thread])
        w->wrong = "an instruction was issued twice or out of order";
    w->last_id[thread] = e->id;
    w->issued[thread]++;
    uint8_t *holder = &w->holder[e->word & 7];
    if (e->word >> 24 == 0xA0) {
        if (*holder && *holder != thread + 1)
            w->wrong = "two threads hold one mutex";
        *holder = (uint8_t)(thread + 1);
    } else if (e->word >> 24 == 0xA1 && *holder == thread + 1) {
        *holder = 0;
    }
}

static void add(stream *s, uint32_t word)
{
    assert_true(s->n < MAX_WORDS);
    s->word[s->n++] = word;
}

/* Waits whose conditions are met eventually. */
static uint32_t harmless_wait(wg_rng *r, wg_arch_id arch)
{
    static const uint32_t bh[] = {0x001, 0x010, 0x200, 0x400, 0x800, 0x1000, 0x1810, 0};
    static const uint32_t wh[] = {0x0001, 0x0080, 0x1000, 0x2000, 0x4000, 0x4080, 0x0001, 0};
    static const uint32_t blocks[] = {0, 0x1FF, 0x002, 0x142, 0x001, 0x080, 0x100, 0x020};
    return 0xA2000000u | blocks[wg_rng_below(r, 8)] << 15 | (arch == WG_ARCH_BH ? bh : wh)[wg_rng_below(r, 8)];
}

static void add_work(wg_rng *r, wg_arch_id arch, stream *s)
{
    for (unsigned n = wg_rng_below(r, 4); n; n--)
        switch (wg_rng_below(r, 6)) {
        case 0: add(s, 0x02000000u); break;                        /* NOP */
        case 1: add(s, 0x60000000u); break;                        /* DMANOP */
        case 2: add(s, 0x45000000u | wg_rng_below(r, 128)); break; /* SETDMAREG */
        case 3: add(s, 0x8F000000u); break;                        /* SFPNOP */
        case 4: add(s, harmless_wait(r, arch)); break;
        default: {
            uint32_t op = wg_rng_below(r, 2) ? 0xA4000000u : 0xA5000000u;
            add(s, op | 4u << (FREE_SEMAPHORES + wg_rng_below(r, 2)));
        }
        }
}

static void make(wg_rng *r, wg_arch_id arch, stream s[WG_THREADS], unsigned handed[FREE_SEMAPHORES])
{
    for (unsigned i = 0; i < WG_THREADS; i++)
        s[i].n = 0;
    memset(handed, 0, FREE_SEMAPHORES * sizeof *handed);
    for (unsigned i = 0; i < 20; i++) /* it saturates */
        add(&s[0], 0xA4000000u | 4u << FREE_SEMAPHORES);
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned from = wg_rng_below(r, 3), to = (from + 1 + wg_rng_below(r, 2)) % 3;
        unsigned semaphore = 2 * from + ((to + 3 - from) % 3 == 2);
        switch (wg_rng_below(r, 3)) {
        case 0:
            handed[semaphore]++;
            add(&s[from], 0xA6000000u | 2u << 15 | 4u << semaphore | 2);
            add_work(r, arch, &s[from]);
            add(&s[from], 0xA4000000u | 4u << semaphore);
            add(&s[to], 0xA6000000u | 2u << 15 | 4u << semaphore | 1);
            add(&s[to], 0xA5000000u | 4u << semaphore);
            break;
        case 1: {
            uint32_t mutex = mutexes[wg_rng_below(r, MUTEXES)];
            add(&s[from], 0xA0000000u | mutex);
            add_work(r, arch, &s[from]);
            add(&s[from], 0xA1000000u | mutex);
            break;
        }
        default: add_work(r, arch, &s[from]); break;
        }
    }
}

/* Runs the program; returns the cycle at which it ends. */
static uint64_t run(wg_arch_id arch, uint64_t seed, const stream s[WG_THREADS])
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .seed = seed};
    wg_device *dev;
    watch w = {.wanted = s};
    unsigned at[WG_THREADS] = {0};
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    for (unsigned i = 0; i < FREE_SEMAPHORES; i++)
        assert_int_equal(wg_poke(dev, WG_SPACE_SEM_MAX, i, 3), WG_OK);
    const uint64_t kinds = WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_SEMAPHORE);
    assert_int_equal(wg_observe(dev, kinds, see, &w, NULL), WG_OK);
    for (unsigned left = 1; left && wg_cycle(dev) < 100000;) {
        left = 0;
        for (unsigned i = 0; i < WG_THREADS; i++) {
            if (at[i] < s[i].n && wg_push(dev, i, s[i].word[at[i]]) == WG_OK)
                at[i]++;
            left += s[i].n - at[i];
        }
        wg_advance(dev, 1);
    }
    wg_stop stop;
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    if (w.wrong)
        fail_msg("seed %llu: %s", (unsigned long long)seed, w.wrong);
    assert_int_equal(stop, WG_STOP_DONE);
    for (unsigned i = 0; i < WG_THREADS; i++) {
        assert_int_equal(w.pushed[i], s[i].n);
        assert_int_equal(w.issued[i], s[i].n);
    }
    uint32_t value;
    for (unsigned i = 0; i < FREE_SEMAPHORES; i++) {
        assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, i, &value), WG_OK);
        assert_int_equal(value, 0);
    }
    for (unsigned i = 0; i < MUTEXES; i++) {
        assert_int_equal(wg_peek(dev, WG_SPACE_MUTEX, mutexes[i], &value), WG_OK);
        assert_int_equal(value, 0);
    }
    uint64_t end = wg_cycle(dev);
    wg_destroy(dev);
    return end;
}

static void test_delays_break_nothing(void **state)
{
    static stream s[WG_THREADS];
    unsigned handed[FREE_SEMAPHORES], all = 0;
    WG_TEST_SEEDS(program, PROGRAMS)
    {
        wg_rng r = {program};
        make(&r, wg_test_arch(state), s, handed);
        uint64_t undelayed = run(wg_test_arch(state), 0, s);
        assert_int_equal(run(wg_test_arch(state), 0, s), undelayed);
        unsigned others = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            others += run(wg_test_arch(state), seed, s) != undelayed;
        assert_true(others > SEEDS / 2); /* the seeds must delay something */
        for (unsigned i = 0; i < FREE_SEMAPHORES; i++)
            all += handed[i];
    }
    assert_true(wg_test_first() || all > PROGRAMS * STEPS / 6);
}

/* ---- Delays given one by one ---------------------------------------------------------------------------- */

enum { IN_A_ROW = 12, LATE = 300 };

/* Thread 0: the word several times, a wait for its unit, a NOP; returns the cycle at which all has drained. */
static uint64_t run_row(wg_arch_id arch, uint32_t word, uint32_t condition, const wg_delay *delay)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev;
    wg_stop stop;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    for (unsigned i = 0; i < 2; i++) { /* the Matrix Unit's banks */
        wg_poke(dev, WG_SPACE_SRC_OWNER, i, 1);
        wg_poke(dev, WG_SPACE_SRC_OWNER, i + 2, 1);
    }
    if (delay)
        assert_int_equal(wg_perturb_with(dev, 0, delay, 1), WG_OK);
    for (unsigned i = 0; i < IN_A_ROW; i++)
        assert_int_equal(wg_push(dev, 0, word), WG_OK);
    assert_int_equal(wg_push(dev, 0, 0xA2000000u | 0x1FFu << 15 | condition), WG_OK);
    assert_int_equal(wg_push(dev, 0, 0x02000000u), WG_OK);
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    uint64_t end = wg_cycle(dev);
    wg_destroy(dev);
    return end;
}

/* A single delayed completion holds up every instruction that waits for it, without a seed and without an observer. */
static void test_every_completion_can_be_late(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const struct {
        uint32_t word, condition;
        uint8_t unit;
    } rows[] = {
        {0x26000000u, arch == WG_ARCH_BH ? 0x10 : 0x80, WG_AGENT_MATRIX},              /* MVMUL */
        {0x84000000u | 1u << 4, arch == WG_ARCH_BH ? 0x800 : 0x4000, WG_AGENT_VECTOR}, /* SFPMAD */
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t undelayed = run_row(arch, rows[i].word, rows[i].condition, NULL);
        for (uint64_t id = 1; id <= IN_A_ROW; id++) {
            wg_delay delay = {.struct_size = sizeof delay,
                              .site = WG_SITE_COMPLETE,
                              .agent = rows[i].unit,
                              .event = id << 2,
                              .cycles = LATE};
            uint64_t late = run_row(arch, rows[i].word, rows[i].condition, &delay);
            if (late < undelayed + LATE - IN_A_ROW * 8)
                fail_msg("0x%08x number %u: done at %u, without a delay at %u", rows[i].word, (unsigned)id,
                         (unsigned)late, (unsigned)undelayed);
        }
    }
}

static const wg_test tests[] = {
    WG_TEST(test_every_completion_can_be_late, WG_BH | WG_WH, ""),
    WG_TEST(test_delays_break_nothing, WG_BH | WG_WH, ""),
};
WG_MAIN("delays", tests)
