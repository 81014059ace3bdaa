/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floorplans of both architectures; see floorplan.h.
 *
 *     D DRAM   E Ethernet   T Tensix   P PCI Express   A ARC   C L2CPU   S security   . only a router
 *
 * Facts: README.md, NoC/Coordinates.md and the NoC diagrams of each architecture. The numbering of DRAM tiles (BH) is that of
 * the card's public firmware (tt-zephyr-platforms, noc_init.c): with all DRAM present, the left column counts first.
 */
#include "noc/floorplan.h"

#include <string.h>

static const wg_floorplan plans[2] = {
    [WG_ARCH_BH] =
        {
            .arch = WG_ARCH_BH,
            .width = 17,
            .height = 12,
            .dram_channels = 8,
            .dram_halves = 1,
            .dram_bytes = UINT64_C(4) << 30,
            .kind = {"D.P.....AD.P.....", "DEEEEEEE.DEEEEEEE", "DTTTTTTTSDTTTTTTT", "DTTTTTTTCDTTTTTTT",
                     "DTTTTTTT.DTTTTTTT", "DTTTTTTTCDTTTTTTT", "DTTTTTTT.DTTTTTTT", "DTTTTTTTCDTTTTTTT",
                     "DTTTTTTT.DTTTTTTT", "DTTTTTTTCDTTTTTTT", "DTTTTTTT.DTTTTTTT", "DTTTTTTT.DTTTTTTT"},
            .index = {"0.0.....04.1.....", "002468ac.4db97531", "1.......05.......", "1.......05.......",
                      "2........6.......", "3.......27.......", "3........7.......", "3.......37.......",
                      "2........6.......", "2.......16.......", "1........5.......", "0........4......."},
        },
    [WG_ARCH_WH] =
        {
            .arch = WG_ARCH_WH,
            .harvests_rows = true,
            .raw_entries = 16,
            .width = 10,
            .height = 12,
            .dram_channels = 6,
            .dram_halves = 2,
            .dram_bytes = UINT64_C(2) << 30,
            .kind = {"DEEEEDEEEE", "DTTTTDTTTT", ".TTTTDTTTT", "PTTTTDTTTT", ".TTTTDTTTT", "DTTTTDTTTT", "DEEEEDEEEE",
                     "DTTTTDTTTT", ".TTTTDTTTT", ".TTTTDTTTT", "ATTTTDTTTT", "DTTTTDTTTT"},
            .index = {"0135726420", "0....2....", ".....3....", "0....4....", ".....4....", "1....5....", "19bdf5eca8",
                      "1....5....", ".....4....", ".....3....", "0....3....", "0....2...."},
        },
};

const wg_floorplan *wg_floorplan_of(wg_arch_id arch) { return &plans[arch]; }

static wg_tile_kind kind_of(char letter)
{
    switch (letter) {
    case 'D': return WG_TILE_DRAM;
    case 'E': return WG_TILE_ETH;
    case 'T': return WG_TILE_TENSIX;
    case 'P': return WG_TILE_PCIE;
    case 'A': return WG_TILE_ARC;
    case 'C': return WG_TILE_L2CPU;
    case 'S': return WG_TILE_SECURITY;
    default: return WG_TILE_ROUTER;
    }
}

static bool harvested_at(const wg_floorplan *f, uint32_t harvested, unsigned x, unsigned y)
{
    return harvested >> (f->harvests_rows ? y : x) & 1;
}

wg_tile_kind wg_floorplan_kind(const wg_floorplan *f, uint32_t harvested, unsigned x, unsigned y)
{
    if (x >= f->width || y >= f->height)
        return WG_TILE_NONE;
    wg_tile_kind kind = kind_of(f->kind[y][x]);
    return kind == WG_TILE_TENSIX && harvested_at(f, harvested, x, y) ? WG_TILE_HARVESTED : kind;
}

unsigned wg_floorplan_index(const wg_floorplan *f, unsigned x, unsigned y)
{
    if (x >= f->width || y >= f->height)
        return 0;
    if (f->kind[y][x] == 'T') {
        unsigned before = 0;
        for (unsigned j = 0; j <= y; j++)
            for (unsigned i = 0; i < (j < y ? f->width : x); i++)
                before += f->kind[j][i] == 'T';
        return before;
    }
    char digit = f->index[y][x];
    return digit >= 'a' ? (unsigned)(digit - 'a' + 10) : digit >= '0' ? (unsigned)(digit - '0') : 0;
}

/* NoC 0 coordinates of the tile with this kind and index. */
static void find(const wg_floorplan *f, char letter, unsigned index, uint8_t *x, uint8_t *y)
{
    for (uint8_t j = 0; j < f->height; j++)
        for (uint8_t i = 0; i < f->width; i++)
            if (f->kind[j][i] == letter && wg_floorplan_index(f, i, j) == index) {
                *x = i;
                *y = j;
                return;
            }
}

/* Columns or rows with Tensix tiles, in order; harvested ones come last. */
static unsigned tensix_lines(const wg_floorplan *f, bool rows, uint32_t harvested, uint8_t out[WG_GRID_MAX_WIDTH])
{
    unsigned n = 0, size = rows ? f->height : f->width;
    for (unsigned gone = 0; gone < 2; gone++)
        for (unsigned i = 0; i < size; i++) {
            bool has = false;
            for (unsigned j = 0; j < (rows ? f->width : f->height); j++)
                has |= f->kind[rows ? i : j][rows ? j : i] == 'T';
            if (has && (harvested >> i & 1) == gone)
                out[n++] = (uint8_t)i;
        }
    return n;
}

uint32_t wg_floorplan_harvest(const wg_floorplan *f, uint64_t nth)
{
    uint8_t lines[WG_GRID_MAX_WIDTH];
    const unsigned n = tensix_lines(f, f->harvests_rows, 0, lines);
    uint32_t harvested = 0;
    for (unsigned i = 0; i < n && nth >> n == 0; i++)
        harvested |= (uint32_t)(nth >> i & 1) << lines[i];
    return harvested;
}

static void translation_bh(const wg_floorplan *f, uint32_t harvested, wg_translation *t)
{
    static const uint8_t dram_rows[12] = {0, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6};
    uint8_t columns[WG_GRID_MAX_WIDTH], unused;
    unsigned n = tensix_lines(f, false, harvested, columns), at = 0;
    for (uint8_t x = 0; x < 17; x++)
        t->x[x] = f->kind[2][x] == 'T' && at < n ? columns[at++] : x;
    t->x[17] = 0;
    t->x[18] = 9;
    find(f, 'P', 0, &t->x[19], &t->y[24]);
    for (unsigned i = 0; i < 12; i++) {
        t->y[i] = (uint8_t)i;
        t->y[12 + i] = dram_rows[i];
        find(f, 'E', i, &t->x[20 + i], &t->y[25]);
    }
    for (unsigned i = 0; i < 4; i++)
        find(f, 'C', i, &unused, &t->y[26 + i]);
    find(f, 'S', 0, &unused, &t->y[30]);
    t->raw_rows = 3;
}

static void translation_wh(const wg_floorplan *f, uint32_t harvested, wg_translation *t)
{
    uint8_t lines[WG_GRID_MAX_WIDTH];
    for (uint8_t i = 0; i < 16; i++)
        t->x[i] = t->y[i] = i;
    t->x[16] = 0;
    t->x[17] = 5;
    unsigned n = tensix_lines(f, false, 0, lines);
    memcpy(t->x + 18, lines, n);
    t->y[16] = 0;
    t->y[17] = 6;
    n = tensix_lines(f, true, harvested, lines);
    memcpy(t->y + 18, lines, n);
}

/* The first entry at or after `from` that translates to `to`. */
static unsigned entry(const uint8_t table[32], unsigned from, unsigned to)
{
    for (unsigned i = from; i < 32; i++)
        if (table[i] == to)
            return i;
    return to;
}

/* The translated coordinates of a tile of this kind and index. */
static void logical_bh(const wg_translation *t, wg_tile_kind kind, unsigned index, unsigned *x, unsigned *y)
{
    switch (kind) {
    case WG_TILE_TENSIX: *x = entry(t->x, 0, *x); break;
    case WG_TILE_DRAM:
        *x = entry(t->x, 17, *x);
        *y = entry(t->y, 12, *y);
        break;
    case WG_TILE_PCIE:
        *x = index ? *x : 19;
        *y = index ? *y : 24;
        break;
    case WG_TILE_ETH:
        *x = index < 12 ? 20 + index : *x;
        *y = index < 12 ? 25 : *y;
        break;
    case WG_TILE_L2CPU: *y = 26 + index; break;
    case WG_TILE_SECURITY: *y = 30; break;
    default: break;
    }
}

static void logical_wh(const wg_translation *t, wg_tile_kind kind, unsigned index, unsigned *x, unsigned *y)
{
    (void)kind;
    (void)index;
    *x = entry(t->x, 16, *x);
    *y = entry(t->y, 16, *y);
}

/* How firmware of each architecture fills the tables. */
static const struct translations {
    void (*fill)(const wg_floorplan *f, uint32_t harvested, wg_translation *t);
    void (*logical)(const wg_translation *t, wg_tile_kind kind, unsigned index, unsigned *x, unsigned *y);
    uint8_t used_x, used_y; /* entries from these on are unused */
} translations[] = {
    [WG_ARCH_BH] = {translation_bh, logical_bh, 32, 32},
    [WG_ARCH_WH] = {translation_wh, logical_wh, 26, 28},
};

void wg_translation_of(const wg_floorplan *f, uint32_t harvested, unsigned noc, wg_translation *out)
{
    memset(out, 0, sizeof *out);
    translations[f->arch].fill(f, harvested, out);
    for (unsigned i = f->raw_entries; noc && i < 32; i++) {
        out->x[i] = (uint8_t)((f->width - 1u - out->x[i]) & 31);
        out->y[i] = (uint8_t)((f->height - 1u - out->y[i]) & 31);
    }
    if (noc) { /* unused entries translate to (0, 0) on both NoCs */
        unsigned used_x = translations[f->arch].used_x, used_y = translations[f->arch].used_y;
        memset(out->x + used_x, 0, 32 - used_x);
        memset(out->y + used_y, 0, 32 - used_y);
    }
}

bool wg_translation_sets(wg_arch_id arch, unsigned x, unsigned y)
{
    return x < translations[arch].used_x && y < translations[arch].used_y;
}

void wg_translate(const wg_translation *table, unsigned x, unsigned y, unsigned *to_x, unsigned *to_y)
{
    *to_x = table->raw_rows >> (y & 31) & 1 ? x : table->x[x & 31];
    *to_y = table->raw_columns >> (x & 31) & 1 ? y : table->y[y & 31];
}

uint16_t wg_floorplan_logical(const wg_floorplan *f, uint32_t harvested, unsigned x, unsigned y)
{
    wg_translation t;
    wg_translation_of(f, harvested, 0, &t);
    unsigned index = wg_floorplan_index(f, x, y), to_x = x, to_y = y;
    wg_tile_kind kind = wg_floorplan_kind(f, 0, x, y);
    translations[f->arch].logical(&t, kind, index, &to_x, &to_y);
    return (uint16_t)(to_x | to_y << 6);
}

void wg_floorplan_opt_out(const wg_floorplan *f, uint32_t harvested, unsigned noc, uint32_t *columns, uint32_t *rows)
{
    uint8_t lines[WG_GRID_MAX_WIDTH];
    *columns = (UINT32_C(1) << f->width) - 1;
    *rows = (UINT32_C(1) << f->height) - 1;
    for (unsigned axis = 0; axis < 2; axis++) {
        unsigned n = tensix_lines(f, axis, 0, lines), size = axis ? f->height : f->width;
        bool harvests = axis == f->harvests_rows;
        for (unsigned i = 0; i < n; i++)
            if (!(harvests && harvested >> lines[i] & 1))
                *(axis ? rows : columns) &= ~(UINT32_C(1) << (noc ? size - 1 - lines[i] : lines[i]));
    }
}
