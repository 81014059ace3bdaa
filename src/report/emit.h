/* SPDX-License-Identifier: Apache-2.0 */
/* Emitting events. Costs one predictable branch if that kind is not observed. */
#ifndef WG_EMIT_H
#define WG_EMIT_H

#include "machine/tile.h"

static inline bool wg_watched(const wg_tile *t, wg_event_kind kind)
{
    return WG_EVENTS && __builtin_expect((t->watched & WG_EV_BIT(kind)) != 0, 0);
}

static inline bool wg_any_watched(const wg_tile *t) { return WG_EVENTS && __builtin_expect(t->watched != 0, 0); }

/* Fills cycle, phase, tile and passes the event on; call only under wg_watched(). */
void wg_emit(wg_tile *t, wg_event *event);

/*
 * The events of every instruction, emitted out of line, so that the caller needs neither a frame nor registers for events
 * that are not observed.
 */
__attribute__((cold)) void wg_emit_insn(wg_tile *t, wg_event_kind kind, unsigned agent, const wg_insn *insn, uint64_t b,
                                        uint64_t c);
static inline void wg_note_insn(wg_tile *t, wg_event_kind kind, unsigned agent, const wg_insn *insn, uint64_t b,
                                uint64_t c)
{
    if (wg_watched(t, kind))
        wg_emit_insn(t, kind, agent, insn, b, c);
}

/* Fields: designated initialisers of wg_event other than kind and agent. */
#define WG_EMIT(t, kind_, agent_, ...) \
    do { \
        if (wg_watched((t), (kind_))) \
            wg_emit((t), &(wg_event){.kind = (kind_), .agent = (uint8_t)(agent_), __VA_ARGS__}); \
    } while (0)
#define WG_EMIT_INSN(t, kind_, agent_, insn_, ...) \
    WG_EMIT(t, kind_, agent_, .word = (insn_)->word, .pc = (insn_)->pc, .id = (insn_)->id, .parent = (insn_)->parent, \
            .thread = (insn_)->thread, ##__VA_ARGS__)

#endif
