/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembler on any text: the first byte chooses the architecture, the rest is lines. The disassembler must turn
 * every assembled word back, numeric and symbolic, into text for the same word.
 */
#include <stdlib.h>
#include <string.h>
#include "isa/asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 8 }; /* of an input: lines are independent */

static bool resolve(void *user, const char *name, size_t length, int64_t *value)
{
    (void)user;
    *value = name[0];
    return length == 1;
}

static void check(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    wg_arch_id arch = data[0] & 1 ? WG_ARCH_WH : WG_ARCH_BH;
    /* Searching for the intended name takes most of the time: one input in eight asks for it. */
    bool explained = (data[0] & 14) == 0;
    wg_asm_env env = {sizeof env, resolve, NULL};
    const char *text = (const char *)data + 1, *end = (const char *)data + size;
    for (unsigned lines = 0; text < end && lines < LINES; lines++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        uint32_t word = 0;
        wg_asm_error error;
        wg_asm_code code = wg_assemble_line_env(arch, text, length, &env, &word, explained ? &error : NULL);
        check(!explained || code == error.code);
        if (code == WG_ASM_OK) {
            for (unsigned flags = 0; flags < 2; flags++) {
                char line[WG_DIS_MAX];
                uint32_t again = 0;
                size_t n = wg_disassemble(arch, word, flags, line, sizeof line);
                check(n < sizeof line);
                check(wg_assemble_line(arch, line, n, &again, &error) == WG_ASM_OK);
                check(again == (word & ~wg_disassemble_spare(arch, word)));
            }
        } else if (code != WG_ASM_BLANK && explained) {
            check(error.column >= 1 && error.column <= length + 1 && error.message[0] != '\0');
        }
        int64_t value = 0;
        size_t used = 0;
        code = wg_asm_expression(arch, text, length, &env, &value, &used, explained ? &error : NULL);
        check(used <= length && (!explained || code == error.code));
        text += length + 1;
    }
    return 0;
}
