/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card: creation, configuration space, BARs.
 *
 * Facts: PCIExpressTile/README.md of each architecture, and the windows of chip.c. Decided here: an access that crosses the
 * end of a window continues after it; unmapped addresses read as zero.
 */
#include "chip/card.h"

#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>

/* ---- Tiles --------------------------------------------------------------------------------------------- */

static const wg_access_fn accesses[WG_TILE_KINDS] = {
    [WG_TILE_ROUTER] = wg_niu_only_access,   [WG_TILE_DRAM] = wg_dram_tile_access,
    [WG_TILE_PCIE] = wg_pcie_access,         [WG_TILE_ARC] = wg_arc_access,
    [WG_TILE_L2CPU] = wg_l2cpu_access,       [WG_TILE_SECURITY] = wg_niu_only_access,
    [WG_TILE_HARVESTED] = wg_niu_only_access};

static bool tile_read(void *card, wg_grid *grid, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes)
{
    wg_model *m = wg_card_model(card, x, y);
    (void)grid;
    return accesses[m->kind](m, address, to, bytes, false);
}

static bool tile_write(void *card, wg_grid *grid, unsigned x, unsigned y, uint64_t address, const void *from,
                       size_t bytes)
{
    wg_model *m = wg_card_model(card, x, y);
    (void)grid;
    return accesses[m->kind](m, address, (uint8_t *)(uintptr_t)from, bytes, true);
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, p + i, bytes - i < 8 ? bytes - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* All tiles' state and the PCI Express tile's registers. */
static uint64_t hash_all(void *user, wg_grid *grid)
{
    const wg_card *card = user;
    (void)grid;
    uint64_t hash = mix(1, &card->arc, sizeof card->arc);
    hash = mix(hash, card->pcie.config, sizeof card->pcie.config);
    hash = mix(hash, card->pcie.tlb, sizeof card->pcie.tlb);
    hash = mix(hash, card->pcie.iatu, sizeof card->pcie.iatu);
    hash = mix(hash, card->pcie.dma, sizeof card->pcie.dma);
    hash = mix(hash, card->l2cpu, sizeof card->l2cpu);
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++)
        hash = mix(hash, &card->model[i].niu, sizeof card->model[i].niu);
    return hash;
}

/* Copies all of it out or in. */
static size_t copy_all(void *user, void *to, const void *from)
{
    wg_card *card = user;
    struct {
        void *data;
        size_t bytes;
    } const parts[] = {
        {&card->arc, sizeof card->arc},          {card->pcie.config, sizeof card->pcie.config},
        {card->pcie.tlb, sizeof card->pcie.tlb}, {card->pcie.iatu, sizeof card->pcie.iatu},
        {card->pcie.dma, sizeof card->pcie.dma}, {&card->pcie.device_control, sizeof card->pcie.device_control},
        {card->l2cpu, sizeof card->l2cpu}};
    size_t at = 0;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts + WG_GRID_MAX_TILES; i++) {
        unsigned model = i - (unsigned)(sizeof parts / sizeof *parts);
        bool part = i < sizeof parts / sizeof *parts;
        void *data = part ? parts[i].data : &card->model[model].niu;
        size_t bytes = part ? parts[i].bytes : sizeof card->model[model].niu;
        if (to)
            memcpy((char *)to + at, data, bytes);
        if (from)
            memcpy(data, (const char *)from + at, bytes);
        at += bytes;
    }
    if (from) {
        memset(card->pcie.decoded, 0, sizeof card->pcie.decoded);
        card->pcie.last_bytes = 0;
    }
    return at;
}

static const wg_edge_ops tile_ops = {.read = tile_read, .write = tile_write};
static const wg_edge_ops arc_ops = {.read = tile_read, .write = tile_write, .hash = hash_all, .state = copy_all};

static void place_tiles(wg_card *card)
{
    for (unsigned kind = 0; kind < WG_TILE_KINDS; kind++)
        if (accesses[kind])
            wg_grid_plug(card->grid, (wg_tile_kind)kind, kind == WG_TILE_ARC ? &arc_ops : &tile_ops, card);
    for (unsigned y = 0; y < wg_grid_height(card->grid); y++)
        for (unsigned x = 0; x < wg_grid_width(card->grid); x++) {
            wg_model *m = wg_card_model(card, x, y);
            m->card = card;
            m->kind = (uint8_t)wg_grid_kind(card->grid, x, y);
            m->index = (uint8_t)wg_grid_index(card->grid, x, y);
            m->x = (uint8_t)x;
            m->y = (uint8_t)y;
        }
}

/* ---- Life cycle ---------------------------------------------------------------------------------------- */

wg_status wg_card_create(const wg_card_desc *given, wg_card **out)
{
    wg_card_desc own = {0};
    if (!given || !out || given->struct_size < offsetof(wg_card_desc, host_read) || given->struct_size > sizeof own)
        return WG_ERR_ARGUMENT;
    memcpy(&own, given, given->struct_size);
    *out = NULL;
    wg_grid *grid = NULL;
    wg_status status = wg_grid_create(own.grid, &grid);
    if (status != WG_OK)
        return status;
    wg_card *card = calloc(1, sizeof *card);
    if (!card) {
        wg_grid_destroy(grid);
        return WG_ERR_NO_MEMORY;
    }
    card->grid = grid;
    own.grid = NULL; /* the caller's */
    card->desc = own;
    card->chip = &wg_chips[grid->desc.arch];
    wg_grid_host_memory(grid, own.host_read, own.host_write, own.host);
    place_tiles(card);
    wg_arc_init(card);
    wg_pcie_init(card);
    *out = card;
    return WG_OK;
}

void wg_card_destroy(wg_card *card)
{
    if (!card)
        return;
    wg_grid_destroy(card->grid);
    free(card);
}

const char *wg_card_error(const wg_card *card) { return card->error; }
wg_grid *wg_card_grid(wg_card *card) { return card->grid; }
size_t wg_card_finding_count(const wg_card *card) { return card->findings; }

const wg_finding *wg_card_finding_at(const wg_card *card, size_t index, wg_where *where)
{
    if (index >= card->findings)
        return NULL;
    if (where)
        *where = card->where[index];
    return &card->finding[index];
}

static wg_status nowhere(wg_card *card, uint64_t subject, bool write, size_t bytes, const char *what)
{
    wg_card_find(card, WG_F_HOST_NOWHERE, WG_NOWHERE, WG_NOWHERE, subject, bytes, "%s of %zu bytes: %s 0x%llx",
                 write ? "write" : "read", bytes, what, (unsigned long long)subject);
    snprintf(card->error, sizeof card->error, "%s of %zu bytes: %s 0x%llx", write ? "write" : "read", bytes, what,
             (unsigned long long)subject);
    return WG_ERR_ADDRESS;
}

/* ---- Configuration space ------------------------------------------------------------------------------- */

uint32_t wg_card_config_read(wg_card *card, uint32_t offset)
{
    if (offset % 4 == 0 && offset < sizeof card->pcie.config)
        return card->pcie.config[offset / 4];
    nowhere(card, offset, false, 4, "configuration space ends before offset");
    return 0;
}

void wg_card_config_write(wg_card *card, uint32_t offset, uint32_t value)
{
    enum { COMMAND = 1, LATENCY = 3, FIRST_BAR = 4, LAST_BAR = 9, ROM = 12, INTERRUPT = 15 };
    unsigned reg = offset / 4;
    uint32_t mask = 0;
    if (reg == COMMAND || reg == LATENCY)
        mask = 0xFFFF;
    else if (reg == INTERRUPT)
        mask = 0xFF;
    else if (reg >= FIRST_BAR && reg <= LAST_BAR)
        mask = (uint32_t)(~(card->chip->bar_size[(reg - FIRST_BAR) & ~1u] - 1) >> (reg & 1 ? 32 : 0));
    else if (reg == ROM)
        return; /* no expansion ROM: the host's sizing write is ignored */
    if (offset % 4 || !mask)
        nowhere(card, offset, true, 4, "configuration space cannot be written at");
    else
        card->pcie.config[reg] = (card->pcie.config[reg] & ~mask) | (value & mask);
    card->pcie.last_bytes = 0; /* BARs may have moved */
}

/* ---- Windows ------------------------------------------------------------------------------------------- */

static wg_status at_tile(wg_card *card, unsigned noc, unsigned x, unsigned y, uint64_t address, uint8_t *data,
                         size_t bytes, bool write)
{
    card->via_noc = (uint8_t)noc;
    wg_status status = write ? wg_grid_write(card->grid, x, y, address, data, bytes)
                             : wg_grid_read(card->grid, x, y, address, data, bytes);
    card->via_noc = 0;
    if (status == WG_OK)
        return status;
    if (!write)
        memset(data, 0, bytes);
    wg_card_find(card, WG_F_HOST_NOWHERE, x, y, address, bytes, "%s", wg_grid_error(card->grid));
    snprintf(card->error, sizeof card->error, "%s", wg_grid_error(card->grid));
    return status;
}

static wg_status multicast(wg_card *card, const wg_window *w, uint64_t address, uint8_t *data, size_t bytes)
{
    wg_status status = WG_OK;
    for (unsigned y = 0; y < wg_grid_height(card->grid) && y < WG_CHIP_ROWS; y++)
        for (unsigned x = 0; x < wg_grid_width(card->grid); x++)
            if (w->row[y] >> x & 1 && wg_grid_kind(card->grid, x, y) == WG_TILE_TENSIX) {
                wg_status one = at_tile(card, w->noc, x, y, address, data, bytes, true);
                status = status == WG_OK ? one : status;
            }
    return status;
}

static const wg_window *window(wg_card *card, unsigned index)
{
    wg_pcie *p = &card->pcie;
    wg_window *w = &p->window[index];
    if (!p->decoded[index]) {
        wg_chip_window(card->chip, card->grid, p->tlb, index, w);
        p->decoded[index] = true;
    }
    return w;
}

static wg_status through_window(wg_card *card, unsigned index, uint64_t within, uint8_t *data, size_t bytes, bool write)
{
    const wg_window *w = window(card, index);
    if (w->broken)
        wg_card_find(card, WG_F_HOST_WINDOW, WG_NOWHERE, WG_NOWHERE, index, 0, "window %u: %s", index, w->broken);
    if (!w->somewhere) {
        if (!write)
            memset(data, 0, bytes);
        return nowhere(card, index, write, bytes, "there is no tile at the coordinates of window");
    }
    if (!w->multicast)
        return at_tile(card, w->noc, w->x, w->y, w->address + within, data, bytes, write);
    if (write)
        return multicast(card, w, w->address + within, data, bytes);
    wg_card_find(card, WG_F_HOST_WINDOW, WG_NOWHERE, WG_NOWHERE, index, 1, "window %u: read through a multicast window",
                 index);
    return at_tile(card, w->noc, w->x, w->y, w->address + within, data, bytes, false);
}

/* ---- BARs ---------------------------------------------------------------------------------------------- */

static uint64_t bar_base(const wg_card *card, unsigned bar)
{
    return (card->pcie.config[4 + bar] & ~UINT32_C(15)) | (uint64_t)card->pcie.config[5 + bar] << 32;
}

static bool find_bar(const wg_card *card, uint64_t address, unsigned *bar, uint64_t *offset)
{
    const wg_chip *chip = card->chip;
    for (unsigned i = 0; i < 6; i += 2) {
        const uint64_t base = bar_base(card, i);
        if (!chip->bar_size[i] || address - base >= chip->bar_size[i])
            continue;
        bool alias = i == 4 && chip->bar4_alias;
        *bar = alias ? 0 : i;
        *offset = address - base + (alias ? chip->bar4_alias : 0);
        return true;
    }
    return false;
}

static size_t least(size_t a, uint64_t b) { return a < b ? a : (size_t)b; }

/* Is it a register of a window? Apart from memory, hosts access these most often. */
static bool in_tlb(const wg_card *card, uint64_t address, uint64_t *offset)
{
    *offset = address - bar_base(card, 0) - card->chip->tlb_config;
    return *offset < 4 * (uint64_t)card->chip->tlb_words;
}

/* Writes registers of the windows. A window that changes is decoded again. */
static size_t tlb_access(wg_card *card, uint64_t offset, uint8_t *data, size_t bytes, bool write)
{
    wg_pcie *p = &card->pcie;
    uint64_t end = 4 * (uint64_t)card->chip->tlb_words;
    bytes = least(bytes, end - offset);
    wg_model_memory((uint8_t *)p->tlb, end, offset, data, bytes, write);
    for (uint64_t i = offset / 4; write && i <= (offset + bytes - 1) / 4; i++) {
        uint64_t strided = card->chip->tlb_words - card->chip->strided;
        uint64_t index = i < strided ? i / card->chip->tlb_words_each : i - strided;
        if (index < WG_CHIP_TLBS)
            p->decoded[index] = false;
        p->last_bytes = 0;
    }
    return bytes;
}

static uint32_t apb_word(wg_model *m, uint64_t offset, uint32_t value, bool write)
{
    if (!write)
        return wg_arc_apb_read(m->card, (uint32_t)offset);
    wg_arc_apb_write(m->card, (uint32_t)offset, value);
    return 0;
}

static uint32_t bar2_word(wg_model *m, uint64_t offset, uint32_t value, bool write)
{
    if (!write)
        return wg_pcie_bar2_read(m->card, (uint32_t)offset);
    wg_pcie_bar2_write(m->card, (uint32_t)offset, value);
    return 0;
}

static uint32_t niu0_word(wg_model *m, uint64_t offset, uint32_t value, bool write)
{
    return wg_model_niu(m, 0, (uint32_t)offset, value, write);
}

static uint32_t niu1_word(wg_model *m, uint64_t offset, uint32_t value, bool write)
{
    return wg_model_niu(m, 1, (uint32_t)offset, value, write);
}

bool wg_card_aims(const wg_card *card, uint64_t address)
{
    unsigned bar;
    uint64_t offset;
    return find_bar(card, address, &bar, &offset) && bar == 0 && offset >= card->chip->tlb_config &&
           offset - card->chip->tlb_config < 4 * (uint64_t)card->chip->tlb_words;
}

/* Accesses BAR 2 and the registers in BAR 0. Returns the bytes served; 0: none. */
static size_t registers(wg_card *card, unsigned bar, uint64_t offset, uint8_t *data, size_t bytes, bool write)
{
    const wg_chip *chip = card->chip;
    wg_model *pcie = wg_card_model(card, chip->pcie_x, chip->pcie_y);
    struct {
        unsigned bar;
        uint64_t from, size;
        wg_word_fn word;
        wg_model *tile;
    } const areas[] = {
        {2, 0, chip->bar_size[2], bar2_word, pcie},
        {0, chip->niu_bar[0], chip->niu_bytes, niu0_word, pcie},
        {0, chip->niu_bar[1], chip->niu_bytes, niu1_word, pcie},
        {0, chip->apb_bar, chip->apb_bar ? 0x100000 : 0, apb_word, wg_card_model(card, chip->arc_x, chip->arc_y)}};
    if (bar == 0 && chip->csm_bar && offset >= chip->csm_bar && offset - chip->csm_bar < WG_ARC_CSM) {
        bytes = least(bytes, WG_ARC_CSM - (offset - chip->csm_bar));
        at_tile(card, 0, chip->arc_x, chip->arc_y, chip->arc_xbar + 0x10000000 + (offset - chip->csm_bar), data, bytes,
                write);
        return bytes;
    }
    for (unsigned i = 0; i < sizeof areas / sizeof *areas; i++)
        if (bar == areas[i].bar && offset >= areas[i].from && offset - areas[i].from < areas[i].size) {
            bytes = least(bytes, areas[i].size - (offset - areas[i].from));
            wg_model_words(areas[i].tile, offset - areas[i].from, data, bytes, write, areas[i].word);
            return bytes;
        }
    return 0;
}

/* Caches the window just used: more accesses often follow. */
static void remember(wg_card *card, unsigned index)
{
    wg_pcie *p = &card->pcie;
    const wg_window *w = &p->window[index];
    p->last_tile = w->somewhere && !w->multicast && !w->broken ? wg_grid_peek(card->grid, w->x, w->y) : NULL;
    p->last_address = w->address;
}

/* The address in L1 if the access lies entirely in L1 of the tile behind the cached window. */
static inline bool in_last_tile(const wg_card *card, uint64_t address, size_t bytes, uint64_t *at)
{
    const wg_pcie *p = &card->pcie;
    uint64_t within = address - p->last_base;
    if (within >= p->last_bytes || !p->last_tile)
        return false;
    *at = p->last_address + within;
    uint64_t l1 = p->last_tile->tile->spec->l1_bytes;
    return bytes && bytes <= p->last_bytes - within && *at < l1 && bytes <= l1 - *at;
}

/* Does the word of a window's registers have this value already? Hosts set a window before every access, mostly without changing it. */
static inline bool tlb_holds(const wg_card *card, uint64_t offset, const void *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return offset % 4 == 0 && card->pcie.tlb[offset / 4] == value;
}

/* One part of an access, up to the end of a window or area. Returns its size. */
static size_t piece(wg_card *card, uint64_t address, uint8_t *data, size_t bytes, bool write, wg_status *status)
{
    wg_pcie *p = &card->pcie;
    unsigned bar, index = p->last_index;
    uint64_t offset, within = address - p->last_base, room = p->last_bytes - within;
    bool found = within < p->last_bytes;
    if (!found && in_tlb(card, address, &offset))
        return tlb_access(card, offset, data, bytes, write);
    if (found || find_bar(card, address, &bar, &offset)) {
        if (found || wg_chip_window_at(card->chip, bar, offset, &index, &within, &room)) {
            size_t n = least(bytes, room);
            p->last_base = address - within;
            p->last_bytes = within + room;
            p->last_index = index;
            wg_status one = through_window(card, index, within, data, n, write);
            remember(card, index);
            *status = *status == WG_OK ? one : *status;
            return n;
        }
        size_t n = registers(card, bar, offset, data, bytes, write);
        if (n)
            return n;
    }
    if (!write)
        memset(data, 0, bytes);
    *status = nowhere(card, address, write, bytes, "no BAR has anything at bus address");
    return bytes;
}

wg_status wg_card_read(wg_card *card, uint64_t address, void *to, size_t bytes)
{
    wg_status status = WG_OK;
    uint64_t at;
    if (in_last_tile(card, address, bytes, &at))
        return wg_read(card->pcie.last_tile, at, to, bytes);
    for (size_t done = 0; done < bytes;)
        done += piece(card, address + done, (uint8_t *)to + done, bytes - done, false, &status);
    return status;
}

wg_status wg_card_write(wg_card *card, uint64_t address, const void *from, size_t bytes)
{
    wg_status status = WG_OK;
    uint64_t at;
    if (in_last_tile(card, address, bytes, &at))
        return wg_write(card->pcie.last_tile, at, from, bytes);
    if (bytes == 4 && in_tlb(card, address, &at) && tlb_holds(card, at, from))
        return WG_OK;
    for (size_t done = 0; done < bytes;)
        done += piece(card, address + done, (uint8_t *)(uintptr_t)from + done, bytes - done, true, &status);
    return status;
}

wg_status wg_card_tile_read(wg_card *card, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes)
{
    return at_tile(card, 0, x, y, address, to, bytes, false);
}

wg_status wg_card_tile_write(wg_card *card, unsigned x, unsigned y, uint64_t address, const void *from, size_t bytes)
{
    return at_tile(card, 0, x, y, address, (uint8_t *)(uintptr_t)from, bytes, true);
}
