/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B hands words over to NC with a semaphore: 1, the word is ready; 0, it has been taken. Arguments: a word of L1, the
 * number of words, the address of the sum.
 */
#include "kernel.h"

void kernel_main(void)
{
    volatile u32 *semaphore = get_semaphore(2), *word = (volatile u32 *)get_arg(0);
    const u32 words = get_arg(1);
#ifdef CORE_BRISC
    for (u32 i = 0; i < words; i++) {
        while (*semaphore != 0)
            fence();
        *word = i;
        stored(word);
        *semaphore = 1;
    }
#else
    u32 sum = 0;
    for (u32 i = 0; i < words; i++) {
        while (*semaphore != 1)
            fence();
        sum += *word;
#ifndef STALE
        *semaphore = 0;
#endif
    }
    WORD(get_arg(2)) = sum;
#endif
}
