/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many instructions of the Vector Unit at a time: of each cycle, phase B where something is on its way in the unit, and the
 * acceptance. An instruction that has to wait ends it.
 */
#include "backend/vector.h"

#include "engine/cycle.h"
#include "engine/device.h"
#include "fast/burst.h"

/* Phase B has nothing to do but to say that the thread's instructions are complete, to nobody. */
static inline bool is_quiet(const wg_vector *v)
{
    return !(v->used | v->load.at | v->late.at | v->flags_at | v->swap.at | v->scheduled);
}

/* Nobody else's instruction is in the unit, and nobody waits for it or for the thread to be idle. */
static bool has_unit(const wg_tile *t, unsigned thread)
{
    const wg_vector *v = &t->backend.vector;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (i != thread && v->done_at[i] > t->sched.now)
            return false;
    return !v->flights && !(t->sched.watch_units | t->sched.watch_idle);
}

unsigned wg_vector_accept_many(wg_burst *b)
{
    wg_tile *t = b->t;
    wg_schedule *s = &t->sched;
    const wg_vector *v = &t->backend.vector;
    const wg_insn_kind *kinds = wg_insn_kinds[t->arch->id];
    unsigned count = 0, most = b->count;
    if (!has_unit(t, b->thread))
        return 0;
    if (most > b->until - b->from)
        most = (unsigned)(b->until - b->from);
    for (; count < most && !t->dev->stop_requested; count++) {
        wg_stall why;
        const wg_insn insn = wg_burst_insn(b, count);
        if ((kinds[b->word[count] >> 24].rest >> 24 & 0xFF) != WG_UNIT_VECTOR)
            break;
        s->now = b->from + count;
        s->phase = WG_PHASE_COMPLETIONS;
        if (is_quiet(v))
            (void)wg_take(t, WG_AGENT_VECTOR);
        else
            wg_tile_tick(t, WG_AGENT_VECTOR);
        s->phase = WG_PHASE_GATES;
        if (!wg_vector_unit.check(t, &insn, &why))
            break;
        wg_vector_unit.accept(t, &insn);
    }
    s->now = b->from;
    return count;
}
