/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines from DWARF, through libdw; opened at the first question, since most runs never ask. */
#include "elf/elf_internal.h"

#include <errno.h>

static Dwarf *dwarf_of(wg_elf *elf)
{
    if (!elf->dwarf_tried && elf->libelf) {
        elf->dwarf_tried = true;
        elf->dwarf = dwarf_begin_elf(elf->libelf, DWARF_C_READ, NULL);
    }
    return elf->dwarf;
}

/* A file without .debug_aranges (assembled by hand, say) is searched unit by unit. */
static Dwarf_Line *search_units(Dwarf *dwarf, uint32_t address)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    for (; dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0; offset = next) {
        Dwarf_Die unit;
        if (!dwarf_offdie(dwarf, offset + header, &unit))
            continue;
        Dwarf_Line *line = dwarf_getsrc_die(&unit, address);
        if (line)
            return line;
    }
    return NULL;
}

static bool line_at(wg_elf *elf, uint32_t address, wg_elf_line *out)
{
    Dwarf *dwarf = dwarf_of(elf);
    if (!dwarf)
        return false;
    Dwarf_Die unit;
    Dwarf_Line *line = dwarf_addrdie(dwarf, address, &unit) ? dwarf_getsrc_die(&unit, address) : NULL;
    if (!line)
        line = search_units(dwarf, address);
    int number = 0;
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!file || dwarf_lineno(line, &number) != 0 || number <= 0)
        return false;
    *out = (wg_elf_line){file, (unsigned)number};
    return true;
}

bool wg_elf_line_at(wg_elf *elf, uint32_t address, wg_elf_line *out)
{
    errno = 0;
    bool known = line_at(elf, address, out);
    elf->out_of_memory |= !known && errno == ENOMEM;
    return known;
}

bool wg_elf_out_of_memory(const wg_elf *elf) { return elf->out_of_memory; }

void wg_elf_lines_close(wg_elf *elf)
{
    if (elf->dwarf)
        dwarf_end(elf->dwarf);
    elf->dwarf = NULL;
}
