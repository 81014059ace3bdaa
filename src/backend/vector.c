/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vector Unit's front: acceptance, interlocks, results that land later, completion.
 *
 *     phase B of c   loads of c-1 sample Dst; results due land; SFPSWAP's second cycle; scheduled
 *                    instructions run; completions
 *     phase E of c   an instruction is accepted: it reads, and writes results of latency 1
 *
 * Facts: VectorUnit.md, SFPMAD.md, SFPSWAP.md, SFPSHFT2.md "Instruction scheduling"; races.md row 14.
 */
#include "backend/vector.h"

#include "backend/matrix.h"
#include "isa/config_fields.h"
#include "machine/fast.h"
#include "report/touch.h"

#include <string.h>

void wg_vector_finding(wg_tile *t, const wg_vector_op *op, wg_finding_code code, uint64_t subject)
{
    WG_FIND(t, code, WG_AGENT_THREAD0 + op->thread, .pc = op->pc, .has_pc = op->pc != 0, .word = op->word,
            .has_word = true, .subject = subject);
}

/* ---- Results ---- */

/*
 * Two results for one register land in one cycle, such as a one-cycle result after a two-cycle one. Decided here: the
 * younger instruction's wins.
 */
static inline void supersede(wg_vector *v, unsigned lreg, uint32_t lanes, uint64_t land)
{
    for (uint64_t used = v->used; used; used &= used - 1) {
        wg_vector_write *w = &v->write[__builtin_ctzll(used)];
        if (w->lreg == lreg && w->land == land)
            w->lanes &= ~lanes;
    }
}

uint32_t *wg_vector_result(wg_tile *t, unsigned lreg, uint32_t lanes, uint64_t land)
{
    wg_vector *v = &t->backend.vector;
    lreg = lreg < WG_LREGS ? lreg : 0;
    if (land > v->newest_land) {
        v->newest_land = land;
        v->newest_lregs = 0;
    } else if (land < v->newest_land ? v->pending_lregs >> lreg & 1 : v->newest_lregs >> lreg & 1) {
        supersede(v, lreg, lanes, land);
    }
    if (land == v->newest_land)
        v->newest_lregs |= UINT32_C(1) << lreg;
    unsigned i = ~v->used ? (unsigned)__builtin_ctzll(~v->used) : WG_VECTOR_WRITES - 1;
    v->used |= UINT64_C(1) << i;
    v->pending_lregs |= UINT32_C(1) << lreg;
    wg_vector_write *w = &v->write[i];
    w->land = land;
    w->lanes = lanes;
    w->lreg = lreg;
    wg_wake_at(&t->sched, WG_AGENT_VECTOR, land);
    return w->data;
}

void wg_vector_put(wg_tile *t, const wg_vector_op *op, unsigned lreg, const uint32_t data[WG_LANES], uint32_t lanes)
{
    wg_vector *v = &t->backend.vector;
    unsigned latency = wg_vector_latency(op);
    if (!lanes || !(lreg < 8 || lreg == 16))
        return;
    if (op->macro || latency > 1) {
        memcpy(wg_vector_result(t, lreg, lanes, op->now + latency), data, sizeof v->write[0].data);
        return;
    }
    if (v->pending_lregs >> lreg & 1)
        supersede(v, lreg, lanes, op->now + 1);
    wg_vector_kernels_for(t)->blend(t->regs.lreg.l[lreg], data, lanes);
}

void wg_vector_take_back(wg_tile *t)
{
    wg_vector_early *e = &t->backend.vector.early;
    uint32_t *d = t->regs.lreg.l[e->lreg];
    memcpy(wg_vector_result(t, e->lreg, e->lanes, e->next + 1), d, sizeof e->old);
    memcpy(d, e->old, sizeof e->old);
    e->next = 0;
}

static inline void land_results(wg_tile *t)
{
    wg_vector *v = &t->backend.vector;
    uint32_t left = 0;
    for (uint64_t used = v->used; used; used &= used - 1) {
        unsigned i = (unsigned)__builtin_ctzll(used);
        wg_vector_write *w = &v->write[i];
        if (w->land > t->sched.now) {
            left |= UINT32_C(1) << w->lreg;
            wg_wake_at(&t->sched, WG_AGENT_VECTOR, w->land);
            continue;
        }
        wg_vector_kernels_for(t)->blend(t->regs.lreg.l[w->lreg], w->data, w->lanes);
        v->used &= ~(UINT64_C(1) << i);
    }
    v->pending_lregs = left;
}

/* Touches from here on are the instruction's. */
static inline void acts(wg_tile *t, const wg_vector_op *op)
{
    if (wg_touch_watched(t)) {
        t->acting = (wg_insn){.word = op->word, .pc = op->pc, .id = op->id, .thread = op->thread, .op = op->insn};
        t->acting_agent = WG_AGENT_VECTOR;
    }
}

enum { FLAGS = 1u << 17 };

/* LRegs, and the flags. */
static uint32_t lregs_written(const wg_vector_op *op)
{
    switch (op->insn) {
    case WG_I_SFPNOP:
    case WG_I_SFPSTORE: return 0;
    case WG_I_SFPSETCC:
    case WG_I_SFPENCC:
    case WG_I_SFPCOMPC:
    case WG_I_SFPPUSHC:
    case WG_I_SFPPOPC:
    case WG_I_SFPCONFIG:
        return FLAGS | (op->insn == WG_I_SFPCONFIG && op->vd >= 11 && op->vd <= 14 ? UINT32_C(1) << op->vd : 0);
    case WG_I_SFPSWAP: return UINT32_C(1) << op->vd | UINT32_C(1) << op->vc;
    case WG_I_SFPTRANSP: return 0xFF;
    default: return wg_op_writes(op) ? UINT32_C(1) << op->vd : 0;
    }
}

void wg_vector_touch_planned(wg_tile *t, const wg_vector_op *op, unsigned delay)
{
    enum { WRITES = 128 };
    const uint32_t reads = (wg_vector_reads(t, op) & 0x1FFFF) | FLAGS, writes = lregs_written(op);
    if (op->insn == WG_I_SFPNOP)
        return;
    wg_touch_emit(t, WG_TOUCH_PLANNED, WG_TOUCH_LREG, 0, reads, delay);
    if (writes)
        wg_touch_emit(t, WG_TOUCH_PLANNED, WG_TOUCH_LREG, 0, writes, delay | WRITES);
}

/*
 * Emits touches for LRegs; flags and lane configuration count as LReg 17. Two-cycle results are late; operands that
 * the interlock sees, or that are read late themselves, count as sampled at the gate.
 */
static void touch_lregs(wg_tile *t, const wg_vector_op *op)
{
    /* SFPLOADI of one half is a partial write, not a read. */
    uint32_t reads = op->insn == WG_I_SFPLOADI ? 0 : wg_vector_reads(t, op) & 0x1FFFF, seen = 0;
    const uint32_t writes = lregs_written(op);
    if (wg_vector_reads_late(t, op))
        seen = reads;
    else if (wg_vector_traits_for(t)->interlock)
        seen = wg_vector_believed_reads(t, op) & reads;
    /* Hardware accepts only SFPNOP after SFPSWAP and, with the interlock, after a lane shuffle. */
    bool held = op->insn == WG_I_SFPSWAP || (wg_vector_is_shuffle(op) && wg_vector_traits_for(t)->interlock);
    bool late = wg_vector_latency(op) > 1 && op->insn != WG_I_SFPCONFIG && !held;
    wg_touch(t, WG_TOUCH_READ | WG_TOUCH_WRITE | WG_TOUCH_AT_GATE, WG_TOUCH_RWC, op->thread, 1);
    wg_touch_lregs(t, WG_TOUCH_READ | WG_TOUCH_AT_GATE, seen);
    wg_touch_lregs(t, WG_TOUCH_READ, (reads & ~seen) | (op->insn == WG_I_SFPNOP ? 0 : FLAGS));
    wg_touch_lregs(t, WG_TOUCH_WRITE | (late ? WG_TOUCH_LATE : 0u), writes);
}

static void finish_load(wg_tile *t)
{
    const wg_vector_load_step *load = &t->backend.vector.load;
    wg_vector_op op = {.now = load->at - 1,
                       .id = load->id,
                       .word = load->word,
                       .pc = load->pc,
                       .lanes = load->lanes,
                       .pred = &t->regs.lreg.pred,
                       .insn = load->insn,
                       .thread = load->thread,
                       .vd = load->vd};
    acts(t, &op);
    wg_vector_load(t, &op, load->format, load->address);
    t->backend.vector.load.at = 0;
}

/* ---- Acceptance ---- */

static bool stalled(wg_stall *why, uint16_t reason, uint16_t resource, uint8_t holder, uint64_t retry_at)
{
    *why = (wg_stall){.reason = reason, .resource = resource, .holder = holder, .retry_at = retry_at};
    return false;
}

/* Does the interlock detect a read of a pending result? */
static __attribute__((noinline)) bool interlocked(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    const wg_vector *v = &t->backend.vector;
    wg_vector_op op;
    wg_vector_decode(t, insn, &op);
    uint32_t hit =
        wg_vector_may_read(&op, v->interlock_lregs) ? wg_vector_believed_reads(t, &op) & v->interlock_lregs : 0;
    if (!hit)
        return false;
    stalled(why, WG_STALL_VECTOR_INTERLOCK, (uint16_t)__builtin_ctz(hit), WG_AGENT_VECTOR, t->sched.now + 1);
    return true;
}

/* The most frequent case, which needs no decoding: a multiply-add that does not name these registers. */
static inline bool another_mad(const wg_insn *insn, uint32_t lregs)
{
    uint32_t word = insn->word;
    uint32_t named = UINT32_C(1) << WG_GET(SFPMAD, lreg_src_c, word) | UINT32_C(1) << WG_GET(SFPMAD, lreg_src_b, word) |
                     UINT32_C(1) << WG_GET(SFPMAD, lreg_src_a, word);
    bool indirect = WG_GET(SFPMAD, instr_mod1, word) & 12;
    return wg_vector_table[insn->op].run == wg_sfpmad && !indirect && !(named & lregs);
}

static bool vector_check(const wg_tile *t, const wg_insn *insn, wg_stall *why)
{
    const wg_vector *v = &t->backend.vector;
    uint64_t now = t->sched.now;
    if (now < v->free_at)
        return stalled(why, WG_STALL_ARBITRATION, WG_UNIT_VECTOR, (uint8_t)(WG_AGENT_THREAD0 + v->last_thread),
                       now + 1);
    if (v->flights == WG_VECTOR_FLIGHTS) /* only if completions are delayed */
        return stalled(why, WG_STALL_UNIT_BUSY, WG_UNIT_VECTOR, WG_AGENT_VECTOR, v->done[v->first_flight]);
    bool moves = insn->op == WG_I_SFPLOAD || insn->op == WG_I_SFPSTORE || insn->op == WG_I_SFPLOADMACRO;
    if (__builtin_expect(t->perturbed, 0) && moves) { /* a delayed write to Dst must not break SFPLOAD.md's rule */
        uint64_t settles = wg_matrix_settles(t, insn);
        if (settles > now)
            return stalled(why, WG_STALL_DST_BLOCK_WRITTEN, 0, WG_AGENT_MATRIX, settles);
    }
    if (v->only_nop_at == now && v->only_nop_at && wg_opcode(insn->word) != WG_OPCODE_SFPNOP)
        return stalled(why, WG_STALL_VECTOR_INTERLOCK, 0xFF, WG_AGENT_VECTOR, now + 1);
    if (v->interlock_at == now && !another_mad(insn, v->interlock_lregs) && interlocked(t, insn, why))
        return false;
    return true;
}

/* Reports what software must not issue in the cycle after a lane shuffle (SFPSHFT2.md, WH). */
static void check_after_shuffle(wg_tile *t, const wg_vector_op *op)
{
    const wg_vector *v = &t->backend.vector;
    unsigned sub = wg_vector_table[op->insn].subunit;
    bool writes_lreg = sub == WG_SUB_SIMPLE || sub == WG_SUB_ROUND;
    switch (op->insn) {
    case WG_I_SFPSETCC:
    case WG_I_SFPENCC:
    case WG_I_SFPCOMPC:
    case WG_I_SFPPUSHC:
    case WG_I_SFPPOPC:
    case WG_I_SFPCONFIG:
    case WG_I_SFPTRANSP:
    case WG_I_SFPSWAP: writes_lreg = false; break;
    default: break;
    }
    bool overwrites = v->shuffle_lregs == 0xF && wg_op_writes(op) && (1u << op->vd) & 0xE && sub != WG_SUB_STORE;
    if ((writes_lreg && !wg_vector_is_shuffle(op)) || (overwrites && op->insn != WG_I_SFPNOP))
        wg_vector_finding(t, op, WG_F_VECTOR_AFTER_SHUFFLE, op->vd);
}

/* Reports broken sequencing rules. None of them stalls the instruction. */
static inline void check_hazards(wg_tile *t, const wg_vector_op *op, const wg_vector_info *info)
{
    const wg_vector *v = &t->backend.vector;
    uint64_t now = t->sched.now;
    uint32_t pending = wg_vector_pending(t);
    bool direct = v->early.next == now && v->early.next;
    if (direct)
        pending |= UINT32_C(1) << v->early.lreg;
    if (pending && wg_vector_may_read(op, pending) && !wg_vector_reads_late(t, op)) {
        uint32_t early = wg_vector_reads(t, op) & pending;
        if (direct && early >> v->early.lreg & 1)
            wg_vector_take_back(t);
        bool hole = early && v->interlock_at == now && v->interlock_lregs;
        if (early)
            wg_vector_finding(t, op, hole ? WG_F_VECTOR_INTERLOCK_HOLE : WG_F_VECTOR_EARLY_READ,
                              (uint64_t)__builtin_ctz(early));
    }
    if (v->shuffle_at == now && v->shuffle_at)
        check_after_shuffle(t, op);
    if (v->backdoor_at == now && v->backdoor_at && op->vd >= 12 && info->backdoor)
        wg_vector_finding(t, op, WG_F_VECTOR_BACKDOOR_CHANGE, op->vd);
    if (v->ran_at == now && v->ran) {
        unsigned simple = 1u << WG_SUB_SIMPLE, round = 1u << WG_SUB_ROUND;
        unsigned other = info->subunit == WG_SUB_SIMPLE ? round : info->subunit == WG_SUB_ROUND ? simple : 0;
        if (v->ran & other && !(v->ran_bonus & other))
            wg_vector_finding(t, op, WG_F_VECTOR_MACRO_PORT, v->ran);
    }
    /* Ruling: ttsim reports erratum TEN-2932 as corrupting these writes; here they take place. */
    if (t->regs.lreg.lane_config[WG_LANE_ENABLE_DEST_INDEX] && op->vd >= 4 && op->vd < 8 &&
        (info->subunit == WG_SUB_MAD || info->subunit == WG_SUB_ROUND ||
         (info->subunit == WG_SUB_SIMPLE && op->insn != WG_I_SFPSWAP && op->insn != WG_I_SFPCONFIG)))
        wg_vector_finding(t, op, WG_F_VECTOR_INDEX_WRITE, op->vd);
}

/*
 * VD >= 12: the word itself is written to InstructionTemplate[VD - 12] in lanes that have not disabled that. Decided
 * here: in the columns that SFPCONFIG would write. Returns the lanes that execute the instruction.
 */
static uint32_t backdoor(wg_tile *t, const wg_vector_op *op)
{
    wg_lreg *r = &t->regs.lreg;
    uint8_t open = (uint8_t)~r->lane_config[WG_LANE_DISABLE_BACKDOOR_LOAD];
    uint8_t columns = open & wg_vector_config_columns(r);
    for (unsigned c = 0; c < WG_LANE_COLUMNS; c++)
        if (columns >> c & 1)
            r->macro[c].instruction[op->vd - 12] = op->word;
    return ~wg_lanes_of_columns(open);
}

static inline void after(wg_tile *t, const wg_vector_op *op)
{
    wg_vector *v = &t->backend.vector;
    uint64_t next = t->sched.now + 1;
    uint32_t writes = wg_vector_believed_writes(op);
    bool shuffle = wg_vector_is_shuffle(op);
    if (writes && wg_vector_interlocks(t)) {
        v->interlock_at = next;
        v->interlock_lregs = writes;
    }
    if (op->insn == WG_I_SFPSWAP || (shuffle && wg_vector_interlocks(t)))
        v->only_nop_at = next;
    else if (shuffle) {
        v->shuffle_at = next;
        v->shuffle_lregs = op->mod == 2 ? 0xF : 1u << op->vd & 0xFF;
    }
}

/*
 * Completions are tracked one by one. Where nobody observes them and none is delayed, only the thread's last one matters.
 * Returns the cycle of a delayed completion; 0: not delayed.
 */
static inline uint64_t take_off(wg_tile *t, const wg_insn *insn, unsigned thread, unsigned latency)
{
    wg_vector *v = &t->backend.vector;
    uint32_t extra = wg_perturb(t, WG_SITE_COMPLETE, WG_AGENT_VECTOR, wg_unit_event(insn));
    uint64_t done = t->sched.now + wg_takes(t, WG_AGENT_VECTOR, insn, latency, 1) + extra;
    if (__builtin_expect(!wg_fast_completions(t) || v->flights, 0)) {
        if (v->flights && v->last_done > done)
            done = v->last_done; /* in order */
        unsigned place = (v->first_flight + v->flights) % WG_VECTOR_FLIGHTS;
        v->done[place] = v->last_done = done;
        v->insn[place] = *insn;
        if (v->flights < WG_VECTOR_FLIGHTS)
            v->flights++;
    } else {
        wg_fast_completion_untracked(t);
    }
    if (v->done_at[thread] < done)
        v->done_at[thread] = done;
    return extra ? done : 0;
}

void wg_vector_schedule(wg_tile *t)
{
    wg_vector *v = &t->backend.vector;
    uint64_t now = t->sched.now, next = WG_NEVER;
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        uint64_t done = v->done_at[thread];
        next = done > now && done < next ? done : next;
    }
    if (v->load.at > now || v->swap.at > now || v->scheduled)
        next = now + 1;
    if (__builtin_expect(v->flights != 0, 0)) {
        next = v->done[v->first_flight] < next ? v->done[v->first_flight] : next;
        next = v->late.at > now && v->late.at < next ? v->late.at : next;
    }
    if (__builtin_expect((v->used != 0) | (v->scheduled != 0) | (v->flags_at != 0), 0))
        wg_wake_at(&t->sched, WG_AGENT_VECTOR, next);
    else
        wg_set_wake(&t->sched, WG_AGENT_VECTOR, next);
}

static void vector_accept(wg_tile *t, const wg_insn *insn)
{
    wg_vector *v = &t->backend.vector;
    uint64_t now = t->sched.now;
    wg_vector_op op;
    wg_vector_decode(t, insn, &op);
    const wg_vector_info *info = &wg_vector_table[op.insn];
    v->free_at = now + 1;
    v->last_thread = op.thread;
    if (v->scheduled || op.insn == WG_I_SFPLOADMACRO)
        wg_macro_count(t, now, true);
    op.late = take_off(t, insn, op.thread, info->run ? wg_vector_latency(&op) : 1);
    if (!info->run) {
        wg_vector_finding(t, &op, WG_F_UNIMPLEMENTED_INSN, wg_opcode(insn->word));
        wg_vector_schedule(t);
        return;
    }
    if (v->ran_at == now && v->ran >> info->subunit & 1) { /* a scheduled instruction occupies the sub-unit */
        wg_vector_finding(t, &op, WG_F_VECTOR_MACRO_DISCARDED, info->subunit);
        wg_vector_schedule(t);
        return;
    }
    op.pred = &t->regs.lreg.pred;
    op.lanes = info->backdoor && op.vd >= 12 ? backdoor(t, &op) : ~0u;
    if (wg_touch_watched(t))
        touch_lregs(t, &op);
    if (op.lanes)
        check_hazards(t, &op, info);
    info->run(t, &op);
    if (info->subunit == WG_SUB_MAD || info->special)
        after(t, &op);
    wg_vector_schedule(t);
}

/* ---- Phase B ---- */

static inline void complete(wg_tile *t)
{
    wg_vector *v = &t->backend.vector;
    uint64_t now = t->sched.now;
    while (v->flights && v->done[v->first_flight] <= now) {
        WG_EMIT_INSN(t, WG_EV_COMPLETED, WG_AGENT_VECTOR, &v->insn[v->first_flight]);
        v->first_flight = (v->first_flight + 1u) % WG_VECTOR_FLIGHTS;
        v->flights--;
    }
    if (v->flights)
        wg_wake_at(&t->sched, WG_AGENT_VECTOR, v->done[v->first_flight]);
    if (v->late.at)
        wg_wake_at(&t->sched, WG_AGENT_VECTOR, v->late.at);
    /* Waits on the unit end when the thread has nothing left in it. */
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        if (v->done_at[thread] == now) {
            wg_wake_waiting_thread(&t->sched, thread, WG_AGENT_BIT(WG_AGENT_VECTOR));
            wg_wake_idle_watchers(&t->sched);
        } else if (v->done_at[thread] > now) {
            wg_wake_at(&t->sched, WG_AGENT_VECTOR, v->done_at[thread]);
        }
    }
}

static void vector_tick(wg_tile *t)
{
    wg_vector *v = &t->backend.vector;
    uint64_t now = t->sched.now;
    if (v->load.at && v->load.at <= now)
        finish_load(t);
    if (v->late.at && v->late.at <= now)
        wg_vector_store_late(t);
    if (v->used)
        land_results(t);
    if (v->flags_at && v->flags_at <= now) {
        t->regs.lreg.pred = v->flags;
        v->flags_at = 0;
    }
    if (v->swap.at && v->swap.at <= now)
        wg_vector_swap_finish(t);
    if (v->scheduled) {
        if (v->counted + 1 < now)
            wg_macro_count(t, now - 1, false);
        if (v->counted + 1 == now)
            wg_macro_run(t);
        wg_wake_at(&t->sched, WG_AGENT_VECTOR, wg_macro_next(t));
    }
    if (v->flags_at)
        wg_wake_at(&t->sched, WG_AGENT_VECTOR, v->flags_at);
    if (v->swap.at)
        wg_wake_at(&t->sched, WG_AGENT_VECTOR, v->swap.at);
    complete(t);
}

static bool vector_busy(const wg_tile *t, unsigned thread)
{
    return thread < WG_THREADS && t->backend.vector.done_at[thread] > t->sched.now;
}

static void vector_reset(wg_tile *t) { wg_lreg_reset(&t->regs.lreg); }

static void vector_abort(wg_tile *t)
{
    memset(&t->backend.vector, 0, sizeof t->backend.vector);
    vector_reset(t);
}

void wg_sfpnop(wg_tile *t, const wg_vector_op *op)
{
    (void)t;
    (void)op;
}

const wg_unit_ops wg_vector_unit = {
    .name = "Vector Unit",
    .agent = WG_AGENT_VECTOR,
    .reset = vector_reset,
    .abort = vector_abort,
    .check = vector_check,
    .accept = vector_accept,
    .tick = vector_tick,
    .busy = vector_busy,
};
