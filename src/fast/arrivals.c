/* SPDX-License-Identifier: Apache-2.0 */
/* Phase H of the T cores' pushes to their own threads, while nobody observes and nothing is perturbed. */
#include "machine/fast.h"

#include "frontend/stages.h"
#include "machine/memory.h"

/*
 * The head of the queue, a request of whole words, has arrived. The next one is refused at once if it does not fit; whatever
 * makes room wakes WG_AGENT_PUSHES.
 */
static uint64_t push_own(wg_tile *t, unsigned thread, wg_request_queue *queue)
{
    const unsigned core = WG_CORE_T0 + thread;
    wg_schedule *s = &t->sched;
    wg_frontend *f = wg_frontend_of(t, thread);
    const wg_request *req = &queue->ring[queue->head];
    if (!wg_push_words(t, thread, (wg_core_id)core, req->pc, req->data, req->bytes / 4u, &queue->why))
        return WG_NEVER;
    wg_queue_pop(&t->regions.memory, core, WG_PATH_PUSH);
    wg_wake_at(s, WG_AGENT_CORE_B + core, s->now); /* its phases follow in this cycle */
    wg_wake_idle_watchers(s);
    if (!queue->count)
        return WG_NEVER;
    req = &queue->ring[queue->head];
    if (req->seen_at > s->now + 1)
        return req->seen_at;
    if (wg_fifo_room(t->arch, f, thread) >= req->bytes / 4u)
        return s->now + 1;
    wg_push_waits(f, req->bytes / 4u);
    queue->why = wg_fifo_full(thread);
    return WG_NEVER;
}

uint64_t wg_fast_pushes_arrive(wg_tile *t)
{
    uint64_t next = WG_NEVER;
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        wg_request_queue *queue = &t->regions.memory.queue[WG_CORE_T0 + thread][WG_PATH_PUSH];
        const wg_request *req = &queue->ring[queue->head];
        if (!queue->count)
            continue;
        if (t->frontend[thread].push_waits & WG_WAITS_T && queue->why.reason == WG_STALL_PUSH_FIFO_FULL)
            continue; /* refused, and no room since */
        uint64_t at = req->seen_at > t->sched.now ? req->seen_at
                      : req->bytes < 4            ? wg_push_arrives(t, WG_CORE_T0 + thread)
                                                  : push_own(t, thread, queue);
        next = at < next ? at : next;
    }
    return next;
}
