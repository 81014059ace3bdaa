/* SPDX-License-Identifier: Apache-2.0 */
#include "wgtest.h"

#include <stdio.h>

enum { MAX_TESTS = 512 };

typedef struct run {
    const wg_test *test;
    wg_arch_id arch;
    bool passed;
} run;

wg_arch_id wg_test_arch(void **state) { return ((run *)*state)->arch; }

/* cmocka calls the wrapper; it notes that the test came back, which a failed assertion prevents. */
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
        fprintf(f, "%s\t%s\t%s\t%s\t%s\t%s\n", suite, runs[i].test->name, runs[i].arch == WG_ARCH_BH ? "bh" : "wh",
                runs[i].passed ? "pass" : "fail", runs[i].test->clauses, runs[i].test->covers);
    fclose(f);
}

static bool wanted(const wg_test *test, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(test->name, argv[i]))
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
            if (!(tests[i].archs >> arch & 1) || !wanted(&tests[i], argc, argv))
                continue;
            runs[n] = (run){&tests[i], (wg_arch_id)arch, false};
            snprintf(names[n], sizeof names[n], "%s.%s/%s", suite, tests[i].name, arch ? "wh" : "bh");
            cases[n] = (struct CMUnitTest){names[n], wrapper, NULL, NULL, &runs[n]};
            n++;
        }
    }
    int failed = _cmocka_run_group_tests(suite, cases, n, NULL, NULL);
    report(suite, runs, n);
    return failed;
}
