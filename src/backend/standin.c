/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-ins: a busy model for unit kinds that have no unit of their own. An instruction occupies its unit
 * for the table's latency, the unit takes the next one after the table's interval, and nothing is
 * computed. Every instruction is reported as unimplemented.
 *
 * Decided here: where the table says "variable", latency and interval are the smallest that the unit's page
 * gives: 2 for everything variable but the unpackers' and packers' (4).
 */
#include "backend/unit.h"
#include "explain/findings.h"
#include "observe/emit.h"

static unsigned variable_latency(unsigned unit) { return unit == WG_UNIT_UNPACK || unit == WG_UNIT_PACK ? 4 : 2; }

static void reset(wg_tile *t, unsigned unit) { t->backend.standin[unit] = (wg_standin){0}; }

static bool check(wg_tile *t, unsigned unit, wg_stall *why)
{
    const wg_standin *u = &t->backend.standin[unit];
    if (t->sched.now < u->free_at || u->count == WG_STANDIN_IN_FLIGHT) {
        uint64_t until = u->count == WG_STANDIN_IN_FLIGHT ? u->done_at[u->head] : u->free_at;
        *why = (wg_stall){WG_STALL_UNIT_BUSY, (uint16_t)unit, wg_units[unit]->agent, until};
        return false;
    }
    return true;
}

static void accept(wg_tile *t, unsigned unit, const wg_insn *insn)
{
    wg_standin *u = &t->backend.standin[unit];
    const wg_isa_insn *record = wg_isa_decode(t->arch->id, insn->word);
    unsigned profile = t->timing == &t->arch->timing[WG_PROFILE_SILICON];
    unsigned latency = record->latency[profile] ? record->latency[profile] : variable_latency(unit);
    unsigned interval = record->interval[profile] ? record->interval[profile] : 1;
    uint64_t done = t->sched.now + latency + wg_perturb(t, WG_SITE_COMPLETE, wg_units[unit]->agent, insn->id);
    unsigned last = (unsigned)(u->head + u->count + WG_STANDIN_IN_FLIGHT - 1) % WG_STANDIN_IN_FLIGHT;
    if (u->count && u->done_at[last] > done)
        done = u->done_at[last];   /* in order within a unit */
    unsigned at = (u->head + u->count) % WG_STANDIN_IN_FLIGHT;
    u->insn[at] = *insn;
    u->done_at[at] = done;
    u->count++;
    u->free_at = t->sched.now + interval;
    wg_wake_at(&t->sched, wg_units[unit]->agent, u->done_at[u->head]);
    wg_findf(t, WG_F_UNIMPLEMENTED_INSN,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + insn->thread), .pc = insn->pc, .has_pc = insn->pc != 0,
                          .word = insn->word, .has_word = true},
             "%s takes its time and does nothing", record->name);
}

static void tick(wg_tile *t, unsigned unit)
{
    wg_standin *u = &t->backend.standin[unit];
    while (u->count && u->done_at[u->head] <= t->sched.now) {
        wg_insn insn = u->insn[u->head];
        u->head = (uint8_t)((u->head + 1) % WG_STANDIN_IN_FLIGHT);
        u->count--;
        wg_unit_completed(t, wg_units[unit]->agent, &insn);
    }
    if (u->count)
        wg_wake_at(&t->sched, wg_units[unit]->agent, u->done_at[u->head]);
}

static bool busy(const wg_tile *t, unsigned unit, unsigned thread)
{
    const wg_standin *u = &t->backend.standin[unit];
    for (unsigned i = 0; i < u->count; i++)
        if (u->insn[(u->head + i) % WG_STANDIN_IN_FLIGHT].thread == thread)
            return true;
    return false;
}

/* One set of functions per unit kind: the interface has no place for a context. */
#define STANDIN(kind)                                                                                                  \
    static void kind##_reset(wg_tile *t) { reset(t, WG_UNIT_##kind); }                                                 \
    static bool kind##_check(wg_tile *t, const wg_insn *insn, wg_stall *why)                                           \
    {                                                                                                                  \
        (void)insn;                                                                                                    \
        return check(t, WG_UNIT_##kind, why);                                                                          \
    }                                                                                                                  \
    static void kind##_accept(wg_tile *t, const wg_insn *insn) { accept(t, WG_UNIT_##kind, insn); }                    \
    static void kind##_tick(wg_tile *t) { tick(t, WG_UNIT_##kind); }                                                   \
    static bool kind##_busy(const wg_tile *t, unsigned thread) { return busy(t, WG_UNIT_##kind, thread); }
STANDIN(UNPACK)
STANDIN(MATRIX)
STANDIN(PACK)
STANDIN(VECTOR)
STANDIN(SCALAR)
STANDIN(CONFIG)
STANDIN(MOVER)
STANDIN(MISC)

#define OPS(kind, agent_, name_)                                                                                       \
    [WG_UNIT_##kind] = {.name = name_, .agent = agent_, .reset = kind##_reset, .check = kind##_check,                  \
                        .accept = kind##_accept, .tick = kind##_tick, .busy = kind##_busy}
const wg_unit_ops wg_standin_ops[WG_UNIT_COUNT] = {
    OPS(UNPACK, WG_AGENT_UNPACK0, "Unpackers"),      OPS(MATRIX, WG_AGENT_MATRIX, "Matrix Unit"),
    OPS(PACK, WG_AGENT_PACK, "Packers"),             OPS(VECTOR, WG_AGENT_VECTOR, "Vector Unit"),
    OPS(SCALAR, WG_AGENT_SCALAR, "Scalar Unit"),     OPS(CONFIG, WG_AGENT_CONFIG, "Configuration Unit"),
    OPS(MOVER, WG_AGENT_MOVER, "Mover"),             OPS(MISC, WG_AGENT_MISC, "Miscellaneous Unit"),
};
