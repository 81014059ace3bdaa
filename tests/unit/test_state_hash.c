/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wg_state_hash() covers all architectural state. The tables below name every member of the tile's state: hashed ones,
 * where flipping any bit must change the hash, and others, with the reason. A member in no table leaves a gap, and
 * fails.
 */
#include <stdio.h>

#include "machine/device.h"
#include "wgtest.h"

typedef struct member {
    const char *name;
    size_t offset, size, align;
    const char *left_out;        /* why it is not hashed; NULL: it is hashed */
    const struct member *inside; /* the members of each of `count` elements */
    size_t count, tested;        /* … of which the first `tested` are in use */
    uint8_t bits;                /* of every byte: the existing bits */
} member;

#define MEMBER(type, m) #m, offsetof(type, m), sizeof(((type *)0)->m), _Alignof(__typeof__(((type *)0)->m))
#define HASHED(type, m) \
    { \
        MEMBER(type, m), .bits = 1 \
    }
#define LEFT(type, m, why) \
    { \
        MEMBER(type, m), .left_out = (why) \
    }
#define EACH(type, m, table, n) \
    { \
        MEMBER(type, m), .inside = (table), .count = (n), .tested = (n) \
    }
#define ONE(type, m, table) EACH(type, m, table, 1)
#define END(type) \
    { \
        NULL, sizeof(type), 0, _Alignof(type) \
    }
#define TIME "a time, or work under way: seen when it lands"
#define CACHE "a copy of what lies elsewhere"
#define OWN "the emulator's own: no effect on what happens"
#define RING "rings are taken from their head"

static const member csrs[] = {HASHED(wg_csrs, cfg0),           HASHED(wg_csrs, cfg1),
                              HASHED(wg_csrs, pmacfg),         HASHED(wg_csrs, hwa_mask),
                              HASHED(wg_csrs, hwa_cfg),        HASHED(wg_csrs, vgsrc),
                              HASHED(wg_csrs, fcsr),           HASHED(wg_csrs, vxsat),
                              HASHED(wg_csrs, vxrm),           HASHED(wg_csrs, vl),
                              HASHED(wg_csrs, vtype),          HASHED(wg_csrs, vlenb),
                              HASHED(wg_csrs, mcountinhibit),  HASHED(wg_csrs, mhpmevent),
                              HASHED(wg_csrs, tt_status),      HASHED(wg_csrs, restore_pc),
                              HASHED(wg_csrs, mhpmcounter),    HASHED(wg_csrs, cycle_offset),
                              HASHED(wg_csrs, instret_offset), END(wg_csrs)};

static const member run[] = {
    {"r", offsetof(wg_core_run, r), 4 * WG_REG_SINK, 4, .bits = 1},
    {"r[WG_REG_SINK]", offsetof(wg_core_run, r[WG_REG_SINK]), 4, 4, .left_out = "where writes to x0 go"},
    HASHED(wg_core_run, pc),
    LEFT(wg_core_run, at, TIME),
    LEFT(wg_core_run, refilled, TIME),
    LEFT(wg_core_run, last, TIME),
    LEFT(wg_core_run, stored, TIME),
    HASHED(wg_core_run, number),
    HASHED(wg_core_run, pushes),
    {"halt", offsetof(wg_core_run, hindered), 1, 4, .bits = 1},
    {"loads, ordered", offsetof(wg_core_run, hindered) + 1, 3, 1, .left_out = TIME},
    LEFT(wg_core_run, late, TIME),
    LEFT(wg_core_run, lag, TIME),
    LEFT(wg_core_run, sq_head, TIME),
    LEFT(wg_core_run, sq_count, TIME),
    LEFT(wg_core_run, queued, OWN),
    LEFT(wg_core_run, l0_victim, CACHE),
    LEFT(wg_core_run, returns_top, "prediction"),
    LEFT(wg_core_run, late_at, TIME),
    LEFT(wg_core_run, mux_free, TIME),
    LEFT(wg_core_run, wait_e, TIME),
    LEFT(wg_core_run, wait_m, TIME),
    LEFT(wg_core_run, l0_requests, CACHE),
    LEFT(wg_core_run, retired, TIME),
    LEFT(wg_core_run, filled, TIME),
    LEFT(wg_core_run, dests, TIME),
    LEFT(wg_core_run, ex1, TIME),
    LEFT(wg_core_run, load, TIME),
    LEFT(wg_core_run, sq, TIME),
    LEFT(wg_core_run, l0, CACHE),
    LEFT(wg_core_run, fetch, TIME),
    LEFT(wg_core_run, returns, "prediction"),
    LEFT(wg_core_run, lru, CACHE),
    END(wg_core_run)};

static const member core[] = {ONE(wg_core, run, run),
                              LEFT(wg_core, saved, OWN),
                              LEFT(wg_core, saved_at, OWN),
                              LEFT(wg_core, reached, OWN),
                              LEFT(wg_core, saved_fcsr, OWN),
                              LEFT(wg_core, stop, OWN),
                              LEFT(wg_core, l1_until, OWN),
                              LEFT(wg_core, ram_ready, TIME),
                              LEFT(wg_core, undo_count, OWN),
                              LEFT(wg_core, epoch, CACHE),
                              ONE(wg_core, csr, csrs),
                              HASHED(wg_core, v),
                              LEFT(wg_core, acted, OWN),
                              {"l1_ahead", offsetof(wg_core, special), 1, 4, .left_out = OWN},
                              HASHED(wg_core, stepping),
                              HASHED(wg_core, slow),
                              HASHED(wg_core, breakpoints),
                              HASHED(wg_core, watch_reads),
                              HASHED(wg_core, watch_writes),
                              HASHED(wg_core, breakpoint_hits),
                              HASHED(wg_core, breakpoint),
                              HASHED(wg_core, in_interrupt),
                              HASHED(wg_core, interrupt_pc),
                              LEFT(wg_core, stall, "what was last reported"),
                              LEFT(wg_core, stall_since, "what was last reported"),
                              LEFT(wg_core, undo, OWN),
                              LEFT(wg_core, targets, "prediction"),
                              LEFT(wg_core, branches, "prediction"),
                              HASHED(wg_core, ram),
                              LEFT(wg_core, icache, CACHE),
                              END(wg_core)};

static const member latch[] = {LEFT(wg_latch, id, OWN),
                               HASHED(wg_latch, word),
                               LEFT(wg_latch, pc, "for reports"),
                               HASHED(wg_latch, target),
                               LEFT(wg_latch, causes, "follows from the word"),
                               LEFT(wg_latch, block, "follows from the word"),
                               LEFT(wg_latch, conditions, "follows from the word"),
                               HASHED(wg_latch, kind),
                               LEFT(wg_latch, semaphores, "follows from the word"),
                               LEFT(wg_latch, stream_select, "follows from the word"),
                               LEFT(wg_latch, stream_index, "follows from the word"),
                               LEFT(wg_latch, holder, "for reports"),
                               LEFT(wg_latch, met, TIME),
                               END(wg_latch)};

static const member insn[] = {HASHED(wg_insn, word),
                              LEFT(wg_insn, pc, "for reports"),
                              LEFT(wg_insn, id, OWN),
                              LEFT(wg_insn, parent, OWN),
                              LEFT(wg_insn, rest, "follows from the word, or for reports"),
                              END(wg_insn)};

static const member mop[] = {ONE(wg_mop_state, insn, insn),
                             LEFT(wg_mop_state, ready_at, TIME),
                             HASHED(wg_mop_state, mask),
                             LEFT(wg_mop_state, inner, "follows from MOP_CFG"),
                             HASHED(wg_mop_state, i),
                             HASHED(wg_mop_state, j),
                             LEFT(wg_mop_state, outer, "follows from MOP_CFG"),
                             HASHED(wg_mop_state, step),
                             LEFT(wg_mop_state, flags, "follows from MOP_CFG"),
                             LEFT(wg_mop_state, template, "follows from the word"),
                             LEFT(wg_mop_state, alternates, "follows from MOP_CFG"),
                             LEFT(wg_mop_state, first, TIME),
                             HASHED(wg_mop_state, mask_hi),
                             END(wg_mop_state)};

static const member replay[] = {LEFT(wg_replay_state, insn, "for reports"),
                                HASHED(wg_replay_state, slot),
                                HASHED(wg_replay_state, play_left),
                                HASHED(wg_replay_state, play_at),
                                HASHED(wg_replay_state, record_left),
                                HASHED(wg_replay_state, record_at),
                                HASHED(wg_replay_state, execute),
                                LEFT(wg_replay_state, carry_first, TIME),
                                END(wg_replay_state)};

static const member ttsync[] = {LEFT(wg_auto_ttsync, emitted, TIME),
                                LEFT(wg_auto_ttsync, arrived, TIME),
                                LEFT(wg_auto_ttsync, hold_until, TIME),
                                LEFT(wg_auto_ttsync, wrote_at, TIME),
                                LEFT(wg_auto_ttsync, wrote_order, TIME),
                                LEFT(wg_auto_ttsync, wrote, TIME),
                                LEFT(wg_auto_ttsync, settled_at, TIME),
                                LEFT(wg_auto_ttsync, settling_id, TIME),
                                LEFT(wg_auto_ttsync, pending, TIME),
                                LEFT(wg_auto_ttsync, entries, TIME),
                                LEFT(wg_auto_ttsync, entry_head, TIME),
                                LEFT(wg_auto_ttsync, stalled, TIME),
                                HASHED(wg_auto_ttsync, state_id),
                                HASHED(wg_auto_ttsync, state_known),
                                LEFT(wg_auto_ttsync, access_head, TIME),
                                LEFT(wg_auto_ttsync, access_count, TIME),
                                HASHED(wg_auto_ttsync, resources),
                                HASHED(wg_auto_ttsync, linger),
                                LEFT(wg_auto_ttsync, access, TIME),
                                LEFT(wg_auto_ttsync, entry, TIME),
                                LEFT(wg_auto_ttsync, gate_stalls, "statistics"),
                                LEFT(wg_auto_ttsync, core_stalls, "statistics"),
                                LEFT(wg_auto_ttsync, spurious_stalls, "statistics"),
                                END(wg_auto_ttsync)};

static const member frontend[] = {
    LEFT(wg_frontend, free, RING),
    LEFT(wg_frontend, down_head, RING),
    HASHED(wg_frontend, gate_end),
    LEFT(wg_frontend, moved, TIME),
    HASHED(wg_frontend, down_end),
    LEFT(wg_frontend, fifo_head, RING),
    LEFT(wg_frontend, direct_downstream, TIME),
    HASHED(wg_frontend, fifo_count),
    LEFT(wg_frontend, mops_queued, "follows from the FIFO"),
    {"mop_active", offsetof(wg_frontend, busy), 1, 8, .bits = 1},
    {"b_valid, debug_valid, debug_control", offsetof(wg_frontend, busy) + 1, 1, 1, .bits = 7},
    LEFT(wg_frontend, replay_busy, "follows from the expander's counts"),
    LEFT(wg_frontend, push_waits, TIME),
    LEFT(wg_frontend, holders, TIME),
    LEFT(wg_frontend, stalled, TIME),
    LEFT(wg_frontend, blocks_all, "follows from the latch"),
    LEFT(wg_frontend, next_id, OWN),
    LEFT(wg_frontend, down, RING),
    LEFT(wg_frontend, fifo, RING),
    LEFT(wg_frontend, push_needs, TIME),
    LEFT(wg_frontend, held, TIME),
    LEFT(wg_frontend, freed_at, TIME),
    LEFT(wg_frontend, freed, TIME),
    LEFT(wg_frontend, accept_at, TIME),
    LEFT(wg_frontend, take_at, TIME),
    ONE(wg_frontend, latch, latch),
    LEFT(wg_frontend, stall, "for reports"),
    LEFT(wg_frontend, stalled_since, "for reports"),
    ONE(wg_frontend, mop, mop),
    ONE(wg_frontend, replay, replay),
    HASHED(wg_frontend, mop_cfg),
    ONE(wg_frontend, from_b, insn),
    ONE(wg_frontend, from_debug, insn),
    {MEMBER(wg_frontend, pool), .inside = insn, .count = WG_POOL, .tested = 12},
    ONE(wg_frontend, ttsync, ttsync),
    END(wg_frontend)};

static const member sync[] = {HASHED(wg_sync, value),
                              HASHED(wg_sync, max),
                              HASHED(wg_sync, mutex),
                              HASHED(wg_sync, slot_turn),
                              HASHED(wg_sync, mutex_turn),
                              LEFT(wg_sync, core_waits, TIME),
                              LEFT(wg_sync, core_semaphore, TIME),
                              LEFT(wg_sync, core_gets, TIME),
                              END(wg_sync)};

static const member unpack[] = {LEFT(wg_unpack, job, TIME),
                                LEFT(wg_unpack, late, TIME),
                                LEFT(wg_unpack, head, TIME),
                                LEFT(wg_unpack, count, TIME),
                                LEFT(wg_unpack, fetching, TIME),
                                LEFT(wg_unpack, settled_at, TIME),
                                LEFT(wg_unpack, stalled, TIME),
                                LEFT(wg_unpack, stalled_since, TIME),
                                LEFT(wg_unpack, clear_until, TIME),
                                LEFT(wg_unpack, address_until, TIME),
                                LEFT(wg_unpack, address_thread, TIME),
                                LEFT(wg_unpack, address_unpacker, TIME),
                                HASHED(wg_unpack, held_format),
                                LEFT(wg_unpack, form, CACHE),
                                HASHED(wg_unpack, after_dst),
                                END(wg_unpack)};

static const member matrix[] = {LEFT(wg_matrix, settings, CACHE),
                                LEFT(wg_matrix, due, TIME),
                                LEFT(wg_matrix, flight, TIME),
                                LEFT(wg_matrix, head, TIME),
                                LEFT(wg_matrix, tail, TIME),
                                LEFT(wg_matrix, last_accept, TIME),
                                LEFT(wg_matrix, last_thread, TIME),
                                LEFT(wg_matrix, in_flight, TIME),
                                LEFT(wg_matrix, all_from, TIME),
                                LEFT(wg_matrix, not_src_moves_from, TIME),
                                LEFT(wg_matrix, not_movd2b_from, TIME),
                                LEFT(wg_matrix, dst_readers_from, TIME),
                                LEFT(wg_matrix, others_from, TIME),
                                LEFT(wg_matrix, waiting_thread, TIME),
                                LEFT(wg_matrix, block_ready, TIME),
                                LEFT(wg_matrix, blocks_ready, TIME),
                                LEFT(wg_matrix, block_lands, TIME),
                                LEFT(wg_matrix, last_lands, TIME),
                                LEFT(wg_matrix, src_lands, TIME),
                                LEFT(wg_matrix, flips, TIME),
                                LEFT(wg_matrix, issue_bank, TIME),
                                LEFT(wg_matrix, giving, TIME),
                                LEFT(wg_matrix, last_flip, TIME),
                                LEFT(wg_matrix, last_give, TIME),
                                HASHED(wg_matrix, prng),
                                HASHED(wg_matrix, last_srca_row),
                                LEFT(wg_matrix, cache, CACHE),
                                END(wg_matrix)};

static const member stream_out[] = {
    HASHED(wg_pack_stream, address),
    HASHED(wg_pack_stream, fill),
    {"bytes", offsetof(wg_pack_stream, bytes), 8, 1, .bits = 1},
    {"bytes beyond those filled", offsetof(wg_pack_stream, bytes) + 8, 8, 1, .left_out = RING},
    END(wg_pack_stream)};

static const member packer[] = {LEFT(wg_packer, free_at, TIME),
                                LEFT(wg_packer, last_done, TIME),
                                {MEMBER(wg_packer, placed), .bits = 7},
                                EACH(wg_packer, stream, stream_out, WG_PACK_STREAMS),
                                HASHED(wg_packer, tile_start),
                                HASHED(wg_packer, datums),
                                LEFT(wg_packer, block, TIME),
                                LEFT(wg_packer, block_fill, TIME),
                                LEFT(wg_packer, format, TIME),
                                LEFT(wg_packer, accumulates, TIME),
                                HASHED(wg_packer, tile_x),
                                HASHED(wg_packer, tile_y),
                                HASHED(wg_packer, tile_z),
                                LEFT(wg_packer, compresses, TIME),
                                LEFT(wg_packer, row_open, TIME),
                                LEFT(wg_packer, has_last, TIME),
                                LEFT(wg_packer, value, TIME),
                                LEFT(wg_packer, last_value, TIME),
                                LEFT(wg_packer, zeros, TIME),
                                LEFT(wg_packer, group_fill, TIME),
                                LEFT(wg_packer, counters, TIME),
                                LEFT(wg_packer, augmented, TIME),
                                LEFT(wg_packer, row, TIME),
                                LEFT(wg_packer, row_is_zero, TIME),
                                LEFT(wg_packer, zero_flags, TIME),
                                LEFT(wg_packer, random_blocks, TIME),
                                HASHED(wg_packer, prng),
                                END(wg_packer)};

static const member pack[] = {LEFT(wg_pack, job, TIME),
                              LEFT(wg_pack, order, TIME),
                              LEFT(wg_pack, count, TIME),
                              LEFT(wg_pack, used, TIME),
                              HASHED(wg_pack, held),
                              HASHED(wg_pack, setreg_data),
                              HASHED(wg_pack, context),
                              HASHED(wg_pack, context_planes),
                              LEFT(wg_pack, planned_row, TIME),
                              LEFT(wg_pack, form, CACHE),
                              LEFT(wg_pack, forms, CACHE),
                              LEFT(wg_pack, setup, CACHE),
                              EACH(wg_pack, packer, packer, WG_PACKERS),
                              END(wg_pack)};

static const member scalar[] = {LEFT(wg_scalar, insn, TIME),        LEFT(wg_scalar, executing, TIME),
                                LEFT(wg_scalar, asking, TIME),      LEFT(wg_scalar, answered, TIME),
                                LEFT(wg_scalar, refused, TIME),     LEFT(wg_scalar, refusals, TIME),
                                LEFT(wg_scalar, waiting, TIME),     LEFT(wg_scalar, stall, TIME),
                                LEFT(wg_scalar, stalled_at, TIME),  LEFT(wg_scalar, since, TIME),
                                LEFT(wg_scalar, until, TIME),       LEFT(wg_scalar, operand, TIME),
                                LEFT(wg_scalar, address, TIME),     LEFT(wg_scalar, port_free, TIME),
                                LEFT(wg_scalar, last_reach, TIME),  LEFT(wg_scalar, last_answer, TIME),
                                LEFT(wg_scalar, sent, TIME),        LEFT(wg_scalar, count, TIME),
                                LEFT(wg_scalar, outstanding, TIME), HASHED(wg_scalar, held),
                                LEFT(wg_scalar, request, TIME),     END(wg_scalar)};

static const member config_pipeline[] = {LEFT(wg_config_pipeline, stage, TIME),
                                         LEFT(wg_config_pipeline, setc16, TIME),
                                         LEFT(wg_config_pipeline, setc16_pending, TIME),
                                         LEFT(wg_config_pipeline, instructions, TIME),
                                         HASHED(wg_config_pipeline, thcon_reset),
                                         LEFT(wg_config_pipeline, overlay_taken, TIME),
                                         END(wg_config_pipeline)};

static const member mover[] = {LEFT(wg_mover, insn, TIME),
                               LEFT(wg_mover, moves_for, TIME),
                               LEFT(wg_mover, busy, TIME),
                               HASHED(wg_mover, held),
                               LEFT(wg_mover, mode, TIME),
                               LEFT(wg_mover, target, TIME),
                               LEFT(wg_mover, owner, TIME),
                               LEFT(wg_mover, src, TIME),
                               LEFT(wg_mover, dst, TIME),
                               LEFT(wg_mover, units, TIME),
                               LEFT(wg_mover, moved, TIME),
                               LEFT(wg_mover, window, TIME),
                               LEFT(wg_mover, ready_at, TIME),
                               LEFT(wg_mover, group_read, TIME),
                               LEFT(wg_mover, group_written, TIME),
                               LEFT(wg_mover, finishing, TIME),
                               LEFT(wg_mover, step_at, TIME),
                               LEFT(wg_mover, transfers, TIME),
                               END(wg_mover)};

static const member sideband[] = {
    HASHED(wg_packer_sideband, acc_tile_size),
    HASHED(wg_packer_sideband, last_tile_size),
    HASHED(wg_packer_sideband, last_thread),
    HASHED(wg_packer_sideband, all_zero_flags),
    HASHED(wg_packer_sideband, l1_dest_addr_offset),
    HASHED(wg_packer_sideband, fifo_head),
    HASHED(wg_packer_sideband, fifo_count),
    {"fifo[].tile_size", offsetof(wg_packer_sideband, fifo[0].tile_size), 2, 4, .bits = 1},
    {"fifo[].all_zero_flags", offsetof(wg_packer_sideband, fifo[0].all_zero_flags), 4, 4, .bits = 1},
    {"fifo[], others", offsetof(wg_packer_sideband, fifo[1]), sizeof(((wg_packer_sideband *)0)->fifo[0]) * 3, 4,
     .left_out = "as the first"},
    END(wg_packer_sideband)};

static const member command[] = {HASHED(wg_tdma_command, word), HASHED(wg_tdma_command, params),
                                 HASHED(wg_tdma_command, base), END(wg_tdma_command)};

static const member tdma[] = {HASHED(wg_tdma, cmd_params),
                              HASHED(wg_tdma, mov_cmd_base),
                              {MEMBER(wg_tdma, queue), .inside = command, .count = WG_TDMA_QUEUE, .tested = 2},
                              HASHED(wg_tdma, head),
                              HASHED(wg_tdma, count),
                              LEFT(wg_tdma, credits, TIME),
                              HASHED(wg_tdma, held),
                              LEFT(wg_tdma, ready_at, TIME),
                              LEFT(wg_tdma, write_at, TIME),
                              LEFT(wg_tdma, write_address, TIME),
                              LEFT(wg_tdma, write_data, TIME),
                              LEFT(wg_tdma, write_bytes, TIME),
                              HASHED(wg_tdma, unpack_reg_addr_raw),
                              HASHED(wg_tdma, pack_reg_addr_raw),
                              HASHED(wg_tdma, scaler2_raw),
                              HASHED(wg_tdma, unpack_set_reg_base),
                              HASHED(wg_tdma, pack_set_reg_base),
                              HASHED(wg_tdma, set_reg_acc),
                              HASHED(wg_tdma, set_reg_hi_scaler),
                              EACH(wg_tdma, packer, sideband, 4),
                              END(wg_tdma)};

static const member backend[] = {ONE(wg_backend, sync, sync),
                                 ONE(wg_backend, unpack, unpack),
                                 LEFT(wg_backend, vector, TIME),
                                 ONE(wg_backend, matrix, matrix),
                                 ONE(wg_backend, pack, pack),
                                 ONE(wg_backend, scalar, scalar),
                                 ONE(wg_backend, config, config_pipeline),
                                 ONE(wg_backend, mover, mover),
                                 ONE(wg_backend, tdma, tdma),
                                 LEFT(wg_backend, misc, TIME),
                                 HASHED(wg_backend, turn),
                                 END(wg_backend)};

static const member macro[] = {HASHED(wg_load_macro, instruction), HASHED(wg_load_macro, sequence),
                               HASHED(wg_load_macro, misc), END(wg_load_macro)};
static const member lreg[] = {HASHED(wg_lreg, l),
                              HASHED(wg_lreg, pred),
                              HASHED(wg_lreg, lane_config),
                              EACH(wg_lreg, macro, macro, WG_LANE_COLUMNS),
                              HASHED(wg_lreg, prng),
                              HASHED(wg_lreg, shuffle_last),
                              END(wg_lreg)};
static const member src[] = {HASHED(wg_src, a),
                             HASHED(wg_src, b),
                             HASHED(wg_src, owner_a),
                             HASHED(wg_src, owner_b),
                             HASHED(wg_src, matrix_bank_a),
                             HASHED(wg_src, matrix_bank_b),
                             HASHED(wg_src, unpack_bank_a),
                             HASHED(wg_src, unpack_bank_b),
                             HASHED(wg_src, unpack_row_a),
                             HASHED(wg_src, unpack_row_b),
                             HASHED(wg_src, format_a),
                             HASHED(wg_src, format_b),
                             LEFT(wg_src, changes_a, OWN),
                             LEFT(wg_src, changes_b, OWN),
                             HASHED(wg_src, held),
                             HASHED(wg_src, leaving),
                             HASHED(wg_src, frozen),
                             END(wg_src)};
static const member gpr[] = {HASHED(wg_gpr, r), LEFT(wg_gpr, pending, TIME), LEFT(wg_gpr, port_taken, TIME),
                             END(wg_gpr)};
static const member config[] = {LEFT(wg_config, changes, OWN), HASHED(wg_config, bank), HASHED(wg_config, thread),
                                HASHED(wg_config, unpack_context), END(wg_config)};
static const member exphist[] = {HASHED(wg_exphist, bins), HASHED(wg_exphist, max),
                                 LEFT(wg_exphist, lanes, "part of the maximum, which is hashed"), END(wg_exphist)};
static const member regs[] = {HASHED(wg_regs, dst),
                              ONE(wg_regs, lreg, lreg),
                              LEFT(wg_regs, to_line, "padding"),
                              ONE(wg_regs, src, src),
                              ONE(wg_regs, gpr, gpr),
                              ONE(wg_regs, config, config),
                              HASHED(wg_regs, adc),
                              HASHED(wg_regs, rwc),
                              ONE(wg_regs, exphist, exphist),
                              END(wg_regs)};

static const member memory[] = {LEFT(wg_memory, active, TIME),
                                LEFT(wg_memory, turn, TIME),
                                LEFT(wg_memory, emitted, TIME),
                                LEFT(wg_memory, queue, TIME),
                                LEFT(wg_memory, l1, TIME),
                                HASHED(wg_memory, iram),
                                END(wg_memory)};
static const member fifo[] = {
    {"word", offsetof(wg_fifo, word), 16, 4, .bits = 1},
    {"word, not in use", offsetof(wg_fifo, word[4]), sizeof(uint32_t) * (WG_FIFO_WORDS - 4), 4, .left_out = RING},
    LEFT(wg_fifo, pushed_at, TIME),
    LEFT(wg_fifo, popped_at, TIME),
    HASHED(wg_fifo, head),
    HASHED(wg_fifo, count),
    END(wg_fifo)};
static const member pcbuf[] = {
    EACH(wg_pcbufs, fifo, fifo, WG_THREADS), LEFT(wg_pcbufs, waiting_since, TIME), LEFT(wg_pcbufs, ttsync_from, TIME),
    LEFT(wg_pcbufs, ttsync_until, TIME),     HASHED(wg_pcbufs, override),          END(wg_pcbufs)};
#define BUF(i) \
    {"buf[" #i "], words", offsetof(wg_timestamper, buf[i]), 12, 4, .bits = 1}, \
    { \
        "buf[" #i "], flags", offsetof(wg_timestamper, buf[i].valid), 3, 1, .bits = 1 \
    }
static const member timestamper[] = {BUF(0),
                                     BUF(1),
                                     HASHED(wg_timestamper, accum),
                                     HASHED(wg_timestamper, accum_position),
                                     HASHED(wg_timestamper, event_size),
                                     HASHED(wg_timestamper, reset_streams),
                                     HASHED(wg_timestamper, cntl),
                                     HASHED(wg_timestamper, counter_high_at),
                                     END(wg_timestamper)};
static const member pic[] = {HASHED(wg_pic, sw),
                             HASHED(wg_pic, hw),
                             HASHED(wg_pic, handler),
                             HASHED(wg_pic, sw_enable),
                             HASHED(wg_pic, hw_enable),
                             HASHED(wg_pic, raised),
                             HASHED(wg_pic, number),
                             HASHED(wg_pic, turn),
                             HASHED(wg_pic, pending),
                             HASHED(wg_pic, enable),
                             HASHED(wg_pic, clkgt_en),
                             HASHED(wg_pic, clkgt_hyst),
                             HASHED(wg_pic, stream_type),
                             HASHED(wg_pic, last_iterated),
                             END(wg_pic)};
static const member control[] = {HASHED(wg_tile_control, word),
                                 HASHED(wg_tile_control, soft_reset),
                                 HASHED(wg_tile_control, soft_reset_seen),
                                 HASHED(wg_tile_control, entry),
                                 HASHED(wg_tile_control, entry_given),
                                 HASHED(wg_tile_control, config_rddata),
                                 HASHED(wg_tile_control, instrn_ctrl0),
                                 HASHED(wg_tile_control, instrn_ctrl1),
                                 HASHED(wg_tile_control, risc_debug),
                                 ONE(wg_tile_control, timestamper, timestamper),
                                 ONE(wg_tile_control, pic, pic),
                                 END(wg_tile_control)};
static const member stream[] = {
    LEFT(wg_stream, message, TIME), LEFT(wg_stream, read, TIME),    HASHED(wg_stream, messages),
    HASHED(wg_stream, reads),       HASHED(wg_stream, state),       HASHED(wg_stream, source_met),
    HASHED(wg_stream, dest_met),    HASHED(wg_stream, waits_ready), HASHED(wg_stream, asks),
    HASHED(wg_stream, greet),       HASHED(wg_stream, got_data),    HASHED(wg_stream, next_config),
    HASHED(wg_stream, left),        HASHED(wg_stream, config_at),   HASHED(wg_stream, config_from),
    HASHED(wg_stream, load_at),     HASHED(wg_stream, held),        HASHED(wg_stream, unsent),
    HASHED(wg_stream, sent),        HASHED(wg_stream, credit),      HASHED(wg_stream, ready),
    HASHED(wg_stream, ready_phase), HASHED(wg_stream, group),       HASHED(wg_stream, part),
    HASHED(wg_stream, round),       HASHED(wg_stream, grouped),     END(wg_stream)};
static const member streams[] = {
    LEFT(wg_streams, due, TIME),   LEFT(wg_streams, active, TIME),       HASHED(wg_streams, done),
    HASHED(wg_streams, last_done), EACH(wg_streams, stream, stream, 64), END(wg_streams)};
static const member niu[] = {HASHED(wg_niu_regs, word),          HASHED(wg_niu_regs, overlay),
                             ONE(wg_niu_regs, streams, streams), LEFT(wg_niu_regs, unit, TIME),
                             HASHED(wg_niu_regs, coordinate),    END(wg_niu_regs)};
static const member eth[] = {HASHED(wg_eth, word),           HASHED(wg_eth, wdt),
                             HASHED(wg_eth, wdt_cntl),       LEFT(wg_eth, wdt_zero, TIME),
                             LEFT(wg_eth, iram_until, TIME), END(wg_eth)};
static const member regions[] = {ONE(wg_regions, memory, memory),
                                 EACH(wg_regions, mailbox, fifo, WG_MAILBOX_CORES *WG_MAILBOX_CORES),
                                 ONE(wg_regions, pcbuf, pcbuf),
                                 ONE(wg_regions, control, control),
                                 ONE(wg_regions, niu, niu),
                                 ONE(wg_regions, eth, eth),
                                 END(wg_regions)};
static const member tile[] = {LEFT(wg_tile, sched, "time; the cycle itself is hashed"),
                              LEFT(wg_tile, seed, "of the run, not of the tile"),
                              LEFT(wg_tile, perturbed, "of the run, not of the tile"),
                              EACH(wg_tile, core, core, WG_CORES),
                              EACH(wg_tile, frontend, frontend, WG_THREADS),
                              ONE(wg_tile, backend, backend),
                              ONE(wg_tile, regs, regs),
                              ONE(wg_tile, regions, regions),
                              END(wg_tile)};

/* Members follow each other without gaps other than alignment. */
static void check_complete(const member *m, size_t at, const char *in)
{
    for (;; m++) {
        if ((at + m->align - 1) / m->align * m->align != m->offset)
            fail_msg("%s: what is before %s, from byte %zu to %zu, is in no table", in, m->name ? m->name : "the end",
                     at, m->offset);
        if (!m->name)
            return;
        if (m->inside)
            check_complete(m->inside, 0, m->name);
        at = m->offset + m->size;
    }
}

static void test_complete(void **state)
{
    (void)state;
    check_complete(tile, WG_TILE_STATE_OFFSET, "tile");
}

static unsigned flips;

static void flip(wg_device *dev, uint8_t *byte, uint8_t bits, const char *in, const char *name, size_t at)
{
    uint64_t before = wg_state_hash(dev);
    for (; bits; bits &= (uint8_t)(bits - 1)) {
        uint8_t bit = bits & (uint8_t)-bits;
        *byte ^= bit;
        flips++;
        if (wg_state_hash(dev) == before)
            fail_msg("%s: bit 0x%02x of byte %zu of %s is not in the hash", in, bit, at, name);
        *byte ^= bit;
    }
    assert_true(wg_state_hash(dev) == before);
}

/* Every byte of small members; of large arrays the ends, and some in between. */
static void flip_all(wg_device *dev, const member *m, uint8_t *base, const char *in)
{
    enum { SMALL = 8, STEP = 4093 };
    for (; m->name; m++) {
        uint8_t *at = base + m->offset;
        if (m->left_out)
            continue;
        for (size_t i = 0; m->inside && i < m->tested; i++)
            if (i < 2 || i + 1 == m->tested)
                flip_all(dev, m->inside, at + i * (m->size / m->count), m->name);
        if (!m->inside)
            for (size_t i = 0; i < m->size; i += i < SMALL            ? 1
                                                 : m->size - i > STEP ? STEP
                                                 : m->size - i > 1    ? m->size - i - 1
                                                                      : 1)
                flip(dev, at + i, m->bits, in, m->name, i);
    }
}

/* Puts something into the queues, so that their contents count. */
static void fill(wg_tile *t)
{
    wg_fifo *boxes = &t->regions.mailbox.fifo[0][0];
    for (unsigned i = 0; i < WG_MAILBOX_CORES * WG_MAILBOX_CORES + WG_THREADS; i++) {
        wg_fifo *f = i < WG_MAILBOX_CORES * WG_MAILBOX_CORES ? &boxes[i] : &t->regions.pcbuf.fifo[i - 16];
        for (unsigned k = 0; k < WG_FIFO_WORDS; k++)
            f->word[k] = k + 1;
        f->count = 4;
    }
    for (unsigned i = 0; i < WG_THREADS; i++) {
        wg_frontend *f = &t->frontend[i];
        for (unsigned k = 0; k < WG_POOL; k++)
            f->pool[k].word = k + 1;
        for (unsigned k = 0; k < WG_FIFO_RING; k++)
            f->fifo[k] = (uint16_t)k;
        for (unsigned k = 0; k < WG_DOWN_RING; k++)
            f->down[k] = (uint16_t)(4 + k);
        f->fifo_count = 4;
        f->gate_end = 2;
        f->down_end = 8;
        f->mop_active = f->b_valid = f->debug_valid = true;
        f->latch.kind = WG_LATCH_STALLWAIT;
        f->replay.play_left = f->replay.record_left = 4;
    }
    wg_tdma *d = &t->backend.tdma;
    d->count = 2;
    for (unsigned i = 0; i < WG_TDMA_QUEUE; i++)
        d->queue[i].word = i;
    for (unsigned i = 0; i < 4; i++) {
        d->packer[i].fifo_count = 1;
        for (unsigned k = 0; k < WG_METADATA_FIFO; k++)
            d->packer[i].fifo[k].tile_size = (uint16_t)(k + 1);
        t->backend.pack.packer[i].placed = 7;
        for (unsigned k = 0; k < WG_PACK_STREAMS; k++)
            t->backend.pack.packer[i].stream[k].fill = 8;
    }
}

static void test_every_bit(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    fill(dev->tile);
    flips = 0;
    flip_all(dev, tile, (uint8_t *)dev->tile, "tile");
    for (uint32_t i = 0; i < wg_l1_bytes(dev); i += 65537)
        flip(dev, dev->tile->l1 + i, 1, "tile", "l1", i);
    flip(dev, dev->tile->l1 + wg_l1_bytes(dev) - 1, 1, "tile", "l1", wg_l1_bytes(dev) - 1);
    print_message("%u bits\n", flips);
    wg_destroy(dev);
}

/* Positions within a ring, and the contents of its unused places, do not count. */
static void test_equal_contents(void **state)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    wg_fifo *f = &dev->tile->regions.mailbox.fifo[0][1];
    f->count = 2;
    f->word[0] = 7;
    f->word[1] = 9;
    uint64_t hash = wg_state_hash(dev);
    f->head = 15;
    f->word[15] = 7;
    f->word[0] = 9;
    f->word[1] = 1234;
    assert_true(wg_state_hash(dev) == hash);
    wg_exphist *e = &dev->tile->regs.exphist;
    e->max[2] = 8;
    hash = wg_state_hash(dev);
    e->max[2] = 3;
    e->lanes[2][5] = 8;
    assert_true(wg_state_hash(dev) == hash);
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_complete, WG_BH, ""),
    WG_TEST(test_every_bit, WG_BH | WG_WH, ""),
    WG_TEST(test_equal_contents, WG_BH | WG_WH, ""),
};
WG_MAIN("state_hash", tests)
