// SPDX-License-Identifier: Apache-2.0
// cores: TRISC2
// says: core T2
// says: return_address.c:
#include "tile.h"
static __attribute__((noinline)) u32 fill(u32 entries)
{
    volatile u32 table[4];
    for (u32 i = 0; i < entries; i++)
        table[i] = 0x100 + i;
    RESULT(1) = table[0];
    __asm__ volatile("" ::: "ra");
    return table[1];
}
int main(void)
{
#ifdef FIXED
    RESULT(0) = fill(4);
#else
    RESULT(0) = fill(12);
#endif
    return 0;
}
