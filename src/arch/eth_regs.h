/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of Ethernet tiles that Tensix tiles do not have, as data: queues, header table, RX classifier, control, MAC.
 * src/tile/eth.c implements them.
 */
#ifndef WG_ETH_REGS_H
#define WG_ETH_REGS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum wg_eth_access {
    WG_ETH_STORAGE,   /* reads as written, or as counted by hardware since */
    WG_ETH_READ_ONLY, /* a write has no effect */
    WG_ETH_COMMAND,   /* of a TX queue; reads as zero once it is accepted */
    WG_ETH_SUM,       /* a write adds */
    WG_ETH_IRAM_LOAD, /* a write fills the instruction RAM; bit 0 reads as set meanwhile */
    WG_ETH_INTERRUPTS /* stored; how it interrupts is not documented */
} wg_eth_access;

typedef struct wg_eth_reg {
    uint16_t offset; /* in its block */
    uint16_t words;  /* consecutive */
    uint8_t access;  /* wg_eth_access */
    uint32_t reset;
    uint32_t mask; /* bits that exist */
    const char *name;
} wg_eth_reg;

/* A block of registers, or several equal ones. */
typedef struct wg_eth_block {
    uint32_t first; /* address */
    uint32_t stride;
    uint16_t count, bytes;
    const wg_eth_reg *reg;
    unsigned regs;
} wg_eth_block;

enum { WG_ETH_WORDS = 3600 }; /* room for the words of all blocks */

typedef struct wg_eth_regs_spec {
    const wg_eth_block *block;
    unsigned blocks;
    bool pic;                /* the PIC of Wormhole's Tensix tiles is at 0xFFB13000 */
    uint8_t queues;          /* TX queues; the last of them sends no register writes */
    uint32_t mac;            /* address of the MAC's switches for TX and RX; 0: none is known */
    uint16_t transfer_count; /* offsets in a TX queue's block */
    uint16_t start, size, dest;
    /* A link. */
    uint32_t pcs;        /* address of a register that is 1 while the link is up; 0: there is none */
    uint32_t headers;    /* address of the header table; 0: raw frames have the queue's header, which does not arrive */
    bool busy_in_status; /* ETH_TXQ_STATUS shows a command that is not yet accepted; else ETH_TXQ_CMD does */
    uint8_t count_bytes; /* the queues' counters of words count these */
    uint16_t
        max_packet; /* ETH_TXQ_MAX_PKT_SIZE_BYTES, ETH_TXQ_REMOTE_SEQ_TIMEOUT, ETH_TXQ_LOCAL_SEQ_UPDATE_TIMEOUT as … */
    uint16_t remote_timeout, local_timeout; /* … base firmware leaves them */
} wg_eth_regs_spec;

extern const wg_eth_regs_spec wg_eth_regs_bh, wg_eth_regs_wh;

/* The register at an address, and its word in the tile's storage; NULL: there is none. `block`: index within its kind. */
const wg_eth_reg *wg_eth_reg_at(const wg_eth_regs_spec *spec, uint32_t address, unsigned *word, unsigned *block);

#endif
