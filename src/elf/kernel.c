/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of tt-metal: linked after the firmware, run wherever the host puts them. The loader makes the code
 * independent of its position with the relocations that the linker has kept (--emit-relocs):
 *
 *     lui   to code, absolute   ──►  auipc     its lo12 likewise
 *     auipc to data, relative   ──►  lui       data stay in the core's own RAM
 *     word with a code address  ──►  offset in the code; the launcher adds the address
 *
 * Facts: tt-metal, llrt/tt_elffile.cpp (XIPify), llrt/tt_memory.cpp; the RISC-V ELF psABI. A lo12 of an absolute address
 * belongs to the nearest hi20 of its symbol before it, as there.
 */
#include "elf/elf_internal.h"

#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IMAGE = 1 << 21, MAX_RELOCATIONS = 1 << 20 };
enum { LUI = 0x37, AUIPC = 0x17, OPCODE = 0x7F };

typedef struct relocation {
    uint32_t offset, type, symbol;
    uint32_t target; /* address, with the addend */
    bool to_text;
    bool translated; /* a hi20 whose instruction has changed */
    uint32_t value;  /* … for the lo12s that belong to it */
} relocation;

typedef struct reading {
    const wg_elf *elf;
    const wg_elf_segment *text;
    wg_elf_kernel *out;
    relocation *list;
    size_t count;
    uint32_t *last; /* by symbol: 1 + index of its last absolute hi20 */
    size_t symbols;
    char *error;
    size_t room;
} reading;

static bool fail(reading *r, const char *what, uint32_t at)
{
    snprintf(r->error, r->room, "%s: %s at 0x%x", r->elf->name, what, at);
    return false;
}

static bool in_text(const reading *r, uint32_t address) { return address - r->text->address < r->text->memory_bytes; }

static uint32_t load(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void store(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* The word of the image that the program has at `address`; NULL: none. */
static uint8_t *word_at(reading *r, uint32_t address)
{
    for (size_t i = 0; i < r->elf->segments; i++) {
        const wg_elf_segment *s = &r->elf->segment[i];
        if (s->file_bytes >= 4 && address - s->address <= s->file_bytes - 4)
            return r->out->image + (s->load_address - r->text->load_address) + (address - s->address);
    }
    return NULL;
}

/* ---- Translation ----------------------------------------------------------------------------------------- */

static bool translate_hi(reading *r, relocation *hi, uint32_t from, uint32_t value)
{
    uint8_t *at = word_at(r, hi->offset);
    uint32_t word = at ? load(at) : 0;
    if (!at || (word & OPCODE) != from)
        return fail(r,
                    from == LUI ? "the instruction is no lui, contrary to its relocation"
                                : "the instruction is no auipc, contrary to its relocation",
                    hi->offset);
    store(at, (word & 0xFFF & ~(uint32_t)OPCODE) | (from == LUI ? AUIPC : LUI) | ((value + 0x800) & 0xFFFFF000));
    hi->translated = true;
    hi->value = value;
    return true;
}

static bool translate_lo(reading *r, const relocation *lo, uint32_t value)
{
    uint8_t *at = word_at(r, lo->offset);
    if (!at)
        return fail(r, "a relocation outside of the code", lo->offset);
    const bool store_form = lo->type == R_RISCV_LO12_S || lo->type == R_RISCV_PCREL_LO12_S;
    uint32_t word = load(at);
    if (store_form)
        word = (word & 0x01FFF07F) | (value & 0x1F) << 7 | (value & 0xFE0) << 20;
    else
        word = (word & 0x000FFFFF) | value << 20;
    store(at, word);
    return true;
}

/* The relocation with this offset and type; the list is sorted by offset. */
static relocation *relocation_at(reading *r, uint32_t offset, uint32_t type)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->list[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->count && r->list[low].offset == offset; low++)
        if (r->list[low].type == type)
            return &r->list[low];
    return NULL;
}

static bool translate_word(reading *r, const relocation *word)
{
    uint8_t *at = word_at(r, word->offset);
    if (!at)
        return fail(r, "a relocation outside of the program", word->offset);
    uint32_t *more = realloc(r->out->fixup, (r->out->fixups + 1) * sizeof *more);
    if (!more)
        return fail(r, "out of memory", word->offset);
    r->out->fixup = more;
    more[r->out->fixups++] = (uint32_t)(at - r->out->image);
    store(at, word->target - r->text->address);
    return true;
}

static bool translate(reading *r, size_t index)
{
    relocation *l = &r->list[index], *hi;
    const bool from_text = in_text(r, l->offset);
    switch (l->type) {
    case R_RISCV_HI20:
        if (!l->to_text)
            return true;
        r->last[l->symbol] = (uint32_t)index + 1;
        return from_text ? translate_hi(r, l, LUI, l->target - l->offset)
                         : fail(r, "data with an instruction that addresses code", l->offset);
    case R_RISCV_LO12_I:
    case R_RISCV_LO12_S:
        if (!l->to_text)
            return true;
        return r->last[l->symbol] ? translate_lo(r, l, r->list[r->last[l->symbol] - 1].value)
                                  : fail(r, "a lo12 without its hi20", l->offset);
    case R_RISCV_PCREL_HI20: return l->to_text ? true : translate_hi(r, l, AUIPC, l->target);
    case R_RISCV_PCREL_LO12_I:
    case R_RISCV_PCREL_LO12_S:
        hi = relocation_at(r, l->target, R_RISCV_PCREL_HI20);
        return !hi ? fail(r, "a lo12 without its hi20", l->offset) : !hi->translated || translate_lo(r, l, hi->value);
    case R_RISCV_32: return !l->to_text || translate_word(r, l);
    case R_RISCV_JAL:
    case R_RISCV_CALL:
    case R_RISCV_CALL_PLT: return l->to_text || fail(r, "a call to something outside of the kernel's code", l->offset);
    case R_RISCV_32_PCREL: return fail(r, "a distance between code and data", l->offset);
    default: return true;
    }
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
    const relocation *x = a, *y = b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : x->type < y->type ? -1 : x->type > y->type;
}

/* The relocations of one section, if it is loaded. */
static bool read_section(reading *r, Elf_Scn *scn, const GElf_Shdr *header)
{
    GElf_Shdr target, table;
    Elf_Scn *of = elf_getscn(r->elf->libelf, header->sh_info), *symbols = elf_getscn(r->elf->libelf, header->sh_link);
    if (!of || !symbols || !gelf_getshdr(of, &target) || !gelf_getshdr(symbols, &table))
        return fail(r, "a damaged relocation section, whose symbols are section", (uint32_t)header->sh_link);
    if (!(target.sh_flags & SHF_ALLOC) || target.sh_type == SHT_NOBITS)
        return true;
    Elf_Data *data = elf_getdata(scn, NULL), *names = elf_getdata(symbols, NULL);
    const size_t all = table.sh_entsize ? (size_t)(table.sh_size / table.sh_entsize) : 0,
                 count = header->sh_entsize ? (size_t)(header->sh_size / header->sh_entsize) : 0;
    if (!data || !names || count > MAX_RELOCATIONS - r->count || all > MAX_RELOCATIONS)
        return fail(r, "damaged or too many relocations in the section", (uint32_t)target.sh_addr);
    relocation *more = realloc(r->list, (r->count + count + 1) * sizeof *more);
    if (!more)
        return fail(r, "out of memory", 0);
    r->list = more;
    if (all > r->symbols)
        r->symbols = all;
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        if (!gelf_getrela(data, (int)i, &rela) || GELF_R_SYM(rela.r_info) >= all ||
            !gelf_getsym(names, (int)GELF_R_SYM(rela.r_info), &symbol))
            return fail(r, "a damaged relocation in the section", (uint32_t)target.sh_addr);
        /* A symbol belongs to the code by its section, not by its value: an absolute one may have any. */
        Elf_Scn *home =
            symbol.st_shndx && symbol.st_shndx < SHN_LORESERVE ? elf_getscn(r->elf->libelf, symbol.st_shndx) : NULL;
        GElf_Shdr where;
        const bool to_text =
            home && gelf_getshdr(home, &where) && where.sh_flags & SHF_ALLOC && in_text(r, (uint32_t)where.sh_addr);
        r->list[r->count++] = (relocation){.offset = (uint32_t)rela.r_offset,
                                           .type = (uint32_t)GELF_R_TYPE(rela.r_info),
                                           .symbol = (uint32_t)GELF_R_SYM(rela.r_info),
                                           .target = (uint32_t)symbol.st_value + (uint32_t)rela.r_addend,
                                           .to_text = to_text};
    }
    return true;
}

static bool read_relocations(reading *r, bool *any)
{
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(r->elf->libelf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA)
            continue;
        *any = true;
        if (!read_section(r, scn, &header))
            return false;
    }
    return true;
}

static bool read_image(reading *r)
{
    const wg_elf *elf = r->elf;
    uint32_t bytes = 0;
    if (elf->entry != r->text->address)
        return fail(r, "a kernel begins with its code, but this program starts", elf->entry);
    for (size_t i = 0; i < elf->segments; i++) {
        const wg_elf_segment *s = &elf->segment[i];
        const uint32_t at = s->load_address - r->text->load_address;
        if (at > MAX_IMAGE || s->file_bytes > MAX_IMAGE - at)
            return fail(r, "a segment is far from the kernel's code", s->load_address);
        bytes = at + s->file_bytes > bytes ? at + s->file_bytes : bytes;
    }
    r->out->bytes = (bytes + 3) & ~3u;
    r->out->text_bytes = r->text->file_bytes;
    r->out->link_address = r->text->address;
    if (!(r->out->image = calloc(1, r->out->bytes + 4)))
        return fail(r, "out of memory", 0);
    for (size_t i = 0; i < elf->segments; i++)
        memcpy(r->out->image + (elf->segment[i].load_address - r->text->load_address), elf->segment[i].data,
               elf->segment[i].file_bytes);
    return true;
}

bool wg_elf_kernel_read(const wg_elf *elf, wg_elf_kernel *out, char *error, size_t bytes)
{
    reading r = {.elf = elf, .text = &elf->segment[0], .out = out, .error = error, .room = bytes};
    bool any = false, right;
    *out = (wg_elf_kernel){0};
    right = !elf->libelf || read_relocations(&r, &any);
    if (right && !any)
        right =
            fail(&r, "a kernel keeps its relocations (link it with --emit-relocs), unlike this program", elf->entry);
    right = right && read_image(&r);
    if (right && !(r.last = calloc(r.symbols + 1, sizeof *r.last)))
        right = fail(&r, "out of memory", 0);
    if (right && r.count)
        qsort(r.list, r.count, sizeof *r.list, by_offset);
    for (size_t i = 0; right && i < r.count; i++)
        right = translate(&r, i);
    free(r.list);
    free(r.last);
    if (!right)
        wg_elf_kernel_free(out);
    return right;
}

void wg_elf_kernel_free(wg_elf_kernel *k)
{
    free(k->image);
    free(k->fixup);
    *k = (wg_elf_kernel){0};
}
