/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of time: an empty tile for 1e9 cycles, three threads of NOPs, a device created and destroyed. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <waitgate/waitgate.h>

static double seconds(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static wg_device *make(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev;
    if (wg_create(&desc, &dev) != WG_OK)
        exit(1);
    return dev;
}

int main(void)
{
    for (unsigned arch = 0; arch < 2; arch++) {
        const char *on = arch ? "wh" : "bh";
        double from = seconds(CLOCK_MONOTONIC);
        wg_device *dev = make((wg_arch_id)arch);
        printf("device_create_%s %.3f ms\n", on, (seconds(CLOCK_MONOTONIC) - from) * 1e3);
        from = seconds(CLOCK_MONOTONIC);
        if (wg_advance(dev, 1000000000) != WG_OK || wg_cycle(dev) != 1000000000)
            return 1;
        printf("idle_1e9_cycles_%s %.6f ms\n", on, (seconds(CLOCK_MONOTONIC) - from) * 1e3);

        enum { CYCLES = 1000000, NOP = 0x02000000 };
        uint64_t start = wg_cycle(dev);
        from = seconds(CLOCK_PROCESS_CPUTIME_ID);
        while (wg_cycle(dev) < start + CYCLES) {
            for (unsigned thread = 0; thread < WG_THREADS; thread++)
                while (wg_push(dev, thread, NOP) == WG_OK)
                    ;
            wg_advance(dev, 16);
        }
        printf("nops_3_threads_%s %.3f Mcycles/s\n", on, CYCLES / (seconds(CLOCK_PROCESS_CPUTIME_ID) - from) * 1e-6);
        wg_destroy(dev);
    }
    return 0;
}
