/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The composition of a tile with baby cores, as data: its memory, its address map, its cores. A core knows its tile only
 * through these records.
 *
 *     Tensix tile     B NC T0 T1 T2, three Tensix threads    arch->tensix
 *     Ethernet tile   BH: E0 E1, WH: E                       arch->ethernet
 */
#ifndef WG_TILE_SPEC_H
#define WG_TILE_SPEC_H

#include <stdbool.h>
#include <stdint.h>
#include <waitgate/chip.h>
#include <waitgate/waitgate.h>

/* A core's instructions beyond RV32IM and `.ttinsn`. */
typedef enum wg_extension {
    WG_EXT_ZICSR = 1,
    WG_EXT_ZAAMO = 2,
    WG_EXT_B = 4,    /* Zba, Zbb, pack, brev8, grevi */
    WG_EXT_F = 8,    /* F and Zfh, in part */
    WG_EXT_V = 16,   /* V, in part */
    WG_EXT_MRET = 32 /* it accepts interrupts */
} wg_extension;

enum { WG_NONE = 0xFF }; /* wg_core_spec.thread, .debug: it has none */

/* Where a core starts: at the address in a register, if the bit of its enable register is set; else at a fixed address. */
typedef enum wg_start_from {
    WG_START_FIXED,
    WG_START_DEBUG_REGS,
    WG_START_CONFIG,
    WG_START_ETH_REG /* always at the address in the register at `fixed` */
} wg_start_from;
typedef struct wg_start {
    uint8_t from; /* wg_start_from: location of the two registers */
    uint8_t bit;
    uint16_t pc, enable; /* wg_reg_id, or wg_cfg_id in backend configuration */
    uint32_t fixed;
} wg_start;

typedef struct wg_core_spec {
    const char *name;
    uint16_t ram_bytes;    /* own data RAM */
    uint16_t icache_bytes; /* instruction cache */
    uint32_t iram_bytes;   /* own instruction RAM; 0: none */
    uint8_t extensions;    /* wg_extension */
    uint8_t fetch_back;    /* instruction fetch: processed (phase C) to the line being usable in EX1, in cycles */
    uint8_t thread;        /* the Tensix thread that it feeds, or WG_NONE */
    uint8_t debug;         /* its number at the debug interface, or WG_NONE */
    uint8_t daisy;         /* its pair of groups at the debug daisychain: SignalSel / 2 */
    uint8_t keeps;         /* DISABLE_RESET: from this bit on, what reset leaves alone: RAM, debug registers */
    uint32_t reset_bit;    /* SOFT_RESET_0 */
    wg_start start;
    /* Of a core with a coprocessor, in backend configuration: */
    uint32_t predictor_off; /* its bit in DISABLE_RISC_BP; 0: none */
    uint32_t prefetch_on;   /* its bit in RISC_PREFETCH_CTRL */
    uint16_t prefetch_end;  /* the word of its prefetcher's limit address */
} wg_core_spec;

struct wg_map;
struct wg_eth_regs_spec;

/* A word of L1. */
typedef struct wg_spec_word {
    uint32_t at, value;
} wg_spec_word;

typedef struct wg_tile_spec {
    wg_tile_kind kind;
    const char *title; /* in reports, before its place */
    uint32_t l1_bytes;
    uint8_t cores;                      /* number of cores in core[]; the others stay in reset */
    uint8_t threads;                    /* Tensix threads, with a backend behind them; 0: there is no coprocessor */
    uint8_t endpoint;                   /* the kind in the NIUs' NOC_ENDPOINT_ID */
    const struct wg_map *map;           /* arch/address_map.h */
    const struct wg_eth_regs_spec *eth; /* arch/eth_regs.h; NULL: not an Ethernet tile */
    /*
     * Words that base firmware leaves in L1 for hosts, ended by at == 0; and the word it increments while it runs, 0: none.
     */
    wg_spec_word firmware[5];
    uint32_t heartbeat;
    /* The same once a link has come up, and when it goes down; and where it leaves the chips and channels of both ends. */
    wg_spec_word link_up[6], link_cut[4];
    uint32_t link_retrains;                                     /* counts how often it was trained again */
    uint32_t link_chip[2], link_channel[2], link_channel_times; /* a channel's word is its number times this */
    wg_core_spec core[WG_CORES];
} wg_tile_spec;

#endif
