/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a report's page besides the costs: values over time, and the path of each instruction. */
#ifndef WG_CLI_PAGE_EVENTS_H
#define WG_CLI_PAGE_EVENTS_H

#include "cli/session.h"

/* Values over time: a row of the timeline each. */
enum {
    WG_ROW_SEMAPHORE = 0,
    WG_ROW_BANK = WG_ROW_SEMAPHORE + 8, /* 1: of the Matrix Unit */
    WG_ROW_QUEUE = WG_ROW_BANK + 4,     /* of each thread: instructions pushed that have not passed the gate */
    WG_ROW_BUFFER = WG_ROW_QUEUE + 3,   /* pages in a circular buffer of tt-metal's kernels */
    WG_ROWS = WG_ROW_BUFFER + WG_CBS
};
typedef struct wg_page_step {
    uint64_t cycle;
    uint16_t row, value;
} wg_page_step;

/* An instruction that passed its gate. */
typedef struct wg_page_way {
    uint64_t issued;
    uint32_t entered, pushed; /* cycles before that: when it was pushed or made; when the push was that made it */
    uint32_t in_unit;         /* cycles; 0: it is still there */
    uint8_t thread, unit;
    bool made; /* by a MOP or REPLAY */
} wg_page_way;

/* The latest of each are kept. */
enum { WG_PAGE_STEPS = 1 << 19, WG_PAGE_WAYS = 1 << 18, WG_PAGE_INSIDE = 1024 };
typedef struct wg_page_inside {
    uint64_t id, entered, pushed;
    uint64_t way; /* its index among all; UINT64_MAX: it has not passed */
} wg_page_inside;

typedef struct wg_page {
    const wg_device *dev;
    wg_page_step *step;
    size_t steps, step_room;
    uint16_t before[WG_ROWS]; /* values at the first step kept */
    uint16_t now[WG_ROWS];
    wg_page_way *way;
    size_t ways, way_room;
    uint64_t forgotten; /* ways */
    wg_page_inside inside[WG_THREADS][WG_PAGE_INSIDE];
    uint64_t queued[WG_THREADS][WG_PAGE_INSIDE]; /* ids in the order of their pushes */
    unsigned first[WG_THREADS], pushes[WG_THREADS];
    uint64_t changing; /* bit per circular buffer: a count was written, and has not changed yet */
    uint64_t clearing; /* firmware clears the counts one after another */
    uint16_t counts[WG_CBS][2];
    bool failed; /* out of memory */
} wg_page;
#define WG_PAGE_EVENTS \
    (WG_EV_BIT(WG_EV_SEMAPHORE) | WG_EV_BIT(WG_EV_BANK) | WG_EV_BIT(WG_EV_PUSHED) | WG_EV_BIT(WG_EV_EXPANDED) | \
     WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_COMPLETED) | WG_EV_BIT(WG_EV_LOST) | WG_EV_BIT(WG_EV_CORE_RESPONSE))
void wg_page_event(void *page, const wg_event *e);

/* "steps": a list of rows, each with its name, its largest value, and cycles and values: differences, alternating. */
void wg_page_steps(const wg_page *p, uint64_t from, uint64_t to, wg_json *j);
/*
 * "ways": for each thread the instructions that passed in these cycles, five numbers each: cycles since the previous
 * one, cycles since it was pushed or expanded, cycles from the push to the expansion (-1: not expanded), the unit's
 * number, cycles in it.
 */
void wg_page_ways(const wg_page *p, uint64_t from, uint64_t to, wg_json *j);

#endif
