/* SPDX-License-Identifier: Apache-2.0 */
/* A host's view of a chip over PCI Express, as data: identification, BARs, TLB windows. */
#ifndef WG_CHIP_H
#define WG_CHIP_H

#include <waitgate/chip.h>

enum { WG_CHIP_TLBS = 210, WG_CHIP_TLB_WORDS = WG_CHIP_TLBS * 3 + 32, WG_CHIP_ROWS = 12 };

/* A run of equal windows in a BAR. */
typedef struct wg_chip_windows {
    uint8_t bar;
    uint16_t first, count; /* TLB indices */
    uint64_t offset;       /* of the first, in its BAR */
    uint8_t bits;          /* size: 1 << bits */
} wg_chip_windows;

/* Features of ARC's firmware and crossbar. */
typedef struct wg_chip_arc {
    bool queues;           /* messages arrive in queues in the CSM; else in scratch registers, one at a time */
    bool legacy_telemetry; /* also has the older telemetry array */
    bool tells_harvesting; /* a message returns the harvested units */
    bool maps_outbound;    /* a message sets a region of the iATU */
    bool scratch_ram;      /* the reset unit has more scratch registers, which point into the CSM */
    bool resets_l2cpus;    /* the reset unit has L2CPU_RESET */
    bool routes_to_dram;   /* the low 32 GiB of the tile's addresses lead to DRAM D0 */
    uint32_t csm_alias;    /* a second address of the CSM in the crossbar; 0: none */
} wg_chip_arc;

/* NIUs of tiles that are registers only. */
typedef struct wg_chip_niu {
    uint16_t x_table, y_table; /* translation tables: offsets of their words */
    uint8_t table_words, bits; /* words of each; bits of an entry */
    uint16_t raw_columns;      /* offset of the masks of untranslated columns and rows; 0: none */
    bool second_page;          /* NoC 1's registers are at 0xFFB30000; else both NoCs have their own view */
    bool dram_groups; /* three DRAM tiles form a group: their ids contain its number, and each shows all its NIUs */
} wg_chip_niu;

typedef struct wg_chip {
    wg_arch_id arch;
    uint32_t pci_id; /* device << 16 | vendor */
    uint8_t revision;
    uint64_t bar_base[6], bar_size[6];
    wg_chip_windows windows[4]; /* ended by count 0 */
    uint32_t tlb_config;        /* offset of the windows' registers in BAR 0 */
    uint16_t tlb_words;         /* how many there are */
    uint8_t tlb_words_each;
    uint8_t strided;                /* windows with a further word, after all others, for multicast patterns */
    uint8_t offset_bits_total;      /* width of an address within a tile */
    uint8_t ordering_gap;           /* reserved bits between noc_sel and mcast */
    uint8_t orderings;              /* ordering modes that exist */
    uint8_t flag_bits;              /* number of defined bits from noc_sel on */
    bool vc_fields;                 /* buddy and class of a static virtual channel can be chosen */
    uint64_t bar4_alias;            /* BAR 4 is an alias of BAR 0 from this offset on; 0: it has its own windows */
    uint32_t niu_bar[2], niu_bytes; /* registers of the PCI Express tile's NIUs in BAR 0 */
    uint32_t csm_bar, apb_bar;      /* ARC in BAR 0; 0: not there */
    uint32_t iatu;                  /* in BAR 2 */
    bool wide_regions;              /* of the iATU: may be larger than 4 GiB */
    uint64_t niu_base;              /* NIU registers of PCI Express, ARC, L2CPU tiles: from here to the end */
    uint64_t arc_xbar;              /* ARC's crossbar in a tile's address space */
    uint8_t arc_x, arc_y, pcie_x, pcie_y; /* NoC 0; the PCI Express tile that leads to the host */
    uint32_t aiclk_busy, aiclk_idle;      /* MHz */
    wg_chip_arc arc;
    wg_chip_niu niu;
} wg_chip;

extern const wg_chip wg_chips[2]; /* by wg_arch_id */

/* A decoded window. */
typedef struct wg_window {
    uint64_t address; /* of the window's first byte, within the tile */
    uint8_t noc, ordering;
    bool somewhere; /* a tile is there */
    bool multicast;
    uint8_t x, y;               /* NoC 0, unless multicast */
    uint32_t row[WG_CHIP_ROWS]; /* multicast: bit x of row y is a tile of the pattern, of whatever kind */
    const char *broken;         /* a documented rule that it breaks; NULL: none */
} wg_window;

/* Which window is at `offset` of a BAR: false if none. `within`: the offset in it; `room`: bytes to its end. */
bool wg_chip_window_at(const wg_chip *chip, unsigned bar, uint64_t offset, unsigned *index, uint64_t *within,
                       uint64_t *room);
/* Decodes a window's registers; `words` are all windows'. */
void wg_chip_window(const wg_chip *chip, const wg_grid *grid, const uint32_t *words, unsigned index, wg_window *out);

/* Fused-off columns (BH) or rows (WH) in the order in which firmware counts them. */
uint32_t wg_chip_harvest_bits(const wg_chip *chip, uint32_t harvested);

#endif
