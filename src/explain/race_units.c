/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The race detector's reading of the units' touches: the stream that stamps a touch, its instruction's clock, and the rules
 * based only on touches (packers' buffers, two-cycle results of the Vector Unit).
 */
#include "explain/race_state.h"

#include "backend/vector.h"

#include <stdio.h>

static unsigned unit_of(const wg_event *e)
{
    switch (e->agent) {
    case WG_AGENT_UNPACK0: return WG_RU_UNPACK0;
    case WG_AGENT_UNPACK1: return WG_RU_UNPACK1;
    case WG_AGENT_MATRIX: return WG_RU_MATRIX;
    case WG_AGENT_VECTOR: return WG_RU_VECTOR;
    case WG_AGENT_PACK: return WG_RU_PACK0 + (e->part & 3u);
    case WG_AGENT_SCALAR: return e->how & WG_TOUCH_LATE ? WG_RU_MEMORY : WG_RU_SCALAR;
    case WG_AGENT_MOVER: return WG_RU_MOVER;
    case WG_AGENT_MISC: return WG_RU_MISC;
    case WG_AGENT_CONFIG:
        switch (wg_opcode(e->word)) {
        case WG_OPCODE_WRCFG:
        case WG_OPCODE_CFGSHIFTMASK: return WG_RU_CONFIG_LATE;
        case WG_OPCODE_STREAMWRCFG: return WG_RU_CONFIG_SLOW;
        case WG_OPCODE_RDCFG: return e->how & WG_TOUCH_LATE ? WG_RU_CONFIG_RESULT : WG_RU_CONFIG;
        default: return WG_RU_CONFIG;
        }
    default: return WG_RU_SYNC;
    }
}

/* Configuration that a unit reads while it works, not at the gate. */
static unsigned reads_in_flight(unsigned unit)
{
    switch (unit) {
    case WG_RU_UNPACK0: return WG_RU_READ_UNPACK0;
    case WG_RU_UNPACK1: return WG_RU_READ_UNPACK1;
    case WG_RU_MATRIX: return WG_RU_READ_MATRIX;
    case WG_RU_VECTOR: return WG_RU_READ_VECTOR;
    default: return unit >= WG_RU_PACK0 && unit <= WG_RU_PACK3 ? (unsigned)WG_RU_READ_PACK : WG_RACE_UNITS;
    }
}

static void mop_config_read(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_insn *i = &r->thread[thread].parent[e->id % WG_PARENTS];
    if (i->id != e->id)
        return;
    wg_clock known = *wg_race_clock(r, i->push_snap);
    if (i->source < WG_CORES)
        wg_clock_see(&known, wg_k_m(i->source, WG_PATH_MOP_CFG), i->push_mop);
    wg_actor b = {.k = (uint16_t)(WG_K_X + thread),
                  .unit = WG_RACE_UNITS,
                  .thread = (uint8_t)thread,
                  .value = ++r->thread[thread].expander,
                  .clock = &known,
                  .own_k = WG_K_NONE,
                  .cycle = e->cycle,
                  .party = wg_race_insn_party(r, WG_AGENT_THREAD0 + thread, thread, i, false, e->cycle)};
    wg_race_touch(r, &b, (unsigned)e->a, (uint32_t)e->b, (uint32_t)e->c, WG_TOUCH_READ);
}

/* Replay slots are used before the gate, in the order of the pushes: one core's pushes are in order. */
static void replay_slot(wg_races *r, unsigned thread, const wg_event *e)
{
    wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    if (!i || i->source == WG_CORES)
        return;
    wg_actor b = {.k = (uint16_t)(WG_K_P + i->source),
                  .unit = WG_RACE_UNITS,
                  .thread = (uint8_t)thread,
                  .value = i->push_p,
                  .clock = wg_race_clock(r, i->push_snap),
                  .snap = i->push_snap,
                  .own_k = WG_K_P + i->source,
                  .own_v = i->push_p,
                  .pushes = i->push_number,
                  .boot = i->boot,
                  .cycle = e->cycle,
                  .party =
                      wg_race_insn_party(r, WG_AGENT_THREAD0 + thread, thread, i, e->how & WG_TOUCH_WRITE, e->cycle)};
    wg_race_touch(r, &b, WG_TOUCH_REPLAY, (uint32_t)e->b, (uint32_t)e->c, e->how);
}

static void pack_buffers(wg_races *r, const wg_event *e, uint32_t party)
{
    unsigned p = e->part & 3;
    if (e->a == WG_TOUCH_PACKER)
        r->buffers[p] = 0;
    if (e->a == WG_TOUCH_L1 && e->how & WG_TOUCH_BUFFERED && r->buffers[p] < 4) {
        r->buffered[p][r->buffers[p]].address = (uint32_t)e->b;
        r->buffered[p][r->buffers[p]].bytes = (uint32_t)e->c;
        r->buffered[p][r->buffers[p]++].party = party;
    }
}

/* Reports a two-cycle result that the thread's next instruction reads through an operand the interlock does not see. */
static void vector_hazard(wg_races *r, unsigned thread, const wg_race_insn *i, const wg_event *e, uint32_t party)
{
    wg_race_thread *t = &r->thread[thread];
    if (e->how & WG_TOUCH_WRITE) {
        if (e->how & WG_TOUCH_LATE) {
            t->late_lregs = (uint32_t)e->c;
            t->late_seq = i->seq;
            t->late_party = party;
        }
        return;
    }
    uint32_t hit = e->how & WG_TOUCH_AT_GATE ? 0 : (uint32_t)e->c & t->late_lregs & 0x1FFFF;
    if (!hit || i->seq != t->late_seq + 1)
        return;
    char place[64];
    snprintf(place, sizeof place, "LReg %d", __builtin_ctz(hit));
    wg_race_rule(
        r, WG_RACE_VECTOR_HAZARD, t->late_party, party, e->cycle, place,
        wg_vector_traits_of[r->arch_id].interlock
            ? "The result takes two cycles, and the interlock does not see this operand: the old value is read unless "
              "something happens to delay the instruction."
            : "The result takes two cycles, and the Vector Unit has no interlock.",
        "SFPNOP between the two.");
}

enum { PLANNED_WRITE = 128 };
static bool plans_write(const wg_event *e) { return e->how & WG_TOUCH_PLANNED && e->part & PLANNED_WRITE; }

/*
 * A part of SFPLOADMACRO runs a number of cycles later, whatever has been issued by then. An instruction that could be issued
 * before it, or in the same cycle, comes in time only while the thread issues one per cycle.
 */
static void planned(wg_races *r, unsigned thread, const wg_race_insn *i, const wg_event *e, uint32_t party)
{
    wg_race_thread *t = &r->thread[thread];
    if (e->how & WG_TOUCH_PLANNED) {
        const unsigned n = t->next_planned++ % WG_PLANNED;
        t->planned[n].lregs = (uint32_t)e->c;
        t->planned[n].seq = i->seq;
        t->planned[n].party = party;
        t->planned[n].delay = e->part & (PLANNED_WRITE - 1);
        t->planned[n].writes = plans_write(e);
        return;
    }
    for (unsigned n = 0; n < WG_PLANNED; n++) {
        const uint32_t behind = i->seq - t->planned[n].seq, hit = t->planned[n].lregs & (uint32_t)e->c;
        const bool read = !(e->how & WG_TOUCH_WRITE), writes = t->planned[n].writes;
        /* In the same cycle both see the old values. */
        const uint32_t last = read ? t->planned[n].delay : t->planned[n].delay - 1u;
        char place[64];
        if (!hit || !t->planned[n].seq || !behind || behind > last || (read && !writes))
            continue;
        snprintf(place, sizeof place, hit >> 17 ? "lane flags" : "LReg %d", __builtin_ctz(hit));
        wg_race_rule(
            r, WG_RACE_DATA, t->planned[n].party, party, e->cycle, place,
            "A part of SFPLOADMACRO runs a number of cycles later. This instruction comes before it, or in the same "
            "cycle, only while nothing delays the thread.",
            "Put SFPNOPs between the two; parts with a delay may count instructions instead (SFPCONFIG of the macros' "
            "Misc).");
    }
}

/* MatrixUnit.md's table of latencies: in effect before the thread issues anything else, however long the unit is occupied. */
static bool matrix_takes_one_cycle(const wg_races *r, uint32_t word)
{
    return wg_isa_decode(r->arch_id, word)->latency[WG_PROFILE_DOCUMENTED] == 1;
}
enum { MATRIX_LATENCY = WG_LATENCY_MVMUL }; /* the longest of any other */

/*
 * Fast path: most touches of configuration repeat the unit's last read with nothing in between. Such a touch replaces
 * the last one. False: not that case.
 */
static bool again(wg_races *r, const wg_race_insn *i, const wg_event *e, unsigned unit, unsigned stamp)
{
    uint32_t party = i->party[0];
    unsigned space = (unsigned)e->a;
    wg_granule *g = e->b < r->shadow[space].granules ? &r->shadow[space].granule[e->b] : NULL;
    if (!g || !g->cells || !party || i->party_agent[0] != e->agent || i->boot)
        return false;
    wg_cell *c = &g->cell[g->cells - 1];
    bool gate = e->how & WG_TOUCH_AT_GATE;
    if (c->k != (gate ? (unsigned)WG_K_I + e->thread : wg_k_d(stamp, e->thread)) || c->mask != (uint32_t)e->c ||
        c->unit != (gate ? unit : stamp) || c->how != e->how ||
        c->core_k != (i->source < WG_CORES ? WG_K_P + i->source : WG_K_NONE))
        return false;
    c->value = i->seq;
    c->party = (uint16_t)party;
    c->snap = i->snap;
    c->core_k = (uint16_t)(i->source < WG_CORES ? WG_K_P + i->source : WG_K_NONE);
    c->core_v = i->source < WG_CORES ? i->push_p : 0;
    c->pushes = i->source < WG_CORES ? i->push_number : 0;
    c->cycle = (uint32_t)e->cycle;
    return true;
}

/* Whoever waited for a source bank knows of its handover. */
static void bank_touched(wg_races *r, unsigned thread, wg_race_insn *i, const wg_event *e, unsigned unit)
{
    wg_race_thread *t = &r->thread[thread];
    const bool unpacks = unit == WG_RU_UNPACK0 || unit == WG_RU_UNPACK1;
    /* An UNPACR_NOP that does not wait like UNPACR waits until the Matrix Unit no longer owns its current bank. */
    const unsigned bank = unit != WG_RU_MATRIX && e->part ? e->part - 1u : (unsigned)e->b / 64 & 3;
    if (unpacks && e->how & WG_TOUCH_WRITE && wg_opcode(e->word) == WG_OPCODE_UNPACR_NOP)
        t->unpacking[unit - WG_RU_UNPACK0] = i->seq;
    if (!(e->how & WG_TOUCH_WAITED))
        return;
    if (unit == WG_RU_MATRIX && wg_race_join(r, &t->clock, &r->valid[bank]))
        wg_race_learnt(r, thread, i); /* it waited at the gate: all later instructions know */
    if (unpacks)
        wg_race_join(r, &t->unpacked[unit - WG_RU_UNPACK0], &r->freed[bank]);
}

/* Is this UNPACR_NOP all that its unpacker may still have to do for the thread? */
static bool gives_at_once(wg_races *r, const wg_race_thread *t, unsigned thread, const wg_race_insn *i, unsigned unit)
{
    const uint32_t work = t->unpacking[unit - WG_RU_UNPACK0];
    return work < i->seq && (!work || wg_race_clock(r, i->snap)->v[wg_k_d(unit, thread)] >= work);
}

void wg_race_unit_touch(wg_races *r, const wg_event *e)
{
    unsigned thread = e->thread, space = (unsigned)e->a, how = e->how;
    if (thread >= WG_THREADS) {
        wg_race_tdma_touch(r, e);
        return;
    }
    if (space == WG_TOUCH_MOP_CFG) {
        mop_config_read(r, thread, e);
        return;
    }
    if (space == WG_TOUCH_REPLAY) {
        replay_slot(r, thread, e);
        return;
    }
    wg_race_insn *i = wg_race_insn_at(r, thread, e->id);
    if (!i || !i->seq)
        return;
    wg_race_thread *t = &r->thread[thread];
    unsigned unit = unit_of(e);
    bool config = space == WG_TOUCH_CONFIG || space == WG_TOUCH_THREAD_CONFIG;
    if (config && !(how & WG_TOUCH_WRITE) && t->last[unit] == i->seq && unit != WG_RU_MATRIX) {
        unsigned stamp = reads_in_flight(unit);
        if (stamp < WG_RACE_UNITS && again(r, i, e, unit, stamp))
            return;
    }
    wg_actor b = {.unit = (uint8_t)unit,
                  .thread = (uint8_t)thread,
                  .seq = i->seq,
                  .own_k = WG_K_NONE,
                  .kept = e->kept,
                  .mask = (uint32_t)e->c,
                  .cycle = e->cycle,
                  .boot = i->boot,
                  .party = wg_race_insn_party(r, e->agent, thread, i,
                                              how & (WG_TOUCH_WRITE | WG_TOUCH_ATOMIC) || plans_write(e), e->cycle)};
    if (t->last[unit] < i->seq)
        t->last[unit] = i->seq;
    if (e->agent == WG_AGENT_PACK)
        pack_buffers(r, e, b.party);
    if (how & WG_TOUCH_BUFFERED)
        return;
    if (space == WG_TOUCH_SRC)
        bank_touched(r, thread, i, e, unit);
    if (unit == WG_RU_UNPACK0 || unit == WG_RU_UNPACK1)
        b.clock2 = &t->unpacked[unit - WG_RU_UNPACK0];
    if (space == WG_TOUCH_LREG && unit == WG_RU_VECTOR)
        planned(r, thread, i, e, b.party);
    if (how & WG_TOUCH_PLANNED)
        return;
    b.clock = wg_race_clock(r, i->snap);
    b.snap = i->snap;
    if (i->source < WG_CORES) {
        b.own_k = WG_K_P + i->source;
        b.own_v = i->push_p;
        b.pushes = i->push_number;
    }
    unsigned stamp = unit;
    if (config && !(how & WG_TOUCH_WRITE))
        stamp = reads_in_flight(unit);
    bool gate = how & WG_TOUCH_AT_GATE || (space == WG_TOUCH_GPR && !(how & WG_TOUCH_WRITE)) || stamp == WG_RACE_UNITS;
    b.k = (uint16_t)(gate ? (unsigned)WG_K_I + thread : wg_k_d(stamp, thread));
    b.value = i->seq;
    if (stamp < WG_RACE_UNITS && !gate)
        b.unit = (uint8_t)stamp;
    if (space == WG_TOUCH_LREG)
        vector_hazard(r, thread, i, e, b.party);
    if (space == WG_TOUCH_SEM_VALUE && how & (WG_TOUCH_POST | WG_TOUCH_GET | WG_TOUCH_INIT)) {
        wg_ref ref = wg_race_insn_ref(i, thread);
        b.value2 = WG_GET(SEMINIT, init_value, e->word);
        b.max2 = WG_GET(SEMINIT, max_value, e->word);
        wg_race_semaphores(r, &b, (uint32_t)e->c, how, &ref, i->source);
    }
    if (space == WG_TOUCH_GPR && wg_opcode(e->word) == WG_OPCODE_STOREREG) {
        const wg_ref ref = wg_race_insn_ref(i, thread);
        wg_race_pages(r, wg_reg_address(e->word), &ref);
    }
    /*
     * Decided here: a bank that UNPACR_NOP hands over without waiting is handed over before the thread's next
     * instruction. Kernels hand over SrcB this way, ahead of the UNPACR that the math thread waits for. It is late where it clears
     * the bank itself, or where earlier work of the unpacker may be under way.
     */
    if (space == WG_TOUCH_BANK_OWNER && wg_opcode(e->word) == WG_OPCODE_UNPACR_NOP &&
        gives_at_once(r, t, thread, i, unit))
        how |= WG_RACE_PROMPT;
    bool flips = space == WG_TOUCH_BANK_OWNER || space == WG_TOUCH_BANK_POINTER;
    if (unit == WG_RU_MATRIX && matrix_takes_one_cycle(r, e->word)) {
        if (!flips || !t->long_flip || i->seq - t->long_flip > MATRIX_LATENCY)
            how |= WG_RACE_PROMPT;
    } else if (unit == WG_RU_MATRIX && flips && how & WG_TOUCH_WRITE) {
        t->long_flip = i->seq; /* flips land in order: later ones may have to wait for it */
    }
    wg_race_touch(r, &b, space, (uint32_t)e->b, (uint32_t)e->c, how);
}
