/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix Unit: acceptance, hazards, effects, bank flips. What the instructions compute is in matrix_mul.c,
 * matrix_elw.c, matrix_pool.c, matrix_move.c and matrix_clear.c.
 *
 * Facts: MatrixUnit.md (latencies), the "Instruction scheduling" parts of Dst.md, MOVA2D.md, MOVB2D.md,
 * MOVD2A.md, MOVD2B.md, MOVB2A.md, SHIFTXB.md; GATE-13, GATE-15, GATE-21, GATE-22, PIPE-20.
 */
#include "backend/matrix_internal.h"

#include <string.h>

#include "backend/config.h"
#include "num/simd.h"

static const wg_matrix_layout layouts[] = {
    [WG_ARCH_BH] = {.addr_mod = 14, .pool_addr_mod = 15, .addr_mod_bits = 3, .movb2d_mode = 11, .zeroacc_wide = 18,
                    .zeroacc_revert = 17, .zeroacc_relative = true, .implied_formats = true, .lost_one = false},
    [WG_ARCH_WH] = {.addr_mod = 15, .pool_addr_mod = 15, .addr_mod_bits = 2, .movb2d_mode = 12, .zeroacc_wide = 21,
                    .zeroacc_revert = 18, .zeroacc_relative = false, .implied_formats = false, .lost_one = true},
};

/* How an instruction reads Dst, which decides whether it waits for a block that is being written. */
typedef enum dst_reads { READS_NONE, READS_8, READS_4, READS_MVMUL, READS_IF_ADDED, READS_MOVED } dst_reads;

typedef enum gap_class {
    GAP_PLAIN,      /* waits behind every issue gap */
    GAP_SRC_MOVE,   /* MOVD2A, MOVB2A: follow each other freely */
    GAP_MOVD2B      /* follows itself freely */
} gap_class;

typedef struct entry {
    wg_matrix_issue *issue;
    uint8_t waits;      /* bit 0: for SrcA, bit 1: for SrcB (GATE-22) */
    uint8_t reads;      /* dst_reads */
    uint8_t gap;        /* gap_class */
    bool reader;        /* waits behind MOVA2D and MOVB2D, wherever it reads */
    uint8_t latency;    /* 0: that of the arithmetic */
    uint8_t effect;     /* cycles until it takes effect; 0: as the latency */
    uint8_t archs;      /* bit per wg_arch_id */
} entry;

enum { A = 1, B = 2, AB = 3, BH = 1 << WG_ARCH_BH, BOTH = 3 };

/*
 * Ruling on MOVB2A: its page keeps others away for one cycle, MatrixUnit.md gives it a latency of 4. Both
 * hold: what it wrote can be read from the second cycle on, and it leaves the unit after four.
 * Decided here: MOVDBGB2D is to MOVB2D what MOVDBGA2D is to MOVA2D; TRNSPSRCA waits for SrcA.
 */
static const entry entries[WG_I_COUNT] = {
    [WG_I_MVMUL] = {wg_matrix_mvmul, AB, READS_MVMUL, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_DOTPV] = {wg_matrix_dotpv, AB, READS_8, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_GAPOOL] = {wg_matrix_gapool, AB, READS_4, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_GMPOOL] = {wg_matrix_gmpool, AB, READS_4, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_ELWMUL] = {wg_matrix_elwmul, AB, READS_8, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_ELWADD] = {wg_matrix_elwadd, AB, READS_IF_ADDED, GAP_PLAIN, false, 0, 0, BOTH},
    [WG_I_ELWSUB] = {wg_matrix_elwsub, AB, READS_IF_ADDED, GAP_PLAIN, false, 0, 0, BOTH},
    [WG_I_CONV3S1] = {wg_matrix_conv, AB, READS_8, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_CONV3S2] = {wg_matrix_conv, AB, READS_8, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_MFCONV3S1] = {wg_matrix_conv, AB, READS_8, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_APOOL3S1] = {wg_matrix_apool, AB, READS_4, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_APOOL3S2] = {wg_matrix_apool, AB, READS_4, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_MPOOL3S1] = {wg_matrix_mpool, AB, READS_4, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_MPOOL3S2] = {wg_matrix_mpool, AB, READS_4, GAP_PLAIN, true, 0, 0, BOTH},
    [WG_I_MOVA2D] = {wg_matrix_mova2d, A, READS_NONE, GAP_PLAIN, false, 4, 0, BOTH},
    [WG_I_MOVDBGA2D] = {wg_matrix_mova2d, 0, READS_NONE, GAP_PLAIN, false, 4, 0, BOTH},
    [WG_I_MOVB2D] = {wg_matrix_movb2d, B, READS_NONE, GAP_PLAIN, false, 4, 0, BOTH},
    [WG_I_MOVDBGB2D] = {wg_matrix_movb2d, 0, READS_NONE, GAP_PLAIN, false, 4, 0, BH},
    [WG_I_MOVD2A] = {wg_matrix_movd2a, 0, READS_MOVED, GAP_SRC_MOVE, true, 2, 0, BOTH},
    [WG_I_MOVD2B] = {wg_matrix_movd2b, 0, READS_MOVED, GAP_MOVD2B, true, 4, 0, BOTH},
    [WG_I_MOVB2A] = {wg_matrix_movb2a, B, READS_NONE, GAP_SRC_MOVE, false, 4, 2, BOTH},
    [WG_I_SHIFTXA] = {wg_matrix_shiftxa, A, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_SHIFTXB] = {wg_matrix_shiftxb, B, READS_NONE, GAP_PLAIN, false, 2, 0, BOTH},
    [WG_I_TRNSPSRCA] = {wg_matrix_trnspsrca, A, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_TRNSPSRCB] = {wg_matrix_trnspsrcb, B, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_ZEROACC] = {wg_matrix_zeroacc, 0, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_ZEROSRC] = {wg_matrix_zerosrc, 0, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_CLEARDVALID] = {wg_matrix_cleardvalid, 0, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_GATESRCRST] = {wg_matrix_gatesrcrst, 0, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_CLREXPHIST] = {wg_matrix_clrexphist, 0, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_SETRWC] = {wg_matrix_setrwc, 0, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
    [WG_I_INCRWC] = {wg_matrix_incrwc, 0, READS_NONE, GAP_PLAIN, false, 1, 0, BOTH},
};

bool wg_matrix_implements(wg_insn_id id, wg_arch_id arch)
{
    return (unsigned)id < WG_I_COUNT && entries[id].issue && entries[id].archs >> arch & 1;
}

/* ---- Operands ------------------------------------------------------------------------------------- */

/* What tells the banks and rows that an instruction uses. */
static void context(wg_tile *t, const wg_insn *insn, wg_matrix_ctx *c)
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
    c->cfg = t->regs.config.bank[wg_matrix_tcfg(c, WG_TCFG_CFG_STATE_ID_StateID)];
    c->rwc = &t->regs.rwc.thread[thread];
    c->access = wg_dst_access_now(t);
    c->bank[WG_SRCA] = m->flips ? m->issue_bank[WG_SRCA] : s->matrix_bank_a & 1;
    c->bank[WG_SRCB] = m->flips ? m->issue_bank[WG_SRCB] : s->matrix_bank_b & 1;
}

/* What its handler wants to know beyond that. */
static void complete_context(wg_matrix_ctx *c)
{
    const wg_src *s = &c->t->regs.src;
    c->flush = !wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src);
    unsigned fmt_a = wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_override)
                         ? wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_val)
                         : wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA);
    /* Decided here: SrcB's override works as SrcA's; no source uses it. */
    unsigned fmt_b = wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_override)
                         ? wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_val)
                         : wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB);
    if (c->layout->implied_formats) {
        if (!wg_matrix_tcfg(c, WG_TCFG_DISABLE_IMPLIED_SRCA_FMT_Base))
            fmt_a = s->format_a[c->bank[WG_SRCA]];
        if (!wg_matrix_tcfg(c, WG_TCFG_DISABLE_IMPLIED_SRCB_FMT_Base))
            fmt_b = s->format_b[c->bank[WG_SRCB]];
    }
    c->fmt[WG_SRCA] = (uint8_t)(fmt_a & 15);
    c->fmt[WG_SRCB] = (uint8_t)(fmt_b & 15);
    c->phase = (c->rwc->fidelity + wg_matrix_tcfg(c, WG_TCFG_FIDELITY_BASE_Phase)) & 3;
}

/* UseDst32b of arithmetic. */
static bool uses_wide(const wg_matrix_ctx *c)
{
    return !wg_matrix_tcfg(c, WG_TCFG_FP16A_FORCE_Enable) && (wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled) ||
                                                              wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_Fp32_enabled));
}

void wg_matrix_formats(wg_matrix_ctx *c)
{
    c->wide = uses_wide(c);
    if (wg_matrix_tcfg(c, WG_TCFG_FP16A_FORCE_Enable)) {
        c->style = WG_STYLE_FP16;
    } else if (wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled)) {
        c->style = WG_STYLE_INT8;
    } else {
        c->style = (uint8_t)wg_format_style(c->fmt[WG_SRCA]);
    }
    /*
     * Ruling: SrcA's format says how SrcB is read (documents), except that without TF32 as its own format
     * SrcB loses the three mantissa bits that only TF32 has (ttsim; the documents do not say).
     */
    c->style_b = c->style;
    if (c->style == WG_STYLE_BF16 || c->style == WG_STYLE_TF32)
        c->style_b = wg_format_style(c->fmt[WG_SRCB]) == WG_STYLE_TF32 ? WG_STYLE_TF32 : WG_STYLE_BF16;
}

void wg_matrix_check_settings(wg_matrix_ctx *c)
{
    if (c->style == WG_STYLE_INT8)
        return;
    if (!wg_format_known(c->fmt[WG_SRCA]) && !wg_matrix_tcfg(c, WG_TCFG_FP16A_FORCE_Enable))
        wg_matrix_report(c, WG_F_MATRIX_FORMAT, c->fmt[WG_SRCA], 0);
    if (wg_matrix_cfg(c, WG_CFG_ALU_ROUNDING_MODE_Fpu_srnd_en))
        wg_findf(c->t, WG_F_UNIMPLEMENTED_REGISTER, wg_insn_finding(c->insn, 1, 1),
                 "ALU_ROUNDING_MODE_Fpu_srnd_en: stochastic rounding in the Matrix Unit");
}

unsigned wg_matrix_dst_row(const wg_matrix_ctx *c, unsigned mask)
{
    unsigned row = c->word & 0x3FF;
    row += wg_matrix_tcfg(c, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset);
    row += c->rwc->dst + wg_matrix_cfg(c, WG_CFG_DEST_REGW_BASE_Base);
    return row & mask & 0x3FF;
}

void wg_matrix_list_rows(const wg_matrix_ctx *c, wg_matrix_op *op, unsigned first, unsigned count, unsigned step,
                         bool wide)
{
    op->rows = (uint8_t)count;
    /* The rows lie in one aligned block of eight, which stays together unless rows are swizzled. */
    unsigned stored = wg_dst_stored(c->access, first, wide);
    for (unsigned i = 0; i < count; i++)
        op->row[i] =
            (uint16_t)(c->access.swizzle ? wg_dst_stored(c->access, first + i * step, wide) : stored + i * step);
}

void wg_matrix_gather(const wg_matrix_ctx *c, wg_matrix_op *op, bool wide, uint16_t identity)
{
    const wg_dst *d = &c->t->regs.dst;
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
    wg_rwc_apply(c->rwc, c->arch, c->tcfg, addr_mod & ((1u << c->layout->addr_mod_bits) - 1), true);
}

/* ---- Acceptance ----------------------------------------------------------------------------------- */

/* Lists the rows of Dst that the instruction reads; false if it reads none. */
static bool rows_read(const wg_matrix_ctx *c, const entry *e, wg_matrix_op *op)
{
    unsigned mask = 0x3F8, count = 8, step = 1;
    if (e->reads == READS_NONE || (e->reads == READS_IF_ADDED && !(c->word >> 21 & 1)))
        return false;
    switch (e->reads) {
    case READS_4:
        mask = 0x3FC;
        count = 4;
        break;
    case READS_MVMUL:
        if (c->word >> 19 & 1) {
            mask = 0x400 - 7;
            count = 4;
            step = 2;
        }
        break;
    case READS_MOVED:
        count = c->word >> 13 & 1 ? 4 : 1;
        mask = c->word >> 13 & 1 ? 0x3FC : 0x3FF;
        break;
    default:
        break;
    }
    wg_matrix_list_rows(c, op, wg_matrix_dst_row(c, mask), count, step, uses_wide(c));
    return true;
}

static bool refuse(wg_stall *why, wg_stall_reason reason, unsigned resource, uint64_t retry_at)
{
    *why = (wg_stall){.reason = (uint16_t)reason, .resource = (uint16_t)resource, .holder = WG_AGENT_MATRIX,
                      .retry_at = retry_at};
    return false;
}

/* Refuses while a bank is not the Matrix Unit's. One that is being given back comes back from the unpackers. */
static bool bank_ready(const wg_matrix_ctx *c, wg_src_file file, wg_stall *why)
{
    if (wg_matrix_owns(c, file))
        return true;
    refuse(why, file == WG_SRCA ? WG_STALL_SRCA_NOT_HANDED_OVER : WG_STALL_SRCB_NOT_HANDED_OVER, c->bank[file],
           WG_NEVER);
    why->holder = file == WG_SRCA ? WG_AGENT_UNPACK0 : WG_AGENT_UNPACK1;
    return false;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

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

static bool check(wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    const wg_matrix *m = &t->backend.matrix;
    uint64_t now = t->sched.now;
    const entry *e = &entries[wg_isa_decode(t->arch->id, insn->word)->id];
    if (m->last_accept == now + 1) {
        refuse(why, WG_STALL_ARBITRATION, WG_UNIT_MATRIX, now + 1);
        why->holder = (uint8_t)(WG_AGENT_THREAD0 + m->last_thread);
        return false;
    }
    if (m->tail - m->head == WG_MATRIX_FLIGHTS)
        return refuse(why, WG_STALL_UNIT_BUSY, WG_UNIT_MATRIX, now + 1);
    uint64_t from = gap_end(m, e);
    if (from > now)
        return refuse(why, WG_STALL_MATRIX_ISSUE_GAP, WG_UNIT_MATRIX, from);
    if (!e->waits && e->reads == READS_NONE)
        return true;

    wg_matrix_ctx c;
    context(t, insn, &c);
    if ((e->waits & A) && !bank_ready(&c, WG_SRCA, why))
        return false;
    if ((e->waits & B) && !bank_ready(&c, WG_SRCB, why))
        return false;
    wg_matrix_op read;
    if (!rows_read(&c, e, &read))
        return true;
    uint64_t ready = 0;
    unsigned block = 0;
    for (unsigned i = 0; i < read.rows; i++)
        if (m->block_ready[read.row[i] / 8] > ready) {
            block = read.row[i] / 8u;
            ready = m->block_ready[block];
        }
    return ready <= now || refuse(why, WG_STALL_DST_BLOCK_WRITTEN, block, ready);
}

/* The blocks of Dst that an effect changes; returns how many. */
static unsigned blocks_changed(const wg_matrix_op *op, uint8_t block[WG_DST_BLOCKS])
{
    unsigned count = 0;
    if (op->effect == WG_EFFECT_UNDEFINE) {
        for (unsigned i = 0; i < WG_DST_BLOCKS; i++)
            if (op->marks[i / 8] >> 8 * (i & 7) & 0xFF)
                block[count++] = (uint8_t)i;
        return count;
    }
    for (unsigned i = 0; i < op->rows; i++) {
        uint8_t b = (uint8_t)(op->row[i] / 8);
        if (count && (block[count - 1] == b || block[count - 1] == b + 1))
            continue;   /* rows of one block come one after another */
        block[count++] = b;
        if (op->effect != WG_EFFECT_DST16)
            block[count++] = (uint8_t)(b + 1);
    }
    return count;
}

/* A block's writes take effect in order of acceptance. Decided here: a shorter instruction waits for a longer one. */
static void order_dst_effect(wg_matrix *m, wg_matrix_op *op, uint64_t ready)
{
    uint8_t block[WG_DST_BLOCKS];
    unsigned count = blocks_changed(op, block);
    for (unsigned i = 0; i < count; i++)
        op->effect_at = later(op->effect_at, m->block_lands[block[i]]);
    for (unsigned i = 0; i < count; i++) {
        m->block_lands[block[i]] = op->effect_at;
        m->block_ready[block[i]] = later(m->block_ready[block[i]], later(ready, op->effect_at));
    }
}

static void set_gaps(wg_matrix *m, wg_insn_id id, const wg_matrix_op *op, uint64_t now)
{
    switch (id) {
    case WG_I_SHIFTXB:
        m->all_from = later(now + 2, op->effect_at);
        break;
    case WG_I_MOVD2A:
    case WG_I_MOVB2A:
        m->not_src_moves_from = later(now + 2, op->effect_at);
        break;
    case WG_I_MOVD2B:
        m->not_movd2b_from = later(now + 4, op->effect_at);
        break;
    case WG_I_MOVA2D:
    case WG_I_MOVDBGA2D:
    case WG_I_MOVB2D:
    case WG_I_MOVDBGB2D:
        m->dst_readers_from = later(now + 4, op->effect_at);
        break;
    default:   /* other changes of source registers are over by the next cycle, unless delayed */
        if (op->effect >= WG_EFFECT_SRC && op->effect <= WG_EFFECT_TRANSPOSE)
            m->all_from = later(m->all_from, op->effect_at);
        break;
    }
}

/* ---- Touches, while somebody watches --------------------------------------------------------------- */

static void touch_rows(wg_tile *t, const wg_matrix_op *op, unsigned how, bool wide)
{
    for (unsigned i = 0, n; i < op->rows; i += n) {
        for (n = 1; i + n < op->rows && op->row[i + n] == op->row[i] + n; n++)
            continue;
        wg_touch_dst(t, how, op->row[i], n, wide);
    }
}

/*
 * What it reads when it is accepted: configuration, source rows, Dst. The counters move in this cycle, so they are
 * looked at before the handler runs.
 */
static void touch_operands(wg_matrix_ctx *c, const entry *e, wg_insn_id id)
{
    static const uint16_t formats[] = {
        WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_override, WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_val, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA,
        WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_override, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_val, WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB,
        WG_CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled, WG_CFG_ALU_ACC_CTRL_Fp32_enabled};
    wg_tile *t = c->t;
    unsigned thread = c->insn->thread;
    bool to_dst = e->reads != READS_NONE || id == WG_I_ELWADD || id == WG_I_ELWSUB || id == WG_I_MOVA2D ||
                  id == WG_I_MOVB2D || id == WG_I_MOVDBGA2D || id == WG_I_MOVDBGB2D;
    bool elementwise = id == WG_I_ELWADD || id == WG_I_ELWSUB || id == WG_I_ELWMUL;
    wg_matrix_op read;
    wg_touch(t, WG_TOUCH_READ | WG_TOUCH_WRITE | WG_TOUCH_AT_GATE, WG_TOUCH_RWC, thread, 1);
    if (to_dst || id == WG_I_ZEROACC) {
        const wg_cfg_field *offset = &wg_tcfg_fields[c->arch][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset];
        wg_touch_thread_config(t, WG_TOUCH_READ, thread, offset->word, 0xFFFF);
        (void)wg_config_get(t, thread, WG_CFG_DEST_REGW_BASE_Base);
    }
    for (unsigned i = 0; to_dst && i < sizeof formats / sizeof *formats; i++)
        (void)wg_config_get(t, thread, (wg_cfg_id)formats[i]);
    bool reads_a = e->waits & A || id == WG_I_MOVDBGA2D, reads_b = e->waits & B || id == WG_I_MOVDBGB2D;
    unsigned rows_a = elementwise || !to_dst || id == WG_I_MOVA2D ? 8 : 16;
    if (reads_a)
        wg_touch_src(t, WG_TOUCH_READ, WG_SRCA, c->bank[WG_SRCA], c->rwc->srca & (rows_a == 16 ? 0x30u : 0x38u), rows_a);
    if (reads_b)
        wg_touch_src(t, WG_TOUCH_READ, WG_SRCB, c->bank[WG_SRCB], c->rwc->srcb & 0x38u, 8);
    if (rows_read(c, e, &read))
        touch_rows(t, &read, WG_TOUCH_READ, uses_wide(c));
}

static void touch_effect(wg_tile *t, const wg_matrix_op *op)
{
    wg_touch_by(t, WG_AGENT_MATRIX, &op->insn);
    switch ((wg_matrix_effect)op->effect) {
    case WG_EFFECT_DST16:
    case WG_EFFECT_DST32:
    case WG_EFFECT_DST_LOW: touch_rows(t, op, WG_TOUCH_WRITE, op->effect != WG_EFFECT_DST16); break;
    case WG_EFFECT_UNDEFINE:
        for (unsigned row = 0, n; row < WG_DST_ROWS; row += n) {
            bool marked = op->marks[row / 64] >> (row & 63) & 1;
            for (n = 1; row + n < WG_DST_ROWS && (op->marks[(row + n) / 64] >> ((row + n) & 63) & 1) == marked; n++)
                continue;
            if (marked)
                wg_touch_dst(t, WG_TOUCH_WRITE, row, n, false);
        }
        break;
    case WG_EFFECT_SRC: wg_touch_src(t, WG_TOUCH_WRITE, op->file, op->bank, op->src_row, op->rows); break;
    case WG_EFFECT_ZEROSRC:
        for (unsigned i = 0; i < 4; i++)
            if (op->banks >> i & 1)
                wg_touch_src(t, WG_TOUCH_WRITE, i / 2, i & 1, 0, 64);
        break;
    case WG_EFFECT_SHIFTXA: wg_touch_src(t, WG_TOUCH_WRITE, WG_SRCA, op->bank, 0, 16); break;
    case WG_EFFECT_SHIFTXB: wg_touch_src(t, WG_TOUCH_WRITE, WG_SRCB, op->bank, op->src_row, 1); break;
    case WG_EFFECT_TRANSPOSE: wg_touch_src(t, WG_TOUCH_WRITE, op->file, op->bank, 16, 16); break;
    case WG_EFFECT_NONE:
    case WG_EFFECT_EXPHIST:
    case WG_EFFECT_RESET_BANKS: break;
    }
}

static void accept(wg_tile *t, const wg_insn *insn)
{
    wg_matrix *m = &t->backend.matrix;
    uint64_t now = t->sched.now;
    const wg_isa_insn *isa = wg_isa_decode(t->arch->id, insn->word);
    const entry *e = &entries[isa->id];
    wg_matrix_op *op = &m->flight[m->tail++ % WG_MATRIX_FLIGHTS];
    op->insn = *insn;
    op->insn.thread %= WG_THREADS;
    op->effect = WG_EFFECT_NONE;
    op->flip = op->give = 0;
    op->flip_at = WG_NEVER;
    op->rows = 0;
    op->flag = false;
    op->columns = 0xFFFF;
    m->last_accept = now + 1;
    m->last_thread = op->insn.thread;
    m->in_flight[op->insn.thread]++;

    uint32_t extra = wg_perturb(t, WG_SITE_COMPLETE, WG_AGENT_MATRIX, wg_unit_event(&op->insn));
    unsigned latency = e->latency ? e->latency : e->issue ? t->timing->matrix_latency : 1;
    op->done_at = now + latency + extra;
    op->effect_at = now + (e->effect ? e->effect : latency) + extra;
    if (wg_matrix_implements(isa->id, t->arch->id)) {
        wg_matrix_ctx c;
        context(t, &op->insn, &c);
        complete_context(&c);
        if (wg_touch_watched(t))
            touch_operands(&c, e, isa->id);
        e->issue(&c, op);
    } else {
        wg_find_insn(t, WG_F_UNIMPLEMENTED_INSN, &op->insn, isa->opcode, 0);
    }

    if (op->effect >= WG_EFFECT_DST16 && op->effect <= WG_EFFECT_UNDEFINE) {
        bool arithmetic = !e->latency;
        order_dst_effect(m, op, arithmetic ? now + 1 + t->timing->dst_block_cycles + extra : op->effect_at);
    }
    set_gaps(m, isa->id, op, now);
    if (op->flip || op->give || op->effect == WG_EFFECT_RESET_BANKS) {
        uint64_t at = op->done_at;
        for (unsigned file = 0; file < 2; file++)
            if ((op->flip | op->give) >> file & 1 || op->effect == WG_EFFECT_RESET_BANKS)
                at = later(at, m->last_flip[file]);
        for (unsigned file = 0; file < 2; file++)
            if ((op->flip | op->give) >> file & 1 || op->effect == WG_EFFECT_RESET_BANKS)
                m->last_flip[file] = at;
        if (op->effect == WG_EFFECT_RESET_BANKS)
            op->effect_at = at;
        else
            op->flip_at = at;
        op->done_at = at;
    }
    if (op->effect == WG_EFFECT_NONE)
        op->effect_at = WG_NEVER;
    else
        op->done_at = later(op->done_at, op->effect_at);
    uint64_t next = op->effect_at < op->flip_at ? op->effect_at : op->flip_at;
    wg_wake_at(&t->sched, WG_AGENT_MATRIX, next < op->done_at ? next : op->done_at);
}

/* ---- Bank flips ----------------------------------------------------------------------------------- */

void wg_matrix_flip(wg_matrix_ctx *c, wg_matrix_op *op, unsigned which, bool honour_disable, bool keep_pointer)
{
    static const wg_tcfg_id disable[2] = {WG_TCFG_CLR_DVALID_SrcA_Disable, WG_TCFG_CLR_DVALID_SrcB_Disable};
    wg_matrix *m = &c->t->backend.matrix;
    for (unsigned file = 0; file < 2; file++) {
        if (!(which >> file & 1))
            continue;
        unsigned bank = c->bank[file];
        bool gives = !(honour_disable && wg_matrix_tcfg(c, disable[file]));
        if (gives && !wg_matrix_owns(c, (wg_src_file)file))
            wg_matrix_report(c, WG_F_MATRIX_BANK, file * 2 + bank, 0);
        if (!m->flips) {
            m->issue_bank[WG_SRCA] = c->bank[WG_SRCA];
            m->issue_bank[WG_SRCB] = c->bank[WG_SRCB];
        }
        m->flips++;
        if (gives) {
            op->give |= (uint8_t)(1u << file);
            op->give_bank[file] = (uint8_t)bank;
            m->giving[file][bank]++;
        }
        if (!keep_pointer) {
            op->flip |= (uint8_t)(1u << file);
            m->issue_bank[file] ^= 1;
        }
    }
}

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
            wg_src_give_to_unpackers(t, (wg_src_file)file, op->give_bank[file], WG_AGENT_MATRIX);
        }
    }
    wg_wake_threads(&t->sched);   /* C7 and C8 look at the pointer's new bank */
    wg_wake(&t->sched, WG_AGENT_UNPACK0);   /* so does a clearing UNPACR_NOP */
}

/* ---- Effects -------------------------------------------------------------------------------------- */

static void land_rows(wg_dst *d, const wg_matrix_op *op)
{
    for (unsigned i = 0; i < op->rows; i++) {
        bool wide = op->effect != WG_EFFECT_DST16;
        uint16_t *hi = d->bits[op->row[i]], *lo = hi + (wide ? WG_DST_LOW * 16 : 0);
        if (op->effect == WG_EFFECT_DST_LOW && wg_dst_is_undefined(d, op->row[i]))
            memset(hi, 0, sizeof d->bits[0]);   /* read as zero, and written back with the new low half */
        wg_dst_define(d, op->row[i]);
        if (op->columns == 0xFFFF) {
            if (op->effect != WG_EFFECT_DST_LOW)
                memcpy(hi, op->hi[i], sizeof op->hi[i]);
            if (wide)
                memcpy(lo, op->lo[i], sizeof op->lo[i]);
            continue;
        }
        for (unsigned j = 0; j < 16; j++) {
            if (!(op->columns >> j & 1))
                continue;
            if (op->effect != WG_EFFECT_DST_LOW)
                hi[j] = op->hi[i][j];
            if (wide)
                lo[j] = op->lo[i][j];
        }
    }
}

static void land_src_rows(wg_src *s, const wg_matrix_op *op)
{
    uint32_t (*rows)[16] = wg_src_rows(s, (wg_src_file)op->file, op->bank);
    for (unsigned i = 0; i < op->rows; i++)
        for (unsigned j = 0; j < 16; j++)
            if (op->columns >> j & 1)
                rows[(op->src_row + i) & 63][j] = op->src[i][j];
}

static void land_zerosrc(wg_src *s, const wg_matrix_op *op)
{
    for (unsigned i = 0; i < 4; i++) {
        if (!(op->banks >> i & 1))
            continue;
        uint32_t *datum = wg_src_rows(s, (wg_src_file)(i / 2), i & 1)[0];
        uint32_t value = op->flag && i < 2 ? (uint32_t)WG_SRC_MASK : 0;
        for (unsigned j = 0; j < 64 * 16; j++)
            datum[j] = value;
    }
}

static void land_shiftxa(wg_src *s, const wg_matrix_op *op)
{
    uint32_t (*rows)[16] = wg_src_rows(s, WG_SRCA, op->bank);
    for (unsigned i = 0; i < 16; i++) {
        const uint32_t *from = rows[op->from_row + i];
        uint32_t shifted[16] = {0};
        for (unsigned j = 0; j < 15; j++)
            shifted[op->flag ? j : j + 1] = from[op->flag ? j + 1 : j];
        memcpy(rows[i], shifted, sizeof shifted);
    }
}

static void land_shiftxb(wg_src *s, const wg_matrix_op *op)
{
    uint32_t *row = wg_src_rows(s, WG_SRCB, op->bank)[op->src_row];
    uint32_t first = row[0];
    memmove(row, row + 1, 15 * sizeof *row);
    row[15] = op->flag ? 0 : first;
}

static void land_transpose(wg_src *s, const wg_matrix_op *op)
{
    uint32_t (*rows)[16] = wg_src_rows(s, (wg_src_file)op->file, op->bank) + 16;
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < i; j++) {
            uint32_t swap = rows[i][j];
            rows[i][j] = rows[j][i];
            rows[j][i] = swap;
        }
}

static void land_reset_banks(wg_tile *t)
{
    wg_matrix *m = &t->backend.matrix;
    m->flips--;
    for (unsigned i = 0; i < 4; i++)
        m->giving[i / 2][i & 1]--;
    wg_src_reset_owners(t, WG_AGENT_MATRIX);
}

static void land(wg_tile *t, const wg_matrix_op *op)
{
    switch ((wg_matrix_effect)op->effect) {
    case WG_EFFECT_NONE: break;
    case WG_EFFECT_DST16:
    case WG_EFFECT_DST32:
    case WG_EFFECT_DST_LOW: land_rows(&t->regs.dst, op); break;
    case WG_EFFECT_UNDEFINE:
        for (unsigned i = 0; i < WG_DST_ROWS / 64; i++)
            t->regs.dst.undefined[i] = op->flag ? t->regs.dst.undefined[i] & ~op->marks[i]
                                                : t->regs.dst.undefined[i] | op->marks[i];
        break;
    case WG_EFFECT_SRC: land_src_rows(&t->regs.src, op); break;
    case WG_EFFECT_ZEROSRC: land_zerosrc(&t->regs.src, op); break;
    case WG_EFFECT_SHIFTXA: land_shiftxa(&t->regs.src, op); break;
    case WG_EFFECT_SHIFTXB: land_shiftxb(&t->regs.src, op); break;
    case WG_EFFECT_TRANSPOSE: land_transpose(&t->regs.src, op); break;
    case WG_EFFECT_EXPHIST: memset(&t->regs.exphist, 0, sizeof t->regs.exphist); break;
    case WG_EFFECT_RESET_BANKS: land_reset_banks(t); break;
    }
}

static void tick(wg_tile *t)
{
    wg_matrix *m = &t->backend.matrix;
    uint64_t now = t->sched.now, next = WG_NEVER;
    for (uint32_t i = m->head; i != m->tail; i++) {
        wg_matrix_op *op = &m->flight[i % WG_MATRIX_FLIGHTS];
        if (op->done_at == WG_NEVER)
            continue;
        if (op->effect_at <= now) {
            op->effect_at = WG_NEVER;
            if (wg_touch_watched(t))
                touch_effect(t, op);
            land(t, op);
        }
        if (op->flip_at <= now) {
            op->flip_at = WG_NEVER;
            wg_touch_by(t, WG_AGENT_MATRIX, &op->insn);
            land_flip(t, op);
        }
        if (op->done_at <= now) {
            op->done_at = WG_NEVER;
            m->in_flight[op->insn.thread]--;
            wg_unit_completed(t, WG_AGENT_MATRIX, &op->insn);
            continue;
        }
        uint64_t at = op->effect_at < op->flip_at ? op->effect_at : op->flip_at;
        at = at < op->done_at ? at : op->done_at;
        next = at < next ? at : next;
    }
    while (m->head != m->tail && m->flight[m->head % WG_MATRIX_FLIGHTS].done_at == WG_NEVER)
        m->head++;
    t->sched.next[WG_AGENT_MATRIX] = next;
}

static bool busy(const wg_tile *t, unsigned thread) { return t->backend.matrix.in_flight[thread % WG_THREADS] != 0; }

static void reset(wg_tile *t)
{
    memset(&t->backend.matrix, 0, sizeof t->backend.matrix);
    t->sched.next[WG_AGENT_MATRIX] = WG_NEVER;
}

uint64_t wg_dst_block_ready_at(const wg_tile *t, unsigned stored_row)
{
    return t->backend.matrix.block_ready[stored_row / 8 % WG_DST_BLOCKS];
}

void wg_dst_block_written(wg_tile *t, unsigned stored_row, uint64_t ready)
{
    uint64_t *block = &t->backend.matrix.block_ready[stored_row / 8 % WG_DST_BLOCKS];
    *block = later(*block, ready);
}

const wg_unit_ops wg_matrix_unit = {
    .name = "Matrix Unit", .agent = WG_AGENT_MATRIX, .reset = reset, .check = check, .accept = accept, .tick = tick,
    .busy = busy,
};
