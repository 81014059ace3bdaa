// SPDX-License-Identifier: Apache-2.0
// cores: TRISC1 TRISC2
// says: They wait for each other in a circle
// says: mailboxes_crossed.c:
// says: Let one of them send before it receives.
#include "tile.h"

#ifdef CORE_TRISC1
int main(void)
{
#ifdef FIXED
    MAILBOX(3) = 1;
    RESULT(0) = MAILBOX(3);
#else
    u32 n = MAILBOX(3);
    MAILBOX(3) = n;
#endif
    return 0;
}
#else
int main(void)
{
    u32 n = MAILBOX(2);
    MAILBOX(2) = n + 1;
    return 0;
}
#endif
