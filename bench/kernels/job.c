/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of a job: what test suites do around each kernel. B is a firmware that takes commands from the host, which it
 * polls at intervals of the wall clock; a T core clears its RAM and its GPRs, fetches its arguments, runs the kernel (`job`, the
 * main of the program JOB), waits for its thread, and reports.
 *
 *     words, from 0x21000 on, 16 bytes apart: 0, 1 commands in turn; 2 their count; 3 to 5 a T core is done; 8… arguments
 */
#if defined(CORE_TRISC0)
enum { T = 0 };
#elif defined(CORE_TRISC1)
enum { T = 1 };
#elif defined(CORE_TRISC2)
enum { T = 2 };
#endif
#define main job
#include JOB
#undef main
#include "tile.h"

#define FRAME(n) WORD(0x21000 + 16 * (n))
enum { COMMAND, COUNT = 2, DONE_T0, ARGUMENTS = 8, ARGUMENT_COUNT = 16 };
enum { START = 1, STOP = 2, READY = 0xB0, COMPLETE = 0xFF, T_CORES = 7 << 12, PAUSE = 1000 };

/* A store that has arrived when this returns. */
static void commit(volatile u32 *word, u32 value)
{
    *word = value;
    while (*word != value)
        ;
}

#ifdef CORE_BRISC
static void reset_cores(u32 cores, int on)
{
    volatile u32 *reset = &WORD(RISCV_DEBUG_REG_SOFT_RESET_0);
    commit(reset, on ? *reset | cores : *reset & ~cores);
}

static void pause(void)
{
    const u32 from = WORD(RISCV_DEBUG_REG_WALL_CLOCK_0);
    while (WORD(RISCV_DEBUG_REG_WALL_CLOCK_0) - from < PAUSE)
        ;
}

static void device_setup(void)
{
#ifdef WG_ARCH_WH
    TTI_ZEROACC(3, 0, 0);
#else
    TTI_ZEROACC(3, 0, 0, 0, 0);
#endif
    TTI_SFPENCC(3, 0, 0, 10);
    TTI_NOP;
    for (u32 n = 0; n < 3; n++)
        commit(&FRAME(DONE_T0 + n), 0);
}

int main(void)
{
    WORD(TENSIX_CFG_BASE + 4 * DISABLE_RISC_BP_Disable_main_ADDR32) |= DISABLE_RISC_BP_Disable_main_MASK;
    commit(&FRAME(COMMAND), 0);
    commit(&FRAME(COMMAND + 1), 0);
    commit(&FRAME(COUNT), READY);
    for (u32 count = 0;;) {
        fence();
        const u32 command = FRAME(COMMAND + (count & 1));
        if (command == START) {
            device_setup();
            reset_cores(T_CORES, 0);
            job();
        } else if (command == STOP) {
            reset_cores(T_CORES, 1);
        }
        if (command) {
            count++;
            commit(&FRAME(COMMAND + (count & 1)), 0);
            commit(&FRAME(COUNT), count);
        }
        pause();
    }
}
#else
#define RAM(n) WORD(MEM_LOCAL_BASE + 4 * (n))

int main(void)
{
    extern u32 _start[];
    enum { DATA = 64, RAM_WORDS = 384, GPRS = 64 };
    volatile u32 arguments[ARGUMENT_COUNT];
    for (u32 n = DATA; n < RAM_WORDS; n++)
        RAM(n) = 0;
    for (u32 n = 0; n < DATA; n++)
        RAM(n) = ((volatile u32 *)_start)[n];
    for (u32 n = 0; n < ARGUMENT_COUNT; n++)
        commit(&arguments[n], WORD(0x21000 + 16 * ARGUMENTS + 4 * n));
    for (u32 n = 0; n < GPRS; n++)
        WORD(REGFILE_BASE + 4 * n) = 0;
    job();
    tensix_sync();
    commit(&FRAME(DONE_T0 + T), COMPLETE);
    return 0;
}
#endif
