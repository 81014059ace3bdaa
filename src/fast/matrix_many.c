/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many MVMULs at a time, one per cycle, that differ from the first only in rows and address modifiers:
 *
 *     1  the rows of each and the counters after it, up to the first that stalls
 *     2  MVMULs that were in flight land, if they are due before the burst's end
 *     3  the products: those that land before the end go into Dst at once, since nobody looks at it meanwhile (the unit's
 *        own readers wait for the block); the others go into the pipeline
 *
 * The resulting state equals that of the plain machine. An MVMUL in flight wakes nobody while a younger one of the thread is
 * in flight.
 */
#include "backend/matrix_internal.h"

#include <string.h>

#include "fast/burst.h"

enum { MOST = 32 };

typedef struct step {
    uint16_t row; /* the first row stored */
    uint8_t srca; /* the counter; the rows start at a multiple of 16 */
    uint8_t srcb, phase;
} step;

typedef struct many {
    const wg_burst *burst;
    wg_tile *t;
    wg_matrix *m;
    wg_matrix_ctx c; /* of the first MVMUL */
    unsigned thread, count;
    uint64_t from; /* the cycle of the first acceptance */
    step step[MOST];
} many;

/* How many cycles an MVMUL is in the unit. */
static unsigned stages(const many *b)
{
    const wg_timing *timing = b->t->timing;
    return timing->matrix_latency > timing->arithmetic_stages ? timing->matrix_latency : timing->arithmetic_stages;
}

/* Everything in flight belongs to the thread, changes only Dst, and leaves in order, no later than a new MVMUL would. */
static bool flights_land(const many *b)
{
    const wg_matrix *m = b->m;
    uint64_t leaves_by = b->from + stages(b);
    if (m->in_flight[b->thread] != (uint8_t)(m->tail - m->head) || m->tail - m->head >= WG_MATRIX_FLIGHTS - MOST / 2)
        return false;
    for (uint32_t i = m->tail; i-- != m->head;) {
        const wg_matrix_op *op = &m->flight[i % WG_MATRIX_FLIGHTS];
        bool to_dst = op->effect == WG_EFFECT_DST16 || op->effect == WG_EFFECT_DST32;
        if (m->due[i % WG_MATRIX_FLIGHTS] < b->from || op->done_at > leaves_by || op->flip_at != WG_NEVER ||
            op->give_at != WG_NEVER || (op->effect_at != WG_NEVER && !to_dst))
            return false;
        leaves_by = op->done_at;
    }
    /* One is still in flight when the burst begins, or no other agent waits for the last. */
    return m->head == m->tail || m->flight[(m->tail - 1) % WG_MATRIX_FLIGHTS].done_at > b->from ||
           !(b->t->sched.watch_units | b->t->sched.watch_idle);
}

/* The number of instructions that differ from the first MVMUL only in Dst row and address modifier. */
static unsigned alike(const many *b)
{
    const uint32_t first = b->burst->word[0];
    const uint32_t same = ~(WG_OPERAND_MASK(BH, MVMUL, dst) | wg_field_bits(wg_matrix_addr_mod_place(b->t->arch->id)));
    unsigned i = 0, most = b->burst->count < MOST ? b->burst->count : MOST;
    if (most > b->burst->until - b->from)
        most = (unsigned)(b->burst->until - b->from);
    while (i < most && !((b->burst->word[i] ^ first) & same))
        i++;
    return i;
}

/* Step 1: the effects of each, and when its rows can be read again. */
static void plan(many *b)
{
    wg_tile *t = b->t;
    wg_matrix *m = b->m;
    const wg_arch_id arch = t->arch->id;
    const unsigned latency = t->timing->matrix_latency, busy = 1u + t->timing->dst_block_cycles;
    const unsigned until_read = busy > latency ? busy : latency;
    const wg_field_place addr_mod = wg_matrix_addr_mod_place(arch);
    const wg_dst_access access = b->c.access;
    const unsigned wide = b->c.wide, base = b->c.set->dst_base, phase = b->c.set->phase;
    wg_rwc_steps rwc = wg_rwc_begin(&t->regs.rwc.thread[b->thread], arch, t->regs.config.thread[b->thread]);
    uint64_t at = b->from;
    const uint32_t *next = b->burst->word;
    const unsigned most = alike(b);
    step *s = b->step;
    for (; s != b->step + most && !(rwc.srca & 8); s++, at++) {
        const uint32_t word = *next++;
        unsigned row = wg_dst_stored(access, (WG_GET(MVMUL, dst, word) + rwc.dst + base) & 0x3F8, wide);
        uint64_t *ready = &m->block_ready[row / 8], *last = &m->block_lands[row / 8], *ready2 = ready + wide,
                 *last2 = last + wide;
        if (*ready > at || *last > at + latency || *ready2 > at || *last2 > at + latency)
            break;
        *ready = *ready2 = at + until_read;
        *last = *last2 = at + latency;
        *s = (step){(uint16_t)row, (uint8_t)rwc.srca, rwc.srcb & 0x38, (rwc.fidelity + phase) & 3};
        wg_rwc_step(&rwc, wg_field_at(addr_mod, word));
    }
    wg_rwc_end(&rwc);
    b->count = (unsigned)(s - b->step);
    if (!b->count)
        return;
    m->blocks_ready = later(m->blocks_ready, at - 1 + until_read);
    m->last_srca_row = s[-1].srca;
}

/* Step 2. */
static void land(many *b, uint64_t end)
{
    wg_matrix *m = b->m;
    for (uint32_t i = m->head; i != m->tail; i++) {
        wg_matrix_op *op = &m->flight[i % WG_MATRIX_FLIGHTS];
        if (op->effect_at < end) {
            wg_matrix_land(b->t, op);
            op->effect_at = WG_NEVER;
        }
        if (op->done_at < end) {
            op->done_at = WG_NEVER;
            m->in_flight[b->thread]--;
            m->head++;
        }
        m->due[i % WG_MATRIX_FLIGHTS] = op->effect_at < op->done_at ? op->effect_at : op->done_at;
    }
}

/* Into the pipeline. */
static void in_flight(many *b, unsigned i, wg_matrix_op *op, uint64_t lands, uint64_t leaves)
{
    const wg_insn insn = wg_burst_insn(b->burst, i);
    wg_matrix_eight_rows(op, &insn, b->step[i].row, b->c.wide);
    op->effect_at = lands;
    op->done_at = leaves;
    b->m->due[b->m->tail++ % WG_MATRIX_FLIGHTS] = lands < leaves ? lands : leaves;
    b->m->in_flight[b->thread]++;
}

/* Step 3. */
static void multiply(many *b)
{
    wg_tile *t = b->t;
    wg_matrix *m = b->m;
    wg_dst *d = &t->regs.dst;
    wg_matrix_ctx *c = &b->c;
    const wg_matrix_kernels *k = wg_matrix_kernels_for(t->simd);
    const unsigned latency = t->timing->matrix_latency, landed = b->count > latency ? b->count - latency : 0;
    const unsigned in_unit = stages(b), gone = b->count > in_unit ? b->count - in_unit : 0;
    void (*const mul)(const wg_mul_args *) = c->style == WG_STYLE_INT8 ? k->mul_int : k->mul_float;
    wg_mul_args args;
    args.rows = 8;
    args.b_step = 1;
    unsigned phase = UINT8_MAX, has_a = 0, has_b = 0; /* bit per decoded block; no bank changes meanwhile */
    const wg_matrix_a *decoded_a[4 * 2];
    const wg_matrix_b *decoded_b[8 * 2];
    uint16_t none[8][16];
    for (unsigned i = 0; i < b->count; i++) {
        const step *s = &b->step[i];
        if (s->phase != phase) {
            c->phase = s->phase;
            phase = s->phase;
            args.alu = wg_alu_for(c->wide, c->style != WG_STYLE_FP16, wg_matrix_loses_one(t->arch->id), phase);
        }
        const unsigned a = s->srca / 16u * 2 + (phase & 1), from_b = s->srcb / 8u * 2 + (phase >> 1);
        if (!(has_a >> a & 1)) {
            decoded_a[a] = wg_matrix_decoded_a(c, k, s->srca & 0x30u, NULL);
            has_a |= 1u << a;
        }
        if (!(has_b >> from_b & 1)) {
            decoded_b[from_b] = wg_matrix_decoded_b(c, k, s->srcb);
            has_b |= 1u << from_b;
        }
        args.a = decoded_a[a];
        args.b = decoded_b[from_b];
        wg_matrix_op *op = i < gone ? NULL : &m->flight[m->tail % WG_MATRIX_FLIGHTS];
        if (i < landed) {
            args.hi = &d->bits[s->row];
            args.lo = c->wide ? &d->bits[s->row + WG_DST_LOW] : none;
            wg_matrix_multiply_from(&args, d, s->row, c->wide);
            mul(&args);
            d->undefined[s->row >> 6 & 15] &= ~(UINT64_C(0xFF) << (s->row & 63));
        } else {
            args.hi = op->hi;
            args.lo = op->lo;
            wg_matrix_multiply_from(&args, d, s->row, c->wide);
            mul(&args);
        }
        if (op)
            in_flight(b, i, op, i < landed ? WG_NEVER : b->from + i + latency, b->from + i + in_unit);
    }
}

/* Eight contiguous rows, no bank handed back, nothing to report, no hazard. */
static bool is_simple(many *b)
{
    const wg_matrix *m = b->m;
    const wg_insn insn = wg_burst_insn(b->burst, 0);
    wg_matrix_ctx *c = &b->c;
    if (insn.op != WG_I_MVMUL || WG_GET(MVMUL, clear_dvalid, insn.word) | WG_GET(MVMUL, instr_mod19, insn.word) ||
        m->flips || b->t->backend.config.instructions || wg_matrix_mvmul_from(m) > b->from ||
        (m->others_from > b->from && m->waiting_thread != b->thread))
        return false;
    wg_matrix_context(b->t, &insn, c);
    wg_matrix_formats(c);
    return wg_matrix_owns(c, WG_SRCA) && wg_matrix_owns(c, WG_SRCB) && !c->access.swizzle && !c->set->stochastic &&
           (c->style == WG_STYLE_INT8 || c->set->force_fp16 || wg_format_known(c->fmt[WG_SRCA]));
}

unsigned wg_matrix_accept_many(wg_burst *burst)
{
    wg_tile *t = burst->t;
    wg_matrix *m = &t->backend.matrix;
    const unsigned thread = burst->thread;
    many b;
    b.burst = burst;
    b.t = t;
    b.m = m;
    b.thread = thread;
    b.from = burst->from;
    if (!is_simple(&b) || !flights_land(&b))
        return 0;
    plan(&b);
    if (!b.count)
        return 0;
    uint64_t end = b.from + b.count;
    land(&b, end);
    multiply(&b);
    m->last_accept = end;
    if (m->waiting_thread == thread)
        m->others_from = 0;
    m->last_thread = (uint8_t)thread;
    m->last_lands = later(m->last_lands, end - 1 + t->timing->matrix_latency);
    uint64_t next = WG_NEVER;
    for (uint32_t i = m->head; i != m->tail; i++)
        next = m->due[i % WG_MATRIX_FLIGHTS] < next ? m->due[i % WG_MATRIX_FLIGHTS] : next;
    wg_set_wake(&t->sched, WG_AGENT_MATRIX, next);
    return b.count;
}
