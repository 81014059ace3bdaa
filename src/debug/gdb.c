/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of the gdb remote protocol. All threads stop at the same cycle, and time advances for all of them, whichever is
 * stepped, unless gdb locks its scheduler to one. Facts: "Remote Protocol" in the gdb manual.
 */
#include "debug/gdb.h"

#include <stdlib.h>
#include <string.h>

enum { SIGNAL_INTERRUPT = 2, SIGNAL_TRAP = 5 };

/* ---- Characters and numbers ---- */

int wg_hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool wg_hex_number(const char **text, uint64_t *value)
{
    const char *at = *text;
    uint64_t v = 0;
    for (; wg_hex_digit(*at) >= 0; at++) {
        if (v >> 60)
            return false;
        v = v << 4 | (uint64_t)wg_hex_digit(*at);
    }
    if (at == *text)
        return false;
    *text = at;
    *value = v;
    return true;
}

void wg_hex_bytes(wg_text *out, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wg_textf(out, "%02x", ((const uint8_t *)bytes)[i]);
}

bool wg_bytes_of(const char *text, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = wg_hex_digit(text[2 * i]), low = high < 0 ? -1 : wg_hex_digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* ---- Why it stopped ---- */

static void say(wg_gdb *g, const char *text)
{
    wg_text packet = {0};
    wg_textf(&packet, "O");
    wg_hex_bytes(&packet, text, strlen(text));
    wg_gdb_send(g, wg_text_of(&packet));
    wg_text_free(&packet);
}

/* The run is over or stuck: says so on gdb's console. */
static void say_end(wg_gdb *g)
{
    wg_text text = {.width = 100};
    wg_textf(&text, "waitgate: ");
    wg_debug_pause_text(g->d, &text);
    if (wg_debug_hung(g->d))
        wg_debug_state_text(g->d, g->who, &text);
    say(g, wg_text_of(&text));
    wg_text_free(&text);
}

/* A store reaches memory some cycles after the core has executed it: says where that was. */
static void say_access(wg_gdb *g)
{
    const wg_debug_state *s = &g->d->state;
    const unsigned agent = s->who.agent,
                   core = agent >= WG_AGENT_THREAD0 ? WG_CORE_T0 + agent - WG_AGENT_THREAD0 : agent;
    char place[256] = "";
    wg_text text = {.width = 100};
    if (!s->pc || WG_IS_HOST_PC(s->pc) || agent > WG_AGENT_THREAD2)
        return;
    wg_debug_place(g->d, s->who, core, s->pc, place, sizeof place);
    wg_textf(&text, "waitgate: the access to 0x%08x is by the instruction at 0x%08x%s%s\n", s->address, s->pc,
             *place ? " in " : "", place);
    say(g, wg_text_of(&text));
    wg_text_free(&text);
}

static void stop_reply(wg_gdb *g, wg_text *out)
{
    static const char *const watches[] = {"watch", "rwatch", "watch", "awatch"};
    const wg_debug_state *s = &g->d->state;
    wg_pause why = s->pause;
    if (s->who.agent <= WG_AGENT_THREAD2)
        g->selected = s->who;
    g->who = g->selected;
    if (why == WG_PAUSE_ENDED || why == WG_PAUSE_FAILED)
        say_end(g);
    if (why == WG_PAUSE_WATCH)
        say_access(g);
    wg_textf(out, "T%02xthread:%llx;", why == WG_PAUSE_INTERRUPT ? SIGNAL_INTERRUPT : SIGNAL_TRAP,
             (unsigned long long)wg_gdb_thread(g, g->who));
    if (why == WG_PAUSE_BREAK)
        wg_textf(out, "swbreak:;");
    if (why == WG_PAUSE_WATCH)
        wg_textf(out, "%s:%x;", watches[s->watch & 3], s->address);
    if (why == WG_PAUSE_BEGIN || why == WG_PAUSE_ENDED) /* otherwise gdb would continue stepping */
        wg_textf(out, "replaylog:%s;", why == WG_PAUSE_BEGIN ? "begin" : "end");
}

/*
 * Has another thread stopped during a step that gdb wanted to see alone? Then the machine goes back to that cycle, which is at most one
 * instruction earlier, and the stop is reported now.
 */
static bool is_reported_now(wg_gdb *g)
{
    const bool now = g->postponed && g->ended == wg_debug_now(g->d) &&
                     (g->action == WG_GDB_CONTINUE || g->action == WG_GDB_STEP) && !g->step_alone;
    g->postponed = false;
    return now && wg_debug_stop_other(g->d);
}

static void step(wg_gdb *g)
{
    g->d->postpones = g->step_alone;
    wg_debug_step(g->d, g->selected);
    g->d->postpones = false;
    g->postponed = g->step_alone && g->d->stops.others;
    g->ended = wg_debug_now(g->d);
}

static void act(wg_gdb *g)
{
    /*
     * gdb assumes that a RISC-V core stops before the watched access: it removes the watch and steps over the access, in the
     * direction of time. Here the access has happened already.
     */
    bool happened = g->watched == WG_GDB_WATCH_REMOVED && (g->action == WG_GDB_STEP || g->action == WG_GDB_STEP_BACK);
    g->watched = WG_GDB_UNWATCHED;
    if (happened) {
        g->d->state.pause = WG_PAUSE_STEP;
        return;
    }
    const bool already = is_reported_now(g);
    switch (already ? WG_GDB_NOTHING : g->action) {
    case WG_GDB_NOTHING: break;
    case WG_GDB_CONTINUE: wg_debug_continue(g->d); break;
    case WG_GDB_STEP: step(g); break;
    case WG_GDB_BACK: wg_debug_back(g->d); break;
    default: wg_debug_step_back(g->d, g->selected); break;
    }
    if (g->d->state.pause == WG_PAUSE_WATCH)
        g->watched = WG_GDB_WATCH_TOLD;
}

bool wg_gdb_act(wg_gdb *g)
{
    wg_text reply = {0};
    act(g);
    if (g->d->limited)
        return false;
    g->action = WG_GDB_NOTHING;
    stop_reply(g, &reply);
    wg_gdb_send(g, wg_text_of(&reply));
    wg_text_free(&reply);
    return true;
}

/* ---- Packets ---- */

/* qRcmd: a command of the debugger's prompt. */
static void monitor(wg_gdb *g, const char *text, wg_text *out)
{
    char command[WG_DEBUG_LINE];
    size_t length = strlen(text) / 2;
    wg_text answer = {.width = 100};
    if (length >= sizeof command || !wg_bytes_of(text, (uint8_t *)command, length)) {
        wg_textf(out, "E01");
        return;
    }
    command[length] = 0;
    uint64_t before = wg_debug_now(g->d);
    wg_debug_run_command(g->d, g->who, command, &answer);
    if (wg_debug_now(g->d) != before)
        wg_textf(
            &answer,
            "gdb still has the registers of an earlier cycle: `maintenance flush register-cache` reads them again\n");
    /* A long answer is split into several packets. */
    for (size_t at = 0; at < answer.size;) {
        enum { PART = WG_GDB_PACKET / 2 - 16 };
        size_t part = answer.size - at < PART ? answer.size - at : PART;
        wg_text packet = {0};
        wg_textf(&packet, "O");
        wg_hex_bytes(&packet, answer.data + at, part);
        wg_gdb_send(g, wg_text_of(&packet));
        wg_text_free(&packet);
        at += part;
    }
    wg_text_free(&answer);
    wg_textf(out, "OK");
}

static void query(wg_gdb *g, const char *text, wg_text *out)
{
    uint64_t thread;
    wg_who who;
    if (wg_gdb_qxfer(g, text, out))
        return;
    if (strncmp(text, "qSupported", 10) == 0) {
        wg_textf(
            out,
            "PacketSize=%x;qXfer:features:read+;qXfer:threads:read+;qXfer:memory-map:read+;vContSupported+;swbreak+;"
            "hwbreak+;ReverseStep+;ReverseContinue+;QStartNoAckMode+%s",
            WG_GDB_PACKET, g->libraries.size ? ";qXfer:libraries:read+" : "");
    } else if (strcmp(text, "qfThreadInfo") == 0) {
        wg_gdb_thread_list(g, out);
    } else if (strcmp(text, "qsThreadInfo") == 0) {
        wg_textf(out, "l");
    } else if (strcmp(text, "qC") == 0) {
        wg_textf(out, "QC%llx", (unsigned long long)wg_gdb_thread(g, g->who));
    } else if (strcmp(text, "qAttached") == 0) {
        wg_textf(out, "1");
    } else if (strncmp(text, "qThreadExtraInfo,", 17) == 0 && (text += 17, wg_hex_number(&text, &thread)) &&
               wg_gdb_who(g, thread, &who)) {
        char name[32];
        wg_text whole = {0};
        wg_textf(&whole, "%s: %s", wg_debug_name(g->d, who, name, sizeof name), wg_debug_doing(g->d, who));
        wg_hex_bytes(out, wg_text_of(&whole), whole.size);
        wg_text_free(&whole);
    } else if (strncmp(text, "qRcmd,", 6) == 0) {
        monitor(g, text + 6, out);
    }
}

/* ---- Breakpoints and watches ---- */

/* Adds or removes; false: nothing changed. */
static bool note_pc(wg_gdb_breaks *b, uint32_t pc, bool set)
{
    unsigned i = 0;
    while (i < b->pcs && b->pc[i] != pc)
        i++;
    if (set == (i < b->pcs) || (set && i == WG_DEBUG_BREAKPOINTS))
        return false;
    if (set)
        b->pc[b->pcs++] = pc;
    else
        b->pc[i] = b->pc[--b->pcs];
    return true;
}

static wg_status set_break(wg_gdb *g, uint32_t pc, bool set)
{
    const wg_status status = set || note_pc(&g->set, pc, false) ? wg_debug_break(g->d, pc, set) : WG_OK;
    if (status == WG_OK && set)
        note_pc(&g->set, pc, true);
    if (status == WG_OK)
        note_pc(&g->gone, pc, !set);
    return status;
}

static wg_status set_watch(wg_gdb *g, wg_watch w, bool set)
{
    wg_gdb_breaks *own = &g->set;
    unsigned i = 0;
    while (i < own->watches &&
           !(own->watch[i].address == w.address && own->watch[i].bytes == w.bytes && own->watch[i].how == w.how))
        i++;
    const bool known = i < own->watches;
    const wg_status status = set != known ? wg_debug_watch(g->d, w.address, w.bytes, w.how, set) : WG_OK;
    if (status == WG_OK && set && !known && own->watches < WG_DEBUG_WATCHES)
        own->watch[own->watches++] = w;
    else if (status == WG_OK && !set && known)
        own->watch[i] = own->watch[--own->watches];
    return status;
}

void wg_gdb_leave(wg_gdb *g)
{
    while (g->set.pcs)
        set_break(g, g->set.pc[0], false);
    while (g->set.watches)
        set_watch(g, g->set.watch[0], false);
    wg_debug_alone(g->d, NULL);
}

/* Z or z, TYPE,ADDR,KIND. */
static void breakpoint(wg_gdb *g, const char *text, wg_text *out)
{
    static const uint8_t how[] = {[2] = WG_WATCH_WRITE, [3] = WG_WATCH_READ, [4] = WG_WATCH_READ | WG_WATCH_WRITE};
    bool set = *text++ == 'Z';
    char type = *text ? *text++ : 0;
    wg_status status;
    uint64_t address, kind;
    if (*text++ != ',' || !wg_hex_number(&text, &address) || *text++ != ',' || !wg_hex_number(&text, &kind) ||
        address > UINT32_MAX) {
        wg_textf(out, "E01");
        return;
    }
    if (set)
        g->watched = WG_GDB_UNWATCHED;
    else if (type >= '2' && g->watched == WG_GDB_WATCH_TOLD)
        g->watched = WG_GDB_WATCH_REMOVED;
    if (type == '0' || type == '1')
        status = set_break(g, (uint32_t)address, set);
    else if (type >= '2' && type <= '4')
        status = kind > UINT32_MAX ? WG_ERR_ARGUMENT
                                   : set_watch(g, (wg_watch){(uint32_t)address, (uint32_t)kind, how[type - '0']}, set);
    else
        return; /* not supported: an empty answer */
    wg_textf(out, status == WG_OK ? "OK" : "E28");
}

/*
 * gdb steps a thread alone to get over a breakpoint, for which it has removed it. The others move then as at any other time:
 * a breakpoint does not change the run.
 */
static bool steps_over(wg_gdb *g, wg_who who)
{
    uint32_t pc;
    bool over = false;
    for (unsigned i = 0; i < g->gone.pcs; i++)
        over |= wg_debug_pc(g->d, who, &pc) && pc == g->gone.pc[i];
    return over;
}

/*
 * vCont;ACTION[:THREAD]…: steps one thread, if requested; else continues. If only one thread has an action, with gdb's
 * scheduler locking, it moves alone. False: there is no such action or thread.
 */
static bool resume(wg_gdb *g, const char *text)
{
    wg_who who, step = {.agent = WG_AGENT_NONE}, alone = step;
    unsigned named = 0, all = 0;
    for (const char *at = text; (at = strchr(at, ';'));) {
        uint64_t thread = wg_gdb_thread(g, g->selected);
        const char action = *++at;
        const char *colon = at + strcspn(at, ":;");
        const bool one = *colon == ':' && strncmp(colon, ":-1", 3) != 0;
        if (!action || !strchr("cCsS", action) || (one && (colon++, !wg_hex_number(&colon, &thread))) ||
            !wg_gdb_who(g, thread, &who))
            return false;
        named += one;
        all += !one;
        if (one)
            alone = who;
        if (strchr("sS", action) && step.agent == WG_AGENT_NONE)
            step = who;
    }
    g->action = step.agent == WG_AGENT_NONE ? WG_GDB_CONTINUE : WG_GDB_STEP;
    if (g->action == WG_GDB_STEP)
        g->selected = step;
    g->step_alone = g->action == WG_GDB_STEP && named == 1 && !all;
    const bool locked = named == 1 && !all && !(g->action == WG_GDB_STEP && steps_over(g, alone));
    wg_debug_alone(g->d, locked ? &alone : NULL);
    if (g->action == WG_GDB_CONTINUE)
        g->gone.pcs = 0;
    return true;
}

/*
 * H: selects the thread for registers and memory. T: is there such a thread? gdb asks this about a thread that the user chooses, not
 * about those that it lists; when it goes back, it does not name the thread.
 */
static void thread(wg_gdb *g, const char *text, wg_text *out)
{
    const char *at = text + (*text == 'H' && text[1] ? 2 : 1);
    uint64_t number = 0;
    wg_who who;
    bool all = strcmp(at, "-1") == 0 || strcmp(at, "0") == 0;
    if (!all && (!wg_hex_number(&at, &number) || !wg_gdb_who(g, number, &who))) {
        wg_textf(out, "E01");
        return;
    }
    if (*text == 'H' && text[1] == 'g' && !all)
        g->who = who;
    if (!all && *text == 'T')
        g->selected = who;
    wg_textf(out, "OK");
}

bool wg_gdb_packet(wg_gdb *g, const char *text, wg_text *out)
{
    switch (*text) {
    case '?': wg_textf(out, "T%02xthread:%llx;", SIGNAL_TRAP, (unsigned long long)wg_gdb_thread(g, g->who)); break;
    case 'g':
    case 'p':
    case 'P': wg_gdb_registers(g, text, out); break;
    case 'm': wg_gdb_read_memory(g, text + 1, out); break;
    case 'M': wg_gdb_write_memory(g, text + 1, out); break;
    case 'H':
    case 'T': thread(g, text, out); break;
    case 'Z':
    case 'z': breakpoint(g, text, out); break;
    case 'c': resume(g, ";c"); return true;
    case 's': resume(g, ";s"); return true;
    case 'b':
        if (text[1] != 'c' && text[1] != 's')
            break;
        g->action = text[1] == 'c' ? WG_GDB_BACK : WG_GDB_STEP_BACK;
        return true;
    case 'D':
        wg_textf(out, "OK");
        wg_gdb_send(g, wg_text_of(out));
        return false;
    case 'k': return false;
    case 'q': query(g, text, out); break;
    case 'Q':
        if (strcmp(text, "QStartNoAckMode") == 0) {
            wg_textf(out, "OK");
            wg_gdb_send(g, wg_text_of(out));
            g->no_acks = true;
            return true;
        }
        break;
    case 'v':
        if (strcmp(text, "vCont?") == 0) {
            wg_textf(out, "vCont;c;C;s;S");
        } else if (strncmp(text, "vCont;", 6) == 0) {
            if (resume(g, text + 5))
                return true;
            wg_textf(out, "E01");
        }
        break;
    default: break;
    }
    wg_gdb_send(g, wg_text_of(out));
    return true;
}
