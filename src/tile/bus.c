/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tile as the NoC and the host see it.
 *
 * L1 and data RAM accept any bytes, registers only whole words. A core that has run ahead has done only private work: an
 * access to L1 needs no synchronisation, and an access to a core (its RAM, its pc, reset, interrupts) first brings it to the
 * present cycle.
 *
 * Facts: BabyRISCV/README.md "Memory map", column NoC. Ruling: hosts that drive simulators write WH's
 * reset vectors, which lie in backend configuration, through the NoC; hardware does not map it
 * there. It is accepted and reported. Decided here: a register that a core would have to wait for
 * does not stall the host; such a TDMA-RISC access fails.
 */
#include "machine/bus.h"

#include <string.h>

#include "backend/config.h"
#include "backend/tdma.h"
#include "report/findings.h"
#include "arch/address_map.h"
#include "machine/l1.h"
#include "machine/tile.h"
#include "tile/windows.h"

enum { CONFIG_FIRST = 0xFFEF0000, CONFIG_LAST = 0xFFEFFFFF };

static void config_note(wg_tile *t, uint32_t address, uint32_t value)
{
    wg_findf(t, WG_F_BUS_UNMAPPED_CONFIG, (wg_finding){.agent = WG_AGENT_HOST, .subject = address, .value = value},
             "0x%08x: word %u of backend configuration", address, (address & 0xFFFF) / 4);
}

/* Words that are only stored, global ones in both banks; not the words whose write has an immediate effect. */
static bool config_write(wg_tile *t, uint32_t word, uint32_t value)
{
    static const uint16_t sets_off[] = {WG_CFG_STATE_RESET_EN, WG_CFG_PRNG_SEED_Seed_Val,
                                        WG_CFG_RISCV_IC_INVALIDATE_InvalidateAll};
    uint32_t words = t->arch->config_words;
    unsigned bank = word / words;
    word %= words;
    for (unsigned i = 0; i < sizeof sets_off / sizeof *sets_off; i++)
        if (word == wg_cfg_fields[t->arch->id][sets_off[i]].word)
            return false;
    if (bank > 1)
        return false;
    t->regs.config.bank[bank][word] = value;
    t->regs.config.changes++;
    if (word >= t->arch->config_global_from)
        t->regs.config.bank[!bank][word] = value;
    return true;
}

static bool read_word(wg_tile *t, uint32_t address, uint32_t *word)
{
    if (t->spec->threads && address >= CONFIG_FIRST && address <= CONFIG_LAST) {
        config_note(t, address, 0);
        *word = wg_config_debug_read(t, (address & 0xFFFF) / 4);
        return true;
    }
    const wg_map_row *r = wg_map_find(t->spec, WG_CORES, address, false);
    if (!r)
        return false;
    uint32_t offset = address - r->first;
    wg_stall why;
    switch (r->path) {
    case WG_PATH_TILE_REGS: *word = wg_tile_reg_read(t, address - 0xFFB12000, WG_AGENT_HOST, 0); return true;
    case WG_PATH_NIU0: *word = wg_niu_read(t, 0, offset, WG_AGENT_HOST, 0); return true;
    case WG_PATH_NIU1: *word = wg_niu_read(t, 1, offset, WG_AGENT_HOST, 0); return true;
    case WG_PATH_OVERLAY: *word = wg_overlay_read(t, offset, WG_AGENT_HOST, 0); return true;
    case WG_PATH_ETH: *word = wg_eth_read(t, address, WG_AGENT_HOST, 0); return true;
    case WG_PATH_TDMA: return wg_tdma_read(t, WG_CORE_NC, offset, word, 0, &why) == WG_REGION_DONE;
    default: return false;
    }
}

static bool write_word(wg_tile *t, uint32_t address, uint32_t word)
{
    if (t->spec->threads && address >= CONFIG_FIRST && address <= CONFIG_LAST) {
        config_note(t, address, word);
        return config_write(t, (address & 0xFFFF) / 4, word);
    }
    const wg_map_row *r = wg_map_find(t->spec, WG_CORES, address, true);
    if (!r)
        return false;
    uint32_t offset = address - r->first;
    wg_stall why;
    switch (r->path) {
    case WG_PATH_TILE_REGS: wg_tile_reg_write(t, address - 0xFFB12000, word, WG_AGENT_HOST, 0); return true;
    case WG_PATH_NIU0: wg_niu_write(t, 0, offset, word, WG_AGENT_HOST, 0); return true;
    case WG_PATH_NIU1: wg_niu_write(t, 1, offset, word, WG_AGENT_HOST, 0); return true;
    case WG_PATH_OVERLAY: wg_overlay_write(t, offset, word, WG_AGENT_HOST, 0); return true;
    case WG_PATH_ETH: wg_eth_write(t, address, word, WG_AGENT_HOST, 0); return true;
    case WG_PATH_TDMA: return wg_tdma_write(t, WG_CORE_NC, offset, word, 0, &why) == WG_REGION_DONE;
    default: return false;
    }
}

/* The entry of L1 or data RAM at `address`, and the bytes it holds from there on. */
static const wg_map_row *memory_at(const wg_tile *t, uint64_t address, size_t bytes)
{
    if (address > UINT32_MAX)
        return NULL;
    const wg_map_row *r = wg_map_find(t->spec, WG_CORES, (uint32_t)address, true);
    bool memory = r && (r->path == WG_PATH_L1 || r->path == WG_PATH_SLOW_RAM);
    return memory && bytes && bytes - 1 <= r->last - address ? r : NULL;
}

static bool words_at(uint64_t address, size_t bytes)
{
    return address <= UINT32_MAX && address % 4 == 0 && bytes % 4 == 0 && bytes && bytes - 1 <= UINT32_MAX - address;
}

/* Entirely in L1: the most frequent access of hosts. */
static bool in_l1(const wg_tile *t, uint64_t address, size_t bytes)
{
    return address < t->spec->l1_bytes && bytes && bytes <= t->spec->l1_bytes - address;
}

bool wg_tile_bus_read(wg_tile *t, uint64_t address, void *to, size_t bytes)
{
    if (in_l1(t, address, bytes)) {
        if (t->spec->heartbeat)
            wg_eth_host_reads(t, address, bytes);
        wg_l1_read(t, (uint32_t)address, (uint32_t)bytes, to);
        return true;
    }
    const wg_map_row *r = memory_at(t, address, bytes);
    if (r) {
        if (r->path == WG_PATH_L1)
            wg_l1_read(t, (uint32_t)address, (uint32_t)bytes, to);
        else
            wg_core_ram_read(t, r->index, (uint32_t)address - r->first, (uint32_t)bytes, to);
        return true;
    }
    if (!words_at(address, bytes))
        return false;
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word = 0;
        if (!read_word(t, (uint32_t)(address + i), &word))
            return false;
        memcpy((uint8_t *)to + i, &word, 4);
    }
    return true;
}

bool wg_tile_bus_write(wg_tile *t, uint64_t address, const void *from, size_t bytes)
{
    if (in_l1(t, address, bytes)) {
        wg_l1_write(t, WG_L1_HOST, (uint32_t)address, (uint32_t)bytes, from);
        return true;
    }
    const wg_map_row *r = memory_at(t, address, bytes);
    if (r) {
        if (r->path == WG_PATH_L1)
            wg_l1_write(t, WG_L1_HOST, (uint32_t)address, (uint32_t)bytes, from);
        else
            wg_core_ram_write(t, r->index, (uint32_t)address - r->first, (uint32_t)bytes, from);
        return true;
    }
    if (!words_at(address, bytes))
        return false;
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word;
        memcpy(&word, (const uint8_t *)from + i, 4);
        if (!write_word(t, (uint32_t)(address + i), word))
            return false;
    }
    return true;
}
