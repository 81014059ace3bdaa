/* SPDX-License-Identifier: Apache-2.0 */
/* What the packers' files share. */
#ifndef WG_PACK_INTERNAL_H
#define WG_PACK_INTERNAL_H

#include "backend/config.h"
#include "backend/pack.h"
#include "isa/tile_regs.h"

/* The packers an instruction is for; 0 is none of the documented masks and never returned. */
static inline unsigned wg_pack_mask(const wg_tile *t, const wg_insn *insn)
{
    unsigned mask = insn->word >> 8 & 15;
    return t->arch->pack.interfaces || !mask ? 1 : mask;
}

/* The first cycle in which the rows of Dst that the packer would read can be read; 0: any. The block that is last. */
uint64_t wg_pack_rows_ready(wg_tile *t, const wg_insn *insn, unsigned packer, unsigned *block);
/* The same for BH's usual PACR; false: it is none. */
bool wg_pack_is_usual(wg_tile *t, const wg_insn *insn, uint64_t *ready, unsigned *block);
static inline unsigned wg_pack_ones(unsigned mask) /* of four bits */
{
    return (unsigned)(UINT64_C(0x4332322132212110) >> 4 * (mask & 15) & 15);
}

/* The thread's configuration, decoded; `sections` are the ones that an instruction uses (pack_setup.c). */
const wg_pack_setup *wg_pack_decode_setup(wg_tile *t, const wg_insn *insn, unsigned sections, bool touch);
static inline const wg_pack_setup *wg_pack_setup_of(wg_tile *t, const wg_insn *insn, unsigned sections)
{
    const wg_pack_setup *s = &t->backend.pack.setup[wg_config_bank(t, insn->thread)];
    if (__builtin_expect(s->changes == t->regs.config.changes + 1 && !t->backend.config.instructions, 1))
        return s;
    return wg_pack_decode_setup(t, insn, sections, false);
}
/* A field of the section is set that has no effect here: says which. */
void wg_pack_report_ignored(wg_tile *t, const wg_insn *insn, unsigned section);
/* How rows of Dst are permuted. */
static inline wg_dst_access wg_pack_access(const wg_tile *t, const wg_pack_setup *s)
{
    const wg_tile_reg *debug = &wg_tile_regs[t->arch->id][WG_REG_DEBUG_dbg_feature_disable];
    return (wg_dst_access){
        .remap = s->remap, .swizzle = s->swizzle, .wide16 = t->regions.control.word[debug->offset / 4] >> 11 & 1};
}

/* PACR: reads configuration and counters, moves the counters on, and fills the job (pack_address.c). */
void wg_pack_plan(wg_tile *t, wg_pack_job *job);

/* PACR's datums, out of Dst and into L1 (pack_move.c). */
void wg_pack_move(wg_tile *t, const wg_pack_job *job, unsigned packer);
/* Random bits for one row. */
void wg_pack_draw(wg_packer *p, uint32_t random[16]);
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
/* `bytes` of data have been put where the data stream goes on, whole lines; `rows` exponents come after them. */
void wg_pack_wrote(const wg_pack_output *o, uint32_t bytes, unsigned rows, const uint8_t *exponents);
/* Ends a row of compressed data. */
void wg_pack_end_row(const wg_pack_output *o, bool zero_flags);
/* Writes what the buffers hold, padded with zeros. */
void wg_pack_flush(const wg_pack_output *o);

#endif
