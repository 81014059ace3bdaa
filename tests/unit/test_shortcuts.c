/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortcuts change nothing: every example, under each shortcut alone, without each, and with none, ends in the same cycle
 * and state as with all, and so does the plain machine in lockstep.
 */
#include <stdio.h>
#include "elf/elf.h"
#include "wgtest.h"

enum { LIMIT = 6000, MODES = 64 };

static const char *const core_names[WG_CORES] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};
static const char *const examples[] = {"matmul", "matmul_resident", "gelu",          "exp",         "reduce", "sort",
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

static outcome run(wg_arch_id arch, const char *name, const char *shortcuts, bool lockstep)
{
    wg_device_desc desc = {
        .struct_size = sizeof desc, .arch = arch, .shortcuts = shortcuts, .lockstep = lockstep};
    wg_device *dev;
    wg_stop stop;
    outcome o = {0};
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    assert_true(load(dev, arch, name) != 0);
    assert_int_equal(wg_run(dev, LIMIT, &stop), WG_OK);
    o.hash = wg_state_hash(dev);
    o.cycle = wg_cycle(dev);
    o.findings = wg_finding_count(dev);
    for (unsigned core = 0; core < WG_CORES; core++) {
        wg_core_info info;
        assert_int_equal(wg_core_state(dev, (wg_core_id)core, &info), WG_OK);
        o.instructions += info.instructions;
    }
    wg_destroy(dev);
    return o;
}

static void expect_same(const char *name, const char *mode, outcome a, outcome b)
{
    if (a.cycle != b.cycle || a.hash != b.hash || a.instructions != b.instructions || a.findings != b.findings)
        fail_msg("%s, shortcuts `%s`: cycle %llu, %llu instructions, %zu findings, state %016llx; with all: cycle %llu, "
                 "%llu instructions, %zu findings, state %016llx",
                 name, mode, (unsigned long long)a.cycle, (unsigned long long)a.instructions, a.findings,
                 (unsigned long long)a.hash, (unsigned long long)b.cycle, (unsigned long long)b.instructions,
                 b.findings, (unsigned long long)b.hash);
}

static void test_each_alone_and_without(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (unsigned i = 0; i < sizeof examples / sizeof *examples; i++) {
        outcome all = run(arch, examples[i], NULL, false);
        expect_same(examples[i], "none", run(arch, examples[i], "none", false), all);
        expect_same(examples[i], "lockstep", run(arch, examples[i], NULL, true), all);
        for (unsigned k = 0; wg_shortcut_name(k); k++) {
            char mode[64];
            snprintf(mode, sizeof mode, "-%s", wg_shortcut_name(k));
            expect_same(examples[i], mode, run(arch, examples[i], mode, false), all);
            expect_same(examples[i], mode + 1, run(arch, examples[i], mode + 1, false), all);
        }
    }
}

static void test_names(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    static const char *const good[] = {NULL, "", "none", "rows", "rows,bursts", "-rows", "-rows,-bursts"};
    static const char *const bad[] = {"row", "rows,", ",", "-rows,bursts", "rows,-bursts", "none,rows", "-"};
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(wg_shortcuts(dev, good[i]), WG_OK);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(wg_shortcuts(dev, bad[i]), WG_ERR_ARGUMENT);
        assert_true(strstr(wg_error(dev), bad[i]) != NULL);
    }
    wg_destroy(dev);
    desc.shortcuts = "row";
    assert_int_equal(wg_create(&desc, &dev), WG_ERR_ARGUMENT);
    /* A caller that was compiled before there were shortcuts gets them all. */
    desc.struct_size = offsetof(wg_device_desc, shortcuts);
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    wg_destroy(dev);
    desc.struct_size = sizeof desc + 8;
    assert_int_equal(wg_create(&desc, &dev), WG_ERR_ARGUMENT);
}

static const wg_test tests[] = {
    WG_TEST(test_each_alone_and_without, WG_BH | WG_WH, ""),
    WG_TEST(test_names, WG_BH, ""),
};
WG_MAIN("shortcuts", tests)
