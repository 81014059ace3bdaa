/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching kernels through a PC buffer: B pushes launch tokens, T1 runs one kernel per token. B's load of
 * the PC buffer returns when T1 has taken every token, waits for the next, and its Tensix
 * thread is idle: no flag in memory, nothing to poll.
 *
 *     waitgate run launch_pcbuf.brisc.elf launch_pcbuf.trisc1.elf
 */
#include "tile.h"

#define STOP 0xFFFFFFFF

#ifdef CORE_BRISC
int main(void)
{
    for (u32 token = 1; token <= 5; token++)
        PC_BUF_TO(1) = token;
    u32 idle = PC_BUF_TO(1);
    RESULT(2) = idle; /* 0, and by now … */
    fence();
    RESULT(1) = RESULT(0); /* … T1 has summed up all five tokens */
    PC_BUF_TO(1) = STOP;
    return 0;
}
#else
/* A kernel: adds the token to GPR 4 in the Tensix thread, and copies the sum to L1. */
static void kernel(u32 token)
{
    TT_SETDMAREG(0, token, 0, 2 * 5); /* low half of GPR 5 */
    TTI_ADDDMAREG(0, 4, 5, 4);
    tensix_sync();
    RESULT(0) = WORD(REGFILE_BASE + 4 * 4);
    stored(&RESULT(0)); /* B reads it as soon as this core waits for the next token */
}

int main(void)
{
    WORD(REGFILE_BASE + 4 * 4) = 0;
    WORD(REGFILE_BASE + 4 * 5) = 0;
    stored(&WORD(REGFILE_BASE + 4 * 5)); /* a push could reach the thread before the stores reach the registers */
    for (;;) {
        u32 token = PC_BUF;
        if (token == STOP)
            return 0;
        kernel(token);
    }
}
#endif
