/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the packers' files. */
#ifndef WG_PACK_INTERNAL_H
#define WG_PACK_INTERNAL_H

#include "backend/config.h"
#include "backend/pack.h"
#include "isa/tile_regs.h"

/* The packers that an instruction names; never 0, which is not a documented mask. */
static inline unsigned wg_pack_mask(const wg_tile *t, const wg_insn *insn)
{
    unsigned mask = WG_GET(PACR, Select, insn->word);
    return t->arch->pack.interfaces || !mask ? 1 : mask;
}

/*
 * The first cycle in which all rows of Dst that the packer reads can be read, and the block that is ready last; 0:
 * any.
 */
uint64_t wg_pack_rows_ready(const wg_tile *t, const wg_insn *insn, unsigned packer, unsigned *block);
/* The decoded instruction, which is decoded now unless it was before. It stays valid until the next call. */
const wg_pack_form *wg_pack_form_of(wg_tile *t, const wg_insn *insn);
/* Fills in a job as far as its word and the configuration determine it. */
void wg_pack_fill_in(wg_pack_job *job, const wg_pack_form *form);
static inline unsigned wg_pack_form_place(uint32_t word)
{
    return WG_GET(PACR, Last, word) | (WG_GET(PACR, AddrMode, word) & 1) << 1;
}
static inline const wg_pack_form *wg_pack_form_at(const wg_pack *u, uint32_t word)
{
    return &u->form[wg_pack_form_place(word)];
}
/* The cycles for which a packer is occupied by rows of Dst and the 16-byte lines that it writes. */
unsigned wg_pack_cycles(const wg_arch *arch, uint32_t rows, uint32_t lines);
/* log2 of a datum's size in addresses of Dst, from the low bits of In_data_format. */
static inline unsigned wg_pack_datum_shift(unsigned format)
{
    return (format & 3) == 0 ? 2 : (format & 3) == 1 ? 1 : 0;
}
/* The first datum in Dst, for counters of channel 0. */
static inline uint32_t wg_pack_dst_start(const wg_pack_setup *s, const wg_pack_section *section,
                                         const wg_adc_channel *c)
{
    uint32_t address =
        s->in_base + c->x * s->in_stride[0] + c->y * s->in_stride[1] + c->z * s->in_stride[2] + c->w * s->in_stride[3];
    unsigned shift = wg_pack_datum_shift(section->from_dst.in_format);
    uint32_t x_mask = (16u >> shift) - 1;
    return ((address >> shift & ~x_mask) + (c->x & x_mask) + section->dst_offset) & 0x3FFF;
}
/* Bit per stream that is written. */
static inline unsigned wg_pack_streams_of(const wg_pack_settings *set)
{
    return 1u << WG_STREAM_DATA | (unsigned)set->compress << WG_STREAM_ROWS |
           (unsigned)(set->out_format >> 1 & 1) << WG_STREAM_EXPONENTS;
}
/* Gives an address from the counters of channel 1 to streams that have none. */
void wg_pack_place_streams(wg_tile *t, const wg_pack_setup *s, const wg_pack_section *section, wg_pack_part *part,
                           unsigned packer, const wg_adc_channel *c);
/* Steps the counters that a PACR steps. */
void wg_pack_step_counters(wg_tile *t, const wg_pack_form *f);
static inline unsigned wg_pack_ones(unsigned mask) /* of four bits */
{
    return (unsigned)(UINT64_C(0x4332322132212110) >> 4 * (mask & 15) & 15);
}

/*
 * The thread's configuration, decoded (pack_setup.c). An instruction stalled at the gate only asks: what has been decoded
 * before is used again, or it is decoded into *own.
 */
const wg_pack_setup *wg_pack_ask_setup(const wg_tile *t, const wg_insn *insn, wg_pack_setup *own);
/*
 * An accepted instruction reads the configuration of the `sections` that it uses: writes in flight are reported, and touches
 * emitted while observed. The result stays in the unit until the next one reads.
 */
const wg_pack_setup *wg_pack_read_setup(wg_tile *t, const wg_insn *insn, unsigned sections);
/* Reports a field of the section that is set and has no effect here. */
void wg_pack_report_ignored(wg_tile *t, const wg_insn *insn, unsigned section);
/* How rows of Dst are permuted. */
static inline wg_dst_access wg_pack_access(const wg_tile *t, const wg_pack_setup *s)
{
    const wg_tile_reg *debug = &wg_tile_regs[t->arch->id][WG_REG_DEBUG_dbg_feature_disable];
    return (wg_dst_access){
        .remap = s->remap, .swizzle = s->swizzle, .wide16 = t->regions.control.word[debug->offset / 4] >> 11 & 1};
}

/* PACR: reads configuration and counters, steps the counters, and fills in the job (pack_address.c). */
void wg_pack_plan(wg_tile *t, wg_pack_job *job);

enum { WG_PACK_STAGES = 4 };
/* A finished job stays readable until its slot is reused. */
static inline wg_pack_job *wg_pack_new_job(wg_pack *u)
{
    unsigned slot = (unsigned)__builtin_ctz(~(unsigned)u->used);
    u->used = (uint16_t)(u->used | 1u << slot);
    u->order[u->count++] = (uint8_t)slot;
    return &u->job[slot];
}
static inline void wg_pack_end_job(wg_pack *u, unsigned at)
{
    u->used = (uint16_t)(u->used & ~(1u << u->order[at]));
    u->count--;
    for (unsigned i = at; i < u->count; i++)
        u->order[i] = u->order[i + 1];
}

/* The output side of a packer (pack_stream.c). */
typedef struct wg_pack_output {
    wg_tile *t;
    wg_packer *p;
    unsigned packer;
    const wg_insn *insn;
} wg_pack_output;
/* Moves PACR's datums from Dst to L1 (pack_move.c). */
void wg_pack_move(wg_tile *t, const wg_pack_job *job, unsigned packer);
/* Ends a tile or a flush: writes the buffers' contents. */
void wg_pack_end_tile(const wg_pack_output *out, unsigned thread, bool last, const wg_pack_settings *set);
/* Advances the tile position by `rows`. */
static inline void wg_pack_next_row(wg_packer *p, const wg_pack_settings *set, unsigned rows)
{
    uint8_t *inner = set->transposed ? &p->tile_z : &p->tile_y;
    uint8_t *outer = set->transposed ? &p->tile_y : &p->tile_z;
    *inner = (uint8_t)(*inner + rows);
    if (*inner == set->rows_per_plane) {
        *inner = 0;
        (*outer)++;
    }
}
/* Does the data differ in settings from the streams' contents, or start at a new address? */
static inline bool wg_pack_begins(const wg_packer *p, const wg_pack_part *part)
{
    return part->places || p->format != part->set.out_format || p->accumulates != part->set.accumulate ||
           p->compresses != part->set.compress || p->random_blocks != part->set.random_blocks;
}
/* Random bits for one row. */
void wg_pack_draw(wg_packer *p, uint32_t random[16]);
/* Sets new addresses, if the part has any. */
void wg_pack_begin(const wg_pack_output *o, const wg_pack_part *part);
/* Appends datums after the late conversion. */
void wg_pack_put(const wg_pack_output *o, unsigned count, const uint32_t value[16]);
/* `bytes` of data, whole lines, have been written at the end of the data stream; `rows` exponents belong to them. */
void wg_pack_wrote(const wg_pack_output *o, uint32_t bytes, unsigned rows, const uint8_t *exponents);
/* Ends a row of compressed data. */
void wg_pack_end_row(const wg_pack_output *o, bool zero_flags);
/* Writes the buffers' contents, padded with zeros. */
void wg_pack_flush(const wg_pack_output *o);

#endif
