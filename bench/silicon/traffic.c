/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <waitgate/chip.h>

#include "rvasm.h"

enum {
    CODE = 0x10000,
    DATA = 0x40000,
    RESULT = 0x8000,
    ARENA = 0x40000, /* bytes here that a strided flow cycles through */
    SLICE = 0x100000,
    NIU = (int)0xFFB20000,
    COUNTER = 0x200, /* WR_ACK_RECEIVED is its word 1, RD_RESP_RECEIVED word 2 */
    OWN_RAM = (int)0xFFB00000,
    ISSUED = -0xE0, /* from SP */
    AWAITED = -0xD8,
    WALL_CLOCK = (int)0xFFB121F0,
    BEGIN = 3000,
    APART = 32,
    CTRL_WRITE = 2 | 1 << 4 | 1 << 7, /* answered, static channel */
    VC_AT = 13,
    TABLE = 32 /* on the stack */
};

typedef struct niu_map {
    uint32_t initiator, targ_at, ret_at, command, burst;
} niu_map;
static const niu_map maps[] = {
    [WG_ARCH_BH] = {0x800, 0x08, 0x14, 0x40, 16384}, [WG_ARCH_WH] = {0x400, 0x04, 0x10, 0x28, 8192}};

static void fail(const char *what)
{
    fprintf(stderr, "silicon: traffic: %s\n", what);
    exit(1);
}

static void and_(rv *p, unsigned rd, unsigned rs1, unsigned rs2)
{
    rv_word(p, rs2 << 20 | rs1 << 15 | 7 << 12 | rd << 7 | 0x33);
}
static void sltu(rv *p, unsigned rd, unsigned rs1, unsigned rs2)
{
    rv_word(p, rs2 << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x33);
}
static void srli(rv *p, unsigned rd, unsigned rs1, unsigned by) { rv_word(p, rv_i((int)by, rs1, 5, rd, 0x13)); }

/*
 * Register use: A0 the address here, A1 there, A2 the upper half of its 64-bit address, A3 bytes of a burst, A4
 * control, A5 rounds left, A6 and A7 offsets here and there, RA and S11 their strides, S2 the NIU's initiator, S3 the
 * longest burst, S4 and S5 masks, S6 and S7 the offsets' ends, S8 the table's entries, TP the next of them, GP the clock, T6 one.
 */
static void registers(rv *p, wg_arch_id arch, const traffic_flow *f)
{
    uint32_t span = f->strides ? SLICE - f->bytes : 0;
    rv_li(p, A0, DATA);
    rv_li(p, A1, f->address);
    rv_li(p, A2, (f->to_x | (uint32_t)f->to_y << 6) << 4);
    rv_li(p, A3, f->bytes < maps[arch].burst ? f->bytes : maps[arch].burst);
    rv_li(p, A4, CTRL_WRITE | (uint32_t)f->vc << VC_AT);
    rv_li(p, A5, f->tx);
    rv_li(p, A6, 0);
    rv_li(p, A7, 0);
    rv_li(p, S2, (uint32_t)NIU + (f->write ? 0 : maps[arch].initiator));
    rv_li(p, S3, maps[arch].burst);
    rv_li(p, S4, 0xFFFFFF);
    rv_li(p, S5, 0x1000000F);
    rv_li(p, S6, ARENA - f->bytes);
    rv_li(p, S7, span);
    rv_li(p, T6, 1);
    rv_li(p, SP, (uint32_t)OWN_RAM + 0x100);
    rv_li(p, GP, (uint32_t)WALL_CLOCK);
    rv_li(p, S8, f->sources);
    rv_sw(p, ZERO, ISSUED, SP);
    rv_sw(p, ZERO, AWAITED, SP);
    rv_sw(p, S4, 12, SP);
    for (unsigned i = 0; i < f->sources; i++) {
        rv_li(p, T0, (f->source_x[i] | (uint32_t)f->to_y << 6) << 4);
        rv_sw(p, A1, (int)(TABLE + 8 * i), SP);
        rv_sw(p, T0, (int)(TABLE + 8 * i + 4), SP);
    }
    rv_li(p, TP, 0);
    rv_li(p, RA, f->stride_here);
    rv_li(p, S11, f->stride_there);
    /* Start-up code writes the tile's own coordinates once. */
    rv_li(p, T0, (uint32_t)(f->x | f->y << 6) << (arch == WG_ARCH_WH ? 4 : 0));
    rv_sw(p, T0, (int)(f->write ? maps[arch].targ_at : maps[arch].ret_at), S2);
    rv_sw(p, ZERO, 0x1C, S2);
}

/* The library's call for one transfer: as compiled, with the counters in own RAM. */
static void transfer(rv *p, wg_arch_id arch, const traffic_flow *f, unsigned here, unsigned there, unsigned upper)
{
    const niu_map *m = &maps[arch];
    bool wide = arch == WG_ARCH_BH;
    rv_word(p, rv_b(4, S3, A3, 6)); /* more than a burst? */
    unsigned ready = p->n;
    rv_lw(p, T0, (int)m->command, S2);
    rv_bne(p, T0, ZERO, ready);
    if (f->write)
        rv_sw(p, A4, 0x1C, S2);
    rv_sw(p, f->write ? here : there, 0x00, S2);
    srli(p, T1, upper, 4);
    rv_lw(p, T2, 12, SP);
    rv_sw(p, f->write ? there : here, 0x0C, S2);
    if (wide) {
        and_(p, T3, upper, S5);
        rv_sw(p, T3, f->write ? 0x10 : 0x04, S2);
    }
    and_(p, T1, T1, T2);
    if (!wide) /* the coordinates are above four bits of the address */
        rv_word(p, rv_i(4, T1, 1, T1, 0x13));
    rv_sw(p, T1, (int)(f->write ? m->ret_at : m->targ_at), S2);
    rv_sw(p, A3, 0x20, S2);
    rv_sw(p, T6, (int)m->command, S2);
    rv_lw(p, T3, ISSUED, SP);
    if (f->write)
        rv_lw(p, T4, AWAITED, SP);
    rv_addi(p, T3, T3, 1);
    if (f->write)
        rv_addi(p, T4, T4, 1);
    rv_sw(p, T3, ISSUED, SP);
    if (f->write)
        rv_sw(p, T4, AWAITED, SP);
}

/* off += stride; if (off > end) off = 0; */
static void go_on(rv *p, unsigned offset, unsigned stride, unsigned end)
{
    rv_add(p, offset, offset, stride);
    sltu(p, T0, end, offset);
    rv_addi(p, T0, T0, -1);
    and_(p, offset, offset, T0);
}

/* Loads the entry TP of a table on the stack: addresses of 64 bits. */
static void look_up(rv *p)
{
    rv_word(p, rv_i(3, TP, 1, T0, 0x13));
    rv_addi(p, T1, SP, TABLE);
    rv_addi(p, T0, T0, 64);
    rv_add(p, T0, T0, T1);
    rv_lw(p, A1, -64, T0);
    rv_lw(p, A2, -60, T0);
}
static void next_entry(rv *p)
{
    rv_addi(p, TP, TP, 1);
    sltu(p, T0, TP, S8);
    rv_word(p, 0x40000033u | T0 << 20 | ZERO << 15 | T0 << 7);
    and_(p, TP, TP, T0);
}

static void kernel(rv *p, wg_arch_id arch, const traffic_flow *f, unsigned index)
{
    registers(p, arch, f);
    rv_li(p, S9, BEGIN + APART * index);
    unsigned wait = p->n;
    rv_lw(p, T0, 0, GP);
    rv_word(p, rv_b(4 * ((int)wait - (int)p->n), T0, S9, 6));
    rv_li(p, S10, (uint32_t)NIU + COUNTER);
    rv_lw(p, T0, f->write ? 4 : 8, S10); /* earlier answers: none */
    rv_lw(p, S9, 0, GP);
    unsigned loop = p->n;
    if (f->strides) {
        if (f->sources)
            look_up(p);
        rv_add(p, S0, A0, A6);
        rv_add(p, S1, A1, A7);
        sltu(p, T5, S1, A1);
        rv_add(p, T5, T5, A2);
        transfer(p, arch, f, S0, S1, T5);
        go_on(p, A6, RA, S6);
        go_on(p, A7, S11, S7);
        if (f->sources)
            next_entry(p);
    } else {
        rv_word(p, rv_b(4, ZERO, T6, 0));                 /* which direction? */
        for (unsigned i = 0; i < 2u + f->write * 2u; i++) /* addresses of counters, copies of loop invariants */
            rv_word(p, rv_i(0, A0 + i, 0, T0, 0x13));
        rv_addi(p, S0, A0, 0);
        rv_addi(p, S1, A1, 0);
        rv_addi(p, T5, A2, 0);
        transfer(p, arch, f, S0, S1, T5);
        for (uint32_t done = maps[arch].burst; done < f->bytes; done += maps[arch].burst) {
            rv_add(p, S0, S0, A3);
            rv_add(p, S1, S1, A3);
            transfer(p, arch, f, S0, S1, T5);
        }
    }
    rv_addi(p, A5, A5, -1);
    rv_bne(p, A5, ZERO, loop);
    rv_lw(p, T3, ISSUED, SP);
    unsigned answered = p->n;
    rv_lw(p, T0, f->write ? 4 : 8, S10);
    rv_bne(p, T0, T3, answered);
    rv_lw(p, T0, 0, GP);
    rv_word(p, 0x40000033u | S9 << 20 | T0 << 15 | T0 << 7); /* sub */
    rv_li(p, T1, RESULT);
    rv_sw(p, T0, 0, T1);
    rv_done(p);
}

void traffic_run(wg_arch_id arch, traffic_flow *flows, unsigned n)
{
    /* Harvested on the cards: columns 7 and 10 (BH), rows 3 and 11 (WH). */
    wg_grid_desc desc = {.struct_size = sizeof desc,
                         .arch = arch,
                         .profile = WG_PROFILE_SILICON,
                         .harvested = arch == WG_ARCH_BH ? 1u << 7 | 1u << 10 : 1u << 3 | 1u << 11};
    wg_grid *g = NULL;
    wg_stop stop;
    if (wg_grid_create(&desc, &g) != WG_OK)
        fail("no chip");
    for (unsigned i = 0; i < n; i++) {
        unsigned x, y;
        rv p = rv_at(CODE);
        kernel(&p, arch, &flows[i], i);
        wg_device *dev = wg_grid_translate(g, 0, flows[i].x, flows[i].y, &x, &y) ? wg_grid_tile(g, x, y) : NULL;
        if (!dev || !rv_load(dev, &p) || wg_core_release(dev, WG_CORE_B, CODE) != WG_OK)
            fail("no tile");
    }
    if (wg_grid_run(g, 100000000, &stop) != WG_OK || stop != WG_STOP_DONE)
        fail("the kernels do not end");
    for (unsigned i = 0; i < n; i++) {
        uint32_t cycles = 0;
        unsigned x, y;
        wg_grid_translate(g, 0, flows[i].x, flows[i].y, &x, &y);
        wg_grid_read(g, x, y, RESULT, &cycles, 4);
        flows[i].cycles = cycles;
    }
    wg_grid_destroy(g);
}
