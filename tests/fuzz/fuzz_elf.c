/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an ELF file: segments, symbols, sections and lines are read completely or refused. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "elf/elf.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[256] = "";
    if (wg_elf_open_file("/a/file/that/is/not/there", error, sizeof error) || !error[0])
        abort();
    error[0] = 0;
    const char *path = size % 8 == 0 ? memory_file(data, size) : NULL;
    wg_elf *elf =
        path ? wg_elf_open_file(path, error, sizeof error) : wg_elf_open("fuzz", data, size, error, sizeof error);
    if (!elf) {
        if (!error[0])
            abort();
        return 0;
    }
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < wg_elf_segments(elf); i++) {
        const wg_elf_segment *s = wg_elf_segment_at(elf, i);
        for (uint32_t k = 0; k < s->file_bytes; k++)
            sum = (uint8_t)(sum + s->data[k]);
        wg_elf_line line;
        wg_elf_function(elf, s->address);
        wg_elf_line_at(elf, s->address, &line);
        wg_elf_call call[8];
        for (uint32_t k = 0; k < 64; k += 4)
            for (unsigned n = wg_elf_inlined_at(elf, s->address + k, call, 8); n-- > 0;)
                sum = (uint8_t)(sum + call[n].function[0] + (call[n].file ? call[n].file[0] : 0));
    }
    for (size_t i = 0; i < wg_elf_symbols(elf) && i < 64; i++)
        sum = (uint8_t)(sum + wg_elf_symbol_at(elf, i)->name[0]);
    wg_elf_symbol_named(elf, "main");
    wg_elf_function(elf, wg_elf_entry(elf));
    sum = (uint8_t)(sum + wg_elf_name(elf)[0]);
    uint32_t address, bytes;
    wg_elf_section(elf, ".loader_init", &address, &bytes);
    wg_elf_section(elf, ".text", &address, &bytes);
    wg_elf_close(elf);
    return 0;
}
