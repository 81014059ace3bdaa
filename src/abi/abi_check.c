/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_check.h"

#include "metal/launched.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/race_text.h"

typedef struct watched {
    wg_abi_check *check;
    wg_device *dev;
    wg_races *races;
    unsigned x, y;
} watched;

struct wg_abi_check {
    wg_grid *grid;
    wg_races_group *group;
    const char *path;
    wg_abi_symbols *symbols;
    unsigned checks;
    watched tile[WG_GRID_MAX_TILES];
    unsigned tiles, unwatched; /* unwatched for lack of memory */
};

static bool word_at(void *user, uint32_t pc, uint32_t *word)
{
    const watched *t = user;
    return wg_code_word(t->dev->tile, pc, word);
}

static bool code_at(void *user, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return word_at(user, pc, word);
}

static bool circular_buffer_at(void *user, uint32_t address, uint32_t *from, uint32_t *bytes)
{
    const watched *t = user;
    const wg_tile *tile = t->dev->tile;
    return wg_metal_cb_around(wg_grid_arch(t->check->grid), NULL, tile->l1, tile->spec->l1_bytes, address, from, bytes);
}

void wg_abi_check_made(wg_abi_check *c, wg_device *dev, unsigned x, unsigned y)
{
    if (c->tiles == WG_GRID_MAX_TILES)
        return;
    watched *t = &c->tile[c->tiles];
    *t = (watched){.check = c, .dev = dev, .x = x, .y = y};
    t->races = wg_races_new(wg_grid_arch(c->grid), code_at, t);
    if (t->races) {
        wg_races_select(t->races, c->checks);
        wg_races_ask_memory(t->races, circular_buffer_at);
    }
    if (t->races && wg_observe(dev, wg_races_events(t->races), wg_races_event, t->races, NULL) == WG_OK) {
        wg_races_group_add(c->group, t->races, y * wg_grid_width(c->grid) + x);
        c->tiles++;
        return;
    }
    wg_races_free(t->races);
    c->unwatched++;
}

wg_abi_check *wg_abi_check_begin(wg_grid *grid, const char *path, unsigned checks, wg_abi_symbols *symbols)
{
    wg_abi_check *c = calloc(1, sizeof *c);
    wg_races_group *group = wg_races_group_new();
    if (!c || !group) {
        free(c);
        wg_races_group_free(group);
        return NULL;
    }
    c->grid = grid;
    c->group = group;
    c->path = path;
    c->symbols = symbols;
    c->checks = checks;
    return c;
}

static bool source_of(void *user, unsigned core, uint32_t pc, wg_source *out)
{
    const watched *t = user;
    wg_abi_code code = {t->check->symbols, t->dev};
    return wg_abi_symbols_source(&code, core, pc, out);
}

static void *of_tile(void *user, unsigned tile)
{
    wg_abi_check *c = ((watched *)user)->check;
    for (unsigned i = 0; i < c->tiles; i++)
        if (c->tile[i].y * wg_grid_width(c->grid) + c->tile[i].x == tile)
            return &c->tile[i];
    return NULL;
}

static wg_race_words words_of(wg_abi_check *c, unsigned i)
{
    return (wg_race_words){.arch = wg_grid_arch(c->grid),
                           .user = &c->tile[i],
                           .width = wg_grid_width(c->grid),
                           .of_tile = of_tile,
                           .source = source_of,
                           .delays = "WAITGATE_DELAYS=",
                           .core_word = word_at};
}

/* Is the party tt-metal's firmware, which authors of kernels cannot change? */
static bool is_firmware(wg_abi_check *c, unsigned i, const wg_race_party *p)
{
    const watched *t = p->tile ? of_tile(&c->tile[i], p->tile - 1u) : &c->tile[i];
    return t && wg_metal_is_firmware(wg_grid_arch(c->grid), NULL, t->dev->tile->l1, t->dev->tile->spec->l1_bytes,
                                     p->core, p->pc);
}

static bool left_out(wg_abi_check *c, unsigned i, const wg_race *race)
{
    return is_firmware(c, i, &race->b) && (!race->has_a || is_firmware(c, i, &race->a));
}

typedef struct of_firmware {
    wg_abi_check *check;
    unsigned tile;
} of_firmware;

static bool leaves_out(void *user, const wg_race *race)
{
    const of_firmware *f = user;
    return left_out(f->check, f->tile, race);
}

static size_t firmware_reports(wg_abi_check *c, unsigned i)
{
    size_t count = 0;
    for (size_t k = 0; k < wg_races_count(c->tile[i].races); k++)
        count += left_out(c, i, wg_races_at(c->tile[i].races, k));
    return count;
}

/* A line for each race that no timing shows. */
static void report_unordered(wg_abi_check *c, unsigned i, wg_text *out)
{
    const wg_race_words w = words_of(c, i);
    const wg_races *races = c->tile[i].races;
    bool any = false;
    for (size_t k = 0; k < wg_races_count(races); k++) {
        const wg_race *race = wg_races_at(races, k);
        if (race->grade != WG_GRADE_UNORDERED || race->explained_by || left_out(c, i, race))
            continue;
        if (!any)
            wg_textf(out,
                     "==================\nUNORDERED: nothing puts these in order; no timing that was tried changes "
                     "what the host reads or what is left in memory (JSON: in full)\n");
        any = true;
        wg_race_line(&w, race, out);
    }
}

static void report_text(wg_abi_check *c, wg_text *out)
{
    size_t reports = 0, without = 0, folded = 0, notes = 0;
    for (unsigned i = 0; i < c->tiles; i++) {
        const watched *t = &c->tile[i];
        const wg_race_words w = words_of(c, i);
        const size_t firmware = firmware_reports(c, i), count = wg_races_count(t->races) - firmware;
        if (count)
            wg_textf(out, "tile %u-%u: %zu race report%s\n", t->x, t->y, count, count == 1 ? "" : "s");
        for (size_t k = 0; k < wg_races_count(t->races); k++) {
            const wg_race *race = wg_races_at(t->races, k);
            if (race->explained_by)
                folded++;
            else if (left_out(c, i, race) || race->grade == WG_GRADE_UNORDERED)
                continue;
            else if (wg_race_severity(race->kind) == WG_SEVERITY_NOTE)
                notes++;
            else
                wg_race_text(&w, race, out);
        }
        report_unordered(c, i, out);
        without += firmware;
        if (wg_races_forgotten(t->races))
            wg_textf(out, "note: tile %u-%u: the detector had no room for %llu of its records\n", t->x, t->y,
                     (unsigned long long)wg_races_forgotten(t->races));
        reports += count;
    }
    if (folded)
        wg_textf(out, "note: %zu of them %s the same cause as another, and %s not shown; JSON has all\n", folded,
                 folded == 1 ? "has" : "have", folded == 1 ? "is" : "are");
    if (notes)
        wg_textf(out, "note: %zu of them %s harmless as far as is known, and %s not shown; JSON has all\n", notes,
                 notes == 1 ? "is" : "are", notes == 1 ? "is" : "are");
    if (c->unwatched)
        wg_textf(out, "note: no memory to watch %u further tiles\n", c->unwatched);
    if (without)
        wg_textf(out, "note: %zu report%s about tt-metal's firmware alone %s left out\n", without,
                 without == 1 ? "" : "s", without == 1 ? "is" : "are");
    wg_textf(out, "%zu race report%s on %u tile%s\n", reports, reports == 1 ? "" : "s", c->tiles,
             c->tiles == 1 ? "" : "s");
}

static void report_json(wg_abi_check *c, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_uint(j, "cycles", wg_grid_cycle(c->grid));
    wg_json_uint(j, "unwatched", c->unwatched);
    wg_json_open(j, "tiles", '[');
    for (unsigned i = 0; i < c->tiles; i++) {
        const watched *t = &c->tile[i];
        const wg_race_words w = words_of(c, i);
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "x", t->x);
        wg_json_uint(j, "y", t->y);
        wg_json_open(j, "races", '[');
        for (size_t k = 0; k < wg_races_count(t->races); k++) {
            if (left_out(c, i, wg_races_at(t->races, k)))
                continue;
            wg_json_open(j, NULL, '{');
            wg_race_json(&w, wg_races_at(t->races, k), j);
            wg_json_close(j, '}');
        }
        wg_json_close(j, ']');
        wg_json_uint(j, "about_firmware", firmware_reports(c, i));
        wg_json_uint(j, "forgotten", wg_races_forgotten(t->races));
        wg_json_uint(j, "detector_bytes", wg_races_bytes(t->races));
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}

bool wg_abi_write(const char *path, const wg_text *text, char *error, size_t bytes)
{
    wg_text name = {0};
    if (strcmp(path, "-") == 0) {
        fputs(wg_text_of(text), stderr);
        return true;
    }
    for (; *path; path++) {
        if (path[0] == '%' && path[1] == 'p') {
            wg_textf(&name, "%ld", (long)getpid());
            path++;
        } else {
            wg_text_add(&name, path, 1);
        }
    }
    bool ok = wg_file_write(wg_text_of(&name), wg_text_of(text), text->size, error, bytes);
    wg_text_free(&name);
    return ok;
}

bool wg_abi_wants_json(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

/* Reports that need no grade. */
static bool ungraded(void *watched_tile, const wg_race *race)
{
    const watched *t = watched_tile;
    return race->explained_by || wg_race_check(race->kind) != WG_CHECK_RACE ||
           wg_race_severity(race->kind) == WG_SEVERITY_NOTE || left_out(t->check, (unsigned)(t - t->check->tile), race);
}

static void grade(wg_abi_check *c, const wg_abi_replays *how)
{
    wg_abi_graded *all = calloc(c->tiles + 1, sizeof *all);
    for (unsigned i = 0; all && i < c->tiles; i++)
        all[i] = (wg_abi_graded){c->tile[i].races, c->tile[i].x, c->tile[i].y, &c->tile[i]};
    if (all)
        wg_abi_grade(how, all, c->tiles, ungraded);
    free(all);
}

bool wg_abi_check_end(wg_abi_check *c, const wg_abi_replays *how, char *error, size_t bytes)
{
    wg_text out = {0};
    for (unsigned i = 0; i < c->tiles; i++) {
        wg_races_end(c->tile[i].races, wg_grid_cycle(c->grid), wg_device_is_done(c->tile[i].dev));
        wg_races_fold(c->tile[i].races, leaves_out, &(of_firmware){c, i});
    }
    grade(c, how);
    if (wg_abi_wants_json(c->path))
        report_json(c, &out);
    else
        report_text(c, &out);
    bool ok = wg_abi_write(c->path, &out, error, bytes);
    for (unsigned i = 0; i < c->tiles; i++)
        wg_races_free(c->tile[i].races);
    wg_races_group_free(c->group);
    wg_text_free(&out);
    free(c);
    return ok;
}
