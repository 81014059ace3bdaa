/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tile control, debug and status registers, 0xFFB12000 to 0xFFB12FFF, for every core and the NoC.
 *
 *     0x054 0x05C   the debug daisychain (risc_debug.c)
 *     0x058 0x078   read back backend configuration
 *     0x068         DBG_FEATURE_DISABLE (bit 11: how Dst is addressed)
 *     0x080 … 0x08C the cores' debug interface (risc_debug.c)
 *     0x090         PC buffer override
 *     0x0A0 … 0x0A8 push Tensix instructions through the debug bus, state of the FIFOs
 *     0x1B0         soft reset (soft_reset.c)
 *     0x1F0 … 0x214 wall clock and debug timestamper (timestamper.c)
 *     0x224 … 0x23C BH: state that reset preserves, reset vectors
 *
 * Names and reset values are those of isa/tile_regs.def. A register without an effect here is reported once by name, and
 * otherwise only stores; clock gating registers have no visible effect and are not reported.
 *
 * Facts: TileControlDebugStatus.md and the pages it names; BackendConfiguration.md "Debug registers".
 */
#include "backend/config.h"
#include "report/findings.h"
#include "isa/tile_regs.h"
#include "machine/tile.h"
#include "tile/windows.h"

enum {
    BASE = 0xFFB12000,
    PIC = 0x1000,
    DBG_BUS_CNTL = 0x054,
    CFGREG_RD_CNTL = 0x058,
    DBG_RD_DATA = 0x05C,
    DBG_ARRAY_RD_EN = 0x060,
    DBG_ARRAY_RD_CMD = 0x064,
    DBG_FEATURE_DISABLE = 0x068,
    DBG_ARRAY_RD_DATA = 0x06C,
    CFGREG_RDDATA = 0x078,
    PC_BUF_OVERRIDE = 0x090,
    RISC_DBG_CNTL_0 = 0x080,
    RISC_DBG_CNTL_1 = 0x084,
    RISC_DBG_STATUS_0 = 0x088,
    RISC_DBG_STATUS_1 = 0x08C,
    INSTRN_BUF_CTRL0 = 0x0A0,
    INSTRN_BUF_CTRL1 = 0x0A4,
    INSTRN_BUF_STATUS = 0x0A8,
    SOFT_RESET_0 = 0x1B0,
    WALL_CLOCK_L = 0x1F0,
    TIMESTAMPER_LAST = 0x214
};

void wg_tile_control_reset(wg_tile *t)
{
    wg_tile_control *c = &t->regions.control;
    *c = (wg_tile_control){0};
    for (unsigned id = 0; id < WG_REG_COUNT; id++) {
        const wg_tile_reg *r = &wg_tile_regs[t->arch->id][id];
        if (r->list == WG_REGS_DEBUG && r->count && r->reset_known)
            c->word[r->offset / 4 % WG_TILE_REG_WORDS] = r->reset;
    }
    c->soft_reset = 0;
    for (unsigned i = 0; i < t->spec->cores; i++)
        c->soft_reset |= t->spec->core[i].reset_bit;
    c->soft_reset_seen = c->soft_reset;
    c->timestamper.cntl = 3;
    c->timestamper.buf[0].valid = c->timestamper.buf[1].valid = true;
    c->pic.clkgt_hyst = 3;
}

/* Registers that only store a value read elsewhere, or that only gate clocks. */
static bool is_storage(const wg_tile *t, uint32_t offset)
{
    static const uint16_t ids[] = {
        WG_REG_DEBUG_dbg_feature_disable,
        WG_REG_DEBUG_disable_reset,
        WG_REG_DEBUG_trisc0_reset_pc,
        WG_REG_DEBUG_trisc1_reset_pc,
        WG_REG_DEBUG_trisc2_reset_pc,
        WG_REG_DEBUG_trisc_reset_pc_override,
        WG_REG_DEBUG_ncrisc_reset_pc,
        WG_REG_DEBUG_ncrisc_reset_pc_override,
        WG_REG_DEBUG_dest_cg_ctrl,
        WG_REG_DEBUG_cg_ctrl_en,
        WG_REG_DEBUG_cg_kick,
        WG_REG_DEBUG_cg_ctrl_hyst0,
        WG_REG_DEBUG_cg_ctrl_hyst1,
        WG_REG_DEBUG_cg_ctrl_hyst2,
    };
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++) {
        const wg_tile_reg *r = &wg_tile_regs[t->arch->id][ids[i]];
        if (r->count && r->offset == offset)
            return true;
    }
    return false;
}

static void not_modelled(wg_tile *t, uint32_t offset, bool is_write, uint32_t value, unsigned agent, uint32_t pc)
{
    unsigned element = 0;
    wg_reg_id id = wg_tile_reg_at(t->arch->id, WG_REGS_DEBUG, offset, &element);
    const char *name = id < WG_REG_COUNT ? wg_tile_regs[t->arch->id][id].name : "no known register";
    wg_findf(t, WG_F_UNIMPLEMENTED_REGISTER,
             (wg_finding){.agent = (uint8_t)agent,
                          .pc = pc,
                          .has_pc = agent <= WG_AGENT_CORE_T2,
                          .subject = BASE + offset,
                          .value = value},
             "%s of 0x%08x (%s)", is_write ? "write" : "read", BASE + offset, name);
}

/*
 * Two datums of a stored row of Dst, as the public debug kernels read them: row in bits 0-11 of the command, pair in bits
 * 12-15, the array in bits 16-18. Facts: those kernels, ttsim. Decided here: the read is immediate, and only Dst can be read.
 */
static uint32_t array_read(wg_tile *t, unsigned agent, uint32_t pc)
{
    enum { ARRAY_DST = 2 };
    const wg_tile_control *c = &t->regions.control;
    uint32_t command = c->word[DBG_ARRAY_RD_CMD / 4], row = command & 0xFFF, pair = command >> 12 & 15;
    if (!(c->word[DBG_ARRAY_RD_EN / 4] & 1) || command >> 16 != ARRAY_DST || row >= WG_DST_ROWS || pair >= 8) {
        not_modelled(t, DBG_ARRAY_RD_DATA, false, command, agent, pc);
        return 0;
    }
    const wg_dst *d = &t->regs.dst;
    if (t->arch->array_read_blanks && d->undefined[row / 64] >> (row % 64) & 1)
        return 0;
    return d->bits[row][2 * pair] | (uint32_t)d->bits[row][2 * pair + 1] << 16;
}

/* A rising push bit pushes, if the debug bus owns that FIFO. */
static void instrn_buf_ctrl0(wg_tile *t, uint32_t value, unsigned agent, uint32_t pc)
{
    wg_tile_control *c = &t->regions.control;
    uint32_t rising = value & ~c->instrn_ctrl0;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        if ((value ^ c->instrn_ctrl0) >> i & 1)
            wg_debug_control(t, i, value >> i & 1);
        if (!(rising >> (4 + i) & 1) || !(value >> i & 1))
            continue;
        if (wg_replay_fifo_full(t, i))
            wg_findf(t, WG_F_DEBUG_PUSH_FULL,
                     (wg_finding){.agent = (uint8_t)agent,
                                  .pc = pc,
                                  .has_pc = agent <= WG_AGENT_CORE_T2,
                                  .subject = i,
                                  .word = c->instrn_ctrl1,
                                  .has_word = true},
                     "the FIFO before thread %u's Replay Expander is full", i);
        else
            wg_debug_push(t, i, c->instrn_ctrl1);
    }
    c->instrn_ctrl0 = value & 0xFF;
}

bool wg_tile_reg_peek(const wg_tile *t, uint32_t offset, uint32_t *value)
{
    const wg_tile_control *c = &t->regions.control;
    if (t->spec->eth || offset >= PIC)
        return false;
    if (offset >= WALL_CLOCK_L && offset <= TIMESTAMPER_LAST) {
        *value = wg_timestamper_peek(t, offset);
        return true;
    }
    switch (offset) {
    case SOFT_RESET_0: *value = c->soft_reset; return true;
    case DBG_BUS_CNTL:
    case CFGREG_RD_CNTL: *value = c->word[offset / 4]; return true;
    case CFGREG_RDDATA: *value = c->config_rddata; return true;
    case PC_BUF_OVERRIDE: *value = t->regions.pcbuf.override; return true;
    case RISC_DBG_CNTL_0: *value = c->risc_debug.cntl0; return true;
    case RISC_DBG_CNTL_1: *value = c->risc_debug.cntl1; return true;
    case RISC_DBG_STATUS_0: *value = c->risc_debug.status0; return true;
    case RISC_DBG_STATUS_1: *value = c->risc_debug.status1; return true;
    case INSTRN_BUF_CTRL0: *value = c->instrn_ctrl0; return true;
    case INSTRN_BUF_CTRL1: *value = c->instrn_ctrl1; return true;
    case INSTRN_BUF_STATUS: *value = wg_instrn_buf_status(t); return true;
    default: break;
    }
    if (!is_storage(t, offset))
        return false;
    *value = c->word[offset / 4 % WG_TILE_REG_WORDS];
    return true;
}

uint32_t wg_tile_reg_read(wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc)
{
    const wg_tile_control *c = &t->regions.control;
    uint32_t value;
    if (t->spec->eth)
        return wg_eth_control_read(t, offset, agent, pc);
    if (offset >= PIC)
        return wg_pic_read(t, offset - PIC, agent, pc);
    if (offset >= WALL_CLOCK_L && offset <= TIMESTAMPER_LAST)
        return wg_timestamper_read(t, offset);
    if (wg_tile_reg_peek(t, offset, &value))
        return value;
    if (offset == DBG_RD_DATA) {
        if (!wg_daisychain_read(t, c->word[DBG_BUS_CNTL / 4], &value))
            not_modelled(t, offset, false, c->word[DBG_BUS_CNTL / 4], agent, pc);
        return value;
    }
    if (offset == DBG_ARRAY_RD_DATA)
        return array_read(t, agent, pc);
    not_modelled(t, offset, false, 0, agent, pc);
    return offset / 4 < WG_TILE_REG_WORDS ? c->word[offset / 4] : 0;
}

void wg_tile_reg_write(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    wg_tile_control *c = &t->regions.control;
    if (t->spec->eth) {
        wg_eth_control_write(t, offset, value, agent, pc);
        return;
    }
    if (offset >= PIC) {
        wg_pic_write(t, offset - PIC, value, agent, pc);
        return;
    }
    if (offset >= WALL_CLOCK_L && offset <= TIMESTAMPER_LAST) {
        wg_timestamper_write(t, offset, value, agent, pc);
        return;
    }
    if (offset / 4 < WG_TILE_REG_WORDS)
        c->word[offset / 4] = value;
    switch (offset) {
    case SOFT_RESET_0: wg_soft_reset_write(t, value); return;
    /* Decided here: read back at once, where hardware takes a few cycles. */
    case CFGREG_RD_CNTL: c->config_rddata = wg_config_debug_read(t, value & 0x7FF); return;
    case CFGREG_RDDATA: return; /* read-only, as the status */
    case DBG_BUS_CNTL:
    case DBG_RD_DATA: return; /* evaluated when it is read */
    case DBG_ARRAY_RD_EN:
    case DBG_ARRAY_RD_CMD: return; /* used by array_read() */
    case INSTRN_BUF_STATUS: return;
    case PC_BUF_OVERRIDE: wg_pcbuf_override(t, value); return;
    case RISC_DBG_CNTL_0: wg_risc_debug_cntl(t, value); return;
    case RISC_DBG_CNTL_1: c->risc_debug.cntl1 = value; return;
    case RISC_DBG_STATUS_0:
    case RISC_DBG_STATUS_1: return; /* read-only */
    case INSTRN_BUF_CTRL0: instrn_buf_ctrl0(t, value, agent, pc); return;
    case INSTRN_BUF_CTRL1: c->instrn_ctrl1 = value; return;
    default: break;
    }
    if (!is_storage(t, offset) || (offset == DBG_FEATURE_DISABLE && value & ~(1u << 11)))
        not_modelled(t, offset, true, value, agent, pc);
}

wg_region_answer wg_tile_regs_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    uint32_t offset = (req->address & ~UINT32_C(3)) - BASE;
    unsigned agent = WG_AGENT_CORE_B + req->core;
    if (req->kind == WG_REQ_WRITE)
        wg_tile_reg_write(t, offset, wg_register_store(t, req), agent, req->pc);
    else
        value[0] = wg_narrow(req, wg_tile_reg_read(t, offset, agent, req->pc));
    return WG_REGION_DONE;
}
