// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC1
// says: polls 0x00020100 until it is 1; it is 2, and nobody will write it again: core B wrote it last at
// says: flag_wrong_value.c:17
// says: Write the awaited value
#include "tile.h"

#define FLAG WORD(0x20100)

#ifdef CORE_BRISC
int main(void)
{
#ifdef FIXED
    FLAG = 1;
    return 0;
#else
    FLAG = 2;
    return 0;
#endif
}
#else
int main(void)
{
    do
        fence();
    while (FLAG != 1);
    return 0;
}
#endif
