/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles of a run that depend on latencies neither measured nor documented (arch/constants.def: ASSUMED), in which
 *
 *     a unit executes an instruction with such a latency,
 *     a core waits for a load on such a path, or
 *     a core waits for an instruction fetch with such a latency.
 *
 * A cycle counts once in the total, and once for each of these that applies.
 *
 * And assumed constants of the NoC, DRAM and Ethernet, if the tile had such traffic. On how many cycles they bear is not
 * counted: a packet's time depends on all of them, and on those of other tiles.
 */
#ifndef WG_ASSUMED_H
#define WG_ASSUMED_H

#include "arch/constants.h"
#include <waitgate/event.h>

enum { WG_ASSUMED_INSIDE = 32, WG_ASSUMED_FETCH = WG_PATH_COUNT, WG_ASSUMED_NOT = 0xFF };

/* Kinds of traffic. */
enum {
    WG_TRAFFIC_READ = 1,
    WG_TRAFFIC_OTHER = 2, /* writes and atomics */
    WG_TRAFFIC_DRAM_READ = 4,
    WG_TRAFFIC_DRAM_WRITE = 8,
    WG_TRAFFIC_ETH = 16, /* software wrote to a queue */
};

typedef struct wg_assumed {
    wg_arch_id arch;
    wg_profile profile;
    uint8_t traffic; /* WG_TRAFFIC_… */
    uint64_t cycles; /* that depend on any */
    uint64_t latency[WG_I_COUNT];
    uint64_t wait[WG_PATH_COUNT + 1]; /* for loads by path, for fetches */
    /* Now: */
    uint64_t since, counted; /* an assumption applies since; cycles are counted up to */
    unsigned active;
    struct {
        uint64_t id, since;
        uint16_t insn;
        uint8_t unit;
        bool used;
    } inside[WG_ASSUMED_INSIDE]; /* units */
    uint8_t path[WG_CORES][32];  /* of the last load to each register */
    struct {
        uint64_t since; /* start of the wait */
        uint8_t what;   /* what it waits for: index of `wait`, or WG_ASSUMED_NOT */
    } core[WG_CORES];
} wg_assumed;

#define WG_ASSUMED_EVENTS \
    (WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_COMPLETED) | WG_EV_BIT(WG_EV_STALL_BEGIN) | \
     WG_EV_BIT(WG_EV_STALL_END) | WG_EV_BIT(WG_EV_CORE_REQUEST) | WG_EV_BIT(WG_EV_NOC_SENT))
void wg_assumed_begin(wg_assumed *a, wg_arch_id arch, wg_profile profile);
void wg_assumed_event(wg_assumed *a, const wg_event *e);
void wg_assumed_end(wg_assumed *a, uint64_t cycle);

/* The assumptions behind the cycles, the largest first: number i, or false. */
typedef struct wg_assumed_part {
    const char *what; /* an instruction's name, or a path of loads */
    const char *kind; /* "latency", "load", "fetch" */
    uint64_t cycles;
} wg_assumed_part;
bool wg_assumed_part_at(const wg_assumed *a, unsigned i, wg_assumed_part *part);

/* The traffic to which the constant applies; 0 if it is no constant of the NoC, DRAM or Ethernet. */
unsigned wg_assumed_traffic_of(const wg_constant *c);
/* The assumed constants that apply to the tile's traffic: number i, or NULL. */
const wg_constant *wg_assumed_constant_at(const wg_assumed *a, unsigned i);

#endif
