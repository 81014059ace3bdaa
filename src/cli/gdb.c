/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate gdb`: the gdb remote protocol, over a socket or standard input and output. The five cores are threads 1 to 5; time
 * passes for all of them, whichever is stepped.
 * Facts: "Remote Protocol" in the gdb manual.
 */
#include "cli/gdb.h"

#include <stdlib.h>
#include <string.h>

enum { SIGNAL_INTERRUPT = 2, SIGNAL_TRAP = 5, REGISTERS = 33, PC = 32 };

/* ---- Characters and numbers ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A hexadecimal number at *text, which moves on; false if there is none, or it is too long. */
static bool hex_number(const char **text, uint64_t *value)
{
    const char *at = *text;
    uint64_t v = 0;
    for (; hex_digit(*at) >= 0; at++) {
        if (v >> 60)
            return false;
        v = v << 4 | (uint64_t)hex_digit(*at);
    }
    if (at == *text)
        return false;
    *text = at;
    *value = v;
    return true;
}

static void hex_bytes(wg_text *out, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wg_textf(out, "%02x", ((const uint8_t *)bytes)[i]);
}

static void hex_word(wg_text *out, uint32_t word)
{
    const uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    hex_bytes(out, bytes, 4);
}

/* Bytes written as hexadecimal digits; false if there are not as many. */
static bool bytes_of(const char *text, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = hex_digit(text[2 * i]), low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* ---- Registers and memory ---- */

static uint32_t register_of(wg_gdb *g, unsigned core, unsigned number)
{
    uint32_t value = 0;
    if (number < PC)
        wg_peek(g->d.s->dev, WG_SPACE_CORE_X, core * 32 + number, &value);
    else
        wg_peek(g->d.s->dev, WG_SPACE_CORE_PC, core, &value);
    return value;
}

static bool set_register(wg_gdb *g, unsigned core, unsigned number, uint32_t value)
{
    wg_status status = number < PC ? wg_poke(g->d.s->dev, WG_SPACE_CORE_X, core * 32 + number, value)
                                   : wg_poke(g->d.s->dev, WG_SPACE_CORE_PC, core, value);
    return status == WG_OK && wg_debug_changed(&g->d);
}

/* Where a core sees an address; false: nowhere that can be looked at without side effects. */
static bool space_of(wg_gdb *g, unsigned core, uint32_t address, wg_space *space, uint32_t *index)
{
    uint32_t ignored;
    if (address < wg_l1_bytes(g->d.s->dev)) {
        *space = WG_SPACE_L1;
        *index = address;
        return true;
    }
    *space = WG_SPACE_CORE_RAM;
    *index = core << 16 | (address & 0xFFFF);
    return address - WG_GDB_RAM < 0x10000 && wg_peek(g->d.s->dev, *space, *index, &ignored) == WG_OK;
}

static bool read_byte(wg_gdb *g, uint32_t address, uint8_t *byte)
{
    wg_space space;
    uint32_t index, value;
    if (!space_of(g, g->core, address, &space, &index) || wg_peek(g->d.s->dev, space, index, &value) != WG_OK)
        return false;
    *byte = (uint8_t)value;
    return true;
}

static bool write_byte(wg_gdb *g, uint32_t address, uint8_t byte)
{
    wg_space space;
    uint32_t index;
    return space_of(g, g->core, address, &space, &index) && wg_poke(g->d.s->dev, space, index, byte) == WG_OK;
}

/* mADDR,LENGTH: as much as can be read. */
static void read_memory(wg_gdb *g, const char *text, wg_text *out)
{
    uint64_t address, count;
    uint8_t byte;
    if (!hex_number(&text, &address) || *text++ != ',' || !hex_number(&text, &count) || address > UINT32_MAX) {
        wg_textf(out, "E01");
        return;
    }
    for (uint64_t i = 0; i < count && i < WG_GDB_PACKET / 2 - 8; i++) {
        if (address + i > UINT32_MAX || !read_byte(g, (uint32_t)(address + i), &byte)) {
            if (i == 0)
                wg_textf(out, "E14");
            break;
        }
        hex_bytes(out, &byte, 1);
    }
}

/* MADDR,LENGTH:DATA */
static void write_memory(wg_gdb *g, const char *text, wg_text *out)
{
    uint64_t address, count;
    uint8_t bytes[WG_GDB_PACKET / 2];
    bool ok = hex_number(&text, &address) && *text++ == ',' && hex_number(&text, &count) && *text++ == ':' &&
              address <= UINT32_MAX && count <= sizeof bytes && bytes_of(text, bytes, (size_t)count);
    for (uint64_t i = 0; ok && i < count; i++)
        ok = address + i <= UINT32_MAX && write_byte(g, (uint32_t)(address + i), bytes[i]);
    wg_textf(out, ok && wg_debug_changed(&g->d) ? "OK" : "E14");
}

/* ---- Threads ---- */

static unsigned core_of_thread(uint64_t thread)
{
    return thread >= 1 && thread <= WG_CORES ? (unsigned)thread - 1 : WG_CORES;
}

static const char *state_of(wg_gdb *g, unsigned core)
{
    wg_core_info info;
    if (wg_core_state(g->d.s->dev, (wg_core_id)core, &info) != WG_OK)
        return "";
    if (info.in_reset)
        return "in reset";
    if (info.parked)
        return "parked";
    return info.stall.reason != WG_STALL_NONE ? wg_stall_text(info.stall.reason) : "running";
}

static void threads_xml(wg_gdb *g, wg_text *out)
{
    wg_textf(out, "<?xml version=\"1.0\"?><threads>");
    for (unsigned i = 0; i < WG_CORES; i++)
        wg_textf(out, "<thread id=\"%x\" name=\"%s\">%s</thread>", i + 1, wg_agent_name(i), state_of(g, i));
    wg_textf(out, "</threads>");
}

static void target_xml(wg_text *out)
{
    static const char *const names[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                          "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                          "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
    wg_textf(out, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target><architecture>riscv:rv32"
                  "</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">");
    for (unsigned i = 0; i < 32; i++)
        wg_textf(out, "<reg name=\"%s\" bitsize=\"32\" type=\"int\" regnum=\"%u\"/>", names[i], i);
    wg_textf(out, "<reg name=\"pc\" bitsize=\"32\" type=\"code_ptr\" regnum=\"32\"/></feature></target>");
}

/* qXfer: the part of `whole` that OFFSET,LENGTH asks for. */
static void part_of(const wg_text *whole, const char *text, wg_text *out)
{
    uint64_t offset, length;
    if (!hex_number(&text, &offset) || *text++ != ',' || !hex_number(&text, &length)) {
        wg_textf(out, "E01");
        return;
    }
    length = length < WG_GDB_PACKET - 8 ? length : WG_GDB_PACKET - 8;
    bool last = offset >= whole->size || length >= whole->size - offset;
    wg_textf(out, "%c", last ? 'l' : 'm');
    if (offset < whole->size)
        wg_text_add(out, whole->data + offset, last ? whole->size - (size_t)offset : (size_t)length);
}

/* ---- Why it stopped ---- */

static void say(wg_gdb *g, const char *text)
{
    wg_text packet = {0};
    wg_textf(&packet, "O");
    hex_bytes(&packet, text, strlen(text));
    wg_gdb_send(g, wg_text_of(&packet));
    wg_text_free(&packet);
}

/* The run is over, or stands still: in words, on gdb's console. */
static void say_end(wg_gdb *g)
{
    wg_session *s = g->d.s;
    wg_text text = {0};
    wg_textf(&text, "waitgate: %s at cycle %llu\n",
             s->ended == WG_ENDED_HUNG      ? "hang"
             : s->ended == WG_ENDED_LIMIT   ? "stopped by --max-cycles"
             : s->ended == WG_ENDED_FINDING ? "stopped by a finding"
                                            : "done",
             (unsigned long long)wg_cycle(s->dev));
    if (s->ended == WG_ENDED_HUNG)
        wg_gdb_state(g, &text);
    say(g, wg_text_of(&text));
    wg_text_free(&text);
}

static void stop_reply(wg_gdb *g, wg_pause why, wg_text *out)
{
    g->halt = why;
    if (why == WG_PAUSE_BREAK || why == WG_PAUSE_STEP)
        g->core = g->d.core;
    if (why == WG_PAUSE_ENDED)
        say_end(g);
    if (why == WG_PAUSE_FAILED)
        say(g, wg_error(g->d.s->dev));
    wg_textf(out, "T%02xthread:%x;", why == WG_PAUSE_INTERRUPT ? SIGNAL_INTERRUPT : SIGNAL_TRAP, g->core + 1);
    if (why == WG_PAUSE_BREAK)
        wg_textf(out, "swbreak:;");
    if (why == WG_PAUSE_WATCH)
        wg_textf(out, "watch:%x;", g->d.address);
    if (why == WG_PAUSE_BEGIN || why == WG_PAUSE_ENDED) /* otherwise gdb would go on stepping */
        wg_textf(out, "replaylog:%s;", why == WG_PAUSE_BEGIN ? "begin" : "end");
}

/* ---- Packets ---- */

static void query(wg_gdb *g, const char *text, wg_text *out)
{
    static const char features[] = "qXfer:features:read:target.xml:", threads[] = "qXfer:threads:read::";
    wg_text whole = {0};
    uint64_t thread;
    if (strncmp(text, "qSupported", 10) == 0) {
        wg_textf(
            out,
            "PacketSize=%x;qXfer:features:read+;qXfer:threads:read+;vContSupported+;swbreak+;hwbreak+;ReverseStep+;"
            "ReverseContinue+;QStartNoAckMode+",
            WG_GDB_PACKET);
    } else if (strncmp(text, features, sizeof features - 1) == 0) {
        target_xml(&whole);
        part_of(&whole, text + sizeof features - 1, out);
    } else if (strncmp(text, threads, sizeof threads - 1) == 0) {
        threads_xml(g, &whole);
        part_of(&whole, text + sizeof threads - 1, out);
    } else if (strcmp(text, "qfThreadInfo") == 0) {
        wg_textf(out, "m1,2,3,4,5");
    } else if (strcmp(text, "qsThreadInfo") == 0) {
        wg_textf(out, "l");
    } else if (strcmp(text, "qC") == 0) {
        wg_textf(out, "QC%x", g->core + 1);
    } else if (strcmp(text, "qAttached") == 0) {
        wg_textf(out, "1");
    } else if (strncmp(text, "qThreadExtraInfo,", 17) == 0 && (text += 17, hex_number(&text, &thread)) &&
               core_of_thread(thread) < WG_CORES) {
        wg_textf(&whole, "%s: %s", wg_agent_name(core_of_thread(thread)), state_of(g, core_of_thread(thread)));
        hex_bytes(out, wg_text_of(&whole), whole.size);
    } else if (strncmp(text, "qRcmd,", 6) == 0) {
        char command[256];
        size_t length = strlen(text + 6) / 2;
        if (length >= sizeof command || !bytes_of(text + 6, (uint8_t *)command, length)) {
            wg_textf(out, "E01");
        } else {
            command[length] = 0;
            wg_gdb_monitor(g, command, &whole);
            hex_bytes(out, wg_text_of(&whole), whole.size);
        }
    }
    wg_text_free(&whole);
}

/* Z or z, TYPE,ADDR,KIND. */
static void breakpoint(wg_gdb *g, const char *text, wg_text *out)
{
    bool set = *text++ == 'Z', ok;
    char type = *text++;
    uint64_t address, kind;
    if (*text++ != ',' || !hex_number(&text, &address) || *text++ != ',' || !hex_number(&text, &kind) ||
        address > UINT32_MAX) {
        wg_textf(out, "E01");
        return;
    }
    if (type == '0' || type == '1')
        ok = wg_debug_break(&g->d, (uint32_t)address, set);
    else if (type == '2')
        ok = kind <= UINT32_MAX && wg_debug_watch(&g->d, (uint32_t)address, (uint32_t)kind, set);
    else
        return; /* not supported: an empty answer */
    wg_textf(out, ok ? "OK" : "E28");
}

/* vCont;ACTION[:THREAD]…: the step of one thread, if there is one; else on. */
static void resume(wg_gdb *g, const char *text, wg_text *out)
{
    for (const char *at = text; (at = strchr(at, ';'));) {
        uint64_t thread = g->core + 1;
        bool step = *++at == 's' || *at == 'S';
        const char *colon = at + strcspn(at, ":;");
        if (*colon == ':') {
            colon++;
            hex_number(&colon, &thread);
        }
        if (step && core_of_thread(thread) < WG_CORES) {
            stop_reply(g, wg_debug_step(&g->d, core_of_thread(thread)), out);
            return;
        }
    }
    stop_reply(g, wg_debug_continue(&g->d), out);
}

static void registers(wg_gdb *g, const char *text, wg_text *out)
{
    uint64_t number;
    uint8_t bytes[4 * REGISTERS];
    const char *at = text + 1;
    if (*text == 'g') {
        for (unsigned i = 0; i < REGISTERS; i++)
            hex_word(out, register_of(g, g->core, i));
    } else if (*text == 'p' && hex_number(&at, &number) && number < REGISTERS) {
        hex_word(out, register_of(g, g->core, (unsigned)number));
    } else if (*text == 'P' && hex_number(&at, &number) && number < REGISTERS && *at++ == '=' &&
               bytes_of(at, bytes, 4)) {
        uint32_t value = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        wg_textf(out, set_register(g, g->core, (unsigned)number, value) ? "OK" : "E01");
    } else {
        wg_textf(out, "E01");
    }
}

/* H: the thread that registers and memory are about. T: is there such a thread? */
static void thread(wg_gdb *g, const char *text, wg_text *out)
{
    const char *at = text + (*text == 'H' && text[1] ? 2 : 1);
    uint64_t number = 0;
    bool all = strcmp(at, "-1") == 0 || strcmp(at, "0") == 0;
    if (!all && (!hex_number(&at, &number) || core_of_thread(number) == WG_CORES)) {
        wg_textf(out, "E01");
        return;
    }
    if (*text == 'H' && text[1] == 'g' && !all)
        g->core = core_of_thread(number);
    wg_textf(out, "OK");
}

bool wg_gdb_packet(wg_gdb *g, const char *text, wg_text *out)
{
    switch (*text) {
    case '?': stop_reply(g, WG_PAUSE_STEP, out); break;
    case 'g':
    case 'p':
    case 'P': registers(g, text, out); break;
    case 'm': read_memory(g, text + 1, out); break;
    case 'M': write_memory(g, text + 1, out); break;
    case 'H':
    case 'T': thread(g, text, out); break;
    case 'Z':
    case 'z': breakpoint(g, text, out); break;
    case 'c': stop_reply(g, wg_debug_continue(&g->d), out); break;
    case 's': stop_reply(g, wg_debug_step(&g->d, g->core), out); break;
    case 'b':
        if (text[1] == 'c')
            stop_reply(g, wg_debug_back(&g->d), out);
        else if (text[1] == 's')
            stop_reply(g, wg_debug_step_back(&g->d, g->core), out);
        break;
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
        if (strcmp(text, "vCont?") == 0)
            wg_textf(out, "vCont;c;C;s;S");
        else if (strncmp(text, "vCont;", 6) == 0)
            resume(g, text + 5, out);
        break;
    default: break;
    }
    wg_gdb_send(g, wg_text_of(out));
    return true;
}
