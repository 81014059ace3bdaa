/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of tilize: every number of a matrix must be at its place in its tile.
 *
 *     tilize_host bh|wh [FOLDER of the ELF files]
 */
#include "host.h"

enum { MATRIX = 0x40000, TILES_OUT = 0x50000, MOST = 4 };

int main(int argc, char **argv)
{
    host h = host_begin(argc, argv, "tilize");
    for (unsigned tiles = 1; tiles <= MOST; tiles++) {
        uint16_t matrix[32 * 32 * MOST];
        float out[MOST][1024];
        uint32_t state = tiles;
        for (unsigned i = 0; i < 1024 * tiles; i++)
            matrix[i] = bf16_of((int)(host_random(&state) % 511) - 255);
        wg_device *dev = host_device(&h);
        host_write(dev, MATRIX, matrix, 2048 * tiles);
        host_parameter(dev, 0, tiles);
        host_run(dev, 100000);
        host_read(dev, TILES_OUT, out, sizeof out[0] * tiles);
        for (unsigned i = 0; i < 32; i++)
            for (unsigned j = 0; j < 32 * tiles; j++) {
                uint32_t bits = (uint32_t)matrix[i * 32 * tiles + j] << 16;
                if (memcmp(&out[j / 32][in_tile(i, j % 32)], &bits, 4))
                    host_fail("of %u tiles, row %u, column %u: %g", tiles, i, j,
                              (double)out[j / 32][in_tile(i, j % 32)]);
            }
        printf("32 x %u became %u tiles, %llu cycles\n", 32 * tiles, tiles, (unsigned long long)wg_cycle(dev));
        wg_destroy(dev);
    }
    return 0;
}
