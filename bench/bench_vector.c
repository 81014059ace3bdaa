/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit alone: check, accept and tick of one instruction per cycle, as a stream from one thread.
 * Prints nanoseconds of processor time per instruction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bare_tile.h"
#include "backend/vector.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void cycle(wg_tile *t, const wg_insn *insn)
{
    wg_stall why;
    t->sched.phase = WG_PHASE_COMPLETIONS;
    if (t->sched.next[WG_AGENT_VECTOR] <= t->sched.now) {
        t->sched.next[WG_AGENT_VECTOR] = WG_NEVER;
        wg_vector_unit.tick(t);
    }
    t->sched.phase = WG_PHASE_GATES;
    if (wg_vector_unit.check(t, insn, &why))
        wg_vector_unit.accept(t, insn);
    t->sched.now++;
}

static void measure(wg_tile *t, const char *name, uint32_t word, unsigned rounds)
{
    wg_insn insn = {.word = word, .op = (uint16_t)wg_isa_decode(t->arch->id, word)->id};
    double best = 1e9;
    for (unsigned repeat = 0; repeat < 5; repeat++) {
        double start = seconds();
        for (unsigned i = 0; i < rounds; i++)
            cycle(t, &insn);
        double taken = (seconds() - start) / rounds * 1e9;
        best = taken < best ? taken : best;
    }
    printf("vector_%s_%s %.2f ns\n", t->arch->name, name, best);
}

int main(void)
{
    wg_tile *t = bare_tile();
    for (unsigned arch = 0; arch < 2; arch++) {
        t->arch = wg_arch_of((wg_arch_id)arch);
        t->simd = (uint8_t)wg_simd_best();
        for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
            t->sched.next[i] = WG_NEVER;
        wg_vector_unit.reset(t);
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            for (unsigned i = 1; i < 8; i++)
                t->regs.lreg.l[i][lane] = 0x3F800000 + (i * 977 + lane * 7919) % 0x1000000;
        measure(t, "sfpmad", 0x84012300, 2000000);
        measure(t, "sfpadd", 0x850A2300, 2000000);
        measure(t, "sfpmul", 0x86012900, 2000000);
        measure(t, "sfpload", 0x70040000, 2000000);
        measure(t, "sfpstore", 0x72140000, 2000000);
        measure(t, "sfploadi", 0x71003F80, 2000000);
        measure(t, "sfpiadd", 0x79001204, 2000000);
        measure(t, "sfpswap", 0x92001201, 2000000);
        measure(t, "sfpnop", 0x8F000000, 2000000);
        t->simd = WG_SIMD_SCALAR;
        measure(t, "sfpmad_scalar", 0x84012300, 100000);
    }
    free(t);
    return 0;
}
