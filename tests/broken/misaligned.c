// SPDX-License-Identifier: Apache-2.0
// cores: NCRISC
// says: core-misaligned-access
// says: misaligned.c:
#include "tile.h"

/* A record as it comes from the host: a byte, then a word, without padding. */
static __attribute__((noipa)) u32 load(const volatile u32 *from) { return *from; }

int main(void)
{
    WORD(0x30100) = 0x44332211;
    WORD(0x30104) = 0x88776655;
    stored(&WORD(0x30104));
#ifdef FIXED
    RESULT(0) = load(&WORD(0x30104));
#else
    RESULT(0) = load(&WORD(0x30101));
#endif
    return 0;
}
