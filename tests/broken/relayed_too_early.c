// SPDX-License-Identifier: Apache-2.0
// tiles: 3
// says: data-race
// says: request of core B of tile 2-
#include "noc.h"

#define READ WORD(0x30010) /* in tile 1: tile 3 has read its block */
#define GO WORD(0x30020)   /* in tile 2: it may send tile 3 the next one */

static inline void tell(u32 place, u32 address)
{
    WORD(address + 0x40) = 1;
    stored(&WORD(address + 0x40));
    noc_write_to(0, place, 16);
    noc_write(0, address, address + 0x40, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
}

int main(void)
{
#ifdef TILE_1
#ifdef FIXED
    do
        fence();
    while (READ != 1);
#endif
    tell(PLACE(2), 0x30020);
#elif defined(TILE_2)
    WORD(0x31000) = 9;
    stored(&WORD(0x31000));
    do
        fence();
    while (GO != 1);
    noc_write_to(0, PLACE(3), 16);
    noc_write(0, 0x31000, 0x31000, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
#else
    WORD(0x31000) = 1;
    for (int i = 0; i < 2000; i++)
        __asm__ volatile("nop");
    RESULT(0) = WORD(0x31000);
    tell(PLACE(1), 0x30010);
#endif
    return 0;
}
