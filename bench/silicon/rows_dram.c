/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles that read from DRAM or write to it at the same time, 4 KiB each time: dramratebench. A row is the bytes of all per
 * cycle of the slowest. `one`: all at one channel; `fan`: one behind the other at all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

/* The tile of each channel that the card's software uses, as software writes its place. */
static const struct banks {
    unsigned n, columns, left, top;
    uint8_t x[12], y[12];
} banks[] = {
    [WG_ARCH_BH] = {8, 12, 1, 2, {17, 17, 17, 17, 18, 18, 18, 18}, {14, 15, 18, 21, 14, 17, 20, 23}},
    [WG_ARCH_WH] = {12, 8, 18, 18, {0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5}, {11, 1, 5, 7, 1, 11, 2, 9, 8, 3, 5, 7}},
};

enum { ARCH, ARM, DIRECTION, TILES, RATE, FIELDS };
enum { BYTES = 4096, SLICES = 16, SLICE = 0x100000 };

static void line(struct wg_silicon *s, char **field, void *user)
{
    static traffic_flow flows[TRAFFIC_MAX];
    (void)user;
    wg_arch_id arch = wg_silicon_arch(field[ARCH]);
    const struct banks *b = &banks[arch];
    unsigned tiles = (unsigned)strtoul(field[TILES], NULL, 10);
    bool one = !strcmp(field[ARM], "one"), write = !strcmp(field[DIRECTION], "write");
    tiles = tiles < TRAFFIC_MAX ? tiles : TRAFFIC_MAX;
    /* The card moves 256 times 4 KiB for each tile. The rate of one channel is steady long before. */
    uint32_t tx = one && tiles > 12 ? 24 : 256;
    uint64_t slowest = 1;
    for (unsigned i = 0; i < tiles; i++) {
        unsigned column = i % b->columns, bank = one ? 0 : i % b->n;
        /* BH: the columns of the right half begin at 10 */
        unsigned x = b->left + column + (arch == WG_ARCH_BH && column > 6 ? 2 : 0);
        flows[i] = (traffic_flow){.x = (uint16_t)x,
                                  .y = (uint16_t)(b->top + i / b->columns),
                                  .to_x = b->x[bank],
                                  .to_y = b->y[bank],
                                  .write = write,
                                  .strides = true,
                                  .tx = tx,
                                  .bytes = BYTES,
                                  .address = i % SLICES * SLICE + (arch == WG_ARCH_WH && bank & 1 ? 0x40000000u : 0)};
    }
    traffic_run(arch, flows, tiles);
    for (unsigned i = 0; i < tiles; i++)
        slowest = flows[i].cycles > slowest ? flows[i].cycles : slowest;
    char name[48];
    snprintf(name, sizeof name, "%s channel%s, %u %s", field[ARM], one ? "" : " out", tiles, write ? "write" : "read");
    wg_silicon_add(s, &(wg_silicon_row){.group = "dram",
                                        .name = name,
                                        .arch = arch,
                                        .card = strtod(field[RATE], NULL),
                                        .model = (double)tiles * tx * BYTES / (double)slowest,
                                        .why = one ? "two sessions of the card differ by 9 % here; many writers lose "
                                                     "more at a channel than the rate measured for one"
                                                   : "which requests a DRAM tile takes in, and in which order, is "
                                                     "inferred from these rows"});
}

void wg_silicon_dram(struct wg_silicon *s) { wg_silicon_read(s, "dram.csv", FIELDS, line, NULL); }
