/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between Dst and LRegs: SFPLOAD, SFPSTORE, SFPLOADI.
 *
 *      lane 8 r + i  ↔  Dst[aligned group of four rows + r][2 i + odd]
 *
 * Decided here: a load samples Dst at the end of its cycle (phase B of the next), a store writes it in its own. So a
 * load reads what a Matrix Unit instruction issued four cycles earlier writes, as "at least three
 * unrelated instructions" in between demands; and one cycle less reads the old data (reported).
 *
 * Facts: SFPLOAD.md, SFPSTORE.md, SFPLOADI.md of both trees, Dst.md, ZEROACC.md.
 */
#include "backend/vector.h"

#include "backend/config.h"
#include "backend/matrix.h"
#include "regs/dst.h"

#include <string.h>

enum {
    FMT_SRCB, FMT_FP16, FMT_BF16, FMT_FP32, FMT_INT32, FMT_INT8, FMT_UINT16, FMT_HI16, FMT_INT16, FMT_LO16,
    FMT_INT32_ALL, FMT_ZERO, FMT_INT32_SM, FMT_INT8_COMP, FMT_LO16_ONLY, FMT_HI16_ONLY
};
#define SIGN 0x80000000u

/* MOD0_FMT_SRCB stands for one of three formats by configuration. */
unsigned wg_vector_format(wg_tile *t, const wg_vector_op *op, unsigned mod0)
{
    /* FP32, TF32, BF16, BFP8, BFP4, BFP2, INT32, INT16 by data format number */
    enum { LIKE_BF16 = 1u << 0 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 15 | 1u << 8 | 1u << 9 };
    if (mod0 != FMT_SRCB)
        return mod0;
    unsigned thread = op->thread;
    if (wg_config_get(t, thread, WG_CFG_ALU_ACC_CTRL_SFPU_Fp32_enabled))
        return FMT_FP32;
    unsigned format = wg_config_get(t, thread, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_override)
                          ? wg_config_get(t, thread, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_val)
                          : wg_config_get(t, thread, WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB);
    return (unsigned)LIKE_BF16 >> format & 1 ? FMT_BF16 : FMT_FP16;
}

/*
 * The Dst address: bits [9:2] choose the group of four rows, bit 1 odd columns. INT32_ALL uses the stack
 * pointer, which a store steps after and a load before; WH has no stack, and its fields read as zero.
 */
uint16_t wg_vector_dst_address(wg_tile *t, const wg_vector_op *op, unsigned imm10, unsigned mod0)
{
    unsigned thread = op->thread;
    wg_rwc_thread *rwc = &t->regs.rwc.thread[thread];
    if (wg_touch_watched(t))
        wg_touch_thread_config(t, WG_TOUCH_READ, thread,
                               wg_tcfg_fields[t->arch->id][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset].word, 0xFFFF);
    uint32_t address = imm10 + wg_thread_config_get(t, thread, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset);
    uint32_t dst = rwc->dst + wg_config_get(t, thread, WG_CFG_DEST_REGW_BASE_Base);
    uint32_t base = wg_config_get(t, thread, WG_CFG_DEST_SP_BASE_Base);
    if (mod0 != FMT_INT32_ALL)
        return (address + (dst & 0x3FF) + ((rwc->sp + base) & 3)) & 0x3FF;
    uint32_t step = wg_thread_config_get(t, thread, WG_TCFG_SFPU_STACK_Incr);
    bool store = op->insn == WG_I_SFPSTORE;
    if (!store && rwc->sp)
        rwc->sp = (rwc->sp - step) & 0x3FF;
    address += rwc->sp + base + (dst & 3);
    if (store)
        rwc->sp = (rwc->sp + step) & 0x3FF;
    return address & 0x3FF;
}

/* ApplyPartialAddrMod: SrcA, SrcB and Dst counters, not the fidelity phase. */
void wg_vector_step_counters(wg_tile *t, const wg_vector_op *op)
{
    const wg_vector_traits *traits = wg_vector_traits_for(t);
    unsigned addr_mod = (op->word >> traits->addr_mod_shift) & (0xFFFFu >> traits->addr_mod_shift);
    wg_rwc_apply(&t->regs.rwc.thread[op->thread], t->arch->id, t->regs.config.thread[op->thread], addr_mod, false);
}

static bool is_wide(unsigned format, bool store)
{
    switch (format) {
    case FMT_FP32: case FMT_INT32: case FMT_INT32_ALL: case FMT_INT32_SM:
        return true;
    case FMT_HI16: case FMT_LO16:
        return store;
    default:
        return false;
    }
}

/* BF16 and the upper half of 32 bits: Sign, Exp(8), Man(7) is kept as Sign, Man(7), Exp(8). */
static uint32_t unshuffle16(uint32_t v) { return (v & 0x8000) | (v & 0xFF) << 7 | (v & 0x7F00) >> 8; }
static uint32_t shuffle16(uint32_t v) { return (v & 0x8000) | (v & 0x7F80) >> 7 | (v & 0x7F) << 8; }
/* FP16: Sign, Exp(5), Man(10) is kept as Sign, Man(10), Exp(5). */
static uint32_t shuffle_fp16(uint32_t v) { return (v & 0x8000) | (v & 0x7C00) >> 10 | (v & 0x3FF) << 5; }
static uint32_t unshuffle32(uint32_t v) { return unshuffle16(v >> 16) << 16 | (v & 0xFFFF); }
static uint32_t shuffle32(uint32_t v) { return shuffle16(v >> 16) << 16 | (v & 0xFFFF); }
/* Sign and magnitude to two's complement, and back (-2^31 becomes -0). */
static uint32_t complement(uint32_t v) { return v & SIGN ? 0 - (v & ~SIGN) : v; }
static uint32_t sign_magnitude(uint32_t v) { return v & SIGN ? SIGN | ((0 - v) & ~SIGN) : v; }

static uint32_t load_fp16(uint32_t v, bool infinity)
{
    uint32_t exponent = v & 31, fraction = v >> 5 & 0x3FF;
    if (infinity && exponent == 31 && fraction == 0x3FF)
        return v >> 15 << 31 | 0x7F800000;
    return v >> 15 << 31 | (exponent ? exponent + 112 : 0) << 23 | fraction << 13;
}

static uint32_t store_fp16(uint32_t v)
{
    int exponent = (int)(v >> 23 & 0xFF) - 112;
    uint32_t sign = v >> 31 << 15;
    if (exponent <= 0)
        return sign;
    if (exponent > 31)
        return sign | 0x7FFF;
    return sign | (uint32_t)exponent << 10 | (v >> 13 & 0x3FF);
}

static uint32_t flush(uint32_t v) { return v & 0x7F800000 ? v : v & SIGN; }

/* Which lanes use odd columns: all or none, or by LaneConfig those of some columns. */
static uint32_t odd_lanes(uint16_t address, uint32_t exchange) { return address & 2 ? ~0u : exchange; }

/*
 * The halves of 32 lanes in one row group. `blank` has a bit per row that is undefined: such rows read as zero
 * (ruling: ttsim; the documents leave it open).
 */
static void gather(const wg_dst *d, const unsigned stored[4], unsigned blank, uint32_t odd, uint32_t out[WG_LANES])
{
    for (unsigned row = 0; row < 4; row++) {
        uint32_t pair[8] = {0}, *to = &out[row * 8];
        if (!(blank >> row & 1))
            memcpy(pair, d->bits[stored[row]], sizeof pair);
        if (!odd)
            for (unsigned i = 0; i < 8; i++)
                to[i] = pair[i] & 0xFFFF;
        else if (odd == ~0u)
            for (unsigned i = 0; i < 8; i++)
                to[i] = pair[i] >> 16;
        else
            for (unsigned i = 0; i < 8; i++)
                to[i] = odd >> i & 1 ? pair[i] >> 16 : pair[i] & 0xFFFF;
    }
}

static void scatter(wg_dst *d, const unsigned stored[4], uint32_t odd, const uint32_t in[WG_LANES], uint32_t lanes)
{
    for (unsigned row = 0; row < 4; row++) {
        const uint32_t *from = &in[row * 8];
        uint32_t pair[8];
        memcpy(pair, d->bits[stored[row]], sizeof pair);
        if (lanes == ~0u && !odd)
            for (unsigned i = 0; i < 8; i++)
                pair[i] = (pair[i] & 0xFFFF0000u) | (from[i] & 0xFFFF);
        else if (lanes == ~0u && odd == ~0u)
            for (unsigned i = 0; i < 8; i++)
                pair[i] = (pair[i] & 0xFFFF) | from[i] << 16;
        else
            for (unsigned i = 0; i < 8; i++) {
                uint32_t shift = (odd >> i & 1) * 16, half = 0xFFFFu & (0 - (lanes >> (row * 8 + i) & 1));
                pair[i] = (pair[i] & ~(half << shift)) | (from[i] & half) << shift;
            }
        memcpy(d->bits[stored[row]], pair, sizeof pair);
    }
}

static void group(wg_tile *t, uint16_t address, bool wide, unsigned stored[4], unsigned how)
{
    wg_dst_access access = wg_dst_access_now(t);
    for (unsigned row = 0; row < 4; row++) {
        stored[row] = wg_dst_stored(access, (address & 0x3FCu) + row, wide);
        wg_touch_dst(t, how, stored[row], 1, wide);
    }
}

/* v = low or only half, high = high half of wide formats. */
static void convert_load(const wg_tile *t, const wg_vector_op *op, unsigned format, uint32_t v[WG_LANES],
                         const uint32_t high[WG_LANES])
{
    const wg_vector_traits *traits = wg_vector_traits_for(t);
    const uint32_t *old = t->regs.lreg.l[op->vd];
    uint32_t infinity = wg_lane_config_lanes(&t->regs.lreg, WG_LANE_ENABLE_FP16A_INF);
#define EACH(expression)                                                                            \
    for (unsigned lane = 0; lane < WG_LANES; lane++)                                                \
        v[lane] = (expression)
    switch (format) {
    case FMT_FP16: EACH(load_fp16(v[lane], infinity >> lane & 1)); break;
    case FMT_BF16: EACH(unshuffle16(v[lane]) << 16); break;
    case FMT_FP32: case FMT_INT32: case FMT_INT32_ALL: EACH(unshuffle32(high[lane] << 16 | v[lane])); break;
    case FMT_INT32_SM:
        EACH(unshuffle32(high[lane] << 16 | v[lane]));
        if (traits->twos_complement)
            EACH(complement(v[lane]));
        break;
    case FMT_INT8: EACH(v[lane] >> 15 << 31 | (v[lane] >> 5 & traits->int8_magnitude)); break;
    case FMT_INT8_COMP:
        EACH(v[lane] >> 15 << 31 | (v[lane] >> 5 & 0x3FF));
        if (traits->twos_complement)
            EACH(complement(v[lane]));
        break;
    case FMT_INT16: EACH(v[lane] >> 15 << 31 | (v[lane] & 0x7FFF)); break;
    case FMT_HI16: EACH(v[lane] << 16); break;
    case FMT_LO16_ONLY: EACH((old[lane] & 0xFFFF0000u) | v[lane]); break;
    case FMT_HI16_ONLY: EACH(v[lane] << 16 | (old[lane] & 0xFFFF)); break;
    case FMT_ZERO: EACH(0); break;
    default: break; /* UINT16, LO16: zero-extended */
    }
#undef EACH
}

/* Rules of Dst that the hardware does not enforce for the Vector Unit; gives the undefined rows. */
static unsigned check_rows(wg_tile *t, const wg_vector_op *op, const unsigned stored[4], uint64_t sampled)
{
    unsigned blank = 0;
    for (unsigned row = 0; row < 4; row++)
        blank |= (unsigned)wg_dst_is_undefined(&t->regs.dst, stored[row]) << row;
    if (blank)
        wg_vector_finding(t, op, WG_F_VECTOR_UNDEFINED_ROW, stored[__builtin_ctz(blank)]);
    if (wg_dst_block_ready_at(t, stored[0]) > sampled)
        wg_vector_finding(t, op, WG_F_VECTOR_LOAD_EARLY, stored[0]);
    return blank;
}

/* The second half of SFPLOAD, in phase B of the next cycle: sample and convert. */
void wg_vector_load(wg_tile *t, const wg_vector_op *op, unsigned format, uint16_t address)
{
    wg_lreg *r = &t->regs.lreg;
    const wg_dst *d = &t->regs.dst;
    uint32_t v[WG_LANES], high[WG_LANES];
    unsigned stored[4], low[4];
    bool wide = is_wide(format, false);
    if (op->vd >= 8)
        return;
    uint32_t odd = odd_lanes(address, wg_lane_config_lanes(r, WG_LANE_DEST_RD_COL_EXCHANGE));
    group(t, address, wide, stored, WG_TOUCH_READ);
    unsigned blank = format == FMT_ZERO || !op->lanes ? 0 : check_rows(t, op, stored, op->now + 1);
    if (wide) {
        for (unsigned row = 0; row < 4; row++)
            low[row] = stored[row] + WG_DST_LOW;
        gather(d, stored, blank, odd, high);
        gather(d, low, blank, odd, v);
    } else {
        gather(d, stored, blank, odd, v);
    }
    convert_load(t, op, format, v, high);
    wg_vector_put(t, op, op->vd, v, op->lanes, 1);

    uint32_t capture = wg_lane_config_lanes(r, WG_LANE_ENABLE_DEST_INDEX) &
                       wg_lane_config_lanes(r, WG_LANE_CAPTURE_DEFAULT_DEST_INDEX) & op->lanes;
    if (op->vd < 4 && capture) {
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            v[lane] = ((address & 0x3FCu) + lane / 8) << 4 | ((lane & 7) * 2 + (odd >> lane & 1));
        wg_vector_put(t, op, op->vd + 4u, v, capture, 1);
    }
}

/* The first half: address, counters and the lanes that take part. */
void wg_sfpload(wg_tile *t, const wg_vector_op *op)
{
    wg_lreg *r = &t->regs.lreg;
    unsigned format = wg_vector_format(t, op, op->mod);
    wg_vector_load_step *load = &t->backend.vector.load;
    uint16_t address = wg_vector_dst_address(t, op, op->word & 0x3FF, format);
    *load = (wg_vector_load_step){
        .at = op->now + 1, .id = op->id, .word = op->word, .pc = op->pc, .insn = op->insn, .thread = op->thread,
        .vd = op->vd, .format = (uint8_t)format, .address = address,
        .lanes = (format == FMT_INT32_ALL ? op->lanes : wg_op_lanes(t, op)) &
                 ~wg_lane_config_lanes(r, WG_LANE_BLOCK_SFPU_RD_FROM_DEST),
    };
    wg_vector_step_counters(t, op);
}

static void convert_store(const wg_tile *t, unsigned format, uint32_t v[WG_LANES])
{
    const wg_vector_traits *traits = wg_vector_traits_for(t);
    bool complement_in = traits->twos_complement && (format == FMT_INT32_SM || format == FMT_INT8_COMP);
#define EACH(expression)                                                                            \
    for (unsigned lane = 0; lane < WG_LANES; lane++)                                                \
        v[lane] = (expression)
    if (complement_in)
        EACH(sign_magnitude(v[lane]));
    switch (format) {
    case FMT_FP16: EACH(shuffle_fp16(store_fp16(v[lane]))); break;
    case FMT_BF16: EACH(shuffle16(flush(v[lane]) >> 16)); break;
    case FMT_FP32:
        if (traits->store_flushes)
            EACH(flush(v[lane]));
        EACH(shuffle32(v[lane]));
        break;
    case FMT_INT32: case FMT_INT32_ALL: case FMT_INT32_SM: EACH(shuffle32(v[lane])); break;
    case FMT_INT8: case FMT_INT8_COMP: EACH(shuffle_fp16(v[lane] >> 31 << 15 | 16u << 10 | (v[lane] & 0x3FF))); break;
    case FMT_HI16_ONLY: EACH(v[lane] >> 16); break;
    case FMT_INT16: EACH(v[lane] >> 31 << 15 | (v[lane] & 0x7FFF)); break;
    case FMT_LO16: EACH(v[lane] << 16 | v[lane] >> 16); break;
    case FMT_ZERO: EACH(0); break;
    default: break; /* UINT16, LO16_ONLY: the low half; HI16: all 32 bits */
    }
#undef EACH
}

void wg_sfpstore(wg_tile *t, const wg_vector_op *op)
{
    wg_lreg *r = &t->regs.lreg;
    wg_dst *d = &t->regs.dst;
    unsigned format = wg_vector_format(t, op, op->mod), stored[4];
    /* Decided here: a scheduled store leaves the stack pointer alone; its address is the load's. */
    uint16_t address = op->macro ? op->address : wg_vector_dst_address(t, op, op->word & 0x3FF, format);
    bool wide = is_wide(format, true);
    uint32_t lanes = (format == FMT_INT32_ALL ? op->lanes : wg_op_lanes(t, op)) &
                     ~wg_lane_config_lanes(r, WG_LANE_BLOCK_DEST_WR_FROM_SFPU);
    uint32_t v[WG_LANES], half[WG_LANES];
    if (lanes) {
        memcpy(v, r->l[op->vd], sizeof v);
        convert_store(t, format, v);
        uint32_t odd = odd_lanes(address, wg_lane_config_lanes(r, WG_LANE_DEST_WR_COL_EXCHANGE));
        group(t, address, wide, stored, WG_TOUCH_WRITE);
        if (wide) {
            for (unsigned lane = 0; lane < WG_LANES; lane++)
                half[lane] = v[lane] >> 16;
            scatter(d, stored, odd, half, lanes);
        }
        for (unsigned row = 0; row < 4; row++) {
            if (lanes >> (row * 8) & 0xFF)
                wg_dst_define(d, stored[row]);
            stored[row] += wide ? WG_DST_LOW : 0;
        }
        scatter(d, stored, odd, v, lanes);
    }
    if (!op->macro)
        wg_vector_step_counters(t, op);
}

void wg_sfploadi(wg_tile *t, const wg_vector_op *op)
{
    const uint32_t *old = t->regs.lreg.l[op->vd];
    uint32_t imm = op->word & 0xFFFF, keep = 0, value, out[WG_LANES];
    switch (op->mod) {
    case 0: value = imm << 16; break;
    case 1: value = imm >> 15 << 31 | ((imm & 0x7FFF) + (112u << 10)) << 13; break;
    case 2: value = imm; break;
    case 4: value = (uint32_t)(int16_t)imm; break;
    case 8: value = imm << 16; keep = 0xFFFF; break;
    case 10: value = imm; keep = 0xFFFF0000u; break;
    default:
        wg_vector_finding(t, op, WG_F_VECTOR_RESERVED_MODE, op->mod);
        return;
    }
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        out[lane] = (old[lane] & keep) | value;
    wg_vector_put(t, op, op->vd, out, wg_op_lanes(t, op), 1);
}
