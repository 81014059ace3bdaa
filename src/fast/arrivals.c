/* SPDX-License-Identifier: Apache-2.0 */
/* Phase H of the T cores' pushes to their own threads, while nobody observes and nothing is perturbed. */
#include "machine/fast.h"

#include "frontend/stages.h"
#include "machine/memory.h"

/*
 * The lane's first request, one of whole words, has arrived. If there is no room for the next one, it is refused at once:
 * what makes room until its cycle wakes WG_AGENT_PUSHES.
 */
static uint64_t push_own(wg_tile *t, unsigned thread, wg_lane *lane)
{
    const unsigned core = WG_CORE_T0 + thread;
    wg_schedule *s = &t->sched;
    wg_frontend *f = wg_frontend_of(t, thread);
    const wg_request *req = &lane->queue[lane->head];
    if (!wg_push_words(t, thread, (wg_core_id)core, req->pc, req->data, req->bytes / 4u, &lane->why))
        return WG_NEVER;
    lane->retry_at = 0;
    lane->why.reason = WG_STALL_NONE;
    lane->head = (uint8_t)((lane->head + 1) % WG_LANE_DEPTH);
    wg_wake_at(s, WG_AGENT_CORE_B + core, s->now); /* its phases are to come */
    wg_wake_idle_watchers(s);
    if (!--lane->count) {
        t->regions.memory.active[core] &= ~(1u << WG_PATH_PUSH);
        return WG_NEVER;
    }
    req = &lane->queue[lane->head];
    if (req->seen_at > s->now + 1)
        return req->seen_at;
    if (wg_fifo_room(t->arch, f, thread) >= req->bytes / 4u)
        return s->now + 1;
    wg_push_waits(f, req->bytes / 4u);
    lane->why = wg_fifo_full(thread);
    return WG_NEVER;
}

uint64_t wg_fast_pushes_arrive(wg_tile *t)
{
    uint64_t next = WG_NEVER;
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        wg_lane *lane = &t->regions.memory.lane[WG_CORE_T0 + thread][WG_PATH_PUSH];
        const wg_request *req = &lane->queue[lane->head];
        if (!lane->count)
            continue;
        if (t->frontend[thread].push_waits & WG_WAITS_T && lane->why.reason == WG_STALL_PUSH_FIFO_FULL)
            continue; /* nothing has left since it was refused */
        uint64_t at = req->seen_at > t->sched.now ? req->seen_at
                      : req->bytes < 4            ? wg_push_arrives(t, WG_CORE_T0 + thread)
                                                  : push_own(t, thread, lane);
        next = at < next ? at : next;
    }
    return next;
}
