/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address maps: the region behind each address, for each core and for the NoC.
 *
 *     0x00000000  L1                                 all
 *     0xFFB00000  own data RAM                       each core its own
 *     0xFFB11000  TDMA-RISC                          BH: B T   WH: all
 *     0xFFB12000  tile control, debug, status; PIC   all
 *     0xFFB14000  all data RAMs, slowly              BH: all
 *     0xFFB20000  NIU 0, NIU 1, overlay              all
 *     0xFFB80000  MOP configuration                  each T its own
 *     0xFFBD8000  Dst                                BH: T
 *     0xFFE00000  GPRs                               B all, each T its own
 *     0xFFE40000  push to thread 0, 1, 2             B each, a T its own at the first
 *     0xFFE80000  PC buffer, TTSync, semaphores      B three PC buffers, each T its own
 *     0xFFEC0000  mailboxes                          B T
 *     0xFFEF0000  backend configuration              B T
 *
 * Facts: BabyRISCV/README.md "Memory map" of both architectures; PIPE-11 to -13, -17, -23, -24,
 * SEM-06. Where the pages contradict a clause, the clause holds: a T core's store to another
 * thread's instruction buffer hangs it (PIPE-12), which the map shows as a separate entry. Decided here: words that no page
 * defines (after a T core's TTSync words, its eight semaphores, the GPRs) are unmapped.
 */
#include "arch/address_map.h"

enum { B = WG_VIEW_B, NC = WG_VIEW_NC, T = WG_VIEW_T, NOC = WG_VIEW_NOC, CORES = WG_VIEW_CORES, ALL = WG_VIEW_ALL };
enum { RD = WG_MAP_READ, WR = WG_MAP_WRITE, RW = WG_MAP_BOTH, OWN = WG_MAP_OWN };

/* Common to both architectures from the NIUs upwards. */
#define COMMON_NOC \
    {0xFFB20000, 0xFFB2FFFF, ALL, RW, WG_PATH_NIU0, 0, "NIU 0 registers"}, \
        {0xFFB30000, 0xFFB3FFFF, ALL, RW, WG_PATH_NIU1, 1, "NIU 1 registers"}, \
        {0xFFB40000, 0xFFB7FFFF, ALL, RW, WG_PATH_OVERLAY, 0, "NoC overlay registers"}, \
    { \
        0xFFB80000, 0xFFB80023, T, RW, WG_PATH_MOP_CFG, OWN, "MOP configuration" \
    }
#define COMMON_TENSIX \
    {0xFFE00000, 0xFFE002FF, B, RW, WG_PATH_GPR, 0, "GPRs"}, \
        {0xFFE00000, 0xFFE000FF, T, RW, WG_PATH_GPR, OWN, "GPRs"}, \
        {0xFFE40000, 0xFFE4FFFF, B, WR, WG_PATH_PUSH, 0, "instruction buffer of thread 0"}, \
        {0xFFE40000, 0xFFE4FFFF, T, WR, WG_PATH_PUSH, OWN, "instruction buffer"}, \
        {0xFFE50000, 0xFFE5FFFF, B, WR, WG_PATH_PUSH, 1, "instruction buffer of thread 1"}, \
        {0xFFE50000, 0xFFE5FFFF, T, WR, WG_PATH_HANG, 1, "instruction buffer of thread 1, for B alone"}, \
        {0xFFE60000, 0xFFE6FFFF, B, WR, WG_PATH_PUSH, 2, "instruction buffer of thread 2"}, \
        {0xFFE60000, 0xFFE6FFFF, T, WR, WG_PATH_HANG, 2, "instruction buffer of thread 2, for B alone"}, \
        {0xFFE80000, 0xFFE8001F, B, RW, WG_PATH_SYNC, 0, "PC buffer to T0"}, \
        {0xFFE80000, 0xFFE8000B, T, RW, WG_PATH_SYNC, OWN, "PC buffer and TTSync"}, \
        {0xFFE80020, 0xFFE8FFFF, B, RW, WG_PATH_SYNC, 0, "PC buffer to T0"}, \
        {0xFFE80020, 0xFFE8003F, T, RW, WG_PATH_SYNC, OWN, "semaphores"}, \
        {0xFFE90000, 0xFFE9FFFF, B, RW, WG_PATH_SYNC, 1, "PC buffer to T1"}, \
        {0xFFEA0000, 0xFFEAFFFF, B, RW, WG_PATH_SYNC, 2, "PC buffer to T2"}, \
        {0xFFEC0000, 0xFFEC0FFF, B | T, RD, WG_PATH_MAILBOX_READ, 0, "mailbox from B"}, \
        {0xFFEC0000, 0xFFEC0FFF, B | T, WR, WG_PATH_MAILBOX_WRITE, 0, "mailbox to B"}, \
        {0xFFEC1000, 0xFFEC1FFF, B | T, RD, WG_PATH_MAILBOX_READ, 1, "mailbox from T0"}, \
        {0xFFEC1000, 0xFFEC1FFF, B | T, WR, WG_PATH_MAILBOX_WRITE, 1, "mailbox to T0"}, \
        {0xFFEC2000, 0xFFEC2FFF, B | T, RD, WG_PATH_MAILBOX_READ, 2, "mailbox from T1"}, \
        {0xFFEC2000, 0xFFEC2FFF, B | T, WR, WG_PATH_MAILBOX_WRITE, 2, "mailbox to T1"}, \
        {0xFFEC3000, 0xFFEC3FFF, B | T, RD, WG_PATH_MAILBOX_READ, 3, "mailbox from T2"}, \
        {0xFFEC3000, 0xFFEC3FFF, B | T, WR, WG_PATH_MAILBOX_WRITE, 3, "mailbox to T2"}, \
    { \
        0xFFEF0000, 0xFFEFFFFF, B | T, RW, WG_PATH_CONFIG, 0, "backend configuration" \
    }

/* Sorted by first address; rows of one address differ in views or access. */
static const wg_map_row bh[] = {
    {0x00000000, 0x0017FFFF, ALL, RW, WG_PATH_L1, 0, "L1"},
    {0xFFB00000, 0xFFB01FFF, B | NC, RW, WG_PATH_OWN_RAM, OWN, "own data RAM"},
    {0xFFB00000, 0xFFB00FFF, T, RW, WG_PATH_OWN_RAM, OWN, "own data RAM"},
    {0xFFB11000, 0xFFB11FFF, B | T, RW, WG_PATH_TDMA, 0, "TDMA-RISC registers"},
    {0xFFB12000, 0xFFB12FFF, ALL, RW, WG_PATH_TILE_REGS, 0, "tile control, debug and status registers"},
    {0xFFB13000, 0xFFB13137, ALL, RW, WG_PATH_TILE_REGS, 0, "PIC registers"},
    {0xFFB13138, 0xFFB1314B, ALL, RW, WG_PATH_TILE_REGS, 0, "pc snapshots"},
    {0xFFB14000, 0xFFB15FFF, ALL, RW, WG_PATH_SLOW_RAM, WG_CORE_B, "B's data RAM"},
    {0xFFB16000, 0xFFB17FFF, ALL, RW, WG_PATH_SLOW_RAM, WG_CORE_NC, "NC's data RAM"},
    {0xFFB18000, 0xFFB18FFF, ALL, RW, WG_PATH_SLOW_RAM, WG_CORE_T0, "T0's data RAM"},
    {0xFFB19000, 0xFFB19FFF, ALL, RW, WG_PATH_SLOW_RAM, WG_CORE_T0, "T0's data RAM"},
    {0xFFB1A000, 0xFFB1AFFF, ALL, RW, WG_PATH_SLOW_RAM, WG_CORE_T1, "T1's data RAM"},
    {0xFFB1B000, 0xFFB1BFFF, ALL, RW, WG_PATH_SLOW_RAM, WG_CORE_T1, "T1's data RAM"},
    {0xFFB1C000, 0xFFB1CFFF, ALL, RW, WG_PATH_SLOW_RAM, WG_CORE_T2, "T2's data RAM"},
    {0xFFB1D000, 0xFFB1DFFF, ALL, RW, WG_PATH_SLOW_RAM, WG_CORE_T2, "T2's data RAM"},
    COMMON_NOC,
    {0xFFBD8000, 0xFFBDFFFF, T, RW, WG_PATH_DST, OWN, "Dst"},
    COMMON_TENSIX,
};

/*
 * Ruling: L1 is 1464 KiB; the memory map's end address 0x16FFFF is rounded up (L1.md). NC's
 * instruction RAM at 0xFFC00000 is not mapped for any load or store (InstructionRAM.md).
 */
static const wg_map_row wh[] = {
    {0x00000000, 0x0016DFFF, ALL, RW, WG_PATH_L1, 0, "L1"},
    {0xFFB00000, 0xFFB00FFF, B | NC, RW, WG_PATH_OWN_RAM, OWN, "own data RAM"},
    {0xFFB00000, 0xFFB007FF, T, RW, WG_PATH_OWN_RAM, OWN, "own data RAM"},
    {0xFFB11000, 0xFFB11FFF, ALL, RW, WG_PATH_TDMA, 0, "TDMA-RISC registers"},
    {0xFFB12000, 0xFFB12FFF, ALL, RW, WG_PATH_TILE_REGS, 0, "tile control, debug and status registers"},
    {0xFFB13000, 0xFFB13FFF, ALL, RW, WG_PATH_TILE_REGS, 0, "PIC registers"},
    COMMON_NOC,
    COMMON_TENSIX,
};

/*
 * Ethernet tiles (EthernetTile/BabyRISCV/README.md of each architecture). No core sees a T core's entries there. BH: words
 * from 0xFFB13000 on belong to the tile's registers; no page names any of them.
 */
#define ETH_NOC \
    {0xFFB20000, 0xFFB2FFFF, ALL, RW, WG_PATH_NIU0, 0, "NIU 0 registers"}, \
        {0xFFB30000, 0xFFB3FFFF, ALL, RW, WG_PATH_NIU1, 1, "NIU 1 registers"}, \
    { \
        0xFFB40000, 0xFFB7FFFF, ALL, RW, WG_PATH_OVERLAY, 0, "NoC overlay registers" \
    }
enum { E = WG_VIEW_E };

static const wg_map_row ethernet_bh[] = {
    {0x00000000, 0x0007FFFF, ALL, RW, WG_PATH_L1, 0, "L1"},
    {0xFFB00000, 0xFFB01FFF, E, RW, WG_PATH_OWN_RAM, OWN, "own data RAM"},
    {0xFFB12000, 0xFFB13FFF, ALL, RW, WG_PATH_TILE_REGS, 0, "tile control, debug and status registers"},
    {0xFFB14000, 0xFFB14063, ALL, RW, WG_PATH_ETH, 0, "reset vectors and PIC"},
    ETH_NOC,
    {0xFFB90000, 0xFFB92FFF, ALL, RW, WG_PATH_ETH, 0, "Ethernet TX queues"},
    {0xFFB94000, 0xFFB96FFF, ALL, RW, WG_PATH_ETH, 0, "Ethernet RX queues"},
    {0xFFB98000, 0xFFB981FF, ALL, RW, WG_PATH_ETH, 0, "Ethernet control registers"},
    {0xFFB98200, 0xFFB986F3, ALL, RW, WG_PATH_ETH, 0, "Ethernet TX header table"},
    {0xFFB9C000, 0xFFB9EA1F, ALL, RW, WG_PATH_ETH, 0, "Ethernet RX classifier"},
    {0xFFBA0000, 0xFFBAFFFF, ALL, RW, WG_PATH_ETH, 0, "Ethernet MAC and PCS registers"},
};

static const wg_map_row ethernet_wh[] = {
    {0x00000000, 0x0003FFFF, ALL, RW, WG_PATH_L1, 0, "L1"},
    {0xFFB00000, 0xFFB00FFF, E, RW, WG_PATH_OWN_RAM, OWN, "own data RAM"},
    {0xFFB12000, 0xFFB12FFF, ALL, RW, WG_PATH_TILE_REGS, 0, "tile control, debug and status registers"},
    {0xFFB13000, 0xFFB13FFF, ALL, RW, WG_PATH_TILE_REGS, 0, "PIC registers"},
    ETH_NOC,
    {0xFFB90000, 0xFFB91FFF, ALL, RW, WG_PATH_ETH, 0, "Ethernet TX queues"},
    {0xFFB92000, 0xFFB93FFF, ALL, RW, WG_PATH_ETH, 0, "Ethernet RX queues"},
    {0xFFB94000, 0xFFB9409F, ALL, RW, WG_PATH_ETH, 0, "Ethernet control registers"},
    {0xFFBA0000, 0xFFBAFFFF, ALL, RW, WG_PATH_ETH, 0, "Ethernet MAC registers"},
    {0xFFBB0000, 0xFFBBFFFF, ALL, RW, WG_PATH_ETH, 0, "Ethernet PCS registers"},
};

const wg_map wg_map_tensix_bh = {bh, sizeof bh / sizeof *bh};
const wg_map wg_map_tensix_wh = {wh, sizeof wh / sizeof *wh};
const wg_map wg_map_ethernet_bh = {ethernet_bh, sizeof ethernet_bh / sizeof *ethernet_bh};
const wg_map wg_map_ethernet_wh = {ethernet_wh, sizeof ethernet_wh / sizeof *ethernet_wh};
