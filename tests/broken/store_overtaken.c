// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0
// says: data-race
// says: 0x020100
#include "tile.h"

#define DATA WORD(0x20100)

/* The mailbox may overtake a store to L1 in flight. */
#ifdef CORE_BRISC
int main(void)
{
    DATA = 7;
#ifdef FIXED
    stored(&DATA);
#endif
    MAILBOX(1) = 1;
    return 0;
}
#else
int main(void)
{
    stored(&MAILBOX(0));
    fence();
    RESULT(0) = DATA;
    return 0;
}
#endif
