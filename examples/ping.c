/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips over an Ethernet link, for packets of 16 bytes to 8 KiB: one end sends a packet, the other sends it back as soon as
 * it has come. The first end measures the cycles from before the command until the packet is back; then how long a packet takes of
 * many that follow each other, of which only the last one is answered.
 *
 *     waitgate run ping.yaml
 */
#include "eth.h"

enum { PING, PONG };
enum { LEAST = 16, MOST = 8192, LINE = 16, ROUNDS = 4, FEW = 16, MANY = 80 };

#define CONFIG(n) WORD(0x28000 + 4 * (n)) /* role */
#define BUFFER 0x30000u
#define ELSEWHERE 0x34000u
#define CLOCK WORD(0xFFB121F0)

/* Waits until the line after the packet shows that it is the n-th. */
static void await(volatile u32 *line, u32 n)
{
    do {
        fence();
    } while (*line != n);
}

/* The cycles until the last of some packets is answered; the other end answers. */
static u32 stream(u32 role, u32 bytes, u32 packets, u32 n)
{
    volatile u32 *line = &WORD(BUFFER + bytes);
    u32 before = CLOCK;
    if (role == PONG) {
        await(line, n);
        *line = n + 1;
        stored(line);
        eth_send(0, (u32)line, (u32)line, LINE);
        return 0;
    }
    for (u32 i = 0; i < packets; i++)
        eth_send(0, BUFFER, ELSEWHERE, bytes + LINE);
    *line = n;
    stored(line);
    eth_send(0, (u32)line, (u32)line, LINE);
    await(line, n + 1);
    return CLOCK - before;
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
        u32 few = stream(CONFIG(0), bytes, FEW, n + 1), many = stream(CONFIG(0), bytes, MANY, n + 3);
        RESULT(8 + sizes) = many - few; /* of MANY − FEW packets */
        n += 4;
    }
    return 0;
}
