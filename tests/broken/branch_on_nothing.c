// SPDX-License-Identifier: Apache-2.0
// cores: BRISC
// says: uninitialised-value
// says: L1 0x030000
#include "tile.h"

int main(void)
{
#ifdef FIXED
    WORD(0x30000) = 1;
#endif
    if (WORD(0x30000) == 5)
        RESULT(0) = 1;
    else
        RESULT(1) = 2;
    return 0;
}
