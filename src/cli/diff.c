/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate diff BEFORE AFTER`: where two saved runs spent different numbers of cycles. Costs are paired by track,
 * cause, holder, instruction and place. The rest is paired by less and less of the place: the folder may differ, and an
 * edit shifts the lines below it.
 */
#include "cli/diff.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/session.h"

typedef struct change {
    const wg_saved_cost *before, *after; /* NULL: only the other run has it */
} change;

typedef struct changes {
    change *at;
    size_t count;
} changes;

static int order_texts(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

static const char *name_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* The parts of its place that distinguish a cost, in the order in which costs are paired. */
typedef struct place_rule {
    bool folder, line;
} place_rule;
static const place_rule rules[] = {{true, true}, {false, true}, {true, false}, {false, false}};

static int order_lines(const wg_saved_cost *a, const wg_saved_cost *b)
{
    return (a->line > b->line) - (a->line < b->line);
}

static int order(const wg_saved_cost *a, const wg_saved_cost *b, place_rule rule)
{
    int way = order_texts(a->who, b->who);
    way = way ? way : order_texts(a->cause, b->cause);
    way = way ? way : order_texts(a->holder, b->holder);
    way = way ? way : rule.folder ? order_texts(a->file, b->file) : order_texts(name_of(a->file), name_of(b->file));
    if (rule.line && !way)
        way = order_lines(a, b);
    return way ? way : order_texts(a->instruction, b->instruction);
}

/* A cost in a list that is sorted by a rule. */
typedef struct entry {
    const wg_saved_cost *cost;
    const place_rule *rule;
} entry;

/* Costs that the rule does not distinguish stay in the order of their lines. */
static int by_rule(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int way = order(x->cost, y->cost, *x->rule);
    return way ? way : order_lines(x->cost, y->cost);
}

static void sort(entry *list, size_t count, const place_rule *rule)
{
    for (size_t i = 0; i < count; i++)
        list[i].rule = rule;
    qsort(list, count, sizeof *list, by_rule);
}

static uint64_t before_of(const change *c) { return c->before ? c->before->cycles : 0; }
static uint64_t after_of(const change *c) { return c->after ? c->after->cycles : 0; }
static uint64_t size_of(const change *c)
{
    uint64_t b = before_of(c), a = after_of(c);
    return a > b ? a - b : b - a;
}

static const wg_saved_cost *shown_of(const change *c) { return c->after ? c->after : c->before; }

/* Nothing to do: such cycles compensate for the change of the run's length. */
static bool is_rest(const wg_saved_cost *c)
{
    static const char *const rest[] = {"idle", "empty", "reset", "parked"};
    for (unsigned i = 0; c->cause && i < sizeof rest / sizeof *rest; i++)
        if (strcmp(c->cause, rest[i]) == 0)
            return true;
    return false;
}

/* Work and waits first, then idle, empty, reset and parked; of each, the largest first. */
static int by_size(const void *a, const void *b)
{
    const change *c = a, *d = b;
    const wg_saved_cost *x = shown_of(c), *y = shown_of(d);
    if (is_rest(x) != is_rest(y))
        return is_rest(y) ? -1 : 1;
    uint64_t m = size_of(c), n = size_of(d);
    return m != n ? (m < n) - (m > n) : order(x, y, rules[0]);
}

/* Pairs equal costs. Pairs go to `out`; the rest stays in the lists, whose lengths shrink. */
static void pair(entry *a, size_t *as, entry *b, size_t *bs, const place_rule *rule, changes *out)
{
    size_t i = 0, k = 0, left_a = 0, left_b = 0;
    sort(a, *as, rule);
    sort(b, *bs, rule);
    while (i < *as || k < *bs) {
        int way = i == *as ? 1 : k == *bs ? -1 : order(a[i].cost, b[k].cost, *rule);
        if (way == 0)
            out->at[out->count++] = (change){a[i++].cost, b[k++].cost};
        else if (way < 0)
            a[left_a++] = a[i++];
        else
            b[left_b++] = b[k++];
    }
    *as = left_a;
    *bs = left_b;
}

static entry *list(const wg_saved_run *run)
{
    entry *l = wg_calloc(run->costs + 1, sizeof *l);
    for (size_t i = 0; l && i < run->costs; i++)
        l[i].cost = &run->cost[i];
    return l;
}

/* False: no memory. */
static bool compare(const wg_saved_run *before, const wg_saved_run *after, changes *out)
{
    entry *a = list(before), *b = list(after);
    size_t as = before->costs, bs = after->costs;
    out->count = 0;
    out->at = wg_calloc(as + bs + 1, sizeof *out->at);
    bool ok = a && b && out->at;
    for (unsigned i = 0; ok && i < sizeof rules / sizeof *rules; i++)
        pair(a, &as, b, &bs, &rules[i], out);
    for (size_t i = 0; ok && i < as; i++)
        out->at[out->count++] = (change){a[i].cost, NULL};
    for (size_t i = 0; ok && i < bs; i++)
        out->at[out->count++] = (change){NULL, b[i].cost};
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++)
        if (size_of(&out->at[i]))
            out->at[kept++] = out->at[i];
    out->count = kept;
    if (ok)
        qsort(out->at, kept, sizeof *out->at, by_size);
    free(a);
    free(b);
    return ok;
}

/* "2", "2%", "0.25%", in thousandths of a per cent. */
static bool parse_percent(const char *text, uint64_t *thousandths)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t whole = 0, part = 0, unit = 100;
    if (!digits || digits > 9 || !wg_parse_number(text, digits, &whole))
        return false;
    text += digits;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10)
            part += unit * (uint64_t)(*text - '0');
    *thousandths = 1000 * whole + part;
    return strcmp(text, "") == 0 || strcmp(text, "%") == 0;
}

static bool is_above(const wg_saved_run *before, const wg_saved_run *after, uint64_t thousandths)
{
    if (after->cycles <= before->cycles)
        return false;
    return (unsigned __int128)(after->cycles - before->cycles) * 100000 >
           (unsigned __int128)before->cycles * thousandths;
}

static void put_place(const wg_saved_cost *c, wg_text *out)
{
    if (c->file)
        wg_textf(out, "%s:%llu  ", name_of(c->file), (unsigned long long)c->line);
    wg_textf(out, "%s", c->instruction ? c->instruction : c->file ? "" : "-");
}

static void put_percent(const wg_saved_run *before, const wg_saved_run *after, wg_text *out)
{
    const bool less = after->cycles < before->cycles;
    const uint64_t by = less ? before->cycles - after->cycles : after->cycles - before->cycles;
    const uint64_t tenths = before->cycles ? (uint64_t)((unsigned __int128)by * 1000 / before->cycles) : 0;
    if (!by)
        wg_textf(out, "as many");
    else
        wg_textf(out, "%llu %s, %c%llu.%llu %%", (unsigned long long)by, less ? "fewer" : "more", less ? '-' : '+',
                 (unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10));
}

/* In the words of the profile. */
static void cause_text(const wg_saved_cost *c, char *room, size_t bytes)
{
    const char *cause = c->cause ? c->cause : "", *holder = c->holder ? c->holder : "";
    char who[64] = "";
    if (c->holder)
        (void)snprintf(who, sizeof who, " (%.60s)", holder);
    if (c->waits_for && c->buffer)
        (void)snprintf(room, bytes, "waiting for %s in CB %s%s", c->waits_for, c->buffer, who);
    else if (strcmp(cause, "polling") == 0 && c->address && c->other_tile)
        (void)snprintf(room, bytes,
                       strncmp(c->address, "0xffb", 5) == 0 ? "waiting for NoC, tile %s" : "waiting for tile %s (%s)",
                       c->other_tile, c->address);
    else if (strcmp(cause, "polling") == 0 && c->address)
        (void)snprintf(room, bytes, "polling %s%s", c->address, who);
    else
        (void)snprintf(room, bytes, "%s%s%s%s", cause, c->condition ? " " : "", c->condition ? c->condition : "", who);
}

static void text(const wg_saved_run run[2], const changes *all, uint64_t top, wg_text *out)
{
    wg_textf(out, "before  %llu cycles  %s\nafter   %llu cycles  %s\n        ", (unsigned long long)run[0].cycles,
             run[0].program ? run[0].program : "", (unsigned long long)run[1].cycles,
             run[1].program ? run[1].program : "");
    put_percent(&run[0], &run[1], out);
    wg_textf(out, "\n");
    if (!all->count) {
        wg_textf(out, run[0].costs && run[1].costs
                          ? "\nNo cycles were spent differently.\n"
                          : "\nThe files do not show where the cycles went; `waitgate profile --json` does.\n");
        return;
    }
    wg_textf(out, "\n%-20s %9s %9s %9s  %-34s line, instruction\n", "who", "change", "before", "after", "cause");
    for (size_t i = 0; i < all->count && i < top; i++) {
        const change *c = &all->at[i];
        const wg_saved_cost *shown = shown_of(c);
        char cause[96];
        cause_text(shown, cause, sizeof cause);
        wg_textf(out, "%-20s %9lld %9llu %9llu  %-34s ", shown->who, (long long)(after_of(c) - before_of(c)),
                 (unsigned long long)before_of(c), (unsigned long long)after_of(c), cause);
        put_place(shown, out);
        wg_textf(out, "\n");
    }
    if (all->count > top)
        wg_textf(out, "and %zu smaller ones; --top shows more\n", all->count - (size_t)top);
}

static void json(const wg_saved_run run[2], const changes *all, uint64_t top, int status, wg_text *out)
{
    wg_json j = {.out = out};
    wg_json_open(&j, NULL, '{');
    wg_json_uint(&j, "schema", 1);
    wg_json_text(&j, "waitgate", wg_version());
    wg_json_uint(&j, "status", (uint64_t)status);
    for (unsigned i = 0; i < 2; i++) {
        wg_json_open(&j, i ? "after" : "before", '{');
        wg_json_text(&j, "program", run[i].program ? run[i].program : "");
        wg_json_uint(&j, "cycles", run[i].cycles);
        wg_json_close(&j, '}');
    }
    wg_json_open(&j, "changes", '[');
    for (size_t i = 0; i < all->count && i < top; i++) {
        const change *c = &all->at[i];
        const wg_saved_cost *shown = shown_of(c);
        wg_json_open(&j, NULL, '{');
        wg_json_text(&j, "who", shown->who);
        wg_json_text(&j, "cause", shown->cause ? shown->cause : "");
        wg_json_uint(&j, "before", before_of(c));
        wg_json_uint(&j, "after", after_of(c));
        if (shown->holder)
            wg_json_text(&j, "holder", shown->holder);
        if (shown->file) {
            wg_json_text(&j, "file", shown->file);
            wg_json_uint(&j, "line", shown->line);
        }
        if (shown->instruction)
            wg_json_text(&j, "instruction", shown->instruction);
        wg_json_close(&j, '}');
    }
    wg_json_close(&j, ']');
    wg_json_close(&j, '}');
}

int wg_command_diff(const wg_args *args, wg_text *out, wg_text *error)
{
    const char *limit = args->value[WG_OPT_FAIL_ABOVE];
    uint64_t thousandths = 0, top = 20;
    if (limit && !parse_percent(limit, &thousandths)) {
        wg_textf(error, "waitgate: --fail-above: `%s` is not a percentage such as 2%% or 0.5%%\n", limit);
        return WG_EXIT_ERROR;
    }
    if (args->value[WG_OPT_JSON])
        top = UINT64_MAX;
    if (!wg_option_number(args, WG_OPT_TOP, "top", &top, error))
        return WG_EXIT_ERROR;
    if (args->files != 2) {
        wg_textf(error, "waitgate: diff compares two files, one before and one after a change\n");
        return WG_EXIT_ERROR;
    }
    wg_saved_run run[2] = {{0}, {0}};
    changes all = {0};
    int status = WG_EXIT_ERROR;
    if (wg_saved_run_read(&run[0], args->file[0], error) && wg_saved_run_read(&run[1], args->file[1], error) &&
        compare(&run[0], &run[1], &all)) {
        bool above = limit && is_above(&run[0], &run[1], thousandths);
        status = above ? WG_EXIT_EXPECTATION : WG_EXIT_DONE;
        if (args->value[WG_OPT_JSON])
            json(run, &all, top, status, out);
        else
            text(run, &all, top, out);
        if (above && !args->value[WG_OPT_JSON])
            wg_textf(out, "\nThat is more than --fail-above %s allows.\n", limit);
    }
    free(all.at);
    wg_saved_run_free(&run[0]);
    wg_saved_run_free(&run[1]);
    return status;
}
