// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0 TRISC1 TRISC2
// says: barrier_by_loop.c:
// says: polls 0x00020100, 0x00020110 and 0x00020120, which are 1, 1 and 0, and nobody writes 0x00020120
#include "tile.h"

#define ARRIVED(n) WORD(0x20100 + 16 * (n))

#ifdef CORE_BRISC
int main(void)
{
    for (u32 done = 0; done != 3;) {
        fence();
        done = 0;
        for (u32 i = 0; i < 3; i++)
            done += ARRIVED(i);
    }
    RESULT(0) = 1;
    return 0;
}
#else
#if defined(CORE_TRISC0)
#define ME 0
#elif defined(CORE_TRISC1)
#define ME 1
#else
#define ME 2
#endif
int main(void)
{
    u32 n = 0;
    for (u32 i = 0; i < 10; i++)
        n += i * ME;
    RESULT(1 + ME) = n;
#ifndef FIXED
    if (n > 80)
        return 0;
#endif
    ARRIVED(ME) = 1;
    return 0;
}
#endif
