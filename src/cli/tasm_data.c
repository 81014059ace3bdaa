/* SPDX-License-Identifier: Apache-2.0 */
/* .tasm: memory contents and expectations. */
#include "cli/tasm_internal.h"
#include "explain/race.h"

#include <stdlib.h>
#include <string.h>

static bool add_bytes(wg_tasm *t, wg_tasm_line *l, wg_text *out, uint64_t value, unsigned bytes)
{
    if (out->size + bytes > WG_TASM_MAX_BYTES) {
        wg_tasm_fail(t, l->number, 1, "this is more than %d MiB", WG_TASM_MAX_BYTES >> 20);
        return false;
    }
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(value >> 8 * i);
        wg_text_add(out, &byte, 1);
    }
    t->out_of_memory |= out->failed;
    return !out->failed;
}

/* A floating-point literal: decimal or hexadecimal, inf, nan. */
static bool literal(wg_tasm *t, wg_tasm_line *l, uint64_t *bits)
{
    wg_tasm_space(l);
    char text[64];
    size_t n = 0;
    while (l->at + n < l->length && n + 1 < sizeof text && l->text[l->at + n] != ',' && l->text[l->at + n] != ' ' &&
           l->text[l->at + n] != '\t')
        n++;
    memcpy(text, l->text + l->at, n);
    text[n] = 0;
    char *end = text;
    double value = n ? strtod(text, &end) : 0;
    if (n == 0 || *end) {
        wg_tasm_fail(t, l->number, l->at + 1, "`%s` is not a number", text);
        return false;
    }
    memcpy(bits, &value, sizeof value);
    l->at += n;
    return true;
}

/* The values of one line of a BFP type. */
static bool blocks(wg_tasm *t, wg_tasm_line *l, wg_type type, wg_text *out)
{
    wg_text singles = {0};
    bool ok = true;
    do {
        uint64_t bits;
        ok = literal(t, l, &bits);
        uint32_t single = ok ? wg_type_encode(WG_TYPE_FP32, bits) : 0;
        wg_text_add(&singles, &single, sizeof single);
    } while (ok && wg_tasm_accept(l, ','));
    if (ok && out->size + singles.size + 16 > WG_TASM_MAX_BYTES) {
        wg_tasm_fail(t, l->number, 1, "this is more than %d MiB", WG_TASM_MAX_BYTES >> 20);
        ok = false;
    }
    if (ok && (singles.failed ||
               !wg_blocks_encode(out, type, (const uint32_t *)(const void *)singles.data, singles.size / 4)))
        t->out_of_memory = true;
    wg_text_free(&singles);
    return ok && wg_tasm_end(t, l);
}

bool wg_tasm_values(wg_tasm *t, wg_tasm_line *l, wg_type type, wg_text *out)
{
    if (wg_type_is_blocks(type))
        return blocks(t, l, type, out);
    unsigned bytes = wg_type_bytes(type);
    do {
        if (wg_type_is_float(type)) {
            uint64_t bits;
            if (!literal(t, l, &bits) || !add_bytes(t, l, out, wg_type_encode(type, bits), bytes))
                return false;
        } else {
            int64_t value, most = (INT64_C(1) << bytes * 8) - 1;
            bool magnitude = wg_type_is_sign_magnitude(type);
            if (!wg_tasm_number(t, l, "the value", -(most / 2) - !magnitude, magnitude ? most / 2 : most, &value))
                return false;
            if (magnitude && value < 0)
                value = (most / 2 + 1) - value; /* the sign bit and the magnitude */
            if (!add_bytes(t, l, out, (uint64_t)value, bytes))
                return false;
        }
    } while (wg_tasm_accept(l, ','));
    return wg_tasm_end(t, l);
}

static bool string(wg_tasm *t, wg_tasm_line *l, wg_text *out, bool terminate)
{
    if (!wg_tasm_want(t, l, '"'))
        return false;
    for (; l->at < l->length && l->text[l->at] != '"'; l->at++) {
        char c = l->text[l->at];
        if (c == '\\' && l->at + 1 < l->length) {
            c = l->text[++l->at];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == '0' ? '\0' : c;
        }
        if (!add_bytes(t, l, out, (uint8_t)c, 1))
            return false;
    }
    if (!wg_tasm_want(t, l, '"'))
        return false;
    return (!terminate || add_bytes(t, l, out, 0, 1)) && wg_tasm_end(t, l);
}

static void space(wg_tasm *t, wg_tasm_line *l, wg_text *out)
{
    int64_t count, fill = 0;
    if (!wg_tasm_number(t, l, "the size", 0, WG_TASM_MAX_BYTES, &count) ||
        (wg_tasm_accept(l, ',') && !wg_tasm_number(t, l, "the fill", -128, 255, &fill)) || !wg_tasm_end(t, l))
        return;
    if (out->size + (size_t)count > WG_TASM_MAX_BYTES) {
        wg_tasm_fail(t, l->number, 1, "this is more than %d MiB", WG_TASM_MAX_BYTES >> 20);
        return;
    }
    uint8_t piece[256];
    memset(piece, (int)fill, sizeof piece);
    for (size_t left = (size_t)count, n; left; left -= n) {
        n = left < sizeof piece ? left : sizeof piece;
        wg_text_add(out, piece, n);
    }
    t->out_of_memory |= out->failed;
}

static void align(wg_tasm *t, wg_tasm_line *l, wg_tasm_block *block)
{
    int64_t to;
    if (!wg_tasm_number(t, l, "the alignment", 1, 4096, &to) || !wg_tasm_end(t, l))
        return;
    while ((block->address + block->bytes.size) % (size_t)to)
        if (!add_bytes(t, l, &block->bytes, 0, 1))
            return;
}

bool wg_tasm_data(wg_tasm *t, wg_tasm_line *l, const char *name, size_t length, wg_tasm_block *block)
{
    static const struct {
        const char *name;
        wg_type type;
    } aliases[] = {
        {".byte", WG_TYPE_UINT8}, {".half", WG_TYPE_UINT16}, {".word", WG_TYPE_UINT32}, {".float", WG_TYPE_FP32}};
    if (length < 2 || name[0] != '.')
        return false;
    wg_type type = wg_type_find(name + 1, length - 1);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (wg_tasm_is(name, length, aliases[i].name))
            type = aliases[i].type;
    if (type != WG_TYPE_COUNT && (wg_type_bytes(type) || wg_type_is_blocks(type)))
        wg_tasm_values(t, l, type, &block->bytes);
    else if (wg_tasm_is(name, length, ".space"))
        space(t, l, &block->bytes);
    else if (wg_tasm_is(name, length, ".align"))
        align(t, l, block);
    else if (wg_tasm_is(name, length, ".ascii") || wg_tasm_is(name, length, ".asciz"))
        string(t, l, &block->bytes, wg_tasm_is(name, length, ".asciz"));
    else
        return false;
    return true;
}

/* ---- expectations ---- */

/* An expression that ends at the first of `stops` outside parentheses. */
static bool number_until(wg_tasm *t, wg_tasm_line *l, const char *stops, const char *what, int64_t least, int64_t most,
                         int64_t *value)
{
    wg_tasm_space(l);
    size_t end = l->at, whole = l->length, depth = 0;
    for (; end < whole && (depth || !strchr(stops, l->text[end])); end++)
        depth += l->text[end] == '(' ? 1 : l->text[end] == ')' && depth ? (size_t)-1 : 0;
    l->length = end;
    bool ok = wg_tasm_number(t, l, what, least, most, value);
    l->length = whole;
    return ok;
}
#define ONE_WORD " \t,="

static bool expect_l1(wg_tasm *t, wg_tasm_line *l, wg_expect *e)
{
    int64_t address;
    if (!number_until(t, l, "=", "the address", 0, UINT32_MAX, &address) || !wg_tasm_want(t, l, '='))
        return false;
    e->kind = WG_EXPECT_L1;
    e->index = (uint32_t)address;
    e->type = WG_TYPE_UINT32;
    size_t back = l->at;
    const char *name;
    size_t length = wg_tasm_name(l, &name);
    wg_type type = length ? wg_type_find(name, length) : WG_TYPE_COUNT;
    if (type != WG_TYPE_COUNT && (wg_type_bytes(type) || wg_type_is_blocks(type)))
        e->type = type;
    else
        l->at = back;
    return wg_tasm_values(t, l, e->type, &e->bytes);
}

typedef struct peek_space {
    const char *name;
    wg_space space;
    const char *first, *second; /* names of the indices; NULL: there is no second */
    uint32_t most_first, most_second;
    uint32_t scale;
} peek_space;

static const peek_space peek_spaces[] = {
    {"gpr", WG_SPACE_GPR, "the thread", "the register", WG_THREADS - 1, 63, 64},
    {"dst", WG_SPACE_DST, "the row", "the column", 1023, 15, 16},
    {"dst32", WG_SPACE_DST32, "the row", "the column", 511, 15, 16},
    {"srca", WG_SPACE_SRCA, "the row (bank * 64 + row)", "the column", 127, 15, 16},
    {"srcb", WG_SPACE_SRCB, "the row (bank * 64 + row)", "the column", 127, 15, 16},
    {"lreg", WG_SPACE_LREG, "the register", "the lane", 16, 31, 32},
    {"config", WG_SPACE_CONFIG, "the bank", "the word", 1, 65535, 65536},
    {"threadconfig", WG_SPACE_THREAD_CONFIG, "the thread", "the word", WG_THREADS - 1, 65535, 65536},
    {"x", WG_SPACE_CORE_X, "the core (0 B, 1 NC, 2 T0, 3 T1, 4 T2)", "the register", WG_CORES - 1, 31, 32},
    {"f", WG_SPACE_CORE_F, "the core (0 B, 1 NC, 2 T0, 3 T1, 4 T2)", "the register", WG_CORES - 1, 31, 32},
    {"srcowner", WG_SPACE_SRC_OWNER, "the bank (0 SrcA 0, 1 SrcA 1, 2 SrcB 0, 3 SrcB 1)", NULL, 3, 0, 1},
};

static bool expect_peek(wg_tasm *t, wg_tasm_line *l, wg_expect *e, const peek_space *space)
{
    int64_t first, second = 0, value;
    if (!number_until(t, l, ONE_WORD, space->first, 0, space->most_first, &first))
        return false;
    wg_tasm_accept(l, ',');
    if (space->second && !number_until(t, l, "=", space->second, 0, space->most_second, &second))
        return false;
    if (!wg_tasm_want(t, l, '=') || !wg_tasm_number(t, l, "the value", INT32_MIN, UINT32_MAX, &value))
        return false;
    e->kind = WG_EXPECT_PEEK;
    e->space = space->space;
    e->index = (uint32_t)first * space->scale + (uint32_t)second;
    e->value = (uint32_t)value;
    return wg_tasm_end(t, l);
}

static bool expect_semaphore(wg_tasm *t, wg_tasm_line *l, wg_expect *e)
{
    int64_t index, value, max = 0;
    const char *name;
    if (!number_until(t, l, "=", "the semaphore", 0, 7, &index) || !wg_tasm_want(t, l, '='))
        return false;
    size_t back = l->at, length = wg_tasm_name(l, &name);
    if (!wg_tasm_is(name, length, "value"))
        l->at = back;
    if (!number_until(t, l, ONE_WORD, "the value", 0, 15, &value))
        return false;
    wg_tasm_accept(l, ',');
    length = wg_tasm_name(l, &name);
    if (length) {
        if (!wg_tasm_is(name, length, "max")) {
            wg_tasm_fail(t, l->number, l->at - length + 1, "only `max` can follow here");
            return false;
        }
        if (!wg_tasm_number(t, l, "max", 0, 15, &max))
            return false;
        e->has_max = true;
    }
    e->kind = WG_EXPECT_SEMAPHORE;
    e->index = (uint32_t)index;
    e->value = (uint32_t)value;
    e->max = (uint32_t)max;
    return wg_tasm_end(t, l);
}

static bool expect_mutex(wg_tasm *t, wg_tasm_line *l, wg_expect *e)
{
    static const char *const holders[] = {"free", "T0", "T1", "T2"};
    int64_t index;
    const char *name;
    if (!number_until(t, l, "=", "the mutex", 0, 7, &index) || !wg_tasm_want(t, l, '='))
        return false;
    size_t length = wg_tasm_name(l, &name);
    for (uint32_t i = 0; i < 4; i++) {
        if (!wg_tasm_is(name, length, holders[i]))
            continue;
        e->kind = WG_EXPECT_MUTEX;
        e->index = (uint32_t)index;
        e->value = i;
        return wg_tasm_end(t, l);
    }
    wg_tasm_fail(t, l->number, l->at - length + 1, "a mutex is free, or held by T0, T1 or T2");
    return false;
}

static bool expect_cycles(wg_tasm *t, wg_tasm_line *l, wg_expect *e)
{
    int64_t cycles;
    e->kind = WG_EXPECT_CYCLES;
    e->relation = wg_tasm_accept(l, '<') ? '<' : wg_tasm_accept(l, '>') ? '>' : '=';
    if (!wg_tasm_want(t, l, '=') || !wg_tasm_number(t, l, "the cycles", 0, INT64_MAX, &cycles))
        return false;
    e->cycles = (uint64_t)cycles;
    return wg_tasm_end(t, l);
}

static bool expect_finding(wg_tasm *t, wg_tasm_line *l, wg_expect *e)
{
    wg_tasm_space(l);
    size_t start = l->at;
    while (l->at < l->length && l->text[l->at] != ' ' && l->text[l->at] != '\t' && l->text[l->at] != '\r')
        l->at++;
    size_t length = l->at - start;
    wg_near near;
    wg_near_begin(&near, l->text + start, length);
    const wg_finding_info *info;
    for (unsigned i = 0; (info = wg_finding_info_at(i)) != NULL; i++) {
        if (strlen(info->code) == length && memcmp(info->code, l->text + start, length) == 0) {
            e->kind = WG_EXPECT_FINDING;
            e->code = wg_strdup(info->code);
            return e->code && wg_tasm_end(t, l);
        }
        wg_near_offer(&near, info->code);
    }
    const char *best = wg_near_best(&near);
    wg_tasm_fail(t, l->number, start + 1, "there is no finding `%.*s`%s%s%s", (int)length, l->text + start,
                 best ? "; did you mean `" : "", best ? best : "", best ? "`?" : "");
    return false;
}

/* race KIND [what its report must contain] */
static bool expect_race(wg_tasm *t, wg_tasm_line *l, wg_expect *e)
{
    wg_tasm_space(l);
    size_t start = l->at, end = l->length;
    while (l->at < l->length && l->text[l->at] != ' ' && l->text[l->at] != '\t')
        l->at++;
    size_t length = l->at - start;
    wg_tasm_space(l);
    while (end > l->at && (l->text[end - 1] == ' ' || l->text[end - 1] == '\t' || l->text[end - 1] == '\r'))
        end--;
    wg_near near;
    wg_near_begin(&near, l->text + start, length);
    for (unsigned i = 0; i < WG_RACE_KINDS; i++) {
        const char *kind = wg_race_kind_name(i);
        if (strlen(kind) == length && memcmp(kind, l->text + start, length) == 0) {
            e->kind = WG_EXPECT_RACE;
            e->code = wg_strdup(kind);
            wg_text_add(&e->bytes, l->text + l->at, end - l->at);
            return e->code != NULL && !e->bytes.failed;
        }
        wg_near_offer(&near, kind);
    }
    const char *best = wg_near_best(&near);
    wg_tasm_fail(t, l->number, start + 1, "there is no race `%.*s`%s%s%s", (int)length, l->text + start,
                 best ? "; did you mean `" : "", best ? best : "", best ? "`?" : "");
    return false;
}

static bool expect_any(wg_tasm *t, wg_tasm_line *l, wg_expect *e)
{
    const char *name;
    size_t length = wg_tasm_name(l, &name), column = l->at - length + 1;
    if (wg_tasm_is(name, length, "l1"))
        return expect_l1(t, l, e);
    if (wg_tasm_is(name, length, "semaphore"))
        return expect_semaphore(t, l, e);
    if (wg_tasm_is(name, length, "mutex"))
        return expect_mutex(t, l, e);
    if (wg_tasm_is(name, length, "cycles"))
        return expect_cycles(t, l, e);
    if (wg_tasm_is(name, length, "finding"))
        return expect_finding(t, l, e);
    if (wg_tasm_is(name, length, "race"))
        return expect_race(t, l, e);
    static const struct {
        const char *name;
        wg_expect_kind kind;
    } ends[] = {{"hang", WG_EXPECT_HANG},
                {"done", WG_EXPECT_DONE},
                {"limit", WG_EXPECT_LIMIT},
                {"nofindings", WG_EXPECT_NO_FINDINGS},
                {"noraces", WG_EXPECT_NO_RACES}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (wg_tasm_is(name, length, ends[i].name)) {
            e->kind = ends[i].kind;
            return wg_tasm_end(t, l);
        }
    wg_near near;
    wg_near_begin(&near, name, length);
    for (size_t i = 0; i < sizeof peek_spaces / sizeof *peek_spaces; i++) {
        if (wg_tasm_is(name, length, peek_spaces[i].name))
            return expect_peek(t, l, e, &peek_spaces[i]);
        wg_near_offer(&near, peek_spaces[i].name);
    }
    static const char *const others[] = {"l1",   "semaphore", "mutex",      "cycles", "finding", "hang",
                                         "done", "limit",     "nofindings", "race",   "noraces"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        wg_near_offer(&near, others[i]);
    const char *best = wg_near_best(&near);
    wg_tasm_fail(t, l->number, column, "nothing called `%.*s` can be expected%s%s%s", (int)length, name,
                 best ? "; did you mean `" : "", best ? best : "", best ? "`?" : "");
    return false;
}

void wg_tasm_expect_line(wg_tasm *t, wg_tasm_line *l)
{
    wg_tasm_space(l);
    size_t start = l->at, end = l->length;
    while (end > start && (l->text[end - 1] == ' ' || l->text[end - 1] == '\t' || l->text[end - 1] == '\r'))
        end--;
    wg_expect e = {.line = l->number};
    wg_expect *grown;
    if (!expect_any(t, l, &e) || !(e.text = wg_strndup(l->text + start, end - start)) ||
        !(grown = wg_tasm_grow(t, t->expect, t->expects, sizeof *grown))) {
        wg_text_free(&e.bytes);
        free(e.code);
        free(e.text);
        return;
    }
    t->expect = grown;
    t->expect[t->expects++] = e;
}
