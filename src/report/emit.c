/* SPDX-License-Identifier: Apache-2.0 */
/* Hands events to the observers of their kind. */
#include "report/emit.h"

#include "machine/device.h"

void wg_emit(wg_tile *t, wg_event *event)
{
    event->cycle = t->sched.now;
    event->phase = t->sched.phase;
    event->tile = t->index;
    const wg_device *dev = t->dev;
    const bool l1 = event->kind == WG_EV_TOUCH && event->a == WG_TOUCH_L1;
    const uint64_t kinds = WG_EV_BIT(event->kind) | (l1 ? WG_EV_BIT(WG_EV_TOUCH_L1) : 0);
    for (int i = 0; i < WG_MAX_OBSERVERS; i++)
        if (dev->observer[i].kinds & kinds)
            dev->observer[i].fn(dev->observer[i].user, event);
}

void wg_emit_insn(wg_tile *t, wg_event_kind kind, unsigned agent, const wg_insn *insn, uint64_t b, uint64_t c)
{
    wg_emit(t, &(wg_event){.kind = (uint8_t)kind,
                           .agent = (uint8_t)agent,
                           .word = insn->word,
                           .pc = insn->pc,
                           .id = insn->id,
                           .parent = insn->parent,
                           .thread = insn->thread,
                           .b = b,
                           .c = c});
}
