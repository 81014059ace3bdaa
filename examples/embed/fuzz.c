/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzer's loop: one device, created once and reset between programs. Each program is a stream of random Tensix words on
 * each of three threads. Much of their behaviour is undefined; the device must survive all of it.
 *
 *     fuzz [PROGRAMS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <waitgate/waitgate.h>

enum { WORDS = 12, CYCLES = 2000 };

static uint64_t state;
static uint32_t random_word(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

int main(int argc, char **argv)
{
    unsigned long programs = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
    state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_DEFAULT};
    wg_device *dev;
    if (wg_create(&desc, &dev) != WG_OK)
        return 1;
    unsigned long ended[5] = {0}, findings = 0;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned long i = 0; i < programs; i++) {
        wg_stop stop;
        if (wg_reset(dev) != WG_OK)
            return 1;
        for (unsigned thread = 0; thread < WG_THREADS; thread++)
            for (unsigned k = 0; k < WORDS; k++)
                wg_push(dev, thread, random_word());
        if (wg_run(dev, CYCLES, &stop) != WG_OK) {
            fprintf(stderr, "program %lu: %s\n", i, wg_error(dev));
            return 1;
        }
        ended[stop]++;
        findings += wg_finding_count(dev);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    printf("%lu programs: %lu done, %lu hang, %lu cut; %lu findings\n", programs, ended[WG_STOP_DONE],
           ended[WG_STOP_HUNG], ended[WG_STOP_CYCLES], findings);
    fprintf(stderr, "%.0f programs per second\n", (double)programs / seconds);
    wg_destroy(dev);
    return 0;
}
