/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any word, pushed by any core at any time, in any configuration, has a defined outcome or gives a named finding.
 * Nothing crashes (this suite is for the sanitized build), no run takes forever, and all state can be read afterwards.
 */
#include "wgtest.h"

#include <stdio.h>
#include <stdlib.h>

#include "machine/device.h"
#include "explain/hang.h"

/*
 * WG_ANY_WORDS in the environment sets how many words pass the gates, per architecture; several times as many are
 * pushed.
 */
enum { WORDS = 110000, PATIENCE = 50, EPISODE = 600, L1_TOUCHED = 1 << 16 };

static wg_device *create(wg_arch_id arch, uint64_t seed)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .seed = seed};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

static uint32_t any(wg_rng *r) { return (uint32_t)wg_rng_next(r); }

/* Random values, biased towards small ones, 0 and all ones. */
static uint32_t odd_value(wg_rng *r)
{
    switch (wg_rng_below(r, 5)) {
    case 0: return 0;
    case 1: return UINT32_MAX;
    case 2: return wg_rng_below(r, 64);
    default: return any(r);
    }
}

/* Pokes random state; pokes that are not allowed are refused. */
static void scramble(wg_device *dev, wg_rng *r)
{
    static const struct {
        wg_space space;
        uint32_t banks, stride, words;
    } spaces[] = {{WG_SPACE_CONFIG, 2, 1 << 16, 320}, {WG_SPACE_THREAD_CONFIG, 3, 1 << 16, 80},
                  {WG_SPACE_GPR, 3, 64, 64},          {WG_SPACE_ADC, 9, 16, 16},
                  {WG_SPACE_RWC, 3, 16, 16},          {WG_SPACE_MOP_CFG, 3, 9, 9},
                  {WG_SPACE_SEM_VALUE, 1, 8, 8},      {WG_SPACE_SEM_MAX, 1, 8, 8}};
    unsigned one_in = 1 + wg_rng_below(r, 8);
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        for (uint32_t bank = 0; bank < spaces[i].banks; bank++)
            for (uint32_t w = 0; w < spaces[i].words; w++)
                if (!wg_rng_below(r, one_in))
                    wg_poke(dev, spaces[i].space, bank * spaces[i].stride + w, odd_value(r));
    for (unsigned bank = 0; bank < 4; bank++)
        wg_poke(dev, WG_SPACE_SRC_OWNER, bank, wg_rng_below(r, 2));
}

static void look_everywhere(wg_device *dev, wg_rng *r)
{
    uint32_t value;
    for (unsigned space = 0; space <= WG_SPACE_COUNT; space++)
        for (unsigned i = 0; i < 8; i++) {
            uint32_t index = i & 1 ? any(r) : wg_rng_below(r, 4096);
            wg_status status = wg_peek(dev, (wg_space)space, index, &value);
            assert_true(status == WG_OK || status == WG_ERR_ARGUMENT || status == WG_ERR_ADDRESS ||
                        status == WG_ERR_UNSUPPORTED);
        }
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(wg_peek(dev, WG_SPACE_SEM_VALUE, i, &value), WG_OK);
        assert_true(value <= 15);
        assert_true(wg_peek(dev, WG_SPACE_MUTEX, i, &value) != WG_OK || value <= WG_THREADS);
    }
}

/* Waits and mutexes end most episodes at once, so they are drawn less often than by chance. */
static uint32_t any_word(wg_rng *r)
{
    uint32_t word = any(r);
    uint32_t op = word >> 24;
    bool stops = op == 0xA0 || op == 0xA1 || op == 0xA6 || op == 0xA7;
    if (stops && wg_rng_below(r, 32))
        return (op & 1 ? 0xA4000000u : 0xA5000000u) | (word & 0xFFFFFF);
    if (op == 0x01 && wg_rng_below(r, 4)) /* long expansions add nothing */
        return 0x02000000u;
    return word;
}

/* As a core of the tile would push it: by the thread's own core, or by B. */
static bool push(wg_device *dev, wg_rng *r, unsigned thread, uint32_t word)
{
    if (wg_rng_below(r, 8))
        return wg_push(dev, thread, word) == WG_OK;
    wg_stall why = {0};
    return wg_push_words(dev->tile, thread, WG_CORE_B, any(r) & 0xFFFFC, &word, 1, &why);
}

/* Counts pushed words that passed a gate; expansions of MOP and REPLAY are not counted. */
static void count(void *user, const wg_event *e) { *(unsigned long *)user += e->parent == 0; }

/* Pushes until some thread has not moved for a long time, or enough words were pushed. */
static unsigned episode(wg_device *dev, wg_rng *r)
{
    unsigned pushed = 0, refused[WG_THREADS] = {0};
    scramble(dev, r);
    while (pushed < EPISODE && refused[0] < PATIENCE && refused[1] < PATIENCE && refused[2] < PATIENCE) {
        for (unsigned i = 0; i < WG_THREADS; i++) {
            if (wg_rng_below(r, 3))
                continue;
            bool taken = push(dev, r, i, any_word(r));
            pushed += taken;
            refused[i] = taken ? 0 : refused[i] + 1;
        }
        assert_int_equal(wg_advance(dev, 1 + wg_rng_below(r, 3)), WG_OK);
        if (!wg_rng_below(r, 128))
            scramble(dev, r);
    }
    assert_int_equal(wg_advance(dev, 1000), WG_OK);
    return pushed;
}

static void test_any_word(void **state)
{
    const char *asked = getenv("WG_ANY_WORDS");
    unsigned long wanted = asked ? strtoul(asked, NULL, 0) : WORDS, words = 0;
    wg_rng r = {77 + (uint64_t)wg_test_arch(state)};
    static wg_hang hang;
    static uint8_t noise[L1_TOUCHED];
    for (uint64_t round = 0; words < wanted; round++) {
        wg_device *dev = create(wg_test_arch(state), round % 3 ? 0 : round);
        for (unsigned i = 0; i < L1_TOUCHED; i++)
            noise[i] = (uint8_t)(wg_rng_below(&r, 3) ? any(&r) : 0);
        bool watched = round % 2; /* else the frontends take their shortcuts */
        if (watched)
            assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_ISSUED), count, &words, NULL), WG_OK);
        assert_int_equal(wg_write(dev, 0, noise, sizeof noise), WG_OK);
        for (unsigned i = 0; i < 16 && words < wanted; i++) {
            unsigned pushed = episode(dev, &r);
            words += watched ? 0 : pushed / 3; /* about as many pass */
            look_everywhere(dev, &r);
            wg_history history = {0};
            wg_hang_inspect(dev, &history, false, &hang);
            wg_state_hash(dev);
            assert_int_equal(wg_reset(dev), WG_OK);
        }
        wg_destroy(dev);
    }
}

/* A single word: the run soon ends, done or hung; a hang is explained, and a meaningless word is reported. */
static void test_each_opcode_alone(void **state)
{
    static wg_hang hang;
    wg_arch_id arch = wg_test_arch(state);
    wg_rng r = {5};
    wg_device *dev = create(arch, 0);
    wg_history history;
    assert_int_equal(wg_observe(dev, WG_HISTORY_EVENTS, wg_history_event, &history, NULL), WG_OK);
    for (unsigned op = 0; op < 256; op++)
        for (unsigned i = 0; i < 6; i++) {
            uint32_t word = op << 24 | (i == 0 ? 0 : i == 1 ? 0xFFFFFF : any(&r) & 0xFFFFFF);
            wg_stop stop;
            memset(&history, 0, sizeof history);
            assert_int_equal(wg_reset(dev), WG_OK);
            if (i > 2)
                scramble(dev, &r);
            assert_int_equal(wg_push(dev, i % 3, word), WG_OK);
            assert_int_equal(wg_push(dev, i % 3, 0xA4000004), WG_OK); /* an instruction that a wait can hold */
            assert_int_equal(wg_run(dev, 1000000, &stop), WG_OK);
            if (stop != WG_STOP_DONE && stop != WG_STOP_HUNG)
                fail_msg("%08x: stop %d", word, stop);
            if (wg_isa_decode(arch, word)->id == WG_I_INVALID && !wg_finding_count(dev))
                fail_msg("%08x is no instruction, and nothing was reported", word);
            if (stop != WG_STOP_HUNG)
                continue;
            wg_hang_inspect(dev, &history, true, &hang);
            if (!hang.path_length)
                fail_msg("%08x hangs, and nothing is named: %s", word, hang.story);
        }
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_each_opcode_alone, WG_BH | WG_WH, ""),
    WG_TEST(test_any_word, WG_BH | WG_WH, ""),
};
WG_MAIN("any_word", tests)
