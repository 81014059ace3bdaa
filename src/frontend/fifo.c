/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first instruction FIFO, the entry of B and the debug bus, and queries about a frontend.
 *
 *     T core: up to four words per request ──> FIFO
 *     B: one word ──> its place at the mux;  debug bus: likewise
 *
 * PIPE-03 to PIPE-05 limit the FIFO. On Blackhole direct instructions (stages.h) past the FIFO still count against it. Decided here: a
 * MOP or REPLAY stops counting when its expansion begins, since the later FIFOs are documented to add room for expansions.
 *
 * Facts: PushTensixInstruction.md, TensixCoprocessor/README.md, SoftReset.md, CSRs.md; PIPE-01…PIPE-06,
 * PIPE-14, PIPE-15.
 */
#include <string.h>

#include "isa/riscv_word.h"
#include "machine/memory.h"
#include "machine/unit.h"
#include "report/findings.h"
#include "frontend/stages.h"
#include "report/touch.h"

static bool is_zero(const wg_tile *t, uint32_t pc)
{
    static const uint8_t zero[16];
    return t->l1 && pc < t->spec->l1_bytes && memcmp(t->l1 + (pc & ~15u), zero, sizeof zero) == 0;
}

/*
 * A word of zeros, fetched amid zeros: no program contains that. The call that led there is shown, if `ra` still has its
 * return address.
 */
static bool left_program(wg_tile *t, const wg_insn *insn)
{
    uint32_t call = 0;
    if (insn->word || insn->source >= t->spec->cores || !is_zero(t, insn->pc))
        return false;
    if (!insn->pc && !is_zero(t, t->core[insn->source].run.pc)) /* it is the host's */
        return false;
    const uint32_t ra = t->core[insn->source].run.r[1] - 4;
    const bool called = wg_code_word(t, ra, &call) && wg_rv_rd(call) == 1 &&
                        (wg_rv_opcode(call) == WG_RV_JAL || wg_rv_opcode(call) == WG_RV_JALR);
    wg_findf(t, WG_F_CORE_NO_CODE,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_B + insn->source), .pc = ra, .has_pc = called},
             called ? "called from here; first at 0x%08x" : "first at 0x%08x", insn->pc);
    return true;
}

/* A slot that holds what reset leaves there. */
static bool not_recorded(wg_tile *t, const wg_insn *insn)
{
    const wg_replay_state *r = &wg_frontend_of(t, insn->thread)->replay;
    if (insn->word || !r->play_left || insn->parent != r->insn.id)
        return false;
    wg_findf(t, WG_F_REPLAY_EMPTY,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + insn->thread),
                          .pc = insn->pc,
                          .has_pc = insn->pc != 0,
                          .word = r->insn.word,
                          .has_word = true,
                          .subject = r->play_at},
             "slot %u", r->play_at);
    return true;
}

void wg_insn_report(wg_tile *t, const wg_insn *insn)
{
    if (left_program(t, insn) || not_recorded(t, insn))
        return;
    const wg_isa_insn *record = wg_isa_decode(t->arch->id, insn->word);
    wg_finding f = {.agent = (uint8_t)(WG_AGENT_THREAD0 + insn->thread),
                    .pc = insn->pc,
                    .has_pc = insn->pc != 0,
                    .word = insn->word,
                    .has_word = true};
    if (record->unit == WG_UNIT_INVALID)
        wg_findf(t, WG_F_INVALID_OPCODE, f, "opcode 0x%02x", wg_opcode(insn->word));
    else
        wg_findf(t, WG_F_SPARE_BITS, f, "%s with bits 0x%06x", record->name,
                 (unsigned)(wg_isa_spare(record, insn->word)));
}

void wg_frontend_reset(wg_tile *t, unsigned thread)
{
    t->frontend[thread] = (wg_frontend){.free = UINT64_MAX};
    wg_ttsync_reset(t, thread);
}

void wg_expander_stall(wg_tile *t, unsigned thread, unsigned expander, bool full)
{
    uint64_t *since = &t->expander_stalled[thread][expander];
    wg_stall stall = {WG_STALL_FIFO_FULL, (uint16_t)expander, (uint8_t)(WG_AGENT_THREAD0 + thread), WG_NEVER};
    if (full)
        WG_EMIT(t, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0 + thread, .thread = (uint8_t)thread, .stall = stall);
    else
        WG_EMIT(t, WG_EV_STALL_END, WG_AGENT_THREAD0 + thread, .thread = (uint8_t)thread, .stall = stall,
                .a = *since - 1);
    *since = full ? t->sched.now + 1 : 0;
}

void wg_insn_swallowed(wg_tile *t, wg_frontend *f, const wg_insn *insn)
{
    if (wg_insn_is_direct(insn))
        wg_direct_left(t, f, insn->thread);
    if (insn->ttsync & WG_TTS_LAST)
        wg_ttsync_dropped(t, insn->thread, insn->parent ? insn->parent : insn->id);
    else if (insn->ttsync & WG_TTS_FIRST)
        f->replay.carry_first = f->replay_busy = true;
    wg_wake_idle_watchers(&t->sched);
}

/* ---- Pushes (phase H) ------------------------------------------------------------------------------- */

__attribute__((noinline)) static unsigned refuse(wg_frontend *f, unsigned thread, unsigned who, wg_stall *why)
{
    f->push_waits |= (uint8_t)who;
    *why = wg_fifo_full(thread);
    return 0;
}

/* One word of a request; `bundle` is Auto TTSync's view of the request. */
static void enqueue(wg_tile *t, wg_frontend *f, unsigned thread, wg_core_id core, uint32_t pc, uint32_t word,
                    wg_tts_bundle *bundle)
{
    unsigned place = wg_place_take(f);
    wg_insn *insn = &f->pool[place];
    unsigned marks = wg_insn_make(t, f, thread, word, pc, (uint8_t)core, 0, insn);
    wg_note_insn(t, WG_EV_PUSHED, WG_AGENT_THREAD0 + thread, insn, 0, insn->source);
    if (__builtin_expect(bundle->attends | (marks & WG_E_ATTENDED), 0) && t->arch->auto_ttsync &&
        wg_ttsync_pushed(t, thread, insn, bundle)) { /* consumed: it takes no place */
        wg_note_insn(t, WG_EV_COMPLETED, WG_AGENT_THREAD0 + thread, insn, 0, 0);
        wg_place_free(f, place);
        return;
    }
    f->fifo[(f->fifo_head + f->fifo_count) % WG_FIFO_RING] =
        (uint16_t)(place | (marks & 0xFFFF) | WG_E_DIRECT | wg_entry_ttsync(insn));
    if (__builtin_expect(t->perturbed, 0) && !f->fifo_count)
        f->take_at = wg_first_look(t, WG_SITE_FIFO_TAKE, WG_PHASE_MOP, thread, insn->id);
    f->fifo_count++;
    f->mops_queued = (uint8_t)(f->mops_queued + marks / WG_E_COUNTED);
}

/* The words of a request from number `done` on; `tracked`: Auto TTSync is to see the request. */
__attribute__((noinline)) static void enqueue_rest(wg_tile *t, wg_frontend *f, unsigned thread, wg_core_id core,
                                                   uint32_t pc, const uint32_t *words, unsigned done, unsigned count,
                                                   bool tracked)
{
    wg_tts_bundle bundle = {.attends = false};
    if (tracked)
        wg_ttsync_arrived(t, thread, &bundle);
    for (; done < count; done++)
        enqueue(t, f, thread, core, pc ? pc + 4 * done : 0, words[done], &bundle);
}

/*
 * The same for the first words of a request, up to one that needs more than a place, without an observer; `from` is
 * thread and source as in wg_insn.rest. Returns how many were enqueued.
 */
static inline unsigned enqueue_direct(wg_frontend *f, const wg_insn_kind *kinds, uint64_t from, uint32_t pc,
                                      const uint32_t *words, unsigned count)
{
    uint64_t free = f->free, id = f->next_id;
    unsigned i, tail = f->fifo_head + f->fifo_count;
    uint32_t step = pc ? 4 : 0; /* fused words are adjacent */
    for (i = 0; i < count; i++, pc += step) {
        const wg_insn_kind *kind = &kinds[words[i] >> 24];
        if (__builtin_expect(((words[i] | 1u << 31) & kind->spare_bits) | kind->marks >> 16, 0))
            break;
        unsigned place = (unsigned)__builtin_ctzll(free);
        wg_insn *insn = &f->pool[place];
        insn->word = words[i];
        insn->pc = pc;
        insn->id = ++id;
        insn->parent = 0;
        insn->rest = kind->rest | from;
        f->fifo[tail++ % WG_FIFO_RING] = (uint16_t)(place | kind->marks | WG_E_DIRECT);
        free &= free - 1;
    }
    f->free = free;
    f->next_id = id;
    f->fifo_count = (uint8_t)(f->fifo_count + i);
    return i;
}

WG_STAGE unsigned push_from_t(wg_tile *t, wg_frontend *f, unsigned thread, wg_core_id core, uint32_t pc,
                              const uint32_t *words, unsigned count)
{
    unsigned room = wg_fifo_room(t->arch, f, thread), taken = count < room ? count : room, done = 0;
    if (taken < count && (taken == 0 || count <= 4)) {
        wg_push_waits(f, count <= 4 ? count : 1);
        return 0;
    }
    bool tracked = t->arch->auto_ttsync && wg_request_arrived(t, f, thread);
    if (__builtin_expect(!(tracked | wg_observed(t)), 1)) {
        const wg_insn_kind *kinds = wg_insn_kinds[t->arch->id];
        uint64_t from = thread | (uint64_t)core << 8;
        done = taken == 1 ? enqueue_direct(f, kinds, from, pc, words, 1) /* compiled without its loop */
                          : enqueue_direct(f, kinds, from, pc, words, taken);
    }
    if (done < taken)
        enqueue_rest(t, f, thread, core, pc, words, done, taken, tracked);
    f->held = (uint8_t)wg_fifo_held(t->arch, f);
    wg_wake_thread(&t->sched, thread);
    return taken;
}

/*
 * Decided here: B's place at the mux holds one instruction for one cycle, and only if the next FIFO has room for it. So B's
 * instructions get exactly as far as that FIFO (PIPE-14).
 */
__attribute__((noinline)) static unsigned push_from_b(wg_tile *t, wg_frontend *f, unsigned thread, uint32_t pc,
                                                      uint32_t word, wg_stall *why)
{
    if (f->b_valid || wg_replay_count(f) + f->debug_valid >= WG_REPLAY_FIFO)
        return refuse(f, thread, WG_WAITS_B, why);
    wg_insn_make(t, f, thread, word, pc, WG_CORE_B, 0, &f->from_b);
    wg_note_insn(t, WG_EV_PUSHED, WG_AGENT_THREAD0 + thread, &f->from_b, 0, WG_CORE_B);
    f->b_valid = true;
    wg_insn_id op = f->from_b.op;
    if (op == WG_I_MOP || op == WG_I_MOP_CFG || op == WG_I_RESOURCEDECL)
        wg_findf(t, WG_F_FRONTEND_INSN_LATE,
                 (wg_finding){.agent = WG_AGENT_CORE_B, .pc = pc, .has_pc = pc != 0, .word = word, .has_word = true},
                 "%s pushed by B to thread %u", wg_isa_decode(t->arch->id, word)->name, thread);
    wg_wake_thread(&t->sched, thread);
    return 1;
}

unsigned wg_push_words(wg_tile *t, unsigned thread, wg_core_id core, uint32_t pc, const uint32_t *words, unsigned count,
                       wg_stall *why)
{
    if (thread >= WG_THREADS || !count)
        return 0;
    wg_frontend *f = wg_frontend_of(t, thread);
    if (core == WG_CORE_B)
        return push_from_b(t, f, thread, pc, words[0], why);
    unsigned taken = push_from_t(t, f, thread, core, pc, words, count);
    if (!taken)
        *why = wg_fifo_full(thread);
    return taken;
}

/* Those that were freed in the last cycles count as taken. */
uint64_t wg_push_known_at(const wg_tile *t, unsigned thread, unsigned count)
{
    const wg_frontend *f = &t->frontend[thread];
    const unsigned taken = wg_fifo_held(t->arch, f);
    if (wg_fifo_takes(t->arch, thread, taken) < count)
        return WG_NEVER;
    for (uint64_t at = t->sched.now;; at++) {
        unsigned unknown = 0;
        for (uint64_t ago = at - f->freed_at, i = 0; ago + i < t->timing->push_credit; i++)
            unknown += f->freed >> 4 * i & 15;
        if (wg_fifo_takes(t->arch, thread, taken + unknown) >= count)
            return at;
    }
}

bool wg_push_refused(wg_tile *t, unsigned thread, wg_core_id core, unsigned count, wg_stall *why)
{
    wg_frontend *f = wg_frontend_of(t, thread);
    if (core == WG_CORE_B || wg_fifo_room(t->arch, f, thread) >= count)
        return false;
    wg_push_waits(f, count);
    *why = wg_fifo_full(thread);
    return true;
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
    if (f->debug_valid || wg_replay_count(f) + f->b_valid >= WG_REPLAY_FIFO) {
        wg_findf(t, WG_F_DEBUG_PUSH_FULL,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + thread), .word = word, .has_word = true},
                 "the FIFO before thread %u's Replay Expander", thread);
        return;
    }
    wg_insn_make(t, f, thread, word, 0, WG_INSN_FROM_DEBUG_BUS, 0, &f->from_debug);
    wg_note_insn(t, WG_EV_PUSHED, WG_AGENT_THREAD0 + thread, &f->from_debug, 0, WG_INSN_FROM_DEBUG_BUS);
    f->debug_valid = true;
    wg_wake_thread(&t->sched, thread);
}

/* ---- Progress of a thread ----------------------------------------------------------------------------- */

bool wg_thread_mop_idle(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    return !f->mops_queued && !f->mop_active;
}

/* A push belongs to the thread from its emission on, wherever it is (ManualTTSync.md: a store in between orders them). */
static bool pushes_under_way(const wg_tile *t, unsigned thread)
{
    return t->regions.memory.queue[WG_CORE_T0 + thread][WG_PATH_PUSH].count != 0;
}

bool wg_mop_under_way(const wg_tile *t, unsigned thread)
{
    const wg_request_queue *queue = &t->regions.memory.queue[WG_CORE_T0 + thread][WG_PATH_PUSH];
    for (unsigned i = 0; i < queue->count; i++) {
        const wg_request *req = &queue->ring[(queue->head + i) % WG_QUEUE_DEPTH];
        for (unsigned w = 0; w < req->bytes / 4u; w++)
            if (wg_isa_decode(t->arch->id, req->data[w])->id == WG_I_MOP)
                return true;
    }
    return false;
}

/* Decided here: a latched wait is not an instruction in flight; its STALLWAIT completed when it latched. */
bool wg_thread_idle(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    return !(f->fifo_count || f->down_head != f->down_end || f->mop_active || f->replay.play_left || f->b_valid ||
             f->debug_valid) &&
           f->ttsync.emitted == f->ttsync.arrived && !pushes_under_way(t, thread) && !wg_units_busy(t, thread);
}

void wg_frontend_discard(wg_tile *t, unsigned thread)
{
    wg_frontend *f = &t->frontend[thread];
    for (; f->fifo_count; f->fifo_count--) {
        const wg_insn *insn = wg_fifo_at(f, 0);
        wg_place_free(f, f->fifo[f->fifo_head]);
        if (insn->ttsync & WG_TTS_LAST)
            wg_ttsync_dropped(t, thread, insn->id);
        f->fifo_head = (uint8_t)((f->fifo_head + 1) % WG_FIFO_RING);
    }
    if (f->mop_active && (f->mop.insn.ttsync & WG_TTS_LAST))
        wg_ttsync_dropped(t, thread, f->mop.insn.id);
    f->mop_active = false;
    f->mops_queued = 0;
    wg_ttsync_core_stopped(t, WG_CORE_T0 + thread);
    wg_push_room(t, f, thread, 1);
    wg_wake_idle_watchers(&t->sched);
    wg_wake_thread(&t->sched, thread);
}

bool wg_replay_fifo_full(const wg_tile *t, unsigned thread)
{
    return wg_replay_count(&t->frontend[thread]) >= WG_REPLAY_FIFO;
}

bool wg_replay_fifo_empty(const wg_tile *t, unsigned thread) { return wg_replay_count(&t->frontend[thread]) == 0; }

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
    static const uint16_t types[WG_UNIT_COUNT] = {[WG_UNIT_SCALAR] = 1 << 2 | TYPE_TDMA,
                                                  [WG_UNIT_MOVER] = 1 << 3 | TYPE_TDMA,
                                                  [WG_UNIT_UNPACK] = 1 << 4 | TYPE_TDMA,
                                                  [WG_UNIT_PACK] = 1 << 5 | TYPE_TDMA,
                                                  [WG_UNIT_CONFIG] = 1 << 6,
                                                  [WG_UNIT_SYNC] = 1 << 7,
                                                  [WG_UNIT_MISC] = TYPE_TDMA,
                                                  [WG_UNIT_VECTOR] = 1 << 9,
                                                  [WG_UNIT_MATRIX] = 1 << 10};
    return unit < WG_UNIT_COUNT ? types[unit] : 0;
}

static uint32_t insn_types(const wg_insn *insn)
{
    if (insn->source == WG_CORE_B || insn->source == WG_INSN_FROM_DEBUG_BUS)
        return 0;
    if (insn->op == WG_I_MOP)
        return TYPE_MOP;
    if (insn->op == WG_I_REPLAY)
        return WG_GET(REPLAY, load_mode, insn->word) && !WG_GET(REPLAY, execute_while_loading, insn->word)
                   ? 0
                   : TYPE_REPLAY;
    return unit_types(insn->unit);
}

uint32_t wg_frontend_queue_status(const wg_tile *t, unsigned thread)
{
    const wg_frontend *f = &t->frontend[thread];
    uint32_t types = f->mop_active ? TYPE_MOP : 0u;
    if (f->replay.play_left)
        types |= insn_types(&f->replay.insn);
    for (unsigned i = 0; i < f->fifo_count; i++)
        types |= insn_types(wg_fifo_at(f, i));
    for (unsigned i = 0; i < wg_replay_count(f); i++)
        types |= insn_types(wg_replay_fifo_at(f, i));
    for (unsigned i = 0; i < wg_gate_count(f); i++)
        types |= insn_types(wg_gate_fifo_at(f, i));
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
