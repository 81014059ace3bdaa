/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH: every core's data RAM at its slow address, for all cores and the NoC.
 *
 * Facts: BabyRISCV/README.md "Local Data RAM". Ruling: a T core's RAM of 4 KiB has two windows of that
 * size, one above the other, onto the same bytes.
 */
#include "machine/tile.h"
#include "tile/windows.h"

wg_region_answer wg_slow_ram(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    bool is_write = req->kind == WG_REQ_WRITE;
    wg_route r = wg_tile_route(t, req->core, req->address, is_write);
    unsigned owner = r.index % WG_CORES, bytes = req->bytes < 16 ? req->bytes : 16;
    if (is_write) {
        wg_core_ram_write(t, owner, r.offset, bytes, req->data);
    } else {
        value[0] = value[1] = value[2] = value[3] = 0;
        wg_core_ram_read(t, owner, r.offset, bytes, value);
    }
    return WG_REGION_DONE;
}
