/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by tiles of registers and memory: findings, bytes as words, the NIUs. Also the tiles that have nothing else: DRAM,
 * routers, the security tile, fused-off tiles.
 *
 * Facts: NoC/MemoryMap.md, NoC/Coordinates.md of each architecture, WormholeB0/DRAMTile/README.md.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "chip/card.h"
#include "isa/tile_regs.h"

void wg_card_find(wg_card *card, wg_finding_code code, unsigned x, unsigned y, uint64_t subject, uint64_t value,
                  const char *format, ...)
{
    for (size_t i = 0; i < card->findings; i++) {
        wg_finding *f = &card->finding[i];
        if (f->code == code && f->subject == subject && card->where[i].x == x && card->where[i].y == y) {
            f->count++;
            return;
        }
    }
    if (card->findings == WG_CARD_FINDINGS) {
        card->findings_dropped++;
        return;
    }
    card->where[card->findings] = (wg_where){(uint8_t)x, (uint8_t)y};
    wg_finding *f = &card->finding[card->findings++];
    *f = (wg_finding){.code = (uint16_t)code,
                      .agent = WG_AGENT_HOST,
                      .cycle = wg_grid_cycle(card->grid),
                      .count = 1,
                      .subject = subject,
                      .value = value};
    va_list args;
    va_start(args, format);
    vsnprintf(f->detail, sizeof f->detail, format, args);
    va_end(args);
}

void wg_model_unknown(wg_model *m, uint64_t address, uint32_t value, bool write)
{
    if (write)
        wg_card_find(m->card, WG_F_UNIMPLEMENTED_REGISTER, m->x, m->y, address, value, "%s, 0x%llx = 0x%x",
                     wg_tile_kind_name(m->kind), (unsigned long long)address, value);
    else
        wg_card_find(m->card, WG_F_UNIMPLEMENTED_REGISTER, m->x, m->y, address, 0, "%s, 0x%llx is read",
                     wg_tile_kind_name(m->kind), (unsigned long long)address);
}

wg_model *wg_card_model(wg_card *card, unsigned x, unsigned y)
{
    unsigned at = y * wg_grid_width(card->grid) + x;
    return &card->model[at < WG_GRID_MAX_TILES ? at : 0];
}

void wg_model_words(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write, wg_word_fn word)
{
    while (bytes) {
        unsigned from = (unsigned)(address & 3), n = bytes < 4 - from ? (unsigned)bytes : 4 - from;
        uint64_t at = address - from;
        uint32_t value = write && n == 4 ? 0 : word(m, at, 0, false);
        if (write) {
            memcpy((uint8_t *)&value + from, data, n);
            word(m, at, value, true);
        } else {
            memcpy(data, (uint8_t *)&value + from, n);
        }
        address += n;
        data += n;
        bytes -= n;
    }
}

bool wg_model_memory(uint8_t *memory, uint64_t room, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    if (address > room || bytes > room - address)
        return false;
    if (write)
        memcpy(memory + address, data, bytes);
    else
        memcpy(data, memory + address, bytes);
    return true;
}

/* ---- NIUs --------------------------------------------------------------------------------------------- */

static uint32_t node_id(const wg_model *m, unsigned noc)
{
    uint32_t w = wg_grid_width(m->card->grid), h = wg_grid_height(m->card->grid);
    uint32_t x = noc ? w - 1 - m->x : m->x, y = noc ? h - 1 - m->y : m->y;
    return x | y << 6 | w << 12 | h << 19 | (uint32_t)!noc << 28;
}

static uint32_t endpoint_id(const wg_model *m, unsigned noc)
{
    static const uint16_t types[WG_TILE_KINDS] = {
        [WG_TILE_ROUTER] = 0x0300, [WG_TILE_HARVESTED] = 0x0100, [WG_TILE_DRAM] = 0x0800,  [WG_TILE_PCIE] = 0x0300,
        [WG_TILE_ARC] = 0x0500,    [WG_TILE_ETH] = 0x0200,       [WG_TILE_L2CPU] = 0x0901, [WG_TILE_SECURITY] = 0x0A00};
    uint32_t index = m->kind == WG_TILE_PCIE ? 2 : m->index;
    if (m->card->chip->niu.dram_groups && m->kind == WG_TILE_DRAM) /* group above, tile in the group below */
        index = (uint32_t)m->index << 8;
    return index | (uint32_t)types[m->kind] << 8 | noc << 24;
}

/* No entry crosses a word boundary. */
static uint32_t table_word(const uint8_t table[32], unsigned word, unsigned bits)
{
    unsigned each = 32 / bits;
    uint32_t value = 0;
    for (unsigned i = 0; i < each && word * each + i < 32; i++)
        value |= (uint32_t)table[word * each + i] << bits * i;
    return value;
}

/* Registers whose value depends on the tile's position. */
static bool niu_derived(wg_model *m, unsigned noc, uint32_t offset, uint32_t *value)
{
    const wg_tile_reg *regs = wg_tile_regs[m->card->chip->arch];
    const wg_chip_niu *niu = &m->card->chip->niu;
    const wg_translation *t = &m->card->grid->translation[noc];
    uint32_t table_bytes = 4u * niu->table_words;
    if (offset == regs[WG_REG_NIU_noc_node_id].offset)
        *value = node_id(m, noc);
    else if (offset == regs[WG_REG_NIU_noc_node_id].offset + 4)
        *value = endpoint_id(m, noc);
    else if (offset == regs[WG_REG_NIU_noc_id_logical].offset)
        *value = wg_floorplan_logical(m->card->grid->plan, m->card->grid->desc.harvested, m->x, m->y);
    else if (offset >= niu->x_table && offset < niu->x_table + table_bytes)
        *value = table_word(t->x, (offset - niu->x_table) / 4, niu->bits);
    else if (offset >= niu->y_table && offset < niu->y_table + table_bytes)
        *value = table_word(t->y, (offset - niu->y_table) / 4, niu->bits);
    else if (niu->raw_columns && offset == niu->raw_columns)
        *value = t->raw_columns;
    else if (niu->raw_columns && offset == niu->raw_columns + 4u)
        *value = t->raw_rows;
    else
        return false;
    return true;
}

uint32_t wg_model_niu(wg_model *m, unsigned noc, uint32_t offset, uint32_t value, bool write)
{
    enum { CONFIG = 0x100, CONFIG_END = 0x180, COUNTERS = 0x200, COUNTERS_END = 0x300, TRANSLATES = 1 << 14 };
    uint32_t derived;
    noc &= 1;
    if (niu_derived(m, noc, offset, &derived)) {
        if (write && value != derived)
            wg_model_unknown(m, m->card->chip->niu_base + offset, value, true); /* only firmware writes it */
        return derived;
    }
    uint32_t *word = &m->niu.word[noc][offset / 4 % WG_MODEL_NIU_WORDS];
    /* The translation of coordinates is on; the stored bit is its complement. */
    uint32_t flip = offset == CONFIG ? TRANSLATES : 0;
    if (offset >= CONFIG && offset < CONFIG_END) {
        if (write)
            *word = value ^ flip;
        if (write && offset == CONFIG)
            m->card->grid->single_store[noc][m->y * wg_grid_width(m->card->grid) + m->x] = value >> 13 & 1;
        return *word ^ flip;
    }
    if (!write && offset >= COUNTERS && offset < COUNTERS_END) {
        const wg_grid *g = m->card->grid;
        unsigned counter = (offset - COUNTERS) / 4, tile = m->y * wg_grid_width(g) + m->x;
        return counter < 48 ? 0 : g->served[noc][tile][counter - 48]; /* these tiles start no requests */
    }
    wg_model_unknown(m, m->card->chip->niu_base + offset, value, write);
    return 0;
}

uint32_t wg_model_niu_word(wg_model *m, uint64_t address, uint32_t value, bool write)
{
    const bool second = (address & 0xFFFF0000) == 0xFFB30000, pages = m->card->chip->niu.second_page;
    const unsigned noc = m->kind == WG_TILE_DRAM ? second : m->card->via_noc | (pages && second);
    return wg_model_niu(m, noc, (uint32_t)address & 0xFFFF, value, write);
}

/* ---- DRAM, and tiles where only the router works ------------------------------------------------------ */

static bool is_niu(uint64_t address)
{
    uint32_t low = (uint32_t)address;
    return low >= 0xFFB20000 && low < 0xFFB40000;
}

/* Each tile of a group shows the NIUs of all three, for both NoCs, in this order of rows. Fact: tt-umd, tests/api/test_noc.cpp. */
static const uint8_t dram_rows_wh[6][3] = {{1, 11, 0}, {7, 5, 6}, {1, 11, 0}, {10, 2, 9}, {4, 8, 3}, {7, 5, 6}};
static uint32_t dram_apb_word(wg_model *m, uint64_t offset, uint32_t value, bool write)
{
    enum { NIUS = 0x80000, NIUS_END = 0xB0000 };
    if (offset < NIUS || offset >= NIUS_END) {
        wg_model_unknown(m, (UINT64_C(1) << 32) + offset, value, write);
        return 0;
    }
    const unsigned nth = (unsigned)(offset - NIUS) >> 16, noc = (unsigned)offset >> 15 & 1;
    wg_model *other = wg_card_model(m->card, m->x, dram_rows_wh[m->index % 6][nth]);
    return wg_model_niu(other, noc, (uint32_t)offset & 0x7FFF, value, write);
}

bool wg_dram_tile_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    wg_grid *grid = m->card->grid;
    const uint64_t apb = UINT64_C(1) << 32;
    if (m->card->chip->niu.dram_groups && address >= apb && address < apb + 0x100000) {
        wg_model_words(m, address - apb, data, bytes, write, dram_apb_word);
        return true;
    }
    if ((address >= apb || !m->card->chip->niu.dram_groups) && is_niu(address)) { /* Blackhole: in every 4 GiB */
        wg_model_words(m, address, data, bytes, write, wg_model_niu_word);
        return true;
    }
    bool full = false;
    bool done = write ? wg_dram_write(&grid->dram, m->index, address, data, bytes, &full)
                      : wg_dram_read(&grid->dram, m->index, address, data, bytes);
    if (full)
        wg_grid_fail(grid, WG_ERR_NO_MEMORY, "DRAM has used up its %llu bytes of host memory",
                     (unsigned long long)grid->dram.used);
    return done;
}

/* Facts: NoC/MemoryMap.md; tt-umd, arch/blackhole_implementation.hpp (NOC0_CONTROL_REG_ADDR_BASE_MAP). */
bool wg_niu_only_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    const uint32_t page = (uint32_t)m->card->chip->niu_base; /* Blackhole's routers show them there in every 4 GiB */
    const bool router = m->kind == WG_TILE_ROUTER && page && (uint32_t)address >= page;
    if (!router && !is_niu(address) && address < m->card->chip->niu_base)
        return false;
    wg_model_words(m, address, data, bytes, write, wg_model_niu_word);
    return true;
}
