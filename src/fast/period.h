/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A period: the work of cores between two states that repeat each other (engine/repeat.h). It is recorded once as a list of
 * steps; a replay only computes the results. See period.c.
 *
 *     lines.c         a core in a loop of arithmetic
 *     rounds.c        a group of cores, or one, in loops through L1 with a common period
 */
#ifndef WG_FAST_PERIOD_H
#define WG_FAST_PERIOD_H

#include "machine/repeat.h"
#include "fast/cores.h"

enum { WG_PERIOD_SLACK = 24 /* cycles after a period's end by which everything in flight has landed */ };

/*
 * Steps other than instructions:
 *
 *     CHECK              A + I must be the recorded address, moved
 *     LW, LOAD           a load that is answered at once: a word, any size
 *     ANSWER             L1 answers a load in flight
 *     STORE              a store enters the store queue
 *     LEAVE, WRITE       … leaves it for L1's queue, and is processed
 *     PREDICT            the preceding branch must be predicted by a saturated counter
 *     AGAIN, END         the end of a period of arithmetic; of any other period
 */
#define WG_STEPS(X) X(CHECK) X(LW) X(LOAD) X(ANSWER) X(STORE) X(LEAVE) X(WRITE) X(PREDICT) X(AGAIN) X(END)
enum {
    WG_STEP_FIRST = WG_OP_COUNT - 1,
#define STEP(name) WG_STEP_##name,
    WG_STEPS(STEP)
#undef STEP
        WG_STEP_COUNT
};

typedef struct wg_step_of {
    const void *label; /* set, with the next three, before the first replay */
    uint32_t *to;
    const uint32_t *a, *b;
    uint32_t imm;
    uint32_t address; /* LOAD to WRITE: as recorded; PREDICT: the branch's own */
    int32_t free_at;  /* cycles from the period's start until its bank is free again; 0: no bank */
    uint16_t mask;    /* WRITE: bytes; LW to ANSWER: the core whose L0 cache then holds the line */
    uint8_t code, core, rd, rs1, rs2;
    uint8_t slot;  /* of the loads; of the store queue, relative to its head at the period's start */
    uint8_t place; /* of L1's queue, relative to its head at the period's start */
    uint8_t size;  /* as in the instruction; STORE: bytes */
    bool flag;     /* a branch, PREDICT: taken; STORE: a new entry; LW to ANSWER: fills the L0 cache */
} wg_step_of;

static inline wg_step_of wg_step_from(const wg_op *op, unsigned core)
{
    return (wg_step_of){
        .code = op->code, .core = (uint8_t)core, .rd = op->rd, .rs1 = op->rs1, .rs2 = op->rs2, .imm = op->imm};
}

typedef struct wg_period {
    wg_step_of *step;
    uint16_t steps, writes; /* writes: those among them that reach L1 */
    bool linked;
    uint8_t cores;        /* bit per core that executes anything in it */
    uint8_t stores;       /* bit per core that executes a store */
    uint8_t undoes;       /* a step other than the last may fail: checkpoints are needed */
    const wg_step_of *at; /* the step that failed; NULL: none */
    wg_core_run *run[WG_CORES];
    wg_request_queue *queue[WG_CORES];
    wg_shot shot; /* the state at its start */
    wg_moves by;  /* from there to its end */
    uint8_t sq_pops[WG_CORES], queue_pops[WG_CORES];
    uint8_t turned[WG_CORES]; /* places by which the lines of a full L0 cache rotate */
    uint32_t l0_requests[WG_CORES];
    uint64_t emitted[WG_CORES];
} wg_period;

/* Replays up to n periods from the present state, which equals p->shot, moved. Returns how many went as recorded. */
uint64_t wg_period_replay(wg_tile *t, wg_period *p, uint64_t began, const uint32_t further[WG_CORES], uint64_t n);
/* Are the L0 caches equal, and do they agree with L1? *turned: places by which the lines have rotated. */
bool wg_period_same_l0(const wg_tile *t, const wg_core_run *a, const wg_core_run *b, uint32_t further, bool may_turn,
                       uint8_t *turned);
/* Does the core's state hold only what a replay can handle? */
bool wg_period_holds(const wg_core_run *run);
/* Advances the core and its requests by this many periods. */
void wg_period_arrive(wg_tile *t, const wg_period *p, unsigned core, uint64_t done);
/* The number of periods before the next periodic flush of the core's L0 cache. */
uint64_t wg_period_before_flush(const wg_tile *t, const wg_period *p, unsigned core);
/* Has there been one since the shot? */
bool wg_period_flushed(const wg_tile *t, const wg_period *p, unsigned core);
/* The period ends with the present state: derives the changes it makes. */
void wg_period_end(const wg_tile *t, wg_period *p, unsigned cores);

#endif
