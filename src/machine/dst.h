/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dst: 1024 rows of 16 columns of 16 bits, which can also be seen as 512 rows of 32 bits.
 *
 *      32-bit row r:   high halves in stored row Adj32(r), low halves in stored row Adj32(r) + 8
 *
 *      stored rows   0…7   high halves of 32-bit rows 0…7
 *                    8…15  low halves of 32-bit rows 0…7
 *                   16…23  high halves of 32-bit rows 8…15     and so on
 *
 * On BH two configuration bits permute the rows: remap_addrs (both views) and swizzle_32b (32-bit view).
 * With bit 11 of RISCV_DEBUG_REG_DBG_FEATURE_DISABLE set (`wide16`), the 16-bit view shows the high
 * halves of the 32-bit view instead.
 *
 * ZEROACC marks rows undefined; packers and the Matrix Unit then read the identity of their operation, and
 * a write makes the row defined again. There is one mark per stored row; a 32-bit row uses that of its
 * high halves (ruling: ttsim; the documents mark "the row").
 *
 * "Stored row" below is an index into bits[]; "row" is the ten-bit number that an instruction computes.
 * Facts: Dst.md of both trees, ZEROACC.md.
 */
#ifndef WG_DST_H
#define WG_DST_H

#include <stdbool.h>
#include <stdint.h>

struct wg_tile;

enum { WG_DST_ROWS = 1024, WG_DST_COLUMNS = 16, WG_DST_BLOCKS = WG_DST_ROWS / 8, WG_DST_LOW = 8 };

typedef struct wg_dst {
    uint16_t bits[WG_DST_ROWS][16];
    uint64_t undefined[WG_DST_ROWS / 64]; /* rows marked as reading zero by ZEROACC: DstRowValid inverted */
} wg_dst;

/* The present permutation of rows. Bit-fields, so that it fits a host register. */
typedef struct wg_dst_access {
    bool remap : 1, swizzle : 1, wide16 : 1;
} wg_dst_access;
wg_dst_access wg_dst_access_now(const struct wg_tile *t);

static inline unsigned wg_dst_adj16(wg_dst_access a, unsigned row)
{
    row &= WG_DST_ROWS - 1;
    if (a.remap) /* bit 3 moves above bits 5 and 4 */
        row = (row & 0x3C7) | (row & 0x030) >> 1 | (row & 0x008) << 2;
    return row;
}
/* The stored row with the high halves of a 32-bit row; the low halves are WG_DST_LOW rows further. */
static inline unsigned wg_dst_adj32(wg_dst_access a, unsigned row)
{
    row = wg_dst_adj16(a, row);
    if (a.swizzle)
        row = (row & 0x3F3) ^ (row & 0x018) >> 1 ^ (row & 0x004) << 1;
    return (row & 0x1F8) << 1 | (row & 0x207);
}
/* The stored row behind a row of the 16-bit view, or with the high halves behind one of the 32-bit view. */
static inline unsigned wg_dst_stored16(wg_dst_access a, unsigned row)
{
    return a.wide16 ? wg_dst_adj32(a, row) : wg_dst_adj16(a, row);
}
static inline unsigned wg_dst_stored(wg_dst_access a, unsigned row, bool wide)
{
    return wide ? wg_dst_adj32(a, row) : wg_dst_stored16(a, row);
}

static inline bool wg_dst_is_undefined(const wg_dst *d, unsigned stored)
{
    return d->undefined[stored >> 6 & 15] >> (stored & 63) & 1;
}
static inline void wg_dst_define(wg_dst *d, unsigned stored)
{
    d->undefined[stored >> 6 & 15] &= ~(UINT64_C(1) << (stored & 63));
}
static inline void wg_dst_undefine(wg_dst *d, unsigned stored)
{
    d->undefined[stored >> 6 & 15] |= UINT64_C(1) << (stored & 63);
}

/* Single datums; an undefined row reads as `identity` repeated (0, or all ones for a maximum). */
static inline uint16_t wg_dst_read16(const wg_dst *d, wg_dst_access a, unsigned row, unsigned column, uint16_t identity)
{
    unsigned stored = wg_dst_stored16(a, row);
    return wg_dst_is_undefined(d, stored) ? identity : d->bits[stored][column & 15];
}
static inline uint32_t wg_dst_read32(const wg_dst *d, wg_dst_access a, unsigned row, unsigned column, uint32_t identity)
{
    unsigned stored = wg_dst_adj32(a, row);
    if (wg_dst_is_undefined(d, stored))
        return identity;
    return (uint32_t)d->bits[stored][column & 15] << 16 | d->bits[stored + WG_DST_LOW][column & 15];
}
/* Decided here: under wide16 a 16-bit write leaves the low halves alone; the documents say "generally garbage". */
static inline void wg_dst_write16(wg_dst *d, wg_dst_access a, unsigned row, unsigned column, uint16_t value)
{
    unsigned stored = wg_dst_stored16(a, row);
    d->bits[stored][column & 15] = value;
    wg_dst_define(d, stored);
}
static inline void wg_dst_write32(wg_dst *d, wg_dst_access a, unsigned row, unsigned column, uint32_t value)
{
    unsigned stored = wg_dst_adj32(a, row);
    d->bits[stored][column & 15] = (uint16_t)(value >> 16);
    d->bits[stored + WG_DST_LOW][column & 15] = (uint16_t)value;
    wg_dst_define(d, stored);
}

/* The 32-bit view for debuggers: Dst layout, whatever the rows' marks. */
uint32_t wg_dst_peek32(const struct wg_tile *t, unsigned row, unsigned column);
void wg_dst_poke32(struct wg_tile *t, unsigned row, unsigned column, uint32_t value);

/*
 * The T cores' window onto Dst (BH). `offset` is from the window's start, `bytes` 1, 2, 4, 8 or 16, both
 * aligned to each other; data little-endian. The thread's RISC_DEST_ACCESS_CTRL_SEC gives the format.
 * False if the access is not documented to work (wrong width for the format, several datums at once
 * from T0 or T1, a reserved format): the caller reports it. The access is still performed, datum by datum.
 */
bool wg_dst_riscv_read(const struct wg_tile *t, unsigned thread, uint32_t offset, unsigned bytes, uint32_t value[4]);
/* The stored row behind an offset of the window; *wide: and the one with the low halves. */
unsigned wg_dst_window_row(const struct wg_tile *t, unsigned thread, uint32_t offset, bool *wide);
bool wg_dst_riscv_write(struct wg_tile *t, unsigned thread, uint32_t offset, unsigned bytes, const uint32_t value[4]);

#endif
