/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backend configuration as B and the T cores see it, at TENSIX_CFG_BASE. The Configuration Unit
 * processes the request in its pipeline, among the instructions.
 *
 * Facts: BackendConfiguration.md. Loads of any size, stores of whole words only.
 */
#include "backend/config.h"
#include "tile/windows.h"

wg_region_answer wg_config_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    uint32_t word = (req->address & 0xFFFF) / 4;
    if (req->kind == WG_REQ_WRITE)
        return wg_config_riscv_write(t, req->core, word, req->data[0], req->bytes, why);
    uint32_t whole = 0;
    wg_region_answer answer = wg_config_riscv_read(t, req->core, word, &whole, why);
    value[0] = wg_narrow(req, whole);
    return answer;
}
