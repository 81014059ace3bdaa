/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate profile --annotate`: the source with the cost of each line, or the disassembly with the cost of each instruction.
 *
 *     cores                 gates          units   matmul.c
 *        work waiting polling   pass waiting    busy
 *         120      96       .      .       .       .   41 |         dst_acquire();
 */
#include <stdlib.h>
#include <string.h>

#include "cli/profile.h"
#include "isa/asm.h"
#include "machine/device.h"
#include "text/excerpt.h"

/* The columns. */
enum { CORE_WORK, CORE_WAITS, CORE_POLLS, GATE_PASSES, GATE_WAITS, UNIT_WORKS, COLUMNS };
enum { AROUND = 2, GAP = 16 }; /* lines shown before and after one that costs; instructions between two that cost */

typedef struct annotated {
    wg_session *s;    /* whose program it is */
    const char *file; /* source: of the line; else NULL */
    unsigned line;
    unsigned core; /* disassembly: the program, and the instruction */
    uint32_t pc;
    uint64_t cycles[COLUMNS];
} annotated;

typedef struct annotation {
    annotated *row;
    size_t count;
} annotation;

static unsigned column_of(const wg_cost *c)
{
    if (wg_track_is_unit(c->track))
        return c->doing == WG_DOING_IDLE ? COLUMNS : UNIT_WORKS;
    if (c->doing == WG_DOING_IDLE || c->doing == WG_DOING_RESET || c->doing == WG_DOING_PARKED)
        return COLUMNS;
    if (wg_track_is_thread(c->track))
        return c->doing == WG_DOING_WORK ? GATE_PASSES : GATE_WAITS;
    return c->doing == WG_DOING_WORK ? CORE_WORK : c->doing == WG_DOING_POLLING ? CORE_POLLS : CORE_WAITS;
}

static int in_order(const void *left, const void *right)
{
    const annotated *a = left, *b = right;
    int files = strcmp(a->file ? a->file : "", b->file ? b->file : "");
    if (files)
        return files;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (!a->file && a->s != b->s)
        return a->s->tile < b->s->tile ? -1 : 1;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* The costs by line, or by instruction; the caller frees `row`. */
static annotation annotation_of(const wg_profiled *all, bool source)
{
    size_t most = 0;
    for (unsigned i = 0; i < all->tiles; i++)
        most += all->tile[i]->costs->table.count;
    annotation a = {.row = wg_calloc(most + 1, sizeof *a.row)};
    for (unsigned i = 0; a.row && i < all->tiles; i++)
        for (size_t k = 0; k < all->tile[i]->costs->table.count; k++) {
            wg_session *s = all->tile[i];
            const wg_cost *c = &s->costs->table.cost[k];
            const unsigned column = column_of(c);
            const wg_profile_at at = wg_profile_place(s, c);
            if (column == COLUMNS || !c->pc || (source && !at.file))
                continue;
            annotated *r = &a.row[a.count++];
            *r = source ? (annotated){.s = s, .file = at.file, .line = at.line}
                        : (annotated){.s = s, .core = c->core, .pc = c->pc};
            r->cycles[column] = c->cycles;
        }
    if (a.count)
        qsort(a.row, a.count, sizeof *a.row, in_order);
    size_t kept = 0;
    for (size_t i = 0; i < a.count; i++) {
        if (!kept || in_order(&a.row[kept - 1], &a.row[i]) != 0) {
            a.row[kept++] = a.row[i];
            continue;
        }
        for (unsigned c = 0; c < COLUMNS; c++)
            a.row[kept - 1].cycles[c] += a.row[i].cycles[c];
    }
    a.count = kept;
    return a;
}

static void head(const char *title, wg_text *out)
{
    wg_textf(out, "\n%-24s%-16s%-8s  %s\n%8s%8s%8s%8s%8s%8s\n", "   cores", "   gates", "   units", title, "work",
             "waiting", "polling", "pass", "waiting", "busy");
}

/* The cycles of a row, or of a line that cost nothing. */
static void numbers(const annotated *r, wg_text *out)
{
    for (unsigned c = 0; c < COLUMNS; c++)
        if (r && r->cycles[c])
            wg_textf(out, "%8llu", (unsigned long long)r->cycles[c]);
        else
            wg_textf(out, "%8s", r ? "." : "");
}

static void source_text(const annotation *a, wg_text *out)
{
    wg_excerpts excerpts = {0};
    for (size_t i = 0; i < a->count;) {
        const char *file = a->row[i].file;
        unsigned line = 0;
        head(file, out);
        for (; i < a->count && strcmp(a->row[i].file, file) == 0; i++) {
            const unsigned costs = a->row[i].line, first = costs > AROUND ? costs - AROUND : 1;
            if (line && line < first)
                wg_textf(out, "%50s…\n", "");
            const bool more = i + 1 < a->count && strcmp(a->row[i + 1].file, file) == 0;
            const unsigned next = more ? a->row[i + 1].line : UINT32_MAX;
            const unsigned last = next - 1 < costs + AROUND ? next - 1 : costs + AROUND;
            for (line = line > first ? line : first; line <= last; line++) {
                const wg_source at = {.file = file, .line = line};
                char room[WG_SNIPPET];
                const char *text = wg_excerpt_line(&excerpts, &at, room);
                if (!*text && line > costs)
                    continue;
                numbers(line == costs ? &a->row[i] : NULL, out);
                wg_textf(out, "  %5u | %s\n", line, text);
            }
        }
    }
    wg_excerpts_free(&excerpts);
}

/* A word pushed by a .tasm program or a host: no code contains it. */
static void pushed_text(const annotated *r, char *room, size_t bytes)
{
    const wg_cost_table *t = &r->s->costs->table;
    room[0] = 0;
    for (size_t i = 0; i < t->count && !*room; i++)
        if (t->cost[i].pc == r->pc)
            wg_profile_insn(r->s, &t->cost[i], room, bytes);
}

static void instruction_text(const annotated *r, bool costs, uint32_t pc, wg_text *out)
{
    char text[WG_DIS_MAX] = "", place[256] = "";
    uint32_t word;
    if (WG_IS_HOST_PC(pc))
        pushed_text(r, text, sizeof text);
    else if (wg_code_word(r->s->dev->tile, pc, &word))
        wg_insn_text(r->s, r->core, pc, word, text, sizeof text);
    if (costs)
        wg_place(r->s, r->core, pc, place, sizeof place);
    numbers(costs ? r : NULL, out);
    wg_textf(out, "  0x%08x  %s%*s%s\n", pc, text, *place ? (int)(strlen(text) < 40 ? 41 - strlen(text) : 1) : 0, "",
             place);
}

/* From the first instruction that costs to the last, which are of one function. */
static void function_text(const annotated *first, const annotated *last, wg_text *out)
{
    for (const annotated *r = first; r <= last; r++) {
        instruction_text(r, true, r->pc, out);
        if (r == last || WG_IS_HOST_PC(r->pc))
            continue;
        const uint32_t between = (r[1].pc - r->pc) / 4 - 1;
        for (uint32_t i = 1; between <= GAP && i <= between; i++)
            instruction_text(r, false, r->pc + 4 * i, out);
        if (between > GAP)
            wg_textf(out, "%50s… %u instructions\n", "", between);
    }
}

static bool together(const annotated *a, const annotated *b)
{
    uint32_t address, other;
    const wg_elf *elf = wg_session_elf(a->s, a->core, a->pc, &address);
    wg_session_elf(b->s, b->core, b->pc, &other);
    return a->s == b->s && a->core == b->core && WG_IS_HOST_PC(a->pc) == WG_IS_HOST_PC(b->pc) &&
           (WG_IS_HOST_PC(a->pc) ||
            (elf && wg_elf_function(elf, address) && wg_elf_function(elf, address) == wg_elf_function(elf, other)));
}

static void disassembly_text(const annotation *a, wg_text *out)
{
    for (size_t i = 0; i < a->count;) {
        const annotated *r = &a->row[i];
        size_t last = i;
        while (last + 1 < a->count && together(r, &a->row[last + 1]))
            last++;
        uint32_t address;
        const wg_elf *elf = wg_session_elf(r->s, r->core, r->pc, &address);
        const wg_elf_symbol *symbol = elf ? wg_elf_function(elf, address) : NULL;
        char title[320], tile[24] = "";
        if (r->s->chip_width)
            snprintf(tile, sizeof tile, "%u-%u ", r->s->tile % r->s->chip_width, r->s->tile / r->s->chip_width);
        snprintf(title, sizeof title, "%s%s%s%s", tile,
                 r->core < WG_CORES ? wg_agent_name(r->core) : "the threads' words", symbol ? ": " : "",
                 symbol ? symbol->name : "");
        head(title, out);
        function_text(r, &a->row[last], out);
        i = last + 1;
    }
}

void wg_annotate(const wg_profiled *all, unsigned how, wg_text *out)
{
    if (how != WG_ANNOTATE_SOURCE && how != WG_ANNOTATE_INSTRUCTIONS)
        return;
    annotation a = annotation_of(all, how == WG_ANNOTATE_SOURCE);
    if (how == WG_ANNOTATE_SOURCE)
        source_text(&a, out);
    else
        disassembly_text(&a, out);
    free(a.row);
}
