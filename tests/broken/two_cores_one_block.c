// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// cores: BRISC NCRISC
// says: data-race
// says: Two cores of one tile request it, and nothing puts their requests in order.
// says: then tell core NC.
#include "noc.h"

#define LOCAL WORD(0x30040) /* core B's block has arrived */

#if defined(TILE_1) && defined(CORE_BRISC)
int main(void)
{
    WORD(0x31000) = 7;
    stored(&WORD(0x31000));
    noc_write_to(0, NEIGHBOUR, 16);
    noc_write(0, 0x31000, 0x31000, 0);
#ifdef FIXED
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
#endif
    LOCAL = 1;
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
#elif defined(TILE_1)
int main(void)
{
    WORD(0x31010) = 8;
    stored(&WORD(0x31010));
    do
        fence();
    while (LOCAL != 1);
    noc_setup(0, SIGNALLER, NOC_WRITES | NOC_ANSWER, NEIGHBOUR, 16);
    noc_start(0, SIGNALLER, 0x31010, 0x31000, 1);
    while (noc_busy(0, SIGNALLER) | noc_pending(0, 1)) {
    }
    return 0;
}
#else
int main(void) { return 0; }
#endif
