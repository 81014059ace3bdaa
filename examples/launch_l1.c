/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching kernels through L1: B writes "go" (0x80) into each T core's byte, the T cores poll for it, run, drain
 * their Tensix thread and write "done" (0x00). All three work at the same time.
 *
 *     waitgate run launch_l1.brisc.elf launch_l1.trisc0.elf launch_l1.trisc1.elf launch_l1.trisc2.elf
 */
#include "tile.h"

#define GO 0x80
#define DONE 0x00
#define SYNC(thread) BYTE(0x20100 + 16 * (thread)) /* a line of L1 each, see stale_l0.c */

#ifdef CORE_BRISC
int main(void)
{
    for (u32 thread = 0; thread < 3; thread++)
        SYNC(thread) = GO;
    for (u32 thread = 0; thread < 3; thread++)
        do
            fence();
        while (SYNC(thread) != DONE);
    u32 sum = 0;
    for (u32 thread = 0; thread < 3; thread++)
        sum += RESULT(1 + thread);
    RESULT(0) = sum;
    return 0;
}
#else
#if defined(CORE_TRISC0)
#define THREAD 0
#elif defined(CORE_TRISC1)
#define THREAD 1
#else
#define THREAD 2
#endif
int main(void)
{
    do
        fence();
    while (SYNC(THREAD) != GO);
    TTI_SETDMAREG(0, 100 * (THREAD + 1), 0, 2 * 8); /* the low half of GPR 8 of this thread */
    TTI_SETDMAREG(0, 0, 0, 2 * 8 + 1);
    tensix_sync();                                   /* before done is written, not after */
    RESULT(1 + THREAD) = WORD(REGFILE_BASE + 4 * 8); /* stores to L1 stay in order */
    SYNC(THREAD) = DONE;
    return 0;
}
#endif
