/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every field of a tile's state and what may be in it. A field that any value suits is in an ANY, one that a restored
 * tile does not take over in a DERIVED, so that none is forgotten (tests/cli/test_state_fields.py compares with the
 * structures).
 */
#include "engine/state_check.h"

#include <string.h>

#include "backend/vector.h"
#include "noc/network.h"

/* Nothing is later than this but WG_NEVER: a time can be added to without wrapping. */
#define LATEST (UINT64_C(1) << 62)
#define OF(m, w) .name = #m, .offset = offsetof(T, m), .bytes = sizeof(((T *)0)->m), .width = (w)
#define MAX8(m, most) {OF(m, 1), .max = (most)},
#define MAX16(m, most) {OF(m, 2), .max = (most)},
#define MAX32(m, most) {OF(m, 4), .max = (most)},
#define MAX64(m, most) {OF(m, 8), .max = (most)},
#define OR8(m, most, other) {OF(m, 1), .max = (most), .also = (other)},
#define BOOL(m) MAX8(m, 1)
#define TIME(m) {OF(m, 8), .max = LATEST, .also = UINT64_MAX},
#define COUNT(m) MAX64(m, LATEST)
#define AGENT(m) OR8(m, WG_AGENT_COUNT - 1, WG_AGENT_NONE)
#define PART(m, of) {OF(m, sizeof(of)), .part = &table_##of},
#define ANY(...)
#define DERIVED(...)
#define TABLE(...) TABLE_WITH(NULL, __VA_ARGS__)
/* … and a function that looks at one such structure by itself. */
#define TABLE_WITH(fn, ...) \
    static const wg_state_field MADE(fields_, T)[] = {__VA_ARGS__}; \
    static const wg_state_table MADE(table_, T) = {.name = NAME(T), \
                                                   .field = MADE(fields_, T), \
                                                   .fields = sizeof MADE(fields_, T) / sizeof MADE(fields_, T)[0], \
                                                   .bytes = sizeof(T), \
                                                   .holds = fn};
#define MADE(a, b) MADE_(a, b)
#define MADE_(a, b) a##b
#define NAME(s) NAME_(s)
#define NAME_(s) #s

enum { REGISTERS = WG_REG_SINK };

/* Unit, block bits and opcode are those of the word; or there is no instruction. */
static bool insn_holds(wg_arch_id arch, const void *data)
{
    wg_insn insn;
    memcpy(&insn, data, sizeof insn);
    uint64_t rest = insn.rest & ~UINT64_C(0xFFFFFF); /* without thread, source, marks */
    return rest == (wg_insn_kinds[arch][insn.word >> 24].rest & ~UINT64_C(0xFFFFFF)) || (!insn.rest && !insn.word);
}

static bool settings_hold(wg_arch_id arch, const void *data)
{
    wg_pack_settings set;
    (void)arch;
    memcpy(&set, data, sizeof set);
    return true;
}

static bool config_op_holds(wg_arch_id arch, const void *data)
{
    wg_config_op op;
    (void)arch;
    memcpy(&op, data, sizeof op);
    return op.kind == WG_CONFIG_NOTHING || op.word + op.words <= WG_CONFIG_WORDS;
}

static bool matrix_op_holds(wg_arch_id arch, const void *data)
{
    wg_matrix_op op;
    (void)arch;
    memcpy(&op, data, sizeof op);
    bool source = op.effect == WG_EFFECT_SRC, low = false;
    for (unsigned i = 0; i < 8; i++)
        low |= (op.row[i] & WG_DST_LOW) != 0;
    if (source && op.src_row + op.rows > WG_SRC_ROWS)
        return false;
    return (op.effect != WG_EFFECT_DST32 && op.effect != WG_EFFECT_DST_LOW) || !low;
}

static bool stream_holds(wg_arch_id arch, const void *data)
{
    wg_stream s;
    (void)arch;
    memcpy(&s, data, sizeof s);
    for (unsigned i = 0; i < WG_STREAM_FIFO; i++)
        if (s.message[i].source >= WG_OVERLAY_STREAMS || s.read[i].source >= WG_OVERLAY_STREAMS)
            return false;
    return true;
}

/* What is scheduled is an instruction of the Vector Unit. */
static bool macro_slot_holds(wg_arch_id arch, const void *data)
{
    wg_macro_slot s;
    memcpy(&s, data, sizeof s);
    for (unsigned i = 0; i < WG_LANE_COLUMNS; i++)
        if ((s.present >> i & 1) && !wg_vector_implements(wg_isa_decode(arch, s.entry[i].word)->id))
            return false;
    return true;
}

static bool load_step_holds(wg_arch_id arch, const void *data)
{
    wg_vector_load_step s;
    (void)arch;
    memcpy(&s, data, sizeof s);
    return !s.at || wg_vector_implements((wg_insn_id)s.insn);
}

/* clang-format off */

/* ---- Schedule ---- */
#define T wg_schedule
TABLE(TIME(next) COUNT(now) TIME(later) MAX32(soon, (1u << WG_AGENT_COUNT) - 1) MAX32(woken, (1u << WG_AGENT_COUNT) - 1)
      MAX8(phase, WG_PHASE_PIPELINES) MAX8(pending_cores, (1 << WG_CORES) - 1) BOOL(watch_idle) BOOL(watch_units)
      MAX32(far, (1u << WG_AGENT_COUNT) - 1) TIME(look_at) ANY(wake_filter))
#undef T
#define T wg_stall
TABLE(MAX16(reason, WG_STALL_COUNT - 1) ANY(resource) AGENT(holder) TIME(retry_at))
#undef T
/* Unit, block bits and opcode follow from the word: see insn_holds(). */
#define T wg_insn
TABLE_WITH(insn_holds, ANY(word, pc, block, rest) COUNT(id) COUNT(parent) MAX8(thread, WG_THREADS - 1)
      OR8(source, WG_CORES - 1, WG_INSN_FROM_DEBUG_BUS) MAX8(ttsync, WG_TTS_FIRST | WG_TTS_LAST) MAX8(unit, WG_UNIT_COUNT - 1)
      MAX16(op, WG_I_COUNT - 1))
#undef T

/* ---- Cores. Paths and indices follow from addresses: see route_holds(). ---- */
#define T wg_ex1
TABLE(TIME(entered) COUNT(number) ANY(address, pc, data, size, op) MAX8(kind, WG_EX1_FENCE) MAX8(rd, REGISTERS)
      MAX8(path, WG_PATH_COUNT - 1) MAX8(bytes, 16) MAX8(index, 4))
#undef T
#define T wg_load
TABLE(TIME(done) TIME(earliest) COUNT(number) ANY(address, pc, line, size) MAX8(rd, REGISTERS) MAX8(path, WG_PATH_COUNT - 1)
      MAX8(index, 4) BOOL(used) BOOL(fills) BOOL(stale) BOOL(flushed))
#undef T
#define T wg_store
TABLE(TIME(first) TIME(entered) ANY(address, pc, data, mask) MAX8(path, WG_PATH_COUNT - 1) MAX8(bytes, 16) MAX8(index, 4))
#undef T
#define T wg_l0_line
TABLE(ANY(tag, data) BOOL(stale))
#undef T
#define T wg_fetch
TABLE(TIME(emit_at) TIME(ready) TIME(earliest) ANY(line, word) BOOL(used) BOOL(stale) BOOL(prefetch))
#undef T
#define T wg_core_run
TABLE(ANY(r, pc, hindered, history, l0_requests, returns) TIME(at) TIME(last) TIME(stored) COUNT(number) COUNT(pushes)
      MAX8(halt, WG_HALTED) MAX8(loads, WG_LOADS) BOOL(ordered) MAX8(late, REGISTERS) MAX8(lag, 63)
      MAX8(sq_head, WG_STORE_QUEUE - 1) MAX8(sq_count, WG_STORE_QUEUE) BOOL(queued) MAX8(l0_victim, WG_L0_LINES - 1)
      MAX8(returns_top, WG_RETURNS - 1) TIME(late_at) TIME(mux_free) TIME(wait_e) TIME(wait_m) TIME(retired) TIME(filled)
      MAX8(dests, REGISTERS) PART(ex1, wg_ex1) PART(load, wg_load) PART(sq, wg_store) PART(l0, wg_l0_line)
      PART(fetch, wg_fetch) MAX8(lru, 1))
#undef T
#define T wg_csrs
TABLE(ANY(cfg0, cfg1, pmacfg, hwa_mask, hwa_cfg, vgsrc, fcsr, vxsat, vxrm, vtype, vlenb, mcountinhibit, mhpmevent,
          tt_status, restore_pc, mhpmcounter, cycle_offset, instret_offset) MAX32(vl, 128))
#undef T
/* The predecoded instructions are made anew of their words. */
#define T wg_icache_line
TABLE(ANY(tag, checked, lag_dests, lag_key) MAX8(set, WG_ICACHE_LINES / 2 - 1) MAX8(way, 1) ANY(next) DERIVED(op))
#undef T
#define T wg_core
TABLE(PART(run, wg_core_run) DERIVED(saved, saved_at, reached, saved_fcsr, past, noted, solo_next, solo_end, solo_tick, solo_l1, undo_count, undo, solo_until, solo_saved)
      TIME(stop) TIME(solo_at) TIME(ram_ready) ANY(epoch, v, special, breakpoints, watch_reads,
      watch_writes, breakpoint_hits, breakpoint, interrupt_pc, targets, ram) PART(csr, wg_csrs) BOOL(acted) BOOL(stepping)
      BOOL(slow) BOOL(in_interrupt) PART(stall, wg_stall) TIME(stall_since) MAX8(predictor, 4) PART(icache, wg_icache_line))
#undef T

/* ---- Frontends ---- */
#define T wg_latch
TABLE(COUNT(id) ANY(word, pc, target, causes, block, conditions, semaphores) MAX8(kind, WG_LATCH_STREAMWAIT)
      MAX8(stream_select, 3) MAX8(stream_index, 1) AGENT(holder) BOOL(met))
#undef T
#define T wg_mop_state
TABLE(PART(insn, wg_insn) TIME(ready_at) ANY(mask, mask_hi) MAX16(inner, 255) MAX16(i, 255) ANY(j, outer) MAX8(step, 15)
      ANY(flags) MAX8(template, 1) BOOL(alternates) BOOL(first))
#undef T
#define T wg_replay_state
TABLE(PART(insn, wg_insn) ANY(slot) MAX8(play_left, 64) MAX8(play_at, WG_REPLAY_SLOTS - 1) MAX8(record_left, 64)
      MAX8(record_at, WG_REPLAY_SLOTS - 1) BOOL(execute) BOOL(carry_first))
#undef T
#define T wg_tts_access
TABLE(COUNT(order) ANY(address, resources, count) BOOL(is_write) BOOL(unsettled) BOOL(asked))
#undef T
#define T wg_tts_entry
TABLE(COUNT(id) COUNT(order) ANY(gprs, reads, writes, may_read, may_write, linger)
      MAX8(doubt, WG_TTS_DOUBT_STATE_ID | WG_TTS_DOUBT_TRACKING))
#undef T
#define T wg_auto_ttsync
TABLE(COUNT(emitted) COUNT(arrived) TIME(hold_until) TIME(wrote_at) COUNT(wrote_order) ANY(wrote) TIME(settled_at)
      COUNT(settling_id) ANY(pending, resources, linger, gate_stalls, core_stalls, spurious_stalls)
      MAX8(entries, WG_TTS_ENTRIES) MAX8(entry_head, WG_TTS_ENTRIES - 1) BOOL(stalled) BOOL(state_id) BOOL(state_known)
      MAX8(access_head, WG_TTS_ACCESSES - 1) MAX8(access_count, WG_TTS_ACCESSES) PART(access, wg_tts_access)
      PART(entry, wg_tts_entry))
#undef T
#define T wg_frontend
TABLE(ANY(free, down_head, gate_end, down_end, mux_busy, gate_busy, busy, b_valid, debug_valid, debug_control) BOOL(moved)
      MAX8(fifo_head, WG_FIFO_RING - 1) MAX8(plain_downstream, WG_POOL) MAX8(fifo_count, WG_FIFO_RING)
      MAX8(mops_queued, WG_FIFO_RING) BOOL(mop_active) BOOL(replay_busy) MAX8(push_waits, WG_WAITS_T | WG_WAITS_B)
      MAX16(holders, (1 << WG_UNIT_COUNT) - 1) BOOL(stalled) BOOL(blocks_all) COUNT(next_id)
      MAX16(down, WG_E_TTSYNC * 2 - 1) MAX16(fifo, WG_E_TTSYNC * 2 - 1) MAX8(push_needs, 4) TIME(accept_at) TIME(take_at)
      PART(latch, wg_latch) PART(stall, wg_stall) TIME(stalled_since) PART(mop, wg_mop_state)
      PART(replay, wg_replay_state) ANY(mop_cfg) PART(from_b, wg_insn) PART(from_debug, wg_insn) PART(pool, wg_insn)
      PART(ttsync, wg_auto_ttsync))
#undef T

/* ---- Units ---- */
#define T wg_adc_channel
TABLE(MAX32(x, 0x3FFFF) MAX32(x_cr, 0x3FFFF) MAX16(y, 0x1FFF) MAX16(y_cr, 0x1FFF) ANY(z, z_cr, w, w_cr))
#undef T
#define T wg_adc
TABLE(PART(unit, wg_adc_channel))
#undef T
#define T wg_sync
TABLE(MAX8(value, 15) MAX8(max, 15) MAX8(mutex, WG_THREADS) MAX8(slot_turn, 5) MAX8(mutex_turn, WG_THREADS - 1)
      MAX8(core_waits, 7) MAX8(core_semaphore, WG_SEMAPHORES - 1) BOOL(core_gets))
#undef T
#define T wg_unpack_job
TABLE(PART(insn, wg_insn) DERIVED(serial) TIME(ready_at) TIME(done_at) ANY(lines, fetched, stride, row, drop, outputs, out,
      value, address, datums, exponents, deltas, limit, fifo, count) MAX8(what, WG_UNPACK_CLEAR_MESSAGES) MAX8(speed, 8) BOOL(waits) BOOL(waits_like_matrix)
      BOOL(flip) MAX8(src_base, 63) MAX8(out_format, 31) MAX8(in_format, 31) MAX8(reading, 31) MAX8(bits, 32)
      MAX8(upsample, 7) MAX8(column_shift, 15) BOOL(interleave) BOOL(compressed) BOOL(forced_exponent) BOOL(to_dst)
      BOOL(wide) BOOL(transpose) BOOL(zero) BOOL(override_row) BOOL(advance_row) BOOL(broadcast) ANY(exponent)
      MAX8(banks, 3))
#undef T
#define T wg_unpack_late
TABLE(COUNT(changes) ANY(delay) BOOL(samples) MAX8(context, 7) PART(adc, wg_adc))
#undef T
#define T wg_unpack
TABLE(PART(job, wg_unpack_job) PART(late, wg_unpack_late) MAX8(head, WG_UNPACK_QUEUE - 1) MAX8(count, WG_UNPACK_QUEUE) MAX8(fetching, 8)
      TIME(settled_at) BOOL(stalled) TIME(stalled_since) TIME(address_until) MAX8(address_thread, WG_THREADS - 1)
      MAX8(address_unpacker, 1) MAX8(held_format, 31) DERIVED(usual) BOOL(after_dst))
#undef T
#define T wg_vector_write
TABLE(TIME(land) ANY(lanes, data) MAX32(lreg, WG_LREGS - 1))
#undef T
#define T wg_vector_early
TABLE(TIME(next) ANY(lanes, old) MAX32(lreg, WG_LREGS - 1))
#undef T
#define T wg_vector_swap
TABLE(TIME(at) ANY(lanes, indexed) MAX8(vc, WG_LREGS - 1) MAX8(vd, WG_LREGS - 1))
#undef T
#define T wg_vector_load_step
TABLE_WITH(load_step_holds, TIME(at) COUNT(id) ANY(word, pc, lanes, address) MAX16(insn, WG_I_COUNT - 1) MAX8(thread, WG_THREADS - 1)
      MAX8(vd, WG_LREGS - 1) MAX8(format, 15))
#undef T
#define T wg_vector_late
TABLE(TIME(at) ANY(lanes, address, base, data) MAX8(thread, WG_THREADS - 1) MAX8(format, 15))
#undef T
#define T wg_lane_flags
TABLE(ANY(flags, use, stack_flags, stack_use) MAX8(depth, WG_FLAG_STACK))
#undef T
#define T wg_macro_entry
TABLE(COUNT(id) COUNT(parent) ANY(word, pc, address, columns) MAX8(thread, WG_THREADS - 1)
      OR8(source, WG_CORES - 1, WG_INSN_FROM_DEBUG_BUS) MAX8(va, WG_LREGS - 1) MAX8(vb, WG_LREGS - 1)
      MAX8(vc, WG_LREGS - 1) MAX8(vd, WG_LREGS - 1) MAX8(mod, 15) ANY(by_instruction))
#undef T
#define T wg_macro_slot
TABLE_WITH(macro_slot_holds, ANY(present) PART(entry, wg_macro_entry))
#undef T
#define T wg_vector
TABLE(TIME(free_at) TIME(only_nop_at) TIME(interlock_at) TIME(shuffle_at) TIME(backdoor_at) TIME(done_at)
      ANY(interlock_lregs, shuffle_lregs, unfused, used) MAX8(last_thread, WG_THREADS - 1) TIME(newest_land)
      MAX32(newest_lregs, (1u << WG_LREGS) - 1) MAX32(pending_lregs, (1u << WG_LREGS) - 1) PART(write, wg_vector_write)
      PART(early, wg_vector_early) PART(swap, wg_vector_swap) PART(load, wg_vector_load_step) PART(late, wg_vector_late)
      DERIVED(places) TIME(done) PART(insn, wg_insn) TIME(last_done) MAX8(first_flight, WG_VECTOR_FLIGHTS - 1)
      MAX8(flights, WG_VECTOR_FLIGHTS) TIME(counted) TIME(ran_at) TIME(flags_at) PART(flags, wg_lane_flags)
      MAX32(scheduled, WG_MACRO_UNITS * WG_MACRO_SLOTS * 8) MAX32(waiting, WG_MACRO_UNITS * WG_MACRO_SLOTS * 8)
      MAX8(base, WG_MACRO_SLOTS - 1) ANY(ran, ran_bonus, ran_pending, ran_swap) PART(slot, wg_macro_slot))
#undef T
#define T wg_matrix_op
TABLE_WITH(matrix_op_holds, PART(insn, wg_insn) TIME(effect_at) TIME(flip_at) TIME(done_at) MAX8(effect, WG_EFFECT_RESET_BANKS) MAX8(flip, 3)
      MAX8(give, 3) MAX8(give_bank, 1) MAX8(rows, 16) MAX8(file, 1) MAX8(bank, 1) MAX8(src_row, 63) MAX8(from_row, 63)
      MAX8(banks, 15) BOOL(together) BOOL(flag) ANY(columns) MAX16(row, WG_DST_ROWS - 1) ANY(hi, lo, src, marks))
#undef T
#define T wg_matrix
TABLE(DERIVED(settings, prepared, usual, cache) TIME(due) PART(flight, wg_matrix_op) ANY(head, tail) TIME(last_accept) TIME(src_lands)
      MAX8(last_thread, WG_THREADS - 1) MAX8(in_flight, WG_MATRIX_FLIGHTS) TIME(all_from) TIME(not_src_moves_from)
      TIME(not_movd2b_from) TIME(dst_readers_from) TIME(others_from) MAX8(waiting_thread, WG_THREADS - 1) TIME(block_ready) TIME(blocks_ready) TIME(block_lands) TIME(last_lands)
      MAX8(flips, 2 * WG_MATRIX_FLIGHTS) MAX8(issue_bank, 1) MAX8(giving, WG_MATRIX_FLIGHTS) TIME(last_flip) ANY(prng)
      MAX8(last_srca_row, 63))
#undef T
#define T wg_pack_late
TABLE(MAX8(mid, WG_MID_INT8) MAX8(target, 15) BOOL(narrow) BOOL(flush))
#undef T
#define T wg_pack_settings
TABLE_WITH(settings_hold, ANY(downsample) MAX8(in_format, 15) MAX8(out_format, 15) MAX8(early, WG_EARLY_COUNT - 1) MAX8(mid, WG_MID_INT8)
      PART(late, wg_pack_late) BOOL(compress) BOOL(accumulate) BOOL(threshold_on) BOOL(zero_flags) BOOL(header)
      BOOL(into_fifo) ANY(threshold, rows_per_plane, z_offset) BOOL(transposed) MAX8(set_select, 3) BOOL(plain) BOOL(wide)
      BOOL(blocks) BOOL(random_blocks) MAX8(row_bytes, 64))
#undef T
#define T wg_pack_part
TABLE(TIME(done_at) ANY(address) MAX8(places, 7) MAX8(source, WG_PACK_FROM_NOTHING) ANY(start) MAX32(count, 1 << 18)
      ANY(cycles) PART(set, wg_pack_settings))
#undef T
#define T wg_pack_edges
TABLE(BOOL(infinite) BOOL(faces) ANY(selects, mask, row_sets, face_sets))
#undef T
#define T wg_pack_job
TABLE(PART(insn, wg_insn) MAX8(packers, (1 << WG_PACKERS) - 1) BOOL(set_register) BOOL(late) DERIVED(serial) BOOL(last)
      BOOL(flush) BOOL(concat) BOOL(idle) BOOL(statistics) ANY(interfaces, row_stride, relu_threshold, access)
      MAX8(padding, WG_PAD_ALL) MAX8(shift, 31) MAX8(relu, 3) MAX8(random, WG_RANDOM_EARLY | WG_RANDOM_BLOCKS)
      BOOL(has_edges) PART(edges, wg_pack_edges) MAX8(setreg_format, 15) PART(part, wg_pack_part))
#undef T
#define T wg_pack_stream
TABLE(ANY(address, bytes) MAX8(fill, 16))
#undef T
#define T wg_packer
TABLE(TIME(free_at) TIME(last_done) MAX8(placed, 7) PART(stream, wg_pack_stream) ANY(tile_start, datums, block)
      MAX8(block_fill, 16) MAX8(format, 15) BOOL(accumulates) ANY(tile_x, tile_y, tile_z) BOOL(compresses) BOOL(row_open)
      BOOL(has_last) ANY(value, last_value, zeros, counters, augmented, row, zero_flags, prng) MAX8(group_fill, 32)
      BOOL(row_is_zero) BOOL(random_blocks))
#undef T
#define T wg_pack
TABLE(PART(job, wg_pack_job) MAX8(order, WG_PACK_IN_FLIGHT - 1) MAX8(count, WG_PACK_IN_FLIGHT) ANY(used, setreg_data)
      MAX8(held, (1 << WG_PACKERS) - 1) MAX8(context, 3) ANY(context_planes, planned_row) DERIVED(usual, again, setup)
      COUNT(usual_serials) TIME(burst_at) TIME(burst_until) PART(packer, wg_packer))
#undef T
#define T wg_scalar_request
TABLE(PART(insn, wg_insn) TIME(reaches_at) TIME(answers_at) ANY(address, data, mask) MAX8(kind, WG_SCALAR_FIFO_STEP)
      MAX8(bytes, 16) MAX8(reg, WG_GPRS - 1) BOOL(reached) BOOL(failed))
#undef T
#define T wg_scalar
TABLE(PART(insn, wg_insn) BOOL(executing) BOOL(asking) BOOL(answered) BOOL(refused) ANY(refusals, operand, address)
      BOOL(waiting) PART(stall, wg_stall) TIME(stalled_at) TIME(since) TIME(until) TIME(port_free) TIME(last_reach)
      TIME(last_answer) COUNT(sent) MAX8(count, WG_SCALAR_REQUESTS) MAX8(outstanding, WG_SCALAR_REQUESTS) BOOL(held)
      PART(request, wg_scalar_request))
#undef T
#define T wg_config_op
TABLE_WITH(config_op_holds, PART(insn, wg_insn) TIME(entered) TIME(issued) TIME(not_before) ANY(value, word) MAX8(words, 4)
      MAX8(banks, WG_CONFIG_BOTH_BANKS) MAX8(kind, WG_CONFIG_KINDS - 1) AGENT(agent) BOOL(second))
#undef T
#define T wg_config_pipeline
TABLE(PART(stage, wg_config_op) PART(setc16, wg_insn) MAX8(setc16_pending, 7) MAX8(instructions, WG_CONFIG_STAGES)
      BOOL(thcon_reset) TIME(overlay_taken))
#undef T
#define T wg_mover
/* moves_for names no thread if TDMA-RISC asked. */
TABLE(PART(insn, wg_insn) MAX8(moves_for.thread, WG_THREADS) BOOL(busy) BOOL(held) MAX8(mode, WG_XMOV_L1_TO_L1) ANY(target, src, dst)
      AGENT(owner) ANY(units, moved, window) TIME(ready_at) MAX8(group_read, WG_MOVER_WINDOW)
      MAX8(group_written, WG_MOVER_WINDOW) BOOL(finishing) TIME(step_at) COUNT(transfers))
#undef T
#define T wg_packer_sideband
TABLE(ANY(acc_tile_size, last_tile_size, all_zero_flags, l1_dest_addr_offset, fifo) MAX8(last_thread, WG_THREADS - 1)
      MAX8(fifo_head, WG_METADATA_FIFO - 1) MAX8(fifo_count, WG_METADATA_FIFO))
#undef T
#define T wg_tdma
TABLE(ANY(cmd_params, mov_cmd_base, queue, write_address, write_data, unpack_reg_addr_raw, pack_reg_addr_raw, scaler2_raw,
      unpack_set_reg_base, pack_set_reg_base, set_reg_acc, set_reg_hi_scaler) MAX8(head, WG_TDMA_QUEUE - 1)
      MAX8(count, WG_TDMA_QUEUE) MAX8(credits, WG_TDMA_PARAMETER_CREDITS) BOOL(held) TIME(ready_at) TIME(write_at)
      MAX8(write_bytes, 8) PART(packer, wg_packer_sideband))
#undef T
#define T wg_misc
TABLE(PART(insn, wg_insn) MAX8(pending, 7))
#undef T
#define T wg_round_robin
TABLE(MAX8(next, WG_THREADS - 1))
#undef T
#define T wg_backend
TABLE(PART(sync, wg_sync) PART(unpack, wg_unpack) PART(vector, wg_vector) PART(matrix, wg_matrix) PART(pack, wg_pack)
      PART(scalar, wg_scalar) PART(config, wg_config_pipeline) PART(mover, wg_mover) PART(tdma, wg_tdma)
      PART(misc, wg_misc) PART(turn, wg_round_robin))
#undef T

/* ---- Registers ---- */
#define T wg_lreg
TABLE(ANY(l, lane_config, macro, prng, shuffle_last) PART(pred, wg_lane_flags))
#undef T
#define T wg_src
TABLE(MAX32(a, 0x7FFFF) MAX32(b, 0x7FFFF) MAX8(owner_a, WG_SRC_MATRIX) MAX8(owner_b, WG_SRC_MATRIX) MAX8(matrix_bank_a, 1)
      MAX8(matrix_bank_b, 1) MAX8(unpack_bank_a, 1) MAX8(unpack_bank_b, 1) MAX8(unpack_row_a, WG_SRC_ROWS - 1)
      MAX8(unpack_row_b, WG_SRC_ROWS - 1) MAX8(format_a, 31) MAX8(format_b, 31) ANY(changes_a, changes_b, held)
      BOOL(frozen))
#undef T
#define T wg_gpr
TABLE(ANY(r, pending) TIME(port_taken))
#undef T
#define T wg_config
TABLE(COUNT(changes) ANY(bank, thread) MAX8(unpack_context, 7))
#undef T
#define T wg_rwc_thread
TABLE(MAX16(dst, 0x3FF) MAX16(dst_cr, 0x3FF) MAX8(srca, 63) MAX8(srca_cr, 63) MAX8(srcb, 63) MAX8(srcb_cr, 63)
      MAX8(fidelity, 3) MAX8(extra_addr_mod, 1) MAX16(sp, 0x3FF))
#undef T
#define T wg_rwc
TABLE(PART(thread, wg_rwc_thread))
#undef T
#define T wg_regs
TABLE(ANY(dst, to_line, exphist) PART(lreg, wg_lreg) PART(src, wg_src) PART(gpr, wg_gpr) PART(config, wg_config) PART(adc, wg_adc)
      PART(rwc, wg_rwc))
#undef T

/* ---- Regions and NoC ---- */
#define T wg_request
TABLE(TIME(seen_at) ANY(address, pc, data, op, tag, byte_mask, overtakes, rd) MAX8(kind, WG_REQ_ATOMIC)
      MAX8(path, WG_PATH_COUNT - 1) MAX8(bytes, 16) MAX8(core, WG_CORES - 1) MAX8(index, 4))
#undef T
#define T wg_lane
TABLE(PART(queue, wg_request) TIME(last_seen_at) TIME(retry_at) PART(why, wg_stall) MAX8(head, WG_LANE_DEPTH - 1)
      MAX8(count, WG_LANE_DEPTH))
#undef T
#define T wg_l1_ports
TABLE(TIME(port_free) TIME(bank_free) MAX8(turn, WG_L1_INPUTS - 1) ANY(watch))
#undef T
#define T wg_memory
TABLE(ANY(active, iram) MAX8(turn, WG_CORES - 1) COUNT(emitted) PART(lane, wg_lane) PART(l1, wg_l1_ports))
#undef T
#define T wg_fifo
TABLE(ANY(word) TIME(pushed_at) TIME(popped_at) MAX8(head, WG_FIFO_WORDS - 1) MAX8(count, WG_FIFO_WORDS))
#undef T
#define T wg_mailboxes
TABLE(PART(fifo, wg_fifo))
#undef T
#define T wg_pcbufs
TABLE(PART(fifo, wg_fifo) TIME(waiting_since) TIME(ttsync_from) TIME(ttsync_until) ANY(override))
#undef T
#define T wg_timestamper
TABLE(ANY(accum, cntl, counter_high_at) BOOL(buf[0].valid) BOOL(buf[0].full) BOOL(buf[0].overflow) BOOL(buf[1].valid)
      BOOL(buf[1].full) BOOL(buf[1].overflow) MAX8(accum_position, 4) MAX8(event_size, 4) BOOL(reset_streams))
#undef T
#define T wg_pic
TABLE(ANY(sw, hw, handler, sw_enable, hw_enable, pending, enable, clkgt_en, clkgt_hyst, stream_type) MAX8(raised, 3)
      MAX8(number, WG_PIC_IRQS - 1) MAX8(turn, WG_PIC_IRQS - 1) MAX8(last_iterated, 31))
#undef T
#define T wg_tile_control
TABLE(ANY(word, soft_reset, soft_reset_seen, entry, config_rddata, instrn_ctrl0, instrn_ctrl1, risc_debug)
      MAX8(entry_given, (1 << WG_CORES) - 1) PART(timestamper, wg_timestamper) PART(pic, wg_pic))
#undef T
#define T wg_stream
TABLE_WITH(stream_holds, ANY(message, read) MAX8(messages, WG_STREAM_FIFO) MAX8(reads, WG_STREAM_FIFO) MAX8(state, WG_STREAM_RUNNING)
      BOOL(source_meets) BOOL(dest_meets) BOOL(waits_ready) BOOL(asks) BOOL(greet) BOOL(got_data)
      ANY(next_config, left, config_at, config_from, load_at, held, unsent, sent, credit, ready, ready_phase, group, part, round)
      BOOL(grouped))
#undef T
#define T wg_streams
TABLE(TIME(due) ANY(active, done) MAX8(last_done, 63) PART(stream, wg_stream))
#undef T
#define T wg_niu_unit
TABLE(TIME(link_free) TIME(data_gone) COUNT(packets) COUNT(transactions) TIME(hold) MAX8(holds, WG_NIU_HOLDS)
      MAX8(data_tag, 15) BOOL(linked) ANY(linked_to) MAX8(queue, WG_NIU_INITIATORS - 1) MAX8(queued, WG_NIU_INITIATORS)
      MAX16(place, 0xFFF))
#undef T
#define T wg_niu_regs
TABLE(ANY(word, overlay) PART(streams, wg_streams) PART(unit, wg_niu_unit) MAX16(coordinate, 0xFFF))
#undef T
#define T wg_regions
TABLE(PART(memory, wg_memory) PART(mailbox, wg_mailboxes) PART(pcbuf, wg_pcbufs) PART(control, wg_tile_control)
      PART(niu, wg_niu_regs))
#undef T
#define T wg_packet
TABLE(TIME(at) ANY(order, address, back_address, mask, transaction, data, operation, delay, exclude, hops, waited, child, next)
      MAX32(bytes, WG_NOC_RING) MAX32(payload, WG_NOC_RING - 1) MAX32(slot, WG_NOC_SLOTS - 1) MAX16(from, WG_GRID_MAX_TILES - 1)
      MAX16(to, WG_GRID_MAX_TILES - 1) MAX16(back, WG_GRID_MAX_TILES - 1) MAX16(flags, 2 * WG_PACKET_LAST - 1)
      MAX8(x0, 31) MAX8(y0, 31) MAX8(x1, 31) MAX8(y1, 31)
      MAX8(kind, WG_PACKET_RESULT) MAX8(noc, 1) MAX8(tag, 15) MAX8(stream, 63) MAX8(channel, WG_CHANNELS - 1) TIME(left))
#undef T
#define T wg_noc_ring
TABLE(COUNT(first) COUNT(end) COUNT(first_slot) COUNT(end_slot) TIME(slot) ANY(bytes))
#undef T
#define T wg_noc_box
TABLE(MAX32(used, WG_NOC_POOL) MAX32(unused, WG_NOC_POOL) MAX32(inbox, WG_NOC_POOL) MAX32(answers, WG_NOC_POOL)
      MAX32(last_answer, WG_NOC_POOL) MAX32(outgoing, WG_NOC_OUT) PART(out, wg_packet) PART(pool, wg_packet)
      PART(ring, wg_noc_ring))
#undef T
#define T wg_link
TABLE(COUNT(span) MAX8(spans, WG_LINK_SPANS))
#undef T
#define T wg_network
TABLE(PART(link, wg_link) COUNT(departure))
#undef T
#define T wg_tile
TABLE(PART(sched, wg_schedule) ANY(seed) BOOL(perturbed) PART(core, wg_core) PART(frontend, wg_frontend)
      PART(backend, wg_backend) PART(regs, wg_regs) PART(regions, wg_regions))
#undef T
/* clang-format on */

const wg_state_table *const wg_state_of_tile = &table_wg_tile;
const wg_state_table *const wg_state_of_box = &table_wg_noc_box;
const wg_state_table *const wg_state_of_packet = &table_wg_packet;
const wg_state_table *const wg_state_of_network = &table_wg_network;
