/* SPDX-License-Identifier: Apache-2.0 */
/* Topics that come from the tables of the instruction set: instructions, waits, stalls, semaphores. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arch/arch.h"
#include "backend/matrix.h"
#include "cli/explain.h"
#include "report/findings.h"
#include "text/race_text.h"
#include "isa/asm.h"
#include "isa/report.h"
#include "isa/symbols.h"

enum { BLOCK_BITS = 9, SEMAPHORES = 8 };

wg_text *wg_topic_row(wg_topic *t, const char *label)
{
    t->label[t->rows] = label;
    return &t->text[t->rows++];
}

/* A list of names, separated by commas. */
static void list(wg_text *to, const char *name) { wg_textf(to, "%s%s", to->size ? ", " : "", name); }

/* Does the text contain the word as a whole? */
static bool mentions(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)) != NULL; p += n) {
        bool begins = p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
        bool ends = !(isalnum((unsigned char)p[n]) || p[n] == '_');
        if (begins && ends)
            return true;
    }
    return false;
}

static void add_rules(wg_topic *t, const char *name)
{
    wg_text found = {0};
    const wg_finding_info *info;
    for (unsigned i = 0; (info = wg_finding_info_at(i)) != NULL; i++)
        if (mentions(info->cause, name) || mentions(info->remedy, name))
            list(&found, info->code);
    if (found.size)
        *wg_topic_row(t, "rules") = found;
}

/* All findings and races whose codes begin like this. */
void wg_topic_rules(wg_topic *t, const char *begin)
{
    wg_text found = {0};
    const wg_finding_info *info;
    for (unsigned i = 0; (info = wg_finding_info_at(i)) != NULL; i++)
        if (strncmp(info->code, begin, strlen(begin)) == 0)
            list(&found, info->code);
    for (unsigned race = 0; race < WG_RACE_KINDS; race++)
        if (strncmp(wg_race_kind_name(race), begin, strlen(begin)) == 0)
            list(&found, wg_race_kind_name(race));
    if (found.size)
        *wg_topic_row(t, "rules") = found;
}

/* Bits of the block mask. */
typedef struct block_info {
    const char *symbol, *text;
} block_info;
static const block_info blocks[BLOCK_BITS] = {
#define BLOCK(S, bit, symbol, text) [bit] = {#symbol, text},
    WG_BLOCKS(BLOCK, )
#undef BLOCK
};

/* ---- instructions ---- */

static void add_encoding(wg_topic *t, const wg_isa_insn *insn)
{
    wg_text *out = wg_topic_row(t, "encoding");
    wg_textf(out, "0x%02X000000", (unsigned)insn->opcode);
    for (unsigned i = 0; i < (unsigned)insn->field_count + insn->extra_count; i++) {
        const wg_isa_field *f = &insn->fields[i];
        unsigned high = f->lo + f->width - 1u;
        if (high > f->lo)
            wg_textf(out, ", [%u:%u] %s", high, (unsigned)f->lo, f->name);
        else
            wg_textf(out, ", [%u] %s", high, f->name);
    }
    for (unsigned i = 0; i < insn->field_count; i++) {
        const wg_isa_field *f = &insn->fields[i];
        if (!f->symbols || t->rows == WG_TOPIC_ROWS - 8)
            continue;
        out = wg_topic_row(t, f->name);
        for (const wg_isa_symbol *s = f->symbols; s->name; s++)
            wg_textf(out, "%s%s 0x%x", out->size ? ", " : "", s->name, (unsigned)s->value);
    }
}

/* An instruction with the first symbol of every mask, and 1 in every other field. */
static void add_example(wg_topic *t, wg_arch_id arch, const wg_isa_insn *insn)
{
    char text[WG_DIS_MAX];
    uint32_t word = (uint32_t)insn->opcode << 24;
    for (unsigned i = 0; i < insn->field_count; i++) {
        const wg_isa_field *f = &insn->fields[i];
        word |= (f->symbols ? f->symbols[0].value : 1) << f->lo & wg_isa_field_mask(f);
    }
    wg_disassemble(arch, word, WG_DIS_SYMBOLIC, text, sizeof text);
    wg_textf(wg_topic_row(t, "example"), "%s", text);
}

static void cycles_text(const uint8_t value[2], const char *variable, wg_text *out)
{
    if (value[WG_PROFILE_SILICON])
        wg_textf(out, "%u cycle%s", (unsigned)value[WG_PROFILE_SILICON], value[WG_PROFILE_SILICON] > 1 ? "s" : "");
    else
        wg_textf(out, "%s", variable);
    if (value[WG_PROFILE_DOCUMENTED] != value[WG_PROFILE_SILICON])
        wg_textf(out, " as measured, %u by its page", (unsigned)value[WG_PROFILE_DOCUMENTED]);
}

static void add_gate(wg_topic *t, wg_arch_id arch, const wg_isa_insn *insn)
{
    wg_text *out = wg_topic_row(t, "held by");
    if (insn->unit == WG_UNIT_FRONTEND)
        wg_textf(out, "nothing: it does not reach the Wait Gate");
    else if (!insn->block_bits)
        wg_textf(out, "a latched wait with all nine bits of the block mask");
    else if (insn->block_bits == WG_B_ANY)
        wg_textf(out, "a latched wait with any bit of the block mask");
    else
        for (unsigned i = 0; i < BLOCK_BITS; i++)
            if (insn->block_bits >> i & 1)
                wg_textf(out, "%sB%u (%s)", out->size ? ", " : "a latched wait with ", i, blocks[i].symbol);
    out = wg_topic_row(t, "latency");
    cycles_text(insn->latency, "it varies", out);
    if (insn->interval[0] || insn->interval[1]) {
        wg_textf(out, "; issue interval ");
        cycles_text(insn->interval, "varies", out);
    }
    if (insn->unit == WG_UNIT_MATRIX) {
        const wg_arch *of = wg_arch_of(arch);
        const uint8_t occupies[] = {
            [WG_PROFILE_SILICON] = (uint8_t)wg_matrix_occupies(of, WG_PROFILE_SILICON, insn->id),
            [WG_PROFILE_DOCUMENTED] = (uint8_t)wg_matrix_occupies(of, WG_PROFILE_DOCUMENTED, insn->id)};
        out = wg_topic_row(t, "in its unit");
        cycles_text(occupies, "", out);
        wg_textf(out, ", until no wait sees it");
    }
    if (insn->ttsync_class != WG_TTSYNC_NONE)
        wg_textf(wg_topic_row(t, "Auto TTSync"), "class %u (docs/auto_ttsync.md)", (unsigned)insn->ttsync_class);
}

static void insn_topic(wg_topic *t, wg_arch_id arch, const wg_isa_insn *insn)
{
    t->kind = "instruction";
    wg_textf(&t->title, "%s: %s", insn->name,
             insn->unit == WG_UNIT_FRONTEND ? "an instruction of the frontend"
             : insn->unit == WG_UNIT_NONE   ? "an instruction for no unit"
                                            : "an instruction for ");
    if (insn->unit > WG_UNIT_INVALID)
        wg_textf(&t->title, "the %s", wg_unit_name(insn->unit));
    add_encoding(t, insn);
    add_example(t, arch, insn);
    add_gate(t, arch, insn);
    add_rules(t, insn->name);
    if (insn->page) {
        bool elsewhere = strncmp(insn->page, "../", 3) == 0;
        wg_textf(wg_topic_row(t, "page"), "tt-isa-documentation, %s/TensixTile/%s%s", wg_isa_page_tree(arch, insn),
                 elsewhere ? "" : "TensixCoprocessor/", insn->page + (elsewhere ? 3 : 0));
    }
}

/* ---- block bits and conditions of waits ---- */

static void block_topic(wg_topic *t, wg_arch_id arch, unsigned bit)
{
    t->kind = "block bit";
    wg_textf(&t->title, "B%u, %s: bit %u of the block mask of STALLWAIT, SEMWAIT and STREAMWAIT", bit,
             blocks[bit].symbol, bit);
    wg_textf(wg_topic_row(t, "holds"), "%s", blocks[bit].text);
    wg_text *out = wg_topic_row(t, "instructions");
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *insn = wg_isa_by_id(arch, (wg_insn_id)id);
        if (insn && insn->unit > WG_UNIT_INVALID && insn->block_bits >> bit & 1)
            list(out, insn->name);
    }
    wg_textf(wg_topic_row(t, "also"), "a wait with all nine bits holds every instruction, NOP included");
    wg_textf(wg_topic_row(t, "page"), "tt-isa-documentation, %s/TensixTile/TensixCoprocessor/STALLWAIT.md",
             wg_isa_page_trees[arch]);
}

typedef struct wait_info {
    const char *symbol, *text, *who;
    int bit[2]; /* by architecture; -1: there is none */
} wait_info;
static const wait_info waits[] = {
#define BOTH(S, id, symbol, bh, wh, holder, wakes, text) {#symbol, text, #holder, {bh, wh}},
#define BH(S, id, symbol, bit, holder, wakes, text) {#symbol, text, #holder, {bit, -1}},
#define WH(S, id, symbol, bit, holder, wakes, text) {#symbol, text, #holder, {-1, bit}},
    WG_WAITS(BOTH, BH, WH, )
#undef BOTH
#undef BH
#undef WH
};
enum { WAITS = sizeof waits / sizeof *waits };

static void wait_topic(wg_topic *t, wg_arch_id arch, const wait_info *w)
{
    static const char *const names[] = {"Blackhole", "Wormhole"};
    t->kind = "wait condition";
    wg_textf(&t->title, "%s: what a STALLWAIT can wait for", w->symbol);
    wg_textf(wg_topic_row(t, "met when"), "%s", w->text);
    wg_text *out = wg_topic_row(t, "bit");
    for (unsigned i = 0; i < 2; i++) {
        if (w->bit[i] < 0)
            wg_textf(out, "%snone on %s", out->size ? ", " : "", names[i]);
        else
            wg_textf(out, "%sC%d (0x%x) on %s", out->size ? ", " : "", w->bit[i], 1u << w->bit[i], names[i]);
    }
    wg_textf(wg_topic_row(t, "lag"), "the gate opens one cycle after the condition is met");
    if (w->bit[arch] >= 0)
        wg_textf(wg_topic_row(t, "example"), "ttstallwait STALL_CFG, %s", w->symbol);
    wg_textf(wg_topic_row(t, "page"), "tt-isa-documentation, %s/TensixTile/TensixCoprocessor/STALLWAIT.md",
             wg_isa_page_trees[w->bit[arch] < 0 ? !arch : arch]);
}

/* ---- stalls ---- */

static const char *const ended_by[] = {
#define ENDED_NOTHING ""
#define ENDED_LATCH "its condition is met; then one more cycle passes"
#define ENDED_UNIT "the unit takes the next instruction"
#define ENDED_HOLDER "the party that the report names moves"
#define ENDED_TIME "some cycles have passed; nobody has to act"
#define ENDED_TURN "the others have had their turn"
#define ENDED_ANSWER "an earlier access to memory or to a register completes"
#define ENDED_SCALAR "the Scalar Unit completes the instruction"
#define ENDED_UNPACKERS "the unpacker knows its first address"
#define ENDED_MUTEX "the thread that holds the mutex executes ATRELM"
#define ENDED_NO_MUTEX "never: there is no such mutex"
#define ENDED_SRCA "an unpacker hands SrcA's bank over: UNPACR or UNPACR_NOP"
#define ENDED_SRCB "an unpacker hands SrcB's bank over: UNPACR or UNPACR_NOP"
#define ENDED_DST "the write is some cycles old"
#define ENDED_FIFO "the thread takes an instruction out of the FIFO"
#define ENDED_CORE_B "core B writes to the PC buffer"
#define ENDED_THREAD "the thread's instructions have passed"
#define ENDED_NOBODY "never"
#define WG_STALL(id, ended, text) [WG_STALL_##id] = ENDED_##ended,
#include <waitgate/stalls.def>
#undef WG_STALL
};

/* "latched-wait" */
static const char *stall_word(unsigned reason, char *room, size_t bytes)
{
    snprintf(room, bytes, "%s", wg_stall_name(reason));
    for (char *p = room; *p; p++)
        *p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
    return room;
}

static void stall_topic(wg_topic *t, unsigned reason)
{
    char room[64];
    t->kind = "stall";
    wg_textf(&t->title, "%s: a reason to wait", stall_word(reason, room, sizeof room));
    wg_textf(wg_topic_row(t, "because"), "%s", wg_stall_text(reason));
    if (*ended_by[reason])
        wg_textf(wg_topic_row(t, "until"), "%s", ended_by[reason]);
    wg_textf(wg_topic_row(t, "seen in"), "`run --stats`, `profile`, `--timeline`, hang reports, the event stall-begin");
}

/* ---- causes in a profile, stalls apart ---- */

static const struct {
    const char *word, *of, *means;
} causes[] = {
    {"executing", "core", "an instruction entered EX1 in this cycle"},
    {"polling", "core",
     "the core repeats a loop that stores nothing and computes the same results each time; the profile names the "
     "address "
     "that is polled, and who ended it"},
    {"parked", "core", "the core is at ebreak, ecall or a branch to itself: its program has ended"},
    {"reset", "core", "the core is held in reset"},
    {"issued", "thread", "an instruction passed the Wait Gate"},
    {"empty", "thread", "no instruction has reached the Wait Gate; in parentheses, the core that pushes the next one"},
    {"busy", "unit", "the unit executes an instruction"},
    {"idle", "unit", "no instruction is in the unit; in parentheses, the thread that fed it last"},
};
enum { CAUSES = sizeof causes / sizeof *causes };

static void cause_topic(wg_topic *t, unsigned i)
{
    t->kind = "cause";
    wg_textf(&t->title, "%s: where cycles of a %s went", causes[i].word, causes[i].of);
    wg_textf(wg_topic_row(t, "means"), "%s", causes[i].means);
    wg_textf(wg_topic_row(t, "seen in"), "`run --stats`, `profile`, `report`, `diff`");
}

/* ---- semaphores ---- */

static const char *const semaphore_names[SEMAPHORES] = {
#define SEMAPHORE(name, index) [index] = #name,
    WG_SYMBOLS_sem_index(SEMAPHORE)
#undef SEMAPHORE
};

bool wg_topic_semaphore(wg_topic *t, wg_arch_id arch, unsigned index)
{
    char word[64];
    if (index >= SEMAPHORES)
        return false;
    t->kind = "semaphore";
    wg_textf(&t->title, "semaphore %u, %s", index, semaphore_names[index]);
    wg_textf(wg_topic_row(t, "mask"), "0x%02x, SEMAPHORE_%u, 1 << %s", 1u << index, index, semaphore_names[index]);
    wg_textf(wg_topic_row(t, "value"), "0 to 15, with a maximum that SEMINIT sets; after reset both are 0");
    snprintf(word, sizeof word, "SEMAPHORE_%u", index);
    wg_textf(
        wg_topic_row(t, "instructions"),
        "ttseminit MAX, VALUE, %s; ttsempost %s; ttsemget %s; ttsemwait STALL_MATH, %s, STALL_ON_ZERO or STALL_ON_MAX",
        word, word, word, word);
    wg_text *out = wg_topic_row(t, "from a core");
    wg_textf(out, "load and store at PC_BUF_BASE + 0x%x: the value; even stores post, odd ones get",
             4 * (SEMAPHORES + index));
    wg_topic_rules(t, "sem");
    wg_textf(wg_topic_row(t, "page"), "tt-isa-documentation, %s/TensixTile/TensixCoprocessor/SyncUnit.md",
             wg_isa_page_trees[arch]);
    return true;
}

/* ---- finding them ---- */

static bool numbered(const char *word, char letter, unsigned *number)
{
    char *end;
    if (toupper((unsigned char)word[0]) != letter || !isdigit((unsigned char)word[1]))
        return false;
    *number = (unsigned)strtoul(word + 1, &end, 10);
    return !*end;
}

static bool wait_find(wg_topic *t, wg_arch_id arch, const char *word, wg_near *near)
{
    unsigned number = 0;
    bool is_number = numbered(word, 'C', &number);
    for (unsigned i = 0; i < WAITS; i++) {
        if (strcasecmp(waits[i].symbol, word) == 0 || (is_number && waits[i].bit[arch] == (int)number)) {
            wait_topic(t, arch, &waits[i]);
            return true;
        }
        wg_near_offer(near, waits[i].symbol);
    }
    return false;
}

bool wg_topic_find(wg_topic *t, wg_arch_id arch, const char *word, wg_near *near)
{
    unsigned number = 0;
    const wg_isa_insn *insn = wg_isa_by_name(arch, word, strlen(word));
    if (insn) {
        insn_topic(t, arch, insn);
        return true;
    }
    bool is_number = numbered(word, 'B', &number);
    for (unsigned i = 0; i < BLOCK_BITS; i++) {
        if (strcasecmp(blocks[i].symbol, word) == 0 || (is_number && number == i)) {
            block_topic(t, arch, i);
            return true;
        }
        wg_near_offer(near, blocks[i].symbol);
    }
    if (wait_find(t, arch, word, near))
        return true;
    for (unsigned i = 1; i < WG_STALL_COUNT; i++) {
        char room[64];
        if (strcasecmp(stall_word(i, room, sizeof room), word) == 0 || strcasecmp(wg_stall_name(i), word) == 0) {
            stall_topic(t, i);
            return true;
        }
    }
    for (unsigned i = 0; i < CAUSES; i++) {
        if (strcasecmp(causes[i].word, word) == 0) {
            cause_topic(t, i);
            return true;
        }
        wg_near_offer(near, causes[i].word);
    }
    for (unsigned i = 0; i < SEMAPHORES; i++) {
        if (strcasecmp(semaphore_names[i], word) == 0)
            return wg_topic_semaphore(t, arch, i);
        wg_near_offer(near, semaphore_names[i]);
    }
    for (unsigned id = 1; id < WG_I_COUNT; id++)
        if ((insn = wg_isa_by_id(arch, (wg_insn_id)id)) != NULL)
            wg_near_offer(near, insn->name);
    wg_topic_term_near(near);
    return false;
}

void wg_topic_words(wg_text *out, bool insns_only)
{
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *bh = wg_isa_by_id(WG_ARCH_BH, (wg_insn_id)id),
                          *wh = wg_isa_by_id(WG_ARCH_WH, (wg_insn_id)id);
        if (bh || wh)
            wg_textf(out, "%s ", bh ? bh->name : wh->name);
    }
    if (insns_only)
        return;
    for (unsigned i = 0; i < BLOCK_BITS; i++)
        wg_textf(out, "B%u %s ", i, blocks[i].symbol);
    for (unsigned i = 0; i < WAITS; i++)
        wg_textf(out, "%s ", waits[i].symbol);
    for (unsigned i = 1; i < WG_STALL_COUNT; i++) {
        char room[64];
        wg_textf(out, "%s ", stall_word(i, room, sizeof room));
    }
    for (unsigned i = 0; i < CAUSES; i++)
        wg_textf(out, "%s ", causes[i].word);
    for (unsigned i = 0; i < SEMAPHORES; i++)
        wg_textf(out, "%s ", semaphore_names[i]);
    wg_topic_term_words(out);
    for (unsigned i = 0; i < WG_F_COUNT; i++)
        wg_textf(out, "%s ", wg_finding_info_at(i)->code);
    for (unsigned i = 0; i < WG_RACE_KINDS; i++)
        wg_textf(out, "%s ", wg_race_kind_name(i));
}

/* ---- showing them ---- */

void wg_topic_text(const wg_topic *t, wg_text *out)
{
    unsigned widest = 0;
    for (unsigned i = 0; i < t->rows; i++)
        widest = strlen(t->label[i]) > widest ? (unsigned)strlen(t->label[i]) : widest;
    wg_text_wrap(out, wg_text_of(&t->title), 0, 0);
    wg_text_add(out, "\n", 1);
    for (unsigned i = 0; i < t->rows; i++) {
        wg_textf(out, "  %-*s  ", (int)widest, t->label[i]);
        wg_text_wrap(out, wg_text_of(&t->text[i]), widest + 4, widest + 4);
    }
}

void wg_topic_json(const wg_topic *t, wg_json *j)
{
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "kind", t->kind);
    wg_json_text(j, "title", wg_text_of(&t->title));
    wg_json_open(j, "rows", '{');
    for (unsigned i = 0; i < t->rows; i++)
        wg_json_text(j, t->label[i], wg_text_of(&t->text[i]));
    wg_json_close(j, '}');
    wg_json_close(j, '}');
}

void wg_topic_free(wg_topic *t)
{
    wg_text_free(&t->title);
    for (unsigned i = 0; i < t->rows; i++)
        wg_text_free(&t->text[i]);
    *t = (wg_topic){0};
}
