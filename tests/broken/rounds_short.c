// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// says: polls 0x00020100 until it is 0xa; it is 0x9
// says: before that, core NC did at
// says: rounds_short.c:
#include "tile.h"

#define TURN WORD(0x20100)

#ifdef CORE_BRISC
int main(void)
{
    for (u32 i = 0; i < 6; i++) {
        while (TURN != 2 * i)
            fence();
        RESULT(i) = i;
        TURN = 2 * i + 1;
    }
    return 0;
}
#else
int main(void)
{
    for (u32 i = 0; i < 6; i++) {
        while (TURN != 2 * i + 1)
            fence();
#ifndef FIXED
        if (i == 4)
            break;
#endif
        TURN = 2 * i + 2;
    }
    return 0;
}
#endif
