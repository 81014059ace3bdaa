// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: They wait for each other in a circle
// says: it polls 0x00030010, which is 0
// says: 0x00030020
// says: no_credit.c:
// says: tile 2-
#include "noc.h"

#define CREDITS WORD(0x30010) /* in tile 1: blocks that tile 2 has read */
#define FULL WORD(0x30020)    /* in tile 2: blocks that tile 1 has sent */
enum { BLOCKS = 5, ROOM = 2 };

static void put(u32 place, u32 at, u32 value)
{
    WORD(at + 0x40) = value;
    stored(&WORD(at + 0x40));
    noc_write_to(0, place, 16);
    noc_write(0, at, at + 0x40, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
}

#ifdef TILE_1
int main(void)
{
    for (u32 i = 0; i < BLOCKS; i++) {
        do
            fence();
        while (i - CREDITS >= ROOM);
        put(PLACE(2), 0x30100 + 0x80 * (i % ROOM), 100 + i);
        put(PLACE(2), 0x30020, i + 1);
    }
    return 0;
}
#else
int main(void)
{
    u32 sum = 0;
    for (u32 i = 0; i < BLOCKS; i++) {
        do
            fence();
        while (FULL <= i);
        sum += WORD(0x30100 + 0x80 * (i % ROOM));
        stored(&WORD(0x30100 + 0x80 * (i % ROOM)));
#ifdef FIXED
        put(PLACE(1), 0x30010, i + 1);
#else
        if (i != 1 && i != 2)
            put(PLACE(1), 0x30010, i);
#endif
    }
    RESULT(0) = sum;
    return 0;
}
#endif
