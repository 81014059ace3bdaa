/* SPDX-License-Identifier: Apache-2.0 */
/* wg_explore(): a callback per timing, and the device returns to its initial state. */
#include <waitgate/explore.h>

#include "wgtest.h"

enum { RESULT = 0x100 };

typedef struct seen {
    unsigned runs, memory, stops, findings, ones;
    uint64_t seed;
    wg_delay delay;
    unsigned stop_at;
} seen;

static bool ended(void *user, wg_device *dev, const wg_explored *run)
{
    seen *s = user;
    uint32_t value = 0;
    assert_int_equal(wg_read(dev, RESULT, &value, sizeof value), WG_OK);
    assert_int_equal(run->number, s->runs++);
    assert_int_equal(run->cycles, wg_cycle(dev));
    s->ones += value == 1;
    if (run->memory && !s->memory++) {
        s->seed = run->seed;
        if (run->delay)
            s->delay = *run->delay;
    }
    s->stops += run->stops;
    s->findings += run->findings;
    return s->runs != s->stop_at;
}

/* `value` is stored after `nops` instructions. */
static void load(wg_device *dev, uint32_t address, uint32_t value, unsigned nops)
{
    for (; nops--; address += 4)
        assert_int_equal(wg_write(dev, address, &(uint32_t){0x00000013}, 4), WG_OK);
    const uint32_t code[3] = {0x00000513 | value << 20, 0x10A02023, 0x00100073}; /* li a0; sw a0, 0x100(zero); ebreak */
    assert_int_equal(wg_write(dev, address, code, sizeof code), WG_OK);
}

static wg_device *two_writers(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = WG_PROFILE_DEFAULT};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    load(dev, 0x6000, 1, 2);
    load(dev, 0x7000, 2, 12);
    assert_int_equal(wg_core_release(dev, WG_CORE_T0, 0x6000), WG_OK);
    assert_int_equal(wg_core_release(dev, WG_CORE_T1, 0x7000), WG_OK);
    return dev;
}

/* Two cores store different values: some timing gives the other one, and reproduces it. */
static void test_result_differs(void **state)
{
    wg_device *dev = two_writers(wg_test_arch(state));
    wg_explore_desc how = {.struct_size = sizeof how, .runs = 100, .address = RESULT, .bytes = 4};
    seen s = {0};
    const uint64_t start = wg_state_hash(dev);
    assert_int_equal(wg_explore(dev, &how, ended, &s), WG_OK);
    assert_int_equal(s.runs, 101);
    assert_true(s.memory > 0 && s.memory < 100);
    assert_true(s.ones == s.memory); /* T1 is later, unless it is delayed less than T0 */
    assert_int_equal(s.stops, 0);
    assert_int_equal(s.findings, 0);
    assert_true(wg_state_hash(dev) == start);

    wg_stop stop;
    uint32_t value;
    assert_int_equal(wg_perturb_with(dev, s.seed, s.delay.cycles ? &s.delay : NULL, s.delay.cycles ? 1 : 0), WG_OK);
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    assert_int_equal(wg_read(dev, RESULT, &value, sizeof value), WG_OK);
    assert_int_equal(value, 1);
    wg_destroy(dev);
}

/* Other memory does not differ; the callback ends the exploration. */
static void test_other_memory(void **state)
{
    wg_device *dev = two_writers(wg_test_arch(state));
    wg_explore_desc how = {.struct_size = sizeof how, .runs = 100, .address = 0x200, .bytes = 64};
    seen s = {0}, few = {.stop_at = 5};
    assert_int_equal(wg_explore(dev, &how, ended, &s), WG_OK);
    assert_int_equal(s.memory, 0);
    assert_true(s.ones > 0);
    assert_int_equal(wg_explore(dev, &how, ended, &few), WG_OK);
    assert_int_equal(few.runs, 5);
    wg_destroy(dev);
}

static void test_errors(void **state)
{
    wg_device *dev = two_writers(wg_test_arch(state));
    seen s = {0};
    wg_explore_desc how = {.struct_size = sizeof how, .address = 0xFFFFFFF0, .bytes = 4};
    assert_int_equal(wg_explore(dev, &how, ended, &s), WG_ERR_ARGUMENT);
    assert_int_equal(wg_explore(dev, NULL, NULL, &s), WG_ERR_ARGUMENT);
    const uint32_t endless[3] = {0x00150513, 0xFFDFF06F}; /* 1: addi a0, a0, 1; j 1b */
    assert_int_equal(wg_write(dev, 0x6000, endless, 8), WG_OK);
    how = (wg_explore_desc){.struct_size = sizeof how, .max_cycles = 20000};
    assert_int_equal(wg_explore(dev, &how, ended, &s), WG_ERR_STATE);
    assert_non_null(strstr(wg_error(dev), "does not end within 20000 cycles"));
    assert_int_equal(s.runs, 0);
    assert_int_equal(wg_cycle(dev), 0);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_result_differs, WG_BH | WG_WH, ""),
    WG_TEST(test_other_memory, WG_BH | WG_WH, ""),
    WG_TEST(test_errors, WG_BH | WG_WH, ""),
};
WG_MAIN("timings", tests)
