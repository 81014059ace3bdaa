// SPDX-License-Identifier: Apache-2.0
// cores: BRISC
// arch: bh
// says: noc-not-waited-for
// says: that load may overtake the store of the last command
#include "noc.h"

int main(void)
{
    WORD(0x30000) = 7;
    stored(&WORD(0x30000));
    noc_write_to(0, noc_here(0), 16);
    for (u32 i = 0; i < 3; i++)
        noc_write(0, 0x31000 + 64 * i, 0x30000, 0);
#ifdef FIXED
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
#else
    while (noc_pending(0, 0)) {
    }
#endif
    return 0;
}
