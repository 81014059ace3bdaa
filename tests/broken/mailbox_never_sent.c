// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0
// says: core T0 waits at stored (
// says: mailbox_never_sent.c:20
// says: Core B has stopped, and has not done what is waited for
// says: the mailbox is empty
#include "tile.h"

#ifdef CORE_BRISC
int main(void)
{
#ifdef FIXED
    MAILBOX(1) = 7;
#endif
    return 0;
}
#else
int main(void)
{
    stored(&MAILBOX(0));
    return 0;
}
#endif
