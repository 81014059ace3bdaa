// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: polls 0x00030010 until it is 2; it is 1
// says: can no longer come from tile 1-
// says: one_flag_for_two.c:
#include "noc.h"

#ifdef FIXED
enum { BLOCKS = 2 };
#else
enum { BLOCKS = 1 };
#endif

#ifdef TILE_1
int main(void)
{
    for (u32 n = 1; n <= BLOCKS; n++) {
        WORD(0x30010) = n;
        stored(&WORD(0x30010));
        noc_write_to(0, NEIGHBOUR, 16);
        noc_write(0, 0x30010, 0x30010, 0);
        while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
        }
    }
    return 0;
}
#else
int main(void)
{
    do
        fence();
    while (WORD(0x30010) != 2);
    return 0;
}
#endif
