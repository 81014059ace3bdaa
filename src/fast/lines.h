/* SPDX-License-Identifier: Apache-2.0 */
/* Executors of whole cache lines: lines.c, lines_loop.c. */
#ifndef WG_FAST_LINES_H
#define WG_FAST_LINES_H

#include "riscv/pipeline.h"

/*
 * lines.c: whole lines, as long as they end before `stop`. Returns sooner where lines_loop.c may go on: behind the
 * backward branch at the address returned (else 0), which was taken.
 */
uint32_t wg_exec_lines(wg_tile *t, unsigned core, uint64_t stop);
/* lines_loop.c: where a loop's branch was taken the last time. */
typedef struct wg_back_edge {
    uint32_t branch;
    uint8_t lag;
    uint64_t at, number, dests;
} wg_back_edge;
/* The backward branch at `branch` has been taken: goes round as often as it can before `stop`. */
void wg_exec_loop(wg_tile *t, unsigned core, uint32_t branch, uint64_t stop, wg_back_edge *last);

#endif
