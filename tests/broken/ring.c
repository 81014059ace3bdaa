// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// says: data-race
// says: ring.c:
#include "tile.h"

/* Both counters and the first data share one line of L1. */
struct ring {
    volatile u32 head, tail, data[8];
};
#define RING ((struct ring *)0x20100)
enum { ROUNDS = 20 };

#ifdef CORE_BRISC
int main(void)
{
    for (u32 i = 0; i < ROUNDS; i++) {
        do
            fence();
        while (RING->head - RING->tail == 8);
        RING->data[RING->head & 7] = i;
        stored(&RING->data[RING->head & 7]);
        RING->head = RING->head + 1;
    }
    return 0;
}
#else
int main(void)
{
    u32 sum = 0;
    for (u32 i = 0; i < ROUNDS; i++) {
#ifdef FIXED
        do
            fence();
        while (RING->head == RING->tail);
#endif
        sum += RING->data[RING->tail & 7];
        __asm__ volatile("andi x0, %0, 0" ::"r"(sum));
        RING->tail = RING->tail + 1;
    }
    RESULT(0) = sum;
    return 0;
}
#endif
