/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels written to the description of nocbench, nocreadbench and dramratebench (README.md): core B of each tile moves
 * `tx` times `bytes` bytes to or from one other tile over NoC 0 and waits for all answers; its row is the time between
 * the two reads of its wall clock.
 *
 * The card's cores meet by semaphores or flags before they start; the last to arrive releases them one after another.
 * Here each waits for its wall clock, 32 cycles after the previous one.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "silicon.h"

enum { TRAFFIC_MAX = 128, TRAFFIC_SOURCES = 8 };

typedef struct traffic_flow {
    uint16_t x, y, to_x, to_y; /* in software's coordinates */
    bool write;
    bool strides; /* addresses advance from one transfer to the next */
    uint32_t stride_here, stride_there;
    uint8_t sources; /* the other end comes from a table of this many entries; 0: from registers */
    uint8_t source_x[TRAFFIC_SOURCES];
    uint8_t vc; /* virtual channel of writes */
    uint32_t tx, bytes;
    uint32_t address; /* at the other end */
    uint64_t cycles;  /* the result */
} traffic_flow;

void traffic_run(wg_arch_id arch, traffic_flow *flows, unsigned n);

#endif
