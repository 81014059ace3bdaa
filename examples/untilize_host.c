/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of untilize: every number of a tile must be at its place in the matrix.
 *
 *     untilize_host bh|wh [FOLDER of the ELF files]
 */
#include "host.h"

enum { IN0 = 0x30000, OUT = 0x32000 };

int main(int argc, char **argv)
{
    host h = host_begin(argc, argv, "untilize");
    uint16_t tile[1024];
    float out[32][32];
    uint32_t state = 3;
    for (unsigned i = 0; i < 1024; i++)
        tile[i] = bf16_of((int)(host_random(&state) % 511) - 255);
    wg_device *dev = host_device(&h);
    host_write(dev, IN0, tile, sizeof tile);
    host_run(dev, 100000);
    host_read(dev, OUT, out, sizeof out);
    for (unsigned i = 0; i < 32; i++)
        for (unsigned j = 0; j < 32; j++) {
            uint32_t bits = (uint32_t)tile[in_tile(i, j)] << 16;
            if (memcmp(&out[i][j], &bits, 4))
                host_fail("row %u, column %u: %g", i, j, (double)out[i][j]);
        }
    printf("a tile became 32 x 32, %llu cycles\n", (unsigned long long)wg_cycle(dev));
    wg_destroy(dev);
    return 0;
}
