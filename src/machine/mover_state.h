/* SPDX-License-Identifier: Apache-2.0 */
/* The Mover's and TDMA-RISC's state, and the sideband of packers and unpackers that TDMA-RISC shows. */
#ifndef WG_MOVER_STATE_H
#define WG_MOVER_STATE_H

#include "machine/insn.h"

enum { WG_MOVER_WINDOW = 8, WG_TDMA_QUEUE = 4, WG_TDMA_PARAMETER_CREDITS = 2, WG_METADATA_FIFO = 4 };

typedef enum wg_mover_mode { WG_XMOV_L0_TO_L1, WG_XMOV_L1_TO_L0, WG_XMOV_L0_TO_L0, WG_XMOV_L1_TO_L1 } wg_mover_mode;

/* One transfer at a time: `moved` of `units` times 16 bytes are done. */
typedef struct wg_mover {
    wg_insn insn;      /* XMOV that was accepted in the last cycle; id 0: none */
    wg_insn moves_for; /* the XMOV whose transfer is in progress; id 0: TDMA-RISC's */
    bool busy;
    bool held;         /* soft reset: everything is discarded */
    uint8_t mode;      /* wg_mover_mode */
    uint8_t target;    /* where 16-byte units go: see mover.c */
    uint8_t owner;     /* wg_agent that requested it */
    uint32_t src, dst; /* byte addresses of the first unit; dst relative to its target */
    uint32_t units, moved;
    uint32_t window[WG_MOVER_WINDOW][4]; /* a copy's units between reading and writing */
    uint64_t ready_at[WG_MOVER_WINDOW];  /* the unit can be written from this cycle on */
    uint8_t group_read, group_written;   /* of the present window */
    bool finishing;                      /* everything has moved: idle at the next step */
    uint64_t step_at;                    /* the next step is due in this cycle */
    uint64_t transfers;                  /* so far: the event number for perturbation */
} wg_mover;

/* Sideband of one packer: written by the packers, seen through TDMA-RISC and SETDMAREG. */
typedef struct wg_packer_sideband {
    uint16_t acc_tile_size[3]; /* per thread */
    uint16_t last_tile_size;
    uint8_t last_thread;
    uint32_t all_zero_flags;
    uint16_t l1_dest_addr_offset;
    uint8_t fifo_head, fifo_count; /* metadata of finished tiles */
    struct {
        uint16_t tile_size;
        uint32_t all_zero_flags;
    } fifo[WG_METADATA_FIFO];
} wg_packer_sideband;

typedef struct wg_tdma_command {
    uint32_t word, params[4];
    uint32_t base; /* MovCmdBase of the core that wrote it */
} wg_tdma_command;

typedef struct wg_tdma {
    uint32_t cmd_params[4];
    uint32_t mov_cmd_base[4]; /* of B, T0, T1, T2 */
    wg_tdma_command queue[WG_TDMA_QUEUE];
    uint8_t head, count, credits; /* credits used, of WG_TDMA_PARAMETER_CREDITS */
    bool held;                    /* soft reset: writes are discarded */
    uint64_t ready_at;            /* the command processor takes the head from this cycle on */
    uint64_t write_at;            /* an L1 write command takes effect in this cycle */
    uint32_t write_address, write_data[2];
    uint8_t write_bytes; /* 0: none in flight */

    uint32_t unpack_reg_addr_raw, pack_reg_addr_raw, scaler2_raw;
    uint32_t unpack_set_reg_base[2], pack_set_reg_base[2];
    uint32_t set_reg_acc[2]; /* per unpacker, 17 bits */
    uint16_t set_reg_hi_scaler[4];
    wg_packer_sideband packer[4];
} wg_tdma;

#endif
