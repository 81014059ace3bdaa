// SPDX-License-Identifier: Apache-2.0
// cores: TRISC1
// says: waits for an access that is never answered: load from 0xff
// says: its stack has overflowed
#include "tile.h"

#ifdef FIXED
#define DEPTH 3
#else
#define DEPTH 300
#endif

__attribute__((noinline)) static u32 sum(u32 n)
{
    volatile u32 room[20];
    room[n % 20] = n;
    return n ? sum(n - 1) + room[n % 20] : 0;
}

int main(void)
{
    RESULT(1) = sum(DEPTH);
    return 0;
}
