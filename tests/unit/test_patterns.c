/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The eight usage patterns (tests/tasm/pattern_*.tasm) under a thousand legal timings each. Unmodified, their
 * expectations hold under every seed. Without the waits that are marked `<- wait`, some seed gives another result: the
 * seed and the result are printed. Two rulings: no wait is needed after SETDMAREG and the arithmetic, and none after a
 * core's stores while Auto TTSync tracks them; those programs (tests/races/pattern_*_silent.tasm) are right under every
 * seed.
 */
#include "wgtest.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/session.h"

static unsigned seeds(void)
{
    const char *given = getenv("WG_PATTERN_SEEDS");
    return given ? (unsigned)atoi(given) : WG_ADDRESS_SANITIZER ? 30 : 1000;
}

/* The file without its waits, in a temporary file; NULL if it has none marked. */
static bool without_waits(const char *path, char *copy, size_t bytes)
{
    static char line[1024];
    snprintf(copy, bytes, "/tmp/waitgate-pattern-XXXXXX.tasm");
    int fd = mkstemps(copy, 5);
    FILE *from = fopen(path, "r"), *to = fdopen(fd, "w");
    assert_true(from && to);
    unsigned waits = 0;
    while (fgets(line, sizeof line, from)) {
        bool wait = strstr(line, "<- wait") != NULL;
        waits += wait;
        fputs(wait ? "\n" : line, to);
    }
    fclose(from);
    assert_int_equal(fclose(to), 0);
    return waits > 0;
}

/* A value that timing must not change, as opposed to how it was reached. */
static bool is_result(const wg_expect *e)
{
    return e->kind == WG_EXPECT_L1 || e->kind == WG_EXPECT_PEEK || e->kind == WG_EXPECT_SEMAPHORE ||
           e->kind == WG_EXPECT_MUTEX;
}

/*
 * Runs under seeds 0, 1, … The first with another result (or, if `strict`, anything unexpected), or -1; `what`
 * describes it.
 */
static int first_different(const char *path, wg_arch_id arch, bool strict, char *what, size_t bytes)
{
    char arch_name[] = "--arch",
         *argv[] = {"waitgate", "run", arch_name, arch == WG_ARCH_WH ? "wh" : "bh", (char *)path};
    wg_args args = {0};
    wg_text out = {0}, error = {0};
    wg_session s = {0};
    int status, found = -1;
    if (!wg_args_parse(&args, 5, argv, &out, &error, &status) || !wg_session_open(&s, &args, &error))
        fail_msg("%s: %s", path, wg_text_of(&error));
    size_t size = wg_snapshot_size(s.dev);
    void *start = malloc(size);
    assert_non_null(start);
    assert_int_equal(wg_snapshot(s.dev, start, size), WG_OK);
    s.max_cycles = 100000;
    for (unsigned seed = 0; seed <= seeds() && found < 0; seed++) {
        assert_int_equal(wg_restore(s.dev, start, size), WG_OK);
        assert_int_equal(wg_perturb_with(s.dev, seed, NULL, 0), WG_OK);
        wg_findings_clear(s.dev);
        assert_true(wg_drive_silently(&s));
        assert_true(wg_check_expectations(&s));
        for (size_t i = 0; i < s.tasm.expects && found < 0; i++)
            if (!s.expect_holds[i] && (strict || is_result(&s.tasm.expect[i]))) {
                found = (int)seed;
                snprintf(what, bytes, "%s: %s", s.tasm.expect[i].text, wg_text_of(&s.expect_found[i]));
            }
    }
    free(start);
    wg_session_close(&s);
    wg_args_free(&args);
    wg_text_free(&out);
    wg_text_free(&error);
    return found;
}

/* Is the program for this architecture? */
static bool suits(const char *path, wg_arch_id arch)
{
    static char text[1 << 14];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return !strstr(text, ".arch ") || strstr(text, arch == WG_ARCH_WH ? ".arch wh" : ".arch bh");
}

/* Runs `check` on every matching program of the folder; returns their number. */
static unsigned each(const char *folder, const char *ends, wg_arch_id arch, void (*check)(const char *, wg_arch_id))
{
    unsigned programs = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d)) != NULL;) {
        char path[512];
        size_t length = strlen(f->d_name), tail = strlen(ends);
        if (strncmp(f->d_name, "pattern_", 8) || length < tail || strcmp(f->d_name + length - tail, ends))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (!suits(path, arch))
            continue;
        check(path, arch);
        programs++;
    }
    closedir(d);
    return programs;
}

static void holds(const char *path, wg_arch_id arch)
{
    char what[256];
    int seed = first_different(path, arch, true, what, sizeof what);
    if (seed >= 0)
        fail_msg("%s, seed %d: %s", path, seed, what);
}

static void breaks(const char *path, wg_arch_id arch)
{
    char copy[64], what[256];
    if (!without_waits(path, copy, sizeof copy))
        fail_msg("%s has no wait marked", path);
    int seed = first_different(copy, arch, false, what, sizeof what);
    unlink(copy);
    if (seed < 0)
        fail_msg("%s without its waits: %u seeds give the same result", path, seeds());
    print_message("%s without its waits, seed %d: %s\n", strrchr(path, '/') + 1, seed, what);
}

static void test_with_waits(void **state)
{
    assert_int_equal(each(WG_SOURCE_ROOT "/tests/tasm", ".tasm", wg_test_arch(state), holds), 8);
}
static void test_without_waits(void **state)
{
    assert_int_equal(each(WG_SOURCE_ROOT "/tests/tasm", ".tasm", wg_test_arch(state), breaks), 8);
}
static void test_rulings(void **state)
{
    assert_true(each(WG_SOURCE_ROOT "/tests/races", "_silent.tasm", wg_test_arch(state), holds) > 0);
}

static const wg_test tests[] = {
    WG_TEST(test_with_waits, WG_BH | WG_WH, "GATE-23"),
    WG_TEST(test_without_waits, WG_BH | WG_WH, "GATE-23"),
    WG_TEST(test_rulings, WG_BH | WG_WH, "GATE-23"),
};
WG_MAIN("patterns", tests)
