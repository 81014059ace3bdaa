/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of PACRs: a MOP of nothing but usual PACRs (pack_address.c), and nobody else in the tile who has anything to
 * do before some cycle. Then what wg_tile_cycle() does in such cycles is known:
 *
 *     a    completions that are due by then; the gate's head is accepted; one instruction each moves on to the gate and
 *          comes out of the MOP Expander
 *     …    nothing moves: both FIFOs are full and the packer takes nothing; a completion changes L1 alone
 *     a'   the first cycle in which the packer takes the next one
 *
 * and it is done here, from acceptance to acceptance, without asking the rest of the tile. Afterwards everything is as the
 * cycles themselves leave it right behind an acceptance. Whoever would have looked in vain in between (threads that a
 * completion wakes, requests that wait until the thread is idle) is not asked: what they wait for does not change.
 */
#include <string.h>

#include "backend/pack_internal.h"
#include "frontend/gate.h"
#include "frontend/mop.h"
#include "tile/l1.h"

static bool is_nop(uint32_t word) { return word >> 24 == 0x02; }

/* A well-formed PACR? */
static bool is_pacr(const wg_tile *t, uint32_t word)
{
    const wg_insn_kind *kind = &wg_insn_kinds[t->arch->id][word >> 24];
    return kind->rest >> 48 == WG_I_PACR && !((word | 1u << 31) & kind->spare_bits);
}

/* The thread is in a MOP that makes PACRs and nothing else, and nothing is in their way. */
static bool expands_pacrs(const wg_tile *t, const wg_frontend *f)
{
    enum { ACTIVE_ALONE = 1, WAITS_B = 2 };
    const wg_mop_state *m = &f->mop;
    const uint32_t *cfg = f->mop_cfg;
    if (f->mux_busy != ACTIVE_ALONE || !m->template || m->first || m->step != WG_MOP_LOOP || m->alternates ||
        f->replay_busy || f->push_waits & WAITS_B || f->latch.block || f->holders || f->blocks_all)
        return false;
    return is_nop(cfg[2]) && is_nop(cfg[3]) && is_pacr(t, cfg[5]) && is_pacr(t, cfg[7]) && is_pacr(t, cfg[8]);
}

/* The first cycle in which anybody but the thread and the packers may have something to do; `limit` at the latest. */
static uint64_t alone_until(const wg_tile *t, unsigned thread, uint64_t limit)
{
    const wg_schedule *s = &t->sched;
    uint64_t until = t->poll.look_at < limit ? t->poll.look_at : limit;
    if (t->poll.stop_at >= s->now && t->poll.stop_at < until)
        until = t->poll.stop_at;
    for (unsigned i = 0; i < WG_AGENT_COUNT; i++)
        if (s->next[i] < until && i != WG_AGENT_PACK && i != WG_AGENT_THREAD0 + thread)
            until = s->next[i];
    return until;
}

/* Other threads have nothing to do with the packers, neither in them nor at their gate. */
static bool others_keep_off(const wg_tile *t, unsigned thread)
{
    const wg_pack *u = &t->backend.pack;
    for (unsigned i = 0; i < u->count; i++) {
        const wg_pack_job *job = &u->job[u->order[i]];
        if (job->insn.thread != thread || job->insn.op != WG_I_PACR || job->late || job->idle)
            return false;
    }
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (i != thread && wg_gate_count(&t->frontend[i]) && wg_gate_fifo_at(&t->frontend[i], 0)->unit == WG_UNIT_PACK)
            return false;
    return true;
}

typedef struct burst {
    wg_tile *t;
    wg_pack *u;
    wg_packer *p;
    wg_frontend *f;
    unsigned thread;
    const wg_pack_setup *setup;
    wg_dst_access access;
    uint8_t held;  /* bit 0, 1: usual[0], usual[1] is of this configuration, */
    bool begun;    /* the packer's streams are of these settings */
    bool full;     /* the FIFOs before the gate are, and stay so */
    uint64_t rest; /* what the MOP's instructions have in common (wg_insn.rest), but for its last ones */
    uint32_t unseen_from, unseen_to, unseen_line; /* lines of L1 of which it is known; two from unseen_line on */
    uint32_t rows;                                /* of Dst that wait to be converted all at once: */
    wg_pack_rows at;                              /* the first of them goes to at.data */
} burst;

/* ---- Completion ---------------------------------------------------------------------------------------------- */

static void convert(burst *b, const wg_insn *insn)
{
    const wg_pack_settings *set = &b->setup->section[0].from_dst;
    wg_pack_route route = {.early = set->early, .out_format = set->out_format, .late = set->late};
    if (!b->rows)
        return;
    wg_pack_rows_out((wg_simd)b->t->simd, &route, b->rows, &b->at);
    if (set->blocks)
        wg_pack_wrote(&(wg_pack_output){.t = b->t, .p = b->p, .insn = insn}, 0, b->rows, b->at.exponents);
    b->rows = 0;
}

static inline uint32_t stream_at(const burst *b, const wg_pack_part *part, wg_pack_stream_id stream)
{
    return part->places >> stream & 1 ? part->address[stream] : b->p->stream[stream].address;
}

static inline bool unseen(const wg_tile *t, uint32_t address, uint32_t bytes)
{
    return wg_l1_holds(t->arch->l1_bytes, address, bytes) && wg_l1_unseen(t, address, bytes);
}

/* The same where lines follow each other, many asked about at once. Nobody's cache changes meanwhile. */
static inline bool data_unseen(burst *b, uint32_t data, uint32_t bytes)
{
    enum { AHEAD = 512 };
    if (__builtin_expect(data >= b->unseen_from && data + bytes <= b->unseen_to, 1))
        return true;
    if (!unseen(b->t, data, bytes))
        return false;
    b->unseen_from = data;
    b->unseen_to = data + bytes;
    if (unseen(b->t, b->unseen_to, AHEAD))
        b->unseen_to += AHEAD;
    return true;
}

enum { EXPONENTS = 32 }; /* in the buffer and in at.exponents, at most */
static inline bool exponents_unseen(burst *b, uint32_t line)
{
    if (line != b->unseen_line) {
        if (!unseen(b->t, line, EXPONENTS))
            return false;
        b->unseen_line = line;
    }
    return true;
}

/* Rows of 16 datums are put where wg_pack_move() puts them; false, and nothing done, if something is in the way. */
static inline bool move(burst *b, const wg_pack_job *job)
{
    static const uint16_t zeros[16];
    const wg_pack_part *part = &job->part[0];
    const wg_pack_settings *set = &part->set;
    const wg_dst *d = &b->t->regs.dst;
    wg_packer *p = b->p;
    unsigned stored = wg_dst_stored(job->access, part->start >> 4, set->wide), rows = wg_pack_ones(job->interfaces);
    uint32_t bytes = rows * set->row_bytes, data = stream_at(b, part, WG_STREAM_DATA);
    uint32_t exponents = stream_at(b, part, WG_STREAM_EXPONENTS);
    if (!(b->held >> job->last & 1) || job->serial != b->u->usual[job->last].serial || bytes & 15 ||
        !data_unseen(b, data, bytes) || (set->out_format & 2 && !exponents_unseen(b, exponents)))
        return false;
    /* Exponents are written behind the rows that they are of, and before those that follow. */
    uint32_t first = b->rows ? (uint32_t)(b->at.data - b->t->l1) : data;
    bool begins = b->begun ? part->places : wg_pack_begins(p, part);
    bool meet = set->blocks && first < exponents + EXPONENTS && exponents < data + bytes;
    wg_pack_output out = {.t = b->t, .p = p, .insn = &job->insn};
    if (begins || b->rows + rows > 16 || meet)
        convert(b, &job->insn);
    if (begins)
        wg_pack_begin(&out, part);
    b->begun = true;
    if (!b->rows)
        b->at.data = b->t->l1 + data;
    bool whole = job->interfaces == 15 && !(d->undefined[stored >> 6 & 15] >> (stored & 63) & 15);
    if (whole) { /* there is room for them */
        const uint16_t **high = &b->at.high[b->rows], **low = &b->at.low[b->rows];
        for (unsigned i = 0; i < 4; i++) {
            high[i] = d->bits[stored + i];
            low[i] = set->wide ? d->bits[stored + i + WG_DST_LOW] : zeros;
        }
        b->rows += 4;
    }
    for (unsigned rest = whole ? 0 : job->interfaces; rest; rest &= rest - 1) {
        unsigned row = stored + (unsigned)__builtin_ctz(rest); /* of an aligned four, which stay together */
        bool zero = wg_dst_is_undefined(d, row);
        b->at.high[b->rows & 15] = zero ? zeros : d->bits[row];
        b->at.low[b->rows++ & 15] = zero || !set->wide ? zeros : d->bits[row + WG_DST_LOW];
    }
    p->stream[WG_STREAM_DATA].address = data + bytes;
    p->datums += rows * 16;
    wg_pack_next_row(p, part, rows);
    if (job->last || meet)
        convert(b, &job->insn);
    if (job->last)
        wg_pack_end_tile(&out, job, part);
    return true;
}

/* What is due in cycle `at` or before, the oldest job or nothing, completes; false: not here, and nothing is done. */
static inline bool complete(burst *b, uint64_t at)
{
    wg_pack *u = b->u;
    const wg_pack_job *job = &u->job[u->order[0]];
    if (!u->count || job->part[0].done_at > at)
        return true;
    if ((u->count > 1 && u->job[u->order[1]].part[0].done_at <= at) || !move(b, job))
        return false;
    if (u->count > sizeof(uint64_t)) {
        wg_pack_end_job(u, 0);
        return true;
    }
    uint64_t order; /* those behind it move up, all at once */
    memcpy(&order, u->order, sizeof order);
    u->used = (uint16_t)(u->used & ~(1u << (order & 15)));
    order >>= 8;
    memcpy(u->order, &order, sizeof order);
    u->count--;
    return true;
}

/* ---- Acceptance ---------------------------------------------------------------------------------------------- */

/* Can the head be accepted in cycle `at`? Where it begins in Dst. */
static inline bool is_ready(burst *b, const wg_insn *head, uint64_t at, uint32_t *start, wg_adc_channel **counters)
{
    const wg_pack_usual *usual = wg_pack_usual_for(b->t, head);
    wg_adc_channel *c = b->t->regs.adc.unit[usual->counters][2];
    if (usual->word != head->word || !(b->held >> (head->word & 1) & 1)) {
        if (!wg_pack_holds_usual(b->t, head) || &b->t->backend.pack.setup[usual->bank] != b->setup)
            return false;
        b->held |= (uint8_t)(1u << (head->word & 1));
        c = b->t->regs.adc.unit[usual->counters][2];
    }
    *counters = c;
    *start = wg_pack_usual_start(b->setup, usual, c);
    unsigned block = wg_dst_stored(b->access, *start >> 4, b->setup->wide) / 8 % WG_DST_BLOCKS;
    return !(c[0].x | (c[1].x ^ 15) | (*start & 63)) && b->t->backend.matrix.block_ready[block] <= at;
}

static inline void accept(burst *b, const wg_insn *insn, uint64_t now, uint32_t start, wg_adc_channel *c)
{
    wg_tile *t = b->t;
    wg_packer *p = b->p;
    wg_pack_job *job = wg_pack_new_job(b->u);
    wg_pack_part *part = &job->part[0];
    const wg_pack_usual *usual = wg_pack_usual_for(t, insn);
    job->insn = *insn;
    job->packers = 1;
    job->set_register = job->late = job->idle = false;
    if (__builtin_expect(job->serial != usual->serial, 0))
        wg_pack_prepare_usual(b->setup, usual, job);
    job->access = b->access;
    part->start = start;
    part->places = 0;
    if (usual->needed & ~(unsigned)p->placed)
        wg_pack_place_streams(t, b->setup, &b->setup->section[0], part, 0, &c[1]);
    if (job->last)
        p->placed = 0;
    b->u->planned_row = (uint8_t)(b->u->planned_row + wg_pack_ones(usual->interfaces));
    if (b->u->planned_row == part->set.rows_per_plane)
        b->u->planned_row = 0;
    if (usual->steps)
        for (unsigned k = 0; k < 2; k++) {
            c[k].y = (c[k].y + usual->y_step[k]) & 0x1FFF;
            c[k].z = (uint8_t)(c[k].z + usual->z_step[k]);
        }
    else
        wg_pack_move_counters(t, insn, 1u << usual->counters);
    p->free_at = now + usual->cycles;
    uint64_t done = p->free_at + WG_PACK_STAGES - 1;
    part->done_at = p->last_done = done > p->last_done ? done : p->last_done;
}

/* The head has gone: phases F and G. The caller has seen that the expansion goes on. */
static inline void refill(burst *b, unsigned entry)
{
    wg_frontend *f = b->f;
    wg_mop_state *m = &f->mop;
    wg_place_free(f, entry);
    f->down_head++;
    if (b->full || f->gate_end != f->down_end)
        f->gate_end++;
    if (m->i + 2 >= m->inner) {
        b->t->sched.phase = WG_PHASE_MOP;
        wg_mop(b->t, b->thread, false);
        return;
    }
    unsigned place = wg_place_take(f); /* as wg_mop_loops() does */
    wg_insn *out = &f->pool[place];
    out->word = f->mop_cfg[5];
    out->pc = m->insn.pc;
    out->id = ++f->next_id;
    out->parent = m->insn.id;
    out->rest = b->rest;
    m->i++;
    f->down[f->down_end++ % WG_DOWN_RING] = (uint16_t)place;
}

/* ---- All together -------------------------------------------------------------------------------------------- */

/* Nothing but whole lines of plain data has been, or will be, in the packer's buffers. */
static bool is_plain(const burst *b)
{
    const wg_packer *p = b->p;
    const wg_pack_settings *set = &b->setup->section[0].from_dst;
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

/* The cycles from `from` on; returns the one behind the last acceptance. */
static uint64_t run(burst *b, uint64_t from, uint64_t until)
{
    wg_frontend *f = b->f;
    const wg_mop_state *m = &f->mop;
    for (uint64_t at = from;; from = at + 1, at = from) {
        at = b->p->free_at > at ? b->p->free_at : at;
        bool goes_on = m->i + 2 < m->inner || m->j + 1 < m->outer;
        if (at >= until || !goes_on || (!b->full && (at != from || !wg_gate_count(f))) ||
            b->u->count == WG_PACK_IN_FLIGHT)
            return from;
        unsigned entry = f->down[f->down_head % WG_DOWN_RING];
        const wg_insn *head = &f->pool[entry & WG_E_PLACE];
        uint32_t start;
        wg_adc_channel *counters;
        if (!is_ready(b, head, at, &start, &counters) || !complete(b, at))
            return from;
        b->t->sched.now = at;
        accept(b, head, at, start, counters);
        refill(b, entry);
    }
}

void wg_pack_burst(wg_tile *t, uint64_t limit)
{
    wg_schedule *s = &t->sched;
    wg_pack *u = &t->backend.pack;
    if (!t->arch->pack.interfaces || !u->count || t->lockstep || t->l1_watched || wg_careful(t) || s->watch_units ||
        u->held || wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS))
        return;
    unsigned thread = u->job[u->order[u->count - 1]].insn.thread;
    burst b = {.t = t, .u = u, .p = &u->packer[0], .f = wg_frontend_of(t, thread), .thread = thread};
    b.setup = &u->setup[wg_config_bank(t, thread)];
    b.access = wg_pack_access(t, b.setup);
    if (b.setup->changes != t->regs.config.changes + 1 || t->backend.config.instructions || !expands_pacrs(t, b.f) ||
        !others_keep_off(t, thread) || !is_plain(&b) || !queues_pacrs(b.f))
        return;
    b.full = wg_gate_count(b.f) == WG_GATE_FIFO && !wg_replay_has_room(b.f);
    b.rest = wg_insn_kinds[t->arch->id][b.f->mop_cfg[5] >> 24].rest | (b.f->mop.insn.rest & 0xFFFF);
    b.unseen_line = UINT32_MAX;
    for (unsigned i = 0; i < 2; i++)
        if (u->usual[i].changes == b.setup->changes && u->usual[i].thread == thread)
            b.held |= (uint8_t)(1u << i);
    b.at.lanes = t->regs.exphist.lanes[0];
    uint64_t from = s->now, behind = run(&b, from, alone_until(t, thread, limit));
    s->now = behind;
    s->phase = WG_PHASE_ARRIVALS;
    if (behind == from)
        return;
    convert(&b, &u->job[u->order[0]].insn);
    if (b.f->stalled)
        wg_gate_stall_ends(t, b.f, NULL, false);
    b.f->moved = true;
    t->backend.turn[WG_UNIT_PACK].next = (uint8_t)(thread == WG_THREADS - 1 ? 0 : thread + 1);
    wg_appoint(s, WG_AGENT_THREAD0 + thread, behind);
    wg_appoint(s, WG_AGENT_PACK, u->job[u->order[0]].part[0].done_at);
}
