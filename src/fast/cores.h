/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the shortcuts of cores. */
#ifndef WG_FAST_CORES_H
#define WG_FAST_CORES_H

#include "riscv/lsu.h"
#include "riscv/pipeline.h"

static inline uint32_t line_of(uint32_t address) { return address & ~(uint32_t)(WG_L1_LINE - 1); }

/* The cached line that holds pc; NULL: absent or not checked. `sets`: the number of sets, minus one. */
static inline const wg_icache_line *wg_line_at(const wg_core *k, uint32_t sets, uint32_t pc)
{
    const uint32_t tag = (pc & ~15u) | WG_LINE_VALID;
    const wg_icache_line *line = &k->icache[(pc >> 4 & sets) * 2];
    if (line->tag != tag && (++line)->tag != tag)
        return NULL;
    return line->checked == k->epoch ? line : NULL;
}

/* Copies a member to a checkpoint, or back. */
#define WG_COPY(back, there, here) \
    ((back) ? memcpy(&(here), &(there), sizeof(here)) : memcpy(&(there), &(here), sizeof(here)))

/* Logs a line of L1 before a write that may be rolled back. */
static inline void wg_log_line(wg_l1_undo *u, const uint8_t *l1, uint32_t address)
{
    u->line = line_of(address);
    memcpy(u->old, l1 + u->line, WG_L1_LINE);
}
/* Undoes the `count` writes of the log, newest first. */
static inline void wg_undo_lines(uint8_t *l1, const wg_l1_undo *log, uint32_t *count)
{
    while (*count) {
        const wg_l1_undo *u = &log[--*count];
        memcpy(l1 + u->line, u->old, WG_L1_LINE);
    }
}

/* lines.c: executes whole cache lines that end before `stop`. */
void wg_exec_lines(wg_tile *t, unsigned core, uint64_t stop);
/* ahead.c: restores what `saved` does not hold: the flags, and everything in the undo log. */
void wg_ahead_undo(wg_core *k);
/* core_groups.c: a core that ran ahead through L1 was rolled back; repeats the run up to the current cycle. */
void wg_group_repeat(wg_tile *t, unsigned core);

#endif
