// SPDX-License-Identifier: Apache-2.0
// cores: BRISC
// says: data-race
// says: NIU 0
#include "tile.h"

#include "noc.h"

int main(void)
{
    WORD(0x30000) = 7;
    stored(&WORD(0x30000));
    noc_read_from(0, noc_here(0), 16);
    noc_read(0, 0x30000, 0x31000, 0);
#ifdef FIXED
    while (noc_busy(0, READER) | noc_pending(0, 0)) {
    }
    fence();
#endif
    RESULT(0) = WORD(0x31000);
    return 0;
}
