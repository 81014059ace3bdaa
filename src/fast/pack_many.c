/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many PACRs at a time, all of them simple. While nobody else uses the packers, the sequence of events is known:
 *
 *     a    PACRs due by then complete; the next PACR is accepted
 *     …    the packer accepts nothing; a completion changes only L1
 *     a'   the first cycle in which the packer accepts the next one
 *
 * A burst goes from acceptance to acceptance. Jobs are created only at its end, for the PACRs still in flight. Rows of Dst are
 * converted many at a time, before anybody else could look at L1 or write Dst.
 */
#include "fast/pack_many.h"

#include <string.h>

#include "machine/l1.h"

/* No other thread has a pack instruction at its gate. */
static bool others_keep_off(const wg_tile *t, unsigned thread)
{
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (i != thread && wg_gate_count(&t->frontend[i]) && wg_gate_fifo_at(&t->frontend[i], 0)->unit == WG_UNIT_PACK)
            return false;
    return true;
}

/* ---- Completion ---------------------------------------------------------------------------------------------- */

void wg_pack_many_writes(wg_pack_many *m)
{
    if (!m->rows)
        return;
    wg_pack_route route = {.early = m->set->early, .out_format = m->set->out_format, .late = m->set->late};
    wg_pack_rows_out((wg_simd)m->t->simd, &route, m->rows, &m->at);
    if (m->set->blocks)
        wg_pack_wrote(&(wg_pack_output){.t = m->t, .p = m->p, .insn = &m->burst.f->mop.insn}, 0, m->rows,
                      m->at.exponents);
    m->rows = 0;
}

static inline uint32_t stream_at(const wg_pack_many *m, const wg_pack_pending *job, wg_pack_stream_id stream)
{
    return job->places >> stream & 1 ? job->address[stream] : m->p->stream[stream].address;
}

static inline bool unseen(const wg_tile *t, uint32_t address, uint32_t bytes)
{
    return wg_l1_holds(t->spec->l1_bytes, address, bytes) && wg_l1_unseen(t, address, bytes);
}

/* The same for a run of consecutive lines, the part of a tile that the burst may write. No cache changes meanwhile. */
static inline bool data_unseen(wg_pack_many *m, uint32_t data, uint32_t bytes)
{
    enum { MOST = 4096 };
    if (__builtin_expect(data >= m->unseen_from && data + bytes <= m->unseen_to, 1))
        return true;
    uint32_t all = (m->burst.count + m->count) * 4 * m->set->row_bytes;
    all = all > MOST ? MOST : all;
    if (all <= bytes || !unseen(m->t, data, all)) {
        if (!unseen(m->t, data, bytes))
            return false;
        all = bytes;
    }
    if (data != m->unseen_to) /* else the known range grows */
        m->unseen_from = data;
    m->unseen_to = data + all;
    return true;
}

enum { EXPONENTS = 32 }; /* most exponents in the buffer and in at.exponents */
static inline bool exponents_unseen(wg_pack_many *m, uint32_t line)
{
    if (line != m->unseen_line) {
        if (!unseen(m->t, line, EXPONENTS))
            return false;
        m->unseen_line = line;
    }
    return true;
}

/* Appends rows of one aligned group of four to the waiting ones; there is room. */
static inline void add_rows(wg_pack_many *m, unsigned stored, unsigned interfaces, uint32_t data)
{
    const wg_dst *d = &m->t->regs.dst;
    bool wide = m->set->wide, whole = interfaces == 15 && !(d->undefined[stored >> 6 & 15] >> (stored & 63) & 15);
    if (!m->rows) {
        m->at.data = m->t->l1 + data;
        m->at.fours = true;
    }
    if (!whole && m->at.fours)
        wg_pack_rows_apart(&m->at, m->rows);
    if (whole) {
        const uint16_t **high = &m->at.high[m->rows], **low = &m->at.low[m->rows];
        *high = d->bits[stored];
        *low = wide ? d->bits[stored + WG_DST_LOW] : wg_pack_zeros;
        for (unsigned i = 1; i < 4 && !m->at.fours; i++) {
            high[i] = *high + 16 * i;
            low[i] = wide ? *low + 16 * i : wg_pack_zeros;
        }
        m->rows += 4;
        return;
    }
    for (unsigned rest = interfaces; rest; rest &= rest - 1) {
        unsigned row = stored + (unsigned)__builtin_ctz(rest);
        bool zero = wg_dst_is_undefined(d, row);
        m->at.high[m->rows & 15] = zero ? wg_pack_zeros : d->bits[row];
        m->at.low[m->rows++ & 15] = zero || !wide ? wg_pack_zeros : d->bits[row + WG_DST_LOW];
    }
}

/* Packs rows of 16 datums as wg_pack_move() does. False, with nothing done, if it does not apply. */
static inline bool move(wg_pack_many *m, const wg_pack_pending *job)
{
    const wg_pack_settings *set = m->set;
    wg_packer *p = m->p;
    unsigned stored = wg_dst_stored(m->access, job->start >> 4, set->wide), rows = wg_pack_ones(job->interfaces);
    uint32_t bytes = rows * set->row_bytes, data = stream_at(m, job, WG_STREAM_DATA);
    uint32_t exponents = stream_at(m, job, WG_STREAM_EXPONENTS);
    if (bytes & 15 || !data_unseen(m, data, bytes) || (set->out_format & 2 && !exponents_unseen(m, exponents)))
        return false;
    /* Exponents are written after their rows and before the rows that follow. */
    uint32_t first = m->rows ? (uint32_t)(m->at.data - m->t->l1) : data;
    bool meet = set->blocks && first < exponents + EXPONENTS && exponents < data + bytes;
    bool begins = job->places || !m->begun;
    if (begins || m->rows + rows > 16 || meet)
        wg_pack_many_writes(m);
    wg_pack_output out = {.t = m->t, .p = p, .insn = &m->burst.f->mop.insn};
    if (begins) {
        wg_pack_part part = {.places = job->places, .set = *set};
        if (part.places)
            memcpy(part.address, job->address, sizeof part.address);
        if (wg_pack_begins(p, &part))
            wg_pack_begin(&out, &part);
        m->begun = true;
    }
    add_rows(m, stored, job->interfaces, data);
    p->stream[WG_STREAM_DATA].address = data + bytes;
    p->datums += rows * 16;
    wg_pack_next_row(p, set, rows);
    if (job->last || meet)
        wg_pack_many_writes(m);
    if (job->last)
        wg_pack_end_tile(&out, m->burst.thread, true, set);
    return true;
}

bool wg_pack_many_completes(wg_pack_many *m, uint64_t at)
{
    while (m->count) {
        const wg_pack_pending *job = &m->pending[m->first];
        if (job->done_at > at)
            break;
        if (!move(m, job))
            return false;
        if (job->older)
            wg_pack_end_job(m->u, 0);
        m->first = (uint8_t)((m->first + 1) % WG_PACK_IN_FLIGHT);
        m->count--;
    }
    return true;
}

/* ---- Acceptance ---------------------------------------------------------------------------------------------- */

enum {
    NOT_SIMPLE = WG_OPERAND_MASK(BH, PACR, CtxtCtrl) | WG_OPERAND_MASK(BH, PACR, DstAccessMode) |
                 WG_OPERAND_MASK(BH, PACR, RowPadZero) | WG_OPERAND_MASK(BH, PACR, CfgContext) |
                 WG_OPERAND_MASK(BH, PACR, Flush) | WG_OPERAND_MASK(BH, PACR, ZeroWrite),
    NOT_STEADY = 0xBC30 /* address modes with more than increments of Y, and of Z in channel 1 */
};

/* A new word. False: it is not simple, or takes longer than the burst allows. */
static bool takes_word(wg_pack_many *m, const wg_insn *insn)
{
    wg_pack_simple *simple = &m->simple[WG_GET(PACR, Last, insn->word)];
    simple->serial = 0;
    if (insn->op != WG_I_PACR || wg_sets(insn->word, NOT_SIMPLE))
        return false;
    const wg_pack_form *form = wg_pack_form_of(m->t, insn);
    if (form->reports || &m->u->setup[form->bank] != m->setup || m->setup->section[0].fills_plane ||
        m->setup->descales || m->setup->has_edges || m->set->downsample != 0xFFFF || m->set->accumulate)
        return false;
    const unsigned select = WG_GET(PACR, Select, insn->word), rows = select ? wg_pack_ones(select) : 4;
    simple->interfaces = (uint8_t)(select ? select : 15);
    simple->cycles = (uint8_t)wg_pack_cycles(m->t->arch, rows, (rows * m->set->row_bytes + 15) / 16);
    if (!m->burst.steady && simple->cycles != 1)
        return false;
    simple->word = insn->word;
    simple->counters = m->t->regs.adc.unit[form->counters[0]][2];
    simple->needed = (uint8_t)wg_pack_streams_of(m->set);
    simple->mode = form->mode;
    simple->serial = form->serial;
    return true;
}

static bool takes_next_word(wg_pack_many *m, unsigned last)
{
    const wg_insn insn = wg_burst_insn(&m->burst, m->accepted);
    for (unsigned i = 0; i < m->count; i++)
        if (m->pending[(m->first + i) % WG_PACK_IN_FLIGHT].last == last)
            return false; /* a job still has to be created from the present one */
    return takes_word(m, &insn);
}

static inline bool is_ready(wg_pack_many *m, uint64_t at)
{
    const uint32_t word = m->burst.word[m->accepted];
    const unsigned last = WG_GET(PACR, Last, word);
    const wg_pack_simple *simple = &m->simple[last];
    if (__builtin_expect(simple->word != word || !simple->serial, 0) && !takes_next_word(m, last))
        return false;
    const wg_adc_channel *c = simple->counters;
    m->start = wg_pack_dst_start(m->setup, &m->setup->section[0], c);
    if (c[0].x | (c[1].x ^ 15) | (m->start & 63))
        return false;
    if (m->settled)
        return true;
    unsigned block = wg_dst_stored(m->access, m->start >> 4, m->set->wide) / 8 % WG_DST_BLOCKS;
    return m->t->backend.matrix.block_ready[block] <= at;
}

/* Is there a next PACR, and room for it? */
static inline bool has_next(const wg_pack_many *m)
{
    return m->accepted < m->burst.count && m->count < WG_PACK_IN_FLIGHT &&
           (m->burst.steady || m->p->free_at <= m->burst.from);
}

static inline void accepts(wg_pack_many *m, uint64_t now)
{
    wg_tile *t = m->t;
    wg_packer *p = m->p;
    const uint32_t word = m->burst.word[m->accepted];
    const bool last = WG_GET(PACR, Last, word);
    const wg_pack_simple *simple = &m->simple[last];
    wg_adc_channel *c = simple->counters;
    wg_pack_pending *job = &m->pending[(m->first + m->count++) % WG_PACK_IN_FLIGHT];
    job->start = m->start;
    job->nth = m->accepted;
    job->interfaces = simple->interfaces;
    job->last = last;
    job->older = false;
    job->places = 0;
    if (simple->needed & ~(unsigned)p->placed) {
        wg_pack_part part = {.set = *m->set};
        wg_pack_place_streams(t, m->setup, &m->setup->section[0], &part, 0, &c[1]);
        job->places = part.places;
        memcpy(job->address, part.address, sizeof job->address);
    }
    if (last)
        p->placed = 0;
    m->u->planned_row = (uint8_t)(m->u->planned_row + wg_pack_ones(simple->interfaces));
    if (m->u->planned_row == m->set->rows_per_plane)
        m->u->planned_row = 0;
    wg_pack_step_counters(t, wg_pack_form_at(m->u, word));
    p->free_at = now + simple->cycles;
    uint64_t done = p->free_at + WG_PACK_STAGES - 1;
    job->done_at = p->last_done = done > p->last_done ? done : p->last_done;
    m->burst.at[m->accepted++] = now;
    m->burst.from = now + 1;
}

/* ---- Many at once ---------------------------------------------------------------------------------------------- */

/* The number of consecutive instructions, from the next one on, that equal `word`; at most `most`. */
static uint32_t alike(const wg_pack_many *m, uint32_t word, uint64_t most)
{
    const uint32_t *next = &m->burst.word[m->accepted], left = m->burst.count - m->accepted;
    uint32_t n = 0, end = most < left ? (uint32_t)most : left;
    while (n < end && next[n] == word)
        n++;
    return n;
}

/* The part of a tile that will be written. */
typedef struct tile_part {
    uint32_t data, data_end, exponents, count; /* bytes; count: of exponents, with those in the buffer */
} tile_part;

static bool part_is_clear(wg_pack_many *m, const tile_part *part, bool last)
{
    uint32_t end = part->exponents + ((part->count + (last ? 15u : 0)) & ~15u);
    if (!(m->set->out_format & 2))
        return true;
    return unseen(m->t, part->exponents, end - part->exponents + EXPONENTS) &&
           (!m->set->blocks || part->data_end <= part->exponents || part->data >= end);
}

/* Can the first `count` pending PACRs and `more` after them complete without overlapping each other? */
static bool is_clear(wg_pack_many *m, unsigned count, uint32_t more)
{
    const wg_pack_stream *stream = m->p->stream;
    const unsigned row_bytes = m->set->row_bytes;
    uint32_t data = stream[WG_STREAM_DATA].address;
    tile_part part = {m->rows ? (uint32_t)(m->at.data - m->t->l1) : data, data, stream[WG_STREAM_EXPONENTS].address,
                      stream[WG_STREAM_EXPONENTS].fill + m->rows};
    for (unsigned i = 0; i < count; i++) {
        const wg_pack_pending *job = &m->pending[(m->first + i) % WG_PACK_IN_FLIGHT];
        uint32_t rows = wg_pack_ones(job->interfaces), bytes = rows * row_bytes;
        if (job->places) {
            if (!part_is_clear(m, &part, true))
                return false;
            data = job->address[WG_STREAM_DATA];
            part = (tile_part){data, data, job->address[WG_STREAM_EXPONENTS], 0};
        }
        if (bytes & 15 || !data_unseen(m, part.data_end, bytes))
            return false;
        part.data_end += bytes;
        part.count += rows;
    }
    uint32_t bytes = more * 4 * row_bytes;
    if ((4 * row_bytes) & 15 || (more && !data_unseen(m, part.data_end, bytes)))
        return false;
    part.data_end += bytes;
    part.count += 4 * more;
    return part_is_clear(m, &part, false);
}

/* The row in the plane after `fours` groups of four. */
static inline uint8_t rows_on(uint8_t row, uint8_t plane, uint32_t fours)
{
    for (; fours; fours--) {
        row = (uint8_t)(row + 4);
        if (row == plane)
            row = 0;
    }
    return row;
}

/*
 * Accepts the same instruction several times in the middle of a tile, each as soon as the packer is free, with the
 * completions up to the last acceptance. Returns how many; 0, with nothing done, in any less simple case.
 */
static uint32_t stretch(wg_pack_many *m, uint64_t until)
{
    wg_packer *p = m->p;
    const wg_pack_simple *simple = &m->simple[0];
    wg_adc_channel *c = simple->counters;
    uint64_t at = wg_pack_many_next(m);
    const unsigned cycles = simple->cycles;
    if (!simple->serial || at + cycles >= until || !m->settled || simple->mode & NOT_STEADY ||
        simple->interfaces != 15 || simple->needed & ~(unsigned)p->placed || c[0].x | (c[1].x ^ 15) ||
        m->count > WG_PACK_IN_FLIGHT / 2 || !(m->burst.steady || (cycles == 1 && at == m->burst.from)))
        return 0;
    uint32_t n = alike(m, simple->word, (until - at + cycles - 1) / cycles);
    /* Dst is read in aligned groups of four rows, `step` datums apart. */
    const unsigned shift = wg_pack_datum_shift(m->set->in_format);
    uint32_t start = wg_pack_dst_start(m->setup, &m->setup->section[0], c),
             step = (simple->mode & 15) * m->setup->in_stride[1];
    if (n < 2 || start & 63 || step & ((64u << shift) - 1) || c->y + n * (simple->mode & 15) > 0x1FFF)
        return 0;
    step >>= shift;
    uint64_t last = at + (n - 1) * cycles;
    unsigned older = 0, stages = cycles + WG_PACK_STAGES - 1;
    while (older < m->count && m->pending[(m->first + older) % WG_PACK_IN_FLIGHT].done_at <= last)
        older++;
    /* The new ones that complete: done_at is at + i * cycles + stages, and no earlier than p->last_done. */
    uint32_t done = 0;
    if (older == m->count && p->last_done <= at + stages && last >= at + stages)
        done = (uint32_t)((last - at - stages) / cycles) + 1;
    else if (p->last_done > at + stages)
        return 0;
    uint32_t bytes = 4u * m->set->row_bytes;
    if (!is_clear(m, older, done) || !wg_pack_many_completes(m, last))
        return 0;
    uint32_t data = p->stream[WG_STREAM_DATA].address;
    for (uint32_t i = 0; i < done; i++) {
        if (m->rows + 4 > 16)
            wg_pack_many_writes(m);
        add_rows(m, wg_dst_stored(m->access, ((start + i * step) & 0x3FFF) >> 4, m->set->wide), 15, data);
        data += bytes;
        wg_pack_next_row(p, m->set, 4);
    }
    p->stream[WG_STREAM_DATA].address = data;
    p->datums += done * 64;
    for (uint32_t i = done; i < n; i++) {
        wg_pack_pending *job = &m->pending[(m->first + m->count++) % WG_PACK_IN_FLIGHT];
        *job = (wg_pack_pending){.done_at = at + i * cycles + stages,
                                 .start = (start + i * step) & 0x3FFF,
                                 .nth = m->accepted + i,
                                 .interfaces = 15};
    }
    m->u->planned_row = rows_on(m->u->planned_row, m->set->rows_per_plane, n);
    for (unsigned k = 0; k < 2; k++) {
        c[k].y = (c[k].y + n * (simple->mode >> 6 * k & 15)) & 0x1FFF;
        c[k].z = (uint8_t)(c[k].z + n * (simple->mode >> (12 + 2 * k) & 1));
    }
    p->free_at = last + cycles;
    p->last_done = last + stages;
    for (uint32_t i = 0; i < n; i++)
        m->burst.at[m->accepted + i] = at + i * cycles;
    m->accepted += n;
    m->burst.from = last + 1;
    return n;
}

void wg_pack_many_run(wg_pack_many *m, uint64_t until)
{
    for (;;) {
        uint64_t at = wg_pack_many_next(m);
        if (at >= until)
            return;
        if (stretch(m, until))
            continue;
        if (!has_next(m) || !is_ready(m, at) || !wg_pack_many_completes(m, at))
            return;
        accepts(m, at);
    }
}

/* ---- Beginning ------------------------------------------------------------------------------------------------- */

/* The packer's buffers hold only whole lines of data, before and after. */
static bool holds_whole_lines(const wg_pack_many *m)
{
    const wg_packer *p = m->p;
    const wg_pack_settings *set = m->set;
    return set->straight && !set->into_fifo &&
           !(p->stream[WG_STREAM_DATA].fill | p->stream[WG_STREAM_ROWS].fill | p->block_fill | p->group_fill) &&
           (set->out_format & 2 || !p->stream[WG_STREAM_EXPONENTS].fill);
}

/* Takes over the unit's jobs; false if one has different settings. */
static bool takes_jobs(wg_pack_many *m)
{
    const wg_pack *u = m->u;
    for (unsigned i = 0; i < u->count; i++) {
        const wg_pack_job *job = &u->job[u->order[i]];
        const wg_pack_part *part = &job->part[0];
        if (job->insn.thread != m->burst.thread || job->insn.op != WG_I_PACR || job->late || job->idle ||
            (job->serial != m->simple[job->last].serial && !takes_word(m, &job->insn)) ||
            job->serial != m->simple[job->last].serial || !job->serial || job->access.remap != m->access.remap ||
            job->access.swizzle != m->access.swizzle || job->access.wide16 != m->access.wide16)
            return false;
        m->pending[i] = (wg_pack_pending){.done_at = part->done_at,
                                          .start = part->start,
                                          .places = part->places,
                                          .interfaces = job->interfaces,
                                          .last = job->last,
                                          .older = true};
        memcpy(m->pending[i].address, part->address, sizeof part->address);
    }
    m->first = 0;
    m->count = u->count;
    return true;
}

bool wg_pack_many_begin(wg_pack_many *m, wg_tile *t, unsigned thread, uint64_t until)
{
    wg_pack *u = &t->backend.pack;
    if (!t->arch->pack.interfaces || t->l1_watched || t->sched.watch_units || u->held ||
        t->backend.config.instructions || !wg_burst_begin(&m->burst, t, thread, until))
        return false;
    m->t = t;
    m->u = u;
    m->p = &u->packer[0];
    m->setup = &u->setup[wg_config_bank(t, thread)];
    m->set = &m->setup->section[0].from_dst;
    m->access = wg_pack_access(t, m->setup);
    m->simple[0].serial = m->simple[1].serial = 0;
    if (!wg_fast_decoded(t) || m->setup->changes != t->regs.config.changes + 1 || !others_keep_off(t, thread) ||
        !holds_whole_lines(m) || !takes_jobs(m))
        return false;
    m->accepted = 0;
    m->begun = false;
    m->settled = t->backend.matrix.blocks_ready <= t->sched.now;
    m->unseen_from = m->unseen_to = 0;
    m->unseen_line = UINT32_MAX;
    m->rows = 0;
    m->at.lanes = t->regs.exphist.lanes[0];
    return true;
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

static void make_jobs(wg_pack_many *m)
{
    for (unsigned i = 0; i < m->count; i++) {
        const wg_pack_pending *pending = &m->pending[(m->first + i) % WG_PACK_IN_FLIGHT];
        if (pending->older)
            continue;
        wg_pack_job *job = wg_pack_new_job(m->u);
        wg_pack_part *part = &job->part[0];
        job->insn = wg_burst_insn(&m->burst, pending->nth);
        job->packers = 1;
        job->set_register = job->late = false;
        if (job->serial != m->simple[pending->last].serial)
            wg_pack_fill_in(job, wg_pack_form_at(m->u, job->insn.word));
        job->interfaces = pending->interfaces;
        part->count = 16;
        part->cycles = m->simple[pending->last].cycles;
        job->access = m->access;
        part->start = pending->start;
        part->places = pending->places;
        if (part->places)
            memcpy(part->address, pending->address, sizeof part->address);
        part->done_at = pending->done_at;
    }
}

void wg_pack_many_end(wg_pack_many *m)
{
    wg_pack_many_writes(m);
    make_jobs(m);
    wg_set_wake(&m->t->sched, WG_AGENT_PACK, m->count ? m->pending[m->first].done_at : WG_NEVER);
}
