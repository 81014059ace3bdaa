/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of the two NIUs and of the overlay streams. src/noc/niu.c implements their effects.
 *
 * Facts: NoC/MemoryMap.md of each architecture; names and offsets from isa/tile_regs.def and, for those that no
 * public header names, from the page.
 */
#include "backend/config.h"
#include "machine/niu_regs.h"

#include "report/findings.h"
#include "isa/tile_regs.h"
#include "noc/floorplan.h"
#include "machine/overlay.h"
#include "machine/tile.h"
#include "tile/windows.h"

const wg_niu_map *wg_niu_map_of(const wg_tile *t)
{
    static const wg_niu_map maps[2] = {
        [WG_ARCH_BH] = {.len_be_1 = 0x24,
                        .data = 0x28,
                        .exclude = 0x2C,
                        .command = 0x40,
                        .node_id = 0x44,
                        .endpoint_id = 0x48,
                        .clear = 0x60,
                        .y_table = 0x130,
                        .logical = 0x148,
                        .column_mask = 0x150,
                        .row_mask = 0x154,
                        .config_end = 0x180},
        [WG_ARCH_WH] = {.data = 0x24,
                        .command = 0x28,
                        .node_id = 0x2C,
                        .endpoint_id = 0x30,
                        .clear = 0x50,
                        .status = 0x54,
                        .y_table = 0x128,
                        .logical = 0x138,
                        .config_end = 0x13C},
    };
    return &maps[t->arch->id];
}

void wg_niu_regs_reset(wg_tile *t)
{
    const uint16_t coordinate = t->regions.niu.coordinate;
    wg_streams_reset(&t->regions.niu.streams);
    for (unsigned noc = 0; noc < 2; noc++)
        t->regions.niu.word[noc][wg_niu_map_of(t)->logical / 4] = coordinate;
}

static void not_modelled(wg_tile *t, uint32_t address, uint32_t value, const char *what, unsigned agent, uint32_t pc)
{
    wg_findf(
        t, WG_F_UNIMPLEMENTED_REGISTER,
        (wg_finding){
            .agent = (uint8_t)agent, .pc = pc, .has_pc = agent <= WG_AGENT_CORE_T2, .subject = address, .value = value},
        "0x%08x: %s", address, what);
}

/* The tile's place on this NoC, the size of the grid and the routing direction (NoC/MemoryMap.md, NOC_NODE_ID). */
static uint32_t node_id(const wg_tile *t, unsigned noc)
{
    const wg_floorplan *f = wg_floorplan_of(t->arch->id);
    uint32_t w = f->width, h = f->height;
    uint32_t x = t->regions.niu.coordinate & 63, y = t->regions.niu.coordinate >> 6 & 63;
    if (noc) {
        x = (w - 1 - x) & 63;
        y = (h - 1 - y) & 63;
    }
    return x | y << 6 | w << 12 | h << 19 | (uint32_t)!noc << 28;
}

/* The tile's index within its kind, the kind, and the NoC. */
static uint32_t endpoint_id(const wg_tile *t, unsigned noc)
{
    const wg_floorplan *f = wg_floorplan_of(t->arch->id);
    return wg_floorplan_index(f, t->regions.niu.coordinate & 63, t->regions.niu.coordinate >> 6 & 63) |
           (uint32_t)t->spec->endpoint << 16 | noc << 24;
}

/* BH: reading returns one of the raised interrupts and clears it, unless clearing is disabled. */
static uint32_t read_rtz_num(wg_tile *t, unsigned noc)
{
    uint32_t *w = t->regions.niu.word[noc], config = w[WG_NIU_RTZ_CFG / 4];
    uint32_t raised = w[WG_NIU_RTZ_SOURCE / 4] & config & 0xFFFF;
    if (!raised)
        return 0;
    unsigned bit = (unsigned)__builtin_ctz(raised);
    wg_poll_disturb(t);
    if (!(config >> 28 & 1)) {
        w[WG_NIU_RTZ_SOURCE / 4] &= ~(UINT32_C(1) << bit);
        wg_niu_update_irq(t, noc);
    }
    return bit;
}

bool wg_niu_peek(const wg_tile *t, unsigned noc, uint32_t offset, uint32_t *value)
{
    const wg_niu_map *map = wg_niu_map_of(t);
    noc &= 1;
    uint32_t within = offset % t->arch->noc.stride;
    bool initiators = offset < WG_NIU_INITIATORS * (uint32_t)t->arch->noc.stride; /* every block shows the same ids */
    if (map->row_mask && offset == WG_NIU_RTZ_NUM)
        return false;
    if (initiators && within == map->node_id) {
        *value = node_id(t, noc);
    } else if (initiators && within == map->endpoint_id) {
        *value = endpoint_id(t, noc);
    } else if (map->status && offset == map->status) {
        *value = 0;
        for (unsigned i = 0; i < WG_NIU_INITIATORS; i++)
            *value |= (t->regions.niu.word[noc][(i * t->arch->noc.stride + map->command) / 4] & 1) << i;
    } else {
        *value = offset / 4 < WG_NIU_WORDS ? t->regions.niu.word[noc][offset / 4] : 0;
    }
    return true;
}

uint32_t wg_niu_read(wg_tile *t, unsigned noc, uint32_t offset, unsigned agent, uint32_t pc)
{
    const wg_niu_map *map = wg_niu_map_of(t);
    const uint32_t within = offset % t->arch->noc.stride;
    uint32_t value;
    if (!wg_niu_peek(t, noc, offset, &value))
        return read_rtz_num(t, noc & 1);
    /* All status but that of the request FIFOs (BH): debug information of routers and NIU, packet counters. */
    bool status = offset >= 0x300 && offset < t->arch->noc.stride && offset != WG_NIU_RTZ_SOURCE;
    if (status || (map->row_mask && within >= 0x64 && within < 0x6C))
        not_modelled(t, 0xFFB20000 + 0x10000 * (noc & 1) + offset, 0, "debug information of NIU and router", agent, pc);
    return value;
}

/* Writes an initiator's register; false if there is none at the offset. */
static bool write_initiator(wg_tile *t, unsigned noc, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    const wg_niu_map *map = wg_niu_map_of(t);
    uint32_t within = offset % t->arch->noc.stride, i = offset / t->arch->noc.stride;
    if (i >= WG_NIU_INITIATORS || within > map->command || within == map->node_id || within == map->endpoint_id)
        return false;
    uint32_t *command = &t->regions.niu.word[noc][(i * t->arch->noc.stride + map->command) / 4];
    if (within == map->command && !(value & 1))
        return true;
    if (*command & 1) {
        wg_findf(t, WG_F_NOC_BUSY_INITIATOR,
                 (wg_finding){.agent = (uint8_t)agent,
                              .pc = pc,
                              .has_pc = agent <= WG_AGENT_CORE_T2,
                              .subject = offset,
                              .value = value},
                 "register 0x%x of NoC %u", offset, noc);
        if (within == map->command)
            return true;
    }
    if (within == map->command)
        wg_niu_start(t, noc, i, agent, pc);
    else
        t->regions.niu.word[noc][offset / 4] = within == WG_NIU_TAG ? value & 0xFFFF : value;
    return true;
}

void wg_niu_write(wg_tile *t, unsigned noc, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    const wg_niu_map *map = wg_niu_map_of(t);
    noc &= 1;
    if (write_initiator(t, noc, offset, value, agent, pc))
        return;
    uint32_t *word = offset / 4 < WG_NIU_WORDS ? &t->regions.niu.word[noc][offset / 4] : NULL;
    if (offset == map->clear) {
        wg_niu_clear(t, noc, value);
    } else if (map->row_mask && offset == WG_NIU_RTZ_CLR) {
        t->regions.niu.word[noc][WG_NIU_RTZ_SOURCE / 4] &= ~value;
        wg_niu_update_irq(t, noc);
    } else if (word && offset >= WG_NIU_CFG_0 && offset < map->config_end) {
        *word = value;
        if (offset == WG_NIU_CFG_0 && value & (map->row_mask ? 0x11000 : 0x1000))
            not_modelled(t, 0xFFB20000 + 0x10000 * noc + offset, value, "NIU_CFG_0: clock disable, request FIFO", agent,
                         pc);
        if (map->row_mask && offset == WG_NIU_RTZ_CFG)
            wg_niu_update_irq(t, noc);
    } else if (!(offset >= WG_NIU_COUNTERS && offset < 0x400)) { /* counters and status are read-only */
        not_modelled(t, 0xFFB20000 + 0x10000 * noc + offset, value, "no register of the NIU is known there", agent, pc);
        if (word)
            *word = value;
    }
}

uint32_t wg_overlay_read(wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc)
{
    (void)agent;
    (void)pc;
    return wg_overlay_register_read(t, offset / 0x1000 % WG_OVERLAY_STREAMS, offset % 0x1000 / 4);
}

void wg_overlay_write(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    unsigned stream = offset / 0x1000 % WG_OVERLAY_STREAMS, reg = offset % 0x1000 / 4;
    if (wg_overlay_register_write(t, stream, reg, value))
        return;
    not_modelled(t, 0xFFB40000 + offset, value, "no document describes this register of an overlay stream", agent, pc);
    wg_overlay_stream_write(t, stream, reg, value);
}

wg_region_answer wg_niu_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    uint32_t offset = req->address & 0xFFFC;
    unsigned noc = req->path == WG_PATH_NIU1, agent = WG_AGENT_CORE_B + req->core;
    if (req->kind == WG_REQ_WRITE)
        wg_niu_write(t, noc, offset, wg_register_store(t, req), agent, req->pc);
    else
        value[0] = wg_narrow(req, wg_niu_read(t, noc, offset, agent, req->pc));
    return WG_REGION_DONE;
}

wg_region_answer wg_overlay_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    uint32_t offset = (req->address - 0xFFB40000) & 0x3FFFC;
    unsigned agent = WG_AGENT_CORE_B + req->core;
    if (req->kind == WG_REQ_WRITE)
        wg_overlay_write(t, offset, wg_register_store(t, req), agent, req->pc);
    else
        value[0] = wg_narrow(req, wg_overlay_read(t, offset, agent, req->pc));
    wg_config_overlay_busy(t); /* STREAMWRCFG reads this, too */
    return WG_REGION_DONE;
}

/* ---- coordinates ------------------------------------------------------------------------------------------ */

/* Entry `index` of a table: six of five bits in each register (BH), eight of four (WH). */
static unsigned table_entry(const wg_tile *t, unsigned noc, uint32_t offset, unsigned index)
{
    const uint32_t *w = &t->regions.niu.word[noc & 1][offset / 4];
    return t->arch->noc.wide_addresses ? w[index / 6] >> 5 * (index % 6) & 31 : w[index / 8] >> 4 * (index % 8) & 15;
}

uint16_t wg_niu_translate(const wg_tile *t, unsigned noc, uint16_t place)
{
    const wg_niu_map *map = wg_niu_map_of(t);
    const uint32_t *w = t->regions.niu.word[noc & 1];
    if (!(w[WG_NIU_CFG_0 / 4] >> 14 & 1))
        return place & 0xFFF;
    unsigned x = place & 63, y = place >> 6 & 63, x31 = x & 31, y31 = y & 31;
    unsigned to_x = table_entry(t, noc, WG_NIU_X_TABLE, x31), to_y = table_entry(t, noc, map->y_table, y31);
    if (t->arch->noc.wide_addresses) {
        uint32_t ddr = w[0x16C / 4]; /* DDR_COORD_TRANSLATE_TABLE_5, followed by _COL_SWAP */
        bool ddr_9 = ddr >> 10 & 1, ddr_0 = ddr >> 11 & 1;
        bool swapped = (x31 ^ 9) == 9 ? ddr_9 : (x31 ^ 9) == 0 && ddr_0;
        if (w[0x170 / 4] >> y31 & 1 && swapped)
            to_x = x31 ^ 9;
        else if (w[map->row_mask / 4] >> y31 & 1)
            to_x = x;
        if ((x31 == 9 && ddr_9) || (x31 == 0 && ddr_0))
            to_y = table_entry(t, noc, 0x158, y31);
        else if (w[map->column_mask / 4] >> x31 & 1)
            to_y = y;
    }
    return (uint16_t)(to_x | to_y << 6);
}

/* An entry of the table leads nowhere if neither firmware nor software has set it. */
void wg_niu_check_place(wg_tile *t, unsigned noc, uint16_t place, wg_asker asker)
{
    const unsigned x = place & 63, y = place >> 6 & 63, to = wg_niu_translate(t, noc, place);
    const bool beyond = (x > 31 && (to & 63) != x) || (y > 31 && to >> 6 != y),
               unset_x = !wg_translation_sets(t->arch->id, x & 31, 0) && !(to & 63),
               unset_y = !wg_translation_sets(t->arch->id, 0, y & 31) && !(to >> 6 & 63);
    if (!(t->regions.niu.word[noc & 1][WG_NIU_CFG_0 / 4] >> 14 & 1) || (!beyond && !unset_x && !unset_y))
        return;
    wg_findf(t, WG_F_NOC_COORDINATES, wg_asker_finding(asker, (wg_finding){.subject = place, .value = to}),
             "(%u, %u) of NoC %u: %s; the request goes to (%u, %u)", x, y, noc,
             beyond ? "only the low five bits count" : "the translation has no such entry", to & 63, to >> 6 & 63);
}

static void set_table(wg_tile *t, unsigned noc, uint32_t offset, const uint8_t entries[32])
{
    uint32_t *w = &t->regions.niu.word[noc][offset / 4];
    unsigned each = t->arch->noc.wide_addresses ? 6 : 8, bits = t->arch->noc.wide_addresses ? 5 : 4;
    for (unsigned i = 0; i < 32; i++)
        w[i / each] |= (uint32_t)(entries[i] & ((1u << bits) - 1)) << bits * (i % each);
}

void wg_niu_firmware(wg_tile *t, uint32_t harvested)
{
    const wg_floorplan *f = wg_floorplan_of(t->arch->id);
    const wg_niu_map *map = wg_niu_map_of(t);
    for (unsigned noc = 0; noc < 2; noc++) {
        uint32_t *w = t->regions.niu.word[noc];
        wg_translation table;
        wg_translation_of(f, harvested, noc, &table);
        set_table(t, noc, WG_NIU_X_TABLE, table.x);
        set_table(t, noc, map->y_table, table.y);
        if (map->row_mask) {
            w[map->row_mask / 4] = table.raw_rows;
            w[map->column_mask / 4] = table.raw_columns;
        }
        w[WG_NIU_CFG_0 / 4] |= 1u << 14;
        w[map->logical / 4] =
            wg_floorplan_logical(f, harvested, t->regions.niu.coordinate & 63, t->regions.niu.coordinate >> 6 & 63);
        wg_floorplan_opt_out(f, harvested, noc, &w[WG_NIU_ROUTER_CFG_1 / 4], &w[WG_NIU_ROUTER_CFG_3 / 4]);
    }
}
