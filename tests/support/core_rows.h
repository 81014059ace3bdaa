/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microkernels for what has been measured of Blackhole's cores, one per row: cycles per instruction of an unrolled body,
 * from the difference of a long and a short run, so that start and end cancel out.
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
    uint32_t word[2048];
    unsigned n, counted;   /* counted: instructions of the body whose cycles are asked for */
} core_kernel;

typedef struct core_row {
    const char *name;
    double silicon;
    void (*setup)(core_kernel *k, uint32_t argument), (*body)(core_kernel *k, uint32_t argument);
    uint32_t argument;
    bool hidden;           /* the loop's own two instructions run while memory is waited for */
} core_row;

enum { CORE_ROW_CODE = 0x10000, CORE_ROW_DATA = 0x40000 };

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

static const core_row core_rows[] = {
    {"ALU", 0.999, core_setup_data, core_body_alu, 0},
    {"mul, dependent", 1.985, core_setup_data, core_body_mul, 1},
    {"mul, independent", 1.0, core_setup_data, core_body_mul, 0},
    {"divu, 29-bit dividend", 33.0, core_setup_data, core_body_divu, 0x1FFFFFFF},
    {"divu, 12-bit dividend", 14.0, core_setup_data, core_body_divu, 0xFFF},
    {"load-use, own RAM", 1.985, core_setup_data, core_body_chase, 0xFFB00000},
    {"load-use, L1 miss", 8.098, core_setup_l1, core_body_chase, 1, true},
    {"four independent L1 loads", 1.742, core_setup_l1, core_body_loads, 0, true},
    {"stores to L1, coalescing", 1.0, core_setup_l1, core_body_stores, 4},
    {"stores to L1, scattered", 5.25, core_setup_l1, core_body_stores, 64, true},
    {"loop of 4096 bytes", 1.0, core_setup_data, core_body_alu, 4096 / 4 - 2},
    {"loop of 5120 bytes", 1.153, core_setup_data, core_body_alu, 5120 / 4 - 2},
    {"loop of 6144 bytes", 1.252, core_setup_data, core_body_alu, 6144 / 4 - 2},
};
enum { CORE_ROWS = sizeof core_rows / sizeof *core_rows };

static inline uint64_t core_row_run(const core_row *row, wg_profile profile, uint32_t passes, unsigned *counted)
{
    core_kernel *k = calloc(1, sizeof *k);
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = profile};
    wg_device *dev;
    if (!k || wg_create(&desc, &dev) != WG_OK)
        return 0;
    /* The chase in L1: a ring of lines, longer than the L0 cache; in own RAM a word that points to itself. */
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t at = CORE_ROW_DATA + 16 * i, next = CORE_ROW_DATA + 16 * ((i + 1) % 64);
        wg_write(dev, at, &next, 4);
    }
    core_li(k, A0, passes);
    row->setup(k, row->argument);
    core_word(k, rv_s(0, A1, A1, 2, 0x23) & (row->argument == 0xFFB00000 ? ~0u : 0x13u));   /* or a nop */
    while (k->n % 4)
        core_word(k, 0x13);
    unsigned loop = k->n;
    row->body(k, row->argument);
    *counted = k->counted;
    core_word(k, rv_i(-1, A0, 0, A0, 0x13));
    int back = 4 * ((int)loop - (int)k->n);
    if (back >= -4096) {
        core_word(k, rv_b(back, A0, ZERO, 1));
    } else {   /* beyond a branch's reach: over a jump */
        core_word(k, rv_b(8, A0, ZERO, 0));
        uint32_t o = (uint32_t)(back - 4);
        core_word(k, (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | 0x6F);
    }
    core_word(k, 0x6F);
    wg_write(dev, CORE_ROW_CODE, k->word, 4 * (size_t)k->n);
    wg_core_release(dev, WG_CORE_B, CORE_ROW_CODE);
    wg_stop stop;
    wg_run(dev, 10000000, &stop);
    uint64_t cycles = wg_cycle(dev);
    wg_destroy(dev);
    free(k);
    return cycles;
}

/* Cycles per counted instruction. The loop's own two instructions cost a cycle each, or are counted with a large body. */
static inline double core_row_cycles(const core_row *row, wg_profile profile)
{
    enum { SHORT = 20, LONG = 60 };
    unsigned counted = 1;
    uint64_t a = core_row_run(row, profile, SHORT, &counted), b = core_row_run(row, profile, LONG, &counted);
    double cycles = (double)(b - a) / (LONG - SHORT);
    if (counted > 64)
        return cycles / (counted + 2);
    return (cycles - (row->hidden ? 0 : 2)) / counted;
}

#endif
