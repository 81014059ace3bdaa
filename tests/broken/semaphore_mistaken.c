// SPDX-License-Identifier: Apache-2.0
// cores: TRISC1 TRISC2
// says: Nobody posts semaphore 1 (MATH_PACK), for which thread 2 waits
// says: semaphore_mistaken.c:
#include "tile.h"

#ifdef CORE_TRISC1
int main(void)
{
    TTI_SEMINIT(2, 0, WG_SEMAPHORE_1);
    TTI_SEMINIT(2, 0, WG_SEMAPHORE_2);
#ifdef FIXED
    TTI_SEMPOST(WG_SEMAPHORE_1);
#else
    TTI_SEMPOST(WG_SEMAPHORE_2);
#endif
    MAILBOX(3) = 1;
    return 0;
}
#else
int main(void)
{
    stored(&MAILBOX(2));
    TTI_SEMWAIT(0x1FF, WG_SEMAPHORE_1, 1);
    TTI_SEMGET(WG_SEMAPHORE_1);
    return 0;
}
#endif
