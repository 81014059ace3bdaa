// SPDX-License-Identifier: Apache-2.0
// cores: TRISC1 TRISC2
// says: Nobody posts semaphore 1 (MATH_PACK), for which thread 2 waits
// says: replay_records_post.c:24
// says: thread 1 recorded it for REPLAY
// says: Check the length of the REPLAY
#include "tile.h"

#ifdef FIXED
enum { LENGTH = 3 };
#else
enum { LENGTH = 4 };
#endif

#ifdef CORE_TRISC1
int main(void)
{
    TTI_SEMINIT(2, 0, WG_SEMAPHORE_1);
    MAILBOX(3) = 1;
    TTI_REPLAY(0, LENGTH, 0, 1);
    TTI_SETDMAREG(0, 1, 0, 8);
    TTI_SETDMAREG(0, 2, 0, 9);
    TTI_SETDMAREG(0, 3, 0, 10);
    TTI_SEMPOST(WG_SEMAPHORE_1);
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
