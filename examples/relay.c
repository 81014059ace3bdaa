/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tiles: the source fills blocks and writes them into the other tile's L1 over NoC 0; the sink adds up each block and
 * frees its buffer by a write back. With one buffer, the two take turns: `waitgate profile` shows which one waits.
 *
 *     source: fill ──write block, flag──> sink: sum
 *                  <────────free─────────
 *
 *     waitgate run relay.yaml
 */
#include "noc.h"

enum { BLOCKS = 8, WORDS = 256 };
#define BLOCK 0x20000
#define FILLED WORD(0x30000) /* in the sink: the number of blocks that have arrived */
#define FREED WORD(0x30010)  /* in the source: the number of blocks that have been summed */
#define TO_SEND WORD(0x30020)
#define SUM WORD(0x30030)
#ifndef WG_ARCH_WH
#define SOURCE_PLACE (1 | 2 << 6)
#define SINK_PLACE (2 | 2 << 6)
#else
#define SOURCE_PLACE (1 | 1 << 6)
#define SINK_PLACE (2 | 1 << 6)
#endif

static void send(u32 place, u32 from, u32 to, u32 bytes)
{
    noc_write_to(0, place, bytes);
    noc_write(0, to, from, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
}

static void tell(u32 place, u32 flag, u32 count)
{
    TO_SEND = count;
    while (TO_SEND != count) { /* the block is in L1 before the NIU is told to read it */
    }
    send(place, 0x30020, flag, 16);
}

static void wait_for(volatile u32 *flag, u32 count)
{
    while (*flag < count)
        fence(); /* Blackhole's cores cache their reads */
}

#ifdef SOURCE
static void fill(u32 i)
{
    for (u32 k = 0; k < WORDS; k++)
        WORD(BLOCK + 4 * k) = i * k;
    while (WORD(BLOCK + 4 * WORDS - 4) != i * (WORDS - 1)) {
    }
}

int main(void)
{
    for (u32 i = 0; i < BLOCKS; i++) {
        fill(i);
        wait_for(&FREED, i);
        send(SINK_PLACE, BLOCK, BLOCK, 4 * WORDS);
        tell(SINK_PLACE, 0x30000, i + 1);
    }
    return 0;
}
#else
int main(void)
{
    u32 sum = 0;
    for (u32 i = 0; i < BLOCKS; i++) {
        wait_for(&FILLED, i + 1);
        for (u32 k = 0; k < WORDS; k++)
            sum += WORD(BLOCK + 4 * k);
        tell(SOURCE_PLACE, 0x30010, i + 1);
    }
    SUM = sum;
    return 0;
}
#endif
