/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLB windows of the PCI Express tile.
 *
 *     host address = BAR base + window + offset ──> (x, y) of a tile, address in the tile
 *
 * A window's configuration, from its lowest bit: address bits above the window, x_end, y_end, x_start,
 * y_start (6 bits each), noc_sel, on BH a reserved bit, mcast, ordering and flags that do not
 * concern us.
 *
 * Facts: BlackholeA0/PCIExpressTile/HostToDeviceTLBs.md, WormholeB0/PCIExpressTile/TLBs.md,
 * NoC/Coordinates.md of each architecture. Ruling: no row or column is fused off.
 */
#include "chip/chip.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

const wg_chip wg_chips[2] = {
    [WG_ARCH_BH] = {
        .arch = WG_ARCH_BH, .pci_id = 0xB1401E52, .revision = 0,
        .bar_base = {[0] = 4 * GIB, [2] = 4 * GIB + 512 * MIB, [4] = 32 * GIB},
        .bar_size = {[0] = 512 * MIB, [2] = MIB, [4] = 32 * GIB},
        .windows = {{.bar = 0, .first = 0, .count = 202, .offset = 0, .bits = 21},
                    {.bar = 4, .first = 202, .count = 8, .offset = 0, .bits = 32}},
        .tlb_config = 0x1FC00000, .tlb_words = 210 * 3 + 32, .tlb_words_each = 3, .offset_bits_total = 64,
        .ordering_gap = 1,
        .worker_columns = 0x1FCFE, .worker_rows = 0xFFC, .grid_width = 17, .grid_height = 12,
    },
    [WG_ARCH_WH] = {
        .arch = WG_ARCH_WH, .pci_id = 0x401E1E52, .revision = 1,
        .bar_base = {[0] = 4 * GIB, [2] = 4 * GIB + 512 * MIB, [4] = 32 * GIB},
        .bar_size = {[0] = 512 * MIB, [2] = MIB, [4] = 32 * MIB},
        .windows = {{.bar = 0, .first = 0, .count = 156, .offset = 0, .bits = 20},
                    {.bar = 0, .first = 156, .count = 10, .offset = 156 * MIB, .bits = 21},
                    {.bar = 0, .first = 166, .count = 20, .offset = 176 * MIB, .bits = 24}},
        .tlb_config = 0x1FC00000, .tlb_words = 186 * 2, .tlb_words_each = 2, .offset_bits_total = 36,
        .bar4_alias = 480 * MIB,
        .worker_columns = 0x3DE, .worker_rows = 0xFBE, .grid_width = 10, .grid_height = 12,
        .translated_x = 18, .translated_y = 18,
    },
};

bool wg_chip_is_worker(const wg_chip *chip, unsigned x, unsigned y)
{
    return x < WG_CHIP_GRID && y < WG_CHIP_GRID && chip->worker_columns >> x & 1 && chip->worker_rows >> y & 1;
}

/* `count` bits from bit `at` of a window's configuration. */
static uint64_t field(const uint32_t *words, unsigned limit, unsigned at, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count && (at + i) / 32 < limit; i++)
        value |= (uint64_t)(words[(at + i) / 32] >> (at + i) % 32 & 1) << i;
    return value;
}

/* Translated coordinates number the workers' columns and rows without gaps. */
static uint8_t nth_set(uint32_t mask, unsigned n)
{
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1 && n-- == 0)
            return (uint8_t)i;
    return 0;
}

static void place(const wg_chip *chip, bool noc1, uint64_t x, uint64_t y, uint8_t *to_x, uint8_t *to_y)
{
    bool tx = chip->translated_x && x >= chip->translated_x, ty = chip->translated_y && y >= chip->translated_y;
    *to_x = tx     ? nth_set(chip->worker_columns, (unsigned)x - chip->translated_x)
            : noc1 ? (uint8_t)((chip->grid_width - 1u - x) & 63)
                   : (uint8_t)x;
    *to_y = ty     ? nth_set(chip->worker_rows, (unsigned)y - chip->translated_y)
            : noc1 ? (uint8_t)((chip->grid_height - 1u - y) & 63)
                   : (uint8_t)y;
}

bool wg_chip_translate(const wg_chip *chip, unsigned bar, uint64_t offset, const uint32_t *tlb, wg_chip_target *out)
{
    for (const wg_chip_windows *w = chip->windows; w->count; w++) {
        uint64_t size = UINT64_C(1) << w->bits;
        if (bar != w->bar || offset < w->offset || offset - w->offset >= w->count * size)
            continue;
        uint64_t within = (offset - w->offset) % size;
        unsigned index = w->first + (unsigned)((offset - w->offset) / size), each = chip->tlb_words_each;
        const uint32_t *words = tlb + index * each;
        unsigned high = chip->offset_bits_total - w->bits, flags = high + 24;
        out->address = field(words, each, 0, high) << w->bits | within;
        out->room = size - within > UINT32_MAX ? UINT32_MAX : (uint32_t)(size - within);
        bool noc1 = field(words, each, flags, 1);
        out->multicast = field(words, each, flags + 1 + chip->ordering_gap, 1);
        place(chip, noc1, field(words, each, high, 6), field(words, each, high + 6, 6), &out->x1, &out->y1);
        out->x0 = out->x1;
        out->y0 = out->y1;
        if (out->multicast)
            place(chip, noc1, field(words, each, high + 12, 6), field(words, each, high + 18, 6), &out->x0, &out->y0);
        return true;
    }
    return false;
}
