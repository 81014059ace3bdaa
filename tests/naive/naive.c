/* SPDX-License-Identifier: Apache-2.0 */
#include "naive.h"

#include <string.h>

enum { NONE, SYNC, SCALAR, VECTOR, CONFIG, MISC };

static int opcode(uint32_t w) { return (int)(w >> 24); }
static uint32_t bits(uint32_t w, int hi, int lo) { return w >> lo & ((1u << (hi - lo + 1)) - 1); }

/* PIPE-29; durations of docs/timing_constants.md. */
static int unit_of(uint32_t w)
{
    int op = opcode(w);
    if (op >= 0xA0 && op <= 0xA6)
        return SYNC;
    if (op == 0x45 || op == 0x60 || op == 0x58) /* SETDMAREG, DMANOP, ADDDMAREG */
        return SCALAR;
    if (op == 0x8F) /* SFPNOP */
        return VECTOR;
    if (op == 0xB2) /* SETC16 */
        return CONFIG;
    if (op == 0x51) /* SETADCXY */
        return MISC;
    return NONE;
}

static int duration_of(uint32_t w) { return opcode(w) == 0x58 ? 3 : 1; }

/* GATE-07, GATE-08 */
static uint32_t block_bits(bool wormhole, uint32_t w)
{
    switch (unit_of(w)) {
    case SYNC:
        if (opcode(w) == 0xA2 || (opcode(w) == 0xA6 && !wormhole))
            return 0x1FF;
        return 0x002;
    case SCALAR: return 0x021;
    case VECTOR: return 0x100;
    case CONFIG: return 0x080;
    case MISC: return 0x001;
    default: return 0;
    }
}

static uint32_t latch_blocks(uint32_t w) { return bits(w, 23, 15) ? bits(w, 23, 15) : 0x40; }

static bool caught(const naive *n, const naive_thread *t, uint32_t w)
{
    if (!t->latched)
        return false;
    uint32_t mask = latch_blocks(t->latch_word);
    if (opcode(w) == 0x02)
        return mask == 0x1FF;
    return (block_bits(n->wormhole, w) & mask) != 0;
}

static bool unit_busy(const naive *n, const naive_thread *t, int unit) { return t->busy_until[unit] > n->now; }

/* GATE-10…-20, -27, for the units of this model; the others are idle and every source bank is the unpackers'. */
static bool keep_waiting(const naive *n, const naive_thread *t)
{
    uint32_t w = t->latch_word;
    if (opcode(w) == 0xA6) {
        for (int i = 0; i < 8; i++) {
            if (!(bits(w, 9, 2) >> i & 1))
                continue;
            if ((w & 1 && n->value[i] == 0) || (w & 2 && n->value[i] >= n->max[i]))
                return true;
        }
        return false;
    }
    uint32_t c = n->wormhole ? bits(w, 14, 0) : bits(w, 12, 0);
    if (!c)
        return false; /* Scalar memory, unpackers, packers: all idle here */
    if (n->wormhole) {
        if (c & (1u << 10 | 1u << 11))
            return true;
        return c & 1u << 14 && unit_busy(n, t, VECTOR);
    }
    if (c & (1u << 7 | 1u << 8))
        return true;
    if (c & 1u << 11 && unit_busy(n, t, VECTOR))
        return true;
    if (c & 1u << 12)
        for (int k = 0; k < NAIVE_THREADS; k++)
            if (unit_busy(n, &n->t[k], CONFIG))
                return true;
    return false;
}

static struct naive_item pop(naive_queue *q)
{
    struct naive_item first = q->item[0];
    q->count--;
    memmove(q->item, q->item + 1, (size_t)q->count * sizeof first);
    return first;
}

static void append(naive_queue *q, uint32_t word, bool pushed)
{
    q->item[q->count++] = (struct naive_item){word, pushed};
}

void naive_reset(naive *n, bool wormhole)
{
    void (*emit)(void *, const naive_event *) = n->emit;
    void *user = n->user;
    memset(n, 0, sizeof *n);
    n->emit = emit;
    n->user = user;
    n->wormhole = wormhole;
}

static void tell(naive *n, naive_kind kind, int thread, uint32_t word)
{
    naive_event e = {n->now, (uint8_t)kind, (uint8_t)thread, word};
    if (n->emit)
        n->emit(n->user, &e);
}

/*
 * BH keeps an ordinary push's slot until it has passed the gate (PIPE-04); words that an expander consumes have left by
 * then, and its output needs no slot.
 */
static void give_slot_back(naive_thread *t, bool pushed) { t->slots -= pushed; }

bool naive_push(naive *n, int thread, uint32_t word)
{
    naive_thread *t = &n->t[thread];
    if (n->wormhole) {
        if (t->fifo.count >= (thread == 0 ? 32 : 16))
            return false;
    } else {
        if (t->slots > 28)
            return false;
    }
    t->slots++;
    append(&t->fifo, word, true);
    tell(n, NAIVE_PUSHED, thread, word);
    return true;
}

/* Phase E for one instruction that only its unit can hold up. */
static bool unit_accepts(naive *n, int thread, uint32_t w, bool sync_slot_taken, const bool mutex_taken[16])
{
    int op = opcode(w), unit = unit_of(w);
    if (op == 0xA0 || op == 0xA1) {
        uint32_t index = bits(w, 15, 0);
        if (index == 1 || index > (n->wormhole ? 7u : 4u))
            return false;
        if (mutex_taken[index])
            return false;
        return op == 0xA1 || n->mutex[index] == 0 || n->mutex[index] == thread + 1;
    }
    if (unit == SYNC)
        return !sync_slot_taken;
    if (unit == SCALAR)
        return n->unit_free[SCALAR] <= n->now;
    if (unit == VECTOR)
        return n->unit_free[VECTOR] <= n->now;
    return true;
}

static void take_effect(naive *n, int thread, uint32_t w)
{
    naive_thread *t = &n->t[thread];
    int unit = unit_of(w);
    uint64_t until = n->now + (uint64_t)duration_of(w);
    if (unit != NONE)
        t->busy_until[unit] = until;
    if (unit == SCALAR) {
        n->unit_free[SCALAR] = until;
        t->held_until = until;
    }
    if (unit == VECTOR)
        n->unit_free[VECTOR] = n->now + 1;
    switch (opcode(w)) {
    case 0xA0: n->mutex[bits(w, 15, 0)] = thread + 1; break;
    case 0xA1:
        if (n->mutex[bits(w, 15, 0)] == thread + 1)
            n->mutex[bits(w, 15, 0)] = 0;
        break;
    case 0xA2:
    case 0xA6:
        t->latch_now = true;
        t->incoming = w;
        break;
    case 0xA3:
    case 0xA4:
    case 0xA5:
        for (int i = 0; i < 8; i++) {
            if (!(bits(w, 9, 2) >> i & 1))
                continue;
            if (opcode(w) == 0xA3) {
                n->max[i] = (int)bits(w, 23, 20);
                n->value[i] = (int)bits(w, 19, 16);
            } else if (opcode(w) == 0xA4) {
                n->value[i] += n->value[i] < 15;
            } else {
                n->value[i] -= n->value[i] > 0;
            }
        }
        break;
    default: break;
    }
}

static void gates(naive *n)
{
    bool slot_taken = false, mutex_taken[16] = {false}, done[NAIVE_THREADS] = {false};
    /*
     * Every group has its own turn; groups are independent, so each thread is examined once, in its own group's order.
     */
    for (int step = 0; step < NAIVE_THREADS; step++) {
        for (int k = 0; k < NAIVE_THREADS; k++) {
            naive_thread *t = &n->t[k];
            if (done[k] || !t->gate_fifo.count)
                continue;
            uint32_t w = t->gate_fifo.item[0].word;
            int op = opcode(w), unit = unit_of(w);
            int turn = op == 0xA0 || op == 0xA1 ? n->mutex_turn[bits(w, 3, 0)]
                       : unit == SYNC           ? n->sync_turn
                                                : n->unit_turn[unit];
            if (unit == SYNC && op > 0xA1)
                turn = turn < 3 ? turn : 0; /* no core writes here: after the threads the round restarts */
            if ((turn + step) % NAIVE_THREADS != k)
                continue;
            done[k] = true;
            if (caught(n, t, w) || t->held_until > n->now || !unit_accepts(n, k, w, slot_taken, mutex_taken))
                continue;
            struct naive_item item = pop(&t->gate_fifo);
            if (op == 0xA0 || op == 0xA1) {
                mutex_taken[bits(w, 15, 0)] = true;
                n->mutex_turn[bits(w, 15, 0)] = (k + 1) % NAIVE_THREADS;
            } else if (unit == SYNC) {
                slot_taken = true;
                n->sync_turn = k + 1;
            } else if (unit == SCALAR || unit == VECTOR) {
                n->unit_turn[unit] = (k + 1) % NAIVE_THREADS;
            }
            take_effect(n, k, w);
            tell(n, NAIVE_ISSUED, k, w);
            give_slot_back(t, item.pushed);
        }
    }
}

/* Phase F */
static void replay(naive_thread *t)
{
    if (t->replaying) {
        if (t->gate_fifo.count >= 2)
            return;
        append(&t->gate_fifo, t->buffer[t->position], false);
        t->position = (t->position + 1) % 32;
        t->replaying--;
        return;
    }
    if (!t->replay_fifo.count)
        return;
    uint32_t w = t->replay_fifo.item[0].word;
    if (t->recording) {
        if (t->record_executes && t->gate_fifo.count >= 2)
            return;
        struct naive_item item = pop(&t->replay_fifo);
        t->buffer[t->position] = item.word;
        t->position = (t->position + 1) % 32;
        t->recording--;
        if (t->record_executes)
            append(&t->gate_fifo, item.word, item.pushed);
        else
            give_slot_back(t, item.pushed);
        return;
    }
    if (opcode(w) == 0x04) {
        int count = bits(w, 9, 4) ? (int)bits(w, 9, 4) : 32;
        if (!(w & 1) && t->gate_fifo.count >= 2)
            return;
        struct naive_item item = pop(&t->replay_fifo);
        give_slot_back(t, item.pushed);
        t->position = (int)bits(w, 18, 14);
        if (w & 1) {
            t->recording = count;
            t->record_executes = (w & 2) != 0;
        } else {
            t->replaying = count;
            replay(t);
        }
        return;
    }
    if (t->gate_fifo.count >= 2)
        return;
    struct naive_item item = pop(&t->replay_fifo);
    append(&t->gate_fifo, item.word, item.pushed);
}

static bool is_nop(uint32_t w) { return opcode(w) == 0x02; }

/* The next instruction of the current expansion; false at its end. MOPExpander.md as a state machine. */
static bool next_of_mop(naive_thread *t, uint32_t *out)
{
    const uint32_t *cfg = t->mop_cfg;
    if (!bits(t->mop_word, 23, 23)) {
        while (t->t0_left) {
            bool has_b = cfg[1] & 1, has_a123 = cfg[1] & 2, skip = t->t0_mask & 1;
            uint32_t step = t->t0_step++;
            if (step == 0) {
                *out = skip ? cfg[7] : cfg[3];
                return true;
            }
            if (!skip && has_a123 && step <= 3) {
                *out = cfg[3 + step];
                return true;
            }
            uint32_t last = !skip && has_a123 ? 4 : 1;
            if (has_b && step == last) {
                *out = skip ? cfg[8] : cfg[2];
                return true;
            }
            t->t0_step = 0;
            t->t0_mask >>= 1;
            t->t0_left--;
        }
        return false;
    }
    while (t->j < t->outer) {
        if (t->stage == 0) {
            t->stage = 1;
            t->i = 0;
            if (!is_nop(cfg[2])) {
                *out = cfg[2];
                return true;
            }
        }
        if (t->stage == 1) {
            if (t->i < t->inner) {
                if (t->i != t->inner - 1)
                    *out = t->flip ? cfg[6] : cfg[5];
                else
                    *out = t->j != t->outer - 1 ? cfg[8] : cfg[7];
                if (!is_nop(cfg[6]))
                    t->flip = !t->flip;
                t->i++;
                return true;
            }
            t->stage = 2;
        }
        if (t->stage == 2) {
            t->stage = 3;
            if (!is_nop(cfg[3])) {
                *out = cfg[3];
                return true;
            }
        }
        if (t->stage == 3) {
            t->stage = 4;
            if (!is_nop(cfg[3]) && !is_nop(cfg[4])) {
                *out = cfg[4];
                return true;
            }
        }
        t->stage = 0;
        t->j++;
    }
    return false;
}

static void begin_mop(naive_thread *t, struct naive_item mop)
{
    const uint32_t *cfg = t->mop_cfg;
    t->mop_word = mop.word;
    give_slot_back(t, mop.pushed);
    t->t0_mask = t->mask_hi << 16 | bits(mop.word, 15, 0);
    t->t0_left = bits(mop.word, 22, 16) + 1;
    t->t0_step = 0;
    t->outer = (int)(cfg[0] & 127);
    t->inner = (int)(cfg[1] & 127);
    if (!is_nop(cfg[6]))
        t->inner *= 2;
    if (t->outer == 1 && is_nop(cfg[2]) && t->inner == 0 && !is_nop(cfg[3]))
        t->outer += 128;
    t->i = t->j = t->stage = 0;
    t->flip = false;
    t->expanding = true;
}

/* Emits one instruction of the MOP; at its end the expander idles for a cycle unless a MOP follows. */
static void expand(naive_thread *t)
{
    uint32_t w;
    naive_thread before = *t;
    if (!next_of_mop(t, &w)) {
        t->expanding = false;
    } else {
        append(&t->replay_fifo, w, false);
        before = *t;
        uint32_t further;
        if (!next_of_mop(t, &further))
            before.expanding = false;
        *t = before;
    }
    if (!t->expanding)
        t->gap = 1;
}

/* Phase G */
static void mop(naive_thread *t)
{
    if (t->expanding) {
        if (t->replay_fifo.count < 8)
            expand(t);
        return;
    }
    bool gap = t->gap;
    t->gap = 0;
    if (!t->fifo.count)
        return;
    uint32_t w = t->fifo.item[0].word;
    if (opcode(w) == 0x01) {
        if (t->replay_fifo.count >= 8) {
            t->gap = 0;
            return;
        }
        begin_mop(t, pop(&t->fifo));
        expand(t);
        return;
    }
    if (gap)
        return;
    if (opcode(w) == 0x03) {
        struct naive_item item = pop(&t->fifo);
        t->mask_hi = bits(w, 15, 0);
        give_slot_back(t, item.pushed);
        return;
    }
    if (t->replay_fifo.count >= 8)
        return;
    struct naive_item item = pop(&t->fifo);
    append(&t->replay_fifo, item.word, item.pushed);
}

void naive_cycle(naive *n)
{
    for (int k = 0; k < NAIVE_THREADS; k++)
        n->t[k].forget = n->t[k].latched && !keep_waiting(n, &n->t[k]);
    gates(n);
    for (int k = 0; k < NAIVE_THREADS; k++)
        replay(&n->t[k]);
    for (int k = 0; k < NAIVE_THREADS; k++)
        mop(&n->t[k]);
    for (int k = 0; k < NAIVE_THREADS; k++) {
        naive_thread *t = &n->t[k];
        if (t->forget)
            t->latched = false;
        if (t->latch_now) {
            t->latched = true;
            t->latch_word = t->incoming;
            t->latch_now = false;
        }
    }
    n->now++;
}
