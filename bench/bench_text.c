/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly in words per second, assembly in lines per second, both architectures. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "isa/asm.h"

enum { WORDS = 1 << 12, LINE = 160 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void)
{
    static uint32_t words[WORDS];
    static char lines[WORDS][WG_DIS_MAX];
    static size_t lengths[WORDS];
    for (unsigned arch = 0; arch < 2; arch++) {
        uint64_t state = 1;
        unsigned count = 0;
        while (count < WORDS) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint32_t word = (uint32_t)(state >> 32);
            const wg_isa_insn *insn = wg_isa_decode((wg_arch_id)arch, word);
            if (insn->id != WG_I_INVALID)
                words[count++] = word & ~insn->spare_bits;
        }
        double began = seconds(), took;
        size_t done = 0, checksum = 0;
        do {
            for (unsigned i = 0; i < WORDS; i++)
                checksum += lengths[i] = wg_disassemble((wg_arch_id)arch, words[i], 0, lines[i], sizeof lines[i]);
            done += WORDS;
            took = seconds() - began;
        } while (took < 0.5);
        printf("text_disassemble_%s %.1f Mwords/s\n", arch ? "wh" : "bh", (double)done / took / 1e6);
        began = seconds();
        done = 0;
        unsigned wrong = 0;
        do {
            for (unsigned i = 0; i < WORDS; i++) {
                uint32_t word = 0;
                wg_assemble_line((wg_arch_id)arch, lines[i], lengths[i], &word, NULL);
                wrong += word != words[i];
            }
            done += WORDS;
            took = seconds() - began;
        } while (took < 0.5);
        printf("text_assemble_%s %.2f Mlines/s\n", arch ? "wh" : "bh", (double)done / took / 1e6);
        if (wrong || checksum == 0) {
            fprintf(stderr, "%u lines do not assemble back to their word\n", wrong);
            return 1;
        }
    }
    return 0;
}
