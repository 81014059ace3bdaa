/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that only an Ethernet tile has: the registers of its queues, header table, RX classifier and MAC
 * (arch/eth_regs.h), the watchdog, and the logic that fills the instruction RAM. Its link is in eth_link.h.
 */
#ifndef WG_ETH_H
#define WG_ETH_H

#include <stdbool.h>
#include <stdint.h>
#include "arch/eth_regs.h"

struct wg_tile;

typedef struct wg_eth {
    uint32_t word[WG_ETH_WORDS];
    uint32_t wdt;        /* RISCV_DEBUG_REG_WDT while it is stopped … */
    uint32_t wdt_cntl;   /* bit 0: it counts down … */
    uint64_t wdt_zero;   /* … and is zero from this cycle on */
    uint64_t iram_until; /* the instruction RAM is being filled before this cycle */
} wg_eth;

void wg_eth_reset(struct wg_tile *t);
/* One word of the registers of arch/eth_regs.h, by address; `agent` (wg_agent) and pc for findings. */
uint32_t wg_eth_read(struct wg_tile *t, uint32_t address, unsigned agent, uint32_t pc);
void wg_eth_write(struct wg_tile *t, uint32_t address, uint32_t value, unsigned agent, uint32_t pc);
/* Tile control, debug and status registers of an Ethernet tile, by offset from 0xFFB12000. */
uint32_t wg_eth_control_read(struct wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc);
void wg_eth_control_write(struct wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);
/* A host reads bytes of L1: advances the counters of base firmware, which is not emulated. */
void wg_eth_host_reads(struct wg_tile *t, uint64_t address, uint64_t bytes);

#endif
