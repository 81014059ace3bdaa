// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: data-race
// says: The NIU reads it until the request has left, and nothing has waited for that.
#include "noc.h"

#ifdef TILE_1
int main(void)
{
    noc_write_to(0, NEIGHBOUR, 256);
    for (u32 n = 0; n < 2; n++) {
        for (u32 i = 0; i < 64; i++)
            WORD(0x30000 + 4 * i) = n * 64 + i;
        stored(&WORD(0x300FC));
        noc_write(0, 0x30000 + 0x100 * n, 0x30000, 0);
#ifdef FIXED
        while (noc_busy(0, WRITER) | noc_leaving(0, 0)) {
        }
#endif
    }
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
#else
int main(void) { return 0; }
#endif
