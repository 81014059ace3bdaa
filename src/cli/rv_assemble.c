/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small RISC-V assembler: two passes over the text. The first gives labels their addresses, the second writes. .rept and .irp are
 * expanded as text in both.
 */
#include "cli/rv_assemble.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/rv_internal.h"

enum { MOST_SYMBOLS = 1 << 16, MOST_BYTES = 1 << 24, DEEPEST = 16 };

void wg_rv_fail(wg_rv *a, const char *format, ...)
{
    char message[300];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (a->second || a->lost)
        a->tell(a->user, a->here ? a->here : a->line, message);
    a->errors++;
}

/* ---- text ---- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool wg_rv_is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$';
}

void wg_rv_skip(wg_rv_cursor *c)
{
    while (c->at < c->end && is_space(*c->at))
        c->at++;
}

bool wg_rv_take(wg_rv_cursor *c, char what)
{
    wg_rv_skip(c);
    if (c->at == c->end || *c->at != what)
        return false;
    c->at++;
    return true;
}

size_t wg_rv_name(wg_rv_cursor *c, const char **name)
{
    wg_rv_skip(c);
    *name = c->at;
    while (c->at < c->end && wg_rv_is_name(*c->at))
        c->at++;
    return (size_t)(c->at - *name);
}

/* The end of the statement at p: a ';', a comment or the line's end, outside of strings. */
static const char *statement_end(const char *p, const char *end)
{
    for (char quote = 0; p < end && *p != '\n'; p++) {
        if (quote && *p == '\\' && p + 1 < end)
            p++;
        else if (quote)
            quote = *p == quote ? 0 : quote;
        else if (*p == '"')
            quote = *p;
        else if (*p == '\'' && p + 2 < end && p[2] == '\'')
            p += 2;
        else if (*p == ';' || *p == '#')
            break;
    }
    return p;
}

/* ---- symbols ---- */

wg_rv_symbol *wg_rv_symbol_of(wg_rv *a, const char *name, size_t length, bool make)
{
    for (size_t i = 0; i < a->symbols; i++)
        if (strlen(a->symbol[i].name) == length && memcmp(a->symbol[i].name, name, length) == 0)
            return &a->symbol[i];
    if (!make)
        return NULL;
    wg_rv_symbol *more = a->symbols < MOST_SYMBOLS ? wg_realloc(a->symbol, (a->symbols + 1) * sizeof *more) : NULL;
    char *copy = more ? wg_malloc(length + 1) : NULL;
    if (more)
        a->symbol = more;
    if (!copy) {
        a->lost = true;
        wg_rv_fail(a, "out of memory");
        return NULL;
    }
    memcpy(copy, name, length);
    copy[length] = 0;
    more[a->symbols] = (wg_rv_symbol){.name = copy, .section = WG_RV_UNKNOWN};
    return &more[a->symbols++];
}

static void define_label(wg_rv *a, const char *name, size_t length)
{
    if (name[0] >= '0' && name[0] <= '9') { /* a local label may occur several times */
        if (a->second) {
            a->locals_seen++;
            return;
        }
        wg_rv_local *more = wg_realloc(a->local, (a->locals + 1) * sizeof *more);
        if (!more) {
            a->lost = true;
            return;
        }
        a->local = more;
        more[a->locals++] = (wg_rv_local){strtoul(name, NULL, 10), a->section, a->at[a->section]};
        return;
    }
    wg_rv_symbol *s = wg_rv_symbol_of(a, name, length, true);
    if (!s)
        return;
    if (!a->second && s->section != WG_RV_UNKNOWN)
        s->twice = true;
    if (a->second && s->twice)
        wg_rv_fail(a, "symbol `%s' is already defined", s->name);
    else if (a->second && (s->section != a->section || s->value != a->at[a->section]))
        wg_rv_fail(a, "the address of `%s' depends on a constant that is defined later", s->name);
    s->section = a->section;
    s->value = a->at[a->section];
    s->label = true;
}

static void set_symbol(wg_rv *a, wg_rv_cursor *c)
{
    const char *name;
    size_t length = wg_rv_name(c, &name);
    wg_rv_value v;
    if (!length || !wg_rv_take(c, ',') || !wg_rv_expression(a, c, &v)) {
        wg_rv_fail(a, "a constant is a name, a comma and a value");
        return;
    }
    wg_rv_symbol *s = wg_rv_symbol_of(a, name, length, true);
    if (s && v.section != WG_RV_UNKNOWN) {
        s->section = v.section;
        s->value = v.value;
    }
}

/* ---- what is written ---- */

void wg_rv_put(wg_rv *a, uint64_t value, unsigned bytes)
{
    const uint8_t b[8] = {(uint8_t)value,         (uint8_t)(value >> 8),  (uint8_t)(value >> 16),
                          (uint8_t)(value >> 24), (uint8_t)(value >> 32), (uint8_t)(value >> 40),
                          (uint8_t)(value >> 48), (uint8_t)(value >> 56)};
    if (a->at[a->section] + bytes > MOST_BYTES) {
        a->lost = true;
        return;
    }
    if (a->second)
        wg_text_add(&a->out[a->section], (const char *)b, bytes);
    a->at[a->section] += bytes;
}

static void flush_line(wg_rv *a)
{
    if (!a->line_waits)
        return;
    a->line_waits = false;
    if (!a->second || a->section != WG_RV_TEXT)
        return;
    wg_elf_mark *more = wg_realloc(a->mark, (a->marks + 1) * sizeof *more);
    if (!more) {
        a->lost = true;
        return;
    }
    a->mark = more;
    more[a->marks++] = (wg_elf_mark){a->base[WG_RV_TEXT] + a->at[WG_RV_TEXT], a->line};
}

void wg_rv_insn_put(wg_rv *a, uint32_t word)
{
    flush_line(a);
    wg_rv_put(a, word, 4);
}

/* ---- directives ---- */

static void data(wg_rv *a, wg_rv_cursor *c, unsigned bytes)
{
    do {
        wg_rv_value v;
        if (!wg_rv_expression(a, c, &v))
            return;
        wg_rv_put(a, (uint64_t)wg_rv_address(a, &v), bytes);
    } while (wg_rv_take(c, ','));
}

static void string(wg_rv *a, wg_rv_cursor *c, bool terminated)
{
    do {
        if (!wg_rv_take(c, '"')) {
            wg_rv_fail(a, "a string is in double quotes");
            return;
        }
        for (; c->at < c->end && *c->at != '"'; c->at++) {
            char one = *c->at;
            if (one == '\\' && c->at + 1 < c->end) {
                static const char from[] = "ntr0\\\"", to[] = "\n\t\r\0\\\"";
                const char *known = strchr(from, *++c->at);
                one = known ? to[known - from] : *c->at;
            }
            wg_rv_put(a, (uint8_t)one, 1);
        }
        c->at += c->at < c->end;
        if (terminated)
            wg_rv_put(a, 0, 1);
    } while (wg_rv_take(c, ','));
}

static void space(wg_rv *a, wg_rv_cursor *c)
{
    int64_t count, fill = 0;
    if (!wg_rv_constant(a, c, 0, MOST_BYTES, &count) || (wg_rv_take(c, ',') && !wg_rv_constant(a, c, -128, 255, &fill)))
        return;
    while (count-- > 0 && !a->lost)
        wg_rv_put(a, (uint64_t)fill, 1);
}

/* Code is filled with nops. */
static void pad(wg_rv *a, uint32_t unit)
{
    while (a->at[a->section] & (unit - 1) && !a->lost) {
        if (a->section == WG_RV_TEXT && !(a->at[a->section] & 3) && unit >= 4)
            wg_rv_put(a, 0x00000013, 4);
        else
            wg_rv_put(a, 0, 1);
    }
}

static void align(wg_rv *a, wg_rv_cursor *c, bool power)
{
    int64_t to;
    if (!wg_rv_constant(a, c, 0, power ? 16 : 1 << 16, &to))
        return;
    const uint32_t unit = power ? 1u << to : to ? (uint32_t)to : 1;
    if (unit & (unit - 1)) {
        wg_rv_fail(a, "alignment is not a power of 2");
        return;
    }
    if (a->section == WG_RV_TEXT && unit > a->widest)
        a->widest = unit;
    pad(a, unit);
}

static bool is(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(word, name, length) == 0;
}

static bool select_section(wg_rv *a, const char *name, size_t length)
{
    static const struct {
        const char *begin;
        wg_rv_section section;
    } known[] = {{".text", WG_RV_TEXT},  {".rodata", WG_RV_RODATA}, {".srodata", WG_RV_RODATA}, {".data", WG_RV_DATA},
                 {".sdata", WG_RV_DATA}, {".bss", WG_RV_BSS},       {".sbss", WG_RV_BSS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = strlen(known[i].begin);
        if (length >= n && memcmp(name, known[i].begin, n) == 0 && (length == n || name[n] == '.')) {
            a->section = known[i].section;
            return true;
        }
    }
    return false;
}

/* False: it is none. */
static bool directive(wg_rv *a, const char *name, size_t length, wg_rv_cursor *c)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } sizes[] = {{".byte", 1}, {".2byte", 2}, {".half", 2},  {".short", 2}, {".4byte", 4}, {".word", 4},
                 {".long", 4}, {".int", 4},   {".8byte", 8}, {".dword", 8}, {".quad", 8}};
    static const char *const ignored[] = {".globl",     ".global", ".local",         ".weak",
                                          ".type",      ".size",   ".file",          ".option",
                                          ".attribute", ".ident",  ".cfi_startproc", ".cfi_endproc"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (is(name, length, sizes[i].name))
            return data(a, c, sizes[i].bytes), true;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (is(name, length, ignored[i])) {
            c->at = c->end;
            return true;
        }
    if (is(name, length, ".set") || is(name, length, ".equ") || is(name, length, ".equiv"))
        set_symbol(a, c);
    else if (is(name, length, ".ascii") || is(name, length, ".asciz") || is(name, length, ".string"))
        string(a, c, !is(name, length, ".ascii"));
    else if (is(name, length, ".zero") || is(name, length, ".space") || is(name, length, ".skip"))
        space(a, c);
    else if (is(name, length, ".align") || is(name, length, ".p2align") || is(name, length, ".balign"))
        align(a, c, !is(name, length, ".balign"));
    else if (is(name, length, ".section")) {
        const char *section;
        const size_t n = wg_rv_name(c, &section);
        if (!select_section(a, section, n))
            wg_rv_fail(a, "the small assembler has no section `%.*s'", (int)n, section);
        c->at = c->end;
    } else if (!select_section(a, name, length))
        return false;
    return true;
}

/* ".loc 1 LINE": the line of the next instruction. */
static void line_mark(wg_rv *a, wg_rv_cursor *c)
{
    const char *word;
    flush_line(a);
    wg_rv_name(c, &word);
    if (wg_rv_name(c, &word))
        a->line = (uint32_t)strtoul(word, NULL, 10);
    a->line_waits = true;
    c->at = c->end;
}

/* ---- statements ---- */

static void statement(wg_rv *a, const char *p, const char *end)
{
    wg_rv_cursor c = {p, end};
    const char *name;
    size_t length;
    for (;;) {
        length = wg_rv_name(&c, &name);
        wg_rv_cursor after = c;
        if (!length || !wg_rv_take(&after, ':'))
            break;
        c = after;
        define_label(a, name, length);
    }
    wg_rv_skip(&c);
    if (!length) {
        if (c.at < c.end)
            wg_rv_fail(a, "`%.*s' is not an instruction", (int)(c.end - c.at), c.at);
        return;
    }
    if (is(name, length, ".loc")) {
        line_mark(a, &c);
        return;
    }
    wg_rv_cursor after = c;
    if (wg_rv_take(&after, '=') && (after.at == after.end || *after.at != '=')) { /* NAME = VALUE */
        wg_rv_value v;
        wg_rv_symbol *s = wg_rv_symbol_of(a, name, length, true);
        c = after;
        if (wg_rv_expression(a, &c, &v) && s && v.section != WG_RV_UNKNOWN) {
            s->section = v.section;
            s->value = v.value;
        }
    } else if (name[0] == '.') {
        if (!directive(a, name, length, &c)) {
            wg_rv_fail(a, "the small assembler does not know `%.*s'; install the RISC-V binutils", (int)length, name);
            return;
        }
    } else {
        wg_rv_instruction(a, name, length, &c);
        return;
    }
    wg_rv_skip(&c);
    if (c.at < c.end)
        wg_rv_fail(a, "junk at end of line: `%.*s'", (int)(c.end - c.at), c.at);
}

static bool begins_with(const char *p, const char *end, const char *word, wg_rv_cursor *rest)
{
    const char *name;
    wg_rv_cursor c = {p, end};
    const size_t length = wg_rv_name(&c, &name);
    if (rest)
        *rest = c;
    return is(name, length, word);
}

static void text(wg_rv *a, const char *p, const char *end, unsigned depth);

/* Finds the end of the body that begins at `p`, and what follows the matching .endr. NULL if there is no .endr. */
static const char *body_end(const char *p, const char *end, const char **next)
{
    for (unsigned open = 1; p < end;) {
        const char *stop = statement_end(p, end);
        if (begins_with(p, stop, ".rept", NULL) || begins_with(p, stop, ".irp", NULL))
            open++;
        if (begins_with(p, stop, ".endr", NULL) && --open == 0) {
            *next = stop;
            return p;
        }
        while (stop < end && *stop == '#')
            stop = memchr(stop, '\n', (size_t)(end - stop)) ? memchr(stop, '\n', (size_t)(end - stop)) : end;
        p = stop + (stop < end);
    }
    return NULL;
}

/* The body with each \NAME replaced by the value. */
static void substituted(wg_rv *a, const char *p, const char *end, const char *name, size_t length, const char *value,
                        size_t value_length, unsigned depth)
{
    wg_text body = {0};
    for (; p < end; p++) {
        if (*p == '\\' && (size_t)(end - p) > length && memcmp(p + 1, name, length) == 0 &&
            ((size_t)(end - p) == length + 1 || !wg_rv_is_name(p[length + 1]))) {
            wg_text_add(&body, value, value_length);
            p += length;
        } else {
            wg_text_add(&body, p, 1);
        }
    }
    text(a, wg_text_of(&body), wg_text_of(&body) + body.size, depth + 1);
    wg_text_free(&body);
}

/* .rept or .irp, whose operands are in c and whose body begins after `stop`; returns where the text continues. */
static const char *repeat(wg_rv *a, wg_rv_cursor c, bool irp, const char *stop, const char *end, unsigned depth)
{
    const char *body = memchr(stop, '\n', (size_t)(end - stop)), *next = end;
    if (stop < end && *stop == ';')
        body = stop;
    body = body ? body + 1 : end;
    const char *last = body_end(body, end, &next);
    if (!last || depth >= DEEPEST) {
        wg_rv_fail(a, last ? "nested too deep" : "there is no .endr");
        return end;
    }
    if (!irp) {
        int64_t times;
        if (wg_rv_constant(a, &c, 0, 1 << 20, &times))
            while (times-- > 0 && !a->lost)
                text(a, body, last, depth + 1);
        return next;
    }
    const char *name;
    const size_t length = wg_rv_name(&c, &name);
    while (wg_rv_take(&c, ',')) {
        wg_rv_skip(&c);
        const char *value = c.at;
        while (c.at < c.end && *c.at != ',')
            c.at++;
        const char *value_end = c.at;
        while (value_end > value && is_space(value_end[-1]))
            value_end--;
        substituted(a, body, last, name, length, value, (size_t)(value_end - value), depth);
    }
    return next;
}

/* "# LINE "FILE"" in the text itself says which line follows it. Bodies that are repeated know their lines by .loc alone. */
static void count_line(wg_rv *a, const char *from, const char *to, unsigned depth)
{
    if (depth) {
        a->here = 0;
        return;
    }
    for (const char *p = from; p < to; p++) {
        const char *stop = memchr(p, '\n', (size_t)(to - p));
        if (!stop)
            return;
        a->here += a->here != 0;
        p = stop;
    }
}

static const char *comment(wg_rv *a, const char *p, const char *end, unsigned depth)
{
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    if (!depth && stop && stop - p > 3 && p[1] == ' ' && p[2] >= '0' && p[2] <= '9' && stop[-1] == '"')
        a->here = (uint32_t)strtoul(p + 2, NULL, 10) - 1;
    return stop ? stop : end;
}

static void text(wg_rv *a, const char *p, const char *end, unsigned depth)
{
    for (const char *begin = p; p < end && !a->lost; begin = p) {
        const char *stop = statement_end(p, end);
        wg_rv_cursor rest;
        if (begins_with(p, stop, ".rept", &rest))
            p = repeat(a, rest, false, stop, end, depth);
        else if (begins_with(p, stop, ".irp", &rest))
            p = repeat(a, rest, true, stop, end, depth);
        else {
            statement(a, p, stop);
            p = stop;
        }
        if (p < end && *p == '#')
            p = comment(a, p, end, depth);
        p += p < end;
        count_line(a, begin, p, depth);
    }
}

/* ---- the whole ---- */

static wg_elf *link_up(wg_rv *a, const char *name)
{
    wg_text image = {0};
    for (unsigned i = 0; i < WG_RV_SECTIONS; i++) {
        static const char zeros[4];
        while (image.size < a->base[i] - a->base[0] && a->out[i].size)
            wg_text_add(&image, zeros, 1);
        wg_text_add(&image, a->out[i].data, a->out[i].size);
    }
    wg_elf_symbol *symbol = wg_calloc(a->symbols + 1, sizeof *symbol);
    size_t count = 0;
    for (size_t i = 0; symbol && i < a->symbols; i++) {
        const wg_rv_symbol *s = &a->symbol[i];
        if (s->section == WG_RV_UNKNOWN || strncmp(s->name, ".L", 2) == 0)
            continue;
        const wg_rv_value v = {s->value, s->section};
        symbol[count++] = (wg_elf_symbol){.name = s->name, .address = (uint32_t)wg_rv_address(a, &v)};
    }
    wg_elf *elf = symbol && !image.failed
                      ? wg_elf_make(name, a->base[0], image.data, image.size, symbol, count, a->mark, a->marks)
                      : NULL;
    free(symbol);
    wg_text_free(&image);
    return elf;
}

static void pass(wg_rv *a, const char *source, size_t bytes)
{
    memset(a->at, 0, sizeof a->at);
    a->section = WG_RV_TEXT;
    a->errors = 0;
    a->line = 1;
    a->here = 0;
    a->line_waits = false;
    a->widest = 1;
    text(a, source, source + bytes, 0);
    a->section = WG_RV_TEXT;
    pad(a, a->widest); /* as GNU as ends code */
}

wg_elf *wg_rv_assemble(const char *name, const char *source, size_t bytes, uint32_t address, wg_rv_tell_fn tell,
                       void *user)
{
    wg_rv a = {.tell = tell, .user = user};
    a.base[0] = address;
    pass(&a, source, bytes);
    for (unsigned i = 1; i < WG_RV_SECTIONS; i++)
        a.base[i] = (a.base[i - 1] + a.at[i - 1] + 3) & ~3u;
    a.second = true;
    if (!a.lost)
        pass(&a, source, bytes);
    wg_elf *elf = a.errors || a.lost ? NULL : link_up(&a, name);
    if (a.lost)
        tell(user, a.line, "there is no memory for the program");
    for (size_t i = 0; i < a.symbols; i++)
        free(a.symbol[i].name);
    for (unsigned i = 0; i < WG_RV_SECTIONS; i++)
        wg_text_free(&a.out[i]);
    free(a.symbol);
    free(a.local);
    free(a.mark);
    return elf;
}
