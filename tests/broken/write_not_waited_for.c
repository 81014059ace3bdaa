// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: noc-not-waited-for
#include "noc.h"

#ifdef TILE_1
int main(void)
{
    WORD(0x30000) = 7;
    stored(&WORD(0x30000));
    noc_write_to(0, NEIGHBOUR, 16);
    noc_write(0, 0x30000, 0x30000, 0);
#ifdef FIXED
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
#endif
    return 0;
}
#else
int main(void) { return 0; }
#endif
