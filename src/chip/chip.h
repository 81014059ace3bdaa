/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host sees of a chip over PCI Express, as data: identification, BARs, TLB windows, and where
 * the worker tiles stand.
 */
#ifndef WG_CHIP_H
#define WG_CHIP_H

#include <stdbool.h>
#include <stdint.h>
#include <waitgate/waitgate.h>

enum { WG_CHIP_GRID = 32 };   /* coordinates of worker tiles are below this */

/* Equal windows that follow each other in a BAR. */
typedef struct wg_chip_windows {
    uint8_t bar;
    uint16_t first, count;    /* TLB indices */
    uint64_t offset;          /* of the first, in its BAR */
    uint8_t bits;             /* size: 1 << bits */
} wg_chip_windows;

typedef struct wg_chip {
    wg_arch_id arch;
    uint32_t pci_id;                /* device << 16 | vendor */
    uint8_t revision;
    uint64_t bar_base[6], bar_size[6];
    wg_chip_windows windows[4];     /* ended by count 0 */
    uint32_t tlb_config;            /* offset of the windows' registers in BAR 0 */
    uint16_t tlb_words;             /* how many there are */
    uint8_t tlb_words_each;
    uint8_t offset_bits_total;      /* width of an address within a tile */
    uint8_t ordering_gap;           /* reserved bits between noc_sel and mcast */
    uint64_t bar4_alias;            /* BAR 4 shows BAR 0 from this offset on; 0: it has windows of its own */
    uint32_t worker_columns, worker_rows;   /* bit masks of NoC 0 coordinates */
    uint8_t grid_width, grid_height;
    uint8_t translated_x, translated_y;     /* translated coordinates of workers start here; 0: none */
} wg_chip;

extern const wg_chip wg_chips[2];   /* by wg_arch_id */

/* Where an access to a window goes. */
typedef struct wg_chip_target {
    uint64_t address;               /* within the tile */
    uint32_t room;                  /* bytes up to the end of the window, at most UINT32_MAX */
    uint8_t x0, y0, x1, y1;         /* NoC 0 coordinates; x0 == x1 and y0 == y1 unless multicast */
    bool multicast;
} wg_chip_target;

/* False if no window is at `offset` of the BAR. `tlb`: the windows' configuration words. */
bool wg_chip_translate(const wg_chip *chip, unsigned bar, uint64_t offset, const uint32_t *tlb, wg_chip_target *out);
bool wg_chip_is_worker(const wg_chip *chip, unsigned x, unsigned y);

#endif
