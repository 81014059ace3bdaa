/* SPDX-License-Identifier: Apache-2.0 */
/* What has been measured of cores and of what they push: profile `silicon` is within five per cent of each row. */
#include <stdio.h>

#include "core_rows.h"
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

static const wg_test tests[] = {
    WG_TEST(test_measured_rows, WG_BH, ""),
};
WG_MAIN("core_timing", tests)
