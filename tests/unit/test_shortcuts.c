/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortcuts change nothing: every example and program, under each shortcut alone, without each, and with none, ends in
 * the same cycle and state as with all, and so does the plain machine in lockstep. Together they use every shortcut.
 */
#include <stdio.h>
#include <stdlib.h>
#include "elf/elf.h"
#include "machine/device.h"
#include "machine/fast.h"
#include "num/simd.h"
#include "rvasm.h"
#include "wgtest.h"

enum { LIMIT = 6000, LONG = 12000 };

static const char *const core_names[WG_CORES] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};
static const char *const examples[] = {"matmul", "matmul_resident", "gelu",          "exp",       "reduce", "sort",
                                       "tilize", "untilize",        "datacopy_bfp8", "launch_l1", "add",    "mailbox"};

typedef struct outcome {
    uint64_t hash, cycle, instructions;
    size_t findings;
} outcome;

static unsigned load(wg_device *dev, wg_arch_id arch, const char *name)
{
    unsigned cores = 0;
    for (unsigned core = 0; core < WG_CORES; core++) {
        char path[512], error[512];
        snprintf(path, sizeof path, "%s/%s%s.%s.elf", WG_EXAMPLES, arch == WG_ARCH_WH ? "wh_" : "", name,
                 core_names[core]);
        wg_elf *elf = wg_elf_open_file(path, error, sizeof error);
        if (!elf)
            continue;
        for (size_t i = 0; i < wg_elf_segments(elf); i++) {
            const wg_elf_segment *s = wg_elf_segment_at(elf, i);
            wg_write(dev, s->address, s->data, s->file_bytes);
        }
        assert_int_equal(wg_core_release(dev, (wg_core_id)core, wg_elf_entry(elf)), WG_OK);
        wg_elf_close(elf);
        cores++;
    }
    return cores;
}

/* ---- programs of cores, each for a shortcut ---------------------------------------------------------------- */

enum {
    CODE = 0x8000,
    CODE_STRIDE = 0x1000,
    DATA = 0x20000,
    DATA_STRIDE = 0x4000,
    RAM = 0xFFB00000u,
    MOP_CFG = 0xFFB80000u
};
enum { NOP = 0x02000000, MOP = 0x01800000 };

static void start(wg_device *dev, unsigned core, rv *p)
{
    rv_done(p);
    rv_load(dev, p);
    assert_int_equal(wg_core_release(dev, (wg_core_id)core, p->base), WG_OK);
}

/* Own RAM and registers only: private work, then a loop of arithmetic. */
static void load_private(wg_device *dev)
{
    for (unsigned core = 0; core < WG_CORES; core++) {
        rv p = rv_at(CODE + core * CODE_STRIDE);
        rv_li(&p, A0, RAM + 64);
        rv_li(&p, A1, 50 + 3 * core);
        unsigned loop = p.n;
        rv_sw(&p, A1, 0, A0);
        rv_add(&p, T1, T1, T0);
        rv_lw(&p, T0, 0, A0);
        rv_addi(&p, A1, A1, -1);
        rv_bne(&p, A1, ZERO, loop);
        rv_li(&p, A1, 400);
        loop = p.n;
        rv_add(&p, T1, T1, A1);
        rv_addi(&p, A1, A1, -1);
        rv_bne(&p, A1, ZERO, loop);
        rv_sw(&p, T1, 0, A0);
        start(dev, core, &p);
    }
}

/*
 * NC runs ahead in private work while B rewrites a line of NC's code with the same contents: NC rolls back each time.
 */
static void load_rollbacks(wg_device *dev)
{
    rv p = rv_at(CODE + CODE_STRIDE), q = rv_at(CODE);
    rv_li(&p, A0, RAM + 64);
    rv_li(&p, A1, 300);
    unsigned loop = p.n;
    rv_sw(&p, A1, 0, A0);
    rv_add(&p, T1, T1, A1);
    rv_lw(&p, T0, 0, A0);
    rv_addi(&p, A1, A1, -1);
    rv_bne(&p, A1, ZERO, loop);
    rv_sw(&p, T1, 0, A0);
    uint32_t line = p.base + 4 * loop;
    rv_li(&q, A0, line);
    rv_li(&q, A1, 20);
    rv_lw(&q, T0, 0, A0);
    loop = q.n;
    rv_sw(&q, T0, 0, A0);
    for (unsigned i = 0; i < 37; i++)
        rv_nop(&q);
    rv_addi(&q, A1, A1, -1);
    rv_bne(&q, A1, ZERO, loop);
    start(dev, WG_CORE_NC, &p);
    start(dev, WG_CORE_B, &q);
}

/* A loop through L1 that copies words and sums them. */
static void copies(wg_device *dev, unsigned core, unsigned words)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, A0, DATA + core * DATA_STRIDE);
    rv_li(&p, A1, words);
    unsigned loop = p.n;
    rv_lw(&p, T0, 0, A0);
    rv_add(&p, T1, T1, T0);
    rv_addi(&p, T1, T1, 3);
    rv_sw(&p, T1, 0x800, A0);
    rv_addi(&p, A0, A0, 16);
    rv_addi(&p, A1, A1, -1);
    rv_bne(&p, A1, ZERO, loop);
    start(dev, core, &p);
}

static void load_copy(wg_device *dev) { copies(dev, WG_CORE_B, 120); }

static void load_copies(wg_device *dev)
{
    for (unsigned core = 0; core < WG_CORES; core++)
        copies(dev, core, 120);
}

/* T cores that push in a loop. */
static void load_pushes(wg_device *dev)
{
    for (unsigned core = WG_CORE_T0; core <= WG_CORE_T2; core++) {
        rv p = rv_at(CODE + core * CODE_STRIDE);
        rv_li(&p, A1, 60);
        unsigned loop = p.n;
        rv_tt(&p, NOP);
        rv_add(&p, T1, T1, A1);
        rv_tt(&p, NOP);
        rv_tt(&p, NOP);
        rv_addi(&p, A1, A1, -1);
        rv_bne(&p, A1, ZERO, loop);
        start(dev, core, &p);
    }
}

/* MOPs of NOPs. */
static void load_mop(wg_device *dev)
{
    for (unsigned core = WG_CORE_T0; core <= WG_CORE_T1; core++) {
        rv p = rv_at(CODE + core * CODE_STRIDE);
        rv_store(&p, MOP_CFG, 1);
        rv_store(&p, MOP_CFG + 4, 100);
        for (unsigned i = 2; i < 9; i++)
            rv_store(&p, MOP_CFG + 4 * i, NOP);
        for (unsigned i = 0; i < 4; i++)
            rv_tt(&p, MOP);
        start(dev, core, &p);
    }
}

/* Two cores that poll words that nobody writes. */
static void load_polls(wg_device *dev)
{
    for (unsigned core = 0; core < 2; core++) {
        rv p = rv_at(CODE + core * CODE_STRIDE);
        rv_li(&p, A0, DATA + 16 * core);
        unsigned loop = p.n;
        rv_fence(&p);
        for (unsigned i = 0; i < core; i++)
            rv_nop(&p);
        rv_lw(&p, T0, 0, A0);
        rv_beq(&p, T0, ZERO, loop);
        start(dev, core, &p);
    }
}

typedef struct program {
    const char *name;
    void (*load)(wg_device *dev);
    bool endless;
} program;
static const program programs[] = {{"private", load_private, false}, {"rollbacks", load_rollbacks, false},
                                   {"copy", load_copy, false},       {"copies", load_copies, false},
                                   {"pushes", load_pushes, false},   {"mop", load_mop, false},
                                   {"polls", load_polls, true}};

static uint64_t uses[64];       /* of each shortcut, in all runs with all of them */
static uint64_t uses_alone[64]; /* … in all runs with only this one and what it needs */
static uint64_t seed;           /* of all runs; 0: no perturbation */
static const char *simd;        /* … and the level of host vector code; NULL: the best */

static outcome run(wg_arch_id arch, const char *name, const program *own, const char *shortcuts, bool lockstep)
{
    wg_device_desc desc = {
        .struct_size = sizeof desc, .arch = arch, .shortcuts = shortcuts, .lockstep = lockstep, .seed = seed, .simd = simd};
    wg_device *dev;
    wg_stop stop;
    outcome o = {0};
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    if (own)
        own->load(dev);
    else
        assert_true(load(dev, arch, name) != 0);
    if (own && own->endless)
        wg_advance(dev, LONG);
    else
        assert_int_equal(wg_run(dev, LIMIT, &stop), WG_OK);
    o.hash = wg_state_hash(dev);
    o.cycle = wg_cycle(dev);
    o.findings = wg_finding_count(dev);
    for (unsigned core = 0; core < WG_CORES; core++) {
        wg_core_info info;
        assert_int_equal(wg_core_state(dev, (wg_core_id)core, &info), WG_OK);
        o.instructions += info.instructions;
    }
    for (unsigned k = 0; wg_shortcut_name(k); k++) {
        uint64_t n = wg_shortcut_uses(dev, k);
        if (!shortcuts && !lockstep)
            uses[k] += n;
        else if (lockstep || strcmp(shortcuts, "none") == 0 ||
                 (shortcuts[0] == '-' && strcmp(shortcuts + 1, wg_shortcut_name(k)) == 0))
            assert_int_equal(n, 0); /* a shortcut that is switched off is not taken */
        else if (strcmp(shortcuts, wg_shortcut_name(k)) == 0)
            uses_alone[k] += n;
    }
    wg_destroy(dev);
    return o;
}

static void expect_same(const char *name, const char *mode, outcome a, outcome b)
{
    if (a.cycle != b.cycle || a.hash != b.hash || a.instructions != b.instructions || a.findings != b.findings)
        fail_msg(
            "%s, shortcuts `%s`: cycle %llu, %llu instructions, %zu findings, state %016llx; with all: cycle %llu, "
            "%llu instructions, %zu findings, state %016llx",
            name, mode, (unsigned long long)a.cycle, (unsigned long long)a.instructions, a.findings,
            (unsigned long long)a.hash, (unsigned long long)b.cycle, (unsigned long long)b.instructions, b.findings,
            (unsigned long long)b.hash);
}

static void all_modes(wg_arch_id arch, const char *name, const program *own)
{
    outcome all = run(arch, name, own, NULL, false);
    expect_same(name, "none", run(arch, name, own, "none", false), all);
    expect_same(name, "lockstep", run(arch, name, own, NULL, true), all);
    for (unsigned k = 0; wg_shortcut_name(k); k++) {
        char mode[64];
        snprintf(mode, sizeof mode, "-%s", wg_shortcut_name(k));
        expect_same(name, mode, run(arch, name, own, mode, false), all);
        expect_same(name, mode + 1, run(arch, name, own, mode + 1, false), all);
    }
}

static void test_each_alone_and_without(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    memset(uses, 0, sizeof uses);
    memset(uses_alone, 0, sizeof uses_alone);
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        all_modes(arch, programs[i].name, &programs[i]);
    for (unsigned i = 0; i < sizeof examples / sizeof *examples; i++)
        all_modes(arch, examples[i], NULL);
    for (unsigned k = 0; wg_shortcut_name(k); k++) {
        print_message("%s: taken %llu times\n", wg_shortcut_name(k), (unsigned long long)uses[k]);
        assert_true(!WG_FAST || (uses[k] > 0 && uses_alone[k] > 0)); /* to name one brings what it needs */
        assert_true(WG_FAST || uses[k] == 0);
    }
}

/* Every level of host vector code that the host has ends in the same state; other names are refused. */
static void test_host_levels(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    const wg_simd best = wg_simd_best();
    for (unsigned i = 0; i < sizeof examples / sizeof *examples; i++) {
        const outcome all = run(arch, examples[i], NULL, NULL, false);
        for (unsigned level = 0; level <= (unsigned)best; level++) {
            simd = wg_simd_name((wg_simd)level);
            expect_same(examples[i], simd, run(arch, examples[i], NULL, NULL, false), all);
        }
        simd = NULL;
    }
    static const char *const wrong[] = {"AVX2", "avx", "avx2,", "best"};
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        desc.simd = wrong[i];
        assert_int_equal(wg_create(&desc, &dev), WG_ERR_ARGUMENT);
    }
    for (unsigned level = 0; level < WG_SIMD_LEVELS; level++) {
        desc.simd = wg_simd_name((wg_simd)level);
        if (level > (unsigned)best) {
            assert_int_equal(wg_create(&desc, &dev), WG_ERR_ARGUMENT);
            continue;
        }
        assert_int_equal(wg_create(&desc, &dev), WG_OK);
        assert_int_equal(dev->tile->simd, level);
        wg_destroy(dev);
    }
}

/* Perturbed runs take some shortcuts. */
enum {
    WHEN_PERTURBED = WG_FAST_BIT(DECODING) | WG_FAST_BIT(STRAIGHT_ROWS) | WG_FAST_BIT(PIPELINE) | WG_FAST_BIT(AHEAD) |
                     WG_FAST_BIT(LINES)
};
static void test_perturbed(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    memset(uses, 0, sizeof uses);
    for (seed = 1; seed <= 3; seed++) {
        for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
            all_modes(arch, programs[i].name, &programs[i]);
        all_modes(arch, "matmul", NULL);
        all_modes(arch, "gelu", NULL);
    }
    seed = 0;
    for (unsigned k = 0; wg_shortcut_name(k); k++)
        assert_true((uses[k] != 0) == (WG_FAST && WHEN_PERTURBED >> k & 1));
}

/* A snapshot carries its perturbation: the device that restores it takes no shortcuts that ignore delays. */
static void test_restored_runs_are_perturbed(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    uint64_t hash[2], cycle[2];
    void *shot = NULL;
    size_t bytes = 0;
    for (unsigned i = 0; i < 2; i++) { /* the device with the seed, then one without */
        wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .seed = i ? 0 : 7};
        wg_device *dev;
        wg_stop stop;
        assert_int_equal(wg_create(&desc, &dev), WG_OK);
        if (i == 0) {
            assert_true(load(dev, arch, "matmul") != 0);
            wg_advance(dev, 500);
            bytes = wg_snapshot_size(dev);
            shot = malloc(bytes);
            assert_non_null(shot);
            assert_int_equal(wg_snapshot(dev, shot, bytes), WG_OK);
        }
        assert_int_equal(wg_restore(dev, shot, bytes), WG_OK);
        assert_int_equal(wg_run(dev, LIMIT, &stop), WG_OK);
        hash[i] = wg_state_hash(dev);
        cycle[i] = wg_cycle(dev);
        wg_destroy(dev);
    }
    free(shot);
    assert_int_equal(cycle[0], cycle[1]);
    assert_true(hash[0] == hash[1]);
}

static void test_names(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    static const char *const good[] = {
        NULL,           "", "none", "frontends", "frontends,bursts", "-frontends", "-frontends,-bursts", "lines,lines",
        "-lines,-lines"};
    static const char *const bad[] = {"frontend",          "frontends,",     ",", "-frontends,bursts",
                                      "frontends,-bursts", "none,frontends", "-"};
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(wg_shortcuts(dev, good[i]), WG_OK);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(wg_shortcuts(dev, bad[i]), WG_ERR_ARGUMENT);
        assert_true(strstr(wg_error(dev), bad[i]) != NULL);
    }
    wg_destroy(dev);
    /* To name one twice is to name it once; naming one brings what it needs. */
    static const struct {
        const char *text;
        uint32_t wanted;
    } read[] = {{"ahead", WG_FAST_BIT(AHEAD)},
                {"ahead,ahead", WG_FAST_BIT(AHEAD)},
                {"-ahead,-ahead", WG_FAST_ALL & ~WG_FAST_BIT(AHEAD)},
                {"lines", WG_FAST_BIT(LINES) | WG_FAST_BIT(AHEAD)},
                {"rounds", WG_FAST_BIT(ROUNDS) | WG_FAST_BIT(CORE_GROUPS)}};
    for (unsigned i = 0; i < sizeof read / sizeof *read; i++) {
        uint32_t wanted;
        assert_true(wg_shortcuts_parse(read[i].text, &wanted));
        assert_int_equal(wanted, read[i].wanted);
    }
    desc.shortcuts = "frontend";
    assert_int_equal(wg_create(&desc, &dev), WG_ERR_ARGUMENT);
    /* A caller compiled before shortcuts existed gets them all. */
    desc.struct_size = offsetof(wg_device_desc, shortcuts);
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    wg_destroy(dev);
    desc.struct_size = sizeof desc + 8;
    assert_int_equal(wg_create(&desc, &dev), WG_ERR_ARGUMENT);
}

static const wg_test tests[] = {
    WG_TEST(test_each_alone_and_without, WG_BH | WG_WH, ""),
    WG_TEST(test_perturbed, WG_BH | WG_WH, ""),
    WG_TEST(test_host_levels, WG_BH | WG_WH, ""),
    WG_TEST(test_restored_runs_are_perturbed, WG_BH | WG_WH, ""),
    WG_TEST(test_names, WG_BH, ""),
};
WG_MAIN("shortcuts", tests)
