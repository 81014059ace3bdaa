/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Wait Gate: the latched wait (phase D), and which heads pass to which units (phase E).
 *
 *     head ──> latched wait ──> Auto TTSync ──> the thread's own units hold it? ──> its unit ──> accepted
 *
 * Phase E uses the latch as of the start of the cycle; a wait that D finds fulfilled is cleared for the next cycle, and a wait
 * accepted in a cycle is latched from the next on. Hence one bubble after a wait whose condition holds, and one cycle between
 * the condition becoming true and the block lifting.
 *
 * If several heads want one unit, the unit checks each against the state before any acceptance, and the first acceptable one
 * in round-robin order passes. The Configuration and Miscellaneous Units take one per thread, so the heads are checked one
 * after the other; the Sync Unit arbitrates its own slots (sync.c).
 *
 * Facts: WaitGate.md, STALLWAIT.md, SEMWAIT.md, STREAMWAIT.md; GATE-*; PIPE-19, PIPE-20.
 */
#include "backend/config.h"
#include "machine/sync.h"
#include "machine/unit.h"
#include "report/findings.h"
#include "frontend/gate.h"
#include "frontend/stages.h"
#include "isa/config_fields.h"
#include "machine/overlay.h"
#include "report/touch.h"

/* ---- Conditions ------------------------------------------------------------------------------------- */

static bool part_busy(const wg_tile *t, wg_unit unit, unsigned thread, unsigned part)
{
    const wg_unit_ops *ops = wg_units[unit];
    return ops->part_busy ? ops->part_busy(t, thread, part) : ops->busy(t, thread);
}

static bool any_thread_busy(const wg_tile *t, wg_unit unit)
{
    const wg_unit_ops *ops = wg_units[unit];
    return ops->busy(t, 0) || ops->busy(t, 1) || ops->busy(t, 2);
}

/* Must a STALLWAIT of the thread keep waiting? One predicate for each condition of isa/waits.h. */
#define WAITS(id) static inline bool waits_##id(const wg_tile *t, unsigned thread)
WAITS(SCALAR_MEMORY) { return part_busy(t, WG_UNIT_SCALAR, thread, 0); }
WAITS(UNPACK0) { return part_busy(t, WG_UNIT_UNPACK, thread, 0); }
WAITS(UNPACK1) { return part_busy(t, WG_UNIT_UNPACK, thread, 1); }
WAITS(PACK0) { return part_busy(t, WG_UNIT_PACK, thread, 0); }
WAITS(PACK1) { return part_busy(t, WG_UNIT_PACK, thread, 1); }
WAITS(PACK2) { return part_busy(t, WG_UNIT_PACK, thread, 2); }
WAITS(PACK3) { return part_busy(t, WG_UNIT_PACK, thread, 3); }
WAITS(MATRIX) { return wg_units[WG_UNIT_MATRIX]->busy(t, thread); }
WAITS(SRCA_UNPACKERS) { return (void)thread, t->regs.src.owner_a[t->regs.src.unpack_bank_a & 1] != WG_SRC_UNPACKERS; }
WAITS(SRCB_UNPACKERS) { return (void)thread, t->regs.src.owner_b[t->regs.src.unpack_bank_b & 1] != WG_SRC_UNPACKERS; }
WAITS(SRCA_MATRIX) { return (void)thread, !wg_src_is_valid(&t->regs.src, WG_SRCA, t->regs.src.matrix_bank_a); }
WAITS(SRCB_MATRIX) { return (void)thread, !wg_src_is_valid(&t->regs.src, WG_SRCB, t->regs.src.matrix_bank_b); }
WAITS(MOVER) { return part_busy(t, WG_UNIT_MOVER, thread, 0); }
WAITS(RISCV_REQUESTS) { return wg_ttsync_requests_pending(t, thread); }
WAITS(VECTOR) { return wg_units[WG_UNIT_VECTOR]->busy(t, thread); }
WAITS(CONFIG) { return (void)thread, any_thread_busy(t, WG_UNIT_CONFIG); }
#undef WAITS

/* *holder: the agent that must act first. */
static bool keeps_waiting(const wg_tile *t, unsigned thread, unsigned condition, uint8_t *holder)
{
    switch ((wg_wait_condition)condition) {
#define ROW(id, who, wakes, text) \
    case WG_WAIT_##id: \
        *holder = (uint8_t)(WG_AGENT_##who + (WG_AGENT_##who == WG_AGENT_CORE_T0 ? thread : 0)); \
        return waits_##id(t, thread);
        WG_EACH_WAIT(ROW)
#undef ROW
    case WG_WAIT_NOTHING:
    case WG_WAIT_COUNT: break;
    }
    *holder = WG_AGENT_NONE;
    return false;
}

/* The conditions (by bit), or semaphores, of the latched wait that do not hold; with `all` unset, the first. */
static uint16_t unmet(const wg_tile *t, unsigned thread, const wg_latch *l, bool all, uint8_t *holder)
{
    uint16_t left = 0;
    uint8_t who = WG_AGENT_NONE;
    *holder = WG_AGENT_NONE;
    switch ((wg_latch_kind)l->kind) {
    case WG_LATCH_EMPTY: break;
    case WG_LATCH_STALLWAIT:
        for (unsigned mask = l->conditions; mask; mask &= mask - 1) {
            unsigned bit = (unsigned)__builtin_ctz(mask);
            if (!keeps_waiting(t, thread, t->arch->wait_conditions[bit], &who))
                continue;
            if (!left)
                *holder = who;
            left |= (uint16_t)(1u << bit);
            if (!all)
                break;
        }
        break;
    case WG_LATCH_SEMWAIT:
        for (unsigned mask = l->semaphores; mask; mask &= mask - 1) {
            unsigned s = (unsigned)__builtin_ctz(mask);
            const wg_sync *sync = &t->backend.sync;
            if (((l->conditions & 1) && sync->value[s] == 0) ||
                ((l->conditions & 2) && sync->value[s] >= sync->max[s])) {
                left |= (uint16_t)(1u << s);
                if (!all)
                    break;
            }
        }
        break;
    case WG_LATCH_STREAMWAIT: {
        uint32_t stream = wg_tcfg_get(t->arch->id, WG_TCFG_STREAM_ID_SYNC_SEC0_BankSel + (wg_tcfg_id)l->stream_select,
                                      t->regs.config.thread[thread]);
        unsigned reg = l->stream_index ? WG_STREAM_NUM_MSGS_RECEIVED : WG_STREAM_CURR_PHASE;
        left = wg_overlay_stream_read(t, stream, reg) < l->target;
        break;
    }
    }
    return left;
}

/* The common SEMWAIT, on one semaphore. */
static inline bool semaphore_ready(const wg_sync *sync, const wg_latch *l)
{
    unsigned s = (unsigned)__builtin_ctz(l->semaphores);
    return !((l->conditions & 1 && !sync->value[s]) || (l->conditions & 2 && sync->value[s] >= sync->max[s]));
}

/*
 * Reports which of several things a wait is still for. What has held once does not count again, so that only becoming true
 * matters, which wakes the thread.
 */
static void note_unmet(wg_tile *t, unsigned thread, const wg_latch *l)
{
    const unsigned all = l->kind == WG_LATCH_STALLWAIT ? l->conditions
                         : l->kind == WG_LATCH_SEMWAIT ? l->semaphores
                                                       : 0;
    uint8_t holder = WG_AGENT_NONE;
    if (!(all & (all - 1)))
        return;
    const uint16_t left = t->unmet[thread] & unmet(t, thread, l, true, &holder);
    if (!left || left == t->unmet[thread])
        return;
    t->unmet[thread] = left;
    holder = WG_AGENT_NONE;
    if (l->kind == WG_LATCH_STALLWAIT)
        keeps_waiting(t, thread, t->arch->wait_conditions[__builtin_ctz(left)], &holder);
    WG_EMIT(t, WG_EV_UNMET, WG_AGENT_THREAD0 + thread, .word = l->word, .id = l->id, .pc = l->pc,
            .thread = (uint8_t)thread, .a = left, .b = holder);
}

bool wg_gate_latch(wg_tile *t, unsigned thread, bool observed)
{
    wg_latch *l = &t->frontend[thread].latch;
    if (observed && wg_watched(t, WG_EV_UNMET))
        note_unmet(t, thread, l);
    if (l->kind == WG_LATCH_SEMWAIT && l->semaphores && !(l->semaphores & (l->semaphores - 1))) {
        l->holder = WG_AGENT_NONE;
        if (!semaphore_ready(&t->backend.sync, l))
            return false;
    } else if (l->kind == WG_LATCH_EMPTY || unmet(t, thread, l, false, &l->holder)) {
        return false;
    }
    l->met = true;
    if (!observed)
        return true;
    const wg_src *src = &t->regs.src;
    WG_EMIT(t, WG_EV_RELEASED, WG_AGENT_THREAD0 + thread, .word = l->word, .id = l->id, .pc = l->pc,
            .thread = (uint8_t)thread,
            .a = (src->matrix_bank_a & 1u) | (src->matrix_bank_b & 1u) << 1 | (src->unpack_bank_a & 1u) << 2 |
                 (src->unpack_bank_b & 1u) << 3);
    return true;
}

/* The causes that can end a STALLWAIT, see wg_wake_waiting(). */
static uint32_t causes_of(const wg_arch *arch, unsigned conditions)
{
#define CAUSE_UNIT(who) WG_AGENT_BIT(WG_AGENT_##who)
#define CAUSE_SRC(who) WG_CAUSE_SRC
#define CAUSE_ANY(who) WG_CAUSE_ANY
#define ROW(id, who, wakes, text) [WG_WAIT_##id] = CAUSE_##wakes(who),
    static const uint32_t by_condition[WG_WAIT_COUNT] = {[WG_WAIT_NOTHING] = WG_CAUSE_ANY, WG_EACH_WAIT(ROW)};
#undef ROW
#undef CAUSE_ANY
#undef CAUSE_SRC
#undef CAUSE_UNIT
    uint32_t causes = 0;
    for (; conditions; conditions &= conditions - 1)
        causes |= by_condition[arch->wait_conditions[__builtin_ctz(conditions)]];
    return causes;
}

/* ---- Latching --------------------------------------------------------------------------------------- */

static void report(wg_tile *t, wg_finding_code code, const wg_insn *insn, uint64_t subject, const char *what)
{
    wg_findf(t, code,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + insn->thread),
                          .pc = insn->pc,
                          .has_pc = insn->pc != 0,
                          .word = insn->word,
                          .has_word = true,
                          .subject = subject},
             "%s", what);
}

/* A STALLWAIT, SEMWAIT or STREAMWAIT passes: latched from the next cycle on. */
static void latch_wait(wg_tile *t, wg_frontend *f, const wg_insn *insn, bool observed)
{
    wg_latch *l = &f->latch;
    if (__builtin_expect(l->kind && !l->met, 0))
        report(t, WG_F_WAIT_REPLACED, insn, l->word, "the latched wait is forgotten unmet");
    uint32_t word = insn->word;
    uint16_t block = (uint16_t)WG_GET(STALLWAIT, stall_res, word);
    *l = (wg_latch){.id = insn->id, .word = word, .pc = insn->pc, .kind = WG_LATCH_STALLWAIT};
    t->unmet[insn->thread] = UINT16_MAX;
    l->block = block == 0x1FF ? block | WG_BLOCK_ALL_NINE : block ? block : WG_B6;
    f->blocks_all = block == 0x1FF;
    if (insn->op == WG_I_STALLWAIT) {
        l->conditions = (uint16_t)wg_wait_conditions(t->arch, word);
        if (!l->conditions)
            l->conditions = t->arch->wait_default;
    } else if (insn->op == WG_I_SEMWAIT) {
        l->conditions = (uint16_t)WG_GET(SEMWAIT, wait_sem_cond, word);
        l->semaphores = (uint8_t)WG_GET(SEMWAIT, sem_sel, word);
        l->kind = WG_LATCH_SEMWAIT;
        if (!l->conditions) { /* GATE-09: as in the earlier documentation */
            report(t, WG_F_SEMWAIT_NO_CONDITION, insn, 0, "waits like STALLWAIT with condition mask 0");
            l->kind = WG_LATCH_STALLWAIT;
            l->semaphores = 0;
            l->conditions = t->arch->wait_default;
        }
    } else {
        const uint16_t *cfg = t->regs.config.thread[insn->thread];
        l->kind = WG_LATCH_STREAMWAIT;
        l->stream_index = (uint8_t)WG_OPERAND(BH, STREAMWAIT, target_sel, word);
        l->stream_select = (uint8_t)WG_OPERAND(BH, STREAMWAIT, wait_stream_sel, word);
        uint32_t high = wg_tcfg_get(
            t->arch->id, l->stream_index ? WG_TCFG_STREAMWAIT_NUM_MSGS_HI_Val : WG_TCFG_STREAMWAIT_PHASE_HI_Val, cfg);
        l->target = high << 10 | WG_OPERAND(BH, STREAMWAIT, target_value, word);
    }
    l->causes = l->kind == WG_LATCH_STALLWAIT ? causes_of(t->arch, l->conditions)
                : l->kind == WG_LATCH_SEMWAIT ? WG_AGENT_BIT(WG_AGENT_SYNC)
                                              : WG_CAUSE_ANY;
    if (observed)
        wg_note_insn(t, WG_EV_LATCHED, WG_AGENT_THREAD0 + insn->thread, insn, 0, insn->source);
}

/* ---- Stalls and passing ----------------------------------------------------------------------------- */

void wg_gate_issue_watched(wg_tile *t, const wg_insn *head, unsigned agent)
{
    /* Both unpackers tick as one agent; the event names the one that works. */
    unsigned into = agent == WG_AGENT_UNPACK0 ? agent + WG_GET(UNPACR, Unpack_block_selection, head->word) : agent;
    wg_note_insn(t, WG_EV_ISSUED, WG_AGENT_THREAD0 + head->thread, head, into, head->source);
    if (head->ttsync && wg_watched(t, WG_EV_TRACKED))
        wg_ttsync_passes(t, head);
    wg_touch_by(t, agent, head);
}

/* Emits events only when the reason, or the resource it names, changes. */
void wg_gate_waits(wg_tile *t, wg_frontend *f, const wg_insn *head, const wg_stall *why)
{
    if (f->stall.reason == why->reason && f->stall.resource == why->resource) {
        f->stall.holder = why->holder;
        f->stall.retry_at = why->retry_at;
        return;
    }
    if (f->stalled)
        wg_gate_stall_ends(t, f, head, true);
    wg_gate_keep(f, why);
    f->stalled = true;
    f->stalled_since = t->sched.now;
    WG_EMIT_INSN(t, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0 + head->thread, head, .c = head->source, .stall = *why);
    if (__builtin_expect(why->reason == WG_STALL_MUTEX_INVALID, 0))
        report(t, WG_F_MUTEX_INVALID, head, why->resource, "waits forever");
}

/* NOP, and any word that no unit takes: done once past the gate. */
WG_STAGE void pass_nop(wg_tile *t, wg_frontend *f, const wg_insn *head, const bool observed)
{
    wg_gate_issue(t, f, head, WG_AGENT_NONE, observed);
    if (observed) {
        wg_note_insn(t, WG_EV_COMPLETED, WG_AGENT_THREAD0 + head->thread, head, 0, 0);
        wg_touch_by_nobody(t);
    }
    wg_gate_pop(t, f, head, observed);
}

WG_STAGE void pass(wg_tile *t, wg_frontend *f, const wg_insn *head, unsigned unit, const bool observed)
{
    const wg_unit_ops *ops = wg_units[unit];
    unsigned thread = head->thread;
    wg_gate_issue(t, f, head, ops->agent, observed); /* touches are attributed to it from here on */
    ops->accept(t, head);
    if (observed)
        wg_touch_by_nobody(t);
    if (head->op == WG_I_SETC16)
        wg_ttsync_setc16_passed(t, thread, head->id);
    if (ops->holds)
        f->holders |= (uint16_t)(1u << unit);
    t->backend.turn[unit].next = (uint8_t)(thread == WG_THREADS - 1 ? 0 : thread + 1);
    wg_gate_pop(t, f, head, observed);
}

/* ---- Stalls before the unit's check ------------------------------------------------------------------- */

bool wg_gate_own_units_hold(wg_tile *t, wg_frontend *f, unsigned thread, wg_stall *why)
{
    for (unsigned mask = f->holders; mask; mask &= mask - 1) {
        unsigned unit = (unsigned)__builtin_ctz(mask);
        if (wg_units[unit]->holds(t, thread, why))
            return true;
        f->holders &= (uint16_t) ~(1u << unit);
    }
    return false;
}

WG_STAGE bool held(wg_tile *t, wg_frontend *f, unsigned thread, const wg_insn *head, wg_stall *why, const bool observed)
{
    /* Called in every case: its linger time runs whatever else stalls the head. */
    wg_stall ttsync;
    bool by_ttsync = __builtin_expect(head->ttsync & WG_TTS_FIRST, 0) && wg_ttsync_gate_blocked(t, thread, &ttsync);
    if (f->latch.block & head->block) {
        *why = wg_gate_caught(f, head);
        if (by_ttsync && ttsync.retry_at < why->retry_at)
            why->retry_at = ttsync.retry_at;
        return true;
    }
    if (by_ttsync) {
        *why = ttsync;
        return true;
    }
    if (__builtin_expect(f->holders, 0) && wg_gate_own_units_hold(t, f, thread, why))
        return true;
    if (observed && t->sched.now < f->accept_at) {
        *why = (wg_stall){WG_STALL_UNIT_BUSY, head->unit, WG_AGENT_NONE, f->accept_at};
        return true;
    }
    return false;
}

/* ---- Phase E ----------------------------------------------------------------------------------------- */

enum { ONE_PER_THREAD = 1u << WG_UNIT_CONFIG | 1u << WG_UNIT_MISC }; /* PIPE-19 */

/* Does the unit take this instruction now? Not if soft reset blocks it. */
static inline bool unit_takes(wg_tile *t, unsigned unit, const wg_insn *head, wg_stall *why)
{
    if (__builtin_expect(wg_in_soft_reset(&t->regions.control, WG_RESET_UNITS), 0) && wg_unit_held(t, unit)) {
        *why = (wg_stall){WG_STALL_UNIT_BUSY, (uint16_t)unit, WG_AGENT_HOST, WG_NEVER};
        return false;
    }
    return wg_unit_takes(t, wg_units[unit], head, why);
}

/* The head alone wants `unit`. */
WG_STAGE void serve(wg_tile *t, wg_frontend *f, const wg_insn *head, unsigned unit, const bool observed)
{
    wg_stall why;
    if (unit_takes(t, unit, head, &why))
        pass(t, f, head, unit, observed);
    else
        wg_gate_waits(t, f, head, &why);
}

/* The heads of the threads in `mates`, more than one, all want `unit`. */
WG_STAGE void arbitrate(wg_tile *t, unsigned mates, unsigned unit, const bool observed)
{
    unsigned first = t->backend.turn[unit].next, winner = WG_THREADS;
    wg_stall why[WG_THREADS];
    unsigned refused = 0;
    for (unsigned k = 0; k < WG_THREADS; k++) {
        unsigned thread = first + k < WG_THREADS ? first + k : first + k - WG_THREADS;
        if (!(mates >> thread & 1))
            continue;
        wg_frontend *f = wg_frontend_of(t, thread);
        const wg_insn *head = wg_gate_fifo_at(f, 0);
        if (!unit_takes(t, unit, head, &why[thread])) {
            refused |= 1u << thread;
        } else if (ONE_PER_THREAD >> unit & 1) {
            pass(t, f, head, unit, observed);
        } else if (winner == WG_THREADS) {
            winner = thread;
        } else {
            why[thread] = (wg_stall){WG_STALL_ARBITRATION, (uint16_t)unit, (uint8_t)(WG_AGENT_THREAD0 + winner),
                                     t->sched.now + 1};
            refused |= 1u << thread;
        }
    }
    if (winner != WG_THREADS)
        pass(t, wg_frontend_of(t, winner), wg_gate_head(t, winner), unit, observed);
    for (unsigned thread = 0; thread < WG_THREADS; thread++)
        if (refused >> thread & 1)
            wg_gate_waits(t, &t->frontend[thread], wg_gate_head(t, thread), &why[thread]);
}

/* The head, an instruction of the Sync Unit, was granted: it passes and takes effect in this cycle. */
WG_STAGE void pass_sync(wg_tile *t, wg_frontend *f, const wg_insn *head, const bool observed)
{
    wg_gate_issue(t, f, head, WG_AGENT_SYNC, observed); /* touches are attributed to it from here on */
    if (head->op == WG_I_STALLWAIT || head->op == WG_I_SEMWAIT || head->op == WG_I_STREAMWAIT)
        latch_wait(t, f, head, observed);
    else
        wg_sync_execute(t, head, observed);
    if (observed) {
        wg_note_insn(t, WG_EV_COMPLETED, WG_AGENT_SYNC, head, 0, 0);
        wg_touch_by_nobody(t);
    }
    wg_gate_pop(t, f, head, observed);
}

bool wg_gate_serve_sync(wg_tile *t, wg_frontend *f, unsigned thread, const wg_insn *head, wg_stall *why)
{
    if (!wg_sync_grant(t, thread, head, why))
        return false;
    pass_sync(t, f, head, false);
    return true;
}

/* One thread's gate, where no other's (and no core's store to a semaphore) competes with it. */
WG_STAGE void gate_alone(wg_tile *t, unsigned thread, const bool observed)
{
    wg_frontend *f = wg_frontend_of(t, thread);
    if (!wg_gate_count(f))
        return;
    const wg_insn *head = wg_gate_fifo_at(f, 0);
    unsigned unit = head->unit;
    wg_stall why;
    if (held(t, f, thread, head, &why, observed))
        wg_gate_waits(t, f, head, &why);
    else if (unit <= WG_UNIT_INVALID)
        pass_nop(t, f, head, observed);
    else if (unit != WG_UNIT_SYNC)
        serve(t, f, head, unit, observed);
    else if (wg_sync_grant(t, thread, head, &why))
        pass_sync(t, f, head, observed);
    else
        wg_gate_waits(t, f, head, &why);
}

/* Those of the threads in `due`, and the stores of cores to semaphores. */
WG_STAGE void gates(wg_tile *t, unsigned due, const bool observed)
{
    unsigned units = 0, sync = 0;
    uint8_t mates[WG_UNIT_COUNT]; /* threads that want a unit; valid for those in `units` */
    wg_stall why;
    for (unsigned thread = 0; thread < WG_THREADS; thread++) {
        if (!(due >> thread & 1))
            continue;
        wg_frontend *f = wg_frontend_of(t, thread);
        if (!wg_gate_count(f))
            continue;
        const wg_insn *head = wg_gate_fifo_at(f, 0);
        unsigned unit = head->unit;
        if (held(t, f, thread, head, &why, observed))
            wg_gate_waits(t, f, head, &why);
        else if (unit <= WG_UNIT_INVALID)
            pass_nop(t, f, head, observed);
        else if (unit == WG_UNIT_SYNC)
            sync |= 1u << thread;
        else {
            mates[unit] = (uint8_t)((units >> unit & 1 ? mates[unit] : 0) | 1u << thread);
            units |= 1u << unit;
        }
    }
    if (sync | t->backend.sync.core_waits) {
        wg_stall lost[WG_THREADS];
        unsigned granted = wg_sync_arbitrate(t, sync, lost);
        for (unsigned thread = 0; thread < WG_THREADS; thread++) {
            if (!(sync >> thread & 1))
                continue;
            wg_frontend *f = wg_frontend_of(t, thread);
            if (granted >> thread & 1)
                pass_sync(t, f, wg_gate_fifo_at(f, 0), observed);
            else
                wg_gate_waits(t, f, wg_gate_fifo_at(f, 0), &lost[thread]);
        }
    }
    for (; units; units &= units - 1) { /* in enum order, whatever else is due */
        unsigned unit = (unsigned)__builtin_ctz(units), some = mates[unit];
        if (some & (some - 1)) {
            arbitrate(t, some, unit, observed);
        } else {
            wg_frontend *f = wg_frontend_of(t, (unsigned)__builtin_ctz(some));
            serve(t, f, wg_gate_fifo_at(f, 0), unit, observed);
        }
    }
}

WG_OBSERVED void gates_observed(wg_tile *t, unsigned due) { gates(t, due, true); }
__attribute__((noinline)) static void gates_together(wg_tile *t, unsigned due) { gates(t, due, false); }

void wg_gates(wg_tile *t, unsigned due, bool observed)
{
    if (observed)
        gates_observed(t, due);
    else if ((due & (due - 1)) | t->backend.sync.core_waits)
        gates_together(t, due);
    else
        gate_alone(t, (unsigned)__builtin_ctz(due), false);
}

/* ---- For the hang report and the debugger ------------------------------------------------------------ */

void wg_gate_state(const wg_tile *t, unsigned thread, wg_gate_info *out)
{
    const wg_frontend *f = &t->frontend[thread % WG_THREADS];
    *out = (wg_gate_info){.fifo = f->fifo_count,
                          .replay_fifo = (uint8_t)(wg_replay_count(f) + f->b_valid + f->debug_valid),
                          .gate_fifo = (uint8_t)wg_gate_count(f),
                          .direct_downstream = f->direct_downstream,
                          .has_head = wg_gate_count(f) != 0,
                          .expanding = f->mop_active,
                          .replaying = f->replay.play_left,
                          .recording = f->replay.record_left,
                          .latch = f->latch,
                          .unmet_holder = WG_AGENT_NONE,
                          .stall = f->stall,
                          .stalled_since = f->stalled_since};
    if (wg_gate_count(f))
        out->head = *wg_gate_fifo_at(f, 0);
    if (f->mop_active) {
        out->mop = f->mop.insn;
        out->mop_outer = f->mop.template ? f->mop.j : f->mop.i;
        out->mop_inner = f->mop.template ? f->mop.i : f->mop.step;
    }
    if (f->replay.play_left)
        out->replay = f->replay.insn;
    out->unmet = unmet(t, thread % WG_THREADS, &f->latch, true, &out->unmet_holder);
}
