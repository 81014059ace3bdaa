/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate check`: the race detector of a run, its reports in the style of ThreadSanitizer, suppressions.
 *
 * A suppression file has one line per suppression: `KIND PATTERN : REASON`. KIND is the name of a race or finding, or
 * *; PATTERN is part of either party's place or instruction, or of the location, or *; the reason is mandatory.
 */
#include "cli/session.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "isa/asm.h" /* WG_DIS_MAX */
#include "machine/device.h"
#include "metal/launched.h"
#include "report/findings.h"

enum { VERIFY_CYCLES = 20 * 1000 * 1000 };

typedef struct wg_suppression {
    char *kind, *pattern;
    const char *reason;
    unsigned line;
    uint64_t used;
} suppression;

struct wg_suppressions {
    char *text;
    suppression *entry;
    size_t entries;
};

/* ---- Suppressions ---------------------------------------------------------------------------------------------- */

static char *trim(char *from, char *end)
{
    while (from < end && isspace((unsigned char)*from))
        from++;
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    *end = 0;
    return from;
}

static bool known_kind(const char *name)
{
    if (strcmp(name, "*") == 0)
        return true;
    for (unsigned i = 0; i < WG_RACE_KINDS; i++)
        if (strcmp(wg_race_kind_name(i), name) == 0)
            return true;
    const wg_finding_info *info;
    for (unsigned i = 0; (info = wg_finding_info_at(i)) != NULL; i++)
        if (strcmp(info->code, name) == 0)
            return true;
    return false;
}

static bool read_line(struct wg_suppressions *s, const char *path, unsigned number, char *line, char *end,
                      wg_text *error)
{
    char *text = trim(line, end), *space = text;
    if (!*text || *text == '#')
        return true;
    while (*space && !isspace((unsigned char)*space))
        space++;
    char *colon = strstr(space, ":");
    for (char *next = colon;
         next && (next = strstr(next + 1, ":")) != NULL;) /* places contain colons: takes the last separator */
        if (next[1] == ' ' && next[-1] == ' ')
            colon = next;
    if (!*space || !colon || !*trim(colon + 1, colon + strlen(colon))) {
        wg_textf(error, "waitgate: %s:%u: a suppression is `KIND PATTERN : REASON`, and the reason is not optional\n",
                 path, number);
        return false;
    }
    suppression *e = &s->entry[s->entries++];
    e->reason = trim(colon + 1, colon + strlen(colon));
    *space = 0;
    e->kind = text;
    e->pattern = trim(space + 1, colon);
    e->line = number;
    if (known_kind(e->kind) && *e->pattern)
        return true;
    wg_textf(error, "waitgate: %s:%u: %s `%s`\n", path, number,
             *e->pattern ? "there is no race or finding" : "no pattern (write * for any) after", e->kind);
    return false;
}

bool wg_suppressions_read(struct wg_suppressions **out, const char *path, wg_text *error)
{
    char message[512];
    size_t size;
    char *text = (char *)wg_file_read(path, &size, message, sizeof message);
    if (!text) {
        wg_textf(error, "waitgate: --suppressions: %s\n", message);
        return false;
    }
    struct wg_suppressions *all = wg_calloc(1, sizeof *all);
    char *copy = wg_realloc(text, size + 1);
    *out = all;
    if (!all || !copy) {
        free(copy ? copy : text);
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    copy[size] = 0;
    all->text = copy;
    size_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += copy[i] == '\n';
    all->entry = wg_calloc(lines, sizeof *all->entry);
    unsigned number = 1;
    for (char *line = copy; all->entry && line < copy + size; number++) {
        char *newline = memchr(line, '\n', (size_t)(copy + size - line)); /* not strchr: there may be zero bytes */
        char *end = newline ? newline : copy + size, *next = end + 1;
        if (!read_line(all, path, number, line, end, error))
            return false;
        line = next;
    }
    return all->entry != NULL;
}

void wg_suppressions_free(struct wg_suppressions *all)
{
    if (all) {
        free(all->text);
        free(all->entry);
    }
    free(all);
}

/* ---- Parties ---------------------------------------------------------------------------------------------------- */

static bool core_word(void *session, uint32_t pc, uint32_t *word)
{
    const wg_session *s = session;
    return wg_code_word(s->dev->tile, pc, word);
}

static void *of_tile(void *session, unsigned tile)
{
    const wg_session *s = session;
    return s->of_tile ? s->of_tile(s->chip, tile) : NULL;
}

wg_race_words wg_check_words(wg_session *s)
{
    return (wg_race_words){.arch = s->desc.arch,
                           .dev = s->dev,
                           .user = s,
                           .width = s->chip_width,
                           .of_tile = of_tile,
                           .source = wg_session_source,
                           .core_word = core_word};
}

static const char *text_of(wg_session *s, const wg_race_party *p, char *room, size_t bytes)
{
    const wg_race_words words = wg_check_words(s);
    return wg_race_insn_text(&words, p, room, bytes);
}

static suppression *suppressed_by(wg_session *s, const char *kind, const char *const *texts, size_t count)
{
    for (size_t i = 0; s->suppressions && i < s->suppressions->entries; i++) {
        suppression *e = &s->suppressions->entry[i];
        if (strcmp(e->kind, "*") != 0 && strcmp(e->kind, kind) != 0)
            continue;
        bool matches = strcmp(e->pattern, "*") == 0;
        for (size_t k = 0; k < count; k++)
            matches |= strstr(texts[k], e->pattern) != NULL;
        if (matches)
            return e;
    }
    return NULL;
}

/* Is it code that was launched, rather than the firmware of a tt-metal program? */
static bool in_kernel(const wg_session *s, const wg_race_party *p)
{
    const wg_session *of = p->tile ? s->of_tile ? s->of_tile(s->chip, p->tile - 1u) : NULL : s;
    return of && p->core < WG_CORES && of->overlay[p->core].elf &&
           p->pc - of->overlay[p->core].address < of->overlay[p->core].bytes;
}

/* Reports about a tt-metal program's firmware alone: authors of kernels cannot change it. */
static suppression *firmware_alone(wg_session *s, const wg_race *race)
{
    bool kernels = false;
    for (unsigned i = 0; i < WG_CORES; i++)
        kernels |= s->overlay[i].elf != NULL;
    if (!kernels || in_kernel(s, &race->b) || (race->has_a && in_kernel(s, &race->a)))
        return NULL;
    if (!s->firmware && (s->firmware = wg_calloc(1, sizeof *s->firmware)))
        s->firmware->reason = "it is about tt-metal's firmware alone";
    return s->firmware;
}

/*
 * The suppression of a race: one that names its kind and a party, or whose patterns name every location of it. `rest`, if
 * given, receives the locations that are not suppressed.
 */
static suppression *suppresses_race(wg_session *s, const wg_race *race, wg_text *rest)
{
    char places[2][256], texts[2][WG_DIS_MAX], location[sizeof race->location];
    const char *kind = wg_race_kind_name(race->kind);
    const wg_race_words w = wg_check_words(s);
    const char *all[] = {wg_race_place_text(&w, &race->a, places[0], sizeof places[0]),
                         wg_race_place_text(&w, &race->b, places[1], sizeof places[1]),
                         text_of(s, &race->a, texts[0], sizeof texts[0]),
                         text_of(s, &race->b, texts[1], sizeof texts[1])};
    suppression *by = firmware_alone(s, race), *last = NULL;
    if (!by)
        by = suppressed_by(s, kind, all, 4);
    if (by)
        return by;
    bool left = false;
    snprintf(location, sizeof location, "%s", race->location);
    for (char *at = location, *next; at; at = next) {
        char *end = strstr(at, "; ");
        next = end ? end + 2 : NULL;
        if (end)
            *end = 0;
        const char *one[] = {at};
        by = suppressed_by(s, kind, one, 1);
        last = by ? by : last;
        left |= !by;
        if (!by && rest)
            wg_textf(rest, "%s%s", rest->size ? "; " : "", at);
    }
    return left ? NULL : last;
}

bool wg_check_ignores(wg_session *s, const wg_race *race)
{
    return wg_race_severity(race->kind) <= WG_SEVERITY_NOTE || suppresses_race(s, race, NULL);
}

const char *wg_check_suppresses(wg_session *s, const wg_finding *f, const char *place, const char *text)
{
    const char *all[] = {place, text, f->detail};
    suppression *e = suppressed_by(s, wg_finding_info_at(f->code)->code, all, 3);
    if (e)
        e->used++;
    return e ? e->reason : NULL;
}

/* ---- Reports ---------------------------------------------------------------------------------------------------- */

bool wg_check_any(const wg_session *s)
{
    for (size_t i = 0; s->races && i < wg_races_count(s->races); i++)
        if (wg_race_severity(wg_races_at(s->races, i)->kind) > WG_SEVERITY_NOTE)
            return true;
    return false;
}

bool wg_check_race(wg_session *s, const char *kind, const char *words)
{
    bool found = false;
    for (size_t i = 0; i < wg_races_count(s->races) && !found; i++) {
        const wg_race *race = wg_races_at(s->races, i);
        wg_text text = {0};
        const wg_race_words w = wg_check_words(s);
        wg_race_text(&w, race, &text);
        found = strcmp(wg_race_kind_name(race->kind), kind) == 0 && strstr(wg_text_of(&text), words) != NULL;
        wg_text_free(&text);
    }
    return found;
}

static bool race_expected(const wg_session *s, const wg_race *race)
{
    for (size_t i = 0; s->has_tasm && i < s->tasm.expects; i++)
        if (s->tasm.expect[i].kind == WG_EXPECT_RACE &&
            strcmp(s->tasm.expect[i].code, wg_race_kind_name(race->kind)) == 0)
            return true;
    return false;
}

/* Is this race covered by another report, whose remedy also removes it? */
static bool is_folded(wg_session *s, const wg_race *race)
{
    if (!race->explained_by || s->args->value[WG_OPT_ALL])
        return false;
    for (size_t i = 0; i < wg_races_count(s->races); i++) {
        const wg_race *cause = wg_races_at(s->races, i);
        if (cause->id == race->explained_by)
            return !suppresses_race(s, cause, NULL) && !race_expected(s, cause);
    }
    return false;
}

bool wg_check_folds(wg_session *s, const wg_race *race) { return is_folded(s, race); }

const char *wg_check_race_reason(wg_session *s, const wg_race *race)
{
    const suppression *by = suppresses_race(s, race, NULL);
    return by ? by->reason : NULL;
}

/* A note: shown if all are wanted, or if notes count. */
static bool is_hidden(const wg_session *s, const wg_race *race)
{
    return wg_race_severity(race->kind) == WG_SEVERITY_NOTE && !s->args->value[WG_OPT_ALL] &&
           s->fail_on > WG_SEVERITY_NOTE;
}

/* No timing shows a difference: the race gets a line, unless all are wanted in full. */
static bool is_line(const wg_session *s, const wg_race *race)
{
    return race->grade == WG_GRADE_UNORDERED && !s->args->value[WG_OPT_ALL];
}

/* The lines of the unordered races; returns their number. */
static size_t report_unordered(wg_session *s, const wg_race_words *w, wg_text *out)
{
    size_t lines = 0;
    for (size_t i = 0; i < wg_races_count(s->races); i++) {
        const wg_race *race = wg_races_at(s->races, i);
        if (!is_line(s, race) || suppresses_race(s, race, NULL) || is_folded(s, race))
            continue;
        if (s->args->value[WG_OPT_QUIET] && race_expected(s, race))
            continue;
        if (!lines++)
            wg_textf(out,
                     "==================\nUNORDERED: nothing puts these in order; no timing that was tried changes "
                     "the result (--all: in full)\n");
        wg_race_line(w, race, out);
    }
    return lines;
}

bool wg_check_comes_first(const wg_session *s)
{
    for (size_t i = 0; s->races && i < wg_races_count(s->races); i++)
        if (wg_races_at(s->races, i)->kind == WG_RACE_RETURN_ADDRESS)
            return true;
    return false;
}

/* A race may be why a value was read before it was written, so races come first. */
static size_t report_turn(const wg_race *race)
{
    if (wg_race_severity(race->kind) == WG_SEVERITY_NOTE)
        return 3;
    return race->kind == WG_RACE_RETURN_ADDRESS ? 0 : race->kind == WG_RACE_UNINITIALISED ? 2 : 1;
}

void wg_report_races(wg_session *s, wg_text *out)
{
    bool quiet = s->args->value[WG_OPT_QUIET] != NULL;
    size_t shown = 0, suppressed = 0, folded = 0, notes = 0, lines;
    const wg_race_words w = wg_check_words(s);
    size_t count = wg_races_count(s->races);
    for (size_t k = 0; k < 4 * count; k++) { /* the notes last */
        const wg_race *race = wg_races_at(s->races, k % count);
        if (report_turn(race) != k / count)
            continue;
        wg_text rest = {0};
        suppression *by = suppresses_race(s, race, &rest);
        wg_race shown_race = *race;
        snprintf(shown_race.location, sizeof shown_race.location, "%s", wg_text_of(&rest));
        wg_text_free(&rest);
        if (by) {
            by->used += race->count;
            suppressed++;
        } else if (is_folded(s, race)) {
            folded++;
        } else if (is_hidden(s, race) && !race_expected(s, race)) {
            notes++;
        } else if (is_line(s, race)) {
            continue;
        } else if (!quiet || (!race_expected(s, race) && wg_race_severity(race->kind) > WG_SEVERITY_NOTE)) {
            wg_race_text(&w, &shown_race, out);
            shown++;
        }
    }
    lines = report_unordered(s, &w, out);
    shown += lines;
    if (shown)
        wg_textf(out, "==================\n");
    if (!quiet || shown)
        wg_textf(out, "%zu race report%s", shown, shown == 1 ? "" : "s");
    if (lines)
        wg_textf(out, ", %zu of them unordered", lines);
    if (suppressed && (!quiet || shown))
        wg_textf(out, ", %zu suppressed", suppressed);
    if (folded && (!quiet || shown))
        wg_textf(out, ", %zu more of the same cause%s (--all shows them)", folded, shown == 1 ? "" : "s");
    if (notes && (!quiet || shown))
        wg_textf(out, ", %zu note%s (--all shows %s)", notes, notes == 1 ? "" : "s", notes == 1 ? "it" : "them");
    if (!quiet || shown)
        wg_text_add(out, "\n", 1);
    for (size_t i = 0; !quiet && s->suppressions && i < s->suppressions->entries; i++)
        if (!s->suppressions->entry[i].used)
            wg_textf(out, "note: the suppression of %s in line %u suppressed nothing\n", s->suppressions->entry[i].kind,
                     s->suppressions->entry[i].line);
    if (wg_races_forgotten(s->races))
        wg_textf(out, "note: the detector had no room for %llu of its records; it would miss races with those\n",
                 (unsigned long long)wg_races_forgotten(s->races));
}

void wg_report_races_json(wg_session *s, wg_json *j)
{
    const wg_race_words w = wg_check_words(s);
    wg_json_open(j, "races", '[');
    for (size_t i = 0; i < wg_races_count(s->races); i++) {
        const wg_race *race = wg_races_at(s->races, i);
        const suppression *by = suppresses_race(s, race, NULL);
        wg_json_open(j, NULL, '{');
        wg_race_json(&w, race, j);
        if (by)
            wg_json_text(j, "suppressed", by->reason);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_uint(j, "forgotten", wg_races_forgotten(s->races));
    wg_json_uint(j, "detector_bytes", wg_races_bytes(s->races));
}

/* Did the core read this line of L1 in the race? */
static bool reads_line(const wg_race *race, const wg_race_party *p, const wg_finding *f)
{
    const bool there =
        race->space == WG_TOUCH_L1 && race->first / 16 <= f->subject / 16 && f->subject / 16 <= race->last / 16;
    return p->agent == f->agent && !p->tile && !p->write && (there || p->pc == f->pc);
}

uint32_t wg_check_explains(wg_session *s, const wg_finding *f)
{
    for (size_t i = 0; s->races && f->code == WG_F_CORE_STALE_L0 && i < wg_races_count(s->races); i++) {
        const wg_race *race = wg_races_at(s->races, i);
        if (wg_race_severity(race->kind) > WG_SEVERITY_NOTE && !suppresses_race(s, race, NULL) &&
            ((race->has_a && reads_line(race, &race->a, f)) || reads_line(race, &race->b, f)))
            return race->explained_by ? race->explained_by : race->id;
    }
    return 0;
}

/* Is anything of this severity or worse neither suppressed nor expected? */
static bool fails(wg_session *s, unsigned level)
{
    for (size_t i = 0; i < wg_races_count(s->races); i++) {
        const wg_race *race = wg_races_at(s->races, i);
        if (wg_race_severity(race->kind) >= level && !suppresses_race(s, race, NULL) && !race_expected(s, race))
            return true;
    }
    return false;
}

bool wg_check_fails(wg_session *s) { return s->races && fails(s, s->fail_on); }

/* ---- The detector of the run ------------------------------------------------------------------------------------- */

static bool code_at(void *user, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return core_word(user, pc, word);
}

/* ADDR or ADDR:BYTES */
static bool declare_flag(wg_session *s, const char *text, wg_text *error)
{
    size_t colon = strcspn(text, ":");
    uint64_t address, bytes = 4;
    if (wg_parse_number(text, colon, &address) && address <= UINT32_MAX &&
        (!text[colon] || wg_parse_number(text + colon + 1, strlen(text + colon + 1), &bytes)) && bytes <= UINT32_MAX &&
        wg_races_declare_flag(s->races, (uint32_t)address, (uint32_t)bytes))
        return true;
    wg_textf(error, "waitgate: --flag: `%s` is not ADDR or ADDR:BYTES (at most 64 of them)\n", text);
    return false;
}

/* Memory that the program may use besides its sections: declared, dumped, or named by expectations. */
static bool give_memory(wg_session *s, wg_text *error)
{
    for (size_t i = 0; i < s->args->givens; i++) {
        const char *text = s->args->given[i].value;
        size_t colon = strcspn(text, ":"), end = strcspn(text, "=");
        uint64_t address, bytes;
        if (s->args->given[i].option != WG_OPT_BUFFER && s->args->given[i].option != WG_OPT_DUMP)
            continue;
        if (text[colon] && end > colon && wg_parse_number(text, colon, &address) && address <= UINT32_MAX &&
            wg_parse_number(text + colon + 1, end - colon - 1, &bytes) && bytes && bytes <= UINT32_MAX) {
            wg_races_give(s->races, WG_CORES, (uint32_t)address, (uint32_t)bytes);
        } else if (s->args->given[i].option == WG_OPT_BUFFER) {
            wg_textf(error, "waitgate: --buffer: `%s` is not ADDR:BYTES\n", text);
            return false;
        }
    }
    for (size_t i = 0; s->has_tasm && i < s->tasm.expects; i++)
        if (s->tasm.expect[i].kind == WG_EXPECT_L1)
            wg_races_give(s->races, WG_CORES, s->tasm.expect[i].index, (uint32_t)s->tasm.expect[i].bytes.size);
    for (unsigned core = 0; core < WG_CORES; core++)
        for (size_t i = 0; s->elf[core] && i < wg_elf_segments(s->elf[core]); i++) {
            const wg_elf_segment *segment = wg_elf_segment_at(s->elf[core], i);
            wg_races_give(s->races, core, segment->address, segment->memory_bytes);
        }
    wg_races_know_ram(s->races);
    return true;
}

static bool read_checks(const wg_args *args, unsigned *checks, wg_text *error)
{
    const char *text = args->value[WG_OPT_CHECKS];
    *checks = WG_CHECK_RACE;
    if (!text || wg_checks_parse(text, checks))
        return true;
    wg_textf(error, "waitgate: --checks: `%s` is not a list of race, memory, init, sync\n", text);
    return false;
}

bool wg_check_wanted(const wg_args *args)
{
    return args->command == WG_CMD_CHECK || args->command == WG_CMD_EXPLORE ||
           (args->command == WG_CMD_REPORT && args->value[WG_OPT_CHECKS]);
}

bool wg_check_open(wg_session *s, wg_text *error)
{
    const char *fail_on = s->args->value[WG_OPT_FAIL_ON], *path = s->args->value[WG_OPT_SUPPRESSIONS];
    s->fail_on = WG_SEVERITY_WARNING;
    for (unsigned i = 0; fail_on && i <= WG_SEVERITY_NEVER + 1; i++) {
        if (i > WG_SEVERITY_NEVER) {
            wg_textf(error, "waitgate: --fail-on: `%s` is none of note, warning, undefined, unimplemented, never\n",
                     fail_on);
            return false;
        }
        if (strcmp(wg_severity_names[i], fail_on) == 0) {
            s->fail_on = i;
            break;
        }
    }
    s->verify_cycles = VERIFY_CYCLES;
    return read_checks(s->args, &s->checks, error) &&
           wg_option_number(s->args, WG_OPT_VERIFY, "verify", &s->verify_cycles, error) &&
           (!path || wg_suppressions_read(&s->suppressions, path, error));
}

static bool circular_buffer_at(void *user, uint32_t address, uint32_t *from, uint32_t *bytes)
{
    const wg_session *s = user;
    const wg_tile *t = s->dev->tile;
    return wg_metal_cb_around(s->desc.arch, s->history.metal_layout, t->l1, t->spec->l1_bytes, address, from, bytes);
}

bool wg_check_attach(wg_session *s, wg_text *error)
{
    s->races = wg_races_new(s->desc.arch, code_at, s);
    if (s->races) {
        wg_races_select(s->races, s->checks);
        wg_races_ask_memory(s->races, circular_buffer_at);
    }
    if (!s->races ||
        wg_observe(s->dev, wg_races_events(s->races), wg_races_event, s->races, &s->races_observer) != WG_OK) {
        wg_textf(error, "waitgate: %s\n", s->races ? wg_error(s->dev) : "out of memory");
        return false;
    }
    if (!give_memory(s, error))
        return false;
    for (size_t i = 0; i < s->args->givens; i++)
        if (s->args->given[i].option == WG_OPT_FLAG && !declare_flag(s, s->args->given[i].value, error))
            return false;
    return true;
}

void wg_check_close(wg_session *s)
{
    wg_races_free(s->races);
    wg_suppressions_free(s->suppressions);
    free(s->firmware);
}
