/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PACR's datums on their way, a row of Dst at a time:
 *
 *     Dst ── early conversion ── edge mask ── ReLU ── histogram ─┬─ threshold ── downsampling ── late ──> streams
 *     L1, or zeros ──────────────────────────────────────────────┘
 *
 * Decided here: everything is read from Dst and written to the streams in the cycle in which the packer is done with
 * the instruction; a datum of L1 that lies outside of it is 0.
 *
 * The tile position that chooses edge masks counts rows of 16 datums on WH, enabled read interfaces on BH; nothing
 * but the end of a plane sets it back (the pages; ttsim also does so when a tile begins).
 *
 * Facts: the pages of Packers/, BlackholeA0 PACR.md.
 */
#include <string.h>

#include "backend/config.h"
#include "backend/insn_finding.h"
#include "backend/pack_internal.h"
#include "backend/tdma.h"
#include "num/l1_formats.h"
#include "observe/touch.h"
#include "tile/l1.h"

typedef struct mover {
    wg_pack_output out;
    const wg_pack_job *job;
    const wg_pack_part *part;
    wg_dst_access access;
    bool wide, statistics;
    wg_mid from;         /* what the early conversion makes */
    unsigned turn;       /* of the downsampling mask */
    unsigned interface;  /* BH: how many enabled ones came before */
} mover;

/* ---- Tile position -------------------------------------------------------------------------------------------- */

static void next_row(wg_packer *p, const wg_pack_part *part, unsigned rows)
{
    uint8_t *inner = part->transposed ? &p->tile_z : &p->tile_y, *outer = part->transposed ? &p->tile_y : &p->tile_z;
    *inner = (uint8_t)(*inner + rows);
    if (*inner == part->rows_per_plane) {
        *inner = 0;
        (*outer)++;
    }
}

static uint16_t edge_mask(const mover *m)
{
    const wg_pack_job *job = m->job;
    const wg_packer *p = m->out.p;
    unsigned y = p->tile_y, z = p->tile_z, set = m->part->set_select;
    if (m->part->transposed)
        z += m->interface;
    else
        y += m->interface;
    if (job->edge_faces)
        set = job->face_sets[set] >> 2 * ((m->part->z_offset + z) & 15) & 3;
    return job->edge_mask[job->row_sets[set] >> 2 * (y & 15) & 3];
}

/* ---- Stages ---------------------------------------------------------------------------------------------------- */

static void apply_edges(mover *m, unsigned column, unsigned count, uint32_t value[16])
{
    wg_packer *p = m->out.p;
    uint32_t instead = m->job->edge_infinite ? wg_pack_minus_infinity((wg_pack_early)m->part->early) : 0;
    uint16_t mask = edge_mask(m);
    for (unsigned i = 0; i < count; i++) {
        if (!(mask >> ((column + i) & 15) & 1))
            value[i] = instead;
        if (!m->job->interfaces && ++p->tile_x == 16) {
            p->tile_x = 0;
            next_row(p, m->part, 1);
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
        next_row(p, m->part, 1);
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

/* From the threshold on. */
static void finish(mover *m, unsigned count, uint32_t value[16])
{
    const wg_pack_part *part = m->part;
    if (part->threshold_on)
        for (unsigned i = 0; i < count; i++)
            if (wg_pack_exponent((wg_mid)part->mid, value[i]) < part->threshold)
                value[i] = 0;
    if (part->downsample != 0xFFFF) {
        unsigned kept = 0;
        for (unsigned i = 0; i < count; i++, m->turn++)
            if (part->downsample >> (m->turn & 15) & 1)
                value[kept++] = value[i];
        count = kept;
    }
    wg_pack_late_row(part->late, count, value);
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
    wg_pack_early_row((wg_pack_early)m->part->early, m->job->shift, high, low, value);
    if (column)
        memmove(value, value + column, count * sizeof *value);
    if (m->job->edges)
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
    unsigned format = m->part->in_format, size = wg_l1_bits(format) < 8 ? 1 : wg_l1_bits(format) / 8;
    if (wg_touch_watched(m->out.t))
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

static bool statistics(const wg_tile *t)
{
    return wg_thread_config_get(t, 0, WG_TCFG_ENABLE_ACC_STATS_Enable) ||
           wg_thread_config_get(t, 1, WG_TCFG_ENABLE_ACC_STATS_Enable) ||
           wg_thread_config_get(t, 2, WG_TCFG_ENABLE_ACC_STATS_Enable);
}

void wg_pack_move(wg_tile *t, const wg_pack_job *job, unsigned packer)
{
    const wg_pack_part *part = &job->part[packer];
    wg_packer *p = &t->backend.pack.packer[packer];
    mover m = {.out = {.t = t, .p = p, .packer = packer, .insn = &job->insn}, .job = job, .part = part,
               .access = wg_dst_access_now(t), .wide = part->early <= WG_EARLY_HIGH, .statistics = statistics(t),
               .from = wg_pack_early_mid((wg_pack_early)part->early)};
    if (wg_touch_watched(t))
        wg_touch_emit(t, WG_TOUCH_READ | WG_TOUCH_WRITE, WG_TOUCH_PACKER, packer, 1, packer);
    wg_pack_begin(&m.out, part);
    if (job->interfaces && part->count) {
        for (unsigned i = 0; i < 4; i++) {
            if (!(job->interfaces >> i & 1))
                continue;
            m.turn = 0;
            run(&m, part->start + (i * job->row_stride << 4));
            m.interface++;
        }
        if (part->source == WG_PACK_FROM_DST)
            next_row(p, part, m.interface);
    } else {
        run(&m, part->start);
    }
    if (job->padding == WG_PAD_ALL && p->datums % 16) {
        uint32_t zeros[16] = {0};
        wg_pack_put(&m.out, 16 - p->datums % 16, zeros);
    }
    if (part->compress && (job->last || job->flush || (part->count && !job->concat)))
        wg_pack_end_row(&m.out, part->zero_flags);
    if (!job->last && !job->flush) {
        if (wg_touch_watched(t))
            for (unsigned i = 0; i < WG_PACK_STREAMS; i++)   /* 16 bytes or less that wait for more */
                wg_touch_emit(t, WG_TOUCH_WRITE | WG_TOUCH_BUFFERED, WG_TOUCH_L1, p->stream[i].address,
                              p->stream[i].fill, packer);
        return;
    }
    wg_pack_flush(&m.out);
    if (job->last)
        wg_tdma_tile_packed(t, packer, job->insn.thread,
                            (uint16_t)((p->stream[WG_STREAM_DATA].address - p->tile_start) >> 4), p->zero_flags,
                            part->header, part->into_fifo);
}
