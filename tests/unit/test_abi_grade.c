/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grades of races behind the libttsim ABI: what the host has done is replayed with delays. Cores B and T1 store to one word; the
 * host polls a flag of each, and reads the word.
 */
#include <stdio.h>
#include <unistd.h>
#include "rvasm.h"
#include "ttsim_host.h"

enum { WORD = 0x30000, FLAG_B = 0x30010, FLAG_T1 = 0x30020, TIME = 0x30030, BASE = 0x8000, WAIT = 80 };

typedef struct kernel {
    uint32_t b, t1;        /* what they store */
    bool times, host_time; /* B stores how long it took; the host reads the clock */
} kernel;

static char report[1 << 16];

/* Runs it with WAITGATE_CHECK; returns what the host reads. */
static uint32_t check(void **state, const kernel *k, const char *suffix, const char *name, const char *value)
{
    char path[80];
    snprintf(path, sizeof path, "/tmp/wg_abi_grade_%ld%s", (long)getpid(), suffix);
    setenv("WAITGATE_CHECK", path, 1);
    if (name)
        setenv(name, value, 1);
    lib l = start(state);
    unsetenv("WAITGATE_CHECK");
    if (name)
        unsetenv(name);
    rv b = rv_at(0), t1 = rv_at(BASE);
    rv_li(&b, T1, 0xFFB121F0);
    if (k->times)
        rv_lw(&b, A2, 0, T1);
    rv_store(&b, WORD, k->b);
    rv_fence(&b);
    if (k->times) {
        rv_li(&b, T0, WORD); /* a word read back: the store has been processed */
        rv_lw(&b, A0, 0, T0);
        rv_add(&b, A0, A0, A0);
        rv_lw(&b, A3, 0, T1);
        rv_word(&b, 0x40000033 | A2 << 20 | A3 << 15 | A3 << 7); /* sub a3, a3, a2 */
        rv_li(&b, T0, TIME);
        rv_sw(&b, A3, 0, T0);
    }
    rv_store(&b, FLAG_B, 1);
    rv_done(&b);
    for (unsigned i = 0; i < WAIT; i++)
        rv_nop(&t1);
    rv_store(&t1, WORD, k->t1);
    rv_store(&t1, FLAG_T1, 1);
    rv_done(&t1);
    put32(&l, SOFT_RESET, CORES_IN_RESET);
    put(&l, b.base, b.word, 4 * b.n);
    put(&l, t1.base, t1.word, 4 * t1.n);
    for (uint32_t at = WORD; at <= TIME; at += 16)
        put32(&l, at, 0);
    release_t1(&l, BASE);
    put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_T1 & ~RESET_B);
    while (!get32(&l, FLAG_B) || !get32(&l, FLAG_T1))
        l.clock(10);
    if (k->host_time)
        get32(&l, DEBUG_REGS + 0x1F0);
    const uint32_t found = get32(&l, WORD);
    end(&l);
    take_file(path, report, sizeof report);
    return found;
}

#define SAYS(word) \
    do { \
        if (!strstr(report, word)) \
            fail_msg("no `%s` in\n%s", word, report); \
    } while (0)

/* Another value: wrong, with a delay that gives the host that value. */
static void test_wrong(void **state)
{
    const kernel k = {.b = 5, .t1 = 6};
    char delays[64];
    assert_int_equal(check(state, &k, "", NULL, NULL), 6);
    SAYS("WARNING: Waitgate: data-race");
    SAYS("  confidence: certain: that timing shows it");
    const char *witness = strstr(report, "grade: wrong: memory or registers end otherwise with WAITGATE_DELAYS=");
    assert_non_null(witness);
    assert_int_equal(sscanf(strchr(witness, '='), "=%63s", delays), 1);
    assert_int_equal(check(state, &k, "", "WAITGATE_DELAYS", delays), 5);
    SAYS("grade: none: WAITGATE_DELAYS is set");
    check(state, &k, ".json", NULL, NULL);
    SAYS("\"grade\": \"wrong\"");
    SAYS("\"witness_delay\": \"");
}

/* The cores' instructions are text. */
static void test_text(void **state)
{
    check(state, &(kernel){.b = 5, .t1 = 6}, "", NULL, NULL);
    SAYS("\n    sw t6,0(t5)\n");
    assert_null(strstr(report, ".word"));
}

/* The same value: a line. */
static void test_unordered(void **state)
{
    check(state, &(kernel){.b = 6, .t1 = 6}, "", NULL, NULL);
    SAYS("UNORDERED: nothing puts these in order");
    SAYS("timings tried");
    assert_null(strstr(report, "WARNING"));
    SAYS("1 race report on 1 tile");
}

/* What depends on time says nothing about a race. */
static void test_times(void **state)
{
    check(state, &(kernel){.b = 6, .t1 = 6, .times = true}, "", NULL, NULL);
    SAYS("grade: none: a core reads the clock, so results may differ without the race");
    SAYS("confidence: by rule");
    check(state, &(kernel){.b = 500000, .t1 = 6, .times = true}, "", NULL, NULL);
    SAYS("grade: wrong: ");
    check(state, &(kernel){.b = 5, .t1 = 6, .host_time = true}, "", NULL, NULL);
    SAYS("grade: none: what the host reads depends on how fast it is");
}

/* Without replays, and with too few cycles for them. */
static void test_budget(void **state)
{
    const kernel k = {.b = 5, .t1 = 6};
    check(state, &k, "", "WAITGATE_VERIFY", "0");
    SAYS("grade: none: WAITGATE_VERIFY=0");
    check(state, &k, "", "WAITGATE_VERIFY", "100");
    SAYS("grade: none: the run is too long to be replayed within WAITGATE_VERIFY");
    check(state, &k, "", "WAITGATE_SEED", "3");
    SAYS("grade: none: WAITGATE_SEED is set");
}

static const wg_test tests[] = {
    WG_TEST(test_wrong, WG_BH | WG_WH, ""),     WG_TEST(test_text, WG_BH | WG_WH, ""),
    WG_TEST(test_unordered, WG_BH | WG_WH, ""), WG_TEST(test_times, WG_BH | WG_WH, ""),
    WG_TEST(test_budget, WG_BH | WG_WH, ""),
};
WG_MAIN("abi_grade", tests)
