/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many instructions of the Vector Unit at a time: phase B of each cycle with something in flight in the unit, and the
 * acceptance. An instruction that stalls ends the burst.
 */
#include "backend/vector.h"

#include "engine/cycle.h"
#include "machine/device.h"
#include "fast/burst.h"

/* Phase B would only report completions that nobody waits for. */
static inline bool is_quiet(const wg_vector *v)
{
    return !(v->used | v->load.at | v->late.at | v->flags_at | v->swap.at | v->scheduled);
}

/* The unit holds no other thread's instruction, and nobody waits for the unit or the thread to go idle. */
static bool has_unit(const wg_tile *t, unsigned thread)
{
    const wg_vector *v = &t->backend.vector;
    for (unsigned i = 0; i < WG_THREADS; i++)
        if (i != thread && v->done_at[i] > t->sched.now)
            return false;
    return !v->flights && wg_fast_completions(t) && !(t->sched.watch_units | t->sched.watch_idle);
}

/*
 * Accepts a multiply-add without indirection, while nothing is scheduled and nothing is in flight to a register that it reads.
 * False, with nothing done, in any other case.
 */
static inline bool accept_mad(wg_tile *t, const wg_insn *insn)
{
    wg_vector *v = &t->backend.vector;
    uint64_t now = t->sched.now;
    const uint32_t word = insn->word;
    const unsigned vd = WG_GET(SFPMAD, lreg_dest, word), thread = insn->thread;
    const uint32_t reads = 1u << WG_GET(SFPMAD, lreg_src_a, word) | 1u << WG_GET(SFPMAD, lreg_src_b, word) |
                           1u << WG_GET(SFPMAD, lreg_src_c, word);
    if (wg_vector_table[insn->op].run != wg_sfpmad || WG_GET(SFPMAD, instr_mod1, word) >= 4 || vd >= 8 ||
        thread >= WG_THREADS ||
        (v->used | v->scheduled | v->flights | t->regs.lreg.lane_config[WG_LANE_ENABLE_DEST_INDEX]) ||
        v->ran_at == now || v->shuffle_at == now || (v->early.next == now && reads >> v->early.lreg & 1))
        return false;
    v->free_at = now + 1;
    v->last_thread = (uint8_t)thread;
    if (v->done_at[thread] < now + 2)
        v->done_at[thread] = now + 2;
    uint32_t lanes = wg_lanes_enabled(&t->regs.lreg);
    if (lanes)
        wg_mad_early(t, word, lanes);
    if (wg_vector_interlocks(t)) {
        v->interlock_at = now + 1;
        v->interlock_lregs = 1u << vd;
    }
    wg_vector_schedule(t);
    return true;
}

unsigned wg_vector_accept_many(wg_burst *b)
{
    wg_tile *t = b->t;
    wg_schedule *s = &t->sched;
    const wg_vector *v = &t->backend.vector;
    unsigned count = 0, most = b->count;
    if (!has_unit(t, b->thread))
        return 0;
    if (most > b->until - b->from)
        most = (unsigned)(b->until - b->from);
    for (; count < most && !t->dev->stop_requested; count++) {
        wg_stall why;
        const wg_insn insn = wg_burst_insn(b, count);
        if (insn.unit != WG_UNIT_VECTOR)
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
        if (!accept_mad(t, &insn))
            wg_vector_unit.accept(t, &insn);
    }
    s->now = b->from;
    return count;
}
