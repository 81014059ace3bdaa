/* SPDX-License-Identifier: Apache-2.0 */
#include "text/excerpt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_SOURCE = 256 << 10 }; /* bytes of one source file */

bool wg_is_source(const char *file)
{
    struct stat info;
    return strcmp(file, "-") != 0 && stat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MOST_SOURCE;
}

void wg_excerpts_free(wg_excerpts *e)
{
    free(e->file);
    free(e->text);
    *e = (wg_excerpts){0};
}

static void read_file(wg_excerpts *e, const char *file)
{
    char error[16];
    if (e->file && strcmp(e->file, file) == 0)
        return;
    wg_excerpts_free(e);
    if ((e->file = wg_strdup(file)) && wg_is_source(file))
        e->text = wg_file_read(file, &e->size, error, sizeof error);
    if (e->text && memchr(e->text, 0, e->size)) {
        free(e->text);
        e->text = NULL;
    }
}

/* Does not split a UTF-8 character. */
static size_t fitting(const char *text, size_t size)
{
    if (size < WG_SNIPPET)
        return size;
    size = WG_SNIPPET - 1;
    while (size && ((unsigned char)text[size] & 0xC0) == 0x80)
        size--;
    return size;
}

const char *wg_excerpt_line(wg_excerpts *e, const wg_source *source, char *room)
{
    room[0] = 0;
    if (!source->file || !source->line)
        return room;
    read_file(e, source->file);
    const char *at = (const char *)e->text, *end = at ? at + e->size : NULL;
    for (unsigned line = 1; at && line < source->line; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || at == end)
        return room;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t size = fitting(at, (size_t)((stop ? stop : end) - at));
    memcpy(room, at, size);
    while (size && (unsigned char)room[size - 1] <= ' ')
        size--;
    room[size] = 0;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)room[i] < ' ' || room[i] == 0x7F)
            room[i] = ' ';
    return room;
}

/* The position of the mark: the column in the debug information, or the first word of the line. */
static size_t mark_at(const char *line, unsigned column)
{
    size_t first = strspn(line, " ");
    return column > first && column <= strlen(line) ? column - 1 : first;
}

/* Columns of a terminal up to a byte. */
static unsigned columns(const char *line, size_t bytes)
{
    unsigned n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)line[i] & 0xC0) != 0x80;
    return n;
}

void wg_excerpt_text(wg_excerpts *e, const wg_source *source, const char *instruction, wg_text *out)
{
    char line[WG_SNIPPET];
    if (!*wg_excerpt_line(e, source, line))
        return;
    wg_textf(out, "    %5u | %s\n", source->line, line);
    wg_textf(out, "          | %*s^%s%s\n", (int)columns(line, mark_at(line, source->column)), "",
             *instruction ? " " : "", instruction);
    for (unsigned i = 0; source->calls > 1 && i < source->calls; i++)
        if (source->call[i].file)
            wg_textf(out, "          %s is inlined at %s:%u\n", source->call[i].function, source->call[i].file,
                     source->call[i].line);
}
