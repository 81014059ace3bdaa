/* SPDX-License-Identifier: Apache-2.0 */
/* What the packers' files share. */
#ifndef WG_PACK_INTERNAL_H
#define WG_PACK_INTERNAL_H

#include "backend/pack.h"

/* The packers an instruction is for; 0 is none of the documented masks and never returned. */
unsigned wg_pack_mask(const wg_tile *t, const wg_insn *insn);

/* The part of the address phase that the gate needs, too: which rows of Dst would be read. */
typedef struct wg_pack_rows {
    uint32_t start;       /* datum of Dst */
    uint32_t count;       /* datums (BH: per row) */
    uint8_t interfaces;   /* as in wg_pack_job */
    uint8_t row_stride;
    bool wide;
} wg_pack_rows;
/* False: this packer reads nothing of Dst. */
bool wg_pack_rows_read(wg_tile *t, const wg_insn *insn, unsigned packer, wg_pack_rows *rows);

/* PACR: reads configuration and counters, moves the counters on, and fills the job (pack_address.c). */
void wg_pack_plan(wg_tile *t, wg_pack_job *job);
/* Cycles for which a packer is kept by its part. */
unsigned wg_pack_cycles(const wg_tile *t, const wg_pack_job *job, unsigned packer);

/* PACR's datums, out of Dst and into L1 (pack_move.c). */
void wg_pack_move(wg_tile *t, const wg_pack_job *job, unsigned packer);
/* The output side of a packer (pack_stream.c). */
typedef struct wg_pack_output {
    wg_tile *t;
    wg_packer *p;
    unsigned packer;
    const wg_insn *insn;
} wg_pack_output;
/* New addresses, if the part has some. */
void wg_pack_begin(const wg_pack_output *o, const wg_pack_part *part);
/* Datums as the late conversion leaves them. */
void wg_pack_put(const wg_pack_output *o, unsigned count, const uint32_t value[16]);
/* Ends a row of compressed data. */
void wg_pack_end_row(const wg_pack_output *o, bool zero_flags);
/* Writes what the buffers hold, padded with zeros. */
void wg_pack_flush(const wg_pack_output *o);

#endif
