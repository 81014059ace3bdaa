/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SFPCONFIG: LReg 11…14, LaneConfig and LoadMacroConfig, written by columns from the first row of
 * LReg 0 or from an immediate. Facts: SFPCONFIG.md.
 */
#include "backend/vector.h"

#include <string.h>

enum { IS_VALUE = 1, IS_LANE_MASK = 8 };

uint8_t wg_vector_config_columns(const wg_lreg *r) { return (uint8_t)(~r->pred.use | r->pred.flags); }

static uint32_t combine(unsigned mod, uint32_t old, uint32_t value)
{
    switch (mod & 6) {
    case 0: return value;
    case 2: return old | value;
    case 4: return old & value;
    default: return old ^ value;
    }
}

static void write_lane_config(wg_tile *t, const wg_vector_op *op, unsigned column, uint32_t value)
{
    wg_lreg *r = &t->regs.lreg;
    uint32_t old = wg_lane_config_word(r, column), new = combine(op->mod, old, value);
    if (op->mod & IS_VALUE)
        new |= old & ~0xFFFFu; /* the immediate has 16 bits: upper bits are kept, even by AND */
    for (unsigned bit = 0; bit < WG_LANE_CONFIG_BITS; bit++)
        r->lane_config[bit] = (uint8_t)((r->lane_config[bit] & ~(1u << column)) | (new >> bit & 1) << column);
    if ((old ^ new) >> WG_LANE_DISABLE_BACKDOOR_LOAD & 1)
        t->backend.vector.backdoor_at = op->now + 1;
}

static void write_constant(wg_tile *t, const wg_vector_op *op, uint8_t columns)
{
    static const uint32_t preset[4] = {0xBF800000, 0x37800000, 0xBF2CC4C7, 0xBEB08FF9};
    wg_lreg *r = &t->regs.lreg;
    uint32_t lanes = wg_lanes_of_columns(columns), out[WG_LANES];
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        out[lane] = op->mod & IS_VALUE ? preset[op->vd - 11] : r->l[0][lane & 7];
    if (op->macro)
        memcpy(wg_vector_result(t, op->vd, lanes, op->now + 1), out, sizeof out);
    else
        wg_vector_kernels_for(t)->blend(r->l[op->vd], out, lanes);
}

/* Decided here: configuration is written in SFPCONFIG's own cycle, scheduled or not ("up to 2 cycles"). */
void wg_sfpconfig(wg_tile *t, const wg_vector_op *op)
{
    wg_lreg *r = &t->regs.lreg;
    uint32_t imm16 = wg_op_imm16(op);
    uint8_t columns = wg_vector_config_columns(r) & (uint8_t)op->lanes;
    unsigned to = WG_GET(SFPCONFIG, config_dest, op->word);
    if (op->mod & IS_LANE_MASK)
        for (unsigned c = 0; c < WG_LANE_COLUMNS; c++)
            if (!(imm16 >> (c * 2) & 1))
                columns &= (uint8_t) ~(1u << c);
    if (to >= 11 && to <= 14) {
        wg_vector_op constant = *op;
        constant.vd = (uint8_t)to;
        write_constant(t, &constant, columns);
        return;
    }
    for (unsigned c = 0; c < WG_LANE_COLUMNS; c++) {
        if (!(columns >> c & 1))
            continue;
        uint32_t lreg = r->l[0][c], value = op->mod & IS_VALUE ? imm16 : lreg;
        wg_load_macro *macro = &r->macro[c];
        if (to < 4)
            macro->instruction[to] = lreg;
        else if (to < 8)
            macro->sequence[to - 4] = value;
        else if (to == 8)
            macro->misc = (uint16_t)combine(op->mod, macro->misc, value & 0xFFF);
        else if (to == 15)
            write_lane_config(t, op, c, value & 0x3FFFF);
    }
}
