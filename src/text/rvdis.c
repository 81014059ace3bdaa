/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RISC-V text by binutils' libopcodes. The library learns the extensions only from the attributes of a file, so it is given a
 * file with nothing else, in memory; libbfd parses it:
 *
 *     ELF header | .riscv.attributes: "A" length "riscv" file length arch="rv32i…" | section names | 3 sections
 *
 * Facts: BabyRISCV/InstructionSet.md for the extensions; the RISC-V ELF specification for the attributes.
 */
#include "text/rvdis.h"

#include "text/rv_text.h"

#include <stdio.h>
#include <string.h>

#ifdef WG_LIBOPCODES

#include <elf.h>
#include <pthread.h>
#include <stdarg.h>

#define PACKAGE "waitgate" /* bfd.h requires it */
#include <bfd.h>
#include <dis-asm.h>

#define EXTENSIONS "rv32i2p1_m2p0_a2p1_f2p2_zicsr2p0_zifencei2p0_zfh1p0_zba1p0_zbb1p0_zbkb1p0_zve32f1p0_zvl32b1p0"
#define NAMES "\0.riscv.attributes\0.shstrtab"
#define MACHINE_RISCV 243 /* EM_RISCV; SHT_RISCV_ATTRIBUTES */
#define SECTION_ATTRIBUTES 0x70000003u

typedef struct __attribute__((packed)) attributes_file {
    Elf32_Ehdr header;
    Elf32_Shdr section[3];
    struct __attribute__((packed)) {
        char version;
        uint32_t length;
        char vendor[6];
        uint8_t file;
        uint32_t file_length;
        uint8_t arch_tag;
        char arch[sizeof EXTENSIONS];
    } attributes;
    char names[sizeof NAMES];
} attributes_file;

static const attributes_file attributes = {
    .header = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_REL,
               .e_machine = MACHINE_RISCV,
               .e_version = EV_CURRENT,
               .e_shoff = offsetof(attributes_file, section),
               .e_ehsize = sizeof(Elf32_Ehdr),
               .e_shentsize = sizeof(Elf32_Shdr),
               .e_shnum = 3,
               .e_shstrndx = 2},
    .section = {{0},
                {.sh_name = 1,
                 .sh_type = SECTION_ATTRIBUTES,
                 .sh_offset = offsetof(attributes_file, attributes),
                 .sh_size = sizeof attributes.attributes,
                 .sh_addralign = 1},
                {.sh_name = sizeof "\0.riscv.attributes",
                 .sh_type = SHT_STRTAB,
                 .sh_offset = offsetof(attributes_file, names),
                 .sh_size = sizeof NAMES,
                 .sh_addralign = 1}},
    .attributes = {.version = 'A',
                   .length = sizeof attributes.attributes - 1,
                   .vendor = "riscv",
                   .file = 1,
                   .file_length = sizeof attributes.attributes - offsetof(attributes_file, attributes.file) +
                                  offsetof(attributes_file, attributes),
                   .arch_tag = 5,
                   .arch = EXTENSIONS},
    .names = NAMES,
};

static void *file_open(struct bfd *file, void *closure)
{
    (void)file;
    return closure;
}

static file_ptr file_read(struct bfd *file, void *stream, void *to, file_ptr bytes, file_ptr at)
{
    (void)file;
    (void)stream;
    if (at < 0 || bytes < 0 || (size_t)at >= sizeof attributes)
        return 0;
    size_t left = sizeof attributes - (size_t)at, n = (size_t)bytes < left ? (size_t)bytes : left;
    memcpy(to, (const char *)&attributes + at, n);
    return (file_ptr)n;
}

static int file_stat(struct bfd *file, void *stream, struct stat *status)
{
    (void)file;
    (void)stream;
    *status = (struct stat){.st_size = sizeof attributes};
    return 0;
}

/* The library's state is global to the process: created once, used by one thread at a time. */
static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;
static disassembler_ftype print_instruction;

static bool library_ready(void)
{
    if (print_instruction)
        return true;
    bfd_init();
    static char nothing;
    bfd *file = bfd_openr_iovec("attributes", "elf32-littleriscv", file_open, &nothing, file_read, NULL, file_stat);
    if (!file)
        return false;
    if (bfd_check_format(file, bfd_object))
        print_instruction = disassembler(bfd_arch_riscv, false, bfd_mach_riscv32, file);
    bfd_close(file);
    return print_instruction != NULL;
}

typedef struct line {
    char *out;
    size_t size, used;
} line;

static void put(line *l, const char *format, va_list args)
{
    int n = l->used < l->size ? vsnprintf(l->out + l->used, l->size - l->used, format, args) : 0;
    l->used += n > 0 ? (size_t)n : 0;
}

static int put_plain(void *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int put_plain(void *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(to, format, args);
    va_end(args);
    return 0;
}

static int put_styled(void *to, enum disassembler_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int put_styled(void *to, enum disassembler_style style, const char *format, ...)
{
    (void)style;
    va_list args;
    va_start(args, format);
    put(to, format, args);
    va_end(args);
    return 0;
}

static void put_address(bfd_vma address, struct disassemble_info *info)
{
    put_plain(info->stream, "0x%x", (unsigned)address);
}

static bool library_text(uint32_t pc, uint32_t word, char *out, size_t size)
{
    line l = {out, size, 0};
    struct disassemble_info info;
    init_disassemble_info(&info, &l, put_plain, put_styled);
    info.arch = bfd_arch_riscv;
    info.mach = bfd_mach_riscv32;
    info.endian = info.endian_code = BFD_ENDIAN_LITTLE;
    info.buffer = (bfd_byte *)&word;
    info.buffer_length = sizeof word;
    info.buffer_vma = pc;
    info.print_address_func = put_address;
    disassemble_init_for_target(&info);
    bool known = print_instruction(pc, &info) == sizeof word && info.insn_type != dis_noninsn;
    disassemble_free_target(&info);
    return known;
}

/*
 * The cores have grevi from a draft of the bit manipulation extension; the library knows only its form with a shift of 24, as
 * rev8.
 */
static bool draft_text(uint32_t word, char *out, size_t size)
{
    char text[64];
    if ((word & 0xFE00707Fu) != 0x68005013u || !library_text(0, (word & 0xFE0FFFFFu) | 24u << 20, text, sizeof text))
        return false;
    snprintf(out, size, "grevi%s,0x%x", text + strcspn(text, "\t"), word >> 20 & 31);
    return true;
}

#endif

bool wg_riscv_text(uint32_t pc, uint32_t word, char *out, size_t size)
{
    bool known = false;
    if (size)
        out[0] = 0;
#ifdef WG_LIBOPCODES
    if ((word & 3) == 3) { /* the cores have no compressed instructions */
        pthread_mutex_lock(&library);
        known = library_ready() && (library_text(pc, word, out, size) || draft_text(word, out, size));
        pthread_mutex_unlock(&library);
    }
#else
    known = (word & 3) == 3 && wg_rv_text(pc, word, out, size);
#endif
    if (!known)
        snprintf(out, size, ".word\t0x%08x", word);
    return known;
}

bool wg_riscv_text_available(void)
{
#ifdef WG_LIBOPCODES
    return true;
#else
    return false;
#endif
}
