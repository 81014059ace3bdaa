// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: noc-coordinates
// says: coordinates_wrap.c:16
// says: (40, 2) of NoC 0: only the low five bits count; the request goes to (8, 2)
#include "noc.h"

#ifdef TILE_1
int main(void)
{
#ifdef FIXED
    noc_read_from(0, PLACE(2), 16);
#else
    noc_read_from(0, 40 | 2 << 6, 16);
#endif
    noc_read(0, 0x30010, 0x31010, 3);
    while (noc_busy(0, READER) | noc_pending(0, 3)) {
    }
    return 0;
}
#else
int main(void) { return 0; }
#endif
