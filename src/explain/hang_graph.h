/* SPDX-License-Identifier: Apache-2.0 */
/* The wait-for graph, as built by hang.c and described by hang_verdict.c. */
#ifndef WG_HANG_GRAPH_H
#define WG_HANG_GRAPH_H

#include <stdarg.h>
#include <stdio.h>

#include "explain/hang.h"
#include "explain/reachable.h"
#include "metal/launched.h"

typedef struct graph {
    wg_device *dev;
    const wg_history *history;
    bool hung;
    wg_hang *out;
    wg_hang_edge unused; /* see wg_hang_edge_add() */
    bool has_launched;
    wg_metal_launched launched; /* kernels of tt-metal */
} graph;

/* Text of limited length, in pieces. */
typedef struct phrase {
    char *out;
    size_t bytes, used;
} phrase;
__attribute__((format(printf, 2, 3))) static inline void say(phrase *p, const char *format, ...)
{
    if (p->used >= p->bytes)
        return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(p->out + p->used, p->bytes - p->used, format, args);
    va_end(args);
    if (n > 0)
        p->used += (size_t)n < p->bytes - p->used ? (size_t)n : p->bytes - p->used - 1;
}

static inline bool same_node(wg_node a, wg_node b) { return a.kind == b.kind && a.index == b.index; }

/* " at kernel.c:12", or the address, or nothing. */
static inline const char *at_place(const graph *g, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    char place[256] = "";
    room[0] = 0;
    if (!pc)
        return room;
    if (g->history->place)
        g->history->place(g->history->place_user, core, pc, place, sizeof place);
    if (*place)
        snprintf(room, bytes, " at %s", place);
    else if (!WG_IS_HOST_PC(pc))
        snprintf(room, bytes, " at 0x%08x", pc);
    return room;
}

/* hang_words.c: a wait condition of STALLWAIT. */
typedef struct wg_hang_condition {
    uint8_t agent; /* the agent that must act */
    const char *text;
} wg_hang_condition;
extern const wg_hang_condition wg_hang_conditions[WG_WAIT_COUNT];

/* The new edge; one that is not used if there is an edge between these nodes already, or no room. */
wg_hang_edge *wg_hang_edge_add(graph *g, wg_node from, wg_node to, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * hang.c: from a resource to every thread that can still change it; else to every core whose program can; else to nobody.
 * `waiter`: the thread that waits, `except_core`: a core that does not count.
 */
void wg_hang_changers(graph *g, wg_node thing, unsigned waiter, unsigned except_core, const wg_wanted *wanted,
                      const char *what);

/* "thread 0 at kernel.c:12 in cycle 40": the last time. */
const char *wg_hang_act_text(const graph *g, const wg_semaphore_past *past, unsigned act, char *room, size_t bytes);

/* Was it posted, and then set to zero by SEMINIT before anybody took it? */
bool wg_hang_post_was_wiped(const graph *g, unsigned semaphore);

/* The thread that has recorded a SEMPOST or SEMGET of the semaphore for REPLAY; negative: none. */
int wg_hang_recorder(const graph *g, unsigned semaphore, bool post);

/* hang_polls.c: what a polling core reads, and who could write it. */
void wg_hang_poll_edges(graph *g, unsigned core);
/* The advice for a poll of an NIU's counter; NULL if the address is not a counter's. `own`: it counts this tile's requests. */
const char *wg_hang_counter_remedy(uint32_t address, bool *own);

/* hang_pages.c: kernels of tt-metal that wait for pages, space or semaphores. True: the core's wait was added to the graph. */
void wg_hang_find_kernels(graph *g);
bool wg_hang_pages_edges(graph *g, unsigned core);
/* The story of a path with such a wait; false: there is none on it. */
bool wg_hang_pages_story(const graph *g, phrase *p);
/* The advice for a chain that ends with such a wait; NULL: it does not. */
const char *wg_hang_pages_remedy(const wg_hang *out);

/* hang_verdict.c: the path through the finished graph, and the story. */
void wg_hang_verdict(graph *g);

#endif
