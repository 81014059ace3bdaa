/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Banks and buffers: page i of an interleaved buffer is in bank i modulo the number of banks, after its earlier pages
 * it; a sharded one has the same bytes of L1 on each of its tiles.
 *
 * Facts: tt-metal, hw/inc/api/dataflow (addresses of pages), impl/allocator. Decided here: L1 banks follow
 * the tiles row by row; tt-metal's allocator shuffles them, which no kernel can tell.
 */
#include "metal/metal.h"
#include "machine/sized.h"

#include <string.h>

unsigned wg_metal_banks(const wg_metal *m, wg_metal_memory memory)
{
    const unsigned all = memory == WG_METAL_DRAM ? m->chip->banks : m->columns * m->rows;
    const unsigned wanted = memory == WG_METAL_DRAM ? WG_METAL_OF(m, dram_banks) : WG_METAL_OF(m, l1_banks);
    return wanted && wanted < all ? wanted : all;
}

void wg_metal_bank_coordinates(const wg_metal *m, wg_metal_memory memory, unsigned bank, unsigned noc, unsigned *x,
                               unsigned *y)
{
    if (memory != WG_METAL_DRAM) {
        *x = m->virtual_column[bank % m->columns];
        *y = m->virtual_row[bank / m->columns % m->rows];
        return;
    }
    const wg_metal_dram_bank *b = &m->chip->bank[bank % m->chip->banks];
    const uint8_t *port = m->chip->port[b->channel][b->port[noc]];
    const bool mirror = noc && m->chip->mirrored;
    *x = mirror ? wg_grid_width(m->grid) - 1 - port[0] : port[0];
    *y = mirror ? wg_grid_height(m->grid) - 1 - port[1] : port[1];
}

void wg_metal_bank(const wg_metal *m, wg_metal_memory memory, unsigned bank, unsigned *x, unsigned *y, uint64_t *offset)
{
    unsigned to_x, to_y;
    wg_metal_bank_coordinates(m, memory, bank, 0, &to_x, &to_y);
    *offset = memory == WG_METAL_DRAM ? m->chip->bank[bank % m->chip->banks].begins : 0;
    wg_grid_translate(m->grid, 0, to_x, to_y, x, y);
}

static uint32_t align(uint32_t value, uint32_t to) { return to ? (value + to - 1) / to * to : value; }

static uint32_t page_step(const wg_metal *m, const wg_metal_buffer *b)
{
    return align(b->page_bytes, b->memory == WG_METAL_DRAM ? WG_METAL_OF(m, dram_align) : WG_METAL_OF(m, l1_align));
}

/* Bytes in the fullest bank; 0: more than a bank can hold. */
static uint32_t bytes_per_bank(const wg_metal *m, const wg_metal_buffer *b)
{
    const uint64_t pages = (b->bytes + b->page_bytes - 1) / b->page_bytes,
                   banks = b->memory == WG_METAL_SHARDS ? b->places : wg_metal_banks(m, b->memory),
                   bytes = (pages + banks - 1) / banks * page_step(m, b);
    return bytes < UINT32_MAX ? (uint32_t)bytes : 0;
}

static wg_status check(wg_metal *m, const wg_metal_buffer *b)
{
    if (!b->bytes || !b->page_bytes || b->page_bytes > UINT32_MAX / 2 ||
        (b->memory == WG_METAL_SHARDS && (!b->places || b->bytes > (uint64_t)b->page_bytes * b->places)))
        return wg_metal_fail(m, WG_ERR_ARGUMENT, "a buffer has at least one byte, pages, and a tile for each shard");
    for (size_t i = 0; b->memory == WG_METAL_SHARDS && i < b->places; i++)
        if (b->at[i].x >= m->columns || b->at[i].y >= m->rows)
            return wg_metal_fail(m, WG_ERR_ARGUMENT,
                                 "there is no Tensix tile at column %u, row %u: the chip has %u x %u", b->at[i].x,
                                 b->at[i].y, m->columns, m->rows);
    const uint64_t end = b->memory == WG_METAL_DRAM ? WG_METAL_OF(m, dram_end) : WG_METAL_OF(m, l1_end);
    if (!bytes_per_bank(m, b) || b->address + (uint64_t)bytes_per_bank(m, b) > end)
        return wg_metal_fail(m, WG_ERR_ARGUMENT, "a buffer of %llu bytes at 0x%x does not fit into its banks",
                             (unsigned long long)b->bytes, b->address);
    return WG_OK;
}

static wg_status take(wg_metal *m, const wg_metal_buffer *given, wg_metal_buffer *own)
{
    return wg_take_sized(own, sizeof *own, given, 0, offsetof(wg_metal_buffer, at)) ? WG_OK
                                                                                    : wg_metal_size_fail(m, given);
}

static wg_status allocate(wg_metal *m, wg_metal_buffer *b)
{
    b->address = 0;
    wg_status status = check(m, b);
    if (status != WG_OK)
        return status;
    const uint32_t bytes = bytes_per_bank(m, b);
    if (b->memory == WG_METAL_DRAM) {
        if (bytes > WG_METAL_OF(m, dram_end) - m->dram_free)
            return wg_metal_fail(m, WG_ERR_ARGUMENT, "DRAM has no room for a buffer of %llu bytes",
                                 (unsigned long long)b->bytes);
        b->address = m->dram_free;
        m->dram_free += bytes;
    } else {
        if (m->l1_free_end < WG_METAL_OF(m, free_l1) || bytes > m->l1_free_end - WG_METAL_OF(m, free_l1))
            return wg_metal_fail(m, WG_ERR_ARGUMENT, "L1 has no room for a buffer of %llu bytes",
                                 (unsigned long long)b->bytes);
        const uint32_t step =
            WG_METAL_OF(m, dram_align) ? WG_METAL_OF(m, dram_align) : 1; /* the NoC transfers whole DRAM lines */
        m->l1_free_end = (m->l1_free_end - bytes) / step * step;
        b->address = m->l1_free_end;
    }
    return WG_OK;
}

wg_status wg_metal_allocate(wg_metal *m, wg_metal_buffer *b)
{
    wg_metal_buffer own;
    wg_status status = take(m, b, &own);
    if (status == WG_OK)
        status = allocate(m, &own);
    if (status == WG_OK)
        b->address = own.address;
    return status;
}

uint32_t wg_metal_free_l1(const wg_metal *m) { return WG_METAL_OF(m, free_l1); }

/* Moves the first `bytes` of a buffer, page by page. */
static wg_status move(wg_metal *m, const wg_metal_buffer *given, uint8_t *data, size_t bytes, bool write)
{
    wg_metal_buffer own;
    const wg_metal_buffer *b = &own;
    wg_status status = take(m, given, &own);
    if (status != WG_OK)
        return status;
    status = check(m, b);
    if (status == WG_OK && bytes > b->bytes)
        status = wg_metal_fail(m, WG_ERR_ARGUMENT, "%zu bytes are more than the buffer's %llu", bytes,
                               (unsigned long long)b->bytes);
    const unsigned banks = b->memory == WG_METAL_SHARDS ? (unsigned)b->places : wg_metal_banks(m, b->memory);
    for (size_t done = 0, page = 0; status == WG_OK && done < bytes; done += b->page_bytes, page++) {
        const size_t n = bytes - done < b->page_bytes ? bytes - done : b->page_bytes;
        unsigned x, y;
        uint64_t address = b->address + (uint64_t)(page / banks) * page_step(m, b), offset = 0;
        if (b->memory == WG_METAL_SHARDS)
            wg_metal_tile(m, b->at[page], &x, &y);
        else
            wg_metal_bank(m, b->memory, (unsigned)(page % banks), &x, &y, &offset);
        status = write ? wg_grid_write(m->grid, x, y, address + offset, data + done, n)
                       : wg_grid_read(m->grid, x, y, address + offset, data + done, n);
        if (status != WG_OK)
            wg_metal_fail(m, status, "%zu bytes at 0x%llx of tile %u-%u: %s", n, (unsigned long long)(address + offset),
                          x, y, wg_grid_error(m->grid));
    }
    return status;
}

wg_status wg_metal_write(wg_metal *m, const wg_metal_buffer *b, const void *from, size_t bytes)
{
    return move(m, b, (uint8_t *)(uintptr_t)from, bytes, true);
}

wg_status wg_metal_read(wg_metal *m, const wg_metal_buffer *b, void *to, size_t bytes)
{
    return move(m, b, to, bytes, false);
}
