/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of PACRs: a MOP of nothing but usual PACRs (pack_address.c), and nobody else in the tile who has anything to do
 * with the packers before some cycle. Then what wg_tile_cycle() does in such cycles is known:
 *
 *     a    completions that are due by then; the gate's head is accepted; one instruction each moves on to the gate and
 *          comes out of the MOP Expander
 *     …    nothing moves: both FIFOs are full and the packer takes nothing; a completion changes L1 alone
 *     a'   the first cycle in which the packer takes the next one
 *
 * and it is done here, from acceptance to acceptance, without asking the rest of the tile: neither the FIFOs nor the
 * unit's jobs are touched, for what will be in them is known, too. In the end everything is made as the cycles themselves
 * leave it. Whoever would have looked in vain in between (threads that a completion wakes, requests that wait until the
 * thread is idle) is not asked: what they wait for does not change.
 */
#include "fast/pack_burst.h"

#include <string.h>

#include "fast/lanes.h"
#include "tile/l1.h"

static bool is_nop(uint32_t word) { return word >> 24 == 0x02; }

/* A well-formed PACR? */
static bool is_pacr(const wg_tile *t, uint32_t word)
{
    const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][word >> 24];
    return kind->rest >> 48 == WG_I_PACR && !((word | 1u << 31) & kind->spare_bits);
}

/* As it is configured, a MOP of template 1 makes PACRs and nothing else. */
static bool makes_pacrs(const wg_tile *t, const wg_frontend *f)
{
    const uint32_t *cfg = f->mop_cfg;
    return is_nop(cfg[2]) && is_nop(cfg[3]) && is_pacr(t, cfg[5]) && is_pacr(t, cfg[7]) && is_pacr(t, cfg[8]);
}

/* The thread is in a MOP that makes PACRs and nothing else, and nothing is in their way. */
static bool expands_pacrs(const wg_tile *t, const wg_frontend *f)
{
    enum { ACTIVE_ALONE = 1, WAITS_B = 2 };
    const wg_mop_state *m = &f->mop;
    if (f->mux_busy != ACTIVE_ALONE || !m->template || m->first || m->step != WG_MOP_LOOP || m->alternates ||
        f->replay_busy || f->push_waits & WAITS_B || f->latch.block || f->holders || f->blocks_all)
        return false;
    return makes_pacrs(t, f);
}

/* Other threads have nothing to do with the packers, neither in them nor at their gate. */
static bool others_keep_off(const wg_tile *t, unsigned thread)
{
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (i != thread && wg_gate_count(&t->frontend[i]) && wg_gate_fifo_at(&t->frontend[i], 0)->unit == WG_UNIT_PACK)
            return false;
    return true;
}

/* ---- The instructions ---------------------------------------------------------------------------------------- */

/* The n-th to be accepted since the burst began. */
static wg_insn insn_at(const wg_pack_burst *b, uint32_t n)
{
    const wg_frontend *f = b->f;
    const wg_mop_state *m = &f->mop;
    if (n < b->queued)
        return f->pool[f->down[(uint8_t)(f->down_head + n) % WG_DOWN_RING] & WG_E_PLACE];
    uint32_t made = n - b->queued;
    bool ends_inner = (m->i + made) % m->inner + 1 == m->inner;
    uint32_t word = f->mop_cfg[!ends_inner ? 5 : made + 1 == b->left ? 7 : 8];
    return (wg_insn){.word = word,
                     .pc = m->insn.pc,
                     .id = f->next_id + 1 + made,
                     .parent = m->insn.id,
                     .rest = wg_insn_kinds[b->t->arch->id][word >> 24].rest | (m->insn.rest & 0xFFFF)};
}

static inline uint32_t next_word(const wg_pack_burst *b)
{
    const wg_frontend *f = b->f;
    if (b->accepted < b->queued)
        return f->pool[f->down[(uint8_t)(f->down_head + b->accepted) % WG_DOWN_RING] & WG_E_PLACE].word;
    return f->mop_cfg[b->loop_at + 1 != f->mop.inner ? 5 : b->accepted - b->queued + 1 == b->left ? 7 : 8];
}

/* ---- Completion ---------------------------------------------------------------------------------------------- */

static const wg_insn *some_insn(const wg_pack_burst *b) { return &b->f->mop.insn; }

void wg_pack_burst_writes(wg_pack_burst *b)
{
    if (!b->rows)
        return;
    wg_pack_route route = {.early = b->set->early, .out_format = b->set->out_format, .late = b->set->late};
    wg_pack_rows_out((wg_simd)b->t->simd, &route, b->rows, &b->at);
    if (b->set->blocks)
        wg_pack_wrote(&(wg_pack_output){.t = b->t, .p = b->p, .insn = some_insn(b)}, 0, b->rows, b->at.exponents);
    b->rows = 0;
}

static inline uint32_t stream_at(const wg_pack_burst *b, const wg_pack_pending *job, wg_pack_stream_id stream)
{
    return job->places >> stream & 1 ? job->address[stream] : b->p->stream[stream].address;
}

static inline bool unseen(const wg_tile *t, uint32_t address, uint32_t bytes)
{
    return wg_l1_holds(t->arch->l1_bytes, address, bytes) && wg_l1_unseen(t, address, bytes);
}

/*
 * The same where lines follow each other, many asked about at once: what the burst may write of a tile. Nobody's cache
 * changes meanwhile.
 */
static inline bool data_unseen(wg_pack_burst *b, uint32_t data, uint32_t bytes)
{
    enum { MOST = 4096 };
    if (__builtin_expect(data >= b->unseen_from && data + bytes <= b->unseen_to, 1))
        return true;
    uint32_t all = (b->most + b->count) * 4 * b->set->row_bytes;
    all = all > MOST ? MOST : all;
    if (all <= bytes || !unseen(b->t, data, all)) {
        if (!unseen(b->t, data, bytes))
            return false;
        all = bytes;
    }
    if (data != b->unseen_to) /* else what is known grows */
        b->unseen_from = data;
    b->unseen_to = data + all;
    return true;
}

enum { EXPONENTS = 32 }; /* in the buffer and in at.exponents, at most */
static inline bool exponents_unseen(wg_pack_burst *b, uint32_t line)
{
    if (line != b->unseen_line) {
        if (!unseen(b->t, line, EXPONENTS))
            return false;
        b->unseen_line = line;
    }
    return true;
}

/* Rows of an aligned four, which stay together, behind those that wait; there is room for them. */
static inline void add_rows(wg_pack_burst *b, unsigned stored, unsigned interfaces, uint32_t data)
{
    const wg_dst *d = &b->t->regs.dst;
    bool wide = b->set->wide, whole = interfaces == 15 && !(d->undefined[stored >> 6 & 15] >> (stored & 63) & 15);
    if (!b->rows) {
        b->at.data = b->t->l1 + data;
        b->at.fours = true;
    }
    if (!whole && b->at.fours)
        wg_pack_rows_apart(&b->at, b->rows);
    if (whole) {
        const uint16_t **high = &b->at.high[b->rows], **low = &b->at.low[b->rows];
        *high = d->bits[stored];
        *low = wide ? d->bits[stored + WG_DST_LOW] : wg_pack_zeros;
        for (unsigned i = 1; i < 4 && !b->at.fours; i++) {
            high[i] = *high + 16 * i;
            low[i] = wide ? *low + 16 * i : wg_pack_zeros;
        }
        b->rows += 4;
        return;
    }
    for (unsigned rest = interfaces; rest; rest &= rest - 1) {
        unsigned row = stored + (unsigned)__builtin_ctz(rest);
        bool zero = wg_dst_is_undefined(d, row);
        b->at.high[b->rows & 15] = zero ? wg_pack_zeros : d->bits[row];
        b->at.low[b->rows++ & 15] = zero || !wide ? wg_pack_zeros : d->bits[row + WG_DST_LOW];
    }
}

/* Rows of 16 datums are put where wg_pack_move() puts them; false, and nothing done, if something is in the way. */
static inline bool move(wg_pack_burst *b, const wg_pack_pending *job)
{
    const wg_pack_settings *set = b->set;
    wg_packer *p = b->p;
    unsigned stored = wg_dst_stored(b->access, job->start >> 4, set->wide), rows = wg_pack_ones(job->interfaces);
    uint32_t bytes = rows * set->row_bytes, data = stream_at(b, job, WG_STREAM_DATA);
    uint32_t exponents = stream_at(b, job, WG_STREAM_EXPONENTS);
    if (bytes & 15 || !data_unseen(b, data, bytes) || (set->out_format & 2 && !exponents_unseen(b, exponents)))
        return false;
    /* Exponents are written behind the rows that they are of, and before those that follow. */
    uint32_t first = b->rows ? (uint32_t)(b->at.data - b->t->l1) : data;
    bool meet = set->blocks && first < exponents + EXPONENTS && exponents < data + bytes;
    bool begins = job->places || !b->begun;
    if (begins || b->rows + rows > 16 || meet)
        wg_pack_burst_writes(b);
    wg_pack_output out = {.t = b->t, .p = p, .insn = some_insn(b)};
    if (begins) {
        wg_pack_part part = {.places = job->places, .set = *set};
        if (part.places)
            memcpy(part.address, job->address, sizeof part.address);
        if (wg_pack_begins(p, &part))
            wg_pack_begin(&out, &part);
        b->begun = true;
    }
    add_rows(b, stored, job->interfaces, data);
    p->stream[WG_STREAM_DATA].address = data + bytes;
    p->datums += rows * 16;
    wg_pack_next_row(p, set, rows);
    if (job->last || meet)
        wg_pack_burst_writes(b);
    if (job->last)
        wg_pack_end_tile(&out, b->thread, true, set);
    return true;
}

static inline bool completes(wg_pack_burst *b, uint64_t at)
{
    while (b->count) {
        const wg_pack_pending *job = &b->pending[b->first];
        if (job->done_at > at)
            break;
        if (!move(b, job))
            return false;
        if (job->older)
            wg_pack_end_job(b->u, 0);
        b->first = (uint8_t)((b->first + 1) % WG_PACK_IN_FLIGHT);
        b->count--;
    }
    return true;
}

bool wg_pack_burst_completes(wg_pack_burst *b, uint64_t at) { return completes(b, at); }

/* ---- Acceptance ---------------------------------------------------------------------------------------------- */

/* A word that is not known yet: does it become a usual one of this configuration, and can it be accepted like this? */
static bool becomes_usual(wg_pack_burst *b, unsigned last)
{
    wg_insn insn = insn_at(b, b->accepted);
    wg_pack_usual *usual = &b->u->usual[last];
    for (unsigned i = 0; i < b->count; i++)
        if (b->pending[(b->first + i) % WG_PACK_IN_FLIGHT].last == last)
            return false; /* its job is yet to be made of the one that is there now */
    b->held &= (uint8_t) ~(1u << last);
    b->same = 0; /* of a word that may not be the usual one any more */
    if (!wg_pack_holds_usual(b->t, &insn) || &b->u->setup[usual->bank] != b->setup)
        return false;
    b->held |= (uint8_t)(1u << last);
    b->counters[last] = b->t->regs.adc.unit[usual->counters][2];
    return true;
}

static inline bool is_ready(wg_pack_burst *b, uint64_t at)
{
    uint32_t word = next_word(b);
    unsigned last = word & 1;
    const wg_pack_usual *usual = &b->u->usual[last];
    if (__builtin_expect(usual->word != word || !(b->held >> last & 1), 0) && !becomes_usual(b, last))
        return false;
    const wg_adc_channel *c = b->counters[last];
    b->start = wg_pack_usual_start(b->setup, usual, c);
    if (c[0].x | (c[1].x ^ 15) | (b->start & 63))
        return false;
    if (b->settled)
        return true;
    unsigned block = wg_dst_stored(b->access, b->start >> 4, b->set->wide) / 8 % WG_DST_BLOCKS;
    return b->t->backend.matrix.block_ready[block] <= at;
}

/* Whatever the cycle: is there a next one, and a place for it? */
static inline bool has_next(const wg_pack_burst *b)
{
    return b->accepted < b->most && b->count < WG_PACK_IN_FLIGHT && (b->full || b->p->free_at <= b->from);
}

bool wg_pack_burst_is_ready(wg_pack_burst *b) { return has_next(b) && is_ready(b, wg_pack_burst_next(b)); }

static inline void accepts(wg_pack_burst *b, uint64_t now)
{
    wg_tile *t = b->t;
    wg_packer *p = b->p;
    uint32_t word = next_word(b);
    const wg_pack_usual *usual = &b->u->usual[word & 1];
    wg_adc_channel *c = b->counters[word & 1];
    wg_pack_pending *job = &b->pending[(b->first + b->count++) % WG_PACK_IN_FLIGHT];
    job->start = b->start;
    job->nth = b->accepted;
    job->interfaces = usual->interfaces;
    job->last = word & 1;
    job->older = false;
    job->places = 0;
    if (usual->needed & ~(unsigned)p->placed) {
        wg_pack_part part = {.set = *b->set};
        wg_pack_place_streams(t, b->setup, &b->setup->section[0], &part, 0, &c[1]);
        job->places = part.places;
        memcpy(job->address, part.address, sizeof job->address);
    }
    if (job->last)
        p->placed = 0;
    b->u->planned_row = (uint8_t)(b->u->planned_row + wg_pack_ones(usual->interfaces));
    if (b->u->planned_row == b->set->rows_per_plane)
        b->u->planned_row = 0;
    if (usual->steps)
        for (unsigned k = 0; k < 2; k++) {
            c[k].y = (c[k].y + usual->y_step[k]) & 0x1FFF;
            c[k].z = (uint8_t)(c[k].z + usual->z_step[k]);
        }
    else
        wg_pack_move_counters(t, &(wg_insn){.word = word, .thread = (uint8_t)b->thread}, 1u << usual->counters);
    p->free_at = now + usual->cycles;
    uint64_t done = p->free_at + WG_PACK_STAGES - 1;
    job->done_at = p->last_done = done > p->last_done ? done : p->last_done;
    if (b->tail)
        b->accepted_at[b->accepted] = now;
    if (b->accepted >= b->queued && ++b->loop_at == b->f->mop.inner)
        b->loop_at = 0;
    b->accepted++;
    b->from = now + 1;
}

void wg_pack_burst_accepts(wg_pack_burst *b) { accepts(b, wg_pack_burst_next(b)); }

/* ---- Many at once ---------------------------------------------------------------------------------------------- */

/* How many of the instructions to come, from the next one on, are this word? */
static uint32_t alike(const wg_pack_burst *b, uint32_t word)
{
    const wg_frontend *f = b->f;
    uint32_t n = b->same > b->accepted ? b->same - b->accepted : 0; /* of those, it is known */
    while (b->accepted + n < b->queued &&
           f->pool[f->down[(uint8_t)(f->down_head + b->accepted + n) % WG_DOWN_RING] & WG_E_PLACE].word == word)
        n++;
    if (b->accepted + n >= b->queued && f->mop_cfg[5] == word)
        n += f->mop.inner - 1u - b->loop_at;
    return n < b->most - b->accepted ? n : b->most - b->accepted;
}

/* What will be written of a tile. */
typedef struct tile_part {
    uint32_t data, data_end, exponents, count; /* bytes; count: of exponents, with those in the buffer */
} tile_part;

static bool part_is_clear(wg_pack_burst *b, const tile_part *part, bool last)
{
    uint32_t end = part->exponents + ((part->count + (last ? 15u : 0)) & ~15u);
    if (!(b->set->out_format & 2))
        return true;
    return unseen(b->t, part->exponents, end - part->exponents + EXPONENTS) &&
           (!b->set->blocks || part->data_end <= part->exponents || part->data >= end);
}

/* Can the first `count` of what is pending complete, and `more` PACRs behind them, without getting in each other's way? */
static bool is_clear(wg_pack_burst *b, unsigned count, uint32_t more)
{
    const wg_pack_stream *stream = b->p->stream;
    const unsigned row_bytes = b->set->row_bytes;
    uint32_t data = stream[WG_STREAM_DATA].address;
    tile_part part = {b->rows ? (uint32_t)(b->at.data - b->t->l1) : data, data, stream[WG_STREAM_EXPONENTS].address,
                      stream[WG_STREAM_EXPONENTS].fill + b->rows};
    for (unsigned i = 0; i < count; i++) {
        const wg_pack_pending *job = &b->pending[(b->first + i) % WG_PACK_IN_FLIGHT];
        uint32_t rows = wg_pack_ones(job->interfaces), bytes = rows * row_bytes;
        if (job->places) {
            if (!part_is_clear(b, &part, true))
                return false;
            data = job->address[WG_STREAM_DATA];
            part = (tile_part){data, data, job->address[WG_STREAM_EXPONENTS], 0};
        }
        if (bytes & 15 || !data_unseen(b, part.data_end, bytes))
            return false;
        part.data_end += bytes;
        part.count += rows;
    }
    uint32_t bytes = more * 4 * row_bytes;
    if ((4 * row_bytes) & 15 || (more && !data_unseen(b, part.data_end, bytes)))
        return false;
    part.data_end += bytes;
    part.count += 4 * more;
    return part_is_clear(b, &part, false);
}

/* Four whole rows behind those that have been packed. */
static inline void move_rows(wg_pack_burst *b, uint32_t start, uint32_t data)
{
    if (b->rows + 4 > 16)
        wg_pack_burst_writes(b);
    add_rows(b, wg_dst_stored(b->access, start >> 4, b->set->wide), 15, data);
}

/* How far in the plane `fours` times four rows get. */
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
 * Several acceptances of the same instruction in the middle of a tile, each as soon as the packer takes it, and what
 * completes until the last of them. How many; 0, and nothing done, if it is not that simple.
 */
static uint32_t stretch(wg_pack_burst *b, uint64_t until)
{
    wg_packer *p = b->p;
    const wg_pack_usual *usual = &b->u->usual[0];
    wg_adc_channel *c = b->counters[0];
    uint64_t at = wg_pack_burst_next(b);
    const unsigned cycles = usual->cycles;
    if (!(b->held & 1) || !b->settled || !usual->steps || usual->z_step[0] || usual->interfaces != 15 ||
        usual->needed & ~(unsigned)p->placed || c[0].x | (c[1].x ^ 15) || b->count > WG_PACK_IN_FLIGHT / 2 ||
        !(b->full || (cycles == 1 && at == b->from)))
        return 0;
    uint32_t n = alike(b, usual->word);
    if (n && at + (n - 1) * (uint64_t)cycles >= until)
        n = (uint32_t)((until - at + cycles - 1) / cycles);
    /* From aligned fours to aligned fours: the place in Dst goes on by `step` each time. */
    uint32_t start = wg_pack_usual_start(b->setup, usual, c), step = usual->y_step[0] * b->setup->in_stride[1];
    if (n < 2 || start & 63 || step & ((64u << usual->shift) - 1) || c->y + n * usual->y_step[0] > 0x1FFF)
        return 0;
    step >>= usual->shift;
    uint64_t last = at + (n - 1) * cycles;
    unsigned older = 0, stages = cycles + WG_PACK_STAGES - 1;
    while (older < b->count && b->pending[(b->first + older) % WG_PACK_IN_FLIGHT].done_at <= last)
        older++;
    /* Of the new ones, those that complete: done_at is at + i * cycles + stages, and no earlier than p->last_done. */
    uint32_t done = 0;
    if (older == b->count && p->last_done <= at + stages && last >= at + stages)
        done = (uint32_t)((last - at - stages) / cycles) + 1;
    else if (p->last_done > at + stages)
        return 0;
    uint32_t bytes = 4u * b->set->row_bytes;
    if (!is_clear(b, older, done) || !completes(b, last))
        return 0;
    uint32_t data = p->stream[WG_STREAM_DATA].address;
    for (uint32_t i = 0; i < done; i++) {
        move_rows(b, (start + i * step) & 0x3FFF, data);
        data += bytes;
        wg_pack_next_row(p, b->set, 4);
    }
    p->stream[WG_STREAM_DATA].address = data;
    p->datums += done * 64;
    for (uint32_t i = done; i < n; i++) {
        wg_pack_pending *job = &b->pending[(b->first + b->count++) % WG_PACK_IN_FLIGHT];
        *job = (wg_pack_pending){.done_at = at + i * cycles + stages,
                                 .start = (start + i * step) & 0x3FFF,
                                 .nth = b->accepted + i,
                                 .interfaces = 15};
    }
    b->u->planned_row = rows_on(b->u->planned_row, b->set->rows_per_plane, n);
    for (unsigned k = 0; k < 2; k++) {
        c[k].y = (c[k].y + n * usual->y_step[k]) & 0x1FFF;
        c[k].z = (uint8_t)(c[k].z + n * usual->z_step[k]);
    }
    p->free_at = last + cycles;
    p->last_done = last + stages;
    for (uint32_t i = 0; b->tail && i < n; i++)
        b->accepted_at[b->accepted + i] = at + i * cycles;
    if (b->accepted + n > b->queued)
        b->loop_at += b->accepted < b->queued ? b->accepted + n - b->queued : n;
    b->accepted += n;
    b->from = last + 1;
    return n;
}

void wg_pack_burst_run(wg_pack_burst *b, uint64_t until)
{
    for (;;) {
        uint64_t at = wg_pack_burst_next(b);
        if (at < until && stretch(b, until))
            continue;
        if (at >= until || !has_next(b) || !is_ready(b, at) || !completes(b, at))
            return;
        accepts(b, at);
    }
}

/* ---- Beginning ------------------------------------------------------------------------------------------------- */

/* Nothing but whole lines of plain data has been, or will be, in the packer's buffers. */
static bool is_plain(const wg_pack_burst *b)
{
    const wg_packer *p = b->p;
    const wg_pack_settings *set = b->set;
    return set->plain && !set->into_fifo &&
           !(p->stream[WG_STREAM_DATA].fill | p->stream[WG_STREAM_ROWS].fill | p->block_fill | p->group_fill) &&
           (set->out_format & 2 || !p->stream[WG_STREAM_EXPONENTS].fill);
}

/* Whatever waits at the gate and before the Replay Expander is the work of such a MOP. */
static bool queues_pacrs(const wg_frontend *f)
{
    for (uint8_t i = f->down_head; i != f->down_end; i++) {
        unsigned entry = f->down[i % WG_DOWN_RING];
        if (entry & ~(unsigned)WG_E_PLACE || f->pool[entry].op != WG_I_PACR)
            return false;
    }
    return true;
}

/* Is the first of the FIFO's last `count` a MOP_CFG? It goes as soon as it can, be there room behind it or not. */
static bool goes_by_itself(const wg_frontend *f, unsigned count)
{
    unsigned entry = f->fifo[((unsigned)f->fifo_head + f->fifo_count - count) % WG_FIFO_RING];
    return count && entry & WG_E_MOP && f->pool[entry & WG_E_PLACE].op != WG_I_MOP;
}

/*
 * The tail of a MOP: its last PACRs are before the gate or to come, and behind them comes what the core has pushed
 * since, perhaps the PACRs of its next MOP. Each PACR that is taken lets one more in (phase G). Of up to `most` such
 * cycles, in how many does nothing else happen: no push that was refused is woken, and no other kind of MOP begins? The
 * one in which that happens is the last, and the burst ends in it.
 */
static uint32_t quiet_cycles(wg_pack_burst *b, uint32_t most)
{
    enum { WAITS_T = 1, TEMPLATE_1 = 1 << 23 };
    const wg_tile *t = b->t;
    const wg_frontend *f = b->f;
    /* What depends on the cycle in which a MOP ends is settled by the next acceptance. */
    const bool may_end = !t->sched.watch_idle && b->u->usual[0].cycles > t->timing->mop_gap;
    wg_frontend g;
    uint32_t left = b->left;
    g.fifo_count = f->fifo_count;
    g.plain_downstream = f->plain_downstream;
    if (!left && goes_by_itself(f, g.fifo_count))
        return 0;
    for (uint32_t n = 0; n < most; n++) {
        if (left > 1) { /* in all of them but its last */
            n += left - 2;
            left = 1;
            continue;
        }
        if (!left && !g.fifo_count)
            return most;
        bool goes_on = left ? may_end : true;
        if (left) {
            left = 0;
        } else {
            unsigned entry = f->fifo[((unsigned)f->fifo_head + f->fifo_count - g.fifo_count) % WG_FIFO_RING];
            g.fifo_count--;
            if (entry & WG_E_MOP) {
                const wg_insn *mop = &f->pool[entry & WG_E_PLACE];
                left = f->mop_cfg[0] * f->mop_cfg[1];
                goes_on = mop->op == WG_I_MOP && mop->word & TEMPLATE_1 && !mop->ttsync && makes_pacrs(t, f) &&
                          is_nop(f->mop_cfg[6]) && f->mop_cfg[0] <= 127 && f->mop_cfg[1] <= 127 && left >= 3;
                left--;
            } else {
                g.plain_downstream++;
                if (entry & WG_E_REPLAY && n + WG_REPLAY_FIFO - 1 < most) /* then the expander has it before it */
                    most = n + WG_REPLAY_FIFO - 1;
            }
            if (f->push_waits & WAITS_T && wg_fifo_room(t->arch, &g, b->thread) >= f->push_needs)
                goes_on = false;
        }
        if (!goes_on || (!left && goes_by_itself(f, g.fifo_count)))
            return b->final = n + 1;
    }
    return most;
}

/* How many of them can be taken? */
static uint32_t tail(wg_pack_burst *b)
{
    enum { ACTIVE_ALONE = 1, WAITS_B = 2 };
    const wg_tile *t = b->t;
    const wg_frontend *f = b->f;
    const wg_mop_state *m = &f->mop;
    unsigned all = b->queued, gate = wg_gate_count(f), count = 0, most = WG_PACK_TAIL;
    if (f->replay_busy || f->push_waits & WAITS_B || f->latch.block || f->holders || f->blocks_all ||
        wg_pack_burst_next(b) < m->ready_at)
        return 0;
    if (f->mux_busy && (f->mux_busy != ACTIVE_ALONE || !m->template || m->first || m->step != WG_MOP_LOOP ||
                        m->alternates || m->insn.ttsync || !makes_pacrs(t, f)))
        return 0;
    const uint32_t word = b->u->usual[0].word;
    bool same = b->held & 1;
    for (; count < all; count++) {
        unsigned entry = f->down[(uint8_t)(f->down_head + count) % WG_DOWN_RING];
        const wg_insn *insn = &f->pool[entry & WG_E_PLACE];
        if (entry & ~(unsigned)WG_E_PLACE || insn->op != WG_I_PACR)
            break;
        same &= insn->word == word;
        b->same += same;
    }
    for (unsigned i = count > gate ? count : gate; i < all; i++)
        if (f->down[(uint8_t)(f->down_head + i) % WG_DOWN_RING] & WG_E_REPLAY) {
            most = i > gate ? i - gate - 1 : 0;
            break;
        }
    b->pacrs = count == all ? count + b->left : count;
    /* Whoever waits for the thread to become idle is told when the last one leaves. */
    uint32_t take = b->pacrs - (t->sched.watch_idle && b->pacrs == all && !f->fifo_count);
    take = take < most ? take : most;
    return take < 2 ? 0 : quiet_cycles(b, take);
}

/* The unit's jobs are of these settings, and the burst's from now on. */
static bool takes_jobs(wg_pack_burst *b)
{
    const wg_pack *u = b->u;
    for (unsigned i = 0; i < u->count; i++) {
        const wg_pack_job *job = &u->job[u->order[i]];
        const wg_pack_part *part = &job->part[0];
        if (job->insn.thread != b->thread || job->insn.op != WG_I_PACR || job->late || job->idle || !job->serial ||
            job->serial != u->usual[job->last].serial || !(b->held >> job->last & 1) ||
            job->access.remap != b->access.remap || job->access.swizzle != b->access.swizzle ||
            job->access.wide16 != b->access.wide16)
            return false;
        b->pending[i] = (wg_pack_pending){.done_at = part->done_at,
                                          .start = part->start,
                                          .places = part->places,
                                          .interfaces = job->interfaces,
                                          .last = job->last,
                                          .older = true};
        memcpy(b->pending[i].address, part->address, sizeof part->address);
    }
    b->first = 0;
    b->count = u->count;
    return true;
}

bool wg_pack_burst_begins(wg_tile *t, wg_pack_burst *b)
{
    wg_pack *u = &t->backend.pack;
    if (!t->arch->pack.interfaces || !u->count || t->lockstep || t->l1_watched || wg_careful(t) ||
        t->sched.watch_units || u->held || wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS))
        return false;
    b->t = t;
    b->u = u;
    b->p = &u->packer[0];
    b->thread = u->job[u->order[u->count - 1]].insn.thread;
    b->f = wg_frontend_of(t, b->thread);
    if ((uint8_t)(b->f->down_end - b->f->down_head) > 2 && wg_gate_fifo_at(b->f, 2)->op != WG_I_PACR)
        return false; /* there are hardly any */
    b->setup = &u->setup[wg_config_bank(t, b->thread)];
    b->set = &b->setup->section[0].from_dst;
    b->access = wg_pack_access(t, b->setup);
    b->held = 0;
    for (unsigned i = 0; i < 2; i++)
        if (u->usual[i].changes == b->setup->changes && u->usual[i].thread == b->thread) {
            b->held |= (uint8_t)(1u << i);
            b->counters[i] = t->regs.adc.unit[u->usual[i].counters][2];
        }
    const wg_mop_state *m = &b->f->mop;
    if (b->setup->changes != t->regs.config.changes + 1 || t->backend.config.instructions ||
        !others_keep_off(t, b->thread) || !is_plain(b))
        return false;
    b->full = wg_gate_count(b->f) == WG_GATE_FIFO && !wg_replay_has_room(b->f);
    b->from = t->sched.now;
    b->queued = (uint8_t)(b->f->down_end - b->f->down_head);
    b->left = b->f->mop_active ? (uint32_t)m->outer * m->inner - ((uint32_t)m->j * m->inner + m->i) : 0;
    b->accepted = b->same = 0;
    b->pacrs = b->final = UINT32_MAX;
    b->tail = b->left < WG_DOWN_RING + 2 || !expands_pacrs(t, b->f) || !queues_pacrs(b->f) ||
              !(b->full || (wg_gate_count(b->f) && wg_replay_count(b->f)));
    if (b->tail) {
        b->full |= wg_gate_count(b->f) == WG_GATE_FIFO && !b->f->fifo_count && !b->f->mop_active;
        b->most = b->full ? tail(b) : 0;
    } else {
        b->most = b->left - 2; /* the MOP goes on behind the last one that is made here */
    }
    if (!b->most || !takes_jobs(b))
        return false;
    b->loop_at = m->i;
    b->begun = false;
    b->settled = t->backend.matrix.blocks_ready <= t->sched.now;
    b->unseen_from = b->unseen_to = 0;
    b->unseen_line = UINT32_MAX;
    b->rows = 0;
    b->at.lanes = t->regs.exphist.lanes[0];
    return true;
}

bool wg_pack_burst_goes_on(wg_pack_burst *b)
{
    const wg_tile *t = b->t;
    b->settled = t->backend.matrix.blocks_ready <= t->sched.now;
    return b->setup->changes == t->regs.config.changes + 1 && !t->backend.config.instructions;
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

static void make_jobs(wg_pack_burst *b)
{
    for (unsigned i = 0; i < b->count; i++) {
        const wg_pack_pending *pending = &b->pending[(b->first + i) % WG_PACK_IN_FLIGHT];
        if (pending->older)
            continue;
        const wg_pack_usual *usual = &b->u->usual[pending->last];
        wg_pack_job *job = wg_pack_new_job(b->u);
        wg_pack_part *part = &job->part[0];
        job->insn = insn_at(b, pending->nth);
        job->packers = 1;
        job->set_register = job->late = job->idle = false;
        if (job->serial != usual->serial)
            wg_pack_prepare_usual(b->setup, usual, job);
        job->access = b->access;
        part->start = pending->start;
        part->places = pending->places;
        if (part->places)
            memcpy(part->address, pending->address, sizeof part->address);
        part->done_at = pending->done_at;
    }
}

/* In the place of a PACR that has gone, the MOP's next one; most often they differ in nothing but the id. */
static inline void next_of_loop(wg_frontend *f, wg_insn *insn, const wg_insn_kind *kinds)
{
    const wg_mop_state *m = &f->mop;
    uint32_t word = f->mop_cfg[5];
    if (insn->word != word || insn->parent != m->insn.id)
        *insn = (wg_insn){.word = word,
                          .pc = m->insn.pc,
                          .parent = m->insn.id,
                          .rest = kinds[word >> 24].rest | (m->insn.rest & 0xFFFF)};
    insn->id = ++f->next_id;
    f->mop.i++;
}

/* The FIFOs and the MOP Expander go on by all that was accepted. */
static void move_frontend(wg_pack_burst *b)
{
    wg_frontend *f = b->f;
    b->t->sched.phase = WG_PHASE_MOP;
    for (uint32_t n = 0; b->tail && n < b->accepted; n++) {
        unsigned entry = f->down[f->down_head++ % WG_DOWN_RING], next = f->fifo[f->fifo_head];
        f->gate_end = (uint8_t)(f->gate_end + (f->gate_end != f->down_end));
        b->t->sched.now = b->accepted_at[n];
        if (f->mop_active && !f->mop.first && f->mop.i + 1 < f->mop.inner) {
            f->down[f->down_end++ % WG_DOWN_RING] = (uint16_t)entry;
            next_of_loop(f, &f->pool[entry & WG_E_PLACE], wg_insn_kinds[b->t->arch->id]);
            continue;
        }
        wg_place_free(f, entry);
        if (f->mop_active || (f->fifo_count && next & WG_E_MOP)) {
            wg_mop(b->t, b->thread, false);
        } else if (f->fifo_count) {
            wg_replay_enqueue(f, next);
            f->plain_downstream++;
            wg_fifo_left(b->t, f, b->thread, false);
        }
    }
    if (b->tail)
        return;
    wg_mop_state *m = &f->mop;
    uint32_t fresh = b->accepted < b->queued ? b->queued : b->accepted, end = b->accepted + b->queued;
    uint16_t place[WG_DOWN_RING] = {0};
    for (uint32_t i = 0; i < end - fresh; i++) /* of those that have gone */
        place[i] = f->down[(uint8_t)(f->down_head + i) % WG_DOWN_RING] & WG_E_PLACE;
    for (uint32_t n = fresh; n < end; n++) {
        f->pool[place[n - fresh]] = insn_at(b, n);
        f->down[(uint8_t)(f->down_head + n) % WG_DOWN_RING] = place[n - fresh];
    }
    f->down_head = (uint8_t)(f->down_head + b->accepted);
    f->gate_end = (uint8_t)(f->gate_end + b->accepted);
    f->down_end = (uint8_t)(f->down_end + b->accepted);
    f->next_id += b->accepted;
    uint32_t made = m->i + b->accepted;
    m->j = (uint8_t)(m->j + made / m->inner);
    m->i = (uint16_t)(made % m->inner);
}

void wg_pack_burst_ends(wg_pack_burst *b, uint64_t now)
{
    wg_tile *t = b->t;
    wg_frontend *f = b->f;
    wg_schedule *s = &t->sched;
    wg_pack_burst_writes(b);
    if (b->accepted) {
        make_jobs(b);
        move_frontend(b);
    }
    s->now = now;
    wg_appoint(s, WG_AGENT_PACK, b->count ? b->pending[b->first].done_at : WG_NEVER);
    if (b->accepted) {
        if (f->stalled)
            wg_gate_stall_ends(t, f, NULL, false);
        t->backend.turn[WG_UNIT_PACK].next = (uint8_t)(b->thread == WG_THREADS - 1 ? 0 : b->thread + 1);
    }
    s->wake_filter[b->thread] = 0;
    b->u->burst_until = b->pacrs - b->accepted < 2 ? 0 : b->p->free_at + 1;
    if (now > b->from) {
        wg_stall busy = {WG_STALL_UNIT_BUSY, WG_UNIT_PACK, WG_AGENT_PACK, b->p->free_at};
        wg_gate_stalls(f, &busy, b->from);
        f->moved = false;
        s->wake_filter[b->thread] = ~wg_lane_waits_for(f);
        uint64_t at = b->p->free_at > now ? b->p->free_at : now;
        if (f->fifo_count && !f->mop_active && f->mop.ready_at >= now && f->mop.ready_at < at)
            at = f->mop.ready_at; /* as wg_next_look() */
        wg_appoint(s, WG_AGENT_THREAD0 + b->thread, at);
    } else if (b->accepted) {
        f->moved = true;
        wg_appoint(s, WG_AGENT_THREAD0 + b->thread, now);
    }
}
