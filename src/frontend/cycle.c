/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle of the frontends: phases D to G of time.md for the threads that are due.
 *
 *     D  latched waits           E  heads pass the gate      F  Replay Expander      G  mux and MOP Expander
 */
#include "machine/fast.h"
#include "frontend/gate.h"
#include "report/touch.h"

void wg_frontends(wg_tile *t, unsigned due)
{
    wg_schedule *s = &t->sched;
    if (wg_fast_frontends(t, due))
        return;
    wg_touch_by_nobody(t);
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (due >> i & 1) {
            wg_frontend *f = &t->frontend[i];
            s->wake_filter[i] = 0;
            f->moved = f->latch.block && wg_gate_latch(t, i, true);
        }
    s->phase = WG_PHASE_GATES;
    wg_gates(t, due, true);
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (due >> i & 1)
            wg_latch_clear_met(&t->frontend[i]);
    s->phase = WG_PHASE_REPLAY;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (due >> i & 1)
            wg_replay(t, i, true);
    s->phase = WG_PHASE_MOP;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (due >> i & 1)
            wg_mop(t, i, true);
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (due >> i & 1)
            wg_schedule_thread(t, &t->frontend[i], i);
}
