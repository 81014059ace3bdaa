/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disassembler on any words, into buffers of any size: the first two bytes are the architecture and
 * flags, and the buffer's size; the rest is words. With the top bit of the first byte set, the rest is a
 * file for `waitgate dis` (a text of words, a binary, or an ELF file) or, with bit 4, for `waitgate asm`.
 */
#include <stdlib.h>
#include <string.h>
#include "cli/commands.h"
#include "text/rvdis.h"
#include "isa/asm.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition)
        abort();
}

static void as_file(unsigned flags, const uint8_t *data, size_t size)
{
    const char *path = memory_file(data, size);
    if (!path)
        return;
    static const char *const options[2][4] = {{"--arch=wh", "--symbolic", "--ttinsn", "--json"},
                                              {"--format=c", "--format=ttinsn", "--format=binary", "--json"}};
    unsigned command = flags >> 4 & 1;
    char *argv[8] = {(char *)"waitgate", (char *)(command ? "asm" : "dis"), (char *)path};
    int argc = 3;
    for (unsigned i = 0; i < 4; i++)
        if (flags >> i & 1)
            argv[argc++] = (char *)options[command][i];
    wg_text out = {0}, error = {0};
    int status = wg_command_main(argc, argv, &out, &error);
    check(status == WG_EXIT_DONE
              ? error.size == 0
              : status == WG_EXIT_ERROR && error.size && (flags & 8 || !out.size)); /* JSON: errors, too */
    wg_text_free(&out);
    wg_text_free(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (data[0] & 0x80) {
        as_file(data[0] & 31, data + 2, size - 2);
        return 0;
    }
    wg_arch_id arch = data[0] & 1 ? WG_ARCH_WH : WG_ARCH_BH;
    unsigned flags = data[0] >> 1 & 3;
    size_t room = data[1];
    char *small = malloc(room ? room : 1);
    if (small == NULL)
        return 0;
    for (size_t at = 2; at + 4 <= size; at += 4) {
        uint32_t word, again = 0;
        memcpy(&word, data + at, 4);
        char line[WG_DIS_MAX];
        size_t length = wg_disassemble(arch, word, flags, line, sizeof line);
        check(length < sizeof line && line[length] == '\0');
        check(wg_disassemble(arch, word, flags, small, room) == length);
        if (room > 0) {
            size_t kept = length < room ? length : room - 1;
            check(memcmp(small, line, kept) == 0 && small[kept] == '\0');
        }
        char riscv[WG_DIS_MAX];
        bool known = wg_riscv_text(word, word, riscv, sizeof riscv);
        length = strlen(riscv);
        check(length && length + 1 < sizeof riscv && known == (strncmp(riscv, ".word", 5) != 0));
        if (room > 0) {
            wg_riscv_text(word, word, small, room);
            size_t kept = length < room ? length : room - 1;
            check(memcmp(small, riscv, kept) == 0 && small[kept] == '\0');
        }
        check(wg_assemble_line(arch, line, strlen(line), &again, NULL) == WG_ASM_OK);
        check(again == (word & ~wg_disassemble_spare(arch, word)));
    }
    free(small);
    return 0;
}
