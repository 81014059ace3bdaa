/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF reader: what it extracts from a good file, and what it reports for every bad one. */
#include "wgtest.h"

#include <elf.h>
#include <stdio.h>

#include "elf/elf.h"

enum { CODE = 0x1000, CODE_BYTES = 16, HEADERS = sizeof(Elf32_Ehdr) + 2 * sizeof(Elf32_Phdr) };

typedef struct image {
    Elf32_Ehdr header;
    Elf32_Phdr program[2];
    uint8_t data[64];
} image;

static image good(void)
{
    image i = {.header = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                          .e_type = ET_EXEC,
                          .e_machine = EM_RISCV,
                          .e_version = EV_CURRENT,
                          .e_entry = CODE + 4,
                          .e_phoff = sizeof(Elf32_Ehdr),
                          .e_ehsize = sizeof(Elf32_Ehdr),
                          .e_phentsize = sizeof(Elf32_Phdr),
                          .e_phnum = 2}};
    i.program[0] = (Elf32_Phdr){.p_type = PT_LOAD,
                                .p_offset = HEADERS,
                                .p_vaddr = CODE,
                                .p_paddr = CODE,
                                .p_filesz = CODE_BYTES,
                                .p_memsz = CODE_BYTES,
                                .p_flags = PF_R | PF_X};
    i.program[1] = (Elf32_Phdr){.p_type = PT_LOAD,
                                .p_offset = HEADERS + CODE_BYTES,
                                .p_vaddr = 0xFFB00000,
                                .p_paddr = 0x2000,
                                .p_filesz = 8,
                                .p_memsz = 32,
                                .p_flags = PF_R | PF_W};
    for (unsigned k = 0; k < sizeof i.data; k++)
        i.data[k] = (uint8_t)(k + 1);
    return i;
}

static void refuse(const void *bytes, size_t size, const char *words)
{
    char error[256] = "";
    wg_elf *elf = wg_elf_open("kernel.elf", bytes, size, error, sizeof error);
    assert_null(elf);
    assert_non_null(strstr(error, "kernel.elf: "));
    if (!strstr(error, words))
        fail_msg("`%s` does not say `%s`", error, words);
    assert_null(strchr(error, '\n'));
}

static void test_segments(void **state)
{
    (void)state;
    image i = good();
    char error[256];
    wg_elf *elf = wg_elf_open("kernel.elf", &i, sizeof i, error, sizeof error);
    assert_non_null(elf);
    assert_int_equal(wg_elf_entry(elf), CODE + 4);
    assert_int_equal(wg_elf_segments(elf), 2);
    const wg_elf_segment *code = wg_elf_segment_at(elf, 0), *data = wg_elf_segment_at(elf, 1);
    assert_int_equal(code->address, CODE);
    assert_int_equal(code->file_bytes, CODE_BYTES);
    assert_int_equal(code->data[3], 4);
    assert_true(code->executable);
    assert_int_equal(data->address, 0xFFB00000);
    assert_int_equal(data->load_address, 0x2000);
    assert_int_equal(data->file_bytes, 8);
    assert_int_equal(data->memory_bytes, 32);
    assert_int_equal(data->data[0], 17);
    assert_null(wg_elf_segment_at(elf, 2));
    assert_null(wg_elf_function(elf, CODE));
    wg_elf_line line;
    assert_false(wg_elf_line_at(elf, CODE, &line));
    wg_elf_close(elf);
}

static void test_hostile(void **state)
{
    (void)state;
    image i = good();
    refuse("hello", 5, "not an ELF file");
    refuse("", 0, "not an ELF file");
    refuse(&i, 30, "truncated");
    refuse(&i, sizeof(Elf32_Ehdr) + 10, "program headers");
    refuse(&i, HEADERS + 4, "segment 0 wants 16 bytes");
    i = good(), i.header.e_ident[EI_CLASS] = ELFCLASS64, refuse(&i, sizeof i, "64-bit");
    i = good(), i.header.e_ident[EI_DATA] = ELFDATA2MSB, refuse(&i, sizeof i, "big-endian");
    i = good(), i.header.e_machine = EM_X86_64, refuse(&i, sizeof i, "machine 62");
    i = good(), i.header.e_type = ET_REL, refuse(&i, sizeof i, "no executable");
    i = good(), i.header.e_phnum = 0, refuse(&i, sizeof i, "0 program headers");
    i = good(), i.header.e_phnum = 60000, refuse(&i, sizeof i, "60000 program headers");
    i = good(), i.header.e_phoff = 0xFFFFFFF0, refuse(&i, sizeof i, "program headers");
    i = good(), i.program[0].p_filesz = 0xFFFFFFFF, i.program[0].p_memsz = 0xFFFFFFFF,
    refuse(&i, sizeof i, "truncated");
    i = good(), i.program[0].p_offset = 0xFFFFFFF0, refuse(&i, sizeof i, "truncated");
    i = good(), i.program[0].p_memsz = 4, refuse(&i, sizeof i, "more bytes in the file");
    i = good(), i.program[1].p_vaddr = 0xFFFFFFF0, refuse(&i, sizeof i, "past the end");
    i = good(), i.program[1].p_vaddr = CODE + 8, refuse(&i, sizeof i, "overlap at 0x00001008");
    i = good(), i.program[0].p_type = i.program[1].p_type = PT_NULL, refuse(&i, sizeof i, "no loadable segment");
}

/* A wrong section header table costs the names, never the program. */
static void test_bad_sections(void **state)
{
    (void)state;
    image i = good();
    i.header.e_shoff = 0xFFFFFF00;
    i.header.e_shnum = 40000;
    i.header.e_shentsize = sizeof(Elf32_Shdr);
    i.header.e_shstrndx = 39999;
    char error[256];
    wg_elf *elf = wg_elf_open("kernel.elf", &i, sizeof i, error, sizeof error);
    assert_non_null(elf);
    uint32_t address, bytes;
    assert_false(wg_elf_section(elf, ".text", &address, &bytes));
    assert_int_equal(wg_elf_symbols(elf), 0);
    wg_elf_close(elf);
}

/* Every single-byte corruption of the headers either loads or is refused with a message. */
static void test_corruption(void **state)
{
    (void)state;
    image clean = good();
    for (size_t at = 0; at < HEADERS; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            image i = clean;
            ((uint8_t *)&i)[at] ^= (uint8_t)(1u << bit);
            char error[256] = "";
            wg_elf *elf = wg_elf_open("x", &i, sizeof i, error, sizeof error);
            assert_true(elf || error[0]);
            wg_elf_close(elf);
        }
}

static void test_missing_file(void **state)
{
    (void)state;
    char error[256];
    assert_null(wg_elf_open_file("/nonexistent/kernel.elf", error, sizeof error));
    assert_non_null(strstr(error, "No such file"));
}

static const wg_test tests[] = {
    WG_TEST(test_segments, WG_BH, ""),   WG_TEST(test_hostile, WG_BH, ""),      WG_TEST(test_bad_sections, WG_BH, ""),
    WG_TEST(test_corruption, WG_BH, ""), WG_TEST(test_missing_file, WG_BH, ""),
};
WG_MAIN("elf", tests)
