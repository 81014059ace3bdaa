/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate profile --what-if LIST`: runs the program again with costs scaled (machine/what_if.h).
 *
 *     LIST: see scaling.h
 *     auto: everything that took time, one by one, at half its cost
 */
#include "cli/what_if.h"
#include "cli/meter.h"

#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "cli/scaling.h"
#include "machine/device.h"

/* What runs again: a tile, or a chip with its tiles. */
typedef struct subject {
    wg_profiled of;
    wg_again_fn again; /* NULL: a tile alone */
    void *chip;
} subject;
static wg_session *first_of(const subject *u) { return u->of.tile[0]; }

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

/* With the factors of a list, whose parts that cannot be scaled are noted. */
static bool run_scaled(subject *u, const char *list, wg_scaled_run *r, wg_text *error)
{
    wg_scaling all;
    wg_tile_scaling *tile = wg_calloc(u->of.tiles, sizeof *tile);
    wg_what_if *w = wg_calloc(u->of.tiles, sizeof *w);
    bool ok = wg_scaling_read(&all, list, error) && tile && w;
    for (unsigned i = 0; ok && i < u->of.tiles; i++) {
        ok = wg_scaling_tile(&all, u->of.tile[i], &tile[i]);
        w[i] = tile[i].what_if;
    }
    ok = ok && wg_scaling_found(&all, error);
    r->note = all.note;
    all.note = (wg_text){0};
    ok = ok && (u->again ? u->again(u->chip, w, r, error) : run_tile(first_of(u), w, r, error));
    for (unsigned i = 0; tile && i < u->of.tiles; i++)
        free(tile[i].place);
    wg_scaling_free(&all);
    free(tile);
    free(w);
    return ok;
}

static bool run_list(subject *u, const char *list, wg_text *error)
{
    wg_scaled_runs *all = first_of(u)->scaled;
    wg_scaled_run *more = wg_realloc(all->run, (all->count + 1) * sizeof *more);
    if (more) {
        all->run = more;
        more[all->count++] = (wg_scaled_run){.what = strdup(list)};
    }
    const bool ok = more && more[all->count - 1].what && run_scaled(u, list, &more[all->count - 1], error);
    if (!ok && !error->size)
        wg_textf(error, "waitgate: out of memory\n");
    return ok;
}

/* ---- auto ---- */

static bool took_time(const wg_session *s, unsigned agent)
{
    for (size_t i = 0; i < s->costs->table.count; i++) {
        const wg_cost *c = &s->costs->table.cost[i];
        if (c->track == agent && wg_doing_works(c->doing) && c->cycles)
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
        if (!wg_doing_works(c->doing) || !c->pc || wg_cost_fixed(c->track) ||
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
    const char *name;
    unsigned agent;
    for (unsigned i = 0; ok && (name = wg_scaling_agent(i, &agent)); i++)
        if (!wg_cost_fixed(agent) && any_took_time(u, agent))
            ok = run_half(u, name, error);
    for (unsigned i = 0; ok && i < WG_COST_GROUPS; i++)
        ok = run_half(u, wg_cost_group_name(i), error);
    ok = ok && half_lines(u, error);
    if (all->count)
        qsort(all->run, all->count, sizeof *all->run, by_length);
    while (all->count && all->run[all->count - 1].cycles >= all->cycles) {
        wg_scaled_run *last = &all->run[--all->count];
        free(last->what);
        wg_text_free(&last->note);
        all->without_gain++;
    }
    return ok;
}

bool wg_what_if_run(const wg_profiled *tiles, uint64_t cycles, wg_again_fn again, void *chip, wg_text *error)
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
    s->scaled->cycles = cycles;
    s->scaled->ended = s->ended;
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

static int64_t saved_cycles(const wg_scaled_runs *all, const wg_scaled_run *r)
{
    return (int64_t)all->cycles - (int64_t)r->cycles;
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

void wg_report_what_if(const wg_scaled_runs *all, wg_text *out)
{
    uint64_t length = all->cycles;
    wg_textf(out, "\n%-40s %10s %10s %7s\n", all->ranked ? "at half its cost" : "what if", "cycles", "saves", "%");
    for (size_t i = 0; i < all->count; i++) {
        const wg_scaled_run *r = &all->run[i];
        long long saves = (long long)saved_cycles(all, r);
        char what[48];
        wg_textf(out, "  %-38s %10llu %10lld %6.1f%%\n", short_of(r->what, what, sizeof what),
                 (unsigned long long)r->cycles, saves, length ? 100.0 * (double)saves / (double)length : 0.0);
        if (r->ended != all->ended)
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

void wg_report_what_if_json(const wg_scaled_runs *all, wg_json *j)
{
    wg_json_open(j, "what_if", '[');
    for (size_t i = 0; i < all->count; i++) {
        const wg_scaled_run *r = &all->run[i];
        int64_t saves = saved_cycles(all, r);
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
