/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model against rows that others measured on cards, in the default profile.
 *
 *     silicon [GROUP]        every row (of the rows_GROUP.c), and the score of each group
 *     silicon --shares       group, architecture, rows within 5 %, pairs in order, in parts of ten thousand
 *     silicon --markdown     docs/silicon.md
 *
 * Status 1, and the reasons on standard error, if rows miss the requirements of lines.csv.
 *
 * Order: of the pairs of rows of a group and architecture that differ by more than 2 % on the card, the share that
 * the model puts in the same order.
 */
#include "silicon.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 48, LINE = 256, FIELDS = 24, EXCEPTIONS = 32, LINES = 16 };
#define CLOSE 5.0 /* per cent */
#define NEAR 10.0
#define TIE 2.0

typedef struct row {
    char name[NAME];
    const char *group, *why;
    wg_arch_id arch;
    double card, model, error;
} row;

/* A row that exceeds its group's line, and why. */
typedef struct exception {
    char group[NAME], name[NAME], why[LINE];
    wg_arch_id arch;
    bool needed;
} exception;

/* The requirement for a group on each architecture; all per cent. */
typedef struct line_of {
    char group[NAME], why[LINE];
    double near, share, far; /* `share` of the rows within `near`, and none beyond `far`; 0: no limit */
} line_of;

struct wg_silicon {
    row *rows;
    unsigned count, room;
    exception exceptions[EXCEPTIONS];
    line_of lines[LINES];
    unsigned exception_count, line_count;
};

typedef struct score {
    const char *group;
    wg_arch_id arch;
    unsigned rows;
    double median, ninth, worst, within, near, order; /* per cent */
} score;

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "silicon: %s %s\n", what, which);
    exit(1);
}

void wg_silicon_add(struct wg_silicon *s, const wg_silicon_row *r)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->rows = realloc(s->rows, s->room * sizeof *s->rows);
        if (!s->rows)
            fail("out of memory for", "rows");
    }
    row *to = &s->rows[s->count++];
    *to = (row){.group = r->group, .why = r->why, .arch = r->arch, .card = r->card, .model = r->model};
    to->error = 100 * (r->model - r->card) / r->card;
    snprintf(to->name, sizeof to->name, "%s", r->name);
}

void wg_silicon_read(struct wg_silicon *s, const char *file, unsigned fields,
                     void (*line)(struct wg_silicon *s, char **field, void *user), void *user)
{
    char path[1024], text[LINE];
    snprintf(path, sizeof path, "%s/%s", WG_SILICON_DATA, file);
    FILE *in = fopen(path, "r");
    if (!in || !fgets(text, sizeof text, in))
        fail("cannot read", path);
    while (fgets(text, sizeof text, in)) {
        char *field[FIELDS], *at = text;
        unsigned n = 0;
        text[strcspn(text, "\r\n")] = 0;
        for (; at && n < FIELDS; n++) {
            field[n] = at;
            at = strchr(at, ',');
            if (at)
                *at++ = 0;
        }
        if (n != fields)
            fail("not a row in", path);
        line(s, field, user);
    }
    fclose(in);
}

typedef struct shared {
    void (*work)(void *user, unsigned i);
    void *user;
    unsigned n;
    atomic_uint next;
} shared;

static void *take_part(void *user)
{
    shared *all = user;
    for (unsigned i; (i = atomic_fetch_add(&all->next, 1)) < all->n;)
        all->work(all->user, i);
    return NULL;
}

void wg_silicon_each(unsigned n, void (*work)(void *user, unsigned i), void *user)
{
    shared all = {.work = work, .user = user, .n = n};
    pthread_t other;
    if (pthread_create(&other, NULL, take_part, &all) != 0)
        fail("no thread for", "rows");
    take_part(&all);
    pthread_join(other, NULL);
}

wg_arch_id wg_silicon_arch(const char *name)
{
    if (strcmp(name, "bh") != 0 && strcmp(name, "wh") != 0)
        fail("no such architecture:", name);
    return name[0] == 'w' ? WG_ARCH_WH : WG_ARCH_BH;
}

static const char *arch_name(wg_arch_id arch) { return arch == WG_ARCH_WH ? "WH" : "BH"; }

/* ---- scores --------------------------------------------------------------------------------------------------------
 */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static bool belongs(const row *r, const score *of) { return r->arch == of->arch && strcmp(r->group, of->group) == 0; }

static double order(const struct wg_silicon *s, const score *of)
{
    unsigned long pairs = 0, same = 0;
    for (unsigned i = 0; i < s->count; i++)
        for (unsigned j = i + 1; j < s->count && belongs(&s->rows[i], of); j++) {
            const row *a = &s->rows[i], *b = &s->rows[j];
            double apart = b->card - a->card;
            if (!belongs(b, of) || fabs(apart) <= TIE / 100 * fmin(a->card, b->card))
                continue;
            pairs++;
            same += apart > 0 ? b->model > a->model : b->model < a->model;
        }
    return pairs ? 100.0 * (double)same / (double)pairs : 100;
}

static void measure(const struct wg_silicon *s, score *of)
{
    double *off = calloc(s->count, sizeof *off);
    unsigned within = 0, near = 0;
    if (!off)
        fail("out of memory for", "scores");
    for (unsigned i = 0; i < s->count; i++)
        if (belongs(&s->rows[i], of)) {
            off[of->rows++] = fabs(s->rows[i].error);
            within += fabs(s->rows[i].error) <= CLOSE;
            near += fabs(s->rows[i].error) <= NEAR;
        }
    qsort(off, of->rows, sizeof *off, by_size);
    of->median = off[of->rows / 2];
    of->ninth = off[(of->rows * 9 - 1) / 10];
    of->worst = off[of->rows - 1];
    of->within = 100.0 * within / of->rows;
    of->near = 100.0 * near / of->rows;
    of->order = order(s, of);
    free(off);
}

/* The scores of all groups, in the order in which they were added; returns how many. */
static unsigned scores(const struct wg_silicon *s, score *to, unsigned room)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->count; i++) {
        unsigned j = 0;
        while (j < n && !belongs(&s->rows[i], &to[j]))
            j++;
        if (j == n && n < room)
            to[n++] = (score){.group = s->rows[i].group, .arch = s->rows[i].arch};
    }
    for (unsigned i = 0; i < n; i++)
        measure(s, &to[i]);
    return n;
}

/* ---- requirements ------------------------------------------------------------------------------------------------ */

static void read_line(struct wg_silicon *s, char **field, void *user)
{
    (void)user;
    if (s->line_count == LINES)
        fail("too many lines for", field[0]);
    line_of *l = &s->lines[s->line_count++];
    snprintf(l->group, sizeof l->group, "%s", field[0]);
    l->near = atof(field[1]);
    l->share = atof(field[2]);
    l->far = atof(field[3]);
    snprintf(l->why, sizeof l->why, "%s", field[4]);
}

static void read_exception(struct wg_silicon *s, char **field, void *user)
{
    (void)user;
    if (s->exception_count == EXCEPTIONS)
        fail("too many exceptions:", field[2]);
    exception *e = &s->exceptions[s->exception_count++];
    snprintf(e->group, sizeof e->group, "%s", field[0]);
    e->arch = wg_silicon_arch(field[1]);
    snprintf(e->name, sizeof e->name, "%s", field[2]);
    snprintf(e->why, sizeof e->why, "%s", field[3]);
}

static const line_of *line_for(const struct wg_silicon *s, const char *group)
{
    for (unsigned i = 0; i < s->line_count; i++)
        if (strcmp(s->lines[i].group, group) == 0)
            return &s->lines[i];
    return NULL;
}

/* Rows beyond their group's line are excused by name; an exception gives its reason to the row. */
static bool excused(struct wg_silicon *s, row *r)
{
    for (exception *e = s->exceptions; e < s->exceptions + s->exception_count; e++)
        if (e->arch == r->arch && strcmp(e->group, r->group) == 0 && strcmp(e->name, r->name) == 0) {
            e->needed = true;
            r->why = e->why;
            return true;
        }
    return false;
}

static bool too_far(struct wg_silicon *s)
{
    bool any = false;
    for (row *r = s->rows; r < s->rows + s->count; r++) {
        const line_of *l = line_for(s, r->group);
        if (!l || l->far <= 0 || fabs(r->error) <= l->far || excused(s, r))
            continue;
        fprintf(stderr, "silicon: %s %s %s is %+.1f %% off, more than %.0f %%, and exceptions.csv does not say why\n",
                r->group, arch_name(r->arch), r->name, r->error, l->far);
        any = true;
    }
    return any;
}

/* Every exception of a group that was run must be needed. Returns true if one is not. */
static bool spare(const struct wg_silicon *s, const score *sc, unsigned n)
{
    bool any = false;
    for (const exception *e = s->exceptions; e < s->exceptions + s->exception_count; e++)
        for (const score *c = sc; c < sc + n && !e->needed; c++)
            if (c->arch == e->arch && strcmp(c->group, e->group) == 0) {
                fprintf(stderr, "silicon: %s %s %s needs no exception\n", e->group, arch_name(e->arch), e->name);
                any = true;
            }
    return any;
}

/* Does every group meet its line? */
static bool demands_hold(struct wg_silicon *s, const score *sc, unsigned n)
{
    bool holds = !too_far(s);
    holds &= !spare(s, sc, n);
    for (const score *c = sc; c < sc + n; c++) {
        const line_of *l = line_for(s, c->group);
        unsigned within = 0;
        if (!l) {
            fprintf(stderr, "silicon: lines.csv has no line for %s\n", c->group);
            holds = false;
            continue;
        }
        for (const row *r = s->rows; r < s->rows + s->count; r++)
            within += belongs(r, c) && fabs(r->error) <= l->near;
        if (100.0 * within < l->share * c->rows) {
            fprintf(stderr, "silicon: %s %s: %u of %u rows are within %.0f %%, fewer than %.0f %%\n", c->group,
                    arch_name(c->arch), within, c->rows, l->near, l->share);
            holds = false;
        }
    }
    return holds;
}

/* ---- output --------------------------------------------------------------------------------------------------------
 */

static void plain(const struct wg_silicon *s, const score *sc, unsigned n)
{
    for (unsigned i = 0; i < s->count; i++) {
        const row *r = &s->rows[i];
        printf("%-8s %s %-36s model %10.3f   card %10.3f   %+6.1f %%%s\n", r->group, arch_name(r->arch), r->name,
               r->model, r->card, r->error, fabs(r->error) > CLOSE ? "  off" : "");
    }
    printf("\n%-8s    %6s %8s %8s %8s %10s %11s %8s\n", "group", "rows", "median", "90th", "worst", "within 5 %",
           "within 10 %", "order");
    for (const score *c = sc; c < sc + n; c++)
        printf("%-8s %s %6u %6.1f %% %6.1f %% %6.1f %% %8.1f %% %9.1f %% %6.1f %%\n", c->group, arch_name(c->arch),
               c->rows, c->median, c->ninth, c->worst, c->within, c->near, c->order);
}

static void shares(const score *sc, unsigned n)
{
    for (const score *c = sc; c < sc + n; c++)
        printf("%s\t%s\t%u\t%u\n", c->group, arch_name(c->arch), (unsigned)(100 * c->within),
               (unsigned)(100 * c->order));
}

/* The groups of the NoC and of DRAM as one, `paths` included. */
static void network(const struct wg_silicon *s)
{
    static const char *const groups[] = {"noc", "dram", "estimator", "paths"};
    printf("- noc, dram, estimator and paths together: ");
    for (unsigned arch = 0; arch < 2; arch++) {
        unsigned rows = 0, near = 0;
        for (const row *r = s->rows; r < s->rows + s->count; r++)
            for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
                if (r->arch == arch && strcmp(r->group, groups[i]) == 0) {
                    rows++;
                    near += fabs(r->error) <= NEAR;
                }
        printf("%s%u of %u rows (%.1f %%) are within %.0f %% on %s", arch ? ", " : "", near, rows, 100.0 * near / rows,
               NEAR, arch_name((wg_arch_id)arch));
    }
    printf(".\n");
}

/* Is `b` what `a` is called with " linked" in place of " multicast", of one transaction: the same program, measured again? */
static bool same_program(const char *a, const char *b)
{
    static const char multicast[] = " multicast", linked[] = " linked";
    const char *at = strstr(a, multicast), *one = strstr(a, " x 1 x ");
    if (!at || !one || strncmp(a, b, (size_t)(at - a)) != 0)
        return false;
    b += at - a;
    return strncmp(b, linked, sizeof linked - 1) == 0 && strcmp(at + sizeof multicast - 1, b + sizeof linked - 1) == 0;
}

/* How well the card's own measurements of one program agree where reservations fail. */
static void repeats(const struct wg_silicon *s)
{
    unsigned pairs = 0, near = 0;
    for (const row *a = s->rows; a < s->rows + s->count; a++)
        for (const row *b = s->rows; b < s->rows + s->count; b++)
            if (a->arch == b->arch && strcmp(a->group, "paths") == 0 && same_program(a->name, b->name)) {
                pairs++;
                near += fabs(100 * (a->card / b->card - 1)) <= NEAR;
            }
    printf("- paths: a linked multicast of one transaction is the same program as an unlinked one. Of %u such "
           "programs, each "
           "measured twice on the card, the two results of %u agree within %.0f %%.\n",
           pairs, near, NEAR);
}

static void markdown(const struct wg_silicon *s, const score *sc, unsigned n)
{
    printf(
        "# Against silicon\n\n"
        "`make silicon` writes this page: every row of a public measurement that kernels of this repository can run,\n"
        "in the default profile. The kernels are ours, written to the description of the probes: the same instruction\n"
        "words, loops, order and configuration, beside the other cores in their firmware's polling loops. Sources:\n"
        "`bench/silicon/README.md`. A test demands that this page is what the program prints, that every group "
        "reaches\n"
        "its line, and that no share falls.\n\n"
        "| Group | Arch | Rows | Median error | 90th percentile | Worst | Within 5 %% | Within 10 %% | Pairs in order "
        "|\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    for (const score *c = sc; c < sc + n; c++)
        printf("| %s | %s | %u | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", c->group,
               arch_name(c->arch), c->rows, c->median, c->ninth, c->worst, c->within, c->near, c->order);
    printf("\nPairs in order: of the pairs of rows that differ by more than %.0f %% on the card, those that the model "
           "puts in\n"
           "the same order.\n\n",
           TIE);
    for (const line_of *l = s->lines; l < s->lines + s->line_count; l++) {
        printf("- %s: ", l->group);
        if (l->share > 0)
            printf("%.0f %% of the rows of each architecture have to be within %.0f %%", l->share, l->near);
        else
            printf("nothing is demanded");
        if (l->far > 0)
            printf(", and none may be more than %.0f %% off without a reason of its own", l->far);
        printf("%s%s.\n", *l->why ? ": " : "", l->why);
    }
    network(s);
    repeats(s);
    printf("\n## Off by more than %.0f %%\n\n| Row | Arch | Model | Card | Error | Why "
           "|\n|---|---|---|---|---|---|\n",
           CLOSE);
    for (const row *r = s->rows; r < s->rows + s->count; r++)
        if (fabs(r->error) > CLOSE)
            printf("| %s %s | %s | %.3f | %.3f | %+.1f %% | %s |\n", r->group, r->name, arch_name(r->arch), r->model,
                   r->card, r->error, r->why ? r->why : "not explained");
    printf("\n## All rows\n\n| Row | Arch | Model | Card | Error |\n|---|---|---|---|---|\n");
    for (const row *r = s->rows; r < s->rows + s->count; r++)
        printf("| %s %s | %s | %.3f | %.3f | %+.1f %% |\n", r->group, r->name, arch_name(r->arch), r->model, r->card,
               r->error);
}

int main(int argc, char **argv)
{
    const char *how = argc == 2 && argv[1][0] == '-' ? argv[1] : "", *only = argc == 2 && !*how ? argv[1] : NULL;
    if (argc > 2 || (*how && strcmp(how, "--shares") != 0 && strcmp(how, "--markdown") != 0)) {
        fprintf(stderr, "usage: silicon [GROUP | --shares | --markdown]\n");
        return 1;
    }
    static struct wg_silicon s;
    score sc[32];
#define GROUP(name) \
    if (!only || !strcmp(only, #name)) \
        wg_silicon_##name(&s);
#include "silicon.def"
#undef GROUP
    wg_silicon_read(&s, "lines.csv", 5, read_line, NULL);
    wg_silicon_read(&s, "exceptions.csv", 4, read_exception, NULL);
    unsigned n = scores(&s, sc, sizeof sc / sizeof *sc);
    bool holds = demands_hold(&s, sc, n);
    if (!*how)
        plain(&s, sc, n);
    else if (strcmp(how, "--shares") == 0)
        shares(sc, n);
    else
        markdown(&s, sc, n);
    free(s.rows);
    return !holds;
}
