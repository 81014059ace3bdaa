// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: polls 0x00030010 until it is 1; it is 0
// says: can no longer come from tile 1-
// says: flag_to_wrong_place.c:
#include "noc.h"

#ifdef FIXED
#define THERE 0x30010
#else
#define THERE 0x30020
#endif

#ifdef TILE_1
int main(void)
{
    WORD(0x30010) = 1;
    stored(&WORD(0x30010));
    noc_write_to(0, NEIGHBOUR, 16);
    noc_write(0, THERE, 0x30010, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
#else
int main(void)
{
    do
        fence();
    while (WORD(0x30010) != 1);
    return 0;
}
#endif
