/* SPDX-License-Identifier: Apache-2.0 */
#include "estimator.h"

#include <stdio.h>
#include <stdlib.h>
#include <waitgate/chip.h>

#include "rvasm.h"

enum {
    CODE = 0x10000,
    HERE = 0x20000,
    THERE = 0x40000,
    MARKS = 0x8000,     /* the profiler's buffer */
    ARGUMENTS = 0x9000, /* run-time arguments: the subordinates' coordinates */
    OWN_RAM = (int)0xFFB00000,
    ISSUED = 0x20,
    AWAITED = 0x28,
    BANK_OFFSET = 0x40,
    BANK_PLACE = 0x80,
    NIU = (int)0xFFB20000,
    NIU_1 = 0x10000,
    ANSWERS = 0x200, /* WR_ACK_RECEIVED is its word 1, RD_RESP_RECEIVED word 2 */
    WALL_CLOCK = (int)0xFFB121F0,
    BEGIN = 3000,
    SEMAPHORE = 0xA000, /* of the barrier, at the first tile */
    SEEN = 0xA020,      /* where a tile reads it into */
    INCREMENT = 1 << 12 | 31 << 2,
};
enum { TARG = 0x00, RET = 0x0C, CTRL = 0x1C, LENGTH = 0x20 };
enum {
    ATOMIC = 1,
    WRITE = 2,
    ANSWERED = 1 << 4,
    BROADCAST = 1 << 5,
    LINKED = 1 << 6,
    STATIC_VC = 1 << 7,
    RESERVE = 1 << 8,
    VC_AT = 13,
    WITH_SOURCE = 1 << 17,
};

typedef struct niu_map {
    uint32_t initiator, targ_at, ret_at, data, command, burst;
    bool wide; /* the upper half of an address has its own register */
} niu_map;
static const niu_map maps[] = {[WG_ARCH_BH] = {0x800, 0x08, 0x14, 0x28, 0x40, 16384, true},
                               [WG_ARCH_WH] = {0x400, 0x04, 0x10, 0x24, 0x28, 8192, false}};

/* The tile of each channel that the card's software uses, in software's coordinates. */
static const struct banks {
    unsigned n;
    estimator_place at[12];
} banks[] = {
    [WG_ARCH_BH] = {8, {{17, 14}, {17, 15}, {17, 18}, {17, 21}, {18, 14}, {18, 17}, {18, 20}, {18, 23}}},
    [WG_ARCH_WH] = {12,
                    {{0, 11}, {0, 1}, {0, 5}, {0, 7}, {5, 1}, {5, 11}, {5, 2}, {5, 9}, {5, 8}, {5, 3}, {5, 5}, {5, 7}}},
};

static void fail(const char *what)
{
    fprintf(stderr, "silicon: estimator: %s\n", what);
    exit(1);
}

estimator_place estimator_tile(wg_arch_id arch, unsigned column, unsigned row)
{
    if (arch == WG_ARCH_WH)
        return (estimator_place){(uint8_t)(18 + column), (uint8_t)(18 + row)};
    return (estimator_place){(uint8_t)(1 + column + (column > 6 ? 2 : 0)), (uint8_t)(2 + row)};
}

static uint32_t coordinate(wg_arch_id arch, uint32_t xy) { return maps[arch].wide ? xy : xy << 4; }
static uint32_t xy_of(estimator_place at) { return at.x | (uint32_t)at.y << 6; }

/* Where the card's software finds a bank: Blackhole's NoC 1 by another tile of the channel; Wormhole's counts from the end. */
static uint32_t bank_xy(const estimator_run *run, unsigned bank)
{
    estimator_place at = banks[run->arch].at[bank];
    if (run->noc && run->arch == WG_ARCH_WH)
        at = (estimator_place){(uint8_t)(9 - at.x), (uint8_t)(11 - at.y)};
    else if (run->noc)
        at.y = (uint8_t)(13 + bank % 4 * 3);
    return xy_of(at);
}

static void alu(rv *p, unsigned f7, unsigned f3, unsigned rd, unsigned rs1, unsigned rs2)
{
    rv_word(p, f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x33);
}
static void shift(rv *p, bool right, unsigned rd, unsigned rs1, unsigned by)
{
    rv_word(p, rv_i((int)by, rs1, right ? 5 : 1, rd, 0x13));
}

/*
 * Register use: A4 the initiator, A0 the counters, A1 the address here, T3 there, T4 the control word, A6 the other
 * end's coordinates, T1 the length, A7 one, A3 transactions left; A2 the longest packet; A5 and T0 to T2 are free.
 */
static void command(rv *p, const estimator_run *run, unsigned here, unsigned there, unsigned length, bool all)
{
    const niu_map *m = &maps[run->arch];
    unsigned ready = p->n;
    rv_lw(p, A5, (int)m->command, A4);
    rv_bne(p, A5, ZERO, ready);
    if (all && !run->read)
        rv_sw(p, T4, CTRL, A4);
    rv_sw(p, here, run->read ? RET : TARG, A4);
    rv_sw(p, there, run->read ? TARG : RET, A4);
    if (all && m->wide)
        rv_sw(p, ZERO, run->read ? TARG + 4 : RET + 4, A4);
    if (all)
        rv_sw(p, A6, (int)(run->read ? m->targ_at : m->ret_at), A4);
    if (length)
        rv_sw(p, length, LENGTH, A4);
    rv_sw(p, A7, (int)m->command, A4);
    rv_lw(p, T0, ISSUED, A0);
    if (!run->read)
        rv_lw(p, T2, AWAITED, A0);
}
static void count(rv *p, const estimator_run *run)
{
    rv_addi(p, T0, T0, 1);
    if (!run->read)
        rv_addi(p, T2, T2, run->mechanism ? (int)run->subordinates : 1);
    rv_sw(p, T0, ISSUED, A0);
    if (!run->read)
        rv_sw(p, T2, AWAITED, A0);
}

/* One call of the library for `bytes` bytes: packets of the maximum length, and the last one. */
static void transaction(rv *p, const estimator_run *run, bool all)
{
    const niu_map *m = &maps[run->arch];
    bool many = run->bytes > m->burst;
    if (many) {
        rv_addi(p, GP, A1, 0);
        rv_addi(p, TP, T3, 0);
        if (!all) /* set before the packets of one length */
            rv_sw(p, A2, LENGTH, A4);
        unsigned packet = p->n;
        command(p, run, GP, TP, all ? A2 : 0, all);
        rv_add(p, GP, GP, A2);
        rv_add(p, TP, TP, A2);
        count(p, run);
        rv_bne(p, GP, S4, packet);
    }
    command(p, run, many ? GP : A1, many ? TP : T3, T1, all);
}

/* Loads the coordinates of the next subordinate, from the run-time arguments at T6. */
static void next_place(rv *p, const estimator_run *run)
{
    rv_lw(p, A5, 0, T6);
    if (run->read) {
        rv_lw(p, T2, 4, T6);
    } else {
        alu(p, 0, 7, T2, A5, S5);
        shift(p, true, A5, A5, 16);
    }
    shift(p, false, T2, T2, 10);
    shift(p, false, A5, A5, 4);
    alu(p, 0, 6, A6, T2, A5);
    if (maps[run->arch].wide)
        shift(p, true, A6, A6, 4);
    if (run->read)
        alu(p, 0, 7, A6, A6, S2); /* bits of coordinates */
    if (run->read && maps[run->arch].wide)
        alu(p, 0, 7, T2, A6, S3); /* bit 60 of an address: PCI Express */
}

static void state(rv *p, const estimator_run *run)
{
    const niu_map *m = &maps[run->arch];
    unsigned ready = p->n;
    rv_lw(p, A5, (int)m->command, A4);
    rv_bne(p, A5, ZERO, ready);
    if (!run->read)
        rv_sw(p, T4, CTRL, A4);
    if (m->wide)
        rv_sw(p, ZERO, run->read ? TARG + 4 : RET + 4, A4);
    rv_sw(p, A6, (int)(run->read ? m->targ_at : m->ret_at), A4);
}

/*
 * Computes the location of page A3 of a buffer: bank A3 modulo the number of banks; offset and coordinates from tables
 * in own RAM.
 */
static void page(rv *p, const estimator_run *run)
{
    if (run->memory == ESTIMATOR_SHARDED) {
        rv_lw(p, T3, BANK_OFFSET, A0);
        rv_add(p, T3, T3, S6);
        return;
    }
    if (maps[run->arch].wide) {
        rv_andi(p, A5, S7, 7);
        alu(p, 0x10, 2, T2, A5, S8); /* sh1add */
        alu(p, 0x10, 4, A5, A5, S9); /* sh2add */
    } else {
        alu(p, 1, 3, T2, S7, S10); /* mulhu: / 12 */
        shift(p, true, T2, T2, 3);
        shift(p, false, A5, T2, 1);
        rv_add(p, A5, A5, T2);
        shift(p, false, A5, A5, 2);
        alu(p, 0x20, 0, A5, S7, A5);
        shift(p, false, T2, A5, 1);
        rv_add(p, T2, T2, S8);
        shift(p, false, A5, A5, 2);
        rv_add(p, A5, A5, S9);
    }
    rv_lhu(p, A6, 0, T2);
    rv_lw(p, T3, 0, A5);
    if (!maps[run->arch].wide)
        shift(p, false, A6, A6, 4);
    rv_add(p, T3, T3, S6);
    rv_addi(p, S7, S7, 1);
}

/* A mark of the profiler: writes the clock's upper and lower word into its buffer. */
static void mark(rv *p, int at)
{
    rv_lw(p, T0, 8, S0);
    alu(p, 0, 6, T0, T0, A7);
    rv_sw(p, T0, at, S1);
    rv_lw(p, T0, 0, S0);
    rv_sw(p, T0, at + 4, S1);
}

static uint32_t control(const estimator_run *run, bool last)
{
    uint32_t word = WRITE | ANSWERED | STATIC_VC;
    if (run->mechanism == ESTIMATOR_UNICAST)
        return word | (run->single && !run->stateful ? 0u : 1u << VC_AT);
    return word | 4u << VC_AT | BROADCAST | RESERVE | (run->loopback ? WITH_SOURCE : 0) |
           (run->mechanism == ESTIMATOR_LINKED && !last ? LINKED : 0);
}

static void registers(rv *p, const estimator_run *run, estimator_place own, unsigned bank)
{
    const niu_map *m = &maps[run->arch];
    uint32_t niu = (uint32_t)NIU + run->noc * (uint32_t)NIU_1;
    uint32_t last = (run->bytes + m->burst - 1) / m->burst * m->burst - m->burst;
    uint32_t xy = run->memory ? bank_xy(run, bank) : xy_of(run->subordinate[0]);
    if (run->mechanism)
        xy = xy_of(run->corner[1]) | xy_of(run->corner[0]) << 12;
    rv_li(p, A0, (uint32_t)OWN_RAM);
    rv_li(p, A1, HERE);
    rv_li(p, A2, m->burst);
    rv_li(p, A4, niu + (run->read ? m->initiator : 0));
    rv_li(p, A6, coordinate(run->arch, xy));
    rv_li(p, A7, 1);
    rv_li(p, T1, run->bytes - last);
    rv_li(p, T3, THERE);
    rv_li(p, T4, control(run, run->transactions == 1));
    rv_li(p, S0, (uint32_t)WALL_CLOCK);
    rv_li(p, S1, MARKS);
    rv_li(p, S2, 0xFFFFFF);
    rv_li(p, S3, 0x1000000F);
    rv_li(p, S4, HERE + last);
    rv_li(p, S5, 0xFFFF);
    rv_li(p, S6, 0);
    rv_li(p, S7, bank);
    rv_li(p, S8, (uint32_t)OWN_RAM + BANK_PLACE);
    rv_li(p, S9, (uint32_t)OWN_RAM + BANK_OFFSET);
    rv_li(p, S10, 0xAAAAAAAB);
    rv_li(p, S11, niu + ANSWERS);
    rv_li(p, T6, ARGUMENTS);
    rv_li(p, T5, ARGUMENTS + run->subordinates * (run->read ? 8 : 4));
    rv_sw(p, ZERO, ISSUED, A0);
    rv_sw(p, ZERO, AWAITED, A0);
    /* Start-up code writes the tile's own coordinates, the reads' control word and the banks' tables once. */
    rv_li(p, T0, coordinate(run->arch, xy_of(own)));
    rv_sw(p, T0, (int)(run->read ? m->ret_at : m->targ_at), A4);
    if (run->read) {
        rv_li(p, T0, ANSWERED | STATIC_VC | 1u << VC_AT);
        rv_sw(p, T0, CTRL, A4);
    }
    for (unsigned i = 0; run->memory && i < banks[run->arch].n; i++) {
        bool upper = run->arch == WG_ARCH_WH && i & 1;
        rv_li(p, T0, upper ? 0x40000000u : 0);
        rv_sw(p, T0, (int)(BANK_OFFSET + 4 * i), A0);
        rv_li(p, T0, bank_xy(run, i));
        rv_sh(p, T0, (int)(BANK_PLACE + 2 * i), A0);
    }
    if (run->memory == ESTIMATOR_SHARDED && run->arch == WG_ARCH_WH && bank & 1) {
        rv_li(p, T0, 0x40000000u);
        rv_sw(p, T0, BANK_OFFSET, A0);
    }
}

/*
 * The barrier before the zone, if there is DRAM: each tile increments the first one's semaphore, then reads it until it
 * has counted all. RA is the initiator, GP and TP the addresses here and there, SP the coordinates, T0 the tiles.
 */
static void barrier(rv *p, const estimator_run *run, estimator_place own)
{
    const niu_map *m = &maps[run->arch];
    uint32_t niu = (uint32_t)NIU + run->noc * (uint32_t)NIU_1;
    rv_li(p, RA, niu + 3 * m->initiator);
    rv_li(p, SP, coordinate(run->arch, xy_of(run->master[0])));
    rv_li(p, TP, SEMAPHORE);
    rv_li(p, GP, SEEN);
    rv_li(p, T0, coordinate(run->arch, xy_of(own)));
    rv_sw(p, T0, (int)m->ret_at, RA);
    rv_sw(p, GP, RET, RA);
    rv_li(p, T0, ATOMIC | ANSWERED | STATIC_VC | 4u << VC_AT);
    rv_sw(p, TP, TARG, RA);
    rv_sw(p, SP, (int)m->targ_at, RA);
    rv_sw(p, T0, CTRL, RA);
    rv_li(p, T0, INCREMENT);
    rv_sw(p, T0, LENGTH, RA);
    rv_sw(p, A7, (int)m->data, RA);
    rv_sw(p, A7, (int)m->command, RA);
    unsigned answered = p->n;
    rv_lw(p, A5, 0, S11);
    rv_bne(p, A5, A7, answered);
    rv_li(p, RA, niu + m->initiator);
    rv_li(p, T0, coordinate(run->arch, xy_of(own)));
    rv_sw(p, T0, (int)m->ret_at, RA);
    rv_li(p, T0, ANSWERED | STATIC_VC | 1u << VC_AT);
    rv_sw(p, T0, CTRL, RA);
    rv_li(p, S10, run->masters);
    rv_addi(p, T0, ZERO, 4);
    rv_sw(p, ZERO, 0, GP);
    unsigned poll = p->n;
    rv_lw(p, A5, (int)m->command, RA);
    rv_bne(p, A5, ZERO, poll);
    rv_sw(p, GP, RET, RA);
    rv_sw(p, TP, TARG, RA);
    if (m->wide)
        rv_sw(p, ZERO, TARG + 4, RA);
    rv_sw(p, SP, (int)m->targ_at, RA);
    rv_sw(p, T0, LENGTH, RA);
    rv_sw(p, A7, (int)m->command, RA);
    rv_lw(p, A5, ISSUED, A0);
    rv_addi(p, A5, A5, 1);
    rv_sw(p, A5, ISSUED, A0);
    unsigned returned = p->n;
    rv_lw(p, A5, 8, S11);
    rv_lw(p, T2, ISSUED, A0);
    rv_bne(p, A5, T2, returned);
    if (m->wide)
        rv_fence(p);
    rv_lw(p, A5, 0, GP);
    rv_word(p, rv_b(4 * ((int)poll - (int)p->n), A5, S10, 6)); /* bltu */
    rv_li(p, S10, 0xAAAAAAAB);
}

static void kernel(rv *p, const estimator_run *run, unsigned master)
{
    bool many = !run->single && !run->mechanism && !run->memory;
    registers(p, run, run->master[master], master % banks[run->arch].n);
    rv_li(p, T0, BEGIN);
    unsigned wait = p->n;
    rv_lw(p, T2, 0, S0);
    rv_word(p, rv_b(4 * ((int)wait - (int)p->n), T2, T0, 6));
    if (run->memory)
        barrier(p, run, run->master[master]);
    mark(p, 0);
    unsigned outer = p->n;
    if (many)
        next_place(p, run);
    if (run->stateful)
        state(p, run);
    bool unlinked = run->mechanism == ESTIMATOR_LINKED && run->transactions > 1; /* the last */
    rv_addi(p, A3, ZERO, (int)(run->transactions - unlinked));
    unsigned loop = p->n;
    if (run->memory)
        page(p, run);
    transaction(p, run, !run->stateful);
    rv_addi(p, A3, A3, -1);
    count(p, run);
    rv_bne(p, A3, ZERO, loop);
    if (unlinked) {
        rv_li(p, T4, control(run, true));
        transaction(p, run, true);
        count(p, run);
    }
    if (many) {
        rv_addi(p, T6, T6, run->read ? 8 : 4);
        rv_bne(p, T6, T5, outer);
    }
    unsigned answered = p->n;
    rv_lw(p, A5, run->read ? 8 : 4, S11);
    rv_bne(p, A5, run->read ? T0 : T2, answered);
    if (maps[run->arch].wide)
        rv_fence(p);
    mark(p, 8);
    rv_done(p);
}

static void start(wg_grid *g, const estimator_run *run, unsigned master)
{
    unsigned x, y;
    rv p = rv_at(CODE);
    kernel(&p, run, master);
    wg_device *dev =
        wg_grid_translate(g, 0, run->master[master].x, run->master[master].y, &x, &y) ? wg_grid_tile(g, x, y) : NULL;
    if (!dev || !rv_load(dev, &p) || wg_core_release(dev, run->read ? WG_CORE_NC : WG_CORE_B, CODE) != WG_OK)
        fail("no tile");
    for (unsigned i = 0; i < run->subordinates; i++) {
        estimator_place at = run->subordinate[i];
        uint32_t word[2] = {run->read ? at.x : (uint32_t)at.x << 16 | at.y, at.y};
        size_t bytes = run->read ? 8 : 4;
        if (wg_grid_write(g, x, y, ARGUMENTS + bytes * i, word, bytes) != WG_OK)
            fail("no memory for arguments");
    }
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

double estimator_cycles(const estimator_run *run)
{
    /* Harvested on the cards: columns 7 and 10 (BH), rows 5 and 11 (WH), as the times of reservations imply. */
    wg_grid_desc desc = {.struct_size = sizeof desc,
                         .arch = run->arch,
                         .profile = WG_PROFILE_SILICON,
                         .harvested = run->arch == WG_ARCH_BH ? 1u << 7 | 1u << 10 : 1u << 5 | 1u << 11};
    wg_grid *g = NULL;
    wg_stop stop;
    uint32_t cycles[ESTIMATOR_TILES], first = UINT32_MAX, last = 0;
    if (wg_grid_create(&desc, &g) != WG_OK)
        fail("no chip");
    for (unsigned i = 0; i < run->masters; i++)
        start(g, run, i);
    if (wg_grid_run(g, 100000000, &stop) != WG_OK || stop != WG_STOP_DONE)
        fail("the kernels do not end");
    for (unsigned i = 0; i < run->masters; i++) {
        uint32_t mark[4] = {0};
        unsigned x, y;
        wg_grid_translate(g, 0, run->master[i].x, run->master[i].y, &x, &y);
        wg_grid_read(g, x, y, MARKS, mark, sizeof mark);
        cycles[i] = mark[3] - mark[1];
        first = mark[1] < first ? mark[1] : first;
        last = mark[3] > last ? mark[3] : last;
    }
    wg_grid_destroy(g);
    if (run->memory)
        return last - first;
    qsort(cycles, run->masters, sizeof *cycles, by_size);
    unsigned half = run->masters / 2;
    return run->masters % 2 ? cycles[half] : (cycles[half - 1] + cycles[half]) / 2.0;
}
