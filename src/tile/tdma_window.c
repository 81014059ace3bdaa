/* SPDX-License-Identifier: Apache-2.0 */
/* TDMA-RISC as cores see it, at 0xFFB11000; backend/tdma.c implements the registers (TDMA-RISC.md). */
#include "backend/tdma.h"
#include "machine/tile.h"
#include "tile/windows.h"

wg_region_answer wg_tdma_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    uint32_t offset = req->address & 0xFFC;
    if (req->kind == WG_REQ_WRITE)
        return wg_tdma_write(t, req->core, offset, wg_register_store(t, req), req->pc, why);
    uint32_t whole = 0;
    wg_region_answer answer = wg_tdma_read(t, req->core, offset, &whole, req->pc, why);
    value[0] = wg_narrow(req, whole);
    return answer;
}
