/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by elf.c and lines.c. */
#ifndef WG_ELF_INTERNAL_H
#define WG_ELF_INTERNAL_H

#include "elf/elf.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>

struct wg_elf {
    char *name;
    uint8_t *image;
    size_t bytes;
    uint32_t entry;
    wg_elf_segment *segment;
    size_t segments;
    wg_elf_symbol *symbol; /* by address; names point into the image */
    size_t symbols, symbols_read;
    Elf *libelf; /* NULL: only the program headers are usable */
    Dwarf *dwarf;
    bool dwarf_tried;
    bool out_of_memory;
    struct wg_elf_path *path; /* of source files: as the debug information has them, and where they are */
    size_t paths;
};
typedef struct wg_elf_path {
    const char *given; /* libdw's */
    char *full;        /* NULL: as given */
} wg_elf_path;

void wg_elf_lines_close(wg_elf *elf);

#endif
