/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the small RISC-V assembler: its state, and reading of operands. */
#ifndef WG_RV_INTERNAL_H
#define WG_RV_INTERNAL_H

#include "cli/rv_assemble.h"

typedef enum wg_rv_section { /* in the order of their addresses */
                             WG_RV_TEXT,
                             WG_RV_RODATA,
                             WG_RV_DATA,
                             WG_RV_BSS,
                             WG_RV_SECTIONS,
                             WG_RV_ABSOLUTE = WG_RV_SECTIONS, /* of a value: a number */
                             WG_RV_UNKNOWN                    /* of a value: not defined, or not yet */
} wg_rv_section;

typedef struct wg_rv_value {
    int64_t value; /* in a section: an offset */
    wg_rv_section section;
} wg_rv_value;

typedef struct wg_rv_symbol {
    char *name;
    int64_t value;
    wg_rv_section section;
    bool label, twice;
} wg_rv_symbol;

typedef struct wg_rv_local {
    unsigned long number;
    wg_rv_section section;
    uint32_t at;
} wg_rv_local;

typedef struct wg_rv {
    wg_rv_tell_fn tell;
    void *user;
    bool second, lost; /* the second pass; there is no memory */
    size_t errors;
    uint32_t line, here; /* of the next instruction; of the text that is being read, 0: unknown */
    bool line_waits;
    wg_rv_section section;
    uint32_t widest; /* alignment of code so far */
    uint32_t at[WG_RV_SECTIONS], base[WG_RV_SECTIONS];
    wg_text out[WG_RV_SECTIONS];
    wg_rv_symbol *symbol;
    size_t symbols;
    wg_rv_local *local; /* 1:, 2: … in their order */
    size_t locals, locals_seen;
    wg_elf_mark *mark;
    size_t marks;
} wg_rv;

typedef struct wg_rv_cursor {
    const char *at, *end;
} wg_rv_cursor;

void wg_rv_fail(wg_rv *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool wg_rv_is_name(char c);
void wg_rv_skip(wg_rv_cursor *c);
bool wg_rv_take(wg_rv_cursor *c, char what);
size_t wg_rv_name(wg_rv_cursor *c, const char **name);
wg_rv_symbol *wg_rv_symbol_of(wg_rv *a, const char *name, size_t length, bool make);
void wg_rv_put(wg_rv *a, uint64_t value, unsigned bytes);
void wg_rv_insn_put(wg_rv *a, uint32_t word);

/* rv_operands.c: they report their own errors. */
bool wg_rv_expression(wg_rv *a, wg_rv_cursor *c, wg_rv_value *out);
/* A number that is known in both passes. */
bool wg_rv_constant(wg_rv *a, wg_rv_cursor *c, int64_t least, int64_t most, int64_t *out);
/* Where a value is, or what it is. */
int64_t wg_rv_address(const wg_rv *a, const wg_rv_value *v);
void wg_rv_instruction(wg_rv *a, const char *name, size_t length, wg_rv_cursor *c);

#endif
