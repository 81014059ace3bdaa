/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the tests. A list of tests has one per line (docs/testing.md):
 *
 *     NAME COMMAND [=> STATUS] [fails: REASON]        # comment
 */
#include "cli/test.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/session.h"

enum { MOST_DEPTH = 16, MOST_SEEDS = 100000, MOST_NAME = 4096 };

typedef struct planner {
    wg_tests *all;
    const wg_args *args;
    wg_text *error;
    uint64_t seeds;
    struct stat within[MOST_DEPTH + 1]; /* the folders from the named one to the present one */
} planner;

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), e = strlen(ending);
    return n > e && strcmp(path + n - e, ending) == 0;
}

static void free_test(wg_test *t)
{
    for (unsigned i = 0; i < t->words; i++)
        free(t->word[i]);
    free(t->name);
    free(t->folder);
    free(t->file);
    free(t->fails);
    *t = (wg_test){0};
}

void wg_tests_free(wg_tests *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_test(&all->at[i]);
    free(all->at);
    *all = (wg_tests){0};
}

/* False: there is no memory for it, or it has too many words. */
static bool add_word(wg_test *t, const char *word, size_t length)
{
    if (t->words == WG_TEST_WORDS || !(t->word[t->words] = wg_strndup(word, length)))
        return false;
    t->words++;
    return true;
}

static bool say(wg_test *t, const char *word) { return add_word(t, word, strlen(word)); }

/* ---- adding ---- */

static bool wanted(const planner *p, const char *name)
{
    bool any = false;
    for (size_t i = 0; i < p->args->givens; i++) {
        const char *pattern = p->args->given[i].value;
        if (p->args->given[i].option != WG_OPT_FILTER)
            continue;
        any = true;
        if (strpbrk(pattern, "*?[") ? fnmatch(pattern, name, 0) == 0 : strstr(name, pattern) != NULL)
            return true;
    }
    return !any;
}

/* Takes the test over, or frees it. */
static bool add_test(planner *p, wg_test *t)
{
    wg_tests *all = p->all;
    if (!wanted(p, t->name)) {
        free_test(t);
        return true;
    }
    wg_test *more = all->at;
    if ((all->count & (all->count - 1)) == 0) /* full only at powers of two */
        more = all->count < WG_TESTS_MOST ? wg_realloc(all->at, (all->count ? 2 * all->count : 1) * sizeof *all->at)
                                          : NULL;
    if (!more) {
        wg_textf(p->error,
                 all->count >= WG_TESTS_MOST ? "waitgate: there are more than %d tests\n" : "waitgate: out of memory\n",
                 WG_TESTS_MOST);
        free_test(t);
        return false;
    }
    all->at = more;
    all->at[all->count++] = *t;
    *t = (wg_test){0};
    return true;
}

static bool copy_test(const wg_test *t, wg_test *to)
{
    bool ok = true;
    *to = (wg_test){.line = t->line, .status = t->status};
    for (unsigned i = 0; ok && i < t->words; i++)
        ok = say(to, t->word[i]);
    return ok && (to->folder = wg_strdup(t->folder)) && (to->file = wg_strdup(t->file)) &&
           (!t->fails || (to->fails = wg_strdup(t->fails)));
}

/* Adds the test, and a copy for each seed of --seeds. */
static bool add_with_seeds(planner *p, wg_test *t)
{
    char name[MOST_NAME], seed[32];
    const char *cycles = p->args->value[WG_OPT_MAX_CYCLES];
    if (cycles && (!say(t, "--max-cycles") || !say(t, cycles))) {
        free_test(t);
        wg_textf(p->error, "waitgate: out of memory\n");
        return false;
    }
    bool ok = true;
    for (uint64_t i = 1; ok && i <= p->seeds; i++) {
        wg_test seeded;
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)i);
        snprintf(name, sizeof name, "%s@%s", t->name, seed);
        ok = copy_test(t, &seeded) && say(&seeded, "--seed") && say(&seeded, seed) && (seeded.name = wg_strdup(name));
        if (ok) {
            ok = add_test(p, &seeded);
        } else {
            free_test(&seeded);
            wg_textf(p->error, "waitgate: out of memory\n");
        }
    }
    if (ok)
        return add_test(p, t);
    free_test(t);
    return false;
}

static bool add_program(planner *p, const char *path)
{
    const char *checks = p->args->value[WG_OPT_CHECKS];
    wg_test t = {0};
    bool ok = say(&t, "waitgate") && say(&t, checks ? "check" : "run") && (t.name = wg_strdup(path)) &&
              (t.folder = wg_strdup("")) && (t.file = wg_strdup(path));
    if (ok && checks)
        ok = say(&t, "--checks") && say(&t, checks);
    /* A leading dash would make it an option. */
    wg_text file = {0};
    wg_textf(&file, "%s%s", *path == '-' ? "./" : "", path);
    ok = ok && !file.failed && say(&t, wg_text_of(&file));
    wg_text_free(&file);
    if (ok)
        return add_with_seeds(p, &t);
    free_test(&t);
    wg_textf(p->error, "waitgate: out of memory\n");
    return false;
}

/* ---- lists ---- */

typedef struct list {
    planner *p;
    const char *path, *source;
    size_t bytes;
    unsigned line;
} list;

static bool complain(list *l, const char *at, const char *begin, const char *message)
{
    wg_report_error(l->p->error, l->path, l->source, l->bytes, l->line, (uint32_t)(at - begin) + 1, message);
    return false;
}

/* The next word of a line: up to white space, or between double quotes. False: the line is over. */
static bool next_word(const char **at, const char *end, const char **word, size_t *length)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
    if (*at == end || **at == '#')
        return false;
    char until = **at == '"' ? '"' : ' ';
    *at += until == '"';
    *word = *at;
    while (*at < end && (until == '"' ? **at != '"' : **at != ' ' && **at != '\t' && **at != '\r'))
        ++*at;
    *length = (size_t)(*at - *word);
    *at += until == '"' && *at < end;
    return true;
}

/* After the command: => STATUS, fails: REASON. */
static bool read_ending(list *l, wg_test *t, const char *begin, const char *word, size_t length, const char **at,
                        const char *end)
{
    char name[32] = "";
    if (length == 2) {
        const char *from = *at;
        if (next_word(at, end, &word, &length) && length < sizeof name)
            memcpy(name, word, length);
        t->status = wg_status_named(name);
        return t->status >= 0 || complain(l, from, begin,
                                          "after => comes the expected end: done, expectation, undefined, hang, "
                                          "findings, limit or error");
    }
    while (*at < end && **at == ' ')
        ++*at;
    const char *stop = end;
    while (stop > *at && (stop[-1] == ' ' || stop[-1] == '\r'))
        stop--;
    if (stop == *at)
        return complain(l, *at, begin, "after `fails:` comes the reason");
    t->fails = wg_strndup(*at, (size_t)(stop - *at));
    *at = end;
    return t->fails != NULL;
}

static bool is_ending(const char *word, size_t length)
{
    return (length == 2 && memcmp(word, "=>", 2) == 0) || (length == 6 && memcmp(word, "fails:", 6) == 0);
}

static bool read_words(list *l, wg_test *t, const char *begin, const char *end)
{
    const char *at = begin, *word;
    size_t length;
    bool ended = false;
    while (next_word(&at, end, &word, &length)) {
        if (t->words > 1 && is_ending(word, length)) {
            ended = true;
            if (!read_ending(l, t, begin, word, length, &at, end))
                return false;
        } else if (ended) {
            return complain(l, word, begin, "only `=> STATUS` and `fails: REASON` can follow the command");
        } else if (!t->name) {
            t->name = wg_strndup(word, length);
            if (!t->name || !say(t, "waitgate"))
                return complain(l, word, begin, "out of memory");
        } else if (t->words == 1 && !(length == 3 && memcmp(word, "run", 3) == 0) &&
                   !(length == 5 && memcmp(word, "check", 5) == 0)) {
            return complain(l, word, begin, "after its name comes the test's command, `run` or `check`");
        } else if (!add_word(t, word, length)) {
            return complain(l, word, begin, "a test has at most 64 words");
        }
    }
    return t->words != 1 || complain(l, at, begin, "after its name comes the test's command, `run` or `check`");
}

static bool read_line(list *l, const char *begin, const char *end)
{
    wg_test t = {.line = l->line};
    const char *slash = strrchr(l->path, '/');
    if (!read_words(l, &t, begin, end)) {
        free_test(&t);
        return false;
    }
    if (!t.name)
        return true;
    t.file = wg_strdup(l->path);
    t.folder = slash ? wg_strndup(l->path, slash == l->path ? 1 : (size_t)(slash - l->path)) : wg_strdup("");
    if (t.file && t.folder)
        return add_with_seeds(l->p, &t);
    free_test(&t);
    return complain(l, begin, begin, "out of memory");
}

static bool add_list(planner *p, const char *path)
{
    char message[512];
    size_t bytes;
    uint8_t *source = wg_file_read(path, &bytes, message, sizeof message);
    if (!source) {
        wg_textf(p->error, "waitgate: %s\n", message);
        return false;
    }
    list l = {p, path, (const char *)source, bytes, 0};
    bool right = true;
    for (const char *at = l.source, *stop = at + bytes; at < stop;) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        end = end ? end : stop;
        l.line++;
        right = read_line(&l, at, end) && right;
        at = end + (end < stop);
    }
    free(source);
    return right;
}

/* ---- folders ---- */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* A chip file has tiles; other YAML files in a folder are not tests. */
static bool has_tiles(const char *path)
{
    char message[512];
    size_t bytes;
    uint8_t *source = wg_file_read(path, &bytes, message, sizeof message);
    bool found = source && (memmem(source, bytes, "\ntiles:", 7) || (bytes > 6 && memcmp(source, "tiles:", 6) == 0));
    free(source);
    return found;
}

static bool add_folder(planner *p, const char *path, unsigned depth);

static bool add_found(planner *p, const char *path, unsigned depth)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return true; /* it has just been removed, or is a dangling link */
    if (S_ISDIR(st.st_mode))
        return add_folder(p, path, depth + 1);
    if (ends_in(path, ".tests"))
        return add_list(p, path);
    if (ends_in(path, ".tasm") || (wg_is_chip_file(path) && has_tiles(path)))
        return add_program(p, path);
    return true;
}

static char **names_in(DIR *folder, size_t *count)
{
    char **name = NULL;
    const struct dirent *entry;
    for (*count = 0; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char **more = (*count & (*count - 1)) == 0 ? wg_realloc(name, (*count ? 2 * *count : 1) * sizeof *name) : name;
        if (!more)
            break;
        name = more;
        if ((name[*count] = wg_strdup(entry->d_name)) != NULL)
            ++*count;
    }
    if (*count)
        qsort(name, *count, sizeof *name, by_name);
    return name;
}

/* Is it one of the folders that it lies in? A link has led back there. */
static bool leads_back(const planner *p, const struct stat *st, unsigned depth)
{
    bool back = false;
    for (unsigned i = 0; i < depth; i++)
        back |= p->within[i].st_dev == st->st_dev && p->within[i].st_ino == st->st_ino;
    return back;
}

static bool add_folder(planner *p, const char *path, unsigned depth)
{
    char full[MOST_NAME];
    struct stat st;
    if (stat(path, &st) == 0 && leads_back(p, &st, depth))
        return true;
    if (depth > MOST_DEPTH) {
        wg_textf(p->error, "waitgate: %s: folders are nested more than %d deep\n", path, MOST_DEPTH);
        return false;
    }
    p->within[depth] = st;
    DIR *folder = opendir(path);
    if (!folder) {
        wg_textf(p->error, "waitgate: %s: the folder cannot be read\n", path);
        return false;
    }
    size_t count, length = strlen(path);
    char **name = names_in(folder, &count);
    closedir(folder);
    bool right = true;
    for (size_t i = 0; i < count; i++) {
        bool here = strcmp(path, ".") == 0; /* names without ./ */
        int n = snprintf(full, sizeof full, "%s%s%s", here ? "" : path,
                         here || (length && path[length - 1] == '/') ? "" : "/", name[i]);
        if (n > 0 && (size_t)n < sizeof full)
            right = add_found(p, full, depth) && right;
        free(name[i]);
    }
    free(name);
    return right;
}

static bool add_named(planner *p, const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return add_list(p, path);
    if (stat(path, &st) != 0) {
        wg_textf(p->error, "waitgate: there is no file or folder `%s`\n", path);
        return false;
    }
    if (S_ISDIR(st.st_mode))
        return add_folder(p, path, 0);
    if (ends_in(path, ".tests"))
        return add_list(p, path);
    if (ends_in(path, ".tasm") || wg_is_chip_file(path))
        return add_program(p, path);
    wg_textf(
        p->error,
        "waitgate: `%s` is not a test: a test is a .tasm program, a chip file, or a line of a list (.tests), which "
        "can name ELF files\n",
        path);
    return false;
}

static int by_test_name(const void *a, const void *b)
{
    return strcmp((*(const wg_test *const *)a)->name, (*(const wg_test *const *)b)->name);
}

/* Names must differ: results are identified by name. */
static bool names_differ(const wg_tests *all, wg_text *error)
{
    const wg_test **sorted = all->count ? wg_calloc(all->count, sizeof *sorted) : NULL;
    bool right = sorted || !all->count;
    for (size_t i = 0; sorted && i < all->count; i++)
        sorted[i] = &all->at[i];
    if (sorted)
        qsort(sorted, all->count, sizeof *sorted, by_test_name);
    for (size_t i = 1; sorted && i < all->count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0) {
            wg_textf(error, "waitgate: there are two tests called `%s`, in %s and in %s\n", sorted[i]->name,
                     sorted[i - 1]->file, sorted[i]->file);
            right = false;
        }
    free(sorted);
    return right;
}

bool wg_tests_plan(wg_tests *all, const wg_args *args, wg_text *error)
{
    planner p = {.all = all, .args = args, .error = error};
    *all = (wg_tests){0};
    if (!wg_option_number(args, WG_OPT_SEEDS, "seeds", &p.seeds, error))
        return false;
    if (p.seeds > MOST_SEEDS) {
        wg_textf(error, "waitgate: --seeds: at most %d\n", MOST_SEEDS);
        return false;
    }
    if (!args->files) {
        wg_textf(error, "waitgate: which tests? Name files or folders\n");
        return false;
    }
    bool right = true;
    for (size_t i = 0; i < args->files; i++)
        right = add_named(&p, args->file[i]) && right;
    return right && names_differ(all, error);
}
