// SPDX-License-Identifier: Apache-2.0
// cores: TRISC0 TRISC1
// says: posted it, and then a SEMINIT by
// says: Initialise it before anybody posts it.
#include "tile.h"

#ifdef CORE_TRISC0
int main(void)
{
#ifdef FIXED
    TTI_SEMINIT(4, 0, WG_SEMAPHORE_5);
    tensix_sync();
    MAILBOX(2) = 1;
#else
    TTI_SEMPOST(WG_SEMAPHORE_5);
    tensix_sync();
    MAILBOX(2) = 1;
#endif
    return 0;
}
#else
int main(void)
{
    while (MAILBOX(1) != 1) {
    }
#ifdef FIXED
    TTI_SEMPOST(WG_SEMAPHORE_5);
#else
    TTI_SEMINIT(4, 0, WG_SEMAPHORE_5);
#endif
    TTI_SEMWAIT(WG_STALL_SYNC, WG_SEMAPHORE_5, WG_STALL_ON_ZERO);
    TTI_SEMGET(WG_SEMAPHORE_5);
    tensix_sync();
    return 0;
}
#endif
