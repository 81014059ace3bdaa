/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a solo core through L1, as they are recorded: see loops.c. */
#ifndef WG_FAST_LOOPS_H
#define WG_FAST_LOOPS_H

#include "fast/period.h"

enum { WG_LOOP_OPS = 40, WG_LOOP_PERIOD = 4 /* rounds */, WG_LOOP_EVENTS = 96, WG_LOOP_STEPS = 192 };

/* An event of the load/store unit. */
typedef enum wg_loop_kind { WG_LOOP_LOADS, WG_LOOP_STORES, WG_LOOP_LEAVES } wg_loop_kind;
typedef struct wg_loop_event {
    uint64_t free_at; /* its bank is free again in this cycle; 0: no bank */
    uint32_t address;
    uint16_t mask;      /* WG_LOOP_LEAVES: of the bytes */
    uint8_t kind, slot; /* slot: of the store queue */
    bool fresh;         /* a store that did not merge with another */
} wg_loop_event;

typedef enum wg_loop_state {
    WG_LOOP_NONE,
    WG_LOOP_REFUSED,
    WG_LOOP_FITS,
    WG_LOOP_RECORDS,
    WG_LOOP_KNOWN
} wg_loop_state;

typedef struct wg_loop {
    uint8_t state; /* wg_loop_state; other members are set depending on it */
    uint8_t base;  /* the base register of the first access */
    uint8_t ops, rounds, misses;
    bool wrong;                                 /* something happened that a period cannot hold */
    uint16_t events, events_of[WG_LOOP_PERIOD]; /* … by the end of each iteration */
    uint32_t target, branch, epoch, low, high;
    uint64_t solo_at[WG_SOLO_RECENT]; /* at the period's shot */
    uint8_t solo_next, solo_moves;
    wg_op body[WG_LOOP_OPS];
    wg_loop_event event[WG_LOOP_EVENTS];
    wg_step_of step[WG_LOOP_STEPS];
    wg_period period;
} wg_loop;

/* Logs an event while a period is recorded; NULL: none is. */
static inline void wg_loop_note(wg_loop *l, wg_loop_kind kind, uint32_t address, unsigned slot, bool fresh,
                                uint16_t mask, uint64_t free_at)
{
    if (__builtin_expect(!l, 1))
        return;
    if (l->events == WG_LOOP_EVENTS) {
        l->wrong = true;
        return;
    }
    l->event[l->events++] = (wg_loop_event){.kind = (uint8_t)kind,
                                            .address = address,
                                            .slot = (uint8_t)slot,
                                            .fresh = fresh,
                                            .mask = mask,
                                            .free_at = free_at};
}

#endif
