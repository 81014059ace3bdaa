// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// cores: BRISC NCRISC
// says: data-race
// says: Core B of that tile knows that it is done; core NC has not synchronised with it since.
// says: Let core B tell core NC before the request
#include "noc.h"

#define ROOM WORD(0x30010)  /* in tile 1: the neighbour has read its block */
#define LOCAL WORD(0x30040) /* core B says so to core NC */

#ifdef TILE_1
#ifdef CORE_BRISC
int main(void)
{
    do
        fence();
    while (ROOM != 1);
    LOCAL = 1;
    return 0;
}
#else
int main(void)
{
#ifdef FIXED
    do
        fence();
    while (LOCAL != 1);
#else
    for (int i = 0; i < 1000; i++)
        __asm__ volatile("nop");
#endif
    WORD(0x31000) = 9;
    stored(&WORD(0x31000));
    noc_write_to(0, NEIGHBOUR, 16);
    noc_write(0, 0x31000, 0x31000, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
#endif
#elif defined(CORE_BRISC)
int main(void)
{
    WORD(0x31000) = 3;
    RESULT(0) = WORD(0x31000);
    WORD(0x30010) = 1;
    stored(&RESULT(0));
    stored(&WORD(0x30010));
    noc_write_to(0, PLACE(1), 16);
    noc_write(0, 0x30010, 0x30010, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
#else
int main(void) { return 0; }
#endif
