/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blackhole A0 as data.
 *
 * Facts: BlackholeA0/TensixTile/BabyRISCV/README.md (memories, load latencies), MemoryOrdering.md
 * (banks), PIPE-03…05, GATE-01…19, SYNC-05, the measured rows of the timing table (profile silicon).
 *
 * A load's latency N in the documents is EX1 to EX1: one cycle to reach the load/store unit, `travel`
 * cycles to the region, `back` cycles from there. Decided here: how N - 1 divides into the two.
 */
#include "arch/arch.h"
#include "arch/eth_regs.h"
#include "arch/tensix_cores.h"
#include "isa/isa.h"

#define WAIT(id, symbol, bit) [bit] = WG_WAIT_##id,

/*
 * dram_latency, dram_answer: measured on eight sizes of single transfers (tt-metal's table), as the difference to the same
 * transfers with L1: reads 88 to 155 cycles, 108 for the smallest; writes 13 to 29. So a write is answered before its data is
 * in memory. dram_request: inferred from a published summary of about 16.4 cycles per read.
 */
#define DRAM .dram_latency = 108, .dram_request = 164, .dram_answer = 22

#define PATHS \
    .path = \
        { \
            [WG_PATH_L1] = {3, 4}, \
            [WG_PATH_OWN_RAM] = {0, 1}, \
            [WG_PATH_SLOW_RAM] = {3, 4}, \
            [WG_PATH_SYNC] = {1, 1}, \
            [WG_PATH_MAILBOX_READ] = {1, 1}, \
            [WG_PATH_MAILBOX_WRITE] = {1, 1}, \
            [WG_PATH_GPR] = {1, 2}, \
            [WG_PATH_CONFIG] = {1, 2}, \
            [WG_PATH_TDMA] = {1, 2}, \
            [WG_PATH_PUSH] = {1, 1}, \
            [WG_PATH_MOP_CFG] = {1, 1}, \
            [WG_PATH_DST] = {1, 2}, /* Decided here: as for GPRs; no source gives a latency */ \
            [WG_PATH_TILE_REGS] = {3, 3}, \
            [WG_PATH_NIU0] = {3, 3}, \
            [WG_PATH_NIU1] = {3, 3}, \
            [WG_PATH_OVERLAY] = {3, 3}, \
            [WG_PATH_ETH] = {3, 3}, \
            [WG_PATH_UNMAPPED] = {1, 1}, \
            [WG_PATH_HANG] = {1, 1}, \
    }, \
    .atomic_extra = 4, .mispredict_bubble = 4, .mul_result = 2, .mul_occupies = 1, .push_fuse = 4, .mop_gap = 1, \
    .fetch_in_flight = 2, .narrow_write = 5, .noc_niu = 5, DRAM

#define EXTENSIONS (WG_EXT_ZICSR | WG_EXT_ZAAMO | WG_EXT_B | WG_EXT_F)
#define CORE .icache_bytes = 4096 /* measured; no document gives the size */, .fetch_back = 6
#define CORE_T(i, has) \
    { \
        WG_IS_T(i), CORE, .extensions = (has), .ram_bytes = 4096, .prefetch_end = 203 + i, .start = { \
            WG_START_DEBUG_REGS, \
            i, \
            WG_REG_DEBUG_trisc##i##_reset_pc, \
            WG_REG_DEBUG_trisc_reset_pc_override, \
            WG_START_T(i) \
        } \
    }

const wg_arch wg_arch_bh = {
    .id = WG_ARCH_BH,
    .name = "bh",
    .long_name = "Blackhole A0",
    .metal_names = {"BLACKHOLE"},

    .tensix = {.kind = WG_TILE_TENSIX,
               .title = "tile",
               .l1_bytes = 1536 * 1024,
               .cores = WG_CORES,
               .threads = WG_THREADS,
               .endpoint = 1,
               .map = &wg_map_tensix_bh,
               .core = {[WG_CORE_B] = {WG_IS_B, CORE, .extensions = EXTENSIONS | WG_EXT_MRET, .ram_bytes = 8192,
                                       .prefetch_end = 206},
                        [WG_CORE_NC] = {WG_IS_NC, CORE, .extensions = EXTENSIONS | WG_EXT_MRET, .ram_bytes = 8192,
                                        .prefetch_end = 207,
                                        .start = {WG_START_DEBUG_REGS, 0, WG_REG_DEBUG_ncrisc_reset_pc,
                                                  WG_REG_DEBUG_ncrisc_reset_pc_override, WG_START_NC}},
                        [WG_CORE_T0] = CORE_T(0, EXTENSIONS),
                        [WG_CORE_T1] = CORE_T(1, EXTENSIONS),
                        [WG_CORE_T2] = CORE_T(2, EXTENSIONS | WG_EXT_V)}},
    /* Decided here: banks and ports of L1, instruction caches and fetch times as in Tensix tiles; no page gives them. */
    .ethernet = {.kind = WG_TILE_ETH,
                 .title = "Ethernet tile",
                 .l1_bytes = 512 * 1024,
                 .cores = 2,
                 .endpoint = 2,
                 .map = &wg_map_ethernet_bh,
                 .eth = &wg_eth_regs_bh,
                 .firmware = {{0x7CC00, 0xC0DEA000},  /* post code: initialisation passed */
                              {0x7CC04, 2},           /* port down */
                              {0x7CC08, 9},           /* training ended: no link came up */
                              {0x7CFBC, 0x00010600}}, /* firmware 1.6.0: patch, minor, major */
                 .heartbeat = 0x7CC70,
                 .link_up = {{0x7CC04, 1},   /* port up */
                             {0x7CC08, 2},   /* training passed */
                             {0x7CC0C, 400}, /* at 400 Gbit/s */
                             {0x7CE04, 1}},  /* the receiver's link is up */
                 .link_cut = {{0x7CC04, 2}, {0x7CE04, 0}},
                 .link_retrains = 0x7CE00,
                 .link_chip = {0x7CFD8, 0x7CFF8},
                 .link_channel = {0x7CFC0, 0x7CFE0},
                 .link_channel_times = 0x01010000,
                 .core = {[WG_CORE_E0] = {CORE, .name = "E0", .thread = WG_NONE, .debug = 0, .daisy = 9, .keeps = 6,
                                          .reset_bit = 1 << 11, .extensions = EXTENSIONS, .ram_bytes = 8192,
                                          .start = {WG_START_ETH_REG, .fixed = 0xFFB14000}},
                          [WG_CORE_E1] = {CORE, .name = "E1", .thread = WG_NONE, .debug = 1, .daisy = 10, .keeps = 0,
                                          .reset_bit = 1 << 12, .extensions = EXTENSIONS, .ram_bytes = 8192,
                                          .start = {WG_START_ETH_REG, .fixed = 0xFFB14008}}}},
    .l1_banks = 32,
    .ram_clear_cycles = 2048,
    .icache_ways = 2,
    .l0_lines = 4,
    .l0_flush_period = 128, /* "about 0.8 % of requests" */
    /*
     * Measured on 71 rows: every loop of two rounds or more has two mispredictions, its first jump back and its end, however
     * often it ran before; a taken branch has one in its first round. Inferred: a table of last directions, as on Wormhole.
     * Decided here: its size (65 branches of 130 instructions fit).
     */
    .predictor_branches = 256,
    .store_coalescing = true,
    .debug_steps_twice = true,
    .fence_orders = true,
    .overlap_conflicts = true,
    .load_needs_store_slot = false,
    .forward_writers = 1,

    .fifo_depth = {32, 32, 32},
    .fifo_resume = 28,
    .fifo_counts_downstream = true,

    .wait_conditions = {WG_EACH_WAIT_BH(WAIT)},
    .wait_condition_bits = WG_OPERAND_WIDTH(BH, STALLWAIT, wait_res),
    .wait_default = 0x0F,
    .mutex_valid = 0x1D,
    .auto_ttsync = true,
    /*
     * Rates: measured on eighteen rows of packed tiles. Tiles of 1 and 2 KiB take the same time, 16 cycles more than the call
     * itself: four rows per cycle. Tiles of 4 KiB take 14 cycles more: 128 bytes per cycle. Accumulation: inferred from one
     * published range, 18 to 24 cycles per tile of 2 KiB against 18.3 without.
     */
    .pack = {.count = 1,
             .interfaces = true,
             .rows_per_cycle = 4,
             .lines_per_cycle = 8,
             .accumulate = 1,
             .output_in_bytes = true,
             .fp16_from_f8 = true,
             .setreg_data = true},
    .unpack = {.wide_rows = true,
               .fp8_keeps_top = true,
               .throttle_override = true,
               /*
                * Rates: documented only by ttsim's source (x8, and x4 at twice the rate for datums of 16 bits and more);
                * measured on the products and on reductions of three widths. That the unpackers do not share ports is
                * inferred from the products' time.
                */
               .lines = {{1, 2, 4, 8}, {1, 2, 8, 8}},
               .srcb_broadcast = true,
               .records_format = true,
               .nop_in_fields = true,
               .message_clear = 266},

    .rdcfg_holds_thread = false,
    .config_words = 224,
    .config_global_from = 180,
    .thread_config_words = 68,
    .config_prefetch = 208,

    .interrupts = {.streams_done_level = true, .streams_done_irq = 0},

    .noc = {.flit_bytes = 64,
            .stride = 0x800,
            .buffer_flits = 7,
            .dram_alignment = 64,
            .wide_addresses = true,
            .zaamo = true},

    .eth = {.frame = 34, .header = 18, .l1_bytes = 64},

    .timing =
        {
            /* One eighth of 512 GB/s at 1.35 GHz is 47.4 bytes per cycle. */
            [WG_PROFILE_DOCUMENTED] = {PATHS, .matrix_latency = WG_LATENCY_MVMUL,
                                       .dst_block_cycles = WG_LATENCY_MVMUL - 1, .scalar_alu = 3, .noc_hop = 90,
                                       .noc_reserve = 90, .noc_data = 1, .noc_ack = 1, .dram_rate = 474,
                                       .dram_write_rate = 474, .eth_rate = 370, .eth_latency = 526},
            /*
             * Dst blocks: measured on nine rows (MVMUL, ELWADD, ELWMUL on one to three threads). ELWADD stalls without
             * accumulation: measured on three; ELWSUB is assumed to do so, too. A stall blocks other threads: measured on
             * nine (the same, with a thread that moves from block to block). matrix_stages: measured on 36 rows of
             * STALLWAIT(STALL_SFPU, MATH) after SETRWC and INCRWC, all of which are three cycles too short without it.
             * arithmetic_stages: measured on six rows of GMPOOL and ELWADD before such a wait. bank_return: measured on
             * sixteen rows that hand over a bank per face (products in one phase, reductions of columns). sync_extra:
             * measured on 29 bursts of one thread until manual TTSync says that it is idle; all are three cycles too short
             * without it. Semaphores answer as documented: eighteen rows of unpack threads whose cores poll one for each tile
             * are within 2 %.
             * csr_refill: measured on one row, three CSR reads behind one another in twelve cycles (retirebench, the cost of its
             * markers); fences wait by the same rule. push_credit: inferred from 19 bursts of one thread, 128 to 1,024 pushes, all of which are seven cycles too short
             * without it; on two and three threads, where a place becomes free half and a third as often, it is as long.
             * unpack_clear: measured on six rows of a clear and an unpack into the same bank, per face (reductions to a
             * scalar). SFPSTORE reads late: measured on 22 rows (additions, products, clamp, frac, softsign, silu, cos: a
             * multiply-add before the store costs only its own cycle; before other readers it costs more). noc_data: measured
             * on 14 rows of 4 to 128 reads, all of which are 46 cycles too short without it, and 44 of one read. noc_ack:
             * measured on 44 rows of one write. What causes these delays is not known. noc_reserve: measured on 715 rows of
             * multicasts from one tile: each takes 16 cycles per hop to the far corner, plus 5, plus its flits. 715 rows of
             * linked ones pay this only for the first. noc_pause: measured on 277 rows of long writes, which at each size
             * take 2.3 % more cycles than they have flits. noc_read: measured on 156 rows of reads of L1 over NoC 1. Reads of
             * DRAM proceed as fast as they are issued; that they used NoC 0 is inferred. noc_serve:
             * inferred from 16 rows in which 110 tiles poll the same word until a barrier is complete and then access DRAM: the
             * last one leaves it about 1,200 cycles after the first. DRAM rates: measured on 14 rows of
             * one channel, 1 to 120 readers or writers, which approach them. dram_queue: inferred from five rows of 4 to 120
             * readers at all channels, which are within 9 % with it (WH: four of five within 10 %); without a limit they are
             * up to 45 % (WH 79 %) too fast. eth_rate: measured on one row of packets of 8 KiB, 24.2 GB/s of 50. eth_latency:
             * the time of WH, 390 ns. Fabric hops of the two take similar times (658 and 731 ns at least).
             */
            [WG_PROFILE_SILICON] = {PATHS,
                                    .matrix_latency = WG_LATENCY_MVMUL,
                                    .sync_extra = 3,
                                    .csr_refill = 2,
                                    .push_credit = 7,
                                    .matrix_stages = WG_MEASURED_LATENCY_MVMUL,
                                    .arithmetic_stages = WG_MEASURED_LATENCY_MVMUL + 1,
                                    .bank_return = 4,
                                    .dst_block_cycles = WG_MEASURED_LATENCY_MVMUL - 1,
                                    .writers_wait = true,
                                    .waits_in_unit = true,
                                    .store_reads_late = true,
                                    .unpack_clear = 5,
                                    .scalar_alu = 3,
                                    .noc_hop = 86,
                                    .noc_reserve = 80,
                                    .noc_pause = 44,
                                    .noc_read = 35,
                                    .noc_serve = 11,
                                    .noc_data = 47,
                                    .noc_ack = 27,
                                    .dram_rate = 472,
                                    .dram_write_rate = 472,
                                    .dram_queue = 32,
                                    .eth_rate = 185,
                                    .eth_latency = 526},
        },
};
