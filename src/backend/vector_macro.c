/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SFPLOADMACRO: a load, and up to four instructions that start by themselves some cycles later, one
 * each in the simple, MAD, round and store sub-units.
 *
 *     Sequence[macro]   store │ round │ MAD │ simple          eight bits each:
 *                       [7] VD of the load is VB, not VC  (store: keep the template's VD)
 *                       [6] write (store: read) LReg 16   [5:3] delay   [2:0] which instruction
 *
 * An instruction scheduled in cycle c with delay d runs in cycle c + 1 + d. Countdowns count cycles or, while any scheduled
 * instruction requests it, instructions issued to the unit. They are kept as rings: slot[unit][(base + delay) % 8], and a
 * step of the countdown is base + 1.
 *
 * A scheduled instruction runs in phase B: it reads registers as they are at the start of the cycle, and
 * its results (flags, too) wait for the next, so that the instruction accepted in the same
 * cycle sees the old ones. Nothing stalls for it.
 *
 * Facts: SFPLOADMACRO.md. Configuration can differ between columns of lanes; equal columns are processed together.
 */
#include "backend/vector.h"
#include "report/touch.h"

#include <string.h>

static const uint8_t subunit_of[WG_MACRO_UNITS] = {WG_SUB_SIMPLE, WG_SUB_MAD, WG_SUB_ROUND, WG_SUB_STORE};
enum { UNIT_SIMPLE, UNIT_MAD, UNIT_ROUND, UNIT_STORE };

static wg_macro_slot *slot_at(wg_vector *v, unsigned unit, unsigned delay)
{
    return &v->slot[unit][(v->base + delay) % WG_MACRO_SLOTS];
}

static void drop(wg_vector *v, wg_macro_slot *slot, unsigned i)
{
    slot->present &= (uint8_t) ~(1u << i);
    v->scheduled--;
    v->waiting -= slot->entry[i].by_instruction;
}

/* Cancels instructions that would run at the same time in these columns. */
static void forget(wg_vector *v, wg_macro_slot *slot, uint8_t columns)
{
    for (unsigned i = 0; i < WG_LANE_COLUMNS; i++) {
        if (!(slot->present >> i & 1))
            continue;
        slot->entry[i].columns &= (uint8_t)~columns;
        if (!slot->entry[i].columns)
            drop(v, slot, i);
    }
}

/* The sub-unit can run this instruction; SFPNOP runs anywhere but in the store sub-unit. */
static bool can_run(unsigned unit, wg_insn_id id)
{
    if (id == WG_I_SFPNOP)
        return unit != UNIT_STORE;
    return wg_vector_implements(id) && wg_vector_table[id].subunit == subunit_of[unit];
}

/* The template of a sequence byte as an instruction word; false: undefined. */
static bool template_of(const wg_tile *t, const wg_load_macro *config, unsigned unit, uint8_t sequence, uint32_t *word)
{
    enum { NOP = 0x8F000000, STORE = 0x72000000 };
    unsigned choice = sequence & 7;
    if (choice == 1)
        return false;
    *word = choice == 2 ? (uint32_t)NOP : choice == 3 ? (uint32_t)STORE : config->instruction[choice - 4];
    if (!can_run(unit, wg_isa_decode(t->arch->id, *word)->id)) {
        *word = NOP;
        return unit != UNIT_STORE;
    }
    return true;
}

/* Operands that come from the load. */
static void override(wg_macro_entry *e, unsigned unit, uint8_t sequence, unsigned vd, const wg_vector_op *load,
                     const wg_load_macro *config)
{
    unsigned macro = WG_GET(SFPLOADMACRO, Macro, load->word);
    if (unit == UNIT_STORE) {
        if (sequence & 0x40)
            e->vd = 16;
        else if (!(sequence & 0x80))
            e->vd = (uint8_t)vd;
        e->mod = config->misc >> (4 + macro) & 1 ? load->mod : config->misc & 15;
        return;
    }
    /* Decoding set a missing VB or VC to the template's VD. */
    if (sequence & 0x80)
        e->vb = (uint8_t)vd;
    else
        e->vc = (uint8_t)vd;
    e->vd = sequence & 0x40 ? 16 : (uint8_t)vd;
}

static void schedule(wg_tile *t, const wg_vector_op *load, unsigned vd, uint16_t address, uint8_t columns)
{
    wg_vector *v = &t->backend.vector;
    const wg_load_macro *config = &t->regs.lreg.macro[__builtin_ctz(columns)];
    uint32_t sequences = config->sequence[WG_GET(SFPLOADMACRO, Macro, load->word)];
    wg_vector_op planned[WG_MACRO_UNITS];
    unsigned plans = 0;
    for (unsigned unit = 0; unit < WG_MACRO_UNITS; unit++) {
        uint8_t sequence = (uint8_t)(sequences >> (unit * 8));
        unsigned delay = sequence >> 3 & 7;
        wg_macro_slot *slot = slot_at(v, unit, delay);
        /*
         * Ruling: SFPLOADMACRO.md drops an instruction due at that time even if nothing is scheduled. In public kernels
         * (UInt32 to FP32 on Blackhole) an SFPMAD of one macro runs right after another macro that does not use the MAD
         * sub-unit, and they work on silicon.
         */
        if (!(sequence & 7))
            continue;
        if (delay != 7)
            forget(v, slot, columns);
        wg_insn insn = {.pc = load->pc, .thread = load->thread};
        if (!template_of(t, config, unit, sequence, &insn.word)) {
            wg_vector_finding(t, load, WG_F_VECTOR_MACRO_SEQUENCE, (uint64_t)unit << 8 | sequence);
            continue;
        }
        wg_vector_op op;
        wg_vector_decode(t, &insn, &op);
        wg_macro_entry e = {
            .word = insn.word,
            .pc = load->pc,
            .parent = load->id,
            .address = address,
            .columns = columns,
            .thread = load->thread,
            .va = op.va,
            .vb = op.vb,
            .vc = op.vc,
            .vd = op.vd,
            .mod = op.mod,
            .by_instruction = config->misc >> (8 + unit) & 1,
        };
        override(&e, unit, sequence, vd, load, config);
        op.va = e.va;
        op.vb = e.vb;
        op.vc = e.vc;
        op.vd = e.vd;
        op.macro = true;
        planned[unit] = op;
        plans |= 1u << unit;
        unsigned free_entry = (unsigned)__builtin_ctz(~(unsigned)slot->present);
        if (free_entry >= WG_LANE_COLUMNS)
            continue; /* cannot happen: the slot of the longest delay has just been run */
        slot->entry[free_entry] = e;
        slot->present |= (uint8_t)(1u << free_entry);
        v->scheduled++;
        v->waiting += e.by_instruction;
        /*
         * Decided here: entries that count cycles keep the thread busy; those that count instructions may never run
         * and do not.
         */
        if (!e.by_instruction && v->done_at[load->thread] < t->sched.now + 2 + delay)
            v->done_at[load->thread] = t->sched.now + 2 + delay;
    }
    /* While any of them counts instructions, all do, but for what runs in the next cycle. */
    for (unsigned unit = 0; wg_touch_watched(t) && unit < WG_MACRO_UNITS; unit++) {
        const unsigned delay = sequences >> (unit * 8 + 3) & 7;
        if (plans >> unit & 1 && (!v->waiting || !delay))
            wg_vector_touch_planned(t, &planned[unit], 1 + delay);
    }
}

static bool same_config(const wg_load_macro *a, const wg_load_macro *b)
{
    return !memcmp(a->instruction, b->instruction, sizeof a->instruction) &&
           !memcmp(a->sequence, b->sequence, sizeof a->sequence) && a->misc == b->misc;
}

void wg_sfploadmacro(wg_tile *t, const wg_vector_op *op)
{
    const wg_load_macro *config = t->regs.lreg.macro;
    wg_vector_op load = *op;
    load.vd = (uint8_t)(WG_GET(SFPLOADMACRO, VDHigh, op->word) << 2 | WG_GET(SFPLOADMACRO, VDLow, op->word));
    wg_sfpload(t, &load);
    uint16_t address = t->backend.vector.load.address;
    unsigned left = 0xFF, macro = WG_GET(SFPLOADMACRO, Macro, op->word), stores = 0;
    while (left) {
        unsigned first = (unsigned)__builtin_ctz(left);
        uint8_t columns = 0;
        for (unsigned c = first; c < WG_LANE_COLUMNS; c++)
            if (left >> c & 1 && same_config(&config[c], &config[first]))
                columns |= (uint8_t)(1u << c);
        left &= ~(unsigned)columns;
        if (config[first].sequence[macro] >> 24 & 7)
            stores |= columns;
        schedule(t, &load, load.vd, address, columns);
    }
    if (stores && stores != 0xFF) /* either all lanes schedule a store or none */
        wg_vector_finding(t, op, WG_F_VECTOR_MACRO_SEQUENCE, stores);
}

void wg_macro_count(wg_tile *t, uint64_t cycle, bool issued)
{
    wg_vector *v = &t->backend.vector;
    if (v->scheduled && cycle > v->counted && (issued || !v->waiting))
        v->base = (v->base + 1u) % WG_MACRO_SLOTS;
    v->counted = cycle;
}

uint64_t wg_macro_next(const wg_tile *t)
{
    const wg_vector *v = &t->backend.vector;
    if (!v->scheduled)
        return WG_NEVER;
    if (!v->waiting)
        return t->sched.now + 1;
    for (unsigned unit = 0; unit < WG_MACRO_UNITS; unit++)
        if (v->slot[unit][v->base].present && v->counted == t->sched.now)
            return t->sched.now + 1;
    return WG_NEVER;
}

static void run_entry(wg_tile *t, const wg_macro_entry *e)
{
    wg_vector *v = &t->backend.vector;
    wg_insn insn = {.word = e->word, .pc = e->pc, .id = e->id, .parent = e->parent, .thread = e->thread};
    wg_vector_op op;
    wg_vector_decode(t, &insn, &op);
    op.va = e->va;
    op.vb = e->vb;
    op.vc = e->vc;
    op.vd = e->vd;
    op.mod = e->mod;
    op.address = e->address;
    op.lanes = wg_lanes_of_columns(e->columns);
    op.macro = true;
    op.pred = &v->flags;
    uint32_t early = wg_vector_reads(t, &op) & v->ran_pending;
    if (early)
        wg_vector_finding(t, &op, WG_F_VECTOR_EARLY_READ, (uint64_t)__builtin_ctz(early));
    wg_vector_table[op.insn].run(t, &op);
    uint64_t done = t->sched.now + wg_vector_latency(&op);
    if (v->done_at[e->thread] < done)
        v->done_at[e->thread] = done;
}

/* The rules that SFPLOADMACRO.md gives for instructions of one cycle and, for SFPSWAP, of the next. */
static void check_ports(wg_tile *t, const wg_macro_entry *any, unsigned busy, unsigned bonus, bool swap,
                        bool mad_is_nop)
{
    wg_vector *v = &t->backend.vector;
    wg_vector_op op = {.word = any->word, .pc = any->pc, .thread = any->thread};
    unsigned both = 1u << UNIT_SIMPLE | 1u << UNIT_ROUND;
    bool one_bonus = (bonus & both) == 1u << UNIT_SIMPLE || (bonus & both) == 1u << UNIT_ROUND;
    bool after_swap = v->ran_swap && v->ran_at + 1 == t->sched.now;
    if (((busy & both) == both && !one_bonus) || (swap && !mad_is_nop) || (after_swap && busy & both))
        wg_vector_finding(t, &op, WG_F_VECTOR_MACRO_PORT, busy);
}

void wg_macro_run(wg_tile *t)
{
    wg_vector *v = &t->backend.vector;
    unsigned busy = 0, bonus = 0, ran = 0;
    bool swap = false, mad_is_nop = false;
    const wg_macro_entry *any = NULL;
    for (unsigned unit = 0; unit < WG_MACRO_UNITS; unit++) {
        const wg_macro_slot *slot = &v->slot[unit][v->base];
        for (unsigned i = 0; i < WG_LANE_COLUMNS; i++) {
            if (!(slot->present >> i & 1))
                continue;
            const wg_macro_entry *e = any = &slot->entry[i];
            unsigned opcode = wg_opcode(e->word);
            ran |= 1u << unit;
            if (opcode == WG_OPCODE_SFPNOP) {
                mad_is_nop |= unit == UNIT_MAD;
                continue;
            }
            busy |= 1u << unit;
            bonus |= (unsigned)(e->vd == 16) << unit;
            swap |= opcode == WG_OPCODE_SFPSWAP;
        }
    }
    if (!ran)
        return;
    check_ports(t, any, busy, bonus, swap, mad_is_nop);
    v->flags = t->regs.lreg.pred;
    v->flags_at = ran & 1u << UNIT_SIMPLE ? t->sched.now + 1 : 0;
    v->ran_at = t->sched.now;
    v->ran = 0;
    v->ran_bonus = 0;
    v->ran_swap = swap;
    v->ran_pending = v->pending_lregs;
    for (unsigned unit = 0; unit < WG_MACRO_UNITS; unit++) {
        wg_macro_slot *slot = &v->slot[unit][v->base];
        if (!slot->present)
            continue;
        v->ran |= (uint8_t)(1u << subunit_of[unit]);
        if (bonus >> unit & 1)
            v->ran_bonus |= (uint8_t)(1u << subunit_of[unit]);
        for (unsigned i = 0; i < WG_LANE_COLUMNS; i++) {
            if (slot->present >> i & 1) {
                run_entry(t, &slot->entry[i]);
                drop(v, slot, i);
            }
        }
    }
}
