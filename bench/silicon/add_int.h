/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of rows_kernels.c, with the instruction words of each architecture. */
#ifndef ADD_INT_H
#define ADD_INT_H

#include "rvasm.h"

enum { ADD_INT_RESULT = 0x8000 };

/* So many sums of two tiles, by core T1; the clock before and after, in two words. */
void add_int_bh(rv *p, unsigned rounds);
void add_int_wh(rv *p, unsigned rounds);

#endif
