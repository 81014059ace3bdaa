/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dst: row permutation in force, debug view, and the window of the T cores.
 * Facts: BlackholeA0 Dst.md ("RISCV access to Dst").
 */
#include "machine/dst.h"

#include <string.h>

#include "isa/config_fields.h"
#include "isa/tile_regs.h"
#include "num/formats.h"
#include "machine/tile.h"

wg_dst_access wg_dst_access_now(const wg_tile *t)
{
    /* DEST_ACCESS_CFG is global configuration: bank 0 holds it. */
    const uint32_t *words = t->regs.config.bank[0];
    const wg_tile_reg *debug = &wg_tile_regs[t->arch->id][WG_REG_DEBUG_dbg_feature_disable];
    return (wg_dst_access){
        .remap = wg_cfg_get(t->arch->id, WG_CFG_DEST_ACCESS_CFG_remap_addrs, words),
        .swizzle = wg_cfg_get(t->arch->id, WG_CFG_DEST_ACCESS_CFG_swizzle_32b, words),
        .wide16 = t->regions.control.word[debug->offset / 4] >> 11 & 1,
    };
}

uint32_t wg_dst_peek32(const wg_tile *t, unsigned row, unsigned column)
{
    unsigned stored = wg_dst_adj32(wg_dst_access_now(t), row);
    const wg_dst *d = &t->regs.dst;
    return (uint32_t)d->bits[stored][column & 15] << 16 | d->bits[stored + WG_DST_LOW][column & 15];
}

void wg_dst_poke32(wg_tile *t, unsigned row, unsigned column, uint32_t value)
{
    wg_dst_write32(&t->regs.dst, wg_dst_access_now(t), row, column, value);
}

enum { FORMAT_FLOAT32, FORMAT_INT32, FORMAT_FP16, FORMAT_BF16, FORMAT_INT16, FORMAT_INT8, FORMATS };
static const uint8_t datum_bytes[8] = {4, 4, 2, 2, 2, 1, 4, 4};

typedef struct window {
    wg_dst_access access;
    bool no_swizzle, unsigned_int;
    unsigned format;
} window;

static window window_of(const wg_tile *t, unsigned thread)
{
    static const wg_cfg_id fields[3][3] = {
        {WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_no_swizzle, WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_unsigned_int,
         WG_CFG_RISC_DEST_ACCESS_CTRL_SEC0_fmt},
        {WG_CFG_RISC_DEST_ACCESS_CTRL_SEC1_no_swizzle, WG_CFG_RISC_DEST_ACCESS_CTRL_SEC1_unsigned_int,
         WG_CFG_RISC_DEST_ACCESS_CTRL_SEC1_fmt},
        {WG_CFG_RISC_DEST_ACCESS_CTRL_SEC2_no_swizzle, WG_CFG_RISC_DEST_ACCESS_CTRL_SEC2_unsigned_int,
         WG_CFG_RISC_DEST_ACCESS_CTRL_SEC2_fmt},
    };
    wg_arch_id arch = t->arch->id;
    unsigned state = wg_tcfg_get(arch, WG_TCFG_CFG_STATE_ID_StateID, t->regs.config.thread[thread]);
    const uint32_t *words = t->regs.config.bank[state];
    return (window){
        .access = wg_dst_access_now(t),
        .no_swizzle = wg_cfg_get(arch, fields[thread][0], words),
        .unsigned_int = wg_cfg_get(arch, fields[thread][1], words),
        .format = wg_cfg_get(arch, fields[thread][2], words),
    };
}

/* A datum as the core sees it, from Dst's layout. */
static uint32_t to_core(const window *w, uint32_t x)
{
    switch (w->format) {
    case FORMAT_INT32:
        if (w->no_swizzle)
            return x;
        x = wg_dst32_to_fp32(x);
        return x >> 31 ? 0u - (x & 0x7FFFFFFF) : x;
    case FORMAT_FP16: return w->no_swizzle ? x : wg_dst16_to_fp16((uint16_t)x);
    case FORMAT_BF16: return w->no_swizzle ? x : wg_dst16_to_bf16((uint16_t)x);
    case FORMAT_INT16: return w->no_swizzle || w->unsigned_int || x < 0x8000 ? x : (uint16_t)(0u - (x & 0x7FFF));
    case FORMAT_INT8:
        if (w->no_swizzle || w->unsigned_int)
            return x >> 5 & 0xFF;
        return x & 0x8000 ? (uint8_t)(0u - (x >> 5 & 0x7F)) : x >> 5 & 0x7F;
    default: return w->no_swizzle ? x : wg_dst32_to_fp32(x);
    }
}

/* A datum in Dst's layout, from the core's store. */
static uint32_t from_core(const window *w, uint32_t x)
{
    switch (w->format) {
    case FORMAT_INT32:
        if (w->no_swizzle)
            return x;
        if (x >> 31) /* -2^31 becomes -(2^31 - 1) */
            x = UINT32_C(0x80000000) | (0u - (x + (x == UINT32_C(0x80000000))));
        return wg_dst32_from_fp32(x);
    case FORMAT_FP16: return w->no_swizzle ? x : wg_dst16_from_fp16((uint16_t)x);
    case FORMAT_BF16: return w->no_swizzle ? x : wg_dst16_from_bf16((uint16_t)x);
    case FORMAT_INT16:
        if (w->no_swizzle || w->unsigned_int || x < 0x8000)
            return x;
        return 0x8000 | (uint16_t)(0u - (x + (x == 0x8000)));
    case FORMAT_INT8:
        if (w->no_swizzle || w->unsigned_int || x < 0x80)
            return x << 5 | (x ? 16 : 0);
        /* Meant to turn two's complement into sign and magnitude; hardware leaves bit 7 of 0x180 - x set. */
        return 0x8000 | ((0x180 - x - (x == 0x80)) & 0xFF) << 5 | 16;
    default: return w->no_swizzle ? x : wg_dst32_from_fp32(x);
    }
}

/*
 * Decided here: T0 and T1 accesses of another width than the format's, which "will generally misbehave",
 * and the reserved formats (treated as format 0) are processed datum by datum as on T2; part of a datum is that part of the
 * converted datum.
 */
static bool documented(const window *w, unsigned thread, unsigned bytes)
{
    unsigned datum = datum_bytes[w->format];
    return w->format < FORMATS && (bytes == datum || (thread == 2 && bytes > datum));
}

/* The window holds 32 KiB of datums; an INT8 window has half as many bytes as Dst and ends in the middle. */
static uint32_t read_datum(const wg_tile *t, const window *w, uint32_t index)
{
    /* Decided here: the window shows the stored bits, even of rows marked undefined. */
    const wg_dst *d = &t->regs.dst;
    unsigned row = index / 16 & (WG_DST_ROWS - 1), column = index % 16;
    bool wide = datum_bytes[w->format] == 4;
    unsigned stored = wg_dst_stored(w->access, row, wide);
    uint32_t x = d->bits[stored][column];
    return to_core(w, wide ? x << 16 | d->bits[stored + WG_DST_LOW][column] : x);
}

static void write_datum(wg_tile *t, const window *w, uint32_t index, uint32_t x)
{
    unsigned row = index / 16 & (WG_DST_ROWS - 1), column = index % 16;
    x = from_core(w, x);
    if (datum_bytes[w->format] == 4)
        wg_dst_write32(&t->regs.dst, w->access, row, column, x);
    else
        wg_dst_write16(&t->regs.dst, w->access, row, column, (uint16_t)x);
}

unsigned wg_dst_window_row(const wg_tile *t, unsigned thread, uint32_t offset, bool *wide)
{
    window w = window_of(t, thread % WG_THREADS);
    *wide = datum_bytes[w.format] == 4;
    return wg_dst_stored(w.access, (offset & 0x7FFF) / datum_bytes[w.format] / 16 & (WG_DST_ROWS - 1), *wide);
}

bool wg_dst_riscv_read(const wg_tile *t, unsigned thread, uint32_t offset, unsigned bytes, uint32_t value[4])
{
    thread %= WG_THREADS;
    bytes = bytes > 16 ? 16 : bytes;
    offset &= 0x7FFF;
    window w = window_of(t, thread);
    unsigned datum = datum_bytes[w.format];
    uint8_t out[16] = {0};
    for (unsigned i = 0; i < bytes; i++) {
        uint32_t x = read_datum(t, &w, (offset + i) / datum);
        out[i] = (uint8_t)(x >> 8 * ((offset + i) % datum));
    }
    memcpy(value, out, sizeof out);
    return documented(&w, thread, bytes);
}

bool wg_dst_riscv_write(wg_tile *t, unsigned thread, uint32_t offset, unsigned bytes, const uint32_t value[4])
{
    thread %= WG_THREADS;
    bytes = bytes > 16 ? 16 : bytes;
    offset &= 0x7FFF;
    window w = window_of(t, thread);
    unsigned datum = datum_bytes[w.format];
    const uint8_t *in = (const uint8_t *)value;
    for (unsigned i = 0; i < bytes;) {
        unsigned part = (offset + i) % datum, count = datum - part < bytes - i ? datum - part : bytes - i;
        uint32_t index = (offset + i) / datum, x = count < datum ? read_datum(t, &w, index) : 0;
        for (unsigned j = 0; j < count; j++)
            x = (x & ~(UINT32_C(0xFF) << 8 * (part + j))) | (uint32_t)in[i + j] << 8 * (part + j);
        write_datum(t, &w, index, x);
        i += count;
    }
    return documented(&w, thread, bytes);
}
