/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unpackers' rig with the packers in the foreground: configuration by packer, one instruction at a time, and rows
 * of Dst from values in CPU order.
 */
#ifndef PACK_RIG_H
#define PACK_RIG_H

#include "unpack_rig.h"

#include "backend/pack.h"
#include "backend/tdma.h"
#include "num/l1_formats.h"

enum { PR_LAST = 1, PR_FLUSH = 2, PR_CONCAT = 16, PR_OVERRIDE = 128, PR_ZERO = 1 << 12, PR_STRIDED = 1 << 17 };
enum { PR_L1 = 0x4000 }; /* packer 0's output address in pr_new(); 0x1000 more for each further packer */
#define PR_PACR(select, more) (UINT32_C(0x41000000) | (uint32_t)(select) << 8 | (uint32_t)(more))
#define PR_SET(r, packer, name, value) \
    ur_set((r), \
           ((const wg_cfg_id[]){WG_CFG_THCON_SEC0_REG1_##name, WG_CFG_THCON_SEC0_REG8_##name, \
                                WG_CFG_THCON_SEC1_REG1_##name, WG_CFG_THCON_SEC1_REG8_##name})[packer], \
           (value))

static inline void pr_formats(ur *r, bool wide, unsigned middle, unsigned in, unsigned out)
{
    ur_set(r, WG_CFG_PCK_DEST_RD_CTRL_Read_32b_data, wide);
    ur_set(r, WG_CFG_ALU_FORMAT_SPEC_REG2_Dstacc, middle);
    unsigned size = (in & 3) == 0 ? 4 : (in & 3) == 1 ? 2 : 1;
    ur_set(r, WG_CFG_PCK0_ADDR_CTRL_XY_REG_0_Ystride, 16 * size);
    ur_set(r, WG_CFG_PCK0_ADDR_CTRL_ZW_REG_0_Zstride, 256 * size);
    for (unsigned i = 0; i < 4; i++) {
        PR_SET(r, i, In_data_format, in);
        PR_SET(r, i, Out_data_format, out);
    }
}

/* Whole rows of BF16 to BF16, nothing hidden, no compression; `count` datums (BH: 16 per row). */
static inline ur *pr_new(wg_arch_id arch, unsigned count)
{
    ur *r = ur_new(arch);
    pr_formats(r, false, WG_FMT_BF16, WG_FMT_BF16, WG_FMT_BF16);
    for (unsigned i = 0; i < 4; i++) {
        PR_SET(r, i, L1_Dest_addr, (PR_L1 + 0x1000 * i) / 16 - 1);
        PR_SET(r, i, Disable_zero_compress, 1);
    }
    static const wg_cfg_id mask[] = {WG_CFG_PCK_EDGE_OFFSET_SEC0_mask, WG_CFG_PCK_EDGE_OFFSET_SEC1_mask,
                                     WG_CFG_PCK_EDGE_OFFSET_SEC2_mask, WG_CFG_PCK_EDGE_OFFSET_SEC3_mask};
    static const wg_cfg_id plane[] = {
        WG_CFG_PACK_COUNTERS_SEC0_pack_reads_per_xy_plane, WG_CFG_PACK_COUNTERS_SEC1_pack_reads_per_xy_plane,
        WG_CFG_PACK_COUNTERS_SEC2_pack_reads_per_xy_plane, WG_CFG_PACK_COUNTERS_SEC3_pack_reads_per_xy_plane};
    for (unsigned i = 0; i < 4; i++) {
        ur_set(r, mask[i], 0xFFFF);
        ur_set(r, plane[i], 16);
    }
    for (unsigned thread = 0; thread < 3; thread++)
        r->t->regs.adc.unit[thread][2][1].x = count - 1;
    return r;
}

static inline void pr_bf16(ur *r, unsigned row, unsigned column, uint16_t value)
{
    r->t->regs.dst.bits[row][column] = wg_dst16_from_bf16(value);
}
/* Every datum of Dst different and normal: row in the mantissa and exponent, column in the sign and mantissa. */
static inline uint16_t pr_mark(unsigned row, unsigned column)
{
    return (uint16_t)((column & 8) << 12 | (0x3C00 + (row << 3)) | (column & 7));
}
static inline void pr_mark_dst(ur *r)
{
    for (unsigned row = 0; row < 1024; row++)
        for (unsigned column = 0; column < 16; column++)
            pr_bf16(r, row, column, pr_mark(row, column));
}

/* Executes one instruction on the unit alone, to its completion. */
static inline void pr_do(ur *r, unsigned thread, uint32_t word)
{
    wg_schedule *s = &r->t->sched;
    const wg_isa_insn *isa = wg_isa_decode(r->t->arch->id, word);
    wg_insn insn = {.word = word, .id = 1, .thread = (uint8_t)thread, .unit = isa->unit, .op = (uint16_t)isa->id};
    wg_stall why;
    s->phase = WG_PHASE_GATES;
    while (!wg_pack_unit.check(r->t, &insn, &why))
        s->now++;
    wg_pack_unit.accept(r->t, &insn);
    s->phase = WG_PHASE_COMPLETIONS;
    for (unsigned i = 0; i < 200000 && wg_pack_unit.busy(r->t, thread); i++) {
        s->now++;
        wg_pack_unit.tick(r->t);
    }
    assert_false(wg_pack_unit.busy(r->t, thread));
}

static inline uint16_t pr_l1_16(const ur *r, uint32_t address)
{
    return (uint16_t)(r->t->l1[address] | r->t->l1[address + 1] << 8);
}
static inline uint32_t pr_l1_32(const ur *r, uint32_t address)
{
    return pr_l1_16(r, address) | (uint32_t)pr_l1_16(r, address + 2) << 16;
}

#endif
