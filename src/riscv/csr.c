/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CSRs of the Blackhole cores (CSRs.md). Counters are computed from the cycle when read.
 */
#include "riscv/pipeline.h"

enum {
#define WG_CSR(id, number, name) id = (number),
#include "isa/csrs.def"
};

/* The word of a CSR that is mere storage; NULL for the others. */
static uint32_t *storage(wg_csrs *c, uint32_t csr)
{
    switch (csr) {
    case FCSR: return &c->fcsr;
    case VXSAT: return &c->vxsat;
    case VXRM: return &c->vxrm;
    case MCOUNTINHIBIT: return &c->mcountinhibit;
    case MHPMEVENT3: return &c->mhpmevent[0];
    case MHPMEVENT4: return &c->mhpmevent[1];
    case CFG0: return &c->cfg0;
    case PMACFG0: return &c->pmacfg[0];
    case PMACFG1: return &c->pmacfg[1];
    case CFG1: return &c->cfg1;
    case HWA_MASK: return &c->hwa_mask;
    case HWA_CFG: return &c->hwa_cfg;
    case VGSRC: return &c->vgsrc;
    case RESTORE_PC: return &c->restore_pc;
    case VL: return &c->vl;
    case VTYPE: return &c->vtype;
    case VLENB: return &c->vlenb;
    default: return csr >= TT_QSTATUS && csr <= TT_SSTATUS7 ? &c->tt_status[csr - TT_QSTATUS] : NULL;
    }
}

/* The coprocessor's state as seen by this core (tt_cfg_qstatus, tt_cfg_bstatus). */
static uint32_t tensix_status(const wg_tile *t, unsigned core, bool busy)
{
    const unsigned thread = t->spec->core[core].thread;
    uint32_t own = 0, all = 0;
    if (!t->spec->threads)
        return 0;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        uint32_t mask = (busy ? wg_frontend_busy_status(t, i) : wg_frontend_queue_status(t, i)) & 0x7FF;
        all |= mask;
        if (thread == i)
            own = mask;
    }
    if (thread == WG_NONE)
        own = all;
    if (busy)
        return own | all << 11;
    uint32_t cc =
        (~t->regs.lreg.pred.use | t->regs.lreg.pred.flags) != 0; /* enabled: predication unused, or flag set */
    return own | cc << 11 | all << 13 | cc << 24;
}

static uint64_t counter(const wg_tile *t, const wg_core *k, bool instructions)
{
    return instructions ? k->run.number + k->run.pushes + k->csr.instret_offset : t->sched.now + k->csr.cycle_offset;
}

uint32_t wg_csr_read(wg_tile *t, unsigned core, uint32_t csr, bool *known)
{
    wg_core *k = &t->core[core];
    *known = (t->spec->core[core].extensions & WG_EXT_ZICSR) != 0;
    switch (csr) {
    case MSTATUS: return 0x80006600;
    case MISA: return 0x40201123;
    case MHARTID:
    case VSTART: return 0;
    case MCYCLE:
    case CYCLE: return (uint32_t)counter(t, k, false);
    case MCYCLEH:
    case CYCLEH: return (uint32_t)(counter(t, k, false) >> 32);
    case MINSTRET:
    case INSTRET: return (uint32_t)counter(t, k, true);
    case MINSTRETH:
    case INSTRETH: return (uint32_t)(counter(t, k, true) >> 32);
    case MHPMCOUNTER3:
    case MHPMCOUNTER4: return (uint32_t)k->csr.mhpmcounter[csr - MHPMCOUNTER3];
    case MHPMCOUNTER3H:
    case MHPMCOUNTER4H: return (uint32_t)(k->csr.mhpmcounter[csr - MHPMCOUNTER3H] >> 32);
    case TT_QSTATUS:
    case TT_BSTATUS:
        if (!(k->csr.cfg0 & WG_CFG0_DIS_TT_STATUS))
            return tensix_status(t, core, csr == TT_BSTATUS);
        break;
    default: break;
    }
    uint32_t *at = storage(&k->csr, csr);
    *known = *known && at;
    return at ? *at : 0;
}

static void set_half(uint64_t *offset, uint64_t base, bool high, uint32_t value)
{
    uint64_t now = base + *offset;
    uint64_t want = high ? (now & 0xFFFFFFFF) | (uint64_t)value << 32 : (now & ~UINT64_C(0xFFFFFFFF)) | value;
    *offset = want - base;
}

/*
 * cfg0 or pmacfg is about to change, effective from cycle `from`. Entries that left the store queue or the retire queue
 * before then did so under the old rules, however late they are evaluated. Decided here: an older result that retires in the
 * cycle after the change counts as retired.
 */
static void rules_change(wg_tile *t, unsigned core, uint64_t from, uint32_t bits)
{
    wg_core *k = &t->core[core];
    wg_lsu_drain_private(t, core, from);
    k->run.mux_free = wg_max64(k->run.mux_free, from);
    wg_begin_queue(&k->run);
    for (unsigned i = 0; i < WG_RETIRE_RING; i++)
        if (k->run.retired[i] <= from)
            k->run.retired[i] = k->run.filled[i] = 0;
    if (bits & WG_CFG0_DIS_IC_PREFETCH) /* recheck which lines are present */
        k->epoch++;
}

void wg_csr_poke(wg_tile *t, unsigned core, uint32_t csr, uint32_t value)
{
    if (csr == CFG0 || csr == PMACFG0 || csr == PMACFG1)
        rules_change(t, core, t->sched.now, csr == CFG0 ? t->core[core].csr.cfg0 ^ value : 0);
    wg_csr_write(t, core, csr, value);
}

void wg_csr_write(wg_tile *t, unsigned core, uint32_t csr, uint32_t value)
{
    wg_core *k = &t->core[core];
    uint64_t number = k->run.number + k->run.pushes;
    switch (csr) {
    case MCYCLE:
    case CYCLE: set_half(&k->csr.cycle_offset, t->sched.now, false, value); return;
    case MCYCLEH:
    case CYCLEH: set_half(&k->csr.cycle_offset, t->sched.now, true, value); return;
    case MINSTRET:
    case INSTRET: set_half(&k->csr.instret_offset, number, false, value); return;
    case MINSTRETH:
    case INSTRETH: set_half(&k->csr.instret_offset, number, true, value); return;
    case MHPMCOUNTER3:
    case MHPMCOUNTER4:
    case MHPMCOUNTER3H:
    case MHPMCOUNTER4H: {
        bool high = csr >= MHPMCOUNTER3H;
        set_half(&k->csr.mhpmcounter[csr & 1 ? 0 : 1], 0, high, value);
        return;
    }
    case FCSR: value &= 0xFF; break;
    case VXSAT: value &= 1; break;
    case VXRM: value &= 3; break;
    default: break;
    }
    uint32_t *at = storage(&k->csr, csr);
    if (at)
        *at = value;
}

uint32_t wg_csr_execute(wg_tile *t, unsigned core, const wg_op *op)
{
    wg_core *k = &t->core[core];
    uint32_t csr = op->imm, field = op->word >> 15 & 31;
    uint32_t operand = op->spare & 4 ? field : k->run.r[op->rs1];
    bool known, writes = (op->spare & 3) == 1 || field != 0;
    uint32_t old = wg_csr_read(t, core, csr, &known);
    wg_poll_disturb(t); /* a CSR access sees time or counters, or changes settings: this is not a polling loop */
    if (!known) {
        wg_findf(t, WG_F_CORE_ILLEGAL,
                 (wg_finding){.agent = (uint8_t)core,
                              .pc = k->run.pc,
                              .has_pc = true,
                              .word = op->word,
                              .has_word = true,
                              .subject = csr},
                 "no CSR 0x%03x", csr);
        return 0;
    }
    if ((csr >= MHPMEVENT3 && csr <= MHPMEVENT4) || csr == MHPMCOUNTER3 || csr == MHPMCOUNTER4 ||
        (csr >= TT_SSTATUS0 && csr <= TT_SSTATUS7 && t->spec->core[core].thread != WG_NONE))
        wg_findf(t, WG_F_UNIMPLEMENTED_REGISTER,
                 (wg_finding){.agent = (uint8_t)core, .pc = k->run.pc, .has_pc = true, .subject = csr}, "CSR 0x%03x",
                 csr);
    if (k->csr.cfg0 & WG_CFG0_PMC_CLR_ON_RD) {
        if (csr == MHPMCOUNTER3 || csr == MHPMCOUNTER4 || csr == MHPMCOUNTER3H || csr == MHPMCOUNTER4H)
            wg_csr_write(t, core, csr, 0);
    }
    if (!writes)
        return old;
    if (k->in_interrupt) { /* a documented hardware bug: the write is lost */
        wg_findf(t, WG_F_CORE_CSR_IN_INTERRUPT,
                 (wg_finding){.agent = (uint8_t)core,
                              .pc = k->run.pc,
                              .has_pc = true,
                              .word = op->word,
                              .has_word = true,
                              .subject = csr},
                 "CSR 0x%03x", csr);
        return old;
    }
    uint32_t value = (op->spare & 3) == 1 ? operand : (op->spare & 3) == 2 ? old | operand : old & ~operand;
    if (csr == CFG0 || csr == PMACFG0 || csr == PMACFG1)
        rules_change(t, core, t->sched.now + 1, csr == CFG0 ? old ^ value : 0);
    wg_csr_write(t, core, csr, value);
    return old;
}
