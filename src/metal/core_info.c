/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The description of the chip that a tile receives: its own coordinates, the kinds of tile at all coordinates, valid
 * addresses. Firmware and kernels that are built with the Watcher check each NoC request against it.
 *
 * Facts: tt-metal, impl/device/firmware/risc_firmware_initializer.cpp (populate_core_info_msg),
 * impl/debug/watcher_server.cpp (init_device), hw/inc/internal/debug/sanitize.h, hw/inc/hostdev/dev_msgs.h.
 */
#include <string.h>

#include "metal/metal.h"

enum { NOWHERE = 0xFF, ENTRY = 3, AXIS = 2, EDGE = 32 }; /* a tile's entry: x, y, kind */
enum { KIND_ETH = 1, KIND_PCIE = 2, KIND_DRAM = 3, KIND_UNKNOWN = 6 };

typedef struct list {
    uint8_t *entry;
    unsigned count, most;
} list;

static void add(list *l, unsigned x, unsigned y, unsigned kind)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->entry[i * ENTRY] == x && l->entry[i * ENTRY + 1] == y)
            return;
    if (l->count == l->most)
        return;
    uint8_t *e = l->entry + ENTRY * l->count++;
    e[0] = (uint8_t)x;
    e[1] = (uint8_t)y;
    e[2] = (uint8_t)kind;
}

static unsigned kind_of(wg_tile_kind kind)
{
    return kind == WG_TILE_ETH ? KIND_ETH : kind == WG_TILE_PCIE ? KIND_PCIE : kind == WG_TILE_DRAM ? KIND_DRAM : 0;
}

/* Tiles other than workers, by their places on NoC 0. Blackhole's are only reachable by other coordinates. */
static void add_places(const wg_metal *m, list *l)
{
    for (unsigned y = 0; m->chip->mirrored && y < wg_grid_height(m->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(m->grid); x++) {
            unsigned kind = kind_of(wg_grid_kind(m->grid, x, y));
            if (kind)
                add(l, x, y, kind);
        }
}

/* … by the coordinates that firmware assigns: Ethernet tiles, on Blackhole also the others. */
static void add_translated(const wg_metal *m, list *l)
{
    const uint8_t *eth = m->chip->eth, *pcie = m->chip->pcie;
    for (unsigned y = eth[1]; y <= eth[3]; y++)
        for (unsigned x = eth[0]; x <= eth[2]; x++)
            add(l, x, y, KIND_ETH);
    if (pcie[0])
        add(l, pcie[0], pcie[1], KIND_PCIE);
    for (unsigned bank = 0; !m->chip->mirrored && bank < m->chip->banks; bank++)
        for (unsigned noc = 0; noc < 2; noc++) {
            unsigned x, y;
            wg_metal_bank_coordinates(m, WG_METAL_DRAM, bank, noc, &x, &y);
            add(l, x, y, KIND_DRAM);
        }
}

/* Harvested columns (Blackhole) or rows (Wormhole): their places, then the coordinates after the last ones in use. */
static void put_harvested(const wg_metal *m, uint8_t *at)
{
    const bool rows = m->chip->mirrored;
    const unsigned edge = rows ? wg_grid_height(m->grid) : wg_grid_width(m->grid),
                   end = rows ? m->chip->first_y + m->rows : m->chip->columns;
    unsigned place[EDGE], count = 0;
    memset(at, NOWHERE, 2 * AXIS);
    for (unsigned i = 0; i < edge; i++)
        if (wg_grid_kind(m->grid, rows ? 1 : i, rows ? i : m->chip->first_y) == WG_TILE_HARVESTED)
            place[count++] = i;
    for (unsigned i = 0; i < count && i < AXIS; i++) {
        at[i] = (uint8_t)place[i];
        at[AXIS + i] = (uint8_t)(end + count - (i + 1));
    }
}

static void put_tiles(const wg_metal *m, uint8_t *info)
{
    list place = {info + WG_METAL_OF(m, core_info_places), 0, WG_METAL_OF(m, core_info_places_count)};
    list translated = {info + WG_METAL_OF(m, core_info_translated), 0, WG_METAL_OF(m, core_info_translated_count)};
    add_places(m, &place);
    add_translated(m, &translated);
    while (place.count < place.most)
        memcpy(place.entry + ENTRY * place.count++, (uint8_t[]){NOWHERE, NOWHERE, KIND_UNKNOWN}, ENTRY);
    while (translated.count < translated.most)
        memcpy(translated.entry + ENTRY * translated.count++, (uint8_t[]){NOWHERE, NOWHERE, KIND_UNKNOWN}, ENTRY);
}

bool wg_metal_core_info(const wg_metal *m, wg_metal_place at, uint8_t *info, size_t room)
{
    const struct {
        uint32_t offset, bytes;
        uint64_t value;
    } number[] = {{WG_METAL_OF(m, core_info_pcie), 8, m->chip->pcie_first},
                  {WG_METAL_OF(m, core_info_pcie) + 8, 8, m->chip->pcie_last},
                  {WG_METAL_OF(m, core_info_dram), 8, 0},
                  {WG_METAL_OF(m, core_info_dram) + 8, 8, m->chip->dram_bytes},
                  {WG_METAL_OF(m, core_info_x), 1, at.x},
                  {WG_METAL_OF(m, core_info_y), 1, at.y},
                  {WG_METAL_OF(m, core_info_noc_x), 1, wg_grid_width(m->grid)},
                  {WG_METAL_OF(m, core_info_noc_y), 1, wg_grid_height(m->grid)},
                  {WG_METAL_OF(m, core_info_workers_x), 1, m->columns},
                  {WG_METAL_OF(m, core_info_workers_y), 1, m->rows},
                  {WG_METAL_OF(m, core_info_l1), 4, WG_METAL_OF(m, free_l1)},
                  {WG_METAL_OF(m, core_info_magic), 4, WG_METAL_OF(m, magic_worker)}};
    const struct {
        uint32_t offset, bytes;
    } field[] = {{WG_METAL_OF(m, core_info_places), ENTRY * (WG_METAL_OF(m, core_info_places_count) & 0xFFFF)},
                 {WG_METAL_OF(m, core_info_translated), ENTRY * (WG_METAL_OF(m, core_info_translated_count) & 0xFFFF)},
                 {WG_METAL_OF(m, core_info_harvested), 2 * AXIS}};
    for (unsigned i = 0; i < sizeof number / sizeof *number; i++)
        if (number[i].offset > room || number[i].bytes > room - number[i].offset)
            return false;
    for (unsigned i = 0; i < sizeof field / sizeof *field; i++)
        if (field[i].offset > room || field[i].bytes > room - field[i].offset)
            return false;
    if (WG_METAL_OF(m, core_info_places_count) > 0xFFFF || WG_METAL_OF(m, core_info_translated_count) > 0xFFFF)
        return false;
    put_tiles(m, info);
    put_harvested(m, info + WG_METAL_OF(m, core_info_harvested));
    for (unsigned i = 0; i < sizeof number / sizeof *number; i++)
        wg_metal_put(info, number[i].offset, number[i].bytes, number[i].value);
    return true;
}
