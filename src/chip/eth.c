/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Ethernet tiles: present, with their memory and registers; links down, cores held in reset.
 *
 *     NoC ──┬── L1: what firmware leaves there for hosts (link state, versions, heartbeat)
 *           ├── tile control registers, soft reset, wall clock
 *           ├── NIUs
 *           └── queues, MAC, PCS: stored; a transmission says that the link is down
 *
 * Facts: EthernetTile of each architecture (README.md, L1.md, CycleCounters.md, SoftReset.md …); what hosts read in L1
 * as the public user-mode driver has it. The cores are not emulated: releasing one is reported.
 */
#include <string.h>

#include "chip/card.h"
#include "isa/tile_regs.h"

#define DEBUG_BASE UINT64_C(0xFFB12000)
#define RISC_BASE UINT64_C(0xFFB14000)
#define NIU_BASE UINT64_C(0xFFB20000)
#define OVERLAY_BASE UINT64_C(0xFFB40000)
#define REG_BASE UINT64_C(0xFFB90000)
enum { SOFT_RESET = 0x1B0, WDT = 0x1E0, WALL_CLOCK = 0x1F0 };

static void put(wg_eth *e, uint32_t at, uint32_t value) { memcpy(e->l1 + at, &value, 4); }

void wg_eth_init(wg_card *card, unsigned index)
{
    wg_eth *e = &card->eth[index % WG_ETH_TILES];
    const wg_chip_eth *tile = &card->chip->eth;
    e->debug[SOFT_RESET / 4] = tile->reset_bits;
    e->debug[WDT / 4] = UINT32_MAX;
    for (unsigned i = 0; i < sizeof tile->boot / sizeof *tile->boot && tile->boot[i].at; i++)
        put(e, tile->boot[i].at, tile->boot[i].value);
    for (unsigned i = 0; i < WG_REG_COUNT; i++) {
        const wg_tile_reg *r = &wg_tile_regs[card->chip->arch][i];
        const wg_region_range *ranges = wg_region_ranges[card->chip->arch];
        uint64_t base = r->list == WG_REGS_ETH_TXQ    ? ranges[WG_REGION_eth_txq].first
                        : r->list == WG_REGS_ETH_RXQ  ? ranges[WG_REGION_eth_rxq].first
                        : r->list == WG_REGS_ETH_CTRL ? ranges[WG_REGION_eth_ctrl_regs].first
                                                      : 0;
        if (r->count && r->reset_known && base >= REG_BASE)
            e->reg[(base - REG_BASE + r->offset) / 4 % WG_ETH_WORDS] = r->reset;
    }
}

static uint32_t debug_word(wg_model *m, uint64_t address, uint32_t value, bool write)
{
    wg_card *card = m->card;
    wg_eth *e = &card->eth[m->index % WG_ETH_TILES];
    uint32_t offset = (uint32_t)(address - DEBUG_BASE);
    uint64_t now = wg_grid_cycle(card->grid);
    if (offset == WALL_CLOCK)
        e->wall_clock_high = (uint32_t)(now >> 32);
    if (offset == WALL_CLOCK || offset == WALL_CLOCK + 4 || offset == WALL_CLOCK + 8)
        return offset == WALL_CLOCK       ? (uint32_t)now
               : offset == WALL_CLOCK + 4 ? (uint32_t)(now >> 32)
                                          : e->wall_clock_high;
    if (wg_tile_reg_at(card->chip->arch, WG_REGS_DEBUG, offset, NULL) == WG_REG_COUNT) {
        wg_model_unknown(m, address, value, write);
        return 0;
    }
    uint32_t *reg = &e->debug[offset / 4 % WG_ETH_DEBUG_WORDS];
    if (!write)
        return *reg;
    if (offset == SOFT_RESET && *reg & ~value & card->chip->eth.reset_bits)
        wg_card_find(card, WG_F_ETH_CORE, m->x, m->y, address, value, "SOFT_RESET_0 = 0x%x", value);
    else if (offset != SOFT_RESET)
        wg_model_unknown(m, address, value, true); /* stored without effect: there is no core */
    *reg = value;
    return 0;
}

static uint32_t risc_word(wg_model *m, uint64_t address, uint32_t value, bool write)
{
    wg_eth *e = &m->card->eth[m->index % WG_ETH_TILES];
    uint32_t offset = (uint32_t)(address - RISC_BASE);
    if (wg_tile_reg_at(m->card->chip->arch, WG_REGS_ETH_RISC, offset, NULL) == WG_REG_COUNT) {
        wg_model_unknown(m, address, value, write);
        return 0;
    }
    if (write)
        e->risc[offset / 4 % 16] = value;
    return e->risc[offset / 4 % 16];
}

static uint32_t niu_word(wg_model *m, uint64_t address, uint32_t value, bool write)
{
    return wg_model_niu(m, address >= NIU_BASE + 0x10000, (uint32_t)address & 0xFFFF, value, write);
}

/* The list of registers that an address belongs to, and its offset there; queues repeat every 0x1000. */
static bool known_register(const wg_card *card, uint64_t address, wg_reg_id *id)
{
    static const struct {
        uint8_t region, list;
        uint16_t repeat;
    } lists[] = {{WG_REGION_eth_txq, WG_REGS_ETH_TXQ, 0x1000},
                 {WG_REGION_eth_rxq, WG_REGS_ETH_RXQ, 0x1000},
                 {WG_REGION_eth_ctrl_regs, WG_REGS_ETH_CTRL, 0},
                 {WG_REGION_eth_txpkt_cfg, WG_REGS_ETH_TXPKT, 0x80},
                 {WG_REGION_eth_mac_regs, WG_REGS_ETH_MAC, 0}};
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        const wg_region_range *r = &wg_region_ranges[card->chip->arch][lists[i].region];
        if (address < r->first || address > r->last)
            continue;
        uint32_t offset = (uint32_t)(address - r->first);
        *id = wg_tile_reg_at(card->chip->arch, (wg_reg_list)lists[i].list,
                             lists[i].repeat ? offset % lists[i].repeat : offset, NULL);
        return *id != WG_REG_COUNT;
    }
    return false;
}

static uint32_t queue_word(wg_model *m, uint64_t address, uint32_t value, bool write)
{
    wg_eth *e = &m->card->eth[m->index % WG_ETH_TILES];
    wg_reg_id id = WG_REG_COUNT;
    /* Four scratch registers, a counter that adds what is written, the core's reset vector. */
    bool spare = m->card->chip->eth.core_scratch && address >= REG_BASE + 0x4080 && address <= REG_BASE + 0x409C;
    if (!spare && !known_register(m->card, address, &id)) {
        wg_model_unknown(m, address, value, write);
        return 0;
    }
    uint32_t *reg = &e->reg[(address - REG_BASE) / 4 % WG_ETH_WORDS];
    if (!write)
        return *reg;
    if (id == WG_REG_ETH_TXQ_cmd) {
        wg_card_find(m->card, WG_F_ETH_LINK, m->x, m->y, address, value, "command 0x%x", value);
        return 0; /* accepted and dropped */
    }
    *reg = spare && address == REG_BASE + 0x4080 ? *reg + value : value;
    return 0;
}

static void unknown_words(wg_model *m, uint64_t address, size_t bytes, uint8_t *data, bool write)
{
    wg_model_unknown(m, address, 0, write);
    if (!write)
        memset(data, 0, bytes);
}

bool wg_eth_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    wg_card *card = m->card;
    wg_eth *e = &card->eth[m->index % WG_ETH_TILES];
    if (address < card->chip->eth.l1_bytes) {
        bool ok = wg_model_memory(e->l1, card->chip->eth.l1_bytes, address, data, bytes, write);
        uint32_t beat = card->chip->eth.heartbeat, count;
        /* The firmware's heartbeat. Decided here: it advances with every read, since hosts read twice and compare. */
        if (ok && !write && address <= beat && address + bytes > beat) {
            memcpy(&count, e->l1 + beat, 4);
            put(e, beat, count + 1);
        }
        return ok;
    }
    if (address >= DEBUG_BASE && address < DEBUG_BASE + 0x1000)
        wg_model_words(m, address, data, bytes, write, debug_word);
    else if (address >= RISC_BASE && address < RISC_BASE + 0x40)
        wg_model_words(m, address, data, bytes, write, risc_word);
    else if (address >= NIU_BASE && address < NIU_BASE + 0x20000)
        wg_model_words(m, address, data, bytes, write, niu_word);
    else if (address >= REG_BASE && address < REG_BASE + 4 * WG_ETH_WORDS)
        wg_model_words(m, address, data, bytes, write, queue_word);
    else if (address >= OVERLAY_BASE && address < OVERLAY_BASE + 0x40000)
        unknown_words(m, address, bytes, data, write);
    else
        return false;
    return true;
}
