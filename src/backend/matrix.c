/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix Unit: acceptance, hazards, effects, bank flips. The arithmetic is in matrix_mul.c, matrix_elw.c, matrix_pool.c,
 * matrix_move.c and matrix_clear.c.
 *
 * Facts: MatrixUnit.md (latencies), the "Instruction scheduling" parts of Dst.md, MOVA2D.md, MOVB2D.md,
 * MOVD2A.md, MOVD2B.md, MOVB2A.md, SHIFTXB.md; GATE-13, GATE-15, GATE-21, GATE-22, PIPE-20.
 */
#include "backend/matrix_internal.h"

#include <string.h>

#include "backend/config.h"
#include "num/simd.h"

static const wg_matrix_layout layouts[] = {
    [WG_ARCH_BH] = {.addr_mod = WG_FIELD_PLACE(BH, MVMUL, addr_mode),
                    .pool_addr_mod = WG_FIELD_PLACE(BH, GMPOOL, pool_addr_mode),
                    .movb2d_mode = WG_FIELD_PLACE(BH, MOVB2D, movb2d_instr_mod),
                    .zeroacc_wide = WG_FIELD_PLACE(BH, ZEROACC, use_32_bit_mode),
                    .zeroacc_revert = WG_FIELD_PLACE(BH, ZEROACC, clear_zero_flags),
                    .zeroacc_relative = true,
                    .implied_formats = true,
                    .fp32_movb2d = true,
                    .lost_one = false},
    [WG_ARCH_WH] = {.addr_mod = WG_FIELD_PLACE(WH, MVMUL, addr_mode),
                    .pool_addr_mod = WG_FIELD_PLACE(WH, GMPOOL, addr_mode),
                    .movb2d_mode = WG_FIELD_PLACE(WH, MOVB2D, instr_mod),
                    .zeroacc_wide = WG_FIELD_PLACE(WH, ZEROACC, Use32Bit),
                    .zeroacc_revert = WG_FIELD_PLACE(WH, ZEROACC, Revert),
                    .zeroacc_relative = false,
                    .implied_formats = false,
                    .fp32_movb2d = false,
                    .lost_one = true},
};

/* How an instruction reads Dst. Readers wait for blocks that are being written. */
typedef enum dst_reads { READS_NONE, READS_8, READS_4, READS_MVMUL, READS_IF_ADDED, READS_MOVED } dst_reads;

typedef enum gap_class {
    GAP_ALL,      /* stalls in every issue gap */
    GAP_SRC_MOVE, /* MOVD2A, MOVB2A: follow each other freely */
    GAP_MOVD2B    /* follows itself freely */
} gap_class;

typedef struct entry {
    wg_matrix_issue *issue;
    uint8_t waits;   /* bit 0: for SrcA, bit 1: for SrcB (GATE-22) */
    uint8_t reads;   /* dst_reads */
    uint8_t gap;     /* gap_class */
    bool reader;     /* stalls after MOVA2D and MOVB2D, whatever row it reads */
    uint8_t latency; /* of its record */
    uint8_t effect;  /* cycles until it takes effect; 0: as the latency */
    uint8_t archs;   /* bit per wg_arch_id */
} entry;

enum { A = 1, B = 2, AB = 3, BH = 1 << WG_ARCH_BH, BOTH = 3 };

/*
 * Ruling on MOVB2A: its page stalls other instructions for one cycle, MatrixUnit.md gives it a latency of 4. Both hold: its
 * result can be read from the second cycle on, and it leaves the unit after four. Decided here: MOVDBGB2D differs from MOVB2D
 * as MOVDBGA2D does from MOVA2D; TRNSPSRCA waits for SrcA.
 */
#define ROW(name, handler, waits_, reads_, gap_, reader_, archs_, ...) \
    [WG_I_##name] = {.issue = wg_matrix_##handler, \
                     .waits = waits_, \
                     .reads = reads_, \
                     .gap = gap_, \
                     .reader = reader_, \
                     .latency = WG_LATENCY_##name, \
                     .archs = archs_, \
                     ##__VA_ARGS__}
static const entry entries[WG_I_COUNT] = {
    ROW(MVMUL, mvmul, AB, READS_MVMUL, GAP_ALL, true, BOTH),
    ROW(DOTPV, dotpv, AB, READS_8, GAP_ALL, true, BOTH),
    ROW(GAPOOL, gapool, AB, READS_4, GAP_ALL, true, BOTH),
    ROW(GMPOOL, gmpool, AB, READS_4, GAP_ALL, true, BOTH),
    ROW(ELWMUL, elwmul, AB, READS_8, GAP_ALL, true, BOTH),
    ROW(ELWADD, elwadd, AB, READS_IF_ADDED, GAP_ALL, false, BOTH),
    ROW(ELWSUB, elwsub, AB, READS_IF_ADDED, GAP_ALL, false, BOTH),
    ROW(CONV3S1, conv, AB, READS_8, GAP_ALL, true, BOTH),
    ROW(CONV3S2, conv, AB, READS_8, GAP_ALL, true, BOTH),
    ROW(MFCONV3S1, conv, AB, READS_8, GAP_ALL, true, BOTH),
    ROW(APOOL3S1, apool, AB, READS_4, GAP_ALL, true, BOTH),
    ROW(APOOL3S2, apool, AB, READS_4, GAP_ALL, true, BOTH),
    ROW(MPOOL3S1, mpool, AB, READS_4, GAP_ALL, true, BOTH),
    ROW(MPOOL3S2, mpool, AB, READS_4, GAP_ALL, true, BOTH),
    ROW(MOVA2D, mova2d, A, READS_NONE, GAP_ALL, false, BOTH),
    ROW(MOVDBGA2D, mova2d, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(MOVB2D, movb2d, B, READS_NONE, GAP_ALL, false, BOTH),
    ROW(MOVDBGB2D, movb2d, 0, READS_NONE, GAP_ALL, false, BH),
    ROW(MOVD2A, movd2a, 0, READS_MOVED, GAP_SRC_MOVE, true, BOTH),
    ROW(MOVD2B, movd2b, 0, READS_MOVED, GAP_MOVD2B, true, BOTH),
    ROW(MOVB2A, movb2a, B, READS_NONE, GAP_SRC_MOVE, false, BOTH, .effect = 2),
    ROW(SHIFTXA, shiftxa, A, READS_NONE, GAP_ALL, false, BOTH),
    ROW(SHIFTXB, shiftxb, B, READS_NONE, GAP_ALL, false, BOTH),
    ROW(TRNSPSRCA, trnspsrca, A, READS_NONE, GAP_ALL, false, BOTH),
    ROW(TRNSPSRCB, trnspsrcb, B, READS_NONE, GAP_ALL, false, BOTH),
    ROW(ZEROACC, zeroacc, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(ZEROSRC, zerosrc, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(CLEARDVALID, cleardvalid, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(GATESRCRST, gatesrcrst, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(CLREXPHIST, clrexphist, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(SETRWC, setrwc, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(INCRWC, incrwc, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(SETIBRWC, setibrwc, 0, READS_NONE, GAP_ALL, false, BOTH),
    ROW(RAREB, legacy, B, READS_NONE, GAP_ALL, false, BOTH),
    ROW(SETASHRMH0, legacy, A, READS_NONE, GAP_ALL, false, BOTH),
    ROW(SETASHRMH1, legacy, A, READS_NONE, GAP_ALL, false, BOTH),
    ROW(SETASHRMV, legacy, A, READS_NONE, GAP_ALL, false, BOTH),
    ROW(SETASHRMH, legacy, A, READS_NONE, GAP_ALL, false, BOTH),
    ROW(SETPKEDGOF, legacy, 0, READS_NONE, GAP_ALL, false, BOTH),
};

bool wg_matrix_loses_one(wg_arch_id arch) { return layouts[arch].lost_one; }
wg_field_place wg_matrix_addr_mod_place(wg_arch_id arch) { return layouts[arch].addr_mod; }

bool wg_matrix_implements(wg_insn_id id, wg_arch_id arch)
{
    return (unsigned)id < WG_I_COUNT && entries[id].issue && entries[id].archs >> arch & 1;
}

static bool is_arithmetic(const entry *e) { return e->waits == AB; }

/* The least time in the unit. */
static unsigned stages_of(const wg_timing *timing, const entry *e)
{
    return is_arithmetic(e) ? timing->arithmetic_stages : timing->matrix_stages;
}

unsigned wg_matrix_occupies(const wg_arch *arch, wg_profile profile, wg_insn_id id)
{
    const entry *e = &entries[id];
    const unsigned latency = e->issue ? e->latency : 1, stages = stages_of(&arch->timing[profile], e);
    return latency > stages ? latency : stages;
}

/* ---- Operands ------------------------------------------------------------------------------------- */

static inline void view(const wg_tile *t, const wg_insn *insn, wg_matrix_ctx *c, wg_matrix_settings *into)
{
    unsigned thread = insn->thread % WG_THREADS;
    const wg_matrix *m = &t->backend.matrix;
    const wg_src *s = &t->regs.src;
    c->t = t;
    c->insn = insn;
    c->word = insn->word;
    c->arch = t->arch->id;
    c->layout = &layouts[c->arch];
    c->tcfg = t->regs.config.thread[thread];
    c->cfg = t->regs.config.bank[c->tcfg[0] & 1]; /* CFG_STATE_ID_StateID */
    c->rwc = &t->regs.rwc.thread[thread];
    c->set = wg_matrix_settings_now(c, thread, into);
    c->access = c->set->access;
    c->bank[WG_SRCA] = m->flips ? m->issue_bank[WG_SRCA] : s->matrix_bank_a & 1;
    c->bank[WG_SRCB] = m->flips ? m->issue_bank[WG_SRCB] : s->matrix_bank_b & 1;
    c->flush = c->set->flush;
    c->fmt[WG_SRCA] = c->set->implied[WG_SRCA] ? s->format_a[c->bank[WG_SRCA]] & 15 : c->set->fmt[WG_SRCA];
    c->fmt[WG_SRCB] = c->set->implied[WG_SRCB] ? s->format_b[c->bank[WG_SRCB]] & 15 : c->set->fmt[WG_SRCB];
    c->phase = (c->rwc->fidelity + c->set->phase) & 3;
}

void wg_matrix_context(wg_tile *t, const wg_insn *insn, wg_matrix_ctx *c)
{
    c->to = t;
    view(t, insn, c, &t->backend.matrix.settings[insn->thread % WG_THREADS]);
}

unsigned wg_matrix_dst_row(const wg_matrix_ctx *c, unsigned mask)
{
    return (WG_GET(MVMUL, dst, c->word) + c->rwc->dst + c->set->dst_base) & mask & 0x3FF;
}

void wg_matrix_list_rows(const wg_matrix_ctx *c, wg_matrix_op *op, unsigned first, unsigned count, unsigned step,
                         bool wide)
{
    op->rows = (uint8_t)count;
    op->together = count == 8 && step == 1 && !c->access.swizzle;
    /* The rows lie in one aligned block of eight, which stays together unless rows are swizzled. */
    unsigned stored = wg_dst_stored(c->access, first, wide);
    for (unsigned i = 0; i < count; i++)
        op->row[i] =
            (uint16_t)(c->access.swizzle ? wg_dst_stored(c->access, first + i * step, wide) : stored + i * step);
}

void wg_matrix_gather(const wg_matrix_ctx *c, wg_matrix_op *op, bool wide, uint16_t identity)
{
    const wg_dst *d = &c->t->regs.dst;
    unsigned first = op->row[0];
    if (op->together && !(d->undefined[first >> 6] >> (first & 63) & 0xFF)) {
        memcpy(op->hi, d->bits[first], sizeof op->hi);
        if (wide)
            memcpy(op->lo, d->bits[first + WG_DST_LOW], sizeof op->lo);
        return;
    }
    for (unsigned i = 0; i < op->rows; i++) {
        unsigned row = op->row[i];
        if (!wg_dst_is_undefined(d, row)) {
            memcpy(op->hi[i], d->bits[row], sizeof op->hi[i]);
            if (wide)
                memcpy(op->lo[i], d->bits[row + WG_DST_LOW], sizeof op->lo[i]);
            continue;
        }
        for (unsigned j = 0; j < 16; j++)
            op->hi[i][j] = op->lo[i][j] = identity;
    }
}

void wg_matrix_apply_addr_mod(wg_matrix_ctx *c, unsigned addr_mod)
{
    wg_rwc_apply(wg_matrix_counters(c), c->arch, c->tcfg, addr_mod, true);
}

/* ---- Acceptance ----------------------------------------------------------------------------------- */

static bool reads_dst(const wg_matrix_ctx *c, const entry *e)
{
    return e->reads != READS_NONE && (e->reads != READS_IF_ADDED || WG_GET(ELWADD, dest_accum_en, c->word));
}

/* The rows of Dst that the instruction reads or, where it does not add, overwrites. */
static void dst_rows(const wg_matrix_ctx *c, const entry *e, unsigned *first, unsigned *count, unsigned *step)
{
    unsigned mask = 0x3F8;
    *count = 8;
    *step = 1;
    switch (e->reads) {
    case READS_4:
        mask = 0x3FC;
        *count = 4;
        break;
    case READS_MVMUL:
        if (WG_GET(MVMUL, instr_mod19, c->word)) {
            mask = 0x400 - 7;
            *count = 4;
            *step = 2;
        }
        break;
    case READS_MOVED:
        *count = WG_GET(MOVD2A, Move4Rows, c->word) ? 4 : 1;
        mask = *count == 4 ? 0x3FC : 0x3FF;
        break;
    default: break;
    }
    *first = wg_matrix_dst_row(c, mask);
}

static bool refuse(wg_stall *why, wg_stall_reason reason, unsigned resource, uint64_t retry_at)
{
    *why = (wg_stall){
        .reason = (uint16_t)reason, .resource = (uint16_t)resource, .holder = WG_AGENT_MATRIX, .retry_at = retry_at};
    return false;
}

/* Stalls until the Matrix Unit owns the bank. A bank that is being handed back must return from the unpackers first. */
static bool bank_ready(const wg_matrix_ctx *c, wg_src_file file, wg_stall *why)
{
    if (wg_matrix_owns(c, file))
        return true;
    refuse(why, file == WG_SRCA ? WG_STALL_SRCA_NOT_HANDED_OVER : WG_STALL_SRCB_NOT_HANDED_OVER, c->bank[file],
           WG_NEVER);
    why->holder = file == WG_SRCA ? WG_AGENT_UNPACK0 : WG_AGENT_UNPACK1;
    return false;
}

/* The first cycle at which the unit's issue gaps let this instruction pass. */
static uint64_t gap_end(const wg_matrix *m, const entry *e)
{
    uint64_t from = m->all_from;
    if (e->gap != GAP_SRC_MOVE)
        from = later(from, m->not_src_moves_from);
    if (e->gap != GAP_MOVD2B)
        from = later(from, m->not_movd2b_from);
    if (e->reader)
        from = later(from, m->dst_readers_from);
    return from;
}

/* Stalls while another thread's instruction waits inside the unit. */
static bool unit_free(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    const wg_matrix *m = &t->backend.matrix;
    if (t->sched.now >= m->others_from || m->waiting_thread == insn->thread % WG_THREADS)
        return true;
    refuse(why, WG_STALL_ARBITRATION, WG_UNIT_MATRIX, m->others_from);
    why->holder = (uint8_t)(WG_AGENT_THREAD0 + m->waiting_thread);
    return false;
}

/* Can the block be read? An instruction that would wait for it inside the unit (refused()) stalls on issue gaps first. */
static bool block_settled(const wg_tile *t, const entry *e, unsigned block, wg_stall *why)
{
    const wg_matrix *m = &t->backend.matrix;
    uint64_t ready = m->block_ready[block], now = t->sched.now;
    if (ready <= now)
        return true;
    const uint64_t from = t->timing->waits_in_unit ? gap_end(m, e) : 0;
    if (from > now)
        return refuse(why, WG_STALL_MATRIX_ISSUE_GAP, WG_UNIT_MATRIX, from);
    return refuse(why, WG_STALL_DST_BLOCK_WRITTEN, block, ready);
}

/*
 * Decided here: an instruction that waits for a block of Dst waits inside the unit (waits_in_unit), and blocks all instructions
 * of other threads until it is accepted. Issue gaps stall it at the gate instead.
 */
static void refused(wg_tile *t, const wg_insn *insn, const wg_stall *why)
{
    wg_matrix *m = &t->backend.matrix;
    if (why->reason != WG_STALL_DST_BLOCK_WRITTEN || !t->timing->waits_in_unit)
        return;
    m->others_from = why->retry_at + 1;
    m->waiting_thread = insn->thread % WG_THREADS;
}

/* Books an accepted instruction and reopens the unit to other threads. */
static void enters(wg_matrix *m, unsigned thread, uint64_t now)
{
    m->last_accept = now + 1;
    m->last_thread = (uint8_t)thread;
    m->in_flight[thread]++;
    if (m->waiting_thread == thread)
        m->others_from = 0;
}

uint64_t wg_matrix_mvmul_from(const wg_matrix *m) { return gap_end(m, &entries[WG_I_MVMUL]); }

/* Are the source banks handed over, the unit free, and the Dst rows readable? */
static bool operands_ready(const wg_tile *t, const wg_insn *insn, const entry *e, wg_stall *why)
{
    const wg_matrix *m = &t->backend.matrix;
    wg_matrix_settings settings;
    wg_matrix_ctx c;
    c.to = NULL;
    view(t, insn, &c, &settings);
    if ((e->waits & A) && !bank_ready(&c, WG_SRCA, why))
        return false;
    if ((e->waits & B) && !bank_ready(&c, WG_SRCB, why))
        return false;
    if (!unit_free(t, insn, why))
        return false;
    unsigned first, count, step, stored, block;
    if (!reads_dst(&c, e) && !(e->reads == READS_IF_ADDED && t->timing->writers_wait))
        return true;
    dst_rows(&c, e, &first, &count, &step);
    stored = wg_dst_stored(c.access, first, c.set->wide);
    block = stored / 8;
    for (unsigned i = 1; c.access.swizzle && i < count; i++) { /* unswizzled rows lie in one block */
        unsigned other = wg_dst_stored(c.access, first + i * step, c.set->wide) / 8;
        block = m->block_ready[other] > m->block_ready[block] ? other : block;
    }
    return block_settled(t, e, block, why);
}

/*
 * Banks and Dst blocks come before issue gaps. A thread that stalls on a bank or block is not retried until that stall ends;
 * other threads' instructions may open and close gaps meanwhile.
 */
static bool check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    const wg_matrix *m = &t->backend.matrix;
    uint64_t now = t->sched.now;
    const entry *e = &entries[insn->op ? insn->op : wg_isa_decode(t->arch->id, insn->word)->id];
    if (e->waits || e->reads != READS_NONE ? !operands_ready(t, insn, e, why) : !unit_free(t, insn, why))
        return false;
    if (m->last_accept == now + 1 && !(t->passes_free >> insn->thread & 1)) {
        refuse(why, WG_STALL_ARBITRATION, WG_UNIT_MATRIX, now + 1);
        why->holder = (uint8_t)(WG_AGENT_THREAD0 + m->last_thread);
        return false;
    }
    if (m->tail - m->head == WG_MATRIX_FLIGHTS)
        return refuse(why, WG_STALL_UNIT_BUSY, WG_UNIT_MATRIX, now + 1);
    uint64_t from = gap_end(m, e);
    return from <= now || refuse(why, WG_STALL_MATRIX_ISSUE_GAP, WG_UNIT_MATRIX, from);
}

/* A gap lasts until the instruction that caused it has taken effect, however long perturbation delays it. */
static void set_gaps(wg_matrix *m, wg_insn_id id, const wg_matrix_op *op, uint64_t now)
{
    switch (id) {
    case WG_I_SHIFTXB: m->all_from = later(m->all_from, later(now + 2, op->effect_at)); break;
    case WG_I_MOVD2A:
    case WG_I_MOVB2A: m->not_src_moves_from = later(m->not_src_moves_from, later(now + 2, op->effect_at)); break;
    case WG_I_MOVD2B: m->not_movd2b_from = later(m->not_movd2b_from, later(now + 4, op->effect_at)); break;
    case WG_I_MOVA2D:
    case WG_I_MOVDBGA2D:
    case WG_I_MOVB2D:
    case WG_I_MOVDBGB2D: m->dst_readers_from = later(m->dst_readers_from, later(now + 4, op->effect_at)); break;
    default: /* other source writes land in the next cycle unless they are delayed */
        if (op->effect >= WG_EFFECT_SRC && op->effect <= WG_EFFECT_TRANSPOSE)
            m->all_from = later(m->all_from, op->effect_at);
        break;
    }
}

/* ---- Touches, while observed ---------------------------------------------------------------------- */

static bool uses_dst(const entry *e, wg_insn_id id)
{
    return e->reads != READS_NONE || id == WG_I_ELWADD || id == WG_I_ELWSUB || id == WG_I_MOVA2D || id == WG_I_MOVB2D ||
           id == WG_I_MOVDBGA2D || id == WG_I_MOVDBGB2D;
}

/* Emits touches for the configuration it reads, and reports the thread's own writes that are still in flight. */
static void read_configuration(const wg_matrix_ctx *c, const entry *e, wg_insn_id id)
{
    static const uint16_t formats[] = {WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_override,  WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_val,
                                       WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_override,  WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_val,
                                       WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA,          WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB,
                                       WG_CFG_ALU_ACC_CTRL_INT8_math_enabled,     WG_CFG_ALU_ACC_CTRL_Fp32_enabled,
                                       WG_CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src};
    wg_tile *t = c->to;
    unsigned thread = c->insn->thread;
    bool to_dst = uses_dst(e, id);
    if (to_dst || id == WG_I_ZEROACC) {
        const wg_cfg_field *offset = &wg_tcfg_fields[c->arch][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset];
        wg_touch_thread_config(t, WG_TOUCH_READ, thread, offset->word, 0xFFFF);
        (void)wg_config_get(t, thread, WG_CFG_DEST_REGW_BASE_Base);
    }
    for (unsigned i = 0, n; to_dst && i < sizeof formats / sizeof *formats; i += n) { /* one touch per word */
        const wg_cfg_field *first = &wg_cfg_fields[c->arch][formats[i]];
        uint32_t mask = 0;
        for (n = 0; i + n < sizeof formats / sizeof *formats; n++) {
            const wg_cfg_field *f = &wg_cfg_fields[c->arch][formats[i + n]];
            if (f->word != first->word)
                break;
            mask |= f->mask << f->shift;
        }
        wg_config_touched(t, WG_TOUCH_READ, thread, first->word, mask);
        wg_config_check_pending(t, thread, first->word);
    }
}

/*
 * Emits touches for the source and Dst rows that it reads at acceptance. Runs before the handler, which steps the
 * counters.
 */
static void touch_operands(wg_matrix_ctx *c, const entry *e, wg_insn_id id)
{
    wg_tile *t = c->to;
    unsigned thread = c->insn->thread;
    bool to_dst = uses_dst(e, id), elementwise = id == WG_I_ELWADD || id == WG_I_ELWSUB || id == WG_I_ELWMUL;
    wg_touch(t, WG_TOUCH_READ | WG_TOUCH_WRITE | WG_TOUCH_AT_GATE, WG_TOUCH_RWC, thread, 1);
    bool reads_a = e->waits & A || id == WG_I_MOVDBGA2D, reads_b = e->waits & B || id == WG_I_MOVDBGB2D;
    unsigned rows_a = elementwise || !to_dst ? 8 : 16, rows_b = 8;
    unsigned from_a = c->rwc->srca & (rows_a == 16 ? 0x30u : 0x38u), from_b = c->rwc->srcb & 0x38u;
    if (id == WG_I_MOVA2D || id == WG_I_MOVDBGA2D)
        from_a = wg_matrix_mova2d_rows(c, &rows_a);
    if (id == WG_I_MOVB2D || id == WG_I_MOVDBGB2D)
        from_b = wg_matrix_movb2d_rows(c, &rows_b);
    if (id == WG_I_MOVB2A)
        from_b = wg_matrix_movb2a_rows(c, &rows_b);
    if (reads_a)
        wg_touch_src(t, WG_TOUCH_READ | (e->waits & A ? WG_TOUCH_WAITED : 0u), WG_SRCA, c->bank[WG_SRCA], from_a,
                     rows_a);
    if (reads_b)
        wg_touch_src(t, WG_TOUCH_READ | (e->waits & B ? WG_TOUCH_WAITED : 0u), WG_SRCB, c->bank[WG_SRCB], from_b,
                     rows_b);
    wg_matrix_op read;
    unsigned first, count, step;
    if (reads_dst(c, e)) {
        dst_rows(c, e, &first, &count, &step);
        wg_matrix_list_rows(c, &read, first, count, step, c->set->wide);
        wg_matrix_touch_rows(t, &read, WG_TOUCH_READ, c->set->wide);
    }
}

/* The cycle of its next step; WG_NEVER: it has none left. */
static uint64_t due(const wg_matrix_op *op)
{
    uint64_t at = op->effect_at < op->flip_at ? op->effect_at : op->flip_at;
    at = at < op->give_at ? at : op->give_at;
    return at < op->done_at ? at : op->done_at;
}

/* Pointers move at `flip`, banks change hands at `give` or with their pointer, whichever is later; both in order. */
static void order_flips(wg_matrix *m, wg_matrix_op *op, uint64_t flip, uint64_t give)
{
    bool resets = op->effect == WG_EFFECT_RESET_BANKS;
    unsigned files = resets ? 3 : op->flip | op->give;
    if (!files)
        return;
    for (unsigned file = 0; file < 2; file++)
        if (files >> file & 1) {
            flip = later(flip, m->last_flip[file]);
            give = later(give, m->last_give[file]);
        }
    give = later(give, flip);
    if (resets)
        op->effect_at = flip = give;
    else
        op->flip_at = flip;
    if (op->give)
        op->give_at = give;
    op->done_at = later(op->done_at, give);
    for (unsigned file = 0; file < 2; file++)
        if (files >> file & 1) {
            m->last_flip[file] = flip;
            m->last_give[file] = give;
        }
}

static void accept(wg_tile *t, const wg_insn *insn)
{
    wg_matrix *m = &t->backend.matrix;
    uint64_t now = t->sched.now;
    wg_insn_id id = insn->op ? (wg_insn_id)insn->op : wg_isa_decode(t->arch->id, insn->word)->id;
    const entry *e = &entries[id];
    unsigned place = m->tail++ % WG_MATRIX_FLIGHTS;
    wg_matrix_op *op = &m->flight[place];
    op->insn = *insn;
    op->insn.thread %= WG_THREADS;
    op->effect = WG_EFFECT_NONE;
    op->flip = op->give = 0;
    op->flip_at = op->give_at = WG_NEVER;
    op->rows = 0;
    op->flag = op->together = false;
    op->columns = 0xFFFF;
    enters(m, op->insn.thread, now);

    const unsigned documented = e->issue ? e->latency : 1;
    const unsigned latency = wg_takes(t, WG_AGENT_MATRIX, insn, documented, 1);
    uint32_t extra = 0; /* one-cycle instructions are never delayed: software relies on that */
    if (documented > 1)
        extra = wg_perturb(t, WG_SITE_COMPLETE, WG_AGENT_MATRIX, wg_unit_event(&op->insn));
    const unsigned stages = wg_takes(t, WG_AGENT_MATRIX, insn, stages_of(t->timing, e), 1);
    op->done_at = now + (latency > stages ? latency : stages) + extra;
    op->effect_at = now + (e->effect ? wg_takes(t, WG_AGENT_MATRIX, insn, e->effect, 1) : latency) + extra;
    if (wg_matrix_implements(id, t->arch->id)) {
        wg_matrix_ctx c;
        wg_matrix_context(t, &op->insn, &c);
        /* Operands first: the handover of a bank also orders the unpackers' configuration writes. */
        if (wg_touch_watched(t))
            touch_operands(&c, e, id);
        if (wg_touch_watched(t) || t->backend.config.instructions)
            read_configuration(&c, e, id);
        e->issue(&c, op);
    } else {
        wg_find_insn(t, WG_F_UNIMPLEMENTED_INSN, &op->insn, wg_opcode(insn->word), 0);
    }

    if (op->effect >= WG_EFFECT_DST16 && op->effect <= WG_EFFECT_UNDEFINE)
        wg_matrix_order_dst(m, op,
                            is_arithmetic(e)
                                ? now + 1 + wg_takes(t, WG_AGENT_MATRIX, insn, t->timing->dst_block_cycles, 0) + extra
                                : op->effect_at);
    if (op->effect >= WG_EFFECT_SRC && op->effect <= WG_EFFECT_TRANSPOSE) {
        /*
         * Source writes land in order of acceptance. Without delays they do anyway, since back-to-back ones have
         * equal latency.
         */
        op->effect_at = later(op->effect_at, m->src_lands);
        m->src_lands = op->effect_at;
    }
    set_gaps(m, id, op, now);
    if (op->effect == WG_EFFECT_NONE)
        op->effect_at = WG_NEVER;
    else
        op->done_at = later(op->done_at, op->effect_at);
    order_flips(m, op, now + latency + extra,
                now + wg_takes(t, WG_AGENT_MATRIX, insn, t->timing->bank_return, 0) + extra);
    m->due[place] = due(op);
    wg_wake_at(&t->sched, WG_AGENT_MATRIX, m->due[place]);
}

/* ---- Bank flips ----------------------------------------------------------------------------------- */

void wg_matrix_flip(wg_matrix_ctx *c, wg_matrix_op *op, unsigned which, bool honour_disable, bool keep_pointer)
{
    wg_matrix *m = &c->to->backend.matrix;
    for (unsigned file = 0; file < 2; file++) {
        if (!(which >> file & 1) || c->t->regs.src.frozen[file])
            continue;
        unsigned bank = c->bank[file];
        bool gives = !(honour_disable && c->set->keep[file]);
        if (gives && !wg_matrix_owns(c, (wg_src_file)file))
            wg_matrix_report(c, WG_F_MATRIX_BANK, file * 2 + bank, 0);
        if (!m->flips) {
            m->issue_bank[WG_SRCA] = c->bank[WG_SRCA];
            m->issue_bank[WG_SRCB] = c->bank[WG_SRCB];
        }
        m->flips++;
        if (gives)
            wg_touch(c->to, WG_TOUCH_WRITE, WG_TOUCH_BANK_OWNER, file * 2 + bank, 1);
        if (!keep_pointer)
            wg_touch(c->to, WG_TOUCH_WRITE, WG_TOUCH_BANK_POINTER, file, 1);
        if (gives) {
            op->give |= (uint8_t)(1u << file);
            op->give_bank[file] = (uint8_t)bank;
            m->giving[file][bank]++;
        }
        if (!keep_pointer) {
            op->flip |= (uint8_t)(1u << file);
            m->issue_bank[file] ^= 1;
        }
        wg_wake_waiting(&c->to->sched, WG_CAUSE_SRC); /* conditions on this bank are evaluated again */
    }
}

/*
 * Soft reset of a file's owners and bank pointers cancels the flips in flight. Decided here: also those that would
 * land after the reset.
 */
void wg_matrix_forget_flips(wg_tile *t, wg_src_file file)
{
    wg_matrix *m = &t->backend.matrix;
    for (uint32_t i = m->head; i != m->tail; i++) {
        wg_matrix_op *op = &m->flight[i % WG_MATRIX_FLIGHTS];
        if (!((op->give | op->flip) >> file & 1))
            continue;
        if (op->flip_at != WG_NEVER) {
            m->flips--;
            if (op->give >> file & 1)
                m->giving[file][op->give_bank[file]]--;
        }
        op->give &= (uint8_t) ~(1u << file);
        op->flip &= (uint8_t) ~(1u << file);
    }
    m->issue_bank[file] = 0;
}

/* Switches the pointers. Banks that are handed over are now in transit. */
static void land_flip(wg_tile *t, wg_matrix_op *op)
{
    wg_matrix *m = &t->backend.matrix;
    wg_src *s = &t->regs.src;
    for (unsigned file = 0; file < 2; file++) {
        if (!((op->give | op->flip) >> file & 1))
            continue;
        m->flips--;
        if (op->flip >> file & 1)
            *(file == WG_SRCA ? &s->matrix_bank_a : &s->matrix_bank_b) ^= 1;
        if (op->give >> file & 1) {
            m->giving[file][op->give_bank[file]]--;
            s->leaving[file] |= (uint8_t)(1u << op->give_bank[file]);
        }
    }
    wg_wake_waiting(&t->sched, WG_CAUSE_SRC); /* C7 and C8 test the pointer's new bank */
    wg_wake(&t->sched, WG_AGENT_UNPACK0);     /* so does a clearing UNPACR_NOP */
}

/* Banks go back to the unpackers, unless the Matrix Unit has been given them again meanwhile. */
static void land_give(wg_tile *t, const wg_matrix_op *op)
{
    for (unsigned file = 0; file < 2; file++)
        if (op->give >> file & 1 && t->regs.src.leaving[file] >> op->give_bank[file] & 1)
            wg_src_give_to_unpackers(t, (wg_src_file)file, op->give_bank[file], WG_AGENT_MATRIX);
}

/* An instruction has left the unit. Waits on the unit end when the thread has nothing left in it. */
static void completed(wg_tile *t, const wg_matrix_op *op)
{
    WG_EMIT_INSN(t, WG_EV_COMPLETED, WG_AGENT_MATRIX, &op->insn);
    if (--t->backend.matrix.in_flight[op->insn.thread])
        return;
    wg_wake_unit_watchers(&t->sched);
    wg_wake_waiting_thread(&t->sched, op->insn.thread, WG_AGENT_BIT(WG_AGENT_MATRIX));
    wg_wake_idle_watchers(&t->sched);
}

static void tick(wg_tile *t)
{
    wg_matrix *m = &t->backend.matrix;
    uint64_t now = t->sched.now, next = WG_NEVER;
    for (uint32_t i = m->head; i != m->tail; i++) {
        uint64_t *at = &m->due[i % WG_MATRIX_FLIGHTS];
        if (*at <= now) {
            wg_matrix_op *op = &m->flight[i % WG_MATRIX_FLIGHTS];
            if (op->effect_at <= now) {
                op->effect_at = WG_NEVER;
                if (wg_touch_watched(t))
                    wg_matrix_touch_effect(t, op);
                wg_matrix_land(t, op);
            }
            if (op->flip_at <= now) {
                op->flip_at = WG_NEVER;
                wg_touch_by(t, WG_AGENT_MATRIX, &op->insn);
                land_flip(t, op);
            }
            if (op->give_at <= now) {
                op->give_at = WG_NEVER;
                wg_touch_by(t, WG_AGENT_MATRIX, &op->insn);
                land_give(t, op);
            }
            if (op->done_at <= now) {
                op->done_at = WG_NEVER;
                completed(t, op);
            }
            *at = due(op);
        }
        next = *at < next ? *at : next;
    }
    while (m->head != m->tail && m->due[m->head % WG_MATRIX_FLIGHTS] == WG_NEVER)
        m->head++;
    wg_set_wake(&t->sched, WG_AGENT_MATRIX, next);
}

static bool busy(const wg_tile *t, unsigned thread) { return t->backend.matrix.in_flight[thread % WG_THREADS] != 0; }

static void reset(wg_tile *t) { t->sched.next[WG_AGENT_MATRIX] = WG_NEVER; }

static void abort_all(wg_tile *t)
{
    memset(&t->backend.matrix, 0, sizeof t->backend.matrix);
    reset(t);
}

void wg_matrix_seed(wg_tile *t) { memcpy(t->backend.matrix.prng, t->regs.lreg.prng, sizeof t->backend.matrix.prng); }

uint64_t wg_dst_block_ready_at(const wg_tile *t, unsigned stored_row)
{
    return t->backend.matrix.block_ready[stored_row / 8 % WG_DST_BLOCKS];
}

void wg_dst_block_written(wg_tile *t, unsigned stored_row, uint64_t ready)
{
    uint64_t *block = &t->backend.matrix.block_ready[stored_row / 8 % WG_DST_BLOCKS];
    *block = later(*block, ready);
    t->backend.matrix.blocks_ready = later(t->backend.matrix.blocks_ready, ready);
}

const wg_unit_ops wg_matrix_unit = {
    .name = "Matrix Unit",
    .agent = WG_AGENT_MATRIX,
    .reset = reset,
    .abort = abort_all,
    .check = check,
    .refused = refused,
    .accept = accept,
    .tick = tick,
    .busy = busy,
};
