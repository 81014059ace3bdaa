/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/merge.h"

#include <stdlib.h>
#include <string.h>

/* Windows of a run that may stop are at most 64 cycles long (chip/grid_run.c). */
enum { BEHIND = 128, FEW = 4096 };

static int by_time(const void *left, const void *right)
{
    const wg_merge_line *a = left, *b = right;
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle ? -1 : 1;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Writes the lines before `cycle` and keeps the others. */
static void write_before(wg_merge *m, uint64_t cycle)
{
    if (!m->lines)
        return;
    qsort(m->line, m->lines, sizeof *m->line, by_time);
    size_t ready = 0;
    while (ready < m->lines && m->line[ready].cycle < cycle) {
        wg_sink_bytes(m->out, m->text + m->line[ready].at, m->line[ready].bytes);
        ready++;
    }
    if (!ready)
        return;
    size_t kept = m->lines - ready, used = 0;
    for (size_t i = 0; i < kept; i++)
        used += m->line[ready + i].bytes;
    char *rest = used ? malloc(used) : NULL;
    if (used && !rest) {
        m->failed = true;
        kept = used = 0;
    }
    for (size_t i = 0, at = 0; i < kept; i++) {
        wg_merge_line *l = &m->line[i];
        *l = m->line[ready + i];
        memcpy(rest + at, m->text + l->at, l->bytes);
        l->at = at;
        at += l->bytes;
    }
    if (used)
        memcpy(m->text, rest, used);
    free(rest);
    m->lines = kept;
    m->used = used;
}

static bool grow(void **list, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return true;
    size_t more = *room ? *room : FEW;
    while (more < need)
        more *= 2;
    void *bigger = realloc(*list, more * size);
    if (!bigger)
        return false;
    *list = bigger;
    *room = more;
    return true;
}

void wg_merge_add(wg_merge *m, uint64_t cycle, uint32_t tile, const char *text, size_t bytes)
{
    m->newest = cycle > m->newest ? cycle : m->newest;
    if (m->lines >= FEW && m->newest > BEHIND && m->line[0].cycle + 2 * BEHIND < m->newest)
        write_before(m, m->newest - BEHIND);
    void *line = m->line, *all = m->text;
    bool ok =
        grow(&line, &m->line_room, m->lines + 1, sizeof *m->line) && grow(&all, &m->text_room, m->used + bytes, 1);
    m->line = line;
    m->text = all;
    if (!ok) {
        m->failed = true;
        return;
    }
    m->line[m->lines++] = (wg_merge_line){cycle, m->number++, tile, (uint32_t)bytes, m->used};
    memcpy(m->text + m->used, text, bytes);
    m->used += bytes;
}

void wg_merge_end(wg_merge *m) { write_before(m, UINT64_MAX); }

void wg_merge_free(wg_merge *m)
{
    free(m->line);
    free(m->text);
    *m = (wg_merge){0};
}
