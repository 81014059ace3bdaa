/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .tasm reader, in two passes over the lines: the first finds labels and constants, the second
 * assembles. Every error is collected; reading continues at the next line.
 */
#include "cli/tasm_internal.h"
#include "arch/arch.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_NESTING = 8, MAX_DELAY = 1 << 30 };
typedef enum section { SECTION_NONE, SECTION_THREAD, SECTION_CORE, SECTION_L1 } section;

typedef struct repeat {
    size_t start;
    int64_t count;
    uint32_t line;
    uint32_t delay; /* before it: not repeated */
} repeat;

typedef struct reader {
    wg_tasm *t;
    bool first_pass;
    section section;
    unsigned index;             /* of the thread or core */
    size_t words[WG_THREADS];   /* first pass: counted */
    uint32_t delay[WG_THREADS]; /* for the next word */
    repeat open[MAX_NESTING];
    unsigned depth;
} reader;

void wg_tasm_fail(wg_tasm *t, uint32_t line, size_t column, const char *format, ...)
{
    if (t->errors >= WG_TASM_MAX_ERRORS)
        return;
    wg_tasm_error *grown = wg_tasm_grow(t, t->error, t->errors, sizeof *grown);
    if (!grown)
        return;
    t->error = grown;
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    t->error[t->errors] = (wg_tasm_error){line, (uint32_t)column, wg_strdup(message)};
    if (t->error[t->errors].message)
        t->errors++;
    else
        t->out_of_memory = true;
}

/* Room for one more element, in powers of two. NULL (and a flag) if the host has no memory. */
void *wg_tasm_grow(wg_tasm *t, void *list, size_t count, size_t element_bytes)
{
    if (count & (count - 1) || (count != 0 && count < 4))
        return list;
    void *grown = wg_realloc(list, (count ? count * 2 : 4) * element_bytes);
    if (!grown)
        t->out_of_memory = true;
    return grown;
}

void wg_tasm_space(wg_tasm_line *l)
{
    while (l->at < l->length && (l->text[l->at] == ' ' || l->text[l->at] == '\t' || l->text[l->at] == '\r'))
        l->at++;
}

static bool name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

size_t wg_tasm_name(wg_tasm_line *l, const char **name)
{
    wg_tasm_space(l);
    size_t start = l->at;
    if (l->at < l->length && isdigit((unsigned char)l->text[l->at]))
        return 0;
    while (l->at < l->length && name_char(l->text[l->at]))
        l->at++;
    *name = l->text + start;
    return l->at - start;
}

bool wg_tasm_accept(wg_tasm_line *l, char c)
{
    wg_tasm_space(l);
    if (l->at >= l->length || l->text[l->at] != c)
        return false;
    l->at++;
    return true;
}

bool wg_tasm_is(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(name, word, length) == 0;
}

bool wg_tasm_want(wg_tasm *t, wg_tasm_line *l, char c)
{
    if (wg_tasm_accept(l, c))
        return true;
    wg_tasm_fail(t, l->number, l->at + 1, "`%c` is missing here", c);
    return false;
}

bool wg_tasm_end(wg_tasm *t, wg_tasm_line *l)
{
    wg_tasm_space(l);
    if (l->at >= l->length)
        return true;
    wg_tasm_fail(t, l->number, l->at + 1, "nothing more is expected on this line");
    return false;
}

static size_t hash(const char *name, size_t length)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h ^ h >> 15;
}

static wg_tasm_symbol *find_symbol(const wg_tasm *t, const char *name, size_t length)
{
    uint32_t i = t->buckets ? t->bucket[hash(name, length) & (t->buckets - 1)] : 0;
    for (; i; i = t->symbol[i - 1].next)
        if (strncmp(t->symbol[i - 1].name, name, length) == 0 && t->symbol[i - 1].name[length] == 0)
            return &t->symbol[i - 1];
    return NULL;
}

static void into_bucket(wg_tasm *t, size_t i)
{
    uint32_t *bucket = &t->bucket[hash(t->symbol[i].name, strlen(t->symbol[i].name)) & (t->buckets - 1)];
    t->symbol[i].next = *bucket;
    *bucket = (uint32_t)i + 1;
}

/* At least as many buckets as symbols; false: no memory. */
static bool more_buckets(wg_tasm *t)
{
    if (t->symbols < t->buckets)
        return true;
    size_t buckets = t->buckets ? 2 * t->buckets : 64;
    uint32_t *bucket = wg_calloc(buckets, sizeof *bucket);
    if (!bucket) {
        t->out_of_memory = true;
        return false;
    }
    free(t->bucket);
    t->bucket = bucket;
    t->buckets = buckets;
    for (size_t i = 0; i < t->symbols; i++)
        into_bucket(t, i);
    return true;
}

static bool resolve(void *user, const char *name, size_t length, int64_t *value)
{
    const wg_tasm_symbol *s = find_symbol(user, name, length);
    if (s)
        *value = s->value;
    return s != NULL;
}

wg_asm_env wg_tasm_env(wg_tasm *t) { return (wg_asm_env){sizeof(wg_asm_env), resolve, t}; }

bool wg_tasm_number(wg_tasm *t, wg_tasm_line *l, const char *what, int64_t least, int64_t most, int64_t *value)
{
    wg_tasm_space(l);
    wg_asm_env env = wg_tasm_env(t);
    wg_asm_error error = {0};
    size_t used = 0;
    if (l->at >= l->length) {
        wg_tasm_fail(t, l->number, l->at + 1, "%s is missing here", what);
        return false;
    }
    if (wg_asm_expression(t->arch, l->text + l->at, l->length - l->at, &env, value, &used, &error) != WG_ASM_OK) {
        wg_tasm_fail(t, l->number, l->at + (error.column ? error.column : 1), "%s", error.message);
        return false;
    }
    if (*value < least || *value > most) {
        wg_tasm_fail(t, l->number, l->at + 1, "%s must be between %lld and %lld, not %lld", what, (long long)least,
                     (long long)most, (long long)*value);
        return false;
    }
    l->at += used;
    return true;
}

bool wg_tasm_define(wg_tasm *t, wg_tasm_line *l, size_t column, const char *name, size_t length, int64_t value,
                    bool label)
{
    int64_t own;
    if (find_symbol(t, name, length) || wg_asm_symbol(t->arch, name, length, &own)) {
        wg_tasm_fail(t, l->number, column, "`%.*s` is already defined%s", (int)length, name,
                     find_symbol(t, name, length) ? "" : " by the instruction set");
        return false;
    }
    if (t->symbols >= WG_TASM_MAX_SYMBOLS) {
        wg_tasm_fail(t, l->number, column, "more than %d symbols", WG_TASM_MAX_SYMBOLS);
        return false;
    }
    wg_tasm_symbol *grown = wg_tasm_grow(t, t->symbol, t->symbols, sizeof *grown);
    if (!grown)
        return false;
    t->symbol = grown;
    if (!more_buckets(t))
        return false;
    char *copy = wg_strndup(name, length);
    if (!copy) {
        t->out_of_memory = true;
        return false;
    }
    t->symbol[t->symbols] = (wg_tasm_symbol){copy, value, label, 0};
    into_bucket(t, t->symbols++);
    return true;
}

static bool add_word(reader *r, wg_tasm_line *l, uint32_t word)
{
    wg_tasm *t = r->t;
    wg_tasm_stream *s = &t->stream[r->index];
    if (r->first_pass) {
        r->words[r->index]++;
        return true;
    }
    if (s->words >= WG_TASM_MAX_WORDS)
        return false;
    wg_tasm_word *grown = wg_tasm_grow(t, s->word, s->words, sizeof *grown);
    if (!grown)
        return false;
    s->word = grown;
    s->word[s->words++] = (wg_tasm_word){word, l->number, r->delay[r->index]};
    r->delay[r->index] = 0;
    return true;
}

static void begin_repeat(reader *r, wg_tasm_line *l)
{
    int64_t count = 1;
    if (!wg_tasm_number(r->t, l, "the count of .repeat", 0, WG_TASM_MAX_WORDS, &count))
        count = 1;
    else
        wg_tasm_end(r->t, l);
    if (r->depth == MAX_NESTING) {
        if (r->first_pass)
            wg_tasm_fail(r->t, l->number, 1, ".repeat is nested more than %d deep", MAX_NESTING);
        return;
    }
    size_t start = r->first_pass ? r->words[r->index] : r->t->stream[r->index].words;
    r->open[r->depth++] = (repeat){start, count, l->number, r->delay[r->index]};
    r->delay[r->index] = 0;
}

static void end_repeat(reader *r, wg_tasm_line *l)
{
    wg_tasm *t = r->t;
    if (r->depth == 0) {
        if (!r->first_pass)
            wg_tasm_fail(t, l->number, 1, ".endr without .repeat");
        return;
    }
    repeat *open = &r->open[--r->depth];
    wg_tasm_stream *s = &t->stream[r->index];
    size_t now = r->first_pass ? r->words[r->index] : s->words;
    uint64_t body = now - open->start, total = open->start + body * (uint64_t)open->count;
    if (total > WG_TASM_MAX_WORDS) {
        if (r->first_pass)
            wg_tasm_fail(t, open->line, 1, "this .repeat makes the stream longer than %d instructions",
                         WG_TASM_MAX_WORDS);
        return;
    }
    if (r->first_pass) {
        r->words[r->index] = (size_t)total;
        return;
    }
    const uint32_t last = r->delay[r->index]; /* the delay after the body's last word */
    if (open->count == 0 || body == 0) {
        s->words = open->start;
        r->delay[r->index] = open->delay + last * (uint32_t)open->count;
        return;
    }
    for (size_t i = now; i < total; i++) {
        wg_tasm_word *grown = wg_tasm_grow(t, s->word, s->words, sizeof *grown);
        if (!grown)
            return;
        s->word = grown;
        s->word[s->words] = s->word[s->words - body];
        s->word[s->words].delay += i == now ? last : 0;
        s->words++;
    }
    s->word[open->start].delay += open->delay;
}

static void thread_directive(reader *r, wg_tasm_line *l, const char *name, size_t length)
{
    wg_tasm *t = r->t;
    if (wg_tasm_is(name, length, ".repeat")) {
        begin_repeat(r, l);
    } else if (wg_tasm_is(name, length, ".endr")) {
        end_repeat(r, l);
    } else if (wg_tasm_is(name, length, ".delay")) {
        int64_t cycles;
        if (!r->first_pass && wg_tasm_number(t, l, "the delay", 0, MAX_DELAY, &cycles) && wg_tasm_end(t, l))
            r->delay[r->index] += (uint32_t)cycles;
    } else if (!r->first_pass) {
        static const char *const known[] = {".repeat", ".endr", ".delay",  ".word", ".ttinsn", ".thread",
                                            ".core",   ".l1",   ".expect", ".set",  ".arch"};
        wg_near near;
        wg_near_begin(&near, name, length);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            wg_near_offer(&near, known[i]);
        const char *best = wg_near_best(&near);
        wg_tasm_fail(t, l->number, (size_t)(name - l->text) + 1,
                     "there is no directive `%.*s` in a .thread section%s%s%s", (int)length, name,
                     best ? "; did you mean `" : "", best ? best : "", best ? "`?" : "");
    }
}

static void thread_line(reader *r, wg_tasm_line *l)
{
    wg_tasm *t = r->t;
    size_t start = l->at;
    const char *name;
    size_t length = wg_tasm_name(l, &name);
    if (length && name[0] == '.' && !wg_tasm_is(name, length, ".word") && !wg_tasm_is(name, length, ".ttinsn")) {
        thread_directive(r, l, name, length);
        return;
    }
    if (r->first_pass) {
        add_word(r, l, 0);
        return;
    }
    wg_asm_env env = wg_tasm_env(t);
    wg_asm_error error = {0};
    uint32_t word = 0;
    wg_asm_code code = wg_assemble_line_env(t->arch, l->text + start, l->length - start, &env, &word, &error);
    if (code == WG_ASM_OK)
        add_word(r, l, word);
    else if (code != WG_ASM_BLANK)
        wg_tasm_fail(t, l->number, start + error.column, "%s", error.message);
}

static void open_thread(reader *r, wg_tasm_line *l)
{
    int64_t n;
    if (!wg_tasm_number(r->t, l, "the thread", 0, WG_THREADS - 1, &n) || !wg_tasm_end(r->t, l)) {
        r->section = SECTION_NONE;
        return;
    }
    r->section = SECTION_THREAD;
    r->index = (unsigned)n;
    r->t->stream[n].present = true;
}

void wg_tasm_quote(wg_text *to, const char *name)
{
    for (const unsigned char *p = (const unsigned char *)name; *p; p++)
        wg_textf(to, *p < ' ' || *p == '"' || *p == '\\' || *p >= 0x7F ? "\\%03o" : "%c", *p);
}

/* Marks the following text as this line of the program. */
static void add_marker(wg_text *to, uint32_t line, const char *name)
{
    wg_textf(to, "# %u \"", line);
    wg_tasm_quote(to, name);
    wg_textf(to, "\"\n");
}

static void open_core(reader *r, wg_tasm_line *l)
{
    wg_tasm *t = r->t;
    const char *name;
    size_t length = wg_tasm_name(l, &name);
    for (unsigned i = 0; i < WG_CORES; i++) {
        if (!wg_tasm_is(name, length, wg_tasm_core_names[i]))
            continue;
        wg_tasm_core *core = &t->core[i];
        r->section = SECTION_CORE;
        r->index = i;
        if (!core->present) {
            /* Default places: 16 KiB each, from 64 KiB on. */
            core->address = 0x10000 + 0x4000 * i;
            core->line = l->number;
            core->present = true;
        }
        int64_t address;
        if (wg_tasm_accept(l, ',') && wg_tasm_number(t, l, "the address", 0, UINT32_MAX, &address)) {
            if (address % 4)
                wg_tasm_fail(t, l->number, 1, "code must start at a multiple of 4");
            core->address = (uint32_t)address;
        }
        wg_tasm_end(t, l);
        if (!r->first_pass)
            add_marker(&core->source, l->number + 1, t->name);
        return;
    }
    r->section = SECTION_NONE;
    wg_tasm_fail(t, l->number, l->at - length + 1, "a core is B, NC, T0, T1 or T2");
}

static void open_l1(reader *r, wg_tasm_line *l)
{
    wg_tasm *t = r->t;
    int64_t address = 0;
    r->section = SECTION_L1;
    if (r->first_pass)
        return;
    if (wg_tasm_number(t, l, "the address", 0, UINT32_MAX, &address))
        wg_tasm_end(t, l);
    wg_tasm_block *grown = wg_tasm_grow(t, t->block, t->blocks, sizeof *grown);
    if (!grown) {
        r->section = SECTION_NONE;
        return;
    }
    t->block = grown;
    t->block[t->blocks++] = (wg_tasm_block){.address = (uint32_t)address, .line = l->number};
}

static void set_arch(reader *r, wg_tasm_line *l)
{
    wg_tasm *t = r->t;
    const char *name;
    size_t length = wg_tasm_name(l, &name);
    wg_arch_id arch;
    if (!r->first_pass)
        return;
    if (!wg_arch_by_name(name, length, &arch)) {
        wg_tasm_fail(t, l->number, l->at - length + 1, "the architectures are bh and wh");
        return;
    }
    if (t->symbols || t->stream[0].present || t->stream[1].present || t->stream[2].present)
        wg_tasm_fail(t, l->number, 1, ".arch must come before constants and sections");
    t->arch = arch;
    t->has_arch = true;
    wg_tasm_end(t, l);
}

static void set_constant(reader *r, wg_tasm_line *l)
{
    if (!r->first_pass)
        return;
    const char *name;
    size_t length = wg_tasm_name(l, &name);
    size_t column = l->at - length + 1;
    int64_t value;
    if (!length) {
        wg_tasm_fail(r->t, l->number, l->at + 1, "a name is missing here");
        return;
    }
    if (wg_tasm_want(r->t, l, ',') && wg_tasm_number(r->t, l, "the value", INT64_MIN, INT64_MAX, &value) &&
        wg_tasm_end(r->t, l))
        wg_tasm_define(r->t, l, column, name, length, value, false);
}

/* Directives valid in every section; false: it is not one. */
static bool global_directive(reader *r, wg_tasm_line *l, const char *name, size_t length)
{
    bool opens = true;
    unsigned depth = r->depth;
    if (wg_tasm_is(name, length, ".thread"))
        open_thread(r, l);
    else if (wg_tasm_is(name, length, ".core"))
        open_core(r, l);
    else if (wg_tasm_is(name, length, ".l1"))
        open_l1(r, l);
    else
        opens = false;
    if (opens) {
        if (depth && r->first_pass)
            wg_tasm_fail(r->t, r->open[depth - 1].line, 1, "this .repeat has no .endr in its section");
        r->depth = 0;
        return true;
    }
    if (wg_tasm_is(name, length, ".expect")) {
        if (!r->first_pass)
            wg_tasm_expect_line(r->t, l);
        return true;
    }
    if (wg_tasm_is(name, length, ".arch")) {
        set_arch(r, l);
        return true;
    }
    if (r->section != SECTION_CORE && (wg_tasm_is(name, length, ".set") || wg_tasm_is(name, length, ".equ"))) {
        set_constant(r, l);
        return true;
    }
    return false;
}

static void label(reader *r, wg_tasm_line *l, const char *name, size_t length)
{
    size_t column = (size_t)(name - l->text) + 1;
    if (!r->first_pass)
        return;
    if (r->section == SECTION_THREAD && r->depth)
        wg_tasm_fail(r->t, l->number, column, "a label inside .repeat would be defined more than once");
    else if (r->section == SECTION_THREAD)
        wg_tasm_define(r->t, l, column, name, length, (int64_t)r->words[r->index], true);
    else
        wg_tasm_fail(r->t, l->number, column, "labels belong in a .thread or .core section");
}

static void plain_line(reader *r, wg_tasm_line *l)
{
    wg_tasm_space(l);
    if (l->at >= l->length)
        return;
    switch (r->section) {
    case SECTION_THREAD: thread_line(r, l); break;
    case SECTION_L1: {
        const char *name = "";
        size_t length = wg_tasm_name(l, &name), column = l->at - length + 1;
        if (!r->first_pass && !wg_tasm_data(r->t, l, name, length, &r->t->block[r->t->blocks - 1]))
            wg_tasm_fail(r->t, l->number, column, "there is no data directive `%.*s`", (int)length, name);
        break;
    }
    default:
        if (!r->first_pass)
            wg_tasm_fail(r->t, l->number, l->at + 1, "this line is in no section: .thread, .core or .l1 opens one");
        break;
    }
}

/* Where the line's comment starts: at '#', "//" or, outside core sections, ';'; not inside a string. */
static size_t comment_start(const char *text, size_t length, bool semicolon)
{
    bool string = false;
    for (size_t i = 0; i < length; i++) {
        if (string && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            string = !string;
        else if (!string && (text[i] == '#' || (semicolon && text[i] == ';') ||
                             (text[i] == '/' && i + 1 < length && text[i + 1] == '/')))
            return i;
    }
    return length;
}

static void read_line(reader *r, const char *text, size_t length, uint32_t number)
{
    wg_tasm_line l = {text, comment_start(text, length, r->section != SECTION_CORE), 0, number};
    const char *name;
    size_t n = wg_tasm_name(&l, &name);
    if (n && name[0] == '.' && global_directive(r, &l, name, n)) {
        if (r->section == SECTION_CORE && !r->first_pass && !wg_tasm_is(name, n, ".core"))
            wg_textf(&r->t->core[r->index].source, "\n");
        return;
    }
    if (r->section == SECTION_CORE) {
        l.at = 0;
        if (!r->first_pass)
            wg_tasm_core_line(r->t, &l, r->index);
        return;
    }
    if (n && wg_tasm_accept(&l, ':'))
        label(r, &l, name, n);
    else
        l.at = 0;
    plain_line(r, &l);
}

static void read_all(reader *r)
{
    uint32_t number = 1;
    for (size_t at = 0; at < r->t->source_bytes && r->t->errors < WG_TASM_MAX_ERRORS; number++) {
        const char *line = r->t->source + at;
        const char *end = memchr(line, '\n', r->t->source_bytes - at);
        size_t length = end ? (size_t)(end - line) : r->t->source_bytes - at;
        read_line(r, line, length, number);
        at += length + 1;
    }
    if (r->depth && r->first_pass)
        wg_tasm_fail(r->t, r->open[r->depth - 1].line, 1, "this .repeat has no .endr in its section");
}

static int by_place(const void *a, const void *b)
{
    const wg_tasm_error *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* Merges an error found by both passes. */
static void tidy_errors(wg_tasm *t)
{
    if (t->errors < 2)
        return;
    qsort(t->error, t->errors, sizeof *t->error, by_place);
    size_t kept = 1;
    for (size_t i = 1; i < t->errors; i++) {
        wg_tasm_error *last = &t->error[kept - 1];
        if (last->line == t->error[i].line && strcmp(last->message, t->error[i].message) == 0)
            free(t->error[i].message);
        else
            t->error[kept++] = t->error[i];
    }
    t->errors = kept;
}

/* Both passes over the text, which begins in a section of this kind, and of this thread or core. */
static bool parse(wg_tasm *t, section kind, unsigned index)
{
    reader first = {.t = t, .first_pass = true, .section = kind, .index = index}, second = first;
    second.first_pass = false;
    if (kind == SECTION_CORE)
        add_marker(&t->core[index].source, 1, t->name);
    read_all(&first);
    for (unsigned i = 0; i < WG_THREADS; i++)
        t->stream[i].present = false;
    if (first.words[0] > WG_TASM_MAX_WORDS || first.words[1] > WG_TASM_MAX_WORDS || first.words[2] > WG_TASM_MAX_WORDS)
        wg_tasm_fail(t, 1, 1, "a stream is longer than %d instructions", WG_TASM_MAX_WORDS);
    else
        read_all(&second);
    tidy_errors(t);
    return t->errors == 0 && !t->out_of_memory;
}

static bool begin(wg_tasm *t, const char *name, const char *source, size_t bytes, wg_arch_id arch)
{
    *t = (wg_tasm){.source = source, .source_bytes = bytes, .arch = arch, .name = wg_strdup(name)};
    t->out_of_memory = !t->name;
    return t->name != NULL;
}

bool wg_tasm_parse(wg_tasm *t, const char *name, const char *source, size_t bytes, wg_arch_id arch)
{
    return begin(t, name, source, bytes, arch) && parse(t, SECTION_NONE, 0);
}

bool wg_tasm_parse_core(wg_tasm *t, const char *name, const char *source, size_t bytes, wg_arch_id arch, unsigned core,
                        uint32_t address)
{
    if (!begin(t, name, source, bytes, arch))
        return false;
    t->core[core] = (wg_tasm_core){.present = true, .line = 1, .address = address};
    return parse(t, SECTION_CORE, core);
}

void wg_tasm_free(wg_tasm *t)
{
    for (unsigned i = 0; i < WG_THREADS; i++)
        free(t->stream[i].word);
    for (unsigned i = 0; i < WG_CORES; i++) {
        wg_text_free(&t->core[i].source);
        wg_elf_close(t->core[i].elf);
    }
    for (size_t i = 0; i < t->blocks; i++)
        wg_text_free(&t->block[i].bytes);
    for (size_t i = 0; i < t->expects; i++) {
        wg_text_free(&t->expect[i].bytes);
        free(t->expect[i].text);
        free(t->expect[i].code);
    }
    for (size_t i = 0; i < t->symbols; i++)
        free(t->symbol[i].name);
    for (size_t i = 0; i < t->errors; i++)
        free(t->error[i].message);
    free(t->block);
    free(t->expect);
    free(t->symbol);
    free(t->bucket);
    free(t->error);
    free(t->name);
    memset(t, 0, sizeof *t);
}

void wg_report_error(wg_text *out, const char *name, const char *source, size_t bytes, uint32_t line, uint32_t column,
                     const char *message)
{
    wg_textf(out, "%s:%u:", name, line);
    if (column)
        wg_textf(out, "%u:", column);
    wg_textf(out, " error: %s\n", message);
    const char *at = source, *end = source + bytes;
    for (uint32_t n = 1; at && n < line; n++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || at >= end)
        return;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    wg_textf(out, "    %.*s\n", (int)(length < 400 ? length : 400), at);
    if (!column || column > length + 1 || column > 400)
        return;
    wg_text_add(out, "    ", 4);
    for (size_t i = 0; i + 1 < column; i++)
        wg_text_add(out, at[i] == '\t' ? "\t" : " ", 1);
    wg_text_add(out, "^\n", 2);
}

void wg_tasm_report(const wg_tasm *t, wg_text *out)
{
    for (size_t i = 0; i < t->errors; i++)
        wg_report_error(out, t->name, t->source, t->source_bytes, t->error[i].line, t->error[i].column,
                        t->error[i].message);
    if (t->out_of_memory)
        wg_textf(out, "%s: out of memory\n", t->name ? t->name : "waitgate");
}
