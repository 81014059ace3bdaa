/* SPDX-License-Identifier: Apache-2.0 */
#include "wgtest.h"

#include <stdio.h>

enum { MAX_TESTS = 512 };

typedef struct run {
    const wg_test *test;
    const char *program;
    wg_arch_id arch;
    bool passed;
} run;

wg_arch_id wg_test_arch(void **state) { return ((run *)*state)->arch; }

static const char *arch_name(wg_arch_id arch) { return arch == WG_ARCH_BH ? "bh" : "wh"; }

static char place_now[128], variables_now[128];

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}
uint64_t wg_test_first(void) { return number("WG_RANDOM_FIRST", 0); }
uint64_t wg_test_count(uint64_t otherwise) { return number("WG_RANDOM_PROGRAMS", otherwise); }

void wg_test_at(const char *variables, const char *place, ...)
{
    va_list args;
    va_start(args, place);
    vsnprintf(place_now, sizeof place_now, place, args);
    va_end(args);
    snprintf(variables_now, sizeof variables_now, "%s%s", variables, *variables ? " " : "");
}

void wg_test_seed(uint64_t seed)
{
    char variables[80];
    snprintf(variables, sizeof variables, "WG_RANDOM_FIRST=%llu WG_RANDOM_PROGRAMS=1", (unsigned long long)seed);
    wg_test_at(variables, "seed %llu", (unsigned long long)seed);
}

void wg_test_round(const char *what, uint64_t round) { wg_test_at("", "%s %llu", what, (unsigned long long)round); }

/* Runs after every test, failed or not. */
static int tell(void **state)
{
    const run *r = *state;
    if (!r->passed)
        print_error("%s%sRepeat with: %s%s %s/%s\n", place_now, *place_now ? ". " : "", variables_now, r->program,
                    r->test->name, arch_name(r->arch));
    *place_now = *variables_now = '\0';
    return 0;
}

/* cmocka calls the wrapper; it records that the test returned, which a failed assertion prevents. */
static void wrapper(void **state)
{
    run *r = *state;
    r->test->run(state);
    r->passed = true;
}

static void report(const char *suite, const run *runs, size_t count)
{
    const char *path = getenv("WG_TEST_REPORT");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    for (size_t i = 0; i < count; i++)
        fprintf(f, "%s\t%s\t%s\t%s\t%s\t%s\n", suite, runs[i].test->name, arch_name(runs[i].arch),
                runs[i].passed ? "pass" : "fail", runs[i].test->clauses, runs[i].test->covers);
    fclose(f);
}

static bool wanted(const wg_test *test, wg_arch_id arch, int argc, char **argv)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", test->name, arch_name(arch));
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]))
            return true;
    return argc < 2;
}

int wg_test_main(const char *suite, const wg_test *tests, size_t count, int argc, char **argv)
{
    static run runs[MAX_TESTS];
    static struct CMUnitTest cases[MAX_TESTS];
    static char names[MAX_TESTS][96];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        for (unsigned arch = 0; arch < 2 && n < MAX_TESTS; arch++) {
            if (!(tests[i].archs >> arch & 1) || !wanted(&tests[i], (wg_arch_id)arch, argc, argv))
                continue;
            runs[n] = (run){&tests[i], argv[0], (wg_arch_id)arch, false};
            snprintf(names[n], sizeof names[n], "%s.%s/%s", suite, tests[i].name, arch_name((wg_arch_id)arch));
            cases[n] = (struct CMUnitTest){names[n], wrapper, NULL, tell, &runs[n]};
            n++;
        }
    }
    int failed = _cmocka_run_group_tests(suite, cases, n, NULL, NULL);
    report(suite, runs, n);
    return failed;
}
