// SPDX-License-Identifier: Apache-2.0
// cores: BRISC
// says: uninitialised-value
// says: own RAM of core B
// says: The stored value was computed from one that nobody has written
// says: sum_of_local.c:
#include "tile.h"

/* A table on the stack, filled by a function that forgets its last entry. */
static __attribute__((noinline)) void fill(volatile u32 *table, unsigned entries)
{
    for (unsigned i = 0; i < entries; i++)
        table[i] = i * i;
}

int main(void)
{
    volatile u32 table[8];
    u32 sum = 0;
#ifdef FIXED
    fill(table, 8);
#else
    fill(table, 7);
#endif
    for (unsigned i = 0; i < 8; i++)
        sum += table[i];
    RESULT(0) = sum;
    return 0;
}
