/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PC buffers: three FIFOs of sixteen words from B to T0, T1, T2.
 *
 *     B stores    push; stalls while full
 *     B loads     0, once the FIFO is empty, T waits on it and T's thread is idle
 *     T loads     pop; stalls while empty
 *     T stores    discarded
 *
 * OverrideEn lets T's load return OverrideValue from an empty FIFO; OverrideEn and OverrideBusy
 * together let B's load return at once (and end manual TTSync waits).
 *
 * Facts: BabyRISCV/PCBufs.md (the same for both architectures), PIPE-27.
 */
#include "report/findings.h"
#include "machine/tile.h"

void wg_pcbufs_reset(wg_tile *t)
{
    wg_pcbufs *p = &t->regions.pcbuf;
    p->override = 0;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        wg_fifo_clear(&p->fifo[i]);
        p->waiting_since[i] = WG_NEVER;
        p->ttsync_from[i] = p->ttsync_until[i] = 0;
    }
}

void wg_pcbuf_stop(wg_tile *t, unsigned thread)
{
    t->regions.pcbuf.waiting_since[thread] = WG_NEVER;
    t->regions.pcbuf.ttsync_from[thread] = t->regions.pcbuf.ttsync_until[thread] = 0;
}

void wg_pcbuf_discard(wg_tile *t, unsigned thread)
{
    wg_fifo_clear(&t->regions.pcbuf.fifo[thread]);
    wg_wake(&t->sched, WG_AGENT_REGIONS);
}

void wg_pcbuf_override(wg_tile *t, uint32_t value)
{
    t->regions.pcbuf.override = value;
    wg_wake(&t->sched, WG_AGENT_REGIONS);
}

wg_region_answer wg_pcbuf_b(wg_tile *t, unsigned thread, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    wg_pcbufs *p = &t->regions.pcbuf;
    wg_fifo *f = &p->fifo[thread];
    uint64_t now = t->sched.now;
    uint8_t reader = (uint8_t)(WG_AGENT_CORE_T0 + thread);
    if (req->kind == WG_REQ_WRITE) {
        if (wg_fifo_taken(f, now) >= WG_PCBUF_DEPTH) {
            *why = (wg_stall){WG_STALL_PCBUF_FULL, (uint16_t)thread, reader, WG_NEVER};
            return WG_REGION_WAIT;
        }
        wg_fifo_push(f, now, req->data[0]);
        wg_wake(&t->sched, WG_AGENT_REGIONS);
        return WG_REGION_DONE;
    }
    value[0] = 0;
    if (wg_pcbuf_override_busy(p, thread))
        return WG_REGION_DONE;
    /* T's wait is visible from the cycle after it began, like every signal between two cores. */
    bool waits = f->count == 0 && p->waiting_since[thread] != WG_NEVER && p->waiting_since[thread] < now;
    bool idle = wg_thread_idle(t, thread);
    if (waits && idle)
        return WG_REGION_DONE;
    if (!idle)
        wg_watch_idle(&t->sched);
    wg_watch_idle(&t->sched);
    uint8_t holder = waits ? (uint8_t)(WG_AGENT_THREAD0 + thread) : reader;
    *why = (wg_stall){WG_STALL_PCBUF_IDLE, (uint16_t)thread, holder, WG_NEVER};
    return WG_REGION_WAIT;
}

wg_region_answer wg_pcbuf_t(wg_tile *t, unsigned thread, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    wg_pcbufs *p = &t->regions.pcbuf;
    wg_fifo *f = &p->fifo[thread];
    uint64_t now = t->sched.now;
    if (req->kind == WG_REQ_WRITE)
        return WG_REGION_DONE;
    if (wg_fifo_readable(f, now)) {
        value[0] = wg_fifo_pop(f, now);
    } else if (wg_pcbuf_override_en(p, thread) && !f->count) {
        value[0] = p->override >> (10 * thread + 2) & 0xFF;
    } else {
        if (p->waiting_since[thread] == WG_NEVER) {
            p->waiting_since[thread] = now;
            wg_wake(&t->sched, WG_AGENT_REGIONS); /* a load of B may wait for this */
        }
        *why = (wg_stall){WG_STALL_PCBUF_EMPTY, (uint16_t)thread, WG_AGENT_CORE_B, WG_NEVER};
        return WG_REGION_WAIT;
    }
    p->waiting_since[thread] = WG_NEVER;
    wg_wake(&t->sched, WG_AGENT_REGIONS);
    if (wg_manual_ttsync_overlaps(t, req))
        value[0] = ~value[0];
    return WG_REGION_DONE;
}
