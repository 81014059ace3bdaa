/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of tt-metal's memory: names, numbers, and overrides. */
#include <string.h>

#include "metal/metal.h"

static const struct {
    const char *name, *meaning;
} items[] = {
#define ITEM(id, bh, wh, text) {.name = #id, .meaning = text},
#include "metal/layout.def"
};

static const uint32_t values[2][WG_METAL_ITEMS] = {
    [WG_ARCH_BH] =
        {
#define ITEM(id, bh, wh, text) bh,
#include "metal/layout.def"
        },
    [WG_ARCH_WH] =
        {
#define ITEM(id, bh, wh, text) wh,
#include "metal/layout.def"
        },
};

const uint32_t *wg_metal_default_layout(wg_arch_id arch) { return values[arch]; }

/*
 * Facts: tt-metal, soc_descriptors (dram, dram_views: worker_endpoint, address_offset, dram_bank_size), llrt/hal/tt-1xx/<chip>/<chip>_hal.cpp
 * (pcie_addr), coordinates of UMD.
 */
static const wg_metal_dram_bank banks_bh[] = {{0, {2, 1}, 0}, {1, {0, 1}, 0}, {2, {0, 1}, 0}, {3, {0, 1}, 0},
                                              {4, {2, 1}, 0}, {5, {2, 1}, 0}, {6, {2, 1}, 0}, {7, {2, 1}, 0}};
static const wg_metal_dram_bank banks_wh[] = {{0, {2, 2}, 0},        {0, {1, 1}, 1u << 30}, {1, {0, 0}, 0},
                                              {1, {2, 2}, 1u << 30}, {2, {1, 1}, 0},        {2, {2, 2}, 1u << 30},
                                              {3, {0, 0}, 0},        {3, {1, 1}, 1u << 30}, {4, {2, 2}, 0},
                                              {4, {0, 0}, 1u << 30}, {5, {0, 0}, 0},        {5, {2, 2}, 1u << 30}};
static const uint8_t ports_bh[8][3][2] = {{{17, 12}, {17, 13}, {17, 14}}, {{17, 15}, {17, 16}, {17, 17}},
                                          {{17, 18}, {17, 19}, {17, 20}}, {{17, 21}, {17, 22}, {17, 23}},
                                          {{18, 12}, {18, 13}, {18, 14}}, {{18, 15}, {18, 16}, {18, 17}},
                                          {{18, 18}, {18, 19}, {18, 20}}, {{18, 21}, {18, 22}, {18, 23}}};
static const uint8_t ports_wh[6][3][2] = {{{0, 0}, {0, 1}, {0, 11}}, {{0, 5}, {0, 6}, {0, 7}},
                                          {{5, 0}, {5, 1}, {5, 11}}, {{5, 2}, {5, 9}, {5, 10}},
                                          {{5, 3}, {5, 4}, {5, 8}},  {{5, 5}, {5, 6}, {5, 7}}};
const wg_metal_chip wg_metal_chips[2] = {[WG_ARCH_BH] = {1,
                                                         2,
                                                         16,
                                                         10,
                                                         8,
                                                         banks_bh,
                                                         ports_bh,
                                                         false,
                                                         {20, 25, 31, 25},
                                                         {19, 24},
                                                         0,
                                                         UINT64_C(0x13FFFFFFFFFFFFFF),
                                                         UINT64_C(0xFF000000)}, /* columns 8 and 9 are not workers */
                                         [WG_ARCH_WH] = {18,
                                                         18,
                                                         8,
                                                         10,
                                                         12,
                                                         banks_wh,
                                                         ports_wh,
                                                         true,
                                                         {18, 16, 25, 17},
                                                         {0, 0},
                                                         UINT64_C(0x800000000),
                                                         UINT64_C(0x8FFFDFFFF),
                                                         UINT64_C(0x80000000)}};

const char *wg_metal_revision(void) { return WG_METAL_REVISION; }
size_t wg_metal_items(void) { return WG_METAL_ITEMS; }
const char *wg_metal_item_name(size_t index) { return index < WG_METAL_ITEMS ? items[index].name : NULL; }
const char *wg_metal_item_meaning(size_t index) { return index < WG_METAL_ITEMS ? items[index].meaning : NULL; }

uint32_t wg_metal_item(const wg_metal *m, size_t index) { return index < WG_METAL_ITEMS ? m->item[index] : 0; }

/* The free ends are updated when the limits that define them are replaced. */
wg_status wg_metal_set(wg_metal *m, const char *name, uint32_t value)
{
    for (size_t i = 0; i < WG_METAL_ITEMS; i++)
        if (strcmp(items[i].name, name) == 0) {
            m->item[i] = value;
            m->dram_free = WG_METAL_OF(m, dram);
            m->l1_free_end = WG_METAL_OF(m, l1_end);
            return WG_OK;
        }
    return wg_metal_fail(m, WG_ERR_ARGUMENT, "the layout has no item `%s`", name);
}
