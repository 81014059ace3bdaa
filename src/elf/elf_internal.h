/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by image.c, elf.c and lines.c. The libraries are unknown here: image.c needs none of them. */
#ifndef WG_ELF_INTERNAL_H
#define WG_ELF_INTERNAL_H

#include "elf/elf.h"

struct wg_elf {
    char *name;
    uint8_t *image;
    size_t bytes;
    uint32_t entry;
    wg_elf_segment *segment;
    size_t segments;
    wg_elf_symbol *symbol; /* by address; names point into the image */
    size_t symbols, symbols_read;
    struct Elf *libelf; /* NULL: only the program headers are usable */
    struct Dwarf *dwarf;
    bool dwarf_tried;
    bool out_of_memory;
    char *source;             /* the name of its only source; NULL: as the debug information says */
    struct wg_elf_path *path; /* of source files: as the debug information has them, and where they are */
    size_t paths;
    wg_elf_mark *mark; /* of an image that was made: lines by address; NULL: a file */
    size_t marks;
};
typedef struct wg_elf_path {
    const char *given; /* libdw's */
    char *full;        /* NULL: as given */
} wg_elf_path;

void wg_elf_lines_close(wg_elf *elf);
/* What libelf and libdw hold of it; elf.c. */
void wg_elf_reader_close(wg_elf *elf);
/* image.c */
void wg_elf_sort_symbols(wg_elf *elf);
bool wg_elf_mark_at(const wg_elf *elf, uint32_t address, wg_elf_line *out);

#endif
