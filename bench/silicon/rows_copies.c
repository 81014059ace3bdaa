/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole kernels without arithmetic: nocevbench (README.md). Core NC reads eight chunks from DRAM, or from a neighbour's L1,
 * into L1 and waits for each; then core B, which has been waiting for a semaphore, writes them back, and waits for each. Both
 * record an event in L1 before each request, and before and after each wait, as the software's profiler does. A row is the
 * time from a core's first mark to its last.
 *
 * Arms `elw` and `mm`: the reader of mechbench, core NC alone. It reads eight pairs of tiles from DRAM into two circular buffers
 * of two tiles each, waits for each pair and announces it, without events. Core T0 takes a pair 100 cycles after it was
 * announced: far less than the next one takes, so that the card's arithmetic, which is not run, does not matter either.
 *
 * Arm `reads`: energybench, core B reads the same bytes of DRAM again and again, and waits for each. Cycles of one read: the
 * difference between launches with four times as many and with as many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waitgate/chip.h>

#include "rvasm.h"
#include "silicon.h"

enum {
    CHUNKS = 8,
    CODE = 0x10000,
    CODE_BYTES = 0x2000,
    SCRATCH = 0x20000,
    FAR = 0x40000,
    ARGUMENTS = 0x9000,
    SEMAPHORE = 0x9100,
    EVENTS = 0x8000, /* the profiler's buffers */
    EVENTS_BYTES = 0x800,
    OWN_RAM = (int)0xFFB00000,
    ISSUED = 0x20,
    AWAITED = 0x28,
    INDEX = 0x30,
    BANK_PLACE = 0x40,
    NIU = (int)0xFFB20000,
    NIU_1 = 0x10000,
    ANSWERS = 0x200, /* WR_ACK_RECEIVED is its word 1, RD_RESP_RECEIVED word 2 */
    WALL_CLOCK = (int)0xFFB121F0,
    ROOM = 480, /* words */
    STREAM = (int)0xFFB40000,
    STREAM_BYTES = 0x1000,
    TILE = 2048,
    BUFFER = 0x50, /* in own RAM: write pointer, limit, size, pages of each circular buffer */
    BUFFER_BYTES = 0x10,
};
enum { TARG = 0x00, RET = 0x0C, CTRL = 0x1C, LENGTH = 0x20 };
enum { ANSWERED = 1 << 4, STATIC_VC = 1 << 7, VC_1 = 1 << 13, WRITE = 2 };

static const struct niu_map {
    uint32_t initiator, targ_at, ret_at, command, burst;
} maps[] = {[WG_ARCH_BH] = {0x800, 0x08, 0x14, 0x40, 16384}, [WG_ARCH_WH] = {0x400, 0x04, 0x10, 0x28, 8192}};

typedef struct side {
    wg_arch_id arch;
    bool write;
    unsigned noc;
    bool pairs;
    uint32_t own, to; /* this tile and the other end, as the registers have them */
} side;

static void alu(rv *p, unsigned f7, unsigned f3, unsigned rd, unsigned rs1, unsigned rs2)
{
    rv_word(p, f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x33);
}

/* Reads the clock and stores it in the profiler's buffer, of which T0 is the next word. */
static void stamp(rv *p)
{
    rv_lw(p, T2, 8, S0);
    rv_word(p, rv_i(2, T0, 1, T4, 0x13));
    rv_add(p, T4, T4, S1);
    rv_word(p, rv_i(20, T2, 1, T2, 0x13)); /* the clock's upper word: twelve bits */
    rv_word(p, rv_i(20, T2, 5, T2, 0x13));
    alu(p, 0, 6, T2, T2, A7);
    rv_sw(p, T2, 0, T4);
    rv_lw(p, T3, 0, S0);
    rv_sw(p, T3, 4, T4);
}

/* A mark of two words; or an event, with two more about the request, if there is room. */
static void mark(rv *p)
{
    rv_lw(p, T0, INDEX, GP);
    stamp(p);
    rv_addi(p, T0, T0, 2);
    rv_sw(p, T0, INDEX, GP);
}
static void event(rv *p, bool request)
{
    rv_lw(p, T0, INDEX, GP);
    rv_li(p, T1, ROOM);
    rv_word(p, rv_b(4, T1, T0, 6)); /* bltu: full */
    stamp(p);
    if (request) { /* coordinates, bytes, kind and channel */
        rv_word(p, rv_i(4, A4, 5, T2, 0x13));
        rv_andi(p, T2, T2, 63);
        rv_word(p, rv_i(10, A4, 5, T3, 0x13));
        rv_andi(p, T3, T3, 63);
        rv_word(p, rv_i(8, T3, 1, T3, 0x13));
        alu(p, 0, 6, T2, T2, T3);
        rv_word(p, rv_i(16, A3, 1, T3, 0x13));
        alu(p, 0, 6, T2, T2, T3);
        rv_sw(p, T2, 8, T4);
    } else {
        rv_sw(p, S2, 8, T4);
    }
    rv_sw(p, S3, 12, T4);
    rv_lw(p, T0, INDEX, GP);
    rv_addi(p, T0, T0, 4);
    rv_sw(p, T0, INDEX, GP);
}

/* One call of the library: A1 is the address here, A2 there, A4 the other end, A3 the bytes. */
static void request(rv *p, const side *s)
{
    const struct niu_map *m = &maps[s->arch];
    rv_li(p, T1, m->burst);
    rv_word(p, rv_b(4, T1, A3, 6)); /* more than a packet? */
    unsigned ready = p->n;
    rv_lw(p, T0, (int)m->command, S4);
    rv_bne(p, T0, ZERO, ready);
    if (s->write)
        rv_sw(p, S5, CTRL, S4);
    rv_sw(p, A1, s->write ? TARG : RET, S4);
    rv_sw(p, A2, s->write ? RET : TARG, S4);
    if (s->arch == WG_ARCH_BH)
        rv_sw(p, ZERO, (s->write ? RET : TARG) + 4, S4);
    rv_sw(p, A4, (int)(s->write ? m->ret_at : m->targ_at), S4);
    rv_sw(p, A3, LENGTH, S4);
    rv_sw(p, S6, (int)m->command, S4);
    rv_lw(p, T0, ISSUED, GP);
    if (s->write)
        rv_lw(p, T1, AWAITED, GP);
    rv_addi(p, T0, T0, 1);
    if (s->write)
        rv_addi(p, T1, T1, 1);
    rv_sw(p, T0, ISSUED, GP);
    if (s->write)
        rv_sw(p, T1, AWAITED, GP);
}

static void barrier(rv *p, const side *s)
{
    event(p, false);
    unsigned poll = p->n;
    rv_lw(p, T0, s->write ? 4 : 8, S7);
    rv_lw(p, T1, s->write ? AWAITED : ISSUED, GP);
    rv_bne(p, T0, T1, poll);
    if (s->arch == WG_ARCH_BH)
        rv_fence(p);
    event(p, false);
}

/* What the firmware has set up before. */
static void registers(rv *p, const side *s)
{
    const struct niu_map *m = &maps[s->arch];
    uint32_t niu = (uint32_t)NIU + (s->noc ? (uint32_t)NIU_1 : 0);
    rv_li(p, GP, (uint32_t)OWN_RAM);
    rv_li(p, A7, 0x80000000);
    rv_li(p, S0, (uint32_t)WALL_CLOCK);
    rv_li(p, S1, EVENTS + (s->write ? 0 : EVENTS_BYTES));
    rv_li(p, S2, 7);
    rv_li(p, S3, 1);
    rv_li(p, S4, niu + (s->write ? 0 : m->initiator));
    rv_li(p, S5, WRITE | ANSWERED | STATIC_VC | VC_1);
    rv_li(p, S6, 1);
    rv_li(p, S7, niu + ANSWERS);
    rv_sw(p, ZERO, ISSUED, GP);
    rv_sw(p, ZERO, AWAITED, GP);
    rv_sw(p, ZERO, INDEX, GP);
    rv_li(p, T0, s->to);
    rv_sw(p, T0, BANK_PLACE, GP);
    rv_li(p, T0, s->own);
    rv_sw(p, T0, (int)(s->write ? m->targ_at : m->ret_at), S4);
    if (!s->write) {
        rv_li(p, T0, ANSWERED | STATIC_VC | VC_1);
        rv_sw(p, T0, CTRL, S4);
    }
}

/* Offsets of a circular buffer's counters in its stream's registers. */
static int received_of(wg_arch_id arch) { return arch == WG_ARCH_WH ? 4 * 4 : 4 * 10; }
static int acked_of(wg_arch_id arch) { return arch == WG_ARCH_WH ? 4 * 3 : 4 * 8; }
enum { STREAM_REG = S10 }; /* and S11: of the two circular buffers */

static void reserve(rv *p, const side *s, unsigned buffer)
{
    rv_lw(p, T0, received_of(s->arch), STREAM_REG + buffer);
    rv_lw(p, T3, BUFFER + BUFFER_BYTES * (int)buffer + 12, GP);
    unsigned poll = p->n;
    rv_lw(p, T1, acked_of(s->arch), STREAM_REG + buffer);
    alu(p, 0x20, 0, T2, T0, T1);
    rv_word(p, rv_i(16, T2, 1, T2, 0x13)); /* counters have 16 bits */
    rv_word(p, rv_i(16, T2, 5, T2, 0x13));
    alu(p, 0x20, 0, T2, T3, T2);
    rv_word(p, rv_b(4 * ((int)poll - (int)p->n), T2, S6, 4)); /* blt: no room for one */
}

static void push(rv *p, const side *s, unsigned buffer)
{
    const int at = BUFFER + BUFFER_BYTES * (int)buffer;
    rv_lw(p, T0, received_of(s->arch), STREAM_REG + buffer);
    rv_addi(p, T0, T0, 1);
    rv_sw(p, T0, received_of(s->arch), STREAM_REG + buffer);
    rv_lw(p, T1, at, GP);
    rv_lw(p, T2, at + 4, GP);
    rv_add(p, T1, T1, A3);
    rv_sw(p, T1, at, GP);
    rv_word(p, rv_b(16, T1, T2, 1)); /* bne: not at the limit */
    rv_lw(p, T2, at + 8, GP);
    alu(p, 0x20, 0, T1, T1, T2);
    rv_sw(p, T1, at, GP);
}

/* mechbench's reader. */
static void reader(rv *p, const side *s)
{
    registers(p, s);
    for (unsigned i = 0; i < 2; i++) {
        rv_li(p, STREAM_REG + i, (uint32_t)STREAM + STREAM_BYTES * i);
        const uint32_t at = SCRATCH + 2 * TILE * i, of[] = {at, at + 2 * TILE, 2 * TILE, 2};
        for (unsigned k = 0; k < 4; k++) {
            rv_li(p, T0, of[k]);
            rv_sw(p, T0, (int)(BUFFER + BUFFER_BYTES * i + 4 * k), GP);
        }
    }
    mark(p);
    rv_li(p, S8, ARGUMENTS);
    rv_lw(p, A2, 0, S8);
    rv_lw(p, A5, 4, S8);
    rv_lw(p, A3, 8, S8);
    rv_lw(p, A6, 16, S8);
    rv_lw(p, A4, BANK_PLACE, GP);
    unsigned loop = p->n;
    reserve(p, s, 0);
    reserve(p, s, 1);
    for (unsigned i = 0; i < 2; i++) {
        rv_lw(p, A1, (int)(BUFFER + BUFFER_BYTES * i), GP);
        if (i) { /* the other buffer in DRAM */
            rv_addi(p, A0, A2, 0);
            rv_addi(p, A2, A6, 0);
        }
        request(p, s);
        if (i)
            rv_addi(p, A2, A0, 0);
    }
    unsigned poll = p->n;
    rv_lw(p, T0, 8, S7);
    rv_lw(p, T1, ISSUED, GP);
    rv_bne(p, T0, T1, poll);
    push(p, s, 0);
    push(p, s, 1);
    rv_add(p, A2, A2, A3);
    rv_add(p, A6, A6, A3);
    rv_addi(p, A5, A5, -1);
    rv_bne(p, A5, ZERO, loop);
    mark(p);
    rv_done(p);
}

/* Takes each pair of tiles. */
static void taker(rv *p, const side *s)
{
    rv_li(p, S0, (uint32_t)STREAM);
    rv_li(p, S1, (uint32_t)STREAM + STREAM_BYTES);
    for (unsigned i = 1; i <= CHUNKS; i++) {
        rv_li(p, T1, i);
        for (unsigned buffer = 0; buffer < 2; buffer++) {
            unsigned poll = p->n;
            rv_lw(p, T0, received_of(s->arch), S0 + buffer);
            rv_bne(p, T0, T1, poll);
        }
        rv_li(p, T2, 50); /* two cycles each */
        unsigned wait = p->n;
        rv_addi(p, T2, T2, -1);
        rv_bne(p, T2, ZERO, wait);
        rv_sw(p, T1, acked_of(s->arch), S0);
        rv_sw(p, T1, acked_of(s->arch), S1);
    }
    rv_done(p);
}

static void kernel(rv *p, const side *s)
{
    if (s->pairs && s->write)
        taker(p, s);
    if (s->pairs && !s->write)
        reader(p, s);
    if (s->pairs)
        return;
    registers(p, s);
    mark(p);
    rv_li(p, S8, ARGUMENTS);
    rv_lw(p, A2, 0, S8);
    rv_lw(p, A5, 4, S8);
    rv_lw(p, A3, 8, S8);
    rv_lw(p, S9, 12, S8);
    rv_lw(p, A4, BANK_PLACE, GP);
    rv_li(p, A1, SCRATCH);
    if (s->write) {
        event(p, false);
        unsigned wait = p->n;
        if (s->arch == WG_ARCH_BH)
            rv_fence(p);
        rv_lw(p, T0, 0, S9);
        rv_bne(p, T0, S6, wait);
    }
    unsigned loop = p->n;
    event(p, true);
    request(p, s);
    barrier(p, s);
    rv_add(p, A1, A1, A3);
    rv_add(p, A2, A2, A3);
    rv_addi(p, A5, A5, -1);
    rv_bne(p, A5, ZERO, loop);
    if (!s->write) {
        event(p, false);
        rv_sw(p, S6, 0, S9);
    }
    mark(p);
    rv_done(p);
}

enum { ARCH, ARM, BYTES, CORE, CYCLES, FIELDS };

static uint32_t place(wg_arch_id arch, unsigned x, unsigned y) { return (x | y << 6) << (arch == WG_ARCH_WH ? 4 : 0); }

/* The register of coordinates for the far end of this side. */
static uint32_t far_end(wg_arch_id arch, bool l1, unsigned noc)
{
    unsigned x, y;
    if (l1) {
        x = arch == WG_ARCH_WH ? 19 : 2;
        y = arch == WG_ARCH_WH ? 19 : 3;
    } else if (arch == WG_ARCH_WH) { /* bank 0, in the NoC's own coordinates */
        x = noc ? 9 : 0;
        y = noc ? 0 : 11;
    } else {
        x = 17;
        y = noc ? 13 : 14;
    }
    return place(arch, x, y);
}

static void fail(const char *what)
{
    fprintf(stderr, "silicon: copies: %s\n", what);
    exit(1);
}

/* The first Tensix tile, in software's coordinates. */
static unsigned own_x(wg_arch_id arch) { return arch == WG_ARCH_WH ? 18 : 1; }
static unsigned own_y(wg_arch_id arch) { return arch == WG_ARCH_WH ? 18 : 2; }
static uint32_t own_place(wg_arch_id arch) { return place(arch, own_x(arch), own_y(arch)); }

/* A chip, and its first Tensix tile. */
static wg_grid *chip(wg_arch_id arch, unsigned *x, unsigned *y, wg_device **dev)
{
    /* Harvested on the cards: columns 7 and 10 (BH), rows 3 and 11 (WH). */
    wg_grid_desc desc = {.struct_size = sizeof desc,
                         .arch = arch,
                         .profile = WG_PROFILE_SILICON,
                         .harvested = arch == WG_ARCH_BH ? 1u << 7 | 1u << 10 : 1u << 3 | 1u << 11};
    wg_grid *g = NULL;
    if (wg_grid_create(&desc, &g) != WG_OK || !wg_grid_translate(g, 0, own_x(arch), own_y(arch), x, y))
        fail("no chip");
    *dev = wg_grid_tile(g, *x, *y);
    if (!*dev)
        fail("no tile");
    return g;
}

/* Cycles of B and of NC. */
static void copy(wg_arch_id arch, char arm, uint32_t bytes, double took[2])
{
    const bool pairs = arm == 'e' || arm == 'm';
    const uint32_t arguments[] = {FAR, CHUNKS, bytes, SEMAPHORE, FAR + CHUNKS * TILE};
    unsigned x, y;
    wg_device *dev;
    wg_stop stop;
    wg_grid *g = chip(arch, &x, &y, &dev);
    if (wg_grid_write(g, x, y, ARGUMENTS, arguments, sizeof arguments) != WG_OK)
        fail("no tile");
    for (unsigned write = 0; write < 2; write++) {
        unsigned noc = write == (arm == 'B');
        side s = {.arch = arch, .write = write, .noc = noc, .pairs = pairs, .own = own_place(arch)};
        s.to = far_end(arch, arm == 'C', noc);
        rv p = rv_at(CODE + write * CODE_BYTES);
        kernel(&p, &s);
        if (!rv_load(dev, &p) || wg_core_release(dev,
                                                 !write  ? WG_CORE_NC
                                                 : pairs ? WG_CORE_T0
                                                         : WG_CORE_B,
                                                 p.base) != WG_OK)
            fail("no memory for the kernel");
    }
    if (wg_grid_run(g, 1000000, &stop) != WG_OK || stop != WG_STOP_DONE)
        fail("the kernels do not end");
    for (unsigned read = 0; read < 2; read++) {
        uint32_t events = pairs ? 2 : 2 + 4 + CHUNKS * 12, first[2], last[2];
        wg_grid_read(g, x, y, EVENTS + read * EVENTS_BYTES, first, sizeof first);
        wg_grid_read(g, x, y, EVENTS + read * EVENTS_BYTES + 4 * events, last, sizeof last);
        took[read] = (double)(last[1] - first[1]);
    }
    wg_grid_destroy(g);
}

/* Cycles of core B for `times` reads of DRAM over NoC 0, each waited for. */
static double reads(wg_arch_id arch, uint32_t bytes, unsigned times)
{
    uint32_t first[2], last[2];
    unsigned x, y;
    wg_device *dev;
    wg_stop stop;
    wg_grid *g = chip(arch, &x, &y, &dev);
    side s = {.arch = arch, .own = own_place(arch), .to = far_end(arch, false, 0)};
    rv p = rv_at(CODE);
    registers(&p, &s);
    mark(&p);
    rv_li(&p, A1, SCRATCH);
    rv_li(&p, A2, FAR);
    rv_li(&p, A3, bytes);
    rv_li(&p, A5, times);
    rv_lw(&p, A4, BANK_PLACE, GP);
    unsigned loop = p.n;
    request(&p, &s);
    unsigned poll = p.n;
    rv_lw(&p, T0, 8, S7);
    rv_lw(&p, T1, ISSUED, GP);
    rv_bne(&p, T0, T1, poll);
    if (arch == WG_ARCH_BH)
        rv_fence(&p);
    rv_addi(&p, A5, A5, -1);
    rv_bne(&p, A5, ZERO, loop);
    mark(&p);
    rv_done(&p);
    if (!rv_load(dev, &p) || wg_core_release(dev, WG_CORE_B, p.base) != WG_OK)
        fail("no memory for the kernel");
    if (wg_grid_run(g, 10000000, &stop) != WG_OK || stop != WG_STOP_DONE)
        fail("the kernel does not end");
    wg_grid_read(g, x, y, EVENTS + EVENTS_BYTES, first, sizeof first);
    wg_grid_read(g, x, y, EVENTS + EVENTS_BYTES + 8, last, sizeof last);
    wg_grid_destroy(g);
    return (double)(last[1] - first[1]);
}

static void line(struct wg_silicon *s, char **field, void *user)
{
    double took[2];
    char name[48];
    (void)user;
    if (strcmp(field[ARM], "reads") == 0) {
        wg_arch_id arch = wg_silicon_arch(field[ARCH]);
        uint32_t bytes = (uint32_t)strtoul(field[BYTES], NULL, 10);
        snprintf(name, sizeof name, "one of many reads, %u B, B", bytes);
        wg_silicon_add(s, &(wg_silicon_row){.group = "copies",
                                            .name = name,
                                            .arch = arch,
                                            .card = strtod(field[CYCLES], NULL),
                                            .model = (reads(arch, bytes, 200) - reads(arch, bytes, 100)) / 100,
                                            .why = "what the compiler made of the loop is not known"});
        return;
    }
    bool reads = strcmp(field[CORE], "NC") == 0;
    copy(wg_silicon_arch(field[ARCH]), field[ARM][0], (uint32_t)strtoul(field[BYTES], NULL, 10), took);
    snprintf(name, sizeof name, "%s, 8 x %s B, %s", field[ARM], field[BYTES], field[CORE]);
    wg_silicon_add(s, &(wg_silicon_row){.group = "copies",
                                        .name = name,
                                        .arch = wg_silicon_arch(field[ARCH]),
                                        .card = strtod(field[CYCLES], NULL),
                                        .model = took[reads],
                                        .why = "what the compiler made of the profiler's code is not known"});
}

void wg_silicon_copies(struct wg_silicon *s) { wg_silicon_read(s, "copies.csv", FIELDS, line, NULL); }
