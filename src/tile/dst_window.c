/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH: Dst as the T cores see it, at 0xFFBD8000, in one of six formats. regs/dst.c defines the formats and the effect of
 * accesses of other sizes.
 *
 * Facts: Dst.md "RISCV access to Dst".
 */
#include "report/findings.h"
#include "machine/tile.h"
#include "tile/windows.h"

wg_region_answer wg_dst_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    bool is_write = req->kind == WG_REQ_WRITE;
    wg_route r = wg_tile_route(t, req->core, req->address, is_write);
    bool documented = is_write ? wg_dst_riscv_write(t, r.index, r.offset, req->bytes, req->data)
                               : wg_dst_riscv_read(t, r.index, r.offset, req->bytes, value);
    if (!documented)
        wg_findf(t, WG_F_DST_WINDOW_ACCESS,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_B + req->core),
                              .pc = req->pc,
                              .has_pc = true,
                              .subject = req->address},
                 "%u bytes at 0x%08x are not one element of the window's format", req->bytes, req->address);
    return WG_REGION_DONE;
}
