/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of Vector Unit instructions: a thread alone whose REPLAY or MOP gives one after the other to the unit, and nobody
 * else who acts before some cycle. Of each cycle phase B is left, where something is on its way in the unit, and the
 * acceptance; the frontend moves up in the end (supply.h). An instruction that has to wait ends the burst.
 */
#include "backend/vector.h"

#include "machine/device.h"
#include "frontend/gate.h"
#include "fast/bursts.h"
#include "fast/supply.h"

enum { LEAST = 3 /* fewer are not worth it */ };

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

static inline bool is_for_unit(const wg_tile *t, const wg_supply *supply, unsigned i)
{
    uint32_t word;
    if (!wg_supply_word(supply, i, &word))
        return false;
    const wg_insn insn = {.rest = wg_insn_kinds[t->arch->id][word >> 24].rest};
    return insn.unit == WG_UNIT_VECTOR;
}

unsigned wg_vector_burst(wg_tile *t, unsigned thread, uint64_t until)
{
    wg_schedule *s = &t->sched;
    wg_vector *v = &t->backend.vector;
    wg_frontend *f = wg_frontend_of(t, thread);
    const uint64_t from = s->now;
    uint64_t *next = &s->next[WG_AGENT_VECTOR];
    wg_supply supply;
    if (until < from + LEAST || f->holders || !has_unit(t, thread))
        return 0;
    unsigned most = wg_supply_begin(t, thread, &supply), count = 0;
    if (most < LEAST)
        return 0;
    if (most > until - from)
        most = (unsigned)(until - from);
    while (count < most && is_for_unit(t, &supply, count) && !t->dev->stop_requested) {
        wg_stall why;
        s->now = from + count;
        if (*next <= s->now && !is_quiet(v)) {
            s->phase = WG_PHASE_COMPLETIONS;
            *next = WG_NEVER;
            wg_vector_unit.tick(t);
        }
        const wg_insn insn = wg_supply_insn(&supply, count);
        s->phase = WG_PHASE_GATES;
        if (!wg_vector_unit.check(t, &insn, &why))
            break;
        if (*next <= s->now)
            *next = WG_NEVER;
        wg_vector_unit.accept(t, &insn);
        count++;
    }
    s->now = from;
    if (!count)
        return 0;
    if (f->stalled)
        wg_gate_stall_ends(t, f, NULL, false);
    wg_supply_used(&supply, count);
    f->moved = true;
    t->backend.turn[WG_UNIT_VECTOR].next = (uint8_t)(thread == WG_THREADS - 1 ? 0 : thread + 1);
    return count;
}
