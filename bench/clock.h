/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by benchmarks: processor time, and the order of samples. */
#ifndef WG_BENCH_CLOCK_H
#define WG_BENCH_CLOCK_H

#include <time.h>

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* For qsort(). */
static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
