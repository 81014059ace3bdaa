/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-gather and all-reduce on a mesh of chips, of rows and columns without wraparound: afterwards every chip has the vectors of all
 * chips, and their sum. On each chip a tile works for each side that has a neighbour, all with this program.
 *
 *              │ N                 Blocks from the west go to the east, north and south, those from the north south.
 *         W ───┼─── E              So a block travels along its row, and from each chip there along the column.
 *              │ S                 Each chip's own block leaves on all sides.
 *
 * A block is a vector and a line: its number in the queue that it is in, and whose it is. A tile sends what it finds in the queues of
 * the other sides over its link, and hands on what arrives. Every block has a slot of its own, so nobody waits for a free one. One
 * of the tiles is home: it gets all blocks.
 */
#include "eth.h"
#include "noc.h"

enum { WEST, EAST, NORTH, SOUTH, SIDES, NOBODY = 0xFF };
enum { VECTOR = 32, LINE = 16, SLOT = VECTOR * 4 + LINE, MOST = 32 }; /* words; bytes; chips */

#define CONFIG(n) \
    WORD(0x28000 + 4 * (n)) /* side, column, row, columns, rows, home's side, channels of the four sides */
#define NEIGHBOUR(side) CONFIG(6 + (side))
#define ARRIVED 0x30000u                         /* over the link */
#define QUEUE(side) (0x32000u + 0x2000 * (side)) /* blocks that the tile of that side passes on */
#define OWN 0x3A000u
#define ALL 0x3B000u /* home: the blocks, by chip */
#define NUMBER(slot) WORD((slot) + VECTOR * 4)
#define WHOSE(slot) WORD((slot) + VECTOR * 4 + 4)

static u32 number(u32 chip, u32 word) { return (chip + 1) * 2654435761u + word * 40503u; }

/* Passes a block to a tile of this chip. */
static void hand(u32 slot, u32 side, u32 to, u32 as)
{
    NUMBER(slot) = as;
    stored(&NUMBER(slot));
    noc_write_to(0, eth_place(NEIGHBOUR(side)), SLOT);
    noc_write(0, to, slot, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
}

/* Is a block passed on from one side to another? Rows come first. */
static u32 goes_on(u32 from, u32 to) { return from != to && (from < NORTH || to >= NORTH); }

/* Sends a block over the link, as the n-th. */
static void send(u32 slot, u32 n)
{
    NUMBER(slot) = n + 1;
    stored(&NUMBER(slot));
    eth_send(0, slot, ARRIVED + n * SLOT, SLOT);
}

static void work(u32 side, u32 comes, u32 goes, u32 home)
{
    u32 arrived = 0, sent = 0, handed[SIDES] = {0}, taken[SIDES] = {0};
    send(OWN, sent++);
    while (arrived < comes || sent < goes) {
        for (u32 from = 0; from < SIDES; from++) {
            const u32 next = QUEUE(from) + taken[from] * SLOT;
            fence();
            if (NEIGHBOUR(from) == NOBODY || !goes_on(from, side) || NUMBER(next) != taken[from] + 1)
                continue;
            taken[from]++;
            send(next, sent++);
        }
        const u32 slot = ARRIVED + arrived * SLOT;
        fence();
        if (arrived == comes || NUMBER(slot) != arrived + 1)
            continue;
        arrived++;
        for (u32 to = 0; to < SIDES; to++)
            if (NEIGHBOUR(to) != NOBODY && goes_on(side, to)) {
                hand(slot, to, QUEUE(side) + handed[to] * SLOT, handed[to] + 1);
                handed[to]++;
            }
        hand(slot, home, ALL + WHOSE(slot) * SLOT, 1);
    }
}

/* All blocks have arrived: counts the errors in them and in their sum. */
static u32 mistakes(u32 chips)
{
    u32 wrong = 0;
    for (u32 chip = 0; chip < chips; chip++) {
        const u32 slot = ALL + chip * SLOT;
        do {
            fence();
        } while (!NUMBER(slot));
        for (u32 i = 0; i < VECTOR; i++)
            wrong += WORD(slot + 4 * i) != number(chip, i);
    }
    for (u32 i = 0; i < VECTOR; i++) {
        u32 sum = 0;
        for (u32 chip = 0; chip < chips; chip++)
            sum += WORD(ALL + chip * SLOT + 4 * i);
        wrong += sum != chips * (chips + 1) / 2 * 2654435761u + chips * i * 40503u;
    }
    return wrong;
}

int main(void)
{
    const u32 side = CONFIG(0), x = CONFIG(1), y = CONFIG(2), columns = CONFIG(3), rows = CONFIG(4), home = CONFIG(5);
    const u32 me = y * columns + x, row = columns;
    const u32 comes[SIDES] = {x, columns - 1 - x, row * y, row * (rows - 1 - y)};
    const u32 goes[SIDES] = {columns - x, x + 1, row * (rows - y), row * (y + 1)};
    if (columns * rows > MOST || side >= SIDES)
        return 0;
    for (u32 i = 0; i < VECTOR; i++)
        WORD(OWN + 4 * i) = number(me, i);
    WHOSE(OWN) = me;
    if (side == home)
        hand(OWN, home, ALL + me * SLOT, 1);
    work(side, comes[side], goes[side], home);
    if (side == home) {
        RESULT(0) = mistakes(columns * rows);
        RESULT(1) = 0x600D; /* the program has ended */
    }
    return 0;
}
