/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chip: idle clocks, tiles whose core B computes or copies in L1, NoC requests from all tiles.
 *
 * With WAITGATE_REFERENCE=LIB, a library with the libttsim ABI, the same programs also run there, round by round in
 * turn with ours, and the ratio of the speeds is printed (ours over the reference's). Times are wall-clock times;
 * only rounds in which the process had most of its processors count, since others may use the machine.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <waitgate/chip.h>

enum { RESET = 0xFFB121B0, HELD = 0x47800, B_RUNS = 0x47000, ROUNDS = 5, TRIES = 60 };

/* add, xor, slli, sub, or, srli, addi, bnez: eight instructions per pass, forever. */
static const uint32_t alu[] = {0x00100593, 0x00300613, 0x00C585B3, 0x00B64633, 0x00359693, 0x40C68733,
                               0x00B767B3, 0x0017D613, 0x00150513, 0xFE0512E3, 0xFE1FF06F};
/* Two loads, an addition, a store, addi, bnez on L1 at 0x40000. */
static const uint32_t mem[] = {0x000405B7, 0x0005A603, 0x0045A683, 0x00D60633,
                               0x00C5A423, 0x00150513, 0xFE0516E3, 0xFE9FF06F};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static wg_grid *chip(unsigned threads)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .threads = threads};
    wg_grid *g = NULL;
    if (wg_grid_create(&desc, &g) != WG_OK)
        exit(1);
    return g;
}

/* The n-th Tensix tile. */
static void place(unsigned n, unsigned *x, unsigned *y)
{
    *y = 2 + n / 14;
    *x = n % 14 + (n % 14 < 7 ? 1 : 3);
}

static void start(wg_grid *g, unsigned tiles, const uint32_t *code, size_t bytes)
{
    for (unsigned n = 0; n < tiles; n++) {
        unsigned x, y;
        uint32_t held = HELD, runs = B_RUNS;
        place(n, &x, &y);
        wg_grid_write(g, x, y, RESET, &held, 4);
        wg_grid_write(g, x, y, 0, code, bytes);
        wg_grid_write(g, x, y, RESET, &runs, 4);
    }
}

static uint64_t instructions(wg_grid *g)
{
    uint64_t all = 0;
    for (unsigned n = 0; n < 140; n++) {
        unsigned x, y;
        wg_core_info info;
        place(n, &x, &y);
        wg_device *dev = wg_grid_peek(g, x, y);
        if (dev && wg_core_state(dev, WG_CORE_B, &info) == WG_OK)
            all += info.instructions;
    }
    return all;
}

/* ---- a library with the libttsim ABI ------------------------------------------------------------------------- */

typedef struct reference {
    void (*init)(void), (*leave)(void), (*clock)(uint32_t);
    uint32_t (*config)(uint32_t, uint32_t);
    void (*write)(uint64_t, const void *, uint32_t);
} reference;

static bool load(reference *r)
{
    const char *path = getenv("WAITGATE_REFERENCE");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return false;
    *(void **)&r->init = dlsym(library, "libttsim_init");
    *(void **)&r->leave = dlsym(library, "libttsim_exit");
    *(void **)&r->clock = dlsym(library, "libttsim_clock");
    *(void **)&r->config = dlsym(library, "libttsim_pci_config_rd32");
    *(void **)&r->write = dlsym(library, "libttsim_pci_mem_wr_bytes");
    return r->init && r->leave && r->clock && r->config && r->write;
}

/* Through the first 2 MiB window of BAR 0. */
static void reference_write(const reference *r, unsigned x, unsigned y, uint32_t address, const void *from,
                            uint32_t bytes)
{
    uint64_t bar = (r->config(0, 0x10) & ~UINT32_C(15)) | (uint64_t)r->config(0, 0x14) << 32;
    uint64_t window = address >> 21 | (uint64_t)x << 43 | (uint64_t)y << 49;
    uint32_t words[3] = {(uint32_t)window, (uint32_t)(window >> 32), 0};
    for (unsigned i = 0; i < 3; i++)
        r->write(bar + 0x1FC00000 + 4 * i, &words[i], 4);
    r->write(bar + (address & 0x1FFFFF), from, bytes);
}

static void reference_start(const reference *r, unsigned tiles, const uint32_t *code, size_t bytes)
{
    for (unsigned n = 0; n < tiles; n++) {
        unsigned x, y;
        uint32_t held = HELD, runs = B_RUNS;
        place(n, &x, &y);
        reference_write(r, x, y, RESET, &held, 4);
        reference_write(r, x, y, 0, code, (uint32_t)bytes);
        reference_write(r, x, y, RESET, &runs, 4);
    }
}

/* ---- measurements ---------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

/* One round, and the share of its usable processors that the process had. */
typedef struct round {
    double share, speed, clocks, ratio;
} round;

static int more_share(const void *a, const void *b)
{
    double x = ((const round *)a)->share, y = ((const round *)b)->share;
    return (x < y) - (x > y);
}

static double median_of(const round *rounds, size_t member)
{
    double values[ROUNDS];
    for (unsigned i = 0; i < ROUNDS; i++)
        memcpy(&values[i], (const char *)&rounds[i] + member, sizeof values[i]);
    return median(values, ROUNDS);
}

/* Millions of instructions per second in total. */
static void busy(const char *name, unsigned tiles, unsigned exist, unsigned threads, const uint32_t *code, size_t bytes,
                 const reference *ref, uint64_t cycles, uint32_t reference_cycles)
{
    wg_grid *g = chip(threads);
    round rounds[TRIES];
    unsigned tries = ref ? TRIES : ROUNDS;
    for (unsigned n = 0; n < exist; n++) {
        unsigned x, y;
        place(n, &x, &y);
        wg_grid_tile(g, x, y);
    }
    start(g, tiles, code, bytes);
    wg_grid_advance(g, 5000);
    for (unsigned i = 0; i < tries; i++) {
        round *r = &rounds[i];
        uint64_t before = instructions(g);
        double spent = processor_seconds(), began = seconds();
        wg_grid_advance(g, cycles);
        double taken = seconds() - began;
        r->share = (processor_seconds() - spent) / taken / threads;
        r->speed = (double)(instructions(g) - before) / taken * 1e-6;
        r->clocks = (double)cycles * tiles / taken * 1e-6;
        r->ratio = 0;
        if (ref) { /* it executes one instruction per clock and core */
            spent = processor_seconds();
            began = seconds();
            ref->clock(reference_cycles);
            taken = seconds() - began;
            double share = (processor_seconds() - spent) / taken;
            r->share = share < r->share ? share : r->share;
            r->ratio = r->speed / ((double)reference_cycles * tiles / taken * 1e-6);
        }
    }
    qsort(rounds, tries, sizeof *rounds, more_share);
    printf("chip_%s_%u_t%u %.4g M instructions/s\n", name, tiles, threads, median_of(rounds, offsetof(round, speed)));
    printf("chip_%s_%u_t%u_cycles %.4g M tile-cycles/s\n", name, tiles, threads,
           median_of(rounds, offsetof(round, clocks)));
    if (ref)
        printf("chip_%s_%u_t%u_ratio %.3g times the reference\n", name, tiles, threads,
               median_of(rounds, offsetof(round, ratio)));
    wg_grid_destroy(g);
}

static void idle(void)
{
    wg_grid *g = chip(0);
    double began = seconds();
    for (unsigned n = 0; n < 140; n++) {
        unsigned x, y;
        place(n, &x, &y);
        wg_grid_tile(g, x, y);
    }
    printf("chip_create %.4g s\n", seconds() - began);
    began = seconds();
    for (unsigned i = 0; i < 1000; i++)
        wg_grid_advance(g, 100000);
    printf("chip_idle_clock %.6f ns\n", (seconds() - began) / 1e8 * 1e9);
    began = seconds();
    for (unsigned i = 0; i < 100000; i++)
        wg_grid_advance(g, 1);
    printf("chip_idle_call %.4g ns\n", (seconds() - began) / 1e5 * 1e9);
    wg_grid_destroy(g);
}

/* Every tile's core B increments a word of the neighbouring tile, as fast as the NIU accepts requests. */
static void transfers(unsigned threads)
{
    static const uint32_t program[] = {0xFFB205B7,  /* lui  a1, 0xFFB20 */
                                       0x04058613,  /* addi a2, a1, 0x40      NOC_CMD_CTRL */
                                       0x00100693,  /* li   a3, 1 */
                                       0x00062703,  /* lw   a4, 0(a2) */
                                       0xFE071EE3,  /* bnez a4, -4 */
                                       0x00D62023,  /* sw   a3, 0(a2) */
                                       0xFF5FF06F}; /* j    -12 */
    wg_grid *g = chip(threads);
    for (unsigned n = 0; n < 140; n++) {
        unsigned x, y, tx, ty;
        place(n, &x, &y);
        place((n + 1) % 140, &tx, &ty);
        uint32_t words[][2] = {{0x00, 0x1000},     {0x08, tx | ty << 6}, {0x0C, 0x2004}, {0x14, x | y << 6},
                               {0x1C, 1 | 1 << 4}, {0x20, 0x107C},       {0x28, 1}};
        for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
            wg_grid_write(g, x, y, 0xFFB20000 + words[i][0], &words[i][1], 4);
    }
    start(g, 140, program, sizeof program);
    wg_grid_advance(g, 2000);
    round rounds[TRIES / 4];
    for (unsigned i = 0; i < TRIES / 4; i++) {
        uint32_t before = 0, after = 0, count;
        double taken = 0;
        for (unsigned n = 0; n < 280; n++) {
            unsigned x, y;
            place(n % 140, &x, &y);
            if (n == 140) {
                double spent = processor_seconds(), began = seconds();
                wg_grid_advance(g, 2000);
                taken = seconds() - began;
                rounds[i].share = (processor_seconds() - spent) / taken / threads;
                before = (uint32_t)(0 - before);
            }
            wg_grid_read(g, x, y, 0xFFB20200, &count, 4);
            *(n < 140 ? &before : &after) += count;
        }
        rounds[i].speed = (double)(uint32_t)(after + before) / taken * 1e-6;
    }
    qsort(rounds, TRIES / 4, sizeof *rounds, more_share);
    printf("chip_noc_t%u %.4g M transfers/s\n", threads, median_of(rounds, offsetof(round, speed)));
    wg_grid_destroy(g);
}

/* With arguments, only the measurements they name: idle, alu, mem, noc. */
static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc < 2;
}

/* 140 tiles, compared with the reference if there is one. */
static void all_tiles(const char *name, unsigned threads, const uint32_t *code, size_t bytes, const reference *ref,
                      uint64_t cycles)
{
    if (ref) {
        ref->init();
        reference_start(ref, 140, code, bytes);
    }
    busy(name, 140, 140, threads, code, bytes, ref, cycles, 4000);
    if (ref)
        ref->leave();
}

int main(int argc, char **argv)
{
    reference r;
    const reference *ref = load(&r) ? &r : NULL;
    if (wanted("idle", argc, argv))
        idle();
    bool computes = wanted("alu", argc, argv), copies = wanted("mem", argc, argv), sends = wanted("noc", argc, argv);
    static const unsigned tiles[] = {1, 8, 64, 140};
    for (unsigned i = 0; computes && i < 4; i++)
        for (unsigned threads = 1; threads <= 2; threads++)
            busy("alu", tiles[i], tiles[i], threads, alu, sizeof alu, NULL, 4000000 / (4 + tiles[i]), 0);
    if (computes)
        busy("alu_mostly_idle", 1, 140, 1, alu, sizeof alu, NULL, 400000, 0);
    for (unsigned threads = 1; threads <= 2; threads++) {
        if (computes && ref)
            all_tiles("alu", threads, alu, sizeof alu, ref, 20000);
        if (copies)
            all_tiles("mem", threads, mem, sizeof mem, ref, 4000);
        if (sends)
            transfers(threads);
    }
    return 0;
}
