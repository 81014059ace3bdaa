/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered text of the sinks. */
#include "observe/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <waitgate/event.h>

void wg_sink_flush(wg_sink_out *out)
{
    if (out->used && !out->failed && !out->write(out->write_user, out->buffer, out->used))
        out->failed = true;
    out->used = 0;
}

void wg_sink_much(wg_sink_out *out, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count) {
        if (out->used == sizeof out->buffer)
            wg_sink_flush(out);
        size_t room = sizeof out->buffer - out->used, part = count < room ? count : room;
        memcpy(out->buffer + out->used, from, part);
        out->used += part;
        from += part;
        count -= part;
    }
}

void wg_sink_printf(wg_sink_out *out, const char *format, ...)
{
    char piece[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n > 0)
        wg_sink_bytes(out, piece, (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
}

void wg_sink_number(wg_sink_out *out, uint64_t value)
{
    char digits[20];
    unsigned n = sizeof digits;
    do
        digits[--n] = (char)('0' + value % 10);
    while (value /= 10);
    wg_sink_bytes(out, digits + n, sizeof digits - n);
}

void wg_sink_json(wg_sink_out *out, const char *text)
{
    wg_sink_text(out, "\"");
    while (*text) {
        size_t printable = 0;
        while ((unsigned char)text[printable] >= 0x20 && text[printable] != '"' && text[printable] != '\\')
            printable++;
        wg_sink_bytes(out, text, printable);
        text += printable;
        if (!*text)
            break;
        unsigned char c = (unsigned char)*text++;
        if (c == '"' || c == '\\')
            wg_sink_printf(out, "\\%c", c);
        else
            wg_sink_printf(out, "\\u%04x", c);
    }
    wg_sink_text(out, "\"");
}

const char *wg_sink_agent(const wg_sink_words *w, unsigned agent)
{
    return w->agent ? w->agent(w->user, agent) : wg_agent_name(agent);
}

/* The bytes of the character at `s`; 0: it is no UTF-8. */
static unsigned utf8_length(const unsigned char *s)
{
    unsigned n = s[0] < 0x80                   ? 1
                 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
                 : (s[0] & 0xF0) == 0xE0       ? 3
                 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                               : 0;
    for (unsigned i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool wrong = n == 3 ? (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)
                        : n == 4 && ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F));
    return wrong ? 0 : n;
}

const char *wg_sink_place(const wg_sink_words *w, unsigned core, uint32_t pc, char *room, size_t bytes)
{
    room[0] = 0;
    if (w->place)
        w->place(w->user, core, pc, room, bytes);
    for (unsigned char *s = (unsigned char *)room; *s;) {
        unsigned n = utf8_length(s);
        if (!n)
            *s = '?';
        s += n ? n : 1;
    }
    return room;
}

const char *wg_sink_insn(const wg_sink_words *w, unsigned agent, uint32_t pc, uint32_t word, char *room, size_t bytes)
{
    if (w->text)
        return w->text(w->user, agent, pc, word, room, bytes);
    snprintf(room, bytes, "0x%08x", word);
    return room;
}
