/* SPDX-License-Identifier: Apache-2.0 */
/* `waitgate test --baseline FILE`: cycles of earlier runs. */
#include "cli/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session.h"

typedef struct named {
    const char *name;
    size_t length, test;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const int order = memcmp(x->name, y->name, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static bool complain(wg_text *error, const char *path, unsigned line)
{
    wg_textf(error, "waitgate: --baseline: %s:%u: a line is a name, a tab and a number of cycles\n", path, line);
    return false;
}

/* The lines of the file. `names` are the tests, sorted. */
static bool read_lines(wg_baseline *b, const char *path, const char *at, const named *names, size_t count,
                       wg_test_result *result, wg_text *error)
{
    for (unsigned line = 1; *at; line++) {
        const size_t end = strcspn(at, "\n"), tab = strcspn(at, "\t\n");
        const size_t stop = end && at[end - 1] == '\r' ? end - 1 : end;
        const named wanted = {at, tab, 0};
        uint64_t cycles;
        if (stop && (tab >= stop || !wg_parse_number(at + tab + 1, stop - tab - 1, &cycles) || !cycles))
            return complain(error, path, line);
        const named *found = stop ? bsearch(&wanted, names, count, sizeof *names, by_name) : NULL;
        if (found)
            result[found->test].baseline = cycles;
        else if (stop)
            wg_textf(&b->others, "%.*s\n", (int)stop, at);
        at += end + (at[end] == '\n');
    }
    return true;
}

static bool read_table(wg_baseline *b, const char *path, const char *table, const wg_tests *all, wg_test_result *result,
                       wg_text *error)
{
    named *names = wg_calloc(all->count + 1, sizeof *names);
    if (!names) {
        wg_textf(error, "waitgate: out of memory\n");
        return false;
    }
    for (size_t i = 0; i < all->count; i++)
        names[i] = (named){all->at[i].name, strlen(all->at[i].name), i};
    qsort(names, all->count, sizeof *names, by_name);
    const bool right = read_lines(b, path, table, names, all->count, result, error);
    free(names);
    for (size_t i = 0; i < all->count; i++)
        b->missing += !result[i].baseline;
    return right;
}

bool wg_baseline_read(wg_baseline *b, const wg_args *args, const wg_tests *all, wg_test_result *result, wg_text *error)
{
    const char *path = args->value[WG_OPT_BASELINE], *percent = args->value[WG_OPT_TOLERANCE];
    char message[512], *end = NULL;
    b->tolerance = percent ? strtod(percent, &end) : 0;
    if (percent &&
        (end == percent || (*end && strcmp(end, "%") != 0) || !(b->tolerance >= 0 && b->tolerance <= 1000))) {
        wg_textf(error, "waitgate: --tolerance: `%s` is not a percentage\n", percent);
        return false;
    }
    if (!path || (args->value[WG_OPT_UPDATE] && access(path, F_OK) != 0))
        return true;
    size_t size;
    uint8_t *table = wg_file_read(path, &size, message, sizeof message);
    if (!table) {
        wg_textf(error, "waitgate: --baseline: %s (--update makes it)\n", message);
        return false;
    }
    const bool right = read_table(b, path, (const char *)table, all, result, error);
    free(table);
    if (args->value[WG_OPT_UPDATE])
        b->missing = 0;
    return right;
}

bool wg_baseline_write(const wg_baseline *b, const wg_args *args, const wg_tests *all, const wg_test_result *result,
                       wg_text *error)
{
    const char *path = args->value[WG_OPT_BASELINE];
    char message[512];
    wg_text out = {0};
    if (!args->value[WG_OPT_UPDATE])
        return true;
    if (!path) {
        wg_textf(error, "waitgate: --update writes the file that --baseline names\n");
        return false;
    }
    wg_text_add(&out, wg_text_of(&b->others), b->others.size);
    for (size_t i = 0; i < all->count; i++) {
        const uint64_t cycles = result[i].verdict == WG_VERDICT_PASS ? result[i].cycles : result[i].baseline;
        if (cycles)
            wg_textf(&out, "%s\t%llu\n", all->at[i].name, (unsigned long long)cycles);
    }
    const bool ok = !out.failed && wg_file_write(path, wg_text_of(&out), out.size, message, sizeof message);
    if (!ok)
        wg_textf(error, "waitgate: --baseline: %s\n", out.failed ? "out of memory" : message);
    wg_text_free(&out);
    return ok;
}
