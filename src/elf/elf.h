/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files of the baby cores: segments, symbols and source lines. A small library separate from libwaitgate (which needs
 * only libc): this one uses libelf and libdw.
 *
 * Nothing in a file is trusted: truncated, foreign, overlapping or absurd files give an error in
 * words, never a crash, and no allocation is larger than the file itself justifies.
 */
#ifndef WG_ELF_H
#define WG_ELF_H

#include <waitgate/tools.h>

typedef struct wg_elf_segment {
    uint32_t address;      /* where the program runs it (p_vaddr) */
    uint32_t load_address; /* where a loader that cannot reach `address` puts it (p_paddr) */
    uint32_t file_bytes;   /* the first bytes come from the file … */
    uint32_t memory_bytes; /* … the rest up to here is zero */
    const uint8_t *data;   /* file_bytes; lives as long as the wg_elf */
    bool executable;
} wg_elf_segment;

typedef struct wg_elf_symbol {
    const char *name;
    uint32_t address, bytes;
    bool function, object; /* neither: a label */
} wg_elf_symbol;

typedef struct wg_elf_line {
    const char *file;
    unsigned line, column; /* column 0: not known */
} wg_elf_line;

typedef struct wg_elf_call {
    const char *function; /* the inlined function */
    const char *file;     /* location of the call; NULL: not known */
    unsigned line;
} wg_elf_call;

/* From this address on, code is of this line, up to the next mark. */
typedef struct wg_elf_mark {
    uint32_t address;
    unsigned line;
} wg_elf_mark;

/* Opening and closing: <waitgate/tools.h>. */
/*
 * image.c: without a file: one segment, which begins with the entry. Everything is copied. `name` is that of the image and of its
 * source; marks are in ascending order, the last one of an address counts. NULL: out of memory.
 */
wg_elf *wg_elf_make(const char *name, uint32_t address, const void *bytes, size_t count, const wg_elf_symbol *symbol,
                    size_t symbols, const wg_elf_mark *mark, size_t marks);
bool wg_elf_is_elf(const void *bytes, size_t count);

const char *wg_elf_name(const wg_elf *elf);
size_t wg_elf_segments(const wg_elf *elf);
const wg_elf_segment *wg_elf_segment_at(const wg_elf *elf, size_t index);
/* Symbols sorted by address. */
size_t wg_elf_symbols(const wg_elf *elf);
const wg_elf_symbol *wg_elf_symbol_at(const wg_elf *elf, size_t index);
const wg_elf_symbol *wg_elf_symbol_named(const wg_elf *elf, const char *name);
/* The function that contains the address: by size, or the nearest before it in the same segment. NULL: none. */
const wg_elf_symbol *wg_elf_function(const wg_elf *elf, uint32_t address);
/* The address of a section by its name; false if there is none. */
bool wg_elf_section(const wg_elf *elf, const char *name, uint32_t *address, uint32_t *bytes);
/* All its lines are of one source, which is called this; false: out of memory. */
bool wg_elf_name_source(wg_elf *elf, const char *name);
/* The source line of an address, from DWARF; false if unknown. */
bool wg_elf_line_at(wg_elf *elf, uint32_t address, wg_elf_line *out);
/* The inlined functions that contain an address, innermost first, as addr2line -i gives them. Returns how many, at most `most`. */
unsigned wg_elf_inlined_at(wg_elf *elf, uint32_t address, wg_elf_call *call, unsigned most);
/* A kernel of tt-metal, made independent of its position (kernel.c). */
typedef struct wg_elf_kernel {
    uint8_t *image; /* code, then initialised data */
    uint32_t bytes, text_bytes;
    uint32_t link_address; /* of the code, in the file's symbols and lines */
    uint32_t *fixup;       /* offsets of words that hold an offset in the code, and need its address added */
    size_t fixups;
} wg_elf_kernel;
/* False: `error` says why not. */
bool wg_elf_kernel_read(const wg_elf *elf, wg_elf_kernel *out, char *error, size_t bytes);
void wg_elf_kernel_free(wg_elf_kernel *kernel);
/* Are lines unknown because memory ran out? */
bool wg_elf_out_of_memory(const wg_elf *elf);

#endif
