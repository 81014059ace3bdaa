/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI Express tile: host memory as the NoC sees it, the outbound address translation (iATU), and the DMA
 * engines.
 *
 *     NoC ──> window of 2^58 bytes (BH) or 4 GiB (WH) ──[iATU]──> host memory (callbacks)
 *     BAR 2 ──> iATU regions, DMA engine: host memory <──> BAR 0's windows
 *
 * Facts: PCIExpressTile/README.md of each architecture; the registers of iATU and DMA engines as the public drivers
 * write them (they are the controller vendor's). Decided here: writing the doorbell completes the transfer; an access
 * only partly inside an enabled region uses the region of its first byte.
 */
#include <string.h>

#include "chip/card.h"

enum { IATU_STRIDE = 0x100, REGION_ENABLE = 31, INCREASE_REGION = 1 << 13 };
enum { DMA_CHUNK = 4096 };

void wg_pcie_init(wg_card *card)
{
    const wg_chip *chip = card->chip;
    wg_pcie *p = &card->pcie;
    p->config[0] = chip->pci_id;
    p->config[2] = UINT32_C(0x12000000) | chip->revision; /* processing accelerator */
    for (unsigned bar = 0; bar < 6; bar += 2) {
        const uint64_t base = chip->bar_base[bar] + card->desc.bus_offset;
        p->config[4 + bar] = (uint32_t)base | 4; /* 64 bits, not prefetchable */
        p->config[5 + bar] = (uint32_t)(base >> 32);
    }
    p->config[15] = 0xFF; /* no interrupt line */
}

/* ---- Host memory ------------------------------------------------------------------------------------ */

static bool host_access(wg_card *card, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    const wg_card_desc *d = &card->desc;
    bool done = write ? d->host_write && d->host_write(d->host, address, data, bytes)
                      : d->host_read && d->host_read(d->host, address, data, bytes);
    if (!done) {
        if (!write)
            memset(data, 0, bytes);
        wg_card_find(card, WG_F_HOST_MEMORY, card->chip->pcie_x, card->chip->pcie_y, address, bytes,
                     "%s of %zu bytes at bus address 0x%llx", write ? "write" : "read", bytes,
                     (unsigned long long)address);
    }
    return done;
}

/* Translates an offset in the NoC's window to a bus address. Offsets in no enabled region are not translated. */
static uint64_t outbound(const wg_card *card, uint64_t offset)
{
    for (unsigned i = 0; i < WG_IATU_REGIONS; i++) {
        const wg_iatu *r = &card->pcie.iatu[0][i];
        uint64_t base = r->lower_base | (uint64_t)r->upper_base << 32;
        uint32_t high = card->chip->wide_regions && r->ctrl_1 & INCREASE_REGION ? r->upper_limit : r->upper_base;
        uint64_t limit = r->lower_limit | (uint64_t)high << 32;
        if (r->ctrl_2 >> REGION_ENABLE && offset >= base && offset <= limit)
            return (r->lower_target | (uint64_t)r->upper_target << 32) + (offset - base);
    }
    return offset;
}

void wg_pcie_map(wg_card *card, unsigned region, uint64_t base, uint64_t bytes, uint64_t target)
{
    uint64_t limit = base + bytes - 1;
    card->pcie.iatu[0][region % WG_IATU_REGIONS] = (wg_iatu){.ctrl_2 = bytes ? UINT32_C(1) << REGION_ENABLE : 0,
                                                             .lower_base = (uint32_t)base,
                                                             .upper_base = (uint32_t)(base >> 32),
                                                             .lower_limit = (uint32_t)limit,
                                                             .upper_limit = (uint32_t)(limit >> 32),
                                                             .lower_target = (uint32_t)target,
                                                             .upper_target = (uint32_t)(target >> 32)};
}

/* ---- iATU and DMA engines: BAR 2 -------------------------------------------------------------------- */

static uint32_t *iatu_register(wg_card *card, uint32_t offset)
{
    uint32_t slot = offset / IATU_STRIDE, reg = offset % IATU_STRIDE / 4;
    wg_iatu *r = &card->pcie.iatu[slot & 1][slot / 2 % WG_IATU_REGIONS];
    uint32_t *const field[] = {&r->ctrl_1,       &r->ctrl_2,       &r->lower_base, &r->upper_base, &r->lower_limit,
                               &r->lower_target, &r->upper_target, &r->ctrl_3,     &r->upper_limit};
    return slot < 2 * WG_IATU_REGIONS && reg < sizeof field / sizeof *field ? field[reg] : NULL;
}

/* Registers of one DMA channel, by offset in BAR 2. */
typedef struct dma_channel {
    uint16_t doorbell, bytes, source, target, done_address, done_data;
} dma_channel;
typedef struct dma_engine {
    dma_channel to_device, to_host;
    uint32_t ring;    /* doorbell value for channel 0 */
    bool clears_size; /* the size reads as 0 when the transfer is done */
} dma_engine;
static const dma_engine engines[2] = {
    [WG_ARCH_BH] = {.to_device = {0x104, 0x11C, 0x120, 0x128, 0x190, 0x1A8},
                    .to_host = {0x004, 0x01C, 0x020, 0x028, 0x090, 0x0A8},
                    .ring = 1,
                    .clears_size = true},
    [WG_ARCH_WH] = {.to_device = {0x030, 0x308, 0x30C, 0x314, 0x0CC, 0x0DC},
                    .to_host = {0x010, 0x208, 0x20C, 0x214, 0x060, 0x070},
                    .ring = 0,
                    .clears_size = false},
};

static uint64_t dma_pair(const wg_card *card, unsigned offset)
{
    return card->pcie.dma[offset / 4] | (uint64_t)card->pcie.dma[offset / 4 + 1] << 32;
}

static void transfer(wg_card *card, const dma_channel *c, bool to_host)
{
    uint8_t chunk[DMA_CHUNK];
    uint32_t bytes = card->pcie.dma[c->bytes / 4];
    uint64_t source = dma_pair(card, c->source), target = dma_pair(card, c->target);
    uint64_t bar0 = (card->pcie.config[4] & ~UINT32_C(15)) | (uint64_t)card->pcie.config[5] << 32;
    for (uint32_t done = 0; done < bytes;) {
        uint32_t n = bytes - done < DMA_CHUNK ? bytes - done : DMA_CHUNK;
        if (to_host) {
            wg_card_read(card, bar0 + source + done, chunk, n);
            host_access(card, target + done, chunk, n, true);
        } else {
            host_access(card, source + done, chunk, n, false);
            wg_card_write(card, bar0 + target + done, chunk, n);
        }
        done += n;
    }
    uint64_t flag = dma_pair(card, c->done_address);
    if (flag)
        host_access(card, flag, (uint8_t *)&card->pcie.dma[c->done_data / 4], 4, true);
    if (engines[card->chip->arch].clears_size)
        card->pcie.dma[c->bytes / 4] = 0;
}

static void dma_write(wg_card *card, uint32_t offset, uint32_t value)
{
    const dma_engine *e = &engines[card->chip->arch];
    card->pcie.dma[offset / 4] = value;
    if (offset != e->to_device.doorbell && offset != e->to_host.doorbell)
        return;
    if (value != e->ring)
        wg_card_find(card, WG_F_UNIMPLEMENTED_REGISTER, card->chip->pcie_x, card->chip->pcie_y, offset, value,
                     "BAR 2 + 0x%x = 0x%x: only DMA channel 0 is there", offset, value);
    else if (offset == e->to_host.doorbell)
        transfer(card, &e->to_host, true);
    else
        transfer(card, &e->to_device, false);
}

uint32_t wg_pcie_bar2_read(wg_card *card, uint32_t offset)
{
    uint32_t *reg = offset >= card->chip->iatu ? iatu_register(card, offset - card->chip->iatu) : NULL;
    if (reg)
        return *reg;
    if (offset < card->chip->iatu)
        return card->pcie.dma[offset / 4 % WG_BAR2_WORDS];
    wg_card_find(card, WG_F_UNIMPLEMENTED_REGISTER, card->chip->pcie_x, card->chip->pcie_y, offset, 0,
                 "read of BAR 2 + 0x%x", offset);
    return 0;
}

void wg_pcie_bar2_write(wg_card *card, uint32_t offset, uint32_t value)
{
    uint32_t *reg = offset >= card->chip->iatu ? iatu_register(card, offset - card->chip->iatu) : NULL;
    if (reg) {
        *reg = value;
        const wg_iatu *inbound = card->pcie.iatu[1];
        for (unsigned i = 0; i < WG_IATU_REGIONS; i++)
            if (reg == &inbound[i].ctrl_2 && value >> REGION_ENABLE)
                wg_card_find(card, WG_F_UNIMPLEMENTED_REGISTER, card->chip->pcie_x, card->chip->pcie_y, offset, value,
                             "BAR 2 + 0x%x: inbound address translation", offset);
    } else if (offset < card->chip->iatu)
        dma_write(card, offset % (4 * WG_BAR2_WORDS), value);
    else
        wg_card_find(card, WG_F_UNIMPLEMENTED_REGISTER, card->chip->pcie_x, card->chip->pcie_y, offset, value,
                     "BAR 2 + 0x%x = 0x%x", offset, value);
}

/* ---- From the NoC ----------------------------------------------------------------------------------- */

/* BH: the controller's registers, including those of BAR 2. */
static uint32_t dbi_word(wg_model *m, uint64_t address, uint32_t value, bool write)
{
    enum { DEVICE_CONTROL = 0x78 };
    uint64_t offset = address & ((UINT64_C(1) << 58) - 1);
    if (offset != DEVICE_CONTROL) {
        wg_model_unknown(m, address, value, write);
        return 0;
    }
    if (write)
        m->card->pcie.device_control = value;
    return m->card->pcie.device_control;
}

static bool access_bh(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    enum { DIRECT = 4, TRANSLATED = 8, DBI = 62 };
    uint64_t window = address >> 58, offset = address & ((UINT64_C(1) << 58) - 1);
    if (address >= m->card->chip->niu_base)
        wg_model_words(m, address, data, bytes, write, wg_model_niu_word);
    else if (window < DIRECT)
        host_access(m->card, offset, data, bytes, write);
    else if (window < TRANSLATED)
        host_access(m->card, outbound(m->card, offset), data, bytes, write);
    else if (window == DBI)
        wg_model_words(m, address, data, bytes, write, dbi_word);
    else
        return false;
    return true;
}

static bool access_wh(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    const uint64_t window = UINT64_C(0x800000000), room = UINT64_C(0xFFFE0000);
    if (address >= m->card->chip->niu_base)
        wg_model_words(m, address, data, bytes, write, wg_model_niu_word);
    else if (address >= window && address - window < room && bytes <= room - (address - window))
        host_access(m->card, outbound(m->card, address - window), data, bytes, write);
    else
        return false;
    return true;
}

bool wg_pcie_access(wg_model *m, uint64_t address, uint8_t *data, size_t bytes, bool write)
{
    const wg_chip *chip = m->card->chip;
    bool connected = m->x == chip->pcie_x && m->y == chip->pcie_y;
    if (!connected && address < chip->niu_base)
        return false; /* BH: the other PCI Express tile has no host */
    static const wg_access_fn access[] = {[WG_ARCH_BH] = access_bh, [WG_ARCH_WH] = access_wh};
    return access[chip->arch](m, address, data, bytes, write);
}
