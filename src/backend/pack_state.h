/* SPDX-License-Identifier: Apache-2.0 */
/* The packers' state between cycles. Plain data. */
#ifndef WG_PACK_STATE_H
#define WG_PACK_STATE_H

#include "frontend/insn.h"
#include "num/pack_formats.h"

enum { WG_PACKERS = 4, WG_PACK_IN_FLIGHT = 16 };
typedef enum wg_pack_stream_id {
    WG_STREAM_ROWS, WG_STREAM_EXPONENTS, WG_STREAM_DATA, WG_PACK_STREAMS
} wg_pack_stream_id;
typedef enum wg_pack_source { WG_PACK_FROM_DST, WG_PACK_FROM_L1, WG_PACK_FROM_NOTHING } wg_pack_source;
typedef enum wg_pack_padding { WG_PAD_NONE, WG_PAD_ROWS, WG_PAD_ALL } wg_pack_padding;   /* RowPadZero */

/* What one packer does for an instruction, as configured when it started. */
typedef struct wg_pack_part {
    uint64_t done_at;
    uint32_t address[WG_PACK_STREAMS];   /* bytes; of the streams in `places` */
    uint8_t places;                      /* bit per stream that starts at a new address */
    uint8_t source;                      /* wg_pack_source */
    uint32_t start;                      /* datum of Dst, or byte of L1 */
    uint32_t count;                      /* input datums (BH: per row) */
    uint16_t downsample;                 /* mask, never 0 */
    uint8_t in_format, out_format;
    uint8_t early;                       /* wg_pack_early */
    uint8_t mid;                         /* wg_mid of what enters the late conversion */
    wg_pack_late late;
    bool compress, accumulate, threshold_on, zero_flags, header, into_fifo;
    uint8_t threshold;                   /* of the exponent */
    uint8_t rows_per_plane;              /* tile position: pack_reads_per_xy_plane */
    bool transposed;                     /* pack_yz_transposed */
    uint8_t z_offset;
    uint8_t set_select;                  /* which face set, or row set, the edge mask goes by */
} wg_pack_part;

/* One instruction. */
typedef struct wg_pack_job {
    wg_insn insn;
    uint8_t packers;                     /* bit per packer that has yet to finish it */
    bool set_register;                   /* PACR_SETREG */
    bool last, flush, concat;
    uint8_t interfaces;                  /* BH: bit per row to read; 0: one run of rows */
    uint8_t row_stride;                  /* BH: rows from one interface's to the next one's */
    uint8_t padding;                     /* wg_pack_padding */
    uint8_t shift;                       /* INT8: places to the right */
    uint8_t relu;                        /* mode */
    uint16_t relu_threshold;
    bool edges;                          /* some edge mask may hide something */
    bool edge_infinite, edge_faces;
    uint16_t edge_mask[4];
    uint32_t row_sets[4], face_sets[4];
    uint8_t setreg_format;               /* Out_data_format of packer 0 */
    wg_pack_part part[WG_PACKERS];
} wg_pack_job;

/* 16 bytes on their way to L1. */
typedef struct wg_pack_stream {
    uint32_t address;
    uint8_t fill;
    uint8_t bytes[16];
} wg_pack_stream;

typedef struct wg_packer {
    uint64_t free_at;                    /* takes the next instruction from this cycle on */
    uint64_t last_done;                  /* of everything accepted so far */
    uint8_t placed;                      /* bit per stream: goes on where it is (NeedsNewAddress inverted) */
    wg_pack_stream stream[WG_PACK_STREAMS];
    uint32_t tile_start;                 /* bytes */
    uint32_t datums;                     /* of this tile, low bits (RowPadZero) */
    uint16_t block[16];                  /* a BFP block under assembly */
    uint8_t block_fill;
    uint8_t format;                      /* of the streams' contents, for what a flush writes */
    bool accumulates;
    uint8_t tile_x, tile_y, tile_z;      /* tile position generator */
    /* Compression. */
    bool compresses;                     /* what the streams hold belongs to compressed data */
    bool row_open;
    bool has_last;                       /* `last_value` is yet to be decided on */
    uint32_t value, last_value;          /* the augmented datum under way; the newest datum */
    uint8_t zeros;                       /* the former's counter */
    uint8_t group_fill;                  /* augmented datums of this group of 32 */
    uint8_t counters[16];
    uint16_t augmented;                  /* in this tile so far */
    uint8_t row;                         /* number of the row in this tile */
    bool row_is_zero;
    uint32_t zero_flags;
} wg_packer;

typedef struct wg_pack {
    wg_pack_job job[WG_PACK_IN_FLIGHT];
    uint8_t order[WG_PACK_IN_FLIGHT];    /* jobs in the order in which they came */
    uint8_t count;
    uint16_t used;                       /* bit per job */
    uint8_t held;                        /* soft reset: bit per packer */
    uint32_t setreg_data;                /* BH: what PACR_SETREG writes */
    wg_packer packer[WG_PACKERS];
} wg_pack;

#endif
