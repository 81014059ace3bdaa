/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path: the chain of work and waits that determines the length of a run. It is traced backwards from the last
 * work:
 *
 *   thread 2  ……………|latched-wait──────|pack ■
 *                                   ▲ Matrix Unit
 *   matrix    ………|MVMUL MVMUL MVMUL|…
 *               ▲ thread 1
 *   T1        ■■■ push
 *
 * Cycles in which a track works are charged to it. Where it waited, the path continues at the track that ended the wait, from
 * the cycle in which the wait ended. Each cycle of the run is charged once.
 */
#ifndef WG_CHAIN_H
#define WG_CHAIN_H

#include "observe/tracks.h"

/* Cycles of one track that belong to one instruction and one cause. */
typedef struct wg_cost {
    uint32_t pc, word; /* the instruction; both 0: none */
    uint32_t address;  /* the polled address */
    uint16_t resource; /* as in wg_stall */
    uint8_t holder;    /* the agent that ended it, if it is a wait and that is known; else WG_AGENT_NONE */
    uint8_t track;     /* wg_agent */
    uint8_t core;      /* the core whose program contains `pc` */
    uint8_t doing;     /* wg_doing */
    uint64_t cycles;
    uint64_t times; /* number of occurrences */
} wg_cost;

/* Costs that differ only in cycles and times are one. */
typedef struct wg_cost_table {
    wg_cost *cost;  /* in order of appearance */
    uint32_t *slot; /* hash table: index into `cost` plus 1 */
    size_t count, slots;
    bool failed; /* out of memory: the table is invalid */
} wg_cost_table;
/* Returns the cost's index. */
size_t wg_cost_add(wg_cost_table *t, const wg_cost *c);
void wg_cost_table_free(wg_cost_table *t);

typedef struct wg_link {
    uint64_t from, to;
    wg_cost what;
} wg_link;

/* What each track did, in order. The latest links are kept: WG_CHAIN_LINKS of each track. */
enum { WG_CHAIN_LINKS = 1 << 18 };
typedef struct wg_chain {
    wg_link *link[WG_TRACKS];
    size_t count[WG_TRACKS], room[WG_TRACKS];
    bool failed; /* out of memory */
} wg_chain;

/* [from, to) follows the track's previous links. */
void wg_chain_note(wg_chain *c, uint64_t from, uint64_t to, const wg_cost *what);
/* The last link of a track, or NULL. */
wg_link *wg_chain_last(wg_chain *c, unsigned track);
/*
 * Calls `piece` for each piece of the path within [from, to), the latest first. Returns the cycle at which the path begins:
 * later than `from` if the links do not reach back that far.
 */
uint64_t wg_chain_walk(const wg_chain *c, uint64_t from, uint64_t to, void (*piece)(void *user, const wg_link *piece),
                       void *user);
void wg_chain_free(wg_chain *c);

#endif
