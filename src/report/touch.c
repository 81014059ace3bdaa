/* SPDX-License-Identifier: Apache-2.0 */
#include "report/touch.h"

void wg_touch_emit(wg_tile *t, unsigned how, wg_touch_space space, uint32_t first, uint32_t count, unsigned part)
{
    const wg_insn *insn = &t->acting;
    if (!count || !insn->id) /* checks at the gates read configuration without an agent */
        return;
    wg_emit(t, &(wg_event){.kind = WG_EV_TOUCH,
                           .agent = t->acting_agent,
                           .word = insn->word,
                           .pc = insn->pc,
                           .id = insn->id,
                           .parent = insn->parent,
                           .thread = insn->thread,
                           .a = space,
                           .b = first,
                           .c = count,
                           .how = (uint16_t)how,
                           .part = (uint8_t)part});
}

/* Bits that a write does not change carry no information to a reader (docs/races.md). */
static unsigned written(uint32_t mask, uint32_t kept) { return WG_TOUCH_WRITE | (mask & ~kept ? 0u : WG_TOUCH_SAME); }

void wg_touch_config_written(wg_tile *t, unsigned bank, unsigned word, uint32_t mask, uint32_t kept)
{
    const wg_insn *insn = &t->acting;
    if (mask && insn->id)
        wg_emit(t, &(wg_event){.kind = WG_EV_TOUCH,
                               .agent = t->acting_agent,
                               .word = insn->word,
                               .pc = insn->pc,
                               .id = insn->id,
                               .parent = insn->parent,
                               .thread = insn->thread,
                               .a = WG_TOUCH_CONFIG,
                               .b = bank * 256 + word,
                               .c = mask,
                               .how = (uint16_t)written(mask, kept),
                               .kept = kept & mask});
}

void wg_touch_core_config(wg_tile *t, unsigned core, uint32_t pc, uint32_t first, uint32_t kept)
{
    wg_emit(t, &(wg_event){.kind = WG_EV_TOUCH,
                           .agent = (uint8_t)(WG_AGENT_CORE_B + core),
                           .pc = pc,
                           .a = WG_TOUCH_CONFIG,
                           .b = first,
                           .c = UINT32_MAX,
                           .how = (uint16_t)written(UINT32_MAX, kept),
                           .kept = kept});
}

void wg_touch_core(wg_tile *t, unsigned core, uint32_t pc, unsigned how, wg_touch_space space, uint32_t first,
                   uint32_t count)
{
    if (!count)
        return;
    wg_emit(t, &(wg_event){.kind = WG_EV_TOUCH,
                           .agent = (uint8_t)(WG_AGENT_CORE_B + core),
                           .pc = pc,
                           .a = space,
                           .b = first,
                           .c = count,
                           .how = (uint16_t)how});
}
