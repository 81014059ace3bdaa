/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host time of an UNPACR of one face (16 by 16 datums), from the check at the gate to its completion, per format and
 * destination; and the resulting faces per second. Time skips from wake-up to wake-up, as in the engine.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bare_tile.h"
#include "clock.h"
#include "backend/unpack.h"
#include "isa/config_fields.h"
#include "num/formats.h"
#include "num/simd.h"
#include "machine/tile.h"

enum { ROUNDS = 50000, SAMPLES = 9 };

static void one(wg_tile *t, uint32_t word, uint64_t id)
{
    const wg_unit_ops *u = &wg_unpack_unit;
    wg_insn insn = {.word = word, .id = id, .thread = 0, .op = WG_I_UNPACR, .unit = WG_UNIT_UNPACK};
    wg_stall why;
    t->sched.phase = WG_PHASE_GATES;
    if (!u->check(t, &insn, &why)) {
        fprintf(stderr, "refused: %s\n", wg_stall_name(why.reason));
        exit(1);
    }
    u->accept(t, &insn);
    t->sched.phase = WG_PHASE_COMPLETIONS;
    while (t->sched.next[WG_AGENT_UNPACK0] != WG_NEVER) {
        t->sched.now = t->sched.next[WG_AGENT_UNPACK0];
        t->sched.next[WG_AGENT_UNPACK0] = WG_NEVER;
        u->tick(t);
    }
}

/* Microseconds per instruction, the median of several runs. */
static double measure(wg_tile *t, uint32_t word)
{
    double sample[SAMPLES];
    for (unsigned s = 0; s < SAMPLES; s++) {
        double start = now();
        for (unsigned i = 0; i < ROUNDS; i++)
            one(t, word, i + 1);
        sample[s] = (now() - start) / ROUNDS * 1e6;
    }
    qsort(sample, SAMPLES, sizeof *sample, by_value);
    return sample[SAMPLES / 2];
}

static wg_tile *make(wg_arch_id arch, unsigned in, unsigned out, bool to_dst, bool transpose)
{
    wg_tile *t = bare_tile();
    if (!(t->l1 = malloc(wg_arch_of(arch)->tensix.l1_bytes)))
        exit(1);
    t->arch = wg_arch_of(arch);
    t->spec = &t->arch->tensix;
    t->timing = &t->arch->timing[WG_PROFILE_DOCUMENTED];
    t->simd = (uint8_t)wg_simd_best();
    for (uint32_t i = 0; i < t->spec->l1_bytes; i++)
        t->l1[i] = (uint8_t)(i * 2654435761u >> 24);
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        t->sched.next[i] = WG_NEVER;
    wg_unpack_unit.reset(t);
    uint32_t *cfg = t->regs.config.bank[0];
    const wg_cfg_field *f = wg_cfg_fields[arch];
    cfg[f[WG_CFG_THCON_SEC0_REG0_TileDescriptor].word] = in | 1u << 4 | 256u << 16;
    cfg[f[WG_CFG_THCON_SEC0_REG0_TileDescriptor].word + 1] = 1 | 4u << 16;
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Out_data_format], cfg, out);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Throttle_mode], cfg, 2);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Haloize_mode], cfg, transpose);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Disable_zero_compress_cntx0], cfg, 1);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0], cfg, to_dst);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Unpack_limit_address], cfg, 0x1FFFF);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG3_Base_address], cfg, 0x1000);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG5_Tile_x_dim_cntx0], cfg, 256);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG5_Dest_cntx0_address], cfg, 64);
    if (!to_dst)
        wg_tcfg_insert(&wg_tcfg_fields[arch][WG_TCFG_SRCA_SET_SetOvrdWithAddr], t->regs.config.thread[0], 1);
    t->regs.adc.unit[0][0][1].x = 255;
    return t;
}

int main(void)
{
    static const struct {
        const char *name;
        uint8_t in, out;
        bool to_dst, transpose;
    } cases[] = {
        {"bf16_srca", WG_FMT_BF16, WG_FMT_BF16, false, false},
        {"bf16_srca_transposed", WG_FMT_BF16, WG_FMT_BF16, false, true},
        {"fp16_srca", WG_FMT_FP16, WG_FMT_FP16, false, false},
        {"fp32_tf32_srca", WG_FMT_FP32, WG_FMT_TF32, false, false},
        {"fp32_bf16_srca", WG_FMT_FP32, WG_FMT_BF16, false, false},
        {"fp32_dst", WG_FMT_FP32, WG_FMT_FP32, true, false},
        {"bf16_dst", WG_FMT_BF16, WG_FMT_BF16, true, false},
        {"bfp8_srca", WG_FMT_BFP8, WG_FMT_BFP8, false, false},
        {"bfp4_srca", WG_FMT_BFP4, WG_FMT_BFP4, false, false},
        {"bfp2_srca", WG_FMT_BFP2, WG_FMT_BFP2, false, false},
        {"fp8_srca", WG_FMT_FP8, WG_FMT_FP8, false, false},
        {"int8_srca", WG_FMT_INT8, WG_FMT_INT8, false, false},
        {"int32_dst", WG_FMT_INT32, WG_FMT_INT32, true, false},
    };
    const uint32_t word = UINT32_C(0x42000081); /* MultiContextMode, Last */
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_tile *t = make(WG_ARCH_BH, cases[i].in, cases[i].out, cases[i].to_dst, cases[i].transpose);
        double us = measure(t, word);
        printf("unpack_%s %.4f us\n", cases[i].name, us);
        if (i == 0)
            printf("unpack_bf16_faces_per_second %.0f /s\n", 1e6 / us);
        free(t->l1);
        free(t);
    }
    return 0;
}
