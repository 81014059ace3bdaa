/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast instructions move from the FIFO to their unit, on a whole device. Prints `name value unit` lines:
 * instructions per second of processor time, in millions, and the same for the longest MOP expansion. Each is the best
 * of several slices: other load on the machine can only lower it. `bench_frontend cost` prints the nanoseconds per
 * cycle of the mixed traffic and of the MOPs together, for comparing builds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "machine/device.h"
#include "machine/frontend.h"

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static wg_device *make(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev;
    if (wg_create(&desc, &dev) != WG_OK)
        exit(1);
    return dev;
}

enum { NOP = 0x02000000, SLICES = 12, CYCLES = 160000 };

/* Keeps the FIFOs of `threads` threads filled with `pattern`; returns the number of instructions pushed. */
static uint64_t feed(wg_device *dev, unsigned threads, const uint32_t *pattern, unsigned length, uint64_t cycles)
{
    wg_tile *t = dev->tile;
    wg_stall why;
    unsigned at[3] = {0, 0, 0};
    uint64_t pushed = 0;
    unsigned fuse = t->timing->push_fuse; /* as T cores do */
    for (uint64_t c = 0; c < cycles; c += 16) {
        for (unsigned thread = 0; thread < threads; thread++)
            while (wg_push_words(t, thread, (wg_core_id)(WG_CORE_T0 + thread), 0, &pattern[at[thread]], fuse, &why)) {
                at[thread] += fuse;
                if (at[thread] >= length)
                    at[thread] = 0;
                pushed += fuse;
            }
        wg_advance(dev, 16);
    }
    return pushed;
}

typedef struct rate {
    double insns, cycle; /* millions per second; nanoseconds */
} rate;

static rate measure(wg_arch_id arch, unsigned threads, const uint32_t *pattern, unsigned length)
{
    wg_device *dev = make(arch);
    rate best = {0, 1e9};
    for (unsigned slice = 0; slice < SLICES; slice++) {
        double from = seconds();
        uint64_t n = feed(dev, threads, pattern, length, CYCLES);
        double took = seconds() - from;
        if (took / CYCLES * 1e9 < best.cycle)
            best = (rate){(double)n / took * 1e-6, took / CYCLES * 1e9};
    }
    wg_destroy(dev);
    return best;
}

static void print(const char *name, wg_arch_id arch, unsigned threads, const uint32_t *pattern, unsigned length)
{
    rate r = measure(arch, threads, pattern, length);
    const char *on = arch == WG_ARCH_BH ? "bh" : "wh";
    printf("frontend_%s_%s_%u %.1f Minsn/s\n", name, on, threads, r.insns);
    printf("frontend_%s_%s_%u_cycle %.1f ns\n", name, on, threads, r.cycle);
}

static double mop(wg_arch_id arch)
{
    wg_device *dev = make(arch);
    wg_tile *t = dev->tile;
    wg_stall why;
    for (unsigned thread = 0; thread < 3; thread++) {
        /* NOP in the inner loop; SETADC without effect where a NOP would be skipped: 32639 in all. */
        enum { SETADC = 0x50000000 };
        static const uint32_t cfg[9] = {127, 127, SETADC, SETADC, SETADC, NOP, SETADC, NOP, NOP};
        for (unsigned i = 0; i < 9; i++)
            t->frontend[thread].mop_cfg[i] = cfg[i];
    }
    uint32_t word = 0x01800000;
    double best = 0;
    for (unsigned i = 0; i < SLICES; i++) {
        double from = seconds();
        for (unsigned thread = 0; thread < 3; thread++)
            wg_push_words(t, thread, (wg_core_id)(WG_CORE_T0 + thread), 0, &word, 1, &why);
        wg_advance(dev, 32639 + 10);
        double insns = 3 * 32639 / (seconds() - from) * 1e-6;
        best = insns > best ? insns : best;
    }
    wg_destroy(dev);
    return best;
}

int main(int argc, char **argv)
{
    static const uint32_t nops[] = {NOP, NOP, NOP, NOP};
    /* Dense: NOPs, semaphore changes, waits that are met. */
    static const uint32_t mixed[] = {NOP, 0xA4000004, NOP, NOP, 0xA2008001, NOP, NOP, 0xA5000004, NOP, NOP, NOP, NOP};
    enum { MIXED = sizeof mixed / sizeof *mixed };
    if (argc > 1 && strcmp(argv[1], "cost") == 0) {
        printf("%.3f\n", measure(WG_ARCH_BH, 3, mixed, MIXED).cycle + 3e3 / mop(WG_ARCH_BH));
        return 0;
    }
    for (unsigned arch = 0; arch < 2; arch++) {
        print("nop", (wg_arch_id)arch, 1, nops, 4);
        print("nop", (wg_arch_id)arch, 3, nops, 4);
        print("mixed", (wg_arch_id)arch, 3, mixed, MIXED);
        printf("frontend_mop_32639_%s %.1f Minsn/s\n", arch == WG_ARCH_BH ? "bh" : "wh", mop((wg_arch_id)arch));
    }
    return 0;
}
