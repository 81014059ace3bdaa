/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLB windows of the PCI Express tile.
 *
 *     host address = BAR base + window + offset ──> (x, y) of a tile or a pattern of tiles, address in the tile
 *
 * A window's configuration, from its lowest bit: address bits above the window, x_end, y_end, x_start,
 * y_start (6 bits each), noc_sel, on BH a reserved bit, mcast, ordering, linked, static_vc, on BH a reserved bit,
 * buddy, class. The first 32 windows of BH have a further word, which excludes tiles from a multicast.
 *
 * Facts: BlackholeA0/PCIExpressTile/HostToDeviceTLBs.md, WormholeB0/PCIExpressTile/TLBs.md; README.md there for the
 * BARs. Ordering modes make no difference here: the host's accesses happen one at a time, in zero cycles.
 */
#include "chip/chip.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

const wg_chip wg_chips[2] =
    {
        [WG_ARCH_BH] =
            {
                .arch = WG_ARCH_BH,
                .pci_id = 0xB1401E52,
                .revision = 0,
                .bar_base = {[0] = 4 * GIB, [2] = 4 * GIB + 512 * MIB, [4] = 32 * GIB},
                .bar_size = {[0] = 512 * MIB, [2] = MIB, [4] = 32 * GIB},
                .windows = {{.bar = 0, .first = 0, .count = 202, .offset = 0, .bits = 21},
                            {.bar = 4, .first = 202, .count = 8, .offset = 0, .bits = 32}},
                .tlb_config = 0x1FC00000,
                .tlb_words = 210 * 3 + 32,
                .tlb_words_each = 3,
                .strided = 32,
                .offset_bits_total = 64,
                .ordering_gap = 1,
                .orderings = 4,
                .flag_bits = 11,
                .vc_fields = true,
                .niu_bar = {0x1FD04000, 0x1FD14000},
                .niu_bytes = 0x2000,
                .iatu = 0x1000,
                .wide_regions = true,
                .niu_base = UINT64_C(0xFFFFFFFFFF000000),
                .arc_xbar = 0,
                .arc_x = 8,
                .arc_y = 0,
                .pcie_x = 2,
                .pcie_y = 0,
                .aiclk_busy = 1350,
                .aiclk_idle = 800,
                .arc = {.queues = true, .scratch_ram = true, .resets_l2cpus = true},
                .niu = {.x_table = 0x118, .y_table = 0x130, .table_words = 6, .bits = 5, .raw_columns = 0x150},
            },
        [WG_ARCH_WH] =
            {
                .arch = WG_ARCH_WH,
                .pci_id = 0x401E1E52,
                .revision = 1,
                .bar_base = {[0] = 4 * GIB, [2] = 4 * GIB + 512 * MIB, [4] = 32 * GIB},
                .bar_size = {[0] = 512 * MIB, [2] = MIB, [4] = 32 * MIB},
                .windows = {{.bar = 0, .first = 0, .count = 156, .offset = 0, .bits = 20},
                            {.bar = 0, .first = 156, .count = 10, .offset = 156 * MIB, .bits = 21},
                            {.bar = 0, .first = 166, .count = 20, .offset = 176 * MIB, .bits = 24}},
                .tlb_config = 0x1FC00000,
                .tlb_words = 186 * 2,
                .tlb_words_each = 2,
                .offset_bits_total = 36,
                .orderings = 3,
                .flag_bits = 6,
                .bar4_alias = 480 * MIB,
                .niu_bar = {0x1FD20000, 0x1FDA0000},
                .niu_bytes = 0x1000,
                .csm_bar = 0x1FE80000,
                .apb_bar = 0x1FF00000,
                .iatu = 0x1200,
                .niu_base = UINT64_C(0xF00000000),
                .arc_xbar = UINT64_C(0x800000000),
                .arc_x = 0,
                .arc_y = 10,
                .pcie_x = 0,
                .pcie_y = 3,
                .aiclk_busy = 1000,
                .aiclk_idle = 500,
                .arc = {.legacy_telemetry = true,
                        .tells_harvesting = true,
                        .maps_outbound = true,
                        .routes_to_dram = true,
                        /* Hosts add the CSM's base twice to the address of the older telemetry. */
                        .csm_alias = 0x20000000},
                .niu = {.x_table = 0x118,
                        .y_table = 0x128,
                        .table_words = 4,
                        .bits = 4,
                        .second_page = true,
                        .dram_groups = true},
            },
};

/* `count` bits from bit `at` of a window's configuration; bits past its end are 0. */
static uint64_t field(const uint32_t *words, unsigned limit, unsigned at, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count && (at + i) / 32 < limit; i++)
        value |= (uint64_t)(words[(at + i) / 32] >> (at + i) % 32 & 1) << i;
    return value;
}

bool wg_chip_window_at(const wg_chip *chip, unsigned bar, uint64_t offset, unsigned *index, uint64_t *within,
                       uint64_t *room)
{
    for (const wg_chip_windows *w = chip->windows; w->count; w++) {
        if (bar != w->bar || offset < w->offset || (offset - w->offset) >> w->bits >= w->count)
            continue;
        *within = (offset - w->offset) & ((UINT64_C(1) << w->bits) - 1);
        *room = (UINT64_C(1) << w->bits) - *within;
        *index = w->first + (unsigned)((offset - w->offset) >> w->bits);
        return true;
    }
    return false;
}

static unsigned window_bits(const wg_chip *chip, unsigned index)
{
    for (const wg_chip_windows *w = chip->windows; w->count; w++)
        if (index >= w->first && index < (unsigned)w->first + w->count)
            return w->bits;
    return 0;
}

/* One axis of a multicast, in the direction of the NoC's data flow: bits of NoC 0 coordinates, by step. */
static uint32_t line(unsigned from, unsigned to, unsigned size, bool backwards, unsigned keep, unsigned skip)
{
    uint32_t bits = 0;
    for (unsigned i = 0, at = from;; i++) {
        if (!keep || !skip || i % (keep + skip) < keep)
            bits |= UINT32_C(1) << at;
        if (at == to || i >= size)
            return bits;
        at = (at + (backwards ? size - 1 : 1)) % size;
    }
}

/* The coordinates that a quadrant's corner excludes on one axis: those of the NoC itself, not translated. */
static uint32_t excluded(unsigned corner, bool upwards, unsigned size, bool backwards)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < size; i++) {
        unsigned raw = backwards ? size - 1 - i : i;
        if (upwards ? raw >= corner : raw <= corner)
            bits |= UINT32_C(1) << i;
    }
    return bits;
}

static unsigned tensix_count(const wg_grid *grid, const uint32_t *row)
{
    unsigned count = 0;
    for (unsigned y = 0; y < wg_grid_height(grid) && y < WG_CHIP_ROWS; y++)
        for (unsigned x = 0; x < wg_grid_width(grid); x++)
            count += (row[y] >> x & 1) && wg_grid_kind(grid, x, y) == WG_TILE_TENSIX;
    return count;
}

static void pattern(const wg_grid *grid, unsigned x0, unsigned y0, unsigned x1, unsigned y1, uint32_t strided,
                    wg_window *out)
{
    unsigned w = wg_grid_width(grid), h = wg_grid_height(grid);
    uint32_t columns = line(x0, x1, w, out->noc, strided & 3, strided >> 2 & 3);
    uint32_t rows = line(y0, y1, h, out->noc, strided >> 4 & 3, strided >> 6 & 3);
    bool exclude = strided >> 19 & 1,
         thinned = exclude || (strided & 3 && strided & 12) || (strided & 0x30 && strided & 0xC0);
    uint32_t gone_x = excluded(strided >> 8 & 31, strided >> 17 & 1, w, out->noc);
    uint32_t gone_y = excluded(strided >> 13 & 15, strided >> 18 & 1, h, out->noc);
    for (unsigned y = 0; y < h && y < WG_CHIP_ROWS; y++)
        if (rows >> y & 1)
            out->row[y] = exclude && gone_y >> y & 1 ? columns & ~gone_x : columns;
    unsigned named = strided >> 21 & 255;
    if ((thinned || named) && named != tensix_count(grid, out->row))
        out->broken = "num_destinations_override is not the number of tiles that receive the multicast";
}

/* A rule that the window's flags break, whatever is accessed; NULL: none. */
static const char *rule_broken(const wg_chip *chip, const uint32_t *words, unsigned flags, const wg_window *w)
{
    unsigned each = chip->tlb_words_each, mcast = flags + 1 + chip->ordering_gap;
    if (field(words, each, mcast + 3, 1))
        return "linked is set, which is never safe: the kernel driver uses windows of its own at any time";
    if (w->ordering >= chip->orderings)
        return "the ordering mode does not exist";
    if (!chip->vc_fields)
        return NULL;
    bool fixed = field(words, each, mcast + 4, 1);
    uint64_t class = field(words, each, mcast + 7, 2);
    if (fixed && (w->multicast ? class != 2 : class > 1))
        return "static_vc_class must be 0 or 1 for one tile, and 2 for multicast";
    if (field(words, each, flags + 1, 1) || field(words, each, mcast + 5, 1) ||
        field(words, each, flags + chip->flag_bits, 32))
        return "reserved bits are set";
    return NULL;
}

void wg_chip_window(const wg_chip *chip, const wg_grid *grid, const uint32_t *words, unsigned index, wg_window *out)
{
    unsigned bits = window_bits(chip, index), each = chip->tlb_words_each;
    unsigned high = chip->offset_bits_total - bits, flags = high + 24, mcast = flags + 1 + chip->ordering_gap;
    const uint32_t *own = words + index * each;
    uint32_t strided = index < chip->strided ? words[chip->tlb_words - chip->strided + index] : 0;
    *out = (wg_window){.address = field(own, each, 0, high) << bits,
                       .noc = (uint8_t)field(own, each, flags, 1),
                       .ordering = (uint8_t)field(own, each, mcast + 1, 2),
                       .multicast = field(own, each, mcast, 1)};
    unsigned x0, y0, x1, y1;
    out->somewhere = wg_grid_translate(grid, out->noc, (unsigned)field(own, each, high, 6),
                                       (unsigned)field(own, each, high + 6, 6), &x1, &y1);
    if (!out->somewhere)
        return;
    out->x = (uint8_t)x1;
    out->y = (uint8_t)y1;
    out->broken = rule_broken(chip, own, flags, out);
    if (!out->multicast)
        return;
    out->somewhere = wg_grid_translate(grid, out->noc, (unsigned)field(own, each, high + 12, 6),
                                       (unsigned)field(own, each, high + 18, 6), &x0, &y0);
    if (out->somewhere)
        pattern(grid, x0, y0, x1, y1, strided, out);
}

uint32_t wg_chip_harvest_bits(const wg_chip *chip, uint32_t harvested)
{
    /* From the edges inward: the order of the tiles in the test chain. */
    static const uint8_t lines[2][14] = {[WG_ARCH_BH] = {1, 16, 2, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10},
                                         [WG_ARCH_WH] = {11, 1, 10, 2, 9, 3, 8, 4, 7, 5}};
    uint32_t bits = 0;
    for (unsigned i = 0; i < 14 && lines[chip->arch][i]; i++)
        bits |= (harvested >> lines[chip->arch][i] & 1) << i;
    return bits;
}
