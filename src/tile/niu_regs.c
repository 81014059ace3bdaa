/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of the two NIUs and the overlay streams. There is no NoC behind them: they store what
 * is written, identification reads true, and a request that is started says so and does not happen.
 *
 * Facts: NoC/MemoryMap.md of each architecture; names and offsets from isa/tile_regs.def.
 */
#include "backend/config.h"
#include "tile/niu_regs.h"

#include "explain/findings.h"
#include "isa/tile_regs.h"
#include "tile/tile.h"
#include "tile/windows.h"

void wg_niu_regs_reset(wg_tile *t)
{
    uint16_t coordinate = t->regions.niu.coordinate;
    t->regions.niu = (wg_niu_regs){.coordinate = coordinate};
}

static void not_modelled(wg_tile *t, uint32_t address, uint32_t value, const char *what, unsigned agent, uint32_t pc)
{
    wg_findf(t, WG_F_UNIMPLEMENTED_REGISTER,
             (wg_finding){.agent = (uint8_t)agent, .pc = pc, .has_pc = agent <= WG_AGENT_CORE_T2, .subject = address,
                          .value = value},
             "0x%08x: %s", address, what);
}

/* The tile's place on this NoC, the size of the grid and the routing direction (NoC/MemoryMap.md, NOC_NODE_ID). */
static uint32_t node_id(const wg_tile *t, unsigned noc)
{
    static const struct { uint8_t width, height; } grid[2] = {[WG_ARCH_BH] = {17, 12}, [WG_ARCH_WH] = {10, 12}};
    uint32_t w = grid[t->arch->id].width, h = grid[t->arch->id].height;
    uint32_t x = t->regions.niu.coordinate & 63, y = t->regions.niu.coordinate >> 6 & 63;
    if (noc) {
        x = (w - 1 - x) & 63;
        y = (h - 1 - y) & 63;
    }
    return x | y << 6 | w << 12 | h << 19 | (uint32_t)!noc << 28;
}

uint32_t wg_niu_read(wg_tile *t, unsigned noc, uint32_t offset, unsigned agent, uint32_t pc)
{
    (void)agent;
    (void)pc;
    const wg_tile_reg *regs = wg_tile_regs[t->arch->id];
    if (offset == regs[WG_REG_NIU_noc_node_id].offset || offset == regs[WG_REG_NIU_noc_id_logical].offset)
        return node_id(t, noc & 1);
    return offset / 4 < WG_NIU_WORDS ? t->regions.niu.word[noc & 1][offset / 4] : 0;
}

void wg_niu_write(wg_tile *t, unsigned noc, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    unsigned element = 0;
    wg_reg_id id = wg_tile_reg_at(t->arch->id, WG_REGS_NIU, offset, &element);
    uint32_t address = 0xFFB20000 + 0x10000 * (noc & 1) + offset;
    if (id == WG_REG_NIU_noc_cmd_ctrl) {
        if (value & 1)
            not_modelled(t, address, value, "a NoC request was started; there is no NoC yet", agent, pc);
        return;   /* the bit reads as 0: no request is pending */
    }
    if (id >= WG_REG_COUNT)
        not_modelled(t, address, value, "no register of the NIU is known there", agent, pc);
    else if (wg_tile_regs[t->arch->id][id].access == WG_REG_RO)
        return;
    if (offset / 4 < WG_NIU_WORDS)
        t->regions.niu.word[noc & 1][offset / 4] = value;
}

uint32_t wg_overlay_read(wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc)
{
    (void)agent;
    (void)pc;
    unsigned stream = offset / 0x1000 % WG_OVERLAY_STREAMS, reg = offset % 0x1000 / 4;
    return reg < WG_OVERLAY_REGISTERS ? t->regions.niu.overlay[stream][reg] : 0;
}

/*
 * Software uses streams as counters (NoC/Overlay/AsGeneralUse.md): the buffer size, 17 bits, also sets the
 * space available, and an update adds its bits from the sixth on to that.
 */
static bool overlay_counter(wg_tile *t, unsigned stream, wg_reg_id id, uint32_t value)
{
    const wg_tile_reg *available = &wg_tile_regs[t->arch->id][WG_REG_STREAM_remote_dest_buf_space_available];
    uint32_t *count = &t->regions.niu.overlay[stream][available->offset / 4 % WG_OVERLAY_REGISTERS];
    if (id == WG_REG_STREAM_remote_dest_buf_size)
        *count = value & 0x1FFFF;
    else if (id == WG_REG_STREAM_remote_dest_buf_space_available_update)
        *count = (*count + (value >> 6)) & 0x1FFFF;
    return id != WG_REG_STREAM_remote_dest_buf_size && id < WG_REG_COUNT &&
           wg_tile_regs[t->arch->id][id].access != WG_REG_RW;
}

void wg_overlay_write(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    unsigned stream = offset / 0x1000 % WG_OVERLAY_STREAMS, reg = offset % 0x1000 / 4;
    wg_reg_id id = wg_tile_reg_at(t->arch->id, WG_REGS_STREAM, offset % 0x1000, NULL);
    wg_wake_threads(&t->sched);   /* STREAMWAIT looks at streams */
    if (overlay_counter(t, stream, id, value))
        return;
    if (id >= WG_REG_COUNT)
        not_modelled(t, 0xFFB40000 + offset, value, "an overlay stream register; there is no overlay yet", agent, pc);
    if (reg < WG_OVERLAY_REGISTERS)
        t->regions.niu.overlay[stream][reg] = value;
}

wg_region_answer wg_niu_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    uint32_t offset = req->address & 0xFFFC;
    unsigned noc = req->path == WG_PATH_NIU1, agent = WG_AGENT_CORE_B + req->core;
    if (req->kind == WG_REQ_WRITE)
        wg_niu_write(t, noc, offset, wg_register_store(t, req), agent, req->pc);
    else
        value[0] = wg_narrow(req, wg_niu_read(t, noc, offset, agent, req->pc));
    return WG_REGION_DONE;
}

wg_region_answer wg_overlay_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    uint32_t offset = (req->address - 0xFFB40000) & 0x3FFFC;
    unsigned agent = WG_AGENT_CORE_B + req->core;
    if (req->kind == WG_REQ_WRITE)
        wg_overlay_write(t, offset, wg_register_store(t, req), agent, req->pc);
    else
        value[0] = wg_narrow(req, wg_overlay_read(t, offset, agent, req->pc));
    wg_config_overlay_busy(t);   /* STREAMWRCFG reads there too */
    return WG_REGION_DONE;
}
