/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of Ethernet tiles. Facts: EthernetTxRx.md, EthernetRxClassifier.md (BH), TileControlDebugStatus.md,
 * CycleCounters.md, InstructionRAM.md, SoftReset.md (WH); values after reset, and registers that no page names, from tt-metal's
 * public headers. Decided here: the RX classifier's registers are storage, and frames
 * pass it as base firmware sets it up (tile/eth_link.c).
 */
#include "arch/eth_regs.h"

#include <stddef.h>

#define ALL UINT32_MAX
#define STORE(offset, name) \
    { \
        offset, 1, WG_ETH_STORAGE, 0, ALL, name \
    }
#define STARTS(offset, name, reset) \
    { \
        offset, 1, WG_ETH_STORAGE, reset, ALL, name \
    }
#define MANY(offset, words, name) \
    { \
        offset, words, WG_ETH_STORAGE, 0, ALL, name \
    }
#define SOME(offset, name, reset, mask) \
    { \
        offset, 1, WG_ETH_STORAGE, reset, mask, name \
    }
#define SHOWS(offset, name) \
    { \
        offset, 1, WG_ETH_READ_ONLY, 0, ALL, name \
    }

#define TXQ_COMMON \
    {0x04, 1, WG_ETH_COMMAND, 0, ALL, "ETH_TXQ_CMD"}, STARTS(0x0C, "ETH_TXQ_MAX_PKT_SIZE_BYTES", 1500), \
        STARTS(0x10, "ETH_TXQ_BURST_LEN", 8), STORE(0x14, "ETH_TXQ_TRANSFER_START_ADDR"), \
        STORE(0x18, "ETH_TXQ_TRANSFER_SIZE_BYTES"), STORE(0x1C, "ETH_TXQ_DEST_ADDR"), \
        STORE(0x30, "ETH_TXQ_TRANSFER_CNT"), STORE(0x34, "ETH_TXQ_PKT_START_CNT"), STORE(0x3C, "ETH_TXQ_PKT_END_CNT"), \
        STORE(0x40, "ETH_TXQ_WORD_CNT"), STORE(0x44, "ETH_TXQ_REMOTE_REG_DATA"), \
        STORE(0x48, "ETH_TXQ_REMOTE_SEQ_TIMEOUT"), STORE(0x4C, "ETH_TXQ_LOCAL_SEQ_UPDATE_TIMEOUT"), \
        STORE(0x64, "ETH_TXQ_MIN_PACKET_SIZE_WORDS"), STORE(0x68, "ETH_TXQ_RESEND_CNT"), \
        STORE(0x6C, "ETH_TXQ_DATA_PACKET_ACCEPT_AHEAD")
#define RXQ_COMMON \
    STORE(0x08, "ETH_RXQ_BUF_PTR"), STORE(0x0C, "ETH_RXQ_BUF_START_WORD_ADDR"), STORE(0x10, "ETH_RXQ_BUF_SIZE_WORDS"), \
        STORE(0x14, "ETH_RXQ_WORD_CNT"), STORE(0x28, "ETH_RXQ_PKT_END_CNT"), STORE(0x40, "ETH_RXQ_LOCAL_RX_SEQ_NUM"), \
        STORE(0x44, "ETH_RXQ_REMOTE_RX_SEQ_NUM"), SOME(0x48, "ETH_RXQ_TILE_HEADER_FORMAT", 0, 0x3FFF), \
        SHOWS(0x50, "ETH_RXQ_OUTSTANDING_WR_CNT")

/* ---- Blackhole ---- */

static const wg_eth_reg txq_bh[] = {TXQ_COMMON,
                                    STARTS(0x00, "ETH_TXQ_CTRL", 1),
                                    SHOWS(0x08, "ETH_TXQ_STATUS"),
                                    STORE(0x80, "ETH_TXQ_TXPKT_CFG_SEL_SW"),
                                    STORE(0x84, "ETH_TXQ_TXPKT_CFG_SEL_HW"),
                                    STORE(0x88, "ETH_TXQ_TXPKT_CFG_SEL_OVL")};
static const wg_eth_reg rxq_bh[] = {
    RXQ_COMMON,
    SOME(0x00, "ETH_RXQ_CTRL", 2, 6),
    STORE(0x04, "ETH_RXQ_BYTE_CNT"),
    STARTS(0x18, "ETH_RXQ_HDR_CTRL", 14),
    STORE(0x24, "ETH_RXQ_PKT_START_CNT"),
    SHOWS(0x4C, "ETH_RXQ_PACKET_DROP_CNT"),
};
static const wg_eth_reg control_bh[] = {SHOWS(0x0C, "ETH_CTRL PCS status"), STORE(0x120, "RX classifier control"),
                                        STORE(0x150, "ETH_CTRL MAC RX routing"),
                                        STARTS(0x154, "ETH_CTRL MAC RX address routing", 0xA00)};
static const wg_eth_reg header_bh[] = {MANY(0x00, 2, "INSERT_CTL, CUSTOM_HDR"), MANY(0x10, 4, "MAC_SA, MAC_DA"),
                                       MANY(0x20, 3, "ETHERTYPE, VLAN"), MANY(0x30, 10, "L3_HEADER"),
                                       MANY(0x60, 5, "L4_HEADER")};
static const wg_eth_reg classifier_bh[] = {MANY(0, 0x2A20 / 4, "RX classifier")};
static const wg_eth_reg risc_bh[] = {STORE(0x00, "IERISC_RESET_PC"),
                                     STORE(0x08, "SUBORDINATE_IERISC_RESET_PC"),
                                     {0x20, 17, WG_ETH_INTERRUPTS, 0, ALL, "PIC"}};

#define BLOCK(first, stride, count, bytes, regs) \
    { \
        first, stride, count, bytes, regs, sizeof(regs) / sizeof *(regs) \
    }
static const wg_eth_block blocks_bh[] = {
    BLOCK(0xFFB90000, 0x1000, 3, 0x8C, txq_bh),     BLOCK(0xFFB94000, 0x1000, 3, 0x54, rxq_bh),
    BLOCK(0xFFB98000, 0, 1, 0x200, control_bh),     BLOCK(0xFFB98200, 0x80, 10, 0x74, header_bh),
    BLOCK(0xFFB9C000, 0, 1, 0x2A20, classifier_bh), BLOCK(0xFFB14000, 0, 1, 0x64, risc_bh),
};

/* ---- Wormhole ---- */

static const wg_eth_reg txq_wh[] = {TXQ_COMMON,
                                    STARTS(0x00, "ETH_TXQ_CTRL", 9),
                                    STORE(0x50, "ETH_TXQ_DEST_MAC_ADDR_HI"),
                                    STORE(0x54, "ETH_TXQ_DEST_MAC_ADDR_LO"),
                                    STORE(0x58, "ETH_TXQ_SRC_MAC_ADDR_HI"),
                                    STORE(0x5C, "ETH_TXQ_SRC_MAC_ADDR_LO"),
                                    STORE(0x60, "ETH_TXQ_ETH_TYPE")};
static const wg_eth_reg rxq_wh[] = {RXQ_COMMON, STORE(0x00, "ETH_RXQ_CTRL"), STORE(0x4C, "ETH_RXQ_PACKET_DROP_CNT")};
static const wg_eth_reg control_wh[] = {{0x80, 1, WG_ETH_SUM, 0, ALL, "test_sum"},
                                        MANY(0x84, 4, "ETH_CORE_SCRATCH"),
                                        {0x98, 1, WG_ETH_IRAM_LOAD, 0, ALL, "ETH_CORE_IRAM_LOAD"},
                                        STORE(0x9C, "reset pc of E")};
static const wg_eth_reg mac_wh[] = {STARTS(0, "MAC TX switch", 0x30000001), STARTS(4, "MAC RX switch", 7)};

static const wg_eth_block blocks_wh[] = {
    BLOCK(0xFFB90000, 0x1000, 2, 0x70, txq_wh),
    BLOCK(0xFFB92000, 0x1000, 2, 0x54, rxq_wh),
    BLOCK(0xFFB94000, 0, 1, 0xA0, control_wh),
    BLOCK(0xFFBA0000, 0, 1, 8, mac_wh),
};

#define QUEUE .transfer_count = 0x30, .start = 0x14, .size = 0x18, .dest = 0x1C
/* Timeouts and packets of 4 KiB: tt-metal's own setup of packet mode. Decided here: firmware leaves the same timeouts on WH. */
#define TIMEOUTS .remote_timeout = 40000, .local_timeout = 8000
const wg_eth_regs_spec wg_eth_regs_bh = {blocks_bh,
                                         sizeof blocks_bh / sizeof *blocks_bh,
                                         .queues = 3,
                                         QUEUE,
                                         TIMEOUTS,
                                         .pcs = 0xFFB9800C,
                                         .headers = 0xFFB98200,
                                         .busy_in_status = true,
                                         .count_bytes = 96,
                                         .max_packet = 4096};
const wg_eth_regs_spec wg_eth_regs_wh = {blocks_wh,         sizeof blocks_wh / sizeof *blocks_wh,
                                         .pic = true,       .queues = 2,
                                         .mac = 0xFFBA0000, QUEUE,
                                         TIMEOUTS,          .count_bytes = 16,
                                         .max_packet = 1500};

const wg_eth_reg *wg_eth_reg_at(const wg_eth_regs_spec *spec, uint32_t address, unsigned *word, unsigned *block)
{
    unsigned base = 0;
    for (const wg_eth_block *b = spec->block; b < spec->block + spec->blocks; b++) {
        for (unsigned i = 0; i < b->count; i++, base += b->bytes / 4u) {
            const uint32_t offset = address - b->first - i * b->stride;
            if (offset >= b->bytes)
                continue;
            for (const wg_eth_reg *r = b->reg; r < b->reg + b->regs; r++)
                if (offset >= r->offset && offset - r->offset < 4u * r->words) {
                    *word = base + offset / 4;
                    *block = i;
                    return r;
                }
            return NULL;
        }
    }
    return NULL;
}
