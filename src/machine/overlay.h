/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of the NoC overlay's 64 streams. Storage is the tile's overlay register file (src/machine/niu_regs.h);
 * streams that carry messages are in stream.c.
 * Facts: NoC/Overlay/, STREAMWAIT.md; register numbers from the public overlay parameters.
 */
#ifndef WG_OVERLAY_H
#define WG_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"

struct wg_tile;

/* Blackhole's register numbers; only Blackhole has STREAMWAIT. */
enum { WG_STREAM_CURR_PHASE = 29, WG_STREAM_NUM_MSGS_RECEIVED = 259 };

typedef enum wg_stream_register {
    WG_SR_BUF_SIZE,
    WG_SR_BUF_START,
    WG_SR_RD_PTR,
    WG_SR_WR_PTR,
    WG_SR_PHASE_BASE,
    WG_SR_PHASE,
    WG_SR_GATHER,
    WG_SR_SRC_MASK,
    WG_SR_SRC_MASK_1,
    WG_SR_SRC_MASK_2,
    WG_SR_MCAST_DEST_NUM,
    WG_SR_MCAST_DEST,
    WG_SR_ACK_THRESHOLD,
    WG_SR_MISC_CFG,
    WG_SR_MSG_INFO_PTR,
    WG_SR_MSG_INFO_WR_PTR,
    WG_SR_CAN_PUSH,
    WG_SR_CFG_HEADER,
    WG_SR_CFG_PTR_BASE,
    WG_SR_CFG_PTR,
    WG_SR_DEST_BUF_SIZE,
    WG_SR_SPACE,
    WG_SR_SPACE_UPDATE,
    WG_SR_DEST_BUF_START_HI,
    WG_SR_DEST_BUF_START,
    WG_SR_DEST_WR_PTR,
    WG_SR_DEST_INFO_WR_PTR_HI,
    WG_SR_DEST_INFO_WR_PTR,
    WG_SR_DEST,
    WG_SR_DEST_PRIORITY,
    WG_SR_SRC_PHASE,
    WG_SR_SRC,
    WG_SR_SCRATCH,
    WG_SR_NEXT_MSG_ADDR,
    WG_SR_NEXT_MSG_SIZE,
    WG_SR_GATHER_CLEAR,
    WG_SR_PHASE_ADVANCE,
    WG_SR_WAIT_STATUS,
    WG_SR_RECEIVED,
    WG_SR_RECEIVED_INC,
    WG_SR_NEW_MSG,
    WG_SR_INFO_CLEAR,
    WG_SR_DATA_CLEAR,
    WG_SR_BUF_SPACE,
    WG_SR_HEADER_FORMAT,
    WG_SR_ONETIME_CFG,
    WG_SR_MSG_INFO,
    WG_SR_SET_HEADER,
    WG_SR_READY_UPDATE,
    WG_SR_SRC_READY,
    WG_SR_CFG_DONE,
    WG_SR_NEXT_CFG_DONE,
    WG_SR_COMPRESS,
    WG_SR_ZERO_MASK,
    WG_SR_INFO_FULL,
    WG_SR_IN_BUF_AND_MEM,
    WG_SR_RESET,
    WG_SR_PERF_CONFIG,
    WG_SR_FIRMWARE_SCRATCH,
    WG_STREAM_REGISTERS
} wg_stream_register;

/* A register's storage, and its number. */
uint32_t *wg_overlay_word(struct wg_tile *t, unsigned stream, wg_stream_register r);
unsigned wg_overlay_number(const wg_arch *arch, wg_stream_register r);

/* Does every stream have a register of this number? */
bool wg_overlay_has_register(const struct wg_tile *t, unsigned register_index);
/* A register of a stream; 0 for one that does not exist. */
uint32_t wg_overlay_stream_read(const struct wg_tile *t, unsigned stream, unsigned register_index);
/* The same, unless reading it has side effects. */
bool wg_overlay_peek(const struct wg_tile *t, unsigned stream, unsigned register_index, uint32_t *value);
/* The same as software reads it, with the side effects of reading. */
uint32_t wg_overlay_register_read(struct wg_tile *t, unsigned stream, unsigned register_index);
/* As software writes it; false if no such register is known. */
bool wg_overlay_register_write(struct wg_tile *t, unsigned stream, unsigned register_index, uint32_t value);
/* Sets a register as the stream itself would, and wakes the gates that may wait for it. */
void wg_overlay_stream_write(struct wg_tile *t, unsigned stream, unsigned register_index, uint32_t value);

#endif
