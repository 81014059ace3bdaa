/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the first state that differs between two devices whose hashes differ. */
#ifndef STATE_DIFF_H
#define STATE_DIFF_H

#include <stdio.h>

#include "wgtest.h"

static inline const char *first_difference(wg_device *a, wg_device *b)
{
    static const struct {
        const char *name;
        uint8_t space;
        uint32_t banks, shift, count; /* elements 0 … count - 1 of each bank */
    } spaces[] = {{"pc of core", WG_SPACE_CORE_PC, 1, 0, WG_CORES},
                  {"x, 32 per core,", WG_SPACE_CORE_X, 1, 0, WG_CORES * 32},
                  {"f, 32 per core,", WG_SPACE_CORE_F, 1, 0, WG_CORES * 32},
                  {"core RAM", WG_SPACE_CORE_RAM, WG_CORES, 16, 8192},
                  {"CSR", WG_SPACE_CORE_CSR, WG_CORES, 12, 4096},
                  {"GPR", WG_SPACE_GPR, 1, 0, 192},
                  {"Config", WG_SPACE_CONFIG, 2, 16, 224},
                  {"ThreadConfig", WG_SPACE_THREAD_CONFIG, 3, 16, 68},
                  {"semaphore", WG_SPACE_SEM_VALUE, 1, 0, 8},
                  {"semaphore's maximum", WG_SPACE_SEM_MAX, 1, 0, 8},
                  {"mutex", WG_SPACE_MUTEX, 1, 0, 8},
                  {"owner of bank", WG_SPACE_SRC_OWNER, 1, 0, 4},
                  {"ADC", WG_SPACE_ADC, 1, 0, 144},
                  {"RWC", WG_SPACE_RWC, 1, 0, 48},
                  {"MOP_CFG", WG_SPACE_MOP_CFG, 1, 0, 27},
                  {"Dst", WG_SPACE_DST, 1, 0, 16384},
                  {"SrcA", WG_SPACE_SRCA, 1, 0, 2048},
                  {"SrcB", WG_SPACE_SRCB, 1, 0, 2048},
                  {"LReg", WG_SPACE_LREG, 1, 0, 17 * 32}};
    static char text[200];
    wg_core_info p, q;
    if (wg_cycle(a) != wg_cycle(b)) {
        (void)snprintf(text, sizeof text, "cycle %llu, not %llu", (unsigned long long)wg_cycle(b),
                       (unsigned long long)wg_cycle(a));
        return text;
    }
    for (unsigned c = 0; c < WG_CORES; c++) {
        wg_core_state(a, (wg_core_id)c, &p);
        wg_core_state(b, (wg_core_id)c, &q);
        if (p.instructions != q.instructions || p.parked != q.parked || p.in_reset != q.in_reset) {
            (void)snprintf(text, sizeof text, "core %u has executed %llu instructions (pc 0x%x), not %llu (pc 0x%x)", c,
                           (unsigned long long)q.instructions, q.pc, (unsigned long long)p.instructions, p.pc);
            return text;
        }
    }
    for (unsigned s = 0; s < sizeof spaces / sizeof *spaces; s++)
        for (uint32_t bank = 0; bank < spaces[s].banks; bank++)
            for (uint32_t i = 0; i < spaces[s].count; i++) {
                uint32_t x = 0, y = 0, index = bank << spaces[s].shift | i;
                if (wg_peek(a, (wg_space)spaces[s].space, index, &x) == WG_OK &&
                    wg_peek(b, (wg_space)spaces[s].space, index, &y) == WG_OK && x != y) {
                    (void)snprintf(text, sizeof text, "%s %u:0x%x is 0x%x, not 0x%x", spaces[s].name, bank, i, y, x);
                    return text;
                }
            }
    for (uint32_t i = 0; i < wg_l1_bytes(a); i += 4) {
        uint32_t x = 0, y = 0;
        if (wg_read(a, i, &x, 4) == WG_OK && wg_read(b, i, &y, 4) == WG_OK && x != y) {
            (void)snprintf(text, sizeof text, "L1 at 0x%x is 0x%x, not 0x%x", i, y, x);
            return text;
        }
    }
    return "something that no space shows";
}

#endif
