/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libttsim ABI as hosts use it: load the shared object, find the chip in configuration space, aim a
 * TLB window of BAR 0 at a tile, load code, release a core, let time pass, read the result.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rvasm.h"
#include "ttsim_host.h"

/* Adds two words of L1, writes the sum and then a flag. */
static rv sum_program(uint32_t base)
{
    rv p = rv_at(base);
    rv_li(&p, T0, 0x20000);
    rv_lw(&p, A0, 0, T0);
    rv_lw(&p, A1, 4, T0);
    rv_add(&p, A0, A0, A1);
    rv_sw(&p, A0, 8, T0);
    rv_li(&p, A2, 0xD0E);
    rv_sw(&p, A2, 16, T0);
    rv_done(&p);
    return p;
}

static void prepare(lib *l, const rv *p)
{
    put32(l, SOFT_RESET, CORES_IN_RESET);
    put(l, p->base, p->word, 4 * p->n);
    put32(l, 0x20000, 40);
    put32(l, 0x20004, 2);
    put32(l, 0x20010, 0);
}

static void test_boots_b(void **state)
{
    lib l = start(state);
    rv p = sum_program(0);
    prepare(&l, &p);
    l.clock(1000);
    assert_int_equal(get32(&l, 0x20010), 0); /* still in reset */
    put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
    assert_int_equal(get32(&l, SOFT_RESET), CORES_IN_RESET & ~RESET_B);
    assert_int_equal(get32(&l, 0x20010), 0); /* reading lets no time pass */
    l.clock(200);
    assert_int_equal(get32(&l, 0x20010), 0xD0E);
    assert_int_equal(get32(&l, 0x20008), 42);
    end(&l);
}

static void test_boots_t1_at_its_vector(void **state)
{
    lib l = start(state);
    rv p = sum_program(0x8000);
    prepare(&l, &p);
    if (l.arch == WG_ARCH_BH) {
        put32(&l, DEBUG_REGS + 0x22C, 0x8000);
        put32(&l, DEBUG_REGS + 0x234, 2);
        assert_int_equal(get32(&l, DEBUG_REGS + 0x234), 2);
    } else {
        put32(&l, 0xFFEF0000 + 159 * 4, 0x8000);
        put32(&l, 0xFFEF0000 + 161 * 4, 2);
    }
    put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_T1);
    l.clock(200);
    assert_int_equal(get32(&l, 0x20010), 0xD0E);
    assert_int_equal(get32(&l, 0x20008), 42);
    end(&l);
}

/* A reset and its release with no clock between still reset the core: the new program runs. */
static void test_resets_between_clocks(void **state)
{
    lib l = start(state);
    rv p = sum_program(0);
    for (uint32_t i = 0; i < 3; i++) {
        prepare(&l, &p);
        put32(&l, 0x20000, i);
        put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
        l.clock(200);
        assert_int_equal(get32(&l, 0x20010), 0xD0E);
        assert_int_equal(get32(&l, 0x20008), i + 2);
    }
    end(&l);
}

static void test_tiles_are_apart(void **state)
{
    lib l = start(state);
    put32(&l, 0x1234, 0x11111111);
    l.x = 2;
    assert_int_equal(get32(&l, 0x1234), 0);
    put32(&l, 0x1234, 0x22222222);
    l.x = 1;
    assert_int_equal(get32(&l, 0x1234), 0x11111111);
    uint32_t direct = 0;
    l.tile_read(2, l.y, 0x1234, &direct, 4);
    assert_int_equal(direct, 0x22222222);
    end(&l);
}

/* A tile that is first used late has the same clock as the others. */
static void test_one_clock(void **state)
{
    lib l = start(state);
    put32(&l, 0, 0);
    l.clock(12345);
    l.x = 3;
    assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), 12345);
    l.x = 1;
    assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), 12345);
    end(&l);
}

static void test_multicast(void **state)
{
    lib l = start(state);
    uint64_t regs = l.bar0 + 0x1FC00000;
    uint32_t value = 0xCAFE0001;
    if (l.arch == WG_ARCH_BH) { /* 1-2 to 3-4 */
        uint32_t words[3] = {0, 3 << 11 | 4 << 17 | 1 << 23 | 2u << 29, 1 << 5};
        for (unsigned i = 0; i < 3; i++)
            l.write(regs + 4 * i, &words[i], 4);
    } else {
        uint64_t config =
            UINT64_C(3) << 16 | UINT64_C(4) << 22 | UINT64_C(1) << 28 | UINT64_C(2) << 34 | UINT64_C(1) << 41;
        l.write(regs, &config, 8);
    }
    l.write(l.bar0 + 0x400, &value, 4);
    for (l.x = 1; l.x <= 4; l.x++)
        for (l.y = 2; l.y <= 5; l.y++)
            assert_int_equal(get32(&l, 0x400), l.x <= 3 && l.y <= 4 ? 0xCAFE0001 : 0);
    end(&l);
}

/* An access that crosses the end of a window continues in the next one, which points elsewhere. */
static void test_across_windows(void **state)
{
    lib l = start(state);
    uint64_t window = l.arch == WG_ARCH_BH ? 1 << 21 : 1 << 20;
    uint64_t at = aim(&l, 0);
    uint32_t each = l.arch == WG_ARCH_BH ? 12 : 8;
    for (uint32_t i = 0; i < each; i += 4) {
        uint32_t word;
        l.read(l.bar0 + 0x1FC00000 + i, &word, 4);
        l.write(l.bar0 + 0x1FC00000 + each + i, &word, 4);
    }
    uint32_t pattern[2] = {0x01020304, 0x05060708}, back[2] = {0};
    if (l.arch == WG_ARCH_WH) { /* on BH a window is larger than L1 */
        l.write(at + window - 4, pattern, 8);
        l.read(at + window - 4, back, 8);
        assert_memory_equal(pattern, back, 8);
        assert_int_equal(get32(&l, window - 4), pattern[0]);
    }
    l.write(at + window, pattern, 8);
    assert_int_equal(get32(&l, 0), pattern[0]);
    end(&l);
}

static void test_init_exit_init(void **state)
{
    lib l = start(state);
    put32(&l, 0x100, 7);
    l.clock(10);
    l.exit();
    l.init();
    assert_int_equal(get32(&l, 0x100), 0);
    assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), 0);
    end(&l);
}

/* A forked child continues from a copy; the parent does not see what it does. */
static void test_fork(void **state)
{
    lib l = start(state);
    rv p = sum_program(0);
    prepare(&l, &p);
    put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        l.clock(200);
        _exit(get32(&l, 0x20008) == 42 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(get32(&l, 0x20010), 0);
    l.clock(200);
    assert_int_equal(get32(&l, 0x20008), 42);
    end(&l);
}

/* Nonsense from the host: nothing crashes, reads give zero, other devices are absent. */
static void test_nonsense(void **state)
{
    lib l = load(wg_test_arch(state));
    uint32_t value = 5;
    l.read(0, &value, 4); /* before init */
    l.clock(5);
    assert_int_equal(l.config_read(0, 0), 0xFFFFFFFF);
    end(&l);
    l = start(state);
    assert_int_equal(l.config_read(1 << 3, 0), 0xFFFFFFFF);
    l.read(0x10, &value, 4);
    assert_int_equal(value, 0);
    value = 5;
    l.read(l.bar0 + 0x1FD00000, &value, 4);
    assert_int_equal(value, 0);
    l.x = 0; /* DRAM, or nothing */
    value = 5;
    assert_int_equal(get32(&l, 0), 0);
    l.x = 63;
    l.y = 63;
    assert_int_equal(get32(&l, 0), 0);
    put32(&l, 0, 1);
    l.x = 1;
    l.y = 2;
    assert_int_equal(get32(&l, 0xFFE80000), 0); /* no core's window for the NoC */
    assert_int_equal(get32(&l, UINT64_C(0xFFFFFFF0)), 0);
    l.clock(0);
    l.config_write(0, 0x10, 0xFFFFFFFF); /* a host sizes BAR 0 */
    assert_int_equal(l.config_read(0, 0x10), 0xE0000004);
    end(&l);
}

/* WAITGATE_CLOCKS_PER_READ lets a host that only polls make progress. */
static void test_clocks_per_read(void **state)
{
    setenv("WAITGATE_CLOCKS_PER_READ", "50", 1);
    lib l = start(state);
    unsetenv("WAITGATE_CLOCKS_PER_READ");
    assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), 0);
    assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), 50);
    end(&l);
}

/* WAITGATE_CLOCKS_PER_CALL is the least that a call advances. */
static void test_clocks_per_call(void **state)
{
    setenv("WAITGATE_CLOCKS_PER_CALL", "50", 1);
    lib l = start(state);
    unsetenv("WAITGATE_CLOCKS_PER_CALL");
    l.clock(1);
    assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), 50);
    l.clock(70);
    assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), 120);
    end(&l);
}

/* WAITGATE_ON_FINDING=stop: time stops after the cycle of a finding; continue continues. */
static void test_on_finding(void **state)
{
    rv p = rv_at(0);
    rv_li(&p, T0, 0xFFD00000);
    rv_sw(&p, T0, 0, T0); /* nothing there */
    rv_done(&p);
    for (int stop = 0; stop < 2; stop++) {
        setenv("WAITGATE_ON_FINDING", stop ? "stop" : "continue", 1);
        lib l = start(state);
        unsetenv("WAITGATE_ON_FINDING");
        prepare(&l, &p);
        put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
        l.clock(1000);
        uint32_t now = get32(&l, DEBUG_REGS + 0x1F0);
        l.clock(1000);
        assert_int_equal(get32(&l, DEBUG_REGS + 0x1F0), stop ? now : 2000);
        assert_true(stop ? now < 1000 : now == 1000);
        end(&l);
    }
}

/* WAITGATE_ON_FINDING=exit ends the process with status 2; no other value does. */
static void test_exit_on_finding(void **state)
{
    rv p = rv_at(0);
    rv_li(&p, T0, 0xFFD00000);
    rv_sw(&p, T0, 0, T0);
    rv_done(&p);
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        setenv("WAITGATE_ON_FINDING", "exit", 1);
        lib l = start(state);
        prepare(&l, &p);
        put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
        l.clock(1000);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
}

/* An invalid value is reported, and counts as a warning. */
static void test_bad_environment(void **state)
{
    static const char *const bad[][3] = {
        {"WAITGATE_SEED", "banana", "not a number"},
        {"WAITGATE_SEED", "-1", "not a number"},
        {"WAITGATE_SEED", "99999999999999999999", "not a number"},
        {"WAITGATE_PROFILE", "silcon", "it is documented, silicon, or a cost profile's file"},
        {"WAITGATE_THREADS", "two", "not a number"},
        {"WAITGATE_THREADS", "4x", "not a number"},
        {"WAITGATE_THREADS", "100000", "not a number"},
        {"WAITGATE_LOCKSTEP", "yes", "not a number"},
        {"WAITGATE_HARVESTED", "0x1FFFFFFFF", "not a number"},
        {"WAITGATE_CLOCKS_PER_READ", "", "not a number"},
        {"WAITGATE_CHECKS", "races", "not a list of race, memory, init, sync"},
        {"WAITGATE_HANG_REPORT", "", "not the name of a file"},
        {"WAITGATE_ELF", "t1=/nowhere/at/all", "is ignored"},
        {"WAITGATE_ON_FINDING", "panic", "none of continue, stop, exit"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (unsigned policy = 0; policy < 2; policy++) {
            int out[2], status = -1;
            assert_int_equal(pipe(out), 0);
            fflush(NULL);
            pid_t child = fork();
            if (!child) {
                dup2(out[1], STDERR_FILENO);
                setenv("WAITGATE_ON_FINDING", policy ? "exit" : "continue", 1);
                setenv(bad[i][0], bad[i][1], 1);
                lib l = start(state);
                end(&l);
                _exit(7);
            }
            close(out[1]);
            char text[1000] = "";
            ssize_t n = read(out[0], text, sizeof text - 1);
            close(out[0]);
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFEXITED(status) && n > 0);
            bool exits = policy && strcmp(bad[i][0], "WAITGATE_ON_FINDING") != 0;
            assert_int_equal(WEXITSTATUS(status), exits ? 2 : 7);
            if (!strstr(text, bad[i][0]) || !strstr(text, bad[i][1]) || !strstr(text, bad[i][2]))
                fail_msg("%s=%s: %s", bad[i][0], bad[i][1], text);
        }
}

/* How many clocks T1 needs for eleven MVMULs into one block of Dst. */
static unsigned clocks_of_mvmuls(void **state, const char *profile)
{
    enum { SETDVALID = 0x57000003, MVMUL = 0x26000000 };
    rv p = rv_at(0x8000);
    rv_tt(&p, SETDVALID);
    for (unsigned i = 0; i < 11; i++)
        rv_tt(&p, MVMUL);
    rv_li(&p, T0, 0xFFE80000);
    rv_lw(&p, A0, 4, T0); /* until the thread is idle */
    rv_add(&p, A0, A0, A0);
    rv_store(&p, 0x20010, 0xD0E);
    rv_done(&p);
    if (profile)
        setenv("WAITGATE_PROFILE", profile, 1);
    lib l = start(state);
    unsetenv("WAITGATE_PROFILE");
    prepare(&l, &p);
    release_t1(&l, p.base);
    unsigned clocks = 0;
    for (; get32(&l, 0x20010) != 0xD0E && clocks < 2000; clocks++)
        l.clock(1);
    end(&l);
    assert_true(clocks < 2000);
    return clocks;
}

/*
 * Timing is as measured, unless WAITGATE_PROFILE says otherwise: six cycles per block of Dst, not five, and the last product is
 * in the unit for seven cycles instead of five. That the thread is idle is known three (Blackhole) or four cycles later.
 */
static void test_profile(void **state)
{
    unsigned silicon = clocks_of_mvmuls(state, "silicon"), documented = clocks_of_mvmuls(state, "documented");
    assert_int_equal(clocks_of_mvmuls(state, NULL), silicon);
    assert_int_equal(silicon, documented + 10 + 2 + (wg_test_arch(state) == WG_ARCH_BH ? 3 : 4));
}

/* WAITGATE_CHECK: the report is written when the host lets go, as text or JSON; %p is the process. */
static void test_check(void **state)
{
    static const struct {
        const char *suffix, *words[3];
    } forms[] = {{"",
                  {"note: 1 of them is harmless as far as is known, and is not shown; JSON has all", "tile ",
                   "1 race report on 1 tile"}},
                 {".json", {"\"kind\": \"read-before-write\"", "\"pc\": \"0x0000000", "\"forgotten\": 0"}}};
    for (unsigned i = 0; i < 2; i++) {
        char name[64], path[64], text[8192] = "";
        snprintf(name, sizeof name, "/tmp/wg_abi_check_%%p%s", forms[i].suffix);
        snprintf(path, sizeof path, "/tmp/wg_abi_check_%ld%s", (long)getpid(), forms[i].suffix);
        setenv("WAITGATE_CHECK", name, 1);
        lib l = start(state);
        rv p = rv_at(0);
        rv_li(&p, T0, 0x30000);
        rv_lw(&p, A0, 0, T0); /* never written */
        rv_add(&p, A0, A0, A0);
        rv_done(&p);
        prepare(&l, &p);
        put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
        l.clock(400);
        end(&l);
        unsetenv("WAITGATE_CHECK");
        take_file(path, text, sizeof text);
        for (unsigned k = 0; k < 3; k++)
            if (!strstr(text, forms[i].words[k]))
                fail_msg("no `%s` in\n%s", forms[i].words[k], text);
    }
}

/* Behind tt-metal's host, reports about its firmware alone are left out. */
static void test_check_firmware(void **state)
{
    enum { KERNEL = 0xB000 };
    for (unsigned metal = 0; metal < 2; metal++) {
        char path[64], text[1 << 14] = "";
        snprintf(path, sizeof path, "/tmp/wg_abi_check_firmware_%ld.json", (long)getpid());
        setenv("WAITGATE_CHECK", path, 1);
        lib l = start(state);
        unsetenv("WAITGATE_CHECK");
        rv p = rv_at(0), kernel = rv_at(KERNEL);
        for (unsigned i = 0; i < 2; i++) {
            rv *of = i ? &kernel : &p;
            rv_li(of, T0, 0x30000 + 0x100 * i);
            rv_lw(of, A0, 0, T0); /* nobody has written it */
            rv_add(of, A0, A0, A0);
        }
        rv_li(&p, T1, KERNEL);
        rv_word(&p, 0x67 | T1 << 15); /* jr t1 */
        rv_done(&kernel);
        prepare(&l, &p);
        put(&l, kernel.base, kernel.word, 4 * kernel.n);
        if (metal)
            put32(&l, (l.arch == WG_ARCH_BH ? 0xAD0 : 0xA00) + 240, 0x50EC09A3);
        put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
        l.clock(600);
        end(&l);
        take_file(path, text, sizeof text);
        assert_int_equal(strstr(text, "L1 0x030000") == NULL, metal);
        assert_int_equal(strstr(text, "\"about_firmware\": 1") != NULL, metal);
        assert_non_null(strstr(text, "L1 0x030100"));
    }
}

/* WAITGATE_CHECKS: checks other than races. Data written by the host counts as initialised. */
static void test_checks(void **state)
{
    char path[64], text[8192] = "";
    snprintf(path, sizeof path, "/tmp/wg_abi_checks_%ld", (long)getpid());
    setenv("WAITGATE_CHECK", path, 1);
    setenv("WAITGATE_CHECKS", "memory,sync", 1);
    lib l = start(state);
    unsetenv("WAITGATE_CHECK");
    unsetenv("WAITGATE_CHECKS");
    rv p = rv_at(0);
    rv_li(&p, T0, 0x20000);
    rv_lw(&p, A0, 0, T0); /* the host has written it */
    rv_li(&p, T0, 0x30000);
    rv_sw(&p, A0, 0, T0); /* never written */
    rv_done(&p);
    prepare(&l, &p);
    put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
    l.clock(400);
    end(&l);
    take_file(path, text, sizeof text);
    assert_non_null(strstr(text, "stray-access"));
    assert_non_null(strstr(text, "L1 0x030000-0x030003"));
    assert_non_null(strstr(text, "1 race report on 1 tile"));
}

/* Memory of the host's: what it reads after the program has written it, and the gaps of a line that it has written. */
static void test_checks_of_shared_memory(void **state)
{
    enum { WRITTEN = 0x28000, GAP = WRITTEN + 8, ANSWER = 0x31000, STRAY = 0x32000 };
    for (unsigned collected = 0; collected < 2; collected++) {
        char path[64], text[8192] = "";
        snprintf(path, sizeof path, "/tmp/wg_abi_shared_%ld", (long)getpid());
        setenv("WAITGATE_CHECK", path, 1);
        setenv("WAITGATE_CHECKS", "race,memory", 1);
        lib l = start(state);
        unsetenv("WAITGATE_CHECK");
        unsetenv("WAITGATE_CHECKS");
        rv p = rv_at(0);
        rv_li(&p, T0, GAP);
        rv_lw(&p, A0, 0, T0); /* a copy of the whole line */
        rv_li(&p, T0, ANSWER);
        rv_sw(&p, A0, 0, T0);
        rv_li(&p, T0, STRAY);
        rv_sw(&p, A0, 0, T0);
        rv_done(&p);
        prepare(&l, &p);
        put32(&l, WRITTEN, 7);
        put32(&l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
        l.clock(400);
        if (collected)
            get32(&l, ANSWER);
        end(&l);
        take_file(path, text, sizeof text);
        assert_null(strstr(text, "L1 0x028008"));
        assert_int_equal(strstr(text, "L1 0x031000") == NULL, collected);
        assert_non_null(strstr(text, "L1 0x032000"));
    }
}

static const wg_test tests[] = {
    WG_TEST(test_boots_b, WG_BH | WG_WH, ""),
    WG_TEST(test_boots_t1_at_its_vector, WG_BH | WG_WH, ""),
    WG_TEST(test_resets_between_clocks, WG_BH | WG_WH, ""),
    WG_TEST(test_tiles_are_apart, WG_BH | WG_WH, ""),
    WG_TEST(test_one_clock, WG_BH | WG_WH, ""),
    WG_TEST(test_multicast, WG_BH | WG_WH, ""),
    WG_TEST(test_across_windows, WG_BH | WG_WH, ""),
    WG_TEST(test_init_exit_init, WG_BH | WG_WH, ""),
    WG_TEST(test_fork, WG_BH | WG_WH, ""),
    WG_TEST(test_nonsense, WG_BH | WG_WH, ""),
    WG_TEST(test_clocks_per_read, WG_BH | WG_WH, ""),
    WG_TEST(test_clocks_per_call, WG_BH | WG_WH, ""),
    WG_TEST(test_on_finding, WG_BH | WG_WH, ""),
    WG_TEST(test_exit_on_finding, WG_BH | WG_WH, ""),
    WG_TEST(test_bad_environment, WG_BH | WG_WH, ""),
    WG_TEST(test_profile, WG_BH | WG_WH, ""),
    WG_TEST(test_check, WG_BH | WG_WH, ""),
    WG_TEST(test_checks, WG_BH | WG_WH, ""),
    WG_TEST(test_checks_of_shared_memory, WG_BH | WG_WH, ""),
    WG_TEST(test_check_firmware, WG_BH | WG_WH, ""),
};
WG_MAIN("abi", tests)
