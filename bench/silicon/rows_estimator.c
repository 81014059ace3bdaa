/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tt-metal's NoC estimator: patterns of tiles, each with five numbers of transactions and eleven sizes (estimator.csv).
 * A run uses short rows of three sizes, and rows of every size in which all tiles access DRAM; with WG_SILICON_ALL set,
 * rows of every size, and longer ones: as many cycles, times issuing tiles, as it says.
 *
 * Multicasts of many tiles to one rectangle are a separate group, `paths`. Their sources compete for paths, and one whose
 * reservation fails tries again after a random time (WormholeB0/NoC/README.md); on the card neighbouring rows differ by a
 * factor of two. The model grants a reservation as soon as its links are free.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "estimator.h"

enum { ARCH, MEMORY, PATTERN, MECHANISM, STATEFUL, LOOPBACK, SAME_AXIS, TRANSACTIONS, SUBORDINATES, SIZES };
enum { SIZE_COUNT = 11, FIELDS = SIZES + SIZE_COUNT };
#define SHORT_WORK 6000.0 /* cycles of the card, times the number of issuing tiles */
#define PATHS_WORK 200000.0
#define BARRIER_WORK 1000000.0

typedef struct one_row {
    estimator_run run;
    char name[48];
    const char *group, *why;
    double card, model;
} one_row;
typedef struct rows {
    one_row *row;
    unsigned n, room;
    double every; /* work; 0: only short rows */
} rows;

static unsigned number(const char *text) { return (unsigned)strtoul(text, NULL, 10); }
static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static void rectangle(estimator_run *r, estimator_place *list, unsigned *n, unsigned left, unsigned top,
                      unsigned columns, unsigned height)
{
    for (unsigned x = 0; x < columns; x++)
        for (unsigned y = 0; y < height; y++)
            list[(*n)++] = estimator_tile(r->arch, left + x, top + y);
}

static const struct grid {
    unsigned columns, rows;
} grids[] = {[WG_ARCH_BH] = {11, 10}, [WG_ARCH_WH] = {8, 7}};

/* The square of this number of tiles, or the whole grid. */
static struct grid square(wg_arch_id arch, unsigned tiles)
{
    for (unsigned side = 2; side <= 8; side++)
        if (side * side == tiles)
            return (struct grid){side, side};
    return grids[arch];
}

/* Chooses the issuing tiles and their partners. */
static void places(estimator_run *r, const char *pattern, bool same_axis, unsigned subordinates)
{
    struct grid whole = grids[r->arch], of = square(r->arch, subordinates);
    bool multicast = r->mechanism != ESTIMATOR_UNICAST;
    if (r->memory) {
        if (begins(pattern, "all"))
            for (unsigned y = 0; y < whole.rows; y++)
                for (unsigned x = 0; x < whole.columns; x++)
                    r->master[r->masters++] = estimator_tile(r->arch, x, y);
        else
            r->master[r->masters++] = estimator_tile(r->arch, 0, 0);
        return;
    }
    if (strstr(pattern, "row"))
        of = (struct grid){whole.columns, 1};
    else if (strstr(pattern, "column"))
        of = (struct grid){1, whole.rows};
    if (strcmp(pattern + strlen(pattern) - 4, "_one") == 0) {
        r->single = true;
        r->master[r->masters++] = estimator_tile(r->arch, 0, 0);
        r->subordinate[r->subordinates++] = estimator_tile(r->arch, same_axis ? 0 : 1, 1);
        return;
    }
    bool full = of.columns == whole.columns && of.rows == whole.rows;
    bool outside = !r->loopback && !full;
    /* A multicast without its source starts from the neighbouring row or column, and so does a unicast to a square. */
    bool beside = strstr(pattern, "row") ? outside && multicast : false;
    bool left = strstr(pattern, "column") ? outside && multicast : !strstr(pattern, "row") && outside;
    unsigned x = left ? of.columns : 0, y = beside ? 1 : 0;
    if (begins(pattern, "one")) {
        r->master[r->masters++] = estimator_tile(r->arch, x, y);
    } else if (multicast) {
        rectangle(r, r->master, &r->masters, x, y, of.columns, of.rows);
    } else {
        rectangle(r, r->master, &r->masters, 0, 0, of.columns, of.rows);
    }
    rectangle(r, r->subordinate, &r->subordinates, 0, 0, of.columns, of.rows);
    r->corner[0] = estimator_tile(r->arch, 0, 0);
    r->corner[1] = estimator_tile(r->arch, of.columns - 1, of.rows - 1);
    if (begins(pattern, "one") && !multicast) { /* no tile writes to itself */
        unsigned n = 0;
        for (unsigned i = 0; i < r->subordinates; i++)
            if (memcmp(&r->subordinate[i], &r->master[0], sizeof r->master[0]) != 0)
                r->subordinate[n++] = r->subordinate[i];
        r->subordinates = n;
    }
}

static const char *why(const estimator_run *r, bool all)
{
    if (r->mechanism && r->masters > 1)
        return "reservations of the same path that fail are tried again after a random time";
    if (r->memory && r->masters > 1)
        return r->read ? "which requests a channel takes in, and in which order, is inferred from other rows"
                       : "many writers lose more at a channel than the rate measured for one";
    if (r->masters > 1)
        return "in which order the tiles begin is not known, and neighbouring rows of the card disagree";
    if (r->mechanism)
        return "a multicast goes before the answers to earlier ones on links that they share";
    if (r->memory)
        return "the table does not say which NoC the row was measured on; requests at one bank";
    if (r->arch == WG_ARCH_WH && r->read && !r->stateful)
        return all ? "what the compiler made of the loop over the tiles is not known"
                   : "from 64 on each read takes six cycles longer; what the compiler made of the loop is not known";
    return "what the compiler made of the loop is not known";
}

static one_row *new_row(rows *all)
{
    if (all->n == all->room) {
        all->room = all->room ? 2 * all->room : 1024;
        all->row = realloc(all->row, all->room * sizeof *all->row);
        if (!all->row)
            exit(1);
    }
    return &all->row[all->n++];
}

static estimator_run run_of(char **field)
{
    estimator_run r = {.arch = wg_silicon_arch(field[ARCH]),
                       .stateful = number(field[STATEFUL]),
                       .loopback = number(field[LOOPBACK]),
                       .read = strstr(field[PATTERN], "from") != NULL};
    r.memory = begins(field[MEMORY], "l1")            ? ESTIMATOR_L1
               : begins(field[MEMORY], "interleaved") ? ESTIMATOR_INTERLEAVED
                                                      : ESTIMATOR_SHARDED;
    r.mechanism = begins(field[MECHANISM], "unicast")     ? ESTIMATOR_UNICAST
                  : begins(field[MECHANISM], "multicast") ? ESTIMATOR_MULTICAST
                                                          : ESTIMATOR_LINKED;
    places(&r, field[PATTERN], number(field[SAME_AXIS]), number(field[SUBORDINATES]));
    r.noc = r.memory ? r.masters > 1 : r.read;
    r.transactions = number(field[TRANSACTIONS]) / (!r.single && !r.mechanism && !r.memory ? r.subordinates : 1);
    return r;
}

static void line(struct wg_silicon *s, char **field, void *user)
{
    static const char *const names[] = {"", " multicast", " linked"};
    rows *all = user;
    (void)s;
    estimator_run r = run_of(field);
    for (unsigned i = 0; i < SIZE_COUNT && *field[SIZES + i]; i++) {
        double card = strtod(field[SIZES + i], NULL);
        r.bytes = 64u << i;
        bool paths = r.mechanism && r.masters > 1;
        bool barrier = r.memory && r.masters > 1;
        double most = all->every > 0 ? all->every : paths ? PATHS_WORK : barrier ? BARRIER_WORK : SHORT_WORK;
        if (card * r.masters > most || (all->every <= 0 && !barrier && i % 4 != 0))
            continue;
        one_row *to = new_row(all);
        *to = (one_row){.run = r, .card = card, .why = why(&r, strstr(field[PATTERN], "all") != NULL)};
        to->group = paths ? "paths" : "estimator";
        snprintf(to->name, sizeof to->name, "%s%s%s%s%s%s%s, %u x %u x %u B", r.memory ? field[MEMORY] : "",
                 r.memory ? " " : "", field[PATTERN], r.memory ? "" : names[r.mechanism], r.stateful ? " state" : "",
                 r.loopback ? " loop" : "", r.single && number(field[SAME_AXIS]) ? " axis" : "", r.subordinates,
                 r.transactions, r.bytes);
    }
}

static void run(void *user, unsigned index)
{
    one_row *r = &((rows *)user)->row[index];
    r->model = estimator_cycles(&r->run);
}

void wg_silicon_estimator(struct wg_silicon *s)
{
    static rows all;
    const char *every = getenv("WG_SILICON_ALL");
    all.every = every ? strtod(every, NULL) : 0;
    wg_silicon_read(s, "estimator.csv", FIELDS, line, &all);
    wg_silicon_each(all.n, run, &all);
    for (const one_row *r = all.row; r < all.row + all.n; r++)
        wg_silicon_add(s, &(wg_silicon_row){.group = r->group,
                                            .name = r->name,
                                            .arch = r->run.arch,
                                            .card = r->card,
                                            .model = r->model,
                                            .why = r->why});
    free(all.row);
    all = (rows){0};
}
