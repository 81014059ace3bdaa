/* SPDX-License-Identifier: Apache-2.0 */
#include "metal/launched.h"

#include <string.h>

#include "metal/metal.h"

const uint32_t *wg_metal_layout_of(const wg_metal *m) { return m->item; }

typedef struct memory {
    const uint8_t *l1;
    uint32_t bytes;
} memory;

static uint64_t get(const memory *m, uint32_t address, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes && address < m->bytes - bytes; i++)
        value |= (uint64_t)m->l1[address + i] << 8 * i;
    return value;
}

#define ITEM_OF(name) v[WG_METAL_ITEM_##name]

static uint32_t message_at(const memory *m, const uint32_t *v)
{
    return ITEM_OF(launch) + ITEM_OF(launch_bytes) * (uint32_t)(get(m, ITEM_OF(launch_read), 4) & 7);
}

static bool is_here(const memory *m, const uint32_t *v)
{
    return get(m, ITEM_OF(core_info) + ITEM_OF(core_info_magic), 4) == ITEM_OF(magic_worker);
}

bool wg_metal_is_firmware(wg_arch_id arch, const uint32_t *items, const uint8_t *l1, uint32_t l1_bytes, unsigned core,
                          uint32_t pc)
{
    const memory m = {l1, l1_bytes};
    const uint32_t *v = items ? items : wg_metal_default_layout(arch);
    const bool own_ram = core == WG_CORE_NC && ITEM_OF(nc_iram) && pc >= ITEM_OF(nc_iram);
    return is_here(&m, v) && pc - ITEM_OF(config) >= ITEM_OF(config_bytes) && !own_ram;
}

bool wg_metal_is_unused(wg_arch_id arch, const uint32_t *items, const uint8_t *l1, uint32_t l1_bytes)
{
    const memory m = {l1, l1_bytes};
    const uint32_t *v = items ? items : wg_metal_default_layout(arch);
    return is_here(&m, v) && get(&m, ITEM_OF(go) + 3, 1) == ITEM_OF(signal_done) &&
           !get(&m, message_at(&m, v) + ITEM_OF(enables), 4);
}

bool wg_metal_read_launch(wg_arch_id arch, const uint32_t *items, const uint8_t *l1, uint32_t l1_bytes,
                          wg_metal_launched *out)
{
    const memory m = {l1, l1_bytes};
    const uint32_t *v = items ? items : wg_metal_default_layout(arch);
    const uint32_t message = message_at(&m, v), enables = (uint32_t)get(&m, message + ITEM_OF(enables), 4),
                   config = (uint32_t)get(&m, message + ITEM_OF(config_base), 4);
    *out = (wg_metal_launched){0};
    const uint32_t signal = (uint32_t)get(&m, ITEM_OF(go) + 3, 1);
    /* L1 of another program has no plausible launch message: the parts must be consistent. */
    if (!enables || enables >> WG_CORES || config - ITEM_OF(config) >= ITEM_OF(config_bytes) ||
        (signal != ITEM_OF(signal_go) && signal != ITEM_OF(signal_done)))
        return false;
    for (unsigned c = 0; c < WG_CORES; c++) {
        const uint32_t text = (uint32_t)get(&m, message + ITEM_OF(text) + 4 * c, 4),
                       bytes = (uint32_t)get(&m, message + ITEM_OF(text_bytes) + 4 * c, 4);
        if (!(enables >> c & 1))
            continue;
        if (!bytes || bytes > l1_bytes || text > l1_bytes || config + text > l1_bytes - bytes)
            return false;
        out->kernel[c].address = c == WG_CORE_NC && ITEM_OF(nc_iram) ? ITEM_OF(nc_iram) : config + text;
        out->kernel[c].bytes = bytes;
        out->kernel[c].in_l1 = config + text;
    }
    out->cbs = config + (uint32_t)get(&m, message + ITEM_OF(local_cbs), 2);
    out->cb_mask = get(&m, message + ITEM_OF(cb_mask), 8);
    out->semaphores = config + (uint32_t)get(&m, message + ITEM_OF(semaphores), 2);
    out->semaphore_step = ITEM_OF(l1_align) ? ITEM_OF(l1_align) : 1;
    out->semaphore_end = out->cbs;
    return true;
}
#undef ITEM_OF

uint32_t wg_metal_cb_pages(const wg_metal_launched *launched, const uint8_t *l1, uint32_t l1_bytes, unsigned cb)
{
    const memory m = {l1, l1_bytes};
    return cb < 64 && launched->cb_mask >> cb & 1 ? (uint32_t)get(&m, launched->cbs + 16 * cb + 8, 4) : 0;
}

bool wg_metal_cb_around(wg_arch_id arch, const uint32_t *items, const uint8_t *l1, uint32_t l1_bytes, uint32_t address,
                        uint32_t *from, uint32_t *bytes)
{
    const memory m = {l1, l1_bytes};
    const uint32_t size = 4 * (items ? items : wg_metal_default_layout(arch))[WG_METAL_ITEM_cb_words];
    wg_metal_launched at;
    if (!wg_metal_read_launch(arch, items, l1, l1_bytes, &at))
        return false;
    for (unsigned cb = 0; cb < 64; cb++) {
        *from = (uint32_t)get(&m, at.cbs + size * cb, 4);
        *bytes = (uint32_t)get(&m, at.cbs + size * cb + 4, 4);
        if (at.cb_mask >> cb & 1 && address >= *from && address - *from < *bytes)
            return true;
    }
    return false;
}
