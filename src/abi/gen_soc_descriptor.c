/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the chip description that tt-umd and tt-metal look for next to a simulator's library (soc_descriptor.yaml),
 * from the floorplan and the banks that the library itself uses.
 *
 *     gen_soc_descriptor bh|wh > soc_descriptor.yaml
 *
 * Facts: tt-metal, tt_metal/soc_descriptors: keys and their meaning.
 */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "chip/chip.h"
#include "metal/metal.h"

typedef struct description {
    unsigned long long l1, eth_l1, dram, dram_view;
} description;

/* By wg_arch_id. */
static const description about[2] = {[WG_ARCH_BH] = {1536 * 1024, 512 * 1024, 4278190080ULL, 4278190080ULL},
                                     [WG_ARCH_WH] = {1464 * 1024, 256 * 1024, 2147483648ULL, 1073741824ULL}};

/* The same for both. */
static const char features[] = "features:\n  noc:\n    translation_id_enabled: True\n  unpacker:\n    version: 2\n"
                               "    inline_srca_trans_without_srca_trans_instr: True\n  math:\n"
                               "    dst_size_alignment: 32768\n  packer:\n    version: 2\n  overlay:\n    version: 2\n";

/* BH has a second PCI Express tile, without a host: a host's table of the tiles that are no workers has no room for it. */
static bool has_host(const wg_grid *g, unsigned x, unsigned y)
{
    const wg_chip *chip = &wg_chips[wg_grid_arch(g)];
    return x == chip->pcie_x && y == chip->pcie_y;
}

static bool is_listed(const wg_grid *g, unsigned x, unsigned y, wg_tile_kind kind)
{
    return wg_grid_kind(g, x, y) == kind && (kind != WG_TILE_PCIE || has_host(g, x, y));
}

/* The tiles of a kind, in the order of their indices. */
static void tiles(const wg_grid *g, const char *key, wg_tile_kind kind)
{
    const unsigned all = wg_grid_width(g) * wg_grid_height(g);
    bool first = true;
    printf("%s:\n  [", key);
    for (unsigned index = 0; index < all; index++)
        for (unsigned y = 0; y < wg_grid_height(g); y++)
            for (unsigned x = 0; x < wg_grid_width(g); x++)
                if (is_listed(g, x, y, kind) && wg_grid_index(g, x, y) == index) {
                    printf("%s%u-%u", first ? "" : ", ", x, y);
                    first = false;
                }
    printf("]\n\n");
}

/* Router-only tiles. */
static void others(const wg_grid *g)
{
    bool first = true;
    printf("router_only:\n  [");
    for (unsigned y = 0; y < wg_grid_height(g); y++)
        for (unsigned x = 0; x < wg_grid_width(g); x++) {
            if (wg_grid_kind(g, x, y) != WG_TILE_ROUTER)
                continue;
            printf("%s%u-%u", first ? "" : ", ", x, y);
            first = false;
        }
    printf("]\n\n");
}

static void dram(const wg_grid *g, const wg_metal_chip *chip)
{
    const unsigned channels = wg_grid_count(g, WG_TILE_DRAM);
    printf("dram:\n  [\n");
    for (unsigned c = 0; c < channels; c++) {
        printf("    [");
        for (unsigned port = 0; port < 3; port++) {
            unsigned x, y;
            wg_grid_translate(g, 0, chip->port[c][port][0], chip->port[c][port][1], &x, &y);
            printf("%s%u-%u", port ? ", " : "", x, y);
        }
        printf("],\n");
    }
    printf("  ]\n\ndram_views:\n  [\n");
    for (unsigned i = 0; i < chip->banks; i++) {
        const wg_metal_dram_bank *b = &chip->bank[i];
        printf("    {channel: %u, eth_endpoint: [%u, %u], worker_endpoint: [%u, %u], address_offset: %u},\n",
               b->channel, b->port[0], b->port[1], b->port[0], b->port[1], b->begins);
    }
    printf("  ]\n\n");
}

/* NoC 1 numbers tiles from the other end. */
static void mirrored(const char *key, unsigned edge)
{
    printf("%s:\n  [", key);
    for (unsigned i = 0; i < edge; i++)
        printf("%s%u", i ? ", " : "", edge - 1 - i);
    printf("]\n\n");
}

int main(int argc, char **argv)
{
    wg_arch_id arch;
    if (argc != 2 || !wg_arch_by_name(argv[1], strlen(argv[1]), &arch))
        return 1;
    const wg_grid_desc desc = {.struct_size = sizeof desc, .arch = arch};
    const description *d = &about[arch];
    wg_grid *g;
    if (wg_grid_create(&desc, &g) != WG_OK)
        return 1;
    printf("# Written by gen_soc_descriptor, from the chip that the library models.\n");
    printf("grid:\n  x_size: %u\n  y_size: %u\n\n", wg_grid_width(g), wg_grid_height(g));
    tiles(g, "arc", WG_TILE_ARC);
    tiles(g, "pcie", WG_TILE_PCIE);
    dram(g, &wg_metal_chips[arch]);
    printf("dram_view_size:\n  %llu\n\n", d->dram_view);
    tiles(g, "eth", WG_TILE_ETH);
    tiles(g, "functional_workers", WG_TILE_TENSIX);
    printf("harvested_workers:\n  []\n\n");
    others(g);
    if (wg_grid_count(g, WG_TILE_L2CPU)) {
        tiles(g, "security", WG_TILE_SECURITY);
        tiles(g, "l2cpu", WG_TILE_L2CPU);
    }
    mirrored("noc0_x_to_noc1_x", wg_grid_width(g));
    mirrored("noc0_y_to_noc1_y", wg_grid_height(g));
    printf("worker_l1_size:\n  %llu\n\ndram_bank_size:\n  %llu\n\neth_l1_size:\n  %llu\n\narch_name: %s\n\n%s", d->l1,
           d->dram, d->eth_l1, wg_arch_of(arch)->metal_names[0], features);
    wg_grid_destroy(g);
    return 0;
}
