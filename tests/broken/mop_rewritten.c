// SPDX-License-Identifier: Apache-2.0
// cores: TRISC1
// says: mop-config-race
// says: mop_rewritten.c:
#include "tile.h"

static void mop(u32 count, u32 what)
{
    const u32 nop = TT_OP_NOP;
    const u32 words[9] = {1, count, nop, nop, nop, what, nop, what, what};
    for (u32 i = 0; i < 9; i++)
        WORD(TENSIX_MOP_CFG_BASE + 4 * i) = words[i];
}

int main(void)
{
    mop(20, TT_OP_NOP);
    TTI_MOP(1, 0, 0);
#ifdef FIXED
    tensix_sync();
#endif
    mop(30, TT_OP_NOP);
    TTI_MOP(1, 0, 0);
    tensix_sync();
    return 0;
}
