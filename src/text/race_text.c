/* SPDX-License-Identifier: Apache-2.0 */
#include "text/race_text.h"

#include "text/delays.h"

#include "text/rvdis.h"
#include "isa/asm.h"

static const char *const remedy_text[] = {[WG_REMEDY_SUGGESTED] = "suggested remedy",
                                          [WG_REMEDY_VERIFIED] = "remedy (verified)",
                                          [WG_REMEDY_NOT_ENOUGH] = "remedy (tried, not enough by itself)"};
static const char *const remedy_word[] = {
    [WG_REMEDY_SUGGESTED] = "suggested", [WG_REMEDY_VERIFIED] = "verified", [WG_REMEDY_NOT_ENOUGH] = "not-enough"};

/* The `user` that knows the party's program; NULL: none. */
static void *user_of(const wg_race_words *w, const wg_race_party *p)
{
    if (!p->tile)
        return w->user;
    return w->of_tile ? w->of_tile(w->user, p->tile - 1u) : NULL;
}

bool wg_race_source(const wg_race_words *w, const wg_race_party *p, wg_source *out)
{
    void *user = user_of(w, p);
    *out = (wg_source){.struct_size = sizeof *out};
    return p->pc && w->source && user && w->source(user, p->core, p->pc, out);
}

wg_source wg_source_of(uint32_t pc, const wg_elf_symbol *symbol, const wg_elf_line *line, const wg_elf_call *call,
                       unsigned calls)
{
    wg_source source = {.calls = calls};
    if (symbol) {
        source.function = symbol->name;
        source.offset = pc - symbol->address;
    }
    if (line) {
        source.file = line->file;
        source.line = line->line;
        source.column = line->column;
    }
    for (unsigned i = 0; i < calls; i++) {
        source.call[i].function = call[i].function;
        source.call[i].file = call[i].file;
        source.call[i].line = call[i].line;
    }
    return source;
}

const char *wg_source_text(const wg_source *source, char *room, size_t bytes)
{
    const unsigned outer = source->calls ? source->calls - 1 : 0;
    size_t used = 0;
    room[0] = 0;
    if (source->calls)
        used = (size_t)snprintf(room, bytes, "%s", source->call[0].function);
    else if (source->function && source->offset)
        used = (size_t)snprintf(room, bytes, "%s+0x%x", source->function, source->offset);
    else if (source->function)
        used = (size_t)snprintf(room, bytes, "%s", source->function);
    if (used < bytes && source->file)
        used += (size_t)snprintf(room + used, bytes - used, used ? " (%s:%u)" : "%s:%u", source->file, source->line);
    if (used < bytes && source->calls && source->function)
        used += (size_t)snprintf(room + used, bytes - used, ", inlined into %s+0x%x", source->function, source->offset);
    if (used < bytes && source->calls && source->function && source->call[outer].file)
        snprintf(room + used, bytes - used, " (%s:%u)", source->call[outer].file, source->call[outer].line);
    return room;
}

void wg_source_json(const wg_source *source, wg_excerpts *excerpts, wg_json *j)
{
    char line[WG_SNIPPET];
    if (source->function)
        wg_json_text(j, "function", source->function);
    if (source->file) {
        wg_json_text(j, "file", source->file);
        wg_json_uint(j, "line", source->line);
    }
    if (source->column)
        wg_json_uint(j, "column", source->column);
    if (*wg_excerpt_line(excerpts, source, line))
        wg_json_text(j, "snippet", line);
    wg_source_calls_json(source, j);
}

void wg_source_calls_json(const wg_source *source, wg_json *j)
{
    if (!source->calls)
        return;
    wg_json_open(j, "inlined", '[');
    for (unsigned i = 0; i < source->calls; i++) {
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "function", source->call[i].function);
        if (source->call[i].file) {
            wg_json_text(j, "called_in_file", source->call[i].file);
            wg_json_uint(j, "called_in_line", source->call[i].line);
        }
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}

const char *wg_race_place_text(const wg_race_words *w, const wg_race_party *p, char *room, size_t bytes)
{
    wg_source source;
    room[0] = 0;
    return wg_race_source(w, p, &source) ? wg_source_text(&source, room, bytes) : room;
}

const char *wg_race_insn_text(const wg_race_words *w, const wg_race_party *p, char *room, size_t bytes)
{
    uint32_t word;
    void *user = user_of(w, p);
    room[0] = 0;
    if (p->thread < WG_THREADS)
        wg_disassemble(w->arch, p->word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, room, bytes);
    else if (p->pc && user && w->core_word && w->core_word(user, p->pc, &word) && (word & 3) == 3)
        wg_riscv_text(p->pc, word, room, bytes);
    for (char *c = room; *c; c++)
        if (*c == '\t')
            *c = ' ';
    return room;
}

/* "NIU 0, request of core B of tile 3-2" */
static void who_elsewhere(const wg_race_words *w, const wg_race_party *p, char *room, size_t bytes)
{
    unsigned tile = p->tile - 1u;
    int used =
        snprintf(room, bytes, "%s, request of %s%s%stile ", wg_agent_name(p->agent), p->core < WG_CORES ? "core " : "",
                 p->core < WG_CORES ? wg_agent_name(p->core) : "", p->core < WG_CORES ? " of " : "");
    if (used < 0 || (size_t)used >= bytes)
        return;
    if (w->width)
        snprintf(room + used, bytes - (size_t)used, "%u-%u", tile % w->width, tile / w->width);
    else
        snprintf(room + used, bytes - (size_t)used, "%u", tile);
}

const char *wg_race_who(const wg_race_words *w, const wg_race_party *p, char *room, size_t bytes)
{
    if (p->thread < WG_THREADS && p->agent >= WG_AGENT_SYNC)
        snprintf(room, bytes, "%s, thread %u", wg_agent_name(p->agent), p->thread);
    else if (p->thread < WG_THREADS)
        snprintf(room, bytes, "MOP Expander, thread %u", p->thread);
    else if (p->agent <= WG_AGENT_CORE_T2)
        snprintf(room, bytes, "core %s", wg_agent_name(p->agent));
    else if (p->tile)
        who_elsewhere(w, p, room, bytes);
    else
        snprintf(room, bytes, "%s%s%s", wg_agent_name(p->agent), p->core < WG_CORES ? " for core " : "",
                 p->core < WG_CORES ? wg_agent_name(p->core) : "");
    return room;
}

static void party_text(const wg_race_words *w, const wg_race_party *p, const char *before, wg_text *out)
{
    char room[256], text[WG_DIS_MAX], parent[WG_DIS_MAX];
    const char *what = p->atomic ? (p->write ? "atomic access" : "atomic read") : p->write ? "write" : "read";
    wg_textf(out, "  %s%s by %s at cycle %llu\n", before, what, wg_race_who(w, p, room, sizeof room),
             (unsigned long long)p->cycle);
    wg_race_insn_text(w, p, text, sizeof text);
    if (p->thread < WG_THREADS) {
        wg_textf(out, "    0x%08x  %s\n", p->word, text);
        if (p->parent) {
            wg_disassemble(w->arch, p->parent, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, parent, sizeof parent);
            wg_textf(out, "    made by %s\n", parent);
        }
    } else if (*text) {
        wg_textf(out, "    %s\n", text);
    }
    bool known = *wg_race_place_text(w, p, room, sizeof room) != 0, pushed = p->thread < WG_THREADS;
    if (p->pc && !WG_IS_HOST_PC(p->pc))
        wg_textf(out, "    %s 0x%08x%s%s%s%s\n", pushed ? "pushed at" : "at", p->pc,
                 pushed && p->core < WG_CORES ? " by core " : "",
                 pushed && p->core < WG_CORES ? wg_agent_name(p->core) : "", known ? " in " : "", room);
    else if (known)
        wg_textf(out, "    %s\n", room);
    wg_source source;
    wg_excerpts excerpts = {0};
    if (wg_race_source(w, p, &source))
        wg_excerpt_text(&excerpts, &source, "", out);
    wg_excerpts_free(&excerpts);
}

/* How certain a report is, and why. */
enum { RARE = 100 /* cycles of delay: more than contention usually costs */ };
typedef struct confidence {
    const char *word, *reason;
} confidence;
static confidence confidence_of(const wg_race *race)
{
    if (race->grade == WG_GRADE_WRONG)
        return (confidence){"shown", race->witness.cycles > RARE
                                         ? "certain: that timing shows it; so long a delay is legal, but rare"
                                         : "certain: that timing shows it"};
    if (wg_race_severity(race->kind) == WG_SEVERITY_NOTE)
        return (confidence){"low", "low: the order is not documented, or the value may not matter"};
    if (wg_race_check(race->kind) != WG_CHECK_RACE)
        return (confidence){"seen", "certain: this run has done it"};
    if (race->grade == WG_GRADE_UNORDERED)
        return (confidence){"rule", "by rule: no page orders the two, but it may hold in practice"};
    return (confidence){"rule", "by rule: no page orders this"};
}

static void grade_text(const wg_race_words *w, const wg_race *race, wg_text *out)
{
    if (race->grade == WG_GRADE_UNORDERED)
        wg_textf(out, "  grade: unordered: %u other timing%s of its parties gave%s the same result\n", race->timings,
                 race->timings == 1 ? "" : "s", race->timings == 1 ? "" : " all");
    if (race->grade == WG_GRADE_WRONG) {
        wg_textf(out, "  grade: wrong: memory or registers end otherwise with %s", w->delays ? w->delays : "--delays ");
        wg_delays_print(&race->witness, 1, out);
        wg_text_add(out, "\n", 1);
    }
    if (race->grade == WG_GRADE_NONE && race->ungraded)
        wg_textf(out, "  grade: none: %s\n", race->ungraded);
    wg_textf(out, "  confidence: %s\n", confidence_of(race).reason);
}

void wg_race_line(const wg_race_words *w, const wg_race *race, wg_text *out)
{
    const wg_race_party *side[2] = {&race->b, &race->a};
    char room[256], place[256], text[WG_DIS_MAX];
    wg_textf(out, "  R%u %s:", race->id, wg_race_kind_name(race->kind));
    for (unsigned i = 0; i < (race->has_a ? 2u : 1u); i++) {
        wg_textf(out, "%s %s %s", i ? ", and" : "", wg_race_who(w, side[i], room, sizeof room),
                 wg_race_insn_text(w, side[i], text, sizeof text));
        if (*wg_race_place_text(w, side[i], place, sizeof place))
            wg_textf(out, " at %s", place);
    }
    if (race->explains)
        wg_textf(out, ", and %u more pair%s", race->explains, race->explains == 1 ? "" : "s");
    wg_textf(out, "; %s", race->location);
    if (race->timings)
        wg_textf(out, "; %u timing%s tried", race->timings, race->timings == 1 ? "" : "s");
    wg_textf(out, "\n      %s: %s\n", remedy_text[race->remedy_is], race->remedy);
}

void wg_race_text(const wg_race_words *w, const wg_race *race, wg_text *out)
{
    char room[256], place[256], text[WG_DIS_MAX];
    wg_textf(out, "==================\n%s: Waitgate: %s: %s",
             wg_race_severity(race->kind) == WG_SEVERITY_NOTE ? "NOTE" : "WARNING", wg_race_kind_name(race->kind),
             wg_race_kind_summary(race->kind));
    if (race->count > 1)
        wg_textf(out, " (%llu times)", (unsigned long long)race->count);
    wg_textf(out, "\n");
    party_text(w, &race->b, "", out);
    if (race->has_a)
        party_text(w, &race->a, race->a.cycle <= race->b.cycle ? "previous " : "overtaking the ", out);
    const char *end = wg_mark_of(out, WG_MARK_END);
    wg_textf(out, "  location: %s\n  why: %s%s%s\n", race->location, wg_mark_of(out, WG_MARK_CAUSE), race->why, end);
    wg_textf(out, "  %s: %s%s%s\n  id: R%u\n", remedy_text[race->remedy_is], wg_mark_of(out, WG_MARK_REMEDY),
             race->remedy, end, race->id);
    grade_text(w, race, out);
    if (race->explains)
        wg_textf(out, "  explains: %u more pair%s%s\n", race->explains, race->explains == 1 ? "" : "s",
                 race->remedy_is == WG_REMEDY_VERIFIED ? ", which this remedy puts in order, too"
                                                       : " of the same parties and the same cause");
    wg_race_place_text(w, &race->b, place, sizeof place);
    wg_textf(out, "SUMMARY: Waitgate: %s, %s, %s%s%s\n", wg_race_kind_name(race->kind),
             wg_race_who(w, &race->b, room, sizeof room), wg_race_insn_text(w, &race->b, text, sizeof text),
             *place ? ", " : "", place);
}

static void party_json(const wg_race_words *w, const wg_race_party *p, const char *key, wg_json *j)
{
    char room[256], text[WG_DIS_MAX];
    wg_json_open(j, key, '{');
    wg_json_text(j, "agent", wg_agent_name(p->agent));
    if (p->thread < WG_THREADS)
        wg_json_uint(j, "thread", p->thread);
    if (p->core < WG_CORES)
        wg_json_text(j, "core", wg_agent_name(p->core));
    wg_json_text(j, "access", p->atomic ? "atomic" : p->write ? "write" : "read");
    wg_json_uint(j, "cycle", p->cycle);
    if (p->thread < WG_THREADS)
        wg_json_hex(j, "word", p->word);
    if (p->parent)
        wg_json_hex(j, "parent", p->parent);
    if (p->tile)
        wg_json_uint(j, "of_tile", p->tile - 1u);
    if (p->tile && w->width) {
        wg_json_uint(j, "of_x", (p->tile - 1u) % w->width);
        wg_json_uint(j, "of_y", (p->tile - 1u) / w->width);
    }
    wg_json_text(j, "instruction", wg_race_insn_text(w, p, text, sizeof text));
    if (p->pc) {
        wg_json_hex(j, "pc", p->pc);
        wg_source source;
        wg_excerpts excerpts = {0};
        wg_race_source(w, p, &source);
        wg_source_json(&source, &excerpts, j);
        wg_excerpts_free(&excerpts);
    }
    wg_json_text(j, "place", wg_race_place_text(w, p, room, sizeof room));
    wg_json_close(j, '}');
}

void wg_race_json(const wg_race_words *w, const wg_race *race, wg_json *j)
{
    wg_json_uint(j, "id", race->id);
    wg_json_text(j, "kind", wg_race_kind_name(race->kind));
    wg_json_text(j, "severity", wg_severity_names[wg_race_severity(race->kind)]);
    wg_json_uint(j, "count", race->count);
    if (race->has_a)
        party_json(w, &race->a, "first", j);
    party_json(w, &race->b, "second", j);
    wg_json_text(j, "location", race->location);
    wg_json_text(j, "why", race->why);
    wg_json_text(j, "remedy", race->remedy);
    wg_json_bool(j, "verified", race->remedy_is == WG_REMEDY_VERIFIED);
    wg_json_text(j, "remedy_is", remedy_word[race->remedy_is]);
    if (race->grade != WG_GRADE_NONE) {
        wg_json_text(j, "grade", race->grade == WG_GRADE_WRONG ? "wrong" : "unordered");
        wg_json_uint(j, "timings", race->timings);
    }
    if (race->grade == WG_GRADE_WRONG) {
        wg_text witness = {0};
        wg_delays_print(&race->witness, 1, &witness);
        wg_json_text(j, "witness_delay", wg_text_of(&witness));
        wg_text_free(&witness);
    }
    if (race->grade == WG_GRADE_NONE && race->ungraded)
        wg_json_text(j, "ungraded", race->ungraded);
    wg_json_text(j, "confidence", confidence_of(race).word);
    if (race->explains)
        wg_json_uint(j, "explains", race->explains);
    if (race->explained_by)
        wg_json_uint(j, "explained_by", race->explained_by);
}
