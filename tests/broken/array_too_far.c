// SPDX-License-Identifier: Apache-2.0
// cores: BRISC
// says: return-address-overwritten
// says: own RAM of core B
// says: array_too_far.c:
#include "tile.h"

#ifdef FIXED
enum { WORDS = 4 };
#else
enum { WORDS = 12 };
#endif

static __attribute__((noinline)) void fill(volatile u32 *to, u32 words)
{
    for (u32 i = 0; i < words; i++)
        to[i] = 4;
}

static __attribute__((noinline)) u32 work(void)
{
    volatile u32 array[4];
    fill(array, WORDS);
    return array[1];
}

int main(void)
{
    RESULT(0) = work();
    return 0;
}
