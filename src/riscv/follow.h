/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a core's code from its present state, without any effect: what will it do next, and what does that depend on? A
 * value is known or not, and carries the set of loads that it comes from.
 */
#ifndef WG_RISCV_FOLLOW_H
#define WG_RISCV_FOLLOW_H

#include "machine/tile.h"

/* What a register or a variable holds. */
typedef struct wg_held {
    uint32_t value;
    bool known;
    uint32_t from; /* loads that it comes from, by bit, as the caller numbers them */
} wg_held;

enum { WG_FOLLOW_VARIABLES = 16 };
typedef struct wg_follow {
    const wg_tile *t;
    unsigned core;
    uint32_t pc;
    wg_held x[32];
    struct {
        uint32_t address;
        wg_held is;
    } variable[WG_FOLLOW_VARIABLES]; /* words that it has written */
    unsigned variables;
    bool fenced;        /* it has executed a fence; the caller clears it */
    bool shares;        /* it has written something that others see */
    uint32_t decided;   /* loads that its last branch depends on, … */
    uint32_t branch_pc; /* … and where that is; 0: the last instruction was no branch */
    /* A load that no variable answers. False: the caller has seen enough. */
    bool (*load)(struct wg_follow *f, uint32_t address, unsigned size, wg_held *value);
    void *user;
} wg_follow;

/* From the core's registers and its stores under way. False: those are not known. */
bool wg_follow_begin(wg_follow *f, const wg_tile *t, unsigned core, uint32_t pc);
/* One instruction. False: nobody knows what comes next, or the caller has seen enough. */
bool wg_follow_step(wg_follow *f);
/* What memory holds: L1, or the core's own RAM. */
wg_held wg_follow_memory(const wg_follow *f, uint32_t address, unsigned size);

#endif
