/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the units. */
#include "machine/unit.h"

#include "report/emit.h"

void wg_unit_completed(wg_tile *t, unsigned agent, const wg_insn *insn)
{
    wg_note_insn(t, WG_EV_COMPLETED, agent, insn, 0, 0);
    wg_wake_waiting(&t->sched, WG_AGENT_BIT(agent));
    if (wg_frontend_empty(&t->frontend[insn->thread]))
        wg_wake_idle_watchers(&t->sched);
}

bool wg_units_busy(const wg_tile *t, unsigned thread)
{
    for (unsigned unit = WG_UNIT_SYNC; unit < WG_UNIT_COUNT; unit++)
        if (wg_units[unit]->busy(t, thread))
            return true;
    return false;
}
