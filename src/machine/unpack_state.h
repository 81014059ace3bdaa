/* SPDX-License-Identifier: Apache-2.0 */
/* The unpackers' state between cycles. Plain data. */
#ifndef WG_UNPACK_STATE_H
#define WG_UNPACK_STATE_H

#include "machine/insn.h"
#include "machine/adc.h"

enum { WG_UNPACK_QUEUE = 4 }; /* instructions in one unpacker, the one that moves data included */

typedef enum wg_unpack_what {
    WG_UNPACK_MOVE,          /* UNPACR: datums from L1 */
    WG_UNPACK_NOTHING,       /* UNPACR_NOP, UNPACR's counter and cache forms: only passes through the queue */
    WG_UNPACK_CLEAR,         /* UNPACR_NOP: sets a bank, or both, to a value; on BH may also give the bank away */
    WG_UNPACK_GIVE,          /* UNPACR_NOP: gives the bank to the Matrix Unit */
    WG_UNPACK_SET_REGISTER,  /* UNPACR_NOP: writes a memory-mapped register */
    WG_UNPACK_CLEAR_MESSAGES /* UNPACR_NOP: tells an overlay stream that its data has been read */
} wg_unpack_what;

/* One instruction, with everything it read on acceptance. */
typedef struct wg_unpack_job {
    wg_insn insn;
    uint64_t serial;         /* of its wg_unpack_form; 0: none */
    uint64_t ready_at;       /* its address phase, or only cycle, has ended */
    uint64_t done_at;        /* everything has been fetched, including any perturbation; WG_NEVER: not yet */
    uint32_t lines, fetched; /* 16-byte reads from L1 */
    uint8_t what;            /* wg_unpack_what */
    uint8_t speed;           /* lines per cycle it requests: 1, 2, 4 or 8 */
    bool waits;              /* waits for the bank before it moves data */
    bool waits_like_matrix;  /* … for the Matrix Unit's bank instead of the unpacker's own */
    bool flip;               /* gives the bank to the Matrix Unit at the end */
    uint8_t src_base;        /* SRCA_SET_Base or SRCB_SET_Base, in rows */
    uint8_t out_format;

    /* Moving: addresses in bits (exponents: in sixteenths of a byte), all before wrapping. */
    int64_t datums, exponents, deltas;
    int64_t limit, fifo;    /* Unpack_limit_address and Unpack_fifo_size, in bytes */
    uint32_t stride;        /* bytes from the start of an input row to the start of the next */
    uint32_t row;           /* datums in an input row */
    uint32_t count;         /* input datums; with `outputs`, as many as needed */
    uint32_t drop, outputs; /* decompression: datums dropped first, datums written; UINT32_MAX: all */
    uint32_t out;           /* output address, in datums */
    uint8_t in_format, reading, bits;
    uint8_t upsample; /* positions after each datum: 0, 1, 3 or 7 */
    uint8_t column_shift;
    bool interleave, compressed, forced_exponent, to_dst, wide, transpose, zero, override_row, advance_row;
    bool broadcast;   /* BH: the first row of SrcB goes into the next seven, too */
    uint8_t exponent; /* the forced one */

    /* Clearing and registers. */
    uint32_t value;
    uint8_t banks; /* bit per bank */
    uint32_t address;
} wg_unpack_job;

/*
 * A decoded UNPACR: what its word and the configuration determine. A job remembers the form that it was filled in from.
 */
typedef struct wg_unpack_form {
    uint64_t changes; /* of configuration, plus 1; 0: it is not kept */
    uint64_t serial;  /* unique */
    uint32_t word;
    uint8_t thread, adc; /* whose counters: of Z and W and of the output; of X and Y */
    uint32_t x_dim, y_dim, z_dim;
    uint64_t in;       /* byte address of datum 0 (compressed: of group 0) */
    int64_t exponents; /* of datum 0, as in the job */
    uint32_t row_starts, blobs, blob_starts;
    bool row_search, tileize;
    uint32_t out_base, out_y, out_z, out_w, dest;
    uint8_t out_shift;
    bool adds_dest, replaces_dest;
    uint8_t steps;     /* of the counters, as in the word */
    wg_unpack_job job; /* filled in as far as this goes */
} wg_unpack_form;

/* Perturbed runs: the data with which a delayed UNPACR samples configuration late. */
typedef struct wg_unpack_late {
    uint64_t changes; /* of configuration, when it was accepted */
    uint32_t delay;   /* of its completion */
    bool samples;     /* it may sample late */
    uint8_t context;  /* its context counter, before it was accepted */
    wg_adc adc;       /* likewise */
} wg_unpack_late;

typedef struct wg_unpack {
    wg_unpack_job job[2][WG_UNPACK_QUEUE];
    wg_unpack_late late[2][WG_UNPACK_QUEUE];
    uint8_t head[2], count[2];
    uint8_t fetching[2]; /* lines per cycle that the head gets now; 0: it does not fetch */
    uint64_t settled_at; /* `fetched` of the heads is as of this cycle */
    bool stalled[2];     /* the head waits for its bank, and an event was emitted */
    uint64_t stalled_since[2];
    uint64_t clear_until[2]; /* nothing is fetched before this cycle: a bank is being cleared */
    uint64_t address_until;  /* an UNPACR is in its address phase before this cycle */
    uint8_t address_thread, address_unpacker;
    uint8_t held_format[2]; /* of the last UNPACR's output, which BH's SETDVALID records */
    wg_unpack_form form[2]; /* of the last UNPACR */
    bool after_dst;         /* the last UNPACR of Unpacker 0 wrote Dst */
} wg_unpack;

#endif
