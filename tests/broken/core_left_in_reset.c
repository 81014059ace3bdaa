// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0
// says: Core T0 is in reset, and cannot do what is waited for
// says: polls 0x00020100 until it is 1; it is 0; core T0 would store to it at
// says: Release it from reset
#include "tile.h"

#define FINISHED WORD(0x20100)
#define SOFT_RESET WORD(0xFFB121B0)

#ifdef CORE_BRISC
int main(void)
{
#ifndef FIXED
    SOFT_RESET |= 1 << 12;
    stored(&SOFT_RESET);
#endif
    do
        fence();
    while (FINISHED != 1);
    return 0;
}
#else
int main(void)
{
    for (volatile u32 i = 0; i < 200; i++) {
    }
    FINISHED = 1;
    return 0;
}
#endif
