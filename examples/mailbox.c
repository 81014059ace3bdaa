/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailbox ping-pong: B sends a number to T0, T0 adds one and sends it back, a hundred times. Neither
 * polls: a load from an empty mailbox returns when a word arrives.
 *
 *     waitgate run mailbox.brisc.elf mailbox.trisc0.elf
 */
#include "tile.h"

#define ROUNDS 100

#ifdef CORE_BRISC
int main(void)
{
    u32 ball = 0;
    for (u32 i = 0; i < ROUNDS; i++) {
        MAILBOX(1) = ball;
        ball = MAILBOX(1);
    }
    RESULT(0) = ball;
    return 0;
}
#else
int main(void)
{
    for (u32 i = 0; i < ROUNDS; i++)
        MAILBOX(0) = MAILBOX(0) + 1;
    return 0;
}
#endif
