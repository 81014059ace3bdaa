// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: polls NIU 0's count of unanswered requests with tag 3
// says: no answer is to come: core B's request at
// says: no_such_tile.c:24) was lost
// says: outside the grid
// says: Check the request's coordinates
#include "noc.h"

#ifdef WG_ARCH_WH
#define NOWHERE (12 | 2 << 6)
#else
#define NOWHERE (20 | 1 << 6)
#endif

#ifdef TILE_1
int main(void)
{
#ifdef FIXED
    noc_read_from(0, PLACE(2), 16);
#else
    noc_read_from(0, NOWHERE, 16);
#endif
    noc_read(0, 0x30010, 0x31010, 3);
    while (noc_busy(0, READER) | noc_pending(0, 3)) {
    }
    return 0;
}
#else
int main(void) { return 0; }
#endif
