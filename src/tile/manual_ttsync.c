/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual TTSync: two words after a T core's PC buffer whose loads block.
 *
 *     PC_BUF_BASE + 4   a load returns when the thread has no instruction in flight
 *     PC_BUF_BASE + 8   a load returns when no MOP is queued or expanding
 *
 * Stores are discarded, but still keep their place among the core's stores, since a later load waits for them. The value
 * loaded is undefined: it is 0 here.
 *
 * Facts: BabyRISCV/ManualTTSync.md (WH: TTSync.md), PIPE-28.
 *
 * Hardware bug (ManualTTSync.md): a load of this range or of a mailbox that starts while a TTSync load
 * is pending may get a wrong value or hang the core. Decided here: it gets the complement of the
 * right value, always, so that the mistake shows.
 */
#include "report/findings.h"
#include "machine/tile.h"

enum { COPROCESSOR_DONE = 4, MOP_EXPANDER_DONE = 8 };

/* The cycle in which the load/store unit emitted the request, computed from its arrival. */
static uint64_t emitted_at(const wg_tile *t, const wg_request *req)
{
    uint8_t travel = t->timing->path[req->path].travel;
    return req->seen_at > travel ? req->seen_at - travel : 0;
}

bool wg_manual_ttsync_overlaps(wg_tile *t, const wg_request *req)
{
    if (req->core < WG_CORE_T0 || req->core > WG_CORE_T2)
        return false;
    const wg_pcbufs *p = &t->regions.pcbuf;
    unsigned thread = req->core - WG_CORE_T0;
    uint64_t emitted = emitted_at(t, req);
    if (emitted <= p->ttsync_from[thread] || emitted >= p->ttsync_until[thread])
        return false;
    wg_findf(
        t, WG_F_MANUAL_TTSYNC_OVERLAP,
        (wg_finding){
            .agent = (uint8_t)(WG_AGENT_CORE_B + req->core), .pc = req->pc, .has_pc = true, .subject = req->address},
        "the load of 0x%08x started while a TTSync load was pending", req->address);
    return true;
}

wg_region_answer wg_manual_ttsync(wg_tile *t, unsigned thread, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    wg_pcbufs *p = &t->regions.pcbuf;
    if (req->kind == WG_REQ_WRITE)
        return WG_REGION_DONE;
    uint64_t emitted = emitted_at(t, req);
    if (p->ttsync_from[thread] != emitted) { /* first seen: the previous one has been processed */
        wg_manual_ttsync_overlaps(t, req);
        p->ttsync_from[thread] = emitted;
        p->ttsync_until[thread] = WG_NEVER;
    }
    bool whole = (req->address & 0xC) == COPROCESSOR_DONE;
    bool done = whole ? wg_thread_idle(t, thread) : wg_thread_mop_idle(t, thread) && !wg_mop_under_way(t, thread);
    if (!done && !wg_pcbuf_override_busy(p, thread)) {
        wg_watch_idle(&t->sched);
        *why = (wg_stall){whole ? WG_STALL_TTSYNC_DRAIN : WG_STALL_TTSYNC_MOP, (uint16_t)thread,
                          (uint8_t)(WG_AGENT_THREAD0 + thread), WG_NEVER};
        return WG_REGION_WAIT;
    }
    p->ttsync_until[thread] = t->sched.now + t->timing->path[WG_PATH_SYNC].back;
    value[0] = 0;
    return WG_REGION_DONE;
}
