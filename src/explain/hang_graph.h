/* SPDX-License-Identifier: Apache-2.0 */
/* The wait-for graph, as built by hang.c and described by hang_verdict.c. */
#ifndef WG_HANG_GRAPH_H
#define WG_HANG_GRAPH_H

#include <stdarg.h>
#include <stdio.h>

#include "explain/hang.h"

typedef struct graph {
    wg_device *dev;
    const wg_history *history;
    bool hung;
    wg_hang *out;
} graph;

static inline bool same_node(wg_node a, wg_node b) { return a.kind == b.kind && a.index == b.index; }

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

/* hang_verdict.c: the path through the finished graph, and the story. */
void wg_hang_verdict(graph *g);

#endif
