/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small RISC-V assembler against GNU as and ld: bytes, symbols and source lines of every core section of the programs.
 *
 *     rv_assembled PROGRAM…      ends in "N sections, M differ"
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tasm_internal.h"

static unsigned sections, differing;

/* Symbols of the linker's own script. */
static bool is_linkers(const char *name)
{
    return strncmp(name, "__", 2) == 0 || strcmp(name, "_edata") == 0 || strcmp(name, "_end") == 0;
}

static bool differs(const char *program, unsigned core, const char *what, uint32_t at, uint32_t want, uint32_t is)
{
    printf("%s, core %s: %s 0x%x: 0x%x instead of 0x%x\n", program, wg_tasm_core_names[core], what, at, is, want);
    return true;
}

static bool bytes_differ(const char *program, unsigned core, const wg_elf *want, const wg_elf *is)
{
    const wg_elf_segment *a = wg_elf_segment_at(want, 0), *b = wg_elf_segment_at(is, 0);
    if (wg_elf_segments(want) != wg_elf_segments(is) || wg_elf_entry(want) != wg_elf_entry(is))
        return differs(program, core, "segments, entry", 0, wg_elf_entry(want), wg_elf_entry(is));
    if (!a)
        return false;
    for (uint32_t i = 0; i < a->memory_bytes && i < b->memory_bytes; i++) {
        const uint8_t x = i < a->file_bytes ? a->data[i] : 0, y = i < b->file_bytes ? b->data[i] : 0;
        uint32_t words[2] = {0};
        if (x == y)
            continue;
        i &= ~3u;
        memcpy(&words[0], a->data + i, i + 4 <= a->file_bytes ? 4 : 0);
        memcpy(&words[1], b->data + i, i + 4 <= b->file_bytes ? 4 : 0);
        return differs(program, core, "the word at", a->address + i, words[0], words[1]);
    }
    if (a->address != b->address || a->memory_bytes != b->memory_bytes)
        return differs(program, core, "bytes at", a->address, a->memory_bytes, b->memory_bytes);
    return false;
}

static bool lines_differ(const char *program, unsigned core, wg_elf *want, wg_elf *is)
{
    const wg_elf_segment *s = wg_elf_segment_at(want, 0);
    for (uint32_t i = 0; s && i < s->memory_bytes; i += 4) {
        wg_elf_line x = {0}, y = {0};
        const bool a = wg_elf_line_at(want, s->address + i, &x), b = wg_elf_line_at(is, s->address + i, &y);
        if (a && (!b || x.line != y.line || strcmp(x.file, y.file) != 0))
            return differs(program, core, "the line of", s->address + i, x.line, y.line);
    }
    return false;
}

static bool symbols_differ(const char *program, unsigned core, const wg_elf *want, const wg_elf *is)
{
    size_t k = 0;
    for (size_t i = 0; i < wg_elf_symbols(want); i++) {
        const wg_elf_symbol *a = wg_elf_symbol_at(want, i), *b = wg_elf_symbol_at(is, k);
        if (is_linkers(a->name))
            continue;
        if (!b || strcmp(a->name, b->name) != 0 || a->address != b->address) {
            printf("%s, core %s: symbol %s instead of %s\n", program, wg_tasm_core_names[core], b ? b->name : "none",
                   a->name);
            return true;
        }
        k++;
    }
    return k != wg_elf_symbols(is) && differs(program, core, "symbols", 0, (uint32_t)k, (uint32_t)wg_elf_symbols(is));
}

static void compare(const char *path)
{
    char error[512];
    size_t bytes;
    wg_tasm t;
    uint8_t *source = wg_file_read(path, &bytes, error, sizeof error);
    if (!source) {
        printf("%s\n", error);
        differing++;
        return;
    }
    /* Some are wrong on purpose, or for Wormhole. */
    const bool right = wg_tasm_parse(&t, path, (const char *)source, bytes, WG_ARCH_BH) && wg_tasm_link(&t);
    for (unsigned core = 0; right && core < WG_CORES; core++) {
        wg_elf *want = t.core[core].elf;
        if (!t.core[core].present)
            continue;
        sections++;
        const size_t errors = t.errors;
        if (!wg_tasm_assemble(&t, core)) {
            printf("%s, core %s: refused%s%s\n", path, wg_tasm_core_names[core], t.errors > errors ? ": " : "",
                   t.errors > errors ? t.error[errors].message : "");
            differing++;
        } else {
            wg_elf *is = t.core[core].elf;
            differing += bytes_differ(path, core, want, is) || symbols_differ(path, core, want, is) ||
                         lines_differ(path, core, want, is);
        }
        wg_elf_close(want);
    }
    wg_tasm_free(&t);
    free(source);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        compare(argv[i]);
    printf("%u sections, %u differ\n", sections, differing);
    return differing != 0;
}
