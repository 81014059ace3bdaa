// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// says: data-race
// says: lock_by_word.c:
#include "tile.h"
#define LOCK WORD(0x20100)
#define COUNT WORD(0x20110)
#ifdef FIXED
/* Taking turns needs no read-modify-write. */
#ifdef CORE_BRISC
enum { ME = 0 };
#else
enum { ME = 1 };
#endif
int main(void)
{
    for (u32 i = 0; i < 3; i++) {
        do
            fence();
        while (LOCK != ME);
        COUNT = COUNT + 1;
        stored(&COUNT);
        LOCK = !ME;
    }
    return 0;
}
#else
int main(void)
{
    for (u32 i = 0; i < 3; i++) {
        do
            fence();
        while (LOCK);
        LOCK = 1;
        COUNT = COUNT + 1;
        stored(&COUNT);
        LOCK = 0;
    }
    return 0;
}
#endif
