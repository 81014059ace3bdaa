/* SPDX-License-Identifier: Apache-2.0 */
/* The packers' state between cycles. Plain data. */
#ifndef WG_PACK_STATE_H
#define WG_PACK_STATE_H

#include "machine/insn.h"
#include "num/pack_formats.h"
#include "machine/adc.h"
#include "machine/dst.h"

enum { WG_PACKERS = 4, WG_PACK_IN_FLIGHT = 16 };
typedef enum wg_pack_stream_id {
    WG_STREAM_ROWS,
    WG_STREAM_EXPONENTS,
    WG_STREAM_DATA,
    WG_PACK_STREAMS
} wg_pack_stream_id;
typedef enum wg_pack_source { WG_PACK_FROM_DST, WG_PACK_FROM_L1, WG_PACK_FROM_NOTHING } wg_pack_source;
typedef enum wg_pack_random { WG_RANDOM_EARLY = 1, WG_RANDOM_BLOCKS = 2 } wg_pack_random;
typedef enum wg_pack_padding { WG_PAD_NONE, WG_PAD_ROWS, WG_PAD_ALL } wg_pack_padding; /* RowPadZero */

/* A packer's data settings; the same for all instructions until configuration changes. */
typedef struct wg_pack_settings {
    uint16_t downsample; /* mask, never 0 */
    uint8_t in_format, out_format;
    uint8_t early; /* wg_pack_early */
    uint8_t mid;   /* wg_mid: the format that enters the late conversion */
    wg_pack_late late;
    bool compress, accumulate, threshold_on, zero_flags, header, into_fifo;
    uint8_t threshold;      /* of the exponent */
    uint8_t rows_per_plane; /* tile position: pack_reads_per_xy_plane */
    bool transposed;        /* pack_yz_transposed */
    uint8_t z_offset;
    uint8_t set_select; /* the face set, or row set, of the edge mask */
    bool straight;      /* rows are moved unchanged: see wg_pack_move() */
    bool wide, blocks;  /* 32 bits in Dst; BFP in L1 */
    bool random_blocks; /* … rounded stochastically */
    uint8_t row_bytes;  /* of 16 datums in L1 */
} wg_pack_settings;

/* One packer's part of an instruction. */
typedef struct wg_pack_part {
    uint64_t done_at;
    uint32_t address[WG_PACK_STREAMS]; /* bytes; of the streams in `places` */
    uint8_t places;                    /* bit per stream that starts at a new address */
    uint8_t source;                    /* wg_pack_source */
    uint32_t start;                    /* datum of Dst, or byte of L1 */
    uint32_t count;                    /* input datums (BH: per row) */
    uint32_t cycles;                   /* for which it occupies the packer */
    wg_pack_settings set;              /* as configured when it started */
} wg_pack_part;

typedef struct wg_pack_edges {
    bool infinite, faces;
    uint8_t selects; /* two bits per packer: its face set, or row set */
    uint16_t mask[4];
    uint32_t row_sets[4], face_sets[4];
} wg_pack_edges;

/* One instruction. */
typedef struct wg_pack_job {
    wg_insn insn;
    uint8_t packers;   /* bit per packer that has yet to finish it */
    bool set_register; /* PACR_SETREG */
    bool late;         /* perturbed: samples late whatever it may sample late */
    uint64_t serial;   /* of its wg_pack_form; 0: none */
    bool last, flush, concat;
    bool idle; /* BH: only resets the context */
    bool statistics;
    wg_dst_access access;
    uint8_t interfaces; /* BH: bit per row to read; 0: one run of rows */
    uint8_t row_stride; /* BH: rows from one interface's to the next one's */
    uint8_t padding;    /* wg_pack_padding */
    uint8_t shift;      /* INT8: places to the right */
    uint8_t relu;       /* mode */
    uint16_t relu_threshold;
    uint8_t random; /* wg_pack_random: where rounding is stochastic */
    bool has_edges; /* an edge mask may hide datums: */
    wg_pack_edges edges;
    uint8_t setreg_format; /* Out_data_format of packer 0 */
    wg_pack_part part[WG_PACKERS];
} wg_pack_job;

/* Decoded configuration: per packer (BH: per context), and shared. */
typedef struct wg_pack_section {
    wg_pack_settings from_dst, from_elsewhere;
    bool good_from_dst, good_from_elsewhere; /* the formats are compatible */
    bool from_l1, adds_offset, bad_accumulate, bad_threshold, ignored;
    bool silent;                /* nothing here can cause a finding when Dst is read */
    bool fills_plane;           /* Auto_set_last_pacr_intf_sel */
    uint8_t counters;           /* Addr_cnt_context */
    uint8_t planes_per_context; /* auto_ctxt_inc_xys_cnt */
    uint32_t address;           /* of the first stream, in units of 16 bytes */
    uint32_t limit, fifo, row_starts, exponents;
    uint32_t dst_offset; /* datums */
    uint32_t l1_source;  /* bytes */
} wg_pack_section;

/* The configuration words that were read for it, for observers. */
typedef struct wg_pack_read {
    uint64_t changes; /* as in wg_pack_setup */
    unsigned sections, count;
    bool full; /* there were more */
    struct {
        uint32_t mask;
        uint16_t word, how;
    } at[64];
} wg_pack_read;

typedef struct wg_pack_setup {
    uint64_t changes;               /* of the configuration it was made from; 0: none */
    uint32_t in_base, in_stride[4]; /* input address: X, Y, Z, W */
    uint32_t out_base, out_stride[4];
    bool wide, remap, swizzle, statistics;
    uint8_t intermediate; /* the format in the middle */
    bool descales, descales_by_z;
    uint8_t relu, random;
    uint16_t relu_threshold;
    bool has_edges;
    wg_pack_edges edges;
    wg_pack_section section[WG_PACKERS];
    wg_pack_read read;
} wg_pack_setup;

/* 16 bytes in flight to L1. */
typedef struct wg_pack_stream {
    uint32_t address;
    uint8_t fill;
    uint8_t bytes[16];
} wg_pack_stream;

typedef struct wg_packer {
    uint64_t free_at;   /* accepts the next instruction from this cycle on */
    uint64_t last_done; /* when everything accepted so far is done */
    uint8_t placed;     /* bit per stream: continues at its address (NeedsNewAddress inverted) */
    wg_pack_stream stream[WG_PACK_STREAMS];
    uint32_t tile_start; /* bytes */
    uint32_t datums;     /* of this tile, low bits (RowPadZero) */
    uint16_t block[16];  /* a BFP block being assembled */
    uint8_t block_fill;
    uint8_t format; /* of the streams' contents, for a flush */
    bool accumulates;
    uint8_t tile_x, tile_y, tile_z; /* tile position generator */
    /* Compression. */
    bool compresses; /* the streams hold compressed data */
    bool row_open;
    bool has_last;              /* `last_value` is not encoded yet */
    uint32_t value, last_value; /* the augmented datum in progress; the newest datum */
    uint8_t zeros;              /* the counter of `value` */
    uint8_t group_fill;         /* augmented datums of this group of 32 */
    uint8_t counters[16];
    uint16_t augmented; /* in this tile so far */
    uint8_t row;        /* number of the row in this tile */
    bool row_is_zero;
    uint32_t zero_flags;
    bool random_blocks;
    uint32_t prng[16]; /* stochastic rounding: one generator per column */
} wg_packer;

/*
 * A decoded PACR: what its word and the configuration determine. A job remembers the form that it was filled in from.
 */
typedef struct wg_pack_form {
    uint64_t changes; /* of configuration, as in wg_pack_setup; 0: nothing is decoded */
    uint64_t serial;  /* unique */
    uint32_t word;
    uint8_t thread, bank;
    uint8_t section[WG_PACKERS], counters[WG_PACKERS];
    uint8_t streams[WG_PACKERS]; /* bit per stream that is written */
    uint8_t steps;               /* bit per thread whose counters it steps, by `mode`: */
    uint16_t mode;               /* Y of channel 0 and 1 in six bits each, then Z in two bits each */
    bool reports;                /* something about it may be reported */
    wg_pack_job job;             /* filled in as far as this goes */
} wg_pack_form;
enum { WG_PACK_FORMS = 4 }; /* by Last and one bit of AddrMode: a tile's last PACRs differ in these */

typedef struct wg_pack {
    wg_pack_job job[WG_PACK_IN_FLIGHT];
    uint8_t order[WG_PACK_IN_FLIGHT]; /* jobs in order of acceptance */
    uint8_t count;
    uint16_t used;          /* bit per job */
    uint8_t held;           /* soft reset: bit per packer */
    uint32_t setreg_data;   /* BH: the value that PACR_SETREG writes */
    uint8_t context;        /* BH: CtxtCtrl's own */
    uint8_t context_planes; /* … planes packed under it */
    uint8_t planned_row;    /* BH: tile position after everything accepted */
    wg_pack_form form[WG_PACK_FORMS];
    uint64_t forms;         /* decoded so far: the last serial */
    wg_pack_setup setup[2]; /* per bank of configuration */
    wg_packer packer[WG_PACKERS];
} wg_pack;

#endif
