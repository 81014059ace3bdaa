/* SPDX-License-Identifier: Apache-2.0 */
/* The public grid: creation, shape, access. Time is in grid_run.c. */
#include "chip/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pages.h"
#include "num/simd.h"

wg_status wg_grid_fail(wg_grid *grid, wg_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(grid->error, sizeof grid->error, format, args);
    va_end(args);
    return status;
}

const char *wg_grid_error(const wg_grid *grid) { return grid->error; }

wg_status wg_grid_create(const wg_grid_desc *given, wg_grid **out)
{
    wg_grid_desc own = {0}, *desc = &own;
    uint32_t shortcuts;
    wg_simd simd;
    if (!given || !out || given->struct_size < offsetof(wg_grid_desc, shortcuts) || given->struct_size > sizeof own)
        return WG_ERR_ARGUMENT;
    memcpy(&own, given, given->struct_size);
    if (!wg_arch_known(desc->arch) || desc->profile > WG_PROFILE_DOCUMENTED ||
        !wg_shortcuts_parse(desc->shortcuts, &shortcuts) || !wg_simd_parse(desc->simd, &simd))
        return WG_ERR_ARGUMENT;
    *out = NULL;
    wg_grid *grid = calloc(1, sizeof *grid);
    if (!grid)
        return WG_ERR_NO_MEMORY;
    grid->desc = *desc;
    grid->plan = wg_floorplan_of(desc->arch);
    grid->arch = wg_arch_of(desc->arch);
    grid->timing = &grid->arch->timing[desc->profile];
    grid->tiles = (unsigned)grid->plan->width * grid->plan->height;
    grid->network = wg_pages_new(sizeof *grid->network);
    grid->event = wg_pages_new((WG_EDGE_EVENTS + 1) * sizeof *grid->event);
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++)
        grid->next[i] = grid->sends[i] = WG_NEVER;
    for (unsigned y = 0; y < grid->plan->height; y++)
        for (unsigned x = 0; x < grid->plan->width; x++)
            grid->kind[y * grid->plan->width + x] = (uint8_t)wg_floorplan_kind(grid->plan, desc->harvested, x, y);
    for (unsigned noc = 0; noc < 2; noc++)
        wg_translation_of(grid->plan, desc->harvested, noc, &grid->translation[noc]);
    if (!wg_dram_init(&grid->dram, grid->plan->dram_channels, grid->plan->dram_bytes, desc->dram_limit) ||
        !grid->network || !grid->event) {
        wg_grid_destroy(grid);
        return WG_ERR_NO_MEMORY;
    }
    uint16_t room[WG_GRID_MAX_TILES];
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++)
        room[i] = grid->kind[i] == WG_TILE_DRAM && grid->timing->dram_queue ? grid->timing->dram_queue : WG_ROOM_ANY;
    wg_network_reset(grid->network, room);
    *out = grid;
    return WG_OK;
}

void wg_grid_destroy(wg_grid *grid)
{
    if (!grid)
        return;
    wg_workers_free(grid->workers);
    for (unsigned i = 0; i < WG_GRID_MAX_TILES; i++) {
        if (!grid->tile[i])
            wg_pages_free(grid->box[i], sizeof *grid->box[i]);
        wg_destroy(grid->tile[i]);
    }
    wg_pages_free(grid->network, sizeof *grid->network);
    wg_pages_free(grid->event, (WG_EDGE_EVENTS + 1) * sizeof *grid->event);
    wg_dram_free(&grid->dram);
    free(grid->links);
    free(grid->scaled_arch);
    free(grid);
}

/* ---- shape -------------------------------------------------------------------------------------------- */

wg_arch_id wg_grid_arch(const wg_grid *grid) { return grid->desc.arch; }
unsigned wg_grid_width(const wg_grid *grid) { return grid->plan->width; }
unsigned wg_grid_height(const wg_grid *grid) { return grid->plan->height; }

wg_tile_kind wg_grid_kind(const wg_grid *grid, unsigned x, unsigned y)
{
    unsigned w = grid->plan->width;
    return x < w && y < grid->plan->height ? (wg_tile_kind)grid->kind[y * w + x] : WG_TILE_NONE;
}

unsigned wg_grid_index(const wg_grid *grid, unsigned x, unsigned y) { return wg_floorplan_index(grid->plan, x, y); }

const char *wg_tile_kind_name(wg_tile_kind kind)
{
    static const char *const names[WG_TILE_KINDS] = {[WG_TILE_NONE] = "nothing",
                                                     [WG_TILE_ROUTER] = "a router",
                                                     [WG_TILE_TENSIX] = "a Tensix tile",
                                                     [WG_TILE_DRAM] = "a DRAM tile",
                                                     [WG_TILE_PCIE] = "a PCI Express tile",
                                                     [WG_TILE_ARC] = "the ARC tile",
                                                     [WG_TILE_ETH] = "an Ethernet tile",
                                                     [WG_TILE_L2CPU] = "an L2CPU tile",
                                                     [WG_TILE_SECURITY] = "the security tile",
                                                     [WG_TILE_HARVESTED] = "a fused-off Tensix tile"};
    return kind < WG_TILE_KINDS ? names[kind] : "nothing";
}

unsigned wg_grid_count(const wg_grid *grid, wg_tile_kind kind)
{
    unsigned n = 0;
    if (kind == WG_TILE_DRAM)
        return grid->plan->dram_channels;
    for (unsigned i = 0; i < grid->tiles; i++)
        n += grid->kind[i] == kind;
    return n;
}

bool wg_grid_translate(const wg_grid *grid, unsigned noc, unsigned x, unsigned y, unsigned *to_x, unsigned *to_y)
{
    unsigned w = grid->plan->width, h = grid->plan->height;
    noc &= 1;
    wg_translate(&grid->translation[noc], x, y, to_x, to_y);
    if (*to_x >= w || *to_y >= h)
        return false;
    if (noc) {
        *to_x = w - 1 - *to_x;
        *to_y = h - 1 - *to_y;
    }
    return true;
}

wg_status wg_grid_what_if(wg_grid *grid, const wg_what_if *w)
{
    bool ok;
    wg_arch *own = wg_what_if_arch(wg_arch_of(grid->desc.arch), grid->desc.profile, w, &ok);
    if (!ok)
        return wg_grid_fail(grid, WG_ERR_NO_MEMORY, "out of memory");
    free(grid->scaled_arch);
    grid->scaled_arch = own;
    grid->arch = own ? own : wg_arch_of(grid->desc.arch);
    grid->timing = &grid->arch->timing[grid->desc.profile];
    grid->what_if = w;
    for (unsigned k = 0; k < grid->made_tiles; k++)
        if (wg_device_what_if(grid->tile[grid->made_at[k]], w) != WG_OK)
            return wg_grid_fail(grid, WG_ERR_NO_MEMORY, "out of memory");
    return WG_OK;
}

/* ---- tiles and access ------------------------------------------------------------------------------------ */

wg_device *wg_grid_peek(const wg_grid *grid, unsigned x, unsigned y)
{
    return wg_has_cores(wg_grid_kind(grid, x, y)) ? grid->tile[y * grid->plan->width + x] : NULL;
}

/* Each tile has its own seed. */
static uint64_t seed_of(uint64_t seed, unsigned index)
{
    return seed ? (seed ^ index) * UINT64_C(0x9E3779B97F4A7C15) | 1 : 0;
}

wg_status wg_grid_perturb(wg_grid *grid, uint64_t seed)
{
    grid->desc.seed = seed;
    for (unsigned k = 0; k < grid->made_tiles; k++) {
        const unsigned index = grid->made_at[k];
        const wg_status status = wg_perturb_with(grid->tile[index], seed_of(seed, index), NULL, 0);
        if (status != WG_OK)
            return wg_grid_fail(grid, status, "%s", wg_error(grid->tile[index]));
    }
    return WG_OK;
}

wg_device *wg_grid_make(wg_grid *grid, unsigned index)
{
    unsigned x = index % grid->plan->width, y = index / grid->plan->width;
    if (index >= grid->tiles || !wg_has_cores((wg_tile_kind)grid->kind[index]))
        return NULL;
    wg_device_desc desc = {.struct_size = sizeof desc,
                           .arch = grid->desc.arch,
                           .profile = grid->desc.profile,
                           .seed = grid->desc.seed,
                           .lockstep = grid->desc.lockstep,
                           .shortcuts = grid->desc.shortcuts,
                           .simd = grid->desc.simd};
    wg_device *dev;
    if (wg_create_tile(&desc, (wg_tile_kind)grid->kind[index], &dev) != WG_OK) {
        wg_grid_fail(grid, WG_ERR_NO_MEMORY, "no memory for the tile at (%u, %u)", x, y);
        return NULL;
    }
    wg_tile *t = dev->tile;
    t->index = (uint8_t)index;
    t->seed = seed_of(desc.seed, index);
    t->regions.niu.coordinate = (uint16_t)(x | y << 6);
    t->boxes = (wg_noc_box *const *)grid->box;
    wg_niu_firmware(t, grid->desc.harvested);
    t->sched.now = grid->now; /* it has been in reset until now */
    dev->touches = &grid->touches;
    dev->harvested = grid->desc.harvested;
    dev->clock = &grid->now;
    if (!wg_grid_link_made(grid, dev, index)) {
        wg_destroy(dev);
        wg_grid_fail(grid, WG_ERR_NO_MEMORY, "no memory for the link of the tile at (%u, %u)", x, y);
        return NULL;
    }
    grid->quiet_until = 0;
    if (grid->what_if && wg_device_what_if(dev, grid->what_if) != WG_OK) {
        wg_grid_fail(grid, WG_ERR_NO_MEMORY, "no memory for the tile at (%u, %u)", x, y);
        wg_destroy(dev);
        return NULL;
    }
    grid->box[index] = t->box;
    grid->tile[index] = dev;
    unsigned place = grid->made_tiles++;
    for (; place && grid->made_at[place - 1] > index; place--)
        grid->made_at[place] = grid->made_at[place - 1];
    grid->made_at[place] = (uint16_t)index;
    if (grid->made)
        grid->made(grid->made_user, dev, x, y);
    return dev;
}

wg_device *wg_grid_tile(wg_grid *grid, unsigned x, unsigned y)
{
    if (!wg_has_cores(wg_grid_kind(grid, x, y))) {
        wg_grid_fail(grid, WG_ERR_ADDRESS, "at (%u, %u) there is %s", x, y,
                     wg_tile_kind_name(wg_grid_kind(grid, x, y)));
        return NULL;
    }
    unsigned index = y * grid->plan->width + x;
    return grid->tile[index] ? grid->tile[index] : wg_grid_make(grid, index);
}

static wg_status access_failed(wg_grid *grid, const char *what, unsigned x, unsigned y, uint64_t address, size_t bytes)
{
    return wg_grid_fail(grid, WG_ERR_ADDRESS, "%s of %zu bytes at 0x%llx of %s at (%u, %u): nothing is mapped there",
                        what, bytes, (unsigned long long)address, wg_tile_kind_name(wg_grid_kind(grid, x, y)), x, y);
}

wg_status wg_grid_read(wg_grid *grid, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes)
{
    if (!wg_has_cores(wg_grid_kind(grid, x, y)))
        return wg_edge_read(grid, x, y, address, to, bytes) ? WG_OK : access_failed(grid, "read", x, y, address, bytes);
    wg_device *dev = wg_grid_tile(grid, x, y);
    if (!dev)
        return WG_ERR_NO_MEMORY;
    wg_status status = wg_read(dev, address, to, bytes);
    return status == WG_OK ? status : wg_grid_fail(grid, status, "(%u, %u): %s", x, y, wg_error(dev));
}

wg_status wg_grid_write(wg_grid *grid, unsigned x, unsigned y, uint64_t address, const void *from, size_t bytes)
{
    if (!wg_has_cores(wg_grid_kind(grid, x, y))) {
        grid->error[0] = 0;
        if (wg_edge_write(grid, x, y, address, from, bytes))
            return WG_OK;
        return grid->error[0] ? WG_ERR_NO_MEMORY : access_failed(grid, "write", x, y, address, bytes);
    }
    wg_device *dev = wg_grid_tile(grid, x, y);
    if (!dev)
        return WG_ERR_NO_MEMORY;
    wg_status status = wg_write(dev, address, from, bytes);
    return status == WG_OK ? status : wg_grid_fail(grid, status, "(%u, %u): %s", x, y, wg_error(dev));
}

wg_status wg_grid_multicast(wg_grid *grid, unsigned x0, unsigned y0, unsigned x1, unsigned y1, uint64_t address,
                            const void *from, size_t bytes)
{
    unsigned w = grid->plan->width, h = grid->plan->height;
    if (x0 >= w || x1 >= w || y0 >= h || y1 >= h)
        return wg_grid_fail(grid, WG_ERR_ARGUMENT, "(%u, %u) to (%u, %u) leaves the grid", x0, y0, x1, y1);
    wg_status status = WG_OK;
    for (unsigned y = y0;; y = (y + 1) % h) {
        for (unsigned x = x0;; x = (x + 1) % w) {
            if (wg_grid_kind(grid, x, y) == WG_TILE_TENSIX && status == WG_OK)
                status = wg_grid_write(grid, x, y, address, from, bytes);
            if (x == x1)
                break;
        }
        if (y == y1)
            break;
    }
    return status;
}

/* ---- other tiles ------------------------------------------------------------------------------------------ */

void wg_grid_plug(wg_grid *grid, wg_tile_kind kind, const wg_edge_ops *ops, void *user)
{
    if (kind < WG_TILE_KINDS) {
        grid->edge[kind].ops = ops;
        grid->edge[kind].user = user;
    }
}

void wg_grid_host_memory(wg_grid *grid, wg_host_read_fn read, wg_host_write_fn write, void *user)
{
    grid->host_read = read;
    grid->host_write = write;
    grid->host_user = user;
}

bool wg_grid_host_read(wg_grid *grid, uint64_t address, void *to, size_t bytes)
{
    return grid->host_read && grid->host_read(grid->host_user, address, to, bytes);
}

bool wg_grid_host_write(wg_grid *grid, uint64_t address, const void *from, size_t bytes)
{
    return grid->host_write && grid->host_write(grid->host_user, address, from, bytes);
}

bool wg_edge_read(wg_grid *grid, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes)
{
    wg_tile_kind kind = wg_grid_kind(grid, x, y);
    if (grid->edge[kind].ops)
        return grid->edge[kind].ops->read(grid->edge[kind].user, grid, x, y, address, to, bytes);
    return kind == WG_TILE_DRAM && wg_dram_read(&grid->dram, wg_grid_index(grid, x, y), address, to, bytes);
}

bool wg_edge_write(wg_grid *grid, unsigned x, unsigned y, uint64_t address, const void *from, size_t bytes)
{
    wg_tile_kind kind = wg_grid_kind(grid, x, y);
    bool full = false;
    if (grid->edge[kind].ops)
        return grid->edge[kind].ops->write(grid->edge[kind].user, grid, x, y, address, from, bytes);
    if (kind == WG_TILE_DRAM && wg_dram_write(&grid->dram, wg_grid_index(grid, x, y), address, from, bytes, &full))
        return true;
    if (full)
        wg_grid_fail(grid, WG_ERR_NO_MEMORY, "DRAM has used up its %llu bytes of host memory",
                     (unsigned long long)grid->dram.used);
    return false;
}
