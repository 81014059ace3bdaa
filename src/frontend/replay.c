/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Replay Expander (phase F): 32 slots of instructions per thread.
 *
 *     REPLAY [0] record  [1] execute while recording  [9:4] count  [18:14] first slot
 *
 * A playing REPLAY emits its first instruction in its own cycle. Recording without executing emits nothing; decided here: so
 * it continues while the gate is stalled. Rulings: a count of 0 means 32 (PIPE-18; REPLAY.md says 64); a count above 32 wraps
 * around the slots and is reported.
 *
 * Everything that arrives while recording is recorded, even a REPLAY. MOP and REPLAY in a replayed sequence are not expanded;
 * they are reported and pass the gate like NOP.
 *
 * Facts: REPLAY.md; PIPE-18, TTS-08, TTS-09.
 */
#include "report/findings.h"
#include "frontend/stages.h"
#include "report/touch.h"

static void report(wg_tile *t, wg_finding_code code, const wg_insn *insn, const char *what)
{
    wg_findf(t, code,
             (wg_finding){.agent = (uint8_t)(WG_AGENT_THREAD0 + insn->thread),
                          .pc = insn->pc,
                          .has_pc = insn->pc != 0,
                          .word = insn->word,
                          .has_word = true},
             "%s %s", wg_isa_decode(t->arch->id, insn->word)->name, what);
}

WG_STAGE void play(wg_tile *t, wg_frontend *f, unsigned thread, const bool observed)
{
    wg_replay_state *r = &f->replay;
    unsigned place = wg_place_take(f);
    wg_insn *out = &f->pool[place];
    uint32_t word = r->slot[r->play_at];
    if (observed && __builtin_expect(t->rewrite != NULL, 0))
        word = wg_rewritten(t->rewrite, thread, r->insn.pc, word);
    unsigned marks = wg_insn_make(t, f, thread, word, r->insn.pc, r->insn.source, r->insn.id, out);
    if (observed) {
        wg_note_insn(t, WG_EV_EXPANDED, WG_AGENT_THREAD0 + thread, out, 0, out->source);
        wg_touch_by(t, WG_AGENT_THREAD0 + thread, &r->insn);
        wg_touch(t, WG_TOUCH_READ | WG_TOUCH_AT_GATE, WG_TOUCH_REPLAY, thread * WG_REPLAY_SLOTS + r->play_at, 1);
    }
    if (__builtin_expect(out->unit == WG_UNIT_FRONTEND, 0))
        report(t, WG_F_FRONTEND_INSN_LATE, out, "made by a REPLAY");
    r->play_at = (uint8_t)((r->play_at + 1) % WG_REPLAY_SLOTS);
    r->play_left--;
    out->ttsync = (uint8_t)((r->insn.ttsync & WG_TTS_FIRST) | (r->play_left ? 0 : r->insn.ttsync & WG_TTS_LAST));
    r->insn.ttsync &= (uint8_t)~WG_TTS_FIRST;
    wg_gate_insert(t, f, place | (marks & WG_E_PASSES) | wg_entry_ttsync(out), observed);
}

/* This and the next two: false if the FIFO in front of the gate is full. */
WG_STAGE bool record(wg_tile *t, wg_frontend *f, const wg_insn *head, const bool observed)
{
    wg_replay_state *r = &f->replay;
    if (r->execute && !wg_gate_has_room(f))
        return false;
    r->slot[r->record_at] = head->word;
    if (observed) {
        wg_touch_by(t, WG_AGENT_THREAD0 + head->thread, head);
        wg_touch(t, WG_TOUCH_WRITE | WG_TOUCH_AT_GATE, WG_TOUCH_REPLAY,
                 (uint32_t)head->thread * WG_REPLAY_SLOTS + r->record_at, 1);
    }
    r->record_at = (uint8_t)((r->record_at + 1) % WG_REPLAY_SLOTS);
    r->record_left--;
    if (__builtin_expect(head->unit == WG_UNIT_FRONTEND, 0))
        report(t, WG_F_FRONTEND_INSN_LATE, head, "recorded for replay");
    if (r->execute) {
        wg_replay_passed(t, f, observed);
    } else {
        wg_insn_swallowed(t, f, head);
        wg_replay_used(t, f, head->thread);
    }
    return true;
}

/* A REPLAY instruction is taken. */
WG_STAGE bool begin(wg_tile *t, wg_frontend *f, unsigned thread, const wg_insn *head, const bool observed)
{
    wg_replay_state *r = &f->replay;
    bool load = WG_GET(REPLAY, load_mode, head->word);
    if (!load && !wg_gate_has_room(f))
        return false;
    uint8_t count = (uint8_t)WG_GET(REPLAY, len, head->word), slot = (uint8_t)WG_GET(REPLAY, start_idx, head->word);
    if (count > WG_REPLAY_SLOTS)
        report(t, WG_F_REPLAY_COUNT, head, "with a count above 32");
    if (!count)
        count = WG_REPLAY_SLOTS;
    if (load) {
        r->record_left = count;
        r->record_at = slot;
        r->execute = WG_GET(REPLAY, execute_while_loading, head->word);
        if (observed)
            wg_note_insn(t, WG_EV_COMPLETED, WG_AGENT_THREAD0 + thread, head, 0, 0);
        wg_insn_swallowed(t, f, head);
    } else {
        r->insn = *head;
        r->play_left = count;
        r->play_at = slot;
        if (wg_insn_is_direct(head))
            wg_direct_left(t, f, thread);
        play(t, f, thread, observed);
    }
    wg_replay_used(t, f, thread);
    return true;
}

WG_STAGE bool step(wg_tile *t, wg_frontend *f, unsigned thread, const bool observed)
{
    wg_replay_state *r = &f->replay;
    if (r->play_left) {
        if (!wg_gate_has_room(f))
            return false;
        play(t, f, thread, observed);
        return true;
    }
    if (!wg_replay_count(f))
        return true;
    uint16_t *entry = &f->down[f->gate_end % WG_DOWN_RING];
    wg_insn *head = &f->pool[*entry & WG_E_PLACE];
    if (r->carry_first && head->source != WG_CORE_B && head->source != WG_INSN_FROM_DEBUG_BUS) {
        head->ttsync |= WG_TTS_FIRST;
        *entry |= WG_E_TTSYNC;
        r->carry_first = false;
    }
    if (r->record_left)
        return record(t, f, head, observed);
    if (head->op == WG_I_REPLAY)
        return begin(t, f, thread, head, observed);
    if (!wg_gate_has_room(f))
        return false;
    wg_replay_passed(t, f, observed);
    return true;
}

WG_OBSERVED void step_observed(wg_tile *t, wg_frontend *f, unsigned thread)
{
    wg_expander_looked(t, thread, 1, !step(t, f, thread, true));
}

void wg_replay(wg_tile *t, unsigned thread, bool observed)
{
    wg_frontend *f = wg_frontend_of(t, thread);
    if (observed)
        step_observed(t, f, thread);
    else
        step(t, f, thread, false);
    f->replay_busy = f->replay.play_left || f->replay.record_left || f->replay.carry_first;
}
