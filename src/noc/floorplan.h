/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The positions of the tiles, and the coordinates that firmware gives them for software.
 *
 * NoC 0 coordinates count from the top left, NoC 1 coordinates from the bottom right. Software uses translated
 * coordinates: the NIU looks them up in tables that firmware has filled in.
 */
#ifndef WG_FLOORPLAN_H
#define WG_FLOORPLAN_H

#include <waitgate/chip.h>

enum { WG_GRID_MAX_WIDTH = 17, WG_GRID_MAX_HEIGHT = 12, WG_GRID_MAX_TILES = WG_GRID_MAX_WIDTH * WG_GRID_MAX_HEIGHT };

typedef struct wg_floorplan {
    wg_arch_id arch;
    bool harvests_rows;  /* rows of Tensix tiles are fused off; else columns */
    uint8_t raw_entries; /* this many entries of the translation tables keep the NoC's own coordinates */
    uint8_t width, height;
    uint8_t dram_channels;                 /* the memories behind DRAM tiles */
    uint8_t dram_halves;                   /* independent GDDR6 channels of each */
    uint64_t dram_bytes;                   /* of one channel */
    const char *kind[WG_GRID_MAX_HEIGHT];  /* one letter per tile */
    const char *index[WG_GRID_MAX_HEIGHT]; /* which of its kind, a hexadecimal digit */
} wg_floorplan;

const wg_floorplan *wg_floorplan_of(wg_arch_id arch);

/* In NoC 0 coordinates. `harvested`: the columns or rows of Tensix tiles that are fused off. */
wg_tile_kind wg_floorplan_kind(const wg_floorplan *f, uint32_t harvested, unsigned x, unsigned y);
unsigned wg_floorplan_index(const wg_floorplan *f, unsigned x, unsigned y);

/* The column or row of Tensix tiles for each bit of `nth`: bit 0 is the first one that has any. 0: there are not so many. */
uint32_t wg_floorplan_harvest(const wg_floorplan *f, uint64_t nth);

/* The translation tables of one NoC: the contents of the NIU's registers after firmware has started. */
typedef struct wg_translation {
    uint8_t x[32], y[32]; /* translated to NoC coordinates of this NoC */
    uint32_t raw_rows;    /* bit y: x is not translated (BH) */
    uint32_t raw_columns; /* bit x: y is not translated (BH) */
} wg_translation;
void wg_translation_of(const wg_floorplan *f, uint32_t harvested, unsigned noc, wg_translation *out);
/* Translates to the NoC's own coordinates. */
/* Does firmware set the entries of the tables for these coordinates? */
bool wg_translation_sets(wg_arch_id arch, unsigned x, unsigned y);
void wg_translate(const wg_translation *table, unsigned x, unsigned y, unsigned *to_x, unsigned *to_y);
/* The translated coordinates that software prefers for a tile at NoC 0 coordinates: x | y << 6. */
uint16_t wg_floorplan_logical(const wg_floorplan *f, uint32_t harvested, unsigned x, unsigned y);
/* Columns and rows without a Tensix tile in them, as NIUs of this NoC count them: they opt out of broadcasts. */
void wg_floorplan_opt_out(const wg_floorplan *f, uint32_t harvested, unsigned noc, uint32_t *columns, uint32_t *rows);

#endif
