/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of a chip that runs tt-metal's firmware.
 *
 *     layout.def ──► layout.c: numbers         metal.c: shape, tables, boot
 *                                               launch.c: kernel configurations, messages
 *                                               launched.c: a launch message read back
 *                                               buffers.c: banks
 */
#ifndef WG_METAL_H
#define WG_METAL_H

#include <waitgate/metal.h>

typedef enum wg_metal_item_id {
#define ITEM(name, bh, wh, meaning) WG_METAL_ITEM_##name,
#include "metal/layout.def"
    WG_METAL_ITEMS
} wg_metal_item_id;

enum { WG_METAL_EDGE = 16, WG_METAL_TILES = 160, WG_METAL_ERROR = 256 };

/* A bank of DRAM: its channel, which of the channel's tiles each NoC uses, its start address. */
typedef struct wg_metal_dram_bank {
    uint8_t channel, port[2];
    uint32_t begins;
} wg_metal_dram_bank;

/* The differences between the chips besides the layout. */
typedef struct wg_metal_chip {
    uint8_t first_x, first_y, columns, rows; /* coordinates of Tensix tiles for kernels */
    uint8_t banks;
    const wg_metal_dram_bank *bank;
    const uint8_t (*port)[3][2]; /* [channel]: its tiles' coordinates on NoC 0 … */
    bool mirrored;               /* … numbered from the other end on NoC 1; else the same */
    uint8_t eth[4], pcie[2];     /* coordinates of Ethernet tiles, first and last, and of host memory (0: no others) */
    uint64_t pcie_first, pcie_last, dram_bytes; /* addresses of host memory, and of a DRAM tile */
} wg_metal_chip;
extern const wg_metal_chip wg_metal_chips[2]; /* by wg_arch_id */

typedef struct wg_metal_worker {
    bool booted;
    uint32_t kernel[WG_CORES]; /* address of the code launched last; 0: none */
} wg_metal_worker;

struct wg_metal {
    wg_grid *grid;
    const wg_metal_chip *chip;
    uint32_t item[WG_METAL_ITEMS];
    unsigned columns, rows;
    uint8_t column[WG_METAL_EDGE], row[WG_METAL_EDGE]; /* NoC 0 */
    uint8_t virtual_column[WG_METAL_EDGE], virtual_row[WG_METAL_EDGE];
    wg_metal_worker worker[WG_METAL_EDGE][WG_METAL_EDGE]; /* [row][column] */
    uint32_t programs, dram_free, l1_free_end;
    char error[WG_METAL_ERROR];
};

#define WG_METAL_OF(m, name) ((m)->item[WG_METAL_ITEM_##name])

/* All items. */
const uint32_t *wg_metal_default_layout(wg_arch_id arch);
/* Records the error message; returns the status. */
wg_status wg_metal_fail(struct wg_metal *m, wg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
wg_status wg_metal_size_fail(wg_metal *m, const void *given); /* a structure of no version */
/* Memory of the tile at a logical place. */
wg_status wg_metal_tile_write(struct wg_metal *m, wg_metal_place at, uint32_t address, const void *from, size_t bytes);
/* Little-endian numbers in a message. */
void wg_metal_put(uint8_t *message, uint32_t offset, unsigned bytes, uint64_t value);
/* Fills in the tile's description of the chip, for which the mailboxes hold `room` bytes. False: it does not fit. */
bool wg_metal_core_info(const struct wg_metal *m, wg_metal_place at, uint8_t *info, size_t room);
/* A bank: its tile in NoC 0 coordinates, and its start address there. */
void wg_metal_bank(const struct wg_metal *m, wg_metal_memory memory, unsigned bank, unsigned *x, unsigned *y,
                   uint64_t *offset);
/* The coordinates of a bank for kernels on a NoC. */
void wg_metal_bank_coordinates(const struct wg_metal *m, wg_metal_memory memory, unsigned bank, unsigned noc,
                               unsigned *x, unsigned *y);

#endif
