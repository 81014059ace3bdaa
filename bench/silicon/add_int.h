/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of rows_kernels.c, with the instruction words of each architecture. */
#ifndef ADD_INT_H
#define ADD_INT_H

#include "rvasm.h"

enum { ADD_INT_RESULT = 0x8000 };

/* Core T1 adds two tiles `rounds` times. The clock before and after is in two words at ADD_INT_RESULT. */
void add_int_bh(rv *p, unsigned rounds);
void add_int_wh(rv *p, unsigned rounds);

#endif
