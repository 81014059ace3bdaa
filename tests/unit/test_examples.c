/* SPDX-License-Identifier: Apache-2.0 */
/* Every example runs and leaves the result that its comment promises. */
#include <stdio.h>
#include "elf/elf.h"
#include "wgtest.h"

static const char *const core_names[WG_CORES] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};

/* Loads the ELF files of an example's cores (bit wg_core_id) and releases them. */
static wg_device *start(void **state, const char *name, unsigned cores)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    for (unsigned core = 0; core < WG_CORES; core++) {
        if (!(cores >> core & 1))
            continue;
        char path[512], error[512];
        snprintf(path, sizeof path, "%s/%s%s.%s.elf", WG_EXAMPLES, desc.arch == WG_ARCH_WH ? "wh_" : "", name,
                 core_names[core]);
        wg_elf *elf = wg_elf_open_file(path, error, sizeof error);
        if (!elf)
            fail_msg("%s", error);
        for (size_t i = 0; i < wg_elf_segments(elf); i++) {
            const wg_elf_segment *s = wg_elf_segment_at(elf, i);
            assert_int_equal(wg_write(dev, s->address, s->data, s->file_bytes), WG_OK);
        }
        assert_int_equal(wg_core_release(dev, (wg_core_id)core, wg_elf_entry(elf)), WG_OK);
        wg_elf_close(elf);
    }
    return dev;
}

static void run_to_end(wg_device *dev)
{
    wg_stop stop;
    assert_int_equal(wg_run(dev, 1000000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
}

static uint32_t result(wg_device *dev, unsigned n)
{
    uint32_t value = 0;
    assert_int_equal(wg_read(dev, 0x20000 + 16 * n, &value, 4), WG_OK);
    return value;
}

static bool found(const wg_device *dev, const char *code)
{
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        if (!strcmp(wg_finding_info_at(wg_finding_at(dev, i)->code)->code, code))
            return true;
    return false;
}

enum { B = 1 << WG_CORE_B, NC = 1 << WG_CORE_NC, T0 = 1 << WG_CORE_T0, T1 = 1 << WG_CORE_T1, T2 = 1 << WG_CORE_T2 };

static void test_hello(void **state)
{
    wg_device *dev = start(state, "hello", B);
    run_to_end(dev);
    char text[32] = "";
    assert_int_equal(result(dev, 0), 26);
    assert_int_equal(wg_read(dev, 0x20010, text, 27), WG_OK);
    assert_string_equal(text, "Hello from a Tensix tile!\n");
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

static void test_mailbox(void **state)
{
    wg_device *dev = start(state, "mailbox", B | T0);
    run_to_end(dev);
    assert_int_equal(result(dev, 0), 100);
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

static void test_launch_pcbuf(void **state)
{
    wg_device *dev = start(state, "launch_pcbuf", B | T1);
    run_to_end(dev);
    assert_int_equal(result(dev, 0), 1 + 2 + 3 + 4 + 5);
    assert_int_equal(result(dev, 1), 1 + 2 + 3 + 4 + 5);
    assert_int_equal(result(dev, 2), 0);
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

static void test_launch_l1(void **state)
{
    wg_device *dev = start(state, "launch_l1", B | T0 | T1 | T2);
    run_to_end(dev);
    assert_int_equal(result(dev, 0), 600);
    assert_int_equal(wg_finding_count(dev), 0);
    wg_destroy(dev);
}

/* The bug shows on Blackhole alone: Wormhole has no L0 data cache. */
static void test_stale_l0(void **state)
{
    wg_device *dev = start(state, "stale_l0", B | NC);
    run_to_end(dev); /* it finally ends with a hit that flushes the cache */
    assert_int_equal(result(dev, 0), 42);
    assert_int_equal(found(dev, "core-stale-l0"), wg_test_arch(state) == WG_ARCH_BH);
    uint32_t looks = result(dev, 1);
    wg_destroy(dev);
    dev = start(state, "stale_l0_fixed", B | NC);
    run_to_end(dev);
    assert_int_equal(result(dev, 0), 42);
    assert_false(found(dev, "core-stale-l0"));
    if (wg_test_arch(state) == WG_ARCH_BH)
        assert_true(result(dev, 1) < looks);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_hello, WG_BH | WG_WH, ""),
    WG_TEST(test_mailbox, WG_BH | WG_WH, "PIPE-30"),
    WG_TEST(test_launch_pcbuf, WG_BH | WG_WH, "PIPE-26 PIPE-27"),
    WG_TEST(test_launch_l1, WG_BH | WG_WH, "PIPE-26"),
    WG_TEST(test_stale_l0, WG_BH | WG_WH, "SEM-12"),
};
WG_MAIN("examples", tests)
