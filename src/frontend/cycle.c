/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle of the frontends: phases D to G of time.md for the threads that are due.
 *
 *     D  latched waits           E  heads pass the gate      F  Replay Expander      G  mux and MOP Expander
 */
#include "machine/fast.h"
#include "frontend/gate.h"
#include "report/touch.h"

/*
 * The Matrix Unit takes an instruction per cycle. If its instructions, or those of a line, are scaled to less, more than one
 * passes in a cycle.
 */
void wg_gate_passed_scaled(wg_tile *t, const wg_insn *head)
{
    const unsigned thread = head->thread;
    if (head->unit == WG_UNIT_MATRIX &&
        !wg_takes_carried(t->what_if, &t->carry[WG_CORES + thread], WG_AGENT_MATRIX, head->source, head->pc, 1, 0))
        t->passed_free |= (uint8_t)(1u << thread);
}

static void round_of(wg_tile *t, unsigned due)
{
    wg_schedule *s = &t->sched;
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

void wg_frontends(wg_tile *t, unsigned due)
{
    if (wg_fast_frontends(t, due))
        return;
    do {
        t->sched.phase = WG_PHASE_LATCHES;
        t->passed_free = 0;
        round_of(t, due);
        due = t->passes_free = t->passed_free;
    } while (due);
}
