// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: data-race
// says: L1 0x031000
// says: answer_overwritten.c:
#include "noc.h"
#ifdef TILE_1
int main(void)
{
    for (u32 i = 0; i < 2; i++) {
        noc_read_from(0, NEIGHBOUR, 16);
        noc_read(0, 0x30010, 0x31000, 0);
#ifdef FIXED
        while (noc_busy(0, READER) | noc_pending(0, 0)) {
        }
        RESULT(i) = WORD(0x31000);
#else
        while (noc_busy(0, READER)) {
        }
        RESULT(i) = WORD(0x31000);
#endif
    }
    while (noc_pending(0, 0)) {
    }
    return 0;
}
#else
int main(void)
{
    return 0;
}
#endif
