/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/scaling.h"

#include <stdlib.h>
#include <string.h>

#include "isa/asm.h"
#include "isa/riscv_word.h"
#include "machine/device.h"
#include "machine/unit.h"

/* The names that can be given. Names that cannot be scaled are listed with the reason. */
static const struct {
    const char *name;
    uint8_t agent;
} agents[] = {{"b", WG_AGENT_CORE_B},        {"nc", WG_AGENT_CORE_NC},         {"t0", WG_AGENT_CORE_T0},
              {"t1", WG_AGENT_CORE_T1},      {"t2", WG_AGENT_CORE_T2},         {"unpack0", WG_AGENT_UNPACK0},
              {"unpack1", WG_AGENT_UNPACK1}, {"matrix", WG_AGENT_MATRIX},      {"vector", WG_AGENT_VECTOR},
              {"pack", WG_AGENT_PACK},       {"scalar", WG_AGENT_SCALAR},      {"mover", WG_AGENT_MOVER},
              {"sync-unit", WG_AGENT_SYNC},  {"config-unit", WG_AGENT_CONFIG}, {"misc", WG_AGENT_MISC},
              {"thread0", WG_AGENT_THREAD0}, {"thread1", WG_AGENT_THREAD1},    {"thread2", WG_AGENT_THREAD2}};
enum { AGENTS = sizeof agents / sizeof *agents };

const char *wg_scaling_agent(unsigned index, unsigned *agent)
{
    *agent = index < AGENTS ? agents[index].agent : WG_AGENT_NONE;
    return index < AGENTS ? agents[index].name : NULL;
}

/* ---- Factors ---- */

/* "0", "0.5", "2x": thousandths. */
static bool read_factor(const char *text, size_t length, uint32_t *factor)
{
    uint64_t value = 0;
    unsigned digits = 0, decimals = 0;
    bool point = false;
    if (length && text[length - 1] == 'x')
        length--;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && !point && digits) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || decimals == 3 || digits == 6)
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
        digits++;
        decimals += point;
    }
    if (!digits || (point && !decimals))
        return false;
    for (; decimals < 3; decimals++)
        value *= 10;
    *factor = (uint32_t)value;
    return value <= WG_FACTOR_MOST;
}

/* ---- Lines ---- */

static bool same_file(const char *file, const char *wanted, size_t length)
{
    size_t own = file ? strlen(file) : 0;
    return own >= length && memcmp(file + own - length, wanted, length) == 0 &&
           (own == length || file[own - length - 1] == '/');
}

static bool add_place(wg_tile_scaling *p, unsigned core, uint32_t pc, uint32_t factor)
{
    if (p->places == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        wg_scaled_pc *more = wg_realloc(p->place, room * sizeof *more);
        if (!more)
            return false;
        p->place = more;
        p->room = room;
    }
    p->place[p->places++] = (wg_scaled_pc){.pc = pc, .factor = factor, .core = (uint8_t)core};
    return true;
}

/* Why the duration of a Tensix instruction cannot be scaled; NULL: it can be. */
static const char *fixed_insn(wg_arch_id arch, uint32_t word)
{
    const wg_isa_insn *insn = wg_isa_decode(arch, word);
    const unsigned opcode = wg_opcode(word);
    if (opcode == WG_OPCODE_STALLWAIT || opcode == WG_OPCODE_SEMWAIT)
        return "takes one cycle; `waitgate check --waits` says what a program gains without it";
    if (!insn || insn->unit >= WG_UNIT_COUNT || !wg_units[insn->unit])
        return "takes one cycle";
    if (wg_units[insn->unit]->agent == WG_AGENT_VECTOR)
        return "enters the Vector Unit in its own cycle; only its completion is scaled";
    return wg_cost_fixed(wg_units[insn->unit]->agent);
}

/* Notes a line's Tensix instructions that cannot be scaled. */
static void note_insn(const wg_session *s, uint32_t word, wg_text *note)
{
    const char *why = fixed_insn(s->desc.arch, word);
    const wg_isa_insn *insn = wg_isa_decode(s->desc.arch, word);
    char text[192];
    if (!why || !insn)
        return;
    snprintf(text, sizeof text, "%s %s", insn->name, why);
    if (!strstr(wg_text_of(note), text))
        wg_textf(note, "%s%s", note->size ? "; " : "", text);
}

/* Programs of one core: the loaded one, and the one that arrived during the run. */
static unsigned codes_of(const wg_session *s, unsigned core, wg_scaled_code c[2])
{
    const wg_overlay *o = &s->overlay[core];
    unsigned count = 0;
    if (s->elf[core])
        c[count++] = (wg_scaled_code){s->elf[core], 0, 0, UINT32_MAX};
    if (o->elf)
        c[count++] = (wg_scaled_code){o->elf, o->address - o->link, o->address, o->address + o->bytes};
    return count;
}

/* The instructions of one program of a core that come from a line. */
static bool add_code(wg_tile_scaling *p, wg_session *s, unsigned core, const wg_scaled_code *c,
                     const wg_scaled_line *line, wg_text *note)
{
    for (size_t i = 0; i < wg_elf_segments(c->elf); i++) {
        const wg_elf_segment *g = wg_elf_segment_at(c->elf, i);
        for (uint32_t at = 0; g->executable && at + 4 <= g->file_bytes; at += 4) {
            const uint32_t pc = g->address + c->shift + at;
            wg_source source = {0};
            uint32_t word;
            if (pc < c->low || pc >= c->high || !wg_session_source(s, core, pc, &source) || source.line != line->line ||
                !same_file(source.file, line->file, line->length))
                continue;
            memcpy(&word, g->data + at, 4);
            if (wg_rv_is_ttinsn(word))
                note_insn(s, wg_ttinsn_decode(word), note);
            if (!add_place(p, core, pc, line->factor))
                return false;
        }
    }
    return true;
}

static bool add_line(wg_tile_scaling *p, wg_session *s, wg_scaled_line *line, wg_text *note)
{
    const size_t before = p->places;
    bool ok = true, pushed = false;
    for (unsigned i = 0; ok && i < WG_CORES; i++) {
        wg_scaled_code programs[2];
        const unsigned count = codes_of(s, i, programs);
        for (unsigned k = 0; ok && k < count; k++)
            ok = add_code(p, s, i, &programs[k], line, note);
    }
    for (unsigned i = 0; s->has_tasm && i < WG_THREADS && same_file(s->program[WG_CORES], line->file, line->length);
         i++)
        for (size_t k = 0; k < s->tasm.stream[i].words; k++)
            if (s->tasm.stream[i].word[k].line == line->line) {
                pushed = true;
                note_insn(s, s->tasm.stream[i].word[k].word, note);
            }
    if (pushed)
        ok = ok && add_place(p, 0, WG_HOST_PC + line->line, line->factor);
    line->found |= p->places != before;
    return ok;
}

static void use_places(wg_tile_scaling *p)
{
    if (p->places)
        qsort(p->place, p->places, sizeof *p->place, wg_scaled_pc_order);
    p->what_if.place = p->place;
    p->what_if.places = p->places;
}

bool wg_scaling_tile(wg_scaling *all, wg_session *s, wg_tile_scaling *tile)
{
    bool ok = true;
    *tile = (wg_tile_scaling){.what_if = all->all};
    for (size_t i = 0; ok && i < all->lines; i++)
        ok = add_line(tile, s, &all->line[i], &all->note);
    use_places(tile);
    return ok;
}

bool wg_scaling_code(wg_scaling *all, wg_session *s, unsigned core, const wg_scaled_code *code, wg_tile_scaling *tile)
{
    bool ok = true;
    for (size_t i = 0; ok && i < all->lines; i++) {
        const size_t before = tile->places;
        ok = add_code(tile, s, core, code, &all->line[i], &all->note);
        all->line[i].found |= tile->places != before;
    }
    use_places(tile);
    return ok;
}

bool wg_scaling_nowhere(wg_tile_scaling *tile)
{
    const bool ok = add_place(tile, 0, 0, WG_FACTOR_ONE);
    use_places(tile);
    return ok;
}

void wg_scaling_text(const wg_scaling *all, wg_text *out)
{
    wg_textf(out, "With other costs: %s.\n", all->list);
    if (all->note.size)
        wg_textf(out, "  Not scaled: %s.\n", wg_text_of(&all->note));
}

void wg_scaling_json(const wg_scaling *all, wg_json *j)
{
    wg_json_text(j, "scaled", all->list);
    if (all->note.size)
        wg_json_text(j, "not_scaled", wg_text_of(&all->note));
}

bool wg_scaling_found(const wg_scaling *all, wg_text *error)
{
    for (size_t i = 0; i < all->lines; i++)
        if (!all->line[i].found) {
            wg_textf(error, "waitgate: --what-if: no instruction comes from line %u of %.*s\n", all->line[i].line,
                     (int)all->line[i].length, all->line[i].file);
            return false;
        }
    return true;
}

/* ---- Requests ---- */

static bool unknown(const char *item, size_t length, wg_text *error)
{
    wg_near near;
    wg_near_begin(&near, item, length);
    wg_textf(error, "waitgate: --what-if: `%.*s` is none of line:FILE:LINE", (int)length, item);
    for (unsigned i = 0; i < AGENTS; i++)
        if (!wg_cost_fixed(agents[i].agent)) {
            wg_textf(error, ", %s", agents[i].name);
            wg_near_offer(&near, agents[i].name);
        }
    for (unsigned i = 0; i < WG_COST_GROUPS; i++) {
        wg_textf(error, ", %s", wg_cost_group_name(i));
        wg_near_offer(&near, wg_cost_group_name(i));
    }
    if (wg_near_best(&near))
        wg_textf(error, "; did you mean `%s`?", wg_near_best(&near));
    wg_text_add(error, "\n", 1);
    return false;
}

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

/* line:FILE:LINE */
static bool read_line(wg_scaling *all, const char *text, size_t length, uint32_t factor, wg_text *error)
{
    uint64_t line = 0;
    const char *colon = memrchr(text, ':', length);
    if (!colon || colon == text || !wg_parse_number(colon + 1, length - (size_t)(colon + 1 - text), &line) || !line ||
        line > UINT32_MAX) {
        wg_textf(error, "waitgate: --what-if: `line:%.*s` is not line:FILE:LINE\n", (int)length, text);
        return false;
    }
    wg_scaled_line *more = wg_realloc(all->line, (all->lines + 1) * sizeof *more);
    if (!more) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    all->line = more;
    all->line[all->lines++] = (wg_scaled_line){text, (size_t)(colon - text), (unsigned)line, factor, false};
    return true;
}

/* One WHAT=FACTOR. */
static bool read_item(wg_scaling *all, const char *item, size_t length, wg_text *error)
{
    const char *equals = memrchr(item, '=', length);
    uint32_t factor;
    if (!equals || !read_factor(equals + 1, length - (size_t)(equals + 1 - item), &factor)) {
        wg_textf(
            error,
            "waitgate: --what-if: `%.*s` is not WHAT=FACTOR, with a factor of 0 to 100 and at most three decimals\n",
            (int)length, item);
        return false;
    }
    size_t name = (size_t)(equals - item);
    if (name > 5 && memcmp(item, "line:", 5) == 0)
        return read_line(all, item + 5, name - 5, factor, error);
    for (unsigned i = 0; i < WG_COST_GROUPS; i++)
        if (is_word(wg_cost_group_name(i), item, name)) {
            all->all.group[i] = factor;
            return true;
        }
    for (unsigned i = 0; i < AGENTS; i++) {
        if (!is_word(agents[i].name, item, name))
            continue;
        const char *why = wg_cost_fixed(agents[i].agent);
        if (why)
            wg_textf(error, "waitgate: --what-if: %s cannot be scaled: %s %s\n", agents[i].name,
                     wg_agent_name(agents[i].agent), why);
        if (agents[i].agent == WG_AGENT_VECTOR)
            wg_textf(&all->note, "%sits instructions enter one per cycle; only their completion is scaled",
                     all->note.size ? "; " : "");
        all->all.agent[agents[i].agent] = factor;
        return !why;
    }
    return unknown(item, name, error);
}

bool wg_scaling_read(wg_scaling *all, const char *list, wg_text *error)
{
    *all = (wg_scaling){.list = list};
    wg_what_if_begin(&all->all);
    for (const char *item = list;;) {
        size_t length = strcspn(item, ",");
        if (!read_item(all, item, length, error))
            return false;
        if (!item[length])
            return true;
        item += length + 1;
    }
}

void wg_scaling_free(wg_scaling *all)
{
    free(all->line);
    wg_text_free(&all->note);
    *all = (wg_scaling){.lines = 0};
}
