/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the assembler's files: a cursor over one line, errors, expressions, near misses. */
#ifndef WG_ISA_ASM_INTERNAL_H
#define WG_ISA_ASM_INTERNAL_H

#include "isa/asm.h"

typedef struct wg_asm_line {
    wg_arch_id arch;
    const char *text;
    size_t length, at;
    const wg_asm_env *env;
    wg_asm_error *error;
} wg_asm_line;

/* Fills in the error and returns its code. */
wg_asm_code wg_asm_fail(wg_asm_line *line, wg_asm_code code, size_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* As wg_asm_fail(), for an unknown name, with the nearest known one; `field` may be NULL. */
wg_asm_code wg_asm_fail_mnemonic(wg_asm_line *line, size_t at, const char *name, size_t length);
wg_asm_code wg_asm_fail_symbol(wg_asm_line *line, size_t at, const char *name, size_t length,
                               const wg_isa_field *field);

/* Evaluates from the cursor to a comma, a comment or the end; `field` may give further names. */
wg_asm_code wg_asm_evaluate(wg_asm_line *line, const wg_isa_field *field, int64_t *value);

/* All names that an operand may have, terminated by a NULL name. */
extern const wg_isa_symbol *const wg_asm_symbols[2];

static inline bool wg_asm_is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
static inline bool wg_asm_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool wg_asm_is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static inline char wg_asm_upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

static inline char wg_asm_peek(const wg_asm_line *l) { return l->at < l->length ? l->text[l->at] : '\0'; }
static inline void wg_asm_skip_space(wg_asm_line *l)
{
    while (l->at < l->length && wg_asm_is_space(l->text[l->at]))
        l->at++;
}
/* At the end of the line, or at a comment? */
static inline bool wg_asm_at_end(const wg_asm_line *l)
{
    if (l->at >= l->length)
        return true;
    char c = l->text[l->at];
    return c == ';' || c == '#' || c == '\n' || (c == '/' && l->at + 1 < l->length && l->text[l->at + 1] == '/');
}

#endif
