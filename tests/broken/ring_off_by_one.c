// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0
// says: data-race
// says: ring_off_by_one.c:
#include "tile.h"
enum { SLOTS = 4, ITEMS = 12 };
#define HEAD WORD(0x20100)
#define TAIL WORD(0x20110)
#define SLOT(i) WORD(0x30100 + 16 * ((i) % SLOTS))
#ifdef FIXED
enum { ROOM = SLOTS };
#else
enum { ROOM = SLOTS + 1 };
#endif
#ifdef CORE_BRISC
int main(void)
{
    for (u32 i = 0; i < ITEMS; i++) {
        do
            fence();
        while (i - TAIL >= ROOM);
        SLOT(i) = 100 + i;
        stored(&SLOT(i));
        HEAD = i + 1;
    }
    return 0;
}
#else
int main(void)
{
    u32 sum = 0;
    for (u32 i = 0; i < ITEMS; i++) {
        do
            fence();
        while (HEAD <= i);
        for (volatile int k = 0; k < 40; k++) {
        }
        u32 value = SLOT(i);
        sum += value;
        __asm__ volatile("andi %0, %0, 0" : "+r"(value));
        TAIL = i + 1 + value;
    }
    RESULT(0) = sum;
    return 0;
}
#endif
