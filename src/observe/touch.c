/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/touch.h"

void wg_touch_emit(wg_tile *t, unsigned how, wg_touch_space space, uint32_t first, uint32_t count, unsigned part)
{
    const wg_insn *insn = &t->acting;
    if (!count || !insn->id)   /* the gates' questions look at configuration in nobody's name */
        return;
    wg_emit(t, &(wg_event){.kind = WG_EV_TOUCH, .agent = t->acting_agent, .word = insn->word, .pc = insn->pc,
                           .id = insn->id, .parent = insn->parent, .thread = insn->thread, .a = space, .b = first,
                           .c = count, .how = (uint16_t)how, .part = (uint8_t)part});
}

void wg_touch_core(wg_tile *t, unsigned core, uint32_t pc, unsigned how, wg_touch_space space, uint32_t first,
                   uint32_t count)
{
    if (!count)
        return;
    wg_emit(t, &(wg_event){.kind = WG_EV_TOUCH, .agent = (uint8_t)(WG_AGENT_CORE_B + core), .pc = pc, .a = space,
                           .b = first, .c = count, .how = (uint16_t)how});
}
