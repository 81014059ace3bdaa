/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate profile --what-if LIST`: runs the program again with costs scaled (machine/what_if.h).
 *
 *     LIST: WHAT=FACTOR, separated by commas; all of them in one run
 *     WHAT: a unit, a core, a group of constants (noc, dram, l1 …), line:FILE:LINE
 *     auto: everything that took time, one by one, at half its cost
 */
#include "cli/what_if.h"
#include "cli/meter.h"

#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "isa/asm.h"
#include "isa/riscv_word.h"
#include "machine/device.h"
#include "machine/unit.h"

/* The names that can be given. Those that cannot be scaled are listed, too, with the reason. */
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

/* A scaled run before it runs. */
typedef struct plan {
    wg_what_if what_if;
    wg_scaled_pc *place;
    size_t places, room;
} plan;

/* What runs again: a tile, or a chip with its tiles. */
typedef struct subject {
    wg_profiled of;
    wg_again_fn again; /* NULL: a tile alone */
    void *chip;
    plan *plan; /* for each tile */
} subject;
static wg_session *first_of(const subject *u) { return u->of.tile[0]; }

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

static bool add_place(plan *p, unsigned core, uint32_t pc, uint32_t factor)
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

/* A program in a core's memory, `shift` above the addresses in its file, as far as `low` to `high`. */
typedef struct code {
    const wg_elf *elf;
    uint32_t shift, low, high;
} code;

/* Programs of one core: the loaded one, and the one that arrived during the run. */
static unsigned codes_of(const wg_session *s, unsigned core, code c[2])
{
    const wg_overlay *o = &s->overlay[core];
    unsigned count = 0;
    if (s->elf[core])
        c[count++] = (code){s->elf[core], 0, 0, UINT32_MAX};
    if (o->elf)
        c[count++] = (code){o->elf, o->address - o->link, o->address, o->address + o->bytes};
    return count;
}

/* The instructions of one program of a core that come from a line. */
static bool add_code(plan *p, wg_session *s, unsigned core, const code *c, const char *file, size_t length,
                     unsigned line, uint32_t factor, wg_text *note)
{
    for (size_t i = 0; i < wg_elf_segments(c->elf); i++) {
        const wg_elf_segment *g = wg_elf_segment_at(c->elf, i);
        for (uint32_t at = 0; g->executable && at + 4 <= g->file_bytes; at += 4) {
            const uint32_t pc = g->address + c->shift + at;
            wg_source source = {0};
            uint32_t word;
            if (pc < c->low || pc >= c->high || !wg_session_source(s, core, pc, &source) || source.line != line ||
                !same_file(source.file, file, length))
                continue;
            memcpy(&word, g->data + at, 4);
            if (wg_rv_is_ttinsn(word))
                note_insn(s, wg_ttinsn_decode(word), note);
            if (!add_place(p, core, pc, factor))
                return false;
        }
    }
    return true;
}

static bool add_line(plan *p, wg_session *s, const char *file, size_t length, unsigned line, uint32_t factor,
                     wg_text *note, bool *found)
{
    size_t before = p->places;
    bool ok = true, pushed = false;
    for (unsigned i = 0; ok && i < WG_CORES; i++) {
        code programs[2];
        const unsigned count = codes_of(s, i, programs);
        for (unsigned k = 0; ok && k < count; k++)
            ok = add_code(p, s, i, &programs[k], file, length, line, factor, note);
    }
    for (unsigned i = 0; s->has_tasm && i < WG_THREADS && same_file(s->program[WG_CORES], file, length); i++)
        for (size_t k = 0; k < s->tasm.stream[i].words; k++)
            if (s->tasm.stream[i].word[k].line == line) {
                pushed = true;
                note_insn(s, s->tasm.stream[i].word[k].word, note);
            }
    if (pushed)
        ok = ok && add_place(p, 0, WG_HOST_PC + line, factor);
    *found |= p->places != before;
    return ok;
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

/* line:FILE:LINE, of any tile's programs */
static bool plan_line(subject *u, const char *text, size_t length, uint32_t factor, wg_text *note, wg_text *error)
{
    uint64_t line = 0;
    const char *colon = memrchr(text, ':', length);
    if (!colon || colon == text || !wg_parse_number(colon + 1, length - (size_t)(colon + 1 - text), &line) || !line ||
        line > UINT32_MAX) {
        wg_textf(error, "waitgate: --what-if: `line:%.*s` is not line:FILE:LINE\n", (int)length, text);
        return false;
    }
    bool ok = true, found = false;
    for (unsigned i = 0; ok && i < u->of.tiles; i++)
        ok = add_line(&u->plan[i], u->of.tile[i], text, (size_t)(colon - text), (unsigned)line, factor, note, &found);
    if (ok && !found)
        wg_textf(error, "waitgate: --what-if: no instruction comes from line %u of %.*s\n", (unsigned)line,
                 (int)(colon - text), text);
    return ok && found;
}

/* One WHAT=FACTOR. */
static bool plan_item(subject *u, const char *item, size_t length, wg_text *note, wg_text *error)
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
        return plan_line(u, item + 5, name - 5, factor, note, error);
    for (unsigned i = 0; i < WG_COST_GROUPS; i++)
        if (is_word(wg_cost_group_name(i), item, name)) {
            for (unsigned k = 0; k < u->of.tiles; k++)
                u->plan[k].what_if.group[i] = factor;
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
            wg_textf(note, "%sits instructions enter one per cycle; only their completion is scaled",
                     note->size ? "; " : "");
        for (unsigned k = 0; k < u->of.tiles; k++)
            u->plan[k].what_if.agent[agents[i].agent] = factor;
        return !why;
    }
    return unknown(item, name, error);
}

static bool plan_list(subject *u, const char *list, wg_text *note, wg_text *error)
{
    for (const char *item = list;;) {
        size_t length = strcspn(item, ",");
        if (!plan_item(u, item, length, note, error))
            return false;
        if (!item[length])
            return true;
        item += length + 1;
    }
}

/* ---- One run ---- */

static bool run_tile(wg_session *s, const wg_what_if *w, wg_scaled_run *r, wg_text *error)
{
    wg_session v;
    bool ok = wg_again_begin(&v, s, s->desc.seed, w, error);
    ok = ok && wg_drive_silently(&v);
    if (ok) {
        r->cycles = wg_cycle(v.dev);
        r->ended = v.ended;
        r->equal = v.ended == s->ended && wg_outcome_l1(v.dev) == wg_outcome_l1(s->dev) && wg_again_values_hold(&v);
    } else if (!error->size) {
        wg_textf(error, "waitgate: --what-if: %s\n", v.dev ? wg_error(v.dev) : "out of memory");
    }
    wg_again_end(&v);
    return ok;
}

static bool run_plans(subject *u, wg_scaled_run *r, wg_text *error)
{
    wg_what_if *w = wg_calloc(u->of.tiles, sizeof *w);
    for (unsigned i = 0; w && i < u->of.tiles; i++) {
        plan *p = &u->plan[i];
        if (p->places)
            qsort(p->place, p->places, sizeof *p->place, wg_scaled_pc_order);
        p->what_if.place = p->place;
        p->what_if.places = p->places;
        w[i] = p->what_if;
    }
    bool ok = w && (u->again ? u->again(u->chip, w, r, error) : run_tile(first_of(u), w, r, error));
    free(w);
    return ok;
}

static bool run_list(subject *u, const char *list, wg_text *error)
{
    wg_scaled_runs *all = first_of(u)->scaled;
    wg_scaled_run *more = wg_realloc(all->run, (all->count + 1) * sizeof *more);
    if (more)
        all->run = more;
    u->plan = wg_calloc(u->of.tiles, sizeof *u->plan);
    bool ok = more && u->plan;
    if (ok) {
        wg_scaled_run *r = &more[all->count++];
        *r = (wg_scaled_run){.what = strdup(list)};
        for (unsigned i = 0; i < u->of.tiles; i++)
            wg_what_if_begin(&u->plan[i].what_if);
        ok = r->what && plan_list(u, list, &r->note, error) && run_plans(u, r, error);
    }
    if (!ok && !error->size)
        wg_textf(error, "waitgate: out of memory\n");
    for (unsigned i = 0; u->plan && i < u->of.tiles; i++)
        free(u->plan[i].place);
    free(u->plan);
    u->plan = NULL;
    return ok;
}

/* ---- auto ---- */

static bool took_time(const wg_session *s, unsigned agent)
{
    for (size_t i = 0; i < s->costs->table.count; i++) {
        const wg_cost *c = &s->costs->table.cost[i];
        if (c->track == agent && c->doing == WG_DOING_WORK && c->cycles)
            return true;
    }
    return false;
}

static bool any_took_time(const subject *u, unsigned agent)
{
    for (unsigned i = 0; i < u->of.tiles; i++)
        if (took_time(u->of.tile[i], agent))
            return true;
    return false;
}

static bool run_half(subject *u, const char *what, wg_text *error)
{
    char list[512];
    return snprintf(list, sizeof list, "%s=0.5", what) >= (int)sizeof list || run_list(u, list, error);
}

/* The most expensive lines whose instructions can be scaled. */
typedef struct line_cost {
    const char *file;
    unsigned line;
    uint64_t cycles;
} line_cost;

static int by_cycles(const void *left, const void *right)
{
    const line_cost *a = left, *b = right;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    int files = strcmp(a->file, b->file);
    return files ? files : a->line < b->line ? -1 : a->line > b->line;
}

/* Adds a session's lines to those of the others. */
static void add_lines(wg_session *s, line_cost *lines, size_t *count)
{
    const wg_cost_table *t = &s->costs->table;
    for (size_t i = 0; i < t->count; i++) {
        const wg_cost *c = &t->cost[i];
        wg_source source = {0};
        size_t k;
        if (c->doing != WG_DOING_WORK || !c->pc || wg_cost_fixed(c->track) ||
            !wg_session_source(s, c->core, c->pc, &source) || !source.file || strpbrk(source.file, ",="))
            continue;
        for (k = 0; k < *count && (lines[k].line != source.line || strcmp(lines[k].file, source.file) != 0); k++)
            ;
        if (k == *count)
            lines[(*count)++] = (line_cost){source.file, source.line, 0};
        lines[k].cycles += c->cycles;
    }
}

static bool half_lines(subject *u, wg_text *error)
{
    size_t count = 0, most = 0;
    for (unsigned i = 0; i < u->of.tiles; i++)
        most += u->of.tile[i]->costs->table.count;
    line_cost *lines = most ? wg_calloc(most, sizeof *lines) : NULL;
    bool ok = lines || !most;
    for (unsigned i = 0; lines && i < u->of.tiles; i++)
        add_lines(u->of.tile[i], lines, &count);
    if (count)
        qsort(lines, count, sizeof *lines, by_cycles);
    for (size_t i = 0; ok && i < count && i < first_of(u)->top; i++) {
        char what[512];
        if (snprintf(what, sizeof what, "line:%s:%u", lines[i].file, lines[i].line) < (int)sizeof what)
            ok = run_half(u, what, error);
    }
    free(lines);
    return ok;
}

static int by_length(const void *left, const void *right)
{
    const wg_scaled_run *a = left, *b = right;
    return a->cycles < b->cycles ? -1 : a->cycles > b->cycles ? 1 : strcmp(a->what, b->what);
}

static bool run_auto(subject *u, wg_text *error)
{
    wg_scaled_runs *all = first_of(u)->scaled;
    bool ok = true;
    all->ranked = true;
    for (unsigned i = 0; ok && i < AGENTS; i++)
        if (!wg_cost_fixed(agents[i].agent) && any_took_time(u, agents[i].agent))
            ok = run_half(u, agents[i].name, error);
    for (unsigned i = 0; ok && i < WG_COST_GROUPS; i++)
        ok = run_half(u, wg_cost_group_name(i), error);
    ok = ok && half_lines(u, error);
    if (all->count)
        qsort(all->run, all->count, sizeof *all->run, by_length);
    while (all->count && all->run[all->count - 1].cycles >= wg_cycle(first_of(u)->dev)) {
        wg_scaled_run *last = &all->run[--all->count];
        free(last->what);
        wg_text_free(&last->note);
        all->without_gain++;
    }
    return ok;
}

bool wg_what_if_run(const wg_profiled *tiles, wg_again_fn again, void *chip, wg_text *error)
{
    subject u = {.of = *tiles, .again = again, .chip = chip};
    wg_session *s = first_of(&u);
    bool ok = true;
    if (!s->args->value[WG_OPT_WHAT_IF])
        return true;
    if (s->args->value[WG_OPT_DELAYS]) {
        wg_textf(error,
                 "waitgate: --what-if and --delays: delays belong to events of one timing; give one of the two\n");
        return false;
    }
    wg_meter meter = wg_meter_begin("running with other costs", 0, UINT64_MAX);
    if (!(s->scaled = wg_calloc(1, sizeof *s->scaled))) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    s->meter = &meter;
    for (size_t i = 0; ok && i < s->args->givens; i++) {
        const wg_given *g = &s->args->given[i];
        if (g->option != WG_OPT_WHAT_IF)
            continue;
        bool ranks = strcmp(g->value, "auto") == 0;
        if (ranks && s->scaled->count + s->scaled->without_gain) {
            wg_textf(error, "waitgate: --what-if auto: goes with no other --what-if\n");
            ok = false;
            break;
        }
        ok = ranks ? run_auto(&u, error) : run_list(&u, g->value, error);
    }
    wg_meter_end(&meter);
    s->meter = NULL;
    return ok;
}

void wg_what_if_free(wg_scaled_runs *all)
{
    for (size_t i = 0; all && i < all->count; i++) {
        free(all->run[i].what);
        wg_text_free(&all->run[i].note);
    }
    if (all)
        free(all->run);
    free(all);
}

/* ---- Report ---- */

static int64_t saved_cycles(const wg_session *s, const wg_scaled_run *r)
{
    return (int64_t)wg_cycle(s->dev) - (int64_t)r->cycles;
}

/* Lines of `auto` have full paths; --what-if also accepts them without the folder. */
static const char *short_of(const char *what, char *room, size_t bytes)
{
    const char *slash = strrchr(what, '/');
    if (!slash || strncmp(what, "line:", 5) != 0)
        return what;
    (void)snprintf(room, bytes, "line:%s", slash + 1);
    return room;
}

void wg_report_what_if(const wg_session *s, wg_text *out)
{
    const wg_scaled_runs *all = s->scaled;
    uint64_t length = wg_cycle(s->dev);
    wg_textf(out, "\n%-40s %10s %10s %7s\n", all->ranked ? "at half its cost" : "what if", "cycles", "saves", "%");
    for (size_t i = 0; i < all->count; i++) {
        const wg_scaled_run *r = &all->run[i];
        long long saves = (long long)saved_cycles(s, r);
        char what[48];
        wg_textf(out, "  %-38s %10llu %10lld %6.1f%%\n", short_of(r->what, what, sizeof what),
                 (unsigned long long)r->cycles, saves, length ? 100.0 * (double)saves / (double)length : 0.0);
        if (r->ended != s->ended)
            wg_textf(out, "    That run ends otherwise: %s.\n", wg_ended_name(r->ended));
        else if (!r->equal)
            wg_textf(out, "    L1 at the end differs from the run as it is: the program depends on its timing.\n");
        if (r->note.size)
            wg_textf(out, "    Not scaled: %s.\n", wg_text_of(&r->note));
    }
    if (all->ranked && all->without_gain)
        wg_textf(out, all->count ? "  %zu others save nothing.\n" : "  None of %zu units and lines saves anything.\n",
                 all->without_gain);
}

void wg_report_what_if_json(const wg_session *s, wg_json *j)
{
    const wg_scaled_runs *all = s->scaled;
    wg_json_open(j, "what_if", '[');
    for (size_t i = 0; i < all->count; i++) {
        const wg_scaled_run *r = &all->run[i];
        int64_t saves = saved_cycles(s, r);
        char number[32];
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "what", r->what);
        wg_json_uint(j, "cycles", r->cycles);
        snprintf(number, sizeof number, "%lld", (long long)saves);
        wg_json_raw(j, "saves", number);
        wg_json_text(j, "result", wg_ended_name(r->ended));
        wg_json_bool(j, "results_equal", r->equal);
        if (r->note.size)
            wg_json_text(j, "not_scaled", wg_text_of(&r->note));
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
}
