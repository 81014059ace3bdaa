/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A period: what cores did between two states that repeat each other (engine/repeat.h). It is recorded once, as steps, and
 * then replayed: only results are worked out. See period.c.
 *
 *     lines_loop.c    a core in a loop of arithmetic
 *     loops.c         a core alone, in a loop through L1
 *     rounds.c        a group of cores, in loops through L1 that are in step
 */
#ifndef WG_FAST_PERIOD_H
#define WG_FAST_PERIOD_H

#include "engine/repeat.h"
#include "riscv/lsu.h"
#include "riscv/pipeline.h"

enum { WG_PERIOD_SLACK = 24 /* what is under way at a period's end is over so soon */ };

/*
 * Steps beside instructions:
 *
 *     CHECK              A + I must be the address recorded, moved
 *     LW, LOAD           a load is answered at once: of a word, of any size
 *     ANSWER             L1 answers a load that was under way
 *     STORE              a store enters its queue,
 *     LEAVE, WRITE       leaves it for L1's, and is processed,
 *     DRAIN              … or both at once
 *     FORESEE            the branch before it must be foreseen without anything to learn
 *     AGAIN, END         the end of a period of arithmetic, of any other
 */
#define WG_STEPS(X) X(CHECK) X(LW) X(LOAD) X(ANSWER) X(STORE) X(LEAVE) X(WRITE) X(DRAIN) X(FORESEE) X(AGAIN) X(END)
enum {
    WG_STEP_FIRST = WG_OP_COUNT - 1,
#define STEP(name) WG_STEP_##name,
    WG_STEPS(STEP)
#undef STEP
        WG_STEP_COUNT
};

typedef struct wg_step_of {
    const void *label; /* the next four are filled in before the first replay */
    uint32_t *to;
    const uint32_t *a, *b;
    uint32_t imm;
    uint32_t address; /* LOAD to DRAIN: as recorded; FORESEE: the branch's own */
    int32_t free_at;  /* its bank is free again so long after the period's start; 0: it took none */
    uint16_t mask;    /* WRITE, DRAIN: of the bytes; LW to ANSWER: who may hold the line then */
    uint8_t code, core, rd, rs1, rs2;
    uint8_t slot;  /* of the loads; of the store queue, from its head at the period's start on */
    uint8_t place; /* of L1's queue, from its head at the period's start on */
    uint8_t size;  /* as in the instruction; STORE: bytes */
    bool flag;     /* a branch, FORESEE: taken; STORE: a new entry; LW to ANSWER: fills the L0 cache */
} wg_step_of;

/* By how much a period moves the state on, beside wg_moves. */
typedef struct wg_period {
    wg_step_of *step;
    uint16_t steps;
    bool linked;
    uint8_t cores;        /* bit per core that executes anything in it, */
    uint8_t stores;       /* … that executes a store */
    uint8_t undoes;       /* it may differ in its midst: then the state at its start has to come back */
    const wg_step_of *at; /* the step that differed; NULL: none */
    wg_core_run *run[WG_CORES];
    wg_lane *lane[WG_CORES];
    wg_shot shot; /* the state at its start */
    wg_moves by;  /* from there to its end */
    uint8_t sq_pops[WG_CORES], lane_pops[WG_CORES];
    uint8_t turned[WG_CORES]; /* lines of a full L0 cache: by so many places */
    uint32_t l0_requests[WG_CORES];
    uint64_t emitted[WG_CORES];
    uint32_t own[192]; /* lines that a core alone writes: nobody else may hold them */
    uint16_t owns;
} wg_period;

/* The state now is that of p->shot, moved: the next up to n periods. Returns how many went as recorded. */
uint64_t wg_period_replay(wg_tile *t, wg_period *p, uint64_t began, const uint32_t further[WG_CORES], uint64_t n);
/* Are L0 caches the same, and what they hold that of L1? *turned: by how many places their lines are moved on. */
bool wg_period_same_l0(const wg_tile *t, const wg_core_run *a, const wg_core_run *b, uint32_t further, bool may_turn,
                       uint8_t *turned);
/* Nothing in the core's state is what a period cannot hold. */
bool wg_period_holds(const wg_core_run *run);
/* So many periods later: the core, and its requests. */
void wg_period_arrive(wg_tile *t, const wg_period *p, unsigned core, uint64_t done);
/* In how many more periods does the core's L0 cache not empty itself? */
uint64_t wg_period_before_flush(const wg_tile *t, const wg_period *p, unsigned core);
/* Has it emptied itself since the shot? */
bool wg_period_flushed(const wg_tile *t, const wg_period *p, unsigned core);
/* The shot leads to the present state: what a period changes, moves apart. */
void wg_period_end(const wg_tile *t, wg_period *p, unsigned cores);
bool wg_period_lines_own(const wg_tile *t, const wg_period *p, uint32_t further);

#endif
