// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC2
// says: They wait for each other in a circle
// says: core T2 would store to it at
// says: core B would store to it at
#include "tile.h"

#define MINE WORD(0x20100)
#define YOURS WORD(0x20110)

#ifdef CORE_BRISC
int main(void)
{
#ifdef FIXED
    MINE = 1;
#endif
    do
        fence();
    while (YOURS == 0);
    MINE = 1;
    return 0;
}
#else
int main(void)
{
    do
        fence();
    while (MINE == 0);
    YOURS = 1;
    return 0;
}
#endif
