/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of add: whole numbers, whose sums are exact, with each broadcast of the second tile.
 *
 *     add_host bh|wh [FOLDER of the ELF files]
 */
#include "host.h"

enum { IN0 = 0x30000, IN1 = 0x31000, OUT = 0x32000 };

int main(int argc, char **argv)
{
    static const char *const names[4] = {"the whole tile", "its first row", "its first column", "its first element"};
    host h = host_begin(argc, argv, "add");
    int a[32][32], b[32][32];
    uint16_t tile[2][1024];
    float out[1024];
    uint32_t state = 1;
    for (unsigned i = 0; i < 32; i++)
        for (unsigned j = 0; j < 32; j++) {
            a[i][j] = (int)(host_random(&state) % 255) - 127;
            b[i][j] = (int)(host_random(&state) % 255) - 127;
            tile[0][in_tile(i, j)] = bf16_of(a[i][j]);
            tile[1][in_tile(i, j)] = bf16_of(b[i][j]);
        }
    for (unsigned which = 0; which < 4; which++) {
        wg_device *dev = host_device(&h);
        host_write(dev, IN0, tile[0], sizeof tile[0]);
        host_write(dev, IN1, tile[1], sizeof tile[1]);
        host_parameter(dev, 0, which);
        host_run(dev, 100000);
        host_read(dev, OUT, out, sizeof out);
        for (unsigned i = 0; i < 32; i++)
            for (unsigned j = 0; j < 32; j++) {
                int right = a[i][j] + b[which & 1 ? 0 : i][which & 2 ? 0 : j];
                if (out[in_tile(i, j)] != (float)right)
                    host_fail("adding %s, row %u, column %u: %g instead of %d", names[which], i, j,
                              (double)out[in_tile(i, j)], right);
            }
        printf("a tile plus %s of another: 1024 sums are exact, %llu cycles\n", names[which],
               (unsigned long long)wg_cycle(dev));
        wg_destroy(dev);
    }
    return 0;
}
