/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that a thread still has to issue.
 *
 *     host's words ─> FIFO ─> MOP Expander ─> FIFO ─> Replay Expander ─> gate
 *                     MOP: its template       REPLAY: its slots
 *
 * A MOP that enters after the expander (pushed by B) expands to nothing (PIPE-14), nor does a REPLAY after its own.
 *
 * Facts: PIPE-14, PIPE-16, PIPE-18; UNPACR.md, UNPACR_NOP.md, SETDVALID.md, CLEARDVALID.md and the pages of the
 * Matrix Unit's instructions, for the bits that hand a bank over.
 */
#include "explain/queued.h"

#include <string.h>

#include "isa/isa.h"

enum { BEFORE_MOP, BEFORE_REPLAY, BEFORE_GATE };

typedef struct search {
    const wg_arch *arch;
    const wg_frontend *f;
    wg_word_test test;
    unsigned argument;
} search;

static wg_insn_id op_of(const wg_arch *arch, uint32_t word) { return wg_isa_decode(arch->id, word)->id; }

static bool slots_hold(const search *s, unsigned from, unsigned count)
{
    for (unsigned i = 0; i < count && i < WG_REPLAY_SLOTS; i++)
        if (s->test(s->arch, s->f->replay.slot[(from + i) % WG_REPLAY_SLOTS], s->argument))
            return true;
    return false;
}

/* Does the word, or its expansion in the stages still to pass, pass the test? */
static bool word_holds(const search *s, uint32_t word, unsigned stage)
{
    wg_insn_id op = op_of(s->arch, word);
    if (op == WG_I_MOP && stage == BEFORE_MOP) {
        for (unsigned i = 2; i < WG_MOP_CFG_WORDS; i++)
            if (word_holds(s, s->f->mop_cfg[i], BEFORE_REPLAY))
                return true;
        return false;
    }
    if (op == WG_I_REPLAY && stage != BEFORE_GATE) {
        unsigned count = WG_GET(REPLAY, len, word);
        return !WG_GET(REPLAY, load_mode, word) &&
               slots_hold(s, WG_GET(REPLAY, start_idx, word), count ? count : WG_REPLAY_SLOTS);
    }
    return s->test(s->arch, word, s->argument);
}

typedef const wg_insn *(*fifo_at)(const wg_frontend *f, unsigned i);

static bool fifo_holds(const search *s, fifo_at at, unsigned count, unsigned stage)
{
    for (unsigned i = 0; i < count; i++)
        if (word_holds(s, at(s->f, i)->word, stage))
            return true;
    return false;
}

bool wg_thread_will_issue(const wg_tile *t, const wg_pending *pending, unsigned thread, wg_word_test test,
                          unsigned argument)
{
    const wg_frontend *f = &t->frontend[thread];
    const search s = {t->arch, f, test, argument};
    for (size_t i = 0; i < pending->count; i++) {
        uint32_t word;
        memcpy(&word, (const char *)pending->first + i * pending->stride, sizeof word);
        if (word_holds(&s, word, BEFORE_MOP))
            return true;
    }
    return fifo_holds(&s, wg_gate_fifo_at, wg_gate_count(f), BEFORE_GATE) ||
           slots_hold(&s, f->replay.play_at, f->replay.play_left) ||
           fifo_holds(&s, wg_replay_fifo_at, wg_replay_count(f), BEFORE_REPLAY) ||
           (f->b_valid && word_holds(&s, f->from_b.word, BEFORE_REPLAY)) ||
           (f->debug_valid && word_holds(&s, f->from_debug.word, BEFORE_REPLAY)) ||
           (f->mop_active && word_holds(&s, f->mop.insn.word, BEFORE_MOP)) ||
           fifo_holds(&s, wg_fifo_at, f->fifo_count, BEFORE_MOP);
}

/* ---- tests ---- */

static bool selects(uint32_t word, unsigned semaphore) { return WG_GET(SEMPOST, sem_sel, word) >> semaphore & 1; }

bool wg_word_raises(const wg_arch *arch, uint32_t word, unsigned semaphore)
{
    wg_insn_id op = op_of(arch, word);
    return (op == WG_I_SEMPOST || op == WG_I_SEMINIT) && selects(word, semaphore);
}

bool wg_word_posts(const wg_arch *arch, uint32_t word, unsigned semaphore)
{
    return op_of(arch, word) == WG_I_SEMPOST && selects(word, semaphore);
}

bool wg_word_gets(const wg_arch *arch, uint32_t word, unsigned semaphore)
{
    return op_of(arch, word) == WG_I_SEMGET && selects(word, semaphore);
}

bool wg_word_lowers(const wg_arch *arch, uint32_t word, unsigned semaphore)
{
    wg_insn_id op = op_of(arch, word);
    return (op == WG_I_SEMGET || op == WG_I_SEMINIT) && selects(word, semaphore);
}

bool wg_word_gives_to_matrix(const wg_arch *arch, uint32_t word, unsigned file)
{
    switch ((unsigned)op_of(arch, word)) {
    case WG_I_SETDVALID: return WG_GET(SETDVALID, setvalid, word) >> file & 1;
    case WG_I_UNPACR: return WG_GET(UNPACR, Unpack_block_selection, word) == file && WG_GET(UNPACR, SetDatValid, word);
    case WG_I_UNPACR_NOP: /* the modes that give a bank differ; any may */
        return WG_OPERAND(BH, UNPACR_NOP, Unpacker_Select, word) == file;
    default: return false;
    }
}

bool wg_word_gives_to_unpackers(const wg_arch *arch, uint32_t word, unsigned file)
{
    static const char *const names[] = {"clear_dvalid", "cleardvalid", "clear_ab_vld"};
    const wg_isa_insn *insn = wg_isa_decode(arch->id, word);
    if (insn->id == WG_I_CLEARDVALID && WG_GET(CLEARDVALID, reset, word) & 1) /* it resets all banks */
        return true;
    for (unsigned i = 0; insn->unit == WG_UNIT_MATRIX && i < insn->field_count; i++)
        for (unsigned n = 0; n < sizeof names / sizeof *names; n++)
            if (strcmp(insn->fields[i].name, names[n]) == 0)
                return wg_isa_field_get(&insn->fields[i], word) >> file & 1;
    return false;
}
