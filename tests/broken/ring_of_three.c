// SPDX-License-Identifier: Apache-2.0
// tiles: 3
// says: A tile waits for what nothing on it can still do, and the programs on all others have ended: tile 1-
// says: ring_of_three.c:
// says: 0x00030010
// says: ended: tile 2-
// says: , tile 3-
#include "noc.h"

#define IN WORD(0x30010)

static void pass(u32 place, u32 value)
{
    WORD(0x30040) = value;
    stored(&WORD(0x30040));
    noc_write_to(0, place, 16);
    noc_write(0, 0x30010, 0x30040, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
}

int main(void)
{
#ifdef TILE_1
    pass(PLACE(2), 10);
    do
        fence();
    while (IN == 0);
    RESULT(0) = IN;
#else
    u32 v;
    while ((v = IN) == 0)
        fence();
#ifdef TILE_2
    pass(PLACE(3), v + 1);
#else
#ifdef FIXED
    if (v > 10)
#else
    if (v > 11)
#endif
        pass(PLACE(1), v + 1);
#endif
#endif
    return 0;
}
