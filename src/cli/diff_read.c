/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the output of --json. JSON is YAML, so libyaml reads it, event by event; values are recognised by their path:
 *
 *     cycles, program
 *     cost_profile.tracks[].name, cost_profile.tracks[].costs[].cause …
 *     stats.tracks[].name, stats.tracks[].cycles.CAUSE                     if there is no profile
 *
 * The costs of a chip are in tiles[], with x and y; those of a cluster in chips[].tiles[], with chip.
 */
#include "cli/diff.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MOST_DEPTH = 16, KEY = 48 };

typedef struct reader {
    wg_saved_run *run;
    char key[MOST_DEPTH][KEY]; /* per level: the current key of a mapping; "[]" in an array */
    bool has_key[MOST_DEPTH];  /* of a mapping: its value is next */
    unsigned depth;
    unsigned base; /* number of levels of the current tile */
    char *chip, *x, *y, *track;
    wg_saved_cost cost; /* the current one */
    bool profiled;
    const char *problem;
} reader;

static void free_cost(wg_saved_cost *c)
{
    free(c->who);
    free(c->cause);
    free(c->holder);
    free(c->file);
    free(c->instruction);
    free(c->condition);
    free(c->other_tile);
    free(c->address);
    free(c->waits_for);
    free(c->buffer);
    *c = (wg_saved_cost){0};
}

void wg_saved_run_free(wg_saved_run *run)
{
    for (size_t i = 0; i < run->costs; i++)
        free_cost(&run->cost[i]);
    free(run->cost);
    free(run->program);
    *run = (wg_saved_run){0};
}

/* Takes ownership of the contents of `c`. */
static void add_cost(reader *r, wg_saved_cost *c)
{
    wg_saved_run *run = r->run;
    if (run->costs == run->room) {
        size_t room = run->room ? 2 * run->room : 64;
        wg_saved_cost *more = wg_realloc(run->cost, room * sizeof *more);
        if (!more) {
            free_cost(c);
            return; /* the command ends with "out of memory" */
        }
        run->cost = more;
        run->room = room;
    }
    char who[160];
    const char *track = r->track ? r->track : "";
    if (r->chip && r->x && r->y)
        (void)snprintf(who, sizeof who, "chip %.12s, %.12s-%.12s %.100s", r->chip, r->x, r->y, track);
    else if (r->x && r->y)
        (void)snprintf(who, sizeof who, "%.12s-%.12s %.100s", r->x, r->y, track);
    else
        (void)snprintf(who, sizeof who, "%.100s", track);
    c->who = wg_strdup(who);
    run->cost[run->costs++] = *c;
    *c = (wg_saved_cost){0};
}

static bool at(const reader *r, unsigned base, unsigned depth, const char *const *path)
{
    if (r->depth != base + depth)
        return false;
    for (unsigned i = 0; i < depth; i++)
        if (path[i] && strcmp(r->key[base + i], path[i]) != 0)
            return false;
    return true;
}

#define AT_FROM(r, base, ...) \
    at(r, base, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), (const char *const[]){__VA_ARGS__})
#define AT(r, ...) AT_FROM(r, 0, __VA_ARGS__)
/* Within the current tile. */
#define IN_TILE(r, ...) AT_FROM(r, (r)->base, __VA_ARGS__)

/* The number of levels that lead to the current tile: none, tiles[], or chips[].tiles[]. */
static unsigned tile_levels(const reader *r)
{
    const unsigned chips = r->depth > 1 && strcmp(r->key[0], "chips") == 0 ? 2 : 0;
    return r->depth > chips + 1 && strcmp(r->key[chips], "tiles") == 0 ? chips + 2 : chips;
}

static void keep(char **text, const char *value)
{
    free(*text);
    *text = wg_strdup(value);
}

static void number(reader *r, const char *value, uint64_t *to)
{
    if (!wg_parse_number(value, strlen(value), to))
        r->problem = "a number of cycles is not a number";
}

static void cost_field(reader *r, const char *field, const char *value)
{
    const struct {
        const char *name;
        char **to;
    } texts[] = {{"cause", &r->cost.cause},
                 {"holder", &r->cost.holder},
                 {"file", &r->cost.file},
                 {"instruction", &r->cost.instruction},
                 {"condition", &r->cost.condition},
                 {"other_tile", &r->cost.other_tile},
                 {"address", &r->cost.address},
                 {"waits_for", &r->cost.waits_for},
                 {"circular_buffer", &r->cost.buffer}};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(field, texts[i].name) == 0)
            keep(texts[i].to, value);
    if (strcmp(field, "line") == 0)
        number(r, value, &r->cost.line);
    else if (strcmp(field, "cycles") == 0)
        number(r, value, &r->cost.cycles);
}

static void value(reader *r, const char *text)
{
    r->base = tile_levels(r);
    if (AT(r, "cycles")) {
        number(r, text, &r->run->cycles);
        r->run->has_cycles = true;
    } else if (AT(r, "program")) {
        keep(&r->run->program, text);
    } else if (AT(r, "chips", "[]", "chip")) {
        keep(&r->chip, text);
    } else if (r->base && IN_TILE(r, "x")) {
        keep(&r->x, text);
    } else if (r->base && IN_TILE(r, "y")) {
        keep(&r->y, text);
    } else if (IN_TILE(r, "stats", "tracks", "[]", "name") || IN_TILE(r, "cost_profile", "tracks", "[]", "name")) {
        keep(&r->track, text);
    } else if (IN_TILE(r, "cost_profile", "tracks", "[]", "costs", "[]", NULL)) {
        cost_field(r, r->key[r->base + 5], text);
    } else if (IN_TILE(r, "stats", "tracks", "[]", "cycles", NULL) && !r->profiled) {
        keep(&r->cost.cause, r->key[r->base + 4]);
        number(r, text, &r->cost.cycles);
        add_cost(r, &r->cost);
    }
}

/* After a value: an array continues, a mapping expects a key. */
static void value_over(reader *r)
{
    if (r->depth && strcmp(r->key[r->depth - 1], "[]") != 0)
        r->has_key[r->depth - 1] = false;
}

static void opens(reader *r, bool array)
{
    if (r->depth == MOST_DEPTH) {
        r->problem = "it is nested too deep";
        return;
    }
    r->base = tile_levels(r);
    if (IN_TILE(r, "cost_profile", "tracks") && !r->profiled) { /* it has more detail than statistics */
        r->profiled = true;
        for (size_t i = 0; i < r->run->costs; i++)
            free_cost(&r->run->cost[i]);
        r->run->costs = 0;
    }
    memcpy(r->key[r->depth], array ? "[]" : "", array ? 3 : 1);
    r->has_key[r->depth++] = array;
}

static void closes(reader *r)
{
    r->depth--;
    r->base = tile_levels(r);
    if (IN_TILE(r, "cost_profile", "tracks", "[]", "costs", "[]"))
        add_cost(r, &r->cost);
    value_over(r);
}

static void scalar(reader *r, const char *text)
{
    if (!r->depth)
        return;
    char *key = r->key[r->depth - 1];
    if (!r->has_key[r->depth - 1]) {
        size_t n = strlen(text);
        memcpy(key, text, n < KEY ? n : KEY - 1);
        key[n < KEY ? n : KEY - 1] = '\0';
        r->has_key[r->depth - 1] = true;
        return;
    }
    value(r, text);
    value_over(r);
}

static bool parse(reader *r, const uint8_t *text, size_t bytes)
{
    yaml_parser_t yaml;
    yaml_event_t event;
    if (!yaml_parser_initialize(&yaml)) {
        wg_memory_lost();
        return false;
    }
    yaml_parser_set_input_string(&yaml, text, bytes);
    for (bool more = true; more && !r->problem && !wg_memory_failed();) {
        if (!yaml_parser_parse(&yaml, &event)) {
            r->problem = "it is not JSON";
            break;
        }
        switch (event.type) {
        case YAML_MAPPING_START_EVENT: opens(r, false); break;
        case YAML_SEQUENCE_START_EVENT: opens(r, true); break;
        case YAML_MAPPING_END_EVENT:
        case YAML_SEQUENCE_END_EVENT: closes(r); break;
        case YAML_SCALAR_EVENT: scalar(r, (const char *)event.data.scalar.value); break;
        case YAML_ALIAS_EVENT: r->problem = "it is not JSON"; break;
        case YAML_NO_EVENT:
        case YAML_STREAM_END_EVENT: more = false; break;
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT:
        case YAML_DOCUMENT_END_EVENT: break;
        }
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&yaml);
    return !r->problem && !wg_memory_failed();
}

bool wg_saved_run_read(wg_saved_run *run, const char *path, wg_text *error)
{
    char message[256];
    size_t bytes;
    uint8_t *text = wg_file_read(path, &bytes, message, sizeof message);
    *run = (wg_saved_run){0};
    if (!text) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    reader r = {.run = run};
    bool ok = parse(&r, text, bytes);
    if (ok && !run->has_cycles) {
        r.problem = "it does not say how many cycles the run took";
        ok = false;
    }
    if (!ok && r.problem)
        wg_textf(error,
                 "waitgate: %s: %s. Give files that `waitgate profile --json` or `waitgate run --stats --json` wrote\n",
                 path, r.problem);
    free_cost(&r.cost);
    free(r.chip);
    free(r.x);
    free(r.y);
    free(r.track);
    free(text);
    if (!ok)
        wg_saved_run_free(run);
    return ok;
}
