// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: data-race
// says: request of core B of tile
#include "noc.h"

#ifdef TILE_1
int main(void)
{
    WORD(0x30000) = 7;
    WORD(0x30010) = 1;
    stored(&WORD(0x30010));
    noc_write_to(0, NEIGHBOUR, 16);
    noc_write(0, 0x30000, 0x30000, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    noc_write(0, 0x30010, 0x30010, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
#else
int main(void)
{
#ifdef FIXED
    do
        fence();
    while (WORD(0x30010) != 1);
#else
    for (int i = 0; i < 400; i++)
        __asm__ volatile("nop");
#endif
    RESULT(0) = WORD(0x30000);
    return 0;
}
#endif
