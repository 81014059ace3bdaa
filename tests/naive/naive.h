/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second, naive model of FIFO, MOP Expander, Replay Expander, Wait Gate and Sync Unit, for comparison. It evaluates
 * everything in every cycle, uses none of the emulator's sources, and is written only from the conformance clauses and
 * the contract of time. Its instructions: NOP, MOP, MOP_CFG, REPLAY, ATGETM, ATRELM, STALLWAIT, SEMINIT, SEMPOST,
 * SEMGET, SEMWAIT, and a few of other units with a fixed duration.
 */
#ifndef NAIVE_H
#define NAIVE_H

#include <stdbool.h>
#include <stdint.h>

enum { NAIVE_THREADS = 3, NAIVE_DEPTH = 64 };

typedef enum { NAIVE_PUSHED, NAIVE_ISSUED } naive_kind;
typedef struct naive_event {
    uint64_t cycle;
    uint8_t kind, thread;
    uint32_t word;
} naive_event;

typedef struct naive_queue {
    struct naive_item {
        uint32_t word;
        bool pushed; /* not from an expander */
    } item[NAIVE_DEPTH];
    int count;
} naive_queue;

typedef struct naive_thread {
    naive_queue fifo, replay_fifo, gate_fifo;
    int slots; /* BH: pushed instructions that have not passed the gate */
    uint32_t mop_cfg[9];
    uint32_t mask_hi;
    /* MOP Expander */
    bool expanding;
    uint32_t mop_word;
    uint32_t t0_mask, t0_left, t0_step;
    int outer, inner, j, i, stage;
    bool flip;
    int gap;
    /* Replay Expander */
    uint32_t buffer[32];
    int replaying, recording, position;
    bool record_executes;
    /* Wait Gate */
    bool latched, latch_now; /* latch_now: accepted in this cycle */
    bool forget;
    uint32_t latch_word, incoming;
    /* units */
    uint64_t busy_until[8]; /* per unit: this thread has an instruction in it before this cycle */
    uint64_t held_until;    /* the thread's own Scalar instruction executes before this cycle */
} naive_thread;

typedef struct naive {
    bool wormhole;
    uint64_t now;
    naive_thread t[NAIVE_THREADS];
    int value[8], max[8], mutex[16];
    int sync_turn, mutex_turn[16], unit_turn[8];
    uint64_t unit_free[8];
    void (*emit)(void *user, const naive_event *e);
    void *user;
} naive;

void naive_reset(naive *n, bool wormhole);
/* Between two cycles: takes one more pushed instruction if there is room; false if there is none. */
bool naive_push(naive *n, int thread, uint32_t word);
void naive_cycle(naive *n);

#endif
