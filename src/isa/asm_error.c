/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler's errors: position, message, and the known name that was probably meant. */
#include "isa/asm_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "isa/config_fields.h"

wg_asm_code wg_asm_fail(wg_asm_line *line, wg_asm_code code, size_t at, const char *format, ...)
{
    wg_asm_error *error = line->error;
    if (error) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(error->message, sizeof error->message, format, args);
        va_end(args);
        error->code = code;
        error->column = (uint32_t)at + 1;
        error->suggestion[0] = '\0';
    }
    return code;
}

/* ---- near misses -------------------------------------------------------------------------------------- */

enum { LONGEST = 63 };

/* Bit per character that occurs, several characters to a bit. */
static uint32_t letters(const char *name, size_t length)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < length; i++)
        mask |= UINT32_C(1) << (wg_asm_upper(name[i]) & 31);
    return mask;
}

/* Edit distance with transpositions, case ignored; anything beyond `limit` counts as limit + 1. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length, unsigned limit)
{
    if (a_length > LONGEST || b_length > LONGEST)
        return limit + 1;
    if ((a_length > b_length ? a_length - b_length : b_length - a_length) > limit)
        return limit + 1;
    /* An edit changes at most two of the letters that occur. */
    if ((unsigned)__builtin_popcount(letters(a, a_length) ^ letters(b, b_length)) > 2 * limit)
        return limit + 1;
    uint8_t rows[3][LONGEST + 1];
    uint8_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++) {
        before[j] = 0;
        last[j] = (uint8_t)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (uint8_t)i;
        unsigned best = row[0];
        for (size_t j = 1; j <= b_length; j++) {
            char x = wg_asm_upper(a[i - 1]), y = wg_asm_upper(b[j - 1]);
            unsigned cost = last[j - 1] + (x != y ? 1u : 0u);
            if (last[j] + 1u < cost)
                cost = last[j] + 1u;
            if (row[j - 1] + 1u < cost)
                cost = row[j - 1] + 1u;
            if (i > 1 && j > 1 && x == wg_asm_upper(b[j - 2]) && wg_asm_upper(a[i - 2]) == y &&
                before[j - 2] + 1u < cost)
                cost = before[j - 2] + 1u;
            row[j] = (uint8_t)cost;
            if (cost < best)
                best = cost;
        }
        if (best > limit)
            return limit + 1;
        uint8_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_length];
}

typedef struct wg_nearest {
    const char *name; /* as written */
    size_t length;
    unsigned best; /* distance of the nearest so far; starts one above the limit */
    char text[64];
} wg_nearest;

static void start(wg_nearest *n, const char *name, size_t length)
{
    n->name = name;
    n->length = length;
    n->best = length < 3 ? 2 : (unsigned)(length < 40 ? length : 40) / 4 + 2;
    n->text[0] = '\0';
}

static void consider(wg_nearest *n, const char *prefix, const char *name, const char *suffix)
{
    size_t length = strlen(name);
    unsigned d = distance(n->name, n->length, name, length, n->best - 1);
    if (d < n->best && d < n->length) {
        n->best = d;
        (void)snprintf(n->text, sizeof n->text, "%s%s%s", prefix, name, suffix);
    }
}

static const char *const arch_name[] = {[WG_ARCH_BH] = "Blackhole", [WG_ARCH_WH] = "Wormhole"};
static const wg_arch_id other_arch[] = {[WG_ARCH_BH] = WG_ARCH_WH, [WG_ARCH_WH] = WG_ARCH_BH};
static int printable(size_t length) { return (int)(length < 60 ? length : 60); }

static void suggest(wg_asm_line *line, const wg_nearest *n)
{
    wg_asm_error *error = line->error;
    if (n->text[0] == '\0')
        return;
    size_t used = strlen(error->message);
    (void)snprintf(error->message + used, sizeof error->message - used, "; did you mean %s?", n->text);
    memcpy(error->suggestion, n->text, sizeof error->suggestion);
}

wg_asm_code wg_asm_fail_mnemonic(wg_asm_line *line, size_t at, const char *name, size_t length)
{
    if (line->error == NULL)
        return WG_ASM_UNKNOWN_MNEMONIC;
    wg_arch_id other = other_arch[line->arch];
    if (wg_isa_by_name(other, name, length) != NULL)
        return wg_asm_fail(line, WG_ASM_UNKNOWN_MNEMONIC, at, "%.*s is an instruction of %s only", printable(length),
                           name, arch_name[other]);
    wg_nearest nearest;
    bool prefixed = length > 2 && wg_asm_upper(name[0]) == 'T' && wg_asm_upper(name[1]) == 'T';
    start(&nearest, prefixed ? name + 2 : name, prefixed ? length - 2 : length);
    for (unsigned id = 1; id < WG_I_COUNT; id++)
        if (wg_isa_insns[line->arch][id].name)
            consider(&nearest, "tt", wg_isa_insns[line->arch][id].name, "");
    for (char *c = nearest.text; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    (void)wg_asm_fail(line, WG_ASM_UNKNOWN_MNEMONIC, at, "there is no instruction %.*s", printable(length), name);
    suggest(line, &nearest);
    return WG_ASM_UNKNOWN_MNEMONIC;
}

/* The suffix that turns a configuration field's name into a number, or NULL. */
static const char *config_suffix(const char *name, size_t length)
{
    static const char *const suffixes[] = {"_ADDR32", "_SHAMT", "_MASK"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        if (length > n && memcmp(name + length - n, suffixes[i], n) == 0)
            return suffixes[i];
    }
    return NULL;
}

wg_asm_code wg_asm_fail_symbol(wg_asm_line *line, size_t at, const char *name, size_t length, const wg_isa_field *field)
{
    if (line->error == NULL)
        return WG_ASM_UNKNOWN_SYMBOL;
    wg_arch_id other = other_arch[line->arch];
    int64_t unused;
    if (wg_asm_symbol(other, name, length, &unused))
        return wg_asm_fail(line, WG_ASM_UNKNOWN_SYMBOL, at, "%.*s is a name on %s only", printable(length), name,
                           arch_name[other]);
    wg_nearest nearest;
    start(&nearest, name, length);
    for (const wg_isa_symbol *s = field ? field->symbols : NULL; s && s->name; s++)
        consider(&nearest, "", s->name, "");
    for (const wg_isa_symbol *s = wg_asm_symbols[line->arch]; s->name; s++)
        consider(&nearest, "", s->name, "");
    const char *suffix = config_suffix(name, length);
    if (suffix) {
        nearest.length -= strlen(suffix);
        for (unsigned i = 0; i < WG_CFG_COUNT; i++)
            if (wg_cfg_present(&wg_cfg_fields[line->arch][i]))
                consider(&nearest, "", wg_cfg_names[i], suffix);
        for (unsigned i = 0; i < WG_TCFG_COUNT; i++)
            if (wg_cfg_present(&wg_tcfg_fields[line->arch][i]))
                consider(&nearest, "", wg_tcfg_names[i], suffix);
    }
    if (field)
        (void)wg_asm_fail(line, WG_ASM_UNKNOWN_SYMBOL, at, "%s: %.*s is not defined", field->name, printable(length),
                          name);
    else
        (void)wg_asm_fail(line, WG_ASM_UNKNOWN_SYMBOL, at, "%.*s is not defined", printable(length), name);
    suggest(line, &nearest);
    return WG_ASM_UNKNOWN_SYMBOL;
}
