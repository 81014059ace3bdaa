// SPDX-License-Identifier: Apache-2.0
// cores: TRISC0 TRISC1
// says: foreign-write
// says: It belongs to the program of core T1
#include "tile.h"

#ifdef CORE_TRISC0
int main(void)
{
    volatile u32 *to = (volatile u32 *)__other;
#ifndef FIXED
    to[0] = 1;
#endif
    RESULT(0) = (u32)to;
    return 0;
}
#else
int main(void) { return 0; }
#endif
