/* SPDX-License-Identifier: Apache-2.0 */
/* What an image contains, whether it was read from a file (elf.c) or made by the small assembler. Needs libc alone. */
#include <stdlib.h>
#include <string.h>

#include "elf/elf_internal.h"

static int by_address(const void *a, const void *b)
{
    const wg_elf_symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->function != y->function)
        return x->function ? -1 : 1;
    return strcmp(x->name, y->name);
}

void wg_elf_sort_symbols(wg_elf *elf)
{
    if (elf->symbols)
        qsort(elf->symbol, elf->symbols, sizeof *elf->symbol, by_address);
}

/* The names are behind the bytes. */
static bool copy_symbols(wg_elf *elf, char *room, const wg_elf_symbol *symbol, size_t symbols)
{
    elf->symbol = calloc(symbols + 1, sizeof *elf->symbol);
    for (size_t i = 0; elf->symbol && i < symbols; i++) {
        const size_t length = strlen(symbol[i].name) + 1;
        elf->symbol[i] = symbol[i];
        elf->symbol[i].name = memcpy(room, symbol[i].name, length);
        room += length;
    }
    elf->symbols = elf->symbol ? symbols : 0;
    wg_elf_sort_symbols(elf);
    return elf->symbol;
}

wg_elf *wg_elf_make(const char *name, uint32_t address, const void *bytes, size_t count, const wg_elf_symbol *symbol,
                    size_t symbols, const wg_elf_mark *mark, size_t marks)
{
    size_t room = count + 1;
    for (size_t i = 0; i < symbols; i++)
        room += strlen(symbol[i].name) + 1;
    wg_elf *elf = calloc(1, sizeof *elf);
    if (!elf)
        return NULL;
    elf->name = strdup(name);
    elf->image = calloc(room, 1);
    elf->segment = calloc(1, sizeof *elf->segment);
    elf->mark = calloc(marks + 1, sizeof *elf->mark);
    if (!elf->name || !elf->image || !elf->segment || !elf->mark ||
        !copy_symbols(elf, (char *)elf->image + count, symbol, symbols)) {
        wg_elf_close(elf);
        return NULL;
    }
    if (count)
        memcpy(elf->image, bytes, count);
    if (marks)
        memcpy(elf->mark, mark, marks * sizeof *mark);
    elf->marks = marks;
    elf->bytes = count;
    elf->entry = address;
    elf->segments = count != 0;
    elf->segment[0] = (wg_elf_segment){.address = address,
                                       .load_address = address,
                                       .file_bytes = (uint32_t)count,
                                       .memory_bytes = (uint32_t)count,
                                       .data = elf->image,
                                       .executable = true};
    return elf;
}

bool wg_elf_name_source(wg_elf *elf, const char *name) { return (elf->source = strdup(name)) != NULL; }

bool wg_elf_mark_at(const wg_elf *elf, uint32_t address, wg_elf_line *out)
{
    if (!elf->segments || address - elf->segment[0].address >= elf->segment[0].memory_bytes)
        return false;
    for (size_t i = elf->marks; i-- > 0;)
        if (elf->mark[i].address <= address) {
            *out = (wg_elf_line){elf->name, elf->mark[i].line, 0};
            return true;
        }
    return false;
}

void wg_elf_close(wg_elf *elf)
{
    if (!elf)
        return;
    wg_elf_reader_close(elf);
    free(elf->mark);
    free(elf->source);
    free(elf->symbol);
    free(elf->segment);
    free(elf->image);
    free(elf->name);
    free(elf);
}

const char *wg_elf_name(const wg_elf *elf) { return elf->name; }
uint32_t wg_elf_entry(const wg_elf *elf) { return elf->entry; }
size_t wg_elf_segments(const wg_elf *elf) { return elf->segments; }
size_t wg_elf_symbols(const wg_elf *elf) { return elf->symbols; }

const wg_elf_segment *wg_elf_segment_at(const wg_elf *elf, size_t index)
{
    return index < elf->segments ? &elf->segment[index] : NULL;
}

const wg_elf_symbol *wg_elf_symbol_at(const wg_elf *elf, size_t index)
{
    return index < elf->symbols ? &elf->symbol[index] : NULL;
}

/*
 * Is `name` the function's in the source? A C++ name is _Z, [L], then LENGTH NAME, or N … LENGTH NAME … E for one within
 * namespaces and classes, which may be left out; parameters and template arguments follow.
 */
static bool is_mangled(const char *symbol, const char *name)
{
    char whole[256];
    size_t used = 0, last = 0;
    if (strncmp(symbol, "_Z", 2) != 0)
        return false;
    symbol += 2;
    const bool nested = *symbol == 'N';
    symbol += strspn(symbol, "NLKVr");
    do {
        char *end;
        const unsigned long length = strtoul(symbol, &end, 10);
        if (end == symbol || !length || length > strlen(end) || used + length + 3 > sizeof whole)
            break;
        if (used) {
            memcpy(whole + used, "::", 2);
            used += 2;
        }
        last = used;
        memcpy(whole + used, end, length);
        used += length;
        symbol = end + length;
    } while (nested);
    whole[used] = 0;
    return used && (strcmp(whole, name) == 0 || strcmp(whole + last, name) == 0);
}

const wg_elf_symbol *wg_elf_symbol_named(const wg_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->symbols; i++)
        if (strcmp(elf->symbol[i].name, name) == 0)
            return &elf->symbol[i];
    for (size_t i = 0; i < elf->symbols; i++)
        if (is_mangled(elf->symbol[i].name, name))
            return &elf->symbol[i];
    return NULL;
}

static const wg_elf_segment *segment_of(const wg_elf *elf, uint32_t address)
{
    for (size_t i = 0; i < elf->segments; i++)
        if (address - elf->segment[i].address < elf->segment[i].memory_bytes)
            return &elf->segment[i];
    return NULL;
}

const wg_elf_symbol *wg_elf_function(const wg_elf *elf, uint32_t address)
{
    const wg_elf_segment *segment = segment_of(elf, address);
    if (!segment || !segment->executable)
        return NULL;
    size_t low = 0, high = elf->symbols; /* the first symbol past the address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (elf->symbol[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* A sized function that covers it wins; else the nearest label, as in hand-written code. */
    const wg_elf_symbol *label = NULL;
    for (size_t i = low; i-- > 0 && elf->symbol[i].address >= segment->address;) {
        const wg_elf_symbol *s = &elf->symbol[i];
        if (s->function && address - s->address < s->bytes)
            return s;
        if (!label && (s->function ? s->bytes == 0 : true))
            label = s;
    }
    return label;
}

bool wg_elf_out_of_memory(const wg_elf *elf) { return elf->out_of_memory; }
