/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thin layer over cmocka: which clauses and instructions a test covers.
 *
 *     static void test_bubble(void **state) { … assert_int_equal(…); }
 *     static const wg_test tests[] = {
 *         WG_TEST(test_bubble, WG_BH | WG_WH, "GATE-03 GATE-04"),
 *         WG_COVERS(test_setc16_value, WG_BH, "", "SETC16:value"),
 *     };
 *     WG_MAIN("wait_gate", tests)
 *
 * A test registered for both architectures runs once per architecture; wg_test_arch(state) tells which.
 * `clauses` and `covers` are separated by spaces; covers are INSTRUCTION:value or INSTRUCTION:timing.
 * With WG_TEST_REPORT=FILE in the environment, one line per (test, architecture) is appended to it:
 * suite, test, architecture, pass|fail, clauses, covers (tab separated).
 */
#ifndef WGTEST_H
#define WGTEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <waitgate/waitgate.h>

enum { WG_BH = 1, WG_WH = 2 };

/* Under the thread sanitizer, time and memory use say nothing about the program. */
#if defined(__SANITIZE_THREAD__)
#define WG_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WG_THREAD_SANITIZER 1
#endif
#endif
#ifndef WG_THREAD_SANITIZER
#define WG_THREAD_SANITIZER 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define WG_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WG_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef WG_ADDRESS_SANITIZER
#define WG_ADDRESS_SANITIZER 0
#endif

/*
 * Rounds of a random suite: `usual`, or `soak` with WG_SOAK=1. A sanitizer looks for wrong accesses, not for wrong
 * results, and the same accesses soon repeat: there a quarter of the rounds suffices.
 */
static inline uint64_t wg_test_rounds(uint64_t usual, uint64_t soak)
{
    const char *given = getenv("WG_SOAK");
    if (given && strcmp(given, "0") != 0)
        return soak;
    return WG_ADDRESS_SANITIZER || WG_THREAD_SANITIZER ? (usual + 3) / 4 : usual;
}

/* WG_RANDOM_FIRST, or 0: the first seed; WG_RANDOM_PROGRAMS, or `otherwise`: the number of seeds. */
uint64_t wg_test_first(void);
uint64_t wg_test_count(uint64_t otherwise);
/*
 * What a failure reports from here on, e.g. "seed 3, round 7", and the variables that repeat it. The command that
 * repeats a failing test is always printed.
 */
__attribute__((format(printf, 2, 3))) void wg_test_at(const char *variables, const char *place, ...);
/* The same for a test that takes its seeds from wg_test_first() and wg_test_count(). */
void wg_test_seed(uint64_t seed);
/* Runs its body for `count` seeds from 1 on, or for those that the variables name. A failure reports the seed. */
#define WG_TEST_SEEDS(seed, count) \
    for (uint64_t seed = wg_test_first() ? wg_test_first() : 1, wg_end_ = seed + wg_test_count(count); \
         seed < wg_end_ && (wg_test_seed(seed), true); seed++)
/* A failure reports the round, of a test whose rounds cannot be repeated one by one: the whole test repeats them. */
void wg_test_round(const char *what, uint64_t round);

typedef struct wg_test {
    const char *name;
    CMUnitTestFunction run;
    unsigned archs;
    const char *clauses;
    const char *covers;
} wg_test;

#define WG_TEST(fn, archs, clauses) \
    { \
#fn, fn, archs, clauses, "" \
    }
#define WG_COVERS(fn, archs, clauses, covers) \
    { \
#fn, fn, archs, clauses, covers \
    }

wg_arch_id wg_test_arch(void **state);
/* Runs all (or, with arguments, those whose `name/arch` contains one of them); returns the number that failed. */
int wg_test_main(const char *suite, const wg_test *tests, size_t count, int argc, char **argv);

#define WG_MAIN(suite, tests) \
    int main(int argc, char **argv) \
    { \
        return wg_test_main(suite, tests, sizeof(tests) / sizeof((tests)[0]), argc, argv); \
    }

/* A small, fast, repeatable generator for tests. */
typedef struct wg_rng {
    uint64_t s;
} wg_rng;
static inline uint64_t wg_rng_next(wg_rng *r)
{
    uint64_t z = (r->s += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}
static inline uint32_t wg_rng_below(wg_rng *r, uint32_t n) { return (uint32_t)(wg_rng_next(r) % n); }

#endif
