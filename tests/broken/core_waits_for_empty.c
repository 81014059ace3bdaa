// SPDX-License-Identifier: Apache-2.0
// cores: TRISC0 TRISC2
// says: polls semaphore 6
// says: until it is 0; it is 1
// says: SEMGET it once for each SEMPOST
// says: core_waits_for_empty.c:
#include "tile.h"

#define SEM(n) WORD(PC_BUF_BASE + 0x20 + 4 * (n))

#ifdef CORE_TRISC0
int main(void)
{
    TTI_SEMINIT(4, 0, WG_SEMAPHORE_6);
    TTI_SEMPOST(WG_SEMAPHORE_6);
    TTI_SEMPOST(WG_SEMAPHORE_6);
    tensix_sync();
    MAILBOX(3) = 1;
    while (SEM(6) != 0) {
    }
    return 0;
}
#else
int main(void)
{
    stored(&MAILBOX(1));
    TTI_SEMWAIT(0x1FF, WG_SEMAPHORE_6, WG_STALL_ON_ZERO);
    TTI_SEMGET(WG_SEMAPHORE_6);
#ifdef FIXED
    TTI_SEMWAIT(0x1FF, WG_SEMAPHORE_6, WG_STALL_ON_ZERO);
    TTI_SEMGET(WG_SEMAPHORE_6);
#endif
    tensix_sync();
    return 0;
}
#endif
