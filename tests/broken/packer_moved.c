// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0 TRISC1 TRISC2
// says: config-race
// says: packer_moved.c:
#include "pipeline.h"

static inline void b_ends(void) {}
static inline void t2_ends(void)
{
#ifdef FIXED
    tensix_sync();
#endif
    CFG(THCON_SEC0_REG1_L1_Dest_addr_ADDR32) = 0x33000 / 16 - 1;
    stored(&CFG(THCON_SEC0_REG1_L1_Dest_addr_ADDR32));
}

#include "common/one_tile.h"
