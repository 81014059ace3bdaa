/* SPDX-License-Identifier: Apache-2.0 */
/* What an expander gives in the next cycles (supply.h). */
#include "fast/supply.h"

/*
 * A REPLAY's last instructions are at the gate, and others come up behind them (phases F and G): for how many of these
 * cycles does nothing else happen?
 */
static unsigned ending(const wg_supply *s)
{
    const wg_frontend *f = s->f;
    wg_frontend g = {.fifo_count = f->fifo_count, .plain_downstream = f->plain_downstream};
    unsigned n;
    if (f->mux_busy || f->push_waits & WG_WAITS_B)
        return 0;
    for (n = 0; n < wg_gate_count(f); n++) {
        if (n >= wg_replay_count(f) || f->down[(uint8_t)(f->gate_end + n) % WG_DOWN_RING] & WG_E_REPLAY)
            break;
        if (!g.fifo_count)
            continue;
        if (f->fifo[(f->fifo_head + n) % WG_FIFO_RING] & WG_E_MOP)
            break;
        g.fifo_count--;
        g.plain_downstream++;
        if (f->push_waits & WG_WAITS_T && wg_fifo_room(s->t->arch, &g, s->thread) >= f->push_needs)
            break;
    }
    return n;
}

unsigned wg_supply_begin(wg_tile *t, unsigned thread, wg_supply *s)
{
    wg_frontend *f = wg_frontend_of(t, thread);
    s->t = t;
    s->f = f;
    s->thread = thread;
    s->plays = f->replay_busy;
    s->queued = s->plays ? wg_gate_count(f) : (uint8_t)(f->down_end - f->down_head);
    if (s->plays) { /* the FIFO before the expander stays as it is: it is full, or there is nothing for it */
        if (!wg_replay_usual(t, f) || (wg_replay_has_room(f) && (f->mux_busy || f->fifo_count)) ||
            (f->fifo_count && wg_fifo_at(f, 0)->op == WG_I_MOP_CFG))
            return 0;
        unsigned n = 1; /* one is made in each cycle */
        while (n < f->replay.play_left &&
               wg_insn_ordinary(t, f->replay.slot[(f->replay.play_at + n) % WG_REPLAY_SLOTS]))
            n++;
        return n < f->replay.play_left ? n : n + ending(s);
    }
    if (f->gate_end == f->down_end || f->push_waits & WG_WAITS_B || !wg_insn_ordinary(t, wg_mop_word(f, 0)) ||
        !wg_insn_ordinary(t, wg_mop_word(f, 1)))
        return 0;
    for (uint8_t i = f->down_head; i != f->down_end; i++)
        if (f->down[i % WG_DOWN_RING] & ~(unsigned)WG_E_PLACE)
            return 0;
    return wg_mop_more(f);
}

wg_insn wg_supply_insn(const wg_supply *s, unsigned i)
{
    const wg_frontend *f = s->f;
    if (i < s->queued)
        return *wg_gate_fifo_at(f, i);
    const wg_insn *parent = s->plays ? &f->replay.insn : &f->mop.insn;
    wg_insn insn = {.pc = parent->pc, .id = f->next_id + 1 + i - s->queued, .parent = parent->id};
    (void)wg_supply_word(s, i, &insn.word);
    insn.rest = wg_insn_kinds[s->t->arch->id][insn.word >> 24].rest | (parent->rest & 0xFFFF); /* thread and source */
    return insn;
}

/* Phases E and F of `count` cycles in which the Replay Expander plays on: what is before the gate moves up by as many. */
static void play(wg_supply *s, unsigned count)
{
    wg_frontend *f = s->f;
    const unsigned waiting = wg_gate_count(f);
    wg_insn last[WG_GATE_FIFO];
    for (unsigned k = 0; k < waiting; k++) /* what is there in the end */
        last[k] = wg_supply_insn(s, count + k);
    for (unsigned i = 0; i < count; i++) {
        wg_place_free(f, f->down[f->down_head % WG_DOWN_RING]);
        for (unsigned k = 1; k < waiting; k++)
            f->down[(uint8_t)(f->down_head + k - 1) % WG_DOWN_RING] =
                f->down[(uint8_t)(f->down_head + k) % WG_DOWN_RING];
        f->down[(uint8_t)(f->gate_end - 1) % WG_DOWN_RING] = (uint16_t)wg_place_take(f);
    }
    for (unsigned k = 0; k < waiting; k++) {
        uint16_t *entry = &f->down[(uint8_t)(f->down_head + k) % WG_DOWN_RING];
        if (k + count < s->queued)
            continue; /* was there before */
        f->pool[*entry] = last[k];
        *entry |= (uint16_t)wg_insn_kinds[s->t->arch->id][last[k].word >> 24].marks;
    }
    f->next_id += count;
    f->replay.play_at = (uint8_t)((f->replay.play_at + count) % WG_REPLAY_SLOTS);
    f->replay.play_left = (uint8_t)(f->replay.play_left - count);
    f->replay_busy = f->replay.play_left != 0;
}

void wg_supply_used(wg_supply *s, unsigned count)
{
    wg_tile *t = s->t;
    wg_frontend *f = s->f;
    if (!s->plays) {
        wg_mop_goes_on(t, f, count);
        return;
    }
    const uint64_t from = t->sched.now;
    unsigned i = count < f->replay.play_left ? count : f->replay.play_left;
    play(s, i);
    for (; i < count; i++) { /* others come up behind the REPLAY's last */
        wg_place_free(f, f->down[f->down_head++ % WG_DOWN_RING]);
        f->gate_end++;
        t->sched.now = from + i;
        t->sched.phase = WG_PHASE_MOP;
        wg_mop(t, s->thread, false);
    }
    t->sched.now = from;
}
