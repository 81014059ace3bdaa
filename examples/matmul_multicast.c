/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix product on a rectangle of tiles: C = A * B, one tile of C on each tile of the chip. The tiles of a row need
 * the same tiles of A, those of a column the same tiles of B: the first of each row has A's and sends each to all at
 * once.
 *
 *                 (0,0) has B's column 0     (0,1) has B's column 1
 *                       │                          │
 *     (0,0) has A's ────C00────────────────────────C01
 *           row 0       │                          │
 *     (1,0) has A's ────C10────────────────────────C11
 *           row 1
 *
 *     parameters: passes, DEPTH, 1, columns and rows of the rectangle, row and column of this tile
 *
 * B sends A's tiles over NoC 0, NC sends B's over NoC 1. A sender reads how many tiles the others have taken, so that no
 * buffer of three tiles overflows. The T cores' programs are those of matmul_stream (common/stream.h). Polling over the NoC
 * is not a loop around a load: --flag 0x20120:4 tells `waitgate check` that the count is a flag.
 *
 *     build/examples/matmul_multicast_host bh
 */
#include "noc.h"
#define OTHERS_LOOK
#include "stream.h"

#define COLUMNS PARAMETER(3)
#define ROWS PARAMETER(4)
#define MY_ROW PARAMETER(5)
#define MY_COLUMN PARAMETER(6)

#define LEFT_IN RESULT(21)
#define RIGHT_IN RESULT(22)
#define SEEN(core) RESULT(24 + (core))  /* another tile's count, as read by a sender */
#define COUNT(core) RESULT(26 + (core)) /* the count it is about to send */
#define MINE 0x60000                    /* the tiles that this tile sends: of A, and of B */

/*
 * Sends this tile's tiles to `others` tiles, including itself, each of which is `step` (of x | y << 6) further than the
 * previous one.
 */
static inline void send(u32 noc, u32 step, u32 others, u32 mine, u32 buffer, volatile u32 *count)
{
    u32 here = noc_here(noc), last = here + step * (others - 1), tiles = PRODUCTS * RESULT_COUNT, slot = 0;
    u32 rectangle = noc ? here | last << 12 : last | here << 12; /* NoC 1 flows the other way */
    u32 control = NOC_WRITES | NOC_ANSWER | (others > 1 ? NOC_MULTICAST | NOC_TO_SELF | NOC_RESERVE_PATH : 0);
    u32 answers = noc_answers(noc);
    for (u32 n = 1; n <= tiles; n++, slot = next_slot(slot), mine += IN_BYTES) {
        for (u32 i = 0, place = here; i < others; i++, place += step) {
            noc_read_from(noc, place, 16);
            do {
                noc_read(noc, (u32)&INPUTS_OUT, (u32)&SEEN(noc), 0);
                while (noc_busy(noc, READER) | noc_pending(noc, 0)) {
                }
                fence();
            } while ((int)(SEEN(noc) - (n - SLOTS)) < 0);
        }
        noc_setup(noc, WRITER, control, rectangle, IN_BYTES);
        noc_write(noc, buffer + IN_BYTES * slot, mine, 1);
        answers += others;
        while ((int)(noc_answers(noc) - answers) < 0) {
        } /* all of them have it */
        COUNT(noc) = n;
        stored(&COUNT(noc));
        noc_setup(noc, WRITER, control, rectangle, 16);
        noc_write(noc, (u32)count, (u32)&COUNT(noc), 1);
        answers += others;
        while ((int)(noc_answers(noc) - answers) < 0) {
        }
    }
}

#if defined(CORE_BRISC)
int main(void)
{
    configure_stream();
    if (MY_COLUMN == 0)
        send(0, 1, COLUMNS, MINE, LEFT, &LEFT_IN);
    return 0;
}
#elif defined(CORE_NCRISC)
int main(void)
{
    await(&GO, 1);
    if (MY_ROW == 0)
        send(1, 1 << 6, ROWS, MINE + IN_BYTES * PRODUCTS * RESULT_COUNT, RIGHT, &RIGHT_IN);
    await(&RESULTS_IN, RESULT_COUNT); /* it stays there: the host reads it */
    DONE = 1;
    return 0;
}
#elif defined(CORE_TRISC0)
static inline void await_inputs(u32 n, u32 slot)
{
    (void)slot;
    await(&LEFT_IN, n);
    await(&RIGHT_IN, n);
}
#endif
