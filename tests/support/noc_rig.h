/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chips for tests: NoC requests made from the host through a tile's initiators, or by programs of its cores.
 * Coordinates are NoC 0's; on NoC 1 the rig mirrors them, since translation is switched off (`raw`) where it matters.
 */
#ifndef NOC_RIG_H
#define NOC_RIG_H

#include <waitgate/chip.h>

#include "rvasm.h"
#include "wgtest.h"

enum { NIU0 = 0xFFB20000, NIU1 = 0xFFB30000 };
enum { /* NOC_CTRL */
       N_READ = 0,
       N_ATOMIC = 1,
       N_WRITE = 2,
       N_BE = 1 << 2,
       N_INLINE = 1 << 3,
       N_ANSWER = 1 << 4,
       N_BROADCAST = 1 << 5,
       N_LINKED = 1 << 6,
       N_STATIC = 1 << 7,
       N_RESERVE = 1 << 8,
       N_Y_MAJOR = 1 << 16,
       N_TO_SELF = 1 << 17
};

typedef struct noc_regs {
    uint32_t stride, targ_hi, ret_hi, tag, ctrl, len, len_1, data, command, node_id, clear, y_table, logical;
} noc_regs;

static const noc_regs noc_map[2] = {
    [WG_ARCH_BH] = {0x800, 0x08, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x28, 0x40, 0x44, 0x60, 0x130, 0x148},
    [WG_ARCH_WH] = {0x400, 0x04, 0x10, 0x18, 0x1C, 0x20, 0, 0x24, 0x28, 0x2C, 0x50, 0x128, 0x138},
};

/* A request. Places: x | y << 6 as software writes them. */
typedef struct noc_request {
    unsigned noc, initiator;
    uint32_t ctrl, tag, len, data;
    uint64_t targ, ret;       /* addresses */
    uint32_t targ_at, ret_at; /* places; broadcast: end | start << 12 */
} noc_request;

static inline uint32_t at(unsigned x, unsigned y) { return x | y << 6; }
static inline uint32_t from_to(unsigned x0, unsigned y0, unsigned x1, unsigned y1)
{
    return at(x1, y1) | at(x0, y0) << 12;
}

static inline wg_grid *noc_chip(wg_arch_id arch, unsigned threads)
{
    wg_grid_desc desc = {
        .struct_size = sizeof desc, .arch = arch, .profile = WG_PROFILE_DOCUMENTED, .threads = threads};
    wg_grid *grid = NULL;
    assert_int_equal(wg_grid_create(&desc, &grid), WG_OK);
    return grid;
}

static inline void put(wg_grid *g, unsigned x, unsigned y, uint64_t address, uint32_t value)
{
    assert_int_equal(wg_grid_write(g, x, y, address, &value, 4), WG_OK);
}

static inline uint32_t get(wg_grid *g, unsigned x, unsigned y, uint64_t address)
{
    uint32_t value = 0xDEADBEEF;
    assert_int_equal(wg_grid_read(g, x, y, address, &value, 4), WG_OK);
    return value;
}

static inline uint32_t counter(wg_grid *g, unsigned x, unsigned y, unsigned noc, unsigned index)
{
    return get(g, x, y, NIU0 + 0x10000 * noc + 0x200 + 4 * index);
}

/* The contents of a request's registers, in writing order: pairs of offset and value; returns how many. */
static inline unsigned noc_words(wg_arch_id arch, const noc_request *r, uint32_t out[][2])
{
    const noc_regs *m = &noc_map[arch];
    unsigned n = 0;
    uint32_t base = r->initiator * m->stride;
#define NOC_PUT(offset, value) (out[n][0] = base + (offset), out[n][1] = (uint32_t)(value), n++)
    NOC_PUT(0x00, r->targ);
    NOC_PUT(0x0C, r->ret);
    if (arch == WG_ARCH_BH) {
        NOC_PUT(0x04, r->targ >> 32);
        NOC_PUT(0x10, r->ret >> 32);
        NOC_PUT(m->targ_hi, r->targ_at);
        NOC_PUT(m->ret_hi, r->ret_at);
    } else {
        NOC_PUT(0x04, (r->targ >> 32 & 15) | r->targ_at << 4);
        NOC_PUT(0x10, (r->ret >> 32 & 15) | r->ret_at << 4);
    }
    NOC_PUT(m->tag, r->tag);
    NOC_PUT(m->ctrl, r->ctrl);
    NOC_PUT(m->len, r->len);
    NOC_PUT(m->data, r->data);
    NOC_PUT(m->command, 1);
#undef NOC_PUT
    return n;
}

/* Issues a request by the host, in no time: it starts now. */
static inline void issue(wg_grid *g, unsigned x, unsigned y, const noc_request *r)
{
    uint32_t words[16][2];
    unsigned n = noc_words(wg_grid_arch(g), r, words);
    for (unsigned i = 0; i < n; i++)
        put(g, x, y, NIU0 + 0x10000 * r->noc + words[i][0], words[i][1]);
}

/* Issues a request by a program: uses T0, T1; waits first until the initiator is free. */
static inline void rv_issue(rv *p, wg_arch_id arch, const noc_request *r)
{
    uint32_t words[16][2];
    unsigned n = noc_words(arch, r, words);
    uint32_t niu = NIU0 + 0x10000 * r->noc;
    rv_li(p, T1, niu + r->initiator * noc_map[arch].stride + noc_map[arch].command);
    unsigned loop = p->n;
    rv_lw(p, T0, 0, T1);
    rv_bne(p, T0, ZERO, loop);
    for (unsigned i = 0; i < n; i++) {
        rv_li(p, T1, niu + words[i][0]);
        rv_li(p, T0, words[i][1]);
        rv_sw(p, T0, 0, T1);
    }
}

/* Polls a word until it holds a value; uses T0 to T2. */
static inline void rv_wait_word(rv *p, uint32_t address, uint32_t value)
{
    rv_li(p, T1, address);
    rv_li(p, T2, value);
    unsigned loop = p->n;
    rv_fence(p);
    rv_lw(p, T0, 0, T1);
    rv_bne(p, T0, T2, loop);
}

static inline void boot(wg_grid *g, unsigned x, unsigned y, wg_core_id core, const rv *p)
{
    wg_device *dev = wg_grid_tile(g, x, y);
    assert_non_null(dev);
    assert_true(rv_load(dev, p));
    assert_int_equal(wg_core_release(dev, core, p->base), WG_OK);
}

static inline unsigned findings_of(wg_grid *g)
{
    unsigned n = 0;
    for (unsigned y = 0; y < wg_grid_height(g); y++)
        for (unsigned x = 0; x < wg_grid_width(g); x++)
            n += wg_grid_peek(g, x, y) ? (unsigned)wg_finding_count(wg_grid_peek(g, x, y)) : 0;
    return n;
}

static inline bool has_finding(wg_grid *g, unsigned x, unsigned y, const char *code)
{
    wg_device *dev = wg_grid_peek(g, x, y);
    for (size_t i = 0; dev && i < wg_finding_count(dev); i++)
        if (!strcmp(wg_finding_info_at(wg_finding_at(dev, i)->code)->code, code))
            return true;
    return false;
}

/* Advances time until the word has this value; returns the number of the cycle after which it had. */
static inline uint64_t cycle_of(wg_grid *g, unsigned x, unsigned y, uint64_t address, uint32_t value)
{
    for (unsigned i = 0; i < 20000; i++) {
        if (get(g, x, y, address) == value)
            return wg_grid_cycle(g) - 1;
        wg_grid_advance(g, 1);
    }
    fail_msg("0x%llx never became 0x%x", (unsigned long long)address, value);
    return 0;
}

#endif
