/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the firmware and kernels of these tests and a host of tt-metal: mailboxes, launch messages, circular
 * buffers. Written independently of src/metal/layout.def, from the same sources, so that a test fails when either is
 * wrong.
 *
 * Facts: tt-metal, hw/inc/hostdev/dev_msgs.h, hw/inc/internal/tt-1xx/<chip>/dev_mem_map.h, stream_io_map.h,
 * circular_buffer_interface.h.
 */
#ifndef METAL_H
#define METAL_H

#include "noc.h"

typedef unsigned short u16;
typedef unsigned long long u64;

struct launch {
    u32 config[4];
    u16 semaphores[4];
    u16 local_cbs, remote_cbs;
    struct {
        u16 own, common;
    } args[5];
    u8 mode, pad;
    u16 dfbs;
    u32 text[5], text_bytes[5];
    u8 pad4[12];
    u64 cb_mask;
    u8 b_noc, b_noc_mode, remote_first, exit;
    u32 id, enables;
    u16 watcher[5], nc_text_16;
    u8 origin[2], pad3[5], preload;
} __attribute__((packed));
_Static_assert(sizeof(struct launch) == 144, "a launch message");

#ifdef WG_ARCH_WH
enum {
    LAUNCH_READ = 0x1C,
    LAUNCH = 0x20,
    GO = 0x4A0,
    GO_INDEX = 0x4D0,
    CORE_INFO = 0xA00,
    SYNC = 0x18,
    BANKS = 0xD0C0
};
enum { DRAM_BANKS = 12, DRAM_ALIGN = 32, BANK_SHIFT = 4, CBS = 32, ACKED = 3, RECEIVED = 4 };
#else
enum {
    LAUNCH_READ = 0x6C,
    LAUNCH = 0x70,
    GO = 0x4F0,
    GO_INDEX = 0x520,
    CORE_INFO = 0xAD0,
    SYNC = 0x68,
    BANKS = 0x13000
};
enum { DRAM_BANKS = 8, DRAM_ALIGN = 64, BANK_SHIFT = 0, CBS = 64, ACKED = 8, RECEIVED = 10 };
#endif
enum { SIGNAL_DONE = 0, SIGNAL_GO = 0x80, L1_ALIGN = 16 };

/* A circular buffer as one core sees it; sizes and addresses in units of 16 bytes. */
struct cb {
    u32 bytes, limit, page, pages;
    u32 read, write;
    u16 acked, received;
    u32 write_tile;
};

/* The firmware's, in each core's own RAM; kernels are linked against it. */
extern struct cb cb_interface[CBS];
extern u16 dram_bank_to_noc_xy[2][DRAM_BANKS];
extern u32 bank_to_dram_offset[DRAM_BANKS];
extern u32 *rta_l1_base, *crta_l1_base, *sem_l1_base;

/* Counts of pages, in registers of the overlay's stream of that number. */
#define STREAM(cb, reg) WORD(0xFFB40000 + 0x1000 * (cb) + 4 * (reg))

static inline u32 cb_pages_available(u32 cb) { return (u16)(STREAM(cb, RECEIVED) - STREAM(cb, ACKED)); }

#endif
