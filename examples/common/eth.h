/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets from an Ethernet tile to the one at the other end of its link.
 *
 *     eth_send(0, from, to, bytes);          TX queue 0: a write to the L1 at the other end; multiples of 16
 *     while (eth_busy(0)) {}                 the next command can be given
 *
 * Hardware may send the bytes again, so they must not change until the other end has them.
 */
#ifndef ETH_H
#define ETH_H

#include "tile.h"

#define TXQ(queue, offset) WORD(0xFFB90000 + 0x1000 * (queue) + (offset))
enum { TXQ_CMD = 0x04, TXQ_STATUS = 0x08, TXQ_START = 0x14, TXQ_SIZE = 0x18, TXQ_DEST = 0x1C, TXQ_SEND_DATA = 2 };

static inline u32 eth_busy(u32 queue)
{
#ifdef WG_ARCH_WH
    return TXQ(queue, TXQ_CMD);
#else
    u32 value = TXQ(queue, TXQ_CMD); /* the status is up to date after this read */
    __asm__ volatile("andi %0, %0, 0" : "+r"(value));
    return TXQ(queue, TXQ_STATUS) >> 16 & 1;
#endif
}

static inline void eth_send(u32 queue, u32 from, u32 to, u32 bytes)
{
    while (eth_busy(queue)) {
    }
    TXQ(queue, TXQ_START) = from;
    TXQ(queue, TXQ_DEST) = to;
    TXQ(queue, TXQ_SIZE) = bytes;
    TXQ(queue, TXQ_CMD) = TXQ_SEND_DATA;
}

/* The place of the Ethernet tile of a channel on the same chip, for requests to either NoC (translated coordinates). */
static inline u32 eth_place(u32 channel)
{
#ifdef WG_ARCH_WH
    static const u8 column[8] = {25, 18, 24, 19, 23, 20, 22, 21};
    return column[channel & 7] | (channel < 8 ? 16 : 17) << 6;
#else
    return (20 + channel) | 25 << 6;
#endif
}

#endif
