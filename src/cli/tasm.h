/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .tasm programs: Tensix streams per thread, RISC-V assembly per core, L1 contents, expectations.
 * docs/tasm.md is the language.
 *
 *     text ──wg_tasm_parse──► streams, core sources, memory, expectations, errors
 *     core sources ──wg_tasm_link──► ELF images (by the RISC-V assembler and linker)
 */
#ifndef WG_TASM_H
#define WG_TASM_H

#include <waitgate/waitgate.h>

#include "text/text.h"
#include "text/types.h"
#include "elf/elf.h"

enum {
    WG_TASM_MAX_WORDS = 1 << 20,
    WG_TASM_MAX_SYMBOLS = 1 << 16,
    WG_TASM_MAX_ERRORS = 200,
    WG_TASM_MAX_BYTES = 16 << 20
};

/* One word of a stream: pushed `delay` cycles after the earliest possible cycle. */
typedef struct wg_tasm_word {
    uint32_t word, line;
    uint32_t delay;
} wg_tasm_word;

typedef struct wg_tasm_stream {
    bool present;
    wg_tasm_word *word;
    size_t words, room;
} wg_tasm_stream;

typedef struct wg_tasm_core {
    bool present;
    uint32_t line;
    uint32_t address;
    bool data;      /* its lines are currently in a data section */
    wg_text source; /* for the RISC-V assembler, with line marks */
    wg_elf *elf;    /* after wg_tasm_link() */
} wg_tasm_core;

typedef struct wg_tasm_block {
    uint32_t address, line;
    wg_text bytes;
} wg_tasm_block;

typedef enum wg_expect_kind {
    WG_EXPECT_L1,        /* bytes at address */
    WG_EXPECT_PEEK,      /* wg_peek(space, index) = value */
    WG_EXPECT_SEMAPHORE, /* index, value, max */
    WG_EXPECT_MUTEX,     /* index = value (0 free, else thread + 1) */
    WG_EXPECT_CYCLES,    /* relation, value */
    WG_EXPECT_FINDING,   /* text is the code */
    WG_EXPECT_NO_FINDINGS,
    WG_EXPECT_RACE, /* text is the kind, and a required part of its report; only for `check` */
    WG_EXPECT_NO_RACES,
    WG_EXPECT_HANG,
    WG_EXPECT_DONE,
    WG_EXPECT_LIMIT
} wg_expect_kind;

typedef struct wg_expect {
    wg_expect_kind kind;
    uint32_t line;
    uint32_t index, value, max;
    bool has_max;
    wg_space space;
    wg_type type;  /* of L1 values, for showing them */
    char relation; /* '=', '<' (at most), '>' (at least) */
    uint64_t cycles;
    wg_text bytes;
    char *text; /* the line as written, without the directive */
    char *code; /* WG_EXPECT_FINDING */
} wg_expect;

typedef struct wg_tasm_error {
    uint32_t line, column; /* column 0: unknown */
    char *message;
} wg_tasm_error;

typedef struct wg_tasm_symbol {
    char *name;
    int64_t value;
    bool label;
    uint32_t next; /* in its bucket: 1 + index; 0: none */
} wg_tasm_symbol;

typedef struct wg_tasm {
    char *name;
    const char *source; /* the caller's; must outlive this */
    size_t source_bytes;
    wg_arch_id arch;
    bool has_arch; /* the program says .arch */
    wg_tasm_stream stream[WG_THREADS];
    wg_tasm_core core[WG_CORES];
    wg_tasm_block *block;
    size_t blocks;
    wg_expect *expect;
    size_t expects;
    wg_tasm_symbol *symbol;
    size_t symbols;
    uint32_t *bucket; /* by hash: 1 + index of a symbol; 0: none */
    size_t buckets;   /* a power of two */
    wg_tasm_error *error;
    size_t errors;
    bool out_of_memory;
} wg_tasm;

/*
 * Parses all of it, collecting every error; `arch` applies unless the program sets another. Returns true if there were
 * none. Call wg_tasm_free() in either case.
 */
bool wg_tasm_parse(wg_tasm *t, const char *name, const char *source, size_t bytes, wg_arch_id arch);
/* The same for a text that begins in a section of a core, at `address`. */
bool wg_tasm_parse_core(wg_tasm *t, const char *name, const char *source, size_t bytes, wg_arch_id arch, unsigned core,
                        uint32_t address);
/* Assembles and links the core sections; errors are added to the same list. */
bool wg_tasm_link(wg_tasm *t);
void wg_tasm_free(wg_tasm *t);
/* file:line:column: error: …, the source line and a caret, for every error in order. */
void wg_tasm_report(const wg_tasm *t, wg_text *out);

/* Reports one error in any source text in the same form. */
void wg_report_error(wg_text *out, const char *name, const char *source, size_t bytes, uint32_t line, uint32_t column,
                     const char *message);

#endif
