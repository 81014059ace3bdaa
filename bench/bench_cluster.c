/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several chips in one process: the cost of windows and links in addition to the chips themselves, and an idle Galaxy.
 * Four chips with busy tiles and links alternate with the same four chips alone; times are processor times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <waitgate/cluster.h>

enum { RESET = 0xFFB121B0, HELD = 0x47800, B_RUNS = 0x47000, CHIPS = 4, TILES = 16, ROUNDS = 9, CYCLES = 60000 };

/* Two loads, an addition, a store, addi, bnez on L1 at 0x40000. */
static const uint32_t mem[] = {0x000405B7, 0x0005A603, 0x0045A683, 0x00D60633,
                               0x00C5A423, 0x00150513, 0xFE0516E3, 0xFE9FF06F};

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void start(wg_grid *g)
{
    for (unsigned n = 0; n < TILES; n++) {
        const unsigned x = 1 + n % 4, y = 2 + n / 4;
        const uint32_t held = HELD, runs = B_RUNS;
        wg_grid_write(g, x, y, RESET, &held, 4);
        wg_grid_write(g, x, y, 0, mem, sizeof mem);
        wg_grid_write(g, x, y, RESET, &runs, 4);
    }
}

static wg_cluster *cluster_of(const char *name)
{
    const wg_topology *t = wg_topology_find(name);
    const wg_grid_desc chip = {.struct_size = sizeof chip, .arch = t->arch, .threads = 1};
    const wg_cluster_desc desc = {.struct_size = sizeof desc, .chips = t->chips, .chip = &chip};
    wg_cluster *c;
    wg_cluster_link link = {.struct_size = sizeof link};
    if (wg_cluster_create(&desc, &c) != WG_OK)
        exit(1);
    for (unsigned i = 0; wg_topology_link(t, i, &link); i++)
        if (wg_cluster_connect(c, &link, NULL) != WG_OK)
            exit(1);
    return c;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

int main(void)
{
    wg_cluster *together = cluster_of("p150x4");
    wg_grid *alone[CHIPS];
    double ratio[ROUNDS], cost[ROUNDS];
    for (unsigned i = 0; i < CHIPS; i++) {
        const wg_grid_desc chip = {.struct_size = sizeof chip, .arch = WG_ARCH_BH, .threads = 1};
        if (wg_grid_create(&chip, &alone[i]) != WG_OK)
            return 1;
        start(alone[i]);
        start(wg_cluster_chip(together, i));
    }
    for (int round = -1; round < ROUNDS; round++) { /* the first one warms up */
        const double a = processor_seconds();
        for (unsigned i = 0; i < CHIPS; i++)
            wg_grid_run(alone[i], CYCLES, NULL);
        const double b = processor_seconds();
        wg_cluster_run(together, CYCLES, NULL);
        const double c = processor_seconds();
        if (round < 0)
            continue;
        ratio[round] = (c - b) / (b - a);
        cost[round] = (c - b) / CHIPS / CYCLES;
    }
    printf("cluster_one_rank_ratio %.4f x\n", median(ratio, ROUNDS));
    printf("cluster_busy_chip_cycle %.2f ns\n", 1e9 * median(cost, ROUNDS));
    const double begin = processor_seconds();
    wg_cluster *galaxy = cluster_of("galaxy");
    const double made = processor_seconds();
    wg_cluster_advance(galaxy, 1000000000);
    printf("cluster_galaxy_boot %.3f ms\ncluster_galaxy_idle_1e9 %.3f ms\n", 1e3 * (made - begin),
           1e3 * (processor_seconds() - made));
    wg_cluster_destroy(galaxy);
    wg_cluster_destroy(together);
    for (unsigned i = 0; i < CHIPS; i++)
        wg_grid_destroy(alone[i]);
    return 0;
}
