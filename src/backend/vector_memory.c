/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves between Dst and LRegs: SFPLOAD, SFPSTORE, SFPLOADI.
 *
 *      lane 8 r + i  ↔  Dst[aligned group of four rows + r][2 i + odd]
 *
 * Decided here: a load samples Dst at the end of its cycle (phase B of the next), a store writes it in its own. So a load
 * sees the write of a Matrix Unit instruction issued four cycles earlier, as required by "at least three unrelated
 * instructions" in between; one cycle less reads the old data (reported).
 *
 * Decided here: a store whose completion is delayed (perturbation) writes Dst at its end, with the Dst base of that time:
 * software that signals others, or moves the base, without waiting for the Vector Unit can rely on neither.
 *
 * Facts: SFPLOAD.md, SFPSTORE.md, SFPLOADI.md of both trees, Dst.md, ZEROACC.md.
 */
#include "backend/vector.h"

#include "backend/config.h"
#include "backend/matrix.h"
#include "machine/dst.h"
#include "machine/fast.h"

#include <string.h>

enum { DBG_FEATURE_DISABLE = 0x68 / 4 };

/* MOD0_FMT_SRCB selects one of three formats by configuration. */
static unsigned srcb_format(wg_tile *t, unsigned thread)
{
    /* FP32, TF32, BF16, BFP8, BFP4, BFP2, INT32, INT16 by data format number */
    enum { LIKE_BF16 = 1u << 0 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 15 | 1u << 8 | 1u << 9 };
    if (wg_config_get(t, thread, WG_CFG_ALU_ACC_CTRL_SFPU_Fp32_enabled))
        return WG_LANES_FP32;
    unsigned format = wg_config_get(t, thread, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_override)
                          ? wg_config_get(t, thread, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_val)
                          : wg_config_get(t, thread, WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB);
    return (unsigned)LIKE_BF16 >> format & 1 ? WG_LANES_BF16 : WG_LANES_FP16;
}

/* The thread's decoded configuration, if it may be used again; else NULL. */
static inline const wg_vector_places *known_places(const wg_tile *t, unsigned thread)
{
    const wg_vector_places *p = &t->backend.vector.places[thread];
    return p->changes == t->regs.config.changes + 1 && p->debug == t->regions.control.word[DBG_FEATURE_DISABLE] &&
                   !t->backend.config.instructions && wg_fast_decoded_unseen(t)
               ? p
               : NULL;
}

/* Can be used again while configuration does not change and no write is in flight. */
static const wg_vector_places *places_of(wg_tile *t, unsigned thread)
{
    wg_vector_places *p = &t->backend.vector.places[thread];
    if (known_places(t, thread)) {
        wg_fast_decoded_again(t);
        return p;
    }
    bool keeps = !t->backend.config.instructions && wg_fast_decoded_unseen(t);
    p->changes = keeps ? t->regs.config.changes + 1 : 0;
    p->debug = t->regions.control.word[DBG_FEATURE_DISABLE];
    if (keeps)
        p->format = (uint8_t)srcb_format(t, thread);
    if (wg_touch_watched(t))
        wg_touch_thread_config(t, WG_TOUCH_READ, thread,
                               wg_tcfg_fields[t->arch->id][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset].word, 0xFFFF);
    p->offset = wg_thread_config_get(t, thread, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset);
    p->base = wg_config_get(t, thread, WG_CFG_DEST_REGW_BASE_Base);
    p->stack_base = wg_config_get(t, thread, WG_CFG_DEST_SP_BASE_Base);
    p->stack_step = wg_thread_config_get(t, thread, WG_TCFG_SFPU_STACK_Incr);
    p->access = wg_dst_access_now(t);
    return p;
}

unsigned wg_vector_format(wg_tile *t, const wg_vector_op *op, unsigned mod0)
{
    if (mod0 != WG_LANES_SRCB)
        return mod0;
    const wg_vector_places *known = known_places(t, op->thread);
    return known ? known->format : srcb_format(t, op->thread);
}

/*
 * The Dst address: bits [9:2] choose the group of four rows, bit 1 odd columns. INT32_ALL uses the stack
 * pointer, which a store steps after and a load before; WH has no stack, and its fields read as zero.
 */
uint16_t wg_vector_dst_address(wg_tile *t, const wg_vector_op *op, unsigned imm10, unsigned mod0)
{
    const wg_vector_places *p = places_of(t, op->thread);
    wg_rwc_thread *rwc = &t->regs.rwc.thread[op->thread];
    uint32_t address = imm10 + p->offset, dst = rwc->dst + p->base;
    if (mod0 != WG_LANES_INT32_ALL)
        return (address + (dst & 0x3FF) + ((rwc->sp + p->stack_base) & 3)) & 0x3FF;
    bool store = op->insn == WG_I_SFPSTORE;
    if (!store && rwc->sp)
        rwc->sp = (rwc->sp - p->stack_step) & 0x3FF;
    address += rwc->sp + p->stack_base + (dst & 3);
    if (store)
        rwc->sp = (rwc->sp + p->stack_step) & 0x3FF;
    return address & 0x3FF;
}

/* ApplyPartialAddrMod: SrcA, SrcB and Dst counters, not the fidelity phase. */
void wg_vector_step_counters(wg_tile *t, const wg_vector_op *op)
{
    unsigned addr_mod = wg_field_at(wg_vector_traits_for(t)->addr_mod, op->word);
    wg_rwc_apply(&t->regs.rwc.thread[op->thread], t->arch->id, t->regs.config.thread[op->thread], addr_mod, false);
}

static bool is_wide(unsigned format, bool store)
{
    switch (format) {
    case WG_LANES_FP32:
    case WG_LANES_INT32:
    case WG_LANES_INT32_ALL:
    case WG_LANES_INT32_SM: return true;
    case WG_LANES_HI16:
    case WG_LANES_LO16: return store;
    default: return false;
    }
}

/* The lanes that use odd columns: all, or those that LaneConfig exchanges. */
static uint32_t odd_lanes(uint16_t address, uint32_t exchange) { return address & 2 ? ~0u : exchange; }

/* The stored row of the first of four. The others follow it under every permutation. */
static unsigned group(wg_tile *t, unsigned thread, uint16_t address, bool wide, unsigned how)
{
    const wg_vector_places *known = known_places(t, thread);
    unsigned stored = wg_dst_stored(known ? known->access : wg_dst_access_now(t), address & 0x3FCu, wide);
    wg_touch_dst(t, how, stored, 4, wide);
    return stored;
}

static unsigned blank_rows(const wg_dst *d, unsigned stored)
{
    return d->undefined[stored >> 6 & 15] >> (stored & 63) & 15;
}

/* Reports broken rules of Dst that hardware does not enforce for the Vector Unit. Returns the undefined rows. */
static unsigned check_rows(wg_tile *t, const wg_vector_op *op, unsigned stored, uint64_t sampled)
{
    unsigned blank = blank_rows(&t->regs.dst, stored);
    if (__builtin_expect(blank != 0, 0))
        wg_vector_finding(t, op, WG_F_VECTOR_UNDEFINED_ROW, stored + (unsigned)__builtin_ctz(blank));
    if (wg_dst_block_ready_at(t, stored) > sampled)
        wg_vector_finding(t, op, WG_F_VECTOR_LOAD_EARLY, stored);
    return blank;
}

/* The second half of SFPLOAD, for phase B of the next cycle: sample and convert. */
void wg_vector_load(wg_tile *t, const wg_vector_op *op, unsigned format, uint16_t address)
{
    wg_lreg *r = &t->regs.lreg;
    if (op->vd >= 8)
        return;
    wg_lanes_move m = {
        .traits = wg_vector_traits_for(t),
        .format = (uint8_t)format,
        .wide = is_wide(format, false),
        .odd = odd_lanes(address, wg_lane_config_lanes(r, WG_LANE_DEST_RD_COL_EXCHANGE)),
        .infinity = wg_lane_config_lanes(r, WG_LANE_ENABLE_FP16A_INF),
    };
    m.stored = group(t, op->thread, address, m.wide, WG_TOUCH_READ);
    m.blank = format == WG_LANES_ZERO || !op->lanes ? 0 : check_rows(t, op, m.stored, op->now + 1);
    uint32_t v[WG_LANES];
    bool straight = op->lanes == ~0u && !op->macro && !(t->backend.vector.pending_lregs >> op->vd & 1);
    wg_vector_kernels_for(t)->load(straight ? r->l[op->vd] : v, &t->regs.dst, &m, r->l[op->vd]);
    if (!straight)
        wg_vector_put(t, op, op->vd, v, op->lanes);

    uint32_t capture = wg_lane_config_lanes(r, WG_LANE_ENABLE_DEST_INDEX) &
                       wg_lane_config_lanes(r, WG_LANE_CAPTURE_DEFAULT_DEST_INDEX) & op->lanes;
    if (op->vd < 4 && capture) {
        for (unsigned lane = 0; lane < WG_LANES; lane++)
            v[lane] = ((address & 0x3FCu) + lane / 8) << 4 | ((lane & 7) * 2 + (m.odd >> lane & 1));
        wg_vector_put(t, op, op->vd + 4u, v, capture);
    }
}

/*
 * May the load sample Dst now? Yes if nothing writes Dst in between: the Matrix Unit and the unpackers, which tick before the
 * Vector Unit in phase B, have no wake-up by then.
 */
static bool dst_keeps_still(const wg_tile *t)
{
    return t->sched.next[WG_AGENT_MATRIX] > t->sched.now + 1 && t->sched.next[WG_AGENT_UNPACK0] == WG_NEVER &&
           !wg_touch_watched(t);
}

static void write_dst(wg_tile *t, const wg_lanes_move *m, const uint32_t data[WG_LANES])
{
    wg_dst *d = &t->regs.dst;
    unsigned rows = 0;
    for (unsigned row = 0; row < 4; row++)
        rows |= (unsigned)((m->lanes >> (row * 8) & 0xFF) != 0) << row;
    d->undefined[m->stored >> 6 & 15] &= ~((uint64_t)rows << (m->stored & 63));
    wg_vector_kernels_for(t)->store(d, m, data);
}

static wg_lanes_move store_move(wg_tile *t, unsigned format, uint32_t lanes, uint16_t address)
{
    return (wg_lanes_move){
        .traits = wg_vector_traits_for(t),
        .format = (uint8_t)format,
        .wide = is_wide(format, true),
        .lanes = lanes,
        .odd = odd_lanes(address, wg_lane_config_lanes(&t->regs.lreg, WG_LANE_DEST_WR_COL_EXCHANGE)),
    };
}

static uint16_t dst_base(wg_tile *t, unsigned thread)
{
    return (uint16_t)wg_thread_config_get(t, thread, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset);
}

void wg_vector_store_late(wg_tile *t)
{
    wg_vector_late *late = &t->backend.vector.late;
    late->at = 0;
    uint16_t address = (uint16_t)(late->address - late->base + dst_base(t, late->thread)) & 0x3FF;
    wg_lanes_move m = store_move(t, late->format, late->lanes, address);
    m.stored = (uint16_t)wg_dst_stored(wg_dst_access_now(t), address & 0x3FCu, m.wide);
    write_dst(t, &m, late->data);
}

/* A delayed store is performed before the unit's next access to Dst. */
static inline void settle(wg_tile *t)
{
    if (__builtin_expect(t->backend.vector.late.at != 0, 0))
        wg_vector_store_late(t);
}

/* The first half: address, counters and active lanes. */
void wg_sfpload(wg_tile *t, const wg_vector_op *op)
{
    settle(t);
    wg_lreg *r = &t->regs.lreg;
    unsigned format = wg_vector_format(t, op, op->mod);
    wg_vector_load_step *load = &t->backend.vector.load;
    uint16_t address = wg_vector_dst_address(t, op, WG_GET(SFPLOAD, dest_reg_addr, op->word), format);
    uint32_t lanes = (format == WG_LANES_INT32_ALL ? op->lanes : wg_op_lanes(t, op)) &
                     ~wg_lane_config_lanes(r, WG_LANE_BLOCK_SFPU_RD_FROM_DEST);
    wg_vector_step_counters(t, op);
    load->address = address;
    if (dst_keeps_still(t)) {
        wg_vector_op now = *op;
        now.lanes = lanes;
        wg_vector_load(t, &now, format, address);
        return;
    }
    *load = (wg_vector_load_step){
        .at = op->now + 1,
        .id = op->id,
        .word = op->word,
        .pc = op->pc,
        .insn = op->insn,
        .thread = op->thread,
        .vd = op->vd,
        .format = (uint8_t)format,
        .address = address,
        .lanes = lanes,
    };
}

/* The register that is stored: for a late reader, with the result that lands at the end of this cycle. */
static const uint32_t *stored_register(const wg_tile *t, const wg_vector_op *op, uint32_t room[WG_LANES])
{
    const wg_vector *v = &t->backend.vector;
    const uint32_t *l = t->regs.lreg.l[op->vd];
    if (!(wg_vector_pending(t) >> op->vd & 1) || !wg_vector_reads_late(t, op))
        return l;
    memcpy(room, l, WG_LANES * sizeof *room);
    for (uint64_t used = v->used; used; used &= used - 1) {
        const wg_vector_write *w = &v->write[__builtin_ctzll(used)];
        if (w->lreg == op->vd && w->land == op->now + 1)
            wg_vector_kernels_for(t)->blend(room, w->data, w->lanes);
    }
    return room;
}

void wg_sfpstore(wg_tile *t, const wg_vector_op *op)
{
    settle(t);
    wg_lreg *r = &t->regs.lreg;
    unsigned format = wg_vector_format(t, op, op->mod);
    /* Decided here: a scheduled store does not change the stack pointer; its address is the load's. */
    uint16_t address =
        op->macro ? op->address : wg_vector_dst_address(t, op, WG_GET(SFPLOAD, dest_reg_addr, op->word), format);
    uint32_t lanes = (format == WG_LANES_INT32_ALL ? op->lanes : wg_op_lanes(t, op)) &
                     ~wg_lane_config_lanes(r, WG_LANE_BLOCK_DEST_WR_FROM_SFPU);
    if (lanes) {
        uint32_t room[WG_LANES];
        const uint32_t *data = stored_register(t, op, room);
        wg_lanes_move m = store_move(t, format, lanes, address);
        m.stored = group(t, op->thread, address, m.wide, WG_TOUCH_WRITE);
        if (__builtin_expect(op->late && !op->macro, 0)) {
            wg_vector_late *late = &t->backend.vector.late;
            *late = (wg_vector_late){.at = op->late,
                                     .lanes = lanes,
                                     .address = address,
                                     .base = dst_base(t, op->thread),
                                     .thread = op->thread,
                                     .format = (uint8_t)format};
            memcpy(late->data, data, sizeof late->data);
        } else {
            write_dst(t, &m, data);
        }
    }
    if (!op->macro)
        wg_vector_step_counters(t, op);
}

void wg_sfploadi(wg_tile *t, const wg_vector_op *op)
{
    const uint32_t *old = t->regs.lreg.l[op->vd];
    uint32_t imm = WG_GET(SFPLOADI, imm16, op->word), keep = 0, value, out[WG_LANES];
    switch (op->mod) {
    case 0: value = imm << 16; break;
    case 1: value = imm >> 15 << 31 | ((imm & 0x7FFF) + (112u << 10)) << 13; break;
    case 2: value = imm; break;
    case 4: value = (uint32_t)(int16_t)imm; break;
    case 8:
        value = imm << 16;
        keep = 0xFFFF;
        break;
    case 10:
        value = imm;
        keep = 0xFFFF0000u;
        break;
    default: wg_vector_finding(t, op, WG_F_VECTOR_RESERVED_MODE, op->mod); return;
    }
    for (unsigned lane = 0; lane < WG_LANES; lane++)
        out[lane] = (old[lane] & keep) | value;
    wg_vector_put(t, op, op->vd, out, wg_op_lanes(t, op));
}
