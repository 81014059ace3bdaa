// SPDX-License-Identifier: Apache-2.0
// tiles: 2
// says: polls NIU 0's NIU_MST_WR_ACK_RECEIVED (0xffb20204)
// says: no request that it counts is under way.
// says: writes that ask for one (NOC_CMD_RESP_MARKED)
// says: answer_never_asked_for.c:
#include "noc.h"

#ifdef FIXED
enum { CONTROL = NOC_WRITES | NOC_ANSWER };
#else
enum { CONTROL = NOC_WRITES };
#endif

#ifdef TILE_1
int main(void)
{
    u32 answers = noc_answers(0);
    WORD(0x30000) = 7;
    stored(&WORD(0x30000));
    noc_setup(0, WRITER, CONTROL, NEIGHBOUR, 16);
    noc_write(0, 0x30000, 0x30000, 0);
    while (noc_answers(0) == answers) {
    }
    return 0;
}
#else
int main(void) { return 0; }
#endif
