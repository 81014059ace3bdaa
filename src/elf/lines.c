/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines from DWARF, through libdw; opened at the first query, since most runs need none. */
#include "elf/elf_internal.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libdw reads a string up to its NUL: the sections with strings must end with one. It has decompressed them by now. */
static bool strings_end(Elf *libelf)
{
    size_t names = 0;
    if (elf_getshdrstrndx(libelf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(libelf, section)) != NULL;) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(libelf, names, header.sh_name) : NULL;
        const char *kind = name ? strstr(name, "debug_") : NULL;
        if (!kind || (strcmp(kind, "debug_str") != 0 && strcmp(kind, "debug_line_str") != 0))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (data && data->d_buf && data->d_size && ((const char *)data->d_buf)[data->d_size - 1] != 0)
            return false;
    }
    return true;
}

static Dwarf *dwarf_of(wg_elf *elf)
{
    if (!elf->dwarf_tried && elf->libelf) {
        elf->dwarf_tried = true;
        elf->dwarf = dwarf_begin_elf(elf->libelf, DWARF_C_READ, NULL);
        if (elf->dwarf && !strings_end(elf->libelf)) {
            dwarf_end(elf->dwarf);
            elf->dwarf = NULL;
        }
    }
    return elf->dwarf;
}

/* Takes "folder/.." out of a path. */
static void shorten(char *path)
{
    for (char *up; (up = strstr(path, "/../")) && up > path;) {
        char *folder = up - 1;
        while (folder > path && *folder != '/')
            folder--;
        memmove(folder, up + 3, strlen(up + 3) + 1);
    }
}

enum { MOST_PATHS = 1024, LONGEST_PATH = 4096 };

/* A name relative to where the compiler ran, as a path that exists; else as it is. */
static const char *path_of(wg_elf *elf, Dwarf_Die *unit, const char *given)
{
    Dwarf_Attribute attribute;
    if (elf->source)
        return elf->source;
    if (!given || *given == '/')
        return given;
    for (size_t i = 0; i < elf->paths; i++)
        if (elf->path[i].given == given)
            return elf->path[i].full ? elf->path[i].full : given;
    if (elf->paths == MOST_PATHS)
        return given;
    wg_elf_path *more = realloc(elf->path, (elf->paths + 1) * sizeof *more);
    if (!more)
        return given;
    elf->path = more;
    const char *from = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    char *full = NULL;
    if (from && strlen(from) + strlen(given) < LONGEST_PATH && asprintf(&full, "%s/%s", from, given) < 0)
        full = NULL;
    if (full)
        shorten(full);
    if (full && access(full, R_OK) != 0) {
        free(full);
        full = NULL;
    }
    more[elf->paths++] = (wg_elf_path){given, full};
    return full ? full : given;
}

/* A file without .debug_aranges (assembled by hand, say) is searched unit by unit. */
static Dwarf_Line *search_units(Dwarf *dwarf, uint32_t address, Dwarf_Die *unit)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    for (; dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0; offset = next) {
        if (!dwarf_offdie(dwarf, offset + header, unit))
            continue;
        Dwarf_Line *line = dwarf_getsrc_die(unit, address);
        if (line)
            return line;
    }
    return NULL;
}

/* The line of the address, and its compilation unit. */
static Dwarf_Line *find_line(wg_elf *elf, uint32_t address, Dwarf_Die *unit)
{
    Dwarf *dwarf = dwarf_of(elf);
    if (!dwarf)
        return NULL;
    Dwarf_Line *line = dwarf_addrdie(dwarf, address, unit) ? dwarf_getsrc_die(unit, address) : NULL;
    return line ? line : search_units(dwarf, address, unit);
}

static bool line_at(wg_elf *elf, uint32_t address, wg_elf_line *out)
{
    Dwarf_Die unit;
    Dwarf_Line *line = find_line(elf, address, &unit);
    int number = 0;
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!file || dwarf_lineno(line, &number) != 0 || number <= 0)
        return false;
    int column = 0;
    if (dwarf_linecol(line, &column) != 0 || column < 0)
        column = 0;
    *out = (wg_elf_line){path_of(elf, &unit, file), (unsigned)number, (unsigned)column};
    return true;
}

bool wg_elf_line_at(wg_elf *elf, uint32_t address, wg_elf_line *out)
{
    if (elf->mark)
        return wg_elf_mark_at(elf, address, out);
    errno = 0;
    bool known = line_at(elf, address, out);
    elf->out_of_memory |= !known && errno == ENOMEM;
    return known;
}

/*
 * The path from a compilation unit to the innermost block that contains the address. libdw's own walk recurses to any depth
 * in the file, and a file may make a DIE its own sibling: this one has limits.
 */
enum { MOST_DEPTH = 64, MOST_DIES = 200000 };
typedef struct descent {
    Dwarf_Addr address;
    Dwarf_Die way[MOST_DEPTH];
    unsigned depth, seen;
} descent;

static bool has_code(const descent *d, Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block: return dwarf_haspc(die, d->address) > 0;
    default: return false;
    }
}

/* True: `from` has a block that contains the address. A namespace may contain it without an address of its own. */
static bool descend(descent *d, Dwarf_Die *from, unsigned namespaces)
{
    Dwarf_Die die;
    for (int more = dwarf_child(from, &die); more == 0 && d->seen < MOST_DIES; more = dwarf_siblingof(&die, &die)) {
        d->seen++;
        if (dwarf_tag(&die) == DW_TAG_namespace && namespaces < MOST_DEPTH && descend(d, &die, namespaces + 1))
            return true;
        if (has_code(d, &die)) {
            d->way[d->depth++] = die;
            return true;
        }
    }
    return false;
}

/* The caller's line of an inlined block. */
static wg_elf_call call_of(wg_elf *elf, Dwarf_Die *unit, Dwarf_Die *die)
{
    wg_elf_call call = {.function = dwarf_diename(die)};
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t count;
    if (!dwarf_attr(die, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &file) != 0 ||
        !dwarf_attr(die, DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count || line == 0 || line > UINT32_MAX)
        return call;
    call.file = path_of(elf, unit, dwarf_filesrc(files, file, NULL, NULL));
    call.line = call.file ? (unsigned)line : 0;
    return call;
}

unsigned wg_elf_inlined_at(wg_elf *elf, uint32_t address, wg_elf_call *call, unsigned most)
{
    Dwarf_Die unit;
    descent d = {.address = address};
    unsigned count = 0;
    errno = 0;
    if (!find_line(elf, address, &unit))
        return 0;
    for (Dwarf_Die from = unit; d.depth < MOST_DEPTH && descend(&d, &from, 0);)
        from = d.way[d.depth - 1];
    for (unsigned i = d.depth; i-- > 0 && count < most;) {
        if (dwarf_tag(&d.way[i]) == DW_TAG_subprogram)
            break;
        if (dwarf_tag(&d.way[i]) != DW_TAG_inlined_subroutine)
            continue;
        call[count] = call_of(elf, &unit, &d.way[i]);
        count += call[count].function != NULL;
    }
    elf->out_of_memory |= errno == ENOMEM;
    return count;
}

void wg_elf_lines_close(wg_elf *elf)
{
    for (size_t i = 0; i < elf->paths; i++)
        free(elf->path[i].full);
    free(elf->path);
    if (elf->dwarf)
        dwarf_end(elf->dwarf);
    elf->dwarf = NULL;
}
