// SPDX-License-Identifier: Apache-2.0
// cores: BRISC
// says: Core B has left its program through the call at
// says: null_function.c:20
#include "tile.h"

typedef void (*function)(u32);

static void work(u32 n) { RESULT(0) = n; }

#ifdef FIXED
function volatile table[2] = {work, work};
#else
function volatile table[2] = {work, 0};
#endif

int main(void)
{
    for (u32 i = 0; i < 2; i++)
        table[i](i);
    return 0;
}
