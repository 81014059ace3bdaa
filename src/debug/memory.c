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

/*
 * A byte of own RAM that the core has stored and that has not reached it yet, the latest one; NULL: there is none. The core's loads
 * see it, so a debugger shows it: otherwise a variable on the stack would seem to change some instructions late.
 */
static uint8_t *byte_on_its_way(wg_core_run *run, uint32_t address)
{
    if (run->ex1.kind == WG_EX1_STORE && run->ex1.path == WG_PATH_OWN_RAM &&
        address - run->ex1.address < run->ex1.bytes)
        return (uint8_t *)run->ex1.data + (address - run->ex1.address);
    for (unsigned i = run->sq_count; i-- > 0;) {
        wg_store *s = &run->sq[(run->sq_head + i) % WG_STORE_QUEUE];
        if (s->path == WG_PATH_OWN_RAM && address - s->address < s->bytes)
            return (uint8_t *)s->data + (address - s->address);
    }
    return NULL;
}

static bool own_ram(wg_device *dev, unsigned core, uint32_t address, uint32_t *byte)
{
    if (wg_peek(dev, WG_SPACE_CORE_RAM, core << 16 | (address & 0xFFFF), byte) != WG_OK)
        return false;
    const uint8_t *later = byte_on_its_way(&dev->tile->core[core].run, address);
    *byte = later ? *later : *byte;
    return true;
}

bool wg_debug_byte(wg_device *dev, unsigned core, uint32_t address, uint32_t *byte)
{
    const wg_route r = wg_tile_route(dev->tile, core, address, false);
    uint32_t word;
    switch (r.path) {
    case WG_PATH_L1: return wg_peek(dev, WG_SPACE_L1, address, byte) == WG_OK;
    case WG_PATH_OWN_RAM: return own_ram(dev, core, address, byte);
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
    uint8_t *later;
    switch (r.path) {
    case WG_PATH_L1: return wg_poke(dev, WG_SPACE_L1, address, byte) == WG_OK;
    case WG_PATH_OWN_RAM:
        if (wg_poke(dev, WG_SPACE_CORE_RAM, core << 16 | (address & 0xFFFF), byte) != WG_OK)
            return false;
        later = byte_on_its_way(&dev->tile->core[core].run, address);
        if (later)
            *later = byte;
        return true;
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
