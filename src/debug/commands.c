/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the debugger's prompt and of gdb's `monitor`: those that advance time, and the list of all. */
#include "debug/commands.h"
#include "debug/why.h"
#include "text/types.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *wg_word(const char **rest, size_t *length)
{
    const char *at = *rest + strspn(*rest, WG_BLANKS);
    *length = strcspn(at, WG_BLANKS);
    *rest = at + *length + strspn(at + *length, WG_BLANKS);
    return at;
}

bool wg_number(const char **rest, uint64_t *value)
{
    const char *before = *rest;
    size_t length;
    const char *word = wg_word(rest, &length);
    if (length && wg_parse_number(word, length, value))
        return true;
    *rest = before;
    return false;
}

bool wg_is_word(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(word, name, length) == 0;
}

/* ---- Time ---- */

static void show_pause(wg_debug *d, wg_text *out)
{
    char place[256];
    uint32_t pc;
    wg_who who = d->state.who;
    wg_debug_pause_text(d, out);
    if (who.agent <= WG_AGENT_THREAD2 && wg_debug_pc(d, who, &pc)) {
        unsigned core = who.agent <= WG_AGENT_CORE_T2 ? who.agent : who.agent - WG_AGENT_THREAD0 + WG_CORE_T0;
        wg_debug_place(d, who, core, pc, place, sizeof place);
        wg_textf(out, "  pc 0x%08x%s%s\n", pc, *place ? " in " : "", place);
    }
}

static void cycle(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    (void)who;
    (void)rest;
    wg_debug_state s;
    wg_debug_state_get(d, &s);
    wg_textf(out, "cycle %llu; the history begins at %llu\n", (unsigned long long)s.cycle,
             (unsigned long long)s.begins);
}

static void move(wg_debug *d, const char *rest, bool relative, wg_text *out)
{
    uint64_t cycles = 1, here = wg_debug_now(d);
    bool back = relative && *rest == '-';
    rest += back;
    if ((*rest || !relative) && !wg_parse_number(rest, strlen(rest), &cycles)) {
        wg_textf(out, "`%s` is not a number of cycles\n", rest);
        return;
    }
    uint64_t to = !relative ? cycles : back ? here - (cycles < here ? cycles : here) : here + cycles;
    wg_debug_go(d, to < here && relative && !back ? UINT64_MAX : to);
    show_pause(d, out);
}

static void go(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    (void)who;
    move(d, rest, false, out);
}

static void step(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    (void)who;
    move(d, rest, true, out);
}

static void go_on(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    (void)who;
    (void)rest;
    wg_debug_continue(d);
    show_pause(d, out);
}

static void back(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    (void)who;
    (void)rest;
    wg_debug_back(d);
    show_pause(d, out);
}

static void several(wg_debug *d, wg_who who, const char *rest, wg_text *out, wg_pause (*one)(wg_debug *, wg_who))
{
    uint64_t times = 1;
    if (*rest && !wg_parse_number(rest, strlen(rest), &times)) {
        wg_textf(out, "`%s` is not a number of instructions\n", rest);
        return;
    }
    while (times-- && one(d, who) == WG_PAUSE_STEP)
        ;
    show_pause(d, out);
}

static void stepi(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    several(d, who, rest, out, wg_debug_step);
}
static void backi(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    several(d, who, rest, out, wg_debug_step_back);
}

/* ---- Conditions ---- */

static bool unit_of(const char *word, size_t length, uint32_t *agent)
{
    static const char *const names[] = {"sync",   "unpack0", "unpack1", "matrix", "pack",
                                        "vector", "scalar",  "config",  "mover",  "misc"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (wg_is_word(word, length, names[i])) {
            *agent = (uint32_t)WG_AGENT_SYNC + i;
            return true;
        }
    return false;
}

static bool name_into(wg_condition *c, const char **rest)
{
    size_t length;
    const char *word = wg_word(rest, &length);
    if (length >= sizeof c->name)
        return false;
    memcpy(c->name, word, length);
    return true;
}

static bool parse_condition(const char *rest, wg_condition *c)
{
    size_t length;
    uint64_t a = 0, b = 0;
    const char *whole = rest, *word = wg_word(&rest, &length);
    *c = (wg_condition){.struct_size = sizeof *c};
    if (wg_is_word(word, length, "finding")) {
        c->kind = WG_UNTIL_FINDING;
    } else if (wg_is_word(word, length, "semaphore")) {
        c->kind = WG_UNTIL_SEMAPHORE;
        if (!wg_number(&rest, &a) || !wg_number(&rest, &b) || a > 7 || b > 15)
            return false;
        c->index = (uint32_t)a;
        c->value = (uint32_t)b;
    } else if (wg_is_word(word, length, "bank")) {
        c->kind = WG_UNTIL_BANK;
        if (!wg_number(&rest, &a) || a > 3)
            return false;
        c->index = (uint32_t)a;
    } else if (wg_is_word(word, length, "noc")) {
        c->kind = WG_UNTIL_NOC;
    } else if (wg_is_word(word, length, "unit")) {
        c->kind = WG_UNTIL_UNIT;
        word = wg_word(&rest, &length);
        if (!unit_of(word, length, &c->index) || !name_into(c, &rest))
            return false;
    } else { /* [gate] MNEMONIC */
        c->kind = WG_UNTIL_GATE;
        if (!wg_is_word(word, length, "gate"))
            rest = whole;
        if (!name_into(c, &rest))
            return false;
    }
    return !*rest;
}

static void until(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    wg_condition c;
    (void)who;
    bool hang = strcasecmp(rest, "hang") == 0;
    if (!hang && (!*rest || !parse_condition(rest, &c) || wg_debug_until(d, &c) != WG_OK)) {
        wg_textf(out,
                 "until finding | hang | semaphore N VALUE | [gate] MNEMONIC | unit UNIT [MNEMONIC] | bank N | noc\n");
        return;
    }
    wg_debug_continue(d);
    if (!hang)
        wg_debug_until(d, &(wg_condition){.struct_size = sizeof(wg_condition)});
    show_pause(d, out);
    if (wg_debug_hung(d))
        wg_debug_state_text(d, who, out);
}

/* ---- Breakpoints and watches ---- */

static void breakpoint(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    uint64_t pc;
    char place[256];
    if (!*rest) {
        for (unsigned i = 0; i < d->breakpoints; i++)
            wg_textf(out, "breakpoint at 0x%08x%s%s\n", d->breakpoint[i],
                     *wg_debug_place(d, who, who.agent % WG_CORES, d->breakpoint[i], place, sizeof place) ? " in " : "",
                     place);
        for (unsigned i = 0; i < d->watches; i++)
            wg_textf(out, "watch of %u bytes at 0x%08x\n", d->watch[i].bytes, d->watch[i].address);
        if (!d->breakpoints && !d->watches)
            wg_textf(out, "there are no breakpoints and no watches\n");
    } else if (!wg_number(&rest, &pc) || *rest || pc > UINT32_MAX) {
        wg_textf(out, "break [PC]\n");
    } else if (wg_debug_break(d, (uint32_t)pc, true) != WG_OK) {
        wg_textf(out, "%s\n", d->error);
    }
}

static void watch(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    static const char *const words[] = {"read", "write", "access"};
    uint64_t address, bytes = 4;
    size_t length;
    unsigned how = 0;
    (void)who;
    bool ok = wg_number(&rest, &address) && (wg_number(&rest, &bytes) || true);
    const char *word = wg_word(&rest, &length);
    for (unsigned i = 0; i < 3; i++)
        if (wg_is_word(word, length, words[i]))
            how = i + 1;
    if (!length)
        how = WG_WATCH_WRITE;
    if (!ok || !how || *rest || address > UINT32_MAX || bytes > UINT32_MAX)
        wg_textf(out, "watch ADDRESS [BYTES] [read|write|access]\n");
    else if (wg_debug_watch(d, (uint32_t)address, (uint32_t)bytes, how, true) != WG_OK)
        wg_textf(out, "%s\n", d->error);
}

static void delete (wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    uint64_t address = 0;
    (void)who;
    bool all = !*rest;
    if (!all && (!wg_number(&rest, &address) || *rest)) {
        wg_textf(out, "delete [ADDRESS]\n");
        return;
    }
    for (unsigned i = d->breakpoints; i-- > 0;)
        if (all || d->breakpoint[i] == address)
            wg_debug_break(d, d->breakpoint[i], false);
    for (unsigned i = d->watches; i-- > 0;)
        if (all || d->watch[i].address == address)
            wg_debug_watch(d, d->watch[i].address, d->watch[i].bytes, d->watch[i].how, false);
}

static void why(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    wg_text complaint = {0};
    wg_element element;
    char *place, value[32];
    if (!wg_element_parse(rest, &place, &element, &complaint)) {
        wg_textf(out, "%s\n", wg_text_of(&complaint));
        wg_text_free(&complaint);
        return;
    }
    if (place) {
        uint8_t bytes[WG_ELEMENT_BYTES];
        unsigned count;
        const uint64_t from = wg_element_memory(&element, &count);
        if (strncmp(rest, "l1:", 3) == 0 && wg_debug_read(d, who, (uint32_t)from, bytes, count) == WG_OK)
            wg_textf(out, "it is %s\n",
                     wg_element_text(&element, wg_element_bits(&element, bytes), value, sizeof value));
    }
    if (!wg_why_text(d, who, &(wg_why_desc){.of = place ? place : rest}, out))
        wg_textf(out, "%s\n", d->error);
    free(place);
}

static void state(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    (void)rest;
    wg_debug_state_text(d, who, out);
}

/* ---- All ---- */

static void help(wg_debug *d, wg_who who, const char *rest, wg_text *out);

static const wg_command commands[] = {
    {"cycle", "", "the present cycle, and where the history begins", cycle},
    {"goto", "CYCLE", "go to that cycle, forwards or backwards", go},
    {"step", "[[-]CYCLES]", "advance by that many cycles; a negative number goes back", step},
    {"continue", "", "run to a breakpoint, a watch or the end", go_on},
    {"back", "", "run back to a breakpoint, a watch or the beginning", back},
    {"stepi", "[N]", "N instructions of this core, or through this thread's gate", stepi},
    {"backi", "[N]", "N instructions back", backi},
    {"until", "CONDITION", "run until a finding, a hang, a semaphore's value, an instruction …", until},
    {"break", "[PC]", "set a breakpoint for all cores; without a pc: list breakpoints", breakpoint},
    {"watch", "ADDRESS [BYTES] [read|write|access]", "stop when memory is touched (write: the default)", watch},
    {"delete", "[ADDRESS]", "delete breakpoints and watches", delete},
    {"where", "[all]",
     "where each core and thread of this tile is, or of all that work; for a thread, also the pushing line and its MOP "
     "or REPLAY",
     wg_show_where},
    {"state", "", "threads, cores, semaphores, mutexes, source banks, and who waits for whom", state},
    {"pipelines", "[THREAD]", "FIFO, MOP Expander, Replay Expander, gate, latched wait, and what blocks",
     wg_show_pipelines},
    {"registers", "", "of this core: x, pc, CSRs, f and v where it has them", wg_show_registers},
    {"memory", "ADDRESS [WORDS]", "as this core sees it", wg_show_memory},
    {"dis", "[PC [INSTRUCTIONS]]", "disassembly; around the pc", wg_show_code},
    {"semaphores", "", "values and maxima; mutexes that are held", wg_show_semaphores},
    {"gprs", "THREAD", "a thread's 64 registers", wg_show_gprs},
    {"dst", "ROW [FORMAT]", "a row of Dst: hex, bf16, fp16, int16, or, as 32 bits, hex32, fp32, int32", wg_show_dst},
    {"srca", "BANK ROW [FORMAT]", "a row of SrcA: hex, tf32, bf16, fp16, int8", wg_show_srca},
    {"srcb", "BANK ROW [FORMAT]", "a row of SrcB", wg_show_srcb},
    {"lreg", "N [FORMAT]", "the 32 lanes of an LReg: hex, fp32, int32", wg_show_lreg},
    {"config", "NAME|WORD", "configuration: both banks or all threads, by field, and who set it", wg_show_config},
    {"noc", "", "packets in flight, and requests of the NIUs that are not answered", wg_show_noc},
    {"buffers", "", "circular buffers: tiles received and acknowledged", wg_show_buffers},
    {"findings", "", "the findings so far", wg_show_findings},
    {"why", "LOCATION", "who wrote it, and where that came from: l1:ADDRESS[+BYTES], dst:ROW, gpr:THREAD:N …", why},
    {"help", "", "this list", help},
};

static void help(wg_debug *d, wg_who who, const char *rest, wg_text *out)
{
    (void)d;
    (void)who;
    (void)rest;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char head[64];
        snprintf(head, sizeof head, "%s %s", commands[i].name, commands[i].arguments);
        wg_textf(out, "%-30s  %s\n", head, commands[i].help);
    }
}

void wg_debug_run_command(wg_debug *d, wg_who who, const char *command, wg_text *out)
{
    size_t length;
    const char *rest = command, *word = wg_word(&rest, &length);
    char line[WG_DEBUG_LINE];
    size_t size = strlen(rest);
    while (size && strchr(WG_BLANKS, rest[size - 1]))
        size--;
    if (!wg_debug_device(d, who)) {
        wg_textf(out, "there is no such tile\n");
        return;
    }
    if (size < sizeof line) {
        memcpy(line, rest, size);
        line[size] = 0;
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            if (wg_is_word(word, length, commands[i].name)) {
                commands[i].run(d, who, line, out);
                return;
            }
    }
    wg_textf(out, "unknown command `%.*s`; `help` lists the commands\n", (int)(length < 40 ? length : 40), word);
}

size_t wg_debug_command(wg_debug *d, wg_who who, const char *command, char *to, size_t bytes)
{
    wg_text out = {.width = 100};
    wg_debug_run_command(d, who, command, &out);
    return wg_text_give(&out, to, bytes);
}

size_t wg_debug_why(wg_debug *d, wg_who who, const char *of, wg_report_form form, char *to, size_t bytes)
{
    wg_text out = {.width = 100};
    if (!wg_why_text(d, who, &(wg_why_desc){.of = of, .json = form == WG_REPORT_JSON}, &out)) {
        wg_text_free(&out);
        return 0;
    }
    return wg_text_give(&out, to, bytes);
}
