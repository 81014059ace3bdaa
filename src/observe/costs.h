/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile: attributes every cycle of every core, gate and unit to an instruction and a cause. The costs of a track
 * add up to the run, or to the requested part of it.
 *
 *   core   each cycle belongs to the instruction that enters EX1 in it, or waits to enter; while EX1 is occupied by an
 *          instruction that takes several cycles, to that one
 *   gate   to the instruction that passes or waits; stalls by a latched wait belong to the wait; an empty gate's cycles
 *          belong to the instruction that arrives next
 *   unit   to the oldest instruction in it
 *
 * A core polls while an iteration of a loop computes exactly the same as the previous one. The last writer of the word
 * ends it: a core, a thread's or unit's instruction, or a packet, whose sender is another tile.
 */
#ifndef WG_COSTS_H
#define WG_COSTS_H

#include "observe/chain.h"

/* The instruction that a unit's or a gate's cycles belong to. */
typedef struct wg_costs_insn {
    uint64_t id;
    uint32_t pc, word;
    uint8_t thread, core;
} wg_costs_insn;

enum { WG_COSTS_INSIDE = 64, WG_COSTS_STEPS = 64 };

/* A unit's instructions in order of acceptance. */
typedef struct wg_costs_unit {
    wg_costs_insn inside[WG_COSTS_INSIDE];
    unsigned count;
    uint8_t fed_by; /* the thread of the last instruction accepted */
    uint64_t done;  /* cycles before this one are charged */
    uint64_t first, last,
        busy; /* of the part that counts: [first, last) from the first instruction to the last; at work */
} wg_costs_unit;

/* A core's iteration of a loop, held until it is known whether it only repeats the previous one. */
typedef struct wg_costs_core {
    wg_link step[WG_COSTS_STEPS];
    unsigned steps;
    uint32_t pc; /* of the last instruction */
    uint32_t word;
    uint32_t executing_pc, executing_word; /* the last instruction when the present stall began */
    uint64_t done;
    uint64_t signature, before; /* of this iteration's and the previous one's results; 0: cannot be compared */
    uint32_t load_pc, load_word, address; /* of the iteration's first load */
    uint32_t r[32], known;                /* register values; bit i of known: r[i] does not come from a load */
    wg_link polled;                       /* iterations that only repeated; its length is 0 if there are none */
} wg_costs_core;

enum { WG_COSTS_WRITERS = 4096, WG_COSTS_BLOCKS = 64 };

/* A write to memory or a register. */
typedef struct wg_costs_write {
    uint64_t cycle;
    uint32_t address, bytes, pc;
    uint8_t agent, core; /* core: whose program contains `pc` */
} wg_costs_write;

/* The beginning or the end of a part of a run: a core executes this pc, or its store of this value is processed. */
typedef struct wg_milestone {
    enum { WG_MILESTONE_NONE, WG_MILESTONE_PC, WG_MILESTONE_STORE } kind;
    uint32_t address, value; /* address: the pc, or the target of the store */
} wg_milestone;
/* `l1`: the tile's L1 after the event. A store to L1 must be of the whole word. */
bool wg_milestone_is(const wg_milestone *stone, const wg_event *e, const uint8_t *l1);

typedef struct wg_costs {
    wg_tracks tracks;
    uint64_t from, to;                 /* the part of the run that counts; set before the run, or by the milestones */
    wg_milestone from_stone, to_stone; /* WG_MILESTONE_NONE: unused, or reached */
    uint8_t ended_by;                  /* the core that reached the last milestone; WG_AGENT_NONE: none did */
    wg_costs_insn latch[3];            /* the latched wait of each thread */
    uint16_t unmet[3];                 /* what it is still for, as in WG_EV_UNMET; 0: one thing, or not known */
    uint8_t unmet_by[3];               /* … and the agent that must act for the lowest of these */
    bool cutting;                      /* the present stall goes on, charged to another condition */
    wg_costs_insn blamed[3];           /* owner of each gate's current stall */
    wg_costs_insn arriving[3];         /* instruction that arrived at an empty gate */
    wg_costs_unit unit[WG_TRACKS];     /* of units */
    wg_costs_core core[WG_TRACKS];     /* of cores */
    wg_cost_table table;               /* in no order until wg_costs_end() */
    uint8_t poster[8];                 /* last agent to change each semaphore */
    uint64_t posted[8];                /* … and when */
    wg_costs_write word[WG_COSTS_WRITERS]; /* the last write of a word, by a hash of the address */
    wg_costs_write block[WG_COSTS_BLOCKS]; /* the latest writes of more than a word */
    unsigned blocks;
    const uint8_t *l1;          /* of the tile */
    uint8_t pusher[WG_THREADS]; /* the core that pushed what passed each gate last */
    wg_chain chain;
} wg_costs;
#define WG_COSTS_EVENTS \
    (WG_TRACKS_EVENTS | WG_EV_BIT(WG_EV_LATCHED) | WG_EV_BIT(WG_EV_CORE_RETIRE) | WG_EV_BIT(WG_EV_CORE_REQUEST) | \
     WG_EV_BIT(WG_EV_SEMAPHORE) | WG_EV_BIT(WG_EV_UNMET) | WG_EV_BIT(WG_EV_TOUCH_L1) | WG_PACKETS_EVENTS)

void wg_costs_begin(wg_costs *p, uint64_t cycle, unsigned held);
/* The tile's place in its chip; `alone`: there is no chip. */
void wg_costs_place(wg_costs *p, wg_arch_id arch, unsigned tile, bool alone, const uint8_t *l1);
void wg_costs_event(void *costs, const wg_event *e);
/* Closes all intervals and sorts the costs, the largest of each track first. */
void wg_costs_end(wg_costs *p, uint64_t cycle);
void wg_costs_free(wg_costs *p);

#endif
