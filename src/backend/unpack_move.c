/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNPACR's datums: from L1, converted, to SrcA, SrcB or Dst.
 *
 * Two paths with equal results: rows of 16 if a row of output is 16 consecutive input datums
 * (table-driven, num/l1_formats.c), one datum at a time otherwise (compressed or upsampled data, column
 * shifts, starts in the middle of a row or of a byte, and the tail of a count that is not a multiple of 16).
 *
 * Addresses wrap like those of a FIFO: an address beyond the limit is reduced by the FIFO's size. This is checked after every
 * input row (datums) and every 16 bytes (exponents and the counters of compressed data).
 *
 * Facts: UNPACR_Regular.md. Decided here: all data is read from L1, and written, in the cycle in which the
 * instruction completes; unpacking to Dst leaves SrcA ("unpredictable") unchanged.
 */
#include <string.h>

#include "backend/insn_finding.h"
#include "backend/unpack_internal.h"
#include "num/l1_formats.h"
#include "report/touch.h"
#include "machine/l1.h"

/* Progress of a job. */
typedef struct cursor {
    wg_tile *t;
    const wg_unpack_job *job;
    unsigned unpacker;
    int64_t datums, exponents, deltas; /* as in the job */
    uint32_t done;                     /* input datums */
    uint32_t out, drop, outputs;
    uint32_t (*src)[16]; /* the bank */
    unsigned src_row;
    wg_dst_access dst;
    bool outside, overflow, beyond; /* reported once, at the end */
    uint64_t outside_at;
} cursor;

static int64_t wrap(const wg_unpack_job *job, int64_t address, int64_t per_byte)
{
    return address > job->limit * per_byte ? address - job->fifo * per_byte : address;
}

/* ---- L1 ----------------------------------------------------------------------------------------------------- */

/* Reads `bytes` consecutive bytes. Bytes outside L1 read as 0. */
static const uint8_t *l1(cursor *c, int64_t address, uint32_t bytes, uint8_t spare[64])
{
    uint32_t size = c->t->spec->l1_bytes;
    if (__builtin_expect(address >= 0 && address <= (int64_t)size - bytes, 1))
        return c->t->l1 + address;
    if (!c->outside)
        c->outside_at = (uint64_t)address;
    c->outside = true;
    memset(spare, 0, 64);
    for (uint32_t i = 0; i < bytes; i++)
        if (address + i >= 0 && address + i < size)
            spare[i] = c->t->l1[address + i];
    return spare;
}

static uint32_t bits_at(cursor *c, int64_t address, unsigned bits)
{
    uint8_t spare[64];
    uint32_t value = 0;
    int64_t byte = address >> 3;
    memcpy(&value, l1(c, byte, bits > 8 ? bits / 8 : 1, spare), bits > 8 ? bits / 8 : 1);
    return bits >= 8 ? value : value >> (address & 7) & ((1u << bits) - 1);
}

static uint8_t exponent_of_next(cursor *c)
{
    if (c->job->forced_exponent)
        return c->job->exponent;
    uint8_t exponent = (uint8_t)bits_at(c, (c->exponents >> 4) * 8, 8);
    return exponent;
}

static void step_exponents(cursor *c, unsigned datums)
{
    c->exponents += datums;
    if ((c->exponents & 255) == 0)
        c->exponents = wrap(c->job, c->exponents, 16);
}

static void step_datums(cursor *c, unsigned datums)
{
    const wg_unpack_job *job = c->job;
    c->done += datums;
    c->datums += (int64_t)datums * job->bits;
    if ((c->done & (job->row - 1)) == 0)
        c->datums = wrap(job, c->datums + ((int64_t)job->stride * 8 - (int64_t)job->row * job->bits), 8);
}

/* ---- Register files ----------------------------------------------------------------------------------------- */

/* The row of SrcA or SrcB for output row `row`; false: it is not written. Decided here: undefined rows wrap. */
static bool source_row(cursor *c, uint32_t row, unsigned *at)
{
    if (c->unpacker) {
        row += c->src_row;
        c->beyond |= row >= WG_SRC_ROWS;
    } else {
        if (row < 4)
            return false;
        row -= 4;
        c->beyond |= row >= (c->job->override_row ? WG_SRC_ROWS : 16);
        if (!c->job->override_row)
            row += c->src_row;
    }
    *at = row & (WG_SRC_ROWS - 1);
    return true;
}

/* SRCA_SET_SetOvrdWithAddr with Dst is undefined; the mask is the page's assumption about silicon. */
static unsigned dst_row(const cursor *c, uint32_t row) { return (row - 4) & (c->job->override_row ? 0x3CF : 0x3FF); }

static void put(cursor *c, uint32_t value)
{
    const wg_unpack_job *job = c->job;
    unsigned column = c->out & 15, row = c->out >> 4, at;
    if (job->to_dst) {
        wg_dst *d = &c->t->regs.dst;
        if (job->wide)
            wg_dst_write32(d, c->dst, dst_row(c, row), column, value);
        else
            wg_dst_write16(d, c->dst, dst_row(c, row), column, (uint16_t)value);
        return;
    }
    if (column < job->column_shift || !source_row(c, row, &at))
        return;
    column -= job->column_shift;
    if (job->transpose)
        c->src[(at & ~15u) | column][at & 15] = value;
    else
        c->src[at][column] = value;
}

/* ---- One datum at a time ------------------------------------------------------------------------------------ */

static void move_one(cursor *c)
{
    const wg_unpack_job *job = c->job;
    uint32_t bits = bits_at(c, c->datums, job->bits), zeros = 0;
    step_datums(c, 1);
    uint8_t exponent = 0;
    if (wg_l1_reading_shares_exponent(job->reading)) {
        exponent = exponent_of_next(c);
        if (!job->forced_exponent)
            step_exponents(c, 1);
    }
    if (job->compressed) {
        zeros = bits_at(c, c->deltas, 4);
        c->deltas += 4;
        if ((c->deltas & 127) == 0) { /* the last of 32 counters: skip the next 32 datums */
            c->datums += 128;
            c->deltas = wrap(job, c->deltas + 32 * job->bits, 8);
        }
    }
    uint32_t value = 0;
    if (job->zero) {
        zeros = 0;
    } else {
        if (job->reading >= WG_READ_BFP8A)
            c->overflow |= wg_bfp_a_overflows((uint8_t)(bits << (8 - job->bits)), exponent);
        value = job->to_dst ? wg_l1_to_dst(job->reading, bits, exponent) : wg_l1_to_src(job->reading, bits, exponent);
    }
    for (uint32_t i = 0; i <= zeros; i++, value = 0) {
        if (c->drop) {
            c->drop--;
            continue;
        }
        for (unsigned k = 0; k <= job->upsample; k++, value = 0, c->out++)
            if (!k || !job->interleave)
                put(c, value);
        if (--c->outputs == 0)
            break;
    }
}

/* ---- 16 at a time ------------------------------------------------------------------------------------------- */

static bool in_rows(const cursor *c)
{
    const wg_unpack_job *job = c->job;
    if (job->compressed | job->upsample | job->column_shift || c->out & 15 || c->datums & 7)
        return false;
    if (wg_l1_reading_shares_exponent(job->reading) && !job->forced_exponent && c->exponents & 15)
        return false;
    /* A width that does not fit the conversion is one of the undefined pairs. */
    return !job->to_dst || job->wide == (job->reading == WG_READ_32);
}

static void row_to_dst(cursor *c, const uint8_t *bytes, uint8_t exponent)
{
    const wg_unpack_job *job = c->job;
    wg_dst *d = &c->t->regs.dst;
    unsigned stored = wg_dst_stored(c->dst, dst_row(c, c->out >> 4), job->wide);
    if (job->zero) {
        memset(d->bits[stored], 0, sizeof d->bits[stored]);
        if (job->wide)
            memset(d->bits[stored + WG_DST_LOW], 0, sizeof d->bits[stored]);
    } else if (job->wide) {
        wg_l1_row_to_dst32(c->t->simd, bytes, d->bits[stored], d->bits[stored + WG_DST_LOW]);
    } else {
        wg_l1_row_to_dst16(c->t->simd, job->reading, bytes, exponent, d->bits[stored]);
    }
    wg_dst_define(d, stored);
}

static void row_to_src(cursor *c, const uint8_t *bytes, uint8_t exponent)
{
    const wg_unpack_job *job = c->job;
    unsigned at;
    if (!source_row(c, c->out >> 4, &at))
        return;
    if (!job->transpose) {
        if (job->zero)
            memset(c->src[at], 0, sizeof c->src[at]);
        else
            wg_l1_rows_to_src(c->t->simd, job->reading, bytes, &exponent, 1, &c->src[at]);
        return;
    }
    uint32_t row[1][16] = {{0}};
    if (!job->zero)
        wg_l1_rows_to_src(c->t->simd, job->reading, bytes, &exponent, 1, row);
    for (unsigned column = 0; column < 16; column++)
        c->src[(at & ~15u) | column][at & 15] = row[0][column];
}

static void note_overflow(cursor *c, const uint8_t *bytes, uint8_t exponent)
{
    const wg_unpack_job *job = c->job;
    uint32_t datums[16];
    wg_l1_get_row(job->bits, bytes, datums);
    for (unsigned i = 0; i < 16; i++)
        c->overflow |= wg_bfp_a_overflows((uint8_t)(datums[i] << (8 - job->bits)), exponent);
}

static void move_row(cursor *c)
{
    const wg_unpack_job *job = c->job;
    uint8_t spare[64], exponent = 0;
    const uint8_t *bytes = l1(c, c->datums >> 3, 2u * job->bits, spare);
    if (wg_l1_reading_shares_exponent(job->reading)) {
        exponent = exponent_of_next(c);
        if (!job->forced_exponent)
            step_exponents(c, 16);
        if (job->reading >= WG_READ_BFP8A && !job->zero && (exponent & 0xE0 || exponent < 7))
            note_overflow(c, bytes, exponent);
    }
    if (job->to_dst)
        row_to_dst(c, bytes, exponent);
    else
        row_to_src(c, bytes, exponent);
    c->out += 16;
    step_datums(c, 16);
}

/*
 * Many rows at once: consecutive rows of L1 to consecutive rows of SrcA or SrcB, up to the first address that wraps. Returns
 * the number of datums; 0: the rows are not of this kind, and are moved one by one.
 */
static unsigned move_block(cursor *c)
{
    const wg_unpack_job *job = c->job;
    bool bfp = wg_l1_reading_shares_exponent(job->reading);
    unsigned rows = (job->count - c->done) / 16, at;
    uint32_t bytes = rows * 2u * job->bits, out_row = c->out >> 4;
    if (job->to_dst || job->zero || job->stride * 8 != job->row * job->bits || job->reading >= WG_READ_BFP8A)
        return 0;
    if (rows > WG_SRC_ROWS || c->datums < 0 || (c->datums >> 3) + bytes > c->t->spec->l1_bytes ||
        (job->fifo && c->datums + (int64_t)bytes * 8 > job->limit * 8))
        return 0;
    unsigned low = c->unpacker ? 0 : 4, shift = c->unpacker || !job->override_row ? c->src_row : 0;
    if (out_row < low || out_row - low + rows > (low && !job->override_row ? 16 : WG_SRC_ROWS))
        return 0;
    at = out_row - low + shift;
    if (at + rows > WG_SRC_ROWS || (job->transpose && (at | rows) & 15))
        return 0;
    uint8_t forced[WG_SRC_ROWS];
    const uint8_t *exponents = forced;
    if (bfp && !job->forced_exponent) {
        int64_t first = c->exponents >> 4;
        if (first < 0 || first + rows > c->t->spec->l1_bytes ||
            (job->fifo && c->exponents + rows * 16 > job->limit * 16))
            return 0;
        exponents = c->t->l1 + first;
        c->exponents += rows * 16;
    } else if (bfp) {
        memset(forced, job->exponent, sizeof forced);
    }
    const uint8_t *from = c->t->l1 + (c->datums >> 3);
    if (!job->transpose) {
        wg_l1_rows_to_src(c->t->simd, job->reading, from, exponents, rows, &c->src[at]);
    } else {
        uint32_t straight[WG_SRC_ROWS][16];
        wg_l1_rows_to_src(c->t->simd, job->reading, from, exponents, rows, straight);
        for (unsigned row = 0; row < rows; row++)
            for (unsigned column = 0; column < 16; column++)
                c->src[at + (row & ~15u) + column][row & 15] = straight[row][column];
    }
    c->out += rows * 16;
    c->done += rows * 16;
    c->datums += (int64_t)bytes * 8;
    return rows;
}

/* ---- The whole job ----------------------------------------------------------------------------------------- */

/* Rows are written to SrcA in bursts; one that crosses a boundary of 16 rows may lose some (newest page). */
static void check_burst(cursor *c)
{
    const wg_unpack_job *job = c->job;
    if (c->unpacker || job->to_dst || job->count <= 16 || job->out < 64)
        return;
    unsigned burst = 8u * job->speed >> __builtin_ctz(job->bits); /* all powers of two */
    burst = burst < 1 ? 1 : burst > 8 ? 8 : burst;
    unsigned start = (job->out >> 4) - 4, last = start + (job->count - 1) / 16;
    if (start & (burst - 1) && start / 16 != last / 16)
        wg_find_insn(c->t, WG_F_UNPACK_BURST, &job->insn, start, burst);
}

/* BH: the starting row is copied to the seven rows after it (Decided here, from one line of the ISA table). */
static void broadcast_row(cursor *c)
{
    unsigned at;
    if (!c->job->count || !source_row(c, c->job->out >> 4, &at))
        return;
    for (unsigned i = 1; i < 8; i++)
        memcpy(c->src[(at + i) & (WG_SRC_ROWS - 1)], c->src[at], sizeof c->src[at]);
}

static void report(const cursor *c)
{
    const wg_insn *insn = &c->job->insn;
    if (c->outside)
        wg_find_insn(c->t, WG_F_UNPACK_ADDRESS, insn, c->outside_at, c->unpacker);
    if (c->overflow)
        wg_find_insn(c->t, WG_F_UNPACK_EXPONENT, insn, c->job->in_format, c->unpacker);
    if (c->beyond)
        wg_find_insn(c->t, WG_F_UNPACK_ROW, insn, c->job->out >> 4, c->unpacker);
}

/* Emits touches for its reads and writes, in as few runs as possible. */
static void touch_input(cursor c)
{
    const wg_unpack_job *job = c.job;
    uint32_t bits = job->bits, left = job->count == UINT32_MAX ? job->outputs : job->count;
    int64_t first = c.datums, end;
    bool bfp = wg_l1_reading_shares_exponent(job->reading) && !job->forced_exponent;
    if (bfp && left)
        wg_touch_l1(c.t, WG_TOUCH_READ, (uint32_t)(c.exponents >> 4), (uint32_t)((c.exponents & 15) + left + 15) >> 4);
    while (left && !job->zero) {
        unsigned step = job->row < left ? job->row : left;
        end = c.datums + (int64_t)step * bits;
        step_datums(&c, step);
        left -= step;
        if (c.datums == end && left)
            continue;
        wg_touch_l1(c.t, WG_TOUCH_READ, (uint32_t)(first >> 3), (uint32_t)((end - first + 7) >> 3));
        first = c.datums;
    }
}

static void touch_output(cursor c)
{
    const wg_unpack_job *job = c.job;
    uint32_t datums = (job->count == UINT32_MAX ? job->outputs : job->count) * (1u + job->upsample);
    if (!datums)
        return;
    uint32_t row = job->out >> 4, last = (job->out + datums - 1) >> 4;
    unsigned first = 0, rows = 0; /* of Dst: a run of stored rows */
    for (unsigned at; row <= last; row++) {
        if (job->to_dst) {
            unsigned stored = wg_dst_stored(c.dst, dst_row(&c, row), job->wide);
            if (rows && stored != first + rows) {
                wg_touch_dst(c.t, WG_TOUCH_WRITE, first, rows, job->wide);
                rows = 0;
            }
            first = rows++ ? first : stored;
        } else if (source_row(&c, row, &at))
            wg_touch_src(c.t, WG_TOUCH_WRITE | WG_TOUCH_WAITED, c.unpacker, wg_unpack_bank(&c.t->regs.src, c.unpacker),
                         job->transpose ? at & ~15u : at, job->transpose ? 16 : 1);
        if (job->transpose)
            row |= 15;
    }
    if (rows)
        wg_touch_dst(c.t, WG_TOUCH_WRITE, first, rows, job->wide);
}

void wg_unpack_move(wg_tile *t, unsigned unpacker, const wg_unpack_job *job)
{
    wg_src *s = &t->regs.src;
    cursor c = {.t = t,
                .job = job,
                .unpacker = unpacker,
                .datums = job->datums,
                .exponents = job->exponents,
                .deltas = job->deltas,
                .out = job->out,
                .drop = job->drop,
                .outputs = job->outputs};
    if (job->to_dst)
        c.dst = wg_dst_access_now(t);
    else
        c.src = wg_src_rows(s, unpacker ? WG_SRCB : WG_SRCA, wg_unpack_bank(s, unpacker));
    c.src_row = *wg_unpack_src_row(s, unpacker, job->insn.thread);
    check_burst(&c);
    if (wg_touch_l1_watched(t))
        touch_input(c);
    if (wg_touch_watched(t))
        touch_output(c);
    if (in_rows(&c) && job->count >= 16 && !move_block(&c))
        while (job->count - c.done >= 16)
            move_row(&c);
    while (c.done < job->count && c.outputs)
        move_one(&c);
    if (__builtin_expect(job->broadcast, 0))
        broadcast_row(&c);
    if (!job->to_dst)
        wg_src_wrote(s, unpacker ? WG_SRCB : WG_SRCA, wg_unpack_bank(s, unpacker));
    if (__builtin_expect(c.outside | c.overflow | c.beyond, 0))
        report(&c);
}
