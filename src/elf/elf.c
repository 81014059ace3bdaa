/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading an ELF file from memory: header and program headers are checked here by hand, before
 * libelf sees the file, so that every error message is a sentence; libelf then gives sections and
 * symbols, libdw the lines (lines.c).
 *
 * Facts: the System V ABI's ELF chapters; EM_RISCV, ELFCLASS32, little-endian, as the baby cores'
 * compilers write them.
 */
#include "elf/elf_internal.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEGMENTS = 256, MAX_FILE = 256 << 20, MAX_SYMBOLS = 1 << 20, MAX_TABLES = 16 };

static void fail(char *error, size_t bytes, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void fail(char *error, size_t bytes, const char *name, const char *format, ...)
{
    if (bytes == 0)
        return;
    int n = snprintf(error, bytes, "%s: ", name);
    if (n < 0 || (size_t)n >= bytes)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(error + n, bytes - (size_t)n, format, args);
    va_end(args);
}

bool wg_elf_is_elf(const void *bytes, size_t count) { return count >= 4 && memcmp(bytes, ELFMAG, SELFMAG) == 0; }

static const char *class_name(unsigned class) { return class == ELFCLASS64 ? "a 64-bit" : "an unknown-class"; }

static bool check_header(const wg_elf *elf, Elf32_Ehdr *h, char *error, size_t n)
{
    const uint8_t *ident = elf->image;
    if (!wg_elf_is_elf(elf->image, elf->bytes)) {
        fail(error, n, elf->name, "this is not an ELF file: it does not start with the bytes 7F 'E' 'L' 'F'");
        return false;
    }
    if (elf->bytes < sizeof *h) {
        fail(error, n, elf->name, "the ELF file is truncated: %zu bytes cannot hold a file header of %zu", elf->bytes,
             sizeof *h);
        return false;
    }
    if (ident[EI_CLASS] != ELFCLASS32) {
        fail(error, n, elf->name, "this is %s ELF file; the baby cores run 32-bit RISC-V programs",
             class_name(ident[EI_CLASS]));
        return false;
    }
    if (ident[EI_DATA] != ELFDATA2LSB) {
        fail(error, n, elf->name, "this is a big-endian ELF file; the baby cores are little-endian");
        return false;
    }
    memcpy(h, elf->image, sizeof *h);
    if (h->e_machine != EM_RISCV) {
        fail(error, n, elf->name, "this ELF file is for machine %u, not for RISC-V (%u)", h->e_machine, EM_RISCV);
        return false;
    }
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN) {
        fail(error, n, elf->name, "this ELF file is no executable (type %u): link it first", h->e_type);
        return false;
    }
    if (h->e_phnum == 0 || h->e_phnum > MAX_SEGMENTS) {
        fail(error, n, elf->name, "the ELF file has %u program headers; between 1 and %d make sense", h->e_phnum,
             MAX_SEGMENTS);
        return false;
    }
    if (h->e_phentsize != sizeof(Elf32_Phdr) || h->e_phoff > elf->bytes ||
        elf->bytes - h->e_phoff < (size_t)h->e_phnum * sizeof(Elf32_Phdr)) {
        fail(error, n, elf->name, "the ELF file is truncated: its %u program headers at offset %u do not lie inside it",
             h->e_phnum, h->e_phoff);
        return false;
    }
    return true;
}

static bool overlaps(const wg_elf_segment *a, const wg_elf_segment *b)
{
    return (uint64_t)a->address < (uint64_t)b->address + b->memory_bytes &&
           (uint64_t)b->address < (uint64_t)a->address + a->memory_bytes;
}

static bool read_segments(wg_elf *elf, const Elf32_Ehdr *h, char *error, size_t n)
{
    elf->segment = calloc(h->e_phnum, sizeof *elf->segment);
    if (!elf->segment) {
        fail(error, n, elf->name, "out of memory");
        return false;
    }
    for (unsigned i = 0; i < h->e_phnum; i++) {
        Elf32_Phdr p;
        memcpy(&p, elf->image + h->e_phoff + i * sizeof p, sizeof p);
        if (p.p_type != PT_LOAD || p.p_memsz == 0)
            continue;
        if (p.p_offset > elf->bytes || elf->bytes - p.p_offset < p.p_filesz) {
            fail(error, n, elf->name,
                 "the ELF file is truncated: segment %u wants %u bytes at offset %u of a file of %zu", i, p.p_filesz,
                 p.p_offset, elf->bytes);
            return false;
        }
        if (p.p_filesz > p.p_memsz) {
            fail(error, n, elf->name, "segment %u has more bytes in the file (%u) than in memory (%u)", i, p.p_filesz,
                 p.p_memsz);
            return false;
        }
        if ((uint64_t)p.p_vaddr + p.p_memsz > UINT64_C(1) << 32 || (uint64_t)p.p_paddr + p.p_memsz > UINT64_C(1)
                                                                                                         << 32) {
            fail(error, n, elf->name, "segment %u (%u bytes at 0x%08x) runs past the end of the address space", i,
                 p.p_memsz, p.p_vaddr);
            return false;
        }
        wg_elf_segment *s = &elf->segment[elf->segments];
        *s = (wg_elf_segment){.address = p.p_vaddr,
                              .load_address = p.p_paddr,
                              .file_bytes = p.p_filesz,
                              .memory_bytes = p.p_memsz,
                              .data = elf->image + p.p_offset,
                              .executable = (p.p_flags & PF_X) != 0};
        for (size_t other = 0; other < elf->segments; other++)
            if (overlaps(s, &elf->segment[other])) {
                fail(error, n, elf->name, "two segments overlap at 0x%08x",
                     s->address > elf->segment[other].address ? s->address : elf->segment[other].address);
                return false;
            }
        elf->segments++;
    }
    if (elf->segments == 0) {
        fail(error, n, elf->name, "the ELF file has no loadable segment");
        return false;
    }
    return true;
}

static bool read_symbol_table(wg_elf *elf, Elf_Scn *section, const GElf_Shdr *header, char *error, size_t n)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !data->d_buf)
        return true;
    /* The limit is on all tables together: several may share their bytes. */
    size_t count = data->d_size / sizeof(Elf32_Sym);
    if (count > MAX_SYMBOLS - elf->symbols_read) {
        fail(error, n, elf->name, "the ELF file has more than %d symbols", MAX_SYMBOLS);
        return false;
    }
    elf->symbols_read += count;
    wg_elf_symbol *grown = realloc(elf->symbol, (elf->symbols + count + 1) * sizeof *grown);
    if (!grown) {
        fail(error, n, elf->name, "out of memory");
        return false;
    }
    elf->symbol = grown;
    for (size_t i = 0; i < count; i++) {
        Elf32_Sym s;
        memcpy(&s, (const char *)data->d_buf + i * sizeof s, sizeof s);
        unsigned type = ELF32_ST_TYPE(s.st_info);
        if (s.st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_FILE)
            continue;
        const char *name = elf_strptr(elf->libelf, header->sh_link, s.st_name);
        /* "$x" and ".L…" are local symbols of the assembler. */
        if (!name || !*name || *name == '$' || strncmp(name, ".L", 2) == 0)
            continue;
        elf->symbol[elf->symbols++] = (wg_elf_symbol){.name = name,
                                                      .address = s.st_value,
                                                      .bytes = s.st_size,
                                                      .function = type == STT_FUNC,
                                                      .object = type == STT_OBJECT};
    }
    return true;
}

/* Symbols and sections are optional: a file without them still runs. */
static bool read_symbols(wg_elf *elf, char *error, size_t n)
{
    unsigned tables = 0;
    elf_version(EV_CURRENT);
    elf->libelf = elf_memory((char *)elf->image, elf->bytes);
    if (!elf->libelf)
        return true;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf->libelf, section)) != NULL;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
            continue;
        if (++tables > MAX_TABLES) {
            fail(error, n, elf->name, "the ELF file has more than %d symbol tables", MAX_TABLES);
            return false;
        }
        if (!read_symbol_table(elf, section, &header, error, n))
            return false;
    }
    wg_elf_sort_symbols(elf);
    return true;
}

wg_elf *wg_elf_open(const char *name, const void *bytes, size_t count, char *error, size_t error_bytes)
{
    wg_elf *elf = calloc(1, sizeof *elf);
    if (!elf || !(elf->name = strdup(name)) || !(elf->image = calloc(count ? count : 1, 1))) {
        fail(error, error_bytes, name, "out of memory");
        wg_elf_close(elf);
        return NULL;
    }
    if (count)
        memcpy(elf->image, bytes, count);
    elf->bytes = count;
    Elf32_Ehdr header;
    if (!check_header(elf, &header, error, error_bytes) || !read_segments(elf, &header, error, error_bytes)) {
        wg_elf_close(elf);
        return NULL;
    }
    elf->entry = header.e_entry;
    if (!read_symbols(elf, error, error_bytes)) {
        wg_elf_close(elf);
        return NULL;
    }
    return elf;
}

wg_elf *wg_elf_open_file(const char *path, char *error, size_t error_bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fail(error, error_bytes, path, "%s", strerror(errno));
        return NULL;
    }
    wg_elf *elf = NULL;
    uint8_t *image = NULL;
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (size < 0 || fseek(f, 0, SEEK_SET) != 0)
        fail(error, error_bytes, path, "cannot tell its size: %s", strerror(errno));
    else if (size > MAX_FILE)
        fail(error, error_bytes, path, "%ld bytes are too many for a kernel", size);
    else if (!(image = malloc(size ? (size_t)size : 1)))
        fail(error, error_bytes, path, "out of memory");
    else if (fread(image, 1, (size_t)size, f) != (size_t)size)
        fail(error, error_bytes, path, "cannot be read: %s", errno ? strerror(errno) : "it is shorter than it was");
    else
        elf = wg_elf_open(path, image, (size_t)size, error, error_bytes);
    free(image);
    fclose(f);
    return elf;
}

void wg_elf_reader_close(wg_elf *elf)
{
    wg_elf_lines_close(elf);
    if (elf->libelf)
        elf_end(elf->libelf);
}

bool wg_elf_section(const wg_elf *elf, const char *name, uint32_t *address, uint32_t *bytes)
{
    size_t names = 0;
    if (!elf->libelf || elf_getshdrstrndx(elf->libelf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf->libelf, section)) != NULL;) {
        GElf_Shdr header;
        const char *found = gelf_getshdr(section, &header) ? elf_strptr(elf->libelf, names, header.sh_name) : NULL;
        if (found && strcmp(found, name) == 0) {
            *address = (uint32_t)header.sh_addr;
            *bytes = (uint32_t)header.sh_size;
            return true;
        }
    }
    return false;
}
