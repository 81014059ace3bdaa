/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region at PC_BUF_BASE, as each core sees it.
 *
 *            B                T<i>
 *     +0     PC buffer 0      PC buffer i
 *     +4 +8  PC buffer 0      manual TTSync
 *     +0x20  PC buffer 0      eight semaphores: load the value, store to post or get
 *
 * Facts: BabyRISCV/README.md "Memory map", SyncUnit.md "RISCV access to semaphores"; PIPE-27, PIPE-28,
 * SEM-04 to SEM-07.
 */
#include "machine/sync.h"
#include "machine/tile.h"
#include "tile/windows.h"

enum { TTSYNC = 4 };

static wg_region_answer semaphore(wg_tile *t, const wg_request *req, unsigned index, uint32_t value[4], wg_stall *why)
{
    if (req->kind == WG_REQ_WRITE)
        return wg_sync_core_write(t, req->core, index, req->data[0], why);
    if (wg_sync_core_store_waits(&t->backend.sync, req->core)) {
        *why = (wg_stall){WG_STALL_SEMAPHORE_SLOT, (uint16_t)(1u << index), WG_AGENT_SYNC, t->sched.now + 1};
        return WG_REGION_WAIT;
    }
    value[0] = wg_sync_core_read(t, req->core, index);
    if (wg_manual_ttsync_overlaps(t, req))
        value[0] = ~value[0];
    return WG_REGION_DONE;
}

wg_region_answer wg_sync_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    unsigned thread = wg_tile_route(t, req->core, req->address, req->kind == WG_REQ_WRITE).index % WG_THREADS;
    uint32_t offset = req->address & 0xFFFF;
    if (req->core == WG_CORE_B)
        return wg_pcbuf_b(t, thread, req, value, why);
    if (offset < TTSYNC)
        return wg_pcbuf_t(t, thread, req, value, why);
    if (!wg_is_semaphore(req))
        return wg_manual_ttsync(t, thread, req, value, why);
    return semaphore(t, req, (offset - WG_SEMAPHORE_WINDOW) / 4 % WG_SEMAPHORES, value, why);
}
