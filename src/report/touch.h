/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Touches: the locations that an instruction or a core reads or writes, in the cycle of the access.
 *
 * A unit first names the agent that acts (wg_touch_by), then locations with the helper of their space. While neither
 * WG_EV_TOUCH nor WG_EV_TOUCH_L1 is observed, this costs one predictable branch.
 */
#ifndef WG_TOUCH_H
#define WG_TOUCH_H

#include "report/emit.h"

static inline bool wg_touch_watched(const wg_tile *t) { return wg_watched(t, WG_EV_TOUCH); }
/* Are those of L1 observed? */
static inline bool wg_touch_l1_watched(const wg_tile *t)
{
    return wg_watched(t, WG_EV_TOUCH) || wg_watched(t, WG_EV_TOUCH_L1);
}

/* The following touches are those of `agent`, for this instruction. */
static inline void wg_touch_by(wg_tile *t, unsigned agent, const wg_insn *insn)
{
    if (wg_touch_l1_watched(t)) {
        t->acting = *insn;
        t->acting_agent = (uint8_t)agent;
    }
}

/* Until the next wg_touch_by(), no touches are emitted. */
static inline void wg_touch_by_nobody(wg_tile *t)
{
    if (wg_touch_l1_watched(t))
        t->acting.id = 0;
}

/* Out of line; call only while watched. `count` is a mask for the spaces that have masks. */
void wg_touch_emit(wg_tile *t, unsigned how, wg_touch_space space, uint32_t first, uint32_t count, unsigned part);
/* A write to configuration that does not change the bits in `kept`. */
void wg_touch_config_written(wg_tile *t, unsigned bank, unsigned word, uint32_t mask, uint32_t kept);
/* As wg_touch_emit(), for a core's access, and for its store to configuration. */
void wg_touch_core(wg_tile *t, unsigned core, uint32_t pc, unsigned how, wg_touch_space space, uint32_t first,
                   uint32_t count);
void wg_touch_core_config(wg_tile *t, unsigned core, uint32_t pc, uint32_t first, uint32_t kept);

static inline void wg_touch(wg_tile *t, unsigned how, wg_touch_space space, uint32_t first, uint32_t count)
{
    if (wg_touch_watched(t))
        wg_touch_emit(t, how, space, first, count, 0);
}
static inline void wg_touch_l1(wg_tile *t, unsigned how, uint32_t address, uint32_t bytes)
{
    if (wg_touch_l1_watched(t))
        wg_touch_emit(t, how, WG_TOUCH_L1, address, bytes, 0);
}
static inline void wg_touch_config(wg_tile *t, unsigned how, unsigned bank, unsigned word, uint32_t mask)
{
    wg_touch(t, how, WG_TOUCH_CONFIG, bank * 256 + word, mask);
}
static inline void wg_touch_thread_config(wg_tile *t, unsigned how, unsigned thread, unsigned word, uint32_t mask)
{
    wg_touch(t, how, WG_TOUCH_THREAD_CONFIG, thread * 256 + word, mask);
}
static inline void wg_touch_gpr(wg_tile *t, unsigned how, unsigned thread, unsigned reg, unsigned count)
{
    wg_touch(t, how, WG_TOUCH_GPR, (thread * 64 + reg) * 2, count * 2);
}
static inline void wg_touch_dst(wg_tile *t, unsigned how, unsigned stored_row, unsigned rows, bool wide)
{
    wg_touch(t, how | (wide ? WG_TOUCH_WIDE : 0u), WG_TOUCH_DST, stored_row, rows);
}
static inline void wg_touch_src(wg_tile *t, unsigned how, unsigned file, unsigned bank, unsigned row, unsigned rows)
{
    wg_touch(t, how, WG_TOUCH_SRC, (file * 2 + (bank & 1)) * 64 + (row & 63), rows);
}
static inline void wg_touch_lregs(wg_tile *t, unsigned how, uint32_t lregs)
{
    if (lregs)
        wg_touch(t, how, WG_TOUCH_LREG, 0, lregs);
}
/* Counters of one channel, by bit: X, Y, Z, W. */
static inline void wg_touch_adc(wg_tile *t, unsigned how, unsigned thread, unsigned unit, unsigned channel,
                                unsigned dimension, unsigned count)
{
    wg_touch(t, how, WG_TOUCH_ADC, ((thread * 3 + unit) * 2 + channel) * 4 + dimension, count);
}

#endif
