// SPDX-License-Identifier: Apache-2.0
// cores: BRISC NCRISC
// says: until it is no longer 0, and nobody writes it.
// says: flag_never_set.c:24
#include "tile.h"

#define FLAG WORD(0x20100)
#define OTHER WORD(0x20110)

#ifdef CORE_BRISC
int main(void)
{
    OTHER = 1;
#ifdef FIXED
    FLAG = 1;
#endif
    return 0;
}
#else
int main(void)
{
    do
        fence();
    while (FLAG == 0);
    return 0;
}
#endif
