/* SPDX-License-Identifier: Apache-2.0 */
/* The address map's and the registers' tables, from tile_regs.def. */
#include "isa/tile_regs.h"

const wg_region_range wg_region_ranges[2][WG_REGION_COUNT] = {[WG_ARCH_BH] =
                                                                  {
#define RANGE(first, last) \
    { \
        first, last \
    }
#define NOWHERE \
    { \
        1, 0 \
    }
#define WG_REGION(name, bh, wh) bh,
#include "isa/tile_regs.def"
                                                                  },
                                                              [WG_ARCH_WH] = {
#define RANGE(first, last) \
    { \
        first, last \
    }
#define NOWHERE \
    { \
        1, 0 \
    }
#define WG_REGION(name, bh, wh) wh,
#include "isa/tile_regs.def"
                                                              }};

const char *const wg_region_names[WG_REGION_COUNT] = {
#define RANGE(first, last)
#define NOWHERE
#define WG_REGION(name, bh, wh) #name,
#include "isa/tile_regs.def"
};

/* NO_RESET takes the place of a value: one token says both whether it is known and which it is. */
#define NO_RESET UINT64_MAX
#define PLACE(offset_, access_, reset_, count_, stride_) \
    .offset = offset_, .reset = (uint32_t)((reset_) == NO_RESET ? 0 : (reset_)), .stride = stride_, .count = count_, \
    .access = WG_REG_##access_, .reset_known = (reset_) != NO_RESET
#define PLACE_AT(offset, access, reset) PLACE(offset, access, reset, 1, 0)

/* A position expands to several initializers; the last parameter collects them. */
#define REGISTER(list_, name_, ...) [WG_REG_##list_##_##name_] = {.name = #name_, .list = WG_REGS_##list_, __VA_ARGS__},
#define NONE_HERE .count = 0

const wg_tile_reg wg_tile_regs[2][WG_REG_COUNT] = {[WG_ARCH_BH] =
                                                       {
#define AT PLACE_AT
#define ARRAY PLACE
#define NOT_HERE NONE_HERE
#define WG_TILE_REG(list, name, bh, wh) REGISTER(list, name, bh)
#include "isa/tile_regs.def"
                                                       },
                                                   [WG_ARCH_WH] = {
#define AT PLACE_AT
#define ARRAY PLACE
#define NOT_HERE NONE_HERE
#define WG_TILE_REG(list, name, bh, wh) REGISTER(list, name, wh)
#include "isa/tile_regs.def"
                                                   }};

wg_reg_id wg_tile_reg_at(wg_arch_id arch, wg_reg_list list, uint32_t offset, unsigned *element)
{
    for (unsigned id = 0; id < WG_REG_COUNT; id++) {
        const wg_tile_reg *r = &wg_tile_regs[arch][id];
        if (r->list != list || r->count == 0 || offset < r->offset)
            continue;
        uint32_t distance = offset - r->offset;
        uint32_t index = r->count > 1 ? distance / r->stride : 0;
        if (index >= r->count || distance != index * r->stride)
            continue;
        if (element)
            *element = index;
        return (wg_reg_id)id;
    }
    return WG_REG_COUNT;
}
