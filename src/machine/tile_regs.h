/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tile control, debug and status registers at 0xFFB12000, the PIC and the pc snapshots behind them.
 * Facts: TileControlDebugStatus.md, SoftReset.md, DebugTimestamper.md, PIC.md of each architecture.
 */
#ifndef WG_TILE_REGS_H
#define WG_TILE_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include "machine/agents.h"

enum { WG_TILE_REG_WORDS = 0x300 / 4 }; /* registers that are mere storage */

static inline bool wg_is_wall_clock(uint32_t address) { return address >> 4 == 0xFFB121F0 >> 4; }

/* The debug timestamper (DebugTimestamper.md); its counter is the cycle number. */
typedef struct wg_timestamper {
    struct {
        uint32_t start, end, position;
        bool valid, full, overflow;
    } buf[2]; /* in units of 16 bytes */
    uint32_t accum[4];
    uint8_t accum_position, event_size; /* event_size in words, 0: none yet */
    bool reset_streams;
    uint32_t cntl, counter_high_at;
} wg_timestamper;

enum { WG_PIC_SW = 32, WG_PIC_HW = 4, WG_PIC_IRQS = WG_PIC_SW + WG_PIC_HW };

/* BH: interrupts for B and NC. WH: a set of pending requests to poll. */
typedef struct wg_pic {
    uint32_t sw[WG_PIC_SW];              /* BH: value of the last write; 0: cleared */
    uint32_t hw;                         /* BH: raised hardware IRQs */
    uint32_t handler[WG_PIC_IRQS];       /* BH: pc of each handler */
    uint32_t sw_enable[2], hw_enable[2]; /* BH: for B, NC */
    uint8_t raised;                      /* BH: bit 0 B, bit 1 NC: an enabled IRQ is raised */
    uint8_t number[2];                   /* BH: the IRQ that interrupted B, NC */
    uint8_t turn[2];                     /* BH: round-robin arbitration, the IRQ to try first */
    uint32_t pending, enable, clkgt_en, clkgt_hyst, stream_type[8]; /* WH */
    uint8_t last_iterated;                                          /* WH: where PIC_NEXT_IRQ continues */
} wg_pic;

/* The debug interface of B, T0, T1, T2 (risc_debug.c). */
enum { WG_RISC_DEBUG_CORES = 4, WG_DRS = 18 };
typedef struct wg_risc_debug {
    uint32_t cntl0, cntl1, status0, status1;
    uint32_t dr[WG_RISC_DEBUG_CORES][WG_DRS];
} wg_risc_debug;

typedef struct wg_tile_control {
    uint32_t word[WG_TILE_REG_WORDS]; /* registers without a separate field: the last value written */
    uint32_t soft_reset;              /* RISCV_DEBUG_REG_SOFT_RESET_0 as written */
    uint32_t soft_reset_seen;         /* its value when the edges were last processed */
    uint32_t entry[5];                /* where a core released by the API starts */
    uint8_t entry_given;              /* bit wg_core_id */
    uint32_t config_rddata;           /* RISCV_DEBUG_REG_CFGREG_RDDATA */
    uint32_t instrn_ctrl0, instrn_ctrl1;
    wg_risc_debug risc_debug;
    wg_timestamper timestamper;
    wg_pic pic;
} wg_tile_control;

/*
 * Schedules phase A: of the coming cycle if a host causes it between two cycles (the host's pokes come first in that phase),
 * else of the next.
 */
static inline void wg_arrive(wg_schedule *s)
{
    wg_wake_at(s, WG_AGENT_HOST, s->phase == WG_PHASE_ARRIVALS ? s->now : s->now + 1);
}

struct wg_tile;
void wg_tile_control_reset(struct wg_tile *t);
/* As a core would read it, without side effects; false: reading it has some, or is reported. */
bool wg_tile_reg_peek(const struct wg_tile *t, uint32_t offset, uint32_t *value);
/* One word, by offset from 0xFFB12000; `agent` (wg_agent) and pc for findings. */
uint32_t wg_tile_reg_read(struct wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc);
void wg_tile_reg_write(struct wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);

/* Soft reset (src/tile/soft_reset.c). */
void wg_soft_reset_write(struct wg_tile *t, uint32_t value);
/* The API's release: clears the core's bit; it starts at `entry`, or at its reset vector if that is UINT32_MAX. */
void wg_soft_reset_release(struct wg_tile *t, unsigned core, uint32_t entry);
void wg_soft_reset_hold(struct wg_tile *t, unsigned core);
/* Phase A: the edges of the reset bits written since; cores start and stop here. */
void wg_soft_reset_edges(struct wg_tile *t);
uint32_t wg_reset_vector(const struct wg_tile *t, unsigned core);
/* Does leaving soft reset clear the core's RAM (BH: unless RISCV_DEBUG_REG_DISABLE_RESET disables it; WH's keeps its contents:
 * SoftReset.md mentions no clearing), and does entering it clear the registers of its debug interface (likewise)? */
bool wg_reset_clears_ram(const struct wg_tile *t, unsigned core);
bool wg_reset_clears_debug(const struct wg_tile *t, unsigned core);
/* Is a unit held in reset by any bit of `mask`? */
static inline bool wg_in_soft_reset(const wg_tile_control *r, uint32_t mask)
{
    return (r->soft_reset_seen & mask) != 0;
}

enum { WG_RESET_DST = 1 << 17 };
enum { WG_RESET_UNITS = 1 << 0 | 1 << 1 | 1 << 7 | 1 << 8 | 1 << 10 }; /* bits that hold some unit */
/* Does soft reset keep instructions out of this unit (wg_unit)? Packers, Mover and Scalar Unit have more of their own. */
bool wg_unit_held(const struct wg_tile *t, unsigned unit);

/* RISC_DBG_CNTL_0 is written. */
void wg_risc_debug_cntl(struct wg_tile *t, uint32_t value);
/* DBG_RD_DATA, for this value of DBG_BUS_CNTL; false: it presents something that is not modelled. */
bool wg_daisychain_read(struct wg_tile *t, uint32_t control, uint32_t *value);
/* A core enters soft reset: its DR registers are zero. */
void wg_risc_debug_core_reset(struct wg_tile *t, unsigned core);

/* Timestamper, by offset from 0xFFB12000 (0x1F0 … 0x217); to peek has no side effects. */
uint32_t wg_timestamper_peek(const struct wg_tile *t, uint32_t offset);
uint32_t wg_timestamper_read(struct wg_tile *t, uint32_t offset);
void wg_timestamper_write(struct wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);

/* PIC, by offset from 0xFFB13000. */
uint32_t wg_pic_read(struct wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc);
void wg_pic_write(struct wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);
/* Phase A: interrupts B and NC if an enabled IRQ is raised and they run no handler. */
void wg_pic_arrivals(struct wg_tile *t);
/* A core executed mret, or left reset: a raised IRQ may interrupt it from the next cycle on. */
void wg_pic_returned(struct wg_tile *t);
/* WH: an IRQ's condition became true. */
void wg_pic_edge(struct wg_tile *t, unsigned irq);
/* A hardware IRQ of BH is raised or lowered. */
void wg_pic_level(struct wg_tile *t, unsigned irq, bool raised);

#endif
