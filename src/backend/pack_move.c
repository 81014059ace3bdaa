/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of PACR's datums, one row of Dst at a time:
 *
 *     Dst ── early conversion ── edge mask ── ReLU ── histogram ─┬─ threshold ── downsampling ── late ──> streams
 *     L1, or zeros ──────────────────────────────────────────────┘
 *
 * Decided here: everything is read from Dst and written to the streams in the cycle in which the packer is done with
 * the instruction; a datum outside L1 reads as 0.
 *
 * The tile position that chooses edge masks counts rows of 16 datums on WH, enabled read interfaces on BH; only the end of a
 * plane resets it (the pages; ttsim also does so when a tile begins).
 *
 * Facts: the pages of Packers/, BlackholeA0 PACR.md.
 */
#include <string.h>

#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/pack_internal.h"
#include "backend/tdma.h"
#include "num/l1_formats.h"
#include "report/touch.h"
#include "machine/fast.h"
#include "machine/l1.h"

typedef struct mover {
    wg_pack_output out;
    const wg_pack_job *job;
    const wg_pack_part *part;
    wg_dst_access access;
    bool wide, statistics;
    wg_mid from;        /* result of the early conversion */
    unsigned turn;      /* of the downsampling mask */
    unsigned interface; /* BH: number of enabled ones before it */
} mover;

/* ---- Tile position -------------------------------------------------------------------------------------------- */

static uint16_t edge_mask(const mover *m)
{
    const wg_pack_job *job = m->job;
    const wg_packer *p = m->out.p;
    unsigned y = p->tile_y, z = p->tile_z, set = m->part->set.set_select;
    if (m->part->set.transposed)
        z += m->interface;
    else
        y += m->interface;
    if (job->edges.faces)
        set = job->edges.face_sets[set] >> 2 * ((m->part->set.z_offset + z) & 15) & 3;
    return job->edges.mask[job->edges.row_sets[set] >> 2 * (y & 15) & 3];
}

/* ---- Stages ---------------------------------------------------------------------------------------------------- */

static void apply_edges(mover *m, unsigned column, unsigned count, uint32_t value[16])
{
    wg_packer *p = m->out.p;
    uint32_t instead = m->job->edges.infinite ? wg_pack_minus_infinity((wg_pack_early)m->part->set.early) : 0;
    uint16_t mask = edge_mask(m);
    for (unsigned i = 0; i < count; i++) {
        if (!(mask >> ((column + i) & 15) & 1))
            value[i] = instead;
        if (!m->job->interfaces && ++p->tile_x == 16) {
            p->tile_x = 0;
            wg_pack_next_row(p, &m->part->set, 1);
            mask = edge_mask(m);
        }
    }
}

static void pass_position(mover *m, unsigned count)
{
    wg_packer *p = m->out.p;
    if (m->job->interfaces)
        return;
    p->tile_x = (uint8_t)(p->tile_x + count);
    if (p->tile_x >= 16) {
        p->tile_x = (uint8_t)(p->tile_x - 16);
        wg_pack_next_row(p, &m->part->set, 1);
    }
}

static void count_exponents(mover *m, unsigned count, const uint32_t value[16])
{
    wg_exphist *h = &m->out.t->regs.exphist;
    unsigned packer = m->out.packer, shift = wg_pack_exponent_shift(m->from), mask = wg_pack_exponent_mask(m->from);
    uint32_t max = h->max[packer];
    for (unsigned i = 0; i < count; i++) {
        uint32_t exponent = value[i] >> shift & mask;
        max = exponent > max ? exponent : max;
    }
    h->max[packer] = (uint8_t)max;
    if (__builtin_expect(!m->statistics, 1))
        return;
    for (unsigned i = 0; i < count; i++) {
        uint8_t *bin = &h->bins[packer][value[i] >> shift & mask & 31];
        *bin = (uint8_t)(*bin < 255 ? *bin + 1 : 255);
    }
}

/* True from the threshold up. */
static void finish(mover *m, unsigned count, uint32_t value[16])
{
    const wg_pack_part *part = m->part;
    if (part->set.threshold_on)
        for (unsigned i = 0; i < count; i++)
            if (wg_pack_exponent((wg_mid)part->set.mid, value[i]) < part->set.threshold)
                value[i] = 0;
    if (part->set.downsample != 0xFFFF) {
        unsigned kept = 0;
        for (unsigned i = 0; i < count; i++, m->turn++)
            if (part->set.downsample >> (m->turn & 15) & 1)
                value[kept++] = value[i];
        count = kept;
    }
    wg_pack_late_row(part->set.late, count, value);
    if (m->job->padding == WG_PAD_ROWS && count) {
        memset(value + count, 0, (16 - count) * sizeof *value);
        count = 16;
    }
    wg_pack_put(&m->out, count, value);
}

/* `count` datums from a column of a row of Dst on. */
static void dst_row(mover *m, unsigned row, unsigned column, unsigned count)
{
    static const uint16_t zeros[16];
    const wg_dst *d = &m->out.t->regs.dst;
    unsigned stored = wg_dst_stored(m->access, row, m->wide);
    if (wg_touch_watched(m->out.t))
        wg_touch_emit(m->out.t, WG_TOUCH_READ | (m->wide ? WG_TOUCH_WIDE : 0u), WG_TOUCH_DST, stored, 1, m->out.packer);
    bool undefined = wg_dst_is_undefined(d, stored);
    const uint16_t *high = undefined ? zeros : d->bits[stored];
    const uint16_t *low = undefined || !m->wide ? zeros : d->bits[(stored + WG_DST_LOW) % WG_DST_ROWS];
    uint32_t value[16];
    if (__builtin_expect(m->job->random & WG_RANDOM_EARLY, 0)) {
        uint32_t random[16];
        wg_pack_draw(m->out.p, random);
        wg_pack_early_random_row((wg_pack_early)m->part->set.early, m->job->shift, high, low, random, value);
    } else {
        wg_pack_early_row((wg_pack_early)m->part->set.early, m->job->shift, high, low, value);
    }
    if (column)
        memmove(value, value + column, count * sizeof *value);
    if (m->job->has_edges)
        apply_edges(m, column, count, value);
    else
        pass_position(m, count);
    if (m->job->relu)
        wg_pack_relu_row(m->from, m->job->relu, m->job->relu_threshold, count, value);
    count_exponents(m, count, value);
    finish(m, count, value);
}

static void dst_run(mover *m, uint32_t start, uint32_t count)
{
    while (count) {
        unsigned column = start & 15, n = 16 - column < count ? 16 - column : count;
        dst_row(m, start >> 4 & (WG_DST_ROWS - 1), column, n);
        start += n;
        count -= n;
    }
}

static void l1_run(mover *m, uint32_t start, uint32_t count)
{
    unsigned format = m->part->set.in_format, size = wg_l1_bits(format) < 8 ? 1 : wg_l1_bits(format) / 8;
    if (wg_touch_l1_watched(m->out.t))
        wg_touch_emit(m->out.t, WG_TOUCH_READ, WG_TOUCH_L1, start & 0x1FFFFF, count * size, m->out.packer);
    for (uint32_t done = 0; done < count; done += 16) {
        unsigned n = count - done < 16 ? count - done : 16;
        uint32_t value[16] = {0};
        for (unsigned i = 0; i < n; i++) {
            uint32_t bits = 0;
            wg_l1_read(m->out.t, (start + (done + i) * size) & 0x1FFFFF, size, &bits);
            value[i] = wg_pack_from_l1(format, bits);
        }
        finish(m, n, value);
    }
}

static void zero_run(mover *m, uint32_t count)
{
    for (uint32_t done = 0; done < count; done += 16) {
        uint32_t value[16] = {0};
        finish(m, count - done < 16 ? count - done : 16, value);
    }
}

static void run(mover *m, uint32_t start)
{
    uint32_t count = m->part->count;
    if (m->part->source == WG_PACK_FROM_DST)
        dst_run(m, start, count);
    else if (m->part->source == WG_PACK_FROM_L1)
        l1_run(m, start, count);
    else
        zero_run(m, count);
}

/* Finds 16 aligned rows at once if nothing permutes them and all are defined. */
static inline bool find_sixteen(const wg_dst *d, wg_dst_access access, bool wide, unsigned first, wg_pack_rows *at)
{
    if (first & 15 || access.remap | access.swizzle | (access.wide16 & !wide))
        return false;
    unsigned stored = wg_dst_stored(access, first & (WG_DST_ROWS - 1), wide);
    uint64_t all =
        wide ? UINT64_C(0x00FF00FF) : UINT64_C(0xFFFF); /* 32 bits: eight, and eight after their low halves */
    if (d->undefined[stored >> 6 & 15] >> (stored & 63) & all)
        return false;
    const uint16_t *high = d->bits[stored], *behind = wide ? high + 16 * 16 : high + 8 * 16;
    for (unsigned i = 0; i < 8; i += 4) {
        at->high[i] = high + 16 * i;
        at->high[8 + i] = behind + 16 * i;
        at->low[i] = wide ? high + 16 * (WG_DST_LOW + i) : wg_pack_zeros;
        at->low[8 + i] = wide ? behind + 16 * (WG_DST_LOW + i) : wg_pack_zeros;
    }
    return at->fours = true;
}

/* `rows` (at most 16) whole rows of Dst from `first` on, straight to the data stream's position. */
static void straight_rows(const wg_pack_output *out, const wg_pack_job *job, const wg_pack_part *part, unsigned first,
                          unsigned rows)
{
    wg_tile *t = out->t;
    wg_packer *p = out->p;
    const wg_dst *d = &t->regs.dst;
    bool wide = part->set.wide;
    unsigned step = job->interfaces ? job->row_stride : 1, n = 0;
    wg_pack_rows at;
    at.fours = false;
    at.data = t->l1 + p->stream[WG_STREAM_DATA].address;
    at.lanes = t->regs.exphist.lanes[out->packer];
    if (rows == 16 && find_sixteen(d, job->access, wide, first, &at)) /* not with BH's read interfaces */
        n = 16;
    /* Row permutations keep an aligned group of four together: one lookup serves all four. */
    bool fours = step == 1 && !(first & 3) && (!job->interfaces || job->interfaces == 15);
    while (fours && n + 4 <= rows) {
        unsigned stored = wg_dst_stored(job->access, (first + n) & (WG_DST_ROWS - 1), wide);
        if (d->undefined[stored >> 6 & 15] >> (stored & 63) & 15)
            break;
        at.high[n] = d->bits[stored];
        at.low[n] = wide ? d->bits[stored + WG_DST_LOW] : wg_pack_zeros;
        at.fours = true;
        n += 4;
    }
    if (n < rows)
        wg_pack_rows_apart(&at, n);
    for (unsigned i = n; n < rows; i++) {
        if (job->interfaces && !(job->interfaces >> i & 1))
            continue;
        unsigned stored = wg_dst_stored(job->access, (first + i * step) & (WG_DST_ROWS - 1), wide);
        bool undefined = wg_dst_is_undefined(d, stored);
        at.high[n] = undefined ? wg_pack_zeros : d->bits[stored];
        at.low[n++] = undefined || !wide ? wg_pack_zeros : d->bits[(stored + WG_DST_LOW) % WG_DST_ROWS];
    }
    wg_pack_route route = {
        .early = part->set.early, .shift = job->shift, .out_format = part->set.out_format, .late = part->set.late};
    wg_pack_rows_out((wg_simd)t->simd, &route, rows, &at);
    wg_pack_wrote(out, rows * part->set.row_bytes, part->set.blocks ? rows : 0, at.exponents);
    p->datums += rows * 16;
    unsigned left =
        (uint8_t)(part->set.rows_per_plane - (part->set.transposed ? p->tile_z : p->tile_y)); /* of the plane */
    if (job->interfaces || rows <= left)
        wg_pack_next_row(p, &part->set, rows);
    else
        for (unsigned i = 0; i < rows; i++)
            wg_pack_next_row(p, &part->set, 1);
}

/*
 * Many rows at once: whole rows of Dst, nothing between the conversions, empty buffers, room in L1. False: the rows are not
 * of this kind, and are moved one by one.
 */
static bool move_straight(const wg_pack_output *out, const wg_pack_job *job, const wg_pack_part *part)
{
    wg_tile *t = out->t;
    const wg_packer *p = out->p;
    unsigned rows = job->interfaces ? wg_pack_ones(job->interfaces) : part->count / 16;
    if (!wg_fast_straight_rows(t) || !part->set.straight || part->source != WG_PACK_FROM_DST || part->count < 16 ||
        (part->count | part->start) & 15 || (job->interfaces && part->count != 16))
        return false;
    uint32_t bytes = rows * part->set.row_bytes;
    if (rows > WG_DST_ROWS || p->stream[WG_STREAM_DATA].fill || p->block_fill || bytes & 15 ||
        !wg_l1_holds(t->spec->l1_bytes, p->stream[WG_STREAM_DATA].address, bytes))
        return false;
    if (wg_touch_l1_watched(t))
        wg_touch_emit(t, WG_TOUCH_WRITE, WG_TOUCH_L1, p->stream[WG_STREAM_DATA].address, bytes, out->packer);
    for (unsigned first = part->start >> 4; rows; first = (first + 16) & (WG_DST_ROWS - 1)) {
        unsigned some = rows < 16 ? rows : 16;
        straight_rows(out, job, part, first, some);
        rows -= some;
    }
    wg_fast_moved_straight(t);
    return true;
}

static void move_stepwise(const wg_pack_output *out, const wg_pack_job *job, const wg_pack_part *part)
{
    mover m = {.out = *out,
               .job = job,
               .part = part,
               .access = job->access,
               .wide = part->set.wide,
               .statistics = job->statistics,
               .from = wg_pack_early_mid((wg_pack_early)part->set.early)};
    if (!job->interfaces || !part->count) {
        run(&m, part->start);
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        if (!(job->interfaces >> i & 1))
            continue;
        m.turn = 0;
        run(&m, part->start + (i * job->row_stride << 4));
        m.interface++;
    }
    if (part->source == WG_PACK_FROM_DST)
        wg_pack_next_row(out->p, &part->set, m.interface);
}

void wg_pack_end_tile(const wg_pack_output *out, unsigned thread, bool last, const wg_pack_settings *set)
{
    const wg_packer *p = out->p;
    if (p->block_fill | p->group_fill | p->stream[WG_STREAM_ROWS].fill | p->stream[WG_STREAM_EXPONENTS].fill |
        p->stream[WG_STREAM_DATA].fill)
        wg_pack_flush(out);
    if (last)
        wg_tdma_tile_packed(out->t, out->packer, thread,
                            (uint16_t)((p->stream[WG_STREAM_DATA].address - p->tile_start) >> 4), p->zero_flags,
                            set->header, set->into_fifo);
}

void wg_pack_move(wg_tile *t, const wg_pack_job *job, unsigned packer)
{
    const wg_pack_part *part = &job->part[packer];
    wg_packer *p = &t->backend.pack.packer[packer];
    wg_pack_output out = {.t = t, .p = p, .packer = packer, .insn = &job->insn};
    if (wg_touch_watched(t))
        wg_touch_emit(t, WG_TOUCH_READ | WG_TOUCH_WRITE, WG_TOUCH_PACKER, packer, 1, packer);
    if (wg_pack_begins(p, part))
        wg_pack_begin(&out, part);
    if (!move_straight(&out, job, part))
        move_stepwise(&out, job, part);
    if (job->padding == WG_PAD_ALL && p->datums % 16) {
        uint32_t zeros[16] = {0};
        wg_pack_put(&out, 16 - p->datums % 16, zeros);
    }
    if (part->set.compress && (job->last || job->flush || (part->count && !job->concat)))
        wg_pack_end_row(&out, part->set.zero_flags);
    if (!job->last && !job->flush) {
        if (wg_touch_watched(t))
            for (unsigned i = 0; i < WG_PACK_STREAMS; i++) /* 16 bytes or less of an incomplete line */
                wg_touch_emit(t, WG_TOUCH_WRITE | WG_TOUCH_BUFFERED, WG_TOUCH_L1, p->stream[i].address,
                              p->stream[i].fill, packer);
        return;
    }
    wg_pack_end_tile(&out, job->insn.thread, job->last, &part->set);
}
