/* SPDX-License-Identifier: Apache-2.0 */
/* Chips with links: a host that writes the registers of their Ethernet tiles. */
#ifndef CLUSTER_RIG_H
#define CLUSTER_RIG_H

#include "noc_rig.h"

#include <waitgate/cluster.h>

#include "chip/grid.h"
#include "cluster/transport.h"
#include "machine/device.h"
#include "report/findings.h"

enum {
    TXQ = 0xFFB90000,
    DATA = 0x30000,
    CODE = 0x20000,
    SOFT_RESET = 0xFFB121B0,
    SEND_RAW = 1,
    SEND_DATA = 2,
    SEND_REGISTER = 4,
    CHANNEL_A = 2, /* of chip 0 */
    CHANNEL_B = 5  /* of chip 1 */
};

typedef struct rig {
    wg_cluster *c;
    wg_arch_id arch;
    bool bh;
    wg_grid *g[16];
} rig;

static inline void place_of(const wg_grid *g, unsigned channel, unsigned *x, unsigned *y)
{
    const unsigned i = wg_grid_channel_tile(g, channel), width = wg_grid_width(g);
    *x = i % width;
    *y = i / width;
}

/* The chips of one of several processes; the others are NULL. */
static inline rig ranks_of(wg_arch_id arch, unsigned chips, unsigned threads, wg_transport *ranks, bool lockstep)
{
    const wg_grid_desc chip = {
        .struct_size = sizeof chip, .arch = arch, .profile = WG_PROFILE_SILICON, .lockstep = lockstep};
    const wg_cluster_desc desc = {
        .struct_size = sizeof desc, .chips = chips, .threads = threads, .chip = &chip, .ranks = ranks};
    rig r = {.arch = arch, .bh = arch == WG_ARCH_BH};
    assert_int_equal(wg_cluster_create(&desc, &r.c), WG_OK);
    for (unsigned i = 0; i < chips; i++)
        r.g[i] = wg_cluster_chip(r.c, i);
    return r;
}

static inline rig cluster_of(wg_arch_id arch, unsigned chips, unsigned threads)
{
    return ranks_of(arch, chips, threads, NULL, false);
}

static inline rig pair(void **state, uint64_t cut_at)
{
    rig r = cluster_of(wg_test_arch(state), 2, 1);
    const wg_cluster_link link = {sizeof link, {{0, CHANNEL_A}, {1, CHANNEL_B}}, 0, cut_at};
    assert_int_equal(wg_cluster_connect(r.c, &link, NULL), WG_OK);
    return r;
}

static inline unsigned channel_of(unsigned chip) { return chip ? CHANNEL_B : CHANNEL_A; }

static inline uint64_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static inline void set(const rig *r, unsigned chip, uint32_t address, uint32_t value)
{
    unsigned x, y;
    place_of(r->g[chip], channel_of(chip), &x, &y);
    put(r->g[chip], x, y, address, value);
}

static inline uint32_t word(const rig *r, unsigned chip, uint32_t address)
{
    unsigned x, y;
    place_of(r->g[chip], channel_of(chip), &x, &y);
    return get(r->g[chip], x, y, address);
}

static inline wg_device *tile(const rig *r, unsigned chip)
{
    unsigned x, y;
    place_of(r->g[chip], channel_of(chip), &x, &y);
    return wg_grid_tile(r->g[chip], x, y);
}

static inline uint32_t txq(unsigned queue, unsigned offset) { return TXQ + 0x1000 * queue + offset; }
static inline uint32_t rxq(const rig *r, unsigned queue, unsigned offset)
{
    return (r->bh ? 0xFFB94000 : 0xFFB92000) + 0x1000 * queue + offset;
}

static inline void send(const rig *r, unsigned chip, unsigned queue, uint32_t from, uint32_t bytes, uint32_t to,
                        uint32_t command)
{
    set(r, chip, txq(queue, 0x14), from);
    set(r, chip, txq(queue, 0x18), bytes);
    set(r, chip, txq(queue, 0x1C), to);
    set(r, chip, txq(queue, 0x04), command);
}

static inline void pass(const rig *r, uint64_t cycles) { assert_int_equal(wg_cluster_advance(r->c, cycles), WG_OK); }

static inline bool busy(const rig *r, unsigned chip, unsigned queue)
{
    return r->bh ? word(r, chip, txq(queue, 8)) >> 16 & 1 : word(r, chip, txq(queue, 4)) != 0;
}

static inline size_t found(const rig *r, unsigned chip, wg_finding_code code)
{
    const wg_device *dev = tile(r, chip);
    size_t n = 0;
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        n += wg_finding_at(dev, i)->code == code;
    return n;
}

#endif
