/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the examples: words of L1 that the host reads, fences, mailboxes, PC buffers. */
#ifndef TILE_H
#define TILE_H

#include "wg_kernel.h"

typedef unsigned int u32;
typedef unsigned char u8;

#define WORD(address) (*(volatile u32 *)(address))
#define BYTE(address) (*(volatile u8 *)(address))

/* Where examples leave their results; each word has its own line of L1. */
#define RESULT(n) WORD(0x20000 + 16 * (n))

/* Blackhole: flushes the L0 cache, so that the next load sees memory. Wormhole has no such cache. */
static inline void fence(void)
{
#ifndef WG_ARCH_WH
    __asm__ volatile("fence" ::: "memory");
#endif
}

/* Waits until a store to this word, and all earlier ones to L1, have reached L1: the load comes after them. */
static inline void stored(volatile u32 *word)
{
    u32 value = *word;
    __asm__ volatile("andi %0, %0, 0" : "+r"(value));
}

/* The core with this number (0 B, 1 T0, 2 T1, 3 T2): a store sends to it, a load receives from it. */
#define MAILBOX(core) WORD(TENSIX_MAILBOX0_BASE + 0x1000 * (core))

/* B's end of the PC buffer to T<thread>, and a T core's own end. */
#define PC_BUF_TO(thread) WORD(PC_BUF_BASE + 0x10000 * (thread))
#define PC_BUF WORD(PC_BUF_BASE)

/* Waits until this T core's Tensix thread has nothing in flight. */
static inline void tensix_sync(void)
{
    WORD(PC_BUF_BASE + 4) = 0;                        /* after all earlier pushes */
    u32 value = WORD(PC_BUF_BASE + 4);                /* returns when the thread is idle … */
    __asm__ volatile("andi %0, %0, 0" : "+r"(value)); /* … and this waits for it */
}

#endif
