/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host time of a Matrix Unit instruction, from the check at the gate to its completion, per kind and level of vector
 * code. Instructions cycle through eight blocks of Dst, so that none waits.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bare_tile.h"
#include "clock.h"
#include "backend/matrix.h"
#include "isa/config_fields.h"
#include "num/simd.h"
#include "machine/tile.h"

enum { ROUNDS = 20000, SAMPLES = 9 };

static void fill(wg_tile *t, bool integers)
{
    uint32_t state = 12345;
    for (unsigned file = 0; file < 2; file++)
        for (unsigned bank = 0; bank < 2; bank++) {
            uint32_t(*rows)[16] = wg_src_rows(&t->regs.src, (wg_src_file)file, bank);
            for (unsigned i = 0; i < 64 * 16; i++) {
                state = state * 1664525u + 1013904223u;
                uint32_t sign = state & 0x40000, mantissa = state >> 10 & 0x3F800, exponent = 120 + (state >> 28);
                rows[i / 16][i % 16] = integers ? sign | (state >> 20 & 0xFF) << 8 | 16 : sign | mantissa | exponent;
            }
            wg_src_give_to_matrix(t, (wg_src_file)file, bank, WG_AGENT_UNPACK0);
        }
}

/* Microseconds per instruction, the median of several runs. `phases`: number of fidelity phases. */
static double measure(wg_tile *t, uint32_t word, unsigned phases)
{
    double sample[SAMPLES];
    const wg_unit_ops *u = &wg_matrix_unit;
    for (unsigned s = 0; s < SAMPLES; s++) {
        double start = now();
        for (unsigned i = 0; i < ROUNDS; i++) {
            wg_rwc_thread *r = &t->regs.rwc.thread[1];
            r->dst = (uint16_t)(i % 8 * 16);
            r->srca = (uint8_t)(i / 2 % 2 * 16);
            r->srcb = (uint8_t)(i % 2 * 8);
            r->fidelity = (uint8_t)(i / 16 % phases);
            wg_insn insn = {.word = word, .id = i + 1, .thread = 1};
            wg_stall why;
            t->sched.phase = WG_PHASE_GATES;
            if (!u->check(t, &insn, &why)) {
                fprintf(stderr, "refused: %s\n", wg_stall_name(why.reason));
                exit(1);
            }
            u->accept(t, &insn);
            t->sched.now++;
            t->sched.phase = WG_PHASE_COMPLETIONS;
            u->tick(t);
        }
        sample[s] = (now() - start) / ROUNDS * 1e6;
    }
    qsort(sample, SAMPLES, sizeof *sample, by_value);
    return sample[SAMPLES / 2];
}

static wg_tile *make(wg_arch_id arch, unsigned simd, unsigned format, bool wide, bool integers)
{
    wg_tile *t = bare_tile();
    t->arch = wg_arch_of(arch);
    t->spec = &t->arch->tensix;
    t->timing = &t->arch->timing[WG_PROFILE_DOCUMENTED];
    t->simd = (uint8_t)simd;
    wg_matrix_unit.reset(t);
    uint32_t *cfg = t->regs.config.bank[0];
    wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA], cfg, format);
    wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB], cfg, format);
    wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_ALU_ACC_CTRL_Fp32_enabled], cfg, wide);
    wg_cfg_insert(&wg_cfg_fields[arch][WG_CFG_ALU_ACC_CTRL_INT8_math_enabled], cfg, integers);
    for (unsigned bank = 0; bank < 2; bank++)
        t->regs.src.format_a[bank] = t->regs.src.format_b[bank] = (uint8_t)format;
    fill(t, integers);
    return t;
}

int main(void)
{
    static const struct {
        const char *name;
        uint32_t word;
        unsigned format, phases;
        bool wide, integers;
    } cases[] = {
        {"mvmul_bf16_lofi", 0x26000000, 5, 1, false, false},
        {"mvmul_bf16_hifi4", 0x26000000, 5, 4, false, false},
        {"mvmul_bf16_fp32acc_lofi", 0x26000000, 5, 1, true, false},
        {"mvmul_bf16_fp32acc_hifi4", 0x26000000, 5, 4, true, false},
        {"mvmul_int8", 0x26000000, 14, 4, true, true},
        {"elwadd_bf16", 0x28000000, 5, 1, false, false},
        {"elwmul_bf16_hifi4", 0x27000000, 5, 4, false, false},
        {"elwmul_fp32acc", 0x27000000, 5, 1, true, false},
        {"gapool_bf16", 0x34080000, 5, 1, false, false},
        {"gmpool_bf16", 0x33080000, 5, 1, false, false},
        {"mova2d_8_rows", 0x12002000, 5, 1, false, false},
    };
    static const char *const level[] = {"scalar", "avx2", "avx512", "vnni"};
    unsigned best = wg_simd_best();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned simd = 0; simd <= best; simd++) {
            wg_tile *t = make(WG_ARCH_BH, simd, cases[i].format, cases[i].wide, cases[i].integers);
            double us = measure(t, cases[i].word, cases[i].phases);
            printf("matrix_%s_%s %.4f us\n", cases[i].name, level[simd], us);
            if (simd == best)
                printf("matrix_%s %.4f us\n", cases[i].name, us);
            free(t);
        }
    return 0;
}
