// SPDX-License-Identifier: Apache-2.0
// cores: TRISC0
// says: data-race
// says: Load PC_BUF_BASE+4
#include "tile.h"

int main(void)
{
    TTI_SETDMAREG(0, 30, 0, 8);
    TTI_SETDMAREG(0, 0, 0, 9);
    TTI_SETDMAREG(0, 12, 0, 10);
    TTI_SETDMAREG(0, 0, 0, 11);
    TTI_SETDMAREG(0, 0, 0, 12);
    TTI_SETDMAREG(0, 0, 0, 13);
    tensix_sync();
    TTI_ADDDMAREG(0, 6, 5, 4);
#ifdef FIXED
    tensix_sync();
#endif
    RESULT(0) = WORD(REGFILE_BASE + 4 * 6);
    return 0;
}
