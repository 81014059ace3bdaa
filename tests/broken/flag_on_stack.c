// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// says: Core NC
// says: flag_on_stack.c:2
// says: no other party can write core NC's own RAM
#include "tile.h"

#ifdef CORE_BRISC
int main(void)
{
    WORD(0x20100) = 1;
    return 0;
}
#else
int main(void)
{
    volatile u32 flag = 0;
    do {
#ifdef FIXED
        fence();
        flag = WORD(0x20100);
#endif
    } while (flag != 1);
    return 0;
}
#endif
