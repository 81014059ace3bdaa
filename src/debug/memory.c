/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and memory-mapped registers as a core sees them, without the side effects of a load. */
#include "backend/config.h"
#include "debug/debug.h"
#include "machine/overlay.h"

#define TILE_REGS UINT32_C(0xFFB12000)

bool wg_debug_register(wg_device *dev, unsigned core, uint32_t address, uint32_t *word)
{
    const wg_tile *t = dev->tile;
    const wg_route r = wg_tile_route(dev->tile, core, address & ~3u, false);
    uint32_t value[4];
    switch (r.path) {
    case WG_PATH_GPR: return wg_peek(dev, WG_SPACE_GPR, r.index * WG_GPRS + r.offset / 4, word) == WG_OK;
    case WG_PATH_CONFIG: *word = wg_config_debug_read(t, (address & 0xFFFF) / 4); return true;
    case WG_PATH_TILE_REGS: return wg_tile_reg_peek(t, (address & ~3u) - TILE_REGS, word);
    case WG_PATH_NIU0:
    case WG_PATH_NIU1: return wg_niu_peek(t, r.path == WG_PATH_NIU1, r.offset, word);
    case WG_PATH_OVERLAY:
        return wg_overlay_peek(t, r.offset / 0x1000 % WG_OVERLAY_STREAMS, r.offset % 0x1000 / 4, word);
    case WG_PATH_MOP_CFG:
        *word = t->frontend[r.index % WG_THREADS].mop_cfg[r.offset / 4 % WG_MOP_CFG_WORDS];
        return true;
    case WG_PATH_DST:
        wg_dst_riscv_read(t, r.index, r.offset, 4, value);
        *word = value[0];
        return true;
    case WG_PATH_SYNC: /* of a T core's window, only the semaphores */
        *word = t->backend.sync.value[((address & 0xFFFF) - WG_SEMAPHORE_WINDOW) / 4 % WG_SEMAPHORES];
        return core != WG_CORE_B && (address & 0xFFFF) >= WG_SEMAPHORE_WINDOW;
    default: return false;
    }
}

bool wg_debug_byte(wg_device *dev, unsigned core, uint32_t address, uint32_t *byte)
{
    const wg_route r = wg_tile_route(dev->tile, core, address, false);
    uint32_t word;
    switch (r.path) {
    case WG_PATH_L1: return wg_peek(dev, WG_SPACE_L1, address, byte) == WG_OK;
    case WG_PATH_OWN_RAM: return wg_peek(dev, WG_SPACE_CORE_RAM, core << 16 | (address & 0xFFFF), byte) == WG_OK;
    case WG_PATH_SLOW_RAM: return wg_peek(dev, WG_SPACE_CORE_RAM, (uint32_t)r.index << 16 | r.offset, byte) == WG_OK;
    default:
        if (!wg_debug_register(dev, core, address, &word))
            return false;
    }
    *byte = word >> 8 * (address & 3) & 0xFF;
    return true;
}

unsigned wg_debug_core(wg_who who)
{
    return who.agent <= WG_AGENT_CORE_T2 ? who.agent
                                         : WG_CORE_T0 + (who.agent - (unsigned)WG_AGENT_THREAD0) % WG_THREADS;
}

wg_status wg_debug_read(wg_debug *d, wg_who who, uint32_t address, void *to, size_t bytes)
{
    wg_device *dev = wg_debug_device(d, who);
    for (size_t i = 0; i < bytes; i++) {
        uint32_t byte = 0;
        if (!dev || address + i > UINT32_MAX || !wg_debug_byte(dev, wg_debug_core(who), (uint32_t)(address + i), &byte))
            return wg_debug_fail(d, WG_ERR_ADDRESS, "0x%08x cannot be looked at without side effects",
                                 (uint32_t)(address + i));
        ((uint8_t *)to)[i] = (uint8_t)byte;
    }
    return WG_OK;
}

static bool put_byte(wg_device *dev, unsigned core, uint32_t address, uint8_t byte)
{
    wg_route r = wg_address_route(dev->tile->spec, core, address, true);
    uint32_t word, index = r.index * WG_GPRS + r.offset / 4, shift = 8 * (address & 3);
    switch (r.path) {
    case WG_PATH_L1: return wg_poke(dev, WG_SPACE_L1, address, byte) == WG_OK;
    case WG_PATH_OWN_RAM: return wg_poke(dev, WG_SPACE_CORE_RAM, core << 16 | (address & 0xFFFF), byte) == WG_OK;
    case WG_PATH_GPR:
        return wg_peek(dev, WG_SPACE_GPR, index, &word) == WG_OK &&
               wg_poke(dev, WG_SPACE_GPR, index, (word & ~(UINT32_C(0xFF) << shift)) | (uint32_t)byte << shift) ==
                   WG_OK;
    default: return false;
    }
}

wg_status wg_debug_write(wg_debug *d, wg_who who, uint32_t address, const void *from, size_t bytes)
{
    wg_device *dev = wg_debug_device(d, who);
    for (size_t i = 0; i < bytes; i++)
        if (!dev || address + i > UINT32_MAX ||
            !put_byte(dev, wg_debug_core(who), (uint32_t)(address + i), ((const uint8_t *)from)[i])) {
            wg_debug_changed(d);
            return wg_debug_fail(d, WG_ERR_ADDRESS, "0x%08x cannot be written from here", (uint32_t)(address + i));
        }
    return wg_debug_changed(d);
}
