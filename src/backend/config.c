/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration Unit: the only writer of backend configuration (except REG2FLOP).
 *
 *                 -4        -3        -2     -1            0                     +1
 *   STREAMWRCFG   prepare   ask       wait   wait          write
 *   WRCFG                                    read GPR      write
 *   CFGSHIFTMASK                             (kept empty)  read, then write
 *   RMWCIB                                                 read and write
 *   RDCFG                                                  read                  write GPR
 *   RISC-V, Mover                                          read or write
 *
 * Each stage holds one operation; all move one stage per cycle, unless RDCFG waits for the GPR write port. An operation in
 * stage 0 during cycle c is visible from c + 1 on: it is applied in phase B of c + 1. SETC16 bypasses the pipeline, one per
 * thread and cycle, also with a latency of one.
 *
 * Decided here: the phases arbitrate within a cycle: operations already in the pipeline (B), then the Mover (B), then a
 * RISC-V request (C), then instructions (E) in the gates' order.
 *
 * Facts: ConfigurationUnit.md and BackendConfiguration.md of both architectures, SETC16.md, WRCFG.md, RMWCIB.md,
 * RDCFG.md, CFGSHIFTMASK.md, STREAMWRCFG.md; GATE-19, GATE-21.
 */
#include "backend/config.h"
#include "backend/matrix.h"

#include <string.h>

#include "arch/unit_times.h"
#include "backend/insn_finding.h"
#include "backend/pack.h"
#include "backend/scalar.h"
#include "machine/overlay.h"

/* The stage table: where each kind enters, the last stage it uses, and its cycles in stage 0. */
static const struct stage_row {
    uint8_t enters, leaves, cycles_in_0;
    bool keeps_m1_empty; /* in its first cycle */
} stage_table[WG_CONFIG_KINDS] = {
    [WG_CONFIG_STREAMWRCFG] = {WG_CONFIG_STAGE_M4, WG_CONFIG_STAGE_0, WG_TIME_CONFIG_OTHERS, false},
    [WG_CONFIG_WRCFG] = {WG_CONFIG_STAGE_M1, WG_CONFIG_STAGE_0, WG_TIME_CONFIG_OTHERS, false},
    [WG_CONFIG_CFGSHIFTMASK] = {WG_CONFIG_STAGE_0, WG_CONFIG_STAGE_0, WG_TIME_CONFIG_SHIFTMASK, true},
    [WG_CONFIG_RMWCIB] = {WG_CONFIG_STAGE_0, WG_CONFIG_STAGE_0, WG_TIME_CONFIG_OTHERS, false},
    [WG_CONFIG_RDCFG] = {WG_CONFIG_STAGE_0, WG_CONFIG_STAGE_P1, WG_TIME_CONFIG_OTHERS, false},
    [WG_CONFIG_RISCV_READ] = {WG_CONFIG_STAGE_0, WG_CONFIG_STAGE_0, WG_TIME_CONFIG_OTHERS, false},
    [WG_CONFIG_RISCV_WRITE] = {WG_CONFIG_STAGE_0, WG_CONFIG_STAGE_0, WG_TIME_CONFIG_OTHERS, false},
    [WG_CONFIG_MOVER_WRITE] = {WG_CONFIG_STAGE_0, WG_CONFIG_STAGE_0, WG_TIME_CONFIG_OTHERS, false},
};

/* What differs between the architectures' Configuration Units. */
static const struct config_rules {
    bool rdcfg_closes_stage_0; /* nothing enters stage 0 in the cycle after an RDCFG was issued */
    bool rdcfg_collides;       /* two in one cycle: one executes, the others are lost */
    bool dual_write;           /* a third window that writes both banks */
    uint8_t thread_stride;     /* words per ThreadConfig entry in the RISC-V window */
    uint8_t thcon_base;        /* THCON_CFGREG_BASE_ADDR32 */
} rules[] = {
    [WG_ARCH_BH] = {.dual_write = true, .thread_stride = 1, .thcon_base = 64},
    [WG_ARCH_WH] = {.rdcfg_closes_stage_0 = true, .rdcfg_collides = true, .thread_stride = 4, .thcon_base = 52},
};

static const struct config_rules *rules_of(const wg_tile *t) { return &rules[t->arch->id]; }
static wg_config_pipeline *unit_of(wg_tile *t) { return &t->backend.config; }

unsigned wg_config_thcon_base(const wg_tile *t) { return rules_of(t)->thcon_base; }

static bool is_instruction(unsigned kind) { return kind >= WG_CONFIG_STREAMWRCFG && kind <= WG_CONFIG_RDCFG; }
static bool is_write(unsigned kind) { return kind && kind != WG_CONFIG_RDCFG && kind != WG_CONFIG_RISCV_READ; }

/* ---- Writing ---------------------------------------------------------------------------------------- */

static const uint8_t invalidate_order[] = {WG_CORE_B, WG_CORE_T0, WG_CORE_T1, WG_CORE_T2, WG_CORE_NC};

/* Writes with an immediate effect (BackendConfiguration.md, "Special cases"). */
static void side_effects(wg_tile *t, unsigned banks, unsigned word, uint32_t value, bool by_rmwcib)
{
    const wg_cfg_field *fields = wg_cfg_fields[t->arch->id];
    if (word == fields[WG_CFG_STATE_RESET_EN].word && !by_rmwcib) {
        for (unsigned bank = 0; bank < 2; bank++)
            if (banks >> bank & 1)
                memset(t->regs.config.bank[bank], 0, t->arch->config_global_from * sizeof(uint32_t));
    } else if (word == fields[WG_CFG_PRNG_SEED_Seed_Val].word) {
        wg_lreg_seed(&t->regs.lreg, value);
        wg_pack_seed(t, value);
        wg_matrix_seed(t);
    } else if (word == fields[WG_CFG_RISCV_IC_INVALIDATE_InvalidateAll].word) {
        for (unsigned i = 0; i < WG_CORES; i++)
            if (value >> i & 1)
                wg_core_invalidate_icache(t, invalidate_order[i]);
    }
}

static void store(wg_tile *t, unsigned banks, unsigned word, uint32_t value, bool by_rmwcib)
{
    if (word >= t->arch->config_words)
        return;
    bool global = word >= t->arch->config_global_from;
    if (t->backend.config.thcon_reset && word >= rules_of(t)->thcon_base && !global)
        return;
    if (global)
        banks = WG_CONFIG_BOTH_BANKS;
    for (unsigned bank = 0; bank < 2; bank++)
        if (banks >> bank & 1)
            t->regs.config.bank[bank][word] = value;
    t->regs.config.changes++;
    side_effects(t, banks, word, value, by_rmwcib);
}

void wg_config_touched(wg_tile *t, unsigned how, unsigned thread, unsigned word, uint32_t mask)
{
    unsigned bank = word < t->arch->config_global_from ? wg_config_bank(t, thread) : 0;
    wg_touch_config(t, how, bank, word, mask);
}

/* Touches of a core's request are emitted where it is processed, as the core's (tile/request_touch.c). */
static void touch_written(wg_tile *t, const wg_config_op *op)
{
    uint32_t mask = UINT32_MAX;
    if (op->kind == WG_CONFIG_RMWCIB)
        mask = WG_GET(RMWCIB0, Mask, op->insn.word) << 8 * (op->insn.op - WG_I_RMWCIB0);
    wg_touch_by(t, WG_AGENT_CONFIG, &op->insn);
    for (unsigned bank = 0; bank < 2; bank++)
        for (unsigned i = 0; i < op->words && op->banks >> bank & 1; i++)
            wg_touch_config_written(t, op->word + i < t->arch->config_global_from ? bank : 0, op->word + i, mask,
                                    ~(t->regs.config.bank[bank][op->word + i] ^ op->value[i]));
}

static void apply(wg_tile *t, const wg_config_op *op)
{
    if (wg_touch_watched(t) && is_instruction(op->kind))
        touch_written(t, op);
    for (unsigned i = 0; i < op->words; i++)
        store(t, op->banks, op->word + i, op->value[i], op->kind == WG_CONFIG_RMWCIB);
}

void wg_config_scalar_write(wg_tile *t, unsigned bank, unsigned word, const uint32_t *value, unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        store(t, 1u << (bank & 1), word + i, value[i], false);
}

static bool writes_thcon(const wg_tile *t, const wg_config_op *op)
{
    return is_write(op->kind) && op->word + op->words > rules_of(t)->thcon_base &&
           op->word < t->arch->config_global_from;
}

bool wg_config_thcon_contended(const wg_tile *t)
{
    return writes_thcon(t, &t->backend.config.stage[WG_CONFIG_STAGE_0]);
}

void wg_config_thcon_reset(wg_tile *t, bool held)
{
    unsigned from = rules_of(t)->thcon_base, to = t->arch->config_global_from;
    if (held && !t->backend.config.thcon_reset)
        for (unsigned bank = 0; bank < 2; bank++)
            memset(&t->regs.config.bank[bank][from], 0, (to - from) * sizeof(uint32_t));
    t->regs.config.changes++;
    t->backend.config.thcon_reset = held;
}

static void apply_setc16(wg_tile *t, const wg_insn *insn)
{
    unsigned index = WG_GET(SETC16, setc16_reg, insn->word);
    uint16_t *word = &t->regs.config.thread[insn->thread][index];
    t->regs.config.changes += *word != (uint16_t)insn->word;
    *word = (uint16_t)insn->word;
    wg_touch_by(t, WG_AGENT_CONFIG, insn);
    wg_touch_thread_config(t, WG_TOUCH_WRITE, insn->thread, index, 0xFFFF);
    /* Any write to the word that holds CfgContextCntReset_0 and _1 resets both counters of the thread. */
    if (index == wg_tcfg_fields[t->arch->id][WG_TCFG_UNPACK_MISC_CFG_CfgContextCntReset_0].word) {
        t->regs.config.unpack_context[0][insn->thread] = t->regs.config.unpack_context[1][insn->thread] = 0;
        t->regs.config.changes++;
    }
}

/* ---- The pipeline ----------------------------------------------------------------------------------- */

/* Was the stage occupied before this cycle's entries? */
static bool moved_in(const wg_tile *t, unsigned stage)
{
    const wg_config_op *op = &t->backend.config.stage[stage];
    return op->kind && op->issued != t->sched.now;
}

/*
 * The operation that keeps this kind from entering now. Its stage must be empty, and so must every lower stage from -3 on
 * (whatever the occupant's thread: a documented bug); stage -4 does not count (another documented bug). An operation that entered a lower stage in
 * this very cycle does not count either: three may enter at once.
 */
static const wg_config_op *blocker(const wg_tile *t, unsigned kind)
{
    const wg_config_pipeline *u = &t->backend.config;
    const struct stage_row *row = &stage_table[kind];
    const wg_config_op *zero = &u->stage[WG_CONFIG_STAGE_0], *m1 = &u->stage[WG_CONFIG_STAGE_M1];
    if (u->stage[row->enters].kind)
        return &u->stage[row->enters];
    for (unsigned stage = WG_CONFIG_STAGE_M3; stage < row->enters; stage++)
        if (moved_in(t, stage))
            return &u->stage[stage];
    if (row->keeps_m1_empty && m1->kind)
        return m1;
    if (row->enters == WG_CONFIG_STAGE_M1 && stage_table[zero->kind].keeps_m1_empty && !zero->second)
        return zero;
    const wg_config_op *p1 = &u->stage[WG_CONFIG_STAGE_P1];
    if (rules_of(t)->rdcfg_closes_stage_0 && row->enters == WG_CONFIG_STAGE_0 && p1->kind == WG_CONFIG_RDCFG &&
        p1->issued + 1 == t->sched.now)
        return p1;
    return NULL;
}

static void refuse(const wg_tile *t, const wg_config_op *by, wg_stall *why)
{
    unsigned stage = (unsigned)(by - t->backend.config.stage);
    *why = (wg_stall){.reason = WG_STALL_CONFIG_STAGE_TAKEN,
                      .resource = (uint16_t)stage,
                      .holder = by->agent,
                      .retry_at = t->sched.now + 1};
}

static wg_config_op *enter(wg_tile *t, unsigned kind, unsigned agent)
{
    wg_config_op *op = &unit_of(t)->stage[stage_table[kind].enters];
    *op = (wg_config_op){
        .kind = (uint8_t)kind, .agent = (uint8_t)agent, .entered = t->sched.now, .issued = t->sched.now, .words = 1};
    wg_wake_at(&t->sched, WG_AGENT_CONFIG, t->sched.now + 1);
    return op;
}

static void leave(wg_tile *t, wg_config_op *op)
{
    if (is_instruction(op->kind)) {
        unit_of(t)->instructions--;
        wg_unit_completed(t, WG_AGENT_CONFIG, &op->insn);
    }
    op->kind = WG_CONFIG_NOTHING;
}

static void move_up(wg_tile *t, unsigned stage)
{
    wg_config_pipeline *u = unit_of(t);
    if (!u->stage[stage].kind || u->stage[stage + 1].kind)
        return;
    u->stage[stage + 1] = u->stage[stage];
    u->stage[stage + 1].entered = t->sched.now;
    u->stage[stage].kind = WG_CONFIG_NOTHING;
}

void wg_config_result(const wg_tile *t, unsigned thread, unsigned reg, uint32_t *value)
{
    const wg_config_op *op = &t->backend.config.stage[WG_CONFIG_STAGE_P1];
    if (op->kind == WG_CONFIG_RDCFG && op->insn.thread == thread && WG_GET(RDCFG, GprAddress, op->insn.word) == reg &&
        op->not_before <= t->sched.now && !wg_gpr_port_taken(&t->regs.gpr, t->sched.now))
        *value = op->value[0];
}

/* Stage +1 of the last cycle: writes the result if the port was free. */
static void write_result(wg_tile *t)
{
    wg_config_op *op = &unit_of(t)->stage[WG_CONFIG_STAGE_P1];
    uint64_t cycle = t->sched.now - 1;
    if (!op->kind || cycle < op->not_before || wg_gpr_port_taken(&t->regs.gpr, cycle))
        return;
    unsigned thread = op->insn.thread, reg = WG_GET(RDCFG, GprAddress, op->insn.word);
    t->regs.gpr.r[thread][reg] = op->value[0];
    wg_touch_by(t, WG_AGENT_CONFIG, &op->insn);
    wg_touch_gpr(t, WG_TOUCH_WRITE | WG_TOUCH_LATE, thread, reg, 1);
    wg_gpr_take_port(&t->regs.gpr, cycle);
    leave(t, op);
    wg_gpr_settle(t, thread);
}

/* CFGSHIFTMASK's result from the scratch register and the word that stage 0 reads in its first cycle. */
static uint32_t shift_mask(uint32_t word, uint32_t scratch, uint32_t old)
{
    unsigned width = WG_OPERAND(BH, CFGSHIFTMASK, mask_width, word);
    unsigned amount = WG_OPERAND(BH, CFGSHIFTMASK, right_cshift_amt, word);
    uint32_t mask = (uint32_t)((UINT64_C(2) << width) - 1);
    uint32_t bits = scratch & mask;
    uint32_t value = amount ? bits >> amount | bits << (32 - amount) : bits;
    uint32_t cleared = amount ? mask >> amount | mask << (32 - amount) : mask;
    if (!WG_OPERAND(BH, CFGSHIFTMASK, disable_mask_on_old_val, word))
        old &= ~cleared;
    switch (WG_OPERAND(BH, CFGSHIFTMASK, operation, word)) {
    case 0: return old | value;
    case 1: return old & value;
    case 2: return old ^ value;
    case 3: return old + value;
    case 4: return old | ~value;
    case 5: return old & ~value;
    case 6: return old ^ ~value;
    default: return old - value;
    }
}

static void execute_stage_0(wg_tile *t)
{
    wg_config_pipeline *u = unit_of(t);
    wg_config_op *op = &u->stage[WG_CONFIG_STAGE_0];
    if (!op->kind)
        return;
    if (stage_table[op->kind].cycles_in_0 == 2 && !op->second) {
        op->second = true;
        return;
    }
    if (is_write(op->kind))
        apply(t, op);
    if (stage_table[op->kind].leaves == WG_CONFIG_STAGE_0) {
        leave(t, op);
    } else if (!u->stage[WG_CONFIG_STAGE_P1].kind) {
        move_up(t, WG_CONFIG_STAGE_0);
        u->stage[WG_CONFIG_STAGE_P1].not_before =
            t->sched.now +
            wg_perturb(t, WG_SITE_COMPLETE, WG_AGENT_CONFIG, wg_unit_event(&u->stage[WG_CONFIG_STAGE_P1].insn));
    }
}

/* STREAMWRCFG's value is taken when its request leaves stage -3. */
static void ask_overlay(wg_tile *t)
{
    wg_config_op *op = &unit_of(t)->stage[WG_CONFIG_STAGE_M3];
    if (!op->kind || op->entered + 1 != t->sched.now)
        return;
    unsigned thread = op->insn.thread, select = WG_OPERAND(BH, STREAMWRCFG, stream_id_sel, op->insn.word);
    uint32_t stream = wg_thread_config_get(t, thread, WG_TCFG_STREAM_ID_SYNC_SEC0_BankSel + (wg_tcfg_id)select);
    unsigned reg = WG_OPERAND(BH, STREAMWRCFG, StreamRegAddr, op->insn.word);
    if (wg_overlay_has_register(t, reg)) {
        op->value[0] = wg_overlay_stream_read(t, stream, reg);
    } else {
        wg_findf(t, WG_F_CONFIG_STREAM_REGISTER, wg_insn_finding(&op->insn, reg, stream), "register %u of stream %u",
                 reg, stream);
        op->words = 0; /* takes its turn and changes nothing */
    }
}

static void config_tick(wg_tile *t)
{
    wg_config_pipeline *u = unit_of(t);
    for (unsigned thread = 0; thread < 3; thread++) {
        if (!(u->setc16_pending >> thread & 1))
            continue;
        u->setc16_pending &= (uint8_t) ~(1u << thread);
        apply_setc16(t, &u->setc16[thread]);
        wg_unit_completed(t, WG_AGENT_CONFIG, &u->setc16[thread]);
    }
    write_result(t);
    execute_stage_0(t);
    ask_overlay(t);
    for (unsigned stage = WG_CONFIG_STAGE_M1; stage > WG_CONFIG_STAGE_M4; stage--)
        move_up(t, stage);
    /* Decided here: contention means that another agent read the NoC Overlay in the cycle that has just ended. */
    if (u->overlay_taken != t->sched.now)
        move_up(t, WG_CONFIG_STAGE_M4);
    for (unsigned stage = 0; stage < WG_CONFIG_STAGES; stage++)
        if (u->stage[stage].kind)
            wg_wake_at(&t->sched, WG_AGENT_CONFIG, t->sched.now + 1);
}

/* ---- Instructions ----------------------------------------------------------------------------------- */

typedef struct handler {
    uint8_t kind;         /* wg_config_kind; WG_CONFIG_NOTHING: SETC16 */
    uint8_t archs;        /* bit wg_arch_id */
    wg_field_place index; /* of the configuration word */
} handler;

enum { BH = 1 << WG_ARCH_BH, WH = 1 << WG_ARCH_WH };

static const handler handlers[WG_I_COUNT] = {
    [WG_I_SETC16] = {WG_CONFIG_NOTHING, BH | WH, WG_FIELD_PLACE(BH, SETC16, setc16_reg)},
    [WG_I_WRCFG] = {WG_CONFIG_WRCFG, BH | WH, WG_FIELD_PLACE(BH, WRCFG, CfgReg)},
    [WG_I_RDCFG] = {WG_CONFIG_RDCFG, BH | WH, WG_FIELD_PLACE(BH, RDCFG, CfgReg)},
    [WG_I_RMWCIB0] = {WG_CONFIG_RMWCIB, BH | WH, WG_FIELD_PLACE(BH, RMWCIB0, CfgRegAddr)},
    [WG_I_RMWCIB1] = {WG_CONFIG_RMWCIB, BH | WH, WG_FIELD_PLACE(BH, RMWCIB1, CfgRegAddr)},
    [WG_I_RMWCIB2] = {WG_CONFIG_RMWCIB, BH | WH, WG_FIELD_PLACE(BH, RMWCIB2, CfgRegAddr)},
    [WG_I_RMWCIB3] = {WG_CONFIG_RMWCIB, BH | WH, WG_FIELD_PLACE(BH, RMWCIB3, CfgRegAddr)},
    [WG_I_STREAMWRCFG] = {WG_CONFIG_STREAMWRCFG, BH, WG_FIELD_PLACE(BH, STREAMWRCFG, CfgReg)},
    [WG_I_CFGSHIFTMASK] = {WG_CONFIG_CFGSHIFTMASK, BH, WG_FIELD_PLACE(BH, CFGSHIFTMASK, CfgReg)},
};

bool wg_config_implements(wg_insn_id id, wg_arch_id arch) { return id < WG_I_COUNT && handlers[id].archs >> arch & 1; }

/* WH: another thread's RDCFG was accepted in this cycle; this one passes the gate and is lost. */
static bool collides(const wg_tile *t, unsigned kind)
{
    const wg_config_op *zero = &t->backend.config.stage[WG_CONFIG_STAGE_0];
    return rules_of(t)->rdcfg_collides && kind == WG_CONFIG_RDCFG && zero->kind == WG_CONFIG_RDCFG &&
           zero->issued == t->sched.now;
}

static bool config_check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    const handler *h = &handlers[insn->op];
    if (h->kind == WG_CONFIG_NOTHING || collides(t, h->kind))
        return true;
    const wg_config_op *by = blocker(t, h->kind);
    if (by)
        refuse(t, by, why);
    return !by;
}

/* Indices beyond the configuration are undefined: the state is unchanged and the access is reported. */
static bool index_valid(wg_tile *t, const wg_insn *insn, unsigned index, unsigned limit)
{
    if (index < limit)
        return true;
    wg_findf(t, WG_F_CONFIG_INDEX, wg_insn_finding(insn, index, limit), "index %u of %u", index, limit);
    return false;
}

static void accept_setc16(wg_tile *t, const wg_insn *insn)
{
    wg_config_pipeline *u = unit_of(t);
    if (!index_valid(t, insn, WG_GET(SETC16, setc16_reg, insn->word), t->arch->thread_config_words)) {
        wg_unit_completed(t, WG_AGENT_CONFIG, insn);
        return;
    }
    u->setc16[insn->thread] = *insn;
    u->setc16_pending |= (uint8_t)(1u << insn->thread);
    wg_wake_at(&t->sched, WG_AGENT_CONFIG, t->sched.now + 1);
}

/* A STREAMWRCFG of the same thread that is still preparing is overtaken (a documented bug). */
static void report_overtaking(wg_tile *t, const wg_insn *insn, unsigned kind)
{
    const wg_config_op *m4 = &unit_of(t)->stage[WG_CONFIG_STAGE_M4];
    if (kind != WG_CONFIG_STREAMWRCFG && m4->kind && m4->insn.thread == insn->thread && moved_in(t, WG_CONFIG_STAGE_M4))
        wg_find_insn(t, WG_F_CONFIG_OVERTAKES, insn, m4->word, m4->insn.word);
}

/* Captures the operands of each kind at acceptance. Decided here: the bank is the thread's current one. */
static void capture(wg_tile *t, wg_config_op *op)
{
    const wg_insn *insn = &op->insn;
    uint32_t word = insn->word, *config = t->regs.config.bank[op->banks >> 1];
    unsigned gpr = WG_GET(WRCFG, GprAddress, word);
    switch (op->kind) {
    case WG_CONFIG_WRCFG:
        if (WG_GET(WRCFG, wr128b, word)) {
            op->words = 4;
            op->word &= (uint16_t)~3u;
            gpr &= ~3u;
        }
        for (unsigned i = 0; i < op->words; i++)
            op->value[i] = wg_gpr_operand(t, insn, gpr + i);
        break;
    case WG_CONFIG_RMWCIB: {
        unsigned shift = 8u * (unsigned)(insn->op - WG_I_RMWCIB0);
        uint32_t mask = WG_GET(RMWCIB0, Mask, word) << shift, data = WG_GET(RMWCIB0, Data, word) << shift;
        op->value[0] = (config[op->word] & ~mask) | (data & mask);
        break;
    }
    case WG_CONFIG_CFGSHIFTMASK: {
        unsigned select = WG_OPERAND(BH, CFGSHIFTMASK, scratch_sel, word);
        unsigned first = wg_cfg_fields[t->arch->id][WG_CFG_SCRATCH_SEC0_val].word;
        wg_config_touched(t, WG_TOUCH_READ, insn->thread, first + (select < 3 ? select : insn->thread), UINT32_MAX);
        op->value[0] = shift_mask(word, config[first + (select < 3 ? select : insn->thread)], config[op->word]);
        break;
    }
    case WG_CONFIG_RDCFG:
        op->value[0] = config[op->word];
        wg_scalar_check_result(t, insn, gpr);
        wg_config_touched(t, WG_TOUCH_READ, insn->thread, op->word, UINT32_MAX);
        t->regs.gpr.pending[insn->thread] |= UINT64_C(1) << gpr;
        break;
    default: break;
    }
}

static void config_accept(wg_tile *t, const wg_insn *insn)
{
    wg_insn_id id = insn->op;
    const handler *h = &handlers[id];
    if (id == WG_I_SETC16) {
        accept_setc16(t, insn);
        return;
    }
    if (collides(t, h->kind)) {
        wg_find_insn(t, WG_F_CONFIG_RDCFG_LOST, insn, WG_GET(RDCFG, GprAddress, insn->word), 0);
        wg_unit_completed(t, WG_AGENT_CONFIG, insn);
        return;
    }
    unsigned index = wg_field_at(h->index, insn->word);
    if (!index_valid(t, insn, index, t->arch->config_words)) {
        wg_unit_completed(t, WG_AGENT_CONFIG, insn);
        return;
    }
    report_overtaking(t, insn, h->kind);
    wg_config_op *op = enter(t, h->kind, WG_AGENT_THREAD0 + insn->thread);
    op->insn = *insn;
    op->word = (uint16_t)index;
    op->banks = (uint8_t)(1u << wg_config_bank(t, insn->thread));
    unit_of(t)->instructions++;
    capture(t, op);
}

static bool config_busy(const wg_tile *t, unsigned thread)
{
    const wg_config_pipeline *u = &t->backend.config;
    if (u->setc16_pending >> thread & 1)
        return true;
    for (unsigned stage = 0; u->instructions && stage < WG_CONFIG_STAGES; stage++)
        if (is_instruction(u->stage[stage].kind) && u->stage[stage].insn.thread == thread)
            return true;
    return false;
}

static const wg_config_op *rdcfg_of(const wg_tile *t, unsigned thread)
{
    const wg_config_pipeline *u = &t->backend.config;
    for (unsigned stage = WG_CONFIG_STAGE_0; u->instructions && stage < WG_CONFIG_STAGES; stage++)
        if (u->stage[stage].kind == WG_CONFIG_RDCFG && u->stage[stage].insn.thread == thread)
            return &u->stage[stage];
    return NULL;
}

const wg_insn *wg_config_gpr_writer(const wg_tile *t, unsigned thread)
{
    const wg_config_op *op = rdcfg_of(t, thread);
    return op ? &op->insn : NULL;
}

static bool config_holds(const wg_tile *t, unsigned thread, wg_stall *why)
{
    const wg_config_op *op = t->arch->rdcfg_holds_thread ? rdcfg_of(t, thread) : NULL;
    if (op)
        refuse(t, op, why);
    return op != NULL;
}

static void config_reset(wg_tile *t)
{
    t->backend.config = (wg_config_pipeline){0};
    t->regs.config = (wg_config){.changes = t->regs.config.changes + 1};
}

const wg_unit_ops wg_config_unit = {
    .name = "Configuration Unit",
    .agent = WG_AGENT_CONFIG,
    .reset = config_reset,
    .check = config_check,
    .accept = config_accept,
    .tick = config_tick,
    .busy = config_busy,
    .holds = config_holds,
};

/* ---- The rule that software must keep ---------------------------------------------------------------- */

void wg_config_check_pending(wg_tile *t, unsigned thread, unsigned word)
{
    unsigned bank = wg_config_bank(t, thread);
    for (unsigned stage = 0; stage <= WG_CONFIG_STAGE_0; stage++) {
        const wg_config_op *op = &t->backend.config.stage[stage];
        if (is_instruction(op->kind) && is_write(op->kind) && op->insn.thread == thread && op->issued < t->sched.now &&
            (op->banks >> bank & 1 || op->word >= t->arch->config_global_from) && word - op->word < op->words)
            wg_findf(t, WG_F_CONFIG_NOT_WRITTEN, wg_insn_finding(&op->insn, word, 0),
                     "this write of word %u is under way while another unit's instruction reads it", word);
    }
}

/* ---- RISC-V, debug and Mover ------------------------------------------------------------------------- */

/* The location of a word of the window. */
typedef struct place {
    enum { NOWHERE, IN_CONFIG, IN_THREAD_CONFIG, PADDING } kind;
    uint8_t banks;  /* of Config */
    uint8_t thread; /* of ThreadConfig */
    uint16_t word;
} place;

static place find_place(const wg_tile *t, uint32_t offset)
{
    const struct config_rules *r = rules_of(t);
    uint32_t words = t->arch->config_words, entries = t->arch->thread_config_words;
    uint32_t windows = r->dual_write ? 3 : 2;
    if (offset < windows * words) {
        static const uint8_t banks[] = {WG_CONFIG_BANK_0, WG_CONFIG_BANK_1, WG_CONFIG_BOTH_BANKS};
        return (place){.kind = IN_CONFIG, .banks = banks[offset / words], .word = (uint16_t)(offset % words)};
    }
    offset -= windows * words;
    uint32_t entry = offset / r->thread_stride;
    if (entry >= 3 * entries)
        return (place){0};
    /* Only the first word of an entry holds its value. Decided here: the others read as 0. */
    return (place){.kind = offset % r->thread_stride ? PADDING : IN_THREAD_CONFIG,
                   .thread = (uint8_t)(entry / entries),
                   .word = (uint16_t)(entry % entries)};
}

unsigned wg_config_window_banks(const wg_tile *t, uint32_t word_offset)
{
    place at = find_place(t, word_offset);
    if (at.kind != IN_CONFIG)
        return 0;
    return at.word < t->arch->config_global_from ? at.banks : WG_CONFIG_BANK_0; /* one location, visible in both */
}

unsigned wg_config_window_word(const wg_tile *t, uint32_t word_offset) { return find_place(t, word_offset).word; }

unsigned wg_config_window_thread(const wg_tile *t, uint32_t word_offset)
{
    place at = find_place(t, word_offset);
    return at.kind == IN_THREAD_CONFIG ? at.thread : WG_THREADS;
}

uint32_t wg_config_debug_read(const wg_tile *t, uint32_t word_offset)
{
    place at = find_place(t, word_offset);
    switch (at.kind) {
    case IN_CONFIG: return t->regs.config.bank[at.banks == WG_CONFIG_BANK_1][at.word]; /* dual: bank 0 */
    case IN_THREAD_CONFIG: return t->regs.config.thread[at.thread][at.word];
    default: return 0;
    }
}

static bool external_blocked(wg_tile *t, unsigned kind, wg_stall *why)
{
    const wg_config_op *by = blocker(t, kind);
    if (by)
        refuse(t, by, why);
    return by != NULL;
}

wg_region_answer wg_config_riscv_read(wg_tile *t, unsigned core, uint32_t word_offset, uint32_t *value, wg_stall *why)
{
    if (external_blocked(t, WG_CONFIG_RISCV_READ, why))
        return WG_REGION_WAIT;
    enter(t, WG_CONFIG_RISCV_READ, WG_AGENT_CORE_B + core);
    if (find_place(t, word_offset).kind == NOWHERE)
        WG_FIND(t, WG_F_CONFIG_OFFSET, WG_AGENT_CORE_B + core, .subject = word_offset * 4);
    *value = wg_config_debug_read(t, word_offset);
    return WG_REGION_DONE;
}

wg_region_answer wg_config_riscv_write(wg_tile *t, unsigned core, uint32_t word_offset, uint32_t value, unsigned bytes,
                                       wg_stall *why)
{
    if (external_blocked(t, WG_CONFIG_RISCV_WRITE, why))
        return WG_REGION_WAIT;
    wg_config_op *op = enter(t, WG_CONFIG_RISCV_WRITE, WG_AGENT_CORE_B + core);
    place at = find_place(t, word_offset);
    if (bytes < 4 || at.kind != IN_CONFIG) {
        wg_findf(t, bytes < 4 ? WG_F_CONFIG_NARROW_STORE : WG_F_CONFIG_OFFSET,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_B + core), .subject = word_offset * 4, .value = value},
                 "store of %u bytes at TENSIX_CFG_BASE + 0x%x", bytes, word_offset * 4);
        op->words = 0; /* takes its turn and changes nothing */
        return WG_REGION_DONE;
    }
    op->banks = at.banks;
    op->word = at.word;
    op->value[0] = value;
    return WG_REGION_DONE;
}

bool wg_config_mover_write(wg_tile *t, uint32_t word_offset, const uint32_t value[4])
{
    if (blocker(t, WG_CONFIG_MOVER_WRITE))
        return false;
    wg_config_op *op = enter(t, WG_CONFIG_MOVER_WRITE, WG_AGENT_MOVER);
    place at = find_place(t, word_offset & ~3u);
    /* 16 aligned bytes never cross a window's end: every window is a multiple of four words. */
    op->words = at.kind == IN_CONFIG ? 4 : 0;
    op->banks = at.banks;
    op->word = at.word;
    memcpy(op->value, value, sizeof op->value);
    return true;
}
