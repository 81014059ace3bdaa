/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix product of BF16 tiles, triple buffered: C = A * B, with A of ROWS x DEPTH tiles, B of DEPTH x COLUMNS, C in
 * FP32.
 *
 * B reads the tiles of A and B in the order in which they are needed, one matrix over each NoC; the T cores' programs
 * (common/stream.h) multiply; NC writes out finished tiles. Here the other end of both NoCs is the tile itself, which is the
 * only one. With RESIDENT nothing is moved: the buffers' tiles are reused, and the T cores never wait for memory.
 *
 *     parameters: passes (1 LoFi to 4 HiFi4), DEPTH, ROWS * COLUMNS, COLUMNS
 *
 *     build/examples/matmul_stream_host bh           the host's side: runs it, and checks C exactly
 */
#include "noc.h"
#include "stream.h"

#define COLUMNS PARAMETER(3)
#define ASKED RESULT(21)
#define MATRIX_A 0x60000
#define MATRIX_B 0x80000
#define MATRIX_C 0xA0000

#if defined(CORE_BRISC)
int main(void)
{
    ASKED = 0;
    configure_stream();
    u32 depth = PRODUCTS, columns = COLUMNS, tiles = depth * RESULT_COUNT;
    noc_read_from(0, noc_here(0), IN_BYTES);
    noc_read_from(1, noc_here(1), IN_BYTES);
    u32 row = MATRIX_A, column = 0, k = 0, slot = 0;
    for (u32 n = 1; n <= tiles; n++, slot = next_slot(slot)) {
        await(&INPUTS_OUT, n - SLOTS);
#ifndef RESIDENT
        noc_read(0, row + IN_BYTES * k, LEFT + IN_BYTES * slot, slot);
        noc_read(1, MATRIX_B + IN_BYTES * (k * columns + column), RIGHT + IN_BYTES * slot, slot);
        while (noc_busy(0, READER) | noc_busy(1, READER)) {
        }
#endif
        ASKED = n; /* T0 waits for the tiles themselves, so that the next ones can be requested at once */
        if (++k == depth) {
            k = 0;
            if (++column == columns) {
                column = 0;
                row += IN_BYTES * depth;
            }
        }
    }
    return 0;
}
#elif defined(CORE_NCRISC)
int main(void)
{
    await(&GO, 1);
    u32 results = RESULT_COUNT, slot = 0, to = MATRIX_C;
    noc_write_to(1, noc_here(1), OUT_BYTES);
    for (u32 n = 1; n <= results; n++, slot = next_slot(slot), to += OUT_BYTES) {
        await(&RESULTS_IN, n);
#ifndef RESIDENT
        noc_write(1, to, RESULTS + OUT_BYTES * slot, SLOTS);
        while (noc_leaving(1, SLOTS)) {
        } /* then the buffer's tile may be overwritten */
#endif
        RESULTS_OUT = n;
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
