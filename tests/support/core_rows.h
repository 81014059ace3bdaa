/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microkernels for the measurements of the cores and of what T cores push, one per row: cycles per
 * instruction of an unrolled body, from the difference of a long and a short run, so that start and end cancel out.
 *
 *     for (unsigned i = 0; i < CORE_ROWS; i++)
 *         double model = core_row_cycles(&core_rows[i], WG_PROFILE_SILICON);
 */
#ifndef CORE_ROWS_H
#define CORE_ROWS_H

#include <stdbool.h>
#include <stdlib.h>

#include "rvasm.h"

typedef struct core_kernel {
    uint32_t word[8192];
    unsigned n, counted; /* counted: instructions of the body whose cycles are measured */
} core_kernel;

typedef struct core_row {
    const char *name;
    double silicon;
    void (*setup)(core_kernel *k, uint32_t argument), (*body)(core_kernel *k, uint32_t argument);
    uint32_t argument;
    bool hidden;     /* the loop's own two instructions are hidden behind another wait */
    uint8_t threads; /* number of T cores that run it: T1, T0 and T1, all; 0: core B does */
    const char *how; /* the mechanism in the model that produces the number */
    void (*prepare)(wg_device *dev);
    wg_arch_id arch;
} core_row;

enum {
    CORE_ROW_CODE = 0x10000,
    CORE_ROW_DATA = 0x40000,
    CORE_ROW_SELF = 0x50000 /* a word that points to itself */,
    CORE_ROW_RESULT = 0x60000
};

static inline void core_word(core_kernel *k, uint32_t word) { k->word[k->n++] = word; }
static inline void core_li(core_kernel *k, unsigned rd, uint32_t value)
{
    uint32_t high = (value + 0x800) & 0xFFFFF000;
    core_word(k, high | rd << 7 | 0x37);
    core_word(k, rv_i((int)(value - high), rd, 0, rd, 0x13));
}
static inline uint32_t core_r(unsigned f7, unsigned rs2, unsigned rs1, unsigned f3, unsigned rd)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x33;
}
/* Branches to an earlier place unless both are equal: beyond a branch's range over a jump, as compilers do it. */
static inline void core_bne_back(core_kernel *k, unsigned rs1, unsigned rs2, unsigned label)
{
    int back = 4 * ((int)label - (int)k->n);
    if (back >= -4096) {
        core_word(k, rv_b(back, rs1, rs2, 1));
        return;
    }
    core_word(k, rv_b(8, rs1, rs2, 0));
    uint32_t o = (uint32_t)(back - 4);
    core_word(k, (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | 0x6F);
}
static inline void core_repeat(core_kernel *k, uint32_t word, unsigned times)
{
    k->counted = times;
    while (times--)
        core_word(k, word);
}

static inline void core_setup_data(core_kernel *k, uint32_t argument)
{
    core_li(k, A1, argument);
    core_li(k, A2, 3);
}
static inline void core_body_alu(core_kernel *k, uint32_t argument)
{
    core_repeat(k, rv_i(1, T0, 0, T0, 0x13), argument ? argument : 64);
}
static inline void core_body_mul(core_kernel *k, uint32_t dependent)
{
    for (unsigned i = 0; i < 64; i++)
        core_word(k, core_r(1, A2, dependent ? T0 : A1, 0, dependent ? T0 : T0 + i % 3));
    k->counted = 64;
}
static inline void core_body_divu(core_kernel *k, uint32_t argument)
{
    (void)argument;
    core_repeat(k, core_r(1, A2, A1, 5, T0), 32);
}
static inline void core_body_chase(core_kernel *k, uint32_t argument)
{
    (void)argument;
    core_repeat(k, rv_i(0, A1, 2, A1, 0x03), 64);
}
static inline void core_body_loads(core_kernel *k, uint32_t argument)
{
    (void)argument;
    for (unsigned i = 0; i < 64; i++)
        core_word(k, rv_i(16 * (int)i, A1, 2, T0 + i % 3, 0x03));
    k->counted = 64;
}
static inline void core_body_stores(core_kernel *k, uint32_t stride)
{
    for (unsigned i = 0; i < 2000 / stride && i < 64; i++)
        core_word(k, rv_s((int)(stride * i), A2, A1, 2, 0x23));
    k->counted = 2000 / stride < 64 ? 2000 / stride : 64;
}
static inline void core_setup_l1(core_kernel *k, uint32_t argument)
{
    (void)argument;
    core_setup_data(k, CORE_ROW_DATA);
}

/* A branch that is always taken, one that is taken every second time, one that is never predicted. */
static inline void core_body_taken(core_kernel *k, uint32_t argument)
{
    (void)argument;
    core_repeat(k, rv_b(4, ZERO, ZERO, 0), 64);
}
static inline void core_body_forward(core_kernel *k, uint32_t word) { core_repeat(k, word, 64); }
static inline void core_body_every_other(core_kernel *k, uint32_t argument)
{
    (void)argument;
    for (unsigned i = 0; i < 32; i++) {
        core_word(k, rv_i(1, T0, 4, T0, 0x13)); /* T0 ^= 1 */
        core_word(k, rv_b(4, T0, ZERO, 1));
    }
    k->counted = 64;
}
static inline void core_setup_unpredicted(core_kernel *k, uint32_t argument)
{
    (void)argument;
    core_li(k, T0, 2); /* cfg0: no prediction; then every branch is predicted not taken */
    core_word(k, 0x7C0u << 20 | T0 << 15 | 1 << 12 | 0x73);
}

/* ---- pushes by T cores: the words, and the state, used in the measurements on silicon ---- */

enum {
    PUSH_NOP = 0x02000000,
    PUSH_SFPNOP = 0x8F000000,
    PUSH_SETDMAREG = 0x45000000 | 7 << 8 | 120,
    PUSH_ADDDMAREG = 0x58000000 | 1 << 23 | 60 << 12 | 1 << 6 | 60,
    PUSH_RDCFG = (int)0xB1000000 | 60 << 16,
    PUSH_MVMUL = 0x26000000,
    PUSH_ELWADD = 0x28000000,
    PUSH_ELWMUL = 0x27000000,
    PUSH_SETDVALID = 0x57000003,
    PUSH_SETRWC_DST = 0x37000004,
    PUSH_MOP = 0x01800000,
    PUSH_REPLAY = 0x04000000 | 17 << 4,
    PUSH_DST_BY_8 = (int)0xB2000000 | 28 << 16 | 8 /* SETC16 ADDR_MOD_DST_SEC0: advance by eight rows of Dst */
};
/* The start-up code of the card's software: adjacent pushes must not fuse, and there is no L0 data cache. */
static inline void core_start_up(core_kernel *k)
{
    core_li(k, T0, 1 << 18 | 1 << 3); /* cfg0.DisTriscCache, cfg0.DisLowCache */
    core_word(k, 0x7C0u << 20 | T0 << 15 | 2 << 12 | 0x73);
}
static inline void core_push(core_kernel *k, uint32_t word) { core_word(k, word << 2 | word >> 30); }
static inline void core_body_push(core_kernel *k, uint32_t word)
{
    for (unsigned i = 0; i < 64; i++)
        core_push(k, word);
    k->counted = 64;
}
static inline void core_body_fours(core_kernel *k, uint32_t word)
{
    core_body_push(k, word);
    k->counted = 16;
}
/* SrcA and SrcB belong to the Matrix Unit and stay there: one SETDVALID of thread 1, before any core starts. */
static inline void core_prepare_banks(wg_device *dev)
{
    wg_push(dev, 1, PUSH_SETDVALID);
    wg_advance(dev, 100);
}
/* An earlier matrix product has left its address modifiers in thread 1: each instruction advances to the next block. */
static inline void core_prepare_dirty(wg_device *dev)
{
    core_prepare_banks(dev);
    wg_poke(dev, WG_SPACE_THREAD_CONFIG, 1 << 16 | 28 /* ADDR_MOD_DST_SEC0 */, 8);
}
static inline void core_prepare_dirty_wh(wg_device *dev)
{
    core_prepare_banks(dev);
    wg_poke(dev, WG_SPACE_THREAD_CONFIG, 1 << 16 | 23 /* ADDR_MOD_DST_SEC0 */, 8);
}
/* Sixteen MVMULs, each eight rows of Dst further, and a SETRWC that returns to the first: recorded, or as a MOP. */
static inline void core_setup_replay(core_kernel *k, uint32_t argument)
{
    (void)argument;
    core_push(k, (uint32_t)PUSH_DST_BY_8);
    core_push(k, PUSH_REPLAY | 1);
    for (unsigned i = 0; i < 16; i++)
        core_push(k, PUSH_MVMUL);
    core_push(k, PUSH_SETRWC_DST);
}
static inline void core_setup_mop(core_kernel *k, uint32_t argument)
{
    const uint32_t mop[9] = {1, 16, PUSH_NOP, PUSH_SETRWC_DST, PUSH_NOP, PUSH_MVMUL, PUSH_NOP, PUSH_MVMUL, PUSH_MVMUL};
    (void)argument;
    core_push(k, (uint32_t)PUSH_DST_BY_8);
    for (unsigned i = 0; i < 9; i++) {
        core_li(k, T0, 0xFFB80000 + 4 * i);
        core_li(k, T1, mop[i]);
        core_word(k, rv_s(0, T1, T0, 2, 0x23));
    }
}
static inline void core_body_expand(core_kernel *k, uint32_t word)
{
    core_body_push(k, word);
    k->counted = 64 * 16;
}

static const core_row core_rows[] = {
    {"ALU", 0.999, core_setup_data, core_body_alu, 0, .how = "an instruction enters EX1 per cycle"},
    {"mul, dependent", 1.985, core_setup_data, core_body_mul, 1,
     .how = "a product arrives one cycle later than other results"},
    {"mul, independent", 1.0, core_setup_data, core_body_mul, 0, .how = "the multiplier is pipelined"},
    {"divu, 29-bit dividend", 33.0, core_setup_data, core_body_divu, 0x1FFFFFFF,
     .how = "a bit per cycle; leading zeros are skipped four at a time, which takes one cycle more"},
    {"divu, 12-bit dividend", 14.0, core_setup_data, core_body_divu, 0xFFF,
     .how = "a bit per cycle; leading zeros are skipped four at a time, which takes one cycle more"},
    {"load-use, own RAM", 1.985, core_setup_data, core_body_chase, 0xFFB00000,
     .how = "one cycle to the load/store unit, one back"},
    {"load-use, L0 hit", 1.985, core_setup_data, core_body_chase, CORE_ROW_SELF,
     .how = "the L0 data cache answers like own RAM; one hit in 128 flushes it"},
    {"load-use, L1 miss", 8.098, core_setup_l1, core_body_chase, 1, true,
     .how = "one cycle to the load/store unit, three to the port, four back"},
    {"four independent L1 loads", 1.742, core_setup_l1, core_body_loads, 0, true,
     .how = "four loads in flight: four per seven cycles"},
    {"stores to L1, coalescing", 1.0, core_setup_l1, core_body_stores, 4,
     .how = "stores to one line become one access"},
    {"stores to L1, scattered", 5.25, core_setup_l1, core_body_stores, 64, true,
     .how = "a narrow write is a read-modify-write that holds port and bank for five cycles"},
    {"loop of 4096 bytes", 1.0, core_setup_data, core_body_alu, 4096 / 4 - 2,
     .how = "the instruction cache holds 4 KiB"},
    {"loop of 5120 bytes", 1.153, core_setup_data, core_body_alu, 5120 / 4 - 2,
     .how = "two ways, least recently used: three fifths of the lines miss; two line fetches in flight"},
    {"loop of 6144 bytes", 1.252, core_setup_data, core_body_alu, 6144 / 4 - 2,
     .how = "every line misses; two line fetches in flight, ten cycles each"},
    {"loop of 7168 bytes", 1.252, core_setup_data, core_body_alu, 7168 / 4 - 2, .how = "the same"},
    {"branch, always taken", 1.0, core_setup_data, core_body_taken, 0, .how = "predicted"},
    {"branch, taken every other time", 1.0, core_setup_data, core_body_every_other, 0,
     .how = "predicted by the last branches' directions"},
    {"branch, mispredicted", 5.0, core_setup_unpredicted, core_body_taken, 0, .how = "a bubble of four cycles"},
    {".ttinsn NOP, 1 thread", 1.0, core_setup_data, core_body_push, PUSH_NOP, .threads = 1,
     .how = "a push per cycle: with cfg0.DisTriscCache, adjacent ones do not fuse"},
    {".ttinsn NOP, 2 threads", 1.0, core_setup_data, core_body_push, PUSH_NOP, .threads = 2,
     .how = "each thread has its own frontend"},
    {".ttinsn NOP, 3 threads", 1.0, core_setup_data, core_body_push, PUSH_NOP, .threads = 3,
     .how = "each thread has its own frontend"},
    {"four adjacent .ttinsn", 4.0, core_setup_data, core_body_fours, PUSH_NOP, .threads = 1, .how = "the same"},
    {"SFPNOP, 1 thread", 1.0, core_setup_data, core_body_push, PUSH_SFPNOP, .threads = 1,
     .how = "the Vector Unit takes one per cycle"},
    {"SFPNOP, 2 threads", 1.97, core_setup_data, core_body_push, PUSH_SFPNOP, true, 2,
     .how = "one per cycle for all threads, in turn"},
    {"SFPNOP, 3 threads", 2.97, core_setup_data, core_body_push, PUSH_SFPNOP, true, 3,
     .how = "one per cycle for all threads, in turn"},
    {"SETDMAREG, 1 thread", 1.0, core_setup_data, core_body_push, PUSH_SETDMAREG, .threads = 1,
     .how = "the Scalar Unit takes one per cycle"},
    {"SETDMAREG, 2 threads", 1.97, core_setup_data, core_body_push, PUSH_SETDMAREG, true, 2,
     .how = "one per cycle for all threads, in turn"},
    {"SETDMAREG, 3 threads", 2.97, core_setup_data, core_body_push, PUSH_SETDMAREG, true, 3,
     .how = "one per cycle for all threads, in turn"},
    {"ADDDMAREG, 1 thread", 2.97, core_setup_data, core_body_push, PUSH_ADDDMAREG, true, 1,
     .how = "the Scalar Unit computes for three cycles, one instruction at a time"},
    {"ADDDMAREG, 2 threads", 5.99, core_setup_data, core_body_push, PUSH_ADDDMAREG, true, 2,
     .how = "the same, threads in turn"},
    {"RDCFG, 1 thread", 1.0, core_setup_data, core_body_push, (uint32_t)PUSH_RDCFG, .threads = 1,
     .how = "the Configuration Unit takes one per cycle"},
    {"RDCFG, 2 threads", 1.96, core_setup_data, core_body_push, (uint32_t)PUSH_RDCFG, true, 2,
     .how = "one per cycle for all threads, in turn"},
    {"MVMUL, singly, one Dst block", 5.99, core_setup_data, core_body_push, PUSH_MVMUL, true, 1,
     .how = "a block of Dst cannot be read for five cycles after a write (documents: four)",
     .prepare = core_prepare_banks},
    {"ELWADD, singly, one Dst block", 5.975, core_setup_data, core_body_push, PUSH_ELWADD, true, 1,
     .how = "the same: it stalls on the block that it writes, though it does not accumulate",
     .prepare = core_prepare_banks},
    {"ELWMUL, singly, one Dst block", 5.975, core_setup_data, core_body_push, PUSH_ELWMUL, true, 1, .how = "the same",
     .prepare = core_prepare_banks},
    {"MVMUL, 2 threads, one Dst block", 12.015, core_setup_data, core_body_push, PUSH_MVMUL, true, 2,
     .how = "the same, threads in turn", .prepare = core_prepare_banks},
    {"MVMUL, 3 threads, one Dst block", 18.045, core_setup_data, core_body_push, PUSH_MVMUL, true, 3,
     .how = "the same, threads in turn", .prepare = core_prepare_banks},
    {"ELWADD, 3 threads, one Dst block", 17.97, core_setup_data, core_body_push, PUSH_ELWADD, true, 3,
     .how = "the same, threads in turn", .prepare = core_prepare_banks},
    {"MVMUL, singly, block by block", 0.998, core_setup_data, core_body_push, PUSH_MVMUL, .threads = 1,
     .how = "one per cycle", .prepare = core_prepare_dirty},
    {"MVMUL so, beside T0 on one block", 6.08, core_setup_data, core_body_push, PUSH_MVMUL, true, 2,
     .how = "an instruction stalled on a block of Dst blocks other threads from the Matrix Unit",
     .prepare = core_prepare_dirty},
    {"MVMUL so, beside T0 and T2 on one block", 12.11, core_setup_data, core_body_push, PUSH_MVMUL, true, 3,
     .how = "the same", .prepare = core_prepare_dirty},
    {"ELWADD so, beside T0 and T2 on one block", 12.065, core_setup_data, core_body_push, PUSH_ELWADD, true, 3,
     .how = "the same", .prepare = core_prepare_dirty},
    {"MVMUL from REPLAY, many blocks", 1.06, core_setup_replay, core_body_expand, PUSH_REPLAY, true, 1,
     .how = "one per cycle, plus the SETRWC back to the first block", .prepare = core_prepare_banks},
    {"MVMUL from MOP, many blocks", 1.06, core_setup_mop, core_body_expand, PUSH_MOP, true, 1,
     .how = "one per cycle, plus the SETRWC back to the first block", .prepare = core_prepare_banks},
    {"WH: loop of 4096 bytes on T1", 1.404, core_setup_data, core_body_alu, 1024, .threads = 1, .arch = WG_ARCH_WH,
     .how = "every line misses; two line fetches in flight, eleven cycles each"},
    {"WH: branch, not taken", 1.029, core_setup_data, core_body_forward, 4 << 7 | 1 << 12 | 0x63, .arch = WG_ARCH_WH,
     .how = "64 of them, and the loop's own, which is predicted not taken: more than the predictor remembers"},
    {"WH: branch forward, taken", 3.024, core_setup_data, core_body_forward, 4 << 7 | 0x63, .arch = WG_ARCH_WH,
     .how = "the same: a bubble of two cycles each"},
    {"WH: jump forward", 3.024, core_setup_data, core_body_forward, 2 << 21 | 0x6F, .arch = WG_ARCH_WH,
     .how = "the same: jumps are remembered like branches"},
#define ON_WH(probe) core_setup_data, core_body_push, (uint32_t)PUSH_##probe
    {"WH: .ttinsn NOP, 3 threads", 0.998, ON_WH(NOP), .threads = 3, .arch = WG_ARCH_WH,
     .how = "each thread has its own frontend"},
    {"WH: SFPNOP, 3 threads", 2.97, ON_WH(SFPNOP), true, 3, .arch = WG_ARCH_WH,
     .how = "one per cycle for all threads, in turn"},
    {"WH: SETDMAREG, 3 threads", 2.97, ON_WH(SETDMAREG), true, 3, .arch = WG_ARCH_WH,
     .how = "one per cycle for all threads, in turn"},
    {"WH: ADDDMAREG, 3 threads", 9.0, ON_WH(ADDDMAREG), true, 3, .arch = WG_ARCH_WH,
     .how = "three cycles each, threads in turn"},
    {"WH: RDCFG, 1 thread", 1.97, ON_WH(RDCFG), true, 1, .arch = WG_ARCH_WH,
     .how = "the thread is blocked for two cycles"},
    {"WH: RDCFG, 2 threads", 1.96, ON_WH(RDCFG), true, 2, .arch = WG_ARCH_WH,
     .how = "the same: colliding ones are lost"},
    {"WH: RDCFG, 3 threads", 1.946, ON_WH(RDCFG), true, 3, .arch = WG_ARCH_WH,
     .how = "the same: colliding ones are lost"},
    {"WH: MVMUL, singly, block by block", 0.996, ON_WH(MVMUL), .threads = 1, .arch = WG_ARCH_WH, .how = "one per cycle",
     .prepare = core_prepare_dirty_wh},
    {"WH: MVMUL so, beside T0 on one block", 6.078, ON_WH(MVMUL), true, 2, .arch = WG_ARCH_WH,
     .how = "a block of Dst cannot be read for five cycles after a write, and a stall on it blocks other threads",
     .prepare = core_prepare_dirty_wh},
    {"WH: MVMUL so, beside T0 and T2 on one block", 12.105, ON_WH(MVMUL), true, 3, .arch = WG_ARCH_WH,
     .how = "the same", .prepare = core_prepare_dirty_wh},
    {"WH: ELWADD so, beside T0 on one block", 6.068, ON_WH(ELWADD), true, 2, .arch = WG_ARCH_WH,
     .how = "the same, without accumulation", .prepare = core_prepare_dirty_wh},
#undef ON_WH
};
enum { CORE_ROWS = sizeof core_rows / sizeof *core_rows };

static inline uint64_t core_row_run(const core_row *row, wg_profile profile, uint32_t passes, unsigned *counted)
{
    core_kernel *k = calloc(1, sizeof *k);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = row->arch, .profile = profile};
    wg_device *dev;
    if (!k || wg_create(&desc, &dev) != WG_OK)
        return 0;
    /* The pointer chase in L1: a ring of lines, larger than the L0 cache; in own RAM a word that points to itself. */
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t at = CORE_ROW_DATA + 16 * i, next = CORE_ROW_DATA + 16 * ((i + 1) % 64);
        wg_write(dev, at, &next, 4);
    }
    uint32_t self = CORE_ROW_SELF;
    wg_write(dev, self, &self, 4);
    enum { WALL_CLOCK = 0xFFB121F0 };
    core_li(k, A0, passes);
    if (row->threads && row->arch == WG_ARCH_BH)
        core_start_up(k);
    row->setup(k, row->argument);
    unsigned result = k->n; /* where the address of the thread's result is loaded */
    if (row->threads) {     /* its own time, as measured on silicon */
        core_li(k, A3, CORE_ROW_RESULT);
        core_li(k, A4, WALL_CLOCK);
        core_word(k, rv_i(0, A4, 2, A5, 0x03));
    }
    core_word(k, rv_s(0, A1, A1, 2, 0x23) & (row->argument == 0xFFB00000 ? ~0u : 0x13u)); /* or a nop */
    while (k->n % 4)
        core_word(k, 0x13);
    unsigned loop = k->n;
    row->body(k, row->argument);
    *counted = k->counted;
    core_word(k, rv_i(-1, A0, 0, A0, 0x13));
    core_bne_back(k, A0, ZERO, loop);
    if (row->threads) {
        core_word(k, rv_i(0, A4, 2, A4, 0x03));
        core_word(k, core_r(0x20, A5, A4, 0, A4));
        core_word(k, rv_s(0, A4, A3, 2, 0x23));
    }
    core_word(k, 0x6F);
    if (row->prepare)
        row->prepare(dev);
    for (unsigned i = 0; i < (row->threads ? row->threads : 1); i++) {
        uint32_t at = CORE_ROW_CODE + 0x4000 * i;
        if (row->threads)
            k->word[result + 1] = rv_i((int)(4 * i), A3, 0, A3, 0x13);
        unsigned core = !row->threads ? WG_CORE_B : row->threads == 1 ? WG_CORE_T1 : WG_CORE_T0 + i;
        wg_write(dev, at, k->word, 4 * (size_t)k->n);
        wg_core_release(dev, (wg_core_id)core, at);
    }
    wg_stop stop;
    wg_run(dev, 10000000, &stop);
    uint64_t cycles = wg_cycle(dev);
    if (row->threads) {
        uint32_t own = 0;
        wg_read(dev, CORE_ROW_RESULT + (row->threads > 1 ? 4 : 0), &own, 4); /* T1's */
        cycles = own;
    }
    wg_destroy(dev);
    free(k);
    return cycles;
}

/*
 * Cycles per counted instruction. The loop's own two instructions cost a cycle each, or are counted with a large body.
 */
static inline double core_row_cycles(const core_row *row, wg_profile profile)
{
    enum { SHORT = 20, LONG = 60 };
    unsigned counted = 1;
    uint64_t a = core_row_run(row, profile, SHORT, &counted), b = core_row_run(row, profile, LONG, &counted);
    double cycles = (double)(b - a) / (LONG - SHORT);
    if (counted > 64 && !row->threads)
        return cycles / (counted + 2);
    return (cycles - (row->hidden ? 0 : 2)) / counted;
}

#endif
