/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of region handlers, and the handlers for unmapped addresses.
 *
 * Facts: BabyRISCV/README.md of WH, "Faults / exceptions": a load from unmapped memory usually never
 * returns, a store may stall forever or be discarded. Decided here: such a store is discarded.
 */
#include "machine/regions.h"

#include "report/findings.h"
#include "arch/address_map.h"
#include "machine/tile.h"
#include "tile/windows.h"

const wg_region_fn wg_region_handlers[WG_PATH_COUNT] = {
    [WG_PATH_SLOW_RAM] = wg_slow_ram,
    [WG_PATH_SYNC] = wg_sync_window,
    [WG_PATH_MAILBOX_READ] = wg_mailbox_read,
    [WG_PATH_MAILBOX_WRITE] = wg_mailbox_write,
    [WG_PATH_GPR] = wg_gpr_window,
    [WG_PATH_CONFIG] = wg_config_window,
    [WG_PATH_TDMA] = wg_tdma_window,
    [WG_PATH_MOP_CFG] = wg_mop_cfg_window,
    [WG_PATH_DST] = wg_dst_window,
    [WG_PATH_TILE_REGS] = wg_tile_regs_window,
    [WG_PATH_NIU0] = wg_niu_window,
    [WG_PATH_NIU1] = wg_niu_window,
    [WG_PATH_OVERLAY] = wg_overlay_window,
    [WG_PATH_ETH] = wg_eth_window,
    [WG_PATH_UNMAPPED] = wg_unmapped,
    [WG_PATH_HANG] = wg_hanging,
};

void wg_windows_reset(wg_tile *t)
{
    wg_mailboxes_reset(t);
    wg_pcbufs_reset(t);
    wg_tile_control_reset(t);
    wg_niu_regs_reset(t);
    wg_eth_reset(t);
}

void wg_windows_arrivals(wg_tile *t)
{
    wg_soft_reset_edges(t);
    wg_pic_arrivals(t);
}

void wg_report_unmapped(wg_tile *t, unsigned core, uint32_t pc, uint32_t address, wg_request_kind kind)
{
    const wg_map_row *near = wg_map_nearest(t->spec, core, address, kind == WG_REQ_WRITE);
    wg_findf(t, WG_F_CORE_UNMAPPED,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_B + core), .pc = pc, .has_pc = true, .subject = address},
             "%s 0x%08x; nearest for this core: %s, 0x%08x to 0x%08x",
             kind == WG_REQ_WRITE  ? "store to"
             : kind == WG_REQ_READ ? "load from"
                                   : "atomic on",
             address, near->name, near->first, near->last);
}

void wg_report_hanging(wg_tile *t, unsigned core, uint32_t pc, uint32_t address)
{
    wg_findf(t, WG_F_CORE_HANGING_STORE,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_B + core), .pc = pc, .has_pc = true, .subject = address},
             "%s stored to 0x%08x and hangs", t->spec->core[core].name, address);
}

wg_region_answer wg_unmapped(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)value;
    wg_report_unmapped(t, req->core, req->pc, req->address, (wg_request_kind)req->kind);
    if (req->kind == WG_REQ_WRITE)
        return WG_REGION_DONE;
    *why = (wg_stall){WG_STALL_HANGING_ACCESS, 0, WG_AGENT_NONE, WG_NEVER};
    return WG_REGION_NEVER;
}

wg_region_answer wg_hanging(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)value;
    wg_report_hanging(t, req->core, req->pc, req->address);
    *why = (wg_stall){WG_STALL_HANGING_ACCESS, 0, WG_AGENT_NONE, WG_NEVER};
    return WG_REGION_NEVER;
}

uint32_t wg_register_store(wg_tile *t, const wg_request *req)
{
    if (req->bytes >= 4)
        return req->data[0];
    uint32_t word = (req->data[0] & ((UINT32_C(1) << 8 * req->bytes) - 1)) << 8 * (req->address & 3);
    wg_findf(t, WG_F_NARROW_REGISTER_STORE,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_B + req->core),
                          .pc = req->pc,
                          .has_pc = true,
                          .subject = req->address,
                          .value = word},
             "%u byte(s) stored to 0x%08x; taken as the word 0x%08x", req->bytes, req->address, word);
    return word;
}
