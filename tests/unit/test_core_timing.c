/* SPDX-License-Identifier: Apache-2.0 */
/* Measured timing of cores and of what they push: profile `silicon` is within five per cent of each row. */
#include <stdio.h>

#include "core_rows.h"
#include "rvasm.h"
#include "wgtest.h"

static void test_measured_rows(void **state)
{
    (void)state;
    unsigned off = 0;
    for (unsigned i = 0; i < CORE_ROWS; i++) {
        double model = core_row_cycles(&core_rows[i], WG_PROFILE_SILICON), silicon = core_rows[i].silicon;
        double difference = (model - silicon) / silicon;
        print_message("%-28s model %7.3f silicon %7.3f %+5.1f %%\n", core_rows[i].name, model, silicon,
                      100 * difference);
        off += difference > 0.05 || difference < -0.05;
    }
    assert_int_equal(off, 0);
}

/*
 * The cycles of a program of T1 that loads this word of the PC buffer window `times` times, each load waiting for the
 * previous one.
 */
static uint64_t cycles_of_loads(wg_arch_id arch, wg_profile profile, int offset, uint32_t times)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = profile};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    rv p = rv_at(0x1000);
    rv_li(&p, T0, 0xFFE80000);
    rv_li(&p, A2, times);
    unsigned loop = p.n;
    rv_lw(&p, A0, offset, T0);
    rv_add(&p, A1, A0, A0);
    rv_addi(&p, A2, A2, -1);
    rv_bne(&p, A2, ZERO, loop);
    rv_done(&p);
    assert_true(rv_load(dev, &p));
    wg_core_release(dev, WG_CORE_T1, p.base);
    wg_stop stop;
    wg_run(dev, 100000, &stop);
    uint64_t cycles = wg_cycle(dev);
    wg_destroy(dev);
    return cycles;
}

/*
 * On Blackhole silicon a semaphore's value takes three cycles more than the documented minimum; manual TTSync does not.
 */
static void test_semaphore_loads(void **state)
{
    enum { TTSYNC = 4, SEMAPHORE_3 = 0x2C, SHORT = 50, LONG = 90 };
    wg_arch_id arch = wg_test_arch(state);
    static const int offsets[2] = {TTSYNC, SEMAPHORE_3};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t each[2];
        for (unsigned profile = 0; profile < 2; profile++)
            each[profile] = cycles_of_loads(arch, (wg_profile)profile, offsets[i], LONG) -
                            cycles_of_loads(arch, (wg_profile)profile, offsets[i], SHORT);
        unsigned more = arch == WG_ARCH_BH && offsets[i] == SEMAPHORE_3 ? 3 : 0;
        assert_int_equal(each[WG_PROFILE_SILICON], each[WG_PROFILE_DOCUMENTED] + more * (LONG - SHORT));
    }
}

static const wg_test tests[] = {
    WG_TEST(test_measured_rows, WG_BH, ""),
    WG_TEST(test_semaphore_loads, WG_BH | WG_WH, "SEM-04"),
};
WG_MAIN("core_timing", tests)
