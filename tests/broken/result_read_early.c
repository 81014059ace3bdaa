// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0 TRISC1 TRISC2
// says: data-race
// says: L1 0x032
// says: result_read_early.c:
#include "pipeline.h"

static inline void b_ends(void)
{
    RESULT(0) = MAILBOX(3);
    RESULT(1) = WORD(OUT) + WORD(OUT + 0x7FC);
}

static inline void t2_ends(void)
{
#ifdef FIXED
    tensix_sync();
#endif
    MAILBOX(0) = 1;
}

#include "common/one_tile.h"
