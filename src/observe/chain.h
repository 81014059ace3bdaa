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
 * Cycles in which a track works are charged to it. Where it waited, the path continues at the track that ended the
 * wait, from the cycle in which the wait ended. Where a core polled for a packet, the path follows the packet: to the
 * tile that sent it, over an Ethernet link to that of another chip, or, if it is an answer, there and back, to the requesting core. Each cycle of the run is charged
 * once.
 *
 *   tile 1-2  B   ■■■■|polling ……………………………|■■■
 *                     ╲ request        ╱ answer
 *   tile 2-2  NIU      ╲……………■………………╱
 */
#ifndef WG_CHAIN_H
#define WG_CHAIN_H

#include "observe/packets.h"
#include "observe/tracks.h"

/* Cycles of one track that belong to one instruction and one cause. */
typedef struct wg_cost {
    uint32_t pc, word; /* the instruction; both 0: none */
    uint32_t address;  /* the polled address */
    uint32_t ended_pc; /* of polling: the instruction that ended it; 0: not known */
    union {
        uint16_t resource;   /* as in wg_stall */
        uint16_t ended_core; /* of polling: the core whose program contains `ended_pc` */
    };
    uint8_t holder; /* the agent that ended it, if it is a wait and that is known; else WG_AGENT_NONE */
    uint8_t track;  /* wg_agent */
    uint8_t core;   /* the core whose program contains `pc` */
    uint8_t doing;  /* wg_doing; of a packet: wg_flight */
    uint16_t tile;  /* 1 + the tile that ended it, or of a packet: its other end; 0: none */
    uint64_t cycles;
    uint64_t times; /* number of occurrences */
} wg_cost;

/*
 * Pieces of the path with a packet in flight. Their track is WG_AGENT_NIU0 or 1, or WG_AGENT_LINK for a frame, `pc` is that of
 * the command; a tile alone sends to itself.
 */
typedef enum wg_flight {
    WG_FLIGHT_REQUEST = WG_DOING_WORK, /* to the other tile */
    WG_FLIGHT_THERE,                   /* the other tile's NIU has it, and has not answered yet */
    WG_FLIGHT_ANSWER,                  /* on the way back */
    WG_FLIGHT_BOTH                     /* all three: the other tile is not observed */
} wg_flight;
static inline bool wg_track_is_niu(unsigned track) { return track == WG_AGENT_NIU0 || track == WG_AGENT_NIU1; }
static inline bool wg_track_flies(unsigned track) { return wg_track_is_niu(track) || track == WG_AGENT_LINK; }
const char *wg_flight_name(unsigned track, unsigned flight);

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

/* The activities of each track, in order. The latest links are kept. */
enum { WG_CHAIN_LINKS = 1 << 18 };
typedef struct wg_chain {
    wg_link *link[WG_TRACKS];
    size_t count[WG_TRACKS], room[WG_TRACKS];
    wg_packets packets;
    size_t most; /* links of a track; 0: WG_CHAIN_LINKS */
    bool failed; /* out of memory */
} wg_chain;

/* [from, to) follows the track's previous links. */
void wg_chain_note(wg_chain *c, uint64_t from, uint64_t to, const wg_cost *what);
/* The last link of a track, or NULL. */
wg_link *wg_chain_last(wg_chain *c, unsigned track);
/* Where a path ends. */
typedef struct wg_chain_end {
    unsigned tile, track; /* track: WG_AGENT_NONE: the one that worked last, of any tile */
} wg_chain_end;
/*
 * The path through the tiles with these chains. Calls `piece` for each piece of it within [from, to), the latest first,
 * with the index of its tile; a packet's is that of the requesting core. Returns the cycle at which the path begins:
 * later than `from` if the links do not reach back that far.
 */
typedef void (*wg_piece_fn)(void *user, unsigned tile, const wg_link *piece);
uint64_t wg_chain_walk(const wg_chain *const *chain, unsigned tiles, uint64_t from, uint64_t to, wg_chain_end end,
                       wg_piece_fn piece, void *user);

/*
 * The same in steps, for tiles that are in several processes: the path goes on where the sender of a frame is.
 *
 *     here                                              there
 *     wg_walk_on() ──frame──► is it there? ──────────► wg_walk_sent()
 *     wg_walk_leave() ◄───────────────────── yes ─────► wg_walk_enter(), wg_walk_on() …
 *     wg_walk_stay(), wg_walk_on() … ◄────── nowhere
 */
typedef struct wg_walk {
    const wg_chain *const *chain;
    unsigned tiles;
    uint64_t from, at;    /* at: the cycles from here on are charged */
    unsigned tile, track; /* where the path is */
    uint32_t asked;       /* tracks that it has passed in this cycle */
    const wg_link *polled;
    wg_piece_fn piece;
    void *user;
} wg_walk;
typedef struct wg_walk_frame {
    uint32_t end; /* of the link, at its sender */
    uint64_t number;
    uint64_t arrived, at; /* arrived: no later than `at`, where the path is */
} wg_walk_frame;
/* Moves to the track of any tile that worked last, and returns the end of that work; 0 if no track worked. */
uint64_t wg_walk_last(wg_walk *w);
/* True: the path goes along a frame; false: it has ended, in cycle w->at. */
bool wg_walk_on(wg_walk *w, wg_walk_frame *f);
bool wg_walk_sent(const wg_walk *w, const wg_walk_frame *f); /* by one of these tiles, as far as is known */
void wg_walk_leave(wg_walk *w, const wg_walk_frame *f);
void wg_walk_enter(wg_walk *w, const wg_walk_frame *f);
void wg_walk_stay(wg_walk *w);
void wg_chain_free(wg_chain *c);

#endif
