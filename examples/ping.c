/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips over an Ethernet link, for packets of 16 bytes to 8 KiB: one end sends a packet, the other sends it back as soon as
 * it has come. The first end measures the cycles from before the command until the packet is back.
 *
 *     waitgate run ping.yaml
 */
#include "eth.h"

enum { PING, PONG };
enum { LEAST = 16, MOST = 8192, LINE = 16, ROUNDS = 4 };

#define CONFIG(n) WORD(0x28000 + 4 * (n)) /* role */
#define BUFFER 0x30000u
#define CLOCK WORD(0xFFB121F0)

/* Waits until the line behind the packet says that it is the n-th. */
static void await(volatile u32 *line, u32 n)
{
    do {
        fence();
    } while (*line != n);
}

int main(void)
{
    u32 n = 0, sizes = 0;
    for (u32 bytes = LEAST; bytes <= MOST; bytes = bytes == LEAST ? 128 : 2 * bytes, sizes++) {
        volatile u32 *line = &WORD(BUFFER + bytes);
        u32 best = -1u;
        for (u32 i = 0; i < ROUNDS; i++) {
            n += 2;
            if (CONFIG(0) == PONG) {
                await(line, n - 1);
                *line = n;
                stored(line);
                eth_send(0, BUFFER, BUFFER, bytes + LINE);
                continue;
            }
            u32 before = CLOCK;
            *line = n - 1;
            stored(line);
            eth_send(0, BUFFER, BUFFER, bytes + LINE);
            await(line, n);
            u32 took = CLOCK - before;
            best = took < best ? took : best;
        }
        RESULT(sizes) = best;
    }
    return 0;
}
