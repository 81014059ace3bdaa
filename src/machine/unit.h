/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the Wait Gates and the nine backend unit kinds.
 *
 * In phase E the gates ask, thread by thread in the unit's round-robin order, whether the unit can
 * take the head instruction (`check`); if so, it is accepted at once (`accept`), and the unit's
 * further answers in this cycle take that into account. A refusal gives the reason, the holder of the
 * resource, and the cycle in which the stall ends by itself.
 *
 * Effects take place at a defined cycle between acceptance and completion. A unit's `tick` runs in
 * phase B of the cycles it asked for with wg_wake_at(); completing an instruction decrements the
 * thread's occupancy, which is what the wait conditions see.
 */
#ifndef WG_UNIT_H
#define WG_UNIT_H

#include "machine/insn.h"

struct wg_tile;

typedef struct wg_unit_ops {
    const char *name;
    uint8_t agent;                    /* wg_agent */
    void (*reset)(struct wg_tile *t); /* power-on: the state is zero, and what stays zero is not touched */
    void (*abort)(struct wg_tile *t); /* soft reset, from any state; NULL: the unit has none */
    /*
     * May `insn` start in cycle t->sched.now? On false, fills *why. Reports nothing and changes nothing.
     */
    bool (*check)(const struct wg_tile *t, const wg_insn *insn, wg_stall *why);
    /* The gate's head was refused: it may wait inside the unit and keep others out. NULL: instructions wait at the gate only. */
    void (*refused)(struct wg_tile *t, const wg_insn *insn, const wg_stall *why);
    void (*accept)(struct wg_tile *t, const wg_insn *insn);
    /* Phase B. Makes the agent's next wake-up by wg_wake_at() or wg_set_wake(), or none if only others can unblock it. */
    void (*tick)(struct wg_tile *t);
    /* Does this thread have an instruction in any stage? */
    bool (*busy)(const struct wg_tile *t, unsigned thread);
    /*
     * Does an instruction in this unit keep its thread from issuing anything at all (GATE-21)? Fills *why. NULL: never. The
     * gate calls it before it checks the head's own unit.
     */
    bool (*holds)(const struct wg_tile *t, unsigned thread, wg_stall *why);
    /*
     * Is a part of the unit busy, for wait conditions (GATE-10…GATE-16, GATE-27)? NULL: the same as busy.
     *     Unpackers: part 0, 1      Packers: part 0…3 (BH: 0)
     *     Scalar: memory requests outstanding for the thread (part 0)
     *     Mover: memory requests outstanding, of any thread or of TDMA-RISC (part 0)
     */
    bool (*part_busy)(const struct wg_tile *t, unsigned thread, unsigned part);
} wg_unit_ops;

/* The gate offers its head to the unit. False: it is refused, for the reason in *why. */
static inline bool wg_unit_takes(struct wg_tile *t, const wg_unit_ops *unit, const wg_insn *head, wg_stall *why)
{
    if (unit->check(t, head, why))
        return true;
    if (unit->refused)
        unit->refused(t, head, why);
    return false;
}

/* Indexed by wg_unit; NULL for the kinds that never reach a backend unit. */
extern const wg_unit_ops *const wg_units[WG_UNIT_COUNT];

/*
 * An instruction has left its unit: emits the event, and wakes everybody who may have waited for it (gates, latched waits,
 * manual TTSync). Call it when busy() already reflects the new state.
 */
void wg_unit_completed(struct wg_tile *t, unsigned agent, const wg_insn *insn);

/* Does the thread have an instruction in any unit? */
bool wg_units_busy(const struct wg_tile *t, unsigned thread);

extern const wg_unit_ops wg_sync_unit;

/* Round-robin: the first grant goes to thread 0, the next search starts after the last grant. */
typedef struct wg_round_robin {
    uint8_t next;
} wg_round_robin;

#endif
