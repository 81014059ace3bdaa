/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of the Matrix Unit's instructions, and their touches for observers. */
#include "backend/matrix_internal.h"

#include <string.h>

#include "report/touch.h"

void wg_matrix_touch_rows(wg_tile *t, const wg_matrix_op *op, unsigned how, bool wide)
{
    for (unsigned i = 0, n; i < op->rows; i += n) {
        for (n = 1; i + n < op->rows && op->row[i + n] == op->row[i] + n; n++)
            continue;
        wg_touch_dst(t, how, op->row[i], n, wide);
    }
}

void wg_matrix_touch_effect(wg_tile *t, const wg_matrix_op *op)
{
    wg_touch_by(t, WG_AGENT_MATRIX, &op->insn);
    switch ((wg_matrix_effect)op->effect) {
    case WG_EFFECT_DST16:
    case WG_EFFECT_DST32:
    case WG_EFFECT_DST_LOW: wg_matrix_touch_rows(t, op, WG_TOUCH_WRITE, op->effect != WG_EFFECT_DST16); break;
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

static void land_rows(wg_dst *d, const wg_matrix_op *op)
{
    if (op->together && op->columns == 0xFFFF && op->effect != WG_EFFECT_DST_LOW) {
        unsigned first = op->row[0];
        memcpy(d->bits[first], op->hi, sizeof op->hi);
        if (op->effect == WG_EFFECT_DST32)
            memcpy(d->bits[first + WG_DST_LOW], op->lo, sizeof op->lo);
        d->undefined[first >> 6] &= ~(UINT64_C(0xFF) << (first & 63));
        return;
    }
    for (unsigned i = 0; i < op->rows; i++) {
        bool wide = op->effect != WG_EFFECT_DST16;
        uint16_t *hi = d->bits[op->row[i]], *lo = hi + (wide ? WG_DST_LOW * 16 : 0);
        if (op->effect == WG_EFFECT_DST_LOW && wg_dst_is_undefined(d, op->row[i]))
            memset(hi, 0, sizeof d->bits[0]); /* undefined rows read as zero; the high half is written back */
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
    uint32_t(*rows)[16] = wg_src_rows(s, (wg_src_file)op->file, op->bank);
    for (unsigned i = 0; i < op->rows; i++)
        for (unsigned j = 0; j < 16; j++)
            if (op->columns >> j & 1)
                rows[(op->src_row + i) & 63][j] = op->src[i][j];
    wg_src_wrote(s, (wg_src_file)op->file, op->bank);
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
        wg_src_wrote(s, (wg_src_file)(i / 2), i & 1);
    }
}

static void land_shiftxa(wg_src *s, const wg_matrix_op *op)
{
    uint32_t(*rows)[16] = wg_src_rows(s, WG_SRCA, op->bank);
    for (unsigned i = 0; i < 16; i++) {
        const uint32_t *from = rows[op->from_row + i];
        uint32_t shifted[16] = {0};
        for (unsigned j = 0; j < 15; j++)
            shifted[op->flag ? j : j + 1] = from[op->flag ? j + 1 : j];
        memcpy(rows[i], shifted, sizeof shifted);
    }
    wg_src_wrote(s, WG_SRCA, op->bank);
}

static void land_shiftxb(wg_src *s, const wg_matrix_op *op)
{
    uint32_t *row = wg_src_rows(s, WG_SRCB, op->bank)[op->src_row];
    uint32_t first = row[0];
    memmove(row, row + 1, 15 * sizeof *row);
    row[15] = op->flag ? 0 : first;
    wg_src_wrote(s, WG_SRCB, op->bank);
}

static void land_transpose(wg_src *s, const wg_matrix_op *op)
{
    uint32_t(*rows)[16] = wg_src_rows(s, (wg_src_file)op->file, op->bank) + 16;
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < i; j++) {
            uint32_t swap = rows[i][j];
            rows[i][j] = rows[j][i];
            rows[j][i] = swap;
        }
    wg_src_wrote(s, (wg_src_file)op->file, op->bank);
}

static void land_reset_banks(wg_tile *t)
{
    wg_matrix *m = &t->backend.matrix;
    m->flips--;
    for (unsigned i = 0; i < 4; i++)
        m->giving[i / 2][i & 1]--;
    wg_src_reset_owners(t, WG_AGENT_MATRIX);
}

void wg_matrix_land(wg_tile *t, const wg_matrix_op *op)
{
    switch ((wg_matrix_effect)op->effect) {
    case WG_EFFECT_NONE: break;
    case WG_EFFECT_DST16:
    case WG_EFFECT_DST32:
    case WG_EFFECT_DST_LOW: land_rows(&t->regs.dst, op); break;
    case WG_EFFECT_UNDEFINE:
        for (unsigned i = 0; i < WG_DST_ROWS / 64; i++)
            t->regs.dst.undefined[i] =
                op->flag ? t->regs.dst.undefined[i] & ~op->marks[i] : t->regs.dst.undefined[i] | op->marks[i];
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

/*
 * SFPLOAD.md: three instructions after a write to Dst, the Vector Unit sees it. Returns the cycle up to which a
 * delayed write would break that rule for the instruction at the gate. The distance in ids is never smaller than the
 * distance in issued instructions.
 */
uint64_t wg_matrix_settles(const wg_tile *t, const wg_insn *insn)
{
    enum { APART = 4 };
    const wg_matrix *m = &t->backend.matrix;
    uint64_t until = 0;
    for (uint32_t i = m->head; i != m->tail; i++) {
        const wg_matrix_op *op = &m->flight[i % WG_MATRIX_FLIGHTS];
        if (op->effect < WG_EFFECT_DST16 || op->effect > WG_EFFECT_UNDEFINE || op->effect_at == WG_NEVER)
            continue;
        const wg_frontend *f = &t->frontend[op->insn.thread];
        bool apart = op->insn.thread == insn->thread
                         ? insn->id - op->insn.id >= APART
                         : !wg_gate_count(f) || wg_gate_fifo_at(f, 0)->id - op->insn.id > APART;
        if (apart)
            until = op->effect_at > until ? op->effect_at : until;
    }
    return until;
}

/* ---- When ---------------------------------------------------------------------------------------------------- */

/* The blocks of Dst whose rows an effect writes; returns how many. */
static unsigned blocks_written(const wg_matrix_op *op, uint8_t block[16])
{
    unsigned count = 0;
    for (unsigned i = 0; i < op->rows; i++) {
        uint8_t b = (uint8_t)(op->row[i] / 8);
        if (count && (block[count - 1] == b || block[count - 1] == b + 1))
            continue; /* rows of one block are adjacent in row[] */
        block[count++] = b;
        if (op->effect != WG_EFFECT_DST16)
            block[count++] = (uint8_t)(b + 1);
    }
    return count;
}

/* A block's writes take effect in order of acceptance. Decided here: a shorter instruction waits for a longer one. */
void wg_matrix_order_dst(wg_matrix *m, wg_matrix_op *op, uint64_t ready)
{
    uint8_t block[16];
    if (op->effect == WG_EFFECT_UNDEFINE) { /* up to all of Dst: block i has byte i of the marks */
        const uint64_t *marks = op->marks;
        for (unsigned i = 0; i < WG_DST_BLOCKS && op->effect_at < m->last_lands; i++)
            if (marks[i / 8] >> 8 * (i & 7) & 0xFF)
                op->effect_at = later(op->effect_at, m->block_lands[i]);
        ready = later(ready, op->effect_at);
        /* Later instructions land after the next cycle anyway: such a time need not be stored. */
        bool lingers = op->effect_at > m->last_accept, last = m->blocks_ready <= ready;
        for (unsigned i = 0; i < WG_DST_BLOCKS; i += 8) {
            uint64_t eight = marks[i / 8], *blocks = &m->block_ready[i];
            if (eight == UINT64_MAX && !lingers && last) { /* the common case: all of Dst */
                for (unsigned k = 0; k < 8; k++)
                    blocks[k] = ready;
                continue;
            }
            for (unsigned k = 0; eight && k < 8; k++)
                if (eight >> 8 * k & 0xFF) {
                    blocks[k] = later(blocks[k], ready);
                    if (lingers)
                        m->block_lands[i + k] = op->effect_at;
                }
        }
        m->blocks_ready = later(m->blocks_ready, ready);
    } else {
        unsigned count = blocks_written(op, block);
        for (unsigned i = 0; i < count; i++)
            op->effect_at = later(op->effect_at, m->block_lands[block[i]]);
        for (unsigned i = 0; i < count; i++)
            wg_matrix_block_lands(m, block[i], op->effect_at, ready);
    }
    m->last_lands = later(m->last_lands, op->effect_at);
}
