/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What if something took less time, or more? Factors on the durations of a device.
 *
 *     a unit, or a line's instructions in it ──wg_takes()─────► how long an instruction takes in its unit
 *     a core, or a line's instructions in it ──riscv/exec.c────► when the next instruction may enter EX1
 *     NoC, DRAM, paths of memory ─────────────► constants in a copy of the architecture's descriptor (engine/what_if.c)
 *
 * Values do not change, only times. Where nothing is scaled, wg_tile.what_if is NULL.
 */
#ifndef WG_WHAT_IF_H
#define WG_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/event.h>
#include <waitgate/waitgate.h>

enum { WG_FACTOR_ONE = 1000, WG_FACTOR_MOST = 100 * WG_FACTOR_ONE }; /* factors are in thousandths */

/* The instructions of one pc: a core's own, and those that it pushes from there. */
typedef struct wg_scaled_pc {
    uint32_t pc;
    uint32_t factor;
    uint8_t core; /* that executes it; ignored for pushes of the host (WG_IS_HOST_PC) */
} wg_scaled_pc;

/* Groups of constants: engine/what_if.c. */
typedef enum wg_cost_group {
    WG_COST_NOC,
    WG_COST_DRAM,
    WG_COST_L1,
    WG_COST_SYNC,
    WG_COST_GPR,
    WG_COST_CONFIG,
    WG_COST_REGISTERS,
    WG_COST_FETCH,
    WG_COST_BRANCH,
    WG_COST_CLEAR,
    WG_COST_ETH,
    WG_COST_GROUPS
} wg_cost_group;
const char *wg_cost_group_name(unsigned group);

typedef struct wg_what_if {
    uint32_t agent[WG_AGENT_COUNT]; /* factors of units and cores */
    uint32_t group[WG_COST_GROUPS];
    const wg_scaled_pc *place; /* in order of wg_scaled_pc_order() */
    size_t places;
} wg_what_if;

/* All factors 1. */
void wg_what_if_begin(wg_what_if *w);
int wg_scaled_pc_order(const void *a, const void *b);
/* Can the durations of this agent be scaled? NULL: yes; else why not, as a clause that follows its name. */
const char *wg_cost_fixed(unsigned agent);

struct wg_device;
/* Scales the device from here on; `w` and its places must outlive it. NULL: nothing is scaled. */
wg_status wg_device_what_if(struct wg_device *dev, const wg_what_if *w);

/* A descriptor with scaled constants, to be freed; NULL without an error if `w` scales none. *ok: there was memory. */
struct wg_arch;
struct wg_arch *wg_what_if_arch(const struct wg_arch *unscaled, wg_profile profile, const wg_what_if *w, bool *ok);

/* `cycles` of this agent for the instruction at `pc`, scaled; no less than `least`, unless it is less already. */
uint32_t wg_takes_scaled(const wg_what_if *w, unsigned agent, unsigned core, uint32_t pc, uint32_t cycles,
                         uint32_t least);

/* What a core, or a thread at its gate, has taken less than it should have (or more: negative), in thousandths of a cycle. */
typedef struct wg_carry {
    int32_t rest;
    uint32_t free_jumps; /* in a row, that took no time */
} wg_carry;
/* wg_takes_scaled(), but fractions of a cycle and what `least` adds are carried over to what comes next. */
uint32_t wg_takes_carried(const wg_what_if *w, wg_carry *carry, unsigned agent, unsigned core, uint32_t pc,
                          uint32_t cycles, uint32_t least);
/* Scales the time until a core's result is there, as above, but does not change what is carried over. */
uint32_t wg_result_carried(const wg_what_if *w, const wg_carry *carry, unsigned core, uint32_t pc, uint32_t cycles);

#endif
