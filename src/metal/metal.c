/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chip as tt-metal sees it, and the start of its firmware.
 *
 *     host: firmware, mailboxes, tables ──► core B starts at 0, releases the others ──► all ready: go message `done`
 *
 * Facts: tt-metal, impl/device/firmware/risc_firmware_initializer.cpp, hw/firmware/src/tt-1xx/brisc.cc, hw/inc/internal/firmware_common.h.
 */
#include "metal/metal.h"
#include "machine/sized.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registers and windows of a tile: RISCV_DEBUG_REG_SOFT_RESET_0; the cores' own RAM (dev_mem_map.h). */
enum { SOFT_RESET = 0xFFB121B0u, ALL_BUT_B = 0x47000, OWN_RAM = 0xFFB00000u, OWN_RAM_END = 0xFFB10000u };

wg_status wg_metal_fail(wg_metal *m, wg_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(m->error, sizeof m->error, format, args);
    va_end(args);
    return status;
}

wg_status wg_metal_size_fail(wg_metal *m, const void *given)
{
    return wg_metal_fail(m, WG_ERR_ARGUMENT, "a structure's struct_size is %u, which is not that of any version",
                         wg_size_given(given));
}

const char *wg_metal_error(const wg_metal *m) { return m->error; }

void wg_metal_put(uint8_t *message, uint32_t offset, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        message[offset + i] = (uint8_t)(value >> 8 * i);
}

/* ---- Shape ----------------------------------------------------------------------------------------------- */

/*
 * Columns and rows with Tensix tiles, in the order of the coordinates that firmware assigns. Harvested ones are
 * skipped.
 */
static void find_shape(wg_metal *m)
{
    const wg_metal_chip *c = m->chip;
    for (unsigned i = 0; i < c->columns; i++) {
        unsigned x = c->first_x + i, real_x, real_y;
        if (wg_grid_translate(m->grid, 0, x, c->first_y, &real_x, &real_y) &&
            wg_grid_kind(m->grid, real_x, real_y) == WG_TILE_TENSIX) {
            m->virtual_column[m->columns] = (uint8_t)x;
            m->column[m->columns++] = (uint8_t)real_x;
        }
    }
    for (unsigned i = 0; i < c->rows; i++) {
        unsigned y = c->first_y + i, real_x, real_y;
        if (wg_grid_translate(m->grid, 0, c->first_x, y, &real_x, &real_y) &&
            wg_grid_kind(m->grid, real_x, real_y) == WG_TILE_TENSIX) {
            m->virtual_row[m->rows] = (uint8_t)y;
            m->row[m->rows++] = (uint8_t)real_y;
        }
    }
}

void wg_metal_shape(const wg_metal *m, unsigned *columns, unsigned *rows)
{
    *columns = m->columns;
    *rows = m->rows;
}

bool wg_metal_tile(const wg_metal *m, wg_metal_place at, unsigned *x, unsigned *y)
{
    if (at.x >= m->columns || at.y >= m->rows)
        return false;
    *x = m->column[at.x];
    *y = m->row[at.y];
    return true;
}

bool wg_metal_virtual(const wg_metal *m, wg_metal_place at, unsigned *x, unsigned *y)
{
    if (at.x >= m->columns || at.y >= m->rows)
        return false;
    *x = m->virtual_column[at.x];
    *y = m->virtual_row[at.y];
    return true;
}

wg_status wg_metal_create(wg_grid *grid, wg_metal **out)
{
    wg_metal *m = calloc(1, sizeof *m);
    *out = m;
    if (!m)
        return WG_ERR_NO_MEMORY;
    m->grid = grid;
    m->chip = &wg_metal_chips[wg_grid_arch(grid)];
    memcpy(m->item, wg_metal_default_layout(wg_grid_arch(grid)), sizeof m->item);
    m->dram_free = WG_METAL_OF(m, dram);
    m->l1_free_end = WG_METAL_OF(m, l1_end);
    find_shape(m);
    return WG_OK;
}

void wg_metal_destroy(wg_metal *m) { free(m); }

/* ---- Memory ---------------------------------------------------------------------------------------------- */

wg_status wg_metal_tile_write(wg_metal *m, wg_metal_place at, uint32_t address, const void *from, size_t bytes)
{
    unsigned x, y;
    if (!wg_metal_tile(m, at, &x, &y))
        return wg_metal_fail(m, WG_ERR_ARGUMENT, "there is no Tensix tile at column %u, row %u: the chip has %u x %u",
                             at.x, at.y, m->columns, m->rows);
    if (!bytes)
        return WG_OK;
    wg_status status = wg_grid_write(m->grid, x, y, address, from, bytes);
    return status == WG_OK ? status
                           : wg_metal_fail(m, status, "%zu bytes at 0x%x of tile %u-%u: %s", bytes, address, x, y,
                                           wg_grid_error(m->grid));
}

/* ---- Start ----------------------------------------------------------------------------------------------- */

/* Coordinates and offsets of the banks of DRAM and L1 (noc_bank_table_init). */
static wg_status write_banks(wg_metal *m, wg_metal_place at)
{
    uint8_t table[2048] = {0};
    uint32_t n = 0;
    const unsigned shift = WG_METAL_OF(m, coordinate_shift), bits = WG_METAL_OF(m, coordinate_bits) & 15;
    const unsigned banks[2] = {wg_metal_banks(m, WG_METAL_DRAM), wg_metal_banks(m, WG_METAL_L1)};
    if ((banks[0] + banks[1]) * 8 > sizeof table || shift > 8)
        return wg_metal_fail(m, WG_ERR_ARGUMENT, "%u banks of DRAM and %u of L1 exceed the tables", banks[0], banks[1]);
    for (unsigned memory = 0; memory < 2; memory++)
        for (unsigned noc = 0; noc < 2; noc++)
            for (unsigned bank = 0; bank < banks[memory]; bank++, n += 2) {
                unsigned x, y;
                wg_metal_bank_coordinates(m, (wg_metal_memory)memory, bank, noc, &x, &y);
                wg_metal_put(table, n, 2, (y << bits | x) << shift);
            }
    for (unsigned memory = 0; memory < 2; memory++)
        for (unsigned bank = 0; bank < banks[memory]; bank++, n += 4) {
            unsigned x, y;
            uint64_t offset;
            wg_metal_bank(m, (wg_metal_memory)memory, bank, &x, &y, &offset);
            wg_metal_put(table, n, 4, offset);
        }
    return wg_metal_tile_write(m, at, WG_METAL_OF(m, banks), table, n);
}

static wg_status write_tables(wg_metal *m, wg_metal_place at)
{
    uint8_t map[2 * WG_METAL_EDGE + 64] = {0};
    const uint32_t room = WG_METAL_OF(m, columns_room), all = room + WG_METAL_OF(m, rows_room);
    if (room < m->columns || all < room + m->rows || all > sizeof map)
        return wg_metal_fail(m, WG_ERR_ARGUMENT, "the tables of coordinates have no room for %u x %u tiles", m->columns,
                             m->rows);
    memcpy(map, m->virtual_column, m->columns);
    memcpy(map + room, m->virtual_row, m->rows);
    wg_status status = wg_metal_tile_write(m, at, WG_METAL_OF(m, coordinates), map, all);
    return status == WG_OK ? write_banks(m, at) : status;
}

/* The Watcher's message: no errors so far. */
static bool watch(const wg_metal *m, uint8_t *mailboxes, uint32_t bytes)
{
    const uint32_t at = WG_METAL_OF(m, watcher) - WG_METAL_OF(m, mailboxes), ok = WG_METAL_OF(m, watcher_ok),
                   found[] = {WG_METAL_OF(m, watcher_noc0), WG_METAL_OF(m, watcher_noc1),
                              WG_METAL_OF(m, watcher_assert)};
    for (unsigned i = 0; i < sizeof found / sizeof *found; i++) {
        if (at >= bytes || found[i] >= bytes - at)
            return false;
        wg_metal_put(mailboxes, at + found[i], 1, ok);
    }
    return true;
}

static wg_status write_mailboxes(wg_metal *m, wg_metal_place at)
{
    const uint32_t bytes = WG_METAL_OF(m, mailboxes_bytes), base = WG_METAL_OF(m, mailboxes),
                   go = WG_METAL_OF(m, go) - base, core = WG_METAL_OF(m, core_info) - base;
    if (bytes > 65536 || go > bytes - 4 || core > bytes)
        return wg_metal_fail(m, WG_ERR_ARGUMENT, "the layout's mailboxes of %u bytes do not hold its messages", bytes);
    uint8_t *all = calloc(1, bytes);
    if (!all)
        return wg_metal_fail(m, WG_ERR_NO_MEMORY, "out of memory");
    const bool fits = wg_metal_core_info(m, at, all + core, bytes - core) && watch(m, all, bytes);
    wg_metal_put(all, go, 4, WG_METAL_OF(m, signal_init) << 24);
    wg_status status =
        fits ? wg_metal_tile_write(m, at, base, all, bytes)
             : wg_metal_fail(m, WG_ERR_ARGUMENT, "the layout's mailboxes do not hold what a tile is told");
    free(all);
    return status;
}

/* The instruction by which core B, started at 0, reaches its firmware: jal x0. */
static uint32_t jump_to(uint32_t target)
{
    return 0x6F | (target & 0x100000) << 11 | (target & 0x7FE) << 20 | (target & 0x800) << 9 | (target & 0xFF000);
}

static wg_status boot_tile(wg_metal *m, const wg_metal_firmware firmware[WG_CORES], wg_metal_place at)
{
    const uint32_t data[WG_CORES] = {WG_METAL_OF(m, b_data), WG_METAL_OF(m, nc_data), WG_METAL_OF(m, t0_data),
                                     WG_METAL_OF(m, t1_data), WG_METAL_OF(m, t2_data)};
    const uint32_t jump = jump_to(firmware[WG_CORE_B].entry), release = ALL_BUT_B;
    wg_status status = write_mailboxes(m, at);
    if (status == WG_OK)
        status = write_tables(m, at);
    for (unsigned c = 0; c < WG_CORES; c++)
        for (size_t i = 0; status == WG_OK && i < firmware[c].parts; i++) {
            wg_metal_part part;
            if (!wg_take_sized(&part, sizeof part, firmware[c].part, i, sizeof part))
                return wg_metal_size_fail(m, firmware[c].part);
            const bool own = part.address >= OWN_RAM && part.address < OWN_RAM_END;
            status = wg_metal_tile_write(m, at, own ? part.address - OWN_RAM + data[c] : part.address, part.data,
                                         part.bytes);
        }
    if (status == WG_OK)
        status = wg_metal_tile_write(m, at, 0, &jump, 4);
    if (status == WG_OK)
        status = wg_metal_tile_write(m, at, SOFT_RESET, &release, 4);
    if (status == WG_OK)
        m->worker[at.y][at.x].booted = true;
    return status;
}

wg_status wg_metal_boot(wg_metal *m, const wg_metal_firmware given[WG_CORES], const wg_metal_place *at, size_t places)
{
    wg_metal_firmware firmware[WG_CORES];
    for (unsigned c = 0; c < WG_CORES; c++)
        if (!wg_take_sized(&firmware[c], sizeof *firmware, given, c, sizeof *firmware))
            return wg_metal_size_fail(m, given);
    if (firmware[WG_CORE_B].entry >= 1u << 20 || firmware[WG_CORE_B].entry % 2)
        return wg_metal_fail(m, WG_ERR_ARGUMENT, "core B's firmware starts at 0x%x, which the jump at 0 does not reach",
                             firmware[WG_CORE_B].entry);
    wg_status status = WG_OK;
    for (size_t i = 0; status == WG_OK && i < places; i++)
        status = boot_tile(m, firmware, at[i]);
    return status;
}

static bool idle(const wg_metal *m, wg_metal_place at)
{
    unsigned x, y;
    uint32_t go = 0;
    return wg_metal_tile(m, at, &x, &y) && wg_grid_read(m->grid, x, y, WG_METAL_OF(m, go), &go, 4) == WG_OK &&
           go >> 24 == WG_METAL_OF(m, signal_done);
}

bool wg_metal_busy_tile(const wg_metal *m, wg_metal_place *at)
{
    for (unsigned y = 0; y < m->rows; y++)
        for (unsigned x = 0; x < m->columns; x++) {
            *at = (wg_metal_place){(uint8_t)x, (uint8_t)y};
            if (m->worker[y][x].booted && !idle(m, *at))
                return true;
        }
    return false;
}

bool wg_metal_idle(const wg_metal *m)
{
    wg_metal_place at;
    return !wg_metal_busy_tile(m, &at);
}
