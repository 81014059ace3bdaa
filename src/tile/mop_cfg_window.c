/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MOP configuration: nine write-only words per T core, those of its thread.
 *
 * Facts: MOPExpander.md "Configuration", PIPE-17. Loading them is undefined; it is reported.
 */
#include "machine/tile.h"
#include "tile/windows.h"

wg_region_answer wg_mop_cfg_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    wg_route r = wg_tile_route(t, req->core, req->address, req->kind == WG_REQ_WRITE);
    if (req->kind == WG_REQ_WRITE) {
        wg_mop_cfg_write(t, r.index % WG_THREADS, r.offset / 4, wg_register_store(t, req), req->pc);
        return WG_REGION_DONE;
    }
    value[0] = wg_mop_cfg_read(t, r.index % WG_THREADS, r.offset / 4, req->pc);
    return WG_REGION_DONE;
}
