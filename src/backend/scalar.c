/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar Unit (ThCon): arithmetic on the issuing thread's GPRs, and moves between GPRs and configuration,
 * address counters, packer state; its memory instructions are in scalar_memory.c.
 *
 *      accepted        c                          cycles until complete
 *      DMANOP, SETDMAREG                          1
 *      REG2FLOP, FLUSHDMA                         2 or more
 *      ADD, SUB, MUL, BITWOP, SHIFT, CMPDMAREG    3, or 4 if the two registers are in different groups of four
 *      memory instructions                        3 or more; results arrive later
 *
 * One instruction at a time, no pipelining; while it executes, its thread issues nothing.
 *
 * Facts: ScalarUnit.md, SETDMAREG_*.md, *DMAREG.md, REG2FLOP_*.md, FLUSHDMA.md, DMANOP.md; GATE-10, GATE-21.
 */
#include "backend/scalar_internal.h"

#include <string.h>

#include "backend/insn_finding.h"
#include "backend/config.h"

enum { BH = 1 << WG_ARCH_BH, WH = 1 << WG_ARCH_WH };

/* ---- GPRs ------------------------------------------------------------------------------------------- */

/* The register's value; of its halves, the instruction uses `halves` from `first` on. */
static uint32_t operand(wg_tile *t, const wg_insn *insn, unsigned reg, unsigned first, unsigned halves)
{
    const wg_gpr *g = &t->regs.gpr;
    if (g->pending[insn->thread] >> reg & 1)
        wg_findf(t, WG_F_GPR_NOT_WRITTEN, wg_insn_finding(insn, reg, g->r[insn->thread][reg]),
                 "GPR %u was read as 0x%x", reg, g->r[insn->thread][reg]);
    wg_touch(t, WG_TOUCH_READ, WG_TOUCH_GPR, 2 * (insn->thread * WG_GPRS + reg) + first, halves);
    return g->r[insn->thread][reg];
}

uint32_t wg_gpr_operand(wg_tile *t, const wg_insn *insn, unsigned reg)
{
    return operand(t, insn, reg & (WG_GPRS - 1), 0, 2);
}

uint32_t wg_gpr_half_operand(wg_tile *t, const wg_insn *insn, unsigned half)
{
    return operand(t, insn, half >> 1 & (WG_GPRS - 1), half & 1, 1) >> (half & 1 ? 16 : 0) & 0xFFFF;
}

void wg_scalar_deliver(wg_tile *t, unsigned thread, unsigned reg, uint32_t value)
{
    t->regs.gpr.r[thread][reg & (WG_GPRS - 1)] = value;
    wg_gpr_take_port(&t->regs.gpr, t->sched.now - 1);
}

void wg_scalar_write(wg_tile *t, unsigned thread, unsigned reg, uint32_t value)
{
    wg_scalar_deliver(t, thread, reg, value);
    wg_touch_gpr(t, WG_TOUCH_WRITE, thread, reg & (WG_GPRS - 1), 1);
}

/* A register is about to be written that a result in flight will overwrite later: the order is not guaranteed. */
static void check_result(wg_tile *t, const wg_insn *insn, unsigned reg)
{
    reg &= WG_GPRS - 1;
    if (t->regs.gpr.pending[insn->thread] >> reg & 1)
        wg_findf(t, WG_F_GPR_NOT_WRITTEN, wg_insn_finding(insn, reg, t->regs.gpr.r[insn->thread][reg]),
                 "GPR %u is written, and an older result is still to come", reg);
}

/* GPRs of the thread that results of memory instructions in flight will overwrite. */
static uint64_t under_way(const wg_tile *t, unsigned thread)
{
    uint64_t pending = 0;
    const wg_scalar *u = &t->backend.scalar;
    for (unsigned i = 0; i < u->count; i++) {
        const wg_scalar_request *r = &u->request[i];
        bool result = r->kind == WG_SCALAR_LOAD || r->kind == WG_SCALAR_LOAD_MMIO || r->kind == WG_SCALAR_INCREMENT;
        if (result && r->insn.thread == thread)
            pending |= (r->bytes == 16 ? UINT64_C(15) : UINT64_C(1)) << r->reg;
    }
    return pending;
}

void wg_scalar_check_result(wg_tile *t, const wg_insn *insn, unsigned reg)
{
    if (under_way(t, insn->thread) >> (reg & (WG_GPRS - 1)) & 1)
        check_result(t, insn, reg);
}

/* The GPRs that a load or ATINCGET which has not sent its request yet will overwrite. */
static uint64_t will_load(const wg_tile *t, unsigned thread)
{
    const wg_scalar *u = &t->backend.scalar;
    uint32_t word = u->insn.word;
    if (!u->executing || u->insn.thread != thread)
        return 0;
    switch (u->insn.op) {
    case WG_I_LOADIND:
        return WG_GET(LOADIND, SizeSel, word) ? UINT64_C(1) << WG_GET(LOADIND, DataRegIndex, word)
                                              : UINT64_C(15) << (WG_GET(LOADIND, DataRegIndex, word) & 60);
    case WG_I_ATINCGET: return UINT64_C(1) << WG_GET(ATINCGET, DataRegIndex, word);
    case WG_I_LOADREG: return UINT64_C(1) << WG_GET(LOADREG, TdmaDataRegIndex, word);
    default: return 0;
    }
}

bool wg_scalar_loads_gpr(const wg_tile *t, unsigned thread, unsigned reg)
{
    return (under_way(t, thread) | will_load(t, thread)) >> (reg & (WG_GPRS - 1)) & 1;
}

void wg_gpr_settle(wg_tile *t, unsigned thread)
{
    uint64_t pending = under_way(t, thread);
    for (unsigned stage = WG_CONFIG_STAGE_0; stage < WG_CONFIG_STAGES; stage++) {
        const wg_config_op *op = &t->backend.config.stage[stage];
        if (op->kind == WG_CONFIG_RDCFG && op->insn.thread == thread)
            pending |= UINT64_C(1) << WG_GET(RDCFG, GprAddress, op->insn.word);
    }
    t->regs.gpr.pending[thread] = pending;
}

/* ---- DMANOP, SETDMAREG ------------------------------------------------------------------------------ */

static unsigned start_nop(wg_tile *t, const wg_insn *insn)
{
    (void)t, (void)insn;
    return 1;
}

static bool step_done(wg_tile *t, wg_scalar *u)
{
    (void)t, (void)u;
    return true;
}

static wg_packer_sideband *packer_of(wg_tile *t, unsigned i) { return &t->backend.tdma.packer[i & 3]; }

static uint16_t last_tile_size(wg_tile *t, unsigned packer, unsigned thread)
{
    const wg_packer_sideband *p = packer_of(t, packer);
    return p->last_thread == thread ? p->last_tile_size : 0;
}

/* The 128 bits of a tile header: size, format and compression flag, zero flags; the rest is reserved. */
static void tile_header(wg_tile *t, unsigned i, unsigned thread, uint32_t value[4])
{
    static const uint16_t format[4] = {WG_CFG_THCON_SEC0_REG1_Out_data_format, WG_CFG_THCON_SEC0_REG8_Out_data_format,
                                       WG_CFG_THCON_SEC1_REG1_Out_data_format, WG_CFG_THCON_SEC1_REG8_Out_data_format};
    static const uint16_t disable[4] = {
        WG_CFG_THCON_SEC0_REG1_Disable_zero_compress, WG_CFG_THCON_SEC0_REG8_Disable_zero_compress,
        WG_CFG_THCON_SEC1_REG1_Disable_zero_compress, WG_CFG_THCON_SEC1_REG8_Disable_zero_compress};
    bool all = wg_config_get(t, thread, WG_CFG_THCON_SEC0_REG1_All_pack_disable_zero_compress_ovrd) != 0;
    uint32_t off = all ? wg_config_get(t, thread, WG_CFG_THCON_SEC0_REG1_All_pack_disable_zero_compress) >> i & 1
                       : wg_config_get(t, thread, (wg_cfg_id)disable[i]);
    value[0] = (uint16_t)(last_tile_size(t, i, thread) + 1);
    value[1] = wg_config_get(t, thread, (wg_cfg_id)format[i]) << 16 | off << 20;
    value[2] = packer_of(t, i)->all_zero_flags;
}

enum { HEADER_RESERVED_0 = 0xFFFF, HEADER_FIELDS_1 = 0xFF0000 }; /* reserved halves of words 0 and 1 */

static unsigned start_setdmareg(wg_tile *t, const wg_insn *insn)
{
    wg_scalar *u = &t->backend.scalar;
    memset(u->operand, 0, sizeof u->operand);
    unsigned source = WG_GET(SETDMAREG, InputSource, insn->word), which = WG_GET(SETDMAREG, WhichPackers, insn->word);
    unsigned reg = WG_GET(SETDMAREG, RegIndex16b, insn->word) / 2;
    bool wide = WG_GET(SETDMAREG, Payload_SigSelSize, insn->word) >= 2;
    if (!WG_GET(SETDMAREG, SetSignalsMode, insn->word)) {
        u->operand[0] = WG_GET(SETDMAREG, Immediate, insn->word);
        check_result(t, insn, reg);
        return 1;
    }
    for (unsigned i = 0; i < (wide ? 4u : 1u); i++)
        check_result(t, insn, (wide ? reg & ~3u : reg) + i);
    switch (source) {
    case 0:
        for (unsigned i = 0; i < 4; i++)
            u->operand[i] =
                (uint32_t)packer_of(t, i)->acc_tile_size[insn->thread] << 16 | last_tile_size(t, i, insn->thread);
        break;
    case 1:
        for (unsigned i = 0; i < 4; i++)
            u->operand[i] = packer_of(t, i)->all_zero_flags;
        break;
    case 2:
    case 3:
    case 4:
    case 5: tile_header(t, source - 2, insn->thread, u->operand); break;
    case 6:
    case 7: memcpy(u->operand, &t->regs.exphist.bins[which & 3][(source - 6) * 16], 16); break;
    case 8:
        for (unsigned i = 0; i < 4; i++)
            u->operand[0] |= (packer_of(t, i)->all_zero_flags & 1) << i;
        break;
    case 9: u->operand[0] = wg_exphist_max(&t->regs.exphist, 0); break;
    default: break; /* zeros: SETDMAREG_Special.md, "can also be used to set four consecutive GPRs to zero" */
    }
    return 1;
}

static void write_half(wg_tile *t, unsigned thread, unsigned half, uint32_t value)
{
    uint32_t old = t->regs.gpr.r[thread][half >> 1 & 0x3F];
    uint32_t merged = half & 1 ? (old & 0xFFFF) | value << 16 : (old & 0xFFFF0000) | (value & 0xFFFF);
    wg_scalar_deliver(t, thread, half >> 1, merged);
    wg_touch(t, WG_TOUCH_WRITE, WG_TOUCH_GPR, thread * 2 * WG_GPRS + (half & 0x7F), 1);
}

static bool step_setdmareg(wg_tile *t, wg_scalar *u)
{
    uint32_t word = u->insn.word, *v = u->operand;
    unsigned thread = u->insn.thread, half = WG_GET(SETDMAREG, RegIndex16b, word), first = half >> 1 & 0x3C;
    if (!WG_GET(SETDMAREG, SetSignalsMode, word)) {
        write_half(t, thread, half, v[0]);
        return true;
    }
    unsigned input = WG_GET(SETDMAREG, InputHalfReg, word);
    if (WG_GET(SETDMAREG, InputSource, word) == 8)
        for (unsigned i = 0; i < 4; i++)
            if (WG_GET(SETDMAREG, WhichPackers, word) >> i & 1)
                memset(packer_of(t, i)->acc_tile_size, 0, sizeof packer_of(t, i)->acc_tile_size);
    switch (WG_GET(SETDMAREG, Payload_SigSelSize, word)) {
    case 0: write_half(t, thread, half, v[input >> 1] >> (input & 1 ? 16 : 0)); break;
    case 1: wg_scalar_write(t, thread, half >> 1, v[input >> 1]); break;
    case 2:
        for (unsigned i = 0; i < 4; i++)
            wg_scalar_write(t, thread, first + i, v[i]);
        break;
    default: {
        const uint32_t *old = &t->regs.gpr.r[thread][first];
        uint32_t size = (old[0] & ~(uint32_t)HEADER_RESERVED_0) | (v[0] & HEADER_RESERVED_0);
        uint32_t format = (old[1] & ~(uint32_t)HEADER_FIELDS_1) | (v[1] & HEADER_FIELDS_1);
        wg_scalar_write(t, thread, first, size);
        wg_scalar_write(t, thread, first + 1, format);
        wg_scalar_write(t, thread, first + 2, v[2]);
        break;
    }
    }
    return true;
}

/* ---- Arithmetic ------------------------------------------------------------------------------------- */

/* All of them have their operands in the same positions. */
static bool constant(uint32_t word) { return WG_GET(ADDDMAREG, OpBisConst, word); }
static unsigned result_reg(uint32_t word) { return WG_GET(ADDDMAREG, ResultRegIndex, word); }
static unsigned mode(uint32_t word) { return WG_GET(CMPDMAREG, OpSel, word); }

/*
 * Decided here: a result that an RDCFG writes in this very cycle is visible. RDCFG.md warns against its use in the
 * instruction after an RDCFG (and so does the finding), but Blackhole's public matrix product kernels add to RDCFG's result
 * there.
 */
static uint32_t alu_operand(wg_tile *t, const wg_insn *insn, unsigned reg)
{
    uint32_t value = wg_gpr_operand(t, insn, reg);
    wg_config_result(t, insn->thread, reg, &value);
    return value;
}

/* Two registers of one aligned group of four are read in one cycle, others in two. */
static unsigned start_alu(wg_tile *t, const wg_insn *insn)
{
    wg_scalar *u = &t->backend.scalar;
    unsigned left = WG_GET(ADDDMAREG, OpARegIndex, insn->word), right = WG_GET(ADDDMAREG, OpBRegIndex, insn->word);
    u->operand[0] = alu_operand(t, insn, left);
    u->operand[1] = constant(insn->word) ? right : alu_operand(t, insn, right);
    check_result(t, insn, result_reg(insn->word));
    unsigned groups_differ = !constant(insn->word) && left >> 2 != right >> 2;
    return t->timing->scalar_alu + groups_differ;
}

static bool finish_alu(wg_tile *t, const wg_scalar *u, bool defined, uint32_t result)
{
    if (defined)
        wg_scalar_write(t, u->insn.thread, result_reg(u->insn.word), result);
    else
        wg_findf(t, WG_F_SCALAR_MODE, wg_insn_finding(&u->insn, mode(u->insn.word), 0), "mode %u", mode(u->insn.word));
    return true;
}

static bool step_add(wg_tile *t, wg_scalar *u) { return finish_alu(t, u, true, u->operand[0] + u->operand[1]); }
static bool step_sub(wg_tile *t, wg_scalar *u) { return finish_alu(t, u, true, u->operand[0] - u->operand[1]); }
static bool step_mul(wg_tile *t, wg_scalar *u)
{
    return finish_alu(t, u, true, (u->operand[0] & 0xFFFF) * (u->operand[1] & 0xFFFF));
}

static bool step_bitwop(wg_tile *t, wg_scalar *u)
{
    uint32_t a = u->operand[0], b = u->operand[1];
    switch (mode(u->insn.word)) {
    case 0: return finish_alu(t, u, true, a & b);
    case 1: return finish_alu(t, u, true, a | b);
    case 2: return finish_alu(t, u, true, a ^ b);
    default: return finish_alu(t, u, false, 0);
    }
}

static bool step_shift(wg_tile *t, wg_scalar *u)
{
    unsigned amount = u->operand[1] & 31;
    switch (mode(u->insn.word)) {
    case 0: return finish_alu(t, u, true, u->operand[0] << amount);
    case 1: return finish_alu(t, u, true, u->operand[0] >> amount);
    default: return finish_alu(t, u, false, 0);
    }
}

static bool step_cmp(wg_tile *t, wg_scalar *u)
{
    uint32_t a = u->operand[0], b = u->operand[1];
    switch (mode(u->insn.word)) {
    case 0: return finish_alu(t, u, true, a > b);
    case 1: return finish_alu(t, u, true, a < b);
    case 2: return finish_alu(t, u, true, a == b);
    default: return finish_alu(t, u, false, 0);
    }
}

/* ---- REG2FLOP --------------------------------------------------------------------------------------- */

/*
 * Decided here: BH has no page, and its list of configuration writers omits REG2FLOP; the WH page applies.
 * Target 0 is THCON configuration, 2 and 3 are address counters, 1 is not defined.
 */
static unsigned start_reg2flop(wg_tile *t, const wg_insn *insn)
{
    wg_scalar *u = &t->backend.scalar;
    bool wide = WG_GET(REG2FLOP, TargetSel, insn->word) == 0 && WG_GET(REG2FLOP, SizeSel, insn->word) == 0;
    unsigned reg = WG_GET(REG2FLOP, RegIndex, insn->word) & (wide ? ~3u : ~0u);
    for (unsigned i = 0; i < (wide ? 4 : 1); i++)
        u->operand[i] = wg_gpr_operand(t, insn, reg + i);
    return 2;
}

static void reg2flop_config(wg_tile *t, wg_scalar *u)
{
    unsigned base = wg_config_thcon_base(t), index = WG_GET(REG2FLOP, FlopIndex, u->insn.word);
    bool wide = WG_GET(REG2FLOP, SizeSel, u->insn.word) == 0;
    if (index >= t->arch->config_global_from - base) {
        wg_findf(t, WG_F_SCALAR_THCON_INDEX, wg_insn_finding(&u->insn, index, 0), "index %u of %u", index,
                 t->arch->config_global_from - base);
        return;
    }
    unsigned bank = wg_config_bank(t, u->insn.thread);
    for (unsigned i = 0; i < (wide ? 4 : 1); i++)
        wg_touch_config(t, WG_TOUCH_WRITE, bank, base + (wide ? index & ~3u : index) + i, UINT32_MAX);
    wg_config_scalar_write(t, bank, base + (wide ? index & ~3u : index), u->operand, wide ? 4 : 1);
}

/* Sizes: 32, 16 or 8 bits from the byte that the shift selects; bytes beyond the register are 0. */
static uint32_t reg2flop_value(uint32_t word, uint32_t value)
{
    unsigned shift = WG_GET(REG2FLOP, ByteOffset, word);
    switch (WG_GET(REG2FLOP, SizeSel, word)) {
    case 1: return shift ? 0 : value;
    case 2: return shift == 0 ? value & 0xFFFF : shift == 2 ? value >> 16 : 0;
    case 3: return value >> shift * 8 & 0xFF;
    default: return 0;
    }
}

static void reg2flop_adc(wg_tile *t, wg_scalar *u)
{
    uint32_t word = u->insn.word;
    unsigned thread = WG_GET(REG2FLOP, ThreadOverride, word) ? WG_GET(REG2FLOP, ContextId_2, word) : u->insn.thread;
    unsigned adc = WG_GET(REG2FLOP, ADCSel, word), channel = WG_GET(REG2FLOP, Channel, word);
    unsigned dimension = WG_GET(REG2FLOP, XYZW, word);
    if (thread >= WG_THREADS || adc >= 3)
        return; /* REG2FLOP_ADC.md: has no effect */
    wg_touch_adc(t, WG_TOUCH_WRITE, thread, adc, channel, dimension, 1);
    wg_adc_put(&t->regs.adc.unit[thread][adc][channel], dimension, WG_GET(REG2FLOP, SetCr, word),
               reg2flop_value(word, u->operand[0]));
}

static bool step_reg2flop(wg_tile *t, wg_scalar *u)
{
    /* Both targets stall while the Configuration Unit writes THCON configuration ("not a typo", says the page). */
    if (wg_config_thcon_contended(t)) {
        u->until = t->sched.now + 1;
        return false;
    }
    switch (WG_GET(REG2FLOP, TargetSel, u->insn.word)) {
    case 0: reg2flop_config(t, u); break;
    case 1: wg_findf(t, WG_F_SCALAR_MODE, wg_insn_finding(&u->insn, 1, 0), "target 1"); break;
    default: reg2flop_adc(t, u); break;
    }
    return true;
}

/* ---- FLUSHDMA --------------------------------------------------------------------------------------- */

static unsigned start_flushdma(wg_tile *t, const wg_insn *insn)
{
    (void)t, (void)insn;
    return 2;
}

static bool part_busy(const wg_tile *t, unsigned unit, unsigned part)
{
    const wg_unit_ops *ops = wg_units[unit];
    unsigned thread = t->backend.scalar.insn.thread;
    return ops->part_busy ? ops->part_busy(t, thread, part) : ops->busy(t, thread);
}

static bool step_flushdma(wg_tile *t, wg_scalar *u)
{
    static const struct {
        uint8_t unit, part;
    } conditions[4] = {{WG_UNIT_SCALAR, 0}, {WG_UNIT_UNPACK, 0}, {WG_UNIT_UNPACK, 1}, {WG_UNIT_PACK, 0}};
    unsigned spec = WG_GET(FLUSHDMA, FlushSpec, u->insn.word), mask = spec ? spec : 15;
    for (unsigned i = 0; i < 4; i++) {
        if (mask >> i & 1 && part_busy(t, conditions[i].unit, conditions[i].part))
            return wg_scalar_wait(t, i ? WG_STALL_UNIT_BUSY : WG_STALL_MEMORY, conditions[i].unit,
                                  wg_units[conditions[i].unit]->agent + conditions[i].part);
    }
    return true;
}

/* ---- The unit --------------------------------------------------------------------------------------- */

static const wg_scalar_handler handlers[WG_I_COUNT] = {
    [WG_I_DMANOP] = {start_nop, step_done, BH | WH},
    [WG_I_SETDMAREG] = {start_setdmareg, step_setdmareg, BH | WH},
    [WG_I_ADDDMAREG] = {start_alu, step_add, BH | WH},
    [WG_I_SUBDMAREG] = {start_alu, step_sub, BH | WH},
    [WG_I_MULDMAREG] = {start_alu, step_mul, BH | WH},
    [WG_I_BITWOPDMAREG] = {start_alu, step_bitwop, BH | WH},
    [WG_I_SHIFTDMAREG] = {start_alu, step_shift, BH | WH},
    [WG_I_CMPDMAREG] = {start_alu, step_cmp, BH | WH},
    [WG_I_REG2FLOP] = {start_reg2flop, step_reg2flop, BH | WH},
    [WG_I_FLUSHDMA] = {start_flushdma, step_flushdma, BH | WH},
    [WG_I_LOADIND] = {wg_scalar_start_indirect, wg_scalar_step_loadind, BH | WH},
    [WG_I_STOREIND] = {wg_scalar_start_indirect, wg_scalar_step_storeind, BH | WH},
    [WG_I_LOADREG] = {wg_scalar_start_direct, wg_scalar_step_direct, BH | WH},
    [WG_I_STOREREG] = {wg_scalar_start_direct, wg_scalar_step_direct, BH | WH},
    [WG_I_ATINCGET] = {wg_scalar_start_atomic, wg_scalar_step_atincget, BH | WH},
    [WG_I_ATSWAP] = {wg_scalar_start_atomic, wg_scalar_step_atswap, BH | WH},
    [WG_I_ATCAS] = {wg_scalar_start_atomic, wg_scalar_step_conditional, BH | WH},
    [WG_I_ATINCGETPTR] = {wg_scalar_start_atomic, wg_scalar_step_conditional, BH | WH},
};

bool wg_scalar_implements(wg_insn_id id, wg_arch_id arch)
{
    return id < WG_I_COUNT && handlers[id].start && handlers[id].archs >> arch & 1;
}

static void end_stall(wg_tile *t, wg_scalar *u)
{
    if (u->stall.reason != WG_STALL_NONE)
        WG_EMIT_INSN(t, WG_EV_STALL_END, WG_AGENT_SCALAR, &u->insn, .a = u->stalled_at, .stall = u->stall);
    u->stall = (wg_stall){0};
}

static void fill_executing(const wg_tile *t, wg_stall_reason reason, wg_stall *why)
{
    const wg_scalar *u = &t->backend.scalar;
    *why = (wg_stall){.reason = (uint16_t)reason,
                      .resource = WG_UNIT_SCALAR,
                      .holder = (uint8_t)(WG_AGENT_THREAD0 + u->insn.thread),
                      .retry_at = u->waiting || u->until == WG_NEVER ? WG_NEVER : u->until};
}

bool wg_scalar_wait(wg_tile *t, wg_stall_reason reason, unsigned resource, unsigned holder)
{
    wg_scalar *u = &t->backend.scalar;
    u->waiting = true;
    u->until = WG_NEVER;
    wg_watch_units(&t->sched);
    if (u->stall.reason != reason || u->stall.resource != resource) {
        end_stall(t, u);
        u->stall = (wg_stall){.reason = (uint16_t)reason,
                              .resource = (uint16_t)resource,
                              .holder = (uint8_t)holder,
                              .retry_at = WG_NEVER};
        u->stalled_at = t->sched.now;
        WG_EMIT_INSN(t, WG_EV_STALL_BEGIN, WG_AGENT_SCALAR, &u->insn, .stall = u->stall);
    }
    return false;
}

static bool scalar_check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    const wg_scalar *u = &t->backend.scalar;
    if (u->executing) {
        fill_executing(t, WG_STALL_UNIT_BUSY, why);
        return false;
    }
    wg_insn_id id = insn->op;
    if (u->held && id != WG_I_DMANOP && id != WG_I_SETDMAREG) {
        *why = (wg_stall){
            .reason = WG_STALL_UNIT_BUSY, .resource = WG_UNIT_SCALAR, .holder = WG_AGENT_NONE, .retry_at = WG_NEVER};
        return false;
    }
    return true;
}

static void scalar_accept(wg_tile *t, const wg_insn *insn)
{
    wg_scalar *u = &t->backend.scalar;
    u->insn = *insn;
    u->executing = true;
    u->asking = u->answered = u->waiting = false;
    u->refusals = 0;
    u->since = t->sched.now;
    u->until = t->sched.now + wg_takes(t, WG_AGENT_SCALAR, insn, handlers[insn->op].start(t, insn), 1);
    wg_wake_at(&t->sched, WG_AGENT_SCALAR, u->until);
}

static void scalar_tick(wg_tile *t)
{
    wg_scalar *u = &t->backend.scalar;
    if (u->count)
        wg_scalar_serve_requests(t);
    if (u->waiting && t->sched.look_at <= t->sched.now) {
        t->sched.look_at = WG_NEVER;
        u->until = t->sched.now;
    }
    if (u->executing && u->until <= t->sched.now) {
        u->waiting = false;
        wg_touch_by(t, WG_AGENT_SCALAR, &u->insn);
        if (handlers[u->insn.op].step(t, u)) {
            end_stall(t, u);
            u->executing = false;
            wg_unit_completed(t, WG_AGENT_SCALAR, &u->insn);
        }
    }
    uint64_t next = u->count ? wg_scalar_next_request(t) : WG_NEVER;
    if (u->executing && u->until < next)
        next = u->until;
    wg_wake_at(&t->sched, WG_AGENT_SCALAR, next);
}

const wg_insn *wg_scalar_gpr_writer(const wg_tile *t, unsigned thread)
{
    const wg_scalar *u = &t->backend.scalar;
    if (!u->executing || u->insn.thread != thread)
        return NULL;
    switch (u->insn.op) {
    case WG_I_SETDMAREG:
    case WG_I_ADDDMAREG:
    case WG_I_SUBDMAREG:
    case WG_I_MULDMAREG:
    case WG_I_BITWOPDMAREG:
    case WG_I_SHIFTDMAREG:
    case WG_I_CMPDMAREG: return &u->insn;
    default: return NULL;
    }
}

bool wg_scalar_retrying(const wg_tile *t)
{
    const wg_scalar *u = &t->backend.scalar;
    return u->executing && u->refusals != 0;
}

bool wg_scalar_memory_outstanding(const wg_tile *t, unsigned thread)
{
    return t->backend.scalar.outstanding[thread] != 0;
}

static bool scalar_part_busy(const wg_tile *t, unsigned thread, unsigned part)
{
    (void)part;
    return wg_scalar_memory_outstanding(t, thread);
}

static bool scalar_busy(const wg_tile *t, unsigned thread)
{
    const wg_scalar *u = &t->backend.scalar;
    return (u->executing && u->insn.thread == thread) || u->outstanding[thread];
}

static bool scalar_holds(const wg_tile *t, unsigned thread, wg_stall *why)
{
    const wg_scalar *u = &t->backend.scalar;
    if (!u->executing || u->insn.thread != thread)
        return false;
    fill_executing(t, WG_STALL_SCALAR_EXECUTING, why);
    return true;
}

void wg_scalar_soft_reset(wg_tile *t, bool held)
{
    wg_scalar *u = &t->backend.scalar;
    if (held && !u->held && u->executing && u->until > u->since + 1) {
        end_stall(t, u);
        u->executing = u->waiting = false;
        wg_unit_completed(t, WG_AGENT_SCALAR, &u->insn);
    }
    u->held = held;
    wg_wake_threads(&t->sched);
}

static void scalar_reset(wg_tile *t)
{
    t->backend.scalar = (wg_scalar){0};
    t->regs.gpr = (wg_gpr){0};
}

const wg_unit_ops wg_scalar_unit = {
    .name = "Scalar Unit",
    .agent = WG_AGENT_SCALAR,
    .reset = scalar_reset,
    .check = scalar_check,
    .accept = scalar_accept,
    .tick = scalar_tick,
    .busy = scalar_busy,
    .holds = scalar_holds,
    .part_busy = scalar_part_busy,
};
