// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// says: core NC
// says: not_volatile.c:
#include "tile.h"
#ifdef CORE_BRISC
int main(void)
{
    WORD(0x20100) = 1;
    stored(&WORD(0x20100));
    return 0;
}
#else
int main(void)
{
#ifdef FIXED
    do
        fence();
    while (!WORD(0x20100));
#else
    const u32 *flag = (const u32 *)0x20100;
    while (!*flag) {
    }
#endif
    RESULT(0) = 1;
    return 0;
}
#endif
