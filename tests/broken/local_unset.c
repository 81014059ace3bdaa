// SPDX-License-Identifier: Apache-2.0
// cores: TRISC0
// says: uninitialised-value
// says: own RAM of core T0
// says: local_unset.c:
#include "tile.h"

#ifdef FIXED
enum { LEVELS = 4 };
#else
enum { LEVELS = 3 };
#endif

int main(void)
{
    volatile u32 level[4];
    for (int i = 0; i < LEVELS; i++)
        level[i] = i;
    RESULT(0) = level[3] > 2 ? 10 : 20;
    return 0;
}
