/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host time to pack a tile of 32 by 32 datums (BH: 16 PACRs of four rows; WH: one of 256 datums for each of four
 * packers), to unpack one (four UNPACRs), and both at once, interleaved; per format. The time of a PACR is that of a
 * packed tile divided by their number. Everything counts from the check at the gate to the completion; time skips from
 * wake-up to wake-up, as in the engine.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bare_tile.h"
#include "clock.h"
#include "backend/pack.h"
#include "backend/unpack.h"
#include "isa/config_fields.h"
#include "num/formats.h"
#include "num/simd.h"
#include "machine/tile.h"

enum { SAMPLES = 9, TILES = 2000 };

static void start(wg_tile *t, const wg_unit_ops *u, wg_insn_id op, wg_unit unit, unsigned thread, uint32_t word,
                  uint64_t id)
{
    wg_insn insn = {.word = word, .id = id, .thread = (uint8_t)thread, .op = (uint16_t)op, .unit = (uint8_t)unit};
    wg_stall why;
    t->sched.phase = WG_PHASE_GATES;
    if (!u->check(t, &insn, &why)) {
        fprintf(stderr, "refused: %s\n", wg_stall_name(why.reason));
        exit(1);
    }
    u->accept(t, &insn);
    t->sched.phase = WG_PHASE_COMPLETIONS;
}

/* Runs until both units are idle. */
static void finish(wg_tile *t)
{
    for (;;) {
        uint64_t pack = t->sched.next[WG_AGENT_PACK], unpack = t->sched.next[WG_AGENT_UNPACK0];
        if (pack == WG_NEVER && unpack == WG_NEVER)
            return;
        t->sched.now = pack < unpack ? pack : unpack;
        if (unpack == t->sched.now) {
            t->sched.next[WG_AGENT_UNPACK0] = WG_NEVER;
            wg_unpack_unit.tick(t);
        }
        if (pack == t->sched.now) {
            t->sched.next[WG_AGENT_PACK] = WG_NEVER;
            wg_pack_unit.tick(t);
        }
    }
}

static void pacr(wg_tile *t, uint32_t word, uint64_t id)
{
    start(t, &wg_pack_unit, WG_I_PACR, WG_UNIT_PACK, 2, word, id);
}
static void unpacr(wg_tile *t, uint32_t word, uint64_t id)
{
    start(t, &wg_unpack_unit, WG_I_UNPACR, WG_UNIT_UNPACK, 0, word, id);
}

/* One section for each packer. */
#define SECTIONS(name) \
    { \
        WG_CFG_THCON_SEC0_REG1_##name, WG_CFG_THCON_SEC0_REG8_##name, WG_CFG_THCON_SEC1_REG1_##name, \
            WG_CFG_THCON_SEC1_REG8_##name \
    }

static void set_unpacker(wg_tile *t, unsigned in, unsigned out, bool to_dst)
{
    uint32_t *cfg = t->regs.config.bank[0];
    const wg_cfg_field *f = wg_cfg_fields[t->arch->id];
    cfg[f[WG_CFG_THCON_SEC0_REG0_TileDescriptor].word] = in | 1u << 4 | 256u << 16;
    cfg[f[WG_CFG_THCON_SEC0_REG0_TileDescriptor].word + 1] = 1 | 4u << 16;
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Out_data_format], cfg, out);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Throttle_mode], cfg, 2);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Disable_zero_compress_cntx0], cfg, 1);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Unpack_if_sel_cntx0], cfg, to_dst);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG2_Unpack_limit_address], cfg, 0x1FFFF);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG3_Base_address], cfg, 0x1000);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG5_Tile_x_dim_cntx0], cfg, 256);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG5_Dest_cntx0_address], cfg, 64);
    wg_tcfg_insert(&wg_tcfg_fields[t->arch->id][WG_TCFG_SRCA_SET_SetOvrdWithAddr], t->regs.config.thread[0], !to_dst);
    t->regs.adc.unit[0][0][1].x = 255;
}

static void set_packers(wg_tile *t, bool wide, unsigned format, unsigned out)
{
    static const uint16_t in_format[] = SECTIONS(In_data_format), out_format[] = SECTIONS(Out_data_format),
                          address[] = SECTIONS(L1_Dest_addr), plain[] = SECTIONS(Disable_zero_compress),
                          exponents[] = SECTIONS(Exp_section_size);
    static const uint16_t mask[] = {WG_CFG_PCK_EDGE_OFFSET_SEC0_mask, WG_CFG_PCK_EDGE_OFFSET_SEC1_mask,
                                    WG_CFG_PCK_EDGE_OFFSET_SEC2_mask, WG_CFG_PCK_EDGE_OFFSET_SEC3_mask};
    uint32_t *cfg = t->regs.config.bank[0];
    const wg_cfg_field *f = wg_cfg_fields[t->arch->id];
    for (unsigned i = 0; i < 4; i++) {
        wg_cfg_insert(&f[in_format[i]], cfg, format);
        wg_cfg_insert(&f[out_format[i]], cfg, out);
        wg_cfg_insert(&f[address[i]], cfg, 0x4000 + 0x100 * i);
        wg_cfg_insert(&f[plain[i]], cfg, 1);
        wg_cfg_insert(&f[exponents[i]], cfg, 4);
        wg_cfg_insert(&f[mask[i]], cfg, 0xFFFF);
    }
    unsigned size = wide ? 4 : 2;
    wg_cfg_insert(&f[WG_CFG_PCK_DEST_RD_CTRL_Read_32b_data], cfg, wide);
    wg_cfg_insert(&f[WG_CFG_ALU_FORMAT_SPEC_REG2_Dstacc], cfg, format);
    wg_cfg_insert(&f[WG_CFG_PCK0_ADDR_CTRL_XY_REG_0_Ystride], cfg, 16 * size);
    wg_cfg_insert(&f[WG_CFG_PCK0_ADDR_CTRL_ZW_REG_0_Zstride], cfg, 256 * size & 0xFFF);
    /* Address modifier 0: four rows further, on both sides. */
    wg_tcfg_insert(&wg_tcfg_fields[t->arch->id][WG_TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr], t->regs.config.thread[2],
                   t->arch->pack.interfaces ? 4 : 0);
    t->regs.adc.unit[2][2][1].x = t->arch->pack.interfaces ? 15 : 255;
}

static wg_tile *make(wg_arch_id arch)
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
    for (unsigned row = 0; row < WG_DST_ROWS; row++)
        for (unsigned column = 0; column < 16; column++)
            t->regs.dst.bits[row][column] = (uint16_t)((row * 16 + column) * 40503u);
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        t->sched.next[i] = WG_NEVER;
    wg_unpack_unit.reset(t);
    wg_pack_unit.reset(t);
    return t;
}

typedef enum what { PACKED, UNPACKED, BOTH } what;

static void tile(wg_tile *t, what w, uint64_t id)
{
    const uint32_t unpack = UINT32_C(0x42000081); /* MultiContextMode, Last */
    const uint32_t z_up = 1u << 15;               /* the next face in L1 */
    unsigned packs = t->arch->pack.interfaces ? 16 : 1, select = t->arch->pack.interfaces ? 0 : 15;
    t->regs.adc.unit[0][0][0].z = 0;
    t->regs.adc.unit[2][2][0].y = 0;
    for (unsigned i = 0; i < 16; i++) {
        if (w != PACKED && i % 4 == 0)
            unpacr(t, unpack | z_up, id + i);
        if (w != UNPACKED && i < packs)
            pacr(t, UINT32_C(0x41000000) | select << 8 | (i + 1 == packs), id + i);
        if (w != UNPACKED || i % 4 == 0)
            finish(t);
    }
}

/* Microseconds per tile: the median of several runs. */
static double measure(wg_tile *t, what w)
{
    double sample[SAMPLES];
    for (unsigned s = 0; s < SAMPLES; s++) {
        double began = now();
        for (unsigned i = 0; i < TILES; i++)
            tile(t, w, i * 16 + 1);
        sample[s] = (now() - began) / TILES * 1e6;
    }
    qsort(sample, SAMPLES, sizeof *sample, by_value);
    return sample[SAMPLES / 2];
}

int main(void)
{
    static const struct {
        const char *name;
        uint8_t l1, src, dst; /* in L1, in SrcA (or Dst), on the packers' way */
        bool to_dst, wide;
    } cases[] = {
        {"bf16", WG_FMT_BF16, WG_FMT_BF16, WG_FMT_BF16, false, false},
        {"fp32", WG_FMT_FP32, WG_FMT_FP32, WG_FMT_FP32, true, true},
        {"bfp8", WG_FMT_BFP8, WG_FMT_BFP8, WG_FMT_BF16, false, false},
        {"bfp4", WG_FMT_BFP4, WG_FMT_BFP4, WG_FMT_BF16, false, false},
        {"int8", WG_FMT_INT8, WG_FMT_INT8, WG_FMT_INT8, false, true},
    };
    static const char *const arch_name[] = {[WG_ARCH_BH] = "bh", [WG_ARCH_WH] = "wh"};
    for (unsigned a = 0; a < 2; a++) {
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
            const char *arch = arch_name[a], *name = cases[i].name;
            wg_tile *t = make((wg_arch_id)a);
            set_unpacker(t, cases[i].l1, cases[i].src, cases[i].to_dst);
            set_packers(t, cases[i].wide, cases[i].dst, cases[i].l1);
            double packed = measure(t, PACKED), unpacked = measure(t, UNPACKED), both = measure(t, BOTH);
            printf("pacr_%s_%s %.4f us\n", name, arch, packed / (t->arch->pack.interfaces ? 16 : 1));
            printf("tiles_packed_per_second_%s_%s %.0f /s\n", name, arch, 1e6 / packed);
            printf("tiles_unpacked_per_second_%s_%s %.0f /s\n", name, arch, 1e6 / unpacked);
            printf("tiles_both_ways_per_second_%s_%s %.0f /s\n", name, arch, 1e6 / both);
            free(t->l1);
            free(t);
        }
    }
    return 0;
}
