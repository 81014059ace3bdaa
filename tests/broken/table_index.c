// SPDX-License-Identifier: Apache-2.0
// cores: TRISC1
// says: Core T1 has left its program through the call at
// says: table_index.c:
#include "tile.h"
static void one(void) { RESULT(1) = 1; }
static void two(void) { RESULT(2) = 2; }
int main(void)
{
    static void (*const table[])(void) = {one, two};
#ifdef FIXED
    const u32 count = 2;
#else
    const u32 count = 3;
#endif
    for (volatile u32 i = 0; i < count; i++)
        table[i]();
    return 0;
}
