/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the .tasm reader: the current line and its errors. */
#ifndef WG_TASM_INTERNAL_H
#define WG_TASM_INTERNAL_H

#include "cli/tasm.h"
#include "isa/asm.h"

typedef struct wg_tasm_line {
    const char *text; /* the whole line */
    size_t length;    /* without its end and comment */
    size_t at;        /* reading position */
    uint32_t number;
} wg_tasm_line;

void wg_tasm_fail(wg_tasm *t, uint32_t line, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Quotes a name as a string of the assembler. */
void wg_tasm_quote(wg_text *to, const char *name);
void *wg_tasm_grow(wg_tasm *t, void *list, size_t count, size_t element_bytes);

void wg_tasm_space(wg_tasm_line *l);
/* An identifier at `at`, letters, digits, '_' and '.'; its length, 0 if there is none. */
size_t wg_tasm_name(wg_tasm_line *l, const char **name);
bool wg_tasm_accept(wg_tasm_line *l, char c);
bool wg_tasm_is(const char *name, size_t length, const char *word);
/* Reports an error and returns false unless `c` is next. */
bool wg_tasm_want(wg_tasm *t, wg_tasm_line *l, char c);
bool wg_tasm_end(wg_tasm *t, wg_tasm_line *l);
/* An expression; reports its own errors. The limits are inclusive. */
bool wg_tasm_number(wg_tasm *t, wg_tasm_line *l, const char *what, int64_t least, int64_t most, int64_t *value);
wg_asm_env wg_tasm_env(wg_tasm *t);
bool wg_tasm_define(wg_tasm *t, wg_tasm_line *l, size_t column, const char *name, size_t length, int64_t value,
                    bool label);

/* A list of values of a type, appended to `out` as bytes. */
bool wg_tasm_values(wg_tasm *t, wg_tasm_line *l, wg_type type, wg_text *out);
/* A data directive (.byte …) of an .l1 section; false if `name` is none. */
bool wg_tasm_data(wg_tasm *t, wg_tasm_line *l, const char *name, size_t length, wg_tasm_block *block);
void wg_tasm_expect_line(wg_tasm *t, wg_tasm_line *l);
/* One line of a core section, Tensix mnemonics replaced by words. */
void wg_tasm_core_line(wg_tasm *t, wg_tasm_line *l, unsigned core);
/* tasm_assemble.c: the section's source for an assembler, with the program's constants; and its image, by the small assembler. */
void wg_tasm_core_text(const wg_tasm *t, unsigned core, wg_text *out);
bool wg_tasm_assemble(wg_tasm *t, unsigned core);
extern const char *const wg_tasm_core_names[WG_CORES];

#endif
