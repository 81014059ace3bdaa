/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered text of the sinks. */
#include "observe/sinks.h"

#include <stdarg.h>
#include <string.h>

void wg_sink_flush(wg_sink_out *out)
{
    if (out->used && !out->failed && !out->write(out->write_user, out->buffer, out->used))
        out->failed = true;
    out->used = 0;
}

void wg_sink_printf(wg_sink_out *out, const char *format, ...)
{
    char piece[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t bytes = (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1;
    if (out->used + bytes > sizeof out->buffer)
        wg_sink_flush(out);
    memcpy(out->buffer + out->used, piece, bytes);
    out->used += bytes;
}

void wg_sink_json(wg_sink_out *out, const char *text)
{
    wg_sink_printf(out, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            wg_sink_printf(out, "\\%c", c);
        else if (c < 0x20)
            wg_sink_printf(out, "\\u%04x", c);
        else
            wg_sink_printf(out, "%c", c);
    }
    wg_sink_printf(out, "\"");
}
