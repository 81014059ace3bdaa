/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole kernels: tensixbench's `matmul_tiles` (README.md), products of BF16 tiles in L1, cycles of each thread per
 * call.
 *
 * T0 and T1 (matmul.c) are written to the description of the low-level kernel library: a call of T0 waits for a configuration
 * context, stores both addresses, unpacks both tiles and switches contexts; one of T1 sets the position in Dst, issues
 * sixteen MVMULs per fidelity phase from a MOP and gives both banks back. `apart`: an earlier phase left the Matrix
 * Unit at other banks than the unpackers, so that two tiles are unpacked and then two multiplied. `same`: both start at
 * the same bank.
 *
 * energybench: a launch of a kernel with four times the work takes that much longer; cycles of a round are the difference.
 * `mm` multiplies the same two tiles without end; `rv` is a chain of integer instructions on core B; `sfpu` adds the same two tiles
 * of integers in Dst with the Vector Unit (add_int.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "add_int.h"
#include "matmul.h"
#include "silicon.h"

enum { CODE = 0x10000, CODE_BYTES = 0x1000 };

typedef struct times {
    double thread[2];
} times;

static times product(wg_arch_id arch, unsigned phases, bool apart)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = WG_PROFILE_SILICON};
    wg_device *dev;
    wg_stop stop;
    uint32_t point[2][2] = {{0}};
    if (wg_create(&desc, &dev) != WG_OK)
        exit(1);
    for (unsigned i = 0; i < 2; i++) {
        rv p = rv_at(CODE + i * CODE_BYTES);
        if (i)
            (arch == WG_ARCH_WH ? matmul_math_wh : matmul_math_bh)(&p, phases, apart);
        else
            (arch == WG_ARCH_WH ? matmul_unpack_wh : matmul_unpack_bh)(&p);
        if (!rv_load(dev, &p) || wg_core_release(dev, i ? WG_CORE_T1 : WG_CORE_T0, p.base) != WG_OK)
            exit(1);
    }
    wg_run(dev, 2000000, &stop);
    wg_read(dev, MATMUL_RESULT, point, sizeof point);
    wg_destroy(dev);
    return (times){
        {(double)(point[0][1] - point[0][0]) / MATMUL_CALLS, (double)(point[1][1] - point[1][0]) / MATMUL_CALLS}};
}

/* Runs one core's program: the cycles between the two times of the clock that it leaves at `result`. */
static double between(wg_arch_id arch, wg_core_id core, const rv *p, uint32_t result)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .profile = WG_PROFILE_SILICON};
    wg_device *dev;
    wg_stop stop;
    uint32_t clock[2] = {0};
    if (wg_create(&desc, &dev) != WG_OK || !rv_load(dev, p) || wg_core_release(dev, core, p->base) != WG_OK)
        exit(1);
    wg_run(dev, 2000000, &stop);
    wg_read(dev, result, clock, sizeof clock);
    wg_destroy(dev);
    return (double)(clock[1] - clock[0]);
}

/* Cycles of `rounds` rounds of acc = acc * b + a, a ^= acc >> 7, b += acc on core B, in a compiler's order. */
static double chain(wg_arch_id arch, unsigned rounds)
{
    rv p = rv_at(CODE);
    rv_li(&p, S0, 0xFFB121F0);
    rv_li(&p, S1, MATMUL_RESULT);
    rv_li(&p, A3, 0x12345678);
    rv_li(&p, A4, 0x9E3779B9);
    rv_li(&p, A5, 1);
    rv_li(&p, A2, rounds);
    rv_lw(&p, T0, 0, S0);
    unsigned round = p.n;
    rv_word(&p, 1 << 25 | A4 << 20 | A5 << 15 | A5 << 7 | 0x33); /* mul */
    rv_addi(&p, A2, A2, -1);
    rv_add(&p, A5, A5, A3);
    rv_word(&p, rv_i(7, A5, 5, T2, 0x13));                       /* srli */
    rv_word(&p, T2 << 20 | A3 << 15 | 4 << 12 | A3 << 7 | 0x33); /* xor */
    rv_add(&p, A4, A4, A5);
    rv_bne(&p, A2, ZERO, round);
    rv_sw(&p, A5, 8, S1);
    rv_lw(&p, T1, 0, S0);
    rv_sw(&p, T0, 0, S1);
    rv_sw(&p, T1, 4, S1);
    rv_done(&p);
    return between(arch, WG_CORE_B, &p, MATMUL_RESULT);
}

/* Cycles of `rounds` calls of `add_int_tile`. */
static double sums(wg_arch_id arch, unsigned rounds)
{
    rv p = rv_at(CODE);
    (arch == WG_ARCH_WH ? add_int_wh : add_int_bh)(&p, rounds);
    return between(arch, WG_CORE_T1, &p, ADD_INT_RESULT);
}

/* Cycles of one more round. */
static double slope(double (*kernel)(wg_arch_id arch, unsigned rounds), wg_arch_id arch)
{
    return (kernel(arch, 5000) - kernel(arch, 1000)) / 4000;
}

enum { ARCH, KERNEL, FIDELITY, BANKS, THREAD, CYCLES, FIELDS };

static void line(struct wg_silicon *s, char **field, void *user)
{
    (void)user;
    static const struct {
        const char *name, *says;
        double (*kernel)(wg_arch_id arch, unsigned rounds);
    } loops[] = {{"rv", "rv, a round of its chain, B", chain}, {"sfpu", "sfpu, a sum of tiles of integers, T1", sums}};
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++)
        if (strcmp(field[KERNEL], loops[i].name) == 0) {
            const wg_arch_id arch = wg_silicon_arch(field[ARCH]);
            wg_silicon_add(s, &(wg_silicon_row){.group = "kernels",
                                                .name = loops[i].says,
                                                .arch = arch,
                                                .card = strtod(field[CYCLES], NULL),
                                                .model = slope(loops[i].kernel, arch),
                                                .why = "what the compiler made of the loop is not known"});
            return;
        }
    unsigned phases = (unsigned)strtoul(field[FIDELITY], NULL, 10), thread = field[THREAD][0] == '1';
    times took = product(wg_silicon_arch(field[ARCH]), phases, strcmp(field[BANKS], "apart") == 0);
    char name[48];
    snprintf(name, sizeof name, "%s, %u phases, banks %s, T%u", field[KERNEL], phases, field[BANKS], thread);
    wg_silicon_add(s, &(wg_silicon_row){.group = "kernels",
                                        .name = name,
                                        .arch = wg_silicon_arch(field[ARCH]),
                                        .card = strtod(field[CYCLES], NULL),
                                        .model = took.thread[thread],
                                        .why = "what the compiler made of the threads' own code is not known"});
}

void wg_silicon_kernels(struct wg_silicon *s) { wg_silicon_read(s, "kernels.csv", FIELDS, line, NULL); }
