// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: They wait for each other in a circle: tile
// says: token_not_passed_on.c:
#include "noc.h"

#define TOKEN WORD(0x30010) /* the round for which this tile has it */
enum { ROUNDS = 3 };

static void await(u32 round)
{
    do
        fence();
    while (TOKEN != round);
}

static void pass(u32 place, u32 round)
{
    WORD(0x30040) = round;
    stored(&WORD(0x30040));
    noc_write_to(0, place, 16);
    noc_write(0, 0x30010, 0x30040, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
}

int main(void)
{
    for (u32 round = 1; round <= ROUNDS; round++) {
#ifdef TILE_1
        pass(PLACE(2), round);
        await(round);
#else
        await(round);
#ifndef FIXED
        if (round < ROUNDS)
#endif
            pass(PLACE(1), round);
#endif
    }
#ifndef FIXED
    await(ROUNDS + 1);
#endif
    return 0;
}
