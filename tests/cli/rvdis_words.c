/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one line per 32-bit word of standard input; for test_rvdis.py. */
#include <stdio.h>

#include "text/rvdis.h"

int main(void)
{
    char text[128];
    uint32_t word;
    for (uint32_t pc = 0; fread(&word, sizeof word, 1, stdin) == 1; pc += 4) {
        wg_riscv_text(pc, word, text, sizeof text);
        puts(text);
    }
    return 0;
}
