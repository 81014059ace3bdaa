// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// says: data-race
// says: core B
// says: core NC
// says: buffer_reused.c:
#include "tile.h"

#define FULL WORD(0x20100)
#define EMPTY WORD(0x20110)
#define BUF(i) ((volatile u32 *)0x30000 + 64 * ((i)&1))

#ifdef CORE_BRISC
int main(void)
{
    for (u32 i = 0; i < 6; i++) {
#ifdef FIXED
        do
            fence();
        while ((int)(i - EMPTY) > 1);
#endif
        for (u32 k = 0; k < 16; k++)
            BUF(i)[k] = i * 100 + k;
        stored(&BUF(i)[15]);
        FULL = i + 1;
    }
    return 0;
}
#else
int main(void)
{
    u32 sum = 0;
    for (u32 i = 0; i < 6; i++) {
        do
            fence();
        while (FULL < i + 1);
        for (u32 k = 0; k < 16; k++)
            sum += BUF(i)[k];
        __asm__ volatile("andi x0, %0, 0" ::"r"(sum));
        EMPTY = i + 1;
    }
    RESULT(0) = sum;
    return 0;
}
#endif
