/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one line per 32-bit word of standard input; for test_rvdis.py. With "small" by the small disassembler alone. */
#include <stdio.h>
#include <string.h>

#include "text/rv_text.h"
#include "text/rvdis.h"

int main(int argc, char **argv)
{
    const bool small = argc > 1 && strcmp(argv[1], "small") == 0;
    char text[128];
    uint32_t word;
    for (uint32_t pc = 0; fread(&word, sizeof word, 1, stdin) == 1; pc += 4) {
        if (!small)
            wg_riscv_text(pc, word, text, sizeof text);
        else if (!wg_rv_text(pc, word, text, sizeof text))
            strcpy(text, "unknown");
        puts(text);
    }
    return 0;
}
