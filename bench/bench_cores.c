/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the cores run, on a whole device with its cycle-level model. Prints `name value unit` lines: instructions
 * per second of processor time, in millions, and the time for a billion cycles of polling.
 *
 *     alu       one core, eight ALU instructions per pass
 *     mem       one core, two loads and a store to one line of L1 per pass of six
 *     private   five cores, ALU and own RAM
 *     copy      five cores copying L1 to L1, with conflicts at the ports they share
 *     bytes     one core copying L1 to L1 byte by byte
 *     calls     one core in a recursive function, its stack in L1
 *     walk      one core that changes words of L1 in a pseudo-random order
 *     mixed     five cores, of which some copy bytes, some call and some walk
 *     polling   five cores reading an unchanged word
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <waitgate/waitgate.h>

#include "../tests/support/rvasm.h"

enum { CODE = 0x10000, CODE_STRIDE = 0x1000, DATA = 0x40000, DATA_STRIDE = 0x4000 };

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static uint32_t reg_op(unsigned f3, unsigned f7, unsigned rd, unsigned rs1, unsigned rs2)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x33;
}

/* Each program counts A0 down from `passes`, then parks. */
static void finish(rv *p, unsigned loop)
{
    rv_addi(p, A0, A0, -1);
    rv_bne(p, A0, ZERO, loop);
    rv_done(p);
}

static rv alu_program(unsigned core, uint32_t passes)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, A0, passes);
    rv_li(&p, A1, 1);
    rv_li(&p, A2, 3);
    unsigned loop = p.n;
    rv_add(&p, A1, A1, A2);
    rv_word(&p, reg_op(4, 0, A2, A2, A1));
    rv_word(&p, rv_i(3, A1, 1, A3, 0x13));
    rv_word(&p, reg_op(0, 32, A4, A3, A2));
    rv_word(&p, reg_op(6, 0, A5, A4, A1));
    rv_word(&p, rv_i(1, A5, 5, A2, 0x13));
    finish(&p, loop);
    return p;
}

static rv mem_program(unsigned core, uint32_t passes)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, A0, passes);
    rv_li(&p, A1, DATA);
    unsigned loop = p.n;
    rv_lw(&p, A2, 0, A1);
    rv_lw(&p, A3, 4, A1);
    rv_add(&p, A2, A2, A3);
    rv_sw(&p, A2, 8, A1);
    finish(&p, loop);
    return p;
}

/* Arithmetic after a load from L1: the retire queue never drains. */
static rv late_program(unsigned core, uint32_t passes)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, A0, passes);
    rv_li(&p, A1, DATA);
    unsigned loop = p.n;
    rv_lw(&p, A2, 0, A1);
    for (unsigned i = 0; i < 60; i++)
        rv_addi(&p, A3 + i % 3, A3 + i % 3, (int)i);
    finish(&p, loop);
    return p;
}

static rv private_program(unsigned core, uint32_t passes)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, A0, passes);
    rv_li(&p, A1, 0xFFB00100);
    rv_li(&p, A2, 3 + core);
    unsigned loop = p.n;
    rv_lw(&p, A3, 0, A1);
    rv_add(&p, A2, A2, A3);
    rv_word(&p, reg_op(4, 0, A4, A2, A3));
    rv_word(&p, rv_i(3, A4, 1, A5, 0x13));
    rv_word(&p, reg_op(0, 32, A4, A5, A2));
    rv_sw(&p, A4, 0, A1);
    finish(&p, loop);
    return p;
}

/* A1: source, A2: destination, A3: end of the source. Returns the index of the loop's first instruction. */
static unsigned begin_copy(rv *p, unsigned core, uint32_t passes)
{
    rv_li(p, A0, passes);
    unsigned outer = p->n;
    rv_li(p, A1, DATA + core * DATA_STRIDE);
    rv_li(p, A2, DATA + core * DATA_STRIDE + 0x2000);
    rv_li(p, A3, DATA + core * DATA_STRIDE + 0x400);
    return outer;
}

/* Copies 1 KiB again and again, four words at a time. */
static rv copy_program(unsigned core, uint32_t passes)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    unsigned outer = begin_copy(&p, core, passes);
    unsigned loop = p.n;
    for (int i = 0; i < 16; i += 4)
        rv_lw(&p, A4 + (unsigned)i / 4, i, A1);
    for (int i = 0; i < 16; i += 4)
        rv_sw(&p, A4 + (unsigned)i / 4, i, A2);
    rv_addi(&p, A1, A1, 16);
    rv_addi(&p, A2, A2, 16);
    rv_bne(&p, A1, A3, loop);
    finish(&p, outer);
    return p;
}

/* Copies 1 KiB again and again, byte by byte. */
static rv bytes_program(unsigned core, uint32_t passes)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    unsigned outer = begin_copy(&p, core, passes);
    unsigned loop = p.n;
    rv_lbu(&p, A4, 0, A1);
    rv_sb(&p, A4, 0, A2);
    rv_addi(&p, A1, A1, 1);
    rv_addi(&p, A2, A2, 1);
    rv_bne(&p, A1, A3, loop);
    finish(&p, outer);
    return p;
}

/* A call to an earlier place. */
static void call(rv *p, unsigned label)
{
    const uint32_t o = 4 * (label - p->n);
    rv_word(p, (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | RA << 7 |
                   0x6F);
}

/* fib(12) again and again: the function comes before its caller. */
static rv calls_program(unsigned core, uint32_t passes)
{
    enum { FRAME = 12 };
    rv p = rv_at(CODE + core * CODE_STRIDE);
    const unsigned start = rv_word(&p, 0), fib = p.n;
    rv_addi(&p, SP, SP, -FRAME);
    rv_sw(&p, RA, 0, SP);
    rv_sw(&p, S0, 4, SP);
    rv_sw(&p, S1, 8, SP);
    rv_addi(&p, S0, A1, 0);
    rv_word(&p, rv_i(2, A1, 2, T0, 0x13)); /* slti */
    const unsigned small = rv_word(&p, 0);
    rv_addi(&p, A1, S0, -1);
    call(&p, fib);
    rv_addi(&p, S1, A2, 0);
    rv_addi(&p, A1, S0, -2);
    call(&p, fib);
    rv_add(&p, A2, A2, S1);
    const unsigned leaves = rv_word(&p, 0);
    p.word[small] = rv_b(4 * (int)(p.n - small), T0, ZERO, 1);
    rv_addi(&p, A2, S0, 0);
    p.word[leaves] = rv_b(4 * (int)(p.n - leaves), ZERO, ZERO, 0);
    rv_lw(&p, RA, 0, SP);
    rv_lw(&p, S0, 4, SP);
    rv_lw(&p, S1, 8, SP);
    rv_addi(&p, SP, SP, FRAME);
    rv_word(&p, rv_i(0, RA, 0, ZERO, 0x67));
    p.word[start] = rv_b(4 * (int)(p.n - start), ZERO, ZERO, 0);
    rv_li(&p, A0, passes);
    rv_li(&p, SP, DATA + core * DATA_STRIDE + 0x1000);
    unsigned loop = p.n;
    rv_addi(&p, A1, ZERO, 12);
    call(&p, fib);
    finish(&p, loop);
    return p;
}

/* Adds to words of 4 KiB in the order of a linear congruential generator. */
static rv walk_program(unsigned core, uint32_t passes)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, A0, passes);
    rv_li(&p, A1, DATA + core * DATA_STRIDE);
    rv_li(&p, A2, 1103515245);
    rv_li(&p, A3, 12345);
    rv_li(&p, A6, 0xFFC);
    unsigned loop = p.n;
    rv_word(&p, reg_op(0, 1, A4, A4, A2)); /* mul */
    rv_add(&p, A4, A4, A3);
    rv_word(&p, rv_i(16, A4, 5, A5, 0x13)); /* srli */
    rv_word(&p, reg_op(7, 0, A5, A5, A6));
    rv_add(&p, A5, A5, A1);
    rv_lw(&p, A7, 0, A5);
    rv_add(&p, A7, A7, A4);
    rv_sw(&p, A7, 0, A5);
    finish(&p, loop);
    return p;
}

static rv mixed_program(unsigned core, uint32_t passes)
{
    static rv (*const programs[3])(unsigned, uint32_t) = {bytes_program, calls_program, walk_program};
    static const uint32_t instructions[3] = {5 * 1024, 6800, 10};
    return programs[core % 3](core, passes / instructions[core % 3]);
}

static rv poll_program(unsigned core, uint32_t passes)
{
    (void)passes;
    rv p = rv_at(CODE + core * CODE_STRIDE);
    rv_li(&p, A1, DATA);
    unsigned loop = p.n;
    rv_fence(&p);
    rv_lw(&p, A2, 0, A1);
    rv_beq(&p, A2, ZERO, loop);
    rv_done(&p);
    return p;
}

static wg_device *boot(wg_arch_id arch, unsigned cores, rv (*program)(unsigned, uint32_t), uint32_t passes)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .shortcuts = getenv("WAITGATE_FAST"), .arch = arch};
    wg_device *dev;
    if (wg_create(&desc, &dev) != WG_OK)
        exit(1);
    for (unsigned c = 0; c < cores; c++) {
        rv p = program(c, passes);
        if (!rv_load(dev, &p) || wg_core_release(dev, (wg_core_id)c, p.base) != WG_OK)
            exit(1);
    }
    return dev;
}

static void measure(const char *name, wg_arch_id arch, unsigned cores, rv (*program)(unsigned, uint32_t),
                    uint32_t passes)
{
    wg_device *dev = boot(arch, cores, program, passes);
    wg_stop stop;
    double from = seconds();
    wg_run(dev, UINT64_MAX, &stop);
    double took = seconds() - from;
    uint64_t instructions = 0;
    for (unsigned c = 0; c < cores; c++) {
        wg_core_info info;
        wg_core_state(dev, (wg_core_id)c, &info);
        instructions += info.instructions;
    }
    if (stop != WG_STOP_DONE)
        exit(1);
    printf("cores_%s_%s %.1f Minsn/s\n", name, arch == WG_ARCH_BH ? "bh" : "wh", (double)instructions / took * 1e-6);
    wg_destroy(dev);
}

static void polling(wg_arch_id arch)
{
    wg_device *dev = boot(arch, 5, poll_program, 0);
    double from = seconds();
    wg_advance(dev, 1000000000);
    printf("cores_polling_%s %.2f ms\n", arch == WG_ARCH_BH ? "bh" : "wh", (seconds() - from) * 1e3);
    wg_destroy(dev);
}

/* With arguments, only the measurements they name. */
static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    for (unsigned arch = 0; arch < 2; arch++) {
        if (wanted("alu", argc, argv))
            measure("alu", (wg_arch_id)arch, 1, alu_program, 8000000);
        if (wanted("mem", argc, argv))
            measure("mem", (wg_arch_id)arch, 1, mem_program, 2000000);
        if (wanted("late", argc, argv))
            measure("late", (wg_arch_id)arch, 1, late_program, 200000);
        if (wanted("private", argc, argv))
            measure("private", (wg_arch_id)arch, 5, private_program, 2000000);
        if (wanted("copy", argc, argv))
            measure("copy", (wg_arch_id)arch, 5, copy_program, 3000);
        if (wanted("bytes", argc, argv))
            measure("bytes", (wg_arch_id)arch, 1, bytes_program, 400);
        if (wanted("calls", argc, argv))
            measure("calls", (wg_arch_id)arch, 1, calls_program, 300);
        if (wanted("walk", argc, argv))
            measure("walk", (wg_arch_id)arch, 1, walk_program, 200000);
        if (wanted("mixed", argc, argv))
            measure("mixed", (wg_arch_id)arch, 5, mixed_program, 1000000);
        if (wanted("polling", argc, argv))
            polling((wg_arch_id)arch);
    }
    return 0;
}
