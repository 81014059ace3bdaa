/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MOP Expander and the mux behind it (phase G).
 *
 *     FIFO ──> MOP: a template of MopCfg, one instruction per cycle ──┐
 *              MOP_CFG: 16 bits of mask, gone                         mux ──> FIFO before the Replay Expander
 *              anything else: passes                                  │
 *     B, debug bus ───────────────────────────────────────────────────┘  (T's instruction is lost if both come)
 *
 * MopCfg is sampled during the expansion: counts and flags when the MOP is taken, each instruction in the cycle in which it
 * is emitted (PIPE-17). Decided here: a MOP's first instruction is emitted in the cycle that takes it, as for REPLAY, since
 * consecutive MOPs lose no cycle; a MOP without output takes one cycle.
 *
 * Facts: MOPExpander.md, MOP.md, MOP_CFG.md, TensixCoprocessor/README.md (mux); PIPE-14…PIPE-17.
 */
#include "frontend/stages.h"

#include "report/findings.h"
#include "report/touch.h"

static bool is_nop(uint32_t word) { return wg_opcode(word) == WG_OPCODE_NOP; }

enum { T0_A0, T0_A1, T0_A2, T0_A3, T0_B, T0_END }; /* template 0: steps of an iteration */
enum { HAS_B = 1, HAS_A123 = 2 };

static void begin_template_0(wg_mop_state *m, const uint32_t *cfg)
{
    m->mask = (uint32_t)m->mask_hi << 16 | WG_GET(MOP, zmask_lo16, m->insn.word);
    m->outer = (uint8_t)(WG_GET(MOP, loop_count, m->insn.word) + 1);
    m->flags = (uint8_t)(cfg[1] & (HAS_B | HAS_A123));
    m->i = 0;
    m->step = T0_A0;
}

static void begin_template_1(wg_mop_state *m, const uint32_t *cfg)
{
    m->outer = (uint8_t)(cfg[0] & 127);
    m->alternates = !is_nop(cfg[6]);
    m->inner = (uint16_t)((cfg[1] & 127) << m->alternates);
    if (m->outer == 1 && is_nop(cfg[2]) && m->inner == 0 && !is_nop(cfg[3]))
        m->outer = 129; /* hardware bug: 128 iterations too many (PIPE-16) */
    m->j = 0;
    m->i = 0;
    m->step = WG_MOP_START;
}

/* Finds the next instruction of the expansion, skipping empty steps; false: there is none. */
static bool find_template_0(wg_mop_state *m, const uint32_t *cfg, uint32_t *word)
{
    while (m->i < m->outer) {
        bool skip = m->mask & 1;
        switch (m->step) {
        case T0_A0: *word = cfg[skip ? 7 : 3]; return true;
        case T0_A1:
        case T0_A2:
        case T0_A3:
            if (!skip && (m->flags & HAS_A123)) {
                *word = cfg[3 + m->step];
                return true;
            }
            break;
        case T0_B:
            if (m->flags & HAS_B) {
                *word = cfg[skip ? 8 : 2];
                return true;
            }
            break;
        default: break;
        }
        if (++m->step >= T0_END) {
            m->step = T0_A0;
            m->mask >>= 1;
            m->i++;
        }
    }
    return false;
}

static bool find_template_1(wg_mop_state *m, const uint32_t *cfg, uint32_t *word)
{
    while (m->j < m->outer) {
        switch (m->step) {
        case WG_MOP_START:
            *word = cfg[2];
            if (!is_nop(*word))
                return true;
            m->step = WG_MOP_LOOP;
            m->i = 0;
            break;
        case WG_MOP_LOOP:
            if (m->i < m->inner) {
                bool last = m->i + 1 == m->inner;
                *word = !last ? cfg[m->alternates && (m->i & 1) ? 6 : 5] : cfg[m->j + 1 == m->outer ? 7 : 8];
                return true;
            }
            m->step = WG_MOP_END0;
            break;
        case WG_MOP_END0:
            *word = cfg[3];
            if (!is_nop(*word))
                return true;
            m->step = WG_MOP_START;
            m->j++;
            break;
        default:
            *word = cfg[4];
            if (!is_nop(*word))
                return true;
            m->step = WG_MOP_START;
            m->j++;
            break;
        }
    }
    return false;
}

static bool find(wg_mop_state *m, const uint32_t *cfg, uint32_t *word)
{
    return m->template ? find_template_1(m, cfg, word) : find_template_0(m, cfg, word);
}

/* Steps past the instruction just found. */
static void advance(wg_mop_state *m)
{
    if (!m->template) {
        if (++m->step >= T0_END) {
            m->step = T0_A0;
            m->mask >>= 1;
            m->i++;
        }
    } else if (m->step == WG_MOP_START) {
        m->step = WG_MOP_LOOP;
        m->i = 0;
    } else if (m->step == WG_MOP_LOOP) {
        m->i++;
    } else if (m->step == WG_MOP_END0) {
        m->step = WG_MOP_END1;
    } else {
        m->step = WG_MOP_START;
        m->j++;
    }
}

static void begin(wg_frontend *f, const wg_insn *insn)
{
    wg_mop_state *m = &f->mop;
    m->insn = *insn;
    m->template = (uint8_t)WG_GET(MOP, mop_type, insn->word);
    f->mop_active = m->first = true;
    if (m->template)
        begin_template_1(m, f->mop_cfg);
    else
        begin_template_0(m, f->mop_cfg);
}

/* Decided here: the idle gap begins with the last instruction, whether or not something waits after it. */
static void end(wg_tile *t, wg_frontend *f)
{
    f->mop_active = false;
    f->mop.ready_at = t->sched.now + 1 + t->timing->mop_gap;
    f->moved = true;
    wg_wake_idle_watchers(&t->sched);
}

/*
 * As find(). The previous search stopped at the next instruction, so in an inner loop it is known; elsewhere MopCfg may hold a
 * NOP by now, which is omitted.
 */
static inline bool find_again(wg_mop_state *m, const uint32_t *cfg, uint32_t *word)
{
    if (m->template && m->step == WG_MOP_LOOP && m->i + 1 < m->inner) {
        *word = cfg[m->alternates && (m->i & 1) ? 6 : 5];
        return true;
    }
    return find(m, cfg, word);
}

/* The expansion's next instruction, as an entry; false if MopCfg has changed and none is left. */
WG_STAGE bool expand(wg_tile *t, wg_frontend *f, unsigned thread, unsigned *entry, const bool observed)
{
    wg_mop_state *m = &f->mop;
    uint32_t word;
    if (!find_again(m, f->mop_cfg, &word)) {
        if (m->insn.ttsync & WG_TTS_LAST)
            wg_ttsync_dropped(t, thread, m->insn.id);
        end(t, f);
        return false;
    }
    if (observed && __builtin_expect(t->rewrite != NULL, 0))
        word = wg_rewritten(t->rewrite, thread, m->insn.pc, word);
    unsigned place = wg_place_take(f);
    wg_insn *out = &f->pool[place];
    unsigned marks = wg_insn_make(t, f, thread, word, m->insn.pc, m->insn.source, m->insn.id, out);
    if (observed)
        wg_note_insn(t, WG_EV_EXPANDED, WG_AGENT_THREAD0 + thread, out, 0, out->source);
    if (__builtin_expect(out->unit == WG_UNIT_FRONTEND && out->op != WG_I_REPLAY, 0))
        wg_findf(t, WG_F_FRONTEND_INSN_LATE,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + thread),
                              .pc = out->pc,
                              .has_pc = out->pc != 0,
                              .word = word,
                              .has_word = true},
                 "%s made by a MOP", wg_isa_decode(t->arch->id, word)->name);
    uint32_t ahead;
    advance(m);
    bool last = !find_again(m, f->mop_cfg, &ahead);
    out->ttsync = (uint8_t)((m->first ? m->insn.ttsync & WG_TTS_FIRST : 0) | (last ? m->insn.ttsync & WG_TTS_LAST : 0));
    m->first = false;
    *entry = place | (marks & (WG_E_REPLAY | WG_E_PASSES)) | wg_entry_ttsync(out);
    if (last)
        end(t, f);
    return true;
}

/* Consumes the FIFO's head. */
WG_STAGE wg_insn fifo_take(wg_tile *t, wg_frontend *f, unsigned thread, const bool observed)
{
    wg_insn insn = *wg_fifo_at(f, 0);
    wg_place_free(f, f->fifo[f->fifo_head]);
    wg_fifo_left(t, f, thread, observed);
    return insn;
}

/* The T side's output to the mux in this cycle; false: none. */
WG_STAGE bool t_side(wg_tile *t, wg_frontend *f, unsigned thread, bool room, unsigned *entry, const bool observed)
{
    if (f->mop_active)
        return room && expand(t, f, thread, entry, observed);
    if (!f->fifo_count || t->sched.now < f->take_at)
        return false;
    const wg_insn *head = wg_fifo_at(f, 0);
    if (__builtin_expect(head->op == WG_I_MOP, 0)) {
        if (!room)
            return false;
        f->mops_queued--;
        wg_insn mop = fifo_take(t, f, thread, observed);
        begin(f, &mop);
        if (observed) {
            wg_touch_by(t, WG_AGENT_THREAD0 + thread, &f->mop.insn);
            wg_touch(t, WG_TOUCH_READ | WG_TOUCH_LATE, WG_TOUCH_MOP_CFG, thread * WG_MOP_CFG_WORDS, WG_MOP_CFG_WORDS);
        }
        return expand(t, f, thread, entry, observed);
    }
    if (t->sched.now < f->mop.ready_at)
        return false;
    if (__builtin_expect(head->op == WG_I_MOP_CFG, 0)) {
        wg_insn insn = fifo_take(t, f, thread, observed);
        f->mop.mask_hi = (uint16_t)WG_GET(MOP_CFG, zmask_hi16, insn.word);
        if (observed)
            wg_note_insn(t, WG_EV_COMPLETED, WG_AGENT_THREAD0 + thread, &insn, 0, 0);
        if (insn.ttsync & WG_TTS_LAST)
            wg_ttsync_dropped(t, thread, insn.id);
        wg_wake_idle_watchers(&t->sched);
        return false;
    }
    if (!room)
        return false;
    *entry = f->fifo[f->fifo_head];
    f->direct_downstream++; /* before the check for room in the mux */
    wg_fifo_left(t, f, thread, observed);
    return true;
}

static void lost(wg_tile *t, wg_frontend *f, const wg_insn *insn, const char *to)
{
    wg_note_insn(t, WG_EV_LOST, WG_AGENT_THREAD0 + insn->thread, insn, 0, 0);
    wg_findf(t, WG_F_LOST_AT_MUX,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + insn->thread),
                          .pc = insn->pc,
                          .has_pc = insn->pc != 0,
                          .word = insn->word,
                          .has_word = true,
                          .subject = insn->id},
             "%s of thread %u lost to %s", wg_isa_decode(t->arch->id, insn->word)->name, insn->thread, to);
    bool goes_on = (insn->ttsync & (WG_TTS_FIRST | WG_TTS_LAST)) == WG_TTS_FIRST;
    wg_insn_swallowed(t, f, insn);
    if (goes_on) { /* the expansion's next instruction is checked in its place */
        f->replay.carry_first = false;
        f->replay_busy = f->replay.play_left || f->replay.record_left;
        f->mop.first = true;
    }
}

/* Would the T side have output in this cycle? */
static bool has_output(const wg_tile *t, const wg_frontend *f)
{
    if (f->mop_active)
        return true;
    if (!f->fifo_count || t->sched.now < f->take_at)
        return false;
    unsigned entry = f->fifo[f->fifo_head];
    return entry & WG_E_MOP ? wg_fifo_at(f, 0)->op == WG_I_MOP : t->sched.now >= f->mop.ready_at;
}

/* Passes an instruction that waited at the mux. */
static void enqueue_copy(wg_frontend *f, const wg_insn *insn)
{
    unsigned place = wg_place_take(f);
    f->pool[place] = *insn;
    wg_replay_enqueue(f, place | (insn->op == WG_I_REPLAY ? WG_E_REPLAY : 0u) |
                             (insn->unit > WG_UNIT_INVALID ? 0u : WG_E_PASSES));
}

WG_STAGE void step(wg_tile *t, unsigned thread, const bool observed)
{
    wg_frontend *f = wg_frontend_of(t, thread);
    unsigned entry;
    bool room = wg_replay_has_room(f);
    if (observed)
        wg_expander_looked(t, thread, 0, !room && has_output(t, f));
    bool from_t = t_side(t, f, thread, room, &entry, observed);
    if (__builtin_expect(f->b_valid | f->debug_valid | f->debug_control, 0)) {
        if (from_t) {
            lost(t, f, &f->pool[entry & WG_E_PLACE],
                 f->debug_control ? "the debug bus"
                 : f->b_valid     ? "B"
                                  : "the debug bus");
            wg_place_free(f, entry);
        }
        if (f->b_valid) {
            f->b_valid = false;
            f->moved = true;
            if (f->debug_control)
                lost(t, f, &f->from_b, "the debug bus");
            else
                enqueue_copy(f, &f->from_b);
            wg_push_room(t, f, thread, 2);
        }
        if (f->debug_valid) {
            f->debug_valid = false;
            enqueue_copy(f, &f->from_debug);
        }
    } else if (from_t) {
        wg_replay_enqueue(f, entry);
    }
}

WG_OBSERVED void step_observed(wg_tile *t, unsigned thread) { step(t, thread, true); }

void wg_mop(wg_tile *t, unsigned thread, bool observed)
{
    if (observed)
        step_observed(t, thread);
    else
        step(t, thread, false);
}

/* ---- Configuration ---------------------------------------------------------------------------------- */

void wg_mop_cfg_write(wg_tile *t, unsigned thread, unsigned word, uint32_t value, uint32_t pc)
{
    if (thread >= WG_THREADS || word >= WG_MOP_CFG_WORDS)
        return;
    if (!wg_thread_mop_idle(t, thread))
        wg_findf(t, WG_F_MOP_CFG_RACE,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_T0 + thread),
                              .pc = pc,
                              .has_pc = pc != 0,
                              .subject = word,
                              .value = value},
                 "word %u while a MOP of thread %u is %s", word, thread,
                 t->frontend[thread].mop_active ? "expanding" : "queued");
    t->frontend[thread].mop_cfg[word] = value;
}

uint32_t wg_mop_cfg_read(wg_tile *t, unsigned thread, unsigned word, uint32_t pc)
{
    wg_findf(
        t, WG_F_MOP_CFG_READ,
        (wg_finding){
            .agent = (uint8_t)(WG_AGENT_CORE_T0 + thread % WG_THREADS), .pc = pc, .has_pc = pc != 0, .subject = word},
        "load of MOP configuration word %u", word);
    return 0;
}
