/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels written to the description of tt-metal's NoC estimator tests (README.md): one or more tiles issue
 * `transactions` reads or writes of `bytes` bytes to each of their subordinates and wait for all answers. A row is the
 * time between two marks of the profiler around that, the median over all issuing tiles; if these access DRAM, from the
 * first tile's first mark to the last tile's second one, after a barrier at which each tile increments the first one's
 * semaphore and then reads it until it has counted all.
 *
 * Writes are issued by core B over NoC 0, reads of L1 by core NC over NoC 1, both with the library's calls as a
 * compiler generates them. The tests of DRAM run on both NoCs, and the table does not say which a value is from. The
 * values of all tiles fit NoC 1; Blackhole's reads by one tile fit NoC 0.
 */
#ifndef ESTIMATOR_H
#define ESTIMATOR_H

#include "silicon.h"

enum { ESTIMATOR_TILES = 128 };

typedef enum estimator_mechanism { ESTIMATOR_UNICAST, ESTIMATOR_MULTICAST, ESTIMATOR_LINKED } estimator_mechanism;
typedef enum estimator_memory { ESTIMATOR_L1, ESTIMATOR_INTERLEAVED, ESTIMATOR_SHARDED } estimator_memory;

typedef struct estimator_place {
    uint8_t x, y; /* in software's coordinates */
} estimator_place;

typedef struct estimator_run {
    wg_arch_id arch;
    estimator_memory memory;
    estimator_mechanism mechanism;
    bool read;
    unsigned noc;  /* 0 or 1 */
    bool single;   /* one subordinate, known to the compiler */
    bool stateful; /* registers that stay the same are written once */
    bool loopback; /* a multicast rectangle includes its source */
    uint32_t transactions, bytes;
    estimator_place master[ESTIMATOR_TILES], subordinate[ESTIMATOR_TILES];
    unsigned masters, subordinates;
    estimator_place corner[2]; /* of the multicast rectangle */
} estimator_run;

/* Cycles as the table has them. */
double estimator_cycles(const estimator_run *run);
estimator_place estimator_tile(wg_arch_id arch, unsigned column, unsigned row);

#endif
