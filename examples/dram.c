/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile from DRAM to DRAM: NC fetches it over NoC 0, the T cores take it through the Tensix coprocessor (datacopy.c),
 * B takes the result back over NoC 1.
 *
 *     DRAM ──NoC 0──> L1 ──> unpacker, Matrix Unit, packer ──> L1 ──NoC 1──> DRAM
 *      NC                T0, T1, T2                          B
 *
 *     waitgate run dram.yaml
 */
#include "noc.h"

#define FETCHED RESULT(9)
#define FROM 0x100000
#define TO 0x200000
enum { BYTES = 2048 }; /* 1024 datums of BF16 */
#ifndef WG_ARCH_WH
#define DRAM (17 | 12 << 6) /* translated: the same tile on either NoC */
#else
#define DRAM (16 | 16 << 6)
#endif

#if defined(CORE_NCRISC)
int main(void)
{
    noc_read_from(0, DRAM, BYTES);
    noc_read(0, FROM, 0x30000, 0);
    while (noc_busy(0, READER) | noc_pending(0, 0)) {
    }
    fence();
    FETCHED = 1;
    return 0;
}
#elif defined(CORE_BRISC)
#define main configure
#include "datacopy.c"
#undef main

static void wait_until(volatile u32 *flag)
{
    while (*flag != 1)
        fence(); /* Blackhole's cores cache their reads */
}

int main(void)
{
    wait_until(&FETCHED);
    configure(); /* and start the T cores */
    wait_until(&DONE);
    noc_write_to(1, DRAM, BYTES);
    noc_write(1, TO, OUT, 0);
    while (noc_busy(1, WRITER) | noc_pending(1, 0)) {
    }
    return 0;
}
#else
#include "datacopy.c"
#endif
