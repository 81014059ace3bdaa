// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: 2 tiles wait for what nothing on the same tile can still do, and no other tile runs a program
// says: Let one of them send what another waits for before its own wait.
// says: flags_crossed_between_tiles.c:
#include "noc.h"

#define GO WORD(0x30010)

static void tell(u32 place)
{
    WORD(0x30040) = 1;
    stored(&WORD(0x30040));
    noc_write_to(0, place, 16);
    noc_write(0, 0x30010, 0x30040, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
}

static void await(void)
{
    do
        fence();
    while (GO != 1);
}

int main(void)
{
#ifdef TILE_1
#ifdef FIXED
    tell(NEIGHBOUR);
    await();
#else
    await();
    tell(NEIGHBOUR);
#endif
#else
    await();
    tell(PLACE(1));
#endif
    return 0;
}
