/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of rows_kernels.c, with the instruction words of each architecture. */
#ifndef MATMUL_H
#define MATMUL_H

#include "rvasm.h"

enum {
    MATMUL_TILES = 0x40000,
    MATMUL_RESULT = 0x8000,
    MATMUL_CONFIGURED = 0x8100,
    MATMUL_READY = 0x8110,
    MATMUL_FIRST = 256, /* calls before the clock is read, and after */
    MATMUL_CALLS = 1024,
};

void matmul_unpack_bh(rv *p);
void matmul_unpack_wh(rv *p);
void matmul_math_bh(rv *p, unsigned phases, bool apart);
void matmul_math_wh(rv *p, unsigned phases, bool apart);

#endif
