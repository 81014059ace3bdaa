/* SPDX-License-Identifier: Apache-2.0 */
/* Topics of `waitgate explain` that no table has: terms, each with its chapter, and instruction words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <waitgate/asm.h>

#include "arch/arch.h"
#include "cli/explain.h"
#include "cli/session.h"
#include "isa/report.h"

typedef struct term {
    const char *names; /* separated by '|', lower case, words joined by '-' */
    const char *title, *is, *instructions, *ask, *rules, *chapter;
} term;
static const term terms[] = {
    {"semaphore|semaphores", "semaphores: how threads and cores hand over work",
     "eight counters per tile, each 0 to 15 with a maximum; a SEMWAIT holds its thread while one is 0, or at its "
     "maximum",
     "SEMINIT, SEMPOST, SEMGET, SEMWAIT", "explain semaphore 0 … explain semaphore 7", "sem",
     "docs/learn/05_semaphores_mutexes.md; docs/learn/10_two_semaphores.md"},
    {"mutex|mutexes", "mutexes: one thread at a time",
     "a mutex is free or held by one thread; ATGETM waits at the gate while another thread holds it, ATRELM releases "
     "it",
     "ATGETM, ATRELM", "explain mutex-held", "mutex", "docs/learn/05_semaphores_mutexes.md"},
    {"wait-gate|waitgate|gate", "the Wait Gate: where a thread's instructions wait",
     "the end of a thread's frontend. An instruction passes it into its unit, or waits there, and all later ones wait, "
     "too. "
     "STALLWAIT, SEMWAIT and STREAMWAIT latch a wait: block bits say which instructions it holds, conditions until "
     "when. The gate "
     "opens one cycle after they are met",
     "STALLWAIT, SEMWAIT, STREAMWAIT", "explain B0 … explain B8, explain C0 …, explain latched-wait", "tensix-wait",
     "docs/learn/04_wait_gate.md"},
    {"block-bit|block-bits|block-mask", "block bits: which instructions a latched wait holds",
     "nine bits, B0 to B8, each for a group of instructions; one that no bit catches passes, unless it is behind one "
     "that was "
     "caught",
     "STALLWAIT, SEMWAIT, STREAMWAIT", "explain B0 … explain B8", NULL, "docs/learn/04_wait_gate.md"},
    {"mop-expander|macro-op", "the MOP Expander: one word becomes a loop",
     "a MOP instruction expands to a nested loop of up to 32,639 instructions; the core has written the loop's body to "
     "nine "
     "registers, MopCfg",
     "MOP, MOP_CFG", "explain MOP", "mop", "docs/learn/03_fifo_mop_replay.md"},
    {"replay-expander|replay-buffer", "the Replay Expander: recorded instructions again",
     "REPLAY records up to 32 of the thread's next instructions, or issues recorded ones", "REPLAY", "explain REPLAY",
     NULL, "docs/learn/03_fifo_mop_replay.md"},
    {"fifo", "the FIFO: what a core has pushed",
     "the words that a core pushes to a thread wait in it; if it is full, the core stalls, and nothing is lost", NULL,
     "explain MOP, explain REPLAY", NULL, "docs/learn/03_fifo_mop_replay.md"},
    {"thread|threads|tensix-thread", "Tensix threads: three streams of instructions",
     "T0, T1 and T2 push to thread 0, 1 and 2, and B can push to each. A thread's instructions pass the Wait Gate in "
     "order, and "
     "finish in any order",
     NULL, "explain \"wait gate\"", NULL, "docs/learn/02_threads_units.md"},
    {"core|cores|baby-core", "baby cores: five small RISC-V processors",
     "B, NC, T0, T1 and T2 run the loops, compute addresses, and push Tensix instructions to the threads", NULL, NULL,
     NULL, "docs/learn/01_tile.md"},
    {"l1", "L1: the tile's memory", "about 1.5 MB that cores, units and the NoC share; nothing keeps caches coherent",
     NULL, "explain core-stale-l0", NULL, "docs/learn/01_tile.md; docs/learn/11_memory_l0.md"},
    {"l0|l0-cache", "the L0 cache: old copies of L1",
     "four lines of 16 bytes for a core's loads from L1, on Blackhole only; a fence empties it", NULL,
     "explain core-stale-l0", NULL, "docs/learn/11_memory_l0.md"},
    {"noc", "the NoC: how tiles talk to each other",
     "two networks that carry reads, writes and atomic requests between the memories of tiles", NULL, NULL, "noc",
     "docs/learn/12_noc.md"},
    {"srca|srcb|source-bank|source-banks|bank", "source banks: the Matrix Unit's operands",
     "SrcA and SrcB have two banks each. A bank belongs to the unpackers or to the Matrix Unit; who is done with it "
     "gives it to the "
     "other, and who needs one that it does not own waits",
     "UNPACR, UNPACR_NOP, SETDVALID, CLEARDVALID, SETRWC", "explain SRCA_VLD, explain SRCA_CLR", NULL,
     "docs/learn/06_banks_dst.md"},
    {"dst|dest", "Dst: the Matrix Unit's results",
     "a register file that the Matrix Unit and the Vector Unit read and write, and that the packers read", NULL,
     "explain MATH_PACK", "dst", "docs/learn/06_banks_dst.md"},
    {"configuration|config|backend-configuration", "backend configuration: modes, formats and addresses of units",
     "words in two banks and per thread that units read while they work; a change may come too early, too late, or too "
     "much",
     "SETC16, WRCFG, RMWCIB0, RDCFG, CFGSHIFTMASK", "explain CFGEXU, explain TRISC_CFG", "config",
     "docs/learn/07_configuration.md"},
    {"ttsync|auto-ttsync", "Auto TTSync: a core and its thread in order",
     "Blackhole holds a core's access, or the thread's instruction, that would overtake the other; off after reset",
     "SETC16, RESOURCEDECL", "explain ttsync-untracked", "ttsync", "docs/learn/08_auto_ttsync.md; docs/auto_ttsync.md"},
    {"stall|stalls", "stalls: reasons to wait",
     "why a core, thread or unit does not advance in a cycle; `--timeline`, `profile` and hang reports name each "
     "reason",
     NULL, "explain latched-wait, explain mutex-held", NULL, "docs/learn/04_wait_gate.md"},
    {"hang|deadlock", "hangs: nothing can move any more",
     "`waitgate run` recognises one without a time-out and names what waits for what: status 3", NULL,
     "waitgate run examples/deadlock.tasm", NULL, "docs/learn/13_hang_report.md"},
    {"race|races", "races: right only by luck",
     "two accesses that nothing orders, one of them a write; `waitgate check` finds them even if this run was right",
     NULL, "explain data-race", NULL, "docs/learn/14_race_report.md; docs/races.md"},
};
enum { TERMS = sizeof terms / sizeof *terms };

/* The words, joined by '-', which is also read for a space. */
static void join(const char *const *word, size_t count, char *room, size_t bytes)
{
    room[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at = strlen(room);
        snprintf(room + at, bytes - at, "%s%s", i ? "-" : "", word[i]);
    }
    for (char *p = room; *p; p++)
        *p = *p == ' ' || *p == '_' ? '-' : *p;
}

static bool is_name(const term *t, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = t->names; p; p = strchr(p, '|'), p += p != NULL)
        if (strcspn(p, "|") == length && strncasecmp(p, word, length) == 0)
            return true;
    return false;
}

static void mutexes(wg_topic *t)
{
    wg_text *out = wg_topic_row(t, "there are");
    for (unsigned arch = 0; arch < 2; arch++) {
        wg_textf(out, "%son %s", arch ? "; " : "", wg_arch_title((wg_arch_id)arch));
        const char *before = " ";
        for (unsigned i = 0; i < 16; i++)
            if (wg_arch_of((wg_arch_id)arch)->mutex_valid >> i & 1) {
                wg_textf(out, "%s%u", before, i);
                before = ", ";
            }
    }
    wg_textf(out, "; ATGETM of any other number waits forever");
}

static void fill(wg_topic *t, const term *of)
{
    t->kind = "term";
    wg_textf(&t->title, "%s", of->title);
    wg_textf(wg_topic_row(t, "it is"), "%s", of->is);
    if (strncmp(of->names, "mutex", 5) == 0)
        mutexes(t);
    if (of->instructions)
        wg_textf(wg_topic_row(t, "instructions"), "%s", of->instructions);
    if (of->rules)
        wg_topic_rules(t, of->rules);
    if (of->ask)
        wg_textf(wg_topic_row(t, "see also"), "%s", of->ask);
    wg_textf(wg_topic_row(t, "page"), "%s", of->chapter);
}

bool wg_topic_term(wg_topic *t, const char *word)
{
    char room[128];
    join(&word, 1, room, sizeof room);
    for (unsigned i = 0; i < TERMS; i++)
        if (is_name(&terms[i], room)) {
            fill(t, &terms[i]);
            return true;
        }
    return false;
}

size_t wg_topic_joined(wg_topic *t, wg_arch_id arch, const char *const *word, size_t count)
{
    enum { LONGEST = 3 };
    char room[128];
    for (size_t take = count < LONGEST ? count : LONGEST; take > 1; take--) {
        wg_near ignored;
        join(word, take, room, sizeof room);
        wg_near_begin(&ignored, room, strlen(room));
        if (wg_topic_term(t, room) || wg_topic_find(t, arch, room, &ignored))
            return take;
    }
    return 0;
}

void wg_topic_term_words(wg_text *out)
{
    for (unsigned i = 0; i < TERMS; i++)
        wg_textf(out, "%.*s ", (int)strcspn(terms[i].names, "|"), terms[i].names);
}

void wg_topic_term_near(wg_near *near)
{
    static char name[TERMS][32];
    for (unsigned i = 0; i < TERMS; i++) {
        snprintf(name[i], sizeof name[i], "%.*s", (int)strcspn(terms[i].names, "|"), terms[i].names);
        wg_near_offer(near, name[i]);
    }
}

/* ---- instruction words ---- */

/* Read as an instruction of a core, a word may push another one. */
static void add_pushed(wg_topic *t, wg_arch_id arch, uint32_t word)
{
    char line[WG_DIS_MAX];
    const uint32_t pushed = wg_ttinsn_decode(word);
    if ((word & 3) == 3 || wg_isa_decode(arch, pushed)->unit == WG_UNIT_INVALID)
        return;
    wg_disassemble(arch, pushed, WG_DIS_SYMBOLIC, line, sizeof line);
    wg_textf(wg_topic_row(t, "in a core's code"), "it pushes 0x%08x, %s", pushed, line);
}

bool wg_topic_word(wg_topic *t, wg_arch_id arch, const char *text)
{
    uint64_t value;
    char line[WG_DIS_MAX], plain[WG_DIS_MAX];
    if (!wg_parse_number(text, strlen(text), &value) || value > UINT32_MAX)
        return false;
    const uint32_t word = (uint32_t)value;
    const wg_isa_insn *insn = wg_isa_decode(arch, word);
    t->kind = "word";
    wg_disassemble(arch, word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, line, sizeof line);
    wg_disassemble(arch, word, WG_DIS_NO_COMMENT, plain, sizeof plain);
    if (insn->unit == WG_UNIT_INVALID) {
        wg_textf(&t->title, "0x%08x: no instruction of %s has opcode 0x%02x", word, wg_arch_title(arch), word >> 24);
        add_pushed(t, arch, word);
        return true;
    }
    wg_textf(&t->title, "0x%08x: %s", word, line);
    wg_textf(wg_topic_row(t, "as numbers"), "%s", plain);
    wg_text *out = wg_topic_row(t, "fields");
    for (unsigned i = 0; i < (unsigned)insn->field_count + insn->extra_count; i++)
        wg_textf(out, "%s%s %u", i ? ", " : "", insn->fields[i].name, wg_isa_field_get(&insn->fields[i], word));
    if (!out->size)
        wg_textf(out, "none");
    if (word & insn->spare_bits)
        wg_textf(wg_topic_row(t, "spare bits"), "0x%x are set: no field has them", word & insn->spare_bits);
    out = wg_topic_row(t, "from a core");
    if (word < UINT32_C(0xC0000000))
        wg_textf(out, "a core that executes 0x%08x pushes it (.ttinsn)", wg_ttinsn_encode(word));
    else
        wg_textf(out, "stores push it; only words below 0xc0000000 have a .ttinsn form");
    add_pushed(t, arch, word);
    wg_textf(wg_topic_row(t, "see also"), "explain %s", insn->name);
    return true;
}
