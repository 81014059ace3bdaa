/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own firmware for a Tensix tile, with the behaviour that a host of tt-metal relies on: it starts, reports that it
 * is ready, runs the kernels of a launch message when the go message arrives, and reports completion. One source;
 * CORE_… chooses the core.
 */
#include "metal.h"

enum { RUN = 0x80, START = 0x40, READY = 0 };
#define SYNC_OF(core) BYTE(SYNC + (core)-1)

struct cb cb_interface[CBS] __attribute__((used));
u16 dram_bank_to_noc_xy[2][DRAM_BANKS] __attribute__((used));
u32 bank_to_dram_offset[DRAM_BANKS] __attribute__((used));
u32 *rta_l1_base __attribute__((used)), *crta_l1_base __attribute__((used)), *sem_l1_base __attribute__((used));

#ifdef WATCHED /* as in firmware with the Watcher's assertions: the number of arguments comes first */
u32 rta_count __attribute__((used)), crta_count __attribute__((used));

static void count_args(const volatile struct launch *m, u32 me)
{
    rta_count = m->args[me].own == 0xFFFF ? 0 : *rta_l1_base++;
    crta_count = m->args[me].common == 0xFFFF ? 0 : *crta_l1_base++;
}
#endif

#if defined(CORE_BRISC)
enum { ME = 0 };
#elif defined(CORE_NCRISC)
enum { ME = 1 };
#elif defined(CORE_TRISC0)
enum { ME = 2 };
#elif defined(CORE_TRISC1)
enum { ME = 3 };
#else
enum { ME = 4 };
#endif

static void read_tables(void)
{
    const u16 *xy = (const u16 *)BANKS;
    for (u32 noc = 0; noc < 2; noc++)
        for (u32 bank = 0; bank < DRAM_BANKS; bank++)
            dram_bank_to_noc_xy[noc][bank] = *xy++;
    const u32 *offset = (const u32 *)(BANKS + 4 * DRAM_BANKS + 4 * L1_BANKS);
    for (u32 bank = 0; bank < DRAM_BANKS; bank++)
        bank_to_dram_offset[bank] = offset[bank];
}

static void run_kernel(void)
{
    const volatile struct launch *m = (const volatile struct launch *)(LAUNCH + 144 * WORD(LAUNCH_READ));
    const u32 config = m->config[0];
    const volatile u32 *cb = (const volatile u32 *)(config + m->local_cbs);
    for (u32 i = 0; i < CBS; i++)
        if (m->cb_mask >> i & 1) {
            struct cb *c = &cb_interface[i];
            c->read = c->write = cb[4 * i] / 16;
            c->bytes = cb[4 * i + 1] / 16;
            c->limit = c->read + c->bytes;
            c->pages = cb[4 * i + 2];
            c->page = cb[4 * i + 3] / 16;
            c->acked = c->received = 0;
        }
    rta_l1_base = (u32 *)(config + m->args[ME].own);
    crta_l1_base = (u32 *)(config + m->args[ME].common);
    sem_l1_base = (u32 *)(config + m->semaphores[0]);
#ifdef WATCHED
    count_args(m, ME);
#endif
    if (m->enables >> ME & 1)
        ((void (*)(void))(config + m->text[ME]))();
}

#if defined(CORE_BRISC)
/* Reset vectors: dedicated registers on Blackhole, configuration on Wormhole. */
static void release_others(void)
{
    static const u32 base[] = {0, FIRMWARE_NC, FIRMWARE_T0, FIRMWARE_T1, FIRMWARE_T2};
#ifdef WG_ARCH_WH
    volatile u32 *cfg = &WORD(TENSIX_CFG_BASE);
    cfg[NCRISC_RESET_PC_PC_ADDR32] = base[1];
    cfg[TRISC_RESET_PC_SEC0_PC_ADDR32] = base[2];
    cfg[TRISC_RESET_PC_SEC1_PC_ADDR32] = base[3];
    cfg[TRISC_RESET_PC_SEC2_PC_ADDR32] = base[4];
    cfg[TRISC_RESET_PC_OVERRIDE_Reset_PC_Override_en_ADDR32] = 7;
    cfg[NCRISC_RESET_PC_OVERRIDE_Reset_PC_Override_en_ADDR32] = 1;
#else
    for (u32 i = 0; i < 3; i++)
        WORD(0xFFB12228 + 4 * i) = base[2 + i];
    WORD(0xFFB12234) = 7;
    WORD(0xFFB12238) = base[1];
    WORD(0xFFB1223C) = 1;
#endif
    for (u32 core = 1; core < 5; core++)
        SYNC_OF(core) = START;
    stored(&WORD(SYNC));
    WORD(0xFFB121B0) = 0;
}

static void wait_for_others(void)
{
    while (WORD(SYNC) != 0)
        fence();
}

static void clear_counts(void)
{
    for (u32 cb = 0; cb < CBS; cb++)
        STREAM(cb, RECEIVED) = STREAM(cb, ACKED) = 0;
}

int main(void)
{
    read_tables();
    clear_counts();
    release_others();
    wait_for_others();
    BYTE(GO + 3) = SIGNAL_DONE;
    for (;;) {
        while (BYTE(GO + 4 * WORD(GO_INDEX) + 3) != SIGNAL_GO)
            fence();
        const u32 enables = ((const volatile struct launch *)(LAUNCH + 144 * WORD(LAUNCH_READ)))->enables;
        for (u32 core = 1; core < 5; core++)
            if (enables >> core & 1)
                SYNC_OF(core) = RUN;
        stored(&WORD(SYNC));
        run_kernel();
        wait_for_others();
        clear_counts();
        stored(&STREAM(CBS - 1, ACKED));
        BYTE(GO + 3) = SIGNAL_DONE;
    }
}
#else
int main(void)
{
    read_tables();
    SYNC_OF(ME) = READY;
    for (;;) {
        while (SYNC_OF(ME) != RUN)
            fence();
        run_kernel();
        SYNC_OF(ME) = READY;
    }
}
#endif
