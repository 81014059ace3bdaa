/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts which instructions reach a gate in the next cycles, and advances the frontend after them (burst.h). */
#include "fast/burst.h"

#include "fast/thread.h"

/*
 * Counts the cycles until phase G has an effect outside the thread, or one on which the thread acts by itself, up to `most`;
 * that cycle is included. One instruction leaves the gate in each. The MOP Expander generates `left` instructions; those
 * after them come from the first FIFO.
 */
static unsigned quiet_cycles(const wg_burst *b, unsigned left, unsigned most)
{
    const wg_frontend *f = b->f;
    wg_frontend g = {.fifo_count = f->fifo_count, .direct_downstream = f->direct_downstream};
    if (left)
        return left < most ? left : most;
    if (g.fifo_count && b->from < f->mop.ready_at)
        return 0;
    for (unsigned n = 0; n < most && g.fifo_count; n++) {
        const unsigned entry = f->fifo[(f->fifo_head + n) % WG_FIFO_RING];
        if (entry & WG_E_MOP) /* MOP_CFG is consumed without waiting for room downstream */
            return f->pool[entry & WG_E_PLACE].op == WG_I_MOP ? n + 1 : n;
        g.fifo_count--;
        g.direct_downstream++;
        if (entry & WG_E_REPLAY ||
            (f->push_waits & WG_WAITS_T && wg_fifo_room(b->t->arch, &g, b->thread) >= f->push_needs))
            return n + 1;
    }
    return most;
}

/* The Replay Expander plays, and the FIFO in front of it does not change: it is full, or nothing arrives. */
static unsigned begin_replay(wg_burst *b)
{
    const wg_frontend *f = b->f;
    const wg_replay_state *r = &f->replay;
    const unsigned gate = wg_gate_count(f), left = r->play_left;
    unsigned n;
    if (left < WG_BURST_LEAST || r->record_left | r->carry_first | r->insn.ttsync ||
        (wg_replay_has_room(f) && (f->mux_busy || f->fifo_count)) ||
        (f->fifo_count && wg_fifo_at(f, 0)->op == WG_I_MOP_CFG))
        return 0;
    for (n = 0; n < gate; n++) {
        const unsigned entry = f->down[(uint8_t)(f->down_head + n) % WG_DOWN_RING];
        if (entry & ~(unsigned)WG_E_PLACE)
            return 0;
        b->word[n] = f->pool[entry].word;
    }
    b->queued = gate;
    b->steady = gate == WG_GATE_FIFO;
    for (unsigned i = 0; i < left; i++) { /* one per cycle */
        const uint32_t word = r->slot[(r->play_at + i) % WG_REPLAY_SLOTS];
        if (!wg_insn_ordinary(b->t, word))
            return i;
        b->word[n++] = word;
    }
    return left;
}

/* The Replay Expander passes everything through. The contents of its FIFO come first, then the rest of the MOP. */
static unsigned begin_mop(wg_burst *b)
{
    const wg_frontend *f = b->f;
    const unsigned queued = (uint8_t)(f->down_end - f->down_head), gate = wg_gate_count(f);
    unsigned left = wg_mop_left(b->t, f), cycles = WG_BURST_MOST, n;
    if (f->mop_active ? !left || queued == gate : f->mux_busy != 0)
        return 0;
    for (n = 0; n < queued; n++) {
        const unsigned entry = f->down[(uint8_t)(f->down_head + n) % WG_DOWN_RING];
        if (entry & ~(unsigned)WG_E_PLACE)
            break;
        b->word[n] = f->pool[entry].word;
    }
    for (unsigned i = n < gate ? gate : n; i < queued; i++) /* a REPLAY reaches the expander */
        if (f->down[(uint8_t)(f->down_head + i) % WG_DOWN_RING] & WG_E_REPLAY) {
            cycles = i - gate;
            break;
        }
    b->queued = queued;
    b->steady = gate == WG_GATE_FIFO && (queued == WG_GATE_FIFO + WG_REPLAY_FIFO || !(f->mop_active || f->fifo_count));
    cycles = quiet_cycles(b, left, cycles);
    if (n < queued)
        return n < cycles ? n : cycles;
    const unsigned all = queued + left < cycles ? queued + left : cycles;
    wg_mop_words(f, b->word + n, all > n ? all - n : 0);
    return all;
}

bool wg_burst_begin(wg_burst *b, wg_tile *t, unsigned thread, uint64_t until)
{
    wg_frontend *f = wg_frontend_of(t, thread);
    b->t = t;
    b->f = f;
    b->thread = thread;
    b->from = t->sched.now;
    b->until = until;
    b->plays = f->replay_busy;
    if (f->busy & ~(WG_F_WORKS | WG_F_BYTE(replay_busy)) || f->latch.block || f->holders ||
        f->push_waits & WG_WAITS_B || !wg_gate_count(f))
        return false;
    b->count = b->plays ? begin_replay(b) : begin_mop(b);
    return b->count >= WG_BURST_LEAST;
}

wg_insn wg_burst_insn(const wg_burst *b, unsigned i)
{
    const wg_frontend *f = b->f;
    if (i < b->queued)
        return *wg_gate_fifo_at(f, i);
    const wg_insn *parent = b->plays ? &f->replay.insn : &f->mop.insn;
    return wg_insn_expanded(b->t, parent, b->word[i], f->next_id + 1 + i - b->queued);
}

void wg_burst_used(wg_burst *b, unsigned count)
{
    wg_tile *t = b->t;
    wg_frontend *f = b->f;
    t->sched.phase = WG_PHASE_MOP;
    if (f->stalled)
        wg_gate_stall_ends(t, f, NULL, false);
    unsigned i = 0;
    if (b->plays) {
        wg_replay_plays_on(t, f, count);
        i = count;
    } else {
        const unsigned left = wg_mop_left(t, f);
        i = left > count ? count : left ? left - 1 : 0; /* all but the last of the MOP */
        if (i)
            wg_mop_goes_on(t, f, i);
    }
    for (; i < count; i++) {
        t->sched.now = b->at[i];
        wg_gate_left(t, f, b->thread, f->down[f->down_head % WG_DOWN_RING]);
        wg_thread_move_up(t, f, b->thread);
    }
    t->sched.now = b->at[count - 1];
    f->moved = true;
    b->from = t->sched.now + 1;
}

/* The number of cycles in which the thread issues only NOPs of its MOP's inner loop. */
static unsigned nops(const wg_tile *t, const wg_frontend *f)
{
    const wg_mop_state *m = &f->mop;
    const uint32_t word = f->mop_cfg[5];
    if (m->i + WG_BURST_LEAST >= m->inner || m->alternates ||
        wg_insn_kinds[t->arch->id][wg_opcode(word)].marks != WG_E_PASSES || !wg_mop_is_in_loop(f) ||
        !wg_insn_ordinary(t, word) || f->replay_busy || f->gate_busy || f->latch.block || f->push_waits & WG_WAITS_B ||
        f->down_head == f->gate_end || f->gate_end == f->down_end)
        return 0;
    for (uint8_t i = f->down_head; i != f->down_end; i++)
        if ((f->down[i % WG_DOWN_RING] & ~(unsigned)WG_E_PLACE) != WG_E_PASSES)
            return 0;
    return m->inner - m->i - 1u;
}

unsigned wg_burst_nops(wg_tile *t, unsigned threads, uint64_t until)
{
    uint64_t cycles = until - t->sched.now;
    if (t->sched.watch_idle)
        return 0;
    for (unsigned mask = threads; mask; mask &= mask - 1) {
        uint64_t most = nops(t, &t->frontend[__builtin_ctz(mask)]);
        cycles = most < cycles ? most : cycles;
    }
    if (cycles < WG_BURST_LEAST)
        return 0;
    for (unsigned mask = threads; mask; mask &= mask - 1) {
        wg_frontend *f = wg_frontend_of(t, (unsigned)__builtin_ctz(mask));
        f->moved = true;
        wg_mop_goes_on(t, f, (unsigned)cycles);
    }
    return (unsigned)cycles;
}
