/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wormhole B0 as data.
 *
 * Facts: WormholeB0/TensixTile/BabyRISCV/README.md (memories, load latencies), L1.md (banks, narrow
 * writes), InstructionCache.md, PIPE-03, PIPE-04, GATE-01, GATE-27, SYNC-05, the measured rows of the timing
 * table (profile silicon).
 *
 * Travel and back as in bh.c.
 */
#include "arch/arch.h"
#include "arch/eth_regs.h"
#include "arch/tensix_cores.h"
#include "isa/isa.h"

#define WAIT(id, symbol, bit) [bit] = WG_WAIT_##id,

#define TIMING(...) \
    { \
        .path = \
            { \
                [WG_PATH_L1] = {3, 4},        [WG_PATH_OWN_RAM] = {0, 1},      [WG_PATH_SLOW_RAM] = {3, 4}, \
                [WG_PATH_SYNC] = {1, 1},      [WG_PATH_MAILBOX_READ] = {1, 1}, [WG_PATH_MAILBOX_WRITE] = {1, 1}, \
                [WG_PATH_GPR] = {1, 2},       [WG_PATH_CONFIG] = {1, 2},       [WG_PATH_TDMA] = {3, 3}, \
                [WG_PATH_PUSH] = {1, 1},      [WG_PATH_MOP_CFG] = {1, 1},      [WG_PATH_DST] = {1, 2}, \
                [WG_PATH_TILE_REGS] = {3, 3}, [WG_PATH_NIU0] = {3, 3},         [WG_PATH_NIU1] = {3, 3}, \
                [WG_PATH_OVERLAY] = {3, 3},   [WG_PATH_ETH] = {3, 3},          [WG_PATH_UNMAPPED] = {1, 1}, \
                [WG_PATH_HANG] = {1, 1}, \
            }, \
        .atomic_extra = 4, .mispredict_bubble = 2, .mul_result = 2, .mul_occupies = 2, .push_fuse = 1, .mop_gap = 1, \
        .matrix_latency = WG_LATENCY_MVMUL, .scalar_alu = 3, .fetch_in_flight = 2, .narrow_write = 5, .noc_niu = 5, \
        .noc_hop = 90, .noc_reserve = 80, .dram_latency = 104, .dram_answer = 124, __VA_ARGS__ \
    }

/*
 * fetch_back: measured on 33 rows. Loops that miss take 5.5 to 5.6 cycles per line on T1, 4.6 on T0 and T2: two lines in
 * flight, 11 and 9 cycles each. Decided here: B fetches like T0 and NC like T1, whose caches have the same sizes.
 */
#define LARGE .icache_bytes = 2048, .fetch_back = 5
#define SMALL .icache_bytes = 512, .fetch_back = 7
#define CORE_T(i, size) \
    { \
        WG_IS_T(i), size, .ram_bytes = 2048, .prefetch_end = 181 + i, .start = { \
            WG_START_CONFIG, \
            i, \
            WG_CFG_TRISC_RESET_PC_SEC##i##_PC, \
            WG_CFG_TRISC_RESET_PC_OVERRIDE_Reset_PC_Override_en, \
            WG_START_T(i) \
        } \
    }

/* dram_latency, dram_answer: as in bh.c; reads 104 to 152 cycles, writes 124 to 155. No source limits a channel's reads. */
const wg_arch wg_arch_wh = {
    .id = WG_ARCH_WH,
    .name = "wh",
    .long_name = "Wormhole B0",
    .metal_names = {"WORMHOLE_B0", "WORMHOLE"},

    .tensix = {.kind = WG_TILE_TENSIX,
               .title = "tile",
               .l1_bytes = 1464 * 1024, /* the address map reserves 1472 KiB; the last 8 KiB are empty */
               .cores = WG_CORES,
               .threads = WG_THREADS,
               .endpoint = 1,
               .map = &wg_map_tensix_wh,
               .core = {[WG_CORE_B] = {WG_IS_B, LARGE, .ram_bytes = 4096, .prefetch_end = 184},
                        [WG_CORE_NC] = {WG_IS_NC, SMALL, .ram_bytes = 4096, .iram_bytes = 16 * 1024,
                                        .prefetch_end = 185,
                                        .start = {WG_START_CONFIG, 0, WG_CFG_NCRISC_RESET_PC_PC,
                                                  WG_CFG_NCRISC_RESET_PC_OVERRIDE_Reset_PC_Override_en, WG_START_NC}},
                        [WG_CORE_T0] = CORE_T(0, LARGE),
                        [WG_CORE_T1] = CORE_T(1, SMALL),
                        [WG_CORE_T2] = CORE_T(2, LARGE)}},
    .ethernet = {.kind = WG_TILE_ETH,
                 .title = "Ethernet tile",
                 .l1_bytes = 256 * 1024,
                 .cores = 1,
                 .endpoint = 2,
                 .map = &wg_map_ethernet_wh,
                 .eth = &wg_eth_regs_wh,
                 .firmware = {{0x210, 0x0006F000}, /* firmware 6.15.0 */
                              {0x1104, 3},         /* training status: not connected */
                              {0x1440, 11}},       /* link error status: port unused */
                 .heartbeat = 0x1C,
                 .link_up = {{0x1104, 1},  /* training succeeded */
                             {0x1440, 0},  /* no error */
                             {0x1ED4, 6}}, /* the link is up */
                 .link_cut = {{0x1ED4, 0}},
                 .link_retrains = 0x1EDC,
                 .link_chip = {0x1FC0, 0x1FE0},
                 .link_channel = {0x1FD0, 0x1FF0},
                 .link_channel_times = 1,
                 .core = {[WG_CORE_E0] = {SMALL, .name = "E", .thread = WG_NONE, .debug = 0, .daisy = 9,
                                          .reset_bit = 1 << 11, .ram_bytes = 4096, .iram_bytes = 16 * 1024,
                                          .start = {WG_START_ETH_REG, .fixed = 0xFFB9409C}}}},
    .l1_banks = 16,
    .ram_clear_cycles = 0,
    .icache_ways = 2,
    .l0_lines = 0,
    .l0_flush_period = 0,
    /*
     * Measured on 36 rows: of 64 branches or jumps in a loop none is predicted taken, and neither is the loop's own; a loop
     * with only its own branch has no misprediction. Inferred: a table of last directions; branches not in it are predicted
     * not taken. Decided here: its size (65 do not fit, a few do), and that it is direct-mapped by pc.
     */
    .predictor_branches = 32,
    .store_coalescing = false,
    .debug_steps_twice = false,
    .fence_orders = false,
    .overlap_conflicts = false,
    .load_needs_store_slot = true,
    .forward_writers = 0,

    .fifo_depth = {32, 16, 16},
    .fifo_resume = 0xFF,
    .fifo_counts_downstream = false,

    .wait_conditions = {WG_EACH_WAIT_WH(WAIT)},
    .wait_condition_bits = WG_OPERAND_WIDTH(WH, STALLWAIT, wait_res),
    .wait_default = 0x7F,
    .mutex_valid = 0xFD,
    .auto_ttsync = false,
    .pack = {.count = 4, .rows_per_cycle = 1, .lines_per_cycle = 1, .accumulate = 5},
    /* UNPACR_Regular.md, "Performance". */
    .unpack = {.lines = {{1, 2, 4}, {1, 2, 4}}, .shares_ports = true, .dst_wants_srca = true, .message_clear = 22},

    .rdcfg_holds_thread = true,
    .config_words = 188,
    .config_global_from = 152,
    .thread_config_words = 57,
    .config_prefetch = 186,

    .interrupts = {.streams_done_irq = 16, .stream_phases = true},
    .array_read_blanks = true,

    .noc = {.flit_bytes = 32,
            .posted_atomics = true,
            .stride = 0x400,
            .buffer_flits = 15,
            .dram_line = 128,
            .dram_alignment = 32,
            .inline_to_l1 = true,
            .writes_back = true},

    .eth = {.frame = 34, .header = 16, .l1_bytes = 32},

    /*
     * Dst blocks: measured on six rows (MVMUL, ELWADD and ELWMUL of T1, which moves from block to block, next to one and two
     * threads on one block); ELWSUB is assumed to behave like ELWADD. matrix_stages, arithmetic_stages, bank_return: as in
     * bh.c. Inferred: Dst blocks were measured to take equally long on both. sync_extra: as in bh.c, on
     * 29 bursts, all of which are four cycles too short without it. push_credit: as in bh.c, on 19 bursts, twelve cycles. noc_data, noc_ack: as in bh.c, on 44 rows of one
     * read and 44 of one write. Those reads alone suggest 31 cycles, four rows of another card 51: the value lies between.
     * noc_reserve, noc_pause: as in bh.c, on 605 and 216 rows. noc_data_pause: inferred from 140 rows of long reads over NoC
     * 1, which take 11 % more cycles than they have flits; rows of another card over NoC 0 do not. noc_serve: as in bh.c, on 16 rows of 56 tiles. DRAM rates: documented as
     * 24 bytes per cycle and channel; measured on seven rows of one channel each, 1 to 64 readers or writers. dram_queue: as
     * in bh.c, on five rows of 4 to 64 readers. dram_partial: measured on five rows of one to 256 writes of 64 bytes at one
     * channel; writes of 128 bytes take no longer there than software needs to issue them. eth_rate: 100 Gbit/s, documented; measured on four rows of packets of 1 to 8
     * KiB. eth_latency: measured on eight rows of round trips between two cores, 16 to 8,192 bytes.
     */
    .timing = {[WG_PROFILE_DOCUMENTED] =
                   TIMING(.dst_block_cycles = WG_LATENCY_MVMUL - 1, .noc_data = 1, .noc_ack = 1, .dram_rate = 240,
                          .dram_write_rate = 240, .eth_rate = 125, .eth_latency = 390),
               [WG_PROFILE_SILICON] =
                   TIMING(.sync_extra = 4, .push_credit = 12, .matrix_stages = WG_MEASURED_LATENCY_MVMUL,
                          .arithmetic_stages = WG_MEASURED_LATENCY_MVMUL + 1, .bank_return = 4,
                          .dst_block_cycles = WG_MEASURED_LATENCY_MVMUL - 1, .writers_wait = true,
                          .waits_in_unit = true, .noc_pause = 44, .noc_data_pause = 9, .noc_serve = 12, .noc_data = 38,
                          .noc_ack = 27, .dram_rate = 222, .dram_write_rate = 214, .dram_partial = 652,
                          .dram_queue = 32, .eth_rate = 125, .eth_latency = 390)},
};
