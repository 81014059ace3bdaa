// SPDX-License-Identifier: Apache-2.0
// cores: TRISC0 TRISC1
// says: They wait for each other in a circle
// says: Take mutexes in the same order everywhere
#include "tile.h"

#ifdef CORE_TRISC0
enum { FIRST = 2, SECOND = 3, OTHER = 2 };
#elif defined(FIXED)
enum { FIRST = 2, SECOND = 3, OTHER = 1 };
#else
enum { FIRST = 3, SECOND = 2, OTHER = 1 };
#endif

int main(void)
{
#if !defined(FIXED)
    TTI_ATGETM(FIRST);
    tensix_sync();
    MAILBOX(OTHER) = 1;
    stored(&MAILBOX(OTHER));
#else
    TTI_ATGETM(FIRST);
#endif
    TTI_ATGETM(SECOND);
    TTI_ATRELM(SECOND);
    TTI_ATRELM(FIRST);
    return 0;
}
