/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Scalar Unit's GPRs as cores see them: B all 192, a T core the 64 of its thread.
 *
 * Facts: ScalarUnit.md "RISCV access to GPRs", PIPE-24. Decided here: the window behaves like memory; a narrow store changes
 * only its bytes.
 */
#include <string.h>

#include "machine/tile.h"
#include "tile/windows.h"

wg_region_answer wg_gpr_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    wg_route r = wg_tile_route(t, req->core, req->address, req->kind == WG_REQ_WRITE);
    uint32_t at = r.index * (uint32_t)sizeof t->regs.gpr.r[0] + r.offset;
    uint32_t room = (uint32_t)sizeof t->regs.gpr.r - at, bytes = req->bytes < room ? req->bytes : room;
    uint8_t *gpr = (uint8_t *)t->regs.gpr.r + at;
    if (req->kind == WG_REQ_WRITE) {
        memcpy(gpr, req->data, bytes);
        wg_gpr_take_port(&t->regs.gpr, t->sched.now);
    } else {
        memset(value, 0, 16);
        memcpy(value, gpr, bytes);
    }
    return WG_REGION_DONE;
}
