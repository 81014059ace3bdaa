/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements of Blackhole's NoC and DRAM, one row each, for profile `silicon`. */
#ifndef NOC_ROWS_H
#define NOC_ROWS_H

#include "noc_rig.h"

typedef struct noc_row {
    const char *name;
    double silicon;
    double (*measure)(unsigned argument);
    unsigned argument;
    const char *how;
} noc_row;

static inline wg_grid *noc_silicon(void)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_SILICON};
    wg_grid *grid = NULL;
    assert_int_equal(wg_grid_create(&desc, &grid), WG_OK);
    return grid;
}

/* A write of one word to another tile. */
static inline uint64_t noc_write_latency(unsigned x, unsigned y)
{
    wg_grid *g = noc_silicon();
    put(g, 1, 2, 0x100, 1);
    noc_request r = {.ctrl = N_WRITE, .len = 4, .targ = 0x100, .ret = 0x200, .targ_at = at(1, 2), .ret_at = at(x, y)};
    issue(g, 1, 2, &r);
    uint64_t cycle = cycle_of(g, x, y, 0x200, 1);
    wg_grid_destroy(g);
    return cycle;
}
static inline double noc_row_hop(unsigned argument)
{
    (void)argument;
    return (double)(noc_write_latency(16, 11) - noc_write_latency(2, 2)) / 23;
}

/*
 * Cycles of a transfer of `bytes` from (2, 2) to (4, 2); with `both`, it begins `lead` cycles after an equal one from
 * (1, 2) to (5, 2).
 */
static inline uint64_t noc_flow(bool both, unsigned lead, unsigned bytes)
{
    wg_grid *g = noc_silicon();
    put(g, 1, 2, 0x3000 + bytes - 4, 7);
    put(g, 2, 2, 0x3000 + bytes - 4, 7);
    noc_request r = {
        .ctrl = N_WRITE, .len = bytes, .targ = 0x3000, .ret = 0x80000, .targ_at = at(2, 2), .ret_at = at(4, 2)};
    noc_request s = r;
    s.targ_at = at(1, 2);
    s.ret_at = at(5, 2);
    if (both)
        issue(g, 1, 2, &s);
    wg_grid_advance(g, lead);
    uint64_t began = wg_grid_cycle(g);
    issue(g, 2, 2, &r);
    uint64_t took = cycle_of(g, 4, 2, 0x80000 + bytes - 4, 7) - began;
    wg_grid_destroy(g);
    return took;
}
/*
 * How much longer a flow takes when another one that began at the same time shares its link. On the card, flows were 64
 * transfers of 16 KiB.
 */
static inline double noc_row_sharing(unsigned bytes)
{
    return (double)(noc_flow(true, 0, bytes) - noc_flow(false, 0, bytes));
}

/* Bytes per cycle of one DRAM channel, for `readers` readers. */
static inline double noc_row_dram(unsigned readers)
{
    wg_grid *g = noc_silicon();
    unsigned packets = 240 / readers, n = 0, done = 0;
    for (unsigned y = 2; y < 12 && n < readers; y++)
        for (unsigned x = 1; x < 17 && n < readers; x++) {
            if (wg_grid_kind(g, x, y) != WG_TILE_TENSIX)
                continue;
            noc_request r = {.ctrl = N_READ,
                             .len = packets * 16384,
                             .targ = 0,
                             .ret = 0x40000,
                             .targ_at = at(0, 0),
                             .ret_at = at(x, y)};
            /* a request is at most 1.5 MiB, the L1 available from 0x40000 on */
            r.len = r.len > 0x100000 ? 0x100000 : r.len;
            issue(g, x, y, &r);
            n++;
        }
    packets = packets > 64 ? 64 : packets;
    wg_grid_advance(g, 300);
    uint64_t began = wg_grid_cycle(g), before = 0;
    while (done < readers * packets) {
        wg_grid_advance(g, 20);
        done = 0;
        for (unsigned y = 2, k = 0; y < 12 && k < readers; y++)
            for (unsigned x = 1; x < 17 && k < readers; x++)
                if (wg_grid_kind(g, x, y) == WG_TILE_TENSIX) {
                    done += counter(g, x, y, 0, 2);
                    k++;
                }
        if (done && !before) {
            before = done;
            began = wg_grid_cycle(g);
        }
    }
    double rate = (double)(done - before) * 16384 / (double)(wg_grid_cycle(g) - began);
    wg_grid_destroy(g);
    return rate;
}

static const noc_row noc_rows[] = {
    {"NoC, one hop", 8.6, noc_row_hop, 0, "8.6 cycles per router, summed along the path and then rounded"},
    {"NoC, second flow on a link, 16 times 16 KiB", 16 * 250.4, noc_row_sharing, 16 << 14,
     "a link carries 64 bytes per cycle; flows take turns, packet by packet"},
    {"NoC, second flow on a link, 32 times 16 KiB", 32 * 250.4, noc_row_sharing, 32 << 14, "the same"},
    {"DRAM channel, 1 reader, bytes per cycle", 46.7, noc_row_dram, 1, "a channel's rate, shared in order of arrival"},
    {"DRAM channel, 8 readers, bytes per cycle", 46.7, noc_row_dram, 8, "the same"},
    {"DRAM channel, 120 readers, bytes per cycle", 46.7, noc_row_dram, 120, "the same"},
};
enum { NOC_ROWS = sizeof noc_rows / sizeof *noc_rows };

#endif
