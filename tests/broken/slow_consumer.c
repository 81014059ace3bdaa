// SPDX-License-Identifier: Apache-2.0
// arch: bh
// cores: BRISC NCRISC
// says: core-stale-l0
// says: slow_consumer.c:
#include "tile.h"

/* A round that begins late may find the last round's count in the cache; behind the fence it does not. */
#define FULL WORD(0x20100)

#ifdef CORE_BRISC
int main(void)
{
    for (u32 i = 0; i < 4; i++) {
        for (volatile int k = 0; k < 30; k++)
            ;
        WORD(0x30000 + 16 * i) = i;
        stored(&WORD(0x30000 + 16 * i));
        FULL = i + 1;
    }
    return 0;
}
#else
int main(void)
{
    u32 sum = 0;
    for (u32 i = 0; i < 4; i++) {
        while (FULL <= i) {
#ifdef FIXED
            fence();
#endif
        }
        for (volatile int k = 0; k < 50; k++)
            ;
        sum += WORD(0x30000 + 16 * i);
    }
    RESULT(0) = sum;
    return 0;
}
#endif
