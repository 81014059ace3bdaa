// SPDX-License-Identifier: Apache-2.0
// arch: bh
// tiles: 2
// says: data-race
// says: L1 0x031000
// says: two_nocs.c:
#include "noc.h"
#ifdef FIXED
enum { OF_FLAG = 0 };
#else
enum { OF_FLAG = 1 };
#endif
#ifdef TILE_1
int main(void)
{
    WORD(0x31000) = 77;
    WORD(0x30010) = 1;
    stored(&WORD(0x31000));
    stored(&WORD(0x30010));
    noc_write_to(0, NEIGHBOUR, 16);
    noc_write(0, 0x31000, 0x31000, 0);
    while (noc_busy(0, WRITER)) {
    }
#ifdef FIXED
    while (noc_pending(0, 0)) {
    }
#endif
    noc_write_to(OF_FLAG, NEIGHBOUR, 16);
    noc_write(OF_FLAG, 0x30010, 0x30010, 0);
    while (noc_busy(OF_FLAG, WRITER) | noc_pending(OF_FLAG, 0) | noc_pending(0, 0)) {
    }
    return 0;
}
#else
int main(void)
{
    do
        fence();
    while (WORD(0x30010) != 1);
    RESULT(0) = WORD(0x31000);
    return 0;
}
#endif
