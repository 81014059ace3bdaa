/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip on a card: a grid of tiles (chip.h) behind PCI Express, as a host sees it. Configuration space,
 * BARs with their TLB windows, DMA engines, host memory behind the PCI Express tile, and the ARC, Ethernet and
 * L2CPU tiles with the registers that hosts read.
 *
 * Bus addresses are those that configuration space advertises. Accesses take no time; time advances only in wg_grid_advance()
 * and wg_grid_run() of the card's grid. Cards are independent of each other.
 */
#ifndef WAITGATE_CARD_H
#define WAITGATE_CARD_H

#include <waitgate/chip.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wg_card wg_card;

typedef struct wg_card_desc {
    uint32_t struct_size;      /* sizeof(wg_card_desc): a caller that knows fewer fields gets 0 for the others */
    const wg_grid_desc *grid;  /* the chip; copied */
    wg_host_read_fn host_read; /* host memory; NULL: none. Called from the caller's thread */
    wg_host_write_fn host_write;
    void *host;
    uint64_t bus_offset; /* added to the bus addresses of the BARs, so that cards differ */
} wg_card_desc;

WG_API wg_status wg_card_create(const wg_card_desc *desc, wg_card **out);
WG_API void wg_card_destroy(wg_card *card);
WG_API const char *wg_card_error(const wg_card *card);
WG_API wg_grid *wg_card_grid(wg_card *card);

/* PCI configuration space; offsets are multiples of four. */
WG_API uint32_t wg_card_config_read(wg_card *card, uint32_t offset);
WG_API void wg_card_config_write(wg_card *card, uint32_t offset, uint32_t value);

/*
 * Bytes at a bus address. Unmapped bytes read as zero, and writes to them are discarded; this is a finding, and the status is
 * WG_ERR_ADDRESS. The rest of the access takes place.
 */
WG_API wg_status wg_card_read(wg_card *card, uint64_t address, void *to, size_t bytes);
WG_API wg_status wg_card_write(wg_card *card, uint64_t address, const void *from, size_t bytes);
/* Bytes at an address of a tile, by NoC 0 coordinates. */
WG_API wg_status wg_card_tile_read(wg_card *card, unsigned x, unsigned y, uint64_t address, void *to, size_t bytes);
WG_API wg_status wg_card_tile_write(wg_card *card, unsigned x, unsigned y, uint64_t address, const void *from,
                                    size_t bytes);

/*
 * Findings about the host's accesses and about tiles other than Tensix tiles (which have their own), oldest first. `where`:
 * NoC 0 coordinates, or WG_NOWHERE twice for the host itself.
 */
enum { WG_NOWHERE = 0xFF };
typedef struct wg_where {
    uint8_t x, y;
} wg_where;
WG_API size_t wg_card_finding_count(const wg_card *card);
WG_API const wg_finding *wg_card_finding_at(const wg_card *card, size_t index, wg_where *where);

#ifdef __cplusplus
}
#endif
#endif
