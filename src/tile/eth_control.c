/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tile control, debug and status registers of an Ethernet tile, 0xFFB12000 to 0xFFB12FFF; and, on Wormhole, the PIC
 * after them.
 *
 *     0x080 … 0x08C   the cores' debug interface (risc_debug.c)
 *     0x0B8, 0x0BC    instruction prefetcher (prefetch.c)
 *     0x1B0           soft reset: one bit per core (soft_reset.c)
 *     0x1E0 … 0x1E8   countdown timer 0x1F0 … 0x1F8   cycle counter
 *
 * Many registers with a function in a Tensix tile are spare here: 32 bits for general use.
 *
 * Facts: WormholeB0/EthernetTile/TileControlDebugStatus.md, CycleCounters.md, SoftReset.md, InstructionCache.md. Blackhole has
 * no such pages; Decided here: its registers are the same.
 */
#include "machine/eth.h"

#include "machine/tile.h"
#include "isa/tile_regs.h"
#include "report/findings.h"

enum {
    BASE = 0xFFB12000,
    PIC = 0x1000,
    DBG_BUS_CNTL = 0x054,
    DBG_RD_DATA = 0x05C,
    RISC_DBG_CNTL_0 = 0x080,
    RISC_DBG_CNTL_1 = 0x084,
    RISC_DBG_STATUS_0 = 0x088,
    RISC_DBG_STATUS_1 = 0x08C,
    SOFT_RESET_0 = 0x1B0,
    WDT = 0x1E0,
    WDT_CNTL = 0x1E4,
    WDT_STATUS = 0x1E8,
    WALL_CLOCK_L = 0x1F0,
    WALL_CLOCK_NOW_H = 0x1F4,
    WALL_CLOCK_H = 0x1F8
};

/* First and last of the spare registers, and of those that only gate clocks or are read elsewhere. */
static bool is_storage(uint32_t offset)
{
    static const uint16_t ranges[][2] = {{0x000, 0x020}, {0x03C, 0x03C}, {0x058, 0x058}, {0x064, 0x064}, {0x070, 0x074},
                                         {0x07C, 0x07C}, {0x0A4, 0x0A4}, {0x0AC, 0x0B0}, {0x0B8, 0x0BC}, {0x0F0, 0x0F8},
                                         {0x200, 0x200}, {0x208, 0x214}, {0x224, 0x224}, {0x240, 0x248}};
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (offset >= ranges[i][0] && offset <= ranges[i][1])
            return true;
    return false;
}

static void not_modelled(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    wg_reg_id id = wg_tile_reg_at(t->arch->id, WG_REGS_DEBUG, offset, NULL);
    wg_findf(t, WG_F_UNIMPLEMENTED_REGISTER,
             (wg_finding){.agent = (uint8_t)agent,
                          .pc = pc,
                          .has_pc = agent <= WG_AGENT_CORE_T2,
                          .subject = BASE + offset,
                          .value = value},
             "0x%08x (%s) of an Ethernet tile", BASE + offset,
             id < WG_REG_COUNT ? wg_tile_regs[t->arch->id][id].name : "no known register");
}

/* ---- Countdown timer ---- */

static uint32_t wdt_read(wg_tile *t)
{
    const wg_eth *e = &t->regions.eth;
    if (!(e->wdt_cntl & 1))
        return e->wdt;
    wg_poll_disturb(t); /* the value depends on time */
    return t->sched.now >= e->wdt_zero ? 0 : (uint32_t)(e->wdt_zero - t->sched.now);
}

static void wdt_write(wg_tile *t, uint32_t value, uint32_t control)
{
    wg_eth *e = &t->regions.eth;
    e->wdt = value;
    e->wdt_cntl = control;
    e->wdt_zero = control & 1 ? t->sched.now + value : 0;
}

/* ---- Registers ---- */

uint32_t wg_eth_control_read(wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc)
{
    wg_tile_control *c = &t->regions.control;
    if (offset >= PIC && t->spec->eth->pic)
        return wg_pic_read(t, offset - PIC, agent, pc);
    uint32_t value;
    switch (offset) {
    case SOFT_RESET_0: return c->soft_reset;
    case DBG_BUS_CNTL: return c->word[DBG_BUS_CNTL / 4];
    case DBG_RD_DATA:
        if (!wg_daisychain_read(t, c->word[DBG_BUS_CNTL / 4], &value))
            not_modelled(t, offset, c->word[DBG_BUS_CNTL / 4], agent, pc);
        return value;
    case RISC_DBG_CNTL_0: return c->risc_debug.cntl0;
    case RISC_DBG_CNTL_1: return c->risc_debug.cntl1;
    case RISC_DBG_STATUS_0: return c->risc_debug.status0;
    case RISC_DBG_STATUS_1: return c->risc_debug.status1;
    case WDT: return wdt_read(t);
    case WDT_CNTL: return t->regions.eth.wdt_cntl;
    case WDT_STATUS: return wdt_read(t) == 0 && (t->regions.eth.wdt_cntl & 1);
    case WALL_CLOCK_L:
    case WALL_CLOCK_NOW_H:
    case WALL_CLOCK_H: return wg_timestamper_read(t, offset);
    default: break;
    }
    if (!is_storage(offset))
        not_modelled(t, offset, 0, agent, pc);
    return offset / 4 < WG_TILE_REG_WORDS ? c->word[offset / 4] : 0;
}

void wg_eth_control_write(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    wg_tile_control *c = &t->regions.control;
    if (offset >= PIC && t->spec->eth->pic) {
        wg_pic_write(t, offset - PIC, value, agent, pc);
        return;
    }
    switch (offset) {
    case SOFT_RESET_0: wg_soft_reset_write(t, value); return;
    case RISC_DBG_CNTL_0: wg_risc_debug_cntl(t, value); return;
    case RISC_DBG_CNTL_1: c->risc_debug.cntl1 = value; return;
    case RISC_DBG_STATUS_0:
    case RISC_DBG_STATUS_1:
    case WDT_STATUS:
    case WALL_CLOCK_NOW_H:
    case WALL_CLOCK_H: return;                                    /* read-only */
    case DBG_BUS_CNTL: c->word[DBG_BUS_CNTL / 4] = value; return; /* takes effect when DBG_RD_DATA is read */
    case DBG_RD_DATA: return;
    case WDT: wdt_write(t, value, t->regions.eth.wdt_cntl); return;
    case WDT_CNTL: wdt_write(t, wdt_read(t), value); return;
    case WALL_CLOCK_L: wg_timestamper_write(t, offset, value, agent, pc); return;
    default: break;
    }
    if (offset / 4 < WG_TILE_REG_WORDS)
        c->word[offset / 4] = value;
    if (!is_storage(offset))
        not_modelled(t, offset, value, agent, pc);
}
