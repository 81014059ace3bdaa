// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// cores: BRISC TRISC0
// says: data-race
// says: core T0
// says: told_too_early.c:
#include "noc.h"

#ifdef TILE_1
#ifdef CORE_BRISC
int main(void)
{
    for (u32 i = 0; i < 32; i++)
        WORD(0x31000 + 4 * i) = i ^ 5;
    stored(&WORD(0x3107C));
    WORD(0x30010) = 1;
    stored(&WORD(0x30010));
    noc_write_to(0, PLACE(2), 16);
    noc_write(0, 0x30010, 0x30010, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
#else
int main(void) { return 0; }
#endif
#else
#ifdef CORE_BRISC
int main(void)
{
    do
        fence();
    while (WORD(0x30010) != 1);
    noc_read_from(0, PLACE(1), 128);
    noc_read(0, 0x31000, 0x31000, 2);
#ifdef FIXED
    while (noc_busy(0, READER) | noc_pending(0, 2)) {
    }
    MAILBOX(1) = 128;
#else
    MAILBOX(1) = 128;
    while (noc_busy(0, READER) | noc_pending(0, 2)) {
    }
#endif
    return 0;
}
#else
int main(void)
{
    u32 bytes = MAILBOX(0), sum = 0;
    fence();
    for (u32 i = 0; i < bytes / 4; i++)
        sum += WORD(0x31000 + 4 * i);
    RESULT(0) = sum;
    return 0;
}
#endif
#endif
