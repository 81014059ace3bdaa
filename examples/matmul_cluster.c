/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix product on a ring of chips: C = A * B, with a row of tiles of A on each chip, and a column of tiles of B.
 * The columns travel around the ring; each chip multiplies its row by each arriving column, which gives a row of C.
 *
 *     chip 0: A's row 0 ──> C00 C01 …        B's columns:   chip 0 ──> chip 1 ──> chip 2 ──> … ──> chip 0
 *     chip 1: A's row 1 ──> C10 C11 …
 *
 * On each chip there are three tiles. On a Tensix tile, B feeds the T cores (common/stream.h), and NC hands each column on, and writes out
 * the results. The Ethernet tile OUT sends columns to the next chip; the Ethernet tile IN brings those of the chip before. A column is
 * followed by a line with its number, which arrives last; each has a slot of its own.
 *
 *     parameters: passes, DEPTH (tiles of a column), chips, this chip, place of OUT
 *     CONFIG of an Ethernet tile: role, chips, DEPTH, place of the Tensix tile
 *
 *     build/examples/matmul_cluster_host bh
 */
#include "eth.h"
#include "noc.h"
#include "stream.h"

#define CHIPS PARAMETER(2)
#define ME PARAMETER(3)
#define PLACE_OF_OUT PARAMETER(4)
#define ASKED RESULT(21)
#define MATRIX_A 0x60000u /* a row */
#define COLUMNS 0x80000u  /* Tensix tile: in order of arrival */
#define MATRIX_C 0xC0000u /* a row */
#define WAITING 0x28400u  /* Ethernet tiles: columns in transit */

#define CONFIG(n) WORD(0x28000 + 4 * (n))
enum { OUT_ROLE, IN_ROLE, LINE = 16 };

static inline u32 column_bytes(u32 depth) { return depth * IN_BYTES + LINE; }
#define NUMBER(slot, depth) WORD((slot) + (depth)*IN_BYTES)

/* The n-th column is here. */
static inline void await_column(u32 slot, u32 depth, u32 n)
{
    do
        fence();
    while (NUMBER(slot, depth) != n);
}

/* Copies a whole column, with its line, to the same or another place in a tile. */
static inline void hand_on(u32 from, u32 place, u32 to, u32 bytes)
{
    noc_write_to(0, place, bytes);
    noc_write(0, to, from, SLOTS);
    while (noc_busy(0, WRITER) | noc_pending(0, SLOTS)) {
    }
}

#if defined(CORE_ERISC0)
int main(void)
{
    const u32 role = CONFIG(0), chips = CONFIG(1), depth = CONFIG(2), tensix = CONFIG(3), bytes = column_bytes(depth);
    for (u32 n = 1; n < chips; n++) {
        const u32 slot = WAITING + (n - 1) * bytes;
        await_column(slot, depth, role == IN_ROLE ? n + 1 : n);
        if (role == IN_ROLE) {
            hand_on(slot, tensix, COLUMNS + n * bytes, bytes);
            continue;
        }
        NUMBER(slot, depth) = n + 1;
        stored(&NUMBER(slot, depth));
        eth_send(0, slot, slot, bytes); /* the Ethernet tile IN of the next chip has the same slots */
    }
    return 0;
}
#elif defined(CORE_BRISC)
int main(void)
{
    ASKED = 0;
    configure_stream();
    const u32 depth = PRODUCTS, bytes = column_bytes(depth), results = CHIPS;
    noc_read_from(0, noc_here(0), IN_BYTES);
    noc_read_from(1, noc_here(1), IN_BYTES);
    u32 n = 1, slot = 0;
    for (u32 step = 0; step < results; step++) {
        const u32 column = COLUMNS + step * bytes;
        await_column(column, depth, step + 1);
        for (u32 k = 0; k < depth; k++, n++, slot = next_slot(slot)) {
            await(&INPUTS_OUT, n - SLOTS);
            noc_read(0, MATRIX_A + IN_BYTES * k, LEFT + IN_BYTES * slot, slot);
            noc_read(1, column + IN_BYTES * k, RIGHT + IN_BYTES * slot, slot);
            while (noc_busy(0, READER) | noc_busy(1, READER)) {
            }
            ASKED = n; /* T0 waits for the tiles themselves */
        }
    }
    return 0;
}
#elif defined(CORE_NCRISC)
int main(void)
{
    await(&GO, 1);
    const u32 depth = PRODUCTS, bytes = column_bytes(depth), chips = CHIPS;
    u32 slot = 0, at = ME;
    for (u32 step = 0; step < chips; step++, slot = next_slot(slot)) {
        await_column(COLUMNS + step * bytes, depth, step + 1);
        if (step + 1 < chips)
            hand_on(COLUMNS + step * bytes, PLACE_OF_OUT, WAITING + step * bytes, bytes);
        await(&RESULTS_IN, step + 1);
        noc_write_to(1, noc_here(1), OUT_BYTES);
        noc_write(1, MATRIX_C + at * OUT_BYTES, RESULTS + OUT_BYTES * slot, SLOTS);
        while (noc_leaving(1, SLOTS)) {
        } /* then the buffer's tile may be overwritten */
        RESULTS_OUT = step + 1;
        at = (at ? at : chips) - 1; /* the column of the previous chip comes next */
    }
    while (noc_busy(1, WRITER) | noc_pending(1, SLOTS)) {
    }
    DONE = 1;
    return 0;
}
#elif defined(CORE_TRISC0)
/* A tile has arrived when no read with its slot's tag is in flight. */
static inline void await_inputs(u32 n, u32 slot)
{
    await(&ASKED, n);
    while (noc_pending(0, slot) | noc_pending(1, slot)) {
    }
}
#endif
