// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: noc
// says: noc_alignment.c:
#include "noc.h"
#ifdef FIXED
enum { TO = 0x31000 };
#else
enum { TO = 0x31004 };
#endif
#ifdef TILE_1
int main(void)
{
    for (u32 i = 0; i < 8; i++)
        WORD(0x31000 + 4 * i) = i;
    WORD(0x30010) = 1;
    stored(&WORD(0x3101C));
    stored(&WORD(0x30010));
    noc_write_to(0, NEIGHBOUR, 16);
    noc_write(0, 0x31000, TO, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    noc_write_to(0, NEIGHBOUR, 16);
    noc_write(0, 0x30010, 0x30010, 0);
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
    RESULT(0) = WORD(TO);
    return 0;
}
#endif
