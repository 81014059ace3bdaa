/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disassembler on any words, into buffers of any size: the first two bytes are the architecture and
 * flags, and the buffer's size; the rest is words.
 */
#include <stdlib.h>
#include <string.h>
#include "isa/asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
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
        check(wg_assemble_line(arch, line, length, &again, NULL) == WG_ASM_OK);
        check(again == (word & ~wg_disassemble_spare(arch, word)));
    }
    free(small);
    return 0;
}
