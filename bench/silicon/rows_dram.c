/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles that read from DRAM or write to it at the same time, 4 KiB each time: dramratebench. A row is the bytes of all
 * per cycle of the slowest. `one`: all access one channel; `fan`: each accesses all of them in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

/* The tile of each channel that the card's software uses, in software's coordinates. */
static const struct banks {
    unsigned n, columns, left, top;
    uint8_t x[12], y[12];
} banks[] = {
    [WG_ARCH_BH] = {8, 12, 1, 2, {17, 17, 17, 17, 18, 18, 18, 18}, {14, 15, 18, 21, 14, 17, 20, 23}},
    [WG_ARCH_WH] = {12, 8, 18, 18, {0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5}, {11, 1, 5, 7, 1, 11, 2, 9, 8, 3, 5, 7}},
};

enum { ARCH, ARM, DIRECTION, TILES, RATE, FIELDS };
enum { BYTES = 4096, SLICES = 16, SLICE = 0x100000 };

typedef struct one_row {
    wg_arch_id arch;
    bool one, write;
    unsigned tiles;
    double card, model;
} one_row;
typedef struct rows {
    one_row row[128];
    unsigned n;
} rows;

static void line(struct wg_silicon *s, char **field, void *user)
{
    rows *all = user;
    (void)s;
    if (all->n == sizeof all->row / sizeof *all->row)
        exit(1);
    one_row *r = &all->row[all->n++];
    r->arch = wg_silicon_arch(field[ARCH]);
    r->one = !strcmp(field[ARM], "one");
    r->write = !strcmp(field[DIRECTION], "write");
    r->tiles = (unsigned)strtoul(field[TILES], NULL, 10);
    r->tiles = r->tiles < TRAFFIC_MAX ? r->tiles : TRAFFIC_MAX;
    r->card = strtod(field[RATE], NULL);
}

static void run(void *user, unsigned index)
{
    one_row *r = &((rows *)user)->row[index];
    traffic_flow flows[TRAFFIC_MAX];
    const struct banks *b = &banks[r->arch];
    /* The card moves 256 times 4 KiB for each tile. The rate of one channel is steady long before that. */
    uint32_t tx = r->one && r->tiles > 12 ? 24 : 256;
    uint64_t slowest = 1;
    for (unsigned i = 0; i < r->tiles; i++) {
        unsigned column = i % b->columns, bank = r->one ? 0 : i % b->n;
        /* BH: the columns of the right half begin at 10 */
        unsigned x = b->left + column + (r->arch == WG_ARCH_BH && column > 6 ? 2 : 0);
        flows[i] =
            (traffic_flow){.x = (uint16_t)x,
                           .y = (uint16_t)(b->top + i / b->columns),
                           .to_x = b->x[bank],
                           .to_y = b->y[bank],
                           .write = r->write,
                           .strides = true,
                           .stride_here = BYTES,
                           .stride_there = BYTES,
                           .vc = 1,
                           .tx = tx,
                           .bytes = BYTES,
                           .address = i % SLICES * SLICE + (r->arch == WG_ARCH_WH && bank & 1 ? 0x40000000u : 0)};
    }
    traffic_run(r->arch, flows, r->tiles);
    for (unsigned i = 0; i < r->tiles; i++)
        slowest = flows[i].cycles > slowest ? flows[i].cycles : slowest;
    r->model = (double)r->tiles * tx * BYTES / (double)slowest;
}

void wg_silicon_dram(struct wg_silicon *s)
{
    static rows all;
    wg_silicon_read(s, "dram.csv", FIELDS, line, &all);
    wg_silicon_each(all.n, run, &all);
    for (const one_row *r = all.row; r < all.row + all.n; r++) {
        char name[48];
        snprintf(name, sizeof name, "%s channel%s, %u %s", r->one ? "one" : "fan", r->one ? "" : " out", r->tiles,
                 r->write ? "write" : "read");
        wg_silicon_add(s,
                       &(wg_silicon_row){.group = "dram",
                                         .name = name,
                                         .arch = r->arch,
                                         .card = r->card,
                                         .model = r->model,
                                         .why = r->one ? "two sessions of the card differ by 9 % here; many writers "
                                                         "lose more at a channel than the rate measured for one"
                                                       : "which requests a DRAM tile takes in, and in which order, is "
                                                         "inferred from these rows"});
    }
}
