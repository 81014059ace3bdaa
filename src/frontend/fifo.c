/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first instruction FIFO, the place where B and the debug bus come in, and the frontend as a whole.
 *
 *     T core: up to four words per request ──> FIFO
 *     B: one word ──> its place at the mux;  debug bus: likewise
 *
 * How full the FIFO may become is PIPE-03 to PIPE-05. On Blackhole plain instructions behind the FIFO
 * still count against it. Decided here: a MOP or REPLAY stops counting when its expansion begins, since
 * what it makes is what the FIFOs behind are said to add room for.
 *
 * Facts: PushTensixInstruction.md, TensixCoprocessor/README.md, SoftReset.md, CSRs.md; PIPE-01…PIPE-06,
 * PIPE-14, PIPE-15.
 */
#include "backend/unit.h"
#include "explain/findings.h"
#include "frontend/stages.h"

void wg_insn_report(wg_tile *t, const wg_insn *insn, const wg_isa_insn *record)
{
    wg_finding f = {.agent = (uint8_t)(WG_AGENT_THREAD0 + insn->thread), .pc = insn->pc, .has_pc = insn->pc != 0,
                    .word = insn->word, .has_word = true};
    if (record->unit == WG_UNIT_INVALID)
        wg_findf(t, WG_F_INVALID_OPCODE, f, "opcode 0x%02x", (unsigned)(insn->word >> 24));
    else
        wg_findf(t, WG_F_SPARE_BITS, f, "%s with bits 0x%06x", record->name,
                 (unsigned)(insn->word & record->spare_bits));
}

void wg_frontend_reset(wg_tile *t, unsigned thread)
{
    t->frontend[thread] = (wg_frontend){0};
    wg_ttsync_reset(t, thread);
}

void wg_insn_swallowed(wg_tile *t, wg_frontend *f, const wg_insn *insn)
{
    if (wg_insn_is_plain(insn))
        wg_plain_left(t, f);
    if (insn->ttsync & WG_TTS_LAST)
        wg_ttsync_dropped(t, insn->thread, insn->parent ? insn->parent : insn->id);
    else if (insn->ttsync & WG_TTS_FIRST)
        f->replay.carry_first = f->replay_busy = true;
    wg_wake_idle_watchers(&t->sched);
}

/* ---- Pushes (phase H) ------------------------------------------------------------------------------- */

/* How many of `count` words the FIFO takes now. */
static unsigned fifo_room(const wg_tile *t, const wg_frontend *f, unsigned thread, unsigned count)
{
    const wg_arch *arch = t->arch;
    unsigned taken = f->fifo_count + (arch->fifo_counts_downstream ? f->plain_downstream : 0u);
    unsigned depth = arch->fifo_depth[thread];
    if (taken >= depth || (arch->fifo_resume && taken > arch->fifo_resume))
        return 0;
    return count < depth - taken ? count : depth - taken;
}

/* One word of a request; `bundle` is Auto TTSync's view of the request. */
static inline void fifo_enqueue(wg_tile *t, wg_frontend *f, unsigned thread, wg_core_id core, uint32_t pc,
                                uint32_t word, wg_tts_bundle *bundle)
{
    wg_insn *insn = &f->fifo[(f->fifo_head + f->fifo_count) % WG_FIFO_RING];
    wg_insn_make(t, f, thread, word, pc, (uint8_t)core, 0, insn);
    WG_EMIT_INSN(t, WG_EV_PUSHED, WG_AGENT_THREAD0 + thread, insn, .c = insn->source);
    if (__builtin_expect(bundle->attends || wg_ttsync_attends(insn), 0) && t->arch->auto_ttsync &&
        wg_ttsync_pushed(t, thread, insn, bundle)) {   /* consumed: it takes no place */
        WG_EMIT_INSN(t, WG_EV_COMPLETED, WG_AGENT_THREAD0 + thread, insn);
        return;
    }
    if (__builtin_expect(t->perturbed, 0) && !f->fifo_count)
        f->take_at = wg_first_look(t, WG_SITE_FIFO_TAKE, WG_PHASE_MOP, thread, insn->id);
    f->fifo_count++;
    if (__builtin_expect(insn->op == WG_I_MOP, 0))
        f->mops_queued++;
}

static inline unsigned push_from_t(wg_tile *t, wg_frontend *f, unsigned thread, wg_core_id core, uint32_t pc,
                            const uint32_t *words, unsigned count, wg_stall *why)
{
    unsigned taken = fifo_room(t, f, thread, count);
    if (taken < count && (taken == 0 || count <= 4)) {
        f->push_waits |= 1;
        *why = (wg_stall){WG_STALL_PUSH_FIFO_FULL, (uint16_t)thread, (uint8_t)(WG_AGENT_THREAD0 + thread), WG_NEVER};
        return 0;
    }
    wg_tts_bundle bundle = {.attends = false};
    if (t->arch->auto_ttsync)
        wg_request_arrived(t, f, thread, &bundle);
    for (unsigned i = 0; i < taken; i++)
        fifo_enqueue(t, f, thread, core, pc ? pc + 4 * i : 0, words[i], &bundle);   /* fused words are adjacent */
    return taken;
}

/*
 * Decided here: B's place at the mux holds one instruction for one cycle, and only if the FIFO behind it has
 * room for it. So B gets exactly as far as that FIFO (PIPE-14).
 */
__attribute__((noinline)) static unsigned push_from_b(wg_tile *t, wg_frontend *f, unsigned thread, uint32_t pc,
                                                      uint32_t word, wg_stall *why)
{
    if (f->b_valid || f->replay_count + f->debug_valid >= t->arch->replay_fifo_depth) {
        f->push_waits |= 2;
        *why = (wg_stall){WG_STALL_PUSH_FIFO_FULL, (uint16_t)thread, (uint8_t)(WG_AGENT_THREAD0 + thread), WG_NEVER};
        return 0;
    }
    wg_insn_make(t, f, thread, word, pc, WG_CORE_B, 0, &f->from_b);
    WG_EMIT_INSN(t, WG_EV_PUSHED, WG_AGENT_THREAD0 + thread, &f->from_b, .c = WG_CORE_B);
    f->b_valid = true;
    wg_insn_id op = f->from_b.op;
    if (op == WG_I_MOP || op == WG_I_MOP_CFG || op == WG_I_RESOURCEDECL)
        wg_findf(t, WG_F_FRONTEND_INSN_LATE,
                 (wg_finding){.agent = WG_AGENT_CORE_B, .pc = pc, .has_pc = pc != 0, .word = word, .has_word = true},
                 "%s pushed by B to thread %u", wg_isa_decode(t->arch->id, word)->name, thread);
    return 1;
}

unsigned wg_push_words(wg_tile *t, unsigned thread, wg_core_id core, uint32_t pc, const uint32_t *words, unsigned count,
                       wg_stall *why)
{
    if (thread >= WG_THREADS || !count)
        return 0;
    wg_frontend *f = &t->frontend[thread];
    unsigned taken = __builtin_expect(core == WG_CORE_B, 0) ? push_from_b(t, f, thread, pc, words[0], why)
                                                            : push_from_t(t, f, thread, core, pc, words, count, why);
    if (taken)
        wg_wake(&t->sched, WG_AGENT_THREAD0 + thread);
    return taken;
}

/* ---- The debug bus ---------------------------------------------------------------------------------- */

void wg_debug_control(wg_tile *t, unsigned thread, bool debug_bus)
{
    if (thread < WG_THREADS)
        t->frontend[thread].debug_control = debug_bus;
}

void wg_debug_push(wg_tile *t, unsigned thread, uint32_t word)
{
    if (thread >= WG_THREADS)
        return;
    wg_frontend *f = &t->frontend[thread];
    if (f->debug_valid || f->replay_count + f->b_valid >= t->arch->replay_fifo_depth) {
        wg_findf(t, WG_F_DEBUG_PUSH_FULL,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + thread), .word = word, .has_word = true},
                 "the FIFO before thread %u's Replay Expander", thread);
        return;
    }
    wg_insn_make(t, f, thread, word, 0, WG_INSN_FROM_DEBUG_BUS, 0, &f->from_debug);
    WG_EMIT_INSN(t, WG_EV_PUSHED, WG_AGENT_THREAD0 + thread, &f->from_debug, .c = WG_INSN_FROM_DEBUG_BUS);
    f->debug_valid = true;
    wg_wake(&t->sched, WG_AGENT_THREAD0 + thread);
}

/* ---- The frontend as a whole ------------------------------------------------------------------------ */

/* Nothing moved in phases D to G: the earliest cycle at which the thread could act if nobody else did. */
static uint64_t next_look(const wg_tile *t, const wg_frontend *f)
{
    uint64_t now = t->sched.now, next = WG_NEVER;
    if (f->gate_count && f->stall.retry_at < next)
        next = f->stall.retry_at;
    if (f->fifo_count && !f->mop_active) {
        if (f->take_at > now && f->take_at < next)
            next = f->take_at;
        if (f->mop.ready_at > now && f->mop.ready_at < next)
            next = f->mop.ready_at;
    }
    return next > now ? next : now + 1;
}

/* What does not change while wg_frontends() runs. */
typedef struct cycle {
    uint64_t now;
    unsigned gate_depth, replay_depth;
    bool perturbed;
} cycle;

/* Phase F where the expander has nothing to do but let pass. */
static inline bool replay_passes(wg_tile *t, wg_frontend *f, const cycle *c)
{
    unsigned at = f->replay_head, count = f->replay_count, gate = f->gate_count;
    const wg_insn *head = &f->replay_fifo[at];
    if (f->replay_busy || head->op == WG_I_REPLAY)
        return false;
    if (gate >= c->gate_depth)
        return true;
    f->gate[(f->gate_head + gate) % WG_GATE_RING] = *head;
    if (__builtin_expect(c->perturbed, 0)) {
        wg_gate_entered(t, f, head);
        wg_replay_left(t, f);
        return true;
    }
    f->gate_count = (uint8_t)(gate + 1);
    f->replay_head = (uint8_t)((at + 1) % WG_REPLAY_RING);
    f->replay_count = (uint8_t)(count - 1);
    f->moved = true;
    wg_push_room(t, f, 2);
    return true;
}

/* Phase G likewise: no expansion, nobody else at the mux, and no instruction for the MOP Expander. */
static inline bool mop_passes(wg_tile *t, wg_frontend *f, const cycle *c)
{
    unsigned at = f->fifo_head, count = f->fifo_count, replay = f->replay_count;
    const wg_insn *head = &f->fifo[at];
    if ((f->mop_active | f->b_valid | f->debug_valid | f->debug_control) ||
        (head->unit == WG_UNIT_FRONTEND && head->op != WG_I_REPLAY))
        return false;
    if (replay >= c->replay_depth || c->now < f->mop.ready_at || c->now < f->take_at)
        return true;
    f->replay_fifo[(f->replay_head + replay) % WG_REPLAY_RING] = *head;
    f->replay_count = (uint8_t)(replay + 1);
    f->plain_downstream++;
    if (__builtin_expect(c->perturbed, 0)) {
        wg_fifo_left(t, f, head->thread);
        return true;
    }
    f->fifo_head = (uint8_t)((at + 1) % WG_FIFO_RING);
    f->fifo_count = (uint8_t)(count - 1);
    f->moved = true;
    wg_push_room(t, f, 1);
    return true;
}

void wg_frontends(wg_tile *t, unsigned due)
{
    const cycle c = {t->sched.now, t->arch->gate_fifo_depth, t->arch->replay_fifo_depth, t->perturbed};
    t->sched.phase = WG_PHASE_LATCHES;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        wg_frontend *f = &t->frontend[i];
        f->moved = false;
        if (f->latch.kind && (due >> i & 1))
            wg_gate_latch(t, i);
    }
    t->sched.phase = WG_PHASE_GATES;
    wg_gates(t, due);
    t->sched.phase = WG_PHASE_REPLAY;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        wg_frontend *f = &t->frontend[i];
        if ((due >> i & 1) && (f->replay_count | f->replay_busy) && !replay_passes(t, f, &c))
            wg_replay(t, i);
    }
    t->sched.phase = WG_PHASE_MOP;
    for (unsigned i = 0; i < WG_THREADS; i++) {
        wg_frontend *f = &t->frontend[i];
        if (!(due >> i & 1))
            continue;
        if (f->fifo_count ? !mop_passes(t, f, &c) : f->mop_active | f->b_valid | f->debug_valid)
            wg_mop(t, i);
        wg_wake_at(&t->sched, WG_AGENT_THREAD0 + i, f->moved ? c.now + 1 : next_look(t, f));
    }
}

bool wg_thread_mop_idle(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    return !f->mops_queued && !f->mop_active;
}

/* A push that its core has emitted is the thread's, wherever it is (ManualTTSync.md: a store in between orders them). */
static bool pushes_under_way(const wg_tile *t, unsigned thread)
{
    return t->regions.memory.lane[WG_CORE_T0 + thread][WG_PATH_PUSH].count != 0;
}

bool wg_mop_under_way(const wg_tile *t, unsigned thread)
{
    const wg_lane *lane = &t->regions.memory.lane[WG_CORE_T0 + thread][WG_PATH_PUSH];
    for (unsigned i = 0; i < lane->count; i++) {
        const wg_request *req = &lane->queue[(lane->head + i) % WG_LANE_DEPTH];
        for (unsigned w = 0; w < req->bytes / 4u; w++)
            if (wg_isa_decode(t->arch->id, req->data[w])->id == WG_I_MOP)
                return true;
    }
    return false;
}

/* Decided here: a latched wait is no instruction in flight; its STALLWAIT was complete when it latched. */
bool wg_thread_idle(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    return !(f->fifo_count | f->replay_count | f->gate_count | f->mop_active | f->replay.play_left | f->b_valid |
             f->debug_valid) &&
           f->ttsync.emitted == f->ttsync.arrived && !pushes_under_way(t, thread) && !wg_units_busy(t, thread);
}

void wg_frontend_discard(wg_tile *t, unsigned thread)
{
    wg_frontend *f = &t->frontend[thread];
    for (; f->fifo_count; f->fifo_count--) {
        const wg_insn *insn = &f->fifo[f->fifo_head];
        if (insn->ttsync & WG_TTS_LAST)
            wg_ttsync_dropped(t, thread, insn->id);
        f->fifo_head = (uint8_t)((f->fifo_head + 1) % WG_FIFO_RING);
    }
    if (f->mop_active && (f->mop.insn.ttsync & WG_TTS_LAST))
        wg_ttsync_dropped(t, thread, f->mop.insn.id);
    f->mop_active = false;
    f->mops_queued = 0;
    wg_ttsync_core_stopped(t, WG_CORE_T0 + thread);
    wg_push_room(t, f, 1);
    wg_wake_idle_watchers(&t->sched);
    wg_wake(&t->sched, WG_AGENT_THREAD0 + thread);
}

bool wg_replay_fifo_full(const wg_tile *t, unsigned thread)
{
    return t->frontend[thread].replay_count >= t->arch->replay_fifo_depth;
}

bool wg_replay_fifo_empty(const wg_tile *t, unsigned thread) { return t->frontend[thread].replay_count == 0; }

uint32_t wg_instrn_buf_status(const wg_tile *t)
{
    uint32_t status = 0;
    for (unsigned i = 0; i < WG_THREADS; i++)
        status |= (uint32_t)!wg_replay_fifo_full(t, i) << i | (uint32_t)wg_replay_fifo_empty(t, i) << (4 + i);
    return status;
}

/* ---- tt_cfg_qstatus, tt_cfg_bstatus ----------------------------------------------------------------- */

enum { TYPE_REPLAY = 1 << 0, TYPE_MOP = 1 << 1, TYPE_TDMA = 1 << 8 };

static uint32_t unit_types(unsigned unit)
{
    static const uint16_t types[WG_UNIT_COUNT] = {
        [WG_UNIT_SCALAR] = 1 << 2 | TYPE_TDMA, [WG_UNIT_MOVER] = 1 << 3 | TYPE_TDMA,
        [WG_UNIT_UNPACK] = 1 << 4 | TYPE_TDMA, [WG_UNIT_PACK] = 1 << 5 | TYPE_TDMA, [WG_UNIT_CONFIG] = 1 << 6,
        [WG_UNIT_SYNC] = 1 << 7, [WG_UNIT_MISC] = TYPE_TDMA, [WG_UNIT_VECTOR] = 1 << 9, [WG_UNIT_MATRIX] = 1 << 10};
    return unit < WG_UNIT_COUNT ? types[unit] : 0;
}

static uint32_t insn_types(const wg_insn *insn)
{
    if (insn->source == WG_CORE_B || insn->source == WG_INSN_FROM_DEBUG_BUS)
        return 0;
    if (insn->op == WG_I_MOP)
        return TYPE_MOP;
    if (insn->op == WG_I_REPLAY)
        return (insn->word & 3) == 1 ? 0 : TYPE_REPLAY;   /* not one that only records */
    return unit_types(insn->unit);
}

uint32_t wg_frontend_queue_status(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    uint32_t types = f->mop_active ? TYPE_MOP : 0u;
    if (f->replay.play_left)
        types |= insn_types(&f->replay.insn);
    for (unsigned i = 0; i < f->fifo_count; i++)
        types |= insn_types(&f->fifo[(f->fifo_head + i) % WG_FIFO_RING]);
    for (unsigned i = 0; i < f->replay_count; i++)
        types |= insn_types(&f->replay_fifo[(f->replay_head + i) % WG_REPLAY_RING]);
    for (unsigned i = 0; i < f->gate_count; i++)
        types |= insn_types(&f->gate[(f->gate_head + i) % WG_GATE_RING]);
    return types;
}

uint32_t wg_frontend_busy_status(const wg_tile *t, unsigned thread)
{
    uint32_t types = wg_frontend_queue_status(t, thread);
    for (unsigned unit = WG_UNIT_SYNC; unit < WG_UNIT_COUNT; unit++)
        if (wg_units[unit]->busy(t, thread))
            types |= unit_types(unit);
    return types;
}
