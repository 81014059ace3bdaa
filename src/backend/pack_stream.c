/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bottom of a packer: turns datums into bytes, and bytes into lines of 16, which go to L1.
 *
 *     datums ─┬─ BFP: blocks of 16 ── shared exponent ──> exponent stream
 *             │                  └── magnitudes ──┐
 *             └───────────────────────────────────┴──> data stream        each stream: a buffer of 16 bytes, an address
 *
 * Compression, if enabled, comes first: each datum carries the number of zeros (at most 15) that follow it and are omitted;
 * the first and the last datum of a row are never omitted. After 32 datums come their 32 counters of four bits; a third
 * stream holds the number of datums before each row, and finally the total.
 *
 * Stochastic rounding: the pages speak of generators, of their seed (BackendConfiguration.md) and reset, and of the
 * bias of the comparison, which is that of the Vector Unit's. Decided here: they are the Vector Unit's, one per column
 * of a packer, stepped by each row that is rounded and by each block; seeded like lanes 0 to 15.
 *
 * Facts: OutputAddressGenerator.md, Compression.md, FormatConversion.md, L1.md. Decided here: as many zeros as fit are
 * omitted (the exact logic is not specified); a datum is zero if all its bits are; the size of a tile, in lines, runs from
 * its first stream to the end of its data; a BFP block that is not full when it is flushed is filled with zeros.
 */
#include <string.h>

#include "backend/insn_finding.h"
#include "backend/pack_internal.h"
#include "num/l1_formats.h"
#include "report/touch.h"
#include "machine/l1.h"

/* ---- Lines --------------------------------------------------------------------------------------------------- */

static void write_lines(const wg_pack_output *o, uint32_t address, uint32_t bytes, const uint8_t *from)
{
    if (__builtin_expect(!wg_l1_holds(o->t->spec->l1_bytes, address, bytes), 0))
        wg_find_insn(o->t, WG_F_PACK_ADDRESS, o->insn, address, o->packer);
    if (wg_touch_l1_watched(o->t))
        wg_touch_emit(o->t, WG_TOUCH_WRITE, WG_TOUCH_L1, address, bytes, o->packer);
    wg_l1_write(o->t, (wg_l1_client)(WG_L1_PACK0 + o->packer), address, bytes, from);
}

static void write_stream(const wg_pack_output *o, wg_pack_stream_id stream, uint32_t bytes, const uint8_t *from)
{
    wg_pack_stream *s = &o->p->stream[stream];
    if (o->p->accumulates && stream == WG_STREAM_DATA) {
        for (uint32_t i = 0; i < bytes; i += 16) {
            uint8_t line[16];
            if (wg_touch_l1_watched(o->t))
                wg_touch_emit(o->t, WG_TOUCH_READ, WG_TOUCH_L1, s->address + i, 16, o->packer);
            wg_l1_read(o->t, s->address + i, 16, line);
            wg_pack_accumulate(o->p->format, line, from + i);
            write_lines(o, s->address + i, 16, line);
        }
    } else {
        write_lines(o, s->address, bytes, from);
    }
    s->address = (s->address + bytes) & 0x1FFFFF;
}

static void put_bytes(const wg_pack_output *o, wg_pack_stream_id stream, uint32_t bytes, const uint8_t *from)
{
    wg_pack_stream *s = &o->p->stream[stream];
    if (s->fill == 0 && bytes >= 16) {
        write_stream(o, stream, bytes & ~15u, from);
        from += bytes & ~15u;
        bytes &= 15;
    }
    while (bytes) {
        uint32_t n = 16u - s->fill < bytes ? 16u - s->fill : bytes;
        memcpy(s->bytes + s->fill, from, n);
        s->fill = (uint8_t)(s->fill + n);
        from += n;
        bytes -= n;
        if (s->fill == 16) {
            s->fill = 0;
            write_stream(o, stream, 16, s->bytes);
        }
    }
}

static void flush_stream(const wg_pack_output *o, wg_pack_stream_id stream)
{
    static const uint8_t zeros[16];
    if (o->p->stream[stream].fill)
        put_bytes(o, stream, 16u - o->p->stream[stream].fill, zeros);
}

/* ---- Random bits ----------------------------------------------------------------------------------------------- */

void wg_pack_draw(wg_packer *p, uint32_t random[16])
{
    for (unsigned i = 0; i < 16; i++) {
        random[i] = p->prng[i];
        p->prng[i] = wg_prng_step(random[i]);
    }
}

void wg_pack_seed(wg_tile *t, uint32_t seed)
{
    wg_lreg lanes;
    wg_lreg_seed(&lanes, seed);
    for (unsigned i = 0; i < WG_PACKERS; i++)
        for (unsigned column = 0; column < 16; column++)
            t->backend.pack.packer[i].prng[column] = lanes.prng[column];
}

void wg_pack_reset_random(wg_tile *t)
{
    for (unsigned i = 0; i < WG_PACKERS; i++)
        memset(t->backend.pack.packer[i].prng, 0, sizeof t->backend.pack.packer[i].prng);
}

/* ---- Datums -------------------------------------------------------------------------------------------------- */

static void put_block(const wg_pack_output *o)
{
    wg_packer *p = o->p;
    unsigned bits = wg_l1_bits(p->format);
    uint8_t datum[16], bytes[16];
    uint32_t random[16];
    if (p->random_blocks)
        wg_pack_draw(p, random);
    uint8_t exponent =
        wg_bfp_block(p->block, wg_pack_mid_of(p->format) == WG_MID_F5, p->random_blocks ? random : NULL, datum);
    put_bytes(o, WG_STREAM_EXPONENTS, 1, &exponent);
    p->block_fill = 0;
    if (bits < 8) {
        uint32_t narrow[16];
        for (unsigned i = 0; i < 16; i++)
            narrow[i] = wg_bfp_narrow(datum[i], bits);
        wg_l1_put_row(bits, narrow, bytes);
        put_bytes(o, WG_STREAM_DATA, 2 * bits, bytes);
    } else {
        put_bytes(o, WG_STREAM_DATA, 16, datum);
    }
}

static void put_datums(const wg_pack_output *o, unsigned count, const uint32_t value[16])
{
    wg_packer *p = o->p;
    unsigned size = wg_l1_bits(p->format) / 8;
    if (wg_l1_shares_exponent(p->format)) {
        if (p->block_fill == 0 && count == 16) {
            for (unsigned i = 0; i < 16; i++)
                p->block[i] = (uint16_t)value[i];
            put_block(o);
            return;
        }
        for (unsigned i = 0; i < count; i++) {
            p->block[p->block_fill++ & 15] = (uint16_t)value[i];
            if (p->block_fill == 16)
                put_block(o);
        }
        return;
    }
    uint8_t bytes[64];
    if (size == 4) {
        memcpy(bytes, value, sizeof bytes);
    } else if (size == 2) {
        uint16_t halves[16];
        for (unsigned i = 0; i < 16; i++)
            halves[i] = (uint16_t)value[i];
        memcpy(bytes, halves, sizeof halves);
    } else {
        for (unsigned i = 0; i < 16; i++)
            bytes[i] = (uint8_t)value[i];
    }
    put_bytes(o, WG_STREAM_DATA, count * size, bytes);
}

/* ---- Compression --------------------------------------------------------------------------------------------- */

static void put_counters(const wg_pack_output *o)
{
    put_bytes(o, WG_STREAM_DATA, 16, o->p->counters);
    memset(o->p->counters, 0, sizeof o->p->counters);
    o->p->group_fill = 0;
}

static void put_augmented(const wg_pack_output *o, uint32_t value, unsigned zeros)
{
    wg_packer *p = o->p;
    uint32_t one[16] = {value};
    put_datums(o, 1, one);
    p->counters[p->group_fill / 2 & 15] |= (uint8_t)(zeros << p->group_fill % 2 * 4);
    p->group_fill++;
    p->augmented++;
    if (p->group_fill == 32)
        put_counters(o);
}

/* Settles `last_value` when another datum of the row follows. */
static void settle_last(const wg_pack_output *o)
{
    wg_packer *p = o->p;
    if (!p->has_last)
        return;
    p->has_last = false;
    if (!p->last_value && p->zeros < 15) {
        p->zeros++;
        return;
    }
    put_augmented(o, p->value, p->zeros);
    p->value = p->last_value;
    p->zeros = 0;
}

static void compress(const wg_pack_output *o, uint32_t value)
{
    wg_packer *p = o->p;
    if (!p->row_open) {
        p->row_open = true;
        p->row_is_zero = true;
        p->value = value;
        p->zeros = 0;
    } else {
        settle_last(o);
        p->last_value = value;
        p->has_last = true;
    }
    p->row_is_zero &= value == 0;
}

void wg_pack_end_row(const wg_pack_output *o, bool zero_flags)
{
    wg_packer *p = o->p;
    if (!p->row_open)
        return;
    put_augmented(o, p->value, p->zeros);
    if (p->has_last)
        put_augmented(o, p->last_value, 0);
    p->has_last = p->row_open = false;
    uint8_t index[2] = {(uint8_t)p->augmented, (uint8_t)(p->augmented >> 8)};
    put_bytes(o, WG_STREAM_ROWS, 2, index);
    if (zero_flags && p->row_is_zero && p->row < 32)
        p->zero_flags |= UINT32_C(1) << p->row;
    p->row = (uint8_t)(p->row < 255 ? p->row + 1 : 255);
}

/* ---- The interface ------------------------------------------------------------------------------------------- */

void wg_pack_begin(const wg_pack_output *o, const wg_pack_part *part)
{
    wg_packer *p = o->p;
    p->format = part->set.out_format;
    p->accumulates = part->set.accumulate;
    p->random_blocks = part->set.random_blocks;
    p->compresses = part->set.compress;
    for (unsigned i = 0; i < WG_PACK_STREAMS; i++)
        if (part->places >> i & 1)
            p->stream[i].address = part->address[i];
    if (!(part->places >> WG_STREAM_DATA & 1))
        return;
    p->tile_start = part->address[(unsigned)__builtin_ctz(part->places)];
    p->datums = 0;
    p->augmented = 0;
    p->row = 0;
    p->zero_flags = 0;
    if (part->set.compress)
        put_bytes(o, WG_STREAM_ROWS, 2, (const uint8_t[2]){0});
}

void wg_pack_put(const wg_pack_output *o, unsigned count, const uint32_t value[16])
{
    o->p->datums += count;
    if (!o->p->compresses) {
        put_datums(o, count, value);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        compress(o, value[i]);
}

void wg_pack_wrote(const wg_pack_output *o, uint32_t bytes, unsigned rows, const uint8_t *exponents)
{
    wg_pack_stream *s = &o->p->stream[WG_STREAM_DATA];
    wg_l1_wrote(o->t, (wg_l1_client)(WG_L1_PACK0 + o->packer), s->address, bytes);
    s->address = (s->address + bytes) & 0x1FFFFF;
    if (rows)
        put_bytes(o, WG_STREAM_EXPONENTS, rows, exponents);
}

void wg_pack_flush(const wg_pack_output *o)
{
    wg_packer *p = o->p;
    if (p->block_fill) {
        memset(p->block + p->block_fill, 0, sizeof p->block - p->block_fill * sizeof *p->block);
        put_block(o);
    }
    if (p->group_fill) { /* the group's missing datums, then its counters */
        static const uint8_t zeros[128];
        unsigned bits = wg_l1_bits(p->format), there = p->group_fill;
        if (wg_l1_shares_exponent(p->format))
            there = (there + 15) & ~15u;
        put_bytes(o, WG_STREAM_DATA, (32 - there) * bits / 8, zeros);
        put_counters(o);
    }
    for (unsigned i = 0; i < WG_PACK_STREAMS; i++)
        flush_stream(o, (wg_pack_stream_id)i);
}
